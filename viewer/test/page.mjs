// SPDX-License-Identifier: Apache-2.0
// node page.mjs ROOM JSON: the page in a headless Chromium, as a person uses it. ROOM is the folder of the
// build tree with the packages; JSON says where things are.
// Prints one line per check; the exit status is the number of those that failed.
import fs from "node:fs";
import path from "node:path";
import {serve as start, withBrowser} from "./browser.mjs";

const [room, json] = process.argv.slice(2);
const given = JSON.parse(json);
const serve = (...words) => start(given.talus, ...words);
let failures = 0;

function check(what, ok, more = "") {
    if (!ok) failures++;
    console.log(`${ok ? "ok  " : "FAIL"} ${what}${ok || more === "" ? "" : `: ${more}`}`);
}

/** A page that reports everything that goes wrong on it. */
async function open(browser, url, wait = true) {
    const page = await browser.newPage();
    const wrong = [];
    page.on("console", (m) => m.type() === "error" && wrong.push(m.text()));
    page.on("pageerror", (e) => wrong.push(e.message));
    page.on("request", (r) => {
        if (!r.url().startsWith(url) && !/^(data|blob):/.test(r.url())) wrong.push(`asked elsewhere: ${r.url()}`);
    });
    await page.goto(url);
    if (wait) await page.waitForFunction(() => window.talus?.player.current, null, {timeout: 20000});
    return {page, wrong};
}

const shot = (page, name) => page.screenshot({path: path.join(given.shots, `${name}.png`)});
const index = (page) => page.evaluate(() => window.talus.player.play.get().index);

// Mean colour of a piece of the scene, and how much it varies, from a screenshot.
async function pixels(page) {
    return page.evaluate(() => {
        const {stage} = window.talus;
        stage.draw();
        const c = document.createElement("canvas");
        [c.width, c.height] = [200, 150];
        const g = c.getContext("2d");
        g.drawImage(stage.canvas, 0, 0, c.width, c.height);
        return Array.from(g.getImageData(0, 0, c.width, c.height).data);
    });
}

function difference(a, b) {
    let changed = 0;
    for (let k = 0; k < a.length; k += 4) {
        if (Math.abs(a[k] - b[k]) + Math.abs(a[k + 1] - b[k + 1]) + Math.abs(a[k + 2] - b[k + 2]) > 30) changed++;
    }
    return changed;
}

const number = (text) => Number(text.replace(/\u2212/g, "-").replace(/[^-0-9.e]/g, ""));
const fact = (page, name) => page.locator(`#inspector [data-name="${name}"]`).first().textContent();

