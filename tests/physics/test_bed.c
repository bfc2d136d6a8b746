// SPDX-License-Identifier: Apache-2.0
// A bed of spheres that settles, and the momentum of sweeps by Nesterov's rule, which is for such
// beds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/bed.h"
#include "support/solve_cases.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct settled {
    talus_context *ctx;
    bed b;
    talus_problem *p;
    double *r; // where a warm start begins
} settled;

static int make(void **state) {
    static settled s;
    assert_int_equal(talus_context_create(NULL, &s.ctx), TALUS_OK);
    assert_true(bed_init(&s.b, &(bed_def){.nx = 9, .ny = 9, .nz = 6, .mu = 0.5, .seed = 3}));
    assert_int_equal(bed_settle(&s.b, s.ctx, 40, "20", "1"), TALUS_OK);
    assert_int_equal(bed_problem(&s.b, s.ctx, &s.p, &s.r), TALUS_OK);
    *state = &s;
    return 0;
}

static int drop(void **state) {
    settled *s = *state;
    talus_problem_destroy(s->p);
    free(s->r);
    bed_clear(&s->b);
    talus_context_destroy(s->ctx);
    return 0;
}

#define INERTIA "inertia=0.9 proximal=0.1 "

// Solve from zero to a residual of 1e-4. Returns the sweeps.
static int32_t solve(const settled *s, const char *options, double *r, double *residual) {
    char all[160];
    talus_certificate c;
    (void)snprintf(all, sizeof all, "stop=residual tolerance=1e-4 %s", options);
    memset(r, 0, 3 * (size_t)s->b.contacts * sizeof *r);
    const talus_solve_info info = solve_with(s->ctx, "nlgs", all, s->p, r);
    assert_int_equal(talus_certify(s->p, r, &c), TALUS_OK);
    *residual = c.residual;
    return info.iterations;
}

// It is a packing: dense, next to no overlaps, and with contacts of all kinds.
static void is_packing(void **state) {
    const settled *s = *state;
    int32_t touching = 0;
    double least = 0.0;
    for (int32_t i = 0; i < s->b.contacts; i++) {
        least = fmin(least, s->b.contact[i].gap);
        touching += s->b.contact[i].gap < 1e-6;
    }
    assert_true(least > -1e-4);
    const double coordination = 2.0 * touching / s->b.count;
    assert_true(coordination > 4.0 && coordination < 7.0);
    double *r = solve_room(3 * (int64_t)s->b.contacts), residual;
    talus_certificate c;
    (void)solve(s, INERTIA, r, &residual);
    assert_true(residual <= 1e-4);
    assert_int_equal(talus_certify(s->p, r, &c), TALUS_OK);
    assert_true(c.open > s->b.contacts / 20);
    assert_true(c.stick > s->b.contacts / 20);
    assert_true(c.slip > s->b.contacts / 20);
    free(r);
}

// What walls and floor give is what the spheres' momentum gains and gravity takes, for any
// impulses.
static void balance(void **state) {
    settled *s = *state;
    const bed *b = &s->b;
    double given[3] = {0.0}, gained[3] = {0.0}, size = 0.0;
    double *v = solve_room(6 * (int64_t)b->count);
    double *r = solve_room(3 * (int64_t)b->contacts), residual;
    (void)solve(s, "iterations=30", r, &residual);
    assert_int_equal(talus_problem_state(s->p, r, v, NULL, NULL), TALUS_OK);
    for (int32_t i = 0; i < b->count; i++) {
        const double m = 2500.0 * 4.0 / 3.0 * 3.14159265358979323846 * pow(b->radius[i], 3.0);
        for (int k = 0; k < 3; k++)
            gained[k] += m * (v[6 * (int64_t)i + k] - b->velocity[6 * (int64_t)i + k] -
                              b->step * b->gravity[k]);
    }
    // The normals of walls are axes and the tangents follow the rule of bed.c: the axis least
    // aligned with it first, which here is the first other one, then their cross product.
    for (int32_t i = 0; i < b->contacts; i++) {
        const bed_contact *c = &b->contact[i];
        if (c->other >= 0) continue;
        const int axis = (-1 - c->other) / 2, first = axis == 0 ? 1 : 0, last = 3 - axis - first;
        const double sign = c->normal[axis], turn = (first - axis + 3) % 3 == 1 ? 1.0 : -1.0;
        given[axis] += sign * r[3 * (int64_t)i];
        given[first] += r[3 * (int64_t)i + 1];
        given[last] += sign * turn * r[3 * (int64_t)i + 2];
        size += fabs(r[3 * (int64_t)i]);
    }
    for (int k = 0; k < 3; k++) assert_true(fabs(given[k] - gained[k]) <= 1e-12 * size);
    free(v);
    free(r);
}

