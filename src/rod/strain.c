// SPDX-License-Identifier: Apache-2.0
// Derivatives of bending and twist. With t̃ = (t_e + t_f)/χ and d̃ = (d_e + d_f)/χ,
//     ∂κ1/∂e = (−κ1 t̃ + t_f × d̃2)/|e|,   ∂κ1/∂f = (−κ1 t̃ − t_e × d̃2)/|f|,   ∂κ1/∂ϑ = −½ d1·κb,
//     ∂κ2/∂e = (−κ2 t̃ − t_f × d̃1)/|e|,   ∂κ2/∂f = (−κ2 t̃ + t_e × d̃1)/|f|,   ∂κ2/∂ϑ = −½ d2·κb,
//     ∂m/∂e  = κb/(2 |e|),               ∂m/∂f  = κb/(2 |f|),               ∂m/∂ϑ_f = −∂m/∂ϑ_e = 1.
// κ2 is κ1 of a frame turned by a right angle: (d1, d2) → (d2, −d1). So one function serves both.
#include "rod/strain.h"
#include "base/vec3.h"
#include "rod/rod_impl.h"
#include <math.h>

enum { BEND_E = 0, BEND_TURN_E = 3, BEND_F = 4, BEND_TURN_F = 7 };

void tl_bend_set(const double e[3], const double f[3], const double d1_e[3], const double d1_f[3],
                 double twist, tl_bend *out) {
    const double *edge[2] = {e, f}, *axis[2] = {d1_e, d1_f};
    double sum[2][3], brought[3], side[3];
    for (int k = 0; k < 2; k++) {
        out->length[k] = tl_norm3(edge[k]);
        tl_scale3(1.0 / out->length[k], edge[k], out->t[k]);
        tl_copy3(axis[k], out->d1[k]);
        tl_cross3(out->t[k], out->d1[k], out->d2[k]);
    }
    out->chi = 1.0 + tl_dot3(out->t[0], out->t[1]);
    tl_cross3(out->t[0], out->t[1], out->binormal);
    tl_scale3(2.0 / out->chi, out->binormal, out->binormal);
    tl_axpy3(out->d1[0], 1.0, out->d1[1], sum[0]);
    tl_axpy3(out->d2[0], 1.0, out->d2[1], sum[1]);
    out->strain[0] = 0.5 * tl_dot3(sum[1], out->binormal);
    out->strain[1] = -0.5 * tl_dot3(sum[0], out->binormal);
    tl_rod_transport(out->t[0], out->t[1], out->d1[0], brought);
    tl_cross3(out->t[1], brought, side);
    const double angle = atan2(tl_dot3(side, out->d1[1]), tl_dot3(brought, out->d1[1]));
    const double round = 8.0 * atan(1.0);
    out->strain[2] = angle + round * rint((twist - angle) / round);
}

// The parts that derivatives of a curvature are made of: first axes a (∂κ/∂ϑ = −½ a·κb) and second
// axes b (κ = ½ Σ b·κb) of both edges, t̃ and b̃.
typedef struct bend_axes {
    double kappa, middle[3], across[3]; // κ, t̃, b̃
    double a[2][3], b[2][3];
} bend_axes;

// Those of κ1 (k = 0): a = d1, b = d2, or of κ2 (k = 1): a = d2, b = −d1.
static bend_axes bend_get_axes(const tl_bend *bend, int k) {
    bend_axes out = {.kappa = bend->strain[k]};
    for (int s = 0; s < 2; s++) {
        tl_copy3(k == 0 ? bend->d1[s] : bend->d2[s], out.a[s]);
        tl_scale3(k == 0 ? 1.0 : -1.0, k == 0 ? bend->d2[s] : bend->d1[s], out.b[s]);
    }
    for (int i = 0; i < 3; i++) {
        out.middle[i] = (bend->t[0][i] + bend->t[1][i]) / bend->chi;
        out.across[i] = (out.b[0][i] + out.b[1][i]) / bend->chi;
    }
    return out;
}

static void bend_gradient_curvature(const tl_bend *bend, const bend_axes *x, double *out) {
    double to_e[3], to_f[3];
    tl_cross3(bend->t[1], x->across, to_e);
    tl_cross3(bend->t[0], x->across, to_f);
    for (int k = 0; k < 3; k++) {
        out[BEND_E + k] = (-x->kappa * x->middle[k] + to_e[k]) / bend->length[0];
        out[BEND_F + k] = (-x->kappa * x->middle[k] - to_f[k]) / bend->length[1];
    }
    out[BEND_TURN_E] = -0.5 * tl_dot3(x->a[0], bend->binormal);
    out[BEND_TURN_F] = -0.5 * tl_dot3(x->a[1], bend->binormal);
}

