// SPDX-License-Identifier: Apache-2.0
#include "record/pages.h"
#include <hdf5.h>
#include <stdlib.h>

// Where the page stands in the table, or the free place where it would.
static tl_page *pages_place(const tl_pages *pages, int64_t number) {
    // Multiplying by an odd number with well mixed bits spreads neighbours over the table.
    uint64_t k = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    for (;; k++) {
        tl_page *place = &pages->table[k & (uint64_t)(pages->room - 1)];
        if (!place->bytes || place->number == number) return place;
    }
}

unsigned char *tl_pages_find(const tl_pages *pages, int64_t number) {
    return pages->count == 0 ? NULL : pages_place(pages, number)->bytes;
}

static int pages_grow(tl_pages *pages) {
    const int64_t room = pages->room > 0 ? 2 * pages->room : 64;
    tl_pages grown = {.room = room, .count = pages->count};
    grown.table = H5allocate_memory((size_t)room * sizeof *grown.table, true);
    if (!grown.table) return 0;
    for (int64_t k = 0; k < pages->room; k++)
        if (pages->table[k].bytes) *pages_place(&grown, pages->table[k].number) = pages->table[k];
    (void)H5free_memory(pages->table);
    *pages = grown;
    return 1;
}

unsigned char *tl_pages_add(tl_pages *pages, int64_t number) {
    if (2 * pages->count >= pages->room && !pages_grow(pages)) return NULL;
    unsigned char *bytes = H5allocate_memory(TL_PAGE, false);
    if (!bytes) return NULL;
    *pages_place(pages, number) = (tl_page){.number = number, .bytes = bytes};
    pages->count++;
    return bytes;
}

static int pages_order(const void *a, const void *b) {
    const int64_t p = ((const tl_page *)a)->number, q = ((const tl_page *)b)->number;
    return (p > q) - (p < q);
}

tl_page *tl_pages_sorted(const tl_pages *pages) {
    tl_page *list = H5allocate_memory((size_t)(pages->count + 1) * sizeof *list, false);
    if (!list) return NULL;
    int64_t used = 0;
    for (int64_t k = 0; k < pages->room; k++)
        if (pages->table[k].bytes) list[used++] = pages->table[k];
    qsort(list, (size_t)used, sizeof *list, pages_order);
    return list;
}

void tl_pages_clear(tl_pages *pages) {
    for (int64_t k = 0; k < pages->room; k++) (void)H5free_memory(pages->table[k].bytes);
    (void)H5free_memory(pages->table);
    *pages = (tl_pages){0};
}
