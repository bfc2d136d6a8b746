// SPDX-License-Identifier: Apache-2.0
// Plots of the ledger beside the scene. A line marks the time that is shown; a click goes to a time.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import {api} from "../api";
import type {Info} from "../api";
import type {Player} from "../player";
import type {Settings} from "../settings";
import type {Store} from "../store";
import {h} from "./dom";
import {figure} from "./format";

interface Plot {
    title: string;
    unit: string;
    log?: boolean;
    lines: {name: string; text: string; colour: string}[];
}

const BLUE = "#4c8bd6";
const ORANGE = "#ef8a2b";
const GREEN = "#3fa66b";
const RED = "#d0495c";
const VIOLET = "#8b6fc4";

const LEDGER: Plot[] = [
    {
        title: "Energy",
        unit: "J",
        lines: [
            {name: "kinetic", text: "kinetic", colour: BLUE},
            {name: "potential", text: "potential", colour: GREEN},
            {name: "sum:loss_friction", text: "lost to friction", colour: ORANGE},
            {name: "sum:loss_impact", text: "lost in impacts", colour: RED},
        ],
    },
    {
        title: "Contacts",
        unit: "",
        lines: [
            {name: "contacts", text: "all", colour: VIOLET},
            {name: "stick", text: "sticking", colour: BLUE},
            {name: "slip", text: "sliding", colour: ORANGE},
        ],
    },
    {title: "Residual", unit: "", log: true, lines: [{name: "residual", text: "of the certificate", colour: RED}]},
    {title: "Iterations", unit: "", lines: [{name: "iterations", text: "a step", colour: GREEN}]},
    {title: "Penetration", unit: "m", lines: [{name: "penetration", text: "deepest", colour: VIOLET}]},
];
const HEIGHT = 132;
const MOST = 32; // columns that the server sends at once

/** What the scene had observed: one plot for each. */
function seriesPlots(info: Info): Plot[] {
    return info.series.map(({name, unit, text}) => ({title: name.replace(/_/g, " "), unit, lines: [{name, text, colour: BLUE}]}));
}

/** Of the marks of a logarithmic axis some whole powers of ten: five at most. */
function decades(_: uPlot, splits: number[]): (number | null)[] {
    const powers = splits.map((x) => Math.log10(x));
    const every = Math.max(1, Math.ceil((Math.max(...powers) - Math.min(...powers)) / 5));
    return splits.map((x, k) => (Math.abs(powers[k] - Math.round(powers[k])) < 1e-6 && Math.round(powers[k]) % every === 0 ? x : null));
}

