// SPDX-License-Identifier: Apache-2.0
// A show in 3D as pixels. Bands are drawn one by one: solid items, then planes, forces and glass;
// each sample is lit, and the mean over the samples of a pixel is kept as light that corners dim
// (ambient) and light that they do not (direct). With o the openness of a pixel and B the
// background,
//     pixel = o ambient + direct + (b0 + o b1) B.
#include "picture/render.h"
#include "base/thread.h"
#include <string.h>

enum {
    RENDER_ROWS = 8,           // pixels of a band
    RENDER_PLANE = 0x01000000, // marks samples of planes; its low bits are the plane's number
};

// Half of the picture's height as a slope: a lens that hardly distorts.
static const double render_slope = 0.20;

typedef struct render_job {
    const tl_show *show;
    const talus_picture_def *def;
    tl_camera camera;
    tl_light light;
    tl_gamma gamma;
    tl_bins solid, glass;
    int32_t samples; // of a pixel along each axis
    int32_t **edge;  // of each surface that is glass
    int32_t *edges;
    tl_band *band; // one per thread
    tl_scratch *scratch;
    tl_pixel *pixel;
    float *open;
    double grid;   // distance of lines on planes [m]
    float line[3]; // their colour, and that of edges
    float glass_tone[3];
    uint8_t *rgba;
} render_job;

// ---- camera ------------------------------------------------------------------------------------

// Move the eye back until the corners of the box are within all four sides of the view. With the
// slope s, a point is within the right side where x − s z <= x0 − s z0, (x0, z0) the eye.
static void render_aim(render_job *j) {
    const talus_picture_def *def = j->def;
    const tl_show *s = j->show;
    tl_camera *c = &j->camera;
    const double oblique[3] = {-0.42, 0.86, -0.36};
    const bool given = tl_norm3(def->view) > 0.0;
    const double w = (double)def->width * j->samples, h = (double)def->height * j->samples;
    const double margin = 0.94, slope[2] = {margin * render_slope * TL_MAX(1.0, w / h),
                                            margin * render_slope * TL_MAX(1.0, h / w)};
    double most[2][2] = {{-INFINITY, -INFINITY}, {-INFINITY, -INFINITY}}, at[3];
    tl_camera_turn(c, given ? def->view : oblique);
    tl_copy3(s->middle, c->eye);
    for (int corner = 0; corner < 8; corner++) {
        const double x[3] = {s->box[corner & 1 ? 3 : 0], s->box[corner & 2 ? 4 : 1],
                             s->box[corner & 4 ? 5 : 2]};
        tl_camera_see(c, x, at);
        for (int k = 0; k < 2; k++) {
            most[k][0] = TL_MAX(most[k][0], -at[k] - slope[k] * at[2]);
            most[k][1] = TL_MAX(most[k][1], at[k] - slope[k] * at[2]);
        }
    }
    double eye[3], back = INFINITY;
    for (int k = 0; k < 2; k++) {
        eye[k] = 0.5 * (most[k][1] - most[k][0]);
        back = TL_MIN(back, -0.5 * (most[k][0] + most[k][1]) / slope[k]);
    }
    for (int k = 0; k < 3; k++)
        c->eye[k] += eye[0] * c->right[k] + eye[1] * c->up[k] + back * c->forward[k];
    c->scale = 0.5 * TL_MIN(w, h) / render_slope;
    c->centre[0] = 0.5 * w, c->centre[1] = 0.5 * h;
}

// ---- planes ------------------------------------------------------------------------------------

