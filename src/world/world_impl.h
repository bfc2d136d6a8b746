// SPDX-License-Identifier: Apache-2.0
// The world from inside.
#ifndef TL_WORLD_IMPL_H
#define TL_WORLD_IMPL_H
#include "base/context.h"
#include "collide/collide.h"
#include "model/model.h"
#include "rigid/penalty.h"
#include "rigid/rigid.h"
#include "rod/rod.h"
#include "sand/sand.h"
#include "talus/world.h"
#include "world/joints.h"

enum {
    TL_WORLD_MODELS = 4, // room for models
    TL_STAGE_ROWS = 6,   // most rows of a block
};

/// Materials and what holds between any two of them.
typedef struct tl_materials {
    int32_t count;
    talus_material_def *own;  // count
    talus_material_def *pair; // count × count
} tl_materials;

talus_status tl_materials_add(talus_context *ctx, tl_materials *m,
                              const talus_material_def *material) TALUS_MUST_CHECK;
talus_status tl_materials_set_pair(talus_context *ctx, tl_materials *m, int32_t a, int32_t b,
                                   const talus_material_def *pair) TALUS_MUST_CHECK;
void tl_materials_clear(talus_context *ctx, tl_materials *m);

/// Contacts of the last step: the arrays behind talus_contact_view. Their keys and impulses are
/// what the next step starts from, so they belong to the state.
typedef struct tl_contacts {
    int32_t count, room;
    int32_t *a, *b;
    uint32_t *feature;
    double *point, *normal, *gap, *impulse, *velocity;
    uint8_t *status;
    double h;      // length of the step that the impulses are of
    bool nameless; // of each only key and impulse are there, see tl_contacts_forget
} tl_contacts;

talus_status tl_contacts_reserve(talus_context *ctx, tl_contacts *c, int64_t need) TALUS_MUST_CHECK;
void tl_contacts_clear(talus_context *ctx, tl_contacts *c);
/// Keep of every contact what the next step starts from, and nothing else.
void tl_contacts_forget(talus_context *ctx, tl_contacts *c);
/// Exact room for the keys, normals and gaps of `count` contacts, in place of what was there, and
/// then for all the rest.
talus_status tl_contacts_begin(talus_context *ctx, tl_contacts *c, int32_t count) TALUS_MUST_CHECK;
talus_status tl_contacts_complete(talus_context *ctx, tl_contacts *c) TALUS_MUST_CHECK;

/// The problem of the step in hand, as arrays. Kept between steps for their memory only.
///
/// Lean: of a large bed of balls, whose memory counts, nothing is kept for longer than it is
/// wanted, and no number twice. Searching, solving and looking at the result take turns with the
/// same memory. Of a touch the normal and the gap are kept, in `next` of the world, for the rest
/// follows from them and the balls; what `motion` of the model gave is worked out again after the
/// solve.
typedef struct tl_stage {
    bool lean;
    tl_step step;         // lean: the one in hand
    tl_pose *pose;        // items
    int32_t *group_of;    // items: −1 where the motion is given
    int32_t *group_start; // groups + 1: first unknown
    uint8_t *acting;      // groups: a contact acts on it
    int64_t *mass_at;     // groups + 1: where a group's part of `mass` begins
    int32_t *band;        // groups: half-width of a mass block that is a band; −1: dense
    bool diagonal;        // `mass` holds diagonals
    double *mass, *f, *before;
    const double *after; // borrowed from the problem, as is u
    int64_t *h_start;    // contacts + 1, in blocks
    int32_t *h_body;
    bool balls;       // H is kept as arms and the normals of the touches, see talus_ball_rows
    double *arm;      // blocks of H
    bool *back;       // contacts
    int64_t *h_value; // else: contacts + 1: where the values of a contact's blocks begin
    double *h_block;
    double *w;       // dim * contacts: what the law sees besides H v
    double *given;   // dim * contacts: share of given motions in the relative velocity; NULL where
                     // nothing moves in a given way
    double *mu;      // contacts
    double *r;       // dim * contacts
    const double *u; // dim * contacts
    double *yield;   // blocks: of motors; NULL without drives and blocks of models, as tension
    double *tension; // blocks: of what models bring along
    int32_t groups, dof, contacts;
    int32_t size;      // rows of a block: those of a contact, or of a tensor where a model brings
                       // blocks along; what `dim` counts above
    int32_t idle;      // groups behind those of the models: rows that drives and contacts have no
                       // use for act on them, lest their W_ii be singular
    int32_t blocks;    // contacts, drives of joints, what models bring along: what `contacts`
                       // counts above
    double scale;      // of residuals, 0: the largest load
    int64_t idle_mass; // where the mass of the next idle group goes
    int64_t pad_mass;  // the same of the first contact's idle group
    tl_ties ties;
    const tl_touch *touch; // contacts; borrowed from the search or from the ties. NULL: lean
    int32_t first_item[TL_WORLD_MODELS + 1], first_group[TL_WORLD_MODELS + 1];
    int32_t first_block[TL_WORLD_MODELS + 1]; // of those that models bring along
} tl_stage;

