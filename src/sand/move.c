// SPDX-License-Identifier: Apache-2.0
// From the nodes back to the particles, which then move. Particles of one cell are taken eight at a
// time: what they need of the nodes is the same, and the arithmetic is done on vectors.
#include "base/thread.h"
#include "base/vec3.h"
#include "linalg/tensor.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

// ---- frames ------------------------------------------------------------------------------------

// C = A B of dim × dim matrices in rows of 3, one in each lane.
TL_INLINE void move_mm(int dim, int lanes, double (*a)[TL_SAND_LANES], double (*b)[TL_SAND_LANES],
                       double (*c)[TL_SAND_LANES]) {
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int l = 0; l < lanes; l++) {
                double sum = a[3 * i][l] * b[j][l];
                for (int k = 1; k < dim; k++) sum += a[3 * i + k][l] * b[3 * k + j][l];
                c[3 * i + j][l] = sum;
            }
}

// exp(x) to the eighth order for |x| <= 0.02 in all entries, whose next term is below
// (3 |x|)⁹/9! < 1e-16: in powers of x³, with four products.
TL_INLINE void move_exp(int dim, int lanes, double (*x)[TL_SAND_LANES],
                        double (*e)[TL_SAND_LANES]) {
    double square[9][TL_SAND_LANES], cube[9][TL_SAND_LANES], a[9][TL_SAND_LANES],
        b[9][TL_SAND_LANES];
    move_mm(dim, lanes, x, x, square);
    move_mm(dim, lanes, square, x, cube);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int l = 0; l < lanes; l++) {
                const int k = 3 * i + j;
                const double one = i == j;
                a[k][l] =
                    one * (1.0 / 720.0) + (1.0 / 5040.0) * x[k][l] + (1.0 / 40320.0) * square[k][l];
                b[k][l] = one * (1.0 / 6.0) + (1.0 / 24.0) * x[k][l] + (1.0 / 120.0) * square[k][l];
                e[k][l] = one + x[k][l] + 0.5 * square[k][l];
            }
    move_mm(dim, lanes, cube, a, square);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int l = 0; l < lanes; l++) b[3 * i + j][l] += square[3 * i + j][l];
    move_mm(dim, lanes, cube, b, square);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int l = 0; l < lanes; l++) e[3 * i + j][l] += square[3 * i + j][l];
}

// F ← E F Eᵀ, the exponential by scaling and squaring: each lane as often as it needs.
TL_INLINE void move_frames(int dim, int lanes, double h, double (*gradient)[TL_SAND_LANES],
                           double (*frame)[TL_SAND_LANES]) {
    double x[9][TL_SAND_LANES], e[9][TL_SAND_LANES], t[9][TL_SAND_LANES];
    double scale[TL_SAND_LANES], size[TL_SAND_LANES];
    int squarings[TL_SAND_LANES], most = 0;
    for (int l = 0; l < lanes; l++) {
        size[l] = 0.0;
        scale[l] = h;
        squarings[l] = 0;
    }
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int l = 0; l < lanes; l++)
                size[l] = TL_MAX(fabs(h * gradient[3 * i + j][l]), size[l]);
    for (int l = 0; l < lanes; l++) {
        for (; size[l] > 0.02 && squarings[l] < 60; squarings[l]++) {
            size[l] *= 0.5;
            scale[l] *= 0.5;
        }
        most = TL_MAX(squarings[l], most);
    }
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int l = 0; l < lanes; l++) x[3 * i + j][l] = scale[l] * gradient[3 * i + j][l];
    move_exp(dim, lanes, x, e);
    for (int n = 0; n < most; n++) {
        move_mm(dim, lanes, e, e, t);
        for (int i = 0; i < dim; i++)
            for (int j = 0; j < dim; j++)
                for (int l = 0; l < lanes; l++)
                    e[3 * i + j][l] = n < squarings[l] ? t[3 * i + j][l] : e[3 * i + j][l];
    }
    move_mm(dim, lanes, e, frame, t);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int l = 0; l < lanes; l++) {
                double sum = t[3 * i][l] * e[3 * j][l];
                for (int k = 1; k < dim; k++) sum += t[3 * i + k][l] * e[3 * j + k][l];
                frame[3 * i + j][l] = sum;
            }
}

