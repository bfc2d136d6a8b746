// SPDX-License-Identifier: Apache-2.0
// A ball (2D: disk) with every other shape. All reduce to the point of b's surface nearest to the
// centre c of the ball: with s the signed distance of c from it and n the outward normal of b,
//     gap = s − r,     point of a: c − r n,     point of b: c − s n.
#include "collide/pair.h"

// The touch for a normal and a signed distance of the centre, if it is within reach.
static int sphere_put(const tl_placed *a, const tl_placed *b, uint32_t feature, double distance,
                      const double normal[3], double reach, tl_touch *out) {
    const double r = a->shape->radius, gap = distance - r;
    if (!(gap <= reach)) return 0;
    out->feature = feature;
    out->gap = gap;
    tl_copy3(normal, out->normal);
    tl_scale3(-r, normal, out->arm_a);
    tl_sub3(a->pose->x, b->pose->x, out->arm_b);
    tl_axpy3(out->arm_b, -distance, normal, out->arm_b);
    return 1;
}

int tl_pair_sphere_sphere(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                          tl_touch *out) {
    double d[3];
    tl_sub3(a->pose->x, b->pose->x, d);
    tl_pair_balls(dim, d, a->shape->radius, b->shape->radius, out);
    return out->gap <= reach;
}

int tl_pair_sphere_walls(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                         tl_touch *out) {
    (void)dim;
    const tl_walls *w = b->walls;
    double p[3];
    int count = 0;
    tl_sub3(a->pose->x, w->x, p);
    if (w->round) {
        double radial[3], normal[3];
        tl_axpy3(p, -tl_dot3(p, w->axis), w->axis, radial);
        tl_scale3(-1.0, radial, radial);
        const double rho = tl_pair_direction(radial, w->side, normal);
        count += sphere_put(a, b, 0, w->radius - rho, normal, reach, out);
    }
    for (int k = 0; k < w->planes; k++) {
        const double distance = tl_dot3(w->normal[k], p) + w->offset[k];
        count += sphere_put(a, b, w->id[k], distance, w->normal[k], reach, out + count);
    }
    return count;
}

// From outside the nearest point of the box is the centre with each coordinate clamped. From inside
// the way out is through the nearest face; equal ways take the first axis, and 0 counts as upper.
int tl_pair_sphere_box(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                       tl_touch *out) {
    const double *half = b->shape->half;
    double p[3], away[3] = {0.0}, normal[3], depth = INFINITY;
    int face = 0;
    TL_ASSUME(dim == 2 || dim == 3);
    tl_sub3(a->pose->x, b->pose->x, p);
    tl_rotate_back(b->pose->q, p, p);
    for (int k = 0; k < dim; k++) {
        const double beyond = fabs(p[k]) - half[k];
        if (beyond > 0.0) away[k] = copysign(beyond, p[k]);
        if (-beyond < depth) depth = -beyond, face = k;
    }
    double out_of_face[3] = {0.0};
    out_of_face[face] = p[face] < 0.0 ? -1.0 : 1.0;
    double distance = tl_pair_direction(away, out_of_face, normal);
    if (depth > 0.0) distance = -depth;
    tl_rotate(b->pose->q, normal, normal);
    return sphere_put(a, b, 0, distance, normal, reach, out);
}

// In the half plane (distance from the axis, height) the cylinder is a rectangle. 3D only: in 2D a
// cylinder is a disk.
int tl_pair_sphere_cylinder(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                            tl_touch *out) {
    (void)dim;
    static const double x_axis[3] = {1.0, 0.0, 0.0};
    double p[3], radial[3], normal[3];
    tl_sub3(a->pose->x, b->pose->x, p);
    tl_rotate_back(b->pose->q, p, p);
    const double d[3] = {p[0], p[1], 0.0}, rho = tl_pair_direction(d, x_axis, radial);
    const double end = p[2] < 0.0 ? -1.0 : 1.0, side = rho - b->shape->radius;
    const double top = fabs(p[2]) - 0.5 * b->shape->height;
    const double out_side = side > 0.0 ? side : 0.0, out_top = top > 0.0 ? top : 0.0;
    const double away[3] = {out_side * radial[0], out_side * radial[1], out_top * end};
    const double inner[3] = {side >= top ? radial[0] : 0.0, side >= top ? radial[1] : 0.0,
                             side >= top ? 0.0 : end};
    double distance = tl_pair_direction(away, inner, normal);
    if (side < 0.0 && top < 0.0) distance = side >= top ? side : top;
    tl_rotate(b->pose->q, normal, normal);
    return sphere_put(a, b, 0, distance, normal, reach, out);
}
