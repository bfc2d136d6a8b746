// SPDX-License-Identifier: Apache-2.0
// Contact points of round bodies along their common normal n. A smooth body touches with one point.
// Cylinders and cones have flat parts: seen along n, each body shows a corner, a line or a face,
// drawn in the plane across n, with heights along n. Where a face lies square to n, all of the
// common area of the two is touched, in up to four points; where two lines lie along each other,
// their common part is, in two. Points are on both true surfaces, one above the other along n.
//
// Rims are drawn as polygons with corners on the rim. The deepest point is never left to them: it
// is the one that belongs to n.
#include "collide/round_flat.h"

enum {
    FLAT_CUT = 2 * TL_FLAT_MOST + 2,
    FLAT_WAYS = 8,    // directions in which the common area of two faces is asked for its end
    FLAT_SPOTS = 12,  // to choose from
    FLAT_DEEPEST = 8, // features: 0 to 7 ways, then the deepest point, then the ends of a line
    FLAT_LINE = 9,
};

#define FLAT_WIDE 0.25     // sine of the tilt up to which a face or line counts as seen
#define FLAT_SIDEWAYS 0.05 // of the radius: how far two lines that touch may part sideways

typedef struct flat_spot {
    double p[2], low, gap; // the point of b is at height `low`
    uint32_t feature;
} flat_spot;

