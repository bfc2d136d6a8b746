// SPDX-License-Identifier: Apache-2.0
// What the page asks of its server. Addresses are relative, so that the token goes with them.
import {readBodies, readFrame, readLedger, readSurfaces, readTimes} from "./wire";
import type {Bodies, Columns, Frame, Surface} from "./wire";

/** The grid of sand. */
export interface Grid {
    cell: number; // edge [m]
    origin: [number, number, number]; // lower corner of its box [m]
    cells: [number, number, number]; // along the axes
}

export interface Info {
    name: string;
    kind: "recording" | "scene" | "live";
    title: string;
    scene: string;
    version: string;
    created: string;
    scheme: string;
    solver: string;
    dim: 2 | 3;
    tolerance: number | null;
    step: number | null;
    gravity: [number, number, number];
    period: [number, number, number];
    materials: {name: string; friction: number; restitution: number}[];
    contacts: boolean;
    sand: boolean; // there is sand as a continuum
    sandGrid: Grid | null; // that it is computed on
    rods: number; // elastic rods
    kinds: string[];
    series: {name: string; unit: string; text: string}[]; // observed at every step
    names: Record<string, string>;
    rodNames: [number, string][]; // the name of the rods from that number on
}

export interface Live {
    running: boolean;
    paused: boolean;
    end: string;
    error: string;
    serial: number;
    step: number;
    time: number;
    until: number;
    pace: number;
    contacts: number;
    iterations: number;
    residual: number | null;
}

export interface State {
    frames: number;
    steps: number;
    bodies: number;
    finished: boolean;
    live: Live | null;
}

/** The server is gone: talus was ended. */
export class Gone extends Error {}

const RETRIES = 5;

async function ask(path: string, method = "GET"): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
        let answer: Response;
        try {
            answer = await fetch(`api/${path}`, {method, cache: "no-store"});
        } catch {
            throw new Gone("talus does not answer any more; it was probably ended");
        }
        if (answer.ok) return answer;
        if (answer.status === 503 && attempt < RETRIES) {
            await new Promise((done) => setTimeout(done, 400 * (attempt + 1)));
            continue;
        }
        const said = (await answer.json().catch(() => null)) as {error?: string} | null;
        throw new Error(said?.error ?? `the server answered ${answer.status}`);
    }
}

const bytes = async (path: string): Promise<ArrayBuffer> => (await ask(path)).arrayBuffer();
const json = async <T>(path: string, method = "GET"): Promise<T> => (await ask(path, method)).json() as Promise<T>;

export const api = {
    info: (): Promise<Info> => json<Info>("info"),
    state: (): Promise<State> => json<State>("state"),
    bodies: async (): Promise<Bodies> => readBodies(await bytes("bodies")),
    surfaces: async (): Promise<Map<number, Surface>> => readSurfaces(await bytes("shapes")),
    frame: async (index: number, fields: number): Promise<Frame> =>
        readFrame(await bytes(`frame/${index < 0 ? "live" : index}?fields=${fields}`)),
    times: async (first: number): Promise<Float64Array> => readTimes(await bytes(`times?first=${first}`)),
    ledger: async (names: string[]): Promise<Columns> =>
        readLedger(await bytes(`ledger?names=${names.join(",")}&points=4000`)),
    control: (word: "pause" | "go" | "step" | "stop"): Promise<State> => json<State>(`control/${word}`, "POST"),
};
