// SPDX-License-Identifier: Apache-2.0
// Splitting methods (nlgs, jacobi): known solutions and sweep counts, stopping rules, and that
// every option leads to the same velocities. u is compared, not r, which need not be unique.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "support/cone_judge.h"
#include "support/context.h"
#include "support/fibres.h"
#include "support/packing.h"
#include "support/solve_cases.h"
#include "support/spec_case.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the worked example ------------------------------------------------------------------------

static void close_to(const double *a, const double *b, int n, double tolerance) {
    for (int k = 0; k < n; k++)
        if (!(fabs(a[k] - b[k]) <= tolerance)) fail_msg("[%d]: %.12g is not %.12g", k, a[k], b[k]);
}

// r, λ and v to the eight decimals that are known, by both solvers and both forms.
static void worked_example(void **state) {
    (void)state;
    const char *forms[] = {"tolerance=1e-11 form=assembled", "tolerance=1e-11 form=matrix-free"};
    for (int k = 0; k < 4; k++) {
        const char *solver = k < 2 ? "nlgs" : "jacobi";
        double r[9] = {0}, v[7], u[9], lambda[1];
        talus_problem *p = spec_case_make(ctx, TALUS_LAW_COULOMB);
        assert_int_equal(solve_with(ctx, solver, forms[k % 2], p, r).outcome, TALUS_OUTCOME_SOLVED);
        assert_true(verify_global_state(9, 7, 1, spec_m, spec_h, spec_c, spec_f, spec_k, spec_w, r,
                                        v, u, lambda));
        close_to(r, spec_r_coulomb, 9, 1e-8);
        close_to(v, spec_v_coulomb, 7, 1e-8);
        close_to(lambda, &spec_lambda_coulomb, 1, 1e-8);
        assert_true(fabs(u[0]) <= 1e-9 && hypot(u[1], u[2]) > 0.1); // slides
        assert_true(verify_norm(3, u + 3) <= 1e-9);                 // sticks
        assert_true(u[6] > 0.1 && verify_norm(3, r + 6) == 0.0);    // takes off
        double shift = 0.0;
        for (int i = 0; i < 3; i++) {
            const double s = spec_mu[i] * hypot(u[3 * i + 1], u[3 * i + 2]);
            shift += s * s;
        }
        assert_true(fabs(sqrt(shift) - 1.126987) <= 1e-6);
        talus_problem_destroy(p);

        p = spec_case_make(ctx, TALUS_LAW_ASSOCIATED);
        memset(r, 0, sizeof r);
        assert_int_equal(solve_with(ctx, solver, forms[k % 2], p, r).outcome, TALUS_OUTCOME_SOLVED);
        assert_true(verify_global_state(9, 7, 1, spec_m, spec_h, spec_c, spec_f, spec_k, spec_w, r,
                                        v, u, lambda));
        close_to(r, spec_r_associated, 9, 1e-8);
        close_to(lambda, &spec_lambda_associated, 1, 1e-8);
        close_to(v, &spec_v0_associated, 1, 1e-8);
        close_to(u, &spec_u0_associated, 1, 1e-8); // opens although it slides
        talus_problem_destroy(p);
    }
}

