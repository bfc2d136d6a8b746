// SPDX-License-Identifier: Apache-2.0
// Contact points of two bodies whose cores have corners: all places where they touch, and of these
// the few that carry the same forces and moments. Forces on a flat contact area are pushes within
// the polygon of its places; four of them that span most of its area can do nearly the same.
#include "collide/convex_impl.h"

// A place replaces another one as the best only when it is better by this part: among equals the
// one with the lowest feature stays, whatever rounding does.
#define REDUCE_BETTER 1e-6
// Of the size: places whose gaps differ by less are equally near.
#define REDUCE_LEVEL 1e-13
// Of the size: places nearer to each other are one.
#define REDUCE_SAME 1e-6

static void reduce_swap(tl_spot *spot, int i, int j) {
    const tl_spot s = spot[i];
    spot[i] = spot[j];
    spot[j] = s;
}

static double reduce_square(const tl_spot *a, const tl_spot *b) {
    double d[3];
    tl_sub3(a->b, b->b, d);
    return tl_dot3(d, d);
}

// Twice the area of the triangle of three places, seen along the normal of the first.
static double reduce_area(const tl_spot *a, const tl_spot *b, const tl_spot *c) {
    double d[3], e[3], n[3];
    tl_sub3(b->b, a->b, d);
    tl_sub3(c->b, a->b, e);
    tl_cross3(d, e, n);
    return tl_dot3(n, a->n);
}

// How far place i is beyond those that were chosen, along the line through the first two.
static double reduce_overhang(const tl_spot *spot, int chosen, int i) {
    double d[3], e[3], low = 0.0, high = 0.0;
    tl_sub3(spot[1].b, spot[0].b, d);
    tl_scale3(1.0 / tl_norm3(d), d, d);
    for (int k = 1; k < chosen; k++) {
        tl_sub3(spot[k].b, spot[0].b, e);
        low = TL_MIN(low, tl_dot3(d, e));
        high = TL_MAX(high, tl_dot3(d, e));
    }
    tl_sub3(spot[i].b, spot[0].b, e);
    return TL_MAX(low - tl_dot3(d, e), tl_dot3(d, e) - high);
}

// What place i adds to those that were chosen: a distance, then areas.
static double reduce_worth(const tl_spot *spot, int chosen, int i) {
    if (chosen == 1) return sqrt(reduce_square(&spot[0], &spot[i]));
    const double side = reduce_area(&spot[0], &spot[1], &spot[i]);
    if (chosen == 2) return fabs(side);
    // outside of the triangle, as far as its sides are concerned
    const double turn = reduce_area(&spot[0], &spot[1], &spot[2]) < 0.0 ? -1.0 : 1.0;
    double most = -turn * side;
    most = TL_MAX(-turn * reduce_area(&spot[1], &spot[2], &spot[i]), most);
    return TL_MAX(-turn * reduce_area(&spot[2], &spot[0], &spot[i]), most);
}

// The place that adds most, by `worth` and how near it is; −1: none adds more than `least`.
static int reduce_best(double reach, double same, double least, int chosen, int count,
                       const tl_spot *spot,
                       double (*worth_of)(const tl_spot *spot, int chosen, int i)) {
    double best_worth = least;
    int best = -1;
    for (int i = chosen; i < count; i++) {
        bool apart = true;
        for (int k = 0; k < chosen; k++)
            apart = apart && reduce_square(&spot[k], &spot[i]) > same * same;
        if (!apart) continue;
        const double range = reach - spot[0].gap;
        const double weight = range > 0.0 ? (reach - spot[i].gap) / range : 1.0;
        const double worth = weight * worth_of(spot, chosen, i);
        const double margin = REDUCE_BETTER * best_worth;
        if (worth > best_worth + margin ||
            (best >= 0 && worth > best_worth - margin && spot[i].feature < spot[best].feature))
            best_worth = TL_MAX(worth, best_worth), best = i;
    }
    return best;
}

// The lowest feature in front, among places that are as near as the nearest.
static void reduce_first(double slack, int count, tl_spot *spot) {
    double least = INFINITY;
    int best = 0;
    for (int i = 0; i < count; i++)
        if (spot[i].gap < least) least = spot[i].gap;
    while (spot[best].gap > least + slack) best++;
    for (int i = best + 1; i < count; i++)
        if (spot[i].gap <= least + slack && spot[i].feature < spot[best].feature) best = i;
    reduce_swap(spot, 0, best);
}

int tl_manifold_reduce(const tl_couple *c, double reach, int most, int count, tl_spot *spot) {
    const double same = REDUCE_SAME * c->size;
    int chosen = 1;
    if (count <= 1) return count;
    reduce_first(REDUCE_LEVEL * c->size, count, spot);
    for (; chosen < most && chosen < count; chosen++) {
        // Places on a line, as those of two capsules, have no area but what rounding makes: there
        // the ends of the line count.
        const double line = chosen == 1 ? 0.0 : same * sqrt(reduce_square(&spot[0], &spot[1]));
        int best = reduce_best(reach, same, line, chosen, count, spot, reduce_worth);
        if (best < 0 && chosen > 1)
            best = reduce_best(reach, same, same, chosen, count, spot, reduce_overhang);
        if (best < 0) break;
        reduce_swap(spot, chosen, best);
    }
    for (int i = 1; i < chosen; i++)
        for (int k = i; k > 0 && spot[k - 1].feature > spot[k].feature; k--)
            reduce_swap(spot, k - 1, k);
    return chosen;
}

static void polytope_touch(const tl_couple *c, const tl_pose *pa, const tl_pose *pb,
                           const tl_spot *s, tl_touch *out) {
    const double margins = c->a->margin + c->b->margin;
    double surface[3], d[3];
    out->feature = s->feature;
    out->gap = s->gap - margins;
    tl_rotate(pa->q, s->n, out->normal);
    tl_axpy3(s->a, -c->a->margin, s->n, surface);
    tl_rotate(pa->q, surface, out->arm_a);
    tl_sub3(pa->x, pb->x, d);
    for (int k = 0; k < 3; k++) out->arm_b[k] = d[k] + out->arm_a[k] - out->gap * out->normal[k];
}

int tl_polytope_points(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                       const tl_pose *pb, double reach, tl_touch *out) {
    tl_couple c;
    tl_small_hull room_a, room_b;
    tl_axis axis;
    tl_spot spot[TL_SPOTS];
    double at_a[3], at_b[3];
    bool overlap;
    const double beyond = reach + a->margin + b->margin;
    tl_couple_make(dim, a, pa, b, pb, &c);
    const tl_hull *ha = tl_convex_hull(dim, a, &room_a), *hb = tl_convex_hull(dim, b, &room_b);
    if (!tl_convex_axis(&c, ha, hb, beyond, &axis, at_a, at_b, &overlap)) return 0;
    int count = tl_manifold(&c, ha, hb, &axis, at_b, beyond, spot);
    count = tl_manifold_reduce(&c, beyond, dim == 2 ? 2 : 4, count, spot);
    int written = 0;
    for (int i = 0; i < count; i++) {
        polytope_touch(&c, pa, pb, &spot[i], &out[written]);
        if (out[written].gap <= reach) written++; // rounding of the margins may decide otherwise
    }
    return written;
}
