// SPDX-License-Identifier: Apache-2.0
// What passes through a plane: grains whose centre goes from one side to the other between frames,
// at a place inside the region across the plane, where one was given. With a period L along the
// axis the plane is repeated: the number of planes passed is the change of floor((x − level)/L).
#include "base/vec3.h"
#include "observe/analysis.h"

typedef struct discharge_row {
    double time, mass, grains;
} discharge_row;

typedef struct discharge_state {
    double *before; // centres at the frame before, 3 each
    int32_t count;  // bodies there were
    int64_t room;
    discharge_row *row;
} discharge_state;

static talus_status discharge_begin(tl_analysis *a, void *state) {
    TL_REQUIRE(a->ctx, a->def.plane_axis >= 0 && a->def.plane_axis < a->info.dim, TALUS_ERR_ARG,
               "discharge: give the plane that is to be passed, for example z=0.1");
    return TL_ALLOC(a->ctx, a->frames, &((discharge_state *)state)->row);
}

// Planes passed towards larger coordinates.
static double discharge_passed(const tl_analysis *a, double from, double to) {
    const double level = a->def.plane_level, period = a->info.period[a->def.plane_axis];
    if (period > 0.0) return floor((to - level) / period) - floor((from - level) / period);
    return (double)(to >= level) - (double)(from >= level);
}

// Where the straight way between two centres meets the plane, is it inside the region?
static bool discharge_inside(const tl_analysis *a, const double from[3], const double to[3]) {
    const int axis = a->def.plane_axis;
    const double way = to[axis] - from[axis];
    double level = a->def.plane_level, s;
    if (a->info.period[axis] > 0.0)
        level += a->info.period[axis] *
                 floor(((way > 0.0 ? to[axis] : from[axis]) - level) / a->info.period[axis]);
    s = (level - from[axis]) / way;
    for (int k = 0; k < a->info.dim; k++) {
        const double at = from[k] + s * (to[k] - from[k]);
        if (k == axis) continue;
        if (isfinite(a->def.region.low[k]) && at < a->def.region.low[k]) return false;
        if (isfinite(a->def.region.high[k]) && at >= a->def.region.high[k]) return false;
    }
    return true;
}

static talus_status discharge_frame(tl_analysis *a, void *state) {
    discharge_state *s = state;
    const talus_body_view *b = &a->moment.bodies;
    const double sign = a->def.plane_up ? 1.0 : -1.0;
    discharge_row *row = s->row + a->frame;
    if (a->frame > 0) *row = row[-1];
    row->time = a->moment.time;
    for (int32_t i = 0; i < s->count && i < b->count; i++) {
        const double *from = s->before + 3 * (int64_t)i, *to = b->centre + 3 * (int64_t)i;
        if (b->motion[i] != TALUS_MOTION_FREE) continue;
        const double passed = discharge_passed(a, from[a->def.plane_axis], to[a->def.plane_axis]);
        if (fpclassify(passed) == FP_ZERO || !discharge_inside(a, from, to)) continue;
        row->mass += sign * passed * b->mass[i];
        row->grains += sign * passed;
    }
    if (b->count > s->room) {
        TL_TRY(
            tl_realloc(a->ctx, 3 * s->room, 3 * (int64_t)b->count, sizeof *s->before, &s->before));
        s->room = b->count;
    }
    for (int64_t i = 0; i < b->count; i++) tl_copy3(b->centre + 3 * i, s->before + 3 * i);
    s->count = b->count;
    return TALUS_OK;
}

static talus_status discharge_end(tl_analysis *a, void *state) {
    const discharge_state *s = state;
    static const char *const passed[][2] = {{"time", "s"}, {"mass", "kg"}, {"grains", ""}};
    static const char *const rates[][2] = {{"time", "s"}, {"mass_rate", "kg/s"}};
    tl_sheet *sum = NULL, *rate = NULL;
    TL_TRY(tl_sheets_add(a->out, "discharge", "Passed through the plane",
                         "Mass and number of the grains whose centre has passed, less those that "
                         "came back.",
                         "line", &sum));
    TL_TRY(tl_sheet_columns(sum, 3, passed));
    TL_TRY(tl_sheets_add(a->out, "discharge_rate", "Discharge rate",
                         "Mass that passed between a frame and the one before, over the time.",
                         "line", &rate));
    TL_TRY(tl_sheet_columns(rate, 2, rates));
    for (int64_t f = 0; f < a->frames; f++) {
        double *row;
        TL_TRY(tl_sheet_row(sum, &row));
        row[0] = s->row[f].time, row[1] = s->row[f].mass, row[2] = s->row[f].grains;
        if (f == 0) continue;
        TL_TRY(tl_sheet_row(rate, &row));
        row[0] = 0.5 * (s->row[f].time + s->row[f - 1].time);
        row[1] = (s->row[f].mass - s->row[f - 1].mass) / (s->row[f].time - s->row[f - 1].time);
    }
    return TALUS_OK;
}

static void discharge_clear(tl_analysis *a, void *state) {
    const discharge_state *s = state;
    tl_free(a->ctx, s->before);
    tl_free(a->ctx, s->row);
}

const tl_task tl_task_discharge = {.subject = TL_SUBJECT_discharge,
                                   .size = sizeof(discharge_state),
                                   .begin = discharge_begin,
                                   .frame = discharge_frame,
                                   .end = discharge_end,
                                   .clear = discharge_clear};
