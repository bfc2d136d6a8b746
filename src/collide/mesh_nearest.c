// SPDX-License-Identifier: Apache-2.0
// The nearest place of a mesh to a point, and on which side of it the point is. The side is that of
// the facet which the point faces most among those that share the place: at an edge or a corner the
// others may be seen from behind.
#include "collide/mesh.h"

// Two places that are this near to each other, as a part of the distance, are the same one.
#define NEAREST_SAME 1e-9

// The nearest point of the segment from a to b.
static void nearest_on_segment(const double a[3], const double b[3], const double x[3],
                               double out[3]) {
    double along[3], from[3];
    tl_sub3(b, a, along);
    tl_sub3(x, a, from);
    const double length = tl_dot3(along, along);
    const double t = length > 0.0 ? tl_dot3(from, along) / length : 0.0;
    tl_axpy3(a, TL_MIN(TL_MAX(t, 0.0), 1.0), along, out);
}

// Whether the foot of the perpendicular on the plane of triangle t is on the triangle.
static bool nearest_is_above(const tl_mesh *m, int32_t t, const double foot[3]) {
    const int32_t *c = m->corner + 3 * (int64_t)t;
    for (int k = 0; k < 3; k++) {
        double along[3], from[3], across[3];
        tl_sub3(m->point[c[(k + 1) % 3]], m->point[c[k]], along);
        tl_sub3(foot, m->point[c[k]], from);
        tl_cross3(m->normal[t], along, across);
        if (tl_dot3(from, across) < 0.0) return false;
    }
    return true;
}

static void nearest_on_facet(const tl_mesh *m, int32_t t, const double x[3], double out[3]) {
    const int32_t *c = m->corner + (int64_t)m->dim * t;
    if (m->dim == 2) {
        nearest_on_segment(m->point[c[0]], m->point[c[1]], x, out);
        return;
    }
    double from[3], best = INFINITY;
    tl_sub3(x, m->point[c[0]], from);
    tl_axpy3(x, -tl_dot3(from, m->normal[t]), m->normal[t], out);
    if (nearest_is_above(m, t, out)) return;
    for (int k = 0; k < 3; k++) {
        double p[3], d[3];
        nearest_on_segment(m->point[c[k]], m->point[c[(k + 1) % 3]], x, p);
        tl_sub3(x, p, d);
        if (tl_dot3(d, d) >= best) continue;
        best = tl_dot3(d, d);
        tl_copy3(p, out);
    }
}

// Among the facets within `around` of x along the axes; false: there are none, or none within that
// distance.
static bool nearest_within(const tl_mesh *m, const double x[3], double around, tl_mesh_place *out) {
    tl_mesh_query query;
    double low[3], high[3], facing = 0.0;
    for (int k = 0; k < 3; k++) low[k] = x[k] - around, high[k] = x[k] + around;
    *out = (tl_mesh_place){.facet = -1, .distance = INFINITY};
    tl_mesh_query_begin(m, low, high, &query);
    for (int32_t t = tl_mesh_query_next(&query); t >= 0; t = tl_mesh_query_next(&query)) {
        double p[3], d[3];
        nearest_on_facet(m, t, x, p);
        tl_sub3(x, p, d);
        const double distance = tl_norm3(d), turn = tl_dot3(d, m->normal[t]);
        const bool nearer = distance < out->distance * (1.0 - NEAREST_SAME);
        const bool same = !nearer && distance <= out->distance * (1.0 + NEAREST_SAME);
        if (!nearer && !(same && fabs(turn) > fabs(facing))) continue;
        facing = turn;
        *out = (tl_mesh_place){.facet = t, .distance = distance, .behind = turn < 0.0};
        tl_copy3(p, out->point);
    }
    return out->distance <= around;
}

bool tl_mesh_nearest(const tl_mesh *m, const double x[3], double reach, tl_mesh_place *out) {
    // Beyond its box there is nothing to look for; within, the inside of a solid may be far from
    // its surface.
    double apart = 0.0;
    const tl_box *box = m->box[m->levels - 1];
    for (int k = 0; k < m->dim; k++)
        apart = TL_MAX(apart, TL_MAX(box->low[k] - x[k], x[k] - box->high[k]));
    if (apart > reach) return false;
    for (double around = TL_MAX(reach, 1e-3 * m->size);; around *= 2.0) {
        if (nearest_within(m, x, around, out)) break;
        if (!m->closed || around > 4.0 * m->size) return false;
    }
    out->behind = out->behind && m->closed;
    if (!out->behind && out->distance > reach) return false;
    double d[3];
    tl_sub3(x, out->point, d);
    tl_copy3(m->normal[out->facet], out->normal);
    if (!m->closed && tl_dot3(d, out->normal) < 0.0) tl_scale3(-1.0, out->normal, out->normal);
    if (out->distance > TL_NO_LENGTH)
        tl_scale3((out->behind ? -1.0 : 1.0) / out->distance, d, out->normal);
    return true;
}
