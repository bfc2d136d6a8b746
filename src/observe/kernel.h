// SPDX-License-Identifier: Apache-2.0
// The kernel of coarse-graining, Lucy's: with the cut-off c = 2 w,
//     W(r) = n (1 + 3 r/c) (1 − r/c)³ for r < c, else 0,    n = 5/(π c²) in 2D, 105/(16 π c³) in
//     3D,
// so that its integral over the plane or the space is 1; twice continuously differentiable.
#ifndef TL_OBSERVE_KERNEL_H
#define TL_OBSERVE_KERNEL_H
#include <math.h>
#include <stdint.h>

typedef struct tl_kernel {
    double c, n;
} tl_kernel;

static inline tl_kernel tl_kernel_make(int32_t dim, double width) {
    const double c = 2.0 * width, pi = 3.14159265358979323846;
    return (tl_kernel){c, dim == 2 ? 5.0 / (pi * c * c) : 105.0 / (16.0 * pi * c * c * c)};
}

static inline double tl_kernel_at(const tl_kernel *k, double r) {
    const double s = r / k->c, t = 1.0 - s;
    return t > 0.0 ? k->n * (1.0 + 3.0 * s) * t * t * t : 0.0;
}

#endif // TL_OBSERVE_KERNEL_H
