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

void tl_sand_weights(const tl_sand *m, const double x[3], const int32_t cell[3], double *weight,
                     double (*gradient)[3]) {
    const int dim = m->dim;
    const double inverse = 1.0 / m->cells.edge;
    double xi[3] = {0};
    TL_ASSUME(dim == 2 || dim == 3);
    for (int k = 0; k < dim; k++) {
        const double at = (x[k] - m->cells.origin[k]) * inverse - cell[k];
        xi[k] = fmin(fmax(at, TRANSFER_EDGE), 1.0 - TRANSFER_EDGE);
    }
    for (int c = 0; c < m->cells.corners; c++) {
        double part[3] = {1.0, 1.0, 1.0}, slope[3] = {0};
        for (int k = 0; k < dim; k++) {
            const bool up = c >> k & 1;
            part[k] = up ? xi[k] : 1.0 - xi[k];
            slope[k] = up ? inverse : -inverse;
        }
        weight[c] = part[0] * part[1] * part[2];
        for (int k = 0; k < 3; k++)
            gradient[c][k] = slope[k] * part[(k + 1) % 3] * part[(k + 2) % 3];
    }
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
static void transfer_reach(const tl_sand *m, int64_t p, const double node[3], double out[3]) {
    const tl_grains *g = &m->grains;
    double arm[3];
    tl_copy3(g->v + 3 * p, out);
    if (m->def.transfer != TALUS_TRANSFER_APIC) return;
    tl_sub3(node, g->x + 3 * p, arm);
    for (int k = 0; k < 3; k++) out[k] += tl_dot3(g->gradient + 9 * p + 3 * (ptrdiff_t)k, arm);
}

static void transfer_cell(tl_sand *m, int64_t cell) {
    const tl_grains *g = &m->grains;
    const int corners = m->cells.corners, dim = m->dim;
    double *sums = m->sums + cell * corners * TL_SUMS;
    double *rate = m->rate + cell * corners * corners * dim;
    int32_t at[3];
    TL_ASSUME(dim == 2 || dim == 3);
    tl_cells_at(m->cells.cell_key[cell], at);
    memset(sums, 0, (size_t)corners * TL_SUMS * sizeof *sums);
    memset(rate, 0, (size_t)(corners * corners * dim) * sizeof *rate);
    double *turned = m->orient_sums ? m->orient_sums + 9 * cell * corners : NULL;
    if (turned) memset(turned, 0, (size_t)(9 * corners) * sizeof *turned);
    double node[TL_CORNERS][3];
    for (int c = 0; c < corners; c++)
        for (int k = 0; k < 3; k++)
            node[c][k] =
                k < dim ? m->cells.origin[k] + (at[k] + (c >> k & 1)) * m->cells.edge : 0.0;
    for (int64_t p = m->cells.cell_start[cell]; p < m->cells.cell_start[cell + 1]; p++) {
        double weight[TL_CORNERS], gradient[TL_CORNERS][3];
        tl_sand_weights(m, g->x + 3 * p, at, weight, gradient);
        for (int a = 0; a < corners; a++) {
            double v[3], *own = sums + a * TL_SUMS;
            const double share = g->volume[p] * weight[a];
            transfer_reach(m, p, node[a], v);
            own[TL_SUM_VOLUME] += share;
            for (int k = 0; k < dim; k++) own[TL_SUM_MOMENTUM + k] += share * v[k];
            own[TL_SUM_INERTIAL] += share * g->inertial[p];
            own[TL_SUM_BOND] += share * g->bond[p];
            for (int k = 0; turned && k < 9; k++) turned[9 * a + k] += share * g->orient[9 * p + k];
            for (int b = 0; b < corners; b++)
                for (int k = 0; k < dim; k++)
                    rate[(a * corners + b) * dim + k] += share * gradient[b][k];
        }
    }
}

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
    for (int64_t i = begin; i < end; i++) transfer_cell(m, i);
    tl_barrier(team);
    tl_share(m->cells.nodes, tl_team_size(team), rank, &begin, &end);
    for (int64_t i = begin; i < end; i++) transfer_node(m, i);
}

void tl_sand_gather(tl_sand *m, int threads) {
    tl_parallel(m->base.ctx, threads, transfer_work, m);
}

// ---- and back ----------------------------------------------------------------------------------

// The exponential by scaling and squaring of its series.
void tl_sand_frame(double h, const double gradient[9], double frame[9]) {
    double x[9], e[9], term[9], t[9];
    double size = 0.0;
    for (int k = 0; k < 9; k++) size = fmax(size, fabs(h * gradient[k]));
    int squarings = 0;
    while (size > 0.125 && squarings < 60) size *= 0.5, squarings++;
    for (int k = 0; k < 9; k++) {
        x[k] = ldexp(h * gradient[k], -squarings);
        e[k] = term[k] = k % 4 == 0;
    }
    for (int n = 1; n <= 10; n++) {
        tl_mm(3, term, x, t);
        for (int k = 0; k < 9; k++) e[k] += term[k] = t[k] / n;
    }
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
