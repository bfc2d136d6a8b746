// SPDX-License-Identifier: Apache-2.0
// Bodies on meshes: what slides, rolls and tumbles over a triangulated plane does exactly as on a
// half-space; boxes come to rest in the corner of a mesh; a funnel lets through what fits; an open
// mesh cannot move freely, and one with a given motion carries what lies on it.
#include "base/vec3.h"
#include "support/surfaces.h"
#include "talus/mesh.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/worlds.h"

static surface s;

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

static const talus_shape_def sliders[] = {
    {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1},
    {.kind = TALUS_SHAPE_BOX, .half = {0.15, 0.1, 0.05}},
    {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.05, .height = 0.2},
    {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.1, .height = 0.1},
};

// A run of a body thrown onto a plane, with friction; its place after every step.
static void slide(int32_t dim, int which, bool mesh, talus_scheme scheme, int steps,
                  double (*place)[7], int *touching) {
    talus_world_def def = worlds_def(dim, scheme, 2e-3, 9.81);
    def.tolerance = 1e-12;
    talus_world *w = worlds_create(&def);
    talus_body_def body = talus_body_default(), floor;
    worlds_law(w, 0.3, 0.3, 0.0);
    body.shape = worlds_shape(w, sliders[which]);
    body.position[dim - 1] = 0.2;
    body.position[0] = -1.0;
    body.velocity[0] = 2.0;
    if (dim == 3) body.velocity[1] = 0.7;
    body.spin[2] = dim == 2 ? -1.0 : 0.3;
    if (mesh) surface_plane(&s, dim, 2.5, dim == 2 ? 60 : 24, 9);
    floor = worlds_fixed(w, mesh ? surface_shape(&s)
                                 : (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE});
    worlds_add(w, &body);
    worlds_add(w, &floor);
    *touching = 0;
    for (int k = 0; k < steps; k++) {
        const talus_ledger l = worlds_step(w);
        const talus_body_view v = worlds_bodies(w);
        memcpy(place[k], v.position, 3 * sizeof(double));
        memcpy(place[k] + 3, v.orientation, 4 * sizeof(double));
        *touching += l.stick + l.slip > 0;
    }
    talus_world_destroy(w);
}

static void a_plane_of_triangles_is_a_plane(void **state) {
    (void)state;
    enum { STEPS = 500 };
    static double place[2][STEPS][7];
    static const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int which = 0; which < (dim == 2 ? 3 : 4); which++)
            for (int scheme = 0; scheme < 2; scheme++) {
                int touching[2];
                for (int mesh = 0; mesh < 2; mesh++)
                    slide(dim, which, mesh, schemes[scheme], STEPS, place[mesh], &touching[mesh]);
                assert_true(touching[0] > STEPS / 4 && touching[0] == touching[1]);
                assert_true(fabs(place[0][STEPS - 1][0] + 1.0) > 0.2);
                // rounding, which impacts and the end of sliding make grow
                for (int k = 0; k < STEPS; k++)
                    for (int e = 0; e < 7; e++) {
                        if (!(fabs(place[0][k][e] - place[1][k][e]) <= 1e-9))
                            fail_msg("%dD %s: step %d, %d: %.15g and %.15g", (int)dim,
                                     talus_shape_text(sliders[which].kind), k, e, place[0][k][e],
                                     place[1][k][e]);
                    }
            }
}

// A box pushed into the corner of an open box of triangles comes to rest there, touching three
// walls, and does not sink in.
static void a_box_rests_in_a_corner(void **state) {
    (void)state;
    const double gravity[3] = {-3.0, -4.0, -9.0};
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    memcpy(def.gravity, gravity, sizeof gravity);
    talus_world *w = worlds_create(&def);
    talus_body_def body = talus_body_default(), room;
    worlds_law(w, 0.1, 0.0, 0.0);
    body.shape =
        worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.15, 0.1}});
    for (int k = 0; k < 3; k++) body.position[k] = 0.3;
    surface_box(&s, 3, (const double[3]){1.0, 1.0, 1.0});
    for (int32_t t = 0; t < s.facets; t++) { // the inside is free
        const int32_t swap = s.facet[3 * t];
        s.facet[3 * t] = s.facet[3 * t + 1];
        s.facet[3 * t + 1] = swap;
    }
    for (int32_t k = 0; k < 3 * s.points; k++) s.point[k] += 1.0;
    room = worlds_fixed(w, surface_shape(&s));
    worlds_add(w, &body);
    worlds_add(w, &room);
    talus_ledger l = {0};
    for (int k = 0; k < 800; k++) {
        l = worlds_step(w);
        assert_true(l.penetration < 1e-3);
    }
    const talus_body_view v = worlds_bodies(w);
    near(v.position[0], 0.2, 1e-5);
    near(v.position[1], 0.15, 1e-5);
    near(v.position[2], 0.1, 1e-5);
    assert_true(l.kinetic < 1e-9);
    talus_world_destroy(w);
}

