// SPDX-License-Identifier: Apache-2.0
// The state of the sand, and what a step asks of it as a model.
#include "sand/sand.h"
#include "base/vec3.h"
#include "linalg/tensor.h"
#include <math.h>
#include <string.h>

static const tl_sand *sand_of(const tl_model *m) { return (const tl_sand *)m; }

// ---- making it ---------------------------------------------------------------------------------

static talus_status sand_check(talus_context *ctx, int32_t dim, const talus_sand_def *d) {
    const int32_t most = (1 << TL_CELLS_BITS) - 2;
    TL_REQUIRE(ctx, d->cell > 0.0 && isfinite(d->cell), TALUS_ERR_ARG,
               "sand: cell is %g, the edge of a grid cell must be > 0 [m]", d->cell);
    for (int k = 0; k < dim; k++) {
        TL_REQUIRE(ctx, d->cells[k] >= 1 && d->cells[k] <= most, TALUS_ERR_ARG,
                   "sand: %d cells along axis %c, must be in [1, %d]", d->cells[k], 'x' + k, most);
        TL_REQUIRE(ctx, isfinite(d->origin[k]), TALUS_ERR_ARG, "sand: origin is not finite");
        for (int side = 0; side < 2; side++)
            TL_REQUIRE(ctx, d->face[k][side] <= TALUS_FACE_FREE, TALUS_ERR_ARG,
                       "sand: face of axis %c: no kind %d", 'x' + k, (int)d->face[k][side]);
    }
    TL_REQUIRE(ctx, d->height >= 0.0 && isfinite(d->height), TALUS_ERR_ARG,
               "sand: height is %g, must be >= 0 [m]", d->height);
    TL_REQUIRE(ctx, d->density > 0.0 && isfinite(d->density), TALUS_ERR_ARG,
               "sand: density is %g, must be > 0", d->density);
    TL_REQUIRE(ctx, d->fraction > 0.0 && d->fraction <= 1.0, TALUS_ERR_ARG,
               "sand: fraction is %g, the densest must be in (0, 1]", d->fraction);
    TL_REQUIRE(ctx, d->friction >= 0.0 && isfinite(d->friction), TALUS_ERR_ARG,
               "sand: friction is %g, must be >= 0", d->friction);
    TL_REQUIRE(ctx, d->diameter >= 0.0 && isfinite(d->diameter), TALUS_ERR_ARG,
               "sand: diameter is %g, must be >= 0 [m]", d->diameter);
    TL_REQUIRE(
        ctx, d->diameter == 0.0 || (d->friction_flow >= d->friction && isfinite(d->friction_flow)),
        TALUS_ERR_ARG, "sand: friction_flow is %g, must be at least friction, %g", d->friction_flow,
        d->friction);
    TL_REQUIRE(ctx, d->diameter == 0.0 || (d->inertial > 0.0 && isfinite(d->inertial)),
               TALUS_ERR_ARG, "sand: inertial is %g, must be > 0", d->inertial);
    TL_REQUIRE(ctx, d->cohesion >= 0.0 && isfinite(d->cohesion), TALUS_ERR_ARG,
               "sand: cohesion is %g, must be >= 0 [Pa]", d->cohesion);
    TL_REQUIRE(ctx, d->debonding >= 0.0 && isfinite(d->debonding), TALUS_ERR_ARG,
               "sand: debonding is %g, must be >= 0", d->debonding);
    TL_REQUIRE(ctx, d->viscosity >= 0.0 && isfinite(d->viscosity), TALUS_ERR_ARG,
               "sand: viscosity is %g, must be >= 0 [Pa s]", d->viscosity);
    TL_REQUIRE(ctx, d->correction >= 0.0 && d->correction <= 1.0, TALUS_ERR_ARG,
               "sand: correction is %g, must be in [0, 1]", d->correction);
    TL_REQUIRE(ctx, d->anisotropy >= 0.0 && d->anisotropy < 1.0, TALUS_ERR_ARG,
               "sand: anisotropy is %g, must be in [0, 1)", d->anisotropy);
    TL_REQUIRE(ctx, d->elongation >= -1.0 && d->elongation <= 1.0, TALUS_ERR_ARG,
               "sand: elongation is %g, must be in [-1, 1]", d->elongation);
    TL_REQUIRE(ctx, d->disorder >= 0.0 && isfinite(d->disorder), TALUS_ERR_ARG,
               "sand: disorder is %g, must be >= 0", d->disorder);
    for (int k = 0; k < dim; k++)
        TL_REQUIRE(ctx, d->normals[k] >= 0.0 && isfinite(d->normals[k]), TALUS_ERR_ARG,
                   "sand: normals along %c are %g, must be >= 0", 'x' + k, d->normals[k]);
    TL_REQUIRE(ctx, d->packed <= TALUS_PACKED_ALL, TALUS_ERR_ARG, "sand: packed has no kind %d",
               (int)d->packed);
    TL_REQUIRE(ctx, d->stress <= TALUS_STRESS_PARTICLE, TALUS_ERR_ARG, "sand: no stress space %d",
               (int)d->stress);
    TL_REQUIRE(ctx, d->transfer <= TALUS_TRANSFER_FLIP, TALUS_ERR_ARG, "sand: no transfer %d",
               (int)d->transfer);
    return TALUS_OK;
}

