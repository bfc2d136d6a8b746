// SPDX-License-Identifier: Apache-2.0
// Lemke's method on the friction law with a polygon in place of the disc: exact in the plane, where
// the disc is a polygon of two corners, for comparison in space [docs/theory/pivoting.md]. With the
// corners d_j a contact has the unknowns r_N, β_j, σ and r_T = Σ_j β_j d_j:
//     0 <= r_N ⟂ u_N − zeta σ            >= 0
//     0 <= β_j ⟂ d_j·u_T + σ             >= 0
//     0 <= σ   ⟂ yield + mu r_N − Σ_j β_j >= 0
// σ is |u_T| (its gauge) where the contact slides. Without friction r_N is alone; with mu = inf
// there is no σ and the d_j are ± the axes, so that u_T = 0.
#include "cone/facets.h"
#include "solve/dual.h"
#include "solve/lcp.h"
#include <string.h>

enum {
    LEMKE_ROWS = 3000,     // of the tableau: 72 MB, and a pivot of some 10 ms
    LEMKE_FACETS = 64,     // most that are allowed
    LEMKE_INTERVAL = 50,   // pivots between corrections
    LEMKE_CORRECTIONS = 5, // most at a time
};

typedef struct lemke_options {
    tl_common_options common;
    int32_t facets;
    int32_t pyramid; // a tl_facet_shape
    bool warm;
} lemke_options;

typedef struct lemke {
    tl_dual dual;
    tl_lcp lcp;
    int32_t *first; // count + 1: first unknown of each contact
    double *unit;   // count: unit of r, that of u being its inverse; W is of size 1 in them
    double size;    // of q and the yields in these units: what z and w are measured in
    double *z, *w;  // n
    bool fresh;     // no pivot since the dictionary was built from the data
    bool whole;     // it was not left half built
    int corners;
    double corner[LEMKE_FACETS][2];
} lemke;

static const char *lemke_shape_name(int k) {
    static const char *const name[] = {
        [TL_FACETS_INSIDE] = "inscribed", [TL_FACETS_AROUND] = "circumscribed"};
    return k < 2 ? name[k] : NULL;
}

#define ROW(f, kind, initial, ...) TL_ROW(lemke_options, f, kind, initial, __VA_ARGS__)
static const tl_option lemke_rows[] = {
    ROW(facets, TL_OPTION_INTEGER, "0", .low = 0, .high = LEMKE_FACETS,
        .text = "sides of the pyramid in 3D, even and at least 4; 0: problems in 3D are refused"),
    ROW(pyramid, TL_OPTION_CHOICE, "inscribed", .choice = lemke_shape_name,
        .text = "in 3D: the pyramid in Coulomb's cone, or the one around it"),
    ROW(warm, TL_OPTION_YES_NO, "yes",
        .text = "look at the impulses given first: keep them if they will do"),
    {0},
};

// ---- layout --------------------------------------------------------------------------------

// The unknowns of one contact: r_N, then `corners` β, then σ where there is one.
typedef struct lemke_layout {
    int corners;
    bool slides;
} lemke_layout;

static lemke_layout lemke_layout_of(const tl_law *law, int d, int corners) {
    if (isinf(law->mu)) return (lemke_layout){2 * (d - 1), false};
    if (law->mu == 0.0 && law->yield == 0.0) return (lemke_layout){0, false};
    return (lemke_layout){corners, true};
}

static int lemke_unknowns(lemke_layout l) { return 1 + l.corners + (l.slides ? 1 : 0); }

static int lemke_corners(const talus_solver *base, int d) {
    const lemke_options *opt = base->options;
    return d == 2 ? 2 : opt->facets;
}

static int64_t lemke_count(const talus_solver *base, const talus_problem *p) {
    int64_t n = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const tl_law law = tl_problem_law(p, i);
        n += lemke_unknowns(lemke_layout_of(&law, p->dim, lemke_corners(base, p->dim)));
    }
    return n;
}

// The tangential vector of unknown β_j.
static void lemke_corner(const lemke *s, lemke_layout l, int j, double *t) {
    const int d = s->dual.w.dim;
    for (int k = 0; k < d - 1; k++) t[k] = 0.0;
    if (!l.slides) // ± the axes
        t[j / 2] = j % 2 == 0 ? 1.0 : -1.0;
    else if (d == 2)
        t[0] = j == 0 ? 1.0 : -1.0;
    else
        for (int k = 0; k < 2; k++) t[k] = s->corner[j][k];
}

// ---- the complementarity problem -----------------------------------------------------------

