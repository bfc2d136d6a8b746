// SPDX-License-Identifier: Apache-2.0
// Numbers of a moment; definitions in docs/guide/analyse.md. With the branch l of a contact from
// the centre of a grain to that of the other (or to the point on an obstacle) and the force f on
// the first, the stress of a region of volume V is
//     σ = −1/V Σ s l ⊗ f,   s: the share of the branch that is inside the region,
// which is Love's and Weber's mean over a whole packing and, for a region that cuts it, the exact
// average of the field whose lines of force are the branches.
#include "observe/scalars.h"
#include "base/compiler.h"
#include "base/vec3.h"
#include "linalg/dense.h"
#include <string.h>

typedef struct scalar_row {
    const char *name, *unit[2], *text;
    int subject;
    bool z;
} scalar_row;

static const scalar_row scalar_rows[] = {
#define SCALAR_ROW(name, subject, flat, solid, z, text)                                            \
    {#name, {flat, solid}, text, TL_SUBJECT_##subject, z},
    TL_SCALAR_LIST(SCALAR_ROW)
#undef SCALAR_ROW
};

static const talus_subject subject_rows[] = {
#define SUBJECT_ROW(name, title, text) {#name, title, text},
    TL_SUBJECT_LIST(SUBJECT_ROW)
#undef SUBJECT_ROW
};

bool talus_subject_at(int32_t index, talus_subject *out) {
    if (index < 0 || index >= TL_SUBJECTS || !out) return false;
    *out = subject_rows[index];
    return true;
}

int tl_subject_find(const char *name) {
    for (int k = 0; k < TL_SUBJECTS; k++)
        if (strcmp(subject_rows[k].name, name) == 0) return k;
    return -1;
}

int tl_scalar_subject(int scalar) { return scalar_rows[scalar].subject; }

bool tl_scalar_get(int32_t dim, int scalar, talus_scalar *out) {
    const scalar_row *row = scalar_rows + scalar;
    if (dim == 2 && row->z) return false;
    *out = (talus_scalar){.name = row->name,
                          .unit = row->unit[dim == 3],
                          .text = row->text,
                          .subject = subject_rows[row->subject].name};
    return true;
}

bool talus_scalar_at(int32_t dim, int32_t index, talus_scalar *out) {
    if (index < 0 || !out) return false;
    for (int k = 0; k < TL_SCALARS; k++)
        if (tl_scalar_get(dim, k, out) && index-- == 0) return true;
    return false;
}

tl_invariants tl_tensor_invariants(int32_t dim, const double t[9]) {
    double trace = 0.0, square = 0.0;
    for (int i = 0; i < dim; i++) trace += t[4 * i];
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) {
            const double s = 0.5 * (t[3 * i + j] + t[3 * j + i]) - (i == j ? trace / dim : 0.0);
            square += s * s;
        }
    const double tau = sqrt(0.5 * square);
    return (tl_invariants){trace / dim, dim == 2 ? tau : sqrt(3.0) * tau, tau};
}

// gradient = B C⁻¹ along the directions in which the centres are spread.
static void motion_gradient(const tl_grains *g, const double c[9], const double b[9],
                            double gradient[9]) {
    const int32_t dim = g->m->dim;
    double packed[9], value[3], vector[9], most = 0.0;
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) packed[dim * i + j] = c[3 * i + j];
    tl_sym_eigen(dim, packed, value, vector);
    for (int k = 0; k < dim; k++) most = TL_MAX(most, value[k]);
    for (int i = 0; i < 9; i++) gradient[i] = 0.0;
    for (int k = 0; k < dim; k++) {
        const double *e = vector + (size_t)dim * (size_t)k;
        if (!(value[k] > 1e-12 * most)) continue;
        for (int i = 0; i < dim; i++) {
            double along = 0.0;
            for (int j = 0; j < dim; j++) along += b[3 * i + j] * e[j];
            for (int j = 0; j < dim; j++) gradient[3 * i + j] += along * e[j] / value[k];
        }
    }
}

