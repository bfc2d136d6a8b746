// SPDX-License-Identifier: Apache-2.0
// A world: bodies, obstacles, materials and a clock. Every step becomes one friction problem
// (talus/problem.h), is solved, certified and put down in a ledger.
//
// Vectors have three components also in 2D, where z = 0 and rotations are about z. Orientations are
// unit quaternions (w, x, y, z) that turn the body's frame into the world's. SI units are used in
// the texts; any consistent system will do.
#ifndef TALUS_WORLD_H
#define TALUS_WORLD_H
#include "talus/shape.h"
#include "talus/solver.h"
TALUS_EXTERN_C_BEGIN

typedef struct talus_world talus_world; ///< opaque; used by one thread at a time

/// How a step is made: X(name, text, what it is) [theory/schemes].
#define TALUS_SCHEME_LIST(X)                                                                       \
    X(TALUS_SCHEME_FIXED_POINT, "fixed-point",                                                     \
      "gaps and exact Coulomb friction at the end of step")                                        \
    X(TALUS_SCHEME_CONVEX, "convex", "the same with the associated law: opens while sliding")      \
    X(TALUS_SCHEME_MOREAU_JEAN, "moreau-jean", "impact laws e_n, e_t at touching contacts, theta") \
    X(TALUS_SCHEME_PENALTY, "penalty", "springs and dashpots at contacts, explicit small steps")

typedef enum talus_scheme {
#define TALUS_SCHEME_ENUM(name, text, what) name,
    TALUS_SCHEME_LIST(TALUS_SCHEME_ENUM)
#undef TALUS_SCHEME_ENUM
} talus_scheme;

TALUS_API const char *talus_scheme_text(talus_scheme scheme);

/// Normal force of the penalty scheme over depth d > 0: X(name, text, what it is)
/// [theory/penalty].
#define TALUS_PENALTY_LIST(X)                                                                      \
    X(TALUS_PENALTY_CLAMPED, "clamped", "max(0, k d + c d')")                                      \
    X(TALUS_PENALTY_LINEAR, "linear", "k d + c d', attracts while parting")                        \
    X(TALUS_PENALTY_HERTZ, "hertz", "max(0, K d^3/2 + chi d^3/2 d')")

typedef enum talus_penalty {
#define TALUS_PENALTY_ENUM(name, text, what) name,
    TALUS_PENALTY_LIST(TALUS_PENALTY_ENUM)
#undef TALUS_PENALTY_ENUM
} talus_penalty;

/// Dissipation chi of the Hertz law from the wanted restitution e and the speed at first touch:
/// X(name, text, formula).
#define TALUS_CHI_LIST(X)                                                                          \
    X(TALUS_CHI_HUNT_CROSSLEY, "hunt-crossley", "3 (1 - e) K / (2 v)")                             \
    X(TALUS_CHI_LANKARANI, "lankarani-nikravesh", "3 (1 - e^2) K / (4 v)")                         \
    X(TALUS_CHI_FLORES, "flores", "8 (1 - e) K / (5 e v)")                                         \
    X(TALUS_CHI_GONTHIER, "gonthier", "(1 - e^2) K / (e v)")                                       \
    X(TALUS_CHI_HERBERT, "herbert-mcwhannell", "6 (1 - e) K / (((2 e - 1)^2 + 3) v)")              \
    X(TALUS_CHI_LEE_WANG, "lee-wang", "3 (1 - e) K / (4 v)")

typedef enum talus_chi {
#define TALUS_CHI_ENUM(name, text, formula) name,
    TALUS_CHI_LIST(TALUS_CHI_ENUM)
#undef TALUS_CHI_ENUM
} talus_chi;

/// How the penalty scheme integrates.
typedef enum talus_integrator {
    TALUS_INTEGRATOR_LEAP_FROG = 0,       ///< "leap-frog"
    TALUS_INTEGRATOR_PREDICTOR_CORRECTOR, ///< "predictor-corrector" (Gear, third order)
} talus_integrator;

