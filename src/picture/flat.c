// SPDX-License-Identifier: Apache-2.0
// A show in 2D as pixels, painted from back to front: half-spaces, obstacles, grains with
// outlines, forces. Each sample holds linear light with opacity, and what is painted covers what
// was there.
#include "base/thread.h"
#include "picture/render.h"
#include <stdlib.h>
#include <string.h>

enum { FLAT_SAMPLES = 4, FLAT_ROWS = 8 };

typedef struct flat_job {
    const tl_show *show;
    const talus_picture_def *def;
    tl_gamma gamma;
    double scale, centre[2]; // samples per m; the middle of the box
    int32_t width, rows;     // samples of a band
    int32_t bands;
    float (**paint)[4]; // samples of the band of each thread
    double **cross;     // room for the crossings of a row, likewise
    uint8_t *rgba;
} flat_job;

// A band in the making.
typedef struct flat_band {
    const flat_job *j;
    float (*paint)[4];
    double (*cross)[2];
    int32_t top;
} flat_band;

static void flat_at(const flat_job *j, const double x[3], double out[2]) {
    out[0] = 0.5 * j->width + j->scale * (x[0] - j->centre[0]);
    out[1] = 0.5 * FLAT_SAMPLES * j->def->height - j->scale * (x[1] - j->centre[1]);
}

static void flat_put(float (*p)[4], const float colour[3], float opacity) {
    for (int k = 0; k < 3; k++) (*p)[k] = (*p)[k] * (1.0f - opacity) + opacity * colour[k];
    (*p)[3] = (*p)[3] * (1.0f - opacity) + opacity;
}

// Samples of a range that are within from … from + count − 1.
static bool flat_range(double low, double high, int32_t from, int32_t count, int32_t out[2]) {
    const double a = floor(low), b = ceil(high), last = (double)from + count - 1;
    if (!(a <= last && b >= from)) return false;
    out[0] = a < from ? from : (int32_t)a;
    out[1] = b > last ? from + count - 1 : (int32_t)b;
    return true;
}

// A line with round ends.
static void flat_line(flat_band *b, const double p[2], const double q[2], double half,
                      const float colour[3], float opacity) {
    int32_t column[2], row[2];
    if (!flat_range(TL_MIN(p[0], q[0]) - half, TL_MAX(p[0], q[0]) + half, 0, b->j->width, column) ||
        !flat_range(TL_MIN(p[1], q[1]) - half, TL_MAX(p[1], q[1]) + half, b->top, b->j->rows, row))
        return;
    const double d[2] = {q[0] - p[0], q[1] - p[1]}, square = d[0] * d[0] + d[1] * d[1];
    for (int32_t y = row[0]; y <= row[1]; y++)
        for (int32_t x = column[0]; x <= column[1]; x++) {
            const double u = x + 0.5 - p[0], v = y + 0.5 - p[1];
            double t = square > 0.0 ? (u * d[0] + v * d[1]) / square : 0.0;
            t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
            const double away = hypot(u - t * d[0], v - t * d[1]);
            if (away <= half)
                flat_put(&b->paint[(int64_t)(y - b->top) * b->j->width + x], colour, opacity);
        }
}

// A grain's look: colour, that of its outline, and how light falls on it.
typedef struct flat_tone {
    float fill[3], edge[3];
    float opacity;
    double wide; // of the outline, samples
} flat_tone;

static void flat_disc(flat_band *b, const double at[2], double r, const flat_tone *tone) {
    int32_t column[2], row[2];
    if (!flat_range(at[0] - r, at[0] + r, 0, b->j->width, column) ||
        !flat_range(at[1] - r, at[1] + r, b->top, b->j->rows, row))
        return;
    for (int32_t y = row[0]; y <= row[1]; y++)
        for (int32_t x = column[0]; x <= column[1]; x++) {
            const double u = x + 0.5 - at[0], v = y + 0.5 - at[1], away = hypot(u, v);
            float colour[3];
            if (away > r) continue;
            // a little lighter at the upper left
            const float shade = (float)(1.10 - 0.24 * hypot(u / r + 0.4, v / r + 0.5));
            for (int k = 0; k < 3; k++)
                colour[k] = away > r - tone->wide ? tone->edge[k] : shade * tone->fill[k];
            flat_put(&b->paint[(int64_t)(y - b->top) * b->j->width + x], colour, tone->opacity);
        }
}

