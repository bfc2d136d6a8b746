// SPDX-License-Identifier: Apache-2.0
#include "scene/unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit_row {
    tl_unit kind;
    const char *name;
    double factor; // SI value of one of them
} unit_row;

#define UNIT_PI 3.14159265358979323846

// The SI unit of a kind comes first.
static const unit_row unit_rows[] = {
    {TL_UNIT_LENGTH, "m", 1.0},
    {TL_UNIT_LENGTH, "km", 1e3},
    {TL_UNIT_LENGTH, "cm", 1e-2},
    {TL_UNIT_LENGTH, "mm", 1e-3},
    {TL_UNIT_LENGTH, "um", 1e-6},
    {TL_UNIT_LENGTH, "µm", 1e-6},
    {TL_UNIT_TIME, "s", 1.0},
    {TL_UNIT_TIME, "ms", 1e-3},
    {TL_UNIT_TIME, "us", 1e-6},
    {TL_UNIT_TIME, "µs", 1e-6},
    {TL_UNIT_TIME, "min", 60.0},
    {TL_UNIT_TIME, "h", 3600.0},
    {TL_UNIT_MASS, "kg", 1.0},
    {TL_UNIT_MASS, "t", 1e3},
    {TL_UNIT_MASS, "g", 1e-3},
    {TL_UNIT_MASS, "mg", 1e-6},
    {TL_UNIT_ANGLE, "rad", 1.0},
    {TL_UNIT_ANGLE, "deg", UNIT_PI / 180.0},
    {TL_UNIT_ANGLE, "°", UNIT_PI / 180.0},
    {TL_UNIT_ANGLE, "turn", 2.0 * UNIT_PI},
    {TL_UNIT_DENSITY, "kg/m³", 1.0},
    {TL_UNIT_DENSITY, "kg/m3", 1.0},
    {TL_UNIT_DENSITY, "kg/m^3", 1.0},
    {TL_UNIT_DENSITY, "g/cm³", 1e3},
    {TL_UNIT_DENSITY, "g/cm3", 1e3},
    {TL_UNIT_DENSITY, "g/cm^3", 1e3},
    {TL_UNIT_DENSITY_2D, "kg/m²", 1.0},
    {TL_UNIT_DENSITY_2D, "kg/m2", 1.0},
    {TL_UNIT_DENSITY_2D, "kg/m^2", 1.0},
    {TL_UNIT_DENSITY_2D, "g/cm²", 10.0},
    {TL_UNIT_DENSITY_2D, "g/cm2", 10.0},
    {TL_UNIT_DENSITY_2D, "g/cm^2", 10.0},
    {TL_UNIT_VELOCITY, "m/s", 1.0},
    {TL_UNIT_VELOCITY, "cm/s", 1e-2},
    {TL_UNIT_VELOCITY, "mm/s", 1e-3},
    {TL_UNIT_VELOCITY, "km/h", 1.0 / 3.6},
    {TL_UNIT_ACCELERATION, "m/s²", 1.0},
    {TL_UNIT_ACCELERATION, "m/s2", 1.0},
    {TL_UNIT_ACCELERATION, "m/s^2", 1.0},
    {TL_UNIT_FREQUENCY, "1/s", 1.0},
    {TL_UNIT_FREQUENCY, "Hz", 1.0},
    {TL_UNIT_FREQUENCY, "kHz", 1e3},
    {TL_UNIT_FREQUENCY, "1/min", 1.0 / 60.0},
    {TL_UNIT_SPIN, "rad/s", 1.0},
    {TL_UNIT_SPIN, "deg/s", UNIT_PI / 180.0},
    {TL_UNIT_SPIN, "rpm", 2.0 * UNIT_PI / 60.0},
    {TL_UNIT_FORCE, "N", 1.0},
    {TL_UNIT_FORCE, "kN", 1e3},
    {TL_UNIT_FORCE, "mN", 1e-3},
    {TL_UNIT_TORQUE, "N m", 1.0},
    {TL_UNIT_TORQUE, "Nm", 1.0},
    {TL_UNIT_STIFFNESS, "N/m", 1.0},
    {TL_UNIT_STIFFNESS, "kN/m", 1e3},
    {TL_UNIT_STIFFNESS, "MN/m", 1e6},
    {TL_UNIT_DAMPING, "N s/m", 1.0},
    {TL_UNIT_DAMPING, "Ns/m", 1.0},
    {TL_UNIT_VISCOSITY, "N s/m²", 1.0},
    {TL_UNIT_VISCOSITY, "N s/m2", 1.0},
    {TL_UNIT_VISCOSITY, "N s/m^2", 1.0},
    {TL_UNIT_VISCOSITY, "Pa s", 1.0},
    {TL_UNIT_VISCOSITY, "mPa s", 1e-3},
    {TL_UNIT_PRESSURE, "Pa", 1.0},
    {TL_UNIT_PRESSURE, "kPa", 1e3},
    {TL_UNIT_PRESSURE, "MPa", 1e6},
    {TL_UNIT_PRESSURE, "GPa", 1e9},
    {TL_UNIT_ENERGY, "J", 1.0},
    {TL_UNIT_ENERGY, "mJ", 1e-3},
    {TL_UNIT_ENERGY, "uJ", 1e-6},
    {TL_UNIT_ENERGY, "nJ", 1e-9},
    {TL_UNIT_INERTIA, "kg m²", 1.0},
    {TL_UNIT_INERTIA, "kg m2", 1.0},
    {TL_UNIT_INERTIA, "kg m^2", 1.0},
};
enum { UNIT_ROWS = sizeof unit_rows / sizeof *unit_rows };

