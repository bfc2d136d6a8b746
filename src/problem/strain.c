// SPDX-License-Identifier: Apache-2.0
#include "problem/strain.h"

enum { STRAIN_SIZE = 3, STRAIN_BLOCK = 18 };

static int32_t strain_size(const talus_problem *p, int32_t body) {
    return p->body_start[body + 1] - p->body_start[body];
}

// Bit k of each body: no block of H has anything in its column k (k < 3).
static void strain_held(const talus_problem *p, uint8_t *held) {
    for (int32_t b = 0; b < p->body_count; b++) held[b] = 7;
    for (int64_t e = 0; e < p->h_start[p->count]; e++) {
        const int32_t body = p->h_body[e], size = strain_size(p, body);
        const double *h = p->h_block + p->h_offset[e];
        if (held[body] == 0 || size < STRAIN_SIZE) continue;
        for (int row = 0; row < 6; row++)
            for (int k = 0; k < STRAIN_SIZE; k++)
                if (h[(int64_t)row * size + k] != 0.0) held[body] &= (uint8_t) ~(1U << k);
    }
}

// The gradient of a block, from a column that is not held; all such columns must agree with it to
// rounding.
static bool strain_gradient(const double *h, unsigned held, double g[3]) {
    double back[STRAIN_BLOCK];
    g[0] = g[1] = g[2] = 0.0;
    if (held == 7) return true;
    if (!(held & 1))
        g[0] = h[3], g[1] = h[9], g[2] = h[12];
    else if (!(held & 2))
        g[0] = h[10], g[1] = -h[4], g[2] = h[16];
    else
        g[0] = h[14], g[1] = h[17], g[2] = h[8] / (2.0 * TL_SQRT_1_3);
    tl_tensor_rate(3, g, back);
    const double small = 1e-15 * (fabs(g[0]) + fabs(g[1]) + fabs(g[2]));
    for (int k = 0; k < STRAIN_BLOCK; k++)
        if (!(held >> k % 3 & 1) && !(fabs(h[k] - back[k]) <= small)) return false;
    return true;
}

// Whether all blocks of row i are of that kind; their gradients.
static bool strain_row(tl_delassus *w, int32_t i) {
    const talus_problem *p = w->problem;
    for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++) {
        const int32_t body = p->h_body[e];
        if (strain_size(p, body) != STRAIN_SIZE ||
            !strain_gradient(p->h_block + p->h_offset[e], w->held[body], w->gradient + 3 * e))
            return false;
    }
    return true;
}

void tl_strain_drop(tl_delassus *w) {
    tl_free(w->ctx, w->gradient);
    tl_free(w->ctx, w->strain);
    tl_free(w->ctx, w->held);
    w->gradient = NULL;
    w->strain = NULL;
    w->held = NULL;
}

talus_status tl_strain_find(tl_delassus *w) {
    const talus_problem *p = w->problem;
    const int64_t blocks = p->h_start[p->count];
    int32_t found = 0;
    TL_TRY(TL_RESERVE(w->ctx, p->body_count, &w->held));
    TL_TRY(TL_RESERVE(w->ctx, p->count, &w->strain));
    TL_TRY(TL_RESERVE(w->ctx, 3 * blocks + 1, &w->gradient)); // a vector of four is read there
    TL_TRY(TL_RESERVE(w->ctx, p->dof, &w->light));
    strain_held(p, w->held);
    for (int32_t i = 0; i < p->count; i++) {
        w->strain[i] = strain_row(w, i);
        found += w->strain[i];
    }
    if (found == 0) {
        tl_strain_drop(w);
        return TALUS_OK;
    }
    w->gradient[3 * blocks] = 0.0;
    for (int32_t b = 0; b < p->body_count; b++)
        for (int32_t k = p->body_start[b]; k < p->body_start[b + 1]; k++) {
            const int32_t own = k - p->body_start[b];
            const bool free = own >= STRAIN_SIZE || !(w->held[b] >> own & 1);
            w->light[k] = free ? w->inverse[k] : 0.0;
        }
    w->inverse = w->light;
    return TALUS_OK;
}
