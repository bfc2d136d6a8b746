// SPDX-License-Identifier: Apache-2.0
// One problem per step over all models [theory/schemes]. Groups stand model after model; a contact
// is a block row with one block per side that can move,
//     u = H v + w,    H = (rows of a) − (rows of b),
// where w holds the given velocities of sides that cannot, and
//     gap schemes:  gap / h on the normal row;
//     moreau-jean:  e_n u_N, e_t u_T of the velocities before.
// Where the values go is settled first, in one pass; they are then filled in by a team of threads.
#include "base/thread.h"
#include "base/timer.h"
#include "base/vec3.h"
#include "world/world_impl.h"
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

// Make an array of the stage hold `need` values; what it held is lost. Arrays that share a room are
// grown together, the room being set after the last.
static talus_status stage_room(talus_context *ctx, int64_t room, int64_t need, size_t size,
                               void *array) {
    return need <= room ? TALUS_OK : tl_realloc(ctx, 0, need + need / 8, size, array);
}

static void stage_set_room(int64_t need, int64_t *room) {
    if (need > *room) *room = need + need / 8;
}

talus_status tl_stage_reserve_items(talus_context *ctx, tl_stage *s, int64_t items) {
    const int64_t need = items + 1; // never none, so that there is an array
    TL_TRY(stage_room(ctx, s->item_room, need, sizeof *s->pose, &s->pose));
    TL_TRY(stage_room(ctx, s->item_room, need, sizeof *s->group_of, &s->group_of));
    stage_set_room(need, &s->item_room);
    return TALUS_OK;
}

static talus_status stage_reserve_groups(talus_context *ctx, tl_stage *s, int64_t groups) {
    TL_TRY(stage_room(ctx, s->group_room, groups + 1, sizeof *s->group_start, &s->group_start));
    TL_TRY(stage_room(ctx, s->group_room, groups + 1, sizeof *s->acting, &s->acting));
    TL_TRY(stage_room(ctx, s->group_room, groups + 1, sizeof *s->mass_at, &s->mass_at));
    stage_set_room(groups + 1, &s->group_room);
    return TALUS_OK;
}

static talus_status stage_reserve_motion(talus_context *ctx, tl_stage *s, int64_t dof,
                                         int64_t mass) {
    TL_TRY(stage_room(ctx, s->dof_room, dof, sizeof *s->f, &s->f));
    TL_TRY(stage_room(ctx, s->dof_room, dof, sizeof *s->before, &s->before));
    stage_set_room(dof, &s->dof_room);
    TL_TRY(stage_room(ctx, s->mass_room, mass, sizeof *s->mass, &s->mass));
    stage_set_room(mass, &s->mass_room);
    return TALUS_OK;
}

static talus_status stage_reserve_contacts(talus_context *ctx, tl_stage *s, bool impact,
                                           int64_t n) {
    const int64_t room = s->contact_room;
    double **const wide[] = {&s->w, &s->given, &s->r};
    TL_TRY(stage_room(ctx, room, n + 1, sizeof *s->h_start, &s->h_start));
    TL_TRY(stage_room(ctx, room, n + 1, sizeof *s->h_value, &s->h_value));
    TL_TRY(stage_room(ctx, room, n + 1, sizeof *s->mu, &s->mu));
    TL_TRY(stage_room(ctx, room, n + 1, sizeof *s->yield, &s->yield));
    TL_TRY(stage_room(ctx, room, n + 1, sizeof *s->tension, &s->tension));
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        TL_TRY(stage_room(ctx, s->row_room, (n + 1) * s->size, sizeof(double), wide[k]));
    if (impact)
        TL_TRY(stage_room(ctx, s->row_room, (n + 1) * s->size, sizeof *s->prior, &s->prior));
    stage_set_room((n + 1) * s->size, &s->row_room);
    stage_set_room(n + 1, &s->contact_room);
    return TALUS_OK;
}

