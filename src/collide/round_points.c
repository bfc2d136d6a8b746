// SPDX-License-Identifier: Apache-2.0
// Contact points of round bodies along their common normal n. A smooth body touches with one point.
// Cylinders and cones have flat parts: seen along n, each body shows a corner, a line or a face,
// drawn in the plane across n, with heights along n. Where a face lies square to n, all of the
// common area of the two is touched, in up to four points; where two lines lie along each other,
// their common part is, in two. Points are on both true surfaces, one above the other along n.
//
// Rims are drawn as polygons with corners on the rim. The deepest point is never left to them: it
// is the one that belongs to n.
#include "collide/round_pair.h"

enum {
    FLAT_RIM = 16,  // corners of a rim
    FLAT_MOST = 32, // corners of a face; of more, some are left out
    FLAT_CUT = 2 * FLAT_MOST + 2,
    FLAT_WAYS = 8,    // directions in which the common area of two faces is asked for its end
    FLAT_SPOTS = 12,  // to choose from
    FLAT_DEEPEST = 8, // features: 0 to 7 ways, then the deepest point, then the ends of a line
    FLAT_LINE = 9,
};

#define FLAT_WIDE 0.25     // sine of the tilt up to which a face or line counts as seen
#define FLAT_TIGHT 1e-12   // … as square to n
#define FLAT_SIDEWAYS 0.05 // of the radius: how far two lines that touch may part sideways

// What a body shows: 0 corner, 1 line, 2 face; its corners as (u, v, height).
typedef struct flat {
    int dim, count;
    double p[FLAT_MOST][3];
    double m[3];     // face: its normal, as (u, v, n)
    double sine;     // of its tilt
    double round[2]; // line: radius of the surface about its ends; 0: an edge
    double disc;     // face: radius of its rim; 0: it has corners
} flat;

typedef struct flat_frame {
    double t[2][3], n[3];
} flat_frame;

typedef struct flat_spot {
    double p[2], low, gap; // the point of b is at height `low`
    uint32_t feature;
} flat_spot;

// A point of a body, from its origin in its frame, to the drawing.
static void flat_put(const tl_facing *f, const tl_side *s, const flat_frame *frame,
                     const double x[3], flat *out) {
    double y[3];
    tl_side_out(s, x, y);
    tl_axpy3(y, s->way * s->body->margin, frame->n, y);
    if (s == &f->a) tl_axpy3(y, 1.0, f->apart, y);
    double *p = out->p[out->count++];
    p[0] = tl_dot3(frame->t[0], y);
    p[1] = tl_dot3(frame->t[1], y);
    p[2] = tl_dot3(frame->n, y);
}

static void flat_normal(const tl_side *s, const flat_frame *frame, const double normal[3],
                        flat *out) {
    double m[3];
    tl_side_out(s, normal, m);
    out->m[0] = tl_dot3(frame->t[0], m);
    out->m[1] = tl_dot3(frame->t[1], m);
    out->m[2] = tl_dot3(frame->n, m);
    out->sine = hypot(out->m[0], out->m[1]);
    out->dim = 2;
}

