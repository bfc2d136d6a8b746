// SPDX-License-Identifier: Apache-2.0
#include "support/bed.h"
#include "base/rng.h"
#include "talus/solver.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BED_RADIUS 5e-3    // [m]
#define BED_SPREAD 0.1     // of the radii
#define BED_DENSITY 2500   // [kg/m³]
#define BED_FILL 0.56      // share of the box that the spheres fill at the start
#define BED_OVERLAP 0.01   // overlap that is left at the start, relative to the distance
#define BED_KEEP 0.8       // share of the velocities kept while settling
#define BED_REST_STEP 3e-3 // [s]
#define BED_STILL 1e-3     // speed at rest, relative to what free fall adds in a step
#define BED_PI 3.14159265358979323846
enum { BED_WALLS = 5, BED_PUSHES = 5000, BED_LIST = 10, BED_REST_MOST = 3000 };

static double bed_mass(double radius) {
    return BED_DENSITY * 4.0 / 3.0 * BED_PI * radius * radius * radius;
}

// ---- neighbours ---------------------------------------------------------------------------------

static void bed_cell(const bed *b, const double *x, int32_t c[3]) {
    for (int k = 0; k < 3; k++) {
        c[k] = (int32_t)floor(x[k] / b->box[k] * b->cells[k]);
        c[k] = c[k] < 0 ? 0 : c[k] >= b->cells[k] ? b->cells[k] - 1 : c[k];
    }
}

static int64_t bed_index(const bed *b, const int32_t c[3]) {
    return ((int64_t)c[2] * b->cells[1] + c[1]) * b->cells[0] + c[0];
}

// Sort the spheres into cells, ascending within each.
static void bed_sort(bed *b) {
    const int64_t cells = (int64_t)b->cells[0] * b->cells[1] * b->cells[2];
    int32_t c[3];
    memset(b->cell_start, 0, (size_t)(cells + 2) * sizeof *b->cell_start);
    for (int32_t i = 0; i < b->count; i++) {
        bed_cell(b, b->place + 3 * (int64_t)i, c);
        b->cell_start[bed_index(b, c) + 2]++;
    }
    for (int64_t k = 2; k <= cells; k++) b->cell_start[k + 1] += b->cell_start[k];
    for (int32_t i = 0; i < b->count; i++) {
        bed_cell(b, b->place + 3 * (int64_t)i, c);
        b->cell_item[b->cell_start[bed_index(b, c) + 1]++] = i;
    }
}

static bool bed_add(bed *b, const bed_contact *c) {
    if (b->contacts == b->room) {
        const int32_t room = 2 * b->room + 1024;
        bed_contact *larger = realloc(b->contact, (size_t)room * sizeof *larger);
        if (!larger) return false;
        b->contact = larger;
        b->room = room;
    }
    b->contact[b->contacts++] = *c;
    return true;
}

// Walls x = 0, x = box, y = 0, y = box and the floor z = 0, numbered −1 … −5.
static bool bed_find_walls(bed *b, int32_t i, double reach) {
    for (int wall = 0; wall < BED_WALLS; wall++) {
        const int axis = wall / 2;
        const double x = b->place[3 * (int64_t)i + axis];
        bed_contact c = {.body = i, .other = -1 - wall};
        c.gap = (wall % 2 == 0 ? x : b->box[axis] - x) - b->radius[i];
        c.normal[axis] = wall % 2 == 0 ? 1.0 : -1.0;
        if (c.gap <= reach && !bed_add(b, &c)) return false;
    }
    return true;
}

static bool bed_pair(bed *b, int32_t i, int32_t j, double reach) {
    const double *x = b->place + 3 * (int64_t)i, *y = b->place + 3 * (int64_t)j;
    double n[3], square = 0.0;
    for (int k = 0; k < 3; k++) {
        n[k] = x[k] - y[k];
        square += n[k] * n[k];
    }
    const double sum = b->radius[i] + b->radius[j];
    if (square > (sum + reach) * (sum + reach)) return true;
    const double length = sqrt(square);
    bed_contact c = {.body = i, .other = j, .gap = length - sum};
    for (int k = 0; k < 3; k++) c.normal[k] = n[k] / length;
    return bed_add(b, &c);
}

