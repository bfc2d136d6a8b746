// SPDX-License-Identifier: Apache-2.0
// The algebra of the cone Q = { x_N >= |x_T| }, for interior points
// [docs/theory/interior-points.md]. Vectors have d entries, first the axis of the cone; e = (1, 0,
// …), J = diag(1, −1, …, −1), det x = xᵀJ x, x∘y = (x·y, x_N y_T + y_N x_T).
//
// Nesterov and Todd's scaling of x, z ∈ int Q is the symmetric S with S z = S⁻¹ x, S Q = Q:
//     S² = η² (2 w wᵀ − J),  η = (det x/det z)^¼,
//     w = (x̄ + J z̄)/√(2 (1 + x̄·z̄)),  x̄ = x/√det x,  z̄ = z/√det z
// It is kept by its eigenvectors and eigenvalues, t = w_T/|w_T|:
//     (1, t): η (w_N + |w_T|),   (1, −t): η/(w_N + |w_T|),   (0, c) with c ⟂ t: η
// because near a solution they differ by many orders, and a product formed from w loses the small.
#ifndef TL_CONE_JORDAN_H
#define TL_CONE_JORDAN_H
#include "cone/law.h"

/// Factored, for near the border both x_N and |x_T| are large against their difference. That is
/// not known better than to rounding: it counts as at least so much, as long as x_N > 0 and it is
/// not clearly negative.
TL_INLINE double tl_soc_det(int d, const double *x) {
    const double t = tl_norm_t(d, x), least = 0x1p-52 * x[0], low = x[0] - t;
    return (low < least && low >= -8.0 * least ? least : low) * (x[0] + t);
}

/// out = x∘y; out is neither.
TL_INLINE void tl_soc_product(int d, const double *x, const double *y, double *out) {
    out[0] = tl_dot(d, x, y);
    for (int k = 1; k < d; k++) out[k] = x[0] * y[k] + y[0] * x[k];
}

/// out with x∘out = y, x ∈ int Q; out may be y.
TL_INLINE void tl_soc_divide(int d, const double *x, const double *y, double *out) {
    const double n = (x[0] * y[0] - tl_dot(d - 1, x + 1, y + 1)) / tl_soc_det(d, x);
    for (int k = 1; k < d; k++) out[k] = (y[k] - n * x[k]) / x[0];
    out[0] = n;
}

/// The largest a such that x + a dx ∈ Q, x ∈ int Q; infinite where all do. dx is seen from x, by
/// the boost that takes x to a multiple of e: there the cone is far off in all directions.
TL_INLINE double tl_soc_reach(int d, const double *x, const double *dx) {
    const double size = sqrt(tl_soc_det(d, x));
    const double n = (x[0] * dx[0] - tl_dot(d - 1, x + 1, dx + 1)) / size;
    const double slope = (n + dx[0]) / (x[0] + size);
    double t[TL_MAX_DIM] = {0.0};
    for (int k = 1; k < d; k++) t[k] = dx[k] - slope * x[k];
    const double out = tl_norm_t(d, t) - n;
    return out > 0.0 ? size / out : INFINITY;
}

typedef struct tl_scaling {
    double plus, minus, cross; // eigenvalues
    double t[TL_MAX_DIM];      // t[0] is not used
} tl_scaling;

/// False when x or z is not inside Q to what rounding shows.
TL_INLINE bool tl_scaling_make(int d, const double *x, const double *z, tl_scaling *out) {
    const double det_x = tl_soc_det(d, x), det_z = tl_soc_det(d, z);
    if (!(x[0] > 0.0 && z[0] > 0.0 && det_x > 0.0 && det_z > 0.0)) return false;
    const double size_x = sqrt(det_x), size_z = sqrt(det_z);
    const double gamma = sqrt(2.0 * (1.0 + tl_dot(d, x, z) / size_x / size_z));
    for (int k = 1; k < d; k++) out->t[k] = (x[k] / size_x - z[k] / size_z) / gamma;
    const double length = tl_norm_t(d, out->t), wide = sqrt(1.0 + length * length) + length;
    for (int k = 1; k < d; k++) out->t[k] = length > 0.0 ? out->t[k] / length : (double)(k == 1);
    out->cross = sqrt(size_x / size_z);
    out->plus = out->cross * wide;
    out->minus = out->cross / wide;
    return isfinite(out->plus) && out->minus > 0.0;
}

/// out = S x, or S⁻¹ x where `inverse`; out may be x.
TL_INLINE void tl_scaling_apply(int d, const tl_scaling *s, bool inverse, const double *x,
                                double *out) {
    const double along = tl_dot(d - 1, s->t + 1, x + 1);
    const double plus = 0.5 * (x[0] + along) * (inverse ? 1.0 / s->plus : s->plus);
    const double minus = 0.5 * (x[0] - along) * (inverse ? 1.0 / s->minus : s->minus);
    const double cross = inverse ? 1.0 / s->cross : s->cross;
    for (int k = 1; k < d; k++)
        out[k] = (plus - minus) * s->t[k] + cross * (x[k] - along * s->t[k]);
    out[0] = plus + minus;
}

/// The unit eigenvectors as columns of a d × d matrix, in the order plus, minus, cross, …
TL_INLINE void tl_scaling_frame(int d, const tl_scaling *s, double *frame) {
    // The reflection that takes the first tangent to ∓t has what is orthogonal to t behind it.
    const double sign = s->t[1] > 0.0 ? 1.0 : -1.0, half = sqrt(0.5);
    double v[TL_MAX_DIM];
    for (int k = 1; k < d; k++) v[k] = s->t[k] + (k == 1 ? sign : 0.0);
    const double size = tl_dot(d - 1, v + 1, v + 1);
    for (int i = 0; i < d; i++) {
        frame[i * d] = i == 0 ? half : half * s->t[i];
        frame[i * d + 1] = i == 0 ? half : -half * s->t[i];
        for (int k = 2; k < d; k++)
            frame[i * d + k] = i == 0 ? 0.0 : (double)(i == k) - 2.0 * v[i] * v[k] / size;
    }
}

#endif // TL_CONE_JORDAN_H
