// SPDX-License-Identifier: Apache-2.0
// The inside of a scene, and the steps from its keys to its bodies:
//     read.c      keys from text                      -> keys
//     check.c     names, shapes, motions, materials   -> source, material
//     generate.c  bodies one by one (lattice, random) -> grain, shape
//     sand.c      the box of sand and its particles    -> sand, particle
//     rods.c      rods: ends, materials, natural shapes -> fibre
//     rod_place.c, rod_nest.c                where their nodes are
//     start.c     bodies of a recording               -> grain, shape
//     overlap.c   who overlaps whom at the start
//     overlap_rods.c                         the same for rods
//     rain.c      who enters later
#ifndef TL_SCENE_SCENE_IMPL_H
#define TL_SCENE_SCENE_IMPL_H
#include "base/rng.h"
#include "collide/pair.h"
#include "scene/read.h"

enum { TL_SCENE_MOST = 20000000 }; // bodies

/// An entry of `bodies` or `grains`, checked: what its bodies have in common.
typedef struct tl_source {
    const tl_node *node;
    const char *name;              // "" when not given
    const tl_scene_body *single;   // or NULL
    const tl_scene_grains *grains; // or NULL
    const tl_body_keys *body;
    talus_shape_def shape; // with radius 1 where that is distributed
    double extent;         // of the largest body; infinite for unbounded shapes
    double wide[3];        // half of the room its largest body takes along each axis
    double orientation[4];
    int32_t material; // index in the scene's
    talus_motion_def motion;
    int32_t first, count; // its bodies; rain: of those that enter later
    const char *taken;    // the recording its bodies are from; NULL: made by this scene
} tl_source;

/// One body.
typedef struct tl_grain {
    int32_t source, number; // number within the source
    int32_t shape;
    int32_t taken; // from a recording: its place in start_motion + 1; 0: made by this scene
    double x[3], q[4];
    double mass; // 0: from the density
    double due;  // rain: when it may enter
} tl_grain;

/// An entry of `sand.fill`: its particles.
typedef struct tl_heap {
    const tl_sand_fill *fill;
    int64_t first, count;
    double size, fraction; // edge of the cube that a particle stands for [m]
} tl_heap;

/// One rod; arrays are in the arena.
typedef struct tl_fibre {
    int32_t source, number; // entry of `rods`; number within it
    int32_t nodes;
    double *x;               // 3 each
    const double *natural;   // likewise; NULL: straight
    const double *curvature; // 3 per inner node, or NULL
    const double *director;  // 3 per segment, or NULL
} tl_fibre;

struct talus_scene {
    talus_context *ctx;
    tl_arena arena;
    tl_doc doc;
    tl_scene_keys keys;
    int32_t dim;
    int32_t most; // bodies that may be made
    const char *text;
    tl_source *source;
    int32_t source_count, single_count; // single bodies come first
    int32_t taken_count;                // behind them: entries of the recording it starts from
    const char **material_name;         // entry 0 is "default"
    talus_material_def *material;
    int32_t material_count;
    talus_shape_def *shape;
    int32_t shape_count, shape_room;
    tl_solid **solid; // of the single bodies whose contacts take more than their numbers
    int32_t solid_count;
    tl_grain *grain; // those there at the start, then rain in the order in which it enters
    int32_t grain_count, grain_room, start_count;
    int32_t free_count;  // of those there at the start
    talus_sand_def sand; // where the scene has some
    tl_heap *heap;       // one for each entry of sand.fill
    double *particle;    // places, 3 each
    int64_t particle_count, particle_room;
    double sand_bytes; // that it takes, estimated
    tl_fibre *fibre;
    int32_t fibre_count, fibre_room;
    int64_t fibre_nodes; // of all of them
    talus_joint_def *joint;
    int32_t joint_count;
    talus_scene *start;     // scene of the recording that bodies were taken from, or NULL
    const char *start_path; // of that recording
    double *start_motion;   // velocity and spin of the bodies taken
    double *start_sand;     // particles taken: place, velocity, volume; 7 each
    int64_t start_sand_count;
    int32_t depth; // how many recordings stand behind this scene
};

/// Parts of scenes that start from recordings of scenes that do …
enum { TL_SCENE_DEPTH = 32 };

