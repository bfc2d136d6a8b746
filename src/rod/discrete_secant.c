// SPDX-License-Identifier: Apache-2.0
// Discrete rods: elastic energy, and the secant of the strains over a step. With the strains ε
// (bends, twist, stretch), their natural values and stiffnesses C,
//     E = ½ Σ C (ε − ε°)²/cell,   σ = C (ε − ε°)/cell.
// Ĵ is a matrix with Ĵ d = ε(x + d) − ε(x) for the displacements d of the step. Of a stretch from
// the edge e0 to e1 it is known exactly, (e0 + e1)/(l0 + l1); of a bend it is the gradient half
// way, J, and of the matrices that make it exact the one nearest to it, J + (Δε − J d) d̂ᵀ/(d·d̂)
// with d̂ = d over the squares of the lengths. Stresses that act through Ĵ do the work σ·Δε.
// A length is a convex function of the edge: with the direction at the end, t1·d ≥ Δl, an edge
// under tension takes more. That damps the tones of a taut rod, which the secant alone leaves to
// ring, and is used in the measure β of 2 θ − 1 (for θ = ½ nothing is to be damped) and of the
// tension before over that which is as much as inertia in the step.
#include "base/vec3.h"
#include "rod/discrete.h"
#include <math.h>
#include <string.h>

enum { BAND = TL_DISCRETE_BAND, WIDTH = TL_DISCRETE_WIDTH, ELEMENT = 11 };

// Ways of less than this part of a segment change strains by the gradient half way, up to its cube:
// rounding.
#define DISCRETE_SHORT 1e-5

static void discrete_bend(const tl_discrete *d, int32_t i, tl_bend *out) {
    const int64_t at = 3 * (int64_t)i;
    double e[3], f[3];
    tl_sub3(d->x + at, d->x + at - 3, e);
    tl_sub3(d->x + at + 3, d->x + at, f);
    tl_bend_set(e, f, d->d1 + at - 3, d->d1 + at, d->twist[i], out);
}

double tl_discrete_energy(const tl_discrete *d) {
    double sum = 0.0;
    for (int32_t i = 0; i + 1 < d->n; i++) {
        double e[3];
        if (d->rest[i] == 0.0) continue;
        tl_sub3(d->x + 3 * (int64_t)(i + 1), d->x + 3 * (int64_t)i, e);
        const double strain = tl_norm3(e) / d->rest[i] - 1.0;
        sum += 0.5 * d->stretch * strain * strain * d->rest[i];
    }
    for (int32_t i = 1; i + 1 < d->n; i++) {
        tl_bend bend;
        discrete_bend(d, i, &bend);
        for (int k = 0; k < TL_BEND_STRAINS; k++) {
            const double strain = bend.strain[k] - d->natural[3 * (int64_t)i + k];
            sum += 0.5 * d->stiffness[k] * strain * strain / d->cell[i];
        }
    }
    return sum;
}

void tl_discrete_add_edge(int32_t i, const double t[3], double a, double b, double *band) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const double value = (a - b) * t[r] * t[c] + (r == c ? b : 0.0);
            const int64_t column = 4 * (int64_t)i + c;
            if (r >= c) {
                band[column * BAND + r - c] += value;
                band[(column + 4) * BAND + r - c] += value;
            }
            band[column * BAND + 4 + r - c] -= value;
        }
}

// Add s a bᵀ of an edge (a: by row, b: by column) to the general matrix.
static void discrete_add_skew(int32_t i, const double a[3], const double b[3], double s,
                              double *general) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const int64_t row = 4 * (int64_t)i + r, column = 4 * (int64_t)i + c;
            const double value = s * a[r] * b[c];
            *tl_discrete_entry(general, row, column) += value;
            *tl_discrete_entry(general, row + 4, column + 4) += value;
            *tl_discrete_entry(general, row + 4, column) -= value;
            *tl_discrete_entry(general, row, column + 4) -= value;
        }
}

