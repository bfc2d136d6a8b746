// SPDX-License-Identifier: Apache-2.0
// The beginning: ask what there is, show its first frame, then go on.
import {api} from "./api";
import type {State} from "./api";
import {App} from "./app";
import {Frames} from "./frames";
import {Model, unite} from "./model";
import {Player} from "./player";
import {makeSettings} from "./settings";
import {makeKeys} from "./shortcuts";
import "./style.css";
import {aboutTab} from "./ui/about";
import {h} from "./ui/dom";
import {frame} from "./ui/frame";
import {lookTab} from "./ui/look";
import {Notices} from "./ui/notice";
import {Plots} from "./ui/plots";
import {Timeline} from "./ui/timeline";

declare global {
    interface Window {
        talus?: App; // for tests and the curious
    }
}

const LARGE = 200000; // bodies, above which no frame is asked for in vain

// A file that grows may have no frame yet.
async function firstState(): Promise<State> {
    for (;;) {
        const state = await api.state();
        if (state.frames > 0 || state.live) return state;
        if (state.finished) throw new Error("this recording holds no frame");
        await new Promise((done) => setTimeout(done, 500));
    }
}

async function start(): Promise<void> {
    const settings = makeSettings();
    document.documentElement.dataset.theme = settings.get().dark ? "dark" : "light";
    const state = await firstState();
    const [info, bodies, surfaces] = await Promise.all([api.info(), api.bodies(), api.surfaces()]);
    const model = new Model(info, bodies, surfaces);
    const frames = new Frames();
    await frames.grow(state.frames);
    const first = await api.frame(state.live?.running ? -1 : 0, 0);
    model.learn(first);
    // What is seen from the beginning to the end, where that is soon known.
    const last = frames.count > 1 && first.count < LARGE ? await api.frame(frames.count - 1, 0) : first;
    const player = new Player(frames, state);
    const notices = new Notices();
    const app = new App(model, player, settings, notices, first, unite(model.box(first), model.box(last)));
    const failed = (error: Error): void => app.failed(error);
    const plots = new Plots(player, settings, info, failed);
    frame(app, info, makeKeys(app), {
        look: lookTab(settings, model, (direction) => app.view(direction)),
        plots: plots.element,
        about: aboutTab(model, state),
        timeline: new Timeline(player, failed).element,
        notices: notices.element,
    });
    window.talus = app;
    if (state.finished && !state.live?.running) player.play.set({following: false});
    if (!state.live?.running) await player.show(state.finished ? 0 : frames.count - 1);
    const tick = (clock: number): void => {
        app.tick(clock);
        requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    void player.watch();
}

start().catch((error: Error) => {
    document.body.replaceChildren(
        h("div", {class: "fatal", role: "alert"}, h("h1", {}, "This cannot be shown"), h("p", {}, error.message)),
    );
});
