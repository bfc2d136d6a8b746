// SPDX-License-Identifier: Apache-2.0
// Recordings: what goes in comes out bit for bit, a kill at any write and a disk that is full at
// any write leave a file that reads as one of its flushes left it, and damaged files are refused.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "record/store.h"
#include "support/context.h"
#include "support/disk_faults.h"
#include "support/recordings.h"
#include "talus/record.h"
#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *a_body_name(const void *user, int32_t body) {
    static const char *const name[] = {"floor", "ball", "other ball"};
    assert_string_equal(user, "x");
    return name[body > 2 ? 2 : body];
}

static const char *a_material_name(const void *user, int32_t material) {
    (void)user;
    return material == 1 ? "rough" : NULL;
}

static void test_round_trip(void **state) {
    (void)state;
    enum { FRAMES = 12, EVERY = 30 }; // 330 steps: the ledger's memory is emptied on the way
    static talus_ledger ledger[FRAMES * EVERY];
    for (int variant = 0; variant < 6; variant++) {
        const bool contacts = variant & 1;
        const talus_precision precision = (talus_precision)(variant / 2);
        talus_frame kept[FRAMES];
        talus_world *w = make_world();
        talus_recording *r = NULL;
        static const char *const set[] = {"a.b=1", "c=[1,\n2]"};
        const talus_record_def def = {.scene = "# a scene\nmü: 1\n",
                                      .scene_path = "/where/it.yaml",
                                      .set = set,
                                      .set_count = 2,
                                      .title = "a title",
                                      .contacts = contacts,
                                      .precision = precision,
                                      .body_name = a_body_name,
                                      .material_name = a_material_name,
                                      .user = "x"};
        ok(talus_recording_create(ctx, path, &def, w, &r));
        int step = 0, touching = 0;
        for (int k = 0; k < FRAMES; k++) {
            for (int i = 0; k > 0 && i < EVERY; i++, step++) {
                ok(talus_world_step(w, &ledger[step]));
                ok(talus_recording_ledger(r, &ledger[step]));
            }
            kept[k] = keep(w, step);
            touching += kept[k].contacts.count;
            ok(talus_recording_frame(r, w, step));
            if (k == 4 || k == 7) drop_ball(w, k); // appear with the next frame
        }
        assert_true(touching > 0);
        ok(talus_recording_close(r));

        talus_playback *p = NULL;
        ok(talus_playback_open(ctx, path, &p));
        const talus_playback_info info = talus_playback_get_info(p);
        assert_int_equal(info.frames, FRAMES);
        assert_int_equal(info.steps, step);
        assert_int_equal(info.bodies, 9);
        assert_int_equal(info.dim, 3);
        assert_int_equal(info.contacts, contacts);
        assert_int_equal(info.single, precision != TALUS_PRECISION_DOUBLE);
        assert_int_equal(info.precision, precision);
        const talus_world_def world = talus_world_get_def(w);
        SAME(info.gravity, world.gravity, 3);
        SAME(info.period, world.period, 3);
        assert_true(info.step == world.step && info.tolerance == world.tolerance);
        assert_string_equal(info.scheme, talus_scheme_text(world.scheme));
        assert_string_equal(info.solver, world.solver);
        assert_int_equal(info.threads, world.threads);
        assert_true(info.wall_seconds > 0.0 && info.wall_seconds < 100.0);
        assert_non_null(strstr(info.machine, " cores, "));
        assert_string_equal(info.scene_path, def.scene_path);
        assert_int_equal(info.set_count, 2);
        assert_string_equal(talus_playback_set_at(p, 0), "a.b=1");
        assert_string_equal(talus_playback_set_at(p, 1), "c=[1, 2]");
        assert_null(talus_playback_set_at(p, 2));
        assert_string_equal(talus_playback_body_name(p, 0), "floor");
        assert_string_equal(talus_playback_body_name(p, 1), "ball");
        assert_string_equal(talus_playback_body_name(p, 8), "other ball");
        assert_string_equal(talus_playback_body_name(p, 9), "");
        assert_string_equal(talus_playback_material_name(p, 0), "");
        assert_string_equal(talus_playback_material_name(p, 1), "rough");
        assert_true(talus_playback_body_radius(p, 0) == 0.0);
        assert_true(talus_playback_body_radius(p, 2) == 0.1 + 0.01 * 1);
        assert_true(info.finished);
        assert_string_equal(info.scene, def.scene);
        assert_string_equal(info.title, def.title);
        assert_string_equal(info.version, talus_build_info().version);
        assert_string_equal(info.commit, talus_build_info().commit);
        assert_string_equal(info.compiler, talus_build_info().compiler);
        assert_int_equal(strlen(info.created), strlen("2000-01-01T00:00:00Z"));
        for (int n = 0; n < FRAMES; n++) { // not in the order of writing
            const int k = (n * 5) % FRAMES;
            talus_frame f;
            ok(talus_playback_frame(p, k, &f));
            same_frame(&f, &kept[k], contacts, precision);
        }
        talus_ledger_field field;
        double *column = calloc((size_t)step, sizeof *column);
        for (int32_t k = 0; talus_ledger_field_at(k, &field); k++) {
            ok(talus_playback_ledger(p, field.name, 0, step, column));
            for (int i = 0; i < step; i++)
                assert_true(column[i] == talus_ledger_value(&ledger[i], k));
        }
        ok(talus_playback_ledger(p, "kinetic", 300, 2, column));
        assert_true(column[0] == ledger[300].kinetic && column[1] == ledger[301].kinetic);
        free(column);
        for (int32_t k = 0;; k++) {
            talus_shape_def a, b;
            const bool there = talus_world_shape_at(w, k, &a);
            assert_int_equal(talus_playback_shape_at(p, k, &b), there);
            if (!there) break;
            assert_true(a.kind == b.kind && a.radius == b.radius && a.height == b.height);
            SAME(a.half, b.half, 3);
            SAME(a.normal, b.normal, 3);
        }
        for (int32_t k = 0;; k++) {
            talus_material_def a, b;
            const bool there = talus_world_material_at(w, k, &a);
            assert_int_equal(talus_playback_material_at(p, k, &b), there);
            if (!there) break;
            assert_true(a.friction == b.friction && a.stiffness == b.stiffness);
            assert_true(a.poisson == b.poisson && a.tangential == b.tangential);
        }
        talus_playback_close(p);
        talus_world_destroy(w);
        for (int k = 0; k < FRAMES; k++) forget(&kept[k]);
    }
}

