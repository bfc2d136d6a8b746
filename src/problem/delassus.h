// SPDX-License-Identifier: Apache-2.0
// The Delassus operator W = H N Hᵀ of a problem, laid out for solvers: rows in an order of the
// solver's choice, in groups of TL_LANES so that several can be treated by one instruction.
// u = W l + q with l = r + tension n, so that solvers meet no tension.
#ifndef TL_PROBLEM_DELASSUS_H
#define TL_PROBLEM_DELASSUS_H
#include "cone/local.h"
#include "problem/problem_impl.h"

/// Which blocks W couples: neighbours of block i are adjacent[start[i] … start[i+1]−1], ascending,
/// without i itself.
typedef struct tl_graph {
    int32_t count;
    int64_t *start;
    int32_t *adjacent;
} tl_graph;

talus_status tl_graph_create(talus_context *ctx, const talus_problem *p,
                             tl_graph *out) TALUS_MUST_CHECK;
void tl_graph_clear(talus_context *ctx, tl_graph *g);

/// Rows of a sparse d × dof matrix: row s has the blocks start[s] … start[s+1]−1; block e covers
/// the unknowns dof[e] … dof[e] + size[e] − 1 with d × size[e] values (row major) from offset[e].
typedef struct tl_rows {
    int64_t *start;
    int32_t *dof, *size;
    int64_t *offset;
    double *value;
} tl_rows;

typedef struct tl_delassus {
    talus_context *ctx;
    const talus_problem *problem;
    int dim;
    int32_t rows;         // a multiple of TL_LANES
    const int32_t *order; // rows: the block of each row, −1 where a lane is empty; borrowed
    bool assembled;
    double *diagonal; // by groups: entry k of W_ss at [(s / LANES * d * d + k) * LANES + s % LANES]
    double *q;        // d * rows
    // Assembled: blocks of row s other than the diagonal, d × d COLUMN major, so that a block
    // times a vector is a sum of d scaled columns. One number more at the end: reading a column of
    // three as a vector of four stays inside.
    int64_t *start; // rows + 1
    int32_t *col;   // row index of the neighbour, not its block index
    double *block;
    // Matrix-free: u = H z + q with z = N Hᵀ l, d × size blocks; Y = N Hᵀ transposed.
    int32_t dof;
    tl_rows h, y;
    // Matrix-free and separable: the blocks of Y by bodies, for gathering z without conflicts.
    int64_t *body_start; // bodies + 1
    int32_t *body_row;   // row of each block
    int64_t *body_block; // its place in y
    double *z;           // dof: scratch of tl_delassus_apply
} tl_delassus;

/// Build for the rows given by `order` (kept, not copied), with `threads` threads. `graph` may be
/// NULL for a local problem: then a row has the blocks that are stored, be they one-sided or not;
/// and for a matrix-free one.
talus_status tl_delassus_create(talus_context *ctx, const talus_problem *p, bool assembled,
                                const tl_graph *graph, int32_t rows, const int32_t *order,
                                int threads, tl_delassus *out) TALUS_MUST_CHECK;
void tl_delassus_clear(tl_delassus *w);
/// q of the problem, which has no tension, has changed: take it over. Allocates nothing.
void tl_delassus_refresh(tl_delassus *w);

/// u = W l + q by a team of `threads`, or W l without q where `free` is false; both d * rows long,
/// zero in empty rows. The sums do not depend on the number of threads. Allocates nothing.
void tl_delassus_apply(const tl_delassus *w, int threads, bool free, const double *l, double *u);

/// Copy W_ss into a d × d row-major block.
static inline void tl_delassus_diagonal(const tl_delassus *w, int32_t row, double *block) {
    const int dd = w->dim * w->dim;
    const double *from = w->diagonal + ((int64_t)(row / TL_LANES) * dd) * TL_LANES + row % TL_LANES;
    for (int k = 0; k < dd; k++) block[k] = from[k * TL_LANES];
}

#endif // TL_PROBLEM_DELASSUS_H
