// SPDX-License-Identifier: Apache-2.0
// Natural curvatures from a shape at rest: the world finds the contacts, rod/inverse.h the strains.
#include "base/vec3.h"
#include "rod/inverse.h"
#include "rod/rod_impl.h"
#include "world/world_impl.h"
#include <string.h>

#define INVERT_REACH 0.05 // of the least radius: what touches

const char *talus_wish_text(talus_wish wish) {
    static const char *const text[] = {
#define INVERT_TEXT(name, words, what) [name] = words,
        TALUS_WISH_LIST(INVERT_TEXT)
#undef INVERT_TEXT
    };
    const size_t index = (size_t)wish;
    return index < sizeof text / sizeof *text ? text[index] : "unknown wish";
}

talus_invert_def talus_invert_default(void) {
    return (talus_invert_def){.wish = TALUS_WISH_PLACED,
                              .regular = 1e-8,
                              .solver = "auto",
                              .tolerance = 1e-8,
                              .iterations = 10000};
}

// What the inverse is made of; strains of all rods in a row.
typedef struct invert_arrays {
    int32_t *start, *rod;
    int64_t *row_start;
    double *stiffness, *strain, *weight, *wished, *natural, *block, *mu, *r;
    int32_t contacts;
} invert_arrays;

static void invert_clear(talus_context *ctx, invert_arrays *a) {
    void *const owned[] = {a->start,  a->rod,     a->row_start, a->stiffness, a->strain, a->weight,
                           a->wished, a->natural, a->block,     a->mu,        a->r};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
}

static talus_status invert_check(const talus_world *w, const talus_invert_def *def) {
    TL_REQUIRE(w->ctx, w->rods && w->rods->count > 0, TALUS_ERR_ARG,
               "invert: the world has no rods");
    TL_REQUIRE(w->ctx, (int)def->wish >= 0 && def->wish <= TALUS_WISH_STRAIGHT, TALUS_ERR_ARG,
               "invert: there is no wish %d", (int)def->wish);
    TL_REQUIRE(w->ctx, def->regular > 0.0 && isfinite(def->regular), TALUS_ERR_ARG,
               "invert: regular = %g must be positive", def->regular);
    TL_REQUIRE(w->ctx, def->reach >= 0.0 && isfinite(def->reach), TALUS_ERR_ARG,
               "invert: reach = %g must not be negative", def->reach);
    for (int32_t i = 0; i < w->rigid->count; i++)
        TL_REQUIRE(w->ctx, tl_rigid_is_immovable(w->rigid, i), TALUS_ERR_ARG,
                   "invert: body %d moves freely; fix it, or give it a motion", (int)i);
    TL_REQUIRE(w->ctx, !w->sand, TALUS_ERR_ARG, "invert: not in a world with sand");
    return TALUS_OK;
}

// Statics of all rods.
static talus_status invert_rods(const talus_world *w, invert_arrays *a) {
    const tl_rods *m = w->rods;
    talus_context *ctx = w->ctx;
    TL_TRY(TL_ALLOC(ctx, m->count + 1, &a->start));
    for (int32_t i = 0; i < m->count; i++) a->start[i + 1] = a->start[i] + m->rod[i]->dof;
    const int32_t n = a->start[m->count];
    TL_TRY(TL_ALLOC(ctx, n, &a->stiffness));
    TL_TRY(TL_ALLOC(ctx, n, &a->strain));
    TL_TRY(TL_ALLOC(ctx, n, &a->weight));
    TL_TRY(TL_ALLOC(ctx, n, &a->wished));
    TL_TRY(TL_ALLOC(ctx, n, &a->natural));
    for (int32_t i = 0; i < m->count; i++) {
        const tl_rod *rod = m->rod[i];
        const int32_t at = a->start[i];
        TL_REQUIRE(ctx,
                   rod->ops->statics && rod->ops->statics(rod, w->def.gravity, a->stiffness + at,
                                                          a->strain + at, a->weight + at),
                   TALUS_ERR_ARG,
                   "invert: rod %d is of kind %s; it must be of kind helix, with its start clamped",
                   (int)i, rod->ops->name);
    }
    return TALUS_OK;
}

static void invert_wish(const tl_rods *m, talus_wish wish, invert_arrays *a) {
    for (int32_t i = 0; i < m->count; i++)
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
            const int32_t tip = a->start[i + 1] - 3 + (k - a->start[i]) % 3;
            a->wished[k] = wish == TALUS_WISH_PLACED ? a->strain[k]
                           : wish == TALUS_WISH_TIP  ? a->strain[tip]
                                                     : 0.0;
        }
}

