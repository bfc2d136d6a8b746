// SPDX-License-Identifier: Apache-2.0
// Joints against mechanics worked out by hand: pendulums in reduced coordinates, a heavy top,
// bodies welded into one, a rod between two points, motors against known loads.
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/worlds.h"

enum { MOST = 4 };

// y' = f(y) by the classical method of fourth order, n steps of h.
typedef void (*field)(const double *y, const void *with, double *out);

static void integrate(field f, const void *with, int size, double h, int n, double *y) {
    double k[4][2 * MOST], z[2 * MOST];
    const double part[] = {0.0, 0.5, 0.5, 1.0};
    for (int step = 0; step < n; step++) {
        for (int s = 0; s < 4; s++) {
            for (int e = 0; e < size; e++) z[e] = y[e] + (s > 0 ? part[s] * h * k[s - 1][e] : 0.0);
            f(z, with, k[s]);
        }
        for (int e = 0; e < size; e++)
            y[e] += h / 6.0 * (k[0][e] + 2.0 * k[1][e] + 2.0 * k[2][e] + k[3][e]);
    }
}

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

// Errors with h, h/2, h/4: of first or second order, to a tenth.
static void has_order(int order, const double error[3]) {
    for (int k = 0; k < 2; k++) {
        const double measured = log2(error[k] / error[k + 1]);
        if (!(fabs(measured - order) < 0.1 * order))
            fail_msg("order %g, not %d: errors %g, %g", measured, order, error[k], error[k + 1]);
    }
}

// ---- pendulum ----------------------------------------------------------------------------------

// A rigid pendulum: mass 2, moment 0.3 about its centre, which is 0.7 from the pin.
#define ARM 0.7
#define MASS 2.0
#define MOMENT 0.3
#define GRAVITY 9.81

static void pendulum_field(const double *y, const void *with, double *out) {
    (void)with;
    out[0] = y[1];
    out[1] = -MASS * GRAVITY * ARM / (MOMENT + MASS * ARM * ARM) * sin(y[0]);
}

static talus_world *pendulum(int32_t dim, talus_scheme scheme, double h, double angle,
                             talus_joint_kind kind) {
    talus_world_def def = worlds_def(dim, scheme, h, GRAVITY);
    talus_world *w = worlds_create(&def);
    talus_body_def body = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
    body.mass = MASS;
    for (int k = 0; k < 3; k++) body.inertia[k] = MOMENT;
    body.position[0] = ARM * sin(angle);
    body.position[dim - 1] = -ARM * cos(angle);
    talus_joint_def joint = talus_joint_default();
    joint.kind = kind;
    joint.a = worlds_add(w, &body);
    if (dim == 3) joint.axis[1] = -1.0; // so that the angle grows as in 2D
    join(w, &joint);
    return w;
}

static double pendulum_angle(const talus_world *w) {
    talus_joint_view view;
    talus_world_joints(w, &view);
    return view.position[0];
}

static void pendulum_orders(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 2; k++) {
            double y[2] = {1.2, 0.0}, error[3];
            integrate(pendulum_field, NULL, 2, 1e-4, 20000, y);
            for (int half = 0; half < 3; half++) {
                const double h = 4e-3 / (1 << half);
                talus_world *w = pendulum(dim, schemes[k], h, 1.2, TALUS_JOINT_HINGE);
                const talus_ledger l = advance(w, 500 << half);
                error[half] = fabs(pendulum_angle(w) + 1.2 - y[0]);
                assert_true(l.joint_error < h * h); // |ω|² ARM / 2 h² at most
                assert_true(l.constraint < 1e-12);
                talus_world_destroy(w);
            }
            has_order(k + 1, error);
        }
}

