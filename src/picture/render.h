// SPDX-License-Identifier: Apache-2.0
// A show in 3D as pixels: what is where (bins), light and shadow, and how samples become pixels.
#ifndef TL_PICTURE_RENDER_H
#define TL_PICTURE_RENDER_H
#include "picture/raster.h"

/// The items of a show that a camera sees, nearest first, by the bands they may touch.
typedef struct tl_bins {
    int32_t rows, bands; ///< of a band; number of bands
    int32_t *start;      ///< items of band k: item[start[k]] … item[start[k + 1] − 1]
    int32_t *item;
} tl_bins;

/// Items of the roles up to `last`, from `first` on.
talus_status tl_bins_init(const tl_show *s, const tl_camera *c, int32_t rows, int32_t bands,
                          tl_role first, tl_role last, tl_bins *out) TALUS_MUST_CHECK;
void tl_bins_clear(talus_context *ctx, tl_bins *b);

/// Where the light comes from, and what it reaches: depths along it on a square grid.
typedef struct tl_light {
    tl_camera camera; ///< parallel, forward is where the light goes
    int32_t size;     ///< of the map, cells on each side
    float *map;
    double texel; ///< [m]
    double to[3]; ///< towards the light, in the view of the picture's camera
    double up[3]; ///< upwards, likewise
    /// View coordinates to cells (x, y) and depth [m].
    double turn[3][3], shift[3];
} tl_light;

talus_status tl_light_init(const tl_show *s, const tl_camera *view, int32_t threads,
                           tl_light *out) TALUS_MUST_CHECK;
void tl_light_clear(talus_context *ctx, tl_light *l);
/// Part of the light that reaches the point v (view coordinates) of a surface with this normal (of
/// length 1): 0 to 1. `tap` chooses one of 9 places near it, so that the mean over them is soft.
float tl_light_reaches(const tl_light *l, const float v[3], const float n[3], int tap);

/// Pixels before the last step: light, and what is needed to darken corners.
typedef struct tl_pixel {
    float ambient[3], direct[3]; ///< linear
    float back[2]; ///< part of the background: as it is, and to be multiplied by openness
    float depth;   ///< INFINITY: nothing is there
    float normal[3];
} tl_pixel;

/// How open the surroundings of each pixel are, 0 to 1, from the depths and normals around it.
talus_status tl_openness(talus_context *ctx, const tl_pixel *pixel, int32_t width, int32_t height,
                         const tl_camera *c, int32_t samples, double radius, int32_t threads,
                         float **out) TALUS_MUST_CHECK;

talus_status tl_render(const tl_show *s, const talus_picture_def *def,
                       uint8_t *rgba) TALUS_MUST_CHECK;
/// The same in 2D.
talus_status tl_render_flat(const tl_show *s, const talus_picture_def *def,
                            uint8_t *rgba) TALUS_MUST_CHECK;

/// Colours of a page: what is behind everything.
static inline void tl_render_ground(bool dark, uint8_t out[3]) {
    out[0] = dark ? 0x12 : 0xff, out[1] = dark ? 0x16 : 0xff, out[2] = dark ? 0x1c : 0xff;
}

#endif // TL_PICTURE_RENDER_H
