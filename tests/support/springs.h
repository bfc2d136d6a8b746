// SPDX-License-Identifier: Apache-2.0
// A small world of balls and planes for the penalty scheme alone: own search for contacts, own
// energies. Bodies are given by radius; radius 0 is a plane through its position.
#ifndef TALUS_TESTS_SPRINGS_H
#define TALUS_TESTS_SPRINGS_H
#include "rigid/penalty.h"

enum { RIG_BODIES = 256, RIG_TOUCHES = 4096 };

typedef struct rig {
    talus_context *ctx;
    tl_springs *s;
    tl_springs_def def;
    tl_springs_bodies b;
    int32_t count;
    double position[3 * RIG_BODIES], orientation[4 * RIG_BODIES], velocity[3 * RIG_BODIES],
        spin[3 * RIG_BODIES], mass[RIG_BODIES], inertia[3 * RIG_BODIES], motion[6 * RIG_BODIES],
        force[3 * RIG_BODIES], torque[3 * RIG_BODIES], damping[2 * RIG_BODIES],
        curvature[RIG_BODIES];
    bool locked[6 * RIG_BODIES];
    int32_t material[RIG_BODIES];
    double radius[RIG_BODIES], normal[3 * RIG_BODIES];
    talus_material_def pair;
    double h, gravity[3];
    int32_t threads;
    tl_touch touch[RIG_TOUCHES];
    int64_t touches;
    tl_springs_info info;                             // of the last step
    double impact, friction, obstacles, forces, time; // sums over steps
} rig;

void rig_create(rig *r, talus_context *context, talus_penalty law, talus_integrator integrator);
void rig_destroy(rig *r);
/// A ball with the inertia of a full sphere; returns its index. Mass 0: motion is given.
int32_t rig_add_ball(rig *r, double radius, double mass, const double x[3], const double v[3]);
/// The half-space below the plane through x.
int32_t rig_add_plane(rig *r, const double x[3], const double normal[3]);
/// One step; its status is returned, its figures are added up.
talus_status rig_try(rig *r);
/// One step that must succeed.
void rig_step(rig *r);
double rig_kinetic(const rig *r);
/// Kinetic, gravity and springs.
double rig_energy(const rig *r);
void rig_momentum(const rig *r, double linear[3], double angular[3]);

/// Fail the test unless |value − expected| <= tolerance, with the numbers.
void rig_near(double value, double expected, double tolerance, int line);
#define assert_near(value, expected, tolerance) rig_near(value, expected, tolerance, __LINE__)

#endif // TALUS_TESTS_SPRINGS_H
