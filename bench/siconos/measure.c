// SPDX-License-Identifier: Apache-2.0
// Times of both sides.
//
// Siconos may print, exit, crash or never return, so nothing of it runs in this process: a child
// measures, writes into shared memory, and is ended by its alarm, which is set anew before every
// solve.
#define _GNU_SOURCE
#include "measure.h"
#include "cases.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A race: turns of TURN seconds, so that caches are as warm as in repeated solves.
enum { RACERS = 32, TURNS_LEAST = 5, TURNS_STILL = 3, BISECTIONS = 6 };
static const double TURN = 2e-3, SPENT_LEAST = 0.02, RACE_LIMIT = 3.0;
static const double STILL = 0.995; // a new least time within this of the old one is the same
static const double BEATEN = 1.5;  // a candidate this much slower than the best leaves the race
// The search for a tolerance: exponent of its steps, and the factor to which it is found.
static const double CAUTION = 0.9, FINE = 1.2;
static const double TRY_SPENT = 5e-3; // seconds of repeats behind a time that only ranks

typedef struct job {
    const bench_task *t;
    double solve_limit, search_limit;
    bool with_talus;
    bench_candidate *list; // in shared memory
    bench_measured *talus; // in shared memory
    int count;
} job;

static const bench_measured nothing = {
    .seconds = INFINITY, .natural = NAN, .residual = NAN, .penetration = NAN};

static void set_timer(int which, double seconds) {
    const double s = fmax(seconds, 1e-3);
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)s, .tv_usec = (suseconds_t)(1e6 * fmod(s, 1.0))}};
    setitimer(which, &timer, NULL);
}

// Limits count the time of this process, so that a busy machine does not end what is fast; the
// clock on the wall is for what waits without working.
static void arm(double seconds) {
    set_timer(ITIMER_PROF, seconds);
    set_timer(ITIMER_REAL, 5.0 + 20.0 * seconds);
}

static double process_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Judge r; the certificate's figures are for the record.
static bool judge(const bench_task *t, const double *r, bench_measured *out) {
    talus_certificate certificate;
    arm(t->limit); // a solve's alarm shall not strike here
    out->natural = bench_natural(t->c, r);
    if (talus_certify(t->c->problem, r, &certificate) == TALUS_OK) {
        out->residual = certificate.residual;
        out->penetration = certificate.penetration;
    }
    return out->natural <= t->tol;
}

// Run `work` in a child whose changes to list and talus are kept. True if its alarm ended it.
static bool in_child(void (*work)(const job *), job *j) {
    const size_t size = sizeof *j->talus + (size_t)j->count * sizeof *j->list;
    char *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) exit(1);
    bench_candidate *list = j->list;
    bench_measured *talus = j->talus;
    j->talus = (bench_measured *)shared;
    j->list = (bench_candidate *)(shared + sizeof *j->talus);
    *j->talus = talus ? *talus : nothing;
    if (j->count > 0) memcpy(j->list, list, (size_t)j->count * sizeof *list);
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        work(j);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (talus) *talus = *j->talus;
    if (j->count > 0) memcpy(list, j->list, (size_t)j->count * sizeof *list);
    munmap(shared, size);
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM);
}

static double *new_reaction(const bench_case *c) {
    return calloc((size_t)(c->dim * c->count) + 1, sizeof(double));
}

// One solve of the search, kept if its answer passes or none did so far.
static bool search_step(const job *j, siconos_problem *p, double tol, double end, double *r) {
    bench_measured *out = &j->list->result, now = nothing;
    now.inner_tol = tol;
    now.repeats = 1;
    arm(fmin(j->solve_limit, end - process_seconds()));
    const double seconds = siconos_solve(p, tol, r, &now.iterations);
    const bool passes = judge(j->t, r, &now);
    if (passes) now.seconds = seconds;
    if (passes || !isfinite(out->seconds)) *out = now;
    return passes;
}

