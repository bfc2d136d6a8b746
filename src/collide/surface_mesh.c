// SPDX-License-Identifier: Apache-2.0
// The surface of a mesh, with normals that are smooth but at its edges: the normal of a facet at
// one of its points is the mean, weighted by area, over the facets there that are turned against it
// by less than 30 degrees.
#include "collide/surface_impl.h"

#define SMOOTH_COSINE 0.86602540378443865

enum { SMOOTH_MOST = 256 }; // facets at a point that are looked at; the tip of a fan stays flat

// Normal of a facet, as long as it is large.
static void mesh_facet_normal(int32_t dim, const talus_shape_def *shape, int64_t t, double n[3]) {
    const int32_t *c = shape->triangle + dim * t;
    const double *a = shape->point + 3 * (int64_t)c[0];
    double u[3], v[3];
    tl_sub3(shape->point + 3 * (int64_t)c[1], a, u);
    if (dim == 2) {
        n[0] = -u[1], n[1] = u[0], n[2] = 0.0;
        return;
    }
    tl_sub3(shape->point + 3 * (int64_t)c[2], a, v);
    tl_cross3(u, v, n);
}

// Facets at each point: at[start[p]] … at[start[p + 1] − 1].
static void mesh_stars(int32_t dim, const talus_shape_def *shape, int32_t *start, int32_t *at) {
    const int64_t corners = dim * (int64_t)shape->triangle_count;
    for (int64_t i = 0; i < corners; i++) start[shape->triangle[i] + 1]++;
    for (int32_t p = 0; p < shape->point_count; p++) start[p + 1] += start[p];
    for (int64_t i = corners - 1; i >= 0; i--)
        at[--start[shape->triangle[i] + 1]] = (int32_t)(i / dim);
    // each start has moved to the beginning of the point before
    for (int32_t p = 0; p < shape->point_count; p++) start[p] = start[p + 1];
    start[shape->point_count] = (int32_t)corners;
}

static void mesh_smooth(int32_t count, const int32_t *facet, const double (*normal)[3],
                        const double own[3], double out[3]) {
    tl_copy3(own, out);
    if (count > SMOOTH_MOST) return;
    double sum[3] = {0.0};
    for (int32_t i = 0; i < count; i++) {
        const double *n = normal[facet[i]];
        if (tl_dot3(n, own) > SMOOTH_COSINE * tl_norm3(n) * tl_norm3(own))
            tl_axpy3(sum, 1.0, n, sum);
    }
    if (tl_norm3(sum) > 0.0) tl_copy3(sum, out);
}

talus_status tl_surface_add_mesh(tl_surface_build *b, const talus_shape_def *shape) {
    talus_status status = TALUS_OK;
    const int32_t facets = shape->triangle_count;
    const int64_t corners = b->dim * (int64_t)facets;
    double(*normal)[3] = NULL, scale = 0.0;
    int32_t *start = NULL, *at = NULL;
    TL_GOTO(tl_surface_reserve(b, corners, facets));
    TL_GOTO(TL_ALLOC(b->ctx, facets, &normal));
    TL_GOTO(TL_ALLOC(b->ctx, (int64_t)shape->point_count + 1, &start));
    TL_GOTO(TL_ALLOC(b->ctx, corners, &at));
    mesh_stars(b->dim, shape, start, at);
    for (int32_t t = 0; t < facets; t++) {
        mesh_facet_normal(b->dim, shape, t, normal[t]);
        scale = TL_MAX(tl_norm3(normal[t]), scale);
    }
    for (int32_t t = 0; t < facets; t++) tl_scale3(1.0 / scale, normal[t], normal[t]);
    for (int32_t t = 0; t < facets; t++) {
        const int32_t first = b->out->points;
        for (int k = 0; k < b->dim; k++) {
            const int32_t p = shape->triangle[b->dim * (int64_t)t + k];
            double n[3];
            mesh_smooth(start[p + 1] - start[p], at + start[p], (const double(*)[3])normal,
                        normal[t], n);
            tl_surface_point(b, shape->point + 3 * (int64_t)p, n);
        }
        if (b->dim == 2)
            tl_surface_segment(b, first, first + 1);
        else
            tl_surface_triangle(b, first, first + 1, first + 2);
    }
done:
    tl_free(b->ctx, normal);
    tl_free(b->ctx, start);
    tl_free(b->ctx, at);
    return status;
}
