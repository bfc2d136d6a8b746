// SPDX-License-Identifier: Apache-2.0
// The sets of the law: every projection against the inequality that defines it, on points of the
// set that are sampled without the library; Moreau's identity, scales and edges; Drucker-Prager.
#include "cone/drucker_prager.h"
#include "cone/law.h"
#include "support/cone_judge.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const int dims[] = {2, 3, 6};
static const double mus[] = {0.0, 1e-3, 0.3, 1.0, 10.0, INFINITY};
static const double yields[] = {0.0, 0.5, 4.0};
enum { DIMS = 3, MUS = 6, YIELDS = 3 };

// A point of T, in all its parts: interior, slope, foot, rim, apex.
static void sample(tl_rng *rng, int d, const tl_law *law, double scale, double *y) {
    const double where = tl_rng_unit(rng);
    judge_direction(rng, d, y);
    y[0] = where < 0.2 ? 0.0 : scale * pow(10.0, tl_rng_range(rng, -3.0, 1.0));
    const double limit = isinf(law->mu) ? scale * pow(10.0, tl_rng_range(rng, -2.0, 2.0))
                                        : law->yield + law->mu * y[0];
    const double share = where < 0.6 ? tl_rng_unit(rng) : 1.0 - 1e-15;
    for (int k = 1; k < d; k++) y[k] *= share * limit;
}

// A point of the space: anywhere, on the axis, in the tangent plane, near the boundary of T.
static void point(tl_rng *rng, int d, const tl_law *law, double scale, double *x) {
    const int kind = (int)(tl_rng_unit(rng) * 6.0);
    for (int k = 0; k < d; k++) x[k] = scale * tl_rng_normal(rng);
    if (kind == 1)
        for (int k = 1; k < d; k++) x[k] = 0.0;
    if (kind == 2) x[0] = 0.0;
    if (kind == 3) {
        sample(rng, d, law, scale, x);
        for (int k = 0; k < d; k++) x[k] += 1e-9 * scale * tl_rng_normal(rng);
    }
    if (kind == 4 && tl_rng_unit(rng) < 0.1)
        for (int k = 0; k < d; k++) x[k] = 0.0;
}

// <x − p, y − p> / size², in long double.
static double obtuse(int d, const double *x, const double *p, const double *y) {
    long double sum = 0, size = 0;
    for (int k = 0; k < d; k++) size = fmaxl(size, fmaxl(fabsl(x[k]), fabsl(y[k])));
    if (size == 0) return 0.0;
    for (int k = 0; k < d; k++)
        sum += ((long double)x[k] - p[k]) / size * (((long double)y[k] - p[k]) / size);
    return (double)sum;
}

static double distance(int d, const double *x, const double *y) {
    double gap[6] = {0};
    for (int k = 0; k < d; k++) gap[k] = x[k] - y[k];
    return verify_norm(d, gap);
}

static void check_projection(tl_rng *rng, int d, const tl_law *law, double scale) {
    double x[6] = {0}, p[6] = {0}, again[6] = {0}, y[6] = {0}, other[6] = {0}, q[6] = {0};
    point(rng, d, law, scale, x);
    BY_DIM(d, tl_project, law, x, p);
    const double size = fmax(verify_norm(d, x), 1e-300);
    // In the set, up to the rounding of |p_T|.
    assert_true(p[0] >= 0.0);
    if (!isinf(law->mu))
        assert_true(verify_norm(d - 1, p + 1) <= (law->yield + law->mu * p[0]) * (1.0 + 1e-15));
    for (int k = 0; k < 8; k++) { // nearer than any other point of the set
        sample(rng, d, law, scale, y);
        assert_true(obtuse(d, x, p, y) <= 3e-15);
    }
    BY_DIM(d, tl_project, law, p, again);
    assert_true(distance(d, p, again) <= 4e-16 * size);
    point(rng, d, law, scale, other);
    BY_DIM(d, tl_project, law, other, q);
    assert_true(distance(d, p, q) <=
                distance(d, x, other) + 1e-15 * (size + verify_norm(d, other)));
    memcpy(y, x, sizeof y); // in place
    BY_DIM(d, tl_project, law, y, y);
    assert_memory_equal(y, p, (size_t)d * sizeof *y);
}