// Every member of the ledger is in the table.
static void test_ledger_table_is_complete(void **state) {
    (void)state;
    talus_ledger ledger;
    unsigned char *bytes = (unsigned char *)&ledger;
    // One byte after the other is set: it shows in the table, or is padding.
    size_t unseen = 0;
    for (size_t i = 0; i < sizeof ledger; i++) {
        talus_ledger_field field;
        bool seen = false;
        memset(&ledger, 0, sizeof ledger);
        bytes[i] = 1;
        for (int32_t k = 0; talus_ledger_field_at(k, &field); k++)
            seen = seen || talus_ledger_value(&ledger, k) != 0.0;
        unseen += !seen;
    }
    // seven int32_t and the outcome leave none, 7 bytes after `missed`
    assert_int_equal(unseen, 7);
    assert_true(isnan(talus_ledger_value(&ledger, 1000)));
    talus_ledger_field field;
    assert_false(talus_ledger_field_at(-1, &field));
}

// The run that is killed or finds the disk full: 6 frames of 3 steps, a flush after each but the
// second and the fifth. `flushed` tells from outside how many frames a flush has made permanent.
static talus_status short_run(volatile int *flushed) {
    talus_world *w = make_world();
    talus_recording *r = NULL;
    talus_ledger ledger;
    const talus_record_def def = {.scene = "x", .contacts = true};
    talus_status status = talus_recording_create(ctx, path, &def, w, &r);
    for (int k = 0; k < 6 && status == TALUS_OK; k++) {
        for (int i = 0; k > 0 && i < 3 && status == TALUS_OK; i++) {
            ok(talus_world_step(w, &ledger));
            status = talus_recording_ledger(r, &ledger);
        }
        if (status == TALUS_OK) status = talus_recording_frame(r, w, 3 * k);
        if (k == 0 && status == TALUS_OK) *flushed = 1;
        if (k == 3) drop_ball(w, k);
        if (k == 1 || k == 4 || status != TALUS_OK) continue;
        status = talus_recording_flush(r);
        if (status == TALUS_OK) *flushed = k + 1;
    }
    const talus_status closed = talus_recording_close(r);
    assert_true(closed == TALUS_OK || status == TALUS_OK || closed == status);
    if (status == TALUS_OK) status = closed;
    talus_world_destroy(w);
    return status;
}

