// SPDX-License-Identifier: Apache-2.0
// Particles and nodes: sums, velocities and the ledger against loops over all particles and nodes
// with weights written here; where particles lie.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/thread.h"
#include "linalg/tensor.h"
#include "sand/sand.h"
#include "support/context.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 700, SIDE = 5 };
#define CELL 0.25

// A few hundred terms with a few roundings each: this part of the sum of their sizes.
#define ROUNDING 1e-12

// Particles of all kinds, in no order, several in most cells.
static tl_sand *scatter(int dim, talus_transfer transfer) {
    talus_sand_def def = {.cell = CELL, .density = 3.0, .fraction = 0.6, .friction = 0.3};
    tl_sand *m;
    tl_rng rng = {.state = 11};
    def.transfer = transfer;
    def.packed = TALUS_PACKED_ALL;
    def.diameter = 0.01, def.friction_flow = 0.5, def.inertial = 0.4;
    def.cohesion = 5.0, def.debonding = 0.7;
    for (int k = 0; k < 3; k++) def.cells[k] = SIDE, def.origin[k] = k < dim ? -0.5 + 0.1 * k : 0.0;
    assert_int_equal(tl_sand_create(ctx, dim, &def, &m), TALUS_OK);
    for (int i = 0; i < COUNT; i++) {
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = def.origin[k] + CELL * SIDE * tl_rng_range(&rng, 0.0, 1.0);
            v[k] = tl_rng_normal(&rng);
        }
        assert_int_equal(tl_sand_add(m, x, v, tl_rng_range(&rng, 0.5, 1.5) * 1e-3, 0.1), TALUS_OK);
        tl_grains *g = &m->grains;
        for (int a = 0; a < dim; a++)
            for (int b = 0; b < dim; b++) g->gradient[9 * i + 3 * a + b] = tl_rng_normal(&rng);
        for (int a = 0; a < dim; a++) g->frame[9 * i + 4 * a] *= tl_rng_range(&rng, 0.5, 2.0);
        g->inertial[i] = tl_rng_range(&rng, 0.0, 1.0);
        g->bond[i] = tl_rng_range(&rng, 0.0, 1.0);
    }
    return m;
}

// Weight of a node at x, and its gradient.
static double hat(const tl_sand *m, int64_t node, const double *x, double gradient[3]) {
    int32_t at[3];
    double part[3] = {1, 1, 1}, slope[3] = {0};
    tl_cells_at(m->cells.node_key[node], at);
    for (int k = 0; k < m->dim; k++) {
        const double t = (x[k] - m->cells.origin[k]) / CELL - at[k];
        part[k] = fmax(0.0, 1.0 - fabs(t));
        slope[k] = part[k] > 0.0 ? (t > 0.0 ? -1.0 : 1.0) / CELL : 0.0;
    }
    for (int k = 0; k < 3; k++) gradient[k] = slope[k] * part[(k + 1) % 3] * part[(k + 2) % 3];
    return part[0] * part[1] * part[2];
}

// Velocity that particle p has at a node.
static void reach(const tl_sand *m, int64_t p, int64_t node, double out[3]) {
    const tl_grains *g = &m->grains;
    double y[3];
    tl_sand_node_place(m, (int32_t)node, y);
    for (int k = 0; k < 3; k++) {
        out[k] = g->v[3 * p + k];
        for (int e = 0; m->def.transfer == TALUS_TRANSFER_APIC && e < m->dim; e++)
            out[k] += g->gradient[9 * p + 3 * k + e] * (y[e] - g->x[3 * p + e]);
    }
}

static tl_sand *placed(int dim, talus_transfer transfer, int threads, tl_step *step) {
    tl_sand *m = scatter(dim, transfer);
    *step = (tl_step){.h = 1e-3, .gravity = {0.0, 0.0, -9.81}, .threads = threads};
    assert_int_equal(tl_team_reserve(ctx, threads), TALUS_OK);
    assert_int_equal(m->base.ops->place(&m->base, step, NULL), TALUS_OK);
    return m;
}

