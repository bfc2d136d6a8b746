// SPDX-License-Identifier: Apache-2.0
// The blocks of the friction problem that sand brings along: one for the stress of each point, and
// one for each grip.
#include "base/vec3.h"
#include "linalg/tensor.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

static const tl_sand *stress_of(const tl_model *m) { return (const tl_sand *)m; }

// An impulse h ρ g L at a full node, in the unit of residuals: times the root of W_NN there, of
// which λmax(W) is not far, φ edge^(dim − 2)/(2^(dim − 1) ρ).
double tl_sand_scale(const tl_sand *m, const tl_step *step) {
    const talus_sand_def *d = &m->def;
    const double pressure = d->density * tl_norm3(step->gravity) * d->height;
    const double area = m->dim == 3 ? 0.25 * d->cell : 0.5;
    return step->h * pressure * sqrt(d->fraction * area / d->density);
}

int32_t tl_sand_block_count(const tl_model *m) {
    return (int32_t)(tl_sand_points(stress_of(m)) + stress_of(m)->grips);
}

int32_t tl_sand_block_groups(const tl_model *base, int32_t i, int32_t *group) {
    const tl_sand *m = stress_of(base);
    const int64_t points = tl_sand_points(m);
    if (i < points) return tl_sand_point_nodes(m, i, group);
    group[0] = m->grip[i - points].node; // a grip: its node, and its idle group
    group[1] = (int32_t)(m->cells.nodes + i - points);
    return 2;
}

// √(2/dim) times what the stress sees: μ(I) of Pouliquen, Forterre, Jop.
static double stress_friction(const tl_sand *m, double inertial) {
    const talus_sand_def *d = &m->def;
    double mu = d->friction;
    if (d->diameter > 0.0 && inertial > 0.0)
        mu += (d->friction_flow - d->friction) / (1.0 + d->inertial / inertial);
    return tl_tensor_unit(m->dim) * mu;
}

// Cohesion acts where the sand is dense: it comes in over the last thousandth below φmax, lest what
// flies apart attract itself.
static double stress_bond(const tl_sand *m, double filled) {
    const double t = (filled - 0.999) / 0.001;
    return m->def.cohesion * (t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t);
}

// A grip: u = R v of its node; the rows below act on its idle group.
static void stress_fill_grip(const tl_sand *m, const tl_grip *g, double *h, double *w,
                             tl_block_law *law) {
    const int dim = m->dim, size = tl_tensor_size(dim), idle = size - dim;
    const unsigned held = tl_sand_held(m, g->node);
    double frame[9];
    tl_frame(m->dim, g->normal, frame);
    for (int k = 0; k < size; k++) {
        w[k] = 0.0;
        for (int e = 0; e < dim; e++)
            h[k * dim + e] = k < dim && !(held >> e & 1) ? frame[3 * k + e] : 0.0;
        for (int e = 0; e < idle; e++) h[size * dim + k * idle + e] = k == dim + e;
    }
    *law = (tl_block_law){.mu = g->friction};
}

// How much grain material may be pressed into a point in this step. No sand moves by more than a
// cell in a step, so that a point with little of it has more room than can matter; told so, it does
// not dwarf what the others are judged by.
static double stress_closes(const tl_sand *m, const tl_point *point, double room) {
    return fmin(fmax(0.0, room - point->volume), 2.0 * m->dim * point->volume);
}

void tl_sand_block_fill(const tl_model *base, const tl_step *step, int32_t i, double *h, double *w,
                        tl_block_law *law) {
    const tl_sand *m = stress_of(base);
    const int64_t points = tl_sand_points(m);
    if (i >= points) {
        stress_fill_grip(m, m->grip + (i - points), h, w, law);
        return;
    }
    const int dim = m->dim, size = tl_tensor_size(dim);
    tl_point point;
    tl_sand_get_point(m, i, &point);
    const double room = m->def.fraction * point.space;
    double tilt[25];
    if (m->orient_sums) tl_sand_tilt(m, point.orient, tilt);
    for (int32_t e = 0; e < point.count; e++) {
        double *block = h + (int64_t)e * size * dim;
        const unsigned held = tl_sand_held(m, point.node[e]);
        tl_tensor_rate(dim, point.rate[e], block);
        if (m->orient_sums) tl_sand_tilt_apply(dim, true, tilt, dim, block + dim);
        for (int k = 0; k < dim; k++)
            for (int r = 0; held >> k & 1 && r < size; r++) block[r * dim + k] = 0.0;
    }
    for (int k = 0; k < size; k++) w[k] = 0.0;
    w[0] = tl_tensor_unit(dim) * stress_closes(m, &point, room) / step->h;
    law->mu = stress_friction(m, point.inertial);
    law->tension = step->h * stress_bond(m, room > 0.0 ? point.volume / room : 2.0) * point.bond /
                   tl_tensor_unit(dim);
}

// Between stresses and the unknowns of the problem: h λ, tilted where grains are not round.
static void stress_scale(const tl_sand *m, bool inverse, double factor, double *x) {
    const int size = tl_tensor_size(m->dim);
    const int64_t points = tl_sand_points(m);
    for (int64_t i = 0; m->orient_sums && i < points; i++) {
        tl_point point;
        double tilt[25];
        tl_sand_get_point(m, i, &point);
        tl_sand_tilt(m, point.orient, tilt);
        tl_sand_tilt_apply(m->dim, inverse, tilt, 1, x + i * size + 1);
    }
    for (int64_t k = 0; k < points * size; k++) x[k] *= factor;
}

void tl_sand_block_start(const tl_model *base, const tl_step *step, double *r) {
    const tl_sand *m = stress_of(base);
    tl_sand_point_start(m, r);
    stress_scale(m, false, step->h, r);
    tl_sand_grip_start(m, step, r + tl_sand_points(m) * tl_tensor_size(m->dim));
}

void tl_sand_block_take(tl_model *base, const tl_step *step, const double *r) {
    tl_sand *m = (tl_sand *)base;
    const int64_t count = tl_sand_points(m) * tl_tensor_size(m->dim);
    memcpy(m->point, r, (size_t)count * sizeof *r);
    stress_scale(m, true, 1.0 / step->h, m->point);
    tl_sand_point_take(m, m->point);
    tl_sand_grip_take(m, step, r + count);
}
