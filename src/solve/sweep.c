// SPDX-License-Identifier: Apache-2.0
// The hot loops. A visit to block i computes b = q_i + Σ_{j≠i} W_ij r_j, asks the one-contact
// solver for r_i, and, matrix-free, adds (N Hᵀ)_i Δr_i to z. With a proximal term β the block
// solved is W_ii + β with b − β r_i: the same fixed points, a gentler way there.
#include "solve/sweep.h"
#include "cone/axes.h"
#include "cone/nonsmooth.h"
#include "cone/slide.h"
#include "linalg/dense_inline.h"
#include "problem/row_product.h"
#include "problem/strain.h"
#include "solve/measure.h"
#include <math.h>
#include <string.h>

// b += Σ_{j≠i} W_ij r_j: what the others do to a row.
TL_INLINE void sweep_add_others(int d, const tl_splitting *s, int32_t row, const double *ri,
                                double *b) {
    const tl_delassus *w = &s->w;
    if (w->assembled) {
        tl_row_product(d, w, row, s->r, b);
        return;
    }
    if (d == 6 && w->gradient && w->strain[w->order[row]])
        tl_strain_velocity(w, w->order[row], s->z, b);
    else if (d == 3 && w->width == 6)
        tl_row_velocity(3, 6, w, w->order[row], s->z, b);
    else if (d == 3 && w->width == 2)
        tl_row_velocity(3, 2, w, w->order[row], s->z, b);
    else if (d == 6 && w->width == 3)
        tl_row_velocity(6, 3, w, w->order[row], s->z, b);
    else
        tl_row_velocity(d, 0, w, w->order[row], s->z, b);
    const double *diagonal =
        w->diagonal + ((int64_t)(row / TL_LANES) * d * d) * TL_LANES + row % TL_LANES;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) b[i] -= diagonal[(i * d + j) * TL_LANES] * ri[j];
}

// b of a row: its velocity without its own impulse.
TL_INLINE void sweep_velocity_without(int d, const tl_splitting *s, int32_t row, const double *ri,
                                      double *b) {
    for (int k = 0; k < d; k++) b[k] = s->w.q[(int64_t)d * row + k];
    sweep_add_others(d, s, row, ri, b);
}

// z ← z + (N Hᵀ)_row Δr
TL_INLINE void sweep_spread(int d, const tl_splitting *s, int32_t row, const double *delta) {
    const tl_delassus *w = &s->w;
    const int32_t block = w->order[row];
    if (!w->separable) {
        const double *y = w->y + (int64_t)block * d * w->dof;
        for (int i = 0; i < d; i++, y += w->dof)
            for (int32_t m = 0; m < w->dof; m++) s->z[m] += y[m] * delta[i];
    } else if (d == 6 && w->gradient && w->strain[block]) {
        tl_strain_spread(w, block, delta, s->z);
    } else if (d == 3 && w->width == 6) {
        tl_row_spread(3, 6, w, block, w->inverse, delta, s->z);
    } else if (d == 3 && w->width == 2) {
        tl_row_spread(3, 2, w, block, w->inverse, delta, s->z);
    } else if (d == 6 && w->width == 3) {
        tl_row_spread(6, 3, w, block, w->inverse, delta, s->z);
    } else {
        tl_row_spread(d, 0, w, block, w->inverse, delta, s->z);
    }
}

TL_INLINE tl_law sweep_law(const tl_splitting *s, int32_t row) {
    return (tl_law){.mu = s->law[tl_splitting_at(s, row, 3, 0)],
                    .zeta = s->law[tl_splitting_at(s, row, 3, 1)],
                    .yield = s->law[tl_splitting_at(s, row, 3, 2)]};
}

// Sums of one chunk while it is swept.
typedef struct sweep_tally {
    double activity, energy, glide, normal, tangent, solves, failures, saves; // tangent: squared
} sweep_tally;

// Whether a row has no impulse, and no momentum that would give it one.
TL_INLINE bool sweep_stays_open(int d, const tl_splitting *s, int32_t row) {
    const int64_t at = (int64_t)d * row;
    for (int k = 0; k < d; k++)
        if (s->r[at + k] != 0.0 || (s->push && s->push[at + k] != 0.0)) return false;
    return true;
}

