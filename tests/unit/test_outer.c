// SPDX-License-Identifier: Apache-2.0
// Solvers over solvers: the view of a problem, refreshing a prepared solver, the known sequences of
// Cadoux's loop, fixed points under every law, and that mixing pays.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "problem/view.h"
#include "solve/outer.h"
#include "support/cone_judge.h"
#include "support/context.h"
#include "support/packing.h"
#include "support/solve_cases.h"
#include "support/spec_case.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EACH_INNER(name)                                                                           \
    const char *name;                                                                              \
    for (int name##_k = 0; (name = tl_outer_inner_name(name##_k)); name##_k++)

// u of the view is that of the problem at r = l − tension n, plus the shift.
static void view_state(void **state) {
    (void)state;
    for (int kind = 0; kind < SOLVE_KINDS; kind++)
        for (int tension = 0; tension < 2; tension++) {
            const solve_def def = {.kind = (solve_kind)kind,
                                   .dim = 3,
                                   .count = 6,
                                   .mu = -1.0,
                                   .coupling = 0.3,
                                   .dilatancy = true,
                                   .yield = true,
                                   .tension = tension == 1};
            solve_case c;
            tl_problem_view v;
            solve_case_make(ctx, &def, &c);
            assert_int_equal(tl_problem_view_init(ctx, c.problem, false, &v), TALUS_OK);
            tl_rng rng = {.state = 3};
            double l[18], r[18], shift[6], u[18], expected[18];
            for (int k = 0; k < 18; k++) r[k] = l[k] = tl_rng_normal(&rng);
            for (int i = 0; i < 6; i++) {
                shift[i] = tl_rng_unit(&rng);
                if (c.tension) r[3 * i] -= c.tension[i];
                const tl_law law = tl_problem_law(&v.problem, i);
                assert_true(law.mu == c.mu[i] && law.zeta == c.zeta[i] && law.yield == c.yield[i]);
            }
            assert_null(v.problem.tension);
            assert_ptr_equal(v.problem.w_block, c.problem->w_block); // nothing large is copied
            assert_ptr_equal(v.problem.h_block, c.problem->h_block);
            solve_case_u(&c, r, expected);
            for (int pass = 0; pass < 2; pass++) {
                if (pass == 1) tl_problem_view_shift(&v, shift);
                assert_int_equal(talus_problem_state(&v.problem, l, NULL, u, NULL), TALUS_OK);
                for (int k = 0; k < 18; k++) {
                    const double add = pass == 1 && k % 3 == 0 ? shift[k / 3] : 0.0;
                    assert_true(fabs(u[k] - expected[k] - add) <= 1e-12);
                }
            }
            tl_problem_view_clear(ctx, &v);
            tl_problem_view_clear(ctx, &v);
            solve_case_clear(&c);
        }
}

// A prepared solver that is told of new numbers gives the bits of one prepared on them, and
// allocates nothing.
static void refresh(void **state) {
    (void)state;
    EACH_INNER(name) {
        for (int kind = 0; kind < SOLVE_KINDS; kind++) {
            const solve_def def = {.kind = (solve_kind)kind,
                                   .dim = kind % 2 == 0 ? 3 : 2,
                                   .count = 7,
                                   .mu = -1.0,
                                   .coupling = 0.15,
                                   .seed = 11};
            solve_case c;
            tl_problem_view v;
            solve_case_make(ctx, &def, &c);
            assert_int_equal(tl_problem_view_init(ctx, c.problem, kind == 1, &v), TALUS_OK);
            talus_solver *s = NULL;
            talus_solve_info info, other;
            double first[21] = {0.0}, r[21] = {0.0}, x[21] = {0.0}, shift[7];
            assert_int_equal(talus_solver_create(ctx, name, &s), TALUS_OK);
            solve_set(ctx, s, "stop=residual");
            assert_int_equal(talus_solver_prepare(s, &v.problem), TALUS_OK);
            assert_int_equal(talus_solver_solve(s, first, &info), TALUS_OK);
            assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
            for (int i = 0; i < 7; i++) {
                shift[i] = -0.1 * i;
                v.problem.own.mu[i] = 0.5 * v.problem.mu[i];
                v.problem.own.yield[i] = 0.01 * i;
            }
            tl_problem_view_shift(&v, shift);
            const int64_t before = tl_alloc_count(ctx);
            s->ops->refresh(s);
            assert_true(tl_alloc_count(ctx) == before);
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
            other = solve_with(ctx, name, "stop=residual", &v.problem, x);
            assert_true(memcmp(r, x, sizeof r) == 0);
            assert_true(memcmp(r, first, sizeof r) != 0);
            assert_int_equal(info.iterations, other.iterations);
            assert_true(info.measure == other.measure);
            talus_solver_destroy(s);
            tl_problem_view_clear(ctx, &v);
            solve_case_clear(&c);
        }
    }
}

// One contact, W = 1, b = (−1, 2, 0), mu = 0.5. A start of zero means s = 0: the convex solution,
// then s = .6, .72, .744, … to .75 with ratio .2.
static void cadoux_one_contact(void **state) {
    (void)state;
    const double w[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[] = {-1, 2, 0}, mu[] = {0.5};
    talus_problem *p = solve_dense(ctx, 3, 1, w, q, (talus_law_view){.mu = mu});
    EACH_INNER(name) {
        double s = 0.6;
        for (int k = 1; k <= 6; k++) {
            double r[] = {0, 0, 0};
            char options[128];
            (void)snprintf(options, sizeof options,
                           "inner=%s iterations=%d accuracy=1e-10 inner_iterations=1000", name, k);
            const talus_solve_info info = solve_with(ctx, "cadoux", options, p, r);
            assert_int_equal(info.iterations, k);
            if (k == 1) assert_true(fabs(r[0] - 1.6) <= 1e-8 && fabs(r[1] + 0.8) <= 1e-8);
            assert_true(fabs(0.5 * fabs(r[1] + 2.0) - s) <= 1e-8);
            s = 0.75 + 0.2 * (s - 0.75);
        }
    }
    // |u_T| = 0, 1.2, 1.44, 1.488, 1.4976, …: changes of 1.2, .11, .020, .0039 over its norm + 1
    const char *settled[] = {"0.15", "0.03", "5e-3"}; // over the norm alone one more each
    for (int k = 0; k < 3; k++) {
        double r[] = {0, 0, 0};
        char options[128];
        (void)snprintf(options, sizeof options, "settled=%s accuracy=1e-10 tolerance=1e-12",
                       settled[k]);
        const talus_solve_info info = solve_with(ctx, "cadoux", options, p, r);
        assert_int_equal(info.iterations, k + 2);
        assert_int_equal(info.outcome, TALUS_OUTCOME_STALLED); // the tolerance was not reached
    }
    talus_problem_destroy(p);
}

// max |F_FB| at ρ = 1, by the judge.
static double spec_fb(const double *r) {
    double v[SPEC_DOF], u[SPEC_SIZE], f[3], most = 0.0;
    assert_true(verify_global_state(SPEC_SIZE, SPEC_DOF, 1, spec_m, spec_h, spec_c, spec_f, spec_k,
                                    spec_w, r, v, u, NULL));
    for (int i = 0; i < SPEC_COUNT; i++) {
        const tl_law law = {.mu = spec_mu[i]};
        judge_fb(3, &law, 1.0, u + 3 * i, r + 3 * i, f);
        most = fmax(most, sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]));
    }
    return most;
}

