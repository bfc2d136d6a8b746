// SPDX-License-Identifier: Apache-2.0
// Sand and bodies: a node in a body, or within half a cell of its surface, is a contact of the sand
// with it, under Coulomb's law,
//     u = R (v_node − v_body),    R the normal out of the body and tangents,
// so that what slides on a wall does so with the friction of the wall. Of the space of a node a
// body takes what a plane at its distance d would: with s = d/edge in [−1, 1] the weight of the
// node leaves ½ + s − s |s|/2 on the free side. The condition on velocities at nodes lets a
// particle drift into a body: at the end of a step it is put back on the surface.
#include "base/thread.h"
#include "base/vec3.h"
#include "linalg/tensor.h"
#include "sand/sand.h"
#include <math.h>
#include <stdlib.h>

#define GRIP_REACH 0.5 // cells from the surface
#define GRIP_FREE 1e-6 // square of the part of a normal along which a node can move

void tl_sand_node_place(const tl_sand *m, int32_t node, double x[3]) {
    int32_t at[3];
    tl_cells_at(m->cells.node_key[node], at);
    for (int k = 0; k < 3; k++)
        x[k] = k < m->dim ? m->cells.origin[k] + at[k] * m->cells.edge : 0.0;
}

static talus_status grip_add(tl_sand *m, int32_t node, const tl_obstacle *o,
                             const double normal[3]) {
    if (m->grips == m->grip_room) {
        const int64_t room = 2 * m->grip_room + 64;
        TL_TRY(tl_realloc(m->base.ctx, m->grips, room, sizeof *m->grip, &m->grip));
        m->grip_room = room;
    }
    tl_grip *g = m->grip + m->grips++;
    *g = (tl_grip){.node = node, .item = o->item, .friction = o->friction};
    tl_copy3(normal, g->normal);
    return TALUS_OK;
}

// Look at one node and one body.
static talus_status grip_look(tl_sand *m, const tl_collide *c, int32_t ball, const tl_obstacle *o,
                              int32_t node) {
    const double edge = m->cells.edge;
    double x[3];
    tl_touch t;
    tl_sand_node_place(m, node, x);
    if (!tl_collide_probe(c, ball, x, o->item, 0.0, &t)) return TALUS_OK;
    const double s = fmax(-1.0, t.gap / edge + 1.0); // the ball's radius is one cell
    m->taken[node] += 0.5 - s + 0.5 * s * fabs(s);
    if (s > GRIP_REACH || !(m->node[(int64_t)node * TL_SUMS] > 0.0)) return TALUS_OK;
    // where faces of the box hold the node along the normal, there is nothing left to hold
    const unsigned held = tl_sand_held(m, node);
    double free = 0.0;
    for (int k = 0; k < m->dim; k++)
        if (!(held >> k & 1)) free += t.normal[k] * t.normal[k];
    return free > GRIP_FREE ? grip_add(m, node, o, t.normal) : TALUS_OK;
}

// The nodes about a bounded body, by their keys.
static talus_status grip_about(tl_sand *m, const tl_collide *c, int32_t ball,
                               const tl_obstacle *o) {
    int32_t low[3] = {0}, high[3] = {0};
    for (int k = 0; k < m->dim; k++) {
        const double reach = o->extent + m->cells.edge, at = o->centre[k] - m->cells.origin[k];
        low[k] =
            (int32_t)fmax(0.0, fmin(m->cells.extent[k] + 1.0, ceil((at - reach) / m->cells.edge)));
        high[k] =
            (int32_t)fmax(-1.0, fmin(m->cells.extent[k], floor((at + reach) / m->cells.edge)));
    }
    for (int32_t z = low[2]; z <= high[2]; z++)
        for (int32_t y = low[1]; y <= high[1]; y++)
            for (int32_t x = low[0]; x <= high[0]; x++) {
                const int32_t at[3] = {x, y, z}, node = tl_cells_find(&m->cells, tl_cells_key(at));
                if (node >= 0) TL_TRY(grip_look(m, c, ball, o, node));
            }
    return TALUS_OK;
}

talus_status tl_sand_meet(tl_model *base, const tl_step *step, const tl_collide *c, int32_t ball,
                          const tl_obstacle *obstacle, int32_t count) {
    (void)step;
    tl_sand *m = (tl_sand *)base;
    m->grips = 0;
    for (int64_t i = 0; i < m->cells.nodes; i++) m->taken[i] = 0.0;
    for (int32_t k = 0; k < count; k++) {
        const tl_obstacle *o = obstacle + k;
        if (!isinf(o->extent)) {
            TL_TRY(grip_about(m, c, ball, o));
            continue;
        }
        for (int64_t i = 0; i < m->cells.nodes; i++) TL_TRY(grip_look(m, c, ball, o, (int32_t)i));
    }
    if (m->grips > m->held_room) { // what it holds is still needed
        TL_TRY(tl_realloc(base->ctx, m->held_count, m->grips, sizeof *m->held, &m->held));
        m->held_room = m->grips;
    }
    return TALUS_OK;
}

