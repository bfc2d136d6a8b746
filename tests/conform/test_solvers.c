// SPDX-License-Identifier: Apache-2.0
// One suite for every solver of the registry, through the public interface only. What they return
// is judged by dense code of the tests.
// ctest shards: 4
#define _GNU_SOURCE // nanosleep
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/context.h"
#include "base/rng.h"
#include "support/context.h"
#include "support/packing.h"
#include "support/solve_cases.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Command line: names of solvers, only these; or k/n, every n-th of them, from the k-th on;
// nothing: all.
static char **only;
static int only_count, shard = 1, shards = 1;

static bool wanted(const char *name, int32_t index) {
    if (index % shards != shard - 1) return false;
    for (int k = 0; k < only_count; k++)
        if (strcmp(only[k], name) == 0) return true;
    return only_count == 0;
}

#define EACH_SOLVER(name)                                                                          \
    const char *name, *name##_summary;                                                             \
    for (int32_t name##_k = 0; talus_solver_at(name##_k, &name, &name##_summary); name##_k++)      \
        if (wanted(name, name##_k))

// Solvers that are not for every problem, or not of the kind that goes on for ever. What is not
// in this table takes all dimensions, and gets better with each iteration.
typedef struct special {
    const char *name;
    int most_dim; // blocks of a larger size must be refused; tests use their twins of this size
    bool direct;  // ends by itself, with a finite number of steps that need not get better
} special;
static const special specials[] = {{.name = "lemke", .most_dim = 2, .direct = true}};

static special special_of(const char *name) {
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++)
        if (strcmp(specials[k].name, name) == 0) return specials[k];
    return (special){.name = name, .most_dim = 6};
}

// The dimension, or the largest that the solver takes.
static int dim_for(const char *name, int d) {
    const int most = special_of(name).most_dim;
    return d < most ? d : most;
}

// The solver refuses p, in words that name a remedy, and cannot be used after it.
static void assert_refused(const char *name, const talus_problem *p) {
    talus_solver *s = NULL;
    talus_solve_info info;
    double r[54] = {0.0};
    assert_int_equal(talus_solver_create(ctx, name, &s), TALUS_OK);
    assert_int_equal(talus_solver_prepare(s, p), TALUS_ERR_UNSUPPORTED);
    assert_non_null(strstr(talus_context_last_error(ctx), name));
    assert_non_null(strstr(talus_context_last_error(ctx), "nlgs"));
    assert_int_equal(talus_solver_solve(s, r, &info), TALUS_ERR_ARG);
    talus_solver_destroy(s);
}

// A problem whose measure never becomes 1e-300: too many contacts for all to be exact by luck. Its
// twin in the plane takes more than 60 pivots. One that a direct method does not end within the
// time of the tests on limits.
static const double big_mu = 0.5;
static const packing_def big = {
    .dim = 3, .nx = 5, .ny = 5, .nz = 3, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 5};
static const packing_def big_plane = {
    .dim = 2, .nx = 8, .ny = 1, .nz = 6, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 5};
static const packing_def slow_plane = {
    .dim = 2, .nx = 20, .ny = 1, .nz = 8, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 5};
static const char endless[] = "tolerance=1e-300 ?patience=0 ";

static talus_problem *make_packing(const packing_def *def) {
    talus_problem *p = NULL;
    assert_int_equal(packing_create(ctx, def, &p), TALUS_OK);
    return p;
}

static talus_problem *make_big(const char *name) {
    talus_problem *p = make_packing(&big);
    if (special_of(name).most_dim >= 3) return p;
    assert_refused(name, p);
    talus_problem_destroy(p);
    return make_packing(&big_plane);
}

static talus_problem *make_slow(const char *name) {
    return special_of(name).direct ? make_packing(&slow_plane) : make_big(name);
}

static talus_solver *make_solver(const char *name, const char *options, const talus_problem *p) {
    talus_solver *s = NULL;
    assert_int_equal(talus_solver_create(ctx, name, &s), TALUS_OK);
    solve_set(ctx, s, options);
    if (p) assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
    return s;
}

static bool same_bits(const double *a, const double *b, int64_t n) {
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static void registry(void **state) {
    (void)state;
    int32_t count = 0;
    bool nlgs = false, jacobi = false;
    const char *name, *name_summary;
    for (; talus_solver_at(count, &name, &name_summary); count++) {
        nlgs = nlgs || strcmp(name, "nlgs") == 0;
        jacobi = jacobi || strcmp(name, "jacobi") == 0;
        assert_true(strlen(name_summary) > 10);
        talus_solver *s = NULL;
        assert_int_equal(talus_solver_create(ctx, name, &s), TALUS_OK);
        talus_solver_destroy(s);
    }
    assert_true(nlgs && jacobi);
    assert_false(talus_solver_at(count, &name, &name_summary));
    assert_false(talus_solver_at(-1, &name, &name_summary));
    talus_solver *s = (talus_solver *)&count;
    assert_int_equal(talus_solver_create(ctx, "no-such", &s), TALUS_ERR_UNKNOWN);
    assert_null(s);
    assert_non_null(strstr(talus_context_last_error(ctx), "no-such"));
    assert_non_null(strstr(talus_context_last_error(ctx), "nlgs, jacobi")); // what there is
    talus_solver_destroy(NULL);
    const char *text[] = {"solved",   "iteration limit", "time limit",        "stalled",
                          "diverged", "cancelled",       "no solution exists"};
    for (int k = 0; k < 7; k++) assert_string_equal(talus_outcome_text((talus_outcome)k), text[k]);
    assert_string_equal(talus_outcome_text((talus_outcome)99), "unknown outcome");
}

// No contact: solved at once, whatever the form.
static void empty(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        for (int kind = 0; kind < SOLVE_KINDS; kind++)
            for (int d = 2; d <= 6; d += d == 3 ? 3 : 1) {
                solve_case c;
                solve_case_make(ctx, &(solve_def){.kind = (solve_kind)kind, .dim = d}, &c);
                double r[1] = {42.0};
                if (d > special_of(name).most_dim) {
                    assert_refused(name, c.problem);
                    solve_case_clear(&c);
                    continue;
                }
                const talus_solve_info info = solve_with(ctx, name, "", c.problem, r);
                assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
                assert_true(info.measure == 0.0);
                assert_true(r[0] == 42.0);
                solve_case_clear(&c);
            }
    }
}

// Random problems of every form, law and dimension.
static void random_problems(void **state) {
    (void)state;
    const double friction[] = {0.0, 0.3, -1.0};
    EACH_SOLVER(name) {
        for (int kind = 0; kind < SOLVE_KINDS; kind++)
            for (int d = 2; d <= 6; d += d == 3 ? 3 : 1)
                for (int trial = 0; trial < 18; trial++) {
                    const int sizes[] = {1, 2, 9};
                    const solve_def def = {.kind = (solve_kind)kind,
                                           .dim = d,
                                           .count = sizes[trial % 3],
                                           .mu = friction[trial / 3 % 3],
                                           .coupling = 0.15,
                                           .associated = trial >= 9,
                                           .seed = (uint64_t)trial};
                    solve_case c;
                    solve_case_make(ctx, &def, &c);
                    double r[54] = {0.0};
                    if (d > special_of(name).most_dim) {
                        assert_refused(name, c.problem);
                        solve_case_clear(&c);
                        continue;
                    }
                    const talus_solve_info info = solve_with(ctx, name, "", c.problem, r);
                    const double natural = solve_case_natural(&c, r);
                    if (info.outcome != TALUS_OUTCOME_SOLVED || !(natural <= 1.001e-8))
                        fail_msg("%s kind %d d %d trial %d: %s, natural %g after %d", name, kind, d,
                                 trial, talus_outcome_text(info.outcome), natural, info.iterations);
                    assert_true(fabs(natural - info.measure) <= 1e-13 + 1e-6 * natural);
                    for (int i = 0; i < c.count; i++) { // no friction: no tangential impulse
                        if (c.mu[i] != 0.0) continue;
                        for (int k = 1; k < d; k++) assert_true(fabs(r[i * d + k]) <= 1e-8);
                    }
                    solve_case_clear(&c);
                }
    }
}

// A solution given as start is kept, and `warm=no` does not look at the start.
static void warm_start(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        for (uint64_t seed = 0; seed < 10; seed++) {
            const solve_def def = {.kind = SOLVE_GLOBAL,
                                   .dim = dim_for(name, 3),
                                   .count = 8,
                                   .mu = -1.0,
                                   .coupling = 0.15,
                                   .seed = seed};
            solve_case c;
            solve_case_make(ctx, &def, &c);
            double r[24] = {0.0}, again[24], cold[24] = {0.0}, other[24];
            const talus_solve_info first = solve_with(ctx, name, "", c.problem, r);
            assert_true(first.iterations > 0);
            memcpy(again, r, sizeof r);
            const talus_solve_info info = solve_with(ctx, name, "", c.problem, again);
            assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
            assert_true(info.iterations <= 1);
            assert_true(solve_case_natural(&c, again) <= solve_case_natural(&c, r));
            // From a start that is far off the same u is reached.
            tl_rng rng = {.state = seed};
            for (int k = 0; k < c.size; k++) again[k] = other[k] = 10.0 * tl_rng_normal(&rng);
            assert_int_equal(solve_with(ctx, name, "", c.problem, again).outcome,
                             TALUS_OUTCOME_SOLVED);
            assert_true(solve_case_natural(&c, again) <= 1.001e-8);

            talus_solver *s = make_solver(name, "", c.problem);
            if (talus_solver_set(s, "warm", "no") == TALUS_OK) {
                talus_solve_info blind;
                assert_int_equal(talus_solver_prepare(s, c.problem), TALUS_OK);
                assert_int_equal(talus_solver_solve(s, other, &blind), TALUS_OK);
                assert_int_equal(talus_solver_solve(s, cold, &blind), TALUS_OK);
                assert_true(same_bits(other, cold, c.size));
                assert_true(same_bits(other, r, c.size));
            }
            talus_solver_destroy(s);
            solve_case_clear(&c);
        }
    }
}

typedef struct record {
    int32_t calls, last;
    double least, first, seconds;
    bool ordered;
} record;

static void watch(void *user, int32_t iteration, double measure, double seconds) {
    record *w = user;
    if (w->calls == 0) {
        w->first = w->least = measure;
        w->ordered = true;
    }
    w->ordered = w->ordered && iteration >= w->last && seconds >= w->seconds;
    w->last = iteration;
    w->seconds = seconds;
    w->least = fmin(w->least, measure);
    w->calls++;
}

// The limit on iterations; r is the best iterate; the facts of the solve are filled in.
static void iteration_limit(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        talus_problem *p = make_big(name);
        const talus_problem_info facts = talus_problem_get_info(p);
        const int64_t size = (int64_t)facts.dim * facts.count;
        double *r = solve_room(size);
        const int32_t limits[] = {0, 1, 7, 60};
        double last = INFINITY;
        for (int k = 0; k < 4; k++) {
            char options[96];
            (void)snprintf(options, sizeof options, "%siterations=%d check=1", endless, limits[k]);
            talus_solver *s = make_solver(name, options, p);
            record seen = {0};
            talus_solver_set_monitor(s, watch, &seen);
            memset(r, 0, (size_t)size * sizeof *r);
            talus_solve_info info;
            memset(&info, 0xa5, sizeof info);
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
            assert_int_equal(info.outcome, TALUS_OUTCOME_ITERATION_LIMIT);
            assert_int_equal(info.iterations, limits[k]);
            assert_int_equal(seen.last, limits[k]);
            assert_true(seen.calls == limits[k] + 1 && seen.ordered);
            assert_true(info.measure == seen.least);
            // Newton methods are at rounding level before the last limit.
            const bool less = special_of(name).direct || last < 1e-12 ? info.measure <= last
                                                                      : info.measure < last;
            assert_true(less);
            last = info.measure;
            const double natural = solve_natural(p, big_mu, r);
            assert_true(fabs(natural - info.measure) <= 1e-13 + 1e-9 * natural);
            assert_true(info.prepare_seconds > 0.0 && info.prepare_seconds < 5.0);
            assert_true(info.solve_seconds > 0.0 && info.solve_seconds < 5.0);
            assert_true(info.memory > (size_t)size * sizeof *r && info.memory < ((size_t)1 << 28));
            assert_true(info.local_solves >= 0 && info.local_failures >= 0);
            assert_true(info.local_failures <= info.local_solves);
            talus_solver_destroy(s);
        }
        free(r);
        talus_problem_destroy(p);
    }
}

