// SPDX-License-Identifier: Apache-2.0
// The law as equations: every Jacobian against finite differences, the elements chosen at kinks
// against the limits around them, all forms shown to vanish together, and the digits of the
// Fischer-Burmeister function against quadruple precision.
#include "cone/nonsmooth.h"
#include "support/cone_judge.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef enum form { AC_FORCE, AC_PROJECTED, DS, FB, FORMS } form;

static const int dims[] = {2, 3, 6};
static const double mus[] = {0.0, 0.05, 0.3, 1.0, 10.0, INFINITY};
enum { DIMS = 3, MUS = 6 };

static void evaluate(form kind, int d, const tl_law *law, double xi, const double *u,
                     const double *r, double *f, double *fu, double *fr) {
    if (kind == AC_FORCE) BY_DIM(d, tl_ac, law, xi, TL_RADIUS_FORCE, u, r, f, fu, fr);
    if (kind == AC_PROJECTED) BY_DIM(d, tl_ac, law, xi, TL_RADIUS_PROJECTED, u, r, f, fu, fr);
    if (kind == DS) BY_DIM(d, tl_ds, law, xi, u, r, f, fu, fr);
    if (kind == FB) BY_DIM(d, tl_fb, law, xi, u, r, f, fu, fr);
}

static tl_law random_law(tl_rng *rng, int k) {
    tl_law law = {.mu = mus[k % MUS]};
    const double share = (double)(k / MUS % 3) / 2.0; // zeta = 0, mu/2, mu
    law.zeta = isinf(law.mu) ? 0.0 : share * law.mu;
    law.yield = k / (3 * MUS) % 2 ? tl_rng_range(rng, 0.1, 2.0) : 0.0;
    return law;
}

// ---- derivatives -------------------------------------------------------------------------------

static double projection_kink(int d, const tl_law *law, const double *x) {
    const double t = verify_norm(d - 1, x + 1);
    if (isinf(law->mu)) return fabs(x[0]);
    const double slope = fabs(t - law->yield - law->mu * x[0]);
    const double back = fabs(x[0] + law->mu * (t - law->yield)); // slope from rim or apex
    return fmin(fmin(slope, back), x[0] < 0.0 ? fabs(t - law->yield) : 1.0);
}

// How far (u, r) is from where the function has a kink, roughly; written from the definitions.
static double kink(form kind, int d, const tl_law *law, double xi, const double *u,
                   const double *r) {
    const double slide = verify_norm(d - 1, u + 1), zeta = isinf(law->mu) ? 0.0 : law->zeta;
    const double shift = isinf(law->mu) ? 0.0 : law->mu - law->zeta;
    double x[6] = {0}, near = slide;
    for (int k = 0; k < d; k++) x[k] = r[k] - xi * u[k];
    if (kind == DS) {
        x[0] -= xi * shift * slide;
        return fmin(near, projection_kink(d, law, x));
    }
    if (kind == FB) {
        if (law->mu == 0.0 || isinf(law->mu)) return hypot(u[0], r[0]);
        double f[6] = {0}, rn = law->mu * r[0], un = xi * (u[0] + shift * slide);
        judge_fb(d, law, xi, u, r, f); // z = F + r̂ + û; kink where z_N = |z_T|
        double t = 0.0;
        for (int k = 1; k < d; k++) {
            const double z = f[k] + r[k] + xi * law->mu * u[k];
            t += z * z;
        }
        const double z = f[0] + rn + un;
        return fmin(near, (z - sqrt(t)) / (z + sqrt(t)));
    }
    const double normal = x[0] + xi * zeta * slide, t = verify_norm(d - 1, x + 1);
    const double n = kind == AC_FORCE ? r[0] : normal;
    near = fmin(near, fabs(normal));
    near = fmin(near, fabs(r[0]));
    if (!isinf(law->mu)) near = fmin(near, fabs(t - law->yield - law->mu * fmax(0.0, n)));
    return near;
}

