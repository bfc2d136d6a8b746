// SPDX-License-Identifier: Apache-2.0
// Mass of a hull: sums over the simplices that an inner point o makes with its faces. For a
// tetrahedron (o = 0, p, q, r) of volume V = det(p, q, r)/6 and s = p + q + r,
//     ∫ x = V s/4,     ∫ x xᵀ = V (p pᵀ + q qᵀ + r rᵀ + s sᵀ)/20,
// for a triangle (0, p, q) of area A = det(p, q)/2 and s = p + q
//     ∫ x = A s/3,     ∫ x xᵀ = A (p pᵀ + q qᵀ + s sᵀ)/12.
#include "base/compiler.h"
#include "base/vec3.h"
#include "collide/hull.h"
#include "linalg/dense.h"

// Off-diagonal entries of a tensor below this part of its trace are rounding: a cube has any axes,
// and those of its frame are the best. So is a centre this near to the origin, in parts of the
// size.
#define MASS_NOTHING 1e-14

void tl_mass_add(tl_mass_sums *sums, int32_t corners, double (*p)[3], double volume) {
    const double over = corners == 3 ? 20.0 : 12.0;
    double s[3] = {0.0, 0.0, 0.0};
    for (int32_t k = 0; k < corners; k++) tl_axpy3(s, 1.0, p[k], s);
    sums->volume += volume;
    tl_axpy3(sums->first, volume / (corners + 1), s, sums->first);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = s[i] * s[j];
            for (int32_t k = 0; k < corners; k++) sum += p[k][i] * p[k][j];
            sums->second[i][j] += volume / over * sum;
        }
}

static void mass_sum(int32_t dim, const tl_hull *h, const double inner[3], tl_mass_sums *sums) {
    double p[3][3] = {{0.0}}, n[3];
    for (int32_t f = 0; f < h->faces; f++) {
        const int32_t *loop = h->loop + h->face_start[f];
        const int32_t count = h->face_start[f + 1] - h->face_start[f];
        tl_sub3(h->corner[loop[0]], inner, p[0]);
        for (int32_t i = 1; i + (dim == 3) < count; i++) {
            tl_sub3(h->corner[loop[i]], inner, p[1]);
            if (dim == 3) tl_sub3(h->corner[loop[i + 1]], inner, p[2]);
            tl_cross3(p[0], p[1], n);
            tl_mass_add(sums, dim, p, dim == 3 ? tl_dot3(n, p[2]) / 6.0 : 0.5 * n[2]);
        }
    }
}

// Unit quaternion of a rotation matrix whose columns are the axes.
static void mass_quaternion(double (*m)[3], double q[4]) {
    const double t[4] = {m[0][0] + m[1][1] + m[2][2], m[0][0] - m[1][1] - m[2][2],
                         m[1][1] - m[0][0] - m[2][2], m[2][2] - m[0][0] - m[1][1]};
    int k = 0; // the largest part is found first and divides the others
    for (int i = 1; i < 4; i++)
        if (t[i] > t[k]) k = i;
    const double large = 0.5 * sqrt(1.0 + t[k]), over = 0.25 / large;
    if (k == 0) {
        q[0] = large;
        q[1] = over * (m[2][1] - m[1][2]);
        q[2] = over * (m[0][2] - m[2][0]);
        q[3] = over * (m[1][0] - m[0][1]);
    } else {
        const int i = k - 1, j = (i + 1) % 3, l = (i + 2) % 3;
        q[0] = over * (m[l][j] - m[j][l]);
        q[1 + i] = large;
        q[1 + j] = over * (m[j][i] + m[i][j]);
        q[1 + l] = over * (m[l][i] + m[i][l]);
    }
    tl_quat_normalise(q);
}

void tl_mass_principal(const double tensor[3][3], double inertia[3], double axes[4]) {
    const double trace = tensor[0][0] + tensor[1][1] + tensor[2][2];
    double s[9], vectors[9], m[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double value = 0.5 * (tensor[i][j] + tensor[j][i]);
            s[3 * i + j] = i == j || fabs(value) > MASS_NOTHING * trace ? value : 0.0;
        }
    tl_sym_eigen(3, s, inertia, vectors);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) m[i][j] = vectors[3 * j + i];
    mass_quaternion(m, axes);
}

void tl_mass_finish(int32_t dim, const tl_mass_sums *sums, const double origin[3], double density,
                    talus_mass *out) {
    double centre[3], tensor[3][3];
    tl_scale3(1.0 / sums->volume, sums->first, centre);
    *out = (talus_mass){.mass = density * sums->volume, .axes = {1.0, 0.0, 0.0, 0.0}};
    for (int k = 0; k < 3; k++) out->centre[k] = origin[k] + centre[k];
    double spread[3][3]; // second moments about the centre, times the density
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            spread[i][j] = density * (sums->second[i][j] - sums->volume * centre[i] * centre[j]);
    const double trace = spread[0][0] + spread[1][1] + spread[2][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) tensor[i][j] = (i == j ? trace : 0.0) - spread[i][j];
    for (int k = 0; k < 3; k++) out->inertia[k] = tensor[k][k];
    if (dim == 3) tl_mass_principal((const double(*)[3])tensor, out->inertia, out->axes);
}

void tl_hull_mass(int32_t dim, const tl_hull *h, double density, talus_mass *out) {
    tl_mass_sums sums = {0};
    double inner[3] = {0.0, 0.0, 0.0};
    for (int32_t k = 0; k < h->corners; k++) tl_axpy3(inner, 1.0 / h->corners, h->corner[k], inner);
    mass_sum(dim, h, inner, &sums);
    tl_mass_finish(dim, &sums, inner, density, out);
    for (int k = 0; k < 3; k++)
        if (fabs(out->centre[k]) <= MASS_NOTHING * h->size) out->centre[k] = 0.0;
}
