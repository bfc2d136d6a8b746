// SPDX-License-Identifier: Apache-2.0
// Series besides the ledger, times of frames, and friction of pairs in a recording.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/worlds.h"
#include "talus/record.h"

static char path[64];

static int make_path(void **state) {
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/talus-series-%d.h5", (int)getpid());
    return 0;
}

static int remove_path(void **state) {
    (void)state;
    (void)unlink(path);
    return 0;
}

static const talus_ledger_field fields[] = {{"height", "m", "of the ball", false},
                                            {"twice", "", "", false}};

static talus_world *ball_world(void) {
    const talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 10.0);
    talus_world *w = worlds_create(&def);
    const talus_body_def body = worlds_ball(w, 0.1, 0.0, 0.0, 5.0);
    (void)worlds_add(w, &body);
    return w;
}

static double height(const talus_world *w) { return worlds_bodies(w).position[2]; }

// Steps first … last, a frame after every tenth; step 3 is not measured.
static void go(talus_recording *r, talus_world *w, int first, int last) {
    for (int k = first; k <= last; k++) {
        const talus_ledger ledger = worlds_step(w);
        const double value[] = {height(w), 2.0 * k};
        if (k != 3) WORLDS_OK(talus_recording_series(r, 2, value));
        WORLDS_OK(talus_recording_ledger(r, &ledger));
        if (k % 10 == 0) WORLDS_OK(talus_recording_frame(r, w, k));
    }
}

static void check(int steps) {
    talus_playback *p = NULL;
    talus_ledger_field field;
    WORLDS_OK(talus_playback_open(ctx, path, &p));
    assert_int_equal(talus_playback_get_info(p).steps, steps);
    assert_true(talus_playback_series_at(p, 0, &field));
    assert_string_equal(field.name, "height");
    assert_string_equal(field.unit, "m");
    assert_string_equal(field.text, "of the ball");
    assert_true(talus_playback_series_at(p, 1, &field));
    assert_string_equal(field.unit, "");
    assert_false(talus_playback_series_at(p, 2, &field));
    talus_world *w = ball_world();
    for (int k = 1; k <= steps; k++) {
        double found[3];
        (void)worlds_step(w);
        WORLDS_OK(talus_playback_ledger(p, "height", k - 1, 1, &found[0]));
        WORLDS_OK(talus_playback_ledger(p, "twice", k - 1, 1, &found[1]));
        WORLDS_OK(talus_playback_ledger(p, "step", k - 1, 1, &found[2]));
        assert_true(k == 3 ? isnan(found[0]) && isnan(found[1])
                           : found[0] == height(w) && found[1] == 2.0 * k);
        assert_true(found[2] == k);
    }
    talus_world_destroy(w);
    double time[3];
    int64_t step[3];
    WORLDS_OK(talus_playback_times(p, 1, 3, time, step));
    for (int k = 0; k < 3; k++) {
        assert_int_equal(step[k], 10 * (k + 1));
        assert_true(fabs(time[k] - 0.01 * (k + 1)) < 1e-12);
    }
    WORLDS_OK(talus_playback_times(p, 0, 0, NULL, NULL));
    assert_int_equal(talus_playback_times(p, 0, 1 + steps, time, NULL), TALUS_ERR_ARG);
    assert_int_equal(talus_playback_ledger(p, "thrice", 0, 1, time), TALUS_ERR_UNKNOWN);
    talus_playback_close(p);
}