// From a start better than anything a few iterations reach, the start comes back.
static void best_iterate(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        talus_problem *p = make_big(name);
        const talus_problem_info facts = talus_problem_get_info(p);
        const int64_t size = (int64_t)facts.dim * facts.count;
        double *r = solve_room(size), *start = solve_room(size);
        memset(r, 0, (size_t)size * sizeof *r);
        assert_int_equal(solve_with(ctx, name, "tolerance=1e-3", p, r).outcome,
                         TALUS_OUTCOME_SOLVED);
        memcpy(start, r, (size_t)size * sizeof *r);
        char options[96];
        (void)snprintf(options, sizeof options, "%siterations=5 check=1", endless);
        const talus_solve_info info = solve_with(ctx, name, options, p, r);
        assert_true(info.measure <= 1e-3);
        assert_true(solve_natural(p, big_mu, r) <= solve_natural(p, big_mu, start) * (1 + 1e-9));
        free(r);
        free(start);
        talus_problem_destroy(p);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void time_limit(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        talus_problem *p = make_slow(name);
        const talus_problem_info facts = talus_problem_get_info(p);
        const int64_t size = (int64_t)facts.dim * facts.count;
        double *r = solve_room(size);
        const double limits[] = {0.0, 0.03};
        for (int k = 0; k < 2; k++) {
            char options[96];
            (void)snprintf(options, sizeof options, "%stime_limit=%g", endless, limits[k]);
            talus_solver *s = make_solver(name, options, p);
            record seen = {0};
            talus_solver_set_monitor(s, watch, &seen);
            memset(r, 0, (size_t)size * sizeof *r);
            talus_solve_info info;
            const double start = now();
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
            const double took = now() - start;
            assert_int_equal(info.outcome, TALUS_OUTCOME_TIME_LIMIT);
            assert_true(took <= limits[k] + 0.2);
            assert_true(took + info.prepare_seconds >= limits[k]);
            assert_true(fabs(took - info.solve_seconds) <= 0.01);
            assert_true(info.measure == seen.least);
            const double natural = solve_natural(p, big_mu, r); // r is what was measured
            assert_true(fabs(natural - info.measure) <= 1e-13 + 1e-9 * natural);
            talus_solver_destroy(s);
        }
        free(r);
        talus_problem_destroy(p);
    }
}

