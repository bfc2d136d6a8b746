// SPDX-License-Identifier: Apache-2.0
// Messages over the scene.
import {button, h} from "./dom";

export class Notices {
    readonly element = h("div", {class: "notices", role: "alert"});

    /** Shown until it is closed; one message of a text at a time. */
    error(text: string): void {
        if (Array.from(this.element.children).some((e) => e.getAttribute("data-text") === text)) return;
        const box = h("div", {class: "notice error", "data-text": text}, h("span", {}, text));
        box.append(button("close", "Close", () => box.remove()));
        this.element.append(box);
    }

    /** Gone after some seconds. */
    note(text: string): void {
        const box = h("div", {class: "notice", "data-text": text}, h("span", {}, text));
        this.element.append(box);
        setTimeout(() => box.remove(), 4000);
    }
}