void tl_stage_clear(talus_context *ctx, tl_stage *s) {
    void *const owned[] = {s->pose,    s->group_of, s->group_start, s->acting,  s->mass,
                           s->f,       s->before,   s->h_start,     s->h_value, s->h_body,
                           s->h_block, s->w,        s->given,       s->prior,   s->mu,
                           s->r,       s->yield,    s->mass_at,     s->tension};
    tl_ties_clear(ctx, &s->ties);
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    *s = (tl_stage){0};
}

// ---- models ------------------------------------------------------------------------------------

static talus_status stage_place(talus_world *w, const tl_step *step) {
    tl_stage *s = &w->stage;
    for (int k = 0; k < w->model_count; k++)
        s->first_item[k + 1] = s->first_item[k] + w->model[k]->ops->item_count(w->model[k]);
    TL_TRY(tl_stage_reserve_items(w->ctx, s, s->first_item[w->model_count]));
    for (int k = 0; k < w->model_count; k++)
        TL_TRY(w->model[k]->ops->place(w->model[k], step, s->pose + s->first_item[k]));
    return TALUS_OK;
}

static int32_t stage_block_count(const tl_model *m) {
    return m->ops->block_count ? m->ops->block_count(m) : 0;
}

// Rows of the problem's blocks: those of contacts, unless a model brings tensors along.
static int32_t stage_rows(const talus_world *w) {
    for (int k = 0; k < w->model_count; k++)
        if (stage_block_count(w->model[k]) > 0) return tl_stage_idle_size(w);
    return w->def.dim;
}

// Groups and their unknowns, masses, forces and velocities.
static talus_status stage_motion(talus_world *w, const tl_step *step) {
    tl_stage *s = &w->stage;
    s->diagonal = true;
    for (int k = 0; k < w->model_count; k++) {
        const tl_model *m = w->model[k];
        s->first_group[k + 1] = s->first_group[k] + m->ops->group_count(m);
        if (!m->ops->is_diagonal(m)) s->diagonal = false;
    }
    s->groups = s->first_group[w->model_count];
    const int64_t idle = tl_ties_idle(w) + (s->size > w->def.dim ? s->contacts : 0);
    const int32_t size = tl_stage_idle_size(w);
    TL_TRY(stage_reserve_groups(w->ctx, s, s->groups + idle));
    for (int k = 0; k < w->model_count; k++) {
        const tl_model *m = w->model[k];
        m->ops->groups(m, s->group_start + s->first_group[k], s->group_of + s->first_item[k]);
        for (int32_t i = s->first_item[k]; i < s->first_item[k + 1]; i++)
            if (s->group_of[i] >= 0) s->group_of[i] += s->first_group[k];
    }
    int64_t mass = 0;
    int32_t first = 0;
    for (int32_t g = 0; g < s->groups; g++) { // sizes become starts
        const int32_t own = s->group_start[g];
        s->group_start[g] = first;
        s->mass_at[g] = mass;
        first += own;
        mass += s->diagonal ? own : (int64_t)own * own;
    }
    s->group_start[s->groups] = s->dof = first;
    s->mass_at[s->groups] = mass;
    memset(s->acting, 0, (size_t)s->groups);
    TL_TRY(
        stage_reserve_motion(w->ctx, s, s->dof + idle * size + 1, mass + idle * size * size + 1));
    for (int k = 0; k < w->model_count; k++) {
        const tl_model *m = w->model[k];
        const int32_t group = s->first_group[k], at = s->group_start[group];
        m->ops->motion(m, step, s->diagonal, s->mass + s->mass_at[group], s->f + at,
                       s->before + at);
    }
    return TALUS_OK;
}

// ---- contacts ----------------------------------------------------------------------------------

int32_t tl_stage_size(const tl_stage *s, int32_t group) {
    return group < 0 ? 0 : s->group_start[group + 1] - s->group_start[group];
}

// The group of the item of another model that a block acts on; −1: there is none, or its motion is
// given.
static int32_t stage_other(const talus_world *w, int model, int32_t block) {
    const tl_model *m = w->model[model];
    double point[3], direction[3 * TL_STAGE_ROWS];
    const int32_t item = m->ops->block_item(m, block, point, direction);
    return item < 0 ? -1 : w->stage.group_of[item];
}