// Gauss-Seidel from 0 needs 19 sweeps for the Coulomb law and 23 for the associated one.
static void sweep_counts(void **state) {
    (void)state;
    for (int associated = 0; associated < 2; associated++) {
        talus_problem *p =
            spec_case_make(ctx, associated ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
        int sweeps = 0;
        for (double error = INFINITY; error >= 1e-9; sweeps++) {
            char options[96];
            double r[9] = {0};
            (void)snprintf(options, sizeof options,
                           "tolerance=1e-300 check=1000000 local_tolerance=1e-14 "
                           "momentum=no iterations=%d",
                           sweeps + 1);
            solve_with(ctx, "nlgs", options, p, r);
            error = spec_case_fb(r, associated == 1);
            assert_true(sweeps < 50);
        }
        print_message("%s: %d sweeps\n", associated ? "associated" : "coulomb", sweeps);
        assert_int_equal(sweeps, associated ? 23 : 19);
        talus_problem_destroy(p);
    }
}

// ---- stopping rules ----------------------------------------------------------------------------

// λmax of the symmetric d × d block (i, i), by many power steps.
static double block_lambda(const solve_case *c, int i) {
    const int d = c->dim;
    double x[6], y[6], size = 0.0;
    for (int k = 0; k < d; k++) x[k] = 1.0 + 0.1 * k;
    for (int step = 0; step < 5000; step++) {
        for (int a = 0; a < d; a++) {
            y[a] = 0.0;
            for (int b = 0; b < d; b++)
                y[a] += c->delassus[(i * d + a) * c->size + i * d + b] * x[b];
        }
        size = verify_norm(d, y);
        for (int k = 0; k < d; k++) x[k] = y[k] / size;
    }
    return size;
}

// The measures of the stopping rules; `before` is r one sweep earlier.
static double judge_measure(const solve_case *c, const char *rule, const double *r,
                            const double *before) {
    const int d = c->dim, n = c->count;
    double u[64], total = 0.0, scale = 0.0, normal = 0.0, tangent = 0.0;
    solve_case_u(c, r, u);
    if (strcmp(rule, "natural") == 0) return solve_case_natural(c, r);
    for (int i = 0; i < n; i++) {
        const double *ui = u + d * i, *ri = r + d * i;
        const tl_law law = {.mu = c->mu[i], .zeta = c->def.associated ? c->mu[i] : 0.0};
        const double slip = verify_norm(d - 1, ui + 1), shift = (law.mu - law.zeta) * slip;
        double x[6], z[6], f[6] = {0}, trace = 0.0;
        if (strcmp(rule, "residual") == 0) {
            const double lambda = block_lambda(c, i);
            for (int k = 0; k < d; k++) x[k] = ri[k] - (ui[k] + (k == 0 ? shift : 0.0)) / lambda;
            verify_project(d, law.mu, 0.0, x, z);
            for (int k = 0; k < d; k++) f[k] = ri[k] - z[k];
            total = fmax(total, verify_norm(d, f) * sqrt(lambda));
            scale = fmax(scale, verify_norm(d, c->q + d * i) / sqrt(lambda));
        } else if (strcmp(rule, "fb") == 0) {
            for (int k = 0; k < d; k++) trace += c->delassus[(i * d + k) * (c->size + 1)];
            judge_fb(d, &law, d / trace, ui, ri, f);
            total = fmax(total, verify_norm(d, f) * verify_norm(d, f));
        } else if (strcmp(rule, "bipotential") == 0) {
            double gap = shift * ri[0];
            verify_project(d, law.mu, 0.0, ri, z);
            for (int k = 0; k < d; k++) {
                gap += ui[k] * ri[k];
                f[k] = ri[k] - z[k];
            }
            total += (verify_norm(d, f) + fabs(gap) + fmax(0.0, -ui[0])) / n;
        } else {
            for (int k = 0; k < d; k++) f[k] = ri[k] - before[d * i + k];
            normal = fmax(normal, fabs(f[0]));
            tangent = fmax(tangent, verify_norm(d - 1, f + 1));
            total = normal + tangent;
        }
    }
    return strcmp(rule, "residual") == 0 ? total / scale : total;
}

// With a check at every sweep, the solve ends at the first sweep whose measure is met.
static void stopping_rules(void **state) {
    (void)state;
    const char *rules[] = {"natural", "residual", "fb", "bipotential", "change"};
    const double tolerances[] = {1e-6, 1e-6, 1e-11, 1e-7, 1e-6};
    for (int k = 0; k < 5; k++)
        for (int form = 0; form < 2; form++)
            for (int d = 2; d <= 3; d++)
                for (uint64_t seed = 0; seed < 5; seed++) {
                    const solve_def def = {.kind = SOLVE_GLOBAL,
                                           .dim = d,
                                           .count = 9,
                                           .mu = 0.4,
                                           .coupling = 0.4,
                                           .seed = seed};
                    solve_case c;
                    char options[160];
                    double r[27] = {0}, before[27] = {0}, zero[27] = {0};
                    solve_case_make(ctx, &def, &c);
                    (void)snprintf(options, sizeof options,
                                   "stop=%s tolerance=%g check=1 form=%s local_tolerance=1e-13 "
                                   "momentum=no",
                                   rules[k], tolerances[k], form ? "matrix-free" : "assembled");
                    const talus_solve_info info = solve_with(ctx, "nlgs", options, c.problem, r);
                    if (info.outcome != TALUS_OUTCOME_SOLVED)
                        fail_msg("stop=%s: %s after %d sweeps", rules[k],
                                 talus_outcome_text(info.outcome), info.iterations);
                    assert_true(info.iterations >= 3);
                    char shorter[224];
                    (void)snprintf(shorter, sizeof shorter, "%s iterations=%d", options,
                                   info.iterations - 1);
                    const talus_solve_info last =
                        solve_with(ctx, "nlgs", shorter, c.problem, before);
                    assert_int_equal(last.outcome, TALUS_OUTCOME_ITERATION_LIMIT);
                    assert_true(last.measure > tolerances[k]);
                    const double measure = judge_measure(&c, rules[k], r, before);
                    // fb squares a difference of numbers of size one: 1e-16 of rounding.
                    const double slack = k == 2 ? 1e-6 : 1e-7;
                    if (!(fabs(measure - info.measure) <= slack * measure + 1e-15))
                        fail_msg("stop=%s: measured %.10g, judged %.10g", rules[k], info.measure,
                                 measure);
                    assert_true(measure <= tolerances[k] * (1.0 + slack));
                    if (k != 4) // one sweep earlier it was not met
                        assert_true(judge_measure(&c, rules[k], before, zero) > tolerances[k]);
                    solve_case_clear(&c);
                }
}

// ---- options -----------------------------------------------------------------------------------

static const char *const variants[] = {
    "form=matrix-free",
    "order=coloured",
    "order=natural",
    "order=coloured form=matrix-free threads=3",
    "sleep=10",
    "sleep=3 sleep_level=1 order=coloured",
    "open=5",
    "open=5 order=coloured",
    "sleep=10 form=matrix-free",
    "proximal=0.5",
    "proximal=0.1 order=coloured form=matrix-free",
    "relaxation=0.7",
    "relaxation=1.3",
    "symmetric=yes",
    "symmetric=yes sleep=5 form=matrix-free order=coloured",
    "step_rule=mass local=sbp",
    "step=0.5 local=sbp",
    "local_tolerance=1e-4",
    "check=25",
    "warm=no",
    "patience=3",
};

// All roads lead to the same velocities.
static void variants_agree(void **state) {
    (void)state;
    for (int solver = 0; solver < 2; solver++)
        for (int associated = 0; associated < 2; associated++)
            for (int d = 2; d <= 6; d += d == 3 ? 3 : 1) {
                const solve_def def = {.kind = SOLVE_GLOBAL,
                                       .dim = d,
                                       .count = 20,
                                       .mu = 0.4,
                                       .coupling = 0.2,
                                       .associated = associated == 1,
                                       .seed = 77};
                const char *name = solver ? "jacobi" : "nlgs";
                solve_case c;
                solve_case_make(ctx, &def, &c);
                double r[120] = {0}, u[120], x[120], y[120];
                assert_int_equal(solve_with(ctx, name, "tolerance=1e-11", c.problem, r).outcome,
                                 TALUS_OUTCOME_SOLVED);
                solve_case_u(&c, r, u);
                for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) {
                    char options[160];
                    if (solver && strstr(variants[k], "relaxation=1.3")) continue;
                    (void)snprintf(options, sizeof options, "tolerance=1e-11 time_limit=5 %s",
                                   variants[k]);
                    memset(x, 0, sizeof x);
                    const talus_solve_info info = solve_with(ctx, name, options, c.problem, x);
                    if (info.outcome != TALUS_OUTCOME_SOLVED ||
                        !(solve_case_natural(&c, x) <= 1.01e-11))
                        fail_msg("%s %s d %d: %s, %g after %d sweeps", name, variants[k], d,
                                 talus_outcome_text(info.outcome), solve_case_natural(&c, x),
                                 info.iterations);
                    solve_case_u(&c, x, y);
                    for (int i = 0; i < c.size; i++)
                        if (!(fabs(u[i] - y[i]) <= 1e-8))
                            fail_msg("%s %s d %d: u[%d] differs by %g", name, variants[k], d, i,
                                     u[i] - y[i]);
                }
                solve_case_clear(&c);
            }
}

