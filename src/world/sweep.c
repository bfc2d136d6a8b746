// SPDX-License-Identifier: Apache-2.0
// Continuous detection for moreau-jean, which sees contacts only where they are at one moment of
// the step [theory/schemes]. A body that goes farther in the step than a part of its thickness is
// swept along its way without contacts; where it meets something before the end, the step is
// shortened: first to shortly before, and when it is there, to the moment of the impact itself, so
// that the impact law acts on bodies that touch, and what bounces back does not get far in the same
// step.
#include "base/vec3.h"
#include "world/world_impl.h"
#include <string.h>

enum { SWEEP_LOOKS = 200 }; // at a pair along its way; the step ends where they are used up

// A body may move by this part of half its least width unswept.
#define SWEEP_SAFE 0.5
// No step is shorter than the time for this part of that way.
#define SWEEP_LEAST 0.01
// A sheet without thickness counts as this thick, over its extent.
#define SWEEP_SHEET 1e-3

double tl_sweep_thickness(int32_t dim, const talus_mass *unit, double extent) {
    if (isinf(extent)) return INFINITY;
    if (!(unit->mass > 0.0) || isinf(unit->mass)) return SWEEP_SHEET * extent;
    if (dim == 2) return 0.25 * unit->mass / extent; // a thin rectangle: half its width
    // the least half axis of the ellipsoid with these moments
    const double *j = unit->inertia;
    const double most = fmax(j[0], fmax(j[1], j[2]));
    return sqrt(fmax(2.5 * (j[0] + j[1] + j[2] - 2.0 * most) / unit->mass, 0.0));
}

// A body on its way through the step.
typedef struct sweep_body {
    int32_t index;
    double v[3], spin[3]; // at the beginning; of given motions the mean
    double turning;       // speed that turning gives to the surface
    bool bounded;
} sweep_body;

static sweep_body sweep_get(const talus_world *w, const tl_step *step, int32_t i) {
    const tl_rigid *m = w->rigid;
    sweep_body b = {.index = i, .bounded = isfinite(m->extent[i])};
    if (m->script_of[i] >= 0) {
        tl_rigid_script_mean(m, i, step->h, b.v);
        tl_copy3(m->script[m->script_of[i]].spin, b.spin);
    } else if (m->mass[i] > 0.0) {
        tl_copy3(m->v + 3 * (int64_t)i, b.v);
        tl_copy3(m->spin + 3 * (int64_t)i, b.spin);
    }
    b.turning = b.bounded ? tl_norm3(b.spin) * m->swing[i] : 0.0;
    return b;
}

static void sweep_pose(const talus_world *w, const tl_step *step, const sweep_body *b, double t,
                       tl_pose *out) {
    const tl_rigid *m = w->rigid;
    const int32_t i = b->index;
    if (m->script_of[i] >= 0) {
        tl_rigid_script_pose(m, i, step->time + t, out->x, out->q);
        return;
    }
    double turn[3], rotation[4];
    tl_axpy3(m->x + 3 * (int64_t)i, t, b->v, out->x);
    tl_scale3(t, b->spin, turn);
    tl_quat_exp(turn, rotation);
    tl_quat_mul(rotation, m->q + 4 * (int64_t)i, out->q);
    tl_quat_normalise(out->q);
}

// Speed at which a touch closes.
static double sweep_closing(const sweep_body *a, const sweep_body *b, const tl_touch *t) {
    double va[3], vb[3];
    tl_cross3(a->spin, t->arm_a, va);
    tl_cross3(b->spin, t->arm_b, vb);
    for (int k = 0; k < 3; k++) va[k] += a->v[k] - vb[k] - b->v[k];
    return -tl_dot3(t->normal, va);
}

typedef struct sweep_pair {
    sweep_body a, b;
    double speed; // bound of that of their surfaces relative to each other
    double safe;  // way that need not be looked at
    bool curved;  // what the gap does is not bounded by its rate
} sweep_pair;

