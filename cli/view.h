// SPDX-License-Identifier: Apache-2.0
// The parts of `talus view`: what is looked at (a recording, a scene, a run that goes on), how it
// is packed for the page, and the server that hands it out. viewer/src/wire.ts reads what is
// packed.
//
// Everything packed is little-endian: a head of 32-bit words, then columns, each beginning at a
// multiple of 4 bytes.
#ifndef CLI_VIEW_H
#define CLI_VIEW_H
#include "cli.h"
#include "run.h"
#include "talus/talus.h"

/// Bytes that are put together. Once memory has run out nothing more is added.
typedef struct view_bytes {
    unsigned char *data;
    size_t size, room;
    bool failed;
} view_bytes;

/// Room for `size` more bytes at the end; NULL when there is no memory.
void *view_bytes_more(view_bytes *b, size_t size);
void view_bytes_put(view_bytes *b, const void *data, size_t size);
/// Numbers as float.
void view_bytes_floats(view_bytes *b, const double *value, size_t count);
void view_bytes_clear(view_bytes *b);

/// Words at the beginning of what is packed: bodies, surfaces, a frame, times, ledger.
enum {
    VIEW_MAGIC_BODIES = 0x62444c54,
    VIEW_MAGIC_SHAPES = 0x73444c54,
    VIEW_MAGIC_FRAME = 0x66444c54,
    VIEW_MAGIC_TIMES = 0x74444c54,
    VIEW_MAGIC_LEDGER = 0x6c444c54,
};

/// What does not change from frame to frame, as columns. Grows when bodies enter.
typedef struct view_tables {
    int32_t dim, bodies, shapes, surfaces;
    double extent;                            // how far unbounded shapes are drawn [m]
    view_bytes shape, material, motion, mass; // of bodies
    view_bytes kind, radius, volume, bound;   // of shapes; radius 0: no ball
    view_bytes head, point, normal, corner;   // surfaces of the shapes that are no balls
} view_tables;

/// Where shapes and materials come from.
typedef struct view_model {
    const void *user;
    bool (*shape_at)(const void *user, int32_t index, talus_shape_def *out);
    bool (*material_at)(const void *user, int32_t index, talus_material_def *out);
} view_model;

view_model view_model_of_world(const talus_world *w);
view_model view_model_of_playback(const talus_playback *p);

/// Take in the bodies and shapes that are new since the last call.
talus_status view_tables_update(view_tables *t, talus_context *ctx, int32_t dim,
                                const view_model *model, const talus_body_view *bodies);
void view_tables_clear(view_tables *t);
void view_tables_pack_bodies(const view_tables *t, view_bytes *out);
void view_tables_pack_shapes(const view_tables *t, view_bytes *out);

/// Parts of a frame that are packed only where they are asked for.
enum { VIEW_SPIN = 1, VIEW_CONTACTS = 2, VIEW_FIELDS = VIEW_SPIN | VIEW_CONTACTS };

/// Particles of sand, of either.
typedef struct view_sand {
    int64_t count;
    const int64_t *id;
    const double *position, *velocity, *volume, *inertial;
    const double *frame;    ///< 6 each (xx, yy, zz, xy, xz, yz), or 9 each (a matrix)
    bool matrix;            ///< the latter
    const double *pressure; ///< NULL: not known
} view_sand;
view_sand view_sand_of_world(const talus_world *w);
view_sand view_sand_of_frame(const talus_sand_frame *f);

/// A moment: a frame of a recording, or a world.
typedef struct view_moment {
    int64_t frame, step; ///< frame −1: of a run that goes on
    double time, h;      ///< h: length of the step that led here [s]; NaN: not known
    uint64_t hash;
    uint32_t serial; ///< of the moments of a run that goes on
    talus_body_view bodies;
    talus_contact_view contacts;
    view_sand sand;
    talus_rod_view rods;
} view_moment;

void view_pack_frame(const view_moment *m, unsigned fields, view_bytes *out);
/// Figures of the ledger: `names` separated by commas, "sum:NAME" for the sum up to each step; at
/// most `points` rows: where there are more steps, two rows for each of equal groups of them, with
/// the least and the largest figure.
talus_status view_pack_ledger(talus_playback *p, const char *names, int64_t points,
                              view_bytes *out);
