// SPDX-License-Identifier: Apache-2.0
// Rows that are rates of strain, known by their gradients alone, against the blocks of H.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "linalg/tensor.h"
#include "problem/strain.h"
#include "support/context.h"
#include "talus/solver.h"
#include <math.h>
#include <string.h>

enum { NODES = 40, ROWS = 30, STENCIL = 8, BODIES = NODES + 1, DOF = 3 * NODES + 6 };

// 40 nodes of three unknowns and a rigid body of six. All rows but the last two are rates of strain
// on 8 nodes, of which some are held along one, two or three axes; row 28 acts on the body, too,
// and row 29 is a node against its neighbour.
typedef struct strain_case {
    int32_t start[BODIES + 1];
    double mass[DOF], f[DOF], w[6 * ROWS], mu[ROWS];
    int64_t row[ROWS + 1];
    int32_t body[ROWS * (STENCIL + 1)];
    double h[ROWS * (STENCIL * 18 + 36)];
    int64_t offset[ROWS * (STENCIL + 1)];
    talus_global_def def;
} strain_case;

static void make(strain_case *c) {
    tl_rng rng = {.state = 11};
    int64_t blocks = 0, values = 0;
    *c = (strain_case){0};
    for (int b = 0; b <= BODIES; b++) c->start[b] = b <= NODES ? 3 * b : DOF;
    for (int k = 0; k < DOF; k++) {
        c->mass[k] = tl_rng_range(&rng, 0.5, 2.0);
        c->f[k] = tl_rng_normal(&rng);
    }
    for (int i = 0; i < ROWS; i++) {
        c->mu[i] = 0.4;
        const int first = (int)(tl_rng_next(&rng) % (NODES - 2 * STENCIL));
        const int nodes = i == ROWS - 1 ? 2 : STENCIL;
        for (int e = 0; e < nodes; e++) {
            const int node = first + 2 * e;
            const unsigned held = node % 5 == 0 ? (unsigned)node / 5 % 8 : 0;
            double g[3] = {tl_rng_normal(&rng), tl_rng_normal(&rng), tl_rng_normal(&rng)};
            double *h = c->h + values;
            tl_tensor_rate(3, g, h);
            for (int k = 0; k < 18; k++) {
                if (i == ROWS - 1) h[k] = k % 4 == 0 && k < 9 ? (e == 0 ? 1.0 : -1.0) : 0.0;
                if (held >> k % 3 & 1) h[k] = 0.0;
            }
            c->offset[blocks] = values;
            c->body[blocks++] = node;
            values += 18;
        }
        if (i == ROWS - 2) {
            for (int k = 0; k < 36; k++) c->h[values + k] = tl_rng_normal(&rng);
            c->offset[blocks] = values;
            c->body[blocks++] = NODES;
            values += 36;
        }
        c->row[i + 1] = blocks;
    }
    c->def = (talus_global_def){.dim = 6,
                                .count = ROWS,
                                .body_count = BODIES,
                                .body_start = c->start,
                                .mass_diagonal = c->mass,
                                .h_row_start = c->row,
                                .h_body = c->body,
                                .h_block = c->h,
                                .f = c->f,
                                .w = c->w,
                                .law = {.mu = c->mu}};
}

static void natural(int32_t *order, int32_t *rows) {
    *rows = (ROWS + TL_LANES - 1) / TL_LANES * TL_LANES;
    for (int32_t s = 0; s < *rows; s++) order[s] = s < ROWS ? s : -1;
}

// The kinds of rows are told apart; both products are those of the blocks; unknowns that are held
// stay at rest.
static void products(void **state) {
    (void)state;
    static strain_case c;
    talus_problem *p;
    tl_delassus w = {0};
    int32_t order[ROWS + TL_LANES], rows;
    tl_rng rng = {.state = 12};
    make(&c);
    natural(order, &rows);
    assert_int_equal(talus_problem_create_global(ctx, &c.def, &p), TALUS_OK);
    assert_int_equal(tl_delassus_create(ctx, p, false, NULL, rows, order, 1, &w), TALUS_OK);
    assert_non_null(w.gradient);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(w.strain[i], i < ROWS - 2);
        if (!w.strain[i]) continue;
        double x[6], u[6] = {0}, z[DOF], spread[DOF] = {0}, expected[DOF] = {0}, sum[6] = {0};
        for (int k = 0; k < 6; k++) x[k] = tl_rng_normal(&rng);
        for (int64_t e = c.row[i]; e < c.row[i + 1]; e++)
            for (int k = 0; k < 18; k++)
                expected[3 * c.body[e] + k % 3] +=
                    c.h[c.offset[e] + k] * x[k / 3] / c.mass[3 * c.body[e] + k % 3];
        tl_strain_spread(&w, i, x, spread);
        for (int k = 0; k < DOF; k++) {
            assert_true(fabs(spread[k] - expected[k]) <= 1e-14 * 20);
            z[k] = w.inverse[k] == 0.0 ? 0.0 : tl_rng_normal(&rng);
            if (w.inverse[k] == 0.0) assert_true(spread[k] == 0.0);
        }
        for (int64_t e = c.row[i]; e < c.row[i + 1]; e++)
            for (int k = 0; k < 18; k++)
                sum[k / 3] += c.h[c.offset[e] + k] * z[3 * c.body[e] + k % 3];
        tl_strain_velocity(&w, i, z, u);
        for (int k = 0; k < 6; k++) assert_true(fabs(u[k] - sum[k]) <= 1e-14 * 40);
    }
    tl_delassus_clear(&w);
    talus_problem_destroy(p);
}

