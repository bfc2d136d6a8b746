// SPDX-License-Identifier: Apache-2.0
// Rods in the world: added, held by bodies, and their segments among the items of the search.
#include "base/vec3.h"
#include "world/world_impl.h"
#include <math.h>
#include <string.h>

// Segments of a rod that are nearer to each other along it than this many radii cannot touch unless
// it is bent more than its own thickness allows: a half circle about its surface.
#define ROD_APART 3.14159265358979323846
// Lengths of segments that differ by less than this part have one shape.
#define ROD_SAME 1e-9
// Contacts of two segments at the node where they meet are one, if they are nearer to each other
// than this part of the radius, and their normals differ by less than the angle of this cosine.
#define ROD_NEAR 0.25
#define ROD_ALIGNED 0.95
// Gaps that are always seen, over the sum of the radii: between segments of one rod, and others.
#define ROD_SELF 0.05
#define ROD_MARGIN 0.25

const char *talus_rod_text(talus_rod_kind kind) {
    static const char *const text[] = {
#define ROD_TEXT(name, words, what) [name] = words,
        TALUS_ROD_LIST(ROD_TEXT)
#undef ROD_TEXT
    };
    const size_t index = (size_t)kind;
    return index < sizeof text / sizeof *text ? text[index] : "unknown rod";
}

talus_rod_def talus_rod_default(void) {
    return (talus_rod_def){.kind = TALUS_ROD_DISCRETE,
                           .radius = 1e-3,
                           .density = 1000.0,
                           .young = 1e7,
                           .start_body = -1,
                           .end_body = -1,
                           .self_contact = true};
}

// ---- adding ------------------------------------------------------------------------------------

// Pose of a body that does not move freely, at time t.
static void rod_body_pose(const talus_world *w, int32_t body, double t, tl_pose *out) {
    const tl_rigid *m = w->rigid;
    if (m->script_of[body] >= 0) {
        tl_rigid_script_pose(m, body, t, out->x, out->q);
        return;
    }
    tl_copy3(m->x + 3 * (int64_t)body, out->x);
    memcpy(out->q, m->q + 4 * (int64_t)body, sizeof out->q);
}

static talus_status rod_check_end(const talus_world *w, const char *name, talus_rod_end how,
                                  int32_t body) {
    if (body < 0) return TALUS_OK;
    TL_REQUIRE(w->ctx, body < w->rigid->count, TALUS_ERR_ARG,
               "rod: its %s is held by body %d, but there are %d", name, (int)body,
               (int)w->rigid->count);
    TL_REQUIRE(w->ctx, how != TALUS_END_FREE, TALUS_ERR_ARG,
               "rod: its %s is free, but body %d is to hold it; pin or clamp it", name, (int)body);
    TL_REQUIRE(w->ctx, tl_rigid_is_immovable(w->rigid, body), TALUS_ERR_ARG,
               "rod: its %s is held by body %d, which moves freely; give the body a motion, or fix "
               "it",
               name, (int)body);
    return TALUS_OK;
}

static talus_status rod_check(const talus_world *w, const talus_rod_def *rod) {
    TL_REQUIRE(w->ctx, w->def.dim == 3, TALUS_ERR_ARG,
               "rod: there are none in 2D; make the world 3D");
    TL_REQUIRE(w->ctx, w->def.scheme != TALUS_SCHEME_PENALTY, TALUS_ERR_ARG,
               "rod: not with the scheme '%s'; take fixed-point, convex or moreau-jean",
               talus_scheme_text(w->def.scheme));
    TL_REQUIRE(w->ctx, rod->material >= 0 && rod->material < w->materials.count, TALUS_ERR_ARG,
               "rod: there is no material %d; there are %d", (int)rod->material,
               (int)w->materials.count);
    TL_TRY(rod_check_end(w, "start", rod->start, rod->start_body));
    return rod_check_end(w, "end", rod->end, rod->end_body);
}

