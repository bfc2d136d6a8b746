// SPDX-License-Identifier: Apache-2.0
// Discrete rods: the step. Stresses at the time θ act through Ĵ (discrete_secant.c), for which
// Ĵ d = Δε, the change of strains over the displacements d = h (θ v+ + (1 − θ) v) of the step:
//     M (v+ − v) = h (weight − Ĵᵀ (σ + θ C Δε)) − τ ĴᵀCĴ d − drag.
// Elastic energy is convex in the strains: E(ε + Δε) − E(ε) = (σ + ½ C Δε)·Δε, which for θ ≥ ½ is
// at most what these stresses take. So without contacts no step creates energy, whatever its
// length, also where the rod buckles, and θ = ½ keeps it. Newton's method solves this, with the
// forces that contacts are expected to have. Contacts act on the step linearised there,
//     F + θ K (d* − d),    K = ĴᵀCĴ + ∂(Ĵᵀσ)/∂d,
// with K made symmetric, and whole where M̃ is then still larger than ½ M; otherwise of the second
// part only what tension adds is taken, which is never negative.
#include "base/vec3.h"
#include "linalg/band.h"
#include "linalg/dense.h"
#include "rod/discrete.h"
#include <math.h>
#include <string.h>

enum { BAND = TL_DISCRETE_BAND, WIDTH = TL_DISCRETE_WIDTH };
enum {
    DISCRETE_TRIES = 40, // Newton steps for one step,
    DISCRETE_WORSE = 6,  // of which so many may be longer than the one before,
    DISCRETE_BRAKES = 16 // and with how many strengths of the brake
};

// A step is known well enough when nodes move by less than this part of a segment, and frames turn
// by less than this angle.
#define DISCRETE_NEAR 1e-10
// Changes below this that do not get smaller are rounding.
#define DISCRETE_ROUNDING 1e-7
// No step of Newton's method is longer than this part of a segment, or this angle.
#define DISCRETE_FAR 0.3

// ---- the step ----------------------------------------------------------------------------------

// Mean velocities that take a held end to where it will be.
static void discrete_give(const tl_rod *rod, int end, double h) {
    static const double up[3] = {0.0, 0.0, 1.0}, first[3] = {1.0, 0.0, 0.0};
    tl_discrete *d = rod->own;
    const tl_pose *next = &rod->hold[end].next;
    const talus_rod_end how = end == 0 ? rod->def.start : rod->def.end;
    if (how == TALUS_END_FREE) return;
    const int32_t last = d->n - 1;
    const int32_t node = end == 0 ? d->ghost : last - (how == TALUS_END_CLAMPED);
    const double *x = d->x + 3 * (int64_t)node;
    for (int k = 0; k < 3; k++) d->velocity[4 * (int64_t)node + k] = (next->x[k] - x[k]) / h;
    if (how != TALUS_END_CLAMPED) return;
    const int32_t outside = end == 0 ? 0 : last, edge = end == 0 ? 0 : last - 1;
    const double sign = end == 0 ? -1.0 : 1.0, *ghost = d->x + 3 * (int64_t)outside;
    double t[3], s[3], to[3], axis[3], side[3];
    tl_sub3(ghost, x, t);
    const double length = tl_norm3(t);
    tl_scale3(sign / length, t, t);
    tl_rotate(next->q, up, s);
    tl_rotate(next->q, first, axis);
    for (int k = 0; k < 3; k++)
        d->velocity[4 * (int64_t)outside + k] = (next->x[k] + sign * length * s[k] - ghost[k]) / h;
    tl_rod_transport(t, s, d->d1 + 3 * (int64_t)edge, to);
    tl_cross3(s, to, side);
    d->velocity[4 * (int64_t)edge + 3] = atan2(tl_dot3(side, axis), tl_dot3(to, axis)) / h;
}

// M̃ − M from K (in d->stiff) into d->implicit, and the band of M̃ less `part` of M, factored;
// whether that could be done.
static bool discrete_factor(tl_discrete *d, const tl_step *step, double damping, double part) {
    const double h = step->h, theta = step->theta, k = theta * theta * h * h, c = theta * h;
    const int32_t n = d->hi - d->lo;
    for (int64_t i = 0; i < (int64_t)d->full * BAND; i++)
        d->implicit[i] = k * d->stiff[i] + c * damping * d->gauss[i];
    for (int64_t i = 0; i < d->full; i++) d->implicit[i * BAND] += c * d->drag[i];
    memcpy(d->factor, d->implicit + (int64_t)d->lo * BAND, (size_t)n * BAND * sizeof *d->factor);
    for (int64_t i = 0; i < n; i++) d->factor[i * BAND] += (1.0 - part) * d->mass[d->lo + i];
    return tl_band_factor(n, WIDTH, d->factor, TL_PIVOT_TOLERANCE(BAND)) < 0;
}

