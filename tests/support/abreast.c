// SPDX-License-Identifier: Apache-2.0
#include "support/abreast.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

double *abreast_solve(talus_context *ctx, const talus_problem *p, const double *from,
                      const char *const *option, talus_solve_info *info) {
    const size_t size = 3 * (size_t)talus_problem_get_info(p).count;
    talus_solver *s = NULL;
    double *r = calloc(size, sizeof *r);
    assert_non_null(r);
    if (from) memcpy(r, from, size * sizeof *r);
    assert_int_equal(talus_solver_create(ctx, "nlgs", &s), TALUS_OK);
    for (; option[0]; option += 2)
        assert_int_equal(talus_solver_set(s, option[0], option[1]), TALUS_OK);
    assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
    assert_int_equal(talus_solver_solve(s, r, info), TALUS_OK);
    talus_solver_destroy(s);
    return r;
}

double abreast_difference(int64_t n, const double *a, const double *b) {
    double most = 0.0;
    for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]));
    return most;
}

double *abreast_compare(talus_context *ctx, const talus_problem *p, const double *from,
                        int momentum) {
    static const char *const momenta[ABREAST_MOMENTA][4] = {{"momentum", "no", "proximal", "0"},
                                                            {"momentum", "yes", "proximal", "0"},
                                                            {"inertia", "0.9", "proximal", "0.3"},
                                                            {"inertia", "0.9", "relaxed", "6"},
                                                            {"inertia", "0.9", "follow", "yes"}};
    const char *const *m = momenta[momentum];
    const int64_t size = 3 * (int64_t)talus_problem_get_info(p).count;
    double *r[2];
    for (int form = 0; form < 2; form++) {
        // weights of the momentum follow the measure: the same for both
        const char *const option[] = {m[0],        m[1],       m[2],
                                      m[3],        "form",     form ? "auto" : "assembled",
                                      "stop",      "residual", "iterations",
                                      "10",        "check",    "1000000",
                                      "tolerance", "1e-300",   "local_tolerance",
                                      "1e-15",     NULL,       NULL};
        talus_solve_info info;
        r[form] = abreast_solve(ctx, p, from, option, &info);
        assert_int_equal(info.iterations, 10);
        assert_int_equal(info.local_failures, 0);
    }
    const double most = abreast_difference(size, r[0], r[1]);
    const double norm = verify_norm((int)size, r[0]);
    if (!(most <= 1e-12 * norm))
        fail_msg("momentum %d, %s: %g of %g apart", momentum, from ? "warm" : "from zero", most,
                 norm);
    free(r[1]);
    return r[0];
}

double *abreast_certify(talus_context *ctx, const talus_problem *p, const double *from,
                        const char *stop, const char *tolerance) {
    const size_t size = 3 * (size_t)talus_problem_get_info(p).count;
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        char count[12];
        (void)snprintf(count, sizeof count, "%d", threads);
        const char *const option[] = {"stop",     stop,  "tolerance", tolerance, "inertia", "0.9",
                                      "proximal", "0.3", "threads",   count,     NULL,      NULL};
        talus_solve_info info;
        talus_certificate c;
        double *r = abreast_solve(ctx, p, from, option, &info);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_int_equal(talus_certify(p, r, &c), TALUS_OK);
        const double judged = strcmp(stop, "natural") == 0 ? c.natural : c.residual;
        assert_true(fabs(judged - info.measure) <= 1e-9 * judged + 1e-14);
        if (first) {
            assert_memory_equal(r, first, size * sizeof *r);
            free(r);
        } else {
            first = r;
        }
    }
    return first;
}
