// SPDX-License-Identifier: Apache-2.0
// Contact points of ellipsoids, superellipsoids, cylinders and cones with each other and with all
// other bounded shapes, judged by support/round_bodies.h: bodies apart by points of them that are
// as far from each other as a plane between the bodies says, overlapping ones by a search over
// directions that must not find a shorter way out.
#include "collide/convex.h"
#include "collide/round_pair.h"
#include "support/context.h"
#include "support/round_bodies.h"
#include "support/trials.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const talus_shape_kind round_kinds[] = {TALUS_SHAPE_ELLIPSOID, TALUS_SHAPE_SUPERELLIPSOID,
                                               TALUS_SHAPE_CYLINDER, TALUS_SHAPE_CONE};
static const talus_shape_kind partner_kinds[] = {TALUS_SHAPE_ELLIPSOID, TALUS_SHAPE_SUPERELLIPSOID,
                                                 TALUS_SHAPE_CYLINDER,  TALUS_SHAPE_CONE,
                                                 TALUS_SHAPE_SPHERE,    TALUS_SHAPE_CAPSULE,
                                                 TALUS_SHAPE_BOX,       TALUS_SHAPE_POLYHEDRON};

#define HALF_ROOT 0.70710678118654752440

enum { ROUNDS = 4, PARTNERS = 8 };

typedef struct couple {
    int32_t dim;
    round_body body[2];
    tl_solid *solid[2];
    double apart[3]; // origin of body 0 − origin of body 1
    double size;
} couple;

static int couple_points(const couple *c, double reach, tl_touch *out) {
    tl_pose pose[2];
    tl_placed placed[2];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 4; k++) pose[i].q[k] = c->body[i].q[k];
        for (int k = 0; k < 3; k++) pose[i].x[k] = i == 0 ? c->apart[k] : 0.0;
        placed[i] =
            (tl_placed){.shape = &c->solid[i]->shape, .solid = c->solid[i], .pose = &pose[i]};
    }
    return tl_pair_points(c->dim, &placed[0], &placed[1], reach, out);
}

static void couple_make(tl_rng *rng, int32_t dim, talus_shape_kind a, talus_shape_kind b,
                        double size, couple *c) {
    c->dim = dim;
    c->size = size;
    round_body_random(rng, dim, a, size, &c->body[0]);
    round_body_random(rng, dim, b, size, &c->body[1]);
    for (int i = 0; i < 2; i++) {
        c->body[i].shape.point = c->body[i].point;
        assert_int_equal(tl_solid_create(ctx, dim, &c->body[i].shape, &c->solid[i]), TALUS_OK);
    }
}

static void couple_clear(couple *c) {
    for (int i = 0; i < 2; i++) tl_solid_destroy(ctx, c->solid[i]);
}

// Random, parallel, or with axes that are turned by quarters.
static void couple_turn(tl_rng *rng, int style, couple *c) {
    static const double quarter[4][4] = {{1.0, 0.0, 0.0, 0.0},
                                         {HALF_ROOT, HALF_ROOT, 0.0, 0.0},
                                         {HALF_ROOT, 0.0, HALF_ROOT, 0.0},
                                         {HALF_ROOT, 0.0, 0.0, HALF_ROOT}};
    random_turn(rng, c->dim, c->body[0].q);
    random_turn(rng, c->dim, c->body[1].q);
    if (style == 0) return;
    const double *t = quarter[c->dim == 2 ? 3 * (tl_rng_next(rng) % 2) : tl_rng_next(rng) % 4];
    double *q = c->body[1].q;
    const double p[4] = {q[0], q[1], q[2], q[3]};
    double *o = c->body[0].q;
    o[0] = p[0] * t[0] - p[1] * t[1] - p[2] * t[2] - p[3] * t[3];
    o[1] = p[0] * t[1] + p[1] * t[0] + p[2] * t[3] - p[3] * t[2];
    o[2] = p[0] * t[2] - p[1] * t[3] + p[2] * t[0] + p[3] * t[1];
    o[3] = p[0] * t[3] + p[1] * t[2] - p[2] * t[1] + p[3] * t[0];
}

