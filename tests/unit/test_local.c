// SPDX-License-Identifier: Apache-2.0
// The one-contact solvers: exact values, special blocks, the pyramid's own law, and lane forms bit
// for bit. Random problems in number are in test_local_random.c.
#include "cone/local.h"
#include "support/cone_judge.h"
#include "support/local_cases.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const int dims[] = {2, 3, 6};
static const tl_local_control fine = {.tolerance = 1e-13, .iterations = 100};

// A problem with its own copies; inv by the judge's elimination.
typedef struct one {
    double w[36], inv[36], b[6];
    tl_local p;
} one;

static void one_make(one *x, int d, const double *w, const double *b, tl_law law) {
    double trace = 0.0, column[6] = {0}, unit[6];
    memset(x, 0, sizeof *x);
    memcpy(x->w, w, (size_t)(d * d) * sizeof *w);
    memcpy(x->b, b, (size_t)d * sizeof *b);
    for (int k = 0; k < d; k++) trace += w[k * d + k];
    for (int j = 0; j < d; j++) {
        memset(unit, 0, sizeof unit);
        unit[j] = 1.0;
        assert_true(verify_solve(d, w, unit, column));
        for (int i = 0; i < d; i++) x->inv[i * d + j] = column[i];
    }
    x->p = (tl_local){.w = x->w, .inv = x->inv, .b = x->b, .law = law, .rho = 1.0 / trace};
}

// Run a method: an exact one is called once, a step until it no longer moves.
static int run(const tl_local_solver *s, int d, const tl_local *p, double *r) {
    const tl_local_fn solve = s->forms->solve[tl_dim_index(d)];
    if (s->exact) return solve(p, &fine, r);
    for (int visit = 0; visit < 20000; visit++) {
        double last[6], change = 0.0, size = 0.0;
        memcpy(last, r, (size_t)d * sizeof *r);
        solve(p, &fine, r);
        for (int k = 0; k < d; k++) {
            change = fmax(change, fabs(r[k] - last[k]));
            size = fmax(size, fabs(r[k]));
        }
        if (change <= 1e-15 * size) return visit;
    }
    return 20000;
}

// ---- exact values ------------------------------------------------------------------------------

#define UNIT_3                                                                                     \
    { 1, 0, 0, 0, 1, 0, 0, 0, 1 }
#define W_3                                                                                        \
    { 2, .3, -.1, .3, 1.5, .2, -.1, .2, 1.2 }

static const struct {
    double w[9], b[3], mu, coulomb[3], associated[3];
} known_3[] = {
    {UNIT_3, {.5, 1, 0}, .5, {0, 0, 0}, {0, 0, 0}},
    {UNIT_3, {-1, .3, .2}, .5, {1, -.3, -.2}, {1, -.3, -.2}},
    {UNIT_3, {-1, 3, 4}, .5, {1, -.3, -.4}, {2.8, -.84, -1.12}},
    {UNIT_3, {-1, 2, 0}, .5, {1, -.5, 0}, {1.6, -.8, 0}},
    {W_3,
     {-1, 1, -.5},
     .3,
     {.524593490302, -.139982953313, .071920946099},
     {.692923870809, -.184626019241, .095530870327}},
    {W_3,
     {-1, 2, 1.5},
     1,
     {.552612081097, -.455192689089, -.313336445333},
     {1.093521667159, -.928102290430, -.578286931416}},
    {W_3, {.2, 1, -.5}, .3, {0, 0, 0}, {.070257195987, -.018836152344, .009457588899}},
};

// In 2D sliding is linear: (W_NN + s mu W_NT) r_N = −b_N, and for the associated law
// (W_NN + 2 s mu W_NT + mu² W_TT) r_N = −(b_N + s mu b_T), with r_T = s mu r_N.
static const struct {
    double w[4], b[2], mu, coulomb[2], associated[2];
} known_2[] = {
    {{1, 0, 0, 1}, {.5, 1}, .5, {0, 0}, {0, 0}},
    {{1, 0, 0, 1}, {-1, .3}, .5, {1, -.3}, {1, -.3}},
    {{1, 0, 0, 1}, {-1, 3}, .5, {1, -.5}, {2, -1}},
    {{2, .3, .3, 1.5}, {-1, 1}, .3, {1 / 1.91, -.3 / 1.91}, {1.3 / 1.955, -.39 / 1.955}},
    {{2, .3, .3, 1.5}, {-1, -2}, 1, {1 / 2.3, 1 / 2.3}, {3 / 4.1, 3 / 4.1}},
    {{2, .3, .3, 1.5}, {.2, 1}, .3, {0, 0}, {.1 / 1.955, -.03 / 1.955}},
};

