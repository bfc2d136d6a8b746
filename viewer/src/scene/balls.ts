// SPDX-License-Identifier: Apache-2.0
// Bodies that are balls (2D: disks).
import type {Object3D, Vector3} from "three";
import type {Colouring} from "../colour_by";
import type {Model} from "../model";
import {NONE} from "../quantities";
import type {Frame} from "../wire";
import {Cloud} from "./cloud";
import type {Stage} from "./stage";

export class Balls {
    private readonly cloud: Cloud;
    constructor(
        stage: Stage,
        private readonly model: Model,
        private readonly list: Int32Array,
        private readonly grey = false,
    ) {
        this.cloud = new Cloud(stage, model.dim, this.list.length, model.largest);
        this.list.forEach((i, k) => (this.cloud.column.radius[k] = model.size(i)));
    }

    get object(): Object3D {
        return this.cloud.object;
    }

    prepare(shift: Vector3): void {
        this.cloud.prepare(shift);
    }

    setMarks(on: boolean): void {
        this.cloud.setMarks(on);
    }

    setScale(scale: number): void {
        this.cloud.setScale(scale);
    }

    select(body: number): void {
        this.cloud.select(this.list.indexOf(body));
    }

    update(frame: Frame, colouring: Colouring): void {
        const {centre, value, turn, radius} = this.cloud.column;
        const {position, turn: q} = frame;
        for (let k = 0; k < this.list.length; k++) {
            const i = this.list[k];
            if (i >= frame.count) {
                radius[k] = 0; // enters later
                continue;
            }
            if (radius[k] === 0) radius[k] = this.model.size(i);
            centre[3 * k] = position[3 * i];
            centre[3 * k + 1] = position[3 * i + 1];
            centre[3 * k + 2] = position[3 * i + 2];
            value[k] = this.grey ? NONE : colouring.value[i];
        }
        if (this.cloud.turned) {
            for (let k = 0; k < this.list.length; k++) {
                const i = this.list[k];
                if (i < frame.count) for (let e = 0; e < 4; e++) turn[4 * k + e] = q[4 * i + e];
            }
        }
        this.cloud.upload(colouring);
    }

    dispose(): void {
        this.cloud.dispose();
    }
}
