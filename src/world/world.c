// SPDX-License-Identifier: Apache-2.0
// The world: made, filled with shapes, materials and bodies, and looked at.
#include "base/vec3.h"
#include "world/world_impl.h"
#include <stdio.h>
#include <string.h>

const char *talus_scheme_text(talus_scheme scheme) {
    static const char *const text[] = {
#define WORLD_SCHEME_TEXT(name, words, what) [name] = words,
        TALUS_SCHEME_LIST(WORLD_SCHEME_TEXT)
#undef WORLD_SCHEME_TEXT
    };
    const size_t index = (size_t)scheme;
    return index < sizeof text / sizeof *text ? text[index] : "unknown scheme";
}

talus_body_def talus_body_default(void) {
    return (talus_body_def){.orientation = {1.0}, .density = 2600.0};
}

talus_world_def talus_world_default(void) {
    return (talus_world_def){.dim = 3,
                             .gravity = {0.0, 0.0, -9.81},
                             .scheme = TALUS_SCHEME_FIXED_POINT,
                             .step = 1e-3,
                             .theta = 0.5,
                             .solver = "auto",
                             .tolerance = 1e-6,
                             .iterations = 100000,
                             .time_limit = 60.0,
                             .warm_start = true,
                             .threads = 1};
}

// ---- creation ----------------------------------------------------------------------------------