void tl_bend_gradient(const tl_bend *bend, double out[TL_BEND_STRAINS][TL_BEND_SIZE]) {
    const bend_axes first = bend_get_axes(bend, 0), second = bend_get_axes(bend, 1);
    bend_gradient_curvature(bend, &first, out[0]);
    bend_gradient_curvature(bend, &second, out[1]);
    for (int k = 0; k < 3; k++) {
        out[2][BEND_E + k] = 0.5 * bend->binormal[k] / bend->length[0];
        out[2][BEND_F + k] = 0.5 * bend->binormal[k] / bend->length[1];
    }
    out[2][BEND_TURN_E] = -1.0;
    out[2][BEND_TURN_F] = 1.0;
}

// Entry (i, j) of the matrix of a ×.
static double bend_cross_matrix(const double a[3], int i, int j) {
    if (i == j) return 0.0;
    const int k = 3 - i - j;
    return (j - i + 3) % 3 == 1 ? -a[k] : a[k];
}

// Second derivatives of a curvature, for e and f alone; `c` is t_f × b̃ and −t_e × b̃.
static void bend_hessian_edges(const tl_bend *bend, const bend_axes *x, const double *const c[2],
                               double weight, double out[TL_BEND_SIZE][TL_BEND_SIZE]) {
    static const int at[2] = {BEND_E, BEND_F};
    const double *n = bend->length, *kb = bend->binormal, *m = x->middle;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double unit = i == j ? 1.0 : 0.0;
            for (int s = 0; s < 2; s++) {
                const double *t = bend->t[s], *b = x->b[s];
                const double value = 2.0 * x->kappa * m[i] * m[j] - c[s][i] * m[j] -
                                     m[i] * c[s][j] - x->kappa / bend->chi * (unit - t[i] * t[j]) +
                                     0.25 * (kb[i] * b[j] + b[i] * kb[j]);
                out[at[s] + i][at[s] + j] += weight * value / (n[s] * n[s]);
            }
            const double mixed = 2.0 * x->kappa * m[i] * m[j] - c[0][i] * m[j] - m[i] * c[1][j] -
                                 x->kappa / bend->chi * (unit + bend->t[0][i] * bend->t[1][j]) -
                                 bend_cross_matrix(x->across, i, j);
            out[BEND_E + i][BEND_F + j] += weight * mixed / (n[0] * n[1]);
            out[BEND_F + j][BEND_E + i] += weight * mixed / (n[0] * n[1]);
        }
}

static void bend_hessian_curvature(const tl_bend *bend, const bend_axes *x, double weight,
                                   double out[TL_BEND_SIZE][TL_BEND_SIZE]) {
    static const int edge[2] = {BEND_E, BEND_F}, turn[2] = {BEND_TURN_E, BEND_TURN_F};
    double c_e[3], c_f[3];
    const double *const c[2] = {c_e, c_f};
    tl_cross3(bend->t[1], x->across, c_e);
    tl_cross3(x->across, bend->t[0], c_f);
    bend_hessian_edges(bend, x, c, weight, out);
    for (int s = 0; s < 2; s++) { // the frame that turns
        const double pull = 0.5 * tl_dot3(x->a[s], bend->binormal);
        out[turn[s]][turn[s]] -= weight * 0.5 * tl_dot3(x->b[s], bend->binormal);
        double side[2][3];
        tl_cross3(x->a[s], bend->t[1], side[0]);
        tl_cross3(bend->t[0], x->a[s], side[1]);
        for (int e = 0; e < 2; e++)
            for (int k = 0; k < 3; k++) {
                const double value =
                    (pull * x->middle[k] + side[e][k] / bend->chi) / bend->length[e];
                out[edge[e] + k][turn[s]] += weight * value;
                out[turn[s]][edge[e] + k] += weight * value;
            }
    }
}

static void bend_hessian_twist(const tl_bend *bend, double weight,
                               double out[TL_BEND_SIZE][TL_BEND_SIZE]) {
    static const int at[2] = {BEND_E, BEND_F};
    const double *n = bend->length, *kb = bend->binormal;
    double m[3];
    for (int k = 0; k < 3; k++) m[k] = (bend->t[0][k] + bend->t[1][k]) / bend->chi;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            for (int s = 0; s < 2; s++) {
                const double *t = bend->t[s];
                const double value = kb[i] * (t[j] + m[j]) + (t[i] + m[i]) * kb[j];
                out[at[s] + i][at[s] + j] -= 0.25 * weight * value / (n[s] * n[s]);
            }
            const double mixed =
                2.0 / bend->chi * bend_cross_matrix(bend->t[0], i, j) - kb[i] * m[j];
            out[BEND_E + i][BEND_F + j] += 0.5 * weight * mixed / (n[0] * n[1]);
            out[BEND_F + j][BEND_E + i] += 0.5 * weight * mixed / (n[0] * n[1]);
        }
}

void tl_bend_hessian(const tl_bend *bend, const double weight[TL_BEND_STRAINS],
                     double out[TL_BEND_SIZE][TL_BEND_SIZE]) {
    const bend_axes first = bend_get_axes(bend, 0), second = bend_get_axes(bend, 1);
    bend_hessian_curvature(bend, &first, weight[0], out);
    bend_hessian_curvature(bend, &second, weight[1], out);
    bend_hessian_twist(bend, weight[2], out);
}
