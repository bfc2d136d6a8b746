// SPDX-License-Identifier: Apache-2.0
// The flat parts that a body shows, and where two of them are nearest (round_flat.h). Rims are
// drawn as polygons with corners on the rim, and are circles where it is asked what is within them.
#include "collide/round_flat.h"

// A point of a body, from its origin in its frame, to the drawing.
static void flat_put(const tl_facing *f, const tl_side *s, const tl_flat_frame *frame,
                     const double x[3], tl_flat *out) {
    double y[3];
    tl_side_out(s, x, y);
    tl_axpy3(y, s->way * s->body->margin, frame->n, y);
    if (s == &f->a) tl_axpy3(y, 1.0, f->apart, y);
    double *p = out->p[out->count++];
    p[0] = tl_dot3(frame->t[0], y);
    p[1] = tl_dot3(frame->t[1], y);
    p[2] = tl_dot3(frame->n, y);
}

static void flat_normal(const tl_side *s, const tl_flat_frame *frame, const double normal[3],
                        tl_flat *out) {
    double m[3];
    tl_side_out(s, normal, m);
    out->m[0] = tl_dot3(frame->t[0], m);
    out->m[1] = tl_dot3(frame->t[1], m);
    out->m[2] = tl_dot3(frame->n, m);
    out->sine = hypot(out->m[0], out->m[1]);
    out->dim = 2;
}

static void flat_of_lathe(const tl_facing *f, const tl_side *s, const tl_flat_frame *frame,
                          const double d[3], double limit, tl_flat *out) {
    const tl_lathe *l = &s->lathe;
    const int end = d[2] < 0.0;
    double x[3];
    if (hypot(d[0], d[1]) <= limit && l->r[end] > 0.0) {
        const double normal[3] = {0.0, 0.0, end ? -1.0 : 1.0};
        for (int k = 0; k < TL_FLAT_RIM; k++) {
            const double angle = 6.283185307179586477 * k / TL_FLAT_RIM;
            const double rim[3] = {l->r[end] * cos(angle), l->r[end] * sin(angle), l->z[end]};
            flat_put(f, s, frame, rim, out);
        }
        flat_normal(s, frame, normal, out);
        out->disc = l->r[end];
        return;
    }
    if (fabs(d[2] - l->slope) <= limit) {
        for (int k = 0; k < 2; k++) {
            (void)tl_circle_support(l->r[k], l->z[k], d, x, NULL);
            flat_put(f, s, frame, x, out);
        }
        out->dim = 1;
        out->sine = fabs(d[2] - l->slope);
        out->round[0] = l->r[0];
        out->round[1] = l->r[1];
        return;
    }
    (void)tl_lathe_support(l, d, x);
    flat_put(f, s, frame, x, out);
}

// The face or edge of a hull that is seen along d.
static void flat_of_hull(const tl_facing *f, const tl_side *s, const tl_flat_frame *frame,
                         const double d[3], double limit, tl_flat *out) {
    const tl_hull *h = s->hull;
    int32_t best = -1;
    double x[3], least = limit; // by the chord: small angles have the cosine 1
    for (int32_t k = 0; h->corners > 2 && k < h->faces; k++) {
        double chord[3];
        tl_sub3(h->normal[k], d, chord);
        const double length = tl_norm3(chord);
        if (h->face_start[k + 1] == h->face_start[k] || length > least) continue;
        least = length;
        best = k;
    }
    if (best >= 0) {
        const int32_t begin = h->face_start[best], count = h->face_start[best + 1] - begin;
        const int32_t stride = (count + TL_FLAT_MOST - 1) / TL_FLAT_MOST;
        for (int32_t i = 0; i < count; i += stride)
            flat_put(f, s, frame, h->corner[h->loop[begin + i]], out);
        flat_normal(s, frame, h->normal[best], out);
        if (s->dim == 2) out->dim = 1;
        return;
    }
    s->body->support(s->body, d, x);
    const double top = tl_dot3(x, d);
    const int32_t edges = h->corners == 1 ? 0 : h->corners == 2 ? 1 : h->edges;
    for (int32_t e = 0; e < edges; e++) {
        const double *tail = h->corner[h->corners == 2 ? 0 : h->edge[e].tail];
        const double *head = h->corner[h->corners == 2 ? 1 : h->edge[e].head];
        double along[3];
        tl_sub3(head, tail, along);
        const double length = tl_norm3(along);
        const double ends[2] = {tl_dot3(tail, d), tl_dot3(head, d)};
        // only the segment of a capsule may be tilted: an edge of a hull has faces beside it
        const double tilt = (h->corners == 2 ? limit : TL_FLAT_TIGHT) * length;
        if (TL_MAX(ends[0], ends[1]) < top - 1e-14 * h->size || fabs(ends[1] - ends[0]) > tilt)
            continue;
        flat_put(f, s, frame, tail, out);
        flat_put(f, s, frame, head, out);
        out->dim = 1;
        out->sine = fabs(tl_dot3(along, d)) / length;
        out->round[0] = out->round[1] = s->body->margin;
        return;
    }
    flat_put(f, s, frame, x, out);
}

void tl_flat_make(const tl_facing *f, const tl_side *s, const tl_flat_frame *frame, double limit,
                  tl_flat *out) {
    double d[3];
    tl_side_in(s, frame->n, d);
    tl_scale3(s->way, d, d);
    out->dim = out->count = 0;
    out->round[0] = out->round[1] = out->sine = out->disc = 0.0;
    if (s->kind == TL_SIDE_LATHE)
        flat_of_lathe(f, s, frame, d, limit, out);
    else
        flat_of_hull(f, s, frame, d, limit, out);
}

