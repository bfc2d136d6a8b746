// SPDX-License-Identifier: Apache-2.0
// Shapes that are rigid unions of others: clumps, and worms, whose parts are capsules. The search
// works with the pieces; what it finds is reported for the whole (docs/theory/collision.md).
#ifndef TL_COLLIDE_UNION_H
#define TL_COLLIDE_UNION_H
#include "collide/solid.h"

/// Whether shapes of this kind are unions.
bool tl_union_is(talus_shape_kind kind);
/// Check the fields of a clump or a worm.
talus_status tl_union_check(talus_context *ctx, int32_t dim,
                            const talus_shape_def *shape) TALUS_MUST_CHECK;
/// Fill in children and pieces of a union or a mesh; nothing for other shapes. `out` holds a copy
/// of the shape but for its parts. On failure what was made is left to tl_union_clear.
talus_status tl_union_make(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                           tl_solid *out) TALUS_MUST_CHECK;
void tl_union_clear(talus_context *ctx, tl_solid *s);
/// Mass of the union: what several parts fill counts once.
talus_status tl_union_mass(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                           double density, talus_mass *out) TALUS_MUST_CHECK;

/// Whether two points of the same items are one, found twice.
bool tl_touch_same(const tl_touch *s, const tl_touch *t);

/// Capsule number k of a worm: its height, and its place. Its radius is that of the worm.
double tl_worm_capsule(int32_t dim, const talus_shape_def *worm, int32_t k, tl_pose *place);

#endif // TL_COLLIDE_UNION_H
