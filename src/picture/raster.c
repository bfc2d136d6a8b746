// SPDX-License-Identifier: Apache-2.0
// Samples of balls, triangles and lines.
#include "picture/raster.h"
#include <string.h>

// Nothing nearer to the eye than this part of a metre per metre of the view is drawn.
#define RASTER_NEAR 1e-6

// ---- camera ------------------------------------------------------------------------------------

void tl_camera_turn(tl_camera *c, const double along[3]) {
    double up[3] = {0.0, 0.0, 1.0};
    tl_scale3(1.0 / tl_norm3(along), along, c->forward);
    if (fabs(c->forward[2]) > 0.9999) up[1] = 1.0, up[2] = 0.0;
    tl_cross3(c->forward, up, c->right);
    tl_scale3(1.0 / tl_norm3(c->right), c->right, c->right);
    tl_cross3(c->right, c->forward, c->up);
}

void tl_camera_axis(const tl_camera *c, const double d[3], double out[3]) {
    const double x = tl_dot3(c->right, d), y = tl_dot3(c->up, d);
    out[2] = tl_dot3(c->forward, d);
    out[0] = x, out[1] = y;
}

void tl_camera_see(const tl_camera *c, const double x[3], double out[3]) {
    double d[3];
    tl_sub3(x, c->eye, d);
    tl_camera_axis(c, d, out);
}

// Slopes x/z of the two lines through the eye that touch the circle of radius r about (x, z).
static void camera_slopes(double x, double z, double r, double out[2]) {
    const double root = r * sqrt(fmax(0.0, x * x + z * z - r * r)), below = z * z - r * r;
    out[0] = (x * z - root) / below;
    out[1] = (x * z + root) / below;
}

bool tl_camera_bounds(const tl_camera *c, const double v[3], double r, double x[2], double y[2]) {
    double a[2], b[2];
    if (c->parallel) {
        for (int k = 0; k < 2; k++) a[k] = v[0] + (k ? r : -r), b[k] = v[1] + (k ? r : -r);
    } else if (v[2] > r * (1.0 + 1e-9)) {
        camera_slopes(v[0], v[2], r, a);
        camera_slopes(v[1], v[2], r, b);
    } else { // the eye is within its reach
        if (v[2] < -r) return false;
        for (int k = 0; k < 2; k++) x[k] = y[k] = k ? 1e9 : -1e9;
        return true;
    }
    for (int k = 0; k < 2; k++) {
        x[k] = c->centre[0] + c->scale * a[k];
        y[k] = c->centre[1] - c->scale * b[1 - k];
    }
    return true;
}

// ---- bands -------------------------------------------------------------------------------------

static talus_status band_layer(talus_context *ctx, int64_t count, bool depth_only, tl_layer *out) {
    TL_TRY(TL_ALLOC(ctx, count, &out->depth));
    if (depth_only) return TALUS_OK;
    TL_TRY(TL_ALLOC(ctx, count, &out->normal));
    return TL_ALLOC(ctx, count, &out->colour);
}

talus_status tl_band_init(talus_context *ctx, int32_t width, int32_t rows, bool depth_only,
                          bool force, tl_band *out) {
    const int64_t count = (int64_t)width * rows, blocks = (width + TL_BLOCK - 1) / TL_BLOCK;
    talus_status status = TALUS_OK;
    *out = (tl_band){.width = width, .rows = rows};
    TL_GOTO(band_layer(ctx, count, depth_only, &out->solid));
    if (force) TL_GOTO(band_layer(ctx, count, false, &out->force));
    if (!depth_only) {
        TL_GOTO(TL_ALLOC(ctx, count, &out->through));
        TL_GOTO(TL_ALLOC(ctx, count, &out->glass));
    }
    TL_GOTO(TL_ALLOC(ctx, blocks, &out->covered));
    TL_GOTO(TL_ALLOC(ctx, blocks, &out->farthest));
done:
    if (status != TALUS_OK) tl_band_clear(ctx, out);
    return status;
}

void tl_band_clear(talus_context *ctx, tl_band *b) {
    tl_layer *layer[] = {&b->solid, &b->force};
    for (int k = 0; k < 2; k++) {
        tl_free(ctx, layer[k]->depth);
        tl_free(ctx, layer[k]->normal);
        tl_free(ctx, layer[k]->colour);
    }
    tl_free(ctx, b->through);
    tl_free(ctx, b->glass);
    tl_free(ctx, b->covered);
    tl_free(ctx, b->farthest);
    *b = (tl_band){0};
}

