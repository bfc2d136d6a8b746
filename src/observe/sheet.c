// SPDX-License-Identifier: Apache-2.0
// Tables and distributions.
#include "observe/sheet.h"
#include "base/compiler.h"
#include <math.h>
#include <string.h>

struct talus_tables {
    talus_context *ctx;
    tl_sheet **table;
    int32_t count, room;
};

talus_status tl_sheets_create(talus_context *ctx, talus_tables **out) {
    TL_TRY(TL_ALLOC(ctx, 1, out));
    (*out)->ctx = ctx;
    return TALUS_OK;
}

static void table_destroy(tl_sheet *t) {
    if (!t) return;
    for (int32_t k = 0; k < TL_SHEET_COLUMNS; k++) {
        tl_free(t->ctx, t->column[k]);
        tl_free(t->ctx, t->unit[k]);
    }
    void *const owned[] = {t->name, t->title, t->text, t->value};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(t->ctx, owned[k]);
    tl_free(t->ctx, t);
}

void talus_tables_destroy(talus_tables *t) {
    if (!t) return;
    for (int32_t i = 0; i < t->count; i++) table_destroy(t->table[i]);
    tl_free(t->ctx, t->table);
    tl_free(t->ctx, t);
}

static talus_status table_text(talus_context *ctx, const char *text, char **out) {
    return TL_COPY(ctx, text, (int64_t)strlen(text) + 1, out);
}

talus_status tl_sheets_add(talus_tables *t, const char *name, const char *title, const char *text,
                           const char *plot, tl_sheet **out) {
    if (t->count == t->room) {
        const int32_t room = t->room ? 2 * t->room : 16;
        TL_TRY(tl_realloc(t->ctx, t->count, room, sizeof *t->table, &t->table));
        t->room = room;
    }
    TL_TRY(TL_ALLOC(t->ctx, 1, out));
    t->table[t->count++] = *out;
    (*out)->ctx = t->ctx;
    (*out)->plot = plot;
    TL_TRY(table_text(t->ctx, name, &(*out)->name));
    TL_TRY(table_text(t->ctx, title, &(*out)->title));
    return table_text(t->ctx, text, &(*out)->text);
}

talus_status tl_sheet_column(tl_sheet *t, const char *name, const char *unit) {
    TL_ASSUME(t->rows == 0 && t->columns < TL_SHEET_COLUMNS);
    const int32_t k = t->columns++;
    TL_TRY(table_text(t->ctx, name, &t->column[k]));
    return table_text(t->ctx, unit, &t->unit[k]);
}

talus_status tl_sheet_columns(tl_sheet *t, int32_t count, const char *const (*column)[2]) {
    for (int32_t k = 0; k < count; k++) TL_TRY(tl_sheet_column(t, column[k][0], column[k][1]));
    return TALUS_OK;
}

talus_status tl_sheet_row(tl_sheet *t, double **out) {
    if (t->rows == t->room) {
        const int64_t room = t->room ? 2 * t->room : 64;
        TL_TRY(tl_realloc(t->ctx, t->rows * t->columns, room * t->columns, sizeof *t->value,
                          &t->value));
        t->room = room;
    }
    *out = t->value + t->rows++ * t->columns;
    for (int32_t k = 0; k < t->columns; k++) (*out)[k] = NAN;
    return TALUS_OK;
}

bool talus_tables_at(const talus_tables *t, int32_t index, talus_table *out) {
    if (!t || !out || index < 0 || index >= t->count) return false;
    const tl_sheet *s = t->table[index];
    *out = (talus_table){.name = s->name,
                         .title = s->title,
                         .text = s->text,
                         .columns = s->columns,
                         .column = (const char *const *)s->column,
                         .unit = (const char *const *)s->unit,
                         .rows = s->rows,
                         .value = s->value,
                         .plot = s->plot};
    return true;
}

talus_status tl_list_add(talus_context *ctx, tl_list *n, double value) {
    if (n->count == n->room) {
        const int64_t room = n->room ? 2 * n->room : 256;
        TL_TRY(tl_realloc(ctx, n->count, room, sizeof *n->value, &n->value));
        n->room = room;
    }
    n->value[n->count++] = value;
    return TALUS_OK;
}

void tl_list_clear(talus_context *ctx, tl_list *n) {
    tl_free(ctx, n->value);
    *n = (tl_list){0};
}

void tl_list_count(const tl_list *n, const double *weight, double low, double high, int32_t bins,
                   double *out) {
    for (int32_t k = 0; k < bins; k++) out[k] = 0.0;
    for (int64_t i = 0; i < n->count; i++) {
        const double at = floor((n->value[i] - low) / (high - low) * bins);
        const int32_t bin = at >= bins ? bins - 1 : at > 0.0 ? (int32_t)at : 0;
        out[bin] += weight ? weight[i] : 1.0;
    }
}
