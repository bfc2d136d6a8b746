// SPDX-License-Identifier: Apache-2.0
// Where the nodes of rods are at the start: along lines, circles, helices and smooth curves, or
// many rods at once: on a disc, on a ball, laid to a rope, woven to a net.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>

enum { PLACE_NODES = 20, PLACE_FINE = 64 }; // default; steps of a curve between two points
#define PLACE_PI 3.14159265358979323846
#define PLACE_GOLDEN 2.39996322972865332 // angle between one seed of a sunflower and the next

static const tl_scene_rod *place_keys(const talus_scene *s, int32_t source) {
    return (const tl_scene_rod *)s->keys.rods.data + source;
}

static int32_t place_nodes(const tl_scene_rod *keys, int32_t standard) {
    return tl_node_find(keys->node, "nodes") ? (int32_t)keys->nodes : standard;
}

// The direction of an axis, z where it is not given, and two across it: x and y for z, y first
// where the axis is x.
static talus_status place_axis(const talus_scene *s, const tl_node *map, const char *key,
                               const double given[3], const double standard[3], double frame[9]) {
    const tl_node *node = tl_node_find(map, key);
    double n[3];
    tl_copy3(node ? given : standard, n);
    const double size = tl_norm3(n);
    if (!(size > 0.0) || !isfinite(size)) return tl_node_fail(&s->doc, node, "must not be zero");
    tl_scale3(1.0 / size, n, frame);
    const double first[3] = {fabs(frame[0]) < 0.9, fabs(frame[0]) >= 0.9, 0.0};
    double *e = frame + 3;
    tl_axpy3(first, -tl_dot3(first, frame), frame, e);
    tl_scale3(1.0 / tl_norm3(e), e, e);
    tl_cross3(frame, e, frame + 6);
    return TALUS_OK;
}

static const double place_up[3] = {0.0, 0.0, 1.0};

// at + a e1 + b e2 + c n
static void place_put(const double at[3], const double frame[9], double a, double b, double c,
                      double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = at[k] + a * frame[3 + k] + b * frame[6 + k] + c * frame[k];
}

static void place_straight(const double from[3], const double step[3], tl_fibre *f) {
    for (int64_t k = 0; k < f->nodes; k++) tl_axpy3(from, (double)k, step, f->x + 3 * k);
}

// ---- one rod ----

static talus_status place_line(talus_scene *s, int32_t source, const tl_rod_line *line,
                               int32_t nodes) {
    double step[3];
    tl_fibre *f;
    TL_TRY(tl_fibre_add(s, source, nodes, &f));
    tl_sub3(line->to, line->from, step);
    tl_scale3(1.0 / (nodes - 1), step, step);
    place_straight(line->from, step, f);
    return TALUS_OK;
}

static talus_status place_circle(talus_scene *s, int32_t source, const tl_rod_circle *c,
                                 int32_t nodes) {
    const tl_node *angle = tl_node_find(c->node, "angle");
    double frame[9] = {0.0};
    tl_fibre *f;
    if (!(fabs(c->angle) > 0.0) || fabs(c->angle) >= 2.0 * PLACE_PI)
        return tl_node_fail(&s->doc, angle, "%g deg: must not be 0, and less than 360 deg",
                            c->angle * 180.0 / PLACE_PI);
    TL_TRY(place_axis(s, c->node, "axis", c->axis, place_up, frame));
    TL_TRY(tl_fibre_add(s, source, nodes, &f));
    for (int32_t k = 0; k < nodes; k++) {
        const double t = c->start + c->angle * k / (nodes - 1);
        place_put(c->at, frame, c->radius * cos(t), c->radius * sin(t), 0.0, f->x + 3 * (int64_t)k);
    }
    return TALUS_OK;
}

