// SPDX-License-Identifier: Apache-2.0
#include "solve/options.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *option_kind_text(tl_option_kind kind) {
    static const char *const text[] = {"number", "integer", "yes/no", "choice"};
    return text[kind];
}

static void option_range(const tl_option *row, char *out, size_t size) {
    out[0] = '\0';
    if (row->kind == TL_OPTION_YES_NO) {
        snprintf(out, size, "yes, no");
    } else if (row->kind == TL_OPTION_CHOICE) {
        size_t used = 0;
        for (int k = 0; row->choice(k) && used < size; k++)
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", k ? ", " : "", row->choice(k));
    } else {
        snprintf(out, size, "%c%.10g, %.10g]", row->above ? '(' : '[', row->low, row->high);
    }
}

void tl_option_describe(const tl_option *row, talus_option_info *out) {
    *out = (talus_option_info){.key = row->key,
                               .kind = option_kind_text(row->kind),
                               .initial = row->initial,
                               .text = row->text};
    option_range(row, out->range, sizeof out->range);
}

static bool option_number(const tl_option *row, const char *value, double *out) {
    char *end;
    errno = 0;
    const double x = strtod(value, &end);
    if (end == value || *end || isnan(x)) return false;
    if (x < row->low || x > row->high || (row->above && !(x > row->low))) return false;
    if (row->kind == TL_OPTION_INTEGER && x != floor(x)) return false;
    *out = x;
    return true;
}

static bool option_choice(const tl_option *row, const char *value, int32_t *out) {
    for (int k = 0; row->choice(k); k++)
        if (strcmp(row->choice(k), value) == 0) {
            *out = k;
            return true;
        }
    return false;
}

talus_status tl_option_set(talus_context *ctx, const char *solver, const tl_option *row,
                           const char *value, void *options) {
    void *field = (char *)options + row->offset;
    bool ok = false;
    double x = 0.0;
    if (row->kind == TL_OPTION_YES_NO) {
        ok = strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
        if (ok) *(bool *)field = value[0] == 'y';
    } else if (row->kind == TL_OPTION_CHOICE) {
        ok = option_choice(row, value, field);
    } else {
        ok = option_number(row, value, &x);
        if (ok && row->kind == TL_OPTION_NUMBER) *(double *)field = x;
        if (ok && row->kind == TL_OPTION_INTEGER) *(int32_t *)field = (int32_t)x;
    }
    if (ok) return TALUS_OK;
    char range[sizeof((talus_option_info *)0)->range];
    option_range(row, range, sizeof range);
    return tl_fail(ctx, TALUS_ERR_ARG, "%s: option %s = '%s': must be %s %s", solver, row->key,
                   value,
                   row->kind == TL_OPTION_INTEGER  ? "an integer in"
                   : row->kind == TL_OPTION_NUMBER ? "a number in"
                                                   : "one of",
                   range);
}
