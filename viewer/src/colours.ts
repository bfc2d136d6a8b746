// SPDX-License-Identifier: Apache-2.0
// Colour maps and palettes. A map is given by a few stops and interpolated in OKLab, where equal steps
// look equal; lightness rises or falls all along, so that the order is seen without colour, too.

export type Rgb = [number, number, number]; // sRGB, 0 to 255

const STOPS = {
    ember: ["#4257b8", "#7b52bd", "#bb539f", "#e8706f", "#f6a857", "#fcefa6"],
    sea: ["#2a4d8f", "#2677ae", "#2f9fb8", "#67c6b2", "#b4e3ad", "#fbf9c9"],
    grey: ["#4a4f57", "#f2f3f5"],
    poles: ["#1f5fbf", "#86b3e6", "#f1f1ee", "#efa07f", "#b92b27"],
} as const;
export type MapName = keyof typeof STOPS;
export const MAP_NAMES = Object.keys(STOPS) as MapName[];

/** For things without order; told apart by most kinds of colour blindness. */
const PALETTE = ["#4c8bd6", "#e58e26", "#3fa66b", "#c8566b", "#8b6fc4", "#b0883c", "#3fa7b5", "#d27fb4", "#7d8a3c", "#8a8f98"];
/** Open, sticking, sliding. */
export const STATUS = ["#8a8f98", "#3f86d8", "#ef8a2b"];
export const STATUS_TEXT = ["open", "sticking", "sliding"];
export const GRAIN_STATUS_TEXT = ["no contact", "all contacts stick", "slides somewhere"];

export function rgb(hex: string): Rgb {
    const n = parseInt(hex.slice(1), 16);
    return [n >> 16, (n >> 8) & 255, n & 255];
}

function toLinear(x: number): number {
    const c = x / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function fromLinear(x: number): number {
    const c = Math.min(1, Math.max(0, x));
    return 255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);
}

function toLab([r8, g8, b8]: Rgb): Rgb {
    const [r, g, b] = [toLinear(r8), toLinear(g8), toLinear(b8)];
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
        0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
}

function fromLab([L, a, b]: Rgb): Rgb {
    const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    ];
}

/** A map at t in [0, 1]. */
export function mapColour(name: MapName, t: number): Rgb {
    const stops = STOPS[name];
    const x = Math.min(1, Math.max(0, t)) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(x));
    const [from, to] = [toLab(rgb(stops[k])), toLab(rgb(stops[k + 1]))];
    const f = x - k;
    return fromLab([0, 1, 2].map((i) => from[i] + f * (to[i] - from[i])) as Rgb);
}

export function paletteColour(index: number): Rgb {
    return rgb(PALETTE[index % PALETTE.length]);
}

export function css(c: Rgb): string {
    return `rgb(${c.map((x) => Math.round(x)).join(" ")})`;
}

export const RAMP = 256;

/** 256 texels of a map. */
export function ramp(name: MapName): Uint8Array {
    const out = new Uint8Array(4 * RAMP);
    for (let k = 0; k < RAMP; k++) out.set([...mapColour(name, k / (RAMP - 1)).map(Math.round), 255], 4 * k);
    return out;
}

/** The same length, filled with `count` plain colours one after another. */
export function steps(colour: (index: number) => Rgb, count: number): Uint8Array {
    const out = new Uint8Array(4 * RAMP);
    for (let k = 0; k < RAMP; k++) {
        out.set([...colour(Math.min(count - 1, Math.floor((k * count) / RAMP))).map(Math.round), 255], 4 * k);
    }
    return out;
}
