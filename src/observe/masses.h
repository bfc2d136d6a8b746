// SPDX-License-Identifier: Apache-2.0
// Mass properties of shapes at density 1, worked out when first needed. Those of unions take long;
// grains are often scaled copies of one shape, and then follow from it.
#ifndef TL_OBSERVE_MASSES_H
#define TL_OBSERVE_MASSES_H
#include "talus/shape.h"

typedef struct tl_masses {
    talus_mass *mass; ///< by number of the shape
    int32_t count;
} tl_masses;

/// Those of all `count` shapes, of which the first ones have been seen before. A mesh, which is an
/// obstacle, is as unbounded shapes are: infinite, about its origin.
talus_status tl_masses_update(talus_context *ctx, tl_masses *m, int32_t dim,
                              const talus_shape_def *shape, int32_t count) TALUS_MUST_CHECK;
void tl_masses_clear(talus_context *ctx, tl_masses *m);
/// How many times larger b is than a, which has the same form; 0: it has not.
double tl_shape_ratio(const talus_shape_def *a, const talus_shape_def *b);

#endif // TL_OBSERVE_MASSES_H