/// The contacts of a step that are solved for, where not all are, see part.c. Kept between steps
/// for its memory only.
typedef struct tl_part {
    int32_t count;          // 0: all were
    int32_t *index;         // contacts of the stage
    uint8_t *in;            // of each contact of the stage: it is one of them
    talus_problem *problem; // theirs; its H, w and mu are these:
    int64_t *h_start;
    int32_t *h_body;
    double *h_block, *w, *mu;
    double *r;
} tl_part;

/// A shape as it was given, other than a ball with a radius and nothing else.
typedef struct tl_world_shape {
    const talus_shape_def *def; // the search's copy, or `own`
    talus_shape_def own; // where the search keeps another; arrays belong to the search's copy
    talus_mass *mass;    // with density 1; NULL where it has not been worked out
    double extent;       // from its centre of mass
} tl_world_shape;

struct talus_world {
    talus_context *ctx;
    talus_world_def def; // .solver points to solver_name
    char *solver_name;
    talus_solver *solver;
    talus_problem *problem; // of the last step
    tl_collide *collide;
    tl_model *model[TL_WORLD_MODELS];
    int model_count;
    tl_rigid *rigid;     // model 0
    tl_sand *sand;       // NULL: none
    tl_rods *rods;       // model 1
    int32_t rod_items;   // segments of rods that the search has as items, behind the bodies
    int32_t *rod_shape;  // segments: their shapes
    double *rod_push;    // segments: speed of bodies that may hit them in the step
    tl_touch *rod_touch; // contacts of the step without those that rods have no use for
    int32_t sand_ball, sand_material;
    tl_obstacle *obstacle; // of the step in hand
    tl_materials materials;
    tl_world_shape **shape; // NULL: a ball
    int32_t shape_count, shape_room;
    int32_t *item_shape, *item_material;
    double *item_thin; // continuous: half of the least width; infinite: unbounded. Otherwise NULL
    int32_t item_room;
    double smallest; // least extent of a bounded shape in use; infinite: none
    tl_contacts contacts;
    tl_contacts next; // of the step in hand, where the stage is lean
    tl_joints joints;
    tl_stage stage;
    tl_part part;
    double time;
    int64_t steps, missed_steps;
    // penalty
    tl_springs *springs;  // NULL with other schemes
    double elastic;       // [J] in springs now
    double *curvature;    // of each body's surface
    double *given_motion; // 6 for each body: mean velocity and spin over the step in hand
    int32_t spring_count, spring_room;
};

// ---- world.c -----------------------------------------------------------------------------------

/// A shape as it was given; that of a ball is written to `room`.
const talus_shape_def *tl_world_shape_def(const talus_world *w, int32_t shape,
                                          talus_shape_def *room);
/// Room for what is kept of `count` items.
talus_status tl_world_reserve_items(talus_world *w, int32_t count) TALUS_MUST_CHECK;

