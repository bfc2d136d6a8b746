// SPDX-License-Identifier: Apache-2.0
// Interior points: the algebra of the cone, the linear system in both forms, and what the solvers
// are there for: hyperstatic problems, all kinds of laws, few iterations.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "cone/jordan.h"
#include "solve/interior_system.h"
#include "solve/plan.h"
#include "support/context.h"
#include "support/solve_cases.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int dims[] = {2, 3, 6};

// A point whose distance to the border is `inside` of its size.
static void cone_point(tl_rng *rng, int d, double inside, double *x) {
    double t = 0.0;
    for (int k = 1; k < d; k++) {
        x[k] = tl_rng_normal(rng);
        t += x[k] * x[k];
    }
    const double size = tl_rng_range(rng, 0.1, 10.0) / sqrt(t);
    for (int k = 1; k < d; k++) x[k] *= size;
    x[0] = verify_norm(d - 1, x + 1) * (1.0 + inside);
}

static void algebra(void **state) {
    (void)state;
    tl_rng rng = {3};
    for (int trial = 0; trial < 300; trial++) {
        const int d = dims[trial % 3];
        double x[6], y[6], p[6], back[6];
        cone_point(&rng, d, 0.2, x);
        for (int k = 0; k < d; k++) y[k] = tl_rng_normal(&rng);
        tl_soc_product(d, x, y, p);
        tl_soc_divide(d, x, p, back);
        for (int k = 0; k < d; k++) assert_true(fabs(back[k] - y[k]) <= 1e-12 * verify_norm(d, y));
        // x + reach dx lies on the border, and what is short of it inside.
        const double reach = tl_soc_reach(d, x, y);
        if (isinf(reach)) {
            assert_true(y[0] >= verify_norm(d - 1, y + 1) * (1.0 - 1e-12));
            continue;
        }
        double at[6], before[6];
        for (int k = 0; k < d; k++) {
            at[k] = x[k] + reach * y[k];
            before[k] = x[k] + 0.99 * reach * y[k];
        }
        const double size = verify_norm(d, x) + reach * verify_norm(d, y);
        assert_true(reach > 0.0);
        assert_true(fabs(at[0] - verify_norm(d - 1, at + 1)) <= 1e-12 * size);
        assert_true(before[0] > verify_norm(d - 1, before + 1));
    }
    const double x[] = {2.0, 1.0, 0.0}, in[] = {1.0, 0.5, 0.5};
    assert_true(isinf(tl_soc_reach(3, x, in)));
}

// S z = S⁻¹ x, S S⁻¹ = 1, and the frame is orthogonal and made of eigenvectors, also where x and z
// are near the border and S² spans twenty orders.
static void scaling(void **state) {
    (void)state;
    tl_rng rng = {4};
    for (int trial = 0; trial < 300; trial++) {
        const int d = dims[trial % 3];
        const double inside = trial % 2 == 0 ? 0.3 : 1e-10;
        double x[6], z[6], a[6], b[6], f[36], v[6];
        tl_scaling s = {0};
        cone_point(&rng, d, inside, x);
        cone_point(&rng, d, inside, z);
        for (int k = 1; k < d && trial % 4 > 1; k++) z[k] = -x[k]; // sliding
        if (trial % 4 > 1) z[0] = x[0];
        assert_true(tl_scaling_make(d, x, z, &s));
        tl_scaling_apply(d, &s, false, z, a);
        tl_scaling_apply(d, &s, true, x, b);
        // What is known of the distance to the border is eps/inside of it; its root is in S.
        const double known = 100.0 * DBL_EPSILON / inside;
        for (int k = 0; k < d; k++)
            assert_true(fabs(a[k] - b[k]) <= known * (verify_norm(d, a) + verify_norm(d, b)));
        tl_scaling_apply(d, &s, true, a, b);
        for (int k = 0; k < d; k++)
            assert_true(fabs(b[k] - z[k]) <= 1e-14 * s.plus / s.minus * verify_norm(d, z));
        tl_scaling_frame(d, &s, f);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) {
                double sum = 0.0;
                for (int k = 0; k < d; k++) sum += f[k * d + i] * f[k * d + j];
                assert_true(fabs(sum - (i == j ? 1.0 : 0.0)) <= 1e-14);
            }
        for (int j = 0; j < d; j++) {
            const double value = j == 0 ? s.plus : j == 1 ? s.minus : s.cross;
            for (int k = 0; k < d; k++) v[k] = f[k * d + j];
            tl_scaling_apply(d, &s, false, v, a);
            for (int k = 0; k < d; k++) // the others' part in v is rounding
                assert_true(fabs(a[k] - value * v[k]) <= 1e-14 * s.plus);
        }
    }
    tl_scaling s = {0};
    const double in[] = {1.0, 0.5}, out[] = {1.0, 1.5}, behind[] = {-2.0, 0.5};
    assert_true(tl_scaling_make(2, in, in, &s));
    assert_false(tl_scaling_make(2, in, out, &s));
    assert_false(tl_scaling_make(2, out, in, &s));
    assert_false(tl_scaling_make(2, behind, in, &s));
}