// Take over the new impulse of a row: relax, record, store.
TL_INLINE void sweep_accept(int d, const tl_sweep *sweep, int32_t row, const double *fresh,
                            bool failed, sweep_tally *t) {
    tl_splitting *s = sweep->s;
    double *ri = s->r + (int64_t)d * row, delta[TL_MAX_DIM] = {0.0};
    // A block that was not solved is met half way, so that one bad answer cannot start a blow-up.
    const double omega = failed ? 0.5 : sweep->relaxation;
    double change = 0.0;
    for (int k = 0; k < d; k++) {
        delta[k] = omega * (fresh[k] - ri[k]);
        change += delta[k] * delta[k];
    }
    const double weight = s->lambda[row] < 1.0 ? s->lambda[row] : 1.0;
    t->activity += weight * weight * change;
    t->energy += s->lambda[row] * change;
    for (int k = 0; s->change && k < d; k++) {
        const double glide = s->push[(int64_t)d * row + k] + delta[k];
        s->change[(int64_t)d * row + k] = delta[k];
        t->glide += s->lambda[row] * (glide * glide);
    }
    t->normal = TL_MAX(fabs(delta[0]), t->normal);
    t->tangent = TL_MAX(tl_dot(d - 1, delta + 1, delta + 1), t->tangent);
    t->solves += 1.0;
    t->failures += failed ? 1.0 : 0.0;
    if (s->jacobi) {
        for (int k = 0; k < d; k++) s->next[(int64_t)d * row + k] = ri[k] + delta[k];
    } else {
        if (omega == 1.0) // not r + (fresh − r): the impulse must lie in its cone exactly
            for (int k = 0; k < d; k++) ri[k] = fresh[k];
        else
            for (int k = 0; k < d; k++) ri[k] += delta[k];
        if (!s->w.assembled) sweep_spread(d, s, row, delta);
    }
    const double settles = sweep->weighed ? s->lambda[row] * change : change;
    if (sweep->sleep > 0 && settles <= sweep->settled * sweep->settled)
        s->asleep[row] = sweep->sleep;
    else if (sweep->open > 0 && sweep_stays_open(d, s, row))
        s->asleep[row] = sweep->open;
}

TL_INLINE bool sweep_skips(const tl_sweep *sweep, int32_t row) {
    tl_splitting *s = sweep->s;
    if (s->plan.order[row] < 0) return true;
    if (!s->asleep || s->asleep[row] == 0) return false;
    s->asleep[row]--;
    return true;
}

// Of a block that `sound` marks: Coulomb's law, or else the associated one.
TL_INLINE bool sweep_is_coulomb(const tl_splitting *s, int32_t row) {
    return s->law[3 * (int64_t)row + 1] == 0.0;
}

// The quick way to solve a block, for blocks that `sound` marks.
TL_INLINE bool sweep_quick(int d, const tl_sweep *sweep, int32_t row, const double *b, double *r) {
    const tl_splitting *s = sweep->s;
    if (!s->sound[row]) return false;
    const double *w = s->block + (int64_t)row * d * d, mu = s->law[3 * (int64_t)row];
    const double tolerance = sweep->control.tolerance;
    if (d == 2) return slide_quick_2(w, mu, b, r);
    if (d == 6) return axes_quick(&s->axes[row], mu, b, tolerance, r);
    return sweep_is_coulomb(s, row) ? slide_quick_3(&s->known[row].schur, w, mu, b, tolerance, r)
                                    : lorentz_quick(&s->known[row].cone, b, r);
}

// The one-contact solver on one block. False when it failed; r is then its best.
TL_INLINE bool sweep_local(int d, const tl_sweep *sweep, int32_t row, const double *b, double *r,
                           sweep_tally *t) {
    const tl_splitting *s = sweep->s;
    const bool sound = d > 2 && s->sound[row];
    const tl_local p = {.w = s->block + (int64_t)row * d * d,
                        .inv = sound || !s->inverse ? NULL : s->inverse + (int64_t)row * d * d,
                        .schur = d == 3 && sound && sweep_is_coulomb(s, row) ? &s->known[row].schur
                                                                             : NULL,
                        .b = b,
                        .free = s->w.q + (int64_t)d * row,
                        .law = sweep_law(s, row),
                        .rho = s->rho[row],
                        .least = sweep->least};
    const int steps = sweep->local(&p, &sweep->control, r);
    t->saves += steps >= TL_LOCAL_SAVED ? 1.0 : 0.0;
    return steps >= 0;
}