/// A material, or what holds between two of them. Between two materials without an entry of their
/// own every figure is the geometric mean of the two, so that one smooth side makes it smooth.
typedef struct talus_material_def {
    double friction;      ///< mu >= 0
    double restitution;   ///< e_n in [0, 1]; moreau-jean, and damping of penalty
    double restitution_t; ///< e_t in [0, 1]; moreau-jean
    double stiffness;     ///< penalty: k_n [N/m] (clamped, linear); > 0
    double damping;       ///< penalty: c_n [N s/m] (clamped, linear); < 0: from restitution
    double young;         ///< penalty, hertz: E [Pa]
    double poisson;       ///< penalty, hertz: nu in [0, 0.5)
    double tangential;    ///< penalty: k_t / k_n > 0, default 2/7
} talus_material_def;

TALUS_API talus_material_def talus_material_default(void); ///< mu 0.5, e 0, k 1e5, E 1e7, nu 0.3

/// How a body moves that does not move freely: pose(t) for all t, from the pose it was added with.
typedef enum talus_motion_kind {
    TALUS_MOTION_FREE = 0,    ///< by its mass and the forces on it
    TALUS_MOTION_FIXED,       ///< not at all
    TALUS_MOTION_VELOCITY,    ///< x(t) = x0 + velocity t
    TALUS_MOTION_OSCILLATION, ///< x(t) = x0 + amplitude (sin(2 pi frequency t + phase) − sin
                              ///< phase), and likewise an angle about `axis`
    TALUS_MOTION_ROTATION,    ///< turns at `rate` about the line through `pivot` along `axis`
    TALUS_MOTION_KEYFRAMES,   ///< poses at given times, linear (slerp) between, held outside
} talus_motion_kind;

typedef struct talus_keyframe {
    double time;
    double position[3];
    double orientation[4];
} talus_keyframe;

typedef struct talus_motion_def {
    talus_motion_kind kind;
    double velocity[3];             ///< [m/s]
    double amplitude[3];            ///< [m]
    double angle;                   ///< oscillation: amplitude of the angle about axis [rad]
    double frequency, phase;        ///< [1/s], [rad]
    double axis[3], pivot[3];       ///< axis 0: z
    double rate;                    ///< [rad/s]
    const talus_keyframe *keyframe; ///< ascending times; copied
    int32_t keyframe_count;
    double start, stop; ///< the motion runs for t in [start, stop] and rests before and after; stop
                        ///< <= start: for ever. Not for keyframes
} talus_motion_def;

/// A body to add; begin with talus_body_default(). Position and orientation, here, in motions and
/// in views, are those of the frame its shape is given in, which may be any: where the centre of
/// mass and the principal axes are in it follows from the shape (talus_shape_mass). Velocity and
/// force are those of the centre of mass.
typedef struct talus_body_def {
    int32_t shape;    ///< from talus_world_add_shape
    int32_t material; ///< from talus_world_add_material; 0 is there from the beginning
    double position[3], orientation[4];
    double velocity[3], spin[3]; ///< in the world's frame [m/s], [rad/s]
    double density;              ///< [kg/m³] (2D kg/m²); used where mass is 0
    double mass;                 ///< [kg]; 0: from density
    double inertia[3];           ///< principal moments, along the axes of the shape's (talus_mass);
                                 ///< all 0: those of the shape with this mass
    double force[3], torque[3];  ///< constant, besides gravity, in the world's frame
    double damping, spin_damping; ///< rate at which velocity and spin decay [1/s]
    bool locked[6];               ///< components of velocity and spin (world x, y, z) held at zero
    talus_motion_def motion;
} talus_body_def;

TALUS_API talus_body_def talus_body_default(void); ///< free, density 2600, at rest at the origin

/// How a world is made; begin with talus_world_default().
typedef struct talus_world_def {
    int32_t dim;       ///< 2 or 3
    double gravity[3]; ///< [m/s²]
    talus_scheme scheme;
    double step;      ///< h [s], > 0; with max_move the largest step
    double max_move;  ///< > 0: steps so small that no point of a free body's surface moves farther
                      ///< without contacts (the spin of a ball moves none) [m]
    bool continuous;  ///< no body passes through another one in a step, however fast and thin.
                      ///< moreau-jean: steps are shortened to the impacts of bodies that go farther
                      ///< than a part of their thickness; fixed-point, convex: reach is never less
                      ///< than its default. Not for penalty
    double theta;     ///< moreau-jean: in [1/2, 1]
    double reach;     ///< contacts are made of pairs nearer than this [m]; 0: twice the way of the
                      ///< fastest surface in the step (convex: and of what sliding opens).
                      ///< moreau-jean: not used, contacts are what touches at
                      ///< x + (1 − theta) h v
    double period[3]; ///< length of the periodic cell along each axis; 0: not periodic
    talus_penalty penalty;
    talus_chi chi;
    talus_integrator integrator;
    const char *solver; ///< name in the registry; copied
    double tolerance;   ///< of the certificate's residual (no unit); missing it is counted
    int32_t iterations; ///< most iterations per step
    double time_limit;  ///< most seconds per step spent solving
    bool warm_start;    ///< begin with the impulses of the step before
    int32_t threads;
} talus_world_def;

