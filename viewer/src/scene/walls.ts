// SPDX-License-Identifier: Apache-2.0
// Bodies whose motion is given: walls, floors, drums, blades. Translucent, so that the grains are seen.
import {Color, DoubleSide, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, MeshLambertMaterial} from "three";
import type {Material} from "three";
import type {Model} from "../model";
import type {Frame} from "../wire";
import type {Stage} from "./stage";
import {bandGeometry, outlineGeometry, solidGeometry} from "./surfaces";

const EDGE_ANGLE = 25; // degrees between facets from which on their edge is drawn

export class Walls {
    readonly object = new Group();
    private readonly materials: Material[];
    private readonly colour = new Color();
    private readonly edge: LineBasicMaterial;
    private readonly body: MeshLambertMaterial | MeshBasicMaterial;

    constructor(
        stage: Stage,
        private readonly model: Model,
        extent: number,
    ) {
        const flat = model.dim === 2;
        const look = {transparent: true, opacity: flat ? 0.45 : 0.16, depthWrite: false, side: DoubleSide};
        this.body = flat ? new MeshBasicMaterial(look) : new MeshLambertMaterial(look);
        this.edge = new LineBasicMaterial({transparent: true, opacity: flat ? 0.9 : 0.4});
        this.materials = [this.body, this.edge];
        for (const m of this.materials) m.clippingPlanes = stage.clipping;
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
        this.body.color.copy(this.colour);
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
