// SPDX-License-Identifier: Apache-2.0
// FCLIB files: round trips, agreement with libfclib in both directions, and the problem set.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/fclib_cases.h"
#ifdef TALUS_HAVE_FCLIB
#include <fclib.h>
#endif
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// NULL on both sides, or equal bits.
static void assert_same_or_null(const double *a, const double *b, int64_t n) {
    assert_int_equal(a == NULL, b == NULL);
    if (a) fclib_assert_same(a, b, n);
}

static void test_round_trip_local(void **state) {
    fixture *f = *state;
    const int dims[] = {2, 3, 6};
    for (int i = 0; i < 3; i++) {
        for (int kind = 0; kind < 4; kind++) {
            const local_data d = fclib_local_data(f, dims[i]);
            talus_problem *p = fclib_make_local(f, &d, kind & 1, kind & 2);
            if (kind == 2) talus_problem_set_law(p, TALUS_LAW_ASSOCIATED);
            fclib_write_ok(f, p, NULL);
            talus_problem *back = fclib_read_ok(f, NULL);
            fclib_assert_local(back, &d);
            assert_int_equal(back->law, p->law);
            assert_same_or_null(back->dilatancy, p->dilatancy, COUNT);
            assert_same_or_null(back->yield, p->yield, COUNT);
            assert_same_or_null(back->tension, p->tension, COUNT);
            assert_int_equal(back->dilatancy != NULL, (kind & 2) != 0);
            assert_int_equal(back->constraint_count, kind & 1 ? ROWS : 0);
            fclib_assert_same(back->q, p->q, d.size);
            fclib_assert_same(back->w_block, p->w_block, p->w_start[COUNT] * d.dim * d.dim);
            if (kind & 1) fclib_assert_same(back->k, d.s, ROWS);
            talus_problem_destroy(back);
            talus_problem_destroy(p);
        }
    }
}

static void test_round_trip_global(void **state) {
    fixture *f = *state;
    const int dims[] = {2, 3, 6};
    for (int i = 0; i < 6; i++) {
        const global_data d = fclib_global_data(f, dims[i / 2]);
        talus_problem *p = fclib_make_global(f, &d, i % 2);
        fclib_write_ok(f, p, NULL);
        talus_problem *back = fclib_read_ok(f, NULL);
        fclib_assert_global(back, &d);
        assert_int_equal(back->law, TALUS_LAW_ASSOCIATED);
        assert_int_equal(back->body_count, 3);
        assert_memory_equal(back->body_start, fclib_body, sizeof fclib_body);
        assert_int_equal(back->constraint_count, i % 2 ? ROWS : 0);
        if (i % 2) {
            fclib_assert_same(back->k, d.k, ROWS);
            for (int e = 0; e < ROWS * DOF; e++)
                assert_true(tl_csr_at(&back->c, e / DOF, e % DOF) == d.c[e]);
        }
        fclib_assert_same(back->q, p->q, d.size);
        talus_problem_destroy(back);
        talus_problem_destroy(p);
    }
}

