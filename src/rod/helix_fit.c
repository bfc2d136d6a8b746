// SPDX-License-Identifier: Apache-2.0
// Super-helices through given points. A first guess takes the curvatures of the polygon: at an
// inner point with the turn φ between segments of lengths a and b the curvature is 2 φ / (a + b),
// in a frame that is carried along without twist and then turned by the twist that is expected.
// Proximal Gauss-Newton steps on the distances of the points follow:
//     min over δ of Σ |x_k + J_k δ − p_k|² + Σ (ε l L δq)² + (ε L δw)².
// Without the second term arcs through given points wiggle (each piece makes up for the one
// before); with it these motions, which hardly move any point, are left as the guess has them.
#include "base/vec3.h"
#include "linalg/dense.h"
#include "rod/helix.h"
#include <string.h>

#define HELIX_FIT_EPSILON 0.02 // weight of changes beside distances
#define HELIX_FIT_CLOSE 1e-10  // of the length: close enough
#define HELIX_FIT_HELD 1e12    // weight of the first point's place beside the others
enum { HELIX_FIT_STEPS = 60 };

typedef struct helix_fit {
    int32_t nodes, pieces;
    const double *point, *arc;
    const double *length;
    double *twist;         // per segment: expected angle of the section over it [rad]
    double *curvature;     // 3 per segment: rotation vector over it, spread from its ends, world
    double *frame;         // 9 per segment: tangent and axes in its columns
    tl_helix_joint *joint; // pieces + 1
    double *system, *right, *move;
} helix_fit;

static void helix_unit(const double *from, const double *to, double out[3]) {
    tl_sub3(to, from, out);
    tl_scale3(1.0 / tl_norm3(out), out, out);
}

// The vector of the turn that takes the unit vector a to b the short way.
static void helix_turn_between(const double a[3], const double b[3], double out[3]) {
    tl_cross3(a, b, out);
    const double sine = tl_norm3(out), angle = atan2(sine, tl_dot3(a, b));
    tl_scale3(sine > 0.0 ? angle / sine : 0.0, out, out);
}

// Turn at inner node k (1 … nodes − 2), as a vector.
static void helix_node_turn(const double *point, int32_t k, double out[3]) {
    double a[3], b[3];
    const double *p = point + 3 * (int64_t)k;
    helix_unit(p - 3, p, a);
    helix_unit(p, p + 3, b);
    helix_turn_between(a, b, out);
}

// Arc lengths: a chord of a circle that turns by ψ is shorter than its arc by sin(ψ/2) / (ψ/2).
static void helix_arcs(int32_t nodes, const double *point, double *arc) {
    double before = -1.0;
    arc[0] = 0.0;
    for (int32_t k = 0; k + 1 < nodes; k++) {
        double chord[3], turn[3], after = before;
        tl_sub3(point + 3 * (int64_t)(k + 1), point + 3 * (int64_t)k, chord);
        if (k + 2 < nodes) {
            helix_node_turn(point, k + 1, turn);
            after = tl_norm3(turn);
        }
        if (before < 0.0) before = after > 0.0 ? after : 0.0;
        if (after < 0.0) after = 0.0;
        const double half = 0.25 * (before + after);
        arc[k + 1] = arc[k] + tl_norm3(chord) * (half > 1e-6 ? half / sin(half) : 1.0);
        before = after;
    }
}

static void helix_lengths(int32_t nodes, const double *arc, int32_t pieces, double *length) {
    for (int32_t e = 0; e < pieces; e++)
        length[e] = pieces == nodes - 1 ? arc[e + 1] - arc[e] : arc[nodes - 1] / pieces;
}

// Turns of the polygon over its segments, half of each end's.
static void helix_spread_turns(helix_fit *f) {
    for (int32_t k = 0; k + 1 < f->nodes; k++) {
        double *c = f->curvature + 3 * (int64_t)k, turn[3];
        c[0] = c[1] = c[2] = 0.0;
        if (f->nodes < 3) continue;
        const int32_t a = k > 0 ? k : 1, b = k + 2 < f->nodes ? k + 1 : f->nodes - 2;
        helix_node_turn(f->point, a, turn);
        tl_axpy3(c, 0.5, turn, c);
        helix_node_turn(f->point, b, turn);
        tl_axpy3(c, 0.5, turn, c);
    }
}

