// SPDX-License-Identifier: Apache-2.0
// Force chains: a tube from each body's origin to the contact, as thick as the force is large.
import {
    BufferGeometry,
    CylinderGeometry,
    DynamicDrawUsage,
    InstancedBufferAttribute,
    InstancedBufferGeometry,
    Mesh,
    ShaderMaterial,
    Sphere,
    Vector3,
} from "three";
import type {IUniform} from "three";
import type {Model} from "../model";
import {force} from "../quantities";
import {rodOf} from "../wire";
import type {Frame} from "../wire";
import {LIGHT} from "./ball_shader";
import type {Stage} from "./stage";

const SIDES = 8;

const VERTEX = /* glsl */ `
attribute vec3 start;
attribute vec3 stop;
attribute vec2 look;    // radius, share of the largest force
uniform float thickness;
varying vec3 vNormal;
varying vec3 vPlace;
varying float vShare;
void main() {
    vec3 a = (modelViewMatrix * vec4(start, 1.0)).xyz;
    vec3 b = (modelViewMatrix * vec4(stop, 1.0)).xyz;
    vec3 along = b - a;
    vec3 w = length(along) > 0.0 ? normalize(along) : vec3(0.0, 0.0, 1.0);
    vec3 u = normalize(cross(w, abs(w.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
    vec3 v = cross(w, u);
    vNormal = position.x * u + position.z * v;
    vec3 place = a + (position.y + 0.5) * along + look.x * thickness * vNormal;
    vShare = look.y;
    vPlace = place;
    gl_Position = projectionMatrix * vec4(place, 1.0);
}
`;

const FRAGMENT = /* glsl */ `
uniform vec4 plane;
uniform vec3 weak;
uniform vec3 strong;
varying vec3 vNormal;
varying vec3 vPlace;
varying float vShare;
${LIGHT}
void main() {
    if (plane.xyz != vec3(0.0) && dot(plane.xyz, vPlace) + plane.w > 0.0) discard;
    vec3 colour = toLinear(mix(weak, strong, sqrt(clamp(vShare, 0.0, 1.0))));
#ifdef FLAT
    gl_FragColor = vec4(colour * (0.8 + 0.2 * normalize(vNormal).z), 1.0);
#else
    gl_FragColor = vec4(lit(colour, normalize(vNormal)), 1.0);
#endif
    #include <colorspace_fragment>
}
`;

export class Chains {
    readonly object: Mesh<InstancedBufferGeometry, ShaderMaterial>;
    /** Force that is drawn as thick as 0.4 of the mean grain; the rest follows in proportion. */
    reference = 0;
    private readonly thickness: IUniform<number> = {value: 1};
    private room = 0;

    constructor(
        stage: Stage,
        private readonly model: Model,
    ) {
        const material = new ShaderMaterial({
            defines: model.dim === 2 ? {FLAT: ""} : {},
            uniforms: {
                ...(stage.shared as unknown as Record<string, IUniform>),
                thickness: this.thickness,
                weak: {value: new Vector3(0.98, 0.72, 0.34)},
                strong: {value: new Vector3(0.86, 0.12, 0.16)},
            },
            vertexShader: VERTEX,
            fragmentShader: FRAGMENT,
        });
        this.object = new Mesh(new InstancedBufferGeometry(), material);
        this.object.frustumCulled = false;
        this.object.position.z = model.dim === 2 ? model.meanRadius : 0;
        this.make(1024);
    }

    private make(room: number): void {
        this.object.geometry.dispose();
        const tube: BufferGeometry = new CylinderGeometry(1, 1, 1, SIDES, 1, true);
        const g = new InstancedBufferGeometry();
        g.setIndex(tube.getIndex());
        g.setAttribute("position", tube.getAttribute("position"));
        for (const [name, size] of [["start", 3], ["stop", 3], ["look", 2]] as const) {
            const attribute = new InstancedBufferAttribute(new Float32Array(size * room), size);
            attribute.setUsage(DynamicDrawUsage);
            g.setAttribute(name, attribute);
        }
        g.boundingSphere = new Sphere(new Vector3(), Infinity);
        g.instanceCount = 0;
        this.object.geometry = g;
        this.room = room;
    }

    setThickness(factor: number): void {
        this.thickness.value = factor;
    }

    private column(name: string): Float32Array {
        return this.object.geometry.getAttribute(name).array as Float32Array;
    }

    /** Nothing is drawn without contacts. */
    update(frame: Frame): void {
        const c = frame.contacts;
        const n = c?.count ?? 0;
        if (2 * n > this.room) this.make(3 * n);
        const forces = Float64Array.from({length: n}, (_, k) => force(frame, k));
        const sorted = Float64Array.from(forces).sort();
        const high = n > 0 ? sorted[Math.floor(0.99 * (n - 1))] : 0;
        this.reference = Math.max(this.reference, high);
        const [start, stop, look] = [this.column("start"), this.column("stop"), this.column("look")];
        let tubes = 0;
        for (let k = 0; k < n; k++) {
            const share = this.reference > 0 ? forces[k] / this.reference : 0;
            if (!(share > 1e-3)) continue;
            for (const [body, sign] of [[c!.a[k], 1], [c!.b[k], -1]]) {
                const rod = rodOf(frame, body);
                if (!rod && !this.model.isFree(body)) continue;
                for (let e = 0; e < 3; e++) {
                    const p = c!.point[3 * k + e];
                    // A rod begins where the normal meets its middle.
                    const x = rod ? p + sign * frame.rods.radius[rod.rod] * c!.normal[3 * k + e] : frame.position[3 * body + e];
                    start[3 * tubes + e] = x;
                    stop[3 * tubes + e] = x + this.model.nearest(p - x, e);
                }
                look[2 * tubes] = 0.4 * this.model.meanRadius * Math.min(share, 1.5);
                look[2 * tubes + 1] = share;
                tubes++;
            }
        }
        this.object.geometry.instanceCount = tubes;
        for (const name of ["start", "stop", "look"]) this.object.geometry.getAttribute(name).needsUpdate = true;
    }

    dispose(): void {
        this.object.geometry.dispose();
        this.object.material.dispose();
    }
}
