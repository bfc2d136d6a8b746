// SPDX-License-Identifier: Apache-2.0
#include "scene/read.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { READ_LIST = 600 }; // bytes for a list of what is allowed

typedef struct reader {
    const tl_doc *doc;
    int32_t dim;
    tl_unit inherited; // unit of the key that holds the distribution being read
} reader;

static talus_status read_map(reader *r, const tl_node *node, const tl_table *table, void *out);

// ---- names that are not known ----

typedef struct read_names {
    char *list;
    size_t used;
    const char *name, *best;
    size_t distance;
} read_names;

static void read_offer(read_names *n, const char *known) {
    if (n->used < READ_LIST) {
        n->used += (size_t)snprintf(n->list + n->used, READ_LIST - n->used, "%s%s",
                                    n->used ? ", " : "", known);
    }
    if (talus_name_nearer(n->name, known, &n->distance)) n->best = known;
}

// "; did you mean 'x'? (allowed: a, b, c)"
static void read_advice(const read_names *n, char out[READ_LIST + 100]) {
    (void)snprintf(out, READ_LIST + 100, "%s%s%s (allowed: %s%s)",
                   n->best ? "; did you mean '" : "", n->best ? n->best : "", n->best ? "'?" : "",
                   n->used ? n->list : "none", n->used < READ_LIST ? "" : "…");
}

