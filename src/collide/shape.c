// SPDX-License-Identifier: Apache-2.0
// Shapes by themselves: names, checks, size and mass (docs/theory/collision.md).
#include "base/context.h"
#include "base/vec3.h"
#include "collide/hull.h"
#include "collide/mesh.h"
#include "collide/round.h"
#include "collide/union.h"

static const double shape_pi = 3.14159265358979323846;

const char *talus_shape_text(talus_shape_kind kind) {
    static const char *const text[] = {
#define SHAPE_TEXT(name, text, what) text,
        TALUS_SHAPE_LIST(SHAPE_TEXT)
#undef SHAPE_TEXT
    };
    const int k = (int)kind;
    return k >= 0 && k < (int)TALUS_SHAPE_KINDS ? text[k] : "unknown";
}

static talus_status shape_check_length(talus_context *ctx, const talus_shape_def *shape,
                                       const char *field, double value, bool may_be_infinite) {
    const bool right = value > 0.0 && (may_be_infinite || isfinite(value));
    TL_REQUIRE(ctx, right, TALUS_ERR_ARG, "%s: %s = %g must be greater than 0%s",
               talus_shape_text(shape->kind), field, value,
               may_be_infinite ? " (it may be infinite)" : " and finite");
    return TALUS_OK;
}

// half[k] of a box or a container. A container without any wall would be an oversight.
static talus_status shape_check_half(talus_context *ctx, int32_t dim,
                                     const talus_shape_def *shape) {
    static const char *const field[] = {"half[0]", "half[1]", "half[2]"};
    const bool container = shape->kind == TALUS_SHAPE_CONTAINER;
    bool any = false;
    for (int k = 0; k < dim; k++) {
        TL_TRY(shape_check_length(ctx, shape, field[k], shape->half[k], container));
        any = any || isfinite(shape->half[k]);
    }
    TL_REQUIRE(ctx, any, TALUS_ERR_ARG,
               "container: half is infinite along all %d axes, so that it has no wall; at least "
               "one must be finite",
               (int)dim);
    return TALUS_OK;
}

static talus_status shape_check_normal(talus_context *ctx, int32_t dim,
                                       const talus_shape_def *shape) {
    for (int k = 0; k < dim; k++) {
        TL_REQUIRE(ctx, isfinite(shape->normal[k]), TALUS_ERR_ARG,
                   "half-space: normal[%d] = %g must be finite", k, shape->normal[k]);
    }
    TL_REQUIRE(ctx, dim == 3 || shape->normal[2] == 0.0, TALUS_ERR_ARG,
               "half-space: normal[2] = %g must be 0 in 2D", shape->normal[2]);
    return TALUS_OK;
}

// Points that have a hull.
static talus_status shape_check_hull(talus_context *ctx, int32_t dim,
                                     const talus_shape_def *shape) {
    tl_hull *hull = NULL;
    const talus_status status = tl_hull_create(ctx, dim, shape->point, shape->point_count, &hull);
    tl_hull_destroy(ctx, hull);
    return status;
}

talus_status talus_shape_check(talus_context *ctx, int32_t dim, const talus_shape_def *shape) {
    TL_REQUIRE(ctx, dim == 2 || dim == 3, TALUS_ERR_ARG, "dimension %d: must be 2 or 3", (int)dim);
    TL_REQUIRE(ctx, shape, TALUS_ERR_ARG, "no shape was given");
    switch (shape->kind) {
    case TALUS_SHAPE_SPHERE:
        return shape_check_length(ctx, shape, "radius", shape->radius, false);
    case TALUS_SHAPE_DRUM:
    case TALUS_SHAPE_CYLINDER:
        TL_TRY(shape_check_length(ctx, shape, "radius", shape->radius, false));
        if (dim == 2) return TALUS_OK;
        return shape_check_length(ctx, shape, "height", shape->height,
                                  shape->kind == TALUS_SHAPE_DRUM);
    case TALUS_SHAPE_BOX:
    case TALUS_SHAPE_CONTAINER:
        return shape_check_half(ctx, dim, shape);
    case TALUS_SHAPE_HALF_SPACE:
        return shape_check_normal(ctx, dim, shape);
    case TALUS_SHAPE_WORM:
    case TALUS_SHAPE_CLUMP:
        return tl_union_check(ctx, dim, shape);
    case TALUS_SHAPE_CAPSULE:
        TL_TRY(shape_check_length(ctx, shape, "radius", shape->radius, false));
        return shape_check_length(ctx, shape, "height", shape->height, false);
    case TALUS_SHAPE_POLYHEDRON:
        return shape_check_hull(ctx, dim, shape);
    case TALUS_SHAPE_CONE:
    case TALUS_SHAPE_ELLIPSOID:
    case TALUS_SHAPE_SUPERELLIPSOID:
        return tl_round_check(ctx, dim, shape);
    case TALUS_SHAPE_MESH:
        return tl_mesh_check(ctx, dim, shape);
    case TALUS_SHAPE_KINDS:
        break;
    }
    return tl_fail(ctx, TALUS_ERR_ARG, "shape of unknown kind %d: must be 0 to %d",
                   (int)shape->kind, (int)TALUS_SHAPE_KINDS - 1);
}

