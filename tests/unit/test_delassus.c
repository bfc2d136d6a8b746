// SPDX-License-Identifier: Apache-2.0
// The Delassus operator as solvers see it, against dense matrices computed by the tests: every
// form of the problem, rows in any order with gaps, assembled and matrix-free.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "problem/delassus.h"
#include "support/context.h"
#include "support/solve_cases.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Blocks in random order with empty lanes among them.
static int32_t shuffled(int32_t count, uint64_t seed, int32_t *order) {
    tl_rng rng = {.state = seed};
    const int32_t rows = (2 * count + TL_LANES) / TL_LANES * TL_LANES;
    for (int32_t s = 0; s < rows; s++) order[s] = s < count ? s : -1;
    for (int32_t s = rows - 1; s > 0; s--) {
        const int32_t t = (int32_t)(tl_rng_next(&rng) % (uint64_t)(s + 1)), keep = order[s];
        order[s] = order[t];
        order[t] = keep;
    }
    return rows;
}

// u of the rows by the operator's own arrays: what a solver does, in the plainest way.
static void operator_u(const tl_delassus *w, const double *l, double *u) {
    const int d = w->dim;
    double *z = solve_room(w->dof);
    const talus_problem *p = w->problem;
    for (int32_t s = 0; s < w->rows && !w->assembled; s++) {
        const int32_t block = w->order[s];
        if (block < 0) continue;
        for (int k = 0; !tl_problem_is_separable(p) && k < d * w->dof; k++)
            z[k % w->dof] += w->y[(int64_t)block * d * w->dof + k] * l[s * d + k / w->dof];
        if (!tl_problem_is_separable(p)) continue;
        for (int64_t e = p->h_start[block]; e < p->h_start[block + 1]; e++) {
            const int32_t body = p->h_body[e], dof = p->body_start[body];
            const int32_t size = p->body_start[body + 1] - dof;
            for (int k = 0; k < d * size; k++) {
                const double y = w->y ? w->y[p->h_offset[e] + k]
                                      : p->h_block[p->h_offset[e] + k] * w->inverse[dof + k % size];
                z[dof + k % size] += y * l[s * d + k / size];
            }
        }
    }
    for (int32_t s = 0; s < w->rows; s++) {
        double block[36];
        for (int i = 0; i < d; i++) u[s * d + i] = w->q[s * d + i];
        if (w->order[s] < 0) continue;
        tl_delassus_diagonal(w, s, block);
        for (int i = 0; i < d && w->assembled; i++)
            for (int j = 0; j < d; j++) u[s * d + i] += block[i * d + j] * l[s * d + j];
        for (int64_t e = w->assembled ? w->start[s] : 0; w->assembled && e < w->start[s + 1]; e++)
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) // column major
                    u[s * d + i] += w->block[e * d * d + j * d + i] * l[w->col[e] * d + j];
        const int64_t first = w->assembled ? 0 : p->h_start[w->order[s]];
        const int64_t last = w->assembled ? 0 : p->h_start[w->order[s] + 1];
        for (int64_t e = first; e < last; e++) {
            const int32_t dof = p->body_start[p->h_body[e]];
            const int32_t size = p->body_start[p->h_body[e] + 1] - dof;
            for (int k = 0; k < d * size; k++)
                u[s * d + k / size] += p->h_block[p->h_offset[e] + k] * z[dof + k % size];
        }
    }
    free(z);
}