// Twist of the points themselves: how the axis of their turning turns about the segment between
// two nodes, where both turn enough to have one.
static void helix_polygon_twist(helix_fit *f) {
    for (int32_t k = 0; k + 1 < f->nodes; k++) {
        double a[3], b[3], tangent[3], across[3];
        f->twist[k] = 0.0;
        if (k == 0 || k + 2 >= f->nodes) continue;
        helix_node_turn(f->point, k, a);
        helix_node_turn(f->point, k + 1, b);
        if (tl_norm3(a) < 1e-4 || tl_norm3(b) < 1e-4) continue;
        helix_unit(f->point + 3 * (int64_t)k, f->point + 3 * (int64_t)(k + 1), tangent);
        tl_cross3(a, b, across);
        f->twist[k] = atan2(tl_dot3(across, tangent), tl_dot3(a, b));
    }
    if (f->nodes >= 4) { // the ends have one neighbour only
        f->twist[0] = f->twist[1];
        f->twist[f->nodes - 2] = f->twist[f->nodes - 3];
    }
}

// Frames of the segments, first as it comes, then carried over each node and twisted.
static void helix_frames(helix_fit *f) {
    double rows[9], axes[2][3], tangent[3];
    helix_unit(f->point, f->point + 3, tangent);
    tl_frame(3, tangent, rows);
    tl_copy3(rows + 3, axes[0]);
    tl_copy3(rows + 6, axes[1]);
    for (int32_t k = 0; k + 1 < f->nodes; k++) {
        if (k > 0) {
            double turn[3], about[4], angle = 0.5 * (f->twist[k - 1] + f->twist[k]);
            helix_node_turn(f->point, k, turn);
            tl_quat_exp(turn, about);
            tl_rotate(about, tangent, tangent);
            for (int a = 0; a < 2; a++) tl_rotate(about, axes[a], axes[a]);
            tl_scale3(angle, tangent, turn);
            tl_quat_exp(turn, about);
            for (int a = 0; a < 2; a++) tl_rotate(about, axes[a], axes[a]);
        }
        double *frame = f->frame + 9 * (int64_t)k;
        for (int i = 0; i < 3; i++) {
            frame[3 * i] = tangent[i];
            frame[3 * i + 1] = axes[0][i];
            frame[3 * i + 2] = axes[1][i];
        }
    }
}

// Curvatures of the pieces: turns of the segments, as far as they overlap.
static void helix_guess(helix_fit *f, double *q, double x[3], double r[9]) {
    double begin = 0.0;
    for (int32_t e = 0; e < f->pieces; e++) {
        const double end = e + 1 < f->pieces ? begin + f->length[e] : f->arc[f->nodes - 1];
        double *own = q + 3 * (int64_t)e;
        own[0] = own[1] = own[2] = 0.0;
        for (int32_t k = 0; k + 1 < f->nodes; k++) {
            const double low = fmax(begin, f->arc[k]), high = fmin(end, f->arc[k + 1]);
            if (!(high > low)) continue;
            const double share = (high - low) / (f->arc[k + 1] - f->arc[k]) / (end - begin);
            const double *frame = f->frame + 9 * (int64_t)k, *c = f->curvature + 3 * (int64_t)k;
            for (int a = 0; a < 2; a++)
                for (int i = 0; i < 3; i++) own[a] += share * frame[3 * i + 1 + a] * c[i];
            own[2] += share * f->twist[k];
        }
        begin = end;
    }
    // The root's frame lies half a segment before the one of the first segment.
    double back[3], about[4];
    tl_scale3(-0.5, f->curvature, back);
    tl_quat_exp(back, about);
    for (int a = 0; a < 3; a++) {
        double axis[3] = {f->frame[a], f->frame[3 + a], f->frame[6 + a]};
        tl_rotate(about, axis, axis);
        for (int i = 0; i < 3; i++) r[3 * i + a] = axis[i];
    }
    tl_copy3(f->point, x);
}

// Turn the rows' columns by the vector w, and make them a frame again.
static void helix_turn_frame(const double w[3], double r[9]) {
    double about[4], axis[3][3];
    tl_quat_exp(w, about);
    for (int a = 0; a < 2; a++) {
        for (int i = 0; i < 3; i++) axis[a][i] = r[3 * i + a];
        tl_rotate(about, axis[a], axis[a]);
    }
    tl_scale3(1.0 / tl_norm3(axis[0]), axis[0], axis[0]);
    tl_axpy3(axis[1], -tl_dot3(axis[0], axis[1]), axis[0], axis[1]);
    tl_scale3(1.0 / tl_norm3(axis[1]), axis[1], axis[1]);
    tl_cross3(axis[0], axis[1], axis[2]);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) r[3 * i + a] = axis[a][i];
}

