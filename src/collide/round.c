// SPDX-License-Identifier: Apache-2.0
// Ellipsoids, superellipsoids, cylinders and cones by themselves.
//
// A superellipsoid is the unit ball of the norm |(|(x/a, y/b)|_p, z/c)|_q, so that its support
// function is the dual norm: with p' = p/(p − 1) and q' likewise,
//     m = |(a d_x, b d_y)|_p',     h = |(m, c d_z)|_q'.
// Norms of two numbers are written as quotients by the result, which are at most 1.
#include "collide/round.h"
#include <string.h>

// Where the second derivative of a superellipsoid is infinite or nearly so, it is taken from
// normals that are off by this part: finite, so that a step by it says how far the point has to go.
#define ROUND_BESIDE 1e-6

static const double round_pi = 3.14159265358979323846;

// ---- what is allowed ----

static talus_status round_check_length(talus_context *ctx, const talus_shape_def *shape,
                                       const char *field, double value) {
    TL_REQUIRE(ctx, value > 0.0 && isfinite(value), TALUS_ERR_ARG,
               "%s: %s = %g must be greater than 0 and finite", talus_shape_text(shape->kind),
               field, value);
    return TALUS_OK;
}

talus_status tl_round_check(talus_context *ctx, int32_t dim, const talus_shape_def *shape) {
    static const char *const field[] = {"half[0]", "half[1]", "half[2]"};
    TL_ASSUME(dim == 2 || dim == 3);
    if (shape->kind == TALUS_SHAPE_CONE) {
        TL_TRY(round_check_length(ctx, shape, "radius", shape->radius));
        return round_check_length(ctx, shape, "height", shape->height);
    }
    for (int k = 0; k < dim; k++) TL_TRY(round_check_length(ctx, shape, field[k], shape->half[k]));
    if (shape->kind == TALUS_SHAPE_ELLIPSOID) return TALUS_OK;
    for (int k = 0; k < dim - 1; k++) {
        const double p = shape->exponent[k];
        TL_REQUIRE(ctx, p >= TL_EXPONENT_LEAST && p <= TL_EXPONENT_MOST, TALUS_ERR_ARG,
                   "superellipsoid: exponent[%d] = %g must be from %g (an ellipsoid) to %g (nearly "
                   "a box)",
                   k, p, TL_EXPONENT_LEAST, TL_EXPONENT_MOST);
    }
    return TALUS_OK;
}

// ---- size ----

// |(a, b)| with exponent p/(p − 2) of two numbers not below 0; the larger one for p = 2.
static double round_longest(double a, double b, double p) {
    const double most = TL_MAX(a, b), least = TL_MIN(a, b);
    if (p <= 2.0 || !(most > 0.0)) return most;
    const double s = p / (p - 2.0);
    return most * pow(1.0 + pow(least / most, s), 1.0 / s);
}

// max x² + y² + z² is linear in the squares X, Y, Z, which fill the unit ball of the norm with the
// exponents p/2 and q/2: a dual norm again, that of the squares of the half axes.
static double superellipsoid_extent(int32_t dim, const talus_shape_def *shape) {
    const double *h = shape->half;
    const double size = TL_MAX(h[0], h[1]), a = h[0] / size, b = h[1] / size;
    const double flat = round_longest(a * a, b * b, shape->exponent[0]);
    if (dim == 2) return size * sqrt(flat);
    const double c = h[2] / size;
    return size * sqrt(round_longest(flat, c * c, shape->exponent[1]));
}

double tl_round_extent(int32_t dim, const talus_shape_def *shape) {
    const double *h = shape->half;
    if (shape->kind == TALUS_SHAPE_ELLIPSOID)
        return dim == 2 ? TL_MAX(h[0], h[1]) : TL_MAX(h[0], TL_MAX(h[1], h[2]));
    if (shape->kind == TALUS_SHAPE_SUPERELLIPSOID) return superellipsoid_extent(dim, shape);
    const tl_lathe l = tl_lathe_of(shape);
    return TL_MAX(hypot(l.r[0], l.z[0]), hypot(l.r[1], l.z[1]));
}

