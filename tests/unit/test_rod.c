// SPDX-License-Identifier: Apache-2.0
// Discrete rods from inside: forces and stiffness against differences of the energy, rows of H
// against differences of positions, bands against dense matrices; what cannot be a rod; memory.
#include "base/rng.h"
#include "base/vec3.h"
#include "linalg/band.h"
#include "rod/discrete.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rods.h"

enum { NODES = 6 };

// A crooked rod with natural curvature and twist, in a state that is neither natural nor at rest.
static tl_rods *crooked(tl_rng *rng, talus_rod_end start, talus_rod_end end) {
    static const tl_pose *const none[2] = {NULL, NULL};
    double x[3 * NODES], natural[3 * NODES], director[3 * NODES];
    tl_rods *m = NULL;
    for (int k = 0; k < NODES; k++)
        for (int c = 0; c < 3; c++) {
            natural[3 * k + c] = 0.05 * k * (c == 0) + 0.01 * tl_rng_normal(rng);
            x[3 * k + c] = natural[3 * k + c] + 0.005 * tl_rng_normal(rng);
            director[3 * k + c] = (c == 1) + 0.3 * tl_rng_normal(rng);
        }
    talus_rod_def def = talus_rod_default();
    def.nodes = NODES;
    def.position = x;
    def.natural = natural;
    def.director = director;
    def.start = start;
    def.end = end;
    def.damping = 0.01;
    def.drag = 0.2;
    WORLDS_OK(tl_rods_create(ctx, &m));
    WORLDS_OK(tl_rods_add(m, &def, none));
    tl_discrete *d = m->rod[0]->own;
    for (int32_t k = d->lo; k < d->hi; k++) d->u[k] = tl_rng_normal(rng);
    return m;
}

// The energy after a displacement s p of all unknowns, given ones as well.
static double energy_at(const tl_discrete *d, const double *p, double s) {
    double way[4 * (NODES + 2)], x[3 * (NODES + 2)], d1[3 * (NODES + 2)], twist[NODES + 2];
    tl_discrete moved = *d;
    for (int32_t k = 0; k < d->full; k++) way[k] = s * p[k];
    memset(twist, 0, sizeof twist);
    tl_discrete_move(d, way, x, d1, twist);
    moved.x = x;
    moved.d1 = d1;
    moved.twist = twist;
    return tl_discrete_energy(&moved);
}

static tl_discrete_parts parts_of(const tl_discrete *d, double theta) {
    return (tl_discrete_parts){.theta = theta,
                               .share = theta,
                               .force = d->force,
                               .gauss = d->gauss,
                               .tension = d->stiff,
                               .other = d->implicit,
                               .general = d->general};
}

static void forces_are_those_of_the_energy(void **state) {
    (void)state;
    tl_rng rng = {5};
    for (int trial = 0; trial < 40; trial++) {
        tl_rods *m = crooked(&rng, (talus_rod_end)(trial % 3), (talus_rod_end)(trial / 3 % 3));
        tl_discrete *d = m->rod[0]->own;
        const size_t band = (size_t)d->full * TL_DISCRETE_BAND;
        double p[4 * (NODES + 2)], first = 0.0, second = 0.0, product[4 * (NODES + 2)] = {0};
        for (int32_t k = 0; k < d->full; k++) p[k] = (k % 4 < 3 ? 0.01 : 0.3) * tl_rng_normal(&rng);
        // of a step that goes nowhere; θ = ½ takes second derivatives as they are
        memset(d->way, 0, (size_t)d->full * sizeof *d->way);
        const tl_discrete_parts parts = parts_of(d, 0.5);
        tl_discrete_secant(d, d->way, &parts);
        for (size_t k = 0; k < band; k++) d->stiff[k] += d->gauss[k] + d->implicit[k];
        tl_band_multiply(d->full, TL_DISCRETE_WIDTH, d->stiff, 1.0, p, product);
        for (int32_t k = 0; k < d->full; k++) {
            first -= d->force[k] * p[k];
            second += product[k] * p[k];
        }
        const double h = 2e-3, at = energy_at(d, p, 0.0), one = energy_at(d, p, h),
                     back = energy_at(d, p, -h), two = energy_at(d, p, 2.0 * h),
                     far = energy_at(d, p, -2.0 * h);
        const double slope = (8.0 * (one - back) - (two - far)) / (12.0 * h);
        const double bend = (16.0 * (one + back) - (two + far) - 30.0 * at) / (12.0 * h * h);
        rods_near("slope", first, slope, 1e-6 * (fabs(slope) + at));
        rods_near("curvature", second, bend, 1e-5 * (fabs(bend) + at));
        m->base.ops->destroy(&m->base);
    }
}

