// SPDX-License-Identifier: Apache-2.0
// One-contact solvers: given W (d × d), b and the law, find r with u = W r + b obeying it.
// A sweep of Gauss-Seidel visits the blocks one by one and calls one of these on each.
#ifndef TL_CONE_LOCAL_H
#define TL_CONE_LOCAL_H
#include "cone/law.h"
#include <stdint.h>

/// Contacts solved together by the lane form of a solver; equal on every machine, so that results
/// do not depend on the width of its registers.
#define TL_LANES 8

typedef struct tl_local_control {
    double tolerance; // on tl_local_error
    int iterations;   // most Newton steps of one visit
} tl_local_control;

/// What the sliding search can know of a 3 × 3 block before b comes: the tangent once the normal is
/// eliminated, T = W_TT − W_TN W_NT / W_NN.
typedef struct tl_schur {
    double inverse_nn;         // 1 / W_NN
    double t11, t12, t21, t22; // T
    double b1, b2;             // W_TN / W_NN
    double inverse_det;        // 1 / det T
} tl_schur;

/// False when W is too badly conditioned for results that are not refined afterwards.
bool tl_schur_make(const double *w, tl_schur *out);

/// The same of a 6 × 6 block, in the principal axes of its T, λ ascending. Vectors of five are
/// filled up to eight: λ with ones, the rest with zeros.
typedef struct tl_axes {
    double inverse_nn;           // 1 / W_NN
    double lambda[8], couple[8]; // of T; W_NT in its axes
    double q[5 * 8];             // row j: the tangent j in the axes
} tl_axes;

/// False when W is not symmetric, or too badly conditioned for results that are not refined.
bool tl_axes_make(const double *w, tl_axes *out);

/// One problem. `inv` is W⁻¹, or NULL where it is to be computed when needed; `rho` the step of the
/// methods that have one [unit of r/u]; `schur` and `axes` may be NULL and help d = 3 and d = 6.
/// `free` is the velocity of the block without any impulse, or NULL: b stands in for it. `least` is
/// the smallest size that errors are relative to [unit of r]: where a visit need not be better than
/// |F_FB| = x, it is x / tolerance.
typedef struct tl_local {
    const double *w, *inv, *b, *free;
    const tl_schur *schur;
    const tl_axes *axes;
    tl_law law;
    double rho, least;
} tl_local;

/// Improve r (in: start, out: result). Returns the steps taken, or −1 when the tolerance was
/// missed; r is then the best iterate. TL_LOCAL_SAVED is added to the steps where the first method
/// of two missed it.
enum { TL_LOCAL_SAVED = 1 << 20 };
typedef int (*tl_local_fn)(const tl_local *p, const tl_local_control *control, double *r);

/// The same for TL_LANES independent contacts: entry k of lane l stands at [k * TL_LANES + l].
/// `law` holds the rows mu, zeta, yield.
typedef void (*tl_local_lanes_fn)(const double *w, const double *law, const double *rho,
                                  const double *b, double *r);

/// A method for d = 2, 3, 6 (see tl_dim_index); lanes[0] == NULL: there is no lane form.
typedef struct tl_local_forms {
    tl_local_fn solve[3];
    tl_local_lanes_fn lanes[3];
} tl_local_forms;

typedef struct tl_local_solver {
    const char *name, *summary;
    bool exact; // a visit solves the block to the tolerance; else it takes one step towards it
    const tl_local_forms *forms;
} tl_local_solver;

static inline int tl_dim_index(int d) { return d == 2 ? 0 : d == 3 ? 1 : 2; }

extern const tl_local_forms tl_local_sbp, tl_local_sal, tl_local_epdas, tl_local_ipdas,
    tl_local_pyramid, tl_local_ebp, tl_local_eal, tl_local_ac, tl_local_ac_damped, tl_local_fb,
    tl_local_enum, tl_local_hybrid, tl_local_hybrid_newton, tl_local_hybrid_enum, tl_local_ac_enum,
    tl_local_ac_damped_enum, tl_local_fixed_point, tl_local_fixed_point_enum, tl_local_four_sides,
    tl_local_four_sides_enum;

extern const tl_local_solver tl_local_solvers[]; // ends with name == NULL
const tl_local_solver *tl_local_find(const char *name);

/// Relative error of r: |F_FB| / max(ξ|b| + |r|, least) with ξ = d / tr W, F_FB the
/// Fischer-Burmeister function, or the De Saxcé function where a yield is set. No unit.
double tl_local_error(int d, const tl_local *p, const double *r);

#endif // TL_CONE_LOCAL_H
