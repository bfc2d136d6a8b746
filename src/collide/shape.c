// SPDX-License-Identifier: Apache-2.0
// Shapes by themselves: names, checks, size and mass (docs/theory/collision.md).
#include "base/context.h"
#include "base/vec3.h"
#include "collide/collide.h"

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
    default:
        return INFINITY;
    }
}

// Moments about the centre, with m the mass: disk m r²/2; ball 2/5 m r²; box m (b² + c²)/3 in half
// edges; cylinder m r²/2 about its axis and m (r²/4 + h²/12) across.
talus_mass talus_shape_mass(int32_t dim, const talus_shape_def *shape, double density) {
    talus_mass out = {.mass = INFINITY, .inertia = {INFINITY, INFINITY, INFINITY}};
    const double r2 = shape->radius * shape->radius, *half = shape->half;
    const bool round = shape->kind == TALUS_SHAPE_SPHERE || shape->kind == TALUS_SHAPE_CYLINDER;
    if (dim == 2 && round) {
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