// A settled contact is passed over: fewer one-contact solves, the same answer.
static void sleeping_saves(void **state) {
    (void)state;
    const packing_def def = {
        .dim = 3, .nx = 6, .ny = 6, .nz = 3, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 2};
    talus_problem *p = NULL;
    assert_int_equal(packing_create(ctx, &def, &p), TALUS_OK);
    const int32_t n = talus_problem_get_info(p).count;
    double *r = solve_room(3 * (int64_t)n);
    const talus_solve_info all = solve_with(ctx, "nlgs", "tolerance=1e-6 check=10", p, r);
    assert_int_equal(all.outcome, TALUS_OUTCOME_SOLVED);
    assert_true(all.local_solves == (int64_t)all.iterations * n);
    memset(r, 0, 3 * (size_t)n * sizeof *r);
    const talus_solve_info some = solve_with(ctx, "nlgs", "tolerance=1e-6 check=10 sleep=10", p, r);
    assert_int_equal(some.outcome, TALUS_OUTCOME_SOLVED);
    assert_true(solve_natural(p, 0.5, r) <= 1.001e-6);
    print_message("solves %lld, with sleeping %lld\n", (long long)all.local_solves,
                  (long long)some.local_solves);
    assert_true(some.local_solves < all.local_solves);
    free(r);
    talus_problem_destroy(p);
}