// One group, block after block.
TL_INLINE void sweep_group_scalar(int d, const tl_sweep *sweep, int32_t group, bool backwards,
                                  sweep_tally *t) {
    const tl_splitting *s = sweep->s;
    for (int step = 0; step < TL_LANES; step++) {
        const int32_t row = group * TL_LANES + (backwards ? TL_LANES - 1 - step : step);
        if (sweep_skips(sweep, row)) continue;
        double b[TL_MAX_DIM], r[TL_MAX_DIM];
        for (int k = 0; k < d; k++) r[k] = s->r[(int64_t)d * row + k];
        sweep_velocity_without(d, s, row, r, b);
        const double *centre = s->centre ? s->centre + (int64_t)d * row : r;
        if (s->beta[row] > 0.0)
            for (int k = 0; k < d; k++) b[k] -= s->beta[row] * centre[k];
        bool failed = false;
        if (!(sweep->quick && sweep_quick(d, sweep, row, b, r)))
            failed = !sweep_local(d, sweep, row, b, r, t);
        sweep_accept(d, sweep, row, r, failed, t);
    }
}

// One group of uncoupled blocks, side by side.
TL_INLINE void sweep_group_lanes(int d, const tl_sweep *sweep, int32_t group, sweep_tally *t) {
    const tl_splitting *s = sweep->s;
    double b[TL_MAX_DIM * TL_LANES] = {0.0}, r[TL_MAX_DIM * TL_LANES] = {0.0};
    bool skip[TL_LANES];
    for (int lane = 0; lane < TL_LANES; lane++) {
        const int32_t row = group * TL_LANES + lane;
        skip[lane] = sweep_skips(sweep, row);
        if (skip[lane]) continue;
        double x[TL_MAX_DIM];
        const double *ri = s->r + (int64_t)d * row;
        const double *centre = s->centre ? s->centre + (int64_t)d * row : ri;
        sweep_velocity_without(d, s, row, ri, x);
        for (int k = 0; k < d; k++) {
            r[k * TL_LANES + lane] = ri[k];
            b[k * TL_LANES + lane] = x[k] - s->beta[row] * centre[k];
        }
    }
    sweep->lanes(s->block + (int64_t)group * d * d * TL_LANES,
                 s->law + (int64_t)group * 3 * TL_LANES, s->rho + (int64_t)group * TL_LANES, b, r);
    for (int lane = 0; lane < TL_LANES; lane++) {
        if (skip[lane]) continue;
        double x[TL_MAX_DIM];
        for (int k = 0; k < d; k++) x[k] = r[k * TL_LANES + lane];
        sweep_accept(d, sweep, group * TL_LANES + lane, x, false, t);
    }
}

// Matrix-free: the rows of a group have their blocks of H wherever the problem has them, which the
// processor cannot guess.
TL_INLINE void sweep_fetch(const tl_splitting *s, int32_t group) {
    const tl_delassus *w = &s->w;
    const int64_t *start = w->problem->h_start;
    for (int lane = 0; lane < TL_LANES; lane++) {
        const int32_t i = w->order[group * TL_LANES + lane];
        if (i < 0) continue;
        const int64_t size = w->gradient ? 3 : (int64_t)w->dim * w->width;
        const double *h = w->gradient ? w->gradient : w->h;
        for (int64_t k = start[i] * size; k < start[i + 1] * size;
             k += TL_ALIGN / (int64_t)sizeof *h) {
            TL_PREFETCH(h + k);
            if (w->y) TL_PREFETCH(w->y + k);
        }
    }
}

TL_INLINE void sweep_chunk(int d, const tl_sweep *sweep, int32_t chunk, bool backwards) {
    const tl_splitting *s = sweep->s;
    const int32_t first = s->plan.chunk_start[chunk], last = s->plan.chunk_start[chunk + 1];
    sweep_tally t = {0};
    for (int32_t k = 0; k < last - first; k++) {
        const int32_t group = backwards ? last - 1 - k : first + k;
        if (!s->w.assembled && (s->w.width > 0 || s->w.gradient) && k + 1 < last - first)
            sweep_fetch(s, backwards ? group - 1 : group + 1);
        if (sweep->lanes)
            sweep_group_lanes(d, sweep, group, &t);
        else
            sweep_group_scalar(d, sweep, group, backwards, &t);
    }
    double *part = s->part + (int64_t)chunk * TL_PARTS;
    part[TL_PART_ACTIVITY] = t.activity;
    part[TL_PART_ENERGY] = t.energy;
    part[TL_PART_GLIDE] = t.glide;
    part[TL_PART_NORMAL] = t.normal;
    part[TL_PART_TANGENT] = sqrt(t.tangent);
    part[TL_PART_SOLVES] += t.solves;
    part[TL_PART_FAILURES] += t.failures;
    part[TL_PART_SAVES] += t.saves;
}

