// SPDX-License-Identifier: Apache-2.0
// Checkpoints: they come back bit for bit, a recording goes on from one as if its run had never
// stopped, whenever it and its continuation are killed, and who reads beside the writer sees whole
// frames only.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "support/disk_faults.h"
#include "support/recordings.h"
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { FRAMES = 8, EVERY = 3 };

// A world that is as the run's is after it was filled: one more ball from frame 3 on.
static talus_world *make_filled(int32_t bodies) {
    talus_world *w = make_world();
    for (int k = 7; k < bodies; k++) drop_ball(w, 3);
    return w;
}

// Frames from `frame` on; a checkpoint with each, every second one kept; a flush with each third.
static talus_status go_on(talus_recording *r, talus_world *w, int frame) {
    talus_status status = TALUS_OK;
    talus_ledger ledger;
    for (int k = frame; k < FRAMES && status == TALUS_OK; k++) {
        double extra[TALUS_CHECKPOINT_EXTRA] = {0.5 * k};
        if (k == 4) drop_ball(w, 3);
        for (int i = 0; k > 0 && i < EVERY && status == TALUS_OK; i++) {
            ok(talus_world_step(w, &ledger));
            status = talus_recording_ledger(r, &ledger);
        }
        if (status == TALUS_OK)
            status = talus_recording_checkpoint(r, w, EVERY * k, extra, k % 2 == 1);
        if (status == TALUS_OK) status = talus_recording_frame(r, w, EVERY * k);
        if (k % 3 == 2 && status == TALUS_OK) status = talus_recording_flush(r);
    }
    const talus_status closed = talus_recording_close(r);
    return status == TALUS_OK ? closed : status;
}

static const talus_record_def DEF = {.scene = "x", .contacts = true};

static talus_status whole_run(void) {
    talus_world *w = make_world();
    talus_recording *r = NULL;
    talus_status status = talus_recording_create(ctx, path, &DEF, w, &r);
    if (status == TALUS_OK) status = go_on(r, w, 0);
    talus_world_destroy(w);
    return status;
}

// Go on from the last checkpoint of the file.
static talus_status resumed_run(void) {
    talus_playback *p = NULL;
    talus_checkpoint c;
    talus_recording *r = NULL;
    ok(talus_playback_open(ctx, path, &p));
    const talus_playback_info info = talus_playback_get_info(p);
    assert_true(info.checkpoints > 0);
    ok(talus_playback_checkpoint(p, info.checkpoints - 1, &c));
    assert_true(c.extra[0] == 0.5 * (double)(c.step / EVERY) && c.extra[1] == 0.0);
    talus_world *w = make_filled(c.bodies);
    ok(talus_world_load(w, c.state, c.count));
    assert_true(talus_world_hash(w) == c.hash && talus_world_time(w) == c.time);
    const int64_t step = c.step;
    talus_playback_close(p);
    talus_status status =
        talus_recording_resume(ctx, path, &DEF, info.checkpoints - 1, INT64_MAX, w, &r);
    if (status == TALUS_OK) status = go_on(r, w, (int)(step / EVERY) + 1);
    talus_world_destroy(w);
    return status;
}

static void read_reference(talus_frame reference[FRAMES], uint64_t hash[FRAMES]) {
    talus_world *w = make_world();
    for (int k = 0; k < FRAMES; k++) {
        if (k == 4) drop_ball(w, 3);
        for (int i = 0; k > 0 && i < EVERY; i++) ok(talus_world_step(w, NULL));
        reference[k] = keep(w, EVERY * k);
        hash[k] = talus_world_hash(w);
    }
    talus_world_destroy(w);
}

