// SPDX-License-Identifier: Apache-2.0
// Rods as lit tubes, all in one call. The nodes of all rods stand in one row of memory, those of two rods parted
// by a node without radius. Each instance draws what is between two neighbours and looks at those before and
// behind: its rings lie across the mean of the directions there, begin at the material axis, and so fit those of
// the next instance. Ends are closed by half a ball.
import {
    BufferAttribute,
    DataTexture,
    DynamicDrawUsage,
    InstancedBufferGeometry,
    InstancedInterleavedBuffer,
    InterleavedBufferAttribute,
    Mesh,
    NearestFilter,
    RGBAFormat,
    ShaderMaterial,
    Sphere,
    UnsignedByteType,
    Vector2,
    Vector3,
} from "three";
import type {IUniform} from "three";
import type {Colouring} from "../colour_by";
import {RAMP} from "../colours";
import {NONE} from "../quantities";
import type {Frame} from "../wire";
import {LIGHT} from "./ball_shader";
import type {Stage} from "./stage";

const STRIDE = 8; // numbers of a node: place, radius, axis, value
const MANY = 12000; // segments, from which on tubes have fewer sides and flat ends
const SIDES = [12, 6];
const CAP = [2, 0]; // rings of half a ball

const VERTEX = /* glsl */ `
attribute vec4 before;  // place and radius of nodes
attribute vec4 here;
attribute vec4 next;
attribute vec4 behind;
attribute vec4 axisHere; // material axis, value
attribute vec4 axisNext;
uniform float scale;
uniform float pixels;
varying vec3 vNormal;
varying vec3 vPlace;
varying float vValue;
varying float vAngle;
flat varying int vIndex;
vec3 across(vec3 a, vec3 t) {
    vec3 p = a - dot(a, t) * t;
    float size = length(p);
    if (size > 1e-3) return p / size;
    return normalize(cross(t, abs(t.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
}
// position: cosine and sine of the angle, -1 the first node, 1 the second; beyond them the rings of the ends.
void main() {
    bool second = position.z > 0.0;
    vec4 node = second ? next : here;
    vec3 along = normalize(next.xyz - here.xyz);
    vec3 t = along;
    bool end = second ? behind.w <= 0.0 : before.w <= 0.0;
    if (!end) {
        vec3 other = second ? behind.xyz - next.xyz : here.xyz - before.xyz;
        t = normalize(along + normalize(other));
    }
    vec4 axis = second ? axisNext : axisHere;
    vec3 u = across(axis.xyz, t);
    vec3 v = cross(t, u);
    float beyond = end ? abs(position.z) - 1.0 : 0.0; // 0 to 1 over half a ball
    vec3 out1 = position.x * u + position.y * v;
    vec3 n = cos(1.5707963 * beyond) * out1 + sin(1.5707963 * beyond) * (second ? t : -t);
    vec4 centre = modelViewMatrix * vec4(node.xyz, 1.0);
    // Never thinner than a pixel or so: hair must not fall to bits.
    float r = max(node.w * scale, -0.45 * centre.z / (projectionMatrix[1][1] * pixels));
    vNormal = normalMatrix * n;
    vValue = axisHere.w; // of the segment
    vAngle = atan(position.y, position.x);
    vPlace = centre.xyz + r * vNormal;
    vIndex = gl_InstanceID;
    gl_Position = projectionMatrix * vec4(vPlace, 1.0);
    if (here.w <= 0.0 || next.w <= 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
`;

const FRAGMENT = /* glsl */ `
uniform vec4 plane;
uniform sampler2D ramp;
uniform vec2 range;
uniform vec3 none;
uniform vec3 background;
uniform vec3 accent;
uniform float fade;
uniform ivec2 selected; // instances, from and to
uniform bool marks;
varying vec3 vNormal;
varying vec3 vPlace;
varying float vValue;
varying float vAngle;
flat varying int vIndex;
${LIGHT}
void main() {
    if (plane.xyz != vec3(0.0) && dot(plane.xyz, vPlace) + plane.w > 0.0) discard;
    vec3 colour = none;
    if (vValue > -1e29) {
        float t = clamp((vValue - range.x) / (range.y - range.x), 0.0, 1.0);
        colour = toLinear(texture2D(ramp, vec2((t * 255.0 + 0.5) / 256.0, 0.5)).rgb);
    }
    if (vIndex >= selected.x && vIndex < selected.y) colour = mix(colour, accent, 0.6);
    // A stripe along the material axis shows how the rod is twisted.
    if (marks && abs(vAngle) < 0.5) colour *= 0.35;
    vec3 n = gl_FrontFacing ? normalize(vNormal) : -normalize(vNormal);
    gl_FragColor = vec4(mix(lit(colour, n), background, fade), 1.0);
    #include <colorspace_fragment>
}
`;

