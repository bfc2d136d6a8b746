// SPDX-License-Identifier: Apache-2.0
// Band matrices. Columns are as short as the band is narrow: plain loops, since a call into LAPACK
// for each would cost more than the work. General ones, which need row exchanges, go to LAPACK.
#include "linalg/band.h"
#include <lapacke.h>

static int32_t band_last(int32_t n, int32_t width, int32_t j) {
    return n - 1 - j < width ? n - 1 - j : width;
}

int32_t tl_band_factor(int32_t n, int32_t width, double *a, double tolerance) {
    const int64_t step = width + 1;
    for (int32_t j = 0; j < n; j++) {
        double *aj = a + j * step;
        const int32_t last = band_last(n, width, j);
        // What column j began with, before columns k < j were taken off: their shares of A_jj.
        double diagonal = aj[0];
        for (int32_t k = j - width > 0 ? j - width : 0; k < j; k++) {
            const double *ak = a + k * step + (j - k);
            diagonal += ak[0] * ak[0] * a[k * step];
        }
        if (!(diagonal > 0.0 && aj[0] > tolerance * diagonal)) return j;
        const double pivot = aj[0];
        for (int32_t i = 1; i <= last; i++) {
            const double l = aj[i] / pivot;
            double *ai = a + (j + i) * step;
            for (int32_t k = i; k <= last; k++) ai[k - i] -= l * aj[k];
        }
        for (int32_t i = 1; i <= last; i++) aj[i] /= pivot;
    }
    return -1;
}

void tl_band_solve(int32_t n, int32_t width, const double *factor, double *x) {
    const int64_t step = width + 1;
    int32_t first = 0;
    while (first < n && x[first] == 0.0) first++; // what is zero before stays so
    for (int32_t j = first; j < n; j++) {
        const double *aj = factor + j * step;
        const int32_t last = band_last(n, width, j);
        for (int32_t i = 1; i <= last; i++) x[j + i] -= aj[i] * x[j];
    }
    for (int32_t j = first; j < n; j++) x[j] /= factor[j * step];
    for (int32_t j = n - 1; j >= 0; j--) {
        const double *aj = factor + j * step;
        const int32_t last = band_last(n, width, j);
        double sum = x[j];
        for (int32_t i = 1; i <= last; i++) sum -= aj[i] * x[j + i];
        x[j] = sum;
    }
}

void tl_band_multiply(int32_t n, int32_t width, const double *a, double s, const double *x,
                      double *y) {
    const int64_t step = width + 1;
    for (int32_t j = 0; j < n; j++) {
        const double *aj = a + j * step;
        const int32_t last = band_last(n, width, j);
        double sum = aj[0] * x[j];
        for (int32_t i = 1; i <= last; i++) {
            y[j + i] += s * aj[i] * x[j];
            sum += aj[i] * x[j + i];
        }
        y[j] += s * sum;
    }
}

bool tl_band_solve_general(int32_t n, int32_t width, double *a, int32_t *pivot, double *x) {
    return LAPACKE_dgbsv_work(LAPACK_COL_MAJOR, n, width, width, 1, a, 3 * width + 1, pivot, x,
                              n) == 0;
}