static void check_known(const tl_local_solver *s, int d, const double *w, const double *b,
                        double mu, bool associated, const double *expected) {
    one x;
    double r[6] = {0};
    one_make(&x, d, w, b, (tl_law){mu, associated ? mu : 0.0, 0.0});
    const int steps = run(s, d, &x.p, r);
    double worst = 0.0;
    for (int k = 0; k < d; k++) worst = fmax(worst, fabs(r[k] - expected[k]));
    if (!(worst <= 1e-10) || steps < 0)
        print_error("%s, d = %d, %s, b = (%g, %g, ..), mu = %g: error %g after %d\n", s->name, d,
                    associated ? "associated" : "coulomb", b[0], b[1], mu, worst, steps);
    assert_true(worst <= 1e-10);
    assert_true(steps >= 0);
}

static void exact_values(void **state) {
    (void)state;
    for (const tl_local_solver *s = tl_local_solvers; s->name; s++) {
        if (strcmp(s->name, "pyramid") == 0 || strcmp(s->name, "four-sides") == 0)
            continue; // another law
        // The sources of these know Coulomb's law only; with strong dilatancy they may cycle.
        const bool plain = strcmp(s->name, "eal") == 0 || strcmp(s->name, "epdas") == 0 ||
                           strcmp(s->name, "ipdas") == 0;
        for (int law = 0; law < 2; law++) {
            const double mu_limit = plain && law ? 0.5 : INFINITY;
            for (size_t k = 0; k < sizeof known_3 / sizeof *known_3; k++)
                if (known_3[k].mu <= mu_limit)
                    check_known(s, 3, known_3[k].w, known_3[k].b, known_3[k].mu, law,
                                law ? known_3[k].associated : known_3[k].coulomb);
            for (size_t k = 0; k < sizeof known_2 / sizeof *known_2; k++)
                if (known_2[k].mu <= mu_limit)
                    check_known(s, 2, known_2[k].w, known_2[k].b, known_2[k].mu, law,
                                law ? known_2[k].associated : known_2[k].coulomb);
        }
    }
}

// The values above obey the law: judged case by case, so that a wrong table cannot stand.
static void exact_values_obey(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof known_3 / sizeof *known_3; k++)
        for (int law = 0; law < 2; law++) {
            const double *r = law ? known_3[k].associated : known_3[k].coulomb;
            const tl_law l = {known_3[k].mu, law ? known_3[k].mu : 0.0, 0.0};
            double u[3];
            verify_local_u(3, known_3[k].w, known_3[k].b, r, u);
            assert_true(judge_cases(3, &l, u, r, 1.0, 1.0) <= 1e-11);
        }
    for (size_t k = 0; k < sizeof known_2 / sizeof *known_2; k++)
        for (int law = 0; law < 2; law++) {
            const double *r = law ? known_2[k].associated : known_2[k].coulomb;
            const tl_law l = {known_2[k].mu, law ? known_2[k].mu : 0.0, 0.0};
            double u[2];
            verify_local_u(2, known_2[k].w, known_2[k].b, r, u);
            assert_true(judge_cases(2, &l, u, r, 1.0, 1.0) <= 1e-15);
        }
}

