// SPDX-License-Identifier: Apache-2.0
// Balls, surfaces and lines as samples of depth, normal and colour. A picture is drawn in bands of
// a few rows that do not know of each other, so that memory stays small and threads cannot change
// what comes out. Screen coordinates are in samples, x to the right, y down; a sample sits at its
// middle, (i + 1/2, j + 1/2). View coordinates in m: right, up, forward from the eye.
#ifndef TL_PICTURE_RASTER_H
#define TL_PICTURE_RASTER_H
#include "picture/show.h"

/// A perspective camera (x/z, y/z) or a parallel one (x, y).
typedef struct tl_camera {
    double right[3], up[3], forward[3]; ///< axes of the view in the world
    double eye[3];                      ///< parallel: a point of the plane of depth 0
    double scale;                       ///< samples per slope x/z; parallel: per m
    double centre[2];                   ///< of the picture
    bool parallel;
} tl_camera;

/// View axes for a direction looked along (not 0) with z up, or y where that is z.
void tl_camera_turn(tl_camera *c, const double along[3]);
void tl_camera_see(const tl_camera *c, const double x[3], double out[3]); ///< world to view
void tl_camera_axis(const tl_camera *c, const double d[3],
                    double out[3]); ///< a direction, likewise
/// Where a point in view coordinates is on the screen.
static inline void tl_camera_project(const tl_camera *c, const double v[3], double out[2]) {
    const double s = c->parallel ? c->scale : c->scale / v[2];
    out[0] = c->centre[0] + s * v[0];
    out[1] = c->centre[1] - s * v[1];
}
/// Rows (and columns) that a ball in view coordinates may cover: least and largest. False: it is
/// not in front of the eye at all.
bool tl_camera_bounds(const tl_camera *c, const double v[3], double r, double x[2], double y[2]);

/// What is seen first at each sample.
typedef struct tl_layer {
    float *depth;       ///< INFINITY: nothing
    float (*normal)[3]; ///< view coordinates, of any length; NULL: depths only
    tl_rgb *colour;
} tl_layer;

enum { TL_BLOCK = 24 }; ///< columns of a block, for which the farthest depth is known

typedef struct tl_band {
    int32_t width, rows, top; ///< samples; `top`: first row
    tl_layer solid, force;
    float *through;    ///< part of the light that comes through the glass
    float (*glass)[3]; ///< light of the glass, linear
    int32_t *covered;  ///< samples of each block that are
    float *farthest;   ///< of each block once it is covered, INFINITY before
} tl_band;

/// Memory of a band; on failure nothing is left.
talus_status tl_band_init(talus_context *ctx, int32_t width, int32_t rows, bool depth_only,
                          bool force, tl_band *out) TALUS_MUST_CHECK;
void tl_band_clear(talus_context *ctx, tl_band *b);
/// Begin with an empty band whose first row is `top`.
void tl_band_begin(tl_band *b, int32_t top);

/// Points of a surface in view coordinates, room for the largest.
typedef struct tl_scratch {
    double (*point)[3], (*normal)[3];
} tl_scratch;
talus_status tl_scratch_init(const tl_show *s, tl_scratch *out) TALUS_MUST_CHECK;
void tl_scratch_clear(talus_context *ctx, tl_scratch *w);

void tl_draw_ball(const tl_camera *c, tl_band *b, tl_layer *layer, const double v[3], double r,
                  tl_rgb colour);
/// A solid surface: faces that look away are not drawn.
void tl_draw_surface(const tl_camera *c, tl_band *b, tl_scratch *w, const talus_surface *s,
                     const tl_item *item);
/// A translucent one, in front of what is solid. `to_light` in view coordinates.
void tl_draw_glass(const tl_camera *c, tl_band *b, tl_scratch *w, const talus_surface *s,
                   const tl_item *item, const double to_light[3], const float colour[3]);
/// A tube with round ends between two points in view coordinates.
void tl_draw_tube(const tl_camera *c, tl_band *b, tl_layer *layer, const double from[3],
                  const double to[3], double radius, tl_rgb colour);
/// The same of an item that is one.
void tl_draw_rod(const tl_camera *c, tl_band *b, tl_layer *layer, const tl_item *item,
                 tl_rgb colour);
/// A line `wide` samples thick over the glass.
void tl_draw_line(const tl_camera *c, tl_band *b, const double from[3], const double to[3],
                  double wide, const float colour[3], float opacity);

/// Edges of a surface: where faces meet that do not share points and are turned by more than 25
/// degrees, or a face ends. Pairs of points; free with tl_free.
talus_status tl_surface_edges(talus_context *ctx, const talus_surface *s, int32_t **out,
                              int32_t *count) TALUS_MUST_CHECK;

#endif // TL_PICTURE_RASTER_H