// What settles is told in the unit of the measure: `residual` has none, so that in units that make
// all impulses a millionth of what they were the same contacts sleep in the same sweeps.
static void sleeping_knows_units(void **state) {
    (void)state;
    talus_solve_info info[2];
    for (int k = 0; k < 2; k++) {
        const solve_def def = {.kind = SOLVE_GLOBAL,
                               .dim = 3,
                               .count = 40,
                               .mu = 0.4,
                               .coupling = 1.0,
                               .mass = k == 0 ? 1.0 : 0x1p-20, // a power of two: no other rounding
                               .seed = 8};
        solve_case c;
        solve_case_make(ctx, &def, &c);
        double *r = solve_room(c.size);
        info[k] = solve_with(
            ctx, "nlgs", "stop=residual tolerance=1e-8 check=5 sleep=10 momentum=no", c.problem, r);
        assert_int_equal(info[k].outcome, TALUS_OUTCOME_SOLVED);
        free(r);
        solve_case_clear(&c);
    }
    assert_true(info[0].local_solves < (int64_t)info[0].iterations * 40); // some did sleep
    assert_int_equal(info[0].iterations, info[1].iterations);
    assert_true(info[0].local_solves == info[1].local_solves);
}

// Every one-contact solver inside nlgs. The pyramid solves another law, and the certificate says
// so.
static void local_solvers(void **state) {
    (void)state;
    for (int d = 2; d <= 3; d++) {
        const packing_def def = {.dim = d,
                                 .nx = 4,
                                 .ny = d == 3 ? 4 : 1,
                                 .nz = 2,
                                 .mu = 0.4,
                                 .disorder = 0.1,
                                 .speed = 0.1,
                                 .seed = 6};
        talus_problem *p = NULL;
        const char *name, *summary;
        assert_int_equal(packing_create(ctx, &def, &p), TALUS_OK);
        const int32_t n = talus_problem_get_info(p).count;
        double *r = solve_room(3 * (int64_t)n);
        for (int order = 0; order < 2; order++)
            for (int32_t k = 0; talus_local_solver_at(k, &name, &summary); k++) {
                char options[128];
                talus_certificate certificate;
                (void)snprintf(options, sizeof options,
                               "local=%s tolerance=1e-7 iterations=200000 time_limit=5 order=%s",
                               name, order ? "coloured" : "natural");
                memset(r, 0, 3 * (size_t)n * sizeof *r);
                const bool pyramid =
                    strcmp(name, "pyramid") == 0 || strcmp(name, "four-sides") == 0;
                if (pyramid) strcat(options, " patience=20");
                const talus_solve_info info = solve_with(ctx, "nlgs", options, p, r);
                assert_int_equal(talus_certify(p, r, &certificate), TALUS_OK);
                const double natural = solve_natural(p, def.mu, r);
                assert_true(fabs(natural - certificate.natural) <= 1e-12 + 1e-6 * natural);
                if (pyramid && d == 3) {
                    assert_true(info.outcome != TALUS_OUTCOME_SOLVED);
                    assert_true(certificate.natural > 1e-4 && certificate.residual > 1e-4);
                } else if (info.outcome != TALUS_OUTCOME_SOLVED || !(natural <= 1.001e-7)) {
                    fail_msg("d %d local=%s order %d: %s, %g after %d sweeps, %lld of %lld failed",
                             d, name, order, talus_outcome_text(info.outcome), natural,
                             info.iterations, (long long)info.local_failures,
                             (long long)info.local_solves);
                }
            }
        free(r);
        talus_problem_destroy(p);
    }
}

