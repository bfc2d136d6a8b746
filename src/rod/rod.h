// SPDX-License-Identifier: Apache-2.0
// Rods as a model: one group of unknowns for each rod, one item (a capsule of the rest length) for
// each of its segments. What kind of rod it is is known to the files of the kinds alone
// (rod_impl.h) [theory/rods].
#ifndef TL_ROD_ROD_H
#define TL_ROD_ROD_H
#include "model/model.h"
#include "talus/world.h"

typedef struct tl_rod tl_rod;

/// The rods of a world, and the arrays behind talus_rod_view.
typedef struct tl_rods {
    tl_model base;
    int32_t count, room, node_room;
    tl_rod **rod;
    int32_t *start;                    ///< count + 1: first node of each
    double *x, *v, *director, *strain; ///< nodes, as they were at the end of the last step
    double *radius;                    ///< rods
    int32_t *material, *kind;          ///< rods
    double *begin, *end; ///< nodes: velocities at the beginning of the step and, without contacts,
                         ///< at its end
    int32_t *owner;      ///< segments: their rod
    double *chord;       ///< segments: their lengths where contacts are looked for
    tl_step prepared;    ///< the step that the rods are ready for; h = 0: none
} tl_rods;

talus_status tl_rods_create(talus_context *ctx, tl_rods **out) TALUS_MUST_CHECK;
/// Add a rod; an error says what of `def` is wrong, and leaves the rods as they were. `body` is the
/// pose of each end's body (NULL: held in space).
talus_status tl_rods_add(tl_rods *m, const talus_rod_def *def,
                         const tl_pose *const body[2]) TALUS_MUST_CHECK;
void tl_rods_drop(tl_rods *m); ///< take back the rod that was added last

static inline int32_t tl_rods_segments(const tl_rods *m) { return m->start[m->count] - m->count; }
const talus_rod_def *tl_rods_def(const tl_rods *m, int32_t rod);
/// The capsule that stands for a segment, numbered over all rods.
talus_shape_def tl_rods_shape(const tl_rods *m, int32_t segment);
/// Where a segment begins and ends along its rod, without loads [m].
void tl_rods_arc(const tl_rods *m, int32_t segment, double *begin, double *end);

/// Pose of the body that an end (0: start, 1: end) is held by, at the end of the step in hand; to
/// be called before the step asks for anything.
void tl_rods_hold(tl_rods *m, int32_t rod, int end, const tl_pose *body);

/// Where along its segment (0 to 1) the point at `arm` from the segment's pose is, and what is left
/// of `arm` from there.
double tl_rods_along(const tl_rods *m, int32_t segment, const tl_pose *pose, const double arm[3],
                     double offset[3]);
/// Velocity of a segment at `along`, at the beginning of the step and, without contacts, at its
/// end.
void tl_rods_velocity(const tl_rods *m, int32_t segment, double along, double begin[3],
                      double end[3]);
/// Whether a contact at `along` has no effect, because the node there is held.
bool tl_rods_is_idle(const tl_rods *m, int32_t segment, double along);

/// What a run changes: how many numbers, written where out is not NULL.
int64_t tl_rods_save(const tl_rods *m, double *out);
void tl_rods_load(tl_rods *m, const double *in); ///< as many as `save` counts

#endif // TL_ROD_ROD_H
