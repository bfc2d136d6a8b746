// SPDX-License-Identifier: Apache-2.0
// Closed meshes that move freely: a box of triangles does what a box does; one that is not convex
// has mass, centre and moments of what it encloses, falls, and comes to rest on what it should; and
// what cannot move is refused.
#include "base/vec3.h"
#include "support/surfaces.h"
#include "talus/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

enum { STEPS = 400 };
static surface s;
static const double edge[3] = {0.15, 0.1, 0.08};

// What a body falls on.
enum { ON_PLANE, ON_BOX, IN_CONTAINER, IN_DRUM, UNDER_BALL, GROUNDS };

static talus_body_def ground(talus_world *w, int32_t dim, int kind) {
    static const talus_shape_def shapes[GROUNDS] = {
        [ON_PLANE] = {.kind = TALUS_SHAPE_HALF_SPACE},
        [ON_BOX] = {.kind = TALUS_SHAPE_BOX, .half = {1.0, 1.0, 1.0}},
        [IN_CONTAINER] = {.kind = TALUS_SHAPE_CONTAINER, .half = {0.4, 0.4, 0.4}},
        [IN_DRUM] = {.kind = TALUS_SHAPE_DRUM, .radius = 0.4, .height = INFINITY},
        [UNDER_BALL] = {.kind = TALUS_SHAPE_HALF_SPACE},
    };
    talus_body_def body = worlds_fixed(w, shapes[kind]);
    body.position[dim - 1] = kind == ON_BOX                            ? -1.0
                             : kind == IN_CONTAINER || kind == IN_DRUM ? 0.4
                                                                       : 0.0;
    if (kind == IN_DRUM && dim == 3) { // its axis along y
        body.orientation[0] = body.orientation[1] = sqrt(0.5);
    }
    return body;
}

// A box, or its triangles, falls with a spin; its places, and how often it touched something.
static int fall(int32_t dim, int on, talus_scheme scheme, bool mesh, double (*place)[7]) {
    talus_world_def def = worlds_def(dim, scheme, 1e-3, 9.81);
    def.tolerance = 1e-9; // four contacts under one box: less takes long
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.4, 0.2, 0.0);
    if (mesh) surface_box(&s, dim, edge);
    talus_body_def body = talus_body_default();
    body.shape = worlds_shape(
        w, mesh ? surface_shape(&s)
                : (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {edge[0], edge[1], edge[2]}});
    body.position[dim - 1] = 0.25;
    body.velocity[0] = 0.7;
    body.spin[2] = dim == 2 ? -1.5 : 0.8;
    body.orientation[0] = cos(0.1);
    body.orientation[dim == 2 ? 3 : 2] = sin(0.1);
    worlds_add(w, &body);
    const talus_body_def floor = ground(w, dim, on);
    worlds_add(w, &floor);
    if (on == UNDER_BALL) {
        const talus_body_def ball =
            worlds_ball(w, 0.06, 0.05, dim == 2 ? 0.6 : 0.01, dim == 3 ? 0.6 : 0.0);
        worlds_add(w, &ball);
    }
    int touching = 0;
    for (int k = 0; k < STEPS; k++) {
        const talus_ledger l = worlds_step(w);
        const talus_body_view v = worlds_bodies(w);
        touching += l.stick + l.slip;
        memcpy(place[k], v.position, 3 * sizeof(double));
        memcpy(place[k] + 3, v.orientation, 4 * sizeof(double));
    }
    talus_world_destroy(w);
    return touching;
}

static void a_box_of_triangles_is_a_box(void **state) {
    (void)state;
    static double place[2][STEPS][7];
    static const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int on = 0; on < GROUNDS; on++)
            for (int scheme = 0; scheme < 2; scheme++) {
                const int boxed = fall(dim, on, schemes[scheme], false, place[0]);
                const int meshed = fall(dim, on, schemes[scheme], true, place[1]);
                double worst = 0.0;
                for (int k = 0; k < STEPS; k++)
                    for (int e = 0; e < 7; e++)
                        worst = fmax(worst, fabs(place[0][k][e] - place[1][k][e]));
                assert_true(boxed > STEPS / 4 && meshed > STEPS / 4);
                // rounding and the tolerance, which impacts make grow
                assert_true(worst <= 1e-7);
            }
}

// Two boxes that make an L, as a surface without inner walls: the cross section, pushed along y.
static void ell(double a) {
    static const double section[6][2] = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 2}, {0, 2}};
    static const int32_t cut[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    s.dim = 3;
    s.points = 12;
    s.facets = 0;
    for (int k = 0; k < 12; k++) {
        double *p = s.point + 3 * k;
        p[0] = a * section[k % 6][0], p[1] = k < 6 ? 0.0 : a, p[2] = a * section[k % 6][1];
    }
    for (int t = 0; t < 4; t++) // seen from −y the section goes counter-clockwise
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < 3; k++)
                s.facet[3 * (2 * t + side) + k] = 6 * side + cut[t][side ? 2 - k : k];
    s.facets = 8;
    for (int k = 0; k < 6; k++) {
        const int32_t here = k, next = (k + 1) % 6;
        const int32_t two[6] = {here, here + 6, next, next, here + 6, next + 6};
        memcpy(s.facet + 3 * s.facets, two, sizeof two);
        s.facets += 2;
    }
}

