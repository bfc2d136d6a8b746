// SPDX-License-Identifier: Apache-2.0
// What lies under a point of the picture: a body, a rod or a contact. Computed, not read back from the picture.
import {OrthographicCamera, Ray, Raycaster, Vector2, Vector3} from "three";
import type {Model} from "../model";
import {unrotate} from "../model";
import type {Frame} from "../wire";
import type {Stage} from "./stage";

export type Picked = {kind: "body"; index: number} | {kind: "contact"; index: number} | {kind: "rod"; index: number; node: number};

interface Choice {
    bodies: Int32Array[];
    contacts: boolean; // dots are shown
    chains: boolean; // tubes are shown
    scale: number; // of grains
}

const NEAR = 3; // pixels by which a thin rod may be missed

// Distances along a ray at which it enters and leaves a ball; null: it passes.
function throughBall(ray: Ray, centre: Vector3, radius: number): [number, number] | null {
    const b = centre.clone().sub(ray.origin).dot(ray.direction);
    const off = ray.at(b, new Vector3()).distanceToSquared(centre);
    const h = radius * radius - off;
    return h < 0 ? null : [b - Math.sqrt(h), b + Math.sqrt(h)];
}

export class Picker {
    private readonly caster = new Raycaster();
    constructor(private readonly stage: Stage) {}

    private hidden(point: Vector3): boolean {
        return this.stage.sectionOn && this.stage.section.distanceToPoint(point) > 0;
    }

    // The first distance of an interval that the section leaves; where the plane cuts it, the cut.
    private visible(ray: Ray, [from, to]: [number, number]): number | null {
        if (!this.hidden(ray.at(from, new Vector3()))) return from;
        const at = ray.distanceToPlane(this.stage.section);
        return at !== null && at > from && at < to ? at : null;
    }

    private ball(ray: Ray, model: Model, frame: Frame, i: number, scale: number): number | null {
        const centre = new Vector3().fromArray(frame.position, 3 * i);
        const through = throughBall(ray, centre, model.size(i) * scale);
        return through && this.visible(ray, through);
    }

    private solid(ray: Ray, model: Model, frame: Frame, i: number, scale: number): number | null {
        const surface = model.surface(i);
        const x = new Vector3().fromArray(frame.position, 3 * i);
        if (!surface || !throughBall(ray, x, model.bound(i) * scale)) return null;
        const q = frame.turn.subarray(4 * i, 4 * i + 4);
        const o = ray.origin.clone().sub(x).divideScalar(scale);
        const local = new Ray(new Vector3(...unrotate(q, o.toArray())), new Vector3(...unrotate(q, ray.direction.toArray())));
        const [a, b, c, hit] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
        let best: number | null = null;
        for (let t = 0; t < surface.corner.length; t += 3) {
            a.fromArray(surface.point, 3 * surface.corner[t]);
            b.fromArray(surface.point, 3 * surface.corner[t + 1]);
            c.fromArray(surface.point, 3 * surface.corner[t + 2]);
            if (!local.intersectTriangle(a, b, c, false, hit)) continue;
            const distance = hit.distanceTo(local.origin) * scale;
            if (this.hidden(ray.at(distance, new Vector3()))) continue;
            if (best === null || distance < best) best = distance;
        }
        return best;
    }

    // Is a point of the plane inside a 2D outline? Counted by the sides it sees to its right.
    private inside(point: Vector3, model: Model, frame: Frame, i: number, scale: number): boolean {
        const surface = model.surface(i);
        const x = new Vector3().fromArray(frame.position, 3 * i);
        if (!surface || Math.hypot(point.x - x.x, point.y - x.y) > model.bound(i) * scale) return false;
        const [px, py] = unrotate(frame.turn.subarray(4 * i, 4 * i + 4), point.clone().setZ(0).sub(x).divideScalar(scale).toArray());
        let odd = false;
        for (let e = 0; e < surface.corner.length; e += 2) {
            const [a, b] = [3 * surface.corner[e], 3 * surface.corner[e + 1]];
            const [ax, ay, bx, by] = [surface.point[a], surface.point[a + 1], surface.point[b], surface.point[b + 1]];
            if (ay > py !== by > py && px < ax + ((py - ay) / (by - ay)) * (bx - ax)) odd = !odd;
        }
        return odd;
    }

