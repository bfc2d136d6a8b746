// SPDX-License-Identifier: Apache-2.0
// Problems in raw form, taken from the library's own store.
#include "cases.h"
#include "problem/mass.h"
#include "problem/problem_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *new_array(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static void *new_copy(const void *from, int64_t count, size_t size) {
    void *memory = new_array(count, size);
    if (count > 0) memcpy(memory, from, (size_t)count * size);
    return memory;
}

static void case_name(const char *path, bench_case *c) {
    const char *slash = strrchr(path, '/');
    snprintf(c->name, sizeof c->name, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(c->name, '.');
    if (dot) *dot = '\0';
}

static void case_copy_local(const talus_problem *p, bench_case *c) {
    const int64_t blocks = p->w_start[p->count];
    c->w_start = new_copy(p->w_start, p->count + 1, sizeof *c->w_start);
    c->w_col = new_copy(p->w_col, blocks, sizeof *c->w_col);
    c->w_block = new_copy(p->w_block, blocks * c->dim * c->dim, sizeof *c->w_block);
}

static void case_copy_global(const talus_problem *p, bench_case *c) {
    c->m_count = tl_mass_entry_count(p->mass);
    c->m_row = new_array(c->m_count, sizeof *c->m_row);
    c->m_col = new_array(c->m_count, sizeof *c->m_col);
    c->m_value = new_array(c->m_count, sizeof *c->m_value);
    tl_mass_entries(p->mass, c->m_row, c->m_col, c->m_value);
    const int64_t blocks = p->h_start[p->count], size = p->h_offset[blocks];
    c->h_row = new_array(size, sizeof *c->h_row);
    c->h_col = new_array(size, sizeof *c->h_col);
    c->h_value = new_array(size, sizeof *c->h_value);
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++) {
            const int32_t first = p->body_start[p->h_body[e]];
            const int32_t width = p->body_start[p->h_body[e] + 1] - first;
            for (int32_t k = 0; k < c->dim * width; k++) {
                const double value = p->h_block[p->h_offset[e] + k];
                if (value == 0.0) continue;
                c->h_row[c->h_count] = c->dim * i + k / width;
                c->h_col[c->h_count] = first + k % width;
                c->h_value[c->h_count++] = value;
            }
        }
    c->f = new_copy(p->f, p->dof, sizeof *c->f);
    c->w = new_copy(p->w, c->dim * p->count, sizeof *c->w);
}

// W = H N Hᵀ column by column, kept where a block is not zero.
static bool case_assemble(const talus_problem *p, bench_case *c) {
    const int32_t d = c->dim, n = c->count, m = d * n;
    double *w = new_array((int64_t)m * m, sizeof *w), *e = new_array(m, sizeof *e);
    double *x = new_array(p->dof, sizeof *x);
    bool ok = true;
    for (int32_t j = 0; ok && j < m; j++) {
        memset(x, 0, (size_t)p->dof * sizeof *x);
        e[j] = 1.0;
        tl_problem_add_force(p, e, x);
        e[j] = 0.0;
        ok = tl_problem_response(p, x) == TALUS_OK;
        tl_problem_add_velocity(p, x, w + (int64_t)j * m);
    }
    c->w_start = new_array(n + 1, sizeof *c->w_start);
    c->w_col = new_array((int64_t)n * n, sizeof *c->w_col);
    c->w_block = new_array((int64_t)m * m, sizeof *c->w_block);
    for (int32_t i = 0; i < n; i++) {
        c->w_start[i + 1] = c->w_start[i];
        for (int32_t j = 0; j < n; j++) {
            double *block = c->w_block + c->w_start[i + 1] * d * d;
            bool filled = i == j;
            for (int32_t k = 0; k < d * d; k++) {
                block[k] = w[(int64_t)(d * j + k % d) * m + d * i + k / d];
                filled = filled || block[k] != 0.0;
            }
            if (filled) c->w_col[c->w_start[i + 1]++] = j;
        }
    }
    free(w);
    free(e);
    free(x);
    return ok;
}

// The problem that Talus solves in the assembled form: local, from the W that Siconos gets.
static talus_status case_make_local(talus_context *ctx, bench_case *c) {
    const talus_local_def def = {.dim = c->dim,
                                 .count = c->count,
                                 .row_start = c->w_start,
                                 .col = c->w_col,
                                 .block = c->w_block,
                                 .q = c->q,
                                 .law = {.law = TALUS_LAW_COULOMB, .mu = c->mu}};
    talus_problem_destroy(c->problem);
    c->problem = NULL;
    return talus_problem_create_local(ctx, &def, &c->problem);
}

