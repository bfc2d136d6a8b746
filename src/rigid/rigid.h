// SPDX-License-Identifier: Apache-2.0
// Rigid bodies: free ones, fixed ones and such with a given motion. Item i is body i.
//
// The frame of a body is that of its principal axes about its centre of mass, whatever its motion.
// Where the frame of its shape is another, `offset` says where it is; scripts move that one, and
// views show it.
//
// Unknowns of a free body: in 2D (v_x, v_y, spin), in 3D the velocity in the world's frame and the
// spin in the body's frame, along the principal axes, so that M is constant and diagonal; where all
// moments are alike, the spin in the world's frame, so that solvers can tell balls by their rows.
// Components that are locked have no unknown. A body of which some, but not all, spins are locked
// has its spins in the world's frame, where the locks are, and a mass block that is not diagonal.
#ifndef TL_RIGID_RIGID_H
#define TL_RIGID_RIGID_H
#include "model/model.h"
#include "rigid/script.h"
#include "talus/world.h"

typedef struct tl_rigid {
    tl_model base;
    int32_t dim, count, room;
    double *x, *q;      // 3, 4 each: position and orientation
    double *v, *spin;   // 3 each, in the world's frame
    double *own_spin;   // 3 each, in the body's frame: the spin that is integrated
    double *mass;       // of free bodies, 0 for the others
    double *weight;     // the mass a body has when it is free; infinite where it cannot be
    double *inertia;    // 3 each, principal moments
    double *extent;     // largest distance of the surface from the centre
    double *swing;      // the same of the surface that turning moves: 0 for balls
    int32_t *motion;    // talus_motion_kind
    int32_t *group;     // −1: no unknowns
    int32_t *script_of; // −1: free or fixed
    // Seldom used: NULL until a body has one of them.
    double *force, *torque;    // 3 each, in the world's frame
    double *damping;           // 2 each: rates of velocity and spin
    bool *locked;              // 6 each
    tl_pose *offset;           // frame of the shape in the body's
    double *shape_x, *shape_q; // 3, 4 each, with `offset`: the shape's frame in the world
    tl_script *script;
    int32_t script_count, script_room;
    int32_t group_count;
    bool renumber; // groups have to be counted again
} tl_rigid;

talus_status tl_rigid_create(talus_context *ctx, int32_t dim, tl_rigid **out) TALUS_MUST_CHECK;

/// Check a body and make room for it. `mass` is that of its shape with the body's density.
talus_status tl_rigid_reserve(tl_rigid *m, const talus_body_def *body,
                              const talus_mass *mass) TALUS_MUST_CHECK;
/// Add the body for which room was made, at time t; `extent` is the largest distance of a point of
/// its shape from the centre of mass.
talus_status tl_rigid_add(tl_rigid *m, const talus_body_def *body, const talus_mass *mass,
                          double extent, bool is_ball, double t) TALUS_MUST_CHECK;
/// Take back the body added last.
void tl_rigid_drop(tl_rigid *m);
talus_status tl_rigid_set_force(tl_rigid *m, int32_t body, const double force[3],
                                const double torque[3]) TALUS_MUST_CHECK;
talus_status tl_rigid_set_motion(tl_rigid *m, int32_t body, const talus_motion_def *motion,
                                 double t) TALUS_MUST_CHECK;
/// True when no impulse can move the body: its motion is given or all its components are locked.
bool tl_rigid_is_immovable(const tl_rigid *m, int32_t body);

/// Where the frame of a shape with this mass is in the frame of the body; false: they are the same.
bool tl_rigid_offset(const talus_mass *mass, tl_pose *out);
/// Bring shape_x and shape_q up to date with x and q.
void tl_rigid_show(tl_rigid *m);

extern const tl_model_ops tl_rigid_ops;

// ---- shared by the files of this room ----------------------------------------------------------

/// Which components have an unknown: bits 0–2 velocity, 3–5 spin.
unsigned tl_rigid_mask(const tl_rigid *m, int32_t body);
/// Fill in the poses at the end of the step and the mean velocities of all scripts.
void tl_rigid_run_scripts(tl_rigid *m, double time, double h);
/// Pose of scripted body i at time t.
void tl_rigid_script_pose(const tl_rigid *m, int32_t i, double t, double x[3], double q[4]);
/// Mean velocity, over the step of length h in hand, of the point of scripted body i that is at
/// `arm` from its position while its orientation is q.
void tl_rigid_script_velocity(const tl_rigid *m, int32_t i, double h, const double q[4],
                              const double arm[3], double out[3]);
/// The same of its position, where the step begins.
void tl_rigid_script_mean(const tl_rigid *m, int32_t i, double h, double out[3]);
/// Put the scripted bodies where their scripts say they are at the end of the step of length h.
void tl_rigid_commit_scripts(tl_rigid *m, double h);

#endif // TL_RIGID_RIGID_H