// The file must hold what one of the flushes left, the last one that was reported or a later one;
// `reference` are the frames of an undisturbed run.
static void check_file(const talus_frame *reference, int flushed) {
    static const int legal[] = {1, 3, 4, 6};
    talus_playback *p = NULL;
    ok(talus_playback_open(ctx, path, &p));
    const talus_playback_info info = talus_playback_get_info(p);
    bool known = false;
    for (int k = 0; k < 4; k++) known = known || info.frames == legal[k];
    assert_true(known);
    assert_true(info.frames >= flushed);
    assert_int_equal(info.steps, 3 * (info.frames - 1));
    for (int64_t k = 0; k < info.frames; k++) {
        talus_frame f;
        ok(talus_playback_frame(p, k, &f));
        same_frame(&f, &reference[k], true, TALUS_PRECISION_DOUBLE);
    }
    double step[15];
    ok(talus_playback_ledger(p, "step", 0, info.steps, step));
    for (int64_t i = 0; i < info.steps; i++) assert_true(step[i] == (double)(i + 1));
    talus_playback_close(p);
}

static void read_reference(talus_frame reference[6]) {
    talus_world *w = make_world();
    for (int k = 0; k < 6; k++) {
        for (int i = 0; k > 0 && i < 3; i++) ok(talus_world_step(w, NULL));
        reference[k] = keep(w, 3 * k);
        if (k == 3) drop_ball(w, k);
    }
    talus_world_destroy(w);
}

static bool is_there(void) { return access(path, F_OK) == 0; }

// Kill the run at each of its writes in turn (at a stride, once the first frame is there).
static void test_kill_at_every_write(void **state) {
    (void)state;
    talus_frame reference[6];
    read_reference(reference);
    volatile int *flushed =
        mmap(NULL, sizeof *flushed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(flushed != MAP_FAILED);
    int killed = 0, before = 0;
    for (int64_t at = 1;; at += 3) {
        (void)unlink(path);
        *flushed = 0;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            fault.calls = 0, fault.at = at, fault.die = true;
            _exit(short_run(flushed) == TALUS_OK ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 0) break; // it was never its turn
        assert_int_equal(WEXITSTATUS(status), 9);
        killed++;
        if (is_there())
            check_file(reference, *flushed);
        else
            assert_int_equal(*flushed, 0), before++;
    }
    assert_true(before > 5 && killed > before + 50);
    check_file(reference, 6); // of the run that came through
    for (int k = 0; k < 6; k++) forget(&reference[k]);
    (void)munmap((void *)(uintptr_t)flushed, sizeof *flushed);
}

// From write `at` on the disk is full: the run ends with the reason, what was flushed stays.
static void test_full_disk_at_every_write(void **state) {
    (void)state;
    talus_frame reference[6];
    read_reference(reference);
    int failed = 0;
    for (int64_t at = 1;; at += 3) {
        volatile int flushed = 0;
        (void)unlink(path);
        fault.calls = 0, fault.at = at, fault.die = false;
        const talus_status status = short_run(&flushed);
        fault.at = 0;
        assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
        if (status == TALUS_OK) break;
        failed++;
        assert_int_equal(status, TALUS_ERR_FILE);
        assert_non_null(strstr(talus_context_last_error(ctx), "run.h5"));
        assert_non_null(strstr(talus_context_last_error(ctx), "No space left"));
        assert_int_equal(is_there(), flushed > 0);
        if (flushed > 0) check_file(reference, flushed);
    }
    assert_true(failed > 50);
    for (int k = 0; k < 6; k++) forget(&reference[k]);
}

// SIGKILL at moments of chance, as a user would see it; the other tests choose the worst moments.
static void test_kill_at_random(void **state) {
    (void)state;
    tl_rng rng = {.state = 5};
    for (int n = 0; n < 20; n++) {
        (void)unlink(path);
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            talus_world *w = make_world();
            talus_recording *r = NULL;
            const talus_record_def def = {.contacts = true};
            ok(talus_recording_create(ctx, path, &def, w, &r));
            for (int k = 0;; k++) {
                ok(talus_recording_frame(r, w, k));
                ok(talus_recording_flush(r));
                if (write(pipes[1], "x", 1) != 1) _exit(1);
                ok(talus_world_step(w, NULL));
            }
        }
        char x;
        int flushed = 0, status = 0;
        for (const int wanted = (int)tl_rng_range(&rng, 1.0, 8.0); flushed < wanted; flushed++)
            assert_int_equal(read(pipes[0], &x, 1), 1);
        (void)usleep((useconds_t)tl_rng_range(&rng, 0.0, 5e3));
        (void)kill(child, SIGKILL);
        (void)close(pipes[1]);
        while (read(pipes[0], &x, 1) == 1) flushed++;
        (void)close(pipes[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        talus_playback *p = NULL;
        ok(talus_playback_open(ctx, path, &p));
        const talus_playback_info info = talus_playback_get_info(p);
        assert_true(info.frames >= flushed && info.frames <= flushed + 1);
        assert_false(info.finished);
        talus_frame f;
        for (int64_t k = 0; k < info.frames; k++) {
            ok(talus_playback_frame(p, k, &f));
            assert_int_equal(f.step, k);
        }
        talus_playback_close(p);
    }
}

static void write_text(const char *text) {
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static void test_old_file_is_kept_until_the_first_frame(void **state) {
    (void)state;
    talus_world *w = make_world();
    talus_recording *r = NULL, *second = NULL;
    const talus_record_def def = {0};
    write_text("old");
    ok(talus_recording_create(ctx, path, &def, w, &r));
    ok(talus_recording_close(r));
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 3);
    ok(talus_recording_create(ctx, path, &def, w, &r));
    ok(talus_recording_frame(r, w, 0));
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_size > 3);
    expect_error(talus_recording_create(ctx, path, &def, w, &second), TALUS_ERR_FILE,
                 "being written by another run");
    assert_null(second);
    // While it is written it can be read, by anyone who knows HDF5.
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5Lexists(file, "/frames/position", H5P_DEFAULT) > 0);
    assert_true(H5Fclose(file) >= 0);
    ok(talus_recording_close(r));
    ok(talus_recording_create(ctx, path, &def, w, &r)); // the lock is gone
    ok(talus_recording_close(r));
    talus_world_destroy(w);
    // nothing is left beside it
    char command[160];
    (void)snprintf(command, sizeof command, "test \"$(ls %s)\" = run.h5", room);
    assert_int_equal(system(command), 0);
}

