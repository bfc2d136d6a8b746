// SPDX-License-Identifier: Apache-2.0
// Surfaces from the server as geometry for three.js.
import {BufferAttribute, BufferGeometry, ShapeUtils, Vector2} from "three";
import type {Surface} from "../wire";

/** Triangles of a shape in 3D. */
export function solidGeometry(s: Surface): BufferGeometry {
    const g = new BufferGeometry();
    g.setAttribute("position", new BufferAttribute(s.point, 3));
    g.setAttribute("normal", new BufferAttribute(s.normal, 3));
    g.setIndex(new BufferAttribute(s.corner, 1));
    return g;
}

/** The outline of a 2D shape as closed loops of points; open chains are left out. */
export function loops(s: Surface): Vector2[][] {
    // Points that lie on each other are one: corners have a point for each of their two sides.
    const key = (k: number): string => `${s.point[3 * k].toPrecision(6)} ${s.point[3 * k + 1].toPrecision(6)}`;
    const next = new Map<string, number[]>();
    for (let e = 0; e < s.corner.length; e += 2) {
        const from = key(s.corner[e]);
        next.set(from, [...(next.get(from) ?? []), e]);
    }
    const used = new Uint8Array(s.corner.length / 2);
    const out: Vector2[][] = [];
    for (let first = 0; first < s.corner.length; first += 2) {
        const loop: Vector2[] = [];
        let e: number | undefined = first;
        while (e !== undefined && !used[e / 2]) {
            used[e / 2] = 1;
            const k = s.corner[e];
            loop.push(new Vector2(s.point[3 * k], s.point[3 * k + 1]));
            e = next.get(key(s.corner[e + 1]))?.find((other) => !used[other / 2]);
        }
        if (loop.length > 2) out.push(loop);
    }
    return out;
}

/** The inside of a 2D outline. */
export function flatGeometry(s: Surface): BufferGeometry {
    const rings = loops(s);
    const point: number[] = [];
    const index: number[] = [];
    // The largest ring is the rim; others that turn the other way are holes in it.
    rings.sort((a, b) => Math.abs(ShapeUtils.area(b)) - Math.abs(ShapeUtils.area(a)));
    const holes = rings.slice(1).filter((r) => Math.sign(ShapeUtils.area(r)) !== Math.sign(ShapeUtils.area(rings[0])));
    if (rings.length > 0) {
        const all = [rings[0], ...holes].flat();
        for (const p of all) point.push(p.x, p.y, 0);
        for (const t of ShapeUtils.triangulateShape(rings[0], holes)) index.push(...t);
    }
    const g = new BufferGeometry();
    if (index.length === 0) {
        point.push(0, 0, 0);
        index.push(0, 0, 0);
    }
    g.setAttribute("position", new BufferAttribute(new Float32Array(point), 3));
    const normal = new Float32Array(point.length);
    for (let k = 2; k < normal.length; k += 3) normal[k] = 1;
    g.setAttribute("normal", new BufferAttribute(normal, 3));
    g.setIndex(new BufferAttribute(new Uint32Array(index), 1));
    return g;
}

/** A band of some width along a 2D outline, on the side of the material. */
export function bandGeometry(s: Surface, width: number): BufferGeometry {
    const segments = s.corner.length / 2;
    const point = new Float32Array(12 * segments);
    const normal = new Float32Array(12 * segments);
    const index = new Uint32Array(6 * segments);
    for (let e = 0; e < segments; e++) {
        const [a, b] = [s.corner[2 * e], s.corner[2 * e + 1]];
        [a, b].forEach((k, side) => {
            const [x, y] = [s.point[3 * k], s.point[3 * k + 1]];
            point.set([x, y, 0], 12 * e + 3 * side);
            point.set([x - width * s.normal[3 * k], y - width * s.normal[3 * k + 1], 0], 12 * e + 6 + 3 * side);
        });
        for (let k = 0; k < 4; k++) normal[12 * e + 3 * k + 2] = 1;
        index.set([4 * e, 4 * e + 1, 4 * e + 2, 4 * e + 2, 4 * e + 1, 4 * e + 3], 6 * e);
    }
    const g = new BufferGeometry();
    g.setAttribute("position", new BufferAttribute(point, 3));
    g.setAttribute("normal", new BufferAttribute(normal, 3));
    g.setIndex(new BufferAttribute(index, 1));
    return g;
}

/** Edges between facets that meet at more than some angle, and rims, as pairs of points. */
export function outlineGeometry(s: Surface): BufferGeometry {
    const g = new BufferGeometry();
    g.setAttribute("position", new BufferAttribute(s.point, 3));
    g.setIndex(new BufferAttribute(s.corner, 1));
    return g;
}