void tl_band_begin(tl_band *b, int32_t top) {
    const size_t count = (size_t)b->width * (size_t)b->rows;
    b->top = top;
    for (size_t i = 0; i < count; i++) b->solid.depth[i] = INFINITY;
    if (b->solid.colour) memset(b->solid.colour, 0, count * sizeof *b->solid.colour);
    for (size_t i = 0; b->force.depth && i < count; i++) b->force.depth[i] = INFINITY;
    for (size_t i = 0; b->through && i < count; i++) b->through[i] = 1.0f;
    if (b->glass) memset(b->glass, 0, count * sizeof *b->glass);
    for (int32_t k = 0; k < (b->width + TL_BLOCK - 1) / TL_BLOCK; k++) {
        b->covered[k] = 0;
        b->farthest[k] = INFINITY;
    }
}

// The part of a range of samples' middles that is within the band; false: none.
static bool band_range(double low, double high, int32_t from, int32_t count, int32_t out[2]) {
    const double a = ceil(low - 0.5), b = floor(high - 0.5), last = (double)from + count - 1;
    if (!(a <= last && b >= from)) return false;
    out[0] = a < from ? from : (int32_t)a;
    out[1] = b > last ? from + count - 1 : (int32_t)b;
    return out[0] <= out[1];
}

// Whether everything in these columns lies before the depth z.
static bool band_is_hidden(const tl_band *b, const int32_t column[2], double z) {
    for (int32_t k = column[0] / TL_BLOCK; k <= column[1] / TL_BLOCK; k++)
        if (!(z > (double)b->farthest[k])) return false;
    return true;
}

// Samples of row y (in the band), columns from … to, have been covered for the first time.
static void band_count(tl_band *b, int32_t column) { b->covered[column / TL_BLOCK]++; }

// Blocks that are full by now: how far they reach.
static void band_measure(tl_band *b, const int32_t column[2]) {
    for (int32_t k = column[0] / TL_BLOCK; k <= column[1] / TL_BLOCK; k++) {
        const int32_t first = k * TL_BLOCK, end = TL_MIN(first + TL_BLOCK, b->width);
        if (isfinite(b->farthest[k]) || b->covered[k] < (end - first) * b->rows) continue;
        float far = 0.0f;
        for (int32_t y = 0; y < b->rows; y++)
            for (int32_t x = first; x < end; x++)
                far = TL_MAX(b->solid.depth[(int64_t)y * b->width + x], far);
        b->farthest[k] = far;
    }
}

// ---- scratch -----------------------------------------------------------------------------------

talus_status tl_scratch_init(const tl_show *s, tl_scratch *out) {
    int64_t most = 0;
    *out = (tl_scratch){0};
    for (int32_t k = 0; k < s->surfaces; k++) most = TL_MAX(s->surface[k].points, most);
    TL_TRY(TL_ALLOC(s->ctx, most, &out->point));
    const talus_status status = TL_ALLOC(s->ctx, most, &out->normal);
    if (status != TALUS_OK) tl_scratch_clear(s->ctx, out);
    return status;
}

void tl_scratch_clear(talus_context *ctx, tl_scratch *w) {
    tl_free(ctx, w->point);
    tl_free(ctx, w->normal);
    *w = (tl_scratch){0};
}

// ---- balls -------------------------------------------------------------------------------------

// Depth of the ball along the ray of sample (x, y), and the normal there; false: it misses. With
// D = (x/z, y/z, 1) the ray meets the ball at depths t with |t D − v|² = r².
static inline bool ball_meet(const tl_camera *c, const double v[3], double r, double cc, double u,
                             double w, double *depth, double n[3]) {
    if (c->parallel) {
        const double dx = u - v[0], dy = w - v[1], square = r * r - dx * dx - dy * dy;
        if (!(square >= 0.0)) return false;
        n[0] = dx, n[1] = dy, n[2] = -sqrt(square);
        *depth = v[2] + n[2];
        return true;
    }
    const double a = 1.0 + u * u + w * w, b = u * v[0] + w * v[1] + v[2];
    const double square = b * b - a * cc;
    if (!(square >= 0.0)) return false;
    const double t = (b - sqrt(square)) / a;
    n[0] = u * t - v[0], n[1] = w * t - v[1], n[2] = t - v[2];
    *depth = t;
    return t > 0.0;
}