static talus_status rod_make_model(talus_world *w) {
    if (w->rods) return TALUS_OK;
    TL_TRY(tl_rods_create(w->ctx, &w->rods));
    w->model[w->model_count++] = &w->rods->base;
    return TALUS_OK;
}

// The shape of a segment: one that another segment has, or a new one. Rods often have segments of
// one length, or as many lengths as segments: only some are looked at.
static talus_status rod_find_shape(talus_world *w, int32_t segment, int32_t *out) {
    enum { LOOKS = 16 };
    const talus_shape_def shape = tl_rods_shape(w->rods, segment);
    for (int32_t k = segment - 1; k >= 0 && k >= segment - LOOKS; k--) {
        talus_shape_def ball;
        const talus_shape_def *other = tl_world_shape_def(w, w->rod_shape[k], &ball);
        if (other->radius == shape.radius &&
            fabs(other->height - shape.height) <= ROD_SAME * shape.height) {
            *out = w->rod_shape[k];
            return TALUS_OK;
        }
    }
    return talus_world_add_shape(w, &shape, out);
}

talus_status talus_world_add_rod(talus_world *w, const talus_rod_def *rod, int32_t *out) {
    talus_status status = TALUS_OK;
    const int32_t body[2] = {rod->start_body, rod->end_body};
    tl_pose pose[2];
    const tl_pose *held[2] = {NULL, NULL};
    TL_TRY(rod_check(w, rod));
    TL_TRY(rod_make_model(w));
    for (int k = 0; k < 2; k++) {
        if (body[k] < 0) continue;
        rod_body_pose(w, body[k], w->time, &pose[k]);
        held[k] = &pose[k];
    }
    const int32_t index = w->rods->count, first = tl_rods_segments(w->rods);
    TL_TRY(tl_rods_add(w->rods, rod, held));
    const int32_t segments = tl_rods_segments(w->rods);
    TL_GOTO(tl_realloc(w->ctx, first, segments, sizeof *w->rod_shape, &w->rod_shape));
    for (int32_t k = first; k < segments; k++) TL_GOTO(rod_find_shape(w, k, &w->rod_shape[k]));
    w->smallest = fmin(w->smallest, rod->radius);
    if (out) *out = index;
    return TALUS_OK;
done:
    tl_rods_drop(w->rods);
    return status;
}

talus_rod_view talus_world_rods(const talus_world *w) {
    const tl_rods *m = w->rods;
    if (!m) return (talus_rod_view){.first_item = w->rigid->count};
    return (talus_rod_view){.rods = m->count,
                            .start = m->start,
                            .position = m->x,
                            .velocity = m->v,
                            .director = m->director,
                            .strain = m->strain,
                            .radius = m->radius,
                            .material = m->material,
                            .kind = m->kind,
                            .first_item = w->rigid->count};
}

bool talus_world_rod_at(const talus_world *w, int32_t index, talus_rod_def *out) {
    if (!w->rods || index < 0 || index >= w->rods->count) return false;
    *out = *tl_rods_def(w->rods, index);
    return true;
}

// ---- the step ----------------------------------------------------------------------------------

void tl_rods_grip(talus_world *w, const tl_step *step) {
    for (int32_t i = 0; w->rods && i < w->rods->count; i++) {
        const talus_rod_def *def = tl_rods_def(w->rods, i);
        const int32_t body[2] = {def->start_body, def->end_body};
        for (int k = 0; k < 2; k++) {
            tl_pose pose;
            if (body[k] < 0) continue;
            rod_body_pose(w, body[k], step->time + step->h, &pose);
            tl_rods_hold(w->rods, i, k, &pose);
        }
    }
}

bool tl_rods_hold_on(const talus_world *w, int32_t body) {
    for (int32_t i = 0; w->rods && i < w->rods->count; i++) {
        const talus_rod_def *def = tl_rods_def(w->rods, i);
        if (def->start_body == body || def->end_body == body) return true;
    }
    return false;
}

