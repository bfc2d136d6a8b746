// SPDX-License-Identifier: Apache-2.0
// Sand as a continuum, by the material point method [docs/theory/sand.md]. Particles carry the
// sand; a grid of cubes, of which only those that hold particles exist, carries the equations of a
// step. Velocities and stresses are multilinear between nodes. Of the friction problem
//     M v = f + Hᵀ r,    u = H v + w,
// a node has a group of `dim` velocities with the mass ρ m_i, m_i = Σ_p V_p w_i(x_p), and a block
// of 3 (2D) or 6 (3D) numbers in the coordinates of tensor.h,
//     H_ij = Σ_p V_p w_i(x_p) 2 χ⁻¹ D(w_j)(x_p),    w_i = √(2/dim) max(0, φmax V_i − Φ_i)/h,
// u the rate of strain (and the room there is left to close up), r = h λ the stress over the step,
// compression positive, and the law the one of contacts: a Drucker-Prager yield with no dilatancy.
// V_p is the volume of grain material that a particle stands for, Φ_i = m_i the one of a node and
// V_i the volume of space, or, where `packed`, no more than what the frames of particles have of
// it.
#ifndef TL_SAND_SAND_H
#define TL_SAND_SAND_H
#include "model/model.h"
#include "sand/cells.h"
#include "talus/world.h"

/// State of the particles, about in the order of their cells.
typedef struct tl_grains {
    int64_t count, room;
    int64_t *id;      // in the order they were added
    double *x, *v;    // 3 each
    double *gradient; // 9 each: of the velocity, row major
    double *volume;   // of grain material [m³], in 2D [m²]
    double *frame; // 9 each: F; the roots of its eigenvalues are the half axes of what a particle
                   // stands for
    double *inertial; // inertial number
    double *bond;     // share of its cohesion that it still has
    // Where the sand has them, else of no width:
    int orient_width, stress_width;
    double *orient; // 9 each: second moment of the normals of its grains
    double *stress; // as many as a tensor has: λ of the last step [Pa]
} tl_grains;

/// What a cell gives a node: Σ_p V_p w (1, velocity, inertial number, bond), and, where `packed`,
/// Σ_p w times the space of the particle's frame.
enum { TL_SUM_VOLUME, TL_SUM_MOMENTUM, TL_SUM_INERTIAL = 4, TL_SUM_BOND, TL_SUM_SPACE, TL_SUMS };

/// A stress, and what it sees: nodes ascending with Σ_p V_p w ∇w_j of each, and means over
/// particles.
enum { TL_POINT_NODES = 27 };
typedef struct tl_point {
    int32_t count, node[TL_POINT_NODES];
    double rate[TL_POINT_NODES][3];
    double volume, space; // of grains; of space that they may fill
    double inertial, bond;
    double orient[9]; // where grains are not round
} tl_point;

/// A node in or near a body.
typedef struct tl_grip {
    int32_t node, item;
    double normal[3]; // out of the body
    double friction;
} tl_grip;

typedef struct tl_held {
    uint64_t key; // of the node
    int32_t item;
    double impulse[3]; // over the length of the step [N]
} tl_held;

/// For the viscous part of a step, and for making room: vectors of 3 numbers for each node, and for
/// each corner of a cell.
typedef struct tl_viscous {
    int64_t node_room, cell_room;
    double *diagonal, *residual, *direction, *product, *cell;
} tl_viscous;

/// Sums over the particles, for the ledger: kinetic energy [J], Σ m x, momentum, angular momentum.
enum {
    TL_TALLY_KINETIC,
    TL_TALLY_FIRST,
    TL_TALLY_MOMENTUM = 4,
    TL_TALLY_ANGULAR = 7,
    TL_TALLY = 10
};

typedef struct tl_sand {
    tl_model base;
    int32_t dim;
    talus_sand_def def;
    tl_grains grains;
    int64_t added; // particles that there ever were
    double lost;   // volume that left through free faces
    bool tallied;  // the sums are those of the particles as they are
    double tally[TL_TALLY];
    tl_cells cells;
    double *scratch; // 9 for each particle
    int64_t scratch_room;
    // Of the step in hand, by nodes.
    int64_t node_room, cell_room;
    double *node;     // TL_SUMS each: sums over cells
    double *velocity; // 3 each: momentum by volume
    double *next;     // 3 each: with gravity and viscosity alone; at last, after the step
    tl_viscous viscous;
    // By cells.
    double *sums;  // corners × TL_SUMS
    double *rate;  // corners × corners × dim: Σ_p V_p w_a ∇w_b
    double *taken; // by nodes: share of their space that bodies take
    // Where grains are not round: Σ_p V_p w ν, 9 for each corner of a cell and for each node.
    double *orient_sums, *orient_node;
    double *point; // stresses of the points, on their way
    int64_t point_room;
    // Where nodes are held by bodies: a contact each, with a group of its own for the rows that a
    // contact has no use for.
    int64_t grips, grip_room;
    tl_grip *grip;
    // Impulses of the grips of the last step, for the start of the next, sorted by (item, key).
    int64_t held_count, held_room;
    tl_held *held;
    // Stress λ of the last step [Pa]: the start of the next.
    int64_t stress_count, stress_room;
    uint64_t *stress_key; // of nodes; as these are numbered
    double *stress;       // as many numbers as a tensor has
    // The same at the corners of cells, which ascend (q1d).
    int64_t corner_count, corner_room;
    uint64_t *corner_key; // of cells
    double *corner;       // corners × as many
} tl_sand;

