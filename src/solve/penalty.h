// SPDX-License-Identifier: Apache-2.0
// How the penalty of ADMM and its relatives follows the iteration [docs/theory/primal-dual.md].
#ifndef TL_SOLVE_PENALTY_H
#define TL_SOLVE_PENALTY_H
#include "solve/primal.h"

typedef enum tl_penalty_rule {
    TL_PENALTY_FIXED,
    TL_PENALTY_BALANCED, // the relative residuals are kept alike
    TL_PENALTY_SPECTRAL  // curvatures of the quadratic part and of the law, Xu et al.
} tl_penalty_rule;

const char *tl_penalty_rule_name(int k);

#define TL_PENALTY_ROW(type)                                                                       \
    TL_ROW(type, rule, TL_OPTION_CHOICE, "spectral", .choice = tl_penalty_rule_name,               \
           .text = "how the penalty follows the iteration; it begins at `step`")

enum { TL_PENALTY_SNAPSHOTS = 4 };

typedef struct tl_penalty {
    int32_t rule;
    int64_t stack;
    double wait;  // iterations between looks; grows, so that changes become rare
    int32_t look; // iteration of the next look
    double *snapshot[TL_PENALTY_SNAPSHOTS]; // spectral: the vectors of the last look
} tl_penalty;

talus_status tl_penalty_create(talus_context *ctx, int32_t rule, int64_t stack, tl_penalty *out);
void tl_penalty_clear(talus_context *ctx, tl_penalty *t);
void tl_penalty_begin(tl_penalty *t);
bool tl_penalty_due(const tl_penalty *t, const tl_primal *s);
/// The factor for s->gamma; 1: keep it. After a step from u: `trial` are the impulses that the
/// velocities a belong to, (next_y, next_u) the pair that obeys the law. `work` has stack entries.
double tl_penalty_factor(tl_penalty *t, const tl_primal *s, const double *trial, const double *a,
                         const double *u, const double *next_y, const double *next_u, double *work);

#endif // TL_SOLVE_PENALTY_H
