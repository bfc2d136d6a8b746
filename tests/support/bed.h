// SPDX-License-Identifier: Apache-2.0
// A bed of spheres in an open box under gravity, stepped in time: what a simulator of grains hands
// to a solver. Radii of 5 mm ± 10 %, places at random, pushed apart until the spheres do not
// overlap, filling 0.56 of the box; then they fall, collide and settle. A step h of 1 ms takes the
// contacts whose gap is at most `reach`, a tenth of the radius, each with
//     u = H v + w,   w_N = max(gap, 0)/h,   f = M (v + h g),
// and moves the spheres by h v. Overlaps, which errors of the solver leave, are not pushed out:
// v = 0 is then always allowed. Impulses of contacts that stay are where the next step starts.
#ifndef TESTS_BED_H
#define TESTS_BED_H
#include "talus/problem.h"

typedef struct bed_def {
    int32_t nx, ny, nz; // spheres along each axis, about; z is vertical
    double mu;
    uint64_t seed;
} bed_def;

typedef struct bed_contact {
    int32_t body, other; // other: a later sphere, or −1 … −5, a wall
    double normal[3];    // from other to body
    double gap;          // [m]
    double impulse[3];   // on the body, in space [N s]
} bed_contact;

typedef struct bed {
    int32_t count; // spheres
    double mu, box[3], gravity[3], step, reach;
    double keep; // share of the velocities that is left after a step; 1 but while settling
    double *radius, *place, *velocity; // 1, 3 and 6 (linear, angular) a sphere; SI
    int32_t *first;                    // count + 1: the contacts of a sphere with later ones
    bed_contact *contact;
    int32_t contacts, room;
    int32_t *old_first; // those of the last step
    bed_contact *old_contact;
    int32_t cells[3], *cell_start, *cell_item;
} bed;

/// False when memory runs out. bed_clear in any case.
bool bed_init(bed *b, const bed_def *def);
void bed_clear(bed *b);
/// Find the contacts and make the problem of the next step; `*r` (to be freed) is where to start.
talus_status bed_problem(bed *b, talus_context *ctx, talus_problem **out, double **r);
/// Take the step with the impulses r.
talus_status bed_advance(bed *b, const talus_problem *p, const double *r);
/// `steps` steps, each solved with `sweeps` sweeps of nlgs on `threads` threads.
talus_status bed_run(bed *b, talus_context *ctx, int steps, const char *sweeps,
                     const char *threads);
/// The same with velocities damped; at the end they are zero. The bed need not rest yet.
talus_status bed_settle(bed *b, talus_context *ctx, int steps, const char *sweeps,
                        const char *threads);
/// Damped steps of 3 ms until the speeds that a step ends with are, root mean square, less than a
/// thousandth of what free fall adds in it: the bed rests, whatever its size. Velocities are zero
/// at the end. Returns the steps taken, or −1 when 3000 were not enough or something failed.
int bed_rest(bed *b, talus_context *ctx, const char *threads);

#endif // TESTS_BED_H
