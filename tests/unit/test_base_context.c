// SPDX-License-Identifier: Apache-2.0
// The context: memory that is checked, zeroed, aligned and accounted for; errors; log; cancel.
#include "base/context.h"
#include "base/thread.h"
#include "base/timer.h"
#include "support/alloc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static size_t memory_now(const talus_context *ctx) {
    size_t now = 0;
    talus_context_memory(ctx, &now, NULL);
    return now;
}

static void check_zero(const unsigned char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
}

// Blocks are aligned and zeroed with both allocators, also when the memory was used before.
static void blocks_are_aligned_and_zeroed(void **state) {
    (void)state;
    for (int own = 0; own < 2; own++) {
        test_alloc counter = {0};
        const talus_context_def def = test_alloc_def(&counter);
        talus_context *ctx = NULL;
        assert_int_equal(talus_context_create(own ? &def : NULL, &ctx), TALUS_OK);
        for (int64_t count = 0; count < 300; count += 7) {
            double *p = NULL;
            assert_int_equal(TL_ALLOC(ctx, count, &p), TALUS_OK);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % TL_ALIGN, 0);
            check_zero((const unsigned char *)p, (size_t)count * sizeof *p);
            memset(p, 0xff, (size_t)count * sizeof *p);
            tl_free(ctx, p);
        }
        talus_context_destroy(ctx);
        assert_int_equal(counter.live, 0);
        assert_int_equal(counter.bad_releases, 0);
        assert_true(!own || counter.requests > 40);
    }
}

static void impossible_sizes_are_refused(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    static const struct {
        int64_t count;
        size_t size;
        talus_status status;
    } row[] = {
        {-1, 8, TALUS_ERR_ARG},
        {INT64_MIN, 1, TALUS_ERR_ARG},
        {INT64_MAX, 8, TALUS_ERR_MEMORY},
        {INT64_MAX / 4, 8, TALUS_ERR_MEMORY},        // 2^64 - 8: wraps to a small number
        {(INT64_MAX >> 2) + 2, 8, TALUS_ERR_MEMORY}, // 2^64 + 8 wraps to 8
        {2, SIZE_MAX, TALUS_ERR_MEMORY},
        {1, SIZE_MAX - 63, TALUS_ERR_MEMORY}, // the header would wrap it to 0
        {INT64_MAX - 64, 1, TALUS_ERR_MEMORY},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        void *p = ctx;
        assert_int_equal(tl_alloc(ctx, row[i].count, row[i].size, &p), row[i].status);
        assert_null(p);
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)row[i].count);
        assert_non_null(strstr(talus_context_last_error(ctx), number));
    }
    assert_int_equal(memory_now(ctx), 0);
    talus_context_destroy(ctx);
}

static void accounting_returns_to_zero(void **state) {
    (void)state;
    test_alloc counter = {0};
    const talus_context_def def = test_alloc_def(&counter);
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_OK);
    assert_int_equal(memory_now(ctx), 0);
    const size_t base = counter.live_bytes; // the context itself
    const int64_t before = tl_alloc_count(ctx);

    double *a = NULL, *b = NULL, *none = a;
    int32_t *list = NULL;
    assert_int_equal(TL_ALLOC(ctx, 1000, &a), TALUS_OK);
    assert_int_equal(memory_now(ctx), counter.live_bytes - base);
    assert_true(memory_now(ctx) >= 8000);
    for (int i = 0; i < 1000; i++) a[i] = i;
    assert_int_equal(TL_COPY(ctx, a, 1000, &b), TALUS_OK);
    assert_memory_equal(a, b, 8000);
    assert_int_equal(TL_COPY(ctx, (const double *)NULL, 5, &none), TALUS_OK);
    assert_null(none);

    // grow, keep, zero what is new; then shrink
    for (int32_t n = 0; n < 100; n++) {
        assert_int_equal(tl_realloc(ctx, n, n + 1, sizeof *list, &list), TALUS_OK);
        assert_int_equal(list[n], 0);
        list[n] = n;
    }
    assert_int_equal(tl_realloc(ctx, 100, 10, sizeof *list, &list), TALUS_OK);
    for (int32_t n = 0; n < 10; n++) assert_int_equal(list[n], n);
    assert_int_equal(tl_alloc_count(ctx) - before, 2 + 101);

    size_t now = 0, peak = 0;
    talus_context_memory(ctx, &now, &peak);
    assert_int_equal(now, counter.live_bytes - base);
    assert_true(peak > now && peak < 2 * 8000 + 2 * 400 + 64 * 5);
    tl_free(ctx, a);
    tl_free(ctx, b);
    tl_free(ctx, list);
    tl_free(ctx, NULL);
    assert_int_equal(memory_now(ctx), 0);
    size_t peak_after = 0;
    talus_context_memory(ctx, NULL, &peak_after);
    assert_int_equal(peak_after, peak);
    talus_context_destroy(ctx);
    assert_int_equal(counter.live, 0);
    assert_int_equal(counter.bad_releases, 0);
}

