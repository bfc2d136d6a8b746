// SPDX-License-Identifier: Apache-2.0
// Judges solutions without calling the library. Nothing here is fast; everything is plain.
#include "verify.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double verify_norm(int n, const double *x) {
    double sum = 0.0;
    for (int k = 0; k < n; k++) sum += x[k] * x[k];
    return sqrt(sum);
}

// The nearest point among the candidates that can be nearest: the point itself, the face z_N = 0,
// the slant along x_T, and the rim between them.
void verify_project(int d, double mu, double yield, const double *x, double *z) {
    const double t = verify_norm(d - 1, x + 1);
    double best_n = x[0], best_t = t; // z_N and |z_T|
    if (isinf(mu)) {
        if (best_n < 0.0) best_n = 0.0;
    } else if (x[0] < 0.0 || t > yield + mu * x[0]) {
        double candidate[3][2] = {
            {0.0, t < yield ? t : yield}, // face or rim
            {0.0, 0.0},                   // slant, if its foot is there
            {0.0, yield},                 // rim
        };
        const double along = (x[0] + mu * (t - yield)) / (1.0 + mu * mu);
        candidate[1][0] = along > 0.0 ? along : 0.0;
        candidate[1][1] = yield + mu * candidate[1][0];
        double least = INFINITY;
        for (int c = 0; c < 3; c++) {
            const double distance = hypot(candidate[c][0] - x[0], candidate[c][1] - t);
            if (distance < least) {
                least = distance;
                best_n = candidate[c][0];
                best_t = candidate[c][1];
            }
        }
    }
    z[0] = best_n;
    for (int k = 1; k < d; k++) z[k] = t > 0.0 ? best_t * x[k] / t : 0.0;
}

double verify_natural_full(int d, int n, const double *mu, const double *zeta, const double *yield,
                           const double *tension, bool associated, const double *u, const double *r,
                           double qnorm) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double *ui = u + i * d, *ri = r + i * d;
        const double shift = associated || isinf(mu[i]) ? 0.0 : mu[i] - (zeta ? zeta[i] : 0.0);
        double x[6] = {0}, z[6], l[6] = {0};
        for (int k = 0; k < d; k++) l[k] = ri[k];
        if (tension) l[0] += tension[i];
        for (int k = 0; k < d; k++) x[k] = l[k] - ui[k];
        x[0] -= shift * verify_norm(d - 1, ui + 1);
        verify_project(d, mu[i], yield ? yield[i] : 0.0, x, z);
        for (int k = 0; k < d; k++) sum += (l[k] - z[k]) * (l[k] - z[k]);
    }
    return sqrt(sum) / (qnorm > 1.0 ? qnorm : 1.0);
}

double verify_natural(int d, int n, const double *mu, const double *zeta, bool associated,
                      const double *u, const double *r, double qnorm) {
    return verify_natural_full(d, n, mu, zeta, NULL, NULL, associated, u, r, qnorm);
}

void verify_multiply(int rows, int cols, const double *a, const double *x, double *y) {
    for (int i = 0; i < rows; i++) {
        y[i] = 0.0;
        for (int j = 0; j < cols; j++) y[i] += a[i * cols + j] * x[j];
    }
}

// Room for `count` numbers; a test without memory cannot go on.
static double *verify_room(int count) {
    double *x = calloc((size_t)(count > 0 ? count : 1), sizeof *x);
    if (!x) abort();
    return x;
}

// x (n × columns, row major) with A x = b, by elimination with row exchanges.
static bool verify_solve_many(int n, int columns, const double *a, const double *b, double *x) {
    double *w = verify_room(n * n);
    bool good = true;
    memcpy(w, a, (size_t)n * (size_t)n * sizeof *w);
    memmove(x, b, (size_t)n * (size_t)columns * sizeof *x);
    for (int j = 0; j < n && good; j++) {
        int pivot = j;
        for (int i = j + 1; i < n; i++)
            if (fabs(w[i * n + j]) > fabs(w[pivot * n + j])) pivot = i;
        good = w[pivot * n + j] != 0.0;
        if (!good) break;
        for (int k = 0; k < n; k++) {
            const double t = w[j * n + k];
            w[j * n + k] = w[pivot * n + k];
            w[pivot * n + k] = t;
        }
        for (int k = 0; k < columns; k++) {
            const double t = x[j * columns + k];
            x[j * columns + k] = x[pivot * columns + k];
            x[pivot * columns + k] = t;
        }
        for (int i = j + 1; i < n; i++) {
            const double factor = w[i * n + j] / w[j * n + j];
            for (int k = j; k < n; k++) w[i * n + k] -= factor * w[j * n + k];
            for (int k = 0; k < columns; k++) x[i * columns + k] -= factor * x[j * columns + k];
        }
    }
    for (int i = n - 1; i >= 0 && good; i--)
        for (int c = 0; c < columns; c++) {
            for (int k = i + 1; k < n; k++) x[i * columns + c] -= w[i * n + k] * x[k * columns + c];
            x[i * columns + c] /= w[i * n + i];
        }
    free(w);
    return good;
}