static void test_bad_paths(void **state) {
    (void)state;
    talus_world *w = make_world();
    talus_recording *r = NULL;
    talus_playback *p = NULL;
    const talus_record_def def = {0};
    char bad[160];
    (void)snprintf(bad, sizeof bad, "%s/no/run.h5", room);
    expect_error(talus_recording_create(ctx, bad, &def, w, &r), TALUS_ERR_FILE, "No such file");
    expect_error(talus_recording_create(ctx, room, &def, w, &r), TALUS_ERR_FILE, "a directory");
    expect_error(talus_recording_create(ctx, "/dev/null", &def, w, &r), TALUS_ERR_FILE,
                 "plain file");
    expect_error(talus_recording_create(ctx, "", &def, w, &r), TALUS_ERR_ARG, "path");
    expect_error(talus_playback_open(ctx, bad, &p), TALUS_ERR_FILE, "No such file");
    expect_error(talus_playback_open(ctx, room, &p), TALUS_ERR_FILE, "a directory");
    write_text("no HDF5");
    expect_error(talus_playback_open(ctx, path, &p), TALUS_ERR_FORMAT, "not an HDF5 file");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0 && H5Fclose(file) >= 0);
    expect_error(talus_playback_open(ctx, path, &p), TALUS_ERR_FORMAT, "no recording");
    assert_null(p);
    assert_null(r);
    talus_world_destroy(w);
}

// Change one number of a good file through HDF5.
static void spoil_number(const char *dataset, hsize_t row, double value) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t id = H5Dopen2(file, dataset, H5P_DEFAULT), space = H5Dget_space(id);
    const hsize_t one = 1;
    const hid_t point = H5Screate_simple(1, &one, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &row, NULL, &one, NULL) >= 0);
    assert_true(H5Dwrite(id, H5T_NATIVE_DOUBLE, point, space, H5P_DEFAULT, &value) >= 0);
    (void)H5Sclose(point);
    (void)H5Sclose(space);
    (void)H5Dclose(id);
    assert_true(H5Fclose(file) >= 0);
}

static void make_good(void) {
    volatile int flushed = 0;
    fault.at = 0;
    ok(short_run(&flushed));
}

