// SPDX-License-Identifier: Apache-2.0
// The numbers of the grain, rod or contact that was picked.
import {STATUS_TEXT} from "../colours";
import type {Model} from "../model";
import {NONE, force, pressures} from "../quantities";
import type {Picked} from "../scene/pick";
import {rodOf} from "../wire";
import type {Contacts, Frame} from "../wire";
import {button, h} from "./dom";
import {figure, vector} from "./format";

type Row = [string, string, string?]; // name, value, unit

const norm = (v: ArrayLike<number>): number => Math.hypot(v[0], v[1], v[2]);
const three = (a: Float32Array, k: number): Float32Array => a.subarray(3 * k, 3 * k + 3);
const MOST = 12; // contacts listed

export class Inspector {
    readonly element: HTMLElement;
    private readonly title = h("strong", {});
    private readonly body = h("div", {class: "inspector-body"});

    constructor(
        private readonly model: () => Model,
        private readonly pick: (picked: Picked | null) => void,
    ) {
        const head = h("header", {}, this.title, button("close", "Close (Esc)", () => pick(null)));
        this.element = h("section", {class: "card inspector", id: "inspector", "aria-live": "polite"}, head, this.body);
        this.element.hidden = true;
    }

    update(picked: Picked | null, frame: Frame): void {
        const count = {body: frame.count, rod: frame.rods.count, contact: frame.contacts?.count ?? 0}[picked?.kind ?? "body"];
        this.element.hidden = picked === null || picked.index >= count;
        if (picked === null || this.element.hidden) return;
        if (picked.kind === "body") this.showBody(picked.index, frame);
        else if (picked.kind === "rod") this.showRod(picked.index, picked.node, frame);
        else this.showContact(picked.index, frame, frame.contacts!);
    }

    private table(rows: Row[]): HTMLElement {
        const out = h("dl", {class: "facts"});
        for (const [name, value, unit] of rows) {
            const text = unit ? h("dd", {"data-name": name}, value, h("span", {class: "unit"}, ` ${unit}`)) : h("dd", {"data-name": name}, value);
            out.append(h("dt", {}, name), text);
        }
        return out;
    }

    // A body, or a segment of a rod, in words and as something to pick.
    private label(body: number, frame: Frame): string {
        const model = this.model();
        const rod = rodOf(frame, body);
        if (rod) return `${model.rodName(rod.rod) || "rod"} ${rod.rod}, segment ${rod.node - frame.rods.start[rod.rod]}`;
        return model.name(body) || `${model.kind(body)} ${body}`;
    }

    private showBody(i: number, frame: Frame): void {
        const model = this.model();
        const {dim, bodies} = model;
        const v = three(frame.velocity, i);
        const mass = bodies.mass[i];
        const free = model.isFree(i);
        const radius = bodies.radius[bodies.shape[i]];
        const material = model.info.materials[bodies.material[i]];
        const rows: Row[] = [
            ["Shape", model.kind(i)],
            [radius > 0 ? "Radius" : "Size", figure(radius > 0 ? radius : 2 * model.size(i)), "m"],
            ["Material", `${material?.name || bodies.material[i]}, friction ${figure(material?.friction)}`],
            ["Mass", free ? figure(mass) : "motion is given", free ? "kg" : ""],
            ["Position", vector(three(frame.position, i), dim), "m"],
            ["Speed", figure(norm(v)), "m/s"],
            ["Velocity", vector(v, dim), "m/s"],
        ];
        if (frame.spin) {
            const w = three(frame.spin, i);
            rows.push(["Spin", dim === 2 ? figure(w[2]) : vector(w, 3), "rad/s"]);
        }
        const q = frame.turn.subarray(4 * i, 4 * i + 4);
        if (dim === 2) rows.push(["Angle", figure((360 / Math.PI) * Math.atan2(q[3], q[0])), "°"]);
        else rows.push(["Orientation", Array.from(q, (x) => figure(x, 3)).join("  ")]);
        if (free) rows.push(["Energy m v²/2", figure(0.5 * mass * norm(v) ** 2), "J"]);
        if (frame.contacts && free && frame.h > 0) {
            const p = pressures(frame, model)[i];
            if (p !== NONE) rows.push(["Pressure", figure(p), dim === 2 ? "N/m" : "Pa"]);
        }
        this.title.textContent = model.name(i) ? `${model.name(i)} (body ${i})` : `Body ${i}`;
        this.body.replaceChildren(this.table(rows), ...(frame.contacts ? [this.contactList((item) => item === i, frame, frame.contacts)] : []));
    }

