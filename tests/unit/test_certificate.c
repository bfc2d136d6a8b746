// SPDX-License-Identifier: Apache-2.0
// The certificate: known solutions, an independent second opinion on random states, invariance
// under every change of units, masses and axes, and nothing bad that stays hidden.
#include "base/context.h"
#include "base/rng.h"
#include "support/solve_cases.h"
#include "support/spec_case.h"
#include "support/verify.h"
#include "talus/problem.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static talus_context *make_context(void) {
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    return ctx;
}

static talus_certificate certify(const talus_problem *p, const double *r) {
    talus_certificate c;
    assert_int_equal(talus_certify(p, r, &c), TALUS_OK);
    assert_int_equal(c.open + c.stick + c.slip, talus_problem_get_info(p).count);
    return c;
}

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double skewed[9] = {2, .3, -.1, .3, 1.5, .2, -.1, .2, 1.2};

typedef struct one_contact {
    const double *w;
    double b[3], mu;
    talus_law law;
    double r[3];
    char status; // open, stick, slide
} one_contact;

// Solutions known exactly, or to the twelve decimals given.
static const one_contact known[] = {
    {identity, {-1, 2, 0}, .5, TALUS_LAW_COULOMB, {1, -.5, 0}, 'l'},
    {identity, {-1, 2, 0}, .5, TALUS_LAW_ASSOCIATED, {1.6, -.8, 0}, 'l'},
    {identity, {.5, 1, 0}, .5, TALUS_LAW_COULOMB, {0, 0, 0}, 'o'},
    {identity, {-1, .3, .2}, .5, TALUS_LAW_COULOMB, {1, -.3, -.2}, 't'},
    {identity, {-1, 3, 4}, .5, TALUS_LAW_COULOMB, {1, -.3, -.4}, 'l'},
    {identity, {-1, 3, 4}, .5, TALUS_LAW_ASSOCIATED, {2.8, -.84, -1.12}, 'l'},
    {skewed,
     {-1, 1, -.5},
     .3,
     TALUS_LAW_COULOMB,
     {.524593490302, -.139982953313, .071920946099},
     'l'},
    {skewed,
     {-1, 1, -.5},
     .3,
     TALUS_LAW_ASSOCIATED,
     {.692923870809, -.184626019241, .095530870327},
     'l'},
    {skewed,
     {-1, 2, 1.5},
     1,
     TALUS_LAW_COULOMB,
     {.552612081097, -.455192689089, -.313336445333},
     'l'},
    {skewed,
     {-1, 2, 1.5},
     1,
     TALUS_LAW_ASSOCIATED,
     {1.093521667159, -.928102290430, -.578286931416},
     'l'},
    {skewed, {.2, 1, -.5}, .3, TALUS_LAW_COULOMB, {0, 0, 0}, 'o'},
    {skewed,
     {.2, 1, -.5},
     .3,
     TALUS_LAW_ASSOCIATED,
     {.070257195987, -.018836152344, .009457588899},
     'l'},
};

static void known_one_contact_solutions(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const one_contact *t = &known[k];
        const double tolerance = t->w == identity ? 1e-15 : 3e-12;
        talus_problem *p =
            solve_dense(ctx, 3, 1, t->w, t->b, (talus_law_view){.law = t->law, .mu = &t->mu});
        const talus_certificate c = certify(p, t->r);
        if (!(c.residual <= tolerance && c.natural <= tolerance && c.cone <= tolerance &&
              c.complementarity <= 2 * tolerance && c.penetration <= tolerance))
            fail_msg("case %d: residual %g, natural %g", (int)k, c.residual, c.natural);
        assert_int_equal(c.open, t->status == 'o');
        assert_int_equal(c.stick, t->status == 't');
        assert_int_equal(c.slip, t->status == 'l');
        assert_true(c.motion == 0.0);
        // The other law does not hold, except where there is no sliding to tell them apart.
        talus_problem_set_law(p, t->law == TALUS_LAW_COULOMB ? TALUS_LAW_ASSOCIATED
                                                             : TALUS_LAW_COULOMB);
        const double other = certify(p, t->r).residual;
        assert_true(t->status == 't' || (t->b[0] > .4) ? other <= tolerance : other > 1e-3);
        talus_problem_destroy(p);
    }
    talus_context_destroy(ctx);
}

