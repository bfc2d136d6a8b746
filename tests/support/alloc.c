// SPDX-License-Identifier: Apache-2.0
// The counting allocator. Each block is [ front | bytes | tail ]: the front takes one unit of the
// alignment and remembers the size; front and tail hold a mark that an overrun destroys.
#include "support/alloc.h"
#include <stdlib.h>
#include <string.h>

#define ALLOC_MARK UINT64_C(0x7a11e4b10c7a11e4)

typedef struct alloc_front {
    size_t bytes;
    size_t alignment;
    uint64_t mark;
} alloc_front;

static void *alloc_take(void *user, size_t bytes, size_t alignment) {
    test_alloc *state = user;
    state->requests++;
    if (state->fail_at > 0 && state->requests >= state->fail_at) return NULL;
    const size_t unit = alignment < sizeof(alloc_front) ? 64 : alignment;
    const uint64_t mark = ALLOC_MARK;
    if (bytes > SIZE_MAX - 3 * unit) return NULL;
    const size_t whole = (unit + bytes + sizeof mark + unit - 1) / unit * unit;
    char *start = aligned_alloc(unit, whole);
    if (!start) return NULL;
    memset(start, 0xa5, whole); // whoever relies on zeroed memory must have asked for it
    const alloc_front front = {.bytes = bytes, .alignment = unit, .mark = mark};
    memcpy(start + unit - sizeof front, &front, sizeof front);
    memcpy(start + unit + bytes, &mark, sizeof mark);
    state->live++;
    state->live_bytes += bytes;
    return start + unit;
}

static void alloc_release(void *user, void *memory) {
    test_alloc *state = user;
    if (!memory) return;
    alloc_front front;
    uint64_t tail = 0;
    memcpy(&front, (char *)memory - sizeof front, sizeof front);
    if (front.mark == ALLOC_MARK) memcpy(&tail, (char *)memory + front.bytes, sizeof tail);
    if (tail != ALLOC_MARK) {
        state->bad_releases++;
        return;
    }
    state->live--;
    state->live_bytes -= front.bytes;
    memset((char *)memory - sizeof front, 0, sizeof front); // a second release is found out
    free((char *)memory - front.alignment);
}

talus_context_def test_alloc_def(test_alloc *state) {
    return (talus_context_def){
        .allocate = alloc_take, .release = alloc_release, .memory_user = state};
}