// The secant: whatever the way, the mean stresses (θ = ½) do the work that elastic energy loses,
// and those at the end (θ = 1) take more.
static void secant_does_the_work(void **state) {
    (void)state;
    tl_rng rng = {8};
    for (int trial = 0; trial < 60; trial++) {
        tl_rods *m = crooked(&rng, (talus_rod_end)(trial % 3), (talus_rod_end)(trial / 3 % 3));
        tl_discrete *d = m->rod[0]->own;
        const double size = pow(10.0, -6.0 * tl_rng_unit(&rng)); // up to the length of segments
        double way[4 * (NODES + 2)];
        for (int32_t k = 0; k < d->full; k++)
            way[k] = size * (k % 4 < 3 ? 0.02 : 0.5) * tl_rng_normal(&rng);
        const double before = energy_at(d, way, 0.0), after = energy_at(d, way, 1.0);
        for (int t = 0; t < 2; t++) {
            const tl_discrete_parts parts = parts_of(d, t ? 1.0 : 0.5);
            double taken = 0.0;
            tl_discrete_tauten(d, 0.1, parts.theta); // some tension of these soft rods is much
            do {
                tl_discrete_secant(d, way, &parts);
            } while (tl_discrete_slacken(d, parts.theta));
            for (int32_t k = 0; k < d->full; k++) taken -= way[k] * d->force[k];
            if (t)
                assert_true(taken >= after - before - 1e-12 * (before + after));
            else
                rods_near("work", taken, after - before, 1e-12 * (before + after));
        }
        m->base.ops->destroy(&m->base);
    }
}

// Rows of H, and the share of what is given, against differences of the position of a point that
// the segment carries along.
static void rows_are_velocities(void **state) {
    (void)state;
    tl_rng rng = {6};
    for (int trial = 0; trial < 60; trial++) {
        tl_rods *m = crooked(&rng, (talus_rod_end)(trial % 3), (talus_rod_end)(trial / 3 % 3));
        const tl_rod *rod = m->rod[0];
        tl_discrete *d = rod->own;
        const tl_step step = {.h = 1e-2, .theta = 1.0, .threads = 1};
        tl_pose pose[NODES], away = {.x = {3e-3, -2e-3, 4e-3}, .q = {1.0, 0.02, -0.01, 0.03}};
        tl_quat_normalise(away.q);
        for (int e = 0; e < 2; e++)
            if ((e ? rod->def.end : rod->def.start) != TALUS_END_FREE) tl_rods_hold(m, 0, e, &away);
        WORLDS_OK(m->base.ops->place(&m->base, &step, pose));
        const int32_t k = trial % (NODES - 1);
        const double along = tl_rng_unit(&rng);
        double arm[3], local[3], t[3], q[4], before[3], row[3 * 4 * (NODES + 2)] = {0},
                                                                             given[3] = {0};
        const double up[3] = {0.0, 0.0, 1.0}, unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        for (int c = 0; c < 3; c++) local[c] = 1e-3 * tl_rng_normal(&rng);
        local[2] = 0.0;
        tl_rotate(pose[k].q, local, arm);
        tl_rotate(pose[k].q, up, t);
        tl_axpy3(arm, (along - 0.5) * m->chord[k], t, arm);
        m->base.ops->row(&m->base, &step, k, &pose[k], arm, unit, 3, row);
        m->base.ops->row_given(&m->base, &step, k, &pose[k], arm, unit, 3, given);
        tl_axpy3(pose[k].x, 1.0, arm, before);
        // move all of it by its velocities for a short time, and see where the point is
        double point[2][3];
        for (int s = 0; s < 2; s++) {
            const double dt = s ? 1e-6 : -1e-6;
            double way[4 * (NODES + 2)], x[3 * (NODES + 2)], d1[3 * (NODES + 2)],
                twist[NODES + 2] = {0}, e[3], turned[3];
            for (int32_t i = 0; i < d->full; i++) way[i] = dt * d->velocity[i];
            tl_discrete_move(d, way, x, d1, twist);
            const double *a = x + 3 * (ptrdiff_t)(k + d->ghost);
            tl_sub3(a + 3, a, e);
            tl_axpy3(a, along, e, point[s]);
            tl_scale3(1.0 / tl_norm3(e), e, e);
            tl_rod_quat(d1 + 3 * (ptrdiff_t)(k + d->ghost), e, q);
            tl_rotate(q, local, turned);
            tl_axpy3(point[s], 1.0, turned, point[s]);
        }
        for (int c = 0; c < 3; c++) {
            double v = given[c];
            for (int32_t i = 0; i < rod->dof; i++)
                v += row[(ptrdiff_t)c * rod->dof + i] * d->velocity[d->lo + i];
            const double difference = (point[1][c] - point[0][c]) / 2e-6;
            rods_near("velocity", v, difference, 1e-6 * (1.0 + tl_norm3(away.x) / step.h));
        }
        m->base.ops->destroy(&m->base);
    }
}

