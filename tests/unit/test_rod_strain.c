// SPDX-License-Identifier: Apache-2.0
// Bending and twist at a node: exact values on a circle and a helix, first derivatives by central
// differences, second derivatives by second differences along straight lines, along which frames
// are carried by the least rotation.
#include "base/rng.h"
#include "base/vec3.h"
#include "rod/rod_impl.h"
#include "rod/strain.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct node {
    double e[3], f[3], d_e[3], d_f[3], twist;
} node;

static void near_to(double is, double should_be, double within) {
    if (!(fabs(is - should_be) <= within))
        fail_msg("%.17g is not %.17g within %.3g", is, should_be, within);
}

static double uniform(tl_rng *r) { return tl_rng_range(r, -1.0, 1.0); }

static void unit_of(const double a[3], double out[3]) { tl_scale3(1.0 / tl_norm3(a), a, out); }

// The node after the step s along p = (e, ϑ_e, f, ϑ_f).
static tl_bend moved(const node *n, const double p[8], double s) {
    const double *edge[2] = {n->e, n->f}, *axis[2] = {n->d_e, n->d_f};
    double next[2][3], d[2][3];
    for (int k = 0; k < 2; k++) {
        double t0[3], t1[3], side[3], q = s * p[4 * k + 3];
        tl_axpy3(edge[k], s, p + 4 * k, next[k]);
        unit_of(edge[k], t0);
        unit_of(next[k], t1);
        tl_rod_transport(t0, t1, axis[k], d[k]);
        tl_cross3(t1, d[k], side);
        for (int c = 0; c < 3; c++) d[k][c] = cos(q) * d[k][c] + sin(q) * side[c];
    }
    tl_bend b;
    tl_bend_set(next[0], next[1], d[0], d[1], n->twist, &b);
    return b;
}

static node random_node(tl_rng *r, double bend) {
    node n = {0};
    double t[3];
    for (int k = 0; k < 3; k++) n.e[k] = uniform(r);
    for (int k = 0; k < 3; k++) n.f[k] = 0.7 * n.e[k] + bend * uniform(r);
    unit_of(n.e, t);
    tl_rod_across(t, n.d_e);
    unit_of(n.f, t);
    for (int k = 0; k < 3; k++) n.d_f[k] = n.d_e[k] + 0.4 * uniform(r);
    assert_true(tl_rod_make_across(t, n.d_f));
    tl_bend b;
    tl_bend_set(n.e, n.f, n.d_e, n.d_f, 0.0, &b);
    n.twist = b.strain[2];
    return n;
}

static void test_gradient(void **state) {
    (void)state;
    tl_rng r = {11};
    for (int trial = 0; trial < 200; trial++) {
        const node n = random_node(&r, 0.2 + 0.3 * (trial % 3));
        const double h = 1e-5;
        double p[8], g[3][8] = {{0}};
        const tl_bend at = moved(&n, (double[8]){0}, 0.0);
        for (int k = 0; k < 8; k++) p[k] = uniform(&r);
        tl_bend_gradient(&at, g);
        const tl_bend plus = moved(&n, p, h), minus = moved(&n, p, -h);
        for (int c = 0; c < 3; c++) {
            const double difference = (plus.strain[c] - minus.strain[c]) / (2.0 * h);
            double along = 0.0, size = 1.0;
            for (int k = 0; k < 8; k++) along += g[c][k] * p[k], size += fabs(g[c][k]);
            // h² times third derivatives, which grow like the cube of 1/length
            near_to(along, difference, 1e-7 * size * size * size);
        }
    }
}

