// SPDX-License-Identifier: Apache-2.0
#include "support/rigid.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void rigid_init(rigid *s, int dim, bool turns) {
    const int angular = !turns ? 0 : dim == 2 ? 1 : 3;
    *s = (rigid){.dim = dim, .size = dim + angular, .length = 1.0, .mass = 1.0, .time = 1.0};
}

void rigid_clear(rigid *s) {
    free(s->centre);
    free(s->own);
    free(s->f);
    free(s->start);
    free(s->body);
    free(s->h);
    free(s->w);
    free(s->mu);
    free(s->join_start);
    free(s->join_index);
    free(s->join_value);
    free(s->body_start);
    free(s->k);
    free(s->diagonal);
    free(s->mass_value);
    *s = (rigid){0};
}

// An array of `count` items of `bytes` each, enlarged; what is new is zero.
static void *rigid_grow(rigid *s, void *array, size_t used, size_t count, size_t bytes) {
    char *larger = s->failed ? NULL : realloc(array, (count + 1) * bytes);
    if (!array) used = 0;
    if (!larger) {
        s->failed = true;
        return array;
    }
    memset(larger + used * bytes, 0, (count + 1 - used) * bytes);
    return larger;
}

#define RIGID_GROW(s, array, used, room, each)                                                     \
    ((array) = rigid_grow(s, array, (size_t)(used) * (size_t)(each),                               \
                          (size_t)(room) * (size_t)(each), sizeof *(array)))

int32_t rigid_body(rigid *s, double mass, const double *inertia, const double centre[3],
                   const double *velocity) {
    const int n = s->size;
    if (s->bodies == s->body_room) {
        s->body_room = 2 * s->body_room + 16;
        RIGID_GROW(s, s->centre, s->bodies, s->body_room, 3);
        RIGID_GROW(s, s->own, s->bodies, s->body_room, n * n);
        RIGID_GROW(s, s->f, s->bodies, s->body_room, n);
    }
    if (s->failed) return 0;
    const int64_t at = s->bodies++;
    memcpy(s->centre + 3 * at, centre, 3 * sizeof *centre);
    for (int k = 0; k < n; k++) {
        const double own = k < s->dim ? mass : inertia[k - s->dim];
        s->own[at * n * n + k * n + k] = own;
        s->f[at * n + k] = own * velocity[k];
    }
    return (int32_t)at;
}

// sign E (v + ω × arm) as rows over the unknowns of a body.
static void rigid_rows(const rigid *s, double sign, double e[3][3], const double arm[3],
                       double *row) {
    for (int i = 0; i < s->dim; i++, row += s->size) {
        for (int k = 0; k < s->dim; k++) row[k] = sign * e[i][k];
        if (s->size == s->dim) continue;
        if (s->dim == 2) { // ω × arm = ω (−arm_1, arm_0)
            row[2] = sign * (e[i][1] * arm[0] - e[i][0] * arm[1]);
        } else { // e·(ω × arm) = ω·(arm × e)
            row[3] = sign * (arm[1] * e[i][2] - arm[2] * e[i][1]);
            row[4] = sign * (arm[2] * e[i][0] - arm[0] * e[i][2]);
            row[5] = sign * (arm[0] * e[i][1] - arm[1] * e[i][0]);
        }
    }
}

static void rigid_frame(int dim, const double n[3], double e[3][3]) {
    for (int k = 0; k < 3; k++) e[0][k] = n[k];
    if (dim == 2) {
        e[1][0] = -e[0][1];
        e[1][1] = e[0][0];
        return;
    }
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(e[0][k]) < fabs(e[0][least])) least = k;
    double t[3], norm = 0.0;
    for (int k = 0; k < 3; k++) t[k] = (double)(k == least) - e[0][least] * e[0][k];
    for (int k = 0; k < 3; k++) norm += t[k] * t[k];
    for (int k = 0; k < 3; k++) e[1][k] = t[k] / sqrt(norm);
    for (int k = 0; k < 3; k++)
        e[2][k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
}

static void rigid_block(rigid *s, int32_t body, double sign, double e[3][3], const double arm[3]) {
    const int64_t at = s->start[s->contacts + 1]++;
    s->body[at] = body;
    rigid_rows(s, sign, e, arm, s->h + at * s->dim * s->size);
}

void rigid_contact_arms(rigid *s, int32_t body, int32_t other, const double arm[3],
                        const double other_arm[3], const double normal[3], double mu) {
    double e[3][3] = {{0.0}};
    if (s->contacts == s->contact_room) {
        s->contact_room = 2 * s->contact_room + 16;
        RIGID_GROW(s, s->start, s->contacts + 1, s->contact_room + 1, 1);
        RIGID_GROW(s, s->body, s->contacts, s->contact_room, 2);
        RIGID_GROW(s, s->h, s->contacts, s->contact_room, 2 * s->dim * s->size);
        RIGID_GROW(s, s->w, s->contacts, s->contact_room, s->dim);
        RIGID_GROW(s, s->mu, s->contacts, s->contact_room, 1);
    }
    if (s->failed) return;
    rigid_frame(s->dim, normal, e);
    s->start[s->contacts + 1] = s->start[s->contacts];
    if (other >= 0 && other < body) rigid_block(s, other, -1.0, e, other_arm);
    rigid_block(s, body, 1.0, e, arm);
    if (other > body) rigid_block(s, other, -1.0, e, other_arm);
    s->mu[s->contacts++] = mu;
}

