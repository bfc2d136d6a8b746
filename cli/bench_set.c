// SPDX-License-Identifier: Apache-2.0
// Performance profiles (Dolan and Moré, 2002). With t(s, p) the time of solver s on problem p and
// the ratio ρ(s, p) = t(s, p) / min over s of t(s, p), infinite where s did not solve p, the
// profile of s is the share of all problems with ρ(s, p) <= τ, as a function of τ >= 1.
#define _GNU_SOURCE
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void bench_tolerance(char out[24], double value) {
    snprintf(out, 24, "%g", value);
    for (int power = -16; power < 0; power++) {
        char text[24];
        snprintf(text, sizeof text, "1e%d", power);
        const double exact = strtod(text, NULL);
        if (!(exact < value) && !(exact > value)) memcpy(out, text, sizeof text);
    }
}

static int set_problem(const bench_set *set, const char *name) {
    for (int p = 0; p < set->problems; p++)
        if (strcmp(set->problem[p], name) == 0) return p;
    return -1;
}

static int set_tolerance(const bench_set *set, double value) {
    for (int t = 0; t < set->tolerances; t++)
        if (!(set->tolerance[t] < value) && !(set->tolerance[t] > value)) return t;
    return -1;
}

static bench_series *set_series(const bench_set *set, const bench_row *row) {
    for (int s = 0; s < set->count; s++)
        if (strcmp(set->series[s].solver, row->solver) == 0 &&
            strcmp(set->series[s].library, row->library) == 0)
            return &set->series[s];
    return NULL;
}

static int set_ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int set_descending(const void *a, const void *b) { return set_ascending(b, a); }

static void set_add_series(bench_set *set, const bench_row *row) {
    const size_t tolerances = (size_t)set->tolerances, problems = (size_t)set->problems;
    set->series = cli_grow(set->series, (size_t)set->count + 1, sizeof *set->series);
    bench_series *s = &set->series[set->count++];
    const bool own = strcmp(row->library, "talus") == 0;
    *s = (bench_series){.library = row->library,
                        .solver = row->solver,
                        .label = own ? cli_text("%s", row->solver)
                                     : cli_text("%s %s", row->library, row->solver),
                        .rank = set->count - 1,
                        .ratio = cli_alloc(tolerances, sizeof *s->ratio),
                        .solved = cli_alloc(tolerances, sizeof *s->solved),
                        .run = cli_alloc(tolerances, sizeof *s->run)};
    for (size_t t = 0; t < tolerances; t++) {
        s->ratio[t] = cli_alloc(problems, sizeof **s->ratio);
        for (size_t p = 0; p < problems; p++) s->ratio[t][p] = INFINITY;
    }
}

// Which tolerances, problems and series there are.
static void set_find(bench_set *set, int own) {
    for (int i = 0; i < own; i++) {
        const bench_row *row = &set->rows->item[i];
        if (set_tolerance(set, row->tolerance) < 0) {
            set->tolerance =
                cli_grow(set->tolerance, (size_t)set->tolerances + 1, sizeof *set->tolerance);
            set->tolerance[set->tolerances++] = row->tolerance;
        }
        if (set_problem(set, row->problem) < 0) {
            set->problem = cli_grow(set->problem, (size_t)set->problems + 1, sizeof *set->problem);
            set->size = cli_grow(set->size, (size_t)set->problems + 1, sizeof *set->size);
            set->size[set->problems] = row->dim * row->contacts;
            set->problem[set->problems++] = row->problem;
        }
    }
    if (set->tolerances > 0)
        qsort(set->tolerance, (size_t)set->tolerances, sizeof *set->tolerance, set_descending);
    for (int i = 0; i < set->rows->count; i++) {
        const bench_row *row = &set->rows->item[i];
        const bool here =
            set_tolerance(set, row->tolerance) >= 0 && set_problem(set, row->problem) >= 0;
        if (here && !set_series(set, row)) set_add_series(set, row);
    }
}

static int set_by_score(const void *a, const void *b) {
    const bench_series *x = a, *y = b;
    if (x->score > y->score || x->score < y->score) return x->score > y->score ? -1 : 1;
    return x->rank - y->rank;
}

void bench_set_init(bench_set *set, const bench_rows *rows, int own) {
    *set = (bench_set){.rows = rows};
    set_find(set, own);
    for (int i = 0; i < rows->count; i++) {
        const bench_row *row = &rows->item[i];
        const int t = set_tolerance(set, row->tolerance), p = set_problem(set, row->problem);
        if (t < 0 || p < 0) continue;
        bench_series *s = set_series(set, row);
        s->run[t]++;
        if (!bench_is_solved(row)) continue;
        s->solved[t]++;
        s->ratio[t][p] = row->seconds;
    }
    for (int t = 0; t < set->tolerances; t++)
        for (int p = 0; p < set->problems; p++) {
            double least = INFINITY;
            for (int s = 0; s < set->count; s++) least = fmin(least, set->series[s].ratio[t][p]);
            for (int s = 0; s < set->count; s++) {
                double *ratio = &set->series[s].ratio[t][p];
                if (isfinite(*ratio)) *ratio /= least;
                // the part of [1, 100] on a log scale where this problem counts as solved
                if (isfinite(*ratio))
                    set->series[s].score +=
                        fmax(0.0, 1.0 - log10(*ratio) / 2.0) / (set->problems * set->tolerances);
            }
        }
    if (set->count > 0) qsort(set->series, (size_t)set->count, sizeof *set->series, set_by_score);
    for (int s = 0; s < set->count; s++) set->series[s].rank = s;
}

double *bench_set_sorted(const bench_set *set, const bench_series *s, int tolerance) {
    const size_t count = (size_t)set->problems;
    double *ratio = cli_alloc(count, sizeof *ratio);
    memcpy(ratio, s->ratio[tolerance], count * sizeof *ratio);
    qsort(ratio, count, sizeof *ratio, set_ascending);
    return ratio;
}

void bench_set_clear(bench_set *set) {
    for (int s = 0; s < set->count; s++) {
        for (int t = 0; t < set->tolerances; t++) free(set->series[s].ratio[t]);
        free(set->series[s].ratio);
        free(set->series[s].solved);
        free(set->series[s].run);
        free(set->series[s].label);
    }
    free(set->series);
    free(set->tolerance);
    free((void *)set->problem);
    free(set->size);
    *set = (bench_set){0};
}