static int bed_by_other(const void *a, const void *b) {
    const int32_t x = ((const bed_contact *)a)->other, y = ((const bed_contact *)b)->other;
    return (x > y) - (x < y);
}

// All contacts with a gap of at most `reach`, by body and other.
static bool bed_find(bed *b, double reach) {
    int32_t c[3], near[3];
    bed_sort(b);
    b->contacts = 0;
    for (int32_t i = 0; i < b->count; i++) {
        b->first[i] = b->contacts;
        if (!bed_find_walls(b, i, reach)) return false;
        bed_cell(b, b->place + 3 * (int64_t)i, c);
        for (near[2] = c[2] - 1; near[2] <= c[2] + 1; near[2]++)
            for (near[1] = c[1] - 1; near[1] <= c[1] + 1; near[1]++)
                for (near[0] = c[0] - 1; near[0] <= c[0] + 1; near[0]++) {
                    bool inside = true;
                    for (int k = 0; k < 3; k++) inside &= near[k] >= 0 && near[k] < b->cells[k];
                    if (!inside) continue;
                    const int64_t at = bed_index(b, near);
                    for (int32_t e = b->cell_start[at]; e < b->cell_start[at + 1]; e++)
                        if (b->cell_item[e] > i && !bed_pair(b, i, b->cell_item[e], reach))
                            return false;
                }
        qsort(b->contact + b->first[i], (size_t)(b->contacts - b->first[i]), sizeof *b->contact,
              bed_by_other);
    }
    b->first[b->count] = b->contacts;
    return true;
}

// ---- the start ----------------------------------------------------------------------------------

// One sphere somewhere in each of nx × ny × nz bins. Bins are numbered in blocks of 4 × 4 × 4, so
// that spheres which are near each other have near numbers.
static void bed_scatter(bed *b, const bed_def *def) {
    tl_rng rng = {.state = def->seed};
    const int32_t n[3] = {def->nx, def->ny, def->nz}, edge = 4;
    int32_t i = 0, c[3];
    for (int32_t z = 0; z < n[2]; z += edge)
        for (int32_t y = 0; y < n[1]; y += edge)
            for (int32_t x = 0; x < n[0]; x += edge)
                for (c[2] = z; c[2] < z + edge && c[2] < n[2]; c[2]++)
                    for (c[1] = y; c[1] < y + edge && c[1] < n[1]; c[1]++)
                        for (c[0] = x; c[0] < x + edge && c[0] < n[0]; c[0]++, i++) {
                            b->radius[i] =
                                BED_RADIUS * (1.0 + BED_SPREAD * tl_rng_range(&rng, -1.0, 1.0));
                            for (int k = 0; k < 3; k++)
                                b->place[3 * (int64_t)i + k] =
                                    (c[k] + tl_rng_unit(&rng)) * b->box[k] / n[k];
                        }
}

// Push a pair apart until a thousandth of the distance is left between them; returns how much they
// overlapped, relative to that distance.
static double bed_push_pair(bed *b, const bed_contact *c) {
    double *x = b->place + 3 * (int64_t)c->body, *y = b->place + 3 * (int64_t)c->other;
    double n[3], square = 0.0;
    const double sum = b->radius[c->body] + b->radius[c->other];
    for (int k = 0; k < 3; k++) {
        n[k] = x[k] - y[k];
        square += n[k] * n[k];
    }
    const double length = sqrt(square), half = 0.5 * (1.001 * sum / length - 1.0);
    for (int k = 0; k < 3 && half > 0.0; k++) {
        x[k] += half * n[k];
        y[k] -= half * n[k];
    }
    return 1.0 - length / sum;
}

