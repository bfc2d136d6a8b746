// SPDX-License-Identifier: Apache-2.0
// The stage: renderer, camera, its controls, the lamps, and drawing when something has changed.
import {
    Box3,
    Color,
    DirectionalLight,
    Group,
    HemisphereLight,
    MOUSE,
    Matrix3,
    OrthographicCamera,
    PerspectiveCamera,
    Plane,
    Scene,
    TOUCH,
    Vector2,
    Vector3,
    WebGLRenderer,
} from "three";
import {OrbitControls} from "three/examples/jsm/controls/OrbitControls.js";
import type {Box} from "../model";
import {Ease} from "./ease";

/** What shaders of ours share. */
export interface Shared {
    lamp: {value: Vector3};
    shine: {value: Vector3};
    above: {value: Vector3};
    plane: {value: {x: number; y: number; z: number; w: number}};
    background: {value: Color};
    accent: {value: Color};
    none: {value: Color};
    fade: {value: number};
    pixels: {value: number};
    screen: {value: Vector2};
    cameraToWorld: {value: Matrix3};
}

const HERE = new Vector3();
const LAMP = new Vector3(-0.45, 0.55, 0.75); // over the left shoulder, camera's frame
const BACKGROUND = {light: "#eef0f3", dark: "#15181d"};

export class Stage {
    readonly scene = new Scene();
    readonly content = new Group(); // what periodic images repeat
    readonly extras = new Group(); // what they do not
    readonly camera: PerspectiveCamera | OrthographicCamera;
    readonly controls: OrbitControls;
    readonly renderer: WebGLRenderer;
    readonly shared: Shared;
    readonly section = new Plane();
    readonly clipping: Plane[] = []; // the same for materials of three.js, which keep the other side
    sectionOn = false;
    images: Vector3[] = []; // shifts of the periodic images
    hide = true; // balls that cannot be seen are not drawn
    onView: ((shift: Vector3) => void) | null = null; // before everything is drawn at a place
    private dirty = true;
    private coarse = 1; // of the pixels, while the camera moves
    private readonly ease = new Ease((ratio) => {
        this.coarse = ratio;
        this.resize();
    });
    private readonly flat: boolean;
    private box = new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
    private height = 2; // of what an orthographic camera shows at zoom 1

    constructor(
        readonly canvas: HTMLCanvasElement,
        dim: 2 | 3,
    ) {
        this.flat = dim === 2;
        // Opaque: the alpha of smooth edges says how many samples they cover, and must not let the page shine through.
        const look: WebGLContextAttributes = {antialias: true, alpha: false, powerPreference: "high-performance"};
        const context = canvas.getContext("webgl2", look) as WebGL2RenderingContext | null;
        this.renderer = new WebGLRenderer(context ? {canvas, context} : {canvas}); // which says what is missing
        this.renderer.autoClear = false;
        this.renderer.localClippingEnabled = true;
        this.camera = this.flat ? new OrthographicCamera() : new PerspectiveCamera(35, 1, 0.01, 100);
        this.camera.up.set(0, this.flat ? 1 : 0, this.flat ? 0 : 1);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.enableDamping = false;
        this.controls.zoomToCursor = true;
        if (this.flat) {
            this.controls.enableRotate = false;
            this.controls.mouseButtons = {LEFT: MOUSE.PAN, MIDDLE: MOUSE.DOLLY, RIGHT: MOUSE.PAN};
            this.controls.touches = {ONE: TOUCH.PAN, TWO: TOUCH.DOLLY_PAN};
        }
        this.controls.addEventListener("change", () => this.invalidate());
        this.controls.addEventListener("start", () => this.ease.begin());
        this.controls.addEventListener("end", () => this.ease.end());
        this.shared = {
            lamp: {value: LAMP.clone().normalize()},
            shine: {value: LAMP.clone().normalize().add(new Vector3(0, 0, 1)).normalize()},
            above: {value: new Vector3()},
            plane: {value: {x: 0, y: 0, z: 0, w: 0}},
            background: {value: new Color()},
            accent: {value: new Color("#ff3d71")},
            none: {value: new Color("#8b929c")},
            fade: {value: 0},
            pixels: {value: 1},
            screen: {value: new Vector2(1, 1)},
            cameraToWorld: {value: new Matrix3()},
        };
        const lamp = new DirectionalLight(0xffffff, 0.62 * Math.PI);
        lamp.position.copy(LAMP);
        const sky = new HemisphereLight(0xffffff, 0xffffff, 0.42 * Math.PI);
        this.camera.add(lamp);
        this.camera.add(lamp.target);
        lamp.target.position.set(0, 0, -0.001);
        this.scene.add(this.camera, sky, this.content, this.extras);
        new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
        this.resize();
    }