static talus_status world_check(talus_context *ctx, const talus_world_def *def) {
    TL_REQUIRE(ctx, def->dim == 2 || def->dim == 3, TALUS_ERR_ARG, "world: dim = %d is not 2 or 3",
               (int)def->dim);
    TL_REQUIRE(ctx, (int)def->scheme >= 0 && def->scheme <= TALUS_SCHEME_PENALTY, TALUS_ERR_ARG,
               "world: there is no scheme %d", (int)def->scheme);
    TL_REQUIRE(ctx, def->solver, TALUS_ERR_ARG, "world: no solver is named");
    TL_REQUIRE(ctx, !def->continuous || def->scheme != TALUS_SCHEME_PENALTY, TALUS_ERR_ARG,
               "world: continuous is not for the penalty scheme, whose steps must be short enough "
               "to see a contact come and go; use max_move");
    for (int k = 0; k < 3; k++) {
        TL_REQUIRE(ctx, isfinite(def->gravity[k]), TALUS_ERR_ARG,
                   "world: gravity[%d] = %g is not finite", k, def->gravity[k]);
        TL_REQUIRE(ctx, def->period[k] >= 0.0 && isfinite(def->period[k]), TALUS_ERR_ARG,
                   "world: period[%d] = %g is not in [0, inf)", k, def->period[k]);
    }
    TL_REQUIRE(ctx, def->dim == 3 || (def->gravity[2] == 0.0 && def->period[2] == 0.0),
               TALUS_ERR_ARG, "world: in 2D gravity and period have z = 0");
    const struct {
        const char *name;
        double value, low, high;
    } all[] = {{"step", def->step, nextafter(0.0, 1.0), 1e300},
               {"max_move", def->max_move, 0.0, 1e300},
               {"theta", def->theta, 0.5, 1.0},
               {"reach", def->reach, 0.0, 1e300},
               {"tolerance", def->tolerance, nextafter(0.0, 1.0), 1e300},
               {"iterations", def->iterations, 1.0, INT32_MAX},
               {"time_limit", def->time_limit, nextafter(0.0, 1.0), INFINITY},
               {"threads", def->threads, 1.0, 256.0}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TL_REQUIRE(ctx, all[k].value >= all[k].low && all[k].value <= all[k].high, TALUS_ERR_ARG,
                   "world: %s = %g is not in [%.3g, %.3g]", all[k].name, all[k].value, all[k].low,
                   all[k].high);
    return TALUS_OK;
}

static talus_status world_make_solver(talus_world *w) {
    char text[64];
    TL_TRY(talus_solver_create(w->ctx, w->solver_name, &w->solver));
    TL_TRY(talus_solver_set(w->solver, "stop", "residual"));
    // a little below, so that rounding does not make the certificate miss what the solver reached
    (void)snprintf(text, sizeof text, "%.17g", 0.99 * w->def.tolerance);
    TL_TRY(talus_solver_set(w->solver, "tolerance", text));
    (void)snprintf(text, sizeof text, "%d", (int)w->def.iterations);
    TL_TRY(talus_solver_set(w->solver, "iterations", text));
    (void)snprintf(text, sizeof text, "%.17g", w->def.time_limit);
    TL_TRY(talus_solver_set(w->solver, "time_limit", text));
    (void)snprintf(text, sizeof text, "%d", (int)w->def.threads);
    return talus_solver_set(w->solver, "threads", text);
}

talus_status talus_world_create(talus_context *ctx, const talus_world_def *def, talus_world **out) {
    *out = NULL;
    TL_TRY(world_check(ctx, def));
    talus_status status = TALUS_OK;
    talus_world *w;
    TL_TRY(TL_ALLOC(ctx, 1, &w));
    w->ctx = ctx;
    w->def = *def;
    w->smallest = INFINITY;
    TL_GOTO(tl_copy(ctx, def->solver, (int64_t)strlen(def->solver) + 1, 1, &w->solver_name));
    w->def.solver = w->solver_name;
    TL_GOTO(world_make_solver(w));
    TL_GOTO(tl_collide_create(ctx, def->dim, def->period, &w->collide));
    TL_GOTO(tl_rigid_create(ctx, def->dim, &w->rigid));
    w->model[w->model_count++] = &w->rigid->base;
    if (def->scheme == TALUS_SCHEME_PENALTY) {
        const tl_springs_def springs = {def->penalty, def->chi, def->integrator};
        TL_GOTO(tl_springs_create(ctx, &springs, &w->springs));
    }
    const talus_material_def material = talus_material_default();
    TL_GOTO(tl_materials_add(ctx, &w->materials, &material));
    *out = w;
    return TALUS_OK;
done:
    talus_world_destroy(w);
    return status;
}

void talus_world_destroy(talus_world *w) {
    if (!w) return;
    talus_context *ctx = w->ctx;
    for (int k = 0; k < w->model_count; k++) w->model[k]->ops->destroy(w->model[k]);
    talus_solver_destroy(w->solver);
    talus_problem_destroy(w->problem);
    tl_collide_destroy(w->collide);
    tl_materials_clear(ctx, &w->materials);
    tl_contacts_clear(ctx, &w->contacts);
    tl_contacts_clear(ctx, &w->next);
    tl_joints_clear(ctx, &w->joints);
    tl_stage_clear(ctx, &w->stage);
    tl_part_clear(ctx, &w->part);
    tl_springs_destroy(w->springs);
    tl_free(ctx, w->curvature);
    tl_free(ctx, w->given_motion);
    tl_free(ctx, w->solver_name);
    for (int32_t k = 0; k < w->shape_count; k++) {
        if (w->shape[k]) tl_free(ctx, w->shape[k]->mass);
        tl_free(ctx, w->shape[k]);
    }
    tl_free(ctx, w->shape);
    tl_free(ctx, w->item_shape);
    tl_free(ctx, w->item_material);
    tl_free(ctx, w->obstacle);
    tl_free(ctx, w->item_thin);
    tl_free(ctx, w->rod_shape);
    tl_free(ctx, w->rod_touch);
    tl_free(ctx, w->rod_push);
    tl_free(ctx, w);
}

talus_status talus_world_set_solver(talus_world *w, const char *key, const char *value) {
    return talus_solver_set(w->solver, key, value);
}

// ---- contents ----------------------------------------------------------------------------------

// Whether the search keeps the shape with the numbers it was given with.
static bool world_is_kept(const talus_shape_def *given, const talus_shape_def *kept) {
    bool same = given->kind == kept->kind && given->open_top == kept->open_top &&
                given->radius == kept->radius && given->height == kept->height;
    for (int k = 0; k < 3; k++)
        same = same && given->half[k] == kept->half[k] && given->normal[k] == kept->normal[k];
    for (int k = 0; k < 2; k++) same = same && given->exponent[k] == kept->exponent[k];
    return same && given->point_count == kept->point_count &&
           given->triangle_count == kept->triangle_count && given->part_count == kept->part_count;
}

const talus_shape_def *tl_world_shape_def(const talus_world *w, int32_t shape,
                                          talus_shape_def *room) {
    if (w->shape[shape]) return w->shape[shape]->def;
    *room = (talus_shape_def){.kind = TALUS_SHAPE_SPHERE};
    (void)tl_collide_shape(w->collide, shape, &room->radius);
    return room;
}

talus_status talus_world_add_shape(talus_world *w, const talus_shape_def *shape, int32_t *out) {
    int32_t index;
    double radius;
    if (w->shape_count == w->shape_room) {
        const int32_t room = w->shape_room + w->shape_room / 4 + 8;
        TL_TRY(tl_realloc(w->ctx, w->shape_count, room, sizeof *w->shape, &w->shape));
        w->shape_room = room;
    }
    tl_world_shape *to = NULL; // before the search has a shape that cannot be taken back
    TL_TRY(TL_ALLOC(w->ctx, 1, &to));
    const talus_status status = tl_collide_add_shape(w->collide, shape, &index);
    if (status == TALUS_OK) {
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = shape->radius};
        const talus_shape_def *kept = tl_collide_shape(w->collide, index, &radius);
        to->own = *shape;
        to->own.point = kept ? kept->point : NULL;
        to->own.triangle = kept ? kept->triangle : NULL;
        to->own.part = kept ? kept->part : NULL;
        to->def = kept && world_is_kept(shape, kept) ? kept : &to->own;
        to->extent = tl_shape_extent(w->def.dim, shape);
        w->shape[w->shape_count++] = to;
        if (out) *out = index;
        if (kept || !world_is_kept(shape, &ball)) return TALUS_OK;
        w->shape[index] = NULL;
    }
    tl_free(w->ctx, to);
    return status;
}

