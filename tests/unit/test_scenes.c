// SPDX-License-Identifier: Apache-2.0
// The generators of support/scenes.h make what they say: impulses known by statics are solutions,
// units drop out, the squeezed row has no solution, strains and joints are those of the motion.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "problem/problem_impl.h"
#include "support/context.h"
#include "support/scenes.h"
#include "talus/talus.h"
#include <math.h>
#include <stdlib.h>

static const double IMPULSE = 9.81e-2; // of gravity on 1 kg in a step [N s]

static talus_problem *make(const scene_def *def) {
    talus_problem *p = NULL;
    if (scene_create(ctx, def, &p) != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    return p;
}

// Impulses (N, 0, …) with the given normal part, one per group of `each` contacts.
static void assert_rests(const scene_def *def, int32_t each,
                         double (*normal)(const scene_def *, int32_t)) {
    talus_problem *p = make(def);
    double *r = calloc((size_t)(p->dim * p->count), sizeof *r);
    talus_certificate c;
    assert_non_null(r);
    for (int32_t i = 0; i < p->count; i++) r[p->dim * i] = normal(def, i / each);
    assert_int_equal(talus_certify(p, r, &c), TALUS_OK);
    assert_true(c.residual < 1e-12);
    assert_int_equal(c.open, 0);
    free(r);
    talus_problem_destroy(p);
}

// What lies on the floor of cube i, in four contacts and their copies.
static double stack_normal(const scene_def *def, int32_t i) {
    double mass = 0.0;
    for (int32_t k = i; k < def->n; k++)
        mass += k % 2 && def->mass_ratio > 0.0 ? def->mass_ratio : 1.0;
    return mass * IMPULSE / (4.0 * (def->copies > 1 ? def->copies : 1));
}

static double tower_normal(const scene_def *def, int32_t i) {
    return (def->n - i) * 8.0 * IMPULSE / (16.0 * (def->copies > 1 ? def->copies : 1));
}

static void statics(void **state) {
    (void)state;
    assert_rests(&(scene_def){.kind = SCENE_STACK, .n = 7}, 4, stack_normal);
    assert_rests(&(scene_def){.kind = SCENE_STACK, .n = 6, .mass_ratio = 1e6}, 4, stack_normal);
    assert_rests(&(scene_def){.kind = SCENE_STACK, .n = 3, .mixed = true, .copies = 3}, 12,
                 stack_normal);
    assert_rests(&(scene_def){.kind = SCENE_TOWER, .n = 6}, 16, tower_normal);
    assert_rests(&(scene_def){.kind = SCENE_TOWER, .n = 3, .copies = 2}, 32, tower_normal);
}

static void sizes(void **state) {
    (void)state;
    static const struct {
        scene_def def;
        int32_t contacts, dof;
    } row[] = {
        {{.kind = SCENE_TOWER, .n = 500}, 8000, 6000}, // 1000 blocks
        {{.kind = SCENE_STACK, .n = 10, .copies = 3}, 120, 60},
        {{.kind = SCENE_ARCH, .n = 100}, 202, 300},
        // pairs of contacts: 2 on the floor and 1 joint, then 4 beds and 2 joints
        {{.kind = SCENE_WALL, .n = 2}, 18, 15},
        {{.kind = SCENE_WALL, .n = 2, .copies = 2}, 36, 15},
        {{.kind = SCENE_CAPSULES, .n = 2}, 12, 18},
        {{.kind = SCENE_BUNDLE, .n = 2}, 32, 72},
        {{.kind = SCENE_CHAIN, .n = 5}, 10, 30},
        {{.kind = SCENE_SQUEEZE, .n = 2}, 20, 12},
        {{.kind = SCENE_SAND, .n = 2}, 8, 54},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        talus_problem *p = make(&row[i].def);
        assert_int_equal(p->count, row[i].contacts);
        assert_int_equal(p->dof, row[i].dof);
        for (int32_t k = 0; k < p->count; k++) assert_true(p->mu[k] == 0.6);
        talus_problem_destroy(p);
    }
}

static void mixed_friction(void **state) {
    (void)state;
    talus_problem *p = make(&(scene_def){.kind = SCENE_WALL, .n = 3, .mixed = true});
    for (int32_t k = 0; k < p->count; k++) assert_true(p->mu[k] == (k % 2 ? 2.0 : 0.0));
    talus_problem_destroy(p);
}

// Impulses have the unit M L / T; the certificate's residual has none.
static void units_drop_out(void **state) {
    (void)state;
    static const double unit[][3] = {{1e6, 1.0, 1.0}, {1e-6, 1e-6, 1.0}, {1e3, 1e-3, 1e3}};
    for (int kind = SCENE_STACK; kind < SCENE_SAND; kind++)
        for (size_t k = 0; k < sizeof unit / sizeof *unit; k++) {
            scene_def def = {.kind = (scene_kind)kind, .n = 3, .push = 0.4};
            talus_problem *plain = make(&def);
            def.length = unit[k][0];
            def.mass = unit[k][1];
            def.time = unit[k][2];
            talus_problem *scaled = make(&def);
            const int32_t size = plain->dim * plain->count;
            double *r = calloc(2 * (size_t)size, sizeof *r), *other = r + size;
            tl_rng rng = {.state = 7};
            talus_certificate a, b;
            assert_non_null(r);
            for (int32_t i = 0; i < size; i++) {
                r[i] =
                    IMPULSE * (i % plain->dim == 0 ? tl_rng_unit(&rng) : 0.3 * tl_rng_unit(&rng));
                other[i] = r[i] * def.mass * def.length / def.time;
            }
            assert_int_equal(talus_certify(plain, r, &a), TALUS_OK);
            assert_int_equal(talus_certify(scaled, other, &b), TALUS_OK);
            assert_true(a.residual > 1e-3 && fabs(a.residual - b.residual) < 1e-9 * a.residual);
            free(r);
            talus_problem_destroy(plain);
            talus_problem_destroy(scaled);
        }
}

// Pressing all faces along x alike moves nothing, and yet takes power from the walls: were u = H v
// + w feasible (u_N >= 0 everywhere), 0 <= r·u = v·Hᵀr + r·w = r·w < 0.
static void squeezed_has_no_solution(void **state) {
    (void)state;
    talus_problem *p = make(&(scene_def){.kind = SCENE_SQUEEZE, .n = 3});
    double *r = calloc((size_t)(3 * p->count), sizeof *r),
           *force = calloc((size_t)p->dof, sizeof *r);
    double power = 0.0;
    assert_true(r && force);
    for (int32_t i = 0; i < p->count; i++) {
        const double along = p->h_block[p->h_offset[p->h_start[i]]]; // first row, velocity along x
        if (fabs(along) > 0.5) r[3 * i] = 1.0;
        power += r[3 * i] * p->w[3 * i];
    }
    tl_problem_add_force(p, r, force);
    for (int32_t k = 0; k < p->dof; k++) assert_true(fabs(force[k]) < 1e-14);
    assert_true(power < -0.5);
    free(r);
    free(force);
    talus_problem_destroy(p);
}

// The velocity z a has the constant strain sym(a ⊗ e_z); u is twice its coordinates (unit cells).
static void sand_strain(void **state) {
    (void)state;
    enum { N = 3, SIDE = N + 1 };
    const double a[3] = {0.3, -0.7, 1.1};
    const double expected[6] = {
        2.0 * a[2] / sqrt(6.0), 0.0, 2.0 * a[2] / sqrt(3.0), 0.0, a[0], a[1]};
    talus_problem *p = make(&(scene_def){.kind = SCENE_SAND, .n = N});
    double *v = calloc((size_t)p->dof, sizeof *v), *u = calloc((size_t)(6 * p->count), sizeof *u);
    double mass = 0.0;
    assert_true(v && u);
    for (int32_t k = 0; k < p->dof; k++) {
        v[k] = (k / 3 / (SIDE * SIDE) + 1) * a[k % 3];
        mass -= k % 3 == 2 ? p->f[k] / IMPULSE : 0.0;
    }
    tl_problem_add_velocity(p, v, u);
    for (int32_t k = 0; k < 6 * p->count; k++) assert_true(fabs(u[k] - expected[k % 6]) < 1e-14);
    // of 27 cells the lowest nine give half their mass to the floor
    assert_true(fabs(mass - 22.5) < 1e-12);
    free(v);
    free(u);
    talus_problem_destroy(p);
}

// Both links of a joint move alike at it: v + ω × (0, ±½, 0).
static void joints_hold(void **state) {
    (void)state;
    enum { N = 5 };
    talus_problem *p = make(&(scene_def){.kind = SCENE_CHAIN, .n = N, .push = 0.2});
    double r[3 * 2 * N] = {0.0}, v[6 * N];
    for (int i = 0; i < 2 * N; i++) r[3 * i] = 0.01 * i; // to make it turn
    assert_int_equal(talus_problem_state(p, r, v, NULL, NULL), TALUS_OK);
    double turned = 0.0;
    for (int i = 0; i + 1 < N; i++) {
        const double *low = v + 6 * i, *high = low + 6;
        const double gap[3] = {low[0] - 0.5 * low[5] - high[0] - 0.5 * high[5], low[1] - high[1],
                               low[2] + 0.5 * low[3] - high[2] + 0.5 * high[3]};
        for (int k = 0; k < 3; k++) assert_true(fabs(gap[k]) < 1e-12);
        turned = fmax(turned, fabs(low[3]) + fabs(low[5]));
    }
    assert_true(turned > 0.01);
    talus_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mixed_friction, set_up, tear_down),
        cmocka_unit_test_setup_teardown(units_drop_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(squeezed_has_no_solution, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sand_strain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joints_hold, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
