// SPDX-License-Identifier: Apache-2.0
// Sand in frames: particles in the order in which they were added, so that a reader finds the same
// one in the next frame, and the grid around them. A node has, with weights w of the multilinear
// grid, the fraction Σ_p V_p w(x_p) / V of grains and the velocity Σ_p V_p w v_p / Σ_p V_p w of the
// particles as they are now, and the pressure of the last step's stress; particles have the
// pressure between nodes.
#include "linalg/tensor.h"
#include "record/record_impl.h"
#include "sand/cells.h"
#include <math.h>
#include <string.h>

// What a particle gives a node.
enum { SAND_VOLUME, SAND_MOMENTUM, SAND_SUMS = 4 };

struct tl_sand_nodes {
    tl_cells cells;
    int64_t *order;   // place among the particles, of each in the order they were added
    double *sum;      // by nodes: SAND_SUMS each
    double *pressure; // by nodes
    double *row;      // of a column on its way out
    int64_t *id;
    int32_t *place;
};

void tl_record_forget_sand(talus_recording *r) {
    tl_sand_nodes *g = r->nodes;
    if (!g) return;
    void *const owned[] = {g->order, g->sum, g->pressure, g->row, g->id, g->place};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(r->ctx, owned[k]);
    tl_cells_clear(r->ctx, &g->cells);
    tl_free(r->ctx, g);
    r->nodes = NULL;
}

static talus_status sand_begin(talus_recording *r, int32_t dim, const talus_sand_def *def) {
    if (r->nodes) return TALUS_OK;
    TL_TRY(TL_ALLOC(r->ctx, 1, &r->nodes));
    tl_cells *c = &r->nodes->cells;
    c->dim = dim;
    c->corners = dim == 2 ? 4 : 8;
    c->edge = def->cell;
    for (int k = 0; k < 3; k++) {
        c->origin[k] = k < dim ? def->origin[k] : 0.0;
        c->extent[k] = k < dim ? def->cells[k] : 1;
    }
    return TALUS_OK;
}

// Merge sort of the numbers of particles by their ids.
static talus_status sand_order(talus_recording *r, const talus_sand_view *v) {
    const int64_t count = v->count;
    TL_TRY(TL_RESERVE(r->ctx, 2 * count, &r->nodes->order));
    int64_t *from = r->nodes->order, *to = from + count;
    for (int64_t k = 0; k < count; k++) from[k] = k;
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t begin = 0; begin < count; begin += 2 * width) {
            const int64_t middle = begin + width < count ? begin + width : count;
            const int64_t end = middle + width < count ? middle + width : count;
            int64_t a = begin, b = middle;
            for (int64_t k = begin; k < end; k++)
                to[k] = b >= end || (a < middle && v->id[from[a]] <= v->id[from[b]]) ? from[a++]
                                                                                     : from[b++];
        }
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != r->nodes->order) memcpy(r->nodes->order, from, (size_t)count * sizeof *from);
    return TALUS_OK;
}

// Weights of the corners of the cell that holds x.
static void sand_weights(const tl_cells *c, const double x[3], double weight[TL_CORNERS]) {
    int32_t cell[3];
    double xi[3];
    const int dim = c->dim;
    TL_ASSUME(dim == 2 || dim == 3);
    tl_cells_locate(c, x, cell);
    for (int k = 0; k < 3; k++)
        xi[k] = fmin(1.0, fmax(0.0, (x[k] - c->origin[k]) / c->edge - cell[k]));
    for (int a = 0; a < c->corners; a++) {
        weight[a] = 1.0;
        for (int k = 0; k < dim; k++) weight[a] *= a >> k & 1 ? xi[k] : 1.0 - xi[k];
    }
}