async function recording(browser) {
    const {url, end} = await serve("view", given.recording);
    const {page, wrong} = await open(browser, url);
    const count = await page.evaluate(() => window.talus.frames.count);
    check("all frames are there", count === given.truth.frames, `${count}, not ${given.truth.frames}`);
    await shot(page, "recording-first");

    await page.locator("#play").click();
    await page.waitForFunction(() => window.talus.player.play.get().index > 3, null, {timeout: 15000});
    await page.keyboard.press("Space");
    const stopped = await index(page);
    await page.waitForTimeout(150);
    check("play advances, space stops it", stopped > 3 && (await index(page)) === stopped);

    await page.keyboard.press("End");
    await page.waitForFunction((n) => window.talus.player.current.index === n - 1, count);
    check("End is the last frame", (await index(page)) === count - 1);
    const slider = page.locator(".scrub");
    await slider.fill("2");
    await page.waitForFunction(() => window.talus.player.current.index === 2);
    check("scrubbing goes to a frame", (await page.locator(".clock").textContent()).startsWith(given.truth.time2));
    await page.keyboard.press("End");
    await page.waitForFunction((n) => window.talus.player.current.index === n - 1, count);

    const before = await pixels(page);
    const seen = {};
    for (const mode of ["size", "pressure", "id", "status", "material"]) {
        await page.locator(`[data-colour="${mode}"]`).click();
        await page.waitForFunction((m) => window.talus.colouring.mode === m, mode);
        await page.waitForFunction((m) => !["pressure", "status"].includes(m) || window.talus.player.current.contacts, mode);
        seen[mode] = await pixels(page);
        const legend = await page.locator(".legend-title").textContent();
        check(`colour by ${mode} changes pixels and legend`, difference(before, seen[mode]) > 30 && legend !== "Speed [m/s]");
    }
    await shot(page, "recording-material");
    await page.locator('[data-colour="pressure"]').click();

    // Picking: a click where a grain is shows the numbers that the file has.
    const at = await page.evaluate((body) => window.talus.whereIs(body), given.truth.body);
    await page.mouse.click(at.x, at.y);
    await page.waitForFunction(() => window.talus.player.current.spin !== null);
    await page.waitForSelector("#inspector:not([hidden])");
    const title = await page.locator("#inspector strong").textContent();
    check("the grain that was clicked is picked", title.includes(`${given.truth.body}`), title);
    const place = (await fact(page, "Position")).split(/\s+/).slice(0, 2).map(number);
    const near = (x, y) => Math.abs(x - y) <= 2e-3 * Math.max(Math.abs(y), 1e-3);
    check("its position is right", place.every((x, k) => near(x, given.truth.position[k])), `${place}`);
    check("its speed is right", near(number(await fact(page, "Speed")), given.truth.speed), await fact(page, "Speed"));
    check("its mass is right", near(number(await fact(page, "Mass")), given.truth.mass));
    check("its contacts are right", parseInt(await fact(page, "Contacts"), 10) === given.truth.contacts, await fact(page, "Contacts"));
    check("its pressure is right", near(number(await fact(page, "Pressure")), given.truth.pressure), `${await fact(page, "Pressure")}, not ${given.truth.pressure}`);
    await shot(page, "recording-picked");

    const plain = await pixels(page);
    await page.keyboard.press("c");
    await page.waitForTimeout(300);
    check("force chains are drawn", difference(plain, await pixels(page)) > 30);
    await page.keyboard.press("d");
    await page.locator("#inspector .contact-list button").first().click();
    check("a contact is picked from the list", (await page.locator("#inspector strong").textContent()).startsWith("Contact"));
    const ratio = number(await fact(page, "Ratio"));
    check("its friction is within the cone", ratio >= 0 && ratio <= given.truth.friction * 1.001, `${ratio}`);
    await shot(page, "recording-chains");
    await page.keyboard.press("Escape");
    check("Esc puts it back", await page.locator("#inspector").isHidden());

    const whole = await pixels(page);
    await page.keyboard.press("x");
    await page.waitForTimeout(200);
    check("a section takes part of it away", difference(whole, await pixels(page)) > 30);
    await page.keyboard.press("x");
    await page.keyboard.press("o");
    await page.waitForTimeout(200);
    check("walls can be hidden", difference(whole, await pixels(page)) > 30);
    await page.keyboard.press("o");

    await page.keyboard.press("g");
    await page.waitForSelector(".plot canvas");
    const plots = await page.locator(".plot").count();
    check("plots of the ledger", plots >= 3, `${plots}`);
    const plot = await page.locator(".plot .u-over").first().boundingBox();
    await page.mouse.click(plot.x + plot.width / 2, plot.y + plot.height / 2);
    await page.waitForFunction((n) => window.talus.player.play.get().index < n - 1, count);
    const time = await page.evaluate(() => window.talus.player.play.get().time);
    check("a click on a plot goes to that time", Math.abs(time - given.truth.end / 2) < 0.15 * given.truth.end, `${time}`);
    await shot(page, "recording-plots");

    await page.keyboard.press("?");
    check("the help sheet opens", await page.locator("dialog.sheet").isVisible());
    await shot(page, "help");
    await page.keyboard.press("Escape");
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const old = await theme();
    await page.keyboard.press("t");
    check("light and dark", (await theme()) !== old);

    const picture = page.waitForEvent("download");
    await page.keyboard.press("s");
    const saved = await (await picture).path();
    check("a picture is saved", fs.readFileSync(saved).subarray(1, 4).toString() === "PNG");
    await page.evaluate((n) => window.talus.player.seek(n - 8), count);
    const video = page.waitForEvent("download");
    await page.keyboard.press("v");
    const film = fs.readFileSync(await (await video).path());
    check("a video is saved", film.length > 2000 && film.readUInt32BE(0) === 0x1a45dfa3, `${film.length} bytes`);

    check("nothing went wrong on the page", wrong.length === 0, wrong.join("; "));
    await page.close();
    check("Ctrl-C ends the server", (await end()) === 0);
}