// Down until an answer passes, then bisected. The residual goes about with the tolerance, so the
// next one is nearly where it should be enough, and never less than half a decade down.
static void search_siconos(const job *j) {
    const double step = sqrt(10.0), end = process_seconds() + j->search_limit;
    bench_candidate *out = j->list;
    double *r = new_reaction(j->t->c), tol = 1.0, above = 1.0, spent = 0.0;
    siconos_problem *p = siconos_problem_create(j->t->c, &out->setup);
    if (!p || !r) return;
    while (!search_step(j, p, tol, end, r)) {
        const double guess = pow(j->t->tol / out->result.natural, CAUTION);
        above = tol;
        tol *= guess > 0.0 ? fmin(guess, 1.0 / step) : 1.0 / step; // a NaN is not > 0
        if (tol < 1e-16) return;
    }
    for (int k = 0; k < BISECTIONS && above > FINE * tol; k++) {
        const double middle = sqrt(tol * above);
        if (search_step(j, p, middle, end, r))
            tol = middle;
        else
            above = middle;
    }
    for (int k = 0; k < 2 || spent < TRY_SPENT; k++) {
        int iterations = 0;
        arm(fmin(j->solve_limit, end - process_seconds()));
        const double seconds = siconos_solve(p, tol, r, &iterations);
        spent += fmax(seconds, 1e-6);
        out->result.seconds = fmin(out->result.seconds, seconds);
    }
}

void bench_try_siconos(const bench_task *t, double solve_limit, double search_limit,
                       bench_candidate *out) {
    out->result = nothing;
    job j = {
        .t = t, .solve_limit = solve_limit, .search_limit = search_limit, .list = out, .count = 1};
    out->result.late = in_child(search_siconos, &j);
}

// Who takes part in a race: Talus when setup is NULL.
typedef struct racer {
    const siconos_setup *setup;
    siconos_problem *siconos;
    talus_solver *talus;
    double extra; // seconds added to each solve
    double spent; // in all solves
    bool left;
    bench_measured *out;
} racer;

// Factoring M belongs to the global form, and is done when the problem is made.
static double factor_seconds(const bench_task *t) {
    double least = INFINITY;
    if (t->c->form != BENCH_GLOBAL) return 0.0;
    for (int k = 0; k < 10; k++) {
        talus_problem *p = NULL;
        if (talus_fclib_read(t->ctx, t->path, &p, NULL) != TALUS_OK) break;
        least = fmin(least, talus_problem_get_info(p).setup_seconds);
        talus_problem_destroy(p);
    }
    return least;
}

static bool racer_set_talus(const bench_task *t, racer *out) {
    char tol[32], limit[32];
    snprintf(tol, sizeof tol, "%.17g", t->tol);
    snprintf(limit, sizeof limit, "%.17g", t->limit);
    out->extra = factor_seconds(t);
    return talus_solver_create(t->ctx, t->solver, &out->talus) == TALUS_OK &&
           talus_solver_set(out->talus, "tolerance", tol) == TALUS_OK &&
           talus_solver_set(out->talus, "time_limit", limit) == TALUS_OK &&
           talus_solver_set(out->talus, "threads", "1") == TALUS_OK;
}

static double racer_solve(const bench_task *t, racer *a, double *r) {
    arm(2.0 * t->limit); // Talus ends by itself
    if (a->setup) return siconos_solve(a->siconos, a->out->inner_tol, r, &a->out->iterations);
    talus_solve_info info;
    memset(r, 0, (size_t)(t->c->dim * t->c->count) * sizeof *r);
    const double begin = bench_seconds();
    if (talus_solver_prepare(a->talus, t->c->problem) != TALUS_OK ||
        talus_solver_solve(a->talus, r, &info) != TALUS_OK)
        return INFINITY;
    const double seconds = bench_seconds() - begin;
    a->out->iterations = info.iterations;
    return seconds + a->extra;
}

