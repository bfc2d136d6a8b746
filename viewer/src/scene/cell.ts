// SPDX-License-Identifier: Apache-2.0
// The periodic cell: its frame, and where its images are.
import {Box3, Box3Helper, Color, LineBasicMaterial, Vector3} from "three";
import type {Box, Model} from "../model";

/** Shifts of the images next to the cell, none where nothing is periodic. */
export function imageShifts(model: Model): Vector3[] {
    const p = model.info.period;
    const along = (k: number): number[] => (p[k] > 0 ? [-p[k], 0, p[k]] : [0]);
    const out: Vector3[] = [];
    for (const x of along(0)) for (const y of along(1)) for (const z of along(2)) if (x || y || z) out.push(new Vector3(x, y, z));
    return out;
}

/** The cell; along axes that are not periodic it is as long as what there is. */
export function cellFrame(model: Model, box: Box): Box3Helper {
    const b = new Box3();
    for (const k of [0, 1, 2] as const) {
        const period = model.info.period[k];
        const middle = (box.low[k] + box.high[k]) / 2;
        b.min.setComponent(k, period > 0 ? middle - period / 2 : box.low[k]);
        b.max.setComponent(k, period > 0 ? middle + period / 2 : box.high[k]);
    }
    const helper = new Box3Helper(b, new Color("#8b929c"));
    (helper.material as LineBasicMaterial).transparent = true;
    (helper.material as LineBasicMaterial).opacity = 0.5;
    return helper;
}
