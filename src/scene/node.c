// SPDX-License-Identifier: Apache-2.0
// Trees are built from libyaml's events rather than by its document loader: depth and size are
// bounded while reading, and a failed allocation of ours is reported as ours.
#include "scene/node.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

// Bytes at the beginning of `text`, at most `most`, that end with a whole UTF-8 character, and no
// line break.
static int node_cut(const char *text, size_t length, int most) {
    int n = 0;
    while ((size_t)n < length && n <= most && (unsigned char)text[n] >= ' ') n++;
    if (n > most)
        for (n = most; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80;) n--;
    return n;
}

bool tl_node_is_empty(const tl_node *node) {
    return node->kind == TL_NODE_SCALAR && !node->quoted && node->length == 0;
}

void tl_node_show(const tl_node *node, char out[64]) {
    if (node->kind != TL_NODE_SCALAR) {
        (void)snprintf(out, 64, node->kind == TL_NODE_LIST ? "a list of %d" : "a map of %d",
                       (int)node->count);
        return;
    }
    const int n = node_cut(node->text, node->length, 48);
    (void)snprintf(out, 64, "'%.*s%s'", n, node->text, (size_t)n < node->length ? "…" : "");
}

void tl_node_place(const tl_doc *doc, const tl_node *node, bool key, char out[TL_NODE_PLACE]) {
    if (node->set > 0) {
        const char *set = doc->set[node->set - 1];
        const int n = node_cut(set, strlen(set), 100);
        (void)snprintf(out, TL_NODE_PLACE, "--set %.*s", n, set);
        return;
    }
    key = key && node->key;
    (void)snprintf(out, TL_NODE_PLACE, "%.200s:%d:%d", doc->name,
                   (int)(key ? node->key_line : node->line),
                   (int)(key ? node->key_column : node->column));
}

void tl_node_path(const tl_node *node, char out[TL_NODE_PLACE]) {
    const tl_node *chain[TL_NODE_DEPTH + 2];
    int depth = 0, used = 0;
    out[0] = '\0';
    for (; node->parent && depth < TL_NODE_DEPTH + 2; node = node->parent) chain[depth++] = node;
    while (depth-- > 0 && used < TL_NODE_PLACE - 80) {
        const tl_node *at = chain[depth];
        const char *dot = used > 0 ? "." : "";
        if (at->key) {
            used += snprintf(out + used, (size_t)(TL_NODE_PLACE - used), "%s%.*s", dot,
                             node_cut(at->key, strlen(at->key), 40), at->key);
        } else {
            used +=
                snprintf(out + used, (size_t)(TL_NODE_PLACE - used), "%s%d", dot, (int)at->index);
        }
    }
}

talus_status tl_node_fail(const tl_doc *doc, const tl_node *node, const char *format, ...) {
    char place[TL_NODE_PLACE], path[TL_NODE_PLACE], text[900];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tl_node_place(doc, node, false, place);
    tl_node_path(node, path);
    return tl_fail(doc->arena->ctx, TALUS_ERR_FORMAT, "%s: %s%s%s", place, path,
                   path[0] && strncmp(text, " =", 2) != 0 ? ": " : "", text);
}

talus_status tl_node_fail_key(const tl_doc *doc, const tl_node *node, const char *format, ...) {
    char place[TL_NODE_PLACE], text[900];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tl_node_place(doc, node, true, place);
    return tl_fail(doc->arena->ctx, TALUS_ERR_FORMAT, "%s: %s", place, text);
}

const tl_node *tl_node_find(const tl_node *map, const char *key) {
    if (!map || map->kind != TL_NODE_MAP) return NULL;
    for (const tl_node *n = map->first; n; n = n->next)
        if (strcmp(n->key, key) == 0) return n;
    return NULL;
}

// What is being read: the document, or the value of one override.
typedef struct node_reader {
    tl_doc *doc;
    yaml_parser_t parser;
    const char *text;
    size_t length;
    int32_t set; // as in tl_node
    int32_t depth;
    tl_node *root;
    tl_node *open;   // list or map that is being filled
    const char *key; // of the value that comes next in a map
    int32_t key_line, key_column;
    struct node_anchor *anchors; // newest first
    int32_t anchor_count;
} node_reader;

typedef struct node_anchor {
    const char *name;
    const tl_node *node;
    struct node_anchor *before;
} node_anchor;

static talus_status node_fail_at(const node_reader *r, size_t line, size_t column,
                                 const char *format, ...) TL_FORMAT(4, 5) TL_COLD;
