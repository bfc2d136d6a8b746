// SPDX-License-Identifier: Apache-2.0
// Force and torque of the grains on every obstacle, the torque about the origin of its shape:
//     F = −Σ f,    T = −Σ (x_c − x_o) × f   over its contacts, f the force on the grain.
#include "base/compiler.h"
#include "base/vec3.h"
#include "observe/analysis.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WALLS_MOST 32 // obstacles with tables of their own

typedef struct walls_state {
    int32_t body[WALLS_MOST];
    bool touched[WALLS_MOST];
    int32_t count;
    double *value; // per frame: time, and six numbers for each
} walls_state;

static int64_t walls_stride(const walls_state *s) { return 1 + 6 * (int64_t)s->count; }

static bool walls_is_asked(const tl_analysis *a, int32_t body) {
    char number[16];
    if (!a->def.wall) return true;
    (void)snprintf(number, sizeof number, "%d", (int)body);
    return strcmp(a->def.wall, number) == 0 ||
           strcmp(a->def.wall, talus_playback_body_name(a->playback, body)) == 0;
}

static talus_status walls_begin(tl_analysis *a, void *state) {
    walls_state *s = state;
    const talus_body_view *b = &a->fixed.m->bodies;
    for (int32_t i = 0; i < b->count && s->count < WALLS_MOST; i++)
        if (b->motion[i] != TALUS_MOTION_FREE && walls_is_asked(a, i)) s->body[s->count++] = i;
    TL_REQUIRE(a->ctx, s->count > 0 || !a->def.wall, TALUS_ERR_UNKNOWN,
               "walls: there is no obstacle with the name or number '%s'", a->def.wall);
    return TL_ALLOC(a->ctx, walls_stride(s) * a->frames, &s->value);
}

static talus_status walls_frame(tl_analysis *a, void *state) {
    walls_state *s = state;
    const tl_grains *g = &a->grains;
    const talus_contact_view *c = &g->m->contacts;
    double *row = s->value + walls_stride(s) * a->frame;
    row[0] = g->m->time;
    for (int32_t i = 0; i < c->count; i++) {
        tl_link link;
        if (!tl_link_get(g, i, &link) || link.to >= 0 || link.rod) continue;
        const int32_t body = tl_grain_of(g, c->a[i]) < 0 ? c->a[i] : c->b[i];
        for (int32_t k = 0; k < s->count; k++) {
            double arm[3], torque[3], *at = row + 1 + 6 * (int64_t)k;
            if (s->body[k] != body) continue;
            tl_sub3(c->point + 3 * (int64_t)i, g->m->bodies.position + 3 * (int64_t)body, arm);
            tl_cross3(arm, link.force, torque);
            tl_axpy3(at, -1.0, link.force, at);
            tl_axpy3(at + 3, -1.0, torque, at + 3);
            s->touched[k] = true;
            break;
        }
    }
    return TALUS_OK;
}

// What a wall is called in tables: its name, with its number where several have that name, or its
// number. The name of a table may become that of a file: of what is not a letter or digit only -
// and _ stay.
static void walls_label(const tl_analysis *a, const walls_state *s, int32_t k, char out[80]) {
    const char *name = talus_playback_body_name(a->playback, s->body[k]);
    int same = 0;
    for (int32_t i = 0; i < s->count; i++)
        same += strcmp(name, talus_playback_body_name(a->playback, s->body[i])) == 0;
    if (!name[0])
        (void)snprintf(out, 80, "%d", (int)s->body[k]);
    else if (same > 1)
        (void)snprintf(out, 80, "%.60s_%d", name, (int)s->body[k]);
    else
        (void)snprintf(out, 80, "%.60s", name);
    for (unsigned char *c = (unsigned char *)out; *c; c++)
        if (*c < 0x80 && !isalnum(*c) && *c != '-') *c = '_';
}

static talus_status walls_table(tl_analysis *a, const walls_state *s, int32_t k, bool torque) {
    static const char *const force_columns[3] = {"force_x", "force_y", "force_z"};
    static const char *const torque_columns[3] = {"torque_x", "torque_y", "torque_z"};
    const int32_t dim = a->info.dim;
    char label[80], name[96], title[128];
    tl_sheet *t = NULL;
    TL_ASSUME(dim == 2 || dim == 3);
    walls_label(a, s, k, label);
    (void)snprintf(name, sizeof name, "wall_%s%s", label, torque ? "_torque" : "");
    (void)snprintf(title, sizeof title, "%s of the grains on %s%s", torque ? "Torque" : "Force",
                   isdigit((unsigned char)label[0]) ? "body " : "", label);
    TL_TRY(tl_sheets_add(a->out, name, title,
                         torque ? "About the origin of its shape." : "Sum over its contacts.",
                         "line", &t));
    TL_TRY(tl_sheet_column(t, "time", "s"));
    for (int e = torque && dim == 2 ? 2 : 0; e < (torque ? 3 : dim); e++)
        TL_TRY(tl_sheet_column(t, torque ? torque_columns[e] : force_columns[e],
                               torque ? "N m" : "N"));
    for (int64_t f = 0; f < a->frames; f++) {
        const double *from = s->value + walls_stride(s) * f;
        double *row;
        int at = 1;
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = from[0];
        for (int e = torque && dim == 2 ? 2 : 0; e < (torque ? 3 : dim); e++)
            row[at++] = from[1 + 6 * (int64_t)k + (torque ? 3 : 0) + e];
    }
    return TALUS_OK;
}

static talus_status walls_end(tl_analysis *a, void *state) {
    const walls_state *s = state;
    for (int32_t k = 0; k < s->count; k++) {
        if (!s->touched[k] && !a->def.wall) continue;
        TL_TRY(walls_table(a, s, k, false));
        TL_TRY(walls_table(a, s, k, true));
    }
    return TALUS_OK;
}

static void walls_clear(tl_analysis *a, void *state) {
    tl_free(a->ctx, ((walls_state *)state)->value);
}

const tl_task tl_task_walls = {.subject = TL_SUBJECT_walls,
                               .contacts = true,
                               .size = sizeof(walls_state),
                               .begin = walls_begin,
                               .frame = walls_frame,
                               .end = walls_end,
                               .clear = walls_clear};
