// SPDX-License-Identifier: Apache-2.0
// The search for contacts against all pairs compared one by one: sizes 1:100, clusters, large empty
// domains, every choice of periodic axes, few items, any number of threads, walls.
// ctest labels: threads
#include "base/context.h"
#include "base/rng.h"
#include "collide/collide.h"
#include "support/context.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4000 };

// A set of balls with groups, and what the search should find.
typedef struct cloud {
    int32_t dim, count;
    double period[3];
    double radius[MOST];
    int32_t group[MOST];
    bool immovable[MOST];
    tl_pose pose[MOST];
} cloud;

static cloud set; // too large for the stack

static void cloud_init(int32_t dim, int32_t count, const double period[3]) {
    memset(&set, 0, sizeof set);
    set.dim = dim;
    set.count = count;
    memcpy(set.period, period, sizeof set.period);
    for (int32_t i = 0; i < count; i++) {
        set.group[i] = i;
        set.pose[i].q[0] = 1.0;
    }
}

// Radii from 0.01 to 1 with as many of each order, in a box that makes a few contacts per ball.
static void cloud_scatter(tl_rng *rng, double width) {
    for (int32_t i = 0; i < set.count; i++) {
        set.radius[i] = 0.02 * pow(100.0, tl_rng_unit(rng));
        for (int k = 0; k < set.dim; k++)
            set.pose[i].x[k] = tl_rng_range(rng, -0.5 * width, 0.5 * width);
    }
}

static tl_collide *cloud_collide(talus_context *context) {
    tl_collide *c = NULL;
    assert_int_equal(tl_collide_create(context, set.dim, set.period, &c), TALUS_OK);
    for (int32_t i = 0; i < set.count; i++) {
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = set.radius[i]};
        int32_t shape, item;
        assert_int_equal(tl_collide_add_shape(c, &ball, &shape), TALUS_OK);
        assert_int_equal(tl_collide_add_item(c, shape, set.group[i], set.immovable[i], &item),
                         TALUS_OK);
        assert_int_equal(item, i);
    }
    return c;
}

// All pairs, one by one, by the definition: the image with the smallest distance among all near
// ones, tried out.
static void cloud_check(const tl_collide *c, double reach) {
    int64_t count, at = 0;
    const tl_touch *touch = tl_collide_touches(c, &count);
    for (int32_t a = 0; a < set.count; a++) {
        for (int32_t b = a + 1; b < set.count; b++) {
            if (set.group[a] == set.group[b] || (set.immovable[a] && set.immovable[b])) continue;
            double d[3], best = 0.0;
            for (int k = 0; k < 3; k++) {
                d[k] = set.pose[a].x[k] - set.pose[b].x[k];
                const double period = set.period[k];
                if (period > 0.0 && k < set.dim) {
                    while (d[k] > 0.5 * period) d[k] -= period;
                    while (d[k] < -0.5 * period) d[k] += period;
                }
                best += d[k] * d[k];
            }
            best = sqrt(best);
            const double gap = best - (set.radius[a] + set.radius[b]);
            if (!(gap <= reach)) continue;
            assert_true(at < count);
            assert_int_equal(touch[at].a, a);
            assert_int_equal(touch[at].b, b);
            assert_int_equal(touch[at].feature, 0);
            assert_true(fabs(touch[at].gap - gap) <= 1e-12 * (1.0 + fabs(set.pose[a].x[0])));
            for (int k = 0; k < 3; k++) {
                const double n = touch[at].normal[k];
                assert_true(fabs(n - d[k] / best) <= 1e-11 * (1.0 + 1.0 / best));
                assert_true(fabs(touch[at].arm_a[k] + set.radius[a] * n) <= 1e-15);
                assert_true(fabs(touch[at].arm_b[k] - set.radius[b] * n) <= 1e-15);
            }
            at++;
        }
    }
    assert_int_equal(at, count);
}

// A search, judged; returns how many contacts there were.
static int64_t cloud_try(double reach, int32_t threads) {
    tl_collide *c = cloud_collide(ctx);
    int64_t count;
    assert_int_equal(tl_collide_detect(c, set.pose, reach, threads), TALUS_OK);
    cloud_check(c, reach);
    (void)tl_collide_touches(c, &count);
    tl_collide_destroy(c);
    return count;
}

