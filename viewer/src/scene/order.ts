// SPDX-License-Identifier: Apache-2.0
// An order from front to back: what is drawn first hides what comes later before that is computed. It
// need not be exact, so depths are counted in slices, and an order is kept while the camera hardly turns.
import {BufferAttribute, DynamicDrawUsage, Vector3} from "three";
import type {Camera} from "three";

const SLICES = 1024;
const TURN = 0.99; // cosine of the angle that an order outlives

export class Order {
    readonly attribute: BufferAttribute;
    private readonly index: Uint32Array;
    private readonly slice: Uint16Array;
    private readonly start = new Uint32Array(SLICES + 1);
    private readonly towards = new Vector3();
    private stale = true;

    /** `centre`: 3 numbers each, of which another may change the values. */
    constructor(private readonly centre: Float32Array) {
        this.index = Uint32Array.from({length: centre.length / 3}, (_, k) => k);
        this.slice = new Uint16Array(this.index.length);
        this.attribute = new BufferAttribute(this.index, 1);
        this.attribute.setUsage(DynamicDrawUsage);
    }

    /** The centres have changed. */
    renew(): void {
        this.stale = true;
    }

    /** See to it that the order fits the camera. */
    face(camera: Camera): void {
        const d = camera.getWorldDirection(new Vector3());
        if (!this.stale && d.dot(this.towards) > TURN) return;
        this.stale = false;
        this.towards.copy(d);
        this.sort(d);
        this.attribute.needsUpdate = true;
    }

    private sort(d: Vector3): void {
        const {centre, index, slice, start} = this;
        const depth = (k: number): number => d.x * centre[3 * k] + d.y * centre[3 * k + 1] + d.z * centre[3 * k + 2];
        let low = Infinity;
        let high = -Infinity;
        for (let k = 0; k < slice.length; k++) {
            const x = depth(k);
            if (x < low) low = x;
            if (x > high) high = x;
        }
        const scale = high > low ? (SLICES - 1) / (high - low) : 0;
        start.fill(0);
        for (let k = 0; k < slice.length; k++) {
            slice[k] = (depth(k) - low) * scale;
            start[slice[k] + 1]++;
        }
        for (let s = 0; s < SLICES; s++) start[s + 1] += start[s];
        for (let k = 0; k < slice.length; k++) index[start[slice[k]]++] = k;
    }
}