// From the centre of a body to a point.
static void rigid_arm(const rigid *s, int32_t body, const double point[3], double arm[3]) {
    for (int k = 0; k < 3; k++)
        arm[k] = body < 0 || s->failed ? 0.0 : point[k] - s->centre[3 * (int64_t)body + k];
}

void rigid_contact(rigid *s, int32_t body, int32_t other, const double point[3],
                   const double normal[3], double mu) {
    double arm[3], other_arm[3];
    rigid_arm(s, body, point, arm);
    rigid_arm(s, other, point, other_arm);
    rigid_contact_arms(s, body, other, arm, other_arm, normal, mu);
}

void rigid_approach(rigid *s, int32_t first, double speed) {
    for (int64_t c = first; !s->failed && c < s->contacts; c++) s->w[c * s->dim] = -speed;
}

void rigid_join(rigid *s, int32_t body, int32_t other, const double point[3]) {
    double e[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, arm[3];
    double row[2][3 * 6] = {{0.0}};
    const int n = s->size;
    if (s->joins + s->dim > s->join_room) {
        const int32_t used = s->joins;
        s->join_room = 2 * s->join_room + 24;
        RIGID_GROW(s, s->join_start, used + 1, s->join_room + 1, 1);
        RIGID_GROW(s, s->join_index, used, s->join_room, 2 * n);
        RIGID_GROW(s, s->join_value, used, s->join_room, 2 * n);
    }
    if (s->failed) return;
    const int32_t pair[2] = {body, other};
    for (int side = 0; side < 2; side++) {
        rigid_arm(s, pair[side], point, arm);
        rigid_rows(s, side == 0 ? 1.0 : -1.0, e, arm, row[side]);
    }
    for (int i = 0; i < s->dim; i++, s->joins++) {
        int64_t at = s->join_start[s->joins];
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < n; k++)
                if (fpclassify(row[side][i * n + k]) != FP_ZERO) {
                    s->join_index[at] = pair[side] * n + k;
                    s->join_value[at++] = row[side][i * n + k];
                }
        s->join_start[s->joins + 1] = at;
    }
}

// From SI to the units of the problem: a linear velocity has the unit L/T, an angular one 1/T.
static void rigid_convert(rigid *s) {
    const int n = s->size;
    const double linear = s->length / s->time;
    double unit[6]; // what an unknown's column of H and row of M is multiplied with
    for (int k = 0; k < n; k++) unit[k] = k < s->dim ? 1.0 : s->length;
    for (int64_t e = 0; e < (int64_t)s->bodies * n * n; e++)
        s->own[e] *= s->mass * unit[e % n] * unit[e / n % n];
    for (int64_t e = 0; e < (int64_t)s->bodies * n; e++) s->f[e] *= s->mass * linear * unit[e % n];
    for (int64_t e = 0; s->contacts > 0 && e < s->start[s->contacts] * s->dim * n; e++)
        s->h[e] *= unit[e % n];
    for (int64_t e = 0; e < (int64_t)s->contacts * s->dim; e++) s->w[e] *= linear;
    for (int64_t e = 0; s->joins > 0 && e < s->join_start[s->joins]; e++)
        s->join_value[e] *= unit[s->join_index[e] % n];
}

bool rigid_define(rigid *s, const talus_sparse *mass, talus_global_def *out) {
    const int n = s->size;
    const int64_t entries = mass ? mass->start[mass->cols] : 0;
    s->body_start = calloc((size_t)s->bodies + 1, sizeof *s->body_start);
    s->k = calloc((size_t)s->joins + 1, sizeof *s->k);
    s->diagonal = calloc((size_t)s->bodies * (size_t)n + 1, sizeof *s->diagonal);
    s->mass_value = calloc((size_t)entries + 1, sizeof *s->mass_value);
    if (s->failed || !s->body_start || !s->k || !s->diagonal || !s->mass_value) return false;
    for (int32_t i = 0; i < s->bodies; i++) s->body_start[i + 1] = (i + 1) * n;
    rigid_convert(s);
    for (int64_t e = 0; e < (int64_t)s->bodies * n; e++)
        s->diagonal[e] = s->own[e / n * n * n + e % n * (n + 1)];
    talus_sparse m = {0};
    if (mass) {
        m = *mass;
        for (int64_t e = 0; e < entries; e++) s->mass_value[e] = mass->value[e] * s->mass;
        m.value = s->mass_value;
    }
    *out = (talus_global_def){.dim = s->dim,
                              .count = s->contacts,
                              .body_count = s->bodies,
                              .body_start = s->body_start,
                              .mass_diagonal = mass ? NULL : s->diagonal,
                              .mass_block = mass ? NULL : s->own,
                              .mass = m,
                              .h_row_start = s->start,
                              .h_body = s->body,
                              .h_block = s->h,
                              .f = s->f,
                              .w = s->w,
                              .c = {.rows = s->joins,
                                    .cols = s->bodies * n,
                                    .start = s->join_start,
                                    .index = s->join_index,
                                    .value = s->join_value},
                              .k = s->k,
                              .law = {.mu = s->mu}};
    return true;
}

talus_status rigid_finish(talus_context *ctx, rigid *s, const talus_sparse *mass,
                          talus_problem **out) {
    talus_global_def def;
    talus_status status = TALUS_ERR_MEMORY;
    *out = NULL;
    if (rigid_define(s, mass, &def)) {
        def.mass_diagonal = NULL;
        status = talus_problem_create_global(ctx, &def, out);
    }
    rigid_clear(s);
    return status;
}
