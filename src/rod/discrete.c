// SPDX-License-Identifier: Apache-2.0
// Discrete elastic rods: made, looked at, moved.
#include "rod/discrete.h"
#include "base/vec3.h"
#include "linalg/band.h"
#include <math.h>
#include <string.h>

static const double discrete_pi = 3.14159265358979323846;

// ---- making ------------------------------------------------------------------------------------

static void discrete_destroy(tl_rod *rod) {
    tl_discrete *d = rod->own;
    if (!d) return;
    void *const owned[] = {d->mass,    d->drag,    d->rest,  d->cell,     d->natural, d->velocity,
                           d->force,   d->gauss,   d->stiff, d->implicit, d->spare,   d->factor,
                           d->f,       d->free,    d->work,  d->trial,    d->way,     d->half,
                           d->leading, d->general, d->pivot, d->taut};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(rod->ctx, owned[k]);
    tl_free(rod->ctx, d);
}

static talus_status discrete_allocate(tl_rod *rod) {
    tl_discrete *d = rod->own;
    talus_context *ctx = rod->ctx;
    const int64_t n = d->n, full = d->full, band = full * TL_DISCRETE_BAND;
    const struct {
        double **array;
        int64_t count;
    } all[] = {
        {&d->mass, full},    {&d->drag, full},     {&d->rest, n - 1},
        {&d->cell, n},       {&d->natural, 3 * n}, {&d->force, full},
        {&d->gauss, band},   {&d->stiff, band},    {&d->spare, band},
        {&d->f, full},       {&d->factor, band},   {&d->implicit, band},
        {&d->free, full},    {&d->work, 3 * full}, {&d->velocity, full},
        {&d->trial, 14 * n}, {&d->way, full},      {&d->half, full},
        {&d->leading, full}, {&d->taut, n},        {&d->general, full * TL_DISCRETE_GENERAL}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TL_TRY(TL_ALLOC(ctx, all[k].count, all[k].array));
    TL_TRY(TL_ALLOC(ctx, full, &d->pivot));
    TL_TRY(TL_ALLOC(ctx, rod->nodes - 1, &rod->rest));
    rod->state_count = 3 * n + full + 3 * (n - 1) + n + 2 * (int64_t)rod->dof;
    TL_TRY(TL_ALLOC(ctx, rod->state_count, &rod->state));
    d->x = rod->state;
    d->u = d->x + 3 * n;
    d->d1 = d->u + full;
    d->twist = d->d1 + 3 * (n - 1);
    d->last = d->twist + n;
    d->push = d->last + rod->dof;
    return TALUS_OK;
}

// Lengths, masses and stiffnesses.
static void discrete_measure(tl_rod *rod) {
    tl_discrete *d = rod->own;
    const talus_rod_def *def = &rod->def;
    const double r = def->radius, area = discrete_pi * r * r;
    const double *shape = def->natural ? def->natural : def->position;
    d->stretch = def->young * area;
    d->stiffness[0] = d->stiffness[1] = def->young * 0.25 * area * r * r;
    d->stiffness[2] = def->shear * 0.5 * area * r * r;
    for (int32_t k = 0; k + 1 < rod->nodes; k++) {
        const int64_t i = k + d->ghost;
        double e[3];
        tl_sub3(shape + 3 * (int64_t)(k + 1), shape + 3 * (int64_t)k, e);
        const double length = rod->rest[k] = d->rest[i] = tl_norm3(e);
        d->mass[4 * i + 3] = def->density * area * 0.5 * r * r * length;
        for (int side = 0; side < 2; side++) {
            d->cell[i + side] += 0.5 * length;
            for (int c = 0; c < 3; c++) {
                d->mass[4 * (i + side) + c] += def->density * area * 0.5 * length;
                d->drag[4 * (i + side) + c] += def->drag * 0.5 * length;
            }
        }
    }
}

static void discrete_tangent(const double *x, int64_t i, double e[3], double t[3]) {
    tl_sub3(x + 3 * (i + 1), x + 3 * i, e);
    tl_scale3(1.0 / tl_norm3(e), e, t);
}

// Where the nodes are, with those outside.
static void discrete_put(tl_rod *rod) {
    tl_discrete *d = rod->own;
    double *x = d->x;
    memcpy(x + 3 * (int64_t)d->ghost, rod->def.position, 3 * (size_t)rod->nodes * sizeof *x);
    double e[3], t[3];
    if (d->ghost) {
        discrete_tangent(x, 1, e, t);
        tl_axpy3(x + 3, -rod->rest[0], t, x);
    }
    if (rod->def.end == TALUS_END_CLAMPED) {
        const int64_t last = d->n - 1;
        discrete_tangent(x, last - 2, e, t);
        tl_axpy3(x + 3 * (last - 1), rod->rest[rod->nodes - 2], t, x + 3 * last);
    }
    for (int64_t i = 0; i < d->n; i++) tl_copy3(rod->def.velocity, d->u + 4 * i);
}

// Strains of a line whose frames are those of the edge before, brought along and turned by the
// natural twist of the node, from node `first` to the one before `last`; frames into d1 where it is
// not NULL.
static void discrete_follow(const double *x, int32_t first, int32_t last, const double *natural,
                            double *d1, double *strain) {
    double e[3], f[3], t[3], s[3], axis[3], next[3], side[3];
    discrete_tangent(x, first, e, t);
    tl_rod_across(t, axis);
    if (d1) tl_copy3(axis, d1 + 3 * (int64_t)first);
    for (int64_t i = first + 1; i < last; i++) {
        const double turn = natural ? natural[3 * i + 2] : 0.0;
        tl_bend bend;
        discrete_tangent(x, i, f, s);
        tl_rod_transport(t, s, axis, next);
        (void)tl_rod_make_across(s, next);
        tl_cross3(s, next, side);
        for (int k = 0; k < 3; k++) next[k] = cos(turn) * next[k] + sin(turn) * side[k];
        tl_bend_set(e, f, axis, next, turn, &bend);
        for (int k = 0; k < 3; k++) strain[3 * i + k] = bend.strain[k];
        if (d1) tl_copy3(next, d1 + 3 * i);
        tl_copy3(f, e);
        tl_copy3(s, t);
        tl_copy3(next, axis);
    }
}

// Natural strains of the inner nodes; 0 at the ends, whose direction is that of the first and last
// segment.
static void discrete_relax(tl_rod *rod) {
    tl_discrete *d = rod->own;
    const talus_rod_def *def = &rod->def;
    double *own = d->natural + 3 * (int64_t)d->ghost;
    if (def->natural) discrete_follow(def->natural, 0, rod->nodes - 1, NULL, NULL, own);
    for (int64_t k = 1; def->curvature && k + 1 < rod->nodes; k++) {
        const double *given = def->curvature + 3 * (k - 1);
        const double bend = hypot(given[0], given[1]), cell = d->cell[k + d->ghost];
        const double scale = bend > 0.0 ? 2.0 * tan(0.5 * bend * cell) / bend : 0.0;
        own[3 * k] = scale * given[0];
        own[3 * k + 1] = scale * given[1];
        own[3 * k + 2] = given[2] * cell;
    }
}

// Turn all frames by the angle about their edges with which the curvatures fit the natural ones
// best: it makes Σ κ°·R(−angle) κ largest.
static void discrete_fit(tl_discrete *d, const double *strain) {
    double c = 0.0, s = 0.0;
    for (int64_t i = 1; i + 1 < d->n; i++) {
        const double *k = strain + 3 * i, *wanted = d->natural + 3 * i;
        c += wanted[0] * k[0] + wanted[1] * k[1];
        s += wanted[0] * k[1] - wanted[1] * k[0];
    }
    const double angle = atan2(s, c);
    for (int64_t i = 0; i + 1 < d->n; i++) {
        double e[3], t[3], side[3], *axis = d->d1 + 3 * i;
        discrete_tangent(d->x, i, e, t);
        tl_cross3(t, axis, side);
        for (int k = 0; k < 3; k++) axis[k] = cos(angle) * axis[k] + sin(angle) * side[k];
    }
}

static talus_status discrete_frames(tl_rod *rod) {
    tl_discrete *d = rod->own;
    const int32_t last = d->n - 1;
    if (!rod->def.director) {
        // strains are wanted once, and d->work has room: 3 (4 n − 1) > 3 n
        discrete_follow(d->x, 0, last, d->natural, d->d1, d->work);
        discrete_fit(d, d->work);
    } else {
        for (int32_t k = 0; k + 1 < rod->nodes; k++) {
            double e[3], t[3], *axis = d->d1 + 3 * (int64_t)(k + d->ghost);
            discrete_tangent(d->x, k + d->ghost, e, t);
            tl_copy3(rod->def.director + 3 * (int64_t)k, axis);
            TL_REQUIRE(rod->ctx, tl_rod_make_across(t, axis), TALUS_ERR_ARG,
                       "rod: director of segment %d is along the segment, but must be across it",
                       (int)k);
        }
        if (d->ghost) tl_copy3(d->d1 + 3, d->d1);
        if (rod->def.end == TALUS_END_CLAMPED)
            tl_copy3(d->d1 + 3 * (int64_t)(last - 2), d->d1 + 3 * (int64_t)(last - 1));
    }
    for (int64_t i = 1; i < last; i++) {
        double e[3], f[3], t[3];
        tl_bend bend;
        discrete_tangent(d->x, i - 1, e, t);
        discrete_tangent(d->x, i, f, t);
        tl_bend_set(e, f, d->d1 + 3 * (i - 1), d->d1 + 3 * i, d->natural[3 * i + 2], &bend);
        d->twist[i] = bend.strain[2];
    }
    return TALUS_OK;
}

static talus_status discrete_create(tl_rod *rod) {
    static const int32_t given[] = {
        [TALUS_END_FREE] = 0, [TALUS_END_PINNED] = 3, [TALUS_END_CLAMPED] = 7};
    const talus_rod_def *def = &rod->def;
    tl_discrete *d;
    TL_TRY(TL_ALLOC(rod->ctx, 1, &d));
    rod->own = d;
    rod->nodes = def->nodes;
    d->ghost = def->start == TALUS_END_CLAMPED;
    d->n = def->nodes + d->ghost + (def->end == TALUS_END_CLAMPED);
    d->full = 4 * d->n - 1;
    d->lo = given[def->start];
    d->hi = d->full - given[def->end];
    rod->dof = d->hi - d->lo;
    rod->band = rod->dof > TL_DISCRETE_WIDTH ? TL_DISCRETE_WIDTH : rod->dof - 1;
    TL_TRY(discrete_allocate(rod));
    discrete_measure(rod);
    discrete_put(rod);
    discrete_relax(rod);
    TL_TRY(discrete_frames(rod));
    for (int end = 0; end < 2; end++) {
        const int64_t edge = end == 0 ? 0 : d->n - 2;
        const int64_t node = end == 0 ? d->ghost : d->ghost + rod->nodes - 1;
        double e[3], t[3];
        discrete_tangent(d->x, edge, e, t);
        tl_copy3(d->x + 3 * node, rod->hold[end].next.x);
        tl_rod_quat(d->d1 + 3 * edge, t, rod->hold[end].next.q);
    }
    return TALUS_OK;
}

// ---- looking -----------------------------------------------------------------------------------

static void discrete_show(const tl_rod *rod, double *x, double *v, double *director,
                          double *strain) {
    const tl_discrete *d = rod->own;
    const int32_t last = rod->nodes - 1;
    for (int64_t k = 0; k < rod->nodes; k++) {
        const int64_t i = k + d->ghost, edge = k < last ? i : i - 1;
        double e[3];
        tl_copy3(d->x + 3 * i, x + 3 * k);
        tl_copy3(d->u + 4 * i, v + 3 * k);
        tl_copy3(d->d1 + 3 * edge, director + 3 * k);
        tl_sub3(d->x + 3 * (edge + 1), d->x + 3 * edge, e);
        strain[k] = k < last ? tl_norm3(e) / d->rest[edge] - 1.0 : 0.0;
    }
}

static void discrete_foresee(const tl_rod *rod, double *begin, double *end) {
    const tl_discrete *d = rod->own;
    for (int64_t i = 0; i < rod->nodes; i++)
        for (int64_t k = 0; k < 3; k++) {
            const int64_t at = 4 * (i + d->ghost) + k;
            begin[3 * i + k] = d->velocity[at];
            end[3 * i + k] = at >= d->lo && at < d->hi ? d->free[at - d->lo] : d->velocity[at];
        }
}

// A node where contacts are looked for.
static void discrete_node(const tl_discrete *d, const tl_step *step, int64_t i, double x[3]) {
    tl_axpy3(d->x + 3 * i, step->h * (1.0 - step->theta), d->velocity + 4 * i, x);
}

static void discrete_place(const tl_rod *rod, const tl_step *step, tl_pose *pose, double *chord) {
    const tl_discrete *d = rod->own;
    for (int32_t k = 0; k + 1 < rod->nodes; k++) {
        const int64_t i = k + d->ghost;
        double a[3], b[3], e[3], t[3], s[3], axis[3];
        discrete_node(d, step, i, a);
        discrete_node(d, step, i + 1, b);
        discrete_tangent(d->x, i, e, t);
        tl_sub3(b, a, e);
        chord[k] = tl_norm3(e);
        tl_scale3(1.0 / chord[k], e, s);
        tl_rod_transport(t, s, d->d1 + 3 * i, axis);
        tl_rod_quat(axis, s, pose[k].q);
        tl_axpy3(a, 0.5, e, pose[k].x);
    }
}

static void discrete_motion(const tl_rod *rod, const tl_step *step, double *mass, double *f,
                            double *v) {
    const tl_discrete *d = rod->own;
    const int64_t n = rod->dof;
    (void)step;
    for (int64_t j = 0; j < n; j++) {
        const double *column = d->implicit + (d->lo + j) * TL_DISCRETE_BAND;
        for (int64_t i = j; i < n && i <= j + rod->band; i++)
            mass[j * (rod->band + 1) + i - j] = column[i - j];
        mass[j * (rod->band + 1)] += d->mass[d->lo + j];
        f[j] = d->f[j];
        v[j] = d->velocity[d->lo + j];
    }
}

// Direction and length of an edge where contacts are looked for.
static double discrete_edge(const tl_discrete *d, const tl_step *step, int64_t i, double t[3]) {
    double a[3], b[3];
    discrete_node(d, step, i, a);
    discrete_node(d, step, i + 1, b);
    tl_sub3(b, a, t);
    const double length = tl_norm3(t);
    tl_scale3(1.0 / length, t, t);
    return length;
}

// Add a coefficient of the velocities: to the unknown, or times what is given.
static void discrete_add(const tl_discrete *d, int64_t at, double value, double *out,
                         double *given) {
    const bool is_given = at < d->lo || at >= d->hi;
    if (out && !is_given) out[at - d->lo] += value;
    if (given && is_given) *given += value * d->velocity[at];
}

static void discrete_row(const tl_rod *rod, const tl_step *step, int32_t segment, double along,
                         const double offset[3], const double *direction, int32_t count,
                         double *out, double *given) {
    const tl_discrete *d = rod->own;
    const int64_t i = segment + d->ghost;
    double t[3];
    const double length = discrete_edge(d, step, i, t);
    for (int32_t k = 0; k < count; k++) {
        // ω·m with ω = t × (v1 − v0)/length + rate t and m = offset × direction
        const double *way = direction + 3 * (int64_t)k;
        double m[3], pair[3];
        tl_cross3(offset, way, m);
        tl_cross3(m, t, pair);
        double *row = out ? out + (int64_t)k * rod->dof : NULL, *sum = given ? given + k : NULL;
        for (int c = 0; c < 3; c++) {
            discrete_add(d, 4 * i + c, (1.0 - along) * way[c] - pair[c] / length, row, sum);
            discrete_add(d, 4 * i + 4 + c, along * way[c] + pair[c] / length, row, sum);
        }
        discrete_add(d, 4 * i + 3, tl_dot3(t, m), row, sum);
    }
}

static void discrete_turn(const tl_rod *rod, const tl_step *step, int32_t segment,
                          const double *direction, int32_t count, double *out, double *given) {
    const tl_discrete *d = rod->own;
    const int64_t i = segment + d->ghost;
    double t[3];
    const double length = discrete_edge(d, step, i, t);
    for (int32_t k = 0; k < count; k++) {
        const double *way = direction + 3 * (int64_t)k;
        double pair[3];
        tl_cross3(way, t, pair);
        double *row = out ? out + (int64_t)k * rod->dof : NULL, *sum = given ? given + k : NULL;
        for (int c = 0; c < 3; c++) {
            discrete_add(d, 4 * i + c, -pair[c] / length, row, sum);
            discrete_add(d, 4 * i + 4 + c, pair[c] / length, row, sum);
        }
        discrete_add(d, 4 * i + 3, tl_dot3(t, way), row, sum);
    }
}

// ---- the end of a step -------------------------------------------------------------------------

static double discrete_dot(const double *a, const double *b, int64_t begin, int64_t end) {
    double sum = 0.0;
    for (int64_t i = begin; i < end; i++) sum += a[i] * b[i];
    return sum;
}

static void discrete_inner(const tl_rod *rod, const tl_step *step, const double *before,
                           const double *after, tl_inner *out) {
    const tl_discrete *d = rod->own;
    const double h = step->h, theta = step->theta, tau = rod->def.damping;
    double *mean = d->work, *force = d->work + d->full, *brake = force + d->full;
    // forces with the velocities before, as the problem has them, and damping by the mean ones
    memcpy(mean, d->velocity, (size_t)d->full * sizeof *mean);
    for (int64_t k = 0; k < rod->dof; k++)
        mean[d->lo + k] = theta * after[k] + (1.0 - theta) * before[k];
    memset(brake, 0, (size_t)d->full * sizeof *brake);
    tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->gauss, -h * tau, mean, brake);
    for (int64_t i = 0; i < d->full; i++) {
        brake[i] -= h * d->drag[i] * mean[i];
        force[i] = h * d->force[i];
    }
    out->damping = discrete_dot(brake, mean, 0, d->full);
    // what holds the ends: against all forces there
    tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->stiff, -theta * h * h, mean, force);
    out->given = 0.0;
    const int64_t part[2][2] = {{0, d->lo}, {d->hi, d->full}};
    for (int k = 0; k < 2; k++)
        out->given -= discrete_dot(force, mean, part[k][0], part[k][1]) +
                      discrete_dot(brake, mean, part[k][0], part[k][1]);
    for (int64_t i = 0; i < d->full; i++)
        force[i] = h * (d->force[i] - d->drag[i] * d->velocity[i]);
    tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->stiff, -theta * h * h, d->velocity, force);
    tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->gauss, -h * tau, d->velocity, force);
    out->elastic = discrete_dot(force, mean, d->lo, d->hi) - out->damping;
    memset(mean, 0, (size_t)d->full * sizeof *mean);
    memset(brake, 0, (size_t)d->full * sizeof *brake);
    for (int64_t k = 0; k < rod->dof; k++) mean[d->lo + k] = after[k] - before[k];
    tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->implicit, 0.5, mean, brake);
    out->jump = discrete_dot(brake, mean, d->lo, d->hi);
}