async function solids(browser) {
    const {url, end} = await serve("view", given.solids);
    const {page, wrong} = await open(browser, url);
    const empty = await page.evaluate(() => window.talus.stage.shared.background.value.getHexString());
    const data = await pixels(page);
    const back = [0, 2, 4].map((k) => parseInt(empty.slice(k, k + 2), 16));
    let drawn = 0;
    for (let k = 0; k < data.length; k += 4) if (back.some((x, e) => Math.abs(x - data[k + e]) > 12)) drawn++;
    check("a scene in 3D is drawn before it is simulated", drawn > 300, `${drawn} pixels`);
    const at = await page.evaluate((body) => window.talus.whereIs(body), given.truth.solid);
    await page.mouse.click(at.x, at.y);
    await page.waitForTimeout(300);
    const title = await page.locator("#inspector strong").textContent();
    check("a polyhedron can be picked", /Body \d+/.test(title) && !(await page.locator("#inspector").isHidden()), title);
    await page.keyboard.press("x");
    await page.waitForTimeout(200);
    await shot(page, "scene-3d");
    check("nothing went wrong on the page (3D)", wrong.length === 0, wrong.join("; "));
    await page.close();
    await end();
}

// The picture as it is, and with everything drawn that cannot be seen: which pixels differ, and how much was left out.
const both = (page) =>
    page.evaluate(() => {
        const {stage, show} = window.talus;
        const gl = stage.renderer.getContext();
        const read = (hide) => {
            stage.hide = hide;
            stage.draw();
            const data = new Uint32Array(gl.drawingBufferWidth * gl.drawingBufferHeight);
            gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(data.buffer));
            return {data, drawn: show.balls.cloud.drawnCount};
        };
        const some = read(true);
        const all = read(false);
        stage.hide = true;
        const empty = all.data[0];
        return {
            way: show.balls.cloud.points?.visible ? show.balls.cloud.points.material.defines : "squares",
            differ: some.data.reduce((sum, x, k) => sum + (x !== all.data[k] ? 1 : 0), 0),
            filled: all.data.reduce((sum, x) => sum + (x !== empty ? 1 : 0), 0) / all.data.length,
            some: some.drawn,
            all: all.drawn,
        };
    });