void tl_rods_make_way(talus_world *w) {
    const int32_t first = w->rigid->count;
    tl_contacts *c = &w->contacts;
    if (!w->rods) return;
    tl_collide_drop_items(w->collide, first);
    w->rod_items = 0;
    for (int32_t i = 0; i < c->count; i++) {
        c->a[i] += c->a[i] >= first;
        c->b[i] += c->b[i] >= first;
    }
}

static talus_status rod_add_item(talus_world *w, int32_t segment) {
    const tl_rods *m = w->rods;
    const int32_t rod = m->owner[segment], item = w->rigid->count + segment;
    const talus_rod_def *def = tl_rods_def(m, rod);
    int32_t index;
    double begin, end;
    // groups of bodies are their numbers; those of rods come after them, from the other side
    TL_TRY(tl_collide_add_item(w->collide, w->rod_shape[segment], -1 - rod, false, &index));
    if (def->self_contact) {
        tl_rods_arc(m, segment, &begin, &end);
        const talus_status status =
            tl_collide_set_arc(w->collide, index, begin, end, ROD_APART * def->radius);
        if (status != TALUS_OK) tl_collide_drop_items(w->collide, index);
        TL_TRY(status);
    }
    w->item_shape[item] = w->rod_shape[segment];
    w->item_material[item] = def->material;
    if (w->item_thin) w->item_thin[item] = def->radius;
    return TALUS_OK;
}

talus_status tl_rods_items(talus_world *w) {
    if (!w->rods) return TALUS_OK;
    const int32_t segments = tl_rods_segments(w->rods);
    TL_TRY(tl_world_reserve_items(w, w->rigid->count + segments));
    for (; w->rod_items < segments; w->rod_items++) TL_TRY(rod_add_item(w, w->rod_items));
    return TALUS_OK;
}

// ---- contacts ----------------------------------------------------------------------------------

