// SPDX-License-Identifier: Apache-2.0
// Everything that can be chosen on the page.
import type {MapName} from "./colours";
import {Store} from "./store";

export const COLOUR_MODES = ["speed", "size", "pressure", "id", "status", "material", "inertial", "fraction", "strain"] as const;
export type ColourMode = (typeof COLOUR_MODES)[number];
export type Axis = "x" | "y" | "z" | "view";

export interface Settings {
    colour: ColourMode;
    map: MapName;
    range: [number, number] | null; // null: from the data
    chains: boolean;
    forceScale: number;
    contacts: boolean;
    walls: boolean;
    images: boolean;
    marks: boolean; // show how balls are turned
    grainScale: number;
    section: boolean;
    sectionAxis: Axis;
    sectionAt: number; // 0 to 1 across the box of what is shown
    sectionFlip: boolean;
    slice: boolean; // of the fields of sand, where the section would be
    dark: boolean;
    panel: boolean;
    tab: "look" | "plots" | "about";
}

function prefersDark(): boolean {
    return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

export function makeSettings(): Store<Settings> {
    return new Store<Settings>({
        colour: "speed",
        map: "ember",
        range: null,
        chains: false,
        forceScale: 1,
        contacts: false,
        walls: true,
        images: false,
        marks: false,
        grainScale: 1,
        section: false,
        sectionAxis: "y",
        sectionAt: 0.5,
        sectionFlip: false,
        slice: false,
        dark: prefersDark(),
        panel: window.innerWidth >= 900,
        tab: "look",
    });
}
