// SPDX-License-Identifier: Apache-2.0
// Problems that are made anew in the memory they have, and M given by its diagonal.
#include "base/context.h"
#include "support/context.h"
#include "support/packing.h"
#include "talus/talus.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct scene {
    rigid build;
    talus_global_def def;
} scene;

// Packings of several sizes, dimensions, kinds of M, laws and with or without constraint rows.
enum { SCENES = 8 };
static void make_scene(int which, scene *s) {
    static const packing_def def[SCENES] = {
        {.dim = 3, .nx = 4, .ny = 3, .nz = 3, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 1},
        {.dim = 3, .nx = 5, .ny = 4, .nz = 4, .mu = 0.3, .disorder = 0.1, .speed = 0.1, .seed = 2},
        {.dim = 3, .nx = 2, .ny = 2, .nz = 2, .mu = 0.0, .disorder = 0.2, .speed = 0.1, .seed = 3},
        {.dim = 2, .nx = 8, .ny = 1, .nz = 5, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 4},
        {.dim = 3, .nx = 5, .ny = 4, .nz = 3, .mu = 0.5, .disorder = 0.1, .speed = 0.2, .seed = 5},
        {.dim = 3, .nx = 3, .ny = 3, .nz = 2, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 6},
        {.dim = 3, .nx = 0, .ny = 0, .nz = 0, .mu = 0.5, .disorder = 0.0, .speed = 0.0, .seed = 7},
        {.dim = 3, .nx = 4, .ny = 3, .nz = 3, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 8},
    };
    packing_build(&def[which], &s->build);
    if (which == 5) rigid_join(&s->build, 0, 4, (const double[3]){0.5, 0.5, 0.0});
    assert_true(rigid_define(&s->build, NULL, &s->def));
    if (which == 1 || which == 3 || which == 5) s->def.mass_diagonal = NULL; // blocks
    if (which == 4) { // the law's other parameters; mu is as long as they are
        s->def.law.tension = s->def.law.mu;
        s->def.law.yield = s->def.law.mu;
        s->def.law.dilatancy = s->def.law.mu;
    }
    if (which == 7) s->def.law.law = TALUS_LAW_ASSOCIATED;
}

// M as compressed columns, from the diagonal of the scene.
typedef struct columns {
    int64_t *start;
    int32_t *index;
} columns;

static void use_columns(scene *s, columns *c) {
    const int32_t dof = s->def.body_start[s->def.body_count];
    c->start = calloc((size_t)dof + 1, sizeof *c->start);
    c->index = calloc((size_t)dof + 1, sizeof *c->index);
    for (int32_t k = 0; k < dof; k++) {
        c->start[k + 1] = k + 1;
        c->index[k] = k;
    }
    s->def.mass = (talus_sparse){.rows = dof,
                                 .cols = dof,
                                 .start = c->start,
                                 .index = c->index,
                                 .value = s->def.mass_diagonal};
    s->def.mass_diagonal = s->def.mass_block = NULL;
}

static void free_columns(columns *c) {
    free(c->start);
    free(c->index);
}

// All that can be seen of a problem.
typedef struct seen {
    talus_problem_info info;
    talus_certificate judged;
    talus_solve_info solve;
    double *v, *u, *r;
} seen;

static void look(talus_problem *p, seen *out) {
    *out = (seen){.info = talus_problem_get_info(p)};
    const size_t size = (size_t)out->info.dim * (size_t)out->info.count + 1;
    out->v = calloc((size_t)out->info.dof + 1, sizeof *out->v);
    out->u = calloc(size, sizeof *out->u);
    out->r = calloc(size, sizeof *out->r);
    talus_solver *s;
    assert_int_equal(talus_solver_create(ctx, "nlgs", &s), TALUS_OK);
    assert_int_equal(talus_solver_set(s, "iterations", "20"), TALUS_OK);
    assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
    assert_int_equal(talus_solver_solve(s, out->r, &out->solve), TALUS_OK);
    talus_solver_destroy(s);
    assert_int_equal(talus_problem_state(p, out->r, out->v, out->u, NULL), TALUS_OK);
    assert_int_equal(talus_certify(p, out->r, &out->judged), TALUS_OK);
}

static void forget(seen *s) {
    free(s->v);
    free(s->u);
    free(s->r);
}

