// SPDX-License-Identifier: Apache-2.0
#include "record/round.h"
#include <math.h>

double tl_round_unit(double x) {
    int e;
    (void)frexp(x, &e);
    return ldexp(1.0, e - 1);
}

void tl_round_single(int64_t count, const double *in, float *out) {
    for (int64_t k = 0; k < count; k++) out[k] = (float)in[k];
}

void tl_round_places(double unit, int64_t count, const double *in, float *out) {
    const double scale = 1.0 / unit; // exact: a power of two
    for (int64_t k = 0; k < count; k++) out[k] = (float)(rint(in[k] * scale) * unit);
}

// Adding and taking away 1.5 · 2^52 units leaves a multiple of the unit; `big` is that number.
void tl_round_vectors(int32_t width, int64_t rows, const double *in, float *out) {
    for (int64_t i = 0; i < rows; i++, in += width, out += width) {
        double most = 0.0;
        int e;
        for (int32_t k = 0; k < width; k++) most = fmax(most, fabs(in[k]));
        (void)frexp(most, &e);
        const double big = ldexp(1.5, e - TL_ROUND_BITS + 52);
        for (int32_t k = 0; k < width; k++) out[k] = (float)((in[k] + big) - big);
    }
}