// Least radius of curvature where the normal is d: the smaller of the two eigenvalues of |d| H(d)
// that belong to directions across d (in 2D there is one).
static double superellipsoid_curve(int32_t dim, const talus_shape_def *shape, const double d[3]) {
    double s[3], H[3][3];
    const double length = tl_norm3(d);
    (void)tl_ellipsoid_support(dim, shape, d, s, H);
    const double trace = length * (H[0][0] + H[1][1] + H[2][2]);
    if (dim == 2) return trace;
    double product = 0.0; // of the two: the third one is 0
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        product += H[i][i] * H[j][j] - H[i][j] * H[j][i];
    }
    const double half = 0.5 * trace, square = half * half - length * length * product;
    return length * length * product / (half + sqrt(TL_MAX(square, 0.0)));
}

// The least of many places of one octant, and half of it for what may be between them. Slender
// bodies are sharpest where the components of the normal differ by orders of magnitude: these go in
// powers.
static double superellipsoid_rolling(int32_t dim, const talus_shape_def *shape) {
    enum { PLACES = 48 };
    double least = INFINITY;
    for (int i = 0; i <= PLACES; i++) {
        for (int j = 0; j <= (dim == 2 ? 0 : PLACES); j++) {
            const double u = pow(10.0, -6.0 + 12.0 * i / PLACES);
            const double v = dim == 2 ? 0.0 : pow(10.0, -6.0 + 12.0 * j / PLACES);
            const double d[3] = {1.0 / shape->half[0], u / shape->half[1],
                                 dim == 2 ? 0.0 : (1.0 + u) * v / shape->half[2]};
            least = TL_MIN(superellipsoid_curve(dim, shape, d), least);
        }
    }
    return 0.5 * least;
}

double tl_round_rolling(int32_t dim, const talus_shape_def *shape) {
    if (shape->kind == TALUS_SHAPE_SUPERELLIPSOID) return superellipsoid_rolling(dim, shape);
    if (shape->kind != TALUS_SHAPE_ELLIPSOID) return 0.0;
    double least = shape->half[0], most = shape->half[0];
    for (int k = 1; k < dim; k++) {
        least = TL_MIN(least, shape->half[k]);
        most = TL_MAX(most, shape->half[k]);
    }
    return least / most * least;
}

// ---- mass ----

// The integral of t^(a − 1) (1 − t^q)^b over [0, 1]: 1/q B(a/q, b + 1).
static double round_integral(double a, double b, double q) {
    return tgamma(a / q) * tgamma(b + 1.0) / tgamma(a / q + b + 1.0) / q;
}

// With λ(z) = (1 − |z/c|^q)^(1/q) the section at height z is the superellipse times λ. An ellipsoid
// has p = q = 2.
static talus_mass superellipsoid_mass(int32_t dim, const talus_shape_def *shape, double density) {
    const bool plain = shape->kind == TALUS_SHAPE_ELLIPSOID;
    const double p = plain ? 2.0 : shape->exponent[0], q = plain ? 2.0 : shape->exponent[1];
    const double a = shape->half[0], b = shape->half[1], c = shape->half[2];
    // area and second moments of the section at z = 0
    const double area = 4.0 * a * b * round_integral(1.0, 1.0 / p, p);
    const double square = 4.0 * a * b * round_integral(3.0, 1.0 / p, p);
    double mass = density * area, xx = density * square * a * a, yy = density * square * b * b;
    double zz = 0.0;
    if (dim == 3) {
        zz = mass * 2.0 * c * c * c * round_integral(3.0, 2.0 / q, q);
        mass *= 2.0 * c * round_integral(1.0, 2.0 / q, q);
        const double fourth = 2.0 * c * round_integral(1.0, 4.0 / q, q);
        xx *= fourth;
        yy *= fourth;
    }
    return (talus_mass){
        .mass = mass, .inertia = {yy + zz, xx + zz, xx + yy}, .axes = {1.0, 0.0, 0.0, 0.0}};
}