static talus_status node_fail_at(const node_reader *r, size_t line, size_t column,
                                 const char *format, ...) {
    const tl_node here = {.set = r->set, .line = (int32_t)line + 1, .column = (int32_t)column + 1};
    char text[600];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tl_node_fail(r->doc, &here, "%s", text);
}

// The parser stopped: say why, in words about the text where we have some.
static talus_status node_fail_parser(const node_reader *r) {
    const yaml_parser_t *p = &r->parser;
    talus_context *ctx = r->doc->arena->ctx;
    if (p->error == YAML_MEMORY_ERROR) {
        return tl_fail(ctx, TALUS_ERR_MEMORY, "no memory to read the scene");
    }
    if (p->error == YAML_READER_ERROR) {
        size_t line = 0, column = 0;
        for (size_t k = 0; k < p->problem_offset && k < r->length; k++) {
            const bool end = r->text[k] == '\n';
            line += end;
            column = end ? 0 : column + (((unsigned char)r->text[k] & 0xC0) != 0x80);
        }
        return node_fail_at(r, line, column, "not a character of a scene (it must be UTF-8 text)");
    }
    const size_t line = p->problem_mark.line, column = p->problem_mark.column;
    if (p->problem_mark.index < r->length && r->text[p->problem_mark.index] == '\t') {
        return node_fail_at(r, line, column, "a tab cannot stand here; indent with blanks");
    }
    if (p->context) {
        return node_fail_at(r, line, column, "%s (%s, line %d)", p->problem, p->context,
                            (int)p->context_mark.line + 1);
    }
    return node_fail_at(r, line, column, "%s", p->problem ? p->problem : "not YAML");
}

static talus_status node_make(tl_doc *doc, const tl_node *like, tl_node **out) {
    if (++doc->nodes > TL_NODE_MOST) {
        return tl_node_fail_key(doc, like, "more than %d values", TL_NODE_MOST);
    }
    TL_TRY(TL_TAKE(doc->arena, 1, out));
    **out = *like;
    return TALUS_OK;
}

static void node_append(tl_node *parent, tl_node *child) {
    TL_ASSUME(parent && child);
    child->parent = parent;
    child->next = NULL;
    child->index = parent->count++;
    if (parent->last) {
        parent->last->next = child;
    } else {
        parent->first = child;
    }
    parent->last = child;
}

// Put a value under the key that came before it, at the end of a list, or at the root.
static talus_status node_place(node_reader *r, tl_node *node) {
    if (!r->open) {
        r->root = node;
        return TALUS_OK;
    }
    node->key = r->key;
    node->key_line = r->key_line, node->key_column = r->key_column;
    r->key = NULL;
    node_append(r->open, node);
    return TALUS_OK;
}

static talus_status node_deep_copy(tl_doc *doc, const tl_node *from, const tl_node *alias,
                                   tl_node **out) {
    tl_node like = *from;
    like.set = alias->set;
    like.first = like.last = like.next = like.parent = NULL;
    like.count = 0;
    if (++doc->copies > TL_NODE_COPIES) {
        return tl_node_fail_key(doc, alias, "aliases (*name) copy more than %d values",
                                TL_NODE_COPIES);
    }
    TL_TRY(node_make(doc, &like, out));
    for (const tl_node *child = from->first; child; child = child->next) {
        tl_node *copy = NULL;
        TL_TRY(node_deep_copy(doc, child, alias, &copy)); // as deep as what was read: bounded
        TL_ASSUME(copy);
        node_append(*out, copy);
    }
    return TALUS_OK;
}

static int node_depth(const tl_node *node) {
    int deepest = 0;
    for (const tl_node *child = node->first; child; child = child->next) {
        const int d = node_depth(child);
        if (d > deepest) deepest = d;
    }
    return 1 + deepest;
}

static talus_status node_alias(node_reader *r, const yaml_event_t *e) {
    const char *name = (const char *)e->data.alias.anchor;
    const node_anchor *a = r->anchors;
    while (a && strcmp(a->name, name) != 0) a = a->before;
    const size_t line = e->start_mark.line, column = e->start_mark.column;
    if (!a) return node_fail_at(r, line, column, "*%.40s: no &%.40s before it", name, name);
    if (r->open && r->open->kind == TL_NODE_MAP && !r->key) {
        return node_fail_at(r, line, column, "*%.40s cannot be a key", name);
    }
    for (const tl_node *up = r->open; up; up = up->parent)
        if (up == a->node) {
            return node_fail_at(r, line, column, "*%.40s stands inside its own &%.40s", name, name);
        }
    if (r->depth + node_depth(a->node) > TL_NODE_DEPTH) {
        return node_fail_at(r, line, column, "more than %d lists and maps inside each other",
                            TL_NODE_DEPTH);
    }
    const tl_node here = {.set = r->set, .line = (int32_t)line + 1, .column = (int32_t)column + 1};
    tl_node *copy = NULL;
    TL_TRY(node_deep_copy(r->doc, a->node, &here, &copy));
    TL_ASSUME(copy);
    return node_place(r, copy);
}

