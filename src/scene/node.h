// SPDX-License-Identifier: Apache-2.0
// The YAML text of a scene as a tree of scalars, lists and maps that know where they stand, with
// the overrides ("path.to.key=value") put in. Aliases are copied. Bounded in depth, nodes and
// bytes, so that no text can make reading it expensive.
#ifndef TL_SCENE_NODE_H
#define TL_SCENE_NODE_H
#include "scene/arena.h"

enum {
    TL_NODE_DEPTH = 24,       // lists and maps inside each other
    TL_NODE_MOST = 1000000,   // nodes of a scene
    TL_NODE_COPIES = 100000,  // of which made by aliases
    TL_NODE_KEYS = 1000,      // keys of one map
    TL_NODE_BYTES = 64 << 20, // of the text
    TL_NODE_PLACE = 300,      // bytes of a place or path in an error
};

typedef enum tl_node_kind { TL_NODE_SCALAR, TL_NODE_LIST, TL_NODE_MAP } tl_node_kind;

typedef struct tl_node tl_node;
struct tl_node {
    tl_node_kind kind;
    int32_t set;          // 0: from the file; k: from override k − 1
    int32_t line, column; // from 1; of the value, in the file
    int32_t key_line, key_column;
    bool quoted;      // scalar: '…', "…", | or >
    const char *text; // scalar
    size_t length;    // of the text in bytes
    const char *key;  // in a map
    int32_t index;    // in a list
    int32_t count;    // of children
    tl_node *parent, *first, *last, *next;
};

typedef struct tl_doc {
    tl_arena *arena;
    const char *name; // of the file
    const char *const *set;
    tl_node *root;
    int32_t nodes, copies; // made so far
} tl_doc;

/// Read the one document of `text` into doc->root, then put the overrides in.
talus_status tl_doc_read(tl_doc *doc, const char *text, size_t length, const char *const *set,
                         int32_t set_count) TALUS_MUST_CHECK;
/// The child of a map (may be NULL) under `key`, or NULL.
const tl_node *tl_node_find(const tl_node *map, const char *key);
/// A plain scalar without text: a key that was written without a value.
bool tl_node_is_empty(const tl_node *node);
/// "map", "list" or the beginning of the scalar's text, for errors.
void tl_node_show(const tl_node *node, char out[64]);
/// Where the value stands ("heap.yaml:12:5", "--set a.b=3"), or its key.
void tl_node_place(const tl_doc *doc, const tl_node *node, bool key, char out[TL_NODE_PLACE]);
/// "bodies.0.at"; "" for the root.
void tl_node_path(const tl_node *node, char out[TL_NODE_PLACE]);
/// Fail with "place: path: …".
talus_status tl_node_fail(const tl_doc *doc, const tl_node *node, const char *format, ...)
    TL_FORMAT(3, 4) TL_COLD;
/// Fail with "place: …", the place being that of the key.
talus_status tl_node_fail_key(const tl_doc *doc, const tl_node *node, const char *format, ...)
    TL_FORMAT(3, 4) TL_COLD;

#endif // TL_SCENE_NODE_H