// Push all overlapping spheres apart, pair after pair; the walls push too, and a lid.
static bool bed_push(bed *b) {
    double deepest = 1.0;
    for (int push = 0; push < BED_PUSHES && deepest > BED_OVERLAP; push++) {
        if (push % BED_LIST == 0 && !bed_find(b, 0.3 * BED_RADIUS)) return false;
        deepest = 0.0;
        for (int32_t e = 0; e < b->contacts; e++)
            if (b->contact[e].other >= 0) deepest = fmax(deepest, bed_push_pair(b, &b->contact[e]));
        for (int32_t i = 0; i < b->count; i++)
            for (int k = 0; k < 3; k++) {
                double *x = b->place + 3 * (int64_t)i + k;
                *x = fmin(fmax(*x, b->radius[i]), b->box[k] - b->radius[i]);
            }
    }
    return true;
}

bool bed_init(bed *b, const bed_def *def) {
    const int32_t count = def->nx * def->ny * def->nz;
    // The mean of R³ for radii spread evenly by s is R³ (1 + s²).
    const double volume =
        4.0 / 3.0 * BED_PI * pow(BED_RADIUS, 3.0) * (1.0 + BED_SPREAD * BED_SPREAD);
    const double bin = cbrt(volume / BED_FILL);
    *b = (bed){.count = count,
               .mu = def->mu,
               .box = {bin * def->nx, bin * def->ny, bin * def->nz},
               .gravity = {0.0, 0.0, -9.81},
               .step = 1e-3,
               .keep = 1.0,
               .reach = 0.1 * BED_RADIUS};
    const double cell = 2.0 * (1.0 + BED_SPREAD) * BED_RADIUS + 0.3 * BED_RADIUS;
    int64_t cells = 1;
    for (int k = 0; k < 3; k++) {
        const double room = floor(b->box[k] / cell);
        b->cells[k] = room < 1.0 ? 1 : (int32_t)room;
        cells *= b->cells[k];
    }
    b->radius = calloc((size_t)count, sizeof *b->radius);
    b->place = calloc(3 * (size_t)count, sizeof *b->place);
    b->velocity = calloc(6 * (size_t)count, sizeof *b->velocity);
    b->first = calloc((size_t)count + 1, sizeof *b->first);
    b->old_first = calloc((size_t)count + 1, sizeof *b->old_first);
    b->cell_start = calloc((size_t)cells + 2, sizeof *b->cell_start);
    b->cell_item = calloc((size_t)count, sizeof *b->cell_item);
    if (!b->radius || !b->place || !b->velocity || !b->first || !b->old_first || !b->cell_start ||
        !b->cell_item)
        return false;
    bed_scatter(b, def);
    return bed_push(b);
}

void bed_clear(bed *b) {
    free(b->radius);
    free(b->place);
    free(b->velocity);
    free(b->first);
    free(b->contact);
    free(b->old_first);
    free(b->old_contact);
    free(b->cell_start);
    free(b->cell_item);
    *b = (bed){0};
}

// ---- steps --------------------------------------------------------------------------------------

// Rows: the normal, and two tangents of which the first is the axis least aligned with it, made
// orthogonal.
static void bed_frame(const double n[3], double e[3][3]) {
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(n[k]) < fabs(n[least])) least = k;
    double norm = 0.0;
    for (int k = 0; k < 3; k++) {
        e[0][k] = n[k];
        e[1][k] = (double)(k == least) - n[least] * n[k];
        norm += e[1][k] * e[1][k];
    }
    for (int k = 0; k < 3; k++) e[1][k] /= sqrt(norm);
    for (int k = 0; k < 3; k++)
        e[2][k] = n[(k + 1) % 3] * e[1][(k + 2) % 3] - n[(k + 2) % 3] * e[1][(k + 1) % 3];
}

// The rows sign e·(v + ω × arm), arm = sign' radius n from the centre: e·(ω × arm) = ω·(arm × e).
static void bed_rows(double sign, double arm, double e[3][3], double *row) {
    for (int i = 0; i < 3; i++, row += 6)
        for (int k = 0; k < 3; k++) {
            row[k] = sign * e[i][k];
            row[3 + k] =
                sign * arm *
                (e[0][(k + 1) % 3] * e[i][(k + 2) % 3] - e[0][(k + 2) % 3] * e[i][(k + 1) % 3]);
        }
}

