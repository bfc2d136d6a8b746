// SPDX-License-Identifier: Apache-2.0
// The innermost loops of everything: one block row of the assembled W times a vector, and, for the
// matrix-free operator, one block row of H and of its transpose.
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

// Where block e of H lies, and the unknowns it covers. n: the width of all blocks, 0 where that is
// not known to the compiler.
typedef struct tl_span {
    int64_t at;
    int32_t dof, size;
} tl_span;

TL_INLINE tl_span tl_row_span(int d, int n, const tl_delassus *w, int64_t e) {
    const talus_problem *p = w->problem;
    const int32_t body = p->h_body[e];
    if (n > 0) return (tl_span){.at = e * d * n, .dof = body * n, .size = n};
    if (w->width > 0)
        return (tl_span){.at = e * d * w->width, .dof = body * w->width, .size = w->width};
    return (tl_span){.at = p->h_offset[e],
                     .dof = p->body_start[body],
                     .size = p->body_start[body + 1] - p->body_start[body]};
}

// u += H_i z for blocks of 6 × 3, those of sand: the 18 numbers of a block are four vectors of four
// and a pair, each times the part of z₀ z₁ z₂ z₀ … that it meets; rows are summed up at the end.
TL_INLINE void tl_row_velocity_6_3(const tl_delassus *w, int32_t i, const double *z, double *u) {
    const int64_t first = w->problem->h_start[i], last = w->problem->h_start[i + 1];
    tl_vec4 sum[4] = {{0.0}};
    tl_vec2 tail = {0.0};
    for (int64_t e = first; e < last; e++) {
        const double *h = w->h + 18 * e, *x = z + 3 * (int64_t)w->problem->h_body[e];
        const tl_vec4 z0 = {x[0], x[1], x[2], x[0]}, z1 = {x[1], x[2], x[0], x[1]};
        const tl_vec4 z2 = {x[2], x[0], x[1], x[2]};
        const tl_vec2 end = {x[1], x[2]};
        tl_vec4 h0, h1, h2, h3;
        tl_vec2 c;
        memcpy(&h0, h, sizeof h0);
        memcpy(&h1, h + 4, sizeof h1);
        memcpy(&h2, h + 8, sizeof h2);
        memcpy(&h3, h + 12, sizeof h3);
        sum[0] += h0 * z0;
        sum[1] += h1 * z1;
        sum[2] += h2 * z2;
        sum[3] += h3 * z0;
        memcpy(&c, h + 16, sizeof c);
        tail += c * end;
    }
    for (int k = 0; k < 18; k++) u[k / 3] += k < 16 ? sum[k / 4][k % 4] : tail[k - 16];
}

// u += H_i z for block i. Six numbers are added up in two lanes.
TL_INLINE void tl_row_velocity(int d, int n, const tl_delassus *w, int32_t i, const double *z,
                               double *u) {
    const int64_t first = w->problem->h_start[i], last = w->problem->h_start[i + 1];
    if (d == 6 && n == 3) {
        tl_row_velocity_6_3(w, i, z, u);
        return;
    }
    if (n == 6) {
        tl_vec2 sum[TL_MAX_DIM] = {{0.0}};
        for (int64_t e = first; e < last; e++) {
            const tl_span span = tl_row_span(d, n, w, e);
            const double *h = w->h + span.at;
            tl_vec2 z0, z1, z2, h0, h1, h2;
            memcpy(&z0, z + span.dof, sizeof z0);
            memcpy(&z1, z + span.dof + 2, sizeof z1);
            memcpy(&z2, z + span.dof + 4, sizeof z2);
            for (int k = 0; k < d; k++, h += 6) {
                memcpy(&h0, h, sizeof h0);
                memcpy(&h1, h + 2, sizeof h1);
                memcpy(&h2, h + 4, sizeof h2);
                sum[k] += (h0 * z0 + h1 * z1) + h2 * z2;
            }
        }
        for (int k = 0; k < d; k++) u[k] += sum[k][0] + sum[k][1];
        return;
    }
    for (int64_t e = first; e < last; e++) {
        const tl_span span = tl_row_span(d, n, w, e);
        const double *h = w->h + span.at, *zb = z + span.dof;
        for (int k = 0; k < d; k++)
            for (int32_t m = 0; m < span.size; m++) u[k] += h[k * span.size + m] * zb[m];
    }
}

// z += s ∘ (A_eᵀ x) for the block e of A = H or Y; s: N where M is diagonal, NULL: 1.
TL_INLINE void tl_block_spread(int d, int n, const tl_span span, const double *a, const double *s,
                               const double *x, double *z) {
    const double *block = a + span.at;
    double *zb = z + span.dof;
    const double *scale = s ? s + span.dof : NULL;
    if (d == 6 && n == 3) { // rows of three, with what follows them in a fourth lane
        tl_vec4 part = {block[15] * x[5], block[16] * x[5], block[17] * x[5], 0.0}, row;
        for (int k = 0; k < 5; k++) {
            memcpy(&row, block + 3 * (ptrdiff_t)k, sizeof row);
            part += row * x[k];
        }
        for (int m = 0; m < 3; m++) zb[m] += scale ? scale[m] * part[m] : part[m];
        return;
    }
    if (n == 6) {
        for (int m = 0; m < 6; m += 2) {
            tl_vec2 part = {0.0}, column, sum;
            for (int k = 0; k < d; k++) {
                memcpy(&column, block + k * 6 + m, sizeof column);
                part += column * x[k];
            }
            if (scale) {
                memcpy(&column, scale + m, sizeof column);
                part *= column;
            }
            memcpy(&sum, zb + m, sizeof sum);
            sum += part;
            memcpy(zb + m, &sum, sizeof sum);
        }
        return;
    }
    for (int32_t m = 0; m < span.size; m++) {
        double part = 0.0;
        for (int k = 0; k < d; k++) part += block[k * span.size + m] * x[k];
        zb[m] += scale ? scale[m] * part : part;
    }
}

// z += N H_iᵀ x for block i of a separable operator; `scale` as above.
TL_INLINE void tl_row_spread(int d, int n, const tl_delassus *w, int32_t i, const double *scale,
                             const double *x, double *z) {
    const double *a = w->y ? w->y : w->h;
    for (int64_t e = w->problem->h_start[i]; e < w->problem->h_start[i + 1]; e++)
        tl_block_spread(d, n, tl_row_span(d, n, w, e), a, scale, x, z);
}

#endif // TL_PROBLEM_ROW_PRODUCT_H
