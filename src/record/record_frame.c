// SPDX-License-Identifier: Apache-2.0
// The parts of a frame: shapes, materials and bodies when they are new, then the bodies and
// contacts as they are, rounded to what the recording keeps.
#include "collide/collide.h"
#include "record/record_impl.h"
#include "record/round.h"
#include <math.h>
#include <string.h>

// ---- names ----

talus_status tl_record_add_name(talus_recording *r, const char *name) {
    if (r->known_count == r->known_room) {
        const int32_t room = r->known_room + r->known_room / 2 + 16;
        TL_TRY(tl_realloc(r->ctx, r->known_count, room, sizeof *r->known, &r->known));
        r->known_room = room;
    }
    TL_TRY(TL_COPY(r->ctx, name, (int64_t)strlen(name) + 1, &r->known[r->known_count]));
    r->known_count++;
    return TALUS_OK;
}

void tl_record_forget_names(talus_recording *r) {
    for (int32_t k = 0; k < r->known_count; k++) tl_free(r->ctx, r->known[k]);
    tl_free(r->ctx, r->known);
    r->known = NULL;
    r->known_count = r->known_room = 0;
}

// There are as many as a scene has entries, and neighbours mostly share theirs.
talus_status tl_record_name(talus_recording *r, const char *name, int32_t *out) {
    *out = -1;
    if (!name || !name[0]) return TALUS_OK;
    for (int32_t k = r->known_count - 1; k >= 0; k--)
        if (strcmp(r->known[k], name) == 0) {
            *out = k;
            return TALUS_OK;
        }
    TL_TRY(tl_record_add_name(r, name));
    TL_TRY(tl_record_append(r, TL_NAME_TEXT, (int64_t)strlen(name) + 1, name));
    *out = r->known_count - 1;
    return TALUS_OK;
}

// ---- what does not change ----

// Points of a shape that has them.
static int32_t record_point_count(const talus_shape_def *s) {
    const bool has = s->kind == TALUS_SHAPE_POLYHEDRON || s->kind == TALUS_SHAPE_WORM ||
                     s->kind == TALUS_SHAPE_MESH;
    return has && s->point ? s->point_count : 0;
}

static talus_status record_parts(talus_recording *r, const talus_shape_def *s) {
    for (int32_t k = 0; s->kind == TALUS_SHAPE_CLUMP && k < s->part_count; k++) {
        const talus_part *part = &s->part[k];
        const int32_t kind = (int32_t)part->shape->kind, points = record_point_count(part->shape);
        TL_TRY(tl_record_append(r, TL_PART_KIND, 1, &kind));
        TL_TRY(tl_record_append(r, TL_PART_RADIUS, 1, &part->shape->radius));
        TL_TRY(tl_record_append(r, TL_PART_HALF, 1, part->shape->half));
        TL_TRY(tl_record_append(r, TL_PART_HEIGHT, 1, &part->shape->height));
        TL_TRY(tl_record_append(r, TL_PART_EXPONENT, 1, part->shape->exponent));
        TL_TRY(tl_record_append(r, TL_PART_POINTS, 1, &points));
        TL_TRY(tl_record_append(r, TL_PART_POSITION, 1, part->position));
        TL_TRY(tl_record_append(r, TL_PART_ORIENTATION, 1, part->orientation));
        TL_TRY(tl_record_append(r, TL_SHAPE_POINT, points, part->shape->point));
    }
    return TALUS_OK;
}

static talus_status record_triangles(talus_recording *r, int32_t dim, const talus_shape_def *s,
                                     int32_t count) {
    enum { ROWS = 256 };
    int32_t row[ROWS][3];
    if (dim == 3) return tl_record_append(r, TL_SHAPE_TRIANGLE, count, s->triangle);
    for (int32_t t = 0; t < count; t += ROWS) {
        const int32_t rows = count - t < ROWS ? count - t : ROWS;
        for (int32_t i = 0; i < rows; i++) {
            row[i][0] = s->triangle[2 * (int64_t)(t + i)];
            row[i][1] = s->triangle[2 * (int64_t)(t + i) + 1];
            row[i][2] = -1;
        }
        TL_TRY(tl_record_append(r, TL_SHAPE_TRIANGLE, rows, row));
    }
    return TALUS_OK;
}

