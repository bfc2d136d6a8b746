// SPDX-License-Identifier: Apache-2.0
// Light from one side with shadows, by depths seen from the light, and the openness of corners.
#include "base/thread.h"
#include "picture/render.h"

enum { LIGHT_MAP = 2048, LIGHT_ROWS = 32 };

typedef struct light_job {
    const tl_show *show;
    const tl_light *light;
    const tl_bins *bins;
    tl_band *band;       // one per thread
    tl_scratch *scratch; // likewise
} light_job;

static void light_work(void *arg, tl_team *team, int rank) {
    const light_job *j = arg;
    tl_band *band = &j->band[rank];
    for (int32_t k = rank; k < j->bins->bands; k += tl_team_size(team)) {
        band->solid.depth = j->light->map + (int64_t)k * LIGHT_ROWS * LIGHT_MAP;
        tl_band_begin(band, k * LIGHT_ROWS);
        for (int32_t i = j->bins->start[k]; i < j->bins->start[k + 1]; i++) {
            const tl_item *item = &j->show->item[j->bins->item[i]];
            double v[3];
            tl_camera_see(&j->light->camera, item->x, v);
            if (item->surface == TL_SURFACE_TUBE)
                tl_draw_rod(&j->light->camera, band, &band->solid, item, 0);
            else if (item->surface < 0)
                tl_draw_ball(&j->light->camera, band, &band->solid, v, item->radius, 0);
            else
                tl_draw_surface(&j->light->camera, band, &j->scratch[rank],
                                &j->show->surface[item->surface], item);
        }
        band->solid.depth = NULL;
    }
}

// From the view of the picture to cells of the map.
static void light_relate(tl_light *l, const tl_camera *view) {
    const double *from[3] = {view->right, view->up, view->forward};
    double eye[3];
    tl_camera_see(&l->camera, view->eye, eye);
    for (int k = 0; k < 3; k++) {
        double d[3];
        tl_camera_axis(&l->camera, from[k], d);
        l->turn[0][k] = l->camera.scale * d[0];
        l->turn[1][k] = -l->camera.scale * d[1];
        l->turn[2][k] = d[2];
    }
    l->shift[0] = l->camera.centre[0] + l->camera.scale * eye[0];
    l->shift[1] = l->camera.centre[1] - l->camera.scale * eye[1];
    l->shift[2] = eye[2];
}

talus_status tl_light_init(const tl_show *s, const tl_camera *view, int32_t threads,
                           tl_light *out) {
    talus_status status = TALUS_OK;
    tl_bins bins = {0};
    tl_band *band = NULL;
    tl_scratch *scratch = NULL;
    double along[3];
    *out = (tl_light){.size = LIGHT_MAP, .camera.parallel = true};
    // from above, from the left and a little from behind the eye
    for (int k = 0; k < 3; k++)
        along[k] = 0.50 * view->right[k] + 0.35 * view->forward[k] - (k == 2 ? 1.0 : 0.0);
    tl_camera_turn(&out->camera, along);
    tl_copy3(s->middle, out->camera.eye);
    out->texel = 2.5 * s->reach / LIGHT_MAP;
    out->camera.scale = 1.0 / out->texel;
    out->camera.centre[0] = out->camera.centre[1] = 0.5 * LIGHT_MAP;
    tl_camera_axis(view, out->camera.forward, out->to);
    tl_scale3(-1.0, out->to, out->to);
    tl_camera_axis(view, (const double[3]){0.0, 0.0, 1.0}, out->up);
    light_relate(out, view);

    TL_GOTO(TL_ALLOC(s->ctx, (int64_t)LIGHT_MAP * LIGHT_MAP, &out->map));
    TL_GOTO(TL_ALLOC(s->ctx, threads, &band));
    TL_GOTO(TL_ALLOC(s->ctx, threads, &scratch));
    for (int32_t t = 0; t < threads; t++) {
        const int32_t blocks = (LIGHT_MAP + TL_BLOCK - 1) / TL_BLOCK;
        band[t] = (tl_band){.width = LIGHT_MAP, .rows = LIGHT_ROWS};
        TL_GOTO(TL_ALLOC(s->ctx, blocks, &band[t].covered));
        TL_GOTO(TL_ALLOC(s->ctx, blocks, &band[t].farthest));
        TL_GOTO(tl_scratch_init(s, &scratch[t]));
    }
    TL_GOTO(tl_bins_init(s, &out->camera, LIGHT_ROWS, LIGHT_MAP / LIGHT_ROWS, TL_ROLE_GRAIN,
                         TL_ROLE_STONE, &bins));
    light_job job = {s, out, &bins, band, scratch};
    TL_GOTO(tl_team_reserve(s->ctx, threads));
    tl_parallel(s->ctx, threads, light_work, &job);
done:
    for (int32_t t = 0; t < threads; t++) {
        if (band) tl_band_clear(s->ctx, &band[t]);
        if (scratch) tl_scratch_clear(s->ctx, &scratch[t]);
    }
    tl_free(s->ctx, band);
    tl_free(s->ctx, scratch);
    tl_bins_clear(s->ctx, &bins);
    if (status != TALUS_OK) tl_light_clear(s->ctx, out);
    return status;
}

