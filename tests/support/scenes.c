// SPDX-License-Identifier: Apache-2.0
#include "support/scenes.h"
#include "support/rigid.h"
#include <math.h>
#include <stdlib.h>

static const double SCENE_STEP = 1e-2, SCENE_GRAVITY = 9.81, SCENE_PI = 3.14159265358979323846;

// A scene while it is being built; its functions apply the modifiers.
typedef struct scene {
    const scene_def *def;
    rigid rigid;
    double mu;
} scene;

static void scene_init(scene *s, const scene_def *def, int dim, bool turns) {
    s->def = def;
    s->mu = def->mu > 0.0 ? def->mu : 0.6;
    rigid_init(&s->rigid, dim, turns);
    if (def->length > 0.0) s->rigid.length = def->length;
    if (def->mass > 0.0) s->rigid.mass = def->mass;
    if (def->time > 0.0) s->rigid.time = def->time;
}

// A body at rest to which the step has given gravity, the push, and a pull along one axis [m/s].
static int32_t scene_body(scene *s, double mass, const double *inertia, const double centre[3],
                          int axis, double pull) {
    const bool turns = s->rigid.size > s->rigid.dim; // nodes of rods have their mass elsewhere
    const bool heavy = turns && s->def->mass_ratio > 0.0 && s->rigid.bodies % 2 == 1;
    const double times = heavy ? s->def->mass_ratio : 1.0, fall = SCENE_STEP * SCENE_GRAVITY;
    double own[3] = {0.0}, v[6] = {0.0};
    for (int k = 0; k < s->rigid.size - s->rigid.dim; k++) own[k] = times * inertia[k];
    v[0] = s->def->push * fall;
    v[s->rigid.dim - 1] = -fall;
    v[axis] += pull;
    return rigid_body(&s->rigid, times * mass, own, centre, v);
}

static void scene_contact(scene *s, int32_t body, int32_t other, const double point[3],
                          const double normal[3]) {
    for (int32_t c = 0; c < (s->def->copies > 1 ? s->def->copies : 1); c++) {
        const double mixed = s->rigid.contacts % 2 == 0 ? 0.0 : 2.0;
        rigid_contact(&s->rigid, body, other, point, normal, s->def->mixed ? mixed : s->mu);
    }
}

// A box of density 1 with edges along the axes.
static int32_t scene_box(scene *s, const double centre[3], const double edge[3]) {
    const double mass = edge[0] * edge[1] * edge[2];
    double inertia[3];
    for (int k = 0; k < 3; k++) {
        const double a = edge[(k + 1) % 3], b = edge[(k + 2) % 3];
        inertia[k] = mass * (a * a + b * b) / 12.0;
    }
    return scene_body(s, mass, inertia, centre, 0, 0.0);
}

// `body` stands on `other` with the four corners of a rectangle at height z.
static void scene_seat(scene *s, int32_t body, int32_t other, double x, double y, double z,
                       double half_x, double half_y) {
    static const double up[3] = {0.0, 0.0, 1.0};
    for (int c = 0; c < 4; c++) {
        const double point[3] = {x + (c & 1 ? half_x : -half_x), y + (c & 2 ? half_y : -half_y), z};
        scene_contact(s, body, other, point, up);
    }
}

static void scene_stack(scene *s) {
    static const double edge[3] = {1.0, 1.0, 1.0};
    scene_init(s, s->def, 3, true);
    for (int32_t i = 0; i < s->def->n; i++) {
        const double centre[3] = {0.0, 0.0, 0.5 + i};
        const int32_t body = scene_box(s, centre, edge);
        scene_seat(s, body, body - 1, 0.0, 0.0, i, 0.5, 0.5);
    }
}

