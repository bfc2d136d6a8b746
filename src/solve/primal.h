// SPDX-License-Identifier: Apache-2.0
// What the primal-dual methods share [docs/theory/primal-dual.md]. They look for v and y with
//     M v = f + Aᵀ y,   a = A v + b,   (a_i, y_i) obeys the law of row i
// where the rows of A are those of H (law of the contact, y = r, b = w) and of C (y = λ free, a =
// 0, b = −k). Two spaces:
//     velocities  v, M, f, H, C as given; global problems only
//     impulses    M v = f + Hᵀ x + Cᵀλ with C v = k held: v is stood for by x, so that M becomes 1,
//                 f 0, Aᵀ 1 and a = W x + q; all problems, W only through products
// A method is a map of a state: stacked vectors (one entry per row of A; y comes first), then
// vectors of the space. The loop applies it, with Nesterov's momentum where asked for.
#ifndef TL_SOLVE_PRIMAL_H
#define TL_SOLVE_PRIMAL_H
#include "linalg/spd.h"
#include "solve/dual.h"

/// Options of the methods with a proximal term; the rows below also serve other structs that begin
/// with a tl_dual_options and have the field.
typedef struct tl_primal_options {
    tl_dual_options dual;
    double beta;     // weight of the proximal term on v; 0: chosen
    int32_t space;   // a tl_primal_space
    bool accelerate; // momentum with restart
} tl_primal_options;

typedef enum tl_primal_space {
    TL_SPACE_AUTO,
    TL_SPACE_IMPULSES,
    TL_SPACE_VELOCITIES
} tl_primal_space;

const char *tl_primal_space_name(int k);

#define TL_PRIMAL_ROW_SPACE(type)                                                                  \
    TL_ROW(type, space, TL_OPTION_CHOICE, "auto", .choice = tl_primal_space_name,                  \
           .text = "unknowns beside r: impulses (uses W) or velocities (uses M, H, C; global "     \
                   "problems)")
#define TL_PRIMAL_ROW_BETA                                                                         \
    TL_ROW(tl_primal_options, beta, TL_OPTION_NUMBER, "0", .low = 0.0, .high = INFINITY,           \
           .text =                                                                                 \
               "weight of the proximal term on the velocities; 0: chosen, see the theory page")
#define TL_PRIMAL_ROW_ACCELERATE(type, initial)                                                    \
    TL_ROW(type, accelerate, TL_OPTION_YES_NO, initial, .text = "Nesterov's momentum with restart")

/// Decrease of squared steps below which momentum leads away, but for methods close to gradients.
#define TL_PRIMAL_DECREASE 0.999

enum { TL_PRIMAL_STATES = 4, TL_PRIMAL_WORK = 3 };

typedef struct tl_primal {
    tl_dual dual;
    bool velocities;
    int64_t n;      // entries of v: dof, or those of y
    int64_t rows;   // constraint rows that are kept as such: those of C, or 0
    int64_t stack;  // entries of y: dual.size + rows
    int stacks, vs; // vectors of a state: stacked ones, and ones of the space
    double *f;      // n: force less that of the tension; 0 in impulses
    double *metric; // n: D of the proximal term, diag(M) or 1
    double *omega;  // stack: row k has the step gamma / omega_k
    double scale;   // mean of diag(M) in units of D
    double norm;    // λmax(Ω^-½ A D⁻¹ Aᵀ Ω^-½), or with M for D where told so, from above
    double gamma, beta;
    double growth;   // of squared steps, beyond which momentum is forgotten
    tl_spd *shifted; // velocities and beta > 0: M + beta D
    double *state[TL_PRIMAL_STATES];
    double *work[TL_PRIMAL_WORK]; // max(stack, n)
} tl_primal;

/// The full M by compressed columns.
talus_status tl_primal_mass(talus_context *ctx, const talus_problem *p, tl_csr *out);

/// One step from one state to another (they do not overlap). True: forget the momentum.
typedef bool tl_primal_step(tl_primal *s, const double *from, double *to);

/// Everything but norm, gamma, beta and shifted.
talus_status tl_primal_prepare(talus_solver *base, const talus_problem *p, bool velocities,
                               int stacks, int vs);
/// Set `norm`, with M in place of D where `exact`.
void tl_primal_measure(tl_primal *s, bool exact);
/// λmax(D⁻¹ M), from above; 1 in impulses.
double tl_primal_largest_mass(tl_primal *s);
/// gamma and beta = gamma norm from the options; beta = `inertia` times the mass where they say
/// nothing.
void tl_primal_steps(tl_primal *s, double inertia);
/// Make M + beta D ready for tl_primal_solve.
talus_status tl_primal_shift(tl_primal *s);
void tl_primal_clear(talus_solver *base);

/// The whole solve, with momentum where told so.
void tl_primal_loop(tl_primal *s, double *r, talus_solve_info *info, bool accelerate,
                    tl_primal_step *step);

/// a = A v + b
void tl_primal_velocity(const tl_primal *s, const double *v, double *a);
/// out = Aᵀ y
void tl_primal_force(const tl_primal *s, const double *y, double *out);
/// z = M v − f
void tl_primal_momentum(const tl_primal *s, const double *v, double *z);
/// x ← (M + beta D)⁻¹ x
void tl_primal_solve(const tl_primal *s, double *x);
/// With steps σ = gamma/ω: out = P(y − σ (a + g(a))), and, unless NULL, u = (out − y)/σ + a, the
/// velocities that out belongs to.
void tl_primal_project(const tl_primal *s, double gamma, const double *y, const double *a,
                       double *out, double *u);

/// Vector k of a state: stacked, and of the space.
static inline int64_t tl_primal_stacked(const tl_primal *s, int k) { return k * s->stack; }
static inline int64_t tl_primal_spaced(const tl_primal *s, int k) {
    return s->stacks * s->stack + k * s->n;
}

#endif // TL_SOLVE_PRIMAL_H
