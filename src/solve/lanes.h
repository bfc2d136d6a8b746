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

enum { TL_LANES_MOVES = 6 }; ///< unknowns of a body, the first of its numbers in z

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

TL_INLINE tl_vec2 lanes_two(const double *x) {
    tl_vec2 out;
    memcpy(&out, x, sizeof out);
    return out;
}

// Bodies of all lanes, `size` numbers each, by entries: two entries of four bodies are a square,
// whose rows become columns.
TL_INLINE void lanes_load(int size, const double *z, const int32_t *body, double (*to)[LANES]) {
    for (int k = 0; k < size; k += 2) {
        tl_vec4 first[2], second[2];
        for (int half = 0; half < 2; half++) {
            const int32_t *b = body + (ptrdiff_t)4 * half;
            const tl_vec4 even = TL_SHUFFLE(lanes_two(z + (int64_t)b[0] * size + k),
                                            lanes_two(z + (int64_t)b[2] * size + k), 0, 1, 2, 3);
            const tl_vec4 odd = TL_SHUFFLE(lanes_two(z + (int64_t)b[1] * size + k),
                                           lanes_two(z + (int64_t)b[3] * size + k), 0, 1, 2, 3);
            first[half] = TL_SHUFFLE(even, odd, 0, 4, 2, 6);
            second[half] = TL_SHUFFLE(even, odd, 1, 5, 3, 7);
        }
        const tl_vec8 one = TL_SHUFFLE(first[0], first[1], 0, 1, 2, 3, 4, 5, 6, 7);
        const tl_vec8 next = TL_SHUFFLE(second[0], second[1], 0, 1, 2, 3, 4, 5, 6, 7);
        memcpy(to[k], &one, sizeof one);
        memcpy(to[k + 1], &next, sizeof next);
    }
}

// And back, as far as they change.
#define LANES_PUT(lane, of, i, j)                                                                  \
    do {                                                                                           \
        const tl_vec2 two = TL_SHUFFLE(of, of, i, j);                                              \
        memcpy(to[lane] + k, &two, sizeof two);                                                    \
    } while (0)
TL_INLINE void lanes_store(int size, double *z, int32_t bodies, const int32_t *body,
                           double (*from)[LANES]) {
    double none[TL_LANES_MOVES], *to[LANES]; // none: written to, never read
    // cppcheck-suppress legacyUninitvar
    EACH_LANE to[lane] = body[lane] < bodies ? z + (int64_t)body[lane] * size : none;
    for (int k = 0; k < TL_LANES_MOVES; k += 2) {
        tl_vec8 one, next;
        memcpy(&one, from[k], sizeof one);
        memcpy(&next, from[k + 1], sizeof next);
        const tl_vec8 even = TL_SHUFFLE(one, next, 0, 8, 2, 10, 4, 12, 6, 14);
        const tl_vec8 odd = TL_SHUFFLE(one, next, 1, 9, 3, 11, 5, 13, 7, 15);
        LANES_PUT(0, even, 0, 1);
        LANES_PUT(1, odd, 0, 1);
        LANES_PUT(2, even, 2, 3);
        LANES_PUT(3, odd, 2, 3);
        LANES_PUT(4, even, 4, 5);
        LANES_PUT(5, odd, 4, 5);
        LANES_PUT(6, even, 6, 7);
        LANES_PUT(7, odd, 6, 7);
    }
}
#undef LANES_PUT

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
