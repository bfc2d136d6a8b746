// SPDX-License-Identifier: Apache-2.0
// What no single key can tell: names that must exist, keys that need or exclude each other.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include "talus/observe.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- materials ----

const char *tl_scene_material_at(const void *user, int32_t k) {
    const talus_scene *s = user;
    return k < s->material_count ? s->material_name[k] : NULL;
}

int32_t tl_scene_find_material(const talus_scene *s, const char *name) {
    for (int32_t k = 0; k < s->material_count; k++)
        if (strcmp(s->material_name[k], name) == 0) return k;
    return -1;
}

static talus_status check_materials(talus_scene *s) {
    const tl_items *items = &s->keys.materials;
    tl_scene_material *given = items->data;
    s->material_count = 1;
    TL_TRY(tl_arena_take(&s->arena, items->count + 1, sizeof *s->material_name, &s->material_name));
    TL_TRY(TL_TAKE(&s->arena, items->count + 1, &s->material));
    s->material_name[0] = "default";
    s->material[0] = talus_material_default();
    for (int32_t k = 0; k < items->count; k++) {
        const char *name = given[k].node->key;
        const int32_t at = strcmp(name, "default") == 0 ? 0 : s->material_count++;
        s->material_name[at] = name;
        s->material[at] = given[k].def;
        if (!tl_node_find(given[k].node, "contact_damping")) s->material[at].damping = -1.0;
    }
    return TALUS_OK;
}

// The figures of a pair that are not given are geometric means.
static talus_status check_pair(const talus_scene *s, tl_scene_pair *pair, int32_t index) {
    const tl_node *between = tl_node_find(pair->node, "between");
    int32_t side[2] = {0, 0};
    if (pair->between.count != 2) {
        return tl_node_fail(&s->doc, between, "must name 2 materials, not %d",
                            (int)pair->between.count);
    }
    for (int k = 0; k < 2; k++) {
        const tl_node *node = k == 0 ? between->first : between->last;
        side[k] = tl_scene_find_material(s, pair->between.text[k]);
        if (side[k] < 0) {
            return tl_scene_fail_name(&s->doc, node, pair->between.text[k], "a material",
                                      tl_scene_material_at, s);
        }
    }
    const tl_scene_pair *others = s->keys.pairs.data;
    for (int32_t k = 0; k < index; k++) {
        const int32_t a = tl_scene_find_material(s, others[k].between.text[0]);
        const int32_t b = tl_scene_find_material(s, others[k].between.text[1]);
        if ((a == side[0] && b == side[1]) || (a == side[1] && b == side[0])) {
            return tl_node_fail(&s->doc, between, "the same two as in line %d",
                                (int)others[k].node->line);
        }
    }
    const talus_material_def *a = &s->material[side[0]], *b = &s->material[side[1]];
    const struct {
        const char *key;
        double *value, x, y;
    } mean[] = {
        {"friction", &pair->def.friction, a->friction, b->friction},
        {"restitution", &pair->def.restitution, a->restitution, b->restitution},
        {"restitution_t", &pair->def.restitution_t, a->restitution_t, b->restitution_t},
        {"stiffness", &pair->def.stiffness, a->stiffness, b->stiffness},
        {"young", &pair->def.young, a->young, b->young},
        {"poisson", &pair->def.poisson, a->poisson, b->poisson},
        {"tangential", &pair->def.tangential, a->tangential, b->tangential},
    };
    for (size_t k = 0; k < sizeof mean / sizeof *mean; k++)
        if (!tl_node_find(pair->node, mean[k].key)) *mean[k].value = sqrt(mean[k].x * mean[k].y);
    if (!tl_node_find(pair->node, "contact_damping")) pair->def.damping = -1.0;
    return TALUS_OK;
}

// ---- solver ----

static const char *check_solver_name(const void *user, int32_t k) {
    const char *name, *summary;
    (void)user;
    return talus_solver_at(k, &name, &summary) ? name : NULL;
}

// The option keys of the solver named by `user`.
static const char *check_option_name(const void *user, int32_t k) {
    talus_option_info info;
    return talus_solver_option_at(user, k, &info) ? info.key : NULL;
}

