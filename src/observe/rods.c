// SPDX-License-Identifier: Apache-2.0
// Rods over time: how long and how stretched they are, where their last nodes are, and their
// contacts: with whom, and how many are open, stick and slide.
#include "base/vec3.h"
#include "observe/analysis.h"
#include <math.h>

typedef struct rods_state {
    tl_sheet *length, *strain, *tip, *extent, *contacts, *status;
    int32_t *touching; // contacts of each rod, in the frame that goes by
    int32_t room;
} rods_state;

static talus_status rods_sheet(tl_analysis *a, const char *name, const char *title,
                               const char *text, int32_t count, const char *const (*column)[2],
                               tl_sheet **out) {
    TL_TRY(tl_sheets_add(a->out, name, title, text, "line", out));
    TL_TRY(tl_sheet_column(*out, "time", "s"));
    return tl_sheet_columns(*out, count, column);
}

static talus_status rods_begin(tl_analysis *a, void *state) {
    static const char *const length[][2] = {{"mean", "m"}, {"shortest", "m"}, {"longest", "m"}};
    static const char *const strain[][2] = {{"mean", ""}, {"least", ""}, {"most", ""}};
    static const char *const tip[][2] = {{"x", "m"}, {"y", "m"}, {"z", "m"}};
    static const char *const box[][2] = {{"low_x", "m"},  {"low_y", "m"},  {"low_z", "m"},
                                         {"high_x", "m"}, {"high_y", "m"}, {"high_z", "m"}};
    static const char *const contacts[][2] = {
        {"contacts", ""}, {"between_rods", ""}, {"with_bodies", ""}, {"per_rod", ""}};
    static const char *const status[][2] = {{"open", ""}, {"sticking", ""}, {"sliding", ""}};
    rods_state *s = state;
    TL_TRY(
        rods_sheet(a, "rods_length", "Length of rods", "Along the nodes.", 3, length, &s->length));
    TL_TRY(rods_sheet(a, "rods_strain", "Strain of rods",
                      "(length - natural length) / natural length of their segments.", 3, strain,
                      &s->strain));
    TL_TRY(rods_sheet(a, "rods_tip", "Tips of rods", "Mean place of their last nodes.", 3, tip,
                      &s->tip));
    TL_TRY(rods_sheet(a, "rods_extent", "Extent of rods", "Box around their nodes.", 6, box,
                      &s->extent));
    if (!a->info.contacts) return TALUS_OK;
    TL_TRY(rods_sheet(a, "rods_contacts", "Contacts of rods",
                      "All with a rod on one side or both; a contact between two rods counts for "
                      "each of them in per_rod.",
                      4, contacts, &s->contacts));
    return rods_sheet(a, "rods_status", "Open, sticking and sliding contacts of rods",
                      "Shares of their contacts; open ones carry nothing.", 3, status, &s->status);
}

static double rods_length_of(const talus_rod_view *r, int32_t rod) {
    double sum = 0.0, d[3];
    for (int64_t k = r->start[rod]; k + 1 < r->start[rod + 1]; k++) {
        tl_sub3(r->position + 3 * (k + 1), r->position + 3 * k, d);
        sum += tl_norm3(d);
    }
    return sum;
}

static talus_status rods_lengths(tl_analysis *a, rods_state *s) {
    const talus_rod_view *r = &a->moment.rods;
    double *length, *strain, *tip, segments = 0.0;
    TL_TRY(tl_sheet_row(s->length, &length));
    TL_TRY(tl_sheet_row(s->strain, &strain));
    TL_TRY(tl_sheet_row(s->tip, &tip));
    length[0] = strain[0] = tip[0] = a->moment.time;
    if (r->rods == 0) return TALUS_OK;
    for (int k = 1; k <= 3; k++) tip[k] = 0.0;
    length[1] = strain[1] = 0.0;
    for (int32_t i = 0; i < r->rods; i++) {
        const double one = rods_length_of(r, i);
        const int64_t last = r->start[i + 1] - 1;
        length[1] += one / r->rods;
        length[2] = fmin(length[2], one); // a row begins with NaN, which is passed over
        length[3] = fmax(length[3], one);
        for (int k = 0; k < 3; k++) tip[1 + k] += r->position[3 * last + k] / r->rods;
        for (int64_t k = r->start[i]; k < last; k++) {
            strain[1] += r->strain[k];
            strain[2] = fmin(strain[2], r->strain[k]);
            strain[3] = fmax(strain[3], r->strain[k]);
            segments += 1.0;
        }
    }
    strain[1] /= segments;
    return TALUS_OK;
}