// Three contacts and a constraint: six convex problems to 1e-9, and the residual after each, which
// is known to two digits. The inner problems are solved far more accurately than that.
static void cadoux_three_contacts(void **state) {
    (void)state;
    const double known[] = {.33, 6.4e-3, 9.9e-5, 1.5e-6, 2.4e-8, 3.7e-10};
    talus_problem *p = spec_case_make(ctx, TALUS_LAW_COULOMB);
    for (int k = 1; k <= 6; k++) {
        double r[SPEC_SIZE] = {0.0};
        char options[128];
        (void)snprintf(options, sizeof options,
                       "iterations=%d tolerance=1e-14 accuracy=1e-8 inner_iterations=1000", k);
        const talus_solve_info info = solve_with(ctx, "cadoux", options, p, r);
        assert_int_equal(info.iterations, k);
        const double error = spec_fb(r);
        if (!(fabs(error / known[k - 1] - 1.0) <= 0.04)) fail_msg("%d: %g", k, error);
    }
    // With inner solutions only as accurate as the outer loop needs them: as many, fewer sweeps.
    double r[SPEC_SIZE] = {0.0}, x[SPEC_SIZE] = {0.0};
    const talus_solve_info easy = solve_with(ctx, "cadoux", "stop=fb tolerance=1e-18", p, r);
    const talus_solve_info exact =
        solve_with(ctx, "cadoux", "stop=fb tolerance=1e-18 accuracy=1e-8", p, x);
    assert_int_equal(easy.outcome, TALUS_OUTCOME_SOLVED);
    assert_true(abs(easy.iterations - 6) <= 1 && abs(exact.iterations - 6) <= 1);
    assert_true(easy.local_solves < exact.local_solves);
    for (int k = 0; k < SPEC_SIZE; k++) assert_true(fabs(r[k] - spec_r_coulomb[k]) <= 2e-8);
    talus_problem_destroy(p);
}

