// SPDX-License-Identifier: Apache-2.0
// Numbers of frames as they go into the file. Compact ones are floats whose last bits are zero, so
// that shuffle and deflate make them small and every reader of HDF5 understands them:
//   - places and directions are multiples of a power of two, `unit`;
//   - vectors are multiples of 2^(e + 1 − TL_ROUND_BITS), where 2^e <= largest component < 2^(e+1).
#ifndef TL_RECORD_ROUND_H
#define TL_RECORD_ROUND_H
#include <stdint.h>

enum { TL_ROUND_BITS = 11 };

/// The largest power of two that is not above `x` > 0.
double tl_round_unit(double x);
/// As floats, no more.
void tl_round_single(int64_t count, const double *in, float *out);
void tl_round_places(double unit, int64_t count, const double *in, float *out);
/// `rows` vectors of `width` components.
void tl_round_vectors(int32_t width, int64_t rows, const double *in, float *out);

#endif // TL_RECORD_ROUND_H
