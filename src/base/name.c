// SPDX-License-Identifier: Apache-2.0
// Which known name was meant by one that is not known.
#include "talus/base.h"
#include <ctype.h>
#include <string.h>

enum { NAME_LONGEST = 63 }; // bytes; longer ones are near to nothing

static bool name_equal(const char *a, const char *b, size_t length) {
    for (size_t k = 0; k < length; k++)
        if (tolower((unsigned char)a[k]) != tolower((unsigned char)b[k])) return false;
    return true;
}

// Edit distance with insertions, deletions, replacements and swaps of neighbours, letters of either
// case being equal. Only the last three rows of the table are kept.
static size_t name_distance(const char *a, const char *b, size_t n) {
    size_t row[3][NAME_LONGEST + 1];
    size_t *two = row[0], *one = row[1], *now = row[2];
    for (size_t j = 0; j <= n; j++) two[j] = one[j] = now[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *const oldest = two;
        two = one, one = now, now = oldest;
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const int p = tolower((unsigned char)a[i - 1]), q = tolower((unsigned char)b[j - 1]);
            size_t d = one[j - 1] + (p != q);
            if (one[j] + 1 < d) d = one[j] + 1;
            if (now[j - 1] + 1 < d) d = now[j - 1] + 1;
            if (i > 1 && j > 1 && p == tolower((unsigned char)b[j - 2]) &&
                q == tolower((unsigned char)a[i - 2]) && two[j - 2] + 1 < d) {
                d = two[j - 2] + 1;
            }
            now[j] = d;
        }
    }
    return now[n];
}

bool talus_name_nearer(const char *name, const char *known, size_t *distance) {
    const size_t length = strlen(name), known_length = strlen(known);
    const size_t longer = length > known_length ? length : known_length;
    if (longer > NAME_LONGEST) return false;
    size_t d = name_distance(name, known, known_length);
    // A beginning or an end of a known name is a good guess whatever its length.
    if (length >= 3 && known_length > length &&
        (name_equal(name, known, length) ||
         name_equal(name, known + known_length - length, length))) {
        d = 1;
    }
    const size_t allowed = longer <= 3 ? 1 : longer <= 6 ? 2 : longer / 3 + 1;
    if (d > allowed || d >= *distance) return false;
    *distance = d;
    return true;
}