typedef struct canceller {
    double at; // when the wish was made
} canceller;

static void *cancel_later(void *arg) {
    canceller *c = arg;
    nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL);
    c->at = now();
    talus_context_cancel(ctx, true);
    return NULL;
}

static void cancellation(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        talus_problem *p = make_slow(name);
        const talus_problem_info facts = talus_problem_get_info(p);
        const int64_t size = (int64_t)facts.dim * facts.count;
        double *r = solve_room(size);
        talus_solver *s = make_solver(name, endless, p);
        record seen = {0};
        talus_solver_set_monitor(s, watch, &seen);
        memset(r, 0, (size_t)size * sizeof *r);
        canceller c = {0.0};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_later, &c), 0);
        talus_solve_info info;
        assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
        const double end = now();
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(info.outcome, TALUS_OUTCOME_CANCELLED);
        assert_true(end - c.at >= 0.0 && end - c.at <= 0.2);
        for (int64_t k = 0; k < size; k++) assert_true(isfinite(r[k]));
        assert_true(info.measure == seen.least);
        const double natural = solve_natural(p, big_mu, r);
        assert_true(fabs(natural - info.measure) <= 1e-13 + 1e-9 * natural);
        // The wish stands until it is taken back.
        memset(r, 0, (size_t)size * sizeof *r);
        assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
        assert_int_equal(info.outcome, TALUS_OUTCOME_CANCELLED);
        assert_true(info.iterations <= 1);
        talus_context_cancel(ctx, false);
        solve_set(ctx, s, "tolerance=1e-3 ?patience=100"); // endless had taken it away
        assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
        assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        talus_solver_destroy(s);
        free(r);
        talus_problem_destroy(p);
    }
}