TALUS_API talus_world_def talus_world_default(void);

TALUS_API talus_status talus_world_create(talus_context *ctx, const talus_world_def *def,
                                          talus_world **out) TALUS_MUST_CHECK;
TALUS_API void talus_world_destroy(talus_world *w); ///< NULL is allowed
/// Set an option of the world's solver by key, as talus_solver_set does.
TALUS_API talus_status talus_world_set_solver(talus_world *w, const char *key,
                                              const char *value) TALUS_MUST_CHECK;

/// Indices are given from 0 on (materials: from 1, since 0 is the default material).
TALUS_API talus_status talus_world_add_shape(talus_world *w, const talus_shape_def *shape,
                                             int32_t *out) TALUS_MUST_CHECK;
TALUS_API talus_status talus_world_add_material(talus_world *w, const talus_material_def *material,
                                                int32_t *out) TALUS_MUST_CHECK;
/// What holds between materials a and b (which may be equal), in place of the mean.
TALUS_API talus_status talus_world_set_pair(talus_world *w, int32_t a, int32_t b,
                                            const talus_material_def *pair) TALUS_MUST_CHECK;
/// Bodies may be added between steps at any time.
TALUS_API talus_status talus_world_add_body(talus_world *w, const talus_body_def *body,
                                            int32_t *out) TALUS_MUST_CHECK;
/// Replace the constant force and torque on a body.
TALUS_API talus_status talus_world_set_force(talus_world *w, int32_t body, const double force[3],
                                             const double torque[3]) TALUS_MUST_CHECK;
/// Give a body another motion from now on; its pose at that moment is where the motion begins.
TALUS_API talus_status talus_world_set_motion(talus_world *w, int32_t body,
                                              const talus_motion_def *motion) TALUS_MUST_CHECK;

/// What joints there are: X(name, text, what it leaves free) [theory/joints]. In 2D a hinge turns
/// about z, and ball and hinge are the same.
#define TALUS_JOINT_LIST(X)                                                                        \
    X(TALUS_JOINT_BALL, "ball", "turns in all directions about the anchor")                        \
    X(TALUS_JOINT_HINGE, "hinge", "turns about the axis through the anchor")                       \
    X(TALUS_JOINT_SLIDER, "slider", "slides along the axis, without turning")                      \
    X(TALUS_JOINT_DISTANCE, "distance", "everything but the distance of two points")               \
    X(TALUS_JOINT_WELD, "weld", "nothing")

typedef enum talus_joint_kind {
#define TALUS_JOINT_ENUM(name, text, what) name,
    TALUS_JOINT_LIST(TALUS_JOINT_ENUM)
#undef TALUS_JOINT_ENUM
} talus_joint_kind;

TALUS_API const char *talus_joint_text(talus_joint_kind kind);

/// A joint to add; begin with talus_joint_default(). Anchors and axis are given in the world's
/// frame, with the bodies where they are at that moment: a joint begins without error, with angle
/// and displacement 0.
typedef struct talus_joint_def {
    talus_joint_kind kind;
    int32_t a, b;       ///< the bodies; b = −1: the world, which does not move
    double anchor[3];   ///< point of the joint; distance: the point of a
    double anchor_b[3]; ///< distance: the point of b
    double axis[3];     ///< hinge, slider: along it a turns, slides relative to b; 0: z (hinge), x
                        ///< (slider). Any length
    double length;      ///< distance: to be kept [m]; 0: as it is
    /// Motor of a hinge or slider: it drives the speed of a relative to b towards `speed` with no
    /// more than `limit`. speed 0: dry friction in the joint. limit INFINITY: the speed is given.
    double speed;     ///< [rad/s], [m/s]
    double limit;     ///< torque [N m], force [N]; 0: no motor
    double low, high; ///< stops of a hinge [rad], counted over whole turns, or slider [m]; low <= 0
                      ///< <= high; infinite: none
    bool collide;     ///< contacts between the two bodies; default no
} talus_joint_def;