// Every law, form and dimension, every solver of this file over every inner one.
static void all_laws(void **state) {
    (void)state;
    const char *outer[] = {"cadoux", "haslinger", "anderson", "polish"};
    EACH_INNER(name) {
        for (int trial = 0; trial < 4 * SOLVE_KINDS * 3; trial++) {
            const int d[] = {2, 3, 6};
            const solve_def def = {.kind = (solve_kind)(trial / 4 % SOLVE_KINDS),
                                   .dim = d[trial / 4 / SOLVE_KINDS],
                                   .count = 5,
                                   .mu = -1.0,
                                   .coupling = 0.15,
                                   .dilatancy = trial % 7 < 3,
                                   .yield = trial % 3 == 0,
                                   .tension = trial % 5 < 2,
                                   .seed = (uint64_t)trial};
            solve_case c;
            double r[30] = {0.0};
            char options[64];
            solve_case_make(ctx, &def, &c);
            (void)snprintf(options, sizeof options, "inner=%s time_limit=5", name);
            const talus_solve_info info = solve_with(ctx, outer[trial % 4], options, c.problem, r);
            const double natural = solve_case_natural(&c, r);
            if (info.outcome != TALUS_OUTCOME_SOLVED || !(natural <= 1.001e-8))
                fail_msg("%s over %s, trial %d: %s, natural %g after %d", outer[trial % 4], name,
                         trial, talus_outcome_text(info.outcome), natural, info.iterations);
            solve_case_clear(&c);
        }
    }
}

// A contact that slides with W_NT mu = 2.4: from one Tresca problem to the next r_N goes to
// 1 − 2.4 r_N, or to 0. Undamped that is a cycle of 0 and 1; damped it ends at r_N = 1/3.4.
static void haslinger_damped(void **state) {
    (void)state;
    const double w[] = {1, .8, .8, 1}, q[] = {-1, -10}, mu[] = {3};
    talus_problem *p = solve_dense(ctx, 2, 1, w, q, (talus_law_view){.mu = mu});
    EACH_INNER(name) {
        double r[2] = {0.0};
        char options[64];
        (void)snprintf(options, sizeof options, "inner=%s time_limit=5", name);
        const talus_solve_info info = solve_with(ctx, "haslinger", options, p, r);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_true(fabs(r[0] - 1.0 / 3.4) <= 1e-6 && fabs(r[1] - 3.0 / 3.4) <= 1e-6);
        assert_true(info.iterations < 100);
    }
    talus_problem_destroy(p);
}

static const packing_def tower = {
    .dim = 2, .nx = 6, .ny = 1, .nz = 16, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 7};