static void test_hessian(void **state) {
    (void)state;
    tl_rng r = {12};
    for (int trial = 0; trial < 200; trial++) {
        const node n = random_node(&r, 0.2 + 0.3 * (trial % 3));
        const double h = 2e-4;
        const tl_bend at = moved(&n, (double[8]){0}, 0.0);
        double p[8], g[3][8];
        for (int k = 0; k < 8; k++) p[k] = uniform(&r);
        tl_bend_gradient(&at, g);
        for (int c = 0; c < 3; c++) {
            double weight[3] = {0}, matrix[8][8] = {{0}}, along = 0.0, size = 1.0;
            weight[c] = 1.0;
            tl_bend_hessian(&at, weight, matrix);
            for (int i = 0; i < 8; i++) {
                size += fabs(g[c][i]);
                for (int j = 0; j < 8; j++) {
                    along += p[i] * matrix[i][j] * p[j];
                    near_to(matrix[i][j], matrix[j][i], 1e-12 * (1.0 + fabs(matrix[i][j])));
                }
            }
            double five[5]; // fourth order
            for (int k = 0; k < 5; k++) five[k] = moved(&n, p, (k - 2) * h).strain[c];
            const double second =
                (-five[0] + 16.0 * five[1] - 30.0 * five[2] + 16.0 * five[3] - five[4]) /
                (12.0 * h * h);
            near_to(along, second, 2e-7 * size * size * size * size);
        }
    }
}

// Edges of a polygon on a circle, frames without twist: κ = 2 tan(φ/2) about one axis.
static void test_circle(void **state) {
    (void)state;
    for (int k = 1; k < 12; k++) {
        const double phi = 0.25 * k;
        const double e[3] = {1.0, 0.0, 0.0}, f[3] = {0.5 * cos(phi), 0.5 * sin(phi), 0.0};
        const double up[3] = {0.0, 0.0, 1.0};
        tl_bend b;
        tl_bend_set(e, f, up, up, 0.0, &b);
        near_to(b.strain[0], 0.0, 1e-15);
        near_to(b.strain[1], -2.0 * tan(0.5 * phi), 1e-13 * (1.0 + tan(0.5 * phi)));
        near_to(b.strain[2], 0.0, 1e-15);
    }
}

// The angle is followed over full turns.
static void test_turns(void **state) {
    (void)state;
    const double e[3] = {0.0, 0.0, 1.0}, x[3] = {1.0, 0.0, 0.0};
    double twist = 0.0;
    for (int k = 0; k <= 100; k++) {
        const double angle = 0.3 * k, d[3] = {cos(angle), sin(angle), 0.0};
        tl_bend b;
        tl_bend_set(e, e, x, d, twist, &b);
        twist = b.strain[2];
        near_to(twist, angle, 1e-13 * (1.0 + angle));
    }
}

// Least rotation: it takes t to s, keeps lengths and angles, and leaves t × s alone.
static void test_transport(void **state) {
    (void)state;
    tl_rng r = {13};
    for (int trial = 0; trial < 100; trial++) {
        double t[3], s[3], a[3], out[3], axis[3], kept[3], q[4], back[3];
        for (int k = 0; k < 3; k++) t[k] = uniform(&r), s[k] = uniform(&r);
        unit_of(t, t);
        unit_of(s, s);
        tl_rod_across(t, a);
        tl_rod_transport(t, s, a, out);
        near_to(tl_norm3(out), 1.0, 1e-10);
        near_to(tl_dot3(out, s), 0.0, 1e-10);
        tl_cross3(t, s, axis);
        tl_rod_transport(t, s, axis, kept);
        for (int k = 0; k < 3; k++) near_to(kept[k], axis[k], 1e-12);
        tl_rod_quat(a, t, q);
        const double first[3] = {1.0, 0.0, 0.0}, third[3] = {0.0, 0.0, 1.0};
        tl_rotate(q, first, back);
        for (int k = 0; k < 3; k++) near_to(back[k], a[k], 1e-14);
        tl_rotate(q, third, back);
        for (int k = 0; k < 3; k++) near_to(back[k], t[k], 1e-14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),  cmocka_unit_test(test_hessian),
        cmocka_unit_test(test_circle),    cmocka_unit_test(test_turns),
        cmocka_unit_test(test_transport),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
