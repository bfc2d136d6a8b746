// SPDX-License-Identifier: Apache-2.0
// Bytes put together for the page.
#include "view.h"
#include <stdlib.h>
#include <string.h>

void *view_bytes_more(view_bytes *b, size_t size) {
    if (b->failed || size > SIZE_MAX / 4 - b->size) {
        b->failed = true;
        return NULL;
    }
    if (b->size + size > b->room) {
        const size_t room = b->size + size + (b->size > 0 ? b->size / 2 : 0);
        unsigned char *data = realloc(b->data, room);
        if (!data) {
            b->failed = true;
            return NULL;
        }
        b->data = data;
        b->room = room;
    }
    unsigned char *at = b->data + b->size;
    b->size += size;
    return at;
}

void view_bytes_put(view_bytes *b, const void *data, size_t size) {
    void *at = size > 0 ? view_bytes_more(b, size) : NULL;
    if (at) memcpy(at, data, size);
}

void view_bytes_floats(view_bytes *b, const double *value, size_t count) {
    unsigned char *at = count > 0 ? view_bytes_more(b, count * sizeof(float)) : NULL;
    if (!at) return;
    for (size_t i = 0; i < count; i++) {
        const float x = (float)value[i];
        memcpy(at + i * sizeof x, &x, sizeof x);
    }
}

void view_bytes_clear(view_bytes *b) {
    free(b->data);
    *b = (view_bytes){0};
}