// (W + F⁻ᵀ E F⁻¹) x = b, checked by putting x into it.
static void linear_system(void **state) {
    (void)state;
    tl_rng rng = {5};
    for (int trial = 0; trial < 48; trial++) {
        const int kind = trial % SOLVE_KINDS, d = dims[trial % 3], n = 5;
        const bool velocities = kind == SOLVE_GLOBAL || kind == SOLVE_SPARSE_MASS;
        const bool held = trial % 5 == 0;
        solve_case c;
        solve_case_make(ctx,
                        &(solve_def){.kind = (solve_kind)kind,
                                     .dim = d,
                                     .count = n,
                                     .mu = 0.5,
                                     .coupling = 0.3,
                                     .seed = (uint64_t)trial},
                        &c);
        tl_plan plan = {0};
        tl_graph graph;
        tl_delassus w;
        double f[5 * 36], e[5 * 36] = {0.0}, ridge[5], b[30], x[30], u[30], zero[30] = {0.0};
        bool fixed[8] = {false};
        assert_int_equal(tl_plan_natural(ctx, n, &plan), TALUS_OK);
        assert_int_equal(tl_graph_create(ctx, c.problem, &graph), TALUS_OK);
        assert_int_equal(
            tl_delassus_create(ctx, c.problem, true, &graph, plan.rows, plan.order, 1, &w),
            TALUS_OK);
        for (int i = 0; i < n; i++) {
            fixed[i] = held && i % 2 == 0;
            ridge[i] = tl_rng_range(&rng, 0.0, 0.3);
            for (int k = 0; k < d * d; k++) {
                f[i * d * d + k] = (k % (d + 1) == 0 ? 1.5 : 0.0) + tl_rng_range(&rng, -0.2, 0.2);
                if (k % (d + 1) == 0) e[i * d * d + k] = exp(tl_rng_range(&rng, -3.0, 3.0));
                if (fixed[i]) f[i * d * d + k] = k == 0 ? 1.0 : 0.0;
            }
        }
        for (int form = 0; form <= (velocities ? 1 : 0); form++) {
            tl_interior_system s = {0};
            const double *add = form == 0 && trial % 2 == 0 ? ridge : NULL;
            assert_int_equal(tl_interior_system_create(ctx, &w, form == 1, fixed, 1, &s), TALUS_OK);
            for (int repeat = 0; repeat < 2; repeat++) { // the second time with the analysis made
                assert_true(tl_interior_system_factor(&s, f, e, add, 0.0));
                for (int k = 0; k < c.size; k++)
                    b[k] = x[k] = fixed[k / d] && k % d > 0 ? 0.0 : tl_rng_normal(&rng);
                assert_true(tl_interior_system_solve(&s, x));
                verify_local_u(c.size, c.delassus, zero, x, u);
                for (int i = 0; i < n; i++) {
                    double g[36], t[36], y[6], v[6];
                    for (int k = 0; k < d * d; k++) g[k] = f[i * d * d + k];
                    for (int k = 0; fixed[i] && k < d; k++) g[k * d + k] = 1.0;
                    for (int k = 0; k < d * d; k++) t[k] = g[k % d * d + k / d];
                    assert_true(verify_solve(d, g, x + i * d, y));
                    for (int k = 0; k < d; k++) y[k] *= e[i * d * d + k * d + k];
                    assert_true(verify_solve(d, t, y, v));
                    for (int k = 0; k < d; k++) {
                        const double more = add ? ridge[i] * x[i * d + k] : 0.0;
                        if (fixed[i] && k > 0)
                            assert_true(x[i * d + k] == 0.0);
                        else
                            assert_true(fabs(u[i * d + k] + more + v[k] - b[i * d + k]) <= 1e-11);
                    }
                }
            }
            tl_interior_system_clear(&s);
            tl_interior_system_clear(&s);
        }
        tl_delassus_clear(&w);
        tl_graph_clear(ctx, &graph);
        tl_plan_clear(ctx, &plan);
        solve_case_clear(&c);
    }
}

