// SPDX-License-Identifier: Apache-2.0
// a-belt, a-drum1, a-sediment and a-drum: active sets inside Gauss-Seidel sweeps [Abide, Barboteu,
// Cherkaoui, Dumont, section 6]. Two dimensions, balls with the mass and inertia of spheres.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>

static const double abide_gravity = 9.80665, abide_pi = 3.14159265358979323846;

// The methods of the source, and ours.
enum { ABIDE_OWN = 4 };
static const struct {
    const char *name, *local, *step;
} abide_method[ABIDE_OWN] = {{"EPDAS", "epdas", "0.2857"},
                             {"IPDAS", "ipdas", "0.2857"},
                             {"SAL", "sal", "0.5"},
                             {"IBP", "ebp", "1"}};

// The active sets of EPDAS and IPDAS change sign at every visit where γ_t W_TT > 2; the source does
// not tell its γ_t. Here γ_t W_TT = 1 for a sphere on a wall, whose m W_TT is 7/2.
// With the published step of SAL, 0.6 m as its 20 sweeps tell, a sphere that sticks is thrown
// about: m W_TT = 7/2 and 0.6 · 7/2 > 2.
static const char abide_why_sal[] = "with the published step, 0.6 m, sticking is unstable for a "
                                    "sphere (m W_TT = 7/2): run with 0.5 m";

// The stop rule of the source, |Δp_N| + |Δp_T| <= tolerance, is on forces: h times that on
// impulses.
static bool abide_world(reproduce *r, double h, double mu, double en, double et, int method,
                        double tolerance, talus_world **out) {
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.gravity[0] = 0.0, def.gravity[1] = -abide_gravity, def.gravity[2] = 0.0;
    def.scheme = TALUS_SCHEME_MOREAU_JEAN;
    def.theta = 0.5;
    def.step = h;
    def.solver = "nlgs";
    def.iterations = 5000;
    // two sweeps where nothing changes are one to find the impulses, one to confirm them
    def.warm_start = method == ABIDE_OWN;
    def.tolerance = 1e-3;
    talus_material_def m = talus_material_default();
    m.friction = mu;
    m.restitution = en;
    m.restitution_t = et;
    char *options =
        method == ABIDE_OWN
            ? cli_text("iterations=300")
            : cli_text("local=%s step_rule=mass step=%s stop=change tolerance=%.3g order=natural "
                       "momentum=no patience=0 check=1",
                       abide_method[method].local, abide_method[method].step, tolerance * h);
    const bool good = reproduce_world(r, &def, &m, options, out);
    free(options);
    return good;
}

static talus_body_def abide_ball(double radius, double density) {
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.mass = density * 4.0 / 3.0 * abide_pi * radius * radius * radius;
    for (int k = 0; k < 3; k++) body.inertia[k] = 0.4 * body.mass * radius * radius;
    return body;
}

static bool abide_obstacle(reproduce *r, talus_world *w, const talus_shape_def *shape, double x,
                           double y, const talus_motion_def *motion) {
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.position[0] = x, body.position[1] = y;
    body.motion = *motion;
    return reproduce_body(r, w, shape, &body);
}

static const talus_motion_def abide_fixed = {.kind = TALUS_MOTION_FIXED};

// ---- a-belt -------------------------------------------------------------------------------------

typedef struct belt_run {
    double change;                   // when sliding ends
    double position, velocity, spin; // largest errors
    int32_t sliding, rolling;        // most sweeps of a step
} belt_run;

// To the left of `change` the ball is driven by mu g, afterwards it rolls with the belt.
static void belt_each(void *user, const talus_world *w, const talus_ledger *l) {
    belt_run *run = user;
    const double radius = 2.7e-3, a = 0.22 * abide_gravity, spin_rate = 2.5 * a / radius;
    const double t = l->time, slide = fmin(t, run->change);
    const double v = 1.0 + a * slide, x = slide + 0.5 * a * slide * slide + v * (t - slide);
    talus_body_view b;
    talus_world_bodies(w, &b);
    run->position = fmax(run->position, fabs(b.position[3] - x));
    run->velocity = fmax(run->velocity, fabs(b.velocity[3] - v));
    run->spin =
        fmax(run->spin, fabs(b.spin[5] - spin_rate * slide)); // to the left: the floor pulls right
    int32_t *most = t <= run->change * (1.0 + 1e-9) ? &run->sliding : &run->rolling;
    if (l->iterations > *most) *most = l->iterations;
}

