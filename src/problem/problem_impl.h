// SPDX-License-Identifier: Apache-2.0
// The problem as it is stored, for the files of src/problem and for operators and solvers (const).
#ifndef TL_PROBLEM_IMPL_H
#define TL_PROBLEM_IMPL_H
#include "base/context.h"
#include "cone/law.h"
#include "linalg/sparse.h" // tl_csr
#include "problem/ball_rows.h"
#include "talus/problem.h"

typedef struct tl_elimination tl_elimination; // constraint rows factored, see eliminate.c
typedef struct tl_mass tl_mass;               // M and its factors, see mass.c
typedef struct tl_condensed tl_condensed;     // the same problem without them, see condense.c

/// What the certificate finds in a part of the blocks, and the sum of their squares for `natural`.
enum { TL_CERTIFY_PART = 1024 };
typedef struct tl_certify_part {
    talus_certificate figures;
    double natural;
} tl_certify_part;

static inline int32_t tl_certify_part_count(int32_t blocks) {
    return blocks / TL_CERTIFY_PART + (blocks % TL_CERTIFY_PART > 0);
}

/// Scratch memory of a problem, so that its state and its certificate allocate nothing. It is
/// written through a constant problem: one calling thread at a time, as for the whole context. v
/// and u are what talus_certify judged, until the next call.
typedef struct tl_problem_work {
    double *v, *force; // dof
    double *momentum;  // dof, where M is not diagonal or there are constraint rows
    double *u;         // dim * count
    double *lambda;    // constraint_count
    double *column;    // dim * size of the largest body, once for each thread
    double *block;     // dim * sizes of the bodies of one block, the most there are
    double *loads;     // 2 * dim * constraint_count, global form
    double *stiffness; // count: λmax(W_ii) once the certificate has found it, NaN before
    tl_certify_part *part;
    bool rests; // force and stiffness, and perhaps v and u, were given back for the time being
} tl_problem_work;

/// Memory of arrays that may be the caller's instead; NULL then.
typedef struct tl_problem_own {
    double *mu, *dilatancy, *yield, *tension, *h, *f, *w;
    int64_t *h_start;
    int32_t *h_body, *body_start;
} tl_problem_own;

struct talus_problem {
    talus_context *ctx;
    int32_t dim, count;
    bool is_global;
    bool changes; // a view: q and the law may change under a solver that is prepared on it
    bool broken;  // the last update failed half way: nothing below can be relied on
    talus_law law;
    const double *mu;                          // count
    const double *dilatancy, *yield, *tension; // count, or NULL where all are zero
    double *q;                                 // dim * count: u at r = 0, constraints eliminated
    double q_norm, asymmetry, setup_seconds;
    double scale; // > 0: of the residual, in place of the largest load

    // Local form: block rows of W after elimination; columns ascending, diagonal block present.
    int64_t *w_start; // count + 1
    int32_t *w_col;
    double *w_block; // dim * dim each, row major
    // Local form with constraint rows: W and q as they were given (for files); else NULL.
    int64_t *given_start;
    int32_t *given_col;
    double *given_block, *given_q;

    // Global form.
    int32_t dof, body_count;
    const int32_t *body_start; // body_count + 1
    int32_t body_size;         // of all bodies, where they have the same; else 0
    int32_t threads;           // of the certificate
    int32_t largest;           // size of the largest body
    tl_mass *mass;
    const int64_t *h_start; // count + 1, in blocks
    const int32_t *h_body;  // ascending in a row
    int64_t *h_offset;      // start of each block in h_block, one more at the end
    const double *h_block;  // dim × size(body), row major: `own.h`, or the caller's. With `balls`
                            // they and h_offset are NULL until somebody needs them
    talus_ball_rows balls;  // normal NULL: H is given by blocks
    const double *f, *w;
    tl_problem_own own;
    // The caller has taken f and w, which were borrowed, back, and brings them again when asked.
    talus_status (*lend)(void *lender); // NULL: they are there
    void *lender;

