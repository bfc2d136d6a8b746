// SPDX-License-Identifier: Apache-2.0
// The tab of the panel that says what is shown.
import type {State} from "../api";
import type {Model} from "../model";
import {h} from "./dom";
import {count, figure} from "./format";

export function aboutTab(model: Model, state: State): HTMLElement {
    const {info, bodies} = model;
    const free = model.balls.length + model.solids.length;
    const rows: [string, string][] = [
        ["File", info.name],
        ["Title", info.title],
        ["Bodies", `${count(bodies.count)}, of which ${count(free)} free`],
        ["Frames", info.kind === "scene" ? "the beginning; nothing is simulated" : count(state.frames)],
        ["Steps", state.steps > 0 ? count(state.steps) : ""],
        ["Scheme", `${info.scheme} in ${info.dim}D`],
        ["Step", info.step ? `${figure(info.step)} s` : ""],
        ["Solver", info.tolerance ? `${info.solver}, to ${figure(info.tolerance, 2)}` : info.solver],
        ["Gravity", `${info.gravity.slice(0, info.dim).map((x) => figure(x)).join("  ")} m/s²`],
        ["Period", info.period.some((p) => p > 0) ? `${info.period.slice(0, info.dim).map((x) => figure(x)).join("  ")} m` : ""],
        ["Written", info.created],
        ["By", `Talus ${info.version}`],
    ];
    const table = h("dl", {class: "facts"});
    for (const [name, value] of rows) if (value) table.append(h("dt", {}, name), h("dd", {}, value));
    return h("div", {class: "tab"}, table, h("h2", {}, "Scene file"), h("pre", {class: "scene-text", tabindex: 0}, info.scene));
}