double tl_flat_height(const tl_flat *face, const double p[2]) {
    const double *x = face->p[0], *m = face->m;
    return x[2] - (m[0] * (p[0] - x[0]) + m[1] * (p[1] - x[1])) / m[2];
}

// 1: counter-clockwise, −1: clockwise.
double tl_flat_turn(const tl_flat *face) {
    double sum = 0.0;
    for (int i = 1; i + 1 < face->count; i++)
        sum += tl_flat_area(face->p[0], face->p[i], face->p[i + 1]);
    return sum < 0.0 ? -1.0 : 1.0;
}

void tl_flat_centre(const tl_flat *face, double out[2]) {
    for (int k = 0; k < 2; k++) out[k] = 0.5 * (face->p[0][k] + face->p[TL_FLAT_RIM / 2][k]);
}

// A point of a flat part: `weight` of the way along its edge `k`.
static void flat_at(const tl_flat *s, int k, double weight, double out[3]) {
    const double *p = s->p[k], *q = s->p[(k + 1) % s->count];
    for (int i = 0; i < 3; i++) out[i] = p[i] + weight * (q[i] - p[i]);
}

// The points of two edges that are nearest to each other in the drawing; returns the square of how
// near that is. An edge may be a point.
static double edges_nearest(const tl_flat *a, int i, const tl_flat *b, int j, double pa[3],
                            double pb[3]) {
    double from[2][3], to[2][3], weight[2] = {0.0, 0.0};
    flat_at(a, i, 0.0, from[0]);
    flat_at(a, i, 1.0, to[0]);
    flat_at(b, j, 0.0, from[1]);
    flat_at(b, j, 1.0, to[1]);
    const double da[2] = {to[0][0] - from[0][0], to[0][1] - from[0][1]};
    const double db[2] = {to[1][0] - from[1][0], to[1][1] - from[1][1]};
    const double c[2] = {from[1][0] - from[0][0], from[1][1] - from[0][1]};
    const double aa = da[0] * da[0] + da[1] * da[1], bb = db[0] * db[0] + db[1] * db[1];
    const double det = da[0] * db[1] - da[1] * db[0];
    if (det * det > 1e-24 * aa * bb)
        weight[0] = tl_within_unit((c[0] * db[1] - c[1] * db[0]) / det);
    for (int step = 0; step < 2; step++) { // the nearest of the other edge, and once back
        const double x[2] = {c[0] - weight[0] * da[0], c[1] - weight[0] * da[1]};
        weight[1] = bb > 0.0 ? tl_within_unit(-(x[0] * db[0] + x[1] * db[1]) / bb) : 0.0;
        const double y[2] = {c[0] + weight[1] * db[0], c[1] + weight[1] * db[1]};
        weight[0] = aa > 0.0 ? tl_within_unit((y[0] * da[0] + y[1] * da[1]) / aa) : 0.0;
    }
    flat_at(a, i, weight[0], pa);
    flat_at(b, j, weight[1], pb);
    const double u = pa[0] - pb[0], v = pa[1] - pb[1];
    return u * u + v * v;
}

// Whether a point is above a face.
bool tl_flat_holds(const tl_flat *face, const double p[2]) {
    if (face->disc > 0.0) {
        double c[2];
        tl_flat_centre(face, c);
        return hypot(p[0] - c[0], p[1] - c[1]) <= face->disc;
    }
    const double turn = tl_flat_turn(face);
    for (int k = 0; k < face->count; k++)
        if (turn * tl_flat_area(face->p[k], face->p[(k + 1) % face->count], p) < 0.0) return false;
    return true;
}

// The points of two flat parts that are nearest in the drawing, along their edges.
void tl_flats_edges(const tl_flat *a, const tl_flat *b, double pa[3], double pb[3]) {
    double least = INFINITY;
    tl_copy3(a->p[0], pa);
    tl_copy3(b->p[0], pb);
    for (int i = 0; i < (a->count < 3 ? 1 : a->count); i++) {
        for (int j = 0; j < (b->count < 3 ? 1 : b->count); j++) {
            double x[3], y[3];
            const double square = edges_nearest(a, i, b, j, x, y);
            if (!(square < least)) continue;
            least = square;
            tl_copy3(x, pa);
            tl_copy3(y, pb);
        }
    }
}

// The point of a flat part nearest to p in the drawing.
void tl_flat_nearest(const tl_flat *s, const double p[2], double out[3]) {
    tl_flat point = {.count = 1, .p = {{p[0], p[1], 0.0}}};
    double x[3];
    if (s->dim == 2 && tl_flat_holds(s, p)) {
        out[0] = p[0];
        out[1] = p[1];
        out[2] = tl_flat_height(s, p);
        return;
    }
    if (s->disc > 0.0) {
        double c[2];
        tl_flat_centre(s, c);
        const double d[2] = {p[0] - c[0], p[1] - c[1]}, length = hypot(d[0], d[1]);
        for (int k = 0; k < 2; k++) out[k] = c[k] + s->disc / length * d[k];
        out[2] = tl_flat_height(s, out);
        return;
    }
    tl_flats_edges(&point, s, x, out);
}

// The points of two flat parts that are nearest in the drawing; one and the same where the parts
// have one in common.
void tl_flats_nearest(const tl_flat *a, const tl_flat *b, double pa[3], double pb[3]) {
    const tl_flat *disc = a->disc > 0.0 ? a : b, *other = disc == a ? b : a;
    double c[2], x[3], y[3];
    if (!(disc->disc > 0.0)) {
        tl_flats_edges(a, b, pa, pb);
        return;
    }
    tl_flat_centre(disc, c);
    tl_flat_nearest(other, c, y);
    tl_flat_nearest(disc, y, x);
    tl_copy3(disc == a ? x : y, pa);
    tl_copy3(disc == a ? y : x, pb);
}
