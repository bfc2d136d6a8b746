// SPDX-License-Identifier: Apache-2.0
// Boxes, and what they cut off balls. With the unit disk cut at X <= a and Y <= b,
//     area(a, b) = a b + ½ (a √(1−a²) + asin a + b √(1−b²) + asin b) + π/4
// where (a, b) is inside the disk, sums of segments where it is not, and a rectangle is the
// difference of four such. A ball is a stack of disks: the integral over z is taken by Gauss's rule
// between the heights at which the disk begins to touch a side or a corner. There the area goes
// like a distance to the power 3/2; z = z0 + (z1 − z0) t² (3 − 2 t) makes this smooth in t, and 16
// points give the volume to about 1e−12 of the ball.
#include "observe/box.h"
#include "base/compiler.h"
#include <math.h>

static const double box_pi = 3.14159265358979323846;

void tl_box_measure(tl_box *b) {
    b->volume = 1.0;
    for (int k = 0; k < b->dim; k++) b->volume *= b->high[k] - b->low[k];
}

static double box_low(const tl_box *b, int k) {
    return k >= b->dim || b->whole[k] || b->open[k][0] ? -INFINITY : b->low[k];
}
static double box_high(const tl_box *b, int k) {
    return k >= b->dim || b->whole[k] || b->open[k][1] ? INFINITY : b->high[k];
}

void tl_box_sides(const tl_box *b, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) low[k] = box_low(b, k), high[k] = box_high(b, k);
}

void tl_box_wrap(const tl_box *b, double x[3]) {
    for (int k = 0; k < b->dim; k++) {
        const double l = b->period[k];
        if (!(l > 0.0)) continue;
        const double first = b->whole[k] ? b->low[k] : 0.5 * (b->low[k] + b->high[k] - l);
        x[k] -= l * floor((x[k] - first) / l);
        if (x[k] >= first + l) x[k] = first; // a tiny negative difference, rounded up
    }
}

bool tl_box_has(const tl_box *b, const double x[3]) {
    for (int k = 0; k < b->dim; k++)
        if (!(x[k] >= box_low(b, k) && x[k] < box_high(b, k))) return false;
    return true;
}

int tl_box_images(const tl_box *b, const double x[3], double reach,
                  double image[TL_BOX_IMAGES][3]) {
    int count = 1;
    for (int k = 0; k < 3; k++) image[0][k] = x[k];
    for (int k = 0; k < b->dim; k++) {
        if (b->whole[k]) continue;
        const int before = count, side = b->period[k] > 0.0 ? 1 : 0;
        double kept[TL_BOX_IMAGES][3];
        count = 0;
        for (int i = 0; i < before; i++)
            for (int n = -side; n <= side; n++) {
                const double at = image[i][k] + n * b->period[k];
                if (at + reach <= box_low(b, k) || at - reach >= box_high(b, k)) continue;
                for (int e = 0; e < 3; e++) kept[count][e] = image[i][e];
                kept[count++][k] = at;
            }
        for (int i = 0; i < count; i++)
            for (int e = 0; e < 3; e++) image[i][e] = kept[i][e];
    }
    return count;
}

// Area of the unit disk with X <= t; t in [−1, 1].
static double clip_segment(double t) { return 0.5 * box_pi + t * sqrt(1.0 - t * t) + asin(t); }

// Area of the unit disk with X <= a and Y <= b.
static double clip_corner(double a, double b) {
    if (a <= -1.0 || b <= -1.0) return 0.0;
    if (a >= 1.0) return b >= 1.0 ? box_pi : clip_segment(b);
    if (b >= 1.0) return clip_segment(a);
    if (a * a + b * b < 1.0)
        return a * b + 0.5 * (clip_segment(a) + clip_segment(b)) - 0.25 * box_pi;
    if (a < 0.0 && b < 0.0) return 0.0;
    if (a < 0.0) return clip_segment(a);
    if (b < 0.0) return clip_segment(b);
    return clip_segment(a) + clip_segment(b) - box_pi;
}

// Area of a disk about the origin inside [x0, x1] × [y0, y1].
static double clip_disk(double r, double x0, double x1, double y0, double y1) {
    if (!(r > 0.0) || x0 >= x1 || y0 >= y1) return 0.0;
    const double area = clip_corner(x1 / r, y1 / r) - clip_corner(x0 / r, y1 / r) -
                        clip_corner(x1 / r, y0 / r) + clip_corner(x0 / r, y0 / r);
    return TL_MAX(area, 0.0) * r * r;
}

