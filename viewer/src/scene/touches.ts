// SPDX-License-Identifier: Apache-2.0
// Contacts as dots: open, sticking, sliding. They are drawn over the grains, which would hide them.
import {BufferAttribute, BufferGeometry, DynamicDrawUsage, Points, ShaderMaterial, Sphere, Vector3} from "three";
import type {IUniform} from "three";
import {STATUS, rgb} from "../colours";
import type {Model} from "../model";
import type {Frame} from "../wire";
import type {Stage} from "./stage";

const VERTEX = /* glsl */ `
attribute float status;
uniform float pixels;
uniform float size;
varying float vStatus;
varying vec3 vPlace;
varying float vSize;
void main() {
    vec4 p = modelViewMatrix * vec4(position, 1.0);
    vPlace = p.xyz;
    vStatus = status;
    gl_Position = projectionMatrix * p;
    gl_Position.z -= 0.004 * gl_Position.w;
    gl_PointSize = clamp(2.0 * size * projectionMatrix[1][1] * pixels / max(gl_Position.w, 1e-9), 3.0, 40.0);
    vSize = gl_PointSize;
}
`;

const FRAGMENT = /* glsl */ `
uniform vec4 plane;
uniform vec3 colours[3];
varying float vStatus;
varying vec3 vPlace;
varying float vSize;
void main() {
    if (plane.xyz != vec3(0.0) && dot(plane.xyz, vPlace) + plane.w > 0.0) discard;
    float r = length(2.0 * gl_PointCoord - 1.0);
    if (r > 1.0) discard;
    vec3 colour = colours[int(vStatus + 0.5)];
    float ring = smoothstep(0.70, 0.78, r) * smoothstep(7.0, 12.0, vSize);
    gl_FragColor = vec4(mix(colour, vec3(1.0), 0.9 * ring), 1.0);
}
`;

export class Touches {
    readonly object: Points<BufferGeometry, ShaderMaterial>;
    private room = 0;

    constructor(stage: Stage, model: Model) {
        const material = new ShaderMaterial({
            uniforms: {
                ...(stage.shared as unknown as Record<string, IUniform>),
                size: {value: 0.22 * model.meanRadius},
                colours: {value: STATUS.map((hex) => new Vector3(...rgb(hex).map((x) => x / 255)))},
            },
            vertexShader: VERTEX,
            fragmentShader: FRAGMENT,
        });
        this.object = new Points(new BufferGeometry(), material);
        this.object.frustumCulled = false;
        this.object.renderOrder = 5;
        this.object.position.z = model.dim === 2 ? 2 * model.meanRadius : 0;
        this.make(1024);
    }

    private make(room: number): void {
        this.object.geometry.dispose();
        const g = new BufferGeometry();
        for (const [name, size] of [["position", 3], ["status", 1]] as const) {
            const attribute = new BufferAttribute(new Float32Array(size * room), size);
            attribute.setUsage(DynamicDrawUsage);
            g.setAttribute(name, attribute);
        }
        g.boundingSphere = new Sphere(new Vector3(), Infinity);
        g.setDrawRange(0, 0);
        this.object.geometry = g;
        this.room = room;
    }

    update(frame: Frame): void {
        const c = frame.contacts;
        const n = c?.count ?? 0;
        if (n > this.room) this.make(Math.ceil(1.5 * n));
        const g = this.object.geometry;
        if (c) {
            (g.getAttribute("position").array as Float32Array).set(c.point);
            (g.getAttribute("status").array as Float32Array).set(c.status);
        }
        g.setDrawRange(0, n);
        g.getAttribute("position").needsUpdate = true;
        g.getAttribute("status").needsUpdate = true;
    }

    dispose(): void {
        this.object.geometry.dispose();
        this.object.material.dispose();
    }
}