// f = M v + h F − θ (1 − θ) h² K v − (1 − θ) h D v − (M̃ − M) v of what is given.
static void discrete_impulse(tl_discrete *d, const tl_step *step, double damping) {
    const double h = step->h, theta = step->theta;
    double *f = d->work, *given = d->work + d->full;
    for (int32_t i = 0; i < d->full; i++) {
        const bool is_given = i < d->lo || i >= d->hi;
        const double weight = i % 4 < 3 ? d->mass[i] * step->gravity[i % 4] : 0.0;
        f[i] = d->mass[i] * d->velocity[i] + h * (d->force[i] + weight) -
               (1.0 - theta) * h * d->drag[i] * d->velocity[i];
        given[i] = is_given ? d->velocity[i] : 0.0;
    }
    tl_band_multiply(d->full, WIDTH, d->implicit, -1.0, given, f);
    if (theta < 1.0) {
        tl_band_multiply(d->full, WIDTH, d->stiff, -theta * (1.0 - theta) * h * h, d->velocity, f);
        tl_band_multiply(d->full, WIDTH, d->gauss, -(1.0 - theta) * h * damping, d->velocity, f);
    }
    memcpy(d->f, f + d->lo, (size_t)(d->hi - d->lo) * sizeof *d->f);
}

// Add s Σ μ |v_i+1 − v_i|² (μ: mass of neighbours in series) and the inertia of turning to a band:
// the brake, under which a rod goes on as a whole and changes its shape slowly.
static void discrete_brake(const tl_discrete *d, double s, double *band) {
    for (int32_t i = 0; i + 1 < d->n; i++) {
        static const double none[3] = {0.0, 0.0, 0.0};
        const double a = d->mass[4 * (int64_t)i], b = d->mass[4 * (int64_t)i + 4];
        if (a > 0.0 && b > 0.0) tl_discrete_add_edge(i, none, 0.0, s * a * b / (a + b), band);
        band[(4 * (int64_t)i + 3) * BAND] += s * d->mass[4 * (int64_t)i + 3];
    }
}

void tl_discrete_move(const tl_discrete *d, const double *way, double *x, double *d1,
                      double *twist) {
    double before[3], old[3], now[3];
    tl_sub3(d->x + 3, d->x, old);
    tl_axpy3(d->x, 1.0, way, x);
    for (int64_t i = 0; i + 1 < d->n; i++) {
        double t[3], s[3], axis[3], side[3];
        const double turn = way[4 * i + 3];
        tl_scale3(1.0 / tl_norm3(old), old, t);
        // the next edge as it was, before its first node is overwritten
        if (i + 2 < d->n) tl_sub3(d->x + 3 * (i + 2), d->x + 3 * (i + 1), old);
        tl_axpy3(d->x + 3 * (i + 1), 1.0, way + 4 * (i + 1), x + 3 * (i + 1));
        tl_sub3(x + 3 * (i + 1), x + 3 * i, now);
        tl_scale3(1.0 / tl_norm3(now), now, s);
        tl_rod_transport(t, s, d->d1 + 3 * i, axis);
        (void)tl_rod_make_across(s, axis);
        tl_cross3(s, axis, side);
        for (int k = 0; k < 3; k++) d1[3 * i + k] = cos(turn) * axis[k] + sin(turn) * side[k];
        if (i > 0) {
            tl_bend bend;
            tl_bend_set(before, now, d1 + 3 * (i - 1), d1 + 3 * i,
                        d->twist[i] + turn - way[4 * i - 1], &bend);
            twist[i] = bend.strain[2];
        }
        tl_copy3(now, before);
    }
}

// Forces and stiffness at the velocities `leading` of the end of the step.
static void discrete_look(tl_discrete *d, const tl_step *step, double damping) {
    const double h = step->h, theta = step->theta;
    const tl_discrete_parts parts = {.theta = theta,
                                     .share = theta + damping / h,
                                     .force = d->force,
                                     .gauss = d->gauss,
                                     .tension = d->spare,
                                     .other = d->implicit,
                                     .general = d->general};
    for (int32_t i = 0; i < d->full; i++)
        d->way[i] = h * (theta * d->leading[i] + (1.0 - theta) * d->velocity[i]);
    tl_discrete_secant(d, d->way, &parts);
}

// The matrix of Newton's method, from what `discrete_look` left there of it, and the brake in
// d->stiff.
static void discrete_set_general(tl_discrete *d, const tl_step *step, double damping) {
    const double c = step->theta * step->h, k = c * c;
    for (int64_t j = 0; j < d->full; j++)
        for (int64_t i = j; i < d->full && i - j <= WIDTH; i++) {
            const int64_t at = j * BAND + i - j;
            const double value =
                k * (d->gauss[at] + d->spare[at] + d->implicit[at] + d->stiff[at]) +
                c * damping * d->gauss[at];
            double *lower = tl_discrete_entry(d->general, i, j);
            double *upper = tl_discrete_entry(d->general, j, i);
            *lower = k * *lower + value;
            if (i > j) *upper = k * *upper + value;
            if (i == j) *lower += d->mass[i] + c * d->drag[i];
        }
}

