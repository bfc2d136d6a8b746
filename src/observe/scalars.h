// SPDX-License-Identifier: Apache-2.0
// The numbers of a moment, in one list, and how they are measured.
#ifndef TL_OBSERVE_SCALARS_H
#define TL_OBSERVE_SCALARS_H
#include "observe/grains.h"

/// X(name, subject, unit in 2D, unit in 3D, is it about z, text).
#define TL_SCALAR_LIST(X)                                                                          \
    X(solid_fraction, solid, "", "", false, "volume of the grains in the region over its volume")  \
    X(grains, solid, "", "", false, "grains with their centre in the region")                      \
    X(grain_volume, solid, "m2", "m3", false, "volume of the grains in the region")                \
    X(region_volume, solid, "m2", "m3", false, "volume of the region")                             \
    X(coordination, coordination, "", "", false, "pressing neighbours per grain")                  \
    X(coordination_backbone, coordination, "", "", false, "the same without rattlers")             \
    X(rattlers, coordination, "", "", false, "share of grains that carry nothing")                 \
    X(sliding, coordination, "", "", false, "share of pressing contacts that slide")               \
    X(fabric_xx, fabric, "", "", false, "mean of n n over contacts of grains")                     \
    X(fabric_yy, fabric, "", "", false, "")                                                        \
    X(fabric_zz, fabric, "", "", true, "")                                                         \
    X(fabric_xy, fabric, "", "", false, "")                                                        \
    X(fabric_xz, fabric, "", "", true, "")                                                         \
    X(fabric_yz, fabric, "", "", true, "")                                                         \
    X(anisotropy, fabric, "", "", false, "of the directions of contacts")                          \
    X(stress_xx, stress, "N/m", "Pa", false, "Love-Weber stress, positive in compression")         \
    X(stress_yy, stress, "N/m", "Pa", false, "")                                                   \
    X(stress_zz, stress, "N/m", "Pa", true, "")                                                    \
    X(stress_xy, stress, "N/m", "Pa", false, "")                                                   \
    X(stress_xz, stress, "N/m", "Pa", true, "")                                                    \
    X(stress_yz, stress, "N/m", "Pa", true, "")                                                    \
    X(pressure, stress, "N/m", "Pa", false, "p, the mean of the principal stresses")               \
    X(deviator, stress, "N/m", "Pa", false, "q: (s1 - s2)/2 in 2D, sqrt(3 J2) in 3D")              \
    X(stress_ratio, stress, "", "", false, "q/p")                                                  \
    X(force_mean, forces, "N", "N", false, "normal force, mean over pressing contacts")            \
    X(force_most, forces, "N", "N", false, "and the largest")                                      \
    X(mobilised, forces, "", "", false, "mean of |f_t| / (mu f_n) over pressing contacts")         \
    X(velocity_x, temperature, "m/s", "m/s", false, "mean velocity of the grains, by mass")        \
    X(velocity_y, temperature, "m/s", "m/s", false, "")                                            \
    X(velocity_z, temperature, "m/s", "m/s", true, "")                                             \
    X(temperature, temperature, "m2/s2", "m2/s2", false, "of velocities about their mean")         \
    X(temperature_shear, temperature, "m2/s2", "m2/s2", false, "about the linear flow field")      \
    X(shear_rate, flow, "1/s", "1/s", false, "of the linear flow field")                           \
    X(inertial_number, flow, "", "", false, "I = shear rate d sqrt(density / p)")                  \
    X(bulk_friction, flow, "", "", false, "mu = sqrt(J2) / p")                                     \
    X(low_x, runout, "m", "m", false, "box around the grains")                                     \
    X(low_y, runout, "m", "m", false, "")                                                          \
    X(low_z, runout, "m", "m", true, "")                                                           \
    X(high_x, runout, "m", "m", false, "")                                                         \
    X(high_y, runout, "m", "m", false, "")                                                         \
    X(high_z, runout, "m", "m", true, "")                                                          \
    X(front_low_x, runout, "m", "m", false, "box of their centres without 1 % on each side")       \
    X(front_low_y, runout, "m", "m", false, "")                                                    \
    X(front_low_z, runout, "m", "m", true, "")                                                     \
    X(front_high_x, runout, "m", "m", false, "")                                                   \
    X(front_high_y, runout, "m", "m", false, "")                                                   \
    X(front_high_z, runout, "m", "m", true, "")                                                    \
    X(centre_x, runout, "m", "m", false, "centre of mass of the grains")                           \
    X(centre_y, runout, "m", "m", false, "")                                                       \
    X(centre_z, runout, "m", "m", true, "")                                                        \
    X(wall_force_x, walls, "N", "N", false, "force of the grains on all obstacles")                \
    X(wall_force_y, walls, "N", "N", false, "")                                                    \
    X(wall_force_z, walls, "N", "N", true, "")