// Words that others use for the key lead to it.
static void read_offer_also(read_names *n, const tl_key *row) {
    for (const char *at = row->also; at && *at;) {
        char word[32];
        const size_t length = strcspn(at, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (talus_name_nearer(n->name, word, &n->distance)) n->best = row->key;
        at += length;
        at += strspn(at, ", ");
    }
}

static void read_offer_keys(read_names *n, const tl_table *table) {
    for (const tl_key *row = table->keys; !tl_key_is_end(row); row++) {
        if (row->kind == TL_KIND_INCLUDE) {
            read_offer_keys(n, row->sub);
        } else {
            read_offer(n, row->key);
            read_offer_also(n, row);
        }
    }
}

static talus_status read_unknown_key(const reader *r, const tl_node *node, const tl_table *table) {
    char list[READ_LIST] = "", advice[READ_LIST + 100];
    read_names names = {.list = list, .name = node->key, .distance = SIZE_MAX};
    read_offer_keys(&names, table);
    read_advice(&names, advice);
    return tl_node_fail_key(r->doc, node, "'%.60s' is not a key of %s%s", node->key, table->name,
                            advice);
}

talus_status tl_scene_fail_name(const tl_doc *doc, const tl_node *node, const char *name,
                                const char *what, const char *(*known)(const void *user, int32_t k),
                                const void *user) {
    char list[READ_LIST] = "", advice[READ_LIST + 100];
    read_names names = {.list = list, .name = name, .distance = SIZE_MAX};
    for (int32_t k = 0; known(user, k); k++) read_offer(&names, known(user, k));
    read_advice(&names, advice);
    return tl_node_fail(doc, node, " = '%.60s': not %s%s", name, what, advice);
}

// ---- single values ----

static talus_status read_wrong_kind(const reader *r, const tl_node *node, const char *wanted) {
    char shown[64];
    if (tl_node_is_empty(node)) {
        return tl_node_fail(r->doc, node, "has no value; it must be %s", wanted);
    }
    tl_node_show(node, shown);
    return tl_node_fail(r->doc, node, " = %s: must be %s", shown, wanted);
}

static tl_unit read_unit(const reader *r, const tl_key *row) {
    if (row->unit == TL_UNIT_INHERITED) return r->inherited;
    return row->unit == TL_UNIT_DENSITY && r->dim == 2 ? TL_UNIT_DENSITY_2D : row->unit;
}

static talus_status read_number_kind(const reader *r, const tl_node *node, tl_unit unit) {
    const char *symbol = tl_unit_symbol(unit);
    char wanted[80];
    (void)snprintf(wanted, sizeof wanted, "a number%s%s%s", symbol[0] ? ", e.g. 2 or '2 " : "",
                   symbol, symbol[0] ? "'" : "");
    return read_wrong_kind(r, node, wanted);
}

static talus_status read_wrong_unit(const reader *r, const tl_node *node, tl_unit unit) {
    char shown[64], names[200];
    const tl_unit other = tl_unit_of(node->text);
    tl_node_show(node, shown);
    if (unit == TL_UNIT_NONE) {
        return tl_node_fail(r->doc, node, " = %s: must be a plain number, without a unit", shown);
    }
    tl_unit_names(unit, names, sizeof names);
    if (other != TL_UNIT_NONE) {
        return tl_node_fail(r->doc, node, " = %s: the unit is one of %s, not of %s (allowed: %s)",
                            shown, tl_unit_text(other), tl_unit_text(unit), names);
    }
    return tl_node_fail(r->doc, node, " = %s: unknown unit of %s (allowed: %s)", shown,
                        tl_unit_text(unit), names);
}

static talus_status read_number(const reader *r, const tl_node *node, const tl_key *row,
                                double *out) {
    const tl_unit unit = read_unit(r, row);
    char range[160], shown[64];
    if (node->kind != TL_NODE_SCALAR) return read_number_kind(r, node, unit);
    switch (tl_number_read(node->text, unit, out)) {
    case TL_NUMBER_OK:
        break;
    case TL_NUMBER_NOT:
        return read_number_kind(r, node, unit);
    case TL_NUMBER_WRONG_UNIT:
        return read_wrong_unit(r, node, unit);
    case TL_NUMBER_RANGE:
        return read_wrong_kind(r, node, "a number below 1e100");
    }
    // Squares and volumes of what passes here cannot overflow.
    if (isfinite(*out) && fabs(*out) > 1e100) {
        return read_wrong_kind(r, node, "a number below 1e100");
    }
    const bool free_range = row->low == 0.0 && row->high == 0.0;
    const bool ok = isfinite(*out)
                        ? free_range || ((row->above ? *out > row->low : *out >= row->low) &&
                                         (row->below ? *out < row->high : *out <= row->high))
                        : row->infinite && *out > 0.0;
    if (ok) return TALUS_OK;
    tl_key_range(row, range, sizeof range);
    tl_node_show(node, shown);
    const char *bracket = range[0] == '[' || range[0] == '(' ? "in " : "";
    return tl_node_fail(r->doc, node, " = %s: must be %s%s%s%s", shown, bracket,
                        range[0] ? range : "finite", range[0] && unit != TL_UNIT_NONE ? " " : "",
                        range[0] ? tl_unit_symbol(unit) : "");
}

static talus_status read_integer(const reader *r, const tl_node *node, const tl_key *row,
                                 int64_t *out) {
    double x = 0.0;
    if (node->kind != TL_NODE_SCALAR || tl_number_read(node->text, TL_UNIT_NONE, &x) ||
        x != floor(x)) {
        return read_wrong_kind(r, node, "an integer");
    }
    TL_TRY(read_number(r, node, row, &x));
    *out = (int64_t)x; // the ranges of all integers lie below 2^53
    return TALUS_OK;
}

static talus_status read_choice(const reader *r, const tl_node *node, const tl_key *row,
                                int32_t *out) {
    char list[READ_LIST] = "", advice[READ_LIST + 100], shown[64];
    const char *text = node->kind == TL_NODE_SCALAR ? node->text : "";
    for (int k = 0; row->choice(k); k++)
        if (strcmp(row->choice(k), text) == 0) {
            *out = k;
            return TALUS_OK;
        }
    read_names names = {.list = list, .name = text, .distance = SIZE_MAX};
    for (int k = 0; row->choice(k); k++) read_offer(&names, row->choice(k));
    read_advice(&names, advice);
    tl_node_show(node, shown);
    return tl_node_fail(r->doc, node, " = %s: not a known choice%s", shown, advice);
}

static talus_status read_yes_no(const reader *r, const tl_node *node, bool *out) {
    const char *text = node->kind == TL_NODE_SCALAR ? node->text : "";
    const bool yes = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "no") != 0 && strcmp(text, "false") != 0) {
        return read_wrong_kind(r, node, "yes or no");
    }
    *out = yes;
    return TALUS_OK;
}

static talus_status read_text(const reader *r, const tl_node *node, const char **out) {
    if (node->kind != TL_NODE_SCALAR) return read_wrong_kind(r, node, "a text");
    *out = node->text;
    return TALUS_OK;
}

// ---- values with parts ----

