// SPDX-License-Identifier: Apache-2.0
// The state of the sand as numbers, for checkpoints: a head; of each particle its number and what
// sand_arrays lists; of each node with a stress its place and the stress; of each grip the place of
// its node, the body and the impulse.
#include "sand/sand.h"
#include "sand/tensor.h"
#include <math.h>
#include <string.h>

enum { SAVE_HEAD = 6, SAVE_GRAIN = 28, SAVE_HELD = 7 };

static int64_t save_size(const tl_sand *m, int64_t grains, int64_t nodes, int64_t held) {
    return SAVE_HEAD + SAVE_GRAIN * grains + (3 + tl_tensor_size(m->dim)) * nodes +
           SAVE_HELD * held;
}

static double *save_key(uint64_t key, double *out) {
    int32_t at[3];
    tl_cells_at(key, at);
    for (int k = 0; k < 3; k++) *out++ = at[k];
    return out;
}

static double *save_some(const double *x, int64_t count, double *out) {
    if (count > 0) memcpy(out, x, (size_t)count * sizeof *out);
    return out + count;
}

int64_t tl_sand_save(const tl_sand *m, double *out) {
    const int64_t need = save_size(m, m->grains.count, m->stress_count, m->held_count);
    if (!out) return need;
    tl_grains g = m->grains; // the arrays are shared
    const double head[SAVE_HEAD] = {
        (double)g.count, (double)m->stress_count, (double)m->held_count, (double)m->added, m->lost,
        m->unsorted};
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    tl_sand_arrays(&g, array, width);
    out = save_some(head, SAVE_HEAD, out);
    for (int64_t i = 0; i < g.count; i++) *out++ = (double)g.id[i];
    for (int k = 0; k < TL_GRAIN_ARRAYS; k++) out = save_some(*array[k], g.count * width[k], out);
    for (int64_t i = 0; i < m->stress_count; i++) out = save_key(m->stress_key[i], out);
    out = save_some(m->stress, m->stress_count * tl_tensor_size(m->dim), out);
    for (int64_t i = 0; i < m->held_count; i++) {
        out = save_key(m->held[i].key, out);
        *out++ = m->held[i].item;
        out = save_some(m->held[i].impulse, 3, out);
    }
    return need;
}

static bool save_is_count(double x) { return x >= 0.0 && x <= 0x1p52 && x == floor(x); }

static const double *load_some(double *x, int64_t count, const double *in) {
    if (count > 0) memcpy(x, in, (size_t)count * sizeof *x);
    return in + count;
}

static const double *load_key(const double *in, uint64_t *key) {
    const double most = (1 << TL_CELLS_BITS) - 1;
    int32_t at[3];
    for (int k = 0; k < 3; k++) at[k] = (int32_t)fmin(fmax(*in++, 0.0), most);
    *key = tl_cells_key(at);
    return in;
}

talus_status tl_sand_load(tl_sand *m, const double *in, int64_t count) {
    talus_context *ctx = m->base.ctx;
    TL_REQUIRE(ctx,
               count >= SAVE_HEAD && save_is_count(in[0]) && save_is_count(in[1]) &&
                   save_is_count(in[2]) && save_is_count(in[3]) &&
                   (double)count == SAVE_HEAD + SAVE_GRAIN * in[0] +
                                        (3.0 + tl_tensor_size(m->dim)) * in[1] + SAVE_HELD * in[2],
               TALUS_ERR_FORMAT, "state: the numbers of the sand do not fit together");
    const int64_t grains = (int64_t)in[0], nodes = (int64_t)in[1], held = (int64_t)in[2];
    const int size = tl_tensor_size(m->dim);
    TL_TRY(tl_sand_reserve_grains(m, grains));
    if (nodes > m->stress_room) {
        TL_TRY(tl_realloc(ctx, 0, nodes, sizeof *m->stress_key, &m->stress_key));
        TL_TRY(tl_realloc(ctx, 0, nodes * size, sizeof *m->stress, &m->stress));
        m->stress_room = nodes;
    }
    if (held > m->held_room) {
        TL_TRY(tl_realloc(ctx, 0, held, sizeof *m->held, &m->held));
        m->held_room = held;
    }
    // From here on nothing can fail.
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    m->grains.count = grains;
    m->stress_count = nodes;
    m->held_count = held;
    m->added = (int64_t)in[3];
    m->lost = in[4];
    m->unsorted = in[5] != 0.0;
    in += SAVE_HEAD;
    for (int64_t i = 0; i < grains; i++) m->grains.id[i] = (int64_t)*in++;
    tl_sand_arrays(&m->grains, array, width);
    for (int k = 0; k < TL_GRAIN_ARRAYS; k++) in = load_some(*array[k], grains * width[k], in);
    for (int64_t i = 0; i < nodes; i++) in = load_key(in, &m->stress_key[i]);
    in = load_some(m->stress, nodes * size, in);
    for (int64_t i = 0; i < held; i++) {
        in = load_key(in, &m->held[i].key);
        m->held[i].item = (int32_t)*in++;
        in = load_some(m->held[i].impulse, 3, in);
    }
    return TALUS_OK;
}
