// SPDX-License-Identifier: Apache-2.0
// ctest labels: threads
// Machines of joints: chains, closed loops, a gate that balls push open. What must not happen:
// creep, drift, bits that depend on threads, a run that cannot be taken up again.
#include "base/rng.h"
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/worlds.h"

#define GRAVITY 9.81

static int32_t join(talus_world *w, const talus_joint_def *joint) {
    int32_t index = -1;
    WORLDS_OK(talus_world_add_joint(w, joint, &index));
    return index;
}

static talus_ledger advance(talus_world *w, int n) {
    talus_ledger ledger = {0};
    for (int k = 0; k < n; k++) WORLDS_OK(talus_world_step(w, &ledger));
    return ledger;
}

// Speed of centres and of points 5 cm from them.
static double fastest(const talus_world *w) {
    const talus_body_view b = worlds_bodies(w);
    double most = 0.0;
    for (int32_t i = 0; i < b.count; i++)
        most = fmax(most, fmax(tl_norm3(b.velocity + 3 * i), 0.05 * tl_norm3(b.spin + 3 * i)));
    return most;
}

// ---- chains ------------------------------------------------------------------------------------

// n links of 0.1 m in a row along `along`, the first on a hinge at the origin.
static void chain(talus_world *w, int32_t dim, int n, const double along[3], double damping) {
    talus_body_def link = worlds_ball(w, 0.04, 0.0, 0.0, 0.0);
    link.mass = 0.2;
    link.inertia[0] = 1e-4, link.inertia[1] = link.inertia[2] = 2e-4;
    link.damping = link.spin_damping = damping;
    talus_joint_def joint = talus_joint_default();
    joint.kind = TALUS_JOINT_HINGE;
    if (dim == 3) joint.axis[1] = 1.0;
    for (int i = 0; i < n; i++) {
        tl_scale3(0.1 * i, along, joint.anchor);
        tl_scale3(0.1 * i + 0.05, along, link.position);
        joint.b = i == 0 ? -1 : joint.a;
        joint.a = worlds_add(w, &link);
        join(w, &joint);
    }
}

static void hanging_chain(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_CONVEX,
                                    TALUS_SCHEME_MOREAU_JEAN};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 3; k++) {
            talus_world_def def = worlds_def(dim, schemes[k], 1e-3, GRAVITY);
            talus_world *w = worlds_create(&def);
            const double down[3] = {0.0, dim == 2 ? -1.0 : 0.0, dim == 3 ? -1.0 : 0.0};
            chain(w, dim, 100, down, 0.0);
            double creep = 0.0;
            talus_ledger l = {0};
            for (int step = 0; step < 100; step++) {
                l = advance(w, 1);
                creep = fmax(creep, fastest(w));
            }
            assert_true(creep < 1e-12);
            assert_true(l.joint_error < 1e-12 && l.missed_steps == 0);
            talus_joint_view view;
            talus_world_joints(w, &view); // joint i bears the links from i on
            for (int i = 0; i < 100; i++) {
                const double weight = 0.2 * GRAVITY * 1e-3 * (100 - i);
                assert_true(fabs(view.impulse[3 * i + dim - 1] - weight) < 1e-9 * weight);
            }
            talus_world_destroy(w);
        }
}

// 100 links between two nails 6 m apart, from a V (legs 3-4-5) down to the catenary and to rest.
// For a line of the same length 2 a sinh(3/a) = 10, its depth is a (cosh(3/a) − 1).
static void settling_chain(void **state) {
    (void)state;
    talus_world_def def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 4e-3, GRAVITY);
    talus_world *w = worlds_create(&def);
    talus_body_def link = worlds_ball(w, 0.04, 0.0, 0.0, 0.0);
    link.mass = 0.2;
    link.inertia[0] = link.inertia[1] = link.inertia[2] = 2e-4;
    link.damping = link.spin_damping = 3.0;
    talus_joint_def joint = talus_joint_default();
    for (int i = 0; i < 100; i++) {
        const double away = i < 50 ? 0.1 * i + 0.05 : 10.0 - 0.1 * i - 0.05;
        link.position[0] = 0.06 * i + 0.03, link.position[1] = -0.8 * away;
        joint.anchor[0] = 0.06 * i, joint.anchor[1] = -0.8 * (i < 50 ? 0.1 * i : 10.0 - 0.1 * i);
        joint.b = i == 0 ? -1 : joint.a;
        joint.a = worlds_add(w, &link);
        join(w, &joint);
    }
    joint.b = -1;
    joint.anchor[0] = 6.0, joint.anchor[1] = 0.0;
    join(w, &joint);
    const talus_ledger l = advance(w, 7500);
    assert_true(fastest(w) < 1e-12 && l.joint_error < 1e-13 && l.missed_steps == 0);
    talus_joint_view view;
    talus_world_joints(w, &view);
    double a = 1.5;
    for (int k = 0; k < 100; k++)
        a -= (2.0 * a * sinh(3.0 / a) - 10.0) / (2.0 * sinh(3.0 / a) - 6.0 / a * cosh(3.0 / a));
    assert_true(fabs(-view.point[3 * 50 + 1] - a * (cosh(3.0 / a) - 1.0)) < 1e-3);
    assert_true(fabs(view.point[3 * 50] - 3.0) < 1e-9);
    talus_world_destroy(w);
}

