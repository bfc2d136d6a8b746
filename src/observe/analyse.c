// SPDX-License-Identifier: Apache-2.0
// A recording from its first to its last chosen frame: scalars of every frame go into tables here,
// everything else is a task.
#include "base/compiler.h"
#include "observe/analysis.h"
#include "record/playback_impl.h"
#include <math.h>
#include <string.h>

talus_analyse_def talus_analyse_default(void) {
    return (talus_analyse_def){.from = -INFINITY,
                               .until = INFINITY,
                               .every = 1,
                               .average = 1,
                               .region = talus_region_default(),
                               .bins = 40,
                               .plane_axis = -1,
                               .cells = 1000000};
}

// Tables of scalars over time; columns of one table have one unit, so that they can be plotted.
typedef struct series_kind {
    const char *name, *title, *text;
    int subject, first, last; // scalars
    const char *plot;
} series_kind;

static const series_kind series_kinds[] = {
    {"solid", "Solid fraction", "Volume of the grains inside the region over its volume.",
     TL_SUBJECT_solid, TL_solid_fraction, TL_solid_fraction, "line"},
    {"solid_volume", "Volumes", "Grains in the region, their volume, and that of the region.",
     TL_SUBJECT_solid, TL_grains, TL_region_volume, ""},
    {"coordination", "Coordination number",
     "Bodies that press on a grain, on average; and without rattlers, which are pressed by less "
     "than two.",
     TL_SUBJECT_coordination, TL_coordination, TL_coordination_backbone, "line"},
    {"rattlers", "Rattlers and sliding contacts",
     "Share of the grains that are rattlers, and of the pressing contacts that slide.",
     TL_SUBJECT_coordination, TL_rattlers, TL_sliding, "line"},
    {"fabric", "Fabric tensor", "Mean of n n over the pressing contacts between grains.",
     TL_SUBJECT_fabric, TL_fabric_xx, TL_fabric_yz, "line"},
    {"anisotropy", "Anisotropy of contacts", "Of the directions of contacts; 0: all alike.",
     TL_SUBJECT_fabric, TL_anisotropy, TL_anisotropy, "line"},
    {"stress", "Stress", "Love-Weber stress, positive in compression; p and q.", TL_SUBJECT_stress,
     TL_stress_xx, TL_deviator, "line"},
    {"stress_ratio", "Stress ratio", "q/p.", TL_SUBJECT_stress, TL_stress_ratio, TL_stress_ratio,
     "line"},
    {"forces", "Normal forces", "Mean and largest over pressing contacts.", TL_SUBJECT_forces,
     TL_force_mean, TL_force_most, "line"},
    {"mobilised", "Mobilised friction", "Mean of |f_t| / (mu f_n) over pressing contacts.",
     TL_SUBJECT_forces, TL_mobilised, TL_mobilised, "line"},
    {"velocity", "Mean velocity", "Of the grains in the region, by mass.", TL_SUBJECT_temperature,
     TL_velocity_x, TL_velocity_z, "line"},
    {"temperature", "Granular temperature",
     "Mean square of velocities about their mean, and about the linear flow field, over the "
     "dimension.",
     TL_SUBJECT_temperature, TL_temperature, TL_temperature_shear, "line"},
    {"shear", "Shear rate", "Of the linear flow field.", TL_SUBJECT_flow, TL_shear_rate,
     TL_shear_rate, "line"},
    {"flow", "Inertial number and bulk friction", "Of the region as a whole.", TL_SUBJECT_flow,
     TL_inertial_number, TL_bulk_friction, "line"},
    {"walls", "Force on all obstacles", "Of the grains, summed over all obstacles.",
     TL_SUBJECT_walls, TL_wall_force_x, TL_wall_force_z, "line"},
    {"runout", "Extent", "Box around the grains.", TL_SUBJECT_runout, TL_low_x, TL_high_z, "line"},
    {"front", "Front", "Box of the centres without the outermost 1 % on each side.",
     TL_SUBJECT_runout, TL_front_low_x, TL_front_high_z, "line"},
    {"centre", "Centre of mass", "Of the grains.", TL_SUBJECT_runout, TL_centre_x, TL_centre_z,
     "line"},
};

