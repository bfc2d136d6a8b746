// SPDX-License-Identifier: Apache-2.0
// Lemke's method on friction problems: in the plane against another solver and the law, in space
// against the law of the pyramid, and how far that is from Coulomb's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "support/context.h"
#include "support/packing.h"
#include "support/solve_cases.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// ---- in the plane ------------------------------------------------------------------------------

// Where W is positive definite and the contacts are weakly coupled r is unique: two solvers that
// have nothing in common find the same, whatever the law.
static void agrees_with_nlgs(void **state) {
    (void)state;
    for (int kind = 0; kind < SOLVE_KINDS; kind++)
        for (uint64_t trial = 0; trial < 32; trial++) {
            const solve_def def = {.kind = (solve_kind)kind,
                                   .dim = 2,
                                   .count = 1 + (int)(trial * 3 % 11),
                                   .mu = trial % 4 == 3 ? INFINITY : -1.0,
                                   .coupling = 0.15,
                                   .associated = trial % 2 == 1,
                                   .dilatancy = (trial & 4) != 0 && trial % 4 != 3,
                                   .yield = (trial & 8) != 0,
                                   .tension = (trial & 16) != 0,
                                   .seed = trial};
            solve_case c;
            solve_case_make(ctx, &def, &c);
            double r[22] = {0.0}, other[22] = {0.0};
            const talus_solve_info info = solve_with(ctx, "lemke", "tolerance=1e-13", c.problem, r);
            (void)solve_with(ctx, "nlgs", "tolerance=1e-13 ?patience=0", c.problem, other);
            assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
            assert_true(solve_case_natural(&c, r) <= 1.1e-13);
            for (int k = 0; k < c.size; k++)
                if (!(fabs(r[k] - other[k]) <= 1e-10))
                    fail_msg("kind %d trial %d: r[%d] = %.15g, nlgs %.15g", kind, (int)trial, k,
                             r[k], other[k]);
            solve_case_clear(&c);
        }
}

// Contacts without friction, with some, and with no end of it beside each other, on one body with
// 3 unknowns. W is symmetric and of rank 3 of 16, or it has full rank and is not symmetric: in both
// cases an answer exists.
static void mixed(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        tl_rng rng = {.state = seed};
        const double asymmetry = seed % 2 == 1 ? 0.004 : 0.0, more = seed % 2 == 1 ? 0.1 : 0.0;
        double h[16][3], v[3], w[256], q[16], mu[8], zeta[8], yield[8], r[16] = {0.0}, u[16];
        for (int k = 0; k < 3; k++) v[k] = tl_rng_normal(&rng);
        for (int i = 0; i < 8; i++) {
            const double choices[] = {0.0, 0.3, INFINITY, 0.8}, angle = tl_rng_unit(&rng) * pi;
            mu[i] = choices[(i + (int)seed) % 4];
            zeta[i] = isinf(mu[i]) ? 0.0 : mu[i] * tl_rng_unit(&rng);
            yield[i] = i % 3 == 0 ? 0.2 : 0.0;
            // normals in the upper half plane, so that one motion opens all contacts
            const double n[2] = {cos(angle), sin(angle)}, arm = tl_rng_normal(&rng);
            for (int k = 0; k < 2; k++) {
                h[2 * i][k] = n[k];
                h[2 * i + 1][k] = k == 0 ? -n[1] : n[0];
            }
            h[2 * i][2] = 0.3 * arm;
            h[2 * i + 1][2] = 1.0;
        }
        for (int i = 0; i < 16; i++) {
            q[i] = 0.0;
            for (int k = 0; k < 3; k++) q[i] += h[i][k] * v[k];
            for (int j = 0; j < 16; j++) {
                w[i * 16 + j] = i == j           ? more
                                : i / 2 == j / 2 ? 0.0
                                                 : asymmetry * tl_rng_range(&rng, -1.0, 1.0);
                for (int k = 0; k < 3; k++) w[i * 16 + j] += h[i][k] * h[j][k];
            }
        }
        const talus_law_view law = {.mu = mu, .dilatancy = zeta, .yield = yield};
        talus_problem *p = solve_dense(ctx, 2, 8, w, q, law);
        const talus_solve_info info = solve_with(ctx, "lemke", "tolerance=1e-12", p, r);
        verify_local_u(16, w, q, r, u);
        const double natural =
            verify_natural_full(2, 8, mu, zeta, yield, NULL, false, u, r, verify_norm(16, q));
        if (info.outcome != TALUS_OUTCOME_SOLVED || !(natural <= 1.1e-12))
            fail_msg("seed %d: %s, natural %g after %d pivots", (int)seed,
                     talus_outcome_text(info.outcome), natural, info.iterations);
        talus_problem_destroy(p);
    }
}

