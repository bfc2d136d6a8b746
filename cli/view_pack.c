// SPDX-License-Identifier: Apache-2.0
// Frames, times and ledgers in the form in which the page reads them.
#define _GNU_SOURCE
#include "view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void pack_pad(view_bytes *out) {
    static const unsigned char zero[4];
    view_bytes_put(out, zero, (4 - out->size % 4) % 4);
}

view_sand view_sand_of_world(const talus_world *w) {
    talus_sand_view v;
    talus_world_sand(w, &v);
    return (view_sand){.count = v.count,
                       .id = v.id,
                       .position = v.position,
                       .velocity = v.velocity,
                       .volume = v.volume,
                       .inertial = v.inertial,
                       .frame = v.frame,
                       .matrix = true};
}

view_sand view_sand_of_frame(const talus_sand_frame *f) {
    return (view_sand){.count = f->count,
                       .id = f->id,
                       .position = f->position,
                       .velocity = f->velocity,
                       .volume = f->volume,
                       .inertial = f->inertial,
                       .frame = f->frame,
                       .pressure = f->pressure};
}

static void pack_sand(const view_sand *s, view_bytes *out) {
    static const int at[2][6] = {{0, 1, 2, 3, 4, 5}, {0, 4, 8, 1, 2, 5}};
    const size_t n = (size_t)s->count;
    uint32_t *id = view_bytes_more(out, n * sizeof *id);
    for (size_t i = 0; id && i < n; i++) id[i] = (uint32_t)s->id[i];
    view_bytes_floats(out, s->position, 3 * n);
    view_bytes_floats(out, s->velocity, 3 * n);
    view_bytes_floats(out, s->volume, n);
    view_bytes_floats(out, s->inertial, n);
    float *frame = view_bytes_more(out, 6 * n * sizeof *frame);
    for (size_t i = 0; frame && i < 6 * n; i++)
        frame[i] = (float)s->frame[i / 6 * (s->matrix ? 9 : 6) + (size_t)at[s->matrix][i % 6]];
    float *pressure = view_bytes_more(out, n * sizeof *pressure);
    for (size_t i = 0; pressure && i < n; i++)
        pressure[i] = s->pressure ? (float)s->pressure[i] : NAN;
}

static void pack_rods(const talus_rod_view *r, view_bytes *out) {
    const size_t rods = (size_t)r->rods, nodes = rods > 0 ? (size_t)r->start[rods] : 0;
    if (rods == 0) return;
    view_bytes_put(out, r->start, (rods + 1) * sizeof *r->start);
    view_bytes_put(out, r->material, rods * sizeof *r->material);
    view_bytes_floats(out, r->radius, rods);
    view_bytes_floats(out, r->position, 3 * nodes);
    view_bytes_floats(out, r->velocity, 3 * nodes);
    view_bytes_floats(out, r->director, 3 * nodes);
    view_bytes_floats(out, r->strain, nodes);
}

void view_pack_frame(const view_moment *m, unsigned fields, view_bytes *out) {
    const size_t n = (size_t)m->bodies.count;
    const size_t c = fields & VIEW_CONTACTS ? (size_t)m->contacts.count : 0;
    const uint32_t head[] = {VIEW_MAGIC_FRAME,
                             (uint32_t)n,
                             (uint32_t)c,
                             (uint32_t)fields,
                             (uint32_t)m->hash,
                             (uint32_t)(m->hash >> 32),
                             m->serial,
                             (uint32_t)m->sand.count,
                             (uint32_t)m->rods.rods,
                             m->rods.rods > 0 ? (uint32_t)m->rods.start[m->rods.rods] : 0};
    const double number[] = {m->time, m->h, (double)m->step, (double)m->frame};
    view_bytes_put(out, head, sizeof head);
    view_bytes_put(out, number, sizeof number);
    view_bytes_floats(out, m->bodies.position, 3 * n);
    view_bytes_floats(out, m->bodies.velocity, 3 * n);
    view_bytes_floats(out, m->bodies.orientation, 4 * n);
    if (fields & VIEW_SPIN) view_bytes_floats(out, m->bodies.spin, 3 * n);
    pack_sand(&m->sand, out);
    pack_rods(&m->rods, out);
    if (c == 0) return;
    view_bytes_put(out, m->contacts.a, c * sizeof(int32_t));
    view_bytes_put(out, m->contacts.b, c * sizeof(int32_t));
    view_bytes_floats(out, m->contacts.point, 3 * c);
    view_bytes_floats(out, m->contacts.normal, 3 * c);
    view_bytes_floats(out, m->contacts.impulse, 3 * c);
    view_bytes_floats(out, m->contacts.velocity, 3 * c);
    view_bytes_floats(out, m->contacts.gap, c);
    view_bytes_put(out, m->contacts.status, c);
    pack_pad(out);
}

