// SPDX-License-Identifier: Apache-2.0
// Energy and momentum of the particles. The affine part of a particle's velocity is motion about it
// of the mass that its weights spread: Σ_i w_i (y_i − x)² along axis k is edge² ξ (1 − ξ), ξ the
// place in the cell.
#include "base/thread.h"
#include "sand/sand.h"

enum { TALLY_BLOCK = 256 };

// Spread along the axes of up to eight particles.
TL_INLINE void tally_spread(const tl_sand *m, double (*x)[TL_SAND_LANES],
                            double (*out)[TL_SAND_LANES]) {
    const double edge = m->cells.edge, inverse = 1.0 / edge;
    const double affine = m->def.transfer == TALUS_TRANSFER_APIC ? edge * edge : 0.0;
    for (int k = 0; k < 3; k++) {
        const double origin = m->cells.origin[k], most = m->cells.extent[k] - 1.0;
        const double factor = k < m->dim ? affine : 0.0;
        for (int l = 0; l < TL_SAND_LANES; l++) {
            const double t = (x[k][l] - origin) * inverse;
            const double cell = TL_MIN(TL_MAX((double)(int32_t)t, 0.0), most), xi = t - cell;
            out[k][l] = factor * xi * (1.0 - xi);
        }
    }
}

// Particles `begin` to `end`.
void tl_sand_tally_block(const tl_sand *m, int64_t begin, int64_t end, double *out);
TL_SIMD_CLONES void tl_sand_tally_block(const tl_sand *m, int64_t begin, int64_t end, double *out) {
    const tl_grains *g = &m->grains;
    double sum[TL_TALLY][TL_SAND_LANES] = {{0.0}};
    for (int64_t i = begin; i < end; i += TL_SAND_LANES) {
        double x[3][TL_SAND_LANES], v[3][TL_SAND_LANES], c[9][TL_SAND_LANES], mass[TL_SAND_LANES];
        double spread[3][TL_SAND_LANES];
        for (int l = 0; l < TL_SAND_LANES; l++) {
            const int64_t p = TL_MIN(i + l, end - 1);
            mass[l] = i + l < end ? m->def.density * g->volume[p] : 0.0;
            for (int k = 0; k < 3; k++) x[k][l] = g->x[3 * p + k], v[k][l] = g->v[3 * p + k];
            for (int k = 0; k < 9; k++) c[k][l] = g->gradient[9 * p + k];
        }
        tally_spread(m, x, spread);
        for (int l = 0; l < TL_SAND_LANES; l++) {
            double square = 0.0;
            for (int k = 0; k < 3; k++) square += v[k][l] * v[k][l];
            for (int k = 0; k < 9; k++) square += c[k][l] * c[k][l] * spread[k % 3][l];
            sum[TL_TALLY_KINETIC][l] += 0.5 * mass[l] * square;
        }
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            for (int l = 0; l < TL_SAND_LANES; l++) {
                const double turn = x[a][l] * v[b][l] - x[b][l] * v[a][l] +
                                    c[3 * b + a][l] * spread[a][l] - c[3 * a + b][l] * spread[b][l];
                sum[TL_TALLY_FIRST + k][l] += mass[l] * x[k][l];
                sum[TL_TALLY_MOMENTUM + k][l] += mass[l] * v[k][l];
                sum[TL_TALLY_ANGULAR + k][l] += mass[l] * turn;
            }
        }
    }
    for (int k = 0; k < TL_TALLY; k++) {
        out[k] = 0.0;
        for (int l = 0; l < TL_SAND_LANES; l++) out[k] += sum[k][l];
    }
}

static int64_t tally_blocks(const tl_sand *m) {
    return (m->grains.count + TALLY_BLOCK - 1) / TALLY_BLOCK;
}

static void tally_block(const tl_sand *m, int64_t block, double *out) {
    const int64_t begin = block * TALLY_BLOCK;
    tl_sand_tally_block(m, begin, TL_MIN(begin + TALLY_BLOCK, m->grains.count), out);
}

void tl_sand_get_tally(const tl_sand *m, double out[TL_TALLY]) {
    for (int k = 0; k < TL_TALLY; k++) out[k] = 0.0;
    for (int64_t block = 0; block < tally_blocks(m); block++) {
        double own[TL_TALLY];
        tally_block(m, block, own);
        for (int k = 0; k < TL_TALLY; k++) out[k] += own[k];
    }
}

static void tally_work(void *arg, tl_team *team, int rank) {
    tl_sand *m = arg;
    int64_t begin, end;
    tl_share(tally_blocks(m), tl_team_size(team), rank, &begin, &end);
    for (int64_t block = begin; block < end; block++)
        tally_block(m, block, m->scratch + block * TL_TALLY);
}

void tl_sand_tally(tl_sand *m, int threads) {
    tl_parallel(m->base.ctx, threads, tally_work, m);
    for (int k = 0; k < TL_TALLY; k++) m->tally[k] = 0.0;
    for (int64_t block = 0; block < tally_blocks(m); block++)
        for (int k = 0; k < TL_TALLY; k++) m->tally[k] += m->scratch[block * TL_TALLY + k];
    m->tallied = true;
}