// Planks of 4 × 1 × 1, at ±1.5 from the axis; those of the next layer lie across.
static void scene_tower(scene *s) {
    scene_init(s, s->def, 3, true);
    for (int32_t i = 0; i < s->def->n; i++)
        for (int p = 0; p < 2; p++) {
            const int along = i % 2;
            const double side = p == 0 ? -1.5 : 1.5;
            double centre[3] = {0.0, 0.0, 0.5 + i}, edge[3] = {1.0, 1.0, 1.0};
            centre[1 - along] = side;
            edge[along] = 4.0;
            const int32_t body = scene_box(s, centre, edge);
            for (int q = 0; q < 2; q++) { // the crossings with what lies below
                const double cross = q == 0 ? -1.5 : 1.5;
                const double x = along == 0 ? cross : side, y = along == 0 ? side : cross;
                scene_seat(s, body, i == 0 ? -1 : 2 * (i - 1) + q, x, y, i, 0.5, 0.5);
            }
        }
}

// Stones between radii 1 and 1.25 (a half circle stands alone from 1.12 on), density 1.
static void scene_arch(scene *s) {
    const double inner = 1.0, outer = 1.25, angle = SCENE_PI / s->def->n;
    const double area = 0.5 * angle * (outer * outer - inner * inner);
    // distance of a stone's centre from the centre of the arch, and its inertia about itself
    const double reach = 2.0 / 3.0 * sin(angle / 2.0) / (angle / 2.0) *
                         (outer * outer * outer - inner * inner * inner) /
                         (outer * outer - inner * inner);
    const double inertia = angle / 4.0 * (pow(outer, 4.0) - pow(inner, 4.0)) - area * reach * reach;
    scene_init(s, s->def, 2, true);
    for (int32_t i = 0; i < s->def->n; i++) {
        const double at = (i + 0.5) * angle;
        const double centre[3] = {reach * cos(at), reach * sin(at), 0.0};
        (void)scene_body(s, area, &inertia, centre, 0, 0.0);
    }
    for (int32_t j = 0; j <= s->def->n; j++) { // joint j is below stone j and above stone j − 1
        const double c = cos(j * angle), sn = sin(j * angle);
        const bool last = j == s->def->n;
        const double sign = last ? -1.0 : 1.0, normal[3] = {-sn * sign, c * sign, 0.0};
        const double low[3] = {inner * c, inner * sn, 0.0}, high[3] = {outer * c, outer * sn, 0.0};
        scene_contact(s, last ? j - 1 : j, last ? -1 : j - 1, low, normal);
        scene_contact(s, last ? j - 1 : j, last ? -1 : j - 1, high, normal);
    }
}

// Where brick b of course i begins: bricks of length 2, every other course shifted by half a brick
// and closed by half bricks.
static double scene_brick(const scene *s, int32_t i, int32_t b) {
    const double x = 2.0 * b - (i % 2);
    return fmin(fmax(x, 0.0), 2.0 * s->def->n);
}

static void scene_wall(scene *s) {
    static const double up[3] = {0.0, 1.0, 0.0}, right[3] = {1.0, 0.0, 0.0};
    const int32_t n = s->def->n;
    int32_t below = -1, first = 0; // first brick of the course below and of this one
    scene_init(s, s->def, 2, true);
    for (int32_t i = 0; i < n; i++) {
        const int32_t bricks = n + i % 2;
        for (int32_t b = 0; b < bricks; b++) {
            const double left = scene_brick(s, i, b), end = scene_brick(s, i, b + 1);
            const double length = end - left, centre[3] = {0.5 * (left + end), 0.5 + i, 0.0};
            const double inertia = length * (length * length + 1.0) / 12.0;
            const int32_t body = scene_body(s, length, &inertia, centre, 0, 0.0);
            for (int c = 0; c < 2 && b > 0; c++)
                scene_contact(s, body, body - 1, (double[3]){left, i + (double)c, 0.0}, right);
            for (int32_t o = 0; o < (i == 0 ? 1 : n + (i - 1) % 2); o++) {
                const double from = i == 0 ? left : fmax(left, scene_brick(s, i - 1, o));
                const double to = i == 0 ? end : fmin(end, scene_brick(s, i - 1, o + 1));
                if (from >= to) continue;
                const int32_t other = i == 0 ? -1 : below + o;
                scene_contact(s, body, other, (double[3]){from, i, 0.0}, up);
                scene_contact(s, body, other, (double[3]){to, i, 0.0}, up);
            }
        }
        below = first;
        first += bricks;
    }
}