bool reproduce_belt(reproduce *r) {
    static const double sliding[] = {2, 2, 20, 2}, rolling[] = {3, 3, 20, 2};
    const double radius = 2.7e-3;
    belt_run run0 = {.change = 1.0 / (0.22 * abide_gravity * 3.5)};
    const double h = run0.change / round(run0.change / 1.32e-5);
    for (int k = 0; k < 4; k++) {
        belt_run run = run0;
        talus_world *w = NULL;
        const talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE};
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
        const talus_motion_def belt = {.kind = TALUS_MOTION_VELOCITY, .velocity = {2.0, 0.0, 0.0}};
        talus_body_def body = abide_ball(radius, 8000.0);
        body.position[1] = radius * (1.0 - 1e-12); // touching, whatever rounding does
        body.velocity[0] = 1.0;
        if (!abide_world(r, h, 0.22, 1.0, 1.0, k, 1e-8, &w)) return false;
        const bool good = abide_obstacle(r, w, &plane, 0.0, 0.0, &belt) &&
                          reproduce_body(r, w, &ball, &body) &&
                          reproduce_run(r, w, 1.0, 0, belt_each, &run, NULL);
        talus_world_destroy(w);
        if (!good) return false;
        const char *name = abide_method[k].name;
        const struct {
            const char *what, *unit, *published;
            double value, high;
        } row[] = {{"largest error of the position", "m", "5e-13 to 8e-11", run.position, 1e-9},
                   {"largest error of the velocity", "m/s", "4e-13 to 5e-11", run.velocity, 1e-9},
                   {"largest error of the spin, times the radius", "m/s", "5e-13 to 5e-11",
                    run.spin * radius, 1e-9}};
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            char *what = cli_text("%s: %s", name, row[i].what);
            reproduce_expect(r, what, row[i].unit, row[i].value, row[i].published, 0.0, row[i].high,
                             NULL);
            free(what);
        }
        for (int phase = 0; phase < 2; phase++) {
            const double known = phase ? rolling[k] : sliding[k];
            char *what =
                cli_text("%s: most sweeps of a %s step", name, phase ? "rolling" : "sliding");
            char *published = cli_text("%.0f", known);
            reproduce_expect(r, what, "", phase ? run.rolling : run.sliding, published, 0.0,
                             known + 1.0, k == 2 ? abide_why_sal : NULL);
            free(what);
            free(published);
        }
    }
    return true;
}

// ---- a-drum1 ------------------------------------------------------------------------------------

enum { DRUM1_MOST = 64 }; // sweeps that are told apart

typedef struct drum1_run {
    double first;               // |spin| when the sliding ends; 0: it has not
    int64_t sweeps[DRUM1_MOST]; // steps with a contact, by their sweeps
    double spin[2];             // largest |spin| in the first and second half of the rolling
    double energy[2];           // least and largest energy after half a second
    double start;               // energy at the beginning
    plot *spins;
    int64_t step;
} drum1_run;

static void drum1_each(void *user, const talus_world *w, const talus_ledger *l) {
    drum1_run *run = user;
    talus_body_view b;
    talus_world_bodies(w, &b);
    const double spin = fabs(b.spin[5]), energy = l->kinetic + l->potential;
    if (run->step++ % 400 == 0) plot_add_point(run->spins, l->time, b.spin[5]);
    if (l->stick > 0 && run->first <= 0.0) run->first = spin;
    if (l->contacts > 0) run->sweeps[l->iterations < DRUM1_MOST ? l->iterations : DRUM1_MOST - 1]++;
    if (l->time < 0.5) return;
    double *most = &run->spin[l->time > 2.75];
    *most = fmax(*most, spin);
    run->energy[0] = fmin(run->energy[0], energy);
    run->energy[1] = fmax(run->energy[1], energy);
}

// The number of sweeps that half of the steps with a contact stay below or at.
static double drum1_median(const drum1_run *run) {
    int64_t all = 0, sum = 0;
    int k = 0;
    for (int i = 0; i < DRUM1_MOST; i++) all += run->sweeps[i];
    while (k < DRUM1_MOST - 1 && 2 * (sum += run->sweeps[k]) < all) k++;
    return k;
}