// Very many balls: those that cannot be seen are left out, and no pixel tells.
async function many(browser) {
    const {url, end} = await serve("view", given.many);
    const {page, wrong} = await open(browser, url);
    await page.setViewportSize({width: 800, height: 560});
    const set = (settings) => page.evaluate((s) => window.talus.settings.set(s), settings);
    const nearer = (distance) =>
        page.evaluate((d) => {
            const {camera, controls} = window.talus.stage;
            camera.position.sub(controls.target).setLength(d).add(controls.target);
            controls.update();
        }, distance);
    const same = async (what, least, way) => {
        const got = await both(page);
        const fits = way === "squares" ? got.way === way : typeof got.way === "object" && "SMALL" in got.way === (way === "disks");
        check(`left out or not, ${what} look the same`, got.differ === 0 && fits && got.filled > 0.1, JSON.stringify(got));
        check(`${what} that are hidden are left out`, got.some < least * got.all && got.some > 50, JSON.stringify(got));
    };
    await set({colour: "id"});
    const [low, high] = await page.locator(".legend-end").evaluateAll((list) => list.map((e) => Number(e.value)));
    const count = await page.evaluate(() => window.talus.player.current.count);
    check("numbers are from the first grain to the last", low === 1 && high === count - 1, `${low} ${high} ${count}`);
    await same("many small balls", 0.5, "disks");
    await set({images: true});
    await same("periodic images", 0.5, "disks");
    await set({images: false, section: true});
    await same("balls that are cut", 0.9, "points");
    await set({section: false, grainScale: 0.6, marks: true});
    await same("balls with gaps", 0.99, "disks");
    await set({grainScale: 1, marks: false});
    await nearer(0.45);
    await same("balls in view", 0.1, "points");
    await set({section: true});
    await nearer(0.2);
    await same("large balls that are cut", 0.1, "squares");
    await set({section: false});
    await nearer(0.15);
    await same("large balls", 0.1, "squares");
    await page.keyboard.press("f");

    const before = await pixels(page);
    await page.mouse.move(200, 150);
    await page.mouse.down();
    await page.mouse.move(260, 170, {steps: 4});
    await page.mouse.up();
    await page.waitForTimeout(300);
    check("a drag turns the camera", difference(before, await pixels(page)) > 300);
    await shot(page, "many");
    // The nearest ball of all is seen.
    const front = await page.evaluate(() => {
        const {list, cloud} = window.talus.show.balls;
        const body = list[cloud.sieve.drawn[0]];
        return {body, at: window.talus.whereIs(body)};
    });
    await page.mouse.click(front.at.x, front.at.y);
    await page.waitForTimeout(300);
    const marked = await page.evaluate(() => window.talus.show.balls.cloud.drawn.centre.slice(0, 3).join() === window.talus.player.current.position.slice(3 * window.talus.picked.index, 3 * window.talus.picked.index + 3).join() && window.talus.show.balls.cloud.uniforms.selected.value === 0);
    const title = await page.locator("#inspector strong").textContent();
    check("the ball that is clicked is picked and marked", title.includes(`${front.body}`) && marked, `${title} ${marked}`);
    check("nothing went wrong on the page (many)", wrong.length === 0, wrong.join("; "));
    await page.close();
    await end();
}

// Small balls about a large one: some lie before its flanks, though behind what of it is nearest.
async function uneven(browser) {
    const {url, end} = await serve("view", given.uneven);
    const {page, wrong} = await open(browser, url);
    const got = await both(page);
    check("small balls before and behind a large one", got.differ === 0 && got.some < 0.8 * got.all, JSON.stringify(got));
    await shot(page, "uneven");
    check("nothing went wrong on the page (uneven)", wrong.length === 0, wrong.join("; "));
    await page.close();
    await end();
}