// First touch of the stage that does not come before the pair (a, b).
static int32_t rod_seek(const tl_stage *s, int32_t a, int32_t b) {
    int32_t low = 0, high = s->contacts;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const tl_touch *t = s->touch + middle;
        if (t->a < a || (t->a == a && t->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void rod_touch_point(const tl_stage *s, const tl_touch *t, double out[3]) {
    tl_axpy3(s->pose[t->a].x, 1.0, t->arm_a, out);
}

// Whether the pair (a, b) has a contact like this one.
static bool rod_has(const tl_stage *s, int32_t a, int32_t b, const tl_touch *like, double near) {
    double x[3], y[3], d[3];
    rod_touch_point(s, like, x);
    for (int32_t i = rod_seek(s, a, b); i < s->contacts; i++) {
        const tl_touch *t = s->touch + i;
        if (t->a != a || t->b != b) return false;
        rod_touch_point(s, t, y);
        tl_sub3(x, y, d);
        if (tl_norm3(d) <= near && tl_dot3(t->normal, like->normal) >= ROD_ALIGNED) return true;
    }
    return false;
}

// A side of a touch, in the step in hand.
typedef struct rod_side {
    int32_t segment;         // −1: a body
    double along;            // segments
    double begin[3], end[3]; // velocities at the beginning of the step, and at its end without
                             // contacts
    double radius;           // segments
} rod_side;

static rod_side rod_get_side(const talus_world *w, const tl_step *step, int32_t item,
                             const double arm[3]) {
    const tl_pose *pose = w->stage.pose + item;
    const tl_rigid *body = w->rigid;
    rod_side s = {.segment = item - body->count};
    if (s.segment >= 0) {
        double offset[3];
        s.along = tl_rods_along(w->rods, s.segment, pose, arm, offset);
        s.radius = w->rods->radius[w->rods->owner[s.segment]];
        tl_rods_velocity(w->rods, s.segment, s.along, s.begin, s.end);
        return s;
    }
    s.segment = -1;
    if (body->script_of[item] >= 0) {
        tl_rigid_script_velocity(body, item, step->h, pose->q, arm, s.begin);
        tl_copy3(s.begin, s.end);
    } else if (body->mass[item] > 0.0) {
        double turn[3];
        tl_cross3(body->spin + 3 * (int64_t)item, arm, turn);
        tl_axpy3(body->v + 3 * (int64_t)item, 1.0, turn, s.begin);
        tl_axpy3(s.begin, step->h, step->gravity, s.end);
    }
    return s;
}

static double rod_relative_speed(const rod_side *a, const rod_side *b) {
    double begin[3], end[3];
    tl_sub3(a->begin, b->begin, begin);
    tl_sub3(a->end, b->end, end);
    return fmax(tl_norm3(begin), tl_norm3(end));
}

// A gap that is always seen: what is pushed by others may come that much nearer. Segments of one
// rod are held apart by its stiffness.
static double rod_margin(const talus_world *w, const rod_side *a, const rod_side *b) {
    const int32_t *owner = w->rods->owner;
    const bool same = a->segment >= 0 && owner[a->segment] == owner[b->segment];
    return (same ? ROD_SELF : ROD_MARGIN) * (a->radius + b->radius);
}

// Whether one side of a touch makes it one to be left out: a node that is held, or the beginning of
// a segment where the one before has the same contact at its end.
static bool rod_leaves(const talus_world *w, const tl_touch *t, const rod_side *side, bool is_a) {
    const tl_rods *m = w->rods;
    if (side->segment < 0) return false;
    if (tl_rods_is_idle(m, side->segment, side->along)) return true;
    if (side->along > 0.0 || side->segment == 0) return false;
    if (m->owner[side->segment - 1] != m->owner[side->segment]) return false;
    return rod_has(&w->stage, t->a - is_a, t->b - !is_a, t, ROD_NEAR * side->radius);
}

// How fast bodies come at each segment: what is hit may move on as fast within the step.
static void rod_find_pushes(talus_world *w, const tl_step *step) {
    const tl_stage *s = &w->stage;
    memset(w->rod_push, 0, (size_t)tl_rods_segments(w->rods) * sizeof *w->rod_push);
    for (int32_t i = 0; i < s->contacts; i++) {
        const tl_touch *t = s->touch + i;
        if (t->a >= w->rigid->count || t->b < w->rigid->count) continue; // not body and segment
        const rod_side a = rod_get_side(w, step, t->a, t->arm_a);
        const rod_side b = rod_get_side(w, step, t->b, t->arm_b);
        const double speed = rod_relative_speed(&a, &b);
        if (t->gap <= 2.0 * step->h * speed)
            w->rod_push[b.segment] = fmax(w->rod_push[b.segment], speed);
    }
}

talus_status tl_rods_filter(talus_world *w, const tl_step *step) {
    tl_stage *s = &w->stage;
    int32_t kept = 0;
    if (!w->rods || w->rods->count == 0) return TALUS_OK;
    // The reach is that of the fastest surface; rods move together, and most of them would be
    // contacts of each other. What the two sides of a touch do relative to each other decides,
    // unless the reach is a given one.
    const bool near = w->def.reach == 0.0 && w->def.scheme != TALUS_SCHEME_MOREAU_JEAN;
    TL_TRY(TL_RESERVE(w->ctx, s->contacts, &w->rod_touch));
    TL_TRY(TL_RESERVE(w->ctx, tl_rods_segments(w->rods), &w->rod_push));
    rod_find_pushes(w, step);
    for (int32_t i = 0; i < s->contacts; i++) {
        const tl_touch *t = s->touch + i;
        if (t->b >= w->rigid->count) { // a segment is the second, if any
            const rod_side a = rod_get_side(w, step, t->a, t->arm_a);
            const rod_side b = rod_get_side(w, step, t->b, t->arm_b);
            double speed = rod_relative_speed(&a, &b) + w->rod_push[b.segment];
            if (a.segment >= 0) speed += w->rod_push[a.segment];
            if (near && t->gap > rod_margin(w, &a, &b) + 2.0 * step->h * speed) continue;
            if (rod_leaves(w, t, &a, true) || rod_leaves(w, t, &b, false)) continue;
        }
        w->rod_touch[kept++] = *t;
    }
    s->touch = w->rod_touch;
    s->contacts = kept;
    return TALUS_OK;
}