// When the pair meets, at least step->h: not in this step. The gap of convex bodies that do not
// turn falls no faster than it does now, so that gap / rate is no later than that; others are
// looked at after every safe way.
static talus_status sweep_meet(talus_world *w, const tl_step *step, const sweep_pair *p,
                               double *out) {
    const double h = step->h, touch = 0.5 * tl_world_touch(w);
    double t = 0.0;
    for (int look = 0; look < SWEEP_LOOKS && t < h; look++) {
        const tl_touch *found;
        int64_t count;
        tl_pose pose[2];
        sweep_pose(w, step, &p->a, t, &pose[0]);
        sweep_pose(w, step, &p->b, t, &pose[1]);
        TL_TRY(tl_collide_between(w->collide, p->a.index, p->b.index, &pose[0], &pose[1],
                                  p->speed * (h - t), &found, &count));
        double next = count > 0 ? h - t : INFINITY;
        if (count > 0 && p->curved) next = fmin(next, p->safe / p->speed);
        for (int64_t i = 0; i < count; i++) {
            const double rate = sweep_closing(&p->a, &p->b, &found[i]);
            if (found[i].gap > touch) {
                if (rate > 0.0) next = fmin(next, found[i].gap / rate);
            } else if (rate * (h - t) > p->safe) {
                next = 0.0;
            }
        }
        if (next == 0.0) break;
        t += next;
    }
    *out = t;
    return TALUS_OK;
}

// The length of step that suits a pair which meets at t.
static double sweep_length(const tl_step *step, const sweep_pair *p, double t) {
    const double safe = p->safe / p->speed;
    if (t >= step->h) return step->h;
    if (t > safe) return t - 0.5 * safe;     // what bounces back in this step is still in front
    const double before = 1.0 - step->theta; // contacts are looked for after this part of the step
    return fmax(before > 0.0 ? t / before : t, SWEEP_LEAST * safe);
}

// Whether a joint keeps two bodies from touching; `pair` is sorted.
static bool sweep_joined(const talus_world *w, int32_t a, int32_t b) {
    const int32_t *pair = w->joints.pair;
    int32_t low = 0, high = w->joints.pairs;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2, *at = pair + 2 * (int64_t)middle;
        if (at[0] == a && at[1] == b) return true;
        if (at[0] < a || (at[0] == a && at[1] < b))
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

// The balls around two bodies, on their ways through the step.
static bool sweep_near(const talus_world *w, const sweep_pair *p, double h) {
    const tl_rigid *m = w->rigid;
    if (!p->a.bounded || !p->b.bounded) return true;
    double d[3];
    tl_sub3(m->x + 3 * (int64_t)p->a.index, m->x + 3 * (int64_t)p->b.index, d);
    for (int k = 0; k < 3; k++) {
        const double period = w->def.period[k];
        if (period > 0.0) d[k] -= period * rint(d[k] / period);
    }
    const double reach = m->extent[p->a.index] + m->extent[p->b.index] + p->speed * h;
    return tl_dot3(d, d) <= reach * reach;
}

static talus_status sweep_pair_length(talus_world *w, const tl_step *step, int32_t i, int32_t k,
                                      double *h) {
    const int32_t a = i < k ? i : k, b = i < k ? k : i;
    if (!tl_collide_may_touch(w->collide, a, b) || sweep_joined(w, a, b)) return TALUS_OK;
    sweep_pair p = {.a = sweep_get(w, step, a), .b = sweep_get(w, step, b)};
    double d[3], t;
    tl_sub3(p.a.v, p.b.v, d);
    p.speed = tl_norm3(d) + p.a.turning + p.b.turning;
    p.safe = SWEEP_SAFE * w->item_thin[i];
    talus_shape_def ball;
    const talus_shape_kind kind_a = tl_world_shape_def(w, w->item_shape[a], &ball)->kind,
                           kind_b = tl_world_shape_def(w, w->item_shape[b], &ball)->kind;
    p.curved = p.a.turning + p.b.turning > 0.0 || kind_a == TALUS_SHAPE_MESH ||
               kind_b == TALUS_SHAPE_MESH || kind_a == TALUS_SHAPE_DRUM ||
               kind_b == TALUS_SHAPE_DRUM;
    if (!(p.speed * step->h > p.safe) || !sweep_near(w, &p, step->h)) return TALUS_OK;
    TL_TRY(sweep_meet(w, step, &p, &t));
    *h = fmin(*h, sweep_length(step, &p, t));
    return TALUS_OK;
}

talus_status tl_world_sweep(talus_world *w, tl_step *step) {
    tl_rigid *m = w->rigid;
    double h = step->h;
    tl_rigid_run_scripts(m, step->time, step->h);
    for (int32_t i = 0; i < m->count; i++) {
        const sweep_body b = sweep_get(w, step, i);
        const double way = step->h * (tl_norm3(b.v) + b.turning);
        if (!b.bounded || !(way > SWEEP_SAFE * w->item_thin[i])) continue;
        for (int32_t k = 0; k < m->count; k++)
            if (k != i) TL_TRY(sweep_pair_length(w, step, i, k, &h));
    }
    step->h = h;
    return TALUS_OK;
}
