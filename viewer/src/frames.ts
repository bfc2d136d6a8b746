// SPDX-License-Identifier: Apache-2.0
// Frames that were asked for, kept while there is room, and those that will be wanted next.
import {api} from "./api";
import type {Frame} from "./wire";

const ROOM = 384 * 2 ** 20; // bytes kept
const AHEAD = 6; // frames asked for before they are needed

export class Frames {
    private readonly kept = new Map<number, Frame>(); // in the order of last use
    private readonly asked = new Map<number, Promise<Frame>>();
    private bytes = 0;
    times = new Float64Array(0);
    fields = 0;

    get count(): number {
        return this.times.length;
    }

    /** Learn of frames that were added. */
    async grow(frames: number): Promise<boolean> {
        if (frames <= this.count) return false;
        const more = await api.times(this.count);
        const all = new Float64Array(this.count + more.length);
        all.set(this.times);
        all.set(more, this.count);
        this.times = all;
        return more.length > 0;
    }

    /** The last frame that is not later than a time. */
    at(time: number): number {
        let low = 0;
        let high = this.count - 1;
        const slack = 1e-9 * Math.max(1, Math.abs(time));
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.times[middle] <= time + slack) low = middle;
            else high = middle - 1;
        }
        return low;
    }

    /** A frame that is there with all fields that are wanted now. */
    ready(index: number): Frame | undefined {
        const frame = this.kept.get(index);
        return frame && (frame.fields & this.fields) === this.fields ? frame : undefined;
    }

    async get(index: number): Promise<Frame> {
        const ready = this.ready(index);
        if (ready) {
            this.kept.delete(index);
            this.kept.set(index, ready);
            return ready;
        }
        const fields = this.fields;
        const running = this.asked.get(index);
        if (running) {
            const frame = await running;
            if ((frame.fields & fields) === fields) return frame;
        }
        const asked = api.frame(index, fields);
        this.asked.set(index, asked);
        try {
            const frame = await asked;
            this.keep(index, frame);
            return frame;
        } finally {
            if (this.asked.get(index) === asked) this.asked.delete(index);
        }
    }

    /** Ask for what comes after a frame. Failures are met again when the frame itself is wanted. */
    prefetch(index: number): void {
        for (let k = index + 1; k <= index + AHEAD && k < this.count; k++) {
            if (this.asked.size >= 2) return;
            if (!this.ready(k) && !this.asked.has(k)) void this.get(k).catch(() => undefined);
        }
    }

    private keep(index: number, frame: Frame): void {
        this.bytes += frame.bytes - (this.kept.get(index)?.bytes ?? 0);
        this.kept.delete(index);
        this.kept.set(index, frame);
        for (const [old, {bytes}] of this.kept) {
            if (this.bytes <= ROOM || this.kept.size <= 2) break;
            this.kept.delete(old);
            this.bytes -= bytes;
        }
    }
}
