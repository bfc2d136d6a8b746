// SPDX-License-Identifier: Apache-2.0
// Discrete rods: elastic energy, its derivatives, and the linearised step. With the strains ε
// (bends, twist, stretch), their natural values and stiffnesses C,
//     E = ½ Σ C (ε − ε°)²/cell,   F = −Jᵀ σ,   K = Jᵀ C J + Σ σ ∂²ε,   D = τ Jᵀ C J + drag.
// Tension T stretches an edge of length l by the factor l/L: ε = l/L − 1, K = (EA/L) t tᵀ + (T/l)
// (1 − t tᵀ). The second sum of K may be negative (an edge under pressure that is about to buckle).
// A fast or long step is linearised where it leads to, x* = x + h v*, which gives F(x*) + h K* v*
// in the place of F: the force at the end of an implicit step, as Newton's method has it. K is used
// whole where M̃ is then still larger than ½ M, so that what grows does not grow by more than twice
// its rate; otherwise only its part from tension is.
#include "base/vec3.h"
#include "linalg/band.h"
#include "linalg/dense.h"
#include "rod/discrete.h"
#include <math.h>
#include <string.h>

enum { BAND = TL_DISCRETE_BAND, ELEMENT = 11 };
enum { DISCRETE_TRIES = 6 }; // at linearising a step

// Edges that turn by less than this angle in a step [rad] are stretched by the straight ways of
// their nodes by less than half its square.
#define DISCRETE_STRAIGHT 0.01
// A step is known well enough when nodes move by less than this part of a segment.
#define DISCRETE_NEAR 1e-4

static void discrete_bend(const tl_discrete *d, int32_t i, tl_bend *out) {
    const int64_t at = 3 * (int64_t)i;
    double e[3], f[3];
    tl_sub3(d->x + at, d->x + at - 3, e);
    tl_sub3(d->x + at + 3, d->x + at, f);
    tl_bend_set(e, f, d->d1 + at - 3, d->d1 + at, d->twist[i], out);
}

double tl_discrete_energy(const tl_discrete *d) {
    double sum = 0.0;
    for (int32_t i = 0; i + 1 < d->n; i++) {
        double e[3];
        if (d->rest[i] == 0.0) continue;
        tl_sub3(d->x + 3 * (int64_t)(i + 1), d->x + 3 * (int64_t)i, e);
        const double strain = tl_norm3(e) / d->rest[i] - 1.0;
        sum += 0.5 * d->stretch * strain * strain * d->rest[i];
    }
    for (int32_t i = 1; i + 1 < d->n; i++) {
        tl_bend bend;
        discrete_bend(d, i, &bend);
        for (int k = 0; k < TL_BEND_STRAINS; k++) {
            const double strain = bend.strain[k] - d->natural[3 * (int64_t)i + k];
            sum += 0.5 * d->stiffness[k] * strain * strain / d->cell[i];
        }
    }
    return sum;
}

// Add s times the 3 × 3 block of an edge, a t tᵀ + b (1 − t tᵀ), to a band.
static void discrete_add_edge(int32_t i, const double t[3], double a, double b, double *band) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const double value = (a - b) * t[r] * t[c] + (r == c ? b : 0.0);
            const int64_t column = 4 * (int64_t)i + c;
            if (r >= c) {
                band[column * BAND + r - c] += value;
                band[(column + 4) * BAND + r - c] += value;
            }
            band[column * BAND + 4 + r - c] -= value;
        }
}

static void discrete_stretch(const tl_discrete *d, int32_t i, double *force, double *gauss,
                             double *tension, double *other) {
    double t[3];
    tl_sub3(d->x + 3 * (int64_t)(i + 1), d->x + 3 * (int64_t)i, t);
    const double length = tl_norm3(t), pull = d->stretch * (length / d->rest[i] - 1.0);
    tl_scale3(1.0 / length, t, t);
    for (int k = 0; k < 3; k++) {
        force[4 * (int64_t)i + k] += pull * t[k];
        force[4 * (int64_t)i + 4 + k] -= pull * t[k];
    }
    discrete_add_edge(i, t, d->stretch / d->rest[i], 0.0, gauss);
    discrete_add_edge(i, t, 0.0, pull / length, pull > 0.0 ? tension : other);
}