static void motion_fluctuations(const tl_grains *g, tl_motion *out) {
    const int32_t dim = g->m->dim;
    double about_mean = 0.0, about_flow = 0.0;
    for (int32_t i = 0; i < g->count; i++) {
        if (!tl_grain_inside(g, i)) continue;
        const double *v = tl_grain_velocity(g, i), m = tl_grain_mass(g, i);
        double x[3];
        tl_sub3(g->x + 3 * (int64_t)i, out->centre, x);
        for (int k = 0; k < dim; k++) {
            const double d = v[k] - out->mean[k];
            const double rest = d - tl_dot3(out->gradient + 3 * (size_t)k, x);
            about_mean += m * d * d;
            about_flow += m * rest * rest;
        }
    }
    out->temperature = about_mean / (dim * out->mass);
    out->about_flow = about_flow / (dim * out->mass);
}

void tl_motion_measure(const tl_grains *g, tl_motion *out) {
    const int32_t dim = g->m->dim;
    double c[9] = {0.0}, b[9] = {0.0}, sum[9];
    *out = (tl_motion){.temperature = NAN, .about_flow = NAN, .shear_rate = NAN};
    for (int32_t i = 0; i < g->count; i++) {
        if (!tl_grain_inside(g, i)) continue;
        const double m = tl_grain_mass(g, i);
        out->grains++;
        out->mass += m;
        out->volume += tl_grain_shape_of(g, i)->volume;
        out->diameter += 2.0 * tl_grain_shape_of(g, i)->radius;
        tl_axpy3(out->centre, m, g->x + 3 * (int64_t)i, out->centre);
        tl_axpy3(out->mean, m, tl_grain_velocity(g, i), out->mean);
    }
    if (out->grains == 0) {
        for (int k = 0; k < 3; k++) out->mean[k] = out->centre[k] = NAN;
        return;
    }
    out->diameter /= out->grains;
    tl_scale3(1.0 / out->mass, out->centre, out->centre);
    tl_scale3(1.0 / out->mass, out->mean, out->mean);
    for (int32_t i = 0; i < g->count; i++) {
        if (!tl_grain_inside(g, i)) continue;
        double x[3], v[3];
        tl_sub3(g->x + 3 * (int64_t)i, out->centre, x);
        tl_sub3(tl_grain_velocity(g, i), out->mean, v);
        for (int k = 0; k < dim; k++)
            if (g->box.whole[k]) x[k] = 0.0;
        for (int k = 0; k < 9; k++) {
            c[k] += tl_grain_mass(g, i) * x[k / 3] * x[k % 3];
            b[k] += tl_grain_mass(g, i) * v[k / 3] * x[k % 3];
        }
    }
    motion_gradient(g, c, b, out->gradient);
    motion_fluctuations(g, out);
    for (int k = 0; k < 9; k++) sum[k] = out->gradient[k];
    out->shear_rate = 2.0 * tl_tensor_invariants(dim, sum).tau;
}

double tl_inertial_number(const tl_motion *motion, double shear_rate, double p) {
    if (!(p > 0.0)) return NAN;
    return shear_rate * motion->diameter * sqrt(motion->mass / motion->volume / p);
}

static talus_status scalars_solid(tl_grains *g, double value[TL_SCALARS]) {
    double volume = 0.0, low[3], high[3];
    int32_t inside = 0;
    TL_TRY(tl_grains_sample(g));
    tl_box_sides(&g->box, low, high);
    for (int32_t i = 0; i < g->count; i++) {
        double image[TL_BOX_IMAGES][3];
        const double *x = g->x + 3 * (int64_t)i;
        const int images = tl_box_images(&g->box, x, tl_grain_shape_of(g, i)->reach, image);
        for (int n = 0; n < images; n++) volume += tl_grain_volume(g, i, image[n], low, high);
        inside += tl_grain_inside(g, i);
    }
    value[TL_grains] = inside;
    value[TL_grain_volume] = volume;
    value[TL_region_volume] = g->box.volume;
    value[TL_solid_fraction] = volume / g->box.volume;
    return TALUS_OK;
}

