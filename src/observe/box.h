// SPDX-License-Identifier: Apache-2.0
// A box with edges along the axes in which something is measured, in a world that may be periodic;
// and how much of a ball or of a line lies in it, exactly.
#ifndef TL_OBSERVE_BOX_H
#define TL_OBSERVE_BOX_H
#include <stdbool.h>
#include <stdint.h>

typedef struct tl_box {
    int32_t dim;
    double low[3], high[3]; ///< 2D: 0 along z
    double period[3];       ///< 0: not periodic
    bool whole[3];          ///< the axis is periodic and the box is all of it: nothing is cut there
    bool open[3][2];        ///< nothing is cut at the lower, upper side: it is where the grains end
    double volume;          ///< area in 2D
} tl_box;

/// Its sides, infinite where nothing is cut.
void tl_box_sides(const tl_box *b, double low[3], double high[3]);
/// Volume from the edges.
void tl_box_measure(tl_box *b);
/// The image of x that the box is compared with: along periodic axes it is in the cell that begins
/// at `low` (whole axes) or has the box in its middle.
void tl_box_wrap(const tl_box *b, double x[3]);
/// Is a wrapped point inside? The upper side does not belong to it.
bool tl_box_has(const tl_box *b, const double x[3]);

enum { TL_BOX_IMAGES = 27 };
/// The images of what lies within `reach` of the wrapped x that may touch the box; as many as
/// returned.
int tl_box_images(const tl_box *b, const double x[3], double reach, double image[TL_BOX_IMAGES][3]);

/// Volume that a ball (2D: disk) about c shares with low <= x <= high; sides may be infinite.
double tl_clip_ball(int32_t dim, const double c[3], double r, const double low[3],
                    const double high[3]);
/// The part of the line x + s l, 0 <= s <= 1, that is inside the box along its cut axes: false
/// where there is none.
bool tl_clip_line(const tl_box *b, const double x[3], const double l[3], double *from, double *to);

#endif // TL_OBSERVE_BOX_H