// The impulse that a contact had in the last step.
static void bed_remember(const bed *b, bed_contact *c) {
    if (!b->old_contact) return;
    for (int32_t e = b->old_first[c->body]; e < b->old_first[c->body + 1]; e++)
        if (b->old_contact[e].other == c->other)
            memcpy(c->impulse, b->old_contact[e].impulse, sizeof c->impulse);
}

typedef struct bed_arrays {
    int32_t *body_start, *h_body;
    int64_t *h_start;
    double *mass, *f, *h, *w, *mu;
} bed_arrays;

static void bed_fill_bodies(const bed *b, bed_arrays *a) {
    for (int32_t i = 0; i < b->count; i++) {
        const double m = bed_mass(b->radius[i]), inertia = 0.4 * m * b->radius[i] * b->radius[i];
        a->body_start[i + 1] = 6 * (i + 1);
        for (int k = 0; k < 6; k++) {
            const double own = k < 3 ? m : inertia, pull = k < 3 ? b->step * b->gravity[k] : 0.0;
            a->mass[6 * (int64_t)i + k] = own;
            a->f[6 * (int64_t)i + k] = own * (b->velocity[6 * (int64_t)i + k] + pull);
        }
    }
}

static void bed_fill_contacts(const bed *b, bed_arrays *a, double *r) {
    for (int32_t i = 0; i < b->contacts; i++) {
        bed_contact *c = &b->contact[i];
        double e[3][3];
        int64_t at = a->h_start[i];
        bed_remember(b, c);
        bed_frame(c->normal, e);
        a->h_body[at] = c->body;
        bed_rows(1.0, -b->radius[c->body], e, a->h + 18 * at++);
        if (c->other >= 0) {
            a->h_body[at] = c->other;
            bed_rows(-1.0, b->radius[c->other], e, a->h + 18 * at++);
        }
        a->h_start[i + 1] = at;
        a->w[3 * (int64_t)i] = fmax(c->gap, 0.0) / b->step;
        a->mu[i] = b->mu;
        for (int k = 0; k < 3; k++) {
            r[3 * (int64_t)i + k] = 0.0;
            for (int m = 0; m < 3; m++) r[3 * (int64_t)i + k] += e[k][m] * c->impulse[m];
        }
    }
}

talus_status bed_problem(bed *b, talus_context *ctx, talus_problem **out, double **r) {
    talus_status status = TALUS_ERR_MEMORY;
    *out = NULL;
    *r = NULL;
    if (!bed_find(b, b->reach)) return status;
    const size_t n = (size_t)b->count, m = (size_t)b->contacts;
    bed_arrays a = {.body_start = calloc(n + 1, sizeof *a.body_start),
                    .h_body = calloc(2 * m + 1, sizeof *a.h_body),
                    .h_start = calloc(m + 1, sizeof *a.h_start),
                    .mass = calloc(6 * n + 1, sizeof *a.mass),
                    .f = calloc(6 * n + 1, sizeof *a.f),
                    .h = calloc(36 * m + 1, sizeof *a.h),
                    .w = calloc(3 * m + 1, sizeof *a.w),
                    .mu = calloc(m + 1, sizeof *a.mu)};
    *r = calloc(3 * m + 1, sizeof **r);
    if (a.body_start && a.h_body && a.h_start && a.mass && a.f && a.h && a.w && a.mu && *r) {
        bed_fill_bodies(b, &a);
        bed_fill_contacts(b, &a, *r);
        status = talus_problem_create_global(ctx,
                                             &(talus_global_def){.dim = 3,
                                                                 .count = b->contacts,
                                                                 .body_count = b->count,
                                                                 .body_start = a.body_start,
                                                                 .mass_diagonal = a.mass,
                                                                 .h_row_start = a.h_start,
                                                                 .h_body = a.h_body,
                                                                 .h_block = a.h,
                                                                 .f = a.f,
                                                                 .w = a.w,
                                                                 .law = {.mu = a.mu}},
                                             out);
    }
    free(a.body_start);
    free(a.h_body);
    free(a.h_start);
    free(a.mass);
    free(a.f);
    free(a.h);
    free(a.w);
    free(a.mu);
    return status;
}

