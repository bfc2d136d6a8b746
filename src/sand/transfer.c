// SPDX-License-Identifier: Apache-2.0
// From particles to nodes. Sums over particles are made cell by cell, then over the cells of a
// node, so that threads never write to the same place and the order of additions is fixed. With l =
// 1 − ξ and ξ along each axis of a cell the products of two weights are those of l², l ξ and ξ²
// along the axes: 9 or 27 sums Σ_p V_p B_i(ξ) B_j(η) B_k(ζ) hold all Σ_p V_p w_a ∇w_b of the cell,
// the factor along the axis of the derivative being l = l² + l ξ or ξ = l ξ + ξ².
#include "base/thread.h"
#include "base/vec3.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

// The same with a dimension that the compiler knows; gradients one after the other, 3 each.
TL_INLINE void transfer_weights(int dim, const tl_cells *g, const double *x, const int32_t *cell,
                                double *weight, double *gradient) {
    const double inverse = 1.0 / g->edge;
    double part[3][2], slope[2] = {-inverse, inverse};
    for (int k = 0; k < dim; k++) {
        const double xi = tl_sand_within((x[k] - g->origin[k]) * inverse - cell[k]);
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

enum { TRANSFER_MOMENTS = 27 };

// Sums of a cell in lanes: particles of the cell go to them in turn.
typedef struct transfer_lanes {
    double moment[TRANSFER_MOMENTS][TL_SAND_LANES];
    double sum[TL_SUMS][TL_CORNERS][TL_SAND_LANES];
} transfer_lanes;

// sum += a b in each lane.
TL_INLINE void transfer_gain(const double *a, const double *b, double *sum) {
    for (int l = 0; l < TL_SAND_LANES; l++) sum[l] += a[l] * b[l];
}

TL_INLINE void transfer_times(const double *a, const double *b, double *out) {
    for (int l = 0; l < TL_SAND_LANES; l++) out[l] = a[l] * b[l];
}

// Products of weights and of their squares, to the sums; `share` becomes V w.
TL_INLINE void transfer_moments(int dim, double (*part)[2][TL_SAND_LANES], const double *volume,
                                double (*share)[TL_SAND_LANES], transfer_lanes *t) {
    double square[3][3][TL_SAND_LANES], heavy[3][TL_SAND_LANES], plane[TL_SAND_LANES];
    double flat[4][TL_SAND_LANES];
    for (int k = 0; k < dim; k++)
        for (int e = 0; e < 3; e++)
            transfer_times(part[k][e / 2], part[k][(e + 1) / 2], square[k][e]);
    for (int k = 0; k < 3; k++) transfer_times(volume, square[dim - 1][k], heavy[k]);
    if (dim == 2) {
        for (int e = 0; e < 9; e++) transfer_gain(square[0][e % 3], heavy[e / 3], t->moment[e]);
    } else {
        for (int e = 0; e < 9; e++) {
            transfer_times(square[0][e % 3], square[1][e / 3], plane);
            for (int k = 0; k < 3; k++) transfer_gain(plane, heavy[k], t->moment[9 * k + e]);
        }
    }
    for (int a = 0; a < 4; a++) {
        transfer_times(part[0][a & 1], part[1][a >> 1], plane);
        transfer_times(plane, volume, flat[a]);
    }
    for (int a = 0; a < 1 << dim; a++) {
        if (dim == 3)
            transfer_times(flat[a & 3], part[2][a >> 2], share[a]);
        else
            memcpy(share[a], flat[a], sizeof share[a]);
        for (int l = 0; l < TL_SAND_LANES; l++) t->sum[TL_SUM_VOLUME][a][l] += share[a][l];
    }
}

// Momenta: a particle has the velocity v + L (y − x) at y.
TL_INLINE void transfer_momentum(const tl_sand *m, int dim, const int64_t *which,
                                 double (*arm)[TL_SAND_LANES], double (*share)[TL_SAND_LANES],
                                 transfer_lanes *t) {
    const tl_grains *g = &m->grains;
    const bool affine = m->def.transfer == TALUS_TRANSFER_APIC;
    const double edge = m->cells.edge;
    for (int k = 0; k < dim; k++) {
        double own[TL_CORNERS][TL_SAND_LANES], slope[3][TL_SAND_LANES] = {{0.0}};
        for (int l = 0; l < TL_SAND_LANES; l++) {
            own[0][l] = g->v[3 * which[l] + k];
            for (int e = 0; affine && e < dim; e++)
                slope[e][l] = g->gradient[9 * which[l] + 3 * k + e];
        }
        for (int e = 0; e < dim; e++) {
            transfer_gain(slope[e], arm[e], own[0]);
            for (int l = 0; l < TL_SAND_LANES; l++) slope[e][l] *= edge;
        }
        for (int a = 1; a < 1 << dim; a++) {
            const int e = a >= 4 ? 2 : a >= 2 ? 1 : 0; // the highest axis along which it lies
            for (int l = 0; l < TL_SAND_LANES; l++) own[a][l] = own[a - (1 << e)][l] + slope[e][l];
        }
        for (int a = 0; a < 1 << dim; a++)
            transfer_gain(share[a], own[a], t->sum[TL_SUM_MOMENTUM + k][a]);
    }
}

// What up to eight particles give the sums of their cell, which begins at `origin`.
TL_INLINE void transfer_add(int dim, const tl_sand *m, const int32_t *at, const double *origin,
                            const int64_t *some, int count, transfer_lanes *t) {
    const tl_grains *g = &m->grains;
    const double inverse = 1.0 / m->cells.edge;
    double x[3][TL_SAND_LANES], part[3][2][TL_SAND_LANES], share[TL_CORNERS][TL_SAND_LANES];
    double volume[TL_SAND_LANES], carried[2][TL_SAND_LANES];
    int64_t which[TL_SAND_LANES];
    for (int l = 0; l < TL_SAND_LANES; l++) { // lanes that are not needed have no volume
        which[l] = some[l < count ? l : 0];
        volume[l] = l < count ? g->volume[which[l]] : 0.0;
        for (int k = 0; k < dim; k++) x[k][l] = g->x[3 * which[l] + k];
    }
    for (int k = 0; k < dim; k++) {
        const double first = m->cells.origin[k], from = at[k], corner = origin[k];
        for (int l = 0; l < TL_SAND_LANES; l++) {
            part[k][1][l] = tl_sand_within((x[k][l] - first) * inverse - from);
            part[k][0][l] = 1.0 - part[k][1][l];
            x[k][l] = corner - x[k][l]; // from the particle to the first corner
        }
    }
    transfer_moments(dim, part, volume, share, t);
    transfer_momentum(m, dim, which, x, share, t);
    // what nothing asks for is left out
    const bool fast = m->def.diameter > 0.0, bound = m->def.cohesion > 0.0;
    if (!fast && !bound) return;
    for (int l = 0; l < TL_SAND_LANES; l++) {
        carried[0][l] = g->inertial[which[l]];
        carried[1][l] = g->bond[which[l]];
    }
    for (int a = 0; a < 1 << dim; a++) {
        if (fast) transfer_gain(share[a], carried[0], t->sum[TL_SUM_INERTIAL][a]);
        if (bound) transfer_gain(share[a], carried[1], t->sum[TL_SUM_BOND][a]);
    }
}

// The sum over the lanes.
TL_INLINE double transfer_total(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) +
           ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

// Σ_p V_p w_a ∂w_b along an axis, times the edge.
TL_INLINE double transfer_rate(int dim, const double *moment, int a, int b, int axis) {
    int low[3] = {0}, high[3] = {0};
    for (int k = 0; k < dim; k++) {
        low[k] = (a >> k & 1) + (k == axis ? 0 : b >> k & 1);
        high[k] = low[k] + (k == axis);
    }
    const double sum =
        moment[9 * low[2] + 3 * low[1] + low[0]] + moment[9 * high[2] + 3 * high[1] + high[0]];
    return b >> axis & 1 ? sum : -sum;
}

// Normals of the grains: Σ_p V_p w ν.
static void transfer_turned(tl_sand *m, int64_t cell, const int32_t *at) {
    const int corners = m->cells.corners;
    double *turned = m->orient_sums + 9 * cell * corners;
    double weight[TL_CORNERS], gradient[TL_CORNERS][3];
    memset(turned, 0, (size_t)(9 * corners) * sizeof *turned);
    for (int64_t i = m->cells.cell_start[cell]; i < m->cells.cell_start[cell + 1]; i++) {
        const int64_t p = m->cells.order[i];
        tl_sand_weights(m, m->grains.x + 3 * p, at, weight, gradient);
        for (int a = 0; a < corners; a++)
            for (int k = 0; k < 9; k++)
                turned[9 * a + k] += m->grains.volume[p] * weight[a] * m->grains.orient[9 * p + k];
    }
}

TL_INLINE void transfer_cell(int dim, tl_sand *m, int64_t cell) {
    const int corners = 1 << dim;
    const int64_t *order = m->cells.order, end = m->cells.cell_start[cell + 1];
    const double inverse = 1.0 / m->cells.edge;
    double origin[3] = {0.0}, moment[TRANSFER_MOMENTS];
    transfer_lanes t = {0};
    int32_t at[3];
    tl_cells_at(m->cells.cell_key[cell], at);
    for (int k = 0; k < dim; k++) origin[k] = m->cells.origin[k] + at[k] * m->cells.edge;
    for (int64_t i = m->cells.cell_start[cell]; i < end; i += TL_SAND_LANES) {
        tl_sand_ahead(m, i, false);
        transfer_add(dim, m, at, origin, order + i, (int)TL_MIN(end - i, (int64_t)TL_SAND_LANES),
                     &t);
    }
    double *sums = m->sums + cell * corners * TL_SUMS;
    for (int a = 0; a < corners; a++)
        for (int k = 0; k < TL_SUMS; k++) sums[a * TL_SUMS + k] = transfer_total(t.sum[k][a]);
    for (int k = 0; k < TRANSFER_MOMENTS; k++) moment[k] = inverse * transfer_total(t.moment[k]);
    double *rate = m->rate + cell * corners * corners * dim;
    for (int a = 0; a < corners; a++)
        for (int b = 0; b < corners; b++)
            for (int k = 0; k < dim; k++) *rate++ = transfer_rate(dim, moment, a, b, k);
    if (m->orient_sums) transfer_turned(m, cell, at);
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

// ---- the space that particles have
// ---------------------------------------------------------------

// Sand that moves no faster than this part of what it falls in a step is at rest.
#define TRANSFER_REST 0.5

static bool transfer_holds(const tl_sand *m, double limit, int64_t node) {
    const double *v = m->velocity + 3 * node;
    return m->def.packed == TALUS_PACKED_ALL ||
           (m->def.packed == TALUS_PACKED_REST && tl_dot3(v, v) <= limit);
}

// Σ_p w 2^dim √det F of a corner whose sand counts as packed, and no bound for the others.
static void transfer_space(tl_sand *m, double limit, int64_t cell) {
    const int corners = m->cells.corners;
    double *sums = m->sums + cell * corners * TL_SUMS;
    bool held[TL_CORNERS], any = false;
    int32_t at[3];
    for (int a = 0; a < corners; a++) {
        held[a] = transfer_holds(m, limit, m->cells.cell_node[cell * corners + a]);
        any = any || held[a];
        sums[a * TL_SUMS + TL_SUM_SPACE] = held[a] ? 0.0 : INFINITY;
    }
    tl_cells_at(m->cells.cell_key[cell], at);
    for (int64_t i = m->cells.cell_start[cell]; any && i < m->cells.cell_start[cell + 1]; i++) {
        const int64_t p = m->cells.order[i];
        const double space = tl_sand_frame_space(m, m->grains.frame + 9 * p);
        double weight[TL_CORNERS], gradient[TL_CORNERS][3];
        tl_sand_weights(m, m->grains.x + 3 * p, at, weight, gradient);
        for (int a = 0; a < corners; a++)
            if (held[a]) sums[a * TL_SUMS + TL_SUM_SPACE] += weight[a] * space;
    }
}

static void transfer_node_space(tl_sand *m, int64_t node) {
    const int corners = m->cells.corners;
    double sum = 0.0;
    for (int c = 0; c < corners; c++) {
        const int64_t cell = m->cells.node_cell[node * corners + c];
        if (cell >= 0) sum += m->sums[(cell * corners + c) * TL_SUMS + TL_SUM_SPACE];
    }
    m->node[node * TL_SUMS + TL_SUM_SPACE] = sum;
}

typedef struct transfer_job {
    tl_sand *m;
    double limit; // square of the speed below which sand is at rest
} transfer_job;

static void transfer_work(void *arg, tl_team *team, int rank) {
    const transfer_job *job = arg;
    tl_sand *m = job->m;
    int64_t cell, cells, node, nodes;
    tl_share(m->cells.count, tl_team_size(team), rank, &cell, &cells);
    tl_share(m->cells.nodes, tl_team_size(team), rank, &node, &nodes);
    if (m->dim == 3)
        tl_sand_gather_cells_3(m, cell, cells);
    else
        tl_sand_gather_cells_2(m, cell, cells);
    tl_barrier(team);
    for (int64_t i = node; i < nodes; i++) transfer_node(m, i);
    if (m->def.packed == TALUS_PACKED_NO) return;
    tl_barrier(team);
    for (int64_t i = cell; i < cells; i++) transfer_space(m, job->limit, i);
    tl_barrier(team);
    for (int64_t i = node; i < nodes; i++) transfer_node_space(m, i);
}

void tl_sand_gather(tl_sand *m, const tl_step *step) {
    const double fall = TRANSFER_REST * step->h;
    transfer_job job = {.m = m, .limit = fall * fall * tl_dot3(step->gravity, step->gravity)};
    tl_parallel(m->base.ctx, step->threads, transfer_work, &job);
}
