// SPDX-License-Identifier: Apache-2.0
// Sparse LU of matrices made of d × d blocks whose pattern is symmetric, factored again and again
// with other values and on other subsets of the blocks: semismooth Newton matrices. The order is
// chosen once, for the whole pattern; the fill of a subset is then part of the fill of the whole,
// so that one set-up serves all and nothing is allocated later. Pivots are sought inside a diagonal
// block only: matrices are to be near definite ones.
#ifndef TL_LINALG_BLOCK_LU_H
#define TL_LINALG_BLOCK_LU_H
#include "base/context.h"

/// Room for one block of the largest size, 6 × 6.
enum { TL_BLOCK_LU_MAX = 36, TL_BLOCK_LU_PADDED = 48 };

typedef struct tl_block_lu {
    talus_context *ctx;
    int d;
    int32_t n;
    const int64_t *start; // the pattern: row i couples with adjacent[start[i] … start[i+1]−1];
    const int32_t *adjacent; // borrowed
    int64_t *back;           // the edge (j, i) of each edge (i, j)
    int32_t *order, *place;  // block eliminated k-th, and its inverse
    int64_t *fill_start;     // n + 1: blocks below the diagonal of column k of L,
    int32_t *fill;           // as elimination numbers, ascending
    double work;             // multiplications of a factorisation with all blocks
    // The factors over the active blocks: column k has count[k] blocks list[fill_start[k] + …].
    bool *active;    // by elimination number
    int32_t *list;   //
    int32_t *count;  //
    double *lower;   // L_ik, blocks by padded columns
    double *upper;   // U_kiᵀ, the same
    double *inverse; // n d d: of the pivot blocks
    // Scratch.
    int32_t *head, *next, *at, *map;
    double *x;
} tl_block_lu;

/// Where the numbers come from. `block` writes A_ij, d × d row major, of the edge (i, j), or of the
/// diagonal where edge = −1. `stop` is asked now and then; NULL: never stop.
typedef struct tl_block_source {
    const void *user;
    void (*block)(const void *user, int32_t i, int64_t edge, double *a);
    bool (*stop)(const void *user);
} tl_block_source;

/// Order and analyse. Rows may be empty. *out is NULL, and the status still TALUS_OK, when the
/// factors would take more than `most_bytes`.
talus_status tl_block_lu_create(talus_context *ctx, int d, int32_t n, const int64_t *start,
                                const int32_t *adjacent, double most_bytes,
                                tl_block_lu **out) TALUS_MUST_CHECK;
void tl_block_lu_destroy(tl_block_lu *lu); // NULL is allowed

/// Factor the rows and columns of the active blocks. False when a pivot block is singular or when
/// the source said stop.
bool tl_block_lu_factor(tl_block_lu *lu, const bool *active, const tl_block_source *source);
/// x ← A⁻¹ x over the active blocks (n d entries; the others are left as they are).
void tl_block_lu_solve(tl_block_lu *lu, double *x);

#endif // TL_LINALG_BLOCK_LU_H