// What the figures are, on numbers small enough to do by hand.
static void figures_by_hand(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    const double mu = .5, b[3] = {-1, 3, 4};
    talus_problem *p = solve_dense(ctx, 3, 1, identity, b, (talus_law_view){.mu = &mu});
    const double solved[3] = {1, -.3, -.4}, outside[3] = {0, 2, 0};
    talus_certificate c = certify(p, solved);
    assert_true(fabs(c.energy - 2.25) < 1e-15); // u = (0, 2.7, 3.6)
    c = certify(p, outside); // u = (−1, 5, 4): distance of (0, 2) to |t| <= n/2
    assert_true(fabs(c.cone - 2.0 * cos(atan(.5))) < 1e-15);
    assert_true(c.penetration == 1.0);
    assert_true(fabs(c.energy + 10.0) < 1e-14);
    assert_true(fabs(c.complementarity - 10.0) < 1e-14);
    talus_problem_destroy(p);

    // Yield 0.2 and tension 0.3 in 2D: slides with l = (1.3, −0.2 − 0.65), u = (0, 1.15).
    const double w[4] = {1, 0, 0, 1}, q[2] = {-1, 2}, yield = .2, tension = .3, r[2] = {1, -.85};
    p = solve_dense(ctx, 2, 1, w, q,
                    (talus_law_view){.mu = &mu, .yield = &yield, .tension = &tension});
    c = certify(p, r);
    assert_true(c.residual <= 1e-15 && c.natural <= 1e-15 && c.complementarity <= 1e-15);
    assert_true(c.cone <= 1e-15);
    assert_int_equal(c.slip, 1);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// The worked example: three contacts, one constraint; in global form with coupled M, and with the
// constraint eliminated by hand in local form. Both must judge alike.
static void worked_example(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    int32_t body_start[8], h_body[21], m_index[49], c_index[7];
    int64_t h_row_start[4] = {0, 7, 14, 21}, m_start[8], c_start[2] = {0, 7};
    double h_block[63];
    for (int k = 0; k < 8; k++) body_start[k] = k;
    for (int k = 0; k < 8; k++) m_start[k] = 7 * k;
    for (int k = 0; k < 49; k++) m_index[k] = k % 7;
    for (int k = 0; k < 21; k++) h_body[k] = k % 7;
    for (int k = 0; k < 7; k++) c_index[k] = k;
    for (int i = 0; i < 3; i++)
        for (int b = 0; b < 7; b++)
            for (int x = 0; x < 3; x++) h_block[(i * 7 + b) * 3 + x] = spec_h[(i * 3 + x) * 7 + b];
    const talus_global_def def = {.dim = 3,
                                  .count = 3,
                                  .body_count = 7,
                                  .body_start = body_start,
                                  .mass = {7, 7, m_start, m_index, spec_m},
                                  .h_row_start = h_row_start,
                                  .h_body = h_body,
                                  .h_block = h_block,
                                  .f = spec_f,
                                  .w = spec_w,
                                  .c = {1, 7, c_start, c_index, spec_c},
                                  .k = spec_k,
                                  .law = {.mu = spec_mu}};
    talus_problem *global, *local;
    assert_int_equal(talus_problem_create_global(ctx, &def, &global), TALUS_OK);

    double w[81], q[9], v[7], zero[9] = {0};
    assert_true(verify_global_state(9, 7, 1, spec_m, spec_h, spec_c, spec_f, spec_k, spec_w, zero,
                                    v, q, NULL));
    for (int j = 0; j < 9; j++) {
        double unit[9] = {0}, u[9];
        unit[j] = 1.0;
        assert_true(verify_global_state(9, 7, 1, spec_m, spec_h, spec_c, zero, zero, zero, unit, v,
                                        u, NULL));
        for (int i = 0; i < 9; i++) w[i * 9 + j] = u[i];
    }
    local = solve_dense(ctx, 3, 3, w, q, def.law);

    talus_certificate c = certify(global, spec_r_coulomb);
    assert_true(c.residual < 2e-8 && c.natural < 2e-8 && c.motion < 1e-15);
    assert_true(c.open == 1 && c.stick == 1 && c.slip == 1);
    assert_true(certify(global, spec_r_associated).residual > 1e-2);
    talus_problem_set_law(global, TALUS_LAW_ASSOCIATED);
    c = certify(global, spec_r_associated);
    assert_true(c.residual < 2e-8 && c.natural < 2e-8);
    assert_true(certify(global, spec_r_coulomb).residual > 1e-2);
    talus_problem_set_law(global, TALUS_LAW_COULOMB);

    tl_rng rng = {1};
    for (int trial = 0; trial < 20; trial++) {
        double r[9];
        for (int k = 0; k < 9; k++) r[k] = tl_rng_normal(&rng);
        const talus_certificate a = certify(global, r), b = certify(local, r);
        assert_true(fabs(a.residual - b.residual) <= 1e-12 * b.residual);
        assert_true(fabs(a.natural - b.natural) <= 1e-12 * b.natural);
        assert_int_equal(a.worst, b.worst);
    }
    talus_problem_destroy(global);
    talus_problem_destroy(local);
    talus_context_destroy(ctx);
}

// λmax of a symmetric PSD matrix by a long power iteration: slow, and shares nothing.
static double power_iteration(int d, const double *w, int stride) {
    double x[6] = {1, .9, .8, .7, .6, .5}, y[6] = {0}, value = 0.0;
    for (int k = 0; k < 20000; k++) {
        for (int i = 0; i < d; i++) {
            y[i] = 0.0;
            for (int j = 0; j < d; j++) y[i] += w[i * stride + j] * x[j];
        }
        value = verify_norm(d, y);
        for (int i = 0; i < d; i++) x[i] = y[i] / value;
    }
    return value;
}

// Random states under random laws: `natural` and `residual` again, from their definitions.
static void second_opinion(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    tl_rng rng = {99};
    const int dims[] = {2, 3, 6};
    enum { N = 4 };
    for (int trial = 0; trial < 300; trial++) {
        const int d = dims[trial % 3], size = d * N;
        double a[576], w[576], q[24], r[24], u[24], mu[N], zeta[N], yield[N], tension[N];
        for (int k = 0; k < size * size; k++) a[k] = tl_rng_normal(&rng);
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                w[i * size + j] = 0.0;
                for (int k = 0; k < size; k++)
                    w[i * size + j] +=
                        a[(i < j ? i : j) * size + k] * a[(i < j ? j : i) * size + k];
            }
        for (int k = 0; k < size; k++) {
            q[k] = tl_rng_normal(&rng);
            r[k] = 0.1 * tl_rng_normal(&rng);
        }
        for (int i = 0; i < N; i++) {
            const double kind = tl_rng_unit(&rng);
            mu[i] = kind < .1 ? 0.0 : kind < .2 ? INFINITY : tl_rng_range(&rng, 0.0, 3.0);
            zeta[i] = isinf(mu[i]) ? 0.0 : mu[i] * tl_rng_unit(&rng);
            yield[i] = 0.1 * tl_rng_unit(&rng);
            tension[i] = 0.1 * tl_rng_unit(&rng);
        }
        const bool associated = trial % 2, plain = trial % 5 == 0;
        const talus_law_view law = {.law = associated ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB,
                                    .mu = mu,
                                    .dilatancy = plain ? NULL : zeta,
                                    .yield = plain ? NULL : yield,
                                    .tension = plain ? NULL : tension};
        talus_problem *p = solve_dense(ctx, d, N, w, q, law);
        const talus_certificate c = certify(p, r);
        verify_local_u(size, w, q, r, u);
        const double natural = verify_natural_full(d, N, mu, law.dilatancy, law.yield, law.tension,
                                                   associated, u, r, verify_norm(size, q));
        assert_true(fabs(c.natural - natural) <= 1e-12 * natural);

        double residual = 0.0, scale = 0.0;
        for (int i = 0; i < N; i++) {
            const double stiffness = power_iteration(d, w + (i * d) * size + i * d, size);
            double ui[6];
            for (int k = 0; k < d; k++) ui[k] = u[i * d + k] / stiffness;
            const double one =
                verify_natural_full(d, 1, mu + i, plain ? NULL : zeta + i, plain ? NULL : yield + i,
                                    plain ? NULL : tension + i, associated, ui, r + i * d, 0.0);
            residual = fmax(residual, one * sqrt(stiffness));
            scale = fmax(scale, verify_norm(d, q + i * d) / sqrt(stiffness));
        }
        if (!(fabs(c.residual - residual / scale) <= 1e-9 * residual / scale))
            fail_msg("trial %d: residual %.15g, not %.15g", trial, c.residual, residual / scale);
        talus_problem_destroy(p);
    }
    talus_context_destroy(ctx);
}