// Long bodies of radius 0.5 along y in a triangular pile, n in the lowest row: where the centre of
// body b of row i lies, and contacts at the ordinates y[0 … count) with what touches it from below.
// The first body of the row below is `below`; `each` bodies stand for one (the nodes of a rod).
static void scene_pile_contacts(scene *s, int32_t i, int32_t b, int32_t self, int32_t below,
                                int32_t each, int count, const double *y) {
    const double x = b + 0.5 * i, z = 0.5 + 0.5 * sqrt(3.0) * i;
    for (int side = 0; side < (i == 0 ? 1 : 2); side++) {
        const double lean = side == 0 ? 0.5 : -0.5; // the normal: up, or 60° from the ground
        const double n[3] = {i == 0 ? 0.0 : lean, 0.0, i == 0 ? 1.0 : 0.5 * sqrt(3.0)};
        const int32_t other = i == 0 ? -1 : below + (b + side) * each;
        for (int k = 0; k < count; k++) {
            const double point[3] = {x - 0.5 * n[0], y[k], z - 0.5 * n[2]};
            const int32_t node = each > 1 ? k : 0;
            scene_contact(s, self + node, other < 0 ? -1 : other + node, point, n);
        }
    }
}

static void scene_pile(scene *s, bool elastic) {
    enum { NODES = 8 };
    double y[NODES];
    const int count = elastic ? NODES : 3;
    const int32_t each = elastic ? NODES : 1;
    int32_t below = 0, first = 0;
    scene_init(s, s->def, 3, !elastic);
    for (int k = 0; k < count; k++) y[k] = elastic ? 0.5 * k : 1.5 * k - 1.5;
    for (int32_t i = 0; i < s->def->n; i++) {
        for (int32_t b = 0; b < s->def->n - i; b++) {
            const double x = b + 0.5 * i, z = 0.5 + 0.5 * sqrt(3.0) * i;
            const double pull = elastic && i == s->def->n - 1 ? 0.2 : 0.0;
            const int32_t self = s->rigid.bodies;
            // a capsule weighs 1 and has a length of 4; a node of a rod weighs 1/8
            static const double inertia[3] = {1.3, 0.125, 1.3};
            for (int32_t k = 0; k < each; k++) {
                const double centre[3] = {x, elastic ? y[k] : 0.0, z};
                (void)scene_body(s, 1.0 / each, inertia, centre, 1, pull);
            }
            scene_pile_contacts(s, i, b, self, below, each, count, y);
        }
        below = first;
        first = s->rigid.bodies;
    }
}

// Mass and stiffness of the rods, M = m + h² K: nodes of 1/8 kg at 0.5 m, bending across the rod
// with energy B/2 Σ |x_{k−1} − 2 x_k + x_{k+1}|² and stretching along it with S/2 Σ (x_{k+1} −
// x_k)². Forces at rest are zero, so f stays m v_free. Returns compressed columns; free start,
// index, value.
static bool scene_rods_mass(int32_t rods, talus_sparse *out) {
    enum { NODES = 8, DOF = 3 * NODES };
    const double bend = 2e3 * SCENE_STEP * SCENE_STEP, stretch = 1e5 * SCENE_STEP * SCENE_STEP;
    double m[NODES * 3][NODES * 3] = {{0.0}};
    for (int k = 0; k < DOF; k++) m[k][k] = 1.0 / NODES;
    for (int k = 0; k + 1 < NODES; k++)
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                m[3 * (k + a) + 1][3 * (k + b) + 1] += a == b ? stretch : -stretch;
    for (int k = 1; k + 1 < NODES; k++) {
        static const double c[3] = {1.0, -2.0, 1.0};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                for (int axis = 0; axis < 3; axis += 2)
                    m[3 * (k - 1 + a) + axis][3 * (k - 1 + b) + axis] += bend * c[a] * c[b];
    }
    const size_t size = (size_t)rods * DOF;
    int64_t *start = calloc(size + 1, sizeof *start), used = 0;
    int32_t *index = calloc(size * 5, sizeof *index);
    double *value = calloc(size * 5, sizeof *value);
    *out = (talus_sparse){.rows = (int32_t)size,
                          .cols = (int32_t)size,
                          .start = start,
                          .index = index,
                          .value = value};
    if (!start || !index || !value) return false;
    for (int32_t col = 0; col < (int32_t)size; col++) {
        for (int32_t row = 0; row < DOF; row++)
            if (fpclassify(m[row][col % DOF]) != FP_ZERO) {
                index[used] = col / DOF * DOF + row;
                value[used++] = m[row][col % DOF];
            }
        start[col + 1] = used;
    }
    return true;
}

