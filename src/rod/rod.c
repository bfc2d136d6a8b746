// SPDX-License-Identifier: Apache-2.0
// Rods: added, held, saved. What a definition may be is checked here; what follows from it is made
// by the kind of the rod.
#include "rod/rod.h"
#include "base/vec3.h"
#include "rod/rod_impl.h"
#include <math.h>
#include <string.h>

// A natural fold of more than this angle [rad] at a node is not resolved: 2 tan(φ/2) grows without
// bound towards π.
#define ROD_FOLD 2.6
// Contacts nearer than this share of a segment to a node that is held have no effect to speak of.
#define ROD_IDLE 0.02

static const tl_rod_ops *const rod_kinds[] = {
    [TALUS_ROD_DISCRETE] = &tl_rod_discrete_ops, [TALUS_ROD_HELIX] = &tl_rod_helix_ops};
enum { ROD_KINDS = sizeof rod_kinds / sizeof *rod_kinds };

talus_status tl_rods_create(talus_context *ctx, tl_rods **out) {
    tl_rods *m;
    *out = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &m));
    m->base = (tl_model){.ops = &tl_rods_ops, .ctx = ctx};
    const talus_status status = TL_ALLOC(ctx, 1, &m->start);
    if (status == TALUS_OK)
        *out = m;
    else
        tl_free(ctx, m);
    return status;
}

// ---- checks ------------------------------------------------------------------------------------

