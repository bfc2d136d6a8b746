// SPDX-License-Identifier: Apache-2.0
// Scene files (YAML): materials, shapes, bodies, generators, motions, scheme, solver, output. One
// table holds every key with its type, unit, range, default and text; it drives reading, errors and
// help.
#ifndef TALUS_SCENE_H
#define TALUS_SCENE_H
#include "talus/record.h"
TALUS_EXTERN_C_BEGIN

typedef struct talus_scene talus_scene; ///< opaque: a checked scene

/// Read and check a scene. `set` holds `set_count` overrides "path.to.key=value". An error names
/// file, line, column, key, what is allowed, and for an unknown key the nearest known one.
TALUS_API talus_status talus_scene_read(talus_context *ctx, const char *path,
                                        const char *const *set, int32_t set_count,
                                        talus_scene **out) TALUS_MUST_CHECK;
/// The same from text; `name` stands for the file in errors.
TALUS_API talus_status talus_scene_parse(talus_context *ctx, const char *name, const char *text,
                                         size_t length, const char *const *set, int32_t set_count,
                                         talus_scene **out) TALUS_MUST_CHECK;
TALUS_API void talus_scene_destroy(talus_scene *s); ///< NULL is allowed

/// What a scene asks for besides the world.
typedef struct talus_scene_info {
    const char *title; ///< "" when not given
    const char *text;  ///< the scene as it was read, with the overrides written below it as
                       ///< comments
    int32_t dim;
    int32_t bodies, free_bodies;       ///< after generation, of those there at the start
    int32_t later_bodies;              ///< that enter later (rain)
    int64_t particles;                 ///< of sand, at the start
    double sand_bytes;                 ///< memory that the sand takes, estimated
    int32_t rods;                      ///< elastic rods
    int64_t rod_nodes;                 ///< of all of them
    double until;                      ///< end of the run [s]
    int64_t steps;                     ///< most steps; 0: no limit
    double frame_interval;             ///< time between recorded frames [s]
    bool record_contacts;              ///< contacts with each frame
    bool record_ledger;                ///< the ledger of every step
    bool record_xdmf;                  ///< an XDMF file beside the recording
    talus_precision record_precision;  ///< of frames
    bool record_without[TALUS_FIELDS]; ///< fields that frames leave out
    const char *const *observe;        ///< names of observables to be put down at every step
    int32_t observe_count;             ///< how many
    double checkpoint_interval;        ///< between checkpoints that are kept [s]; 0: none are
    const char *start_path;            ///< the recording it starts from; "": none
    bool stop_at_rest;                 ///< end when the kinetic energy stays below rest_energy
    double rest_energy;                ///< [J] per free body, particle of sand and node of a rod
    uint64_t seed;
} talus_scene_info;
TALUS_API talus_scene_info talus_scene_get_info(const talus_scene *s);

/// Make the world of a scene at t = 0. May be called again for another one.
TALUS_API talus_status talus_scene_make_world(const talus_scene *s,
                                              talus_world **out) TALUS_MUST_CHECK;
/// Make the world of a scene as a checkpoint of a recording of it has it. Fails when the scene
/// makes another world than that which was recorded.
TALUS_API talus_status talus_scene_restore(const talus_scene *s, const talus_checkpoint *checkpoint,
                                           talus_world **out) TALUS_MUST_CHECK;
/// The scene of a recording: its text with its overrides and then those of `set`.
TALUS_API talus_status talus_scene_of_recording(talus_context *ctx, const talus_playback *p,
                                                const char *const *set, int32_t set_count,
                                                talus_scene **out) TALUS_MUST_CHECK;
/// Names of bodies, rods and materials of its world, as talus_record_def wants them; "" where there
/// is none.
TALUS_API const char *talus_scene_body_name(const talus_scene *s, int32_t body);
TALUS_API const char *talus_scene_rod_name(const talus_scene *s, int32_t rod);
TALUS_API const char *talus_scene_material_name(const talus_scene *s, int32_t material);
/// Called before every step: bodies enter that are due (rain). What it does depends on the scene
/// and the world alone, so that a world restored from a checkpoint goes on as it would have.
TALUS_API talus_status talus_scene_advance(const talus_scene *s, talus_world *w) TALUS_MUST_CHECK;

/// One key of the tables, for help and docs; what is pointed to is static.
typedef struct talus_scene_key {
    const char *section;      ///< where the key stands: "" (the scene itself), "materials.NAME",
                              ///< "bodies.N", …; keys of one section follow each other
    const char *section_text; ///< about the section, or NULL
    const char *key;
    const char *kind;    ///< "number", "integer", "vector", "text", "choice", "yes/no", …
    const char *unit;    ///< "m", "rad", … or ""
    const char *initial; ///< default as text, or in words; NULL: required
    const char *only;    ///< "shape: sphere, drum": goes only with these values of that key; or ""
    const char *text;
    char range[160]; ///< "> 0", "[0, 1]", the choices, or ""
} talus_scene_key;
/// `index` from 0; false past the end.
TALUS_API bool talus_scene_key_at(int32_t index, talus_scene_key *out);
/// The units of each kind of quantity, SI first: "length", "m, km, cm, mm, um, µm".
TALUS_API bool talus_scene_unit_at(int32_t index, const char **what, char names[160]);

TALUS_EXTERN_C_END
#endif // TALUS_SCENE_H
