// SPDX-License-Identifier: Apache-2.0
// The discrete Coulomb friction problem (DCFP) and its certificate.
//
//     M v = f + Hᵀ r + Cᵀ λ,    C v = k,    u = H v + w,    (u_i, r_i) obey the law of block i
//
// or, with the velocities eliminated, u = W r + q with W = H M⁻¹ Hᵀ (the Delassus operator).
// A block owns `dim` consecutive entries, normal first: (N, T1, T2, …). Typical units: u in m/s,
// r in N s; any consistent system will do, nothing in the library assumes one.
//
// The law of a block, with l = r + tension n [theory/law]:
//     l ∈ T = { l_N >= 0, |l_T| <= yield + mu l_N },
//     −(u + (mu − dilatancy) |u_T| n) ∈ normal cone of T at l.
// Coulomb friction is dilatancy = tension = yield = 0; `associated` means dilatancy = mu.
#ifndef TALUS_PROBLEM_H
#define TALUS_PROBLEM_H
#include "talus/base.h"
TALUS_EXTERN_C_BEGIN

typedef enum talus_law {
    TALUS_LAW_COULOMB = 0, ///< true dry friction: the dilatancy given with the block (0 if none)
    TALUS_LAW_ASSOCIATED,  ///< the convex relaxation: dilatancy = mu on every block
} talus_law;

/// Parameters of the blocks' laws; arrays of length block count, borrowed for the call.
typedef struct talus_law_view {
    talus_law law;
    const double *mu;        ///< friction coefficients in [0, inf]; required
    const double *dilatancy; ///< in [0, mu]; NULL: 0. Ignored under TALUS_LAW_ASSOCIATED
    const double *yield;     ///< >= 0, unit of r; NULL: 0
    const double *tension;   ///< >= 0, unit of r; NULL: 0
} talus_law_view;

/// A sparse matrix in compressed rows (or columns, where a field says so), borrowed.
typedef struct talus_sparse {
    int32_t rows, cols;
    const int64_t *start; ///< length rows + 1 (cols + 1 for compressed columns)
    const int32_t *index; ///< column (row) of each entry; any order, duplicates are added up
    const double *value;
} talus_sparse;

/// The local form: u = W r + q. Everything is borrowed for the call and copied.
typedef struct talus_local_def {
    int32_t dim;              ///< size of a block: 2, 3 or 6
    int32_t count;            ///< number of blocks, >= 0
    const int64_t *row_start; ///< block rows of W, length count + 1
    const int32_t *col;       ///< block column of each block, ascending in a row, diagonal present
    const double *block;      ///< dim × dim values each, row major
    const double *q;          ///< free relative velocity, dim * count
    talus_law_view law;
    /// Optional equality rows of the local form: u = W r + B l + q, P l + Bᵀ r + c = 0. They are
    /// eliminated exactly (W − B P⁻¹ Bᵀ, q − B P⁻¹ c). B has dim * count rows; rows == 0: none.
    talus_sparse b, p;
    const double *c;
} talus_local_def;

/// H of contacts between balls in space: dim = 3 and every body has 6 unknowns, velocity and spin
/// in the frame of the world. With e = (n, t1, t2) the frame of a contact, n its normal and
///     t1 = (a − (a·n) n) / |a − (a·n) n|, a the axis along which n is least (the first of them),
///     t2 = n × t1,
/// row k of a block is (± e_k, −arm n × e_k): plus for the first body of a contact, minus for the
/// second. 40 bytes where the dense blocks of two bodies have 288; what needs those writes them
/// out.
typedef struct talus_ball_rows {
    const double *normal; ///< unit, one for each contact, `stride` numbers apart
    int32_t stride;       ///< 3 or more
    const double *arm;    ///< one for each block: from the centre against ± n to the contact
    const bool *back;     ///< contacts of a single body whose rows have the minus; NULL: none
} talus_ball_rows;

/// The global form. Everything is borrowed for the call and copied, unless `borrow_h` or
/// `borrow_all` is set.
typedef struct talus_global_def {
    int32_t dim;                 ///< size of a contact block: 2, 3 or 6
    int32_t count;               ///< number of contact blocks, >= 0
    int32_t body_count;          ///< groups of consecutive velocity unknowns
    const int32_t *body_start;   ///< first unknown of each group, length body_count + 1
    const double *mass_diagonal; ///< M diagonal: its entries, > 0, length of v; the cheapest. NULL
                                 ///< when M is given in one of the other two ways
    const double *mass_block;    ///< M block diagonal: dense row-major blocks of the bodies, in a
                                 ///< row; ignored when mass_diagonal is set
    const int32_t *mass_band;    ///< with mass_block, length body_count: half-width of a block that
                                 ///< is a band, whose lower columns, half-width + 1 entries each,
                                 ///< then stand in its place (what is below the last row is
                                 ///< ignored); −1: dense. NULL: all dense
    talus_sparse mass;           ///< M in compressed columns; both triangles, or one of them (taken
                                 ///< as half of a symmetric matrix); ignored when one of those is
                                 ///< set
    const int64_t *h_row_start;  ///< H by block rows, length count + 1, counted in blocks
    const int32_t *h_body;       ///< body of each block, ascending in a row
    const double *h_block;       ///< dense dim × size(body) blocks, row major, in a row
    talus_ball_rows balls;       ///< in place of h_block, where its `normal` is not NULL
    bool borrow_h; ///< h_block, or balls, is not copied: it must stay as it is until the problem is
                   ///< updated or destroyed, and H, most of what a problem holds, lies in memory
                   ///< only once
    int32_t threads;  ///< of the certificate, whose result does not depend on them; 0: one
    bool borrow_all;  ///< nor are body_start, mass_diagonal, h_row_start, h_body, f, w and the
                      ///< arrays of the law
    const double *f;  ///< length of v
    const double *w;  ///< dim * count
    talus_sparse c;   ///< constraint rows C in compressed rows; rows == 0: none
    const double *k;  ///< length c.rows
    bool c_dependent; ///< rows of C may depend on each other, as in closed loops of joints; where
                      ///< they contradict each other they are met in the least-squares sense
    bool *held; ///< NULL, or room for a mark per block, which says with TALUS_ERR_SINGULAR of which
                ///< blocks the constraint rows hold all bodies along the normal: no impulse can
                ///< open or close them, and they have to be left out
    double scale; ///< > 0: what the certificate's residual is relative to [√energy]; 0: the largest
                  ///< load. Not kept in files
    talus_law_view law;
} talus_global_def;

