// SPDX-License-Identifier: Apache-2.0
// ipm: the convex problem by interior points, the shift of Coulomb's law frozen in it and updated
// outside. nipm: the shift inside the Newton system [docs/theory/interior-points.md].
#include "solve/interior.h"

static talus_status ipm_prepare(talus_solver *s, const talus_problem *p) {
    return tl_interior_prepare(s, p, false);
}

static talus_status nipm_prepare(talus_solver *s, const talus_problem *p) {
    return tl_interior_prepare(s, p, true);
}

#define INTERIOR(id, text)                                                                         \
    const tl_solver_ops tl_##id##_ops = {.name = #id,                                              \
                                         .summary = text,                                          \
                                         .size = sizeof(tl_interior),                              \
                                         .options_size = sizeof(tl_interior_options),              \
                                         .options = tl_interior_rows,                              \
                                         .prepare = id##_prepare,                                  \
                                         .solve = tl_interior_solve,                               \
                                         .clear = tl_interior_clear}

INTERIOR(ipm, "interior point on the convex problem, shift by fixed point");
INTERIOR(nipm, "interior point with the shift inside the Newton system");