static const double open_space[3] = {0.0, 0.0, 0.0};

static void all_sizes_are_found(void **state) {
    (void)state;
    tl_rng rng = {.state = 1};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < 6; trial++) {
            cloud_init(dim, 1500, open_space);
            cloud_scatter(&rng, dim == 2 ? 60.0 : 22.0);
            assert_true(cloud_try(trial % 2 ? 0.0 : 0.1, 1) > 300);
        }
    }
}

static void all_subsets_of_axes_can_be_periodic(void **state) {
    (void)state;
    tl_rng rng = {.state = 2};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int subset = 0; subset < 1 << dim; subset++) {
            double period[3];
            for (int k = 0; k < 3; k++) period[k] = subset >> k & 1 ? 9.0 + k : 0.0;
            cloud_init(dim, 500, period);
            cloud_scatter(&rng, 10.0);
            for (int32_t i = 0; i < set.count; i++) // some lie periods away from the first image
                for (int k = 0; k < dim; k++)
                    set.pose[i].x[k] += period[k] * (double)(tl_rng_next(&rng) % 5);
            assert_true(cloud_try(0.05, 1) > 100);
        }
    }
}

// Few items of very different sizes in few cells, again and again: whatever one item leaves behind
// in the search must not matter to the next.
static void small_sets_of_all_sizes_are_found(void **state) {
    (void)state;
    tl_rng rng = {.state = 9};
    for (int trial = 0; trial < 1500; trial++) {
        const double period = trial % 3 == 0 ? 4.3 : 0.0;
        cloud_init(trial % 2 + 2, 2 + trial % 23, (double[3]){period, 0.0, period});
        for (int32_t i = 0; i < set.count; i++) {
            set.radius[i] = pow(0.1, 2.0 * tl_rng_unit(&rng));
            for (int k = 0; k < set.dim; k++) set.pose[i].x[k] = tl_rng_range(&rng, -1.5, 1.5);
        }
        (void)cloud_try(trial % 5 ? 0.0 : 0.1, 1);
    }
}

// With a period of four to five times the size there are one to four cells around.
static void few_cells_around_do_not_double_pairs(void **state) {
    (void)state;
    tl_rng rng = {.state = 3};
    for (int trial = 0; trial < 40; trial++) {
        const double width = 4.01 + 0.1 * trial;
        cloud_init(trial % 2 + 2, 200, (double[3]){width, width, trial % 3 ? width : 0.0});
        for (int32_t i = 0; i < set.count; i++) {
            set.radius[i] = trial < 20 ? 1.0 : tl_rng_range(&rng, 0.3, 1.0);
            for (int k = 0; k < set.dim; k++)
                set.pose[i].x[k] =
                    tl_rng_range(&rng, -1.0, 1.0) * (set.period[k] > 0.0 ? 9.0 : 2.0);
        }
        assert_true(cloud_try(0.0, 1) > 60);
    }
}

// Tight clusters of small balls, far apart, and a few that are lost at the end of the world.
static void clusters_in_a_huge_domain_are_found(void **state) {
    (void)state;
    tl_rng rng = {.state = 4};
    cloud_init(3, 2000, open_space);
    double centre[3] = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < set.count; i++) {
        if (i % 50 == 0)
            for (int k = 0; k < 3; k++) centre[k] = tl_rng_range(&rng, -1e6, 1e6);
        set.radius[i] = 0.01 * pow(30.0, tl_rng_unit(&rng));
        for (int k = 0; k < 3; k++) set.pose[i].x[k] = centre[k] + tl_rng_range(&rng, -0.5, 0.5);
    }
    set.pose[17].x[0] = 1e15;
    set.pose[18].x[0] = 1e15;
    set.pose[17].x[1] = 0.0;
    set.pose[18].x[1] = 0.015;
    set.pose[17].x[2] = set.pose[18].x[2] = 0.0;
    set.pose[19].x[2] = -1e300;
    assert_true(cloud_try(0.0, 1) > 500);
}

