// SPDX-License-Identifier: Apache-2.0
// Room for sand that has come out too dense. A step closes up no further than the densest, to first
// order in its length; what goes beyond adds up. The smallest displacement δ of the nodes, by mass,
// that gives a share of the excess back,
//     min ½ δ·M δ  such that  B δ >= s,    B_ij = Σ_p V_p w_i ∇w_j,
//     s_i = share × (m_i − φmax V_i) where that is positive, and m_i − φmax V_i where it is not,
// moves the particles and not their velocities: nothing is blown apart. With δ = M⁻¹ Bᵀ p it is the
// problem of p >= 0 with the matrix B M⁻¹ Bᵀ, and a few accelerated projected gradients will do, as
// the next step goes on. Rows are scaled by the row sums D of |B| M⁻¹ |B|ᵀ, so that a step of 1 is
// safe.
#include "base/thread.h"
#include "base/vec3.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

enum { ROOM_STEPS = 30 };
#define ROOM_MOVE 0.1 // cells, at most

typedef struct room_product {
    tl_sand *m;
    const double *p; // of each node
    double *delta;   // 3 of each node: M⁻¹ Bᵀ p
    double *out;     // of each node: B δ
    bool sizes;      // of |B| in place of B
} room_product;

// A share of Bᵀ p: what cell gives its corners.
static void room_back_cell(const room_product *t, int64_t cell) {
    const tl_sand *m = t->m;
    const int corners = m->cells.corners, dim = m->dim;
    const double *rate = m->rate + cell * corners * corners * dim;
    const int32_t *node = m->cells.cell_node + cell * corners;
    double *out = m->viscous.cell + 3 * cell * corners;
    memset(out, 0, (size_t)(3 * corners) * sizeof *out);
    for (int a = 0; a < corners; a++) {
        const double p = t->p[node[a]];
        if (p == 0.0) continue;
        for (int b = 0; b < corners; b++)
            for (int k = 0; k < dim; k++) {
                const double r = rate[(a * corners + b) * dim + k];
                out[3 * b + k] += p * (t->sizes ? fabs(r) : r);
            }
    }
}

static double room_sum(const tl_sand *m, int64_t node, int k) {
    const int corners = m->cells.corners;
    double sum = 0.0;
    for (int c = 0; c < corners; c++) {
        const int64_t cell = m->cells.node_cell[node * corners + c];
        if (cell >= 0) sum += m->viscous.cell[3 * (cell * corners + c) + k];
    }
    return sum;
}

static void room_back_node(const room_product *t, int64_t node) {
    const tl_sand *m = t->m;
    const unsigned held = tl_sand_held(m, (int32_t)node);
    const double volume = m->node[node * TL_SUMS + TL_SUM_VOLUME];
    const bool moves = volume > 0.0 && m->viscous.product[node] == 0.0;
    for (int k = 0; k < 3; k++)
        t->delta[3 * node + k] =
            moves && k < m->dim && !(held >> k & 1) ? room_sum(m, node, k) / volume : 0.0;
}

// A share of B δ.
static void room_cell(const room_product *t, int64_t cell) {
    const tl_sand *m = t->m;
    const int corners = m->cells.corners, dim = m->dim;
    const double *rate = m->rate + cell * corners * corners * dim;
    const int32_t *node = m->cells.cell_node + cell * corners;
    double *out = m->viscous.cell + 3 * cell * corners;
    for (int a = 0; a < corners; a++) {
        double sum = 0.0;
        for (int b = 0; b < corners; b++)
            for (int k = 0; k < dim; k++) {
                const double r = rate[(a * corners + b) * dim + k];
                sum += (t->sizes ? fabs(r) : r) * t->delta[3 * (int64_t)node[b] + k];
            }
        out[3 * a] = sum;
    }
}

static void room_work(void *arg, tl_team *team, int rank) {
    const room_product *t = arg;
    const int size = tl_team_size(team);
    int64_t cell, cells, node, nodes;
    tl_share(t->m->cells.count, size, rank, &cell, &cells);
    tl_share(t->m->cells.nodes, size, rank, &node, &nodes);
    for (int64_t i = cell; i < cells; i++) room_back_cell(t, i);
    tl_barrier(team);
    for (int64_t i = node; i < nodes; i++) room_back_node(t, i);
    tl_barrier(team);
    for (int64_t i = cell; i < cells; i++) room_cell(t, i);
    tl_barrier(team);
    for (int64_t i = node; i < nodes; i++) t->out[i] = room_sum(t->m, i, 0);
}

static void room_apply(tl_sand *m, int threads, const double *p, double *delta, double *out,
                       bool sizes) {
    room_product t = {.m = m, .p = p, .delta = delta, .out = out, .sizes = sizes};
    tl_parallel(m->base.ctx, threads, room_work, &t);
}

// s of each node; false: nothing is too dense.
static bool room_wanted(const tl_sand *m, double *s) {
    bool any = false;
    for (int64_t i = 0; i < m->cells.nodes; i++) {
        const double volume = m->node[i * TL_SUMS + TL_SUM_VOLUME];
        const double excess = volume - m->def.fraction * tl_sand_space(m, (int32_t)i);
        s[i] = excess > 0.0 ? m->def.correction * excess : excess;
        any = any || excess > 0.0;
    }
    return any;
}

bool tl_sand_make_room(tl_sand *m, const tl_step *step) {
    const int64_t n = m->cells.nodes;
    tl_viscous *t = &m->viscous;
    // vectors of n: p and its last value, rows; `product` marks nodes that bodies hold
    double *p = t->residual, *last = p + n, *s = last + n;
    double *scale = t->direction, *bd = scale + n, *y = bd + n;
    if (!(m->def.correction > 0.0) || !room_wanted(m, s)) return false;
    memset(t->product, 0, (size_t)n * sizeof *t->product);
    for (int64_t i = 0; i < m->grips; i++) t->product[m->grip[i].node] = 1.0;
    for (int64_t i = 0; i < n; i++) y[i] = 1.0;
    room_apply(m, step->threads, y, t->diagonal, scale, true);
    memset(p, 0, (size_t)n * sizeof *p);
    memset(last, 0, (size_t)n * sizeof *last);
    memset(y, 0, (size_t)n * sizeof *y);
    double momentum = 1.0;
    for (int k = 0; k < ROOM_STEPS; k++) {
        const double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * momentum * momentum));
        const double beta = (momentum - 1.0) / next;
        momentum = next;
        room_apply(m, step->threads, y, t->diagonal, bd, false);
        for (int64_t i = 0; i < n; i++) {
            last[i] = p[i];
            p[i] = scale[i] > 0.0 ? fmax(0.0, y[i] - (bd[i] - s[i]) / scale[i]) : 0.0;
            y[i] = fmax(0.0, p[i] + beta * (p[i] - last[i]));
        }
    }
    room_apply(m, step->threads, p, t->diagonal, bd, false);
    const double most = ROOM_MOVE * m->cells.edge;
    for (int64_t k = 0; k < 3 * n; k++) t->diagonal[k] = fmin(fmax(t->diagonal[k], -most), most);
    return true;
}
