// SPDX-License-Identifier: Apache-2.0
// Joints of a world: their state, and their part of the problem of a step.
#ifndef TL_WORLD_JOINTS_H
#define TL_WORLD_JOINTS_H
#include "model/model.h"
#include "rigid/joint.h"

/// Joints and what the last step did to them: the arrays behind talus_joint_view.
typedef struct tl_joints {
    int32_t count, room;
    tl_joint *joint;
    int32_t *kind, *a, *b;
    double *point, *impulse, *moment; // 3 each
    double *drive, *position, *error, *angle;
    double *stop;  // 2 each: impulses of the low and the high stop
    int32_t *pair; // 2 each: bodies that do not touch, sorted
    int32_t pairs;
    double h; // length of the step that the impulses are of
} tl_joints;

/// A row of C of the step in hand.
typedef struct tl_tie {
    int32_t joint;
    bool motor;
    tl_joint_row row;
    double given; // share of given motions in the relative velocity
} tl_tie;

typedef enum tl_drive_part { TL_DRIVE_MOTOR, TL_DRIVE_LOW, TL_DRIVE_HIGH } tl_drive_part;

/// A motor of limited strength, or a stop: a block of the problem, of which one row counts.
typedef struct tl_drive {
    int32_t joint;
    tl_drive_part part;
    tl_joint_row row; // pointing from the stop into the open
    double gap;       // stops
    double w;         // W_ii of the row, the rest of the world held
} tl_drive;

/// The part of the stage that joints fill.
typedef struct tl_ties {
    int32_t rows, drives;
    tl_tie *tie; // rows
    int64_t *start;
    int32_t *index;
    double *value, *k, *lambda;
    tl_drive *drive; // drives
    tl_touch *touch; // contacts without those of joined bodies
    bool *held;      // blocks, where there are rows: no impulse can open or close them
    double deepest;  // overlap of the contacts that were left out for that
} tl_ties;

#endif // TL_WORLD_JOINTS_H