static void assert_same(const seen *a, const seen *b) {
    const size_t size = (size_t)a->info.dim * (size_t)a->info.count;
    assert_int_equal(a->info.dim, b->info.dim);
    assert_int_equal(a->info.count, b->info.count);
    assert_int_equal(a->info.dof, b->info.dof);
    assert_int_equal(a->info.constraints, b->info.constraints);
    assert_memory_equal(&a->info.q_norm, &b->info.q_norm, sizeof a->info.q_norm);
    if (size > 0) assert_memory_equal(a->r, b->r, size * sizeof *a->r);
    if (size > 0) assert_memory_equal(a->u, b->u, size * sizeof *a->u);
    if (a->info.dof > 0) assert_memory_equal(a->v, b->v, (size_t)a->info.dof * sizeof *a->v);
    assert_memory_equal(&a->judged.natural, &b->judged.natural, sizeof(double));
    assert_memory_equal(&a->judged.residual, &b->judged.residual, sizeof(double));
    assert_memory_equal(&a->judged.motion, &b->judged.motion, sizeof(double));
    assert_int_equal(a->judged.worst, b->judged.worst);
    assert_int_equal(a->judged.slip, b->judged.slip);
}

// From each scene to each other one: no trace of the first is left.
static void an_update_is_as_good_as_a_new_problem(void **state) {
    (void)state;
    static scene s[SCENES];
    seen fresh[SCENES];
    for (int k = 0; k < SCENES; k++) {
        talus_problem *p;
        make_scene(k, &s[k]);
        assert_int_equal(talus_problem_create_global(ctx, &s[k].def, &p), TALUS_OK);
        look(p, &fresh[k]);
        talus_problem_destroy(p);
    }
    for (int from = 0; from < SCENES; from++) {
        talus_problem *p;
        assert_int_equal(talus_problem_create_global(ctx, &s[from].def, &p), TALUS_OK);
        for (int to = 0; to < SCENES; to++) {
            seen now;
            assert_int_equal(talus_problem_update_global(p, &s[from].def), TALUS_OK);
            assert_int_equal(talus_problem_update_global(p, &s[to].def), TALUS_OK);
            look(p, &now);
            assert_same(&now, &fresh[to]);
            forget(&now);
        }
        talus_problem_destroy(p);
    }
    for (int k = 0; k < SCENES; k++) {
        forget(&fresh[k]);
        rigid_clear(&s[k].build);
    }
}

// The same M in three ways: as a diagonal, as blocks, as compressed columns.
static void the_diagonal_is_the_mass(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        scene s[3];
        columns c = {0};
        seen now[3];
        for (int form = 0; form < 3; form++) {
            talus_problem *p;
            make_scene(k == 1 ? 7 : k, &s[form]);
            if (form == 1) s[form].def.mass_diagonal = NULL;
            if (form == 2) use_columns(&s[form], &c);
            assert_int_equal(talus_problem_create_global(ctx, &s[form].def, &p), TALUS_OK);
            look(p, &now[form]);
            // one rounding more or less in M^-1 f, |f| being about 0.1 and M >= 0.08 here
            for (int32_t e = 0; e < now[form].info.dof; e++)
                assert_true(fabs(now[form].v[e] - now[0].v[e]) < 1e-12);
            assert_true(now[form].judged.motion < 1e-15);
            talus_problem_destroy(p);
        }
        for (int form = 0; form < 3; form++) {
            forget(&now[form]);
            rigid_clear(&s[form].build);
        }
        free_columns(&c);
    }
}

// Steps of about the same size: after the largest one, no more memory is asked for.
static void updates_settle(void **state) {
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++) {
        scene s[3];
        talus_problem *p;
        talus_certificate judged;
        make_scene(0, &s[0]);
        make_scene(4, &s[1]);
        make_scene(7, &s[2]);
        for (int k = 0; k < 3; k++) {
            if (blocks) s[k].def.mass_diagonal = NULL;
            s[k].def.law.tension = s[k].def.law.yield = s[k].def.law.dilatancy = NULL;
        }
        double *r = calloc(3 * (size_t)s[1].def.count, sizeof *r);
        assert_int_equal(talus_problem_create_global(ctx, &s[0].def, &p), TALUS_OK);
        assert_int_equal(talus_problem_update_global(p, &s[1].def), TALUS_OK);
        assert_int_equal(talus_certify(p, r, &judged), TALUS_OK);
        size_t held, now;
        talus_context_memory(ctx, &held, NULL);
        const int64_t before = tl_alloc_count(ctx);
        for (int step = 0; step < 6; step++) {
            assert_int_equal(talus_problem_update_global(p, &s[step % 3].def), TALUS_OK);
            assert_int_equal(talus_certify(p, r, &judged), TALUS_OK);
        }
        talus_context_memory(ctx, &now, NULL);
        assert_int_equal(tl_alloc_count(ctx), before);
        assert_int_equal(now, held);
        talus_problem_destroy(p);
        free(r);
        for (int k = 0; k < 3; k++) rigid_clear(&s[k].build);
    }
}

