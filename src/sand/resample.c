// SPDX-License-Identifier: Apache-2.0
// Particles that the flow has drawn out are split, and those that it has pressed flat onto each
// other are merged, so that what they stand for stays about as large as it was. The half axes of a
// particle are the roots a of the eigenvalues of its frame F; h0 is the edge of a particle of the
// mean volume.
//   split   a_max > 4 a_min, a_max > h0 and more than 1/64 of the mean volume: two of half the
//   volume and
//           half of a_max, at ± a_max/2 along that axis;
//   merge   two of one cell, both with a_max > 2 a_min and a_max < h0, nearer than
//           |e_i·e_j| (a_min,i + a_min,j) with e the axes of a_min: volume, momentum and first
//           moments are kept.
// Axes are kept in [1/8, 8] h0. All in the order of the particles.
#include "base/vec3.h"
#include "linalg/dense.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

#define RESAMPLE_RANGE 8.0

typedef struct resample_axes {
    double low, high;           // half axes
    double thin[3], long_to[3]; // unit, along them
} resample_axes;

// The axes of particle p, whose frame is put right where one is too short or too long.
static resample_axes resample_get_axes(tl_sand *m, int64_t p, double edge) {
    const int dim = m->dim;
    double *frame = m->grains.frame + 9 * p, a[9], value[3], vector[9];
    TL_ASSUME(dim == 2 || dim == 3);
    for (int i = 0; i < dim; i++)
        for (int k = 0; k < dim; k++) a[i * dim + k] = frame[3 * i + k];
    tl_sym_eigen(dim, a, value, vector);
    const double least = edge * edge / (RESAMPLE_RANGE * RESAMPLE_RANGE);
    const double most = edge * edge * RESAMPLE_RANGE * RESAMPLE_RANGE;
    bool changed = false;
    int low = 0, high = 0;
    for (int k = 0; k < dim; k++) {
        const double kept = fmin(fmax(value[k], least), most);
        changed = changed || kept != value[k];
        value[k] = kept;
        if (value[k] < value[low]) low = k;
        if (value[k] > value[high]) high = k;
    }
    for (int i = 0; changed && i < dim; i++)
        for (int k = 0; k < dim; k++) {
            frame[3 * i + k] = 0.0;
            for (int e = 0; e < dim; e++)
                frame[3 * i + k] += value[e] * vector[e * dim + i] * vector[e * dim + k];
        }
    resample_axes out = {.low = sqrt(value[low]), .high = sqrt(value[high])};
    for (int i = 0; i < dim; i++) {
        out.thin[i] = vector[low * dim + i];
        out.long_to[i] = vector[high * dim + i];
    }
    return out;
}

// Split particle p; the second half is a new one at the end.
static void resample_split(tl_sand *m, int64_t p, const resample_axes *x) {
    tl_grains *g = &m->grains;
    const int64_t q = g->count++;
    double *frame = g->frame + 9 * p;
    g->volume[p] *= 0.5;
    // a_max² → a_max²/4 along its axis
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            frame[3 * i + k] -= 0.75 * x->high * x->high * x->long_to[i] * x->long_to[k];
    tl_sand_copy(g, q, p);
    g->id[q] = m->added++;
    tl_axpy3(g->x + 3 * p, 0.5 * x->high, x->long_to, g->x + 3 * p);
    tl_axpy3(g->x + 3 * q, -0.5 * x->high, x->long_to, g->x + 3 * q);
    for (int which = 0; which < 2; which++) {
        double *at = g->x + 3 * (which ? q : p), arm[3];
        tl_scale3(which ? -0.5 * x->high : 0.5 * x->high, x->long_to, arm);
        for (int k = 0; k < 3; k++) // the field that both were part of
            g->v[3 * (which ? q : p) + k] += tl_dot3(g->gradient + 9 * p + 3 * (ptrdiff_t)k, arm);
        tl_sand_clamp(m, at);
    }
}