// The first integral, and the joint, over 2 · 10⁴ steps (some ten swings): no drift to speak of.
static void pendulum_integral(void **state) {
    (void)state;
    double off[2] = {0.0}, joint = 0.0;
    for (int half = 0; half < 2; half++) {
        const double h = 2e-3 / (1 << half);
        talus_world *w = pendulum(3, TALUS_SCHEME_MOREAU_JEAN, h, 1.2, TALUS_JOINT_BALL);
        const double start = -MASS * GRAVITY * ARM * cos(1.2);
        for (int k = 0; k < 10000 << half; k++) {
            const talus_ledger l = advance(w, 1);
            off[half] = fmax(off[half], fabs(l.kinetic + l.potential - start));
            if (half == 1) joint = fmax(joint, l.joint_error);
        }
        talus_world_destroy(w);
    }
    assert_true(off[1] < 1e-5 * MASS * GRAVITY * ARM);
    assert_true(off[1] < 0.3 * off[0]); // of second order
    assert_true(joint < 1e-5);
}

// Period of small swings: 2π (I / m g l)^½, and 1 + a²/16 + 11 a⁴/3072 times that for amplitude a.
static void pendulum_period(void **state) {
    (void)state;
    const double a = 0.3, h = 1e-3;
    talus_world *w = pendulum(2, TALUS_SCHEME_MOREAU_JEAN, h, a, TALUS_JOINT_HINGE);
    const double small =
        2.0 * acos(-1.0) * sqrt((MOMENT + MASS * ARM * ARM) / (MASS * GRAVITY * ARM));
    const double period = small * (1.0 + a * a / 16.0 + 11.0 * a * a * a * a / 3072.0);
    double last = a, crossing[40];
    int count = 0;
    for (int k = 0; count < 21; k++) { // downward crossings of the vertical, between two steps
        advance(w, 1);
        const double now = pendulum_angle(w) + a;
        if (last > 0.0 && now <= 0.0) crossing[count++] = (k + last / (last - now)) * h;
        last = now;
    }
    assert_true(fabs((crossing[20] - crossing[0]) / 20.0 - period) < 2e-6 * period);
    talus_world_destroy(w);
}

// ---- double pendulum ---------------------------------------------------------------------------

typedef struct links {
    double m[2], j[2], c[2], l; // masses, moments, distances of the centres, length of the first
} links;
static const links two = {{1.5, 0.8}, {0.05, 0.02}, {0.4, 0.3}, 0.9};

static void double_field(const double *y, const void *with, double *out) {
    const links *d = with;
    const double s = sin(y[0] - y[1]), c = cos(y[0] - y[1]), x = d->m[1] * d->l * d->c[1];
    const double a = d->j[0] + d->m[0] * d->c[0] * d->c[0] + d->m[1] * d->l * d->l, b = x * c;
    const double e = d->j[1] + d->m[1] * d->c[1] * d->c[1];
    const double f =
        -x * s * y[3] * y[3] - (d->m[0] * d->c[0] + d->m[1] * d->l) * GRAVITY * sin(y[0]);
    const double g = x * s * y[2] * y[2] - d->m[1] * GRAVITY * d->c[1] * sin(y[1]);
    out[0] = y[2];
    out[1] = y[3];
    out[2] = (e * f - b * g) / (a * e - b * b);
    out[3] = (a * g - b * f) / (a * e - b * b);
}

static void double_pendulum(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    double y[4] = {1.0, 1.8, 0.0, 0.0};
    integrate(double_field, &two, 4, 1e-4, 10000, y);
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 2; k++) {
            double error[3];
            for (int half = 0; half < 3; half++) {
                talus_world_def def = worlds_def(dim, schemes[k], 2e-3 / (1 << half), GRAVITY);
                talus_world *w = worlds_create(&def);
                const double angle[2] = {1.0, 1.8};
                talus_joint_def joint = talus_joint_default();
                joint.kind = TALUS_JOINT_HINGE;
                if (dim == 3) joint.axis[1] = -1.0;
                for (int i = 0; i < 2; i++) {
                    talus_body_def body = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
                    body.mass = two.m[i];
                    body.inertia[0] = 0.5 * two.j[i], body.inertia[1] = body.inertia[2] = two.j[i];
                    body.position[0] = joint.anchor[0] + two.c[i] * sin(angle[i]);
                    body.position[dim - 1] = joint.anchor[dim - 1] - two.c[i] * cos(angle[i]);
                    joint.b = joint.a;
                    joint.a = worlds_add(w, &body);
                    if (i == 0) joint.b = -1;
                    join(w, &joint);
                    joint.anchor[0] = two.l * sin(angle[0]);
                    joint.anchor[dim - 1] = -two.l * cos(angle[0]);
                }
                const talus_ledger l = advance(w, 500 << half);
                talus_joint_view view;
                talus_world_joints(w, &view);
                error[half] = hypot(view.position[0] + 1.0 - y[0],
                                    view.position[0] + view.position[1] + 1.8 - y[1]);
                assert_true(l.joint_error < 2e-5);
                talus_world_destroy(w);
            }
            has_order(k + 1, error);
        }
}

