// SPDX-License-Identifier: Apache-2.0
// Constraint rows: the condensed problem that solvers get has the u, q and W of the given one, for
// clusters of all kinds, rows that depend on each other included; and the certificate judges C v =
// k.
#include "base/rng.h"
#include "problem/condense.h"
#include "problem/eliminate.h"
#include "talus/solver.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/context.h"

enum { BODIES = 12, BLOCKS = 14, ROWS = 16, MOST = 6 };

// A random problem: bodies 0–3 tied in a ring, 4–5 in a pair, 6 to the world, the others free.
typedef struct tied {
    talus_global_def def;
    int32_t body_start[BODIES + 1], h_body[2 * BLOCKS], index[ROWS * 2 * MOST];
    int64_t h_start[BLOCKS + 1], start[ROWS + 1];
    double diagonal[BODIES * MOST], block[BODIES * MOST * MOST], h[2 * BLOCKS * 3 * MOST];
    double f[BODIES * MOST], w[BLOCKS * 3], value[ROWS * 2 * MOST], k[ROWS];
    double mu[BLOCKS], yield[BLOCKS];
} tied;

static double draw(tl_rng *rng) { return tl_rng_range(rng, -1.0, 1.0); }

static void tied_row(tied *t, tl_rng *rng, int32_t size, int32_t a, int32_t b) {
    const int32_t j = t->def.c.rows++;
    int64_t used = t->start[j];
    for (int32_t side = 0; side < (b >= 0 ? 2 : 1); side++)
        for (int32_t e = 0; e < size; e++) {
            t->index[used] = (side == 0 ? a : b) * size + e;
            t->value[used++] = draw(rng);
        }
    t->start[j + 1] = used;
    t->k[j] = 0.3 * draw(rng);
}

// `twice`: the first row once more, doubled.
static void tied_make(int32_t dim, bool diagonal, bool twice, uint64_t seed, tied *t) {
    const int32_t size = dim == 2 ? 3 : 6;
    tl_rng rng = {seed};
    memset(t, 0, sizeof *t);
    for (int32_t b = 0; b <= BODIES; b++) t->body_start[b] = b * size;
    for (int32_t b = 0; b < BODIES; b++)
        for (int32_t i = 0; i < size; i++) {
            t->diagonal[b * size + i] = tl_rng_range(&rng, 0.1, 10.0);
            for (int32_t j = 0; j < size; j++)
                t->block[(b * size + i) * size + j] = i == j ? t->diagonal[b * size + i] : 0.05;
        }
    for (int32_t i = 0; i < BLOCKS; i++) {
        const int32_t a = i % BODIES, b = (i * 5 + 3) % BODIES;
        int64_t e = t->h_start[i];
        t->h_body[e++] = a < b ? a : b;
        if (a != b) t->h_body[e++] = a < b ? b : a;
        t->h_start[i + 1] = e;
        t->mu[i] = 0.2 + 0.05 * i;
        t->yield[i] = i % 3 == 0 ? 0.1 : 0.0;
    }
    for (int64_t k = 0; k < t->h_start[BLOCKS] * dim * size; k++) t->h[k] = draw(&rng);
    for (int32_t k = 0; k < BODIES * size; k++) t->f[k] = draw(&rng);
    for (int32_t k = 0; k < BLOCKS * dim; k++) t->w[k] = 0.1 * draw(&rng);
    for (int32_t k = 0; k < 4; k++) {
        tied_row(t, &rng, size, k < 3 ? k : 0, k < 3 ? k + 1 : 3);
        tied_row(t, &rng, size, k < 3 ? k : 0, k < 3 ? k + 1 : 3);
    }
    tied_row(t, &rng, size, 4, 5);
    tied_row(t, &rng, size, 6, -1);
    tied_row(t, &rng, size, 6, -1);
    if (twice) {
        tied_row(t, &rng, size, 0, 1);
        const int32_t j = t->def.c.rows - 1;
        for (int32_t e = 0; e < 2 * size; e++) t->value[t->start[j] + e] = 2.0 * t->value[e];
        t->k[j] = 2.0 * t->k[0];
    }
    t->def = (talus_global_def){.dim = dim,
                                .count = BLOCKS,
                                .body_count = BODIES,
                                .body_start = t->body_start,
                                .mass_diagonal = diagonal ? t->diagonal : NULL,
                                .mass_block = t->block,
                                .h_row_start = t->h_start,
                                .h_body = t->h_body,
                                .h_block = t->h,
                                .f = t->f,
                                .w = t->w,
                                .c = {.rows = t->def.c.rows,
                                      .cols = BODIES * size,
                                      .start = t->start,
                                      .index = t->index,
                                      .value = t->value},
                                .k = t->k,
                                .c_dependent = twice,
                                .law = {.mu = t->mu, .yield = t->yield}};
}