talus_status tl_sand_create(talus_context *ctx, int32_t dim, const talus_sand_def *def,
                            tl_sand **out) {
    *out = NULL;
    TL_TRY(sand_check(ctx, dim, def));
    tl_sand *m;
    TL_TRY(TL_ALLOC(ctx, 1, &m));
    *m = (tl_sand){.base = {.ops = &tl_sand_ops, .ctx = ctx}, .dim = dim, .def = *def};
    m->cells.dim = dim;
    m->cells.corners = dim == 2 ? 4 : 8;
    m->cells.edge = def->cell;
    m->grains.orient_width = def->anisotropy > 0.0 ? 9 : 0;
    m->grains.stress_width = def->stress == TALUS_STRESS_PARTICLE ? tl_tensor_size(dim) : 0;
    for (int k = 0; k < 3; k++) {
        m->cells.origin[k] = k < dim ? def->origin[k] : 0.0;
        m->cells.extent[k] = k < dim ? def->cells[k] : 1;
    }
    *out = m;
    return TALUS_OK;
}

static void sand_destroy(tl_model *base) {
    tl_sand *m = (tl_sand *)base;
    talus_context *ctx = base->ctx;
    tl_grains *g = &m->grains;
    void *const owned[] = {g->id,
                           g->x,
                           g->v,
                           g->gradient,
                           g->volume,
                           g->frame,
                           g->inertial,
                           g->bond,
                           g->orient,
                           g->stress,
                           m->orient_sums,
                           m->orient_node,
                           m->point,
                           m->corner_key,
                           m->corner,
                           m->scratch,
                           m->node,
                           m->velocity,
                           m->next,
                           m->sums,
                           m->rate,
                           m->stress_key,
                           m->stress,
                           m->taken,
                           m->grip,
                           m->held,
                           m->viscous.diagonal,
                           m->viscous.residual,
                           m->viscous.direction,
                           m->viscous.product,
                           m->viscous.cell};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    tl_cells_clear(ctx, &m->cells);
    tl_free(ctx, m);
}

void tl_sand_arrays(tl_grains *g, double **array[TL_GRAIN_ARRAYS], int width[TL_GRAIN_ARRAYS]) {
    double **const all[] = {&g->x,        &g->v,    &g->gradient, &g->volume, &g->frame,
                            &g->inertial, &g->bond, &g->orient,   &g->stress};
    const int widths[] = {3, 3, 9, 1, 9, 1, 1, g->orient_width, g->stress_width};
    for (int k = 0; k < TL_GRAIN_ARRAYS; k++) {
        array[k] = all[k];
        width[k] = widths[k];
    }
}

talus_status tl_sand_reserve_grains(tl_sand *m, int64_t need) {
    tl_grains *g = &m->grains;
    if (need <= g->room) return TALUS_OK;
    const int64_t room = need + need / 2;
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    tl_sand_arrays(g, array, width);
    TL_TRY(tl_realloc(m->base.ctx, g->count, room, sizeof *g->id, &g->id));
    for (int k = 0; k < TL_GRAIN_ARRAYS; k++)
        if (width[k] > 0)
            TL_TRY(tl_realloc(m->base.ctx, g->count * width[k], room * width[k], sizeof **array[k],
                              array[k]));
    g->room = room;
    return TALUS_OK;
}