static void test_round_trip_extra(void **state) {
    fixture *f = *state;
    const global_data d = fclib_global_data(f, 3);
    talus_problem *p = fclib_make_global(f, &d, true);
    double v[2][DOF], u[2][SIZE], r[2][SIZE], l[2][ROWS];
    for (int i = 0; i < 2; i++) {
        fclib_random_vector(f, DOF, v[i]);
        fclib_random_vector(f, d.size, u[i]);
        fclib_random_vector(f, d.size, r[i]);
        fclib_random_vector(f, ROWS, l[i]);
    }
    char title[] = "A title", description[] = "", math[] = "unknown";
    talus_solution solution = {v[0], u[0], r[0], l[0]};
    talus_solution guess[2] = {{v[1], u[1], r[1], l[1]}, {NULL, NULL, r[0], NULL}};
    const talus_fclib_extra extra = {title, description, math, &solution, guess, 2};
    fclib_write_ok(f, p, &extra);
    talus_fclib_extra back = {0};
    talus_problem *q = fclib_read_ok(f, &back);
    assert_string_equal(back.title, title);
    assert_string_equal(back.description, description);
    assert_string_equal(back.math_info, math);
    assert_non_null(back.solution);
    assert_int_equal(back.guess_count, 2);
    fclib_assert_same(back.solution->v, v[0], DOF);
    fclib_assert_same(back.solution->u, u[0], d.size);
    fclib_assert_same(back.solution->r, r[0], d.size);
    fclib_assert_same(back.solution->l, l[0], ROWS);
    fclib_assert_same(back.guess[0].v, v[1], DOF);
    fclib_assert_same(back.guess[0].l, l[1], ROWS);
    // Only r was given: the rest is the state that follows from it.
    assert_int_equal(talus_problem_state(p, r[0], v[1], u[1], l[1]), TALUS_OK);
    fclib_assert_same(back.guess[1].r, r[0], d.size);
    fclib_assert_same(back.guess[1].v, v[1], DOF);
    fclib_assert_same(back.guess[1].u, u[1], d.size);
    fclib_assert_same(back.guess[1].l, l[1], ROWS);
    talus_fclib_extra_clear(f->ctx, &back);
    assert_null(back.title);
    talus_problem_destroy(q);
    talus_problem_destroy(p);

    // A solution without r stays a part; nothing is made up.
    const local_data local = fclib_local_data(f, 2);
    p = fclib_make_local(f, &local, false, false);
    talus_solution part = {NULL, u[0], NULL, NULL};
    const talus_fclib_extra only_u = {.solution = &part};
    fclib_write_ok(f, p, &only_u);
    q = fclib_read_ok(f, &back);
    assert_null(back.title);
    assert_null(back.solution->r);
    fclib_assert_same(back.solution->u, u[0], local.size);
    assert_int_equal(back.guess_count, 0);
    talus_fclib_extra_clear(f->ctx, &back);
    talus_problem_destroy(q);
    talus_problem_destroy(p);
}

// No contacts at all is a legal problem.
static void test_empty(void **state) {
    fixture *f = *state;
    const int64_t start[1] = {0};
    const double mass[4] = {2.0, 0.0, 0.0, 3.0}, force[2] = {1.0, -1.0}, none[1] = {0.0};
    const int32_t body[2] = {0, 2}, index[1] = {0};
    const talus_local_def local = {
        .dim = 3, .row_start = start, .col = index, .block = none, .q = none, .law = {.mu = none}};
    const talus_global_def global = {.dim = 2,
                                     .body_count = 1,
                                     .body_start = body,
                                     .mass_block = mass,
                                     .h_row_start = start,
                                     .h_body = index,
                                     .h_block = none,
                                     .f = force,
                                     .w = none,
                                     .law = {.mu = none}};
    for (int i = 0; i < 2; i++) {
        talus_problem *p = NULL;
        assert_int_equal(i ? talus_problem_create_global(f->ctx, &global, &p)
                           : talus_problem_create_local(f->ctx, &local, &p),
                         TALUS_OK);
        talus_solution solution = {NULL, NULL, (double[1]){0.0}, NULL};
        fclib_write_ok(f, p, &(talus_fclib_extra){.solution = &solution});
        talus_fclib_extra extra;
        talus_problem *back = fclib_read_ok(f, &extra);
        assert_int_equal(back->dim, i ? 2 : 3);
        assert_int_equal(back->count, 0);
        assert_int_equal(back->dof, i ? 2 : 0);
        assert_null(extra.solution->r);
        if (i) {
            fclib_assert_same(back->f, force, 2);
            assert_true(extra.solution->v[0] == 0.5);
        }
        talus_fclib_extra_clear(f->ctx, &extra);
        talus_problem_destroy(back);
        talus_problem_destroy(p);
    }
}

static void test_same_bytes(void **state) {
    fixture *f = *state;
    static unsigned char first[1 << 17], second[1 << 17];
    const global_data d = fclib_global_data(f, 3);
    talus_problem *p = fclib_make_global(f, &d, true);
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        fclib_write_ok(f, p, NULL);
        FILE *stream = fopen(f->file, "rb");
        assert_non_null(stream);
        sizes[i] = fread(i ? second : first, 1, sizeof first, stream);
        (void)fclose(stream);
    }
    assert_true(sizes[0] > 0 && sizes[0] < sizeof first);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(first, second, sizes[0]);
    talus_problem_destroy(p);
}

