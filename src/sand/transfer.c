// SPDX-License-Identifier: Apache-2.0
// From particles to nodes and back. Sums over particles are made cell by cell, then over the cells
// of a node, so that threads never write to the same place and the order of additions is fixed.
#include "base/thread.h"
#include "base/vec3.h"
#include "linalg/dense_inline.h"
#include "linalg/tensor.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

// A particle on the face between two cells, and alone in its own, would leave nodes without mass
// and stresses that nothing moves: it is taken to be this part of a cell within.
#define TRANSFER_EDGE 1e-6

// The same with a dimension that the compiler knows; gradients one after the other, 3 each.
TL_INLINE void transfer_weights(int dim, const tl_cells *g, const double *x, const int32_t *cell,
                                double *weight, double *gradient) {
    const double inverse = 1.0 / g->edge;
    double part[3][2], slope[2] = {-inverse, inverse};
    for (int k = 0; k < dim; k++) {
        const double at = (x[k] - g->origin[k]) * inverse - cell[k];
        const double xi = TL_MIN(TL_MAX(at, TRANSFER_EDGE), 1.0 - TRANSFER_EDGE);
        part[k][0] = 1.0 - xi;
        part[k][1] = xi;
    }
    for (int c = 0; c < 1 << dim; c++) {
        const int i = c & 1, j = c >> 1 & 1, k = c >> 2;
        const double px = part[0][i], py = part[1][j], pz = dim == 3 ? part[2][k] : 1.0;
        weight[c] = px * py * pz;
        gradient[3 * c] = slope[i] * py * pz;
        gradient[3 * c + 1] = slope[j] * pz * px;
        gradient[3 * c + 2] = dim == 3 ? slope[k] * px * py : 0.0;
    }
}

void tl_sand_weights(const tl_sand *m, const double x[3], const int32_t cell[3], double *weight,
                     double (*gradient)[3]) {
    if (m->dim == 3)
        transfer_weights(3, &m->cells, x, cell, weight, gradient[0]);
    else
        transfer_weights(2, &m->cells, x, cell, weight, gradient[0]);
}

unsigned tl_sand_held(const tl_sand *m, int32_t node) {
    int32_t at[3];
    unsigned held = 0;
    tl_cells_at(m->cells.node_key[node], at);
    for (int k = 0; k < m->dim; k++)
        for (int side = 0; side < 2; side++) {
            if (at[k] != (side ? m->cells.extent[k] : 0)) continue;
            const talus_face face = m->def.face[k][side];
            const unsigned all = (1U << m->dim) - 1, own = 1U << k;
            if (face == TALUS_FACE_STICK) held |= all;
            if (face == TALUS_FACE_SLIP) held |= own;
            if (face == TALUS_FACE_NORMAL) held |= all & ~own;
        }
    return held;
}

// ---- to the nodes ------------------------------------------------------------------------------

// Velocity that a particle has at the place of a node.
TL_INLINE void transfer_reach(int dim, const tl_sand *m, int64_t p, const double *node,
                              double *out) {
    const tl_grains *g = &m->grains;
    const double *x = g->x + 3 * p, *v = g->v + 3 * p, *l = g->gradient + 9 * p;
    const bool affine = m->def.transfer == TALUS_TRANSFER_APIC;
    for (int k = 0; k < dim; k++) {
        out[k] = v[k];
        for (int e = 0; affine && e < dim; e++) out[k] += l[3 * k + e] * (node[e] - x[e]);
    }
}

