// SPDX-License-Identifier: Apache-2.0
// node bench/view/pictures.mjs [SPHERES]...: pictures per second of the page of `talus view` in a headless Chromium that
// draws without a GPU, 1280 x 800. Spheres lie in a cube of 1 m, in close-packed layers, each moved a little. Needs the
// release build. Prints a table (CSV):
//   first   from the page's address to its first picture
//   orbit   the camera turns once in 20 s, for 5 s, as when it is dragged: slow machines draw fewer pixels
//   full    the same with all pixels all the time
//   play    every frame of a recording, one after the other: fetched, unpacked, coloured, drawn
// hidden says whether what cannot be seen was left out or drawn; spheres_drawn is the mean. CPU time is that of all
// processes of the browser, sieve_ms what choosing the spheres takes by the clock, both for one picture. Each is repeated,
// and the least time counts; where everything is drawn, two pictures are one repeat.
import {execFileSync} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";
import {serve, withBrowser} from "../../viewer/test/browser.mjs";

const build = fileURLToPath(new URL("../../build/release", import.meta.url));
const [talus, room] = [path.join(build, "bin", "talus"), path.join(build, "viewer")];
const folders = process.env.PATH.split(path.delimiter);
const chromium = folders.map((f) => path.join(f, "chromium")).find((f) => fs.existsSync(f));
const counts = process.argv.slice(2);
const FRAMES = 24;
const REPEATS = 3;

// About as many as wanted: close-packed layers have sqrt(2) / spacing³ spheres per volume.
const scene = (count) => {
    const spacing = Math.cbrt(Math.SQRT2 / count);
    return `version: 1
title: ${count} spheres
materials: {grain: {friction: 0.5}}
bodies: [{shape: container, size: [1.02, 1.02, 1.1], at: [0.5, 0.5, 0.55], open_top: yes, material: grain}]
grains:
  - {fill: layers, region: {from: [0, 0, 0.01], to: [1, 1, 1.01]}, spacing: ${spacing},
     radius: ${0.48 * spacing}, jitter: ${0.01 * spacing}, material: grain}
step: {length: 0.1 ms}
run: {until: ${(FRAMES - 1) / 1e4} s}
output: {every: 0.1 ms, contacts: no}
`;
};

