// SPDX-License-Identifier: Apache-2.0
// The one description of a scene: every key with its kind, unit, range, default and text, and the
// struct fields that the values go to. Reading, errors, `talus help scene` and the guide all come
// from these tables.
#ifndef TL_SCENE_SCHEMA_H
#define TL_SCENE_SCHEMA_H
#include "scene/node.h"
#include "scene/unit.h"
#include "talus/mesh.h"
#include "talus/record.h"
#include "talus/scene.h"

/// Kind of a value, with the field it fills: X(name, text).
#define TL_KIND_LIST(X)                                                                            \
    X(TL_KIND_NUMBER, "number")            /* double */                                            \
    X(TL_KIND_INTEGER, "integer")          /* int64_t */                                           \
    X(TL_KIND_YES_NO, "yes/no")            /* bool */                                              \
    X(TL_KIND_TEXT, "text")                /* const char *, in the arena */                        \
    X(TL_KIND_CHOICE, "choice")            /* int32_t: index of the choice */                      \
    X(TL_KIND_VECTOR, "vector")            /* double[3]; dim numbers */                            \
    X(TL_KIND_TURN, "vector (2D: number)") /* double[3]; 3D: three numbers, 2D: one, to [2] */     \
    X(TL_KIND_COUNTS, "integers")          /* int32_t[3]; dim integers */                          \
    X(TL_KIND_NUMBERS, "list of numbers")  /* tl_numbers */                                        \
    X(TL_KIND_POINTS, "list of vectors")   /* tl_numbers, three for each; `count` of points */     \
    X(TL_KIND_NAMES, "list of texts")      /* tl_names */                                          \
    X(TL_KIND_WORDS, "list of words")      /* bool[], one for each choice */                       \
    X(TL_KIND_SPREAD, "number or distribution") /* tl_spread */                                    \
    X(TL_KIND_OPTIONS, "options")               /* const tl_node *: keys of others */              \
    X(TL_KIND_MAP, "map")                       /* a struct described by `sub` */                  \
    X(TL_KIND_ITEMS, "list of maps")            /* tl_items of such structs */                     \
    X(TL_KIND_NAMED, "maps by name") /* tl_items of such structs, the name is the key */           \
    X(TL_KIND_INCLUDE, "")           /* keys of `sub` stand in this map as well */

typedef enum tl_kind {
#define TL_KIND_ENUM(name, text) name,
    TL_KIND_LIST(TL_KIND_ENUM)
#undef TL_KIND_ENUM
} tl_kind;

typedef struct tl_table tl_table;

/// One key. A key whose `key` is NULL and whose kind is not INCLUDE ends a table.
typedef struct tl_key {
    const char *key;
    tl_kind kind;
    tl_unit unit;
    size_t offset;       // of the field in the struct of the table
    const char *initial; // default, read like the user's value (for a vector: each component)
    const char *absent;  // or: what stands in for the value, in words; the field is zero or NULL
    double low, high;    // allowed; `high` 0 with `low` 0 allows everything finite
    bool above, below;   // the bound itself is not allowed
    bool infinite;       // "inf" is allowed
    bool required;       // (where `only` holds)
    const char *only;    // "shape: sphere, drum": allowed only with these values of that key
    const char *(*choice)(int); // choice or word k, NULL past the end
    const char *(*name)(const void *doc,
                        int32_t k); // of a text that is one of these names: the same
    const tl_table *sub;
    const char *also; // words that others use for it, for the nearest-key advice: "h, dt"
    const char *text;
} tl_key;

struct tl_table {
    const char *name; // "a material", for errors
    const char *path; // "materials.NAME", for help
    const char *text; // one or two sentences for help
    const tl_key *keys;
    size_t size; // of the struct. Its first member is `const tl_node *node`, except in tables that
                 // are included
};

typedef struct tl_items {
    void *data; // structs of the table, one after the other
    int32_t count;
} tl_items;

typedef struct tl_numbers {
    double *value;
    int32_t count;
} tl_numbers;

typedef struct tl_names {
    const char **text;
    int32_t count;
} tl_names;

typedef enum tl_law {
    TL_LAW_CONSTANT, // not written: a number alone
    TL_LAW_UNIFORM,
    TL_LAW_NORMAL,
    TL_LAW_LOGNORMAL,
    TL_LAW_POWER,
    TL_LAW_VALUES,
} tl_law;

/// How a quantity is distributed over the grains.
typedef struct tl_spread {
    const tl_node *node; // NULL: not given
    int32_t law;         // index of the choice + 1; 0: constant
    double value;        // constant
    double low, high, mean, deviation, exponent;
    tl_numbers values, shares;
} tl_spread;