static talus_status rod_check_numbers(talus_context *ctx, const talus_rod_def *def) {
    const struct {
        const char *name;
        double value;
        bool positive;
    } all[] = {{"radius", def->radius, true},    {"density", def->density, true},
               {"young", def->young, true},      {"shear", def->shear, false},
               {"damping", def->damping, false}, {"drag", def->drag, false}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TL_REQUIRE(ctx,
                   isfinite(all[k].value) && all[k].value >= 0.0 &&
                       (all[k].value > 0.0 || !all[k].positive),
                   TALUS_ERR_ARG, "rod: %s = %g must be finite and %s", all[k].name, all[k].value,
                   all[k].positive ? "positive" : "not negative");
    TL_REQUIRE(ctx, (int)def->kind >= 0 && (int)def->kind < ROD_KINDS && rod_kinds[def->kind],
               TALUS_ERR_ARG, "rod: there is no kind %d", (int)def->kind);
    TL_REQUIRE(ctx, def->nodes >= 2 && def->nodes <= INT32_MAX / 64, TALUS_ERR_ARG,
               "rod: %d nodes; there must be at least 2", (int)def->nodes);
    TL_REQUIRE(ctx, def->position, TALUS_ERR_ARG, "rod: no positions are given");
    for (int k = 0; k < 3; k++)
        TL_REQUIRE(ctx, isfinite(def->velocity[k]), TALUS_ERR_ARG,
                   "rod: velocity[%d] = %g is not finite", k, def->velocity[k]);
    const talus_rod_end ends[2] = {def->start, def->end};
    for (int k = 0; k < 2; k++)
        TL_REQUIRE(ctx, (int)ends[k] >= 0 && ends[k] <= TALUS_END_CLAMPED, TALUS_ERR_ARG,
                   "rod: there is no way %d to hold an end", (int)ends[k]);
    return TALUS_OK;
}

// Points of a centre line: finite, no two that follow each other in one place, no sharp fold.
static talus_status rod_check_line(talus_context *ctx, const char *name, int32_t nodes,
                                   const double *x) {
    double before[3] = {0};
    for (int64_t k = 0; k < 3 * (int64_t)nodes; k++)
        TL_REQUIRE(ctx, isfinite(x[k]), TALUS_ERR_ARG, "rod: %s of node %lld is not finite", name,
                   (long long)(k / 3));
    for (int32_t i = 0; i + 1 < nodes; i++) {
        double t[3];
        tl_sub3(x + 3 * (int64_t)(i + 1), x + 3 * (int64_t)i, t);
        const double length = tl_norm3(t);
        TL_REQUIRE(ctx, length > 0.0 && isfinite(length), TALUS_ERR_ARG,
                   "rod: %s: the segment from node %d to node %d has the length %g; take one of "
                   "them away or move it",
                   name, (int)i, (int)i + 1, length);
        tl_scale3(1.0 / length, t, t);
        TL_REQUIRE(ctx, i == 0 || tl_dot3(before, t) > cos(ROD_FOLD), TALUS_ERR_ARG,
                   "rod: %s: folded back at node %d by %.0f degrees, the most is %.0f; bend it "
                   "over more nodes",
                   name, (int)i, acos(fmax(-1.0, tl_dot3(before, t))) * 57.29577951308232,
                   ROD_FOLD * 57.29577951308232);
        tl_copy3(t, before);
    }
    return TALUS_OK;
}

static double rod_length(const talus_rod_def *def, int32_t segment) {
    const double *x = (def->natural ? def->natural : def->position) + 3 * (int64_t)segment;
    double d[3];
    tl_sub3(x + 3, x, d);
    return tl_norm3(d);
}

static talus_status rod_check_curvature(talus_context *ctx, const talus_rod_def *def) {
    for (int32_t i = 0; def->curvature && i + 2 < def->nodes; i++) {
        const double *k = def->curvature + 3 * (int64_t)i;
        const double cell = 0.5 * (rod_length(def, i) + rod_length(def, i + 1));
        const double angle = cell * hypot(k[0], k[1]);
        TL_REQUIRE(ctx, isfinite(k[0]) && isfinite(k[1]) && isfinite(k[2]), TALUS_ERR_ARG,
                   "rod: curvature of inner node %d is not finite", (int)i);
        TL_REQUIRE(ctx, angle <= ROD_FOLD, TALUS_ERR_ARG,
                   "rod: the natural curvature %g /m at inner node %d bends it by %.0f degrees "
                   "over %g m, the most is %.0f; take more nodes",
                   hypot(k[0], k[1]), (int)i, angle * 57.29577951308232, cell,
                   ROD_FOLD * 57.29577951308232);
        TL_REQUIRE(
            ctx, fabs(k[2]) * cell <= 3.0, TALUS_ERR_ARG,
            "rod: the natural twist %g /m at inner node %d turns it by %g rad over %g m, the "
            "most is 3; take more nodes",
            k[2], (int)i, k[2] * cell, cell);
    }
    return TALUS_OK;
}

static talus_status rod_check(talus_context *ctx, const talus_rod_def *def) {
    TL_TRY(rod_check_numbers(ctx, def));
    TL_TRY(rod_check_line(ctx, "position", def->nodes, def->position));
    if (def->natural) TL_TRY(rod_check_line(ctx, "natural", def->nodes, def->natural));
    TL_TRY(rod_check_curvature(ctx, def));
    const double r = def->radius, pi = 3.14159265358979323846;
    double least = INFINITY;
    for (int32_t i = 0; i + 1 < def->nodes; i++) least = fmin(least, rod_length(def, i));
    const double most = def->young * pi * r * r / least +
                        fmax(def->young, def->shear) * pi * r * r * r * r / (least * least * least);
    TL_REQUIRE(ctx, most < 1e150, TALUS_ERR_ARG,
               "rod: with young %g, shear %g, radius %g and a shortest segment of %g its stiffness "
               "is %g N/m, more than numbers can hold",
               def->young, def->shear, r, least, most);
    TL_REQUIRE(ctx, def->density * r * r * r * r * least > 1e-150, TALUS_ERR_ARG,
               "rod: with density %g, radius %g and a shortest segment of %g its mass is less than "
               "numbers can hold",
               def->density, r, least);
    for (int64_t k = 0; def->director && k < 3 * (int64_t)(def->nodes - 1); k++)
        TL_REQUIRE(ctx, isfinite(def->director[k]), TALUS_ERR_ARG,
                   "rod: director of segment %lld is not finite", (long long)(k / 3));
    return TALUS_OK;
}

// ---- adding ------------------------------------------------------------------------------------

static void rod_destroy(tl_rod *rod) {
    if (!rod) return;
    talus_context *ctx = rod->ctx;
    if (rod->ops) rod->ops->destroy(rod);
    tl_free(ctx, (void *)rod->def.position);
    tl_free(ctx, (void *)rod->def.natural);
    tl_free(ctx, (void *)rod->def.curvature);
    tl_free(ctx, (void *)rod->def.director);
    tl_free(ctx, rod->rest);
    tl_free(ctx, rod->state);
    tl_free(ctx, rod);
}

static talus_status rod_create(talus_context *ctx, const talus_rod_def *def, tl_rod **out) {
    talus_status status = TALUS_OK;
    tl_rod *rod;
    TL_TRY(TL_ALLOC(ctx, 1, &rod));
    const int64_t n = def->nodes;
    rod->ctx = ctx;
    rod->band = -1;
    rod->def = *def;
    rod->def.position = rod->def.natural = rod->def.curvature = rod->def.director = NULL;
    if (rod->def.shear == 0.0) rod->def.shear = def->young / 3.0;
    for (int k = 0; k < 2; k++) rod->hold[k].local = rod->hold[k].next = (tl_pose){.q = {1.0}};
    TL_GOTO(TL_COPY(ctx, def->position, 3 * n, &rod->def.position));
    TL_GOTO(TL_COPY(ctx, def->natural, 3 * n, &rod->def.natural));
    TL_GOTO(TL_COPY(ctx, def->curvature, 3 * (n - 2), &rod->def.curvature));
    TL_GOTO(TL_COPY(ctx, def->director, 3 * (n - 1), &rod->def.director));
    rod->ops = rod_kinds[def->kind];
    TL_GOTO(rod->ops->create(rod));
    *out = rod;
    return TALUS_OK;
done:
    rod_destroy(rod);
    return status;
}

static talus_status rods_reserve(tl_rods *m, int64_t nodes) {
    talus_context *ctx = m->base.ctx;
    const int64_t n = m->count, used = m->start[m->count], need = used + nodes;
    if (n == m->room) {
        const int64_t room = n + n / 2 + 8;
        TL_TRY(tl_realloc(ctx, n, room, sizeof(tl_rod *), &m->rod));
        TL_TRY(tl_realloc(ctx, n + 1, room + 1, sizeof *m->start, &m->start));
        TL_TRY(tl_realloc(ctx, n, room, sizeof *m->radius, &m->radius));
        TL_TRY(tl_realloc(ctx, n, room, sizeof *m->material, &m->material));
        TL_TRY(tl_realloc(ctx, n, room, sizeof *m->kind, &m->kind));
        m->room = (int32_t)room;
    }
    TL_REQUIRE(ctx, need < INT32_MAX / 8, TALUS_ERR_ARG, "rod: %lld nodes in all", (long long)need);
    if (need <= m->node_room) return TALUS_OK;
    const int64_t room = need + need / 2;
    double **const three[] = {&m->x, &m->v, &m->director, &m->begin, &m->end};
    for (size_t k = 0; k < sizeof three / sizeof *three; k++)
        TL_TRY(tl_realloc(ctx, 3 * used, 3 * room, sizeof(double), three[k]));
    TL_TRY(tl_realloc(ctx, used, room, sizeof(double), &m->strain));
    TL_TRY(tl_realloc(ctx, used, room, sizeof *m->owner, &m->owner));
    TL_TRY(tl_realloc(ctx, used, room, sizeof *m->chord, &m->chord));
    m->node_room = (int32_t)room;
    return TALUS_OK;
}

void tl_rods_show(tl_rods *m, int32_t rod) {
    const int64_t at = m->start[rod];
    m->rod[rod]->ops->show(m->rod[rod], m->x + 3 * at, m->v + 3 * at, m->director + 3 * at,
                           m->strain + at);
}

talus_status tl_rods_add(tl_rods *m, const talus_rod_def *def, const tl_pose *const body[2]) {
    talus_status status = TALUS_OK;
    tl_rod *rod;
    TL_TRY(rod_check(m->base.ctx, def));
    TL_TRY(rod_create(m->base.ctx, def, &rod));
    TL_GOTO(rods_reserve(m, rod->nodes));
    for (int k = 0; k < 2; k++) {
        tl_pose back;
        rod->hold[k].local = rod->hold[k].next;
        if (!body[k]) continue;
        tl_pose_invert(body[k], &back);
        tl_pose_mul(&back, &rod->hold[k].next, &rod->hold[k].local);
    }
    const int32_t i = m->count++;
    m->rod[i] = rod;
    m->start[i + 1] = m->start[i] + rod->nodes;
    m->radius[i] = def->radius;
    m->material[i] = def->material;
    m->kind[i] = (int32_t)def->kind;
    for (int32_t k = m->start[i] - i; k < m->start[i + 1] - i - 1; k++) m->owner[k] = i;
    m->prepared.h = 0.0;
    tl_rods_show(m, i);
    return TALUS_OK;
done:
    rod_destroy(rod);
    return status;
}

void tl_rods_drop(tl_rods *m) {
    rod_destroy(m->rod[--m->count]);
    m->prepared.h = 0.0;
}

void tl_rods_destroy(tl_model *base) {
    tl_rods *m = (tl_rods *)base;
    talus_context *ctx = base->ctx;
    for (int32_t i = 0; i < m->count; i++) rod_destroy(m->rod[i]);
    void *const owned[] = {m->rod,    m->start,  m->x,        m->v,    m->director,
                           m->strain, m->radius, m->material, m->kind, m->owner,
                           m->chord,  m->begin,  m->end};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    tl_free(ctx, m);
}

// ---- what the world asks -----------------------------------------------------------------------

const talus_rod_def *tl_rods_def(const tl_rods *m, int32_t rod) { return &m->rod[rod]->def; }

talus_shape_def tl_rods_shape(const tl_rods *m, int32_t segment) {
    const int32_t i = m->owner[segment], own = segment - (m->start[i] - i);
    return (talus_shape_def){
        .kind = TALUS_SHAPE_CAPSULE, .radius = m->radius[i], .height = m->rod[i]->rest[own]};
}

void tl_rods_arc(const tl_rods *m, int32_t segment, double *begin, double *end) {
    const int32_t i = m->owner[segment], own = segment - (m->start[i] - i);
    *begin = 0.0;
    for (int32_t k = 0; k < own; k++) *begin += m->rod[i]->rest[k];
    *end = *begin + m->rod[i]->rest[own];
}

void tl_rods_hold(tl_rods *m, int32_t rod, int end, const tl_pose *body) {
    tl_rod_hold *hold = &m->rod[rod]->hold[end];
    tl_pose_mul(body, &hold->local, &hold->next);
    m->prepared.h = 0.0;
}

double tl_rods_along(const tl_rods *m, int32_t segment, const tl_pose *pose, const double arm[3],
                     double offset[3]) {
    static const double up[3] = {0.0, 0.0, 1.0};
    double t[3];
    tl_rotate(pose->q, up, t);
    const double chord = m->chord[segment];
    const double along = fmin(fmax(0.5 + tl_dot3(arm, t) / chord, 0.0), 1.0);
    tl_axpy3(arm, -(along - 0.5) * chord, t, offset);
    return along;
}

void tl_rods_velocity(const tl_rods *m, int32_t segment, double along, double begin[3],
                      double end[3]) {
    const int64_t at = 3 * ((int64_t)segment + m->owner[segment]); // its first node
    for (int k = 0; k < 3; k++) {
        begin[k] = (1.0 - along) * m->begin[at + k] + along * m->begin[at + 3 + k];
        end[k] = (1.0 - along) * m->end[at + k] + along * m->end[at + 3 + k];
    }
}

bool tl_rods_is_idle(const tl_rods *m, int32_t segment, double along) {
    const int32_t i = m->owner[segment], own = segment - (m->start[i] - i);
    const talus_rod_def *def = &m->rod[i]->def;
    if (own == 0 && def->start != TALUS_END_FREE && along < ROD_IDLE) return true;
    return own == m->rod[i]->nodes - 2 && def->end != TALUS_END_FREE && along > 1.0 - ROD_IDLE;
}

int64_t tl_rods_save(const tl_rods *m, double *out) {
    int64_t at = 0;
    for (int32_t i = 0; i < m->count; i++) {
        const tl_rod *rod = m->rod[i];
        if (out) memcpy(out + at, rod->state, (size_t)rod->state_count * sizeof *out);
        at += rod->state_count;
    }
    return at;
}

void tl_rods_load(tl_rods *m, const double *in) {
    for (int32_t i = 0; i < m->count; i++) {
        tl_rod *rod = m->rod[i];
        memcpy(rod->state, in, (size_t)rod->state_count * sizeof *in);
        in += rod->state_count;
        if (rod->ops->refresh) rod->ops->refresh(rod);
        tl_rods_show(m, i);
    }
    m->prepared.h = 0.0;
}
