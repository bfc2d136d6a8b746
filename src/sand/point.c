// SPDX-License-Identifier: Apache-2.0
// Where stresses live. A point has weights over the particles, and of these
//     the rates of strain Σ_p V_p w(x_p) ∇w_j(x_p),  Φ = Σ_p V_p w(x_p),  its space V = ∫ w,
// less what bodies take. A point at the surface is not full, and gives way until it is, though the
// sand about it is as dense as can be. Where `packed`, V is no more than Σ_p w(x_p) 2^dim √det F_p,
// the space that particles say they have: dense sand is then held wherever it is.
// q1        nodes, w multilinear: continuous;
// q1d       the corners of each cell, w multilinear within it and 0 outside: discontinuous;
// particle  particles, w = 1 there and 0 elsewhere; V is that of the ellipsoid's cube, 2^dim √det
// F.
#include "base/vec3.h"
#include "linalg/tensor.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

int64_t tl_sand_points(const tl_sand *m) {
    switch (m->def.stress) {
    case TALUS_STRESS_Q1D:
        return m->cells.count * m->cells.corners;
    case TALUS_STRESS_PARTICLE:
        return m->grains.count;
    default:
        return m->cells.nodes;
    }
}

// Volume of space of a node within one of its cells, less what bodies take.
static double point_space(const tl_sand *m, int32_t node, double cells) {
    double space = cells;
    TL_ASSUME(m->dim == 2 || m->dim == 3);
    for (int k = 0; k < m->dim; k++) space *= m->cells.edge;
    return space * fmax(0.0, 1.0 - m->taken[node]);
}

double tl_sand_space(const tl_sand *m, int32_t i) {
    int32_t at[3];
    double share = 1.0;
    TL_ASSUME(m->dim == 2 || m->dim == 3);
    tl_cells_at(m->cells.node_key[i], at);
    for (int k = 0; k < m->dim; k++)
        if (at[k] == 0 || at[k] == m->cells.extent[k]) share *= 0.5;
    return point_space(m, i, share);
}

// Add a node with its rate, nodes ascending.
static void point_add(int dim, int32_t node, const double *rate, tl_point *out) {
    int at = out->count;
    while (at > 0 && out->node[at - 1] > node) at--;
    const bool known = at > 0 && out->node[at - 1] == node;
    if (known)
        at--;
    else { // insert
        for (int k = out->count++; k > at; k--) {
            out->node[k] = out->node[k - 1];
            memcpy(out->rate[k], out->rate[k - 1], sizeof out->rate[k]);
        }
        out->node[at] = node;
        memset(out->rate[at], 0, sizeof out->rate[at]);
    }
    for (int k = 0; k < dim; k++) out->rate[at][k] += rate[k];
}

// Corner a of a cell.
static void point_add_corner(const tl_sand *m, int64_t cell, int a, tl_point *out) {
    const int corners = m->cells.corners, dim = m->dim;
    for (int b = 0; b < corners; b++)
        point_add(dim, m->cells.cell_node[cell * corners + b],
                  m->rate + ((cell * corners + a) * corners + b) * dim, out);
}

// The means of what the particles carry, from sums over them.
static void point_means(const tl_sand *m, const double *sum, const double *orient, tl_point *out) {
    const double inverse = sum[TL_SUM_VOLUME] > 0.0 ? 1.0 / sum[TL_SUM_VOLUME] : 0.0;
    out->volume = sum[TL_SUM_VOLUME];
    out->inertial = sum[TL_SUM_INERTIAL] * inverse;
    out->bond = sum[TL_SUM_BOND] * inverse;
    for (int k = 0; m->orient_sums && k < 9; k++) out->orient[k] = orient[k] * inverse;
    if (m->def.packed != TALUS_PACKED_NO) out->space = fmin(out->space, sum[TL_SUM_SPACE]);
}

