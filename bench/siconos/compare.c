// SPDX-License-Identifier: Apache-2.0
// Talus' nlgs beside the fastest NSGS set-up of Siconos on each problem, at one natural residual.
//
//     compare [--tol T] [--problems DIR] [--only NAME] [--csv FILE] [--limit S]
//
// Both start from zero, on one thread, and both answers are judged by the same residual, computed
// here. Siconos' own stop test divides by another norm, so for each set-up the loosest tolerance
// whose answer passes is looked for first; only the solve with that tolerance is timed. The best
// set-up therefore is one that no user could know beforehand. A time is the least of many
// repeats. Every measurement runs in a process of its own, which a time limit
// ends: Siconos may print, exit or never return.
#define _GNU_SOURCE
#include "cases.h"
#include <dirent.h>
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

#ifndef SICONOS_VERSION
#define SICONOS_VERSION "of unknown version"
#endif

enum { FILE_LIMIT = 4096, SETUP_LIMIT = 64, PATIENT_SETUPS = 6, FINALISTS = 3 };
static const double COUNTED_MS = 0.1; // below this a time is noise and no ratio is counted

typedef struct run_options {
    double tol, limit;
    const char *problems, *only, *csv;
    int argc;
    char **argv; // the command, for the head of the table
} run_options;

// One measurement, in memory shared with the process that makes it: what was reached before a
// limit struck is kept.
typedef struct measured {
    double seconds; // INFINITY: the tolerance was not reached
    double natural, inner_tol;
    int sweeps, repeats;
} measured;

typedef struct task {
    talus_context *ctx;
    const bench_case *c;
    const run_options *options;
    siconos_setup setup;
    double inner_tol; // 0: to be found
    double budget;    // seconds of repeats, with all that is done around the timed part
    int least;        // repeats at least, unless they take over ten times the budget
    const char *path;
} task;

typedef struct row {
    char name[128];
    bench_form form;
    int dim, contacts;
    measured talus, siconos;
    char setup[96];
    double ratio; // 0: not comparable
} row;

static bool enough(const task *t, double spent, int repeats) {
    if (repeats >= 3 && spent >= 10.0 * t->budget) return true;
    return repeats >= t->least && spent >= t->budget;
}

// The loosest of Siconos' tolerances whose answer passes: down by half decades, then bisected.
static double find_tolerance(const task *t, siconos_problem *p, double *r) {
    const double step = sqrt(10.0);
    double tol = 1.0;
    int sweeps = 0;
    for (; tol > 1e-15; tol /= step) {
        siconos_solve(p, tol, r, &sweeps);
        if (bench_natural(t->c, r) <= t->options->tol) break;
    }
    if (tol <= 1e-15) return 0.0;
    double above = tol * step;
    for (int k = 0; k < 3 && tol < 1.0; k++) {
        const double middle = sqrt(tol * above);
        siconos_solve(p, middle, r, &sweeps);
        if (bench_natural(t->c, r) <= t->options->tol)
            tol = middle;
        else
            above = middle;
    }
    return tol;
}

static void measure_siconos(const task *t, measured *out) {
    double *r = calloc((size_t)(t->c->dim * t->c->count), sizeof *r);
    siconos_problem *p = siconos_problem_create(t->c, &t->setup);
    if (!p || !r) return;
    const double tol = t->inner_tol > 0.0 ? t->inner_tol : find_tolerance(t, p, r);
    out->inner_tol = tol;
    if (tol <= 0.0) return;
    const double start = bench_seconds();
    for (int k = 1; k == 1 || !enough(t, bench_seconds() - start, k - 1); k++) {
        int sweeps = 0;
        const double seconds = siconos_solve(p, tol, r, &sweeps);
        const double natural = bench_natural(t->c, r);
        if (!(natural <= t->options->tol)) return;
        out->natural = natural;
        out->sweeps = sweeps;
        out->repeats = k;
        if (seconds < out->seconds) out->seconds = seconds;
    }
}

// Factoring M belongs to the global form, and is done when the problem is made.
static double talus_setup_seconds(const task *t) {
    double least = INFINITY;
    if (t->c->form != BENCH_GLOBAL) return 0.0;
    for (int k = 0; k < 10; k++) {
        talus_problem *p = NULL;
        if (talus_fclib_read(t->ctx, t->path, &p, NULL) != TALUS_OK) break;
        const double seconds = talus_problem_get_info(p).setup_seconds;
        least = seconds < least ? seconds : least;
        talus_problem_destroy(p);
    }
    return least;
}

