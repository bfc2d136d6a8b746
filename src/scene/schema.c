// SPDX-License-Identifier: Apache-2.0
// The tables. A new key is one row here, one field in schema.h and what is done with it.
#include "scene/schema_rows.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA_TEXT(name, text, what) text,
SCHEMA_CHOICES(schema_scheme, TALUS_SCHEME_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_spring, TALUS_PENALTY_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_chi, TALUS_CHI_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_joint_type, TALUS_JOINT_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_integrator, "leap-frog", "predictor-corrector")
SCHEMA_CHOICES(schema_law, "uniform", "normal", "lognormal", "power", "values")
SCHEMA_CHOICES(schema_motion, "velocity", "oscillation", "rotation", "keyframes")
SCHEMA_CHOICES(schema_locked, "x", "y", "z", "turn-x", "turn-y", "turn-z")
SCHEMA_CHOICES(schema_fill, "lattice", "layers", "random", "rain")
SCHEMA_CHOICES(schema_pattern, "hex", "square")
SCHEMA_CHOICES(schema_precision, TALUS_PRECISION_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_field, TALUS_FIELD_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_face, TALUS_FACE_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_transfer, TALUS_TRANSFER_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_stress, TALUS_STRESS_LIST(SCHEMA_TEXT))
SCHEMA_CHOICES(schema_packed, TALUS_PACKED_LIST(SCHEMA_TEXT))
#undef SCHEMA_TEXT

// ---- parts of others ----

static const tl_key schema_rotate_keys[] = {
    {ROW(tl_rotate_keys, axis, "axis", VECTOR(NONE)), .absent = "z",
     .text = "direction of the axis, of any length (3D)"},
    {ROW(tl_rotate_keys, angle, "angle", NUMBER(ANGLE)), .required = true,
     .text = "angle about the axis, counter-clockwise"},
    {0},
};
const tl_table tl_rotate_table = TABLE(
    schema_rotate_keys, .name = "a rotation", .path = "rotate", .size = sizeof(tl_rotate_keys),
    .text = "How a body is turned before it is put where it starts.");

#define LAW(...) .only = "law: " __VA_ARGS__
static const tl_key schema_spread_keys[] = {
    {ROW(tl_spread, law, "law", .kind = TL_KIND_CHOICE), .choice = schema_law, .required = true,
     .text = "of the numbers: equal probability between low and high; normal or lognormal, redrawn "
             "until between low and high; probability of x as x^-exponent; one of a list"},
    {ROW(tl_spread, low, "low", NUMBER(INHERITED)), ABOVE(0),
     LAW("uniform, normal, lognormal, power"), .absent = "3 deviations below",
     .text = "smallest value"},
    {ROW(tl_spread, high, "high", NUMBER(INHERITED)), ABOVE(0),
     LAW("uniform, normal, lognormal, power"), .absent = "3 deviations above",
     .text = "largest value"},
    {ROW(tl_spread, mean, "mean", NUMBER(INHERITED)), ABOVE(0), LAW("normal, lognormal"),
     .required = true, .text = "mean value"},
    {ROW(tl_spread, deviation, "deviation", NUMBER(INHERITED)), .also = "sigma, std", AT_LEAST(0),
     LAW("normal, lognormal"), .required = true, .text = "standard deviation of the values"},
    {ROW(tl_spread, exponent, "exponent", NUMBER(NONE)), LAW("power"), .required = true,
     .low = -20.0, .high = 20.0, .text = "of the power law, by number of grains"},
    {ROW(tl_spread, values, "values", .kind = TL_KIND_NUMBERS, .unit = TL_UNIT_INHERITED),
     LAW("values"), ABOVE(0), .required = true, .text = "values to choose from"},
    {ROW(tl_spread, shares, "shares", .kind = TL_KIND_NUMBERS), AT_LEAST(0), LAW("values"),
     .absent = "equal", .text = "how often each value is taken, in proportion"},
    {0},
};
static const tl_table schema_spread = TABLE(
    schema_spread_keys, .name = "a distribution", .path = "radius, scale, mass",
    .size = sizeof(tl_spread),
    .text = "A quantity that differs from grain to grain. A number alone gives all the same.");

static const tl_key schema_keyframe_keys[] = {
    {ROW(tl_keyframe_keys, time, "time", NUMBER(TIME)), .required = true,
     .text = "when the body is there; times ascend"},
    {ROW(tl_keyframe_keys, at, "at", VECTOR(LENGTH)), .required = true, .text = "where"},
    {ROW(tl_keyframe_keys, rotate, "rotate", .kind = TL_KIND_MAP), .sub = &tl_rotate_table,
     .absent = "not turned", .text = "how turned"},
    {0},
};
static const tl_table schema_keyframe =
    TABLE(schema_keyframe_keys, .name = "a keyframe", .path = "motion.keyframes.N",
          .size = sizeof(tl_keyframe_keys), .text = "A pose at a time.");

#define MOVES(...) .only = "kind: " __VA_ARGS__
static const tl_key schema_motion_keys[] = {
    {ROW(tl_motion_keys, kind, "kind", .kind = TL_KIND_CHOICE), .choice = schema_motion,
     .required = true,
     .text = "along a line at constant speed; as a sine in place and angle; about an axis; through "
             "given poses"},
    {ROW(tl_motion_keys, velocity, "velocity", VECTOR(VELOCITY)), MOVES("velocity"),
     .required = true, .text = "constant velocity"},
    {ROW(tl_motion_keys, amplitude, "amplitude", VECTOR(LENGTH)), MOVES("oscillation"),
     .initial = "0", .text = "largest displacement"},
    {ROW(tl_motion_keys, angle, "angle", NUMBER(ANGLE)), MOVES("oscillation"), .initial = "0",
     .text = "largest angle about the axis"},
    {ROW(tl_motion_keys, frequency, "frequency", NUMBER(FREQUENCY)), MOVES("oscillation"), ABOVE(0),
     .required = true, .text = "periods per second"},
    {ROW(tl_motion_keys, phase, "phase", NUMBER(ANGLE)), MOVES("oscillation"), .initial = "0",
     .text = "of the sine at the start"},
    {ROW(tl_motion_keys, spin, "spin", NUMBER(SPIN)), .also = "rate, speed, omega",
     MOVES("rotation"), .required = true, .text = "angular velocity, counter-clockwise"},
    {ROW(tl_motion_keys, axis, "axis", VECTOR(NONE)), MOVES("oscillation, rotation"), .absent = "z",
     .text = "direction of the axis, of any length (3D)"},
    {ROW(tl_motion_keys, pivot, "pivot", VECTOR(LENGTH)), MOVES("oscillation, rotation"),
     .absent = "where the body is", .text = "a point of the axis"},
    {ROW(tl_motion_keys, keyframes, "keyframes", .kind = TL_KIND_ITEMS), MOVES("keyframes"),
     .sub = &schema_keyframe, .required = true,
     .text = "poses; straight between them, held outside"},
    {ROW(tl_motion_keys, start, "start", NUMBER(TIME)), MOVES("velocity, oscillation, rotation"),
     AT_LEAST(0), .initial = "0 s", .text = "when it begins to move"},
    {ROW(tl_motion_keys, stop, "stop", NUMBER(TIME)), MOVES("velocity, oscillation, rotation"),
     AT_LEAST(0), .absent = "never", .text = "when it stops"},
    {0},
};
static const tl_table schema_motion_table =
    TABLE(schema_motion_keys, .name = "a motion", .path = "motion", .size = sizeof(tl_motion_keys),
          .text = "How a body moves that pushes others and is not pushed: gates, drums, walls.");