void tl_sand_frame(double h, const double gradient[9], double frame[9]) {
    double g[9][TL_SAND_LANES], f[9][TL_SAND_LANES];
    for (int k = 0; k < 9; k++) g[k][0] = gradient[k], f[k][0] = frame[k];
    move_frames(3, 1, h, g, f);
    for (int k = 0; k < 9; k++) frame[k] = f[k][0];
}

// ---- particles of a cell -----------------------------------------------------------------------

// What the corners of a cell have.
typedef struct move_corners {
    double next[3][TL_CORNERS], change[3][TL_CORNERS], shift[3][TL_CORNERS];
    double pressure[TL_CORNERS];
    double origin[3]; // of the cell, in cells
} move_corners;

typedef struct move_work {
    tl_sand *m;
    const tl_step *step;
    const double *shift;
} move_work;

// What the values at the corners are at places ξ in the cell, and, where `slope` is not NULL, their
// derivatives along the axes, 3 numbers each.
TL_INLINE void move_value(int dim, const double *u, double (*xi)[TL_SAND_LANES], double *value,
                          double (*slope)[TL_SAND_LANES]) {
    TL_ASSUME(dim == 2 || dim == 3);
    for (int l = 0; l < TL_SAND_LANES; l++) {
        const double x = xi[0][l], y = xi[1][l], z = dim == 3 ? xi[2][l] : 0.0;
        double edge[2][2], rise[2], face[2], along[2]; // [z][y]
        for (int k = 0; k < dim - 1; k++) {
            const double *c = u + 4 * (ptrdiff_t)k;
            edge[k][0] = c[0] + x * (c[1] - c[0]);
            edge[k][1] = c[2] + x * (c[3] - c[2]);
            rise[k] = edge[k][1] - edge[k][0];
            face[k] = edge[k][0] + y * rise[k];
            along[k] = (c[1] - c[0]) + y * ((c[3] - c[2]) - (c[1] - c[0]));
        }
        // cppcheck-suppress uninitvar ; dim is at least 2
        value[l] = dim == 3 ? face[0] + z * (face[1] - face[0]) : face[0];
        if (!slope) continue;
        slope[0][l] = dim == 3 ? along[0] + z * (along[1] - along[0]) : along[0];
        slope[1][l] = dim == 3 ? rise[0] + z * (rise[1] - rise[0]) : rise[0];
        slope[2][l] = dim == 3 ? face[1] - face[0] : 0.0;
    }
}

// |Dev D| = √J₂ of the rate of strain.
TL_INLINE double move_shear(int dim, double (*g)[TL_SAND_LANES], int l) {
    const double b = 0.5 * (g[0][l] - g[4][l]), d = 0.5 * (g[1][l] + g[3][l]);
    if (dim == 2) return sqrt(b * b + d * d);
    const double c = 2.0 * g[8][l] - g[0][l] - g[4][l];
    const double e = 0.5 * (g[2][l] + g[6][l]), f = 0.5 * (g[5][l] + g[7][l]);
    return sqrt(b * b + c * c * (1.0 / 12.0) + d * d + e * e + f * f);
}

