// SPDX-License-Identifier: Apache-2.0
#include "solve/lcp.h"
#include <math.h>

// An entry below PIVOT times the largest of its column is what rounding left of a zero. Constants
// may fall SLACK below zero, and entries of B⁻¹ that differ by less than TIE (relative, or absolute
// below 1) are equal: q and M have entries of about 1.
#define LCP_PIVOT 1e-9
#define LCP_SLACK 1e-12
#define LCP_TIE 1e-11

void tl_lcp_clear(talus_context *ctx, tl_lcp *lcp) {
    tl_free(ctx, lcp->table);
    tl_free(ctx, lcp->basic);
    tl_free(ctx, lcp->column);
    tl_free(ctx, lcp->place);
    tl_free(ctx, lcp->wanted);
    tl_free(ctx, lcp->excess);
    *lcp = (tl_lcp){0};
}

talus_status tl_lcp_create(talus_context *ctx, int32_t n, tl_lcp *out) {
    talus_status status;
    *out = (tl_lcp){.n = n, .stride = ((int64_t)n + 2 + 7) / 8 * 8};
    TL_GOTO(TL_ALLOC(ctx, n * out->stride, &out->table));
    TL_GOTO(TL_ALLOC(ctx, n, &out->basic));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)n + 1, &out->column));
    TL_GOTO(TL_ALLOC(ctx, 2 * (int64_t)n + 1, &out->place));
    TL_GOTO(TL_ALLOC(ctx, 2 * (int64_t)n + 1, &out->wanted));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)n + 1, &out->excess));
    return TALUS_OK;
done:
    tl_lcp_clear(ctx, out);
    return status;
}

void tl_lcp_begin(tl_lcp *lcp) {
    const int32_t n = lcp->n;
    for (int32_t i = 0; i < n; i++) {
        tl_lcp_row(lcp, i)[n] = 1.0;
        lcp->basic[i] = i;
        lcp->column[i] = n + i;
        lcp->place[i] = i;
        lcp->place[n + i] = -1 - i;
    }
    lcp->column[n] = 2 * n;
    lcp->place[2 * n] = -1 - n;
    lcp->entering = 2 * n;
}

// x += a y; the one loop that takes time.
void tl_lcp_add(int64_t count, double a, const double *y, double *x);
TL_SIMD_CLONES void tl_lcp_add(int64_t count, double a, const double *y, double *x) {
    for (int64_t k = 0; k < count; k++) x[k] += a * y[k];
}

// Exchange the basic variable of row p and the nonbasic one of column c.
static void lcp_exchange(tl_lcp *lcp, int32_t p, int32_t c) {
    double *pivot = tl_lcp_row(lcp, p);
    const double inverse = 1.0 / pivot[c];
    for (int64_t k = 0; k < lcp->stride; k++) pivot[k] *= -inverse;
    pivot[c] = inverse;
    for (int32_t i = 0; i < lcp->n; i++) {
        double *row = tl_lcp_row(lcp, i);
        const double a = row[c];
        if (i == p || a == 0.0) continue;
        row[c] = 0.0;
        tl_lcp_add(lcp->stride, a, pivot, row);
    }
    const int32_t leaves = lcp->basic[p], enters = lcp->column[c];
    lcp->basic[p] = enters;
    lcp->column[c] = leaves;
    lcp->place[enters] = p;
    lcp->place[leaves] = -1 - c;
}

// Entry k of the row that the lexicographic rule compares: the constant, then row i of B⁻¹.
static double lcp_lexical(const tl_lcp *lcp, int32_t i, int32_t k) {
    if (k == 0) return fmax(*tl_lcp_constant(lcp, i), 0.0);
    const int32_t at = lcp->place[k - 1];
    return at >= 0 ? (at == i ? 1.0 : 0.0) : -tl_lcp_row(lcp, i)[-1 - at];
}

// Whether row i, divided by `a`, comes lexicographically before row j, divided by `b`; both tie in
// the constants. It is as if q were q + (ε, ε², …) with ε → 0, where no ties exist: hence no basis
// comes back.
static bool lcp_before(const tl_lcp *lcp, int32_t i, double a, int32_t j, double b) {
    for (int32_t k = 1; k <= lcp->n; k++) {
        const double x = lcp_lexical(lcp, i, k) / a, y = lcp_lexical(lcp, j, k) / b;
        if (fabs(x - y) > LCP_TIE * fmax(1.0, fmax(fabs(x), fabs(y)))) return x < y;
    }
    return false;
}