typedef struct tl_rotate_keys {
    const tl_node *node;
    double axis[3], angle;
} tl_rotate_keys;

typedef struct tl_keyframe_keys {
    const tl_node *node;
    double time, at[3];
    tl_rotate_keys rotate;
} tl_keyframe_keys;

typedef struct tl_motion_keys {
    const tl_node *node;
    int32_t kind; // index of the choice
    double velocity[3], amplitude[3], angle, frequency, phase, axis[3], pivot[3], spin;
    double start, stop;
    tl_items keyframes;
} tl_motion_keys;

/// Name k of a shape in a scene (a tl_doc): the kinds, then the keys of its `shapes`; NULL past the
/// end.
const char *tl_shape_name(const void *doc, int32_t k);

/// The keys of a shape, included by shapes, bodies and grains.
typedef struct tl_shape_keys {
    const char *shape;
    tl_spread radius;
    double size[3], height, normal[3];
    bool open_top;
    tl_numbers exponents, points;
    const char *file;
    double file_scale, weld;
    tl_items parts;
    double outlet, rim, spout;
    int64_t sides;
    const talus_shape_def *made; // no key: the shape, once it has been made
} tl_shape_keys;

/// A part of a clump.
typedef struct tl_part_keys {
    const tl_node *node;
    double at[3];
    tl_rotate_keys rotate;
    tl_shape_keys shape;
} tl_part_keys;

/// What bodies and grains have in common, included by both.
typedef struct tl_body_keys {
    const char *material;
    tl_rotate_keys rotate;
    double velocity[3], spin[3];
    double density;
    tl_spread mass;
    double inertia[3], force[3], torque[3], damping, spin_damping;
    bool locked[6];
    bool fixed;
    tl_motion_keys motion;
} tl_body_keys;

typedef struct tl_scene_shape {
    const tl_node *node;
    tl_shape_keys shape;
    bool making; // no key: while it is being made
} tl_scene_shape;

typedef struct tl_scene_body {
    const tl_node *node;
    const char *name;
    double at[3];
    tl_shape_keys shape;
    tl_body_keys body;
} tl_scene_body;

typedef enum tl_fill { TL_FILL_LATTICE, TL_FILL_LAYERS, TL_FILL_RANDOM, TL_FILL_RAIN } tl_fill;

typedef struct tl_region {
    const tl_node *node;
    double from[3], to[3], at[3], radius, height;
} tl_region;

typedef struct tl_scene_grains {
    const tl_node *node;
    const char *name;
    int32_t fill;
    tl_region region;
    int64_t count, seed, tries;
    int32_t counts[3];
    double spacing, jitter, clearance;
    int32_t pattern; // 0 hex, 1 square
    double rate, start;
    tl_spread scale;
    bool random_turn;
    tl_shape_keys shape;
    tl_body_keys body;
} tl_scene_grains;

/// The faces of the box of sand, each a talus_face.
typedef struct tl_sand_faces {
    const tl_node *node;
    int32_t left, right, front, back, bottom, top;
} tl_sand_faces;

typedef struct tl_sand_box {
    const tl_node *node;
    double from[3], to[3];
} tl_sand_box;

/// An entry of `sand.fill`.
typedef struct tl_sand_fill {
    const tl_node *node;
    tl_region region;
    tl_part_keys within;
    int64_t per_edge, seed;
    double jitter, fraction, velocity[3];
} tl_sand_fill;

typedef struct tl_sand_keys {
    const tl_node *node; // NULL: no sand
    double cell;
    tl_sand_box box;
    tl_sand_faces faces;
    double friction, flow_friction, inertial, diameter, density, fraction, cohesion, debonding,
        height;
    int32_t transfer; // a talus_transfer
    int32_t stress;   // a talus_stress
    double viscosity, correction, anisotropy, elongation, disorder, normals[3];
    bool resample;
    int32_t packed; // a talus_packed
    const char *material;
    tl_items fill; // of tl_sand_fill
} tl_sand_keys;

/// Where the rods of an entry of `rods` lie at the start: exactly one of these is given.
typedef struct tl_rod_line {
    const tl_node *node;
    double from[3], to[3];
} tl_rod_line;

typedef struct tl_rod_circle {
    const tl_node *node;
    double at[3], radius, axis[3], start, angle;
} tl_rod_circle;

typedef struct tl_rod_helix {
    const tl_node *node;
    double at[3], radius, pitch, turns, axis[3], start;
} tl_rod_helix;