// u += W r of a row.
TL_INLINE void sweep_add_product(int d, const tl_splitting *s, int32_t row, double *u) {
    TL_ASSUME(s->w.dim == d);
    const double *ri = s->r + (int64_t)d * row;
    double block[TL_MAX_DIM * TL_MAX_DIM], own[TL_MAX_DIM];
    tl_delassus_diagonal(&s->w, row, block);
    sweep_add_others(d, s, row, ri, u);
    tl_mv(d, block, ri, own);
    for (int k = 0; k < d; k++) u[k] += own[k];
}

void tl_sweep_product(const tl_splitting *s, int32_t row, double *u) {
    for (int k = 0; k < s->w.dim; k++) u[k] = 0.0;
    if (s->w.dim == 2) sweep_add_product(2, s, row, u);
    if (s->w.dim == 3) sweep_add_product(3, s, row, u);
    if (s->w.dim == 6) sweep_add_product(6, s, row, u);
}

TL_INLINE void sweep_check(int d, const tl_sweep *sweep, int32_t chunk) {
    const tl_splitting *s = sweep->s;
    const tl_splitting_options *opt = s->base.options;
    const tl_measure measure = (tl_measure)opt->common.stop;
    const bool sums = tl_measure_sums(measure);
    double total = 0.0;
    for (int32_t row = s->plan.chunk_start[chunk] * TL_LANES;
         row < s->plan.chunk_start[chunk + 1] * TL_LANES; row++) {
        if (s->plan.order[row] < 0) continue;
        const double *ri = s->r + (int64_t)d * row;
        double u[TL_MAX_DIM];
        memcpy(u, s->w.q + (int64_t)d * row, (size_t)d * sizeof *u);
        if (!sweep->at_rest) sweep_add_product(d, s, row, u);
        const tl_law law = sweep_law(s, row);
        double trace = 0.0;
        for (int k = 0; k < d; k++)
            trace += s->w.diagonal[((int64_t)(row / TL_LANES) * d * d + k * d + k) * TL_LANES +
                                   row % TL_LANES];
        const double x = tl_measure_block(d, measure, &law, s->lambda[row], trace, u, ri);
        if (sums)
            total += x;
        else if (!(x <= total)) // a NaN stays
            total = x;
    }
    s->part[(int64_t)chunk * TL_PARTS + TL_PART_CHECK] = total;
}

// ---- side by side, without W
// ---------------------------------------------------------------------

static tl_lanes_sweep sweep_abreast(const tl_splitting *s) {
    return (tl_lanes_sweep){.plan = &s->plan,
                            .bodies = s->w.problem->body_count,
                            .z = s->z,
                            .r = s->r,
                            .change = s->change,
                            .push = s->push,
                            .glide = s->glide};
}

static void sweep_abreast_chunk(const tl_sweep *sweep, int32_t chunk, bool backwards) {
    (void)backwards; // never asked for
    const tl_splitting *s = sweep->s;
    tl_lanes_sweep lanes = sweep_abreast(s);
    tl_lanes_tally t;
    double *part = s->part + (int64_t)chunk * TL_PARTS;
    lanes.share = sweep->share;
    lanes.nesterov = sweep->nesterov;
    if (s->round)
        tl_balls_chunk(&s->balls, &lanes, chunk, &t);
    else
        tl_pairs_chunk(&s->pairs, &lanes, chunk, &t);
    part[TL_PART_ACTIVITY] = t.activity;
    part[TL_PART_ENERGY] = t.energy;
    part[TL_PART_GLIDE] = t.glide;
    part[TL_PART_NORMAL] = t.normal;
    part[TL_PART_TANGENT] = sqrt(TL_MAX(t.tangent, 0.0));
    part[TL_PART_SOLVES] += t.solves;
    part[TL_PART_FAILURES] += t.failures;
    part[TL_PART_SAVES] += t.saves;
}

static void sweep_abreast_check(const tl_sweep *sweep, int32_t chunk) {
    const tl_splitting *s = sweep->s;
    const bool scaled = ((const tl_common_options *)s->base.options)->stop == TL_MEASURE_RESIDUAL;
    const tl_lanes_sweep lanes = sweep_abreast(s);
    s->part[(int64_t)chunk * TL_PARTS + TL_PART_CHECK] =
        s->round ? tl_balls_measure(&s->balls, &lanes, chunk, scaled)
                 : tl_pairs_measure(&s->pairs, &lanes, chunk, scaled);
}