// Sand as a continuum: as many balls as there should be, coloured by what is asked for.
async function sand(browser) {
    const {url, end} = await serve("view", given.sand);
    const {page, wrong} = await open(browser, url);
    await page.evaluate(() => window.talus.player.seek(window.talus.frames.count - 1));
    await page.waitForTimeout(300);
    const seen = await page.evaluate(() => {
        const frame = window.talus.player.current;
        const balls = [];
        window.talus.stage.content.traverse((o) => o.geometry?.getAttribute("centre") && balls.push(o.geometry.instanceCount));
        return {particles: frame.sand.count, balls, speed: Math.hypot(...frame.sand.velocity.slice(0, 3)), y: frame.sand.position[1]};
    });
    check("all particles of sand are there", seen.particles === given.grains.count, JSON.stringify(seen));
    check("each is drawn as several grains", seen.balls.includes(9 * given.grains.count), JSON.stringify(seen));
    check("particles are where the recording has them", Math.abs(seen.y - given.grains.y) < 1e-6, JSON.stringify(seen));
    await page.keyboard.press("3");
    await page.waitForTimeout(300);
    const pressure = await page.locator(".legend-title").textContent();
    const high = Number(await page.locator(".legend-end").last().inputValue());
    check("colour by pressure has a scale", pressure.startsWith("Pressure") && high > 0, `${pressure} ${high}`);
    await shot(page, "sand-pressure");
    await page.keyboard.press("7");
    await page.waitForTimeout(300);
    const inertial = await page.locator(".legend-title").textContent();
    check("colour by inertial number", inertial === "Inertial number", inertial);
    await shot(page, "sand-inertial");
    await page.keyboard.press("8");
    await page.keyboard.press("y");
    await page.waitForTimeout(300);
    const slice = await page.evaluate(() => {
        const meshes = [];
        window.talus.stage.content.traverse((o) => o.visible && o.isMesh && o.geometry?.getAttribute("color") && meshes.push(o.geometry));
        const colours = new Set();
        const mesh = meshes[0];
        const colour = mesh?.getAttribute("color");
        for (let k = 0; mesh && k < mesh.index.count; k++) colours.add([0, 1, 2].map((e) => colour.array[3 * mesh.index.array[k] + e].toFixed(2)).join());
        return {meshes: meshes.length, facets: mesh ? mesh.index.count / 3 : 0, colours: colours.size};
    });
    const fraction = await page.locator(".legend-title").textContent();
    check("colour by fraction", fraction === "Fraction of grains", fraction);
    check("a slice shows the field of sand", slice.meshes === 1 && slice.facets > 20 && slice.colours > 3, JSON.stringify(slice));
    await shot(page, "sand-slice");
    await page.keyboard.press("y");
    check("nothing went wrong on the page (sand)", wrong.length === 0, wrong.join("; "));
    await page.close();
    await end();
}

// Rods: as many tubes as there should be, where the nodes are; picking, colours, the stripe that shows twist.
async function rods(browser) {
    const {url, end} = await serve("view", given.rods);
    const {page, wrong} = await open(browser, url);
    await page.evaluate(() => window.talus.player.seek(window.talus.frames.count - 1));
    await page.waitForTimeout(300);
    const seen = await page.evaluate(() => {
        const {rods} = window.talus.player.current;
        const tubes = [];
        window.talus.stage.content.traverse((o) => o.geometry?.getAttribute("axisHere") && tubes.push(o.geometry.instanceCount));
        return {count: rods.count, nodes: rods.nodes, z: rods.position[2], tubes};
    });
    check("all rods are there", seen.count === given.rope.rods && seen.nodes === given.rope.nodes, JSON.stringify(seen));
    // One for each two neighbours in the row, of which those that end a rod are not drawn.
    check("they are drawn in one call", seen.tubes.length === 1 && seen.tubes[0] === seen.nodes + seen.count, JSON.stringify(seen));
    check("nodes are where the recording has them", Math.abs(seen.z - given.rope.z) < 1e-6, JSON.stringify(seen));
    const empty = await page.evaluate(() => window.talus.stage.shared.background.value.getHexString());
    const back = [0, 2, 4].map((k) => parseInt(empty.slice(k, k + 2), 16));
    const drawn = async () => {
        const data = await pixels(page);
        let count = 0;
        for (let k = 0; k < data.length; k += 4) if (back.some((x, e) => Math.abs(x - data[k + e]) > 12)) count++;
        return count;
    };
    await page.keyboard.press("o"); // without the ball
    await page.waitForTimeout(200);
    const bare = await drawn();
    check("tubes are drawn", bare > 150, `${bare} pixels`);
    await page.keyboard.press("o");
    await page.waitForTimeout(200);
    const at = await page.evaluate(() => window.talus.whereIsNode(2));
    await page.mouse.click(at.x, at.y);
    await page.waitForTimeout(400);
    const fact = async (name) => Number((await page.locator(`#inspector dd[data-name="${name}"]`).textContent()).replace("\u2212", "-").split(" ")[0]);
    const title = await page.locator("#inspector strong").textContent();
    check("a rod can be picked", title === "rope (rod 0)", title);
    check("its length is that of its nodes", Math.abs((await fact("Length")) - given.rope.length) < 1e-3 * given.rope.length);
    const contacts = await page.locator('#inspector [data-name="Contacts"]').textContent();
    check("its contacts are those of its segments", contacts.startsWith(`${given.rope.contacts} contact`), contacts);
    await shot(page, "rods");
    await page.keyboard.press("9");
    await page.waitForTimeout(300);
    const strain = await page.locator(".legend-title").textContent();
    check("colour by strain", strain === "Strain", strain);
    await page.keyboard.press("5");
    await page.waitForTimeout(400);
    const status = await page.locator(".legend-body").textContent();
    check("colour by status", status.includes("slides somewhere"), status);
    await page.keyboard.press("m");
    await page.keyboard.press("c");
    await page.waitForTimeout(400);
    await shot(page, "rods-status");
    check("nothing went wrong on the page (rods)", wrong.length === 0, wrong.join("; "));
    await page.close();
    await end();
}

