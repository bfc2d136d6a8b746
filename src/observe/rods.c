// SPDX-License-Identifier: Apache-2.0
// Rods over time: how long and how stretched they are, where their last nodes are, how much room
// they take, and their contacts: with whom, and how many are open, stick and slide.
//
// The room that rods take is that of the cells of a grid which their centre lines go through: of
// hair that lies strand on strand it stays, of strands that pass into each other it goes. Cells are
// cubes, half as long as a segment is on the mean in the first frame, and lines are looked at in
// points that are half a cell apart, or less.
#include "base/vec3.h"
#include "observe/analysis.h"
#include <math.h>
#include <stdlib.h>

#define RODS_PI 3.14159265358979323846

typedef struct rods_cell {
    int64_t at[3];
} rods_cell;

typedef struct rods_state {
    tl_sheet *length, *strain, *tip, *extent, *room, *contacts, *status;
    int32_t *touching; // contacts of each rod, in the frame that goes by
    int32_t rods;      // room for them
    double edge;       // of a cell [m]; 0: not known yet
    rods_cell *cell;   // of all points, in the frame that goes by
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
    static const char *const room[][2] = {{"volume", "m3"}, {"filled", ""}, {"spread", "m"}};
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
    TL_TRY(
        rods_sheet(a, "rods_room", "Room that rods take",
                   "Volume of the cells, half as long as a segment, that they go through; the "
                   "share of it that is rod; root mean square distance of nodes from their mean.",
                   3, room, &s->room));
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

static int rods_compare(const void *one, const void *two) {
    const rods_cell *a = one, *b = two;
    for (int k = 0; k < 3; k++)
        if (a->at[k] != b->at[k]) return a->at[k] < b->at[k] ? -1 : 1;
    return 0;
}

// Points that a segment is looked at in: the first node and those up to the next.
static int64_t rods_points(const rods_state *s, const double *x, double d[3]) {
    tl_sub3(x + 3, x, d);
    return 1 + (int64_t)(2.0 * tl_norm3(d) / s->edge);
}

// Cells that the centre lines go through.
static talus_status rods_cells(tl_analysis *a, rods_state *s, int64_t *out) {
    const talus_rod_view *r = &a->moment.rods;
    int64_t points = 0, used = 0;
    double d[3], x[3];
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) TL_TRY(TL_RESERVE(a->ctx, points + 1, &s->cell));
        for (int32_t i = 0; i < r->rods; i++)
            for (int64_t k = r->start[i]; k + 1 < r->start[i + 1]; k++) {
                const double *node = r->position + 3 * k;
                const int64_t n = rods_points(s, node, d);
                points += pass == 0 ? n : 0;
                for (int64_t e = 0; pass == 1 && e < n; e++, used++) {
                    tl_axpy3(node, (double)e / (double)n, d, x);
                    for (int c = 0; c < 3; c++)
                        s->cell[used].at[c] = (int64_t)floor(x[c] / s->edge);
                }
            }
    }
    qsort(s->cell, (size_t)used, sizeof *s->cell, rods_compare);
    *out = used > 0;
    for (int64_t k = 1; k < used; k++) *out += rods_compare(s->cell + k - 1, s->cell + k) != 0;
    return TALUS_OK;
}

static talus_status rods_room(tl_analysis *a, rods_state *s) {
    const talus_rod_view *r = &a->moment.rods;
    double *row, own = 0.0, length = 0.0, mean[3] = {0.0}, square = 0.0;
    int64_t cells;
    TL_TRY(tl_sheet_row(s->room, &row));
    row[0] = a->moment.time;
    if (r->rods == 0) return TALUS_OK;
    const int64_t nodes = r->start[r->rods];
    for (int32_t i = 0; i < r->rods; i++) {
        const double one = rods_length_of(r, i);
        length += one;
        own += RODS_PI * r->radius[i] * r->radius[i] * one;
    }
    for (int64_t k = 0; k < nodes; k++)
        tl_axpy3(mean, 1.0 / (double)nodes, r->position + 3 * k, mean);
    for (int64_t k = 0; k < nodes; k++) {
        double d[3];
        tl_sub3(r->position + 3 * k, mean, d);
        square += tl_dot3(d, d);
    }
    if (s->edge == 0.0) s->edge = 0.5 * length / (double)(nodes - r->rods);
    TL_TRY(rods_cells(a, s, &cells));
    row[1] = (double)cells * s->edge * s->edge * s->edge;
    row[2] = own / row[1];
    row[3] = sqrt(square / (double)nodes);
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
    TL_TRY(rods_room(a, s));
    if (rods > s->rods) {
        TL_TRY(tl_realloc(a->ctx, 0, rods, sizeof *s->touching, &s->touching));
        s->rods = rods;
    }
    for (int32_t k = 0; k < rods; k++) s->touching[k] = 0;
    if (a->info.contacts) TL_TRY(rods_contacts(a, s));
    return a->frame == a->frames - 1 ? rods_last(a, s) : TALUS_OK;
}

static void rods_clear(tl_analysis *a, void *state) {
    rods_state *s = state;
    tl_free(a->ctx, s->touching);
    tl_free(a->ctx, s->cell);
}

const tl_task tl_task_rods = {.subject = TL_SUBJECT_rods,
                              .size = sizeof(rods_state),
                              .begin = rods_begin,
                              .frame = rods_frame,
                              .clear = rods_clear};