    private showRod(i: number, node: number, frame: Frame): void {
        const model = this.model();
        const {rods} = frame;
        const [first, end] = [rods.start[i], rods.start[i + 1]];
        const material = model.info.materials[rods.material[i]];
        let length = 0;
        for (let k = first; k + 1 < end; k++) {
            length += Math.hypot(...[0, 1, 2].map((e) => rods.position[3 * k + 3 + e] - rods.position[3 * k + e]));
        }
        const v = three(rods.velocity, node);
        this.title.textContent = `${model.rodName(i) || "Rod"} (rod ${i})`;
        const rows: Row[] = [
            ["Nodes", String(end - first)],
            ["Segment", String(node - first)],
            ["Radius", figure(rods.radius[i]), "m"],
            ["Length", figure(length), "m"],
            ["Material", `${material?.name || rods.material[i]}, friction ${figure(material?.friction)}`],
            ["Position", vector(three(rods.position, node), 3), "m"],
            ["Speed", figure(norm(v)), "m/s"],
            ["Strain here", figure(rods.strain[node])],
            ["Start", vector(three(rods.position, first), 3), "m"],
            ["End", vector(three(rods.position, end - 1), 3), "m"],
        ];
        const list = frame.contacts && this.contactList((item) => rodOf(frame, item)?.rod === i, frame, frame.contacts);
        this.body.replaceChildren(this.table(rows), ...(list ? [list] : []));
    }

    // Contacts of the items that are asked for.
    private contactList(own: (item: number) => boolean, frame: Frame, c: Contacts): HTMLElement {
        const mine: number[] = [];
        for (let k = 0; k < c.count; k++) if (own(c.a[k]) || own(c.b[k])) mine.push(k);
        const list = h("ul", {class: "contact-list"});
        for (const k of mine.slice(0, MOST)) {
            const other = own(c.a[k]) ? c.b[k] : c.a[k];
            const dot = h("span", {class: `swatch round status-${c.status[k]}`, title: STATUS_TEXT[c.status[k]]});
            list.append(
                h(
                    "li",
                    {},
                    h("button", {type: "button", class: "link", onclick: () => this.pick({kind: "contact", index: k})}, dot, this.label(other, frame)),
                    h("span", {}, `${figure(force(frame, k))} ${frame.h > 0 ? "N" : "N s"}`),
                ),
            );
        }
        if (mine.length > MOST) list.append(h("li", {}, `and ${mine.length - MOST} more`));
        return h("div", {}, h("h3", {"data-name": "Contacts"}, mine.length === 1 ? "1 contact" : `${mine.length} contacts`), list);
    }

    private showContact(k: number, frame: Frame, c: Contacts): void {
        const model = this.model();
        const {dim} = model;
        const n = three(c.normal, k);
        const r = three(c.impulse, k);
        const scale = frame.h > 0 ? 1 / frame.h : 1;
        const unit = frame.h > 0 ? "N" : "N s";
        const normal = (r[0] * n[0] + r[1] * n[1] + r[2] * n[2]) * scale;
        const tangential = norm([0, 1, 2].map((e) => r[e] * scale - normal * n[e]));
        const link = (body: number): HTMLElement => {
            const rod = rodOf(frame, body);
            const picked: Picked = rod ? {kind: "rod", index: rod.rod, node: rod.node} : {kind: "body", index: body};
            return h("button", {type: "button", class: "link", onclick: () => this.pick(picked)}, this.label(body, frame));
        };
        this.title.textContent = `Contact ${k}`;
        this.body.replaceChildren(
            h("p", {class: "between"}, link(c.a[k]), " on ", link(c.b[k])),
            this.table([
                ["Status", STATUS_TEXT[c.status[k]] ?? "?"],
                ["Normal force", figure(normal), unit],
                ["Tangential force", figure(tangential), unit],
                ["Ratio", normal > 0 ? figure(tangential / normal) : "–"],
                ["Gap", figure(c.gap[k]), "m"],
                ["Point", vector(three(c.point, k), dim), "m"],
                ["Normal", vector(n, dim)],
                ["Relative speed", figure(norm(three(c.velocity, k))), "m/s"],
            ]),
        );
    }
}
