// SPDX-License-Identifier: Apache-2.0
// A headless Chromium that draws without a GPU, and talus as the server of a page.
import {spawn} from "node:child_process";
import fs from "node:fs";
import {createRequire} from "node:module";
import os from "node:os";
import path from "node:path";

const FLAGS = [
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--disable-dev-shm-usage",
];

/** A browser with a folder of its own, for the time of `use(browser, folder)`. `room` has the packages of the page. */
export async function withBrowser(room, program, viewport, use) {
    const {chromium} = createRequire(path.join(path.resolve(room), "package.json"))("playwright-core");
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "talus-chromium-"));
    const browser = await chromium.launchPersistentContext(folder, {
        executablePath: program,
        headless: true,
        viewport,
        colorScheme: "light",
        args: FLAGS,
    });
    try {
        return await use(browser, folder);
    } finally {
        await browser.close();
        fs.rmSync(folder, {recursive: true, force: true});
    }
}

/** Start talus; its page's address and a way to end it. */
export async function serve(program, ...words) {
    const talus = spawn(program, words, {stdio: ["ignore", "pipe", "pipe"]});
    let said = "";
    const url = await new Promise((found, failed) => {
        const look = (data) => {
            said += data;
            const match = said.match(/http:\/\/[^/]+\/[0-9a-f]{32}\//);
            if (match) found(match[0]);
        };
        talus.stdout.on("data", look);
        talus.stderr.on("data", look);
        talus.on("exit", () => failed(new Error(`talus ended: ${said}`)));
    });
    const end = () =>
        new Promise((done) => {
            talus.removeAllListeners("exit");
            talus.on("exit", (code) => done(code));
            talus.kill("SIGINT");
        });
    return {url, end};
}