talus_status tl_sand_add(tl_sand *m, const double x[3], const double v[3], double volume,
                         double size) {
    tl_grains *g = &m->grains;
    for (int k = 0; k < m->dim; k++) {
        const double low = m->cells.origin[k], high = low + m->cells.extent[k] * m->cells.edge;
        TL_REQUIRE(m->base.ctx, x[k] >= low && x[k] <= high, TALUS_ERR_ARG,
                   "sand: particle %lld is at %c = %g, outside its box, which goes from %g to %g",
                   (long long)m->added, 'x' + k, x[k], low, high);
        TL_REQUIRE(m->base.ctx, isfinite(v[k]), TALUS_ERR_ARG,
                   "sand: the velocity of particle %lld is not finite", (long long)m->added);
    }
    TL_REQUIRE(m->base.ctx, volume > 0.0 && isfinite(volume) && size > 0.0 && isfinite(size),
               TALUS_ERR_ARG, "sand: particle %lld has volume %g and size %g, must be > 0",
               (long long)m->added, volume, size);
    TL_TRY(tl_sand_reserve_grains(m, g->count + 1));
    const int64_t i = g->count++;
    g->id[i] = m->added++;
    for (int k = 0; k < 3; k++) {
        g->x[3 * i + k] = k < m->dim ? x[k] : 0.0;
        g->v[3 * i + k] = k < m->dim ? v[k] : 0.0;
    }
    for (int k = 0; k < 9; k++) {
        g->gradient[9 * i + k] = 0.0;
        g->frame[9 * i + k] = k % 4 == 0 && k / 4 < m->dim ? 0.25 * size * size : 0.0;
    }
    g->volume[i] = volume;
    g->inertial[i] = 0.0;
    g->bond[i] = 1.0;
    double normals = 0.0;
    for (int k = 0; k < m->dim; k++) normals += m->def.normals[k];
    for (int k = 0; k < g->orient_width; k++)
        g->orient[9 * i + k] = k % 4 != 0 || k / 4 >= m->dim ? 0.0
                               : normals > 0.0               ? m->def.normals[k / 4] / normals
                                                             : 1.0 / m->dim;
    for (int k = 0; k < g->stress_width; k++) g->stress[i * g->stress_width + k] = 0.0;
    m->tallied = false;
    return TALUS_OK;
}

// ---- the model ---------------------------------------------------------------------------------

static int32_t sand_item_count(const tl_model *m) {
    (void)m;
    return 0;
}

static double sand_speed(const tl_model *base, const tl_step *step) {
    const tl_sand *m = sand_of(base);
    double most = 0.0;
    for (int64_t i = 0; i < m->grains.count; i++) {
        double v[3];
        tl_axpy3(m->grains.v + 3 * i, step->h, step->gravity, v);
        const double now = tl_dot3(m->grains.v + 3 * i, m->grains.v + 3 * i), then = tl_dot3(v, v);
        most = TL_MAX(most, TL_MAX(now, then));
    }
    return sqrt(most);
}

static double sand_step_limit(const tl_model *base, const tl_step *step, double max_move) {
    const double speed = sand_speed(base, step);
    return speed * step->h > max_move ? max_move / speed : step->h;
}

// Nothing of the sand is an item: no surface moves.
static double sand_surface_speed(const tl_model *m, const tl_step *step, bool slip) {
    (void)m, (void)step, (void)slip;
    return 0.0;
}

static talus_status sand_reserve_step(tl_sand *m) {
    talus_context *ctx = m->base.ctx;
    const tl_cells *g = &m->cells;
    if (g->nodes + 1 > m->node_room) {
        const int64_t room = g->nodes + g->nodes / 8 + 1;
        TL_TRY(tl_realloc(ctx, 0, room * TL_SUMS, sizeof *m->node, &m->node));
        TL_TRY(tl_realloc(ctx, 0, room * 3, sizeof *m->velocity, &m->velocity));
        TL_TRY(tl_realloc(ctx, 0, room * 3, sizeof *m->next, &m->next));
        TL_TRY(tl_realloc(ctx, 0, room, sizeof *m->taken, &m->taken));
        if (m->grains.orient_width > 0)
            TL_TRY(tl_realloc(ctx, 0, room * 9, sizeof *m->orient_node, &m->orient_node));
        m->node_room = room;
    }
    if (g->nodes + 1 > m->stress_room) { // what it holds is still needed
        const int64_t room = g->nodes + g->nodes / 8 + 1, size = tl_tensor_size(m->dim);
        TL_TRY(tl_realloc(ctx, m->stress_count, room, sizeof *m->stress_key, &m->stress_key));
        TL_TRY(tl_realloc(ctx, m->stress_count * size, room * size, sizeof *m->stress, &m->stress));
        m->stress_room = room;
    }
    if (g->count + 1 > m->cell_room) {
        const int64_t room = g->count + g->count / 8 + 1, corners = g->corners;
        TL_TRY(tl_realloc(ctx, 0, room * corners * TL_SUMS, sizeof *m->sums, &m->sums));
        TL_TRY(tl_realloc(ctx, 0, room * corners * corners * m->dim, sizeof *m->rate, &m->rate));
        if (m->grains.orient_width > 0)
            TL_TRY(tl_realloc(ctx, 0, room * corners * 9, sizeof *m->orient_sums, &m->orient_sums));
        m->cell_room = room;
    }
    return tl_sand_reserve_points(m);
}

