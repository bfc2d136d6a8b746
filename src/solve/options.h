// SPDX-License-Identifier: Apache-2.0
// Option tables: one row per setting gives its default, range, command-line key and help text.
#ifndef TL_SOLVE_OPTIONS_H
#define TL_SOLVE_OPTIONS_H
#include "base/context.h"
#include "talus/solver.h"

typedef enum tl_option_kind {
    TL_OPTION_NUMBER,  // double
    TL_OPTION_INTEGER, // int32_t
    TL_OPTION_YES_NO,  // bool
    TL_OPTION_CHOICE,  // int32_t: index into `choices`
} tl_option_kind;

typedef struct tl_option {
    const char *key;
    tl_option_kind kind;
    size_t offset;              // of the field in the options struct
    const char *initial;        // default, read like a value from the user
    double low, high;           // numbers and integers; both allowed,
    bool above;                 // except low itself where this is set
    const char *(*choice)(int); // name of choice k, NULL past the end
    const char *text;
} tl_option;

/// Row for field `f` of struct `type`.
#define TL_ROW(type, f, k, ini, ...)                                                               \
    { .key = #f, .kind = (k), .offset = offsetof(type, f), .initial = (ini), __VA_ARGS__ }

/// Set one option of `options` from text; `solver` is named in errors.
talus_status tl_option_set(talus_context *ctx, const char *solver, const tl_option *row,
                           const char *value, void *options) TALUS_MUST_CHECK;
void tl_option_describe(const tl_option *row, talus_option_info *out);

#endif // TL_SOLVE_OPTIONS_H