typedef struct tl_rod_tress {
    const tl_node *node;
    double at[3], radius, direction[3], length, spread;
    int64_t count;
} tl_rod_tress;

typedef struct tl_rod_cap {
    const tl_node *node;
    double at[3], radius, angle, axis[3], length, lift;
    int64_t count;
} tl_rod_cap;

typedef struct tl_rod_rope {
    const tl_node *node;
    double from[3], to[3], lay, gap;
    int64_t strands;
} tl_rod_rope;

typedef struct tl_rod_net {
    const tl_node *node;
    double at[3], width, length, gap;
    int64_t rows, columns;
    tl_rotate_keys rotate;
} tl_rod_net;

typedef struct tl_rod_nest {
    const tl_node *node;
    double at[3], radius, height, length, tilt, gap;
    int64_t count, tries;
} tl_rod_nest;

typedef enum tl_natural { TL_NATURAL_STRAIGHT, TL_NATURAL_PLACED, TL_NATURAL_CURL } tl_natural;

/// The shape that rods have without loads.
typedef struct tl_rod_natural {
    const tl_node *node;
    int32_t shape; // a tl_natural
    double radius, pitch;
    bool placed;
    tl_numbers points;
    const char *file;
} tl_rod_natural;

/// An entry of `rods`.
typedef struct tl_scene_rod {
    const tl_node *node;
    const char *name;
    int32_t model; // a talus_rod_kind
    tl_rod_line line;
    tl_numbers points;
    const char *file;
    tl_rod_circle circle;
    tl_rod_helix helix;
    tl_rod_tress tress;
    tl_rod_cap cap;
    tl_rod_rope rope;
    tl_rod_net net;
    tl_rod_nest nest;
    int64_t nodes, pieces, seed;
    double radius, density, young, shear, damping, drag, velocity[3];
    tl_rod_natural natural;
    const char *material;
    int32_t start, end; // a talus_rod_end each
    const char *start_body, *end_body;
    bool self_contact;
} tl_scene_rod;

typedef struct tl_scene_joint {
    const tl_node *node;
    int32_t type; // a talus_joint_kind
    const char *a, *b;
    double anchor[3], anchor_b[3], axis[3], length;
    double spin, torque, speed, force;
    double min_angle, max_angle, min_shift, max_shift;
    bool collide;
} tl_scene_joint;

typedef struct tl_scene_material {
    const tl_node *node;
    talus_material_def def;
} tl_scene_material;

typedef struct tl_scene_pair {
    const tl_node *node;
    tl_names between;
    talus_material_def def;
} tl_scene_pair;

typedef struct tl_scene_keys {
    const tl_node *node;
    int64_t version, dimension, seed;
    const char *title;
    double gravity[3], period[3], allow_overlap;
    int32_t scheme;
    struct {
        const tl_node *node;
        double length, max_move, reach, theta;
        bool continuous;
    } step;
    struct {
        const tl_node *node;
        int32_t spring, dissipation, integrator;
    } penalty;
    struct {
        const tl_node *node;
        const char *name;
        double tolerance, time_limit;
        int64_t iterations, threads;
        bool warm_start;
        const tl_node *options;
    } solver;
    tl_items materials, pairs, shapes, bodies, grains, rods, joints;
    tl_sand_keys sand;
    struct {
        const tl_node *node;
        double until, rest_energy;
        int64_t steps;
        bool stop_at_rest;
    } run;
    struct {
        const tl_node *node;
        double every, checkpoints; // checkpoints 0: by the clock
        bool contacts, ledger, xdmf;
        int32_t precision;         // talus_precision
        bool fields[TALUS_FIELDS]; // none: all
        tl_names observe;
    } output;
    struct {
        const tl_node *node;
        const char *from;
        bool velocities;
    } start;
} tl_scene_keys;

extern const tl_table tl_scene_table;  // the root
extern const tl_table tl_rods_table;   // an entry of `rods`
extern const tl_table tl_rotate_table; // a rotation

const char *tl_kind_text(tl_kind kind);
/// "[0, 1]", "> 0", the choices …; "" where everything is allowed.
void tl_key_range(const tl_key *key, char *out, size_t size);
/// The row of `key`, in the table or one it includes, or NULL.
const tl_key *tl_table_find(const tl_table *table, const char *key);
/// A row ends the table.
static inline bool tl_key_is_end(const tl_key *row) {
    return !row->key && row->kind != TL_KIND_INCLUDE;
}

#endif // TL_SCENE_SCHEMA_H