// A block that is off by one number makes its row an ordinary one.
static void not_quite(void **state) {
    (void)state;
    static strain_case c;
    int32_t order[ROWS + TL_LANES], rows;
    natural(order, &rows);
    for (int k = 0; k < 18; k++) {
        talus_problem *p;
        tl_delassus w = {0};
        make(&c);
        int64_t e = c.row[3];
        while (c.body[e] % 5 == 0) e++; // a node that nothing holds
        c.h[c.offset[e] + k] += 1e-9;
        assert_int_equal(talus_problem_create_global(ctx, &c.def, &p), TALUS_OK);
        assert_int_equal(tl_delassus_create(ctx, p, false, NULL, rows, order, 1, &w), TALUS_OK);
        assert_false(w.strain[3]);
        assert_true(w.strain[2] && w.strain[4]);
        tl_delassus_clear(&w);
        talus_problem_destroy(p);
    }
}

// A team solves the problem with the bits of one thread, by either form of W to the tolerance.
static void solved_alike(void **state) {
    (void)state;
    static strain_case c;
    talus_problem *p;
    double r[3][6 * ROWS], u[3][6 * ROWS];
    make(&c);
    for (int k = 0; k < 6 * ROWS; k++) c.w[k] = k % 6 == 0 ? -1.0 : 0.1;
    assert_int_equal(talus_problem_create_global(ctx, &c.def, &p), TALUS_OK);
    for (int way = 0; way < 3; way++) {
        talus_solver *s;
        talus_solve_info info;
        memset(r[way], 0, sizeof r[way]);
        assert_int_equal(talus_solver_create(ctx, "nlgs", &s), TALUS_OK);
        assert_int_equal(talus_solver_set(s, "form", way == 2 ? "assembled" : "matrix-free"), 0);
        assert_int_equal(talus_solver_set(s, "order", "coloured"), TALUS_OK);
        assert_int_equal(talus_solver_set(s, "threads", way == 1 ? "3" : "1"), TALUS_OK);
        assert_int_equal(talus_solver_set(s, "tolerance", "1e-12"), TALUS_OK);
        assert_int_equal(talus_solver_set(s, "iterations", "20000"), TALUS_OK);
        assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
        assert_int_equal(talus_solver_solve(s, r[way], &info), TALUS_OK);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_int_equal(talus_problem_state(p, r[way], NULL, u[way], NULL), TALUS_OK);
        talus_solver_destroy(s);
    }
    assert_memory_equal(r[0], r[1], sizeof r[0]);
    for (int k = 0; k < 6 * ROWS; k++) assert_true(fabs(u[0][k] - u[2][k]) <= 1e-9);
    talus_problem_destroy(p);
}

// Let request 1, 2, 3 … for memory fail until none does.
static void failing_memory(void **state) {
    (void)state;
    static strain_case c;
    talus_problem *p;
    int32_t order[ROWS + TL_LANES], rows;
    talus_status status = TALUS_ERR_MEMORY;
    make(&c);
    natural(order, &rows);
    assert_int_equal(talus_problem_create_global(ctx, &c.def, &p), TALUS_OK);
    const int64_t live = memory.live, before = memory.requests;
    for (int64_t k = 1; status != TALUS_OK; k++) {
        tl_delassus w = {0};
        memory.fail_at = memory.requests + k;
        status = tl_delassus_create(ctx, p, false, NULL, rows, order, 1, &w);
        memory.fail_at = 0;
        if (status == TALUS_OK) tl_delassus_clear(&w);
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        assert_int_equal(memory.live, live);
    }
    assert_true(memory.requests - before > 8);
    talus_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(products, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_quite, set_up, tear_down),
        cmocka_unit_test_setup_teardown(solved_alike, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failing_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
