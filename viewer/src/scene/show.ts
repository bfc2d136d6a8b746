// SPDX-License-Identifier: Apache-2.0
// Everything that is drawn, put together from a frame and the settings.
import {Plane, Vector3} from "three";
import type {Box3Helper} from "three";
import type {Colouring} from "../colour_by";
import type {Box, Model} from "../model";
import type {Settings} from "../settings";
import type {Frame} from "../wire";
import {Balls} from "./balls";
import {cellFrame, imageShifts} from "./cell";
import {Chains} from "./chains";
import {Outlines} from "./outlines";
import {Rods} from "./rods";
import {Sand} from "./sand";
import {Slice} from "./slice";
import {Solids} from "./solids";
import type {Stage} from "./stage";
import {Touches} from "./touches";
import {Walls} from "./walls";

const FADE_FLAT = 0.6; // of grains in 2D while chains are drawn over them

export class Show {
    private readonly balls: Balls;
    private readonly fixed: Balls;
    private readonly solids: Solids | null;
    private readonly sand: Sand | null;
    private readonly slice: Slice | null;
    private seen: {frame: Frame; colouring: Colouring} | null = null; // last
    private readonly rods: Rods | null;
    private readonly outlines: Outlines | null;
    private readonly walls: Walls;
    private readonly chains: Chains;
    private readonly touches: Touches;
    private readonly cell: Box3Helper | null;

    constructor(
        private readonly stage: Stage,
        private readonly model: Model,
        readonly box: Box,
    ) {
        const {content} = stage;
        const extent = Math.hypot(...([0, 1, 2] as const).map((k) => this.box.high[k] - this.box.low[k]));
        this.balls = new Balls(stage, model, model.balls);
        this.fixed = new Balls(stage, model, model.fixed, true);
        this.solids = model.solids.length > 0 ? new Solids(stage, model) : null;
        this.outlines = model.solids.length > 0 && model.dim === 2 ? new Outlines(stage, model) : null;
        this.sand = model.info.sand ? new Sand(stage, model.dim) : null;
        this.slice = model.info.sand ? new Slice(model) : null;
        this.rods = model.info.rods > 0 ? new Rods(stage) : null;
        this.walls = new Walls(stage, model, extent);
        this.chains = new Chains(stage, model);
        this.touches = new Touches(stage, model);
        this.cell = model.info.period.some((p) => p > 0) ? cellFrame(model, this.box) : null;
        content.add(this.balls.object, this.fixed.object, this.walls.object, this.chains.object, this.touches.object);
        if (this.solids) content.add(this.solids.object);
        if (this.sand) content.add(this.sand.object);
        if (this.slice) content.add(this.slice.object);
        if (this.rods) content.add(this.rods.object);
        if (this.outlines) content.add(this.outlines.object);
        if (this.cell) stage.extras.add(this.cell);
        stage.setBox(this.box);
        stage.onView = (shift) => this.prepare(shift);
    }

    /** Along the axis, what of the box the section leaves. */
    private sectionPlane(s: Readonly<Settings>): Plane {
        const axis = new Vector3();
        if (s.sectionAxis === "view") this.stage.camera.getWorldDirection(axis).negate();
        // In 3D the half towards the first view goes.
        else if (s.sectionAxis === "y") axis.y = this.model.dim === 2 ? 1 : -1;
        else axis.setComponent(s.sectionAxis === "x" ? 0 : 2, 1);
        if (s.sectionFlip) axis.negate();
        const corner = (k: 0 | 1 | 2, up: boolean): number => (up ? this.box.high[k] : this.box.low[k]);
        const high = new Vector3(corner(0, axis.x > 0), corner(1, axis.y > 0), corner(2, axis.z > 0)).dot(axis);
        const low = new Vector3(corner(0, axis.x <= 0), corner(1, axis.y <= 0), corner(2, axis.z <= 0)).dot(axis);
        return new Plane(axis, -(low + s.sectionAt * (high - low)));
    }

    /** What does not depend on the frame. */
    apply(s: Readonly<Settings>): void {
        const {stage} = this;
        stage.setDark(s.dark);
        this.walls.setDark(s.dark);
        this.walls.object.visible = s.walls;
        this.fixed.object.visible = s.walls;
        this.chains.object.visible = s.chains;
        this.chains.setThickness(s.forceScale);
        this.touches.object.visible = s.contacts;
        stage.shared.fade.value = s.chains && this.model.dim === 2 ? FADE_FLAT : 0;
        this.balls.setMarks(s.marks);
        this.rods?.setMarks(s.marks);
        for (const part of [this.balls, this.solids, this.outlines, this.sand, this.rods]) part?.setScale(s.grainScale);
        stage.images = s.images ? imageShifts(this.model) : [];
        stage.setSection(s.section ? this.sectionPlane(s) : null);
        if (this.sand) this.sand.object.visible = !s.slice;
        if (this.seen) this.slice?.update(this.seen.frame, this.seen.colouring, s, this.box.low, this.box.high);
    }

    update(frame: Frame, colouring: Colouring, s: Readonly<Settings>): void {
        this.balls.update(frame, colouring);
        this.fixed.update(frame, colouring);
        this.solids?.update(frame, colouring);
        this.outlines?.update(frame);
        this.sand?.update(frame, colouring);
        this.seen = {frame, colouring};
        this.slice?.update(frame, colouring, s, this.box.low, this.box.high);
        this.rods?.update(frame, colouring);
        this.walls.update(frame);
        if (s.chains) this.chains.update(frame);
        if (s.contacts) this.touches.update(frame);
        this.stage.invalidate();
    }

    private prepare(shift: Vector3): void {
        for (const part of [this.balls, this.fixed, this.sand]) if (part?.object.visible) part.prepare(shift);
    }

    select(body: number): void {
        this.balls.select(body);
        this.fixed.select(body);
        this.solids?.select(body);
    }

    selectRod(rod: number, frame: Frame | null): void {
        this.rods?.select(rod, frame);
    }

    dispose(): void {
        this.stage.onView = null;
        this.stage.content.clear();
        this.stage.extras.clear();
        for (const part of [this.balls, this.fixed, this.solids, this.outlines, this.sand, this.slice, this.rods, this.walls, this.chains, this.touches]) part?.dispose();
    }
}
