// SPDX-License-Identifier: Apache-2.0
// A picture of the scene with its time and legend, for files.
import type {Colouring} from "../colour_by";
import {css, mapColour} from "../colours";
import type {MapName} from "../colours";
import {figure} from "../ui/format";

export interface Caption {
    text: string;
    colouring: Colouring;
    map: MapName;
    dark: boolean;
}

/** Draw the scene's canvas and what belongs to it on another one. */
export function compose(from: HTMLCanvasElement, to: HTMLCanvasElement, c: Caption): void {
    if (to.width !== from.width) to.width = from.width;
    if (to.height !== from.height) to.height = from.height;
    const g = to.getContext("2d")!;
    const unit = Math.max(1, to.height / 720);
    const [left, width, high] = [20 * unit, 180 * unit, 10 * unit];
    g.drawImage(from, 0, 0);
    g.fillStyle = c.dark ? "#e6e9ee" : "#1c2127";
    g.font = `${13 * unit}px system-ui, sans-serif`;
    g.textBaseline = "alphabetic";
    g.textAlign = "left";
    g.fillText(c.text, left, 30 * unit);
    const {colouring} = c;
    const bottom = to.height - 22 * unit;
    if (colouring.classes) {
        colouring.classes.slice(0, 8).forEach(({text, colour}, k, all) => {
            const y = bottom - (all.length - 1 - k) * 18 * unit;
            g.fillStyle = colour;
            g.fillRect(left, y - 9 * unit, high, high);
            g.fillStyle = c.dark ? "#e6e9ee" : "#1c2127";
            g.fillText(text, left + 18 * unit, y);
        });
        return;
    }
    const ramp = g.createLinearGradient(left, 0, left + width, 0);
    for (let k = 0; k <= 16; k++) ramp.addColorStop(k / 16, css(mapColour(c.map, k / 16)));
    g.fillText(colouring.unit ? `${colouring.label} [${colouring.unit}]` : colouring.label, left, bottom - 34 * unit);
    g.fillStyle = ramp;
    g.fillRect(left, bottom - 26 * unit, width, high);
    g.fillStyle = c.dark ? "#e6e9ee" : "#1c2127";
    g.fillText(figure(colouring.range[0], 3), left, bottom);
    g.textAlign = "right";
    g.fillText(figure(colouring.range[1], 3), left + width, bottom);
}

export function download(blob: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
