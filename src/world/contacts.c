// SPDX-License-Identifier: Apache-2.0
// Contacts that outlive a step: what a user looks at, and what the next step starts from.
#include "base/vec3.h"
#include "world/world_impl.h"
#include <string.h>

talus_status tl_contacts_reserve(talus_context *ctx, tl_contacts *c, int64_t need) {
    if (need <= c->room && !c->nameless) return TALUS_OK;
    const int64_t room = need > c->room ? need + need / 8 : c->room, n = c->count;
    const struct {
        void *array;
        int width;
        size_t size;
    } all[] = {{&c->a, 1, sizeof *c->a},
               {&c->b, 1, sizeof *c->b},
               {&c->feature, 1, sizeof *c->feature},
               {&c->point, 3, sizeof *c->point},
               {&c->normal, 3, sizeof *c->normal},
               {&c->gap, 1, sizeof *c->gap},
               {&c->impulse, 3, sizeof *c->impulse},
               {&c->velocity, 3, sizeof *c->velocity},
               {&c->status, 1, sizeof *c->status}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TL_TRY(tl_realloc(ctx, n * all[k].width, room * all[k].width, all[k].size, all[k].array));
    c->room = (int32_t)room;
    return TALUS_OK;
}

void tl_contacts_forget(talus_context *ctx, tl_contacts *c) {
    void *const told[] = {c->point, c->normal, c->gap, c->velocity, c->status};
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) tl_free(ctx, told[k]);
    c->point = c->normal = c->gap = c->velocity = NULL;
    c->status = NULL;
    c->nameless = true;
}

talus_status tl_contacts_begin(talus_context *ctx, tl_contacts *c, int32_t count) {
    tl_contacts_clear(ctx, c);
    TL_TRY(TL_ALLOC(ctx, count, &c->a));
    TL_TRY(TL_ALLOC(ctx, count, &c->b));
    TL_TRY(TL_ALLOC(ctx, count, &c->feature));
    TL_TRY(TL_ALLOC(ctx, count, &c->gap));
    TL_TRY(TL_ALLOC(ctx, 3 * (int64_t)count, &c->normal));
    c->count = c->room = count;
    return TALUS_OK;
}

talus_status tl_contacts_complete(talus_context *ctx, tl_contacts *c) {
    TL_TRY(TL_RESERVE(ctx, 3 * (int64_t)c->count, &c->point));
    TL_TRY(TL_RESERVE(ctx, 3 * (int64_t)c->count, &c->impulse));
    TL_TRY(TL_RESERVE(ctx, 3 * (int64_t)c->count, &c->velocity));
    return TL_RESERVE(ctx, c->count, &c->status);
}

void tl_contacts_clear(talus_context *ctx, tl_contacts *c) {
    void *const owned[] = {c->a,   c->b,       c->feature,  c->point, c->normal,
                           c->gap, c->impulse, c->velocity, c->status};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    *c = (tl_contacts){0};
}

// Open: no impulse to speak of beside the largest one of all. Sliding: on the edge of the cone.
#define CONTACTS_OPEN 1e-12
#define CONTACTS_EDGE 1e-6

static uint8_t contacts_status(int32_t dim, const double *r, double mu, double largest) {
    const double tangent = dim == 2 ? fabs(r[1]) : hypot(r[1], r[2]);
    if (!(r[0] > CONTACTS_OPEN * largest)) return 0;
    return tangent >= (1.0 - CONTACTS_EDGE) * mu * r[0] ? 2 : 1;
}

void tl_contacts_describe(talus_world *w, int32_t i, const tl_touch *t) {
    tl_contacts *c = &w->contacts;
    const int64_t at = 3 * (int64_t)i;
    c->a[i] = t->a;
    c->b[i] = t->b;
    c->feature[i] = t->feature;
    c->gap[i] = t->gap;
    tl_copy3(t->normal, c->normal + at);
    tl_axpy3(w->stage.pose[t->a].x, 1.0, t->arm_a, c->point + at);
    tl_axpy3(c->point + at, -0.5 * t->gap, t->normal, c->point + at);
}