talus_status talus_world_add_material(talus_world *w, const talus_material_def *material,
                                      int32_t *out) {
    TL_TRY(tl_materials_add(w->ctx, &w->materials, material));
    if (out) *out = w->materials.count - 1;
    return TALUS_OK;
}

talus_status talus_world_set_pair(talus_world *w, int32_t a, int32_t b,
                                  const talus_material_def *pair) {
    return tl_materials_set_pair(w->ctx, &w->materials, a, b, pair);
}

talus_status tl_world_reserve_items(talus_world *w, int32_t count) {
    const int32_t n = w->item_room;
    if (count <= n) return TALUS_OK;
    const int32_t room = count + count / 4 + 16;
    TL_TRY(tl_realloc(w->ctx, n, room, sizeof *w->item_shape, &w->item_shape));
    TL_TRY(tl_realloc(w->ctx, n, room, sizeof *w->item_material, &w->item_material));
    if (w->def.continuous) TL_TRY(tl_realloc(w->ctx, n, room, sizeof *w->item_thin, &w->item_thin));
    w->item_room = room;
    return TALUS_OK;
}

// A mesh that moves freely has the mass of what it encloses.
static talus_status world_check_enclosed(const talus_world *w, const talus_mass *mass) {
    TL_REQUIRE(w->ctx, mass->mass > 0.0 && isfinite(mass->mass), TALUS_ERR_ARG,
               "body: a mesh that moves freely must enclose a solid, each edge having two facets "
               "with the outside on the same side; this one is open or inside out. Mend it, fix it "
               "or give it a motion, or make the body a polyhedron or a clump");
    return TALUS_OK;
}

// Mass of a shape, and its extent from the centre of mass. Of shapes that take more than a formula
// it is worked out once. A mesh that does not move freely is an obstacle, whatever it encloses, and
// keeps the frame it was given in.
static talus_status world_mass(talus_world *w, int32_t shape, bool moves, double density,
                               talus_mass *out, double *extent) {
    tl_world_shape *own = w->shape[shape];
    talus_shape_def ball;
    const talus_shape_def *s = tl_world_shape_def(w, shape, &ball);
    *extent = own ? own->extent : s->radius;
    if (!own || s->kind <= TALUS_SHAPE_CYLINDER)
        return talus_shape_mass(w->ctx, w->def.dim, s, density, out);
    if (s->kind == TALUS_SHAPE_MESH && !moves) {
        *out = (talus_mass){.mass = INFINITY,
                            .inertia = {INFINITY, INFINITY, INFINITY},
                            .axes = {1.0, 0.0, 0.0, 0.0}};
        *extent = tl_shape_extent(w->def.dim, s);
        return TALUS_OK;
    }
    if (!own->mass) {
        talus_mass unit;
        TL_TRY(talus_shape_mass(w->ctx, w->def.dim, s, 1.0, &unit));
        if (s->kind == TALUS_SHAPE_MESH) TL_TRY(world_check_enclosed(w, &unit));
        TL_TRY(TL_COPY(w->ctx, &unit, 1, &own->mass));
        own->extent = tl_shape_extent_from(w->def.dim, s, unit.centre);
    }
    *out = *own->mass;
    *extent = own->extent;
    out->mass *= density;
    for (int k = 0; k < 3; k++) out->inertia[k] *= density;
    return TALUS_OK;
}