// One turn; true if the least time went down. An answer that does not pass ends it for the racer.
static bool racer_turn(const bench_task *t, racer *a, double *r) {
    const double before = a->out->seconds;
    double turn = 0.0;
    for (int k = 0; k == 0 || turn < TURN; k++) {
        const double seconds = racer_solve(t, a, r);
        if (!isfinite(seconds) || (k == 0 && !judge(t, r, a->out))) {
            a->left = true;
            a->out->seconds = INFINITY;
            return true;
        }
        turn += fmax(seconds, 1e-7);
        a->out->repeats++;
        a->out->seconds = fmin(a->out->seconds, seconds);
    }
    a->spent += turn;
    return a->out->seconds < STILL * before;
}

static void drop_beaten(racer *list, int count) {
    double best = INFINITY;
    for (int k = 0; k < count; k++)
        if (list[k].setup) best = fmin(best, list[k].out->seconds);
    for (int k = 0; k < count; k++)
        if (list[k].setup && list[k].out->seconds > BEATEN * best) list[k].left = true;
}

static void race(const job *j) {
    racer list[RACERS + 1];
    double *r = new_reaction(j->t->c);
    int count = 0;
    if (j->with_talus) {
        list[count] = (racer){.out = j->talus};
        if (!racer_set_talus(j->t, &list[count++])) return;
    }
    for (int k = 0; k < j->count; k++) {
        racer *a = &list[count++];
        *a = (racer){.setup = &j->list[k].setup, .out = &j->list[k].result};
        a->siconos = siconos_problem_create(j->t->c, a->setup);
        if (!a->siconos) return;
    }
    const double start = bench_seconds();
    for (int turn = 1, still = 0;; turn++) {
        bool moved = false, tired = true;
        for (int k = 0; k < count; k++) {
            if (list[k].left) continue;
            list[k].out->late = true; // stays if this turn is the end of the child
            moved = racer_turn(j->t, &list[k], r) || moved;
            list[k].out->late = false;
            tired = tired && list[k].spent >= SPENT_LEAST;
        }
        if (turn >= 2) drop_beaten(list, count);
        still = moved ? 0 : still + 1;
        if (turn >= TURNS_LEAST && still >= TURNS_STILL && tired) return;
        if (turn >= TURNS_LEAST && bench_seconds() - start >= RACE_LIMIT) return;
    }
}

static void reset(bench_measured *m) {
    const double inner_tol = m->inner_tol;
    *m = nothing;
    m->inner_tol = inner_tol;
}

// A race that a racer broke off, by a crash or by hanging, is run again without it.
void bench_race(const bench_task *t, bench_measured *talus, bench_candidate *list, int count) {
    for (bool again = true; again;) {
        job j = {.t = t, .list = list, .talus = talus, .count = count < RACERS ? count : RACERS};
        j.with_talus = isfinite(talus->seconds);
        if (j.with_talus) reset(talus);
        for (int k = 0; k < count; k++) reset(&list[k].result);
        in_child(race, &j);
        again = j.with_talus && talus->late;
        if (again) talus->seconds = INFINITY;
        for (int k = 0; k < count; k++) {
            if (!list[k].result.late) continue;
            const bench_candidate broken = list[k];
            list[k] = list[--count];
            list[count] = broken;
            list[count].result.seconds = INFINITY;
            again = true;
            break;
        }
    }
}

static void try_talus(const job *j) {
    racer a = {.out = j->talus};
    double *r = new_reaction(j->t->c);
    if (!r || !racer_set_talus(j->t, &a)) return;
    const double seconds = racer_solve(j->t, &a, r);
    if (isfinite(seconds) && judge(j->t, r, a.out)) a.out->seconds = seconds;
}

bench_measured bench_try_talus(const bench_task *t) {
    bench_measured out = nothing;
    job j = {.t = t, .talus = &out};
    in_child(try_talus, &j);
    return out;
}