static talus_status place_helix(talus_scene *s, int32_t source, const tl_rod_helix *h,
                                int32_t nodes) {
    double frame[9] = {0.0};
    tl_fibre *f;
    TL_TRY(place_axis(s, h->node, "axis", h->axis, place_up, frame));
    TL_TRY(tl_fibre_add(s, source, nodes, &f));
    for (int32_t k = 0; k < nodes; k++) {
        const double t = h->turns * k / (nodes - 1), angle = h->start + 2.0 * PLACE_PI * t;
        place_put(h->at, frame, h->radius * cos(angle), h->radius * sin(angle), h->pitch * t,
                  f->x + 3 * (int64_t)k);
    }
    return TALUS_OK;
}

// The cubic through points i and i + 1 whose slopes there are those of the chords around them
// (Catmull and Rom); beyond the ends the chord goes on.
static void place_curve(const tl_numbers *p, int32_t i, double t, double out[3]) {
    const double *x = p->value + 3 * (int64_t)i;
    for (int k = 0; k < 3; k++) {
        const double b = x[k], c = x[3 + k];
        const double a = i > 0 ? x[k - 3] : 2.0 * b - c;
        const double d = i + 2 < p->count ? x[6 + k] : 2.0 * c - b;
        out[k] =
            b +
            0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)));
    }
}

// Nodes at equal distances along the smooth curve through all points.
static void place_along(const tl_numbers *p, tl_fibre *f) {
    const int32_t fine = PLACE_FINE * (p->count - 1);
    double whole = 0.0, at[3], next[3], d[3];
    tl_copy3(p->value, at);
    for (int32_t k = 1; k <= fine; k++, tl_copy3(next, at)) {
        place_curve(p, (k - 1) / PLACE_FINE, (double)((k - 1) % PLACE_FINE + 1) / PLACE_FINE, next);
        tl_sub3(next, at, d);
        whole += tl_norm3(d);
    }
    const double step = whole / (f->nodes - 1);
    double gone = 0.0;
    int32_t node = 1;
    tl_copy3(p->value, at);
    tl_copy3(p->value, f->x);
    for (int32_t k = 1; k <= fine; k++, tl_copy3(next, at)) {
        place_curve(p, (k - 1) / PLACE_FINE, (double)((k - 1) % PLACE_FINE + 1) / PLACE_FINE, next);
        tl_sub3(next, at, d);
        const double piece = tl_norm3(d);
        for (; node < f->nodes - 1 && node * step <= gone + piece; node++)
            tl_axpy3(at, (node * step - gone) / piece, d, f->x + 3 * (int64_t)node);
        gone += piece;
    }
    tl_copy3(p->value + 3 * (int64_t)(p->count - 1), f->x + 3 * (int64_t)(f->nodes - 1));
}

static talus_status place_points(talus_scene *s, int32_t source, const tl_node *node,
                                 const tl_numbers *p) {
    const int32_t nodes = place_nodes(place_keys(s, source), p->count);
    tl_fibre *f;
    if (p->count < 2) return tl_node_fail(&s->doc, node, "must have 2 points or more");
    TL_TRY(tl_fibre_add(s, source, nodes, &f));
    if (nodes != p->count) {
        place_along(p, f);
        return TALUS_OK;
    }
    for (int64_t k = 0; k < 3 * (int64_t)nodes; k++) f->x[k] = p->value[k];
    return TALUS_OK;
}

// ---- many ----

// Seeds of a sunflower: each has the same part of the disc.
static talus_status place_tress(talus_scene *s, int32_t source, const tl_rod_tress *t,
                                int32_t nodes) {
    const double down[3] = {0.0, 0.0, -1.0};
    double frame[9] = {0.0};
    TL_TRY(place_axis(s, t->node, "direction", t->direction, down, frame));
    for (int64_t k = 0; k < t->count; k++) {
        const double share = sqrt(((double)k + 0.5) / (double)t->count);
        const double turn = PLACE_GOLDEN * (double)k, lean = t->spread * share;
        const double a = cos(turn), b = sin(turn), step = t->length / (nodes - 1);
        const double none[3] = {0.0, 0.0, 0.0};
        double root[3], along[3];
        tl_fibre *f;
        TL_TRY(tl_fibre_add(s, source, nodes, &f));
        place_put(t->at, frame, t->radius * share * a, t->radius * share * b, 0.0, root);
        place_put(none, frame, step * sin(lean) * a, step * sin(lean) * b, step * cos(lean), along);
        place_straight(root, along, f);
    }
    return TALUS_OK;
}