bool reproduce_drum1(reproduce *r) {
    static const double sweeps[] = {3, 3, 40, 2};
    const double radius = 2.7e-3;
    for (int k = 0; k < 4; k++) {
        talus_world *w = NULL;
        reproduce_sums sums;
        const talus_shape_def drum = {.kind = TALUS_SHAPE_DRUM, .radius = 0.05, .height = INFINITY};
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
        talus_body_def body = abide_ball(radius, 8000.0);
        body.position[1] = radius * (1.0 - 1e-12) - 0.05;
        body.velocity[0] = 0.5;
        drum1_run run = {.energy = {INFINITY, -INFINITY}};
        const char *name = abide_method[k].name;
        run.spins = reproduce_plot(r, name, "time [s]", false, "spin [rad/s]", false);
        plot_add_curve(run.spins, name, false);
        if (!abide_world(r, 2.5e-5, 0.22, 1.0, 1.0, k, 1e-8, &w)) return false;
        const bool good = abide_obstacle(r, w, &drum, 0.0, 0.0, &abide_fixed) &&
                          reproduce_body(r, w, &ball, &body) &&
                          reproduce_run(r, w, 5.0, 0, drum1_each, &run, &sums);
        talus_world_destroy(w);
        if (!good) return false;
        run.start = body.mass * (0.5 * 0.25 + abide_gravity * (radius - 0.05));
        const double swing = run.energy[1] + body.mass * abide_gravity * (0.05 - radius);
        const struct {
            const char *what, *unit, *published;
            double value, low, high;
        } row[] = {
            {"largest spin late over early", "", "1 (constant)", run.spin[1] / run.spin[0], 0.995,
             1.005},
            {"energy of the swing lost while sliding, share", "", "drops",
             (run.start - run.energy[1]) / (0.125 * body.mass), 0.05, 0.6},
            {"energy of the swing lost while rolling, share", "", "0 (conserved)",
             (run.energy[1] - run.energy[0]) / swing, 0.0, 0.01},
            {"sweeps of a step with a contact, median", "",
             sweeps[k] > 10.0  ? "30 to 40"
             : sweeps[k] > 2.5 ? "3"
                               : "2",
             drum1_median(&run), 0.0, sweeps[k] + 1.0},
            {"spin when sliding ends", "rad/s", "about 110", run.first, 99.0, 121.0},
        };
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            char *what = cli_text("%s: %s", name, row[i].what);
            reproduce_expect(r, what, row[i].unit, row[i].value, row[i].published, row[i].low,
                             row[i].high, NULL);
            free(what);
        }
    }
    return true;
}

// ---- a-sediment ---------------------------------------------------------------------------------

typedef struct sediment_set {
    int count;
    double small, large; // radii [m]
    double seconds[4];   // published, by method
} sediment_set;

static bool sediment_one(reproduce *r, const sediment_set *set, int method, reproduce_sums *sums) {
    const talus_shape_def box = {.kind = TALUS_SHAPE_CONTAINER, .half = {6e-3, 11e-3, 0.0}};
    const double pitch = 2.02 * set->large;
    const int across = (int)floor(0.012 / pitch);
    talus_world *w = NULL;
    uint64_t seed = 11;
    if (!abide_world(r, 1e-4, 0.2, 1.0, 1.0, method, 1e-6, &w)) return false;
    bool good = abide_obstacle(r, w, &box, 6e-3, 11e-3, &abide_fixed);
    for (int k = 0; good && k < set->count; k++) {
        const double radius = k % 2 ? set->small : set->large;
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
        talus_body_def body = abide_ball(radius, 2600.0);
        const int row = k / across;
        body.position[0] = (k % across + 0.5) * (0.012 / across);
        body.position[1] = (row + 0.5) * pitch;
        body.velocity[0] = reproduce_random(&seed, -0.1, 0.1);
        body.velocity[1] = reproduce_random(&seed, -0.1, 0.1);
        good = reproduce_body(r, w, &ball, &body);
    }
    good = good && reproduce_run(r, w, 1.0, 0, NULL, NULL, sums);
    talus_world_destroy(w);
    return good;
}

