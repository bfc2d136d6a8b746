// SPDX-License-Identifier: Apache-2.0
// Kinematics of the super-helix (helix.h): places, frames and their derivatives, in closed form.
#include "rod/helix.h"
#include "base/vec3.h"
#include <string.h>

// The functions of the angle θ = √x: c, a, b of helix.h and a' / θ, b' / θ.
typedef struct helix_waves {
    double c, a, b, a1, b1;
} helix_waves;

static helix_waves helix_get_waves(double x) {
    helix_waves f = {0};
    if (x <= 1.0) {
        // Series with the terms (−x)^k over the factorials of 2k + 1, 2k + 2 and 2k + 3; of the
        // derivatives −2 (k + 1) (−x)^k over those of 2k + 4 and 2k + 5. The twelfth is below
        // 1e-23.
        double power = 1.0, factorial = 1.0;
        for (int k = 0; k < 12; k++) {
            const double n = 2.0 * k, term = power / factorial;
            f.c += term;
            f.a += term / (n + 2.0);
            f.b += term / ((n + 2.0) * (n + 3.0));
            f.a1 -= term / ((n + 3.0) * (n + 4.0));
            f.b1 -= term / ((n + 3.0) * (n + 4.0) * (n + 5.0));
            power *= -x;
            factorial *= (n + 2.0) * (n + 3.0);
        }
        return f;
    }
    const double angle = sqrt(x), sine = sin(angle), cosine = cos(angle);
    f.c = sine / angle;
    f.a = (1.0 - cosine) / x;
    f.b = (angle - sine) / (x * angle);
    f.a1 = (angle * sine - 2.0 + 2.0 * cosine) / (x * x);
    f.b1 = (3.0 * sine - 2.0 * angle - angle * cosine) / (x * x * angle);
    return f;
}

// w in the frame's axes (tangent first) of curvatures and twist.
static void helix_rates(const double q[3], double w[3]) { w[0] = q[2], w[1] = q[0], w[2] = q[1]; }

static void helix_column(const double r[9], int k, double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = r[3 * i + k];
}

static void helix_turn_vector(const double r[9], const double a[3], double out[3]) {
    double b[3];
    for (int i = 0; i < 3; i++) b[i] = tl_dot3(r + 3 * i, a);
    tl_copy3(b, out);
}

// exp(s [w]) v and V(s) v.
static void helix_apply(const helix_waves *f, const double w[3], double s, const double v[3],
                        double turned[3], double summed[3]) {
    double one[3], two[3];
    tl_cross3(w, v, one);
    tl_cross3(w, one, two);
    for (int k = 0; k < 3; k++) {
        turned[k] = v[k] + f->c * s * one[k] + f->a * s * s * two[k];
        summed[k] = s * v[k] + f->a * s * s * one[k] + f->b * s * s * s * two[k];
    }
}

void tl_helix_point(const double x[3], const double r[9], const double q[3], double s,
                    double out_x[3], double out_r[9]) {
    double w[3], frame[9];
    helix_rates(q, w);
    const helix_waves f = helix_get_waves(s * s * tl_dot3(w, w));
    for (int k = 0; k < 3; k++) {
        const double e[3] = {k == 0, k == 1, k == 2};
        double turned[3], summed[3];
        helix_apply(&f, w, s, e, turned, summed);
        helix_turn_vector(r, turned, turned);
        for (int i = 0; i < 3; i++) frame[3 * i + k] = turned[i];
        if (k > 0) continue;
        helix_turn_vector(r, summed, summed);
        tl_axpy3(x, 1.0, summed, out_x);
    }
    memcpy(out_r, frame, sizeof frame);
}