/// talus_scene_parse with a bound on the number of bodies.
talus_status tl_scene_parse(talus_context *ctx, const char *name, const char *text, size_t length,
                            const char *const *set, int32_t set_count, int32_t most,
                            talus_scene **out) TALUS_MUST_CHECK;
/// The scene of a recording with a bound on bodies, `depth` recordings behind another.
talus_status tl_scene_of_recording(talus_context *ctx, const talus_playback *p,
                                   const char *const *set, int32_t set_count, int32_t most,
                                   int32_t depth, talus_scene **out) TALUS_MUST_CHECK;
/// Put the bodies of the recording that the scene starts from behind those there are.
talus_status tl_scene_take_start(talus_scene *s) TALUS_MUST_CHECK;
/// A path that is meant to begin at the directory of the scene; in the arena.
talus_status tl_scene_beside(const talus_scene *s, const char *path, char **out) TALUS_MUST_CHECK;
talus_status tl_scene_add_shape(talus_scene *s, const talus_shape_def *shape,
                                int32_t *out) TALUS_MUST_CHECK;

talus_status tl_scene_check(talus_scene *s) TALUS_MUST_CHECK;
talus_status tl_scene_check_shapes(talus_scene *s) TALUS_MUST_CHECK; // part of it: source->shape
talus_status tl_scene_check_joints(talus_scene *s) TALUS_MUST_CHECK; // likewise: joint
/// What a scene with sand asks of the certificate where it says nothing: an error of the stress,
/// over the pressure under the sand.
#define TL_SAND_TOLERANCE 1e-3
talus_status tl_scene_check_sand(talus_scene *s) TALUS_MUST_CHECK; // likewise: sand
/// The particles of the sand, where bodies leave room.
talus_status tl_scene_fill_sand(talus_scene *s) TALUS_MUST_CHECK;
talus_status tl_scene_add_sand(const talus_scene *s, talus_world *w) TALUS_MUST_CHECK;
/// All rods: where they are, and what they are like without loads.
talus_status tl_scene_make_rods(talus_scene *s) TALUS_MUST_CHECK;
talus_status tl_scene_check_rod_overlaps(const talus_scene *s) TALUS_MUST_CHECK;
talus_status tl_scene_add_rods(const talus_scene *s, talus_world *w) TALUS_MUST_CHECK;
/// The definition of a rod for the world.
talus_status tl_fibre_def(const talus_scene *s, const tl_fibre *fibre,
                          talus_rod_def *out) TALUS_MUST_CHECK;
/// "rod 17 of rods.0 'hair'" for messages.
void tl_fibre_show(const talus_scene *s, const tl_fibre *fibre, char out[120]);
/// Another rod of entry `source` with room for its nodes.
talus_status tl_fibre_add(talus_scene *s, int32_t source, int32_t nodes,
                          tl_fibre **out) TALUS_MUST_CHECK;
/// The rods of an entry, where they lie.
talus_status tl_rods_place(talus_scene *s, int32_t source) TALUS_MUST_CHECK;
talus_status tl_rods_place_nest(talus_scene *s, int32_t source, int32_t nodes) TALUS_MUST_CHECK;
/// A helix of equal chords `step` in its own frame, rising along z, begun at the origin; with
/// `opens` its radius grows from 0 in the first turn.
void tl_rods_wind(double radius, double pitch, bool opens, double step, int32_t nodes, double *x);
/// Points of a text file beside the scene, three numbers a line; `value` is in the arena.
talus_status tl_rods_read_file(const talus_scene *s, const tl_node *node, const char *name,
                               tl_numbers *out) TALUS_MUST_CHECK;
/// The entry of `bodies` that a text means: its name, or its number from 0 on.
talus_status tl_scene_find_body(const talus_scene *s, const tl_node *node, const char *text,
                                int32_t *out) TALUS_MUST_CHECK;
/// The material of a name; −1: there is none.
int32_t tl_scene_find_material(const talus_scene *s, const char *name);
/// Name of material k of the scene `user`; NULL past the end.
const char *tl_scene_material_at(const void *user, int32_t k);
/// Whether two bodies of `bodies` are held by a joint that keeps them from touching.
bool tl_scene_is_joined(const talus_scene *s, int32_t a, int32_t b);
talus_status tl_scene_add_joints(const talus_scene *s, talus_world *w) TALUS_MUST_CHECK;
talus_status tl_scene_generate(talus_scene *s) TALUS_MUST_CHECK;
talus_status tl_scene_check_overlaps(const talus_scene *s) TALUS_MUST_CHECK;