// ---- assemble.c --------------------------------------------------------------------------------

/// Find the contacts of the step: stage.touch and .contacts.
talus_status tl_stage_detect(talus_world *w, const tl_step *step, double reach,
                             double *detect_seconds) TALUS_MUST_CHECK;
/// Find the contacts of the step and fill the stage with its problem. Changes nothing else.
talus_status tl_stage_fill(talus_world *w, const tl_step *step, double reach,
                           double *detect_seconds) TALUS_MUST_CHECK;
/// Fill it again without the contacts that are marked in ties.held.
talus_status tl_stage_leave_out(talus_world *w, const tl_step *step) TALUS_MUST_CHECK;
/// Put the impulses of the last step into r where a contact has persisted, scaled to the new
/// length.
void tl_stage_warm_start(talus_world *w, const tl_step *step);
talus_global_def tl_stage_def(const talus_world *w);
talus_status tl_stage_reserve_items(talus_context *ctx, tl_stage *s,
                                    int64_t items) TALUS_MUST_CHECK;
void tl_stage_clear(talus_context *ctx, tl_stage *s);

/// Lean: give the memory back that a solve can do without. The problem, when it wants its part, and
/// with it the certificate, has the stage take it again.
void tl_stage_rest(talus_world *w);

/// Contact i of the step in hand.
typedef struct tl_stage_contact {
    int32_t a, b;
    uint32_t feature;
    double gap;
    const double *normal;
} tl_stage_contact;

static inline tl_stage_contact tl_stage_get(const talus_world *w, int32_t i) {
    const tl_touch *t = w->stage.touch;
    const tl_contacts *c = &w->next;
    if (t) return (tl_stage_contact){t[i].a, t[i].b, t[i].feature, t[i].gap, t[i].normal};
    return (tl_stage_contact){c->a[i], c->b[i], c->feature[i], c->gap[i],
                              c->normal + 3 * (int64_t)i};
}

/// Share of given motions in number k of the relative velocities.
static inline double tl_stage_given(const tl_stage *s, int64_t k) {
    return s->given ? s->given[k] : 0.0;
}
/// Velocity of block i before the step, s->size numbers, once its problem is made.
void tl_stage_prior(const talus_world *w, int32_t i, double *out);

/// The model of an item, and the item's number there.
const tl_model *tl_stage_model(const talus_world *w, int32_t item, int32_t *own);
int32_t tl_stage_size(const tl_stage *s, int32_t group); ///< unknowns; group −1 has none
/// Place of a diagonal entry of a group's mass in s->mass.
int64_t tl_stage_mass_at(const tl_stage *s, int32_t group, int32_t k);
/// Unknowns of an idle group: enough for the rows of any block.
static inline int32_t tl_stage_idle_size(const talus_world *w) { return w->def.dim == 2 ? 3 : 6; }

// ---- sand.c ------------------------------------------------------------------------------------

/// The items that sand may meet, at the poses of the stage. Borrowed until the next step.
talus_status tl_sand_obstacles(talus_world *w, const tl_obstacle **out,
                               int32_t *count) TALUS_MUST_CHECK;

/// After all commits: sand makes way for bodies where they are now.
void tl_sand_settle_world(talus_world *w, const tl_step *step);

// ---- rod.c -------------------------------------------------------------------------------------

/// Where held ends of rods will be at the end of the step.
void tl_rods_grip(talus_world *w, const tl_step *step);
/// Segments of rods become items of the search, behind all bodies.
talus_status tl_rods_items(talus_world *w) TALUS_MUST_CHECK;
/// A body is added: the segments, which come behind it, are no items for the time being, and the
/// contacts of the last step have other numbers.
void tl_rods_make_way(talus_world *w);
/// Whether a rod is held by a body.
bool tl_rods_hold_on(const talus_world *w, int32_t body);
/// Leave out contacts of rods that have no effect, that are found twice where two segments meet, or
/// that the step cannot close; may replace s->touch and s->contacts.
talus_status tl_rods_filter(talus_world *w, const tl_step *step) TALUS_MUST_CHECK;

