// SPDX-License-Identifier: Apache-2.0
// Figures of single grains that follow from a frame.
import type {Model} from "./model";
import type {ColourMode} from "./settings";
import type {Frame, Sand} from "./wire";
import {rodOf} from "./wire";

/** No figure: drawn in grey. */
export const NONE = Math.fround(-1e30); // as arrays of single precision hold it

export function speeds(frame: Frame): Float32Array {
    const out = new Float32Array(frame.count);
    for (let i = 0; i < frame.count; i++) {
        const v = Math.hypot(frame.velocity[3 * i], frame.velocity[3 * i + 1], frame.velocity[3 * i + 2]);
        out[i] = isFinite(v) ? v : NONE;
    }
    return out;
}

/** Half the edge of the cube (square) that a particle of sand fills, as dense as sand is [m]. */
export function sandHalf(volume: number, dim: 2 | 3): number {
    return 0.5 * (dim === 2 ? Math.sqrt(volume / 0.6) : Math.cbrt(volume / 0.6));
}

/** What a mode shows of each particle of sand. */
export function sandFigures(s: Sand, mode: ColourMode, dim: 2 | 3): Float32Array {
    const of = (i: number): number => {
        if (mode === "speed") return Math.hypot(s.velocity[3 * i], s.velocity[3 * i + 1], s.velocity[3 * i + 2]);
        if (mode === "size") return 2 * sandHalf(s.volume[i], dim);
        if (mode === "pressure") return s.pressure[i];
        if (mode === "inertial") return s.inertial[i];
        return mode === "id" ? s.id[i] : NaN;
    };
    return Float32Array.from({length: s.count}, (_, i) => {
        const x = of(i);
        return isFinite(x) ? x : NONE;
    });
}

/** What a mode shows of each segment of rods, at the node where it begins. */
export function rodFigures(frame: Frame, mode: ColourMode): Float32Array {
    const {rods} = frame;
    const out = new Float32Array(rods.nodes).fill(NONE);
    const v = rods.velocity;
    for (let i = 0; i < rods.count; i++) {
        for (let k = rods.start[i]; k < rods.start[i + 1]; k++) {
            const n = k + 1 < rods.start[i + 1] ? k + 1 : k;
            let x = NaN;
            if (mode === "speed") x = 0.5 * Math.hypot(v[3 * k] + v[3 * n], v[3 * k + 1] + v[3 * n + 1], v[3 * k + 2] + v[3 * n + 2]);
            else if (mode === "size") x = 2 * rods.radius[i];
            else if (mode === "id") x = i;
            else if (mode === "material") x = rods.material[i] + 0.5;
            else if (mode === "strain") x = rods.strain[k];
            else if (mode === "status" && frame.contacts) x = 0.5;
            if (isFinite(x)) out[k] = x;
        }
    }
    const c = frame.contacts;
    for (let k = 0; c && mode === "status" && k < c.count; k++) {
        for (const item of [c.a[k], c.b[k]]) {
            const at = rodOf(frame, item);
            if (at) out[at.node] = Math.max(out[at.node], c.status[k] + 0.5);
        }
    }
    return out;
}

/**
 * Mean pressure in each grain, p = -1/(d V) sum over contacts of f . l, with f the force on it and l from its
 * origin to the contact: positive under compression. Pa; in 2D N/m. Grains that do not touch have none: 0.
 */
export function pressures(frame: Frame, model: Model): Float32Array {
    const out = new Float32Array(frame.count);
    const c = frame.contacts;
    if (!c || !(frame.h > 0)) return out.fill(NONE);
    const x = frame.position;
    for (let k = 0; k < c.count; k++) {
        const a = c.a[k];
        const b = c.b[k];
        let onA = 0;
        let onB = 0;
        for (let e = 0; e < 3; e++) {
            const f = c.impulse[3 * k + e] / frame.h;
            onA -= f * model.nearest(c.point[3 * k + e] - x[3 * a + e], e);
            onB += f * model.nearest(c.point[3 * k + e] - x[3 * b + e], e);
        }
        out[a] += onA;
        out[b] += onB;
    }
    for (let i = 0; i < frame.count; i++) {
        const volume = model.volume(i);
        out[i] = volume > 0 && isFinite(out[i]) ? out[i] / (model.dim * volume) : NONE;
    }
    return out;
}

/** 0: no contact that carries, 1: all of them stick, 2: at least one slides. */
export function statuses(frame: Frame): Float32Array {
    const out = new Float32Array(frame.count);
    const c = frame.contacts;
    if (!c) return out.fill(NONE);
    for (let k = 0; k < c.count; k++) {
        out[c.a[k]] = Math.max(out[c.a[k]], c.status[k]);
        out[c.b[k]] = Math.max(out[c.b[k]], c.status[k]);
    }
    return out;
}

/** |force| of contact k [N]; the impulse [N s] where the length of the step is not known. */
export function force(frame: Frame, k: number): number {
    const r = frame.contacts!.impulse;
    const size = Math.hypot(r[3 * k], r[3 * k + 1], r[3 * k + 2]);
    return frame.h > 0 ? size / frame.h : size;
}

// The least (sign 1) or largest (-1) of the values.
function extreme(values: Float32Array, sign: number): number {
    let best = Infinity;
    for (let i = 0; i < values.length; i++) if (values[i] !== NONE && sign * values[i] < best) best = sign * values[i];
    return best < Infinity ? sign * best : NaN;
}

/** The value below which the part q of the values lies; NONE is passed over. */
export function quantile(values: Float32Array, q: number): number {
    if (q <= 0 || q >= 1) return extreme(values, q <= 0 ? 1 : -1);
    const most = 20000; // enough for a legend
    const stride = Math.max(1, Math.floor(values.length / most));
    const some: number[] = [];
    for (let i = 0; i < values.length; i += stride) if (values[i] !== NONE) some.push(values[i]);
    if (some.length === 0) return NaN;
    some.sort((a, b) => a - b);
    return some[Math.min(some.length - 1, Math.floor(q * some.length))];
}
