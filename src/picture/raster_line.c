// SPDX-License-Identifier: Apache-2.0
// Samples of lines and tubes: on the screen each is a strip with round ends about the segment
// between the projected ends, and the depth along it follows 1/z, which is linear there.
#include "picture/raster.h"
#include <stdlib.h>

#define LINE_BACK 0.08 // radii

typedef struct line_strip {
    double a[2], d[2], square; // first end, difference, its square
    double z[2], half[2];      // depth and half of the width at the ends
    int32_t column[2], row[2];
} line_strip;

// False: nothing of it is in the band. `near` cuts off what is not in front of the eye.
static bool strip_init(const tl_camera *c, const tl_band *b, const double from[3],
                       const double to[3], double radius, double wide, line_strip *out) {
    double end[2][3], at[2][2];
    tl_copy3(from, end[0]);
    tl_copy3(to, end[1]);
    const double near = 1e-6 * (tl_norm3(from) + tl_norm3(to));
    for (int k = 0; k < 2 && !c->parallel; k++) {
        if (end[k][2] >= near) continue;
        if (end[1 - k][2] < near) return false;
        const double t = (near - end[k][2]) / (end[1 - k][2] - end[k][2]);
        for (int e = 0; e < 3; e++) end[k][e] += t * (end[1 - k][e] - end[k][e]);
    }
    double most = 0.0;
    for (int k = 0; k < 2; k++) {
        tl_camera_project(c, end[k], at[k]);
        out->z[k] = end[k][2];
        const double per = c->parallel ? c->scale : c->scale / end[k][2];
        out->half[k] = radius > 0.0 ? TL_MAX(radius * per, 0.6) : 0.5 * wide;
        most = TL_MAX(out->half[k], most);
    }
    for (int k = 0; k < 2; k++) out->a[k] = at[0][k], out->d[k] = at[1][k] - at[0][k];
    out->square = out->d[0] * out->d[0] + out->d[1] * out->d[1];
    for (int k = 0; k < 2; k++) {
        const double low = TL_MIN(at[0][k], at[1][k]) - most,
                     high = TL_MAX(at[0][k], at[1][k]) + most;
        const double first = k == 0 ? 0.0 : b->top,
                     last = first + (k == 0 ? b->width : b->rows) - 1;
        if (!(low <= last + 1.0 && high >= first)) return false;
        int32_t *range = k == 0 ? out->column : out->row;
        range[0] = (int32_t)TL_MAX(first, floor(low));
        range[1] = (int32_t)TL_MIN(last, ceil(high));
    }
    return true;
}

// At the sample's middle: depth of the segment and distance from it as a part of the half width;
// false: outside. `cap`: it is beyond an end.
static inline bool strip_at(const line_strip *s, bool parallel, int32_t x, int32_t y, double *z,
                            double *half, double away[2], bool *cap) {
    const double px = x + 0.5 - s->a[0], py = y + 0.5 - s->a[1];
    double t = s->square > 0.0 ? (px * s->d[0] + py * s->d[1]) / s->square : 0.0;
    *cap = t < 0.0 || t > 1.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    *half = s->half[0] + t * (s->half[1] - s->half[0]);
    away[0] = (px - t * s->d[0]) / *half;
    away[1] = (py - t * s->d[1]) / *half;
    if (away[0] * away[0] + away[1] * away[1] > 1.0) return false;
    *z = parallel ? s->z[0] + t * (s->z[1] - s->z[0]) : 1.0 / ((1.0 - t) / s->z[0] + t / s->z[1]);
    return true;
}

// A tube that is part of a longer one has normals across its `axis` (unit, view coordinates), and
// its round ends lie back a little: they only fill the gap to the next one. NULL: it is alone.
static void line_tube(const tl_camera *c, tl_band *b, tl_layer *layer, double end[2][3],
                      double radius, const double *axis, tl_rgb colour) {
    line_strip s;
    double z, half, away[2];
    bool cap;
    // A tube that is inclined to the line of sight is thicker along it.
    const double across = axis ? sqrt(TL_MAX(0.0, 1.0 - axis[2] * axis[2])) : 1.0;
    const double lean = radius / TL_MAX(0.3, across);
    if (!strip_init(c, b, end[0], end[1], radius, 0.0, &s)) return;
    for (int32_t y = s.row[0]; y <= s.row[1]; y++)
        for (int32_t x = s.column[0]; x <= s.column[1]; x++) {
            const int64_t i = (int64_t)(y - b->top) * b->width + x;
            if (!strip_at(&s, c->parallel, x, y, &z, &half, away, &cap)) continue;
            const double square = away[0] * away[0] + away[1] * away[1], out = sqrt(1.0 - square);
            const float depth =
                (float)(z - (axis && cap ? radius * (out - LINE_BACK) : lean * out));
            double n[3] = {away[0], -away[1], -out};
            if (!(depth < layer->depth[i])) continue;
            layer->depth[i] = depth;
            if (!layer->normal) continue;
            if (axis && !cap) tl_axpy3(n, -tl_dot3(n, axis), axis, n);
            for (int k = 0; k < 3; k++) layer->normal[i][k] = (float)n[k];
            layer->colour[i] = colour;
        }
}

void tl_draw_tube(const tl_camera *c, tl_band *b, tl_layer *layer, const double from[3],
                  const double to[3], double radius, tl_rgb colour) {
    double end[2][3];
    tl_copy3(from, end[0]);
    tl_copy3(to, end[1]);
    line_tube(c, b, layer, end, radius, NULL, colour);
}