void tl_draw_ball(const tl_camera *c, tl_band *b, tl_layer *layer, const double v[3], double r,
                  tl_rgb colour) {
    double bx[2], by[2], n[3], z;
    int32_t column[2], row[2];
    if (!tl_camera_bounds(c, v, r, bx, by) || !band_range(bx[0], bx[1], 0, b->width, column) ||
        !band_range(by[0], by[1], b->top, b->rows, row))
        return;
    const bool solid = layer == &b->solid;
    if (solid && band_is_hidden(b, column, v[2] - r)) return;
    const double cc = tl_dot3(v, v) - r * r, step = 1.0 / c->scale;
    for (int32_t y = row[0]; y <= row[1]; y++) {
        const double w = -(y + 0.5 - c->centre[1]) * step;
        const int64_t line = (int64_t)(y - b->top) * b->width;
        for (int32_t x = column[0]; x <= column[1]; x++) {
            const double u = (x + 0.5 - c->centre[0]) * step;
            float *depth = layer->depth + line + x;
            if (!ball_meet(c, v, r, cc, u, w, &z, n) || !((float)z < *depth)) continue;
            if (solid && !isfinite(*depth)) band_count(b, x);
            *depth = (float)z;
            if (!layer->normal) continue;
            for (int k = 0; k < 3; k++) layer->normal[line + x][k] = (float)n[k];
            layer->colour[line + x] = colour;
        }
    }
    if (solid) band_measure(b, column);
}

// ---- triangles ---------------------------------------------------------------------------------

// A corner: place and normal in view coordinates, and where it is on the screen.
typedef struct raster_corner {
    double v[3], n[3], at[2];
} raster_corner;

// How a glass triangle colours what is behind it.
typedef struct raster_glass {
    double to_light[3];
    const float *colour;
} raster_glass;

static void glass_sample(tl_band *b, int64_t i, const raster_glass *g, const double v[3],
                         const double n[3], bool front) {
    const double length = sqrt(tl_dot3(n, n) * tl_dot3(v, v));
    const double facing = length > 0.0 ? fabs(tl_dot3(n, v)) / length : 1.0;
    const double lit = fabs(tl_dot3(n, g->to_light)) / (sqrt(tl_dot3(n, n)) + 1e-300);
    const double edge = (1.0 - facing) * (1.0 - facing);
    const float opacity = (float)((front ? 0.20 : 0.07) * (1.0 + 1.2 * edge));
    const float light = (float)(0.72 + 0.28 * lit);
    // the order of layers does not matter much when all are alike: each is put before the others
    for (int k = 0; k < 3; k++)
        b->glass[i][k] = b->glass[i][k] * (1.0f - opacity) + opacity * light * g->colour[k];
    b->through[i] *= 1.0f - opacity;
}

// Samples of a triangle whose corners are in front of the eye. Barycentric coordinates on the
// screen; 1/z, and normals over z, are linear there.
static void raster_triangle(const tl_camera *c, tl_band *b, const raster_corner p[3], tl_rgb colour,
                            const raster_glass *glass) {
    const double *a = p[0].at, *e = p[1].at, *f = p[2].at;
    const double area = (e[0] - a[0]) * (f[1] - a[1]) - (e[1] - a[1]) * (f[0] - a[0]);
    // y goes down on the screen: a face that looks at the eye has its corners clockwise there
    const bool front = area < 0.0;
    if (!(fabs(area) > 0.0) || (!front && !glass)) return;
    int32_t column[2], row[2];
    if (!band_range(TL_MIN(a[0], TL_MIN(e[0], f[0])), TL_MAX(a[0], TL_MAX(e[0], f[0])), 0, b->width,
                    column) ||
        !band_range(TL_MIN(a[1], TL_MIN(e[1], f[1])), TL_MAX(a[1], TL_MAX(e[1], f[1])), b->top,
                    b->rows, row))
        return;
    double part[3][3]; // of each corner's share: constant, along x, along y
    for (int k = 0; k < 3; k++) {
        const double *s = p[(k + 1) % 3].at, *t = p[(k + 2) % 3].at;
        part[k][1] = (s[1] - t[1]) / area;
        part[k][2] = (t[0] - s[0]) / area;
        part[k][0] = (s[0] * t[1] - s[1] * t[0]) / area;
    }
    double over[3];
    for (int k = 0; k < 3; k++) over[k] = c->parallel ? 1.0 : 1.0 / p[k].v[2];
    for (int32_t y = row[0]; y <= row[1]; y++) {
        const int64_t line = (int64_t)(y - b->top) * b->width;
        for (int32_t x = column[0]; x <= column[1]; x++) {
            double share[3], w[3], sum = 0.0;
            for (int k = 0; k < 3; k++)
                share[k] = part[k][0] + part[k][1] * (x + 0.5) + part[k][2] * (y + 0.5);
            if (share[0] < 0.0 || share[1] < 0.0 || share[2] < 0.0) continue;
            for (int k = 0; k < 3; k++) sum += w[k] = share[k] * over[k];
            double z = 0.0;
            for (int k = 0; k < 3; k++) w[k] /= sum, z += w[k] * p[k].v[2];
            float *depth = b->solid.depth + line + x;
            if (!((float)z < *depth)) continue;
            double n[3], v[3];
            for (int k = 0; k < 3; k++) {
                n[k] = w[0] * p[0].n[k] + w[1] * p[1].n[k] + w[2] * p[2].n[k];
                v[k] = w[0] * p[0].v[k] + w[1] * p[1].v[k] + w[2] * p[2].v[k];
            }
            if (glass) {
                glass_sample(b, line + x, glass, v, n, front);
                continue;
            }
            if (!isfinite(*depth)) band_count(b, x);
            *depth = (float)z;
            if (!b->solid.normal) continue;
            for (int k = 0; k < 3; k++) b->solid.normal[line + x][k] = (float)n[k];
            b->solid.colour[line + x] = colour;
        }
    }
}

