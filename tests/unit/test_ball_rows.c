// SPDX-License-Identifier: Apache-2.0
// H of balls given as normals and arms: its rows against mechanics, and that every answer of the
// problem, of its certificate and of its solvers has the bits of the same problem with dense
// blocks.
#include "base/rng.h"
#include "problem/problem_impl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/worlds.h"
#include "talus/solver.h"

enum {
    BODIES = 420,
    CONTACTS = 1100, // enough for sweeps over balls
    STRIDE = 5,
    DOF = 6 * BODIES,
};

// Balls at random, each with some others and with walls on either side.
typedef struct cluster {
    double mass[DOF], f[DOF], normal[CONTACTS * STRIDE], arm[2 * CONTACTS], w[3 * CONTACTS];
    double mu[CONTACTS];
    bool back[CONTACTS];
    int32_t body_start[BODIES + 1], h_body[2 * CONTACTS];
    int64_t h_start[CONTACTS + 1];
    talus_global_def def;
} cluster;

static cluster *cluster_make(double mu) {
    cluster *c = calloc(1, sizeof *c);
    tl_rng rng = {.state = 11};
    assert_non_null(c);
    for (int32_t b = 0; b <= BODIES; b++) c->body_start[b] = 6 * b;
    for (int k = 0; k < DOF; k++) {
        const int b = k / 6;
        c->mass[k] = k % 6 < 3 ? 1.0 + 0.1 * (b % 7) : 0.3 + 0.05 * (b % 5);
        c->f[k] = tl_rng_normal(&rng);
    }
    int64_t blocks = 0;
    for (int32_t i = 0; i < CONTACTS; i++) {
        const int32_t a = i % BODIES, b = a + 1 + i / BODIES * 7;
        double *n = c->normal + STRIDE * (ptrdiff_t)i, size = 0.0;
        for (int k = 0; k < 3; k++) n[k] = tl_rng_normal(&rng);
        for (int k = 0; k < 3; k++) size += n[k] * n[k];
        for (int k = 0; k < 3; k++) n[k] /= sqrt(size);
        n[3] = n[4] = NAN; // nobody's business
        const bool wall = b >= BODIES || i % 10 == 0;
        c->back[i] = wall && i % 2 == 0;
        c->h_body[blocks] = a;
        c->arm[blocks++] = tl_rng_range(&rng, -0.2, 1.0);
        if (!wall) c->h_body[blocks] = b;
        if (!wall) c->arm[blocks++] = tl_rng_range(&rng, 0.5, 1.0);
        c->h_start[i + 1] = blocks;
        c->mu[i] = mu;
        for (int k = 0; k < 3; k++) c->w[3 * i + k] = 0.1 * tl_rng_normal(&rng);
    }
    c->def = (talus_global_def){
        .dim = 3,
        .count = CONTACTS,
        .body_count = BODIES,
        .body_start = c->body_start,
        .mass_diagonal = c->mass,
        .h_row_start = c->h_start,
        .h_body = c->h_body,
        .balls = {.normal = c->normal, .stride = STRIDE, .arm = c->arm, .back = c->back},
        .borrow_h = true,
        .borrow_all = true,
        .f = c->f,
        .w = c->w,
        .law = {.mu = c->mu}};
    return c;
}

// The same with dense blocks, which are copied.
static talus_problem *make_dense(const cluster *c, const talus_problem *compact) {
    talus_problem *p = NULL;
    talus_global_def def = c->def;
    assert_int_equal(tl_problem_write_h(compact), TALUS_OK);
    def.balls = (talus_ball_rows){0};
    def.h_block = compact->h_block;
    def.borrow_h = def.borrow_all = false;
    WORLDS_OK(talus_problem_create_global(ctx, &def, &p));
    return p;
}

