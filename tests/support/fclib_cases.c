// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // mkdtemp
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/fclib_cases.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Uniform in [-1, 1); our own generator so that failures repeat.
double fclib_random(fixture *f) {
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)f->random / 9223372036854775808.0;
}

int fclib_set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    const talus_context_def def = test_alloc_def(&f->memory);
    strcpy(f->dir, "fclib-test-XXXXXX");
    if (!mkdtemp(f->dir) || talus_context_create(&def, &f->ctx) != TALUS_OK) return -1;
    (void)snprintf(f->file, sizeof f->file, "%s/a.hdf5", f->dir);
    f->random = 12345;
    *state = f;
    return 0;
}

int fclib_tear_down(void **state) {
    fixture *f = *state;
    talus_context_destroy(f->ctx);
    (void)remove(f->file);
    // Fails, and so the test does, when a temporary file was left behind.
    const bool ok = rmdir(f->dir) == 0 && f->memory.live == 0 && f->memory.bad_releases == 0;
    free(f);
    return ok ? 0 : -1;
}

// Dense symmetric positive definite n × n.
static void cases_make_spd(fixture *f, int n, double *a) {
    double b[64 * 64];
    for (int i = 0; i < n * n; i++) b[i] = fclib_random(f);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i * n + j] = i == j ? 0.5 : 0.0;
            for (int k = 0; k < n; k++) a[i * n + j] += b[i * n + k] * b[j * n + k];
        }
    }
}

void fclib_random_vector(fixture *f, int n, double *x) {
    for (int i = 0; i < n; i++) x[i] = fclib_random(f);
}

static bool cases_has_block(int i, int j) { return !(i == 0 && j == 3) && !(i == 3 && j == 0); }

local_data fclib_local_data(fixture *f, int dim) {
    local_data d = {.dim = dim, .size = dim * COUNT};
    cases_make_spd(f, d.size, d.w);
    for (int i = 0; i < d.size; i++) {
        d.w[i * d.size + i] += 10.0;
        for (int j = 0; j < d.size; j++)
            if (!cases_has_block(i / dim, j / dim)) d.w[i * d.size + j] = 0.0;
    }
    fclib_random_vector(f, d.size, d.q);
    for (int i = 0; i < COUNT; i++) {
        d.mu[i] = 0.3 + 0.1 * i;
        d.dilatancy[i] = 0.05 * i;
        d.yield[i] = 0.5 + i;
        d.tension[i] = 0.25 * i;
    }
    d.mu[1] = 0.0;
    d.dilatancy[1] = 0.0;
    d.mu[2] = INFINITY;
    fclib_random_vector(f, d.size * ROWS, d.v);
    // The constraint block of a saddle point is negative: then W − V R⁻¹ Vᵀ stays positive.
    cases_make_spd(f, ROWS, d.r);
    for (int i = 0; i < ROWS * ROWS; i++) d.r[i] = -d.r[i];
    fclib_random_vector(f, ROWS, d.s);
    return d;
}

talus_problem *fclib_make_local(fixture *f, const local_data *d, bool with_rows, bool with_law) {
    int64_t start[COUNT + 1] = {0}, b_start[SIZE + 1], p_start[ROWS + 1];
    int32_t col[COUNT * COUNT], b_index[SIZE * ROWS], p_index[ROWS * ROWS];
    double block[SIZE * SIZE];
    int n = 0;
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            if (!cases_has_block(i, j)) continue;
            for (int a = 0; a < d->dim; a++)
                for (int b = 0; b < d->dim; b++)
                    block[(n * d->dim + a) * d->dim + b] =
                        d->w[(i * d->dim + a) * d->size + j * d->dim + b];
            col[n++] = j;
        }
        start[i + 1] = n;
    }
    for (int i = 0; i <= d->size; i++) b_start[i] = (int64_t)i * ROWS;
    for (int i = 0; i < d->size * ROWS; i++) b_index[i] = i % ROWS;
    for (int i = 0; i <= ROWS; i++) p_start[i] = (int64_t)i * ROWS;
    for (int i = 0; i < ROWS * ROWS; i++) p_index[i] = i % ROWS;
    talus_local_def def = {.dim = d->dim,
                           .count = COUNT,
                           .row_start = start,
                           .col = col,
                           .block = block,
                           .q = d->q,
                           .law = {.law = TALUS_LAW_COULOMB, .mu = d->mu}};
    if (with_law) {
        def.law.dilatancy = d->dilatancy;
        def.law.yield = d->yield;
        def.law.tension = d->tension;
    }
    if (with_rows) {
        def.b = (talus_sparse){d->size, ROWS, b_start, b_index, d->v};
        def.p = (talus_sparse){ROWS, ROWS, p_start, p_index, d->r};
        def.c = d->s;
    }
    talus_problem *p = NULL;
    if (talus_problem_create_local(f->ctx, &def, &p) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(f->ctx));
    return p;
}

const int32_t fclib_body[4] = {0, 6, 9, DOF};

global_data fclib_global_data(fixture *f, int dim) {
    global_data d = {.dim = dim, .size = dim * COUNT};
    for (int b = 0; b < 3; b++) {
        const int first = fclib_body[b], n = fclib_body[b + 1] - first;
        double block[36];
        cases_make_spd(f, n, block);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) d.m[(first + i) * DOF + first + j] = block[i * n + j];
    }
    // Contact i acts on body i mod 3, and all but the first also on the next body.
    for (int i = 0; i < d.size; i++) {
        const int contact = i / dim;
        for (int j = 0; j < DOF; j++) {
            const int body = j < 6 ? 0 : j < 9 ? 1 : 2;
            const bool acts = body == contact % 3 || (contact > 0 && body == (contact + 1) % 3);
            if (acts) d.h[i * DOF + j] = fclib_random(f);
        }
    }
    fclib_random_vector(f, DOF, d.f);
    fclib_random_vector(f, d.size, d.w);
    for (int i = 0; i < COUNT; i++) d.mu[i] = 0.2 * i;
    fclib_random_vector(f, ROWS * DOF, d.c);
    fclib_random_vector(f, ROWS, d.k);
    return d;
}

