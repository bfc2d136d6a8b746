// SPDX-License-Identifier: Apache-2.0
// What a run changes, as numbers: for checkpoints. One walk over the state serves counting, writing
// and reading, so that they cannot differ. In order: a head; of each body 17 numbers, the last its
// kind of motion; of each script where and when it began; of each contact 17 numbers; of each joint
// 15; the rods; the springs of the penalty scheme; the sand.
#include "world/world_impl.h"
#include <math.h>
#include <string.h>

enum { SAVE_MARK = 0x7a15, SAVE_VERSION = 4 };

typedef struct save_head {
    double mark, version, dim, scheme, bodies, scripts, contacts, springs, joints, sand, rods;
    double time, steps, missed, elastic, contact_h, joint_h;
} save_head;

enum { SAVE_HEAD = sizeof(save_head) / sizeof(double), SAVE_BODY = 17, SAVE_SCRIPT = 8 };
enum { SAVE_CONTACT = 17, SAVE_JOINT = 15 };

// Numbers on their way out of the state, into it, or only counted.
typedef struct save_tape {
    double *out;
    const double *in;
    int64_t at;
} save_tape;

static void save_numbers(save_tape *t, double *x, int64_t n) {
    if (t->out && x && n > 0) memcpy(t->out + t->at, x, (size_t)n * sizeof *x);
    for (int64_t k = 0; t->out && !x && k < n; k++) t->out[t->at + k] = 0.0; // nothing is known
    if (t->in && n > 0) memcpy(x, t->in + t->at, (size_t)n * sizeof *x);
    t->at += n;
}

static double save_number(save_tape *t, double x) {
    save_numbers(t, &x, 1);
    return x;
}

static void save_bodies(save_tape *t, tl_rigid *m) {
    const int64_t n = m->count;
    save_numbers(t, m->x, 3 * n);
    save_numbers(t, m->q, 4 * n);
    save_numbers(t, m->v, 3 * n);
    save_numbers(t, m->spin, 3 * n);
    save_numbers(t, m->own_spin, 3 * n);
    for (int32_t i = 0; i < m->count; i++) m->motion[i] = (int32_t)save_number(t, m->motion[i]);
    for (int32_t i = 0; i < m->count; i++) {
        if (m->script_of[i] < 0) continue;
        tl_script *s = m->script + m->script_of[i];
        save_numbers(t, &s->t0, 1);
        save_numbers(t, s->x0, 3);
        save_numbers(t, s->q0, 4);
    }
}

static void save_contacts(save_tape *t, tl_contacts *c) {
    const int64_t n = c->count;
    for (int32_t i = 0; i < c->count; i++) {
        c->a[i] = (int32_t)save_number(t, c->a[i]);
        c->b[i] = (int32_t)save_number(t, c->b[i]);
        c->feature[i] = (uint32_t)save_number(t, c->feature[i]);
        const double status = save_number(t, c->status ? c->status[i] : 0.0);
        if (c->status) c->status[i] = (uint8_t)status;
    }
    save_numbers(t, c->point, 3 * n);
    save_numbers(t, c->normal, 3 * n);
    save_numbers(t, c->gap, n);
    save_numbers(t, c->impulse, 3 * n);
    save_numbers(t, c->velocity, 3 * n);
}

static void save_joints(save_tape *t, tl_joints *j) {
    const int64_t n = j->count;
    save_numbers(t, j->point, 3 * n);
    save_numbers(t, j->impulse, 3 * n);
    save_numbers(t, j->moment, 3 * n);
    save_numbers(t, j->stop, 2 * n);
    save_numbers(t, j->drive, n);
    save_numbers(t, j->position, n);
    save_numbers(t, j->error, n);
    save_numbers(t, j->angle, n);
}

static save_head save_make_head(const talus_world *w) {
    return (save_head){.mark = SAVE_MARK,
                       .version = SAVE_VERSION,
                       .dim = w->def.dim,
                       .scheme = (double)w->def.scheme,
                       .bodies = w->rigid->count,
                       .scripts = w->rigid->script_count,
                       .contacts = w->contacts.count,
                       .springs = w->springs ? (double)tl_springs_save(w->springs, NULL) : 0.0,
                       .joints = w->joints.count,
                       .sand = w->sand ? (double)tl_sand_save(w->sand, NULL) : 0.0,
                       .rods = w->rods ? (double)tl_rods_save(w->rods, NULL) : 0.0,
                       .time = w->time,
                       .steps = (double)w->steps,
                       .missed = (double)w->missed_steps,
                       .elastic = w->elastic,
                       .contact_h = w->contacts.h,
                       .joint_h = w->joints.h};
}