// ---- shapes and bodies ----

#define SCHEMA_SHAPE_NAME(name, text, what) text ", "
#define SHAPE(...) .only = "shape: " __VA_ARGS__
// What a part of a clump may have too.
static const tl_key schema_solid_keys[] = {
    {ROW(tl_shape_keys, shape, "shape", .kind = TL_KIND_TEXT), .name = tl_shape_name,
     .initial = "sphere",
     .text = TALUS_SHAPE_LIST(SCHEMA_SHAPE_NAME)
         TALUS_MESH_LIST(SCHEMA_SHAPE_NAME) "or a name of 'shapes'"},
    {ROW(tl_shape_keys, radius, "radius", .kind = TL_KIND_SPREAD, .unit = TL_UNIT_LENGTH), ABOVE(0),
     SHAPE("sphere, drum, cylinder, capsule, cone, worm, funnel, pipe"), .sub = &schema_spread,
     .required = true,
     .text = "radius (cone: of its base; funnel: of its top); grains may have a distribution"},
    {ROW(tl_shape_keys, size, "size", VECTOR(LENGTH)), .also = "edges, extent, width, lengths",
     ABOVE(0), .infinite = true, SHAPE("box, container, ellipsoid, superellipsoid, hopper, ramp"),
     .required = true,
     .text = "lengths of the edges, or of the axes from end to end; a container has no walls along "
             "an axis of size inf; a hopper has the widths of its top and its height, a ramp its "
             "length, width and rise"},
    {ROW(tl_shape_keys, height, "height", NUMBER(LENGTH)), ABOVE(0), .infinite = true,
     SHAPE("drum, cylinder, capsule, cone, funnel, pipe"), .absent = "drum: inf",
     .text = "from end to end along z (2D: y); a drum of height inf has no ends; capsule: between "
             "the centres of its ends"},
    {ROW(tl_shape_keys, exponents, "exponents", .kind = TL_KIND_NUMBERS), BETWEEN(2, 16),
     SHAPE("superellipsoid"), .required = true,
     .text = "p and q of (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q <= 1; 2D: p alone"},
    {ROW(tl_shape_keys, points, "points", .kind = TL_KIND_POINTS, .unit = TL_UNIT_LENGTH),
     .also = "vertices, corners", SHAPE("polyhedron, worm"), .absent = "polyhedron: from a file",
     .text = "corners of a polyhedron, in any order; the line that a worm is around"},
    {ROW(tl_shape_keys, file, "file", .kind = TL_KIND_TEXT), .also = "path, mesh, stl",
     SHAPE("polyhedron, mesh"), .absent = "polyhedron: from points",
     .text = "STL or OBJ file, beside the scene; a polyhedron is the hull of its points"},
    {ROW(tl_shape_keys, file_scale, "file_scale", NUMBER(NONE)), .also = "scale", ABOVE(0),
     SHAPE("polyhedron, mesh"), .initial = "1",
     .text = "factor on the coordinates of the file: 0.001 where they are in mm"},
    {0},
};
static const tl_table schema_solid =
    TABLE(schema_solid_keys, .name = "a shape", .path = "shapes.NAME, bodies.N, grains.N, parts.N",
          .size = sizeof(tl_shape_keys),
          .text = "Further keys of a shape, which the parts of a clump have too.");
static const tl_key schema_part_keys[] = {
    {ROW(tl_part_keys, at, "at", VECTOR(LENGTH)), .also = "position, place, centre",
     .initial = "0 m", .text = "where in the clump"},
    {ROW(tl_part_keys, rotate, "rotate", .kind = TL_KIND_MAP), .sub = &tl_rotate_table,
     .absent = "not turned", .text = "how turned"},
    {.kind = TL_KIND_INCLUDE, .offset = offsetof(tl_part_keys, shape), .sub = &schema_solid},
    {0},
};
static const tl_table schema_part =
    TABLE(schema_part_keys, .name = "a part", .path = "parts.N", .size = sizeof(tl_part_keys),
          .text = "A part of a clump, with the keys of a shape. What several parts fill counts "
                  "once for the mass.");
static const tl_key schema_shape_keys[] = {
    {.kind = TL_KIND_INCLUDE, .offset = 0, .sub = &schema_solid},
    {ROW(tl_shape_keys, normal, "normal", VECTOR(NONE)), SHAPE("half-space"), .absent = "up",
     .text = "direction out of the material, of any length"},
    {ROW(tl_shape_keys, open_top, "open_top", .kind = TL_KIND_YES_NO), SHAPE("container"),
     .initial = "no", .text = "no wall on the upper side"},
    {ROW(tl_shape_keys, weld, "weld", NUMBER(LENGTH)), AT_LEAST(0), SHAPE("mesh"), .initial = "0 m",
     .text = "points of the file that are so near become one; equal ones always do"},
    {ROW(tl_shape_keys, parts, "parts", .kind = TL_KIND_ITEMS), SHAPE("clump"), .sub = &schema_part,
     .required = true, .text = "shapes that are one body together"},
    {ROW(tl_shape_keys, outlet, "outlet", NUMBER(LENGTH)), ABOVE(0), SHAPE("hopper, funnel"),
     .required = true, .text = "width of the outlet of a hopper, radius of that of a funnel"},
    {ROW(tl_shape_keys, rim, "rim", NUMBER(LENGTH)), AT_LEAST(0), SHAPE("hopper, funnel"),
     .initial = "0 m", .text = "height of an upright wall above"},
    {ROW(tl_shape_keys, spout, "spout", NUMBER(LENGTH)), AT_LEAST(0), SHAPE("hopper, funnel"),
     .initial = "0 m", .text = "length of an upright wall below the outlet"},
    {ROW(tl_shape_keys, sides, "sides", .kind = TL_KIND_INTEGER), BETWEEN(3, 1e5),
     SHAPE("funnel, pipe"), .initial = "48", .text = "of the polygon that stands for the circle"},
    {0},
};
static const tl_table schema_shape_part =
    TABLE(schema_shape_keys, .name = "a shape", .path = "shapes.NAME, bodies.N, grains.N",
          .size = sizeof(tl_shape_keys),
          .text = "The keys that make a shape, with those below. They stand in a body or in grains "
                  "themselves, or once under a name in 'shapes'. Disks are spheres in 2D.");