void tl_draw_rod(const tl_camera *c, tl_band *b, tl_layer *layer, const tl_item *item,
                 tl_rgb colour) {
    double end[2][3], axis[3];
    for (int k = 0; k < 2; k++) {
        double x[3];
        tl_axpy3(item->x, k == 0 ? -1.0 : 1.0, item->half, x);
        tl_camera_see(c, x, end[k]);
    }
    tl_sub3(end[1], end[0], axis);
    const double length = tl_norm3(axis);
    if (length > 0.0) tl_scale3(1.0 / length, axis, axis);
    line_tube(c, b, layer, end, item->thick, length > 0.0 ? axis : NULL, colour);
}

void tl_draw_line(const tl_camera *c, tl_band *b, const double from[3], const double to[3],
                  double wide, const float colour[3], float opacity) {
    line_strip s;
    double z, half, away[2];
    bool cap;
    if (!strip_init(c, b, from, to, 0.0, wide, &s)) return;
    for (int32_t y = s.row[0]; y <= s.row[1]; y++)
        for (int32_t x = s.column[0]; x <= s.column[1]; x++) {
            const int64_t i = (int64_t)(y - b->top) * b->width + x;
            if (!strip_at(&s, c->parallel, x, y, &z, &half, away, &cap)) continue;
            if (!((float)z < b->solid.depth[i])) continue;
            for (int k = 0; k < 3; k++)
                b->glass[i][k] = b->glass[i][k] * (1.0f - opacity) + opacity * colour[k];
            b->through[i] *= 1.0f - opacity;
        }
}

// ---- edges of surfaces -------------------------------------------------------------------------

typedef struct edge_point {
    double x[3];
    int32_t point;
} edge_point;

static int edge_compare_points(const void *a, const void *b) {
    const edge_point *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->x[k] != q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

typedef struct edge_side {
    int32_t low, high; // numbers of the places of its ends
    int32_t from, to;  // points
    int32_t triangle;
} edge_side;

static int edge_compare(const void *a, const void *b) {
    const edge_side *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static void edge_normal(const talus_surface *s, int64_t t, double n[3]) {
    const int32_t *c = s->triangle + 3 * t;
    double u[3], v[3];
    tl_sub3(s->point + 3 * (int64_t)c[1], s->point + 3 * (int64_t)c[0], u);
    tl_sub3(s->point + 3 * (int64_t)c[2], s->point + 3 * (int64_t)c[0], v);
    tl_cross3(u, v, n);
    const double length = tl_norm3(n);
    if (length > 0.0) tl_scale3(1.0 / length, n, n);
}

talus_status tl_surface_edges(talus_context *ctx, const talus_surface *s, int32_t **out,
                              int32_t *count) {
    talus_status status = TALUS_OK;
    edge_point *point = NULL;
    edge_side *side = NULL;
    int32_t *place = NULL, *edge = NULL, edges = 0;
    const int64_t sides = 3 * (int64_t)s->triangles;
    *out = NULL;
    *count = 0;
    TL_GOTO(TL_ALLOC(ctx, s->points, &point));
    TL_GOTO(TL_ALLOC(ctx, s->points, &place));
    TL_GOTO(TL_ALLOC(ctx, sides, &side));
    TL_GOTO(TL_ALLOC(ctx, 2 * sides, &edge));
    for (int32_t i = 0; i < s->points; i++) {
        tl_copy3(s->point + 3 * (int64_t)i, point[i].x);
        point[i].point = i;
    }
    qsort(point, (size_t)s->points, sizeof *point, edge_compare_points);
    for (int32_t i = 0, at = 0; i < s->points; i++) {
        bool same = i > 0;
        for (int k = 0; k < 3 && same; k++) same = point[i].x[k] == point[i - 1].x[k];
        if (!same) at = i;
        place[point[i].point] = at;
    }
    for (int64_t i = 0; i < sides; i++) {
        const int32_t p = s->triangle[i], q = s->triangle[i % 3 == 2 ? i - 2 : i + 1];
        const bool up = place[p] < place[q];
        side[i] = (edge_side){.low = place[up ? p : q],
                              .high = place[up ? q : p],
                              .from = p,
                              .to = q,
                              .triangle = (int32_t)(i / 3)};
    }
    qsort(side, (size_t)sides, sizeof *side, edge_compare);
    for (int64_t i = 0; i < sides;) {
        int64_t j = i + 1;
        while (j < sides && side[j].low == side[i].low && side[j].high == side[i].high) j++;
        bool keep = j - i != 2;
        if (!keep) {
            double n[3], m[3];
            edge_normal(s, side[i].triangle, n);
            edge_normal(s, side[i + 1].triangle, m);
            const bool shared = side[i].from == side[i + 1].to && side[i].to == side[i + 1].from;
            keep = !shared && tl_dot3(n, m) < 0.906;
        }
        if (keep) {
            edge[2 * (int64_t)edges] = side[i].from;
            edge[2 * (int64_t)edges + 1] = side[i].to;
            edges++;
        }
        i = j;
    }
    *out = edge;
    *count = edges;
    edge = NULL;
done:
    tl_free(ctx, point);
    tl_free(ctx, place);
    tl_free(ctx, side);
    tl_free(ctx, edge);
    return status;
}
