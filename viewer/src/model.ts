// SPDX-License-Identifier: Apache-2.0
// What there is besides the frames: bodies with their shapes, and which of them are drawn how.
import type {Info} from "./api";
import type {Bodies, Frame, Surface} from "./wire";

export interface Box {
    low: [number, number, number];
    high: [number, number, number];
}

export class Model {
    readonly balls: Int32Array; // free bodies that are balls
    readonly solids: Int32Array; // free bodies of other shapes
    readonly walls: Int32Array; // bodies whose motion is given, other than balls
    readonly fixed: Int32Array; // balls whose motion is given
    meanRadius: number; // of grains; where there are none, of rods
    readonly largest: number; // radius of the largest ball

    constructor(
        readonly info: Info,
        readonly bodies: Bodies,
        readonly surfaces: Map<number, Surface>,
    ) {
        const pick = (free: boolean, ball: boolean): Int32Array =>
            Int32Array.from({length: bodies.count}, (_, i) => i).filter(
                (i) => (bodies.motion[i] === 0) === free && bodies.radius[bodies.shape[i]] > 0 === ball,
            );
        this.balls = pick(true, true);
        this.solids = pick(true, false);
        this.fixed = pick(false, true);
        this.walls = pick(false, false);
        let sum = 0;
        let largest = 0;
        for (const list of [this.balls, this.solids, this.fixed]) {
            for (const i of list) {
                const size = this.size(i);
                if (list !== this.fixed) sum += size;
                if (list !== this.solids) largest = Math.max(largest, size);
            }
        }
        const free = this.balls.length + this.solids.length;
        this.meanRadius = free > 0 ? sum / free : 1;
        this.largest = largest;
    }

    /** What only a frame tells: how thick things are where there are rods alone. */
    learn(frame: Frame): void {
        if (this.balls.length + this.solids.length > 0 || frame.rods.count === 0) return;
        this.meanRadius = frame.rods.radius.reduce((sum, r) => sum + r, 0) / frame.rods.count;
    }

    get dim(): 2 | 3 {
        return this.info.dim;
    }

    isFree(body: number): boolean {
        return this.bodies.motion[body] === 0;
    }

    /** Radius of a ball; of other shapes that of the ball (disk) of the same volume (area) [m]. */
    size(body: number): number {
        const shape = this.bodies.shape[body];
        const radius = this.bodies.radius[shape];
        if (radius > 0) return radius;
        const volume = this.bodies.volume[shape];
        return this.dim === 2 ? Math.sqrt(volume / Math.PI) : Math.cbrt((3 * volume) / (4 * Math.PI));
    }

    volume(body: number): number {
        return this.bodies.volume[this.bodies.shape[body]];
    }

    bound(body: number): number {
        return this.bodies.bound[this.bodies.shape[body]];
    }

    surface(body: number): Surface | undefined {
        return this.surfaces.get(this.bodies.shape[body]);
    }

    kind(body: number): string {
        return this.info.kinds[this.bodies.kind[this.bodies.shape[body]]] ?? "body";
    }

    name(body: number): string {
        return this.info.names[String(body)] ?? "";
    }

    rodName(rod: number): string {
        const list = this.info.rodNames.filter(([first]) => first <= rod);
        return list.length > 0 ? list[list.length - 1][1] : "";
    }

    /** The difference b - a along one axis, of the nearest periodic images. */
    nearest(d: number, axis: number): number {
        const period = this.info.period[axis];
        return period > 0 ? d - period * Math.round(d / period) : d;
    }

    /** The box around what a frame shows: the free bodies, and the bounded walls that are near them. */
    box(frame: Frame): Box {
        const there = Math.min(frame.count, this.bodies.count);
        const free: Box = {low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity]};
        const walls: Box[] = [];
        for (let i = 0; i < there; i++) {
            const r = this.bound(i);
            if (!isFinite(r)) continue;
            if (!this.isFree(i)) {
                walls.push(this.around(frame, i));
                continue;
            }
            for (const e of AXES) {
                const x = frame.position[3 * i + e];
                if (x - r < free.low[e]) free.low[e] = x - r;
                if (x + r > free.high[e]) free.high[e] = x + r;
            }
        }
        const x = frame.sand.position;
        for (let i = 0; i < 3 * frame.sand.count; i++) {
            if (x[i] < free.low[i % 3]) free.low[i % 3] = x[i];
            if (x[i] > free.high[i % 3]) free.high[i % 3] = x[i];
        }
        const nodes = frame.rods.position;
        for (let i = 0; i < nodes.length; i++) {
            if (nodes[i] < free.low[i % 3]) free.low[i % 3] = nodes[i];
            if (nodes[i] > free.high[i % 3]) free.high[i % 3] = nodes[i];
        }
        const none = free.low[0] > free.high[0];
        const near = grown(free);
        const box = walls.filter((wall) => none || meet(near, wall)).reduce(unite, free);
        return box.low[0] > box.high[0] ? {low: [-1, -1, -1], high: [1, 1, 1]} : box;
    }

    // The box around a wall.
    private around(frame: Frame, i: number): Box {
        const x = frame.position.subarray(3 * i, 3 * i + 3);
        const surface = this.surface(i);
        const r = this.bound(i);
        if (!surface) return {low: [x[0] - r, x[1] - r, x[2] - r], high: [x[0] + r, x[1] + r, x[2] + r]};
        const q = frame.turn.subarray(4 * i, 4 * i + 4);
        const box: Box = {low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity]};
        for (let k = 0; k < surface.point.length; k += 3) {
            const p = rotate(q, surface.point.subarray(k, k + 3));
            for (const e of AXES) {
                box.low[e] = Math.min(box.low[e], x[e] + p[e]);
                box.high[e] = Math.max(box.high[e], x[e] + p[e]);
            }
        }
        return box;
    }
}

const AXES = [0, 1, 2] as const;

const meet = (a: Box, b: Box): boolean => AXES.every((k) => a.low[k] <= b.high[k] && b.low[k] <= a.high[k]);

/** Half as large again, on each side. */
function grown(b: Box): Box {
    const by = 0.5 * Math.max(...AXES.map((k) => b.high[k] - b.low[k]));
    return {low: [b.low[0] - by, b.low[1] - by, b.low[2] - by], high: [b.high[0] + by, b.high[1] + by, b.high[2] + by]};
}

export function unite(a: Box, b: Box): Box {
    const each = (f: (x: number, y: number) => number, x: Box["low"], y: Box["low"]): Box["low"] => [f(x[0], y[0]), f(x[1], y[1]), f(x[2], y[2])];
    return {low: each(Math.min, a.low, b.low), high: each(Math.max, a.high, b.high)};
}

/** q v q*, q = (w, x, y, z). */
export function rotate(q: ArrayLike<number>, v: ArrayLike<number>): [number, number, number] {
    const [w, x, y, z] = [q[0], q[1], q[2], q[3]];
    const tx = 2 * (y * v[2] - z * v[1]);
    const ty = 2 * (z * v[0] - x * v[2]);
    const tz = 2 * (x * v[1] - y * v[0]);
    return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
}

/** q* v q: into the frame that q turns. */
export function unrotate(q: ArrayLike<number>, v: ArrayLike<number>): [number, number, number] {
    return rotate([q[0], -q[1], -q[2], -q[3]], v);
}
