// SPDX-License-Identifier: Apache-2.0
// Bodies that are balls (2D: disks).
import type {Object3D} from "three";
import type {Colouring} from "../colour_by";
import type {Model} from "../model";
import {NONE} from "../quantities";
import type {Frame} from "../wire";
import {Cloud} from "./cloud";
import type {Stage} from "./stage";

/** The same bodies in an order without pattern: most of those behind then find others drawn already. */
function mixed(list: Int32Array): Int32Array {
    const n = list.length;
    let stride = Math.max(1, Math.floor(n * 0.6180339887));
    const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
    while (divisor(stride, n) > 1) stride++;
    return Int32Array.from({length: n}, (_, k) => list[(k * stride) % n]);
}

export class Balls {
    private readonly cloud: Cloud;
    private readonly list: Int32Array;

    constructor(
        stage: Stage,
        private readonly model: Model,
        bodies: Int32Array,
        private readonly grey = false,
    ) {
        this.list = mixed(bodies);
        this.cloud = new Cloud(stage, model.dim, this.list.length, model.largest);
        this.list.forEach((i, k) => (this.cloud.column.radius[k] = model.size(i)));
    }

    get object(): Object3D {
        return this.cloud.object;
    }

    prepare(): void {
        this.cloud.prepare();
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
