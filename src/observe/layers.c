// SPDX-License-Identifier: Apache-2.0
// Layers across the up axis: of every grain the part that is inside a layer, of every contact the
// part of its branch that is.
#include "base/compiler.h"
#include "base/vec3.h"
#include "observe/analysis.h"

static double layers_thickness(const tl_analysis *a) {
    const tl_grains *g = &a->fixed;
    return (g->box.high[g->up] - g->box.low[g->up]) / a->def.bins;
}

// The layer number k, counted on over the ends of a periodic cell; −1: outside.
static int32_t layers_index(const tl_analysis *a, int64_t k) {
    const int32_t n = a->def.bins;
    if (a->fixed.box.whole[a->fixed.up]) return (int32_t)(((k % n) + n) % n);
    return k >= 0 && k < n ? (int32_t)k : -1;
}

static void layers_grain(const tl_analysis *a, int32_t grain, const double at[3], tl_layer *layer) {
    const tl_grains *g = &a->fixed;
    const double t = layers_thickness(a), reach = tl_grain_shape_of(g, grain)->reach;
    const double *v = tl_grain_velocity(g, grain), first = g->box.low[g->up];
    const double density = tl_grain_mass(g, grain) / tl_grain_shape_of(g, grain)->volume;
    double low[3], high[3];
    tl_box_sides(&g->box, low, high);
    const int64_t last = (int64_t)floor((at[g->up] + reach - first) / t);
    for (int64_t k = (int64_t)floor((at[g->up] - reach - first) / t); k <= last; k++) {
        const int32_t index = layers_index(a, k);
        if (index < 0) continue;
        low[g->up] = first + t * (double)k;
        high[g->up] = first + t * (double)(k + 1);
        tl_layer *to = layer + index;
        const double volume = tl_grain_volume(g, grain, at, low, high), mass = density * volume;
        to->volume += volume;
        to->mass += mass;
        tl_axpy3(to->momentum, mass, v, to->momentum);
        to->energy += mass * tl_dot3(v, v);
    }
}

static void layers_link(const tl_analysis *a, const tl_link *link, const double x[3],
                        tl_layer *layer) {
    const tl_grains *g = &a->fixed;
    const double t = layers_thickness(a), first = g->box.low[g->up], l = link->l[g->up];
    double from, to;
    if (!tl_clip_line(&g->box, x, link->l, &from, &to)) return;
    const double begin = x[g->up] + from * l, end = x[g->up] + to * l;
    const int64_t last = (int64_t)floor((TL_MAX(begin, end) - first) / t);
    for (int64_t k = (int64_t)floor((TL_MIN(begin, end) - first) / t); k <= last; k++) {
        const int32_t index = layers_index(a, k);
        double s0 = from, s1 = to;
        if (index < 0) continue;
        if (fabs(l) > 0.0) {
            const double p = (first + t * (double)k - x[g->up]) / l, q = p + t / l;
            s0 = TL_MAX(s0, TL_MIN(p, q));
            s1 = TL_MIN(s1, TL_MAX(p, q));
        }
        if (!(s1 > s0)) continue;
        for (int e = 0; e < 9; e++)
            layer[index].stress[e] -= (s1 - s0) * link->l[e / 3] * link->force[e % 3];
    }
}

talus_status tl_layers_add(tl_analysis *a, tl_layer *layer) {
    tl_grains *g = &a->fixed;
    double image[TL_BOX_IMAGES][3];
    TL_TRY(tl_grains_sample(g));
    for (int32_t i = 0; i < g->count; i++) {
        const double *x = g->x + 3 * (int64_t)i;
        const int images = tl_box_images(&g->box, x, tl_grain_shape_of(g, i)->reach, image);
        for (int n = 0; n < images; n++) layers_grain(a, i, image[n], layer);
    }
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        if (!tl_link_get(g, i, &link)) continue;
        const int images = tl_box_images(&g->box, link.x, tl_norm3(link.l), image);
        for (int n = 0; n < images; n++) layers_link(a, &link, image[n], layer);
    }
    return TALUS_OK;
}