static void projection(void **state) {
    (void)state;
    // The squares of the smallest lengths met, 1e-15 of the scale, must not underflow.
    static const double scales[] = {1.0, 1e-130, 1e-20, 1e20, 1e150};
    tl_rng rng = {101};
    for (int a = 0; a < DIMS; a++)
        for (int b = 0; b < MUS; b++)
            for (int c = 0; c < YIELDS; c++)
                for (int s = 0; s < 5; s++)
                    for (int k = 0; k < (s ? 200 : 2000); k++) {
                        const tl_law law = {mus[b], 0.0, yields[c] * scales[s]};
                        check_projection(&rng, dims[a], &law, scales[s]);
                    }
}

// Membership says the same as the inequalities, and P is the identity exactly there.
static void membership(void **state) {
    (void)state;
    tl_rng rng = {102};
    int inside = 0, outside = 0;
    for (int k = 0; k < 100000; k++) {
        const int d = dims[k % DIMS];
        const tl_law law = {mus[k / 3 % MUS], 0.0, yields[k / 18 % YIELDS]};
        double x[6] = {0}, p[6] = {0};
        point(&rng, d, &law, 1.0, x);
        BY_DIM(d, tl_project, &law, x, p);
        const bool in = tl_contains(d, &law, x);
        const double slack =
            isinf(law.mu) ? 1.0 : law.yield + law.mu * x[0] - verify_norm(d - 1, x + 1);
        const double margin = fmin(x[0], slack);
        if (margin > 1e-12) assert_true(in);
        if (margin < -1e-12) assert_false(in);
        if (in) assert_memory_equal(x, p, (size_t)d * sizeof *x);
        if (margin < -1e-12) assert_true(distance(d, x, p) > 0.0);
        inside += in;
        outside += !in;
    }
    assert_true(inside > 10000 && outside > 10000);
    const double bad[2] = {NAN, 0.0};
    assert_false(tl_contains(2, &(tl_law){1.0, 0.0, 0.0}, bad));
}

// x = P_K(x) − P_K*(−x), the parts orthogonal; P_K* lands in K* = { mu |x_T| <= x_N } and obeys
// the inequality there.
static void dual_cone(void **state) {
    (void)state;
    tl_rng rng = {103};
    for (int k = 0; k < 200000; k++) {
        const int d = dims[k % DIMS];
        const double mu = mus[k / 3 % MUS],
                     scale = k % 5 ? 1.0 : pow(10.0, tl_rng_range(&rng, -100, 100));
        const tl_law law = {mu, 0.0, 0.0};
        double x[6] = {0}, minus[6] = {0}, p[6] = {0}, dual[6] = {0}, y[6] = {0};
        point(&rng, d, &law, scale, x);
        for (int i = 0; i < d; i++) minus[i] = -x[i];
        BY_DIM(d, tl_project_cone, mu, x, p);
        BY_DIM(d, tl_project_dual, mu, minus, dual);
        const double size = verify_norm(d, x), eps = 1e-15 * fmax(size, 1e-300);
        double power = 0.0;
        for (int i = 0; i < d; i++) {
            assert_true(fabs(p[i] - dual[i] - x[i]) <= 2.0 * eps);
            power += p[i] / fmax(size, 1e-300) * (dual[i] / fmax(size, 1e-300));
        }
        assert_true(fabs(power) <= 4e-15);
        const double t = verify_norm(d - 1, dual + 1);
        if (isinf(mu))
            assert_true(t == 0.0 && dual[0] >= 0.0);
        else // in units of the cone's normal (1, −mu) / |…|
            assert_true(mu * t - dual[0] <= 4.0 * eps * sqrt(1.0 + mu * mu));
        for (int m = 0; m < 4; m++) { // a point of K*: tangent first, then normal at least mu |y_T|
            judge_direction(&rng, d, y);
            const double tangent = isinf(mu) ? 0.0 : scale * tl_rng_unit(&rng);
            for (int i = 1; i < d; i++) y[i] *= tangent;
            y[0] = (isinf(mu) ? 0.0 : mu * tangent) + (m % 2 ? scale * tl_rng_unit(&rng) : 0.0);
            assert_true(obtuse(d, minus, dual, y) <= 1e-14);
        }
    }
}