// Inertial numbers, and what shear leaves of bonds.
TL_INLINE void move_carried(int dim, const move_work *t, const move_corners *c,
                            double (*xi)[TL_SAND_LANES], double (*gradient)[TL_SAND_LANES],
                            const int64_t *which, int count) {
    const tl_sand *m = t->m;
    const double debonding = 2.0 * t->step->h * m->def.debonding, inverse = 1.0 / m->def.density;
    double pressure[TL_SAND_LANES], inertial[TL_SAND_LANES], loss[TL_SAND_LANES];
    move_value(dim, c->pressure, xi, pressure, NULL);
    for (int l = 0; l < TL_SAND_LANES; l++) {
        const double shear = move_shear(dim, gradient, l), fast = shear * m->def.diameter;
        const double scale = sqrt(TL_MAX(pressure[l], 0.0) * inverse);
        loss[l] = 1.0 + debonding * shear;
        inertial[l] = fast <= 1e6 * scale // flying grains: as if very fast
                          ? (scale > 0.0 ? fast / scale : 0.0)
                          : 1e6;
    }
    for (int l = 0; l < count; l++) {
        m->grains.inertial[which[l]] = inertial[l];
        m->grains.bond[which[l]] /= loss[l];
    }
}

// Up to eight particles.
TL_INLINE void move_some(int dim, const move_work *t, const move_corners *c, const int64_t *which,
                         int count) {
    const tl_sand *m = t->m;
    const tl_grains *g = &m->grains;
    const double h = t->step->h, inverse = 1.0 / m->cells.edge;
    double x[3][TL_SAND_LANES], xi[3][TL_SAND_LANES], v[3][TL_SAND_LANES], add[3][TL_SAND_LANES];
    double gradient[9][TL_SAND_LANES], frame[9][TL_SAND_LANES];
    for (int l = 0; l < TL_SAND_LANES; l++) { // lanes that are not needed do as the first one does
        const int64_t p = which[l < count ? l : 0];
        for (int k = 0; k < dim; k++) x[k][l] = g->x[3 * p + k];
        for (int i = 0; i < dim; i++)
            for (int j = 0; j < dim; j++) frame[3 * i + j][l] = g->frame[9 * p + 3 * i + j];
    }
    for (int k = 0; k < dim; k++)
        for (int l = 0; l < TL_SAND_LANES; l++)
            xi[k][l] = tl_sand_within((x[k][l] - m->cells.origin[k]) * inverse - c->origin[k]);
    for (int k = 0; k < dim; k++) {
        move_value(dim, c->next[k], xi, v[k], gradient + 3 * (ptrdiff_t)k);
        for (int l = 0; l < TL_SAND_LANES; l++) x[k][l] += h * v[k][l];
        for (int e = 0; e < dim; e++)
            for (int l = 0; l < TL_SAND_LANES; l++) gradient[3 * k + e][l] *= inverse;
        if (!t->shift) continue;
        move_value(dim, c->shift[k], xi, add[k], NULL);
        for (int l = 0; l < TL_SAND_LANES; l++) x[k][l] += add[k][l];
    }
    const bool flip = m->def.transfer == TALUS_TRANSFER_FLIP;
    for (int k = 0; flip && k < dim; k++) move_value(dim, c->change[k], xi, add[k], NULL);
    move_frames(dim, TL_SAND_LANES, h, gradient, frame);
    for (int l = 0; l < count; l++) {
        const int64_t p = which[l];
        for (int k = 0; k < dim; k++) {
            g->x[3 * p + k] = x[k][l];
            g->v[3 * p + k] = flip ? g->v[3 * p + k] + add[k][l] : v[k][l];
        }
        for (int i = 0; i < dim; i++)
            for (int j = 0; j < dim; j++) {
                g->gradient[9 * p + 3 * i + j] = gradient[3 * i + j][l];
                g->frame[9 * p + 3 * i + j] = frame[3 * i + j][l];
            }
    }
    if (m->def.diameter > 0.0 || m->def.debonding > 0.0)
        move_carried(dim, t, c, xi, gradient, which, count);
}