static talus_status place_cap(talus_scene *s, int32_t source, const tl_rod_cap *c, int32_t nodes) {
    const double lift =
        tl_node_find(c->node, "lift") ? c->lift : 1.1 * place_keys(s, source)->radius;
    double frame[9] = {0.0};
    TL_TRY(place_axis(s, c->node, "axis", c->axis, place_up, frame));
    for (int64_t k = 0; k < c->count; k++) {
        const double height = 1.0 - (1.0 - cos(c->angle)) * ((double)k + 0.5) / (double)c->count;
        const double across = sqrt(fmax(0.0, 1.0 - height * height));
        const double turn = PLACE_GOLDEN * (double)k, none[3] = {0.0, 0.0, 0.0};
        double out[3], root[3], step[3];
        tl_fibre *f;
        TL_TRY(tl_fibre_add(s, source, nodes, &f));
        place_put(none, frame, across * cos(turn), across * sin(turn), height, out);
        tl_axpy3(c->at, c->radius + lift, out, root);
        tl_scale3(c->length / (nodes - 1), out, step);
        place_straight(root, step, f);
    }
    return TALUS_OK;
}

// Least distance of two strands of a rope, helices of radius a and rise b per radian that begin
// `apart` radians from each other.
static double place_strand_gap(double a, double b, double apart) {
    double least = INFINITY;
    for (int k = -400; k <= 400; k++) {
        const double t = apart * k / 400.0;
        const double square = 2.0 * a * a * (1.0 - cos(t - apart)) + b * b * t * t;
        least = fmin(least, square);
    }
    return sqrt(least);
}

static talus_status place_rope(talus_scene *s, int32_t source, const tl_rod_rope *r,
                               int32_t nodes) {
    const double radius = place_keys(s, source)->radius, rise = r->lay / (2.0 * PLACE_PI);
    const double apart = 2.0 * PLACE_PI / (double)r->strands, wanted = (2.0 + r->gap) * radius;
    double axis[3], frame[9] = {0.0}, low = radius, high = 100.0 * radius * (double)r->strands;
    tl_sub3(r->to, r->from, axis);
    const double length = tl_norm3(axis);
    if (!(length > 0.0)) return tl_node_fail(&s->doc, r->node, "has no length");
    TL_TRY(place_axis(s, r->node, "to", axis, place_up, frame));
    if (place_strand_gap(high, rise, apart) < wanted)
        return tl_node_fail(&s->doc, tl_node_find(r->node, "lay"),
                            "%g m is so short that the strands meet above each other: use more",
                            r->lay);
    for (int k = 0; k < 80; k++) {
        const double middle = 0.5 * (low + high);
        if (place_strand_gap(middle, rise, apart) < wanted)
            low = middle;
        else
            high = middle;
    }
    // Between nodes the strands are nearer to the axis, all by the same factor.
    const double step = length / rise / (nodes - 1), out = high / cos(fmin(0.5 * step, 1.0));
    for (int64_t j = 0; j < r->strands; j++) {
        tl_fibre *f;
        TL_TRY(tl_fibre_add(s, source, nodes, &f));
        for (int32_t k = 0; k < nodes; k++) {
            const double t = k * step + apart * (double)j;
            place_put(r->from, frame, out * cos(t), out * sin(t), length * k / (nodes - 1),
                      f->x + 3 * (int64_t)k);
        }
    }
    return TALUS_OK;
}