static talus_status sand_place(tl_model *base, const tl_step *step, tl_pose *pose) {
    (void)pose; // there are no items
    tl_sand *m = (tl_sand *)base;
    const tl_grains *g = &m->grains;
    // room for as many splits as there may be in one step
    if (m->def.resample) TL_TRY(tl_sand_reserve_grains(m, g->count + g->count / 4 + 16));
    TL_TRY(tl_sand_reserve_order(m));
    if (!m->tallied) tl_sand_tally(m, step->threads); // of the particles as they lie
    TL_TRY(tl_sand_order(m, step->threads));
    TL_TRY(tl_cells_build(base->ctx, &m->cells, g->count));
    TL_TRY(sand_reserve_step(m));
    tl_sand_gather(m, step);
    return tl_sand_push(m, step);
}

// A group for each node, and one for each grip.
static int32_t sand_group_count(const tl_model *m) {
    return (int32_t)(sand_of(m)->cells.nodes + sand_of(m)->grips);
}

static void sand_groups(const tl_model *m, int32_t *size, int32_t *group_of) {
    (void)group_of; // there are no items
    const tl_sand *s = sand_of(m);
    for (int32_t i = 0; i < sand_group_count(m); i++)
        size[i] = i < s->cells.nodes ? s->dim : tl_tensor_size(s->dim) - s->dim;
}

static bool sand_is_diagonal(const tl_model *m) {
    (void)m;
    return true;
}

static void sand_motion(const tl_model *base, const tl_step *step, bool diagonal, double *mass,
                        double *f, double *v) {
    (void)step; // `place` has seen it
    const tl_sand *m = sand_of(base);
    const int dim = m->dim;
    for (int64_t i = 0; i < m->cells.nodes; i++) {
        const unsigned held = tl_sand_held(m, (int32_t)i);
        const double own = m->def.density * m->node[i * TL_SUMS + TL_SUM_VOLUME];
        for (int k = 0; k < dim; k++) {
            const bool moves = !(held >> k & 1);
            v[i * dim + k] = moves ? m->velocity[3 * i + k] : 0.0;
            f[i * dim + k] = own * m->next[3 * i + k];
            if (diagonal)
                mass[i * dim + k] = own;
            else
                for (int e = 0; e < dim; e++) mass[(i * dim + k) * dim + e] = e == k ? own : 0.0;
        }
    }
    // Idle unknowns are as heavy as the node: W_ii is about the same in all rows then.
    const int idle = tl_tensor_size(dim) - dim;
    const int64_t first = m->cells.nodes * dim;
    if (!diagonal) mass += first * dim;
    for (int64_t i = 0; i < m->grips; i++)
        for (int k = 0; k < idle; k++) {
            const double own =
                m->def.density * m->node[m->grip[i].node * (int64_t)TL_SUMS + TL_SUM_VOLUME];
            f[first + i * idle + k] = v[first + i * idle + k] = 0.0;
            if (diagonal)
                mass[first + i * idle + k] = own;
            else
                for (int e = 0; e < idle; e++) mass[(i * idle + k) * idle + e] = e == k ? own : 0.0;
        }
}

// Contacts never ask for rows: there are no items.
static void sand_row(const tl_model *m, const tl_step *step, int32_t item, const tl_pose *pose,
                     const double arm[3], const double *direction, int32_t count, double *out) {
    (void)m, (void)step, (void)item, (void)pose, (void)arm, (void)direction, (void)count, (void)out;
}