// Volume 4 a³, centre (5/4, 1/2, 3/4) a: two bars, 3 × 1 and 1 × 1.
static void an_ell_falls_on_its_foot(void **state) {
    (void)state;
    const double a = 0.1;
    talus_mass mass;
    ell(a);
    const talus_shape_def shape = surface_shape(&s);
    WORLDS_OK(talus_shape_mass(ctx, 3, &shape, 1000.0, &mass));
    assert_true(fabs(mass.mass - 4.0) <= 1e-12);
    const double centre[3] = {1.25 * a, 0.5 * a, 0.75 * a};
    for (int k = 0; k < 3; k++) assert_true(fabs(mass.centre[k] - centre[k]) <= 1e-14);
    for (int k = 0; k < 2; k++) { // on its foot, and on its back
        talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
        def.tolerance = 1e-10;
        talus_world *w = worlds_create(&def);
        worlds_law(w, 0.5, 0.0, 0.0);
        talus_body_def body = talus_body_default();
        body.shape = worlds_shape(w, shape);
        body.density = 1000.0;
        body.position[2] = k == 0 ? 0.05 : 0.35;
        // about y: x goes up or down
        body.orientation[0] = k == 0 ? 1.0 : sqrt(0.5);
        body.orientation[2] = k == 0 ? 0.0 : sqrt(0.5);
        worlds_add(w, &body);
        talus_body_def box = talus_body_default(); // beneath its arm
        box.shape = worlds_shape(
            w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.5 * a, 0.5 * a, 0.2 * a}});
        box.position[0] = 2.0 * a, box.position[1] = 0.5 * a;
        box.position[2] = k == 0 ? 0.05 + 1.3 * a : 0.2 * a;
        worlds_add(w, &box);
        worlds_plane(w, 0.0, 0.0, 1.0);
        const talus_body_view before = worlds_bodies(w);
        assert_true(fabs(before.mass[0] - 4.0) <= 1e-12);
        for (int step = 0; step < 600; step++) (void)worlds_step(w);
        const talus_body_view v = worlds_bodies(w);
        // k = 1: the bar of length 3 stands, the origin at its top
        assert_true(fabs(v.position[2] - (k == 0 ? 0.0 : 3.0 * a)) <= 1e-5);
        assert_true(tl_norm3(v.velocity) <= 1e-6 && tl_norm3(v.spin) <= 1e-5);
        // k = 0: the box has fallen on the arm
        assert_true(fabs(v.position[5] - (k == 0 ? 1.2 * a : 0.2 * a)) <= 1e-5);
        talus_world_destroy(w);
    }
}

static void what_cannot_move_is_refused(void **state) {
    (void)state;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    talus_world *w = worlds_create(&def);
    talus_body_def body = talus_body_default();
    surface_box(&s, 3, edge);
    body.shape = worlds_shape(w, surface_shape(&s));
    const int32_t whole = body.shape;
    s.facets--; // a hole
    body.shape = worlds_shape(w, surface_shape(&s));
    assert_int_equal(talus_world_add_body(w, &body, NULL), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "is open or inside out"));
    s.facets++;
    for (int32_t t = 0; t < s.facets; t++) {
        const int32_t swap = s.facet[3 * t];
        s.facet[3 * t] = s.facet[3 * t + 1];
        s.facet[3 * t + 1] = swap;
    }
    body.shape = worlds_shape(w, surface_shape(&s));
    assert_int_equal(talus_world_add_body(w, &body, NULL), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "is open or inside out"));
    // an obstacle that is let go, and a free one that is held and let go
    body.shape = whole;
    body.motion.kind = TALUS_MOTION_FIXED;
    worlds_add(w, &body);
    const talus_motion_def let_go = {.kind = TALUS_MOTION_FREE},
                           held = {.kind = TALUS_MOTION_FIXED};
    assert_int_equal(talus_world_set_motion(w, 0, &let_go), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "added as an obstacle"));
    body.motion.kind = TALUS_MOTION_FREE;
    body.position[2] = 5.0;
    worlds_add(w, &body);
    WORLDS_OK(talus_world_set_motion(w, 1, &held));
    (void)worlds_step(w);
    assert_true(worlds_bodies(w).position[5] == 5.0);
    WORLDS_OK(talus_world_set_motion(w, 1, &let_go));
    (void)worlds_step(w);
    assert_true(worlds_bodies(w).position[5] < 5.0);
    // two meshes come near each other
    body.position[2] = 5.0 + 2.0 * edge[2] + 1e-6;
    worlds_add(w, &body);
    assert_int_equal(talus_world_step(w, NULL), TALUS_ERR_UNSUPPORTED);
    assert_non_null(strstr(talus_context_last_error(ctx), "polyhedron or a clump"));
    talus_world_destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_box_of_triangles_is_a_box, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_ell_falls_on_its_foot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_move_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("free_mesh", tests, NULL, NULL);
}
