// SPDX-License-Identifier: Apache-2.0
// A mesh that moves among walls. What is within a convex room touches its walls with points of its
// hull, and those of a mesh are among its points: at each wall the nearest, and of the others
// within reach those that hold it best (docs/theory/collision.md, "Meshes").
#include "collide/convex_impl.h"
#include "collide/mesh.h"

enum { WALL_POINTS = 256 }; // points of a wall among which is chosen at a time

// Features: wall first, so that they ascend.
#define WALL_FEATURES ((uint32_t)1 << 28)

// The points of a mesh at one wall.
typedef struct mesh_wall {
    tl_couple couple; // only its size is used
    uint32_t id;
    double reach;
    int most, count;
    tl_spot spot[WALL_POINTS];
} mesh_wall;

// Point number `index` at p from the origin of the walls, `distance` away from one whose normal
// into the free space is n. Both points of the spot are the one on the wall: where a body can be
// held is a matter of what lies across the normal.
static void wall_put(mesh_wall *w, int32_t index, const double p[3], double distance,
                     const double n[3]) {
    if (!(distance <= w->reach)) return;
    if (w->count == WALL_POINTS)
        w->count = tl_manifold_reduce(&w->couple, w->reach, w->most, w->count, w->spot);
    tl_spot *s = &w->spot[w->count++];
    s->feature = WALL_FEATURES * w->id + (uint32_t)index;
    s->gap = distance;
    tl_scale3(-1.0, n, s->n);
    tl_axpy3(p, -distance, n, s->a);
    tl_copy3(s->a, s->b);
}

// `origin` leads from the origin of the walls to that of the mesh.
static int wall_take(mesh_wall *w, const double origin[3], tl_touch *out) {
    const int count = tl_manifold_reduce(&w->couple, w->reach, w->most, w->count, w->spot);
    for (int i = 0; i < count; i++) {
        const tl_spot *s = &w->spot[i];
        out[i].feature = s->feature;
        out[i].gap = s->gap;
        tl_copy3(s->n, out[i].normal);
        tl_copy3(s->a, out[i].arm_a);
        tl_axpy3(s->a, -s->gap, s->n, out[i].arm_b);
        tl_sub3(out[i].arm_b, origin, out[i].arm_b);
    }
    w->count = 0;
    return count;
}

int tl_pair_walls_mesh(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                       tl_touch *out) {
    const tl_walls *walls = a->walls;
    const tl_mesh *m = b->solid->mesh;
    mesh_wall w = {.couple = {.size = m->size}, .reach = reach, .most = dim == 2 ? 2 : 4};
    double origin[3], turn[3][3];
    int total = 0;
    tl_sub3(b->pose->x, walls->x, origin);
    for (int k = 0; k < 3; k++) {
        const double e[3] = {k == 0, k == 1, k == 2};
        tl_rotate_back(b->pose->q, e, turn[k]); // row k of the rotation
    }
    for (int wall = walls->round ? -1 : 0; wall < walls->planes; wall++) {
        w.id = wall < 0 ? 0 : walls->id[wall];
        for (int32_t i = 0; i < m->points; i++) {
            double p[3], inward[3], n[3];
            for (int k = 0; k < 3; k++) p[k] = origin[k] + tl_dot3(turn[k], m->point[i]);
            if (wall >= 0) {
                const double *normal = walls->normal[wall];
                wall_put(&w, i, p, tl_dot3(normal, p) + walls->offset[wall], normal);
                continue;
            }
            tl_axpy3(p, -tl_dot3(p, walls->axis), walls->axis, inward);
            tl_scale3(-1.0, inward, inward);
            const double distance = walls->radius - tl_pair_direction(inward, walls->side, n);
            wall_put(&w, i, p, distance, n);
        }
        total += wall_take(&w, origin, out + total);
    }
    return total;
}