// The file of a run that came to its end, stopped in between or not.
static void check_whole(const talus_frame *reference, const uint64_t *hash) {
    talus_playback *p = NULL;
    ok(talus_playback_open(ctx, path, &p));
    const talus_playback_info info = talus_playback_get_info(p);
    assert_true(info.finished);
    assert_int_equal(info.frames, FRAMES);
    assert_int_equal(info.steps, EVERY * (FRAMES - 1));
    assert_int_equal(info.bodies, 8);
    for (int k = 0; k < FRAMES; k++) {
        talus_frame f;
        ok(talus_playback_frame(p, k, &f));
        same_frame(&f, &reference[k], true, TALUS_PRECISION_DOUBLE);
    }
    double step[EVERY * (FRAMES - 1)];
    ok(talus_playback_ledger(p, "step", 0, info.steps, step));
    for (int64_t i = 0; i < info.steps; i++) assert_true(step[i] == (double)(i + 1));
    // those of frames 1, 3, 5 are kept, that of the last too
    assert_int_equal(info.checkpoints, 4);
    for (int k = 0; k < 4; k++) {
        talus_checkpoint c;
        ok(talus_playback_checkpoint(p, k, &c));
        assert_int_equal(c.step, EVERY * (2 * k + 1));
        assert_true(c.hash == hash[2 * k + 1] && c.kept);
        assert_int_equal(c.bodies, k < 2 ? 7 : 8);
    }
    talus_playback_close(p);
}

static void test_checkpoints_come_back(void **state) {
    (void)state;
    talus_frame reference[FRAMES];
    uint64_t hash[FRAMES];
    read_reference(reference, hash);
    ok(whole_run());
    check_whole(reference, hash);
    // from any of them the run goes on, and later ones are gone
    for (int64_t n = 0; n < 4; n++) {
        talus_playback *p = NULL;
        talus_checkpoint c;
        talus_recording *r = NULL;
        ok(talus_playback_open(ctx, path, &p));
        ok(talus_playback_checkpoint(p, 3 - n, &c));
        talus_world *w = make_filled(c.bodies);
        ok(talus_world_load(w, c.state, c.count));
        const int frame = (int)(c.step / EVERY);
        talus_playback_close(p);
        // with the last frame taken away it is made again from the state
        ok(talus_recording_resume(ctx, path, &DEF, 3 - n, frame, w, &r));
        ok(talus_recording_frame(r, w, EVERY * frame));
        ok(go_on(r, w, frame + 1));
        check_whole(reference, hash);
        talus_world_destroy(w);
    }
    for (int k = 0; k < FRAMES; k++) forget(&reference[k]);
}

// In a child that ends at write number `at`; true: it was killed before it had done.
static bool killed(int64_t at, talus_status (*what)(void)) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fault.calls = 0, fault.at = at, fault.die = true;
        _exit(what() == TALUS_OK ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0));
    return WEXITSTATUS(status) == 9;
}

static void test_killed_runs_go_on(void **state) {
    (void)state;
    talus_frame reference[FRAMES];
    uint64_t hash[FRAMES];
    tl_rng rng = {.state = 11};
    int runs = 0, again = 0;
    read_reference(reference, hash);
    for (int64_t at = 60;; at += 9) {
        (void)unlink(path);
        if (!killed(at, whole_run)) break;
        if (access(path, F_OK) != 0) continue;
        runs++;
        again += killed((int64_t)tl_rng_range(&rng, 1.0, 100.0), resumed_run);
        ok(resumed_run());
        check_whole(reference, hash);
    }
    assert_true(runs >= 15 && again >= 10);
    for (int k = 0; k < FRAMES; k++) forget(&reference[k]);
}

// A disk that is full while a run goes on leaves the file as it was, to be gone on with later.
static void test_full_disk(void **state) {
    (void)state;
    talus_frame reference[FRAMES];
    uint64_t hash[FRAMES];
    read_reference(reference, hash);
    int failed = 0;
    for (int64_t at = 60;; at += 19) {
        (void)unlink(path);
        fault.calls = 0, fault.at = at, fault.die = false;
        const talus_status status = whole_run();
        fault.at = 0;
        if (status == TALUS_OK) break;
        assert_int_equal(status, TALUS_ERR_FILE);
        if (access(path, F_OK) != 0) continue;
        failed++;
        fault.calls = 0, fault.at = 20;
        assert_int_equal(resumed_run(), TALUS_ERR_FILE); // still full
        fault.at = 0;
        ok(resumed_run());
        check_whole(reference, hash);
    }
    assert_true(failed >= 8);
    for (int k = 0; k < FRAMES; k++) forget(&reference[k]);
}