// r from z; not projected.
static void lemke_impulses(const lemke *s, const double *z, double *r) {
    const int d = s->dual.w.dim;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const lemke_layout l = lemke_layout_of(&s->dual.law[i], d, s->corners);
        const double *zi = z + s->first[i], unit = s->unit[i] * s->size;
        double *ri = r + (int64_t)d * i, t[TL_MAX_DIM];
        ri[0] = zi[0];
        for (int k = 1; k < d; k++) ri[k] = 0.0;
        for (int j = 0; j < l.corners; j++) {
            lemke_corner(s, l, j, t);
            for (int k = 1; k < d; k++) ri[k] += zi[1 + j] * t[k - 1];
        }
        for (int k = 0; k < d; k++) ri[k] *= unit;
    }
}

// w from z and the velocities u that belong to its impulses.
static void lemke_slacks(const lemke *s, const double *z, const double *u, double *w) {
    const int d = s->dual.w.dim;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const tl_law *law = &s->dual.law[i];
        const lemke_layout l = lemke_layout_of(law, d, s->corners);
        const double *zi = z + s->first[i], *ui = u + (int64_t)d * i;
        const double unit = s->unit[i] / s->size;
        const double sigma = l.slides ? zi[1 + l.corners] : 0.0;
        double *wi = w + s->first[i], t[TL_MAX_DIM], sum = 0.0;
        wi[0] = unit * ui[0] - (l.slides ? law->zeta * sigma : 0.0);
        for (int j = 0; j < l.corners; j++) {
            lemke_corner(s, l, j, t);
            wi[1 + j] = unit * tl_dot(d - 1, t, ui + 1) + sigma;
            sum += zi[1 + j];
        }
        if (l.slides)
            wi[1 + l.corners] = law->yield / (s->unit[i] * s->size) + law->mu * zi[0] - sum;
    }
}

// The vector of unknown k of a contact in (N, T): what r gains by it, and what w takes of u.
static void lemke_vector(const lemke *s, lemke_layout l, int k, double *v) {
    v[0] = k == 0 ? 1.0 : 0.0;
    for (int x = 1; x < s->dual.w.dim; x++) v[x] = 0.0;
    if (k >= 1 && k <= l.corners) lemke_corner(s, l, k - 1, v + 1);
}

// The part of M that couples contacts i and j through their block of W, column major.
static void lemke_fill_block(lemke *s, int32_t i, int32_t j, const double *block) {
    const int d = s->dual.w.dim;
    const lemke_layout li = lemke_layout_of(&s->dual.law[i], d, s->corners);
    const lemke_layout lj = lemke_layout_of(&s->dual.law[j], d, s->corners);
    const double units = s->unit[i] * s->unit[j];
    for (int b = 0; b <= lj.corners; b++) {
        double v[TL_MAX_DIM], u[TL_MAX_DIM] = {0.0};
        lemke_vector(s, lj, b, v);
        for (int y = 0; y < d; y++)
            for (int x = 0; x < d; x++) u[x] += units * block[y * d + x] * v[y];
        for (int a = 0; a <= li.corners; a++) {
            lemke_vector(s, li, a, v);
            tl_lcp_row(&s->lcp, s->first[i] + a)[s->first[j] + b] = tl_dot(d, v, u);
        }
    }
}

// M and q into the table.
static void lemke_fill(lemke *s) {
    const tl_delassus *w = &s->dual.w;
    const int d = w->dim;
    const int32_t n = s->lcp.n;
    TL_ASSUME_DIM(d);
    memset(s->lcp.table, 0, (size_t)(n * s->lcp.stride) * sizeof *s->lcp.table);
    memset(s->z, 0, (size_t)n * sizeof *s->z);
    lemke_slacks(s, s->z, w->q, s->w);
    for (int32_t k = 0; k < n; k++) *tl_lcp_constant(&s->lcp, k) = s->w[k];
    for (int32_t i = 0; i < w->problem->count; i++) {
        double row_major[TL_MAX_DIM * TL_MAX_DIM], block[TL_MAX_DIM * TL_MAX_DIM];
        tl_delassus_diagonal(w, i, row_major);
        for (int x = 0; x < d; x++)
            for (int y = 0; y < d; y++) block[y * d + x] = row_major[x * d + y];
        lemke_fill_block(s, i, i, block);
        for (int64_t e = w->start[i]; e < w->start[i + 1]; e++)
            lemke_fill_block(s, i, w->col[e], w->block + e * d * d);
        const tl_law *law = &s->dual.law[i];
        const lemke_layout l = lemke_layout_of(law, d, s->corners);
        if (!l.slides) continue;
        const int32_t normal = s->first[i], sigma = normal + 1 + l.corners;
        tl_lcp_row(&s->lcp, normal)[sigma] = -law->zeta;
        tl_lcp_row(&s->lcp, sigma)[normal] = law->mu;
        for (int j = 1; j <= l.corners; j++) {
            tl_lcp_row(&s->lcp, normal + j)[sigma] = 1.0;
            tl_lcp_row(&s->lcp, sigma)[normal + j] = -1.0;
        }
    }
}