// From zero to 1e-4 in at most two thirds of the sweeps.
static void inertia_pays(void **state) {
    const settled *s = *state;
    double *r = solve_room(3 * (int64_t)s->b.contacts), residual;
    const int32_t with = solve(s, INERTIA, r, &residual);
    assert_true(residual <= 1e-4);
    const int32_t without = solve(s, "", r, &residual);
    print_message("sweeps with inertia %d, with conjugate gradients %d\n", with, without);
    assert_true(3 * with <= 2 * without);
    free(r);
}

// A share that follows the sweeps gets there from a beginning that is too small or too large.
static void inertia_follows(void **state) {
    static const char *const begin[2] = {"inertia=0.3 ", "inertia=0.98 "};
    const settled *s = *state;
    double *r = solve_room(3 * (int64_t)s->b.contacts), residual;
    for (int k = 0; k < 2; k++) {
        char all[80];
        (void)snprintf(all, sizeof all, "%spatience=0 iterations=4000 check=10", begin[k]);
        const int32_t fixed = solve(s, all, r, &residual);
        (void)snprintf(all, sizeof all, "%sfollow=yes patience=0 iterations=4000 check=10",
                       begin[k]);
        const int32_t follows = solve(s, all, r, &residual);
        print_message("%s: %d sweeps, %d where it follows\n", begin[k], fixed, follows);
        assert_true(residual <= 1e-4);
        assert_true(follows < fixed);
    }
    free(r);
}

// Sweeps under the associated law first: fewer in all, and what is reported is Coulomb's law also
// where the solve ends before they do.
static void relaxed_pays(void **state) {
    const settled *s = *state;
    double *r = solve_room(3 * (int64_t)s->b.contacts), residual;
    const int32_t without = solve(s, INERTIA, r, &residual);
    const int32_t with = solve(s, INERTIA "relaxed=40", r, &residual);
    print_message("sweeps with the associated law first %d, without %d\n", with, without);
    assert_true(residual <= 1e-4);
    assert_true(with > 40 && with < without);
    memset(r, 0, 3 * (size_t)s->b.contacts * sizeof *r);
    talus_certificate c;
    const talus_solve_info info =
        solve_with(s->ctx, "nlgs", "stop=residual iterations=7 relaxed=40", s->p, r);
    assert_int_equal(info.outcome, TALUS_OUTCOME_ITERATION_LIMIT);
    assert_int_equal(talus_certify(s->p, r, &c), TALUS_OK);
    assert_true(fabs(info.measure - c.residual) <= 1e-9 * c.residual);
    free(r);
}

// A start that is not zero is better than what the associated law would make of it.
static void relaxed_is_for_cold_starts(void **state) {
    const settled *s = *state;
    const size_t size = 3 * (size_t)s->b.contacts;
    double *a = solve_room((int64_t)size), *b = solve_room((int64_t)size);
    memcpy(a, s->r, size * sizeof *a);
    memcpy(b, s->r, size * sizeof *b);
    (void)solve_with(s->ctx, "nlgs", "stop=residual iterations=9", s->p, a);
    (void)solve_with(s->ctx, "nlgs", "stop=residual iterations=9 relaxed=40", s->p, b);
    assert_memory_equal(a, b, size * sizeof *a);
    free(a);
    free(b);
}