// ---- top ---------------------------------------------------------------------------------------

// Steady precession at the rate Ω, inclination θ: (C s − A' Ω cos θ) Ω = m g l, s the spin about
// the axis, A' about the pivot.
static void heavy_top(void **state) {
    (void)state;
    const double m = 0.5, a = 2e-3, c = 1.5e-3, arm = 0.08, tilt = 0.6, turn = 3.0;
    const double spin = (m * GRAVITY * arm / turn + (a + m * arm * arm) * turn * cos(tilt)) / c;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int k = 0; k < 2; k++) {
        double way[3], fall[3];
        for (int half = 0; half < 3; half++) {
            talus_world_def def = worlds_def(3, schemes[k], 5e-4 / (1 << half), GRAVITY);
            talus_world *w = worlds_create(&def);
            talus_body_def body = worlds_ball(w, 0.01, arm * sin(tilt), 0.0, arm * cos(tilt));
            body.mass = m;
            body.inertia[0] = body.inertia[1] = a, body.inertia[2] = c;
            body.orientation[0] = cos(0.5 * tilt), body.orientation[2] = sin(0.5 * tilt);
            const double axis[3] = {sin(tilt), 0.0, cos(tilt)};
            // turn z + (spin − turn cos) axis
            for (int e = 0; e < 3; e++)
                body.spin[e] = (spin - turn * cos(tilt)) * axis[e] + (e == 2 ? turn : 0.0);
            tl_cross3(body.spin, body.position, body.velocity);
            talus_joint_def joint = talus_joint_default();
            joint.a = worlds_add(w, &body);
            join(w, &joint);
            const talus_ledger l = advance(w, 2000 << half);
            const double *x = worlds_bodies(w).position;
            way[half] = fabs(atan2(x[1], x[0]) - turn); // after one second
            fall[half] = fabs(acos(x[2] / tl_norm3(x)) - tilt);
            assert_true(l.joint_error < 2e-6);
            talus_world_destroy(w);
        }
        has_order(k + 1, way);
        has_order(k + 1, fall);
    }
}

// ---- two as one --------------------------------------------------------------------------------

// Two welded balls turn as the body that they are, and the weld lasts.
static void weld(void **state) {
    (void)state;
    const double m = 1.3, j = 0.02, arm = 0.25;
    double error[3];
    for (int half = 0; half < 3; half++) {
        const double h = 4e-3 / (1 << half), spin[3] = {2.0, -1.0, 3.0};
        talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, h, 0.0);
        talus_world *w = worlds_create(&def), *one = worlds_create(&def);
        talus_body_def body = worlds_ball(w, 0.3, 0.0, 0.0, 0.0), whole;
        body.mass = m;
        for (int k = 0; k < 3; k++) body.inertia[k] = j;
        tl_copy3(spin, body.spin);
        for (int i = 0; i < 2; i++) {
            body.position[0] = i == 0 ? arm : -arm;
            tl_cross3(spin, body.position, body.velocity);
            body.velocity[1] += 0.5;
            worlds_add(w, &body);
        }
        talus_joint_def joint = talus_joint_default();
        joint.kind = TALUS_JOINT_WELD, joint.a = 0, joint.b = 1;
        join(w, &joint);
        whole = worlds_ball(one, 0.3, 0.0, 0.0, 0.0);
        whole.mass = 2.0 * m;
        whole.inertia[0] = 2.0 * j;
        whole.inertia[1] = whole.inertia[2] = 2.0 * (j + m * arm * arm);
        tl_copy3(spin, whole.spin);
        whole.velocity[1] = 0.5;
        worlds_add(one, &whole);
        const int n = 250 << half;
        const talus_ledger l = advance(w, n), expected = advance(one, n);
        assert_int_equal(l.contacts, 0); // joined balls overlap without touching
        assert_true(fabs(l.kinetic - expected.kinetic) < 1e-4 * expected.kinetic);
        double e[3] = {arm, 0.0, 0.0}, off[3];
        tl_rotate(worlds_bodies(one).orientation, e, e);
        tl_axpy3(e, 1.0, worlds_bodies(one).position, e);
        tl_sub3(worlds_bodies(w).position, e, off);
        error[half] = tl_norm3(off);
        talus_joint_view view;
        talus_world_joints(w, &view);
        assert_true(view.error[0] < 0.5 * 14.0 * 0.5 * h * h && view.angle[0] < 1e-12);
        talus_world_destroy(w);
        talus_world_destroy(one);
    }
    has_order(2, error);
}