static talus_status node_key(node_reader *r, const yaml_event_t *e) {
    const size_t line = e->start_mark.line, column = e->start_mark.column;
    if (e->type != YAML_SCALAR_EVENT) {
        return node_fail_at(r, line, column, "a key must be a word, not a list or a map");
    }
    const char *text = (const char *)e->data.scalar.value;
    const size_t length = e->data.scalar.length;
    if (strlen(text) != length || length == 0) {
        return node_fail_at(r, line, column, "a key must be a word");
    }
    if (r->open->count >= TL_NODE_KEYS) {
        return node_fail_at(r, line, column, "more than %d keys in one map", TL_NODE_KEYS);
    }
    const tl_node *twin = tl_node_find(r->open, text);
    if (twin) {
        return node_fail_at(r, line, column, "'%.*s' is given twice (before in line %d)",
                            node_cut(text, length, 40), text, (int)twin->key_line);
    }
    TL_TRY(tl_arena_text(r->doc->arena, text, length, &r->key));
    r->key_line = (int32_t)line + 1, r->key_column = (int32_t)column + 1;
    return TALUS_OK;
}

static talus_status node_anchor_add(node_reader *r, const yaml_char_t *name, const tl_node *node) {
    node_anchor *a = NULL;
    if (!name) return TALUS_OK;
    if (++r->anchor_count > TL_NODE_KEYS) {
        return tl_node_fail_key(r->doc, node, "more than %d anchors (&name)", TL_NODE_KEYS);
    }
    TL_TRY(TL_TAKE(r->doc->arena, 1, &a));
    TL_TRY(tl_arena_text(r->doc->arena, (const char *)name, strlen((const char *)name), &a->name));
    a->node = node;
    a->before = r->anchors;
    r->anchors = a;
    return TALUS_OK;
}

static talus_status node_value(node_reader *r, const yaml_event_t *e) {
    tl_node like = {.kind = e->type == YAML_SCALAR_EVENT           ? TL_NODE_SCALAR
                            : e->type == YAML_SEQUENCE_START_EVENT ? TL_NODE_LIST
                                                                   : TL_NODE_MAP,
                    .set = r->set,
                    .line = (int32_t)e->start_mark.line + 1,
                    .column = (int32_t)e->start_mark.column + 1};
    const yaml_char_t *anchor = e->type == YAML_SCALAR_EVENT ? e->data.scalar.anchor
                                : e->type == YAML_SEQUENCE_START_EVENT
                                    ? e->data.sequence_start.anchor
                                    : e->data.mapping_start.anchor;
    tl_node *node = NULL;
    if (e->type == YAML_SCALAR_EVENT) {
        like.quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        like.length = e->data.scalar.length;
        TL_TRY(tl_arena_text(r->doc->arena, (const char *)e->data.scalar.value, like.length,
                             &like.text));
        if (strlen(like.text) != like.length) {
            return node_fail_at(r, e->start_mark.line, e->start_mark.column,
                                "a text cannot hold the character 0");
        }
    }
    TL_TRY(node_make(r->doc, &like, &node));
    TL_ASSUME(node);
    TL_TRY(node_place(r, node));
    TL_TRY(node_anchor_add(r, anchor, node));
    if (like.kind == TL_NODE_SCALAR) return TALUS_OK;
    if (++r->depth > TL_NODE_DEPTH) {
        return node_fail_at(r, e->start_mark.line, e->start_mark.column,
                            "more than %d lists and maps inside each other", TL_NODE_DEPTH);
    }
    r->open = node;
    return TALUS_OK;
}

static talus_status node_event(node_reader *r, const yaml_event_t *e) {
    const bool key_next = r->open && r->open->kind == TL_NODE_MAP && !r->key;
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return node_alias(r, e);
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return key_next ? node_key(r, e) : node_value(r, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        TL_ASSUME(r->open);
        r->open = r->open->parent;
        r->depth--;
        return TALUS_OK;
    case YAML_DOCUMENT_START_EVENT:
        if (!r->root) return TALUS_OK;
        return node_fail_at(r, e->start_mark.line, e->start_mark.column,
                            "a second document ('---') begins here; a scene is one document");
    default:
        return TALUS_OK;
    }
}