// Large blocks are given advice to the system; they are zeroed, aligned and counted like others.
static void large_blocks(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    double *a = NULL;
    const int64_t count = 3 << 18; // 6 MiB
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    assert_int_equal(TL_ALLOC(ctx, count, &a), TALUS_OK);
    assert_int_equal((uintptr_t)a % TL_ALIGN, 0);
    assert_true(memory_now(ctx) >= (size_t)count * sizeof *a);
    for (int64_t k = 0; k < count; k++) {
        if (a[k] != 0.0) fail_msg("entry %lld is not zero", (long long)k);
        a[k] = 1.0;
    }
    tl_free(ctx, a);
    assert_int_equal(memory_now(ctx), 0);
    talus_context_destroy(ctx);
}

// When memory ends, the old block of a resize stays, and the error tells how much was wanted.
static void failed_requests_change_nothing(void **state) {
    (void)state;
    test_alloc counter = {0};
    const talus_context_def def = test_alloc_def(&counter);
    talus_context *ctx = NULL;
    counter.fail_at = 1;
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_ERR_MEMORY);
    assert_null(ctx);
    counter = (test_alloc){0};
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_OK);
    int32_t *list = NULL, *copy = NULL;
    assert_int_equal(TL_ALLOC(ctx, 3, &list), TALUS_OK);
    list[2] = 42;
    const size_t now = memory_now(ctx);
    counter.fail_at = counter.requests + 1;
    int32_t *const old = list;
    assert_int_equal(tl_realloc(ctx, 3, 12345, sizeof *list, &list), TALUS_ERR_MEMORY);
    assert_non_null(strstr(talus_context_last_error(ctx), "12345 items of 4 bytes"));
    assert_ptr_equal(list, old);
    assert_int_equal(list[2], 42);
    assert_int_equal(TL_COPY(ctx, list, 3, &copy), TALUS_ERR_MEMORY);
    assert_null(copy);
    assert_int_equal(memory_now(ctx), now);
    tl_free(ctx, list);
    talus_context_destroy(ctx);
    assert_int_equal(counter.live, 0);
}

// A team that cannot be made for want of memory leaves nothing behind and can be asked for again.
static void failed_team_is_undone(void **state) {
    (void)state;
    talus_status status = TALUS_ERR_MEMORY;
    for (int64_t k = 1; status != TALUS_OK; k++) {
        test_alloc counter = {0};
        const talus_context_def def = test_alloc_def(&counter);
        talus_context *ctx = NULL;
        assert_int_equal(talus_context_create(&def, &ctx), TALUS_OK);
        counter.fail_at = counter.requests + k;
        status = tl_team_reserve(ctx, 4);
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        counter.fail_at = 0;
        assert_int_equal(tl_team_reserve(ctx, 4), TALUS_OK);
        talus_context_destroy(ctx);
        assert_int_equal(counter.live, 0);
        assert_int_equal(counter.bad_releases, 0);
        assert_true(k < 20);
    }
}

static void errors_carry_their_text(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    assert_string_equal(talus_context_last_error(ctx), "");
    assert_int_equal(tl_fail(ctx, TALUS_ERR_FORMAT, "entry %d is %g", 7, 0.5), TALUS_ERR_FORMAT);
    assert_string_equal(talus_context_last_error(ctx), "entry 7 is 0.5");
    assert_int_equal(tl_fail_prefix(ctx, TALUS_ERR_FILE, "a.hdf5"), TALUS_ERR_FILE);
    assert_string_equal(talus_context_last_error(ctx), "a.hdf5: entry 7 is 0.5");
    // the recorded text may itself be an argument
    tl_fail(ctx, TALUS_ERR_FILE, "<%s>", talus_context_last_error(ctx));
    assert_string_equal(talus_context_last_error(ctx), "<a.hdf5: entry 7 is 0.5>");
    // a text too long is cut, not overrun
    char big[5000];
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = '\0';
    tl_fail(ctx, TALUS_ERR_ARG, "%s", big);
    const size_t length = strlen(talus_context_last_error(ctx));
    assert_in_range(length, 500, 4000);
    for (int i = 0; i < 5; i++) tl_fail_prefix(ctx, TALUS_ERR_ARG, "p");
    assert_int_equal(strlen(talus_context_last_error(ctx)), length);
    assert_memory_equal(talus_context_last_error(ctx), "p: p: p: p: p: xxx", 18);
    talus_context_destroy(ctx);

    // without a context there is no text, but the status still comes back
    assert_int_equal(tl_fail(NULL, TALUS_ERR_SYSTEM, "lost"), TALUS_ERR_SYSTEM);
    assert_int_equal(tl_fail_prefix(NULL, TALUS_ERR_SYSTEM, "lost"), TALUS_ERR_SYSTEM);
    assert_string_equal(talus_context_last_error(NULL), "");
}

