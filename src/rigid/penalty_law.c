// SPDX-License-Identifier: Apache-2.0
// Normal laws of the penalty scheme, and damping from restitution [theory/penalty (P1)–(P6)].
#include "rigid/penalty_law.h"
#include "base/context.h"
#include "base/vec3.h"
#include "rigid/penalty.h"
#include <math.h>

static const double law_pi = 3.14159265358979323846;
// 2 ∫_0^1 dx / sqrt(1 − x^(5/2)) = 2 sqrt(pi) Γ(7/5) / Γ(9/10): duration of a hertz collision over
// greatest depth by speed.
static const double law_hertz_time = 2.943275184324706;
// Greatest step as a part of the contact time, and the part that is advised.
static const double law_limit = 10.0, law_advice = 50.0;

double tl_springs_mass(double mass_a, double mass_b) {
    if (mass_a == 0.0) return mass_b;
    if (mass_b == 0.0) return mass_a;
    return mass_a * mass_b / (mass_a + mass_b);
}

// Of the ball about the middle of the points that goes through them on the mean.
static double law_points_curvature(const talus_shape_def *shape) {
    double middle[3] = {0.0}, sum = 0.0;
    for (int64_t i = 0; i < shape->point_count; i++)
        tl_axpy3(middle, 1.0 / shape->point_count, shape->point + 3 * i, middle);
    for (int64_t i = 0; i < shape->point_count; i++) {
        double d[3];
        tl_sub3(shape->point + 3 * i, middle, d);
        sum += tl_norm3(d);
    }
    return shape->point_count / sum;
}

// Of the largest part of a clump: the least.
static double law_clump_curvature(int32_t dim, const talus_shape_def *shape) {
    double least = INFINITY;
    for (int32_t k = 0; k < shape->part_count; k++)
        least = fmin(least, tl_springs_curvature(dim, shape->part[k].shape));
    return least;
}

double tl_springs_curvature(int32_t dim, const talus_shape_def *shape) {
    const double *half = shape->half;
    switch (shape->kind) {
    case TALUS_SHAPE_SPHERE:
    case TALUS_SHAPE_CYLINDER:
    case TALUS_SHAPE_CAPSULE:
    case TALUS_SHAPE_WORM:
    case TALUS_SHAPE_CONE:
        return 1.0 / shape->radius;
    case TALUS_SHAPE_ELLIPSOID:
    case TALUS_SHAPE_SUPERELLIPSOID:
        return 1.0 / (dim == 2 ? sqrt(half[0] * half[1]) : cbrt(half[0] * half[1] * half[2]));
    case TALUS_SHAPE_POLYHEDRON:
        return law_points_curvature(shape);
    case TALUS_SHAPE_CLUMP:
        return law_clump_curvature(dim, shape);
    case TALUS_SHAPE_DRUM:
        return -1.0 / shape->radius;
    case TALUS_SHAPE_BOX:
        if (dim == 2) return sqrt(law_pi / (4.0 * half[0] * half[1]));
        return cbrt(law_pi / (6.0 * half[0] * half[1] * half[2]));
    default:
        return 0.0;
    }
}

double tl_spring_restitution(talus_penalty law, double ratio) {
    if (law == TALUS_PENALTY_LINEAR) {
        return ratio < 1.0 ? exp(-law_pi * ratio / sqrt(1.0 - ratio * ratio)) : 0.0;
    }
    // ratio / sqrt(1 − ratio²) (pi − 2 asin ratio), with ratio = cos θ
    const double angle = acos(ratio);
    return exp(angle > 1e-6 ? -2.0 * angle / tan(angle) : -2.0);
}