// A body squeezed between two walls that approach: u_0 + u_1 = −2 whatever r is. There is no
// answer, and the method says so; r is no worse than the start.
static void no_answer(void **state) {
    (void)state;
    const double w[16] = {1, 0, -1, 0, 0, 1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1};
    const double q[4] = {-1, 0.1, -1, 0.2}, mu[2] = {0.5, 0.5};
    const talus_law_view law = {.mu = mu};
    talus_problem *p = solve_dense(ctx, 2, 2, w, q, law);
    double r[4] = {0.0}, u[4], zero[4] = {0.0};
    const talus_solve_info info = solve_with(ctx, "lemke", "", p, r);
    assert_int_equal(info.outcome, TALUS_OUTCOME_STALLED);
    verify_local_u(4, w, q, r, u);
    const double size = verify_norm(4, q);
    const double natural = verify_natural(2, 2, mu, NULL, false, u, r, size);
    assert_true(fabs(natural - info.measure) <= 1e-12);
    assert_true(natural <= verify_natural(2, 2, mu, NULL, false, q, zero, size));
    // With `change` only the last correction counts, and there was none.
    memset(r, 0, sizeof r);
    assert_int_equal(solve_with(ctx, "lemke", "stop=change", p, r).outcome, TALUS_OUTCOME_STALLED);
    talus_problem_destroy(p);
}

// Thousands of pivots: a lattice wedged between walls, with more contacts than unknowns. And any
// number of threads, any measure.
static void wedged(void **state) {
    (void)state;
    const packing_def def = {.dim = 2,
                             .nx = 8,
                             .ny = 1,
                             .nz = 7,
                             .mu = 1.5,
                             .disorder = 0.1,
                             .speed = 0.1,
                             .seed = 2,
                             .walls = true};
    talus_problem *p = NULL;
    assert_int_equal(packing_create(ctx, &def, &p), TALUS_OK);
    const talus_problem_info facts = talus_problem_get_info(p);
    const int64_t size = 2 * (int64_t)facts.count;
    assert_true(size > facts.dof);
    double *r = solve_room(size), *first = solve_room(size);
    talus_solve_info info = solve_with(ctx, "lemke", "tolerance=1e-12", p, first);
    assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
    assert_true(solve_natural(p, def.mu, first) <= 1.1e-12);
    const char *options[] = {"tolerance=1e-12 threads=3", "stop=residual tolerance=1e-11",
                             "stop=fb tolerance=1e-20", "stop=bipotential tolerance=1e-11",
                             "stop=change tolerance=1e-11"};
    for (int k = 0; k < 5; k++) {
        memset(r, 0, (size_t)size * sizeof *r);
        info = solve_with(ctx, "lemke", options[k], p, r);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_true(solve_natural(p, def.mu, r) <= 1e-10);
        if (k == 0) assert_memory_equal(r, first, (size_t)size * sizeof *r);
    }
    free(r);
    free(first);
    talus_problem_destroy(p);
}

// Here the pivots alone leave an error of 1e-11; the basis solved anew has none.
static void corrected(void **state) {
    (void)state;
    const packing_def def = {
        .dim = 2, .nx = 6, .ny = 1, .nz = 5, .mu = 1.5, .speed = 0.1, .seed = 3, .walls = true};
    talus_problem *p = NULL;
    assert_int_equal(packing_create(ctx, &def, &p), TALUS_OK);
    talus_problem_set_law(p, TALUS_LAW_ASSOCIATED);
    const talus_problem_info facts = talus_problem_get_info(p);
    double *r = solve_room(2 * (int64_t)facts.count), *u = solve_room(2 * (int64_t)facts.count);
    double *mu = solve_room(facts.count);
    for (int32_t i = 0; i < facts.count; i++) mu[i] = def.mu;
    assert_int_equal(solve_with(ctx, "lemke", "tolerance=1e-13", p, r).outcome,
                     TALUS_OUTCOME_SOLVED);
    assert_int_equal(talus_problem_state(p, r, NULL, u, NULL), TALUS_OK);
    assert_true(verify_natural(2, facts.count, mu, NULL, true, u, r, facts.q_norm) <= 2e-13);
    free(r);
    free(u);
    free(mu);
    talus_problem_destroy(p);
}

// ---- in space ----------------------------------------------------------------------------------

// Corner j of a regular polygon of k sides, in the unit circle or around it.
static void corner(int k, bool around, int j, double *c) {
    const double radius = around ? 1.0 / cos(pi / k) : 1.0;
    const double angle = 2.0 * pi * (j + (around ? 0.5 : 0.0)) / k;
    c[0] = radius * cos(angle);
    c[1] = radius * sin(angle);
}

