// SPDX-License-Identifier: Apache-2.0
// Colouring grains: the values of a mode, their range, and the texels they are looked up in.
import {GRAIN_STATUS_TEXT, STATUS, css, paletteColour, ramp, rgb, steps} from "./colours";
import {Field} from "./field";
import type {Model} from "./model";
import {NONE, pressures, quantile, rodFigures, sandFigures, speeds, statuses} from "./quantities";
import {COLOUR_MODES} from "./settings";
import type {ColourMode, Settings} from "./settings";
import {CONTACTS} from "./wire";
import type {Frame, Sand} from "./wire";

export interface Colouring {
    mode: ColourMode;
    value: Float32Array; // one per body; NONE: grey
    sand: Float32Array; // one per particle of sand
    rods: Float32Array; // one per node of rods, for the segment that begins there
    range: [number, number];
    texels: Uint8Array;
    label: string;
    unit: string;
    /** Names and colours where there is no scale. */
    classes: {text: string; colour: string}[] | null;
}

export const LABELS: Record<ColourMode, string> = {
    speed: "Speed",
    size: "Size",
    pressure: "Pressure",
    id: "Number",
    status: "Status",
    material: "Material",
    inertial: "Inertial number",
    fraction: "Fraction of grains",
    strain: "Strain",
};

/** Fields of a frame that a mode needs. */
export function fieldsOf(mode: ColourMode): number {
    return mode === "pressure" || mode === "status" ? CONTACTS : 0;
}

/** Modes that there is something to see with. */
export function modesOf(model: Model): ColourMode[] {
    const sand = (mode: ColourMode): boolean => mode === "inertial" || mode === "fraction";
    return COLOUR_MODES.filter((mode) => (!sand(mode) || model.info.sand) && (mode !== "strain" || model.info.rods > 0));
}

/** Fraction of grains about each particle. */
function sandFractions(s: Sand, model: Model): Float32Array {
    const grid = model.info.sandGrid;
    if (!grid) return new Float32Array(s.count).fill(NONE);
    const field = new Field(s, grid, model.dim, null);
    return Float32Array.from({length: s.count}, (_, i) => field.at(s.position[3 * i], s.position[3 * i + 1], s.position[3 * i + 2]).fraction);
}

export class ColourBy {
    private seen: {mode: ColourMode; low: number; high: number} | null = null;
    constructor(private readonly model: () => Model) {}

    /** Forget the range that was seen. */
    reset(): void {
        this.seen = null;
    }

    colour(frame: Frame, s: Readonly<Settings>): Colouring {
        const model = this.model();
        const classes = this.classes(s.colour, model, frame);
        const value = this.values(frame, s.colour, model);
        // Walls are not coloured and do not stretch the scale.
        for (let i = 0; i < value.length; i++) if (i >= model.bodies.count || !model.isFree(i)) value[i] = NONE;
        const sand = s.colour === "fraction" ? sandFractions(frame.sand, model) : sandFigures(frame.sand, s.colour, model.dim);
        const rods = rodFigures(frame, s.colour);
        const range = classes ? ([0, classes.length] as [number, number]) : this.range([value, sand, rods], s);
        const texels = classes ? this.classTexels(s.colour, classes.length) : ramp(s.map);
        return {mode: s.colour, value, sand, rods, range, texels, label: LABELS[s.colour], unit: this.unit(s.colour, model), classes};
    }

    private unit(mode: ColourMode, model: Model): string {
        if (mode === "speed") return "m/s";
        if (mode === "size") return "m";
        if (mode === "pressure") return model.dim === 2 ? "N/m" : "Pa";
        return "";
    }

    private classes(mode: ColourMode, model: Model, frame: Frame): Colouring["classes"] {
        if (mode === "status") return GRAIN_STATUS_TEXT.map((text, k) => ({text, colour: STATUS[k]}));
        if (mode !== "material") return null;
        const used = new Set(Array.from(model.bodies.material).filter((_, i) => model.isFree(i)));
        for (const k of frame.rods.material) used.add(k);
        const count = Math.max(1, ...Array.from(used, (k) => k + 1));
        return Array.from({length: count}, (_, k) => ({
            text: `${model.info.materials[k]?.name || `material ${k}`}, friction ${model.info.materials[k]?.friction ?? "?"}`,
            colour: css(paletteColour(k)),
        }));
    }

    private classTexels(mode: ColourMode, count: number): Uint8Array {
        return steps(mode === "status" ? (k) => rgb(STATUS[k]) : paletteColour, count);
    }

    private values(frame: Frame, mode: ColourMode, model: Model): Float32Array {
        const each = (f: (i: number) => number): Float32Array => {
            const out = new Float32Array(frame.count);
            for (let i = 0; i < Math.min(frame.count, model.bodies.count); i++) out[i] = f(i);
            return out;
        };
        switch (mode) {
            case "speed":
                return speeds(frame);
            case "size":
                return each((i) => 2 * model.size(i));
            case "pressure":
                return pressures(frame, model);
            case "id":
                return each((i) => i);
            case "status":
                return statuses(frame).map((x) => (x === NONE ? x : x + 0.5));
            case "inertial":
            case "fraction":
            case "strain":
                return each(() => NONE);
            case "material":
                return each((i) => model.bodies.material[i] + 0.5);
        }
    }

    // Without a wish: what was seen so far, without the outermost hundredth, so that one fast grain does
    // not turn all others dark.
    private range(values: Float32Array[], s: Readonly<Settings>): [number, number] {
        if (s.range) return s.range;
        const zero = s.colour === "speed" || s.colour === "pressure" || s.colour === "inertial" || s.colour === "fraction";
        const each = (q: number): number[] => values.map((value) => quantile(value, q)).filter((x) => !isNaN(x));
        let low = zero ? 0 : Math.min(...each(0));
        let high = Math.max(...each(zero ? 0.99 : 1));
        if (!isFinite(low) || !isFinite(high)) [low, high] = [0, 1];
        if (this.seen?.mode === s.colour) {
            low = Math.min(low, this.seen.low);
            high = Math.max(high, this.seen.high);
        }
        this.seen = {mode: s.colour, low, high};
        return high > low ? [low, high] : [low, low + (Math.abs(low) || 1)];
    }
}