static void check_operator(const solve_case *c, const tl_delassus *w) {
    const int d = c->dim;
    double *l = solve_room((int64_t)w->rows * d), *u = solve_room((int64_t)w->rows * d);
    double *r = solve_room(c->size), *expected = solve_room(c->size);
    tl_rng rng = {.state = 4};
    // Diagonal blocks, entry by entry.
    for (int32_t s = 0; s < w->rows; s++) {
        double block[36];
        const int i = w->order[s];
        if (i < 0) continue;
        tl_delassus_diagonal(w, s, block);
        for (int x = 0; x < d; x++)
            for (int y = 0; y < d; y++)
                assert_true(fabs(block[x * d + y] -
                                 c->delassus[(i * d + x) * c->size + i * d + y]) <= 1e-12);
    }
    // u = W r + q, with l = r + tension n.
    for (int trial = 0; trial < 4; trial++) {
        for (int k = 0; k < c->size; k++) r[k] = trial == 0 ? 0.0 : tl_rng_normal(&rng);
        solve_case_u(c, r, expected);
        memset(l, 0, (size_t)(w->rows * d) * sizeof *l);
        for (int32_t s = 0; s < w->rows; s++) {
            const int i = w->order[s];
            for (int k = 0; k < d && i >= 0; k++)
                l[s * d + k] = r[i * d + k] + (k == 0 && c->tension ? c->tension[i] : 0.0);
        }
        for (int way = 0; way < 2; way++) { // by our own loops over the arrays, and by the library
            if (way == 0)
                operator_u(w, l, u);
            else
                tl_delassus_apply(w, 1, true, l, u);
            for (int32_t s = 0; s < w->rows; s++)
                for (int k = 0; k < d && w->order[s] >= 0; k++)
                    assert_true(fabs(u[s * d + k] - expected[w->order[s] * d + k]) <= 1e-11);
        }
        if (trial == 0) continue;
        tl_delassus_apply(w, 1, false, l, u); // W l alone
        for (int32_t s = 0; s < w->rows; s++)
            for (int k = 0; k < d && w->order[s] >= 0; k++)
                assert_true(fabs(u[s * d + k] + w->q[s * d + k] - expected[w->order[s] * d + k]) <=
                            1e-11);
    }
    free(l);
    free(u);
    free(r);
    free(expected);
}

// The graph has exactly the couplings of the dense W, or more (a dense form may count all).
static void check_graph(const solve_case *c, const tl_graph *g) {
    const int d = c->dim;
    assert_int_equal(g->count, c->count);
    for (int32_t i = 0; i < g->count; i++) {
        bool *has = calloc((size_t)c->count + 1, sizeof *has);
        assert_non_null(has);
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            assert_true(g->adjacent[e] != i);
            if (e > g->start[i]) assert_true(g->adjacent[e] > g->adjacent[e - 1]);
            has[g->adjacent[e]] = true;
        }
        for (int32_t j = 0; j < c->count; j++) {
            double most = 0.0;
            for (int k = 0; k < d * d; k++)
                most = fmax(most, fabs(c->delassus[(i * d + k / d) * c->size + j * d + k % d]));
            if (j != i && most > 1e-12) assert_true(has[j]);
            if (c->def.kind == SOLVE_GLOBAL && j != i && most <= 1e-12) assert_false(has[j]);
        }
        free(has);
    }
}

static void all_forms(void **state) {
    (void)state;
    for (int kind = 0; kind < SOLVE_KINDS; kind++)
        for (int d = 2; d <= 6; d += d == 3 ? 3 : 1)
            for (int n = 0; n <= 16; n += n < 2 ? 1 : 7)
                for (int tension = 0; tension < 2; tension++) {
                    const solve_def def = {.kind = (solve_kind)kind,
                                           .dim = d,
                                           .count = n,
                                           .mu = 0.5,
                                           .coupling = 0.8,
                                           .tension = tension == 1,
                                           .seed = (uint64_t)n};
                    solve_case c;
                    int32_t order[64];
                    tl_graph g;
                    solve_case_make(ctx, &def, &c);
                    assert_int_equal(tl_graph_create(ctx, c.problem, &g), TALUS_OK);
                    check_graph(&c, &g);
                    const int32_t rows = shuffled(n, (uint64_t)(n + d), order);
                    for (int form = 0; form < 2; form++)
                        for (int threads = 1; threads <= 3; threads += 2) {
                            tl_delassus w;
                            assert_int_equal(tl_delassus_create(ctx, c.problem, form == 0, &g, rows,
                                                                order, threads, &w),
                                             TALUS_OK);
                            assert_true(w.assembled == (form == 0 || kind == SOLVE_LOCAL));
                            check_operator(&c, &w);
                            tl_delassus_clear(&w);
                            tl_delassus_clear(&w); // twice is legal
                        }
                    tl_graph_clear(ctx, &g);
                    solve_case_clear(&c);
                }
}

