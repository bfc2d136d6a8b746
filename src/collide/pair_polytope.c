// SPDX-License-Identifier: Apache-2.0
// Capsules, boxes and polyhedra (2D: polygons) with each other, with balls and with walls.
#include "collide/convex.h"
#include "collide/convex_impl.h"
#include "collide/pair.h"

int tl_pair_polytopes(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                      tl_touch *out) {
    tl_convex ca, cb;
    tl_convex_view(dim, a->shape, a->solid, &ca);
    tl_convex_view(dim, b->shape, b->solid, &cb);
    return tl_polytope_points(dim, &ca, a->pose, &cb, b->pose, reach, out);
}

int tl_pair_convex(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                   tl_touch *out) {
    tl_convex ca, cb;
    tl_nearest near;
    tl_convex_view(dim, a->shape, a->solid, &ca);
    tl_convex_view(dim, b->shape, b->solid, &cb);
    if (!tl_convex_nearest(dim, &ca, a->pose, &cb, b->pose, reach, &near)) return 0;
    if (!(near.gap <= reach)) return 0;
    out->feature = 0;
    out->gap = near.gap;
    tl_copy3(near.normal, out->normal);
    tl_sub3(near.a, a->pose->x, out->arm_a);
    tl_sub3(near.b, b->pose->x, out->arm_b);
    return 1;
}

// A ball and the segment of a capsule. A centre on the segment is led out across it.
int tl_pair_sphere_capsule(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                           tl_touch *out) {
    const int up = dim - 1;
    const double half = 0.5 * b->shape->height, ra = a->shape->radius, rb = b->shape->radius;
    const double x_axis[3] = {1.0, 0.0, 0.0};
    double p[3], d[3], normal[3];
    tl_sub3(a->pose->x, b->pose->x, p);
    tl_rotate_back(b->pose->q, p, d);
    d[up] -= d[up] > half ? half : d[up] < -half ? -half : d[up];
    const double distance = tl_pair_direction(d, x_axis, normal);
    tl_rotate(b->pose->q, normal, out->normal);
    out->feature = 0;
    out->gap = distance - (ra + rb);
    tl_scale3(-ra, out->normal, out->arm_a);
    tl_axpy3(p, -(ra + out->gap), out->normal, out->arm_b);
    return out->gap <= reach;
}

// --- walls ---

// A corner of b at a wall: the core's point p (from the origin of the walls) with the margin.
static void wall_spot(uint32_t feature, double distance, const double n[3], const double p[3],
                      double margin, tl_spot *out) {
    out->feature = feature;
    out->gap = distance - margin;
    tl_scale3(-1.0, n, out->n);        // from b into the wall, which is a
    tl_axpy3(p, -margin, n, out->b);   // on the surface of b
    tl_axpy3(p, -distance, n, out->a); // on the wall
}

// Corners of b that count at a plane: those of the face that looks towards it.
static int wall_face(const tl_couple *c, const tl_hull *h, const double n[3], double reach,
                     int32_t *out) {
    const double down[3] = {-n[0], -n[1], -n[2]};
    int count = 0;
    double d[3];
    tl_couple_turn_to_b(c, down, d);
    if (h->corners == 2) {
        out[0] = 0, out[1] = 1;
        return 2;
    }
    const int32_t f = tl_hull_facing(h, d, TL_HULL_FLAT * c->size, reach, NULL);
    for (int32_t k = h->face_start[f]; k < h->face_start[f + 1]; k++) out[count++] = h->loop[k];
    return count;
}

static int wall_write(const tl_couple *c, double reach, int most, int count, tl_spot *spot,
                      tl_touch *out) {
    count = tl_manifold_reduce(c, reach, most, count, spot);
    for (int i = 0; i < count; i++) {
        out[i].feature = spot[i].feature;
        out[i].gap = spot[i].gap;
        tl_copy3(spot[i].n, out[i].normal);
        tl_copy3(spot[i].a, out[i].arm_a);
        tl_axpy3(spot[i].a, -spot[i].gap, spot[i].n, out[i].arm_b); // from the origin of the walls
        for (int k = 0; k < 3; k++) out[i].arm_b[k] -= c->shift[k];
    }
    return count;
}

int tl_pair_walls_polytope(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                           tl_touch *out) {
    const tl_walls *w = a->walls;
    const tl_pose frame = {.x = {w->x[0], w->x[1], w->x[2]}, .q = {1.0, 0.0, 0.0, 0.0}};
    static const talus_shape_def point = {.kind = TALUS_SHAPE_SPHERE};
    tl_convex view, nothing;
    tl_small_hull room;
    tl_couple c; // the frame of "a" is the world's about the origin of the walls
    tl_spot spot[TL_HULL_CORNERS];
    double p[TL_HULL_CORNERS][3];
    int32_t face[TL_HULL_CORNERS];
    const int most = dim == 2 ? 2 : 4;
    int total = 0;
    tl_convex_view(dim, &point, NULL, &nothing);
    tl_convex_view(dim, b->shape, b->solid, &view);
    tl_couple_make(dim, &nothing, &frame, &view, b->pose, &c);
    const tl_hull *h = tl_convex_hull(dim, &view, &room);
    for (int32_t k = 0; k < h->corners; k++) tl_couple_from_b(&c, h->corner[k], p[k]);
    if (w->round) {
        int count = 0;
        for (int32_t k = 0; k < h->corners; k++) {
            double inward[3], n[3];
            tl_axpy3(p[k], -tl_dot3(p[k], w->axis), w->axis, inward);
            tl_scale3(-1.0, inward, inward);
            const double distance = w->radius - tl_pair_direction(inward, w->side, n);
            if (distance - view.margin <= reach)
                wall_spot((uint32_t)k, distance, n, p[k], view.margin, &spot[count++]);
        }
        total += wall_write(&c, reach, most, count, spot, out);
    }
    for (int i = 0; i < w->planes; i++) {
        const double *n = w->normal[i];
        int count = wall_face(&c, h, n, reach, face), near = 0;
        for (int k = 0; k < count; k++) {
            const double distance = tl_dot3(n, p[face[k]]) + w->offset[i];
            if (distance - view.margin <= reach)
                wall_spot(w->id[i] * (uint32_t)TL_HULL_CORNERS + (uint32_t)face[k], distance, n,
                          p[face[k]], view.margin, &spot[near++]);
        }
        total += wall_write(&c, reach, most, near, spot, out + total);
    }
    return total;
}