static void same_operator(void **state) {
    (void)state;
    static tied t;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int form = 0; form < 4; form++) {
            talus_problem *p = NULL;
            tied_make(dim, form & 1, (form & 2) != 0, 7 + (uint64_t)form, &t);
            assert_int_equal(talus_problem_create_global(ctx, &t.def, &p), TALUS_OK);
            const talus_problem *c = tl_problem_condensed(p);
            assert_ptr_not_equal(c, p);
            const int32_t size = dim == 2 ? 3 : 6;
            const talus_problem_info info = talus_problem_get_info(c);
            assert_int_equal(info.constraints, 0);
            assert_int_equal(info.count, BLOCKS);
            assert_true(tl_problem_is_separable(c));
            assert_true(info.dof < BODIES * size);
            assert_int_equal(tl_eliminate_cluster_count(p), 3);
            assert_int_equal(tl_eliminate_cluster_of(p, 11), -1);
            assert_true(tl_eliminate_cluster(p, 0).dependent == ((form & 2) != 0));
            tl_rng rng = {99};
            double r[BLOCKS * 3], u[BLOCKS * 3], other[BLOCKS * 3], v[BODIES * MOST];
            for (int round = 0; round < 5; round++) {
                for (int k = 0; k < BLOCKS * dim; k++) r[k] = round == 0 ? 0.0 : draw(&rng);
                assert_int_equal(talus_problem_state(p, r, v, u, NULL), TALUS_OK);
                assert_int_equal(talus_problem_state(c, r, NULL, other, NULL), TALUS_OK);
                // cond(S) digits: random rows are not far from orthogonal
                for (int k = 0; k < BLOCKS * dim; k++) assert_true(fabs(u[k] - other[k]) < 1e-10);
                for (int32_t j = 0; j < t.def.c.rows; j++) {
                    double left = -t.k[j];
                    for (int64_t e = t.start[j]; e < t.start[j + 1]; e++)
                        left += t.value[e] * v[t.index[e]];
                    assert_true(fabs(left) < 1e-10);
                }
            }
            talus_problem_set_law(p, TALUS_LAW_ASSOCIATED);
            assert_int_equal(c->law, TALUS_LAW_ASSOCIATED);
            talus_problem_destroy(p);
        }
}

// Solvers of different families give the motion that the certificate of the given problem accepts.
static void solvers_agree(void **state) {
    (void)state;
    static tied t;
    static const char *const names[] = {"auto", "nlgs", "ppn", "nipm", "admm"};
    for (int32_t dim = 2; dim <= 3; dim++) {
        talus_problem *p = NULL;
        double first[BODIES * MOST];
        tied_make(dim, true, dim == 3, 3, &t);
        for (int i = 0; i < BLOCKS; i++) t.yield[i] = 0.0;
        assert_int_equal(talus_problem_create_global(ctx, &t.def, &p), TALUS_OK);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            talus_solver *s = NULL;
            talus_solve_info info;
            talus_certificate verdict;
            double r[BLOCKS * 3] = {0.0}, v[BODIES * MOST];
            assert_int_equal(talus_solver_create(ctx, names[k], &s), TALUS_OK);
            assert_int_equal(talus_solver_set(s, "stop", "residual"), TALUS_OK);
            assert_int_equal(talus_solver_set(s, "tolerance", "1e-10"), TALUS_OK);
            assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
            assert_int_equal(talus_certify(p, r, &verdict), TALUS_OK);
            if (!(verdict.residual < 2e-10)) fail_msg("%s: %g", names[k], verdict.residual);
            assert_true(verdict.constraint < 1e-10 && verdict.motion < 1e-12);
            assert_int_equal(talus_problem_state(p, r, k == 0 ? first : v, NULL, NULL), TALUS_OK);
            for (int e = 0; k > 0 && e < BODIES * (dim == 2 ? 3 : 6); e++)
                assert_true(fabs(v[e] - first[e]) < 1e-7);
            talus_solver_destroy(s);
        }
        talus_problem_destroy(p);
    }
}