static void cross(const double *a, const double *b, double *out) {
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

// u of a motion v of all bodies is the velocity of points: for the body at +n, the one at −arm n
// from its centre; for the one at −n, that at +arm n, taken off. Against the definition, in space.
static void rows_are_velocities_of_points(void **state) {
    (void)state;
    cluster *c = cluster_make(0.5);
    talus_problem *p = NULL;
    tl_rng rng = {.state = 5};
    double v[DOF], *u = calloc(3 * CONTACTS, sizeof *u);
    assert_non_null(u);
    WORLDS_OK(talus_problem_create_global(ctx, &c->def, &p));
    assert_null(p->h_block);
    for (int k = 0; k < DOF; k++) v[k] = tl_rng_normal(&rng);
    tl_problem_add_velocity(p, v, u);
    for (int32_t i = 0; i < CONTACTS; i++) {
        const double *n = c->normal + STRIDE * (ptrdiff_t)i;
        double relative[3] = {0.0}, back[3] = {0.0};
        for (int64_t k = c->h_start[i]; k < c->h_start[i + 1]; k++) {
            const double *own = v + 6 * (ptrdiff_t)c->h_body[k];
            const double side = k > c->h_start[i] || c->back[i] ? -1.0 : 1.0;
            double arm[3], turn[3];
            for (int e = 0; e < 3; e++) arm[e] = -side * c->arm[k] * n[e];
            cross(own + 3, arm, turn);
            for (int e = 0; e < 3; e++) relative[e] += side * (own[e] + turn[e]);
        }
        // the frame is right-handed and orthonormal, n first: u has the components of the velocity
        double frame[9], square = 0.0, along = 0.0, t[3];
        tl_ball_frame(&p->balls, i, frame);
        for (int e = 0; e < 3; e++) assert_true(frame[e] == n[e]);
        cross(frame, frame + 3, t);
        for (int e = 0; e < 3; e++) assert_true(fabs(t[e] - frame[6 + e]) < 1e-14);
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < 3; e++) back[e] += u[3 * i + k] * frame[3 * k + e];
        for (int e = 0; e < 3; e++) {
            square += frame[3 + e] * frame[3 + e];
            along += frame[3 + e] * n[e];
            assert_true(fabs(back[e] - relative[e]) < 1e-13);
        }
        assert_true(fabs(square - 1.0) < 1e-14 && fabs(along) < 1e-14);
    }
    free(u);
    free(c);
    talus_problem_destroy(p);
}

static void solve(const talus_problem *p, const char *name, int sweeps, double *r) {
    talus_solver *s = NULL;
    talus_solve_info info;
    char most[16];
    (void)snprintf(most, sizeof most, "%d", sweeps);
    WORLDS_OK(talus_solver_create(ctx, name, &s));
    WORLDS_OK(talus_solver_set(s, "iterations", most));
    WORLDS_OK(talus_solver_set(s, "tolerance", "1e-10"));
    WORLDS_OK(talus_solver_prepare(s, p));
    WORLDS_OK(talus_solver_solve(s, r, &info));
    talus_solver_destroy(s);
}

// State, certificate and what solvers of all kinds make of it.
static void same_bits_as_dense(void **state) {
    (void)state;
    static const char *const solvers[] = {"nlgs", "auto", "apgd-ar", "admm", "jacobi", "spg"};
    const size_t size = 3 * (size_t)CONTACTS;
    for (int slip = 0; slip < 2; slip++) {
        cluster *c = cluster_make(slip ? 0.5 : 0.0);
        talus_problem *scratch = NULL;
        WORLDS_OK(talus_problem_create_global(ctx, &c->def, &scratch));
        talus_problem *dense = make_dense(c, scratch);
        talus_problem_destroy(scratch);
        for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
            talus_problem *p = NULL;
            double *r[2], *v[2], *u[2];
            talus_certificate verdict[2];
            WORLDS_OK(talus_problem_create_global(ctx, &c->def, &p));
            const talus_problem *both[2] = {p, dense};
            assert_true(p->q_norm == dense->q_norm);
            for (int j = 0; j < 2; j++) {
                r[j] = calloc(size, sizeof **r);
                u[j] = calloc(size, sizeof **u);
                v[j] = calloc(DOF, sizeof **v);
                assert_true(r[j] && u[j] && v[j]);
                solve(both[j], solvers[k], 12, r[j]);
                WORLDS_OK(talus_problem_state(both[j], r[j], v[j], u[j], NULL));
                WORLDS_OK(talus_certify(both[j], r[j], &verdict[j]));
            }
            // sweeps over balls take the arms out of the blocks, which costs the last digits
            const bool round = k < 2;
            double most = 0.0, norm = 0.0;
            for (size_t e = 0; e < size; e++) {
                most = fmax(most, fabs(r[0][e] - r[1][e]));
                norm = fmax(norm, fabs(r[1][e]));
            }
            if (!(most <= (round ? 1e-12 * norm : 0.0)))
                fail_msg("%s: %g of %g apart", solvers[k], most, norm);
            if (!round) {
                assert_memory_equal(u[0], u[1], size * sizeof **u);
                assert_memory_equal(v[0], v[1], DOF * sizeof **v);
                assert_memory_equal(&verdict[0], &verdict[1], sizeof verdict[0]);
            }
            assert_true(verdict[0].residual > 0.0 && verdict[0].motion < 1e-14);
            for (int j = 0; j < 2; j++) {
                free(r[j]);
                free(u[j]);
                free(v[j]);
            }
            talus_problem_destroy(p);
        }
        talus_problem_destroy(dense);
        free(c);
    }
}

