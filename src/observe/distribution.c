// SPDX-License-Identifier: Apache-2.0
// Distributions: neighbours, sizes, directions of contacts, forces. Densities have the integral 1;
// directions are compared with what all directions alike would give.
#include "base/compiler.h"
#include "base/vec3.h"
#include "observe/analysis.h"

static const double distribution_pi = 3.14159265358979323846;

typedef struct distribution_state {
    tl_list value, second;
    double *bin; // def.bins
} distribution_state;

static talus_status distribution_begin(tl_analysis *a, void *state) {
    return TL_ALLOC(a->ctx, a->def.bins, &((distribution_state *)state)->bin);
}

static void distribution_clear(tl_analysis *a, void *state) {
    distribution_state *s = state;
    tl_list_clear(a->ctx, &s->value);
    tl_list_clear(a->ctx, &s->second);
    tl_free(a->ctx, s->bin);
}

static double distribution_most(const tl_list *n) {
    double most = 0.0;
    for (int64_t i = 0; i < n->count; i++) most = TL_MAX(most, n->value[i]);
    return most;
}

// A density over `bins` parts of [0, high].
static talus_status distribution_table(tl_analysis *a, const distribution_state *s,
                                       const tl_list *n, double high, tl_sheet *t) {
    const int32_t bins = a->def.bins;
    TL_TRY(tl_sheet_column(t, "density", ""));
    TL_TRY(tl_sheet_column(t, "contacts", ""));
    if (n->count == 0) return TALUS_OK;
    tl_list_count(n, NULL, 0.0, high, bins, s->bin);
    for (int32_t k = 0; k < bins; k++) {
        double *row;
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = (k + 0.5) * high / bins;
        row[1] = s->bin[k] / (double)n->count * bins / high;
        row[2] = s->bin[k] / (double)a->averages;
    }
    return TALUS_OK;
}

// Neighbours per grain.

static talus_status neighbours_frame(tl_analysis *a, void *state) {
    distribution_state *s = state;
    if (!a->averaged) return TALUS_OK;
    TL_TRY(tl_grains_neighbours(&a->fixed));
    for (int32_t i = 0; i < a->fixed.count; i++)
        if (tl_grain_inside(&a->fixed, i))
            TL_TRY(tl_list_add(a->ctx, &s->value, a->fixed.neighbours[i]));
    return TALUS_OK;
}

static talus_status neighbours_end(tl_analysis *a, void *state) {
    const distribution_state *s = state;
    const int32_t most = (int32_t)distribution_most(&s->value);
    static const char *const column[][2] = {{"neighbours", ""}, {"share", ""}};
    tl_sheet *t = NULL;
    TL_TRY(tl_sheets_add(a->out, "coordination_shares", "Neighbours of grains",
                         "Share of the grains that are pressed by so many bodies.", "bars", &t));
    TL_TRY(tl_sheet_columns(t, 2, column));
    for (int32_t k = 0; k <= most && s->value.count > 0; k++) {
        double *row, count = 0.0;
        for (int64_t i = 0; i < s->value.count; i++) count += (int32_t)s->value.value[i] == k;
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = k, row[1] = count / (double)s->value.count;
    }
    return TALUS_OK;
}

const tl_task tl_task_neighbours = {.subject = TL_SUBJECT_coordination,
                                    .contacts = true,
                                    .size = sizeof(distribution_state),
                                    .begin = distribution_begin,
                                    .frame = neighbours_frame,
                                    .end = neighbours_end,
                                    .clear = distribution_clear};

// Sizes, of the last frame.

static talus_status sizes_frame(tl_analysis *a, void *state) {
    distribution_state *s = state;
    const tl_grains *g = &a->fixed;
    if (!a->averaged || a->frame + 1 < a->frames) return TALUS_OK;
    for (int32_t i = 0; i < g->count; i++) {
        if (!tl_grain_inside(g, i)) continue;
        TL_TRY(tl_list_add(a->ctx, &s->value, 2.0 * tl_grain_shape_of(g, i)->radius));
        TL_TRY(tl_list_add(a->ctx, &s->second, tl_grain_mass(g, i)));
    }
    return TALUS_OK;
}

static talus_status sizes_end(tl_analysis *a, void *state) {
    distribution_state *s = state;
    static const char *const column[][2] = {
        {"diameter", "m"}, {"number", ""}, {"mass", ""}, {"number_below", ""}, {"mass_below", ""}};
    const double high = distribution_most(&s->value);
    double low = high, total = 0.0, number_below = 0.0, mass_below = 0.0, *mass = NULL;
    tl_sheet *t = NULL;
    TL_TRY(
        tl_sheets_add(a->out, "sizes", "Sizes of grains",
                      "Shares of number and mass of grains by the diameter of the ball (2D: disk) "
                      "of the same volume; below: up to the upper end of the bin.",
                      "bars", &t));
    TL_TRY(tl_sheet_columns(t, 5, column));
    if (s->value.count == 0) return TALUS_OK;
    for (int64_t i = 0; i < s->value.count; i++) {
        low = TL_MIN(low, s->value.value[i]);
        total += s->second.value[i];
    }
    // grains of one size get one bin
    const bool one = high - low <= 1e-9 * high;
    const int32_t bins = one ? 1 : a->def.bins;
    TL_TRY(TL_ALLOC(a->ctx, bins, &mass));
    tl_list_count(&s->value, NULL, low, one ? 2.0 * high : high, bins, s->bin);
    tl_list_count(&s->value, s->second.value, low, one ? 2.0 * high : high, bins, mass);
    talus_status status = TALUS_OK;
    for (int32_t k = 0; k < bins && status == TALUS_OK; k++) {
        double *row = NULL;
        status = tl_sheet_row(t, &row);
        if (status != TALUS_OK) break;
        row[0] = one ? high : low + (k + 0.5) * (high - low) / bins;
        row[1] = s->bin[k] / (double)s->value.count;
        row[2] = mass[k] / total;
        row[3] = number_below += row[1];
        row[4] = mass_below += row[2];
    }
    tl_free(a->ctx, mass);
    return status;
}