// A reader in another process than the writer, who flushes all the time.
static void test_reader_beside_the_writer(void **state) {
    (void)state;
    enum { MANY = 150 };
    talus_frame kept[MANY];
    talus_world *w = make_world();
    for (int k = 0; k < MANY; k++) {
        kept[k] = keep(w, k);
        ok(talus_world_step(w, NULL));
    }
    talus_world_destroy(w);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        talus_recording *r = NULL;
        w = make_world();
        ok(talus_recording_create(ctx, path, &DEF, w, &r));
        for (int k = 0; k < MANY; k++) {
            ok(talus_recording_checkpoint(r, w, k, NULL, false));
            ok(talus_recording_frame(r, w, k));
            ok(talus_recording_flush(r));
            ok(talus_world_step(w, NULL));
        }
        _exit(talus_recording_close(r) == TALUS_OK ? 0 : 1);
    }
    while (access(path, F_OK) != 0) (void)usleep(100);
    talus_playback *p = NULL;
    tl_rng rng = {.state = 3};
    int64_t seen = 0, looks = 0, grown = 0;
    ok(talus_playback_open(ctx, path, &p));
    for (bool done = false; !done; looks++) {
        done = talus_playback_get_info(p).finished;
        const int64_t frames = talus_playback_get_info(p).frames;
        assert_true(frames >= seen && frames <= MANY);
        grown += frames > seen;
        seen = frames;
        for (int n = 0; n < 3; n++) {
            talus_frame f;
            const int64_t k =
                n == 0 ? frames - 1 : (int64_t)tl_rng_range(&rng, 0.0, (double)frames);
            ok(talus_playback_frame(p, k, &f));
            same_frame(&f, &kept[k], true, TALUS_PRECISION_DOUBLE);
        }
        ok(talus_playback_refresh(p));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(seen, MANY);
    assert_true(grown > 5);
    // another run takes the place of the file
    ok(whole_run());
    assert_int_equal(talus_playback_get_info(p).frames, MANY);
    ok(talus_playback_refresh(p));
    assert_int_equal(talus_playback_get_info(p).frames, FRAMES);
    talus_playback_close(p);
    for (int k = 0; k < MANY; k++) forget(&kept[k]);
}

static void test_fields_left_out(void **state) {
    (void)state;
    talus_world *w = make_world();
    for (int k = 0; k < 20; k++) ok(talus_world_step(w, NULL));
    const talus_frame kept = keep(w, 20);
    assert_true(kept.contacts.count > 0);
    for (int field = 0; field < TALUS_FIELDS; field++) {
        talus_record_def def = {.contacts = true, .precision = TALUS_PRECISION_SINGLE};
        talus_recording *r = NULL;
        talus_playback *p = NULL;
        talus_frame f;
        def.without[field] = true;
        ok(talus_recording_create(ctx, path, &def, w, &r));
        ok(talus_recording_frame(r, w, 20));
        ok(talus_recording_close(r));
        ok(talus_playback_open(ctx, path, &p));
        ok(talus_playback_frame(p, 0, &f));
        const struct {
            const double *got, *kept;
            int32_t rows;
            int width;
        } all[TALUS_FIELDS] = {{f.bodies.orientation, kept.bodies.orientation, f.bodies.count, 4},
                               {f.bodies.velocity, kept.bodies.velocity, f.bodies.count, 3},
                               {f.bodies.spin, kept.bodies.spin, f.bodies.count, 3},
                               {f.contacts.point, kept.contacts.point, f.contacts.count, 3},
                               {f.contacts.normal, kept.contacts.normal, f.contacts.count, 3},
                               {f.contacts.gap, kept.contacts.gap, f.contacts.count, 1},
                               {f.contacts.impulse, kept.contacts.impulse, f.contacts.count, 3},
                               {f.contacts.velocity, kept.contacts.velocity, f.contacts.count, 3}};
        for (int k = 0; k < TALUS_FIELDS; k++) {
            assert_int_equal(talus_playback_get_info(p).without[k], k == field);
            if (k != field)
                same_reals(all[k].got, all[k].kept, all[k].rows, all[k].width, VECTOR,
                           TALUS_PRECISION_SINGLE);
            for (int i = 0; k == field && i < all[k].rows * all[k].width; i++)
                assert_true(k == TALUS_FIELD_ORIENTATION ? all[k].got[i] == (i % 4 == 0)
                                                         : isnan(all[k].got[i]));
        }
        same_reals(f.bodies.position, kept.bodies.position, kept.bodies.count, 3, PLACE,
                   TALUS_PRECISION_SINGLE);
        talus_playback_close(p);
    }
    talus_frame copy = kept;
    forget(&copy);
    talus_world_destroy(w);
}