// One step of Newton's method, from `leading` to d->free; false where there is none.
static bool discrete_newton(tl_discrete *d, const tl_step *step, double damping, double brake) {
    const double h = step->h, theta = step->theta;
    const int32_t n = d->hi - d->lo;
    double *r = d->work;
    for (int32_t i = 0; i < d->full; i++) {
        const double weight = i % 4 < 3 ? d->mass[i] * step->gravity[i % 4] : 0.0;
        r[i] = d->mass[i] * (d->velocity[i] - d->leading[i]) + h * (d->force[i] + weight) -
               d->drag[i] * d->way[i];
    }
    memset(d->stiff, 0, (size_t)d->full * BAND * sizeof *d->stiff);
    if (brake > 0.0) discrete_brake(d, brake / (theta * h * h), d->stiff);
    tl_band_multiply(d->full, WIDTH, d->gauss, -damping, d->way, r);
    tl_band_multiply(d->full, WIDTH, d->stiff, -h * theta, d->way, r);
    discrete_set_general(d, step, damping);
    for (int32_t i = 0; i < n; i++) d->free[i] = r[d->lo + i] + h * d->push[i];
    if (!tl_band_solve_general(n, WIDTH, d->general + (int64_t)d->lo * TL_DISCRETE_GENERAL,
                               d->pivot, d->free))
        return false;
    for (int32_t i = 0; i < n; i++) d->free[i] += d->leading[d->lo + i];
    return true;
}

// M̃ and f where `discrete_look` has looked, and the motion without contacts.
static void discrete_linearise(tl_discrete *d, const tl_step *step, double damping, double brake) {
    const int64_t entries = (int64_t)d->full * BAND;
    const double *more = d->spare, *other = d->implicit;
    for (int64_t i = 0; i < entries; i++) d->stiff[i] = d->gauss[i] + more[i] + other[i];
    if (!discrete_factor(d, step, damping, 0.5))
        for (int64_t i = 0; i < entries; i++) d->stiff[i] = d->gauss[i] + more[i];
    tl_band_multiply(d->full, WIDTH, d->stiff, step->theta, d->way, d->force);
    if (brake > 0.0) discrete_brake(d, brake / (step->theta * step->h * step->h), d->stiff);
    (void)discrete_factor(d, step, damping, 0.0); // what cannot be done shows in M̃, to the world
    discrete_impulse(d, step, damping);
    memcpy(d->free, d->f, (size_t)(d->hi - d->lo) * sizeof *d->free);
    tl_band_solve(d->hi - d->lo, WIDTH, d->factor, d->free);
}

// The largest change from `leading` to d->free: of nodes over the segment, of turning rates [1/s].
static double discrete_change(const tl_discrete *d, double length) {
    double most = 0.0;
    for (int32_t i = d->lo; i < d->hi; i++) {
        const double change = fabs(d->free[i - d->lo] - d->leading[i]);
        most = fmax(most, i % 4 < 3 ? change / length : change);
        if (!isfinite(change)) return INFINITY;
    }
    return most;
}

// Newton's method for the step with what contacts are expected to do, from the present velocities
// on. Whether it came to an end.
static bool discrete_converge(tl_rod *rod, const tl_step *step, double brake) {
    tl_discrete *d = rod->own;
    const double tau = rod->def.damping;
    double last = INFINITY, part = 1.0;
    int worse = 0;
    memcpy(d->leading, d->velocity, (size_t)d->full * sizeof *d->leading);
    for (int k = 0; k < DISCRETE_TRIES && worse < DISCRETE_WORSE; k++) {
        discrete_look(d, step, tau);
        if (!discrete_newton(d, step, tau, brake)) return false;
        const double change = step->h * discrete_change(d, rod->rest[0]);
        const bool near =
            change < DISCRETE_NEAR || (change < DISCRETE_ROUNDING && change > 0.5 * last);
        if (near && !tl_discrete_slacken(d, step->theta)) return true;
        if (!isfinite(change)) return false;
        if (change < last) {
            part = fmin(1.0, 2.0 * part);
        } else {
            part *= 0.5;
            worse++;
        }
        const double most = fmin(part, DISCRETE_FAR / change);
        for (int32_t i = d->lo; i < d->hi; i++)
            d->leading[i] += most * (d->free[i - d->lo] - d->leading[i]);
        last = change;
    }
    return false;
}

void tl_discrete_prepare(tl_rod *rod, const tl_step *step) {
    tl_discrete *d = rod->own;
    double brake = 0.0;
    memcpy(d->velocity, d->u, (size_t)d->full * sizeof *d->u);
    for (int end = 0; end < 2; end++) discrete_give(rod, end, step->h);
    tl_discrete_tauten(d, step->h, step->theta);
    if (!discrete_converge(rod, step, 0.0)) {
        memset(d->taut, 0, (size_t)(d->n - 1) * sizeof *d->taut);
        for (int k = 0; k < DISCRETE_BRAKES && !discrete_converge(rod, step, brake); k++)
            brake = brake > 0.0 ? 4.0 * brake : 0.25;
    }
    discrete_linearise(d, step, rod->def.damping, brake);
}
