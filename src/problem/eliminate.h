// SPDX-License-Identifier: Apache-2.0
// Exact elimination of the constraint rows.
#ifndef TL_PROBLEM_ELIMINATE_H
#define TL_PROBLEM_ELIMINATE_H
#include "problem/problem_impl.h"

/// Global form: factor S = C M⁻¹ Cᵀ. An error names a row of C that depends on the others.
talus_status tl_eliminate_global(talus_problem *p) TALUS_MUST_CHECK;
/// Local form: factor P, turn W into W − B P⁻¹ Bᵀ and q into q − B P⁻¹ c. `b` is B by rows.
talus_status tl_eliminate_local(talus_problem *p, const tl_csr *b) TALUS_MUST_CHECK;
void tl_elimination_destroy(talus_context *ctx, tl_elimination *e); // NULL is allowed

/// Bodies that the rows of C tie together; `body` is borrowed. With a block diagonal M only.
typedef struct tl_cluster {
    int32_t bodies, dof; // how many, and their unknowns
    const int32_t *body;
    int32_t rows;   // of C
    bool dependent; // some of these follow from the others
} tl_cluster;

int32_t tl_eliminate_cluster_count(const talus_problem *p);
/// The cluster of a body, −1 where no row of C acts on it.
int32_t tl_eliminate_cluster_of(const talus_problem *p, int32_t body);
tl_cluster tl_eliminate_cluster(const talus_problem *p, int32_t cluster);
/// g += C_b x: what the motion x of a body does to the rows of its cluster.
void tl_eliminate_load(const talus_problem *p, int32_t body, const double *x, double *g);
/// g ← S⁻¹ g with the S of a cluster, `columns` vectors in a row.
talus_status tl_eliminate_cluster_solve(const talus_problem *p, int32_t cluster, int32_t columns,
                                        double *g) TALUS_MUST_CHECK;
/// w += W_ii (d × d, row major). `x` has room for the blocks of H of block i, `g` for 2 d vectors
/// of constraint_count.
talus_status tl_eliminate_own(const talus_problem *p, int32_t i, double *x, double *g,
                              double *w) TALUS_MUST_CHECK;
/// The diagonal of S, constraint_count numbers (global form).
const double *tl_eliminate_diagonal(const talus_problem *p);

/// x ← N x for `columns` vectors of dof entries, in a row (global form with constraint rows).
talus_status tl_eliminate_response(const talus_problem *p, int32_t columns,
                                   double *x) TALUS_MUST_CHECK;
/// The multipliers: in, lambda = k − C M⁻¹(f + Hᵀr) (global) or −(c + Bᵀr) (local).
talus_status tl_eliminate_multipliers(const talus_problem *p, double *lambda) TALUS_MUST_CHECK;

#endif // TL_PROBLEM_ELIMINATE_H