// Items that touch thousands of others, first, last and in the middle of the numbers.
static void an_item_may_have_thousands_of_partners(void **state) {
    (void)state;
    tl_rng rng = {.state = 10};
    const int32_t large[] = {0, 1500, 2999};
    for (int which = 0; which < 3; which++) {
        cloud_init(3, 3000, open_space);
        for (int32_t i = 0; i < set.count; i++) {
            double length = 0.0;
            for (int k = 0; k < 3; k++) {
                set.pose[i].x[k] = tl_rng_normal(&rng);
                length += set.pose[i].x[k] * set.pose[i].x[k];
            }
            for (int k = 0; k < 3; k++) set.pose[i].x[k] *= 20.0 / sqrt(length);
            set.radius[i] = 0.2;
        }
        const int32_t i = large[which];
        set.radius[i] = 19.9;
        for (int k = 0; k < 3; k++) set.pose[i].x[k] = 0.0;
        assert_true(cloud_try(0.0, 1) >= 2999);
    }
}

// Balls on a lattice whose step is a power of two cells fall into the same folded cells.
static void far_cells_that_share_a_number_are_told_apart(void **state) {
    (void)state;
    cloud_init(3, 300, open_space);
    for (int32_t i = 0; i < set.count; i++) {
        set.radius[i] = 0.5;
        set.pose[i].x[0] = 0x1p19 * (double)(i / 3) + 0.9 * (i % 3);
        set.pose[i].x[1] = i < 150 ? 0.0 : 0x1p20;
    }
    assert_int_equal(cloud_try(0.0, 1), 200);
}

// Balls on a lattice that just touch: in the last digit some gaps are above and some below the
// reach, and which is which must not depend on where the cells are. Far from the origin, where
// positions lose digits when they are brought into the first period, and near to it.
static void the_last_digit_decides_and_not_the_grid(void **state) {
    (void)state;
    tl_rng rng = {.state = 12};
    int64_t touching = 0, possible = 0;
    for (int trial = 0; trial < 240; trial++) {
        const int32_t dim = trial % 8 ? 2 : 3, across = dim == 2 ? 10 : 6;
        const int32_t count = across * across * (dim == 2 ? 1 : across);
        const double period = trial % 4 ? 0.07 * across : 0.0;
        const double far = pow(10.0, tl_rng_range(&rng, -2.0, 5.0));
        double offset[3];
        for (int k = 0; k < 3; k++) offset[k] = tl_rng_range(&rng, -far, far);
        cloud_init(dim, count, (double[3]){period, period, period});
        for (int32_t n = 0; n < count; n++) {
            const int32_t index[3] = {n % across, n / across % across, n / across / across};
            set.radius[n] = 0.035;
            for (int k = 0; k < dim; k++) set.pose[n].x[k] = offset[k] + 0.07 * index[k];
        }
        touching += cloud_try(0.0, 1);
        possible += dim * count;
    }
    assert_true(touching > possible / 5 && touching < possible / 5 * 4); // some do, some do not
}

static void few_items_are_no_special_case(void **state) {
    (void)state;
    tl_collide *c = NULL;
    int64_t count;
    cloud_init(3, 0, open_space);
    assert_int_equal(cloud_try(1.0, 4), 0);
    cloud_init(3, 1, (double[3]){5.0, 5.0, 5.0});
    set.radius[0] = 1.0;
    assert_int_equal(cloud_try(1.0, 4), 0);
    cloud_init(2, 2, open_space);
    set.radius[0] = set.radius[1] = 1.0;
    set.pose[1].x[1] = 2.5;
    assert_int_equal(cloud_try(0.49, 4), 0);
    assert_int_equal(cloud_try(0.51, 4), 1);
    set.pose[1].x[1] = 0.0; // the same centre: they part upwards
    c = cloud_collide(ctx);
    assert_int_equal(tl_collide_detect(c, set.pose, 0.0, 1), TALUS_OK);
    const tl_touch *touch = tl_collide_touches(c, &count);
    assert_int_equal(count, 1);
    assert_true(touch->gap == -2.0 && touch->normal[1] == 1.0 && touch->normal[0] == 0.0);
    tl_collide_destroy(c);
}