// Let models that fill space meet the items of the others.
static talus_status stage_meet(talus_world *w, const tl_step *step) {
    for (int k = 0; k < w->model_count; k++) {
        tl_model *m = w->model[k];
        if (!m->ops->meet) continue;
        int32_t count;
        const tl_obstacle *obstacle;
        TL_TRY(tl_sand_obstacles(w, &obstacle, &count));
        TL_TRY(m->ops->meet(m, step, w->collide, w->sand_ball, obstacle, count));
    }
    return TALUS_OK;
}

// The idle groups of contacts, behind those of drives.
static void stage_add_idle(talus_world *w) {
    tl_stage *s = &w->stage;
    const int32_t size = tl_stage_idle_size(w);
    s->pad_mass = s->idle_mass;
    if (s->size == w->def.dim) return;
    for (int32_t i = 0; i < s->contacts; i++) {
        s->dof += size;
        s->group_start[s->groups + ++s->idle] = s->dof;
    }
}

// Where the blocks of every contact are.
static talus_status stage_layout(talus_world *w) {
    tl_stage *s = &w->stage;
    const bool pads = s->size > w->def.dim;
    s->h_start[0] = s->h_value[0] = 0;
    for (int32_t i = 0; i < s->contacts; i++) {
        const int32_t a = s->group_of[s->touch[i].a], b = s->group_of[s->touch[i].b];
        const int32_t size = tl_stage_size(s, a) + (a == b ? 0 : tl_stage_size(s, b)) +
                             (pads ? tl_stage_idle_size(w) : 0);
        s->h_start[i + 1] = s->h_start[i] + (a >= 0) + (b >= 0 && a != b) + pads;
        s->h_value[i + 1] = s->h_value[i] + (int64_t)s->size * size;
    }
    for (int32_t i = s->contacts; i < s->first_block[0]; i++) {
        int32_t blocks;
        int64_t values;
        tl_ties_layout(w, i - s->contacts, &blocks, &values);
        s->h_start[i + 1] = s->h_start[i] + blocks;
        s->h_value[i + 1] = s->h_value[i] + values;
    }
    for (int k = 0; k < w->model_count; k++)
        for (int32_t i = s->first_block[k]; i < s->first_block[k + 1]; i++) {
            int32_t group[TL_BLOCK_GROUPS];
            const int32_t own = i - s->first_block[k], other = stage_other(w, k, own);
            const int32_t n = w->model[k]->ops->block_groups(w->model[k], own, group);
            int32_t size = tl_stage_size(s, other);
            for (int32_t e = 0; e < n; e++) size += tl_stage_size(s, s->first_group[k] + group[e]);
            s->h_start[i + 1] = s->h_start[i] + (other >= 0) + n;
            s->h_value[i + 1] = s->h_value[i] + (int64_t)s->size * size;
        }
    const int64_t blocks = s->h_start[s->blocks] + 1, values = s->h_value[s->blocks] + 1;
    TL_TRY(stage_room(w->ctx, s->block_room, blocks, sizeof *s->h_body, &s->h_body));
    stage_set_room(blocks, &s->block_room);
    TL_TRY(stage_room(w->ctx, s->value_room, values, sizeof *s->h_block, &s->h_block));
    stage_set_room(values, &s->value_room);
    return TALUS_OK;
}

typedef struct stage_fill {
    talus_world *w;
    const tl_step *step;
} stage_fill;

const tl_model *tl_stage_model(const talus_world *w, int32_t item, int32_t *own) {
    int k = w->model_count - 1;
    while (k > 0 && item < w->stage.first_item[k]) k--;
    *own = item - w->stage.first_item[k];
    return w->model[k];
}

// Add the rows of one side of a contact: to a block of H, or to the given velocities.
static void stage_side(const stage_fill *f, int32_t item, const double arm[3],
                       const double *direction, int32_t rows, double *out) {
    int32_t own;
    const tl_model *m = tl_stage_model(f->w, item, &own);
    m->ops->row(m, f->step, own, f->w->stage.pose + item, arm, direction, rows, out);
}