// Two balls on a rod: its pull is the centripetal force, and the way round is known.
static void rod(void **state) {
    (void)state;
    const double m = 0.6, length = 0.8, rate = 2.5, h = 1e-3;
    for (int32_t dim = 2; dim <= 3; dim++) {
        talus_world_def def = worlds_def(dim, TALUS_SCHEME_MOREAU_JEAN, h, 0.0);
        talus_world *w = worlds_create(&def);
        talus_body_def body = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
        body.mass = m;
        talus_joint_def joint = talus_joint_default();
        joint.kind = TALUS_JOINT_DISTANCE;
        for (int i = 0; i < 2; i++) {
            body.position[0] = i == 0 ? 0.5 * length : -0.5 * length;
            body.velocity[1] = rate * body.position[0];
            (void)worlds_add(w, &body);
        }
        joint.b = 1;
        joint.anchor[0] = 0.5 * length, joint.anchor_b[0] = -0.5 * length;
        join(w, &joint);
        const talus_ledger l = advance(w, 1000);
        const double *x = worlds_bodies(w).position;
        talus_joint_view view;
        talus_world_joints(w, &view);
        const double pull = 0.5 * m * length * rate * rate * h;
        assert_true(fabs(tl_norm3(view.impulse) - pull) < 1e-4 * pull);
        assert_true(tl_dot3(view.impulse, x) < 0.0); // inwards
        assert_true(l.joint_error < length * rate * rate * h * h);
        assert_true(fabs(atan2(x[1], x[0]) - rate) <
                    rate * rate * rate * h * h); // after one second
        talus_joint_def kept;
        assert_true(talus_world_joint_at(w, 0, &kept) && kept.length == length);
        assert_false(talus_world_joint_at(w, 1, &kept));
        talus_world_destroy(w);
    }
}

// Bodies of any shape joined in a row and left alone: momentum and angular momentum stay.
static void momentum(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_CONVEX,
                                    TALUS_SCHEME_MOREAU_JEAN};
    const talus_joint_kind kinds[] = {TALUS_JOINT_BALL, TALUS_JOINT_HINGE, TALUS_JOINT_SLIDER,
                                      TALUS_JOINT_WELD, TALUS_JOINT_DISTANCE};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 3; k++) {
            talus_world_def def = worlds_def(dim, schemes[k], 2e-3, 0.0);
            talus_world *w = worlds_create(&def);
            for (int i = 0; i < 6; i++) {
                talus_body_def body = worlds_ball(w, 0.05, 0.3 * i, 0.1 * (i % 2), 0.0);
                body.mass = 0.5 + 0.3 * i;
                body.inertia[0] = 0.02 + 0.01 * i, body.inertia[1] = 0.03, body.inertia[2] = 0.04;
                body.velocity[1] = 0.5 * i - 1.0;
                body.spin[2] = 1.0 - i;
                if (dim == 3) body.velocity[2] = 0.3 * i, body.spin[0] = 0.4, body.spin[1] = -1.0;
                worlds_add(w, &body);
                talus_joint_def joint = talus_joint_default();
                joint.kind = kinds[(i + 4) % 5], joint.a = i, joint.b = i - 1;
                joint.anchor[0] = 0.3 * i - 0.15, joint.anchor[1] = 0.05;
                joint.anchor_b[0] = 0.3 * i - 0.3;
                if (joint.kind == TALUS_JOINT_SLIDER) joint.axis[0] = 1.0, joint.axis[1] = 0.5;
                if (joint.kind == TALUS_JOINT_HINGE && i == 2) joint.limit = 0.5, joint.speed = 1.0;
                if (i > 0) join(w, &joint);
            }
            // the first step is an impact: velocities did not fit the joints
            const talus_ledger first = advance(w, 1), last = advance(w, 500);
            assert_int_equal(last.joints, 5);
            assert_true(last.missed_steps == 0);
            for (int e = 0; e < 3; e++) {
                assert_true(fabs(first.momentum[e] - last.momentum[e]) < 1e-12);
                assert_true(fabs(first.angular[e] - last.angular[e]) < 1e-12);
            }
            talus_world_destroy(w);
        }
}