static void groups_and_immovable_items_do_not_touch(void **state) {
    (void)state;
    tl_rng rng = {.state = 5};
    cloud_init(3, 800, open_space);
    cloud_scatter(&rng, 12.0);
    const int64_t all = cloud_try(0.0, 1);
    for (int32_t i = 0; i < set.count; i++) set.group[i] = i / 3;
    for (int32_t i = 0; i < set.count; i += 2) set.immovable[i] = true;
    const int64_t fewer = cloud_try(0.0, 1);
    assert_true(fewer < all && fewer > all / 2);
    tl_collide *c = cloud_collide(ctx);
    for (int32_t i = 0; i < set.count; i += 4) {
        tl_collide_set_immovable(c, i, false);
        set.immovable[i] = false;
    }
    assert_int_equal(tl_collide_detect(c, set.pose, 0.0, 1), TALUS_OK);
    cloud_check(c, 0.0);
    tl_collide_destroy(c);
}

// Touches field by field: the bytes between the fields are nobody's.
static uint64_t touches_hash(const tl_collide *c) {
    int64_t count;
    const tl_touch *touch = tl_collide_touches(c, &count);
    uint64_t hash = 0;
    for (int64_t i = 0; i < count; i++) {
        const tl_touch *t = &touch[i];
        double d[10];
        const uint32_t n[3] = {(uint32_t)t->a, (uint32_t)t->b, t->feature};
        d[0] = t->gap;
        memcpy(d + 1, t->normal, sizeof t->normal);
        memcpy(d + 4, t->arm_a, sizeof t->arm_a);
        memcpy(d + 7, t->arm_b, sizeof t->arm_b);
        hash = talus_hash(n, sizeof n, hash);
        hash = talus_hash(d, sizeof d, hash);
    }
    return hash;
}

// Balls of all sizes between the walls of a container, on a floor and beside an obstacle.
static tl_collide *walled_collide(talus_context *context, int32_t *out_count) {
    tl_collide *c = cloud_collide(context);
    const talus_shape_def shapes[] = {
        {.kind = TALUS_SHAPE_CONTAINER, .half = {9.0, 9.0, 9.0}, .open_top = true},
        {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {0.1, 0.2, 1.0}},
        {.kind = TALUS_SHAPE_BOX, .half = {3.0, 2.0, 1.0}},
        {.kind = TALUS_SHAPE_DRUM, .radius = 11.0, .height = 16.0},
    };
    *out_count = set.count;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        int32_t shape, item;
        assert_int_equal(tl_collide_add_shape(c, &shapes[k], &shape), TALUS_OK);
        assert_int_equal(tl_collide_add_item(c, shape, -1, true, &item), TALUS_OK);
        set.pose[item] =
            (tl_pose){.x = {0.1, -0.3, k == 1 ? -8.0 : 0.2}, .q = {0.8, 0.0, 0.6, 0.0}};
        *out_count = item + 1;
    }
    return c;
}

static void threads_give_the_same_bits(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 8, 1, 8};
    tl_rng rng = {.state = 6};
    uint64_t hash = 0;
    int32_t items;
    cloud_init(3, MOST - 4, open_space);
    cloud_scatter(&rng, 22.0);
    tl_collide *kept = walled_collide(ctx, &items);
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        int64_t count;
        tl_collide *c = walled_collide(ctx, &items);
        assert_int_equal(tl_collide_detect(c, set.pose, 0.02, threads[k]), TALUS_OK);
        if (k == 0) hash = touches_hash(c);
        assert_true(touches_hash(c) == hash);
        const tl_touch *touch = tl_collide_touches(c, &count);
        assert_true(count > 5000);
        for (int64_t i = 1; i < count; i++) {
            const tl_touch *s = touch + i - 1, *t = touch + i;
            const int order = s->a != t->a ? s->a < t->a : s->b != t->b ? s->b < t->b : 0;
            assert_true(order || (s->a == t->a && s->b == t->b && s->feature < t->feature));
            assert_true(t->a < t->b && t->gap <= 0.02);
        }
        tl_collide_destroy(c);
        assert_int_equal(tl_collide_detect(kept, set.pose, 0.02, threads[k]), TALUS_OK);
        assert_true(touches_hash(kept) == hash); // whatever was searched before
    }
    tl_collide_destroy(kept);
}