talus_status talus_world_add_body(talus_world *w, const talus_body_def *body, int32_t *out) {
    TL_REQUIRE(w->ctx, body->shape >= 0 && body->shape < w->shape_count, TALUS_ERR_ARG,
               "body: there is no shape %d; there are %d", (int)body->shape, (int)w->shape_count);
    TL_REQUIRE(w->ctx, body->material >= 0 && body->material < w->materials.count, TALUS_ERR_ARG,
               "body: there is no material %d; there are %d", (int)body->material,
               (int)w->materials.count);
    talus_shape_def ball;
    const talus_shape_def *shape = tl_world_shape_def(w, body->shape, &ball);
    talus_mass mass;
    tl_pose offset;
    const bool moves = body->motion.kind == TALUS_MOTION_FREE;
    double extent;
    TL_TRY(world_mass(w, body->shape, moves, body->density, &mass, &extent));
    const int32_t index = w->rigid->count;
    TL_TRY(tl_world_reserve_items(w, index + 1));
    tl_rods_make_way(w);
    if (w->def.continuous) {
        talus_mass unit;
        TL_TRY(world_mass(w, body->shape, moves, 1.0, &unit, &extent));
        w->item_thin[index] = tl_sweep_thickness(w->def.dim, &unit, extent);
    }
    TL_TRY(tl_rigid_reserve(w->rigid, body, &mass));
    TL_TRY(tl_rigid_add(w->rigid, body, &mass, extent, shape->kind == TALUS_SHAPE_SPHERE, w->time));
    int32_t item;
    const bool moved = tl_rigid_offset(&mass, &offset);
    const talus_status status =
        tl_collide_add_item_at(w->collide, body->shape, moved ? &offset : NULL, index,
                               tl_rigid_is_immovable(w->rigid, index), &item);
    if (status != TALUS_OK) {
        tl_rigid_drop(w->rigid);
        return status;
    }
    w->item_shape[index] = body->shape;
    w->item_material[index] = body->material;
    w->smallest = fmin(w->smallest, extent);
    if (out) *out = index;
    return TALUS_OK;
}

static talus_status world_check_body(const talus_world *w, int32_t body) {
    TL_REQUIRE(w->ctx, body >= 0 && body < w->rigid->count, TALUS_ERR_ARG,
               "there is no body %d; there are %d", (int)body, (int)w->rigid->count);
    return TALUS_OK;
}

talus_status talus_world_set_force(talus_world *w, int32_t body, const double force[3],
                                   const double torque[3]) {
    TL_TRY(world_check_body(w, body));
    return tl_rigid_set_force(w->rigid, body, force, torque);
}

talus_status talus_world_set_motion(talus_world *w, int32_t body, const talus_motion_def *motion) {
    TL_TRY(world_check_body(w, body));
    talus_shape_def ball;
    TL_REQUIRE(w->ctx,
               motion->kind != TALUS_MOTION_FREE || isfinite(w->rigid->weight[body]) ||
                   tl_world_shape_def(w, w->item_shape[body], &ball)->kind != TALUS_SHAPE_MESH,
               TALUS_ERR_ARG,
               "body %d: a mesh that was added as an obstacle has no mass; to let it go later, add "
               "it as a free body and give it a motion until then",
               (int)body);
    TL_REQUIRE(w->ctx, motion->kind != TALUS_MOTION_FREE || !tl_rods_hold_on(w, body),
               TALUS_ERR_ARG, "body %d: a rod is held by it, so that it cannot move freely",
               (int)body);
    TL_TRY(tl_rigid_set_motion(w->rigid, body, motion, w->time));
    tl_collide_set_immovable(w->collide, body, tl_rigid_is_immovable(w->rigid, body));
    return TALUS_OK;
}

talus_status talus_world_set_step(talus_world *w, double h) {
    TL_REQUIRE(w->ctx, h > 0.0 && isfinite(h), TALUS_ERR_ARG, "step: %g is not positive and finite",
               h);
    w->def.step = h;
    return TALUS_OK;
}

// ---- views -------------------------------------------------------------------------------------

double talus_world_time(const talus_world *w) { return w->time; }

void talus_world_bodies(const talus_world *w, talus_body_view *out) {
    const tl_rigid *m = w->rigid;
    *out = (talus_body_view){.count = m->count,
                             .position = m->offset ? m->shape_x : m->x,
                             .orientation = m->offset ? m->shape_q : m->q,
                             .centre = m->x,
                             .velocity = m->v,
                             .spin = m->spin,
                             .mass = m->mass,
                             .shape = w->item_shape,
                             .material = w->item_material,
                             .motion = m->motion};
}