int64_t talus_world_save(const talus_world *w, double *out) {
    save_head head = save_make_head(w);
    tl_contacts contacts =
        w->contacts; // the arrays are shared; writing out leaves them as they are
    save_tape t = {.out = out};
    save_numbers(&t, (double *)&head, SAVE_HEAD);
    save_bodies(&t, w->rigid);
    save_contacts(&t, &contacts);
    tl_joints joints = w->joints; // likewise
    save_joints(&t, &joints);
    if (w->rods && out) tl_rods_save(w->rods, out + t.at);
    t.at += (int64_t)head.rods;
    if (w->springs && out) tl_springs_save(w->springs, out + t.at);
    t.at += (int64_t)head.springs;
    if (w->sand && out) tl_sand_save(w->sand, out + t.at);
    return t.at + (int64_t)head.sand;
}

static bool save_is_count(double x) { return x >= 0.0 && x <= INT32_MAX && x == floor(x); }

// Do the numbers belong to a world like this one?
static talus_status save_check(const talus_world *w, const double *in, int64_t count,
                               const save_head *h) {
    const save_head own = save_make_head(w);
    TL_REQUIRE(w->ctx, h->mark == SAVE_MARK && h->version == SAVE_VERSION, TALUS_ERR_FORMAT,
               "state: it does not begin like one of version %d", SAVE_VERSION);
    TL_REQUIRE(w->ctx, h->dim == own.dim && h->scheme == own.scheme && h->bodies == own.bodies,
               TALUS_ERR_FORMAT,
               "state: it is of %g bodies in %gD with scheme %g; the world has %g in %gD with %g",
               h->bodies, h->dim, h->scheme, own.bodies, own.dim, own.scheme);
    TL_REQUIRE(w->ctx, h->joints == own.joints, TALUS_ERR_FORMAT,
               "state: it is of %g joints; the world has %g", h->joints, own.joints);
    TL_REQUIRE(w->ctx,
               save_is_count(h->contacts) && h->springs >= 0.0 &&
                   (w->springs != NULL || h->springs == 0.0) && h->sand >= 0.0 &&
                   (w->sand != NULL) == (h->sand > 0.0) && h->rods == own.rods &&
                   SAVE_HEAD + SAVE_BODY * own.bodies + SAVE_SCRIPT * own.scripts +
                           SAVE_CONTACT * h->contacts + SAVE_JOINT * own.joints + own.rods +
                           h->springs + h->sand ==
                       (double)count,
               TALUS_ERR_FORMAT, "state: %lld numbers do not fit together", (long long)count);
    for (int64_t k = 0; k < count; k++)
        TL_REQUIRE(w->ctx, isfinite(in[k]), TALUS_ERR_FORMAT, "state: number %lld is not finite",
                   (long long)k);
    const double *motion = in + SAVE_HEAD + (SAVE_BODY - 1) * (int64_t)w->rigid->count;
    for (int32_t i = 0; i < w->rigid->count; i++)
        TL_REQUIRE(w->ctx, motion[i] == w->rigid->motion[i], TALUS_ERR_FORMAT,
                   "state: body %d moves in another way than in the world", (int)i);
    return TALUS_OK;
}

talus_status talus_world_load(talus_world *w, const double *in, int64_t count) {
    save_head head = {0};
    save_tape t = {.in = in};
    TL_REQUIRE(w->ctx, count >= SAVE_HEAD, TALUS_ERR_FORMAT, "state: only %lld numbers",
               (long long)count);
    save_numbers(&t, (double *)&head, SAVE_HEAD);
    TL_TRY(save_check(w, in, count, &head));
    TL_TRY(tl_contacts_reserve(w->ctx, &w->contacts, (int64_t)head.contacts));
    const int64_t springs = (int64_t)head.springs, sand = (int64_t)head.sand;
    if (w->springs) TL_TRY(tl_springs_load(w->springs, in + count - springs, springs));
    if (w->sand) TL_TRY(tl_sand_load(w->sand, in + count - sand, sand));

    // From here on nothing can fail.
    if (w->stage.lean) { // the normals of its contacts go
        talus_problem_destroy(w->problem);
        w->problem = NULL;
    }
    w->contacts.count = (int32_t)head.contacts;
    w->contacts.nameless = false;
    w->contacts.h = head.contact_h;
    w->time = head.time;
    w->steps = (int64_t)head.steps;
    w->missed_steps = (int64_t)head.missed;
    w->elastic = head.elastic;
    save_bodies(&t, w->rigid);
    tl_rigid_show(w->rigid);
    save_contacts(&t, &w->contacts);
    w->joints.h = head.joint_h;
    save_joints(&t, &w->joints);
    if (w->rods) tl_rods_load(w->rods, in + t.at);
    return TALUS_OK;
}