TALUS_API talus_joint_def talus_joint_default(void); ///< ball, b the world, no stops, no motor
/// Join bodies, at any time between steps. Rows that follow from others, as in closed loops, are
/// allowed. Not with the penalty scheme.
TALUS_API talus_status talus_world_add_joint(talus_world *w, const talus_joint_def *joint,
                                             int32_t *out) TALUS_MUST_CHECK;
/// Give the motor of a hinge or slider another speed and limit.
TALUS_API talus_status talus_world_set_motor(talus_world *w, int32_t joint, double speed,
                                             double limit) TALUS_MUST_CHECK;

/// How a face of the box that sand is in acts on it.
#define TALUS_FACE_LIST(X)                                                                         \
    X(TALUS_FACE_STICK, "stick", "the sand does not move there")                                   \
    X(TALUS_FACE_SLIP, "slip", "it moves along the face, without friction")                        \
    X(TALUS_FACE_NORMAL, "normal", "it moves through the face, not along it")                      \
    X(TALUS_FACE_FREE, "free", "no condition; what passes it is gone")

typedef enum talus_face {
#define TALUS_FACE_ENUM(name, text, what) name,
    TALUS_FACE_LIST(TALUS_FACE_ENUM)
#undef TALUS_FACE_ENUM
} talus_face;

/// How velocities go between particles and grid.
#define TALUS_TRANSFER_LIST(X)                                                                     \
    X(TALUS_TRANSFER_APIC, "apic", "affine: keeps momentum and angular momentum")                  \
    X(TALUS_TRANSFER_PIC, "pic", "the grid's velocity: damps rotation")                            \
    X(TALUS_TRANSFER_FLIP, "flip", "the grid's change of velocity: noisy")

typedef enum talus_transfer {
#define TALUS_TRANSFER_ENUM(name, text, what) name,
    TALUS_TRANSFER_LIST(TALUS_TRANSFER_ENUM)
#undef TALUS_TRANSFER_ENUM
} talus_transfer;

/// Where the stresses of sand live.
#define TALUS_STRESS_LIST(X)                                                                       \
    X(TALUS_STRESS_Q1, "q1", "at the nodes of the grid: continuous, the cheapest")                 \
    X(TALUS_STRESS_Q1D, "q1d", "at the corners of each cell: discontinuous")                       \
    X(TALUS_STRESS_PARTICLE, "particle", "at the particles: edges stay sharp, off the grid, too")

typedef enum talus_stress {
#define TALUS_STRESS_ENUM(name, text, what) name,
    TALUS_STRESS_LIST(TALUS_STRESS_ENUM)
#undef TALUS_STRESS_ENUM
} talus_stress;

/// Where sand whose particles have kept their density is dense even if it does not fill the cells,
/// as at a surface.
#define TALUS_PACKED_LIST(X)                                                                       \
    X(TALUS_PACKED_NO, "no", "nowhere: it closes up until cells are full; at a surface it creeps") \
    X(TALUS_PACKED_REST, "rest", "where it is no faster than half of what it falls in a step")     \
    X(TALUS_PACKED_ALL, "yes", "everywhere; takes more sweeps where sand flows")

typedef enum talus_packed {
#define TALUS_PACKED_ENUM(name, text, what) name,
    TALUS_PACKED_LIST(TALUS_PACKED_ENUM)
#undef TALUS_PACKED_ENUM
} talus_packed;

