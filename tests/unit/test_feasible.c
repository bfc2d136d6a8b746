// SPDX-License-Identifier: Apache-2.0
// Feasibility: problems made to have an allowed velocity, or none; the witness is checked by dense
// code against the matrices that the problem was made from.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "solve/feasible.h"
#include "support/context.h"
#include "support/solve_cases.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <math.h>
#include <string.h>

enum { MOST_COUNT = 6, MOST_SIZE = 36, BODY = 6, BODIES = 2, DOF = BODY * BODIES };

// Contacts on two bodies, every contact on both: H and w dense.
typedef struct scene {
    int d, count, size;
    double mu[MOST_COUNT];
    double h[MOST_SIZE * DOF], w[MOST_SIZE], m[DOF * DOF], f[DOF];
    double delassus[MOST_SIZE * MOST_SIZE], q[MOST_SIZE];
} scene;

static talus_law_view scene_law(const scene *s) { return (talus_law_view){.mu = s->mu}; }

static talus_problem *scene_global(const scene *s) {
    const int32_t body_start[] = {0, BODY, DOF};
    int64_t row_start[MOST_COUNT + 1];
    int32_t body[2 * MOST_COUNT];
    double mass[BODIES * BODY * BODY], block[MOST_SIZE * DOF], *to = block;
    for (int b = 0; b < BODIES; b++)
        for (int i = 0; i < BODY; i++)
            for (int j = 0; j < BODY; j++)
                mass[(b * BODY + i) * BODY + j] = s->m[(b * BODY + i) * DOF + b * BODY + j];
    for (int i = 0; i < s->count; i++) {
        row_start[i] = 2 * i;
        for (int b = 0; b < BODIES; b++) {
            body[2 * i + b] = b;
            for (int k = 0; k < s->d; k++)
                for (int j = 0; j < BODY; j++) *to++ = s->h[(i * s->d + k) * DOF + b * BODY + j];
        }
    }
    row_start[s->count] = 2 * s->count;
    const talus_global_def def = {.dim = s->d,
                                  .count = s->count,
                                  .body_count = BODIES,
                                  .body_start = body_start,
                                  .mass_block = mass,
                                  .h_row_start = row_start,
                                  .h_body = body,
                                  .h_block = block,
                                  .f = s->f,
                                  .w = s->w,
                                  .law = scene_law(s)};
    talus_problem *p = NULL;
    if (talus_problem_create_global(ctx, &def, &p) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(ctx));
    return p;
}

// Sizes, masses, forces; H random.
static void scene_make(scene *s, int d, int count, tl_rng *rng) {
    memset(s, 0, sizeof *s);
    s->d = d;
    s->count = count;
    s->size = d * count;
    for (int i = 0; i < count; i++) s->mu[i] = tl_rng_range(rng, 0.2, 0.9);
    for (int k = 0; k < DOF; k++) {
        s->m[k * DOF + k] = tl_rng_range(rng, 0.5, 3.0);
        s->f[k] = tl_rng_normal(rng);
    }
    for (int k = 0; k < s->size * DOF; k++) s->h[k] = tl_rng_normal(rng);
}

static void scene_done(scene *s) {
    assert_true(verify_delassus(s->size, DOF, s->m, s->h, s->f, s->w, s->delassus, s->q));
}

// The three facts of a witness, with the aperture that is asked about (mu, or 0 for Coulomb's law).
static void check_witness(const scene *s, bool cone, const double *r) {
    double force[DOF] = {0.0}, dot = 0.0, size_h = 0.0;
    assert_true(fabs(verify_norm(s->size, r) - 1.0) <= 1e-12);
    for (int i = 0; i < s->count; i++) {
        const double *x = r + i * s->d;
        const double limit = cone ? s->mu[i] * x[0] : 0.0;
        assert_true(x[0] >= 0.0);
        assert_true(verify_norm(s->d - 1, x + 1) <= limit * (1.0 + 1e-14));
    }
    for (int k = 0; k < s->size; k++) {
        dot += s->q[k] * r[k];
        for (int j = 0; j < DOF; j++) force[j] += s->h[k * DOF + j] * r[k];
        size_h = fmax(size_h, verify_norm(DOF, s->h + k * DOF));
    }
    assert_true(verify_norm(DOF, force) <= 1e-7 * size_h); // Hᵀ r = 0
    assert_true(dot <= -1e-6 * verify_norm(s->size, s->q));
}

