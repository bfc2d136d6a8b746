// SPDX-License-Identifier: Apache-2.0
// Elements, made in one expression. Text is always text: nothing is read as HTML.

type Child = Node | string | null;
type Props = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
        if (value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(key.slice(2), value as unknown as EventListener);
        else element.setAttribute(key, value === true ? "" : String(value));
    }
    for (const child of children) if (child !== null) element.append(child);
    return element;
}

const ICONS = {
    play: "M7 4.5v15l12.5-7.5z",
    pause: "M6.5 4.5h4v15h-4zM13.5 4.5h4v15h-4z",
    first: "M5 5h2.5v14H5zM19 5v14l-10-7z",
    last: "M16.500 5H19v14h-2.500zM5 5v14l10-7z",
    back: "M15.500 5v14l-10-7zM17 5h2v14h-2z",
    forward: "M8.500 5v14l10-7zM5 5h2v14H5z",
    loop: "M7 7h9v3l4.500-4.500L16 1v3H4v8h3zM17 17H8v-3l-4.500 4.500L8 23v-3h12v-8h-3z",
    stop: "M5.500 5.500h13v13h-13z",
    step: "M5 5l9 7-9 7zM16 5h3v14h-3z",
    fit: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
    camera: "M9 4l-1.800 2.500H4A1.500 1.500 0 0 0 2.500 8v10.500A1.500 1.500 0 0 0 4 20h16a1.500 1.500 0 0 0 1.500-1.500V8A1.500 1.500 0 0 0 20 6.500h-3.200L15 4zM12 8.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9z",
    video: "M3 6.500h12v11H3zM16.500 10.500L21 7.500v9l-4.500-3z",
    sun: "M12 7a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM11 1h2v3.500h-2zM11 19.500h2V23h-2zM1 11h3.500v2H1zM19.500 11H23v2h-3.500zM4 5.400L5.400 4l2.500 2.500-1.400 1.400zM16.100 17.500l1.400-1.400L20 18.600 18.600 20zM4 18.600l2.500-2.500 1.400 1.400L5.400 20zM16.100 6.500L18.600 4 20 5.400l-2.500 2.500z",
    help: "M12 2a10 10 0 1 1 0 20 10 10 0 0 1 0-20zm-1 14.500v2h2v-2zm1-11c-2.300 0-3.900 1.400-4 3.600h2.100c.1-1.100.8-1.700 1.900-1.700s1.800.6 1.800 1.600c0 .9-.4 1.300-1.500 2-1.200.7-1.500 1.500-1.500 2.800v.6h2.200v-.4c0-.9.300-1.300 1.500-2 1.100-.700 1.800-1.600 1.800-3C16.300 6.900 14.500 5.500 12 5.500z",
    panel: "M3 4h18v16H3zm2 2v12h9V6zm11 0v12h3V6z",
    close: "M6.400 5L12 10.600 17.600 5 19 6.400 13.400 12l5.600 5.600-1.400 1.400-5.600-5.600L6.400 19 5 17.600l5.600-5.600L5 6.400z",
} as const;
export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGSVGElement {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", ICONS[name]);
    path.setAttribute("fill-rule", "evenodd");
    svg.append(path);
    return svg;
}

export function button(name: Icon, title: string, click: () => void, props: Props = {}): HTMLButtonElement {
    return h("button", {type: "button", class: "icon", title, "aria-label": title, onclick: click, ...props}, icon(name));
}

/** Show another icon on a button. */
export function setIcon(b: HTMLButtonElement, name: Icon, title: string): void {
    if (b.dataset.icon === name && b.title === title) return;
    b.dataset.icon = name;
    b.replaceChildren(icon(name));
    b.title = title;
    b.setAttribute("aria-label", title);
}
