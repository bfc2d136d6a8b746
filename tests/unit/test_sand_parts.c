// SPDX-License-Identifier: Apache-2.0
// Parts of the sand: coordinates of tensors, cells and nodes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "linalg/tensor.h"
#include "sand/cells.h"
#include "sand/sand.h"
#include "support/context.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Packing and unpacking undo each other, the coordinates are orthonormal for ½ s : t, the first is
// the trace over √(2 dim), the length of the rest is that of the deviator.
static void coordinates(void **state) {
    (void)state;
    tl_rng rng = {.state = 5};
    for (int dim = 2; dim <= 3; dim++)
        for (int trial = 0; trial < 200; trial++) {
            const int size = tl_tensor_size(dim);
            double m[2][9] = {{0}}, t[2][6], back[9], dot = 0.0, product = 0.0, trace = 0.0;
            for (int which = 0; which < 2; which++) {
                for (int i = 0; i < dim; i++)
                    for (int j = i; j < dim; j++)
                        m[which][3 * i + j] = m[which][3 * j + i] = tl_rng_range(&rng, -1.0, 1.0);
                tl_tensor_pack(dim, m[which], t[which]);
            }
            tl_tensor_unpack(dim, t[0], back);
            for (int k = 0; k < 9; k++) {
                assert_true(fabs(back[k] - m[0][k]) < 1e-15 * 4);
                dot += 0.5 * m[0][k] * m[1][k];
                if (k % 4 == 0) trace += m[0][k];
            }
            for (int k = 0; k < size; k++) product += t[0][k] * t[1][k];
            assert_true(fabs(dot - product) < 1e-15 * 8);
            assert_true(fabs(t[0][0] - trace / sqrt(2.0 * dim)) < 1e-15 * 4);
            double deviator = 0.0, rest = 0.0;
            for (int k = 0; k < 9; k++) {
                const double d = m[0][k] - (k % 4 == 0 && k / 4 < dim ? trace / dim : 0.0);
                deviator += 0.5 * d * d;
            }
            for (int k = 1; k < size; k++) rest += t[0][k] * t[0][k];
            assert_true(fabs(deviator - rest) < 1e-14);
        }
}

// The block of a gradient against its definition, 2 χ⁻¹(sym(e_k ⊗ g)).
static void rates(void **state) {
    (void)state;
    tl_rng rng = {.state = 6};
    for (int dim = 2; dim <= 3; dim++)
        for (int trial = 0; trial < 50; trial++) {
            const int size = tl_tensor_size(dim);
            double g[3] = {0}, block[18];
            for (int k = 0; k < dim; k++) g[k] = tl_rng_range(&rng, -1.0, 1.0);
            tl_tensor_rate(dim, g, block);
            for (int k = 0; k < dim; k++) {
                double m[9] = {0}, t[6];
                for (int i = 0; i < dim; i++) {
                    m[3 * k + i] += 0.5 * g[i];
                    m[3 * i + k] += 0.5 * g[i];
                }
                tl_tensor_pack(dim, m, t);
                for (int r = 0; r < size; r++)
                    assert_true(fabs(block[r * dim + k] - 2.0 * t[r]) < 1e-15 * 4);
            }
        }
}