static talus_status scene_bundle(talus_context *ctx, scene *s, talus_problem **out) {
    talus_sparse mass;
    const int32_t n = s->def->n;
    scene_pile(s, true);
    // stiffness / (mass / step²) has no unit: M scales with the mass alone
    if (!scene_rods_mass(n * (n + 1) / 2, &mass)) s->rigid.failed = true;
    const talus_status status = rigid_finish(ctx, &s->rigid, &mass, out);
    free((void *)mass.start);
    free((void *)mass.index);
    free((void *)mass.value);
    return status;
}

// Links of length 1 along y, of 1 kg, each touching the floor at both ends; the last is pulled
// sideways.
static void scene_chain(scene *s) {
    static const double inertia[3] = {0.1, 0.02, 0.1}, up[3] = {0.0, 0.0, 1.0};
    scene_init(s, s->def, 3, true);
    for (int32_t i = 0; i < s->def->n; i++) {
        const double centre[3] = {0.0, i + 0.5, 0.1};
        const double pull = i == s->def->n - 1 ? 1.0 : 0.0;
        const int32_t body = scene_body(s, 1.0, inertia, centre, 0, pull);
        if (i > 0) rigid_join(&s->rigid, body, body - 1, (double[3]){0.0, i, 0.1});
        scene_contact(s, body, -1, (double[3]){0.0, i + 0.1, 0.0}, up);
        scene_contact(s, body, -1, (double[3]){0.0, i + 0.9, 0.0}, up);
    }
}

// Cubes in a row along x on a floor, a wall at either end, both of which come in with 0.1 m/s.
static void scene_squeeze(scene *s) {
    static const double edge[3] = {1.0, 1.0, 1.0};
    scene_init(s, s->def, 3, true);
    for (int32_t i = 0; i < s->def->n; i++) {
        const double centre[3] = {i + 0.5, 0.0, 0.5};
        const int32_t body = scene_box(s, centre, edge);
        scene_seat(s, body, -1, i + 0.5, 0.0, 0.0, 0.5, 0.5);
        for (int end = 0; end < 2; end++) {
            const bool wall = end == 0 ? i == 0 : i == s->def->n - 1;
            if (end == 1 && !wall) continue; // the next cube makes this contact
            const double normal[3] = {end == 0 ? 1.0 : -1.0, 0.0, 0.0};
            for (int c = 0; c < 4; c++) {
                const double point[3] = {i + (double)end, c & 1 ? 0.5 : -0.5, c & 2 ? 1.0 : 0.0};
                const int32_t before = s->rigid.contacts;
                scene_contact(s, body, wall ? -1 : body - 1, point, normal);
                if (wall) rigid_approach(&s->rigid, before, 0.1);
            }
        }
    }
}

// Coordinates of a symmetric 3 × 3 tensor in which ½ s:t is the plain product, trace first.
static void scene_chi(double t[3][3], double out[6]) {
    out[0] = (t[0][0] + t[1][1] + t[2][2]) / sqrt(6.0);
    out[1] = 0.5 * (t[0][0] - t[1][1]);
    out[2] = (2.0 * t[2][2] - t[0][0] - t[1][1]) / (2.0 * sqrt(3.0));
    out[3] = 0.5 * (t[0][1] + t[1][0]);
    out[4] = 0.5 * (t[0][2] + t[2][0]);
    out[5] = 0.5 * (t[1][2] + t[2][1]);
}

