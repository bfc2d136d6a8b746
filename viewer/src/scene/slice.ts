// SPDX-License-Identifier: Apache-2.0
// What sand is like on a plane across it: the figure that grains are coloured by, between the nodes of the grid.
// In 2D the plane is that of the scene.
import {BufferAttribute, BufferGeometry, Color, DoubleSide, Mesh, MeshBasicMaterial} from "three";
import type {Colouring} from "../colour_by";
import {Field} from "../field";
import type {Model} from "../model";
import {NONE} from "../quantities";
import type {Settings} from "../settings";
import type {Frame} from "../wire";

const LEAST = 0.1; // fraction of grains below which there is no sand
const FINE = 2; // points along the edge of a cell
const MOST = 400; // points along an edge of the slice

export class Slice {
    readonly object: Mesh;
    private readonly material = new MeshBasicMaterial({vertexColors: true, side: DoubleSide});

    constructor(private readonly model: Model) {
        this.object = new Mesh(new BufferGeometry(), this.material);
        this.object.frustumCulled = false;
    }

    update(frame: Frame, colouring: Colouring, s: Readonly<Settings>, low: number[], high: number[]): void {
        const grid = this.model.info.sandGrid;
        this.object.visible = s.slice && grid !== null;
        if (!this.object.visible || !grid) return;
        const {dim} = this.model;
        const across = dim === 2 ? 2 : {x: 0, y: 1, z: 2, view: 1}[s.sectionAxis];
        const [a, b] = [0, 1, 2].filter((k) => k !== across);
        const fraction = colouring.mode === "fraction";
        const field = new Field(frame.sand, grid, dim, fraction ? null : colouring.sand);
        const step = grid.cell / FINE;
        const count = [a, b].map((k) => Math.min(MOST, Math.max(2, Math.ceil((high[k] - low[k]) / step) + 1)));
        const point = new Float32Array(3 * count[0] * count[1]);
        const colour = new Float32Array(3 * count[0] * count[1]);
        const there = new Uint8Array(count[0] * count[1]);
        const shade = new Color();
        const place = [0, 0, 0];
        place[across] = dim === 2 ? 0 : low[across] + s.sectionAt * (high[across] - low[across]);
        for (let j = 0; j < count[1]; j++)
            for (let i = 0; i < count[0]; i++) {
                const n = j * count[0] + i;
                place[a] = low[a] + (i * (high[a] - low[a])) / (count[0] - 1);
                place[b] = low[b] + (j * (high[b] - low[b])) / (count[1] - 1);
                const found = field.at(place[0], place[1], place[2]);
                const x = fraction ? found.fraction : found.value;
                point.set(place, 3 * n);
                there[n] = found.fraction >= LEAST && x !== NONE ? 1 : 0;
                const t = (x - colouring.range[0]) / (colouring.range[1] - colouring.range[0]);
                const texel = 4 * Math.round(Math.min(1, Math.max(0, t || 0)) * (colouring.texels.length / 4 - 1));
                shade.setRGB(colouring.texels[texel] / 255, colouring.texels[texel + 1] / 255, colouring.texels[texel + 2] / 255, "srgb");
                shade.toArray(colour, 3 * n);
            }
        this.replace(point, colour, this.facets(count, there));
    }

    // Two triangles for each square all of whose corners are in sand.
    private facets(count: number[], there: Uint8Array): Uint32Array {
        const out: number[] = [];
        for (let j = 0; j + 1 < count[1]; j++)
            for (let i = 0; i + 1 < count[0]; i++) {
                const n = j * count[0] + i;
                const [right, up, both] = [n + 1, n + count[0], n + count[0] + 1];
                if (there[n] && there[right] && there[up] && there[both]) out.push(n, right, up, right, both, up);
            }
        return Uint32Array.from(out);
    }

    private replace(point: Float32Array, colour: Float32Array, corner: Uint32Array): void {
        this.object.geometry.dispose();
        const geometry = new BufferGeometry();
        geometry.setAttribute("position", new BufferAttribute(point, 3));
        geometry.setAttribute("color", new BufferAttribute(colour, 3));
        geometry.setIndex(new BufferAttribute(corner, 1));
        this.object.geometry = geometry;
    }

    dispose(): void {
        this.object.geometry.dispose();
        this.material.dispose();
    }
}
