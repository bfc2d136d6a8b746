// SPDX-License-Identifier: Apache-2.0
// Primal-dual interior points for friction problems [docs/theory/interior-points.md]. Each block
// has
//     x = A r + a in the cone Q and its partner z,  A = diag(mu, 1, …), a = (yield, 0, …)
//     (0 <= mu < inf, not both mu and yield zero)
//     r_N > 0 and its partner y                      (mu = 0, mu = inf or yield > 0)
// with  u + s n = A z + y n,  x∘z = r_N y = μ → 0,  u = W r + q.
#ifndef TL_SOLVE_INTERIOR_H
#define TL_SOLVE_INTERIOR_H
#include "cone/jordan.h"
#include "solve/dual.h"
#include "solve/interior_system.h"

typedef struct tl_interior_options {
    tl_common_options common;
    int32_t form;     // 0: assembled, 1: matrix-free
    int32_t patience; // restarts without progress before giving up; 0: never
    bool warm;        // start from the r given, else from 0
} tl_interior_options;

extern const tl_option tl_interior_rows[];

enum { TL_INTERIOR_KRYLOV = 30 };

typedef struct tl_interior {
    tl_dual dual;
    bool direct;         // s = (mu − zeta)|u_T| inside the Newton system, else frozen and updated
    const double *ridge; // rows: W + diag(ridge) in place of W, for tl_feasible; else NULL
    int32_t cones;       // in all blocks
    bool *fixed;         // rows: r_T = 0
    double *z, *k;       // d * rows
    double *dr, *dz;     // d * rows: the step
    double *y, *ky, *dy; // rows
    double *s, *ds;      // rows: the shift [unit of u]
    double *slope;       // rows: 1/|u_T|, or zero where u_T is
    tl_scaling *scaling; // rows
    double *frame, *block; // rows × d × d: F and E of the system
    double *pool;          // where all of these vectors lie
    tl_interior_system system;
    double *krylov; // (TL_INTERIOR_KRYLOV + 1) × rows, direct only
    double gap;     // μ
    bool smooth;    // slope 1/√(|u_T|² + λ_i μ)
} tl_interior;

talus_status tl_interior_prepare(talus_solver *base, const talus_problem *p,
                                 bool direct) TALUS_MUST_CHECK;
void tl_interior_clear(talus_solver *base);
void tl_interior_solve(talus_solver *base, double *r, talus_solve_info *info);

/// From any r with u = W r + q and s set: x and z become the two parts of x − ρ z, ρ = 1/λ_i,
/// `push` [unit of u] inside of their cones.
void tl_interior_start(tl_interior *s, double push, double *r, const double *u);
/// The largest error of a block under the shift s, as a velocity: λ_i |r − P(r − (u + s n)/λ_i)|.
double tl_interior_error(const tl_interior *s, const double *r, const double *u);
/// One iteration: r and its partners take a step; u is W r + q of the r that comes in. Returns the
/// length of the step, 0 where none could be computed.
double tl_interior_step(tl_interior *s, double *r, const double *u);

#endif // TL_SOLVE_INTERIOR_H