talus_status view_pack_times(talus_playback *p, int64_t first, view_bytes *out);

typedef struct view_live view_live; ///< a run that goes on, seen from the server's thread

/// What is looked at. The server's thread alone uses it, under the lock of `live` where there is
/// one.
typedef struct view_source {
    const char *path; ///< as given
    const char *name; ///< its last part
    talus_context *ctx;
    talus_playback *play; ///< NULL: a scene, or a run that has no file yet
    const run *scene;     ///< the scene's world at its beginning; NULL: a recording
    view_live *live;      ///< NULL: nothing goes on
    view_tables tables;   ///< of a recording or a scene
} view_source;

/// A recording, or with its scene a run; CLI_DONE or the exit status after a message.
int view_source_open_recording(view_source *s, talus_context *ctx, const char *path);
int view_source_open_scene(view_source *s, talus_context *ctx, const run *scene);
void view_source_close(view_source *s);

/// What the page shows besides the frames, as a JSON object: written once it is asked for.
talus_status view_source_print_info(view_source *s, FILE *out);
/// What changes while a recording grows, as a JSON object.
talus_status view_source_print_state(view_source *s, FILE *out);
talus_status view_source_pack_bodies(view_source *s, view_bytes *out);
talus_status view_source_pack_shapes(view_source *s, view_bytes *out);
/// Frame −1: the run as it is now.
talus_status view_source_pack_frame(view_source *s, int64_t frame, unsigned fields,
                                    view_bytes *out);
talus_status view_source_pack_times(view_source *s, int64_t first, view_bytes *out);
talus_status view_source_pack_ledger(view_source *s, const char *names, int64_t points,
                                     view_bytes *out);
/// "pause", "go", "step", "stop"; false: there is no such word, or no run.
bool view_source_control(view_source *s, const char *word);

/// The value of --port; false after a message.
bool view_take_port(view_address *a, const char *value);

typedef struct view_server view_server;

/// Start to serve; NULL after a message. `source` is used until the server is stopped.
view_server *view_server_start(view_source *source, const view_address *address);
/// The address of the page, with its token.
const char *view_server_url(const view_server *s);
/// Called several times a second: hangs up on those who take too long.
void view_server_tend(view_server *s);
void view_server_stop(view_server *s);
/// Tell the address of the page on stdout, or with `json` as an object.
void view_server_announce(const view_server *s, bool json);
/// Serve until Ctrl-C.
void view_server_wait(view_server *s);

/// A file of the page, put into the program by the build (cmake/viewer.cmake).
typedef struct view_asset {
    const char *name, *type; ///< "" is the page itself
    const unsigned char *data;
    size_t size;
} view_asset;
extern const view_asset view_assets[];  ///< ends with one whose name is NULL
extern const char view_assets_absent[]; ///< why there are none

/// Is the page in the program? If not, a message says how to get it.
bool view_page_is_there(void);

view_live *view_live_create(void);
void view_live_destroy(view_live *l);
/// What the run calls.
run_watch view_live_watch(view_live *l);
/// The run has come to its end.
void view_live_end(view_live *l, const run *r);
bool view_live_is_there(view_live *l); ///< there is something to see
// For the source: what the page asks for.
void view_live_lock_file(view_live *l, bool begin);
void view_live_print(view_live *l, FILE *out);
bool view_live_control(view_live *l, const char *word);
void view_live_pack_frame(view_live *l, unsigned fields, view_bytes *out);
void view_live_pack_bodies(view_live *l, view_bytes *out);
void view_live_pack_shapes(view_live *l, view_bytes *out);

typedef struct view_run view_run;
/// Simulate (run_loop) with the page open; NULL after a message, where nothing was simulated.
view_run *view_run_loop(run *r, const view_address *address);
/// Serve on until Ctrl-C, unless that ended the run; `v` is gone then.
void view_run_end(view_run *v);

#endif // CLI_VIEW_H
