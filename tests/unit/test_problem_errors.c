// SPDX-License-Identifier: Apache-2.0
// Bad input: every check of a problem is triggered once, and its text must name the entry. Each row
// of the tables spoils one thing of a problem that is otherwise right.
#include "support/alloc.h"
#include "talus/problem.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// A right local problem with something to spoil: two contacts in 2D and one constraint row.
typedef struct local_case {
    int64_t row_start[3];
    int32_t col[4];
    double block[16], q[4], mu[2], dilatancy[2], yield[2], tension[2], c[1];
    int64_t b_start[5], p_start[2];
    int32_t b_index[4], p_index[1];
    double b_value[4], p_value[1];
    talus_local_def def;
} local_case;

static void local_fill(local_case *s) {
    *s = (local_case){.row_start = {0, 2, 4},
                      .col = {0, 1, 0, 1},
                      .block = {4, 1, 1, 3, 1, 0, .5, 1, 1, .5, 0, 1, 5, 0, 0, 2},
                      .q = {-1, 1, -2, 0},
                      .mu = {.5, INFINITY},
                      .dilatancy = {.25, 0},
                      .yield = {0, 1},
                      .tension = {1, 0},
                      .c = {.5},
                      .b_start = {0, 1, 1, 2, 2},
                      .p_start = {0, 1},
                      .b_index = {0, 0},
                      .p_index = {0},
                      .b_value = {1, .5},
                      .p_value = {2}};
    s->def =
        (talus_local_def){.dim = 2,
                          .count = 2,
                          .row_start = s->row_start,
                          .col = s->col,
                          .block = s->block,
                          .q = s->q,
                          .law = {TALUS_LAW_COULOMB, s->mu, s->dilatancy, s->yield, s->tension},
                          .b = {4, 1, s->b_start, s->b_index, s->b_value},
                          .p = {1, 1, s->p_start, s->p_index, s->p_value},
                          .c = s->c};
}

// A right global problem: two bodies of two unknowns, two contacts in 2D, two constraint rows; M is
// given both ways, the sparse way used when mass_block is taken away.
typedef struct global_case {
    int32_t body_start[3], h_body[3];
    double mass_block[8], diagonal[4], h_block[12], f[4], w[4], mu[2], k[2];
    int64_t m_start[5], h_row_start[3], c_start[3];
    int32_t m_index[8], c_index[4];
    double m_value[8], c_value[4];
    talus_global_def def;
} global_case;

static void global_fill(global_case *s) {
    *s = (global_case){.body_start = {0, 2, 4},
                       .h_body = {0, 1, 1},
                       .mass_block = {2, .5, .5, 1, 3, 0, 0, 3},
                       .diagonal = {1, 1, 1, 1},
                       .h_block = {1, 0, 0, 1, -1, 0, 0, -1, 1, 0, 0, 1},
                       .f = {0, -1, 0, -1},
                       .w = {0, 0, .1, 0},
                       .mu = {.5, .3},
                       .k = {0, 1},
                       .m_start = {0, 2, 4, 6, 8},
                       .h_row_start = {0, 2, 3},
                       .c_start = {0, 2, 4},
                       .m_index = {0, 1, 0, 1, 2, 3, 2, 3},
                       .c_index = {0, 2, 1, 3},
                       .m_value = {2, .5, .5, 1, 3, 0, 0, 3},
                       .c_value = {1, 1, 1, -1}};
    s->def = (talus_global_def){.dim = 2,
                                .count = 2,
                                .body_count = 2,
                                .body_start = s->body_start,
                                .mass_block = s->mass_block,
                                .mass = {4, 4, s->m_start, s->m_index, s->m_value},
                                .h_row_start = s->h_row_start,
                                .h_body = s->h_body,
                                .h_block = s->h_block,
                                .f = s->f,
                                .w = s->w,
                                .c = {2, 4, s->c_start, s->c_index, s->c_value},
                                .k = s->k,
                                .law = {.mu = s->mu}};
}