// A column of unit cells of density 1 on a floor that holds it, nodes at the corners, one stress
// per cell: u = 2 V χ(D(v)) at the centre of the cell, so that Hᵀ r is what the stress does to the
// nodes.
static talus_status scene_sand(talus_context *ctx, const scene_def *def, talus_problem **out) {
    const int32_t n = def->n, side = n + 1, nodes = side * side * n, cells = n * n * n;
    int32_t *body_start = calloc((size_t)nodes + 1, sizeof *body_start);
    int32_t *body = calloc((size_t)cells * 8 + 1, sizeof *body);
    int64_t *start = calloc((size_t)cells + 1, sizeof *start);
    double *mass = calloc((size_t)nodes * 9 + 1, sizeof *mass);
    double *h = calloc((size_t)cells * 8 * 18 + 1, sizeof *h);
    double *f = calloc((size_t)nodes * 3 + 1, sizeof *f),
           *w = calloc((size_t)cells * 6 + 1, sizeof *w);
    double *mu = calloc((size_t)cells + 1, sizeof *mu);
    talus_status status = TALUS_ERR_MEMORY;
    if (!body_start || !body || !start || !mass || !h || !f || !w || !mu) goto done;
    for (int32_t c = 0; c < cells; c++) {
        const int32_t cell[3] = {c % n, c / n % n, c / (n * n)};
        mu[c] = def->mu > 0.0 ? def->mu : 0.6;
        start[c + 1] = start[c];
        for (int corner = 0; corner < 8; corner++) {
            const int32_t at[3] = {cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1),
                                   cell[2] + (corner >> 2 & 1)};
            if (at[2] == 0) continue; // held by the floor
            const int32_t node = ((at[2] - 1) * side + at[1]) * side + at[0];
            double *block = h + start[c + 1] * 18, gradient[3];
            for (int k = 0; k < 3; k++) gradient[k] = corner >> k & 1 ? 0.25 : -0.25;
            for (int axis = 0; axis < 3; axis++) {
                double t[3][3] = {{0.0}}, coordinate[6];
                for (int k = 0; k < 3; k++) t[axis][k] = 2.0 * gradient[k];
                scene_chi(t, coordinate);
                for (int i = 0; i < 6; i++) block[i * 3 + axis] = coordinate[i];
                mass[node * 9 + axis * 4] += 0.125;
            }
            body[start[c + 1]++] = node;
        }
    }
    for (int32_t i = 0; i < nodes; i++) {
        body_start[i + 1] = 3 * (i + 1);
        f[3 * i] = mass[9 * i] * SCENE_GRAVITY * SCENE_STEP * def->push;
        f[3 * i + 2] = -mass[9 * i] * SCENE_GRAVITY * SCENE_STEP;
    }
    status = talus_problem_create_global(ctx,
                                         &(talus_global_def){.dim = 6,
                                                             .count = cells,
                                                             .body_count = nodes,
                                                             .body_start = body_start,
                                                             .mass_block = mass,
                                                             .h_row_start = start,
                                                             .h_body = body,
                                                             .h_block = h,
                                                             .f = f,
                                                             .w = w,
                                                             .law = {.mu = mu}},
                                         out);
done:
    free(body_start);
    free(body);
    free(start);
    free(mass);
    free(h);
    free(f);
    free(w);
    free(mu);
    return status;
}

talus_status scene_create(talus_context *ctx, const scene_def *def, talus_problem **out) {
    scene s = {.def = def};
    *out = NULL;
    switch (def->kind) {
    case SCENE_STACK:
        scene_stack(&s);
        break;
    case SCENE_TOWER:
        scene_tower(&s);
        break;
    case SCENE_ARCH:
        scene_arch(&s);
        break;
    case SCENE_WALL:
        scene_wall(&s);
        break;
    case SCENE_CAPSULES:
        scene_pile(&s, false);
        break;
    case SCENE_BUNDLE:
        return scene_bundle(ctx, &s, out);
    case SCENE_CHAIN:
        scene_chain(&s);
        break;
    case SCENE_SQUEEZE:
        scene_squeeze(&s);
        break;
    case SCENE_SAND:
        return scene_sand(ctx, def, out);
    case SCENE_KINDS:
        return TALUS_ERR_ARG;
    }
    return rigid_finish(ctx, &s.rigid, NULL, out);
}