// A scene of rigid bodies to change units and axes of: velocity and angular velocity (3 + 3).
enum { BODIES = 3, CONTACTS = 4, DOF = 6 * BODIES };

typedef struct scene {
    double m[BODIES][36], h[CONTACTS][2][18], f[DOF], w[CONTACTS * 3], r[CONTACTS * 3];
    double mu[CONTACTS], yield[CONTACTS], tension[CONTACTS];
    int32_t body[CONTACTS][2];
} scene;

static void scene_fill(scene *s) {
    tl_rng rng = {2024};
    for (int b = 0; b < BODIES; b++) {
        double a[9];
        for (int k = 0; k < 9; k++) a[k] = 0.2 * tl_rng_normal(&rng);
        memset(s->m[b], 0, sizeof s->m[b]);
        for (int i = 0; i < 3; i++) {
            s->m[b][i * 6 + i] = 1.0 + b;
            for (int j = 0; j < 3; j++) {
                double sum = i == j ? .3 : 0.0;
                for (int k = 0; k < 3; k++) sum += a[i * 3 + k] * a[j * 3 + k];
                s->m[b][(3 + i) * 6 + 3 + j] = sum;
            }
        }
    }
    for (int i = 0; i < CONTACTS; i++) {
        s->body[i][0] = i < 3 ? i % 2 : 0;
        s->body[i][1] = i < 3 ? 2 : 1;
        for (int k = 0; k < 18; k++) {
            s->h[i][0][k] = tl_rng_normal(&rng);
            s->h[i][1][k] = tl_rng_normal(&rng);
        }
        s->mu[i] = .2 + .2 * i;
        s->yield[i] = .05 * i;
        s->tension[i] = .1 * (i % 2);
    }
    for (int k = 0; k < DOF; k++) s->f[k] = tl_rng_normal(&rng);
    for (int k = 0; k < CONTACTS * 3; k++) {
        s->w[k] = tl_rng_normal(&rng);
        s->r[k] = tl_rng_normal(&rng);
    }
}

