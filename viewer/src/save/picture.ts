// SPDX-License-Identifier: Apache-2.0
// The scene as a PNG file.
import type {Stage} from "../scene/stage";
import {compose, download} from "./compose";
import type {Caption} from "./compose";

export async function savePicture(stage: Stage, caption: Caption, name: string): Promise<void> {
    const canvas = document.createElement("canvas");
    stage.draw(); // what was drawn is there only until the browser shows it
    compose(stage.canvas, canvas, caption);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (!blob) throw new Error("the browser made no picture");
    download(blob, name);
}
