// SPDX-License-Identifier: Apache-2.0
// The state of the sand as numbers, for checkpoints: a head; of each particle its number and what
// sand_arrays lists; of each node with a stress its place and the stress; of each grip the place of
// its node, the body and the impulse; of each cell with stresses at its corners its place and
// these.
#include "linalg/tensor.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

enum { SAVE_HEAD = 7, SAVE_HELD = 7 };

// Numbers of a particle, of a node with a stress, of a cell with stresses at its corners.
static int64_t save_grain(const tl_sand *m) {
    tl_grains g = m->grains;
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    int64_t sum = 1;
    tl_sand_arrays(&g, array, width);
    for (int k = 0; k < TL_GRAIN_ARRAYS; k++) sum += width[k];
    return sum;
}

static int64_t save_node(const tl_sand *m) { return 3 + tl_tensor_size(m->dim); }

static int64_t save_cell(const tl_sand *m) {
    return 3 + (int64_t)m->cells.corners * tl_tensor_size(m->dim);
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
    const int64_t need = SAVE_HEAD + save_grain(m) * m->grains.count +
                         save_node(m) * m->stress_count + SAVE_HELD * m->held_count +
                         save_cell(m) * m->corner_count;
    if (!out) return need;
    tl_grains g = m->grains; // the arrays are shared
    const double head[SAVE_HEAD] = {(double)g.count,
                                    (double)m->stress_count,
                                    (double)m->held_count,
                                    (double)m->added,
                                    m->lost,
                                    0.0,
                                    (double)m->corner_count}; // the 0 has no meaning
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
    for (int64_t i = 0; i < m->corner_count; i++) out = save_key(m->corner_key[i], out);
    save_some(m->corner, m->corner_count * m->cells.corners * tl_tensor_size(m->dim), out);
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
                   save_is_count(in[2]) && save_is_count(in[3]) && save_is_count(in[6]) &&
                   (double)count == SAVE_HEAD + (double)save_grain(m) * in[0] +
                                        (double)save_node(m) * in[1] + SAVE_HELD * in[2] +
                                        (double)save_cell(m) * in[6],
               TALUS_ERR_FORMAT, "state: the numbers of the sand do not fit together");
    const int64_t grains = (int64_t)in[0], nodes = (int64_t)in[1], held = (int64_t)in[2];
    const int64_t cells = (int64_t)in[6];
    const int size = tl_tensor_size(m->dim), corner = m->cells.corners * size;
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
    if (cells > m->corner_room) {
        TL_TRY(tl_realloc(ctx, 0, cells, sizeof *m->corner_key, &m->corner_key));
        TL_TRY(tl_realloc(ctx, 0, cells * corner, sizeof *m->corner, &m->corner));
        m->corner_room = cells;
    }
    // From here on nothing can fail.
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    m->grains.count = grains;
    m->stress_count = nodes;
    m->held_count = held;
    m->corner_count = cells;
    m->added = (int64_t)in[3];
    m->lost = in[4];
    m->tallied = false;
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
    for (int64_t i = 0; i < cells; i++) in = load_key(in, &m->corner_key[i]);
    load_some(m->corner, cells * corner, in);
    return TALUS_OK;
}