// A chain of five links let go and left to itself for 10⁴ steps: errors stay where they were.
static void long_swing(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int k = 0; k < 2; k++) {
        talus_world_def def = worlds_def(3, schemes[k], 5e-4, GRAVITY);
        talus_world *w = worlds_create(&def);
        const double along[3] = {1.0, 0.0, 0.0};
        chain(w, 3, 5, along, 0.0);
        double early = 0.0, late = 0.0, energy = 0.0;
        for (int step = 0; step < 10000; step++) {
            const talus_ledger l = advance(w, 1);
            *(step < 2000 ? &early : &late) = fmax(step < 2000 ? early : late, l.joint_error);
            energy = fmax(energy, l.kinetic + l.potential);
        }
        assert_true(early < 1e-3 && late < 2.0 * early);
        assert_true(energy < 0.02); // of 2.45 J between top and bottom; it began with 0
        talus_world_destroy(w);
    }
}

// ---- closed loops ------------------------------------------------------------------------------

// A body for a bar from p to q; returns its index.
static int32_t bar(talus_world *w, const double p[3], const double q[3]) {
    talus_body_def body = worlds_ball(w, 0.01, 0.0, 0.0, 0.0);
    for (int k = 0; k < 3; k++) body.position[k] = 0.5 * (p[k] + q[k]);
    body.inertia[0] = 0.01, body.inertia[1] = 0.03, body.inertia[2] = 0.03;
    return worlds_add(w, &body);
}

static void pin(talus_world *w, int32_t a, int32_t b, const double at[3], double speed) {
    talus_joint_def joint = talus_joint_default();
    joint.kind = TALUS_JOINT_HINGE, joint.a = a, joint.b = b;
    tl_copy3(at, joint.anchor);
    joint.axis[2] = 1.0;
    if (speed != 0.0) joint.speed = speed, joint.limit = INFINITY;
    join(w, &joint);
}

// A crank of 0.5 drives a rod of 1.3, whose end slides along x: x = 0.5 cos φ + (1.3² − 0.25 sin²
// φ)^½. In space three hinges and a slider are 20 rows for 18 unknowns, of
// which the motor takes the last: three rows follow from others.
static void slider_crank(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 2; k++) {
            talus_world_def def = worlds_def(dim, schemes[k], 1e-3, 0.0);
            def.tolerance = 1e-9;
            talus_world *w = worlds_create(&def);
            const double o[3] = {0}, p[3] = {0.5, 0.0, 0.0}, q[3] = {1.8, 0.0, 0.0};
            const int32_t crank = bar(w, o, p), rod = bar(w, p, q), block = bar(w, q, q);
            pin(w, crank, -1, o, 3.0);
            pin(w, rod, crank, p, 0.0);
            pin(w, block, rod, q, 0.0);
            talus_joint_def rail = talus_joint_default();
            rail.kind = TALUS_JOINT_SLIDER, rail.a = block, tl_copy3(q, rail.anchor);
            join(w, &rail);
            talus_joint_view view;
            talus_world_joints(w, &view);
            talus_ledger l = {0};
            for (int step = 0; step < 3000; step++) { // over the dead points
                l = advance(w, 1);
                const double s = 0.5 * sin(view.position[0]), c = 0.5 * cos(view.position[0]);
                assert_true(fabs(view.position[3] + 1.8 - c - sqrt(1.69 - s * s)) < 2e-5);
                assert_true(l.joint_error < 2e-5);
            }
            assert_true(fabs(view.position[0] - (k == 0 ? 9.0 : 8.9985)) <
                        1e-9); // half of the first step
            assert_int_equal(l.missed_steps, 0);
            talus_world_destroy(w);
        }
}

