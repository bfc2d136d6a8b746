// SPDX-License-Identifier: Apache-2.0
// Teams of threads: everybody runs, barriers separate the phases, shares cover everything once.
// ctest labels: threads
#define _GNU_SOURCE // RTLD_NEXT
#include "base/context.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE_MOST = 8, ROUNDS = 2000, ITEMS = 1000 };

static const int team_sizes[] = {1, 2, 3, 8};

// Stands before the C library's: refuses threads once `threads_left` is used up.
static int threads_left = INT_MAX;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                   void *arg) {
    typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create_fn *next = NULL;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&next, &symbol, sizeof next); // ISO C has no cast from data to function
    if (threads_left-- <= 0) return EAGAIN;
    return next(thread, attr, start, arg);
}

typedef struct relay {
    int64_t value[ITEMS];
    int64_t partial[SIZE_MOST];
    int64_t sum[ROUNDS];
    int rounds;
    int wrong_size;
    int size;
} relay;

// In each round all threads add 1 to their items, then each sums ANOTHER thread's items, then rank
// 0 sums up. Without working barriers the sums come out wrong; plain memory shows races to the
// thread sanitizer.
static void relay_work(void *arg, tl_team *team, int rank) {
    relay *job = arg;
    if (tl_team_size(team) != job->size) job->wrong_size = 1;
    for (int round = 0; round < job->rounds; round++) {
        int64_t begin, end;
        tl_share(ITEMS, job->size, rank, &begin, &end);
        for (int64_t i = begin; i < end; i++) job->value[i]++;
        tl_barrier(team);
        tl_share(ITEMS, job->size, (rank + 1) % job->size, &begin, &end);
        int64_t sum = 0;
        for (int64_t i = begin; i < end; i++) sum += job->value[i];
        job->partial[rank] = sum;
        tl_barrier(team);
        if (rank == 0) {
            for (int k = 0; k < job->size; k++) job->sum[round] += job->partial[k];
        }
    }
}

static void relay_check(talus_context *ctx, int size, int rounds) {
    static relay job;
    memset(&job, 0, sizeof job);
    job.size = size;
    job.rounds = rounds;
    tl_parallel(ctx, size, relay_work, &job);
    assert_int_equal(job.wrong_size, 0);
    for (int round = 0; round < rounds; round++)
        assert_int_equal(job.sum[round], (int64_t)ITEMS * (round + 1));
}

static void barriers_separate_the_phases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof team_sizes / sizeof team_sizes[0]; i++) {
        talus_context *ctx = NULL;
        assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
        assert_int_equal(tl_team_reserve(ctx, team_sizes[i]), TALUS_OK);
        relay_check(ctx, team_sizes[i], ROUNDS);
        talus_context_destroy(ctx);
    }
}

// One pool serves teams of all sizes in any order, also after threads went to sleep in between.
static void one_pool_serves_all_sizes(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    for (int repeat = 0; repeat < 300; repeat++) {
        const int size = 1 + (repeat * 5) % SIZE_MOST;
        assert_int_equal(tl_team_reserve(ctx, size), TALUS_OK);
        const int64_t before = tl_alloc_count(ctx);
        relay_check(ctx, size, 3);
        assert_int_equal(tl_alloc_count(ctx), before);
    }
    talus_context_destroy(ctx);
}

static void mark_work(void *arg, tl_team *team, int rank) {
    int *count = arg;
    (void)team;
    count[rank]++;
}

static void every_rank_runs_once(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    assert_int_equal(tl_team_reserve(ctx, SIZE_MOST), TALUS_OK);
    for (int size = 1; size <= SIZE_MOST; size++) {
        int count[SIZE_MOST] = {0};
        for (int repeat = 0; repeat < 50; repeat++) tl_parallel(ctx, size, mark_work, count);
        for (int rank = 0; rank < SIZE_MOST; rank++)
            assert_int_equal(count[rank], rank < size ? 50 : 0);
    }
    talus_context_destroy(ctx);
}

// A job within a job, while the rest of the team waits: a team of one does it, and the barriers of
// the outer job go on counting right.
typedef struct nested {
    talus_context *ctx;
    int inner, alone;    // runs of the inner job, and those by a team of one
    int seen[SIZE_MOST]; // what each rank saw of them, after the barrier
    int wrong;
} nested;