static void a_second_search_allocates_nothing(void **state) {
    (void)state;
    tl_rng rng = {.state = 7};
    int32_t items;
    cloud_init(3, 2000, open_space);
    cloud_scatter(&rng, 18.0);
    for (int32_t threads = 1; threads <= 3; threads++) {
        tl_collide *c = walled_collide(ctx, &items);
        assert_int_equal(tl_collide_detect(c, set.pose, 0.02, threads), TALUS_OK);
        const int64_t before = tl_alloc_count(ctx);
        for (int32_t i = 0; i < items; i++) set.pose[i].x[0] += 1e-4 * (i % 7);
        assert_int_equal(tl_collide_detect(c, set.pose, 0.02, threads), TALUS_OK);
        assert_int_equal(tl_alloc_count(ctx), before);
        tl_collide_destroy(c);
    }
}

// Let each request for memory fail in turn; after a failure a search with memory still works.
static void failing_memory_is_reported(void **state) {
    (void)state;
    tl_rng rng = {.state = 8};
    int64_t failures = 0;
    cloud_init(3, 600, open_space);
    cloud_scatter(&rng, 14.0);
    for (int64_t fail_at = 1;; fail_at++) {
        test_alloc counted = {0};
        const talus_context_def def = test_alloc_def(&counted);
        talus_context *own = NULL;
        int32_t items;
        int64_t count;
        assert_int_equal(talus_context_create(&def, &own), TALUS_OK);
        tl_collide *c = walled_collide(own, &items);
        counted.fail_at = counted.requests + fail_at;
        const talus_status status = tl_collide_detect(c, set.pose, 0.02, 2);
        if (status != TALUS_OK) {
            assert_int_equal(status, TALUS_ERR_MEMORY);
            (void)tl_collide_touches(c, &count);
            assert_int_equal(count, 0);
            failures++;
        }
        counted.fail_at = 0;
        assert_int_equal(tl_collide_detect(c, set.pose, 0.02, 2), TALUS_OK);
        (void)tl_collide_touches(c, &count);
        assert_true(count > 600);
        tl_collide_destroy(c);
        talus_context_destroy(own);
        assert_int_equal(counted.live, 0);
        assert_int_equal(counted.bad_releases, 0);
        if (status == TALUS_OK) break;
    }
    assert_true(failures >= 8);
    for (int64_t fail_at = 1; fail_at < 12; fail_at++) { // while items are added
        const talus_shape_def shapes[2] = {{.kind = TALUS_SHAPE_SPHERE, .radius = 1.0},
                                           {.kind = TALUS_SHAPE_HALF_SPACE}};
        test_alloc counted = {0};
        const talus_context_def def = test_alloc_def(&counted);
        talus_context *own = NULL;
        tl_collide *c = NULL;
        assert_int_equal(talus_context_create(&def, &own), TALUS_OK);
        counted.fail_at = counted.requests + fail_at;
        talus_status status = tl_collide_create(own, 3, open_space, &c);
        for (int32_t i = 0; i < 30 && status == TALUS_OK; i++) {
            int32_t shape, item;
            status = tl_collide_add_shape(c, &shapes[i % 2], &shape);
            if (status == TALUS_OK) status = tl_collide_add_item(c, shape, i, i % 2, &item);
        }
        assert_true(status == TALUS_ERR_MEMORY || fail_at > 8);
        tl_collide_destroy(c);
        talus_context_destroy(own);
        assert_int_equal(counted.live, 0);
    }
}

static void said(const char *text) {
    if (!strstr(talus_context_last_error(ctx), text))
        fail_msg("'%s' is not in: %s", text, talus_context_last_error(ctx));
}

static void wrong_input_is_named(void **state) {
    (void)state;
    tl_collide *c = NULL;
    int32_t item;
    assert_int_equal(tl_collide_create(ctx, 4, open_space, &c), TALUS_ERR_ARG);
    assert_null(c);
    assert_int_equal(tl_collide_create(ctx, 2, (double[3]){-1.0, 0.0, 0.0}, &c), TALUS_ERR_ARG);
    said("period[0]");
    cloud_init(3, 2, (double[3]){0.0, 4.2, 0.0});
    set.radius[0] = 1.5, set.radius[1] = 0.5;
    c = cloud_collide(ctx);
    assert_int_equal(tl_collide_add_item(c, 7, 0, false, &item), TALUS_ERR_ARG);
    assert_int_equal(tl_collide_detect(c, set.pose, 0.05, 1), TALUS_OK);
    assert_int_equal(tl_collide_detect(c, set.pose, 0.2, 1), TALUS_ERR_ARG);
    said("period[1] = 4.2 is too short");
    assert_int_equal(tl_collide_detect(c, set.pose, -0.1, 1), TALUS_ERR_ARG);
    assert_int_equal(tl_collide_detect(c, set.pose, NAN, 1), TALUS_ERR_ARG);
    assert_int_equal(tl_collide_detect(c, set.pose, 0.0, 0), TALUS_ERR_ARG);
    set.pose[1].x[2] = NAN;
    assert_int_equal(tl_collide_detect(c, set.pose, 0.0, 1), TALUS_ERR_ARG);
    said("item 1: position");
    tl_collide_destroy(c);
}

