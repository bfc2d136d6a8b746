// SPDX-License-Identifier: Apache-2.0
// Surfaces of shapes for drawing: room, flat faces, and which shape is made where.
#include "collide/hull.h"
#include "collide/surface_impl.h"
#include <string.h>

talus_status tl_surface_reserve(tl_surface_build *b, int64_t points, int64_t facets) {
    talus_surface *s = b->out;
    const int64_t need_points = s->points + points, need_facets = s->triangles + facets;
    TL_REQUIRE(b->ctx, need_points <= INT32_MAX && need_facets <= INT32_MAX, TALUS_ERR_ARG,
               "surface: %lld points and %lld triangles are more than can be counted; ask for "
               "less detail than %d",
               (long long)need_points, (long long)need_facets, (int)b->detail);
    if (need_points > b->point_room) {
        const int64_t room = TL_MAX(need_points, 2 * b->point_room);
        TL_TRY(tl_realloc(b->ctx, 3 * b->point_room, 3 * room, sizeof *s->point, &s->point));
        TL_TRY(tl_realloc(b->ctx, 3 * b->point_room, 3 * room, sizeof *s->normal, &s->normal));
        b->point_room = room;
    }
    if (need_facets > b->facet_room) {
        const int64_t room = TL_MAX(need_facets, 2 * b->facet_room);
        TL_TRY(tl_realloc(b->ctx, b->dim * b->facet_room, b->dim * room, sizeof *s->triangle,
                          &s->triangle));
        b->facet_room = room;
    }
    return TALUS_OK;
}

talus_status tl_surface_face(tl_surface_build *b, int32_t corners, const double (*corner)[3],
                             const double normal[3]) {
    TL_TRY(tl_surface_reserve(b, corners, b->dim == 2 ? 1 : corners - 2));
    const int32_t first = b->out->points;
    for (int32_t k = 0; k < corners; k++) tl_surface_point(b, corner[k], normal);
    if (b->dim == 2) tl_surface_segment(b, first + 1, first);
    for (int32_t k = 2; b->dim == 3 && k < corners; k++)
        tl_surface_triangle(b, first, first + k - 1, first + k);
    return TALUS_OK;
}

// The sides of a box; those of an axis along which it is infinite are left out, and so is the upper
// one where it is open.
static talus_status surface_box(tl_surface_build *b, const talus_shape_def *shape) {
    double half[3] = {0.0};
    for (int k = 0; k < b->dim; k++)
        half[k] = isfinite(shape->half[k]) ? shape->half[k] : b->extent;
    for (int k = 0; k < b->dim; k++)
        for (int side = -1; side <= 1; side += 2) {
            const bool open =
                shape->kind == TALUS_SHAPE_CONTAINER &&
                (!isfinite(shape->half[k]) || (shape->open_top && k == b->dim - 1 && side > 0));
            if (open) continue;
            double corner[4][3] = {{0.0}}, n[3] = {0.0};
            n[k] = side;
            // (u, v, k) is a right-handed system, so u to v is counter-clockwise from outside at
            // the upper side; 2D: u is the axis after k
            const int u = (k + 1) % b->dim, v = (k + 2) % 3;
            // 2D: the outline goes along +y at the side +x and along −x at the side +y
            const double along = b->dim == 2 && k == 1 ? -side : side;
            for (int c = 0; c < 4; c++) {
                corner[c][k] = side * half[k];
                corner[c][u] = along * (c == 0 || c == 3 ? -1.0 : 1.0) * half[u];
                if (b->dim == 3) corner[c][v] = (c < 2 ? -1.0 : 1.0) * half[v];
            }
            TL_TRY(tl_surface_face(b, b->dim == 2 ? 2 : 4, (const double(*)[3])corner, n));
        }
    return TALUS_OK;
}

static talus_status surface_hull(tl_surface_build *b, const double *point, int32_t count) {
    talus_status status = TALUS_OK;
    tl_hull *hull = NULL;
    double(*corner)[3] = NULL;
    TL_GOTO(tl_hull_create(b->ctx, b->dim, point, count, &hull));
    TL_GOTO(TL_ALLOC(b->ctx, hull->corners, &corner));
    for (int32_t f = 0; f < hull->faces; f++) {
        int32_t corners = 0;
        if (b->dim == 2) {
            tl_copy3(hull->corner[f], corner[0]);
            tl_copy3(hull->corner[(f + 1) % hull->corners], corner[1]);
            corners = 2;
        } else {
            for (int32_t i = hull->face_start[f]; i < hull->face_start[f + 1]; i++)
                tl_copy3(hull->corner[hull->loop[i]], corner[corners++]);
        }
        TL_GOTO(tl_surface_face(b, corners, (const double(*)[3])corner, hull->normal[f]));
    }
done:
    tl_free(b->ctx, corner);
    tl_hull_destroy(b->ctx, hull);
    return status;
}