// Samples of the planes that look at the eye.
static void render_planes(const render_job *j, tl_band *b) {
    const tl_camera *c = &j->camera;
    for (int32_t p = 0; p < j->show->planes; p++) {
        double n[3], x[3];
        tl_camera_axis(c, j->show->plane[p].n, n);
        tl_camera_see(c, j->show->plane[p].x, x);
        const double away = tl_dot3(n, x); // of the eye, behind the plane if positive
        if (away >= 0.0) continue;
        for (int32_t y = 0; y < b->rows; y++) {
            const double w = -(b->top + y + 0.5 - c->centre[1]) / c->scale;
            for (int32_t i = 0; i < b->width; i++) {
                const double u = (i + 0.5 - c->centre[0]) / c->scale;
                const double z = away / (n[0] * u + n[1] * w + n[2]);
                const int64_t k = (int64_t)y * b->width + i;
                if (!(z > 0.0) || !((float)z < b->solid.depth[k])) continue;
                b->solid.depth[k] = (float)z;
                for (int e = 0; e < 3; e++) b->solid.normal[k][e] = (float)n[e];
                b->solid.colour[k] = (tl_rgb)(RENDER_PLANE + p);
            }
        }
    }
}

// How much of a line of the plane's grid a sample sees, at the point x of the plane and with a
// sample `wide` m across: lines of the two coordinates that change most along it.
static float render_grid(const render_job *j, const double n[3], const double x[3], double wide) {
    float most = 0.0f;
    int steep = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(n[k]) >= fabs(n[steep])) steep = k;
    for (int k = 0; k < 3; k++) {
        if (k == steep) continue;
        const double tilt = sqrt(TL_MAX(0.0, 1.0 - n[k] * n[k]));
        const double t = x[k] / j->grid, off = fabs(t - nearbyint(t)) * j->grid / tilt;
        const float line = (float)TL_MIN(1.0, TL_MAX(0.0, 1.2 - off / wide));
        most = TL_MAX(line, most);
    }
    return most;
}

// ---- light -------------------------------------------------------------------------------------

// What one sample gives.
typedef struct render_sample {
    float ambient[3], direct[3], back[2];
} render_sample;

static void render_albedo(const render_job *j, tl_rgb colour, bool pale, float out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = j->gamma.linear[colour >> (8 * k) & 0xff];
        if (pale) out[k] = 0.25f * out[k] + 0.75f * 0.62f;
    }
}

// Light on a solid surface: a light with shadow, a weak one from the eye, and the sky.
static void render_lit(const render_job *j, const float albedo[3], const float n[3],
                       const float v[3], float reaches, render_sample *out) {
    const tl_light *l = &j->light;
    float key = 0.0f, sky = 0.0f, half = 0.0f, size = 0.0f;
    const float far = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    float facing = 0.0f;
    for (int k = 0; k < 3; k++) {
        const float to = (float)l->to[k], h = to - v[k] / far;
        key += n[k] * to;
        sky += n[k] * (float)l->up[k];
        facing -= n[k] * v[k] / far;
        half += n[k] * h;
        size += h * h;
    }
    key = TL_MAX(key, 0.0f) * reaches;
    facing = TL_MAX(facing, 0.0f);
    float shine = TL_MAX(half, 0.0f) / sqrtf(size + 1e-12f);
    for (int k = 0; k < 5; k++) shine *= shine; // to the power of 32
    const float ambient = 0.42f + 0.16f * sky, direct = 0.74f * key + 0.10f * facing;
    for (int k = 0; k < 3; k++) {
        out->ambient[k] = albedo[k] * ambient;
        out->direct[k] = albedo[k] * direct + 0.10f * shine * reaches;
    }
}

static void render_plane_sample(const render_job *j, const tl_plane *p, const float v[3],
                                const float n[3], int tap, render_sample *out) {
    const tl_camera *c = &j->camera;
    double x[3], d[3];
    for (int k = 0; k < 3; k++)
        x[k] = c->eye[k] + (double)v[0] * c->right[k] + (double)v[1] * c->up[k] +
               (double)v[2] * c->forward[k];
    tl_sub3(x, j->show->middle, d);
    const double t = (tl_norm3(d) / j->show->reach - 1.0) / 1.4;
    const double s = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    const float fade = (float)(1.0 - s * s * (3.0 - 2.0 * s));
    if (fade <= 0.0f) {
        out->back[0] = 1.0f;
        return;
    }
    const float reaches = tl_light_reaches(&j->light, v, n, tap);
    const double wide = 1.4 * j->samples * (double)v[2] / c->scale;
    const float line = 0.22f * fade * render_grid(j, p->n, x, wide);
    const float rest = 1.0f - line;
    out->back[0] = rest * (1.0f - fade + fade * 0.45f * reaches);
    out->back[1] = rest * fade * 0.55f;
    for (int k = 0; k < 3; k++) out->direct[k] = line * j->line[k];
}

