// SPDX-License-Identifier: Apache-2.0
// The problem set of the field against tests/regress/problems.txt: "problem tolerance outcome", one
// line each. The set is no part of the sources; where it is absent the test says so and passes. It
// is looked for in $TALUS_PROBLEMS, then beside the sources.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "problem/problem_impl.h"
#include "support/solve_cases.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *directory(void) {
    const char *given = getenv("TALUS_PROBLEMS");
    return given ? given : TALUS_SOURCE_DIR "/../shared/problems";
}

static bool present(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file) (void)fclose(file);
    return file != NULL;
}

// u = W r + q in local form by plain loops over the stored blocks; in global form the state.
static void velocities(const talus_problem *p, const double *r, double *u) {
    if (p->is_global) {
        assert_int_equal(talus_problem_state(p, r, NULL, u, NULL), TALUS_OK);
        return;
    }
    const int d = p->dim;
    for (int32_t i = 0; i < p->count; i++)
        for (int x = 0; x < d; x++) {
            double sum = p->q[d * i + x];
            for (int64_t e = p->w_start[i]; e < p->w_start[i + 1]; e++)
                for (int y = 0; y < d; y++)
                    sum += p->w_block[(e * d + x) * d + y] * r[d * p->w_col[e] + y];
            u[d * i + x] = sum;
        }
}

// One line of the table; false when it does not hold.
static bool line(talus_context *ctx, const char *name, double tolerance, const char *outcome) {
    char path[1024], options[64];
    talus_problem *p = NULL;
    (void)snprintf(path, sizeof path, "%s/%s.hdf5", directory(), name);
    if (talus_fclib_read(ctx, path, &p, NULL) != TALUS_OK) {
        print_message("%s\n", talus_context_last_error(ctx));
        return false;
    }
    const int64_t size = (int64_t)p->dim * p->count;
    double *r = solve_room(size), *u = solve_room(size);
    (void)snprintf(options, sizeof options, "tolerance=%g", tolerance);
    const talus_solve_info info = solve_with(ctx, "nlgs", options, p, r);
    velocities(p, r, u);
    const double q_norm = verify_norm((int)size, p->q);
    const double natural = verify_natural(p->dim, p->count, p->mu, NULL, false, u, r, q_norm);
    bool good = strcmp(talus_outcome_text(info.outcome), outcome) == 0;
    // The judge adds up in another order: what rounding leaves of W r, relative to |q|.
    double sum = 0.0;
    for (int64_t k = 0; k < size; k++) sum += r[k] * r[k];
    const double slack = 1e-12 + 1e-14 * sqrt(sum) / fmax(1.0, q_norm);
    if (strcmp(outcome, "solved") == 0) good = good && natural <= 1.001 * tolerance + slack;
    good = good && fabs(natural - info.measure) <= 1e-3 * natural + slack;
    if (!good)
        print_message("%s at %g: %s, judged %g, measured %g, %d sweeps, %.3f s\n", name, tolerance,
                      talus_outcome_text(info.outcome), natural, info.measure, info.iterations,
                      info.solve_seconds);
    free(r);
    free(u);
    talus_problem_destroy(p);
    return good;
}

static void problem_set(void **state) {
    (void)state;
    char text[256], name[128], tolerance[32], outcome[32], path[1024];
    int lines = 0, bad = 0;
    talus_context *ctx = NULL;
    FILE *table = fopen(TALUS_SOURCE_DIR "/tests/regress/problems.txt", "r");
    assert_non_null(table);
    (void)snprintf(path, sizeof path, "%s/FC3D_Example1.hdf5", directory());
    if (!present(path)) {
        print_message("no problem set in %s: nothing was tested\n", directory());
        (void)fclose(table);
        return;
    }
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    while (fgets(text, sizeof text, table)) {
        if (text[0] == '#' || text[0] == '\n') continue;
        assert_int_equal(sscanf(text, "%127s %31s %31[^\n]", name, tolerance, outcome), 3);
        lines++;
        if (!line(ctx, name, strtod(tolerance, NULL), outcome)) bad++;
    }
    (void)fclose(table);
    talus_context_destroy(ctx);
    print_message("%d lines, %d do not hold\n", lines, bad);
    assert_true(lines >= 43);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(problem_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
