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
    int threads; ///< of the team that the step is made with
} tl_step;

/// Sums for the ledger [J, kg m/s, kg m²/s], of what moves freely.
typedef struct tl_account {
    double kinetic, potential, elastic, momentum[3], angular[3];
    int32_t bodies;
} tl_account;

/// What inner forces of a model did in a step [J].
typedef struct tl_inner {
    double elastic; ///< work of all forces but gravity and damping on the unknowns, as the problem
                    ///< has them: what elastic energy loses, up to errors of the time stepping
    double damping; ///< work of damping, <= 0
    double given;   ///< work of given motions on parts of a group (row_given)
    double jump; ///< ½ D·(M̃ − M) D, D = v+ − v, where the mass M̃ of the problem is not the
                 ///< inertia M alone; of groups that contacts act on
} tl_inner;

typedef struct tl_model tl_model;

/// The law of a block that a model brings along; see talus_law_view.
typedef struct tl_block_law {
    double mu, tension;
} tl_block_law;

/// An item of another model that one which fills space, such as sand, may meet.
typedef struct tl_obstacle {
    int32_t item;             ///< the world's number
    double centre[3], extent; ///< a ball that holds it; infinite: unbounded
    double friction;
} tl_obstacle;

enum { TL_BLOCK_GROUPS = 27 }; ///< most groups of a block that a model brings along

/// In the order the world calls them during a step. Nothing of the state changes before `commit`,
/// which cannot fail: a step that fails leaves the model as it was.
typedef struct tl_model_ops {
    const char *name;
    void (*destroy)(tl_model *m);
    int32_t (*item_count)(const tl_model *m);
    /// The longest step, at most step->h, in which no point of a surface that moves freely goes
    /// farther than max_move at the speed it would have without contacts [s].
    double (*step_limit)(const tl_model *m, const tl_step *step, double max_move);
    /// Largest speed that any surface has at the beginning of the step, would have at its end
    /// without contacts, or is given on the mean [m/s]: of its shape, which the spin of a ball does
    /// not move, or, where `slip`, of the material points on it.
    double (*speed)(const tl_model *m, const tl_step *step, bool slip);
    /// Begin the step: poses of the items where contacts are looked for.
    talus_status (*place)(tl_model *m, const tl_step *step, tl_pose *pose);
    int32_t (*group_count)(const tl_model *m);
    /// Number of unknowns of each group, and the group whose unknowns move each item (−1: its
    /// motion is given).
    void (*groups)(const tl_model *m, int32_t *size, int32_t *group_of);
    /// Whether every mass block is diagonal.
    bool (*is_diagonal)(const tl_model *m);
    /// Half-width of the mass block of a group that is a band; −1: dense. NULL: all dense.
    int32_t (*band)(const tl_model *m, int32_t group);
    /// The mass of all groups in a row, dense blocks, bands (lower columns, half-width + 1 entries
    /// each) or their diagonals alone; f = M v + h
    /// (forces); and the velocities v before. v is the state carried along by inertia alone
    /// (gyroscopic terms included), so that M (v+ − v) is the sum of all impulses.
    void (*motion)(const tl_model *m, const tl_step *step, bool diagonal, double *mass, double *f,
                   double *v);
    /// Velocity of the point at `arm` from the item's pose (the one `place` gave), along `count`
    /// directions (rows of 3), added to `out`: the dense block count × group size, row major, where
    /// the item has a group; otherwise the given mean velocity over the step, `count` values. Safe
    /// from any number of threads.
    void (*row)(const tl_model *m, const tl_step *step, int32_t item, const tl_pose *pose,
                const double arm[3], const double *direction, int32_t count, double *out);
    /// For an item with a group: the share of given motions in the same velocity, `count` values,
    /// added to `out`. NULL: none.
    void (*row_given)(const tl_model *m, const tl_step *step, int32_t item, const tl_pose *pose,
                      const double arm[3], const double *direction, int32_t count, double *out);
    /// The same as `row` for the angular velocity of the item along the directions.
    void (*turn)(const tl_model *m, const tl_step *step, int32_t item, const tl_pose *pose,
                 const double *direction, int32_t count, double *out);
    /// Blocks that the model brings along besides its contacts, such as stresses of sand; they are
    /// known once `place` was called. NULL: none. Their size is that of a symmetric tensor: 3 in
    /// 2D, 6 in 3D.
    int32_t (*block_count)(const tl_model *m);
    /// Once contacts have been looked for, before groups and blocks are asked for: the items of
    /// other models, in ascending order. `ball` is a shape of the model's own. NULL: not wanted.
    talus_status (*meet)(tl_model *m, const tl_step *step, const tl_collide *c, int32_t ball,
                         const tl_obstacle *obstacle, int32_t count);
    /// The item of a model before this one that block i acts on, too, −1: none; the point of it
    /// and the directions (rows of 3, one for each row of the block) whose velocities are taken
    /// off u.
    int32_t (*block_item)(const tl_model *m, int32_t i, double point[3], double *direction);
    /// The groups of its own that block i acts on, ascending; returns how many.
    int32_t (*block_groups)(const tl_model *m, int32_t i, int32_t *group);
    /// H of block i (size × group size each, in a row), its w and law. Safe from any number of
    /// threads.
    void (*block_fill)(const tl_model *m, const tl_step *step, int32_t i, double *h, double *w,
                       tl_block_law *law);
    /// Start of all blocks: their r of the last step, as far as they were there.
    void (*block_start)(const tl_model *m, const tl_step *step, double *r);
    /// The r of all blocks, before `commit`.
    void (*block_take)(tl_model *m, const tl_step *step, const double *r);
    /// Work of all given forces but gravity, damping included, with the velocities before and after
    /// the step [J]. NULL: none.
    double (*work)(const tl_model *m, const tl_step *step, const double *before,
                   const double *after);
    /// What inner forces did; `acting` tells for each group whether contacts act on it. Before
    /// `commit`. NULL: there are none.
    void (*inner)(const tl_model *m, const tl_step *step, const double *before, const double *after,
                  const uint8_t *acting, tl_inner *add);
    /// End the step with the new velocities.
    void (*commit)(tl_model *m, const tl_step *step, const double *v);
    /// After all models have committed, the items are where they are at the end of the step: what
    /// fills space makes way for them. Arguments as for `meet`. NULL: not wanted.
    void (*settle)(tl_model *m, const tl_step *step, const tl_collide *c, int32_t ball,
                   const tl_obstacle *obstacle, int32_t count);
    /// Add the sums of the present state; potential of gravity, 0 at the origin; elastic energy.
    void (*account)(const tl_model *m, const double gravity[3], tl_account *add);
    /// Continue a hash over the whole state.
    uint64_t (*hash)(const tl_model *m, uint64_t seed);
} tl_model_ops;

/// First member of every model.
struct tl_model {
    const tl_model_ops *ops;
    talus_context *ctx;
};

#endif // TL_MODEL_MODEL_H
