// SPDX-License-Identifier: Apache-2.0
#include "support/fibres.h"
#include "base/rng.h"
#include <math.h>
#include <stdlib.h>

// Rows of q: a random orthonormal basis, by Gram-Schmidt done twice.
static void fibres_basis(tl_rng *rng, double q[FIBRE_DOF][FIBRE_DOF]) {
    for (int j = 0; j < FIBRE_DOF; j++) {
        for (int k = 0; k < FIBRE_DOF; k++) q[j][k] = tl_rng_normal(rng);
        for (int pass = 0; pass < 2; pass++) {
            double size = 0.0;
            for (int i = 0; i < j; i++) {
                double dot = 0.0;
                for (int k = 0; k < FIBRE_DOF; k++) dot += q[j][k] * q[i][k];
                for (int k = 0; k < FIBRE_DOF; k++) q[j][k] -= dot * q[i][k];
            }
            for (int k = 0; k < FIBRE_DOF; k++) size += q[j][k] * q[j][k];
            for (int k = 0; k < FIBRE_DOF; k++) q[j][k] /= sqrt(size);
        }
    }
}

// M = Σ λ⁻¹ q qᵀ, so that M⁻¹ has the eigenvalues λ, spread evenly in the logarithm from 1 to 1e3.
static void fibres_mass(tl_rng *rng, double *m) {
    double q[FIBRE_DOF][FIBRE_DOF];
    fibres_basis(rng, q);
    for (int k = 0; k < FIBRE_DOF; k++) {
        const double inverse = pow(10.0, -3.0 * k / (FIBRE_DOF - 1));
        for (int i = 0; i < FIBRE_DOF; i++)
            for (int j = 0; j < FIBRE_DOF; j++) m[i * FIBRE_DOF + j] += inverse * q[k][i] * q[k][j];
    }
}

talus_status fibres_create(talus_context *ctx, const fibres_def *def, talus_problem **out) {
    tl_rng rng = {.state = def->seed};
    const size_t rods = (size_t)def->rods, contacts = (size_t)def->contacts;
    int32_t *body_start = calloc(rods + 1, sizeof *body_start);
    int32_t *body = calloc(2 * contacts + 1, sizeof *body);
    int64_t *start = calloc(contacts + 1, sizeof *start);
    double *m = calloc(rods * FIBRE_DOF * FIBRE_DOF + 1, sizeof *m);
    double *h = calloc(contacts * 2 * 3 * FIBRE_DOF + 1, sizeof *h);
    double *f = calloc(rods * FIBRE_DOF + 1, sizeof *f), *w = calloc(3 * contacts + 1, sizeof *w);
    double *mu = calloc(contacts + 1, sizeof *mu);
    talus_status status = TALUS_ERR_MEMORY;
    if (!body_start || !body || !start || !m || !h || !f || !w || !mu) goto done;
    for (int32_t i = 0; i < def->rods; i++) {
        body_start[i + 1] = (i + 1) * FIBRE_DOF;
        fibres_mass(&rng, m + (int64_t)i * FIBRE_DOF * FIBRE_DOF);
    }
    for (int32_t i = 0; i < def->contacts; i++) {
        const bool alone = tl_rng_unit(&rng) < def->external;
        int32_t a = (int32_t)(tl_rng_next(&rng) % (uint64_t)def->rods), b = a;
        while (!alone && b == a) b = (int32_t)(tl_rng_next(&rng) % (uint64_t)def->rods);
        start[i + 1] = start[i];
        body[start[i + 1]++] = a < b ? a : b;
        if (!alone) body[start[i + 1]++] = a < b ? b : a;
        for (int64_t k = start[i] * 3 * FIBRE_DOF; k < start[i + 1] * 3 * FIBRE_DOF; k++)
            h[k] = 0.25 * tl_rng_normal(&rng);
        for (int k = 0; k < 3; k++) w[3 * (int64_t)i + k] = tl_rng_normal(&rng);
        mu[i] = def->mu;
    }
    status = talus_problem_create_global(ctx,
                                         &(talus_global_def){.dim = 3,
                                                             .count = def->contacts,
                                                             .body_count = def->rods,
                                                             .body_start = body_start,
                                                             .mass_block = m,
                                                             .h_row_start = start,
                                                             .h_body = body,
                                                             .h_block = h,
                                                             .f = f,
                                                             .w = w,
                                                             .law = {.mu = mu}},
                                         out);
done:
    free(body_start);
    free(body);
    free(start);
    free(m);
    free(h);
    free(f);
    free(w);
    free(mu);
    return status;
}