// z ← z + N Hᵀ r over the rows of a chunk.
static void sweep_spread_chunk(const tl_splitting *s, int32_t chunk) {
    if (s->abreast) {
        const tl_lanes_sweep lanes = sweep_abreast(s);
        if (s->round)
            tl_balls_spread(&s->balls, &lanes, chunk);
        else
            tl_pairs_spread(&s->pairs, &lanes, chunk);
        return;
    }
    for (int32_t row = s->plan.chunk_start[chunk] * TL_LANES;
         row < s->plan.chunk_start[chunk + 1] * TL_LANES; row++) {
        const double *r = s->r + (int64_t)s->w.dim * row;
        if (s->plan.order[row] < 0) continue;
        if (s->w.dim == 2) sweep_spread(2, s, row, r);
        if (s->w.dim == 3) sweep_spread(3, s, row, r);
        if (s->w.dim == 6) sweep_spread(6, s, row, r);
    }
}

// ---- by dimension
// --------------------------------------------------------------------------------

#define SWEEP_FORMS(d)                                                                             \
    void tl_sweep_chunk_##d(const tl_sweep *sweep, int32_t chunk, bool backwards);                 \
    void tl_sweep_check_##d(const tl_sweep *sweep, int32_t chunk);                                 \
    TL_SIMD_CLONES void tl_sweep_chunk_##d(const tl_sweep *sweep, int32_t chunk, bool backwards) { \
        sweep_chunk(d, sweep, chunk, backwards);                                                   \
    }                                                                                              \
    TL_SIMD_CLONES void tl_sweep_check_##d(const tl_sweep *sweep, int32_t chunk) {                 \
        sweep_check(d, sweep, chunk);                                                              \
    }
SWEEP_FORMS(2)
SWEEP_FORMS(3)
SWEEP_FORMS(6)

// The change of one block that is as good as none, in the unit of the measure: for those that add
// up, what one block may contribute, were all to contribute the same.
static double sweep_settled(const tl_splitting *s) {
    const tl_splitting_options *opt = s->base.options;
    const talus_problem *p = s->w.problem;
    const double allowed = opt->sleep_level * opt->common.tolerance;
    switch ((tl_measure)opt->common.stop) {
    case TL_MEASURE_RESIDUAL:
        return allowed * tl_measure_scale(p, s->scale);
    case TL_MEASURE_FB:
        return sqrt(allowed);
    case TL_MEASURE_CHANGE:
    case TL_MEASURE_STEP:
        return allowed;
    case TL_MEASURE_NATURAL:
    case TL_MEASURE_BIPOTENTIAL:
        break;
    }
    return allowed * fmax(1.0, p->q_norm) / sqrt(fmax(1.0, p->count));
}

void tl_sweep_init(tl_sweep *sweep, tl_splitting *s) {
    const tl_splitting_options *opt = s->base.options;
    const talus_problem *p = s->w.problem;
    const int index = tl_dim_index(p->dim);
    static void (*const chunk[])(const tl_sweep *, int32_t,
                                 bool) = {tl_sweep_chunk_2, tl_sweep_chunk_3, tl_sweep_chunk_6};
    static void (*const check[])(const tl_sweep *, int32_t) = {tl_sweep_check_2, tl_sweep_check_3,
                                                               tl_sweep_check_6};
    *sweep = (tl_sweep){
        .s = s,
        .control = {.tolerance = opt->local_tolerance, .iterations = opt->local_iterations},
        .local = s->local->forms->solve[index],
        .quick = s->local->forms == &tl_local_hybrid,
        .lanes = s->lanes ? s->local->forms->lanes[index] : NULL,
        .relaxation = opt->relaxation / s->crowding,
        .settled = sweep_settled(s),
        .weighed = opt->common.stop == TL_MEASURE_RESIDUAL,
        .least =
            opt->local_tolerance > 0.0 ? sqrt(opt->local_absolute) / opt->local_tolerance : 0.0,
        .sleep = opt->sleep,
        .open = s->jacobi ? 0 : opt->open,
        .symmetric = opt->symmetric,
        .chunk = s->abreast ? sweep_abreast_chunk : chunk[index],
        .check = s->abreast ? sweep_abreast_check : check[index],
    };
    memset(s->part, 0, (size_t)s->plan.chunk_count * TL_PARTS * sizeof *s->part);
}