static double scene_residual(talus_context *ctx, const scene *s) {
    const int32_t body_start[BODIES + 1] = {0, 6, 12, 18};
    int64_t start[CONTACTS + 1];
    for (int i = 0; i <= CONTACTS; i++) start[i] = 2 * i;
    const talus_global_def def = {.dim = 3,
                                  .count = CONTACTS,
                                  .body_count = BODIES,
                                  .body_start = body_start,
                                  .mass_block = s->m[0],
                                  .h_row_start = start,
                                  .h_body = s->body[0],
                                  .h_block = s->h[0][0],
                                  .f = s->f,
                                  .w = s->w,
                                  .law = {.mu = s->mu, .yield = s->yield, .tension = s->tension}};
    talus_problem *p;
    if (talus_problem_create_global(ctx, &def, &p) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(ctx));
    const double residual = certify(p, s->r).residual;
    talus_problem_destroy(p);
    return residual;
}

// The same scene measured in units `length`, `mass` and `time` times smaller.
static void change_units(scene *s, double length, double mass, double time) {
    const double speed = length / time, energy = mass * speed * speed;
    const double unit[2] = {speed, 1.0 / time}; // of the velocities of a body
    for (int b = 0; b < BODIES; b++)
        for (int k = 0; k < 36; k++) s->m[b][k] *= energy / (unit[k / 6 / 3] * unit[k % 6 / 3]);
    for (int i = 0; i < CONTACTS; i++)
        for (int k = 0; k < 36; k++) s->h[i][k / 18][k % 18] *= speed / unit[k % 6 / 3];
    for (int k = 0; k < DOF; k++) s->f[k] *= energy / unit[k % 6 / 3];
    for (int k = 0; k < CONTACTS * 3; k++) {
        s->w[k] *= speed;
        s->r[k] *= mass * speed;
    }
    for (int i = 0; i < CONTACTS; i++) {
        s->yield[i] *= mass * speed;
        s->tension[i] *= mass * speed;
    }
}

static void turn(double angle, double *x, double *y) {
    const double a = cos(angle) * *x - sin(angle) * *y, b = sin(angle) * *x + cos(angle) * *y;
    *x = a;
    *y = b;
}

// Turn the tangential axes of every contact by its own angle.
static void turn_tangents(scene *s) {
    for (int i = 0; i < CONTACTS; i++) {
        const double angle = .7 + i;
        for (int b = 0; b < 2; b++)
            for (int e = 0; e < 6; e++) turn(angle, &s->h[i][b][6 + e], &s->h[i][b][12 + e]);
        turn(angle, &s->w[3 * i + 1], &s->w[3 * i + 2]);
        turn(angle, &s->r[3 * i + 1], &s->r[3 * i + 2]);
    }
}