// Particle p takes in q.
static void resample_merge(tl_sand *m, int64_t p, int64_t q) {
    tl_grains *g = &m->grains;
    const double whole = g->volume[p] + g->volume[q];
    const double own = g->volume[p] / whole, other = g->volume[q] / whole;
    double middle[3], from[2][3];
    for (int k = 0; k < 3; k++) middle[k] = own * g->x[3 * p + k] + other * g->x[3 * q + k];
    tl_sub3(g->x + 3 * p, middle, from[0]);
    tl_sub3(g->x + 3 * q, middle, from[1]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int e = 3 * i + k;
            g->frame[9 * p + e] = own * (g->frame[9 * p + e] + from[0][i] * from[0][k]) +
                                  other * (g->frame[9 * q + e] + from[1][i] * from[1][k]);
            g->gradient[9 * p + e] = own * g->gradient[9 * p + e] + other * g->gradient[9 * q + e];
        }
    for (int k = 0; k < 3; k++) g->v[3 * p + k] = own * g->v[3 * p + k] + other * g->v[3 * q + k];
    tl_copy3(middle, g->x + 3 * p);
    g->inertial[p] = own * g->inertial[p] + other * g->inertial[q];
    g->bond[p] = own * g->bond[p] + other * g->bond[q];
    for (int k = 0; k < g->orient_width; k++)
        g->orient[9 * p + k] = own * g->orient[9 * p + k] + other * g->orient[9 * q + k];
    for (int k = 0; k < g->stress_width; k++) {
        double *stress = g->stress + p * g->stress_width;
        stress[k] = own * stress[k] + other * g->stress[q * g->stress_width + k];
    }
    g->id[p] = g->id[p] < g->id[q] ? g->id[p] : g->id[q];
    g->volume[p] = whole;
    g->volume[q] = 0.0;
}

static bool resample_is_flat(const resample_axes *x, double edge) {
    return x->high > 2.0 * x->low && x->high < edge;
}

// Merge pairs within the cells of the particles, which are sorted.
static void resample_merge_all(tl_sand *m, double edge) {
    tl_grains *g = &m->grains;
    int64_t end, kept = 0;
    for (int64_t begin = 0; begin < g->count; begin = end) {
        int32_t cell[3], other[3];
        tl_cells_locate(&m->cells, g->x + 3 * begin, cell);
        for (end = begin + 1; end < g->count; end++) {
            tl_cells_locate(&m->cells, g->x + 3 * end, other);
            if (memcmp(cell, other, sizeof cell) != 0) break;
        }
        for (int64_t p = begin; p < end; p++) {
            if (g->volume[p] == 0.0) continue;
            const resample_axes x = resample_get_axes(m, p, edge);
            for (int64_t q = p + 1; q < end && resample_is_flat(&x, edge); q++) {
                double d[3];
                tl_sub3(g->x + 3 * p, g->x + 3 * q, d);
                if (g->volume[q] == 0.0 || tl_norm3(d) >= 2.0 * edge) continue;
                const resample_axes y = resample_get_axes(m, q, edge);
                const double reach = fabs(tl_dot3(x.thin, y.thin)) * (x.low + y.low);
                if (!resample_is_flat(&y, edge) || tl_norm3(d) >= reach) continue;
                resample_merge(m, p, q);
                break; // its axes are others now; the rest waits for the next step
            }
        }
    }
    for (int64_t p = 0; p < g->count; p++)
        if (g->volume[p] > 0.0) tl_sand_copy(g, kept++, p);
    g->count = kept;
}

bool tl_sand_resample(tl_sand *m) {
    tl_grains *g = &m->grains;
    double mean = 0.0;
    const int64_t count = g->count;
    if (count == 0) return false;
    for (int64_t p = 0; p < count; p++) mean += g->volume[p];
    mean /= (double)count;
    const double space = mean / m->def.fraction, edge = m->dim == 2 ? sqrt(space) : cbrt(space);
    resample_merge_all(m, edge);
    const int64_t merged = g->count;
    for (int64_t p = 0; p < merged && g->count < g->room; p++) {
        const resample_axes x = resample_get_axes(m, p, edge);
        if (x.high > 4.0 * x.low && x.high > edge && g->volume[p] > mean / 64.0)
            resample_split(m, p, &x);
    }
    return merged != count || g->count != merged;
}