// ½ rᵀ W r + qᵀ r
static double objective(const solve_case *c, const double *r) {
    double u[128], sum = 0.0;
    verify_multiply(c->size, c->size, c->delassus, r, u);
    for (int k = 0; k < c->size; k++) sum += r[k] * (0.5 * u[k] + c->q[k]);
    return sum;
}

// Under the associated law each visit lowers the convex objective, so every sweep does, also when
// some contacts sleep [docs/theory/splitting.md].
static void monotone_objective(void **state) {
    (void)state;
    const char *options[] = {"",
                             "sleep=3 sleep_level=1e5",
                             "proximal=0.3 sleep=10 sleep_level=1e5",
                             "order=coloured form=matrix-free sleep=2 sleep_level=1e5",
                             "symmetric=yes",
                             "relaxation=0.5"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            const solve_def def = {.kind = SOLVE_GLOBAL,
                                   .dim = 3,
                                   .count = 20,
                                   .mu = 0.6,
                                   .coupling = 0.6,
                                   .associated = true,
                                   .seed = seed};
            solve_case c;
            solve_case_make(ctx, &def, &c);
            double last = 0.0;
            for (int sweeps = 1; sweeps <= 40; sweeps++) {
                char text[160];
                double r[60] = {0};
                // No check but at the start and the end: r is the last iterate, or 0.
                (void)snprintf(text, sizeof text,
                               "tolerance=1e-8 check=1000000 local_tolerance=1e-14 momentum=no "
                               "iterations=%d %s",
                               sweeps, options[k]);
                solve_with(ctx, "nlgs", text, c.problem, r);
                assert_true(verify_norm(c.size, r) > 0.0);
                const double value = objective(&c, r);
                if (!(value <= last + 1e-14 * fabs(last)))
                    fail_msg("%s seed %d: %.17g after %.17g in sweep %d", options[k], (int)seed,
                             value, last, sweeps);
                last = value;
            }
            solve_case_clear(&c);
        }
}

// Diagonal blocks of rank one: not invertible, but the problem has solutions.
static void singular_blocks(void **state) {
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int associated = 0; associated < 2; associated++)
            for (uint64_t seed = 0; seed < 10; seed++) {
                const solve_def def = {.kind = SOLVE_LOCAL,
                                       .dim = d,
                                       .count = 6,
                                       .mu = 0.3,
                                       .rank_one = true,
                                       .associated = associated == 1,
                                       .seed = seed};
                solve_case c;
                solve_case_make(ctx, &def, &c);
                const char *options[] = {"tolerance=1e-7", "tolerance=1e-7 proximal=0.1"};
                for (int k = 0; k < 2; k++) {
                    double r[18] = {0};
                    const talus_solve_info info = solve_with(ctx, "nlgs", options[k], c.problem, r);
                    for (int i = 0; i < c.size; i++) assert_true(isfinite(r[i]));
                    if (info.outcome != TALUS_OUTCOME_SOLVED ||
                        !(solve_case_natural(&c, r) <= 1.001e-7))
                        fail_msg("d %d associated %d seed %d %s: %s, %g after %d sweeps", d,
                                 associated, (int)seed, options[k],
                                 talus_outcome_text(info.outcome), solve_case_natural(&c, r),
                                 info.iterations);
                }
                solve_case_clear(&c);
            }
}