static talus_status check_options(const talus_scene *s, const tl_node *options,
                                  talus_solver *solver) {
    static const char *const own[] = {"tolerance", "iterations", "time_limit", "threads"};
    for (const tl_node *n = options->first; n; n = n->next) {
        const char *name = s->keys.solver.name;
        int32_t k = 0;
        while (check_option_name(name, k) && strcmp(check_option_name(name, k), n->key) != 0) k++;
        if (!check_option_name(name, k)) {
            char what[80];
            (void)snprintf(what, sizeof what, "an option of '%.40s'", name);
            return tl_scene_fail_name(&s->doc, n, n->key, what, check_option_name, name);
        }
        for (size_t j = 0; j < sizeof own / sizeof *own; j++)
            if (strcmp(own[j], n->key) == 0) {
                return tl_node_fail(&s->doc, n, "is a key of 'solver' itself");
            }
        if (n->kind != TL_NODE_SCALAR) return tl_node_fail(&s->doc, n, "must be one value");
        if (talus_solver_set(solver, n->key, n->text) != TALUS_OK) {
            char reason[600];
            (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
            return tl_node_fail(&s->doc, n, "%s", reason);
        }
    }
    return TALUS_OK;
}

static talus_status check_solver(talus_scene *s) {
    const tl_node *options = s->keys.solver.options,
                  *at = tl_node_find(s->keys.solver.node, "name");
    const char *name = s->keys.solver.name;
    int32_t k = 0;
    while (check_solver_name(NULL, k) && strcmp(check_solver_name(NULL, k), name) != 0) k++;
    if (!check_solver_name(NULL, k)) {
        return tl_scene_fail_name(&s->doc, at, name, "a solver", check_solver_name, NULL);
    }
    if (!options || tl_node_is_empty(options)) return TALUS_OK;
    if (options->kind != TL_NODE_MAP) {
        return tl_node_fail(&s->doc, options, "must be a map of options ('key: value')");
    }
    talus_solver *solver = NULL;
    TL_TRY(talus_solver_create(s->ctx, name, &solver));
    const talus_status status = check_options(s, options, solver);
    talus_solver_destroy(solver);
    return status;
}

// ---- motions ----

static talus_status check_axis(const talus_scene *s, const tl_node *map, double axis[3]) {
    const tl_node *node = tl_node_find(map, "axis");
    if (!node) {
        axis[0] = axis[1] = 0.0, axis[2] = 1.0;
        return TALUS_OK;
    }
    if (s->dim == 2) return tl_node_fail(&s->doc, node, "in 2D the axis is always z; leave it out");
    const double n = tl_norm3(axis);
    if (!(n > 0.0) || !isfinite(n)) return tl_node_fail(&s->doc, node, "must not be zero");
    tl_scale3(1.0 / n, axis, axis);
    return TALUS_OK;
}

talus_status tl_scene_rotation(const talus_scene *s, tl_rotate_keys *rotate, double q[4]) {
    double turn[3];
    q[0] = 1.0, q[1] = q[2] = q[3] = 0.0;
    if (!rotate->node) return TALUS_OK;
    TL_TRY(check_axis(s, rotate->node, rotate->axis));
    tl_scale3(rotate->angle, rotate->axis, turn);
    tl_quat_exp(turn, q);
    tl_quat_normalise(q);
    return TALUS_OK;
}

static talus_status check_keyframes(talus_scene *s, const tl_motion_keys *keys,
                                    talus_motion_def *out) {
    tl_keyframe_keys *frame = keys->keyframes.data;
    talus_keyframe *copy = NULL;
    if (keys->keyframes.count == 0) {
        return tl_node_fail(&s->doc, tl_node_find(keys->node, "keyframes"), "has no entries");
    }
    TL_TRY(TL_TAKE(&s->arena, keys->keyframes.count, &copy));
    for (int32_t k = 0; k < keys->keyframes.count; k++) {
        if (k > 0 && !(frame[k].time > frame[k - 1].time)) {
            return tl_node_fail(&s->doc, frame[k].node, "time %g s is not after the %g s before it",
                                frame[k].time, frame[k - 1].time);
        }
        copy[k].time = frame[k].time;
        tl_copy3(frame[k].at, copy[k].position);
        TL_TRY(tl_scene_rotation(s, &frame[k].rotate, copy[k].orientation));
    }
    out->keyframe = copy;
    out->keyframe_count = keys->keyframes.count;
    return TALUS_OK;
}

static talus_status check_motion(talus_scene *s, tl_source *source) {
    static const talus_motion_kind kind[] = {TALUS_MOTION_VELOCITY, TALUS_MOTION_OSCILLATION,
                                             TALUS_MOTION_ROTATION, TALUS_MOTION_KEYFRAMES};
    tl_motion_keys keys = source->body->motion;
    talus_motion_def *out = &source->motion;
    out->kind = kind[keys.kind];
    TL_TRY(check_axis(s, keys.node, keys.axis));
    for (int k = 0; k < 3; k++) {
        out->velocity[k] = keys.velocity[k];
        out->amplitude[k] = keys.amplitude[k];
        out->axis[k] = keys.axis[k];
        out->pivot[k] = keys.pivot[k];
    }
    out->angle = keys.angle;
    out->frequency = keys.frequency;
    out->phase = keys.phase;
    out->rate = keys.spin;
    out->start = keys.start;
    out->stop = keys.stop;
    const tl_node *stop = tl_node_find(keys.node, "stop");
    if (stop && !(keys.stop > keys.start)) {
        return tl_node_fail(&s->doc, stop, "%g s is not after start = %g s", keys.stop, keys.start);
    }
    if (out->kind == TALUS_MOTION_KEYFRAMES && source->grains) {
        return tl_node_fail(&s->doc, keys.node,
                            "keyframes would put all grains in one place; they are for single "
                            "bodies");
    }
    if (out->kind == TALUS_MOTION_KEYFRAMES) TL_TRY(check_keyframes(s, &keys, out));
    return TALUS_OK;
}

// A mesh that is to move freely encloses what it has the mass of.
static talus_status check_enclosed(const talus_scene *s, const tl_node *fixed,
                                   const talus_shape_def *shape) {
    talus_mass mass;
    TL_TRY(talus_shape_mass(s->ctx, s->dim, shape, 1.0, &mass));
    if (mass.mass > 0.0 && isfinite(mass.mass)) return TALUS_OK;
    return tl_node_fail(&s->doc, fixed,
                        "this mesh is open or inside out: what moves freely must enclose a solid; "
                        "mend it, fix it or give it a motion");
}

// Free, fixed, or moved as given.
static talus_status check_mobility(talus_scene *s, tl_source *source) {
    static const char *const free_only[] = {"velocity", "spin",    "force",  "torque",
                                            "inertia",  "damping", "locked", "spin_damping"};
    const tl_node *fixed = tl_node_find(source->node, "fixed"), *node = source->node;
    const bool mesh = source->shape.kind == TALUS_SHAPE_MESH;
    const bool unbounded = isinf(source->extent) || mesh;
    const bool still = fixed ? source->body->fixed : unbounded;
    source->motion = (talus_motion_def){.kind = TALUS_MOTION_FREE};
    if (source->body->motion.node) {
        if (fixed && still) {
            return tl_node_fail(&s->doc, fixed, "a body with a motion cannot be fixed");
        }
        TL_TRY(check_motion(s, source));
    } else if (still) {
        source->motion.kind = TALUS_MOTION_FIXED;
    } else if (mesh) {
        TL_TRY(check_enclosed(s, fixed, &source->shape));
    } else if (unbounded) {
        return tl_node_fail(&s->doc, fixed, "a %s has no end and cannot move freely; give a motion",
                            talus_shape_text(source->shape.kind));
    }
    for (size_t k = 0; k < sizeof free_only / sizeof *free_only; k++) {
        const tl_node *at = tl_node_find(node, free_only[k]);
        if (at && !tl_source_is_free(source)) {
            return tl_node_fail_key(&s->doc, at, "'%s' is for bodies that move freely; this one %s",
                                    free_only[k],
                                    source->body->motion.node ? "has a motion" : "is fixed");
        }
    }
    return TALUS_OK;
}

// ---- all ----

static talus_status check_source(talus_scene *s, tl_source *source) {
    tl_body_keys *body = (tl_body_keys *)source->body;
    source->material = tl_scene_find_material(s, body->material);
    if (source->material < 0) {
        return tl_scene_fail_name(&s->doc, tl_node_find(source->node, "material"), body->material,
                                  "a material", tl_scene_material_at, s);
    }
    TL_TRY(tl_scene_rotation(s, &body->rotate, source->orientation));
    TL_TRY(tl_spread_check(&s->doc, &body->mass));
    if (source->single && body->mass.law != TL_LAW_CONSTANT) {
        return tl_node_fail(&s->doc, body->mass.node, "a distribution is for grains");
    }
    return check_mobility(s, source);
}

static talus_status check_sources(talus_scene *s) {
    tl_scene_body *bodies = s->keys.bodies.data;
    tl_scene_grains *grains = s->keys.grains.data;
    s->single_count = s->keys.bodies.count;
    s->source_count = s->single_count + s->keys.grains.count;
    TL_TRY(TL_TAKE(&s->arena, s->source_count, &s->source));
    for (int32_t k = 0; k < s->single_count; k++)
        s->source[k] = (tl_source){.node = bodies[k].node,
                                   .name = bodies[k].name,
                                   .single = &bodies[k],
                                   .body = &bodies[k].body};
    for (int32_t k = 0; k < s->keys.grains.count; k++)
        s->source[s->single_count + k] = (tl_source){.node = grains[k].node,
                                                     .name = grains[k].name,
                                                     .grains = &grains[k],
                                                     .body = &grains[k].body};
    TL_TRY(tl_scene_check_shapes(s));
    for (int32_t k = 0; k < s->source_count; k++) TL_TRY(check_source(s, &s->source[k]));
    return TALUS_OK;
}

// Names of observables, as the observer itself finds them.
static talus_status check_observe(talus_scene *s) {
    const tl_names *names = &s->keys.output.observe;
    const tl_node *node = tl_node_find(s->keys.output.node, "observe");
    talus_observer *observer = NULL;
    if (!node) return TALUS_OK;
    if (!s->keys.output.ledger)
        return tl_node_fail(&s->doc, node, "goes with the ledger only; 'ledger' is no");
    const talus_status status =
        talus_observer_create(s->ctx, s->dim, names->text, names->count, NULL, &observer);
    talus_observer_destroy(observer);
    if (status != TALUS_ERR_UNKNOWN) return status;
    char reason[200];
    (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
    return tl_node_fail(&s->doc, node, "%s", reason);
}

// Are residuals relative to the pressure under sand? Without gravity there is none.
static bool check_measures_stress(const tl_scene_keys *keys) {
    const bool none = tl_node_find(keys->sand.node, "height") && keys->sand.height == 0.0;
    return keys->sand.node && !none && tl_norm3(keys->gravity) > 0.0;
}

talus_status tl_scene_check(talus_scene *s) {
    tl_scene_keys *keys = &s->keys;
    tl_scene_pair *pair = keys->pairs.data;
    if (!tl_node_find(s->doc.root, "gravity")) keys->gravity[s->dim - 1] = -9.81;
    if (!tl_node_find(keys->output.node, "every")) keys->output.every = keys->run.until / 100.0;
    if (keys->sand.node && !tl_node_find(keys->solver.node, "name")) keys->solver.name = "nlgs";
    if (check_measures_stress(keys) && !tl_node_find(keys->solver.node, "tolerance"))
        keys->solver.tolerance = TL_SAND_TOLERANCE;
    TL_TRY(check_solver(s));
    TL_TRY(check_observe(s));
    TL_TRY(check_materials(s));
    for (int32_t k = 0; k < keys->pairs.count; k++) TL_TRY(check_pair(s, &pair[k], k));
    TL_TRY(check_sources(s));
    if (s->source_count == 0 && !keys->start.node && !keys->sand.node && keys->rods.count == 0) {
        return tl_node_fail(&s->doc, s->doc.root,
                            "the scene has neither 'bodies' nor 'grains' nor 'sand' nor 'rods'");
    }
    TL_TRY(tl_scene_check_sand(s));
    return tl_scene_check_joints(s);
}

void tl_source_show(const tl_source *source, char out[120]) {
    if (source->taken) {
        (void)snprintf(out, 120, "'%.40s' of %.70s", source->name, source->taken);
        return;
    }
    (void)snprintf(out, 120, "%s.%d%s%.60s%s", source->grains ? "grains" : "bodies",
                   (int)source->node->index, source->name[0] ? " '" : "", source->name,
                   source->name[0] ? "'" : "");
}