talus_status tl_sand_create(talus_context *ctx, int32_t dim, const talus_sand_def *def,
                            tl_sand **out) TALUS_MUST_CHECK;
/// Add a particle: a cube of the edge `size` that holds that volume of grain material.
talus_status tl_sand_add(tl_sand *m, const double x[3], const double v[3], double volume,
                         double size) TALUS_MUST_CHECK;

extern const tl_model_ops tl_sand_ops;

/// The arrays of doubles that particles have, and how many numbers each has of a particle.
enum { TL_GRAIN_ARRAYS = 9 };
void tl_sand_arrays(tl_grains *g, double **array[TL_GRAIN_ARRAYS], int width[TL_GRAIN_ARRAYS]);
talus_status tl_sand_reserve_grains(tl_sand *m, int64_t need) TALUS_MUST_CHECK;

// ---- save.c ------------------------------------------------------------------------------------

/// The state as numbers: how many there are, and, where `out` is not NULL, the numbers.
int64_t tl_sand_save(const tl_sand *m, double *out);
/// And back; on failure the sand is as before.
talus_status tl_sand_load(tl_sand *m, const double *in, int64_t count) TALUS_MUST_CHECK;

/// Particles that are worked on at a time, in vectors.
enum { TL_SAND_LANES = 8 };
/// Ask for what comes two rounds after place i of the order: in flow particles of one cell lie in
/// several places, which the processor does not foresee.
TL_INLINE void tl_sand_ahead(const tl_sand *m, int64_t i, bool frames) {
    const tl_grains *g = &m->grains;
    const int64_t end = TL_MIN(i + 3 * (int64_t)TL_SAND_LANES, g->count);
    for (i += 2 * (int64_t)TL_SAND_LANES; i < end; i++) {
        const int64_t p = m->cells.order[i];
        TL_PREFETCH(g->x + 3 * p);
        TL_PREFETCH(g->v + 3 * p);
        TL_PREFETCH(g->gradient + 9 * p);
        TL_PREFETCH(g->gradient + 9 * p + 8);
        TL_PREFETCH(g->volume + p);
        if (!frames) continue;
        TL_PREFETCH(g->frame + 9 * p);
        TL_PREFETCH(g->frame + 9 * p + 8);
    }
}

// ---- transfer.c --------------------------------------------------------------------------------

/// A particle on the face between two cells, and alone in its own, would leave nodes without mass
/// and stresses that nothing moves: it is taken to be this part of a cell within.
#define TL_SAND_EDGE 1e-6
TL_INLINE double tl_sand_within(double xi) {
    return TL_MIN(TL_MAX(xi, TL_SAND_EDGE), 1.0 - TL_SAND_EDGE);
}
/// Weights of the corners of a cell at x, and their gradients.
void tl_sand_weights(const tl_sand *m, const double x[3], const int32_t cell[3], double *weight,
                     double (*gradient)[3]);
/// Bit k is set where the velocity of a node along axis k is held at zero by a face of the box.
unsigned tl_sand_held(const tl_sand *m, int32_t node);
/// Node sums and rates from the particles.
void tl_sand_gather(tl_sand *m, const tl_step *step);

// ---- move.c ------------------------------------------------------------------------------------

/// Velocities and gradients of the particles from the nodes' `next`; then they move, and by `shift`
/// (3 for each node; NULL: none) besides.
void tl_sand_move(tl_sand *m, const tl_step *step, const double *shift);
/// F ← E F Eᵀ with E = exp(h L): what a constant gradient L of the velocity (row major) makes of a
/// frame in the time h.
void tl_sand_frame(double h, const double gradient[9], double frame[9]);
/// Everything of particle `from` becomes that of `to`.
void tl_sand_copy(tl_grains *g, int64_t to, int64_t from);
/// Bring a point back into the box.
static inline void tl_sand_clamp(const tl_sand *m, double x[3]) {
    const tl_cells *g = &m->cells;
    for (int k = 0; k < m->dim; k++) {
        const double low = g->origin[k], high = low + g->extent[k] * g->edge;
        x[k] = x[k] < low ? low : x[k] > high ? high : x[k];
    }
}

// ---- tally.c -----------------------------------------------------------------------------------