// The common area of two faces, corner by corner.
static int flat_cut(const tl_flat *a, const tl_flat *b, double out[FLAT_CUT][2]) {
    double list[2][FLAT_CUT][2];
    int count = a->count, now = 0;
    const double turn = tl_flat_turn(b);
    for (int i = 0; i < count; i++) list[0][i][0] = a->p[i][0], list[0][i][1] = a->p[i][1];
    for (int k = 0; k < b->count && count > 0; k++) {
        const double *from = b->p[k], *to = b->p[(k + 1) % b->count];
        int kept = 0;
        for (int i = 0; i < count && kept + 2 <= FLAT_CUT; i++) {
            const double *p = list[now][i], *q = list[now][(i + 1) % count];
            const double dp = turn * tl_flat_area(from, to, p),
                         dq = turn * tl_flat_area(from, to, q);
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
static int faces_spots(const tl_facing *f, const tl_flat_frame *frame, const tl_flat *a,
                       const tl_flat *b, flat_spot *out) {
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
        spot->low = tl_flat_height(b, spot->p);
        spot->gap = tl_flat_height(a, spot->p) - spot->low;
        spot->feature = (uint32_t)way;
    }
    return count;
}

// The part of a line, by its beginning and end in [0, 1], that is above a face.
static bool line_part(const tl_flat *line, const tl_flat *face, double part[2]) {
    const double *p = line->p[0], *q = line->p[1];
    part[0] = 0.0;
    part[1] = 1.0;
    if (face->disc > 0.0) {
        double c[2];
        tl_flat_centre(face, c);
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
    const double turn = tl_flat_turn(face);
    for (int k = 0; k < face->count; k++) {
        const double *from = face->p[k], *to = face->p[(k + 1) % face->count];
        const double dp = turn * tl_flat_area(from, to, p), dq = turn * tl_flat_area(from, to, q);
        if (dp < 0.0 && dq < 0.0) return false;
        const double w = dp / (dp - dq);
        if (dp < 0.0 && w > part[0]) part[0] = w;
        if (dq < 0.0 && w < part[1]) part[1] = w;
    }
    return part[0] <= part[1];
}

// The part of a line above a face.
static int line_face_spots(const tl_flat *line, const tl_flat *face, bool line_is_a,
                           flat_spot *out) {
    double part[2];
    const double *p = line->p[0], *q = line->p[1];
    if (!line_part(line, face, part)) return 0;
    for (int k = 0; k < 2; k++) {
        flat_spot *s = &out[k];
        for (int i = 0; i < 2; i++) s->p[i] = p[i] + part[k] * (q[i] - p[i]);
        const double on_line = p[2] + part[k] * (q[2] - p[2]), on_face = tl_flat_height(face, s->p);
        s->low = line_is_a ? on_face : on_line;
        s->gap = line_is_a ? on_line - on_face : on_face - on_line;
        s->feature = FLAT_LINE + (uint32_t)k;
    }
    return 2;
}

// How far the mantle of a body (b) is below the point p of the drawing: the root of
//     ρ² = (r + k (z₀ − z))²,     r and k = 0 for a cylinder or capsule, r = 0 for a cone,
// nearest to `expected`; false: it is not there, or not within the ends.
static bool mantle_below(const tl_side *s, const tl_flat_frame *frame, const double p[3],
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
static int lines_spots(const tl_facing *f, const tl_flat_frame *frame, const tl_flat *a,
                       const tl_flat *b, flat_spot *out) {
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

// The point that belongs to n, as (u, v, height) on each body. Where the parts that are seen do not
// meet, n was rounded to the normal of one of them: the nearest points say what it is.
static void deepest_points(const tl_facing *f, const tl_flat_frame *frame, double pa[3],
                           double pb[3]) {
    tl_flat a, b;
    tl_flat_make(f, &f->a, frame, TL_FLAT_TIGHT, &a);
    tl_flat_make(f, &f->b, frame, TL_FLAT_TIGHT, &b);
    if (a.dim == 0 && b.dim > 0) {
        tl_copy3(a.p[0], pa);
        tl_flat_nearest(&b, pa, pb);
    } else if (b.dim == 0 && a.dim > 0) {
        tl_copy3(b.p[0], pb);
        tl_flat_nearest(&a, pb, pa);
    } else {
        tl_flats_nearest(&a, &b, pa, pb);
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
        const double third = place == 3 ? tl_flat_area(s[0].p, s[1].p, s[2].p) : 0.0;
        for (int i = place; i < count; i++) {
            const double area = place >= 2 ? tl_flat_area(s[0].p, s[1].p, s[i].p) : 0.0;
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
static int flats_spots(const tl_facing *f, const tl_flat_frame *frame, const tl_flat *a,
                       const tl_flat *b, flat_spot *out) {
    const bool square_a = a->dim == 2 && a->sine <= TL_FLAT_TIGHT;
    const bool square_b = b->dim == 2 && b->sine <= TL_FLAT_TIGHT;
    if (a->dim == 2 && b->dim == 2 && (square_a || square_b))
        return faces_spots(f, frame, a, b, out);
    if (a->dim == 1 && square_b) return line_face_spots(a, b, true, out);
    if (b->dim == 1 && square_a) return line_face_spots(b, a, false, out);
    if (a->dim == 1 && b->dim == 1) return lines_spots(f, frame, a, b, out);
    return 0;
}

// The name of a point by itself: a line of a mantle has those of its ends.
static uint32_t deepest_name(const tl_facing *f, const tl_flat *a, const tl_flat *b,
                             const double p[2]) {
    const tl_flat *line = f->a.kind == TL_SIDE_LATHE && a->dim == 1 ? a : b;
    if (line->dim != 1) return FLAT_DEEPEST;
    const double to[2] = {hypot(line->p[0][0] - p[0], line->p[0][1] - p[1]),
                          hypot(line->p[1][0] - p[0], line->p[1][1] - p[1])};
    const double near = 1e-6 * f->size;
    return to[0] < near ? FLAT_LINE : to[1] < near ? FLAT_LINE + 1 : FLAT_DEEPEST;
}

static void spot_write(const tl_facing *f, const tl_flat_frame *frame, const flat_spot *s,
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
static void deepest_write(const tl_facing *f, const tl_view *v, const tl_flat_frame *frame,
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
    tl_flat_frame frame;
    tl_flat a, b;
    flat_spot spot[FLAT_SPOTS];
    tl_copy3(v->n, frame.n);
    tl_facing_basis(v->n, frame.t);
    tl_flat_make(f, &f->a, &frame, FLAT_WIDE, &a);
    tl_flat_make(f, &f->b, &frame, FLAT_WIDE, &b);
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