static void layers_velocity(const tl_layer *layer, double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = layer->mass > 0.0 ? layer->momentum[k] / layer->mass : NAN;
}

// Slope of the velocity across layer k from its neighbours, those that hold grains.
static double layers_shear(const tl_analysis *a, const tl_layer *layer, int32_t k) {
    const int32_t dim = a->info.dim, up = a->fixed.up;
    const bool below = k > 0 && layer[k - 1].mass > 0.0;
    const bool above = k + 1 < a->def.bins && layer[k + 1].mass > 0.0;
    double low[3], high[3], square = 0.0;
    TL_ASSUME(dim == 2 || dim == 3);
    if (!below && !above) return NAN;
    layers_velocity(layer + k - below, low);
    layers_velocity(layer + k + above, high);
    for (int e = 0; e < dim; e++)
        if (e != up) square += (high[e] - low[e]) * (high[e] - low[e]);
    return sqrt(square) / ((below + above) * layers_thickness(a));
}

void tl_layers_get(const tl_analysis *a, const tl_layer *layer, int32_t k, tl_layer_info *out) {
    const tl_grains *g = &a->fixed;
    const tl_layer *from = layer + k;
    const int32_t dim = a->info.dim;
    const double t = layers_thickness(a);
    const double volume = g->box.volume / a->def.bins * (double)a->averages;
    tl_motion motion;
    *out = (tl_layer_info){.height = g->box.low[g->up] + (k + 0.5) * t,
                           .solid = from->volume / volume,
                           .temperature = NAN,
                           .shear_rate = NAN};
    layers_velocity(from, out->velocity);
    for (int e = 0; e < 9; e++) out->stress[e] = from->stress[e] / volume;
    out->invariants = tl_tensor_invariants(dim, out->stress);
    out->friction = out->invariants.p > 0.0 ? out->invariants.tau / out->invariants.p : NAN;
    if (from->mass > 0.0) {
        const double square = from->energy / from->mass - tl_dot3(out->velocity, out->velocity);
        out->temperature = TL_MAX(square, 0.0) / dim;
        out->shear_rate = layers_shear(a, layer, k);
    }
    motion = (tl_motion){.mass = from->mass, .volume = from->volume, .diameter = g->diameter};
    out->inertial = tl_inertial_number(&motion, out->shear_rate, out->invariants.p);
}

typedef struct layers_state {
    tl_layer *layer;
} layers_state;

static talus_status layers_begin(tl_analysis *a, void *state) {
    return TL_ALLOC(a->ctx, a->def.bins, &((layers_state *)state)->layer);
}

static talus_status layers_frame(tl_analysis *a, void *state) {
    return a->averaged ? tl_layers_add(a, ((layers_state *)state)->layer) : TALUS_OK;
}

static void layers_clear(tl_analysis *a, void *state) {
    tl_free(a->ctx, ((layers_state *)state)->layer);
}

// A table over height: one of `kinds` below.
typedef struct layers_kind {
    const char *name, *title, *text, *plot;
    int first, last; // of the columns below
} layers_kind;

enum { LAYERS_COLUMNS = 17 };

static void layers_row(const tl_layer_info *i, double value[LAYERS_COLUMNS]) {
    static const int place[6] = {0, 4, 8, 1, 2, 5};
    int k = 0;
    value[k++] = i->solid;
    for (int e = 0; e < 3; e++) value[k++] = i->velocity[e];
    value[k++] = i->temperature;
    for (int e = 0; e < 6; e++) {
        const int row = place[e] / 3, column = place[e] % 3;
        value[k++] = 0.5 * (i->stress[place[e]] + i->stress[3 * column + row]);
    }
    value[k++] = i->invariants.p;
    value[k++] = i->invariants.q;
    value[k++] = i->shear_rate;
    value[k++] = i->inertial;
    value[k++] = i->friction;
    value[k++] = i->invariants.p > 0.0 ? i->invariants.q / i->invariants.p : NAN;
}

static bool layers_about_z(int column) {
    return column == 3 || column == 7 || column == 9 || column == 10;
}