/// Sand as a continuum [theory/sand]; begin with talus_sand_default(). Friction is the ratio of
/// shear stress √J₂ to pressure at yield: in simple shear, the tangent of the slope's angle.
typedef struct talus_sand_def {
    double cell;           ///< edge of a grid cell [m], > 0
    double origin[3];      ///< lower corner of the box [m]
    int32_t cells[3];      ///< along the axes; only those that hold sand take memory
    talus_face face[3][2]; ///< lower and upper face along each axis
    double height;         ///< > 0: residuals of the certificate are relative to the pressure under
                           ///< sand of this height at rest [m]; 0: to the largest load, which room
                           ///< at a surface makes large
    double density;        ///< of the grain material [kg/m³], in 2D [kg/m²]
    double fraction;       ///< densest: φmax, in (0, 1]
    double friction;       ///< at rest
    double friction_flow;  ///< at a large inertial number, >= friction
    double inertial;       ///< inertial number at which it is half way, > 0
    double diameter;       ///< of the grains [m], for the inertial number; 0: friction is constant
    int32_t material;      ///< for its friction with bodies, which is Coulomb's
    double cohesion;       ///< pressure that pulls it apart [Pa], >= 0, where it is dense
    double debonding;      ///< cohesion decays at this rate times the rate of strain, >= 0
    talus_transfer transfer;
    double viscosity;  ///< η of the grains [Pa s], >= 0: a stress 2 η D besides that of friction
    double correction; ///< share of what is too dense that each step makes room for by moving
                       ///< particles apart, in [0, 1]
    bool resample;     ///< split particles that are drawn out, merge those that are pressed flat
    talus_packed packed;
    talus_stress stress;
    double anisotropy; ///< in [0, 1): 0: grains are round; friction across the common normal of
                       ///< flat grains is (1 − a)² of what it is without
    double elongation; ///< in [−1, 1]: how fast normals turn in shear, Jeffery's; 1: thin disks
    double disorder;   ///< rate, over that of strain, at which normals lose their direction, >= 0
    double
        normals[3]; ///< shares of the normals along the axes at the start, >= 0; all 0: equal ones
} talus_sand_def;

TALUS_API talus_sand_def talus_sand_default(void); ///< mu 0.5, φmax 0.6, density 2600, faces slip
/// Put sand into the world, once; then particles of it. Not with the penalty scheme, and not with
/// moreau-jean.
TALUS_API talus_status talus_world_add_sand(talus_world *w,
                                            const talus_sand_def *sand) TALUS_MUST_CHECK;
/// Particles at x (3 each) with velocities v (3 each; NULL: at rest), cubes of the edge `size`
/// filled with grains up to `fraction`.
TALUS_API talus_status talus_world_add_particles(talus_world *w, int64_t count, const double *x,
                                                 const double *v, double size,
                                                 double fraction) TALUS_MUST_CHECK;

/// Particles of sand as they are now, in the order of their cells. Borrowed like bodies.
typedef struct talus_sand_view {
    int64_t count;
    const int64_t *id;         ///< in the order they were added
    const double *position;    ///< 3 each
    const double *velocity;    ///< 3 each
    const double *gradient;    ///< 9 each: of the velocity, row major [1/s]
    const double *volume;      ///< of grain material
    const double *frame;       ///< 9 each: half axes are roots of its eigenvalues
    const double *inertial;    ///< inertial number
    const double *orient;      ///< 9 each: second moment of the grains' normals; NULL: round grains
    int64_t nodes;             ///< of the last step
    const uint64_t *node;      ///< place of each: 21 bits for x, y, z
    const double *node_stress; ///< 3 (2D) or 6 (3D) each, compression positive [Pa]
    double lost;               ///< volume that has left through free faces
} talus_sand_view;
TALUS_API void talus_world_sand(const talus_world *w, talus_sand_view *out);
/// The sand as it was added; false where there is none.
TALUS_API bool talus_world_sand_def(const talus_world *w, talus_sand_def *out);

/// What rods there are: X(name, text, what it is) [theory/rods].
#define TALUS_ROD_LIST(X)                                                                          \
    X(TALUS_ROD_DISCRETE, "discrete", "nodes and material frames: stretches, bends and twists")    \
    X(TALUS_ROD_HELIX, "helix", "pieces of constant curvature and twist: cannot stretch")

typedef enum talus_rod_kind {
#define TALUS_ROD_ENUM(name, text, what) name,
    TALUS_ROD_LIST(TALUS_ROD_ENUM)
#undef TALUS_ROD_ENUM
} talus_rod_kind;

TALUS_API const char *talus_rod_text(talus_rod_kind kind);

/// How an end of a rod is held.
typedef enum talus_rod_end {
    TALUS_END_FREE = 0, ///< not at all
    TALUS_END_PINNED,   ///< its position is given
    TALUS_END_CLAMPED,  ///< its position, direction and material frame are given
} talus_rod_end;

