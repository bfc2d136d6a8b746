// SPDX-License-Identifier: Apache-2.0
// Which of many balls can be seen at all, from front to back. Those outside the picture are left out, and those of
// which each pixel is covered by balls before them, so that the picture is the same, pixel by pixel, as if all were
// drawn. Their number is about that of the surface of a heap, not of its inside.
//
// Along each line of sight a ball is met no nearer than its key, and where it covers a pixel wholly it is met no
// farther than its cover:
//   disks (through the centre, across the camera's axis): key = cover = depth of the centre;
//   balls: key = |c| - r, cover = |c| - sqrt(r² - p²), with p the largest distance of the lines of sight that
//   count as covered from the centre c.
// Balls are taken slice by slice of their keys. One that is drawn covers its pixels only for slices that begin
// behind its cover, by more than the depths of a picture can tell apart.
import type {Matrix4} from "three";
import {Mask} from "./mask";

/** What balls are looked at with. */
export interface Eye {
    view: Matrix4; // to the camera's frame
    projection: Matrix4; // perspective
    near: number; // [m]
    far: number;
    depths: number; // that the picture tells apart
    width: number; // of the picture in pixels
    height: number;
    plane: {x: number; y: number; z: number; w: number}; // section, camera's frame; 0: none
}

const SLICES = 4096;
const STEPS = 8; // of depths, for what a GPU rounds
const EDGE = 0.1; // pixels by which places on the screen may be off
const NEVER = SLICES + 1;

// Pixels of radius within which a ball covers wholly, where it is drawn with a radius R = `wide` or more on the screen.
// The shader's edge is the steepness s times h / (|dh/dx| + |dh/dy|), h = R² - d², differences being those of pixels:
// at least s (R² - d²) / (2 sqrt(2) d + 2). It is 1 where (d + sqrt(2)/s)² <= R² - 2 (s - 1)/s²; for 1 <= s <= 2, where
// d + sqrt(2)/s is at most sqrt(R² - 1/2).
function covered(wide: number, shown: number): number {
    const steep = Math.min(2, Math.max(1, 10 / shown));
    return Math.sqrt(Math.max(0, wide * wide - 0.5)) - Math.SQRT2 / steep - EDGE;
}

export class Sieve {
    /** The balls that are left, from front to back: `count` of them. */
    readonly drawn: Uint32Array;
    count = 0;
    private readonly mask = new Mask();
    private readonly place: Float32Array; // x, y, radius of what it may touch, of what it covers [pixels]
    private readonly key: Float32Array;
    private readonly cover: Float32Array;
    private readonly kept: Uint32Array; // those in the picture,
    private readonly order: Uint32Array; // by slices
    private readonly slice: Uint16Array;
    private readonly next: Int32Array; // of those that begin to cover at the same slice
    private readonly first = new Int32Array(SLICES + 2);
    private readonly start = new Uint32Array(SLICES + 1);

    /** Of `n` balls at most. */
    constructor(n: number) {
        this.drawn = new Uint32Array(n);
        this.place = new Float32Array(4 * n);
        this.key = new Float32Array(n);
        this.cover = new Float32Array(n);
        this.kept = new Uint32Array(n);
        this.order = new Uint32Array(n);
        this.slice = new Uint16Array(n);
        this.next = new Int32Array(n);
    }

    /** `hide`: leave out what cannot be seen; otherwise all are drawn. Radii of 0: there is no ball. */
    sift(centre: Float32Array, radius: Float32Array, scale: number, eye: Eye, disks: boolean, hide: boolean): void {
        const kept = disks ? this.disks(centre, radius, scale, eye, hide) : this.balls(centre, radius, scale, eye, hide);
        const [low, high] = this.range(kept);
        const per = high > low ? (SLICES - 1) / (high - low) : 0;
        this.sort(kept, low, per);
        this.choose(kept, low, per, eye, hide);
    }

    // Disks as the shader of SMALL balls draws them; returns how many are kept.
    private disks(centre: Float32Array, radius: Float32Array, scale: number, eye: Eye, hide: boolean): number {
        const {place, key, cover, kept} = this;
        const {width, height, near, far} = eye;
        const m = eye.view.elements;
        const fx = (eye.projection.elements[0] * width) / 2;
        const fy = (eye.projection.elements[5] * height) / 2;
        let n = 0;
        for (let k = 0; k < radius.length; k++) {
            if (!(radius[k] > 0)) continue;
            const a = centre[3 * k];
            const b = centre[3 * k + 1];
            const c = centre[3 * k + 2];
            const depth = -(m[2] * a + m[6] * b + m[10] * c + m[14]);
            if (hide && !(depth > 0)) continue;
            const x = width / 2 + (fx * (m[0] * a + m[4] * b + m[8] * c + m[12])) / depth;
            const y = height / 2 + (fy * (m[1] * a + m[5] * b + m[9] * c + m[13])) / depth;
            const wide = Math.max(0.6, (radius[k] * scale * fy) / depth);
            const out = wide + EDGE;
            if (hide && (x + out < 0 || x - out > width || y + out < 0 || y - out > height)) continue;
            // Points whose middle is outside are not drawn everywhere. They cover where (1 - (d/w)²) max(w, 6/w) >= 1.
            const there = x > 1 && x < width - 1 && y > 1 && y < height - 1 && depth > 1.001 * near && depth < 0.999 * far;
            place[4 * k] = x;
            place[4 * k + 1] = y;
            place[4 * k + 2] = out;
            place[4 * k + 3] = there ? wide * Math.sqrt(1 - 1 / Math.max(wide, 6 / wide)) - EDGE : 0;
            key[k] = cover[k] = depth;
            kept[n++] = k;
        }
        return n;
    }

