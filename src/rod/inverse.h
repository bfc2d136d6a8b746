// SPDX-License-Identifier: Apache-2.0
// Natural strains that let rods rest where they are [theory/inverse]. With the diagonal stiffness K
// of strains q, natural strains p, gravity's force g and contact forces r, balance is
//     g − K (q − p) + Hᵀ r = 0,    so that p = q − K⁻¹ (g + Hᵀ r)
// for any r: every force that friction allows gives another p. The one nearest to wished strains p0
// is that of  min ½ |p − p0|² + ½ ε |r|²  over r in the friction cones: with y = p0 − p,
//     y = p0 − q + K⁻¹ g + K⁻¹ Hᵀ r,    u = H K⁻¹ y + ε r,    cone* ∋ u ⟂ r ∈ cone,
// a friction problem under the associated law with mass 1, which any solver solves.
#ifndef TL_ROD_INVERSE_H
#define TL_ROD_INVERSE_H
#include "talus/solver.h"

typedef struct tl_inverse {
    int32_t rods;
    const int32_t *start;    ///< rods + 1: first strain of each
    const double *stiffness; ///< K, > 0
    const double *strain;    ///< q
    const double *weight;    ///< g
    const double *wished;    ///< p0
    int32_t contacts;
    const int64_t *row_start; ///< contacts + 1, counted in blocks
    const int32_t *rod;       ///< of each block, ascending in a row
    const double *block;      ///< H: 3 × strains of the rod, row major, one after the other
    const double *mu;         ///< contacts
    double regular;           ///< ε over the mean diagonal of H K⁻² Hᵀ
    const char *solver;       ///< its name
    double tolerance;         ///< of the certificate's residual
    int32_t iterations;
} tl_inverse;

typedef struct tl_inverse_info {
    talus_outcome outcome;
    int32_t iterations;
    double residual; ///< of the certificate
    double change;   ///< root of the mean of |p − p0|²
    double alone;    ///< the same without any contact force
} tl_inverse_info;

/// p to `natural` (as many as strains) and the forces to r (3 per contact; in: where to begin).
talus_status tl_inverse_solve(talus_context *ctx, const tl_inverse *in, double *natural, double *r,
                              tl_inverse_info *info) TALUS_MUST_CHECK;

#endif // TL_ROD_INVERSE_H
