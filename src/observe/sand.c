// SPDX-License-Identifier: Apache-2.0
// Sand over time: the box around its particles, the same without the outermost hundredth on each
// side, its mass, what is gone through free faces, and what is beyond a plane, which is how much
// has run out of a silo.
#include "base/vec3.h"
#include "observe/analysis.h"
#include <stdlib.h>

typedef struct sand_state {
    tl_sheet *extent, *front, *mass;
    double *value;
    int64_t room;
} sand_state;

static int sand_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static talus_status sand_add_box(tl_analysis *a, const char *name, const char *title,
                                 const char *text, tl_sheet **out) {
    static const char *const column[2][3] = {{"low_x", "low_y", "low_z"},
                                             {"high_x", "high_y", "high_z"}};
    TL_TRY(tl_sheets_add(a->out, name, title, text, "line", out));
    TL_TRY(tl_sheet_column(*out, "time", "s"));
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < a->info.dim; k++) TL_TRY(tl_sheet_column(*out, column[side][k], "m"));
    return TALUS_OK;
}

static talus_status sand_begin(tl_analysis *a, void *state) {
    sand_state *s = state;
    TL_TRY(sand_add_box(a, "sand_extent", "Extent of the sand", "Box around its particles.",
                        &s->extent));
    TL_TRY(sand_add_box(a, "sand_front", "Front of the sand",
                        "Box of its particles without the outermost 1 % on each side.", &s->front));
    TL_TRY(tl_sheets_add(a->out, "sand_mass", "Mass of the sand",
                         a->def.plane_axis >= 0
                             ? "There, gone through free faces, and beyond the plane with what is "
                               "gone."
                             : "There, and gone through free faces.",
                         "line", &s->mass));
    TL_TRY(tl_sheet_column(s->mass, "time", "s"));
    TL_TRY(tl_sheet_column(s->mass, "mass", "kg"));
    TL_TRY(tl_sheet_column(s->mass, "gone", "kg"));
    return a->def.plane_axis >= 0 ? tl_sheet_column(s->mass, "beyond", "kg") : TALUS_OK;
}

// Rows of the two boxes; NaN where there is no sand.
static talus_status sand_boxes(tl_analysis *a, sand_state *s) {
    const talus_sand_frame *f = &a->moment.sand;
    const int32_t dim = a->info.dim;
    double *extent, *front;
    TL_TRY(tl_sheet_row(s->extent, &extent));
    TL_TRY(tl_sheet_row(s->front, &front));
    extent[0] = front[0] = a->moment.time;
    if (f->count > s->room) {
        TL_TRY(tl_realloc(a->ctx, 0, f->count, sizeof *s->value, &s->value));
        s->room = f->count;
    }
    for (int k = 0; k < dim; k++) {
        const int64_t n = f->count, out = n / 100;
        for (int64_t i = 0; i < n; i++) s->value[i] = f->position[3 * i + k];
        if (n > 0) qsort(s->value, (size_t)n, sizeof *s->value, sand_compare);
        extent[1 + k] = n > 0 ? s->value[0] : NAN;
        extent[1 + dim + k] = n > 0 ? s->value[n - 1] : NAN;
        front[1 + k] = n > 0 ? s->value[out] : NAN;
        front[1 + dim + k] = n > 0 ? s->value[n - 1 - out] : NAN;
    }
    return TALUS_OK;
}

static talus_status sand_frame(tl_analysis *a, void *state) {
    sand_state *s = state;
    const talus_sand_frame *f = &a->moment.sand;
    const double density = a->moment.sand_density;
    double *row, there = 0.0, beyond = 0.0;
    TL_TRY(sand_boxes(a, s));
    for (int64_t i = 0; i < f->count; i++) {
        const double x = a->def.plane_axis >= 0 ? f->position[3 * i + a->def.plane_axis] : 0.0;
        there += f->volume[i];
        if ((x >= a->def.plane_level) == a->def.plane_up) beyond += f->volume[i];
    }
    TL_TRY(tl_sheet_row(s->mass, &row));
    row[0] = a->moment.time;
    row[1] = density * there;
    row[2] = density * f->lost;
    if (a->def.plane_axis >= 0) row[3] = density * (beyond + f->lost);
    return TALUS_OK;
}

static void sand_clear(tl_analysis *a, void *state) {
    tl_free(a->ctx, ((sand_state *)state)->value);
}

const tl_task tl_task_sand = {.subject = TL_SUBJECT_sand,
                              .size = sizeof(sand_state),
                              .begin = sand_begin,
                              .frame = sand_frame,
                              .clear = sand_clear};
