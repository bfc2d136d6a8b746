// SPDX-License-Identifier: Apache-2.0
// What the one-contact solvers share: u = W r + b and the one measure that judges them.
#ifndef TL_CONE_LOCAL_IMPL_H
#define TL_CONE_LOCAL_IMPL_H
#include "cone/local.h"
#include "cone/nonsmooth.h"
#include "linalg/dense_inline.h"

TL_INLINE void local_velocity(int d, const tl_local *p, const double *r, double *u) {
    tl_mv(d, p->w, r, u);
    for (int k = 0; k < d; k++) u[k] += p->b[k];
}

/// ξ of the Fischer-Burmeister function, d / tr W.
TL_INLINE double local_fb_scale(int d, const tl_local *p) {
    double trace = 0.0;
    for (int k = 0; k < d; k++) trace += p->w[k * d + k];
    return (double)d / trace;
}

/// The size of F, at the Fischer-Burmeister scale, against that of the problem; see tl_local_error.
TL_INLINE double local_relative(int d, const tl_local *p, double xi, const double *r,
                                const double *f) {
    const double own = xi * tl_norm(d, p->b) + tl_norm(d, r);
    const double scale = own > p->least ? own : p->least, size = tl_norm(d, f);
    return scale > 0.0 ? size / scale : size;
}

TL_INLINE double local_error(int d, const tl_local *p, double xi, const double *u,
                             const double *r) {
    double f[TL_MAX_DIM];
    if (p->law.yield > 0.0)
        tl_ds(d, &p->law, xi, u, r, f, 0, 0);
    else
        tl_fb(d, &p->law, xi, u, r, f, 0, 0);
    return local_relative(d, p, xi, r, f);
}

TL_INLINE double local_error_at(int d, const tl_local *p, const double *r) {
    double u[TL_MAX_DIM];
    local_velocity(d, p, r, u);
    return local_error(d, p, local_fb_scale(d, p), u, r);
}

#endif // TL_CONE_LOCAL_IMPL_H
