// SPDX-License-Identifier: Apache-2.0
// Which frame is shown: the clock of playing, scrubbing, and following a run that goes on.
import {Gone, api} from "./api";
import type {State} from "./api";
import type {Frames} from "./frames";
import {Signal, Store} from "./store";
import type {Frame} from "./wire";

export interface Play {
    playing: boolean;
    loop: boolean;
    speed: number; // simulated seconds per second
    index: number;
    time: number;
    following: boolean; // shows the end of what grows
    state: State;
}

export const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const LIVE_POLL = 60; // ms between frames of a run that goes on
const FILE_POLL = 1000; // ms between looks at a file that grows
const IDLE_POLL = 400; // ms between looks at a run that is paused or not followed

export class Player {
    readonly play: Store<Play>;
    readonly frame = new Signal<Frame>();
    readonly failed = new Signal<Error>();
    readonly grown = new Signal<State>();
    private ticket = 0; // of the frame asked for last
    private shown: Frame | null = null;
    private last = 0; // clock of the last tick
    private live: {frame: Frame; known: number} | null = null;

    constructor(
        readonly frames: Frames,
        state: State,
    ) {
        this.play = new Store<Play>({
            playing: false,
            loop: false,
            speed: this.fittingSpeed(),
            index: 0,
            time: frames.times[0] ?? 0,
            following: !state.finished,
            state,
        });
    }

    get current(): Frame | null {
        return this.shown;
    }

    /** A speed at which the whole takes some ten seconds, or as long as it took. */
    private fittingSpeed(): number {
        const t = this.frames.times;
        const span = t.length > 1 ? t[t.length - 1] - t[0] : 1;
        if (span >= 3 && span <= 30) return 1;
        return SPEEDS.reduce((best, s) => (Math.abs(Math.log(span / s / 8)) < Math.abs(Math.log(span / best / 8)) ? s : best), 1);
    }

    async show(index: number): Promise<void> {
        const ticket = ++this.ticket;
        const at = Math.min(Math.max(0, index), Math.max(0, this.frames.count - 1));
        this.play.set({index: at, time: this.frames.times[at] ?? 0});
        try {
            const frame = await this.frames.get(at);
            if (ticket === this.ticket) this.present(frame);
        } catch (error) {
            if (ticket !== this.ticket) return;
            this.play.set({playing: false});
            this.failed.emit(error as Error);
        }
    }

    private present(frame: Frame): void {
        this.shown = frame;
        this.frame.emit(frame);
    }

    /** Show the same frame again, with other fields. */
    again(): void {
        if (this.play.get().following && this.play.get().state.live) return;
        void this.show(this.play.get().index);
    }

    seek(index: number): Promise<void> {
        this.play.set({following: false});
        return this.show(index);
    }

    seekTime(time: number): void {
        this.play.set({playing: false});
        void this.seek(this.frames.at(time));
    }

    toggle(): void {
        const p = this.play.get();
        const atEnd = p.index >= this.frames.count - 1;
        this.play.set({playing: !p.playing, following: false});
        this.last = 0;
        if (!p.playing && atEnd) void this.show(0);
    }

    follow(): void {
        this.play.set({following: true, playing: false});
        if (!this.play.get().state.live) void this.show(this.frames.count - 1);
    }

    faster(steps: number): void {
        const now = this.play.get().speed;
        const k = SPEEDS.reduce((best, s, i) => (Math.abs(s - now) < Math.abs(SPEEDS[best] - now) ? i : best), 0);
        this.play.set({speed: SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, k + steps))]});
    }

    /** Called for every picture of the screen. */
    tick(clock: number): void {
        const p = this.play.get();
        const passed = this.last > 0 ? Math.min(0.25, (clock - this.last) / 1000) : 0;
        this.last = clock;
        if (!p.playing || this.frames.count < 2) return;
        const end = this.frames.times[this.frames.count - 1];
        let time = p.time + passed * p.speed;
        if (time >= end) {
            if (p.index < this.frames.count - 1) time = end;
            else if (p.loop) time = this.frames.times[0];
            else {
                this.play.set({playing: false});
                return;
            }
        }
        const index = this.frames.at(time);
        this.frames.prefetch(index);
        if (index === p.index) {
            this.play.set({time});
            return;
        }
        const frame = this.frames.ready(index);
        if (!frame) {
            // The clock waits for the frame; one that fails stops it.
            void this.frames.get(index).catch((error: Error) => {
                this.play.set({playing: false});
                this.failed.emit(error);
            });
            return;
        }
        this.ticket++;
        this.play.set({index, time});
        this.present(frame);
    }

    /** Follow what grows, for as long as it does. */
    async watch(): Promise<void> {
        for (;;) {
            const p = this.play.get();
            const {finished, live} = p.state;
            if (finished && !live?.running) {
                if (live && p.following && this.frames.count > 0) await this.end();
                return;
            }
            const fast = live?.running === true && !live.paused && p.following;
            await new Promise((done) => setTimeout(done, fast ? LIVE_POLL : live ? IDLE_POLL : FILE_POLL));
            try {
                await this.look();
            } catch (error) {
                this.failed.emit(error as Error);
                if (error instanceof Gone) return;
            }
        }
    }

    // The run has ended: from now on it is a recording, shown at its last frame.
    private async end(): Promise<void> {
        this.play.set({following: false});
        await this.show(this.frames.count - 1);
    }

    private async look(): Promise<void> {
        const state = await api.state();
        const grew = await this.frames.grow(state.frames);
        this.play.set({state});
        if (grew) this.grown.emit(state);
        if (!this.play.get().following) return;
        if (!state.live) {
            if (grew) await this.show(this.frames.count - 1);
            return;
        }
        if (this.live?.known === state.live.serial && this.live.frame.fields === this.frames.fields && state.live.paused) return;
        const frame = await api.frame(-1, this.frames.fields);
        if (!this.play.get().following || frame.serial === this.live?.frame.serial) return;
        this.live = {frame, known: state.live.serial};
        this.ticket++;
        this.play.set({time: frame.time, index: Math.max(0, this.frames.count - 1)});
        this.present(frame);
    }
}