// Every request that an update makes fails in turn: the problem says so, and the next update
// repairs it.
static void updates_without_memory(void **state) {
    (void)state;
    scene from, to;
    talus_problem *p;
    talus_certificate judged;
    talus_solver *solver;
    seen fresh, now;
    make_scene(2, &from);
    make_scene(5, &to);
    assert_int_equal(talus_problem_create_global(ctx, &to.def, &p), TALUS_OK);
    look(p, &fresh);
    talus_problem_destroy(p);
    assert_int_equal(talus_solver_create(ctx, "nlgs", &solver), TALUS_OK);
    talus_status status = TALUS_ERR_MEMORY;
    double *r = calloc(3 * (size_t)to.def.count, sizeof *r);
    for (int64_t k = 1; status != TALUS_OK; k++) {
        assert_int_equal(talus_problem_create_global(ctx, &from.def, &p), TALUS_OK);
        memory.fail_at = memory.requests + k;
        status = talus_problem_update_global(p, &to.def);
        memory.fail_at = 0;
        if (status != TALUS_OK) {
            assert_int_equal(status, TALUS_ERR_MEMORY);
            assert_int_equal(talus_problem_state(p, r, NULL, NULL, NULL), TALUS_ERR_ARG);
            assert_int_equal(talus_certify(p, r, &judged), TALUS_ERR_ARG);
            assert_int_equal(talus_solver_prepare(solver, p), TALUS_ERR_ARG);
            assert_non_null(strstr(talus_context_last_error(ctx), "update it again"));
            assert_int_equal(talus_problem_update_global(p, &to.def), TALUS_OK);
            look(p, &now);
            assert_same(&now, &fresh);
            forget(&now);
        }
        talus_problem_destroy(p);
        assert_true(k < 200);
    }
    talus_solver_destroy(solver);
    forget(&fresh);
    free(r);
    rigid_clear(&from.build);
    rigid_clear(&to.build);
}

// H may stay with the caller: the same problem, less memory, and nothing of it is freed.
static void h_may_be_borrowed(void **state) {
    (void)state;
    scene s, other;
    talus_problem *p;
    seen own, borrowed;
    size_t with, without;
    make_scene(0, &s);
    make_scene(1, &other);
    assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
    talus_context_memory(ctx, &with, NULL);
    look(p, &own);
    talus_problem_destroy(p);
    s.def.borrow_h = true;
    assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
    talus_context_memory(ctx, &without, NULL);
    assert_true(with - without >=
                (size_t)s.def.h_row_start[s.def.count] * 18 * sizeof *s.def.h_block);
    look(p, &borrowed);
    assert_same(&own, &borrowed);
    forget(&borrowed);
    assert_int_equal(talus_problem_update_global(p, &other.def), TALUS_OK); // copies
    assert_int_equal(talus_problem_update_global(p, &s.def), TALUS_OK);     // borrows again
    look(p, &borrowed);
    assert_same(&own, &borrowed);
    talus_problem_destroy(p);
    forget(&own);
    forget(&borrowed);
    rigid_clear(&s.build);
    rigid_clear(&other.build);
}

// What the checks refuse does no harm; a local problem has no global form to be updated.
static void a_refused_update_changes_nothing(void **state) {
    (void)state;
    scene s, bad;
    talus_problem *p;
    seen before, now;
    make_scene(0, &s);
    make_scene(1, &bad);
    bad.build.h[7] = NAN;
    assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
    look(p, &before);
    assert_int_equal(talus_problem_update_global(p, &bad.def), TALUS_ERR_PROBLEM);
    assert_int_equal(talus_problem_update_global(p, NULL), TALUS_ERR_ARG);
    look(p, &now);
    assert_same(&now, &before);
    talus_problem_destroy(p);
    const talus_local_def local = {.dim = 3};
    assert_int_equal(talus_problem_create_local(ctx, &local, &p), TALUS_OK);
    assert_int_equal(talus_problem_update_global(p, &s.def), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "local form cannot be updated"));
    talus_problem_destroy(p);
    forget(&before);
    forget(&now);
    rigid_clear(&s.build);
    rigid_clear(&bad.build);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_update_is_as_good_as_a_new_problem, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_diagonal_is_the_mass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(updates_settle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(updates_without_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(h_may_be_borrowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refused_update_changes_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
