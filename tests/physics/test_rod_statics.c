// SPDX-License-Identifier: Apache-2.0
// Rods at rest against beams and elasticas: closed forms for small loads, and for large ones the
// differential equations of a rod that does not stretch, solved here.
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rods.h"

// Of errors with n, 2 n, 4 n segments: second order.
static void has_second_order(const char *what, const double error[3]) {
    for (int k = 0; k < 2; k++) {
        const double order = log2(fabs(error[k] / error[k + 1]));
        if (!(order > 1.8 && order < 2.3))
            fail_msg("%s: order %g of errors %g, %g", what, order, error[k], error[k + 1]);
    }
}

// ---- small loads -------------------------------------------------------------------------------

// A clamped rod that bends little under its weight: q L⁴ / 8 EI at the end.
static double sag_of_tip(int32_t segments) {
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 10.0, 1e-4);
    talus_world *w = worlds_create(&def);
    talus_rod_def rod = talus_rod_default();
    double x[3 * RODS_MOST];
    rods_line(segments + 1, (double[3]){0}, (double[3]){0.2, 0.0, 0.0}, x);
    rod.nodes = segments + 1;
    rod.position = x;
    rod.young = 1e9;
    rod.start = TALUS_END_CLAMPED;
    rods_add(w, &rod);
    rods_settle(w, 1e-16, 200);
    const double sag = -talus_world_rods(w).position[3 * segments + 2];
    const double exact = rods_line_mass(&rod) * 1e-4 * pow(0.2, 4) / (8.0 * rods_bending(&rod));
    talus_world_destroy(w);
    return sag / exact - 1.0;
}

static void weight_of_cantilever(void **state) {
    (void)state;
    const double error[3] = {sag_of_tip(8), sag_of_tip(16), sag_of_tip(32)};
    has_second_order("cantilever", error);
    rods_near("cantilever", error[2], 0.0, 1e-3);
}

// The end of a clamped rod is moved aside by d: the force is P = 3 EI d / L³, and ½ P d is in it.
static void force_on_cantilever(void **state) {
    (void)state;
    enum { SEGMENTS = 40 };
    const double length = 0.3, aside = 1e-6;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 0.5, 0.0);
    talus_world *w = worlds_create(&def);
    talus_rod_def rod = talus_rod_default();
    double x[3 * (SEGMENTS + 1)], work = 0.0;
    rods_line(SEGMENTS + 1, (double[3]){0}, (double[3]){0.0, 0.0, length}, x);
    talus_body_def hand = worlds_ball(w, 0.01, 0.0, 0.0, length + 0.02);
    hand.motion = (talus_motion_def){
        .kind = TALUS_MOTION_VELOCITY, .velocity = {aside, 0.0, 0.0}, .start = 0.0, .stop = 1.0};
    rod.nodes = SEGMENTS + 1;
    rod.position = x;
    rod.start = TALUS_END_CLAMPED;
    rod.end = TALUS_END_PINNED;
    rod.end_body = worlds_add(w, &hand);
    rods_add(w, &rod);
    talus_ledger ledger = {0};
    for (int k = 0; k < 200; k++) {
        ledger = worlds_step(w);
        work += ledger.work_obstacles;
    }
    const double half = 1.5 * rods_bending(&rod) * aside * aside / pow(length, 3);
    rods_near("energy / ½ P d", ledger.elastic / half, 1.0, 1e-3);
    rods_near("position", talus_world_rods(w).position[3 * SEGMENTS], aside, 1e-18);
    // what the hand has done is stored, or was taken by the implicit steps
    assert_true(work >= ledger.elastic);
    talus_world_destroy(w);
}

// A straight rod twisted by 3 turns: GJ φ² / 2 L, and the turns are counted.
static void torsion(void **state) {
    (void)state;
    enum { NODES = 21 };
    const double length = 0.5, turns = 3.0;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 0.01, 0.0);
    talus_world *w = worlds_create(&def);
    talus_rod_def rod = talus_rod_default();
    double x[3 * NODES];
    rods_line(NODES, (double[3]){0}, (double[3]){0.0, 0.0, length}, x);
    talus_body_def hand = worlds_ball(w, 0.01, 0.0, 0.0, length + 0.02);
    hand.motion = (talus_motion_def){.kind = TALUS_MOTION_ROTATION,
                                     .axis = {0.0, 0.0, 1.0},
                                     .rate = 2.0 * RODS_PI * turns,
                                     .start = 0.0,
                                     .stop = 1.0};
    rod.nodes = NODES;
    rod.position = x;
    rod.start = rod.end = TALUS_END_CLAMPED;
    rod.end_body = worlds_add(w, &hand);
    rod.shear = 2e6;
    rod.damping = 0.1;
    rods_add(w, &rod);
    talus_ledger ledger = {0};
    for (int k = 0; k < 300; k++) ledger = worlds_step(w);
    const double twist = rod.shear * 0.5 * RODS_PI * pow(rod.radius, 4);
    const double angle = 2.0 * RODS_PI * turns;
    rods_near("torsion", ledger.elastic / (0.5 * twist * angle * angle / length), 1.0, 1e-9);
    talus_world_destroy(w);
}