// Distances of the points, the largest of which is returned, and the normal equations.
static double helix_normal_equations(helix_fit *f, const tl_helix *h, const double *q) {
    const int32_t n = tl_helix_dof(h);
    double worst = 0.0, begin = 0.0;
    int32_t piece = 0;
    memset(f->system, 0, (size_t)n * (size_t)n * sizeof(double));
    memset(f->right, 0, (size_t)n * sizeof(double));
    for (int32_t k = 0; k < f->nodes; k++) {
        while (piece + 1 < f->pieces && f->arc[k] > begin + h->length[piece])
            begin += h->length[piece++];
        double x[3], r[9], off[3];
        tl_helix_rows(h, f->joint, q, piece, fmax(f->arc[k] - begin, 0.0), x, r, f->move, NULL);
        tl_sub3(f->point + 3 * (int64_t)k, x, off);
        worst = fmax(worst, tl_norm3(off));
        for (int32_t a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) {
                const double *row = f->move + (int64_t)i * n;
                f->right[a] += row[a] * off[i];
                for (int32_t b = 0; b <= a; b++) f->system[(int64_t)b * n + a] += row[a] * row[b];
            }
    }
    return worst;
}

static double helix_improve(helix_fit *f, tl_helix_pose *pose, double *q) {
    const tl_helix h = {.pieces = f->pieces, .root = 6, .length = f->length};
    const int32_t n = tl_helix_dof(&h);
    const double length = f->arc[f->nodes - 1], weight = HELIX_FIT_EPSILON * length;
    double worst = 0.0;
    for (int step = 0;; step++) {
        tl_helix_joints(&h, pose, f->joint);
        worst = helix_normal_equations(f, &h, q);
        if (step == HELIX_FIT_STEPS || worst <= HELIX_FIT_CLOSE * length) return worst;
        for (int32_t k = 3; k < n; k++) {
            const double scale = weight * (k < 6 ? 1.0 : h.length[(k - 6) / 3]);
            f->system[(int64_t)k * n + k] += scale * scale;
        }
        for (int32_t k = 0; k < 3; k++) // the first point stays where it is
            f->system[(int64_t)k * n + k] += HELIX_FIT_HELD * f->nodes;
        if (tl_spd_block_factor(n, f->system, 0.0) >= 0) return worst;
        tl_spd_block_solve(n, f->system, 1, f->right, n);
        for (int k = 0; k < 3; k++) pose->x[k] += f->right[k];
        helix_turn_frame(f->right + 3, pose->r);
        for (int32_t k = 6; k < n; k++) q[k - 6] += f->right[k];
    }
}

talus_status tl_helix_fit(talus_context *ctx, int32_t nodes, const double *point, int32_t pieces,
                          const double *twist, bool keep, double *arc, double *length, double *q,
                          double x[3], double r[9], double *error) {
    const int32_t n = 6 + 3 * pieces;
    helix_fit f = {.nodes = nodes, .pieces = pieces, .point = point, .arc = arc, .length = length};
    tl_helix_pose pose = {.q = q};
    talus_status status;
    TL_GOTO(TL_ALLOC(ctx, nodes, &f.twist));
    TL_GOTO(TL_ALLOC(ctx, 3 * (int64_t)nodes, &f.curvature));
    TL_GOTO(TL_ALLOC(ctx, 9 * (int64_t)nodes, &f.frame));
    TL_GOTO(TL_ALLOC(ctx, pieces + 1, &f.joint));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)n * n, &f.system));
    TL_GOTO(TL_ALLOC(ctx, n, &f.right));
    TL_GOTO(TL_ALLOC(ctx, 3 * (int64_t)n, &f.move));
    if (!keep) {
        helix_arcs(nodes, point, arc);
        helix_lengths(nodes, arc, pieces, length);
    }
    helix_spread_turns(&f);
    if (twist) {
        double begin = 0.0;
        for (int32_t k = 0, e = 0; k + 1 < nodes; k++) {
            const double middle = 0.5 * (arc[k] + arc[k + 1]);
            while (e + 1 < pieces && middle > begin + length[e]) begin += length[e++];
            f.twist[k] = twist[e] * (arc[k + 1] - arc[k]);
        }
    } else {
        helix_polygon_twist(&f);
    }
    helix_frames(&f);
    helix_guess(&f, q, pose.x, pose.r);
    *error = helix_improve(&f, &pose, q);
    tl_copy3(pose.x, x);
    memcpy(r, pose.r, sizeof pose.r);
done:
    tl_free(ctx, f.twist);
    tl_free(ctx, f.curvature);
    tl_free(ctx, f.frame);
    tl_free(ctx, f.joint);
    tl_free(ctx, f.system);
    tl_free(ctx, f.right);
    tl_free(ctx, f.move);
    return status;
}
