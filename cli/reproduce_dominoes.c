// SPDX-License-Identifier: Apache-2.0
// v-dominoes: the speed at which a row of dominoes falls, against the theory of J. M. J. van
// Leeuwen (The domino effect, Am. J. Phys. 78, 721, 2010). Heights, masses and g are 1: speeds are
// in √(g height), times in √(height/g). Thickness d, free distance s, pitch p = s + d.
//
// The theory: a domino turns about its lower front edge, does not slip there, and once hit leans on
// the next one for good. With angles θ from the vertical, domino i on domino i+1,
//     sin δ = p cos θ_{i+1} − d,    δ = θ_i − θ_{i+1},    t = cos δ − p sin θ_{i+1}, (1)
// t being the height, along the face of i+1, of the edge of i that slides down on it. All angles
// follow from that of the head. A force f between them, with friction mu f against the sliding,
// turns i by −f (cos δ + mu sin δ) and i+1 by f (t − mu d). Weights
//     c_i (cos δ + mu sin δ) = c_{i+1} (t − mu d),    c_head = 1 (2)
// take all f out of the equations of motion I ω̇_i = T_i + …, T = (sin θ − d cos θ)/2:
//     Σ c_i (I ω̇_i − T_i) = 0 between two hits,    Σ c_i I (ω_i⁺ − ω_i⁻) = 0 at a hit (3)
// where the head, then at θ = arcsin s, makes the next one the head, with equal spins. Without
// friction c_i = dθ_i/dθ_head and (3) says that energy is kept between hits.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>

typedef struct domino_setup {
    double s, d, mu;
    int count;
    double push; // spin of the first at the start
    double step;
    bool hinged; // to the table by their front edges; else they stand on it, with friction 1
} domino_setup;

// Sums over the dominoes 0..head of (3) where the head is at angle θ: Σ c I dθ_i/dθ, Σ c I
// d²θ_i/dθ², Σ c T.
static void domino_sums(const domino_setup *x, int head, double theta, double sum[3]) {
    const double p = x->s + x->d, inertia = (1.0 + x->d * x->d) / 3.0;
    double angle = theta, first = 1.0, second = 0.0, c = 1.0;
    sum[0] = inertia;
    sum[1] = 0.0;
    sum[2] = 0.5 * (sin(angle) - x->d * cos(angle));
    for (int i = head - 1; i >= 0; i--) {
        const double delta = asin(p * cos(angle) - x->d), slope = p * sin(angle) / cos(delta);
        // derivatives of θ_i = θ_{i+1} + δ(θ_{i+1})
        const double once = 1.0 - slope;
        const double twice = slope * slope * tan(delta) - p * cos(angle) / cos(delta);
        c *= (cos(delta) - p * sin(angle) - x->mu * x->d) / (cos(delta) + x->mu * sin(delta));
        second = twice * first * first + once * second;
        first *= once;
        angle += delta;
        sum[0] += c * inertia * first;
        sum[1] += c * inertia * second;
        sum[2] += 0.5 * c * (sin(angle) - x->d * cos(angle));
    }
}

// dE/dθ of E = ω²/2 of the head, from (3).
static double domino_slope(const domino_setup *x, int head, double theta, double energy) {
    double sum[3];
    domino_sums(x, head, theta, sum);
    return (sum[2] - 2.0 * energy * sum[1]) / sum[0];
}

// When each domino is hit (the first: 0) by the theory; not finite from where the row stops on.
static void domino_theory(const domino_setup *x, double *hit) {
    enum { STEPS = 200 }; // Runge-Kutta in θ, Simpson's rule for the time: errors below 1e-8
    const double end = asin(x->s), k = end / STEPS, inertia = (1.0 + x->d * x->d) / 3.0;
    const double passed = (cos(end) - x->mu * x->d) / (cos(end) + x->mu * x->s);
    double spin = x->push;
    hit[0] = 0.0;
    for (int head = 0; head + 1 < x->count; head++) {
        double energy = 0.5 * spin * spin, time = hit[head];
        for (int i = 0; i < STEPS; i++) {
            const double theta = i * k;
            const double a = domino_slope(x, head, theta, energy);
            const double b = domino_slope(x, head, theta + 0.5 * k, energy + 0.5 * k * a);
            const double c = domino_slope(x, head, theta + 0.5 * k, energy + 0.5 * k * b);
            const double e = domino_slope(x, head, theta + k, energy + k * c);
            const double next = energy + k * (a + 2.0 * (b + c) + e) / 6.0;
            const double middle = 0.5 * (energy + next) + 0.125 * k * (a - e);
            if (next <= 0.0) time = INFINITY;
            time += k *
                    (1.0 / sqrt(2.0 * energy) + 4.0 / sqrt(2.0 * middle) + 1.0 / sqrt(2.0 * next)) /
                    6.0;
            energy = fmax(next, 0.0);
        }
        double sum[3];
        domino_sums(x, head, end, sum);
        spin = sqrt(2.0 * energy) * passed * sum[0] / (passed * sum[0] + inertia);
        hit[head + 1] = time;
    }
}

typedef struct domino_run {
    double *hit;
    int first; // body of the first domino
    int count, next;
} domino_run;

// A domino counts as hit when it turns with a spin of 0.05; a hit gives it several times as much.
static void domino_each(void *user, const talus_world *w, const talus_ledger *l) {
    domino_run *run = user;
    talus_body_view b;
    talus_world_bodies(w, &b);
    while (run->next < run->count && b.spin[3 * (ptrdiff_t)(run->first + run->next) + 2] < -0.05)
        run->hit[run->next++] = l->time - 0.5 * l->h;
}