double tl_sand_frame_space(const tl_sand *m, const double *f) {
    const double det = m->dim == 2 ? f[0] * f[4] - f[1] * f[3]
                                   : f[0] * (f[4] * f[8] - f[5] * f[7]) -
                                         f[1] * (f[3] * f[8] - f[5] * f[6]) +
                                         f[2] * (f[3] * f[7] - f[4] * f[6]);
    return (m->dim == 2 ? 4.0 : 8.0) * sqrt(fmax(det, 0.0));
}

static void point_of_particle(const tl_sand *m, int64_t p, tl_point *out) {
    const tl_grains *g = &m->grains;
    const int64_t cell = m->cells.home[p];
    double weight[TL_CORNERS], gradient[TL_CORNERS][3];
    int32_t at[3];
    tl_cells_at(m->cells.cell_key[cell], at);
    tl_sand_weights(m, g->x + 3 * p, at, weight, gradient);
    for (int b = 0; b < m->cells.corners; b++) {
        for (int k = 0; k < 3; k++) gradient[b][k] *= g->volume[p];
        point_add(m->dim, m->cells.cell_node[cell * m->cells.corners + b], gradient[b], out);
    }
    out->volume = g->volume[p];
    out->space = tl_sand_frame_space(m, g->frame + 9 * p);
    out->inertial = g->inertial[p];
    out->bond = g->bond[p];
    if (m->orient_sums) memcpy(out->orient, g->orient + 9 * p, sizeof out->orient);
}

void tl_sand_get_point(const tl_sand *m, int64_t i, tl_point *out) {
    const int corners = m->cells.corners;
    out->count = 0;
    if (m->def.stress == TALUS_STRESS_PARTICLE) {
        point_of_particle(m, i, out);
        return;
    }
    if (m->def.stress == TALUS_STRESS_Q1D) {
        const double *turned = m->orient_sums ? m->orient_sums + 9 * i : NULL;
        point_add_corner(m, i / corners, (int)(i % corners), out);
        out->space = point_space(m, m->cells.cell_node[i], 1.0 / corners);
        point_means(m, m->sums + i * TL_SUMS, turned, out);
        return;
    }
    for (int a = 0; a < corners; a++) {
        const int64_t cell = m->cells.node_cell[i * corners + a];
        if (cell >= 0) point_add_corner(m, cell, a, out);
    }
    out->space = tl_sand_space(m, (int32_t)i);
    point_means(m, m->node + i * TL_SUMS, m->orient_sums ? m->orient_node + 9 * i : NULL, out);
}

int32_t tl_sand_point_nodes(const tl_sand *m, int64_t i, int32_t *node) {
    tl_point point;
    tl_sand_get_point(m, i, &point);
    memcpy(node, point.node, (size_t)point.count * sizeof *node);
    return point.count;
}

// ---- from step to step -------------------------------------------------------------------------