// ---- the solver ----------------------------------------------------------------------------

static const char *lemke_refuses(const talus_solver *base, const talus_problem *p) {
    const lemke_options *opt = base->options;
    if (p->dim == 6)
        return "blocks of size 6 have no faceted cone here: take nlgs, apgd-asr or vi-eg";
    if (p->dim == 3 && opt->facets == 0)
        return "exact in 2D only; this problem is in 3D: set facets = 8 (or another even number) "
               "for a pyramid in place of the cone, or take nlgs";
    if (p->dim == 3 && (opt->facets < 4 || opt->facets % 2 != 0))
        return "facets must be even and at least 4: set facets = 8";
    if (lemke_count(base, p) > LEMKE_ROWS)
        return "the problem needs a dense tableau of more than 3000 rows (4 per contact in 2D, "
               "facets + 2 in 3D): take nlgs or apgd-asr, or fewer facets";
    return NULL;
}

static void lemke_clear(talus_solver *base) {
    lemke *s = (lemke *)base;
    tl_lcp_clear(base->ctx, &s->lcp);
    tl_free(base->ctx, s->first);
    tl_free(base->ctx, s->unit);
    tl_free(base->ctx, s->z);
    tl_free(base->ctx, s->w);
    s->first = NULL;
    s->unit = s->z = s->w = NULL;
    tl_dual_clear(base);
}

static talus_status lemke_prepare(talus_solver *base, const talus_problem *p) {
    lemke *s = (lemke *)base;
    talus_context *ctx = base->ctx;
    const lemke_options *opt = base->options;
    const int d = p->dim;
    const int32_t n = (int32_t)lemke_count(base, p);
    TL_TRY(tl_dual_prepare_as(base, p, 5, true, false, opt->warm));
    TL_TRY(tl_lcp_create(ctx, n, &s->lcp));
    TL_TRY(TL_ALLOC(ctx, p->count + 1, &s->first));
    TL_TRY(TL_ALLOC(ctx, p->count, &s->unit));
    TL_TRY(TL_ALLOC(ctx, n, &s->z));
    TL_TRY(TL_ALLOC(ctx, n, &s->w));
    s->corners = lemke_corners(base, d);
    for (int j = 0; d == 3 && j < s->corners; j++)
        tl_facet_corner(s->corners / 2, (tl_facet_shape)opt->pyramid, j, s->corner[j]);
    s->size = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        const tl_law *law = &s->dual.law[i];
        s->first[i + 1] = s->first[i] + lemke_unknowns(lemke_layout_of(law, d, s->corners));
        s->unit[i] = 1.0 / sqrt(s->dual.lambda[i]);
        const double q = s->unit[i] * tl_norm(d, s->dual.w.q + (int64_t)d * i);
        s->size = TL_MAX(TL_MAX(q, law->yield / s->unit[i]), s->size);
    }
    if (s->size == 0.0) s->size = 1.0;
    lemke_fill(s); // each solve does it again; only the first touch of so much memory is slow
    return TALUS_OK;
}

// The impulses of the present basis and their velocities. In the plane they are put into their
// sets, which z0 enlarges; in space the set is the pyramid's.
static void lemke_candidate(lemke *s, double *r, double *u) {
    const int d = s->dual.w.dim;
    tl_lcp_get(&s->lcp, s->z);
    lemke_impulses(s, s->z, r);
    for (int32_t i = 0; d == 2 && i < s->dual.w.problem->count; i++) {
        double *ri = r + (int64_t)d * i;
        tl_project(d, &s->dual.law[i], ri, ri);
    }
    tl_dual_apply(&s->dual, r, u);
}

// The largest of the w that the present basis says are zero, from the data.
static double lemke_error(lemke *s) {
    double *r = s->dual.vector[3], *u = s->dual.vector[4], most = 0.0;
    tl_lcp_get(&s->lcp, s->z);
    lemke_impulses(s, s->z, r);
    tl_dual_apply(&s->dual, r, u);
    lemke_slacks(s, s->z, u, s->w);
    const int32_t at = s->lcp.place[2 * s->lcp.n];
    const double z0 = at >= 0 ? *tl_lcp_constant(&s->lcp, at) : 0.0;
    for (int32_t k = 0; k < s->lcp.n; k++) {
        s->w[k] += z0;
        if (s->lcp.place[k] < 0) most = TL_MAX(fabs(s->w[k]), most);
    }
    return most;
}

