// SPDX-License-Identifier: Apache-2.0
// Free bodies that are no balls, in one call for all shapes.
import {BatchedMesh, Color, DoubleSide, Matrix4, MeshBasicMaterial, MeshLambertMaterial, Quaternion, Vector3} from "three";
import type {Colouring} from "../colour_by";
import {colourOf} from "../colour_of";
import type {Model} from "../model";
import type {Frame} from "../wire";
import type {Stage} from "./stage";
import {flatGeometry, solidGeometry} from "./surfaces";

export class Solids {
    readonly object: BatchedMesh;
    private readonly instance: Int32Array;
    private selected = -1;
    private scale = 1;

    constructor(
        private readonly stage: Stage,
        private readonly model: Model,
    ) {
        const flat = model.dim === 2;
        const shapes = [...new Set(Array.from(model.solids, (i) => model.bodies.shape[i]))].filter((k) => model.surfaces.has(k));
        const geometries = shapes.map((k) => (flat ? flatGeometry : solidGeometry)(model.surfaces.get(k)!));
        const count = (name: "position" | "index"): number =>
            geometries.reduce((sum, g) => sum + (name === "index" ? g.getIndex()!.count : g.getAttribute("position").count), 0);
        const material = flat
            ? new MeshBasicMaterial({side: DoubleSide})
            : new MeshLambertMaterial({side: DoubleSide});
        material.clippingPlanes = stage.clipping;
        // Behind a section the inside is seen; lit as the cut itself would be, it looks like it.
        material.onBeforeCompile = (shader) => {
            shader.uniforms.plane = stage.shared.plane;
            shader.fragmentShader = `uniform vec4 plane;\n${shader.fragmentShader}`.replace(
                "#include <normal_fragment_maps>",
                "#include <normal_fragment_maps>\nif (!gl_FrontFacing && plane.xyz != vec3(0.0)) normal = plane.xyz;",
            );
        };
        this.object = new BatchedMesh(Math.max(1, model.solids.length), count("position"), count("index"), material);
        this.object.sortObjects = false;
        this.object.perObjectFrustumCulled = false;
        this.object.frustumCulled = false;
        const ids = new Map(shapes.map((shape, k) => [shape, this.object.addGeometry(geometries[k])]));
        this.instance = Int32Array.from(model.solids, (i) => {
            const id = ids.get(model.bodies.shape[i]);
            return id === undefined ? -1 : this.object.addInstance(id);
        });
    }

    setScale(scale: number): void {
        this.scale = scale;
    }

    select(body: number): void {
        this.selected = body;
    }

    update(frame: Frame, colouring: Colouring): void {
        const matrix = new Matrix4();
        const turn = new Quaternion();
        const place = new Vector3();
        const size = new Vector3(this.scale, this.scale, this.scale);
        const colour = new Color();
        const {position: x, turn: q} = frame;
        this.model.solids.forEach((i, k) => {
            const id = this.instance[k];
            if (id < 0) return;
            this.object.setVisibleAt(id, i < frame.count);
            if (i >= frame.count) return;
            turn.set(q[4 * i + 1], q[4 * i + 2], q[4 * i + 3], q[4 * i]);
            place.set(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
            this.object.setMatrixAt(id, matrix.compose(place, turn, size));
            colourOf(colouring, i, colour).lerp(this.stage.shared.background.value, this.stage.shared.fade.value);
            this.object.setColorAt(id, i === this.selected ? this.stage.shared.accent.value : colour);
        });
    }

    dispose(): void {
        this.object.dispose();
    }
}