#ifdef TALUS_HAVE_FCLIB
static void fclib_dense(const struct fclib_matrix *a, double *out) {
    memset(out, 0, (size_t)(a->m * a->n) * sizeof *out);
    if (a->nz >= 0) {
        for (int e = 0; e < a->nz; e++) out[a->i[e] * a->n + a->p[e]] += a->x[e];
    } else {
        const int outer = a->nz == -2 ? a->m : a->n;
        for (int j = 0; j < outer; j++)
            for (int e = a->p[j]; e < a->p[j + 1]; e++)
                out[a->nz == -2 ? j * a->n + a->i[e] : a->i[e] * a->n + j] += a->x[e];
    }
}

static void test_fclib_reads_local(void **state) {
    fixture *f = *state;
    const local_data d = fclib_local_data(f, 3);
    talus_problem *p = fclib_make_local(f, &d, true, true);
    char title[] = "title";
    double u[SIZE], r[SIZE], l[ROWS];
    fclib_random_vector(f, d.size, r);
    assert_int_equal(talus_problem_state(p, r, NULL, u, l), TALUS_OK);
    talus_solution solution = {NULL, NULL, r, NULL}, guess[2] = {solution, solution};
    fclib_write_ok(f, p, &(talus_fclib_extra){title, NULL, NULL, &solution, guess, 2});
    struct fclib_local *q = fclib_read_local(f->file);
    assert_non_null(q);
    assert_int_equal(q->spacedim, 3);
    double dense[SIZE * SIZE];
    fclib_dense(q->W, dense);
    fclib_assert_same(dense, d.w, (int64_t)d.size * d.size);
    fclib_dense(q->V, dense);
    fclib_assert_same(dense, d.v, (int64_t)d.size * ROWS);
    fclib_dense(q->R, dense);
    fclib_assert_same(dense, d.r, ROWS * ROWS);
    fclib_assert_same(q->q, d.q, d.size);
    fclib_assert_same(q->s, d.s, ROWS);
    fclib_assert_same(q->mu, d.mu, COUNT);
    assert_string_equal(q->info->title, title);
    struct fclib_solution *s = fclib_read_solution(f->file);
    assert_non_null(s);
    fclib_assert_same(s->u, u, d.size);
    fclib_assert_same(s->r, r, d.size);
    fclib_assert_same(s->l, l, ROWS);
    int count = 0;
    struct fclib_solution *g = fclib_read_guesses(f->file, &count);
    assert_int_equal(count, 2);
    fclib_assert_same(g[1].r, r, d.size);
    fclib_delete_solutions(g, count);
    fclib_delete_solutions(s, 1);
    fclib_delete_local(q);
    free(q);
    talus_problem_destroy(p);
}

static void test_fclib_reads_global(void **state) {
    fixture *f = *state;
    const global_data d = fclib_global_data(f, 3);
    talus_problem *p = fclib_make_global(f, &d, true);
    double r[SIZE], v[DOF], l[ROWS];
    fclib_random_vector(f, d.size, r);
    assert_int_equal(talus_problem_state(p, r, v, NULL, l), TALUS_OK);
    talus_solution solution = {NULL, NULL, r, NULL};
    fclib_write_ok(f, p, &(talus_fclib_extra){.solution = &solution});
    struct fclib_global *q = fclib_read_global(f->file);
    assert_non_null(q);
    double dense[SIZE * DOF];
    fclib_dense(q->M, dense);
    fclib_assert_same(dense, d.m, DOF * DOF);
    assert_int_equal(q->H->m, DOF);
    assert_int_equal(q->H->n, d.size);
    fclib_dense(q->H, dense);
    for (int i = 0; i < DOF; i++)
        for (int j = 0; j < d.size; j++) assert_true(dense[i * d.size + j] == d.h[j * DOF + i]);
    assert_int_equal(q->G->n, ROWS);
    fclib_dense(q->G, dense);
    for (int i = 0; i < DOF; i++)
        for (int j = 0; j < ROWS; j++) assert_true(dense[i * ROWS + j] == d.c[j * DOF + i]);
    for (int i = 0; i < ROWS; i++) assert_true(q->b[i] == -d.k[i]);
    fclib_assert_same(q->f, d.f, DOF);
    fclib_assert_same(q->w, d.w, d.size);
    fclib_assert_same(q->mu, d.mu, COUNT);
    struct fclib_solution *s = fclib_read_solution(f->file);
    fclib_assert_same(s->v, v, DOF);
    fclib_assert_same(s->r, r, d.size);
    fclib_assert_same(s->l, l, ROWS);
    fclib_delete_solutions(s, 1);
    fclib_delete_global(q);
    free(q);
    talus_problem_destroy(p);
}

