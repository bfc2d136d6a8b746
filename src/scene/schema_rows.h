// SPDX-License-Identifier: Apache-2.0
// How rows of the tables are written.
#ifndef TL_SCENE_SCHEMA_ROWS_H
#define TL_SCENE_SCHEMA_ROWS_H
#include "scene/schema.h"
#include <math.h>

// "choice k" of a fixed list.
#define SCHEMA_CHOICES(name, ...)                                                                  \
    static const char *name(int k) {                                                               \
        static const char *const text[] = {__VA_ARGS__};                                           \
        return k < (int)(sizeof text / sizeof *text) ? text[k] : NULL;                             \
    }

#define ROW(type, field, word, ...) .key = (word), .offset = offsetof(type, field), __VA_ARGS__
#define NUMBER(u) .kind = TL_KIND_NUMBER, .unit = TL_UNIT_##u
#define VECTOR(u) .kind = TL_KIND_VECTOR, .unit = TL_UNIT_##u
#define TURN(u) .kind = TL_KIND_TURN, .unit = TL_UNIT_##u
#define AT_LEAST(x) .low = (x), .high = INFINITY
#define ABOVE(x) .low = (x), .high = INFINITY, .above = true
#define BETWEEN(a, b) .low = (a), .high = (b)
#define TABLE(rows, ...)                                                                           \
    { .keys = (rows), __VA_ARGS__ }

#endif // TL_SCENE_SCHEMA_ROWS_H