static void nested_inner(void *arg, tl_team *team, int rank) {
    nested *job = arg;
    job->inner++;
    job->alone += tl_team_size(team) == 1 && rank == 0;
    tl_barrier(team);
}

static void nested_outer(void *arg, tl_team *team, int rank) {
    nested *job = arg;
    for (int round = 1; round <= ROUNDS; round++) {
        if (rank == 0) tl_parallel(job->ctx, 3, nested_inner, job);
        tl_barrier(team);
        job->seen[rank] = job->inner;
        tl_barrier(team);
        if (rank == 0)
            for (int k = 0; k < tl_team_size(team); k++) job->wrong += job->seen[k] != round;
    }
}

static void jobs_within_jobs(void **state) {
    (void)state;
    nested job = {0};
    assert_int_equal(talus_context_create(NULL, &job.ctx), TALUS_OK);
    assert_int_equal(tl_team_reserve(job.ctx, 3), TALUS_OK);
    tl_parallel(job.ctx, 3, nested_outer, &job);
    assert_int_equal(job.inner, ROUNDS);
    assert_int_equal(job.alone, ROUNDS);
    assert_int_equal(job.wrong, 0);
    relay_check(job.ctx, 3, 3); // and the next job has them all again
    talus_context_destroy(job.ctx);
}

static void unused_threads_end_with_the_context(void **state) {
    (void)state;
    for (int repeat = 0; repeat < 50; repeat++) {
        talus_context *ctx = NULL;
        assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
        assert_int_equal(tl_team_reserve(ctx, 3), TALUS_OK);
        talus_context_destroy(ctx);
    }
}

static void impossible_teams_are_refused(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    assert_int_equal(tl_team_reserve(ctx, 0), TALUS_ERR_ARG);
    assert_int_equal(tl_team_reserve(ctx, -3), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "-3"));
    assert_int_equal(tl_team_reserve(ctx, 1 << 20), TALUS_ERR_ARG);
    talus_context_destroy(ctx);
}

// When the system has no more threads the team stays as large as it got, and can be used.
static void refused_threads(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    threads_left = 2;
    assert_int_equal(tl_team_reserve(ctx, 5), TALUS_ERR_SYSTEM);
    assert_non_null(strstr(talus_context_last_error(ctx), "refuses thread 3"));
    relay_check(ctx, 3, 3);
    threads_left = INT_MAX;
    assert_int_equal(tl_team_reserve(ctx, 5), TALUS_OK);
    relay_check(ctx, 5, 3);
    talus_context_destroy(ctx);
}

static void shares_cover_everything_once(void **state) {
    (void)state;
    for (int64_t count = 0; count < 50; count++) {
        for (int size = 1; size <= 9; size++) {
            int64_t next = 0, least = INT64_MAX, most = 0;
            for (int rank = 0; rank < size; rank++) {
                int64_t begin, end;
                tl_share(count, size, rank, &begin, &end);
                assert_int_equal(begin, next);
                assert_true(end >= begin);
                if (end - begin < least) least = end - begin;
                if (end - begin > most) most = end - begin;
                next = end;
            }
            assert_int_equal(next, count);
            assert_true(most - least <= 1);
        }
    }
}

// A cancel from another thread is seen by a working team.
static void cancel_work(void *arg, tl_team *team, int rank) {
    talus_context *ctx = arg;
    (void)team;
    if (rank == 0)
        while (!tl_cancelled(ctx)) {
        }
    else
        talus_context_cancel(ctx, true);
}

static void cancel_crosses_threads(void **state) {
    (void)state;
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    assert_int_equal(tl_team_reserve(ctx, 2), TALUS_OK);
    tl_parallel(ctx, 2, cancel_work, ctx);
    assert_true(tl_cancelled(ctx));
    talus_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_separate_the_phases),
        cmocka_unit_test(one_pool_serves_all_sizes),
        cmocka_unit_test(every_rank_runs_once),
        cmocka_unit_test(jobs_within_jobs),
        cmocka_unit_test(unused_threads_end_with_the_context),
        cmocka_unit_test(impossible_teams_are_refused),
        cmocka_unit_test(refused_threads),
        cmocka_unit_test(shares_cover_everything_once),
        cmocka_unit_test(cancel_crosses_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
