// SPDX-License-Identifier: Apache-2.0
// Synthetic packings as problems in global form: spheres (disks in 2D) on a slightly disturbed
// lattice, each touching its six (four) neighbours and the lowest layer a floor, one time step
// under gravity with random velocities. Shared by tests, benchmarks and the example files.
#ifndef TESTS_PACKING_H
#define TESTS_PACKING_H
#include "support/rigid.h"

typedef struct packing_def {
    int dim;            // 2 or 3
    int32_t nx, ny, nz; // bodies along each axis; nz is vertical (ny = 1 in 2D)
    double mu;
    double disorder; // of normals and masses; 0: a perfect lattice
    double speed;    // of the random velocities [m/s]
    uint64_t seed;
    bool walls;    // side walls touch the outer bodies too
    int diagonals; // 3D: so many (0 to 6) of a body's upward face diagonals are contacts too, as in
                   // dense packings
} packing_def;

/// The packing as bodies and contacts, to be defined and cleared by the caller.
void packing_build(const packing_def *def, rigid *out);

talus_status packing_create(talus_context *ctx, const packing_def *def, talus_problem **out);

#endif // TESTS_PACKING_H
