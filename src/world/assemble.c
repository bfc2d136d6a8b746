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
#include "problem/problem_impl.h"
#include "world/world_impl.h"
#include <stdatomic.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

talus_status tl_stage_reserve_items(talus_context *ctx, tl_stage *s, int64_t items) {
    TL_TRY(TL_RESERVE(ctx, items + 1, &s->pose)); // never none, so that there is an array
    return TL_RESERVE(ctx, items + 1, &s->group_of);
}

static talus_status stage_reserve_groups(talus_context *ctx, tl_stage *s, int64_t groups) {
    TL_TRY(TL_RESERVE(ctx, groups + 1, &s->group_start));
    TL_TRY(TL_RESERVE(ctx, groups + 1, &s->acting));
    TL_TRY(TL_RESERVE(ctx, groups + 1, &s->band));
    return TL_RESERVE(ctx, groups + 1, &s->mass_at);
}

static talus_status stage_reserve_motion(talus_context *ctx, tl_stage *s, int64_t dof,
                                         int64_t mass) {
    TL_TRY(TL_RESERVE(ctx, dof, &s->f));
    TL_TRY(TL_RESERVE(ctx, dof, &s->before));
    return TL_RESERVE(ctx, mass, &s->mass);
}

// Room for `need` numbers, or none where they are not needed.
static talus_status stage_optional(talus_context *ctx, bool needed, int64_t need, double **array) {
    if (needed) return TL_RESERVE(ctx, need, array);
    tl_free(ctx, *array);
    *array = NULL;
    return TALUS_OK;
}

static talus_status stage_reserve_contacts(talus_world *w, int64_t n) {
    talus_context *ctx = w->ctx;
    tl_stage *s = &w->stage;
    const int64_t rows = (n + 1) * s->size;
    const bool driven = w->model_count > 1 || w->rigid->script_count > 0 || s->ties.drives > 0;
    const bool laws = n > s->contacts;
    TL_TRY(TL_RESERVE(ctx, n + 1, &s->h_start));
    TL_TRY(TL_RESERVE(ctx, n + 1, &s->mu));
    TL_TRY(TL_RESERVE(ctx, rows, &s->w));
    TL_TRY(TL_RESERVE(ctx, rows, &s->r));
    TL_TRY(stage_optional(ctx, driven, rows, &s->given));
    TL_TRY(stage_optional(ctx, laws, n + 1, &s->yield));
    return stage_optional(ctx, laws, n + 1, &s->tension);
}

void tl_stage_clear(talus_context *ctx, tl_stage *s) {
    void *const owned[] = {
        s->pose,    s->group_of, s->group_start, s->acting,  s->mass,    s->f,     s->before,
        s->h_start, s->h_value,  s->h_body,      s->h_block, s->w,       s->given, s->arm,
        s->mu,      s->r,        s->yield,       s->mass_at, s->tension, s->back,  s->band};
    tl_ties_clear(ctx, &s->ties);
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    *s = (tl_stage){0};
}

enum { STAGE_LEAN = 1024 }; // contacts from which on a bed of balls is kept lean

// What the last step has left, where that was lean: memory that the next one wants for other things
// first.
static void stage_sweep_out(talus_world *w) {
    tl_stage *s = &w->stage;
    void *const left[] = {s->h_start, s->h_body, s->arm, s->back, s->w, s->mu, s->r, s->given};
    tl_contacts_forget(w->ctx, &w->contacts);
    if (w->problem) tl_problem_rest(w->problem, true);
    for (size_t k = 0; k < sizeof left / sizeof *left; k++) tl_free(w->ctx, left[k]);
    s->h_start = NULL;
    s->h_body = NULL;
    s->back = NULL;
    s->arm = s->w = s->mu = s->r = s->given = NULL;
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

// Masses, forces and velocities of all groups.
static void stage_move(talus_world *w, const tl_step *step) {
    const tl_stage *s = &w->stage;
    for (int k = 0; k < w->model_count; k++) {
        const tl_model *m = w->model[k];
        const int32_t group = s->first_group[k], at = s->group_start[group];
        m->ops->motion(m, step, s->diagonal, s->mass + s->mass_at[group], s->f + at,
                       s->before + at);
    }
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
        for (int32_t g = s->first_group[k]; g < s->first_group[k + 1]; g++)
            s->band[g] = m->ops->band ? m->ops->band(m, g - s->first_group[k]) : -1;
    }
    for (int64_t g = s->groups; g < s->groups + idle; g++) s->band[g] = -1;
    int64_t mass = 0;
    int32_t first = 0;
    for (int32_t g = 0; g < s->groups; g++) { // sizes become starts
        const int32_t own = s->group_start[g];
        s->group_start[g] = first;
        s->mass_at[g] = mass;
        first += own;
        mass += s->diagonal ? own : (int64_t)own * (s->band[g] >= 0 ? s->band[g] + 1 : own);
    }
    s->group_start[s->groups] = s->dof = first;
    s->mass_at[s->groups] = mass;
    memset(s->acting, 0, (size_t)s->groups);
    TL_TRY(
        stage_reserve_motion(w->ctx, s, s->dof + idle * size + 1, mass + idle * size * size + 1));
    stage_move(w, step);
    return TALUS_OK;
}