static void test_damaged_files(void **state) {
    (void)state;
    static const struct {
        const char *dataset;
        hsize_t row;
        double value;
        const char *text;
    } bad[] = {{"/bodies/shape", 2, 99.0, "/bodies"},
               {"/bodies/material", 1, -1.0, "/bodies"},
               {"/shapes/kind", 0, 77.0, "/shapes/kind"},
               {"/frames/offset", 3, 1e9, "/frames/offset"},
               {"/frames/offset", 3, 2.0, "/frames/offset"},
               {"/contacts/offset", 3, -4.0, "/contacts/offset"},
               {"/contacts/a", 0, 50.0, "/contacts"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make_good();
        spoil_number(bad[i].dataset, bad[i].row, bad[i].value);
        talus_playback *p = NULL;
        talus_status status = talus_playback_open(ctx, path, &p);
        talus_frame f;
        for (int64_t k = 0; status == TALUS_OK && k < 6; k++)
            status = talus_playback_frame(p, k, &f);
        expect_error(status, TALUS_ERR_FORMAT, bad[i].text);
        talus_playback_close(p);
    }
    static const char *const gone[] = {"/frames/spin", "/contacts/gap", "/ledger/kinetic",
                                       "/scene"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        make_good();
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(file, gone[i], H5P_DEFAULT) >= 0 && H5Fclose(file) >= 0);
        talus_playback *p = NULL;
        expect_error(talus_playback_open(ctx, path, &p), TALUS_ERR_FORMAT, gone[i]);
    }
    make_good();
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    for (off_t length = facts.st_size - 1; length > 0; length -= facts.st_size / 7) {
        talus_playback *p = NULL;
        assert_int_equal(truncate(path, length), 0);
        assert_int_equal(talus_playback_open(ctx, path, &p), TALUS_ERR_FORMAT);
        assert_null(p);
    }
}

static void test_wrong_calls(void **state) {
    (void)state;
    talus_playback *p = NULL;
    talus_frame f;
    double x;
    make_good();
    ok(talus_playback_open(ctx, path, &p));
    expect_error(talus_playback_frame(p, 6, &f), TALUS_ERR_ARG, "no frame 6; there are 6");
    expect_error(talus_playback_frame(p, -1, &f), TALUS_ERR_ARG, "no frame");
    expect_error(talus_playback_ledger(p, "kinetics", 0, 1, &x), TALUS_ERR_UNKNOWN, "kinetics");
    expect_error(talus_playback_ledger(p, "kinetic", 15, 1, &x), TALUS_ERR_ARG, "rows");
    talus_playback_close(p);
    talus_playback_close(NULL);
    ok(talus_recording_close(NULL));
}

static void test_allocation_failures(void **state) {
    (void)state;
    talus_world *w = make_world();
    const talus_record_def def = {.contacts = true};
    const int64_t live = memory.live;
    for (int64_t at = 1;; at++) {
        talus_recording *r = NULL;
        memory.fail_at = memory.requests + at;
        talus_status status = talus_recording_create(ctx, path, &def, w, &r);
        if (status == TALUS_OK) status = talus_recording_frame(r, w, 0);
        const talus_status closed = talus_recording_close(r);
        memory.fail_at = 0;
        assert_int_equal(memory.live, live);
        if (status == TALUS_OK && closed == TALUS_OK) break;
        assert_true(at < 100);
        assert_true(status == TALUS_ERR_MEMORY || closed == TALUS_ERR_MEMORY);
    }
    for (int64_t at = 1;; at++) {
        talus_playback *p = NULL;
        talus_frame f;
        memory.fail_at = memory.requests + at;
        talus_status status = talus_playback_open(ctx, path, &p);
        if (status == TALUS_OK) status = talus_playback_frame(p, 0, &f);
        talus_playback_close(p);
        memory.fail_at = 0;
        assert_int_equal(memory.live, live);
        if (status == TALUS_OK) break;
        assert_true(at < 200);
        assert_int_equal(status, TALUS_ERR_MEMORY);
    }
    talus_world_destroy(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),          TEST(test_ledger_table_is_complete),
        TEST(test_kill_at_every_write), TEST(test_full_disk_at_every_write),
        TEST(test_kill_at_random),      TEST(test_old_file_is_kept_until_the_first_frame),
        TEST(test_bad_paths),           TEST(test_damaged_files),
        TEST(test_wrong_calls),         TEST(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, make_room, remove_room);
}