static void measure_talus(const task *t, measured *out) {
    double *r = calloc((size_t)(t->c->dim * t->c->count), sizeof *r);
    const size_t bytes = (size_t)(t->c->dim * t->c->count) * sizeof *r;
    talus_solver *s = NULL;
    talus_solve_info info;
    char text[32];
    snprintf(text, sizeof text, "%.17g", t->options->tol);
    if (!r || talus_solver_create(t->ctx, "nlgs", &s) != TALUS_OK) return;
    if (talus_solver_set(s, "tolerance", text) != TALUS_OK) return;
    if (talus_solver_set(s, "threads", "1") != TALUS_OK) return;
    const double setup = talus_setup_seconds(t);
    const double start = bench_seconds();
    for (int k = 1; k == 1 || !enough(t, bench_seconds() - start, k - 1); k++) {
        memset(r, 0, bytes);
        const double begin = bench_seconds();
        if (talus_solver_prepare(s, t->c->problem) != TALUS_OK) return;
        if (talus_solver_solve(s, r, &info) != TALUS_OK) return;
        const double seconds = bench_seconds() - begin;
        const double natural = bench_natural(t->c, r);
        out->natural = natural;
        out->sweeps = info.iterations;
        out->repeats = k;
        if (!(natural <= t->options->tol)) return;
        if (seconds + setup < out->seconds) out->seconds = seconds + setup;
    }
}

// Run `measure` in a process of its own for `limit` seconds at most.
static measured guarded(void (*measure)(const task *, measured *), const task *t, double limit) {
    measured *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) exit(1);
    *shared = (measured){.seconds = INFINITY, .natural = NAN};
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        const struct itimerval timer = {
            .it_value = {.tv_sec = (time_t)limit,
                         .tv_usec = (suseconds_t)(1e6 * fmod(limit, 1.0))}};
        setitimer(ITIMER_REAL, &timer, NULL);
        measure(t, shared);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    const measured out = *shared;
    munmap(shared, sizeof *shared);
    return out;
}

typedef struct candidate {
    siconos_setup setup;
    measured result;
} candidate;

static int by_time(const void *a, const void *b) {
    const double x = ((const candidate *)a)->result.seconds;
    const double y = ((const candidate *)b)->result.seconds;
    return (x > y) - (x < y);
}

// The first `most` set-ups, each for long enough to matter: the search for its tolerance costs a
// few dozen solves, so one that is not through after many times the best solve so far cannot win.
static int try_setups(task t, int most, double patience, candidate *all) {
    double best = INFINITY;
    int count = 0;
    t.least = 3;
    t.budget = 0.01;
    for (; count < most && siconos_setup_at(t.c, count, &t.setup); count++) {
        if (t.c->form == BENCH_GLOBAL) t.setup.storage = SICONOS_SPARSE;
        const double limit = isfinite(best) ? fmax(0.25, 40.0 * best) : patience;
        all[count].setup = t.setup;
        all[count].result = guarded(measure_siconos, &t, fmin(limit, t.options->limit));
        best = fmin(best, all[count].result.seconds);
    }
    return isfinite(best) ? count : 0;
}

// Every set-up briefly, then the best few at length in every storage of W.
static void best_siconos(task t, row *out) {
    candidate all[SETUP_LIMIT];
    int count = try_setups(t, SETUP_LIMIT, 2.0, all);
    if (count == 0) count = try_setups(t, PATIENT_SETUPS, t.options->limit, all);
    qsort(all, (size_t)count, sizeof *all, by_time);
    t.least = 20;
    t.budget = 0.15;
    for (int k = 0; k < count && k < FINALISTS; k++) {
        if (!isfinite(all[k].result.seconds)) break;
        for (int storage = 0; storage < 3; storage++) {
            if (!siconos_takes(t.c, (siconos_storage)storage)) continue;
            t.setup = all[k].setup;
            t.setup.storage = (siconos_storage)storage;
            t.inner_tol = all[k].result.inner_tol;
            const measured m = guarded(measure_siconos, &t, t.options->limit);
            if (!(m.seconds < out->siconos.seconds)) continue;
            out->siconos = m;
            siconos_setup_name(t.c, &t.setup, out->setup, sizeof out->setup);
        }
    }
}

