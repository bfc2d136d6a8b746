// SPDX-License-Identifier: Apache-2.0
// What the files on a convex shape and a mesh share. They work in the frame of the mesh.
#ifndef TL_COLLIDE_PAIR_MESH_H
#define TL_COLLIDE_PAIR_MESH_H
#include "collide/convex.h"
#include "collide/mesh.h"

// Directions may be off by this much (rounding).
#define TL_MESH_TURN 1e-9

enum { TL_MESH_STUCK = 32 }; ///< facets that are looked after once more

typedef struct tl_mesh_work {
    int32_t dim;
    const tl_mesh *m;
    tl_placed shape;      // in the frame of the mesh
    tl_pose pose;         // of it
    const tl_pose *frame; // of the mesh in the world
    double centre[3];     // a point within the shape
    double reach;
    double shift, slack; // lengths that are rounding: along the surface, in directions
    double into;         // how far a shape may go into a valley
    double tilt;         // sine by which directions at corners may be off
    tl_mesh_query query;
    // Where another way out may be shorter than those found: facets and edges of them (−1: any);
    // more are not noted.
    int32_t stuck[TL_MESH_STUCK], stuck_edge[TL_MESH_STUCK];
    int stucks;
    tl_touch *out; // NULL: only counted
    int64_t count;
} tl_mesh_work;

/// A contact at the point p of the mesh with normal n, both in its frame; until the contacts are
/// settled they stay in it, arm_b is p, `a` is the facet they are at and `b` the edge (−1: none).
/// Elements are facets (of patches: the first), then edges, then points; `point` says which of the
/// shape's points it is there.
void tl_mesh_put(tl_mesh_work *w, int64_t element, uint32_t point, double gap, const double n[3],
                 const double p[3], int32_t facet, int32_t edge);
/// Whether point p, or edge e (2D: point), is the nearest of its surroundings in direction d.
bool tl_mesh_is_peak(const tl_mesh *m, int32_t p, const double d[3], double tilt);
bool tl_mesh_is_crest(const tl_mesh *m, int32_t e, const double d[3], double tilt);
/// The normal of facet t on the side of the shape: of a solid the outer one.
void tl_mesh_front(const tl_mesh_work *w, int32_t t, double n[3]);
/// Depth of the shape behind the plane through p across d, negative, and its deepest point.
double tl_mesh_depth(const tl_mesh_work *w, const tl_convex *view, const double p[3],
                     const double d[3], double deepest[3]);
/// Whether facet t is the one that looks after its edge number k: ridges are looked at once.
bool tl_mesh_owns(const tl_mesh_work *w, int32_t t, int k, int32_t *edge);

/// Whether a contact that overlaps leads all of the shape out along its normal: nothing of it is
/// deeper.
bool tl_mesh_has_way(const tl_mesh_work *w, const tl_convex *view);
/// Leave out contacts that are deeper than the way out another one shows.
void tl_mesh_suppress(tl_mesh_work *w, const tl_convex *view);
/// Ways out where others may be too long, or, where there is none, facets go through the shape.
void tl_mesh_unstick(tl_mesh_work *w, const tl_convex *view);

#endif // TL_COLLIDE_PAIR_MESH_H
