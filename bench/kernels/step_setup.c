// SPDX-License-Identifier: Apache-2.0
// What a time step of a grain simulator costs around the solve: making the problem, preparing a
// solver, certifying; and one iteration or sweep. Spheres with about seven contacts per body where
// contacts are frictionless and three where they rub, M
// diagonal.     bench/step_setup [MOST_CONTACTS [THREADS]]
// Least of repeats, processor time on one thread and time by the clock on two; ns per contact (and
// iteration), bytes held per contact.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "support/packing.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 5, ITERATIONS = 20 };

typedef struct bench {
    talus_context *ctx;
    talus_global_def def;
    double *r;
    int threads;
} bench;

// One thread: processor time, which neighbours on the machine disturb less; else the clock.
static double now(const bench *b) {
    struct timespec t;
    clock_gettime(b->threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const bench *b, const char *what, double seconds, double bytes) {
    printf("%s,%d,%g,%d,%.1f,%.0f\n", what, b->def.count, b->def.law.mu[0], b->threads,
           1e9 * seconds / b->def.count, bytes / b->def.count);
    fflush(stdout);
}

static void stop(const bench *b) {
    fprintf(stderr, "%s\n", talus_context_last_error(b->ctx));
    exit(1);
}

static double held(const bench *b) {
    size_t bytes;
    talus_context_memory(b->ctx, &bytes, NULL);
    return (double)bytes;
}

static void bench_problem(const bench *b) {
    double least[3] = {INFINITY, INFINITY, INFINITY}, bytes = 0.0;
    talus_certificate judged;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        talus_problem *p;
        double t[4];
        t[0] = now(b);
        if (talus_problem_create_global(b->ctx, &b->def, &p) != TALUS_OK) stop(b);
        t[1] = now(b);
        if (talus_problem_update_global(p, &b->def) != TALUS_OK) stop(b);
        t[2] = now(b);
        if (talus_certify(p, b->r, &judged) != TALUS_OK) stop(b);
        t[3] = now(b);
        bytes = held(b);
        talus_problem_destroy(p);
        for (int k = 0; k < 3; k++) least[k] = fmin(least[k], t[k + 1] - t[k]);
    }
    report(b, "create", least[0], bytes);
    report(b, "update", least[1], bytes);
    report(b, "certify", least[2], bytes);
}

static void set(const bench *b, talus_solver *s, const char *key, const char *value) {
    if (talus_solver_set(s, key, value) != TALUS_OK) stop(b);
}

// Prepare, prepare again, and the time of an iteration: two solves that differ by ITERATIONS.
static void bench_solver(const bench *b, const char *solver, const char *form) {
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    talus_problem *p;
    talus_solver *s = NULL;
    talus_solve_info info = {0};
    char text[64];
    if (talus_problem_create_global(b->ctx, &b->def, &p) != TALUS_OK) stop(b);
    const double before = held(b);
    double bytes = 0.0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        if (talus_solver_create(b->ctx, solver, &s) != TALUS_OK) stop(b);
        (void)snprintf(text, sizeof text, "%d", b->threads);
        set(b, s, "threads", text);
        set(b, s, "form", form);
        set(b, s, "tolerance", "1e-300");
        for (int k = 0; k < 2; k++) {
            const double start = now(b);
            if (talus_solver_prepare(s, p) != TALUS_OK) stop(b);
            least[k] = fmin(least[k], now(b) - start);
        }
        bytes = held(b) - before;
        for (int k = 0; k < 2; k++) {
            memset(b->r, 0, (size_t)b->def.count * 3 * sizeof *b->r);
            (void)snprintf(text, sizeof text, "%d", 5 + k * ITERATIONS);
            set(b, s, "iterations", text);
            const double start = now(b);
            if (talus_solver_solve(s, b->r, &info) != TALUS_OK) stop(b);
            least[2 + k] = fmin(least[2 + k], now(b) - start);
        }
        talus_solver_destroy(s);
    }
    talus_problem_destroy(p);
    (void)snprintf(text, sizeof text, "%s %s prepare", solver, form);
    report(b, text, least[0], bytes);
    (void)snprintf(text, sizeof text, "%s %s prepare again", solver, form);
    report(b, text, least[1], bytes);
    (void)snprintf(text, sizeof text, "%s %s iteration", solver, form);
    report(b, text, (least[3] - least[2]) / ITERATIONS, bytes);
}

static void bench_size(talus_context *ctx, double contacts, double mu, int threads) {
    const int diagonals = mu > 0.0 ? 0 : 4;
    const int32_t side = (int32_t)lround(cbrt(contacts / (3.0 + diagonals)));
    const packing_def def = {.dim = 3,
                             .nx = side,
                             .ny = side,
                             .nz = side,
                             .mu = mu,
                             .disorder = 0.1,
                             .speed = 0.01,
                             .seed = 1,
                             .diagonals = diagonals};
    rigid scene;
    bench b = {.ctx = ctx, .threads = 1};
    packing_build(&def, &scene);
    b.r = calloc((size_t)scene.contacts * 3 + 1, sizeof *b.r);
    if (!rigid_define(&scene, NULL, &b.def) || !b.r) exit(1);
    if (mu > 0.0) bench_problem(&b);
    for (b.threads = 1; b.threads <= threads; b.threads++) {
        if (mu > 0.0) bench_solver(&b, "nlgs", "assembled");
        if (mu > 0.0) bench_solver(&b, "nlgs", "matrix-free");
        bench_solver(&b, "apgd-ar", "assembled");
        bench_solver(&b, "apgd-ar", "matrix-free");
    }
    free(b.r);
    rigid_clear(&scene);
}

int main(int argc, char **argv) {
    const double most = argc > 1 ? strtod(argv[1], NULL) : 1e6;
    const int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 2;
    talus_context *ctx;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    printf("what,contacts,mu,threads,ns_per_contact,bytes_per_contact\n");
    for (double contacts = 1e4; contacts <= 1.01 * most; contacts *= 10.0) {
        bench_size(ctx, contacts, 0.5, threads);
        bench_size(ctx, contacts, 0.0, threads);
    }
    talus_context_destroy(ctx);
    return 0;
}
