// SPDX-License-Identifier: Apache-2.0
// The law as a system of equations F(u, r) = 0, three ways, each with one element of its
// generalised Jacobian (F_u, F_r: d × d, row major) [docs/theory/law.md]:
//     Alart-Curnier     F = ( max(0, r_N − ξ(u_N − zeta|u_T|)), P_B(r_T − ξ u_T) ) − r
//     De Saxcé          F = P_T( r − ξ (u + g(u)) ) − r
//     Fischer-Burmeister on the self-dual cone, F = z − r̂ − û, z = (r̂∘r̂ + û∘û)^½ with
//                       r̂ = (mu r_N, r_T), û = ξ (u_N + (mu − zeta)|u_T|, mu u_T)
// ξ > 0 has the unit of r/u. Fischer-Burmeister knows cones only: it ignores the yield.
#ifndef TL_CONE_NONSMOOTH_H
#define TL_CONE_NONSMOOTH_H
#include "cone/law.h"

/// Which normal force sets the radius of the Alart-Curnier disc: r_N, or its projection
/// max(0, r_N − ξ u_N). The roots are the same; the iterations are not.
typedef enum tl_ac_radius { TL_RADIUS_FORCE, TL_RADIUS_PROJECTED } tl_ac_radius;

TL_INLINE void tl_clear(int count, double *x) {
    for (int k = 0; k < count; k++) x[k] = 0.0;
}

// ---- Alart-Curnier -----------------------------------------------------------------------------

TL_INLINE void tl_ac(int d, const tl_law *law, double xi, tl_ac_radius radius, const double *u,
                     const double *r, double *f, double *fu, double *fr) {
    const double ut = tl_norm_t(d, u);
    const double tau_n = r[0] - xi * (u[0] - (isinf(law->mu) ? 0.0 : law->zeta * ut));
    const double n = tau_n > 0.0 ? tau_n : 0.0;
    const double rn = radius == TL_RADIUS_PROJECTED ? n : (r[0] > 0.0 ? r[0] : 0.0);
    double y[TL_MAX_DIM];
    for (int k = 1; k < d; k++) y[k] = r[k] - xi * u[k];
    const double t = tl_norm_t(d, y);
    const double size = isinf(law->mu) ? INFINITY : law->yield + law->mu * rn;
    const double factor = t <= size ? 1.0 : size / t;
    f[0] = n - r[0];
    for (int k = 1; k < d; k++) f[k] = factor * y[k] - r[k];
    if (!fu) return;

    tl_clear(d * d, fu);
    tl_clear(d * d, fr);
    // Row of the normal: d max(0, tau_n).
    double n_u[TL_MAX_DIM] = {0.0}, n_r = 0.0;
    if (tau_n > 0.0) {
        n_u[0] = -xi;
        n_r = 1.0;
        if (ut > 0.0 && !isinf(law->mu))
            for (int k = 1; k < d; k++) n_u[k] = xi * law->zeta * u[k] / ut;
    }
    for (int k = 0; k < d; k++) fu[k] = n_u[k];
    fr[0] = n_r;
    // Rows of the tangent: y itself inside the disc, size(n) y/|y| outside.
    const bool inside = t <= size;
    for (int i = 1; i < d; i++)
        for (int j = 1; j < d; j++) {
            const double p =
                inside ? (double)(i == j) : factor * ((double)(i == j) - y[i] * y[j] / (t * t));
            fu[i * d + j] = -xi * p;
            fr[i * d + j] = p;
        }
    if (!inside) {
        for (int i = 1; i < d; i++) {
            const double slope = law->mu * y[i] / t;
            if (radius == TL_RADIUS_PROJECTED) {
                for (int k = 0; k < d; k++) fu[i * d + k] += slope * n_u[k];
                fr[i * d] += slope * n_r;
            } else if (r[0] > 0.0) {
                fr[i * d] += slope;
            }
        }
    }
    for (int k = 0; k < d; k++) fr[k * d + k] -= 1.0;
}

// ---- De Saxcé ----------------------------------------------------------------------------------