static void no_allocation(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        talus_problem *p = make_big(name);
        const talus_problem_info facts = talus_problem_get_info(p);
        const int64_t size = (int64_t)facts.dim * facts.count;
        double *r = solve_room(size);
        // With a team a few iterations do: each of them waits for the others.
        const char *options[] = {"tolerance=1e-3 ?ready=yes",
                                 "tolerance=1e-3 threads=3 ?ready=yes ?order=coloured iterations=4",
                                 "tolerance=1e-3 ?ready=yes ?form=matrix-free ?sleep=5"};
        for (int k = 0; k < 3; k++) {
            talus_solver *s = make_solver(name, options[k], p);
            for (int repeat = 0; repeat < 2; repeat++) {
                const int64_t before = tl_alloc_count(ctx), requests = memory.requests;
                memset(r, 0, (size_t)size * sizeof *r);
                talus_solve_info info;
                assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
                if (k != 1) assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
                assert_true(tl_alloc_count(ctx) == before && memory.requests == requests);
            }
            talus_solver_destroy(s);
        }
        free(r);
        talus_problem_destroy(p);
    }
}

static void misuse(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        solve_case c;
        solve_case_make(ctx,
                        &(solve_def){.kind = SOLVE_LOCAL,
                                     .dim = dim_for(name, 3),
                                     .count = 5,
                                     .mu = 0.4,
                                     .coupling = 0.1},
                        &c);
        double r[15] = {0.0};
        talus_solve_info info;
        talus_solver *s = make_solver(name, "", NULL);
        assert_int_equal(talus_solver_solve(s, r, &info), TALUS_ERR_ARG);
        assert_non_null(strstr(talus_context_last_error(ctx), "prepare"));
        assert_int_equal(talus_solver_prepare(s, c.problem), TALUS_OK);
        const double bad[] = {NAN, INFINITY, -INFINITY};
        for (int k = 0; k < 3; k++) {
            memset(r, 0, sizeof r);
            r[9] = bad[k];
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_ERR_ARG);
            assert_non_null(strstr(talus_context_last_error(ctx), "r[9]"));
        }
        r[9] = 0.0;
        assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_int_equal(talus_solver_set(s, "no-such", "1"), TALUS_ERR_UNKNOWN);
        assert_non_null(strstr(talus_context_last_error(ctx), "no-such"));
        assert_non_null(strstr(talus_context_last_error(ctx), "tolerance, ")); // what there is
        // A prepare that is refused leaves the solver as if none had been made.
        if (talus_solver_set(s, "form", "matrix-free") == TALUS_OK) {
            assert_int_equal(talus_solver_prepare(s, c.problem), TALUS_ERR_ARG);
            assert_non_null(strstr(talus_context_last_error(ctx), "matrix-free"));
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_ERR_ARG);
        }
        talus_solver_destroy(s);
        solve_case_clear(&c);
    }
}