// y += (d × size block) v
static void stage_multiply(int32_t dim, int32_t size, const double *h, const double *v, double *y) {
    for (int32_t k = 0; k < dim; k++)
        for (int32_t e = 0; e < size; e++) y[k] += h[k * size + e] * v[e];
}

// Rows that a contact has no use for act on its idle group, the last of its groups, of a mass that
// makes W_ii about as large there as along the normal.
static void stage_pad(const talus_world *w, int32_t i) {
    const tl_stage *s = &w->stage;
    const int32_t dim = w->def.dim, size = tl_stage_idle_size(w);
    const int32_t idle = s->groups + s->ties.drives + i;
    const int64_t own = s->diagonal ? size : (int64_t)size * size;
    double *h = s->h_block + s->h_value[i + 1] - (int64_t)s->size * size;
    double *mass = s->mass + s->pad_mass + own * i, mobility = 0.0;
    const double *normal = s->h_block + s->h_value[i];
    for (int64_t e = s->h_start[i]; e < s->h_start[i + 1] - 1; e++) {
        const int32_t g = s->h_body[e], n = tl_stage_size(s, g);
        for (int32_t k = 0; k < n; k++)
            mobility += normal[k] * normal[k] /
                        s->mass[s->mass_at[g] + (s->diagonal ? k : (int64_t)k * n + k)];
        normal += (int64_t)s->size * n;
    }
    s->h_body[s->h_start[i + 1] - 1] = idle;
    for (int32_t k = 0; k < s->size - dim; k++) h[(dim + k) * size + k] = 1.0;
    for (int64_t k = 0; k < own; k++)
        mass[k] = s->diagonal || k % (size + 1) == 0 ? 1.0 / mobility : 0.0;
    for (int32_t k = 0; k < size; k++)
        s->f[s->group_start[idle] + k] = s->before[s->group_start[idle] + k] = 0.0;
}

static void stage_contact(const stage_fill *f, int32_t i) {
    const talus_world *w = f->w;
    const tl_stage *s = &w->stage;
    const tl_touch *t = s->touch + i;
    const int32_t dim = w->def.dim, rows = s->size;
    const int32_t a = s->group_of[t->a], b = s->group_of[t->b];
    const talus_material_def *pair = w->materials.pair +
                                     (int64_t)w->item_material[t->a] * w->materials.count +
                                     w->item_material[t->b];
    double *h = s->h_block + s->h_value[i], *given = s->given + (int64_t)i * rows;
    double *offset = s->w + (int64_t)i * rows;
    double frame[9], back[9];
    tl_frame(dim, t->normal, frame);
    for (int32_t k = 0; k < 3 * dim; k++) back[k] = -frame[k];
    memset(h, 0, (size_t)(s->h_value[i + 1] - s->h_value[i]) * sizeof *h);
    memset(given, 0, (size_t)rows * sizeof *given);

    // the block of the lower group comes first
    double *h_a = b >= 0 && b < a ? h + (int64_t)rows * tl_stage_size(s, b) : h;
    double *h_b = a >= 0 && a < b ? h + (int64_t)rows * tl_stage_size(s, a) : h;
    int32_t *body = s->h_body + s->h_start[i];
    if (a >= 0) body[b >= 0 && b < a] = a;
    if (b >= 0) body[a >= 0 && a < b] = b;
    // Impulse and reaction act at one point, lest they be a couple: midway between the surfaces, or
    // on the surface of the one side that can move.
    const double shift = a < 0 ? 1.0 : b < 0 ? 0.0 : 0.5;
    double arm_a[3], arm_b[3];
    tl_axpy3(t->arm_a, -shift * t->gap, t->normal, arm_a);
    tl_axpy3(t->arm_b, (1.0 - shift) * t->gap, t->normal, arm_b);
    stage_side(f, t->a, arm_a, frame, dim, a >= 0 ? h_a : given);
    stage_side(f, t->b, arm_b, back, dim, b >= 0 ? h_b : given);

    memcpy(offset, given, (size_t)rows * sizeof *offset);
    s->mu[i] = pair->friction;
    s->yield[i] = s->tension[i] = 0.0;
    if (rows > dim) stage_pad(w, i);
    if (w->def.scheme != TALUS_SCHEME_MOREAU_JEAN) {
        offset[0] += t->gap / f->step->h;
        return;
    }
    double *prior = s->prior + (int64_t)i * rows;
    memcpy(prior, given, (size_t)dim * sizeof *prior);
    if (a >= 0) stage_multiply(dim, tl_stage_size(s, a), h_a, s->before + s->group_start[a], prior);
    if (b >= 0 && b != a)
        stage_multiply(dim, tl_stage_size(s, b), h_b, s->before + s->group_start[b], prior);
    for (int32_t k = 0; k < dim; k++)
        offset[k] += (k == 0 ? pair->restitution : pair->restitution_t) * prior[k];
}

