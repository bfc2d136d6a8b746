// SPDX-License-Identifier: Apache-2.0
// Bodies and shapes of a recording or a run as columns: what the page needs once.
#include "talus/surface.h"
#include "view.h"
#include <math.h>
#include <stdlib.h>

enum {
    TABLES_DETAIL = 64,     // segments of a full circle
    TABLES_DETAIL_FEW = 24, // … where there are many shapes
    TABLES_MANY = 200
};

static bool tables_world_shape(const void *user, int32_t index, talus_shape_def *out) {
    return talus_world_shape_at(user, index, out);
}
static bool tables_world_material(const void *user, int32_t index, talus_material_def *out) {
    return talus_world_material_at(user, index, out);
}
static bool tables_playback_shape(const void *user, int32_t index, talus_shape_def *out) {
    return talus_playback_shape_at(user, index, out);
}
static bool tables_playback_material(const void *user, int32_t index, talus_material_def *out) {
    return talus_playback_material_at(user, index, out);
}

view_model view_model_of_world(const talus_world *w) {
    return (view_model){w, tables_world_shape, tables_world_material};
}

view_model view_model_of_playback(const talus_playback *p) {
    return (view_model){p, tables_playback_shape, tables_playback_material};
}

static void tables_put_i32(view_bytes *b, int32_t value) {
    view_bytes_put(b, &value, sizeof value);
}
static void tables_put_f32(view_bytes *b, double value) { view_bytes_floats(b, &value, 1); }

// The largest distance of a point of a surface from the origin.
static double tables_bound(const talus_surface *s) {
    double most = 0.0;
    for (int32_t i = 0; i < s->points; i++) {
        const double *x = s->point + 3 * (ptrdiff_t)i;
        most = fmax(most, x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }
    return sqrt(most);
}

static bool tables_is_unbounded(const talus_shape_def *s, int32_t dim) {
    if (s->kind == TALUS_SHAPE_HALF_SPACE) return true;
    if (s->kind == TALUS_SHAPE_DRUM) return dim == 3 && isinf(s->height);
    if (s->kind != TALUS_SHAPE_CONTAINER) return false;
    for (int k = 0; k < dim; k++)
        if (isinf(s->half[k])) return true;
    return false;
}

// The diagonal of the box around all bodies and what their shapes reach, unbounded ones aside.
static double tables_extent(int32_t dim, const view_model *model, const talus_body_view *bodies) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < bodies->count; i++) {
        talus_shape_def shape;
        if (!model->shape_at(model->user, bodies->shape[i], &shape)) continue;
        double reach = shape.radius;
        for (int k = 0; k < dim; k++)
            if (isfinite(shape.half[k])) reach = fmax(reach, shape.half[k]);
        if (tables_is_unbounded(&shape, dim)) reach = 0.0;
        for (int k = 0; k < dim; k++) {
            const double x = bodies->position[3 * (ptrdiff_t)i + k];
            low[k] = fmin(low[k], x - reach);
            high[k] = fmax(high[k], x + reach);
        }
    }
    double sum = 0.0;
    for (int k = 0; k < 3 && k < dim; k++)
        if (high[k] > low[k]) sum += (high[k] - low[k]) * (high[k] - low[k]);
    return sum > 0.0 ? sqrt(sum) : 1.0;
}

static talus_status tables_surface(view_tables *t, talus_context *ctx, const talus_shape_def *shape,
                                   int32_t index, int32_t detail) {
    talus_surface s = {0};
    const talus_status status = talus_shape_surface(ctx, t->dim, shape, detail, t->extent, &s);
    if (status != TALUS_OK) return status;
    const bool unbounded = tables_is_unbounded(shape, t->dim);
    tables_put_i32(&t->head, index);
    tables_put_i32(&t->head, s.points);
    tables_put_i32(&t->head, s.triangles);
    tables_put_i32(&t->head, unbounded);
    view_bytes_floats(&t->point, s.point, 3 * (size_t)s.points);
    view_bytes_floats(&t->normal, s.normal, 3 * (size_t)s.points);
    view_bytes_put(&t->corner, s.triangle,
                   (t->dim == 2 ? 2 : 3) * (size_t)s.triangles * sizeof(int32_t));
    tables_put_f32(&t->bound, unbounded ? INFINITY : tables_bound(&s));
    t->surfaces++;
    talus_surface_free(ctx, &s);
    return TALUS_OK;
}