// CPU seconds of the processes that were started with a folder, and of what they started [s].
function processor(folder) {
    const found = fs.readdirSync("/proc").filter((id) => /^\d+$/.test(id));
    const parent = new Map();
    const ticks = new Map();
    const roots = [];
    for (const id of found) {
        try {
            const stat = fs.readFileSync(`/proc/${id}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
            parent.set(id, stat[1]);
            ticks.set(id, Number(stat[11]) + Number(stat[12]));
            if (fs.readFileSync(`/proc/${id}/cmdline`, "utf8").includes(folder)) roots.push(id);
        } catch {
            // it has ended
        }
    }
    const own = new Set(roots);
    for (let grew = true; grew; ) {
        grew = false;
        for (const [id, up] of parent) {
            if (own.has(id) || !own.has(up)) continue;
            own.add(id);
            grew = true;
        }
    }
    return [...own].reduce((sum, id) => sum + ticks.get(id), 0) / 100;
}

const load = () => os.loadavg()[0].toFixed(1);

async function timed(folder, run) {
    const [clock, cpu] = [performance.now(), processor(folder)];
    const got = await run();
    return {...got, wall: (performance.now() - clock) / 1000, cpu: processor(folder) - cpu};
}

// The least time per picture of some repeats.
async function least(folder, run, repeats = REPEATS) {
    let best = null;
    for (let k = 0; k < repeats; k++) {
        const r = await timed(folder, run);
        const each = {...r, wall: r.wall / r.pictures, cpu: r.cpu / r.pictures};
        best = best ? {...each, wall: Math.min(each.wall, best.wall), cpu: Math.min(each.cpu, best.cpu), sieve: Math.min(each.sieve, best.sieve)} : each;
    }
    return best;
}

// Draw, wait for it, and tell how many spheres it took. Runs on the page.
const draw = () => {
    const {stage, show} = window.talus;
    const gl = stage.renderer.getContext();
    stage.draw();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    return show.balls.cloud.drawnCount;
};

// Turn the camera for a while.
const orbit = (page, {hide, ease, seconds}) =>
    page.evaluate(
        async ([hide, ease, seconds]) => {
            const {stage, show} = window.talus;
            const gl = stage.renderer.getContext();
            stage.hide = hide;
            const prepare = stage.onView;
            let sieve = 0;
            stage.onView = (shift) => {
                const from = performance.now();
                prepare(shift);
                sieve += performance.now() - from;
            };
            if (ease) stage.controls.dispatchEvent({type: "start"});
            const begin = performance.now();
            let [pictures, drawn, last] = [0, 0, begin];
            while (performance.now() - begin < 1000 * seconds || pictures < 2) {
                const clock = await new Promise((done) => requestAnimationFrame(done));
                const now = performance.now();
                const [x, y, z] = stage.camera.position.clone().sub(stage.controls.target).toArray();
                const turn = (2 * Math.PI * (now - last)) / 20000;
                const [c, s] = [Math.cos(turn), Math.sin(turn)];
                stage.camera.position.set(c * x - s * y, s * x + c * y, z).add(stage.controls.target);
                last = now;
                stage.controls.update();
                stage.drawIfNeeded(clock);
                gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // wait for it
                pictures++;
                drawn += show.balls.cloud.drawnCount;
            }
            if (ease) stage.controls.dispatchEvent({type: "end"});
            stage.onView = prepare;
            stage.hide = true;
            return {pictures, drawn: drawn / pictures, sieve: sieve / pictures};
        },
        [hide, ease, seconds],
    );

// Every frame of the recording.
const play = (page) =>
    page.evaluate(async () => {
        const {stage, player, show} = window.talus;
        const gl = stage.renderer.getContext();
        let drawn = 0;
        for (let k = 0; k < player.frames.count; k++) {
            player.frames.prefetch(k);
            await player.seek(k);
            stage.draw();
            gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
            drawn += show.balls.cloud.drawnCount;
        }
        return {pictures: player.frames.count, drawn: drawn / player.frames.count, sieve: NaN};
    });

function row(spheres, what, hidden, r) {
    const sieve = isNaN(r.sieve) ? "" : r.sieve.toFixed(1);
    console.log([spheres, what, hidden, r.drawn.toFixed(0), r.wall.toFixed(3), r.cpu.toFixed(3), sieve, (1 / r.wall).toFixed(1), load()].join());
}

async function measure(count) {
    const place = fs.mkdtempSync(path.join(os.tmpdir(), "talus-view-"));
    const [file, recording] = [path.join(place, "spheres.yaml"), path.join(place, "spheres.h5")];
    fs.writeFileSync(file, scene(count));
    const first = await serve(talus, "view", file);
    await withBrowser(room, chromium, {width: 1280, height: 800}, async (browser, folder) => {
        const open = async (url) => {
            const page = await browser.newPage();
            const shown = await least(folder, async () => {
                await page.goto(url);
                await page.waitForFunction(() => window.talus?.player.current, null, {timeout: 120000});
                const drawn = await page.evaluate(draw);
                return {pictures: 1, drawn, sieve: NaN};
            }, 1);
            await page.waitForTimeout(500);
            return {page, shown};
        };
        const {page, shown} = await open(first.url);
        const spheres = await page.evaluate(() => window.talus.player.current.count - 1);
        row(spheres, "first", "left out", shown);
        for (const ease of [true, false]) {
            for (const hide of [true, false]) {
                const seconds = hide ? 5 : 0;
                const got = await least(folder, () => orbit(page, {hide, ease, seconds}));
                row(spheres, ease ? "orbit" : "full", hide ? "left out" : "drawn", got);
            }
        }
        await page.close();
        await first.end();
        execFileSync(talus, ["run", file, "-o", recording, "--quiet"], {stdio: "ignore"});
        const second = await serve(talus, "view", recording);
        const {page: other} = await open(second.url);
        row(spheres, "play", "left out", await least(folder, () => play(other)));
        await other.close();
        await second.end();
    });
    fs.rmSync(place, {recursive: true});
}

console.log("spheres,what,hidden,spheres_drawn,wall_s,cpu_s,sieve_ms,pictures_per_s,load");
for (const count of counts.length > 0 ? counts : ["1e5"]) await measure(Number(count));