// Edges by value: apex, axis, rim, flat cone, half space.
static void edges(void **state) {
    (void)state;
    static const struct {
        double mu, yield, x[3], p[3];
    } cases[] = {
        {0.5, 0, {0, 0, 0}, {0, 0, 0}},
        {0.5, 0, {-1, 0, 0}, {0, 0, 0}},
        {0.5, 0, {2, 0, 0}, {2, 0, 0}},
        {0.5, 0, {-1, 2, 0}, {0, 0, 0}}, // edge of the polar
        {0.5, 0, {2, 0, 1}, {2, 0, 1}},
        {0.75, 0, {0, 0, 25}, {12, 0, 9}},
        {0.0, 0, {3, 4, 5}, {3, 0, 0}},
        {0.0, 0, {-3, 4, 5}, {0, 0, 0}},
        {0.0, 5, {3, 6, 8}, {3, 3, 4}},
        {0.0, 5, {-3, 6, 8}, {0, 3, 4}},
        {0.5, 5, {-1, 3, 4}, {0, 3, 4}},
        {0.5, 5, {-100, 6, 8}, {0, 3, 4}},
        {0.75, 5, {0, 18, 24}, {12, 8.4, 11.2}},
        {INFINITY, 0, {-2, 7, 8}, {0, 7, 8}},
        {INFINITY, 0, {2, 7, 8}, {2, 7, 8}},
        {INFINITY, 5, {-2, 7, 8}, {0, 7, 8}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const tl_law law = {cases[k].mu, 0.0, cases[k].yield};
        double p[3];
        tl_project(3, &law, cases[k].x, p);
        for (int i = 0; i < 3; i++) assert_true(fabs(p[i] - cases[k].p[i]) <= 1e-15 * 25.0);
    }
    const double zero[3] = {-0.0, -0.0, 0.0};
    double p[3];
    tl_project_dual(3, 0.0, (const double[]){-3, 4, 5}, p); // K* of the ray: the half space
    assert_true(p[0] == 0.0 && p[1] == 4.0 && p[2] == 5.0);
    assert_true(tl_contains(3, &(tl_law){0.0, 0.0, 0.0}, zero));
}

static void shift_and_status(void **state) {
    (void)state;
    const tl_law law = {0.5, 0.2, 0.0}, rough = {INFINITY, 0.0, 0.0};
    double u[3] = {1.0, 3.0, -4.0}, out[3];
    tl_shift(3, &law, u, out);
    assert_true(fabs(out[0] - 2.5) <= 1e-15 && out[1] == 3.0 && out[2] == -4.0);
    tl_shift(3, &rough, u, out);
    assert_memory_equal(u, out, sizeof u);
    tl_shift(3, &law, u, u);
    assert_true(fabs(u[0] - 2.5) <= 1e-15);
    const double zero[3] = {0}, one[3] = {1.0, 0.0, 0.0};
    assert_int_equal(tl_status(3, one, zero, 0.0, 0.0), TL_OPEN);
    assert_int_equal(tl_status(3, zero, one, 0.0, 0.0), TL_STICK);
    assert_int_equal(tl_status(3, one, one, 0.0, 0.0), TL_SLIP);
    assert_int_equal(tl_status(3, one, one, 2.0, 0.0), TL_STICK);
    assert_int_equal(tl_status(3, one, one, 2.0, 2.0), TL_OPEN);
}

// Values known to six digits, and the identity that ties each fit to the Mohr-Coulomb hexagon:
// J2^½ = mu^ p at the stress states where the two surfaces are meant to touch.
static void drucker_prager(void **state) {
    (void)state;
    static const struct {
        double degrees, plane, outer, inner, middle;
    } known[] = {{20, .342020, .445749, .335541, .354514},
                 {30, .500000, .692820, .480384, .494872},
                 {40, .642788, .944625, .602627, .611258}};
    for (int k = 0; k < 3; k++) {
        const double phi = known[k].degrees * acos(-1.0) / 180.0, s = sin(phi);
        assert_true(fabs(tl_dp_plane(phi) - known[k].plane) <= 6e-7);
        assert_true(fabs(tl_dp_circumscribed(phi) - known[k].outer) <= 6e-7);
        assert_true(fabs(tl_dp_inscribed(phi) - known[k].inner) <= 6e-7);
        assert_true(fabs(tl_dp_middle(phi) - known[k].middle) <= 6e-7);
        // Compression positive: (a − c) = (a + c) s at failure, b between them.
        const double a = 1.0 + s, c = 1.0 - s;
        double touch[2], least = INFINITY;
        for (int corner = 0; corner < 2; corner++) { // triaxial compression b = c, extension b = a
            const double b = corner ? a : c, p = (a + b + c) / 3.0;
            const double j2 = 0.5 * ((a - p) * (a - p) + (b - p) * (b - p) + (c - p) * (c - p));
            touch[corner] = sqrt(j2) / p;
        }
        for (int step = 0; step <= 100000; step++) { // all b: the smallest circle
            const double b = c + (a - c) * step / 100000.0, p = (a + b + c) / 3.0;
            const double j2 = 0.5 * ((a - p) * (a - p) + (b - p) * (b - p) + (c - p) * (c - p));
            least = fmin(least, sqrt(j2) / p);
        }
        assert_true(fabs(touch[0] - tl_dp_circumscribed(phi)) <= 1e-12);
        assert_true(fabs(touch[1] - tl_dp_middle(phi)) <= 1e-12);
        assert_true(fabs(least - tl_dp_inscribed(phi)) <= 1e-8);
        assert_true(fabs((a - c) / (a + c) - tl_dp_plane(phi)) <= 1e-12); // J2^½ / p in 2D
    }
    for (int d = 2; d <= 3; d++) { // the block's parameters: mu / mu^ = (2/d)^½, tau / tau^ inverse
        assert_true(fabs(tl_dp_mu(d, 0.7) - 0.7 * sqrt(2.0 / d)) <= 1e-15);
        assert_true(fabs(tl_dp_tension(d, 0.7) - 0.7 * sqrt(d / 2.0)) <= 1e-15);
        assert_true(fabs(tl_dp_mu(d, 0.6) * tl_dp_tension(d, 0.5) - 0.3) <= 1e-15);
    }
}

// What the yield surface of a stress tensor is in the coordinates of a block: with
// λ = tau_c ι − σ, J2^½ <= mu^ (p + tau^_c) + sigma_S  <=>  |λ_T| <= mu λ_N + sigma_S.
static void drucker_prager_block(void **state) {
    (void)state;
    tl_rng rng = {104};
    for (int k = 0; k < 10000; k++) {
        const int d = 2 + k % 2, size = d == 2 ? 3 : 6;
        const double mu_hat = tl_rng_unit(&rng), tau_hat = tl_rng_unit(&rng),
                     yield = tl_rng_unit(&rng);
        double a[3][3] = {{0}}, trace = 0.0, j2 = 0.0, x[6] = {0};
        for (int i = 0; i < d; i++)
            for (int j = i; j < d; j++) a[i][j] = a[j][i] = tl_rng_normal(&rng);
        for (int i = 0; i < d; i++) trace += a[i][i];
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) {
                const double dev = a[i][j] - (i == j ? trace / d : 0.0);
                j2 += 0.5 * dev * dev;
            }
        // The orthonormal chart of <s,t> = s:t/2; only |dev| matters, put it in one entry.
        x[0] = tl_dp_tension(d, tau_hat) - trace / sqrt(2.0 * d);
        x[1] = sqrt(j2);
        const tl_law law = {tl_dp_mu(d, mu_hat), 0.0, yield};
        const double slack = yield + mu_hat * (tau_hat - trace / d) - sqrt(j2);
        const double margin = fmin(slack, tau_hat - trace / d);
        if (fabs(margin) > 1e-12) assert_int_equal(tl_contains(size, &law, x), margin > 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection),
        cmocka_unit_test(membership),
        cmocka_unit_test(dual_cone),
        cmocka_unit_test(edges),
        cmocka_unit_test(shift_and_status),
        cmocka_unit_test(drucker_prager),
        cmocka_unit_test(drucker_prager_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