// Turn the world: velocities, and what acts on them, about z and then about x.
static void turn_world(scene *s, double angle, int a, int b) {
    for (int k = 0; k < DOF; k += 3) turn(angle, &s->f[k + a], &s->f[k + b]);
    for (int i = 0; i < CONTACTS; i++)
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < 18; k += 3)
                turn(angle, &s->h[i][side][k + a], &s->h[i][side][k + b]);
    for (int body = 0; body < BODIES; body++)
        for (int half = 0; half < 2; half++)
            for (int k = 0; k < 6; k++) { // rows of R M, then columns of (R M) Rᵀ
                double *m = s->m[body];
                turn(angle, &m[(3 * half + a) * 6 + k], &m[(3 * half + b) * 6 + k]);
            }
    for (int body = 0; body < BODIES; body++)
        for (int half = 0; half < 2; half++)
            for (int k = 0; k < 6; k++) {
                double *m = s->m[body];
                turn(angle, &m[k * 6 + 3 * half + a], &m[k * 6 + 3 * half + b]);
            }
}

static void residual_has_no_units_and_no_axes(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    static scene s;
    scene_fill(&s);
    const double expected = scene_residual(ctx, &s), tolerance = 1e-12 * expected;
    assert_true(expected > 0.1);
    const double units[][3] = {
        {1e3, 1, 1}, {1, 1e-3, 1}, {1, 1, 3600}, {1e-6, 7.3e4, 1e-3}, {.3048, .4536, 60}};
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        scene_fill(&s);
        change_units(&s, units[k][0], units[k][1], units[k][2]);
        assert_true(fabs(scene_residual(ctx, &s) - expected) <= tolerance);
    }
    scene_fill(&s);
    turn_tangents(&s);
    assert_true(fabs(scene_residual(ctx, &s) - expected) <= tolerance);
    scene_fill(&s);
    turn_world(&s, .4, 0, 1);
    turn_world(&s, 1.3, 1, 2);
    assert_true(fabs(scene_residual(ctx, &s) - expected) <= tolerance);
    scene_fill(&s);
    turn_world(&s, -2.0, 0, 2);
    turn_tangents(&s);
    change_units(&s, 1e2, 1e-5, 1e-1);
    assert_true(fabs(scene_residual(ctx, &s) - expected) <= tolerance);
    talus_context_destroy(ctx);
}

