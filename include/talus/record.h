// SPDX-License-Identifier: Apache-2.0
// Recordings of runs: one HDF5 file with the scene's text, frames (bodies, contacts), the ledger of
// every step and checkpoints from which a run goes on bit for bit, and reading them back. Memory
// does not grow with the length of the run. The layout of the file is in docs/guide/record.md.
#ifndef TALUS_RECORD_H
#define TALUS_RECORD_H
#include "talus/world.h"
TALUS_EXTERN_C_BEGIN

/// One figure of a ledger, in the order of the table; what is pointed to is static.
typedef struct talus_ledger_field {
    const char *name; ///< of the dataset in a recording, of the column in a table: "momentum_x"
    const char *unit; ///< "J", "s", … or ""
    const char *text; ///< one line
    bool integer;
} talus_ledger_field;
TALUS_API bool talus_ledger_field_at(int32_t index,
                                     talus_ledger_field *out); ///< false past the end
/// The figure of that index; NaN past the end. Integers are exact up to 2^53.
TALUS_API double talus_ledger_value(const talus_ledger *ledger, int32_t index);

typedef struct talus_recording talus_recording; ///< opaque: a recording that is being written

/// How exactly frames are kept: X(name, text, what it is). Checkpoints are always exact.
#define TALUS_PRECISION_LIST(X)                                                                    \
    X(TALUS_PRECISION_DOUBLE, "double", "as computed")                                             \
    X(TALUS_PRECISION_SINGLE, "single", "24 bits of each number")                                  \
    X(TALUS_PRECISION_COMPACT, "compact",                                                          \
      "lengths to 1e-4 of the smallest body, directions to 2.5e-4, vectors to 1/2048")

typedef enum talus_precision {
#define TALUS_PRECISION_ENUM(name, text, what) name,
    TALUS_PRECISION_LIST(TALUS_PRECISION_ENUM)
#undef TALUS_PRECISION_ENUM
} talus_precision;

/// What a frame may leave out: X(name, text, what it is). Positions, and which bodies touch and
/// how, are always there; nodes of the grid of sand where anything about them is.
#define TALUS_FIELD_LIST(X)                                                                        \
    X(TALUS_FIELD_ORIENTATION, "orientation", "of bodies")                                         \
    X(TALUS_FIELD_VELOCITY, "velocity", "of bodies, particles of sand and nodes of rods")          \
    X(TALUS_FIELD_SPIN, "spin", "of bodies")                                                       \
    X(TALUS_FIELD_POINT, "point", "of contacts")                                                   \
    X(TALUS_FIELD_NORMAL, "normal", "of contacts")                                                 \
    X(TALUS_FIELD_GAP, "gap", "of contacts")                                                       \
    X(TALUS_FIELD_IMPULSE, "impulse", "of contacts")                                               \
    X(TALUS_FIELD_SLIP, "slip", "relative velocity at contacts")                                   \
    X(TALUS_FIELD_VOLUME, "volume", "of grain material in a particle of sand")                     \
    X(TALUS_FIELD_FRAME, "frame", "of a particle of sand: half axes of what it stands for")        \
    X(TALUS_FIELD_INERTIAL, "inertial", "inertial number of particles of sand")                    \
    X(TALUS_FIELD_PRESSURE, "pressure", "at particles of sand")                                    \
    X(TALUS_FIELD_GRID_FRACTION, "grid-fraction", "of grains in the space of a node of the grid")  \
    X(TALUS_FIELD_GRID_PRESSURE, "grid-pressure", "of the sand at nodes of the grid")              \
    X(TALUS_FIELD_GRID_VELOCITY, "grid-velocity", "of the sand at nodes of the grid")              \
    X(TALUS_FIELD_DIRECTOR, "director", "of rods: first material axis of their segments")          \
    X(TALUS_FIELD_STRAIN, "strain", "of rods: how much their segments are stretched")

typedef enum talus_field {
#define TALUS_FIELD_ENUM(name, text, what) name,
    TALUS_FIELD_LIST(TALUS_FIELD_ENUM)
#undef TALUS_FIELD_ENUM
        TALUS_FIELDS ///< how many there are
} talus_field;

typedef struct talus_record_def {
    const char *scene;      ///< text of the scene, or NULL
    const char *scene_path; ///< of its file, as a resumed run will look for it, or NULL
    const char *const *set; ///< overrides "path=value" of the scene, set_count of them
    int32_t set_count;
    const char *title; ///< or NULL
    bool contacts;     ///< write contacts with each frame
    talus_precision precision;
    bool without[TALUS_FIELDS]; ///< fields that are left out
    /// Names of bodies, materials and rods, or NULL; `user` is handed on. They may return NULL.
    /// Asked when one is first recorded.
    const char *(*body_name)(const void *user, int32_t body);
    const char *(*material_name)(const void *user, int32_t material);
    const char *(*rod_name)(const void *user, int32_t rod);
    const void *user;
    const talus_ledger_field *series; ///< numbers of every step besides the ledger's, or NULL;
                                      ///< `integer` is ignored
    int32_t series_count;
} talus_record_def;