// Without mixing the iterations are those of the inner solver, bit by bit.
static void depth_zero(void **state) {
    (void)state;
    talus_problem *p = NULL;
    assert_int_equal(packing_create(ctx, &tower, &p), TALUS_OK);
    const talus_problem_info facts = talus_problem_get_info(p);
    const int64_t size = (int64_t)facts.dim * facts.count;
    double *r = solve_room(size), *x = solve_room(size);
    const char *names[] = {"nlgs", "jacobi"};
    for (int k = 0; k < 2; k++)
        for (int steps = 1; steps <= 3; steps++) {
            char own[96], mixed[96];
            (void)snprintf(own, sizeof own, "patience=0 momentum=no iterations=%d", 12);
            (void)snprintf(mixed, sizeof mixed, "inner=%s depth=0 steps=%d iterations=%d", names[k],
                           steps, 12 / steps);
            memset(r, 0, (size_t)size * sizeof *r);
            memset(x, 0, (size_t)size * sizeof *x);
            const talus_solve_info a = solve_with(ctx, names[k], own, p, r);
            const talus_solve_info b = solve_with(ctx, "anderson", mixed, p, x);
            assert_true(memcmp(r, x, (size_t)size * sizeof *r) == 0);
            assert_true(a.local_solves == b.local_solves);
        }
    free(r);
    free(x);
    talus_problem_destroy(p);
}

// Mixing pays where sweeps creep: a third of them, at most, at the default depth.
static void mixing_pays(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        packing_def def = tower;
        def.seed = seed;
        talus_problem *p = NULL;
        assert_int_equal(packing_create(ctx, &def, &p), TALUS_OK);
        const talus_problem_info facts = talus_problem_get_info(p);
        const int64_t size = (int64_t)facts.dim * facts.count;
        double *r = solve_room(size);
        const talus_solve_info plain = solve_with(ctx, "nlgs", "momentum=no", p, r);
        assert_int_equal(plain.outcome, TALUS_OUTCOME_SOLVED);
        const char *options[] = {"", "depth=4", "steps=3", "stop=residual tolerance=1e-7"};
        for (int k = 0; k < 4; k++) {
            memset(r, 0, (size_t)size * sizeof *r);
            const talus_solve_info mixed = solve_with(ctx, "anderson", options[k], p, r);
            assert_int_equal(mixed.outcome, TALUS_OUTCOME_SOLVED);
            if (k < 3) assert_true(solve_natural(p, tower.mu, r) <= 1.001e-8);
            if ((k == 0 ? 3 : 1) * mixed.local_solves >= plain.local_solves)
                fail_msg("seed %d '%s': %lld one-contact solves, without mixing %lld", (int)seed,
                         options[k], (long long)mixed.local_solves, (long long)plain.local_solves);
        }
        // The change of a sweep says nothing about a mixed point; the natural measure judges it.
        memset(r, 0, (size_t)size * sizeof *r);
        assert_int_equal(solve_with(ctx, "anderson", "stop=change tolerance=1e-12", p, r).outcome,
                         TALUS_OUTCOME_SOLVED);
        assert_true(solve_natural(p, tower.mu, r) <= 1e-8);
        free(r);
        talus_problem_destroy(p);
    }
}

// The last digits by a Newton step: with as many iterations gradients alone do not come that far.
static void polish_over(void **state) {
    (void)state;
    const solve_def def = {
        .kind = SOLVE_GLOBAL, .dim = 3, .count = 9, .mu = 0.4, .coupling = 0.6, .seed = 4};
    const char *sweeps = "nlgs jacobi anderson"; // the others solve no single contacts
    solve_case c;
    solve_case_make(ctx, &def, &c);
    EACH_INNER(name) {
        double r[27] = {0.0}, x[27] = {0.0};
        char options[96];
        (void)snprintf(options, sizeof options, "inner=%s sweeps=5 tolerance=1e-13", name);
        const talus_solve_info info = solve_with(ctx, "polish", options, c.problem, r);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_true(solve_case_natural(&c, r) <= 1.1e-13);
        assert_true((info.local_solves > 0) == (strstr(sweeps, name) != NULL));
        (void)snprintf(options, sizeof options, "tolerance=1e-300 iterations=%d",
                       5 * info.iterations);
        (void)solve_with(ctx, name, options, c.problem, x);
        if (info.local_solves == 0) assert_true(solve_case_natural(&c, x) > 1e-9);
    }
    solve_case_clear(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(view_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refresh, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cadoux_one_contact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cadoux_three_contacts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(haslinger_damped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_zero, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mixing_pays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(polish_over, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