const char *tl_unit_text(tl_unit unit) {
    static const char *const text[] = {
#define UNIT_TEXT(name, words) [name] = words,
        TL_UNIT_LIST(UNIT_TEXT)
#undef UNIT_TEXT
    };
    return text[unit];
}

const char *tl_unit_symbol(tl_unit unit) {
    for (int k = 0; k < UNIT_ROWS; k++)
        if (unit_rows[k].kind == unit) return unit_rows[k].name;
    return "";
}

void tl_unit_names(tl_unit unit, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (int k = 0; k < UNIT_ROWS; k++) {
        if (unit_rows[k].kind != unit || used >= size) continue;
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", unit_rows[k].name);
    }
}

// Length of the number at the beginning of the text, as YAML and everybody writes it; 0: none.
static size_t unit_number(const char *text) {
    size_t k = text[0] == '+' || text[0] == '-', digits = 0;
    if (strncmp(text + k, "inf", 3) == 0) return k + 3;
    if (strncmp(text + k, ".inf", 4) == 0) return k + 4;
    for (; text[k] >= '0' && text[k] <= '9'; k++) digits++;
    if (text[k] == '.')
        for (k++; text[k] >= '0' && text[k] <= '9'; k++) digits++;
    if (digits == 0) return 0;
    if (text[k] == 'e' || text[k] == 'E') {
        size_t e = k + 1;
        if (text[e] == '+' || text[e] == '-') e++;
        if (text[e] >= '0' && text[e] <= '9') {
            for (k = e; text[k] >= '0' && text[k] <= '9';) k++;
        }
    }
    return k;
}

// What follows the number and its blanks.
static const char *unit_rest(const char *text) {
    const char *rest = text + unit_number(text);
    while (*rest == ' ') rest++;
    return rest;
}

tl_unit tl_unit_of(const char *text) {
    const char *rest = unit_rest(text);
    for (int k = 0; k < UNIT_ROWS; k++)
        if (strcmp(unit_rows[k].name, rest) == 0) return unit_rows[k].kind;
    return TL_UNIT_NONE;
}

tl_number_fault tl_number_read(const char *text, tl_unit unit, double *out) {
    const size_t length = unit_number(text);
    const char *rest = unit_rest(text);
    const bool infinite = length > 0 && text[length - 1] == 'f';
    double factor = 1.0;
    if (length == 0) return TL_NUMBER_NOT;
    if (*rest) {
        int k = 0;
        while (k < UNIT_ROWS && (unit_rows[k].kind != unit || strcmp(unit_rows[k].name, rest) != 0))
            k++;
        if (k == UNIT_ROWS) {
            // A comma or a second point is a wrong number, not a wrong unit.
            const bool number = *rest == ',' || *rest == '.' || (*rest >= '0' && *rest <= '9');
            return number ? TL_NUMBER_NOT : TL_NUMBER_WRONG_UNIT;
        }
        factor = unit_rows[k].factor;
    }
    // strtod knows "inf", not ".inf"; a unit such as "e…" or "in…" cannot follow digits directly
    // and change the number, since only the number itself is handed over.
    char digits[64];
    if (infinite) {
        *out = text[0] == '-' ? -INFINITY : INFINITY;
        return TL_NUMBER_OK;
    }
    if (length >= sizeof digits) return TL_NUMBER_RANGE;
    memcpy(digits, text, length);
    digits[length] = '\0';
    // 3 mm is 3 / 1000, the double next to 0.003; 3 * 0.001 need not be.
    const double parts = round(1.0 / factor);
    const bool whole = factor < 1.0 && fabs(parts * factor - 1.0) < 1e-12;
    *out = whole ? strtod(digits, NULL) / parts : strtod(digits, NULL) * factor;
    return isfinite(*out) ? TL_NUMBER_OK : TL_NUMBER_RANGE;
}