static void flat_of_lathe(const tl_facing *f, const tl_side *s, const flat_frame *frame,
                          const double d[3], double limit, flat *out) {
    const tl_lathe *l = &s->lathe;
    const int end = d[2] < 0.0;
    double x[3];
    if (hypot(d[0], d[1]) <= limit && l->r[end] > 0.0) {
        const double normal[3] = {0.0, 0.0, end ? -1.0 : 1.0};
        for (int k = 0; k < FLAT_RIM; k++) {
            const double angle = 6.283185307179586477 * k / FLAT_RIM;
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
static void flat_of_hull(const tl_facing *f, const tl_side *s, const flat_frame *frame,
                         const double d[3], double limit, flat *out) {
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
        const int32_t stride = (count + FLAT_MOST - 1) / FLAT_MOST;
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
        const double tilt = (h->corners == 2 ? limit : FLAT_TIGHT) * length;
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

static void flat_make(const tl_facing *f, const tl_side *s, const flat_frame *frame, double limit,
                      flat *out) {
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

static double flat_height(const flat *face, const double p[2]) {
    const double *x = face->p[0], *m = face->m;
    return x[2] - (m[0] * (p[0] - x[0]) + m[1] * (p[1] - x[1])) / m[2];
}

// Twice the signed area of the triangle a, b, c.
static double flat_area(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// 1: counter-clockwise, −1: clockwise.
static double flat_turn(const flat *face) {
    double sum = 0.0;
    for (int i = 1; i + 1 < face->count; i++)
        sum += flat_area(face->p[0], face->p[i], face->p[i + 1]);
    return sum < 0.0 ? -1.0 : 1.0;
}

// The common area of two faces, corner by corner.
static int flat_cut(const flat *a, const flat *b, double out[FLAT_CUT][2]) {
    double list[2][FLAT_CUT][2];
    int count = a->count, now = 0;
    const double turn = flat_turn(b);
    for (int i = 0; i < count; i++) list[0][i][0] = a->p[i][0], list[0][i][1] = a->p[i][1];
    for (int k = 0; k < b->count && count > 0; k++) {
        const double *from = b->p[k], *to = b->p[(k + 1) % b->count];
        int kept = 0;
        for (int i = 0; i < count && kept + 2 <= FLAT_CUT; i++) {
            const double *p = list[now][i], *q = list[now][(i + 1) % count];
            const double dp = turn * flat_area(from, to, p), dq = turn * flat_area(from, to, q);
            if (dp >= 0.0) {
                list[1 - now][kept][0] = p[0];
                list[1 - now][kept++][1] = p[1];
            }
            if ((dp > 0.0 && dq < 0.0) || (dp < 0.0 && dq > 0.0)) {
                const double w = dp / (dp - dq);
                list[1 - now][kept][0] = p[0] + w * (q[0] - p[0]);
                list[1 - now][kept++][1] = p[1] + w * (q[1] - p[1]);
            }
        }
        count = kept;
        now = 1 - now;
    }
    for (int i = 0; i < count; i++) out[i][0] = list[now][i][0], out[i][1] = list[now][i][1];
    return count;
}

// The ends of the common area of two faces in directions of its own of a round body, so that they
// keep their names while the bodies slide.
static int faces_spots(const tl_facing *f, const flat_frame *frame, const flat *a, const flat *b,
                       flat_spot *out) {
    double cut[FLAT_CUT][2];
    int count = 0, named[FLAT_WAYS];
    const int corners = flat_cut(a, b, cut);
    const tl_side *s = f->a.kind == TL_SIDE_LATHE ? &f->a : &f->b;
    for (int way = 0; way < FLAT_WAYS && corners > 0; way++) {
        const double angle = 6.283185307179586477 * way / FLAT_WAYS;
        const double own[3] = {cos(angle), sin(angle), 0.0};
        double d[3];
        tl_side_out(s, own, d);
        const double u = tl_dot3(frame->t[0], d), v = tl_dot3(frame->t[1], d);
        int most = 0;
        bool known = false;
        for (int i = 1; i < corners; i++)
            if (u * cut[i][0] + v * cut[i][1] > u * cut[most][0] + v * cut[most][1]) most = i;
        for (int i = 0; i < count; i++) known = known || named[i] == most;
        if (known) continue;
        named[count] = most;
        flat_spot *spot = &out[count++];
        spot->p[0] = cut[most][0];
        spot->p[1] = cut[most][1];
        spot->low = flat_height(b, spot->p);
        spot->gap = flat_height(a, spot->p) - spot->low;
        spot->feature = (uint32_t)way;
    }
    return count;
}

static void disc_centre(const flat *face, double out[2]) {
    for (int k = 0; k < 2; k++) out[k] = 0.5 * (face->p[0][k] + face->p[FLAT_RIM / 2][k]);
}

// The part of a line, by its beginning and end in [0, 1], that is above a face.
static bool line_part(const flat *line, const flat *face, double part[2]) {
    const double *p = line->p[0], *q = line->p[1];
    part[0] = 0.0;
    part[1] = 1.0;
    if (face->disc > 0.0) {
        double c[2];
        disc_centre(face, c);
        const double x[2] = {p[0] - c[0], p[1] - c[1]}, d[2] = {q[0] - p[0], q[1] - p[1]};
        const double dd = d[0] * d[0] + d[1] * d[1], dx = d[0] * x[0] + d[1] * x[1];
        const double beside = (x[0] * d[1] - x[1] * d[0]) * (x[0] * d[1] - x[1] * d[0]) / dd;
        const double rest = face->disc * face->disc - beside;
        if (!(rest >= 0.0)) return false;
        const double half = sqrt(rest / dd), middle = -dx / dd;
        part[0] = TL_MAX(middle - half, 0.0);
        part[1] = TL_MIN(middle + half, 1.0);
        return part[0] <= part[1];
    }
    const double turn = flat_turn(face);
    for (int k = 0; k < face->count; k++) {
        const double *from = face->p[k], *to = face->p[(k + 1) % face->count];
        const double dp = turn * flat_area(from, to, p), dq = turn * flat_area(from, to, q);
        if (dp < 0.0 && dq < 0.0) return false;
        const double w = dp / (dp - dq);
        if (dp < 0.0 && w > part[0]) part[0] = w;
        if (dq < 0.0 && w < part[1]) part[1] = w;
    }
    return part[0] <= part[1];
}

// The part of a line above a face.
static int line_face_spots(const flat *line, const flat *face, bool line_is_a, flat_spot *out) {
    double part[2];
    const double *p = line->p[0], *q = line->p[1];
    if (!line_part(line, face, part)) return 0;
    for (int k = 0; k < 2; k++) {
        flat_spot *s = &out[k];
        for (int i = 0; i < 2; i++) s->p[i] = p[i] + part[k] * (q[i] - p[i]);
        const double on_line = p[2] + part[k] * (q[2] - p[2]), on_face = flat_height(face, s->p);
        s->low = line_is_a ? on_face : on_line;
        s->gap = line_is_a ? on_line - on_face : on_face - on_line;
        s->feature = FLAT_LINE + (uint32_t)k;
    }
    return 2;
}

// How far the mantle of a body (b) is below the point p of the drawing: the root of
//     ρ² = (r + k (z₀ − z))²,     r and k = 0 for a cylinder or capsule, r = 0 for a cone,
// nearest to `expected`; false: it is not there, or not within the ends.
static bool mantle_below(const tl_side *s, const flat_frame *frame, const double p[3],
                         double expected, double *out) {
    double y[3], d[3];
    for (int k = 0; k < 3; k++)
        y[k] = p[0] * frame->t[0][k] + p[1] * frame->t[1][k] + p[2] * frame->n[k];
    tl_side_in(s, y, y);
    tl_side_in(s, frame->n, d);
    const tl_lathe *l = &s->lathe;
    const bool lathe = s->kind == TL_SIDE_LATHE;
    const double high = lathe ? l->z[0] : s->hull->corner[1][2];
    const double low = lathe ? l->z[1] : s->hull->corner[0][2];
    const double r = lathe ? l->r[0] : s->body->margin;
    const double k = lathe ? (l->r[1] - l->r[0]) / (high - low) : 0.0;
    const double radius = r + k * (high - y[2]); // at the height of y; it grows by k d_z
    const double a = d[0] * d[0] + d[1] * d[1] - k * k * d[2] * d[2];
    const double b = y[0] * d[0] + y[1] * d[1] + k * radius * d[2]; // of a λ² − 2 b λ + c
    const double c = y[0] * y[0] + y[1] * y[1] - radius * radius;
    const double square = b * b - a * c;
    if (!(square >= 0.0) || !(a > 0.0)) return false;
    const double far = (b + copysign(sqrt(square), b)) / a, near = far != 0.0 ? c / a / far : 0.0;
    *out = fabs(far - expected) < fabs(near - expected) ? far : near;
    const double z = y[2] - *out * d[2];
    return z <= high && z >= low;
}

// The common part of two lines that lie along each other. Points are on line a, and on the mantle
// of b below them, which may be a little sideways of line b.
static int lines_spots(const tl_facing *f, const flat_frame *frame, const flat *a, const flat *b,
                       flat_spot *out) {
    const double da[2] = {a->p[1][0] - a->p[0][0], a->p[1][1] - a->p[0][1]};
    const double db[2] = {b->p[1][0] - b->p[0][0], b->p[1][1] - b->p[0][1]};
    const double square = da[0] * da[0] + da[1] * da[1];
    double part[2];
    int count = 0;
    for (int k = 0; k < 2; k++)
        part[k] = ((b->p[k][0] - a->p[0][0]) * da[0] + (b->p[k][1] - a->p[0][1]) * da[1]) / square;
    const double from = TL_MAX(TL_MIN(part[0], part[1]), 0.0);
    const double to = TL_MIN(TL_MAX(part[0], part[1]), 1.0);
    if (!(from <= to) || part[0] == part[1]) return 0;
    for (int k = 0; k < 2; k++) {
        const double t = k ? to : from, w = (t - part[0]) / (part[1] - part[0]);
        flat_spot *s = &out[count];
        double p[3], gap;
        for (int i = 0; i < 3; i++) p[i] = a->p[0][i] + t * (a->p[1][i] - a->p[0][i]);
        const double beside = hypot(b->p[0][0] + w * db[0] - p[0], b->p[0][1] + w * db[1] - p[1]);
        gap = p[2] - (b->p[0][2] + w * (b->p[1][2] - b->p[0][2]));
        const double round = b->round[0] + w * (b->round[1] - b->round[0]);
        if (beside > 1e-14 * f->size) {
            if (beside > FLAT_SIDEWAYS * round) return 0;
            if (!mantle_below(&f->b, frame, p, gap, &gap)) continue;
        }
        *s = (flat_spot){
            .p = {p[0], p[1]}, .low = p[2] - gap, .gap = gap, .feature = FLAT_LINE + (uint32_t)k};
        count++;
    }
    return count;
}

// A point of a flat part: `weight` of the way along its edge `k`.
static void flat_at(const flat *s, int k, double weight, double out[3]) {
    const double *p = s->p[k], *q = s->p[(k + 1) % s->count];
    for (int i = 0; i < 3; i++) out[i] = p[i] + weight * (q[i] - p[i]);
}

static double within_unit(double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

// The points of two edges that are nearest to each other in the drawing; returns the square of how
// near that is. An edge may be a point.
static double edges_nearest(const flat *a, int i, const flat *b, int j, double pa[3],
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
    if (det * det > 1e-24 * aa * bb) weight[0] = within_unit((c[0] * db[1] - c[1] * db[0]) / det);
    for (int step = 0; step < 2; step++) { // the nearest of the other edge, and once back
        const double x[2] = {c[0] - weight[0] * da[0], c[1] - weight[0] * da[1]};
        weight[1] = bb > 0.0 ? within_unit(-(x[0] * db[0] + x[1] * db[1]) / bb) : 0.0;
        const double y[2] = {c[0] + weight[1] * db[0], c[1] + weight[1] * db[1]};
        weight[0] = aa > 0.0 ? within_unit((y[0] * da[0] + y[1] * da[1]) / aa) : 0.0;
    }
    flat_at(a, i, weight[0], pa);
    flat_at(b, j, weight[1], pb);
    const double u = pa[0] - pb[0], v = pa[1] - pb[1];
    return u * u + v * v;
}

// Whether a point is above a face.
static bool flat_holds(const flat *face, const double p[2]) {
    if (face->disc > 0.0) {
        double c[2];
        disc_centre(face, c);
        return hypot(p[0] - c[0], p[1] - c[1]) <= face->disc;
    }
    const double turn = flat_turn(face);
    for (int k = 0; k < face->count; k++)
        if (turn * flat_area(face->p[k], face->p[(k + 1) % face->count], p) < 0.0) return false;
    return true;
}

// The points of two flat parts that are nearest in the drawing, along their edges.
static void edges_of_flats(const flat *a, const flat *b, double pa[3], double pb[3]) {
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
static void flat_nearest(const flat *s, const double p[2], double out[3]) {
    flat point = {.count = 1, .p = {{p[0], p[1], 0.0}}};
    double x[3];
    if (s->dim == 2 && flat_holds(s, p)) {
        out[0] = p[0];
        out[1] = p[1];
        out[2] = flat_height(s, p);
        return;
    }
    if (s->disc > 0.0) {
        double c[2];
        disc_centre(s, c);
        const double d[2] = {p[0] - c[0], p[1] - c[1]}, length = hypot(d[0], d[1]);
        for (int k = 0; k < 2; k++) out[k] = c[k] + s->disc / length * d[k];
        out[2] = flat_height(s, out);
        return;
    }
    edges_of_flats(&point, s, x, out);
}

// The points of two flat parts that are nearest in the drawing; one and the same where the parts
// have one in common.
static void flats_nearest(const flat *a, const flat *b, double pa[3], double pb[3]) {
    const flat *disc = a->disc > 0.0 ? a : b, *other = disc == a ? b : a;
    double c[2], x[3], y[3];
    if (!(disc->disc > 0.0)) {
        edges_of_flats(a, b, pa, pb);
        return;
    }
    disc_centre(disc, c);
    flat_nearest(other, c, y);
    flat_nearest(disc, y, x);
    tl_copy3(disc == a ? x : y, pa);
    tl_copy3(disc == a ? y : x, pb);
}

// The point that belongs to n, as (u, v, height) on each body. Where the parts that are seen do not
// meet, n was rounded to the normal of one of them: the nearest points say what it is.
static void deepest_points(const tl_facing *f, const flat_frame *frame, double pa[3],
                           double pb[3]) {
    flat a, b;
    flat_make(f, &f->a, frame, FLAT_TIGHT, &a);
    flat_make(f, &f->b, frame, FLAT_TIGHT, &b);
    if (a.dim == 0 && b.dim > 0) {
        tl_copy3(a.p[0], pa);
        flat_nearest(&b, pa, pb);
    } else if (b.dim == 0 && a.dim > 0) {
        tl_copy3(b.p[0], pb);
        flat_nearest(&a, pb, pa);
    } else {
        flats_nearest(&a, &b, pa, pb);
    }
}

static double spot_square(const flat_spot *a, const flat_spot *b) {
    const double u = a->p[0] - b->p[0], v = a->p[1] - b->p[1];
    return u * u + v * v;
}

// Of more than four points the deepest, the one farthest from it, and the two that are farthest
// from the line through these, one on each side if there is one. Returns how many are kept, first.
static int spots_reduce(flat_spot *s, int count) {
    if (count <= 4) return count;
    for (int place = 0; place < 4; place++) {
        int best = place;
        double most = -INFINITY;
        const double third = place == 3 ? flat_area(s[0].p, s[1].p, s[2].p) : 0.0;
        for (int i = place; i < count; i++) {
            const double area = place >= 2 ? flat_area(s[0].p, s[1].p, s[i].p) : 0.0;
            const double value = place == 0   ? -s[i].gap
                                 : place == 1 ? spot_square(&s[0], &s[i])
                                 : place == 2 ? fabs(area)
                                              : (third > 0.0 ? -area : area);
            if (value > most) most = value, best = i;
        }
        const flat_spot kept = s[best];
        for (int i = best; i > place; i--) s[i] = s[i - 1];
        s[place] = kept;
    }
    return 4;
}

static void spots_sort(flat_spot *s, int count) {
    for (int i = 1; i < count; i++) {
        const flat_spot x = s[i];
        int k = i;
        for (; k > 0 && s[k - 1].feature > x.feature; k--) s[k] = s[k - 1];
        s[k] = x;
    }
}

// The flat parts that are seen, and where they touch.
static int flats_spots(const tl_facing *f, const flat_frame *frame, const flat *a, const flat *b,
                       flat_spot *out) {
    const bool square_a = a->dim == 2 && a->sine <= FLAT_TIGHT;
    const bool square_b = b->dim == 2 && b->sine <= FLAT_TIGHT;
    if (a->dim == 2 && b->dim == 2 && (square_a || square_b))
        return faces_spots(f, frame, a, b, out);
    if (a->dim == 1 && square_b) return line_face_spots(a, b, true, out);
    if (b->dim == 1 && square_a) return line_face_spots(b, a, false, out);
    if (a->dim == 1 && b->dim == 1) return lines_spots(f, frame, a, b, out);
    return 0;
}

// The name of a point by itself: a line of a mantle has those of its ends.
static uint32_t deepest_name(const tl_facing *f, const flat *a, const flat *b, const double p[2]) {
    const flat *line = f->a.kind == TL_SIDE_LATHE && a->dim == 1 ? a : b;
    if (line->dim != 1) return FLAT_DEEPEST;
    const double to[2] = {hypot(line->p[0][0] - p[0], line->p[0][1] - p[1]),
                          hypot(line->p[1][0] - p[0], line->p[1][1] - p[1])};
    const double near = 1e-6 * f->size;
    return to[0] < near ? FLAT_LINE : to[1] < near ? FLAT_LINE + 1 : FLAT_DEEPEST;
}

static void spot_write(const tl_facing *f, const flat_frame *frame, const flat_spot *s,
                       tl_touch *out) {
    out->feature = s->feature;
    out->gap = s->gap;
    tl_copy3(frame->n, out->normal);
    for (int k = 0; k < 3; k++) {
        out->arm_b[k] = s->p[0] * frame->t[0][k] + s->p[1] * frame->t[1][k] + s->low * frame->n[k];
        out->arm_a[k] = out->arm_b[k] + s->gap * frame->n[k] - f->apart[k];
    }
}

// The point that belongs to n, by itself.
static void deepest_write(const tl_facing *f, const tl_view *v, const flat_frame *frame,
                          const double pa[3], const double pb[3], tl_touch *out) {
    double w[3], n[3], p[3] = {0.5 * (pa[0] + pb[0]), 0.5 * (pa[1] + pb[1]), pb[2]};
    tl_sub3(pa, pb, w);
    const double length = tl_norm3(w);
    out->gap = v->s;
    tl_copy3(v->n, out->normal);
    if (v->s > 0.0 && hypot(w[0], w[1]) > 1e-13 * f->size) {
        // the direction from one point to the other, if the bodies are as far apart along it
        tl_view next;
        for (int k = 0; k < 3; k++)
            n[k] = w[0] * frame->t[0][k] + w[1] * frame->t[1][k] + w[2] * frame->n[k];
        tl_scale3(1.0 / tl_norm3(n), n, n);
        tl_facing_view(f, n, &next);
        if (fabs(next.s - length) <= 1e-13 * f->size) {
            out->gap = length;
            tl_copy3(n, out->normal);
            tl_copy3(pb, p);
        }
    }
    for (int k = 0; k < 3; k++) {
        out->arm_b[k] = p[0] * frame->t[0][k] + p[1] * frame->t[1][k] + p[2] * frame->n[k];
        out->arm_a[k] = out->arm_b[k] + out->gap * out->normal[k] - f->apart[k];
    }
}

int tl_lathe_points(const tl_facing *f, const tl_view *v, double reach, tl_touch *out) {
    flat_frame frame;
    flat a, b;
    flat_spot spot[FLAT_SPOTS];
    tl_copy3(v->n, frame.n);
    tl_facing_basis(v->n, frame.t);
    flat_make(f, &f->a, &frame, FLAT_WIDE, &a);
    flat_make(f, &f->b, &frame, FLAT_WIDE, &b);
    int count = flats_spots(f, &frame, &a, &b, spot);
    double least = INFINITY;
    for (int i = 0; i < count; i++) least = TL_MIN(spot[i].gap, least);
    if (!(least <= v->s + 1e-12 * f->size)) {
        double pa[3], pb[3];
        deepest_points(f, &frame, pa, pb);
        const uint32_t name = deepest_name(f, &a, &b, pb);
        if (count == 0) {
            deepest_write(f, v, &frame, pa, pb, out);
            out->feature = name;
            return out->gap <= reach;
        }
        // a line keeps the name of its end for the point there
        int same = count;
        for (int i = 0; i < count; i++)
            if (spot[i].feature == name) same = i;
        if (same == count) count++;
        spot[same] = (flat_spot){.p = {pb[0], pb[1]}, .low = pb[2], .gap = v->s, .feature = name};
    }
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (spot[i].gap <= reach) spot[kept++] = spot[i];
    kept = spots_reduce(spot, kept);
    spots_sort(spot, kept);
    for (int i = 0; i < kept; i++) spot_write(f, &frame, &spot[i], &out[i]);
    return kept;
}

// tt, tu, uu of the second derivative of a body's support function along two directions.
static void side_bends(const tl_side *s, const double n[3], double t[2][3], double out[3]) {
    double H[3][3];
    tl_side_bend(s, n, H);
    for (int k = 0; k < 3; k++) {
        const double *x = t[k == 2], *y = t[k > 0];
        out[k] = x[0] * tl_dot3(H[0], y) + x[1] * tl_dot3(H[1], y) + x[2] * tl_dot3(H[2], y);
    }
}

bool tl_facing_meets(const tl_facing *f, const tl_view *v) {
    flat part[2];
    flat_frame frame;
    double x[3], pa[3], pb[3], bend[3] = {0.0, 0.0, 0.0};
    if (!(v->s > -INFINITY)) return false;
    tl_copy3(v->n, frame.n);
    tl_facing_basis(v->n, frame.t);
    for (int i = 0; i < 2; i++) {
        const tl_side *s = i ? &f->b : &f->a;
        if (s->kind != TL_SIDE_SMOOTH) {
            flat_make(f, s, &frame, FLAT_TIGHT, &part[i]);
            continue;
        }
        if (s->curly) side_bends(s, v->n, frame.t, bend);
        tl_axpy3(i ? v->xb : v->xa, i ? 0.0 : 1.0, f->apart, x);
        part[i] = (flat){.count = 1};
        for (int k = 0; k < 2; k++) part[i].p[0][k] = tl_dot3(frame.t[k], x);
    }
    const flat *a = &part[0], *b = &part[1];
    if (a->dim == 0)
        tl_copy3(a->p[0], pa), flat_nearest(b, pa, pb);
    else if (b->dim == 0)
        tl_copy3(b->p[0], pb), flat_nearest(a, pb, pa);
    else
        flats_nearest(a, b, pa, pb);
    const double u = pa[0] - pb[0], w = pa[1] - pb[1];
    if (hypot(u, w) <= 1e-13 * f->size) return true;
    // what S could gain is no more than rounding, where one of them is that flat
    const double det = bend[0] * bend[2] - bend[1] * bend[1];
    const double gain = bend[2] * u * u - 2.0 * bend[1] * u * w + bend[0] * w * w;
    return det > 0.0 && gain <= 1e-15 * f->size * det;
}

// How far the point of a has to go, of `rho` in all, along two directions: each body goes as far as
// it is flat. `line`: the body that shows a line, along the first direction; −1: none.
static void share_by_bend(int32_t dim, double bend[2][3], int line, const double rho[2],
                          double out[2]) {
    const double tt = bend[0][0] + bend[1][0], tu = bend[0][1] + bend[1][1];
    const double uu = bend[0][2] + bend[1][2], det = tt * uu - tu * tu;
    if (line < 0 && dim == 3 && det > 1e-13 * tt * uu) {
        const double w[2] = {(uu * rho[0] - tu * rho[1]) / det, (tt * rho[1] - tu * rho[0]) / det};
        double way[2][2]; // the shorter of the two is the more accurate one
        for (int i = 0; i < 2; i++) {
            way[i][0] = bend[i][0] * w[0] + bend[i][1] * w[1];
            way[i][1] = bend[i][1] * w[0] + bend[i][2] * w[1];
        }
        const bool first = hypot(way[0][0], way[0][1]) <= hypot(way[1][0], way[1][1]);
        for (int k = 0; k < 2; k++) out[k] = first ? way[0][k] : rho[k] - way[1][k];
        return;
    }
    if (line >= 0 && uu > 0.0) { // the normal turns across the line only
        const double w = rho[1] / uu;
        out[0] = line == 1 ? bend[0][1] * w : rho[0] - bend[1][1] * w;
        out[1] = bend[0][2] * w;
        return;
    }
    out[0] = rho[0] * (line >= 0  ? (double)(line == 0)
                       : tt > 0.0 ? within_unit(bend[0][0] / tt)
                                  : 0.5);
    out[1] = rho[1] * (uu > 0.0 ? within_unit(bend[0][2] / uu) : 0.5);
}

// The point of a face that the point p of a smooth body comes to on the flattest way: the nearest
// one, with lengths measured by the inverse of its bend. Corners stand for a rim.
static void face_on_flattest_way(const flat *face, const double bend[3], const double p[2],
                                 double out[2]) {
    // Cholesky: bend = L Lᵀ, and L⁻¹ x is what is compared
    const double tiny = 1e-12 * (bend[0] + bend[2]);
    const double l00 = sqrt(TL_MAX(bend[0], tiny)), l10 = bend[1] / l00;
    const double l11 = sqrt(TL_MAX(bend[2] - l10 * l10, tiny));
    flat point = {.count = 1}, turned = *face;
    double x[3], y[3];
    if (flat_holds(face, p) || !(tiny > 0.0)) {
        flat_nearest(face, p, y);
        out[0] = y[0];
        out[1] = y[1];
        return;
    }
    point.p[0][0] = p[0] / l00;
    point.p[0][1] = (p[1] - l10 * point.p[0][0]) / l11;
    for (int i = 0; i < face->count; i++) {
        turned.p[i][0] = face->p[i][0] / l00;
        turned.p[i][1] = (face->p[i][1] - l10 * turned.p[i][0]) / l11;
    }
    edges_of_flats(&point, &turned, x, y);
    out[0] = l00 * y[0];
    out[1] = l10 * y[0] + l11 * y[1];
}

// What is left of r across n after the search is how far the points of the bodies may be off. It is
// shared out: a face takes all, a line what is along it, as far as they reach, and what is left
// goes to each as much as it is flat. Returns a's share.
static void share_out(const tl_facing *f, const tl_view *v, const double across[3],
                      double share[3]) {
    const tl_side *side[2] = {&f->a, &f->b};
    flat_frame frame;
    flat part = {.dim = 0};
    double x[3], p[2][2], rho[2], out[2], bend[2][3];
    int shows = -1; // the body with a flat part
    tl_copy3(v->n, frame.n);
    tl_facing_basis(v->n, frame.t);
    for (int i = 0; i < 2; i++)
        if (side[i]->kind != TL_SIDE_SMOOTH && side[i]->body->corners != 1) shows = i;
    if (shows >= 0) flat_make(f, side[shows], &frame, FLAT_TIGHT, &part);
    if (part.dim == 1) { // turn the frame so that t[0] is along the line
        const double e[2] = {part.p[1][0] - part.p[0][0], part.p[1][1] - part.p[0][1]};
        const double length = hypot(e[0], e[1]);
        for (int k = 0; k < 3 && length > 0.0; k++) {
            const double t = frame.t[0][k], u = frame.t[1][k];
            frame.t[0][k] = (e[0] * t + e[1] * u) / length;
            frame.t[1][k] = (e[0] * u - e[1] * t) / length;
        }
        flat_make(f, side[shows], &frame, FLAT_TIGHT, &part);
    }
    tl_axpy3(v->xa, 1.0, f->apart, x);
    for (int k = 0; k < 2; k++) {
        side_bends(side[k], v->n, frame.t, bend[k]);
        p[0][k] = tl_dot3(frame.t[k], x);
        p[1][k] = tl_dot3(frame.t[k], v->xb);
        rho[k] = tl_dot3(frame.t[k], across);
    }
    share_by_bend(f->dim, bend, part.dim == 1 ? shows : -1, rho, out);
    if (part.dim > 0 && shows >= 0) {
        // where the smooth body's point would go, and what the flat part has of that
        const int o = 1 - shows;
        double to[2], q[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < 2; k++) {
            const double moved = o == 0 ? p[0][k] - out[k] : p[1][k] + rho[k] - out[k];
            to[k] = part.dim == 2 ? p[o][k] : moved;
        }
        if (part.dim == 2)
            face_on_flattest_way(&part, bend[o], to, q);
        else
            flat_nearest(&part, to, q);
        for (int k = 0; k < 2 && k < part.dim; k++)
            out[k] = o == 0 ? p[0][k] - q[k] : rho[k] - (q[k] - p[1][k]);
    }
    for (int k = 0; k < 3; k++) share[k] = out[0] * frame.t[0][k] + out[1] * frame.t[1][k];
}

int tl_round_points(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                    const tl_pose *pb, double reach, tl_touch *out) {
    tl_facing f;
    tl_view v;
    tl_facing_make(dim, a, pa, b, pb, &f);
    if (!tl_facing_nearest(&f, pa, pb, reach, &v)) return 0;
    const bool point_a = f.a.kind == TL_SIDE_SMOOTH || a->corners == 1;
    const bool point_b = f.b.kind == TL_SIDE_SMOOTH || b->corners == 1;
    if (!point_a && !point_b) return tl_lathe_points(&f, &v, reach, out);
    double across[3], share[3];
    tl_axpy3(v.r, -v.s, v.n, across);
    share_out(&f, &v, across, share);
    out->feature = 0;
    out->gap = v.s;
    tl_copy3(v.n, out->normal);
    tl_sub3(v.xa, share, out->arm_a);
    for (int k = 0; k < 3; k++) out->arm_b[k] = v.xb[k] + (across[k] - share[k]);
    return 1;
}

int tl_pair_round(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                  tl_touch *out) {
    tl_convex ca, cb;
    tl_convex_view(dim, a->shape, a->solid, &ca);
    tl_convex_view(dim, b->shape, b->solid, &cb);
    return tl_round_points(dim, &ca, a->pose, &cb, b->pose, reach, out);
}