bool reproduce_sediment(reproduce *r) {
    static const sediment_set set[] = {
        {100, 2.5e-4, 5.0e-4, {2.588, 2.562, 22.294, 13.751}},
        {200, 2.5e-4, 4.5e-4, {8.412, 8.392, 44.214, 33.533}},
        {400, 1.2e-4, 2.6e-4, {28.347, 28.347, 87.293, 65.856}},
        {800, 1.2e-4, 2.3e-4, {107.919, 105.408, 182.144, 186.395}},
        {1600, 6.0e-5, 1.3e-4, {12298.419, 11515.381, 18673.187, 16798.548}},
    };
    plot *times =
        reproduce_plot(r, "time for the contact impulses", "disks", true, "time [s]", true);
    for (int k = 0; k < 4; k++) {
        plot_add_curve(times, abide_method[k].name, false);
        for (int i = 0; i < (r->quick ? 1 : 5); i++) {
            reproduce_sums sums;
            if (!sediment_one(r, &set[i], k, &sums)) return false;
            plot_add_point(times, set[i].count, sums.solve_seconds);
            char *what =
                cli_text("%s, %d disks: time for the impulses", abide_method[k].name, set[i].count);
            char *published = cli_text("%.3g", set[i].seconds[k]);
            reproduce_expect(r, what, "s", sums.solve_seconds, published, 0.0, set[i].seconds[k],
                             NULL);
            free(what);
            free(published);
            what = cli_text("%s, %d disks: deepest overlap over small radius", abide_method[k].name,
                            set[i].count);
            reproduce_expect(r, what, "", sums.penetration / set[i].small, "no large ones", 0.0,
                             0.1,
                             "the source gives no figure. A grain at 0.5 m/s goes 0.2 of the small "
                             "radius in a step, and contacts on the level of velocities do not "
                             "mend an overlap");
            free(what);
        }
    }
    return true;
}

// ---- a-drum -------------------------------------------------------------------------------------

enum { DRUM_BINS = 16 };

typedef struct drum_run {
    double surface, centre; // sums of angles [deg]
    int64_t count, step;
    double from;    // average from this time on
    double covered; // share of the drum's area under disks
} drum_run;

// Angle of the surface: a line through the highest grains of the bins in the middle of the drum.
static double drum_surface(const talus_body_view *b) {
    double top[DRUM_BINS], sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    int n = 0;
    const double half = 0.6 * 0.05; // the middle: where the surface is far from the wall
    for (int k = 0; k < DRUM_BINS; k++) top[k] = -INFINITY;
    for (int32_t i = 0; i < b->count; i++) {
        if (b->motion[i] != TALUS_MOTION_FREE) continue;
        const double *x = b->position + 3 * (ptrdiff_t)i;
        const double at = (x[0] + half) / (2.0 * half) * DRUM_BINS;
        if (at >= 0.0 && at < DRUM_BINS) top[(int)at] = fmax(top[(int)at], x[1]);
    }
    for (int k = 0; k < DRUM_BINS; k++) {
        const double x = -half + (k + 0.5) * 2.0 * half / DRUM_BINS;
        if (!isfinite(top[k])) continue;
        n++;
        sx += x, sy += top[k], sxx += x * x, sxy += x * top[k];
    }
    return n < 4 ? 0.0 : atan((n * sxy - sx * sy) / (n * sxx - sx * sx)) * 180.0 / abide_pi;
}

// Angle by which the centre of mass is turned from below the axis.
static double drum_centre(const talus_body_view *b) {
    double x = 0.0, y = 0.0;
    for (int32_t i = 0; i < b->count; i++) {
        x += b->mass[i] * b->position[3 * (ptrdiff_t)i];
        y += b->mass[i] * b->position[3 * (ptrdiff_t)i + 1];
    }
    return atan2(x, -y) * 180.0 / abide_pi;
}

static void drum_each(void *user, const talus_world *w, const talus_ledger *l) {
    drum_run *run = user;
    if (l->time < run->from || run->step++ % 20) return;
    talus_body_view b;
    talus_world_bodies(w, &b);
    run->surface += fabs(drum_surface(&b));
    run->centre += fabs(drum_centre(&b));
    run->count++;
}

// `filling`: area of the disks, in that of 100 of the published radius.
static bool drum_one(reproduce *r, int count, double filling, int method, double until,
                     drum_run *run, reproduce_sums *sums) {
    const double radius = 2.7e-3 * sqrt(100.0 * filling / count), pitch = 2.02 * radius;
    const talus_shape_def drum = {.kind = TALUS_SHAPE_DRUM, .radius = 0.05, .height = INFINITY};
    const talus_motion_def turn = {.kind = TALUS_MOTION_ROTATION,
                                   .rate = 40.0 * 2.0 * abide_pi / 60.0};
    talus_world *w = NULL;
    uint64_t seed = 5;
    int placed = 0;
    *run = (drum_run){.from = 0.6};
    if (!abide_world(r, 1e-4, 0.22, 0.6, 1.0, method, 1e-6, &w)) return false;
    bool good = abide_obstacle(r, w, &drum, 0.0, 0.0, &turn);
    for (double y = radius - 0.05; good && placed < count; y += pitch) {
        const double reach = 0.05 - 1.01 * radius;
        for (double x = -0.05 + radius; placed < count && x < 0.05; x += pitch) {
            if (x * x + y * y > reach * reach) continue;
            const double size = radius * reproduce_random(&seed, 0.9, 1.0);
            const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = size};
            talus_body_def body = abide_ball(size, 8000.0);
            body.position[0] = x, body.position[1] = y;
            good = good && reproduce_body(r, w, &ball, &body);
            run->covered += size * size / (0.05 * 0.05);
            placed++;
        }
    }
    good = good && reproduce_run(r, w, until, 0, drum_each, run, sums);
    talus_world_destroy(w);
    return good;
}

