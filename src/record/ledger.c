// SPDX-License-Identifier: Apache-2.0
// The ledger as a table: every figure with its name, unit and meaning, in one list for recordings,
// CSV files and documents.
#include "record/layout.h"
#include "talus/record.h"
#include <math.h>
#include <stdio.h>

// X(name, what stands in the ledger, is it an integer, unit, text)
#define LEDGER_LIST(X)                                                                             \
    X(step, step, true, "", "number of the step, from 1")                                          \
    X(time, time, false, "s", "at the end of the step")                                            \
    X(h, h, false, "s", "length of the step")                                                      \
    X(kinetic, kinetic, false, "J", "kinetic energy of free bodies")                               \
    X(potential, potential, false, "J", "energy of free bodies in gravity, 0 at the origin")       \
    X(elastic, elastic, false, "J", "stored in contact springs (penalty)")                         \
    X(work_obstacles, work_obstacles, false, "J", "done in this step by scripted bodies")          \
    X(work_forces, work_forces, false, "J", "done by given forces, less what damping took")        \
    X(work_joints, work_joints, false, "J", "done by motors of joints, less what they braked")     \
    X(loss_impact, loss_impact, false, "J", "lost in this step to impacts")                        \
    X(loss_friction, loss_friction, false, "J", "lost in this step to friction")                   \
    X(loss_numerical, loss_numerical, false, "J", "lost in this step to the time stepping itself") \
    X(momentum_x, momentum[0], false, "kg m/s", "momentum of free bodies")                         \
    X(momentum_y, momentum[1], false, "kg m/s", "")                                                \
    X(momentum_z, momentum[2], false, "kg m/s", "")                                                \
    X(angular_x, angular[0], false, "kg m2/s",                                                     \
      "angular momentum of free bodies, about the origin")                                         \
    X(angular_y, angular[1], false, "kg m2/s", "")                                                 \
    X(angular_z, angular[2], false, "kg m2/s", "")                                                 \
    X(penetration, penetration, false, "m", "deepest overlap at the beginning of the step")        \
    X(joint_error, joint_error, false, "m", "largest distance of points that joints hold")         \
    X(joints, joints, true, "", "joints")                                                          \
    X(bodies, bodies, true, "", "free bodies")                                                     \
    X(contacts, contacts, true, "", "contacts of the problem")                                     \
    X(open, open, true, "", "of which open")                                                       \
    X(stick, stick, true, "", "of which sticking")                                                 \
    X(slip, slip, true, "", "of which sliding")                                                    \
    X(iterations, iterations, true, "", "of the solver")                                           \
    X(outcome, outcome, true, "", "how the solve ended")                                           \
    X(residual, residual, false, "", "of the certificate")                                         \
    X(natural, natural, false, "", "natural residual of the certificate")                          \
    X(constraint, constraint, false, "", "of the certificate: how well joints are met")            \
    X(missed, missed, true, "", "1: residual or constraint above tolerance")                       \
    X(missed_steps, missed_steps, true, "", "steps so far that missed")                            \
    X(detect_seconds, detect_seconds, false, "s", "time taken to find contacts")                   \
    X(assemble_seconds, assemble_seconds, false, "s", "time taken to build the problem")           \
    X(solve_seconds, solve_seconds, false, "s", "time taken to solve it")                          \
    X(certify_seconds, certify_seconds, false, "s", "time taken to certify it")                    \
    X(total_seconds, total_seconds, false, "s", "time taken by the step")

static const talus_ledger_field LEDGER_FIELDS[] = {
#define LEDGER_ROW(name, member, integer, unit, text) {#name, unit, text, integer},
    LEDGER_LIST(LEDGER_ROW)
#undef LEDGER_ROW
};

enum {
#define LEDGER_ENUM(name, member, integer, unit, text) LEDGER_##name,
    LEDGER_LIST(LEDGER_ENUM)
#undef LEDGER_ENUM
        LEDGER_FIELD_COUNT
};

bool talus_ledger_field_at(int32_t index, talus_ledger_field *out) {
    if (index < 0 || index >= LEDGER_FIELD_COUNT || !out) return false;
    *out = LEDGER_FIELDS[index];
    return true;
}

double talus_ledger_value(const talus_ledger *ledger, int32_t index) {
    if (!ledger) return NAN;
    switch (index) {
#define LEDGER_CASE(name, member, integer, unit, text)                                             \
    case LEDGER_##name:                                                                            \
        return (double)ledger->member;
        LEDGER_LIST(LEDGER_CASE)
#undef LEDGER_CASE
    default:
        return NAN;
    }
}

int32_t tl_ledger_fields(void) { return LEDGER_FIELD_COUNT; }

tl_column_def tl_ledger_column(int32_t index, char path[64]) {
    (void)snprintf(path, 64, "/ledger/%s", LEDGER_FIELDS[index].name);
    return (tl_column_def){.path = path,
                           .unit = LEDGER_FIELDS[index].unit,
                           .width = 1,
                           .kind = LEDGER_FIELDS[index].integer ? TL_INT64 : TL_FLOAT64};
}