// ---- motors and stops --------------------------------------------------------------------------

// A wheel on a hinge against a constant torque: with strength to spare it gets to its speed as the
// difference of torques lets it and then bears the load; with too little it is driven back.
static void hinge_motor(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_CONVEX,
                                    TALUS_SCHEME_MOREAU_JEAN};
    const double h = 1e-3, inertia = 0.4, load = 3.0, speed = 2.0;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 3; k++) {
            talus_world_def def = worlds_def(dim, schemes[k], h, GRAVITY);
            def.tolerance = 1e-12;
            talus_world *w = worlds_create(&def);
            talus_body_def body = worlds_ball(w, 0.1, 1.0, 0.0, 0.0);
            for (int e = 0; e < 3; e++) body.inertia[e] = inertia;
            body.torque[2] = -load;
            talus_joint_def joint = talus_joint_default();
            joint.kind = TALUS_JOINT_HINGE, joint.a = worlds_add(w, &body), joint.anchor[0] = 1.0;
            joint.speed = speed, joint.limit = 5.0;
            join(w, &joint);
            talus_joint_view view;
            talus_world_joints(w, &view);
            talus_ledger l = advance(w, 200);
            // (5 − 3) / 0.4 = 5 rad/s²: half way to the speed
            assert_true(fabs(worlds_bodies(w).spin[2] - 1.0) < 1e-9);
            assert_true(fabs(view.drive[0] - 5.0 * h) < 1e-9 * h);
            l = advance(w, 300);
            assert_true(fabs(worlds_bodies(w).spin[2] - speed) < 1e-9);
            assert_true(fabs(view.drive[0] - load * h) < 1e-9 * h);
            assert_true(fabs(view.moment[2] - load * h) < 1e-9 * h);
            assert_true(fabs(l.work_joints - load * speed * h) < 1e-9 * h);
            const double angle = view.position[0];
            // a tenth too weak: 0.3 N m of the load are left
            WORLDS_OK(talus_world_set_motor(w, 0, speed, 0.9 * load));
            advance(w, 400);
            assert_true(fabs(worlds_bodies(w).spin[2] - (speed - 0.3 / 0.4 * 0.4)) < 1e-9);
            advance(w, 5000); // angles count beyond a turn
            const double t = 5.4, expected = angle + speed * t - 0.5 * (0.3 / 0.4) * t * t;
            assert_true(fabs(view.position[0] - expected) < 3.0 * h);
            // and a motor without limit does as it is told
            WORLDS_OK(talus_world_set_motor(w, 0, -1.0, INFINITY));
            l = advance(w, 2);
            assert_true(fabs(worlds_bodies(w).spin[2] + 1.0) < 1e-12);
            assert_true(fabs(l.work_joints + load * h) < 1e-9 * h);
            assert_int_equal(l.missed_steps, 0);
            talus_world_destroy(w);
        }
}