// More rows than are kept in memory; and gone on with from a checkpoint, which cuts what is later.
static void written_and_read(void **state) {
    (void)state;
    const talus_record_def def = {.series = fields, .series_count = 2};
    talus_recording *r = NULL;
    talus_world *w = ball_world();
    WORLDS_OK(talus_recording_create(ctx, path, &def, w, &r));
    WORLDS_OK(talus_recording_checkpoint(r, w, 0, NULL, true));
    WORLDS_OK(talus_recording_frame(r, w, 0));
    go(r, w, 1, 300);
    WORLDS_OK(talus_recording_checkpoint(r, w, 300, NULL, true));
    go(r, w, 301, 350);
    assert_int_equal(talus_recording_series(r, 1, (const double[]){0}), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "2 series"));
    WORLDS_OK(talus_recording_close(r));
    talus_world_destroy(w);
    check(350);

    talus_playback *p = NULL;
    talus_checkpoint checkpoint;
    w = ball_world();
    WORLDS_OK(talus_playback_open(ctx, path, &p));
    WORLDS_OK(talus_playback_checkpoint(p, 1, &checkpoint));
    assert_int_equal(checkpoint.step, 300);
    WORLDS_OK(talus_world_load(w, checkpoint.state, checkpoint.count));
    talus_playback_close(p);
    WORLDS_OK(talus_recording_resume(ctx, path, &(talus_record_def){0}, 1, 31, w, &r));
    go(r, w, 301, 320);
    WORLDS_OK(talus_recording_close(r));
    talus_world_destroy(w);
    check(320);
}

static void names_that_cannot_be(void **state) {
    (void)state;
    static const talus_ledger_field wrong[][2] = {{{"Height", "", "", false}},
                                                  {{"a/b", "", "", false}},
                                                  {{"", "", "", false}},
                                                  {{"kinetic", "J", "is in the ledger", false}},
                                                  {{"one", "", "", false}, {"one", "", "", false}},
                                                  {{"one", "", "two\nlines", false}}};
    talus_world *w = ball_world();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const talus_record_def def = {.series = wrong[k], .series_count = k == 4 ? 2 : 1};
        talus_recording *r = NULL;
        assert_int_equal(talus_recording_create(ctx, path, &def, w, &r), TALUS_ERR_ARG);
        assert_null(r);
    }
    talus_world_destroy(w);
}

static void friction_of_pairs(void **state) {
    (void)state;
    talus_world *w = ball_world();
    talus_material_def m = talus_material_default(), pair;
    talus_recording *r = NULL;
    talus_playback *p = NULL;
    int32_t rough = 0, smooth = 0;
    m.friction = 0.9;
    WORLDS_OK(talus_world_add_material(w, &m, &rough));
    m.friction = 0.1;
    WORLDS_OK(talus_world_add_material(w, &m, &smooth));
    m.friction = 0.7;
    WORLDS_OK(talus_world_set_pair(w, rough, 0, &m));
    assert_true(talus_world_pair_at(w, 0, rough, &pair) && pair.friction == 0.7);
    assert_false(talus_world_pair_at(w, 0, 3, &pair));
    const talus_record_def def = {0};
    WORLDS_OK(talus_recording_create(ctx, path, &def, w, &r));
    WORLDS_OK(talus_recording_frame(r, w, 0));
    WORLDS_OK(talus_recording_close(r));
    talus_world_destroy(w);
    WORLDS_OK(talus_playback_open(ctx, path, &p));
    assert_true(talus_playback_friction(p, rough, 0) == 0.7);
    assert_true(talus_playback_friction(p, 0, rough) == 0.7);
    assert_true(talus_playback_friction(p, rough, rough) == 0.9);
    assert_true(fabs(talus_playback_friction(p, smooth, rough) - 0.3) < 1e-15);
    assert_true(isnan(talus_playback_friction(p, 0, 3)));
    talus_playback_close(p);
}

static void without_memory(void **state) {
    (void)state;
    const talus_record_def def = {.series = fields, .series_count = 2};
    talus_world *w = ball_world();
    talus_status status = TALUS_ERR_MEMORY;
    const int64_t live = memory.live;
    for (int64_t k = 1; status != TALUS_OK; k++) {
        talus_recording *r = NULL;
        memory.fail_at = memory.requests + k;
        status = talus_recording_create(ctx, path, &def, w, &r);
        memory.fail_at = 0;
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        WORLDS_OK(talus_recording_close(r));
        assert_int_equal(memory.live, live);
    }
    talus_world_destroy(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(written_and_read), TEST(names_that_cannot_be),
                                       TEST(friction_of_pairs), TEST(without_memory)};
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
