// SPDX-License-Identifier: Apache-2.0
// What the server packs (cli/view_pack.c, cli/view_tables.c), read into arrays. Little-endian words and
// floats; a head, then columns. Nothing is copied: the arrays look into the answer.

const MAGIC = {bodies: 0x62444c54, shapes: 0x73444c54, frame: 0x66444c54, times: 0x74444c54, ledger: 0x6c444c54};

/** Parts of a frame that are sent only when asked for. */
export const SPIN = 1;
export const CONTACTS = 2;

export interface Bodies {
    count: number;
    shapes: number;
    dim: number;
    shape: Int32Array;
    material: Int32Array;
    motion: Int32Array; // 0: free
    mass: Float32Array; // 0: does not move freely
    kind: Int32Array; // of shapes, as are the rest
    radius: Float32Array; // 0: no ball
    volume: Float32Array;
    bound: Float32Array; // distance of the farthest point from the origin; infinite where unbounded
}

/** Surface of a shape: triangles, in 2D segments. */
export interface Surface {
    shape: number;
    unbounded: boolean;
    point: Float32Array;
    normal: Float32Array;
    corner: Uint32Array;
}

export interface Contacts {
    count: number;
    a: Int32Array;
    b: Int32Array;
    point: Float32Array;
    normal: Float32Array; // from b to a
    impulse: Float32Array; // on a [N s]
    velocity: Float32Array; // of a relative to b
    gap: Float32Array;
    status: Uint8Array; // 0 open, 1 sticking, 2 sliding
}

/** Particles of sand as a continuum. */
export interface Sand {
    count: number;
    id: Uint32Array;
    position: Float32Array;
    velocity: Float32Array;
    volume: Float32Array; // of grain material
    inertial: Float32Array;
    frame: Float32Array; // xx, yy, zz, xy, xz, yz: half axes are roots of eigenvalues
    pressure: Float32Array; // NaN: not known
}

/** Elastic rods: nodes of all of them in a row. */
export interface Rods {
    count: number;
    nodes: number;
    start: Int32Array; // count + 1: first node of each
    material: Int32Array;
    radius: Float32Array;
    position: Float32Array; // of nodes, as are the rest
    velocity: Float32Array;
    director: Float32Array; // first material axis of the segment that begins there; NaN: not known
    strain: Float32Array; // of that segment; NaN: not known
}

export interface Frame {
    index: number; // -1: of a run that goes on
    fields: number;
    serial: number;
    time: number;
    h: number; // length of the step that led here [s], NaN: not known
    step: number;
    hash: string;
    count: number;
    position: Float32Array;
    velocity: Float32Array;
    turn: Float32Array; // quaternions w, x, y, z
    spin: Float32Array | null;
    sand: Sand;
    rods: Rods; // their segments are items of contacts, from `count` on
    contacts: Contacts | null;
    bytes: number;
}

export interface Columns {
    rows: number;
    column: Float64Array[];
}

class Reader {
    private at = 0;
    constructor(private readonly data: ArrayBuffer) {}
    head(magic: number, words: number): Uint32Array {
        const head = this.u32(words);
        if (head[0] !== magic) throw new Error("the answer of the server is not what was asked for");
        return head;
    }
    private take(size: number): number {
        const from = this.at;
        if (from + size > this.data.byteLength) throw new Error("the answer of the server is cut off");
        this.at += size;
        return from;
    }
    u32(count: number): Uint32Array {
        return new Uint32Array(this.data, this.take(4 * count), count);
    }
    i32(count: number): Int32Array {
        return new Int32Array(this.data, this.take(4 * count), count);
    }
    f32(count: number): Float32Array {
        return new Float32Array(this.data, this.take(4 * count), count);
    }
    f64(count: number): Float64Array {
        return new Float64Array(this.data, this.take(8 * count), count);
    }
    u8(count: number): Uint8Array {
        return new Uint8Array(this.data, this.take(count), count);
    }
}

