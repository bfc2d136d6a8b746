// SPDX-License-Identifier: Apache-2.0
// Problems: every way of giving M, constraint rows in both forms, states against dense algebra that
// shares no code with the library, and memory that runs out at every request.
#include "base/rng.h"
#include "problem/mass.h"
#include "problem/problem_impl.h"
#include "support/alloc.h"
#include "support/spec_case.h"
#include "support/verify.h"
#include "talus/problem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 64 };

static talus_context *make_context(void) {
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    return ctx;
}

static void assert_close(int n, const double *x, const double *y, double tolerance) {
    for (int k = 0; k < n; k++)
        if (!(fabs(x[k] - y[k]) <= tolerance * (1.0 + fabs(y[k]))))
            fail_msg("entry %d is %.17g, not %.17g", k, x[k], y[k]);
}

// Compressed rows of the entries of a dense matrix that `part` keeps: 'f'ull, 'l'ower, 'u'pper.
typedef struct sparse_copy {
    int64_t start[MAX + 1];
    int32_t index[MAX * MAX];
    double value[MAX * MAX];
} sparse_copy;

static talus_sparse compress(int rows, int cols, const double *a, char part, sparse_copy *s) {
    int64_t to = 0;
    s->start[0] = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            const bool kept = part == 'f' || (part == 'l' ? j <= i : j >= i);
            if (!kept || a[i * cols + j] == 0.0) continue;
            s->index[to] = j;
            s->value[to++] = a[i * cols + j];
        }
        s->start[i + 1] = to;
    }
    return (talus_sparse){rows, cols, s->start, s->index, s->value};
}

// The worked example with the unknowns grouped in bodies of one unknown, or all in one body.
typedef struct spec_problem {
    int32_t body_start[SPEC_DOF + 1], h_body[SPEC_SIZE * SPEC_DOF];
    int64_t h_row_start[SPEC_COUNT + 1];
    double h_block[SPEC_SIZE * SPEC_DOF];
    sparse_copy mass, c;
    talus_global_def def;
} spec_problem;

static void spec_fill(spec_problem *s, bool one_body, char mass) {
    *s = (spec_problem){0};
    const int bodies = one_body ? 1 : SPEC_DOF, size = SPEC_DOF / bodies;
    int64_t blocks = 0, to = 0;
    for (int b = 0; b <= bodies; b++) s->body_start[b] = b * size;
    for (int i = 0; i < SPEC_COUNT; i++) {
        for (int b = 0; b < bodies; b++) {
            s->h_body[blocks++] = b;
            for (int x = 0; x < SPEC_DIM; x++)
                for (int e = 0; e < size; e++)
                    s->h_block[to++] = spec_h[(i * SPEC_DIM + x) * SPEC_DOF + b * size + e];
        }
        s->h_row_start[i + 1] = blocks;
    }
    s->def = (talus_global_def){.dim = SPEC_DIM,
                                .count = SPEC_COUNT,
                                .body_count = bodies,
                                .body_start = s->body_start,
                                .h_row_start = s->h_row_start,
                                .h_body = s->h_body,
                                .h_block = s->h_block,
                                .f = spec_f,
                                .w = spec_w,
                                .c = compress(1, SPEC_DOF, spec_c, 'f', &s->c),
                                .k = spec_k,
                                .law = {.mu = spec_mu}};
    if (mass == 'b')
        s->def.mass_block = spec_m;
    else
        s->def.mass = compress(SPEC_DOF, SPEC_DOF, spec_m, mass, &s->mass);
}

static void check_spec_values(talus_problem *p) {
    double v[SPEC_DOF], u[SPEC_SIZE], lambda[1];
    assert_int_equal(talus_problem_state(p, spec_r_coulomb, v, u, lambda), TALUS_OK);
    for (int k = 0; k < SPEC_DOF; k++) assert_true(fabs(v[k] - spec_v_coulomb[k]) < 2e-8);
    assert_true(fabs(lambda[0] - spec_lambda_coulomb) < 2e-8);
    double shift = 0.0; // |s|, s_i = mu_i |u_iT|
    for (int i = 0; i < 3; i++) shift += pow(spec_mu[i] * hypot(u[3 * i + 1], u[3 * i + 2]), 2.0);
    assert_true(fabs(sqrt(shift) - 1.126987) < 1e-6);
    assert_int_equal(talus_problem_state(p, spec_r_associated, v, u, lambda), TALUS_OK);
    assert_true(fabs(v[0] - spec_v0_associated) < 2e-8);
    assert_true(fabs(u[0] - spec_u0_associated) < 3e-8);
    assert_true(fabs(lambda[0] - spec_lambda_associated) < 2e-8);
}