// ---- contacts ----------------------------------------------------------------------------------

int32_t tl_stage_size(const tl_stage *s, int32_t group) {
    return group < 0 ? 0 : s->group_start[group + 1] - s->group_start[group];
}

int64_t tl_stage_mass_at(const tl_stage *s, int32_t group, int32_t k) {
    const int32_t step = s->diagonal           ? 1
                         : s->band[group] >= 0 ? s->band[group] + 1
                                               : tl_stage_size(s, group) + 1;
    return s->mass_at[group] + (int64_t)k * step;
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

// Where the blocks of every contact begin and, unless `value` is NULL, their values.
static void stage_layout(const talus_world *w, int64_t *value) {
    const tl_stage *s = &w->stage;
    const bool pads = s->size > w->def.dim;
    s->h_start[0] = 0;
    if (value) value[0] = 0;
    for (int32_t i = 0; i < s->contacts; i++) {
        const int32_t a = s->group_of[s->touch[i].a], b = s->group_of[s->touch[i].b];
        const int32_t size = tl_stage_size(s, a) + (a == b ? 0 : tl_stage_size(s, b)) +
                             (pads ? tl_stage_idle_size(w) : 0);
        s->h_start[i + 1] = s->h_start[i] + (a >= 0) + (b >= 0 && a != b) + pads;
        if (value) value[i + 1] = value[i] + (int64_t)s->size * size;
    }
    for (int32_t i = s->contacts; i < s->first_block[0]; i++) {
        int32_t blocks;
        int64_t values;
        tl_ties_layout(w, i - s->contacts, &blocks, &values);
        s->h_start[i + 1] = s->h_start[i] + blocks;
        if (value) value[i + 1] = value[i] + values;
    }
    for (int k = 0; k < w->model_count; k++)
        for (int32_t i = s->first_block[k]; i < s->first_block[k + 1]; i++) {
            int32_t group[TL_BLOCK_GROUPS];
            const int32_t own = i - s->first_block[k], other = stage_other(w, k, own);
            const int32_t n = w->model[k]->ops->block_groups(w->model[k], own, group);
            int32_t size = tl_stage_size(s, other);
            for (int32_t e = 0; e < n; e++) size += tl_stage_size(s, s->first_group[k] + group[e]);
            s->h_start[i + 1] = s->h_start[i] + (other >= 0) + n;
            if (value) value[i + 1] = value[i] + (int64_t)s->size * size;
        }
}

// Whether all blocks may turn out to be those of balls: contacts in space and nothing else, between
// groups of six.
static bool stage_may_be_balls(const talus_world *w) {
    const tl_stage *s = &w->stage;
    if (s->size != 3 || w->def.dim != 3 || s->blocks != s->contacts || s->ties.rows > 0)
        return false;
    for (int32_t g = 0; g < s->groups; g++)
        if (tl_stage_size(s, g) != 6) return false;
    return true;
}

typedef struct stage_fill {
    talus_world *w;
    const tl_step *step;
    bool balls;        // blocks are to be kept as arms
    atomic_bool other; // but one is not of a ball
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

// Add the share of given motions in the velocity of a side that is not given as a whole.
static void stage_side_given(const stage_fill *f, int32_t item, const double arm[3],
                             const double *direction, int32_t rows, double *out) {
    int32_t own;
    const tl_model *m = tl_stage_model(f->w, item, &own);
    if (m->ops->row_given && f->w->stage.group_of[item] >= 0)
        m->ops->row_given(m, f->step, own, f->w->stage.pose + item, arm, direction, rows, out);
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
            mobility += normal[k] * normal[k] / s->mass[tl_stage_mass_at(s, g, k)];
        normal += (int64_t)s->size * n;
    }
    s->h_body[s->h_start[i + 1] - 1] = idle;
    for (int32_t k = 0; k < s->size - dim; k++) h[(dim + k) * size + k] = 1.0;
    for (int64_t k = 0; k < own; k++)
        mass[k] = s->diagonal || k % (size + 1) == 0 ? 1.0 / mobility : 0.0;
    for (int32_t k = 0; k < size; k++)
        s->f[s->group_start[idle] + k] = s->before[s->group_start[idle] + k] = 0.0;
}

// Where the rows of a contact's two sides go.
typedef struct stage_pair {
    double *a, *b; // blocks of H; NULL: the motion of the side is given
    double *given; // and its velocity goes here
} stage_pair;

static void stage_sides(const stage_fill *f, const tl_touch *t, const double frame[9],
                        const stage_pair *out) {
    const int32_t dim = f->w->def.dim;
    double back[9], arm_a[3], arm_b[3];
    for (int32_t k = 0; k < 3 * dim; k++) back[k] = -frame[k];
    // Impulse and reaction act at one point, lest they be a couple: midway between the surfaces, or
    // on the surface of the one side that can move.
    const double shift = !out->a ? 1.0 : !out->b ? 0.0 : 0.5;
    tl_axpy3(t->arm_a, -shift * t->gap, t->normal, arm_a);
    tl_axpy3(t->arm_b, (1.0 - shift) * t->gap, t->normal, arm_b);
    stage_side(f, t->a, arm_a, frame, dim, out->a ? out->a : out->given);
    stage_side(f, t->b, arm_b, back, dim, out->b ? out->b : out->given);
    stage_side_given(f, t->a, arm_a, frame, dim, out->given);
    stage_side_given(f, t->b, arm_b, back, dim, out->given);
}

// Keep the rows of contact i as arms; false where they are not those of balls.
static bool stage_keep_arms(const tl_stage *s, int32_t i, int32_t a, int32_t b,
                            const double frame[9], const stage_pair *rows) {
    double *arm = s->arm + s->h_start[i];
    if (a >= 0 && b >= 0 && b <= a) return false;
    s->back[i] = a < 0;
    return (a < 0 || tl_ball_arm(rows->a, 1.0, frame, arm)) &&
           (b < 0 || tl_ball_arm(rows->b, -1.0, frame, arm + (a >= 0)));
}

// False: the contact is not one of balls, but had to be.
static bool stage_contact(const stage_fill *f, int32_t i) {
    const talus_world *w = f->w;
    const tl_stage *s = &w->stage;
    const tl_touch *t = s->touch + i;
    const int32_t dim = w->def.dim, size = s->size;
    const int32_t a = s->group_of[t->a], b = s->group_of[t->b];
    const talus_material_def *pair = w->materials.pair +
                                     (int64_t)w->item_material[t->a] * w->materials.count +
                                     w->item_material[t->b];
    double *offset = s->w + (int64_t)i * size, frame[9], room[2 * TL_BALL_BLOCK];
    double given[TL_STAGE_ROWS] = {0.0};
    double *h = f->balls ? room : s->h_block + s->h_value[i];
    const int64_t values = f->balls ? 2 * TL_BALL_BLOCK : s->h_value[i + 1] - s->h_value[i];
    tl_frame(dim, t->normal, frame);
    memset(h, 0, (size_t)values * sizeof *h);

    // the block of the lower group comes first
    const stage_pair rows = {.a = a < 0             ? NULL
                                  : b >= 0 && b < a ? h + (int64_t)size * tl_stage_size(s, b)
                                                    : h,
                             .b = b < 0             ? NULL
                                  : a >= 0 && a < b ? h + (int64_t)size * tl_stage_size(s, a)
                                                    : h,
                             .given = given};
    int32_t *body = s->h_body + s->h_start[i];
    if (a >= 0) body[b >= 0 && b < a] = a;
    if (b >= 0) body[a >= 0 && a < b] = b;
    stage_sides(f, t, frame, &rows);
    if (f->balls && !stage_keep_arms(s, i, a, b, frame, &rows)) return false;

    memcpy(offset, given, (size_t)size * sizeof *offset);
    if (s->given) memcpy(s->given + (int64_t)i * size, given, (size_t)size * sizeof *given);
    s->mu[i] = pair->friction;
    if (s->yield) s->yield[i] = s->tension[i] = 0.0;
    if (size > dim) stage_pad(w, i);
    if (w->def.scheme != TALUS_SCHEME_MOREAU_JEAN) {
        offset[0] += t->gap / f->step->h;
        return true;
    }
    if (pair->restitution == 0.0 && pair->restitution_t == 0.0) return true;
    double prior[3];
    memcpy(prior, given, sizeof prior);
    if (a >= 0)
        stage_multiply(dim, tl_stage_size(s, a), rows.a, s->before + s->group_start[a], prior);
    if (b >= 0 && b != a)
        stage_multiply(dim, tl_stage_size(s, b), rows.b, s->before + s->group_start[b], prior);
    for (int32_t k = 0; k < dim; k++)
        offset[k] += (k == 0 ? pair->restitution : pair->restitution_t) * prior[k];
    return true;
}

// A block that a model brings along.
static void stage_block(const stage_fill *f, int model, int32_t i) {
    const tl_stage *s = &f->w->stage;
    const tl_model *m = f->w->model[model];
    const int32_t own = i - s->first_block[model];
    int32_t group[TL_BLOCK_GROUPS], *body = s->h_body + s->h_start[i];
    double point[3], direction[3 * TL_STAGE_ROWS], arm[3];
    double *h = s->h_block + s->h_value[i], *w = s->w + (int64_t)i * s->size;
    // a model that brings blocks along is not the only one: there is room for given motions
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
    stage_fill *f = arg;
    int64_t begin, end;
    tl_share(f->w->stage.contacts, tl_team_size(team), rank, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        if (stage_contact(f, (int32_t)i)) continue;
        atomic_store_explicit(&f->other, true, memory_order_relaxed);
        return;
    }
    const talus_world *w = f->w;
    for (int k = 0; k < w->model_count; k++) {
        const int32_t first = w->stage.first_block[k];
        tl_share(w->stage.first_block[k + 1] - first, tl_team_size(team), rank, &begin, &end);
        for (int64_t i = begin; i < end; i++) stage_block(f, k, first + (int32_t)i);
    }
}

// Fill the blocks: as arms where all are those of balls, else dense. Which of the two follows from
// the contacts alone, so that a run that was resumed does the same.
static talus_status stage_blocks(talus_world *w, const tl_step *step) {
    tl_stage *s = &w->stage;
    stage_fill fill = {.w = w, .step = step, .balls = stage_may_be_balls(w)};
    stage_layout(w, NULL);
    const int64_t blocks = s->h_start[s->blocks] + 1;
    TL_TRY(TL_RESERVE(w->ctx, blocks, &s->h_body));
    if (fill.balls) {
        TL_TRY(TL_RESERVE(w->ctx, blocks, &s->arm));
        TL_TRY(TL_RESERVE(w->ctx, (int64_t)s->contacts + 1, &s->back));
        tl_parallel(w->ctx, w->def.threads, stage_work, &fill);
    }
    s->balls = fill.balls && !atomic_load_explicit(&fill.other, memory_order_relaxed);
    void *const unused[] = {s->balls ? (void *)s->h_value : s->arm,
                            s->balls ? (void *)s->h_block : s->back};
    for (int k = 0; k < 2; k++) tl_free(w->ctx, unused[k]);
    if (s->balls) {
        s->h_value = NULL;
        s->h_block = NULL;
        return TALUS_OK;
    }
    s->arm = NULL;
    s->back = NULL;
    fill.balls = false;
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)s->blocks + 1, &s->h_value));
    stage_layout(w, s->h_value);
    TL_TRY(TL_RESERVE(w->ctx, s->h_value[s->blocks] + 1, &s->h_block));
    tl_parallel(w->ctx, w->def.threads, stage_work, &fill);
    return TALUS_OK;
}