// A block that a model brings along.
static void stage_block(const stage_fill *f, int model, int32_t i) {
    const tl_stage *s = &f->w->stage;
    const tl_model *m = f->w->model[model];
    const int32_t own = i - s->first_block[model];
    int32_t group[TL_BLOCK_GROUPS], *body = s->h_body + s->h_start[i];
    double point[3], direction[3 * TL_STAGE_ROWS], arm[3];
    double *h = s->h_block + s->h_value[i], *w = s->w + (int64_t)i * s->size;
    double *given = s->given + (int64_t)i * s->size;
    memset(given, 0, (size_t)s->size * sizeof *given);
    const int32_t item = m->ops->block_item(m, own, point, direction);
    if (item >= 0) { // of a model before this one: its group comes first
        const int32_t other = s->group_of[item], size = tl_stage_size(s, other);
        for (int32_t k = 0; k < 3 * s->size; k++) direction[k] = -direction[k];
        memset(h, 0, (size_t)s->size * (size_t)size * sizeof *h);
        tl_sub3(point, s->pose[item].x, arm);
        stage_side(f, item, arm, direction, s->size, other >= 0 ? h : given);
        h += (int64_t)s->size * size;
        if (other >= 0) *body++ = other;
    }
    const int32_t n = m->ops->block_groups(m, own, group);
    for (int32_t e = 0; e < n; e++) body[e] = s->first_group[model] + group[e];
    tl_block_law law;
    m->ops->block_fill(m, f->step, own, h, w, &law);
    for (int32_t k = 0; k < s->size; k++) w[k] += given[k];
    s->mu[i] = law.mu;
    s->yield[i] = 0.0;
    s->tension[i] = law.tension;
}

static void stage_work(void *arg, tl_team *team, int rank) {
    const stage_fill *f = arg;
    int64_t begin, end;
    tl_share(f->w->stage.contacts, tl_team_size(team), rank, &begin, &end);
    for (int64_t i = begin; i < end; i++) stage_contact(f, (int32_t)i);
    const talus_world *w = f->w;
    for (int k = 0; k < w->model_count; k++) {
        const int32_t first = w->stage.first_block[k];
        tl_share(w->stage.first_block[k + 1] - first, tl_team_size(team), rank, &begin, &end);
        for (int64_t i = begin; i < end; i++) stage_block(f, k, first + (int32_t)i);
    }
}

