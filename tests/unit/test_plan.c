// SPDX-License-Identifier: Apache-2.0
// The order of a sweep: every block once; no two coupled blocks side by side or in two chunks of
// one colour; nothing that depends on anything but the graph.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "solve/plan.h"
#include "support/context.h"
#include <stdlib.h>
#include <string.h>

// A graph with a full matrix of couplings beside it.
typedef struct test_graph {
    tl_graph g;
    bool *coupled; // count × count
} test_graph;

static test_graph graph_make(int32_t n, bool (*coupled)(int32_t n, int32_t i, int32_t j, tl_rng *),
                             uint64_t seed) {
    tl_rng rng = {.state = seed};
    test_graph t = {.g = {.count = n}};
    t.coupled = calloc((size_t)n * (size_t)n + 1, sizeof *t.coupled);
    t.g.start = calloc((size_t)n + 1, sizeof *t.g.start);
    t.g.adjacent = calloc((size_t)n * (size_t)n + 1, sizeof *t.g.adjacent);
    assert_true(t.coupled && t.g.start && t.g.adjacent);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n; j++)
            t.coupled[i * n + j] = t.coupled[j * n + i] = coupled(n, i, j, &rng);
    for (int32_t i = 0; i < n; i++) {
        t.g.start[i + 1] = t.g.start[i];
        for (int32_t j = 0; j < n; j++)
            if (t.coupled[i * n + j]) t.g.adjacent[t.g.start[i + 1]++] = j;
    }
    return t;
}

static void graph_free(test_graph *t) {
    free(t->coupled);
    free(t->g.start);
    free(t->g.adjacent);
}

static bool none(int32_t n, int32_t i, int32_t j, tl_rng *rng) {
    (void)n, (void)i, (void)j, (void)rng;
    return false;
}
static bool all(int32_t n, int32_t i, int32_t j, tl_rng *rng) {
    (void)n, (void)i, (void)j, (void)rng;
    return true;
}
static bool ring(int32_t n, int32_t i, int32_t j, tl_rng *rng) {
    (void)rng;
    return j - i == 1 || j - i == n - 1;
}
static bool few(int32_t n, int32_t i, int32_t j, tl_rng *rng) {
    (void)i, (void)j;
    return tl_rng_unit(rng) * n < 5.0;
}
static bool near(int32_t n, int32_t i, int32_t j, tl_rng *rng) {
    (void)n;
    return tl_rng_unit(rng) * (j - i) < 2.0;
}
static bool star(int32_t n, int32_t i, int32_t j, tl_rng *rng) {
    (void)j, (void)rng;
    return i == 0 || i == n / 2 || j == n - 1;
}

// What any plan must be.
static void check_shape(const test_graph *t, const tl_plan *p) {
    const int32_t n = t->g.count;
    assert_int_equal(p->rows, p->group_count * TL_LANES);
    int *seen = calloc((size_t)n + 1, sizeof *seen);
    assert_non_null(seen);
    for (int32_t row = 0; row < p->rows; row++) {
        assert_true(p->order[row] >= -1 && p->order[row] < n);
        if (p->order[row] >= 0) seen[p->order[row]]++;
    }
    for (int32_t i = 0; i < n; i++) assert_int_equal(seen[i], 1);
    free(seen);
    assert_int_equal(p->chunk_start[0], 0);
    assert_int_equal(p->chunk_start[p->chunk_count], p->group_count);
    for (int32_t c = 0; c < p->chunk_count; c++)
        assert_true(p->chunk_start[c] < p->chunk_start[c + 1]);
    assert_int_equal(p->colour_start[0], 0);
    assert_int_equal(p->colour_start[p->colour_count], p->chunk_count);
    for (int32_t k = 0; k < p->colour_count; k++)
        assert_true(p->colour_start[k] < p->colour_start[k + 1]);
}

static void check_coloured(const test_graph *t, const tl_plan *p) {
    const int32_t n = t->g.count;
    int32_t *chunk_of = calloc((size_t)n + 1, sizeof *chunk_of);
    int32_t *colour_of = calloc((size_t)n + 1, sizeof *colour_of);
    int32_t *group_of = calloc((size_t)n + 1, sizeof *group_of);
    assert_true(chunk_of && colour_of && group_of);
    for (int32_t k = 0; k < p->colour_count; k++)
        for (int32_t c = p->colour_start[k]; c < p->colour_start[k + 1]; c++)
            for (int32_t row = p->chunk_start[c] * TL_LANES; row < p->chunk_start[c + 1] * TL_LANES;
                 row++) {
                if (p->order[row] < 0) continue;
                chunk_of[p->order[row]] = c;
                colour_of[p->order[row]] = k;
                group_of[p->order[row]] = row / TL_LANES;
            }
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = t->g.start[i]; e < t->g.start[i + 1]; e++) {
            const int32_t j = t->g.adjacent[e];
            assert_true(group_of[i] != group_of[j]);
            assert_true(colour_of[i] != colour_of[j] || chunk_of[i] == chunk_of[j]);
        }
    free(chunk_of);
    free(colour_of);
    free(group_of);
}