static int flat_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void flat_corner(const flat_band *b, const tl_item *item, int32_t point, double out[2]) {
    double x[3];
    tl_rotate(item->q, b->j->show->surface[item->surface].point + 3 * (int64_t)point, x);
    tl_axpy3(item->x, 1.0, x, x);
    flat_at(b->j, x, out);
}

// Everything that the outline goes round, row by row: from crossing to crossing while they do not
// cancel.
static void flat_fill(flat_band *b, const tl_item *item, const flat_tone *tone) {
    const talus_surface *s = &b->j->show->surface[item->surface];
    double at[2];
    int32_t row[2], column[2];
    flat_at(b->j, item->x, at);
    const double r = item->radius * b->j->scale;
    if (!flat_range(at[1] - r, at[1] + r, b->top, b->j->rows, row)) return;
    for (int32_t y = row[0]; y <= row[1]; y++) {
        int32_t count = 0, turns = 0;
        for (int32_t t = 0; t < s->triangles; t++) {
            double p[2], q[2];
            flat_corner(b, item, s->triangle[2 * (int64_t)t], p);
            flat_corner(b, item, s->triangle[2 * (int64_t)t + 1], q);
            const double w = y + 0.5;
            if ((p[1] > w) == (q[1] > w)) continue;
            b->cross[count][0] = p[0] + (w - p[1]) / (q[1] - p[1]) * (q[0] - p[0]);
            b->cross[count++][1] = q[1] > p[1] ? 1.0 : -1.0;
        }
        qsort(b->cross, (size_t)count, sizeof *b->cross, flat_compare);
        for (int32_t k = 0; k + 1 < count; k++) {
            turns += b->cross[k][1] > 0.0 ? 1 : -1;
            if (turns == 0 ||
                !flat_range(b->cross[k][0] - 0.5, b->cross[k + 1][0], 0, b->j->width, column))
                continue;
            for (int32_t x = column[0]; x <= column[1]; x++)
                if (x + 0.5 >= b->cross[k][0] && x + 0.5 < b->cross[k + 1][0])
                    flat_put(&b->paint[(int64_t)(y - b->top) * b->j->width + x], tone->fill,
                             tone->opacity);
        }
    }
}

static void flat_stroke(flat_band *b, const tl_item *item, const flat_tone *tone) {
    const talus_surface *s = &b->j->show->surface[item->surface];
    for (int32_t t = 0; t < s->triangles; t++) {
        double p[2], q[2];
        flat_corner(b, item, s->triangle[2 * (int64_t)t], p);
        flat_corner(b, item, s->triangle[2 * (int64_t)t + 1], q);
        flat_line(b, p, q, 0.5 * tone->wide, tone->edge, 1.0f);
    }
}

static void flat_plane(flat_band *b, const tl_plane *p) {
    const flat_job *j = b->j;
    const float tone = j->def->dark ? 0.12f : 0.42f, colour[3] = {tone, tone, tone};
    double at[2];
    flat_at(j, p->x, at);
    for (int32_t y = b->top; y < b->top + j->rows; y++)
        for (int32_t x = 0; x < j->width; x++) {
            // distance above the surface, in samples; y goes down
            const double up = p->n[0] * (x + 0.5 - at[0]) - p->n[1] * (y + 0.5 - at[1]);
            if (up > 0.0) continue;
            flat_put(&b->paint[(int64_t)(y - b->top) * j->width + x], colour,
                     up > -1.6 * FLAT_SAMPLES ? 0.9f : 0.28f);
        }
}