// Sums of nodes and rates of strain. Σ_b Σ_p V w_a ∂w_b is 0, as weights add up to 1.
static void gather(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int kind = TALUS_TRANSFER_APIC; kind <= TALUS_TRANSFER_FLIP; kind++) {
            tl_step step;
            tl_sand *m = placed(dim, (talus_transfer)kind, 1, &step);
            const tl_grains *g = &m->grains;
            for (int64_t i = 0; i < m->cells.nodes; i++) {
                double sum[TL_SUMS] = {0}, size[TL_SUMS] = {0}, rate[3] = {0}, own[3] = {0};
                double sizes = 0.0;
                for (int64_t p = 0; p < g->count; p++) {
                    double slope[3], v[3];
                    const double w = hat(m, i, g->x + 3 * p, slope), share = g->volume[p] * w;
                    reach(m, p, i, v);
                    const double term[TL_SUMS] = {share,
                                                  share * v[0],
                                                  share * v[1],
                                                  dim == 3 ? share * v[2] : 0.0,
                                                  share * g->inertial[p],
                                                  share * g->bond[p],
                                                  w * tl_sand_frame_space(m, g->frame + 9 * p)};
                    for (int k = 0; k < TL_SUMS; k++) sum[k] += term[k], size[k] += fabs(term[k]);
                    for (int k = 0; k < 3; k++) rate[k] += share * slope[k];
                    sizes += share / CELL;
                }
                for (int k = 0; k < TL_SUMS; k++)
                    assert_true(fabs(m->node[i * TL_SUMS + k] - sum[k]) <= ROUNDING * size[k]);
                // the node's own gradient, from the cells about it
                for (int c = 0; c < m->cells.corners; c++) {
                    const int64_t cell = m->cells.node_cell[i * m->cells.corners + c];
                    const int64_t row = (cell * m->cells.corners + c) * m->cells.corners;
                    double all[3] = {0};
                    for (int b = 0; cell >= 0 && b < m->cells.corners; b++)
                        for (int k = 0; k < dim; k++) {
                            all[k] += m->rate[(row + b) * dim + k];
                            own[k] += b == c ? m->rate[(row + b) * dim + k] : 0.0;
                        }
                    for (int k = 0; k < 3; k++) assert_true(fabs(all[k]) <= ROUNDING * sizes);
                }
                for (int k = 0; k < dim; k++)
                    assert_true(fabs(own[k] - rate[k]) <= ROUNDING * sizes);
            }
            m->base.ops->destroy(&m->base);
        }
}

// Rates between two nodes, Σ_p V w_i ∇w_j, as points of the problem have them.
static void strains(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        tl_step step;
        tl_sand *m = placed(dim, TALUS_TRANSFER_APIC, 1, &step);
        const tl_grains *g = &m->grains;
        for (int64_t i = 0; i < m->cells.nodes; i += 7) {
            tl_point point;
            m->taken[i] = 0.0;
            tl_sand_get_point(m, i, &point);
            for (int32_t e = 0; e < point.count; e++) {
                double rate[3] = {0}, sizes = 0.0, slope[3], other[3];
                for (int64_t p = 0; p < g->count; p++) {
                    const double share = g->volume[p] * hat(m, i, g->x + 3 * p, other);
                    hat(m, point.node[e], g->x + 3 * p, slope);
                    for (int k = 0; k < 3; k++) rate[k] += share * slope[k];
                    sizes += share / CELL;
                }
                for (int k = 0; k < dim; k++)
                    assert_true(fabs(point.rate[e][k] - rate[k]) <= ROUNDING * sizes);
            }
        }
        m->base.ops->destroy(&m->base);
    }
}