// Four bars in space, all hinges parallel: 20 rows hold 18 unknowns, and it moves all the same. The
// coupler's points keep their distances, and the motor's work is the change of energy.
static void four_bar(void **state) {
    (void)state;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, 1e-3, 0.0);
    def.gravity[1] = -GRAVITY;
    def.tolerance = 1e-9;
    talus_world *w = worlds_create(&def);
    const double a[3] = {0}, b[3] = {0.0, 0.4, 0.0}, c[3] = {1.0, 0.9, 0.0}, d[3] = {1.2, 0.0, 0.0};
    const int32_t one = bar(w, a, b), two = bar(w, b, c), three = bar(w, d, c);
    pin(w, one, -1, a, 2.0);
    pin(w, two, one, b, 0.0);
    pin(w, three, two, c, 0.0);
    pin(w, three, -1, d, 0.0);
    talus_joint_view view;
    talus_world_joints(w, &view);
    talus_ledger l = advance(w, 1);
    double work = 0.0, lost = 0.0;
    const double start = l.kinetic + l.potential;
    for (int step = 0; step < 5000; step++) {
        l = advance(w, 1);
        work += l.work_joints;
        lost += l.loss_numerical + l.loss_impact;
        double apart[3];
        tl_sub3(view.point + 3, view.point + 6, apart); // b and c on the coupler and the rocker
        assert_true(fabs(tl_norm3(apart) - sqrt(1.25)) < 2e-5);
        assert_true(fabs(view.point[3] - 0.4 * cos(view.position[0] + acos(0.0))) < 2e-5);
        assert_true(fabs(view.point[5]) < 1e-9 && fabs(view.point[8]) < 1e-9); // in the plane
    }
    assert_true(l.joint_error < 1e-5);
    assert_true(fabs(l.kinetic + l.potential - start - work + lost) < 1e-9);
    assert_true(fabs(lost) < 1e-3 * fabs(start));
    assert_int_equal(l.missed_steps, 0);
    talus_world_destroy(w);
}

// ---- a gate and balls --------------------------------------------------------------------------

// A gate on two hinges (one would do: rows that follow from others) in a field of balls that come
// at it; a flap with a motor beside it, a stop, and a chain in the way. `q` turns all of it.
static talus_world *gate(int32_t dim, talus_scheme scheme, int32_t threads, const double q[4]) {
    talus_world_def def = worlds_def(dim, scheme, 2e-3, GRAVITY);
    def.tolerance = 1e-8;
    def.threads = threads;
    double g[3] = {0.0, dim == 2 ? -GRAVITY : 0.0, dim == 3 ? -GRAVITY : 0.0};
    tl_rotate(q, g, def.gravity);
    if (dim == 2) def.gravity[2] = 0.0;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.4, 0.0, 0.0);
    double up[3] = {0.0, dim == 2 ? 1.0 : 0.0, dim == 3 ? 1.0 : 0.0};
    tl_rotate(q, up, up);
    worlds_plane(w, up[0], up[1], up[2]);
    talus_body_def plate = talus_body_default();
    plate.shape = worlds_shape(
        w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.05, 0.5, dim == 2 ? 0.5 : 0.4}});
    plate.density = 300.0;
    memcpy(plate.orientation, q, sizeof plate.orientation);
    const double centre[3] = {0.0, dim == 2 ? 0.55 : 0.0, dim == 3 ? 0.45 : 0.0};
    tl_rotate(q, centre, plate.position);
    talus_joint_def joint = talus_joint_default();
    joint.kind = TALUS_JOINT_HINGE;
    joint.a = worlds_add(w, &plate);
    const double axis[3] = {0.0, 0.0, 1.0};
    tl_rotate(q, axis, joint.axis);
    if (dim == 2) joint.axis[2] = 0.0;
    joint.low = -1.2;
    for (int k = 0; k < (dim == 2 ? 1 : 2); k++) {
        const double at[3] = {0.0, dim == 2 ? 1.05 : 0.5, dim == 3 ? 0.2 + 0.5 * k : 0.0};
        tl_rotate(q, at, joint.anchor);
        if (dim == 2) joint.limit = 2.0; // stiff
        if (dim == 3 && k == 0) joint.speed = 0.3, joint.limit = 1.0;
        if (k == 1) joint.limit = joint.speed = 0.0, joint.low = -INFINITY;
        join(w, &joint);
    }
    tl_rng rng = {5};
    for (int i = 0; i < 40; i++) {
        const double x[3] = {-0.3 - 0.25 * (i / 5),
                             dim == 2 ? 0.12 + 0.24 * (i % 5) : -0.45 + 0.22 * (i % 5),
                             dim == 3 ? 0.11 + 0.05 * (i % 2) : 0.0};
        const double v[3] = {2.0 + 0.2 * tl_rng_unit(&rng), 0.0, 0.0};
        talus_body_def ball = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
        tl_rotate(q, x, ball.position);
        tl_rotate(q, v, ball.velocity);
        worlds_add(w, &ball);
    }
    return w;
}