// From (e, ϑ_e, f, ϑ_f) to the 11 unknowns: e = x1 − x0, f = x2 − x1.
static const struct {
    int8_t minus, plus;
} discrete_place[TL_BEND_SIZE] = {{0, 4}, {1, 5}, {2, 6},  {-1, 3},
                                  {4, 8}, {5, 9}, {6, 10}, {-1, 7}};

static void discrete_scatter(const double in[TL_BEND_SIZE], double out[ELEMENT]) {
    for (int a = 0; a < TL_BEND_SIZE; a++) {
        out[discrete_place[a].plus] += in[a];
        if (discrete_place[a].minus >= 0) out[discrete_place[a].minus] -= in[a];
    }
}

// Add the matrix of a bend, in its own unknowns, to the band from unknown `first` on.
static void discrete_add_bend(int64_t first, double own[TL_BEND_SIZE][TL_BEND_SIZE], double *band) {
    double half[ELEMENT][TL_BEND_SIZE] = {{0}};
    for (int a = 0; a < TL_BEND_SIZE; a++)
        for (int b = 0; b < TL_BEND_SIZE; b++) {
            half[discrete_place[a].plus][b] += own[a][b];
            if (discrete_place[a].minus >= 0) half[discrete_place[a].minus][b] -= own[a][b];
        }
    for (int r = 0; r < ELEMENT; r++) {
        double row[ELEMENT] = {0};
        discrete_scatter(half[r], row);
        for (int c = 0; c <= r; c++) band[(first + c) * BAND + r - c] += row[c];
    }
}

static void discrete_bending(const tl_discrete *d, int32_t i, double *force, double *gauss,
                             double *other) {
    const int64_t first = 4 * (int64_t)(i - 1);
    double gradient[TL_BEND_STRAINS][TL_BEND_SIZE], weight[TL_BEND_STRAINS];
    double own[TL_BEND_SIZE][TL_BEND_SIZE] = {{0}}, second[TL_BEND_SIZE][TL_BEND_SIZE] = {{0}};
    double sum[TL_BEND_SIZE] = {0}, spread[ELEMENT] = {0};
    tl_bend bend;
    discrete_bend(d, i, &bend);
    tl_bend_gradient(&bend, gradient);
    for (int k = 0; k < TL_BEND_STRAINS; k++) {
        const double c = d->stiffness[k] / d->cell[i];
        weight[k] = c * (bend.strain[k] - d->natural[3 * (int64_t)i + k]);
        for (int a = 0; a < TL_BEND_SIZE; a++) {
            sum[a] += weight[k] * gradient[k][a];
            for (int b = 0; b < TL_BEND_SIZE; b++) own[a][b] += c * gradient[k][a] * gradient[k][b];
        }
    }
    tl_bend_hessian(&bend, weight, second);
    discrete_scatter(sum, spread);
    for (int k = 0; k < ELEMENT; k++) force[first + k] -= spread[k];
    discrete_add_bend(first, own, gauss);
    discrete_add_bend(first, second, other);
}

void tl_discrete_forces(const tl_discrete *d, double *force, double *gauss, double *tension,
                        double *other) {
    const size_t band = (size_t)d->full * BAND * sizeof(double);
    memset(force, 0, (size_t)d->full * sizeof *force);
    memset(gauss, 0, band);
    memset(tension, 0, band);
    memset(other, 0, band);
    for (int32_t i = 0; i + 1 < d->n; i++)
        if (d->rest[i] > 0.0) discrete_stretch(d, i, force, gauss, tension, other);
    for (int32_t i = 1; i + 1 < d->n; i++) discrete_bending(d, i, force, gauss, other);
}

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
    return tl_band_factor(n, TL_DISCRETE_WIDTH, d->factor, TL_PIVOT_TOLERANCE(BAND)) < 0;
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
    tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->implicit, -1.0, given, f);
    if (theta < 1.0) {
        tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->stiff, -theta * (1.0 - theta) * h * h,
                         d->velocity, f);
        tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->gauss, -(1.0 - theta) * h * damping,
                         d->velocity, f);
    }
    memcpy(d->f, f + d->lo, (size_t)(d->hi - d->lo) * sizeof *d->f);
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