bool talus_world_shape_at(const talus_world *w, int32_t index, talus_shape_def *out) {
    if (index < 0 || index >= w->shape_count) return false;
    talus_shape_def ball;
    *out = *tl_world_shape_def(w, index, &ball);
    return true;
}

bool talus_world_material_at(const talus_world *w, int32_t index, talus_material_def *out) {
    if (index < 0 || index >= w->materials.count) return false;
    *out = w->materials.own[index];
    return true;
}

bool talus_world_pair_at(const talus_world *w, int32_t a, int32_t b, talus_material_def *out) {
    const int32_t n = w ? w->materials.count : 0;
    if (!out || a < 0 || a >= n || b < 0 || b >= n) return false;
    *out = w->materials.pair[(int64_t)a * n + b];
    return true;
}

talus_world_def talus_world_get_def(const talus_world *w) { return w->def; }

const talus_problem *talus_world_problem(const talus_world *w) { return w->problem; }

static uint64_t world_hash_def(const talus_world *w, uint64_t seed) {
    const talus_world_def *d = &w->def;
    const double number[] = {
        d->dim,          d->gravity[0], d->gravity[1],      d->gravity[2],  (double)d->scheme,
        d->step,         d->max_move,   d->theta,           d->reach,       d->period[0],
        d->period[1],    d->period[2],  (double)d->penalty, (double)d->chi, (double)d->integrator,
        d->tolerance,    d->iterations, d->warm_start,      d->continuous,  w->time,
        (double)w->steps};
    seed = talus_hash(number, sizeof number, seed);
    return talus_hash(w->solver_name, strlen(w->solver_name), seed);
}

static uint64_t world_hash_shape(const talus_world *w, const talus_shape_def *s, uint64_t seed) {
    const double number[] = {s->kind,   s->radius,   s->half[0],   s->half[1],   s->half[2],
                             s->height, s->open_top, s->normal[0], s->normal[1], s->normal[2]};
    seed = talus_hash(number, sizeof number, seed);
    if (s->kind <= TALUS_SHAPE_CYLINDER) return seed;
    seed = talus_hash(s->exponent, sizeof s->exponent, seed);
    if (s->point) seed = talus_hash(s->point, 3 * (size_t)s->point_count * sizeof(double), seed);
    if (s->triangle)
        seed = talus_hash(s->triangle,
                          (size_t)w->def.dim * (size_t)s->triangle_count * sizeof(int32_t), seed);
    for (int32_t k = 0; s->part && k < s->part_count; k++) {
        const talus_part *part = s->part + k;
        seed = talus_hash(part->position, sizeof part->position, seed);
        seed = talus_hash(part->orientation, sizeof part->orientation, seed);
        seed = world_hash_shape(w, part->shape, seed);
    }
    return seed;
}

static uint64_t world_hash_shapes(const talus_world *w, uint64_t seed) {
    for (int32_t k = 0; k < w->shape_count; k++) {
        talus_shape_def ball;
        seed = world_hash_shape(w, tl_world_shape_def(w, k, &ball), seed);
    }
    const size_t n = (size_t)w->materials.count;
    return talus_hash(w->materials.pair, n * n * sizeof *w->materials.pair, seed);
}

uint64_t talus_world_hash(const talus_world *w) {
    const tl_contacts *c = &w->contacts;
    const size_t n = (size_t)c->count, items = (size_t)w->rigid->count;
    uint64_t seed = world_hash_shapes(w, world_hash_def(w, 0));
    for (int k = 0; k < w->model_count; k++) seed = w->model[k]->ops->hash(w->model[k], seed);
    if (w->springs) seed = tl_springs_hash(w->springs, seed);
    seed = talus_hash(w->item_shape, items * sizeof *w->item_shape, seed);
    seed = talus_hash(w->item_material, items * sizeof *w->item_material, seed);
    seed = tl_joints_hash(&w->joints, seed);
    seed = talus_hash(c->a, n * sizeof *c->a, seed);
    seed = talus_hash(c->b, n * sizeof *c->b, seed);
    seed = talus_hash(c->feature, n * sizeof *c->feature, seed);
    return talus_hash(c->impulse, 3 * n * sizeof *c->impulse, seed);
}