// A stretch from the edge e0 to e1: l1 − l0 = s·(e1 − e0), s = (e0 + e1)/(l0 + l1). An edge that is
// taut is turned by the part β of the way from s to its direction t1 at the end.
static void discrete_stretch(const tl_discrete *d, const tl_discrete *end, int32_t i,
                             const tl_discrete_parts *out) {
    double e[3], s[3], t[3], way[3], turn[3];
    tl_sub3(d->x + 3 * (int64_t)(i + 1), d->x + 3 * (int64_t)i, e);
    tl_sub3(end->x + 3 * (int64_t)(i + 1), end->x + 3 * (int64_t)i, t);
    tl_sub3(t, e, way);
    const double before = tl_norm3(e), after = tl_norm3(t), sum = before + after;
    const double c = d->stretch / d->rest[i];
    const double pull =
        d->stretch * (before / d->rest[i] - 1.0) + out->theta * c * (after - before);
    const double beta = d->taut[i];
    for (int k = 0; k < 3; k++) {
        s[k] = (e[k] + t[k]) / sum;
        t[k] /= after;
    }
    const double damping = (out->share - out->theta) * c * tl_dot3(s, way);
    const double across = (pull + damping) / out->theta, one = (1.0 - beta) / sum * across;
    double *band = across > 0.0 ? out->tension : out->other;
    tl_discrete_add_edge(i, s, 0.0, one, band);
    tl_discrete_add_edge(i, t, 0.0, beta / after * across, band);
    tl_sub3(s, t, turn);
    discrete_add_skew(i, s, turn, one, out->general);
    for (int k = 0; k < 3; k++) {
        s[k] += beta * (t[k] - s[k]);
        turn[k] = t[k] - s[k];
        out->force[4 * (int64_t)i + k] += pull * s[k];
        out->force[4 * (int64_t)i + 4 + k] -= pull * s[k];
    }
    tl_discrete_add_edge(i, s, c, 0.0, out->gauss);
    discrete_add_skew(i, s, turn, c, out->general);
}

// From (e, ϑ_e, f, ϑ_f) to the 11 unknowns: e = x1 − x0, f = x2 − x1.
static const struct {
    int8_t minus, plus;
} discrete_place[TL_BEND_SIZE] = {{0, 4}, {1, 5}, {2, 6},  {-1, 3},
                                  {4, 8}, {5, 9}, {6, 10}, {-1, 7}};

static void discrete_scatter(const double in[TL_BEND_SIZE], double out[ELEMENT]) {
    for (int a = 0; a < TL_BEND_SIZE; a++) {
        out[discrete_place[a].plus] += in[a];
        if (discrete_place[a].minus >= 0) out[discrete_place[a].minus] -= in[a];
    }
}

// Add the matrix of a bend, in its own unknowns, to the band from unknown `first` on.
static void discrete_add_bend(int64_t first, double own[TL_BEND_SIZE][TL_BEND_SIZE], double *band) {
    double half[ELEMENT][TL_BEND_SIZE] = {{0}};
    for (int a = 0; a < TL_BEND_SIZE; a++)
        for (int b = 0; b < TL_BEND_SIZE; b++) {
            half[discrete_place[a].plus][b] += own[a][b];
            if (discrete_place[a].minus >= 0) half[discrete_place[a].minus][b] -= own[a][b];
        }
    for (int r = 0; r < ELEMENT; r++) {
        double row[ELEMENT] = {0};
        discrete_scatter(half[r], row);
        for (int c = 0; c <= r; c++) band[(first + c) * BAND + r - c] += row[c];
    }
}

// What a bend does between two states with the displacements `way` (of its 11 unknowns): the
// gradient half way, made exact for that way, so that gradient · way = change of the strains.
static void discrete_bend_secant(const tl_bend *middle, const double change[TL_BEND_STRAINS],
                                 const double way[ELEMENT],
                                 double gradient[TL_BEND_STRAINS][TL_BEND_SIZE]) {
    double own[TL_BEND_SIZE], scaled[TL_BEND_SIZE], square = 0.0;
    tl_bend_gradient(middle, gradient);
    for (int a = 0; a < TL_BEND_SIZE; a++) {
        const double length = a % 4 < 3 ? middle->length[a / 4] : 1.0;
        own[a] = way[discrete_place[a].plus];
        if (discrete_place[a].minus >= 0) own[a] -= way[discrete_place[a].minus];
        scaled[a] = own[a] / (length * length);
        square += own[a] * scaled[a];
    }
    if (!(square > DISCRETE_SHORT * DISCRETE_SHORT)) return; // exact up to rounding as it is
    for (int k = 0; k < TL_BEND_STRAINS; k++) {
        double left = change[k];
        for (int a = 0; a < TL_BEND_SIZE; a++) left -= gradient[k][a] * own[a];
        for (int a = 0; a < TL_BEND_SIZE; a++) gradient[k][a] += left * scaled[a] / square;
    }
}

// Add the matrix of a bend, a sum of rows × columns, to the general one from unknown `first` on.
static void discrete_add_bend_skew(int64_t first, double row[TL_BEND_STRAINS][TL_BEND_SIZE],
                                   double column[TL_BEND_STRAINS][TL_BEND_SIZE], double *general) {
    for (int k = 0; k < TL_BEND_STRAINS; k++) {
        double a[ELEMENT] = {0}, b[ELEMENT] = {0};
        discrete_scatter(row[k], a);
        discrete_scatter(column[k], b);
        for (int j = 0; j < ELEMENT; j++)
            for (int i = 0; i < ELEMENT; i++)
                *tl_discrete_entry(general, first + i, first + j) += a[i] * b[j];
    }
}

