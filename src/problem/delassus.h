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
    // Separable problems: contacts of each body, ascending, contact[where[b] … where[b+1]−1]; and
    // the bodies of each contact, borrowed from the problem.
    int64_t *where;
    int32_t *contact;
    const int64_t *h_start;
    const int32_t *h_body;
} tl_graph;

talus_status tl_graph_create(talus_context *ctx, const talus_problem *p,
                             tl_graph *out) TALUS_MUST_CHECK;
/// The same in the memory of a graph, or of a zeroed one. On failure it is cleared.
talus_status tl_graph_update(talus_context *ctx, const talus_problem *p,
                             tl_graph *inout) TALUS_MUST_CHECK;
/// The lists by bodies alone, of a separable problem: enough for a plan. `adjacent` is NULL.
talus_status tl_graph_lists(talus_context *ctx, const talus_problem *p,
                            tl_graph *inout) TALUS_MUST_CHECK;
void tl_graph_clear(talus_context *ctx, tl_graph *g);

typedef struct tl_delassus {
    talus_context *ctx;
    const talus_problem *problem;
    int dim;              // rows per block: those of the problem, or 1, the normal one alone
    int32_t rows;         // a multiple of TL_LANES
    const int32_t *order; // rows: the block of each row, −1 where a lane is empty; borrowed
    bool assembled, separable;
    double *diagonal; // by groups: entry k of W_ss at [(s / LANES * d * d + k) * LANES + s % LANES]
    double *q;        // d * rows
    int32_t *row_of;  // row of each block
    // Assembled: blocks of row s other than the diagonal, d × d COLUMN major, so that a block
    // times a vector is a sum of d scaled columns. One number more at the end: reading a column of
    // three as a vector of four stays inside.
    int64_t *start; // rows + 1
    int32_t *col;   // row index of the neighbour, not its block index
    double *block;
    // u = H z + q with z = N Hᵀ l. Blocks e of H are those of the problem, d × size(body).
    int32_t dof;           // entries of z
    int32_t width;         // separable, all bodies alike: entries of z per body; else 0
    const double *h;       // the problem's blocks, or `normal`
    double *normal;        // dim = 1: the normal rows of H, the first `width` entries of each
    const double *inverse; // M diagonal: N by the entries of z
    double *reciprocal;    // M diagonal: 1/M_kk, by unknowns; else NULL
    double *light;         // room for `inverse` where width is less than the size of the bodies
    int32_t *range; // separable, with long bodies: first and behind the last column of each block
                    // of H that is not zero; else NULL
    double *y; // else N Hᵀ: separable: laid out as h; else d × dof for each block of the problem
    // Matrix-free, dim = 6, M diagonal: rows that are rates of strain, see strain.h. Else NULL.
    bool *strain;     // by the problem's blocks
    double *gradient; // 3 for each block of H, one number more at the end
    uint8_t *held;    // by bodies: unknowns that no row sees
    // Matrix-free and separable, built for several threads: the blocks of H by bodies, rows
    // ascending, for gathering z without conflicts; else NULL.
    int64_t *body_start; // bodies + 1
    int32_t *body_row;   // row of each block; twice that and its place in the row where `pair` is
    int64_t *body_block; // its number in the problem; NULL where `pair` is
    // Central: dim = 1, balls in space: H_i = (n, −n) or (n). Of a row only n is kept, in `normal`
    // (three numbers, one more at the end), and the bodies; z and N have four entries per body, for
    // vector instructions, and a last body that nothing moves stands for the second where there is
    // none. Else NULL.
    int32_t *pair; // 2 * rows
    double *z;     // dof: scratch of tl_delassus_apply
} tl_delassus;

/// How an operator is to be built.
typedef struct tl_delassus_form {
    bool assembled;
    bool normal; // of each block the normal row only; see tl_delassus_reduces
    int threads;
} tl_delassus_form;

/// True when a frictionless problem can be had by its normal rows: the operator is matrix-free, M
/// couples no bodies and these have one size.
bool tl_delassus_reduces(const talus_problem *p);
/// Build for the rows given by `order` (kept, not copied). `graph` may be NULL for a local problem:
/// then a row has the blocks that are stored, be they one-sided or not; and for a matrix-free one.
talus_status tl_delassus_create(talus_context *ctx, const talus_problem *p, bool assembled,
                                const tl_graph *graph, int32_t rows, const int32_t *order,
                                int threads, tl_delassus *out) TALUS_MUST_CHECK;
/// The same in the memory of an operator, or of a zeroed one. On failure it is cleared.
talus_status tl_delassus_update(talus_context *ctx, const talus_problem *p, tl_delassus_form form,
                                const tl_graph *graph, int32_t rows, const int32_t *order,
                                tl_delassus *inout) TALUS_MUST_CHECK;
void tl_delassus_clear(tl_delassus *w);
/// q of the problem, which has no tension, has changed: take it over. Allocates nothing.
void tl_delassus_refresh(tl_delassus *w);

/// u = W l + q by a team of `threads`, or W l without q where `free` is false; both d * rows long,
/// zero in empty rows. The sums do not depend on the number of threads. Allocates nothing.
void tl_delassus_apply(const tl_delassus *w, int threads, bool free, const double *l, double *u);

/// W_ii of a separable problem, all its rows, row major.
void tl_delassus_own(const talus_problem *p, int32_t i, double *block);

/// Copy W_ss into a d × d row-major block.
static inline void tl_delassus_diagonal(const tl_delassus *w, int32_t row, double *block) {
    const int dd = w->dim * w->dim;
    const double *from = w->diagonal + ((int64_t)(row / TL_LANES) * dd) * TL_LANES + row % TL_LANES;
    for (int k = 0; k < dd; k++) block[k] = from[k * TL_LANES];
}

#endif // TL_PROBLEM_DELASSUS_H
