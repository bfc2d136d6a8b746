// SPDX-License-Identifier: Apache-2.0
// What methods on the impulses share that use W only through products: the operator, the laws, a
// few vectors, and the loop's bookkeeping. A vector has d entries per row; rows are in the order of
// the problem, padded to groups. Products run on threads; all sums have one order.
#ifndef TL_SOLVE_DUAL_H
#define TL_SOLVE_DUAL_H
#include "solve/plan.h"
#include "solve/solver_impl.h"

typedef struct tl_dual_options {
    tl_common_options common;
    double step;   // first step [unit of r/u]; 0: 1/λmax(W)
    int32_t form;  // a tl_dual_form
    bool diagonal; // precondition by the diagonal blocks' λmax
    bool warm;     // start from the r given, else from 0
    double unit;   // of the measure `step` [unit of r]
} tl_dual_options;

typedef enum tl_dual_form { TL_DUAL_ASSEMBLED, TL_DUAL_MATRIX_FREE, TL_DUAL_AUTO } tl_dual_form;

const char *tl_dual_form_name(int k);       // of all forms
const char *tl_dual_fixed_form_name(int k); // without auto

/// The rows of these options, for tables of structs that begin with a tl_dual_options; the default
/// of the step is the method's and said in its text.
#define TL_DUAL_ROWS(step_text)                                                                    \
    TL_ROW(tl_dual_options, form, TL_OPTION_CHOICE, "auto", .choice = tl_dual_form_name,           \
           .text = "keep W by blocks, or only H and M (global problems); auto: the latter, where " \
                   "M couples no bodies"),                                                         \
        TL_ROW(tl_dual_options, step, TL_OPTION_NUMBER, "0", .low = 0.0, .high = INFINITY,         \
               .text = (step_text)),                                                               \
        TL_ROW(tl_dual_options, diagonal, TL_OPTION_YES_NO, "yes",                                 \
               .text = "measure each block by lambda_max(W_ii) (preconditioning)"),                \
        TL_ROW(tl_dual_options, warm, TL_OPTION_YES_NO, "yes",                                     \
               .text = "start from the impulses given, else from zero"),                           \
        TL_ROW(tl_dual_options, unit, TL_OPTION_NUMBER, "1", .low = 0.0, .high = INFINITY,         \
               .text = "impulse that counts as small in stop = step")

extern const tl_option tl_dual_rows[];

enum { TL_DUAL_VECTORS = 8, TL_DUAL_BLOCK = 1024, TL_DUAL_SUMS = 3 };

typedef struct tl_dual {
    talus_solver base;
    tl_plan plan;
    tl_delassus w;
    int32_t interval; // iterations between checks where the user does not say
    bool borrowed;    // plan and w are another solver's
    int64_t size;     // d * rows, d being w.dim: 1 where only the normal rows are worked on
    tl_law *law;      // rows
    double *lambda;   // rows: λmax(W_ii)
    double *trace;    // rows: tr W_ii
    double *weight;   // rows: metric of the projection, 1 or λmax(W_ii)/max λmax
    bool uniform;     // all weights are 1
    double scale;     // of the `residual` measure
    double largest; // an estimate of λmax(W), in the metric of `weight`, from above; where a step
                    // is given, what that step is the inverse of
    double *part;   // TL_DUAL_SUMS sums over TL_DUAL_BLOCK rows each, added up in order
    double *vector[TL_DUAL_VECTORS];
    double *best;
    bool warm;   // start from the r given
    double unit; // of the measure `step` [unit of r]
    // The running solve.
    bool lazy;               // the best iterate is left where it lies, see tl_dual_yield
    const double *best_at;   // there, while it is not in `best`; else NULL
    const double *from, *to; // the last tl_dual_carry went from x here to there, with
    double moved, norm;      // |to − from|² and |from|²
    talus_solve_info *info;
    double start, best_measure;
    double measure; // at the last check
    int32_t iterations;
    int32_t decided; // iteration for which the next four hold
    bool due, last, late, cancelled;
} tl_dual;

/// On the rows of another solver, which must outlive this one.
talus_status tl_dual_adopt(talus_solver *base, const tl_plan *plan, const tl_delassus *w,
                           int vectors, bool warm);
/// Everything but `largest`, for solvers whose options have only their first member, the common
/// ones, like the others here.
talus_status tl_dual_prepare_as(talus_solver *base, const talus_problem *p, int vectors,
                                bool assembled, bool diagonal, bool warm);