// Balls fall through a funnel that is wide enough and stay in one that is not, whatever made it.
static void a_funnel_lets_through_what_fits(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int kind = 0; kind < 2; kind++)
            for (int wide = 0; wide < 2; wide++) {
                talus_world_def def = worlds_def(dim, TALUS_SCHEME_FIXED_POINT, 5e-3, 9.81);
                talus_world *w = worlds_create(&def);
                talus_body_def body = talus_body_default(), funnel;
                talus_mesh mesh;
                const talus_mesh_def made = {.kind = kind ? TALUS_MESH_HOPPER : TALUS_MESH_FUNNEL,
                                             .size = {1.0, dim == 2 ? 0.6 : 1.0, 0.6},
                                             .radius = 0.5,
                                             .height = 0.6,
                                             .outlet = (kind ? 2.0 : 1.0) * (wide ? 0.13 : 0.07),
                                             .rim = 0.4,
                                             .spout = 0.1};
                worlds_law(w, 0.1, 0.0, 0.0);
                assert_int_equal(talus_mesh_make(ctx, dim, &made, &mesh), TALUS_OK);
                funnel = worlds_fixed(w, talus_mesh_shape(&mesh));
                talus_mesh_clear(ctx, &mesh);
                worlds_add(w, &funnel);
                body.shape =
                    worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = 0.1});
                body.position[0] = 0.2;
                if (dim == 3) body.position[1] = 0.1;
                body.position[dim - 1] = 0.8;
                worlds_add(w, &body);
                for (int k = 0; k < 600; k++) (void)worlds_step(w);
                const talus_body_view v = worlds_bodies(w);
                const double *x = v.position + 3;
                if (wide) {
                    assert_true(x[dim - 1] < -1.0);
                } else {
                    assert_true(x[dim - 1] > 0.0 && x[dim - 1] < 0.5);
                    near(x[0], 0.0, 0.05);
                }
                talus_world_destroy(w);
            }
}

// A ramp of friction below its slope lets a box slide with the acceleration g (sin − mu cos).
static void a_ramp_has_its_slope(void **state) {
    (void)state;
    const double slope = atan(0.5), mu = 0.2, g = 9.81;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, g);
    def.tolerance = 1e-10;
    talus_world *w = worlds_create(&def);
    talus_body_def body = talus_body_default(), ramp;
    talus_mesh mesh;
    const talus_mesh_def made = {.kind = TALUS_MESH_RAMP, .size = {4.0, 2.0, 2.0}};
    worlds_law(w, mu, 0.0, 0.0);
    assert_int_equal(talus_mesh_make(ctx, 3, &made, &mesh), TALUS_OK);
    ramp = worlds_fixed(w, talus_mesh_shape(&mesh));
    talus_mesh_clear(ctx, &mesh);
    worlds_add(w, &ramp);
    body.shape =
        worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.2, 0.1}});
    body.position[0] = 3.0 - 0.1 * sin(slope);
    body.position[2] = 1.5 + 0.1 * cos(slope);
    body.orientation[0] = cos(-0.5 * slope);
    body.orientation[2] = sin(-0.5 * slope);
    worlds_add(w, &body);
    for (int k = 0; k < 500; k++) (void)worlds_step(w);
    const talus_body_view v = worlds_bodies(w);
    const double speed = 0.5 * g * (sin(slope) - mu * cos(slope));
    near(v.velocity[3], -speed * cos(slope), 1e-5);
    near(v.velocity[5], -speed * sin(slope), 1e-5);
    talus_world_destroy(w);
}

// A plate that rises lifts what lies on it; an open mesh that is to move freely is refused.
static void meshes_move_as_they_are_told(void **state) {
    (void)state;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    talus_world *w = worlds_create(&def);
    talus_body_def ball = talus_body_default(), plate = talus_body_default();
    surface_plane(&s, 3, 1.0, 6, 4);
    worlds_law(w, 0.5, 0.0, 0.0);
    plate.shape = worlds_shape(w, surface_shape(&s));
    assert_int_equal(talus_world_add_body(w, &plate, NULL), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "this one is open or inside out"));
    plate.motion = (talus_motion_def){.kind = TALUS_MOTION_VELOCITY, .velocity = {0.0, 0.0, 0.5}};
    worlds_add(w, &plate);
    ball.shape =
        worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}});
    ball.position[2] = 0.1;
    worlds_add(w, &ball);
    for (int k = 0; k < 250; k++) (void)worlds_step(w);
    talus_body_view v = worlds_bodies(w);
    near(v.position[2], 0.25, 1e-12);
    near(v.position[5], 0.35, 1e-6);
    const talus_motion_def free_motion = {.kind = TALUS_MOTION_FREE};
    assert_int_equal(talus_world_set_motion(w, 0, &free_motion), TALUS_ERR_ARG);
    talus_world_destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plane_of_triangles_is_a_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_box_rests_in_a_corner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_funnel_lets_through_what_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_ramp_has_its_slope, set_up, tear_down),
        cmocka_unit_test_setup_teardown(meshes_move_as_they_are_told, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("mesh_world", tests, NULL, NULL);
}
