// SPDX-License-Identifier: Apache-2.0
// Velocities of the nodes before the stress acts: with gravity and, implicitly, viscosity,
//     (M + h A) v* = M (v + h g),    A_ij = η Σ_p V_p 2 D(w_i) : D(w_j),
// a stress 2 η D in the grains [η in Pa s; theory/sand]. By conjugate gradients with the diagonal
// as preconditioner. A is never stored: each product goes over the particles, cell by cell, then
// over the cells of each node.
#include "base/thread.h"
#include "base/vec3.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

#define VISCOSITY_TOLERANCE 1e-9 // of the first residual
enum { VISCOSITY_MOST = 2000 };  // products

typedef struct viscosity_product {
    tl_sand *m;
    double factor;   // h η
    const double *x; // NULL: the diagonal is wanted
    double *out;     // 3 for each node
} viscosity_product;

// What the particles of a cell give its corners: factor V 2 D(x) ∇w_a.
static void viscosity_cell(const viscosity_product *t, int64_t cell) {
    tl_sand *m = t->m;
    const int corners = m->cells.corners, dim = m->dim;
    const int32_t *node = m->cells.cell_node + cell * corners;
    double *out = m->viscous.cell + 3 * cell * corners;
    int32_t at[3];
    TL_ASSUME(dim == 2 || dim == 3);
    tl_cells_at(m->cells.cell_key[cell], at);
    memset(out, 0, (size_t)(3 * corners) * sizeof *out);
    for (int64_t i = m->cells.cell_start[cell]; i < m->cells.cell_start[cell + 1]; i++) {
        const int64_t p = m->cells.order[i];
        double weight[TL_CORNERS], slope[TL_CORNERS][3], gradient[9] = {0};
        const double volume = t->factor * m->grains.volume[p];
        tl_sand_weights(m, m->grains.x + 3 * p, at, weight, slope);
        if (!t->x) {
            for (int a = 0; a < corners; a++)
                for (int k = 0; k < dim; k++)
                    out[3 * a + k] +=
                        volume * (tl_dot3(slope[a], slope[a]) + slope[a][k] * slope[a][k]);
            continue;
        }
        for (int a = 0; a < corners; a++)
            for (int k = 0; k < dim; k++)
                for (int e = 0; e < dim; e++)
                    gradient[3 * k + e] += t->x[3 * (int64_t)node[a] + k] * slope[a][e];
        for (int a = 0; a < corners; a++)
            for (int k = 0; k < dim; k++)
                for (int e = 0; e < dim; e++)
                    out[3 * a + k] +=
                        volume * (gradient[3 * k + e] + gradient[3 * e + k]) * slope[a][e];
    }
}

static void viscosity_node(const viscosity_product *t, int64_t node) {
    const tl_sand *m = t->m;
    const int corners = m->cells.corners;
    const unsigned held = tl_sand_held(m, (int32_t)node);
    const double mass = m->def.density * m->node[node * TL_SUMS + TL_SUM_VOLUME];
    for (int k = 0; k < 3; k++) {
        double sum = t->x ? mass * t->x[3 * node + k] : mass;
        for (int c = 0; c < corners; c++) {
            const int64_t cell = m->cells.node_cell[node * corners + c];
            if (cell >= 0) sum += m->viscous.cell[3 * (cell * corners + c) + k];
        }
        t->out[3 * node + k] = held >> k & 1 ? 0.0 : sum;
    }
}

static void viscosity_work(void *arg, tl_team *team, int rank) {
    const viscosity_product *t = arg;
    int64_t begin, end;
    tl_share(t->m->cells.count, tl_team_size(team), rank, &begin, &end);
    for (int64_t i = begin; i < end; i++) viscosity_cell(t, i);
    tl_barrier(team);
    tl_share(t->m->cells.nodes, tl_team_size(team), rank, &begin, &end);
    for (int64_t i = begin; i < end; i++) viscosity_node(t, i);
}

// out = (M + h A) x, or its diagonal; 0 where a face holds the node.
static void viscosity_apply(tl_sand *m, const tl_step *step, const double *x, double *out) {
    viscosity_product t = {m, step->h * m->def.viscosity, x, out};
    tl_parallel(m->base.ctx, step->threads, viscosity_work, &t);
}

static double viscosity_dot(int64_t n, const double *x, const double *y) {
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}