// The row whose variable first becomes zero while the variable of column c grows; −1 where none
// does. Rows tie when taking one leaves none of the others below −SLACK. z0 is preferred: with it
// gone the problem is solved.
static int32_t lcp_leaving(const tl_lcp *lcp, int32_t c) {
    double most = 0.0, least = INFINITY;
    for (int32_t i = 0; i < lcp->n; i++) most = fmax(most, fabs(tl_lcp_row(lcp, i)[c]));
    const double small = LCP_PIVOT * most;
    for (int32_t i = 0; i < lcp->n; i++) {
        const double a = -tl_lcp_row(lcp, i)[c];
        if (a > small) least = fmin(least, (lcp_lexical(lcp, i, 0) + LCP_SLACK) / a);
    }
    int32_t chosen = -1;
    for (int32_t i = 0; i < lcp->n; i++) {
        const double a = -tl_lcp_row(lcp, i)[c];
        if (!(a > small) || lcp_lexical(lcp, i, 0) / a > least) continue;
        if (lcp->basic[i] == 2 * lcp->n) return i;
        if (chosen < 0 || lcp_before(lcp, i, a, chosen, -tl_lcp_row(lcp, chosen)[c])) chosen = i;
    }
    return chosen;
}

// The row with the most negative constant, for z0 to enter; −1 where none is negative. Of equal
// ones the last: lexicographically q_i + ε^i is least there.
static int32_t lcp_first(const tl_lcp *lcp) {
    int32_t chosen = -1;
    double least = 0.0;
    for (int32_t i = 0; i < lcp->n; i++)
        if (*tl_lcp_constant(lcp, i) < 0.0 && *tl_lcp_constant(lcp, i) <= least) {
            chosen = i;
            least = *tl_lcp_constant(lcp, i);
        }
    return chosen;
}

tl_lcp_state tl_lcp_pivot(tl_lcp *lcp) {
    const int32_t n = lcp->n, c = -1 - lcp->place[lcp->entering];
    const bool first = lcp->entering == 2 * n;
    const int32_t p = first ? lcp_first(lcp) : lcp_leaving(lcp, c);
    if (p < 0) return first ? TL_LCP_SOLVED : TL_LCP_RAY;
    const int32_t leaves = lcp->basic[p];
    lcp_exchange(lcp, p, c);
    if (leaves == 2 * n) return TL_LCP_SOLVED;
    lcp->entering = leaves < n ? leaves + n : leaves - n;
    return TL_LCP_GOES_ON;
}

void tl_lcp_get(const tl_lcp *lcp, double *z) {
    for (int32_t i = 0; i < lcp->n; i++) {
        const int32_t at = lcp->place[lcp->n + i];
        z[i] = at >= 0 ? *tl_lcp_constant(lcp, at) : 0.0;
    }
}

void tl_lcp_correct(tl_lcp *lcp, const double *w) {
    const int32_t n = lcp->n;
    for (int32_t c = 0; c <= n; c++) lcp->excess[c] = lcp->column[c] < n ? w[lcp->column[c]] : 0.0;
    for (int32_t i = 0; i < n; i++) {
        const double *row = tl_lcp_row(lcp, i);
        double sum = 0.0;
        for (int32_t c = 0; c <= n; c++) sum += row[c] * lcp->excess[c];
        *tl_lcp_constant(lcp, i) -= sum;
    }
}

void tl_lcp_remember(tl_lcp *lcp) {
    for (int32_t v = 0; v <= 2 * lcp->n; v++) lcp->wanted[v] = lcp->place[v] >= 0;
    lcp->resume = lcp->entering;
}

tl_lcp_state tl_lcp_restore(tl_lcp *lcp) {
    for (int32_t c = 0; c <= lcp->n; c++) {
        if (!lcp->wanted[lcp->column[c]]) continue;
        // Its place: the largest entry among rows whose variable has to leave.
        int32_t p = -1;
        double most = 0.0;
        for (int32_t i = 0; i < lcp->n; i++) {
            const double a = fabs(tl_lcp_row(lcp, i)[c]);
            if (lcp->wanted[lcp->basic[i]] || !(a > most)) continue;
            p = i;
            most = a;
        }
        if (p < 0) return TL_LCP_RAY;
        lcp_exchange(lcp, p, c);
        return TL_LCP_GOES_ON;
    }
    lcp->entering = lcp->resume;
    return TL_LCP_SOLVED;
}