// Shapes that are new since the last frame; likewise materials.
static talus_status record_shapes(talus_recording *r, const talus_world *w) {
    const int32_t dim = talus_world_get_def(w).dim;
    talus_shape_def s;
    while (talus_world_shape_at(w, (int32_t)r->column[TL_SHAPE_KIND].rows, &s)) {
        const int32_t kind = (int32_t)s.kind, points = record_point_count(&s);
        const int32_t triangles = s.kind == TALUS_SHAPE_MESH ? s.triangle_count : 0;
        const int32_t parts = s.kind == TALUS_SHAPE_CLUMP ? s.part_count : 0;
        const uint8_t open_top = s.open_top;
        TL_TRY(tl_record_append(r, TL_SHAPE_KIND, 1, &kind));
        TL_TRY(tl_record_append(r, TL_SHAPE_RADIUS, 1, &s.radius));
        TL_TRY(tl_record_append(r, TL_SHAPE_HALF, 1, s.half));
        TL_TRY(tl_record_append(r, TL_SHAPE_OPEN_TOP, 1, &open_top));
        TL_TRY(tl_record_append(r, TL_SHAPE_HEIGHT, 1, &s.height));
        TL_TRY(tl_record_append(r, TL_SHAPE_NORMAL, 1, s.normal));
        TL_TRY(tl_record_append(r, TL_SHAPE_EXPONENT, 1, s.exponent));
        TL_TRY(tl_record_append(r, TL_SHAPE_POINTS, 1, &points));
        TL_TRY(tl_record_append(r, TL_SHAPE_TRIANGLES, 1, &triangles));
        TL_TRY(tl_record_append(r, TL_SHAPE_PARTS, 1, &parts));
        TL_TRY(tl_record_append(r, TL_SHAPE_POINT, points, s.point));
        TL_TRY(record_triangles(r, dim, &s, triangles));
        TL_TRY(record_parts(r, &s));
    }
    return TALUS_OK;
}

static talus_status record_materials(talus_recording *r, const talus_world *w) {
    talus_material_def m;
    while (talus_world_material_at(w, (int32_t)r->column[TL_MATERIAL_FRICTION].rows, &m)) {
        TL_TRY(tl_record_append(r, TL_MATERIAL_FRICTION, 1, &m.friction));
        TL_TRY(tl_record_append(r, TL_MATERIAL_RESTITUTION, 1, &m.restitution));
        TL_TRY(tl_record_append(r, TL_MATERIAL_RESTITUTION_T, 1, &m.restitution_t));
        TL_TRY(tl_record_append(r, TL_MATERIAL_STIFFNESS, 1, &m.stiffness));
        TL_TRY(tl_record_append(r, TL_MATERIAL_DAMPING, 1, &m.damping));
        TL_TRY(tl_record_append(r, TL_MATERIAL_YOUNG, 1, &m.young));
        TL_TRY(tl_record_append(r, TL_MATERIAL_POISSON, 1, &m.poisson));
        TL_TRY(tl_record_append(r, TL_MATERIAL_TANGENTIAL, 1, &m.tangential));
        const int32_t index = (int32_t)r->column[TL_MATERIAL_NAME].rows;
        int32_t name;
        TL_TRY(
            tl_record_name(r, r->material_name ? r->material_name(r->user, index) : NULL, &name));
        TL_TRY(tl_record_append(r, TL_MATERIAL_NAME, 1, &name));
        for (int32_t k = 0; k <= index && talus_world_pair_at(w, index, k, &m); k++)
            TL_TRY(tl_record_append(r, TL_PAIR_FRICTION, 1, &m.friction));
    }
    return TALUS_OK;
}

static talus_status record_new_bodies(talus_recording *r, const talus_world *w,
                                      const talus_body_view *b) {
    const int64_t known = r->column[TL_BODY_SHAPE].rows, added = b->count - known;
    const int32_t dim = talus_world_get_def(w).dim;
    if (added <= 0) return TALUS_OK;
    TL_TRY(TL_RESERVE(r->ctx, added, &r->name));
    TL_TRY(TL_RESERVE(r->ctx, added, &r->state));
    for (int64_t i = 0; i < added; i++) {
        talus_shape_def shape = {0};
        (void)talus_world_shape_at(w, b->shape[known + i], &shape);
        const double extent = tl_shape_extent(dim, &shape);
        r->state[i] = isfinite(extent) ? extent : 0.0;
        TL_TRY(tl_record_name(r, r->body_name ? r->body_name(r->user, (int32_t)(known + i)) : NULL,
                              &r->name[i]));
    }
    TL_TRY(tl_record_append(r, TL_BODY_SHAPE, added, b->shape + known));
    TL_TRY(tl_record_append(r, TL_BODY_MATERIAL, added, b->material + known));
    TL_TRY(tl_record_append(r, TL_BODY_MOTION, added, b->motion + known));
    TL_TRY(tl_record_append(r, TL_BODY_MASS, added, b->mass + known));
    TL_TRY(tl_record_append(r, TL_BODY_RADIUS, added, r->state));
    return tl_record_append(r, TL_BODY_NAME, added, r->name);
}

