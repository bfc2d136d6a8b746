// SPDX-License-Identifier: Apache-2.0
// What the world asks of every model (rigid bodies, rods, sand, …). A model owns groups of velocity
// unknowns ("bodies" of talus_global_def) and items that can touch. The world puts the groups of
// all models one after the other, finds contacts between all items, and asks each side of a contact
// for its block of H: a model knows no other model, and the world knows no model from inside.
#ifndef TL_MODEL_MODEL_H
#define TL_MODEL_MODEL_H
#include "collide/collide.h"

/// The step that is being made.
typedef struct tl_step {
    double time, h; ///< at its beginning; its length
    double theta;   ///< share of the new velocity in the displacement: x+ = x + h (theta v+ +
                    ///< (1 − theta) v); contacts are looked for at x + h (1 − theta) v
    double gravity[3];
} tl_step;

/// Sums for the ledger [J, kg m/s, kg m²/s].
typedef struct tl_account {
    double kinetic, potential, work_forces, momentum[3], angular[3];
    int32_t bodies;
} tl_account;

typedef struct tl_model tl_model;

/// In the order the world calls them during a step.
typedef struct tl_model_ops {
    const char *name;
    void (*destroy)(tl_model *m);
    int32_t (*item_count)(const tl_model *m);
    int32_t (*group_count)(const tl_model *m);
    /// Number of unknowns of a group.
    int32_t (*group_size)(const tl_model *m, int32_t group);
    /// Largest speed that any point of a free body would have at the end of a step without
    /// contacts, scripted ones included [m/s].
    double (*speed)(const tl_model *m, const tl_step *step);
    /// Begin a step: poses of the items where contacts are looked for.
    talus_status (*place)(tl_model *m, const tl_step *step, tl_pose *pose);
    /// Dense mass blocks of all groups in a row, f = M v + h (forces), and the velocities v before.
    void (*motion)(const tl_model *m, const tl_step *step, double *mass_block, double *f,
                   double *v);
    /// The group whose unknowns move an item; −1: its motion is given.
    int32_t (*group_of)(const tl_model *m, int32_t item);
    /// Velocity of the point at `arm` from the item's pose, along `count` directions (rows of 3):
    /// the dense block count × group size, row major, where the item has a group; otherwise the
    /// given mean velocity over the step, `count` values.
    void (*row)(const tl_model *m, const tl_step *step, int32_t item, const double arm[3],
                const double *direction, int32_t count, double *out);
    /// End the step with the new velocities.
    void (*commit)(tl_model *m, const tl_step *step, const double *v);
    void (*account)(const tl_model *m, const tl_step *step, tl_account *add);
    /// Continue a hash over the whole state.
    uint64_t (*hash)(const tl_model *m, uint64_t seed);
} tl_model_ops;

/// First member of every model.
struct tl_model {
    const tl_model_ops *ops;
    talus_context *ctx;
};

#endif // TL_MODEL_MODEL_H