// The largest violation of the law of a pyramid with k sides: r in it; σ = max_j(−c_j·u_T);
// u_N >= zeta σ, with r_N (u_N − zeta σ) = 0 and u_T·r_T = −(yield + mu r_N) σ.
static double pyramid_violation(const solve_case *c, int k, bool around, const double *r) {
    double *u = solve_room(c->size), worst = 0.0;
    solve_case_u(c, r, u);
    for (int i = 0; i < c->count; i++) {
        const double *ui = u + 3 * i, *ri = r + 3 * i;
        const double tension = c->tension ? c->tension[i] : 0.0;
        const double zeta = c->def.associated ? c->mu[i] : c->zeta ? c->zeta[i] : 0.0;
        const double normal = ri[0] + tension;
        const double radius = (c->yield ? c->yield[i] : 0.0) + c->mu[i] * normal;
        double sigma = 0.0;
        worst = fmax(worst, -normal);
        for (int j = 0; j < k; j++) {
            double a[2], b[2];
            corner(k, around, j, a);
            corner(k, around, j + 1, b);
            sigma = fmax(sigma, -(a[0] * ui[1] + a[1] * ui[2]));
            // outward normal of the side from a to b, and its distance from the centre
            const double n[2] = {b[1] - a[1], a[0] - b[0]};
            const double length = hypot(n[0], n[1]), far = (n[0] * a[0] + n[1] * a[1]) / length;
            worst = fmax(worst, (n[0] * ri[1] + n[1] * ri[2]) / length - radius * far);
        }
        worst = fmax(worst, zeta * sigma - ui[0]);
        worst = fmax(worst, fabs(normal * (ui[0] - zeta * sigma)));
        worst = fmax(worst, fabs(ui[1] * ri[1] + ui[2] * ri[2] + radius * sigma));
    }
    free(u);
    return worst;
}

static void pyramid_law(void **state) {
    (void)state;
    for (int kind = 0; kind < SOLVE_KINDS; kind++)
        for (uint64_t trial = 0; trial < 24; trial++) {
            const int facets = 4 + 2 * (int)(trial % 5);
            const bool around = trial % 3 == 2;
            const solve_def def = {.kind = (solve_kind)kind,
                                   .dim = 3,
                                   .count = 1 + (int)(trial % 7),
                                   .mu = -1.0,
                                   .coupling = 0.3,
                                   .associated = trial % 4 == 3,
                                   .dilatancy = trial % 4 == 1,
                                   .yield = (trial & 8) != 0,
                                   .tension = (trial & 16) != 0,
                                   .seed = trial};
            solve_case c;
            solve_case_make(ctx, &def, &c);
            double r[21] = {0.0};
            char options[96];
            (void)snprintf(options, sizeof options, "tolerance=1e-300 facets=%d pyramid=%s", facets,
                           around ? "circumscribed" : "inscribed");
            const talus_solve_info info = solve_with(ctx, "lemke", options, c.problem, r);
            const double violation = pyramid_violation(&c, facets, around, r);
            // Exact for Coulomb's law, too, only where r is zero.
            const bool zero = info.outcome == TALUS_OUTCOME_SOLVED && info.measure == 0.0;
            if (!(violation <= 1e-12) || !(zero || info.outcome == TALUS_OUTCOME_STALLED))
                fail_msg("kind %d trial %d: %s, violation %g", kind, (int)trial,
                         talus_outcome_text(info.outcome), violation);
            // The measure is that of Coulomb's law all the same.
            assert_true(fabs(solve_case_natural(&c, r) - info.measure) <= 1e-12);
            solve_case_clear(&c);
        }
}

// ½ rᵀW r + qᵀr, which the associated law makes least.
static double objective(const solve_case *c, const double *r) {
    double *u = solve_room(c->size), sum = 0.0;
    solve_case_u(c, r, u);
    for (int k = 0; k < c->size; k++) sum += 0.5 * r[k] * (u[k] + c->q[k]);
    free(u);
    return sum;
}

// What a pyramid changes, relative to what it is, over random problems: r, as a root mean square,
// and what the associated law makes least, as a mean.
static void pyramid_errors(const solve_def *base, int facets, const char *pyramid, double *impulse,
                           double *least) {
    double sums[4] = {0.0};
    for (uint64_t seed = 0; seed < 40; seed++) {
        solve_def def = *base;
        solve_case c;
        def.seed = seed;
        solve_case_make(ctx, &def, &c);
        double r[15] = {0.0}, exact[15] = {0.0};
        char options[96];
        (void)snprintf(options, sizeof options, "tolerance=1e-300 facets=%d pyramid=%s", facets,
                       pyramid);
        (void)solve_with(ctx, "nlgs", "tolerance=1e-13", c.problem, exact);
        assert_true(solve_case_natural(&c, exact) <= 1.1e-13);
        (void)solve_with(ctx, "lemke", options, c.problem, r);
        for (int k = 0; k < c.size; k++) {
            sums[0] += (r[k] - exact[k]) * (r[k] - exact[k]);
            sums[1] += exact[k] * exact[k];
        }
        sums[2] += fabs(objective(&c, r) - objective(&c, exact));
        sums[3] += fabs(objective(&c, exact));
        solve_case_clear(&c);
    }
    *impulse = sqrt(sums[0] / sums[1]);
    *least = sums[2] / sums[3];
}

