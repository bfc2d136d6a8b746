// SPDX-License-Identifier: Apache-2.0
// A number of balls (2D: disks), all in one call: squares that are drawn as balls, or points where there are very
// many. Whose they are, and where, is for others to say. In space only those are drawn that can be seen.
import {
    BufferAttribute,
    BufferGeometry,
    DataTexture,
    DynamicDrawUsage,
    GLSL3,
    Group,
    InstancedBufferAttribute,
    InstancedBufferGeometry,
    Matrix4,
    Mesh,
    NearestFilter,
    Points,
    RGBAFormat,
    RawShaderMaterial,
    Sphere,
    UnsignedByteType,
    Vector2,
    Vector3,
} from "three";
import type {IUniform} from "three";
import type {Colouring} from "../colour_by";
import {RAMP} from "../colours";
import {NONE} from "../quantities";
import {BALL_FRAGMENT, BALL_VERTEX, DEPTH_GREATER} from "./ball_shader";
import {Sieve} from "./sieve";
import type {Eye} from "./sieve";
import type {Stage} from "./stage";

const MANY = 60000; // from here on points, as long as balls are small on the screen
const POINT_MOST = 48; // pixels of a point
// Pixels of a ball of which it is not seen that it is drawn with one depth. Along a line of sight balls that do not
// overlap follow each other as their centres do; it shows only where balls meet other things.
const SMALL_MOST = 24;
const SIZE = {centre: 3, radius: 1, value: 1, turn: 4} as const; // numbers of each ball

type Name = keyof typeof SIZE;
type Columns = Record<Name, Float32Array>;
type Way = "squares" | "points" | "disks"; // squares and points are balls, disks look like them

export class Cloud {
    readonly object = new Group();
    readonly column: Columns;
    private readonly drawn: Columns; // what the GPU is given: those of `column` that are seen
    private readonly sieve: Sieve | null = null; // of balls in space
    private readonly squares: Mesh<InstancedBufferGeometry, RawShaderMaterial>;
    private readonly points: Points<BufferGeometry, RawShaderMaterial> | null = null;
    private readonly uniforms: Record<string, IUniform>;
    private readonly materials = new Map<Way, RawShaderMaterial>();
    private readonly texels = new Uint8Array(4 * RAMP);
    private readonly texture: DataTexture;
    private readonly depths: number; // that the GPU tells apart
    private readonly pointMost: number; // pixels
    private marks = false;
    private selected = -1;
    private sifted: (number | string | boolean)[] = []; // what `drawn` was chosen for

    /** `largest`: radius of the largest ball [m]; `turns`: it can be shown how they are turned. */
    constructor(
        private readonly stage: Stage,
        private readonly dim: 2 | 3,
        private readonly count: number,
        private readonly largest: number,
        private readonly turns = true,
    ) {
        const n = count;
        const columns = (): Columns => ({
            centre: new Float32Array(3 * n),
            radius: new Float32Array(n),
            value: new Float32Array(n).fill(NONE),
            turn: new Float32Array(turns ? 4 * n : 0),
        });
        const gl = stage.renderer.getContext();
        this.depths = 2 ** (gl.getParameter(gl.DEPTH_BITS) as number);
        // Balls that are nearer than what the camera looks at are larger.
        this.pointMost = Math.min(POINT_MOST, (gl.getParameter(gl.ALIASED_POINT_SIZE_RANGE) as Float32Array)[1] / 4);
        this.column = columns();
        this.drawn = dim === 3 ? columns() : this.column;
        if (dim === 3) this.sieve = new Sieve(n);
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
        this.object.add(this.squares);
        if (dim === 3 && n > MANY) {
            this.points = this.makePoints();
            this.object.add(this.points);
        }
        this.setAttributes();
    }

    private material(way: Way): RawShaderMaterial {
        const known = this.materials.get(way);
        if (known) return known;
        const flat = this.dim === 2;
        const early = !flat && way !== "disks" && this.stage.renderer.getContext().getExtension("EXT_conservative_depth");
        const made = new RawShaderMaterial({
            glslVersion: GLSL3,
            defines: {
                ...(way === "squares" ? {} : {POINTS: ""}),
                ...(way === "disks" ? {SMALL: ""} : {}),
                ...(flat ? {FLAT: ""} : {}),
                ...(this.turned ? {TURNED: ""} : {}),
            },
            uniforms: this.uniforms,
            vertexShader: BALL_VERTEX,
            fragmentShader: (early ? DEPTH_GREATER : "") + BALL_FRAGMENT,
            alphaToCoverage: true,
        });
        this.materials.set(way, made);
        return made;
    }

    private get names(): Name[] {
        return this.turned ? ["centre", "radius", "value", "turn"] : ["centre", "radius", "value"];
    }

    private get geometries(): BufferGeometry[] {
        return this.points ? [this.squares.geometry, this.points.geometry] : [this.squares.geometry];
    }