// Two kinds without a function are an error when they come near, and none when they are apart.
static void pairs_that_are_not_there_yet_are_named(void **state) {
    (void)state;
    const talus_shape_def box = {.kind = TALUS_SHAPE_BOX, .half = {1.0, 1.0, 1.0}};
    const talus_shape_def floor = {.kind = TALUS_SHAPE_HALF_SPACE};
    tl_collide *c = NULL;
    int32_t shape[2], item;
    int64_t count;
    tl_pose pose[4] = {{.q = {1.0}}, {.q = {1.0}}, {.q = {1.0}}, {.q = {1.0}}};
    assert_int_equal(tl_collide_create(ctx, 3, open_space, &c), TALUS_OK);
    assert_int_equal(tl_collide_add_shape(c, &box, &shape[0]), TALUS_OK);
    assert_int_equal(tl_collide_add_shape(c, &floor, &shape[1]), TALUS_OK);
    assert_int_equal(tl_collide_add_item(c, shape[0], 0, false, &item), TALUS_OK);
    assert_int_equal(tl_collide_add_item(c, shape[0], 1, true, &item), TALUS_OK);
    pose[1].x[0] = 10.0;
    assert_int_equal(tl_collide_detect(c, pose, 0.0, 1), TALUS_OK);
    pose[1].x[0] = 2.0;
    assert_int_equal(tl_collide_detect(c, pose, 0.0, 1), TALUS_OK);
    (void)tl_collide_touches(c, &count);
    assert_int_equal(count, 4);
    tl_collide_set_immovable(c, 0, true);
    assert_int_equal(tl_collide_detect(c, pose, 0.0, 1), TALUS_OK);
    (void)tl_collide_touches(c, &count);
    assert_int_equal(count, 0);
    // two floors: both immovable, then one of them free
    assert_int_equal(tl_collide_add_item(c, shape[1], 2, true, &item), TALUS_OK);
    assert_int_equal(tl_collide_add_item(c, shape[1], 3, true, &item), TALUS_OK);
    assert_int_equal(tl_collide_detect(c, pose, 0.0, 1), TALUS_OK);
    tl_collide_set_immovable(c, 3, false);
    pose[0].x[2] = pose[1].x[2] = 100.0;
    assert_int_equal(tl_collide_detect(c, pose, 0.0, 1), TALUS_ERR_UNSUPPORTED);
    said("items 2 (half-space) and 3 (half-space)");
    (void)tl_collide_touches(c, &count);
    assert_int_equal(count, 0);
    pose[2].q[1] = NAN; // a wall that looks nowhere would stop nobody
    assert_int_equal(tl_collide_detect(c, pose, 0.0, 1), TALUS_ERR_ARG);
    said("item 2: position (0, 0, 0) and rotation (1, nan, 0, 0)");
    tl_collide_destroy(c);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(all_sizes_are_found),
        TEST(all_subsets_of_axes_can_be_periodic),
        TEST(small_sets_of_all_sizes_are_found),
        TEST(few_cells_around_do_not_double_pairs),
        TEST(clusters_in_a_huge_domain_are_found),
        TEST(an_item_may_have_thousands_of_partners),
        TEST(far_cells_that_share_a_number_are_told_apart),
        TEST(the_last_digit_decides_and_not_the_grid),
        TEST(few_items_are_no_special_case),
        TEST(groups_and_immovable_items_do_not_touch),
        TEST(threads_give_the_same_bits),
        TEST(a_second_search_allocates_nothing),
        TEST(failing_memory_is_reported),
        TEST(wrong_input_is_named),
        TEST(pairs_that_are_not_there_yet_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
