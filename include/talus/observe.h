// SPDX-License-Identifier: Apache-2.0
// Observables: what can be measured on grains and contacts, at one moment and over a recording.
// Every definition, with its formula, is in docs/guide/analyse.md.
//
// Grains are the bodies that move freely; all others are obstacles. Stresses are positive in
// compression. In 2D volumes are areas, and stresses have the unit N/m.
#ifndef TALUS_OBSERVE_H
#define TALUS_OBSERVE_H
#include "talus/record.h"
TALUS_EXTERN_C_BEGIN

/// A moment of a run, from a recording's frame or from a world.
typedef struct talus_moment {
    int32_t dim;
    double time, h; ///< h: length of the step the contacts are of; 0: there was none [s]
    double gravity[3], period[3];
    talus_body_view bodies; ///< with `centre`
    talus_contact_view contacts;
    const talus_shape_def *shape;
    int32_t shapes;
    const talus_material_def *material;
    int32_t materials;
    const talus_mass *mass; ///< of the shapes at density 1, infinite for unbounded ones and meshes;
                            ///< NULL: not worked out
    const double *friction; ///< between materials, materials × materials; NULL: the geometric mean
    talus_sand_frame sand;  ///< of recordings; of a world: none
    double sand_cell;       ///< edge of a cell of its grid [m]; 0: there is no sand
    double sand_density;    ///< of its grains
    talus_rod_view rods;    ///< elastic rods
} talus_moment;

/// The rod that an item of contacts which is no body is a segment of, and which of its segments.
TALUS_API int32_t talus_rod_of_item(const talus_rod_view *rods, int32_t item, int32_t *segment);

/// Gets moments, and owns what they point to: a moment is valid until the next is read.
typedef struct talus_moments talus_moments;
TALUS_API talus_status talus_moments_create(talus_context *ctx,
                                            talus_moments **out) TALUS_MUST_CHECK;
TALUS_API void talus_moments_destroy(talus_moments *m); ///< NULL is allowed
TALUS_API talus_status talus_moments_read(talus_moments *m, talus_playback *p, int64_t frame,
                                          talus_moment *out) TALUS_MUST_CHECK;
/// Likewise of a world as it is; `h` [s] is that of its last step (talus_ledger), 0 before it.
TALUS_API talus_status talus_moments_world(talus_moments *m, const talus_world *w, double h,
                                           talus_moment *out) TALUS_MUST_CHECK;

/// The box around the grains; nothing is known without grains. `front` is that of their centres
/// without the outermost hundredth on each side, since a single grain can roll far.
typedef struct talus_extent {
    int32_t bodies;
    double low[3], high[3];
    double front_low[3], front_high[3];
} talus_extent;
TALUS_API talus_status talus_moment_extent(talus_context *ctx, const talus_moment *m,
                                           talus_extent *out) TALUS_MUST_CHECK;

/// A subject that can be asked for by name; what is pointed to is static.
typedef struct talus_subject {
    const char *name;  ///< "stress"
    const char *title; ///< "Stress"
    const char *text;  ///< what it tells, in a line
} talus_subject;
TALUS_API bool talus_subject_at(int32_t index, talus_subject *out); ///< false past the end

/// A number that a moment has; what is pointed to is static.
typedef struct talus_scalar {
    const char *name; ///< "pressure"
    const char *unit; ///< "Pa", … or ""
    const char *text; ///< one line
    const char *subject;
} talus_scalar;
/// False past the end. In 2D those about z are left out.
TALUS_API bool talus_scalar_at(int32_t dim, int32_t index, talus_scalar *out);

/// Where it is measured, and along what.
typedef struct talus_region {
    double low[3], high[3]; ///< box [m]; NaN: the side of the box around the grains, at each moment
                            ///< anew; along periodic axes NaN on both sides is the whole cell
    int32_t up;             ///< axis 0, 1, 2 of heights; −1: against gravity (none: the last)
} talus_region;
TALUS_API talus_region talus_region_default(void); ///< NaN, −1

/// Measures chosen scalars of a world, step after step.
typedef struct talus_observer talus_observer;
/// `name`: scalars, or subjects for all scalars of theirs. An unknown one is an error that names
/// the nearest known. `region` may be NULL.
TALUS_API talus_status talus_observer_create(talus_context *ctx, int32_t dim,
                                             const char *const *name, int32_t count,
                                             const talus_region *region,
                                             talus_observer **out) TALUS_MUST_CHECK;
TALUS_API void talus_observer_destroy(talus_observer *o); ///< NULL is allowed
/// What is measured, in order, without repetition; false past the end.
TALUS_API bool talus_observer_at(const talus_observer *o, int32_t index, talus_scalar *out);
/// One number for each; NaN where there is none (a mean over nothing).
TALUS_API talus_status talus_observer_measure(talus_observer *o, const talus_moment *m,
                                              double *out) TALUS_MUST_CHECK;

/// How to analyse a recording; begin with talus_analyse_default().
typedef struct talus_analyse_def {
    const char *const *what; ///< names of subjects
    int32_t what_count;      ///< 0: all that the recording has data for
    double from, until;      ///< frames with times in between, both included [s]
    int64_t every;           ///< of these each so many, from the last one backwards; >= 1
    int64_t average; ///< profiles, fields and distributions are means over this many of the last
                     ///< frames; >= 1
    talus_region region;
    int32_t bins;       ///< of profiles and distributions, 1 … 100 000
    double width;       ///< w of coarse-graining, > 0 [m]; 0: mean diameter of the grains
    double cell;        ///< edge of the cells of fields and deposits, > 0 [m]; 0: the same
    double range;       ///< of the pair correlation, > 0 [m]; 0: five mean diameters
    int32_t plane_axis; ///< discharge: axis 0, 1, 2 of the plane; −1: there is none
    double plane_level; ///< and where it is [m]
    bool plane_up;      ///< what passes towards larger coordinates counts as positive
    const char *wall;   ///< walls: only the obstacle of this name or number; NULL: all
    int64_t cells;      ///< most cells of a field
} talus_analyse_def;
TALUS_API talus_analyse_def talus_analyse_default(void);

/// One table of results: `columns` columns of `rows` values (row-major), NaN where there is none.
/// Texts and values are owned by the list of tables.
typedef struct talus_table {
    const char *name;  ///< "stress": a word, without blanks
    const char *title; ///< "Stress of the grains"
    const char *text;  ///< what it shows and how it was found, in some sentences
    int32_t columns;
    const char *const *column; ///< "time", …
    const char *const *unit;   ///< "s", … or ""
    int64_t rows;
    const double *value;
    const char *plot; ///< "line", "bars", "points" or "" (do not plot): column 0 is the abscissa
} talus_table;

typedef struct talus_tables talus_tables; ///< opaque: a list of tables

/// Measure what is asked for over a recording. A subject that is asked for by name and cannot be
/// measured (no contacts were recorded, no plane is given) is an error.
TALUS_API talus_status talus_analyse(talus_playback *p, const talus_analyse_def *def,
                                     talus_tables **out) TALUS_MUST_CHECK;
/// False past the end.
TALUS_API bool talus_tables_at(const talus_tables *t, int32_t index, talus_table *out);
TALUS_API void talus_tables_destroy(talus_tables *t); ///< NULL is allowed

TALUS_EXTERN_C_END
#endif // TALUS_OBSERVE_H
