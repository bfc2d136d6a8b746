// SPDX-License-Identifier: Apache-2.0
// Numbers of every step besides those of the ledger, as a caller names them: datasets beside those
// of the ledger, with as many rows. A text, /series, tells what they are: a line "name, tab, unit,
// tab, text" for each.
#include "record/series.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

tl_column_def tl_series_column(const talus_ledger_field *field, char path[TL_SERIES_PATH]) {
    (void)snprintf(path, TL_SERIES_PATH, "/ledger/%s", field->name);
    return (tl_column_def){.path = path, .unit = field->unit, .width = 1, .kind = TL_FLOAT64};
}

static bool series_is_word(const char *name) {
    const size_t length = strlen(name);
    return length > 0 && length < TL_SERIES_PATH - sizeof "/ledger/" &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static talus_status series_check(talus_context *ctx, const talus_ledger_field *field, int32_t k) {
    talus_ledger_field own;
    TL_REQUIRE(ctx, series_is_word(field[k].name), TALUS_ERR_ARG,
               "series '%s': a name has small letters, digits and _ only", field[k].name);
    for (int32_t i = 0; talus_ledger_field_at(i, &own); i++)
        TL_REQUIRE(ctx, strcmp(own.name, field[k].name) != 0, TALUS_ERR_ARG,
                   "series '%s': the ledger has this name already", own.name);
    for (int32_t i = 0; i < k; i++)
        TL_REQUIRE(ctx, strcmp(field[i].name, field[k].name) != 0, TALUS_ERR_ARG,
                   "series '%s' is there twice", field[k].name);
    TL_REQUIRE(ctx, !strpbrk(field[k].unit, "\t\n") && !strpbrk(field[k].text, "\t\n"),
               TALUS_ERR_ARG, "series '%s': unit and text are one line", field[k].name);
    return TALUS_OK;
}

talus_status tl_series_write(talus_context *ctx, const talus_ledger_field *field, int32_t count,
                             char **out) {
    int64_t room = 1;
    *out = NULL;
    for (int32_t k = 0; k < count; k++) {
        TL_TRY(series_check(ctx, field, k));
        room +=
            (int64_t)(strlen(field[k].name) + strlen(field[k].unit) + strlen(field[k].text)) + 3;
    }
    TL_TRY(TL_ALLOC(ctx, room, out));
    char *to = *out;
    for (int32_t k = 0; k < count; k++)
        to += snprintf(to, (size_t)(*out + room - to), "%s\t%s\t%s\n", field[k].name, field[k].unit,
                       field[k].text);
    return TALUS_OK;
}

// The part of a line up to `end`, which becomes its end; NULL: there is none.
static char *series_cut(char **rest, char end) {
    char *begin = *rest, *at = strchr(begin, end);
    if (!at) return NULL;
    *at = '\0';
    *rest = at + 1;
    return begin;
}

talus_status tl_series_read(talus_context *ctx, char *text, talus_ledger_field **out,
                            int32_t *count) {
    int64_t lines = 0;
    *out = NULL;
    *count = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    TL_REQUIRE(ctx, lines < 100000, TALUS_ERR_FORMAT, "/series has too many lines");
    TL_TRY(TL_ALLOC(ctx, lines, out));
    for (int64_t k = 0; k < lines; k++) {
        talus_ledger_field *f = *out + k;
        f->name = series_cut(&text, '\t');
        f->unit = f->name ? series_cut(&text, '\t') : NULL;
        f->text = f->unit ? series_cut(&text, '\n') : NULL;
        if (f->text && series_check(ctx, *out, (int32_t)k) == TALUS_OK) continue;
        tl_free(ctx, *out);
        *out = NULL;
        return tl_fail(ctx, TALUS_ERR_FORMAT, "/series, line %lld is damaged", (long long)k + 1);
    }
    *count = (int32_t)lines;
    return TALUS_OK;
}