// What particle p gives the sums and rates of its cell; rates have 3 numbers here in 2D, too.
TL_INLINE void transfer_add(int dim, tl_sand *m, int64_t cell, int64_t p, const int32_t *at,
                            const double *node, double *rate) {
    const tl_grains *g = &m->grains;
    const int corners = 1 << dim;
    double weight[TL_CORNERS], gradient[3 * TL_CORNERS];
    double *sums = m->sums + cell * corners * TL_SUMS;
    double *turned = m->orient_sums ? m->orient_sums + 9 * cell * corners : NULL;
    transfer_weights(dim, &m->cells, g->x + 3 * p, at, weight, gradient);
    const double space = m->def.packed ? tl_sand_frame_space(m, g->frame + 9 * p) : 0.0;
    for (int a = 0; a < corners; a++) {
        double v[3], *own = sums + a * TL_SUMS;
        const double share = g->volume[p] * weight[a];
        transfer_reach(dim, m, p, node + 3 * (ptrdiff_t)a, v);
        own[TL_SUM_VOLUME] += share;
        for (int k = 0; k < dim; k++) own[TL_SUM_MOMENTUM + k] += share * v[k];
        own[TL_SUM_INERTIAL] += share * g->inertial[p];
        own[TL_SUM_BOND] += share * g->bond[p];
        own[TL_SUM_SPACE] += weight[a] * space;
        for (int k = 0; turned && k < 9; k++) turned[9 * a + k] += share * g->orient[9 * p + k];
        for (int k = 0; k < 3 * corners; k++) rate[3 * corners * a + k] += share * gradient[k];
    }
}

TL_INLINE void transfer_cell(int dim, tl_sand *m, int64_t cell) {
    const int corners = 1 << dim;
    double node[3 * TL_CORNERS] = {0.0}, rate[3 * TL_CORNERS * TL_CORNERS] = {0.0};
    int32_t at[3];
    tl_cells_at(m->cells.cell_key[cell], at);
    memset(m->sums + cell * corners * TL_SUMS, 0, (size_t)corners * TL_SUMS * sizeof *m->sums);
    if (m->orient_sums)
        memset(m->orient_sums + 9 * cell * corners, 0, (size_t)(9 * corners) * sizeof *rate);
    for (int c = 0; c < corners; c++)
        for (int k = 0; k < dim; k++)
            node[3 * c + k] = m->cells.origin[k] + (at[k] + (c >> k & 1)) * m->cells.edge;
    for (int64_t p = m->cells.cell_start[cell]; p < m->cells.cell_start[cell + 1]; p++)
        transfer_add(dim, m, cell, p, at, node, rate);
    double *out = m->rate + cell * corners * corners * dim;
    for (int e = 0; e < corners * corners; e++)
        for (int k = 0; k < dim; k++) out[dim * e + k] = rate[3 * e + k];
}

#define TRANSFER_CELLS(dim)                                                                        \
    void tl_sand_gather_cells_##dim(tl_sand *m, int64_t begin, int64_t end);                       \
    TL_SIMD_CLONES void tl_sand_gather_cells_##dim(tl_sand *m, int64_t begin, int64_t end) {       \
        for (int64_t cell = begin; cell < end; cell++) transfer_cell(dim, m, cell);                \
    }
TRANSFER_CELLS(2)
TRANSFER_CELLS(3)

static void transfer_node(tl_sand *m, int64_t node) {
    const int corners = m->cells.corners;
    double *sum = m->node + node * TL_SUMS;
    memset(sum, 0, TL_SUMS * sizeof *sum);
    for (int c = 0; c < corners; c++) {
        const int64_t cell = m->cells.node_cell[node * corners + c];
        if (cell < 0) continue;
        for (int k = 0; k < TL_SUMS; k++) sum[k] += m->sums[(cell * corners + c) * TL_SUMS + k];
    }
    double *turned = m->orient_sums ? m->orient_node + 9 * node : NULL;
    for (int k = 0; turned && k < 9; k++) {
        turned[k] = 0.0;
        for (int c = 0; c < corners; c++) {
            const int64_t cell = m->cells.node_cell[node * corners + c];
            if (cell >= 0) turned[k] += m->orient_sums[9 * (cell * corners + c) + k];
        }
    }
    // A node whose weights have all underflowed is one that nothing moves.
    const double volume = sum[TL_SUM_VOLUME], inverse = volume > 0.0 ? 1.0 / volume : 0.0;
    for (int k = 0; k < 3; k++) m->velocity[3 * node + k] = sum[TL_SUM_MOMENTUM + k] * inverse;
}