/// dP_T(x), d × d.
TL_INLINE void tl_project_jacobian(int d, const tl_law *law, const double *x, double *dp) {
    const double n = x[0], t = tl_norm_t(d, x), mu = law->mu, yield = law->yield;
    tl_clear(d * d, dp);
    if (isinf(mu) || (n < 0.0 && t <= yield) || (n >= 0.0 && t <= yield + mu * n)) {
        for (int k = 1; k < d; k++) dp[k * d + k] = 1.0;
        dp[0] = n >= 0.0 ? 1.0 : 0.0;
        return;
    }
    const double c = 1.0 / (1.0 + mu * mu);
    const double slope = (n + mu * (t - yield)) * c; // normal part of the projection if positive
    const double on = slope > 0.0 ? 1.0 : 0.0;
    const double factor = (yield + mu * on * slope) / t;
    dp[0] = on * c;
    for (int i = 1; i < d; i++) {
        const double ei = x[i] / t;
        dp[i] = dp[i * d] = on * c * mu * ei;
        for (int j = 1; j < d; j++)
            dp[i * d + j] =
                on * c * mu * mu * ei * (x[j] / t) + factor * ((double)(i == j) - ei * (x[j] / t));
    }
}

TL_INLINE void tl_ds(int d, const tl_law *law, double xi, const double *u, const double *r,
                     double *f, double *fu, double *fr) {
    double y[TL_MAX_DIM], p[TL_MAX_DIM];
    tl_shift(d, law, u, y);
    for (int k = 0; k < d; k++) y[k] = r[k] - xi * y[k];
    tl_project(d, law, y, p);
    for (int k = 0; k < d; k++) f[k] = p[k] - r[k];
    if (!fu) return;

    const double ut = tl_norm_t(d, u), c = tl_shift_coefficient(law);
    tl_project_jacobian(d, law, y, fr);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            const double shift = (j > 0 && ut > 0.0) ? fr[i * d] * c * u[j] / ut : 0.0;
            fu[i * d + j] = -xi * (fr[i * d + j] + shift);
        }
    for (int k = 0; k < d; k++) fr[k * d + k] -= 1.0;
}

// ---- Fischer-Burmeister ------------------------------------------------------------------------

/// Scalar function sqrt(a² + b²) − a − b and its derivatives; without cancellation for a, b > 0.
TL_INLINE double tl_fb_scalar(double a, double b, double *fa, double *fb) {
    const double z = sqrt(a * a + b * b);
    if (fa) {
        *fa = z > 0.0 ? a / z - 1.0 : -1.0;
        *fb = z > 0.0 ? b / z - 1.0 : -1.0;
    }
    return a > 0.0 && b > 0.0 ? -2.0 * a * b / (z + a + b) : z - a - b;
}

/// The function at a point in the self-dual variables x = r̂, y = û: z has the eigenvalues s1 <= s2
/// and the eigenvectors (1, ∓e).
typedef struct tl_fb_point {
    double x[TL_MAX_DIM], y[TL_MAX_DIM], e[TL_MAX_DIM], s1, s2;
} tl_fb_point;

/// F = z − x − y. The eigenvalues of z² are written as sums of squares,
///     λ∓ = |x_T ∓ x_N e|² + |y_T ∓ y_N e|²,  e = w/|w|,  w = x_N x_T + y_N y_T,
/// because |x|² + |y|² − 2|w| loses half the digits where x or y is on the boundary of the cone.
TL_INLINE void tl_fb_selfdual(int d, tl_fb_point *at, double *f) {
    const double *x = at->x, *y = at->y;
    double *e = at->e, w2 = 0.0, low = 0.0, high = 0.0;
    for (int k = 1; k < d; k++) {
        e[k] = x[0] * x[k] + y[0] * y[k];
        w2 += e[k] * e[k];
    }
    const double inverse = w2 > 0.0 ? 1.0 / sqrt(w2) : 0.0;
    for (int k = 1; k < d; k++) e[k] = w2 > 0.0 ? e[k] * inverse : (double)(k == 1);
    for (int k = 1; k < d; k++) {
        const double xm = x[k] - x[0] * e[k], ym = y[k] - y[0] * e[k];
        const double xp = x[k] + x[0] * e[k], yp = y[k] + y[0] * e[k];
        low += xm * xm + ym * ym;
        high += xp * xp + yp * yp;
    }
    at->s1 = sqrt(low);
    at->s2 = sqrt(high);
    f[0] = 0.5 * (at->s1 + at->s2) - x[0] - y[0];
    for (int k = 1; k < d; k++) f[k] = 0.5 * (at->s2 - at->s1) * e[k] - x[k] - y[k];
}

/// Whether z is inside the cone, to what rounding shows; on its boundary F has kinks.
TL_INLINE bool tl_fb_inside(const tl_fb_point *at) { return at->s1 > 1e-7 * at->s2; }