static void flat_tone_of(const flat_job *j, const tl_item *item, flat_tone *out) {
    const bool glass = item->role == TL_ROLE_GLASS, pale = j->show->strands > 0;
    const float line = j->def->dark ? 0.36f : 0.20f, ground = j->def->dark ? 0.10f : 0.78f;
    out->opacity = glass ? 0.35f : 1.0f;
    out->wide = 1.1 * FLAT_SAMPLES;
    for (int k = 0; k < 3; k++) {
        out->fill[k] = j->gamma.linear[item->colour >> (8 * k) & 0xff];
        if (pale && !glass) out->fill[k] = 0.22f * out->fill[k] + 0.78f * ground;
        out->edge[k] = glass ? line : 0.38f * out->fill[k];
    }
}

static void flat_item(flat_band *b, const tl_item *item) {
    const flat_job *j = b->j;
    double at[2];
    int32_t row[2];
    flat_tone tone;
    const double r = item->radius * j->scale;
    flat_at(j, item->x, at);
    if (!flat_range(at[1] - r - 8.0, at[1] + r + 8.0, b->top, j->rows, row)) return;
    flat_tone_of(j, item, &tone);
    if (item->surface < 0) {
        tone.wide = TL_MIN(tone.wide, 0.22 * r);
        flat_disc(b, at, r, &tone);
        if (item->body < 0 || r < 6.0 * FLAT_SAMPLES || item->role != TL_ROLE_GRAIN ||
            j->show->strands > 0)
            return;
        double x[3], end[2], begin[2]; // a mark that turns with it
        tl_rotate(item->q, (const double[3]){item->radius, 0.0, 0.0}, x);
        for (int k = 0; k < 2; k++) {
            const double away = (k == 0 ? x[0] : -x[1]) * j->scale;
            begin[k] = at[k] + 0.5 * away, end[k] = at[k] + 0.86 * away;
        }
        flat_line(b, begin, end, 0.5 * tone.wide, tone.edge, 0.6f);
        return;
    }
    const talus_moment *m = j->show->moment;
    const talus_shape_kind kind = m->shape[m->bodies.shape[item->body]].kind;
    const bool sheet =
        kind == TALUS_SHAPE_CONTAINER || kind == TALUS_SHAPE_DRUM || kind == TALUS_SHAPE_MESH;
    if (sheet) tone.wide = 2.2 * FLAT_SAMPLES;
    if (!sheet) flat_fill(b, item, &tone);
    if (item->role == TL_ROLE_GLASS || r > 2.5 * FLAT_SAMPLES) flat_stroke(b, item, &tone);
}

static void flat_force(flat_band *b, const tl_strand *t) {
    double p[2], q[2];
    float colour[3];
    uint8_t c[3];
    flat_at(b->j, t->from, p);
    flat_at(b->j, t->to, q);
    talus_picture_map(0.35 + 0.55 * sqrt(t->part), c);
    for (int k = 0; k < 3; k++) colour[k] = b->j->gamma.linear[c[k]];
    flat_line(b, p, q, TL_MAX(t->radius * b->j->scale, 0.3 * FLAT_SAMPLES), colour, 1.0f);
}