// Cells, nodes and their sums.
static talus_status sand_gather(talus_recording *r, const talus_sand_view *v) {
    tl_sand_nodes *g = r->nodes;
    double weight[TL_CORNERS];
    TL_TRY(tl_cells_sort(r->ctx, &g->cells, 1, v->count, v->position));
    TL_TRY(tl_cells_build(r->ctx, &g->cells, v->count));
    TL_TRY(TL_RESERVE(r->ctx, SAND_SUMS * g->cells.nodes, &g->sum));
    memset(g->sum, 0, (size_t)(SAND_SUMS * g->cells.nodes) * sizeof *g->sum);
    for (int64_t c = 0; c < g->cells.count; c++)
        for (int64_t i = g->cells.cell_start[c]; i < g->cells.cell_start[c + 1]; i++) {
            const int64_t p = g->cells.order[i];
            const double *speed = v->velocity + 3 * p;
            sand_weights(&g->cells, v->position + 3 * p, weight);
            for (int a = 0; a < g->cells.corners; a++) {
                const int64_t node = g->cells.cell_node[c * g->cells.corners + a];
                const double part = v->volume[p] * weight[a];
                g->sum[node * SAND_SUMS + SAND_VOLUME] += part;
                for (int k = 0; k < 3; k++)
                    g->sum[node * SAND_SUMS + SAND_MOMENTUM + k] += part * speed[k];
            }
        }
    return TALUS_OK;
}

// A third (in 2D half) of the trace of the stress, compression positive.
static talus_status sand_pressures(talus_recording *r, int32_t dim, const talus_sand_view *v) {
    tl_sand_nodes *g = r->nodes;
    const int size = tl_tensor_size(dim);
    TL_TRY(TL_RESERVE(r->ctx, g->cells.nodes, &g->pressure));
    for (int64_t k = 0; k < g->cells.nodes; k++) g->pressure[k] = 0.0;
    for (int64_t k = 0; k < v->nodes; k++) {
        const int32_t node = tl_cells_find(&g->cells, v->node[k]);
        if (node >= 0) g->pressure[node] = tl_tensor_unit(dim) * v->node_stress[k * size];
    }
    return TALUS_OK;
}

// Rows of particles, in order.
static talus_status sand_column(talus_recording *r, int column, const talus_sand_view *v,
                                const double *values) {
    const int32_t width = tl_column_defs[column].width;
    tl_sand_nodes *g = r->nodes;
    if (!tl_record_has(r, column)) return TALUS_OK;
    TL_TRY(TL_RESERVE(r->ctx, v->count * width, &g->row));
    for (int64_t i = 0; i < v->count; i++)
        memcpy(g->row + i * width, values + g->order[i] * width, (size_t)width * sizeof *values);
    return tl_record_reals(r, column, v->count, g->row);
}

static talus_status sand_frames(talus_recording *r, const talus_sand_view *v) {
    static const int at[6] = {0, 4, 8, 1, 2, 5};
    tl_sand_nodes *g = r->nodes;
    if (!tl_record_has(r, TL_SAND_FRAME)) return TALUS_OK;
    TL_TRY(TL_RESERVE(r->ctx, 6 * v->count, &g->row));
    for (int64_t i = 0; i < v->count; i++)
        for (int k = 0; k < 6; k++) g->row[6 * i + k] = v->frame[9 * g->order[i] + at[k]];
    return tl_record_reals(r, TL_SAND_FRAME, v->count, g->row);
}

static talus_status sand_particle_pressures(talus_recording *r, const talus_sand_view *v) {
    tl_sand_nodes *g = r->nodes;
    double weight[TL_CORNERS];
    if (!tl_record_has(r, TL_SAND_PRESSURE)) return TALUS_OK;
    TL_TRY(TL_RESERVE(r->ctx, v->count, &g->row));
    for (int64_t i = 0; i < v->count; i++) {
        const double *x = v->position + 3 * g->order[i];
        int32_t cell[3];
        tl_cells_locate(&g->cells, x, cell);
        sand_weights(&g->cells, x, weight);
        g->row[i] = 0.0;
        for (int a = 0; a < g->cells.corners; a++) {
            const int32_t corner[3] = {cell[0] + (a & 1), cell[1] + (a >> 1 & 1),
                                       cell[2] + (a >> 2 & 1)};
            const int32_t node = tl_cells_find(&g->cells, tl_cells_key(corner));
            if (node >= 0) g->row[i] += weight[a] * g->pressure[node];
        }
    }
    return tl_record_reals(r, TL_SAND_PRESSURE, v->count, g->row);
}

