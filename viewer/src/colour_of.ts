// SPDX-License-Identifier: Apache-2.0
// The colour of one body, for what is not drawn by our own shaders.
import type {Color} from "three";
import {SRGBColorSpace} from "three";
import type {Colouring} from "./colour_by";
import {RAMP} from "./colours";
import {NONE} from "./quantities";

const GREY = 0x8b929c;

export function colourOf(c: Colouring, body: number, out: Color): Color {
    const value = c.value[body];
    if (value === NONE || value === undefined) return out.setHex(GREY);
    const t = Math.min(1, Math.max(0, (value - c.range[0]) / (c.range[1] - c.range[0])));
    const k = 4 * Math.min(RAMP - 1, Math.floor(t * (RAMP - 1) + 0.5));
    return out.setRGB(c.texels[k] / 255, c.texels[k + 1] / 255, c.texels[k + 2] / 255, SRGBColorSpace);
}
