// SPDX-License-Identifier: Apache-2.0
// Whether there is room: the ball around a grain against bodies that are there.
#include "collide/mesh.h"
#include "scene/scene_impl.h"

// A shape that a body is, or a piece of one.
static bool hits_solid(int32_t dim, const tl_placed *ball, const tl_placed *other,
                       double clearance) {
    tl_touch touch[TL_PAIR_MOST];
    // the bound on their number is 0 only where there is none; a ball has one contact per patch or
    // ridge, and being near to any is enough
    if (other->solid && other->solid->mesh)
        return tl_mesh_points(dim, ball, other, clearance, NULL) > 0;
    const int count = tl_pair_points(dim, ball, other, clearance, touch);
    for (int k = 0; k < count; k++)
        if (touch[k].gap < clearance) return true;
    return false;
}

bool tl_shape_hits(int32_t dim, const talus_shape_def *def, const tl_solid *own,
                   const tl_pose *pose, const tl_walls *walls, const double x[3], double radius,
                   double clearance) {
    const talus_shape_def sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
    const tl_solid solid = {.shape = sphere};
    const tl_pose here = {.x = {x[0], x[1], x[2]}, .q = {1.0, 0.0, 0.0, 0.0}};
    const tl_placed ball = {.shape = &solid.shape, .solid = &solid, .pose = &here};
    const double size = tl_shape_extent(dim, def);
    double d[3];
    tl_sub3(x, pose->x, d);
    if (isfinite(size) && tl_norm3(d) > size + radius + clearance) return false;
    if (def->kind <= TALUS_SHAPE_CYLINDER) {
        const tl_placed body = {.shape = def, .pose = pose, .walls = walls};
        return hits_solid(dim, &ball, &body, clearance);
    }
    if (!own) return true; // the ball around it
    for (int32_t k = 0; k < (own->piece ? own->pieces : 1); k++) {
        tl_pose place = *pose;
        const tl_solid *piece = own->piece ? own->piece[k].solid : own;
        if (own->piece) tl_pose_mul(pose, &own->piece[k].place, &place);
        const tl_placed body = {.shape = &piece->shape, .solid = piece, .pose = &place};
        if (hits_solid(dim, &ball, &body, clearance)) return true;
    }
    return false;
}

bool tl_scene_hits(const talus_scene *s, int32_t shape, const tl_pose *pose, const tl_walls *walls,
                   const double x[3], double radius, double clearance) {
    const tl_solid *own = shape < s->solid_count ? s->solid[shape] : NULL;
    return tl_shape_hits(s->dim, &s->shape[shape], own, pose, walls, x, radius, clearance);
}
