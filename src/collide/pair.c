// SPDX-License-Identifier: Apache-2.0
// Which function finds the contact points of which two kinds. One entry serves both orders.
#include "collide/pair.h"

// Rows: the kind that comes first in talus_shape_kind. Empty: two walls; two meshes; or a
// mesh with a bounded convex shape (tl_mesh_points).
static tl_pair_fn *const pair_table[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS] = {
    [TALUS_SHAPE_SPHERE] = {[TALUS_SHAPE_SPHERE] = tl_pair_sphere_sphere,
                            [TALUS_SHAPE_HALF_SPACE] = tl_pair_sphere_walls,
                            [TALUS_SHAPE_CONTAINER] = tl_pair_sphere_walls,
                            [TALUS_SHAPE_DRUM] = tl_pair_sphere_walls,
                            [TALUS_SHAPE_BOX] = tl_pair_sphere_box,
                            [TALUS_SHAPE_CYLINDER] = tl_pair_sphere_cylinder,
                            [TALUS_SHAPE_CAPSULE] = tl_pair_sphere_capsule,
                            [TALUS_SHAPE_ELLIPSOID] = tl_pair_round,
                            [TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_round,
                            [TALUS_SHAPE_CONE] = tl_pair_round,
                            [TALUS_SHAPE_POLYHEDRON] = tl_pair_convex},
    [TALUS_SHAPE_HALF_SPACE] = {[TALUS_SHAPE_BOX] = tl_pair_walls_box,
                                [TALUS_SHAPE_CYLINDER] = tl_pair_walls_lathe,
                                [TALUS_SHAPE_CAPSULE] = tl_pair_walls_polytope,
                                [TALUS_SHAPE_ELLIPSOID] = tl_pair_walls_ellipsoid,
                                [TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_walls_ellipsoid,
                                [TALUS_SHAPE_CONE] = tl_pair_walls_lathe,
                                [TALUS_SHAPE_POLYHEDRON] = tl_pair_walls_polytope,
                                [TALUS_SHAPE_MESH] = tl_pair_walls_mesh},
    [TALUS_SHAPE_CONTAINER] = {[TALUS_SHAPE_BOX] = tl_pair_walls_box,
                               [TALUS_SHAPE_CYLINDER] = tl_pair_walls_lathe,
                               [TALUS_SHAPE_CAPSULE] = tl_pair_walls_polytope,
                               [TALUS_SHAPE_ELLIPSOID] = tl_pair_walls_ellipsoid,
                               [TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_walls_ellipsoid,
                               [TALUS_SHAPE_CONE] = tl_pair_walls_lathe,
                               [TALUS_SHAPE_POLYHEDRON] = tl_pair_walls_polytope,
                               [TALUS_SHAPE_MESH] = tl_pair_walls_mesh},
    [TALUS_SHAPE_DRUM] = {[TALUS_SHAPE_BOX] = tl_pair_walls_box,
                          [TALUS_SHAPE_CYLINDER] = tl_pair_walls_lathe,
                          [TALUS_SHAPE_CAPSULE] = tl_pair_walls_polytope,
                          [TALUS_SHAPE_ELLIPSOID] = tl_pair_walls_ellipsoid,
                          [TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_walls_ellipsoid,
                          [TALUS_SHAPE_CONE] = tl_pair_walls_lathe,
                          [TALUS_SHAPE_POLYHEDRON] = tl_pair_walls_polytope,
                          [TALUS_SHAPE_MESH] = tl_pair_walls_mesh},
    [TALUS_SHAPE_BOX] = {[TALUS_SHAPE_BOX] = tl_pair_polytopes,
                         [TALUS_SHAPE_CYLINDER] = tl_pair_round,
                         [TALUS_SHAPE_CAPSULE] = tl_pair_polytopes,
                         [TALUS_SHAPE_ELLIPSOID] = tl_pair_round,
                         [TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_round,
                         [TALUS_SHAPE_CONE] = tl_pair_round,
                         [TALUS_SHAPE_POLYHEDRON] = tl_pair_polytopes},
    [TALUS_SHAPE_CYLINDER] = {[TALUS_SHAPE_CYLINDER] = tl_pair_round,
                              [TALUS_SHAPE_CAPSULE] = tl_pair_round,
                              [TALUS_SHAPE_ELLIPSOID] = tl_pair_round,
                              [TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_round,
                              [TALUS_SHAPE_CONE] = tl_pair_round,
                              [TALUS_SHAPE_POLYHEDRON] = tl_pair_round},
    [TALUS_SHAPE_CAPSULE] = {[TALUS_SHAPE_CAPSULE] = tl_pair_capsules,
                             [TALUS_SHAPE_ELLIPSOID] = tl_pair_round,
                             [TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_round,
                             [TALUS_SHAPE_CONE] = tl_pair_round,
                             [TALUS_SHAPE_POLYHEDRON] = tl_pair_polytopes},
    [TALUS_SHAPE_ELLIPSOID] = {[TALUS_SHAPE_ELLIPSOID] = tl_pair_round,
                               [TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_round,
                               [TALUS_SHAPE_CONE] = tl_pair_round,
                               [TALUS_SHAPE_POLYHEDRON] = tl_pair_round},
    [TALUS_SHAPE_SUPERELLIPSOID] = {[TALUS_SHAPE_SUPERELLIPSOID] = tl_pair_round,
                                    [TALUS_SHAPE_CONE] = tl_pair_round,
                                    [TALUS_SHAPE_POLYHEDRON] = tl_pair_round},
    [TALUS_SHAPE_CONE] =
        {[TALUS_SHAPE_CONE] = tl_pair_round, [TALUS_SHAPE_POLYHEDRON] = tl_pair_round},
    [TALUS_SHAPE_POLYHEDRON] = {[TALUS_SHAPE_POLYHEDRON] = tl_pair_polytopes},
};

bool tl_pair_is_known(talus_shape_kind a, talus_shape_kind b) {
    const talus_shape_kind first = a < b ? a : b, last = a < b ? b : a;
    if (pair_table[first][last]) return true;
    if (last != TALUS_SHAPE_MESH || first == TALUS_SHAPE_MESH) return false;
    return first == TALUS_SHAPE_SPHERE || pair_table[TALUS_SHAPE_HALF_SPACE][first] != NULL;
}

int tl_pair_points(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                   tl_touch *out) {
    const talus_shape_kind ka = a->shape->kind, kb = b->shape->kind;
    if (ka <= kb) return pair_table[ka][kb](dim, a, b, reach, out);
    const int count = pair_table[kb][ka](dim, b, a, reach, out);
    for (int i = 0; i < count; i++) tl_touch_swap(&out[i]);
    return count;
}