// Rods along x (or y) whose heights change sign from one crossing to the next.
static talus_status place_weave(talus_scene *s, int32_t source, const tl_rod_net *net,
                                const double q[4], bool across) {
    const tl_scene_rod *keys = place_keys(s, source);
    const int64_t count = across ? net->columns : net->rows,
                  other = across ? net->rows : net->columns;
    const double along = across ? net->length : net->width,
                 wide = across ? net->width : net->length;
    const int32_t nodes = place_nodes(keys, (int32_t)(4 * other + 1));
    const double high = (1.0 + 0.5 * net->gap) * keys->radius;
    for (int64_t j = 0; j < count; j++) {
        const double side = wide * (((double)j + 0.5) / (double)count - 0.5);
        const double sign = (j % 2 == 0) == across ? -1.0 : 1.0;
        tl_fibre *f;
        TL_TRY(tl_fibre_add(s, source, nodes, &f));
        for (int32_t k = 0; k < nodes; k++) {
            const double t = (double)k / (nodes - 1), at = along * (t - 0.5);
            const double z = sign * high * cos(PLACE_PI * ((double)other * t - 0.5));
            double x[3] = {across ? side : at, across ? at : side, z};
            tl_rotate(q, x, x);
            tl_axpy3(net->at, 1.0, x, f->x + 3 * (int64_t)k);
        }
    }
    return TALUS_OK;
}

static talus_status place_net(talus_scene *s, int32_t source, const tl_rod_net *net) {
    tl_rotate_keys rotate = net->rotate;
    double q[4];
    TL_TRY(tl_scene_rotation(s, &rotate, q));
    TL_TRY(place_weave(s, source, net, q, false));
    return place_weave(s, source, net, q, true);
}

talus_status tl_rods_place(talus_scene *s, int32_t source) {
    tl_scene_rod *keys = (tl_scene_rod *)s->keys.rods.data + source;
    const int32_t nodes = place_nodes(keys, PLACE_NODES);
    if (keys->line.node) return place_line(s, source, &keys->line, nodes);
    if (keys->circle.node) return place_circle(s, source, &keys->circle, nodes);
    if (keys->helix.node) return place_helix(s, source, &keys->helix, nodes);
    if (keys->tress.node) return place_tress(s, source, &keys->tress, nodes);
    if (keys->cap.node) return place_cap(s, source, &keys->cap, nodes);
    if (keys->rope.node) return place_rope(s, source, &keys->rope, nodes);
    if (keys->net.node) return place_net(s, source, &keys->net);
    if (keys->nest.node) return tl_rods_place_nest(s, source, nodes);
    const tl_node *node = tl_node_find(keys->node, keys->file ? "file" : "points");
    if (keys->file) TL_TRY(tl_rods_read_file(s, node, keys->file, &keys->points));
    return place_points(s, source, node, &keys->points);
}

// ---- a helix of equal chords ----

static void wind_at(double radius, double rise, bool opens, double t, double out[3]) {
    const double r = radius * (opens ? fmin(1.0, t / (2.0 * PLACE_PI)) : 1.0);
    out[0] = r * cos(t) - (opens ? 0.0 : radius);
    out[1] = r * sin(t);
    out[2] = rise * t;
}

void tl_rods_wind(double radius, double pitch, bool opens, double step, int32_t nodes, double *x) {
    const double rise = pitch / (2.0 * PLACE_PI), fine = 0.01;
    double t = 0.0, d[3], here[3];
    wind_at(radius, rise, opens, 0.0, x);
    for (int64_t k = 1; k < nodes; k++) {
        double low, high = t;
        do { // the first place that is `step` away
            low = high;
            high += fine;
            wind_at(radius, rise, opens, high, here);
            tl_sub3(here, x + 3 * (k - 1), d);
        } while (tl_norm3(d) < step && high < t + 4.0 * PLACE_PI + step / rise);
        for (int n = 0; n < 60; n++) {
            const double middle = 0.5 * (low + high);
            wind_at(radius, rise, opens, middle, here);
            tl_sub3(here, x + 3 * (k - 1), d);
            if (tl_norm3(d) < step)
                low = middle;
            else
                high = middle;
        }
        t = high;
        wind_at(radius, rise, opens, t, x + 3 * k);
    }
}
