// SPDX-License-Identifier: Apache-2.0
// Shapes of a recording, put together from their columns.
#include "record/playback_impl.h"

// Take `count` of what follows `at` in a column; false: there is not as much.
static bool shapes_take(const talus_playback *p, int column, int32_t count, int64_t *at) {
    if (count < 0 || count > p->column[column].rows - *at) return false;
    *at += count;
    return true;
}

// Where the arrays of the shapes begin in the columns that hold those of all.
typedef struct shapes_cursor {
    int64_t point, triangle, part;
} shapes_cursor;

// Columns of a shape or of a part, in the same order.
typedef struct shapes_fields {
    int kind, radius, half, height, exponent, points;
} shapes_fields;

static bool shapes_fill(const talus_playback *p, const shapes_fields *f, int64_t i,
                        shapes_cursor *at, talus_shape_def *out) {
    *out = (talus_shape_def){.kind = (talus_shape_kind)tl_playback_integer(p, f->kind, i),
                             .radius = tl_playback_number(p, f->radius, i),
                             .height = tl_playback_number(p, f->height, i),
                             .point_count = tl_playback_integer(p, f->points, i)};
    for (int k = 0; k < 3; k++) out->half[k] = tl_playback_number(p, f->half, 3 * i + k);
    for (int k = 0; k < 2; k++) out->exponent[k] = tl_playback_number(p, f->exponent, 2 * i + k);
    if (out->point_count > 0) out->point = (double *)p->value[TL_SHAPE_POINT] + 3 * at->point;
    return shapes_take(p, TL_SHAPE_POINT, out->point_count, &at->point);
}

static bool shapes_triangles(talus_playback *p, int64_t i, shapes_cursor *at,
                             talus_shape_def *out) {
    const int32_t *corner = (const int32_t *)p->value[TL_SHAPE_TRIANGLE] + 3 * at->triangle;
    int32_t *segment = p->segment ? p->segment + 2 * at->triangle : NULL;
    out->triangle_count = tl_playback_integer(p, TL_SHAPE_TRIANGLES, i);
    if (!shapes_take(p, TL_SHAPE_TRIANGLE, out->triangle_count, &at->triangle)) return false;
    for (int64_t t = 0; t < out->triangle_count; t++)
        for (int k = 0; k < p->info.dim; k++) {
            if (corner[3 * t + k] < 0 || corner[3 * t + k] >= out->point_count) return false;
            if (segment) segment[2 * t + k] = corner[3 * t + k];
        }
    if (out->triangle_count > 0) out->triangle = segment ? segment : corner;
    return true;
}

static bool shapes_parts(talus_playback *p, int64_t i, shapes_cursor *at, talus_shape_def *out) {
    static const shapes_fields fields = {TL_PART_KIND,   TL_PART_RADIUS,   TL_PART_HALF,
                                         TL_PART_HEIGHT, TL_PART_EXPONENT, TL_PART_POINTS};
    const int64_t first = at->part;
    out->part_count = tl_playback_integer(p, TL_SHAPE_PARTS, i);
    if (!shapes_take(p, TL_PART_KIND, out->part_count, &at->part)) return false;
    if (out->part_count > 0) out->part = p->part + first;
    for (int64_t k = first; k < at->part; k++) {
        talus_part *part = &p->part[k];
        if (!shapes_fill(p, &fields, k, at, &p->part_shape[k])) return false;
        part->shape = &p->part_shape[k];
        for (int e = 0; e < 3; e++)
            part->position[e] = tl_playback_number(p, TL_PART_POSITION, 3 * k + e);
        for (int e = 0; e < 4; e++)
            part->orientation[e] = tl_playback_number(p, TL_PART_ORIENTATION, 4 * k + e);
    }
    return true;
}

talus_status tl_playback_make_shapes(talus_playback *p) {
    static const shapes_fields fields = {TL_SHAPE_KIND,   TL_SHAPE_RADIUS,   TL_SHAPE_HALF,
                                         TL_SHAPE_HEIGHT, TL_SHAPE_EXPONENT, TL_SHAPE_POINTS};
    shapes_cursor at = {0};
    TL_TRY(TL_ALLOC(p->ctx, p->column[TL_SHAPE_KIND].rows, &p->shape));
    TL_TRY(TL_ALLOC(p->ctx, p->column[TL_PART_KIND].rows, &p->part));
    TL_TRY(TL_ALLOC(p->ctx, p->column[TL_PART_KIND].rows, &p->part_shape));
    if (p->info.dim == 2)
        TL_TRY(TL_ALLOC(p->ctx, 2 * p->column[TL_SHAPE_TRIANGLE].rows, &p->segment));
    for (int64_t i = 0; i < p->column[TL_SHAPE_KIND].rows; i++) {
        talus_shape_def *s = &p->shape[i];
        if (!shapes_fill(p, &fields, i, &at, s) || !shapes_triangles(p, i, &at, s) ||
            !shapes_parts(p, i, &at, s))
            return tl_playback_damaged(p, "/shapes",
                                       "has points, triangles or parts that are not there");
        s->open_top = ((const uint8_t *)p->value[TL_SHAPE_OPEN_TOP])[i] != 0;
        for (int k = 0; k < 3; k++)
            s->normal[k] = tl_playback_number(p, TL_SHAPE_NORMAL, 3 * i + k);
    }
    return TALUS_OK;
}

void tl_playback_drop_shapes(talus_playback *p) {
    void *const owned[] = {p->shape, p->part, p->part_shape, p->segment};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(p->ctx, owned[k]);
    p->shape = p->part_shape = NULL;
    p->part = NULL;
    p->segment = NULL;
}
