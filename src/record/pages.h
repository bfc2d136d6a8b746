// SPDX-License-Identifier: Apache-2.0
// Pages of a file held in memory, found by number. The memory is HDF5's (H5allocate_memory), since
// HDF5 cannot recover from a write that is refused half way.
#ifndef TL_RECORD_PAGES_H
#define TL_RECORD_PAGES_H
#include <stdint.h>

#define TL_PAGE 4096 // bytes

typedef struct tl_page {
    int64_t number;       // the page begins at number * TL_PAGE in the file
    unsigned char *bytes; // TL_PAGE of them; NULL: this place of the table is free
} tl_page;

typedef struct tl_pages {
    tl_page *table; // open addressing
    int64_t room;   // places, a power of two or 0
    int64_t count;
} tl_pages;

/// The bytes of a page; NULL when it is not held.
unsigned char *tl_pages_find(const tl_pages *pages, int64_t number);
/// Take in a page that is not held, with undefined bytes; NULL when there is no memory.
unsigned char *tl_pages_add(tl_pages *pages, int64_t number);
/// The held pages in the order of their numbers, `count` of them; end with H5free_memory. NULL when
/// there is no memory.
tl_page *tl_pages_sorted(const tl_pages *pages);
void tl_pages_clear(tl_pages *pages);

#endif // TL_RECORD_PAGES_H
