// SPDX-License-Identifier: Apache-2.0
// Stress of packings at rest, against the forces on their walls. Where every grain is in
// equilibrium, f the forces of walls on grains at x_c, and m g the weights,
//     Σ over contacts l ⊗ f  =  Σ over walls x_c ⊗ f  +  Σ over grains x_p ⊗ m g,
// and the left side is −V σ: the mean stress follows from the walls alone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "support/worlds.h"
#include "talus/observe.h"

static double scalar(const talus_moment *m, const char *name) {
    talus_observer *o = NULL;
    double value = NAN;
    WORLDS_OK(talus_observer_create(ctx, m->dim, &name, 1, NULL, &o));
    WORLDS_OK(talus_observer_measure(o, m, &value));
    talus_observer_destroy(o);
    return value;
}

// −V σ from walls and weights, component (i, k), about the middle of the grains.
static double from_walls(const talus_moment *m, int i, int k) {
    const talus_contact_view *c = &m->contacts;
    double sum = 0.0;
    for (int32_t n = 0; n < c->count; n++) {
        const bool a = m->bodies.motion[c->a[n]] == TALUS_MOTION_FREE;
        const bool b = m->bodies.motion[c->b[n]] == TALUS_MOTION_FREE;
        if (a && b) continue;
        sum += c->point[3 * n + i] * (a ? 1.0 : -1.0) * c->impulse[3 * n + k] / m->h;
    }
    for (int32_t n = 0; n < m->bodies.count; n++)
        sum += m->bodies.centre[3 * n + i] * m->bodies.mass[n] * m->gravity[k];
    return sum;
}

// Grains of several sizes (and shapes, in 3D) that settle in a box.
static void settle(int dim, bool boxes) {
    const int32_t n = dim == 2 ? 40 : 30;
    talus_world_def def = worlds_def(dim, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    def.tolerance = 1e-10;
    def.iterations = 20000;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.4, 0.0, 0.0);
    talus_body_def wall =
        worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_CONTAINER,
                                          .half = {0.25, dim == 2 ? 2.0 : 0.25, 2.0},
                                          .open_top = true});
    wall.position[dim - 1] = 2.0;
    (void)worlds_add(w, &wall);
    tl_rng rng = {7};
    for (int32_t i = 0; i < n; i++) {
        const double r = tl_rng_range(&rng, 0.04, 0.06), side = -0.18 + 0.12 * (i % 4);
        const double across = dim == 2 ? 0.0 : -0.18 + 0.12 * (i / 4 % 4);
        const double up = 0.07 + 0.13 * (dim == 2 ? i / 4 : i / 16);
        talus_body_def body = worlds_ball(w, r, side, dim == 2 ? up : across, dim == 2 ? 0.0 : up);
        if (boxes && i % 2)
            body.shape = worlds_shape(
                w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.7 * r, 0.7 * r, 0.7 * r}});
        body.mass = r * 100.0;
        body.damping = body.spin_damping = 5.0; // to rest sooner
        (void)worlds_add(w, &body);
    }
    talus_ledger ledger = {0};
    for (int k = 0; k < 900; k++) ledger = worlds_step(w);
    assert_true(ledger.kinetic < 1e-9);

    talus_moments *moments = NULL;
    talus_moment m;
    WORLDS_OK(talus_moments_create(ctx, &moments));
    WORLDS_OK(talus_moments_world(moments, w, ledger.h, &m));
    static const char *const diagonal[] = {"stress_xx", "stress_yy", "stress_zz"};
    const double volume = scalar(&m, "region_volume"), p = scalar(&m, "pressure");
    assert_true(p > 0.0);
    // What is left of motion: a grain's acceleration is far below g, and points are of the
    // beginning of the step.
    for (int i = 0; i < dim; i++)
        assert_true(fabs(volume * scalar(&m, diagonal[i]) + from_walls(&m, i, i)) <
                    1e-4 * volume * p);
    const double shear = 0.5 * (from_walls(&m, 0, dim - 1) + from_walls(&m, dim - 1, 0));
    assert_true(fabs(volume * scalar(&m, dim == 2 ? "stress_xy" : "stress_xz") + shear) <
                1e-4 * volume * p);
    // and all walls together carry the weight
    double weight = 0.0;
    for (int32_t i = 0; i < m.bodies.count; i++) weight += 9.81 * m.bodies.mass[i];
    assert_true(fabs(scalar(&m, dim == 2 ? "wall_force_y" : "wall_force_z") + weight) <
                1e-4 * weight);
    talus_moments_destroy(moments);
    talus_world_destroy(w);
}

static void disks(void **state) {
    (void)state;
    settle(2, false);
}

static void balls_and_boxes(void **state) {
    (void)state;
    settle(3, true);
}

// A ball that slides down a slope: mobilised friction 1; one that rolls: μ_needed/μ = 2/7 tan α/μ.
static void friction_on_a_slope(void **state) {
    (void)state;
    const double mu[2] = {0.1, 0.8}, slope = 0.5; // tan α
    for (int i = 0; i < 2; i++) {
        talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
        talus_world *w = worlds_create(&def);
        talus_material_def m = talus_material_default();
        int32_t material = 0;
        m.friction = mu[i];
        WORLDS_OK(talus_world_add_material(w, &m, &material));
        talus_body_def plane = worlds_fixed(
            w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE, .normal = {slope, 0.0, 1.0}});
        plane.material = material;
        (void)worlds_add(w, &plane);
        const double over = 0.1 * sqrt(1.0 + slope * slope);
        talus_body_def body = worlds_ball(w, 0.1, 0.0, 0.0, over);
        body.material = material;
        (void)worlds_add(w, &body);
        talus_ledger ledger = {0};
        for (int k = 0; k < 50; k++) ledger = worlds_step(w);
        talus_moments *moments = NULL;
        talus_moment now;
        WORLDS_OK(talus_moments_create(ctx, &moments));
        WORLDS_OK(talus_moments_world(moments, w, ledger.h, &now));
        const double want = fmin(1.0, 2.0 / 7.0 * slope / mu[i]);
        assert_true(fabs(scalar(&now, "mobilised") - want) < 1e-5);
        talus_moments_destroy(moments);
        talus_world_destroy(w);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(disks), TEST(balls_and_boxes),
                                       TEST(friction_on_a_slope)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