function style(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export class Plots {
    readonly element: HTMLElement;
    private readonly body = h("div", {class: "plots"});
    private readonly plots: Plot[];
    private drawn: uPlot[] = [];
    private rows = -1;
    private asking = false;

    constructor(
        private readonly player: Player,
        private readonly settings: Store<Settings>,
        private readonly info: Info,
        private readonly failed: (error: Error) => void,
    ) {
        this.plots = [...seriesPlots(info), ...LEDGER];
        this.element = h("div", {class: "tab"}, this.body);
        settings.on((_, changed) => {
            if (changed.has("tab") || changed.has("panel")) void this.refresh();
            if (changed.has("dark")) void this.refresh(true);
        });
        player.grown.on(() => void this.refresh());
        player.play.on(() => this.mark());
        player.frame.on(() => this.mark());
        new ResizeObserver(() => this.resize()).observe(this.body);
    }

    private shown(): boolean {
        const s = this.settings.get();
        return s.panel && s.tab === "plots";
    }

    /** Ask for figures where there are new ones and somebody looks. */
    async refresh(again = false): Promise<void> {
        const {steps} = this.player.play.get().state;
        if (!this.shown() || this.asking || (steps === this.rows && !again)) return;
        this.asking = true;
        try {
            const names = ["time", ...new Set(this.plots.flatMap((p) => p.lines.map((l) => l.name)))].slice(0, MOST);
            const {column, rows} = await api.ledger(names);
            this.rows = steps;
            if (rows === 0) this.body.replaceChildren(h("p", {class: "quiet"}, "No ledger: there is nothing to plot."));
            else this.draw(new Map(names.map((name, k) => [name, column[k]])));
        } catch (error) {
            this.failed(error as Error);
        } finally {
            this.asking = false;
        }
    }

    private draw(data: Map<string, Float64Array>): void {
        for (const plot of this.drawn) plot.destroy();
        this.drawn = [];
        this.body.replaceChildren();
        for (const plot of this.plots) {
            const lines = plot.lines.filter((l) => data.get(l.name)?.some((x) => isFinite(x) && x !== 0));
            if (lines.length === 0) continue;
            const place = h("figure", {class: "plot"});
            this.body.append(place);
            this.drawn.push(this.make({...plot, lines}, data, place));
        }
    }

    private make(plot: Plot, data: Map<string, Float64Array>, place: HTMLElement): uPlot {
        const axis = {
            stroke: style("--quiet"),
            grid: {stroke: style("--line"), width: 1},
            ticks: {show: false},
            font: "11px system-ui, sans-serif",
        };
        const tolerance = this.info.tolerance;
        const legend = plot.lines.map((l) => {
            const swatch = h("span", {class: "swatch round"});
            swatch.style.background = l.colour;
            return h("span", {class: "plot-key"}, swatch, l.text);
        });
        place.append(h("figcaption", {}, h("strong", {}, plot.unit ? `${plot.title} [${plot.unit}]` : plot.title), ...legend));
        const u = new uPlot(
            {
                width: Math.max(120, this.body.clientWidth),
                height: HEIGHT,
                legend: {show: false},
                cursor: {y: false, drag: {x: false, y: false}, points: {size: 5}},
                scales: {x: {time: false}, y: plot.log ? {distr: 3} : {}},
                axes: [
                    {...axis, size: 24},
                    {...axis, ...(plot.log ? {filter: decades, grid: {...axis.grid, filter: decades}} : {}), size: 50, values: (_, values) => values.map((x) => (x === null ? "" : figure(x, 3)))},
                ],
                series: [
                    {},
                    ...plot.lines.map((l) => ({stroke: l.colour, width: 1.5, points: {show: false}, label: l.text})),
                ],
                hooks: {
                    draw: [(self) => this.overlay(self, plot.log === true ? tolerance : null)],
                },
            },
            [data.get("time")!, ...plot.lines.map((l) => this.clean(data.get(l.name)!, plot.log === true))] as unknown as uPlot.AlignedData,
            place,
        );
        u.over.addEventListener("click", () => {
            const left = u.cursor.left ?? -1;
            if (left >= 0) this.player.seekTime(u.posToVal(left, "x"));
        });
        return u;
    }

    // A logarithm wants positive numbers; a gap is left elsewhere.
    private clean(values: Float64Array, log: boolean): (number | null)[] {
        return Array.from(values, (x) => (isFinite(x) && (!log || x > 0) ? x : null));
    }

    private overlay(u: uPlot, tolerance: number | null): void {
        const {ctx, bbox} = u;
        ctx.save();
        ctx.lineWidth = devicePixelRatio;
        if (tolerance) {
            const y = u.valToPos(tolerance, "y", true);
            if (y > bbox.top && y < bbox.top + bbox.height) {
                ctx.strokeStyle = style("--quiet");
                ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
                ctx.beginPath();
                ctx.moveTo(bbox.left, y);
                ctx.lineTo(bbox.left + bbox.width, y);
                ctx.stroke();
                ctx.setLineDash([]);
            }
        }
        const {following, state, time} = this.player.play.get();
        const shown = following && state.live ? (this.player.current?.time ?? time) : time;
        const x = u.valToPos(shown, "x", true);
        if (x >= bbox.left && x <= bbox.left + bbox.width) {
            ctx.strokeStyle = style("--accent");
            ctx.beginPath();
            ctx.moveTo(x, bbox.top);
            ctx.lineTo(x, bbox.top + bbox.height);
            ctx.stroke();
        }
        ctx.restore();
    }

    private mark(): void {
        if (this.shown()) for (const u of this.drawn) u.redraw(false, false);
    }

    private resize(): void {
        const width = Math.max(120, this.body.clientWidth);
        for (const u of this.drawn) if (u.width !== width) u.setSize({width, height: HEIGHT});
    }
}