// Held ends, exactly where they are to be: the steps by mean velocities are so up to rounding, of
// which there would be more with every step.
static void discrete_settle(tl_rod *rod, int end) {
    static const double up[3] = {0.0, 0.0, 1.0};
    tl_discrete *d = rod->own;
    const talus_rod_end how = end == 0 ? rod->def.start : rod->def.end;
    const tl_pose *next = &rod->hold[end].next;
    const int64_t node = end == 0 ? d->ghost : d->ghost + rod->nodes - 1;
    if (how == TALUS_END_FREE) return;
    tl_copy3(next->x, d->x + 3 * node);
    if (how != TALUS_END_CLAMPED) return;
    const int64_t outside = end == 0 ? 0 : d->n - 1;
    double t[3];
    tl_rotate(next->q, up, t);
    const double length = end == 0 ? -rod->rest[0] : rod->rest[rod->nodes - 2];
    tl_axpy3(next->x, length, t, d->x + 3 * outside);
}

// What contacts did, (M̃ v − f)/h.
static void discrete_push(const tl_rod *rod, double h, const double *v, double *force) {
    const tl_discrete *d = rod->own;
    for (int32_t k = 0; k < rod->dof; k++) force[k] = (d->mass[d->lo + k] * v[k] - d->f[k]) / h;
    tl_band_multiply(rod->dof, TL_DISCRETE_WIDTH, d->implicit + (int64_t)d->lo * TL_DISCRETE_BAND,
                     1.0 / h, v, force);
}