    setSection(plane: Plane | null): void {
        this.sectionOn = plane !== null;
        this.clipping.length = 0;
        if (plane) {
            this.section.copy(plane);
            this.clipping.push(plane.clone().negate());
        }
        this.invalidate();
    }

    setDark(dark: boolean): void {
        const colour = new Color(dark ? BACKGROUND.dark : BACKGROUND.light);
        this.shared.background.value.copy(colour);
        this.renderer.setClearColor(colour);
        this.invalidate();
    }

    invalidate(): void {
        this.dirty = true;
    }

    private resize(): void {
        const place = this.canvas.parentElement!;
        const width = Math.max(1, place.clientWidth);
        const height = Math.max(1, place.clientHeight);
        this.renderer.setPixelRatio(this.coarse * Math.min(2, window.devicePixelRatio));
        this.renderer.setSize(width, height, false);
        this.aspect(width / height);
        this.draw();
    }

    private aspect(ratio: number): void {
        if (this.camera instanceof PerspectiveCamera) {
            this.camera.aspect = ratio;
        } else {
            const c = this.camera;
            c.top = this.height / 2;
            c.bottom = -c.top;
            c.right = c.top * ratio;
            c.left = -c.right;
        }
        this.camera.updateProjectionMatrix();
    }

    /** Remember what there is to see; near and far follow from it. */
    setBox(box: Box): void {
        this.box.set(new Vector3(...box.low), new Vector3(...box.high));
    }

    /** Look at everything, from a direction; without one, from where the camera is. */
    fit(from?: Vector3): void {
        const centre = this.box.getCenter(new Vector3());
        const size = this.box.getSize(new Vector3());
        // Before the page is laid out there is no size; a camera at infinity would spoil the controls for good.
        const ratio = Math.max(1, this.canvas.clientWidth) / Math.max(1, this.canvas.clientHeight);
        this.controls.target.copy(centre);
        if (this.camera instanceof OrthographicCamera) {
            this.height = 1.12 * Math.max(size.y, size.x / ratio);
            this.camera.zoom = 1;
            this.camera.position.set(centre.x, centre.y, centre.z + 10 * size.length());
            this.camera.near = 0;
            this.camera.far = 20 * size.length();
            this.aspect(ratio);
        } else {
            const towards = from ?? this.camera.position.clone().sub(centre);
            if (towards.lengthSq() === 0) towards.set(0.55, -1, 0.45);
            const half = (this.camera.fov * Math.PI) / 360;
            const tight = Math.min(half, Math.atan(Math.tan(half) * ratio));
            const distance = (0.5 * size.length()) / Math.sin(tight);
            this.camera.position.copy(centre).addScaledVector(towards.normalize(), 0.95 * distance);
        }
        this.controls.update();
        this.invalidate();
    }

    // Near and far as tight as what is seen allows.
    private planes(): void {
        if (!(this.camera instanceof PerspectiveCamera)) return;
        const centre = this.box.getCenter(new Vector3());
        let reach = 0.75 * this.box.getSize(new Vector3()).length();
        for (const shift of this.images) reach = Math.max(reach, 0.75 * this.box.getSize(new Vector3()).length() + shift.length());
        const distance = this.camera.position.distanceTo(centre);
        this.camera.far = distance + 4 * reach;
        this.camera.near = Math.max(distance - 1.5 * reach, this.camera.far * 5e-4);
        this.camera.updateProjectionMatrix();
    }

    private prepare(): void {
        const {shared, camera} = this;
        this.planes();
        camera.updateMatrixWorld();
        shared.above.value.copy(camera.up).transformDirection(camera.matrixWorldInverse);
        shared.cameraToWorld.value.setFromMatrix4(camera.matrixWorld);
        const size = this.renderer.getDrawingBufferSize(new Vector2());
        shared.pixels.value = size.y / 2;
        shared.screen.value.copy(size);
        const plane = shared.plane.value;
        if (!this.sectionOn) {
            Object.assign(plane, {x: 0, y: 0, z: 0, w: 0});
            return;
        }
        const p = this.section.clone().applyMatrix4(camera.matrixWorldInverse);
        Object.assign(plane, {x: p.normal.x, y: p.normal.y, z: p.normal.z, w: p.constant});
    }

    draw(): void {
        this.dirty = false;
        this.prepare();
        this.renderer.clear();
        for (const shift of [HERE, ...this.images]) {
            this.extras.visible = shift === HERE;
            this.content.position.copy(shift);
            this.onView?.(shift);
            this.renderer.render(this.scene, this.camera);
        }
        this.content.position.copy(HERE);
    }

    drawIfNeeded(clock: number): void {
        if (!this.dirty) return;
        this.draw();
        this.ease.drawn(clock);
    }
}
