// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/cone_judge.h"
#include "support/spec_case.h"
#include "support/verify.h"
#include <math.h>

talus_problem *spec_case_make(talus_context *ctx, talus_law law) {
    const int32_t body_start[2] = {0, SPEC_DOF}, h_body[SPEC_COUNT] = {0, 0, 0};
    const int64_t h_start[SPEC_COUNT + 1] = {0, 1, 2, 3}, c_start[2] = {0, SPEC_DOF};
    const int32_t c_index[SPEC_DOF] = {0, 1, 2, 3, 4, 5, 6};
    const talus_global_def def = {.dim = SPEC_DIM,
                                  .count = SPEC_COUNT,
                                  .body_count = 1,
                                  .body_start = body_start,
                                  .mass_block = spec_m,
                                  .h_row_start = h_start,
                                  .h_body = h_body,
                                  .h_block = spec_h,
                                  .f = spec_f,
                                  .w = spec_w,
                                  .c = {1, SPEC_DOF, c_start, c_index, spec_c},
                                  .k = spec_k,
                                  .law = {.law = law, .mu = spec_mu}};
    talus_problem *p = NULL;
    assert_int_equal(talus_problem_create_global(ctx, &def, &p), TALUS_OK);
    return p;
}

double spec_case_fb(const double *r, bool associated) {
    double v[7], u[9], worst = 0.0;
    assert_true(verify_global_state(9, 7, 1, spec_m, spec_h, spec_c, spec_f, spec_k, spec_w, r, v,
                                    u, NULL));
    for (int i = 0; i < 3; i++) {
        const tl_law law = {.mu = spec_mu[i], .zeta = associated ? spec_mu[i] : 0.0};
        double f[3];
        judge_fb(3, &law, 1.0, u + 3 * i, r + 3 * i, f);
        worst = fmax(worst, verify_norm(3, f));
    }
    return worst;
}