// Whether this may turn out to be a large bed of balls, at every contact one at least.
static bool stage_may_be_lean(const talus_world *w) {
    const tl_stage *s = &w->stage;
    if (w->def.dim != 3 || s->contacts < STAGE_LEAN || w->model_count > 1 || w->joints.count > 0)
        return false;
    for (int32_t i = 0; i < s->contacts; i++)
        if (w->rigid->swing[s->touch[i].a] != 0.0 && w->rigid->swing[s->touch[i].b] != 0.0)
            return false;
    return true;
}

// Keep of the touches what the lean stage needs.
static talus_status stage_slim(talus_world *w) {
    tl_stage *s = &w->stage;
    tl_contacts *c = &w->next;
    TL_TRY(tl_contacts_begin(w->ctx, c, s->contacts));
    for (int32_t i = 0; i < s->contacts; i++) {
        const tl_touch *t = s->touch + i;
        c->a[i] = t->a;
        c->b[i] = t->b;
        c->feature[i] = t->feature;
        c->gap[i] = t->gap;
        tl_copy3(t->normal, c->normal + 3 * (int64_t)i);
    }
    s->touch = NULL;
    tl_collide_rest(w->collide, true);
    tl_free(w->ctx, s->pose);
    s->pose = NULL;
    return TALUS_OK;
}

