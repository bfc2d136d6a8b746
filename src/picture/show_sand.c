// SPDX-License-Identifier: Apache-2.0
// Sand as grains: a particle becomes a few balls within its frame F, whose half axes are the roots
// of F's eigenvalues. With F = L Lᵀ (Cholesky) and ξ in the cube from −1 to 1, x + L ξ is within
// what the cube that the particle was has become. The ξ of a particle, one in each part of the
// cube, follow from its number, so that grains stay with it from frame to frame.
#include "base/rng.h"
#include "picture/show.h"
#include <math.h>

enum { SAND_MOST = 400000, SAND_EDGE_2D = 3, SAND_EDGE_3D = 2 }; // balls; along an edge

// L of a frame, row major lower triangle (xx, yx, yy, zx, zy, zz), and the half edge of the cube
// that has the volume of the particle, as dense as sand is.
typedef struct sand_frame {
    double l[6], half;
} sand_frame;

static void sand_get_frame(const talus_moment *m, int64_t i, sand_frame *out) {
    const double *f = m->sand.frame + 6 * i; // xx, yy, zz, xy, xz, yz
    const double volume = m->sand.volume[i] / 0.6;
    double *l = out->l;
    out->half = 0.5 * (volume > 0.0 ? pow(volume, 1.0 / m->dim) : 0.5 * m->sand_cell);
    l[0] = sqrt(fmax(f[0], 0.0));
    l[1] = l[0] > 0.0 ? f[3] / l[0] : 0.0;
    l[2] = sqrt(fmax(f[1] - l[1] * l[1], 0.0));
    l[3] = l[0] > 0.0 ? f[4] / l[0] : 0.0;
    l[4] = l[2] > 0.0 ? (f[5] - l[3] * l[1]) / l[2] : 0.0;
    l[5] = sqrt(fmax(f[2] - l[3] * l[3] - l[4] * l[4], 0.0));
    // What was torn apart is shown no longer than three of its edges.
    const double wide = sqrt(f[0] + f[1] + f[2]), most = 3.0 * out->half;
    if (isfinite(wide) && wide > 0.0) {
        for (int k = 0; k < 6 && wide > most; k++) l[k] *= most / wide;
        return;
    }
    for (int k = 0; k < 6; k++) l[k] = 0.0; // not recorded: a cube
    l[0] = l[2] = out->half;
    l[5] = m->dim == 2 ? 0.0 : out->half;
}

double tl_show_sand_size(const talus_moment *m) {
    double most = 0.0;
    sand_frame frame;
    for (int64_t i = 0; i < m->sand.count; i++) {
        sand_get_frame(m, i, &frame);
        most = fmax(most, frame.half);
    }
    return most;
}

double tl_show_sand_value(const talus_moment *m, tl_colour_by by, int64_t i) {
    sand_frame frame;
    switch (by) {
    case TL_COLOUR_SPEED:
        return tl_norm3(m->sand.velocity + 3 * i);
    case TL_COLOUR_PRESSURE:
        return m->sand.pressure[i];
    case TL_COLOUR_INERTIAL:
        return m->sand.inertial[i];
    default:
        sand_get_frame(m, i, &frame);
        return frame.half;
    }
}

// Along the edge of what a particle stands for.
static int32_t sand_edge(const talus_moment *m) {
    int32_t n = m->dim == 2 ? SAND_EDGE_2D : SAND_EDGE_3D;
    while (n > 1 && m->sand.count > SAND_MOST / (m->dim == 2 ? n * n : n * n * n)) n--;
    return n;
}

int32_t tl_show_sand_samples(const talus_moment *m) {
    const int32_t n = sand_edge(m);
    return m->dim == 2 ? n * n : n * n * n;
}

void tl_show_add_sand(tl_show *s) {
    const talus_moment *m = s->moment;
    const int dim = m->dim;
    TL_ASSUME(dim == 2 || dim == 3);
    const int32_t n = sand_edge(m), samples = tl_show_sand_samples(m);
    for (int64_t i = 0; i < m->sand.count; i++) {
        const double *x = m->sand.position + 3 * i;
        tl_rng rng = {(uint64_t)m->sand.id[i]};
        sand_frame f;
        sand_get_frame(m, i, &f);
        const double *l = f.l;
        for (int32_t k = 0; k < samples; k++) {
            const int32_t place[3] = {k % n, k / n % n, k / (n * n)};
            double xi[3] = {0.0};
            for (int e = 0; e < dim; e++)
                xi[e] = (2.0 * place[e] + 1.0 + tl_rng_range(&rng, -0.7, 0.7)) / n - 1.0;
            s->item[s->items++] =
                (tl_item){.x = {x[0] + l[0] * xi[0], x[1] + l[1] * xi[0] + l[2] * xi[1],
                                x[2] + l[3] * xi[0] + l[4] * xi[1] + l[5] * xi[2]},
                          .q = {1.0, 0.0, 0.0, 0.0},
                          .radius = 1.1 * f.half / n,
                          .surface = -1,
                          .body = -1,
                          .rod = -1,
                          .particle = i,
                          .role = TL_ROLE_GRAIN};
        }
    }
}
