// SPDX-License-Identifier: Apache-2.0
// Sand as grains: each particle becomes a few balls within its frame F, as `talus picture` draws it
// (src/picture/show_sand.c). With F = L L^T and xi in the cube from -1 to 1, x + L xi is within what the cube
// that the particle was has become; the xi follow from the number of the particle.
import {Group} from "three";
import type {Object3D, Vector3} from "three";
import type {Colouring} from "../colour_by";
import {sandHalf} from "../quantities";
import type {Frame, Sand as Particles} from "../wire";
import {Cloud} from "./cloud";
import type {Stage} from "./stage";

const MOST = 400000; // balls
const EDGE = {2: 3, 3: 2} as const; // balls along an edge of what a particle fills
const LONGEST = 3; // edges: what was torn apart is shown no longer

/** A number from -1 to 1 that looks random. */
function noise(id: number, k: number): number {
    let z = Math.imul(id ^ Math.imul(k + 1, 0x9e3779b9), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 31 - 1;
}

/** L, lower triangle by rows, into `out`; returns half the edge of the particle. */
function factor(s: Particles, i: number, dim: 2 | 3, out: Float64Array): number {
    const [xx, yy, zz, xy, xz, yz] = s.frame.subarray(6 * i, 6 * i + 6);
    const half = sandHalf(s.volume[i], dim) || 1e-9;
    const wide = Math.sqrt(xx + yy + zz);
    if (!(wide > 0)) {
        out.set([half, 0, half, 0, 0, dim === 2 ? 0 : half]);
        return half;
    }
    out[0] = Math.sqrt(Math.max(xx, 0));
    out[1] = out[0] > 0 ? xy / out[0] : 0;
    out[2] = Math.sqrt(Math.max(yy - out[1] ** 2, 0));
    out[3] = out[0] > 0 ? xz / out[0] : 0;
    out[4] = out[2] > 0 ? (yz - out[3] * out[1]) / out[2] : 0;
    out[5] = Math.sqrt(Math.max(zz - out[3] ** 2 - out[4] ** 2, 0));
    const shrink = Math.min(1, (LONGEST * half) / wide);
    for (let k = 0; k < 6; k++) out[k] *= shrink;
    return half;
}

export class Sand {
    readonly object: Object3D = new Group();
    private cloud: Cloud | null = null;
    private room = 0; // particles
    private edge = 1;
    private scale = 1;

    constructor(
        private readonly stage: Stage,
        private readonly dim: 2 | 3,
    ) {}

    // Room for the particles of a frame: they may leave, and in a run that goes on also come.
    private reserve(s: Particles): Cloud {
        if (this.cloud && s.count <= this.room) return this.cloud;
        this.dispose();
        this.room = s.count;
        this.edge = EDGE[this.dim];
        while (this.edge > 1 && s.count * this.edge ** this.dim > MOST) this.edge--;
        const half = s.count > 0 ? sandHalf(s.volume[0], this.dim) : 0;
        this.cloud = new Cloud(this.stage, this.dim, this.room * this.edge ** this.dim, half, false);
        this.cloud.setScale(this.scale);
        this.object.add(this.cloud.object);
        return this.cloud;
    }

    setScale(scale: number): void {
        this.scale = scale;
        this.cloud?.setScale(scale);
    }

    prepare(shift: Vector3): void {
        this.cloud?.prepare(shift);
    }

    update(frame: Frame, colouring: Colouring): void {
        const s = frame.sand;
        const cloud = this.reserve(s);
        const {centre, radius, value} = cloud.column;
        const n = this.edge;
        const l = new Float64Array(6);
        const xi = [0, 0, 0];
        let at = 0;
        for (let i = 0; i < s.count; i++) {
            const half = factor(s, i, this.dim, l);
            for (let k = 0; k < n ** this.dim; k++, at++) {
                const place = [k % n, Math.floor(k / n) % n, Math.floor(k / (n * n))];
                for (let e = 0; e < this.dim; e++) xi[e] = (2 * place[e] + 1 + 0.7 * noise(s.id[i], 3 * k + e)) / n - 1;
                centre[3 * at] = s.position[3 * i] + l[0] * xi[0];
                centre[3 * at + 1] = s.position[3 * i + 1] + l[1] * xi[0] + l[2] * xi[1];
                centre[3 * at + 2] = s.position[3 * i + 2] + l[3] * xi[0] + l[4] * xi[1] + l[5] * xi[2];
                radius[at] = (1.1 * half) / n;
                value[at] = colouring.sand[i];
            }
        }
        radius.fill(0, at);
        cloud.upload(colouring);
    }

    dispose(): void {
        if (!this.cloud) return;
        this.object.remove(this.cloud.object);
        this.cloud.dispose();
        this.cloud = null;
    }
}
