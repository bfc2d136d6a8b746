// SPDX-License-Identifier: Apache-2.0
// A number of balls (2D: disks), all in one call: squares that are drawn as balls, or points, from front to
// back, where there are very many. Whose they are, and where, is for others to say.
import {
    BufferAttribute,
    BufferGeometry,
    DataTexture,
    DynamicDrawUsage,
    InstancedBufferAttribute,
    InstancedBufferGeometry,
    Mesh,
    NearestFilter,
    GLSL3,
    Points,
    RGBAFormat,
    RawShaderMaterial,
    Sphere,
    UnsignedByteType,
    Vector2,
    Vector3,
} from "three";
import type {IUniform, Object3D} from "three";
import type {Colouring} from "../colour_by";
import {RAMP} from "../colours";
import {NONE} from "../quantities";
import {BALL_FRAGMENT, BALL_VERTEX, DEPTH_GREATER} from "./ball_shader";
import {Order} from "./order";
import type {Stage} from "./stage";

const MANY = 60000; // from here on points, as long as balls are small on the screen
const POINT_MOST = 48; // pixels of a point
const SMALL_MOST = 16; // pixels of a ball of which it is not seen that it is drawn with one depth

export class Cloud {
    readonly object: Object3D;
    private readonly squares: Mesh;
    private readonly points: Points | null = null;
    private readonly order: Order | null = null;
    private exact: RawShaderMaterial | null = null; // of the points: as balls,
    private small: RawShaderMaterial | null = null; // or as disks that look like balls
    private readonly uniforms: Record<string, IUniform>;
    readonly column: Record<"centre" | "radius" | "value" | "turn", Float32Array>;
    private readonly geometries: BufferGeometry[] = [];
    private readonly texels = new Uint8Array(4 * RAMP);
    private readonly texture: DataTexture;
    private marks = false;

    /** `largest`: radius of the largest ball [m]; `turns`: it can be shown how they are turned. */
    constructor(
        private readonly stage: Stage,
        private readonly dim: 2 | 3,
        private readonly count: number,
        private readonly largest: number,
        private readonly turns = true,
    ) {
        const n = count;
        this.column = {
            centre: new Float32Array(3 * n),
            radius: new Float32Array(n),
            value: new Float32Array(n).fill(NONE),
            turn: new Float32Array(4 * n),
        };
        this.texture = new DataTexture(this.texels, RAMP, 1, RGBAFormat, UnsignedByteType);
        this.texture.minFilter = this.texture.magFilter = NearestFilter;
        this.uniforms = {
            ...(stage.shared as unknown as Record<string, IUniform>),
            ramp: {value: this.texture},
            range: {value: new Vector2(0, 1)},
            selected: {value: -1},
            scale: {value: 1},
        };
        this.squares = this.makeSquares();
        this.object = this.squares;
        if (dim === 3 && n > MANY) {
            this.order = new Order(this.column.centre);
            this.points = this.makePoints(this.order);
            this.squares.add(this.points);
            this.points.visible = false;
        }
    }

    private material(defines: Record<string, string>): RawShaderMaterial {
        const flat = this.dim === 2;
        const early = !flat && !("SMALL" in defines) && this.stage.renderer.getContext().getExtension("EXT_conservative_depth");
        return new RawShaderMaterial({
            glslVersion: GLSL3,
            defines: {...defines, ...(flat ? {FLAT: ""} : {}), ...(this.turned ? {TURNED: ""} : {})},
            uniforms: this.uniforms,
            vertexShader: BALL_VERTEX,
            fragmentShader: (early ? DEPTH_GREATER : "") + BALL_FRAGMENT,
            alphaToCoverage: true,
        });
    }

    private attributes(geometry: BufferGeometry, instanced: boolean): void {
        const kind = instanced ? InstancedBufferAttribute : BufferAttribute;
        const size = {centre: 3, radius: 1, value: 1, turn: 4} as const;
        for (const name of ["centre", "radius", "value", "turn"] as const) {
            const attribute = new kind(this.column[name], size[name]);
            attribute.setUsage(DynamicDrawUsage);
            geometry.setAttribute(name, attribute);
        }
        geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
        this.geometries.push(geometry);
    }

    private makeSquares(): Mesh {
        const geometry = new InstancedBufferGeometry();
        geometry.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]), 3));
        geometry.setIndex([0, 1, 2, 0, 2, 3]);
        this.attributes(geometry, true);
        geometry.instanceCount = this.count;
        const mesh = new Mesh(geometry, this.material({}));
        mesh.frustumCulled = false;
        // Squares or points, by the size of the largest ball on the screen.
        mesh.onBeforeRender = () => {
            if (!this.points) return;
            geometry.instanceCount = this.points.visible ? 0 : this.count;
        };
        return mesh;
    }

    private makePoints(order: Order): Points {
        const geometry = new BufferGeometry();
        this.attributes(geometry, false);
        geometry.setAttribute("position", geometry.getAttribute("centre"));
        geometry.setIndex(order.attribute);
        this.pointMaterials();
        const points = new Points(geometry, this.exact!);
        points.frustumCulled = false;
        return points;
    }

    private pointMaterials(): void {
        this.exact?.dispose();
        this.small?.dispose();
        this.exact = this.material({POINTS: ""});
        this.small = this.material({POINTS: "", SMALL: ""});
    }

    /** Choose between squares and points. A section shows where it cuts balls, be they small or not. */
    prepare(): void {
        if (!this.points || !this.order) return;
        const camera = this.stage.camera;
        const distance = camera.position.distanceTo(this.stage.controls.target);
        const size = (2.2 * this.largest * camera.projectionMatrix.elements[5] * this.stage.shared.pixels.value) / distance;
        this.points.visible = size < POINT_MOST;
        this.points.material = size < SMALL_MOST && !this.stage.sectionOn ? this.small! : this.exact!;
        if (this.points.visible) this.order.face(camera);
    }

    setMarks(on: boolean): void {
        if (on === this.marks) return;
        this.marks = on;
        (this.squares.material as RawShaderMaterial).dispose();
        this.squares.material = this.material({});
        if (this.points) this.pointMaterials();
    }

    setScale(scale: number): void {
        this.uniforms.scale.value = scale;
    }

    /** Mark one of them; -1: none. */
    select(index: number): void {
        this.uniforms.selected.value = index;
    }

    get turned(): boolean {
        return this.turns && (this.dim === 2 || this.marks);
    }

    /** The columns have changed. */
    upload(colouring: Colouring): void {
        this.texels.set(colouring.texels);
        this.texture.needsUpdate = true;
        this.order?.renew();
        (this.uniforms.range.value as Vector2).set(...colouring.range);
        for (const geometry of this.geometries) {
            for (const name of ["centre", "radius", "value", "turn"]) {
                (geometry.getAttribute(name) as BufferAttribute).needsUpdate = true;
            }
        }
    }

    dispose(): void {
        for (const geometry of this.geometries) geometry.dispose();
        (this.squares.material as RawShaderMaterial).dispose();
        this.exact?.dispose();
        this.small?.dispose();
        this.texture.dispose();
    }
}
