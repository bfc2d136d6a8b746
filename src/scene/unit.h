// SPDX-License-Identifier: Apache-2.0
// Numbers with units: "5 mm", "40 rpm". A number alone is in the first unit of its kind (SI).
#ifndef TL_SCENE_UNIT_H
#define TL_SCENE_UNIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a number measures: X(name, text).
#define TL_UNIT_LIST(X)                                                                            \
    X(TL_UNIT_NONE, "plain number")                                                                \
    X(TL_UNIT_LENGTH, "length")                                                                    \
    X(TL_UNIT_TIME, "time")                                                                        \
    X(TL_UNIT_MASS, "mass")                                                                        \
    X(TL_UNIT_ANGLE, "angle")                                                                      \
    X(TL_UNIT_DENSITY, "density")                                                                  \
    X(TL_UNIT_DENSITY_2D, "density in 2D")                                                         \
    X(TL_UNIT_VELOCITY, "velocity")                                                                \
    X(TL_UNIT_ACCELERATION, "acceleration")                                                        \
    X(TL_UNIT_FREQUENCY, "frequency")                                                              \
    X(TL_UNIT_SPIN, "angular velocity")                                                            \
    X(TL_UNIT_FORCE, "force")                                                                      \
    X(TL_UNIT_TORQUE, "torque")                                                                    \
    X(TL_UNIT_STIFFNESS, "stiffness")                                                              \
    X(TL_UNIT_DAMPING, "damping")                                                                  \
    X(TL_UNIT_VISCOSITY, "viscosity")                                                              \
    X(TL_UNIT_PRESSURE, "pressure")                                                                \
    X(TL_UNIT_ENERGY, "energy")                                                                    \
    X(TL_UNIT_INERTIA, "moment of inertia")                                                        \
    X(TL_UNIT_INHERITED, "that of the key above")

typedef enum tl_unit {
#define TL_UNIT_ENUM(name, text) name,
    TL_UNIT_LIST(TL_UNIT_ENUM)
#undef TL_UNIT_ENUM
} tl_unit;

typedef enum tl_number_fault {
    TL_NUMBER_OK = 0,
    TL_NUMBER_NOT,        // not a number at all
    TL_NUMBER_WRONG_UNIT, // of another kind, or unknown
    TL_NUMBER_RANGE,      // larger than a double holds
} tl_number_fault;

/// Read "NUMBER [UNIT]". "inf" is a number here.
tl_number_fault tl_number_read(const char *text, tl_unit unit, double *out);
const char *tl_unit_text(tl_unit unit);                   ///< "length"
const char *tl_unit_symbol(tl_unit unit);                 ///< "m"; "" for plain numbers
void tl_unit_names(tl_unit unit, char *out, size_t size); ///< "m, km, cm, mm, um"
/// The kind of unit that the text after the number names, or TL_UNIT_NONE where nothing knows it.
tl_unit tl_unit_of(const char *text);

#endif // TL_SCENE_UNIT_H