static const tl_key schema_named_shape_keys[] = {
    {.kind = TL_KIND_INCLUDE, .offset = offsetof(tl_scene_shape, shape), .sub = &schema_shape_part},
    {0},
};
static const tl_table schema_named_shape =
    TABLE(schema_named_shape_keys, .name = "a shape", .path = "shapes.NAME",
          .size = sizeof(tl_scene_shape), .text = NULL);

static const tl_key schema_body_part_keys[] = {
    {ROW(tl_body_keys, material, "material", .kind = TL_KIND_TEXT), .initial = "default",
     .text = "a name of 'materials'"},
    {ROW(tl_body_keys, rotate, "rotate", .kind = TL_KIND_MAP),
     .also = "orientation, rotation, angle", .sub = &tl_rotate_table, .absent = "not turned",
     .text = "how it is turned at the start"},
    {ROW(tl_body_keys, velocity, "velocity", VECTOR(VELOCITY)), .initial = "0 m/s",
     .text = "at the start"},
    {ROW(tl_body_keys, spin, "spin", TURN(SPIN)), .also = "angular_velocity, omega",
     .initial = "0 rad/s", .text = "angular velocity at the start"},
    {ROW(tl_body_keys, density, "density", NUMBER(DENSITY)), ABOVE(0), .initial = "2600",
     .text = "mass per volume; in 2D per area (kg/m²)"},
    {ROW(tl_body_keys, mass, "mass", .kind = TL_KIND_SPREAD, .unit = TL_UNIT_MASS), ABOVE(0),
     .sub = &schema_spread, .absent = "from density",
     .text = "in place of the density; grains may have a distribution"},
    {ROW(tl_body_keys, inertia, "inertia", TURN(INERTIA)), ABOVE(0), .absent = "of the shape",
     .text = "principal moments of inertia"},
    {ROW(tl_body_keys, force, "force", VECTOR(FORCE)), .initial = "0 N",
     .text = "constant force besides gravity"},
    {ROW(tl_body_keys, torque, "torque", TURN(TORQUE)), .initial = "0 N m",
     .text = "constant torque"},
    {ROW(tl_body_keys, damping, "damping", NUMBER(FREQUENCY)), AT_LEAST(0), .initial = "0 1/s",
     .text = "rate at which the velocity decays (air)"},
    {ROW(tl_body_keys, spin_damping, "spin_damping", NUMBER(FREQUENCY)), AT_LEAST(0),
     .initial = "0 1/s", .text = "rate at which the spin decays"},
    {ROW(tl_body_keys, locked, "locked", .kind = TL_KIND_WORDS), .choice = schema_locked,
     .absent = "none", .text = "components of velocity and spin that stay zero"},
    {ROW(tl_body_keys, fixed, "fixed", .kind = TL_KIND_YES_NO),
     .absent = "yes for half-space, container, drum", .text = "does not move and is not moved"},
    {ROW(tl_body_keys, motion, "motion", .kind = TL_KIND_MAP), .sub = &schema_motion_table,
     .absent = "free or fixed", .text = "moves as given"},
    {0},
};
static const tl_table schema_body_part =
    TABLE(schema_body_part_keys, .name = "a body", .path = "bodies.N, grains.N",
          .size = sizeof(tl_body_keys), .text = "What single bodies and grains have in common.");

static const tl_key schema_body_keys[] = {
    {ROW(tl_scene_body, name, "name", .kind = TL_KIND_TEXT), .initial = "", .text = "for messages"},
    {ROW(tl_scene_body, at, "at", VECTOR(LENGTH)),
     .also = "position, centre, center, location, origin", .initial = "0 m",
     .text = "where its centre is at the start"},
    {.kind = TL_KIND_INCLUDE, .offset = offsetof(tl_scene_body, shape), .sub = &schema_shape_part},
    {.kind = TL_KIND_INCLUDE, .offset = offsetof(tl_scene_body, body), .sub = &schema_body_part},
    {0},
};
static const tl_table schema_body =
    TABLE(schema_body_keys, .name = "a body", .path = "bodies.N", .size = sizeof(tl_scene_body),
          .text = "Single bodies and obstacles, with the keys of a shape and of a body below.");

// ---- grains ----

static const tl_key schema_region_keys[] = {
    {ROW(tl_region, from, "from", VECTOR(LENGTH)), .absent = "-",
     .text = "corner of a box with the smallest coordinates"},
    {ROW(tl_region, to, "to", VECTOR(LENGTH)), .absent = "-",
     .text = "corner with the largest; may be left out where count or spacing fix the size"},
    {ROW(tl_region, at, "at", VECTOR(LENGTH)), .absent = "-",
     .text = "or: centre of a ball (2D: disk), or of the bottom of an upright cylinder"},
    {ROW(tl_region, radius, "radius", NUMBER(LENGTH)), ABOVE(0), .absent = "-",
     .text = "of the ball or cylinder"},
    {ROW(tl_region, height, "height", NUMBER(LENGTH)), ABOVE(0), .absent = "a ball",
     .text = "of the cylinder (3D)"},
    {0},
};
static const tl_table schema_region = TABLE(
    schema_region_keys, .name = "a region", .path = "grains.N.region", .size = sizeof(tl_region),
    .text = "Where grains are put: a box (from, to) or a ball or cylinder (at, radius). "
            "Grains lie wholly inside.");