/// A body moves freely.
static inline bool tl_source_is_free(const tl_source *source) {
    return source->motion.kind == TALUS_MOTION_FREE;
}
/// "grains.0 'sand'" for messages.
void tl_source_show(const tl_source *source, char out[120]);
/// The definition of a body for the world.
talus_body_def tl_scene_body_def(const talus_scene *s, const tl_grain *grain);

/// Check a distribution and fill in the limits that were not given.
talus_status tl_spread_check(const tl_doc *doc, tl_spread *spread) TALUS_MUST_CHECK;
double tl_spread_most(const tl_spread *spread); ///< largest value it can give
double tl_spread_draw(const tl_spread *spread, tl_rng *rng);

/// Room for `count` more bodies; they are zero, and grain_count is not changed.
talus_status tl_scene_reserve(talus_scene *s, const tl_source *source,
                              int64_t count) TALUS_MUST_CHECK;
/// Draw size, mass and turn of the next body of a source; its position is left at zero.
talus_status tl_scene_draw(talus_scene *s, int32_t source, tl_rng *rng,
                           tl_grain *out) TALUS_MUST_CHECK;
/// Lattice points of a source, bottom up; `visit` gets each.
talus_status tl_scene_place_lattice(talus_scene *s, int32_t source, tl_rng *rng) TALUS_MUST_CHECK;
talus_status tl_scene_place_random(talus_scene *s, int32_t source, tl_rng *rng) TALUS_MUST_CHECK;

/// Whether a region makes sense; with `open` a box may have no 'to'.
talus_status tl_region_check(const talus_scene *s, const tl_region *region,
                             bool open) TALUS_MUST_CHECK;
/// The box around a region.
void tl_region_box(const tl_region *region, int32_t dim, double low[3], double high[3]);
/// Whether a body with half widths `wide` (and radius `extent` all around) at x lies in the region.
bool tl_region_holds(const tl_region *region, int32_t dim, const double x[3], const double wide[3],
                     double extent);
/// A random place in the region for such a body; it may stick out of a ball or cylinder.
void tl_region_draw(const tl_region *region, int32_t dim, const double wide[3], tl_rng *rng,
                    double x[3]);
/// Number of a name of a kind of shape or obstacle; −1: there is none.
int tl_shape_kind(const char *name);
/// The shape that keys at `node` make, whose kind is known; made once.
talus_status tl_shape_make(const talus_scene *s, const tl_node *node, tl_shape_keys *keys,
                           talus_shape_def *out) TALUS_MUST_CHECK;
/// The same, where the kind may also be a name of `shapes`.
talus_status tl_shape_resolve(const talus_scene *s, const tl_node *node, tl_shape_keys *keys,
                              talus_shape_def *out) TALUS_MUST_CHECK;
/// Multiply all lengths; arrays are copied into the arena.
talus_status tl_shape_scale(const talus_scene *s, double scale,
                            talus_shape_def *shape) TALUS_MUST_CHECK;
/// The quaternion of a rotation that may not be given.
talus_status tl_scene_rotation(const talus_scene *s, tl_rotate_keys *rotate,
                               double q[4]) TALUS_MUST_CHECK;
/// Whether a ball is nearer than `clearance` to a body of shape `shape` (an index) at `pose`;
/// `walls` are those of an unbounded one. Bodies that are grains of other kinds than spheres, boxes
/// and cylinders count as the balls around them.
bool tl_scene_hits(const talus_scene *s, int32_t shape, const tl_pose *pose, const tl_walls *walls,
                   const double x[3], double radius, double clearance);
/// The same for a shape that is not of the scene; `own` is its solid where its contacts take more
/// than its numbers.
bool tl_shape_hits(int32_t dim, const talus_shape_def *def, const tl_solid *own,
                   const tl_pose *pose, const tl_walls *walls, const double x[3], double radius,
                   double clearance);
/// The half widths of a shape along the axes, unturned or in any position.
void tl_shape_wide(int32_t dim, const talus_shape_def *shape, bool turned, double wide[3]);

#endif // TL_SCENE_SCENE_IMPL_H