const tl_task tl_task_sizes = {.subject = TL_SUBJECT_sizes,
                               .size = sizeof(distribution_state),
                               .begin = distribution_begin,
                               .frame = sizes_frame,
                               .end = sizes_end,
                               .clear = distribution_clear};

// Directions of contacts between grains: in 2D their angle to x, from 0 to π since n and −n are the
// same contact; in 3D their angle to the up axis, from 0 to π/2.

static talus_status rose_frame(tl_analysis *a, void *state) {
    distribution_state *s = state;
    const tl_grains *g = &a->fixed;
    if (!a->averaged) return TALUS_OK;
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        if (!tl_link_get(g, i, &link) || !link.active || link.to < 0 || !tl_link_inside(g, &link))
            continue;
        double angle = acos(TL_MIN(1.0, fabs(link.normal[g->up])));
        if (a->info.dim == 2) {
            angle = atan2(link.normal[1], link.normal[0]);
            if (angle < 0.0) angle += distribution_pi;
            if (angle >= distribution_pi) angle = 0.0;
        }
        TL_TRY(tl_list_add(a->ctx, &s->value, angle));
    }
    return TALUS_OK;
}

static talus_status rose_end(tl_analysis *a, void *state) {
    const distribution_state *s = state;
    const bool flat = a->info.dim == 2;
    const int32_t bins = a->def.bins;
    const double high = flat ? distribution_pi : 0.5 * distribution_pi;
    const char *const column[][2] = {{flat ? "angle_to_x" : "angle_to_up", "rad"}, {"density", ""}};
    tl_sheet *t = NULL;
    TL_TRY(tl_sheets_add(a->out, "fabric_directions", "Directions of contacts",
                         "How many contacts of grains point into a direction, over how many would "
                         "if all directions were alike.",
                         "line", &t));
    TL_TRY(tl_sheet_columns(t, 2, column));
    if (s->value.count == 0) return TALUS_OK;
    tl_list_count(&s->value, NULL, 0.0, high, bins, s->bin);
    for (int32_t k = 0; k < bins; k++) {
        const double from = k * high / bins, to = (k + 1) * high / bins;
        const double share = flat ? 1.0 / bins : cos(from) - cos(to);
        double *row;
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = 0.5 * (from + to);
        row[1] = s->bin[k] / (double)s->value.count / share;
    }
    return TALUS_OK;
}

const tl_task tl_task_rose = {.subject = TL_SUBJECT_fabric,
                              .contacts = true,
                              .size = sizeof(distribution_state),
                              .begin = distribution_begin,
                              .frame = rose_frame,
                              .end = rose_end,
                              .clear = distribution_clear};

// Normal forces over their mean, and mobilised friction.

static talus_status forces_frame(tl_analysis *a, void *state) {
    distribution_state *s = state;
    const tl_grains *g = &a->fixed;
    double sum = 0.0, count = 0.0;
    if (!a->averaged) return TALUS_OK;
    for (int pass = 0; pass < 2; pass++) { // the first finds the mean
        for (int32_t i = 0; i < g->m->contacts.count; i++) {
            tl_link link;
            if (!tl_link_get(g, i, &link) || !link.active || !tl_link_inside(g, &link)) continue;
            if (pass == 0) {
                sum += link.fn, count += 1.0;
                continue;
            }
            TL_TRY(tl_list_add(a->ctx, &s->value, link.fn / (sum / count)));
            if (link.mu > 0.0)
                TL_TRY(tl_list_add(a->ctx, &s->second, link.ft / (link.mu * link.fn)));
        }
    }
    return TALUS_OK;
}

static talus_status forces_end(tl_analysis *a, void *state) {
    const distribution_state *s = state;
    const double force = distribution_most(&s->value), friction = distribution_most(&s->second);
    tl_sheet *t = NULL;
    TL_TRY(tl_sheets_add(a->out, "forces_normal", "Normal forces",
                         "Density of f_n / <f_n> over pressing contacts, with the mean of each "
                         "frame.",
                         "line", &t));
    TL_TRY(tl_sheet_column(t, "force_over_mean", ""));
    TL_TRY(distribution_table(a, s, &s->value, force, t));
    TL_TRY(tl_sheets_add(a->out, "forces_friction", "Mobilised friction",
                         "Density of |f_t| / (mu f_n) over pressing contacts with friction; 1: "
                         "sliding.",
                         "line", &t));
    TL_TRY(tl_sheet_column(t, "mobilised", ""));
    // Solvers leave the edge of the cone by rounding: that is still 1.
    return distribution_table(a, s, &s->second, friction > 1.0 + 1e-3 ? friction : 1.0, t);
}

const tl_task tl_task_forces = {.subject = TL_SUBJECT_forces,
                                .contacts = true,
                                .size = sizeof(distribution_state),
                                .begin = distribution_begin,
                                .frame = forces_frame,
                                .end = forces_end,
                                .clear = distribution_clear};