// The worked example, however M is given and the unknowns are grouped.
static void worked_example_in_all_global_forms(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    tl_rng rng = {7};
    const char forms[] = {'f', 'l', 'u', 'b'};
    for (int form = 0; form < 4; form++)
        for (int one_body = form == 3; one_body < 2; one_body++) {
            static spec_problem s;
            spec_fill(&s, one_body, forms[form]);
            talus_problem *p;
            assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
            check_spec_values(p);
            assert_int_equal(tl_mass_is_block_diagonal(p->mass), one_body);
            assert_false(tl_problem_is_separable(p)); // the constraint couples
            double r[SPEC_SIZE], v[SPEC_DOF], u[SPEC_SIZE], lambda[1];
            double v2[SPEC_DOF], u2[SPEC_SIZE], lambda2[1];
            for (int k = 0; k < SPEC_SIZE; k++) r[k] = tl_rng_normal(&rng);
            assert_int_equal(talus_problem_state(p, r, v, u, lambda), TALUS_OK);
            assert_true(verify_global_state(SPEC_SIZE, SPEC_DOF, 1, spec_m, spec_h, spec_c, spec_f,
                                            spec_k, spec_w, r, v2, u2, lambda2));
            assert_close(SPEC_DOF, v, v2, 1e-13);
            assert_close(SPEC_SIZE, u, u2, 1e-13);
            assert_close(1, lambda, lambda2, 1e-13);
            // N x is the velocity under a force x with f = 0, k = 0; many columns as one
            double x[2 * SPEC_DOF], zero[SPEC_DOF] = {0}, w0[SPEC_SIZE] = {0};
            for (int k = 0; k < SPEC_DOF; k++) x[k] = x[SPEC_DOF + k] = spec_f[k];
            assert_int_equal(tl_problem_response(p, x), TALUS_OK);
            assert_true(verify_global_state(SPEC_SIZE, SPEC_DOF, 1, spec_m, spec_h, spec_c, spec_f,
                                            zero, w0, w0, v2, u2, NULL));
            assert_close(SPEC_DOF, x, v2, 1e-13);
            talus_problem_destroy(p);
        }
    talus_context_destroy(ctx);
}

// Columns handed over together (more than share one pass) give what each gives alone.
static void responses_in_columns(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    static spec_problem s;
    for (int constrained = 0; constrained < 2; constrained++) {
        spec_fill(&s, false, 'f');
        if (!constrained) s.def.c = (talus_sparse){0};
        talus_problem *p;
        assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
        enum { COLUMNS = 19 };
        double many[COLUMNS * SPEC_DOF], one[COLUMNS * SPEC_DOF];
        tl_rng rng = {11};
        for (int k = 0; k < COLUMNS * SPEC_DOF; k++) many[k] = one[k] = tl_rng_normal(&rng);
        assert_int_equal(tl_problem_response_many(p, COLUMNS, many), TALUS_OK);
        for (int c = 0; c < COLUMNS; c++)
            assert_int_equal(tl_problem_response(p, one + c * SPEC_DOF), TALUS_OK);
        assert_close(COLUMNS * SPEC_DOF, many, one, 1e-14);
        talus_problem_destroy(p);
    }
    talus_context_destroy(ctx);
}

// Dense block rows of a size × size matrix.
static talus_local_def local_def(int d, int n, const double *w, int64_t *start, int32_t *col,
                                 double *block) {
    int64_t blocks = 0;
    start[0] = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int x = 0; x < d; x++)
                for (int y = 0; y < d; y++)
                    block[(blocks * d + x) * d + y] = w[(i * d + x) * d * n + j * d + y];
            col[blocks++] = j;
        }
        start[i + 1] = blocks;
    }
    return (talus_local_def){.dim = d, .count = n, .row_start = start, .col = col, .block = block};
}