// The tube that is seen at a sample, through what is before it: less with the way through it.
static void render_force(const render_job *j, const tl_band *b, int64_t i, const float d[3],
                         render_sample *out) {
    const float z = b->force.depth[i], before = b->solid.depth[i];
    if (!isfinite(z)) return;
    const float *raw = b->force.normal[i];
    const float way = (z - before) / (float)(10.0 * j->show->grain);
    const float opacity = way <= 0.0f ? 1.0f : 0.92f * expf(-way);
    const float v[3] = {d[0] * z, d[1] * z, z};
    float albedo[3];
    render_sample tube;
    render_albedo(j, b->force.colour[i], false, albedo);
    render_lit(j, albedo, raw, v, 1.0f, &tube);
    for (int k = 0; k < 3; k++) { // corners do not dim it
        out->ambient[k] *= 1.0f - opacity;
        out->direct[k] =
            (1.0f - opacity) * out->direct[k] + opacity * (tube.ambient[k] + tube.direct[k]);
    }
    for (int k = 0; k < 2; k++) out->back[k] *= 1.0f - opacity;
}

static void render_sample_at(const render_job *j, const tl_band *b, int64_t i, const float d[3],
                             int tap, float normal[3], render_sample *out) {
    const float z = b->solid.depth[i];
    *out = (render_sample){0};
    if (!isfinite(z)) {
        out->back[0] = 1.0f;
    } else {
        const float *raw = b->solid.normal[i];
        const float size = sqrtf(raw[0] * raw[0] + raw[1] * raw[1] + raw[2] * raw[2]) + 1e-30f;
        const float v[3] = {d[0] * z, d[1] * z, z};
        for (int k = 0; k < 3; k++) normal[k] = raw[k] / size;
        if (b->solid.colour[i] & RENDER_PLANE) {
            const int32_t p = (int32_t)(b->solid.colour[i] & 0xffffff);
            render_plane_sample(j, &j->show->plane[p], v, normal, tap, out);
        } else {
            float albedo[3];
            render_albedo(j, b->solid.colour[i], j->show->strands > 0, albedo);
            render_lit(j, albedo, normal, v, tl_light_reaches(&j->light, v, normal, tap), out);
        }
    }
    if (b->force.depth) render_force(j, b, i, d, out);
    for (int k = 0; k < 3; k++) {
        out->ambient[k] *= b->through[i];
        out->direct[k] = out->direct[k] * b->through[i] + b->glass[i][k];
    }
    for (int k = 0; k < 2; k++) out->back[k] *= b->through[i];
}

// Pixels of a band, and from the sample in the middle of each its depth and normal.
static void render_resolve(const render_job *j, const tl_band *b, int32_t first) {
    const int32_t m = j->samples, width = j->def->width;
    const tl_camera *c = &j->camera;
    const float part = 1.0f / (float)(m * m);
    for (int32_t y = first; y < TL_MIN(first + RENDER_ROWS, j->def->height); y++)
        for (int32_t x = 0; x < width; x++) {
            tl_pixel *p = &j->pixel[(int64_t)y * width + x];
            *p = (tl_pixel){.depth = INFINITY};
            for (int32_t s = 0; s < m * m; s++) {
                const int32_t sx = x * m + s % m, sy = y * m + s / m;
                const int64_t i = (int64_t)(sy - b->top) * b->width + sx;
                const float d[3] = {(float)((sx + 0.5 - c->centre[0]) / c->scale),
                                    (float)(-(sy + 0.5 - c->centre[1]) / c->scale), 1.0f};
                render_sample out;
                float normal[3] = {0.0f};
                // the places for shadows go round from pixel to pixel, not to be seen as a pattern
                render_sample_at(j, b, i, d, (s + 2 * x + 5 * y) % 9, normal, &out);
                for (int k = 0; k < 3; k++) {
                    p->ambient[k] += part * out.ambient[k];
                    p->direct[k] += part * out.direct[k];
                }
                for (int k = 0; k < 2; k++) p->back[k] += part * out.back[k];
                if (s != m * m / 2) continue;
                p->depth = b->solid.depth[i];
                memcpy(p->normal, normal, sizeof normal);
            }
        }
}

