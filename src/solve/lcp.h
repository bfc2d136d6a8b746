// SPDX-License-Identifier: Apache-2.0
// Lemke's method on a linear complementarity problem of n unknowns [docs/theory/pivoting.md]:
//     w = M z + q,  w >= 0,  z >= 0,  wᵀz = 0.
// The dictionary holds n of the 2n + 1 variables w, z, z0 (basic) as functions of the others,
//     x_B = T x_N + t,  at first  w = M z + 1 z0 + q;
// a pivot exchanges one of each kind.
#ifndef TL_SOLVE_LCP_H
#define TL_SOLVE_LCP_H
#include "base/context.h"

typedef enum tl_lcp_state {
    TL_LCP_GOES_ON,
    TL_LCP_SOLVED, // z0 has left, or was never needed
    TL_LCP_RAY,    // what enters may grow for ever: the method has no answer
} tl_lcp_state;

typedef struct tl_lcp {
    int32_t n;
    int64_t stride;   // of a row: n columns, z0's place, the constant t, padding
    double *table;    // n rows
    int32_t *basic;   // n: variable of each row. Variable i < n is w_i, n + i is z_i, 2n is z0
    int32_t *column;  // n + 1: variable of each column
    int32_t *place;   // 2n + 1: row of a basic variable, −1 − column of the others
    int32_t entering; // variable that enters next
    bool *wanted;     // 2n + 1: variables that tl_lcp_restore brings back into the basis
    int32_t resume;   // `entering` of the basis that is being restored
    double *excess;   // n + 1: w of the nonbasic ones, scratch of tl_lcp_correct
} tl_lcp;

talus_status tl_lcp_create(talus_context *ctx, int32_t n, tl_lcp *out) TALUS_MUST_CHECK;
void tl_lcp_clear(talus_context *ctx, tl_lcp *lcp); // legal on a zeroed struct, and twice

/// Row i of M, to be filled in before tl_lcp_begin, and q_i.
static inline double *tl_lcp_row(const tl_lcp *lcp, int32_t i) {
    return lcp->table + i * lcp->stride;
}
static inline double *tl_lcp_constant(const tl_lcp *lcp, int32_t i) {
    return lcp->table + i * lcp->stride + lcp->n + 1;
}

/// Forget all pivots. M and q have been filled in; entries should be of size 1.
void tl_lcp_begin(tl_lcp *lcp);
/// One pivot.
tl_lcp_state tl_lcp_pivot(tl_lcp *lcp);
/// z of the present basis: the constants of the basic ones, 0 for the others.
void tl_lcp_get(const tl_lcp *lcp, double *z);
/// Take out what rounding has left in the constants. `w` is M z + q (+ z0) at the z of tl_lcp_get,
/// from the data and not from the dictionary; what stands in it for nonbasic w should be zero.
void tl_lcp_correct(tl_lcp *lcp, const double *w);

/// Build the dictionary of the present basis anew, free of the rounding of the pivots that led
/// there: remember, fill in M and q, begin, then restore until it does not go on. A call brings one
/// variable back; TL_LCP_RAY: the basis is singular.
void tl_lcp_remember(tl_lcp *lcp);
tl_lcp_state tl_lcp_restore(tl_lcp *lcp);

#endif // TL_SOLVE_LCP_H