// A shape: balls by their radius, others by their surface.
static talus_status tables_shape(view_tables *t, talus_context *ctx, const talus_shape_def *shape,
                                 int32_t detail) {
    // A cylinder is a disk in 2D, and drawn as one.
    const bool ball =
        shape->kind == TALUS_SHAPE_SPHERE || (t->dim == 2 && shape->kind == TALUS_SHAPE_CYLINDER);
    talus_mass mass = {0};
    const bool solid = shape->kind != TALUS_SHAPE_MESH && shape->kind != TALUS_SHAPE_DRUM &&
                       shape->kind != TALUS_SHAPE_CONTAINER &&
                       shape->kind != TALUS_SHAPE_HALF_SPACE;
    if (solid && talus_shape_mass(ctx, t->dim, shape, 1.0, &mass) != TALUS_OK) mass.mass = 0.0;
    if (ball)
        tables_put_f32(&t->bound, shape->radius);
    else {
        const talus_status status = tables_surface(t, ctx, shape, t->shapes, detail);
        if (status != TALUS_OK) return status;
    }
    tables_put_i32(&t->kind, (int32_t)shape->kind);
    tables_put_f32(&t->radius, ball ? shape->radius : 0.0);
    tables_put_f32(&t->volume, mass.mass);
    t->shapes++;
    return TALUS_OK;
}

talus_status view_tables_update(view_tables *t, talus_context *ctx, int32_t dim,
                                const view_model *model, const talus_body_view *bodies) {
    talus_shape_def shape;
    if (t->bodies == 0) {
        t->dim = dim;
        t->extent = tables_extent(dim, model, bodies);
    }
    const int32_t detail =
        model->shape_at(model->user, TABLES_MANY, &shape) ? TABLES_DETAIL_FEW : TABLES_DETAIL;
    while (model->shape_at(model->user, t->shapes, &shape)) {
        const talus_status status = tables_shape(t, ctx, &shape, detail);
        if (status != TALUS_OK) return status;
    }
    const int32_t from = t->bodies;
    if (bodies->count > from) {
        const size_t more = (size_t)(bodies->count - from) * sizeof(int32_t);
        view_bytes_put(&t->shape, bodies->shape + from, more);
        view_bytes_put(&t->material, bodies->material + from, more);
        view_bytes_put(&t->motion, bodies->motion + from, more);
        view_bytes_floats(&t->mass, bodies->mass + from, (size_t)(bodies->count - from));
        t->bodies = bodies->count;
    }
    return TALUS_OK;
}

void view_tables_clear(view_tables *t) {
    view_bytes *const all[] = {&t->shape, &t->material, &t->motion, &t->mass,
                               &t->kind,  &t->radius,   &t->volume, &t->bound,
                               &t->head,  &t->point,    &t->normal, &t->corner};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) view_bytes_clear(all[k]);
    *t = (view_tables){0};
}

static void tables_append(const view_bytes *const *column, size_t count, view_bytes *out) {
    for (size_t k = 0; k < count; k++) {
        view_bytes_put(out, column[k]->data, column[k]->size);
        out->failed = out->failed || column[k]->failed;
    }
}

void view_tables_pack_bodies(const view_tables *t, view_bytes *out) {
    const int32_t head[] = {VIEW_MAGIC_BODIES, t->bodies, t->shapes, t->dim};
    const view_bytes *const column[] = {&t->shape, &t->material, &t->motion, &t->mass,
                                        &t->kind,  &t->radius,   &t->volume, &t->bound};
    view_bytes_put(out, head, sizeof head);
    tables_append(column, sizeof column / sizeof *column, out);
}

void view_tables_pack_shapes(const view_tables *t, view_bytes *out) {
    const int32_t head[] = {VIEW_MAGIC_SHAPES, t->surfaces, t->dim, 0};
    const view_bytes *const column[] = {&t->head, &t->point, &t->normal, &t->corner};
    view_bytes_put(out, head, sizeof head);
    tables_append(column, sizeof column / sizeof *column, out);
}
