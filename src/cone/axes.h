// SPDX-License-Identifier: Apache-2.0
// One block of six rows, a stress of sand, under Coulomb's law, in the principal axes of its
// tangent [docs/theory/local-solvers.md]. With the normal eliminated, T = W_TT − W_TN W_NT / W_NN
// is Q Λ Qᵀ, and Q, which turns the tangent, leaves |r_T| alone. With b = W_TN in these axes,
//     c = Qᵀ(b_T − W_TN b_N / W_NN),   r_T(α) = −Q (Λ + α)⁻¹ c,   r_N = −(b_N + b·Qᵀr_T) / W_NN :
// the sliding search of slide.h costs five divisions a step in place of a factorisation.
#ifndef TL_CONE_AXES_H
#define TL_CONE_AXES_H
#include "cone/local.h"
#include <stddef.h>
#include <string.h>

// Five numbers as a vector of four and one of which only the first lane counts: the others are 0.
typedef struct axes_five {
    tl_vec4 head, tail;
} axes_five;

TL_INLINE axes_five axes_load(const double *x) {
    axes_five out;
    memcpy(&out.head, x, sizeof out.head);
    memcpy(&out.tail, x + 4, sizeof out.tail);
    return out;
}

TL_INLINE double axes_dot(const axes_five *a, const axes_five *b) {
    const tl_vec4 p = a->head * b->head;
    return ((p[0] + p[1]) + (p[2] + p[3])) + a->tail[0] * b->tail[0];
}

// Qᵀ x, x in the axes of the block.
TL_INLINE axes_five axes_into(const tl_axes *s, const double *x) {
    axes_five sum = {{0.0}, {0.0}};
    for (int j = 0; j < 5; j++) {
        const axes_five row = axes_load(s->q + 8 * (ptrdiff_t)j);
        sum.head += row.head * x[j];
        sum.tail += row.tail * x[j];
    }
    return sum;
}

/// The whole problem of a block for 0 < mu < inf. A block that slid at its last visit is taken to
/// slide still, from the old α; else α = 0 comes first: that is sticking. False when it does not
/// settle; r is then as it was.
TL_INLINE bool axes_quick(const tl_axes *s, double mu, const double *b, double tolerance,
                          double *r) {
    if (b[0] >= 0.0) {
        for (int k = 0; k < 6; k++) r[k] = 0.0;
        return true;
    }
    const axes_five lambda = axes_load(s->lambda), couple = axes_load(s->couple);
    const double shift = b[0] * s->inverse_nn;
    axes_five c = axes_into(s, b + 1), y = axes_into(s, r + 1), d;
    c.head -= couple.head * shift;
    c.tail -= couple.tail * shift;
    // α of the last visit: u_T = −α r_T in the least squares sense.
    const axes_five u = {c.head + lambda.head * y.head, c.tail + lambda.tail * y.tail};
    const double rr = axes_dot(&y, &y), ur = -axes_dot(&u, &y);
    bool warm = ur > 1e-6 * s->lambda[4] * rr && ur < 1e200 * rr;
    double a = warm ? ur / rr : 0.0, low = 0.0, high = INFINITY, n;
    for (int step = 0;; step++) {
        const axes_five inverse = {1.0 / (lambda.head + a), 1.0 / (lambda.tail + a)};
        y.head = -c.head * inverse.head;
        y.tail = -c.tail * inverse.tail;
        n = -(b[0] + axes_dot(&couple, &y)) * s->inverse_nn;
        const double t2 = axes_dot(&y, &y);
        if (a == 0.0 && n >= 0.0 && t2 <= mu * mu * n * n) break; // sticks
        if (step == 60) return false;
        d.head = y.head * inverse.head; // −dr_T/dα
        d.tail = y.tail * inverse.tail;
        const double inverse_t = 1.0 / sqrt(t2), psi = mu * n * inverse_t - 1.0;
        const double slope =
            mu * inverse_t *
            (axes_dot(&couple, &d) * s->inverse_nn + n * axes_dot(&y, &d) * inverse_t * inverse_t);
        if (psi < 0.0)
            low = a;
        else
            high = a;
        double next = a - psi / slope;
        bool settled = false;
        if (next > low && next < high) {
            // r_T bends over Δα / (λ_min + α): what a Newton step leaves is of the order of its
            // square.
            const double move = next - a, bend = move * inverse.head[0];
            settled = psi * psi <= tolerance && bend * bend <= 0.01 * tolerance;
            if (settled) {
                y.head -= d.head * move;
                y.tail -= d.tail * move;
                n = -(b[0] + axes_dot(&couple, &y)) * s->inverse_nn;
            }
        } else if (warm) { // it slides no more, or quite differently: begin at the beginning
            warm = false;
            next = low = 0.0;
            high = INFINITY;
        } else if (fabs(psi) <= 0.1 * tolerance) {
            settled = true;
        } else if (isinf(high)) {
            next = TL_MAX(16.0 * a, s->lambda[4]);
        } else {
            next = low > 0.0 ? sqrt(low) * sqrt(high) : 1e-3 * high;
        }
        if (settled) { // onto the cone
            const double factor = mu * n / sqrt(axes_dot(&y, &y));
            if (!(n > 0.0) || !isfinite(factor)) return false;
            y.head *= factor;
            y.tail *= factor;
            break;
        }
        a = next;
    }
    r[0] = n;
    for (int j = 0; j < 5; j++) {
        const axes_five row = axes_load(s->q + 8 * (ptrdiff_t)j);
        r[1 + j] = axes_dot(&row, &y);
    }
    return true;
}

#endif // TL_CONE_AXES_H