/// Begin a recording of `w`; an existing file is replaced only once this one holds its first frame.
/// A path that cannot be written, or that another run is writing, is an error here.
TALUS_API talus_status talus_recording_create(talus_context *ctx, const char *path,
                                              const talus_record_def *def, const talus_world *w,
                                              talus_recording **out) TALUS_MUST_CHECK;
/// Append the world as it is now, after `step` steps, as a frame (bodies, shapes and materials may
/// have been added since the last). The first frame is in the file when this returns.
TALUS_API talus_status talus_recording_frame(talus_recording *r, const talus_world *w,
                                             int64_t step) TALUS_MUST_CHECK;
/// The numbers of the series, `count` of them, for the step whose ledger comes next; without this
/// call they are NaN.
TALUS_API talus_status talus_recording_series(talus_recording *r, int32_t count,
                                              const double *value) TALUS_MUST_CHECK;
TALUS_API talus_status talus_recording_ledger(talus_recording *r,
                                              const talus_ledger *ledger) TALUS_MUST_CHECK;
/// What a checkpoint holds besides the world: numbers of the caller's, as many as he likes to use.
enum { TALUS_CHECKPOINT_EXTRA = 32 };
/// Write the world as it is now, after `step` steps, as a checkpoint, with `extra` (which may be
/// NULL: zeros). One that is not to be kept is replaced by the next. It is in the file after the
/// next flush.
TALUS_API talus_status talus_recording_checkpoint(talus_recording *r, const talus_world *w,
                                                  int64_t step, const double *extra,
                                                  bool keep) TALUS_MUST_CHECK;
/// Go on with a recording from its checkpoint number `checkpoint`, from which `w` was restored:
/// frames, ledger and checkpoints of later steps are removed, and frames from number `frames` on.
/// Of `def` only the overrides and the names count. Nothing changes in the file before the next
/// flush.
TALUS_API talus_status talus_recording_resume(talus_context *ctx, const char *path,
                                              const talus_record_def *def, int64_t checkpoint,
                                              int64_t frames, const talus_world *w,
                                              talus_recording **out) TALUS_MUST_CHECK;
/// Everything given so far is in the file and can be read, even if the program is killed now or
/// later. Of what is given after it either all or nothing up to the next flush survives a kill.
/// After an error, of this or any other call, the file is as the last flush left it, and stays so.
TALUS_API talus_status talus_recording_flush(talus_recording *r) TALUS_MUST_CHECK;
/// Flush and close; the error, if any, names the file. `r` is gone in any case. Without a frame no
/// file is made. NULL is allowed.
TALUS_API talus_status talus_recording_close(talus_recording *r) TALUS_MUST_CHECK;

typedef struct talus_playback talus_playback; ///< opaque: a recording that is being read

typedef struct talus_playback_info {
    int32_t dim;
    int64_t frames;
    int64_t steps;              ///< for which there is a ledger
    int64_t checkpoints;        ///< the last is number checkpoints − 1
    int32_t bodies;             ///< that there ever were
    bool contacts;              ///< frames hold contacts
    bool single;                ///< frames are in single precision (or compact)
    talus_precision precision;  ///< of frames
    bool without[TALUS_FIELDS]; ///< fields that were not recorded
    bool finished;              ///< the recording was closed; false: killed, or still being written
    const char *title, *scene;  ///< "" when not given
    const char *scene_path;     ///< "" when not given
    int32_t set_count;          ///< overrides (talus_playback_set_at)
    const char *version, *commit, *compiler, *created; ///< of the program that wrote it, and when
    double gravity[3], period[3], step, tolerance;     ///< of the world (talus_world_def)
    const char *scheme, *solver;                       ///< likewise, as texts
    int32_t threads;
    double wall_seconds;   ///< that the run took, up to the last flush
    bool sand;             ///< frames hold sand
    double sand_cell;      ///< edge of a cell of its grid [m]
    double sand_origin[3]; ///< lower corner of its box [m]
    int32_t sand_cells[3]; ///< along the axes
    double sand_density;   ///< of the grain material
    int32_t rods;          ///< that there ever were
    const char *machine;   ///< processor, cores, memory and system it ran on
} talus_playback_info;

