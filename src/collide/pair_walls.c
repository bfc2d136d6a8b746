// SPDX-License-Identifier: Apache-2.0
// Unbounded shapes as walls around a free space, and boxes at them. A box is nearest to a plane,
// and to the inside of a cylinder, at one of its corners, so that these are the contact points; a
// face at rest on a wall touches with all of its corners.
#include "collide/pair.h"

static void walls_add_plane(const tl_pose *pose, uint32_t id, const double normal[3], double offset,
                            tl_walls *w) {
    const int32_t k = w->planes++;
    w->id[k] = id;
    w->offset[k] = offset;
    w->scale = TL_MAX(offset, w->scale);
    tl_rotate(pose->q, normal, w->normal[k]);
}

void tl_walls_place(int32_t dim, const talus_shape_def *shape, const tl_pose *pose, tl_walls *out) {
    *out = (tl_walls){.radius = shape->radius};
    tl_copy3(pose->x, out->x);
    if (shape->kind == TALUS_SHAPE_HALF_SPACE) {
        walls_add_plane(pose, 0, shape->normal, 0.0, out);
        return;
    }
    if (shape->kind == TALUS_SHAPE_CONTAINER) {
        for (int k = 0; k < 2 * dim; k++) { // 2 axis + (0: lower wall, 1: upper wall)
            const int axis = k / 2, upper = k % 2;
            double normal[3] = {0.0};
            normal[axis] = upper ? -1.0 : 1.0;
            if (!isfinite(shape->half[axis])) continue;
            if (upper && axis == dim - 1 && shape->open_top) continue;
            walls_add_plane(pose, (uint32_t)k, normal, shape->half[axis], out);
        }
        return;
    }
    // drum: the mantle is 0, the lower end 1, the upper end 2
    const double axis[3] = {0.0, 0.0, 1.0}, down[3] = {0.0, 0.0, -1.0}, side[3] = {1.0, 0.0, 0.0};
    out->round = true;
    out->scale = shape->radius;
    tl_rotate(pose->q, axis, out->axis);
    tl_rotate(pose->q, side, out->side);
    if (dim == 3 && isfinite(shape->height)) {
        walls_add_plane(pose, 1, axis, 0.5 * shape->height, out);
        walls_add_plane(pose, 2, down, 0.5 * shape->height, out);
    }
}

// A corner of a box, numbered by bits: bit k is set where its coordinate k is positive.
static void box_corner(int32_t dim, const tl_placed *box, int corner, double arm[3]) {
    arm[2] = 0.0;
    for (int k = 0; k < dim; k++)
        arm[k] = (corner >> k & 1) ? box->shape->half[k] : -box->shape->half[k];
    tl_rotate(box->pose->q, arm, arm);
}

// The face of a box that looks most towards a wall with normal n: `axis` of the box, and whether it
// is the upper of the two faces across it.
static int box_facing(int32_t dim, const tl_placed *box, const double n[3], bool *upper) {
    double m[3];
    int axis = 0;
    TL_ASSUME(dim == 2 || dim == 3);
    tl_rotate_back(box->pose->q, n, m);
    for (int k = 1; k < dim; k++)
        if (fabs(m[k]) > fabs(m[axis])) axis = k;
    *upper = m[axis] < 0.0;
    return axis;
}

// Feature: 8 wall + corner. At a plane only the corners of the face that looks towards it count
// (the deepest corner is one of them), at a mantle all.
int tl_pair_walls_box(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                      tl_touch *out) {
    const tl_walls *w = a->walls;
    const int corners = dim == 2 ? 4 : 8;
    double origin[3], arm[8][3], p[8][3];
    int count = 0;
    TL_ASSUME(dim == 2 || dim == 3);
    tl_sub3(b->pose->x, w->x, origin);
    for (int c = 0; c < corners; c++) {
        box_corner(dim, b, c, arm[c]);
        tl_axpy3(origin, 1.0, arm[c], p[c]);
    }
    for (int c = 0; w->round && c < corners; c++) {
        double inward[3], n[3];
        tl_axpy3(p[c], -tl_dot3(p[c], w->axis), w->axis, inward);
        tl_scale3(-1.0, inward, inward);
        const double distance = w->radius - tl_pair_direction(inward, w->side, n);
        count += tl_walls_put((uint32_t)c, distance, n, p[c], arm[c], reach, out + count);
    }
    for (int k = 0; k < w->planes; k++) {
        bool upper;
        const int axis = box_facing(dim, b, w->normal[k], &upper);
        for (int c = 0; c < corners; c++) {
            if ((c >> axis & 1) != (int)upper) continue;
            const double distance = tl_dot3(w->normal[k], p[c]) + w->offset[k];
            count += tl_walls_put(8 * w->id[k] + (uint32_t)c, distance, w->normal[k], p[c], arm[c],
                                  reach, out + count);
        }
    }
    return count;
}