static void discrete_commit(tl_rod *rod, const tl_step *step, const double *v) {
    tl_discrete *d = rod->own;
    const double h = step->h, theta = step->theta;
    double *way = d->work, *force = d->work + d->full;
    discrete_push(rod, h, v, force);
    tl_rod_expect(rod->dof, force, d->last, d->push);
    for (int64_t i = 0; i < d->full; i++) {
        const double next = i >= d->lo && i < d->hi ? v[i - d->lo] : d->velocity[i];
        way[i] = h * (theta * next + (1.0 - theta) * d->velocity[i]);
        d->u[i] = next;
    }
    tl_discrete_move(d, way, d->x, d->d1, d->twist);
    for (int end = 0; end < 2; end++) discrete_settle(rod, end);
}

static void discrete_account(const tl_rod *rod, const double gravity[3], tl_account *add) {
    const tl_discrete *d = rod->own;
    for (int64_t i = 0; i < d->n; i++) {
        const double *x = d->x + 3 * i, *v = d->u + 4 * i, m = d->mass[4 * i];
        double moment[3];
        if (4 * i < d->lo || 4 * i >= d->hi) continue;
        add->kinetic += 0.5 * m * tl_dot3(v, v);
        add->potential -= m * tl_dot3(gravity, x);
        tl_cross3(x, v, moment);
        tl_axpy3(add->momentum, m, v, add->momentum);
        tl_axpy3(add->angular, m, moment, add->angular);
    }
    for (int64_t i = 0; i + 1 < d->n; i++) {
        double e[3], t[3];
        const int64_t at = 4 * i + 3;
        if (at < d->lo || at >= d->hi) continue;
        discrete_tangent(d->x, i, e, t);
        add->kinetic += 0.5 * d->mass[at] * d->u[at] * d->u[at];
        tl_axpy3(add->angular, d->mass[at] * d->u[at], t, add->angular);
    }
    add->elastic += tl_discrete_energy(d);
}

const tl_rod_ops tl_rod_discrete_ops = {
    .name = "discrete",
    .create = discrete_create,
    .destroy = discrete_destroy,
    .show = discrete_show,
    .prepare = tl_discrete_prepare,
    .foresee = discrete_foresee,
    .place = discrete_place,
    .motion = discrete_motion,
    .row = discrete_row,
    .turn = discrete_turn,
    .inner = discrete_inner,
    .commit = discrete_commit,
    .account = discrete_account,
};
