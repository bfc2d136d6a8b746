// SPDX-License-Identifier: Apache-2.0
// Rows of the panel, each bound to one setting.
import type {Settings} from "../settings";
import type {Store} from "../store";
import {h} from "./dom";

type Keys<T> = {[K in keyof Settings]: Settings[K] extends T ? K : never}[keyof Settings];

export function toggle(store: Store<Settings>, key: Keys<boolean>, text: string, hint: string): HTMLElement {
    const input = h("input", {type: "checkbox", role: "switch", id: `set-${key}`});
    input.addEventListener("change", () => store.set({[key]: input.checked} as Partial<Settings>));
    const sync = (): void => void (input.checked = store.get()[key] as boolean);
    store.on(sync);
    sync();
    return h("label", {class: "row", title: hint}, h("span", {}, text), input);
}

export function slider(store: Store<Settings>, key: Keys<number>, text: string, low: number, high: number): HTMLElement {
    const input = h("input", {type: "range", min: low, max: high, step: (high - low) / 200, id: `set-${key}`});
    input.addEventListener("input", () => store.set({[key]: Number(input.value)} as Partial<Settings>));
    const sync = (): void => {
        const value = store.get()[key] as number;
        input.value = String(value);
        input.style.setProperty("--done", `${(100 * (value - low)) / (high - low)}%`);
    };
    store.on(sync);
    sync();
    return h("label", {class: "row"}, h("span", {}, text), input);
}

export function choice<K extends Keys<string>>(
    store: Store<Settings>,
    key: K,
    text: string,
    options: readonly (readonly [Settings[K], string])[],
): HTMLElement {
    const select = h("select", {id: `set-${key}`}, ...options.map(([value, label]) => h("option", {value: value as string}, label)));
    select.addEventListener("change", () => store.set({[key]: select.value} as Partial<Settings>));
    const sync = (): void => void (select.value = store.get()[key] as string);
    store.on(sync);
    sync();
    return h("label", {class: "row"}, h("span", {}, text), select);
}

export function group(title: string, ...rows: (HTMLElement | null)[]): HTMLElement {
    return h("section", {class: "group"}, h("h2", {}, title), ...rows);
}
