// SPDX-License-Identifier: Apache-2.0
// The blocks of the friction problem that sand brings along: one per node, for the stress there.
#include "base/vec3.h"
#include "sand/sand.h"
#include "sand/tensor.h"
#include <math.h>
#include <string.h>

static const tl_sand *stress_of(const tl_model *m) { return (const tl_sand *)m; }

enum { STRESS_STENCIL = 27 }; // nodes that share a cell with a node, itself among them

int32_t tl_sand_block_count(const tl_model *m) {
    return (int32_t)(stress_of(m)->cells.nodes + stress_of(m)->grips);
}

// The nodes that share a cell with node i, ascending, and Σ_p V_p w_i ∇w_j of each.
typedef struct stress_row {
    int32_t count;
    int32_t node[STRESS_STENCIL];
    double rate[STRESS_STENCIL][3];
} stress_row;

static void stress_get_row(const tl_sand *m, int32_t i, stress_row *out) {
    const int corners = m->cells.corners, dim = m->dim;
    out->count = 0;
    for (int a = 0; a < corners; a++) {
        const int64_t cell = m->cells.node_cell[(int64_t)i * corners + a];
        if (cell < 0) continue;
        for (int b = 0; b < corners; b++) {
            const int32_t node = m->cells.cell_node[cell * corners + b];
            const double *rate = m->rate + ((cell * corners + a) * corners + b) * dim;
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
    }
}

int32_t tl_sand_block_groups(const tl_model *base, int32_t i, int32_t *group) {
    const tl_sand *m = stress_of(base);
    if (i >= m->cells.nodes) { // a grip: its node, and its idle group, which has its number
        group[0] = m->grip[i - m->cells.nodes].node;
        group[1] = i;
        return 2;
    }
    stress_row row;
    stress_get_row(m, i, &row);
    memcpy(group, row.node, (size_t)row.count * sizeof *group);
    return row.count;
}

double tl_sand_space(const tl_sand *m, int32_t i) {
    int32_t at[3];
    double space = 1.0;
    TL_ASSUME(m->dim == 2 || m->dim == 3);
    tl_cells_at(m->cells.node_key[i], at);
    for (int k = 0; k < m->dim; k++)
        space *= m->cells.edge * (at[k] == 0 || at[k] == m->cells.extent[k] ? 0.5 : 1.0);
    return space * fmax(0.0, 1.0 - m->taken[i]);
}

// √(2/dim) times what the stress sees: μ(I) of Pouliquen, Forterre, Jop.
static double stress_friction(const tl_sand *m, double inertial) {
    const talus_sand_def *d = &m->def;
    double mu = d->friction;
    if (d->diameter > 0.0 && inertial > 0.0)
        mu += (d->friction_flow - d->friction) / (1.0 + d->inertial / inertial);
    return tl_tensor_unit(m->dim) * mu;
}

// Cohesion acts where the sand is dense: it comes in over the last thousandth below φmax, lest what
// flies apart attract itself.
static double stress_bond(const tl_sand *m, double filled) {
    const double t = (filled - 0.999) / 0.001;
    return m->def.cohesion * (t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t);
}

// A grip: u = R v of its node; the rows below act on its idle group.
static void stress_fill_grip(const tl_sand *m, const tl_grip *g, double *h, double *w,
                             tl_block_law *law) {
    const int dim = m->dim, size = tl_tensor_size(dim), idle = size - dim;
    const unsigned held = tl_sand_held(m, g->node);
    double frame[9];
    tl_frame(m->dim, g->normal, frame);
    for (int k = 0; k < size; k++) {
        w[k] = 0.0;
        for (int e = 0; e < dim; e++)
            h[k * dim + e] = k < dim && !(held >> e & 1) ? frame[3 * k + e] : 0.0;
        for (int e = 0; e < idle; e++) h[size * dim + k * idle + e] = k == dim + e;
    }
    *law = (tl_block_law){.mu = g->friction};
}

void tl_sand_block_fill(const tl_model *base, const tl_step *step, int32_t i, double *h, double *w,
                        tl_block_law *law) {
    const tl_sand *m = stress_of(base);
    if (i >= m->cells.nodes) {
        stress_fill_grip(m, m->grip + (i - m->cells.nodes), h, w, law);
        return;
    }
    const int dim = m->dim, size = tl_tensor_size(dim);
    const double *sum = m->node + (int64_t)i * TL_SUMS, volume = sum[TL_SUM_VOLUME];
    const double room = m->def.fraction * tl_sand_space(m, i);
    stress_row row;
    stress_get_row(m, i, &row);
    for (int32_t e = 0; e < row.count; e++) {
        double *block = h + (int64_t)e * size * dim;
        const unsigned held = tl_sand_held(m, row.node[e]);
        tl_tensor_rate(dim, row.rate[e], block);
        for (int k = 0; k < dim; k++)
            for (int r = 0; held >> k & 1 && r < size; r++) block[r * dim + k] = 0.0;
    }
    for (int k = 0; k < size; k++) w[k] = 0.0;
    w[0] = tl_tensor_unit(dim) * fmax(0.0, room - volume) / step->h;
    const double inverse = volume > 0.0 ? 1.0 / volume : 0.0;
    law->mu = stress_friction(m, sum[TL_SUM_INERTIAL] * inverse);
    law->tension =
        step->h * stress_bond(m, volume / room) * sum[TL_SUM_BOND] * inverse / tl_tensor_unit(dim);
}

// Nodes of both steps are numbered as cells in ascending order meet them, so that a walk along the
// old ones would not do: the table of the new ones is asked for each old one.
void tl_sand_block_start(const tl_model *base, const tl_step *step, double *r) {
    const tl_sand *m = stress_of(base);
    const int size = tl_tensor_size(m->dim);
    memset(r, 0, (size_t)m->cells.nodes * (size_t)size * sizeof *r);
    for (int64_t k = 0; k < m->stress_count; k++) {
        const int32_t node = tl_cells_find(&m->cells, m->stress_key[k]);
        if (node < 0) continue;
        for (int e = 0; e < size; e++)
            r[(int64_t)node * size + e] = step->h * m->stress[k * size + e];
    }
    tl_sand_grip_start(m, step, r + m->cells.nodes * size);
}

void tl_sand_block_take(tl_model *base, const tl_step *step, const double *r) {
    tl_sand *m = (tl_sand *)base;
    const int size = tl_tensor_size(m->dim);
    m->stress_count = m->cells.nodes;
    memcpy(m->stress_key, m->cells.node_key, (size_t)m->stress_count * sizeof *m->stress_key);
    for (int64_t k = 0; k < m->stress_count * size; k++) m->stress[k] = r[k] / step->h;
    tl_sand_grip_take(m, step, r + m->cells.nodes * size);
}
