// SPDX-License-Identifier: Apache-2.0
// The loop of the projected-gradient methods: a rule makes one step after the other, and where the
// stop measure makes no progress for `patience` iterations the loop goes back to the best iterate
// and takes extragradient steps for a while [docs/theory/gradients.md].
#ifndef TL_SOLVE_GRADIENT_H
#define TL_SOLVE_GRADIENT_H
#include "solve/dual.h"

typedef struct tl_gradient_options {
    tl_dual_options dual;
    int32_t patience; // 0: the rule alone
} tl_gradient_options;

/// Rows of these options, for tables of structs that begin with a tl_gradient_options.
#define TL_GRADIENT_ROWS                                                                           \
    TL_DUAL_ROWS("first step, in units of r/u; 0: 1/lambda_max(W)"),                               \
        TL_ROW(tl_gradient_options, patience, TL_OPTION_INTEGER, "100", .low = 0,                  \
               .high = INT32_MAX,                                                                  \
               .text = "iterations without progress before extragradient steps from the best "     \
                       "iterate; 0: never")

extern const tl_option tl_gradient_rows[];

/// A method at work; first member of its own struct.
typedef struct tl_gradient {
    tl_dual *s;
    double *x, *u;        // the iterate and its velocity
    const double *before; // the iterate before x, its velocity being in next_u; NULL: there is none
    double *next, *next_u; // where a step puts the next ones
    double *a, *b, *c;     // room of the rule, which keeps its contents between two steps
    double step;           // of the rule [unit of r/u]; at the beginning, the first one
    /// Start afresh from (x, u): at the beginning, and after steps that were not the rule's.
    void (*begin)(struct tl_gradient *g);
    void (*advance)(struct tl_gradient *g);
} tl_gradient;

/// Nesterov's factor β from θ, which moves on to the next one.
double tl_gradient_momentum(double *theta);
/// The whole solve, with `begin` and `advance` set.
void tl_gradient_solve(talus_solver *base, tl_gradient *g, double *r, talus_solve_info *info);

#define TL_GRADIENT_OPS(id, text_name, text, options_type, rows)                                   \
    const tl_solver_ops tl_##id##_ops = {.name = text_name,                                        \
                                         .summary = text,                                          \
                                         .size = sizeof(tl_dual),                                  \
                                         .options_size = sizeof(options_type),                     \
                                         .options = rows,                                          \
                                         .prepare = tl_dual_prepare,                               \
                                         .solve = id##_solve,                                      \
                                         .clear = tl_dual_clear,                                   \
                                         .refresh = tl_dual_refresh,                               \
                                         .reuses = true};

#endif // TL_SOLVE_GRADIENT_H