bool verify_solve(int n, const double *a, const double *b, double *x) {
    return verify_solve_many(n, 1, a, b, x);
}

void verify_local_u(int size, const double *w, const double *q, const double *r, double *u) {
    verify_multiply(size, size, w, r, u);
    for (int k = 0; k < size; k++) u[k] += q[k];
}

bool verify_delassus(int size, int dof, const double *m, const double *h, const double *f,
                     const double *w, double *delassus, double *q) {
    double *x = verify_room(dof), *column = verify_room(size);
    bool good = true;
    for (int j = 0; j <= size && good; j++) { // one more: f
        good = verify_solve(dof, m, j < size ? h + j * dof : f, x);
        verify_multiply(size, dof, h, x, column);
        for (int i = 0; i < size; i++) {
            if (j < size)
                delassus[i * size + j] = column[i];
            else
                q[i] = column[i] + w[i];
        }
    }
    free(x);
    free(column);
    return good;
}

// [M −Cᵀ; C 0], which acts on (v, λ).
static double *verify_saddle(int dof, int rows, const double *m, const double *c) {
    const int n = dof + rows;
    double *a = verify_room(n * n);
    for (int i = 0; i < dof; i++)
        for (int j = 0; j < dof; j++) a[i * n + j] = m[i * dof + j];
    for (int l = 0; l < rows; l++)
        for (int j = 0; j < dof; j++) {
            a[(dof + l) * n + j] = c[l * dof + j];
            a[j * n + dof + l] = -c[l * dof + j];
        }
    return a;
}

bool verify_global_state(int size, int dof, int rows, const double *m, const double *h,
                         const double *c, const double *f, const double *k, const double *w,
                         const double *r, double *v, double *u, double *lambda) {
    const int n = dof + rows;
    double *a = verify_saddle(dof, rows, m, c), *b = verify_room(n), *x = verify_room(n);
    for (int i = 0; i < dof; i++) {
        b[i] = f[i];
        for (int j = 0; j < size; j++) b[i] += h[j * dof + i] * r[j];
    }
    for (int l = 0; l < rows; l++) b[dof + l] = k[l];
    const bool good = verify_solve(n, a, b, x);
    memcpy(v, x, (size_t)dof * sizeof *v);
    if (lambda && rows > 0) memcpy(lambda, x + dof, (size_t)rows * sizeof *lambda);
    verify_multiply(size, dof, h, v, u);
    for (int i = 0; i < size; i++) u[i] += w[i];
    free(a);
    free(b);
    free(x);
    return good;
}

bool verify_global_operator(int size, int dof, int rows, const double *m, const double *h,
                            const double *c, const double *f, const double *k, const double *w,
                            double *delassus, double *q) {
    const int n = dof + rows, columns = size + 1; // the last one: r = 0
    double *a = verify_saddle(dof, rows, m, c), *x = verify_room(n * columns);
    for (int i = 0; i < dof; i++) {
        for (int j = 0; j < size; j++) x[i * columns + j] = h[j * dof + i];
        x[i * columns + size] = f[i];
    }
    for (int l = 0; l < rows; l++) x[(dof + l) * columns + size] = k[l];
    const bool good = verify_solve_many(n, columns, a, x, x);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < columns; j++) {
            double sum = 0.0;
            for (int e = 0; e < dof; e++) sum += h[i * dof + e] * x[e * columns + j];
            *(j < size ? &delassus[i * size + j] : &q[i]) = sum + (j < size ? 0.0 : w[i]);
        }
    free(a);
    free(x);
    return good;
}

void verify_dense(int d, int n, const int64_t *start, const int32_t *col, const double *block,
                  double *w) {
    const int size = d * n;
    memset(w, 0, (size_t)size * (size_t)size * sizeof *w);
    for (int i = 0; i < n; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            for (int x = 0; x < d; x++)
                for (int y = 0; y < d; y++)
                    w[(i * d + x) * size + col[k] * d + y] = block[(k * d + x) * d + y];
}
