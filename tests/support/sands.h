// SPDX-License-Identifier: Apache-2.0
// Boxes of sand for tests: cells of 0.1 m, g = 9.81. To be included after cmocka.h.
#ifndef TALUS_TESTS_SANDS_H
#define TALUS_TESTS_SANDS_H
#include "support/worlds.h"

#define SANDS_GRAVITY 9.81

typedef struct sands_heap {
    int32_t dim;
    double low[3], high[3]; // filled, in cells
    double fraction;
    int per_cell; // particles along an edge
    double velocity[3];
} sands_heap;

static inline talus_world_def sands_world(int32_t dim, double h) {
    talus_world_def def = worlds_def(dim, TALUS_SCHEME_FIXED_POINT, h, SANDS_GRAVITY);
    def.solver = "nlgs";
    def.tolerance = 1e-8;
    def.iterations = 20000;
    return def;
}

static inline talus_sand_def sands_box(int32_t nx, int32_t ny, int32_t nz) {
    talus_sand_def s = talus_sand_default();
    s.cell = 0.1;
    s.cells[0] = nx, s.cells[1] = ny, s.cells[2] = nz;
    return s;
}

static inline void sands_fill(talus_world *w, const talus_sand_def *s, const sands_heap *f) {
    const double size = s->cell / f->per_cell;
    int n[3];
    for (int k = 0; k < 3; k++)
        n[k] = k < f->dim ? (int)lround((f->high[k] - f->low[k]) * f->per_cell) : 1;
    for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        double x[3] = {0};
        for (int k = 0; k < f->dim; k++)
            x[k] = s->origin[k] + s->cell * f->low[k] + (at[k] + 0.5) * size;
        WORLDS_OK(talus_world_add_particles(w, 1, x, f->velocity, size, f->fraction));
    }
}

static inline talus_sand_view sands_look(const talus_world *w) {
    talus_sand_view v;
    talus_world_sand(w, &v);
    return v;
}

static inline double sands_top(const talus_sand_view *v, int axis) {
    double most = -INFINITY;
    for (int64_t i = 0; i < v->count; i++) most = fmax(most, v->position[3 * i + axis]);
    return most;
}

static inline double sands_total(const talus_sand_view *v) {
    double sum = 0.0;
    for (int64_t i = 0; i < v->count; i++) sum += v->volume[i];
    return sum;
}

#endif // TALUS_TESTS_SANDS_H