static void expect(const scene *s, tl_feasible_set set, tl_feasibility wanted) {
    for (int form = 0; form < 2; form++) {
        talus_problem *p = form == 0
                               ? scene_global(s)
                               : solve_dense(ctx, s->d, s->count, s->delassus, s->q, scene_law(s));
        for (int law = 0; law < 2; law++) { // the sets of the associated law are one
            const bool cone = set == TL_FEASIBLE_CONE || law == 1;
            if (law == 1 && set == TL_FEASIBLE_LAW) continue;
            talus_problem_set_law(p, law == 1 ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
            double r[MOST_SIZE];
            tl_feasibility found;
            for (int k = 0; k < s->size; k++) r[k] = 42.0;
            assert_int_equal(tl_feasible(ctx, p, law == 1 ? TL_FEASIBLE_LAW : set, &found, r),
                             TALUS_OK);
            if (found != wanted)
                fail_msg("d %d, %d contacts, form %d, law %d, set %d: %d", s->d, s->count, form,
                         law, (int)set, (int)found);
            if (found == TL_INFEASIBLE)
                check_witness(s, cone, r);
            else
                for (int k = 0; k < s->size; k++) assert_true(r[k] == 0.0);
        }
        talus_problem_destroy(p);
    }
}

// One body between two walls, below and above; `wall` is how fast each comes towards it, `slide`
// their velocities along themselves.
static void squeeze(int d, double below, double above, double slide, scene *s) {
    tl_rng rng = {1};
    scene_make(s, d, 2, &rng);
    memset(s->h, 0, sizeof s->h);
    for (int i = 0; i < 2; i++) {
        s->h[(i * d) * DOF] = i == 0 ? 1.0 : -1.0;                     // u_N = ±v_0 …
        for (int k = 1; k < d; k++) s->h[(i * d + k) * DOF + k] = 1.0; // u_T = v_1, v_2
        s->w[i * d] = i == 0 ? -below : -above;
        s->w[i * d + 1] = i == 0 ? slide : -slide;
    }
    scene_done(s);
}

static void between_walls(void **state) {
    (void)state;
    scene s;
    for (int d = 2; d <= 3; d++) {
        squeeze(d, 1.0, 1.0, 0.0, &s);
        expect(&s, TL_FEASIBLE_LAW, TL_INFEASIBLE);
        expect(&s, TL_FEASIBLE_CONE, TL_INFEASIBLE);
        squeeze(d, 1.0, -0.999, 0.0, &s); // the gap closes slowly
        expect(&s, TL_FEASIBLE_LAW, TL_INFEASIBLE);
        squeeze(d, 1.0, -1.001, 0.0, &s); // and opens slowly
        expect(&s, TL_FEASIBLE_LAW, TL_FEASIBLE);
        expect(&s, TL_FEASIBLE_CONE, TL_FEASIBLE);
        // Walls that slide against each other: one of them must be slid on, which Coulomb's law
        // allows at once and the convex law only where the gap opens as fast as that asks for.
        squeeze(d, 0.0, 0.0, 0.5, &s);
        expect(&s, TL_FEASIBLE_LAW, TL_FEASIBLE);
        expect(&s, TL_FEASIBLE_CONE, TL_INFEASIBLE);
        squeeze(d, 0.0, -2.0, 0.5, &s);
        expect(&s, TL_FEASIBLE_CONE, TL_FEASIBLE);
    }
}

// r0 inside the cone with Hᵀ r0 = 0 and w·r0 < 0 by construction; or a velocity inside K*.
static void random_scenes(void **state) {
    (void)state;
    tl_rng rng = {9};
    for (int trial = 0; trial < 12; trial++)
        for (int d = 2; d <= 3; d++) {
            scene s;
            double r0[MOST_SIZE], size = 0.0, dot = 0.0;
            const int count = 2 + trial % (MOST_COUNT - 1);
            scene_make(&s, d, count, &rng);
            for (int k = 0; k < s.size; k++) s.w[k] = tl_rng_normal(&rng);
            for (int i = 0; i < count; i++) {
                for (int k = 1; k < d; k++) r0[i * d + k] = tl_rng_range(&rng, -0.3, 0.3) * s.mu[i];
                r0[i * d] = 1.0;
            }
            for (int k = 0; k < s.size; k++) size += r0[k] * r0[k];
            for (int j = 0; j < DOF; j++) { // H ← (1 − r0 r0ᵀ/|r0|²) H
                double sum = 0.0;
                for (int k = 0; k < s.size; k++) sum += r0[k] * s.h[k * DOF + j] / size;
                for (int k = 0; k < s.size; k++) s.h[k * DOF + j] -= sum * r0[k];
            }
            for (int k = 0; k < s.size; k++) dot += s.w[k] * r0[k];
            for (int k = 0; k < s.size; k++) s.w[k] += (-0.5 - dot) / size * r0[k];
            scene_done(&s);
            expect(&s, TL_FEASIBLE_CONE, TL_INFEASIBLE);

            scene_make(&s, d, count, &rng);
            double v[DOF], u[MOST_SIZE];
            for (int j = 0; j < DOF; j++) v[j] = tl_rng_normal(&rng);
            verify_multiply(s.size, DOF, s.h, v, u);
            for (int k = 0; k < s.size; k++) s.w[k] = -u[k];
            for (int i = 0; i < count; i++) {
                double t = 0.0;
                for (int k = 1; k < d; k++) {
                    const double x = tl_rng_normal(&rng);
                    s.w[i * d + k] += x;
                    t += x * x;
                }
                s.w[i * d] += s.mu[i] * sqrt(t) + 0.05;
            }
            scene_done(&s);
            expect(&s, TL_FEASIBLE_CONE, TL_FEASIBLE);
            expect(&s, TL_FEASIBLE_LAW, TL_FEASIBLE);
        }
}

// Where W is positive definite any velocity can be had. Every form, constraint rows among them.
static void definite(void **state) {
    (void)state;
    for (int kind = 0; kind < SOLVE_KINDS; kind++)
        for (int d = 2; d <= 6; d += d == 3 ? 3 : 1)
            for (int set = 0; set < 2; set++) {
                solve_case c;
                const solve_def def = {.kind = (solve_kind)kind,
                                       .dim = d,
                                       .count = 5,
                                       .mu = -1.0,
                                       .coupling = 0.15,
                                       .yield = true,
                                       .tension = true};
                solve_case_make(ctx, &def, &c);
                double r[30];
                tl_feasibility found;
                assert_int_equal(tl_feasible(ctx, c.problem, (tl_feasible_set)set, &found, r),
                                 TALUS_OK);
                assert_int_equal(found, TL_FEASIBLE);
                solve_case_clear(&c);
            }
}

// A held tangent (mu = inf) may not slide: two such contacts on walls that slide apart.
static void held(void **state) {
    (void)state;
    scene s;
    for (int d = 2; d <= 3; d++) {
        squeeze(d, -1.0, -1.0, 0.5, &s);
        expect(&s, TL_FEASIBLE_CONE, TL_FEASIBLE);
        s.mu[0] = s.mu[1] = INFINITY;
        talus_problem *p = scene_global(&s);
        double r[MOST_SIZE], force[DOF] = {0.0}, dot = 0.0;
        tl_feasibility found;
        assert_int_equal(tl_feasible(ctx, p, TL_FEASIBLE_LAW, &found, r), TALUS_OK);
        assert_int_equal(found, TL_INFEASIBLE);
        for (int k = 0; k < s.size; k++) {
            dot += s.q[k] * r[k];
            for (int j = 0; j < DOF; j++) force[j] += s.h[k * DOF + j] * r[k];
        }
        assert_true(r[0] >= 0.0 && r[d] >= 0.0 && dot < -1e-3);
        assert_true(verify_norm(DOF, force) <= 1e-7);
        talus_problem_destroy(p);
    }
}

static void empty_and_memory(void **state) {
    (void)state;
    solve_case c;
    double r[1] = {42.0};
    tl_feasibility found;
    solve_case_make(ctx, &(solve_def){.kind = SOLVE_GLOBAL, .dim = 3}, &c);
    assert_int_equal(tl_feasible(ctx, c.problem, TL_FEASIBLE_LAW, &found, r), TALUS_OK);
    assert_int_equal(found, TL_FEASIBLE);
    assert_true(r[0] == 42.0);
    solve_case_clear(&c);

    scene s;
    squeeze(3, 1.0, 1.0, 0.0, &s);
    talus_problem *p = scene_global(&s);
    for (int64_t k = 1;; k++) {
        double witness[6];
        const int64_t live = memory.live;
        memory.fail_at = memory.requests + k;
        const talus_status status = tl_feasible(ctx, p, TL_FEASIBLE_CONE, &found, witness);
        memory.fail_at = 0;
        assert_true(memory.live == live);
        if (status == TALUS_OK) {
            assert_true(k > 5);
            assert_int_equal(found, TL_INFEASIBLE);
            break;
        }
        assert_int_equal(status, TALUS_ERR_MEMORY);
        assert_int_equal(found, TL_UNDECIDED);
    }
    talus_context_cancel(ctx, true); // a wish to stop is not an answer
    assert_int_equal(tl_feasible(ctx, p, TL_FEASIBLE_CONE, &found, s.f), TALUS_OK);
    assert_int_equal(found, TL_UNDECIDED);
    talus_context_cancel(ctx, false);
    talus_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(between_walls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_scenes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(definite, set_up, tear_down),
        cmocka_unit_test_setup_teardown(held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty_and_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