static void jacobians(void **state) {
    (void)state;
    const double h = 1e-4;
    tl_rng rng = {201};
    int tried[FORMS] = {0};
    for (int k = 0; k < 60000; k++) {
        const int d = dims[k % DIMS];
        const tl_law law = random_law(&rng, k / DIMS);
        const double xi = pow(10.0, tl_rng_range(&rng, -1.0, 1.0));
        double u[6] = {0}, r[6] = {0};
        for (int i = 0; i < d; i++) {
            u[i] = tl_rng_normal(&rng) / xi;
            r[i] = tl_rng_normal(&rng);
        }
        if (k % 2) r[0] = fabs(r[0]);
        for (form kind = 0; kind < FORMS; kind++) {
            if (kind == FB && law.yield > 0.0) continue;
            if (kink(kind, d, &law, xi, u, r) < 0.1) continue;
            tried[kind]++;
            double f[6] = {0}, plain[6] = {0}, fu[36] = {0}, fr[36] = {0};
            evaluate(kind, d, &law, xi, u, r, f, fu, fr);
            evaluate(kind, d, &law, xi, u, r, plain, 0, 0);
            assert_memory_equal(f, plain, (size_t)d * sizeof *f);
            for (int side = 0; side < 2; side++) {
                double *x = side ? r : u, *jacobian = side ? fr : fu;
                const double unit = side ? 1.0 : 1.0 / xi; // of x; F has the unit of r
                for (int j = 0; j < d; j++) {
                    const double keep = x[j];
                    double at[4][6] = {{0}}; // x ± h, x ± 2h: fourth order
                    for (int m = 0; m < 4; m++) {
                        x[j] = keep + (m < 2 ? 1.0 : 2.0) * (m % 2 ? -h : h) * unit;
                        evaluate(kind, d, &law, xi, u, r, at[m], 0, 0);
                    }
                    x[j] = keep;
                    for (int i = 0; i < d; i++) {
                        const double slope =
                            (8.0 * (at[0][i] - at[1][i]) - (at[2][i] - at[3][i])) / (12.0 * h);
                        const double exact = jacobian[i * d + j] * unit;
                        const double size = 1.0 + fabs(slope) + (isinf(law.mu) ? 0.0 : law.mu);
                        assert_true(fabs(slope - exact) <= 1e-7 * size);
                    }
                }
            }
        }
    }
    for (form kind = 0; kind < FORMS; kind++) assert_true(tried[kind] > 5000);
}

static void projection_jacobian(void **state) {
    (void)state;
    const double h = 1e-4;
    tl_rng rng = {202};
    int tried = 0;
    for (int k = 0; k < 60000; k++) {
        const int d = dims[k % DIMS];
        const tl_law law = random_law(&rng, k / DIMS);
        double x[6] = {0}, dp[36] = {0};
        for (int i = 0; i < d; i++) x[i] = 2.0 * tl_rng_normal(&rng);
        if (projection_kink(d, &law, x) < 0.1 || verify_norm(d - 1, x + 1) < 0.1) continue;
        tried++;
        BY_DIM(d, tl_project_jacobian, &law, x, dp);
        for (int j = 0; j < d; j++) {
            const double keep = x[j];
            double at[4][6] = {{0}};
            for (int m = 0; m < 4; m++) { // the projection of the judge, not of the library
                x[j] = keep + (m < 2 ? 1.0 : 2.0) * (m % 2 ? -h : h);
                verify_project(d, law.mu, law.yield, x, at[m]);
            }
            x[j] = keep;
            for (int i = 0; i < d; i++) {
                const double slope =
                    (8.0 * (at[0][i] - at[1][i]) - (at[2][i] - at[3][i])) / (12.0 * h);
                assert_true(fabs(slope - dp[i * d + j]) <= 1e-7);
                assert_true(fabs(dp[i * d + j] - dp[j * d + i]) <= 1e-15); // a gradient map
            }
        }
    }
    assert_true(tried > 20000);
}

// ---- kinks -------------------------------------------------------------------------------------