#define FILL(...) .only = "fill: " __VA_ARGS__
static const tl_key schema_grains_keys[] = {
    {ROW(tl_scene_grains, name, "name", .kind = TL_KIND_TEXT), .initial = "",
     .text = "for messages"},
    {ROW(tl_scene_grains, fill, "fill", .kind = TL_KIND_CHOICE), .also = "generator, type, kind",
     .choice = schema_fill, .required = true,
     .text = "on a square grid; in close-packed layers, bottom up; one by one at random where "
             "there is room; entering over time where there is room"},
    {ROW(tl_scene_grains, region, "region", .kind = TL_KIND_MAP),
     .also = "box, volume, domain, where", .sub = &schema_region, .required = true,
     .text = "where"},
    {ROW(tl_scene_grains, count, "count", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e7),
     .absent = "lattice, layers: as many as fit", .text = "how many; required for random and rain"},
    {ROW(tl_scene_grains, counts, "counts", .kind = TL_KIND_COUNTS), BETWEEN(1, 1e6),
     FILL("lattice, layers"), .absent = "as many as fit", .text = "how many along each axis"},
    {ROW(tl_scene_grains, spacing, "spacing", NUMBER(LENGTH)), ABOVE(0), FILL("lattice, layers"),
     .absent = "region / counts, or the largest diameter",
     .text = "distance between centres of neighbours"},
    {ROW(tl_scene_grains, jitter, "jitter", NUMBER(LENGTH)), AT_LEAST(0), FILL("lattice, layers"),
     .initial = "0 m", .text = "each coordinate is moved by a random amount up to this"},
    {ROW(tl_scene_grains, pattern, "pattern", .kind = TL_KIND_CHOICE), .choice = schema_pattern,
     .initial = "hex", FILL("layers"),
     .text = "of a layer; the next lies in its hollows (2D, square: straight above)"},
    {ROW(tl_scene_grains, clearance, "clearance", NUMBER(LENGTH)), AT_LEAST(0),
     FILL("random, rain"), .initial = "0 m", .text = "room left between a new grain and others"},
    {ROW(tl_scene_grains, tries, "tries", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e6),
     FILL("random, rain"), .initial = "1000",
     .text = "places tried for a grain (rain: in a step) before giving up"},
    {ROW(tl_scene_grains, rate, "rate", NUMBER(FREQUENCY)), ABOVE(0), FILL("rain"),
     .required = true, .text = "grains per second"},
    {ROW(tl_scene_grains, start, "start", NUMBER(TIME)), AT_LEAST(0), FILL("rain"),
     .initial = "0 s", .text = "when the first enters"},
    {ROW(tl_scene_grains, scale, "scale", .kind = TL_KIND_SPREAD), ABOVE(0), .sub = &schema_spread,
     .initial = "1", .text = "factor on all lengths of the shape"},
    {ROW(tl_scene_grains, random_turn, "random_turn", .kind = TL_KIND_YES_NO), .initial = "no",
     .text = "each grain is turned at random"},
    {ROW(tl_scene_grains, seed, "seed", .kind = TL_KIND_INTEGER), BETWEEN(0, 9e15),
     .absent = "from the scene's", .text = "seed of the random numbers of these grains"},
    {.kind = TL_KIND_INCLUDE,
     .offset = offsetof(tl_scene_grains, shape),
     .sub = &schema_shape_part},
    {.kind = TL_KIND_INCLUDE, .offset = offsetof(tl_scene_grains, body), .sub = &schema_body_part},
    {0},
};
static const tl_table schema_grains = TABLE(
    schema_grains_keys, .name = "grains", .path = "grains.N", .size = sizeof(tl_scene_grains),
    .text = "Many bodies at once, with the keys of a shape and of a body below. The same seed "
            "gives the same grains.");

// ---- sand ----

static const tl_key schema_sand_box_keys[] = {
    {ROW(tl_sand_box, from, "from", VECTOR(LENGTH)), .required = true,
     .text = "corner with the smallest coordinates"},
    {ROW(tl_sand_box, to, "to", VECTOR(LENGTH)), .required = true,
     .text = "corner with the largest: a whole number of cells away"},
    {0},
};
static const tl_table schema_sand_box = TABLE(
    schema_sand_box_keys, .name = "the box of sand", .path = "sand.box",
    .size = sizeof(tl_sand_box),
    .text = "Where sand may go. Only cells that hold sand take memory: it may be far larger.");

