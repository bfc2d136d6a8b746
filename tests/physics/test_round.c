// SPDX-License-Identifier: Apache-2.0
// Round bodies on a floor: an ellipsoid that rolls and rocks keeps its energy to the order of the
// scheme, and what is at rest stays there.
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

static talus_body_def body_of(talus_world *w, talus_shape_def shape) {
    talus_body_def body = talus_body_default();
    body.shape = worlds_shape(w, shape);
    body.density = 1000.0;
    return body;
}

// Height s of the centre of an ellipse with half axes a, b that lies on a floor turned by φ, and
// s'': what a turn by ω h at constant s' leaves out of the gap is −½ s'' (ω h)².
static double height_bend(double a, double b, double phi) {
    const double s = sqrt(a * a * sin(phi) * sin(phi) + b * b * cos(phi) * cos(phi));
    const double slope = (a * a - b * b) * sin(phi) * cos(phi) / s;
    return ((a * a - b * b) * cos(2.0 * phi) - slope * slope) / s;
}

// An ellipse (2D) or ellipsoid that was turned by `lean` from lying flat and let go rocks without
// sliding for four seconds. Returns the largest change of its energy, over that of the swing, in
// `gain` the largest one upwards, in `most` the largest angle.
static double rock(int32_t dim, talus_scheme scheme, double h, double *gain, double *most) {
    const double g = 9.81, a = 0.2, b = 0.1, lean = 0.4;
    talus_world_def def = worlds_def(dim, scheme, h, g);
    def.tolerance = 1e-12;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 5.0, 0.0, 0.0);
    // 2D: half axes along x, y; 3D: rocks about y
    talus_body_def body = body_of(
        w, (talus_shape_def){.kind = TALUS_SHAPE_ELLIPSOID, .half = {a, dim == 2 ? b : 0.15, b}});
    const double height = sqrt(a * a * sin(lean) * sin(lean) + b * b * cos(lean) * cos(lean));
    body.position[dim - 1] = height;
    body.orientation[0] = cos(0.5 * lean);
    body.orientation[dim == 2 ? 3 : 2] = sin(0.5 * lean);
    worlds_add(w, &body);
    talus_body_def floor = worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE});
    worlds_add(w, &floor);
    talus_body_view v = worlds_bodies(w);
    const double swing = v.mass[0] * g * (height - b), start = v.mass[0] * g * height;
    double off = 0.0, losses = 0.0, fed = 0.0, expected = 0.0, bend = 0.0, way = 0.0;
    double phi = lean;
    *gain = *most = 0.0;
    for (int step = 0; step < (int)lround(4.0 / h); step++) {
        const talus_ledger l = worlds_step(w);
        const double change = (l.kinetic + l.potential - start) / swing;
        v = worlds_bodies(w);
        off = fmax(off, fabs(change));
        *gain = fmax(*gain, change);
        *most = fmax(*most, fabs(2.0 * asin(v.orientation[dim == 2 ? 3 : 2])));
        // what is gained is in the ledger, and only in its numerical part
        losses += l.loss_impact + l.loss_friction + l.loss_numerical;
        assert_true(fabs(change * swing + losses) <= 1e-11 * start);
        assert_true(l.loss_impact >= 0.0 && l.loss_friction >= -1e-12 * swing);
        if (scheme != TALUS_SCHEME_FIXED_POINT) continue;
        assert_true(l.contacts >= 1 && l.penetration <= 10.0 * h * h);
        // the impulse of this step lifts what the step before let sink
        fed -= l.loss_numerical;
        expected += worlds_contacts(w).impulse[dim - 1] * 0.5 * bend * way * way / h;
        bend = height_bend(a, b, phi);
        way = h * v.spin[dim == 2 ? 2 : 1];
        phi = 2.0 * asin(v.orientation[dim == 2 ? 3 : 2]);
    }
    if (scheme == TALUS_SCHEME_FIXED_POINT) assert_true(fabs(fed - expected) <= 0.02 * fabs(fed));
    talus_world_destroy(w);
    return off;
}