// Energy and momentum of the particles are those of the mass that their weights spread to nodes,
// at rest or not; the same from the sums that were kept and from none.
static void ledger(void **state) {
    (void)state;
    const double gravity[3] = {1.0, -2.0, 3.0};
    for (int dim = 2; dim <= 3; dim++)
        for (int kind = TALUS_TRANSFER_APIC; kind <= TALUS_TRANSFER_FLIP; kind++) {
            tl_step step;
            tl_sand *m = placed(dim, (talus_transfer)kind, 2, &step);
            const tl_grains *g = &m->grains;
            tl_account kept = {0}, found = {0};
            double sum[8] = {0}, size[8] = {0};
            for (int64_t p = 0; p < g->count; p++)
                for (int64_t i = 0; i < m->cells.nodes; i++) {
                    double slope[3], v[3], y[3];
                    const double w = hat(m, i, g->x + 3 * p, slope);
                    const double mass = m->def.density * g->volume[p] * w;
                    if (w == 0.0) continue;
                    reach(m, p, i, v);
                    tl_sand_node_place(m, (int32_t)i, y);
                    if (m->def.transfer != TALUS_TRANSFER_APIC) memcpy(y, g->x + 3 * p, sizeof y);
                    const double term[8] = {
                        0.5 * mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]),
                        -mass * (gravity[0] * y[0] + gravity[1] * y[1] + gravity[2] * y[2]),
                        mass * v[0],
                        mass * v[1],
                        mass * v[2],
                        mass * (y[1] * v[2] - y[2] * v[1]),
                        mass * (y[2] * v[0] - y[0] * v[2]),
                        mass * (y[0] * v[1] - y[1] * v[0])};
                    for (int k = 0; k < 8; k++) sum[k] += term[k], size[k] += fabs(term[k]);
                }
            assert_true(m->tallied);
            m->base.ops->account(&m->base, gravity, &kept);
            m->tallied = false;
            m->base.ops->account(&m->base, gravity, &found);
            const double got[8] = {kept.kinetic,     kept.potential,   kept.momentum[0],
                                   kept.momentum[1], kept.momentum[2], kept.angular[0],
                                   kept.angular[1],  kept.angular[2]};
            for (int k = 0; k < 8; k++) assert_true(fabs(got[k] - sum[k]) <= ROUNDING * size[k]);
            // where particles have been put in order in between, they are added up in another
            assert_true(fabs(found.kinetic - kept.kinetic) <= ROUNDING * size[0]);
            m->base.ops->destroy(&m->base);
        }
}

// A particle takes velocity and gradient from the nodes, moves, and its frame follows.
static void back(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int kind = TALUS_TRANSFER_APIC; kind <= TALUS_TRANSFER_FLIP; kind++) {
            tl_step step;
            tl_sand *m = placed(dim, (talus_transfer)kind, 2, &step);
            tl_grains *g = &m->grains;
            tl_rng rng = {.state = 17};
            double *x = malloc(3 * COUNT * sizeof *x), *v = malloc(3 * COUNT * sizeof *v);
            double *frame = malloc(9 * COUNT * sizeof *frame), bond[COUNT];
            double *shift = malloc((size_t)(3 * m->cells.nodes) * sizeof *shift);
            memcpy(x, g->x, 3 * COUNT * sizeof *x);
            memcpy(v, g->v, 3 * COUNT * sizeof *v);
            memcpy(frame, g->frame, 9 * COUNT * sizeof *frame);
            memcpy(bond, g->bond, sizeof bond);
            for (int64_t i = 0; i < 3 * m->cells.nodes; i++) {
                m->next[i] = i % 3 < dim ? tl_rng_normal(&rng) : 0.0;
                shift[i] = i % 3 < dim ? 1e-4 * tl_rng_normal(&rng) : 0.0;
            }
            for (int64_t i = 0; i < m->cells.nodes * tl_tensor_size(dim); i++)
                m->stress[i] = fabs(tl_rng_normal(&rng));
            tl_sand_move(m, &step, shift);
            assert_int_equal(g->count, COUNT); // faces are closed
            for (int64_t p = 0; p < COUNT; p++) {
                double now[3] = {0}, change[3] = {0}, moved[3] = {0}, l[9] = {0}, pressure = 0.0;
                for (int64_t i = 0; i < m->cells.nodes; i++) {
                    double slope[3];
                    const double w = hat(m, i, x + 3 * p, slope), *next = m->next + 3 * i;
                    pressure += tl_tensor_unit(dim) * w * m->stress[i * tl_tensor_size(dim)];
                    for (int k = 0; k < 3; k++) {
                        now[k] += w * next[k];
                        change[k] += w * (next[k] - m->velocity[3 * i + k]);
                        moved[k] += w * shift[3 * i + k];
                        for (int e = 0; e < 3; e++) l[3 * k + e] += next[k] * slope[e];
                    }
                }
                double t[6], shear = 0.0;
                tl_tensor_pack(dim, l, t);
                for (int k = 1; k < tl_tensor_size(dim); k++) shear += t[k] * t[k];
                shear = sqrt(shear);
                tl_sand_frame(step.h, l, frame + 9 * p);
                const double fast = shear * m->def.diameter / sqrt(pressure / m->def.density);
                assert_true(fabs(g->inertial[p] - fast) < 1e-11 * fast);
                assert_true(fabs(g->bond[p] - bond[p] / (1.0 + 2.0 * step.h * 0.7 * shear)) <
                            1e-14);
                for (int k = 0; k < 9; k++) {
                    assert_true(fabs(g->gradient[9 * p + k] - l[k]) < ROUNDING * 10.0 / CELL);
                    assert_true(fabs(g->frame[9 * p + k] - frame[9 * p + k]) < 1e-14);
                }
                for (int k = 0; k < dim; k++) {
                    const double low = m->cells.origin[k], high = low + SIDE * CELL;
                    const double to = x[3 * p + k] + step.h * now[k] + moved[k];
                    assert_true(fabs(g->x[3 * p + k] - fmin(fmax(to, low), high)) < 1e-14);
                    if (to < low || to > high) continue; // a face has stopped it
                    const double want =
                        kind == TALUS_TRANSFER_FLIP ? v[3 * p + k] + change[k] : now[k];
                    assert_true(fabs(g->v[3 * p + k] - want) < ROUNDING * 10.0);
                }
            }
            free(x), free(v), free(frame), free(shift);
            m->base.ops->destroy(&m->base);
        }
}

