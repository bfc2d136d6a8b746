// SPDX-License-Identifier: Apache-2.0
// Random one-contact problems in number. Every answer is judged again by code that shares nothing
// with the solvers, in long double, and one in twenty in quadruple precision.
#include "cone/local.h"
#include "support/cone_judge.h"
#include "support/local_cases.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const int dims[] = {2, 3, 6};
static const tl_local_control control = {.tolerance = 1e-10, .iterations = 100};

// Hard problems for the default method: not one failure, from zero or from nonsense.
static void hybrid_never_fails(void **state) {
    (void)state;
    tl_rng rng = {401};
    int sliding = 0;
    for (int a = 0; a < 3; a++)
        for (int associated = 0; associated < 2; associated++)
            for (int k = 0; k < 60000; k++) {
                const int d = dims[a], kind = k % LOCAL_CASE_KINDS;
                local_case c;
                double r[6] = {0};
                local_case_make(&rng, d, associated, kind, &c);
                if (k % 4 == 1) { // without what may have been computed ahead for this block
                    const tl_local p = c.problem;
                    c.problem =
                        (tl_local){.w = p.w, .inv = p.inv, .b = p.b, .law = p.law, .rho = p.rho};
                }
                if (k % 3 == 0)
                    for (int i = 0; i < d; i++)
                        r[i] = c.b[i] / c.w[0] * tl_rng_range(&rng, -2.0, 2.0);
                const int steps = tl_local_hybrid.solve[a](&c.problem, &control, r);
                const double error = judge_local_error(d, &c.problem, r, k % 20 == 0);
                if (steps < 0 || !(error <= 1e-10))
                    fail_msg("d = %d, law %d, kind %d, case %d: %d steps, error %g", d, associated,
                             kind, k, steps, error);
                sliding += steps > 0;
            }
    assert_true(sliding > 50000);
}

// Dilatancy between the two laws, and yield: the sets of stresses. A yield without dilatancy never
// fails. With dilatancy and a yield, or in d = 6 with b_N just below 0, a few in a thousand of
// these hard cases are not solved; they are reported as such, never passed off as solved.
static void hybrid_other_laws(void **state) {
    (void)state;
    tl_rng rng = {402};
    int failures[2][3] = {{0}}, plain = 0;
    for (int k = 0; k < 60000; k++) {
        static const int kinds[] = {0, 1, 6};
        const int a = k % 3, d = dims[a];
        const bool yields = k / 3 % 6 == 0;
        local_case c;
        double r[6] = {0};
        local_case_make(&rng, d, false, kinds[k / 3 % 3], &c);
        tl_law *law = &c.problem.law;
        law->zeta = (k % 2 ? tl_rng_unit(&rng) : k % 4 ? 1e-3 : 0.0) * law->mu;
        if (yields)
            law->yield = verify_norm(d, c.b) / c.w[0] * pow(10.0, tl_rng_range(&rng, -3, 1));
        const int steps = tl_local_hybrid.solve[a](&c.problem, &control, r);
        const double error = judge_local_error(d, &c.problem, r, false);
        assert_true(steps < 0 || error <= 1.01e-10);
        failures[yields][a] += !(error <= 1.01e-10);
        plain += law->zeta == 0.0 && !(error <= 1.01e-10);
    }
    print_message("other laws: d = 6 %d of 16667, with a yield %d, %d, %d of 3333\n",
                  failures[0][2], failures[1][0], failures[1][1], failures[1][2]);
    assert_int_equal(plain, 0);
    assert_int_equal(failures[0][0] + failures[0][1], 0);
    assert_true(failures[0][2] <= 50);
    for (int a = 0; a < 3; a++) assert_true(failures[1][a] <= 25);
}