static void compare_one(talus_context *ctx, const run_options *options, const char *path,
                        const bench_case *c, row *out) {
    task t = {.ctx = ctx, .c = c, .options = options, .path = path, .least = 20, .budget = 0.3};
    *out = (row){.form = c->form, .dim = c->dim, .contacts = c->count, .setup = "none"};
    memcpy(out->name, c->name, sizeof out->name);
    out->siconos = (measured){.seconds = INFINITY, .natural = NAN};
    const measured before = guarded(measure_talus, &t, options->limit);
    best_siconos(t, out);
    const measured after = guarded(measure_talus, &t, options->limit);
    out->talus = before.seconds < after.seconds ? before : after;
    if (isfinite(out->talus.seconds) && isfinite(out->siconos.seconds) && out->talus.seconds > 0.0)
        out->ratio = out->siconos.seconds / out->talus.seconds;
}

static const char *form_name(bench_form form) {
    return form == BENCH_LOCAL ? "local" : form == BENCH_GLOBAL ? "global" : "assembled";
}

static void print_head(FILE *csv) {
    printf("%-40s %-9s %1s %5s %10s %7s %8s %10s %7s %8s %8s  %s\n", "problem", "form", "d", "n",
           "talus ms", "sweeps", "natural", "siconos ms", "sweeps", "natural", "ratio", "set-up");
    fflush(stdout);
    if (csv)
        fprintf(csv, "problem,form,dim,contacts,talus_ms,talus_sweeps,talus_natural,"
                     "siconos_best_ms,siconos_setup,siconos_sweeps,siconos_natural,ratio\n");
}

static void print_time(FILE *to, const char *width, double seconds) {
    if (isfinite(seconds))
        fprintf(to, width, 1e3 * seconds);
    else
        fprintf(to, to == stdout ? " %10s" : "%s", "none");
}

static void print_row(FILE *csv, const row *r) {
    printf("%-40s %-9s %d %5d", r->name, form_name(r->form), r->dim, r->contacts);
    print_time(stdout, " %10.4g", r->talus.seconds);
    printf(" %7d %8.2g", r->talus.sweeps, r->talus.natural);
    print_time(stdout, " %10.4g", r->siconos.seconds);
    printf(" %7d %8.2g %8.3g  %s\n", r->siconos.sweeps, r->siconos.natural, r->ratio, r->setup);
    fflush(stdout);
    if (!csv) return;
    fprintf(csv, "%s,%s,%d,%d,", r->name, form_name(r->form), r->dim, r->contacts);
    print_time(csv, "%.5g", r->talus.seconds);
    fprintf(csv, ",%d,%.3g,", r->talus.sweeps, r->talus.natural);
    print_time(csv, "%.5g", r->siconos.seconds);
    fprintf(csv, ",%s,%d,%.3g,", r->setup, r->siconos.sweeps, r->siconos.natural);
    if (r->ratio > 0.0) fprintf(csv, "%.3g", r->ratio);
    fprintf(csv, "\n");
    fflush(csv);
}

// `which`: 0 all forms as their files give them; 1 with the global ones replaced by the assembled.
static void print_summary(const row *rows, int count, int which) {
    double log_sum = 0.0, worst = INFINITY;
    int counted = 0, below = 0, talus_none = 0, siconos_none = 0;
    const char *worst_name = "none";
    for (int k = 0; k < count; k++) {
        const row *r = &rows[k];
        if (r->form == (which == 0 ? BENCH_ASSEMBLED : BENCH_GLOBAL)) continue;
        talus_none += !isfinite(r->talus.seconds);
        siconos_none += !isfinite(r->siconos.seconds);
        if (!(r->ratio > 0.0) || 1e3 * r->siconos.seconds <= COUNTED_MS) continue;
        counted++;
        log_sum += log(r->ratio);
        below += r->ratio < 1.0;
        if (r->ratio < worst) {
            worst = r->ratio;
            worst_name = r->name;
        }
    }
    printf("%s: %d problems where Siconos takes over %.1f ms: geometric mean of Siconos / Talus "
           "%.3g, worst %.3g (%s), %d below 1; not solved: Talus %d, Siconos %d\n",
           which == 0 ? "as given" : "W given ", counted, COUNTED_MS,
           counted > 0 ? exp(log_sum / counted) : NAN, worst, worst_name, below, talus_none,
           siconos_none);
}

