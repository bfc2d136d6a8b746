// SPDX-License-Identifier: Apache-2.0
// Small dense kernels. Blocks up to SMALL are factored as L D Lᵀ by plain loops: a call into LAPACK
// costs more than the work, and without square roots a diagonal block is solved with one rounding.
// Larger blocks go to LAPACK (through the LAPACKE functions that allocate nothing).
#include "linalg/dense.h"
#include <lapacke.h>
#include <math.h>

enum { SMALL = 16, EIGEN_MAX = 6 };

// A = L D Lᵀ: unit L below the diagonal, D on it.
static int32_t dense_ldl(int32_t n, double *a, double tolerance) {
    for (int32_t j = 0; j < n; j++) {
        double *aj = a + (int64_t)j * n;
        const double diagonal = aj[j];
        for (int32_t k = 0; k < j; k++) {
            const double *ak = a + (int64_t)k * n;
            const double scaled = ak[j] * ak[k];
            for (int32_t i = j; i < n; i++) aj[i] -= ak[i] * scaled;
        }
        const double pivot = aj[j];
        if (!(diagonal > 0.0 && pivot > tolerance * diagonal)) return j;
        for (int32_t i = j + 1; i < n; i++) aj[i] /= pivot;
    }
    return -1;
}

static void dense_ldl_solve(int32_t n, const double *a, double *x) {
    for (int32_t j = 0; j < n; j++) {
        const double *aj = a + (int64_t)j * n;
        for (int32_t i = j + 1; i < n; i++) x[i] -= aj[i] * x[j];
    }
    for (int32_t j = 0; j < n; j++) x[j] /= a[(int64_t)j * n + j];
    for (int32_t j = n - 1; j >= 0; j--) {
        const double *aj = a + (int64_t)j * n;
        double sum = x[j];
        for (int32_t i = j + 1; i < n; i++) sum -= aj[i] * x[i];
        x[j] = sum;
    }
}

int32_t tl_spd_block_factor(int32_t n, double *a, double tolerance) {
    if (n <= SMALL) return dense_ldl(n, a, tolerance);
    const lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, n);
    const int32_t done = info > 0 ? (int32_t)info - 1 : n;
    // Row i of L gives back the diagonal: A_ii = Σ_k L_ik², the last term being the pivot.
    for (int32_t i = 0; i < done; i++) {
        double diagonal = 0.0;
        for (int32_t k = 0; k <= i; k++) {
            const double lik = a[i + (int64_t)k * n];
            diagonal += lik * lik;
        }
        const double lii = a[i + (int64_t)i * n];
        if (!(lii * lii > tolerance * diagonal)) return i;
    }
    return done < n ? done : -1;
}

void tl_spd_block_solve(int32_t n, const double *factor, int32_t columns, double *x,
                        int64_t stride) {
    if (n <= SMALL) {
        for (int32_t c = 0; c < columns; c++) dense_ldl_solve(n, factor, x + c * stride);
        return;
    }
    // One column at a time: `stride` may exceed what LAPACK can take as a leading dimension.
    for (int32_t c = 0; c < columns; c++)
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, 1, factor, n, x + c * stride, n);
}

int32_t tl_lu_factor(int32_t n, double *a, int32_t *pivot, double *rcond, double *work,
                     int32_t *iwork) {
    *rcond = 1.0;
    if (n == 0) return -1;
    const double norm = LAPACKE_dlange_work(LAPACK_COL_MAJOR, '1', n, n, a, n, work);
    const lapack_int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, pivot);
    *rcond = 0.0;
    if (info > 0) return (int32_t)info - 1;
    LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', n, a, n, norm, rcond, work, iwork);
    return -1;
}

void tl_lu_solve(int32_t n, const double *factor, const int32_t *pivot, int32_t columns,
                 double *x) {
    if (n == 0 || columns == 0) return;
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, columns, factor, n, pivot, x, n);
}

// One Jacobi rotation that makes s_pq zero; columns of v turn with it.
static void dense_rotate(int32_t d, double s[EIGEN_MAX][EIGEN_MAX], double v[EIGEN_MAX][EIGEN_MAX],
                         int32_t p, int32_t q) {
    if (s[p][q] == 0.0) return;
    const double theta = (s[q][q] - s[p][p]) / (2.0 * s[p][q]);
    const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0);
    for (int32_t k = 0; k < d; k++) {
        const double kp = s[k][p], kq = s[k][q];
        s[k][p] = c * (kp - t * kq);
        s[k][q] = c * (t * kp + kq);
        const double vp = v[k][p], vq = v[k][q];
        v[k][p] = c * (vp - t * vq);
        v[k][q] = c * (t * vp + vq);
    }
    for (int32_t k = 0; k < d; k++) {
        const double pk = s[p][k], qk = s[q][k];
        s[p][k] = c * (pk - t * qk);
        s[q][k] = c * (t * pk + qk);
    }
    s[p][q] = s[q][p] = 0.0;
}

// Diagonalise the symmetric part of a; v begins as the identity.
static void dense_diagonalise(int32_t d, const double *a, double s[EIGEN_MAX][EIGEN_MAX],
                              double v[EIGEN_MAX][EIGEN_MAX]) {
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j < d; j++) {
            s[i][j] = 0.5 * (a[i * d + j] + a[j * d + i]);
            v[i][j] = i == j ? 1.0 : 0.0;
        }
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0.0, all = 0.0;
        for (int32_t i = 0; i < d; i++)
            for (int32_t j = 0; j < d; j++) {
                all += s[i][j] * s[i][j];
                if (i != j) off += s[i][j] * s[i][j];
            }
        if (!(off > 1e-34 * all)) break;
        for (int32_t p = 0; p < d - 1; p++)
            for (int32_t q = p + 1; q < d; q++) dense_rotate(d, s, v, p, q);
    }
}

void tl_sym_eigen_range(int32_t d, const double *a, double *low, double *high) {
    double s[EIGEN_MAX][EIGEN_MAX] = {{0}}, v[EIGEN_MAX][EIGEN_MAX];
    dense_diagonalise(d, a, s, v);
    *low = *high = s[0][0];
    for (int32_t i = 1; i < d; i++) {
        *low = fmin(*low, s[i][i]);
        *high = fmax(*high, s[i][i]);
    }
}

void tl_sym_eigen(int32_t d, const double *a, double *value, double *vectors) {
    double s[EIGEN_MAX][EIGEN_MAX] = {{0}}, v[EIGEN_MAX][EIGEN_MAX];
    dense_diagonalise(d, a, s, v);
    for (int32_t j = 0; j < d; j++) {
        value[j] = s[j][j];
        for (int32_t i = 0; i < d; i++) vectors[j * d + i] = v[i][j];
    }
}