static talus_status layers_table(tl_analysis *a, const tl_layer *layer, const layers_kind *kind) {
    const int32_t dim = a->info.dim;
    const char *const stress = tl_unit_stress(dim);
    const char *const column[LAYERS_COLUMNS][2] = {
        {"solid_fraction", ""}, {"velocity_x", "m/s"},    {"velocity_y", "m/s"},
        {"velocity_z", "m/s"},  {"temperature", "m2/s2"}, {"stress_xx", stress},
        {"stress_yy", stress},  {"stress_zz", stress},    {"stress_xy", stress},
        {"stress_xz", stress},  {"stress_yz", stress},    {"pressure", stress},
        {"deviator", stress},   {"shear_rate", "1/s"},    {"inertial_number", ""},
        {"bulk_friction", ""},  {"stress_ratio", ""}};
    tl_sheet *t = NULL;
    TL_TRY(tl_sheets_add(a->out, kind->name, kind->title, kind->text, kind->plot, &t));
    TL_TRY(tl_sheet_column(t, tl_axis_name(a->fixed.up), "m"));
    for (int c = kind->first; c <= kind->last; c++)
        if (dim == 3 || !layers_about_z(c)) TL_TRY(tl_sheet_column(t, column[c][0], column[c][1]));
    for (int32_t k = 0; k < a->def.bins; k++) {
        double *row, value[LAYERS_COLUMNS];
        tl_layer_info info;
        int at = 1;
        tl_layers_get(a, layer, k, &info);
        layers_row(&info, value);
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = info.height;
        for (int c = kind->first; c <= kind->last; c++)
            if (dim == 3 || !layers_about_z(c)) row[at++] = value[c];
    }
    return TALUS_OK;
}

static talus_status layers_end(tl_analysis *a, void *state) {
    static const layers_kind kinds[] = {
        {"profile", "Solid fraction over height",
         "Share of each layer of the region that grains fill.", "line", 0, 0},
        {"profile_velocity", "Velocity over height",
         "Mean velocity in each layer, by the mass that is in it.", "line", 1, 3},
        {"profile_temperature", "Granular temperature over height",
         "Mean square of the velocities about the mean of their layer, over the dimension.", "line",
         4, 4},
        {"profile_stress", "Stress over height",
         "Love-Weber stress in each layer, positive in compression; p and q.", "line", 5, 12},
        {"profile_flow", "Flow over height",
         "Shear rate from the velocities of the layers, inertial number, bulk friction, q/p.", "",
         13, 16}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (a->info.contacts || k < 3)
            TL_TRY(layers_table(a, ((layers_state *)state)->layer, &kinds[k]));
    return TALUS_OK;
}

const tl_task tl_task_profile = {.subject = TL_SUBJECT_profile,
                                 .size = sizeof(layers_state),
                                 .begin = layers_begin,
                                 .frame = layers_frame,
                                 .end = layers_end,
                                 .clear = layers_clear};

// μ over I: one point per layer that carries pressure and shears.
static talus_status layers_flow_end(tl_analysis *a, void *state) {
    const tl_layer *layer = ((layers_state *)state)->layer;
    tl_sheet *t = NULL;
    TL_TRY(tl_sheets_add(a->out, "flow_law", "Friction over inertial number",
                         "Bulk friction mu = sqrt(J2)/p and solid fraction of each layer over its "
                         "inertial number I.",
                         "points", &t));
    static const char *const column[][2] = {
        {"inertial_number", ""}, {"bulk_friction", ""}, {"solid_fraction", ""}};
    TL_TRY(tl_sheet_columns(t, 3, column));
    for (int32_t k = 0; k < a->def.bins; k++) {
        tl_layer_info info;
        double *row;
        tl_layers_get(a, layer, k, &info);
        if (!isfinite(info.inertial) || !isfinite(info.friction)) continue;
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = info.inertial, row[1] = info.friction, row[2] = info.solid;
    }
    return TALUS_OK;
}

const tl_task tl_task_flow = {.subject = TL_SUBJECT_flow,
                              .contacts = true,
                              .size = sizeof(layers_state),
                              .begin = layers_begin,
                              .frame = layers_frame,
                              .end = layers_flow_end,
                              .clear = layers_clear};