typedef struct clip_ball {
    double r, x0, x1, y0, y1;
} clip_ball;

static double clip_layer(const clip_ball *b, double z) {
    return clip_disk(sqrt(TL_MAX(0.0, b->r * b->r - z * z)), b->x0, b->x1, b->y0, b->y1);
}

static double clip_integrate(const clip_ball *b, double z0, double z1) {
    static const double rule[8][2] = {
        {0.09501250983763745, 0.18945061045506859}, {0.2816035507792589, 0.1826034150449236},
        {0.45801677765722737, 0.16915651939500262}, {0.6178762444026438, 0.14959598881657676},
        {0.755404408355003, 0.12462897125553403},   {0.8656312023878318, 0.09515851168249259},
        {0.9445750230732326, 0.062253523938647706}, {0.9894009349916499, 0.027152459411754037}};
    double sum = 0.0;
    for (int i = 0; i < 8; i++)
        for (int side = -1; side <= 1; side += 2) {
            const double t = 0.5 + 0.5 * side * rule[i][0];
            const double z = z0 + (z1 - z0) * t * t * (3.0 - 2.0 * t);
            sum += 3.0 * t * (1.0 - t) * rule[i][1] * clip_layer(b, z);
        }
    return (z1 - z0) * sum;
}

static void clip_insert(double *list, int *count, double value) {
    int at = (*count)++;
    for (; at > 0 && list[at - 1] > value; at--) list[at] = list[at - 1];
    list[at] = value;
}

// The ball between z0 and z1, cut on other sides too.
static double clip_stack(const clip_ball *b, double z0, double z1) {
    const double side[4] = {b->x0, b->x1, b->y0, b->y1};
    double height[20] = {z0, z1}, sum = 0.0;
    int count = 2;
    for (int i = 0; i < 8; i++) { // heights where the disk just reaches a side or a corner
        const double d = i < 4 ? fabs(side[i]) : hypot(side[i % 2], side[2 + (i - 4) / 2]);
        const double z = d < b->r ? sqrt(b->r * b->r - d * d) : 0.0;
        if (d < b->r && z > z0 && z < z1) clip_insert(height, &count, z);
        if (d < b->r && -z > z0 && -z < z1) clip_insert(height, &count, -z);
    }
    for (int i = 0; i + 1 < count; i++)
        if (height[i + 1] > height[i]) sum += clip_integrate(b, height[i], height[i + 1]);
    return sum;
}

double tl_clip_ball(int32_t dim, const double c[3], double r, const double low[3],
                    const double high[3]) {
    double a[3], b[3];
    int cut = 0, axis = 0;
    for (int k = 0; k < dim; k++) {
        a[k] = low[k] - c[k], b[k] = high[k] - c[k];
        if (a[k] >= r || b[k] <= -r || !(a[k] < b[k])) return 0.0;
        if (a[k] <= -r && b[k] >= r) continue;
        cut++;
        axis = k;
    }
    if (dim == 2) return clip_disk(r, a[0], b[0], a[1], b[1]);
    if (cut == 0) return 4.0 / 3.0 * box_pi * r * r * r;
    const double z0 = TL_MAX(a[axis], -r), z1 = TL_MIN(b[axis], r);
    if (cut == 1) return box_pi * ((z1 - z0) * r * r - (z1 * z1 * z1 - z0 * z0 * z0) / 3.0);
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const clip_ball ball = {r, TL_MAX(a[i], -r), TL_MIN(b[i], r), TL_MAX(a[j], -r),
                            TL_MIN(b[j], r)};
    return clip_stack(&ball, z0, z1);
}

bool tl_clip_line(const tl_box *b, const double x[3], const double l[3], double *from, double *to) {
    *from = 0.0, *to = 1.0;
    for (int k = 0; k < b->dim; k++) {
        const double first = box_low(b, k) - x[k], last = box_high(b, k) - x[k];
        if (fpclassify(l[k]) == FP_ZERO) {
            if (first > 0.0 || last <= 0.0) return false;
            continue;
        }
        const double s = first / l[k], t = last / l[k];
        *from = TL_MAX(*from, TL_MIN(s, t));
        *to = TL_MIN(*to, TL_MAX(s, t));
    }
    return *from < *to;
}