// Rows of the contacts that touch, from the stage.
static talus_status invert_rows(talus_world *w, double reach, invert_arrays *a) {
    const tl_stage *s = &w->stage;
    int32_t first = 0;
    int64_t blocks = 0, values = 0;
    for (int k = 0; k < w->model_count; k++)
        if (w->model[k] == &w->rods->base) first = s->first_group[k];
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            TL_TRY(TL_ALLOC(w->ctx, a->contacts + 1, &a->row_start));
            TL_TRY(TL_ALLOC(w->ctx, blocks, &a->rod));
            TL_TRY(TL_ALLOC(w->ctx, values, &a->block));
            TL_TRY(TL_ALLOC(w->ctx, a->contacts, &a->mu));
            TL_TRY(TL_ALLOC(w->ctx, 3 * (int64_t)a->contacts, &a->r));
        }
        blocks = values = a->contacts = 0;
        for (int32_t i = 0; i < s->contacts; i++) {
            int64_t from = s->h_value[i];
            const int64_t before = blocks;
            if (s->touch[i].gap > reach) continue;
            for (int64_t e = s->h_start[i]; e < s->h_start[i + 1]; e++) {
                const int32_t group = s->h_body[e], size = tl_stage_size(s, group);
                const int64_t count = (int64_t)s->size * size;
                if (group < s->groups) { // not an idle one
                    if (pass == 1) {
                        a->rod[blocks] = group - first;
                        memcpy(a->block + values, s->h_block + from,
                               (size_t)count * sizeof(double));
                    }
                    blocks++;
                    values += count;
                }
                from += count;
            }
            if (blocks == before) continue;
            if (pass == 1) {
                a->row_start[a->contacts + 1] = blocks;
                a->mu[a->contacts] = s->mu[i];
            }
            a->contacts++;
        }
    }
    return TALUS_OK;
}

// g − K (q − p) + Hᵀ r from the parts, over the largest of g.
static double invert_balance(const tl_rods *m, const invert_arrays *a) {
    const int32_t n = a->start[m->count];
    double *left = a->wished, worst = 0.0, most = 0.0; // what was wished for is no more needed
    const double *h = a->block;
    for (int32_t k = 0; k < n; k++)
        left[k] = a->weight[k] - a->stiffness[k] * (a->strain[k] - a->natural[k]);
    for (int32_t i = 0; i < a->contacts; i++)
        for (int64_t e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
            const int32_t at = a->start[a->rod[e]], size = a->start[a->rod[e] + 1] - at;
            for (int row = 0; row < 3; row++)
                for (int32_t k = 0; k < size; k++) left[at + k] += *h++ * a->r[3 * i + row];
        }
    for (int32_t k = 0; k < n; k++) {
        worst = fmax(worst, fabs(left[k]));
        most = fmax(most, fabs(a->weight[k]));
    }
    return most > 0.0 ? worst / most : worst;
}

static talus_status invert_apply(tl_rods *m, const invert_arrays *a) {
    for (int32_t i = 0; i < m->count; i++)
        TL_TRY(m->rod[i]->ops->set_natural(m->rod[i], a->natural + a->start[i]));
    return TALUS_OK;
}

talus_status talus_world_invert_rods(talus_world *w, const talus_invert_def *def,
                                     talus_invert_info *info) {
    invert_arrays a = {0};
    tl_inverse_info solved = {0};
    tl_step step = {.time = w->time, .h = w->def.step, .theta = 1.0, .threads = w->def.threads};
    double seconds;
    talus_status status;
    TL_TRY(invert_check(w, def));
    const double reach = def->reach > 0.0 ? def->reach : INVERT_REACH * w->smallest;
    tl_copy3(w->def.gravity, step.gravity);
    tl_rods_grip(w, &step);
    TL_GOTO(tl_stage_fill(w, &step, reach, &seconds));
    TL_GOTO(invert_rows(w, reach, &a));
    TL_GOTO(invert_rods(w, &a));
    invert_wish(w->rods, def->wish, &a);
    const tl_inverse in = {.rods = w->rods->count,
                           .start = a.start,
                           .stiffness = a.stiffness,
                           .strain = a.strain,
                           .weight = a.weight,
                           .wished = a.wished,
                           .contacts = a.contacts,
                           .row_start = a.row_start,
                           .rod = a.rod,
                           .block = a.block,
                           .mu = a.mu,
                           .regular = def->regular,
                           .solver = def->solver,
                           .tolerance = def->tolerance,
                           .iterations = def->iterations};
    TL_GOTO(tl_inverse_solve(w->ctx, &in, a.natural, a.r, &solved));
    TL_GOTO(invert_apply(w->rods, &a));
    *info = (talus_invert_info){.rods = w->rods->count,
                                .contacts = a.contacts,
                                .outcome = solved.outcome,
                                .iterations = solved.iterations,
                                .residual = solved.residual,
                                .change = solved.change,
                                .alone = solved.alone,
                                .balance = invert_balance(w->rods, &a)};
    for (int32_t i = 0; i < a.contacts; i++)
        info->force = fmax(info->force, tl_norm3(a.r + 3 * (int64_t)i));
done:
    talus_problem_destroy(w->problem); // its H was that of the stage
    w->problem = NULL;
    w->rods->prepared.h = 0.0;
    invert_clear(w->ctx, &a);
    return status;
}
