// SPDX-License-Identifier: Apache-2.0
// The hash that tells whether two states agree bit for bit. Words of eight bytes are taken in by
//     h <- (h ^ word) k,    h <- h ^ (h >> 32),    k odd,
// a bijection of h for each word and of the word for each h, so that two inputs of equal length
// that differ in one word never collide; a splitmix64 finaliser spreads every bit over all others.
#include "talus/base.h"
#include <string.h>

#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15) // 2^64 / golden ratio, odd

static uint64_t hash_word(uint64_t h, uint64_t word) {
    h = (h ^ word) * HASH_MULTIPLIER;
    return h ^ (h >> 32);
}

static uint64_t hash_finish(uint64_t h) {
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

uint64_t talus_hash(const void *data, size_t bytes, uint64_t seed) {
    const unsigned char *p = data;
    // The length goes in first: the zero padding of the last word must not make two inputs equal.
    uint64_t h = hash_word(hash_finish(seed + HASH_MULTIPLIER), (uint64_t)bytes);
    uint64_t word = 0;
    for (; bytes >= sizeof word; bytes -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        h = hash_word(h, word);
    }
    if (bytes > 0) {
        word = 0;
        memcpy(&word, p, bytes);
        h = hash_word(h, word);
    }
    return hash_finish(h);
}