static double scalars_ratio(double a, double b) { return b > 0.0 ? a / b : NAN; }

// Means over the grains whose centre is in the region, with neighbours everywhere.
static talus_status scalars_coordination(tl_grains *g, double value[TL_SCALARS]) {
    double inside = 0.0, sum = 0.0, kept = 0.0, kept_sum = 0.0, presses = 0.0, slides = 0.0;
    TL_TRY(tl_grains_neighbours(g));
    for (int32_t i = 0; i < g->count; i++) {
        if (!tl_grain_inside(g, i)) continue;
        inside += 1.0;
        sum += g->neighbours[i];
        if (g->backbone[i] < 0) continue;
        kept += 1.0;
        kept_sum += g->backbone[i];
    }
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        if (!tl_link_get(g, i, &link) || !link.active || !tl_link_inside(g, &link)) continue;
        presses += 1.0;
        slides += g->m->contacts.status[i] == 2;
    }
    value[TL_coordination] = scalars_ratio(sum, inside);
    value[TL_coordination_backbone] = scalars_ratio(kept_sum, kept);
    value[TL_rattlers] = scalars_ratio(inside - kept, inside);
    value[TL_sliding] = scalars_ratio(slides, presses);
    return TALUS_OK;
}

// xx, yy, zz, xy, xz, yz of a tensor into six values that follow each other.
static void scalars_tensor(const double t[9], double out[6]) {
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++)
        out[k] = 0.5 * (t[3 * row[k] + column[k]] + t[3 * column[k] + row[k]]);
}

// E(n) = (1 + a_ij n_i n_j)/(2 pi or 4 pi) has F = (a/4 or 2 a/15) + unit/dim; the anisotropy is
// √(½ a:a) in 2D, its amplitude, and √(3/2 a:a) in 3D.
static void scalars_fabric(const tl_grains *g, double value[TL_SCALARS]) {
    double f[9] = {0.0}, count = 0.0;
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        if (!tl_link_get(g, i, &link) || !link.active || link.to < 0 || !tl_link_inside(g, &link))
            continue;
        count += 1.0;
        for (int k = 0; k < 9; k++) f[k] += link.normal[k / 3] * link.normal[k % 3];
    }
    for (int k = 0; k < 9; k++) f[k] = scalars_ratio(f[k], count);
    scalars_tensor(f, value + TL_fabric_xx);
    const tl_invariants v = tl_tensor_invariants(g->m->dim, f);
    value[TL_anisotropy] = g->m->dim == 2 ? 4.0 * v.tau : 7.5 * sqrt(3.0) * v.tau;
}

void tl_stress_measure(const tl_grains *g, double stress[9]) {
    for (int k = 0; k < 9; k++) stress[k] = 0.0;
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        double image[TL_BOX_IMAGES][3];
        if (!tl_link_get(g, i, &link)) continue;
        const int images = tl_box_images(&g->box, link.x, tl_norm3(link.l), image);
        for (int n = 0; n < images; n++) {
            double from, to;
            if (!tl_clip_line(&g->box, image[n], link.l, &from, &to)) continue;
            for (int k = 0; k < 9; k++)
                stress[k] -= (to - from) * link.l[k / 3] * link.force[k % 3] / g->box.volume;
        }
    }
}

static void scalars_stress(const tl_grains *g, const double stress[9], double value[TL_SCALARS]) {
    const tl_invariants v = tl_tensor_invariants(g->m->dim, stress);
    scalars_tensor(stress, value + TL_stress_xx);
    value[TL_pressure] = v.p;
    value[TL_deviator] = v.q;
    value[TL_stress_ratio] = scalars_ratio(v.q, v.p);
}

