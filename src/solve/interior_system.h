// SPDX-License-Identifier: Apache-2.0
// The linear system of an interior point, (W + B) x = b with B positive definite by blocks,
// factored once per iteration. B comes as F⁻ᵀ E F⁻¹: x = F c in coordinates where E is diagonal, or
// nearly, however far apart its entries are [docs/theory/interior-points.md]. Two forms:
//     impulses     (Fᵀ W F + E) c = Fᵀ b, with the pattern of W;
//     velocities   c = E⁻¹ Fᵀ (b − H v),  (M + Hᵀ D H) v = Hᵀ D b,  D = F E⁻¹ Fᵀ, with the pattern
//                  of the bodies that contacts couple; M without constraint rows.
// Of a W that is not quite symmetric the symmetric part is taken.
#ifndef TL_SOLVE_INTERIOR_SYSTEM_H
#define TL_SOLVE_INTERIOR_SYSTEM_H
#include "linalg/spd.h"
#include "problem/delassus.h"

typedef struct tl_interior_system {
    const talus_problem *problem;
    talus_context *ctx;
    bool velocities;
    const bool *fixed; // blocks with x_T = 0 (F_T = 0); borrowed
    tl_csr matrix;     // lower triangle, columns
    tl_spd *factor;
    const double *frame, *e; // F and E as factored with; borrowed
    // Impulses: the blocks (i, j), i > j, of the symmetric part of W by columns, and (j, j).
    int64_t *start; // count + 1
    int32_t *row;
    double *block, *diagonal;
    // Velocities.
    const tl_delassus *w; // borrowed
    int threads;
    double *mass;                // values of the matrix without contacts
    double *inverse;             // E⁻¹, see system_invert
    double *v;                   // dof: scratch
    double *side, *work, *force; // dim * rows of w: scratch
} tl_interior_system;

/// `w` in the order of the problem; assembled, unless the form is that of the velocities, which
/// keeps it, for products with `threads` threads. out must be zeroed; on failure clear it.
talus_status tl_interior_system_create(talus_context *ctx, const tl_delassus *w, bool velocities,
                                       const bool *fixed, int threads,
                                       tl_interior_system *out) TALUS_MUST_CHECK;
void tl_interior_system_clear(tl_interior_system *s);
/// Factor, F and E being d × d for each block; the diagonal of W or M counts (1 + added) times.
/// `ridge`, NULL or one number for each block, is added to the diagonal of W (impulses only). False
/// when rounding leaves the matrix indefinite, or memory is short. Allocates nothing from the
/// context.
bool tl_interior_system_factor(tl_interior_system *s, const double *frame, const double *e,
                               const double *ridge, double added);
/// x = (W + B)⁻¹ x. False: short of memory.
bool tl_interior_system_solve(tl_interior_system *s, double *x);

#endif // TL_SOLVE_INTERIOR_SYSTEM_H
