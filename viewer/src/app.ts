// SPDX-License-Identifier: Apache-2.0
// The page: puts player, scene and controls together.
import {Vector2, Vector3} from "three";
import {Gone, api} from "./api";
import {ColourBy, fieldsOf} from "./colour_by";
import type {Colouring} from "./colour_by";
import type {Frames} from "./frames";
import {Model, unite} from "./model";
import type {Box} from "./model";
import type {Player} from "./player";
import type {Caption} from "./save/compose";
import {savePicture} from "./save/picture";
import {Video} from "./save/video";
import {Picker} from "./scene/pick";
import type {Picked} from "./scene/pick";
import {Show} from "./scene/show";
import {Stage} from "./scene/stage";
import type {Settings} from "./settings";
import type {Store} from "./store";
import {h} from "./ui/dom";
import {figure} from "./ui/format";
import {Inspector} from "./ui/inspector";
import {Legend} from "./ui/legend";
import type {Notices} from "./ui/notice";
import {CONTACTS, SPIN} from "./wire";
import type {Frame} from "./wire";

const CORNER = new Vector3(0.55, -1, 0.42);
const SMALL_CHAINS = 0.45; // size of grains in 3D beside force chains
const CLICK = 5; // pixels a click may move

export class App {
    readonly stage: Stage;
    readonly inspector: Inspector;
    readonly legend: Legend;
    readonly video: Video;
    readonly place: HTMLElement;
    private readonly colourBy: ColourBy;
    private readonly picker: Picker;
    private show: Show;
    private picked: Picked | null = null;
    private colouring: Colouring | null = null;
    private learning = false;

    constructor(
        private model: Model,
        readonly player: Player,
        readonly settings: Store<Settings>,
        private readonly notices: Notices,
        first: Frame,
        private box: Box,
    ) {
        const canvas = h("canvas", {id: "scene", tabindex: 0, "aria-label": "The scene"});
        this.place = h("div", {class: "place-3d"}, canvas);
        this.stage = new Stage(canvas, model.dim);
        this.colourBy = new ColourBy(() => this.model);
        this.picker = new Picker(this.stage);
        this.inspector = new Inspector(
            () => this.model,
            (picked) => this.pick(picked),
        );
        this.legend = new Legend(settings);
        this.video = new Video(
            this.stage,
            player,
            () => this.caption(),
            (done, all) => void (document.title = `${Math.round((100 * done) / all)} % recorded – ${this.model.info.name}`),
        );
        this.show = new Show(this.stage, model, box);
        this.listen(canvas);
        this.show.apply(settings.get());
        this.present(first);
        this.stage.fit(CORNER.clone());
    }

    private listen(canvas: HTMLCanvasElement): void {
        this.player.frame.on((frame) => this.present(frame));
        this.player.failed.on((error) => this.failed(error));
        this.settings.on((s, changed) => this.changed(s, changed));
        this.stage.controls.addEventListener("end", () => this.settings.get().section && this.show.apply(this.settings.get()));
        let down: {x: number; y: number} | null = null;
        canvas.addEventListener("pointerdown", (e) => void (down = {x: e.clientX, y: e.clientY}));
        canvas.addEventListener("pointerup", (e) => {
            if (down && Math.hypot(e.clientX - down.x, e.clientY - down.y) < CLICK) this.click(e);
            down = null;
        });
        // The canvas has no size before the page is laid out.
        let fitted = false;
        new ResizeObserver(() => {
            if (!fitted && canvas.clientWidth > 1) {
                this.stage.fit(CORNER.clone());
                fitted = true;
            }
        }).observe(this.place);
    }

    failed(error: Error): void {
        this.notices.error(error instanceof Gone ? `${error.message}.` : error.message);
    }

    get frames(): Frames {
        return this.player.frames;
    }

    /** The fields of a frame that what is shown needs. */
    private fields(): number {
        const s = this.settings.get();
        const contacts = s.chains || s.contacts || this.picked !== null ? CONTACTS : 0;
        return contacts | fieldsOf(s.colour) | (this.picked ? SPIN : 0);
    }

    private needFields(): void {
        const fields = this.fields();
        const have = this.player.current?.fields ?? 0;
        this.frames.fields = fields;
        if ((have & fields) !== fields) this.player.again();
    }

    private present(frame: Frame): void {
        if (frame.count > this.model.bodies.count) void this.learn();
        const s = this.settings.get();
        this.colouring = this.colourBy.colour(frame, s);
        this.show.update(frame, this.colouring, s);
        this.legend.update(this.colouring);
        this.inspector.update(this.picked, frame);
    }

    // Bodies have entered that are not known yet.
    private async learn(): Promise<void> {
        if (this.learning) return;
        this.learning = true;
        try {
            const [bodies, surfaces] = await Promise.all([api.bodies(), api.surfaces()]);
            if (bodies.count > this.model.bodies.count) this.rebuild(new Model(this.model.info, bodies, surfaces));
        } catch (error) {
            this.failed(error as Error);
        } finally {
            this.learning = false;
        }
    }