// A lift: force limit above and below the weight; a stop at the top; friction that holds.
static void slider_motor(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_CONVEX,
                                    TALUS_SCHEME_MOREAU_JEAN};
    const double h = 1e-3, m = 3.0, weight = m * GRAVITY;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 3; k++) {
            talus_world_def def = worlds_def(dim, schemes[k], h, GRAVITY);
            def.tolerance = 1e-12;
            talus_world *w = worlds_create(&def);
            talus_body_def body = worlds_ball(w, 0.1, 0.3, 0.0, 0.0);
            body.mass = m;
            talus_joint_def joint = talus_joint_default();
            joint.kind = TALUS_JOINT_SLIDER, joint.a = worlds_add(w, &body);
            joint.axis[dim - 1] = 4.0; // any length
            joint.speed = 0.5, joint.limit = 1.5 * weight, joint.high = 0.2;
            join(w, &joint);
            talus_joint_view view;
            talus_world_joints(w, &view);
            const double *v = worlds_bodies(w).velocity;
            talus_ledger l = advance(w, 50); // g/2 for 50 ms
            assert_true(fabs(v[dim - 1] - 0.5 * GRAVITY * 0.05) < 1e-9);
            l = advance(w, 100);
            assert_true(fabs(v[dim - 1] - 0.5) < 1e-9);
            assert_true(fabs(view.drive[0] - weight * h) < 1e-8 * h);
            assert_true(fabs(l.work_joints - 0.5 * weight * h) < 1e-8 * h);
            l = advance(w, 500); // to the top, where the motor pushes in vain
            assert_true(fabs(v[dim - 1]) < 1e-9);
            assert_true(fabs(view.position[0] - 0.2) < 1e-9);
            assert_true(fabs(view.drive[0] - 1.5 * weight * h) < 1e-8 * h);
            assert_true(fabs(view.impulse[dim - 1] - weight * h) < 1e-8 * h);
            WORLDS_OK(talus_world_set_motor(w, 0, 0.0, 1.001 * weight)); // a brake that holds
            l = advance(w, 200);
            assert_true(fabs(v[dim - 1]) < 1e-12 && fabs(view.position[0] - 0.2) < 1e-9);
            WORLDS_OK(talus_world_set_motor(w, 0, 0.0, 0.9 * weight)); // and one that slips
            l = advance(w, 200);
            assert_true(fabs(v[dim - 1] + 0.1 * GRAVITY * 0.2) < 1e-9);
            assert_true(l.work_joints < 0.0);
            assert_int_equal(l.missed_steps, 0);
            assert_true(l.joint_error < 1e-12);
            talus_world_destroy(w);
        }
}

// A pendulum that falls against a stop rests there with the torque of its weight.
static void hinge_stop(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 2; k++) {
            talus_world_def def = worlds_def(dim, schemes[k], 1e-3, GRAVITY);
            def.tolerance = 1e-11;
            talus_world *w = worlds_create(&def);
            talus_body_def body = worlds_ball(w, 0.1, ARM, 0.0, 0.0);
            body.mass = MASS;
            talus_joint_def joint = talus_joint_default();
            joint.kind = TALUS_JOINT_HINGE, joint.a = worlds_add(w, &body);
            if (dim == 3) joint.axis[1] = -1.0;
            joint.low = -0.5;
            join(w, &joint);
            talus_joint_view view;
            talus_world_joints(w, &view);
            double lost = 0.0, rest = 0.0, low = 0.0;
            for (int i = 0; i < 2000; i++) {
                const talus_ledger l = advance(w, 1);
                lost += l.loss_impact;
                rest += l.loss_numerical;
                low = fmin(low, view.position[0]);
                assert_true(l.loss_impact >= 0.0 && !l.missed);
            }
            const double *spin = worlds_bodies(w).spin;
            assert_true(tl_norm3(spin) < 1e-9);
            assert_true(fabs(view.position[0] + 0.5) < 1e-6 && low > -0.51);
            const double torque = MASS * GRAVITY * ARM * cos(0.5);
            assert_true(fabs(tl_norm3(view.moment) - torque * 1e-3) < 1e-6 * torque);
            // the energy of the fall is gone; the impact takes all of it, or, where it is spread
            // over two steps, at least half
            const double fall = MASS * GRAVITY * ARM * sin(0.5);
            assert_true(fabs(lost + rest - fall) < 1e-4 * fall && lost > 0.49 * fall);
            talus_world_destroy(w);
        }
}

