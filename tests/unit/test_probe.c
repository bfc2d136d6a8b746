// SPDX-License-Identifier: Apache-2.0
// Probes: the signed distance of points from a mesh, against all facets and the angle under which
// they are seen, at any depth; other shapes by the same question.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "collide/collide.h"
#include "support/context.h"
#include "support/surfaces.h"
#include <math.h>

static surface s;

// Whether the surface goes round x: the sum of the angles (3D: of a triangle's solid angle) under
// which its facets are seen.
static bool is_within(const double x[3]) {
    double sum = 0.0;
    for (int32_t t = 0; t < s.facets; t++) {
        const int32_t *c = s.facet + (int64_t)s.dim * t;
        double p[3][3] = {{0}}, n[3];
        for (int k = 0; k < s.dim; k++) tl_sub3(s.point + 3 * (int64_t)c[k], x, p[k]);
        tl_cross3(p[0], p[1], n);
        if (s.dim == 2) {
            sum -= atan2(n[2], tl_dot3(p[0], p[1]));
            continue;
        }
        const double a = tl_norm3(p[0]), b = tl_norm3(p[1]), d = tl_norm3(p[2]);
        sum += 2.0 * atan2(tl_dot3(n, p[2]), a * b * d + tl_dot3(p[0], p[1]) * d +
                                                 tl_dot3(p[1], p[2]) * a + tl_dot3(p[2], p[0]) * b);
    }
    return fabs(sum) > (s.dim == 2 ? 3.14 : 6.28);
}

// Solids, with and without dents, and a sheet, turned and moved.
static void distances(void **state) {
    (void)state;
    static const double half[3] = {1.0, 0.6, 0.3}, none[3] = {0};
    tl_rng rng = {.state = 31};
    int within = 0, far = 0;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int kind = 0; kind < 4; kind++) {
            if (kind == 0) surface_box(&s, dim, half);
            if (kind == 1 || kind == 2) surface_sphere(&s, dim, 1.0, 6);
            if (kind == 3) surface_plane(&s, dim, 1.0, 5, 32);
            for (int32_t k = 0; kind == 2 && k < s.points; k++) // dents
                for (int e = 0; e < 3; e++) s.point[3 * k + e] *= 1.0 + 0.4 * sin(7.0 * k);
            const talus_shape_def mesh = surface_shape(&s);
            const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.25};
            tl_collide *c;
            int32_t shape, item, probe;
            assert_int_equal(tl_collide_create(ctx, dim, none, &c), TALUS_OK);
            assert_int_equal(tl_collide_add_shape(c, &mesh, &shape), TALUS_OK);
            assert_int_equal(tl_collide_add_shape(c, &ball, &probe), TALUS_OK);
            assert_int_equal(tl_collide_add_item(c, shape, 0, true, &item), TALUS_OK);
            const double angle = 0.7;
            tl_pose pose = {.x = {3.0, -2.0, 0.0}, .q = {cos(angle), 0.0, 0.0, sin(angle)}};
            assert_int_equal(tl_collide_detect(c, &pose, 0.1, 1), TALUS_OK);
            pose.x[0] = 2.5; // it moves on
            tl_collide_move(c, &pose);
            for (int trial = 0; trial < 400; trial++) {
                double x[3] = {0}, world[3];
                for (int k = 0; k < dim; k++) x[k] = tl_rng_range(&rng, -1.5, 1.5);
                tl_rotate(pose.q, x, world);
                tl_axpy3(pose.x, 1.0, world, world);
                const bool inside = kind < 3 && is_within(x);
                const double exact = surface_distance(&s, x) * (inside ? -1.0 : 1.0);
                tl_touch t;
                const bool found = tl_collide_probe(c, probe, world, item, 0.1, &t);
                if (fabs(exact - 0.35) < 1e-9) continue;
                assert_int_equal(found, exact < 0.35);
                within += inside, far += !found;
                if (!found) continue;
                assert_true(fabs(t.gap + 0.25 - exact) < 1e-12);
                double foot[3], n[3]; // along the normal by the distance is the surface
                tl_rotate_back(pose.q, t.normal, n);
                tl_axpy3(x, -exact, n, foot);
                assert_true(fabs(tl_norm3(n) - 1.0) < 1e-12);
                assert_true(surface_distance(&s, foot) < 1e-12);
            }
            tl_collide_destroy(c);
        }
    assert_true(within > 300 && far > 300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(distances)};
    return cmocka_run_group_tests_name("unit/probe", tests, NULL, NULL);
}