// Under the associated law there is no shift, and the two are one method.
static void associated(void **state) {
    (void)state;
    for (int k = 0; k < 12; k++) {
        solve_case c;
        double one[54] = {0.0}, two[54] = {0.0};
        const solve_def def = {.kind = (solve_kind)(k % SOLVE_KINDS),
                               .dim = dims[k % 3],
                               .count = 9,
                               .mu = -1.0,
                               .coupling = 0.3,
                               .associated = true,
                               .seed = (uint64_t)k};
        solve_case_make(ctx, &def, &c);
        const talus_solve_info a = solve_with(ctx, "ipm", "", c.problem, one);
        const talus_solve_info b = solve_with(ctx, "nipm", "", c.problem, two);
        assert_int_equal(a.outcome, TALUS_OUTCOME_SOLVED);
        assert_int_equal(a.iterations, b.iterations);
        assert_true(memcmp(one, two, (size_t)c.size * sizeof *one) == 0);
        assert_true(a.iterations <= 15); // as interior points do, whatever the size
        solve_case_clear(&c);
    }
}

// Every kind of law in every form: no friction, held tangents, dilatancy, yield, tension.
static void laws(void **state) {
    (void)state;
    const double friction[] = {-1.0, 0.0, INFINITY, 0.4};
    for (int trial = 0; trial < 192; trial++) {
        const char *name = trial % 2 == 0 ? "ipm" : "nipm";
        const solve_def def = {.kind = (solve_kind)(trial / 2 % SOLVE_KINDS),
                               .dim = dims[trial % 3],
                               .count = 7,
                               .mu = friction[trial / 8 % 4],
                               .coupling = 0.15,
                               .associated = trial % 7 == 0,
                               .dilatancy = trial % 5 == 0 && trial / 8 % 4 != 2,
                               .yield = trial % 11 < 5,
                               .tension = trial % 13 < 5,
                               .seed = (uint64_t)trial};
        solve_case c;
        double r[42] = {0.0};
        solve_case_make(ctx, &def, &c);
        const bool global = def.kind == SOLVE_GLOBAL || def.kind == SOLVE_SPARSE_MASS;
        const talus_solve_info info =
            solve_with(ctx, name, global && trial % 4 < 2 ? "form=matrix-free" : "", c.problem, r);
        const double natural = solve_case_natural(&c, r);
        if (info.outcome != TALUS_OUTCOME_SOLVED || !(natural <= 1.001e-8))
            fail_msg("%s trial %d: %s, natural %g after %d", name, trial,
                     talus_outcome_text(info.outcome), natural, info.iterations);
        solve_case_clear(&c);
    }
}