#define FACE(field, stands, what)                                                                  \
    {                                                                                              \
        ROW(tl_sand_faces, field, #field, .kind = TL_KIND_CHOICE),                                 \
            .choice = schema_face, .initial = (stands), .text = (what)                             \
    }
static const tl_key schema_sand_faces_keys[] = {
    FACE(left, "slip",
         "smallest x: the sand does not move there; it moves along it, without "
         "friction; through it, not along it; what passes is gone"),
    FACE(right, "slip", "largest x"),
    FACE(front, "slip", "smallest y (3D)"),
    FACE(back, "slip", "largest y (3D)"),
    FACE(bottom, "stick", "smallest z (2D: y)"),
    FACE(top, "slip", "largest z (2D: y)"),
    {0},
};
static const tl_table schema_sand_faces = TABLE(
    schema_sand_faces_keys, .name = "the faces of the box", .path = "sand.faces",
    .size = sizeof(tl_sand_faces),
    .text = "What the faces of the box do. Walls with friction are bodies (half-space, box).");

static const tl_key schema_sand_fill_keys[] = {
    {ROW(tl_sand_fill, region, "region", .kind = TL_KIND_MAP), .also = "box, volume, where",
     .sub = &schema_region, .required = true, .text = "where; a box is filled exactly"},
    {ROW(tl_sand_fill, within, "within", .kind = TL_KIND_MAP), .also = "inside, shape",
     .sub = &schema_part, .absent = "all of the region",
     .text = "only what is within this shape, which may be of any kind: mesh, clump, turned box"},
    {ROW(tl_sand_fill, per_edge, "per_edge", .kind = TL_KIND_INTEGER),
     .also = "particles, particles_per_cell, count", BETWEEN(1, 16), .initial = "2",
     .text = "particles along the edge of a cell: 2 are 4 a cell in 2D, 8 in 3D"},
    {ROW(tl_sand_fill, jitter, "jitter", NUMBER(NONE)), BETWEEN(0, 1), .initial = "0",
     .text = "each is moved by a random amount, up to this part of what keeps it in its place"},
    {ROW(tl_sand_fill, fraction, "fraction", NUMBER(NONE)), .also = "phi", BETWEEN(0, 1),
     .above = true, .absent = "the densest", .text = "part of the space that grains take"},
    {ROW(tl_sand_fill, velocity, "velocity", VECTOR(VELOCITY)), .initial = "0 m/s",
     .text = "at the start"},
    {ROW(tl_sand_fill, seed, "seed", .kind = TL_KIND_INTEGER), BETWEEN(0, 9e15),
     .absent = "from the scene's", .text = "seed of the random numbers of this entry"},
    {0},
};
static const tl_table schema_sand_fill = TABLE(
    schema_sand_fill_keys, .name = "sand", .path = "sand.fill.N", .size = sizeof(tl_sand_fill),
    .text = "Sand that is there at the start. Where bodies of 'bodies' are, none is put.");

static const tl_key schema_sand_keys[] = {
    {ROW(tl_sand_keys, cell, "cell", NUMBER(LENGTH)), .also = "size, h, dx, resolution, edge",
     ABOVE(0), .required = true, .text = "edge of a grid cell"},
    {ROW(tl_sand_keys, box, "box", .kind = TL_KIND_MAP), .also = "domain, region, grid",
     .sub = &schema_sand_box, .required = true, .text = "where sand may go"},
    {ROW(tl_sand_keys, faces, "faces", .kind = TL_KIND_MAP), .also = "boundary, walls",
     .sub = &schema_sand_faces, .absent = "see below", .text = "of the box"},
    {ROW(tl_sand_keys, friction, "friction", NUMBER(NONE)), .also = "mu", BETWEEN(0, 10),
     .initial = "0.5",
     .text = "shear stress over pressure at which sand at rest yields: the tangent of its angle of "
             "repose"},
    {ROW(tl_sand_keys, flow_friction, "flow_friction", NUMBER(NONE)), .also = "friction_flow",
     BETWEEN(0, 10), .absent = "friction",
     .text = "the same at a large inertial number; not less than friction, needs diameter"},
    {ROW(tl_sand_keys, inertial, "inertial", NUMBER(NONE)), ABOVE(0), .initial = "0.4",
     .text = "inertial number at which friction is half way between the two"},
    {ROW(tl_sand_keys, diameter, "diameter", NUMBER(LENGTH)), AT_LEAST(0), .initial = "0 m",
     .text = "of the grains, for the inertial number; 0: friction does not change"},
    {ROW(tl_sand_keys, density, "density", NUMBER(DENSITY)), ABOVE(0), .initial = "2600",
     .text = "of the grain material; in 2D per area (kg/m²)"},
    {ROW(tl_sand_keys, fraction, "fraction", NUMBER(NONE)), .also = "phi_max, phi", BETWEEN(0, 1),
     .above = true, .initial = "0.6", .text = "part of the space that grains take at the densest"},
    {ROW(tl_sand_keys, height, "height", NUMBER(LENGTH)), .also = "depth, scale", AT_LEAST(0),
     .absent = "of what 'fill' puts there",
     .text = "the solver's tolerance is relative to the pressure under sand of this height; 0: to "
             "the largest load, as without sand"},
    {ROW(tl_sand_keys, cohesion, "cohesion", NUMBER(PRESSURE)), AT_LEAST(0), .initial = "0 Pa",
     .text = "pressure that pulls it apart, where it is dense"},
    {ROW(tl_sand_keys, debonding, "debonding", NUMBER(NONE)), AT_LEAST(0), .initial = "0",
     .text = "cohesion decays at this rate times the rate of strain"},
    {ROW(tl_sand_keys, transfer, "transfer", .kind = TL_KIND_CHOICE), .choice = schema_transfer,
     .initial = "apic",
     .text = "how velocities go between particles and grid: affine; the grid's, damps rotation; "
             "the grid's change, noisy"},
    {ROW(tl_sand_keys, stress, "stress", .kind = TL_KIND_CHOICE), .also = "space, stresses",
     .choice = schema_stress, .initial = "q1",
     .text =
         "where stresses live: at nodes; at the corners of each cell; at particles, whose edges "
         "stay sharp"},
    {ROW(tl_sand_keys, viscosity, "viscosity", NUMBER(NONE)), .also = "eta", AT_LEAST(0),
     .initial = "0", .text = "of the grains [Pa s]: a stress besides that of friction"},
    {ROW(tl_sand_keys, correction, "correction", NUMBER(NONE)), .also = "volume_correction",
     BETWEEN(0, 1), .initial = "0",
     .text = "share of what is too dense that each step makes room for"},
    {ROW(tl_sand_keys, resample, "resample", .kind = TL_KIND_YES_NO), .also = "split, splitting",
     .initial = "no", .text = "split particles that are drawn out, merge those pressed flat"},
    {ROW(tl_sand_keys, packed, "packed", .kind = TL_KIND_CHOICE), .choice = schema_packed,
     .initial = "rest",
     .text = "where sand whose particles have kept their density is dense even if it does not fill "
             "the cells: nowhere (surfaces creep); where it is at rest; everywhere"},
    {ROW(tl_sand_keys, anisotropy, "anisotropy", NUMBER(NONE)), BETWEEN(0, 0.99), .initial = "0",
     .text =
         "of friction, where grains are flat: (1 - a)² of it along their sides; 0: round grains"},
    {ROW(tl_sand_keys, elongation, "elongation", NUMBER(NONE)), BETWEEN(-1, 1), .initial = "1",
     .text =
         "how fast flat grains turn in shear (Jeffery); 1: thin disks, 0: with the flow's spin"},
    {ROW(tl_sand_keys, disorder, "disorder", NUMBER(NONE)), .also = "brownian", AT_LEAST(0),
     .initial = "0", .text = "rate, over that of strain, at which their direction is lost"},
    {ROW(tl_sand_keys, normals, "normals", VECTOR(NONE)), .also = "orientation", .initial = "0",
     .text = "shares of their normals along the axes at the start; all 0: equal ones"},
    {ROW(tl_sand_keys, material, "material", .kind = TL_KIND_TEXT), .initial = "default",
     .text = "a name of 'materials', for its friction with bodies"},
    {ROW(tl_sand_keys, fill, "fill", .kind = TL_KIND_ITEMS), .also = "particles, regions",
     .sub = &schema_sand_fill, .required = true, .text = "sand at the start"},
    {0},
};
static const tl_table schema_sand = TABLE(
    schema_sand_keys, .name = "sand", .path = "sand", .size = sizeof(tl_sand_keys),
    .text = "Sand as a continuum: particles on a grid, in one friction problem with the bodies. "
            "With the schemes fixed-point and convex, without 'period'.");

// ---- joints ----

#define JOINT(...) .only = "type: " __VA_ARGS__
static const tl_key schema_joint_keys[] = {
    {ROW(tl_scene_joint, type, "type", .kind = TL_KIND_CHOICE), .also = "kind, joint",
     .choice = schema_joint_type, .required = true,
     .text = "leaves free: turning about the anchor; turning about the axis; sliding along the "
             "axis; all but the distance of two points; nothing"},
    {ROW(tl_scene_joint, a, "a", .kind = TL_KIND_TEXT), .also = "body, body_a", .required = true,
     .text = "a body: its name, or its number in 'bodies' from 0 on"},
    {ROW(tl_scene_joint, b, "b", .kind = TL_KIND_TEXT), .also = "to, body_b, parent",
     .absent = "the world", .text = "the other body, likewise"},
    {ROW(tl_scene_joint, anchor, "anchor", VECTOR(LENGTH)), .also = "at, point, pivot, position",
     .absent = "the centre of a", .text = "point of the joint, at the start; distance: point of a"},
    {ROW(tl_scene_joint, anchor_b, "anchor_b", VECTOR(LENGTH)), JOINT("distance"),
     .absent = "the centre of b", .text = "point of b, or of the world"},
    {ROW(tl_scene_joint, axis, "axis", VECTOR(NONE)), JOINT("hinge, slider"),
     .absent = "z for a hinge, x for a slider", .text = "direction of the axis, of any length"},
    {ROW(tl_scene_joint, length, "length", NUMBER(LENGTH)), JOINT("distance"), ABOVE(0),
     .absent = "as it is", .text = "distance to be kept"},
    {ROW(tl_scene_joint, spin, "spin", NUMBER(SPIN)), .also = "rate, omega", JOINT("hinge"),
     .absent = "no motor", .text = "a motor turns a against b at this rate"},
    {ROW(tl_scene_joint, torque, "torque", NUMBER(TORQUE)), JOINT("hinge"), AT_LEAST(0),
     .infinite = true, .absent = "whatever it takes",
     .text = "most torque of the motor; without spin: of dry friction in the hinge"},
    {ROW(tl_scene_joint, speed, "speed", NUMBER(VELOCITY)), .also = "velocity", JOINT("slider"),
     .absent = "no motor", .text = "a motor moves a against b at this speed"},
    {ROW(tl_scene_joint, force, "force", NUMBER(FORCE)), JOINT("slider"), AT_LEAST(0),
     .infinite = true, .absent = "whatever it takes",
     .text = "most force of the motor; without speed: of dry friction in the slider"},
    {ROW(tl_scene_joint, min_angle, "min_angle", NUMBER(ANGLE)), JOINT("hinge"), .low = -INFINITY,
     .absent = "none", .text = "stop, from where it begins; <= 0"},
    {ROW(tl_scene_joint, max_angle, "max_angle", NUMBER(ANGLE)), JOINT("hinge"), AT_LEAST(0),
     .absent = "none", .text = "stop on the other side"},
    {ROW(tl_scene_joint, min_shift, "min_shift", NUMBER(LENGTH)), JOINT("slider"), .low = -INFINITY,
     .absent = "none", .text = "stop, from where it begins; <= 0"},
    {ROW(tl_scene_joint, max_shift, "max_shift", NUMBER(LENGTH)), JOINT("slider"), AT_LEAST(0),
     .absent = "none", .text = "stop on the other side"},
    {ROW(tl_scene_joint, collide, "collide", .kind = TL_KIND_YES_NO), .initial = "no",
     .text = "the two bodies also touch each other"},
    {0},
};
static const tl_table schema_joint = TABLE(
    schema_joint_keys, .name = "a joint", .path = "joints.N", .size = sizeof(tl_scene_joint),
    .text =
        "Joints between bodies of 'bodies', or a body and the world, as they are at the start.");

// ---- materials ----

// `stands` gives the text of a default for a material, or words for a pair.
#define MATERIAL_ROWS(type, stands)                                                                \
    {ROW(type, def.friction, "friction", NUMBER(NONE)), .also = "mu, coulomb", AT_LEAST(0),        \
     stands("0.5"), .text = "coefficient of Coulomb friction"},                                    \
        {ROW(type, def.restitution, "restitution", NUMBER(NONE)), .also = "elasticity, bounce",    \
         BETWEEN(0, 1), stands("0"),                                                               \
         .text = "part of the normal velocity that comes back (moreau-jean, penalty)"},            \
        {ROW(type, def.restitution_t, "restitution_t", NUMBER(NONE)), BETWEEN(0, 1), stands("0"),  \
         .text = "part of the tangential velocity that comes back (moreau-jean)"},                 \
        {ROW(type, def.stiffness, "stiffness", NUMBER(STIFFNESS)), ABOVE(0), stands("1e5"),        \
         .text = "normal spring (penalty: clamped, linear)"},                                      \
        {ROW(type, def.damping, "contact_damping", NUMBER(DAMPING)), AT_LEAST(0),                  \
         .absent = "from restitution", .text = "normal dashpot (penalty: clamped, linear)"},       \
        {ROW(type, def.young, "young", NUMBER(PRESSURE)), ABOVE(0), stands("1e7"),                 \
         .text = "Young's modulus (penalty: hertz)"},                                              \
        {ROW(type, def.poisson, "poisson", NUMBER(NONE)), BETWEEN(0, 0.5), .below = true,          \
         stands("0.3"), .text = "Poisson's ratio (penalty: hertz)"},                               \
    {                                                                                              \
        ROW(type, def.tangential, "tangential", NUMBER(NONE)), ABOVE(0),                           \
            stands("0.2857142857142857"), .text = "tangential over normal stiffness (penalty)"     \
    }
#define SCHEMA_INITIAL(x) .initial = (x)
#define SCHEMA_MEAN(x) .absent = "geometric mean of the two"
static const tl_key schema_material_keys[] = {MATERIAL_ROWS(tl_scene_material, SCHEMA_INITIAL),
                                              {0}};
static const tl_table schema_material = TABLE(
    schema_material_keys, .name = "a material", .path = "materials.NAME",
    .size = sizeof(tl_scene_material),
    .text = "Materials by name. Bodies without 'material' are of the material 'default', which "
            "is there with the defaults below unless it is given.");
static const tl_key schema_pair_keys[] = {
    {ROW(tl_scene_pair, between, "between", .kind = TL_KIND_NAMES), .required = true,
     .text = "the two materials"},
    MATERIAL_ROWS(tl_scene_pair, SCHEMA_MEAN),
    {0}};
static const tl_table schema_pair =
    TABLE(schema_pair_keys, .name = "a pair", .path = "pairs.N", .size = sizeof(tl_scene_pair),
          .text = "What holds between two materials, where it is not the geometric mean.");

// ---- the scene ----

#define PART(field) offsetof(tl_scene_keys, field)
#define ROW_IN(group, field, word, ...)                                                            \
    .key = (word), .offset = offsetof(tl_scene_keys, group.field) - PART(group), __VA_ARGS__

static const tl_key schema_step_keys[] = {
    {ROW_IN(step, length, "length", NUMBER(TIME)), .also = "h, dt, timestep, size", ABOVE(0),
     .initial = "1 ms", .text = "length of a step; with max_move the largest"},
    {ROW_IN(step, max_move, "max_move", NUMBER(LENGTH)), AT_LEAST(0),
     .absent = "0 m; with sand a cell",
     .text = "steps are so short that no point moves farther; 0: all steps have the length"},
    {ROW_IN(step, reach, "reach", NUMBER(LENGTH)), AT_LEAST(0), .initial = "0 m",
     .text = "pairs nearer than this become contacts; 0: twice the way of the fastest body"},
    {ROW_IN(step, theta, "theta", NUMBER(NONE)), BETWEEN(0.5, 1), .initial = "0.5",
     .text = "share of the new velocity in a step (moreau-jean)"},
    {ROW_IN(step, continuous, "continuous", .kind = TL_KIND_YES_NO), .also = "ccd, sweep",
     .initial = "no",
     .text = "fast thin bodies do not pass through others: moreau-jean shortens steps to their "
             "impacts, fixed-point and convex take no less reach than they need; not for penalty"},
    {0},
};
static const tl_key schema_penalty_keys[] = {
    {ROW_IN(penalty, spring, "spring", .kind = TL_KIND_CHOICE), .choice = schema_spring,
     .initial = "clamped", .text = "normal force over depth"},
    {ROW_IN(penalty, dissipation, "dissipation", .kind = TL_KIND_CHOICE), .choice = schema_chi,
     .initial = "hunt-crossley", .text = "how hertz loses energy"},
    {ROW_IN(penalty, integrator, "integrator", .kind = TL_KIND_CHOICE), .choice = schema_integrator,
     .initial = "leap-frog", .text = "how a step is integrated"},
    {0},
};
static const tl_key schema_solver_keys[] = {
    {ROW_IN(solver, name, "name", .kind = TL_KIND_TEXT), .initial = "auto",
     .text = "a name of 'talus help solvers'; with sand nlgs where none is given"},
    {ROW_IN(solver, tolerance, "tolerance", NUMBER(NONE)), ABOVE(0), .initial = "1e-6",
     .text = "largest residual of the certificate; steps that miss it are counted; with sand under "
             "gravity 1e-3 where none is given"},
    {ROW_IN(solver, iterations, "iterations", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e9),
     .initial = "100000", .text = "most iterations in a step"},
    {ROW_IN(solver, time_limit, "time_limit", NUMBER(TIME)), ABOVE(0), .infinite = true,
     .initial = "60 s",
     .text = "most time spent solving a step; makes results depend on the machine"},
    {ROW_IN(solver, warm_start, "warm_start", .kind = TL_KIND_YES_NO), .initial = "yes",
     .text = "begin with the impulses of the step before"},
    {ROW_IN(solver, threads, "threads", .kind = TL_KIND_INTEGER), BETWEEN(1, 256), .initial = "1",
     .text = "threads; results do not depend on it"},
    {ROW_IN(solver, options, "options", .kind = TL_KIND_OPTIONS), .absent = "those of the solver",
     .text = "options of that solver ('talus help NAME')"},
    {0},
};
static const tl_key schema_run_keys[] = {
    {ROW_IN(run, until, "until", NUMBER(TIME)), .also = "end, duration, time", ABOVE(0),
     .required = true, .text = "end of the run"},
    {ROW_IN(run, steps, "steps", .kind = TL_KIND_INTEGER), BETWEEN(0, 9e15), .initial = "0",
     .text = "most steps; 0: as many as needed"},
    {ROW_IN(run, stop_at_rest, "stop_at_rest", .kind = TL_KIND_YES_NO), .initial = "no",
     .text = "end earlier when the kinetic energy stays below rest_energy"},
    {ROW_IN(run, rest_energy, "rest_energy", NUMBER(ENERGY)), ABOVE(0), .initial = "1 nJ",
     .text = "kinetic energy of a body, particle of sand or node of a rod at rest, on average"},
    {0},
};
static const tl_key schema_output_keys[] = {
    {ROW_IN(output, every, "every", NUMBER(TIME)), .also = "interval, frames, period", ABOVE(0),
     .absent = "a hundredth of the run", .text = "time between recorded frames"},
    {ROW_IN(output, contacts, "contacts", .kind = TL_KIND_YES_NO), .initial = "yes",
     .text = "record contacts and their forces with each frame"},
    {ROW_IN(output, ledger, "ledger", .kind = TL_KIND_YES_NO), .initial = "yes",
     .text = "record energies, momenta and solver figures of every step"},
    {ROW_IN(output, precision, "precision", .kind = TL_KIND_CHOICE), .choice = schema_precision,
     .initial = "compact",
     .text = "of the recorded frames: compact keeps lengths to 1e-4 of the smallest body and "
             "vectors to 1/2048; checkpoints are always exact"},
    {ROW_IN(output, fields, "fields", .kind = TL_KIND_WORDS), .choice = schema_field,
     .absent = "all",
     .text =
         "what frames hold besides the positions of bodies and particles and which bodies touch"},
    {ROW_IN(output, observe, "observe", .kind = TL_KIND_NAMES), .absent = "nothing",
     .text = "numbers that are measured at every step and put down with the ledger: "
             "'talus help observables' lists them"},
    {ROW_IN(output, checkpoints, "checkpoints", NUMBER(TIME)), ABOVE(0), .also = "checkpoint",
     .absent = "one at the start and one at the end; between them, the last one by the clock",
     .text = "simulated time between checkpoints that are kept"},
    {ROW_IN(output, xdmf, "xdmf", .kind = TL_KIND_YES_NO), .initial = "yes",
     .text = "write an XDMF file beside the recording, for ParaView"},
    {0},
};
static const tl_key schema_start_keys[] = {
    {ROW_IN(start, from, "from", .kind = TL_KIND_TEXT), .also = "file, recording", .required = true,
     .text = "a recording, beside the scene: all its free bodies are there at the start, as its "
             "last checkpoint has them, except those whose name this scene has too; and its sand, "
             "where this scene has 'sand' (with 'fill: []' no other)"},
    {ROW_IN(start, velocities, "velocities", .kind = TL_KIND_YES_NO), .also = "velocity, spin",
     .initial = "yes", .text = "they keep their velocities and spins; no: they begin at rest"},
    {0},
};

#define PART_TABLE(group, rows, words, what)                                                       \
    static const tl_table schema_##group = {.name = (words),                                       \
                                            .path = #group,                                        \
                                            .keys = (rows),                                        \
                                            .size = sizeof((tl_scene_keys *)0)->group,             \
                                            .text = (what)}
