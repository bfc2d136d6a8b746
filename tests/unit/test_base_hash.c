// SPDX-License-Identifier: Apache-2.0
// The hash: fixed values (states are compared across machines and versions), every byte counts, and
// changing one input bit changes about half of the output bits.
#include "base/rng.h"
#include "talus/base.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int bits(uint64_t x) {
    int n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}

// The definition written once more, with arithmetic on single bytes only.
static uint64_t finish(uint64_t h) {
    h = (h ^ (h >> 30)) * 13787848793156543929U;
    h = (h ^ (h >> 27)) * 10723151780598845931U;
    return h ^ (h >> 31);
}
static uint64_t reference(const unsigned char *p, size_t n, uint64_t seed) {
    const uint64_t k = 11400714819323198485U;
    uint64_t h = (finish(seed + k) ^ n) * k;
    h ^= h >> 32;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        for (size_t b = 0; b < 8 && i + b < n; b++) word += (uint64_t)p[i + b] << (8 * b);
        h = (h ^ word) * k;
        h ^= h >> 32;
    }
    return finish(h);
}

static void values_are_fixed(void **state) {
    (void)state;
    assert_int_equal(talus_hash(NULL, 0, 0), UINT64_C(0x569b45821041e465));
    assert_int_equal(talus_hash("talus", 5, 0), UINT64_C(0x6698bc922797a2a1));
    assert_int_equal(talus_hash("talus", 5, 1), UINT64_C(0xcd2d5e2b742fdd7a));
    const double x[3] = {1.0, -0.5, 0.1};
    assert_int_equal(talus_hash(x, sizeof x, 0), UINT64_C(0x5c01dfb976d55712));
}

static void agrees_with_the_definition(void **state) {
    (void)state;
    tl_rng rng = {1};
    unsigned char data[100];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)tl_rng_next(&rng);
    for (size_t n = 0; n <= 70; n++) {
        for (size_t shift = 0; shift < 9; shift++) { // any alignment
            const uint64_t seed = tl_rng_next(&rng);
            assert_int_equal(talus_hash(data + shift, n, seed), reference(data + shift, n, seed));
        }
    }
}

static void length_and_sign_of_zero_count(void **state) {
    (void)state;
    unsigned char zeros[64] = {0};
    uint64_t h[64];
    for (size_t n = 0; n < 64; n++) {
        h[n] = talus_hash(zeros, n, 0);
        for (size_t m = 0; m < n; m++) assert_true(h[m] != h[n]);
    }
    const double plus = 0.0, minus = -0.0;
    assert_true(talus_hash(&plus, 8, 0) != talus_hash(&minus, 8, 0));
}

// Avalanche: over 4000 samples the share of flipped output bits is 1/2 for each input bit, with a
// standard deviation of 1/(2 sqrt(64 * 4000)) = 0.001 for the mean over all output bits, and
// 0.0079 for a single output bit; 6 deviations are allowed.
static void every_bit_spreads(void **state) {
    (void)state;
    enum { SAMPLES = 4000, BYTES = 20 };
    tl_rng rng = {7};
    static int flips[64];
    for (size_t bit = 0; bit < 8 * BYTES; bit++) {
        memset(flips, 0, sizeof flips);
        int64_t total = 0;
        for (int s = 0; s < SAMPLES; s++) {
            unsigned char data[BYTES];
            for (size_t i = 0; i < BYTES; i++) data[i] = (unsigned char)tl_rng_next(&rng);
            const uint64_t before = talus_hash(data, BYTES, 0);
            data[bit / 8] = (unsigned char)(data[bit / 8] ^ (1U << bit % 8));
            const uint64_t change = before ^ talus_hash(data, BYTES, 0);
            total += bits(change);
            for (int o = 0; o < 64; o++) flips[o] += (int)(change >> o & 1);
        }
        const double mean = (double)total / (64.0 * SAMPLES);
        assert_true(mean > 0.5 - 0.006 && mean < 0.5 + 0.006);
        for (int o = 0; o < 64; o++) {
            const double share = (double)flips[o] / SAMPLES;
            assert_true(share > 0.5 - 0.0475 && share < 0.5 + 0.0475);
        }
    }
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Small integers, the worst case for a multiplicative hash, do not collide (2e5 of 2^64).
static void small_integers_do_not_collide(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    uint64_t *h = malloc(COUNT * sizeof *h);
    assert_non_null(h);
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint64_t pair[2] = {i % 447, i / 447};
        h[i] = talus_hash(pair, sizeof pair, 0);
    }
    qsort(h, COUNT, sizeof *h, compare);
    for (int i = 1; i < COUNT; i++) assert_true(h[i] != h[i - 1]);
    free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_fixed),
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(length_and_sign_of_zero_count),
        cmocka_unit_test(every_bit_spreads),
        cmocka_unit_test(small_integers_do_not_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