talus_mass tl_round_mass(int32_t dim, const talus_shape_def *shape, double density) {
    if (shape->kind != TALUS_SHAPE_CONE) return superellipsoid_mass(dim, shape, density);
    // the origin of a cone is its centre of mass, a quarter of the height above the base
    const double r = shape->radius, h = shape->height, mass = density * round_pi * r * r * h / 3.0;
    const double across = mass * (0.15 * r * r + 0.0375 * h * h);
    return (talus_mass){.mass = mass,
                        .inertia = {across, across, 0.3 * mass * r * r},
                        .axes = {1.0, 0.0, 0.0, 0.0}};
}

// ---- support functions ----

static double plain_support(int32_t dim, const double half[3], const double d[3], double s[3],
                            double (*H)[3]) {
    double square[3] = {half[0] * half[0], half[1] * half[1], dim == 2 ? 0.0 : half[2] * half[2]};
    double h = 0.0;
    for (int k = 0; k < 3; k++) h += square[k] * d[k] * d[k];
    h = sqrt(h);
    for (int k = 0; k < 3; k++) s[k] = square[k] * d[k] / h;
    for (int i = 0; H && i < 3; i++)
        for (int j = 0; j < 3; j++) H[i][j] = ((i == j ? square[i] : 0.0) - s[i] * s[j]) / h;
    return h;
}

// The norm of (u, v) with exponent e in (1, 2], its derivatives by u and v (in `slope`, with the
// signs of u and v), and the number κ of its second derivative κ (−v, u)(−v, u)ᵀ. Where one of the
// two is 0 and e < 2, κ is infinite; there the value a little beside counts.
static double pair_norm(double u, double v, double e, double slope[2], double *kappa) {
    const double a = fabs(u), b = fabs(v), most = TL_MAX(a, b);
    if (!(most > 0.0)) {
        slope[0] = slope[1] = *kappa = 0.0;
        return 0.0;
    }
    const double pa = a > 0.0 ? pow(a / most, e - 1.0) : 0.0; // (a / most)^(e − 1)
    const double pb = b > 0.0 ? pow(b / most, e - 1.0) : 0.0;
    const double sum = pa * (a / most) + pb * (b / most);
    const double root = pow(sum, 1.0 / e), scale = root / sum; // sum^(1/e − 1)
    const double norm = most * root;
    slope[0] = copysign(pa * scale, u);
    slope[1] = copysign(pb * scale, v);
    // κ = (e − 1) a^(e−2) b^(e−2) norm^(1−2e)
    const double tiny = ROUND_BESIDE * most;
    const double fa = a > tiny ? pa / (a / most) : pow(ROUND_BESIDE, e - 2.0);
    const double fb = b > tiny ? pb / (b / most) : pow(ROUND_BESIDE, e - 2.0);
    *kappa = (e - 1.0) * fa * fb * scale / sum / (most * most * most);
    return norm;
}