static void sand_turn(const tl_model *m, const tl_step *step, int32_t item, const tl_pose *pose,
                      const double *direction, int32_t count, double *out) {
    (void)m, (void)step, (void)item, (void)pose, (void)direction, (void)count, (void)out;
}

static double sand_work(const tl_model *m, const tl_step *step, const double *before,
                        const double *after) {
    return tl_sand_viscous_work(sand_of(m), step, before, after);
}

static void sand_commit(tl_model *base, const tl_step *step, const double *v) {
    tl_sand *m = (tl_sand *)base;
    for (int64_t i = 0; i < m->cells.nodes; i++)
        for (int k = 0; k < 3; k++) m->next[3 * i + k] = k < m->dim ? v[i * m->dim + k] : 0.0;
    tl_sand_move(m, step, tl_sand_make_room(m, step) ? m->viscous.diagonal : NULL);
}

static void sand_settle(tl_model *base, const tl_step *step, const tl_collide *c, int32_t ball,
                        const tl_obstacle *obstacle, int32_t count) {
    tl_sand *m = (tl_sand *)base;
    tl_sand_put_out(m, step->threads, c, ball, obstacle, count);
    if (m->def.resample) {
        const talus_status status = tl_sand_sort(m, step->threads); // its memory is there
        (void)status;
        (void)tl_sand_resample(m);
    }
    tl_sand_tally(m, step->threads);
}

static void sand_account(const tl_model *base, const double gravity[3], tl_account *add) {
    const tl_sand *m = sand_of(base);
    double found[TL_TALLY];
    if (!m->tallied) tl_sand_get_tally(m, found);
    const double *sum = m->tallied ? m->tally : found;
    add->kinetic += sum[TL_TALLY_KINETIC];
    add->potential -= tl_dot3(gravity, sum + TL_TALLY_FIRST);
    tl_axpy3(add->momentum, 1.0, sum + TL_TALLY_MOMENTUM, add->momentum);
    tl_axpy3(add->angular, 1.0, sum + TL_TALLY_ANGULAR, add->angular);
}

static uint64_t sand_hash_state(const tl_model *base, uint64_t seed) {
    const tl_sand *m = sand_of(base);
    tl_grains g = m->grains; // the arrays are shared
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    tl_sand_arrays(&g, array, width);
    seed = talus_hash(g.id, (size_t)g.count * sizeof *g.id, seed);
    for (int k = 0; k < TL_GRAIN_ARRAYS; k++)
        seed = talus_hash(*array[k], (size_t)(g.count * width[k]) * sizeof(double), seed);
    seed = talus_hash(m->stress_key, (size_t)m->stress_count * sizeof *m->stress_key, seed);
    seed = talus_hash(m->stress,
                      (size_t)(m->stress_count * tl_tensor_size(m->dim)) * sizeof(double), seed);
    seed = talus_hash(m->corner_key, (size_t)m->corner_count * sizeof *m->corner_key, seed);
    seed = talus_hash(m->corner,
                      (size_t)(m->corner_count * m->cells.corners * tl_tensor_size(m->dim)) *
                          sizeof(double),
                      seed);
    for (int64_t k = 0; k < m->held_count; k++) {
        seed = talus_hash(&m->held[k].key, sizeof m->held[k].key, seed);
        seed = talus_hash(m->held[k].impulse, sizeof m->held[k].impulse, seed);
    }
    return talus_hash(&m->lost, sizeof m->lost, seed);
}

const tl_model_ops tl_sand_ops = {
    .name = "sand",
    .destroy = sand_destroy,
    .item_count = sand_item_count,
    .step_limit = sand_step_limit,
    .speed = sand_surface_speed,
    .place = sand_place,
    .group_count = sand_group_count,
    .groups = sand_groups,
    .is_diagonal = sand_is_diagonal,
    .motion = sand_motion,
    .row = sand_row,
    .turn = sand_turn,
    .meet = tl_sand_meet,
    .block_item = tl_sand_block_item,
    .block_count = tl_sand_block_count,
    .block_groups = tl_sand_block_groups,
    .block_fill = tl_sand_block_fill,
    .block_start = tl_sand_block_start,
    .block_take = tl_sand_block_take,
    .work = sand_work,
    .commit = sand_commit,
    .settle = sand_settle,
    .account = sand_account,
    .hash = sand_hash_state,
};