talus_problem *fclib_make_global(fixture *f, const global_data *d, bool with_rows) {
    int64_t h_start[COUNT + 1] = {0}, c_start[ROWS + 1];
    int32_t h_body[COUNT * 3], c_index[ROWS * DOF];
    double mass[36 + 9 + 36], h[SIZE * DOF];
    int blocks = 0, used = 0, at = 0;
    for (int b = 0; b < 3; b++)
        for (int i = fclib_body[b]; i < fclib_body[b + 1]; i++)
            for (int j = fclib_body[b]; j < fclib_body[b + 1]; j++) mass[at++] = d->m[i * DOF + j];
    for (int c = 0; c < COUNT; c++) {
        for (int b = 0; b < 3; b++) {
            if (d->h[c * d->dim * DOF + fclib_body[b]] == 0.0) continue;
            for (int a = 0; a < d->dim; a++)
                for (int j = fclib_body[b]; j < fclib_body[b + 1]; j++)
                    h[used++] = d->h[(c * d->dim + a) * DOF + j];
            h_body[blocks++] = b;
        }
        h_start[c + 1] = blocks;
    }
    for (int i = 0; i <= ROWS; i++) c_start[i] = (int64_t)i * DOF;
    for (int i = 0; i < ROWS * DOF; i++) c_index[i] = i % DOF;
    talus_global_def def = {.dim = d->dim,
                            .count = COUNT,
                            .body_count = 3,
                            .body_start = fclib_body,
                            .mass_block = mass,
                            .h_row_start = h_start,
                            .h_body = h_body,
                            .h_block = h,
                            .f = d->f,
                            .w = d->w,
                            .law = {.law = TALUS_LAW_ASSOCIATED, .mu = d->mu}};
    if (with_rows) {
        def.c = (talus_sparse){ROWS, DOF, c_start, c_index, d->c};
        def.k = d->k;
    }
    talus_problem *p = NULL;
    if (talus_problem_create_global(f->ctx, &def, &p) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(f->ctx));
    return p;
}

void fclib_write_ok(fixture *f, const talus_problem *p, const talus_fclib_extra *extra) {
    if (talus_fclib_write(f->ctx, f->file, p, extra) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(f->ctx));
}

talus_problem *fclib_read_ok(fixture *f, talus_fclib_extra *extra) {
    talus_problem *p = NULL;
    if (talus_fclib_read(f->ctx, f->file, &p, extra) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(f->ctx));
    assert_non_null(p);
    return p;
}

void fclib_assert_same(const double *a, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("[%lld]: %.17g is not %.17g", (long long)i, a[i], b[i]);
}

static void cases_dense_w(const talus_problem *p, double *w) {
    const int32_t n = p->dim * p->count;
    const bool given = p->given_block != NULL;
    const int64_t *start = given ? p->given_start : p->w_start;
    const int32_t *col = given ? p->given_col : p->w_col;
    const double *block = given ? p->given_block : p->w_block;
    memset(w, 0, (size_t)(n * n) * sizeof *w);
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            for (int32_t e = 0; e < p->dim * p->dim; e++)
                w[(i * p->dim + e / p->dim) * n + col[k] * p->dim + e % p->dim] =
                    block[k * p->dim * p->dim + e];
}

void fclib_assert_local(const talus_problem *p, const local_data *d) {
    double w[SIZE * SIZE];
    assert_false(p->is_global);
    assert_int_equal(p->dim, d->dim);
    assert_int_equal(p->count, COUNT);
    cases_dense_w(p, w);
    fclib_assert_same(w, d->w, (int64_t)d->size * d->size);
    fclib_assert_same(p->given_q ? p->given_q : p->q, d->q, d->size);
    fclib_assert_same(p->mu, d->mu, COUNT);
}

void fclib_assert_global(const talus_problem *p, const global_data *d) {
    double m[DOF * DOF] = {0}, h[SIZE * DOF] = {0}, value[DOF * DOF];
    int32_t row[DOF * DOF], col[DOF * DOF];
    assert_true(p->is_global);
    assert_int_equal(p->dim, d->dim);
    assert_int_equal(p->count, COUNT);
    assert_int_equal(p->dof, DOF);
    const int64_t count = tl_mass_entry_count(p->mass);
    assert_true(count <= DOF * DOF);
    tl_mass_entries(p->mass, row, col, value);
    for (int64_t e = 0; e < count; e++) m[row[e] * DOF + col[e]] = value[e];
    fclib_assert_same(m, d->m, DOF * DOF);
    for (int32_t c = 0; c < COUNT; c++) {
        for (int64_t k = p->h_start[c]; k < p->h_start[c + 1]; k++) {
            const int32_t first = p->body_start[p->h_body[k]];
            const int32_t n = p->body_start[p->h_body[k] + 1] - first;
            for (int32_t e = 0; e < p->dim * n; e++)
                h[(c * p->dim + e / n) * DOF + first + e % n] = p->h_block[p->h_offset[k] + e];
        }
    }
    fclib_assert_same(h, d->h, (int64_t)d->size * DOF);
    fclib_assert_same(p->f, d->f, DOF);
    fclib_assert_same(p->w, d->w, d->size);
    fclib_assert_same(p->mu, d->mu, COUNT);
}
