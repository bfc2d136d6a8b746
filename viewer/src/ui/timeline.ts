// SPDX-License-Identifier: Apache-2.0
// The bar below the scene: play, scrub, speed, loop, and the run that goes on.
import {api} from "../api";
import type {Player} from "../player";
import {SPEEDS} from "../player";
import {button, h, setIcon} from "./dom";
import {count, figure, seconds} from "./format";

export class Timeline {
    readonly element: HTMLElement;
    private readonly play: HTMLButtonElement;
    private readonly loop: HTMLButtonElement;
    private readonly slider = h("input", {type: "range", class: "scrub", min: 0, max: 0, step: 1, "aria-label": "Frame"});
    private readonly clock = h("output", {class: "clock"});
    private readonly place = h("span", {class: "place"});
    private readonly speed = h("select", {class: "speed", title: "Simulated seconds per second", "aria-label": "Speed"});
    private readonly live = h("div", {class: "live"});
    private readonly follow: HTMLButtonElement;
    private readonly pause: HTMLButtonElement;
    private readonly step: HTMLButtonElement;
    private readonly stop: HTMLButtonElement;
    private readonly row: HTMLElement;
    private readonly still = h("p", {class: "quiet still"}, "The start of the scene; nothing has been simulated.");
    private readonly liveText = h("span", {class: "live-text", role: "status"});

    constructor(
        private readonly player: Player,
        private readonly failed: (error: Error) => void,
    ) {
        const at = (): number => player.play.get().index;
        this.play = button("play", "Play (space)", () => player.toggle(), {id: "play"});
        this.loop = button("loop", "Loop (L)", () => player.play.set({loop: !player.play.get().loop}));
        this.slider.addEventListener("input", () => {
            player.play.set({playing: false});
            void player.seek(Number(this.slider.value));
        });
        for (const s of SPEEDS) this.speed.append(h("option", {value: s}, `${figure(s)}×`));
        this.speed.addEventListener("change", () => player.play.set({speed: Number(this.speed.value)}));
        this.follow = h("button", {type: "button", class: "text follow", onclick: () => player.follow()}, "Live");
        this.pause = button("pause", "Pause the run", () => this.control(player.play.get().state.live?.paused ? "go" : "pause"), {id: "run-pause"});
        this.step = button("step", "One step of the run", () => this.control("step"), {id: "run-step"});
        this.stop = button("stop", "Stop the run", () => this.control("stop"), {id: "run-stop"});
        this.live.append(this.follow, this.pause, this.step, this.stop, this.liveText);
        this.row = h(
            "div",
            {class: "timeline-row"},
            h(
                "div",
                {class: "buttons"},
                button("first", "First frame (Home)", () => void player.seek(0), {class: "icon wide-only"}),
                button("back", "Frame before (←)", () => void player.seek(at() - 1)),
                this.play,
                button("forward", "Next frame (→)", () => void player.seek(at() + 1)),
                button("last", "Last frame (End)", () => void player.seek(player.frames.count - 1), {class: "icon wide-only"}),
            ),
            this.slider,
            h("div", {class: "times"}, this.clock, this.place),
            this.loop,
            this.speed,
        );
        this.element = h("footer", {class: "timeline"}, this.row, this.still, this.live);
        player.play.on(() => this.update());
        player.frame.on(() => this.update());
        player.grown.on(() => this.update());
        this.update();
    }

    private control(word: "pause" | "go" | "step" | "stop"): void {
        this.player.play.set({following: true});
        api.control(word).then((state) => this.player.play.set({state}), this.failed);
    }

    private update(): void {
        const p = this.player.play.get();
        const {frames} = this.player;
        const end = frames.times[frames.count - 1] ?? 0;
        const span = Math.max(end - (frames.times[0] ?? 0), 1e-9);
        setIcon(this.play, p.playing ? "pause" : "play", p.playing ? "Pause (space)" : "Play (space)");
        this.loop.setAttribute("aria-pressed", String(p.loop));
        this.slider.max = String(Math.max(0, frames.count - 1));
        this.slider.value = String(p.index);
        this.slider.disabled = frames.count < 2;
        this.slider.style.setProperty("--done", `${(100 * p.index) / Math.max(1, frames.count - 1)}%`);
        const shown = this.player.current;
        const time = p.following && p.state.live && shown ? shown.time : (frames.times[p.index] ?? 0);
        this.clock.textContent = `${seconds(time, span)} s`;
        this.place.textContent = frames.count > 1 ? `frame ${count(p.index + 1)} of ${count(frames.count)}` : "";
        this.speed.value = String(p.speed);
        this.row.hidden = frames.count < 2 && p.state.finished && !p.state.live;
        this.still.hidden = !this.row.hidden;
        this.updateLive();
    }

    private updateLive(): void {
        const {state, following} = this.player.play.get();
        const run = state.live;
        this.live.hidden = run === null && state.finished;
        this.follow.setAttribute("aria-pressed", String(following));
        this.follow.hidden = state.finished || run?.running === false;
        this.live.classList.toggle("on", following && run?.running !== false && !run?.paused);
        for (const b of [this.pause, this.step, this.stop]) b.hidden = !run?.running;
        if (!run) {
            this.liveText.textContent = "This recording is still being written";
            return;
        }
        setIcon(this.pause, run.paused ? "play" : "pause", run.paused ? "Let the run go on" : "Pause the run");
        const how = run.running ? (run.paused ? "paused" : "running") : run.end;
        const more = run.running && run.pace > 0 && !run.paused ? `, ${figure(run.pace, 3)} steps/s` : "";
        this.liveText.textContent =
            `Run ${how}: step ${count(run.step)}, t = ${figure(run.time)} of ${figure(run.until)} s` +
            `${more}, ${count(run.contacts)} contacts${run.error ? ` – ${run.error}` : ""}`;
    }
}
