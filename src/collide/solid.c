// SPDX-License-Identifier: Apache-2.0
// Shapes as they are kept.
#include "collide/solid.h"
#include "base/vec3.h"
#include "collide/convex.h"
#include "collide/mesh.h"
#include "collide/pair.h"
#include "collide/round.h"
#include "collide/union.h"
#include <string.h>

// A copy of an array of the caller's, NULL where there is none.
static talus_status solid_copy(talus_context *ctx, int64_t count, size_t size, const void *from,
                               void *out) {
    if (!from || count <= 0) return TALUS_OK;
    TL_TRY(tl_alloc(ctx, count, size, out));
    void *to;
    memcpy(&to, out, sizeof to);
    memcpy(to, from, (size_t)count * size);
    return TALUS_OK;
}

// What kinds need besides their numbers.
static talus_status solid_prepare(talus_context *ctx, int32_t dim, tl_solid *s) {
    talus_shape_def *shape = &s->shape;
    if (shape->kind == TALUS_SHAPE_BOX) {
        if (dim == 2) shape->half[2] = 0.0;
        return tl_hull_create_box(ctx, dim, shape->half, &s->hull);
    }
    if (shape->kind == TALUS_SHAPE_CAPSULE) {
        const int up = dim - 1;
        s->segment[0][up] = -0.5 * shape->height;
        s->segment[1][up] = 0.5 * shape->height;
    }
    if (shape->kind == TALUS_SHAPE_HALF_SPACE) {
        const double up[3] = {0.0, dim == 2 ? 1.0 : 0.0, dim == 2 ? 0.0 : 1.0};
        double *n = shape->normal;
        // scaled first, so that no square over- or underflows
        const double most = TL_MAX(fabs(n[0]), TL_MAX(fabs(n[1]), fabs(n[2])));
        for (int k = 0; most > 0.0 && k < 3; k++) n[k] /= most;
        tl_pair_direction(n, up, n);
    }
    if (shape->kind == TALUS_SHAPE_ELLIPSOID || shape->kind == TALUS_SHAPE_SUPERELLIPSOID) {
        if (dim == 2) shape->half[2] = 0.0;
        s->rolling = tl_round_rolling(dim, shape);
    }
    if (shape->kind == TALUS_SHAPE_POLYHEDRON)
        return tl_hull_create(ctx, dim, shape->point, shape->point_count, &s->hull);
    return TALUS_OK;
}

// In 2D a cylinder is a disk, and a cone a triangle about its centre of mass. `corner` is room for
// that.
static talus_shape_def solid_flatten(int32_t dim, const talus_shape_def *shape, double corner[9]) {
    talus_shape_def out = *shape;
    if (dim != 2) return out;
    if (shape->kind == TALUS_SHAPE_CYLINDER) out.kind = TALUS_SHAPE_SPHERE;
    if (shape->kind != TALUS_SHAPE_CONE) return out;
    const double r = shape->radius, h = shape->height;
    const double triangle[9] = {-r, -h / 3.0, 0.0, r, -h / 3.0, 0.0, 0.0, 2.0 * h / 3.0, 0.0};
    memcpy(corner, triangle, sizeof triangle);
    out.kind = TALUS_SHAPE_POLYHEDRON;
    out.point = corner;
    out.point_count = 3;
    return out;
}

talus_status tl_solid_create(talus_context *ctx, int32_t dim, const talus_shape_def *given,
                             tl_solid **out) {
    talus_status status = TALUS_OK;
    tl_solid *s = NULL;
    double *point = NULL, corner[9];
    int32_t *triangle = NULL;
    *out = NULL;
    TL_REQUIRE(ctx, given, TALUS_ERR_ARG, "no shape was given");
    // the check of a polyhedron would make its hull, which is about to be made
    if (given->kind != TALUS_SHAPE_POLYHEDRON) TL_TRY(talus_shape_check(ctx, dim, given));
    const talus_shape_def flat = solid_flatten(dim, given, corner), *shape = &flat;
    TL_TRY(TL_ALLOC(ctx, 1, &s));
    s->shape = *shape;
    s->shape.point = NULL;
    s->shape.triangle = NULL;
    s->shape.part = NULL;
    TL_GOTO(solid_copy(ctx, 3 * (int64_t)shape->point_count, sizeof *point, shape->point, &point));
    s->shape.point = point;
    TL_GOTO(solid_copy(ctx, (int64_t)dim * shape->triangle_count, sizeof *triangle, shape->triangle,
                       &triangle));
    s->shape.triangle = triangle;
    TL_GOTO(solid_prepare(ctx, dim, s));
    TL_GOTO(tl_union_make(ctx, dim, shape, s));
    *out = s;
    s = NULL;
done:
    tl_solid_destroy(ctx, s);
    return status;
}

void tl_solid_destroy(talus_context *ctx, tl_solid *s) {
    if (!s) return;
    tl_union_clear(ctx, s);
    tl_mesh_destroy(ctx, s->mesh);
    tl_hull_destroy(ctx, s->hull);
    tl_free(ctx, (void *)s->shape.point);
    tl_free(ctx, (void *)s->shape.triangle);
    tl_free(ctx, s);
}

void tl_solid_box(int32_t dim, const tl_solid *s, const tl_pose *place, double low[3],
                  double high[3]) {
    tl_convex view;
    tl_convex_view(dim, &s->shape, s, &view);
    for (int k = 0; k < 3; k++) {
        double d[3] = {0.0}, p[3];
        low[k] = high[k] = place->x[k];
        if (k >= dim) continue;
        for (int side = 0; side < 2; side++) {
            double e[3] = {0.0};
            e[k] = side ? 1.0 : -1.0;
            tl_rotate_back(place->q, e, d);
            view.support(&view, d, p);
            tl_rotate(place->q, p, p);
            (side ? high : low)[k] += p[k] + e[k] * view.margin;
        }
    }
}