// Sweeps over balls, and gradients without friction, leave the blocks unwritten; a copy of the
// caller's balls, and one that constraint rows act on, are written out.
static void written_out_only_where_needed(void **state) {
    (void)state;
    cluster *c = cluster_make(0.5), *smooth = cluster_make(0.0);
    talus_problem *p = NULL;
    double *r = calloc(3 * CONTACTS, sizeof *r);
    assert_non_null(r);
    WORLDS_OK(talus_problem_create_global(ctx, &c->def, &p));
    size_t before;
    talus_context_memory(ctx, &before, NULL);
    solve(p, "nlgs", 3, r);
    assert_null(p->h_block);
    WORLDS_OK(talus_problem_update_global(p, &smooth->def));
    solve(p, "apgd-ar", 3, r);
    assert_null(p->h_block);
    size_t after;
    talus_context_memory(ctx, &after, NULL);
    assert_true(before == after);
    // q, u, λ_i, and of a body v, Hᵀr, M and 1/M: nothing of H
    assert_true(before < CONTACTS * 56 + DOF * 32 + 4096);
    solve(p, "newton-ac", 1, r);
    assert_non_null(p->h_block);
    WORLDS_OK(talus_problem_update_global(p, &c->def)); // and back
    assert_null(p->h_block);
    c->def.borrow_h = false;
    WORLDS_OK(talus_problem_update_global(p, &c->def));
    assert_true(p->h_block && !p->balls.normal);
    const int64_t start[] = {0, 1};
    const int32_t index[] = {2};
    const double value[] = {1.0}, aim[] = {0.25};
    c->def.borrow_h = true;
    c->def.c = (talus_sparse){.rows = 1, .cols = DOF, start, index, value};
    c->def.k = aim;
    WORLDS_OK(talus_problem_update_global(p, &c->def));
    assert_non_null(p->h_block);
    double v[DOF];
    WORLDS_OK(talus_problem_state(p, r, v, NULL, NULL));
    assert_true(fabs(v[2] - 0.25) < 1e-14);
    talus_problem_destroy(p);
    free(r);
    free(c);
    free(smooth);
}

static void refused(const cluster *c, const char *part) {
    talus_problem *p = NULL;
    assert_int_not_equal(talus_problem_create_global(ctx, &c->def, &p), TALUS_OK);
    assert_null(p);
    if (!strstr(talus_context_last_error(ctx), part))
        fail_msg("'%s' lacks '%s'", talus_context_last_error(ctx), part);
}

static void bad_balls(void **state) {
    (void)state;
    cluster *c = cluster_make(0.5);
    const cluster good = *c;
#define BAD(part, ...)                                                                             \
    do {                                                                                           \
        __VA_ARGS__;                                                                               \
        refused(c, part);                                                                          \
        *c = good;                                                                                 \
    } while (0)
    BAD("stride = 2, but must be 3 or more", c->def.balls.stride = 2);
    BAD("arm is NULL", c->def.balls.arm = NULL);
    BAD("dim = 2, but must be 3", c->def.dim = 2);
    BAD("body 3 has 5 unknowns, but must have 6", c->body_start[4] = 23);
    BAD("of contact 7 must have length 1", c->normal[STRIDE * 7] += 1e-3);
    BAD("of contact 7 must have length 1", c->normal[STRIDE * 7 + 1] = NAN);
    BAD("arm[4] = inf", c->arm[4] = INFINITY);
    BAD("contact 1 has 2 bodies", c->back[1] = true);
#undef BAD
    free(c);
}

