// SPDX-License-Identifier: Apache-2.0
// Rows of H that are rates of strain. A block of 6 × 3 of a stress of sand in space is given by one
// vector, the gradient g of a shape function: it is 2 χ⁻¹ sym(e_k ⊗ g) in column k, χ the
// coordinates of linalg/tensor.h. So are the products,
//     H_i z = 2 χ⁻¹ sym(Σ_e z_e ⊗ g_e),    (H_iᵀ x)_e = χ(x) g_e,
// which cost half the multiplications and read a sixth of the memory. Columns of unknowns that are
// held are zero in H: N is taken to be zero for those, and z is, too.
#ifndef TL_PROBLEM_STRAIN_H
#define TL_PROBLEM_STRAIN_H
#include "linalg/tensor.h"
#include "problem/delassus.h"
#include <string.h>

/// Find the rows of a matrix-free operator with diagonal N that are rates of strain; w->gradient is
/// NULL where there are none.
talus_status tl_strain_find(tl_delassus *w) TALUS_MUST_CHECK;
void tl_strain_drop(tl_delassus *w);

// Where the unknowns of the body of block e begin.
TL_INLINE int64_t strain_dof(const tl_delassus *w, int64_t e) {
    const int32_t body = w->problem->h_body[e];
    return w->width > 0 ? 3 * (int64_t)body : w->problem->body_start[body];
}

/// u += H_i z. The fourth lane is what follows in memory and comes to nothing.
TL_INLINE void tl_strain_velocity(const tl_delassus *w, int32_t i, const double *z, double *u) {
    const int64_t first = w->problem->h_start[i], last = w->problem->h_start[i + 1];
    tl_vec4 l[3] = {{0.0}}, g; // rows of Σ z ⊗ g
    for (int64_t e = first; e < last; e++) {
        const double *x = z + strain_dof(w, e);
        memcpy(&g, w->gradient + 3 * e, sizeof g);
        for (int k = 0; k < 3; k++) l[k] += g * x[k];
    }
    u[0] += TL_SQRT_2_3 * (l[0][0] + l[1][1] + l[2][2]);
    u[1] += l[0][0] - l[1][1];
    u[2] += TL_SQRT_1_3 * (2.0 * l[2][2] - l[0][0] - l[1][1]);
    u[3] += l[0][1] + l[1][0];
    u[4] += l[0][2] + l[2][0];
    u[5] += l[1][2] + l[2][1];
}

/// z += N H_iᵀ x.
TL_INLINE void tl_strain_spread(const tl_delassus *w, int32_t i, const double *x, double *z) {
    const int64_t first = w->problem->h_start[i], last = w->problem->h_start[i + 1];
    double s[9];
    tl_tensor_unpack(3, x, s);
    const tl_vec4 s0 = {s[0], s[3], s[6], 0.0}, s1 = {s[1], s[4], s[7], 0.0};
    const tl_vec4 s2 = {s[2], s[5], s[8], 0.0};
    for (int64_t e = first; e < last; e++) {
        const double *g = w->gradient + 3 * e;
        const int64_t dof = strain_dof(w, e);
        const tl_vec4 f = (s0 * g[0] + s1 * g[1]) + s2 * g[2];
        for (int k = 0; k < 3; k++) z[dof + k] += w->inverse[dof + k] * f[k];
    }
}

#endif // TL_PROBLEM_STRAIN_H