/// Its blocks F_x, F_y.
TL_INLINE void tl_fb_selfdual_slopes(int d, const tl_fb_point *at, double *fx, double *fy) {
    const double *x = at->x, *y = at->y;
    if (!tl_fb_inside(at)) { // one element of the set
        const double q = sqrt(x[0] * x[0] + y[0] * y[0]);
        const double ax = q > 0.0 ? x[0] / q - 1.0 : -1.0, ay = q > 0.0 ? y[0] / q - 1.0 : -1.0;
        tl_clear(d * d, fx);
        tl_clear(d * d, fy);
        for (int k = 0; k < d; k++) {
            fx[k * d + k] = ax;
            fy[k * d + k] = ay;
        }
        return;
    }
    // L_z⁻¹ L_x − 1 with L_z⁻¹ = (1/det) [ z_N, −z_T' ; −z_T, (det I + z_T z_T')/z_N ],
    // det = s1 s2.
    const double zn = 0.5 * (at->s1 + at->s2), zt = 0.5 * (at->s2 - at->s1);
    const double inverse_n = 1.0 / zn, inverse = 1.0 / (at->s1 * at->s2);
    for (int side = 0; side < 2; side++) {
        const double *v = side ? y : x;
        double *out = side ? fy : fx;
        double zv = 0.0; // z_T · v_T
        for (int k = 1; k < d; k++) zv += zt * at->e[k] * v[k];
        out[0] = (zn * v[0] - zv) * inverse - 1.0;
        for (int i = 1; i < d; i++) {
            const double zi = zt * at->e[i];
            out[i] = (zn * v[i] - zi * v[0]) * inverse;
            out[i * d] = (zi * zv * inverse_n - zi * v[0]) * inverse + v[i] * inverse_n;
            for (int j = 1; j < d; j++) {
                const double zj = zt * at->e[j];
                out[i * d + j] = (zi * zj * v[0] * inverse_n - zi * v[j]) * inverse +
                                 (double)(i == j) * (v[0] * inverse_n - 1.0);
            }
        }
    }
}

/// F and, for tl_fb_slopes, the point.
TL_INLINE void tl_fb_value(int d, const tl_law *law, double xi, const double *u, const double *r,
                           tl_fb_point *at, double *f) {
    const double mu = law->mu;
    if (mu == 0.0 || isinf(mu)) { // scalar in the normal; the tangent says r_T = 0, or u_T = 0
        f[0] = tl_fb_scalar(xi * u[0], r[0], 0, 0);
        for (int k = 1; k < d; k++) f[k] = mu == 0.0 ? -r[k] : -xi * u[k];
        return;
    }
    at->x[0] = mu * r[0];
    at->y[0] = xi * (u[0] + tl_shift_coefficient(law) * tl_norm_t(d, u));
    for (int k = 1; k < d; k++) {
        at->x[k] = r[k];
        at->y[k] = xi * mu * u[k];
    }
    tl_fb_selfdual(d, at, f);
}

TL_INLINE void tl_fb_slopes(int d, const tl_law *law, double xi, const double *u, const double *r,
                            const tl_fb_point *at, double *fu, double *fr) {
    const double mu = law->mu;
    if (mu == 0.0 || isinf(mu)) {
        double du, dr;
        tl_fb_scalar(xi * u[0], r[0], &du, &dr);
        tl_clear(d * d, fu);
        tl_clear(d * d, fr);
        fu[0] = xi * du;
        fr[0] = dr;
        for (int k = 1; k < d; k++)
            *(mu == 0.0 ? &fr[k * d + k] : &fu[k * d + k]) = mu == 0.0 ? -1.0 : -xi;
        return;
    }
    const double ut = tl_norm_t(d, u);
    const double shift = ut > 0.0 ? tl_shift_coefficient(law) / ut : 0.0;
    tl_fb_selfdual_slopes(d, at, fr, fu);
    for (int i = 0; i < d; i++) {
        const double normal = fu[i * d];
        fr[i * d] *= mu;
        fu[i * d] = xi * normal;
        for (int j = 1; j < d; j++)
            fu[i * d + j] = xi * (mu * fu[i * d + j] + normal * shift * u[j]);
    }
}

TL_INLINE void tl_fb(int d, const tl_law *law, double xi, const double *u, const double *r,
                     double *f, double *fu, double *fr) {
    tl_fb_point at = {.s1 = 0.0};
    tl_fb_value(d, law, xi, u, r, &at, f);
    if (fu) tl_fb_slopes(d, law, xi, u, r, &at, fu, fr);
}

#endif // TL_CONE_NONSMOOTH_H