// Chunks [begin, end) of a colour that fall to this thread.
static void sweep_part(const tl_plan *plan, int32_t colour, tl_team *team, int rank, int64_t *begin,
                       int64_t *end) {
    const int32_t first = plan->colour_start[colour];
    tl_share(plan->colour_start[colour + 1] - first, tl_team_size(team), rank, begin, end);
    *begin += first;
    *end += first;
}

void tl_sweep_rest(const tl_splitting *s, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++)
        if (!s->abreast || k % TL_LANES_BODY < TL_LANES_MOVES) s->z[k] = 0.0;
}

// z = N Hᵀ r from scratch, colour by colour so that no two threads meet in an unknown. Where r has
// not changed (`shed`), z only sheds its drift, which is no part of its change since `z_before`:
// counted in, it would be carried on by the momentum, and grow from one rebuilding to the next.
static void sweep_rebuild(const tl_splitting *s, bool shed, tl_team *team, int rank) {
    const bool before = shed && s->z_before;
    int64_t begin, end, first_own, last_own;
    tl_share(s->w.dof, tl_team_size(team), rank, &begin, &end);
    tl_share(before ? tl_splitting_spread(s) : 0, tl_team_size(team), rank, &first_own, &last_own);
    for (int64_t k = first_own; k < last_own; k++) s->z_before[k] -= s->z[tl_splitting_place(s, k)];
    if (before) tl_barrier(team);
    tl_sweep_rest(s, begin, end);
    tl_barrier(team);
    for (int32_t colour = 0; colour < s->plan.colour_count; colour++) {
        int64_t first, last;
        sweep_part(&s->plan, colour, team, rank, &first, &last);
        for (int64_t c = first; c < last; c++) sweep_spread_chunk(s, (int32_t)c);
        tl_barrier(team);
    }
    for (int64_t k = first_own; k < last_own; k++) s->z_before[k] += s->z[tl_splitting_place(s, k)];
}

void tl_sweep_rebuild(const tl_splitting *s) {
    tl_sweep_rest(s, 0, s->w.dof);
    for (int32_t c = 0; c < s->plan.chunk_count; c++) sweep_spread_chunk(s, c);
}

void tl_sweep_run(const tl_sweep *sweep, int32_t index, tl_team *team, int rank) {
    tl_splitting *s = sweep->s;
    const tl_plan *plan = &s->plan;
    const bool backwards = sweep->symmetric && index % 2 == 1;
    int64_t begin, end;
    if (s->jacobi) {
        tl_share(plan->chunk_count, tl_team_size(team), rank, &begin, &end);
        for (int64_t c = begin; c < end; c++) sweep->chunk(sweep, (int32_t)c, false);
        tl_barrier(team);
        if (rank == 0) { // sleeping rows keep what `next` had two sweeps ago: copy, do not swap
            for (int32_t row = 0; row < plan->rows; row++)
                if (plan->order[row] >= 0 && !(s->asleep && s->asleep[row] > 0))
                    memcpy(s->r + (int64_t)s->w.dim * row, s->next + (int64_t)s->w.dim * row,
                           (size_t)s->w.dim * sizeof *s->r);
        }
        tl_barrier(team);
        if (!s->w.assembled) sweep_rebuild(s, false, team, rank);
        return;
    }
    for (int32_t k = 0; k < plan->colour_count; k++) {
        const int32_t colour = backwards ? plan->colour_count - 1 - k : k;
        sweep_part(plan, colour, team, rank, &begin, &end);
        for (int64_t c = begin; c < end; c++)
            sweep->chunk(sweep, (int32_t)(backwards ? end - 1 - (c - begin) : c), backwards);
        tl_barrier(team);
    }
}

void tl_sweep_measure(const tl_sweep *sweep, tl_team *team, int rank) {
    const tl_splitting *s = sweep->s;
    if (!s->w.assembled && !sweep->at_rest) sweep_rebuild(s, true, team, rank);
    const tl_common_options *opt = s->base.options;
    int64_t begin, end;
    tl_share(s->plan.chunk_count, tl_team_size(team), rank, &begin, &end);
    if (tl_measure_is_change((tl_measure)opt->stop)) end = begin; // the sweep has measured it
    for (int64_t c = begin; c < end; c++) sweep->check(sweep, (int32_t)c);
    tl_barrier(team);
}