bool bench_case_create(talus_context *ctx, const char *path, bench_form form, bench_case *out) {
    *out = (bench_case){.form = form};
    case_name(path, out);
    talus_status status = talus_fclib_read(ctx, path, &out->problem, NULL);
    if (status == TALUS_OK) {
        const talus_problem *p = out->problem;
        out->dim = p->dim;
        out->count = p->count;
        out->dof = p->dof;
        out->q = new_copy(p->q, p->dim * p->count, sizeof *out->q);
        out->mu = new_copy(p->mu, p->count, sizeof *out->mu);
        if (form == BENCH_LOCAL) case_copy_local(p, out);
        if (form == BENCH_GLOBAL) case_copy_global(p, out);
        if (form == BENCH_ASSEMBLED) {
            if (!case_assemble(p, out))
                status = TALUS_ERR_SINGULAR;
            else
                status = case_make_local(ctx, out);
        }
    }
    if (status == TALUS_OK) return true;
    fprintf(stderr, "%s: %s\n", path, talus_context_last_error(ctx));
    bench_case_clear(out);
    return false;
}

void bench_case_clear(bench_case *c) {
    talus_problem_destroy(c->problem);
    free(c->w_start);
    free(c->w_col);
    free(c->w_block);
    free(c->q);
    free(c->mu);
    free(c->m_row);
    free(c->m_col);
    free(c->m_value);
    free(c->h_row);
    free(c->h_col);
    free(c->h_value);
    free(c->f);
    free(c->w);
    *c = (bench_case){0};
}

bool bench_file_is_global(talus_context *ctx, const char *path, int *contacts) {
    talus_problem *p = NULL;
    *contacts = -1;
    if (talus_fclib_read(ctx, path, &p, NULL) != TALUS_OK) {
        fprintf(stderr, "%s: %s\n", path, talus_context_last_error(ctx));
        return false;
    }
    const talus_problem_info info = talus_problem_get_info(p);
    *contacts = info.count;
    talus_problem_destroy(p);
    return info.is_global;
}

// Projection on { |x_T| <= mu x_N }, in place.
static void project_cone(int32_t d, double mu, double *x) {
    double t = 0.0;
    for (int32_t k = 1; k < d; k++) t += x[k] * x[k];
    t = sqrt(t);
    if (t <= mu * x[0]) return;
    const double normal = mu * t <= -x[0] ? 0.0 : (x[0] + mu * t) / (1.0 + mu * mu);
    for (int32_t k = 1; k < d; k++) x[k] = t > 0.0 ? x[k] * (mu * normal / t) : 0.0;
    x[0] = normal;
}

double bench_natural(const bench_case *c, const double *r) {
    const int32_t d = c->dim, m = d * c->count;
    double *u = new_copy(c->q, m, sizeof *u), sum = 0.0, norm = 0.0;
    for (int32_t k = 0; k < m; k++) norm += c->q[k] * c->q[k];
    if (c->form == BENCH_GLOBAL) {
        if (talus_problem_state(c->problem, r, NULL, u, NULL) != TALUS_OK) sum = INFINITY;
    } else {
        for (int32_t i = 0; i < c->count; i++)
            for (int64_t e = c->w_start[i]; e < c->w_start[i + 1]; e++)
                for (int32_t k = 0; k < d * d; k++)
                    u[d * i + k / d] += c->w_block[e * d * d + k] * r[d * c->w_col[e] + k % d];
    }
    for (int32_t i = 0; i < c->count; i++) {
        const double *ri = r + d * i, *ui = u + d * i;
        double x[6] = {0.0}, slip = 0.0;
        for (int32_t k = 1; k < d; k++) slip += ui[k] * ui[k];
        for (int32_t k = 0; k < d; k++) x[k] = ri[k] - ui[k];
        x[0] -= c->mu[i] * sqrt(slip);
        project_cone(d, c->mu[i], x);
        for (int32_t k = 0; k < d; k++) sum += (ri[k] - x[k]) * (ri[k] - x[k]);
    }
    free(u);
    return sqrt(sum) / fmax(1.0, sqrt(norm));
}