enum { SERIES = sizeof series_kinds / sizeof *series_kinds };

// Tasks in the order of subjects.
static const tl_task *const tasks[] = {
    &tl_task_profile, &tl_task_field,  &tl_task_neighbours, &tl_task_sizes,   &tl_task_rose,
    &tl_task_forces,  &tl_task_flow,   &tl_task_walls,      &tl_task_deposit, &tl_task_discharge,
    &tl_task_pairs,   &tl_task_energy, &tl_task_sand,       &tl_task_rods};

enum { TASKS = sizeof tasks / sizeof *tasks };

typedef struct analyse_run {
    tl_analysis a;
    tl_sheet *series[SERIES];
    void *state[TASKS];
    int64_t *frame; // chosen ones
} analyse_run;

// Do scalars or tasks of a subject need contacts?
static bool analyse_needs_contacts(int subject) {
    static const bool needs[TL_SUBJECTS] = {
        [TL_SUBJECT_coordination] = true, [TL_SUBJECT_fabric] = true, [TL_SUBJECT_stress] = true,
        [TL_SUBJECT_forces] = true,       [TL_SUBJECT_flow] = true,   [TL_SUBJECT_walls] = true};
    return needs[subject];
}

static talus_status analyse_choose(tl_analysis *a) {
    const talus_analyse_def *def = &a->def;
    for (int32_t i = 0; i < def->what_count; i++) {
        const int subject = tl_subject_find(def->what[i]);
        const char *nearest = NULL;
        size_t distance = SIZE_MAX;
        talus_subject s;
        for (int32_t k = 0; talus_subject_at(k, &s); k++)
            if (talus_name_nearer(def->what[i], s.name, &distance)) nearest = s.name;
        TL_REQUIRE(a->ctx, subject >= 0, TALUS_ERR_UNKNOWN, "there is no subject '%s'%s%s%s",
                   def->what[i], nearest ? "; did you mean '" : "", nearest ? nearest : "",
                   nearest ? "'?" : "");
        TL_REQUIRE(a->ctx, a->info.contacts || !analyse_needs_contacts(subject), TALUS_ERR_ARG,
                   "%s: the recording has no contacts (output: {contacts: yes} in the scene "
                   "records them)",
                   def->what[i]);
        TL_REQUIRE(a->ctx, a->info.steps > 0 || subject != TL_SUBJECT_energy, TALUS_ERR_ARG,
                   "energy: the recording has no ledger (output: {ledger: yes} in the scene "
                   "records it)");
        TL_REQUIRE(a->ctx, a->info.sand || subject != TL_SUBJECT_sand, TALUS_ERR_ARG,
                   "sand: the recording has no sand as a continuum ('sand' in the scene)");
        TL_REQUIRE(a->ctx, a->info.rods > 0 || subject != TL_SUBJECT_rods, TALUS_ERR_ARG,
                   "rods: the recording has no rods ('rods' in the scene)");
        a->wanted[subject] = true;
    }
    for (int k = 0; k < TL_SUBJECTS && def->what_count == 0; k++)
        a->wanted[k] = (a->info.contacts || !analyse_needs_contacts(k)) &&
                       (k != TL_SUBJECT_energy || a->info.steps > 0) &&
                       (k != TL_SUBJECT_sand || a->info.sand) &&
                       (k != TL_SUBJECT_rods || a->info.rods > 0) &&
                       (k != TL_SUBJECT_discharge || def->plane_axis >= 0);
    return TALUS_OK;
}