enum {
#define TL_SCALAR_ENUM(name, subject, flat, solid, z, text) TL_##name,
    TL_SCALAR_LIST(TL_SCALAR_ENUM)
#undef TL_SCALAR_ENUM
        TL_SCALARS
};

/// X(name, title, text): what can be asked for, in the order of tables.
#define TL_SUBJECT_LIST(X)                                                                         \
    X(solid, "Solid fraction", "share of the region that grains fill, over time")                  \
    X(profile, "Profile over height",                                                              \
      "solid fraction, velocity, temperature and stress in layers")                                \
    X(field, "Coarse-grained field", "density, velocity, temperature and stress on a grid")        \
    X(coordination, "Coordination", "neighbours per grain, with and without rattlers")             \
    X(sizes, "Sizes of grains", "distribution of diameters, by number and by mass")                \
    X(fabric, "Fabric", "directions of contacts: tensor, anisotropy, and how many point where")    \
    X(stress, "Stress", "Love-Weber stress of the contacts: p, q, q/p")                            \
    X(forces, "Forces", "distributions of normal force and mobilised friction")                    \
    X(temperature, "Velocities", "mean velocity and granular temperature")                         \
    X(flow, "Flow", "shear rate, inertial number I and bulk friction mu, over time and over I")    \
    X(walls, "Forces on walls", "force and torque of the grains on every obstacle")                \
    X(runout, "Run-out", "box around the grains, front, centre of mass")                           \
    X(deposit, "Deposit", "height of the free surface and its slope: the angle of repose")         \
    X(discharge, "Discharge", "what passes through a plane (needs one)")                           \
    X(pairs, "Pair correlation", "how often two centres have a given distance")                    \
    X(energy, "Energy", "where the energy went, from the ledger")                                  \
    X(sand, "Sand", "run-out, height and mass of sand as a continuum, and what passed a plane")    \
    X(rods, "Rods", "length, strain and tips of rods, their contacts, and which of them slide")

enum {
#define TL_SUBJECT_ENUM(name, title, text) TL_SUBJECT_##name,
    TL_SUBJECT_LIST(TL_SUBJECT_ENUM)
#undef TL_SUBJECT_ENUM
        TL_SUBJECTS
};

/// Subject that a scalar belongs to.
int tl_scalar_subject(int scalar);
/// Its name, unit and text; false: there is none in this dimension.
bool tl_scalar_get(int32_t dim, int scalar, talus_scalar *out);
/// The subject of that name; −1: there is none.
int tl_subject_find(const char *name);

/// Invariants of a symmetric tensor (row by row), with those of plane stress in 2D.
typedef struct tl_invariants {
    double p, q; ///< mean; (s1 − s2)/2 in 2D, √(3 J2) in 3D
    double tau;  ///< √J2, which is q in 2D
} tl_invariants;
tl_invariants tl_tensor_invariants(int32_t dim, const double t[9]);

/// Mean motion of the grains in the region: v ≈ mean + gradient (x − centre), by least squares.
typedef struct tl_motion {
    int32_t grains;
    double mass, volume; ///< of these grains
    double centre[3], mean[3];
    double gradient[9]; ///< dv_i/dx_j, row by row; 0 along whole periodic axes
    double temperature; ///< Σ m |v − mean|² / (dim Σ m)
    double about_flow;  ///< likewise about the linear field
    double shear_rate;  ///< √(2 D:D), D the deviator of the symmetric gradient
    double diameter;    ///< mean
} tl_motion;
void tl_motion_measure(const tl_grains *g, tl_motion *out);

/// Inertial number from a shear rate and a pressure; NaN where p <= 0.
double tl_inertial_number(const tl_motion *motion, double shear_rate, double p);

/// Stress of the region by Love and Weber, positive in compression, row by row; not made
/// symmetric.
void tl_stress_measure(const tl_grains *g, double stress[9]);

/// The scalars of the subjects that are wanted (by TL_SUBJECT_…); others may become NaN.
talus_status tl_scalars_measure(tl_grains *g, const bool wanted[TL_SUBJECTS],
                                double value[TL_SCALARS]) TALUS_MUST_CHECK;

#endif // TL_OBSERVE_SCALARS_H