static void check_graph(test_graph *t) {
    tl_plan natural, one, two;
    assert_int_equal(tl_plan_natural(ctx, t->g.count, &natural), TALUS_OK);
    assert_false(natural.coloured);
    check_shape(t, &natural);
    for (int32_t row = 0; row < natural.rows; row++)
        assert_int_equal(natural.order[row], row < t->g.count ? row : -1);
    assert_true(natural.chunk_count <= 1 && natural.colour_count <= 1);
    assert_int_equal(tl_plan_coloured(ctx, &t->g, &one), TALUS_OK);
    assert_true(one.coloured);
    check_shape(t, &one);
    check_coloured(t, &one);
    assert_int_equal(tl_plan_coloured(ctx, &t->g, &two), TALUS_OK);
    assert_int_equal(one.rows, two.rows);
    assert_int_equal(one.chunk_count, two.chunk_count);
    assert_int_equal(one.colour_count, two.colour_count);
    assert_memory_equal(one.order, two.order, (size_t)one.rows * sizeof *one.order);
    tl_plan_clear(ctx, &natural);
    tl_plan_clear(ctx, &one);
    tl_plan_clear(ctx, &two);
    assert_null(one.order);
    tl_plan_clear(ctx, &one); // twice is legal
    graph_free(t);
}

static void small_graphs(void **state) {
    (void)state;
    for (int32_t n = 0; n <= 200; n++) {
        test_graph t = graph_make(n, few, (uint64_t)n);
        check_graph(&t);
        t = graph_make(n, near, (uint64_t)n);
        check_graph(&t);
    }
}

static void special_graphs(void **state) {
    (void)state;
    const int32_t sizes[] = {1, 2, 7, 8, 9, 63, 64, 65, 128, 200, 700};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        bool (*const kinds[])(int32_t, int32_t, int32_t, tl_rng *) = {none, all, ring, star, near};
        for (int m = 0; m < 5; m++) {
            test_graph t = graph_make(sizes[k], kinds[m], 9);
            check_graph(&t);
        }
    }
}

// Sizes that follow from the couplings: none at all needs no empty lane and one colour, all with
// all needs a group for each block.
static void bounds(void **state) {
    (void)state;
    tl_plan p;
    test_graph t = graph_make(640, none, 1);
    assert_int_equal(tl_plan_coloured(ctx, &t.g, &p), TALUS_OK);
    assert_int_equal(p.group_count, 640 / TL_LANES);
    assert_int_equal(p.colour_count, 1);
    tl_plan_clear(ctx, &p);
    graph_free(&t);
    t = graph_make(200, all, 1);
    assert_int_equal(tl_plan_coloured(ctx, &t.g, &p), TALUS_OK);
    assert_int_equal(p.group_count, 200);
    assert_int_equal(p.colour_count, p.chunk_count);
    tl_plan_clear(ctx, &p);
    graph_free(&t);
}

// Three chunks that are coupled and thirty that are free share three colours evenly, so that no
// thread waits.
static bool first_three(int32_t n, int32_t i, int32_t j, tl_rng *rng) {
    (void)n, (void)rng;
    return i % 128 == 0 && j % 128 == 0 && j < 3 * 128;
}

static void colours_are_of_equal_size(void **state) {
    (void)state;
    tl_plan p;
    test_graph t = graph_make(33 * 128, first_three, 1);
    assert_int_equal(tl_plan_coloured(ctx, &t.g, &p), TALUS_OK);
    check_coloured(&t, &p);
    assert_int_equal(p.colour_count, 3);
    for (int k = 0; k < 3; k++) assert_int_equal(p.colour_start[k + 1] - p.colour_start[k], 11);
    tl_plan_clear(ctx, &p);
    graph_free(&t);
}

static void memory_sweep(void **state) {
    (void)state;
    test_graph t = graph_make(200, near, 2);
    for (int coloured = 0; coloured < 2; coloured++)
        for (int64_t k = 1;; k++) {
            tl_plan p;
            const int64_t live = memory.live;
            memory.fail_at = memory.requests + k;
            const talus_status status = coloured == 1 ? tl_plan_coloured(ctx, &t.g, &p)
                                                      : tl_plan_natural(ctx, t.g.count, &p);
            memory.fail_at = 0;
            if (status == TALUS_OK) {
                assert_true(k > 3);
                tl_plan_clear(ctx, &p);
                break;
            }
            assert_int_equal(status, TALUS_ERR_MEMORY);
            assert_true(memory.live == live);
            assert_null(p.order);
        }
    graph_free(&t);
}

// Many blocks, each coupled with some near ones and one far off: chunks are of several cells.
static void large_graphs(void **state) {
    (void)state;
    static const int32_t apart[] = {1, 7, 700, 60000};
    for (int32_t n = 131071; n < 1300000; n = n < 131072 ? 131072 : 9 * n) {
        test_graph t = {.g = {.count = n}};
        t.g.start = calloc((size_t)n + 1, sizeof *t.g.start);
        t.g.adjacent = calloc(8 * (size_t)n, sizeof *t.g.adjacent);
        assert_true(t.g.start && t.g.adjacent);
        for (int32_t i = 0; i < n; i++) {
            t.g.start[i + 1] = t.g.start[i];
            for (int k = -4; k < 4; k++) {
                const int32_t j = k < 0 ? i - apart[-1 - k] : i + apart[k];
                if (j >= 0 && j < n) t.g.adjacent[t.g.start[i + 1]++] = j;
            }
        }
        tl_plan plan;
        assert_int_equal(tl_plan_coloured(ctx, &t.g, &plan), TALUS_OK);
        check_shape(&t, &plan);
        check_coloured(&t, &plan);
        // a thousand chunks or more, of at most 8 cells of 128 blocks
        const int32_t cells = (n + 127) / 128;
        const int32_t span = n < 131072 ? 1 : n / 131072 < 8 ? n / 131072 : 8;
        assert_int_equal(plan.chunk_count, (cells + span - 1) / span);
        assert_true(plan.chunk_count >= 1024);
        tl_plan_clear(ctx, &plan);
        graph_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_graphs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(special_graphs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_graphs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(colours_are_of_equal_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_sweep, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