    // Constraint rows of either form; rows == 0: none.
    int32_t constraint_count;
    tl_csr c;  // global: C by rows (constraint_count × dof). local: Bᵀ by rows (× dim * count)
    tl_csr p;  // local: P by rows
    double *k; // global: k; local: c
    bool dependent; // global: rows of C may depend on each other
    tl_elimination *elimination;
    tl_condensed *condensed; // global, where M is block diagonal: what solvers work on

    tl_problem_work work;
};

/// The law of block i, tension left out (it is a shift of r, see problem.h).
static inline tl_law tl_problem_law(const talus_problem *p, int32_t i) {
    tl_law law = {.mu = p->mu[i],
                  .zeta = p->dilatancy ? p->dilatancy[i] : 0.0,
                  .yield = p->yield ? p->yield[i] : 0.0};
    if (p->law == TALUS_LAW_ASSOCIATED) law.zeta = law.mu;
    return law;
}

/// Block k of H, of contact i: the stored one, or that of a ball, written to `room`.
static inline const double *tl_problem_h(const talus_problem *p, int32_t i, int64_t k,
                                         double room[TL_BALL_BLOCK]) {
    if (p->h_block) return p->h_block + p->h_offset[k];
    tl_ball_block(&p->balls, i, k, k > p->h_start[i], room);
    return room;
}
/// Write the blocks of H out, where they are those of balls and have not been: what reads h_block
/// and h_offset calls this first. Changes nothing that can be seen from outside.
talus_status tl_problem_write_h(const talus_problem *p) TALUS_MUST_CHECK;

/// Give scratch memory back until a state or a certificate is asked for, which then allocate; with
/// `state` also that of the last v and u.
void tl_problem_rest(talus_problem *p, bool state);
/// The caller takes f and w back; `lend` is to bring them again, with tl_problem_lend.
void tl_problem_take_back(talus_problem *p, talus_status (*lend)(void *lender), void *lender);
void tl_problem_lend(talus_problem *p, const double *f, const double *w);
/// Have the scratch memory, f and w: what reads them calls this first.
talus_status tl_problem_wake(const talus_problem *p) TALUS_MUST_CHECK;
/// What the certificate's residual is relative to: what a problem that is a part of this one has to
/// be given.
talus_status tl_problem_scale(const talus_problem *p, double *out) TALUS_MUST_CHECK;
/// Refuse a problem whose update has failed.
talus_status tl_problem_usable(const talus_problem *p) TALUS_MUST_CHECK;
/// True when M is block diagonal over the bodies and there are no constraint rows: then
/// N = M⁻¹ acts body by body and W couples only contacts that share a body.
bool tl_problem_is_separable(const talus_problem *p);
/// Separable problems: x ← M_b⁻¹ x for `columns` right-hand sides, each size(body) long, in a row.
void tl_problem_solve_body(const talus_problem *p, int32_t body, int32_t columns, double *x);
/// x ← N x, N = M⁻¹ − M⁻¹Cᵀ(C M⁻¹ Cᵀ)⁻¹C M⁻¹ : the velocity that an impulse x causes while the
/// constraints hold. x has dof entries. One thread at a time.
talus_status tl_problem_response(const talus_problem *p, double *x) TALUS_MUST_CHECK;
/// The same for `columns` vectors in a row: one pass over the factor serves several of them.
talus_status tl_problem_response_many(const talus_problem *p, int32_t columns,
                                      double *x) TALUS_MUST_CHECK;

/// y += Hᵀ r (dof) and y += H v (dim * count), global form.
void tl_problem_add_force(const talus_problem *p, const double *r, double *y);
void tl_problem_add_velocity(const talus_problem *p, const double *v, double *y);
/// The stored block (i, j) of W in local form, NULL where there is none.
const double *tl_problem_w_block(const talus_problem *p, int32_t i, int32_t j);

#endif // TL_PROBLEM_IMPL_H