static void cpu_model(char *text, size_t size) {
    char line[256];
    FILE *info = fopen("/proc/cpuinfo", "r");
    snprintf(text, size, "unknown");
    while (info && fgets(line, sizeof line, info)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, size, "%s", colon + 2);
        break;
    }
    if (info) fclose(info);
}

static FILE *open_csv(const run_options *options) {
    if (!options->csv) return NULL;
    FILE *csv = fopen(options->csv, "w");
    if (!csv) {
        perror(options->csv);
        exit(1);
    }
    const talus_build build = talus_build_info();
    char cpu[160], date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    cpu_model(cpu, sizeof cpu);
    fprintf(csv, "# compare");
    for (int k = 1; k < options->argc; k++) fprintf(csv, " %s", options->argv[k]);
    fprintf(csv,
            "; tolerance %g; commit %s; %s, %ld cores, one used; %s; simd %s; Siconos %s; least of "
            "repeats; %s\n",
            options->tol, build.commit, cpu, sysconf(_SC_NPROCESSORS_ONLN), build.compiler,
            build.simd, SICONOS_VERSION, date);
    return csv;
}

static int is_problem(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".hdf5") == 0;
}

static int run_file(talus_context *ctx, const run_options *options, const char *path, FILE *csv,
                    row *rows) {
    int contacts = 0, made = 0;
    const bool global = bench_file_is_global(ctx, path, &contacts);
    if (contacts <= 0) return 0;
    const bench_form forms[] = {global ? BENCH_GLOBAL : BENCH_LOCAL, BENCH_ASSEMBLED};
    for (int k = 0; k < (global ? 2 : 1); k++) {
        bench_case c;
        if (!bench_case_create(ctx, path, forms[k], &c)) continue;
        compare_one(ctx, options, path, &c, &rows[made]);
        print_row(csv, &rows[made++]);
        bench_case_clear(&c);
    }
    return made;
}

static void run_all(talus_context *ctx, const run_options *options) {
    struct dirent **list = NULL;
    static row rows[2 * FILE_LIMIT];
    int count = 0;
    const int files = scandir(options->problems, &list, is_problem, alphasort);
    if (files <= 0) {
        fprintf(stderr, "%s: no problem files (*.hdf5) there; give --problems DIR\n",
                options->problems);
        exit(1);
    }
    FILE *csv = open_csv(options);
    print_head(csv);
    for (int k = 0; k < files && k < FILE_LIMIT; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", options->problems, list[k]->d_name);
        if (!options->only || strstr(list[k]->d_name, options->only))
            count += run_file(ctx, options, path, csv, rows + count);
        free(list[k]);
    }
    free(list);
    print_summary(rows, count, 0);
    print_summary(rows, count, 1);
    if (csv) fclose(csv);
}

int main(int argc, char **argv) {
    // OpenBLAS reads its thread count when it is loaded, so set it and start again.
    const char *blas = getenv("OPENBLAS_NUM_THREADS");
    if (!blas || strcmp(blas, "1") != 0) {
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    run_options options = {
        .tol = 1e-4, .argc = argc, .argv = argv, .problems = getenv("TALUS_PROBLEMS")};
    if (!options.problems) options.problems = "../shared/problems";
    for (int k = 1; k < argc; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--tol") == 0)
            options.tol = atof(value);
        else if (strcmp(argv[k], "--limit") == 0)
            options.limit = atof(value);
        else if (strcmp(argv[k], "--problems") == 0)
            options.problems = value;
        else if (strcmp(argv[k], "--only") == 0)
            options.only = value;
        else if (strcmp(argv[k], "--csv") == 0)
            options.csv = value;
        else {
            fprintf(stderr,
                    "usage: %s [--tol T] [--limit S] [--problems DIR] [--only NAME] "
                    "[--csv FILE]\n",
                    argv[0]);
            return 2;
        }
    }
    if (options.limit <= 0.0) options.limit = options.tol < 1e-6 ? 60.0 : 20.0;
    talus_context *ctx = NULL;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    run_all(ctx, &options);
    talus_context_destroy(ctx);
    return 0;
}
