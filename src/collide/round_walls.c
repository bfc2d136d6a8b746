// SPDX-License-Identifier: Apache-2.0
// Ellipsoids, superellipsoids, cylinders and cones at walls. At a plane with normal n into the free
// space a body is nearest with its point farthest along −n. At a mantle it is nearest where its
// distance from the axis is largest: with m a unit vector across the axis and x(m) the point of the
// body farthest along m (p its origin, from the axis), that is the top of
//     F(m) = m·(p + x(m)),     F' = τ·(p + x),     F'' = τᵀHτ − m·(p + x),
// the derivatives by the angle of m, τ across m. A long body has two tops, at its two ends; between
// them F dips where m looks at its flat side, close to an axis of the body, so that these
// directions are looked at besides.
#include "collide/round.h"

enum {
    MANTLE_SAMPLES = 64,
    MANTLE_BESIDE = 10, // about each of the six directions of axes
    MANTLE_MOST = MANTLE_SAMPLES + 6 * MANTLE_BESIDE,
    MANTLE_STEPS = 60,
    MANTLE_TOPS = 2,
    MANTLE_LOOKS = 40, // at most between two samples, for tops that these do not show
};
#define MANTLE_NEAR 1e-9    // angles nearer to each other than this have nothing between them
#define MANTLE_HIGHER 1e-13 // than the highest: what is not is no higher

// A smooth body, or a rim (radius r, height z) of a cylinder or cone, in its own frame.
typedef struct mantle_body {
    int32_t dim;
    const talus_shape_def *shape;
    bool rim;
    double r, z;
    double p[3];              // its origin from that of the walls
    double side[3], ahead[3]; // m = cos φ side + sin φ ahead
} mantle_body;

typedef struct mantle_top {
    double value, angle, x[3], m[3];
} mantle_top;

static void mantle_make(int32_t dim, const tl_placed *b, const tl_walls *w, mantle_body *out) {
    double ahead[3];
    *out = (mantle_body){.dim = dim, .shape = b->shape};
    tl_sub3(b->pose->x, w->x, out->p);
    tl_cross3(w->axis, w->side, ahead);
    tl_rotate_back(b->pose->q, out->p, out->p);
    tl_rotate_back(b->pose->q, w->side, out->side);
    tl_rotate_back(b->pose->q, ahead, out->ahead);
}

// F and F' at an angle; the second derivative where it is asked for.
static double mantle_slope(const mantle_body *b, double angle, double *second, mantle_top *out) {
    const double cosine = cos(angle), sine = sin(angle);
    double tau[3], H[3][3], q[3];
    for (int k = 0; k < 3; k++) {
        out->m[k] = cosine * b->side[k] + sine * b->ahead[k];
        tau[k] = cosine * b->ahead[k] - sine * b->side[k];
    }
    if (b->rim)
        (void)tl_circle_support(b->r, b->z, out->m, out->x, second ? H : NULL);
    else
        (void)tl_ellipsoid_support(b->dim, b->shape, out->m, out->x, second ? H : NULL);
    tl_axpy3(b->p, 1.0, out->x, q);
    out->value = tl_dot3(out->m, q);
    out->angle = angle;
    if (second) {
        *second = -out->value;
        for (int i = 0; i < 3; i++) *second += tau[i] * tl_dot3(H[i], tau);
    }
    return tl_dot3(tau, q);
}

// The top between two angles, F' > 0 at the first and not at the second.
static void mantle_climb(const mantle_body *b, double from, double to, mantle_top *out) {
    double at = 0.5 * (from + to);
    for (int i = 0; i < MANTLE_STEPS && to - from > 1e-16; i++) {
        double second;
        const double slope = mantle_slope(b, at, &second, out);
        if (slope > 0.0)
            from = at;
        else
            to = at;
        double next = second < 0.0 ? at - slope / second : from;
        if (!(next > from && next < to)) next = 0.5 * (from + to);
        if (fabs(next - at) <= 1e-16) break;
        at = next;
    }
}

// Angles to look at, ascending, and once more the first one after a full turn.
static int mantle_angles(const mantle_body *b, double out[MANTLE_MOST + 1]) {
    static const double beside[MANTLE_BESIDE] = {-0.04, -0.015, -0.005, -0.001, -1e-4,
                                                 1e-4,  0.001,  0.005,  0.015,  0.04};
    const double full = 6.283185307179586477;
    int count = 0;
    for (; count < MANTLE_SAMPLES; count++) out[count] = full * count / MANTLE_SAMPLES;
    for (int k = 0; k < b->dim; k++) {
        if (hypot(b->side[k], b->ahead[k]) < 1e-3) continue; // across all directions
        const double axis = atan2(b->ahead[k], b->side[k]);
        for (int i = 0; i < 2 * MANTLE_BESIDE; i++) {
            double angle = axis + beside[i / 2] + (i % 2 ? 0.5 * full : 0.0);
            if (angle < 0.0) angle += full;
            if (angle >= full) angle -= full;
            int at = count++;
            for (; at > 0 && out[at - 1] > angle; at--) out[at] = out[at - 1];
            out[at] = angle;
        }
    }
    out[count] = out[0] + full;
    return count;
}

