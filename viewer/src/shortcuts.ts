// SPDX-License-Identifier: Apache-2.0
// What each key does.
import type {App} from "./app";
import {COLOUR_MODES} from "./settings";
import type {Settings} from "./settings";
import {LABELS} from "./colour_by";
import {Keys} from "./ui/keys";
import type {Key} from "./ui/keys";

export function makeKeys(app: App): Keys {
    const {player, settings} = app;
    const by = (event: KeyboardEvent): number => (event.shiftKey ? 10 : 1);
    const jump = (frames: number): void => void player.seek(player.play.get().index + frames);
    const flip = (key: "chains" | "contacts" | "walls" | "images" | "marks" | "section" | "slice" | "dark" | "panel"): (() => void) => {
        return () => settings.set({[key]: !settings.get()[key]} as Partial<Settings>);
    };
    const playing: Key[] = [
        {keys: [" "], show: "Space", text: "play, pause", run: () => player.toggle()},
        {keys: ["ArrowRight"], show: "→", text: "next frame (⇧: ten)", run: (e) => jump(by(e))},
        {keys: ["ArrowLeft"], show: "←", text: "frame before (⇧: ten)", run: (e) => jump(-by(e))},
        {keys: ["Home"], show: "Home", text: "first frame", run: () => void player.seek(0)},
        {keys: ["End"], show: "End", text: "last frame; of a run, follow it", run: () => (player.play.get().state.finished ? void player.seek(player.frames.count - 1) : player.follow())},
        {keys: ["+", "="], show: "+", text: "faster", run: () => player.faster(1)},
        {keys: ["-"], show: "−", text: "slower", run: () => player.faster(-1)},
        {keys: ["l", "L"], show: "L", text: "loop", run: () => player.play.set({loop: !player.play.get().loop})},
    ];
    const looking: Key[] = [
        {keys: ["f", "F"], show: "F", text: "fit everything", run: () => app.fit()},
        ...COLOUR_MODES.map((mode, k) => ({
            keys: [String(k + 1)],
            show: String(k + 1),
            text: `colour by ${LABELS[mode].toLowerCase()}`,
            run: () => settings.set({colour: mode, range: null}),
        })),
        {keys: ["c", "C"], show: "C", text: "force chains", run: flip("chains")},
        {keys: ["d", "D"], show: "D", text: "contact points", run: flip("contacts")},
        {keys: ["o", "O"], show: "O", text: "walls and obstacles", run: flip("walls")},
        {keys: ["x", "X"], show: "X", text: "section", run: flip("section")},
        {keys: ["y", "Y"], show: "Y", text: "slice of sand", run: flip("slice")},
        {keys: ["p", "P"], show: "P", text: "periodic images", run: flip("images")},
        {keys: ["m", "M"], show: "M", text: "show rotation", run: flip("marks")},
        {keys: ["Escape"], show: "Esc", text: "put the picked one back", run: () => app.pick(null)},
    ];
    const page: Key[] = [
        {keys: ["s", "S"], show: "S", text: "save a picture (PNG)", run: () => app.savePicture()},
        {keys: ["v", "V"], show: "V", text: "save a video (WebM), stop it", run: () => app.saveVideo()},
        {keys: ["g", "G"], show: "G", text: "plots", run: () => settings.set({tab: "plots", panel: !(settings.get().panel && settings.get().tab === "plots")})},
        {keys: ["h", "H"], show: "H", text: "panel", run: flip("panel")},
        {keys: ["t", "T"], show: "T", text: "light, dark", run: flip("dark")},
        {keys: ["?"], show: "?", text: "this sheet", run: () => keys.toggle()},
    ];
    const keys: Keys = new Keys([
        {title: "Playing", keys: playing},
        {title: "Looking", keys: looking},
        {title: "Page", keys: page},
    ]);
    return keys;
}