// ---- large loads -------------------------------------------------------------------------------

// A rod that does not stretch, from a clamp down to a free end, in the plane: with the angle a
// below the horizontal and the weight q per length, EI a'' = −q (L − s) cos a, a(0) = 0, a'(L) = 0.
static double elastica_end(double bend, double weight, double length, double slope, double *x,
                           double *z) {
    enum { STEPS = 1000 };
    const double h = length / STEPS;
    double a = 0.0, da = slope;
    *x = *z = 0.0;
    for (int k = 0; k < STEPS; k++) {
        double ka[4], kd[4], kx[4], kz[4];
        const double part[] = {0.0, 0.5, 0.5, 1.0};
        for (int s = 0; s < 4; s++) {
            const double as = a + (s ? part[s] * h * ka[s - 1] : 0.0);
            const double ds = da + (s ? part[s] * h * kd[s - 1] : 0.0);
            ka[s] = ds;
            kd[s] = -weight / bend * (length - h * (k + part[s])) * cos(as);
            kx[s] = cos(as);
            kz[s] = -sin(as);
        }
        a += h / 6.0 * (ka[0] + 2.0 * ka[1] + 2.0 * ka[2] + ka[3]);
        da += h / 6.0 * (kd[0] + 2.0 * kd[1] + 2.0 * kd[2] + kd[3]);
        *x += h / 6.0 * (kx[0] + 2.0 * kx[1] + 2.0 * kx[2] + kx[3]);
        *z += h / 6.0 * (kz[0] + 2.0 * kz[1] + 2.0 * kz[2] + kz[3]);
    }
    return da;
}

static void elastica_tip(double bend, double weight, double length, double *x, double *z) {
    // Slopes at the clamp: the least one with which the end is not bent upwards, since larger ones
    // may wind it up.
    const double part = 0.005 * weight * length * length / bend;
    double low = 0.0, high = part;
    while (elastica_end(bend, weight, length, high, x, z) < 0.0) low = high, high += part;
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        if (elastica_end(bend, weight, length, middle, x, z) > 0.0)
            high = middle;
        else
            low = middle;
    }
}

static double heavy_error(int32_t segments, double *stretch) {
    const double length = 0.3;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 0.05, 9.81);
    talus_world *w = worlds_create(&def);
    talus_rod_def rod = talus_rod_default();
    double x[3 * RODS_MOST], tip[2];
    rods_line(segments + 1, (double[3]){0}, (double[3]){length, 0.0, 0.0}, x);
    rod.nodes = segments + 1;
    rod.position = x;
    rod.radius = 5e-4;
    rod.young = 4e8;
    rod.damping = 0.05;
    rod.start = TALUS_END_CLAMPED;
    rods_add(w, &rod);
    rods_settle(w, 1e-9, 3000);
    const talus_rod_view view = talus_world_rods(w);
    const double *end = view.position + 3 * segments;
    elastica_tip(rods_bending(&rod), 9.81 * rods_line_mass(&rod), length, &tip[0], &tip[1]);
    assert_true(tip[1] < -0.5 * length); // it hangs
    *stretch = view.strain[0];
    rods_near("in the plane", end[1], 0.0, 1e-12);
    const double error = hypot(end[0] - tip[0], end[2] - tip[1]);
    talus_world_destroy(w);
    return error / length;
}

static void heavy_elastica(void **state) {
    (void)state;
    double error[3], stretch;
    for (int k = 0; k < 3; k++) error[k] = heavy_error(32 << k, &stretch);
    assert_true(stretch < 5e-5); // it is much softer in bending
    has_second_order("elastica", error);
    rods_near("elastica", error[2], 0.0, 1e-4);
}

// ---- a curl ------------------------------------------------------------------------------------

// A naturally curled rod hangs from a clamp under its weight. In space, with the frame R (columns
// d1, d2, t), the moment m and the force n = weight of what is below:
//     x' = t,   R' = R [u]×,   u = u° + C⁻¹ Rᵀ m,   m' = −t × n,   m(L) = 0.
typedef struct curl {
    double natural[3], stiffness[3], weight, length;
} curl;

typedef struct curl_state {
    double x[3], r[9], m[3]; // r: d1, d2, t
} curl_state;

static void curl_rate(const curl *c, double s, const curl_state *y, curl_state *out) {
    const double down[3] = {0.0, 0.0, -c->weight * (c->length - s)}; // pulls the part above
    double u[3], turn[3] = {0}, moment[3];
    for (int k = 0; k < 3; k++) {
        u[k] = c->natural[k] + tl_dot3(y->r + 3 * k, y->m) / c->stiffness[k];
        tl_axpy3(turn, u[k], y->r + 3 * k, turn);
    }
    for (int k = 0; k < 3; k++) tl_cross3(turn, y->r + 3 * k, out->r + 3 * k);
    tl_copy3(y->r + 6, out->x);
    tl_cross3(y->r + 6, down, moment);
    tl_scale3(-1.0, moment, out->m);
}