// The success ranking of the literature (Daviet, Bertails-Descoubes and Boissieux 2011), with its
// own distribution: W = Q Qᵀ, Q Gaussian, or Q diag(1, 10^-3U, 10^-6U) Qᵀ; mu in [0.1, 1]; success
// is ½|F|² <= 1e-12 ξ²|b|².
static void ranking(void **state) {
    (void)state;
    static const char *const names[] = {"hybrid", "enum", "fb", "hybrid-newton", "hybrid-enum"};
    enum { METHODS = 5 };
    const tl_local_control tight = {.tolerance = 1e-13, .iterations = 100};
    tl_rng rng = {403};
    for (int associated = 0; associated < 2; associated++)
        for (int ill = 0; ill < 2; ill++) {
            int failures[METHODS] = {0};
            for (int k = 0; k < 20000; k++) {
                local_case c;
                double q[9], scale[3];
                for (int i = 0; i < 9; i++) q[i] = tl_rng_normal(&rng);
                for (int i = 0; i < 3; i++)
                    scale[i] = ill ? pow(10.0, -3.0 * i * tl_rng_unit(&rng)) : 1.0;
                double trace = 0.0, size = 0.0;
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) {
                        double sum = 0.0;
                        for (int m = 0; m < 3; m++) sum += q[i * 3 + m] * scale[m] * q[j * 3 + m];
                        c.w[i * 3 + j] = sum;
                    }
                for (int j = 0; j < 3; j++) {
                    double unit[3] = {0}, x[3] = {0};
                    unit[j] = 1.0;
                    if (!verify_solve(3, c.w, unit, x)) fail_msg("singular W");
                    for (int i = 0; i < 3; i++) c.inv[i * 3 + j] = x[i];
                    trace += c.w[j * 4];
                    c.b[j] = tl_rng_normal(&rng);
                    size += c.b[j] * c.b[j];
                }
                const double mu = tl_rng_range(&rng, 0.1, 1.0), xi = 3.0 / trace;
                c.problem = (tl_local){.w = c.w,
                                       .inv = c.inv,
                                       .b = c.b,
                                       .law = {mu, associated ? mu : 0.0, 0.0},
                                       .rho = 1.0 / trace};
                size = sqrt(size);
                for (int m = 0; m < METHODS; m++) {
                    double r[3] = {0};
                    tl_local_find(names[m])->forms->solve[1](&c.problem, &tight, r);
                    const double f = judge_local_error(3, &c.problem, r, false) *
                                     (xi * size + verify_norm(3, r));
                    failures[m] += !(0.5 * f * f <= 1e-12 * xi * xi * size * size);
                }
            }
            print_message("%s, %s: failures in 2e4: hybrid %d, enum %d, fb %d, hybrid-newton %d, "
                          "hybrid-enum %d\n",
                          associated ? "associated" : "coulomb", ill ? "ill" : "well", failures[0],
                          failures[1], failures[2], failures[3], failures[4]);
            assert_true(failures[0] <= failures[1]);
            if (!associated) assert_true(failures[1] <= failures[2]);
            assert_true(failures[3] <= failures[2]);
            assert_true(failures[4] <= failures[1]);
            assert_true(failures[0] <= (ill ? 10 : 0));
        }
}

// Every other exact method on milder problems, all dimensions: what it reports as solved is solved.
static void honesty(void **state) {
    (void)state;
    tl_rng rng = {404};
    for (const tl_local_solver *s = tl_local_solvers; s->name; s++) {
        if (!s->exact) continue;
        int solved = 0, false_alarms = 0;
        for (int k = 0; k < 6000; k++) {
            const int a = k % 3, d = dims[a];
            local_case c;
            double r[6] = {0};
            local_case_make(&rng, d, k % 2, k % LOCAL_CASE_KINDS, &c);
            const int steps = s->forms->solve[a](&c.problem, &control, r);
            const double error = judge_local_error(d, &c.problem, r, false);
            for (int i = 0; i < d; i++) assert_true(isfinite(r[i]));
            // u = W r + b is rounded at the size of r / ξ at most.
            assert_true(fabs(tl_local_error(d, &c.problem, r) - error) <= 1e-13 + 1e-8 * error);
            if (steps >= 0 && !(error <= 1.01e-10))
                fail_msg("%s, d = %d, case %d: %d steps, error %g", s->name, d, k, steps, error);
            solved += steps >= 0;
            // Enumeration has nothing to say where r = 0 is good enough but not exact.
            const double zero[6] = {0};
            false_alarms += steps < 0 && error <= 0.9e-10 &&
                            judge_local_error(d, &c.problem, zero, false) > 1e-10;
        }
        assert_true(solved > 2000);
        assert_int_equal(false_alarms, 0);
    }
}

// d = 6, Fischer-Burmeister Newton alone, on blocks as a continuum gives them: well conditioned.
static void six_dimensions(void **state) {
    (void)state;
    tl_rng rng = {405};
    int failures[2] = {0};
    for (int k = 0; k < 20000; k++) {
        local_case c;
        local_case_make(&rng, 6, k % 2, 0, &c);
        for (int i = 0; i < 6; i++) c.w[i * 7] += 0.1 * c.w[0];
        double unit[6], x[6] = {0};
        for (int j = 0; j < 6; j++) {
            memset(unit, 0, sizeof unit);
            unit[j] = 1.0;
            if (!verify_solve(6, c.w, unit, x)) fail_msg("singular W");
            for (int i = 0; i < 6; i++) c.inv[i * 6 + j] = x[i];
        }
        const tl_local old = c.problem; // its law and step serve on
        c.problem = (tl_local){.w = c.w, .inv = c.inv, .b = c.b, .law = old.law, .rho = old.rho};
        for (int m = 0; m < 2; m++) {
            double r[6] = {0};
            const tl_local_forms *forms = m ? &tl_local_fb : &tl_local_hybrid;
            const int steps = forms->solve[2](&c.problem, &control, r);
            const double error = judge_local_error(6, &c.problem, r, false);
            assert_true(steps < 0 || error <= 1.01e-10);
            failures[m] += !(error <= 1.01e-10);
        }
    }
    print_message("d = 6: hybrid %d, fb %d failures in 20000\n", failures[0], failures[1]);
    assert_int_equal(failures[0], 0);
    assert_true(failures[1] <= 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hybrid_never_fails),
        cmocka_unit_test(hybrid_other_laws),
        cmocka_unit_test(ranking),
        cmocka_unit_test(honesty),
        cmocka_unit_test(six_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