static void discrete_bending(const tl_discrete *d, const tl_discrete *middle,
                             const tl_discrete *end, int32_t i, const double *way,
                             const tl_discrete_parts *out) {
    const int64_t first = 4 * (int64_t)(i - 1);
    double gradient[TL_BEND_STRAINS][TL_BEND_SIZE], turn[TL_BEND_STRAINS][TL_BEND_SIZE];
    double change[TL_BEND_STRAINS], weight[TL_BEND_STRAINS];
    double own[TL_BEND_SIZE][TL_BEND_SIZE] = {{0}}, second[TL_BEND_SIZE][TL_BEND_SIZE] = {{0}};
    double sum[TL_BEND_SIZE] = {0}, spread[ELEMENT] = {0};
    tl_bend before, half, after;
    discrete_bend(d, i, &before);
    discrete_bend(middle, i, &half);
    discrete_bend(end, i, &after);
    for (int k = 0; k < TL_BEND_STRAINS; k++) change[k] = after.strain[k] - before.strain[k];
    discrete_bend_secant(&half, change, way + first, gradient);
    tl_bend_gradient(&after, turn);
    for (int k = 0; k < TL_BEND_STRAINS; k++) {
        const double c = d->stiffness[k] / d->cell[i];
        const double stress = c * (before.strain[k] - d->natural[3 * (int64_t)i + k]);
        const double later = stress + out->theta * c * change[k];
        weight[k] = (stress + out->share * c * change[k]) / (2.0 * out->theta);
        for (int a = 0; a < TL_BEND_SIZE; a++) {
            sum[a] += later * gradient[k][a];
            turn[k][a] = out->share * c / out->theta * (turn[k][a] - gradient[k][a]);
            for (int b = 0; b < TL_BEND_SIZE; b++) own[a][b] += c * gradient[k][a] * gradient[k][b];
        }
    }
    tl_bend_hessian(&half, weight, second);
    discrete_scatter(sum, spread);
    for (int k = 0; k < ELEMENT; k++) out->force[first + k] -= spread[k];
    discrete_add_bend(first, own, out->gauss);
    discrete_add_bend(first, second, out->other);
    discrete_add_bend_skew(first, gradient, turn, out->general);
}

// A state beside the present one, in part `which` of the room for trials.
static tl_discrete discrete_beside(const tl_discrete *d, int which) {
    tl_discrete at = *d;
    at.x = d->trial + 7 * (int64_t)d->n * which;
    at.d1 = at.x + 3 * (int64_t)d->n;
    at.twist = at.d1 + 3 * (int64_t)d->n;
    return at;
}

void tl_discrete_secant(const tl_discrete *d, const double *way, const tl_discrete_parts *out) {
    const size_t band = (size_t)d->full * BAND * sizeof(double);
    const tl_discrete middle = discrete_beside(d, 0), end = discrete_beside(d, 1);
    for (int32_t i = 0; i < d->full; i++) d->half[i] = 0.5 * way[i];
    tl_discrete_move(d, d->half, middle.x, middle.d1, middle.twist);
    tl_discrete_move(d, way, end.x, end.d1, end.twist);
    memset(out->force, 0, (size_t)d->full * sizeof *out->force);
    memset(out->gauss, 0, band);
    memset(out->tension, 0, band);
    memset(out->other, 0, band);
    memset(out->general, 0, (size_t)d->full * TL_DISCRETE_GENERAL * sizeof(double));
    for (int32_t i = 0; i + 1 < d->n; i++)
        if (d->rest[i] > 0.0) discrete_stretch(d, &end, i, out);
    for (int32_t i = 1; i + 1 < d->n; i++) discrete_bending(d, &middle, &end, i, way, out);
}

// Tension of an edge [N], in the state of `at`.
static double discrete_pull(const tl_discrete *d, const tl_discrete *at, int32_t i) {
    double e[3];
    tl_sub3(at->x + 3 * (int64_t)(i + 1), at->x + 3 * (int64_t)i, e);
    return d->stretch * (tl_norm3(e) / d->rest[i] - 1.0);
}

void tl_discrete_tauten(tl_discrete *d, double h, double theta) {
    for (int32_t i = 0; i + 1 < d->n; i++) {
        d->taut[i] = 0.0;
        if (d->rest[i] == 0.0) continue;
        const double mass = 0.5 * (d->mass[4 * (int64_t)i] + d->mass[4 * (int64_t)i + 4]);
        const double pull = fmax(discrete_pull(d, d, i), 0.0), much = mass * d->rest[i] / (h * h);
        d->taut[i] = (2.0 * theta - 1.0) * pull / (pull + much);
    }
}

bool tl_discrete_slacken(tl_discrete *d, double theta) {
    const tl_discrete end = discrete_beside(d, 1);
    bool any = false;
    for (int32_t i = 0; i + 1 < d->n; i++) {
        if (!(d->taut[i] > 0.0)) continue;
        const double pull =
            (1.0 - theta) * discrete_pull(d, d, i) + theta * discrete_pull(d, &end, i);
        if (pull >= 0.0) continue;
        d->taut[i] = 0.0;
        any = true;
    }
    return any;
}