// Both solvers on a dense W in space, from zero, judged by dense code.
static void both_solve(int trial, int n, const double *w, const double *q, const double *mu) {
    enum { MOST = 24 };
    const int size = 3 * n;
    assert_true(size <= MOST);
    talus_problem *p = solve_dense(ctx, 3, n, w, q, (talus_law_view){.mu = mu});
    for (int k = 0; k < 2; k++) {
        double r[MOST] = {0.0}, u[MOST];
        const char *name = k == 0 ? "ipm" : "nipm";
        const talus_solve_info info = solve_with(ctx, name, "", p, r);
        verify_local_u(size, w, q, r, u);
        const double natural = verify_natural(3, n, mu, NULL, false, u, r, verify_norm(size, q));
        if (info.outcome != TALUS_OUTCOME_SOLVED || !(natural <= 1.001e-8))
            fail_msg("%s trial %d: %s, natural %g after %d", name, trial,
                     talus_outcome_text(info.outcome), natural, info.iterations);
    }
    talus_problem_destroy(p);
}

// One body on many contacts: 24 unknown impulses of 6 degrees of freedom, W of rank 6. Moves that
// push it into the contacts, slide it and turn it.
static void hyperstatic(void **state) {
    (void)state;
    enum { N = 8, D = 3, SIZE = N * D };
    tl_rng rng = {6};
    for (int trial = 0; trial < 20; trial++) {
        double h[SIZE * 6], m[36] = {0.0}, f[6], w[SIZE] = {0.0}, delassus[SIZE * SIZE], q[SIZE];
        double mu[N];
        for (int i = 0; i < N; i++) { // floor contacts: u = v + ω × p, normal upwards
            const double p[] = {tl_rng_range(&rng, -1.0, 1.0), tl_rng_range(&rng, -1.0, 1.0), -0.5};
            const double rows[3][6] = {
                {0, 0, 1, p[1], -p[0], 0}, {1, 0, 0, 0, p[2], -p[1]}, {0, 1, 0, -p[2], 0, p[0]}};
            memcpy(h + i * D * 6, rows, sizeof rows);
            mu[i] = tl_rng_range(&rng, 0.1, 0.9);
        }
        for (int k = 0; k < 6; k++) m[k * 6 + k] = k < 3 ? 2.0 : 0.3;
        for (int k = 0; k < 6; k++) f[k] = tl_rng_normal(&rng);
        f[2] = -3.0;
        assert_true(verify_delassus(SIZE, 6, m, h, f, w, delassus, q));
        both_solve(trial, N, delassus, q, mu);
    }
}

// W given with an antisymmetric part: solved as given, not by its symmetric part.
static void asymmetric(void **state) {
    (void)state;
    enum { N = 4, D = 3, SIZE = N * D };
    tl_rng rng = {7};
    double w[SIZE * SIZE], q[SIZE], mu[N];
    for (int i = 0; i < SIZE; i++) {
        q[i] = tl_rng_normal(&rng) - (i % D == 0 ? 0.7 : 0.0);
        for (int j = 0; j <= i; j++) {
            const double x = i == j ? 2.0 : tl_rng_range(&rng, -0.2, 0.2);
            const double skew = tl_rng_range(&rng, -2e-3, 2e-3);
            w[i * SIZE + j] = x + (i == j ? 0.0 : skew);
            w[j * SIZE + i] = x - (i == j ? 0.0 : skew);
        }
    }
    for (int i = 0; i < N; i++) mu[i] = 0.5;
    both_solve(0, N, w, q, mu);
}

// Few iterations of nipm, to more than the default asks for, and the same from both forms.
static void iterations(void **state) {
    (void)state;
    int total = 0;
    for (int trial = 0; trial < 60; trial++) {
        const int d = dims[trial % 3];
        const bool global = trial % 2 == 0;
        solve_case c;
        double r[42] = {0.0}, x[42] = {0.0}, u[42], v[42];
        const solve_def def = {.kind = global ? SOLVE_GLOBAL : SOLVE_LOCAL,
                               .dim = d,
                               .count = 7,
                               .mu = -1.0,
                               .coupling = 0.15,
                               .seed = (uint64_t)trial};
        solve_case_make(ctx, &def, &c);
        const talus_solve_info info = solve_with(ctx, "nipm", "tolerance=1e-9", c.problem, r);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_true(info.iterations <= 25);
        total += info.iterations;
        if (global) {
            const talus_solve_info other =
                solve_with(ctx, "nipm", "tolerance=1e-9 form=matrix-free", c.problem, x);
            assert_int_equal(other.outcome, TALUS_OUTCOME_SOLVED);
            assert_true(abs(other.iterations - info.iterations) <= 1);
            solve_case_u(&c, r, u);
            solve_case_u(&c, x, v);
            for (int k = 0; k < c.size; k++) assert_true(fabs(u[k] - v[k]) <= 1e-6);
        }
        solve_case_clear(&c);
    }
    assert_true(total <= 60 * 12);
}