/// A rod (hair, fibre, rope, wire) of round section to add; begin with talus_rod_default().
typedef struct talus_rod_def {
    talus_rod_kind kind;
    int32_t nodes;           ///< of the centre line, >= 2 (3 to bend)
    const double *position;  ///< 3 each [m]; copied, as are the other arrays
    const double *natural;   ///< 3 each: the shape it would have without loads, up to a rigid
                             ///< motion; NULL: straight, with the lengths of `position`
    const double *curvature; ///< 3 per inner node (nodes − 2 of them), in place of natural's:
                             ///< curvatures about the two material axes and twist [1/m], lengths
                             ///< as in `natural` or else `position`; NULL: those of `natural`
    const double *director;  ///< 3 per segment (nodes − 1): first material axes, about across;
                             ///< NULL: with the natural twist, and turned so that the natural
                             ///< curvatures fit best
    int32_t pieces;          ///< helix: elements of constant curvature; 0: nodes − 1
    double radius;           ///< [m] of the section: for contacts, area and moments
    double density;          ///< [kg/m³]
    double young, shear;     ///< moduli E, G [Pa]; shear 0: E/3
    double damping;          ///< Kelvin-Voigt: time that strain rates count for [s]
    double drag;             ///< of the air: force per length and speed [N s/m²]
    double velocity[3];      ///< of all of it [m/s]
    int32_t material;        ///< for its friction
    talus_rod_end start, end;
    int32_t start_body, end_body; ///< bodies that do not move freely, with which the held ends
                                  ///< move; −1: held in space
    bool self_contact;            ///< of segments that are not neighbours; default yes
} talus_rod_def;

/// Discrete, radius 1 mm, density 1000, E 10 MPa, ends free.
TALUS_API talus_rod_def talus_rod_default(void);
/// Add a rod, at any time between steps. In 3D only, and not with the penalty scheme. Segments of
/// rods are items that touch like bodies: in contact views their numbers follow those of all
/// bodies (talus_rod_view). Neither rods nor bodies are refused for overlapping, since others may
/// still be moved or added: once all are there, talus_world_find_overlap tells.
TALUS_API talus_status talus_world_add_rod(talus_world *w, const talus_rod_def *rod,
                                           int32_t *out) TALUS_MUST_CHECK;

/// Rods as they are now. Borrowed like bodies.
typedef struct talus_rod_view {
    int32_t rods;
    const int32_t *start;    ///< rods + 1: first node of each
    const double *position;  ///< 3 per node; a helix shows nodes at the ends of its segments
    const double *velocity;  ///< 3 per node
    const double *director;  ///< 3 per node: first material axis of the segment that begins there;
                             ///< that of the last segment again at the last node
    const double *strain;    ///< per node: of the segment that begins there, (length − natural) /
                             ///< natural; 0 at the last node
    const double *radius;    ///< per rod
    const int32_t *material; ///< per rod
    const int32_t *kind;     ///< per rod: talus_rod_kind
    int32_t first_item;      ///< segment k of rod i is item first_item + start[i] − i + k
} talus_rod_view;
TALUS_API talus_rod_view talus_world_rods(const talus_world *w);
/// A rod as it was added, with arrays of the world's own; false past the end.
TALUS_API bool talus_world_rod_at(const talus_world *w, int32_t index, talus_rod_def *out);

/// Natural curvatures that are wished for: X(name, text, what they are).
#define TALUS_WISH_LIST(X)                                                                         \
    X(TALUS_WISH_PLACED, "placed", "those that the rod has where it lies")                         \
    X(TALUS_WISH_TIP, "tip", "those at its tip, all along the rod")                                \
    X(TALUS_WISH_STRAIGHT, "straight", "none")

typedef enum talus_wish {
#define TALUS_WISH_ENUM(name, text, what) name,
    TALUS_WISH_LIST(TALUS_WISH_ENUM)
#undef TALUS_WISH_ENUM
} talus_wish;

TALUS_API const char *talus_wish_text(talus_wish wish);