// Balls in a box, alone and beside two bricks that lean on each other somewhere else and make the
// whole problem one of dense blocks: they move alike, to the tolerance of the solver.
static talus_world *make_box(bool bricks, double *rest) {
    talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, 1e-3, 9.81);
    def.tolerance = 1e-12;
    def.solver = "nlgs";
    def.iterations = 100000;
    def.threads = 2;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.4, 0.2, 0.0);
    tl_rng rng = {.state = 3};
    talus_body_def floor =
        worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_CONTAINER, .half = {0.5, 0.5, 2.0}});
    floor.position[2] = 2.0;
    worlds_add(w, &floor);
    for (int k = 0; k < 27; k++) {
        const int at[] = {k % 3, k / 3 % 3, k / 9};
        double x[3];
        for (int e = 0; e < 3; e++)
            x[e] = (at[e] - 1) * 0.31 + tl_rng_range(&rng, -0.01, 0.01) + (e == 2 ? 0.47 : 0.0);
        const talus_body_def ball = worlds_ball(w, 0.15, x[0], x[1], x[2]);
        worlds_add(w, &ball);
    }
    for (int k = 0; bricks && k < 2; k++) {
        talus_body_def brick = talus_body_default();
        brick.shape =
            worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}});
        brick.mass = 1.0;
        brick.position[2] = 50.0 + 0.2 * k;
        worlds_add(w, &brick);
    }
    *rest = 0.0;
    for (int k = 0; k < 150; k++) *rest = fmax(*rest, worlds_step(w).residual);
    return w;
}

static void world_of_balls_is_the_same(void **state) {
    (void)state;
    double rest[2];
    talus_world *w[2] = {make_box(false, rest), make_box(true, rest + 1)};
    const talus_body_view a = worlds_bodies(w[0]), b = worlds_bodies(w[1]);
    double most = 0.0;
    for (int k = 0; k < 3 * 28; k++) {
        most = fmax(most, fabs(a.position[k] - b.position[k]));
        most = fmax(most, fabs(a.velocity[k] - b.velocity[k]));
    }
    assert_true(worlds_contacts(w[0]).count > 27);
    assert_true(rest[0] < 1e-11 && rest[1] < 1e-11);
    if (!(most < 1e-8)) fail_msg("%g apart", most);
    for (int k = 0; k < 2; k++) talus_world_destroy(w[k]);
}

// All memory of a run of balls, each of a size of its own, in a lattice that has and keeps three
// contacts per ball: state, search, contacts, problem and sweeps, at the peak of the steps.
static void memory_of_a_lattice(void **state) {
    (void)state;
    enum { EDGE = 16, BALLS = EDGE * EDGE * EDGE };
    talus_context *own = NULL;
    assert_int_equal(talus_context_create(NULL, &own), TALUS_OK);
    talus_context *const before = ctx;
    ctx = own;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, 1e-3, 0.0);
    def.iterations = 5;
    for (int k = 0; k < 2; k++) def.period[k] = EDGE;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.5, 0.0, 0.0);
    worlds_plane(w, 0.0, 0.0, 1.0);
    for (int k = 0; k < BALLS; k++) {
        const talus_body_def ball =
            worlds_ball(w, 0.5 * (1.0 + 1e-6 * (1 + k) / BALLS), 0.5 + k % EDGE,
                        0.5 + k / EDGE % EDGE, 0.5 + k / EDGE / EDGE);
        worlds_add(w, &ball);
    }
    for (int k = 0; k < 3; k++) assert_int_equal(worlds_step(w).contacts, 3 * BALLS);
    size_t peak;
    talus_context_memory(ctx, NULL, &peak);
    if (!(peak < (size_t)1500 * BALLS)) fail_msg("%zu bytes per ball", peak / BALLS);
    talus_world_destroy(w);
    ctx = before;
    talus_context_destroy(own);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(rows_are_velocities_of_points), TEST(same_bits_as_dense),
        TEST(written_out_only_where_needed), TEST(bad_balls),
        TEST(world_of_balls_is_the_same),    TEST(memory_of_a_lattice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