// Linearise at a state (x, d1, twist of `at`), with the velocities v* that lead to it (NULL: it is
// that of the beginning), and solve without contacts.
static void discrete_linearise(tl_discrete *d, const tl_discrete *at, const tl_step *step,
                               double damping, const double *leading) {
    const int64_t entries = (int64_t)d->full * BAND;
    double *safe = d->spare, *other = d->implicit;
    tl_discrete_forces(at, d->force, d->gauss, safe, other);
    for (int64_t i = 0; i < entries; i++) {
        safe[i] += d->gauss[i];
        d->stiff[i] = safe[i] + other[i];
    }
    if (!discrete_factor(d, step, damping, 0.5))
        memcpy(d->stiff, safe, (size_t)entries * sizeof *safe);
    (void)discrete_factor(d, step, damping, 0.0); // what cannot be done shows in M̃, to the world
    if (leading) tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->stiff, step->h, leading, d->force);
    discrete_impulse(d, step, damping);
    memcpy(d->free, d->f, (size_t)(d->hi - d->lo) * sizeof *d->free);
    tl_band_solve(d->hi - d->lo, TL_DISCRETE_WIDTH, d->factor, d->free);
}

// The largest angle, about, that an edge or its frame turns by in a step with these velocities.
static double discrete_turning(const tl_discrete *d, const double *v, double h) {
    double most = 0.0;
    for (int64_t i = 0; i + 1 < d->n; i++) {
        double e[3], rate[3], across[3];
        tl_sub3(d->x + 3 * (i + 1), d->x + 3 * i, e);
        tl_sub3(v + 4 * (i + 1), v + 4 * i, rate);
        tl_cross3(e, rate, across);
        most = fmax(most, h * tl_norm3(across) / tl_dot3(e, e));
        if (i > 0) most = fmax(most, h * fabs(v[4 * i + 3] - v[4 * i - 1]));
    }
    return most;
}

// Put the velocities of the free motion in the place of `leading`; the largest change.
static double discrete_lead(const tl_discrete *d, double *leading) {
    double most = 0.0;
    for (int32_t i = d->lo; i < d->hi; i++) {
        const double next = d->free[i - d->lo];
        if (i % 4 < 3) most = fmax(most, fabs(next - leading[i]));
        leading[i] = next;
    }
    return most;
}

// Where edges turn by more than a little, linearise the step anew where it leads to. What gets
// farther from a solution in doing so is linearised at the beginning, as a step that is so short
// that it need not be.
static void discrete_improve(tl_rod *rod, const tl_step *step) {
    tl_discrete *d = rod->own;
    const double h = step->h, damping = rod->def.damping;
    double *leading = d->work + 2 * (int64_t)d->full, *way = d->work, before = INFINITY;
    tl_discrete at = *d;
    at.x = d->trial;
    at.d1 = at.x + 3 * (int64_t)d->n;
    at.twist = at.d1 + 3 * (int64_t)d->n;
    memcpy(leading, d->velocity, (size_t)d->full * sizeof *leading);
    (void)discrete_lead(d, leading);
    if (discrete_turning(d, leading, h) < DISCRETE_STRAIGHT) return;
    for (int k = 0; k < DISCRETE_TRIES; k++) {
        for (int32_t i = 0; i < d->full; i++) way[i] = h * leading[i];
        tl_discrete_move(d, way, at.x, at.d1, at.twist);
        discrete_linearise(d, &at, step, damping, leading);
        const double change = discrete_lead(d, leading);
        if (!(change < before)) {
            discrete_linearise(d, d, step, damping, NULL);
            return;
        }
        if (h * change < DISCRETE_NEAR * rod->rest[0]) return;
        before = change;
    }
}

void tl_discrete_prepare(tl_rod *rod, const tl_step *step) {
    tl_discrete *d = rod->own;
    memcpy(d->velocity, d->u, (size_t)d->full * sizeof *d->u);
    for (int end = 0; end < 2; end++) discrete_give(rod, end, step->h);
    discrete_linearise(d, d, step, rod->def.damping, NULL);
    if (step->theta == 1.0) discrete_improve(rod, step);
}