void tl_light_clear(talus_context *ctx, tl_light *l) {
    tl_free(ctx, l->map);
    *l = (tl_light){0};
}

float tl_light_reaches(const tl_light *l, const float v[3], const float n[3], int tap) {
    // nine places on two rings and in the middle, in cells
    static const float place[9][2] = {{0.0f, 0.0f},   {1.6f, 0.4f},   {-0.4f, 1.6f},
                                      {-1.6f, -0.4f}, {0.4f, -1.6f},  {2.2f, 2.4f},
                                      {-2.4f, 2.2f},  {-2.2f, -2.4f}, {2.4f, -2.2f}};
    const float off = 2.2f * (float)l->texel; // a surface must not shade itself
    float m[3];
    for (int k = 0; k < 3; k++) {
        double sum = l->shift[k];
        for (int e = 0; e < 3; e++) sum += l->turn[k][e] * (double)(v[e] + off * n[e]);
        m[k] = (float)sum;
    }
    m[0] += place[tap][0] - 0.5f, m[1] += place[tap][1] - 0.5f, m[2] -= off;
    const float fx = floorf(m[0]), fy = floorf(m[1]);
    if (!(fx >= 0.0f && fy >= 0.0f && fx < (float)(l->size - 1) && fy < (float)(l->size - 1)))
        return 1.0f;
    const float *cell = l->map + (int64_t)fy * l->size + (int64_t)fx;
    const float wx = m[0] - fx, wy = m[1] - fy;
    const float a = m[2] < cell[0] ? 1.0f : 0.0f, b = m[2] < cell[1] ? 1.0f : 0.0f;
    const float c = m[2] < cell[l->size] ? 1.0f : 0.0f, d = m[2] < cell[l->size + 1] ? 1.0f : 0.0f;
    return (1.0f - wy) * ((1.0f - wx) * a + wx * b) + wy * ((1.0f - wx) * c + wx * d);
}

// ---- openness ----------------------------------------------------------------------------------

enum { OPEN_TAPS = 12, OPEN_STARTS = 16, OPEN_ROWS = 16 };

typedef struct open_job {
    const tl_pixel *pixel;
    int32_t width, height;
    float step;                           // slope x/z per pixel
    float centre[2];                      // of the picture, in pixels
    float radius;                         // [m]
    float tap[OPEN_STARTS][OPEN_TAPS][2]; // places around a pixel, in a circle of radius 1
    float *depth, *rough, *out;
} open_job;

static void open_view(const open_job *j, int32_t x, int32_t y, float z, float v[3]) {
    v[0] = ((float)x + 0.5f - j->centre[0]) * j->step * z;
    v[1] = (j->centre[1] - 0.5f - (float)y) * j->step * z;
    v[2] = z;
}

// Places go round in a spiral that starts at one of 16 angles; the mean over 4 by 4 pixels has all
// of them.
static void open_places(open_job *j) {
    for (int s = 0; s < OPEN_STARTS; s++)
        for (int k = 0; k < OPEN_TAPS; k++) {
            const double r = sqrt((k + 0.5) / OPEN_TAPS);
            const double angle = 6.283185307179586 * s / OPEN_STARTS + 2.399963229728653 * k;
            j->tap[s][k][0] = (float)(r * cos(angle));
            j->tap[s][k][1] = (float)(r * sin(angle));
        }
}

