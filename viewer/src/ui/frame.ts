// SPDX-License-Identifier: Apache-2.0
// The page around the scene: title, buttons, panel with its tabs.
import type {App} from "../app";
import type {Info} from "../api";
import type {Settings} from "../settings";
import type {Store} from "../store";
import {button, h} from "./dom";
import type {Keys} from "./keys";

export interface Parts {
    look: HTMLElement;
    plots: HTMLElement;
    about: HTMLElement;
    timeline: HTMLElement;
    notices: HTMLElement;
}

function topBar(app: App, info: Info, keys: Keys): HTMLElement {
    const {settings} = app;
    const flip = (key: "panel" | "dark"): (() => void) => () => settings.set({[key]: !settings.get()[key]});
    return h(
        "header",
        {class: "top"},
        h("div", {class: "title"}, h("strong", {}, info.title || info.name), info.title ? h("span", {class: "quiet"}, info.name) : null),
        h(
            "div",
            {class: "buttons"},
            button("fit", "Fit everything (F)", () => app.fit()),
            button("camera", "Save a picture (S)", () => app.savePicture()),
            button("video", "Save a video (V)", () => app.saveVideo()),
            button("sun", "Light or dark (T)", flip("dark")),
            button("help", "Keys (?)", () => keys.toggle(), {id: "help"}),
            button("panel", "Panel (H)", flip("panel"), {id: "panel"}),
        ),
    );
}

function sidePanel(settings: Store<Settings>, parts: Parts): HTMLElement {
    const tabs = [
        ["look", "Look", parts.look],
        ["plots", "Plots", parts.plots],
        ["about", "About", parts.about],
    ] as const;
    const buttons = tabs.map(([name, text]) => h("button", {type: "button", role: "tab", "data-tab": name, onclick: () => settings.set({tab: name})}, text));
    const panel = h("aside", {class: "panel"}, h("nav", {class: "tabs", role: "tablist"}, ...buttons), ...tabs.map(([, , element]) => element));
    const sync = (): void => {
        const s = settings.get();
        document.body.classList.toggle("with-panel", s.panel);
        tabs.forEach(([name, , element], k) => {
            buttons[k].setAttribute("aria-selected", String(s.tab === name));
            element.hidden = s.tab !== name;
        });
    };
    settings.on(sync);
    sync();
    return panel;
}

/** Lay out the page. */
export function frame(app: App, info: Info, keys: Keys, parts: Parts): void {
    const stage = h(
        "main",
        {class: "stage"},
        app.place,
        topBar(app, info, keys),
        h("div", {class: "corner"}, app.inspector.element, app.legend.element),
        parts.notices,
    );
    document.body.replaceChildren(stage, sidePanel(app.settings, parts), parts.timeline, keys.sheet);
    document.title = `${info.title || info.name} – Talus`;
}