static talus_status sand_particles(talus_recording *r, const talus_sand_view *v) {
    tl_sand_nodes *g = r->nodes;
    TL_TRY(TL_RESERVE(r->ctx, v->count, &g->id));
    for (int64_t i = 0; i < v->count; i++) g->id[i] = v->id[g->order[i]];
    TL_TRY(tl_record_append(r, TL_SAND_ID, v->count, g->id));
    TL_TRY(sand_column(r, TL_SAND_POSITION, v, v->position));
    TL_TRY(sand_column(r, TL_SAND_VELOCITY, v, v->velocity));
    TL_TRY(sand_column(r, TL_SAND_VOLUME, v, v->volume));
    TL_TRY(sand_frames(r, v));
    TL_TRY(sand_column(r, TL_SAND_INERTIAL, v, v->inertial));
    TL_TRY(sand_particle_pressures(r, v));
    TL_TRY(tl_record_append(r, TL_SAND_LOST, 1, &v->lost));
    return tl_record_append(r, TL_SAND_OFFSET, 1, &r->column[TL_SAND_POSITION].rows);
}

static talus_status sand_nodes(talus_recording *r) {
    tl_sand_nodes *g = r->nodes;
    const tl_cells *c = &g->cells;
    if (!tl_record_has(r, TL_NODE_PLACE)) return TALUS_OK;
    TL_TRY(TL_RESERVE(r->ctx, 3 * c->nodes, &g->place));
    for (int64_t i = 0; i < c->nodes; i++) tl_cells_at(c->node_key[i], g->place + 3 * i);
    TL_TRY(tl_record_append(r, TL_NODE_PLACE, c->nodes, g->place));
    TL_TRY(TL_RESERVE(r->ctx, 3 * c->nodes, &g->row));
    for (int64_t i = 0; i < c->nodes; i++) {
        double space = 1.0; // half of it is outside the box at a face
        for (int k = 0; k < c->dim; k++) {
            const int32_t at = g->place[3 * i + k];
            space *= c->edge * (at == 0 || at == c->extent[k] ? 0.5 : 1.0);
        }
        g->row[i] = g->sum[i * SAND_SUMS + SAND_VOLUME] / space;
    }
    TL_TRY(tl_record_reals(r, TL_NODE_FRACTION, c->nodes, g->row));
    TL_TRY(tl_record_reals(r, TL_NODE_PRESSURE, c->nodes, g->pressure));
    for (int64_t i = 0; i < c->nodes; i++) {
        const double *sum = g->sum + i * SAND_SUMS;
        for (int k = 0; k < 3; k++)
            g->row[3 * i + k] =
                sum[SAND_VOLUME] > 0.0 ? sum[SAND_MOMENTUM + k] / sum[SAND_VOLUME] : 0.0;
    }
    TL_TRY(tl_record_reals(r, TL_NODE_VELOCITY, c->nodes, g->row));
    return tl_record_append(r, TL_NODE_OFFSET, 1, &r->column[TL_NODE_PLACE].rows);
}

talus_status tl_record_sand(talus_recording *r, const talus_world *w) {
    const int32_t dim = talus_world_get_def(w).dim;
    talus_sand_view view;
    talus_sand_def def;
    if (!talus_world_sand_def(w, &def)) return TALUS_OK;
    talus_world_sand(w, &view);
    TL_TRY(sand_begin(r, dim, &def));
    TL_TRY(sand_order(r, &view));
    TL_TRY(sand_gather(r, &view));
    TL_TRY(sand_pressures(r, dim, &view));
    TL_TRY(sand_particles(r, &view));
    return sand_nodes(r);
}
