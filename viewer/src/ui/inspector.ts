// SPDX-License-Identifier: Apache-2.0
// The numbers of the grain or contact that was picked.
import {STATUS_TEXT} from "../colours";
import type {Model} from "../model";
import {NONE, force, pressures} from "../quantities";
import type {Picked} from "../scene/pick";
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
        const count = picked?.kind === "body" ? frame.count : (frame.contacts?.count ?? 0);
        this.element.hidden = picked === null || picked.index >= count;
        if (picked === null || this.element.hidden) return;
        if (picked.kind === "body") this.showBody(picked.index, frame);
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

    private label(body: number): string {
        const model = this.model();
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
        this.body.replaceChildren(this.table(rows), ...(frame.contacts ? [this.contactList(i, frame, frame.contacts)] : []));
    }

    private contactList(i: number, frame: Frame, c: Contacts): HTMLElement {
        const mine: number[] = [];
        for (let k = 0; k < c.count; k++) if (c.a[k] === i || c.b[k] === i) mine.push(k);
        const list = h("ul", {class: "contact-list"});
        for (const k of mine.slice(0, MOST)) {
            const other = c.a[k] === i ? c.b[k] : c.a[k];
            const dot = h("span", {class: `swatch round status-${c.status[k]}`, title: STATUS_TEXT[c.status[k]]});
            list.append(
                h(
                    "li",
                    {},
                    h("button", {type: "button", class: "link", onclick: () => this.pick({kind: "contact", index: k})}, dot, this.label(other)),
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
        const link = (body: number): HTMLElement =>
            h("button", {type: "button", class: "link", onclick: () => this.pick({kind: "body", index: body})}, this.label(body));
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