double tl_shape_extent(int32_t dim, const talus_shape_def *shape) {
    const double *half = shape->half;
    switch (shape->kind) {
    case TALUS_SHAPE_SPHERE:
        return shape->radius;
    case TALUS_SHAPE_CYLINDER:
        return dim == 2 ? shape->radius : hypot(shape->radius, 0.5 * shape->height);
    case TALUS_SHAPE_BOX:
        return dim == 2 ? hypot(half[0], half[1]) : hypot(hypot(half[0], half[1]), half[2]);
    case TALUS_SHAPE_CAPSULE:
        return 0.5 * shape->height + shape->radius;
    case TALUS_SHAPE_ELLIPSOID:
    case TALUS_SHAPE_SUPERELLIPSOID:
        return tl_round_extent(dim, shape);
    case TALUS_SHAPE_CONE: // 2D: about the centre of mass, which is a third of the height up
        if (dim == 3) return tl_round_extent(dim, shape);
        return TL_MAX(2.0 / 3.0 * shape->height, hypot(shape->radius, shape->height / 3.0));
    case TALUS_SHAPE_POLYHEDRON:
    case TALUS_SHAPE_WORM:
    case TALUS_SHAPE_CLUMP:
    case TALUS_SHAPE_MESH:
        return tl_shape_extent_from(dim, shape, (const double[3]){0.0});
    default:
        return INFINITY;
    }
}

// Largest distance of points from another.
static double shape_points_extent(const double *point, int32_t count, const double centre[3]) {
    double most = 0.0, d[3];
    for (int64_t i = 0; i < count; i++) {
        tl_sub3(point + 3 * i, centre, d);
        most = TL_MAX(tl_norm3(d), most);
    }
    return most;
}

double tl_shape_extent_from(int32_t dim, const talus_shape_def *shape, const double centre[3]) {
    double most = 0.0, d[3];
    switch (shape->kind) {
    case TALUS_SHAPE_POLYHEDRON:
    case TALUS_SHAPE_MESH:
        return shape_points_extent(shape->point, shape->point_count, centre);
    case TALUS_SHAPE_WORM:
        return shape_points_extent(shape->point, shape->point_count, centre) + shape->radius;
    case TALUS_SHAPE_CLUMP:
        for (int32_t k = 0; k < shape->part_count; k++) {
            const talus_part *part = shape->part + k;
            tl_sub3(part->position, centre, d);
            most = TL_MAX(tl_norm3(d) + tl_shape_extent(dim, part->shape), most);
        }
        return most;
    default:
        return tl_shape_extent(dim, shape) + tl_norm3(centre);
    }
}

// A cylinder (2D: rectangle) of mass c and a ball (disk) of mass b, cut in two halves that are
// moved out to its ends. With d the distance of the centre of a half ball (disk) from its flat
// side, d = 3 r/8 (4 r/(3 π)), the ball gains b (h²/4 + h d) across the axis.
static talus_mass shape_capsule_mass(int32_t dim, const talus_shape_def *shape, double density) {
    const double r = shape->radius, h = shape->height;
    talus_mass out = {.axes = {1.0, 0.0, 0.0, 0.0}};
    if (dim == 2) { // its axis is y
        const double c = density * 2.0 * r * h, b = density * shape_pi * r * r;
        out.mass = c + b;
        out.inertia[0] =
            c * h * h / 12.0 + b * (0.25 * r * r + 0.25 * h * h + 4.0 * h * r / (3.0 * shape_pi));
        out.inertia[1] = c * r * r / 3.0 + b * 0.25 * r * r;
        out.inertia[2] = out.inertia[0] + out.inertia[1];
        return out;
    }
    const double c = density * shape_pi * r * r * h;
    const double b = density * 4.0 / 3.0 * shape_pi * r * r * r;
    out.mass = c + b;
    out.inertia[2] = 0.5 * c * r * r + 0.4 * b * r * r;
    out.inertia[0] = out.inertia[1] =
        c * (0.25 * r * r + h * h / 12.0) + b * (0.4 * r * r + 0.25 * h * h + 0.375 * h * r);
    return out;
}