talus_status bed_advance(bed *b, const talus_problem *p, const double *r) {
    const talus_status status = talus_problem_state(p, r, b->velocity, NULL, NULL);
    if (status != TALUS_OK) return status;
    for (int32_t i = 0; i < b->contacts; i++) {
        double e[3][3];
        bed_frame(b->contact[i].normal, e);
        for (int m = 0; m < 3; m++) {
            b->contact[i].impulse[m] = 0.0;
            for (int k = 0; k < 3; k++) b->contact[i].impulse[m] += e[k][m] * r[3 * (int64_t)i + k];
        }
    }
    for (int32_t i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++)
            b->place[3 * (int64_t)i + k] += b->step * b->velocity[6 * (int64_t)i + k];
    for (int64_t k = 0; k < 6 * (int64_t)b->count; k++) b->velocity[k] *= b->keep;
    int32_t *const first = b->old_first;
    free(b->old_contact);
    b->old_first = b->first;
    b->old_contact = b->contact;
    b->first = first;
    b->contact = NULL;
    b->contacts = b->room = 0;
    return TALUS_OK;
}

static talus_status bed_step(bed *b, talus_context *ctx, const char *sweeps, const char *threads) {
    talus_problem *p = NULL;
    talus_solver *s = NULL;
    talus_solve_info info;
    double *r = NULL;
    talus_status status = bed_problem(b, ctx, &p, &r);
    if (status == TALUS_OK) status = talus_solver_create(ctx, "nlgs", &s);
    if (status == TALUS_OK) status = talus_solver_set(s, "threads", threads);
    if (status == TALUS_OK) status = talus_solver_set(s, "iterations", sweeps);
    if (status == TALUS_OK) status = talus_solver_set(s, "tolerance", "1e-12");
    if (status == TALUS_OK) status = talus_solver_prepare(s, p);
    if (status == TALUS_OK) status = talus_solver_solve(s, r, &info);
    if (status == TALUS_OK) status = bed_advance(b, p, r);
    talus_solver_destroy(s);
    talus_problem_destroy(p);
    free(r);
    return status;
}

talus_status bed_run(bed *b, talus_context *ctx, int steps, const char *sweeps,
                     const char *threads) {
    talus_status status = TALUS_OK;
    for (int step = 0; step < steps && status == TALUS_OK; step++)
        status = bed_step(b, ctx, sweeps, threads);
    return status;
}

static void bed_stop(bed *b) { memset(b->velocity, 0, 6 * (size_t)b->count * sizeof *b->velocity); }

talus_status bed_settle(bed *b, talus_context *ctx, int steps, const char *sweeps,
                        const char *threads) {
    b->keep = BED_KEEP;
    const talus_status status = bed_run(b, ctx, steps, sweeps, threads);
    b->keep = 1.0;
    bed_stop(b);
    return status;
}

static double bed_speed(const bed *b) {
    double sum = 0.0;
    for (int32_t i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++)
            sum += b->velocity[6 * (int64_t)i + k] * b->velocity[6 * (int64_t)i + k];
    return sqrt(sum / b->count);
}

int bed_rest(bed *b, talus_context *ctx, const char *threads) {
    const double step = b->step;
    int steps = 0;
    bool rests = false;
    b->step = BED_REST_STEP;
    b->keep = BED_KEEP;
    const double still = BED_STILL * b->keep * b->step * fabs(b->gravity[2]);
    while (!rests && steps < BED_REST_MOST && bed_step(b, ctx, "20", threads) == TALUS_OK) {
        steps++;
        rests = bed_speed(b) < still;
    }
    b->step = step;
    b->keep = 1.0;
    bed_stop(b);
    return rests ? steps : -1;
}