PART_TABLE(step, schema_step_keys, "step", "The time step.");
PART_TABLE(penalty, schema_penalty_keys, "penalty", "Only for scheme: penalty.");
PART_TABLE(solver, schema_solver_keys, "solver",
           "How the friction problem of each step is solved.");
PART_TABLE(run, schema_run_keys, "run", "How long to run.");
PART_TABLE(output, schema_output_keys, "output", "What is recorded.");
PART_TABLE(start, schema_start_keys, "start",
           "Go on from another run: fill a box in one scene, open its gate in the next.");

#define ROOT(field, word, ...) ROW(tl_scene_keys, field, word, __VA_ARGS__)
static const tl_key schema_scene_keys[] = {
    {ROOT(version, "version", .kind = TL_KIND_INTEGER), BETWEEN(1, 1), .required = true,
     .text = "version of this format"},
    {ROOT(title, "title", .kind = TL_KIND_TEXT), .initial = "", .text = "a line for people"},
    {ROOT(dimension, "dimension", .kind = TL_KIND_INTEGER), .also = "dim, dimensions",
     BETWEEN(2, 3), .initial = "3",
     .text = "2: x and y, up is y; 3: x, y and z, up is z. A vector has this many numbers"},
    {ROOT(gravity, "gravity", VECTOR(ACCELERATION)), .absent = "9.81 downwards",
     .text = "acceleration of gravity"},
    {ROOT(period, "period", VECTOR(LENGTH)), AT_LEAST(0), .initial = "0 m",
     .text = "length of a periodic cell along each axis; 0: not periodic"},
    {ROOT(seed, "seed", .kind = TL_KIND_INTEGER), BETWEEN(0, 9e15), .initial = "1",
     .text = "seed of all random numbers"},
    {ROOT(allow_overlap, "allow_overlap", NUMBER(LENGTH)), AT_LEAST(0), .initial = "0 m",
     .text = "overlap at the start that is no error; besides, 1e-9 of the smaller body is allowed"},
    {ROOT(scheme, "scheme", .kind = TL_KIND_CHOICE), .choice = schema_scheme,
     .initial = "fixed-point",
     .text =
         "fixed-point: gaps and exact Coulomb friction at the end of the step; convex: the same "
         "with the associated law, opens while sliding; moreau-jean: impact laws; penalty: "
         "springs and dashpots, small steps"},
    {ROOT(step, "step", .kind = TL_KIND_MAP), .sub = &schema_step, .absent = "see below",
     .text = "time step"},
    {ROOT(penalty, "penalty", .kind = TL_KIND_MAP), .sub = &schema_penalty, .absent = "see below",
     .only = "scheme: penalty", .text = "springs"},
    {ROOT(solver, "solver", .kind = TL_KIND_MAP), .sub = &schema_solver, .absent = "see below",
     .text = "solver"},
    {ROOT(materials, "materials", .kind = TL_KIND_NAMED), .sub = &schema_material, .absent = "none",
     .text = "materials"},
    {ROOT(pairs, "pairs", .kind = TL_KIND_ITEMS), .sub = &schema_pair, .absent = "none",
     .text = "pairs of materials"},
    {ROOT(shapes, "shapes", .kind = TL_KIND_NAMED), .sub = &schema_named_shape, .absent = "none",
     .text = "shapes by name"},
    {ROOT(bodies, "bodies", .kind = TL_KIND_ITEMS), .sub = &schema_body, .absent = "none",
     .text = "single bodies and obstacles"},
    {ROOT(grains, "grains", .kind = TL_KIND_ITEMS), .sub = &schema_grains, .absent = "none",
     .text = "many bodies"},
    {ROOT(sand, "sand", .kind = TL_KIND_MAP), .sub = &schema_sand, .absent = "none",
     .text = "sand as a continuum"},
    {ROOT(rods, "rods", .kind = TL_KIND_ITEMS), .also = "fibres, ropes, hair, strands",
     .sub = &tl_rods_table, .absent = "none", .text = "elastic rods: ropes, hair, wires"},
    {ROOT(start, "start", .kind = TL_KIND_MAP), .sub = &schema_start, .absent = "nothing",
     .text = "bodies from a recording"},
    {ROOT(joints, "joints", .kind = TL_KIND_ITEMS), .sub = &schema_joint, .absent = "none",
     .text = "joints and motors"},
    {ROOT(run, "run", .kind = TL_KIND_MAP), .sub = &schema_run, .required = true,
     .text = "length of the run"},
    {ROOT(output, "output", .kind = TL_KIND_MAP), .sub = &schema_output, .absent = "see below",
     .text = "recording"},
    {0},
};
const tl_table tl_scene_table =
    TABLE(schema_scene_keys, .name = "a scene", .path = "", .size = sizeof(tl_scene_keys),
          .text = "The keys of a scene.");