// A ball on the floor that a carriage with a given motion holds: welded to it, or free to slide
// along the floor. No impulse can open or close its contact with the floor, so that there is none,
// nor friction; with a free ball on top of it there is one.
static void held_along_normal(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int c = 0; c < 16; c++) {
        const int32_t dim = c & 1 ? 3 : 2;
        const bool slides = c & 2, loaded = c & 4;
        talus_world_def def = worlds_def(dim, schemes[c / 8], 1e-3, GRAVITY);
        talus_world *w = worlds_create(&def);
        worlds_law(w, 1.0, 0.0, 0.0);
        worlds_plane(w, 0.0, dim == 2, dim == 3);
        talus_body_def carriage = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
        carriage.position[0] = -1.0, carriage.position[dim - 1] = 1.0;
        carriage.motion.kind = TALUS_MOTION_VELOCITY, carriage.motion.velocity[0] = 0.3;
        talus_body_def body = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
        body.position[dim - 1] = 0.1;
        body.velocity[0] = slides ? 0.5 : 0.3;
        talus_joint_def joint = talus_joint_default();
        joint.kind = slides ? TALUS_JOINT_SLIDER : TALUS_JOINT_WELD;
        joint.b = worlds_add(w, &carriage), joint.a = worlds_add(w, &body);
        join(w, &joint);
        body.position[dim - 1] = 0.3;
        if (loaded) worlds_add(w, &body);
        for (int k = 0; k < 20; k++) {
            const talus_ledger l = advance(w, 1);
            assert_int_equal(l.contacts, loaded);
            assert_false(l.missed);
        }
        const talus_body_view b = worlds_bodies(w);
        const double *x = b.position + 3 * (ptrdiff_t)joint.a;
        assert_true(fabs(x[dim - 1] - 0.1) < 1e-12);
        assert_true(loaded || fabs(x[0] - 0.02 * body.velocity[0]) < 1e-12);
        if (loaded) { // it rests on the other, as far as it has not rolled off
            double d[3];
            tl_sub3(x + 3, x, d);
            assert_true(fabs(tl_norm3(d) - 0.2) < 1e-4 && d[dim - 1] > 0.199);
        }
        talus_world_destroy(w);
    }
}

// A ball welded to a body that is driven downwards goes into the floor, for nothing can stop it:
// the ledger tells how deep.
static void driven_into_the_floor(void **state) {
    (void)state;
    const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    const double speed = 0.5, h = 1e-3;
    for (int c = 0; c < 4; c++) {
        const int32_t dim = c & 1 ? 3 : 2;
        talus_world_def def = worlds_def(dim, schemes[c / 2], h, GRAVITY);
        talus_world *w = worlds_create(&def);
        worlds_law(w, 1.0, 0.0, 0.0);
        worlds_plane(w, 0.0, dim == 2, dim == 3);
        talus_body_def press = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
        press.position[0] = -1.0, press.position[dim - 1] = 1.0;
        press.motion.kind = TALUS_MOTION_VELOCITY, press.motion.velocity[dim - 1] = -speed;
        talus_body_def body = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
        body.position[dim - 1] = 0.105; // 10 steps above the floor
        body.velocity[dim - 1] = -speed;
        talus_joint_def joint = talus_joint_default();
        joint.kind = TALUS_JOINT_WELD;
        joint.b = worlds_add(w, &press), joint.a = worlds_add(w, &body);
        join(w, &joint);
        for (int k = 1; k <= 40; k++) {
            const talus_ledger l = advance(w, 1);
            const double reached = worlds_bodies(w).position[3 * (ptrdiff_t)joint.a + dim - 1];
            assert_true(fabs(reached - (0.105 - speed * h * k)) < 1e-9);
            // what a step sees is where it begins, or half-way
            assert_true(l.penetration <= fmax(0.0, 0.1 - reached) + 1e-9);
            assert_true(l.penetration >= 0.1 - reached - 1.001 * speed * h);
        }
        talus_world_destroy(w);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(pendulum_orders),
        TEST(pendulum_integral),
        TEST(pendulum_period),
        TEST(double_pendulum),
        TEST(heavy_top),
        TEST(weld),
        TEST(rod),
        TEST(momentum),
        TEST(hinge_motor),
        TEST(slider_motor),
        TEST(hinge_stop),
        TEST(held_along_normal),
        TEST(driven_into_the_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
