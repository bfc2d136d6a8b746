// SPDX-License-Identifier: Apache-2.0
// No step of a rod creates energy [theory/rods]: random strands without contacts, soft and stiff,
// straight, curled, and pressed together so that they buckle, thrown, hanging, and led by a body
// that shakes, in steps of 0.5 to 5 ms. In each step
//     kinetic + potential + elastic energy  ≤  that before + work of what leads the root,
// up to what the solution of the step is known to. The stresses do the work σ·(Ĵ d) where they
// should do σ·Δε. Newton's method ends when d is known to 1e-10 of a segment, which changes Ĵ d by
// at most 1e-10 times the turning of the step (some radians, at most); with Σ |σ| ℓ ≤ √(2 E Σ C ℓ)
// (Cauchy), C = EA being the largest stiffness, the bound is 1e-10 √(2 E EA L). To it rounding of
// the sums is added.
#include "base/rng.h"
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rods.h"

enum { NODES = 20 };

typedef struct strand {
    talus_rod_def rod;
    double x[3 * NODES], natural[3 * NODES], curvature[3 * NODES];
    double h;
    bool led;
} strand;

static double log_range(tl_rng *r, double low, double high) {
    return low * exp(tl_rng_unit(r) * log(high / low));
}

// A strand along a random direction; one in three waves, one in three is shorter than without
// loads.
static void make_strand(tl_rng *r, talus_rod_kind kind, strand *s) {
    const int32_t n = s->rod.nodes = 6 + (int32_t)(tl_rng_unit(r) * (NODES - 5.001));
    const double length = tl_rng_range(r, 0.05, 0.4), segment = length / (n - 1);
    const int form = (int)(3.0 * tl_rng_unit(r)), start = (int)(3.0 * tl_rng_unit(r));
    const double press = form == 2 && kind == TALUS_ROD_DISCRETE ? tl_rng_range(r, 0.9, 1.0) : 1.0;
    const double wave = form == 1 ? 0.1 * length : 1e-4 * length, phase = 6.3 * tl_rng_unit(r);
    double t[3], frame[9], natural_curvature = 0.0, twist = 0.0;
    for (int k = 0; k < 3; k++) t[k] = tl_rng_normal(r);
    tl_scale3(1.0 / tl_norm3(t), t, t);
    tl_frame(3, t, frame);
    if (tl_rng_unit(r) < 0.4) {
        natural_curvature = tl_rng_range(r, 0.1, 0.8) / segment;
        twist = tl_rng_range(r, -0.5, 0.5) / segment;
    }
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            s->x[3 * i + k] = press * i * segment * t[k] +
                              wave * (sin(0.7 * i + phase) - sin(phase)) * frame[3 + k];
            s->natural[3 * i + k] = i * segment * (k == 0);
            s->curvature[3 * i + k] = k == 0 ? natural_curvature : k == 2 ? twist : 0.0;
        }
    const talus_rod_def plain = talus_rod_default();
    s->rod = plain;
    s->rod.kind = kind;
    s->rod.nodes = n;
    s->rod.pieces = kind == TALUS_ROD_HELIX ? 3 + n / 5 : 0;
    s->rod.position = s->x;
    if (form == 2 && kind == TALUS_ROD_DISCRETE) s->rod.natural = s->natural;
    if (natural_curvature > 0.0) s->rod.curvature = s->curvature;
    s->rod.radius = log_range(r, 1e-4, 2e-3);
    s->rod.young = log_range(r, 1e5, 1e10);
    s->rod.damping = tl_rng_unit(r) < 0.5 ? 0.0 : 1e-3;
    s->rod.drag = tl_rng_unit(r) < 0.7 ? 0.0 : 1e-3;
    s->rod.start = (talus_rod_end)start;
    s->rod.self_contact = false;
    s->led = start != TALUS_END_FREE && tl_rng_unit(r) < 0.5;
    for (int k = 0; k < 3; k++)
        s->rod.velocity[k] = start == TALUS_END_FREE ? tl_rng_normal(r) : 0.0;
    s->h = log_range(r, 5e-4, 5e-3);
}

static talus_world *make_world(tl_rng *r, strand *s) {
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, s->h, 9.81);
    talus_world *w = worlds_create(&def);
    if (s->led) {
        talus_body_def body = worlds_ball(w, 1e-6, 0.0, 0.0, 0.0); // not to be hit
        body.motion = (talus_motion_def){.kind = TALUS_MOTION_OSCILLATION,
                                         .axis = {0.3, 0.5, 1.0},
                                         .angle = tl_rng_range(r, 0.1, 1.0),
                                         .amplitude = {0.02, 0.0, 0.01},
                                         .frequency = tl_rng_range(r, 0.5, 6.0)};
        s->rod.start_body = worlds_add(w, &body);
        for (int32_t i = 0; i < s->rod.nodes; i++) s->x[3 * i] += 0.05; // out of the body
    }
    rods_add(w, &s->rod);
    return w;
}

static void gains_nothing(talus_rod_kind kind, uint64_t seed, int trials) {
    tl_rng r = {seed};
    for (int trial = 0; trial < trials; trial++) {
        strand s = {0};
        make_strand(&r, kind, &s);
        talus_world *w = make_world(&r, &s);
        const double stretch = s.rod.young * RODS_PI * s.rod.radius * s.rod.radius;
        double before = 0.0;
        for (int k = 0; k < 100; k++) {
            const talus_ledger l = worlds_step(w);
            const double now = l.kinetic + l.potential + l.elastic;
            const double size = l.kinetic + fabs(l.potential) + l.elastic + fabs(l.work_obstacles);
            const double bound =
                1e-10 * sqrt(2.0 * l.elastic * stretch * 0.4) + 1e-12 * size + 1e-18;
            if (k > 0 && !(now <= before + l.work_obstacles + bound))
                fail_msg("strand %d (h %g, radius %g, young %g, start %d), step %d: energy %.9g "
                         "after %.9g and a work of %.3g: %.3g too much, of %.3g allowed",
                         trial, s.h, s.rod.radius, s.rod.young, (int)s.rod.start, k, now, before,
                         l.work_obstacles, now - before - l.work_obstacles, bound);
            before = now;
        }
        talus_world_destroy(w);
    }
}

static void discrete_gains_nothing(void **state) {
    (void)state;
    gains_nothing(TALUS_ROD_DISCRETE, 21, 40);
}

static void helix_gains_nothing(void **state) {
    (void)state;
    gains_nothing(TALUS_ROD_HELIX, 22, 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(discrete_gains_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(helix_gains_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