// A list of `dim` numbers; z stays 0 in 2D.
static talus_status read_vector(const reader *r, const tl_node *node, const tl_key *row,
                                double *out) {
    int32_t k = 0;
    if (node->kind != TL_NODE_LIST || node->count != r->dim) {
        return read_wrong_kind(r, node,
                               r->dim == 2 ? "a list of 2 numbers [x, y] (dimension: 2)"
                                           : "a list of 3 numbers [x, y, z]");
    }
    for (const tl_node *n = node->first; n; n = n->next) TL_TRY(read_number(r, n, row, &out[k++]));
    return TALUS_OK;
}

static talus_status read_turn(const reader *r, const tl_node *node, const tl_key *row,
                              double *out) {
    return r->dim == 2 ? read_number(r, node, row, &out[2]) : read_vector(r, node, row, out);
}

static talus_status read_counts(const reader *r, const tl_node *node, const tl_key *row,
                                int32_t *out) {
    int32_t k = 0;
    if (node->kind != TL_NODE_LIST || node->count != r->dim) {
        return read_wrong_kind(
            r, node, r->dim == 2 ? "a list of 2 integers (dimension: 2)" : "a list of 3 integers");
    }
    for (const tl_node *n = node->first; n; n = n->next) {
        int64_t x = 0;
        TL_TRY(read_integer(r, n, row, &x));
        out[k++] = (int32_t)x;
    }
    return TALUS_OK;
}

static talus_status read_numbers(const reader *r, const tl_node *node, const tl_key *row,
                                 tl_numbers *out) {
    if (node->kind != TL_NODE_LIST || node->count == 0) {
        return read_wrong_kind(r, node, "a list of numbers");
    }
    TL_TRY(TL_TAKE(r->doc->arena, node->count, &out->value));
    for (const tl_node *n = node->first; n; n = n->next)
        TL_TRY(read_number(r, n, row, &out->value[out->count++]));
    return TALUS_OK;
}

static talus_status read_points(const reader *r, const tl_node *node, const tl_key *row,
                                tl_numbers *out) {
    if (node->kind != TL_NODE_LIST || node->count == 0) {
        return read_wrong_kind(r, node, "a list of points");
    }
    TL_TRY(TL_TAKE(r->doc->arena, 3 * (int64_t)node->count, &out->value));
    for (const tl_node *n = node->first; n; n = n->next)
        TL_TRY(read_vector(r, n, row, out->value + 3 * (int64_t)out->count++));
    return TALUS_OK;
}

static talus_status read_texts(const reader *r, const tl_node *node, tl_names *out) {
    if (node->kind != TL_NODE_LIST) return read_wrong_kind(r, node, "a list of names");
    TL_TRY(tl_arena_take(r->doc->arena, node->count, sizeof *out->text, &out->text));
    for (const tl_node *n = node->first; n; n = n->next)
        TL_TRY(read_text(r, n, &out->text[out->count++]));
    return TALUS_OK;
}

static talus_status read_words(const reader *r, const tl_node *node, const tl_key *row, bool *out) {
    if (node->kind != TL_NODE_LIST) return read_wrong_kind(r, node, "a list of words");
    for (const tl_node *n = node->first; n; n = n->next) {
        int32_t k = 0;
        TL_TRY(read_choice(r, n, row, &k));
        out[k] = true;
    }
    return TALUS_OK;
}

static talus_status read_spread(reader *r, const tl_node *node, const tl_key *row, tl_spread *out) {
    if (node->kind != TL_NODE_MAP) {
        TL_TRY(read_number(r, node, row, &out->value));
        out->node = node;
        return TALUS_OK;
    }
    r->inherited = read_unit(r, row);
    TL_TRY(read_map(r, node, row->sub, out));
    out->law++; // the choices begin after the constant
    return TALUS_OK;
}

static talus_status read_items(reader *r, const tl_node *node, const tl_key *row, tl_items *out) {
    const bool named = row->kind == TL_KIND_NAMED;
    if (tl_node_is_empty(node)) return TALUS_OK;
    if (node->kind != (named ? TL_NODE_MAP : TL_NODE_LIST)) {
        return read_wrong_kind(r, node, named ? "a map from names to maps" : "a list ('- …')");
    }
    TL_TRY(tl_arena_take(r->doc->arena, node->count, row->sub->size, &out->data));
    for (const tl_node *n = node->first; n; n = n->next)
        TL_TRY(read_map(r, n, row->sub, (char *)out->data + row->sub->size * (size_t)out->count++));
    return TALUS_OK;
}