// ---- bands -------------------------------------------------------------------------------------

static void render_glass(const render_job *j, tl_band *b, tl_scratch *w, int32_t band) {
    const tl_show *s = j->show;
    for (int32_t i = j->glass.start[band + 1] - 1; i >= j->glass.start[band]; i--) {
        const tl_item *item = &s->item[j->glass.item[i]];
        const int32_t k = item->surface;
        tl_draw_glass(&j->camera, b, w, &s->surface[k], item, j->light.to, j->glass_tone);
        for (int32_t e = 0; e < j->edges[k]; e++) {
            double end[2][3];
            for (int q = 0; q < 2; q++) {
                const int32_t point = j->edge[k][2 * (int64_t)e + q];
                tl_rotate(item->q, s->surface[k].point + 3 * (int64_t)point, end[q]);
                tl_axpy3(item->x, 1.0, end[q], end[q]);
                tl_camera_see(&j->camera, end[q], end[q]);
            }
            tl_draw_line(&j->camera, b, end[0], end[1], 1.3 * j->samples, j->line, 0.55f);
        }
    }
}

static void render_work(void *arg, tl_team *team, int rank) {
    const render_job *j = arg;
    const tl_show *s = j->show;
    tl_band *b = &j->band[rank];
    for (int32_t k = rank; k < j->solid.bands; k += tl_team_size(team)) {
        tl_band_begin(b, k * RENDER_ROWS * j->samples);
        for (int32_t i = j->solid.start[k]; i < j->solid.start[k + 1]; i++) {
            const tl_item *item = &s->item[j->solid.item[i]];
            double v[3];
            tl_camera_see(&j->camera, item->x, v);
            if (item->surface == TL_SURFACE_TUBE)
                tl_draw_rod(&j->camera, b, &b->solid, item, item->colour);
            else if (item->surface < 0)
                tl_draw_ball(&j->camera, b, &b->solid, v, item->radius, item->colour);
            else
                tl_draw_surface(&j->camera, b, &j->scratch[rank], &s->surface[item->surface], item);
        }
        render_planes(j, b);
        for (int32_t i = 0; i < s->strands; i++) {
            const tl_strand *t = &s->strand[i];
            uint8_t c[3];
            double from[3], to[3];
            tl_camera_see(&j->camera, t->from, from);
            tl_camera_see(&j->camera, t->to, to);
            talus_picture_map(0.35 + 0.55 * sqrt(t->part), c);
            tl_draw_tube(&j->camera, b, &b->force, from, to, t->radius, tl_rgb_pack(c));
        }
        render_glass(j, b, &j->scratch[rank], k);
        render_resolve(j, b, k * RENDER_ROWS);
    }
}

// Light to bytes. A transparent background has its part of the light taken out of the colours.
static void render_finish(const render_job *j) {
    const talus_picture_def *def = j->def;
    uint8_t ground[3];
    float back[3];
    tl_render_ground(def->dark, ground);
    for (int k = 0; k < 3; k++) back[k] = j->gamma.linear[ground[k]];
    for (int64_t i = 0; i < (int64_t)def->width * def->height; i++) {
        const tl_pixel *p = &j->pixel[i];
        const float behind = p->back[0] + j->open[i] * p->back[1];
        const float cover = def->clear ? 1.0f - behind : 1.0f;
        for (int k = 0; k < 3; k++) {
            float light = p->ambient[k] * j->open[i] + p->direct[k];
            if (!def->clear) light += behind * back[k];
            j->rgba[4 * i + k] = cover > 0.002f ? tl_gamma_byte(&j->gamma, light / cover) : 0;
        }
        j->rgba[4 * i + 3] = (uint8_t)(255.0f * TL_MIN(TL_MAX(cover, 0.0f), 1.0f) + 0.5f);
    }
}