/// Sand of a frame, in the order in which particles were added.
typedef struct talus_sand_frame {
    int64_t count;
    const int64_t *id;      ///< ascending
    const double *position; ///< 3 each
    const double *velocity; ///< 3 each
    const double *volume;   ///< of grain material
    const double *frame;    ///< 6 each, xx, yy, zz, xy, xz, yz: half axes are roots of eigenvalues
    const double *inertial; ///< inertial number
    const double *pressure; ///< of the last step, between nodes [Pa]
    int64_t nodes;          ///< that have sand around them
    const int32_t *node; ///< 3 each: place in the grid, in cells from the lower corner of the box
    const double *node_fraction; ///< of grains
    const double *node_pressure; ///< [Pa]
    const double *node_velocity; ///< 3 each
    double lost;                 ///< volume that has left through free faces
} talus_sand_frame;

/// A frame; the arrays are borrowed until the next frame is read. Of fields that were not recorded
/// orientations are none, and the others NaN.
typedef struct talus_frame {
    int64_t step;
    double time;
    uint64_t hash;          ///< talus_world_hash at that moment
    talus_body_view bodies; ///< without `centre`
    talus_contact_view contacts;
    talus_sand_frame sand;
    talus_rod_view rods; ///< directors, velocities and strains may be NaN, like other fields
} talus_frame;

/// Open a recording as its last flush left it. It may be written meanwhile: what is read is always
/// of one flush, and talus_playback_refresh shows what has come since. TALUS_ERR_UNSUPPORTED: a
/// recording, but of another version of the format.
TALUS_API talus_status talus_playback_open(talus_context *ctx, const char *path,
                                           talus_playback **out) TALUS_MUST_CHECK;
TALUS_API void talus_playback_close(talus_playback *p);                         ///< NULL is allowed
TALUS_API talus_playback_info talus_playback_get_info(const talus_playback *p); ///< texts borrowed
/// See what has been flushed since the recording was opened or last refreshed; costs next to
/// nothing when there is nothing new. All that was borrowed from `p` ends when there is.
TALUS_API talus_status talus_playback_refresh(talus_playback *p) TALUS_MUST_CHECK;
/// Names as in the scene; "" when there is none, and past the end.
TALUS_API const char *talus_playback_body_name(const talus_playback *p, int32_t body);
TALUS_API const char *talus_playback_material_name(const talus_playback *p, int32_t material);
TALUS_API const char *talus_playback_rod_name(const talus_playback *p, int32_t rod);
/// The override "path=value" of that number; NULL past the end.
TALUS_API const char *talus_playback_set_at(const talus_playback *p, int32_t index);
/// The radius of the ball around a body's shape, from its origin [m]; 0 where there is no end.
TALUS_API double talus_playback_body_radius(const talus_playback *p, int32_t body);
/// Shapes and materials by index; false past the end. Arrays of shapes are borrowed from the
/// playback.
TALUS_API bool talus_playback_shape_at(const talus_playback *p, int32_t index,
                                       talus_shape_def *out);
TALUS_API bool talus_playback_material_at(const talus_playback *p, int32_t index,
                                          talus_material_def *out);
TALUS_API talus_status talus_playback_frame(talus_playback *p, int64_t frame,
                                            talus_frame *out) TALUS_MUST_CHECK;
/// Friction between two materials, as it was when the later of them was first recorded; NaN where
/// one is not there.
TALUS_API double talus_playback_friction(const talus_playback *p, int32_t a, int32_t b);
/// When frames are, and after how many steps: `count` of them from `first` on; either may be NULL.
TALUS_API talus_status talus_playback_times(talus_playback *p, int64_t first, int64_t count,
                                            double *time, int64_t *step) TALUS_MUST_CHECK;
/// Series besides the ledger; false past the end. Texts are borrowed.
TALUS_API bool talus_playback_series_at(const talus_playback *p, int32_t index,
                                        talus_ledger_field *out);
/// `count` figures of the ledger field or series of that name, from row `first` on.
TALUS_API talus_status talus_playback_ledger(talus_playback *p, const char *field, int64_t first,
                                             int64_t count, double *out) TALUS_MUST_CHECK;

/// A checkpoint; `state` is for talus_world_load and borrowed until the next is read.
typedef struct talus_checkpoint {
    int64_t step;
    double time;
    uint64_t hash;  ///< talus_world_hash at that moment
    int32_t bodies; ///< in the world then
    bool kept;      ///< not replaced by the next
    const double *state;
    int64_t count;
    double extra[TALUS_CHECKPOINT_EXTRA];
} talus_checkpoint;
TALUS_API talus_status talus_playback_checkpoint(talus_playback *p, int64_t checkpoint,
                                                 talus_checkpoint *out) TALUS_MUST_CHECK;

/// Write an XDMF file that describes the recording to ParaView and others: bodies as points with
/// radius, velocity …, contacts as points with impulses. It refers to the recording by its name, as
/// seen from the directory of `path`, where it must stay.
TALUS_API talus_status talus_playback_write_xdmf(talus_playback *p,
                                                 const char *path) TALUS_MUST_CHECK;

TALUS_EXTERN_C_END
#endif // TALUS_RECORD_H