static double jacobian_gap(int d, const double *a, const double *b) {
    double worst = 0.0;
    for (int k = 0; k < d * d; k++) worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

// On the slope of T, and where the slope's shadow begins, the element is the limit from one side.
static void kink_projection(void **state) {
    (void)state;
    tl_rng rng = {203};
    for (int k = 0; k < 3000; k++) {
        const int d = dims[k % DIMS];
        tl_law law = {.mu = mus[1 + k / 3 % 4], .yield = k % 2 ? 0.7 : 0.0};
        double x[6] = {0}, e[6] = {0}, at[36] = {0}, one[36] = {0}, two[36] = {0};
        judge_direction(&rng, d, e);
        const int where = k / 24 % 3;
        if (where == 2) law.yield = 0.7;
        const double n = tl_rng_range(&rng, 0.5, 2.0);
        // 0: on the slope; 1: on the line through the rim (or apex) along the slope's normal;
        // 2: below the rim. `out` points across the kink.
        x[0] = where == 0 ? n : -law.mu * n;
        const double t = where == 0 ? law.yield + law.mu * n : law.yield + (where == 1 ? n : 0.0);
        const double out_n = where == 0 ? -law.mu : where == 1 ? 1.0 : 0.0;
        const double out_t = where == 1 ? law.mu : 1.0;
        if (where == 2) x[0] = -n;
        for (int i = 1; i < d; i++) x[i] = t * e[i];
        BY_DIM(d, tl_project_jacobian, &law, x, at);
        for (int side = 0; side < 2; side++) {
            const double h = side ? -1e-8 : 1e-8;
            double y[6] = {0};
            y[0] = x[0] + h * out_n;
            for (int i = 1; i < d; i++) y[i] = x[i] + h * out_t * e[i];
            BY_DIM(d, tl_project_jacobian, &law, y, side ? one : two);
        }
        assert_true(jacobian_gap(d, one, two) > 1e-3); // it is a kink
        assert_true(fmin(jacobian_gap(d, at, one), jacobian_gap(d, at, two)) <= 1e-6);
    }
}

// At u_T = 0 the shift |u_T| has the derivatives e, |e| <= 1. The element is the mean of the limits
// along e and −e, which lies in their hull.
static void kink_no_slide(void **state) {
    (void)state;
    tl_rng rng = {204};
    int tried[FORMS] = {0};
    for (int k = 0; k < 20000; k++) {
        const int d = dims[k % DIMS];
        tl_law law = {.mu = mus[1 + k / 3 % 4]};
        law.zeta = k % 2 ? 0.4 * law.mu : 0.0;
        double u[6] = {0}, r[6] = {0}, e[6] = {0};
        u[0] = tl_rng_normal(&rng);
        for (int i = 0; i < d; i++) r[i] = tl_rng_normal(&rng);
        judge_direction(&rng, d, e);
        for (form kind = 0; kind < FORMS; kind++) {
            double v[6] = {0}, f[6] = {0}, au[36] = {0}, ar[36] = {0};
            double mean_u[36] = {0}, mean_r[36] = {0};
            for (int i = 0; i < d; i++) v[i] = u[i] + 0.3 * e[i];
            if (kink(kind, d, &law, 1.0, v, r) < 0.2) continue; // no second kink nearby
            for (int i = 0; i < d; i++) v[i] = u[i] + 1e-7 * e[i];
            v[0] = u[0];
            if (kink(kind, d, &law, 1.0, v, r) < 0.9e-7) continue;
            evaluate(kind, d, &law, 1.0, u, r, f, au, ar);
            bool smooth = true;
            for (int side = 0; side < 2; side++) {
                double fu[36] = {0}, fr[36] = {0};
                for (int i = 1; i < d; i++) v[i] = (side ? -1e-8 : 1e-8) * e[i];
                evaluate(kind, d, &law, 1.0, v, r, f, fu, fr);
                smooth = smooth && jacobian_gap(d, fr, ar) < 1e-4;
                for (int m = 0; m < d * d; m++) {
                    mean_u[m] += 0.5 * fu[m];
                    mean_r[m] += 0.5 * fr[m];
                }
            }
            if (!smooth) continue; // on another kink as well
            tried[kind]++;
            assert_true(jacobian_gap(d, au, mean_u) <= 1e-5 * (1.0 + law.mu * law.mu));
            assert_true(jacobian_gap(d, ar, mean_r) <= 1e-5 * (1.0 + law.mu * law.mu));
        }
    }
    for (form kind = 0; kind < FORMS; kind++) assert_true(tried[kind] > 500);
}

static void selfdual_slopes(int d, const double *x, const double *y, double *fx, double *fy) {
    tl_fb_point at = {.s1 = 0.0};
    double f[6];
    for (int k = 0; k < d; k++) {
        at.x[k] = x[k];
        at.y[k] = y[k];
    }
    BY_DIM(d, tl_fb_selfdual, &at, f);
    BY_DIM(d, tl_fb_selfdual_slopes, &at, fx, fy);
}

// z on the boundary of the cone: x = a (1, e), y = b (1, e). The element is the limit along
// (a, b) (1, −e). At x = y = 0 it is the mean of opposite limits, −1.
static void kink_fischer_burmeister(void **state) {
    (void)state;
    tl_rng rng = {205};
    for (int k = 0; k < 3000; k++) {
        const int d = dims[k % DIMS];
        double e[6] = {0}, x[6] = {0}, y[6] = {0};
        double ax[36] = {0}, ay[36] = {0}, lx[36] = {0}, ly[36] = {0};
        judge_direction(&rng, d, e);
        const double a = k % 5 ? tl_rng_unit(&rng) : 0.0, b = k % 7 ? tl_rng_unit(&rng) : 0.0;
        if (a + b < 0.1) continue;
        e[0] = 1.0;
        for (int i = 0; i < d; i++) {
            x[i] = a * e[i];
            y[i] = b * e[i];
        }
        selfdual_slopes(d, x, y, ax, ay);
        for (int i = 0; i < d; i++) {
            x[i] += 1e-5 * a * (i == 0 ? 1.0 : -e[i]);
            y[i] += 1e-5 * b * (i == 0 ? 1.0 : -e[i]);
        }
        selfdual_slopes(d, x, y, lx, ly);
        assert_true(jacobian_gap(d, ax, lx) <= 1e-8);
        assert_true(jacobian_gap(d, ay, ly) <= 1e-8);
    }
    double zero[6] = {0}, ax[36] = {0}, ay[36] = {0};
    selfdual_slopes(3, zero, zero, ax, ay);
    for (int i = 0; i < 9; i++) assert_true(ax[i] == -(double)(i % 4 == 0) && ay[i] == ax[i]);
    double x[6] = {0}, y[6] = {0}, sum[36] = {0}, jx[36] = {0}, jy[36] = {0};
    for (int side = 0; side < 2; side++) {
        const double s = side ? -1.0 : 1.0, v[6] = {0.3, -0.7, 0.2, -0.1, 0.5, 0.4};
        for (int i = 0; i < 3; i++) {
            x[i] = s * v[i];
            y[i] = s * v[i + 3];
        }
        selfdual_slopes(3, x, y, jx, jy);
        for (int i = 0; i < 9; i++) sum[i] += 0.5 * jx[i];
    }
    assert_true(jacobian_gap(3, sum, ax) <= 1e-15);
}

// ---- one law, five faces -----------------------------------------------------------------------

// A pair that obeys the law exactly, built from its cases.
static void obey(tl_rng *rng, int d, const tl_law *law, int which, double *u, double *r) {
    const bool rough = isinf(law->mu);
    double e[6] = {0};
    judge_direction(rng, d, e);
    const double speed = rough || which == 1 || which == 3 ? 0.0 : tl_rng_range(rng, 0.2, 2.0);
    const bool pressed = which == 1 || which == 2;
    r[0] = pressed ? tl_rng_range(rng, 0.2, 2.0) : 0.0;
    u[0] = (rough ? 0.0 : law->zeta * speed) + (pressed ? 0.0 : tl_rng_range(rng, 0.2, 2.0));
    // 0: open, moving   1: stick   2: slide   3: open, straight up
    const double limit = rough ? 2.0 : law->yield + law->mu * r[0];
    const double share = speed > 0.0 ? 1.0 : tl_rng_range(rng, 0.1, 0.9);
    for (int k = 1; k < d; k++) {
        u[k] = speed * e[k];
        r[k] = -share * limit * e[k];
    }
}

// Size of every form at (u, r); −1 where a form does not apply.
static void faces(int d, const tl_law *law, double xi, const double *u, const double *r,
                  double size[FORMS]) {
    for (form kind = 0; kind < FORMS; kind++) {
        double f[6] = {0};
        evaluate(kind, d, law, xi, u, r, f, 0, 0);
        size[kind] = kind == FB && law->yield > 0.0 ? -1.0 : verify_norm(d, f);
    }
}

static void vanish_together(void **state) {
    (void)state;
    tl_rng rng = {206};
    int broken = 0, gaps = 0;
    for (int k = 0; k < 60000; k++) {
        const int d = dims[k % DIMS];
        const tl_law law = random_law(&rng, k / DIMS);
        const double xi = pow(10.0, tl_rng_range(&rng, -3.0, 3.0));
        const double steep = isinf(law.mu) ? 1.0 : 1.0 + law.mu;
        double u[6] = {0}, r[6] = {0}, size[FORMS];
        obey(&rng, d, &law, k / 7 % 4, u, r);
        assert_true(judge_cases(d, &law, u, r, 1.0, 1.0) <= 1e-14 * steep);
        faces(d, &law, xi, u, r, size);
        for (form kind = 0; kind < FORMS; kind++)
            assert_true(size[kind] <= 1e-14 * steep * steep * (1.0 + xi));
        if (!isinf(law.mu)) {
            double gap = 0.0;
            gap = d == 2   ? tl_bipotential_gap(2, &law, u, r)
                  : d == 3 ? tl_bipotential_gap(3, &law, u, r)
                           : tl_bipotential_gap(6, &law, u, r);
            assert_true(fabs(gap) <= 1e-14 * steep * 10.0);
        }
        // Disturbed, the pair breaks the law by judge_cases, and every form says so, for any ξ.
        const double amount = pow(10.0, tl_rng_range(&rng, -3.0, 0.0));
        double *x = k % 2 ? u : r;
        for (int i = 0; i < d; i++) x[i] += amount * tl_rng_normal(&rng);
        const double wrong = judge_cases(d, &law, u, r, 1.0, 1.0);
        faces(d, &law, xi, u, r, size);
        for (form kind = 0; kind < FORMS; kind++) {
            if (size[kind] < 0.0) continue;
            // The functions measure in the unit of r, the smaller of a gap in r and ξ times one in
            // u; curvature and the slope of the cone cost a factor.
            if (wrong > 1e-3)
                assert_true(size[kind] > 1e-3 * wrong * fmin(1.0, xi) / (steep * steep));
            else if (wrong <= 1e-14)
                assert_true(size[kind] <= 1e-13 * steep * steep * (1.0 + xi));
        }
        broken += wrong > 1e-3;
        // The bipotential's gap is a measure on admissible pairs: make it one.
        if (isinf(law.mu)) continue;
        double p[6] = {0}, gap = 0.0;
        verify_project(d, law.mu, law.yield, r, p);
        u[0] = fmax(u[0], law.zeta * verify_norm(d - 1, u + 1));
        gap = d == 2   ? tl_bipotential_gap(2, &law, u, p)
              : d == 3 ? tl_bipotential_gap(3, &law, u, p)
                       : tl_bipotential_gap(6, &law, u, p);
        const double left = judge_cases(d, &law, u, p, 1.0, 1.0);
        assert_true(gap >= -1e-14 * steep * steep * 10.0);
        if (left > 1e-2) {
            gaps++;
            assert_true(gap > 1e-2 * left * left / steep);
        }
    }
    assert_true(broken > 30000 && gaps > 3000);
}

// ---- digits ------------------------------------------------------------------------------------

// r on the boundary of the cone and u tiny, or the other way round, both on it, both anywhere: the
// textbook eigenvalues |x|² + |y|² ∓ 2|w| would leave errors of 1e-8 here.
static void digits(void **state) {
    (void)state;
    tl_rng rng = {207};
    double naive_worst = 0.0;
    for (int k = 0; k < 60000; k++) {
        const int d = dims[k % DIMS];
        tl_law law = {.mu = mus[1 + k / 3 % 4]};
        law.zeta = k / 12 % 2 ? law.mu : 0.0;
        const double tiny = pow(10.0, tl_rng_range(&rng, -18.0, 0.0));
        double u[6] = {0}, r[6] = {0}, e[6] = {0}, f[6] = {0}, g[6] = {0};
        judge_direction(&rng, d, e);
        const int kind = k / 5 % 3;
        r[0] = tl_rng_unit(&rng);
        for (int i = 1; i < d; i++) {
            r[i] = -law.mu * r[0] * e[i];
            u[i] = e[i];
        }
        u[0] = law.zeta;
        if (kind < 2) {
            double *small = kind ? r : u;
            for (int i = 0; i < d; i++) small[i] = tiny * (k % 2 ? tl_rng_normal(&rng) : small[i]);
        }
        evaluate(FB, d, &law, 1.0, u, r, f, 0, 0);
        judge_fb(d, &law, 1.0, u, r, g);
        double size = 0.0, gap = 0.0;
        for (int i = 0; i < d; i++) {
            const double x = i == 0 ? law.mu * r[0] : r[i];
            const double y =
                i == 0 ? u[0] + (law.mu - law.zeta) * verify_norm(d - 1, u + 1) : law.mu * u[i];
            size += x * x + y * y;
            gap = fmax(gap, fabs(f[i] - g[i]));
        }
        assert_true(gap <= 1e-14 * sqrt(size));
        if (d == 3) { // what the textbook formula would have given
            const double x[3] = {law.mu * r[0], r[1], r[2]},
                         n = u[0] + (law.mu - law.zeta) * hypot(u[1], u[2]);
            const double y[3] = {n, law.mu * u[1], law.mu * u[2]};
            const double w = hypot(x[0] * x[1] + y[0] * y[1], x[0] * x[2] + y[0] * y[2]);
            const double low = sqrt(fmax(0.0, size - 2.0 * w)), high = sqrt(size + 2.0 * w);
            naive_worst =
                fmax(naive_worst, fabs(0.5 * (low + high) - x[0] - y[0] - g[0]) / sqrt(size));
        }
    }
    assert_true(naive_worst > 1e-10); // the test would see the loss
}

// The scalar function, used where mu = 0 or inf, and its derivatives; no cancellation for a, b > 0.
static void scalar(void **state) {
    (void)state;
    tl_rng rng = {208};
    for (int k = 0; k < 20000; k++) {
        const double a = (k % 2 ? 1.0 : -1.0) * pow(10.0, tl_rng_range(&rng, -12.0, 0.0));
        const double b = (k / 2 % 2 ? 1.0 : -1.0) * pow(10.0, tl_rng_range(&rng, -12.0, 0.0));
        double fa = 0.0, fb = 0.0;
        const double f = tl_fb_scalar(a, b, &fa, &fb);
        const long double z = sqrtl((long double)a * a + (long double)b * b);
        const long double exact = a > 0.0 && b > 0.0 ? -2.0L * a * b / (z + a + b) : z - a - b;
        const long double size = a > 0.0 && b > 0.0 ? fabsl(exact) : z;
        assert_true(fabsl(f - exact) <= 1e-15L * size);
        assert_true(fabsl(fa - (a / z - 1.0L)) <= 1e-15L && fabsl(fb - (b / z - 1.0L)) <= 1e-15L);
    }
    double fa = 0.0, fb = 0.0;
    assert_true(tl_fb_scalar(0.0, 0.0, &fa, &fb) == 0.0 && fa == -1.0 && fb == -1.0);
    assert_true(tl_fb_scalar(3.0, 4.0, 0, 0) == -2.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobians),
        cmocka_unit_test(projection_jacobian),
        cmocka_unit_test(kink_projection),
        cmocka_unit_test(kink_no_slide),
        cmocka_unit_test(kink_fischer_burmeister),
        cmocka_unit_test(vanish_together),
        cmocka_unit_test(digits),
        cmocka_unit_test(scalar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
