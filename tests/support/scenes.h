// SPDX-License-Identifier: Apache-2.0
// Problems with a meaning: bodies that rest, lean or are pulled under gravity, one time step of 10
// ms each, u = H v + w. Small ones are the files of examples/problems, large ones test what is
// hard: more contacts than the motion can tell apart, unequal masses, odd units.
#ifndef TESTS_SCENES_H
#define TESTS_SCENES_H
#include "talus/problem.h"

typedef enum scene_kind {
    SCENE_STACK,    // 3D: n cubes on each other, four contacts between two
    SCENE_TOWER,    // 3D: n layers of two planks laid crosswise, four contacts at each crossing
    SCENE_ARCH,     // 2D: a round arch of n stones between fixed springers, two contacts a joint
    SCENE_WALL,     // 2D: n courses of n bricks in running bond, two contacts between neighbours
    SCENE_CAPSULES, // 3D: a pile of capsules, n in the lowest row, three contacts between two
    SCENE_BUNDLE,  // 3D: the same pile of elastic rods with 8 nodes each; the top one is pulled out
    SCENE_CHAIN,   // 3D: n links on ball joints (constraints) on a floor, the last one is pulled
    SCENE_SQUEEZE, // 3D: n cubes between two walls that close in: no feasible velocity
    SCENE_SAND,    // blocks of 6: a column of n × n × n cells of sand, one stress each
    SCENE_KINDS,
} scene_kind;

/// What is zero takes its usual value. Of the modifiers SCENE_SAND takes only `mu`.
typedef struct scene_def {
    scene_kind kind;
    int32_t n;
    double mu;         // 0: 0.6
    double push;       // horizontal force on every body, in weights
    double mass_ratio; // every other body is so many times as heavy; 0: all alike (not the rods)
    int32_t copies;    // each contact point is there so often; 0: once
    bool mixed;        // contacts have mu = 0 and mu = 2 in turn
    double length, mass, time; // what 1 m, 1 kg and 1 s are in the units of the problem; 0: 1
} scene_def;

talus_status scene_create(talus_context *ctx, const scene_def *def, talus_problem **out);

#endif // TESTS_SCENES_H