// The part of a triangle in front of the eye, as one triangle or two.
static void raster_clip(const tl_camera *c, tl_band *b, const raster_corner p[3], double near,
                        tl_rgb colour, const raster_glass *glass) {
    raster_corner q[4];
    int count = 0;
    for (int k = 0; k < 3; k++) {
        const raster_corner *s = &p[k], *t = &p[(k + 1) % 3];
        if (s->v[2] >= near) q[count++] = *s;
        if ((s->v[2] >= near) == (t->v[2] >= near)) continue;
        const double w = (near - s->v[2]) / (t->v[2] - s->v[2]);
        for (int e = 0; e < 3; e++) {
            q[count].v[e] = s->v[e] + w * (t->v[e] - s->v[e]);
            q[count].n[e] = s->n[e] + w * (t->n[e] - s->n[e]);
        }
        count++;
    }
    for (int k = 0; k < count; k++) tl_camera_project(c, q[k].v, q[k].at);
    for (int k = 2; k < count; k++)
        raster_triangle(c, b, (const raster_corner[3]){q[0], q[k - 1], q[k]}, colour, glass);
}

static void raster_surface(const tl_camera *c, tl_band *b, tl_scratch *w, const talus_surface *s,
                           const tl_item *item, const raster_glass *glass) {
    double centre[3], bx[2], by[2];
    int32_t column[2], row[2];
    tl_camera_see(c, item->x, centre);
    if (!tl_camera_bounds(c, centre, item->radius, bx, by) ||
        !band_range(bx[0], bx[1], 0, b->width, column) ||
        !band_range(by[0], by[1], b->top, b->rows, row) ||
        band_is_hidden(b, column, centre[2] - item->radius))
        return;
    for (int64_t k = 0; k < s->points; k++) {
        double d[3];
        tl_rotate(item->q, s->point + 3 * k, d);
        tl_axpy3(item->x, 1.0, d, d);
        tl_camera_see(c, d, w->point[k]);
        tl_rotate(item->q, s->normal + 3 * k, d);
        tl_camera_axis(c, d, w->normal[k]);
    }
    const double near = c->parallel ? -INFINITY : RASTER_NEAR * (fabs(centre[2]) + item->radius);
    for (int64_t t = 0; t < s->triangles; t++) {
        raster_corner p[3];
        bool before = true;
        for (int k = 0; k < 3; k++) {
            const int32_t i = s->triangle[3 * t + k];
            tl_copy3(w->point[i], p[k].v);
            tl_copy3(w->normal[i], p[k].n);
            before = before && p[k].v[2] >= near;
            if (before) tl_camera_project(c, p[k].v, p[k].at);
        }
        if (before)
            raster_triangle(c, b, p, item->colour, glass);
        else
            raster_clip(c, b, p, near, item->colour, glass);
    }
    if (!glass) band_measure(b, column);
}

void tl_draw_surface(const tl_camera *c, tl_band *b, tl_scratch *w, const talus_surface *s,
                     const tl_item *item) {
    raster_surface(c, b, w, s, item, NULL);
}

void tl_draw_glass(const tl_camera *c, tl_band *b, tl_scratch *w, const talus_surface *s,
                   const tl_item *item, const double to_light[3], const float colour[3]) {
    raster_glass g = {.colour = colour};
    tl_copy3(to_light, g.to_light);
    raster_surface(c, b, w, s, item, &g);
}
