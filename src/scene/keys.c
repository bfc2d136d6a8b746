// SPDX-License-Identifier: Apache-2.0
// The tables as a flat list for help pages: section by section, each table once, in the order in
// which the tables first use each other.
#include "scene/schema.h"
#include <stdio.h>
#include <string.h>

enum { KEYS_TABLES = 64 };

typedef struct keys_list {
    const tl_table *table[KEYS_TABLES];
    int count;
} keys_list;

// Tables in the order of first use; one that only includes others has nothing of its own to show.
static void keys_collect(keys_list *list, const tl_table *table) {
    for (int k = 0; k < list->count; k++)
        if (list->table[k] == table) return;
    if (list->count == KEYS_TABLES) return;
    list->table[list->count++] = table;
    for (const tl_key *row = table->keys; !tl_key_is_end(row); row++)
        if (row->sub) keys_collect(list, row->sub);
}

bool talus_scene_key_at(int32_t index, talus_scene_key *out) {
    keys_list list = {0};
    keys_collect(&list, &tl_scene_table);
    for (int t = 0; t < list.count; t++) {
        const tl_table *table = list.table[t];
        for (const tl_key *row = table->keys; !tl_key_is_end(row); row++) {
            if (row->kind == TL_KIND_INCLUDE || index-- > 0) continue;
            *out = (talus_scene_key){
                .section = table->path,
                .section_text = table->text,
                .key = row->key,
                .kind = tl_kind_text(row->kind),
                .unit = row->unit == TL_UNIT_INHERITED ? "as the key" : tl_unit_symbol(row->unit),
                .initial = row->required  ? NULL
                           : row->initial ? row->initial
                                          : row->absent,
                .only = row->only ? row->only : "",
                .text = row->text};
            tl_key_range(row, out->range, sizeof out->range);
            return true;
        }
    }
    return false;
}

bool talus_scene_unit_at(int32_t index, const char **what, char names[160]) {
    if (index < 0 || index + 1 >= TL_UNIT_INHERITED) return false;
    const tl_unit unit = (tl_unit)(index + 1); // 0 has no units
    *what = tl_unit_text(unit);
    tl_unit_names(unit, names, 160);
    return true;
}