// The problem of the contacts that were found.
static talus_status stage_problem(talus_world *w, const tl_step *step) {
    tl_stage *s = &w->stage;
    s->lean = stage_may_be_lean(w);
    if (s->lean) tl_collide_rest(w->collide, false);
    s->size = stage_rows(w);
    TL_TRY(stage_motion(w, step));
    TL_TRY(tl_ties_fill(w, step));
    stage_add_idle(w);
    s->first_block[0] = s->contacts + s->ties.drives;
    for (int k = 0; k < w->model_count; k++)
        s->first_block[k + 1] = s->first_block[k] + stage_block_count(w->model[k]);
    s->blocks = s->first_block[w->model_count];
    TL_TRY(stage_reserve_contacts(w, s->blocks));
    if (s->ties.rows > 0) {
        TL_TRY(TL_RESERVE(w->ctx, (int64_t)s->blocks + 1, &s->ties.held));
        memset(s->ties.held, 0, (size_t)s->blocks + 1);
    }
    TL_TRY(stage_blocks(w, step));
    tl_ties_blocks(w, step);
    s->lean = s->lean && s->balls;
    s->step = *step;
    if (s->lean) return stage_slim(w);
    tl_contacts_clear(w->ctx, &w->next);
    return tl_contacts_reserve(w->ctx, &w->contacts, s->contacts);
}