/// The sums, over blocks of particles as they lie: the same for any number of threads.
void tl_sand_get_tally(const tl_sand *m, double out[TL_TALLY]);
/// The same with several threads, into m->tally. Memory (scratch) must be there.
void tl_sand_tally(tl_sand *m, int threads);

// ---- order.c -----------------------------------------------------------------------------------

/// Memory for the two below.
talus_status tl_sand_reserve_order(tl_sand *m) TALUS_MUST_CHECK;
/// Find the order of the particles by cells; where they are too far from lying in it, they are put
/// so. This depends on where they are and lie, and on nothing else.
talus_status tl_sand_order(tl_sand *m, int threads) TALUS_MUST_CHECK;
/// And put them so in any case.
talus_status tl_sand_sort(tl_sand *m, int threads) TALUS_MUST_CHECK;

// ---- viscosity.c -------------------------------------------------------------------------------

/// The velocities of the nodes without stress and bodies, into `next`.
talus_status tl_sand_push(tl_sand *m, const tl_step *step) TALUS_MUST_CHECK;
/// Work of viscosity with the velocities before and after the step [J].
double tl_sand_viscous_work(const tl_sand *m, const tl_step *step, const double *before,
                            const double *after);

/// Room for the vectors of m->viscous.
talus_status tl_sand_reserve_viscous(tl_sand *m) TALUS_MUST_CHECK;

// ---- room.c ------------------------------------------------------------------------------------

/// Displacements of the nodes that make room where sand is too dense, into viscous.diagonal; false:
/// none. Allocates nothing.
bool tl_sand_make_room(tl_sand *m, const tl_step *step);

// ---- resample.c --------------------------------------------------------------------------------

/// Split and merge particles, which lie in the order of their cells, as far as there is room;
/// whether any were.
bool tl_sand_resample(tl_sand *m);

// ---- point.c -----------------------------------------------------------------------------------

/// How many stresses there are.
int64_t tl_sand_points(const tl_sand *m);
void tl_sand_get_point(const tl_sand *m, int64_t i, tl_point *out);
int32_t tl_sand_point_nodes(const tl_sand *m, int64_t i, int32_t *node);
/// Volume of space that belongs to a node: the integral of its weight over the box, less what
/// bodies take.
double tl_sand_space(const tl_sand *m, int32_t i);
/// Space that a frame stands for: 2^dim √det F.
double tl_sand_frame_space(const tl_sand *m, const double *frame);
/// Stresses [Pa] of all points as the last step left them, and those of this step to be kept.
void tl_sand_point_start(const tl_sand *m, double *stress);
void tl_sand_point_take(tl_sand *m, const double *stress);
talus_status tl_sand_reserve_points(tl_sand *m) TALUS_MUST_CHECK;

// ---- orient.c ----------------------------------------------------------------------------------

/// A of a mean ν: 2 × 2 or 5 × 5, row major.
void tl_sand_tilt(const tl_sand *m, const double *nu, double *a);
/// The tangent of `columns` tensors, in rows: A x, or A⁻¹ x.
void tl_sand_tilt_apply(int dim, bool inverse, const double *a, int columns, double *x);
/// What a constant gradient of the velocity (row major) makes of ν in the time h.
void tl_sand_turn_normals(const tl_sand *m, double h, const double gradient[9], double nu[9]);

// ---- stress.c ----------------------------------------------------------------------------------

/// What residuals are relative to [√energy]; 0: nothing of its own. An error of the stress at a
/// full node that is the tolerance times ρ g L makes that residual, L the height given.
double tl_sand_scale(const tl_sand *m, const tl_step *step);
int32_t tl_sand_block_count(const tl_model *m);
int32_t tl_sand_block_groups(const tl_model *m, int32_t i, int32_t *group);
void tl_sand_block_fill(const tl_model *m, const tl_step *step, int32_t i, double *h, double *w,
                        tl_block_law *law);
void tl_sand_block_start(const tl_model *m, const tl_step *step, double *r);
void tl_sand_block_take(tl_model *m, const tl_step *step, const double *r);

// ---- grip.c ------------------------------------------------------------------------------------

talus_status tl_sand_meet(tl_model *m, const tl_step *step, const tl_collide *c, int32_t ball,
                          const tl_obstacle *obstacle, int32_t count) TALUS_MUST_CHECK;
/// Particles that are within a body are put on its surface.
void tl_sand_put_out(tl_sand *m, int threads, const tl_collide *c, int32_t ball,
                     const tl_obstacle *obstacle, int32_t count);
int32_t tl_sand_block_item(const tl_model *m, int32_t i, double point[3], double *direction);
void tl_sand_grip_start(const tl_sand *m, const tl_step *step, double *r);
void tl_sand_grip_take(tl_sand *m, const tl_step *step, const double *r);
/// Where a node is [m].
void tl_sand_node_place(const tl_sand *m, int32_t node, double x[3]);

#endif // TL_SAND_SAND_H