// The cell of a key among those of the last step, which ascend; −1: there was none.
static int64_t point_find_old(const tl_sand *m, uint64_t key) {
    int64_t low = 0, high = m->corner_count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (m->corner_key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->corner_count && m->corner_key[low] == key ? low : -1;
}

// Nodes of both steps are numbered as cells in ascending order meet them, so that a walk along the
// old ones would not do: the table of the new ones is asked for each old one.
void tl_sand_point_start(const tl_sand *m, double *stress) {
    const int size = tl_tensor_size(m->dim);
    const int64_t points = tl_sand_points(m), corners = m->cells.corners;
    memset(stress, 0, (size_t)(points * size) * sizeof *stress);
    if (m->def.stress == TALUS_STRESS_PARTICLE) {
        if (points > 0) memcpy(stress, m->grains.stress, (size_t)(points * size) * sizeof *stress);
    } else if (m->def.stress == TALUS_STRESS_Q1D) {
        for (int64_t c = 0; c < m->cells.count; c++) {
            const int64_t old = point_find_old(m, m->cells.cell_key[c]);
            if (old >= 0)
                memcpy(stress + c * corners * size, m->corner + old * corners * size,
                       (size_t)(corners * size) * sizeof *stress);
        }
    } else {
        for (int64_t k = 0; k < m->stress_count; k++) {
            const int32_t node = tl_cells_find(&m->cells, m->stress_key[k]);
            if (node >= 0)
                memcpy(stress + (int64_t)node * size, m->stress + k * size,
                       (size_t)size * sizeof *stress);
        }
    }
}

// Stresses at nodes as means of those of the points, by the volume of grains.
static void point_project(tl_sand *m, const double *stress) {
    const int size = tl_tensor_size(m->dim), corners = m->cells.corners;
    const bool particles = m->def.stress == TALUS_STRESS_PARTICLE;
    memset(m->stress, 0, (size_t)(m->cells.nodes * size) * sizeof *m->stress);
    for (int64_t cell = 0; cell < m->cells.count; cell++) {
        double weight[TL_CORNERS], gradient[TL_CORNERS][3];
        int32_t at[3];
        tl_cells_at(m->cells.cell_key[cell], at);
        const int64_t first = particles ? m->cells.cell_start[cell] : cell * corners;
        const int64_t last = particles ? m->cells.cell_start[cell + 1] : first + 1;
        for (int64_t i = first; i < last; i++) {
            const int64_t p = particles ? m->cells.order[i] : i;
            if (particles) tl_sand_weights(m, m->grains.x + 3 * p, at, weight, gradient);
            for (int a = 0; a < corners; a++) {
                const int64_t node = m->cells.cell_node[cell * corners + a];
                const int64_t from = particles ? p : cell * corners + a;
                const double share = particles ? m->grains.volume[p] * weight[a]
                                               : m->sums[from * TL_SUMS + TL_SUM_VOLUME];
                for (int k = 0; k < size; k++)
                    m->stress[node * size + k] += share * stress[from * size + k];
            }
        }
    }
    for (int64_t i = 0; i < m->cells.nodes; i++) {
        const double volume = m->node[i * TL_SUMS + TL_SUM_VOLUME];
        for (int k = 0; k < size; k++) m->stress[i * size + k] *= volume > 0.0 ? 1.0 / volume : 0.0;
    }
}

void tl_sand_point_take(tl_sand *m, const double *stress) {
    const int size = tl_tensor_size(m->dim), corners = m->cells.corners;
    m->stress_count = m->cells.nodes;
    memcpy(m->stress_key, m->cells.node_key, (size_t)m->stress_count * sizeof *m->stress_key);
    if (m->def.stress == TALUS_STRESS_Q1) {
        memcpy(m->stress, stress, (size_t)(m->stress_count * size) * sizeof *stress);
        return;
    }
    point_project(m, stress);
    if (m->def.stress == TALUS_STRESS_PARTICLE) {
        memcpy(m->grains.stress, stress, (size_t)(m->grains.count * size) * sizeof *stress);
        return;
    }
    m->corner_count = m->cells.count;
    memcpy(m->corner_key, m->cells.cell_key, (size_t)m->corner_count * sizeof *m->corner_key);
    memcpy(m->corner, stress, (size_t)(m->corner_count * corners * size) * sizeof *stress);
}

talus_status tl_sand_reserve_points(tl_sand *m) {
    talus_context *ctx = m->base.ctx;
    const int64_t size = tl_tensor_size(m->dim), corners = m->cells.corners;
    const int64_t points = tl_sand_points(m);
    if (points + 1 > m->point_room) {
        const int64_t room = points + points / 8 + 1;
        TL_TRY(tl_realloc(ctx, 0, room * size, sizeof *m->point, &m->point));
        m->point_room = room;
    }
    if (m->def.stress != TALUS_STRESS_Q1D || m->cells.count + 1 <= m->corner_room) return TALUS_OK;
    const int64_t room = m->cells.count + m->cells.count / 8 + 1, old = m->corner_count;
    TL_TRY(tl_realloc(ctx, old, room, sizeof *m->corner_key, &m->corner_key));
    TL_TRY(tl_realloc(ctx, old * corners * size, room * corners * size, sizeof *m->corner,
                      &m->corner));
    m->corner_room = room;
    return TALUS_OK;
}