// Points around a pixel that stand above its tangent plane take light from it: the sum of the sines
// of their elevations, less with distance.
static float open_at(const open_job *j, int32_t x, int32_t y) {
    const int64_t at = (int64_t)y * j->width + x;
    const float z = j->depth[at], *n = j->pixel[at].normal;
    if (!isfinite(z)) return 1.0f;
    float v[3], q[3], sum = 0.0f;
    open_view(j, x, y, z, v);
    const float reach = TL_MIN(TL_MAX(j->radius / (j->step * z), 2.0f), 60.0f);
    const float square = j->radius * j->radius, (*tap)[2] = j->tap[4 * (y & 3) + (x & 3)];
    for (int k = 0; k < OPEN_TAPS; k++) {
        const int32_t a = x + (int32_t)floorf(reach * tap[k][0] + 0.5f);
        const int32_t b = y + (int32_t)floorf(reach * tap[k][1] + 0.5f);
        if (a < 0 || b < 0 || a >= j->width || b >= j->height) continue;
        const float there = j->depth[(int64_t)b * j->width + a];
        // what is far away, the background too, is passed over before anything is computed
        if (!(fabsf(there - z) < j->radius)) continue;
        open_view(j, a, b, there, q);
        const float d[3] = {q[0] - v[0], q[1] - v[1], q[2] - v[2]};
        const float above = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];
        const float far = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (!(above > 0.0f) || !(far < square)) continue;
        const float sine = above / sqrtf(far);
        if (sine > 0.06f) sum += (sine - 0.06f) * (1.0f - far / square);
    }
    const float open = 1.0f - 3.0f * sum / OPEN_TAPS;
    return open < 0.12f ? 0.12f : open;
}

static void open_smooth(const open_job *j, int32_t y) {
    for (int32_t x = 0; x < j->width; x++) {
        const int64_t at = (int64_t)y * j->width + x;
        const float z = j->depth[at];
        float sum = 0.0f, count = 0.0f;
        if (!isfinite(z)) {
            j->out[at] = 1.0f;
            continue;
        }
        for (int32_t b = TL_MAX(y - 2, 0); b < TL_MIN(y + 2, j->height); b++)
            for (int32_t a = TL_MAX(x - 2, 0); a < TL_MIN(x + 2, j->width); a++) {
                const int64_t i = (int64_t)b * j->width + a;
                if (!(fabsf(j->depth[i] - z) < j->radius)) continue;
                sum += j->rough[i], count += 1.0f;
            }
        j->out[at] = sum / count; // the pixel itself counts
    }
}

// Three passes over strips of rows: depths side by side, openness, its mean.
static void open_work(void *arg, tl_team *team, int rank) {
    const open_job *j = arg;
    const int32_t strips = (j->height + OPEN_ROWS - 1) / OPEN_ROWS;
    for (int pass = 0; pass < 3; pass++) {
        for (int32_t s = rank; s < strips; s += tl_team_size(team))
            for (int32_t y = s * OPEN_ROWS; y < TL_MIN((s + 1) * OPEN_ROWS, j->height); y++) {
                const int64_t line = (int64_t)y * j->width;
                for (int32_t x = 0; pass == 0 && x < j->width; x++)
                    j->depth[line + x] = j->pixel[line + x].depth;
                for (int32_t x = 0; pass == 1 && x < j->width; x++)
                    j->rough[line + x] = open_at(j, x, y);
                if (pass == 2) open_smooth(j, y);
            }
        tl_barrier(team);
    }
}

talus_status tl_openness(talus_context *ctx, const tl_pixel *pixel, int32_t width, int32_t height,
                         const tl_camera *c, int32_t samples, double radius, int32_t threads,
                         float **out) {
    talus_status status = TALUS_OK;
    const int64_t count = (int64_t)width * height;
    open_job j = {.pixel = pixel,
                  .width = width,
                  .height = height,
                  .step = (float)(samples / c->scale),
                  .centre = {(float)(c->centre[0] / samples), (float)(c->centre[1] / samples)},
                  .radius = (float)radius};
    *out = NULL;
    open_places(&j);
    TL_GOTO(tl_team_reserve(ctx, threads));
    TL_GOTO(TL_ALLOC(ctx, count, &j.depth));
    TL_GOTO(TL_ALLOC(ctx, count, &j.rough));
    TL_GOTO(TL_ALLOC(ctx, count, &j.out));
    tl_parallel(ctx, threads, open_work, &j);
    *out = j.out;
done:
    tl_free(ctx, j.depth);
    tl_free(ctx, j.rough);
    return status;
}