typedef struct talus_problem talus_problem; ///< opaque, constant between its updates

/// Check, copy and (global form) factor a problem. An error names the entry that is wrong.
/// W asymmetric by less than 1e-2 (relative) is solved as given, with a warning in the log.
TALUS_API talus_status talus_problem_create_local(talus_context *ctx, const talus_local_def *def,
                                                  talus_problem **out) TALUS_MUST_CHECK;
TALUS_API talus_status talus_problem_create_global(talus_context *ctx, const talus_global_def *def,
                                                   talus_problem **out) TALUS_MUST_CHECK;
/// Make a problem of the global form into another one: equal bit for bit to a fresh problem, but in
/// the memory it has, which grows only where the new one needs more. With a diagonal or block
/// diagonal M and no constraint rows, steps of about the same size allocate nothing. Solvers
/// prepared on it must be prepared again. A definition that is refused leaves the problem as it
/// was, except where M or the constraint rows turn out to be singular or memory runs out: then it
/// can only be updated again or destroyed.
TALUS_API talus_status talus_problem_update_global(talus_problem *p,
                                                   const talus_global_def *def) TALUS_MUST_CHECK;
TALUS_API void talus_problem_destroy(talus_problem *p); ///< NULL is allowed

/// The same problem under the other law; costs nothing. A solver prepared before must be prepared
/// again.
TALUS_API void talus_problem_set_law(talus_problem *p, talus_law law);

/// Sizes and facts of a problem.
typedef struct talus_problem_info {
    int32_t dim;
    int32_t count;       ///< blocks
    int32_t dof;         ///< velocity unknowns; 0 in local form
    int32_t constraints; ///< rows of C (global) or of P (local)
    bool is_global;
    double q_norm;        ///< ‖q‖₂, q = u at r = 0
    double asymmetry;     ///< local form: max |W − Wᵀ| / max |W|
    double setup_seconds; ///< time taken by factoring and eliminating, part of any solve
} talus_problem_info;

TALUS_API talus_problem_info talus_problem_get_info(const talus_problem *p);

/// The state that follows from r: v (length dof; ignored in local form), u (dim * count) and the
/// multipliers λ (constraints). Any of the outputs may be NULL.
TALUS_API talus_status talus_problem_state(const talus_problem *p, const double *r, double *v,
                                           double *u, double *lambda) TALUS_MUST_CHECK;

/// How good (u, r) is, computed by code that no solver uses. "No unit" figures do not change when
/// units, masses or axes change.
typedef struct talus_certificate {
    double natural; ///< ‖ r − P_T(r − (u + g(u))) ‖₂ / max(1, ‖q‖₂): the FCLIB convention,
                    ///< to compare with others; mixes units
    double residual; ///< max_i |r_i − P_T(r_i − ρ_i (u_i + g(u_i)))| λ_i^½ / scale, where
                     ///< λ_i = λmax(W_ii), ρ_i = 1/λ_i, scale = max_i |q_i| λ_i^−½, the largest
                     ///< load, unless the problem gives another; no unit
    double scale;           ///< that scale [√energy]
    double penetration;     ///< max_i max(0, −u_iN) [unit of u]
    double complementarity; ///< max_i |(u_i + g(u_i)) · l_i + yield |u_iT|| with l = r + tension n:
                            ///< the power that the law forbids [unit of u r]
    double cone;   ///< max_i distance of r_i to its set T [unit of r]
    double motion; ///< ‖M v − f − Hᵀr − Cᵀλ‖ / (‖f‖ + ‖M v‖ + ‖Hᵀr‖); no unit; 0 in local form
    double constraint; ///< how well C v = k is met: max_j |C_j v − k_j| S_jj^−½, S = C M⁻¹ Cᵀ, over
                       ///< the largest root of a body's v·M v or |k_j| S_jj^−½; no unit
    double energy; ///< −Σ u_i · r_i, what friction dissipates [unit of u r]; >= 0 for an
                   ///< exact Coulomb solution without tension
    int32_t worst; ///< block with the largest contribution to `residual`; −1 if none
    int32_t open, stick, slip; ///< blocks by status; they add up to count
} talus_certificate;

TALUS_API talus_status talus_certify(const talus_problem *p, const double *r,
                                     talus_certificate *out) TALUS_MUST_CHECK;

TALUS_EXTERN_C_END
#endif // TALUS_PROBLEM_H
