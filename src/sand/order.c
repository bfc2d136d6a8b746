// SPDX-License-Identifier: Apache-2.0
// Where particles lie. A step goes through them cell by cell, along an order that is found anew
// each time; to move all that they carry costs more than to find it, so that they lie as they are
// until reading along the order would jump too often. Those of one cell keep the order in which
// they lie, and nothing but this and their places decides: a run that is taken up again has the
// same bits.
#include "base/thread.h"
#include "sand/sand.h"
#include <string.h>

enum { ORDER_JUMPS = 8 }; // particles for each jump, at least

talus_status tl_sand_reserve_order(tl_sand *m) {
    const int64_t room = m->grains.room;
    TL_TRY(tl_cells_reserve_sort(m->base.ctx, &m->cells, room));
    if (room == m->scratch_room) return TALUS_OK;
    // for an array of 9 numbers, and for sums over blocks of particles
    TL_TRY(tl_realloc(m->base.ctx, 0, 9 * room + TL_TALLY, sizeof *m->scratch, &m->scratch));
    m->scratch_room = room;
    return TALUS_OK;
}

// Rows of 8-byte numbers `begin` to `end` of an array as they are to lie, into scratch.
static void order_take(const tl_sand *m, int width, const void *array, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        memcpy(m->scratch + i * width, (const double *)array + m->cells.order[i] * width,
               (size_t)width * sizeof *m->scratch);
}

static void order_work(void *arg, tl_team *team, int rank) {
    tl_sand *m = arg;
    tl_grains *g = &m->grains;
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    int64_t begin, end;
    tl_sand_arrays(g, array, width);
    tl_share(g->count, tl_team_size(team), rank, &begin, &end);
    for (int k = -1; k < TL_GRAIN_ARRAYS; k++) {
        const int own = k < 0 ? 1 : width[k];
        void *const to = k < 0 ? (void *)g->id : *array[k];
        if (own == 0) continue;
        order_take(m, own, to, begin, end);
        tl_barrier(team);
        memcpy((double *)to + begin * own, m->scratch + begin * own,
               (size_t)((end - begin) * own) * sizeof *m->scratch);
        tl_barrier(team);
    }
}

// Put the particles where the order has them.
static void order_lay(tl_sand *m, int threads) {
    if (m->grains.count == 0) return;
    tl_parallel(m->base.ctx, threads, order_work, m);
    tl_cells_straighten(&m->cells, m->grains.count);
}

talus_status tl_sand_order(tl_sand *m, int threads) {
    TL_TRY(tl_cells_sort(m->base.ctx, &m->cells, threads, m->grains.count, m->grains.x));
    if (m->cells.jumps > m->grains.count / ORDER_JUMPS) order_lay(m, threads);
    return TALUS_OK;
}

talus_status tl_sand_sort(tl_sand *m, int threads) {
    TL_TRY(tl_cells_sort(m->base.ctx, &m->cells, threads, m->grains.count, m->grains.x));
    order_lay(m, threads);
    return TALUS_OK;
}