// Dilatancy, yield and tension, alone and together, for every form and dimension.
static void laws(void **state) {
    (void)state;
    for (int bits = 0; bits < 16; bits++)
        for (int kind = 0; kind < SOLVE_KINDS; kind++)
            for (int d = 2; d <= 6; d += d == 3 ? 3 : 1) {
                const solve_def def = {.kind = (solve_kind)kind,
                                       .dim = d,
                                       .count = 8,
                                       .mu = -1.0,
                                       .coupling = 0.2,
                                       .dilatancy = bits & 1,
                                       .yield = bits & 2,
                                       .tension = bits & 4,
                                       .associated = bits & 8,
                                       .seed = (uint64_t)bits};
                const char *options[] = {"tolerance=1e-9",
                                         "tolerance=1e-9 order=coloured local=sbp"};
                solve_case c;
                solve_case_make(ctx, &def, &c);
                for (int k = 0; k < 4; k++) {
                    double r[48] = {0};
                    const talus_solve_info info =
                        solve_with(ctx, k < 2 ? "nlgs" : "jacobi", options[k % 2], c.problem, r);
                    if (info.outcome != TALUS_OUTCOME_SOLVED ||
                        !(solve_case_natural(&c, r) <= 1.001e-9))
                        fail_msg("law %d kind %d d %d run %d: %s, %g after %d sweeps", bits, kind,
                                 d, k, talus_outcome_text(info.outcome), solve_case_natural(&c, r),
                                 info.iterations);
                }
                solve_case_clear(&c);
            }
}

// Sticking contacts: the two laws agree; sliding ones open under the associated law.
static void two_laws(void **state) {
    (void)state;
    const double w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu[1] = {0.5};
    const struct {
        double q[3], coulomb[3], associated[3];
    } cases[] = {
        {{-1, 2, 0}, {1, -.5, 0}, {1.6, -.8, 0}},   // slides
        {{-1, .25, 0}, {1, -.25, 0}, {1, -.25, 0}}, // sticks
        {{1, 2, 0}, {0, 0, 0}, {0, 0, 0}},          // opens: mu |q_T| <= q_N
    };
    for (int k = 0; k < 3; k++) {
        talus_problem *p = solve_dense(ctx, 3, 1, w, cases[k].q, (talus_law_view){.mu = mu});
        double r[3] = {0}, x[3] = {0};
        assert_int_equal(solve_with(ctx, "nlgs", "tolerance=1e-12", p, r).outcome, 0);
        close_to(r, cases[k].coulomb, 3, 1e-12);
        talus_problem_set_law(p, TALUS_LAW_ASSOCIATED);
        assert_int_equal(solve_with(ctx, "nlgs", "tolerance=1e-12", p, x).outcome, 0);
        close_to(x, cases[k].associated, 3, 1e-12);
        talus_problem_destroy(p);
    }
}

// Synthetic fibres, 600 contacts of 100 rods, to max |F_FB|² = 1e-8 looked at every 5 sweeps: about
// 45 sweeps, and with sleeping (10 sweeps for a change below 1e-5) about 55 with half the
// one-contact solves. Means over five problems, within a fifth.
static void fibres(void **state) {
    (void)state;
    double sweeps[2] = {0.0}, solves[2] = {0.0};
    for (int seed = 1; seed <= 5; seed++) {
        const fibres_def def = {
            .rods = 100, .contacts = 600, .mu = 0.3, .external = 0.15, .seed = (uint64_t)seed};
        talus_problem *p = NULL;
        assert_int_equal(fibres_create(ctx, &def, &p), TALUS_OK);
        double *r = solve_room(1800);
        for (int k = 0; k < 2; k++) {
            char options[128];
            (void)snprintf(options, sizeof options,
                           "stop=fb tolerance=1e-8 check=5 order=natural sleep=%d "
                           "sleep_level=1e-2 momentum=no", // |Δr|² <= 1e-2 of 1e-8
                           k == 0 ? 0 : 10);
            memset(r, 0, 1800 * sizeof *r);
            const talus_solve_info info = solve_with(ctx, "nlgs", options, p, r);
            assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
            assert_true(info.local_failures == 0);
            assert_true(solve_natural(p, 0.3, r) <= 1e-2); // of the other measure: r and u mixed
            sweeps[k] += info.iterations / 5.0;
            solves[k] += (double)info.local_solves / 5.0;
        }
        free(r);
        talus_problem_destroy(p);
    }
    print_message("fibres: %g sweeps, %g solves; with sleeping %g, %g\n", sweeps[0], solves[0],
                  sweeps[1], solves[1]);
    assert_true(fabs(sweeps[0] - 45.0) <= 9.0 && fabs(solves[0] - 27000.0) <= 5400.0);
    assert_true(fabs(sweeps[1] - 55.0) <= 11.0 && fabs(solves[1] - 13414.0) <= 2683.0);
}