static void same_for_threads(void **state) {
    const settled *s = *state;
    const size_t size = 3 * (size_t)s->b.contacts;
    double *a = solve_room((int64_t)size), *b = solve_room((int64_t)size), residual;
    const char *form[] = {INERTIA "relaxed=30 iterations=60 order=coloured form=assembled threads=",
                          INERTIA
                          "relaxed=30 iterations=60 order=coloured form=matrix-free threads="};
    for (int k = 0; k < 2; k++) {
        char one[128], three[128];
        (void)snprintf(one, sizeof one, "%s1", form[k]);
        (void)snprintf(three, sizeof three, "%s3", form[k]);
        (void)solve(s, one, a, &residual);
        (void)solve(s, three, b, &residual);
        assert_memory_equal(a, b, size * sizeof *a);
    }
    free(a);
    free(b);
}

// Matrix-free sweeps carry N Hᵀ r along; it must be that of the impulses pushed.
static void same_for_forms(void **state) {
    const settled *s = *state;
    const size_t size = 3 * (size_t)s->b.contacts;
    double *a = solve_room((int64_t)size), *b = solve_room((int64_t)size), residual, most = 0.0;
    (void)solve(s, INERTIA "relaxed=6 iterations=12 check=12 form=assembled", a, &residual);
    (void)solve(s, INERTIA "relaxed=6 iterations=12 check=12 form=matrix-free", b, &residual);
    for (size_t k = 0; k < size; k++) most = fmax(most, fabs(a[k]));
    for (size_t k = 0; k < size; k++) assert_true(fabs(a[k] - b[k]) <= 1e-9 * most);
    free(a);
    free(b);
}

// auto on a bed too large for Newton: same bits for any number of threads, and sooner than without.
static void auto_on_large(void **state) {
    const settled *s = *state;
    bed b;
    talus_problem *p = NULL;
    double *warm = NULL;
    talus_certificate c;
    assert_true(bed_init(&b, &(bed_def){.nx = 14, .ny = 14, .nz = 8, .mu = 0.5, .seed = 3}));
    assert_int_equal(bed_settle(&b, s->ctx, 30, "20", "1"), TALUS_OK);
    assert_int_equal(bed_problem(&b, s->ctx, &p, &warm), TALUS_OK);
    assert_true(b.contacts >= 4096);
    const size_t size = 3 * (size_t)b.contacts;
    double *one = solve_room((int64_t)size), *three = solve_room((int64_t)size);
    const talus_solve_info info =
        solve_with(s->ctx, "auto", "stop=residual tolerance=1e-4 threads=1", p, one);
    (void)solve_with(s->ctx, "auto", "stop=residual tolerance=1e-4 threads=3", p, three);
    assert_memory_equal(one, three, size * sizeof *one);
    assert_int_equal(talus_certify(p, one, &c), TALUS_OK);
    assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
    assert_true(c.residual <= 1e-4);
    memset(three, 0, size * sizeof *three);
    const talus_solve_info plain =
        solve_with(s->ctx, "nlgs", "stop=residual tolerance=1e-4 iterations=1000", p, three);
    print_message("auto %d sweeps, nlgs %d\n", info.iterations, plain.iterations);
    assert_true(info.iterations < plain.iterations);
    free(warm);
    free(one);
    free(three);
    talus_problem_destroy(p);
    bed_clear(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_packing),       cmocka_unit_test(balance),
        cmocka_unit_test(inertia_pays),     cmocka_unit_test(inertia_follows),
        cmocka_unit_test(relaxed_pays),     cmocka_unit_test(relaxed_is_for_cold_starts),
        cmocka_unit_test(same_for_threads), cmocka_unit_test(same_for_forms),
        cmocka_unit_test(auto_on_large),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