    private flat(ray: Ray, model: Model, frame: Frame, bodies: Int32Array[], scale: number): number {
        const point = new Vector3(ray.origin.x, ray.origin.y, 0);
        if (this.hidden(point)) return -1;
        for (const list of bodies) {
            for (const i of list) {
                if (i >= frame.count) continue;
                const radius = model.bodies.radius[model.bodies.shape[i]] * scale;
                const away = Math.hypot(point.x - frame.position[3 * i], point.y - frame.position[3 * i + 1]);
                if (radius > 0 ? away <= radius : this.inside(point, model, frame, i, scale)) return i;
            }
        }
        return -1;
    }

    // The nearest contact whose dot or tube is under the ray.
    private contact(ray: Ray, model: Model, frame: Frame, choice: Choice): {index: number; distance: number} | null {
        const c = frame.contacts;
        if (!c || !(choice.contacts || choice.chains)) return null;
        let best: {index: number; distance: number} | null = null;
        const reach = 0.3 * model.meanRadius;
        const [p, from] = [new Vector3(), new Vector3()];
        const flat = model.dim === 2;
        for (let k = 0; k < c.count; k++) {
            p.fromArray(c.point, 3 * k);
            if (this.hidden(p)) continue;
            let near = choice.contacts && ray.distanceSqToPoint(p) < reach * reach;
            if (!near && choice.chains) {
                for (const body of [c.a[k], c.b[k]]) {
                    if (!model.isFree(body)) continue;
                    for (let e = 0; e < 3; e++) {
                        const d = c.point[3 * k + e] - frame.position[3 * body + e];
                        from.setComponent(e, c.point[3 * k + e] - model.nearest(d, e));
                    }
                    near ||= ray.distanceSqToSegment(from, p) < (0.5 * reach) ** 2;
                }
            }
            if (!near) continue;
            const distance = flat ? Math.sqrt(ray.distanceSqToPoint(p)) : p.clone().sub(ray.origin).dot(ray.direction);
            if (!best || distance < best.distance) best = {index: k, distance};
        }
        return best;
    }

    // The nearest segment of a rod under the ray; thin ones may be missed by some pixels.
    private rod(ray: Ray, frame: Frame, scale: number): {rod: number; node: number; distance: number} | null {
        const {rods} = frame;
        const slope = (2 * NEAR) / (this.stage.camera.projectionMatrix.elements[5] * 2 * this.stage.shared.pixels.value);
        const [a, b, at] = [new Vector3(), new Vector3(), new Vector3()];
        let best: {rod: number; node: number; distance: number} | null = null;
        let least = Infinity;
        for (let i = 0; i < rods.count; i++) {
            for (let k = rods.start[i]; k + 1 < rods.start[i + 1]; k++) {
                a.fromArray(rods.position, 3 * k);
                b.fromArray(rods.position, 3 * k + 3);
                const away = Math.sqrt(ray.distanceSqToSegment(a, b, at));
                const distance = at.distanceTo(ray.origin);
                const miss = away - rods.radius[i] * scale;
                if (miss > slope * distance || this.hidden(at)) continue;
                // One that is hit is before all that are only near.
                const cost = distance + (miss > 0 ? 1e3 * miss + 1e6 : 0);
                if (cost < least) [best, least] = [{rod: i, node: k, distance}, cost];
            }
        }
        return best;
    }

    /** `place` from -1 to 1 in both directions. */
    pick(place: Vector2, model: Model, frame: Frame, choice: Choice): Picked | null {
        this.caster.setFromCamera(place, this.stage.camera);
        const ray = this.caster.ray;
        const contact = this.contact(ray, model, frame, choice);
        if (this.stage.camera instanceof OrthographicCamera) {
            if (contact) return {kind: "contact", index: contact.index};
            const index = this.flat(ray, model, frame, choice.bodies, choice.scale);
            return index < 0 ? null : {kind: "body", index};
        }
        let best = -1;
        let nearest = Infinity;
        for (const list of choice.bodies) {
            for (const i of list) {
                if (i >= frame.count) continue;
                const isBall = model.bodies.radius[model.bodies.shape[i]] > 0;
                const scale = model.isFree(i) ? choice.scale : 1;
                const t = isBall ? this.ball(ray, model, frame, i, scale) : this.solid(ray, model, frame, i, scale);
                if (t !== null && t > 0 && t < nearest) [best, nearest] = [i, t];
            }
        }
        const rod = this.rod(ray, frame, choice.scale);
        if (rod && rod.distance < nearest) nearest = rod.distance;
        // A dot lies within the gap of two bodies and is drawn over them.
        if (contact && contact.distance < nearest + model.meanRadius) return {kind: "contact", index: contact.index};
        if (rod && rod.distance <= nearest) return {kind: "rod", index: rod.rod, node: rod.node};
        return best < 0 ? null : {kind: "body", index: best};
    }
}
