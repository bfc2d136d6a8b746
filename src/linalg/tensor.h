// SPDX-License-Identifier: Apache-2.0
// Symmetric tensors of the plane and of space as vectors of 3 and 6 numbers, normal first, in the
// coordinates that are orthonormal for <s, t> = ½ s : t, so that a stress is a block of a friction
// problem like any other [docs/theory/sand.md]:
//     2D  (a; b, c)           ->  [a + b, c; c, a − b]
//     3D  (a; b, c, d, e, f)  ->  √(2/3) a I + diag(b − c/√3, −b − c/√3, 2c/√3), xy d, xz e, yz f.
// The first is the trace over √(2 dim); the length of the rest is √J₂.
#ifndef TL_LINALG_TENSOR_H
#define TL_LINALG_TENSOR_H
#include "base/compiler.h"
#include <math.h>

#define TL_SQRT_2_3 0.81649658092772603273 // √(2/3)
#define TL_SQRT_1_3 0.57735026918962576451 // 1/√3

/// Numbers of a symmetric tensor.
TL_INLINE int tl_tensor_size(int dim) { return dim == 2 ? 3 : 6; }
/// √(2/dim): of the unit tensor along the normal, and of the friction of blocks in that of
/// stresses.
TL_INLINE double tl_tensor_unit(int dim) { return dim == 2 ? 1.0 : TL_SQRT_2_3; }

/// From a symmetric 3 × 3 matrix (row major; in 2D its upper left part).
TL_INLINE void tl_tensor_pack(int dim, const double m[9], double *out) {
    if (dim == 2) {
        out[0] = 0.5 * (m[0] + m[4]);
        out[1] = 0.5 * (m[0] - m[4]);
        out[2] = 0.5 * (m[1] + m[3]);
        return;
    }
    out[0] = (m[0] + m[4] + m[8]) / 2.44948974278317809820; // √6
    out[1] = 0.5 * (m[0] - m[4]);
    out[2] = 0.5 * TL_SQRT_1_3 * (2.0 * m[8] - m[0] - m[4]);
    out[3] = 0.5 * (m[1] + m[3]);
    out[4] = 0.5 * (m[2] + m[6]);
    out[5] = 0.5 * (m[5] + m[7]);
}

/// And back.
TL_INLINE void tl_tensor_unpack(int dim, const double *t, double m[9]) {
    for (int k = 0; k < 9; k++) m[k] = 0.0;
    if (dim == 2) {
        m[0] = t[0] + t[1];
        m[4] = t[0] - t[1];
        m[1] = m[3] = t[2];
        return;
    }
    const double a = TL_SQRT_2_3 * t[0], c = TL_SQRT_1_3 * t[2];
    m[0] = a + t[1] - c;
    m[4] = a - t[1] - c;
    m[8] = a + 2.0 * c;
    m[1] = m[3] = t[3];
    m[2] = m[6] = t[4];
    m[5] = m[7] = t[5];
}

/// The block (size × dim, row major) of twice the rate of strain of a velocity field with the
/// gradient g of its shape function: 2 χ⁻¹(sym(e_k ⊗ g)) in column k.
TL_INLINE void tl_tensor_rate(int dim, const double *g, double *out) {
    if (dim == 2) {
        const double h[6] = {g[0], g[1], g[0], -g[1], g[1], g[0]};
        for (int k = 0; k < 6; k++) out[k] = h[k];
        return;
    }
    const double h[18] = {TL_SQRT_2_3 * g[0],
                          TL_SQRT_2_3 * g[1],
                          TL_SQRT_2_3 * g[2],
                          g[0],
                          -g[1],
                          0.0,
                          -TL_SQRT_1_3 * g[0],
                          -TL_SQRT_1_3 * g[1],
                          2.0 * TL_SQRT_1_3 * g[2],
                          g[1],
                          g[0],
                          0.0,
                          g[2],
                          0.0,
                          g[0],
                          0.0,
                          g[2],
                          g[1]};
    for (int k = 0; k < 18; k++) out[k] = h[k];
}

#endif // TL_LINALG_TENSOR_H
