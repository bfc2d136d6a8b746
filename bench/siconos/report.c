// SPDX-License-Identifier: Apache-2.0
// Tables of the comparison.
#define _GNU_SOURCE
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef SICONOS_VERSION
#define SICONOS_VERSION "of unknown version"
#endif

static const double COUNTED_MS = 0.1; // below this a time is noise and no ratio is counted

static const char *form_name(bench_form form) {
    return form == BENCH_LOCAL ? "local" : form == BENCH_GLOBAL ? "global" : "assembled";
}

static FILE *open_file(const char *path) {
    FILE *file = fopen(path, "w");
    if (file) return file;
    perror(path);
    exit(1);
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

FILE *bench_open_csv(const bench_run *run, const char *path) {
    if (!path) return NULL;
    FILE *csv = open_file(path);
    const talus_build build = talus_build_info();
    char cpu[160], date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    cpu_model(cpu, sizeof cpu);
    fprintf(csv, "# compare");
    for (int k = 1; k < run->argc; k++) fprintf(csv, " %s", run->argv[k]);
    fprintf(csv,
            "; Talus %s; tolerance %g; limit %g s; commit %s; %s, %ld cores, one used; %s; simd "
            "%s; Siconos %s; least of repeats; %s\n",
            run->solver, run->tol, run->limit, build.commit, cpu, sysconf(_SC_NPROCESSORS_ONLN),
            build.compiler, build.simd, SICONOS_VERSION, date);
    fprintf(csv, "problem,form,dim,contacts,talus_ms,talus_iterations,talus_natural,"
                 "siconos_best_ms,siconos_setup,siconos_iterations,siconos_natural,ratio\n");
    return csv;
}

FILE *bench_open_flat(const char *path) {
    if (!path) return NULL;
    FILE *flat = open_file(path);
    fprintf(flat, "library,solver,problem,kind,dim,contacts,dof,tolerance,outcome,iterations,"
                  "seconds,natural,residual,penetration\n");
    return flat;
}

void bench_print_head(const bench_run *run) {
    printf("Talus %s against %s of Siconos at %g\n", run->solver,
           run->oracle ? "the best solver" : "the best NSGS", run->tol);
    printf("%-40s %-9s %1s %5s %10s %7s %8s %10s %7s %8s %8s  %s\n", "problem", "form", "d", "n",
           "talus ms", "iter", "natural", "siconos ms", "iter", "natural", "ratio", "set-up");
    fflush(stdout);
}

static void print_time(FILE *to, const char *width, double seconds) {
    if (isfinite(seconds))
        fprintf(to, width, 1e3 * seconds);
    else
        fprintf(to, to == stdout ? " %10s" : "%s", "none");
}

static void print_number(FILE *to, double value) {
    if (isfinite(value)) fprintf(to, "%.6g", value);
}

static void print_flat(const bench_run *run, const bench_row *r, const char *solver,
                       const bench_measured *m) {
    fprintf(run->flat, "siconos,%s,%s,%s,%d,%d,", solver, r->name, form_name(r->form), r->dim,
            r->contacts);
    if (r->form == BENCH_GLOBAL) fprintf(run->flat, "%d", r->dof);
    fprintf(run->flat, ",%g,%s,", run->tol,
            talus_outcome_text(isfinite(m->seconds) ? TALUS_OUTCOME_SOLVED
                               : m->late            ? TALUS_OUTCOME_TIME_LIMIT
                                                    : TALUS_OUTCOME_STALLED));
    if (m->iterations > 0) fprintf(run->flat, "%d", m->iterations);
    const double numbers[] = {m->seconds, m->natural, m->residual, m->penetration};
    for (int k = 0; k < 4; k++) {
        fprintf(run->flat, ",");
        print_number(run->flat, numbers[k]);
    }
    fprintf(run->flat, "\n");
}

void bench_print_row(const bench_run *run, const bench_row *r) {
    printf("%-40s %-9s %d %5d", r->name, form_name(r->form), r->dim, r->contacts);
    print_time(stdout, " %10.4g", r->talus.seconds);
    printf(" %7d %8.2g", r->talus.iterations, r->talus.natural);
    print_time(stdout, " %10.4g", r->siconos.seconds);
    printf(" %7d %8.2g %8.3g  %s\n", r->siconos.iterations, r->siconos.natural, r->ratio, r->setup);
    fflush(stdout);
    if (run->csv) {
        fprintf(run->csv, "%s,%s,%d,%d,", r->name, form_name(r->form), r->dim, r->contacts);
        print_time(run->csv, "%.5g", r->talus.seconds);
        fprintf(run->csv, ",%d,%.3g,", r->talus.iterations, r->talus.natural);
        print_time(run->csv, "%.5g", r->siconos.seconds);
        fprintf(run->csv, ",%s,%d,%.3g,", r->setup, r->siconos.iterations, r->siconos.natural);
        if (r->ratio > 0.0) fprintf(run->csv, "%.3g", r->ratio);
        fprintf(run->csv, "\n");
        fflush(run->csv);
    }
    // A profile is drawn per problem, so a problem stands in the flat table once: as given.
    if (run->flat && r->form != BENCH_ASSEMBLED && r->contacts > 0) {
        print_flat(run, r, run->oracle ? "oracle" : "best NSGS", &r->siconos);
        for (int k = 0; k < r->method_count; k++)
            print_flat(run, r, r->methods[k].name, &r->methods[k].result);
        fflush(run->flat);
    }
}

// Sums over the rows of one kind. Where Talus does not get there, the limit is charged.
typedef struct summary {
    double talus, siconos, log_sum, worst;
    int rows, counted, below, talus_solved, siconos_none;
    const char *worst_name;
} summary;

static bool in_summary(const bench_row *r, bool given) {
    return r->form != (given ? BENCH_ASSEMBLED : BENCH_GLOBAL);
}

static summary sum_up(const bench_run *run, const bench_row *rows, int count, bool given) {
    summary s = {.worst = INFINITY, .worst_name = "none"};
    for (int k = 0; k < count; k++) {
        const bench_row *r = &rows[k];
        if (!in_summary(r, given)) continue;
        s.rows++;
        s.talus_solved += isfinite(r->talus.seconds);
        s.siconos_none += r->contacts > 0 && !isfinite(r->siconos.seconds);
        if (!isfinite(r->siconos.seconds) || 1e3 * r->siconos.seconds <= COUNTED_MS) continue;
        const double talus = isfinite(r->talus.seconds) ? r->talus.seconds : run->limit;
        const double ratio = r->siconos.seconds / talus;
        s.counted++;
        s.talus += talus;
        s.siconos += r->siconos.seconds;
        s.log_sum += log(ratio);
        s.below += ratio < 1.0;
        if (ratio < s.worst) {
            s.worst = ratio;
            s.worst_name = r->name;
        }
    }
    return s;
}

static void print_one_summary(const bench_run *run, const bench_row *rows, int count, bool given) {
    const summary s = sum_up(run, rows, count, given);
    printf("\n%s: Talus %s solves %d of %d problems to %g\n",
           given ? "problems as given" : "W given in place of M, H", run->solver, s.talus_solved,
           s.rows, run->tol);
    printf("  where Siconos takes over %.1f ms: %d problems", COUNTED_MS, s.counted);
    if (s.counted > 0)
        printf("; in all Talus %.5g ms, Siconos %.5g ms, Siconos / Talus %.3g; one by one: "
               "geometric mean %.3g, worst %.3g (%s), %d below 1",
               1e3 * s.talus, 1e3 * s.siconos, s.siconos / s.talus, exp(s.log_sum / s.counted),
               s.worst, s.worst_name, s.below);
    printf("\n");
    for (int k = 0; k < count; k++) {
        const bench_row *r = &rows[k];
        if (!in_summary(r, given)) continue;
        if (!isfinite(r->talus.seconds))
            printf("  not solved by Talus in %g s: %s (natural %.2g)\n", run->limit, r->name,
                   r->talus.natural);
        if (r->contacts > 0 && !isfinite(r->siconos.seconds)) {
            printf("  solved by no solver of Siconos in %g s: %s; Talus, ms:", run->limit, r->name);
            print_time(stdout, " %.4g", r->talus.seconds);
            printf("\n");
        }
    }
}

void bench_print_summary(const bench_run *run, const bench_row *rows, int count) {
    print_one_summary(run, rows, count, true);
    print_one_summary(run, rows, count, false);
}