// What rates of the piece's own curvatures do at s: turn and move, 3 × 3 with columns in the order
// of q.
static void helix_own(const double r[9], const double q[3], double s, double turn[9],
                      double move[9]) {
    static const int axis[3] = {1, 2, 0};
    double w[3], tilt[3], back[3];
    const double tangent[3] = {1.0, 0.0, 0.0};
    helix_rates(q, w);
    const double ww = tl_dot3(w, w), s2 = s * s, s3 = s2 * s;
    const helix_waves f = helix_get_waves(s2 * ww);
    tl_cross3(w, tangent, tilt);                                         // [w] e0
    for (int k = 0; k < 3; k++) back[k] = w[k] * w[0] - ww * tangent[k]; // [w]² e0
    for (int j = 0; j < 3; j++) {
        const int e = axis[j];
        const double unit[3] = {e == 0, e == 1, e == 2};
        double turned[3], summed[3], aside[3], moved[3];
        helix_apply(&f, w, s, unit, turned, summed);
        tl_cross3(unit, tangent, aside);
        for (int k = 0; k < 3; k++)
            moved[k] = f.a1 * s2 * s2 * w[e] * tilt[k] + f.a * s2 * aside[k] +
                       f.b1 * s3 * s2 * w[e] * back[k] +
                       f.b * s3 * (unit[k] * w[0] + w[k] * (e == 0) - 2.0 * w[e] * tangent[k]);
        helix_turn_vector(r, summed, summed);
        helix_turn_vector(r, moved, moved);
        for (int i = 0; i < 3; i++) {
            turn[3 * i + j] = summed[i];
            move[3 * i + j] = moved[i];
        }
    }
}

void tl_helix_joints(const tl_helix *h, const tl_helix_pose *pose, tl_helix_joint *joint) {
    tl_copy3(pose->x, joint[0].x);
    memcpy(joint[0].r, pose->r, sizeof pose->r);
    for (int32_t e = 0; e < h->pieces; e++) {
        const double *q = pose->q + 3 * (int64_t)e;
        tl_helix_joint *j = joint + e;
        helix_own(j->r, q, h->length[e], j->turn, j->move);
        tl_helix_point(j->x, j->r, q, h->length[e], j[1].x, j[1].r);
    }
}

// Columns of the root: velocities, then angular velocities.
static void helix_root_rows(const tl_helix *h, const double root[3], const double x[3],
                            double *move, double *turn) {
    const int32_t n = tl_helix_dof(h), linear = h->root - 3;
    double arm[3];
    tl_sub3(x, root, arm);
    for (int32_t k = 0; k < linear; k++) move[k * n + k] = 1.0;
    for (int32_t k = 0; k < 3 && h->root > 0; k++) {
        const double e[3] = {k == 0, k == 1, k == 2};
        double v[3];
        tl_cross3(e, arm, v);
        for (int32_t i = 0; i < 3; i++) move[i * n + linear + k] = v[i];
        if (turn) turn[k * n + linear + k] = 1.0;
    }
}

void tl_helix_rows(const tl_helix *h, const tl_helix_joint *joint, const double *q, int32_t piece,
                   double s, double x[3], double r[9], double *move, double *turn) {
    const int32_t n = tl_helix_dof(h);
    double own_turn[9], own_move[9];
    memset(move, 0, 3 * (size_t)n * sizeof *move);
    if (turn) memset(turn, 0, 3 * (size_t)n * sizeof *turn);
    const tl_helix_joint *here = joint + piece;
    tl_helix_point(here->x, here->r, q + 3 * (int64_t)piece, s, x, r);
    helix_root_rows(h, joint->x, x, move, turn);
    for (int32_t e = 0; e < piece; e++) {
        const tl_helix_joint *j = joint + e;
        const int32_t at = h->root + 3 * e;
        double arm[3];
        tl_sub3(x, j[1].x, arm);
        for (int32_t k = 0; k < 3; k++) {
            double axis[3], v[3];
            helix_column(j->turn, k, axis);
            tl_cross3(axis, arm, v);
            for (int32_t i = 0; i < 3; i++) {
                move[i * n + at + k] = j->move[3 * i + k] + v[i];
                if (turn) turn[i * n + at + k] = axis[i];
            }
        }
    }
    helix_own(here->r, q + 3 * (int64_t)piece, s, own_turn, own_move);
    const int32_t at = h->root + 3 * piece;
    for (int32_t i = 0; i < 3; i++)
        for (int32_t k = 0; k < 3; k++) {
            move[i * n + at + k] = own_move[3 * i + k];
            if (turn) turn[i * n + at + k] = own_turn[3 * i + k];
        }
}