// The mean of the samples of each pixel, over the background or not.
static void flat_resolve(const flat_band *b, int32_t first) {
    const flat_job *j = b->j;
    const float part = 1.0f / (FLAT_SAMPLES * FLAT_SAMPLES);
    uint8_t ground[3];
    tl_render_ground(j->def->dark, ground);
    for (int32_t y = first; y < TL_MIN(first + FLAT_ROWS, j->def->height); y++)
        for (int32_t x = 0; x < j->def->width; x++) {
            float sum[4] = {0.0f};
            for (int32_t s = 0; s < FLAT_SAMPLES * FLAT_SAMPLES; s++) {
                const int64_t row = (int64_t)y * FLAT_SAMPLES + s / FLAT_SAMPLES - b->top;
                const float *p = b->paint[row * j->width + x * FLAT_SAMPLES + s % FLAT_SAMPLES];
                for (int k = 0; k < 4; k++) sum[k] += part * p[k];
            }
            uint8_t *out = j->rgba + 4 * ((int64_t)y * j->def->width + x);
            const float cover = j->def->clear ? sum[3] : 1.0f;
            for (int k = 0; k < 3; k++) {
                if (!j->def->clear) sum[k] += (1.0f - sum[3]) * j->gamma.linear[ground[k]];
                out[k] = cover > 0.002f ? tl_gamma_byte(&j->gamma, sum[k] / cover) : 0;
            }
            out[3] = (uint8_t)(255.0f * TL_MIN(cover, 1.0f) + 0.5f);
        }
}

static void flat_work(void *arg, tl_team *team, int rank) {
    flat_job *j = arg;
    const tl_show *s = j->show;
    static const tl_role order[] = {TL_ROLE_STONE, TL_ROLE_GLASS, TL_ROLE_GRAIN};
    for (int32_t k = rank; k < j->bands; k += tl_team_size(team)) {
        flat_band b = {.j = j,
                       .paint = j->paint[rank],
                       .cross = (double(*)[2])j->cross[rank],
                       .top = k * FLAT_ROWS * FLAT_SAMPLES};
        memset(b.paint, 0, (size_t)j->width * (size_t)j->rows * sizeof *b.paint);
        for (int32_t i = 0; i < s->planes; i++) flat_plane(&b, &s->plane[i]);
        for (int o = 0; o < 3; o++)
            for (int32_t i = 0; i < s->items; i++)
                if (s->item[i].role == order[o]) flat_item(&b, &s->item[i]);
        for (int32_t i = 0; i < s->strands; i++) flat_force(&b, &s->strand[i]);
        flat_resolve(&b, k * FLAT_ROWS);
    }
}

talus_status tl_render_flat(const tl_show *s, const talus_picture_def *def, uint8_t *rgba) {
    talus_status status = TALUS_OK;
    flat_job j = {.show = s, .def = def, .rgba = rgba, .rows = FLAT_ROWS * FLAT_SAMPLES};
    const double wide = s->box[3] - s->box[0], high = s->box[4] - s->box[1];
    int64_t most = 1;
    j.width = FLAT_SAMPLES * def->width;
    j.bands = (def->height + FLAT_ROWS - 1) / FLAT_ROWS;
    j.scale = 0.94 * FLAT_SAMPLES * TL_MIN(def->width / wide, def->height / high);
    j.centre[0] = s->middle[0], j.centre[1] = s->middle[1];
    tl_gamma_init(&j.gamma);
    for (int32_t k = 0; k < s->surfaces; k++) most = TL_MAX(s->surface[k].triangles, most);
    TL_GOTO(TL_ALLOC(s->ctx, def->threads, &j.paint));
    TL_GOTO(TL_ALLOC(s->ctx, def->threads, &j.cross));
    for (int32_t t = 0; t < def->threads; t++) {
        TL_GOTO(TL_ALLOC(s->ctx, (int64_t)j.width * j.rows, &j.paint[t]));
        TL_GOTO(TL_ALLOC(s->ctx, 2 * most, &j.cross[t]));
    }
    TL_GOTO(tl_team_reserve(s->ctx, def->threads));
    tl_parallel(s->ctx, def->threads, flat_work, &j);
done:
    for (int32_t t = 0; t < def->threads; t++) {
        if (j.paint) tl_free(s->ctx, j.paint[t]);
        if (j.cross) tl_free(s->ctx, j.cross[t]);
    }
    tl_free(s->ctx, j.paint);
    tl_free(s->ctx, j.cross);
    return status;
}