// The angles, by sweeps with momentum, warm starts and one-contact solves to rounding: the disks'
// motion, not the method of the source. How full the drum is decides on them, and the source, which
// takes the 26 degrees from an experiment with balls, does not say it: so all of a range are shown.
static bool drum_angles(reproduce *r, int count, plot *angles) {
    static const double filling[] = {1.0, 1.25, 1.5, 1.75};
    static const char why[] = "the source does not say how full the drum is, and the angle rises "
                              "with that; 100 disks of 2.7 mm cover the smallest share here";
    char *label = cli_text("%d disks", count);
    plot_add_curve(angles, label, true);
    free(label);
    for (size_t k = 0; k < sizeof filling / sizeof *filling; k++) {
        drum_run run;
        reproduce_sums sums;
        if (!drum_one(r, count, filling[k], ABIDE_OWN, 1.6, &run, &sums)) return false;
        const double surface = run.surface / (double)run.count;
        plot_add_point(angles, run.covered, surface);
        char *what =
            cli_text("%d disks on %.2f of the area: angle of the surface", count, run.covered);
        reproduce_expect(r, what, "deg", surface, "26 (filling not told)", 24.0, 28.0, why);
        free(what);
        what = cli_text("%d disks on %.2f of the area: angle of the centre of mass", count,
                        run.covered);
        reproduce_expect(r, what, "deg", run.centre / (double)run.count, "26 (of the surface)",
                         24.0, 28.0, why);
        free(what);
    }
    return true;
}

bool reproduce_drum(reproduce *r) {
    static const int count[] = {100, 200, 400, 800, 1600};
    static const double sweeps[4][5] = {{1680882, 2020349, 4069672, 5114280, 9422476},
                                        {1674177, 1933869, 4036740, 5036011, 9999666},
                                        {7836547, 8566285, 19607909, 15600032, 32656132},
                                        {1101849, 1340917, 4121136, 3688553, 8375264}};
    static const double seconds[4][5] = {{69.482, 163.918, 677.212, 1817.413, 7492.3},
                                         {68.813, 153.254, 657.011, 1804.862, 7867.878},
                                         {337.16, 755.553, 3663.254, 6055.488, 27425.824},
                                         {124.918, 259.37, 1941.158, 3232.919, 16740.516}};
    static const char why[] =
        "the sets are chosen here with steps of 1/W_ii, not with a gamma of 1e-8, "
        "and now and then a step goes in circles up to the limit of 5000 sweeps";
    const double until = r->quick ? 0.1 : 1.0; // of its one second
    plot *angles = reproduce_plot(r, "angle of the surface", "share of the drum under disks", false,
                                  "angle [deg]", false);
    for (int i = r->quick ? 2 : 0; i < (r->quick ? 3 : 5); i += 2)
        if (!drum_angles(r, count[i], angles)) return false;
    for (int i = 0; i < (r->quick ? 1 : 5); i++)
        for (int k = 0; k < ABIDE_OWN; k++) {
            reproduce_sums sums;
            drum_run run;
            if (!drum_one(r, count[i], 1.0, k, until, &run, &sums)) return false;
            const char *name = abide_method[k].name;
            char *what =
                cli_text("%s, %d disks: time for the impulses, per second", name, count[i]);
            char *published = cli_text("%.0f", seconds[k][i]);
            reproduce_expect(r, what, "s", sums.solve_seconds / until, published, 0.0,
                             seconds[k][i], NULL);
            free(what);
            free(published);
            what = cli_text("%s, %d disks: sweeps per step", name, count[i]);
            published = cli_text("%.0f", 1e-4 * sweeps[k][i]);
            reproduce_expect(r, what, "", (double)sums.iterations / (double)sums.steps, published,
                             0.0, 1.5e-4 * sweeps[k][i], why);
            free(what);
            free(published);
        }
    return true;
}
