// SPDX-License-Identifier: Apache-2.0
// Three models of one chain in the plane: stiff segments with springs at their joints, hung at the
// origin, pulled down by g along −y. Every step becomes a talus_problem with contacts of the joints
// with a floor, solved through the public interface:
//   rigid    places and angles of the segments, joints as constraint rows C v = k;
//   lumped   masses at the joints, lengths as constraint rows;
//   reduced  angles between the segments, no constraint.
// With q the unknowns' places, all take the step (M + h D + h² K) v+ = M v + h F + Hᵀ r + Cᵀ λ,
// q+ = q + h v+, with C v+ = −c(q) / h so that constraints do not drift, and gaps / h in w.
#ifndef TALUS_TESTS_CHAINS_H
#define TALUS_TESTS_CHAINS_H
#include "talus/solver.h"

enum { CHAIN_MOST = 32 }; // segments

typedef enum chain_kind { CHAIN_RIGID, CHAIN_LUMPED, CHAIN_REDUCED } chain_kind;

typedef struct chain {
    chain_kind kind;
    int n;
    double half;      // length of a segment / 2 [m]
    double mass;      // of a segment [kg]
    double stiffness; // of the joints, the root's included, which wants an angle of 0 [N m]
    double drag;      // per length and speed [N s/m²]
    double gravity;
    double floor, mu; // height of the floor; −INFINITY: none
    double q[3 * CHAIN_MOST], v[3 * CHAIN_MOST];
} chain;

typedef struct chain_report {
    talus_outcome outcome;
    talus_certificate certificate;
    int contacts;
    double impulse[2]; // sum of the floor's: up, along x
} chain_report;

/// A chain of n segments and the given whole length and mass, at angles (from +x) `angle[n]`, at
/// rest.
chain chain_make(chain_kind kind, int n, double length, double mass, const double *angle);
int chain_dof(const chain *c);
/// Places of the joints, the root first: n + 1 of them, 2 each.
void chain_joints(const chain *c, double *x);
double chain_energy(const chain *c);
/// Largest error of the constraints [m].
double chain_gap(const chain *c);
talus_status chain_step(talus_context *ctx, chain *c, double h, chain_report *out);
/// v̇ of a reduced chain without floor, for a fine reference.
void chain_acceleration(const chain *c, double *out);

#endif // TALUS_TESTS_CHAINS_H
