// SPDX-License-Identifier: Apache-2.0
// Keyboard shortcuts, and the sheet that lists them.
import {button, h} from "./dom";

export interface Key {
    keys: string[]; // as KeyboardEvent.key gives them
    show: string; // as the sheet shows them
    text: string;
    run: (event: KeyboardEvent) => void;
}

export class Keys {
    readonly sheet: HTMLDialogElement;

    constructor(private readonly list: {title: string; keys: Key[]}[]) {
        const groups = list.map(({title, keys}) =>
            h(
                "section",
                {},
                h("h3", {}, title),
                h("dl", {class: "keys"}, ...keys.flatMap((k) => [h("dt", {}, h("kbd", {}, k.show)), h("dd", {}, k.text)])),
            ),
        );
        this.sheet = h(
            "dialog",
            {class: "sheet", "aria-label": "Keys"},
            h("header", {}, h("strong", {}, "Keys and mouse"), button("close", "Close (Esc)", () => this.sheet.close())),
            h("div", {class: "sheet-body"}, ...groups, this.mouse()),
        );
        this.sheet.addEventListener("click", (event) => {
            if (event.target === this.sheet) this.sheet.close();
        });
        window.addEventListener("keydown", (event) => this.press(event));
    }

    private mouse(): HTMLElement {
        const rows: [string, string][] = [
            ["Drag", "orbit (2D: move)"],
            ["Right drag", "move"],
            ["Wheel, pinch", "zoom"],
            ["Click, tap", "pick a grain or contact"],
            ["Click a plot", "go to that time"],
        ];
        return h(
            "section",
            {},
            h("h3", {}, "Mouse and fingers"),
            h("dl", {class: "keys"}, ...rows.flatMap(([show, text]) => [h("dt", {}, h("kbd", {}, show)), h("dd", {}, text)])),
        );
    }

    toggle(): void {
        if (this.sheet.open) this.sheet.close();
        else this.sheet.showModal();
    }

    private press(event: KeyboardEvent): void {
        const target = event.target as HTMLElement;
        const typing = target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox";
        if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
        if (this.sheet.open && event.key !== "?") return;
        for (const {keys} of this.list) {
            const key = keys.find((k) => k.keys.includes(event.key));
            if (!key) continue;
            event.preventDefault();
            if (target instanceof HTMLElement && target !== document.body) target.blur();
            key.run(event);
            return;
        }
    }
}