/// How natural curvatures are looked for; begin with talus_invert_default().
typedef struct talus_invert_def {
    talus_wish wish;    ///< of all shapes that friction allows, the one nearest to this is taken
    double reach;       ///< surfaces nearer than this touch [m]; 0: a twentieth of the least radius
    double regular;     ///< > 0: weight of the contact forces beside curvatures, no unit
    const char *solver; ///< for the problem, which is convex
    double tolerance;   ///< of the certificate's residual
    int32_t iterations;
} talus_invert_def;

TALUS_API talus_invert_def talus_invert_default(void);

/// What came out.
typedef struct talus_invert_info {
    int32_t rods, contacts;
    talus_outcome outcome;
    int32_t iterations;
    double residual; ///< of the certificate
    double change;   ///< root of the mean square of natural curvatures less those wished for [1/m]
    double alone;    ///< the same, did the contacts bear nothing
    double force;    ///< largest contact force [N]
    double balance;  ///< largest force that is left on a strain, over the largest that gravity has
} talus_invert_info;

/// Give all rods natural curvatures with which they rest where they are now, under gravity and the
/// forces of their contacts with each other and with bodies that do not move freely
/// [theory/inverse]. For rods of kind helix with a clamped start. talus_world_rod_at has the new
/// curvatures and directors. Errors change nothing, unless memory runs out at the very end.
TALUS_API talus_status talus_world_invert_rods(talus_world *w, const talus_invert_def *def,
                                               talus_invert_info *info) TALUS_MUST_CHECK;

/// What one step did. Energies in J, over this step where they are works or losses. They close:
///     kinetic + potential + elastic (now) = the same before + work − all losses.
typedef struct talus_ledger {
    int64_t step;              ///< number of the step, from 1
    double time, h;            ///< at the end of the step [s]; its length [s]
    double kinetic, potential; ///< of free bodies; potential of gravity, 0 at the origin
    double elastic;            ///< stored in contact springs (penalty) and in rods
    double work_obstacles;     ///< done by scripted bodies through contacts
    double work_forces;        ///< done by given forces and torques, less what damping took
    double work_joints;        ///< done by motors of joints; negative where they brake
    double loss_impact;        ///< >= 0 [theory/schemes]
    double loss_friction;      ///< >= 0
    double loss_numerical;     ///< of the time stepping itself, and of correcting gaps; any sign
    double momentum[3], angular[3]; ///< of free bodies, angular about the origin
    double penetration;             ///< deepest overlap where contacts were looked for (the
                                    ///< beginning of the step, or within) [m]; 0: none
    double joint_error; ///< largest distance of points that joints hold together, at the
                        ///< end of the step [m]
    int32_t joints;
    int32_t bodies, contacts;  ///< free bodies; contacts in the problem
    int32_t open, stick, slip; ///< contacts by status
    int32_t iterations;
    talus_outcome outcome;
    double residual, natural; ///< of the certificate
    double constraint;        ///< of the certificate: how well the joints' rows are met
    bool missed;              ///< residual or constraint > tolerance
    int64_t missed_steps;     ///< steps so far that missed
    double detect_seconds, assemble_seconds, solve_seconds, certify_seconds, total_seconds;
} talus_ledger;

/// Overlaps of bodies and segments of rods.
typedef struct talus_overlap {
    double depth;  ///< of the deepest [m]; 0: there is none
    int32_t a, b;  ///< between which items, as in talus_contact_view; −1: none
    int32_t count; ///< contacts that overlap
} talus_overlap;
/// What the next step would find to overlap. All of it is pushed apart in one step, with velocities
/// of depth / step and the energy of those (but by moreau-jean, which leaves it as it is): look
/// before the first step, and move things or shorten them until nothing overlaps. Ends of rods
/// within the body that holds them do not count, nor do bodies that a joint ties. Changes nothing.
TALUS_API talus_status talus_world_find_overlap(talus_world *w,
                                                talus_overlap *out) TALUS_MUST_CHECK;

/// Make one step. `ledger` may be NULL. Missing the tolerance is counted in the ledger; an error
/// means that the step was not made and the world is as before. TALUS_ERR_CANCELLED: the solve was
/// stopped by talus_context_cancel.
TALUS_API talus_status talus_world_step(talus_world *w, talus_ledger *ledger) TALUS_MUST_CHECK;
TALUS_API double talus_world_time(const talus_world *w);
/// The next step's length (and largest length, with max_move or continuous).
TALUS_API talus_status talus_world_set_step(talus_world *w, double h) TALUS_MUST_CHECK;
/// 64-bit hash of the whole state: equal hashes, equal runs.
TALUS_API uint64_t talus_world_hash(const talus_world *w);