// Sweeps that get nowhere are calmed: back to the best iterate, with a proximal term. Over-relaxed
// they get nowhere. In exact arithmetic W by blocks and W by H and M give the same impulses, also
// across such a restart; and a second solve knows nothing of the first.
static void calmed(void **state) {
    (void)state;
    enum { COUNT = 12, SIZE = 3 * COUNT };
    const solve_def def = {
        .kind = SOLVE_GLOBAL, .dim = 3, .count = COUNT, .mu = 0.8, .coupling = 2.0, .seed = 77};
    solve_case c;
    solve_case_make(ctx, &def, &c);
    double r[2][SIZE], again[SIZE] = {0};
    for (int form = 0; form < 2; form++) {
        talus_solver *s = NULL;
        talus_solve_info info;
        assert_int_equal(talus_solver_create(ctx, "nlgs", &s), TALUS_OK);
        solve_set(ctx, s, form ? "form=matrix-free" : "form=assembled");
        solve_set(ctx, s, "relaxation=2 patience=4 check=5 iterations=23 tolerance=1e-300");
        assert_int_equal(talus_solver_prepare(s, c.problem), TALUS_OK);
        memset(r[form], 0, sizeof r[form]);
        assert_int_equal(talus_solver_solve(s, r[form], &info), TALUS_OK);
        assert_int_equal(info.outcome, TALUS_OUTCOME_ITERATION_LIMIT);
        memset(again, 0, sizeof again);
        assert_int_equal(talus_solver_solve(s, again, &info), TALUS_OK);
        assert_memory_equal(again, r[form], sizeof again);
        talus_solver_destroy(s);
    }
    close_to(r[0], r[1], SIZE, 1e-10);
    solve_case_clear(&c);
}

// W by blocks and W by H and M are the same operator: in exact arithmetic the impulses are the same
// after any number of sweeps, also where each sweep starts from r moved on along the last ones.
static void momentum_forms(void **state) {
    (void)state;
    enum { COUNT = 20, MOST = 6 * COUNT };
    const char *forms[] = {"form=assembled", "form=matrix-free", "form=assembled momentum=no"};
    const char *orders[] = {"order=natural", "order=coloured threads=3", ""};
    for (int order = 0; order < 3; order++)
        for (int d = 2; d <= 6; d += d == 3 ? 3 : 1) {
            const solve_def def = {.kind = SOLVE_GLOBAL,
                                   .dim = d,
                                   .count = COUNT,
                                   .mu = 0.5,
                                   .coupling = 0.6,
                                   .seed = (uint64_t)d};
            solve_case c;
            solve_case_make(ctx, &def, &c);
            double r[3][MOST] = {{0}}, apart[2] = {0.0};
            for (int k = 0; k < 3; k++) {
                char options[160];
                const char *name = order < 2 ? "nlgs" : "jacobi";
                // No check but at the start and the end: nothing else brings z back to N Hᵀ r.
                (void)snprintf(options, sizeof options,
                               "tolerance=1e-300 check=1000000 iterations=10 "
                               "local_tolerance=1e-14 %s %s",
                               orders[order], forms[k]);
                const talus_solve_info info = solve_with(ctx, name, options, c.problem, r[k]);
                assert_int_equal(info.iterations, 10);
            }
            for (int i = 0; i < c.size; i++)
                for (int k = 0; k < 2; k++) apart[k] = fmax(apart[k], fabs(r[0][i] - r[k + 1][i]));
            const double size = verify_norm(c.size, r[0]);
            if (!(apart[0] <= 1e-10 * size))
                fail_msg("order %d d %d: the forms differ by %g of %g", order, d, apart[0], size);
            assert_true(apart[1] > 1e-6 * size); // momentum did move something
            solve_case_clear(&c);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(worked_example, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sweep_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopping_rules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(variants_agree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sleeping_saves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sleeping_knows_units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(local_solvers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(monotone_objective, set_up, tear_down),
        cmocka_unit_test_setup_teardown(singular_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fibres, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calmed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(momentum_forms, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
