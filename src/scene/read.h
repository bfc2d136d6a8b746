// SPDX-License-Identifier: Apache-2.0
// From the tree to the structs of schema.h, by the tables alone.
#ifndef TL_SCENE_READ_H
#define TL_SCENE_READ_H
#include "scene/schema.h"

/// Fill `out` (the struct of tl_scene_table) from the document: unknown keys, wrong kinds, units,
/// ranges and missing keys are errors.
talus_status tl_scene_read_keys(const tl_doc *doc, tl_scene_keys *out) TALUS_MUST_CHECK;

/// A name that was not found among known ones; known(user, k) gives them, NULL past the end. The
/// error is "place: path = 'name': …" with the nearest one and all of them.
talus_status tl_scene_fail_name(const tl_doc *doc, const tl_node *node, const char *name,
                                const char *what, const char *(*known)(const void *user, int32_t k),
                                const void *user) TL_COLD;

#endif // TL_SCENE_READ_H
