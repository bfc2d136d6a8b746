// SPDX-License-Identifier: Apache-2.0
// A worked example with known solutions: three contacts in 3D, seven unknowns, a tridiagonal mass
// matrix and one constraint; one contact slides, one sticks, one takes off. Dense, row major.
#ifndef TALUS_TESTS_SPEC_CASE_H
#define TALUS_TESTS_SPEC_CASE_H
#include "talus/problem.h"
#include <stdbool.h>

enum { SPEC_DIM = 3, SPEC_COUNT = 3, SPEC_SIZE = 9, SPEC_DOF = 7 };

static const double spec_m[49] = {1,  .5, 0, 0, 0, 0,  0,  .5, 2,  .5, 0, 0, 0, 0,  0,  .5, 3,
                                  .5, 0,  0, 0, 0, 0,  .5, 4,  .5, 0,  0, 0, 0, 0,  .5, 5,  .5,
                                  0,  0,  0, 0, 0, .5, 6,  .5, 0,  0,  0, 0, 0, .5, 7};
static const double spec_h[63] = {1, 0, 0,  -1, 0,  0,  1, // contact 0: N
                                  0, 1, 0,  0,  -1, 0,  0, // T1
                                  0, 0, 1,  0,  0,  -1, 1, // T2
                                  0, 1, 1,  0,  0,  1,  0, // contact 1
                                  1, 0, 0,  1,  0,  0,  0, //
                                  0, 0, 1,  0,  1,  0,  0, //
                                  1, 1, 0,  0,  0,  0,  1, // contact 2
                                  0, 0, 0,  1,  1,  0,  0, //
                                  1, 0, -1, 0,  0,  1,  0};
static const double spec_c[7] = {1, 1, 1, 1, 1, 1, 1}, spec_k[1] = {.5};
static const double spec_f[7] = {-3, 1, 2, -4, -2, 3, 1};
static const double spec_w[9] = {-.5, .3, .1, -3, 2.2, -.6, 2.5, .1, .2};
static const double spec_mu[3] = {.3, .8, .5};

// Solutions, to the eight decimals they are known to.
static const double spec_r_coulomb[9] = {1.65561842, -.47648790, -.14019911, 2.46613513, 1.70050058,
                                         -.37899079, 0,          0,          0};
static const double spec_v_coulomb[7] = {-.94544350, 1.07690866, 1.09088700, -1.25455650,
                                         -.49088700, .83220435,  .19088700};
static const double spec_lambda_coulomb = -.76310817;
static const double spec_r_associated[9] = {
    2.30894625, -.66006603, -.21005662, 2.95249609, 1.58359825, -.55297716, 0, 0, 0};
static const double spec_lambda_associated = -1.06950094;
static const double spec_v0_associated = -.67628777, spec_u0_associated = .57491986;

/// The problem in global form; a failure fails the test.
talus_problem *spec_case_make(talus_context *ctx, talus_law law);
/// max_i |F_FB(u_i, r_i)| with ρ = 1, in quadruple precision.
double spec_case_fb(const double *r, bool associated);

#endif // TALUS_TESTS_SPEC_CASE_H