// A dense matrix in one of the three storages; triplets get room for more than they use.
typedef struct stored {
    struct fclib_matrix matrix;
    int p[SIZE * SIZE + 8], i[SIZE * SIZE + 8];
    double x[SIZE * SIZE + 8];
} stored;

static void store(stored *s, int m, int n, const double *a, int nz) {
    int used = 0;
    s->matrix = (struct fclib_matrix){.m = m, .n = n, .p = s->p, .i = s->i, .x = s->x};
    const int outer = nz == -2 ? m : n, inner = nz == -2 ? n : m;
    s->p[0] = 0;
    for (int j = 0; j < outer; j++) {
        for (int k = inner - 1; k >= 0; k--) {
            const double x = nz == -2 ? a[j * n + k] : a[k * n + j];
            if (x == 0.0) continue;
            s->i[used] = k;
            if (nz >= 0) s->p[used] = j;
            s->x[used++] = x;
        }
        if (nz < 0) s->p[j + 1] = used;
    }
    s->matrix.nz = nz < 0 ? nz : used;
    s->matrix.nzmax = nz < 0 ? used : used + 5;
    for (int k = used; k < used + 5; k++) s->x[k] = NAN; // not part of the matrix
}

static void test_reads_fclib_local(void **state) {
    fixture *f = *state;
    static stored w, v, r;
    for (int nz = -2; nz <= 0; nz++) {
        local_data d = fclib_local_data(f, nz == -1 ? 2 : 3);
        store(&w, d.size, d.size, d.w, nz);
        store(&v, d.size, ROWS, d.v, nz);
        store(&r, ROWS, ROWS, d.r, nz);
        char text[] = "some text";
        struct fclib_info info = {text, text, NULL};
        struct fclib_local local = {.W = &w.matrix,
                                    .V = nz ? &v.matrix : NULL,
                                    .R = nz ? &r.matrix : NULL,
                                    .mu = d.mu,
                                    .q = d.q,
                                    .s = nz ? d.s : NULL,
                                    .spacedim = d.dim,
                                    .info = &info};
        (void)remove(f->file);
        const hid_t made = H5Fcreate(f->file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(made >= 0 && H5Fclose(made) >= 0);
        assert_int_equal(fclib_write_local(&local, f->file), 1);
        double u[SIZE], l[ROWS] = {1.0, 2.0};
        fclib_random_vector(f, d.size, u);
        struct fclib_solution solution = {NULL, u, d.q, l};
        assert_int_equal(fclib_write_solution(&solution, f->file), 1);
        assert_int_equal(fclib_write_guesses(1, &solution, f->file), 1);
        talus_fclib_extra extra;
        talus_problem *p = fclib_read_ok(f, &extra);
        fclib_assert_local(p, &d);
        assert_int_equal(p->constraint_count, nz ? ROWS : 0);
        for (int e = 0; nz && e < d.size * ROWS; e++)
            assert_true(tl_csr_at(&p->c, e % ROWS, e / ROWS) == d.v[e]);
        for (int e = 0; nz && e < ROWS * ROWS; e++)
            assert_true(tl_csr_at(&p->p, e / ROWS, e % ROWS) == d.r[e]);
        assert_string_equal(extra.title, text);
        assert_null(extra.math_info);
        fclib_assert_same(extra.solution->u, u, d.size);
        fclib_assert_same(extra.solution->r, d.q, d.size);
        assert_int_equal(extra.solution->l != NULL, nz != 0);
        assert_int_equal(extra.guess_count, 1);
        fclib_assert_same(extra.guess[0].u, u, d.size);
        talus_fclib_extra_clear(f->ctx, &extra);
        talus_problem_destroy(p);
    }
}

static void test_reads_fclib_global(void **state) {
    fixture *f = *state;
    static stored m, h, g;
    for (int nz = -2; nz <= 0; nz++) {
        for (int half = 0; half < 2; half++) {
            global_data d = fclib_global_data(f, nz == -1 ? 2 : 3);
            double stored_m[DOF * DOF], ht[SIZE * DOF], ct[ROWS * DOF], b[ROWS];
            for (int i = 0; i < DOF * DOF; i++)
                stored_m[i] = half && i / DOF > i % DOF ? 0.0 : d.m[i];
            for (int i = 0; i < d.size * DOF; i++) ht[i % DOF * d.size + i / DOF] = d.h[i];
            for (int i = 0; i < ROWS * DOF; i++) ct[i % DOF * ROWS + i / DOF] = d.c[i];
            for (int i = 0; i < ROWS; i++) b[i] = -d.k[i];
            store(&m, DOF, DOF, stored_m, nz);
            store(&h, DOF, d.size, ht, nz);
            store(&g, DOF, ROWS, ct, nz);
            struct fclib_global global = {.M = &m.matrix,
                                          .H = &h.matrix,
                                          .G = &g.matrix,
                                          .mu = d.mu,
                                          .f = d.f,
                                          .b = b,
                                          .w = d.w,
                                          .spacedim = d.dim};
            (void)remove(f->file);
            const hid_t made = H5Fcreate(f->file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
            assert_true(made >= 0 && H5Fclose(made) >= 0);
            assert_int_equal(fclib_write_global(&global, f->file), 1);
            talus_problem *p = fclib_read_ok(f, NULL);
            fclib_assert_global(p, &d);
            assert_int_equal(p->law, TALUS_LAW_COULOMB);
            assert_int_equal(p->constraint_count, ROWS);
            fclib_assert_same(p->k, d.k, ROWS);
            for (int e = 0; e < ROWS * DOF; e++)
                assert_true(tl_csr_at(&p->c, e / DOF, e % DOF) == d.c[e]);
            // M couples 6, 3 and 6 unknowns: nothing finer is possible, groups of 6 are not either.
            assert_int_equal(p->body_count, 3);
            talus_problem_destroy(p);
        }
    }
}
#endif

// Rigid bodies with diagonal M: the groups must be found from H.
static void test_finds_bodies(void **state) {
    fixture *f = *state;
    enum { BODIES = 5, UNKNOWNS = 6 * BODIES };
    double m[UNKNOWNS], h[4 * 3 * 12], w[12] = {0}, force[UNKNOWNS] = {0}, mu[4] = {0};
    int32_t single[UNKNOWNS + 1], bodies[4 * 12];
    int64_t start[5];
    for (int i = 0; i < UNKNOWNS; i++) m[i] = 1.0 + i;
    for (int i = 0; i <= UNKNOWNS; i++) single[i] = i;
    // Contact c between bodies c and c + 1, given by single unknowns.
    for (int c = 0; c < 4; c++) {
        start[c] = 12 * c;
        for (int j = 0; j < 12; j++) bodies[12 * c + j] = 6 * c + j;
    }
    start[4] = 48;
    for (int i = 0; i < 4 * 3 * 12; i++) h[i] = 1.0 + i;
    talus_global_def def = {.dim = 3,
                            .count = 4,
                            .body_count = UNKNOWNS,
                            .body_start = single,
                            .mass_block = m,
                            .h_row_start = start,
                            .h_body = bodies,
                            .h_block = h,
                            .f = force,
                            .w = w,
                            .law = {.mu = mu}};
    talus_problem *p = NULL;
    assert_int_equal(talus_problem_create_global(f->ctx, &def, &p), TALUS_OK);
    fclib_write_ok(f, p, NULL);
    const hid_t file = H5Fopen(f->file, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "/fclib_global/talus", H5P_DEFAULT) >= 0);
    assert_true(H5Fclose(file) >= 0);
    talus_problem *back = fclib_read_ok(f, NULL);
    assert_int_equal(back->body_count, BODIES);
    for (int i = 0; i <= BODIES; i++) assert_int_equal(back->body_start[i], 6 * i);
    assert_true(tl_problem_is_separable(back));
    talus_problem_destroy(back);
    talus_problem_destroy(p);
}

static const char *problem_folder(void) {
    const char *folder = getenv("TALUS_PROBLEMS");
    return folder ? folder : TALUS_SOURCE_DIR "/../shared/problems";
}

// Facts of the set's own table.
static void test_problem_set(void **state) {
    fixture *f = *state;
    static const struct {
        const char *name;
        bool is_global;
        int dim, count, dof;
    } rows[] = {
        {"fc2d_granularflowonwall_07002_00801", false, 2, 7002, 0},
        {"KaplasTower-i1061-4", false, 3, 570, 0},
        {"FrictionContactProblem00237", false, 2, 376, 0},
        {"Capsules-i97-269", false, 3, 216, 0},
        {"gfc2d_granularflowonwall_00069_00350", true, 2, 69, 900},
        {"LMGC_100_PR_PerioBox-i00361-60-03000", false, 3, 60, 0},
        {"Confeti-ex03-Fc3D-SBM", false, 3, 54, 0},
        {"BoxesStack1-i100000-32", false, 3, 52, 0},
        {"NESpheres_30_1", false, 3, 44, 0},
        {"Box_Stacks-i0035-31-0", true, 3, 31, 450},
        {"OneObject-i100000-316", false, 3, 25, 0},
        {"LMGC_GlobalFrictionContactProblem00046", true, 3, 9, 162},
        {"Rover1041", false, 3, 5, 0},
        {"GFC3D_TwoRods1", true, 3, 3, 54},
        {"FC2D_SliderCrankLagrangian00000", false, 2, 2, 0},
        {"CubeH8", true, 3, 1, 162},
        {"GFC3D_Example00", true, 3, 1, 3},
        {"GFC3D_Example0_SBM", true, 3, 1, 9},
        {"Rover11211", false, 3, 1, 0},
        {"gfc2d_granularflowonwall_00000_00117", true, 2, 0, 900},
    };
    char path[4096];
    int found = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)snprintf(path, sizeof path, "%s/%s.hdf5", problem_folder(), rows[i].name);
        if (access(path, R_OK) != 0) continue;
        found++;
        talus_problem *p = NULL;
        talus_fclib_extra extra;
        if (talus_fclib_read(f->ctx, path, &p, &extra) != TALUS_OK)
            fail_msg("%s", talus_context_last_error(f->ctx));
        const talus_problem_info info = talus_problem_get_info(p);
        assert_int_equal(info.is_global, rows[i].is_global);
        assert_int_equal(info.dim, rows[i].dim);
        assert_int_equal(info.count, rows[i].count);
        assert_int_equal(info.dof, rows[i].dof);
        assert_non_null(extra.title);
        if (strncmp(rows[i].name, "Box_Stacks", 10) == 0) {
            assert_int_equal(extra.guess_count, 1);
            assert_non_null(extra.solution->v);
        }
        // The same problem comes back from our own file, bit for bit.
        fclib_write_ok(f, p, &extra);
        talus_problem *back = fclib_read_ok(f, NULL);
        fclib_assert_same(back->q, p->q, (int64_t)p->dim * p->count);
        if (!info.is_global)
            fclib_assert_same(back->w_block, p->w_block, p->w_start[p->count] * p->dim * p->dim);
        talus_problem_destroy(back);
        talus_fclib_extra_clear(f->ctx, &extra);
        talus_problem_destroy(p);
    }
    if (found == 0) print_message("the problem set is not there: nothing to read\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fclib_set_up, fclib_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip_local),  TEST(test_round_trip_global),
        TEST(test_round_trip_extra),  TEST(test_empty),
        TEST(test_same_bytes),
#ifdef TALUS_HAVE_FCLIB
        TEST(test_fclib_reads_local), TEST(test_fclib_reads_global),
        TEST(test_reads_fclib_local), TEST(test_reads_fclib_global),
#endif
        TEST(test_finds_bodies),      TEST(test_problem_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
