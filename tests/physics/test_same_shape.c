// SPDX-License-Identifier: Apache-2.0
// One body described in two ways does the same in whole runs: a box as a box and as the hull of its
// corners, to rounding; a sphere as a sphere and as meshes that get finer, in the limit. (A plane
// and a triangulated plane are in physics/mesh_world.)
#include "base/vec3.h"
#include "support/surfaces.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

enum { STEPS = 400, BODIES = 4 };

static double corner[24];
static surface s;

// A box, or the hull of its corners.
static int32_t box_shape(talus_world *w, int32_t dim, bool hull, double a, double b, double c) {
    const double half[3] = {a, b, c};
    talus_shape_def shape = {.kind = TALUS_SHAPE_BOX, .half = {a, b, c}};
    for (int i = 0; i < (dim == 2 ? 4 : 8); i++)
        for (int k = 0; k < 3; k++)
            corner[3 * i + k] = k >= dim ? 0.0 : i >> k & 1 ? half[k] : -half[k];
    if (hull)
        shape = (talus_shape_def){
            .kind = TALUS_SHAPE_POLYHEDRON, .point = corner, .point_count = dim == 2 ? 4 : 8};
    return worlds_shape(w, shape);
}

// Two boxes and a ball fall on a plane and a fixed box, tilted and turning; the places of all after
// every step.
static void tumble(int32_t dim, bool hull, talus_scheme scheme, double (*place)[BODIES][7],
                   int *touching) {
    talus_world_def def = worlds_def(dim, scheme, 1e-3, 9.81);
    def.tolerance = 1e-13;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.4, 0.2, 0.0);
    const int up = dim - 1;
    talus_body_def body = talus_body_default();
    body.shape = box_shape(w, dim, hull, 0.15, 0.1, 0.12);
    body.position[0] = -0.1;
    body.position[up] = 0.21;
    body.velocity[0] = 0.8;
    body.spin[2] = dim == 2 ? -1.5 : 0.8;
    body.orientation[0] = cos(0.05);
    body.orientation[dim == 2 ? 3 : 2] = sin(0.05);
    worlds_add(w, &body);
    talus_body_def second = talus_body_default();
    second.shape = box_shape(w, dim, hull, 0.08, 0.07, 0.06);
    second.position[0] = 0.75;
    second.position[up] = 0.5;
    second.velocity[0] = -0.4;
    second.orientation[0] = cos(0.2);
    second.orientation[3] = sin(0.2);
    worlds_add(w, &second);
    const talus_body_def ball =
        worlds_ball(w, 0.05, 0.2, dim == 2 ? 0.6 : 0.02, dim == 3 ? 0.6 : 0.0);
    worlds_add(w, &ball);
    talus_body_def block = talus_body_default();
    block.shape = box_shape(w, dim, hull, 0.2, 0.15, 0.15);
    block.motion.kind = TALUS_MOTION_FIXED;
    block.position[0] = 0.7;
    block.position[up] = 0.15;
    worlds_add(w, &block);
    worlds_plane(w, 0.0, dim == 2, dim == 3);
    *touching = 0;
    for (int k = 0; k < STEPS; k++) {
        const talus_ledger l = worlds_step(w);
        const talus_body_view v = worlds_bodies(w);
        *touching += l.stick + l.slip;
        for (int i = 0; i < BODIES; i++) {
            memcpy(place[k][i], v.position + 3 * i, 3 * sizeof(double));
            memcpy(place[k][i] + 3, v.orientation + 4 * i, 4 * sizeof(double));
        }
    }
    talus_world_destroy(w);
}

static void a_box_is_the_hull_of_its_corners(void **state) {
    (void)state;
    static double place[2][STEPS][BODIES][7];
    static const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_MOREAU_JEAN};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int scheme = 0; scheme < 2; scheme++) {
            int touching[2];
            double worst = 0.0;
            for (int hull = 0; hull < 2; hull++)
                tumble(dim, hull, schemes[scheme], place[hull], &touching[hull]);
            assert_true(touching[0] > STEPS && touching[0] == touching[1]);
            for (int k = 0; k < STEPS; k++)
                for (int i = 0; i < BODIES; i++)
                    for (int e = 0; e < 7; e++)
                        worst = fmax(worst, fabs(place[0][k][i][e] - place[1][k][i][e]));
            // rounding and the solver's tolerance, which impacts make grow
            assert_true(worst <= 1e-9);
        }
}

// A ball of radius 1 begins to roll down from a fixed sphere of radius 1, which may be a mesh, and
// is somewhere after 0.9 s. It rolls slowly enough to stay in touch when it turns over an edge.
static void roll_off(int32_t dim, int32_t n, double out[3]) {
    const double angle = 0.15;
    talus_world_def def = worlds_def(dim, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    def.tolerance = 1e-10;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.5, 0.0, 0.0);
    const double x = 2.0 * sin(angle), up = 2.0 * cos(angle);
    const talus_body_def ball =
        worlds_ball(w, 1.0, x, dim == 2 ? up : 0.31 * x, dim == 3 ? up : 0.0);
    worlds_add(w, &ball);
    if (n > 0) surface_sphere(&s, dim, 1.0, n);
    const talus_body_def hill =
        worlds_fixed(w, n > 0 ? surface_shape(&s)
                              : (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = 1.0});
    worlds_add(w, &hill);
    for (int k = 0; k < 900; k++) (void)worlds_step(w);
    const talus_body_view v = worlds_bodies(w);
    memcpy(out, v.position, 3 * sizeof *out);
    talus_world_destroy(w);
}

// Facets are off by the square of their size, their normals by the size itself: the order is
// between 1 and 2 (1.45 and 1.25 where it was measured).
static void a_mesh_sphere_tends_to_a_sphere(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        const int finer = dim == 2 ? 4 : 2; // halvings
        double exact[3], x[3], error[2];
        roll_off(dim, 0, exact);
        assert_true(exact[0] > 0.7);
        for (int k = 0; k < 2; k++) {
            roll_off(dim, k == 0 ? 8 : 8 << finer, x);
            tl_sub3(x, exact, x);
            error[k] = tl_norm3(x);
        }
        const double order = log2(error[0] / error[1]) / finer;
        if (!(error[0] <= 0.1 && order >= 1.1 && order <= 2.1))
            fail_msg("%dD: %g, %g, order %g", (int)dim, error[0], error[1], order);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_box_is_the_hull_of_its_corners, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_mesh_sphere_tends_to_a_sphere, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("same_shape", tests, NULL, NULL);
}
