// SPDX-License-Identifier: Apache-2.0
// The team of threads. Every wait is a wait for a counter to move on: first a short spin, which a
// barrier between busy cores passes in about a microsecond, then sleep on a condition variable,
// which leaves the core to whoever is late. In between the thread offers its core a few times: in
// a team larger than the machine, which does not spin at all, the thread waited for is often the
// next to run here, and passing the core on costs a fraction of a sleep (5 us instead of 35 us for
// a barrier of 8 threads on 2 cores).
//
// Sleeping is safe from lost wake-ups by the usual pair of sequentially consistent accesses: the
// sleeper announces itself and then reads the counter, the opener moves the counter and then reads
// the announcements; one of the two must see the other.
#define _GNU_SOURCE // sched_getaffinity, pthread_sigmask
#include "base/thread.h"
#include "base/compiler.h"
#include "base/context_impl.h"
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

// Turns of the spin loop, some 50 us: about what going to sleep and waking up costs.
#define THREAD_SPIN 2000
#define THREAD_YIELDS 16
#define THREAD_TEAM_MAX 1024

// A counter that threads wait on. Its own cache line, as all that spin on it read it all the time.
typedef struct thread_gate {
    _Alignas(TL_ALIGN) atomic_uint turn;
    atomic_int sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
} thread_gate;

struct tl_team {
    thread_gate gate;                      // of the barrier
    _Alignas(TL_ALIGN) atomic_int arrived; // at the barrier
    // The job: written by the caller while all workers wait, read by them before they arrive at the
    // barrier that ends the job.
    _Alignas(TL_ALIGN) int size;
    int spin;
    void (*work)(void *arg, tl_team *team, int rank);
    void *arg;
};

typedef struct thread_worker {
    thread_gate gate; // moved on for each job this worker takes part in
    pthread_t thread;
    tl_pool *pool;
    int rank;
} thread_worker;

struct tl_pool {
    tl_team team;
    thread_worker **worker; // rank 1 … count, each in a block of its own because it must not move
    int count;
    int cores; // this process may use
    bool busy; // a job is running; written while all workers wait
    bool stop; // written before the gates are moved for the last time
};

static bool gate_init(thread_gate *gate) {
    atomic_init(&gate->turn, 0);
    atomic_init(&gate->sleepers, 0);
    if (pthread_mutex_init(&gate->mutex, NULL) != 0) return false;
    if (pthread_cond_init(&gate->moved, NULL) == 0) return true;
    pthread_mutex_destroy(&gate->mutex);
    return false;
}

static void gate_clear(thread_gate *gate) {
    pthread_cond_destroy(&gate->moved);
    pthread_mutex_destroy(&gate->mutex);
}

static void gate_move(thread_gate *gate) {
    atomic_fetch_add(&gate->turn, 1);
    if (atomic_load(&gate->sleepers) == 0) return;
    pthread_mutex_lock(&gate->mutex);
    pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->mutex);
}

static void gate_wait(thread_gate *gate, unsigned turn, int spin) {
    for (int i = 0; i < spin; i++) {
        if (atomic_load_explicit(&gate->turn, memory_order_acquire) != turn) return;
        TL_PAUSE();
    }
    for (int i = 0; i < THREAD_YIELDS; i++) {
        if (atomic_load_explicit(&gate->turn, memory_order_acquire) != turn) return;
        sched_yield();
    }
    pthread_mutex_lock(&gate->mutex);
    atomic_fetch_add(&gate->sleepers, 1);
    while (atomic_load(&gate->turn) == turn) pthread_cond_wait(&gate->moved, &gate->mutex);
    atomic_fetch_sub(&gate->sleepers, 1);
    pthread_mutex_unlock(&gate->mutex);
}

void tl_barrier(tl_team *team) {
    // The job's fields are read before arriving: after the last barrier they are the caller's
    // again.
    const int size = team->size, spin = team->spin;
    if (size == 1) return;
    const unsigned turn = atomic_load_explicit(&team->gate.turn, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) == size - 1) {
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        gate_move(&team->gate);
    } else {
        gate_wait(&team->gate, turn, spin);
    }
}

