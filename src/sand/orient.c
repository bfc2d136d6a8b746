// SPDX-License-Identifier: Apache-2.0
// Grains that are not round [docs/theory/sand.md]. A particle knows the second moment ν of the
// normals of its grains' flat sides, tr ν = 1. With N⁻¹ = (1 − a) I + dim a ν, a the anisotropy,
// the sand yields where |dev(N λ_T N)| = μ λ_N. In the unknowns N̄ λ, with N̄ = (1, A) for normal and
// tangent, A : X → dev(N X N), that is Coulomb's law again, and H is A⁻¹ H in the tangent; A is
// symmetric and positive definite.
//
// Normals turn with the flow as Jeffery's equation has it for flat grains of the elongation l,
//     dν/dt = W ν − ν W − l (D ν + ν D − 2 (D:ν) ν),
// whose solution over a step with a constant gradient is E ν Eᵀ over its trace, E = exp(h (W − l
// D)): ν stays positive. Disorder draws it to I/dim at a rate times the rate of strain.
#include "linalg/dense_inline.h"
#include "linalg/tensor.h"
#include "sand/sand.h"
#include <math.h>
#include <string.h>

// N of a mean ν.
static void orient_metric(const tl_sand *m, const double *nu, double n[9]) {
    const int dim = m->dim;
    const double a = m->def.anisotropy;
    double x[9];
    for (int k = 0; k < 9; k++) {
        const bool diagonal = k % 4 == 0;
        n[k] = diagonal;
        x[k] = (diagonal ? 1.0 - a : 0.0) + dim * a * nu[k];
        if (dim == 2 && (k % 3 == 2 || k / 3 == 2)) x[k] = diagonal;
    }
    (void)tl_small_solve(3, 3, x, n); // its eigenvalues are at least 1 − a
}

void tl_sand_tilt(const tl_sand *m, const double *nu, double *a) {
    const int dim = m->dim, size = tl_tensor_size(dim), t = size - 1;
    double n[9], x[9], y[9], out[6];
    orient_metric(m, nu, n);
    for (int c = 0; c < t; c++) {
        double unit[6] = {0};
        unit[1 + c] = 1.0;
        tl_tensor_unpack(dim, unit, x);
        tl_mm(3, n, x, y);
        tl_mm(3, y, n, x);
        tl_tensor_pack(dim, x, out);
        for (int k = 0; k < t; k++) a[k * t + c] = out[1 + k];
    }
}

void tl_sand_tilt_apply(int dim, bool inverse, const double *a, int columns, double *x) {
    const int t = tl_tensor_size(dim) - 1;
    double copy[25], y[5];
    for (int c = 0; c < columns; c++) {
        for (int k = 0; k < t; k++) y[k] = x[k * columns + c];
        memcpy(copy, a, (size_t)(t * t) * sizeof *a);
        if (!inverse) {
            for (int k = 0; k < t; k++) {
                x[k * columns + c] = 0.0;
                for (int e = 0; e < t; e++) x[k * columns + c] += a[k * t + e] * y[e];
            }
            continue;
        }
        (void)(dim == 2 ? tl_small_solve(2, 1, copy, y) : tl_small_solve(5, 1, copy, y));
        for (int k = 0; k < t; k++) x[k * columns + c] = y[k];
    }
}

void tl_sand_turn_normals(const tl_sand *m, double h, const double gradient[9], double nu[9]) {
    const double l = m->def.elongation;
    double x[9], shear[6], trace = 0.0, rate = 0.0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const double own = gradient[3 * i + k], other = gradient[3 * k + i];
            x[3 * i + k] = 0.5 * (own - other) - l * 0.5 * (own + other);
        }
    tl_sand_frame(h, x, nu);
    for (int k = 0; k < m->dim; k++) trace += nu[4 * k];
    tl_tensor_pack(m->dim, gradient, shear);
    for (int k = 1; k < tl_tensor_size(m->dim); k++) rate += shear[k] * shear[k];
    const double mix = h * m->def.disorder * sqrt(rate);
    for (int k = 0; k < 9; k++)
        nu[k] = (nu[k] / trace + (k % 4 == 0 && k / 4 < m->dim ? mix : 0.0)) / (1.0 + mix * m->dim);
}
