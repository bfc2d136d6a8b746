// SPDX-License-Identifier: Apache-2.0
// A frictional heap, from the fall of its grains to rest: the same bits after every hundredth of a
// thousand steps, for any number of threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/worlds.h"

enum { HEAP_SIDE = 8, HEAP_STEPS = 1000, HEAP_EVERY = 100, HEAP_LOOKS = HEAP_STEPS / HEAP_EVERY };

static talus_world *heap(int32_t threads) {
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    def.threads = threads;
    def.tolerance = 1e-3;
    def.reach = 5e-3; // contacts that will close soon are kept, as in the published heap
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.6, 0.0, 0.0);
    tl_rng rng = {.state = 3};
    for (int k = 0; k < HEAP_SIDE * HEAP_SIDE * HEAP_SIDE; k++) {
        const double x = 0.021 * (k % HEAP_SIDE) + tl_rng_range(&rng, 0.0, 1e-3);
        const double y = 0.021 * (k / HEAP_SIDE % HEAP_SIDE) + tl_rng_range(&rng, 0.0, 1e-3);
        const double z = 0.011 + 0.022 * (k / (HEAP_SIDE * HEAP_SIDE));
        const talus_body_def ball = worlds_ball(w, tl_rng_range(&rng, 8e-3, 1e-2), x, y, z);
        worlds_add(w, &ball);
    }
    worlds_plane(w, 0.0, 0.0, 1.0);
    return w;
}

static void same_bits(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 3};
    uint64_t first[HEAP_LOOKS];
    int32_t most = 0;
    for (int run = 0; run < 2; run++) {
        talus_world *w = heap(threads[run]);
        for (int step = 1; step <= HEAP_STEPS; step++) {
            const talus_ledger l = worlds_step(w);
            if (l.contacts > most) most = l.contacts;
            if (step % HEAP_EVERY != 0) continue;
            const int look = step / HEAP_EVERY - 1;
            if (run == 0) first[look] = talus_world_hash(w);
            assert_true(talus_world_hash(w) == first[look]);
            if (look > 0) assert_true(first[look] != first[look - 1]);
        }
        talus_world_destroy(w);
    }
    assert_true(most > 1024); // enough for the sweeps over balls, which share their chunks out
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_bits, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("physics/heap_threads", tests, NULL, NULL);
}