/** Rings of a tube, each `sides` points; the second number says where (see the shader). */
function makeTube(sides: number, cap: number): {point: Float32Array; corner: number[]} {
    const rings = [
        ...Array.from({length: cap}, (_, k) => -2 + k / cap),
        -1,
        1,
        ...Array.from({length: cap}, (_, k) => 1 + (k + 1) / cap),
    ];
    const point = new Float32Array(3 * rings.length * sides);
    rings.forEach((z, r) => {
        for (let k = 0; k < sides; k++) {
            // From -pi to pi: the seam is opposite to the stripe.
            const angle = (2 * Math.PI * k) / sides - Math.PI;
            point.set([Math.cos(angle), Math.sin(angle), z], 3 * (r * sides + k));
        }
    });
    const corner: number[] = [];
    for (let r = 0; r + 1 < rings.length; r++) {
        for (let k = 0; k < sides; k++) {
            const [a, b] = [r * sides + k, r * sides + ((k + 1) % sides)];
            corner.push(a, b, a + sides, b, b + sides, a + sides);
        }
    }
    return {point, corner};
}

export class Rods {
    readonly object: Mesh<InstancedBufferGeometry, ShaderMaterial>;
    private readonly uniforms: Record<string, IUniform>;
    private readonly texels = new Uint8Array(4 * RAMP);
    private readonly texture = new DataTexture(this.texels, RAMP, 1, RGBAFormat, UnsignedByteType);
    private column = new Float32Array(0);
    private buffer: InstancedInterleavedBuffer | null = null;

    constructor(stage: Stage) {
        this.texture.minFilter = this.texture.magFilter = NearestFilter;
        this.uniforms = {
            ...(stage.shared as unknown as Record<string, IUniform>),
            ramp: {value: this.texture},
            range: {value: new Vector2(0, 1)},
            selected: {value: new Vector2(-1, -1)},
            marks: {value: false},
            scale: {value: 1},
        };
        const material = new ShaderMaterial({uniforms: this.uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT});
        this.object = new Mesh(new InstancedBufferGeometry(), material);
        this.object.frustumCulled = false;
    }

    // Room for `nodes` of them; rods are parted, begun and ended by one without radius, and one more is looked at.
    private reserve(places: number): void {
        if (this.buffer && STRIDE * places <= this.column.length) return;
        this.object.geometry.dispose();
        const many = places > MANY ? 1 : 0;
        const {point, corner} = makeTube(SIDES[many], CAP[many]);
        this.column = new Float32Array(STRIDE * places);
        this.buffer = new InstancedInterleavedBuffer(this.column, STRIDE);
        this.buffer.setUsage(DynamicDrawUsage);
        const g = new InstancedBufferGeometry();
        g.setIndex(corner);
        g.setAttribute("position", new BufferAttribute(point, 3));
        ["before", "here", "next", "behind"].forEach((name, k) =>
            g.setAttribute(name, new InterleavedBufferAttribute(this.buffer!, 4, STRIDE * k)),
        );
        g.setAttribute("axisHere", new InterleavedBufferAttribute(this.buffer, 4, STRIDE + 4));
        g.setAttribute("axisNext", new InterleavedBufferAttribute(this.buffer, 4, 2 * STRIDE + 4));
        g.boundingSphere = new Sphere(new Vector3(), Infinity);
        this.object.geometry = g;
    }

    setScale(scale: number): void {
        this.uniforms.scale.value = scale;
    }

    setMarks(on: boolean): void {
        this.uniforms.marks.value = on;
    }

    /** Mark a rod; -1: none. */
    select(rod: number, frame: Frame | null): void {
        const {start} = frame?.rods ?? {start: new Int32Array(0)};
        const there = rod >= 0 && rod + 1 < start.length;
        // Instance k begins at place k + 1; rod i is behind i + 1 places without radius.
        (this.uniforms.selected.value as Vector2).set(there ? start[rod] + rod : -1, there ? start[rod + 1] + rod : -1);
    }

    update(frame: Frame, colouring: Colouring): void {
        const r = frame.rods;
        const places = r.nodes + r.count + 3;
        this.reserve(places);
        const c = this.column;
        c.fill(0);
        for (let i = 0; i < r.count; i++) {
            for (let k = r.start[i]; k < r.start[i + 1]; k++) {
                const at = STRIDE * (k + i + 1);
                for (let e = 0; e < 3; e++) {
                    c[at + e] = r.position[3 * k + e];
                    c[at + 4 + e] = r.director[3 * k + e] || 0;
                }
                c[at + 3] = r.radius[i];
                c[at + 7] = colouring.rods[k] ?? NONE;
            }
        }
        this.object.geometry.instanceCount = places - 3;
        this.buffer!.needsUpdate = true;
        this.texels.set(colouring.texels);
        this.texture.needsUpdate = true;
        (this.uniforms.range.value as Vector2).set(...colouring.range);
    }

    dispose(): void {
        this.object.geometry.dispose();
        this.object.material.dispose();
        this.texture.dispose();
    }
}