static curl_state curl_run(const curl *c, const double m0[3]) {
    enum { STEPS = 1500 };
    curl_state y = {.r = {1, 0, 0, 0, -1, 0, 0, 0, -1}};
    tl_copy3(m0, y.m);
    const double h = c->length / STEPS, part[] = {0.0, 0.5, 0.5, 1.0};
    for (int k = 0; k < STEPS; k++) {
        curl_state rate[4], z = y;
        for (int s = 0; s < 4; s++) {
            for (int e = 0; s && e < 15; e++)
                ((double *)&z)[e] = ((double *)&y)[e] + part[s] * h * ((double *)&rate[s - 1])[e];
            curl_rate(c, h * (k + part[s]), &z, &rate[s]);
        }
        for (int e = 0; e < 15; e++)
            ((double *)&y)[e] += h / 6.0 *
                                 (((double *)&rate[0])[e] + 2.0 * ((double *)&rate[1])[e] +
                                  2.0 * ((double *)&rate[2])[e] + ((double *)&rate[3])[e]);
    }
    return y;
}

// Newton's method for m(L) = 0, the load being put on in steps.
static void curl_solve(curl c, double tip[3]) {
    const double full = c.weight;
    double m0[3] = {0};
    for (int load = 1; load <= 20; load++) {
        c.weight = full * load / 20.0;
        for (int k = 0; k < 8; k++) {
            const curl_state at = curl_run(&c, m0);
            const double small = 1e-6 * c.stiffness[0];
            double a[3][4];
            for (int e = 0; e < 3; e++) {
                double m[3];
                tl_copy3(m0, m);
                m[e] += small;
                const curl_state next = curl_run(&c, m);
                for (int i = 0; i < 3; i++) a[i][e] = (next.m[i] - at.m[i]) / small;
            }
            for (int i = 0; i < 3; i++) a[i][3] = -at.m[i];
            for (int p = 0; p < 3; p++) // Gauss, the matrix being near the identity
                for (int i = 0; i < 3; i++) {
                    const double f = i == p ? 0.0 : a[i][p] / a[p][p];
                    for (int j = 0; j < 4; j++) a[i][j] -= f * a[p][j];
                }
            for (int i = 0; i < 3; i++) m0[i] += a[i][3] / a[i][i];
            tl_copy3(at.x, tip);
        }
        const curl_state end = curl_run(&c, m0);
        assert_true(tl_norm3(end.m) < 1e-9 * c.stiffness[0]);
        tl_copy3(end.x, tip);
    }
}

static double curl_error(int32_t segments) {
    const double length = 0.12, k = 60.0, twist = 12.0;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 0.01, 9.81);
    talus_world *w = worlds_create(&def);
    talus_rod_def rod = talus_rod_default();
    double natural[3 * RODS_MOST], curvature[3 * RODS_MOST], tip[3], d[3];
    // The curl itself, by the same equations without loads.
    curl c = {.natural = {0.0, k, twist}, .length = length};
    for (int e = 0; e < 3; e++) c.stiffness[e] = 1.0;
    for (int32_t i = 0; i <= segments; i++) {
        c.length = length * i / segments;
        const curl_state at = curl_run(&c, (double[3]){0});
        tl_copy3(at.x, natural + 3 * (size_t)i);
    }
    for (int32_t i = 0; i < segments - 1; i++) {
        curvature[3 * i] = 0.0;
        curvature[3 * i + 1] = k;
        curvature[3 * i + 2] = twist;
    }
    rod.nodes = segments + 1;
    rod.position = rod.natural = natural;
    rod.curvature = curvature;
    rod.radius = 2e-4;
    rod.young = 2e8;
    rod.shear = 0.4 * rod.young;
    rod.damping = 0.1;
    rod.start = TALUS_END_CLAMPED;
    rod.self_contact = false;
    rods_add(w, &rod);
    rods_settle(w, 1e-10, 4000);
    const talus_rod_view view = talus_world_rods(w);
    c.length = length;
    c.weight = 9.81 * rods_line_mass(&rod);
    c.stiffness[0] = c.stiffness[1] = rods_bending(&rod);
    c.stiffness[2] = rod.shear * 0.5 * RODS_PI * pow(rod.radius, 4);
    curl_solve(c, tip);
    double free_tip[3];
    tl_copy3(natural + 3 * (size_t)segments, free_tip);
    tl_sub3(tip, free_tip, d);
    assert_true(tl_norm3(d) > 0.1 * length); // the weight draws it out
    tl_sub3(view.position + 3 * (size_t)segments, tip, d);
    talus_world_destroy(w);
    return tl_norm3(d) / length;
}

static void hanging_curl(void **state) {
    (void)state;
    const double error[3] = {curl_error(30), curl_error(60), curl_error(120)};
    has_second_order("curl", error);
    rods_near("curl", error[2], 0.0, 5e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(weight_of_cantilever, set_up, tear_down),
        cmocka_unit_test_setup_teardown(force_on_cantilever, set_up, tear_down),
        cmocka_unit_test_setup_teardown(torsion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(heavy_elastica, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hanging_curl, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
