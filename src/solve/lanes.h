// SPDX-License-Identifier: Apache-2.0
// What sweeps over balls (balls.h) and over pairs of bodies (pairs.h) have in common: eight
// contacts side by side, which gather the velocities of their bodies, solve, and scatter what they
// changed. No W is kept. Vectors of contacts are laid out by groups: entry k of a row is at
// [(row / LANES * entries + k) * LANES + lane]. Loops over `lane` become vector code.
#ifndef TL_SOLVE_LANES_H
#define TL_SOLVE_LANES_H
#include "base/compiler.h"
#include "solve/plan.h"
#include <math.h>
#include <string.h>

#define LANES TL_LANES
#define EACH_LANE for (int lane = 0; lane < LANES; lane++)
#define EACH_AXIS for (int k = 0; k < 3; k++)

enum {
    TL_LANES_MOVES = 6, ///< unknowns of a body, the first of its numbers in z,
    TL_LANES_BODY = 8,  ///< which are a line of the cache
};

/// What a sweep carries along: r, and with momentum its last change and the direction p, laid out
/// as 3 entries by groups. With Nesterov's rule alone their sum is enough, in `glide`. z = N Hᵀ r
/// by bodies, with their masses.
typedef struct tl_lanes_sweep {
    const tl_plan *plan;
    int32_t bodies;
    double *z, *r;         // z: bodies + 2, none and that of empty rows
    double *change, *push; // with momentum
    double *glide;         // or with Nesterov's alone
    double share;          // β of the momentum
    bool nesterov;
} tl_lanes_sweep;

/// Sums over the rows of a chunk, in the order of the lanes.
typedef struct tl_lanes_tally {
    double activity, energy, glide, normal, tangent; // tangent: squared
    double solves, failures, saves;
} tl_lanes_tally;

/// Rows into the caller's memory, 3 numbers a contact, and back.
static inline void tl_lanes_keep(const tl_plan *plan, const double *from, double *r) {
    for (int32_t row = 0; row < plan->rows; row++)
        if (plan->order[row] >= 0)
            EACH_AXIS r[3 * (int64_t)plan->order[row] + k] =
                from[((int64_t)(row / LANES) * 3 + k) * LANES + row % LANES];
}

static inline void tl_lanes_recall(const tl_plan *plan, const double *r, double *to) {
    for (int32_t row = 0; row < plan->rows; row++)
        if (plan->order[row] >= 0)
            EACH_AXIS to[((int64_t)(row / LANES) * 3 + k) * LANES + row % LANES] =
                r[3 * (int64_t)plan->order[row] + k];
}