// Rows that say different things are met in the middle, and the certificate says so.
static void contradiction(void **state) {
    (void)state;
    const int32_t start[] = {0, 3}, index[] = {0, 0};
    const int64_t rows[] = {0, 1, 2};
    const double mass[] = {2.0, 2.0, 1.0}, f[] = {0.0, 4.0, 0.0}, value[] = {1.0, 1.0};
    const double k[] = {1.0, 3.0};
    talus_global_def def = {
        .dim = 2,
        .body_count = 1,
        .body_start = start,
        .mass_diagonal = mass,
        .f = f,
        .c = {.rows = 2, .cols = 3, .start = rows, .index = index, .value = value},
        .k = k};
    talus_problem *p = NULL;
    assert_int_equal(talus_problem_create_global(ctx, &def, &p), TALUS_ERR_SINGULAR);
    assert_non_null(strstr(talus_context_last_error(ctx), "depends on the other rows"));
    def.c_dependent = true;
    assert_int_equal(talus_problem_create_global(ctx, &def, &p), TALUS_OK);
    double v[3];
    talus_certificate verdict;
    assert_int_equal(talus_problem_state(p, NULL, v, NULL, NULL), TALUS_OK);
    assert_true(fabs(v[0] - 2.0) < 1e-6 && fabs(v[1] - 2.0) < 1e-15);
    assert_int_equal(talus_certify(p, NULL, &verdict), TALUS_OK);
    // off by 1 m/s; scale: the larger of (v·M v)^½ = 4 and |k| S^−½ = 3 √2
    assert_true(fabs(verdict.constraint - 1.0 / 3.0) < 1e-6);
    talus_problem_destroy(p);
}

// Every request for memory fails in turn, while a problem is made and while it is updated.
static void memory_runs_out(void **state) {
    (void)state;
    static tied small, large;
    tied_make(2, true, false, 1, &small);
    tied_make(3, false, true, 2, &large);
    for (int64_t at = 1;; at++) {
        talus_problem *p = NULL;
        const int64_t live = memory.live;
        memory.fail_at = memory.requests + at;
        const talus_status status = talus_problem_create_global(ctx, &large.def, &p);
        memory.fail_at = 0;
        if (status == TALUS_OK) {
            talus_problem_destroy(p);
            break;
        }
        assert_int_equal(status, TALUS_ERR_MEMORY);
        assert_true(!p && memory.live == live);
    }
    talus_problem *p = NULL;
    assert_int_equal(talus_problem_create_global(ctx, &small.def, &p), TALUS_OK);
    for (int64_t at = 1;; at++) {
        memory.fail_at = memory.requests + at;
        const talus_status status = talus_problem_update_global(p, &large.def);
        memory.fail_at = 0;
        if (status == TALUS_OK) break;
        assert_int_equal(talus_problem_update_global(p, &small.def), TALUS_OK);
    }
    double r[BLOCKS * 3] = {0.0}, u[BLOCKS * 3], other[BLOCKS * 3];
    assert_int_equal(talus_problem_state(p, r, NULL, u, NULL), TALUS_OK);
    assert_int_equal(talus_problem_state(tl_problem_condensed(p), r, NULL, other, NULL), TALUS_OK);
    for (int k = 0; k < BLOCKS * 3; k++) assert_true(fabs(u[k] - other[k]) < 1e-10);
    talus_problem_destroy(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(same_operator),
        TEST(solvers_agree),
        TEST(contradiction),
        TEST(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