talus_status tl_sand_reserve_viscous(tl_sand *m) {
    talus_context *ctx = m->base.ctx;
    tl_viscous *t = &m->viscous;
    double **const vector[] = {&t->diagonal, &t->residual, &t->direction, &t->product};
    if (m->cells.nodes > t->node_room) {
        const int64_t room = m->cells.nodes + m->cells.nodes / 8;
        for (int k = 0; k < 4; k++)
            TL_TRY(tl_realloc(ctx, 0, 3 * room, sizeof **vector[k], vector[k]));
        t->node_room = room;
    }
    if (m->cells.count > t->cell_room) {
        const int64_t room = m->cells.count + m->cells.count / 8;
        TL_TRY(tl_realloc(ctx, 0, 3 * room * m->cells.corners, sizeof *t->cell, &t->cell));
        t->cell_room = room;
    }
    return TALUS_OK;
}

// Conjugate gradients from v* = v + h g, which is in `next`.
static talus_status viscosity_solve(tl_sand *m, const tl_step *step) {
    tl_viscous *t = &m->viscous;
    const int64_t n = 3 * m->cells.nodes;
    double *x = m->next, first = 0.0, before = 0.0;
    viscosity_apply(m, step, NULL, t->diagonal);
    viscosity_apply(m, step, x, t->product);
    for (int64_t k = 0; k < n; k++) { // b − (M + h A) x with b = M x
        const double mass = m->def.density * m->node[k / 3 * TL_SUMS + TL_SUM_VOLUME];
        t->residual[k] = t->diagonal[k] > 0.0 ? mass * x[k] - t->product[k] : 0.0;
        t->direction[k] = 0.0;
    }
    for (int step_count = 0; step_count < VISCOSITY_MOST; step_count++) {
        double now = 0.0;
        for (int64_t k = 0; k < n; k++)
            if (t->diagonal[k] > 0.0) now += t->residual[k] * t->residual[k] / t->diagonal[k];
        if (step_count == 0) first = now;
        if (now <= VISCOSITY_TOLERANCE * VISCOSITY_TOLERANCE * first) return TALUS_OK;
        const double beta = step_count == 0 ? 0.0 : now / before;
        for (int64_t k = 0; k < n; k++)
            t->direction[k] = beta * t->direction[k] +
                              (t->diagonal[k] > 0.0 ? t->residual[k] / t->diagonal[k] : 0.0);
        viscosity_apply(m, step, t->direction, t->product);
        const double alpha = now / viscosity_dot(n, t->direction, t->product);
        for (int64_t k = 0; k < n; k++) {
            x[k] += alpha * t->direction[k];
            t->residual[k] -= alpha * t->product[k];
        }
        before = now;
    }
    return tl_fail(m->base.ctx, TALUS_ERR_PROBLEM,
                   "sand: the viscous step of %g s did not converge in %d iterations with a "
                   "viscosity of %g: make the step shorter",
                   step->h, (int)VISCOSITY_MOST, m->def.viscosity);
}

talus_status tl_sand_push(tl_sand *m, const tl_step *step) {
    for (int64_t i = 0; i < m->cells.nodes; i++) {
        const unsigned held = tl_sand_held(m, (int32_t)i);
        for (int k = 0; k < 3; k++)
            m->next[3 * i + k] = k >= m->dim || held >> k & 1
                                     ? 0.0
                                     : m->velocity[3 * i + k] + step->h * step->gravity[k];
    }
    if (m->def.viscosity > 0.0 || m->def.correction > 0.0) TL_TRY(tl_sand_reserve_viscous(m));
    return m->def.viscosity > 0.0 ? viscosity_solve(m, step) : TALUS_OK;
}

double tl_sand_viscous_work(const tl_sand *m, const tl_step *step, const double *before,
                            const double *after) {
    double sum = 0.0;
    if (!(m->def.viscosity > 0.0)) return 0.0;
    for (int64_t i = 0; i < m->cells.nodes; i++) {
        const double mass = m->def.density * m->node[i * TL_SUMS + TL_SUM_VOLUME];
        const unsigned held = tl_sand_held(m, (int32_t)i);
        for (int k = 0; k < m->dim; k++) {
            const int64_t at = i * m->dim + k;
            if (held >> k & 1) continue;
            const double impulse =
                mass * (m->next[3 * i + k] - before[at] - step->h * step->gravity[k]);
            sum += 0.5 * impulse * (before[at] + after[at]);
        }
    }
    return sum;
}