// Freezing the shift and solving the associated problem again and again leads to Coulomb's law: for
// W = 1, b = (−1, 2, 0), mu = 0.5 the shifts are 0.6, 0.72, 0.744, … → 0.75 (ratio 0.2).
static void frozen_shift(void **state) {
    (void)state;
    static const double w[9] = UNIT_3, shifts[] = {0.6, 0.72, 0.744, 0.7488, 0.74976};
    const tl_law associated = {.mu = 0.5, .zeta = 0.5};
    double shift = 0.0, r[3] = {0.0};
    for (int k = 0; k < 40; k++) {
        const double b[3] = {-1.0 + shift, 2.0, 0.0};
        one x;
        one_make(&x, 3, w, b, associated);
        assert_true(tl_local_hybrid.solve[1](&x.p, &fine, r) >= 0);
        shift = 0.5 * hypot(r[1] + 2.0, r[2]); // mu |u_T|, u = r + b
        if (k < 5) assert_true(fabs(shift - shifts[k]) <= 1e-12);
    }
    assert_true(fabs(shift - 0.75) <= 1e-12);
    assert_true(fabs(r[0] - 1.0) <= 1e-12 && fabs(r[1] + 0.5) <= 1e-12); // the Coulomb solution
}

static void table(void **state) {
    (void)state;
    assert_non_null(tl_local_find("hybrid"));
    assert_ptr_equal(tl_local_find("hybrid")->forms, &tl_local_hybrid);
    assert_null(tl_local_find("none"));
    for (const tl_local_solver *s = tl_local_solvers; s->name; s++) {
        assert_ptr_equal(tl_local_find(s->name), s);
        assert_true(s->summary && s->forms->solve[0] && s->forms->solve[1] && s->forms->solve[2]);
    }
}

// ---- special blocks ----------------------------------------------------------------------------

static const char *const careful[] = {"hybrid", "hybrid-newton", "hybrid-enum", "enum"};
enum { CAREFUL = 4 };

// Random symmetric W of given rank with eigenvalues of order one.
static void random_w(tl_rng *rng, int d, int rank, double *w) {
    double g[36];
    for (int k = 0; k < d * rank; k++) g[k] = tl_rng_normal(rng);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            w[i * d + j] = 0.0;
            for (int k = 0; k < rank; k++) w[i * d + j] += g[i * rank + k] * g[j * rank + k];
        }
}

