// SPDX-License-Identifier: Apache-2.0
// The tables of `rods`.
#include "scene/schema_rows.h"

#define RODS_TEXT(name, text, what) text,
SCHEMA_CHOICES(rods_model, TALUS_ROD_LIST(RODS_TEXT))
SCHEMA_CHOICES(rods_end, "free", "pinned", "clamped")
SCHEMA_CHOICES(rods_shape, "straight", "as-placed", "curl")
#undef RODS_TEXT

#define PLACE_TABLE(type, rows, words, where, what)                                                \
    TABLE(rows, .name = (words), .path = (where), .size = sizeof(type), .text = (what))

static const tl_key rods_line_keys[] = {
    {ROW(tl_rod_line, from, "from", VECTOR(LENGTH)), .required = true, .text = "its start"},
    {ROW(tl_rod_line, to, "to", VECTOR(LENGTH)), .required = true, .text = "its end"},
    {0},
};
static const tl_table rods_line =
    PLACE_TABLE(tl_rod_line, rods_line_keys, "a line", "rods.N.line", "A straight rod.");

static const tl_key rods_circle_keys[] = {
    {ROW(tl_rod_circle, at, "at", VECTOR(LENGTH)), .initial = "0 m", .text = "its centre"},
    {ROW(tl_rod_circle, radius, "radius", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "of the circle, to the centre line"},
    {ROW(tl_rod_circle, axis, "axis", VECTOR(NONE)), .absent = "z",
     .text = "direction that it turns about, of any length"},
    {ROW(tl_rod_circle, start, "start", NUMBER(ANGLE)), .initial = "0 rad",
     .text = "where it begins; 0 is along x (along y where the axis is)"},
    {ROW(tl_rod_circle, angle, "angle", NUMBER(ANGLE)), .initial = "180 deg",
     .text = "how far it goes, counter-clockwise; less than a whole turn"},
    {0},
};
static const tl_table rods_circle = PLACE_TABLE(tl_rod_circle, rods_circle_keys, "a circle",
                                                "rods.N.circle", "A rod along part of a circle.");

static const tl_key rods_helix_keys[] = {
    {ROW(tl_rod_helix, at, "at", VECTOR(LENGTH)), .initial = "0 m",
     .text = "where its axis begins"},
    {ROW(tl_rod_helix, radius, "radius", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "of the helix, to the centre line"},
    {ROW(tl_rod_helix, pitch, "pitch", NUMBER(LENGTH)), .required = true,
     .text = "rise along the axis in a turn"},
    {ROW(tl_rod_helix, turns, "turns", NUMBER(NONE)), ABOVE(0), .required = true,
     .text = "how many"},
    {ROW(tl_rod_helix, axis, "axis", VECTOR(NONE)), .absent = "z",
     .text = "its direction, of any length"},
    {ROW(tl_rod_helix, start, "start", NUMBER(ANGLE)), .initial = "0 rad",
     .text = "angle where it begins; 0 is along x (along y where the axis is)"},
    {0},
};
static const tl_table rods_helix = PLACE_TABLE(tl_rod_helix, rods_helix_keys, "a helix",
                                               "rods.N.helix", "A rod wound about an axis.");

static const tl_key rods_tress_keys[] = {
    {ROW(tl_rod_tress, count, "count", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e6), .required = true,
     .text = "how many strands"},
    {ROW(tl_rod_tress, at, "at", VECTOR(LENGTH)), .initial = "0 m",
     .text = "centre of the disc that they begin on"},
    {ROW(tl_rod_tress, radius, "radius", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "of that disc"},
    {ROW(tl_rod_tress, length, "length", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "of a strand"},
    {ROW(tl_rod_tress, direction, "direction", VECTOR(NONE)), .absent = "down",
     .text = "that they point in; the disc is across it"},
    {ROW(tl_rod_tress, spread, "spread", NUMBER(ANGLE)), BETWEEN(0, 1.4), .initial = "0 rad",
     .text = "how far those at the rim lean outwards"},
    {0},
};
static const tl_table rods_tress = PLACE_TABLE(
    tl_rod_tress, rods_tress_keys, "a tress", "rods.N.tress",
    "Many straight strands, side by side on a disc. Their starts are clamped unless 'start' says "
    "otherwise.");

static const tl_key rods_cap_keys[] = {
    {ROW(tl_rod_cap, count, "count", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e6), .required = true,
     .text = "how many strands"},
    {ROW(tl_rod_cap, at, "at", VECTOR(LENGTH)), .initial = "0 m", .text = "centre of the ball"},
    {ROW(tl_rod_cap, radius, "radius", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "of the ball"},
    {ROW(tl_rod_cap, angle, "angle", NUMBER(ANGLE)), BETWEEN(0, 3.1415926535897932), .above = true,
     .initial = "90 deg", .text = "from the axis to the rim of the cap"},
    {ROW(tl_rod_cap, axis, "axis", VECTOR(NONE)), .absent = "z",
     .text = "from the centre of the ball to that of the cap"},
    {ROW(tl_rod_cap, length, "length", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "of a strand"},
    {ROW(tl_rod_cap, lift, "lift", NUMBER(LENGTH)), AT_LEAST(0), .absent = "1.1 radii of a strand",
     .text = "of the starts above the ball"},
    {0},
};
static const tl_table rods_cap = PLACE_TABLE(
    tl_rod_cap, rods_cap_keys, "a cap", "rods.N.cap",
    "Many strands that stand up on part of a ball, as hair on a head. Their starts are clamped "
    "unless 'start' says otherwise.");

static const tl_key rods_rope_keys[] = {
    {ROW(tl_rod_rope, from, "from", VECTOR(LENGTH)), .required = true, .text = "one end"},
    {ROW(tl_rod_rope, to, "to", VECTOR(LENGTH)), .required = true, .text = "the other"},
    {ROW(tl_rod_rope, strands, "strands", .kind = TL_KIND_INTEGER), BETWEEN(2, 64), .initial = "3",
     .text = "that are laid about each other"},
    {ROW(tl_rod_rope, lay, "lay", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "length of the rope in which a strand goes around once"},
    {ROW(tl_rod_rope, gap, "gap", NUMBER(NONE)), AT_LEAST(0), .initial = "0.02",
     .text = "room between strands at the start, in radii"},
    {0},
};
static const tl_table rods_rope =
    PLACE_TABLE(tl_rod_rope, rods_rope_keys, "a rope", "rods.N.rope",
                "Strands laid about each other. One thick rod (line) is a rope, too.");

static const tl_key rods_net_keys[] = {
    {ROW(tl_rod_net, at, "at", VECTOR(LENGTH)), .initial = "0 m", .text = "its centre"},
    {ROW(tl_rod_net, width, "width", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "along x"},
    {ROW(tl_rod_net, length, "length", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "along y"},
    {ROW(tl_rod_net, rows, "rows", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e4), .required = true,
     .text = "rods along x"},
    {ROW(tl_rod_net, columns, "columns", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e4),
     .required = true, .text = "rods along y"},
    {ROW(tl_rod_net, gap, "gap", NUMBER(NONE)), AT_LEAST(0), .initial = "0.02",
     .text = "room between rods where they cross, in radii"},
    {ROW(tl_rod_net, rotate, "rotate", .kind = TL_KIND_MAP), .sub = &tl_rotate_table,
     .absent = "not turned", .text = "how it is turned about its centre"},
    {0},
};
static const tl_table rods_net = PLACE_TABLE(tl_rod_net, rods_net_keys, "a net", "rods.N.net",
                                             "Rods along x and y, over and under each other.");

static const tl_key rods_nest_keys[] = {
    {ROW(tl_rod_nest, count, "count", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e5), .required = true,
     .text = "how many rods"},
    {ROW(tl_rod_nest, at, "at", VECTOR(LENGTH)), .initial = "0 m",
     .text = "middle of the bottom of the nest"},
    {ROW(tl_rod_nest, radius, "radius", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "of the nest"},
    {ROW(tl_rod_nest, height, "height", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "up to which rods begin"},
    {ROW(tl_rod_nest, length, "length", NUMBER(LENGTH)), ABOVE(0), .required = true,
     .text = "of a rod"},
    {ROW(tl_rod_nest, tilt, "tilt", NUMBER(ANGLE)), BETWEEN(0, 1.5), .initial = "10 deg",
     .text = "most that the plane of a rod is turned"},
    {ROW(tl_rod_nest, gap, "gap", NUMBER(NONE)), AT_LEAST(0), .initial = "0.2",
     .text = "room left around a rod, in radii"},
    {ROW(tl_rod_nest, tries, "tries", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e6), .initial = "2000",
     .text = "places tried for a rod before giving up"},
    {0},
};
static const tl_table rods_nest = PLACE_TABLE(tl_rod_nest, rods_nest_keys, "a nest", "rods.N.nest",
                                              "Arcs at random heights and turns, where there is "
                                              "room: low ones cross the bottom of a bowl, high "
                                              "ones are its rim.");

#define CURL .only = "shape: curl"
static const tl_key rods_natural_keys[] = {
    {ROW(tl_rod_natural, shape, "shape", .kind = TL_KIND_CHOICE), .choice = rods_shape,
     .initial = "straight", .text = "without loads: straight; as it is placed; wound to a helix"},
    {ROW(tl_rod_natural, radius, "radius", NUMBER(LENGTH)), ABOVE(0), CURL, .required = true,
     .text = "of the helix, to the centre line"},
    {ROW(tl_rod_natural, pitch, "pitch", NUMBER(LENGTH)), ABOVE(0), CURL, .required = true,
     .text = "of the helix: rise in a turn"},
    {ROW(tl_rod_natural, placed, "placed", .kind = TL_KIND_YES_NO), CURL, .initial = "yes",
     .text = "it is also put down wound, about the line where it would be otherwise; the windings "
             "open within the first turn"},
    {ROW(tl_rod_natural, points, "points", .kind = TL_KIND_POINTS, .unit = TL_UNIT_LENGTH),
     .absent = "by 'shape'", .text = "or: its nodes without loads, in any place"},
    {ROW(tl_rod_natural, file, "file", .kind = TL_KIND_TEXT), .absent = "by 'shape'",
     .text = "or: a text file beside the scene, as talus invert writes it: in each line the "
             "curvatures about the two material axes and the twist of an inner node [1/m], rod "
             "after rod"},
    {0},
};
static const tl_table rods_natural = TABLE(
    rods_natural_keys, .name = "a natural shape", .path = "rods.N.natural",
    .size = sizeof(tl_rod_natural), .text = "The shape that the rods would have without loads.");

#define PLACE(field, what)                                                                         \
    {                                                                                              \
        ROW(tl_scene_rod, field, #field, .kind = TL_KIND_MAP), .sub = &rods_##field,               \
                                                               .absent = "-", .text = (what)       \
    }
static const tl_key rods_keys[] = {
    {ROW(tl_scene_rod, name, "name", .kind = TL_KIND_TEXT), .initial = "", .text = "for messages"},
    {ROW(tl_scene_rod, model, "model", .kind = TL_KIND_CHOICE), .also = "kind, type",
     .choice = rods_model, .initial = "discrete",
     .text = "nodes and material frames: stretches, bends and twists; pieces of constant curvature "
             "and twist: cannot stretch"},
    PLACE(line, "where it is: straight;"),
    {ROW(tl_scene_rod, points, "points", .kind = TL_KIND_POINTS, .unit = TL_UNIT_LENGTH),
     .also = "position, nodes_at", .absent = "-",
     .text = "or: points of its centre line; with 'nodes' a smooth line through them;"},
    {ROW(tl_scene_rod, file, "file", .kind = TL_KIND_TEXT), .also = "path", .absent = "-",
     .text = "or: the same from a text file beside the scene, three numbers a line [m];"},
    PLACE(circle, "or: along a circle;"),
    PLACE(helix, "or: along a helix;"),
    PLACE(tress, "or many of them: on a disc;"),
    PLACE(cap, "on a ball;"),
    PLACE(rope, "laid about each other;"),
    PLACE(net, "crossing each other;"),
    PLACE(nest, "in a heap"),
    {ROW(tl_scene_rod, nodes, "nodes", .kind = TL_KIND_INTEGER), .also = "segments, resolution",
     BETWEEN(2, 1e5), .absent = "20; of points as many",
     .text = "of the centre line of a rod, equally far apart; 3 or more can bend"},
    {ROW(tl_scene_rod, pieces, "pieces", .kind = TL_KIND_INTEGER), BETWEEN(1, 1e3),
     .only = "model: helix", .absent = "one between two nodes",
     .text = "of constant curvature: three degrees of freedom each"},
    {ROW(tl_scene_rod, radius, "radius", NUMBER(LENGTH)), .also = "thickness", ABOVE(0),
     .required = true, .text = "of the round section"},
    {ROW(tl_scene_rod, density, "density", NUMBER(DENSITY)), ABOVE(0), .initial = "1300",
     .text = "mass per volume"},
    {ROW(tl_scene_rod, young, "young", NUMBER(PRESSURE)), .also = "stiffness, modulus, E", ABOVE(0),
     .required = true, .text = "Young's modulus: against stretching and bending"},
    {ROW(tl_scene_rod, shear, "shear", NUMBER(PRESSURE)), .also = "G", ABOVE(0),
     .absent = "a third of young", .text = "shear modulus: against twisting"},
    {ROW(tl_scene_rod, damping, "damping", NUMBER(TIME)), AT_LEAST(0), .initial = "0 s",
     .text = "inner friction: rates of strain count as strains for this time"},
    {ROW(tl_scene_rod, drag, "drag", NUMBER(VISCOSITY)), .also = "air", AT_LEAST(0),
     .initial = "0 N s/m2", .text = "of the air: force per length and speed"},
    {ROW(tl_scene_rod, natural, "natural", .kind = TL_KIND_MAP), .also = "rest, curl",
     .sub = &rods_natural, .absent = "straight", .text = "shape without loads"},
    {ROW(tl_scene_rod, velocity, "velocity", VECTOR(VELOCITY)), .initial = "0 m/s",
     .text = "at the start"},
    {ROW(tl_scene_rod, material, "material", .kind = TL_KIND_TEXT), .initial = "default",
     .text = "a name of 'materials', for its friction"},
    {ROW(tl_scene_rod, start, "start", .kind = TL_KIND_CHOICE), .also = "root", .choice = rods_end,
     .absent = "free; tress and cap: clamped",
     .text = "how its first node is held: not; its place; its place, direction and turn"},
    {ROW(tl_scene_rod, end, "end", .kind = TL_KIND_CHOICE), .also = "tip", .choice = rods_end,
     .initial = "free", .text = "the same of its last node"},
    {ROW(tl_scene_rod, start_body, "start_body", .kind = TL_KIND_TEXT), .also = "body, held_by",
     .absent = "held in space",
     .text = "a body of 'bodies' that is fixed or has a motion, by name or number: the start moves "
             "with it"},
    {ROW(tl_scene_rod, end_body, "end_body", .kind = TL_KIND_TEXT), .absent = "held in space",
     .text = "the same for the end"},
    {ROW(tl_scene_rod, self_contact, "self_contact", .kind = TL_KIND_YES_NO), .initial = "yes",
     .text = "parts of a rod that are not neighbours touch each other"},
    {ROW(tl_scene_rod, seed, "seed", .kind = TL_KIND_INTEGER), BETWEEN(0, 9e15),
     .absent = "from the scene's", .text = "seed of the random numbers of this entry"},
    {0},
};
const tl_table tl_rods_table = TABLE(
    rods_keys, .name = "a rod", .path = "rods.N", .size = sizeof(tl_scene_rod),
    .text = "Elastic rods, one or many, in one friction problem with the bodies. In 3D, not with "
            "the scheme penalty. One key says where they are: line, points, file, circle, helix, "
            "tress, cap, rope, net or nest.");