static talus_status node_read(node_reader *r) {
    talus_status status = TALUS_OK;
    if (!yaml_parser_initialize(&r->parser)) {
        return tl_fail(r->doc->arena->ctx, TALUS_ERR_MEMORY, "no memory to read the scene");
    }
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text, r->length);
    for (bool more = true; more && status == TALUS_OK;) {
        yaml_event_t e;
        if (!yaml_parser_parse(&r->parser, &e)) {
            status = node_fail_parser(r);
            break;
        }
        more = e.type != YAML_STREAM_END_EVENT;
        status = node_event(r, &e);
        yaml_event_delete(&e);
    }
    yaml_parser_delete(&r->parser);
    return status;
}

// Find or make the node at the path of an override; its last step is replaced by `value`.
static talus_status node_override(tl_doc *doc, int32_t k, tl_node *value) {
    const char *word = doc->set[k], *end = strchr(word, '=');
    const tl_node here = {.set = k + 1};
    tl_node *at = doc->root;
    for (;;) {
        const char *dot = memchr(word, '.', (size_t)(end - word));
        const size_t length = (size_t)((dot ? dot : end) - word);
        const int shown = node_cut(word, length, 40);
        tl_node *child = at->first;
        if (length == 0) return tl_node_fail(doc, &here, "the path has an empty part");
        if (at->kind == TL_NODE_SCALAR && tl_node_is_empty(at)) at->kind = TL_NODE_MAP;
        if (at->kind == TL_NODE_SCALAR) {
            return tl_node_fail(doc, &here, "'%.*s' lies inside a value that has no parts", shown,
                                word);
        }
        if (at->kind == TL_NODE_LIST) {
            int32_t index = 0;
            bool digits = length <= 7;
            for (size_t i = 0; i < length && digits; i++) {
                digits = word[i] >= '0' && word[i] <= '9';
                index = 10 * index + (word[i] - '0');
            }
            while (digits && child && child->index != index) child = child->next;
            if (!digits || !child) {
                return tl_node_fail(doc, &here,
                                    "'%.*s' must be the number of an entry of a list of %d, "
                                    "counted from 0",
                                    shown, word, (int)at->count);
            }
        } else {
            while (child && (strlen(child->key) != length || memcmp(child->key, word, length) != 0))
                child = child->next;
            if (!child) {
                tl_node like = {.kind = TL_NODE_MAP, .set = k + 1};
                TL_TRY(tl_arena_text(doc->arena, word, length, &like.key));
                TL_TRY(node_make(doc, &like, &child));
                node_append(at, child);
            }
        }
        at = child;
        if (!dot) break;
        word = dot + 1;
    }
    at->kind = value->kind, at->set = value->set, at->quoted = value->quoted;
    at->text = value->text, at->length = value->length;
    at->count = value->count, at->first = value->first, at->last = value->last;
    for (tl_node *child = at->first; child; child = child->next) child->parent = at;
    return TALUS_OK;
}

talus_status tl_doc_read(tl_doc *doc, const char *text, size_t length, const char *const *set,
                         int32_t set_count) {
    talus_context *ctx = doc->arena->ctx;
    TL_REQUIRE(ctx, length <= TL_NODE_BYTES, TALUS_ERR_FORMAT, "%s: more than %d bytes", doc->name,
               TL_NODE_BYTES);
    doc->set = set;
    // A byte order mark is no part of the text.
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    node_reader r = {.doc = doc, .text = text, .length = length};
    TL_TRY(node_read(&r));
    doc->root = r.root;
    if (!r.root || r.root->kind != TL_NODE_MAP) {
        return tl_fail(ctx, TALUS_ERR_FORMAT,
                       "%s:1:1: a scene is a map of keys such as 'version: 1' ('talus help scene' "
                       "lists them)",
                       doc->name);
    }
    for (int32_t k = 0; k < set_count; k++) {
        const char *equals = strchr(set[k], '=');
        TL_REQUIRE(ctx, equals, TALUS_ERR_ARG,
                   "--set %.100s: must be PATH=VALUE, e.g. "
                   "materials.sand.friction=0.3",
                   set[k]);
        node_reader v = {
            .doc = doc, .text = equals + 1, .length = strlen(equals + 1), .set = k + 1};
        TL_TRY(node_read(&v));
        if (!v.root) {
            const tl_node here = {.set = k + 1};
            return tl_node_fail(doc, &here, "no value after '='");
        }
        TL_TRY(node_override(doc, k, v.root));
    }
    return TALUS_OK;
}