double tl_spring_ratio(talus_penalty law, double restitution) {
    if (restitution >= 1.0) return 0.0;
    if (restitution <= 0.0) return 1.0;
    const double loss = -log(restitution);
    if (law == TALUS_PENALTY_LINEAR) return loss / sqrt(law_pi * law_pi + loss * loss);
    // θ / tan θ falls from 1 to 0 over (0, pi/2): halve until the interval is a rounding error
    const double wanted = 0.5 * loss;
    if (wanted >= 1.0) return 1.0;
    double low = 0.0, high = 0.5 * law_pi;
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        if (middle / tan(middle) > wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return cos(0.5 * (low + high));
}

double tl_spring_chi(talus_chi chi, double e, double speed) {
    if (e >= 1.0) return 0.0;
    double factor = 0.0;
    switch (chi) {
    case TALUS_CHI_HUNT_CROSSLEY:
        factor = 1.5 * (1.0 - e);
        break;
    case TALUS_CHI_LANKARANI:
        factor = 0.75 * (1.0 - e * e);
        break;
    case TALUS_CHI_FLORES:
        factor = 1.6 * (1.0 - e) / e;
        break;
    case TALUS_CHI_GONTHIER:
        factor = (1.0 - e * e) / e;
        break;
    case TALUS_CHI_HERBERT:
        factor = 6.0 * (1.0 - e) / ((2.0 * e - 1.0) * (2.0 * e - 1.0) + 3.0);
        break;
    case TALUS_CHI_LEE_WANG:
        factor = 0.75 * (1.0 - e);
        break;
    }
    return factor / speed;
}

double tl_spring_hertz(const talus_material_def *material, double curvature) {
    const double nu = material->poisson;
    return 4.0 / 3.0 * material->young / (2.0 * (1.0 - nu * nu)) / sqrt(curvature);
}

void tl_spring_normal(const tl_spring_pair *p, double depth, double rate, tl_spring_force *out) {
    if (p->law == TALUS_PENALTY_HERTZ) {
        const double big = tl_spring_hertz(p->material, p->curvature), root = sqrt(depth);
        out->elastic = big * depth * root;
        out->stiffness = 1.5 * big * root;
        // A contact that was made at almost no speed would be given almost infinite damping, and
        // could then be neither loaded nor relaxed: no more than critical.
        const double critical = 2.0 * sqrt(p->mass * out->stiffness);
        const double chi = tl_spring_chi(p->chi, p->material->restitution, p->speed);
        out->damping = fmin(chi * out->elastic, critical);
    } else {
        out->stiffness = p->material->stiffness;
        out->elastic = out->stiffness * depth;
        out->damping = p->material->damping >= 0.0
                           ? p->material->damping
                           : 2.0 * p->ratio * sqrt(out->stiffness * p->mass);
    }
    out->force = out->elastic + out->damping * rate;
    if (p->law != TALUS_PENALTY_LINEAR) out->force = fmax(out->force, 0.0);
}

double tl_spring_energy(const tl_spring_pair *p, double depth) {
    if (!(depth > 0.0)) return 0.0;
    if (p->law == TALUS_PENALTY_HERTZ) {
        return 0.4 * tl_spring_hertz(p->material, p->curvature) * depth * depth * sqrt(depth);
    }
    return 0.5 * p->material->stiffness * depth * depth;
}

double tl_spring_duration(talus_penalty law, double mass, double stiffness) {
    // hertz: greatest depth d at speed sqrt(4/5 K d^5/2 / m), and K sqrt(d) = 2/3 of the stiffness
    const double factor = law == TALUS_PENALTY_HERTZ ? law_hertz_time * sqrt(1.875) : law_pi;
    return factor * sqrt(mass / stiffness);
}

talus_status tl_spring_check(talus_context *ctx, double time, double h) {
    TL_REQUIRE(ctx, h <= time / law_limit, TALUS_ERR_ARG,
               "step: %g s is more than a tenth of the contact time %g s; %g s or less would be "
               "right, or softer contacts",
               h, time, time / law_advice);
    return TALUS_OK;
}

double tl_springs_contact_time(talus_penalty law, const talus_material_def *pair, double mass,
                               double curvature, double speed) {
    if (law != TALUS_PENALTY_HERTZ) return tl_spring_duration(law, mass, pair->stiffness);
    if (!(speed > 0.0)) return INFINITY;
    const double big = tl_spring_hertz(pair, curvature);
    return law_hertz_time * pow(1.25 * mass * speed * speed / big, 0.4) / speed;
}

talus_status tl_springs_check(talus_context *ctx, talus_penalty law, const talus_material_def *pair,
                              double mass, double curvature, double speed, double h) {
    return tl_spring_check(ctx, tl_springs_contact_time(law, pair, mass, curvature, speed), h);
}
