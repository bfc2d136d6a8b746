// SPDX-License-Identifier: Apache-2.0
// Rows of H of contacts between balls, from normals and arms; see talus_ball_rows.
#ifndef TL_PROBLEM_BALL_ROWS_H
#define TL_PROBLEM_BALL_ROWS_H
#include "base/vec3.h"
#include "talus/problem.h"

enum { TL_BALL_BLOCK = 18 }; ///< numbers of a block
/// How far blocks may be from those of balls: rounding, in units of their entries.
#define TL_BALL_ROUNDING 1e-13

/// The rows (sign e_k, −arm n × e_k) of a body, e = (n, t1, t2).
static inline void tl_ball_write(const double e[9], double sign, double arm,
                                 double h[TL_BALL_BLOCK]) {
    for (int k = 0; k < 3; k++) {
        double moment[3];
        tl_cross3(e, e + 3 * (ptrdiff_t)k, moment);
        for (int c = 0; c < 3; c++) {
            h[6 * k + c] = sign * e[3 * k + c];
            h[6 * k + 3 + c] = -arm * moment[c];
        }
    }
}

/// The arm of a body whose rows these are; false where they are not, for any arm.
static inline bool tl_ball_arm(const double *h, double sign, const double e[9], double *arm) {
    double moment[3], off = 0.0;
    tl_cross3(e, e + 3, moment);
    *arm = -tl_dot3(h + 9, moment);
    for (int k = 0; k < 3; k++) {
        tl_cross3(e, e + 3 * (ptrdiff_t)k, moment);
        for (int c = 0; c < 3; c++) {
            if (fabs(h[6 * k + c] - sign * e[3 * k + c]) > TL_BALL_ROUNDING) return false;
            off = fmax(off, fabs(h[6 * k + 3 + c] + *arm * moment[c]));
        }
    }
    return off <= TL_BALL_ROUNDING * fabs(*arm);
}

/// Frame of contact i, one vector a row.
static inline void tl_ball_frame(const talus_ball_rows *b, int32_t i, double e[9]) {
    tl_frame(3, b->normal + (int64_t)i * b->stride, e);
}

/// Block k, of contact i; `second`: of its second body.
static inline void tl_ball_block(const talus_ball_rows *b, int32_t i, int64_t k, bool second,
                                 double h[TL_BALL_BLOCK]) {
    double e[9];
    tl_ball_frame(b, i, e);
    tl_ball_write(e, second || (b->back && b->back[i]) ? -1.0 : 1.0, b->arm[k], h);
}

#endif // TL_PROBLEM_BALL_ROWS_H