// Particles that lie in no order are put in that of their cells, all that they carry with them, the
// same for any number of threads; those that lie nearly so stay, and are only read in order.
static void lying(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        tl_step step[2];
        tl_sand *before = scatter(dim, TALUS_TRANSFER_APIC);
        tl_sand *m[2] = {placed(dim, TALUS_TRANSFER_APIC, 1, &step[0]),
                         placed(dim, TALUS_TRANSFER_APIC, 3, &step[1])};
        // In space those of a cell lie far apart; in the plane all are near enough to each other.
        assert_true((m[0]->cells.jumps == 0) == (dim == 3));
        for (int k = 0; dim == 2 && k < 2; k++) {
            assert_int_equal(tl_sand_sort(m[k], step[k].threads), TALUS_OK);
            assert_int_equal(m[k]->base.ops->place(&m[k]->base, &step[k], NULL), TALUS_OK);
        }
        assert_true(m[0]->base.ops->hash(&m[0]->base, 1) == m[1]->base.ops->hash(&m[1]->base, 1));
        tl_grains *g = &m[0]->grains, *old = &before->grains;
        double **array[TL_GRAIN_ARRAYS], **from[TL_GRAIN_ARRAYS];
        int width[TL_GRAIN_ARRAYS];
        tl_sand_arrays(g, array, width);
        tl_sand_arrays(old, from, width);
        for (int64_t p = 0; p < COUNT; p++) {
            assert_true(p == 0 || m[0]->cells.home[p] >= m[0]->cells.home[p - 1]);
            for (int k = 0; k < TL_GRAIN_ARRAYS; k++)
                assert_memory_equal(*array[k] + p * width[k], *from[k] + g->id[p] * width[k],
                                    (size_t)width[k] * sizeof(double));
        }
        // one of the first cell goes to the last one, and stays where it lies
        memcpy(g->x, g->x + 3 * (COUNT - 1), 3 * sizeof *g->x);
        const int64_t first = g->id[0];
        assert_int_equal(m[0]->base.ops->place(&m[0]->base, &step[0], NULL), TALUS_OK);
        assert_int_equal(g->id[0], first);
        assert_int_equal(m[0]->cells.home[0], m[0]->cells.count - 1);
        assert_true(m[0]->cells.jumps > 0);
        before->base.ops->destroy(&before->base);
        for (int k = 0; k < 2; k++) m[k]->base.ops->destroy(&m[k]->base);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(gather), TEST(strains), TEST(ledger), TEST(back),
                                       TEST(lying)};
    return cmocka_run_group_tests_name("unit/sand_transfer", tests, NULL, NULL);
}