// An end of an interval of angles, and whether F rises towards the next one.
typedef struct mantle_end {
    double angle, value;
    bool rises;
} mantle_end;

typedef struct mantle_search {
    const mantle_body *body;
    mantle_top *top; // MANTLE_TOPS, the highest so far
    int count;
    double best; // the largest F that was met
    int looks;   // left in the interval at hand
} mantle_search;

static void mantle_put(mantle_search *s, const mantle_top *top) {
    s->best = TL_MAX(top->value, s->best);
    if (s->count < MANTLE_TOPS)
        s->top[s->count++] = *top;
    else if (top->value > TL_MIN(s->top[0].value, s->top[1].value))
        s->top[s->top[0].value > s->top[1].value] = *top;
}

// What F is at most between two angles. F is m·p plus a support function, so that for an m between
// m₁ and m₂, m = α m₁ + β m₂, it is not above α F₁ + β F₂, which is a cosine of the angle.
static double mantle_bound(const mantle_end *a, const mantle_end *b) {
    const double cosine = cos(b->angle - a->angle), sine = sin(b->angle - a->angle);
    if (b->value <= a->value * cosine || a->value <= b->value * cosine)
        return TL_MAX(a->value, b->value); // its top is not between them
    const double square =
        a->value * a->value + b->value * b->value - 2.0 * a->value * b->value * cosine;
    return sqrt(TL_MAX(square, 0.0)) / sine;
}

// The tops between two angles: one where F rises and then falls, and others beside it as long as
// there may be a higher one. No recursion is deeper than there are looks.
static void mantle_between(mantle_search *s, mantle_end a, mantle_end b) {
    mantle_top top = {.value = a.value};
    if (a.rises && !b.rises) {
        (void)mantle_slope(s->body, a.angle, NULL, &top); // if there is nowhere to go
        mantle_climb(s->body, a.angle, b.angle, &top);
        mantle_put(s, &top);
        mantle_between(s, a, (mantle_end){top.angle, top.value, true});
        mantle_between(s, (mantle_end){top.angle, top.value, false}, b);
        return;
    }
    if (s->looks == 0 || b.angle - a.angle < MANTLE_NEAR) return;
    if (!(mantle_bound(&a, &b) > s->best + MANTLE_HIGHER * fabs(s->best))) return;
    s->looks--;
    const double angle = 0.5 * (a.angle + b.angle);
    const bool rises = mantle_slope(s->body, angle, NULL, &top) > 0.0;
    s->best = TL_MAX(top.value, s->best);
    mantle_between(s, a, (mantle_end){angle, top.value, rises});
    mantle_between(s, (mantle_end){angle, top.value, rises}, b);
}

// The two highest tops, the first of them the one from which the other is ahead by less than half a
// turn, so that they keep their names when the body rolls. A superellipsoid may have a top and a
// dip between two samples.
static int mantle_tops(const mantle_body *b, mantle_top out[MANTLE_TOPS]) {
    double angle[MANTLE_MOST + 1];
    mantle_end end[MANTLE_MOST + 1];
    const int angles = mantle_angles(b, angle);
    const bool hides = !b->rim && b->shape->kind == TALUS_SHAPE_SUPERELLIPSOID;
    mantle_top highest = {.value = -INFINITY}, top = highest;
    for (int i = 0; i <= angles; i++) {
        const bool rises = mantle_slope(b, angle[i], NULL, &top) > 0.0;
        end[i] = (mantle_end){angle[i], top.value, rises};
        if (top.value > highest.value) highest = top;
    }
    mantle_search s = {.body = b, .top = out, .best = highest.value};
    for (int i = 0; i < angles; i++) {
        s.looks = hides ? MANTLE_LOOKS : 0;
        mantle_between(&s, end[i], end[i + 1]);
    }
    if (s.count == 0) out[s.count++] = highest; // round about the axis: any point will do
    if (s.count == 2 && sin(out[1].angle - out[0].angle) < 0.0)
        top = out[0], out[0] = out[1], out[1] = top;
    return s.count;
}