    // Balls, met exactly. On the screen a ball is an ellipse; circles about the middle, within and around it, will do.
    private balls(centre: Float32Array, radius: Float32Array, scale: number, eye: Eye, hide: boolean): number {
        const {place, key, cover, kept} = this;
        const {width, height, near, plane} = eye;
        const m = eye.view.elements;
        const fx = (eye.projection.elements[0] * width) / 2;
        const fy = (eye.projection.elements[5] * height) / 2;
        const [least, most] = [Math.min(fx, fy), Math.max(fx, fy)];
        const section = plane.x !== 0 || plane.y !== 0 || plane.z !== 0;
        let n = 0;
        for (let k = 0; k < radius.length; k++) {
            const r = radius[k] * scale;
            if (!(r > 0)) continue;
            const a = centre[3 * k];
            const b = centre[3 * k + 1];
            const c = centre[3 * k + 2];
            const u = m[0] * a + m[4] * b + m[8] * c + m[12];
            const v = m[1] * a + m[5] * b + m[9] * c + m[13];
            const depth = -(m[2] * a + m[6] * b + m[10] * c + m[14]);
            if (hide && depth + r < near) continue;
            const left = section ? plane.x * u + plane.y * v - plane.z * depth + plane.w : -Infinity;
            if (hide && left > 1.001 * r) continue;
            const far = Math.sqrt(u * u + v * v + depth * depth);
            let x = 0;
            let y = 0;
            let out = Infinity;
            let inside = 0;
            cover[k] = far;
            // cos(θ + α) |c|, θ the angle between axis and centre, α half that under which the ball is seen
            const rim = far > r ? (depth * Math.sqrt(far * far - r * r) - Math.sqrt(u * u + v * v) * r) / far : 0;
            if (depth > 0 && rim > 1e-3 * far) {
                x = width / 2 + (fx * u) / depth;
                y = height / 2 + (fy * v) / depth;
                out = (most * r * far) / (rim * depth) + EDGE;
                if (hide && (x + out < 0 || x - out > width || y + out < 0 || y - out > height)) continue;
                const there = x > 1 && x < width - 1 && y > 1 && y < height - 1;
                if (there && left < -1.001 * r && depth - r > 1.001 * near) inside = covered((least * r) / far, (fy * r) / depth);
                const p = ((Math.max(0, inside) + EDGE) * far) / least;
                cover[k] -= Math.sqrt(Math.max(0, r * r - p * p));
            }
            place[4 * k] = x;
            place[4 * k + 1] = y;
            place[4 * k + 2] = out;
            place[4 * k + 3] = inside;
            key[k] = far - r;
            kept[n++] = k;
        }
        return n;
    }

    private range(n: number): [number, number] {
        const {kept, key} = this;
        let low = Infinity;
        let high = -Infinity;
        for (let i = 0; i < n; i++) {
            const x = key[kept[i]];
            if (x < low) low = x;
            if (x > high) high = x;
        }
        return [low, high];
    }

    private sort(n: number, low: number, per: number): void {
        const {kept, key, slice, start, order} = this;
        start.fill(0);
        for (let i = 0; i < n; i++) {
            const k = kept[i];
            slice[k] = (key[k] - low) * per;
            start[slice[k] + 1]++;
        }
        for (let s = 0; s < SLICES; s++) start[s + 1] += start[s];
        for (let i = 0; i < n; i++) order[start[slice[kept[i]]]++] = kept[i];
    }

    // Depth z is kept as 1 - near/z, so that two of them are told apart when z²/(near depths) lies between.
    private choose(n: number, low: number, per: number, eye: Eye, hide: boolean): void {
        const {mask, order, slice, place, cover, next, first, drawn} = this;
        mask.clear(eye.width, eye.height);
        first.fill(-1);
        let reached = 0; // slice up to which those drawn cover
        let count = 0;
        for (let i = 0; i < n; i++) {
            const k = order[i];
            for (; reached < slice[k]; reached++) {
                for (let e = first[reached + 1]; e >= 0; e = next[e]) mask.add(place[4 * e], place[4 * e + 1], place[4 * e + 3]);
            }
            if (hide && mask.has(place[4 * k], place[4 * k + 1], place[4 * k + 2])) continue;
            drawn[count++] = k;
            if (!(place[4 * k + 3] > 0)) continue;
            const behind = cover[k] + (STEPS * cover[k] * cover[k]) / (eye.near * eye.depths);
            const at = Math.min(NEVER, Math.max(slice[k], Math.floor((behind - low) * per)) + 1);
            next[k] = first[at];
            first[at] = k;
        }
        this.count = count;
    }
}