talus_status view_pack_times(talus_playback *p, int64_t first, view_bytes *out) {
    const int64_t frames = talus_playback_get_info(p).frames;
    const int64_t count = first < 0 || first > frames ? 0 : frames - first;
    const uint32_t head[] = {VIEW_MAGIC_TIMES, (uint32_t)count};
    view_bytes_put(out, head, sizeof head);
    double *time = view_bytes_more(out, (size_t)count * sizeof(double));
    return time && count > 0 ? talus_playback_times(p, first, count, time, NULL) : TALUS_OK;
}

// A column of the ledger as it is asked for.
typedef struct pack_column {
    const char *name; // of the field
    bool sum;         // the sum over all steps so far, in place of the figure
    int64_t rows, width;
} pack_column;

// Least and largest of `count` figures or sums.
static void pack_group(const pack_column *c, const double *value, int64_t count, double *total,
                       double out[2]) {
    out[0] = out[1] = NAN;
    for (int64_t i = 0; i < count; i++) {
        *total += value[i];
        const double x = c->sum ? *total : value[i];
        out[0] = fmin(out[0], x); // NaN is passed over
        out[1] = fmax(out[1], x);
    }
}

// Rows of a column; with a width above 1 the least and the largest figure of each group of that
// many rows, two for two. `block` is a multiple of the width.
static talus_status pack_rows(talus_playback *p, const pack_column *c, int64_t block,
                              double *buffer, double *out) {
    double total = 0.0, pair[2];
    for (int64_t first = 0; first < c->rows; first += block) {
        const int64_t count = first + block < c->rows ? block : c->rows - first;
        const talus_status status = talus_playback_ledger(p, c->name, first, count, buffer);
        if (status != TALUS_OK) return status;
        for (int64_t i = 0; i < count; i += c->width) {
            pack_group(c, buffer + i, i + c->width < count ? c->width : count - i, &total, pair);
            *out++ = pair[0];
            if (c->width > 1) *out++ = pair[1];
        }
    }
    return TALUS_OK;
}

static bool pack_is_field(const talus_playback *p, const char *name) {
    talus_ledger_field field;
    for (int32_t k = 0; talus_playback_series_at(p, k, &field); k++)
        if (strcmp(field.name, name) == 0) return true;
    for (int32_t k = 0; talus_ledger_field_at(k, &field); k++)
        if (strcmp(field.name, name) == 0) return true;
    return false;
}

talus_status view_pack_ledger(talus_playback *p, const char *names, int64_t points,
                              view_bytes *out) {
    enum { MOST = 32, BLOCK = 65536 }; // columns; rows read at a time
    const int64_t rows = talus_playback_get_info(p).steps;
    const int64_t width = rows > points ? (rows + points / 2 - 1) / (points / 2) : 1;
    const int64_t groups = (rows + width - 1) / width, kept = width > 1 ? 2 * groups : rows;
    const int64_t block = width > BLOCK ? width : BLOCK / width * width;
    uint32_t head[] = {VIEW_MAGIC_LEDGER, (uint32_t)kept, 0, (uint32_t)width};
    view_bytes_put(out, head, sizeof head);
    double *buffer = cli_alloc((size_t)block, sizeof *buffer);
    char *list = cli_text("%s", names), *rest = NULL;
    talus_status status = TALUS_OK;
    for (char *word = strtok_r(list, ",", &rest); word && status == TALUS_OK && head[2] < MOST;
         word = strtok_r(NULL, ",", &rest)) {
        const bool sum = strncmp(word, "sum:", 4) == 0;
        const pack_column column = {word + (sum ? 4 : 0), sum, rows, width};
        if (!pack_is_field(p, column.name)) continue;
        double *value = view_bytes_more(out, (size_t)kept * sizeof *value);
        if (!value) break;
        head[2]++;
        status = pack_rows(p, &column, block, buffer, value);
    }
    if (!out->failed) memcpy(out->data, head, sizeof head);
    free(list);
    free(buffer);
    return status;
}