int32_t tl_sand_block_item(const tl_model *base, int32_t i, double point[3], double *direction) {
    const tl_sand *m = (const tl_sand *)base;
    const int64_t points = tl_sand_points(m);
    if (i < points) return -1;
    const tl_grip *g = m->grip + (i - points);
    double frame[9];
    tl_sand_node_place(m, g->node, point);
    tl_frame(m->dim, g->normal, frame);
    for (int k = 0; k < 3 * tl_tensor_size(m->dim); k++)
        direction[k] = k < 3 * m->dim ? frame[k] : 0.0;
    return g->item;
}

// ---- particles in bodies -----------------------------------------------------------------------

typedef struct grip_push {
    tl_sand *m;
    const tl_collide *c;
    int32_t ball, count;
    const tl_obstacle *obstacle;
} grip_push;

// Put one particle on the surface of a body that it is in, and back into the box.
static void grip_put_out(const grip_push *w, const tl_obstacle *o, double x[3]) {
    const tl_cells *g = &w->m->cells;
    double arm[3];
    tl_touch t;
    tl_sub3(x, o->centre, arm);
    if (!isinf(o->extent) && tl_dot3(arm, arm) > o->extent * o->extent) return;
    if (!tl_collide_probe(w->c, w->ball, x, o->item, 0.0, &t)) return;
    const double s = t.gap + g->edge; // the ball's radius is one cell
    if (!(s < 0.0)) return;
    tl_axpy3(x, -s, t.normal, x);
    tl_sand_clamp(w->m, x);
}

static void grip_push_work(void *arg, tl_team *team, int rank) {
    const grip_push *w = arg;
    int64_t begin, end;
    tl_share(w->m->grains.count, tl_team_size(team), rank, &begin, &end);
    for (int64_t p = begin; p < end; p++)
        for (int32_t k = 0; k < w->count; k++)
            grip_put_out(w, w->obstacle + k, w->m->grains.x + 3 * p);
}

void tl_sand_put_out(tl_sand *m, int threads, const tl_collide *c, int32_t ball,
                     const tl_obstacle *obstacle, int32_t count) {
    grip_push work = {.m = m, .c = c, .ball = ball, .obstacle = obstacle, .count = count};
    if (count > 0) tl_parallel(m->base.ctx, threads, grip_push_work, &work);
}

// ---- from step to step -------------------------------------------------------------------------

static int grip_compare(const void *a, const void *b) {
    const tl_held *x = a, *y = b;
    if (x->item != y->item) return x->item < y->item ? -1 : 1;
    return x->key == y->key ? 0 : x->key < y->key ? -1 : 1;
}

void tl_sand_grip_start(const tl_sand *m, const tl_step *step, double *r) {
    const int size = tl_tensor_size(m->dim);
    TL_ASSUME(m->dim == 2 || m->dim == 3);
    for (int64_t i = 0; i < m->grips; i++) {
        const tl_grip *g = m->grip + i;
        const tl_held wanted = {.key = m->cells.node_key[g->node], .item = g->item};
        const tl_held *old = m->held_count == 0 ? NULL
                                                : bsearch(&wanted, m->held, (size_t)m->held_count,
                                                          sizeof wanted, grip_compare);
        double frame[9];
        tl_frame(m->dim, g->normal, frame);
        for (int k = 0; k < size; k++)
            r[i * size + k] =
                old && k < m->dim ? step->h * tl_dot3(frame + 3 * (ptrdiff_t)k, old->impulse) : 0.0;
    }
}

void tl_sand_grip_take(tl_sand *m, const tl_step *step, const double *r) {
    const int size = tl_tensor_size(m->dim);
    for (int64_t i = 0; i < m->grips; i++) {
        const tl_grip *g = m->grip + i;
        tl_held *to = m->held + i;
        double frame[9];
        tl_frame(m->dim, g->normal, frame);
        *to = (tl_held){.key = m->cells.node_key[g->node], .item = g->item};
        TL_ASSUME(m->dim == 2 || m->dim == 3);
        for (int k = 0; k < m->dim; k++)
            tl_axpy3(to->impulse, r[i * size + k] / step->h, frame + 3 * (ptrdiff_t)k, to->impulse);
    }
    m->held_count = m->grips;
    if (m->held_count > 0) qsort(m->held, (size_t)m->held_count, sizeof *m->held, grip_compare);
}