talus_status tl_stage_detect(talus_world *w, const tl_step *step, double reach,
                             double *detect_seconds) {
    tl_stage *s = &w->stage;
    const int32_t threads = w->def.threads;
    int64_t count;
    if (s->lean) stage_sweep_out(w);
    TL_TRY(tl_team_reserve(w->ctx, threads));
    TL_TRY(tl_rods_items(w));
    TL_TRY(stage_place(w, step));
    const double begin = tl_seconds();
    TL_TRY(tl_collide_detect(w->collide, s->pose, reach, threads));
    *detect_seconds = tl_seconds() - begin;
    s->touch = tl_collide_touches(w->collide, &count);
    TL_REQUIRE(w->ctx, count < INT32_MAX / 8, TALUS_ERR_ARG, "step: %lld contacts",
               (long long)count);
    s->contacts = (int32_t)count;
    s->ties.deepest = 0.0;
    TL_TRY(tl_rods_filter(w, step));
    return tl_ties_filter(w);
}

talus_status tl_stage_fill(talus_world *w, const tl_step *step, double reach,
                           double *detect_seconds) {
    TL_TRY(tl_stage_detect(w, step, reach, detect_seconds));
    TL_TRY(stage_meet(w, step));
    w->stage.scale = w->sand ? tl_sand_scale(w->sand, step) : 0.0;
    return stage_problem(w, step);
}

talus_status tl_stage_leave_out(talus_world *w, const tl_step *step) {
    TL_TRY(tl_ties_leave_out(w));
    return stage_problem(w, step);
}

// ---- start and definition ----------------------------------------------------------------------