// Away from a solution the residual grows in proportion; the worst block is where it was disturbed.
static void residual_grows_with_the_error(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    const double b[3] = {-1, 3, 4}, mu = .5;
    talus_problem *p = solve_dense(ctx, 3, 1, identity, b, (talus_law_view){.mu = &mu});
    double last = certify(p, (const double[3]){1, -.3, -.4}).residual;
    for (double error = 1e-12; error < 1e-1; error *= 10) {
        const double r[3] = {1 + error, -.3 - error, -.4};
        const talus_certificate c = certify(p, r);
        assert_true(c.residual > 3 * last && c.residual > .01 * error && c.residual < error);
        assert_int_equal(c.worst, 0);
        last = c.residual;
    }
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

static void assert_not_small(double x) { assert_int_equal(x <= 1e300 ? 1 : 0, 0); }

// Not a number anywhere in r: no figure that a tolerance is compared with may pass.
static void nothing_bad_is_hidden(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    double w[81] = {0};
    for (int k = 0; k < 9; k++) w[k * 10] = 1.0; // contacts do not touch each other
    const double q[9] = {-1, 0, 0, -1, 0, 0, -1, 0, 0}, mu[3] = {.5, INFINITY, 0};
    talus_problem *p = solve_dense(ctx, 3, 3, w, q, (talus_law_view){.mu = mu});
    const double good[9] = {1, 0, 0, 1, 0, 0, 1, 0, 0};
    assert_true(certify(p, good).residual == 0.0);
    assert_int_equal(certify(p, good).worst, -1);
    for (int bad = 0; bad < 9; bad++)
        for (int kind = 0; kind < 3; kind++) {
            double r[9];
            memcpy(r, good, sizeof r);
            r[bad] = kind == 0 ? NAN : kind == 1 ? INFINITY : -INFINITY;
            const talus_certificate c = certify(p, r);
            assert_not_small(c.natural);
            assert_not_small(c.residual);
            assert_not_small(c.complementarity);
            if (kind == 0) {
                assert_not_small(c.cone);
                assert_not_small(fabs(c.energy));
                assert_int_equal(c.worst, bad / 3);
                if (bad % 3 == 0) assert_not_small(c.penetration);
            }
        }
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// q = 0 leaves no scale: r = 0 is right, anything else is not.
static void without_a_scale(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    const double q[3] = {0}, mu = .5, zero[3] = {0}, some[3] = {1, 0, 0};
    talus_problem *p = solve_dense(ctx, 3, 1, identity, q, (talus_law_view){.mu = &mu});
    talus_certificate c = certify(p, zero);
    assert_true(c.residual == 0.0 && c.natural == 0.0);
    assert_int_equal(c.open, 1);
    c = certify(p, some);
    assert_true(isinf(c.residual));
    assert_int_equal(c.worst, 0);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// After the first one a certificate allocates nothing: a solver may ask for it in its loop.
static void later_certificates_allocate_nothing(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    const double q[3] = {-1, 0, 0}, mu = .5, r[3] = {1, 0, 0};
    talus_problem *p = solve_dense(ctx, 3, 1, identity, q, (talus_law_view){.mu = &mu});
    certify(p, r);
    const int64_t before = tl_alloc_count(ctx);
    certify(p, r);
    assert_int_equal(tl_alloc_count(ctx), before);
    talus_problem_destroy(p);
    talus_context_destroy(ctx);
}

// Blocks are judged part by part: the figures are those of all parts, with the same bits for any
// number of threads. Each block is alone, W = 1, and one of the last part has too much impulse.
static void many_blocks(void **state) {
    (void)state;
    enum { COUNT = 2500, BAD = 2200 };
    static const double b[3][3] = {{.5, 1, 0}, {-1, .3, .2}, {-1, 3, 4}}; // opens, sticks, slides
    static const double good[3][3] = {{0, 0, 0}, {1, -.3, -.2}, {1, -.3, -.4}};
    static int32_t body_start[COUNT + 1], body[COUNT];
    static int64_t start[COUNT + 1];
    static double mass[3 * COUNT], f[3 * COUNT], w[3 * COUNT], h[9 * COUNT], mu[COUNT],
        r[3 * COUNT];
    talus_certificate first;
    for (int32_t i = 0; i < COUNT; i++) {
        body_start[i + 1] = 3 * (i + 1);
        start[i + 1] = i + 1;
        body[i] = i;
        mu[i] = .5;
        memcpy(h + 9 * (size_t)i, identity, sizeof identity);
        memcpy(w + 3 * (size_t)i, b[i % 3], sizeof b[0]);
        memcpy(r + 3 * (size_t)i, good[i % 3], sizeof good[0]);
        for (int k = 0; k < 3; k++) mass[3 * i + k] = 1.0;
    }
    r[3 * BAD] += .5;
    for (int threads = 1; threads <= 3; threads++) {
        talus_context *ctx = make_context();
        talus_problem *p = NULL;
        const talus_global_def def = {.dim = 3,
                                      .count = COUNT,
                                      .body_count = COUNT,
                                      .body_start = body_start,
                                      .mass_diagonal = mass,
                                      .h_row_start = start,
                                      .h_body = body,
                                      .h_block = h,
                                      .f = f,
                                      .w = w,
                                      .threads = threads,
                                      .law = {.mu = mu}};
        assert_int_equal(talus_problem_create_global(ctx, &def, &p), TALUS_OK);
        const talus_certificate c = certify(p, r);
        if (threads == 1) first = c;
        assert_memory_equal(&c, &first, sizeof c);
        assert_int_equal(c.worst, BAD);
        assert_int_equal(c.open, (COUNT + 2) / 3);
        assert_int_equal(c.stick, (COUNT + 1) / 3);
        assert_int_equal(c.slip, COUNT / 3);
        assert_true(fabs(c.residual - .5 / sqrt(26.0)) < 1e-12); // over the largest load
        assert_true(fabs(c.energy - (COUNT / 3 * 2.25 - .75)) < 1e-9);
        talus_problem_destroy(p);
        talus_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_blocks),
        cmocka_unit_test(known_one_contact_solutions),
        cmocka_unit_test(figures_by_hand),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(second_opinion),
        cmocka_unit_test(residual_has_no_units_and_no_axes),
        cmocka_unit_test(residual_grows_with_the_error),
        cmocka_unit_test(nothing_bad_is_hidden),
        cmocka_unit_test(without_a_scale),
        cmocka_unit_test(later_certificates_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