// A block may stand on one side of the diagonal only (W asymmetric by less than 1e-2). Both blocks
// must then know of each other, or two threads would work on them at once.
static void one_sided_pattern(void **state) {
    (void)state;
    const int64_t start[] = {0, 2, 3, 4};
    const int32_t col[] = {0, 2, 1, 2};
    const double block[] = {1, 0, 0, 1, 5e-3, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1};
    const double q[6] = {-1, 1, -1, 1, -1, 1}, mu[3] = {.5, .5, .5};
    const talus_local_def def = {.dim = 2,
                                 .count = 3,
                                 .row_start = start,
                                 .col = col,
                                 .block = block,
                                 .q = q,
                                 .law = {.mu = mu}};
    talus_problem *p = NULL;
    tl_graph g;
    assert_int_equal(talus_problem_create_local(ctx, &def, &p), TALUS_OK);
    assert_int_equal(tl_graph_create(ctx, p, &g), TALUS_OK);
    bool coupled[3][3] = {{false}};
    for (int32_t i = 0; i < 3; i++)
        for (int64_t e = g.start[i]; e < g.start[i + 1]; e++) coupled[i][g.adjacent[e]] = true;
    const bool both = coupled[0][2] && coupled[2][0];
    // u of such a problem is W r + q as given, in any order.
    const int32_t order[TL_LANES] = {2, -1, 0, 1, -1, -1, -1, -1};
    const double r[6] = {1, 2, 3, 4, 5, 6};
    double l[2 * TL_LANES] = {0}, u[2 * TL_LANES] = {0};
    tl_delassus w;
    assert_int_equal(tl_delassus_create(ctx, p, true, &g, TL_LANES, order, 1, &w), TALUS_OK);
    for (int s = 0; s < TL_LANES; s++)
        for (int k = 0; k < 2 && order[s] >= 0; k++) l[2 * s + k] = r[2 * order[s] + k];
    operator_u(&w, l, u);
    const double expected[6] = {0.025, 3, 2, 5, 4, 7};
    for (int s = 0; s < TL_LANES; s++)
        for (int k = 0; k < 2 && order[s] >= 0; k++)
            assert_true(fabs(u[2 * s + k] - expected[2 * order[s] + k]) <= 1e-14);
    tl_delassus_clear(&w);
    tl_graph_clear(ctx, &g);
    talus_problem_destroy(p);
    assert_true(both);
}

static void memory_sweep(void **state) {
    (void)state;
    for (int kind = 0; kind < SOLVE_KINDS; kind++)
        for (int form = 0; form < 2; form++) {
            solve_case c;
            int32_t order[64];
            solve_case_make(ctx,
                            &(solve_def){.kind = (solve_kind)kind,
                                         .dim = 3,
                                         .count = 5,
                                         .mu = 0.5,
                                         .coupling = 0.5,
                                         .tension = true},
                            &c);
            const int32_t rows = shuffled(5, 1, order);
            for (int64_t k = 1;; k++) {
                tl_graph g = {0};
                tl_delassus w = {0};
                const int64_t live = memory.live;
                memory.fail_at = memory.requests + k;
                talus_status status = tl_graph_create(ctx, c.problem, &g);
                if (status == TALUS_OK)
                    status = tl_delassus_create(ctx, c.problem, form == 0, &g, rows, order, 1, &w);
                memory.fail_at = 0;
                if (status == TALUS_OK) tl_delassus_clear(&w);
                tl_graph_clear(ctx, &g);
                assert_true(memory.live == live);
                if (status == TALUS_OK) break;
                assert_int_equal(status, TALUS_ERR_MEMORY);
            }
            solve_case_clear(&c);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_sided_pattern, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_sweep, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