// What rounding alone may leave of such a w.
static double lemke_rounding(const lemke *s) {
    double most = 1.0;
    for (int32_t k = 0; k < s->lcp.n; k++) most = TL_MAX(fabs(s->z[k]), most);
    return 1e-13 * most;
}

// Solve the present basis to what rounding allows: the dictionary holds its inverse, good enough
// to correct with as long as the error falls. False when the first correction shows that it is not.
static bool lemke_correct(lemke *s) {
    double least = INFINITY;
    for (int step = 0; step < LEMKE_CORRECTIONS; step++) {
        const double error = lemke_error(s);
        if (step == 1 && error > 1e-4 * least && error > lemke_rounding(s)) return false;
        if (!(error < 0.5 * least)) break;
        least = error;
        tl_lcp_correct(&s->lcp, s->w);
    }
    return true;
}

// The dictionary of the present basis from the data: TL_LCP_SOLVED; TL_LCP_RAY when the basis is
// singular; TL_LCP_GOES_ON when the solve has to end before it is there.
static tl_lcp_state lemke_rebuild(lemke *s) {
    tl_lcp_state state = TL_LCP_GOES_ON;
    tl_lcp_remember(&s->lcp);
    lemke_fill(s);
    tl_lcp_begin(&s->lcp);
    while (state == TL_LCP_GOES_ON && !tl_dual_hurried(&s->dual)) state = tl_lcp_restore(&s->lcp);
    s->fresh = true;
    s->whole = state != TL_LCP_GOES_ON;
    return state;
}

// One pivot, and what has to be done so that rounding does not decide: now and then the constants
// are corrected, and where that shows the dictionary to be worn, or it says that there is no
// answer, it is built anew.
static tl_lcp_state lemke_pivot(lemke *s) {
    const tl_lcp_state state = tl_lcp_pivot(&s->lcp);
    if (state == TL_LCP_RAY && s->fresh) return state;
    s->fresh = false;
    if (state == TL_LCP_SOLVED) lemke_candidate(s, s->dual.vector[2], s->dual.vector[4]);
    if (state == TL_LCP_GOES_ON && s->dual.iterations % LEMKE_INTERVAL != 0) return state;
    if (state != TL_LCP_RAY && lemke_correct(s)) return state;
    const tl_lcp_state rebuilt = lemke_rebuild(s);
    if (rebuilt != TL_LCP_SOLVED) return rebuilt;
    (void)lemke_correct(s);
    return state == TL_LCP_RAY ? TL_LCP_GOES_ON : state; // a ray is looked at again
}

static void lemke_solve(talus_solver *base, double *r, talus_solve_info *info) {
    lemke *s = (lemke *)base;
    double *x = s->dual.vector[0], *u = s->dual.vector[1];
    tl_dual_begin(&s->dual, r, x, info);
    tl_dual_apply(&s->dual, x, u);
    lemke_fill(s);
    tl_lcp_begin(&s->lcp);
    s->fresh = s->whole = true;
    tl_lcp_state state = TL_LCP_GOES_ON;
    // No `before`: a pivot may leave r as it is, which says nothing.
    while (state == TL_LCP_GOES_ON && !tl_dual_over(&s->dual, x, u, NULL)) {
        state = lemke_pivot(s);
        if (state == TL_LCP_GOES_ON && s->whole && tl_dual_due(&s->dual)) lemke_candidate(s, x, u);
    }
    if (state != TL_LCP_GOES_ON) {
        const bool solved = state == TL_LCP_SOLVED;
        lemke_candidate(s, x, u);
        tl_dual_finish(&s->dual, x, u, solved ? s->dual.vector[2] : NULL,
                       solved && s->dual.w.dim == 3);
    }
    tl_dual_end(&s->dual, r);
}

const tl_solver_ops tl_lemke_ops = {.name = "lemke",
                                    .summary = "Lemke's pivoting: exact in 2D, a pyramid in 3D",
                                    .size = sizeof(lemke),
                                    .options_size = sizeof(lemke_options),
                                    .options = lemke_rows,
                                    .refuses = lemke_refuses,
                                    .prepare = lemke_prepare,
                                    .solve = lemke_solve,
                                    .clear = lemke_clear};
