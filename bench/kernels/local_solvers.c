// SPDX-License-Identifier: Apache-2.0
// One-contact solvers on random hard problems: solves per second on one core, failures, worst
// error.   bench/local_solvers [COUNT] [NAME]     COUNT problems a row (default 200 000).

#include "base/timer.h"
#include "support/local_cases.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 };

int main(int argc, char **argv) {
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
    const char *only = argc > 2 ? argv[2] : NULL;
    const tl_local_control control = {.tolerance = 1e-10, .iterations = 100};
    local_case *cases = malloc(BATCH * sizeof *cases);
    if (!cases) return 1;
    printf("solver,d,law,problems,solves_per_s,failures,worst_error,worst_kind\n");
    for (const tl_local_solver *s = tl_local_solvers; s->name; s++) {
        if (!s->exact || (only && strcmp(only, s->name) != 0)) continue;
        for (int dim = 0; dim < 3; dim++)
            for (int law = 0; law < 2; law++) {
                const int d = dim == 0 ? 2 : dim == 1 ? 3 : 6;
                if (d == 6 && strcmp(s->name, "enum") == 0) continue;
                tl_rng rng = {.state = 7};
                double seconds = 0.0, worst = 0.0;
                long failures = 0, done = 0;
                int worst_kind = 0;
                while (done < count) {
                    double r[BATCH][6] = {{0.0}};
                    const int batch = (int)(count - done < BATCH ? count - done : BATCH);
                    for (int i = 0; i < batch; i++) {
                        local_case_make(&rng, d, law == 1, (int)((done + i) % LOCAL_CASE_KINDS),
                                        &cases[i]);
                    }
                    const double start = tl_seconds();
                    for (int i = 0; i < batch; i++)
                        s->forms->solve[dim](&cases[i].problem, &control, r[i]);
                    seconds += tl_seconds() - start;
                    for (int i = 0; i < batch; i++) {
                        const double e = tl_local_error(d, &cases[i].problem, r[i]);
                        if (!(e <= control.tolerance)) failures++;
                        if (!(e <= worst)) {
                            worst = e;
                            worst_kind = (int)((done + i) % LOCAL_CASE_KINDS);
                        }
                    }
                    done += batch;
                }
                printf("%s,%d,%s,%ld,%.3g,%ld,%.2g,%d\n", s->name, d,
                       law ? "associated" : "coulomb", count, (double)count / seconds, failures,
                       worst, worst_kind);
                fflush(stdout);
            }
    }
    free(cases);
    return 0;
}