static talus_status analyse_check(tl_analysis *a) {
    const talus_analyse_def *d = &a->def;
    TL_REQUIRE(a->ctx, d->what_count >= 0 && (d->what || d->what_count == 0), TALUS_ERR_ARG,
               "talus_analyse: what_count = %d needs as many names", (int)d->what_count);
    TL_REQUIRE(a->ctx, d->every >= 1 && d->average >= 1, TALUS_ERR_ARG,
               "talus_analyse: every = %lld and average = %lld must be 1 or more",
               (long long)d->every, (long long)d->average);
    TL_REQUIRE(a->ctx, d->bins >= 1 && d->bins <= 100000, TALUS_ERR_ARG,
               "talus_analyse: bins = %d must be from 1 to 100000", (int)d->bins);
    TL_REQUIRE(a->ctx, !(d->width < 0.0) && !(d->cell < 0.0) && !(d->range < 0.0) && d->cells >= 1,
               TALUS_ERR_ARG, "talus_analyse: width, cell, range and cells must not be negative");
    TL_REQUIRE(a->ctx, a->info.frames > 0, TALUS_ERR_ARG, "the recording has no frames");
    return TALUS_OK;
}

// The frames inside [from, until], every so many, so that the last one is among them.
static talus_status analyse_frames(analyse_run *r) {
    tl_analysis *a = &r->a;
    int64_t first = -1, last = -1;
    double earliest = INFINITY, latest = -INFINITY;
    double *time = NULL;
    TL_TRY(TL_ALLOC(a->ctx, a->info.frames, &time));
    const talus_status read = talus_playback_times(a->playback, 0, a->info.frames, time, NULL);
    for (int64_t k = 0; k < a->info.frames && read == TALUS_OK; k++) {
        earliest = TL_MIN(earliest, time[k]);
        latest = TL_MAX(latest, time[k]);
        if (time[k] < a->def.from || time[k] > a->def.until) continue;
        if (first < 0) first = k;
        last = k;
    }
    tl_free(a->ctx, time);
    TL_TRY(read);
    TL_REQUIRE(a->ctx, first >= 0, TALUS_ERR_ARG,
               "no frame from %g s to %g s; the recording has frames from %g s to %g s",
               a->def.from, a->def.until, earliest, latest);
    a->frames = (last - first) / a->def.every + 1;
    TL_TRY(TL_ALLOC(a->ctx, a->frames, &r->frame));
    for (int64_t k = 0; k < a->frames; k++) r->frame[k] = last - (a->frames - 1 - k) * a->def.every;
    return TALUS_OK;
}

// The region as it is at the last frame, and sizes that follow from the grains there.
static talus_status analyse_fix(analyse_run *r) {
    tl_analysis *a = &r->a;
    TL_TRY(talus_moments_read(a->moments, a->playback, r->frame[a->frames - 1], &a->moment));
    TL_TRY(tl_grains_take(&a->fixed, &a->moment, &a->def.region, NULL));
    a->box = a->fixed.box;
    a->width = a->def.width > 0.0 ? a->def.width : a->fixed.diameter;
    a->cell = a->def.cell > 0.0 ? a->def.cell : a->width;
    return TALUS_OK;
}

static talus_status analyse_begin(analyse_run *r) {
    tl_analysis *a = &r->a;
    int task = 0, series = 0;
    for (int subject = 0; subject < TL_SUBJECTS; subject++) { // tables in the order of subjects
        for (; series < SERIES && series_kinds[series].subject == subject; series++) {
            const series_kind *kind = &series_kinds[series];
            if (!a->wanted[subject]) continue;
            TL_TRY(tl_sheets_add(a->out, kind->name, kind->title, kind->text, kind->plot,
                                 &r->series[series]));
            TL_TRY(tl_sheet_column(r->series[series], "time", "s"));
            for (int k = kind->first; k <= kind->last; k++) {
                talus_scalar s;
                if (tl_scalar_get(a->info.dim, k, &s))
                    TL_TRY(tl_sheet_column(r->series[series], s.name, s.unit));
            }
        }
        for (; task < TASKS && tasks[task]->subject == subject; task++) {
            if (!a->wanted[subject]) continue;
            TL_TRY(tl_alloc(a->ctx, 1, tasks[task]->size, &r->state[task]));
            if (tasks[task]->begin) TL_TRY(tasks[task]->begin(a, r->state[task]));
        }
    }
    return TALUS_OK;
}

