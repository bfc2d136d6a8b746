// SPDX-License-Identifier: Apache-2.0
// Inertia, weight and energies of the super-helix (helix.h), by Gauss points on every piece. Four
// points integrate products of two motions of a straight piece exactly (degree 4), and those of a
// piece that turns by an angle of 1 to 1e-9 or so.
#include "base/vec3.h"
#include "rod/helix.h"
#include <string.h>

static const double helix_place[TL_HELIX_GAUSS] = {-0.86113631159405258, -0.33998104358485626,
                                                   0.33998104358485626, 0.86113631159405258};
static const double helix_weight[TL_HELIX_GAUSS] = {0.34785484513745386, 0.65214515486254614,
                                                    0.65214515486254614, 0.34785484513745386};

static double helix_arc(const tl_helix *h, int32_t e, int g) {
    return 0.5 * h->length[e] * (1.0 + helix_place[g]);
}
double tl_helix_share(const tl_helix *h, int32_t e, int g) {
    return 0.5 * h->length[e] * helix_weight[g];
}

// Velocity and angular velocity of the root under drive and unknowns (NULL: none of them).
static void helix_root_motion(const tl_helix *h, const tl_helix_drive *drive, const double *v,
                              double linear[3], double spin[3]) {
    for (int k = 0; k < 3; k++) {
        linear[k] = h->root == 6 ? (v ? v[k] : 0.0) : drive->v[k];
        spin[k] = h->root == 0 ? drive->w[k] : (v ? v[h->root - 3 + k] : 0.0);
    }
}

void tl_helix_velocity(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                       const tl_helix_drive *drive, const double *v, tl_helix_field *field) {
    double linear[3], spin[3];
    const tl_helix alone = {.pieces = 1, .root = 0, .length = h->length};
    helix_root_motion(h, drive, v, linear, spin);
    for (int32_t e = 0; e < h->pieces; e++) {
        const double *rate = v + h->root + 3 * (int64_t)e;
        const tl_helix_joint *j = joint + e;
        double arm[3], carried[3];
        for (int g = 0; g < TL_HELIX_GAUSS; g++, field++) {
            double x[3], r[9], move[9], turn[9];
            tl_helix_rows(&alone, j, q + 3 * (int64_t)e, 0, helix_arc(h, e, g), x, r, move, turn);
            tl_sub3(x, j->x, arm);
            tl_cross3(spin, arm, carried);
            double about = 0.0;
            for (int k = 0; k < 3; k++) {
                (*field)[k] = linear[k] + carried[k] + tl_dot3(move + 3 * k, rate);
                about += r[3 * k] * (spin[k] + tl_dot3(turn + 3 * k, rate));
            }
            (*field)[3] = about;
        }
        tl_sub3(j[1].x, j->x, arm);
        tl_cross3(spin, arm, carried);
        for (int k = 0; k < 3; k++) {
            linear[k] += carried[k] + tl_dot3(j->move + 3 * k, rate);
            spin[k] += tl_dot3(j->turn + 3 * k, rate);
        }
    }
}

double tl_helix_kinetic(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                        const tl_helix_field *field, double momentum[3], double angular[3]) {
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        if (momentum) momentum[k] = 0.0;
        if (angular) angular[k] = 0.0;
    }
    for (int32_t e = 0; e < h->pieces; e++)
        for (int g = 0; g < TL_HELIX_GAUSS; g++, field++) {
            const double mass = h->line_mass * tl_helix_share(h, e, g);
            const double spin = h->line_spin * tl_helix_share(h, e, g) * (*field)[3];
            sum += 0.5 * (mass * tl_dot3(*field, *field) + spin * (*field)[3]);
            if (momentum) tl_axpy3(momentum, mass, *field, momentum);
            if (!angular) continue;
            double x[3], r[9], moment[3];
            tl_helix_point(joint[e].x, joint[e].r, q + 3 * (int64_t)e, helix_arc(h, e, g), x, r);
            tl_cross3(x, *field, moment);
            for (int k = 0; k < 3; k++) angular[k] += mass * moment[k] + spin * r[3 * k];
        }
    return sum;
}

double tl_helix_gravity(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                        const double gravity[3]) {
    double sum = 0.0;
    for (int32_t e = 0; e < h->pieces; e++)
        for (int g = 0; g < TL_HELIX_GAUSS; g++) {
            double x[3], r[9];
            tl_helix_point(joint[e].x, joint[e].r, q + 3 * (int64_t)e, helix_arc(h, e, g), x, r);
            sum -= h->line_mass * tl_helix_share(h, e, g) * tl_dot3(gravity, x);
        }
    return sum;
}

