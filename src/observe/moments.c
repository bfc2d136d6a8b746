// SPDX-License-Identifier: Apache-2.0
// Moments from recordings and worlds.
#include "base/context.h"
#include "base/vec3.h"
#include "observe/masses.h"
#include "talus/observe.h"

struct talus_moments {
    talus_context *ctx;
    talus_shape_def *shape;
    talus_material_def *material;
    tl_masses masses;
    double *centre, *friction;
    int64_t shape_room, material_room, centre_room, friction_room;
};

talus_status talus_moments_create(talus_context *ctx, talus_moments **out) {
    if (!ctx || !out) return TALUS_ERR_ARG;
    TL_TRY(TL_ALLOC(ctx, 1, out));
    (*out)->ctx = ctx;
    return TALUS_OK;
}

void talus_moments_destroy(talus_moments *m) {
    if (!m) return;
    void *const owned[] = {m->shape, m->material, m->centre, m->friction};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(m->ctx, owned[k]);
    tl_masses_clear(m->ctx, &m->masses);
    tl_free(m->ctx, m);
}

// Where shapes and materials come from.
typedef struct moments_source {
    const talus_playback *playback; // else the world
    const talus_world *world;
} moments_source;

static bool moments_shape(const moments_source *s, int32_t index, talus_shape_def *out) {
    return s->playback ? talus_playback_shape_at(s->playback, index, out)
                       : talus_world_shape_at(s->world, index, out);
}

static bool moments_material(const moments_source *s, int32_t index, talus_material_def *out) {
    return s->playback ? talus_playback_material_at(s->playback, index, out)
                       : talus_world_material_at(s->world, index, out);
}

static double moments_friction(const moments_source *s, int32_t a, int32_t b) {
    talus_material_def pair = {0};
    if (s->playback) return talus_playback_friction(s->playback, a, b);
    return talus_world_pair_at(s->world, a, b, &pair) ? pair.friction : NAN;
}

// All shapes and materials anew: arrays that they point to may have moved.
static talus_status moments_tables(talus_moments *m, const moments_source *s, talus_moment *out) {
    talus_shape_def shape;
    talus_material_def material;
    while (moments_shape(s, out->shapes, &shape)) {
        if (out->shapes == m->shape_room) {
            const int64_t room = m->shape_room ? 2 * m->shape_room : 16;
            TL_TRY(tl_realloc(m->ctx, m->shape_room, room, sizeof *m->shape, &m->shape));
            m->shape_room = room;
        }
        m->shape[out->shapes++] = shape;
    }
    while (moments_material(s, out->materials, &material)) {
        if (out->materials == m->material_room) {
            const int64_t room = m->material_room ? 2 * m->material_room : 8;
            TL_TRY(tl_realloc(m->ctx, m->material_room, room, sizeof *m->material, &m->material));
            m->material_room = room;
        }
        m->material[out->materials++] = material;
    }
    const int64_t n = out->materials;
    if (n * n > m->friction_room) {
        TL_TRY(tl_realloc(m->ctx, 0, n * n, sizeof *m->friction, &m->friction));
        m->friction_room = n * n;
    }
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) m->friction[a * n + b] = moments_friction(s, a, b);
    out->shape = m->shape;
    out->material = m->material;
    out->friction = m->friction;
    TL_TRY(tl_masses_update(m->ctx, &m->masses, out->dim, m->shape, out->shapes));
    out->mass = m->masses.mass;
    return TALUS_OK;
}

// Centres of mass, which recordings do not hold.
static talus_status moments_centres(talus_moments *m, talus_moment *out) {
    talus_body_view *b = &out->bodies;
    if (b->count > m->centre_room) {
        TL_TRY(tl_realloc(m->ctx, 0, 3 * (int64_t)b->count, sizeof *m->centre, &m->centre));
        m->centre_room = b->count;
    }
    for (int64_t i = 0; i < b->count; i++) {
        double turned[3];
        tl_rotate(b->orientation + 4 * i, m->masses.mass[b->shape[i]].centre, turned);
        tl_axpy3(b->position + 3 * i, 1.0, turned, m->centre + 3 * i);
    }
    b->centre = m->centre;
    return TALUS_OK;
}

// Length of the step that ended at a frame: from the ledger, or that of the scene without one.
static talus_status moments_step(talus_playback *p, const talus_playback_info *info, int64_t step,
                                 double *h) {
    double first = 0.0, found = 0.0;
    *h = step > 0 ? info->step : 0.0;
    if (step <= 0 || info->steps == 0) return TALUS_OK;
    TL_TRY(talus_playback_ledger(p, "step", 0, 1, &first));
    const int64_t row = step - (int64_t)first;
    if (row < 0 || row >= info->steps) return TALUS_OK;
    TL_TRY(talus_playback_ledger(p, "step", row, 1, &found));
    if ((int64_t)found != step) return TALUS_OK;
    return talus_playback_ledger(p, "h", row, 1, h);
}

talus_status talus_moments_read(talus_moments *m, talus_playback *p, int64_t frame,
                                talus_moment *out) {
    if (!m || !p || !out) return TALUS_ERR_ARG;
    const talus_playback_info info = talus_playback_get_info(p);
    talus_frame f;
    int64_t step = 0;
    *out = (talus_moment){.dim = info.dim};
    // The frame comes last: whatever is read after it may end what it points to.
    TL_TRY(talus_playback_times(p, frame, 1, NULL, &step));
    TL_TRY(moments_step(p, &info, step, &out->h));
    TL_TRY(talus_playback_frame(p, frame, &f));
    out->time = f.time;
    out->bodies = f.bodies;
    out->contacts = f.contacts;
    out->sand = f.sand;
    out->rods = f.rods;
    out->sand_cell = info.sand ? info.sand_cell : 0.0;
    out->sand_density = info.sand_density;
    tl_copy3(info.gravity, out->gravity);
    tl_copy3(info.period, out->period);
    TL_TRY(moments_tables(m, &(moments_source){.playback = p}, out));
    return moments_centres(m, out);
}

talus_status talus_moments_world(talus_moments *m, const talus_world *w, double h,
                                 talus_moment *out) {
    if (!m || !w || !out) return TALUS_ERR_ARG;
    const talus_world_def def = talus_world_get_def(w);
    *out = (talus_moment){.dim = def.dim, .time = talus_world_time(w), .h = h};
    tl_copy3(def.gravity, out->gravity);
    tl_copy3(def.period, out->period);
    talus_world_bodies(w, &out->bodies);
    talus_world_contacts(w, &out->contacts);
    out->rods = talus_world_rods(w);
    return moments_tables(m, &(moments_source){.world = w}, out);
}