// A square of the plane (2D: a part of the line) about the origin.
static talus_status surface_half_space(tl_surface_build *b, const talus_shape_def *shape) {
    double n[3] = {shape->normal[0], shape->normal[1], b->dim == 3 ? shape->normal[2] : 0.0};
    double corner[4][3] = {{0.0}}, u[3], v[3], axis[3] = {0.0};
    if (!(tl_norm3(n) > 0.0)) n[b->dim - 1] = 1.0;
    double most = 0.0; // lengths far from 1 must not overflow below
    for (int k = 0; k < 3; k++) most = TL_MAX(fabs(n[k]), most);
    tl_scale3(1.0 / most, n, n);
    tl_scale3(1.0 / tl_norm3(n), n, n);
    if (b->dim == 2) {
        for (int c = 0; c < 2; c++) {
            corner[c][0] = (c ? -1.0 : 1.0) * b->extent * n[1];
            corner[c][1] = (c ? 1.0 : -1.0) * b->extent * n[0];
        }
        return tl_surface_face(b, 2, (const double(*)[3])corner, n);
    }
    axis[fabs(n[0]) < 0.9 ? 0 : 1] = 1.0; // a level plane is drawn along the axes
    tl_axpy3(axis, -tl_dot3(axis, n), n, u);
    tl_scale3(1.0 / tl_norm3(u), u, u);
    tl_cross3(n, u, v);
    for (int c = 0; c < 4; c++)
        for (int k = 0; k < 3; k++)
            corner[c][k] =
                b->extent * ((c == 0 || c == 3 ? -1.0 : 1.0) * u[k] + (c < 2 ? -1.0 : 1.0) * v[k]);
    return tl_surface_face(b, 4, (const double(*)[3])corner, n);
}

talus_status tl_surface_add(tl_surface_build *b, const talus_shape_def *shape) {
    const double r = shape->radius, h = shape->height;
    b->inside = shape->kind == TALUS_SHAPE_CONTAINER || shape->kind == TALUS_SHAPE_DRUM;
    switch (shape->kind) {
    case TALUS_SHAPE_BOX:
    case TALUS_SHAPE_CONTAINER:
        return surface_box(b, shape);
    case TALUS_SHAPE_HALF_SPACE:
        return surface_half_space(b, shape);
    case TALUS_SHAPE_POLYHEDRON:
        return surface_hull(b, shape->point, shape->point_count);
    case TALUS_SHAPE_CONE:
        if (b->dim == 3) return tl_surface_add_round(b, shape);
        return surface_hull(
            b, (const double[9]){-r, -h / 3.0, 0.0, r, -h / 3.0, 0.0, 0.0, 2.0 * h / 3.0, 0.0}, 3);
    default:
        return tl_surface_add_round(b, shape);
    }
}

// Whether some of the shape lies at infinity, so that `extent` is needed.
static bool surface_is_unbounded(int32_t dim, const talus_shape_def *shape) {
    bool far = shape->kind == TALUS_SHAPE_HALF_SPACE;
    if (shape->kind == TALUS_SHAPE_DRUM) far = dim == 3 && !isfinite(shape->height);
    for (int k = 0; shape->kind == TALUS_SHAPE_CONTAINER && k < dim; k++)
        far = far || !isfinite(shape->half[k]);
    return far;
}

talus_status talus_shape_surface(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                                 int32_t detail, double extent, talus_surface *out) {
    *out = (talus_surface){0};
    TL_TRY(talus_shape_check(ctx, dim, shape));
    TL_REQUIRE(ctx, detail >= TALUS_SURFACE_LEAST && detail <= TALUS_SURFACE_MOST, TALUS_ERR_ARG,
               "surface: detail %d must be %d to %d segments of a circle", (int)detail,
               TALUS_SURFACE_LEAST, TALUS_SURFACE_MOST);
    TL_REQUIRE(ctx, !surface_is_unbounded(dim, shape) || (extent > 0.0 && isfinite(extent)),
               TALUS_ERR_ARG, "surface: extent %g of an unbounded %s must be greater than 0",
               extent, talus_shape_text(shape->kind));
    tl_surface_build b = {
        .ctx = ctx, .dim = dim, .detail = (detail + 3) / 4 * 4, .extent = extent, .out = out};
    talus_status status;
    if (shape->kind == TALUS_SHAPE_MESH)
        status = tl_surface_add_mesh(&b, shape);
    else if (shape->kind == TALUS_SHAPE_CLUMP || shape->kind == TALUS_SHAPE_WORM)
        status = tl_surface_add_union(&b, shape);
    else
        status = tl_surface_add(&b, shape);
    if (status != TALUS_OK) talus_surface_free(ctx, out);
    return status;
}

void talus_surface_free(talus_context *ctx, talus_surface *s) {
    tl_free(ctx, s->point);
    tl_free(ctx, s->normal);
    tl_free(ctx, s->triangle);
    *s = (talus_surface){0};
}
