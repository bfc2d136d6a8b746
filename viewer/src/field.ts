// SPDX-License-Identifier: Apache-2.0
// Sand between its particles: sums over particles at the nodes of the grid that it was computed on, with the
// grid's multilinear weights w, as in a recording: the fraction of grains is sum V w / (space of the node), any
// other figure the mean by V w.
import type {Grid} from "./api";
import {NONE} from "./quantities";
import type {Sand} from "./wire";

const MOST = 4e6; // nodes

export class Field {
    private readonly low = [0, 0, 0]; // node where the arrays begin
    private readonly size = [1, 1, 1];
    private readonly volume: Float64Array;
    private readonly sum: Float64Array;
    private readonly known: Float64Array;

    constructor(
        s: Sand,
        private readonly grid: Grid,
        private readonly dim: 2 | 3,
        value: Float32Array | null,
    ) {
        for (let k = 0; k < dim; k++) {
            let low = Infinity;
            let high = -Infinity;
            for (let i = 0; i < s.count; i++) {
                low = Math.min(low, s.position[3 * i + k]);
                high = Math.max(high, s.position[3 * i + k]);
            }
            if (!(high >= low)) continue;
            this.low[k] = Math.floor((low - grid.origin[k]) / grid.cell);
            this.size[k] = Math.floor((high - grid.origin[k]) / grid.cell) - this.low[k] + 2;
        }
        const nodes = this.size[0] * this.size[1] * this.size[2];
        const room = nodes <= MOST ? nodes : 0; // far too spread out to be shown
        this.volume = new Float64Array(room);
        this.sum = new Float64Array(room);
        this.known = new Float64Array(room);
        if (room === 0) return;
        for (let i = 0; i < s.count; i++) {
            const v = s.volume[i];
            const x = value ? value[i] : NONE;
            this.each(s.position[3 * i], s.position[3 * i + 1], s.position[3 * i + 2], (node, weight) => {
                this.volume[node] += v * weight;
                if (x === NONE || !isFinite(x)) return;
                this.sum[node] += v * weight * x;
                this.known[node] += v * weight;
            });
        }
        for (let n = 0; n < room; n++) {
            this.volume[n] /= this.space(n);
            this.sum[n] = this.known[n] > 0 ? this.sum[n] / this.known[n] : 0;
        }
    }

    /** Volume of space of a node: less at the faces of the box. */
    private space(node: number): number {
        let out = 1;
        let rest = node;
        for (let k = 0; k < this.dim; k++) {
            const at = (rest % this.size[k]) + this.low[k];
            rest = Math.floor(rest / this.size[k]);
            out *= this.grid.cell * (at === 0 || at === this.grid.cells[k] ? 0.5 : 1);
        }
        return out;
    }

    /** The nodes about a place with their weights; none outside. */
    private each(x: number, y: number, z: number, f: (node: number, weight: number) => void): void {
        const place = [x, y, z];
        const base = [0, 0, 0];
        const xi = [0, 0, 0];
        for (let k = 0; k < this.dim; k++) {
            const t = (place[k] - this.grid.origin[k]) / this.grid.cell - this.low[k];
            base[k] = Math.min(Math.max(Math.floor(t), 0), this.size[k] - 2);
            xi[k] = t - base[k];
            if (xi[k] < -1e-6 || xi[k] > 1 + 1e-6) return;
        }
        for (let c = 0; c < 1 << this.dim; c++) {
            let node = 0;
            let weight = 1;
            for (let k = this.dim - 1; k >= 0; k--) {
                const up = (c >> k) & 1;
                node = node * this.size[k] + base[k] + up;
                weight *= up ? xi[k] : 1 - xi[k];
            }
            f(node, weight);
        }
    }

    /** Fraction of grains and the figure at a place. */
    at(x: number, y: number, z: number): {fraction: number; value: number} {
        const out = {fraction: 0, value: 0};
        let known = 0;
        if (this.volume.length === 0) return out;
        this.each(x, y, z, (node, weight) => {
            out.fraction += weight * this.volume[node];
            out.value += weight * this.known[node] * this.sum[node];
            known += weight * this.known[node];
        });
        out.value = known > 0 ? out.value / known : NONE;
        return out;
    }
}