// The worked example in local form: W, B, P of the unconstrained matrices, constraints eliminated.
static void worked_example_in_local_form(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    double w[81], q[9], b[9], x[7], c_minv, c_vec[1], p_dense[1];
    assert_true(verify_delassus(SPEC_SIZE, SPEC_DOF, spec_m, spec_h, spec_f, spec_w, w, q));
    assert_true(verify_solve(SPEC_DOF, spec_m, spec_c, x)); // x = M⁻¹ Cᵀ
    verify_multiply(SPEC_SIZE, SPEC_DOF, spec_h, x, b);
    verify_multiply(1, SPEC_DOF, spec_c, x, p_dense);
    verify_multiply(1, SPEC_DOF, spec_f, x, &c_minv);
    c_vec[0] = c_minv - spec_k[0];
    int64_t start[4];
    int32_t col[9];
    double block[81];
    static sparse_copy sb, sp;
    talus_local_def def = local_def(3, 3, w, start, col, block);
    def.q = q;
    def.law = (talus_law_view){.mu = spec_mu};
    def.b = compress(9, 1, b, 'f', &sb);
    def.p = compress(1, 1, p_dense, 'f', &sp);
    def.c = c_vec;
    talus_problem *p;
    assert_int_equal(talus_problem_create_local(ctx, &def, &p), TALUS_OK);
    double u[9], u2[9], lambda[1], v2[7], lambda2[1];
    assert_int_equal(talus_problem_state(p, spec_r_coulomb, NULL, u, lambda), TALUS_OK);
    assert_true(verify_global_state(9, 7, 1, spec_m, spec_h, spec_c, spec_f, spec_k, spec_w,
                                    spec_r_coulomb, v2, u2, lambda2));
    assert_close(9, u, u2, 1e-13);
    assert_close(1, lambda, lambda2, 1e-13);
    assert_memory_equal(p->given_block, block, sizeof block);
    assert_memory_equal(p->given_q, q, sizeof q);
    const talus_problem_info info = talus_problem_get_info(p);
    assert_int_equal(info.constraints, 1);
    assert_int_equal(info.dof, 0);
    assert_false(info.is_global);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// P indefinite and not symmetric to B's sparsity: only some contacts are touched, W is sparse.
static void local_constraints_fill_only_what_they_touch(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    // Three contacts in 2D, W block diagonal; B touches contacts 0 and 2.
    const int64_t start[] = {0, 1, 2, 3};
    const int32_t col[] = {0, 1, 2};
    const double block[] = {3, .5, .5, 2, 4, 0, 0, 4, 5, -.25, -.25, 2};
    const double q[] = {-1, .5, -2, .25, -1, 1}, mu[] = {.5, .5, .5}, c[] = {.1, -.2};
    const double b[12] = {1, 0, 0, .5, 0, 0, 0, 0, 0, 1, .25, 0}, p_dense[4] = {2, 1, 1, -3};
    static sparse_copy sb, sp;
    talus_local_def def = {.dim = 2,
                           .count = 3,
                           .row_start = start,
                           .col = col,
                           .block = block,
                           .q = q,
                           .law = {.mu = mu},
                           .c = c};
    def.b = compress(6, 2, b, 'f', &sb);
    def.p = compress(2, 2, p_dense, 'f', &sp);
    talus_problem *p;
    assert_int_equal(talus_problem_create_local(ctx, &def, &p), TALUS_OK);
    assert_int_equal(p->w_start[3], 5); // 0: {0, 2}, 1: {1}, 2: {0, 2}
    assert_null(tl_problem_w_block(p, 1, 0));
    const double r[] = {1, -.25, .5, .125, 2, -1};
    double w[36], u[6], lambda[2], right[2], l2[2], u2[6];
    verify_dense(2, 3, start, col, block, w);
    for (int k = 0; k < 2; k++) {
        right[k] = -c[k];
        for (int row = 0; row < 6; row++) right[k] -= b[row * 2 + k] * r[row];
    }
    assert_true(verify_solve(2, p_dense, right, l2));
    verify_local_u(6, w, q, r, u2);
    for (int row = 0; row < 6; row++) u2[row] += b[row * 2] * l2[0] + b[row * 2 + 1] * l2[1];
    assert_int_equal(talus_problem_state(p, r, NULL, u, lambda), TALUS_OK);
    assert_close(2, lambda, l2, 1e-14);
    assert_close(6, u, u2, 1e-14);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// Random bodies of different sizes, block diagonal M; `mass` as in spec_fill, 'd': duplicates.
enum { BODIES = 4, DOF = 3 + 20 + 1 + 6, CONTACTS = 5 };
static const int32_t body_start[BODIES + 1] = {0, 3, 23, 24, 30};

typedef struct bodies_problem {
    double m[DOF * DOF], h[CONTACTS * 3 * DOF], f[DOF], w[CONTACTS * 3], mu[CONTACTS];
    double mass_block[9 + 400 + 1 + 36], h_block[CONTACTS * 3 * DOF];
    int64_t h_row_start[CONTACTS + 1];
    int32_t h_body[CONTACTS * BODIES];
    sparse_copy mass;
    talus_global_def def;
} bodies_problem;

static void bodies_fill(bodies_problem *s, char mass) {
    tl_rng rng = {42};
    *s = (bodies_problem){0};
    int64_t to = 0, blocks = 0, entry = 0;
    for (int b = 0; b < BODIES; b++) {
        const int first = body_start[b], n = body_start[b + 1] - first;
        double a[400];
        for (int k = 0; k < n * n; k++) a[k] = tl_rng_normal(&rng);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = i == j ? 1.0 : 0.0;
                for (int k = 0; k < n; k++) sum += a[i * n + k] * a[j * n + k];
                s->m[(first + i) * DOF + first + j] = s->mass_block[to++] = sum;
            }
    }
    for (int i = 0; i < CONTACTS; i++) {
        for (int b = i % 2; b < BODIES; b += 1 + i % 3) {
            const int first = body_start[b], n = body_start[b + 1] - first;
            s->h_body[blocks++] = b;
            for (int x = 0; x < 3; x++)
                for (int e = 0; e < n; e++)
                    s->h[(i * 3 + x) * DOF + first + e] = s->h_block[entry++] = tl_rng_normal(&rng);
        }
        s->h_row_start[i + 1] = blocks;
        s->mu[i] = 0.2 * i;
    }
    for (int k = 0; k < DOF; k++) s->f[k] = tl_rng_normal(&rng);
    for (int k = 0; k < CONTACTS * 3; k++) s->w[k] = tl_rng_normal(&rng);
    s->def = (talus_global_def){.dim = 3,
                                .count = CONTACTS,
                                .body_count = BODIES,
                                .body_start = body_start,
                                .h_row_start = s->h_row_start,
                                .h_body = s->h_body,
                                .h_block = s->h_block,
                                .f = s->f,
                                .w = s->w,
                                .law = {.mu = s->mu}};
    if (mass == 'b') {
        s->def.mass_block = s->mass_block;
        return;
    }
    s->def.mass = compress(DOF, DOF, s->m, mass == 'd' ? 'f' : mass, &s->mass);
    if (mass != 'd') return;
    for (int j = 0; j < DOF; j++) { // every column backwards, its first entry split in two
        const int64_t begin = s->mass.start[j] + j, end = s->mass.start[j + 1] + j;
        memmove(s->mass.index + end + 1, s->mass.index + end,
                (size_t)(s->mass.start[DOF] + j - end) * sizeof *s->mass.index);
        memmove(s->mass.value + end + 1, s->mass.value + end,
                (size_t)(s->mass.start[DOF] + j - end) * sizeof *s->mass.value);
        for (int64_t a = begin, z = end - 1; a < z; a++, z--) {
            const int32_t index = s->mass.index[a];
            const double value = s->mass.value[a];
            s->mass.index[a] = s->mass.index[z];
            s->mass.value[a] = s->mass.value[z];
            s->mass.index[z] = index;
            s->mass.value[z] = value;
        }
        s->mass.index[end] = s->mass.index[begin];
        s->mass.value[end] = 0.25 * s->mass.value[begin];
        s->mass.value[begin] *= 0.75;
    }
    for (int j = 0; j <= DOF; j++) s->mass.start[j] += j;
}

static void check_mass(const bodies_problem *s, const talus_problem *p) {
    double dense[DOF * DOF] = {0}, x[DOF], y[DOF], y2[DOF];
    int32_t row[DOF * DOF], col[DOF * DOF];
    double value[DOF * DOF];
    const int64_t entries = tl_mass_entry_count(p->mass);
    assert_true(entries <= DOF * DOF);
    tl_mass_entries(p->mass, row, col, value);
    for (int64_t k = 0; k < entries; k++) dense[row[k] * DOF + col[k]] += value[k];
    for (int64_t k = 1; k < entries; k++)
        assert_true(col[k] > col[k - 1] || (col[k] == col[k - 1] && row[k] > row[k - 1]));
    assert_close(DOF * DOF, dense, s->m, 1e-15);
    for (int k = 0; k < DOF; k++) x[k] = s->f[k];
    tl_mass_multiply(p->mass, x, y);
    verify_multiply(DOF, DOF, s->m, x, y2);
    assert_close(DOF, y, y2, 1e-14);
}

static void bodies_in_all_forms_of_mass(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    static bodies_problem s;
    const char forms[] = {'b', 'f', 'l', 'u', 'd'};
    for (int form = 0; form < 5; form++) {
        bodies_fill(&s, forms[form]);
        talus_problem *p;
        assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
        assert_true(tl_problem_is_separable(p));
        check_mass(&s, p);
        tl_rng rng = {5};
        double r[CONTACTS * 3], v[DOF], u[CONTACTS * 3], v2[DOF], u2[CONTACTS * 3];
        for (int k = 0; k < CONTACTS * 3; k++) r[k] = tl_rng_normal(&rng);
        const int64_t before = tl_alloc_count(ctx);
        assert_int_equal(talus_problem_state(p, r, v, u, NULL), TALUS_OK);
        assert_int_equal(tl_alloc_count(ctx), before);
        assert_true(verify_global_state(CONTACTS * 3, DOF, 0, s.m, s.h, NULL, s.f, NULL, s.w, r, v2,
                                        u2, NULL));
        assert_close(DOF, v, v2, 1e-11);
        assert_close(CONTACTS * 3, u, u2, 1e-11);
        double w[225], q[15];
        assert_true(verify_delassus(CONTACTS * 3, DOF, s.m, s.h, s.f, s.w, w, q));
        assert_close(15, p->q, q, 1e-11);
        assert_true(fabs(talus_problem_get_info(p).q_norm - verify_norm(15, q)) < 1e-10);
        for (int b = 0; b < BODIES; b++) { // two columns at once
            const int n = body_start[b + 1] - body_start[b];
            double x[40], a[400], y[20];
            for (int k = 0; k < 2 * n; k++) x[k] = k < n ? s.f[body_start[b] + k] : x[k - n];
            for (int i = 0; i < n * n; i++)
                a[i] = s.m[(body_start[b] + i / n) * DOF + body_start[b] + i % n];
            tl_problem_solve_body(p, b, 2, x);
            assert_true(verify_solve(n, a, s.f + body_start[b], y));
            assert_close(n, x, y, 1e-11);
            assert_close(n, x + n, y, 1e-11);
        }
        talus_problem_destroy(p);
    }
    talus_context_destroy(ctx);
}

// A diagonal mass is divided by, with one rounding, not multiplied by the root of an inverse.
static void diagonal_mass_is_exact(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    const int32_t start[] = {0, 2}, body[] = {0};
    const int64_t rows[] = {0, 1};
    const double m[] = {3, 0, 0, 7}, h[] = {1, 0, 0, 1}, f[] = {1, 2}, w[] = {0, 0}, mu[] = {.5};
    const talus_global_def def = {.dim = 2,
                                  .count = 1,
                                  .body_count = 1,
                                  .body_start = start,
                                  .mass_block = m,
                                  .h_row_start = rows,
                                  .h_body = body,
                                  .h_block = h,
                                  .f = f,
                                  .w = w,
                                  .law = {.mu = mu}};
    talus_problem *p;
    assert_int_equal(talus_problem_create_global(ctx, &def, &p), TALUS_OK);
    assert_true(p->q[0] == 1.0 / 3.0 && p->q[1] == 2.0 / 7.0);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// One large body given sparse stays sparse: 400 unknowns of a chain are no reason for 160 000
// numbers.
static void large_sparse_body_stays_sparse(void **state) {
    (void)state;
    enum { N = 400 };
    talus_context *ctx = make_context();
    static int64_t start[N + 1];
    static int32_t index[2 * N];
    static double value[2 * N], f[N], h[2 * N], v[N];
    for (int j = 0; j < N; j++) { // lower triangle of tridiag(−1, 2 + j/N, −1)
        int64_t k = start[j];
        index[k] = j;
        value[k++] = 2.0 + (double)j / N;
        if (j + 1 < N) {
            index[k] = j + 1;
            value[k++] = -1.0;
        }
        start[j + 1] = k;
        f[j] = sin(j);
    }
    h[0] = h[N + 1] = 1.0;
    const int32_t bodies[] = {0, N}, body[] = {0};
    const int64_t rows[] = {0, 1};
    const double w[] = {0, 0}, mu[] = {.5}, r[] = {0, 0};
    const talus_global_def def = {.dim = 2,
                                  .count = 1,
                                  .body_count = 1,
                                  .body_start = bodies,
                                  .mass = {N, N, start, index, value},
                                  .h_row_start = rows,
                                  .h_body = body,
                                  .h_block = h,
                                  .f = f,
                                  .w = w,
                                  .law = {.mu = mu}};
    talus_problem *p;
    assert_int_equal(talus_problem_create_global(ctx, &def, &p), TALUS_OK);
    assert_false(tl_mass_is_block_diagonal(p->mass));
    assert_false(tl_problem_is_separable(p));
    assert_int_equal(talus_problem_state(p, r, v, NULL, NULL), TALUS_OK);
    for (int j = 0; j < N; j++) {
        const double left =
            (2.0 + (double)j / N) * v[j] - (j > 0 ? v[j - 1] : 0.0) - (j + 1 < N ? v[j + 1] : 0.0);
        assert_true(fabs(left - f[j]) < 1e-12);
    }
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// Many constraint rows over block diagonal bodies: rows that share a body and rows that do not.
static void many_constraints_over_bodies(void **state) {
    (void)state;
    enum { ROWS = 6 };
    talus_context *ctx = make_context();
    static bodies_problem s;
    static sparse_copy sc;
    bodies_fill(&s, 'b');
    double c[ROWS * DOF] = {0}, k[ROWS];
    tl_rng rng = {3};
    for (int l = 0; l < ROWS; l++) {
        k[l] = tl_rng_normal(&rng);
        for (int j = 0; j < DOF; j++)
            if ((j < 3 && l % 2) || (j >= 3 && j < 23 && l < 3) || (j > 23 && l > 2))
                c[l * DOF + j] = tl_rng_normal(&rng);
    }
    s.def.c = compress(ROWS, DOF, c, 'f', &sc);
    s.def.k = k;
    talus_problem *p;
    assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
    double r[15], v[DOF], u[15], lambda[ROWS], v2[DOF], u2[15], lambda2[ROWS], kept[ROWS];
    for (int i = 0; i < 15; i++) r[i] = tl_rng_normal(&rng);
    assert_int_equal(talus_problem_state(p, r, v, u, lambda), TALUS_OK);
    assert_true(verify_global_state(15, DOF, ROWS, s.m, s.h, c, s.f, k, s.w, r, v2, u2, lambda2));
    assert_close(DOF, v, v2, 1e-10);
    assert_close(15, u, u2, 1e-10);
    assert_close(ROWS, lambda, lambda2, 1e-10);
    verify_multiply(ROWS, DOF, c, v, kept);
    assert_close(ROWS, kept, k, 1e-11);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

static void empty_problems_are_legal(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    talus_problem *p;
    talus_certificate certificate;
    const talus_local_def local = {.dim = 3};
    assert_int_equal(talus_problem_create_local(ctx, &local, &p), TALUS_OK);
    assert_int_equal(talus_problem_state(p, NULL, NULL, NULL, NULL), TALUS_OK);
    assert_int_equal(talus_certify(p, NULL, &certificate), TALUS_OK);
    assert_true(certificate.residual == 0.0 && certificate.natural == 0.0);
    assert_int_equal(certificate.worst, -1);
    talus_problem_destroy(p);
    talus_global_def global = {.dim = 2};
    assert_int_equal(talus_problem_create_global(ctx, &global, &p), TALUS_OK);
    assert_int_equal(talus_certify(p, NULL, &certificate), TALUS_OK);
    talus_problem_destroy(p);
    const int32_t start[] = {0, 1}; // a body without contacts
    const double m[] = {2}, f[] = {6};
    double v[1];
    global =
        (talus_global_def){.dim = 2, .body_count = 1, .body_start = start, .mass_block = m, .f = f};
    assert_int_equal(talus_problem_create_global(ctx, &global, &p), TALUS_OK);
    assert_int_equal(talus_problem_state(p, NULL, v, NULL, NULL), TALUS_OK);
    assert_true(v[0] == 3.0);
    talus_problem_destroy(p);
    talus_problem_destroy(NULL);
    talus_context_destroy(ctx);
}

static void law_can_be_switched(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    const int64_t start[] = {0, 1};
    const int32_t col[] = {0};
    const double block[] = {1, 0, 0, 1}, q[] = {-1, 2}, mu[] = {.5}, zeta[] = {.2}, zero[] = {0};
    const talus_local_def def = {
        .dim = 2,
        .count = 1,
        .row_start = start,
        .col = col,
        .block = block,
        .q = q,
        .law = {.mu = mu, .dilatancy = zeta, .yield = zero, .tension = zero}};
    talus_problem *p;
    assert_int_equal(talus_problem_create_local(ctx, &def, &p), TALUS_OK);
    assert_true(tl_problem_law(p, 0).zeta == .2);
    assert_null(p->yield); // all zero: not kept
    talus_problem_set_law(p, TALUS_LAW_ASSOCIATED);
    assert_true(tl_problem_law(p, 0).zeta == .5);
    talus_problem_set_law(p, TALUS_LAW_COULOMB);
    assert_true(tl_problem_law(p, 0).zeta == .2);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// Memory that ends at the k-th request, for all k: an error, no problem, and nothing left over.
static void sweep(talus_status (*make)(talus_context *, const void *, talus_problem **),
                  const void *def) {
    for (int64_t fail_at = 1;; fail_at++) {
        test_alloc memory = {0};
        const talus_context_def context_def = test_alloc_def(&memory);
        talus_context *ctx = NULL;
        assert_int_equal(talus_context_create(&context_def, &ctx), TALUS_OK);
        const int64_t before = memory.live;
        memory.fail_at = memory.requests + fail_at;
        talus_problem *p = (talus_problem *)&memory; // must be overwritten
        const talus_status status = make(ctx, def, &p);
        if (status == TALUS_OK) {
            talus_problem_destroy(p);
            assert_int_equal(memory.live, before);
            talus_context_destroy(ctx);
            assert_int_equal(memory.bad_releases, 0);
            assert_true(fail_at > 10);
            return;
        }
        assert_int_equal(status, TALUS_ERR_MEMORY);
        assert_null(p);
        assert_int_equal(memory.live, before);
        talus_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
        assert_int_equal(memory.bad_releases, 0);
    }
}

static talus_status make_global(talus_context *ctx, const void *def, talus_problem **out) {
    return talus_problem_create_global(ctx, def, out);
}

static talus_status make_local(talus_context *ctx, const void *def, talus_problem **out) {
    return talus_problem_create_local(ctx, def, out);
}

static void memory_runs_out_everywhere(void **state) {
    (void)state;
    static spec_problem s;
    static bodies_problem bodies;
    spec_fill(&s, false, 'f'); // CHOLMOD and a constraint
    sweep(make_global, &s.def);
    spec_fill(&s, true, 'l');
    sweep(make_global, &s.def);
    bodies_fill(&bodies, 'd'); // sorting and merging
    sweep(make_global, &bodies.def);
    bodies_fill(&bodies, 'b');
    sweep(make_global, &bodies.def);
    double w[81], q[9];
    const double b[9] = {1, 0, 0, 0, .5}, p_dense[1] = {9}, c[1] = {1}, zeta[3] = {.1, .1, .1};
    int64_t start[4];
    int32_t col[9];
    double block[81];
    static sparse_copy sb, sp;
    assert_true(verify_delassus(9, 7, spec_m, spec_h, spec_f, spec_w, w, q));
    talus_local_def def = local_def(3, 3, w, start, col, block);
    def.q = q;
    def.c = c;
    def.law = (talus_law_view){.mu = spec_mu, .dilatancy = zeta, .yield = zeta, .tension = zeta};
    sweep(make_local, &def);
    def.b = compress(9, 1, b, 'f', &sb);
    def.p = compress(1, 1, p_dense, 'f', &sp);
    sweep(make_local, &def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example_in_all_global_forms),
        cmocka_unit_test(responses_in_columns),
        cmocka_unit_test(worked_example_in_local_form),
        cmocka_unit_test(local_constraints_fill_only_what_they_touch),
        cmocka_unit_test(bodies_in_all_forms_of_mass),
        cmocka_unit_test(diagonal_mass_is_exact),
        cmocka_unit_test(large_sparse_body_stays_sparse),
        cmocka_unit_test(many_constraints_over_bodies),
        cmocka_unit_test(empty_problems_are_legal),
        cmocka_unit_test(law_can_be_switched),
        cmocka_unit_test(memory_runs_out_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