// Bring the bodies to a distance `gap` of each other along a random direction or a face's normal.
static void couple_place(tl_rng *rng, int style, double gap, couple *c) {
    double n[3] = {0.0, 0.0, 0.0}, side[3], along = 0.0;
    double length = 0.0;
    for (int k = 0; k < c->dim; k++) n[k] = tl_rng_normal(rng);
    if (style > 0) { // along an axis of b
        const double axis[3] = {style % 3 == 0 ? 1.0 : 0.0, style % 3 == 1 ? 1.0 : 0.0,
                                style % 3 == 2 && c->dim == 3 ? 1.0 : 0.0};
        turn_vector(c->body[1].q, false, axis, n);
    }
    for (int k = 0; k < 3; k++) length += n[k] * n[k];
    length = sqrt(length);
    if (!(length > 0.0)) n[0] = length = 1.0;
    for (int k = 0; k < 3; k++) n[k] /= length;
    for (int k = 0; k < 3; k++) {
        side[k] = k < c->dim && style % 2 == 0 ? 0.2 * c->size * tl_rng_normal(rng) : 0.0;
        along += side[k] * n[k];
    }
    const double back[3] = {-n[0], -n[1], -n[2]};
    const double touching =
        round_body_support(&c->body[0], back) + round_body_support(&c->body[1], n);
    for (int k = 0; k < 3; k++) c->apart[k] = side[k] + (touching + gap - along) * n[k];
}

static void say(const couple *c, const char *what, double value) {
    for (int i = 0; i < 2; i++) {
        const talus_shape_def *s = &c->body[i].shape;
        const double *q = c->body[i].q;
        (void)fprintf(stderr, "%s r %.17g h %.17g half %.17g %.17g %.17g exp %.17g %.17g ",
                      talus_shape_text(s->kind), s->radius, s->height, s->half[0], s->half[1],
                      s->half[2], s->exponent[0], s->exponent[1]);
        (void)fprintf(stderr, "q %.17g %.17g %.17g %.17g", q[0], q[1], q[2], q[3]);
        for (int k = 0; k < 3 * s->point_count; k++)
            (void)fprintf(stderr, " %.17g", c->body[i].point[k]);
        (void)fprintf(stderr, "\n");
    }
    fail_msg("%dD: %s: %g of the size; apart %.17g %.17g %.17g", (int)c->dim, what, value / c->size,
             c->apart[0], c->apart[1], c->apart[2]);
}

// The deepest point, and what all points must be: on the surfaces, one above the other.
static const tl_touch *judge_points(const couple *c, const tl_touch *touch, int count, double reach,
                                    double slack) {
    const tl_touch *deepest = touch;
    for (int i = 0; i < count; i++) {
        const tl_touch *t = &touch[i];
        double square = 0.0;
        if (t->gap < deepest->gap) deepest = t;
        if (!(t->gap <= reach)) say(c, "beyond reach", t->gap - reach);
        if (i > 0) assert_true(touch[i - 1].feature < t->feature);
        for (int k = 0; k < 3; k++) {
            const double off = c->apart[k] + t->arm_a[k] - t->arm_b[k] - t->gap * t->normal[k];
            if (!(fabs(off) <= 1e-14 * c->size)) say(c, "identity", off);
            square += t->normal[k] * t->normal[k];
        }
        assert_true(fabs(square - 1.0) <= 1e-14);
        for (int side = 0; side < 2; side++) {
            const round_body *b = &c->body[side];
            if (b->shape.kind == TALUS_SHAPE_POLYHEDRON) {
                const tl_hull *h = c->solid[side]->hull;
                double y[3];
                turn_vector(b->q, true, side ? t->arm_b : t->arm_a, y);
                for (int32_t f = 0; f < h->faces; f++) {
                    const double over = y[0] * h->normal[f][0] + y[1] * h->normal[f][1] +
                                        y[2] * h->normal[f][2] - h->offset[f];
                    if (!(over <= slack * c->size)) say(c, "outside of hull", over);
                }
                continue;
            }
            const double over = round_body_outside(b, side ? t->arm_b : t->arm_a);
            if (!(over <= slack * c->size)) say(c, "outside", over);
        }
    }
    return deepest;
}