// Cells hold their particles and only those, in order; a node knows its cells and they know it; the
// nodes are as many as a count by hand tells.
static void cells(void **state) {
    (void)state;
    enum { COUNT = 500, SIDE = 6 };
    for (int dim = 2; dim <= 3; dim++) {
        tl_cells g = {.dim = dim, .corners = dim == 2 ? 4 : 8, .edge = 0.5, .origin = {-1, -1, -1}};
        for (int k = 0; k < 3; k++) g.extent[k] = k < dim ? SIDE : 1;
        if (dim == 2) g.origin[2] = 0.0;
        tl_rng rng = {.state = 7};
        static double x[3 * COUNT], sorted[3 * COUNT];
        for (int i = 0; i < 3 * COUNT; i++)
            x[i] = i % 3 < dim ? tl_rng_range(&rng, -1.5, 2.5) : 0.0; // some outside
        assert_int_equal(tl_cells_sort(ctx, &g, 1, COUNT, x), TALUS_OK);
        const int64_t *const order = g.order;
        bool seen[COUNT] = {0};
        for (int i = 0; i < COUNT; i++) {
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
            for (int k = 0; k < 3; k++) sorted[3 * i + k] = x[3 * order[i] + k];
        }
        assert_int_equal(tl_cells_build(ctx, &g, COUNT), TALUS_OK);
        bool wanted[SIDE + 1][SIDE + 1][SIDE + 1] = {{{0}}}, full[SIDE][SIDE][SIDE] = {{{0}}};
        int nodes = 0, held = 0;
        for (int i = 0; i < COUNT; i++) {
            int32_t at[3];
            tl_cells_locate(&g, sorted + 3 * (ptrdiff_t)i, at);
            for (int k = 0; k < dim; k++) assert_true(at[k] >= 0 && at[k] < SIDE);
            full[at[2]][at[1]][at[0]] = true;
            for (int c = 0; c < g.corners; c++)
                wanted[at[2] + (c >> 2 & 1)][at[1] + (c >> 1 & 1)][at[0] + (c & 1)] = true;
        }
        for (int i = 0; i < (SIDE + 1) * (SIDE + 1) * (SIDE + 1); i++)
            nodes += (&wanted[0][0][0])[i];
        for (int i = 0; i < SIDE * SIDE * SIDE; i++) held += (&full[0][0][0])[i];
        assert_int_equal(g.nodes, nodes);
        assert_int_equal(g.count, held);
        for (int64_t cell = 0; cell < g.count; cell++) {
            if (cell > 0) assert_true(g.cell_key[cell] > g.cell_key[cell - 1]);
            assert_true(g.cell_start[cell + 1] > g.cell_start[cell]);
            for (int64_t p = g.cell_start[cell]; p < g.cell_start[cell + 1]; p++) {
                int32_t at[3];
                tl_cells_locate(&g, sorted + 3 * p, at);
                assert_true(tl_cells_key(at) == g.cell_key[cell]);
                assert_int_equal(g.home[order[p]], cell);
                if (p > g.cell_start[cell]) assert_true(order[p] > order[p - 1]);
            }
            for (int c = 0; c < g.corners; c++) {
                const int32_t node = g.cell_node[cell * g.corners + c];
                assert_int_equal(g.node_cell[(int64_t)node * g.corners + c], cell);
                assert_int_equal(tl_cells_find(&g, g.node_key[node]), node);
            }
        }
        const int32_t nowhere[3] = {100, 100, 0};
        assert_int_equal(tl_cells_find(&g, tl_cells_key(nowhere)), -1);
        tl_cells_clear(ctx, &g);
    }
}

