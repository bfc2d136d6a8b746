// SPDX-License-Identifier: Apache-2.0
// The tab of the panel that says how things look.
import {LABELS, modesOf} from "../colour_by";
import {MAP_NAMES, STATUS, STATUS_TEXT} from "../colours";
import type {Model} from "../model";
import {COLOUR_MODES} from "../settings";
import type {Settings} from "../settings";
import type {Store} from "../store";
import {choice, group, slider, toggle} from "./controls";
import {h} from "./dom";

function modeButtons(store: Store<Settings>, model: Model): HTMLElement {
    const buttons = modesOf(model).map((mode) => {
        const b = h(
            "button",
            {type: "button", class: "chip", title: `Colour by ${LABELS[mode].toLowerCase()} (${COLOUR_MODES.indexOf(mode) + 1})`, "data-colour": mode, onclick: () => store.set({colour: mode, range: null})},
            LABELS[mode],
        );
        const sync = (): void => b.setAttribute("aria-pressed", String(store.get().colour === mode));
        store.on(sync);
        sync();
        return b;
    });
    return h("div", {class: "chips even", role: "group", "aria-label": "Colour by"}, ...buttons);
}

function statusLegend(): HTMLElement {
    return h(
        "div",
        {class: "status-legend"},
        ...STATUS.map((colour, k) => {
            const dot = h("span", {class: "swatch round"});
            dot.style.background = colour;
            return h("span", {}, dot, STATUS_TEXT[k]);
        }),
    );
}

export function lookTab(store: Store<Settings>, model: Model, views: (direction: "x" | "y" | "z" | "corner") => void): HTMLElement {
    const solid = model.dim === 3;
    const periodic = model.info.period.some((p) => p > 0);
    const maps = MAP_NAMES.map((name) => [name, name[0].toUpperCase() + name.slice(1)] as const);
    const axes = [["x", "x"], ["y", "y"], ...(solid ? [["z", "z"], ["view", "line of sight"]] : [])] as ["x" | "y" | "z" | "view", string][];
    const from = (name: "x" | "y" | "z" | "corner", text: string): HTMLElement =>
        h("button", {type: "button", class: "chip", onclick: () => views(name)}, text);
    const status = statusLegend();
    store.on((s) => void (status.hidden = !s.contacts));
    status.hidden = !store.get().contacts;
    return h(
        "div",
        {class: "tab"},
        group("Colour grains by", modeButtons(store, model), choice(store, "map", "Colour map", maps)),
        group(
            "Grains",
            slider(store, "grainScale", "Size drawn", 0.1, 1),
            solid ? toggle(store, "marks", "Show rotation", "Two-coloured balls and stripes on rods show how they turn (M)") : null,
        ),
        model.info.contacts && model.info.kind !== "scene"
            ? group(
                  "Contacts",
                  toggle(store, "chains", "Force chains", "Tubes as thick as the force is large (C)"),
                  slider(store, "forceScale", "Thickness", 0.1, 3),
                  toggle(store, "contacts", "Contact points", "Dots coloured by status (D)"),
                  status,
              )
            : null,
        group(
            "Around them",
            toggle(store, "walls", "Walls and obstacles", "Bodies whose motion is given (O)"),
            periodic ? toggle(store, "images", "Periodic images", "The neighbouring copies of the cell (P)") : null,
        ),
        group(
            "Section",
            toggle(store, "section", "Cut open", "Take away what lies before a plane (X)"),
            choice(store, "sectionAxis", "Across", axes),
            slider(store, "sectionAt", "At", 0, 1),
            toggle(store, "sectionFlip", "Other side", "Keep the other half"),
            model.info.sand ? toggle(store, "slice", "Slice of sand", "Draw what sand is like on that plane instead of its grains (Y)") : null,
        ),
        solid ? group("Look from", h("div", {class: "chips"}, from("corner", "Corner"), from("x", "x"), from("y", "y"), from("z", "z (top)"))) : null,
    );
}