// −1, 0, 1 as contact i of the last step comes before, is, or comes after the touch.
static int stage_compare(const tl_contacts *c, int32_t i, const tl_stage_contact *t) {
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
        const tl_stage_contact t = tl_stage_get(w, i);
        while (old < c->count && stage_compare(c, old, &t) < 0) old++;
        if (old == c->count) return;
        if (stage_compare(c, old, &t) != 0) continue;
        double frame[9];
        tl_frame(dim, t.normal, frame);
        for (int32_t k = 0; k < dim; k++)
            s->r[(int64_t)i * s->size + k] =
                scale * tl_dot3(frame + 3 * k, c->impulse + 3 * (int64_t)old);
    }
}

void tl_stage_prior(const talus_world *w, int32_t i, double *out) {
    const tl_stage *s = &w->stage;
    for (int32_t k = 0; k < s->size; k++) out[k] = tl_stage_given(s, (int64_t)i * s->size + k);
    for (int64_t e = s->h_start[i]; e < s->h_start[i + 1]; e++) {
        const int32_t g = s->h_body[e];
        double room[TL_BALL_BLOCK];
        stage_multiply(s->size, tl_stage_size(s, g), tl_problem_h(w->problem, i, e, room),
                       s->before + s->group_start[g], out);
    }
}

// ---- lean --------------------------------------------------------------------------------------

// What the law sees besides H v at contact i, from the lean stage.
static void stage_offset(const talus_world *w, int32_t i) {
    const tl_stage *s = &w->stage;
    const tl_stage_contact t = tl_stage_get(w, i);
    const talus_material_def *pair = w->materials.pair +
                                     (int64_t)w->item_material[t.a] * w->materials.count +
                                     w->item_material[t.b];
    double *offset = s->w + 3 * (int64_t)i, prior[TL_STAGE_ROWS] = {0.0};
    for (int k = 0; k < 3; k++) offset[k] = tl_stage_given(s, 3 * (int64_t)i + k);
    if (w->def.scheme != TALUS_SCHEME_MOREAU_JEAN) {
        offset[0] += t.gap / s->step.h;
    } else if (pair->restitution != 0.0 || pair->restitution_t != 0.0) {
        tl_stage_prior(w, i, prior);
        for (int k = 0; k < 3; k++)
            offset[k] += (k == 0 ? pair->restitution : pair->restitution_t) * prior[k];
    }
}

// Forces, velocities and offsets once more: the state is still the one they came from.
static talus_status stage_lend(void *lender) {
    talus_world *w = lender;
    tl_stage *s = &w->stage;
    TL_TRY(TL_RESERVE(w->ctx, s->dof + 1, &s->f));
    TL_TRY(TL_RESERVE(w->ctx, s->dof + 1, &s->before));
    TL_TRY(TL_RESERVE(w->ctx, 3 * (int64_t)s->contacts, &s->w));
    stage_move(w, &s->step); // the masses stay as they are, to the bit
    for (int32_t i = 0; i < s->contacts; i++) stage_offset(w, i);
    tl_problem_lend(w->problem, s->f, s->w);
    return TALUS_OK;
}

void tl_stage_rest(talus_world *w) {
    tl_stage *s = &w->stage;
    tl_problem_rest(w->problem, true);
    tl_problem_take_back(w->problem, stage_lend, w);
    tl_free(w->ctx, s->f);
    tl_free(w->ctx, s->before);
    tl_free(w->ctx, s->w);
    s->f = s->before = s->w = NULL;
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
        .mass_band = s->band,
        .h_row_start = s->h_start,
        .h_body = s->h_body,
        .h_block = s->h_block,
        .balls = {.normal = s->balls && s->contacts > 0 ? tl_stage_get(w, 0).normal : NULL,
                  .stride = s->lean ? 3 : sizeof *s->touch / sizeof(double),
                  .arm = s->arm,
                  .back = s->back},
        .borrow_h = true,
        .threads = w->def.threads,
        .borrow_all = true,
        .f = s->f,
        .w = s->w,
        .c = {.rows = s->ties.rows,
              .cols = s->dof,
              .start = s->ties.start,
              .index = s->ties.index,
              .value = s->ties.value},
        .k = s->ties.k,
        .c_dependent = true,
        .held = s->ties.rows > 0 ? s->ties.held : NULL,
        .scale = s->scale,
        .law = {.law =
                    w->def.scheme == TALUS_SCHEME_CONVEX ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB,
                .mu = s->mu,
                .yield = s->ties.drives > 0 ? s->yield : NULL,
                .tension = s->blocks > s->first_block[0] ? s->tension : NULL},
    };
}