talus_status tl_stage_fill(talus_world *w, const tl_step *step, double reach,
                           double *detect_seconds) {
    tl_stage *s = &w->stage;
    const int32_t threads = w->def.threads;
    int64_t count;
    TL_TRY(tl_team_reserve(w->ctx, threads));
    TL_TRY(stage_place(w, step));
    const double begin = tl_seconds();
    TL_TRY(tl_collide_detect(w->collide, s->pose, reach, threads));
    *detect_seconds = tl_seconds() - begin;
    s->touch = tl_collide_touches(w->collide, &count);
    TL_REQUIRE(w->ctx, count < INT32_MAX / 8, TALUS_ERR_ARG, "step: %lld contacts",
               (long long)count);
    s->contacts = (int32_t)count;
    TL_TRY(tl_ties_filter(w));
    TL_TRY(stage_meet(w, step));
    s->size = stage_rows(w);
    TL_TRY(stage_motion(w, step));
    TL_TRY(tl_ties_fill(w, step));
    stage_add_idle(w);
    s->first_block[0] = s->contacts + s->ties.drives;
    for (int k = 0; k < w->model_count; k++)
        s->first_block[k + 1] = s->first_block[k] + stage_block_count(w->model[k]);
    s->blocks = s->first_block[w->model_count];
    const bool impact = w->def.scheme == TALUS_SCHEME_MOREAU_JEAN;
    TL_TRY(stage_reserve_contacts(w->ctx, s, impact, s->blocks));
    TL_TRY(tl_contacts_reserve(w->ctx, &w->contacts, s->contacts));
    TL_TRY(stage_layout(w));
    stage_fill fill = {w, step};
    tl_parallel(w->ctx, threads, stage_work, &fill);
    tl_ties_blocks(w, step);
    return TALUS_OK;
}

// ---- start and definition ----------------------------------------------------------------------

// −1, 0, 1 as contact i of the last step comes before, is, or comes after the touch.
static int stage_compare(const tl_contacts *c, int32_t i, const tl_touch *t) {
    if (c->a[i] != t->a) return c->a[i] < t->a ? -1 : 1;
    if (c->b[i] != t->b) return c->b[i] < t->b ? -1 : 1;
    return c->feature[i] == t->feature ? 0 : c->feature[i] < t->feature ? -1 : 1;
}

void tl_stage_warm_start(talus_world *w, const tl_step *step) {
    tl_stage *s = &w->stage;
    const tl_contacts *c = &w->contacts;
    const int32_t dim = w->def.dim;
    const double scale = c->h > 0.0 ? step->h / c->h : 1.0;
    TL_ASSUME(dim == 2 || dim == 3);
    memset(s->r, 0, (size_t)s->size * (size_t)s->blocks * sizeof *s->r);
    if (!w->def.warm_start) return;
    tl_ties_warm_start(w, step);
    for (int k = 0; k < w->model_count; k++)
        if (w->model[k]->ops->block_start)
            w->model[k]->ops->block_start(w->model[k], step,
                                          s->r + (int64_t)s->first_block[k] * s->size);
    int32_t old = 0;
    for (int32_t i = 0; i < s->contacts; i++) { // both lists are sorted
        while (old < c->count && stage_compare(c, old, s->touch + i) < 0) old++;
        if (old == c->count) return;
        if (stage_compare(c, old, s->touch + i) != 0) continue;
        double frame[9];
        tl_frame(dim, s->touch[i].normal, frame);
        for (int32_t k = 0; k < dim; k++)
            s->r[(int64_t)i * s->size + k] =
                scale * tl_dot3(frame + 3 * k, c->impulse + 3 * (int64_t)old);
    }
}

talus_global_def tl_stage_def(const talus_world *w) {
    const tl_stage *s = &w->stage;
    return (talus_global_def){
        .dim = s->size,
        .count = s->blocks,
        .body_count = s->groups + s->idle,
        .body_start = s->group_start,
        .mass_diagonal = s->diagonal ? s->mass : NULL,
        .mass_block = s->diagonal ? NULL : s->mass,
        .h_row_start = s->h_start,
        .h_body = s->h_body,
        .h_block = s->h_block,
        .borrow_h = true,
        .f = s->f,
        .w = s->w,
        .c = {.rows = s->ties.rows,
              .cols = s->dof,
              .start = s->ties.start,
              .index = s->ties.index,
              .value = s->ties.value},
        .k = s->ties.k,
        .c_dependent = true,
        .law = {.law =
                    w->def.scheme == TALUS_SCHEME_CONVEX ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB,
                .mu = s->mu,
                .yield = s->ties.drives > 0 ? s->yield : NULL,
                .tension = s->blocks > s->first_block[0] ? s->tension : NULL},
    };
}