static void scalars_forces(const tl_grains *g, double value[TL_SCALARS]) {
    double count = 0.0, sum = 0.0, most = 0.0, rough = 0.0, mobilised = 0.0;
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        if (!tl_link_get(g, i, &link) || !link.active || !tl_link_inside(g, &link)) continue;
        count += 1.0;
        sum += link.fn;
        most = TL_MAX(most, link.fn);
        if (!(link.mu > 0.0)) continue;
        rough += 1.0;
        mobilised += link.ft / (link.mu * link.fn);
    }
    value[TL_force_mean] = scalars_ratio(sum, count);
    value[TL_force_most] = count > 0.0 ? most : NAN;
    value[TL_mobilised] = scalars_ratio(mobilised, rough);
}

static talus_status scalars_runout(tl_grains *g, double value[TL_SCALARS]) {
    const talus_extent *e = &g->extent;
    double mass = 0.0, centre[3] = {0.0, 0.0, 0.0};
    TL_TRY(tl_grains_front(g));
    for (int32_t i = 0; i < g->count; i++) { // where they are, not where their images are
        mass += tl_grain_mass(g, i);
        tl_axpy3(centre, tl_grain_mass(g, i), g->m->bodies.centre + 3 * (int64_t)g->body[i],
                 centre);
    }
    for (int k = 0; k < 3; k++) {
        const bool any = g->count > 0;
        value[TL_low_x + k] = any ? e->low[k] : NAN;
        value[TL_high_x + k] = any ? e->high[k] : NAN;
        value[TL_front_low_x + k] = any ? e->front_low[k] : NAN;
        value[TL_front_high_x + k] = any ? e->front_high[k] : NAN;
        value[TL_centre_x + k] = scalars_ratio(centre[k], mass);
    }
    return TALUS_OK;
}

static void scalars_walls(const tl_grains *g, double value[TL_SCALARS]) {
    double sum[3] = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        if (tl_link_get(g, i, &link) && link.to < 0 && !link.rod)
            tl_axpy3(sum, -1.0, link.force, sum);
    }
    tl_copy3(sum, value + TL_wall_force_x);
}

talus_status tl_scalars_measure(tl_grains *g, const bool wanted[TL_SUBJECTS],
                                double value[TL_SCALARS]) {
    tl_motion motion;
    double stress[9];
    for (int k = 0; k < TL_SCALARS; k++) value[k] = NAN;
    if (wanted[TL_SUBJECT_solid]) TL_TRY(scalars_solid(g, value));
    if (wanted[TL_SUBJECT_coordination]) TL_TRY(scalars_coordination(g, value));
    if (wanted[TL_SUBJECT_fabric]) scalars_fabric(g, value);
    if (wanted[TL_SUBJECT_forces]) scalars_forces(g, value);
    if (wanted[TL_SUBJECT_runout]) TL_TRY(scalars_runout(g, value));
    if (wanted[TL_SUBJECT_walls]) scalars_walls(g, value);
    if (wanted[TL_SUBJECT_stress] || wanted[TL_SUBJECT_flow]) {
        tl_stress_measure(g, stress);
        scalars_stress(g, stress, value);
    }
    if (!wanted[TL_SUBJECT_temperature] && !wanted[TL_SUBJECT_flow]) return TALUS_OK;
    tl_motion_measure(g, &motion);
    tl_copy3(motion.mean, value + TL_velocity_x);
    value[TL_temperature] = motion.temperature;
    value[TL_temperature_shear] = motion.about_flow;
    value[TL_shear_rate] = motion.shear_rate;
    if (!wanted[TL_SUBJECT_flow]) return TALUS_OK;
    const tl_invariants v = tl_tensor_invariants(g->m->dim, stress);
    value[TL_bulk_friction] = scalars_ratio(v.tau, v.p);
    value[TL_inertial_number] = tl_inertial_number(&motion, motion.shear_rate, v.p);
    return TALUS_OK;
}