typedef struct expected {
    talus_status status;
    const char *text; // must be part of the error
} expected;

#define NOT_A_NUMBER ((double)NAN)
#define INFINITE ((double)INFINITY)
// One row: expected status and text, and the expression that spoils the problem `s`.
#define BAD(code, words, ...)                                                                      \
    if (row == at++) {                                                                             \
        *e = (expected){TALUS_ERR_##code, words};                                                  \
        (void)(__VA_ARGS__);                                                                       \
        return true;                                                                               \
    }                                                                                              \
    (void)0

static bool local_spoil(int row, local_case *s, expected *e) {
    int at = 0;
    BAD(ARG, "row_start is NULL", s->def.row_start = NULL);
    BAD(ARG, "col is NULL, but must have 4", s->def.col = NULL);
    BAD(ARG, "block is NULL, but must have 16", s->def.block = NULL);
    BAD(ARG, "q is NULL, but must have 4", s->def.q = NULL);
    BAD(ARG, "mu is NULL", s->def.law.mu = NULL);
    BAD(ARG, "law = 7", s->def.law.law = (talus_law)7);
    BAD(PROBLEM, "dim = 4, but must be 2, 3 or 6", s->def.dim = 4);
    BAD(PROBLEM, "dim = 0", s->def.dim = 0);
    BAD(PROBLEM, "count = -1, but must not be negative", s->def.count = -1);
    BAD(PROBLEM, "31 bits", s->def.count = 2000000000);
    BAD(PROBLEM, "row_start[0] = 1, but must be 0", s->row_start[0] = 1);
    BAD(PROBLEM, "row_start[2] = 1, but must not be less", s->row_start[2] = 1);
    BAD(PROBLEM, "col[1] = 2 in block row 0, but must be from 0 to 1", s->col[1] = 2);
    BAD(PROBLEM, "col[2] = -1 in block row 1", s->col[2] = -1);
    BAD(PROBLEM, "col[1] = 0 in block row 0 follows 1, but must ascend", s->col[0] = 1,
        s->col[1] = 0);
    BAD(PROBLEM, "col[3] = 0 in block row 1 follows 0, but must ascend without repeats",
        s->col[3] = 0);
    BAD(PROBLEM, "block row 1 of W has no diagonal block", s->row_start[2] = 3,
        s->def.b.rows = s->def.p.rows = 0);
    BAD(PROBLEM, "block[5] = nan in the block (0, 1) of W", s->block[5] = NOT_A_NUMBER);
    BAD(PROBLEM, "block[12] = inf in the block (1, 1) of W", s->block[12] = INFINITE);
    BAD(PROBLEM, "q[3] = nan, but must be finite", s->q[3] = NOT_A_NUMBER);
    BAD(PROBLEM, "mu[0] = -0.1, but must be in [0, inf]", s->mu[0] = -.1);
    BAD(PROBLEM, "mu[1] = nan", s->mu[1] = NOT_A_NUMBER);
    BAD(PROBLEM, "dilatancy[0] = 0.75, but must be finite and in [0, mu], mu[0] = 0.5",
        s->dilatancy[0] = .75);
    BAD(PROBLEM, "dilatancy[1] = -1", s->dilatancy[1] = -1);
    BAD(PROBLEM, "dilatancy[1] = inf", s->dilatancy[1] = INFINITE);
    BAD(PROBLEM, "yield[1] = -2, but must be finite and not negative", s->yield[1] = -2);
    BAD(PROBLEM, "tension[0] = nan", s->tension[0] = NOT_A_NUMBER);
    BAD(PROBLEM, "diagonal block 1 of W (constraints eliminated) has W_NN = -5.125",
        s->block[12] = -5);
    BAD(PROBLEM, "diagonal block 1 of W has W_NN = 0", s->block[12] = 0,
        s->def.b.rows = s->def.p.rows = 0);
    BAD(PROBLEM, "diagonal block 0 of W has the eigenvalue", s->block[3] = -1,
        s->def.b.rows = s->def.p.rows = 0);
    BAD(PROBLEM, "entries (0, 3) and (3, 0) differ by 0.1", s->block[5] = .5);
    BAD(PROBLEM, "B has 3 rows, but must have dim * count = 4", s->def.b.rows = 3);
    BAD(PROBLEM, "B has 0 rows", s->def.b.rows = 0);
    BAD(PROBLEM, "P is 1 by 2, but must be square", s->def.p.cols = 2);
    BAD(PROBLEM, "B has 2 columns, but must have as many as P has rows, 1", s->def.b.cols = 2);
    BAD(ARG, "c is NULL", s->def.c = NULL);
    BAD(PROBLEM, "c[0] = inf", s->c[0] = INFINITE);
    BAD(ARG, "B: the array of row starts is NULL", s->def.b.start = NULL);
    BAD(ARG, "P: it has 1 entries, but the array of their values is NULL", s->def.p.value = NULL);
    BAD(ARG, "the array of their indices is NULL", s->def.b.index = NULL);
    BAD(PROBLEM, "B: the start of row 0 is 1, but must be 0", s->b_start[0] = 1);
    BAD(PROBLEM, "B: row starts must not decrease, but start[2] = 0 follows 1", s->b_start[2] = 0);
    BAD(PROBLEM, "B: entry 1 in row 2 has column 3, but must have one from 0 to 0",
        s->b_index[1] = 3);
    BAD(PROBLEM, "P: entry 0 (row 0, column 0) is nan", s->p_value[0] = NOT_A_NUMBER);
    BAD(SINGULAR, "P is singular: no pivot in column 0", s->p_value[0] = 0);
    return false;
}

static bool global_spoil(int row, global_case *s, expected *e) {
    int at = 0;
    BAD(PROBLEM, "dim = 5", s->def.dim = 5);
    BAD(PROBLEM, "body_count = -2, but must not be negative", s->def.body_count = -2);
    BAD(ARG, "body_start is NULL", s->def.body_start = NULL);
    BAD(PROBLEM, "body_start[0] = 1, but must be 0", s->body_start[0] = 1);
    BAD(PROBLEM, "body_start[2] = 1, but must not be less than body_start[1] = 2",
        s->body_start[2] = 1);
    BAD(ARG, "mass_diagonal, mass_block and mass.start are all NULL", s->def.mass_block = NULL,
        s->def.mass.start = NULL);
    BAD(SINGULAR, "mass_diagonal[2] = 0, but must be finite and positive",
        s->def.mass_diagonal = s->diagonal, s->diagonal[2] = 0);
    BAD(SINGULAR, "mass_diagonal[1] = -2", s->def.mass_diagonal = s->diagonal, s->diagonal[1] = -2);
    BAD(SINGULAR, "mass_diagonal[3] = nan", s->def.mass_diagonal = s->diagonal,
        s->diagonal[3] = NOT_A_NUMBER);
    BAD(SINGULAR, "mass_diagonal[0] = inf", s->def.mass_diagonal = s->diagonal,
        s->diagonal[0] = INFINITE);
    BAD(PROBLEM, "M is 3 by 4, but must be 4 by 4", s->def.mass_block = NULL, s->def.mass.rows = 3);
    BAD(ARG, "h_row_start is NULL", s->def.h_row_start = NULL);
    BAD(ARG, "h_body is NULL", s->def.h_body = NULL);
    BAD(ARG, "h_block is NULL", s->def.h_block = NULL);
    BAD(PROBLEM, "h_row_start[2] = 1", s->h_row_start[2] = 1);
    BAD(PROBLEM, "h_body[2] = 2 in block row 1, but must be from 0 to 1", s->h_body[2] = 2);
    BAD(PROBLEM, "h_body[1] = 0 in block row 0 follows 0", s->h_body[1] = 0);
    BAD(PROBLEM, "block row 1 of H is empty", s->h_row_start[2] = 2);
    BAD(PROBLEM, "h_block[6] = nan in the block of contact 0 and body 1",
        s->h_block[6] = NOT_A_NUMBER);
    BAD(PROBLEM, "the normal row of contact 1 in H is zero", s->h_block[8] = 0);
    BAD(ARG, "f is NULL, but must have 4", s->def.f = NULL);
    BAD(PROBLEM, "f[2] = inf", s->f[2] = INFINITE);
    BAD(ARG, "w is NULL", s->def.w = NULL);
    BAD(PROBLEM, "w[1] = nan", s->w[1] = NOT_A_NUMBER);
    BAD(PROBLEM, "mu[1] = -1", s->mu[1] = -1);
    BAD(PROBLEM, "C has -1 rows", s->def.c.rows = -1);
    BAD(PROBLEM, "C has 5 columns, but must have as many as there are velocities, 4",
        s->def.c.cols = 5);
    BAD(ARG, "k is NULL", s->def.k = NULL);
    BAD(PROBLEM, "k[1] = nan", s->k[1] = NOT_A_NUMBER);
    BAD(PROBLEM, "C: entry 3 in row 1 has column 4", s->c_index[3] = 4);
    BAD(PROBLEM, "C: entry 0 (row 0, column 0) is inf", s->c_value[0] = INFINITE);
    BAD(SINGULAR, "row 1 of C is zero", s->c_value[2] = s->c_value[3] = 0);
    BAD(SINGULAR, "of C depends on the other rows", s->c_index[2] = 0, s->c_index[3] = 2,
        s->c_value[2] = s->c_value[3] = 1.0 / 3);
    BAD(PROBLEM, "M: entry (0, 1) of the block of body 0 is nan", s->mass_block[1] = NOT_A_NUMBER);
    BAD(PROBLEM, "M is not symmetric: entry (1, 0) is 0.5", s->mass_block[1] = .50001);
    BAD(SINGULAR,
        "block of body 1 (unknowns 2 to 3) is not positive definite: no positive pivot "
        "in its column 1, where the diagonal entry is -3",
        s->mass_block[7] = -3);
    BAD(SINGULAR, "block of body 0 (unknowns 0 to 1) is not positive definite",
        s->mass_block[1] = s->mass_block[2] = sqrt(2.0));
    BAD(SINGULAR, "block of body 0", s->mass_block[0] = 0);
    BAD(PROBLEM, "M: entry 1 in column 0 has row 9", s->def.mass_block = NULL, s->m_index[1] = 9);
    BAD(PROBLEM, "M: entry 4 (column 2, row 2) is nan", s->def.mass_block = NULL,
        s->m_value[4] = NOT_A_NUMBER);
    BAD(PROBLEM, "M is not symmetric: entry (1, 0)", s->def.mass_block = NULL, s->m_value[1] = .6);
    BAD(SINGULAR, "block of body 1", s->def.mass_block = NULL, s->m_value[7] = 0);
    BAD(SINGULAR, "M is not positive definite: no positive pivot in column",
        s->def.mass_block = NULL, s->m_index[5] = 0, s->m_index[4] = 2, s->m_value[5] = 9,
        s->m_value[2] = 0, s->m_value[1] = 0);
    BAD(SINGULAR,
        "M is not positive definite: no positive pivot in column 3, where the diagonal "
        "entry is -3",
        s->def.mass_block = NULL, s->m_value[7] = -3, s->m_index[5] = 0, s->m_value[5] = .1,
        s->m_value[2] = 0, s->m_value[1] = 0);
    return false;
}

typedef struct log_record {
    int count;
    char text[512];
} log_record;

static void log_keep(void *user, talus_log_level level, const char *text) {
    log_record *record = user;
    assert_int_equal(level, TALUS_LOG_WARNING);
    record->count++;
    snprintf(record->text, sizeof record->text, "%s", text);
}

static void check_refused(const talus_context *ctx, int row, talus_status status,
                          const talus_problem *p, const expected *e) {
    const char *text = talus_context_last_error(ctx);
    if (status != e->status || !strstr(text, e->text) || p)
        fail_msg("row %d: status %d and \"%s\" instead of %d and \"%s\"", row, (int)status, text,
                 (int)e->status, e->text);
}

static void bad_local_problems_are_refused(void **state) {
    (void)state;
    test_alloc memory = {0};
    const talus_context_def def = test_alloc_def(&memory);
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_OK);
    const int64_t live = memory.live;
    expected e;
    local_case s;
    int row = 0;
    for (;; row++) {
        talus_problem *p = (talus_problem *)&s;
        local_fill(&s);
        if (!local_spoil(row, &s, &e)) break;
        const talus_status status = talus_problem_create_local(ctx, &s.def, &p);
        check_refused(ctx, row, status, p, &e);
        assert_int_equal(memory.live, live);
    }
    assert_true(row > 40);
    talus_problem *p;
    assert_int_equal(talus_problem_create_local(ctx, &s.def, &p), TALUS_OK); // not spoilt
    talus_problem_destroy(p);
    assert_int_equal(talus_problem_create_local(ctx, NULL, &p), TALUS_ERR_ARG);
    talus_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

static void bad_global_problems_are_refused(void **state) {
    (void)state;
    test_alloc memory = {0};
    const talus_context_def def = test_alloc_def(&memory);
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_OK);
    const int64_t live = memory.live;
    expected e;
    global_case s;
    int row = 0;
    for (;; row++) {
        talus_problem *p = (talus_problem *)&s;
        global_fill(&s);
        if (!global_spoil(row, &s, &e)) break;
        const talus_status status = talus_problem_create_global(ctx, &s.def, &p);
        check_refused(ctx, row, status, p, &e);
        assert_int_equal(memory.live, live);
    }
    assert_true(row > 35);
    talus_problem *p;
    for (int sparse = 0; sparse < 2; sparse++) { // not spoilt
        if (sparse) s.def.mass_block = NULL;
        assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
        talus_problem_destroy(p);
    }
    assert_int_equal(talus_problem_create_global(ctx, NULL, &p), TALUS_ERR_ARG);
    talus_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

// Legal and close to what is not: semidefinite diagonal blocks, W slightly asymmetric.
static void borders_of_the_legal(void **state) {
    (void)state;
    log_record record = {0};
    const talus_context_def def = {.log = log_keep, .log_user = &record};
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_OK);
    local_case s;
    talus_problem *p;
    local_fill(&s);
    s.def.b.rows = s.def.p.rows = 0;
    s.block[3] = 0.25; // [4 1; 1 1/4] has the eigenvalue 0
    assert_int_equal(talus_problem_create_local(ctx, &s.def, &p), TALUS_OK);
    assert_int_equal(record.count, 0);
    assert_true(talus_problem_get_info(p).asymmetry == 0.0);
    talus_problem_destroy(p);
    local_fill(&s);
    s.def.b.rows = s.def.p.rows = 0;
    s.block[5] += 0.04; // of 5: 0.8 %
    assert_int_equal(talus_problem_create_local(ctx, &s.def, &p), TALUS_OK);
    assert_int_equal(record.count, 1);
    assert_non_null(strstr(record.text, "(0, 3) and (3, 0) differ by 0.008"));
    assert_true(fabs(talus_problem_get_info(p).asymmetry - 0.008) < 1e-15);
    double r[4] = {0, 0, 0, 1}, u[4]; // solved as given: the entry is not averaged
    assert_int_equal(talus_problem_state(p, r, NULL, u, NULL), TALUS_OK);
    assert_true(u[0] == -1 + 0.04);
    assert_int_equal(talus_problem_state(p, NULL, NULL, u, NULL), TALUS_ERR_ARG);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_local_problems_are_refused),
        cmocka_unit_test(bad_global_problems_are_refused),
        cmocka_unit_test(borders_of_the_legal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