// Both schemes are of the first order, and so is what they do to the energy: it halves with h. Over
// seven swings fixed-point moves it by 3 % of the swing at h = 2 ms: it takes the contact where it
// was before the step, so that a rolling body sinks in by ½ s'' (ω h)² and is lifted out again,
// which feeds it (theory/schemes); moreau-jean only takes.
static void a_rocking_ellipsoid_keeps_its_energy_to_first_order(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        double gain, most;
        const double coarse = rock(dim, TALUS_SCHEME_FIXED_POINT, 2e-3, &gain, &most);
        const double fine = rock(dim, TALUS_SCHEME_FIXED_POINT, 1e-3, &gain, &most);
        assert_true(coarse <= 0.03 && fine <= 0.52 * coarse && fine >= 0.48 * coarse);
        assert_true(most <= 0.4 * (1.0 + fine));
        const double rough = rock(dim, TALUS_SCHEME_MOREAU_JEAN, 1e-3, &gain, &most);
        assert_true(gain <= 1e-4 && most <= 0.4 + 1e-9);
        const double better = rock(dim, TALUS_SCHEME_MOREAU_JEAN, 5e-4, &gain, &most);
        assert_true(gain <= 1e-4 && most <= 0.4 + 1e-9);
        assert_true(better <= 0.53 * rough && better >= 0.47 * rough);
    }
}

// At rest on a flat side, standing and lying: nothing moves.
static void bodies_at_rest_stay(void **state) {
    (void)state;
    const talus_shape_def shapes[] = {
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.2, 0.15, 0.1}, .exponent = {4.0, 4.0}},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.2, 0.15, 0.1}, .exponent = {8.0, 3.0}},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.2, 0.15, 0.1}},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.1, .height = 0.2},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.15, .height = 0.4},
    };
    for (int i = 0; i < 5; i++) {
        for (int on_box = 0; on_box < 2; on_box++) {
            talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
            def.tolerance = 1e-10;
            talus_world *w = worlds_create(&def);
            worlds_law(w, 0.5, 0.0, 0.0);
            talus_body_def body = body_of(w, shapes[i]);
            body.position[2] = 0.1;
            worlds_add(w, &body);
            talus_body_def floor = worlds_fixed(
                w, on_box ? (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {1.0, 1.0, 0.5}}
                          : (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE});
            if (on_box) floor.position[2] = -0.5;
            worlds_add(w, &floor);
            for (int step = 0; step < 300; step++) (void)worlds_step(w);
            const talus_body_view v = worlds_bodies(w);
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(v.position[k] - (k == 2 ? 0.1 : 0.0)) <= 1e-9);
                assert_true(fabs(v.orientation[1 + k]) <= 1e-9);
                assert_true(fabs(v.velocity[k]) <= 1e-9 && fabs(v.spin[k]) <= 1e-8);
            }
            talus_world_destroy(w);
        }
    }
}

// Coins on each other, a log on a log in a groove: piles that stand.
static void piles_of_cylinders_stand(void **state) {
    (void)state;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    def.tolerance = 1e-8;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.5, 0.0, 0.0);
    for (int i = 0; i < 4; i++) {
        talus_body_def coin = body_of(
            w, (talus_shape_def){.kind = TALUS_SHAPE_CYLINDER, .radius = 0.1, .height = 0.04});
        coin.position[0] = 0.015 * i;
        coin.position[2] = 0.02 + 0.04 * i;
        worlds_add(w, &coin);
    }
    // three logs along y: two in walls' corner distance, one in the gap above
    const double r = 0.1, root = 0.70710678118654752440;
    for (int i = 0; i < 3; i++) {
        talus_body_def log =
            body_of(w, (talus_shape_def){.kind = TALUS_SHAPE_CYLINDER, .radius = r, .height = 0.6});
        log.position[0] = 2.0 + (i < 2 ? i * 2.0 * r : r);
        log.position[2] = i < 2 ? r : r + sqrt(3.0) * r;
        log.orientation[0] = root, log.orientation[1] = root;
        worlds_add(w, &log);
    }
    for (int i = 0; i < 2; i++) {
        talus_body_def stop =
            worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.1, 1.0, 0.1}});
        stop.position[0] = i ? 2.0 + 3.0 * r + 0.1 : 2.0 - r - 0.1;
        stop.position[2] = 0.1;
        worlds_add(w, &stop);
    }
    talus_body_def floor = worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE});
    worlds_add(w, &floor);
    for (int step = 0; step < 400; step++) (void)worlds_step(w);
    const talus_body_view v = worlds_bodies(w);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(v.position[3 * i + 2] - (0.02 + 0.04 * i)) <= 1e-6);
        assert_true(fabs(v.position[3 * i] - 0.015 * i) <= 1e-5);
    }
    for (int i = 4; i < 7; i++) {
        const double height = i < 6 ? r : r + sqrt(3.0) * r;
        assert_true(fabs(v.position[3 * i + 2] - height) <= 1e-5);
        assert_true(fabs(v.spin[3 * i]) + fabs(v.spin[3 * i + 2]) <= 1e-4);
    }
    talus_world_destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_rocking_ellipsoid_keeps_its_energy_to_first_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bodies_at_rest_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(piles_of_cylinders_stand, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
