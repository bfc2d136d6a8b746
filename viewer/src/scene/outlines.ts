// SPDX-License-Identifier: Apache-2.0
// Outlines of free bodies in 2D, so that neighbours of one colour are told apart.
import {BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, LineBasicMaterial, LineSegments} from "three";
import type {Model} from "../model";
import {rotate} from "../model";
import type {Frame} from "../wire";
import type {Stage} from "./stage";

export class Outlines {
    readonly object: LineSegments<BufferGeometry, LineBasicMaterial>;
    private readonly place: Float32Array;
    private scale = 1;

    constructor(
        stage: Stage,
        private readonly model: Model,
    ) {
        let ends = 0;
        for (const i of model.solids) ends += model.surface(i)?.corner.length ?? 0;
        this.place = new Float32Array(3 * ends);
        const geometry = new BufferGeometry();
        const attribute = new BufferAttribute(this.place, 3);
        attribute.setUsage(DynamicDrawUsage);
        geometry.setAttribute("position", attribute);
        const material = new LineBasicMaterial({color: new Color("#000"), transparent: true, opacity: 0.45});
        material.clippingPlanes = stage.clipping;
        this.object = new LineSegments(geometry, material);
        this.object.frustumCulled = false;
        this.object.position.z = 1e-4 * model.meanRadius;
    }

    setScale(scale: number): void {
        this.scale = scale;
    }

    update(frame: Frame): void {
        let at = 0;
        for (const i of this.model.solids) {
            const surface = this.model.surface(i);
            if (!surface) continue;
            const q = frame.turn.subarray(4 * i, 4 * i + 4);
            for (const k of surface.corner) {
                const there = i < frame.count;
                const p = there ? rotate(q, surface.point.subarray(3 * k, 3 * k + 3)) : [0, 0, 0];
                for (let e = 0; e < 3; e++) {
                    this.place[at++] = there ? frame.position[3 * i + e] + this.scale * p[e] : 0;
                }
            }
        }
        (this.object.geometry.getAttribute("position") as BufferAttribute).needsUpdate = true;
    }

    dispose(): void {
        this.object.geometry.dispose();
        this.object.material.dispose();
    }
}
