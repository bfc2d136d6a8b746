// SPDX-License-Identifier: Apache-2.0
// The legend: the scale with its range, which can be set, or the classes.
import type {Colouring} from "../colour_by";
import {css, mapColour} from "../colours";
import type {Settings} from "../settings";
import type {Store} from "../store";
import {h} from "./dom";
import {figure} from "./format";

export class Legend {
    readonly element: HTMLElement;
    private readonly title = h("div", {class: "legend-title"});
    private readonly body = h("div", {class: "legend-body"});
    private key = "";

    constructor(private readonly settings: Store<Settings>) {
        this.element = h("section", {class: "card legend", "aria-label": "Legend"}, this.title, this.body);
    }

    update(c: Colouring): void {
        const {map, range, dark} = this.settings.get();
        const key = JSON.stringify([c.mode, c.range, c.classes, map, range, dark]);
        if (key === this.key || this.element.contains(document.activeElement)) return;
        this.key = key;
        this.title.textContent = c.unit ? `${c.label} [${c.unit}]` : c.label;
        if (c.classes) this.classes(c.classes);
        else this.scale(c);
    }

    private classes(classes: NonNullable<Colouring["classes"]>): void {
        const rows = classes.slice(0, 12).map(({text, colour}) => {
            const swatch = h("span", {class: "swatch"});
            swatch.style.background = colour;
            return h("div", {class: "legend-row"}, swatch, text);
        });
        this.body.replaceChildren(...rows);
    }

    private scale(c: Colouring): void {
        const {map} = this.settings.get();
        const bar = h("div", {class: "legend-bar"});
        const stops = Array.from({length: 17}, (_, k) => css(mapColour(map, k / 16)));
        bar.style.background = `linear-gradient(to right, ${stops.join(",")})`;
        const end = (k: 0 | 1): HTMLInputElement => {
            const input = h("input", {
                class: "legend-end",
                inputmode: "decimal",
                "aria-label": k === 0 ? "Lower end of the scale" : "Upper end of the scale",
                title: "Click to set this end of the scale",
            });
            input.value = figure(c.range[k], 3);
            input.addEventListener("change", () => this.setEnd(k, input.value, c.range));
            input.addEventListener("keydown", (event) => {
                if (event.key === "Enter") input.blur();
                event.stopPropagation();
            });
            return input;
        };
        const middle = h("span", {class: "legend-middle"}, figure((c.range[0] + c.range[1]) / 2, 3));
        const auto = h(
            "button",
            {type: "button", class: "text", title: "Let the data choose the range", onclick: () => this.settings.set({range: null})},
            "auto",
        );
        auto.hidden = this.settings.get().range === null;
        this.body.replaceChildren(bar, h("div", {class: "legend-ends"}, end(0), middle, end(1)), auto);
    }

    private setEnd(k: 0 | 1, text: string, range: [number, number]): void {
        const value = Number(text.replace(/\u2212/g, "-"));
        const next: [number, number] = k === 0 ? [value, range[1]] : [range[0], value];
        this.key = "";
        if (isFinite(value) && next[0] < next[1]) this.settings.set({range: next});
        else this.settings.set({range: [...range]});
    }
}