    private rebuild(model: Model): void {
        const frame = this.player.current;
        if (!frame) return;
        this.show.dispose();
        model.learn(frame);
        this.model = model;
        this.box = unite(this.box, model.box(frame));
        this.show = new Show(this.stage, model, this.box);
        this.show.apply(this.settings.get());
        this.select();
        this.present(frame);
    }

    private changed(s: Readonly<Settings>, changed: Set<keyof Settings>): void {
        if (changed.has("colour")) this.colourBy.reset();
        if (changed.has("chains") && this.model.dim === 3) {
            if (s.chains && s.grainScale === 1) this.settings.set({grainScale: SMALL_CHAINS});
            else if (!s.chains && s.grainScale === SMALL_CHAINS) this.settings.set({grainScale: 1});
        }
        document.documentElement.dataset.theme = s.dark ? "dark" : "light";
        this.show.apply(this.settings.get());
        this.needFields();
        if (this.player.current) this.present(this.player.current);
    }

    private click(event: PointerEvent): void {
        const frame = this.player.current;
        if (!frame) return;
        const rect = this.stage.canvas.getBoundingClientRect();
        const place = new Vector2(((event.clientX - rect.left) / rect.width) * 2 - 1, 1 - ((event.clientY - rect.top) / rect.height) * 2);
        const s = this.settings.get();
        const bodies = [this.model.balls, this.model.solids, ...(s.walls ? [this.model.fixed] : [])];
        this.pick(this.picker.pick(place, this.model, frame, {bodies, contacts: s.contacts, chains: s.chains, scale: s.grainScale}));
    }

    /** Choose a body, rod or contact, or nothing. */
    pick(picked: Picked | null): void {
        this.picked = picked;
        this.select();
        this.needFields();
        if (this.player.current) this.present(this.player.current);
    }

    private select(): void {
        this.show.select(this.picked?.kind === "body" ? this.picked.index : -1);
        this.show.selectRod(this.picked?.kind === "rod" ? this.picked.index : -1, this.player.current);
    }

    /** Where a body is on the screen, in pixels of the page; null: it is not there. */
    whereIs(body: number): {x: number; y: number} | null {
        const frame = this.player.current;
        if (!frame || body >= frame.count) return null;
        const p = new Vector3().fromArray(frame.position, 3 * body).project(this.stage.camera);
        const rect = this.stage.canvas.getBoundingClientRect();
        return {x: rect.left + ((p.x + 1) / 2) * rect.width, y: rect.top + ((1 - p.y) / 2) * rect.height};
    }

    /** The same of a node of rods. */
    whereIsNode(node: number): {x: number; y: number} | null {
        const frame = this.player.current;
        if (!frame || node >= frame.rods.nodes) return null;
        const p = new Vector3().fromArray(frame.rods.position, 3 * node).project(this.stage.camera);
        const rect = this.stage.canvas.getBoundingClientRect();
        return {x: rect.left + ((p.x + 1) / 2) * rect.width, y: rect.top + ((1 - p.y) / 2) * rect.height};
    }

    view(direction: "x" | "y" | "z" | "corner"): void {
        const from = {x: new Vector3(1, 0, 0), y: new Vector3(0, -1, 0), z: new Vector3(0, -1e-3, 1), corner: CORNER.clone()};
        const frame = this.player.current;
        if (frame) this.stage.setBox(this.model.box(frame));
        this.stage.fit(from[direction]);
    }

    fit(): void {
        const frame = this.player.current;
        if (frame) this.stage.setBox(this.model.box(frame));
        this.stage.fit();
    }

    private caption(): Caption {
        const {info} = this.model;
        const s = this.settings.get();
        const time = figure(this.player.current?.time ?? 0);
        return {text: `${info.title || info.name}, t = ${time} s`, colouring: this.colouring!, map: s.map, dark: s.dark};
    }

    private fileName(ending: string): string {
        const stem = this.model.info.name.replace(/\.[^.]*$/, "");
        return `${stem}-${String(this.player.play.get().index).padStart(4, "0")}.${ending}`;
    }

    savePicture(): void {
        savePicture(this.stage, this.caption(), this.fileName("png")).catch((error: Error) => this.failed(error));
    }

    saveVideo(): void {
        if (this.video.running) {
            this.video.stop();
            return;
        }
        if (this.frames.count < 2) {
            this.notices.note("There is only one frame: nothing to record");
            return;
        }
        this.notices.note("Recording from this frame to the end; V stops it");
        const title = document.title;
        this.video
            .save(this.fileName("webm"))
            .catch((error: Error) => this.failed(error))
            .finally(() => void (document.title = title));
    }

    /** Drawn for every picture of the screen, where something has changed. */
    tick(clock: number): void {
        if (!this.video.running) this.player.tick(clock);
        this.stage.drawIfNeeded(clock);
    }
}