// ---- what does ----

talus_status tl_record_reals(talus_recording *r, int column, int64_t rows, const double *values) {
    const int32_t width = tl_column_defs[column].width;
    const int64_t count = rows * width;
    if (!tl_record_has(r, column)) return TALUS_OK;
    if (r->precision == TALUS_PRECISION_DOUBLE) return tl_record_append(r, column, rows, values);
    TL_TRY(TL_RESERVE(r->ctx, count, &r->single));
    // Volumes hardly ever change: they take no room, and their sum is to be right.
    if (r->precision == TALUS_PRECISION_SINGLE || column == TL_SAND_VOLUME)
        tl_round_single(count, values, r->single);
    else if (column == TL_FRAME_POSITION || column == TL_CONTACT_POINT ||
             column == TL_SAND_POSITION || column == TL_FIBRE_POSITION)
        tl_round_places(r->unit, count, values, r->single);
    else if (column == TL_FRAME_ORIENTATION || column == TL_CONTACT_NORMAL ||
             column == TL_FIBRE_DIRECTOR)
        tl_round_places(tl_round_unit(TL_RECORD_TURN), count, values, r->single);
    else
        tl_round_vectors(width, rows, values, r->single);
    return tl_record_append(r, column, rows, r->single);
}

static talus_status record_bodies(talus_recording *r, const talus_body_view *b) {
    TL_TRY(tl_record_reals(r, TL_FRAME_POSITION, b->count, b->position));
    TL_TRY(tl_record_reals(r, TL_FRAME_ORIENTATION, b->count, b->orientation));
    TL_TRY(tl_record_reals(r, TL_FRAME_VELOCITY, b->count, b->velocity));
    return tl_record_reals(r, TL_FRAME_SPIN, b->count, b->spin);
}

static talus_status record_contacts(talus_recording *r, const talus_contact_view *c) {
    TL_TRY(tl_record_append(r, TL_CONTACT_A, c->count, c->a));
    TL_TRY(tl_record_append(r, TL_CONTACT_B, c->count, c->b));
    TL_TRY(tl_record_append(r, TL_CONTACT_FEATURE, c->count, c->feature));
    TL_TRY(tl_record_append(r, TL_CONTACT_STATUS, c->count, c->status));
    TL_TRY(tl_record_reals(r, TL_CONTACT_POINT, c->count, c->point));
    TL_TRY(tl_record_reals(r, TL_CONTACT_NORMAL, c->count, c->normal));
    TL_TRY(tl_record_reals(r, TL_CONTACT_GAP, c->count, c->gap));
    TL_TRY(tl_record_reals(r, TL_CONTACT_IMPULSE, c->count, c->impulse));
    TL_TRY(tl_record_reals(r, TL_CONTACT_VELOCITY, c->count, c->velocity));
    return tl_record_append(r, TL_CONTACT_OFFSET, 1, &r->column[TL_CONTACT_A].rows);
}

talus_status tl_record_frame(talus_recording *r, const talus_world *w, int64_t step) {
    talus_body_view bodies;
    talus_contact_view contacts;
    talus_world_bodies(w, &bodies);
    talus_world_contacts(w, &contacts);
    const double time_now = talus_world_time(w);
    const uint64_t hash = talus_world_hash(w);
    TL_TRY(record_shapes(r, w));
    TL_TRY(record_materials(r, w));
    TL_TRY(record_new_bodies(r, w, &bodies));
    TL_TRY(record_bodies(r, &bodies));
    if (r->holds.contacts) TL_TRY(record_contacts(r, &contacts));
    if (r->holds.sand) TL_TRY(tl_record_sand(r, w));
    TL_TRY(tl_record_rods(r, w));
    TL_TRY(tl_record_append(r, TL_FRAME_TIME, 1, &time_now));
    TL_TRY(tl_record_append(r, TL_FRAME_STEP, 1, &step));
    TL_TRY(tl_record_append(r, TL_FRAME_HASH, 1, &hash));
    return tl_record_append(r, TL_FRAME_OFFSET, 1, &r->column[TL_FRAME_POSITION].rows);
}