// Lengths are right to this part of the size. Points of superellipsoids are found from their
// normals: where two flat places meet, a normal that is rounded in its last digit belongs to a
// point that is off by a root of that, and may then be a little beside the surface; gaps are not
// affected.
static bool is_super(const couple *c) {
    return c->body[0].shape.kind == TALUS_SHAPE_SUPERELLIPSOID ||
           c->body[1].shape.kind == TALUS_SHAPE_SUPERELLIPSOID;
}

static const double exact = 2e-12, on_super = 2e-6;

static void judge(tl_rng *rng, const couple *c, int directions) {
    tl_touch touch[TL_PAIR_MOST];
    const double reach = 0.5 * c->size;
    const round_body *a = &c->body[0], *b = &c->body[1];
    const int count = couple_points(c, reach, touch);
    if (count == 0) {
        // the plane that is found with a longer reach must be farther from both than this one
        if (couple_points(c, 100.0 * c->size, touch) == 0) say(c, "not found", 0.0);
        const double s = round_bodies_along(a, b, c->apart, touch[0].normal);
        if (!(s > reach * (1.0 - 1e-12))) say(c, "not found", s);
        return;
    }
    const tl_touch *t = judge_points(c, touch, count, reach, is_super(c) ? on_super : exact);
    const double s = round_bodies_along(a, b, c->apart, t->normal);
    if (!(fabs(s - t->gap) <= exact * c->size)) say(c, "plane", s - t->gap);
    // the points prove that the distance is not more, but for those of superellipsoids
    if (is_super(c) && t->gap >= 0.0) {
        const double more = round_bodies_refine(rng, a, b, c->apart, t->normal);
        if (!(more <= t->gap + exact * c->size)) say(c, "other plane", more - t->gap);
    }
    if (t->gap >= 0.0 || directions == 0) return;
    const double better = round_bodies_search(rng, a, b, c->apart, directions);
    if (!(better <= t->gap + exact * c->size)) say(c, "shorter way", better - t->gap);
}

enum { PLACES = 6 }; // in which two bodies are judged

static void pairs_are_right(int32_t dim, uint64_t seed, bool deep) {
    tl_rng rng = {.state = seed};
    for (int i = 0; i < (dim == 2 ? 2 : ROUNDS); i++) {
        for (int j = 0; j < PARTNERS; j++) {
            if (dim == 2 && (j == 2 || j == 3)) continue;
            const int trials = trials_of(deep ? 30 : 300);
            couple c;
            for (int trial = 0; trial < trials; trial++) {
                const double sizes[] = {1.0, 1e-6, 1e6};
                // making superellipsoids takes longer than judging them in several places
                if (trial % PLACES == 0)
                    couple_make(&rng, dim, round_kinds[i], partner_kinds[j],
                                sizes[trial / PLACES % 3], &c);
                const int style = trial % 7;
                couple_turn(&rng, style % 4, &c);
                const double gap =
                    deep ? -c.size * tl_rng_unit(&rng)
                         : c.size * (trial % 5 ? pow(10.0, tl_rng_range(&rng, -9.0, -0.5)) : 0.0);
                couple_place(&rng, style, gap, &c);
                if (deep && trial % 11 == 0)
                    for (int k = 0; k < 3; k++) c.apart[k] *= trial % 22 ? 0.0 : 1e-17;
                judge(&rng, &c, deep ? 300 : 0);
                if (trial % PLACES == PLACES - 1 || trial == trials - 1) couple_clear(&c);
            }
        }
    }
}

static void bodies_apart_are_right(void **state) {
    (void)state;
    pairs_are_right(3, 41, false);
}

static void figures_apart_are_right(void **state) {
    (void)state;
    pairs_are_right(2, 42, false);
}

static void deep_bodies_are_right(void **state) {
    (void)state;
    pairs_are_right(3, 43, true);
}

static void deep_figures_are_right(void **state) {
    (void)state;
    pairs_are_right(2, 44, true);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(bodies_apart_are_right),
        TEST(figures_apart_are_right),
        TEST(deep_bodies_are_right),
        TEST(deep_figures_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