TL_INLINE void move_cell(int dim, const move_work *t, int64_t cell) {
    tl_sand *m = t->m;
    const int corners = 1 << dim, size = tl_tensor_size(dim);
    const int64_t *order = m->cells.order, end = m->cells.cell_start[cell + 1];
    move_corners c = {0};
    int32_t at[3];
    tl_cells_at(m->cells.cell_key[cell], at);
    for (int k = 0; k < dim; k++) c.origin[k] = at[k];
    for (int a = 0; a < corners; a++) {
        const int64_t node = m->cells.cell_node[cell * corners + a];
        for (int k = 0; k < dim; k++) {
            c.next[k][a] = m->next[3 * node + k];
            c.change[k][a] = m->next[3 * node + k] - m->velocity[3 * node + k];
            if (t->shift) c.shift[k][a] = t->shift[3 * node + k];
        }
        c.pressure[a] = tl_tensor_unit(dim) * m->stress[node * size];
    }
    for (int64_t i = m->cells.cell_start[cell]; i < end; i += TL_SAND_LANES) {
        tl_sand_ahead(m, i, true);
        move_some(dim, t, &c, order + i, (int)TL_MIN(end - i, (int64_t)TL_SAND_LANES));
    }
    for (int64_t i = m->cells.cell_start[cell]; m->grains.orient_width > 0 && i < end; i++)
        tl_sand_turn_normals(m, t->step->h, m->grains.gradient + 9 * order[i],
                             m->grains.orient + 9 * order[i]);
}

#define MOVE_CELLS(dim)                                                                            \
    void tl_sand_move_cells_##dim(const move_work *t, int64_t begin, int64_t end);                 \
    TL_SIMD_CLONES void tl_sand_move_cells_##dim(const move_work *t, int64_t begin, int64_t end) { \
        for (int64_t cell = begin; cell < end; cell++) move_cell(dim, t, cell);                    \
    }
MOVE_CELLS(2)
MOVE_CELLS(3)

static void move_team(void *arg, tl_team *team, int rank) {
    const move_work *t = arg;
    int64_t begin, end;
    tl_share(t->m->cells.count, tl_team_size(team), rank, &begin, &end);
    if (t->m->dim == 3)
        tl_sand_move_cells_3(t, begin, end);
    else
        tl_sand_move_cells_2(t, begin, end);
}

// ---- all of them -------------------------------------------------------------------------------

// Keep a particle in the box. False: it has left through a free face.
static bool move_keep(const tl_sand *m, double x[3], double v[3]) {
    for (int k = 0; k < m->dim; k++) {
        const double low = m->cells.origin[k], high = low + m->cells.extent[k] * m->cells.edge;
        const int side = x[k] < low ? 0 : x[k] > high ? 1 : -1;
        if (side < 0) continue;
        const talus_face face = m->def.face[k][side];
        if (face == TALUS_FACE_FREE || face == TALUS_FACE_NORMAL) return false;
        x[k] = side ? high : low;
        v[k] = 0.0;
    }
    return true;
}

void tl_sand_copy(tl_grains *g, int64_t to, int64_t from) {
    double **array[TL_GRAIN_ARRAYS];
    int width[TL_GRAIN_ARRAYS];
    if (to == from) return;
    tl_sand_arrays(g, array, width);
    g->id[to] = g->id[from];
    for (int k = 0; k < TL_GRAIN_ARRAYS; k++)
        if (width[k] > 0)
            memcpy(*array[k] + to * width[k], *array[k] + from * width[k],
                   (size_t)width[k] * sizeof **array[k]);
}

void tl_sand_move(tl_sand *m, const tl_step *step, const double *shift) {
    tl_grains *g = &m->grains;
    move_work work = {m, step, shift};
    tl_parallel(m->base.ctx, step->threads, move_team, &work);
    int64_t kept = 0;
    for (int64_t p = 0; p < g->count; p++) {
        if (!move_keep(m, g->x + 3 * p, g->v + 3 * p)) {
            m->lost += g->volume[p];
            continue;
        }
        if (kept != p) tl_sand_copy(g, kept, p);
        kept++;
    }
    g->count = kept;
}