// One solver object for problems of several sizes, dimensions and forms in turn gives what a fresh
// one gives.
static void prepare_again(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        talus_solver *s = make_solver(name, "", NULL);
        for (uint64_t k = 0; k < 24; k++) {
            const int sizes[] = {9, 2, 0, 5}, dims[] = {3, 6, 2};
            const solve_def def = {.kind = (solve_kind)(k % SOLVE_KINDS),
                                   .dim = dim_for(name, dims[k % 3]),
                                   .count = sizes[k % 4],
                                   .mu = -1.0,
                                   .coupling = 0.15,
                                   .seed = 100 + k};
            solve_case c;
            solve_case_make(ctx, &def, &c);
            double r[54] = {0.0}, fresh[54] = {0.0};
            talus_solve_info info;
            assert_int_equal(talus_solver_prepare(s, c.problem), TALUS_OK);
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
            assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
            const talus_solve_info other = solve_with(ctx, name, "", c.problem, fresh);
            assert_true(same_bits(r, fresh, c.size));
            assert_int_equal(info.iterations, other.iterations);
            solve_case_clear(&c);
        }
        talus_solver_destroy(s);
    }
}

// The law may be changed between solves of one prepared problem, after another prepare.
static void law_change(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        const solve_def def = {
            .kind = SOLVE_GLOBAL, .dim = dim_for(name, 3), .count = 6, .mu = 0.5, .coupling = 0.15};
        solve_case c;
        solve_case_make(ctx, &def, &c);
        talus_solver *s = make_solver(name, "", c.problem);
        for (int k = 0; k < 4; k++) {
            double r[18] = {0.0};
            talus_solve_info info;
            c.def.associated = k % 2 == 1;
            talus_problem_set_law(c.problem, k % 2 == 1 ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
            assert_int_equal(talus_solver_prepare(s, c.problem), TALUS_OK);
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
            assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
            assert_true(solve_case_natural(&c, r) <= 1.001e-8);
            c.def.associated = !c.def.associated; // and it is not a solution of the other one
            assert_true(solve_case_natural(&c, r) > 1e-3);
        }
        talus_solver_destroy(s);
        solve_case_clear(&c);
    }
}