static double superellipsoid_support(int32_t dim, const talus_shape_def *shape, const double d[3],
                                     double s[3], double (*H)[3]) {
    const double *half = shape->half;
    const double ep = shape->exponent[0] / (shape->exponent[0] - 1.0);
    double u[3] = {half[0] * d[0], half[1] * d[1], dim == 2 ? 0.0 : half[2] * d[2]};
    double flat[2], outer[2] = {1.0, 0.0}, kp, kq = 0.0;
    double m = pair_norm(u[0], u[1], ep, flat, &kp), h = m;
    if (dim == 3) {
        const double eq = shape->exponent[1] / (shape->exponent[1] - 1.0);
        if (H && m < ROUND_BESIDE * fabs(u[2])) { // near the axis: the second derivative beside it
            const double beside = ROUND_BESIDE * fabs(u[2]);
            const double near[3] = {beside / half[0], beside / half[1], d[2]};
            (void)superellipsoid_support(dim, shape, near, s, H);
            return superellipsoid_support(dim, shape, d, s, NULL);
        }
        h = pair_norm(m, u[2], eq, outer, &kq);
    }
    s[0] = half[0] * flat[0] * outer[0];
    s[1] = half[1] * flat[1] * outer[0];
    s[2] = dim == 3 ? half[2] * outer[1] : 0.0;
    if (!H) return h;
    // outer κ: along z m − w ∇m; inner κ, weighted with ∂h/∂m: along (−u_y a, u_x b, 0)
    const double across[3] = {-u[2] * flat[0] * half[0], -u[2] * flat[1] * half[1],
                              dim == 3 ? m * half[2] : 0.0};
    const double around[3] = {-u[1] * half[0], u[0] * half[1], 0.0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            H[i][j] = kq * across[i] * across[j] + outer[0] * kp * around[i] * around[j];
    return h;
}

double tl_ellipsoid_support(int32_t dim, const talus_shape_def *shape, const double d[3],
                            double s[3], double (*H)[3]) {
    if (shape->kind == TALUS_SHAPE_ELLIPSOID) return plain_support(dim, shape->half, d, s, H);
    return superellipsoid_support(dim, shape, d, s, H);
}

// The gradient of the norm, with x scaled to it: |x/a|^(p−1)/a m^(q−p) and |z/c|^(q−1)/c.
void tl_ellipsoid_normal(int32_t dim, const talus_shape_def *shape, const double x[3],
                         double d[3]) {
    const bool plain = shape->kind == TALUS_SHAPE_ELLIPSOID;
    const double p = plain ? 2.0 : shape->exponent[0], q = plain ? 2.0 : shape->exponent[1];
    const double a = fabs(x[0]) / shape->half[0], b = fabs(x[1]) / shape->half[1];
    const double c = dim == 2 ? 0.0 : fabs(x[2]) / shape->half[2];
    const double flat = TL_MAX(a, b), most = TL_MAX(flat, c);
    d[0] = d[1] = d[2] = 0.0;
    if (flat > 0.0) {
        const double m = flat * pow(pow(a / flat, p) + pow(b / flat, p), 1.0 / p);
        const double scale = dim == 2 ? 1.0 : pow(m / most, q - 1.0);
        d[0] = copysign(scale * pow(a / m, p - 1.0) / shape->half[0], x[0]);
        d[1] = copysign(scale * pow(b / m, p - 1.0) / shape->half[1], x[1]);
    }
    if (dim == 3 && c > 0.0) d[2] = copysign(pow(c / most, q - 1.0) / shape->half[2], x[2]);
}

double tl_circle_support(double r, double z, const double d[3], double s[3], double (*H)[3]) {
    double rho = hypot(d[0], d[1]);
    const bool any = rho > TL_NO_LENGTH;
    const double e[2] = {any ? d[0] / rho : 1.0, any ? d[1] / rho : 0.0};
    s[0] = r * e[0];
    s[1] = r * e[1];
    s[2] = z;
    const double h = r * rho + z * d[2];
    if (!H) return h;
    rho = TL_MAX(rho, 1e-15 * fabs(d[2]));
    const double around[3] = {-e[1], e[0], 0.0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) H[i][j] = r / rho * around[i] * around[j];
    return h;
}

double tl_lathe_support(const tl_lathe *l, const double d[3], double s[3]) {
    const double rho = hypot(d[0], d[1]);
    const int i = l->r[0] * rho + l->z[0] * d[2] >= l->r[1] * rho + l->z[1] * d[2] ? 0 : 1;
    return tl_circle_support(l->r[i], l->z[i], d, s, NULL);
}