static talus_status read_value(reader *r, const tl_node *node, const tl_key *row, void *field) {
    switch (row->kind) {
    case TL_KIND_NUMBER:
        return read_number(r, node, row, field);
    case TL_KIND_INTEGER:
        return read_integer(r, node, row, field);
    case TL_KIND_YES_NO:
        return read_yes_no(r, node, field);
    case TL_KIND_TEXT:
        return read_text(r, node, field);
    case TL_KIND_CHOICE:
        return read_choice(r, node, row, field);
    case TL_KIND_VECTOR:
        return read_vector(r, node, row, field);
    case TL_KIND_TURN:
        return read_turn(r, node, row, field);
    case TL_KIND_COUNTS:
        return read_counts(r, node, row, field);
    case TL_KIND_NUMBERS:
        return read_numbers(r, node, row, field);
    case TL_KIND_POINTS:
        return read_points(r, node, row, field);
    case TL_KIND_NAMES:
        return read_texts(r, node, field);
    case TL_KIND_WORDS:
        return read_words(r, node, row, field);
    case TL_KIND_SPREAD:
        return read_spread(r, node, row, field);
    case TL_KIND_OPTIONS:
        *(const tl_node **)field = node;
        return TALUS_OK;
    case TL_KIND_MAP:
        return read_map(r, node, row->sub, field);
    case TL_KIND_ITEMS:
    case TL_KIND_NAMED:
        return read_items(r, node, row, field);
    case TL_KIND_INCLUDE:
        break;
    }
    return TALUS_OK;
}

// ---- defaults and maps ----

static void read_defaults(const reader *r, const tl_table *table, char *out);

// Defaults are our own text: that they can be read is proved by a test over all rows.
static void read_default(const reader *r, const tl_key *row, void *field) {
    double x = 0.0;
    if (row->kind == TL_KIND_MAP) {
        read_defaults(r, row->sub, field);
        return;
    }
    if (!row->initial) return;
    switch (row->kind) {
    case TL_KIND_NUMBER:
        (void)tl_number_read(row->initial, read_unit(r, row), field);
        return;
    case TL_KIND_INTEGER:
        (void)tl_number_read(row->initial, TL_UNIT_NONE, &x);
        *(int64_t *)field = (int64_t)x;
        return;
    case TL_KIND_YES_NO:
        *(bool *)field = row->initial[0] == 'y';
        return;
    case TL_KIND_TEXT:
        *(const char **)field = row->initial;
        return;
    case TL_KIND_CHOICE:
        for (int k = 0; row->choice(k); k++)
            if (strcmp(row->choice(k), row->initial) == 0) *(int32_t *)field = k;
        return;
    case TL_KIND_VECTOR:
    case TL_KIND_TURN:
        (void)tl_number_read(row->initial, read_unit(r, row), &x);
        for (int k = 0; k < 3; k++) ((double *)field)[k] = x;
        return;
    case TL_KIND_SPREAD:
        (void)tl_number_read(row->initial, read_unit(r, row), &((tl_spread *)field)->value);
        return;
    default:
        return;
    }
}

static void read_defaults(const reader *r, const tl_table *table, char *out) {
    for (const tl_key *row = table->keys; !tl_key_is_end(row); row++) {
        if (row->kind == TL_KIND_INCLUDE) {
            read_defaults(r, row->sub, out + row->offset);
        } else {
            read_default(r, row, out + row->offset);
        }
    }
}

// Is the value of the selecting key ("shape" of "shape: sphere, drum") one of those listed?
static bool read_selected(const tl_node *map, const tl_table *table, const char *only,
                          const char **selector, const char **value) {
    const char *colon = strchr(only, ':');
    const size_t length = (size_t)(colon - only);
    for (const tl_node *n = map->first; n; n = n->next)
        if (strlen(n->key) == length && memcmp(n->key, only, length) == 0) {
            *selector = n->key;
            *value = n->kind == TL_NODE_SCALAR ? n->text : "";
        }
    if (!*selector) {
        char key[32];
        (void)snprintf(key, sizeof key, "%.*s", (int)length, only);
        const tl_key *row = tl_table_find(table, key);
        *selector = row->key;
        *value = row->initial ? row->initial : "";
    }
    const size_t wanted = strlen(*value);
    for (const char *word = colon + 1; *word;) {
        word += strspn(word, ", ");
        const size_t n = strcspn(word, ",");
        if (n == wanted && memcmp(word, *value, n) == 0) return true;
        word += n;
    }
    return false;
}