// Two walls that squeeze a mass: no solution; both give up, and say so.
static void impossible(void **state) {
    (void)state;
    const int64_t start[] = {0, 2, 4};
    const int32_t col[] = {0, 1, 0, 1};
    const double block[] = {1, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, 1, 0, 0, 1};
    const double q[] = {-1, 0.2, -1, 0.2}, mu[] = {0.5, 0.5};
    const talus_local_def def = {.dim = 2,
                                 .count = 2,
                                 .row_start = start,
                                 .col = col,
                                 .block = block,
                                 .q = q,
                                 .law = {.mu = mu}};
    talus_problem *p = NULL;
    assert_int_equal(talus_problem_create_local(ctx, &def, &p), TALUS_OK);
    for (int k = 0; k < 2; k++) {
        double r[4] = {0.0};
        const talus_solve_info info =
            solve_with(ctx, k == 0 ? "ipm" : "nipm", "iterations=5000", p, r);
        assert_int_equal(info.outcome, TALUS_OUTCOME_STALLED);
        for (int i = 0; i < 4; i++) assert_true(isfinite(r[i]));
        assert_true(info.measure > 0.1);
    }
    talus_problem_destroy(p);
}

// Other measures to stop on, among them the change of r from an exact start.
static void measures(void **state) {
    (void)state;
    const char *stop[] = {"residual", "fb", "bipotential", "change"};
    for (int k = 0; k < 8; k++) {
        solve_case c;
        double r[27] = {0.0};
        char options[64];
        const solve_def def = {
            .kind = SOLVE_GLOBAL, .dim = 3, .count = 9, .mu = 0.4, .coupling = 0.15};
        solve_case_make(ctx, &def, &c);
        (void)snprintf(options, sizeof options, "stop=%s tolerance=1e-7", stop[k / 2]);
        assert_int_equal(
            solve_with(ctx, k % 2 == 0 ? "ipm" : "nipm", options, c.problem, r).outcome,
            TALUS_OUTCOME_SOLVED);
        assert_true(solve_case_natural(&c, r) <= 1e-2); // |F_FB|² is a square
        solve_case_clear(&c);
    }
    // Contacts that separate: r = 0 is exact, to the last bit.
    const int64_t start[] = {0, 1};
    const int32_t col[] = {0};
    const double block[] = {1, 0, 0, 1}, q[] = {1, 0}, mu[] = {0.5};
    const talus_local_def def = {.dim = 2,
                                 .count = 1,
                                 .row_start = start,
                                 .col = col,
                                 .block = block,
                                 .q = q,
                                 .law = {.mu = mu}};
    talus_problem *p = NULL;
    double r[2] = {0.0};
    assert_int_equal(talus_problem_create_local(ctx, &def, &p), TALUS_OK);
    const talus_solve_info info = solve_with(ctx, "nipm", "stop=change", p, r);
    assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
    assert_int_equal(info.iterations, 1);
    assert_true(r[0] == 0.0 && r[1] == 0.0);
    talus_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(algebra, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scaling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(linear_system, set_up, tear_down),
        cmocka_unit_test_setup_teardown(associated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hyperstatic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(asymmetric, set_up, tear_down),
        cmocka_unit_test_setup_teardown(iterations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impossible, set_up, tear_down),
        cmocka_unit_test_setup_teardown(measures, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