const char *tl_kind_text(tl_kind kind) {
    static const char *const text[] = {
#define SCHEMA_KIND_TEXT(name, words) [name] = words,
        TL_KIND_LIST(SCHEMA_KIND_TEXT)
#undef SCHEMA_KIND_TEXT
    };
    return text[kind];
}

void tl_key_range(const tl_key *key, char *out, size_t size) {
    const char *last = key->infinite ? " or inf" : "";
    size_t used = 0;
    out[0] = '\0';
    if (key->kind == TL_KIND_YES_NO) {
        (void)snprintf(out, size, "yes, no");
    } else if (key->choice) {
        for (int k = 0; key->choice(k) && used < size; k++)
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", k ? ", " : "", key->choice(k));
    } else if (key->low == 0.0 && key->high == 0.0) {
        return;
    } else if (isinf(key->high)) {
        (void)snprintf(out, size, "%s %.16g%s", key->above ? ">" : ">=", key->low, last);
    } else if (key->low == key->high) {
        (void)snprintf(out, size, "%.16g", key->low);
    } else {
        (void)snprintf(out, size, "%c%.16g, %.16g%c%s", key->above ? '(' : '[', key->low, key->high,
                       key->below ? ')' : ']', last);
    }
}

const tl_key *tl_table_find(const tl_table *table, const char *key) {
    for (const tl_key *row = table->keys; !tl_key_is_end(row); row++) {
        const tl_key *found = NULL;
        if (row->kind == TL_KIND_INCLUDE) {
            found = tl_table_find(row->sub, key);
        } else if (strcmp(row->key, key) == 0) {
            found = row;
        }
        if (found) return found;
    }
    return NULL;
}