// ---- step.c ------------------------------------------------------------------------------------

/// Gap up to which a pair of the moreau-jean scheme touches.
double tl_world_touch(const talus_world *w);

// ---- sweep.c -----------------------------------------------------------------------------------

/// Half of the least width of a body, about; `unit` is its mass at density 1.
double tl_sweep_thickness(int32_t dim, const talus_mass *unit, double extent);
/// Shorten the step so that no body passes through another one unseen.
talus_status tl_world_sweep(talus_world *w, tl_step *step) TALUS_MUST_CHECK;

// ---- part.c ------------------------------------------------------------------------------------

/// Whether the staged problem is one that a part of it may stand for.
bool tl_part_applies(const talus_world *w);
/// Solve the staged problem through the part of its contacts that can close, from s->r, which holds
/// the result. `done` false: the part would be as good as all, and nothing was done.
talus_status tl_part_solve(talus_world *w, talus_solve_info *info, bool *done) TALUS_MUST_CHECK;
void tl_part_clear(talus_context *ctx, tl_part *p);

// ---- joints.c ----------------------------------------------------------------------------------

void tl_joints_clear(talus_context *ctx, tl_joints *j);
uint64_t tl_joints_hash(const tl_joints *j, uint64_t seed);
/// After the models' commit: impulses, positions and errors of the step; the largest error.
double tl_joints_take(talus_world *w, const tl_step *step);

// ---- ties.c ------------------------------------------------------------------------------------

/// Most idle groups that the joints may ask for.
int32_t tl_ties_idle(const talus_world *w);
/// Leave out the contacts of bodies that joints hold; may replace s->touch and s->contacts.
talus_status tl_ties_filter(talus_world *w) TALUS_MUST_CHECK;
/// Leave out those that are marked as held.
talus_status tl_ties_leave_out(talus_world *w) TALUS_MUST_CHECK;
/// C, k and which drives there are, with their idle groups.
talus_status tl_ties_fill(talus_world *w, const tl_step *step) TALUS_MUST_CHECK;
/// Blocks and values of drive i.
void tl_ties_layout(const talus_world *w, int32_t drive, int32_t *blocks, int64_t *values);
/// H, w and law of the drives.
void tl_ties_blocks(talus_world *w, const tl_step *step);
/// Impulses of the last step of the same drives, as a start.
void tl_ties_warm_start(talus_world *w, const tl_step *step);
/// What the joints' impulses did, for the ledger.
void tl_ties_account(const talus_world *w, talus_ledger *out);
/// Row of a drive's block that counts.
int32_t tl_drive_row(const tl_drive *d);
void tl_ties_clear(talus_context *ctx, tl_ties *t);

// ---- ledger.c ----------------------------------------------------------------------------------

/// Energies of the step from r, u, and the velocities before and after; `start` holds the sums of
/// the state before. Called before the models commit. Returns ½ v+·M v+ [J], to be handed to
/// tl_ledger_close, which completes the ledger when models and contacts are those after the step.
double tl_ledger_energies(const talus_world *w, const tl_step *step, const tl_account *start,
                          talus_ledger *out);
void tl_ledger_close(const talus_world *w, double after, const tl_account *end, talus_ledger *out);
/// Sums over all models.
tl_account tl_world_account(const talus_world *w);

// ---- contacts.c --------------------------------------------------------------------------------

/// Replace the contacts by those of the stage, for which room was made.
void tl_contacts_take(talus_world *w, const tl_step *step);
/// Key, point, normal and gap of contact i, from the poses of the stage.
void tl_contacts_describe(talus_world *w, int32_t i, const tl_touch *t);

// ---- penalty_step.c ----------------------------------------------------------------------------

/// All of a step but the clock.
talus_status tl_world_step_penalty(talus_world *w, const tl_step *step, double reach,
                                   talus_ledger *out) TALUS_MUST_CHECK;

#endif // TL_WORLD_IMPL_H