// b = 0, b_N = −0, and numbers whose squares vanish: r is zero, or as small as b.
static void no_load(void **state) {
    (void)state;
    static const double mus[] = {0.0, 0.3, 5.0, INFINITY};
    tl_rng rng = {301};
    for (int k = 0; k < 400; k++) {
        const int d = dims[k % 3];
        double w[36] = {0}, b[6] = {0};
        one x;
        random_w(&rng, d, d, w);
        for (int i = 0; i < d; i++) w[i * d + i] += 1.0;
        const double mu = mus[k / 3 % 4];
        const tl_law law = {mu, k % 2 && !isinf(mu) ? mu : 0.0, 0.0};
        const int kind = k / 12 % 3;
        if (kind == 1) b[0] = -0.0;
        if (kind == 2)
            for (int i = 0; i < d; i++) b[i] = 1e-300 * tl_rng_normal(&rng);
        one_make(&x, d, w, b, law);
        for (int m = 0; m < CAREFUL; m++) {
            double r[6] = {0};
            if (m % 2 && kind < 2) r[0] = 1.0; // a start that must be forgotten
            const int steps =
                tl_local_find(careful[m])->forms->solve[tl_dim_index(d)](&x.p, &fine, r);
            double size = 0.0;
            for (int i = 0; i < d; i++) {
                assert_true(isfinite(r[i]));
                size = fmax(size, fabs(r[i]));
            }
            assert_true(size <= (kind == 2 ? 1e-299 : 1e-13));
            if (kind < 2 && m == 0) assert_true(size == 0.0 && steps >= 0);
        }
    }
    // b_N = −0 with sliding speed: open, or (associated) what b says.
    one x;
    const double w[9] = W_3, b[3] = {-0.0, 1.0, 0.0};
    double r[3] = {1.0, 1.0, 1.0};
    one_make(&x, 3, w, b, (tl_law){0.5, 0.0, 0.0});
    assert_true(tl_local_hybrid.solve[1](&x.p, &fine, r) >= 0);
    assert_true(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
}

// mu = 0: r_N = max(0, −b_N / W_NN). mu = inf: u_T = 0 and Signorini, checked case by case.
static void limits_of_mu(void **state) {
    (void)state;
    tl_rng rng = {302};
    for (int k = 0; k < 6000; k++) {
        const int d = dims[k % 3];
        double w[36] = {0}, b[6] = {0}, u[6] = {0};
        one x;
        random_w(&rng, d, d, w);
        for (int i = 0; i < d; i++) w[i * d + i] += 0.1;
        for (int i = 0; i < d; i++) b[i] = tl_rng_normal(&rng);
        const tl_law law = {k % 2 ? 0.0 : INFINITY, 0.0, 0.0};
        one_make(&x, d, w, b, law);
        for (const tl_local_solver *s = tl_local_solvers; s->name; s++) {
            double r[6] = {0};
            const bool is_enum = strcmp(s->name, "enum") == 0 || strncmp(s->name, "hybrid", 6) == 0;
            if (!is_enum && k > 600) continue;
            if (strcmp(s->name, "fb") != 0 && !is_enum && s->exact) continue;
            // The active set methods put r_T = 0 where r_N = 0: not the law at mu = inf.
            if (strstr(s->name, "pdas") && isinf(law.mu)) continue;
            if (run(s, d, &x.p, r) < 0) fail_msg("%s fails at mu = %g", s->name, law.mu);
            verify_local_u(d, w, b, r, u);
            const double wrong = judge_cases(d, &law, u, r, 1.0, 1.0);
            if (!(wrong <= 1e-9 * (1.0 + verify_norm(d, r))))
                fail_msg("%s, d = %d, mu = %g: %g", s->name, d, law.mu, wrong);
            if (law.mu == 0.0)
                assert_true(fabs(r[0] - fmax(0.0, -b[0] / w[0])) <= 1e-9 * (1.0 + r[0]));
        }
    }
}

// A singular W, of rank d − 1 or 1, as the sweeps hand it over: W + β with a small β.
static void singular_block(void **state) {
    (void)state;
    tl_rng rng = {303};
    for (int k = 0; k < 6000; k++) {
        const int d = dims[k % 3], rank = k / 3 % 2 ? d - 1 : 1;
        const double mu = tl_rng_range(&rng, 0.1, 1.0);
        double w[36] = {0}, b[6] = {0}, e[6] = {0}, u[6] = {0}, r[6] = {0}, wr[6] = {0};
        double trace = 0.0;
        one x;
        random_w(&rng, d, rank, w);
        for (int i = 0; i < d; i++) trace += w[i * d + i];
        for (int i = 0; i < d; i++) w[i * d + i] += 1e-8 * trace;
        judge_direction(&rng, d, e);
        const int kind = k / 6 % 3; // open, stick, slide
        r[0] = kind == 0 ? 0.0 : 1.0;
        u[0] = kind == 0 ? 1.0 : 0.0;
        for (int i = 1; i < d; i++) {
            r[i] = -(kind == 2 ? 1.0 : 0.5) * mu * r[0] * e[i];
            u[i] = kind == 1 ? 0.0 : e[i];
        }
        verify_multiply(d, d, w, r, wr);
        for (int i = 0; i < d; i++) b[i] = u[i] - wr[i];
        one_make(&x, d, w, b, (tl_law){mu, 0.0, 0.0});
        double z[6] = {0};
        const tl_local_control control = {.tolerance = 1e-10, .iterations = 100};
        assert_true(tl_local_hybrid.solve[tl_dim_index(d)](&x.p, &control, z) >= 0);
        assert_true(judge_local_error(d, &x.p, z, true) <= 1e-10);
    }
}

// W asymmetric by one per cent is solved as it is given.
static void asymmetric_block(void **state) {
    (void)state;
    tl_rng rng = {304};
    int failures[2][2] = {{0}};
    for (int k = 0; k < 20000; k++) {
        const int d = dims[k % 3], law = k / 3 % 2;
        const double mu = tl_rng_range(&rng, 0.0, 1.5);
        double w[36] = {0}, b[6] = {0}, most = 0.0;
        one x;
        random_w(&rng, d, d, w);
        for (int i = 0; i < d; i++) w[i * d + i] += 0.2;
        for (int i = 0; i < d * d; i++) most = fmax(most, fabs(w[i]));
        for (int i = 0; i < d; i++)
            for (int j = 0; j < i; j++) w[i * d + j] += 1e-2 * most * tl_rng_range(&rng, -1.0, 1.0);
        for (int i = 0; i < d; i++) b[i] = tl_rng_normal(&rng);
        one_make(&x, d, w, b, (tl_law){mu, law ? mu : 0.0, 0.0});
        for (int m = 0; m < 2; m++) {
            double r[6] = {0};
            const int steps =
                tl_local_find(m ? "enum" : "hybrid")->forms->solve[tl_dim_index(d)](&x.p, &fine, r);
            const double error = judge_local_error(d, &x.p, r, false);
            if (m == 1 && d == 6) continue;
            failures[m][law] += error > 1e-10;
            assert_true(steps < 0 || error <= 1e-12);
        }
    }
    assert_int_equal(failures[0][0] + failures[0][1], 0);
    assert_true(failures[1][0] + failures[1][1] <= 2);
}

// A step of `fb` takes F to zero along the slope that differences of F, worked out by the judge,
// have in its direction; half way where it was halved. Seen where the step is an improvement.
static void newton_step(void **state) {
    (void)state;
    tl_rng rng = {306};
    const tl_local_control one_step = {.tolerance = 1e-14, .iterations = 1};
    int whole = 0, halved = 0;
    for (int k = 0; k < 30000; k++) {
        const int d = dims[k % 3];
        const double mu = tl_rng_range(&rng, 0.1, 1.5), zeta = k % 2 ? mu : 0.0, h = 1e-6;
        double w[36] = {0}, b[6] = {0}, r[6] = {0}, to[6] = {0}, f[3][6], trace = 0.0;
        one x;
        random_w(&rng, d, d, w);
        for (int i = 0; i < d; i++) w[i * d + i] += 0.2;
        for (int i = 0; i < d; i++) trace += w[i * d + i];
        for (int i = 0; i < d; i++) b[i] = tl_rng_normal(&rng);
        for (int i = 0; i < d; i++) to[i] = r[i] = tl_rng_normal(&rng);
        one_make(&x, d, w, b, (tl_law){mu, zeta, 0.0});
        tl_local_find("fb")->forms->solve[tl_dim_index(d)](&x.p, &one_step, to);
        for (int side = 0; side < 3; side++) {
            double at[6] = {0}, u[6] = {0};
            for (int i = 0; i < d; i++) at[i] = r[i] + h * (side - 1) * (to[i] - r[i]);
            verify_local_u(d, w, b, at, u);
            judge_fb(d, &x.p.law, d / trace, u, at, f[side]);
        }
        double full = 0.0, half = 0.0;
        const double size = verify_norm(d, f[1]);
        for (int i = 0; i < d; i++) {
            const double slope = (f[2][i] - f[0][i]) / (2.0 * h);
            full = fmax(full, fabs(slope + f[1][i]));
            half = fmax(half, fabs(slope + 0.5 * f[1][i]));
        }
        if (memcmp(to, r, sizeof to) == 0) continue; // no improvement
        assert_true(fmin(full, half) <= 1e-6 * size);
        whole += full <= 1e-6 * size;
        halved += half <= 1e-6 * size;
    }
    print_message("%d whole steps, %d halved\n", whole, halved);
    assert_true(whole > 5000);
}

// ---- the pyramid -------------------------------------------------------------------------------

// Its fixed point obeys Coulomb's law component by component, with a box in place of the disc.
static void pyramid(void **state) {
    (void)state;
    tl_rng rng = {305};
    int pressed = 0, slid = 0;
    for (int k = 0; k < 6000; k++) {
        const int d = dims[k % 3];
        const double mu = k % 7 == 0   ? INFINITY
                          : k % 7 == 1 ? 0.0
                                       : tl_rng_range(&rng, 0.1, d == 6 ? 0.3 : 0.8);
        double w[36] = {0}, b[6] = {0}, u[6] = {0}, r[6] = {0};
        one x;
        random_w(&rng, d, d, w);
        for (int i = 0; i < d; i++) w[i * d + i] += 1.0;
        for (int i = 0; i < d; i++) b[i] = tl_rng_normal(&rng);
        one_make(&x, d, w, b, (tl_law){mu, 0.0, k % 5 == 0 ? 0.3 : 0.0});
        run(tl_local_find("pyramid"), d, &x.p, r);
        verify_local_u(d, w, b, r, u);
        const double limit = isinf(mu) ? INFINITY : x.p.law.yield + mu * r[0];
        assert_true(r[0] >= 0.0 && u[0] >= -1e-12 && fmin(r[0], u[0]) <= 1e-12);
        for (int i = 1; i < d; i++) {
            assert_true(fabs(r[i]) <= limit * (1.0 + 1e-15));
            if (fabs(r[i]) < limit * (1.0 - 1e-12))
                assert_true(fabs(u[i]) <= 1e-12); // held
            else if (limit > 0.0)
                assert_true(u[i] * (r[i] > 0.0 ? 1.0 : -1.0) <= 1e-12); // moves against r
            slid += fabs(u[i]) > 1e-9 && r[0] > 0.0;
        }
        pressed += r[0] > 0.0;
    }
    assert_true(pressed > 1000 && slid > 1000);
}

// ---- lanes -------------------------------------------------------------------------------------

static void lanes(void **state) {
    (void)state;
    static const char *const names[] = {"sbp", "sal", "epdas", "ipdas", "pyramid"};
    tl_rng rng = {306};
    int compared = 0;
    for (int k = 0; k < 3000; k++) {
        const int d = dims[k % 3], dd = d * d, index = tl_dim_index(d);
        double w[36 * TL_LANES] = {0}, law[3 * TL_LANES], rho[TL_LANES], b[6 * TL_LANES] = {0};
        double start[6 * TL_LANES] = {0};
        local_case c[TL_LANES];
        for (int l = 0; l < TL_LANES; l++) {
            const bool associated = tl_rng_unit(&rng) < 0.5;
            local_case_make(&rng, d, associated, (int)(tl_rng_unit(&rng) * LOCAL_CASE_KINDS),
                            &c[l]);
            tl_local *p = &c[l].problem;
            if (tl_rng_unit(&rng) < 0.05) p->law = (tl_law){INFINITY, 0.0, 0.0};
            if (tl_rng_unit(&rng) < 0.2) p->law.yield = tl_rng_unit(&rng);
            if (tl_rng_unit(&rng) < 0.2 && !isinf(p->law.mu)) p->law.zeta = 0.5 * p->law.mu;
            for (int i = 0; i < dd; i++) w[i * TL_LANES + l] = p->w[i];
            for (int i = 0; i < d; i++) {
                b[i * TL_LANES + l] = p->b[i];
                start[i * TL_LANES + l] = k % 4 ? p->b[i] / p->w[0] * tl_rng_normal(&rng) : 0.0;
            }
            law[l] = p->law.mu;
            law[TL_LANES + l] = p->law.zeta;
            law[2 * TL_LANES + l] = p->law.yield;
            rho[l] = p->rho;
        }
        for (int m = 0; m < 5; m++) {
            const tl_local_forms *forms = tl_local_find(names[m])->forms;
            double r[6 * TL_LANES];
            memcpy(r, start, sizeof r);
            for (int visit = 0; visit < 3; visit++) forms->lanes[index](w, law, rho, b, r);
            for (int l = 0; l < TL_LANES; l++) {
                double x[6] = {0}, y[6] = {0};
                for (int i = 0; i < d; i++) x[i] = start[i * TL_LANES + l];
                for (int visit = 0; visit < 3; visit++)
                    forms->solve[index](&c[l].problem, &fine, x);
                for (int i = 0; i < d; i++) y[i] = r[i * TL_LANES + l];
                if (memcmp(x, y, sizeof x) != 0)
                    fail_msg("%s, d = %d, lane %d: %.17g %.17g, scalar %.17g %.17g", names[m], d, l,
                             y[0], y[1], x[0], x[1]);
                compared++;
            }
        }
    }
    assert_int_equal(compared, 3000 * 5 * TL_LANES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_values),   cmocka_unit_test(exact_values_obey),
        cmocka_unit_test(frozen_shift),   cmocka_unit_test(table),
        cmocka_unit_test(no_load),        cmocka_unit_test(limits_of_mu),
        cmocka_unit_test(singular_block), cmocka_unit_test(asymmetric_block),
        cmocka_unit_test(newton_step),    cmocka_unit_test(pyramid),
        cmocka_unit_test(lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