// Units. Powers of four scale W, q, r and their square roots without rounding: the dimensionless
// residual, the iterations and the bits of r must follow. Other factors: same outcome, same r.
static void units(void **state) {
    (void)state;
    const double lengths[] = {0x1p-20, 0x1p+40, 0x1p-4, 1e-3},
                 masses[] = {0x1p+8, 0x1p+30, 0x1p+20, 7e4};
    EACH_SOLVER(name) {
        for (int kind = 0; kind < SOLVE_KINDS; kind++)
            for (int d = 2; d <= special_of(name).most_dim; d += d == 3 ? 3 : 1)
                for (int k = 0; k < 4; k++) {
                    const char *options = "stop=residual tolerance=1e-9 check=1";
                    solve_def def = {.kind = (solve_kind)kind,
                                     .dim = d,
                                     .count = 7,
                                     .mu = -1.0,
                                     .coupling = 0.15,
                                     .seed = 31};
                    solve_case c, scaled;
                    solve_case_make(ctx, &def, &c);
                    def.length = lengths[k];
                    def.mass = masses[k];
                    solve_case_make(ctx, &def, &scaled);
                    double r[42] = {0.0}, x[42] = {0.0};
                    const talus_solve_info one = solve_with(ctx, name, options, c.problem, r);
                    const talus_solve_info two = solve_with(ctx, name, options, scaled.problem, x);
                    assert_int_equal(one.outcome, TALUS_OUTCOME_SOLVED);
                    assert_int_equal(two.outcome, TALUS_OUTCOME_SOLVED);
                    for (int i = 0; i < c.size; i++) x[i] /= lengths[k] * masses[k];
                    if (k < 3) {
                        if (one.iterations != two.iterations || !same_bits(r, x, c.size))
                            fail_msg("%s kind %d d %d scale %d: %d and %d iterations", name, kind,
                                     d, k, one.iterations, two.iterations);
                        assert_true(one.measure == two.measure);
                    }
                    // Only where a method restarts or adapts its step may rounding turn a decision.
                    const bool adapts = strncmp(name, "apgd", 4) == 0 ||
                                        strcmp(name, "vi-eg") == 0 || strstr(name, "spg") ||
                                        strcmp(name, "projected-gradient") == 0;
                    assert_true(abs(one.iterations - two.iterations) <=
                                (adapts ? 1 + one.iterations / 10 : 1));
                    // r is unique here (W positive definite, small coupling) to what the tolerance
                    // leaves open.
                    for (int i = 0; i < c.size; i++) assert_true(fabs(x[i] - r[i]) <= 1e-6);
                    solve_case_clear(&c);
                    solve_case_clear(&scaled);
                }
    }
}