static void test_wrong_calls(void **state) {
    (void)state;
    talus_world *w = make_filled(8);
    talus_recording *r = NULL, *second = NULL;
    talus_playback *p = NULL;
    talus_checkpoint c;
    ok(whole_run());
    ok(talus_playback_open(ctx, path, &p));
    expect_error(talus_playback_checkpoint(p, 4, &c), TALUS_ERR_ARG,
                 "no checkpoint 4; there are 4");
    expect_error(talus_playback_checkpoint(p, -1, &c), TALUS_ERR_ARG, "no checkpoint");
    expect_error(talus_recording_resume(ctx, path, &DEF, 4, 99, w, &r), TALUS_ERR_ARG,
                 "no checkpoint 4");
    expect_error(talus_recording_resume(ctx, path, &DEF, 3, 0, w, &r), TALUS_ERR_ARG,
                 "one frame must stay");
    expect_error(talus_recording_resume(ctx, room, &DEF, 3, 9, w, &r), TALUS_ERR_FILE,
                 "a directory");
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    ok(talus_recording_resume(ctx, path, &DEF, 3, 99, w, &r));
    expect_error(talus_recording_resume(ctx, path, &DEF, 3, 99, w, &second), TALUS_ERR_FILE,
                 "being written by another run");
    expect_error(talus_recording_create(ctx, path, &DEF, w, &second), TALUS_ERR_FILE,
                 "being written by another run");
    ok(talus_recording_close(r));
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size <= before.st_size + 65536);
    talus_playback_close(p);
    talus_world_destroy(w);
}

static void test_allocation_failures(void **state) {
    (void)state;
    ok(whole_run());
    talus_world *w = make_filled(8);
    const int64_t live = memory.live;
    for (int64_t at = 1;; at++) {
        talus_recording *r = NULL;
        memory.fail_at = memory.requests + at;
        talus_status status = talus_recording_resume(ctx, path, &DEF, 2, 99, w, &r);
        if (status == TALUS_OK) status = talus_recording_checkpoint(r, w, 15, NULL, true);
        if (status == TALUS_OK) status = talus_recording_frame(r, w, 15);
        const talus_status closed = talus_recording_close(r);
        memory.fail_at = 0;
        assert_int_equal(memory.live, live);
        if (status == TALUS_OK && closed == TALUS_OK) break;
        assert_true(at < 300);
        assert_true(status == TALUS_ERR_MEMORY || closed == TALUS_ERR_MEMORY);
    }
    talus_world_destroy(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_checkpoints_come_back),    TEST(test_killed_runs_go_on), TEST(test_full_disk),
        TEST(test_reader_beside_the_writer), TEST(test_fields_left_out),   TEST(test_wrong_calls),
        TEST(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, make_room, remove_room);
}