// A band matrix: factor, solve and product against the definition; a pivot that is none is found.
static void bands(void **state) {
    (void)state;
    tl_rng rng = {7};
    for (int trial = 0; trial < 40; trial++) {
        const int32_t n = 1 + trial, width = trial % 7;
        double full[40 * 40] = {0}, band[40 * 7] = {0}, x[40], y[40] = {0}, z[40] = {0};
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = j; i < n && i <= j + width; i++) {
                const double value = tl_rng_normal(&rng) + (i == j ? 2.0 * width + 4.0 : 0.0);
                full[i * n + j] = full[j * n + i] = band[j * (width + 1) + i - j] = value;
            }
        for (int32_t i = 0; i < n; i++) x[i] = tl_rng_normal(&rng);
        tl_band_multiply(n, width, band, 1.0, x, y);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) z[i] += full[i * n + j] * x[j];
        for (int32_t i = 0; i < n; i++)
            rods_near("product", y[i], z[i], 1e-12 * (1.0 + fabs(z[i])));
        assert_int_equal(tl_band_factor(n, width, band, 1e-14), -1);
        tl_band_solve(n, width, band, y);
        for (int32_t i = 0; i < n; i++) rods_near("solution", y[i], x[i], 1e-11);
    }
    double singular[] = {1.0, 2.0, 4.0, 0.0}; // [1 2; 2 4]
    assert_int_equal(tl_band_factor(2, 1, singular, 1e-12), 1);
}

// ---- what is refused ---------------------------------------------------------------------------

static void refuses(talus_world *w, const talus_rod_def *rod, const char *word) {
    const int32_t rods = talus_world_rods(w).rods;
    assert_int_not_equal(talus_world_add_rod(w, rod, NULL), TALUS_OK);
    if (!strstr(talus_context_last_error(ctx), word))
        fail_msg("'%s' does not say '%s'", talus_context_last_error(ctx), word);
    assert_int_equal(talus_world_rods(w).rods, rods);
}

static void bad_rods(void **state) {
    (void)state;
    const talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    talus_world *w = worlds_create(&def);
    double x[3 * NODES], other[3 * NODES];
    rods_line(NODES, (double[3]){0}, (double[3]){0.1, 0.0, 0.0}, x);
    talus_rod_def good = talus_rod_default(), bad;
    good.nodes = NODES;
    good.position = x;
#define REFUSES(change, word)                                                                      \
    do {                                                                                           \
        bad = good;                                                                                \
        memcpy(other, x, sizeof other);                                                            \
        change;                                                                                    \
        refuses(w, &bad, word);                                                                    \
    } while (0)
    REFUSES(bad.nodes = 1, "at least 2");
    REFUSES(bad.position = NULL, "no positions");
    REFUSES((bad.position = other, memcpy(other + 6, other + 3, 24)), "has the length 0");
    REFUSES((bad.position = other, other[4] = NAN), "not finite");
    REFUSES((bad.position = other, other[6] = 0.001), "folded back");
    REFUSES((bad.natural = other, memcpy(other + 6, other + 3, 24)), "natural");
    REFUSES(bad.radius = 0.0, "radius");
    REFUSES(bad.density = -1.0, "density");
    REFUSES(bad.young = INFINITY, "young");
    REFUSES(bad.young = 1e200, "stiffness");
    REFUSES(bad.density = 1e-200, "mass");
    REFUSES(bad.damping = -1.0, "damping");
    REFUSES(bad.velocity[1] = NAN, "velocity");
    REFUSES(bad.material = 3, "material");
    REFUSES(bad.kind = (talus_rod_kind)7, "kind");
    REFUSES(bad.start = (talus_rod_end)5, "hold");
    REFUSES((bad.curvature = other, other[0] = 1e4), "natural curvature");
    REFUSES((bad.curvature = other, other[2] = 1e4), "natural twist");
    REFUSES((bad.director = x), "across");
    REFUSES((bad.start = TALUS_END_PINNED, bad.start_body = 0), "there are 0");
    talus_body_def ball = worlds_ball(w, 0.01, 0.0, 0.0, 1.0);
    worlds_add(w, &ball);
    REFUSES((bad.start = TALUS_END_PINNED, bad.start_body = 0), "moves freely");
    ball.motion.kind = TALUS_MOTION_FIXED;
    const int32_t fixed = worlds_add(w, &ball);
    REFUSES(bad.end_body = fixed, "pin or clamp");
    good.start = TALUS_END_CLAMPED;
    good.start_body = fixed;
    rods_add(w, &good);
    const talus_motion_def free_motion = {.kind = TALUS_MOTION_FREE};
    assert_int_not_equal(talus_world_set_motion(w, fixed, &free_motion), TALUS_OK);
    assert_non_null(strstr(talus_context_last_error(ctx), "held by it"));
    talus_world_destroy(w);
    for (int k = 0; k < 2; k++) {
        const talus_world_def flat = k == 0 ? worlds_def(2, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81)
                                            : worlds_def(3, TALUS_SCHEME_PENALTY, 1e-3, 9.81);
        w = worlds_create(&flat);
        good.start = TALUS_END_FREE;
        good.start_body = -1;
        refuses(w, &good, k == 0 ? "2D" : "penalty");
        talus_world_destroy(w);
    }
}