double tl_helix_elastic(const tl_helix *h, const double *q, const double *natural) {
    double sum = 0.0;
    for (int32_t k = 0; k < 3 * h->pieces; k++) {
        const double strain = q[k] - natural[k];
        sum += 0.5 * tl_helix_stiffness(h, k) * strain * strain;
    }
    return sum;
}

// Lower triangle of out += share Jᵀ J, for `count` rows of n; the columns past `last` are zero.
static void helix_add_square(int32_t n, int32_t last, int count, const double *j, double share,
                             double *out) {
    for (int32_t a = 0; a < last; a++)
        for (int k = 0; k < count; k++) {
            const double *row = j + (int64_t)k * n;
            const double factor = share * row[a];
            for (int32_t b = 0; b <= a; b++) out[(int64_t)a * n + b] += factor * row[b];
        }
}

void tl_helix_assemble(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                       const tl_helix_drive *drive, const tl_helix_field *old,
                       const double gravity[3], const tl_helix_system *out) {
    const int32_t n = tl_helix_dof(h);
    const size_t line = (size_t)n * sizeof(double);
    double *move = out->work, *turn = move + 3 * (int64_t)n, linear[3], spin[3];
    memset(out->mass, 0, (size_t)n * line);
    memset(out->spread, 0, (size_t)n * line);
    memset(out->carried, 0, line);
    memset(out->weight, 0, line);
    memset(out->driven, 0, line);
    helix_root_motion(h, drive, NULL, linear, spin);
    for (int32_t e = 0; e < h->pieces; e++)
        for (int g = 0; g < TL_HELIX_GAUSS; g++, old++) {
            const double share = tl_helix_share(h, e, g);
            const int32_t last = h->root + 3 * (e + 1);
            double x[3], r[9], given[3], lost[3];
            tl_helix_rows(h, joint, q, e, helix_arc(h, e, g), x, r, move, turn);
            tl_sub3(x, joint->x, given);
            tl_cross3(spin, given, given);
            tl_axpy3(linear, 1.0, given, given);
            tl_sub3(*old, given, lost);
            helix_add_square(n, last, 3, move, share, out->spread);
            double about = (*old)[3];
            for (int k = 0; k < 3; k++) about -= r[3 * k] * spin[k];
            double *about_row = turn; // tᵀ T, in the place of its first row
            for (int32_t a = 0; a < last; a++) {
                about_row[a] = r[0] * turn[a] + r[3] * turn[n + a] + r[6] * turn[2 * n + a];
                const double column[3] = {move[a], move[n + a], move[2 * n + a]};
                out->carried[a] += share * (h->line_mass * tl_dot3(column, lost) +
                                            h->line_spin * about_row[a] * about);
                out->weight[a] += share * h->line_mass * tl_dot3(column, gravity);
                out->driven[a] += share * tl_dot3(column, given);
            }
            helix_add_square(n, last, 1, about_row, share * h->line_spin, out->mass);
        }
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++) {
            const int64_t low = (int64_t)a * n + b, high = (int64_t)b * n + a;
            out->spread[high] = out->spread[low];
            out->mass[low] += h->line_mass * out->spread[low];
            out->mass[high] = out->mass[low];
        }
}

void tl_helix_weigh(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                    const double gravity[3], double *move, double *weight, double drive[6]) {
    const int32_t n = tl_helix_dof(h);
    memset(weight, 0, (size_t)n * sizeof *weight);
    memset(drive, 0, 6 * sizeof *drive);
    for (int32_t e = 0; e < h->pieces; e++)
        for (int g = 0; g < TL_HELIX_GAUSS; g++) {
            const double mass = h->line_mass * tl_helix_share(h, e, g);
            double x[3], r[9], arm[3], torque[3];
            tl_helix_rows(h, joint, q, e, helix_arc(h, e, g), x, r, move, NULL);
            for (int32_t a = 0; a < h->root + 3 * (e + 1); a++)
                weight[a] += mass * (move[a] * gravity[0] + move[n + a] * gravity[1] +
                                     move[2 * (int64_t)n + a] * gravity[2]);
            tl_sub3(x, joint->x, arm);
            tl_cross3(arm, gravity, torque);
            tl_axpy3(drive, mass, gravity, drive);
            tl_axpy3(drive + 3, mass, torque, drive + 3);
        }
}