static talus_status analyse_series(analyse_run *r) {
    tl_analysis *a = &r->a;
    double value[TL_SCALARS];
    TL_TRY(tl_scalars_measure(&a->grains, a->wanted, value));
    for (int s = 0; s < SERIES; s++) {
        double *row;
        int at = 1;
        if (!r->series[s]) continue;
        TL_TRY(tl_sheet_row(r->series[s], &row));
        row[0] = a->moment.time;
        for (int k = series_kinds[s].first; k <= series_kinds[s].last; k++) {
            talus_scalar scalar;
            if (tl_scalar_get(a->info.dim, k, &scalar)) row[at++] = value[k];
        }
    }
    return TALUS_OK;
}

static talus_status analyse_frame(analyse_run *r, int64_t k) {
    tl_analysis *a = &r->a;
    a->frame = k;
    TL_TRY(talus_playback_times(a->playback, r->frame[k], 1, NULL, &a->step));
    TL_TRY(talus_moments_read(a->moments, a->playback, r->frame[k], &a->moment));
    TL_TRY(tl_grains_take(&a->grains, &a->moment, &a->def.region, NULL));
    a->averaged = k >= a->frames - a->def.average;
    if (a->averaged) {
        TL_TRY(tl_grains_take(&a->fixed, &a->moment, &a->def.region, &a->box));
        a->averages++;
    }
    TL_TRY(analyse_series(r));
    for (int t = 0; t < TASKS; t++)
        if (r->state[t]) TL_TRY(tasks[t]->frame(a, r->state[t]));
    return TALUS_OK;
}

static void analyse_clear(analyse_run *r) {
    tl_analysis *a = &r->a;
    for (int t = 0; t < TASKS; t++) {
        if (!r->state[t]) continue;
        tasks[t]->clear(a, r->state[t]);
        tl_free(a->ctx, r->state[t]);
    }
    tl_grains_clear(&a->grains);
    tl_grains_clear(&a->fixed);
    talus_moments_destroy(a->moments);
    tl_free(a->ctx, r->frame);
}

talus_status talus_analyse(talus_playback *p, const talus_analyse_def *def, talus_tables **out) {
    if (!p || !def || !out) return TALUS_ERR_ARG;
    talus_status status = TALUS_OK;
    talus_context *ctx = p->ctx;
    analyse_run run = {.a = {.ctx = ctx, .playback = p, .def = *def}}, *r = &run;
    *out = NULL;
    r->a.info = talus_playback_get_info(p);
    tl_grains_init(&r->a.grains, ctx);
    tl_grains_init(&r->a.fixed, ctx);
    TL_GOTO(analyse_check(&r->a));
    TL_GOTO(analyse_choose(&r->a));
    TL_GOTO(tl_sheets_create(ctx, &r->a.out));
    TL_GOTO(talus_moments_create(ctx, &r->a.moments));
    TL_GOTO(analyse_frames(r));
    TL_GOTO(analyse_fix(r));
    TL_GOTO(analyse_begin(r));
    for (int64_t k = 0; k < r->a.frames; k++) TL_GOTO(analyse_frame(r, k));
    for (int t = 0; t < TASKS; t++)
        if (r->state[t] && tasks[t]->end) TL_GOTO(tasks[t]->end(&r->a, r->state[t]));
done:
    analyse_clear(r);
    if (status != TALUS_OK)
        talus_tables_destroy(r->a.out);
    else
        *out = r->a.out;
    return status;
}