int tl_team_size(const tl_team *team) { return team->size; }

static void *thread_main(void *arg) {
    thread_worker *self = arg;
    tl_pool *pool = self->pool;
    int spin = 0; // the thread may have been made long before its first job
    for (unsigned turn = 0;; turn++) {
        gate_wait(&self->gate, turn, spin);
        if (pool->stop) return NULL;
        spin = pool->team.spin;
        pool->team.work(pool->team.arg, &pool->team, self->rank);
        tl_barrier(&pool->team);
    }
}

static int thread_cores(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return CPU_COUNT(&set);
}

static talus_status pool_create(talus_context *ctx) {
    tl_pool *pool = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &pool));
    pool->cores = thread_cores();
    atomic_init(&pool->team.arrived, 0);
    if (!gate_init(&pool->team.gate)) {
        tl_free(ctx, pool);
        return tl_fail(ctx, TALUS_ERR_SYSTEM, "the system gives no mutex for a team of threads");
    }
    ctx->pool = pool;
    return TALUS_OK;
}

static talus_status pool_add_worker(talus_context *ctx) {
    tl_pool *pool = ctx->pool;
    thread_worker *worker = NULL;
    TL_TRY(tl_realloc(ctx, pool->count, (int64_t)pool->count + 1, sizeof(thread_worker *),
                      &pool->worker));
    TL_TRY(TL_ALLOC(ctx, 1, &worker));
    worker->pool = pool;
    worker->rank = pool->count + 1;
    if (!gate_init(&worker->gate)) {
        tl_free(ctx, worker);
        return tl_fail(ctx, TALUS_ERR_SYSTEM, "the system gives no mutex for thread %d",
                       pool->count + 1);
    }
    // Signals are the business of the program's own threads.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int error = pthread_create(&worker->thread, NULL, thread_main, worker);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error != 0) {
        gate_clear(&worker->gate);
        tl_free(ctx, worker);
        return tl_fail(ctx, TALUS_ERR_SYSTEM, "the system refuses thread %d (error %d)",
                       pool->count + 1, error);
    }
    pool->worker[pool->count++] = worker;
    return TALUS_OK;
}

talus_status tl_team_reserve(talus_context *ctx, int size) {
    TL_REQUIRE(ctx, size >= 1 && size <= THREAD_TEAM_MAX, TALUS_ERR_ARG,
               "a team of %d threads was asked for, 1 to %d are possible", size, THREAD_TEAM_MAX);
    if (size > 1 && !ctx->pool) TL_TRY(pool_create(ctx));
    while (ctx->pool && ctx->pool->count < size - 1) TL_TRY(pool_add_worker(ctx));
    return TALUS_OK;
}

void tl_pool_destroy(talus_context *ctx) {
    tl_pool *pool = ctx->pool;
    if (!pool) return;
    pool->stop = true;
    for (int i = 0; i < pool->count; i++) {
        thread_worker *worker = pool->worker[i];
        gate_move(&worker->gate);
        pthread_join(worker->thread, NULL);
        gate_clear(&worker->gate);
        tl_free(ctx, worker);
    }
    gate_clear(&pool->team.gate);
    tl_free(ctx, pool->worker);
    tl_free(ctx, pool);
    ctx->pool = NULL;
}

void tl_parallel(talus_context *ctx, int size, void (*work)(void *arg, tl_team *team, int rank),
                 void *arg) {
    tl_pool *pool = ctx->pool;
    assert(size == 1 || (pool && size > 1 && size <= pool->count + 1));
    if (size == 1 || !pool || pool->busy) { // no pool needed, nor the atomics of a barrier
        tl_team alone = {.size = 1};
        work(arg, &alone, 0);
        return;
    }
    pool->busy = true;
    tl_team *team = &pool->team;
    team->size = size;
    team->spin = size <= pool->cores ? THREAD_SPIN : 0;
    team->work = work;
    team->arg = arg;
    for (int i = 0; i < size - 1; i++) gate_move(&pool->worker[i]->gate);
    work(arg, team, 0);
    tl_barrier(team);
    pool->busy = false;
}
