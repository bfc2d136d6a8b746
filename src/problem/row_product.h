// SPDX-License-Identifier: Apache-2.0
// The innermost loop of everything: one block row of the assembled W times a vector.
#ifndef TL_PROBLEM_ROW_PRODUCT_H
#define TL_PROBLEM_ROW_PRODUCT_H
#include "problem/delassus.h"
#include <string.h>

// b += Σ_e block_e r_col(e). A block times a vector is d columns times a number each, one vector
// instruction a column: two or four doubles wide, whatever the machine has. The columns of a block
// are added up before they are added to b, which leaves one addition in the chain from block to
// block. In 3D the fourth entry of a column is the first of the next and comes to nothing.
TL_INLINE void tl_row_product(int d, const tl_delassus *w, int32_t row, const double *r,
                              double *b) {
    const double *block = w->block + w->start[row] * d * d;
    const int32_t *col = w->col + w->start[row], *end = w->col + w->start[row + 1];
    if (d == 3) {
        tl_vec4 sum = {0.0};
        for (; col < end; col++, block += 9) {
            const double *x = r + 3 * (int64_t)*col;
            tl_vec4 c0, c1, c2;
            memcpy(&c0, block, sizeof c0);
            memcpy(&c1, block + 3, sizeof c1);
            memcpy(&c2, block + 6, sizeof c2);
            sum += (c0 * x[0] + c1 * x[1]) + c2 * x[2];
        }
        for (int k = 0; k < 3; k++) b[k] += sum[k];
        return;
    }
    tl_vec2 sum[TL_MAX_DIM / 2] = {{0.0}};
    for (; col < end; col++, block += d * d) {
        const double *x = r + (int64_t)d * *col;
        for (int i = 0; i < d / 2; i++) {
            tl_vec2 part = {0.0};
            for (int j = 0; j < d; j++) {
                tl_vec2 c;
                memcpy(&c, block + j * d + 2 * i, sizeof c);
                part += c * x[j];
            }
            sum[i] += part;
        }
    }
    for (int k = 0; k < d; k++) b[k] += sum[k / 2][k % 2];
}

#endif // TL_PROBLEM_ROW_PRODUCT_H