static void every_status_has_its_text(void **state) {
    (void)state;
    static const struct {
        talus_status status;
        int value;
        const char *text;
    } row[] = {
#define ROW(name, value, text) {name, value, text},
        TALUS_STATUS_LIST(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        assert_int_equal(row[i].status, row[i].value);
        assert_string_equal(talus_status_text(row[i].status), row[i].text);
    }
    assert_string_equal(talus_status_text((talus_status)-99), "unknown status");
}

typedef struct seen {
    int count;
    talus_log_level level;
    char text[64];
} seen;

static void log_line(void *user, talus_log_level level, const char *text) {
    seen *s = user;
    s->count++;
    s->level = level;
    snprintf(s->text, sizeof s->text, "%s", text);
}

static void log_reaches_the_callback(void **state) {
    (void)state;
    seen s = {0};
    const talus_context_def def = {.log = log_line, .log_user = &s};
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_OK);
    tl_log(ctx, TALUS_LOG_WARNING, "W is %s by %g", "asymmetric", 0.25);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.level, TALUS_LOG_WARNING);
    assert_string_equal(s.text, "W is asymmetric by 0.25");
    talus_context_destroy(ctx);
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    tl_log(ctx, TALUS_LOG_INFO, "nobody listens");
    talus_context_destroy(ctx);
}

static void cancel_is_a_wish_that_can_be_taken_back(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    assert_false(tl_cancelled(ctx));
    talus_context_cancel(ctx, true);
    assert_true(tl_cancelled(ctx));
    talus_context_cancel(ctx, false);
    assert_false(tl_cancelled(ctx));
    talus_context_cancel(NULL, true);
    talus_context_destroy(ctx);
}

static void definitions_are_checked(void **state) {
    (void)state;
    test_alloc counter = {0};
    talus_context_def def = test_alloc_def(&counter);
    talus_context *ctx = NULL;
    def.allocate = NULL;
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_ERR_ARG);
    assert_null(ctx);
    assert_int_equal(talus_context_create(NULL, NULL), TALUS_ERR_ARG);
    talus_context_destroy(NULL);
    // an arena: it takes nothing back one by one
    def = test_alloc_def(&counter);
    void (*const release)(void *, void *) = def.release;
    def.release = NULL;
    assert_int_equal(talus_context_create(&def, &ctx), TALUS_OK);
    void *const block = ctx;
    talus_context_destroy(ctx);
    assert_int_equal(counter.live, 1);
    release(&counter, (char *)block - TL_ALIGN);
    assert_int_equal(counter.live, 0);
    size_t now = 1, peak = 1;
    talus_context_memory(NULL, &now, &peak);
    assert_int_equal(now + peak, 0);
}

static void build_facts_are_given(void **state) {
    (void)state;
    const talus_build b = talus_build_info();
    assert_string_equal(b.version, "0.1.0");
    assert_true(strlen(b.commit) > 0 && strlen(b.compiler) > 4 && strlen(b.flags) > 0);
    assert_non_null(strstr(b.features, "HDF5 1."));
    assert_non_null(strstr(b.features, "CHOLMOD "));
    assert_non_null(strstr(b.features, "OpenBLAS 0."));
    assert_true(!strcmp(b.simd, "avx512f") || !strcmp(b.simd, "avx2") ||
                !strcmp(b.simd, "baseline"));
}

static void the_clock_runs_forward(void **state) {
    (void)state;
    const double start = tl_seconds();
    double last = start;
    while (last < start + 0.01) {
        const double now = tl_seconds();
        assert_true(now >= last);
        last = now;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_zeroed),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(accounting_returns_to_zero),
        cmocka_unit_test(large_blocks),
        cmocka_unit_test(failed_requests_change_nothing),
        cmocka_unit_test(failed_team_is_undone),
        cmocka_unit_test(errors_carry_their_text),
        cmocka_unit_test(every_status_has_its_text),
        cmocka_unit_test(log_reaches_the_callback),
        cmocka_unit_test(cancel_is_a_wish_that_can_be_taken_back),
        cmocka_unit_test(definitions_are_checked),
        cmocka_unit_test(build_facts_are_given),
        cmocka_unit_test(the_clock_runs_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
