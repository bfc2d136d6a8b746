// SPDX-License-Identifier: Apache-2.0
// The run as a WebM file: every frame of the recording, one after the other, at a steady rate.
import type {Player} from "../player";
import type {Stage} from "../scene/stage";
import {compose, download} from "./compose";
import type {Caption} from "./compose";

const RATE = 30; // pictures per second
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

export class Video {
    private stopped = false;
    running = false;

    constructor(
        private readonly stage: Stage,
        private readonly player: Player,
        private readonly caption: () => Caption,
        private readonly progress: (done: number, all: number) => void,
    ) {}

    stop(): void {
        this.stopped = true;
    }

    /** Record from the frame that is shown to the last one, or until stopped. */
    async save(name: string): Promise<void> {
        const type = typeof MediaRecorder === "undefined" ? undefined : TYPES.find((t) => MediaRecorder.isTypeSupported(t));
        if (!type) throw new Error("this browser cannot record WebM video");
        this.running = true;
        this.stopped = false;
        try {
            download(await this.record(type), name);
        } finally {
            this.running = false;
        }
    }

    private async record(type: string): Promise<Blob> {
        const canvas = document.createElement("canvas");
        const {player} = this;
        const last = player.frames.count - 1;
        const first = player.play.get().index >= last ? 0 : player.play.get().index;
        player.play.set({playing: false, following: false});
        await player.show(first);
        this.paint(canvas);
        const stream = canvas.captureStream(0);
        const track = stream.getVideoTracks()[0] as CanvasCaptureMediaStreamTrack;
        const recorder = new MediaRecorder(stream, {mimeType: type, videoBitsPerSecond: 12e6});
        const parts: Blob[] = [];
        recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
        const ended = new Promise((done) => recorder.addEventListener("stop", done));
        recorder.start();
        for (let k = first; k <= last && !this.stopped; k++) {
            const begin = performance.now();
            await player.show(k);
            player.frames.prefetch(k);
            track.requestFrame(); // of what is painted next
            this.paint(canvas);
            await new Promise((done) => requestAnimationFrame(done));
            this.progress(k - first + 1, last - first + 1);
            const left = 1000 / RATE - (performance.now() - begin);
            await new Promise((done) => setTimeout(done, Math.max(0, left)));
        }
        recorder.stop();
        await ended;
        track.stop();
        return new Blob(parts, {type: "video/webm"});
    }

    private paint(canvas: HTMLCanvasElement): void {
        this.stage.draw();
        compose(this.stage.canvas, canvas, this.caption());
    }
}