export function readBodies(data: ArrayBuffer): Bodies {
    const r = new Reader(data);
    const [, count, shapes, dim] = r.head(MAGIC.bodies, 4);
    return {
        count,
        shapes,
        dim,
        shape: r.i32(count),
        material: r.i32(count),
        motion: r.i32(count),
        mass: r.f32(count),
        kind: r.i32(shapes),
        radius: r.f32(shapes),
        volume: r.f32(shapes),
        bound: r.f32(shapes),
    };
}

export function readSurfaces(data: ArrayBuffer): Map<number, Surface> {
    const r = new Reader(data);
    const [, count, dim] = r.head(MAGIC.shapes, 4);
    const head = r.u32(4 * count);
    let points = 0;
    let facets = 0;
    for (let k = 0; k < count; k++) {
        points += head[4 * k + 1];
        facets += head[4 * k + 2];
    }
    const point = r.f32(3 * points);
    const normal = r.f32(3 * points);
    const corner = r.u32(dim * facets);
    const out = new Map<number, Surface>();
    let p = 0;
    let f = 0;
    for (let k = 0; k < count; k++) {
        const [shape, n, m, unbounded] = head.subarray(4 * k, 4 * k + 4);
        out.set(shape, {
            shape,
            unbounded: unbounded !== 0,
            point: point.subarray(3 * p, 3 * (p + n)),
            normal: normal.subarray(3 * p, 3 * (p + n)),
            corner: corner.subarray(dim * f, dim * (f + m)),
        });
        p += n;
        f += m;
    }
    return out;
}

function readContacts(r: Reader, count: number): Contacts {
    return {
        count,
        a: r.i32(count),
        b: r.i32(count),
        point: r.f32(3 * count),
        normal: r.f32(3 * count),
        impulse: r.f32(3 * count),
        velocity: r.f32(3 * count),
        gap: r.f32(count),
        status: r.u8(count),
    };
}

function readSand(r: Reader, count: number): Sand {
    return {
        count,
        id: r.u32(count),
        position: r.f32(3 * count),
        velocity: r.f32(3 * count),
        volume: r.f32(count),
        inertial: r.f32(count),
        frame: r.f32(6 * count),
        pressure: r.f32(count),
    };
}

function readRods(r: Reader, count: number, nodes: number): Rods {
    return {
        count,
        nodes,
        start: r.i32(count > 0 ? count + 1 : 0),
        material: r.i32(count),
        radius: r.f32(count),
        position: r.f32(3 * nodes),
        velocity: r.f32(3 * nodes),
        director: r.f32(3 * nodes),
        strain: r.f32(nodes),
    };
}

/** The rod that an item of contacts is a segment of, and the node it begins at; null: it is a body. */
export function rodOf(frame: Frame, item: number): {rod: number; node: number} | null {
    const {start, count} = frame.rods;
    const segment = item - frame.count;
    if (segment < 0 || count === 0) return null;
    let [low, high] = [0, count - 1];
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (start[middle] - middle <= segment) low = middle;
        else high = middle - 1;
    }
    return {rod: low, node: segment + low};
}

export function readFrame(data: ArrayBuffer): Frame {
    const r = new Reader(data);
    const [, count, contacts, fields, low, high, serial, sand, rods, nodes] = r.head(MAGIC.frame, 10);
    const [time, h, step, index] = r.f64(4);
    return {
        index,
        fields,
        serial,
        time,
        h,
        step,
        hash: high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0"),
        count,
        position: r.f32(3 * count),
        velocity: r.f32(3 * count),
        turn: r.f32(4 * count),
        spin: fields & SPIN ? r.f32(3 * count) : null,
        sand: readSand(r, sand),
        rods: readRods(r, rods, nodes),
        contacts: fields & CONTACTS ? readContacts(r, contacts) : null,
        bytes: data.byteLength,
    };
}

export function readTimes(data: ArrayBuffer): Float64Array {
    const r = new Reader(data);
    const [, count] = r.head(MAGIC.times, 2);
    return r.f64(count);
}

export function readLedger(data: ArrayBuffer): Columns {
    const r = new Reader(data);
    const [, rows, columns] = r.head(MAGIC.ledger, 4);
    return {rows, column: Array.from({length: columns}, () => r.f64(rows))};
}
