// SPDX-License-Identifier: Apache-2.0
// Tables of results while they are made, and lists of numbers that become distributions.
#ifndef TL_OBSERVE_SHEET_H
#define TL_OBSERVE_SHEET_H
#include "base/context.h"
#include "talus/observe.h"

enum { TL_SHEET_COLUMNS = 24 };

typedef struct tl_sheet {
    talus_context *ctx;
    char *name, *title, *text;
    const char *plot;
    char *column[TL_SHEET_COLUMNS], *unit[TL_SHEET_COLUMNS];
    int32_t columns;
    double *value;
    int64_t rows, room;
} tl_sheet;

talus_status tl_sheets_create(talus_context *ctx, talus_tables **out) TALUS_MUST_CHECK;
/// A new table at the end of the list, which owns it; texts are copied, `plot` must be static.
talus_status tl_sheets_add(talus_tables *t, const char *name, const char *title, const char *text,
                           const char *plot, tl_sheet **out) TALUS_MUST_CHECK;
/// Columns come before rows.
talus_status tl_sheet_column(tl_sheet *t, const char *name, const char *unit) TALUS_MUST_CHECK;
/// Several, as pairs of name and unit.
talus_status tl_sheet_columns(tl_sheet *t, int32_t count,
                              const char *const (*column)[2]) TALUS_MUST_CHECK;
/// A row of NaN, valid until the next.
talus_status tl_sheet_row(tl_sheet *t, double **out) TALUS_MUST_CHECK;

/// Numbers one after the other.
typedef struct tl_list {
    double *value;
    int64_t count, room;
} tl_list;
talus_status tl_list_add(talus_context *ctx, tl_list *n, double value) TALUS_MUST_CHECK;
void tl_list_clear(talus_context *ctx, tl_list *n);
/// How many, weighed by `weight` (NULL: 1), are in each of `bins` equal parts of [low, high]; what
/// is outside is counted in the first or last.
void tl_list_count(const tl_list *n, const double *weight, double low, double high, int32_t bins,
                   double *out);

#endif // TL_OBSERVE_SHEET_H
