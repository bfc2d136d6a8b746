// SPDX-License-Identifier: Apache-2.0
// Where the energy went, up to every frame: energies now, works and losses summed over all steps
// before. Energy that is there before a step and was not after the step before came in with new
// bodies:  now = at the start + came in + works − losses.
#include "observe/analysis.h"

enum { ENERGY_ROWS = 4096 };

enum {
    ENERGY_step,
    ENERGY_kinetic,
    ENERGY_potential,
    ENERGY_elastic,
    ENERGY_work,                   // obstacles, forces, joints
    ENERGY_loss = ENERGY_work + 3, // impact, friction, numerical
    ENERGY_FIELDS = ENERGY_loss + 3,
};

static const char *const energy_fields[ENERGY_FIELDS] = {
    "step",        "kinetic",     "potential",   "elastic",       "work_obstacles",
    "work_forces", "work_joints", "loss_impact", "loss_friction", "loss_numerical"};

typedef struct energy_state {
    int64_t row;   // of the ledger, read so far
    int64_t first; // row that the buffer begins with
    int64_t held;  // rows in it
    double *value; // ENERGY_FIELDS × ENERGY_ROWS
    double sum[ENERGY_FIELDS], total, start, added;
    tl_sheet *table;
} energy_state;

static talus_status energy_begin(tl_analysis *a, void *state) {
    energy_state *s = state;
    static const char *const more[][2] = {{"total", "J"}, {"added", "J"}};
    TL_TRY(tl_sheets_add(a->out, "energy", "Energy",
                         "Kinetic, potential and elastic energy of the grains, their sum; energy "
                         "that came in with new bodies; works and losses summed up to the time.",
                         "line", &s->table));
    TL_TRY(tl_sheet_column(s->table, "time", "s"));
    for (int k = ENERGY_kinetic; k <= ENERGY_elastic; k++)
        TL_TRY(tl_sheet_column(s->table, energy_fields[k], "J"));
    TL_TRY(tl_sheet_columns(s->table, 2, more));
    for (int k = ENERGY_work; k < ENERGY_FIELDS; k++)
        TL_TRY(tl_sheet_column(s->table, energy_fields[k], "J"));
    return TL_ALLOC(a->ctx, (int64_t)ENERGY_FIELDS * ENERGY_ROWS, &s->value);
}

// The next row of the ledger; NULL at its end.
static talus_status energy_next(tl_analysis *a, energy_state *s, int64_t *index) {
    *index = -1;
    if (s->row >= a->info.steps) return TALUS_OK;
    if (s->row >= s->first + s->held) {
        s->first = s->row;
        s->held = a->info.steps - s->row < ENERGY_ROWS ? a->info.steps - s->row : ENERGY_ROWS;
        for (int k = 0; k < ENERGY_FIELDS; k++)
            TL_TRY(talus_playback_ledger(a->playback, energy_fields[k], s->first, s->held,
                                         s->value + (size_t)k * ENERGY_ROWS));
    }
    *index = s->row - s->first;
    return TALUS_OK;
}

static void energy_take(energy_state *s, int64_t index) {
    double value[ENERGY_FIELDS], before;
    for (int k = 0; k < ENERGY_FIELDS; k++) value[k] = s->value[k * ENERGY_ROWS + index];
    const double now = value[ENERGY_kinetic] + value[ENERGY_potential] + value[ENERGY_elastic];
    before = now;
    for (int k = 0; k < 3; k++) before += value[ENERGY_loss + k] - value[ENERGY_work + k];
    if (s->row == 0)
        s->start = before;
    else
        s->added += before - s->total;
    s->total = now;
    for (int k = 0; k < ENERGY_work; k++) s->sum[k] = value[k];
    for (int k = ENERGY_work; k < ENERGY_FIELDS; k++) s->sum[k] += value[k];
    s->row++;
}

static talus_status energy_frame(tl_analysis *a, void *state) {
    energy_state *s = state;
    int64_t index = 0;
    double *row;
    for (;;) {
        TL_TRY(energy_next(a, s, &index));
        if (index < 0 || s->value[index] > (double)a->step) break;
        energy_take(s, index);
    }
    TL_TRY(tl_sheet_row(s->table, &row));
    row[0] = a->moment.time;
    if (s->row == 0) { // before the first step: what the first row of the ledger began with
        if (index < 0) return TALUS_OK;
        energy_state copy = *s;
        energy_take(&copy, index);
        row[4] = copy.start;
        for (int k = 5; k < 12; k++) row[k] = 0.0;
        return TALUS_OK;
    }
    for (int k = ENERGY_kinetic; k <= ENERGY_elastic; k++) row[k] = s->sum[k];
    row[4] = s->total;
    row[5] = s->added;
    for (int k = ENERGY_work; k < ENERGY_FIELDS; k++) row[2 + k] = s->sum[k];
    return TALUS_OK;
}

static void energy_clear(tl_analysis *a, void *state) {
    tl_free(a->ctx, ((energy_state *)state)->value);
}

const tl_task tl_task_energy = {.subject = TL_SUBJECT_energy,
                                .size = sizeof(energy_state),
                                .begin = energy_begin,
                                .frame = energy_frame,
                                .clear = energy_clear};