static int mantle_points(const mantle_body *b, const tl_placed *placed, const tl_walls *w,
                         uint32_t feature, double reach, tl_touch *out) {
    mantle_top top[MANTLE_TOPS];
    double origin[3];
    const int tops = mantle_tops(b, top);
    int count = 0;
    tl_sub3(placed->pose->x, w->x, origin);
    for (int i = 0; i < tops; i++) {
        double arm[3], q[3], inward[3], n[3];
        tl_rotate(placed->pose->q, top[i].x, arm);
        tl_axpy3(origin, 1.0, arm, q);
        tl_axpy3(q, -tl_dot3(q, w->axis), w->axis, inward);
        tl_scale3(-1.0, inward, inward);
        const double distance = w->radius - tl_pair_direction(inward, w->side, n);
        count += tl_walls_put(feature + (uint32_t)i, distance, n, q, arm, reach, out + count);
    }
    return count;
}

// Feature: 8 wall, and at a mantle which of two ends.
int tl_pair_walls_ellipsoid(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                            tl_touch *out) {
    const tl_walls *w = a->walls;
    double p[3];
    int count = 0;
    tl_sub3(b->pose->x, w->x, p);
    if (w->round) {
        mantle_body body;
        mantle_make(dim, b, w, &body);
        count = mantle_points(&body, b, w, 0, reach, out);
    }
    for (int k = 0; k < w->planes; k++) {
        double d[3], x[3], q[3];
        tl_rotate_back(b->pose->q, w->normal[k], d);
        tl_scale3(-1.0, d, d);
        (void)tl_ellipsoid_support(dim, b->shape, d, x, NULL);
        tl_rotate(b->pose->q, x, x);
        tl_axpy3(p, 1.0, x, q);
        const double distance = tl_dot3(w->normal[k], q) + w->offset[k];
        count += tl_walls_put(8 * w->id[k], distance, w->normal[k], q, x, reach, out + count);
    }
    return count;
}

// At a plane: a body that stands on an end (its face looks more towards the plane than its mantle)
// touches with four points of that end's rim, one of them the deepest; one that lies, with the
// deepest point of each rim. A tip is a rim without radius.
static int lathe_plane_points(const tl_lathe *l, const tl_placed *b, const double p[3],
                              const tl_walls *w, int plane, double reach, tl_touch *out) {
    double m[3]; // the normal in the body's frame
    int count = 0;
    tl_rotate_back(b->pose->q, w->normal[plane], m);
    // Below 1e-12 the direction of the tilt is rounding: the rim is level, any point will do.
    const double tilt = hypot(m[0], m[1]);
    const double e[2] = {tilt > 1e-12 ? -m[0] / tilt : 1.0, tilt > 1e-12 ? -m[1] / tilt : 0.0};
    const double rim[4][2] = {{e[0], e[1]}, {-e[1], e[0]}, {-e[0], -e[1]}, {e[1], -e[0]}};
    const int lower = m[2] < 0.0 ? 0 : 1; // the circle that looks towards the plane
    // half of the angle between the normals of the end and of the mantle, by its cosine
    const double limit = sqrt(0.5 * (1.0 + (lower == 0 ? l->slope : -l->slope)));
    const bool stands = l->r[lower] > 0.0 && fabs(m[2]) >= limit;
    for (int end = 0; end < 2; end++) {
        const int circle = 1 - end; // end 1 is the upper
        if (stands && circle != lower) continue;
        for (int i = 0; i < (stands ? 4 : 1); i++) {
            double arm[3] = {l->r[circle] * rim[i][0], l->r[circle] * rim[i][1], l->z[circle]},
                   q[3];
            tl_rotate(b->pose->q, arm, arm);
            tl_axpy3(p, 1.0, arm, q);
            const double distance = tl_dot3(w->normal[plane], q) + w->offset[plane];
            count += tl_walls_put(8 * w->id[plane] + 4 * (uint32_t)end + (uint32_t)i, distance,
                                  w->normal[plane], q, arm, reach, out + count);
        }
    }
    return count;
}

// Feature: 8 wall + 4 end + point, end 1 the upper; at a mantle which of two points of the rim. 3D.
int tl_pair_walls_lathe(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                        tl_touch *out) {
    const tl_walls *w = a->walls;
    const tl_lathe l = tl_lathe_of(b->shape);
    double p[3];
    int count = 0;
    tl_sub3(b->pose->x, w->x, p);
    for (int end = 0; w->round && end < 2; end++) {
        const int circle = 1 - end;
        mantle_body body;
        mantle_make(dim, b, w, &body);
        body.rim = true;
        body.r = l.r[circle];
        body.z = l.z[circle];
        count += mantle_points(&body, b, w, 4 * (uint32_t)end, reach, out + count);
    }
    for (int k = 0; k < w->planes; k++)
        count += lathe_plane_points(&l, b, p, w, k, reach, out + count);
    return count;
}