// Let request 1, 2, 3 … of create + set + prepare + solve fail. Each must be told as such, undo
// itself, and leave a solver that can be prepared.
static void sweep_memory(const char *name, const char *options, const solve_def *def) {
    for (int64_t k = 1;; k++) {
        test_alloc m = {0};
        const talus_context_def context_def = test_alloc_def(&m);
        talus_context *own = NULL;
        talus_solver *s = NULL;
        talus_solve_info info;
        solve_case c;
        double r[54] = {0.0};
        assert_int_equal(talus_context_create(&context_def, &own), TALUS_OK);
        solve_case_make(own, def, &c);
        const int64_t live = m.live;
        m.fail_at = m.requests + k;
        talus_status status = talus_solver_create(own, name, &s);
        if (status == TALUS_OK) {
            solve_set(own, s, options);
            status = talus_solver_prepare(s, c.problem);
            if (status == TALUS_OK) {
                status = talus_solver_solve(s, r, &info);
            } else {
                assert_int_equal(talus_solver_solve(s, r, &info), TALUS_ERR_ARG);
                m.fail_at = 0;
                assert_int_equal(talus_solver_prepare(s, c.problem), TALUS_OK);
                assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
                assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
                assert_true(solve_case_natural(&c, r) <= 1.001e-8);
            }
        } else {
            assert_null(s);
            assert_true(m.live == live);
        }
        const bool done = status == TALUS_OK;
        assert_true(done || status == TALUS_ERR_MEMORY);
        if (!done) assert_true(strlen(talus_context_last_error(own)) > 0);
        if (done) assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        talus_solver_destroy(s);
        if (!strstr(options, "threads")) assert_true(m.live == live); // a team stays in the context
        solve_case_clear(&c);
        talus_context_destroy(own);
        assert_true(m.live == 0 && m.bad_releases == 0);
        if (done) {
            assert_true(k > 5);
            return;
        }
    }
}

static bool has_option(const char *name, const char *key) {
    talus_option_info info;
    for (int32_t k = 0; talus_solver_option_at(name, k, &info); k++)
        if (strcmp(info.key, key) == 0) return true;
    return false;
}

static void allocation_failure(void **state) {
    (void)state;
    EACH_SOLVER(name) {
        const char *options[] = {"", "?form=matrix-free", "?order=coloured ?sleep=3",
                                 "?order=coloured ?local=sbp ?form=matrix-free threads=2"};
        const bool order = has_option(name, "order");
        const bool other[] = {true, has_option(name, "form"), order, order};
        for (int k = 0; k < 4; k++)
            // With a team one kind is enough: waits for each other cost more than the solves.
            for (int kind = SOLVE_GLOBAL;
                 other[k] && kind < (k < 3 ? SOLVE_KINDS : SOLVE_GLOBAL + 1); kind++)
                sweep_memory(name, options[k],
                             &(solve_def){.kind = (solve_kind)kind,
                                          .dim = dim_for(name, 3),
                                          .count = 9,
                                          .mu = 0.4,
                                          .coupling = 0.1,
                                          .tension = k == 1});
        const solve_def local = {
            .kind = SOLVE_LOCAL, .dim = 2, .count = 9, .mu = 0.4, .coupling = 0.1, .tension = true};
        sweep_memory(name, "?order=coloured", &local);
    }
}

int main(int argc, char **argv) {
    if (argc == 2 && sscanf(argv[1], "%d/%d", &shard, &shards) == 2) argc = 1;
    only = argv + 1;
    only_count = argc - 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(registry, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_problems, set_up, tear_down),
        cmocka_unit_test_setup_teardown(warm_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(iteration_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(best_iterate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancellation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_allocation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(misuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(prepare_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(law_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(allocation_failure, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