/// What a run changes, as numbers: `save` returns how many there are and writes them where `out` is
/// not NULL. Given back by `load` to a world that was made in the same way, they let it go on bit
/// for bit (equal talus_world_hash). On failure of `load` the world is as before.
TALUS_API int64_t talus_world_save(const talus_world *w, double *out);
TALUS_API talus_status talus_world_load(talus_world *w, const double *in,
                                        int64_t count) TALUS_MUST_CHECK;

/// Bodies as they are now. Borrowed: valid until the next step or change of the world.
typedef struct talus_body_view {
    int32_t count;
    const double *position;    ///< 3 each: origin of the shape's frame
    const double *orientation; ///< 4 each: the shape's frame to the world's
    const double *centre;      ///< 3 each: centre of mass
    const double *velocity;    ///< 3 each, of the centre of mass; where the motion is given, the
                               ///< mean of the last step
    const double *spin;        ///< 3 each, in the world's frame; likewise
    const double *mass;        ///< 0 for bodies that do not move freely
    const int32_t *shape, *material;
    const int32_t *motion; ///< talus_motion_kind
} talus_body_view;
TALUS_API void talus_world_bodies(const talus_world *w, talus_body_view *out);

/// Contacts of the last step, sorted by (a, b, feature). Borrowed likewise. After a step that
/// failed there may be none: those of large beds of balls make room for the next step before it is
/// made.
typedef struct talus_contact_view {
    int32_t count;
    const int32_t *a, *b;    ///< bodies; from talus_rod_view.first_item on, segments of rods
    const uint32_t *feature; ///< which of the pair's contacts
    const double *point;     ///< 3 each, midway between the surfaces
    const double *normal;    ///< 3 each, from b to a
    const double *gap;       ///< where contacts were looked for
    const double *impulse;   ///< 3 each, on a, in the world's frame [N s]
    const double *velocity;  ///< 3 each, of a relative to b, in the world's frame, after the step
    const uint8_t *status;   ///< 0 open, 1 sticking, 2 sliding (on the edge of the cone)
} talus_contact_view;
TALUS_API void talus_world_contacts(const talus_world *w, talus_contact_view *out);

/// Joints after the last step. Borrowed likewise.
typedef struct talus_joint_view {
    int32_t count;
    const int32_t *kind; ///< talus_joint_kind
    const int32_t *a, *b;
    const double *point;    ///< 3 each: the anchor of a, in the world's frame
    const double *impulse;  ///< 3 each: on a, at the anchor, in the world's frame [N s]
    const double *moment;   ///< 3 each: on a, besides, in the world's frame [N m s]
    const double *drive;    ///< impulse of the motor, part of the above [N m s], [N s]
    const double *position; ///< angle [rad] of a hinge, displacement [m] of a slider; else 0
    const double *error;    ///< distance of points that should be together [m]
    const double *angle;    ///< angle between frames or axes that should be aligned [rad]
} talus_joint_view;
TALUS_API void talus_world_joints(const talus_world *w, talus_joint_view *out);
/// A joint as it was added, with its motor as it is now; false past the end.
TALUS_API bool talus_world_joint_at(const talus_world *w, int32_t index, talus_joint_def *out);

/// Shapes and materials as they were added; false past the end.
TALUS_API bool talus_world_shape_at(const talus_world *w, int32_t index, talus_shape_def *out);
TALUS_API bool talus_world_material_at(const talus_world *w, int32_t index,
                                       talus_material_def *out);
/// What holds between two materials; false where one is not there.
TALUS_API bool talus_world_pair_at(const talus_world *w, int32_t a, int32_t b,
                                   talus_material_def *out);
/// The definition the world was made with (`solver` borrowed from the world).
TALUS_API talus_world_def talus_world_get_def(const talus_world *w);
/// The problem of the last step, to be written to a file or solved again; NULL before the first
/// step and with the penalty scheme. After a step that failed it is the one of that step, or NULL.
/// Borrowed likewise.
TALUS_API const talus_problem *talus_world_problem(const talus_world *w);

TALUS_EXTERN_C_END
#endif // TALUS_WORLD_H