static void transfer_work(void *arg, tl_team *team, int rank) {
    tl_sand *m = arg;
    int64_t begin, end;
    tl_share(m->cells.count, tl_team_size(team), rank, &begin, &end);
    if (m->dim == 3)
        tl_sand_gather_cells_3(m, begin, end);
    else
        tl_sand_gather_cells_2(m, begin, end);
    tl_barrier(team);
    tl_share(m->cells.nodes, tl_team_size(team), rank, &begin, &end);
    for (int64_t i = begin; i < end; i++) transfer_node(m, i);
}

void tl_sand_gather(tl_sand *m, int threads) {
    tl_parallel(m->base.ctx, threads, transfer_work, m);
}

// ---- and back ----------------------------------------------------------------------------------

// exp(x) to the eighth order for |x| <= 0.02 in all entries, whose next term is below
// (3 |x|)⁹/9! < 1e-16: in powers of x³, with four products.
static void transfer_exp(const double x[9], double e[9]) {
    double square[9], cube[9], a[9], b[9];
    tl_mm(3, x, x, square);
    tl_mm(3, square, x, cube);
    for (int k = 0; k < 9; k++) {
        const double one = k % 4 == 0;
        a[k] = one / 720.0 + x[k] / 5040.0 + square[k] / 40320.0;
        b[k] = one / 6.0 + x[k] / 24.0 + square[k] / 120.0;
        e[k] = one + x[k] + 0.5 * square[k];
    }
    tl_mm(3, cube, a, square);
    for (int k = 0; k < 9; k++) b[k] += square[k];
    tl_mm(3, cube, b, square);
    for (int k = 0; k < 9; k++) e[k] += square[k];
}

// The exponential by scaling and squaring.
void tl_sand_frame(double h, const double gradient[9], double frame[9]) {
    double x[9], e[9], t[9], size = 0.0, scale = h;
    for (int k = 0; k < 9; k++) size = TL_MAX(fabs(h * gradient[k]), size);
    int squarings = 0;
    for (; size > 0.02 && squarings < 60; squarings++) {
        size *= 0.5;
        scale *= 0.5;
    }
    for (int k = 0; k < 9; k++) x[k] = scale * gradient[k];
    transfer_exp(x, e);
    for (int n = 0; n < squarings; n++) {
        tl_mm(3, e, e, t);
        memcpy(e, t, sizeof e);
    }
    tl_mm(3, e, frame, t);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            frame[3 * i + j] =
                t[3 * i] * e[3 * j] + t[3 * i + 1] * e[3 * j + 1] + t[3 * i + 2] * e[3 * j + 2];
}

// |Dev D| = √J₂ of the rate of strain.
static double transfer_shear(int dim, const double gradient[9]) {
    double t[6], sum = 0.0;
    tl_tensor_pack(dim, gradient, t);
    for (int k = 1; k < tl_tensor_size(dim); k++) sum += t[k] * t[k];
    return sqrt(sum);
}

// Pressure at a point, from the stress that the nodes have just been given.
static double transfer_pressure(const tl_sand *m, int64_t cell, const double *weight) {
    const int size = tl_tensor_size(m->dim);
    double sum = 0.0;
    for (int c = 0; c < m->cells.corners; c++)
        sum +=
            weight[c] * m->stress[(int64_t)m->cells.cell_node[cell * m->cells.corners + c] * size];
    return tl_tensor_unit(m->dim) * sum;
}

typedef struct transfer_move {
    tl_sand *m;
    const tl_step *step;
    const double *shift;
} transfer_move;