// Moments about the centre, with m the mass: disk m r²/2; ball 2/5 m r²; box m (b² + c²)/3 in half
// edges; cylinder m r²/2 about its axis and m (r²/4 + h²/12) across.
static talus_mass shape_simple_mass(int32_t dim, const talus_shape_def *shape, double density) {
    talus_mass out = {
        .mass = INFINITY, .inertia = {INFINITY, INFINITY, INFINITY}, .axes = {1.0, 0.0, 0.0, 0.0}};
    const double r2 = shape->radius * shape->radius, *half = shape->half;
    const bool round = shape->kind == TALUS_SHAPE_SPHERE || shape->kind == TALUS_SHAPE_CYLINDER;
    if (dim == 2 && shape->kind == TALUS_SHAPE_CONE) { // a triangle about its centre
        const double h = shape->height;
        out.mass = density * shape->radius * h;
        out.inertia[0] = out.mass * h * h / 18.0;
        out.inertia[1] = out.mass * r2 / 6.0;
        out.inertia[2] = out.inertia[0] + out.inertia[1];
    } else if (dim == 2 && round) {
        out.mass = density * shape_pi * r2;
        out.inertia[0] = out.inertia[1] = 0.25 * out.mass * r2;
        out.inertia[2] = 0.5 * out.mass * r2;
    } else if (shape->kind == TALUS_SHAPE_SPHERE) {
        out.mass = density * 4.0 / 3.0 * shape_pi * r2 * shape->radius;
        for (int k = 0; k < 3; k++) out.inertia[k] = 0.4 * out.mass * r2;
    } else if (shape->kind == TALUS_SHAPE_CYLINDER) {
        const double h = shape->height;
        out.mass = density * shape_pi * r2 * h;
        out.inertia[0] = out.inertia[1] = out.mass * (0.25 * r2 + h * h / 12.0);
        out.inertia[2] = 0.5 * out.mass * r2;
    } else if (shape->kind == TALUS_SHAPE_BOX) {
        const double c = dim == 2 ? 0.0 : half[2]; // a lamina has no thickness
        out.mass = density * 4.0 * half[0] * half[1] * (dim == 2 ? 1.0 : 2.0 * c);
        out.inertia[0] = out.mass * (half[1] * half[1] + c * c) / 3.0;
        out.inertia[1] = out.mass * (half[0] * half[0] + c * c) / 3.0;
        out.inertia[2] = out.mass * (half[0] * half[0] + half[1] * half[1]) / 3.0;
    }
    return out;
}

talus_status talus_shape_mass(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                              double density, talus_mass *out) {
    tl_hull *hull = NULL;
    TL_REQUIRE(ctx, shape, TALUS_ERR_ARG, "no shape was given");
    if (shape->kind == TALUS_SHAPE_POLYHEDRON) { // making its hull checks it
        TL_TRY(tl_hull_create(ctx, dim, shape->point, shape->point_count, &hull));
        tl_hull_mass(dim, hull, density, out);
        tl_hull_destroy(ctx, hull);
        return TALUS_OK;
    }
    TL_TRY(talus_shape_check(ctx, dim, shape));
    if (tl_union_is(shape->kind)) return tl_union_mass(ctx, dim, shape, density, out);
    if (shape->kind == TALUS_SHAPE_MESH) return tl_mesh_mass(ctx, dim, shape, density, out);
    switch (shape->kind) {
    case TALUS_SHAPE_CAPSULE:
        *out = shape_capsule_mass(dim, shape, density);
        break;
    case TALUS_SHAPE_ELLIPSOID:
    case TALUS_SHAPE_SUPERELLIPSOID:
        *out = tl_round_mass(dim, shape, density);
        break;
    case TALUS_SHAPE_CONE:
        *out =
            dim == 3 ? tl_round_mass(dim, shape, density) : shape_simple_mass(dim, shape, density);
        break;
    default:
        *out = shape_simple_mass(dim, shape, density);
    }
    return TALUS_OK;
}