    // How balls are turned is on the GPU from when it is first shown.
    private setAttributes(): void {
        for (const geometry of this.geometries) {
            const kind = geometry instanceof InstancedBufferGeometry ? InstancedBufferAttribute : BufferAttribute;
            for (const name of this.names) {
                if (geometry.hasAttribute(name)) continue;
                const attribute = new kind(this.drawn[name], SIZE[name]);
                attribute.setUsage(DynamicDrawUsage);
                geometry.setAttribute(name, attribute);
            }
            // Of points, three.js counts the positions.
            if (!geometry.hasAttribute("position")) geometry.setAttribute("position", geometry.getAttribute("centre"));
        }
    }

    private makeSquares(): Mesh<InstancedBufferGeometry, RawShaderMaterial> {
        const geometry = new InstancedBufferGeometry();
        geometry.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]), 3));
        geometry.setIndex([0, 1, 2, 0, 2, 3]);
        geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
        geometry.instanceCount = this.count;
        const mesh = new Mesh(geometry, this.material("squares"));
        mesh.frustumCulled = false;
        return mesh;
    }

    private makePoints(): Points<BufferGeometry, RawShaderMaterial> {
        const geometry = new BufferGeometry();
        geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
        const points = new Points(geometry, this.material("points"));
        points.frustumCulled = false;
        return points;
    }

    // By the size of the largest ball on the screen. A section shows where it cuts balls, be they small or not.
    private way(): Way {
        if (!this.points) return "squares";
        const camera = this.stage.camera;
        const distance = camera.position.distanceTo(this.stage.controls.target);
        const size = (2.2 * this.largest * camera.projectionMatrix.elements[5] * this.stage.shared.pixels.value) / distance;
        if (size >= this.pointMost) return "squares";
        return size < SMALL_MOST && !this.stage.sectionOn ? "disks" : "points";
    }

    /** Choose how to draw, and what: before each drawing, with the place at which everything is drawn. */
    prepare(shift: Vector3): void {
        if (!this.sieve) return;
        const {camera, shared} = this.stage;
        const way = this.way();
        const eye: Eye = {
            view: new Matrix4().makeTranslation(shift).premultiply(camera.matrixWorldInverse),
            projection: camera.projectionMatrix,
            near: camera.near,
            far: camera.far,
            depths: this.depths,
            width: shared.screen.value.x,
            height: shared.screen.value.y,
            plane: shared.plane.value,
        };
        const scale = this.uniforms.scale.value as number;
        const {x, y, z, w} = eye.plane;
        const {hide} = this.stage;
        const wanted = [...eye.view.elements, ...eye.projection.elements, eye.width, eye.height, x, y, z, w, scale, way, hide];
        if (wanted.length === this.sifted.length && wanted.every((a, k) => a === this.sifted[k])) return;
        this.sifted = wanted;
        this.sieve.sift(this.column.centre, this.column.radius, scale, eye, way === "disks", hide);
        this.hand(this.sieve, way);
    }

    // Give the GPU what is left.
    private hand(sieve: Sieve, way: Way): void {
        const {count, drawn} = sieve;
        const {squares, points} = this;
        const object = way === "squares" || !points ? squares : points;
        squares.visible = object === squares;
        if (points) points.visible = object === points;
        object.material = this.material(way);
        for (const name of this.names) {
            const [from, to] = [this.column[name], this.drawn[name]];
            const size = SIZE[name];
            for (let k = 0; k < count; k++) {
                for (let e = 0; e < size; e++) to[size * k + e] = from[size * drawn[k] + e];
            }
            const attribute = object.geometry.getAttribute(name) as BufferAttribute;
            attribute.clearUpdateRanges();
            attribute.addUpdateRange(0, size * count);
            attribute.needsUpdate = true;
        }
        squares.geometry.instanceCount = count;
        points?.geometry.setDrawRange(0, count);
        this.mark();
    }

    /** How many are drawn. */
    get drawnCount(): number {
        return this.sieve?.count ?? this.count;
    }

    setMarks(on: boolean): void {
        if (on === this.marks) return;
        this.marks = on;
        this.forget();
        this.squares.material = this.material("squares");
        this.setAttributes();
        this.sifted = [];
    }

    setScale(scale: number): void {
        this.uniforms.scale.value = scale;
    }

    /** Mark one of them; -1: none. */
    select(index: number): void {
        this.selected = index;
        this.mark();
    }

    private mark(): void {
        const at = this.sieve ? this.sieve.drawn.subarray(0, this.sieve.count).indexOf(this.selected) : this.selected;
        this.uniforms.selected.value = at;
    }

    get turned(): boolean {
        return this.turns && (this.dim === 2 || this.marks);
    }

    /** The columns have changed. */
    upload(colouring: Colouring): void {
        this.texels.set(colouring.texels);
        this.texture.needsUpdate = true;
        (this.uniforms.range.value as Vector2).set(...colouring.range);
        this.sifted = [];
        if (this.sieve) return;
        for (const name of this.names) (this.squares.geometry.getAttribute(name) as BufferAttribute).needsUpdate = true;
    }

    private forget(): void {
        for (const material of this.materials.values()) material.dispose();
        this.materials.clear();
    }

    dispose(): void {
        for (const geometry of this.geometries) geometry.dispose();
        this.forget();
        this.texture.dispose();
    }
}