// A key does not go with the value of another, because no name is written like that, perhaps.
static talus_status read_misspelt(const reader *r, const tl_node *map, const tl_table *table,
                                  const char *selector, const char *value) {
    const tl_key *row = tl_table_find(table, selector);
    const tl_node *node = tl_node_find(map, selector);
    if (!row->name || !node || node->kind != TL_NODE_SCALAR) return TALUS_OK;
    for (int32_t k = 0; row->name(r->doc, k); k++)
        if (strcmp(row->name(r->doc, k), value) == 0) return TALUS_OK;
    char what[40];
    (void)snprintf(what, sizeof what, "a %s", selector);
    return tl_scene_fail_name(r->doc, node, value, what, row->name, r->doc);
}

static talus_status read_row(reader *r, const tl_node *map, const tl_table *table,
                             const tl_key *row, void *field) {
    const tl_node *node = tl_node_find(map, row->key);
    const char *selector = NULL, *value = NULL;
    const bool selected = !row->only || read_selected(map, table, row->only, &selector, &value);
    if (!node) {
        if (!row->required || !selected) return TALUS_OK;
        char range[160], place[200] = "";
        tl_key_range(row, range, sizeof range);
        if (row->only) (void)snprintf(place, sizeof place, " (%s: %.60s)", selector, value);
        return tl_node_fail(r->doc, map, "'%s' is missing%s: %s%s%s%s", row->key, place, row->text,
                            range[0] ? " (allowed: " : "", range, range[0] ? ")" : "");
    }
    if (!selected) {
        TL_TRY(read_misspelt(r, map, table, selector, value));
        return tl_node_fail_key(r->doc, node, "'%s' does not go with %s: %.60s (only with %s)",
                                row->key, selector, value[0] ? value : "(not given)", row->only);
    }
    return read_value(r, node, row, field);
}

static talus_status read_rows(reader *r, const tl_node *map, const tl_table *root,
                              const tl_table *table, char *out) {
    for (const tl_key *row = table->keys; !tl_key_is_end(row); row++) {
        if (row->kind == TL_KIND_INCLUDE) {
            TL_TRY(read_rows(r, map, root, row->sub, out + row->offset));
        } else {
            TL_TRY(read_row(r, map, root, row, out + row->offset));
        }
    }
    return TALUS_OK;
}

static talus_status read_map(reader *r, const tl_node *node, const tl_table *table, void *out) {
    const tl_unit inherited = r->inherited;
    if (!tl_node_is_empty(node) && node->kind != TL_NODE_MAP) {
        return read_wrong_kind(r, node, "a map of keys ('key: value')");
    }
    *(const tl_node **)out = node;
    for (const tl_node *n = node->first; n; n = n->next)
        if (!tl_table_find(table, n->key)) return read_unknown_key(r, n, table);
    read_defaults(r, table, out);
    *(const tl_node **)out = node;
    TL_TRY(read_rows(r, node, table, table, out));
    r->inherited = inherited;
    return TALUS_OK;
}

talus_status tl_scene_read_keys(const tl_doc *doc, tl_scene_keys *out) {
    // The dimension decides how vectors are read, wherever it stands in the file.
    reader r = {.doc = doc, .dim = 3};
    const tl_node *node = tl_node_find(doc->root, "dimension");
    const tl_node *version = tl_node_find(doc->root, "version");
    int64_t dim = 3;
    if (version) {
        int64_t number = 0;
        TL_TRY(read_integer(&r, version, tl_table_find(&tl_scene_table, "version"), &number));
    }
    if (node) TL_TRY(read_integer(&r, node, tl_table_find(&tl_scene_table, "dimension"), &dim));
    r.dim = (int32_t)dim;
    return read_map(&r, doc->root, &tl_scene_table, out);
}
