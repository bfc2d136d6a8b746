// SPDX-License-Identifier: Apache-2.0
// Two capsules: the nearest points of their segments in closed form,
//     x = p + s u,  y = q + t v,  |s| ≤ a, |t| ≤ b:    least |x − y|,
// by the minimum over the plane of (s, t), which is clamped, one coordinate after the other. Where
// more than one place is within reach, as with capsules that lie beside each other, all of them are
// those of two polytopes (manifold.c), and so are the numbers of the features here: 0 and 1 the
// ends of b, 2 and 3 those of a, 4 a crossing.
#include "collide/convex_impl.h"
#include "collide/pair.h"

// Segments whose directions differ by less than this angle are left to polytopes; so are those that
// come nearer than this part of their size.
#define CAPSULE_PARALLEL 1e-4
#define CAPSULE_CROSSED 1e-6

enum { CAPSULE_CROSSING = 4 };

typedef struct capsule_line {
    double u[3], half;
} capsule_line;

static double capsule_clamp(double s, double half) {
    return s > half ? half : s < -half ? -half : s;
}

static capsule_line capsule_get_line(const tl_placed *p) {
    static const double up[3] = {0.0, 0.0, 1.0};
    capsule_line line = {.half = 0.5 * p->shape->height};
    tl_rotate(p->pose->q, up, line.u);
    return line;
}

// Whether the end of one segment at s (along its line) comes within `beyond` of the other one; d is
// the way from the middle of the other to that of this.
static bool capsule_end_is_near(const capsule_line *of, double s, const capsule_line *other,
                                const double d[3], double beyond) {
    double x[3];
    tl_axpy3(d, s, of->u, x);
    tl_axpy3(x, -capsule_clamp(tl_dot3(x, other->u), other->half), other->u, x);
    return tl_dot3(x, x) <= beyond * beyond;
}

int tl_pair_capsules(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                     tl_touch *out) {
    if (dim == 2) return tl_pair_polytopes(dim, a, b, reach, out);
    const capsule_line la = capsule_get_line(a), lb = capsule_get_line(b);
    const double ra = a->shape->radius, rb = b->shape->radius, beyond = reach + ra + rb;
    double d[3], back[3], x[3];
    tl_sub3(a->pose->x, b->pose->x, d); // from the middle of b to that of a
    tl_scale3(-1.0, d, back);
    const double c = tl_dot3(la.u, lb.u), sine = 1.0 - c * c;
    const double da = tl_dot3(d, la.u), db = tl_dot3(d, lb.u);
    double s = sine > 0.0 ? capsule_clamp((c * db - da) / sine, la.half) : 0.0;
    double t = db + s * c; // nearest to that point of a
    if (fabs(t) > lb.half) {
        t = capsule_clamp(t, lb.half);
        s = capsule_clamp(t * c - da, la.half);
    }
    for (int k = 0; k < 3; k++) x[k] = d[k] + s * la.u[k] - t * lb.u[k];
    const double distance = tl_norm3(x);
    // what rounding may decide otherwise is not decided here
    if (distance > beyond + CAPSULE_CROSSED * (la.half + lb.half)) return 0;
    int32_t ends = 0, feature = CAPSULE_CROSSING;
    for (int32_t k = 0; k < 2; k++) {
        if (capsule_end_is_near(&lb, k ? lb.half : -lb.half, &la, back, beyond))
            ends++, feature = k;
        if (capsule_end_is_near(&la, k ? la.half : -la.half, &lb, d, beyond))
            ends++, feature = 2 + k;
    }
    const bool inside = fabs(s) < la.half && fabs(t) < lb.half;
    const bool alone = inside
                           ? ends == 0
                           : ends == 1 && (feature < 2 ? t == (feature ? lb.half : -lb.half)
                                                       : s == (feature == 3 ? la.half : -la.half));
    if (!alone || sine < CAPSULE_PARALLEL * CAPSULE_PARALLEL ||
        distance < CAPSULE_CROSSED * (la.half + lb.half))
        return tl_pair_polytopes(dim, a, b, reach, out);
    out->feature = (uint32_t)feature;
    out->gap = distance - ra - rb;
    for (int k = 0; k < 3; k++) {
        out->normal[k] = x[k] / distance;
        out->arm_a[k] = s * la.u[k] - ra * out->normal[k];
        out->arm_b[k] = t * lb.u[k] + rb * out->normal[k];
    }
    return out->gap <= reach;
}
