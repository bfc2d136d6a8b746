// SPDX-License-Identifier: Apache-2.0
#include "cone_judge.h"
#include "verify.h"
#include <math.h>

#if defined(__x86_64__)
typedef __float128 quad_real;
#else
typedef long double quad_real; // 128 bits already on the other 64-bit machines
#endif

static quad_real quad_sqrt(quad_real x) {
    if (!(x > 0)) return 0;
    quad_real y = (quad_real)sqrtl((long double)x);
    for (int k = 0; k < 2; k++) y = (y + x / y) / 2;
    return y;
}

// r̂ = (mu r_N, r_T), û = ξ (u_N + (mu − zeta)|u_T|, mu u_T)
static void quad_hat(int d, const tl_law *law, double xi, const double *u, const double *r,
                     quad_real *rh, quad_real *uh) {
    const quad_real mu = law->mu, zeta = law->zeta;
    quad_real slide = 0;
    for (int k = 1; k < d; k++) slide += (quad_real)u[k] * u[k];
    rh[0] = mu * r[0];
    uh[0] = xi * (u[0] + (mu - zeta) * quad_sqrt(slide));
    for (int k = 1; k < d; k++) {
        rh[k] = r[k];
        uh[k] = xi * mu * u[k];
    }
}

static void quad_fb(int d, const quad_real *x, const quad_real *y, double *f) {
    quad_real square[6] = {0}, length = 0; // x∘x + y∘y
    for (int k = 0; k < d; k++) square[0] += x[k] * x[k] + y[k] * y[k];
    for (int k = 1; k < d; k++) {
        square[k] = 2 * (x[0] * x[k] + y[0] * y[k]);
        length += square[k] * square[k];
    }
    length = quad_sqrt(length);
    const quad_real low = quad_sqrt(square[0] - length), high = quad_sqrt(square[0] + length);
    f[0] = (double)((low + high) / 2 - x[0] - y[0]);
    for (int k = 1; k < d; k++) {
        const quad_real z = length > 0 ? (high - low) / 2 * (square[k] / length) : 0;
        f[k] = (double)(z - x[k] - y[k]);
    }
}

void judge_fb(int d, const tl_law *law, double xi, const double *u, const double *r, double *f) {
    quad_real x[6] = {0}, y[6] = {0};
    quad_hat(d, law, xi, u, r, x, y);
    quad_fb(d, x, y, f);
}

// The same in long double. The small eigenvalue λ₁ = |x|² + |y|² − 2|w| is taken from
// λ₁ = (x_N − x_T·e)² + |x_⊥|² + (y_N − y_T·e)² + |y_⊥|², e = w/|w|, ⊥ the part of the tangent
// normal to e: nothing cancels there that is not small itself.
static long double long_fb(int d, const long double *x, const long double *y) {
    long double w[6] = {0}, length = 0, size = 0, xe = 0, ye = 0, low, total = 0;
    for (int k = 1; k < d; k++) {
        w[k] = x[0] * x[k] + y[0] * y[k];
        length += w[k] * w[k];
    }
    length = sqrtl(length);
    for (int k = 1; k < d; k++) {
        w[k] = length > 0 ? w[k] / length : (long double)(k == 1);
        xe += x[k] * w[k];
        ye += y[k] * w[k];
    }
    low = (x[0] - xe) * (x[0] - xe) + (y[0] - ye) * (y[0] - ye);
    for (int k = 1; k < d; k++) {
        const long double a = x[k] - xe * w[k], b = y[k] - ye * w[k];
        low += a * a + b * b;
    }
    for (int k = 0; k < d; k++) size += x[k] * x[k] + y[k] * y[k];
    const long double high = sqrtl(size + 2 * length);
    low = sqrtl(low);
    for (int k = 0; k < d; k++) {
        const long double z = k == 0 ? (low + high) / 2 : (high - low) / 2 * w[k];
        total += (z - x[k] - y[k]) * (z - x[k] - y[k]);
    }
    return sqrtl(total);
}

double judge_local_error(int d, const tl_local *p, const double *r, bool quad) {
    const tl_law *law = &p->law;
    long double u[6] = {0}, trace = 0, b = 0, size = 0, error = 0, slide = 0;
    double x[6] = {0}, z[6] = {0}, ud[6] = {0};
    for (int i = 0; i < d; i++) {
        u[i] = p->b[i];
        for (int j = 0; j < d; j++) u[i] += (long double)p->w[i * d + j] * r[j];
        trace += p->w[i * d + i];
        b += (long double)p->b[i] * p->b[i];
        size += (long double)r[i] * r[i];
        if (i > 0) slide += u[i] * u[i];
        ud[i] = (double)u[i];
    }
    const long double xi = d / trace, scale = xi * sqrtl(b) + sqrtl(size);
    slide = sqrtl(slide);
    const long double shift = isinf(law->mu) ? 0 : ((long double)law->mu - law->zeta) * slide;
    if (law->yield > 0.0) {
        for (int k = 0; k < d; k++) x[k] = (double)(r[k] - xi * (u[k] + (k == 0 ? shift : 0)));
        verify_project(d, law->mu, law->yield, x, z);
        for (int k = 0; k < d; k++) error += ((long double)z[k] - r[k]) * (z[k] - r[k]);
        error = sqrtl(error);
    } else if (law->mu == 0.0 || isinf(law->mu)) {
        const long double a = xi * u[0], c = r[0], normal = sqrtl(a * a + c * c) - a - c;
        error = normal * normal;
        for (int k = 1; k < d; k++) {
            const long double t = isinf(law->mu) ? xi * u[k] : r[k];
            error += t * t;
        }
        error = sqrtl(error);
    } else if (quad) {
        judge_fb(d, law, (double)xi, ud, r, x);
        error = verify_norm(d, x);
    } else {
        long double rh[6] = {0}, uh[6] = {0};
        for (int k = 0; k < d; k++) {
            rh[k] = k == 0 ? (long double)law->mu * r[0] : r[k];
            uh[k] = xi * (k == 0 ? u[0] + shift : law->mu * u[k]);
        }
        error = long_fb(d, rh, uh);
    }
    return (double)(scale > 0 ? error / scale : error);
}

double judge_cases(int d, const tl_law *law, const double *u, const double *r, double u_size,
                   double r_size) {
    const bool rough = isinf(law->mu);
    const double slide = verify_norm(d - 1, u + 1), un = u[0] - (rough ? 0.0 : law->zeta * slide);
    const double opening = un / u_size, normal = r[0] / r_size;
    double worst = fmax(0.0, -normal);             // pull
    worst = fmax(worst, -opening);                 // approach
    worst = fmax(worst, fmin(opening, normal));    // push while opening
    if (rough) return fmax(worst, slide / u_size); // slip without limit
    const double limit = law->yield + law->mu * r[0];
    worst = fmax(worst, (verify_norm(d - 1, r + 1) - limit) / r_size); // outside the set
    if (slide > 0.0) { // sliding, unless r_T is at the limit and against it
        double gap[6] = {0};
        for (int k = 1; k < d; k++) gap[k] = r[k] + limit * u[k] / slide;
        worst = fmax(worst, fmin(slide / u_size, verify_norm(d - 1, gap + 1) / r_size));
    }
    return worst;
}

void judge_direction(tl_rng *rng, int d, double *e) {
    double size = 0.0;
    e[0] = 0.0;
    while (!(size > 1e-3)) {
        for (int k = 1; k < d; k++) e[k] = tl_rng_normal(rng);
        size = verify_norm(d - 1, e + 1);
    }
    for (int k = 1; k < d; k++) e[k] /= size;
}