// 1, 2 or 5 times a power of ten, about a fifth of the size of what is seen.
static double render_spacing(double reach) {
    const double raw = 0.4 * reach, power = pow(10.0, floor(log10(raw)));
    return power * (raw / power < 2.0 ? 1.0 : raw / power < 5.0 ? 2.0 : 5.0);
}

static talus_status render_prepare(render_job *j) {
    const tl_show *s = j->show;
    const int32_t threads = j->def->threads, width = j->def->width * j->samples;
    const int32_t bands = (j->def->height + RENDER_ROWS - 1) / RENDER_ROWS;
    const int32_t rows = RENDER_ROWS * j->samples;
    TL_TRY(tl_light_init(s, &j->camera, threads, &j->light));
    TL_TRY(tl_bins_init(s, &j->camera, rows, bands, TL_ROLE_GRAIN, TL_ROLE_STONE, &j->solid));
    TL_TRY(tl_bins_init(s, &j->camera, rows, bands, TL_ROLE_GLASS, TL_ROLE_GLASS, &j->glass));
    TL_TRY(TL_ALLOC(s->ctx, (int64_t)j->def->width * j->def->height, &j->pixel));
    TL_TRY(TL_ALLOC(s->ctx, threads, &j->band));
    TL_TRY(TL_ALLOC(s->ctx, threads, &j->scratch));
    for (int32_t t = 0; t < threads; t++) {
        TL_TRY(tl_band_init(s->ctx, width, rows, false, s->strands > 0, &j->band[t]));
        TL_TRY(tl_scratch_init(s, &j->scratch[t]));
    }
    TL_TRY(TL_ALLOC(s->ctx, s->surfaces, &j->edge));
    TL_TRY(TL_ALLOC(s->ctx, s->surfaces, &j->edges));
    for (int32_t i = 0; i < s->items; i++) {
        const int32_t k = s->item[i].surface;
        if (s->item[i].role == TL_ROLE_GLASS && k >= 0 && !j->edge[k])
            TL_TRY(tl_surface_edges(s->ctx, &s->surface[k], &j->edge[k], &j->edges[k]));
    }
    return tl_team_reserve(s->ctx, threads);
}

talus_status tl_render(const tl_show *s, const talus_picture_def *def, uint8_t *rgba) {
    talus_status status = TALUS_OK;
    const int64_t pixels = (int64_t)def->width * def->height;
    render_job j = {.show = s, .def = def, .rgba = rgba, .samples = pixels > 6000000 ? 2 : 3};
    const double nook = s->grain > 0.0 ? 2.4 * s->grain : 0.1 * s->reach;
    for (int k = 0; k < 3; k++) {
        j.line[k] = def->dark ? 0.30f : 0.16f;
        j.glass_tone[k] = (def->dark ? 0.30f : 0.50f) * (1.0f + 0.08f * (float)k);
    }
    j.grid = render_spacing(s->reach);
    tl_gamma_init(&j.gamma);
    render_aim(&j);
    TL_GOTO(render_prepare(&j));
    tl_parallel(s->ctx, def->threads, render_work, &j);
    TL_GOTO(tl_openness(s->ctx, j.pixel, def->width, def->height, &j.camera, j.samples, nook,
                        def->threads, &j.open));
    render_finish(&j);
done:
    for (int32_t t = 0; t < def->threads; t++) {
        if (j.band) tl_band_clear(s->ctx, &j.band[t]);
        if (j.scratch) tl_scratch_clear(s->ctx, &j.scratch[t]);
    }
    for (int32_t k = 0; j.edge && k < s->surfaces; k++) tl_free(s->ctx, j.edge[k]);
    tl_free(s->ctx, j.edge);
    tl_free(s->ctx, j.edges);
    tl_free(s->ctx, j.band);
    tl_free(s->ctx, j.scratch);
    tl_free(s->ctx, j.pixel);
    tl_free(s->ctx, j.open);
    tl_bins_clear(s->ctx, &j.solid);
    tl_bins_clear(s->ctx, &j.glass);
    tl_light_clear(s->ctx, &j.light);
    return status;
}
