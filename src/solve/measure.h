// SPDX-License-Identifier: Apache-2.0
// The stopping measures: what one block contributes, and how contributions are put together.
#ifndef TL_SOLVE_MEASURE_H
#define TL_SOLVE_MEASURE_H
#include "cone/nonsmooth.h"
#include "solve/solver_impl.h"

/// Contributions are added up (else the largest counts).
static inline bool tl_measure_sums(tl_measure measure) {
    return measure == TL_MEASURE_NATURAL || measure == TL_MEASURE_BIPOTENTIAL;
}

/// The measures that the last step, not the point, decides.
static inline bool tl_measure_is_change(tl_measure measure) {
    return measure == TL_MEASURE_CHANGE || measure == TL_MEASURE_STEP;
}

/// Contribution of a block from its velocity u and impulse r; `lambda` = λmax(W_ii), `trace` its
/// trace.
TL_INLINE double tl_measure_block(int d, tl_measure measure, const tl_law *law, double lambda,
                                  double trace, const double *u, const double *r) {
    double f[TL_MAX_DIM];
    switch (measure) {
    case TL_MEASURE_NATURAL:
        tl_ds(d, law, 1.0, u, r, f, 0, 0);
        return tl_dot(d, f, f);
    case TL_MEASURE_RESIDUAL:
        tl_ds(d, law, 1.0 / lambda, u, r, f, 0, 0);
        return tl_norm(d, f) * sqrt(lambda);
    case TL_MEASURE_FB:
        tl_fb(d, law, (double)d / trace, u, r, f, 0, 0);
        return tl_dot(d, f, f);
    case TL_MEASURE_BIPOTENTIAL:
        tl_project(d, law, r, f);
        for (int k = 0; k < d; k++) f[k] -= r[k];
        return tl_norm(d, f) + fabs(tl_bipotential_gap(d, law, u, r)) + fmax(0.0, -u[0]);
    case TL_MEASURE_CHANGE:
    case TL_MEASURE_STEP:
        break;
    }
    return 0.0;
}

/// What the residual is relative to: the largest load, unless the problem tells something else.
static inline double tl_measure_scale(const talus_problem *p, double largest_load) {
    return p->scale > 0.0 ? p->scale : largest_load;
}

/// The measure from the sum or maximum of all contributions; `scale` as in certificate.residual.
static inline double tl_measure_total(tl_measure measure, const talus_problem *p, double scale,
                                      double total) {
    switch (measure) {
    case TL_MEASURE_NATURAL:
        return sqrt(total) / fmax(1.0, p->q_norm);
    case TL_MEASURE_RESIDUAL:
        return total == 0.0 ? 0.0 : total / tl_measure_scale(p, scale);
    case TL_MEASURE_BIPOTENTIAL:
        return total / fmax(1.0, p->count);
    case TL_MEASURE_FB:
    case TL_MEASURE_CHANGE:
    case TL_MEASURE_STEP:
        break;
    }
    return total;
}

#endif // TL_SOLVE_MEASURE_H