static const double straight[4] = {1.0, 0.0, 0.0, 0.0};

// Every step certified to 1e-8, the energies closing, and the gate pushed open.
static void gate_opens(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_CONVEX,
                                    TALUS_SCHEME_MOREAU_JEAN};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 3; k++) {
            talus_world *w = gate(dim, schemes[k], 1, straight);
            talus_ledger last = advance(w, 1);
            double most = 0.0;
            for (int step = 0; step < 250; step++) {
                const talus_ledger l = advance(w, 1);
                const double scale = 1.0 + l.kinetic + fabs(l.potential);
                const double error = l.kinetic + l.potential - last.kinetic - last.potential -
                                     l.work_obstacles - l.work_forces - l.work_joints +
                                     l.loss_impact + l.loss_friction + l.loss_numerical;
                assert_true(fabs(error) < 1e-12 * scale);
                assert_true(l.residual <= 1e-8 && l.constraint <= 1e-8 && !l.missed);
                assert_true(l.loss_friction >= -1e-8 * scale);
                most = fmax(most, l.joint_error);
                last = l;
            }
            talus_joint_view view;
            talus_world_joints(w, &view);
            assert_true(view.position[0] > 0.4 && most < 1e-5 && last.contacts > 50);
            talus_world_destroy(w);
        }
}

static void gate_threads(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        const int32_t threads[] = {1, 2, 8};
        uint64_t hash[3];
        for (int k = 0; k < 3; k++) {
            talus_world *w = gate(dim, TALUS_SCHEME_FIXED_POINT, threads[k], straight);
            advance(w, 120);
            hash[k] = talus_world_hash(w);
            talus_world_destroy(w);
        }
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    }
}

// Stopped in the middle and taken up by another world: the same bits.
static void gate_resumes(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        talus_world *w = gate(dim, TALUS_SCHEME_FIXED_POINT, 1, straight);
        talus_world *other = gate(dim, TALUS_SCHEME_FIXED_POINT, 1, straight);
        advance(w, 80);
        const int64_t n = talus_world_save(w, NULL);
        double *kept = malloc((size_t)n * sizeof *kept);
        assert_non_null(kept);
        assert_true(talus_world_save(w, kept) == n);
        assert_true(talus_world_hash(w) != talus_world_hash(other));
        assert_int_equal(talus_world_load(other, kept, n - 1), TALUS_ERR_FORMAT);
        WORLDS_OK(talus_world_load(other, kept, n));
        assert_true(talus_world_hash(w) == talus_world_hash(other));
        advance(w, 80);
        advance(other, 80);
        assert_true(talus_world_hash(w) == talus_world_hash(other));
        free(kept);
        talus_world_destroy(w);
        talus_world_destroy(other);
    }
}

// The same world seen from another side.
static void gate_turned(void **state) {
    (void)state;
    const double q2[4] = {cos(0.35), 0.0, 0.0, sin(0.35)};
    double q3[4] = {0.8, 0.3, -0.2, 0.4};
    tl_quat_normalise(q3);
    for (int32_t dim = 2; dim <= 3; dim++) {
        const double *q = dim == 2 ? q2 : q3;
        talus_world *w = gate(dim, TALUS_SCHEME_FIXED_POINT, 1, straight);
        talus_world *turned = gate(dim, TALUS_SCHEME_FIXED_POINT, 1, q);
        // before the first impacts make rounding grow
        advance(w, 60);
        advance(turned, 60);
        const talus_body_view one = worlds_bodies(w), two = worlds_bodies(turned);
        double most = 0.0;
        for (int32_t i = 0; i < one.count; i++) {
            double x[3];
            tl_rotate(q, one.position + 3 * i, x);
            tl_sub3(x, two.position + 3 * i, x);
            most = fmax(most, tl_norm3(x));
        }
        talus_joint_view a, b;
        talus_world_joints(w, &a);
        talus_world_joints(turned, &b);
        assert_true(a.position[0] > 0.02 && fabs(a.position[0] - b.position[0]) < 1e-12);
        assert_true(most < 1e-12);
        talus_world_destroy(w);
        talus_world_destroy(turned);
    }
}

