// SPDX-License-Identifier: Apache-2.0
// The random numbers of Talus: splitmix64, so that a seed gives the same numbers everywhere.
#ifndef TL_BASE_RNG_H
#define TL_BASE_RNG_H
#include <math.h>
#include <stdint.h>

typedef struct tl_rng {
    uint64_t state;
} tl_rng;

static inline uint64_t tl_rng_next(tl_rng *rng) {
    uint64_t z = (rng->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/// Uniform in [0, 1), 53 bits.
static inline double tl_rng_unit(tl_rng *rng) { return (double)(tl_rng_next(rng) >> 11) * 0x1p-53; }

static inline double tl_rng_range(tl_rng *rng, double low, double high) {
    return low + (high - low) * tl_rng_unit(rng);
}

/// Standard normal (Box-Muller; the second value is not kept, so the stream has no hidden state).
static inline double tl_rng_normal(tl_rng *rng) {
    const double a = 1.0 - tl_rng_unit(rng); // in (0, 1]
    return sqrt(-2.0 * log(a)) * cos(6.283185307179586477 * tl_rng_unit(rng));
}

#endif // TL_BASE_RNG_H
