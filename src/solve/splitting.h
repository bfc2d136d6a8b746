// SPDX-License-Identifier: Apache-2.0
// Splitting methods: sweeps over the blocks, each solved with the others frozen. With W = D + L + U
// in d × d blocks, u⁺ = W₁ r⁺ + W₂ r + q: Gauss-Seidel takes W₁ = D + L, Jacobi W₁ = D. One core,
// two solvers (solver_nlgs.c, solver_jacobi.c) [docs/theory/splitting.md].
#ifndef TL_SOLVE_SPLITTING_H
#define TL_SOLVE_SPLITTING_H
#include "cone/lorentz.h"
#include "solve/balls.h"
#include "solve/pairs.h"
#include "solve/solver_impl.h"

typedef enum tl_form { TL_FORM_AUTO, TL_FORM_ASSEMBLED, TL_FORM_MATRIX_FREE } tl_form;
typedef enum tl_order { TL_ORDER_AUTO, TL_ORDER_NATURAL, TL_ORDER_COLOURED } tl_order;
typedef enum tl_step_rule { TL_STEP_LAMBDA, TL_STEP_MASS } tl_step_rule;

typedef struct tl_splitting_options {
    tl_common_options common;
    int32_t local; // index in tl_local_solvers
    int32_t form, order;
    int32_t sleep;          // sweeps a settled block is passed over; 0: never
    double sleep_level;     // settled: the block changed by less than this share of its tolerance
    int32_t open;           // sweeps a block without impulse is passed over; 0: never
    double proximal;        // β in units of tr(W_ii)/d
    double relaxation;      // r ← r + ω (r⁺ − r)
    int32_t patience;       // sweeps without progress before β is raised; 0: never
    bool momentum;          // nonlinear conjugate gradients on the sweeps
    double inertia;         // with momentum: largest share of Nesterov's; 0: conjugate gradients;
                            // < 0: chosen
    bool follow;            // the share rises and falls with what the sweeps make of it
    int32_t relaxed;        // first sweeps from zero, under the associated law
    bool symmetric;         // every other sweep backwards
    double local_tolerance; // of the one-contact solver, relative;
    double local_absolute;  // and on |F_FB|²
    int32_t local_iterations;
    int32_t step_rule; // unit of the step of one-step local solvers
    double step;
    bool warm; // start from the r given, else from 0
} tl_splitting_options;

extern const tl_option tl_splitting_rows[];

/// What is known of a 3 × 3 block before its velocity comes, by the law in force.
typedef union tl_known {
    tl_schur schur;  // Coulomb's
    tl_lorentz cone; // the associated one
} tl_known;

/// Asked after every check that did not end the solve: true ends it, as stalled.
typedef bool (*tl_splitting_leave)(void *user, int32_t sweeps, double measure);

typedef struct tl_splitting {
    talus_solver base;
    bool jacobi;
    const tl_local_solver *local;
    tl_graph graph; // of the coupling, as far as it was needed
    tl_plan plan;
    tl_delassus w;
    // All contacts are of balls, or of pairs of bodies, and swept as such, `abreast`: of `w` only
    // sizes are there, and vectors by rows are laid out as in lanes.h.
    bool round, paired, abreast;
    bool general;   // set by the owner: never `abreast`, and with W by blocks unless told otherwise
    tl_balls balls; // where round
    tl_pairs pairs; // where paired
    bool glides;    // abreast, with Nesterov's momentum and no other: `glide` and `z_before` do
                    // then what `change`, `push`, `z_push` and `z_before` do otherwise
    bool lanes;     // groups are solved side by side by the lane form of the local solver
    // Entry k of a row is at [row * entries + k], with lanes at
    // [(group * entries + k) * TL_LANES + lane]; see tl_splitting_at.
    double *block; // d * d entries: W_ii + β
    double *law;   // mu, zeta, yield
    // By rows.
    double *inverse; // d * d: of W_ii + β; NULL with lanes, and where no block needs it
    bool *sound;     // the quick ways of slide.h, lorentz.h, axes.h may be taken; NULL with lanes
    tl_known *known; // d = 3, where sound; NULL with lanes
    tl_axes *axes;   // d = 6, likewise
    double *rho;     // step
    double *beta;    // proximal term
    double *lambda;  // λmax(W_ii), or a bound where none of the options needs it
    // By rows, d entries each.
    double *r, *best, *next;   // best: NULL where abreast, for the caller's r holds it then
    const double *centre;      // of the proximal term, in place of r itself; NULL: r. Borrowed
    double *change, *push;     // with momentum: of the last sweep; the direction carried on
    double *glide;             // see lanes.h
    double *z;                 // matrix-free: N Hᵀ r, by unknowns
    double *z_push, *z_before; // with momentum
    int32_t *asleep;           // rows: sweeps left to sleep
    double *part;              // TL_PARTS sums per chunk, added up in the order of the chunks
    bool associated;           // for now all blocks obey the associated law
    bool crowded;              // which momentum is chosen here, as blocks act on many bodies
    double inertia, calm;      // largest share of Nesterov's momentum, and β that it begins with
    double proximal;           // β in force, in units of tr(W_ii)/d
    double scale;              // of the `residual` measure
    tl_splitting_leave leave;  // NULL: never
    void *leave_user;
    double crowding; // jacobi: an estimate of λmax(D⁻¹ W), by which it is relaxed; nlgs: 1
} tl_splitting;

static inline int64_t tl_splitting_at(const tl_splitting *s, int32_t row, int entries, int k) {
    return s->lanes ? ((int64_t)(row / TL_LANES) * entries + k) * TL_LANES + row % TL_LANES
                    : (int64_t)row * entries + k;
}

/// Length of z_before: where contacts glide it leaves out what does not change.
static inline int64_t tl_splitting_spread(const tl_splitting *s) {
    return s->glides ? s->w.dof / TL_LANES_BODY * TL_LANES_MOVES : s->w.dof;
}
/// Where in z entry k of z_before belongs.
static inline int64_t tl_splitting_place(const tl_splitting *s, int64_t k) {
    return s->glides ? k / TL_LANES_MOVES * TL_LANES_BODY + k % TL_LANES_MOVES : k;
}

talus_status tl_splitting_prepare(talus_solver *base, const talus_problem *p, bool jacobi);
void tl_splitting_solve(talus_solver *base, double *r, talus_solve_info *info);
void tl_splitting_clear(talus_solver *base);
void tl_splitting_refresh(talus_solver *base);

#endif // TL_SOLVE_SPLITTING_H