static bool domino_world(reproduce *r, const domino_setup *x, talus_world **out) {
    talus_world_def def = talus_world_default();
    talus_material_def tile = talus_material_default(), table = tile;
    int32_t cloth;
    def.dim = 2;
    def.gravity[1] = -1.0, def.gravity[2] = 0.0;
    def.step = x->step;
    def.tolerance = 1e-8;
    def.threads = r->threads;
    tile.friction = x->mu;
    table.friction = 1.0;
    if (!reproduce_world(r, &def, &tile, "", out)) return false;
    const talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE};
    const talus_shape_def box = {.kind = TALUS_SHAPE_BOX, .half = {0.5 * x->d, 0.5, 0.5}};
    talus_body_def ground = talus_body_default(), domino = talus_body_default();
    bool good = (talus_world_add_material(*out, &table, &cloth) == TALUS_OK &&
                 talus_world_set_pair(*out, 1, cloth, &table) == TALUS_OK &&
                 talus_world_add_shape(*out, &box, &domino.shape) == TALUS_OK) ||
                reproduce_failed(r);
    ground.motion.kind = TALUS_MOTION_FIXED;
    ground.material = cloth;
    if (x->hinged) ground.position[1] = -1.0; // out of the way
    good = good && reproduce_body(r, *out, &plane, &ground);
    domino.mass = 1.0;
    domino.material = 1;
    for (int i = 0; good && i < x->count; i++) {
        int32_t body, joint;
        domino.position[0] = i * (x->s + x->d);
        domino.position[1] = 0.5;
        const double spin = i == 0 ? x->push : 0.0; // clockwise, about the front edge
        domino.spin[2] = -spin;
        domino.velocity[0] = 0.5 * spin;
        domino.velocity[1] = 0.5 * x->d * spin;
        talus_joint_def hinge = talus_joint_default();
        hinge.kind = TALUS_JOINT_HINGE;
        hinge.high = 0.0; // it cannot fall backwards
        hinge.anchor[0] = domino.position[0] + 0.5 * x->d;
        good = talus_world_add_body(*out, &domino, &body) == TALUS_OK || reproduce_failed(r);
        hinge.a = body;
        if (good && x->hinged)
            good = talus_world_add_joint(*out, &hinge, &joint) == TALUS_OK || reproduce_failed(r);
    }
    if (good) return true;
    talus_world_destroy(*out);
    *out = NULL;
    return false;
}

// The mean speed over the second half of the row, the last three left out: none push on them.
static double domino_speed(const domino_setup *x, const double *hit) {
    const int from = x->count / 2, to = x->count - 4;
    return (to - from) * (x->s + x->d) / (hit[to] - hit[from]);
}

// Speed of a simulated row and by the theory; NaN for a row that stopped.
static bool domino_compare(reproduce *r, const domino_setup *x, plot *fronts, double speed[2]) {
    talus_world *w = NULL;
    double *hit = cli_alloc(2 * (size_t)x->count, sizeof *hit), *theory = hit + x->count;
    domino_run run = {.hit = hit, .first = 1, .count = x->count};
    for (int i = 0; i < x->count; i++) hit[i] = NAN;
    domino_theory(x, theory);
    bool good = domino_world(r, x, &w);
    const double until = 1.5 * theory[x->count - 1] + 1.0;
    while (good && run.next < x->count && talus_world_time(w) < until)
        good = reproduce_run(r, w, until, 20, domino_each, &run, NULL);
    for (int k = 0; good && k < 2; k++) {
        const double *time = k == 0 ? hit : theory;
        char *label = cli_text("s = %g, mu = %g, %s", x->s, x->mu,
                               k == 1      ? "theory"
                               : x->hinged ? "hinged"
                                           : "on a table");
        plot_add_curve(fronts, label, k == 0);
        free(label);
        for (int i = 0; i < x->count; i++) plot_add_point(fronts, time[i], i * (x->s + x->d));
        speed[k] = domino_speed(x, time);
    }
    talus_world_destroy(w);
    free(hit);
    return good;
}

bool reproduce_dominoes(reproduce *r) {
    static const double distance[] = {0.2, 0.4, 0.6};
    plot *fronts = reproduce_plot(r, "which domino is hit when", "time / √(height/g)", false,
                                  "place / height", false);
    for (int k = 0; k < 9; k++) {
        const domino_setup x = {.s = distance[k % 3],
                                .d = 0.179,
                                .mu = k < 3 ? 0.0 : 0.2,
                                .count = r->quick ? 24 : 60,
                                .push = 1.0,
                                .step = r->quick ? 1e-3 : 2.5e-4,
                                .hinged = k < 6};
        double speed[2];
        if (!domino_compare(r, &x, fronts, speed)) return false;
        // of the theory's own dominoes the speed has to come out but for the time steps; on a table
        // they may also slip and lift
        const double within = x.hinged ? 0.01 : 0.1;
        char *what =
            cli_text("s = %g, mu = %g, %s: speed", x.s, x.mu, x.hinged ? "hinged" : "on a table");
        char *published = cli_text("%.4g (theory)", speed[1]);
        reproduce_expect(r, what, "√(g height)", speed[0], published, (1.0 - within) * speed[1],
                         (1.0 + within) * speed[1], NULL);
        free(what);
        free(published);
    }
    return true;
}