// Order p with which the error falls like facets^−p, between 4 and 64.
static double order(const double error[5]) { return log2(error[0] / error[4]) / 4.0; }

// A polygon is off the circle by its facets to the power −2, and so is the least value of the
// associated law. The point that is taken on it is off by the power −1 only: a corner or a side
// holds it.
static void converges(void **state) {
    (void)state;
    const char *shapes[] = {"inscribed", "circumscribed"};
    for (int k = 0; k < 8; k++) {
        const solve_def def = {.kind = SOLVE_GLOBAL,
                               .dim = 3,
                               .count = k % 2 == 0 ? 1 : 5,
                               .mu = 0.4,
                               .coupling = 0.2,
                               .associated = k >= 4};
        double impulse[5], least[5];
        for (int f = 0; f < 5; f++)
            pyramid_errors(&def, 4 << f, shapes[k / 2 % 2], &impulse[f], &least[f]);
        print_message("%d contacts, %s, %s: order %.2f in r", def.count,
                      def.associated ? "associated" : "coulomb", shapes[k / 2 % 2], order(impulse));
        assert_true(order(impulse) >= 0.9 && order(impulse) <= 1.4);
        assert_true(impulse[4] <= 0.01);
        if (def.associated) {
            print_message(", %.2f in the least value", order(least));
            assert_true(order(least) >= 1.8 && order(least) <= 2.3);
            assert_true(least[4] <= 1e-3);
        }
        print_message("\n");
    }
}

// ---- what is refused ---------------------------------------------------------------------------

static void refusals(void **state) {
    (void)state;
    const struct {
        int dim;
        const char *options, *remedy; // NULL: taken
    } table[] = {
        {2, "", NULL},
        {2, "facets=5", NULL}, // not looked at in the plane
        {3, "", "facets = 8"},
        {3, "facets=2", "facets = 8"},
        {3, "facets=7", "facets = 8"},
        {3, "facets=4", NULL},
        {3, "facets=64 pyramid=circumscribed", NULL},
        {6, "", "nlgs"},
        {6, "facets=8", "nlgs"},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        solve_case c;
        talus_solver *s = NULL;
        solve_case_make(ctx, &(solve_def){.dim = table[k].dim, .count = 2, .mu = 0.3}, &c);
        assert_int_equal(talus_solver_create(ctx, "lemke", &s), TALUS_OK);
        solve_set(ctx, s, table[k].options);
        const talus_status status = talus_solver_prepare(s, c.problem);
        assert_int_equal(status, table[k].remedy ? TALUS_ERR_UNSUPPORTED : TALUS_OK);
        if (table[k].remedy)
            assert_non_null(strstr(talus_context_last_error(ctx), table[k].remedy));
        talus_solver_destroy(s);
        solve_case_clear(&c);
    }
    // The tableau: 4 rows a contact with friction, 1 without. 3000 is the most.
    const struct {
        int32_t nx, nz;
        double mu;
        talus_status status;
    } sizes[] = {{750, 1, 0.5, TALUS_ERR_UNSUPPORTED}, // 750 + 749 contacts
                 {375, 1, 0.5, TALUS_OK},              // 749: 2996 rows
                 {376, 1, 0.5, TALUS_ERR_UNSUPPORTED}, // 751: 3004
                 {750, 1, 0.0, TALUS_OK}};             // 1499
    for (int k = 0; k < 4; k++) {
        const packing_def def = {
            .dim = 2, .nx = sizes[k].nx, .ny = 1, .nz = sizes[k].nz, .mu = sizes[k].mu};
        talus_problem *p = NULL;
        talus_solver *s = NULL;
        assert_int_equal(packing_create(ctx, &def, &p), TALUS_OK);
        assert_int_equal(talus_solver_create(ctx, "lemke", &s), TALUS_OK);
        assert_int_equal(talus_solver_prepare(s, p), sizes[k].status);
        if (sizes[k].status != TALUS_OK)
            assert_non_null(strstr(talus_context_last_error(ctx), "3000"));
        talus_solver_destroy(s);
        talus_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(agrees_with_nlgs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mixed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wedged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(corrected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pyramid_law, set_up, tear_down),
        cmocka_unit_test_setup_teardown(converges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
