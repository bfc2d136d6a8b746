// SPDX-License-Identifier: Apache-2.0
// Pictures of a moment of a run, drawn without a screen: grains lit and with shadows, obstacles
// translucent, forces as tubes. In 2D grains are discs and polygons with outlines. The same moment
// gives the same bits for any number of threads.
#ifndef TALUS_PICTURE_H
#define TALUS_PICTURE_H
#include "talus/observe.h"
TALUS_EXTERN_C_BEGIN

/// What the colour of a grain can mean: X(text, what it is).
#define TALUS_PICTURE_COLOUR_LIST(X)                                                               \
    X("speed", "speed of the centre of mass [m/s]")                                                \
    X("size", "radius of the ball (2D: disk) of the same volume [m]")                              \
    X("material", "a colour for each material")                                                    \
    X("id", "a colour for each grain or rod")                                                      \
    X("pressure", "of the grains of sand [Pa]; bodies are grey")                                   \
    X("inertial", "inertial number of sand; bodies are grey")                                      \
    X("strain", "how much rods are stretched; bodies are grey")

/// How a picture is made; begin with talus_picture_default().
typedef struct talus_picture_def {
    int32_t width, height; ///< pixels, 1 to 16 384; default 1200 by 800
    double view[3];        ///< direction looked along; 0: obliquely from above. Not used in 2D
    bool forces; ///< draw the forces of contacts, in 3D through the grains, which become pale
    const char *colour; ///< a text of TALUS_PICTURE_COLOUR_LIST; NULL: "speed"
    bool dark;          ///< ground and lines for a dark page
    bool clear;         ///< the background is transparent, shadows on the ground too
    double low, high;   ///< values at the ends of the colour map, where there is one; equal: least
                        ///< and largest of the moment
    double force;       ///< force that is drawn as thick as a grain [N]; 0: by the moment's
    const double *box;  ///< what is to be seen: 3 least and 3 largest coordinates; NULL: by
                        ///< talus_picture_box
    int32_t threads;    ///< >= 1
} talus_picture_def;

TALUS_API talus_picture_def talus_picture_default(void);

/// A box around what is worth seeing: the grains but for a few far away, and the obstacles near
/// them. To show several moments alike, join their boxes.
TALUS_API talus_status talus_picture_box(talus_context *ctx, const talus_moment *m,
                                         double box[6]) TALUS_MUST_CHECK;
/// Least and largest value over the grains that a colour map would span (0, 0 where colours are
/// kinds).
TALUS_API talus_status talus_picture_range(talus_context *ctx, const talus_moment *m,
                                           const char *colour, double *low,
                                           double *high) TALUS_MUST_CHECK;
/// The force that a picture of this moment takes for `force` 0 [N]; 0: there is none.
TALUS_API talus_status talus_picture_force(talus_context *ctx, const talus_moment *m,
                                           double *force) TALUS_MUST_CHECK;
/// Draw. `rgba` has 4 width height bytes, rows from the top: red, green, blue (sRGB), opacity.
TALUS_API talus_status talus_picture_draw(talus_context *ctx, const talus_moment *m,
                                          const talus_picture_def *def,
                                          uint8_t *rgba) TALUS_MUST_CHECK;
/// The colour map of speeds and sizes at t from 0 to 1, sRGB: its lightness falls evenly, so that
/// it can be read without seeing hues.
TALUS_API void talus_picture_map(double t, uint8_t rgb[3]);

/// Pack pixels as a PNG file; free it with talus_picture_free.
TALUS_API talus_status talus_picture_png(talus_context *ctx, int32_t width, int32_t height,
                                         const uint8_t *rgba, uint8_t **png,
                                         int64_t *bytes) TALUS_MUST_CHECK;
TALUS_API void talus_picture_free(talus_context *ctx, uint8_t *png); ///< NULL is allowed

TALUS_EXTERN_C_END
#endif // TALUS_PICTURE_H