static void transfer_particle(const transfer_move *t, int64_t cell, int64_t p) {
    tl_sand *m = t->m;
    const tl_step *step = t->step;
    tl_grains *g = &m->grains;
    double weight[TL_CORNERS], slope[TL_CORNERS][3], v[3] = {0}, change[3] = {0}, gradient[9] = {0};
    int32_t at[3];
    tl_cells_at(m->cells.cell_key[cell], at);
    tl_sand_weights(m, g->x + 3 * p, at, weight, slope);
    for (int c = 0; c < m->cells.corners; c++) {
        const int64_t node = m->cells.cell_node[cell * m->cells.corners + c];
        const double *next = m->next + 3 * node, *before = m->velocity + 3 * node;
        for (int k = 0; k < 3; k++) {
            v[k] += weight[c] * next[k];
            change[k] += weight[c] * (next[k] - before[k]);
            for (int e = 0; e < 3; e++) gradient[3 * k + e] += next[k] * slope[c][e];
        }
    }
    tl_axpy3(g->x + 3 * p, step->h, v, g->x + 3 * p);
    for (int c = 0; t->shift && c < m->cells.corners; c++) {
        const int64_t node = m->cells.cell_node[cell * m->cells.corners + c];
        tl_axpy3(g->x + 3 * p, weight[c], t->shift + 3 * node, g->x + 3 * p);
    }
    if (m->def.transfer == TALUS_TRANSFER_FLIP)
        tl_axpy3(g->v + 3 * p, 1.0, change, g->v + 3 * p);
    else
        tl_copy3(v, g->v + 3 * p);
    memcpy(g->gradient + 9 * p, gradient, sizeof gradient);
    tl_sand_frame(step->h, gradient, g->frame + 9 * p);
    if (g->orient_width > 0) tl_sand_turn_normals(m, step->h, gradient, g->orient + 9 * p);
    const double shear = transfer_shear(m->dim, gradient);
    g->bond[p] /= 1.0 + step->h * m->def.debonding * 2.0 * shear;
    const double pressure = transfer_pressure(m, cell, weight);
    const double scale = sqrt(fmax(pressure, 0.0) / m->def.density);
    g->inertial[p] = shear * m->def.diameter <= 1e6 * scale // flying grains: as if very fast
                         ? (scale > 0.0 ? shear * m->def.diameter / scale : 0.0)
                         : 1e6;
}

// Keep a particle in the box. False: it has left through a free face.
static bool transfer_keep(const tl_sand *m, double x[3], double v[3]) {
    for (int k = 0; k < m->dim; k++) {
        const double low = m->cells.origin[k], high = low + m->cells.extent[k] * m->cells.edge;
        const int side = x[k] < low ? 0 : x[k] > high ? 1 : -1;
        if (side < 0) continue;
        const talus_face face = m->def.face[k][side];
        if (face == TALUS_FACE_FREE || face == TALUS_FACE_NORMAL) return false;
        x[k] = side ? high : low;
        v[k] = 0.0;
    }
    return true;
}

void tl_sand_copy(tl_grains *g, int64_t to, int64_t from) {
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    if (to == from) return;
    tl_sand_arrays(g, array, width);
    g->id[to] = g->id[from];
    for (int k = 0; k < TL_GRAIN_ARRAYS; k++)
        if (width[k] > 0)
            memcpy(*array[k] + to * width[k], *array[k] + from * width[k],
                   (size_t)width[k] * sizeof **array[k]);
}

static void transfer_move_work(void *arg, tl_team *team, int rank) {
    const transfer_move *t = arg;
    const tl_cells *cells = &t->m->cells;
    int64_t begin, end;
    tl_share(cells->count, tl_team_size(team), rank, &begin, &end);
    for (int64_t cell = begin; cell < end; cell++)
        for (int64_t p = cells->cell_start[cell]; p < cells->cell_start[cell + 1]; p++)
            transfer_particle(t, cell, p);
}

void tl_sand_move(tl_sand *m, const tl_step *step, const double *shift) {
    tl_grains *g = &m->grains;
    transfer_move move = {m, step, shift};
    tl_parallel(m->base.ctx, step->threads, transfer_move_work, &move);
    int64_t kept = 0;
    for (int64_t p = 0; p < g->count; p++) {
        if (!transfer_keep(m, g->x + 3 * p, g->v + 3 * p)) {
            m->lost += g->volume[p];
            continue;
        }
        tl_sand_copy(g, kept++, p);
    }
    g->count = kept;
}