async function live(browser) {
    const {url, end} = await serve("run", given.scene, "--view", "--until", "1000", "-o", given.live, "--quiet");
    const {page, wrong} = await open(browser, url);
    const step = () => page.evaluate(() => window.talus.player.current.step);
    const first = await step();
    await page.waitForFunction((s) => window.talus.player.current.step > s + 5, first, {timeout: 15000});
    check("the page follows a run", true);
    await page.locator("#run-pause").click();
    await page.waitForFunction(() => window.talus.player.play.get().state.live.paused);
    await page.waitForTimeout(900);
    const halted = await step();
    await page.waitForTimeout(300);
    check("the run can be paused", (await step()) === halted);
    await page.locator("#run-step").click();
    await page.waitForFunction((s) => window.talus.player.current.step === s + 1, halted, {timeout: 5000});
    check("the run can make one step", true);
    await shot(page, "live-paused");
    await page.locator("#run-pause").click();
    await page.waitForFunction((s) => window.talus.player.current.step > s + 5, halted, {timeout: 15000});
    check("the run goes on", true);
    await page.locator("#run-stop").click();
    await page.waitForFunction(() => window.talus.player.play.get().state.live.running === false, null, {timeout: 10000});
    await page.waitForFunction(() => window.talus.player.current.index >= 0, null, {timeout: 10000});
    check("the run can be stopped, and is a recording then", (await page.locator(".live-text").textContent()).includes("interrupted"));
    check("nothing went wrong on the page (live)", wrong.length === 0, wrong.join("; "));
    await page.close();
    check("an interrupted run says so", (await end()) === 1);
}

async function malformed(browser) {
    const {url, end} = await serve("view", given.bad);
    const {page} = await open(browser, url, false);
    const said = page.locator(".fatal, .notice.error");
    await said.first().waitFor({timeout: 15000});
    const text = await said.first().textContent();
    check("a damaged recording shows the reason", text.includes("bad.h5"), text);
    await shot(page, "malformed");
    await page.close();
    check("the server survives it", (await end()) === 0);
}

async function phone(browser) {
    const {url, end} = await serve("view", given.recording);
    const {page, wrong} = await open(browser, url);
    await page.setViewportSize({width: 390, height: 780});
    await page.waitForTimeout(300);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check("the page fits a phone", wide <= 390, `${wide}`);
    const box = await page.locator("#play").boundingBox();
    check("play is within reach of a thumb", box.y + box.height <= 780 && box.width >= 36);
    await shot(page, "phone");
    check("nothing went wrong on the page (phone)", wrong.length === 0, wrong.join("; "));
    await page.close();
    await end();
}

fs.mkdirSync(given.shots, {recursive: true});
await withBrowser(room, given.chromium, {width: 1080, height: 680}, async (browser) => {
    for (const part of [recording, solids, many, uneven, sand, rods, live, malformed, phone]) {
        try {
            await part(browser);
        } catch (error) {
            check(part.name, false, error.message);
        }
    }
});
process.exit(Math.min(failures, 100));