// Rows become columns.
TL_INLINE void lanes_turn(tl_vec8 x[LANES]) {
    tl_vec8 pair[LANES], four[LANES]; // entries of two rows side by side, and of four
    for (int k = 0; k < LANES; k += 2) {
        pair[k] = TL_SHUFFLE(x[k], x[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        pair[k + 1] = TL_SHUFFLE(x[k], x[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < LANES; k += 4)
        for (int odd = 0; odd < 2; odd++) {
            const tl_vec8 one = pair[k + odd], next = pair[k + 2 + odd];
            four[k + odd] = TL_SHUFFLE(one, next, 0, 1, 4, 5, 8, 9, 12, 13);
            four[k + 2 + odd] = TL_SHUFFLE(one, next, 2, 3, 6, 7, 10, 11, 14, 15);
        }
    for (int k = 0; k < 4; k++) {
        x[k] = TL_SHUFFLE(four[k], four[k + 4], 0, 1, 4, 5, 8, 9, 12, 13);
        x[k + 4] = TL_SHUFFLE(four[k], four[k + 4], 2, 3, 6, 7, 10, 11, 14, 15);
    }
}

// Bodies of all lanes by entries.
TL_INLINE void lanes_load(const double *z, const int32_t *body, double (*to)[LANES]) {
    tl_vec8 x[LANES];
    for (int lane = 0; lane < LANES; lane++)
        memcpy(&x[lane], z + (int64_t)body[lane] * TL_LANES_BODY, sizeof *x);
    lanes_turn(x);
    memcpy(to, x, sizeof x);
}

// And back, where there is one.
TL_INLINE void lanes_store(double *z, int32_t bodies, const int32_t *body, double (*from)[LANES]) {
    double none[TL_LANES_BODY]; // written to, never read
    tl_vec8 x[LANES];
    memcpy(x, from, sizeof x);
    lanes_turn(x);
    for (int lane = 0; lane < LANES; lane++) {
        // cppcheck-suppress legacyUninitvar
        double *to = body[lane] < bodies ? z + (int64_t)body[lane] * TL_LANES_BODY : none;
        memcpy(to, &x[lane], sizeof *x);
    }
}

// Momentum of a group (see splitting.c), before it is visited; z has had its part already.
TL_INLINE void lanes_carry(const tl_lanes_sweep *s, int32_t group) {
    const int64_t at = (int64_t)group * 3 * LANES;
    double *r = s->r + at;
    if (s->change) {
        double *change = s->change + at, *push = s->push + at;
        for (int k = 0; k < 3 * LANES; k++) {
            const double carried = s->nesterov ? push[k] + change[k] : push[k];
            const double moved = s->share * carried;
            r[k] += moved;
            push[k] = s->nesterov || !(s->share > 0.0) ? moved : moved + change[k];
        }
    } else if (s->glide) {
        double *glide = s->glide + at;
        for (int k = 0; k < 3 * LANES; k++) {
            glide[k] *= s->share;
            r[k] += glide[k];
        }
    }
}

// And after: the change of the visit. `square` receives that of both together, by lanes.
TL_INLINE void lanes_changed(const tl_lanes_sweep *s, int32_t group, double change[3][LANES],
                             double square[LANES]) {
    const int64_t at = (int64_t)group * 3 * LANES;
    const double *carried = s->change ? s->push : s->glide;
    tl_vec8 sum = {0.0};
    for (int k = 0; carried && k < 3; k++) {
        tl_vec8 glide, more;
        memcpy(&glide, carried + at + k * LANES, sizeof glide);
        memcpy(&more, change[k], sizeof more);
        glide += more;
        sum += glide * glide;
        if (s->glide) memcpy(s->glide + at + k * LANES, &glide, sizeof glide);
    }
    if (s->change) memcpy(s->change + at, change, 3 * sizeof *change);
    memcpy(square, &sum, sizeof sum);
}

/// Whether any of eight numbers is above zero, and which: a bit for each.
TL_INLINE bool lanes_any(const double x[LANES]) {
    int64_t any = 0;
    EACH_LANE any |= x[lane] > 0.0 ? -1 : 0;
    return any != 0;
}

TL_INLINE unsigned lanes_above(const double x[LANES]) {
    unsigned bits = 0;
    if (!lanes_any(x)) return bits; // nearly always
    EACH_LANE bits |= (unsigned)(x[lane] > 0.0) << lane;
    return bits;
}

/// The tally of a chunk while it is swept, by lanes.
typedef struct lanes_sums {
    double activity[LANES], energy[LANES], glide[LANES], normal[LANES], tangent[LANES];
} lanes_sums;

// Add the change of a lane: along the normal, and squared as a whole, by itself and with the
// momentum.
TL_INLINE void lanes_count(lanes_sums *sums, int lane, double lambda, double normal, double square,
                           double glide) {
    const double weight = lambda < 1.0 ? lambda : 1.0, tangent = square - normal * normal;
    sums->activity[lane] += weight * weight * square;
    sums->energy[lane] += lambda * square;
    sums->glide[lane] += lambda * glide;
    sums->normal[lane] = TL_MAX(fabs(normal), sums->normal[lane]);
    sums->tangent[lane] = TL_MAX(tangent, sums->tangent[lane]);
}

TL_INLINE void lanes_total(const tl_lanes_sweep *s, int32_t chunk, const lanes_sums *sums,
                           tl_lanes_tally *out) {
    *out = (tl_lanes_tally){0};
    for (int32_t row = s->plan->chunk_start[chunk] * LANES;
         row < s->plan->chunk_start[chunk + 1] * LANES; row++)
        out->solves += s->plan->order[row] >= 0 ? 1.0 : 0.0;
    EACH_LANE {
        out->activity += sums->activity[lane];
        out->energy += sums->energy[lane];
        out->glide += sums->glide[lane];
        out->normal = TL_MAX(sums->normal[lane], out->normal);
        out->tangent = TL_MAX(sums->tangent[lane], out->tangent);
    }
}

#endif // TL_SOLVE_LANES_H
