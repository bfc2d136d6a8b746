// SPDX-License-Identifier: Apache-2.0
// Bodies whose motion is given: walls, floors, drums, blades. Translucent, so that the grains are seen.
import {Color, DoubleSide, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, ShaderMaterial} from "three";
import type {IUniform, Material} from "three";
import type {Model} from "../model";
import type {Frame} from "../wire";
import type {Stage} from "./stage";
import {bandGeometry, outlineGeometry, solidGeometry} from "./surfaces";

const EDGE_ANGLE = 25; // degrees between facets from which on their edge is drawn

// Walls fill much of the picture, several times over: their light is computed at their corners, for both sides.
const VERTEX = /* glsl */ `
uniform vec3 colour;
uniform vec3 lamp;
varying vec3 vPlace;
varying vec3 vFront;
varying vec3 vBack;
vec3 side(float towards) {
    vec3 c = colour * (0.62 * max(towards, 0.0) + 0.42);
    return 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055; // sRGB, not near black
}
void main() {
    vec4 place = modelViewMatrix * vec4(position, 1.0);
    float towards = dot(normalize(normalMatrix * normal), lamp);
    vPlace = place.xyz;
    vFront = side(towards);
    vBack = side(-towards);
    gl_Position = projectionMatrix * place;
}
`;

const FRAGMENT = /* glsl */ `
uniform vec4 plane;
uniform float opacity;
varying vec3 vPlace;
varying vec3 vFront;
varying vec3 vBack;
void main() {
    if (plane.xyz != vec3(0.0) && dot(plane.xyz, vPlace) + plane.w > 0.0) discard;
    gl_FragColor = vec4(gl_FrontFacing ? vFront : vBack, opacity);
}
`;

export class Walls {
    readonly object = new Group();
    private readonly materials: Material[];
    private readonly colour = new Color();
    private readonly edge: LineBasicMaterial;
    private readonly body: MeshBasicMaterial | ShaderMaterial;

    constructor(
        stage: Stage,
        private readonly model: Model,
        extent: number,
    ) {
        const flat = model.dim === 2;
        const look = {transparent: true, depthWrite: false, side: DoubleSide, forceSinglePass: true};
        const uniforms = {...(stage.shared as unknown as Record<string, IUniform>), colour: {value: this.colour}, opacity: {value: 0.16}};
        this.body = flat
            ? new MeshBasicMaterial({...look, opacity: 0.45})
            : new ShaderMaterial({...look, uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT});
        this.edge = new LineBasicMaterial({transparent: true, opacity: flat ? 0.9 : 0.4});
        this.materials = [this.body, this.edge];
        for (const m of this.materials) if (!(m instanceof ShaderMaterial)) m.clippingPlanes = stage.clipping;
        for (const i of model.walls) {
            const surface = model.surface(i);
            const group = new Group();
            this.object.add(group);
            if (!surface) continue;
            const geometry = flat ? bandGeometry(surface, 0.008 * extent) : solidGeometry(surface);
            const mesh = new Mesh(geometry, this.body);
            mesh.renderOrder = 10;
            // Unbounded walls are cut off somewhere: no edge is there.
            const edges = flat ? outlineGeometry(surface) : surface.unbounded ? null : new EdgesGeometry(geometry, EDGE_ANGLE);
            group.add(mesh);
            if (edges) group.add(new LineSegments(edges, this.edge));
        }
    }

    setDark(dark: boolean): void {
        this.colour.set(dark ? "#aebccd" : "#5d6c7e");
        if (this.body instanceof MeshBasicMaterial) this.body.color.copy(this.colour);
        this.edge.color.copy(this.colour);
    }

    update(frame: Frame): void {
        this.model.walls.forEach((i, k) => {
            const group = this.object.children[k];
            group.visible = i < frame.count;
            if (!group.visible) return;
            const q = frame.turn.subarray(4 * i, 4 * i + 4);
            group.position.fromArray(frame.position, 3 * i);
            group.quaternion.set(q[1], q[2], q[3], q[0]);
        });
    }

    dispose(): void {
        this.object.traverse((o) => {
            if (o instanceof Mesh || o instanceof LineSegments) o.geometry.dispose();
        });
        for (const m of this.materials) m.dispose();
    }
}