/// Everything but `largest` and with the first `vectors` of the vectors only.
talus_status tl_dual_prepare_basic(talus_solver *base, const talus_problem *p, int vectors);
/// What tl_dual_over needs and the first `vectors` of the vectors, but no operator, and sizes of
/// the diagonal blocks only where the measure to stop on needs them: for methods that get u in
/// another way.
talus_status tl_dual_prepare_judge(talus_solver *base, const talus_problem *p, int vectors,
                                   bool warm);
/// Everything.
talus_status tl_dual_prepare_whole(talus_solver *base, const talus_problem *p);
/// True when the problem can be had by its normal rows: nothing rubs and nothing will, and the
/// measure to stop on does not look at the tangents.
bool tl_dual_is_smooth(const talus_problem *p, tl_measure measure);
/// Everything; where nothing rubs and the operator is matrix-free, the normal rows alone (w.dim is
/// then 1): r_T = 0, and u_T does not matter.
talus_status tl_dual_prepare(talus_solver *base, const talus_problem *p);
void tl_dual_clear(talus_solver *base);
/// The problem's q and laws have changed, see solver_impl.h; with or without operator.
void tl_dual_refresh(talus_solver *base);

/// From the impulses of the caller to rows, and back.
void tl_dual_import(const tl_dual *s, const double *r, double *to);
void tl_dual_export(const tl_dual *s, const double *from, double *r);
/// Begin: r of the caller into `to`, as it is. End: the best iterate back to r.
void tl_dual_begin(tl_dual *s, const double *r, double *to, talus_solve_info *info);
void tl_dual_end(tl_dual *s, double *r);

/// u = W r + q
void tl_dual_apply(const tl_dual *s, const double *r, double *u);
/// out = P(r − step (u + g(u))) block by block, in the metric of `weight`; out may be r.
void tl_dual_step(const tl_dual *s, const double *r, const double *u, double step, double *out);
/// Before a lazy solver writes over a vector: the best iterate, if it lies there, moves to `best`.
void tl_dual_yield(tl_dual *s, const double *vector);
/// The same from y = x + β (x − before) and its velocity u + β (u − before_u), which are not kept.
/// Returns F(y)·(out − x). `out` is none of the others. On threads.
double tl_dual_carry(tl_dual *s, const double *x, const double *before, const double *u,
                     const double *before_u, double beta, double step, double *out);
/// f = u + g(u); f may be u.
void tl_dual_shift(const tl_dual *s, const double *u, double *f);
double tl_dual_dot(const tl_dual *s, const double *x, const double *y);
/// f·(x − y)
double tl_dual_slope(const tl_dual *s, const double *f, const double *x, const double *y);
/// (x − y)·(v − w)
double tl_dual_dot_difference(const tl_dual *s, const double *x, const double *y, const double *v,
                              const double *w);
/// |x − y|² in the metric of `weight`, for impulses
double tl_dual_distance(const tl_dual *s, const double *x, const double *y);
/// |v − w|² in the dual metric, where a block counts with 1/weight, for velocities
double tl_dual_distance_u(const tl_dual *s, const double *v, const double *w);
/// out = x + factor (x − y); out may be x or y.
void tl_dual_extrapolate(const tl_dual *s, const double *x, const double *y, double factor,
                         double *out);
/// A measure at (r, u); `change` is that from `before` to r, INFINITY where it is NULL. `residual`
/// and `fb` need the sizes of the diagonal blocks, see tl_dual_prepare_judge.
double tl_dual_measure(const tl_dual *s, tl_measure measure, const double *r, const double *u,
                       const double *before);
/// An extragradient step from (x, u): `next`, and its velocity, from F at a trial point `middle`.
/// The step is cut and raised by the rule of docs/theory/gradients.md. Two products.
void tl_dual_extragradient(const tl_dual *s, const double *x, const double *u, double *step,
                           double *next, double *next_u, double *middle, double *middle_u,
                           double *room);
/// True when the next tl_dual_over will look at u: only then need it be up to date.
bool tl_dual_due(tl_dual *s);
/// Within a long iteration: whether the clock or the caller ends it now. The next tl_dual_over is
/// then the last.
bool tl_dual_hurried(tl_dual *s);
/// Once per iteration, before it: judge (r, u), `before` being the iterate before r (for the rule
/// `change`). True when the solve is over; the outcome is then in the info.
bool tl_dual_over(tl_dual *s, const double *r, const double *u, const double *before);
/// For methods that end by themselves: judge their last (r, u), due or not, in place of
/// tl_dual_over. The outcome is solved or stalled. `replace`: what was better before is forgotten.
void tl_dual_finish(tl_dual *s, const double *r, const double *u, const double *before,
                    bool replace);

#endif // TL_SOLVE_DUAL_H