static double determinant(const double m[9]) {
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

// A frame under constant gradients of the velocity whose flow is known: rotation keeps trace,
// determinant and the sum of squares, that is, the eigenvalues; simple shear is E = I + h s e_x
// e_yᵀ; any gradient makes the determinant grow as exp(2 tr L t), whether in one step or in many.
static void frames(void **state) {
    (void)state;
    static const double start[9] = {2.0, 0.3, -0.4, 0.3, 1.0, 0.2, -0.4, 0.2, 0.5};
    const double spin[9] = {0, -3.0, 1.0, 3.0, 0, -2.0, -1.0, 2.0, 0};
    double f[9], before[3] = {0}, after[3] = {0};
    memcpy(f, start, sizeof f);
    for (int n = 0; n < 100; n++) tl_sand_frame(0.07, spin, f);
    for (int k = 0; k < 9; k++) {
        if (k % 4 == 0) before[0] += start[k], after[0] += f[k];
        before[1] += start[k] * start[k], after[1] += f[k] * f[k];
        assert_true(fabs(f[k] - f[k % 3 * 3 + k / 3]) < 1e-12);
    }
    before[2] = determinant(start), after[2] = determinant(f);
    for (int k = 0; k < 3; k++) assert_true(fabs(after[k] - before[k]) < 1e-12 * before[k]);

    const double shear[9] = {0, 5.0, 0, 0, 0, 0, 0, 0, 0}, t = 0.6;
    double exact[9];
    const double e[9] = {1, 5.0 * t, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            exact[3 * i + j] = 0.0;
            for (int k = 0; k < 9; k++)
                exact[3 * i + j] += e[3 * i + k / 3] * start[k] * e[3 * j + k % 3];
        }
    for (int parts = 1; parts <= 10; parts += 9) {
        memcpy(f, start, sizeof f);
        for (int n = 0; n < parts; n++) tl_sand_frame(t / parts, shear, f);
        for (int k = 0; k < 9; k++) assert_true(fabs(f[k] - exact[k]) < 1e-12);
    }

    tl_rng rng = {.state = 8};
    for (int trial = 0; trial < 50; trial++) {
        double gradient[9];
        for (int k = 0; k < 9; k++) gradient[k] = tl_rng_range(&rng, -2.0, 2.0);
        memcpy(f, start, sizeof f);
        for (int n = 0; n < 4; n++) tl_sand_frame(0.1, gradient, f);
        const double grown =
            determinant(start) * exp(2.0 * 0.4 * (gradient[0] + gradient[4] + gradient[8]));
        assert_true(fabs(determinant(f) - grown) < 1e-11 * grown);
    }
}

// Volume, momentum and the centre of mass of all particles.
static void sums(const tl_grains *g, double out[7]) {
    for (int k = 0; k < 7; k++) out[k] = 0.0;
    for (int64_t p = 0; p < g->count; p++) {
        out[0] += g->volume[p];
        for (int k = 0; k < 3; k++) {
            out[1 + k] += g->volume[p] * g->v[3 * p + k];
            out[4 + k] += g->volume[p] * g->x[3 * p + k];
        }
    }
}

// A particle drawn out five times along a known direction becomes two of half the length along it;
// two flat ones on top of each other become one; volume, momentum and centre stay.
static void resampling(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int flat = 0; flat < 2; flat++) {
            talus_sand_def def = {.cell = 1.0, .cells = {8, 8, 8}, .density = 1.0, .fraction = 0.5};
            tl_sand *m;
            assert_int_equal(tl_sand_create(ctx, dim, &def, &m), TALUS_OK);
            const double size = 0.5, volume = 0.5 * pow(size, dim);
            const double x[3] = {3.5, 3.5, 3.5}, v[3] = {1.0, -2.0, 0.5};
            for (int k = 0; k < 1 + flat; k++) {
                const double at[3] = {x[0] + 0.04 * k, x[1] + 0.03 * k, x[2]};
                assert_int_equal(tl_sand_add(m, at, v, volume * (1 + k), size), TALUS_OK);
            }
            assert_int_equal(tl_sand_reserve_grains(m, 8), TALUS_OK);
            tl_grains *g = &m->grains;
            const double along[3] = {0.8, 0.6, 0.0}, across[3] = {-0.6, 0.8, 0.0};
            const double *special = flat ? along : across;
            // half axes: one of 0.1 or 1, the others 0.25 or 0.2
            const double one = flat ? 0.1 : 1.0, rest = flat ? 0.25 : 0.2;
            for (int64_t p = 0; p < g->count; p++)
                for (int i = 0; i < dim; i++)
                    for (int k = 0; k < dim; k++)
                        g->frame[9 * p + 3 * i + k] =
                            (i == k ? rest * rest : 0.0) +
                            (one * one - rest * rest) * special[i] * special[k];
            g->gradient[1] = 0.7;
            double before[7], after[7];
            sums(g, before);
            assert_true(tl_sand_resample(m));
            sums(g, after);
            for (int k = 0; k < 7; k++) assert_true(fabs(after[k] - before[k]) < 1e-14);
            if (flat) {
                assert_int_equal(g->count, 1);
                assert_int_equal(g->id[0], 0);
            } else {
                double way[3];
                assert_int_equal(g->count, 2);
                assert_int_equal(g->id[1], 1);
                for (int k = 0; k < 3; k++) way[k] = g->x[k] - g->x[3 + k];
                assert_true(fabs(fabs(way[0] * across[0] + way[1] * across[1]) - 1.0) < 1e-12);
                for (int i = 0; i < dim; i++)
                    for (int k = 0; k < dim; k++)
                        assert_true(fabs(g->frame[3 * i + k] - (i == k ? 0.04 : 0.0) -
                                         0.21 * across[i] * across[k]) < 1e-12);
            }
            m->base.ops->destroy(&m->base);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(coordinates), TEST(rates), TEST(cells), TEST(frames),
                                       TEST(resampling)};
    return cmocka_run_group_tests_name("unit/sand_parts", tests, NULL, NULL);
}
