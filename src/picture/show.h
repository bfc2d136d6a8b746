// SPDX-License-Identifier: Apache-2.0
// What there is to draw: the bodies of a moment as balls and surfaces in their places, with their
// colours, and the forces between them.
#ifndef TL_PICTURE_SHOW_H
#define TL_PICTURE_SHOW_H
#include "base/context.h"
#include "base/vec3.h"
#include "picture/colour.h"
#include "talus/picture.h"
#include "talus/surface.h"

/// How a body is drawn.
typedef enum tl_role {
    TL_ROLE_GRAIN, ///< moves freely
    TL_ROLE_STONE, ///< a ball or clump that does not: solid and grey
    TL_ROLE_GLASS, ///< any other bounded obstacle: translucent
    TL_ROLE_PLANE, ///< half-space
} tl_role;

/// A ball or a surface in its place.
typedef struct tl_item {
    double x[3], q[4]; ///< of its frame
    double radius;     ///< of the ball; of a surface: no point is farther from x
    double half[3];    ///< of a tube: from its middle to its end; its radius is `thick`
    double thick;
    double along;     ///< of a tube: where its middle is on the segment of its rod, 0 to 1
    int32_t surface;  ///< −1: a ball, −2: a tube
    int32_t body;     ///< −1: sand or a rod
    int32_t rod;      ///< −1: no rod
    int64_t particle; ///< of sand; of a rod: the node that the tube begins at
    tl_rgb colour;
    tl_role role;
} tl_item;

enum { TL_SURFACE_BALL = -1, TL_SURFACE_TUBE = -2 };

typedef struct tl_plane {
    double x[3], n[3];
} tl_plane;

/// A force between two points.
typedef struct tl_strand {
    double from[3], to[3];
    double radius; ///< [m]
    double part;   ///< of the largest drawn force, 0 to 1
} tl_strand;

typedef struct tl_show {
    talus_context *ctx;
    const talus_moment *moment;
    double box[6];
    double middle[3], reach; ///< of the box: centre, and half of its diagonal
    double grain;            ///< median radius of the grains; 0: there are none
    talus_surface *surface;
    int32_t surfaces;
    tl_item *item;
    int32_t items;
    tl_plane *plane;
    int32_t planes;
    tl_strand *strand;
    int32_t strands;
} tl_show;

/// What the colour of a grain means, in the order of TALUS_PICTURE_COLOUR_LIST.
typedef enum tl_colour_by {
    TL_COLOUR_SPEED,
    TL_COLOUR_SIZE,
    TL_COLOUR_MATERIAL,
    TL_COLOUR_ID,
    TL_COLOUR_PRESSURE,
    TL_COLOUR_INERTIAL,
    TL_COLOUR_STRAIN,
    TL_COLOURS
} tl_colour_by;

// ---- show_sand.c ----

/// Half of the edge of the cube that has the volume of what a particle stands for, at most.
double tl_show_sand_size(const talus_moment *m);
/// What a map shows of a particle.
double tl_show_sand_value(const talus_moment *m, tl_colour_by by, int64_t particle);
/// How many balls stand for a particle: fewer where there are many.
int32_t tl_show_sand_samples(const talus_moment *m);
/// The balls of all particles, behind the items there are.
void tl_show_add_sand(tl_show *s);

// ---- show_rods.c ----

/// Nodes of all rods, and the tubes that they are drawn as.
int64_t tl_show_rod_nodes(const talus_moment *m);
int64_t tl_show_rod_tubes(const talus_moment *m);
/// What a map shows of the segment of rod i that begins at a node, `along` from 0 to 1 on it; NaN:
/// nothing.
double tl_show_rod_value(const talus_moment *m, tl_colour_by by, int32_t i, int64_t node,
                         double along);
/// These tubes, behind the items there are.
void tl_show_add_rods(tl_show *s);

/// `detail` of round surfaces as for talus_shape_surface. On failure nothing is left.
talus_status tl_show_init(talus_context *ctx, const talus_moment *m, const talus_picture_def *def,
                          int32_t detail, tl_show *out) TALUS_MUST_CHECK;
void tl_show_clear(tl_show *s);

/// Role of body i.
tl_role tl_show_role(const talus_moment *m, int32_t i);
/// Radius of a ball (2D: disk) about the shape's origin that holds the shape; infinite if
/// unbounded.
double tl_show_extent(int32_t dim, const talus_shape_def *shape);

#endif // TL_PICTURE_SHOW_H