static talus_status rods_box(tl_analysis *a, rods_state *s) {
    const talus_rod_view *r = &a->moment.rods;
    double *row;
    TL_TRY(tl_sheet_row(s->extent, &row));
    row[0] = a->moment.time;
    for (int64_t i = 0; r->rods > 0 && i < r->start[r->rods]; i++)
        for (int k = 0; k < 3; k++) {
            row[1 + k] = fmin(row[1 + k], r->position[3 * i + k]);
            row[4 + k] = fmax(row[4 + k], r->position[3 * i + k]);
        }
    return TALUS_OK;
}

static talus_status rods_contacts(tl_analysis *a, rods_state *s) {
    const talus_moment *m = &a->moment;
    const talus_contact_view *c = &m->contacts;
    double *row, *status, count[3] = {0.0};
    TL_TRY(tl_sheet_row(s->contacts, &row));
    TL_TRY(tl_sheet_row(s->status, &status));
    row[0] = status[0] = m->time;
    row[1] = row[2] = row[3] = row[4] = 0.0;
    for (int32_t i = 0; i < c->count; i++) {
        const int32_t side[2] = {c->a[i], c->b[i]};
        int rods = 0;
        for (int k = 0; k < 2; k++) {
            if (side[k] < m->bodies.count) continue;
            s->touching[talus_rod_of_item(&m->rods, side[k], NULL)]++;
            rods++;
        }
        if (rods == 0) continue;
        row[1] += 1.0;
        row[rods == 2 ? 2 : 3] += 1.0;
        row[4] += (double)rods / m->rods.rods;
        if (c->status[i] < 3) count[c->status[i]] += 1.0;
    }
    for (int k = 0; k < 3 && row[1] > 0.0; k++) status[1 + k] = count[k] / row[1];
    return TALUS_OK;
}

// The last frame, rod by rod.
static talus_status rods_last(tl_analysis *a, const rods_state *s) {
    static const char *const column[][2] = {{"length", "m"}, {"strain", ""}, {"tip_x", "m"},
                                            {"tip_y", "m"},  {"tip_z", "m"}, {"contacts", ""}};
    const talus_rod_view *r = &a->moment.rods;
    tl_sheet *t = NULL;
    TL_TRY(tl_sheets_add(a->out, "rods_last", "Rods at the end",
                         "Length, mean strain, last node and contacts of each, at the last frame.",
                         "", &t));
    TL_TRY(tl_sheet_column(t, "rod", ""));
    TL_TRY(tl_sheet_columns(t, 6, column));
    for (int32_t i = 0; i < r->rods; i++) {
        const int64_t last = r->start[i + 1] - 1;
        double *row, strain = 0.0;
        TL_TRY(tl_sheet_row(t, &row));
        for (int64_t k = r->start[i]; k < last; k++) strain += r->strain[k];
        row[0] = i;
        row[1] = rods_length_of(r, i);
        row[2] = strain / (double)(last - r->start[i]);
        for (int k = 0; k < 3; k++) row[3 + k] = r->position[3 * last + k];
        if (a->info.contacts) row[6] = s->touching[i];
    }
    return TALUS_OK;
}

static talus_status rods_frame(tl_analysis *a, void *state) {
    rods_state *s = state;
    const int32_t rods = a->moment.rods.rods;
    TL_TRY(rods_lengths(a, s));
    TL_TRY(rods_box(a, s));
    if (rods > s->room) {
        TL_TRY(tl_realloc(a->ctx, 0, rods, sizeof *s->touching, &s->touching));
        s->room = rods;
    }
    for (int32_t k = 0; k < rods; k++) s->touching[k] = 0;
    if (a->info.contacts) TL_TRY(rods_contacts(a, s));
    return a->frame == a->frames - 1 ? rods_last(a, s) : TALUS_OK;
}

static void rods_clear(tl_analysis *a, void *state) {
    tl_free(a->ctx, ((rods_state *)state)->touching);
}

const tl_task tl_task_rods = {.subject = TL_SUBJECT_rods,
                              .size = sizeof(rods_state),
                              .begin = rods_begin,
                              .frame = rods_frame,
                              .clear = rods_clear};