// Where a body was when contacts were looked for, as its model placed it.
static void contacts_centre(const talus_world *w, int32_t body, double x[3]) {
    const tl_rigid *m = w->rigid;
    const tl_step *step = &w->stage.step;
    const double part = step->h * (1.0 - step->theta);
    const int64_t at = 3 * (int64_t)body;
    double q[4];
    if (m->script_of[body] >= 0)
        tl_rigid_script_pose(m, body, step->time + part, x, q);
    else
        tl_axpy3(m->x + at, m->group[body] >= 0 ? part : 0.0, m->v + at, x);
}

// The point of a contact of the lean stage, from the ball that has it: along the normal from the
// centre of a, or of the image of b that is nearest to a.
static void contacts_point(const talus_world *w, int32_t i) {
    const tl_contacts *c = &w->next;
    const tl_rigid *m = w->rigid;
    const int32_t a = c->a[i], b = c->b[i];
    const double *normal = c->normal + 3 * (int64_t)i;
    double *point = c->point + 3 * (int64_t)i, from[3], other[3];
    contacts_centre(w, m->swing[a] == 0.0 ? a : b, from);
    if (m->swing[a] == 0.0) {
        tl_axpy3(from, -m->extent[a] - 0.5 * c->gap[i], normal, point);
        return;
    }
    contacts_centre(w, a, other);
    for (int k = 0; isfinite(m->extent[a]) && k < 3; k++)
        if (w->def.period[k] > 0.0)
            from[k] += w->def.period[k] * rint((other[k] - from[k]) / w->def.period[k]);
    tl_axpy3(from, m->extent[b] + 0.5 * c->gap[i], normal, point);
}

void tl_contacts_take(talus_world *w, const tl_step *step) {
    const tl_stage *s = &w->stage;
    tl_contacts *c = s->lean ? &w->next : &w->contacts;
    const int32_t dim = w->def.dim;
    double largest = 0.0;
    TL_ASSUME(dim == 2 || dim == 3);
    for (int32_t i = 0; i < s->contacts; i++) largest = fmax(largest, s->r[(int64_t)i * s->size]);
    for (int32_t i = 0; i < s->contacts; i++) {
        const tl_stage_contact t = tl_stage_get(w, i);
        const int64_t at = (int64_t)i * s->size, three = 3 * (int64_t)i;
        const double *r = s->r + at;
        double frame[9], *impulse = c->impulse + three, *velocity = c->velocity + three;
        tl_frame(dim, t.normal, frame);
        if (s->lean)
            contacts_point(w, i);
        else
            tl_contacts_describe(w, i, s->touch + i);
        for (int k = 0; k < 3; k++) impulse[k] = velocity[k] = 0.0;
        for (int k = 0; k < dim; k++) {
            // what the law saw, less what it saw besides the velocity
            const double u = s->u[at + k] - s->w[at + k] + tl_stage_given(s, at + k);
            tl_axpy3(impulse, r[k], frame + 3 * k, impulse);
            tl_axpy3(velocity, u, frame + 3 * k, velocity);
        }
        c->status[i] = contacts_status(dim, r, s->mu[i], largest);
    }
    c->count = s->contacts;
    c->h = step->h;
    c->nameless = false;
    if (!s->lean) return;
    tl_contacts_clear(w->ctx, &w->contacts);
    w->contacts = w->next; // the problem's normals go along
    w->next = (tl_contacts){0};
}

void talus_world_contacts(const talus_world *w, talus_contact_view *out) {
    const tl_contacts *c = &w->contacts;
    *out = (talus_contact_view){.count = c->nameless ? 0 : c->count,
                                .a = c->a,
                                .b = c->b,
                                .feature = c->feature,
                                .point = c->point,
                                .normal = c->normal,
                                .gap = c->gap,
                                .impulse = c->impulse,
                                .velocity = c->velocity,
                                .status = c->status};
}