// Let every request for memory fail in turn: a step that fails leaves all as it was.
static void memory_runs_out(void **state) {
    (void)state;
    talus_world *w = gate(3, TALUS_SCHEME_FIXED_POINT, 1, straight);
    talus_ledger l;
    int failures = 0;
    for (int64_t at = 1;; at++) {
        const uint64_t hash = talus_world_hash(w);
        memory.fail_at = memory.requests + at;
        const talus_status status = talus_world_step(w, &l);
        memory.fail_at = 0;
        if (status == TALUS_OK) break;
        assert_int_equal(status, TALUS_ERR_MEMORY);
        assert_true(talus_world_hash(w) == hash);
        failures++;
    }
    assert_true(failures > 60);
    talus_world *fresh = gate(3, TALUS_SCHEME_FIXED_POINT, 1, straight);
    advance(w, 5);
    advance(fresh, 6);
    assert_true(talus_world_hash(w) == talus_world_hash(fresh));
    talus_world_destroy(w);
    talus_world_destroy(fresh);
}

// ---- refusals ----------------------------------------------------------------------------------

static void refusals(void **state) {
    (void)state;
    talus_world_def def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 1e-3, GRAVITY);
    talus_world *w = worlds_create(&def);
    const talus_body_def body = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
    worlds_add(w, &body);
    const uint64_t hash = talus_world_hash(w);
    const talus_joint_def good = talus_joint_default();
    const struct {
        talus_joint_kind kind;
        int32_t a, b;
        double anchor_z, axis_z, length, limit, low;
        const char *word;
    } bad[] = {
        {TALUS_JOINT_BALL, 1, -1, 0.0, 0.0, 0.0, 0.0, -INFINITY, "a = 1"},
        {TALUS_JOINT_BALL, 0, 0, 0.0, 0.0, 0.0, 0.0, -INFINITY, "both body 0"},
        {TALUS_JOINT_BALL, 0, -2, 0.0, 0.0, 0.0, 0.0, -INFINITY, "b = -2"},
        {TALUS_JOINT_BALL, 0, -1, 0.1, 0.0, 0.0, 0.0, -INFINITY, "z = 0"},
        {TALUS_JOINT_BALL, 0, -1, 0.0, 0.0, 0.0, 1.0, -INFINITY, "a ball has no motor"},
        {TALUS_JOINT_WELD, 0, -1, 0.0, 0.0, 0.0, 0.0, -1.0, "a weld has no stops"},
        {TALUS_JOINT_HINGE, 0, -1, 0.0, 0.0, 0.0, -1.0, -INFINITY, "[0, inf]"},
        {TALUS_JOINT_HINGE, 0, -1, 0.0, 0.0, 0.0, 0.0, 1.0, "stops 1"},
        {TALUS_JOINT_SLIDER, 0, -1, 0.0, 1.0, 0.0, 0.0, -INFINITY, "axis of a slider"},
        {TALUS_JOINT_HINGE, 0, -1, 0.0, -1.0, 0.0, 0.0, -INFINITY, "axis of a hinge is z"},
        {TALUS_JOINT_DISTANCE, 0, -1, 0.0, 0.0, 0.0, 0.0, -INFINITY, "in one place"},
        {TALUS_JOINT_DISTANCE, 0, -1, 0.0, 0.0, NAN, 0.0, -INFINITY, "length[0]"},
        {(talus_joint_kind)7, 0, -1, 0.0, 0.0, 0.0, 0.0, -INFINITY, "no kind 7"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        talus_joint_def joint = good;
        joint.kind = bad[k].kind, joint.a = bad[k].a, joint.b = bad[k].b;
        joint.anchor[2] = bad[k].anchor_z, joint.axis[2] = bad[k].axis_z;
        joint.length = bad[k].length, joint.limit = bad[k].limit, joint.low = bad[k].low;
        assert_int_not_equal(talus_world_add_joint(w, &joint, NULL), TALUS_OK);
        assert_non_null(strstr(talus_context_last_error(ctx), bad[k].word));
    }
    assert_int_not_equal(talus_world_set_motor(w, 0, 1.0, 1.0), TALUS_OK);
    assert_true(talus_world_hash(w) == hash);
    talus_world_destroy(w);
    def.scheme = TALUS_SCHEME_PENALTY;
    w = worlds_create(&def);
    const talus_body_def ball = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
    worlds_add(w, &ball);
    assert_int_equal(talus_world_add_joint(w, &good, NULL), TALUS_ERR_UNSUPPORTED);
    assert_string_equal(talus_joint_text(TALUS_JOINT_SLIDER), "slider");
    assert_string_equal(talus_joint_text((talus_joint_kind)9), "unknown joint");
    talus_world_destroy(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(hanging_chain), TEST(settling_chain),  TEST(long_swing),   TEST(slider_crank),
        TEST(four_bar),      TEST(gate_opens),      TEST(gate_threads), TEST(gate_resumes),
        TEST(gate_turned),   TEST(memory_runs_out), TEST(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
