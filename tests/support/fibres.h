// SPDX-License-Identifier: Apache-2.0
// Synthetic fibres: rods of 16 unknowns, each with a dense random mass matrix of condition 1e3, and
// contacts with dense random Jacobians between random pairs of rods; some touch one rod only. As
// dense as hair gets, and without geometry. The source of the reference counts does not give the
// scale of the inverse masses or their spectrum: of twelve combinations tried, the one kept here is
// that which meets its counts at 600 contacts (at 1200 it needs about half the published sweeps).
// The test thus guards our own counts; it does not confirm the published ones.
#ifndef TESTS_FIBRES_H
#define TESTS_FIBRES_H
#include "talus/problem.h"

enum { FIBRE_DOF = 16 };

typedef struct fibres_def {
    int32_t rods, contacts;
    double mu;
    double external; // share of the contacts with one rod only
    uint64_t seed;
} fibres_def;

talus_status fibres_create(talus_context *ctx, const fibres_def *def, talus_problem **out);

#endif // TESTS_FIBRES_H