// What was given is given back, and states of other rods are not taken.
static void looks(void **state) {
    (void)state;
    const talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    talus_world *w = worlds_create(&def), *other = worlds_create(&def);
    double x[3 * NODES], numbers[1024];
    rods_line(NODES, (double[3]){0}, (double[3]){0.1, 0.0, 0.0}, x);
    talus_rod_def rod = talus_rod_default(), back;
    rod.nodes = NODES;
    rod.position = x;
    rods_add(w, &rod);
    rod.nodes = 3;
    rods_add(w, &rod);
    const talus_rod_view view = talus_world_rods(w);
    assert_int_equal(view.rods, 2);
    assert_int_equal(view.start[1], NODES);
    assert_int_equal(view.start[2], NODES + 3);
    assert_int_equal(view.first_item, 0);
    assert_true(talus_world_rod_at(w, 1, &back));
    assert_int_equal(back.nodes, 3);
    rods_near("shear", back.shear, rod.young / 3.0, 1e-9);
    assert_false(talus_world_rod_at(w, 2, &back));
    assert_false(talus_world_rod_at(other, 0, &back));
    assert_int_equal(talus_world_rods(other).rods, 0);
    // equal segments have one shape
    talus_shape_def shape;
    assert_true(talus_world_shape_at(w, 0, &shape));
    assert_int_equal(shape.kind, TALUS_SHAPE_CAPSULE);
    (void)worlds_step(w);
    assert_false(talus_world_shape_at(w, 1, &shape));
    const int64_t n = talus_world_save(w, NULL);
    assert_true(n <= 1024);
    talus_world_save(w, numbers);
    rods_add(other, &rod);
    assert_int_not_equal(talus_world_load(other, numbers, n), TALUS_OK);
    assert_string_equal(talus_rod_text(TALUS_ROD_DISCRETE), "discrete");
    talus_world_destroy(w);
    talus_world_destroy(other);
}

// Each request for memory fails in turn, while a world with rods is made and goes a few steps: what
// was not done can be done afterwards, and nothing is left behind.
static talus_status fill(talus_world *w) {
    double x[3 * NODES];
    rods_line(NODES, (double[3]){0.0, 0.0, 1e-3}, (double[3]){0.1, 0.0, 1e-3}, x);
    talus_rod_def rod = talus_rod_default();
    rod.nodes = NODES;
    rod.position = rod.natural = x;
    rod.start = TALUS_END_CLAMPED;
    talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE};
    talus_body_def floor = talus_body_default();
    talus_status status = talus_world_add_rod(w, &rod, NULL);
    if (status == TALUS_OK) status = talus_world_add_shape(w, &plane, &floor.shape);
    floor.motion.kind = TALUS_MOTION_FIXED;
    if (status == TALUS_OK) status = talus_world_add_body(w, &floor, NULL);
    rod.kind = TALUS_ROD_HELIX;
    rod.position = rod.natural = x;
    for (int k = 0; k < NODES; k++) x[3 * k + 1] = 0.05;
    if (status == TALUS_OK) status = talus_world_add_rod(w, &rod, NULL);
    for (int k = 0; k < 3 && status == TALUS_OK; k++) status = talus_world_step(w, NULL);
    return status;
}

static void memory_that_runs_out(void **state) {
    (void)state;
    const talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    talus_status status = TALUS_ERR_MEMORY;
    for (int64_t fail = 1; status != TALUS_OK; fail++) {
        talus_world *w = worlds_create(&def);
        memory.requests = 0;
        memory.fail_at = fail;
        status = fill(w);
        memory.fail_at = 0;
        if (status != TALUS_OK) assert_int_equal(status, TALUS_ERR_MEMORY);
        WORLDS_OK(talus_world_step(w, NULL)); // with what there is
        talus_world_destroy(w);
        assert_true(fail < 5000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(forces_are_those_of_the_energy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(secant_does_the_work, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_are_velocities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_rods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(looks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_that_runs_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
