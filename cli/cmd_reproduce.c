// SPDX-License-Identifier: Apache-2.0
// `talus reproduce`: runs published experiments and prints measured beside published.
#define _GNU_SOURCE
#include "reproduce.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { REPRODUCE_QUICK = CLI_OPTION_FIRST, REPRODUCE_THREADS, REPRODUCE_HTML, REPRODUCE_LIST };

const cli_option cli_reproduce_options[] = {
    {"quick", NULL, "the short form of each experiment", REPRODUCE_QUICK},
    {"threads", "N", "threads of each run; default 2", REPRODUCE_THREADS},
    {"html", "FILE", "where the page with tables and plots goes; default reproduce.html",
     REPRODUCE_HTML},
    {"list", NULL, "name the experiments and stop", REPRODUCE_LIST},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_reproduce_help[] =
    "NAME is an experiment that 'talus reproduce --list' shows; without one all are run. Each row "
    "of\n"
    "the table gives what was measured, what was published, and the range in which the row "
    "passes;\n"
    "'differs' marks a figure outside that range for a reason that the page gives.\n"
    "\n"
    "The table goes to stdout, progress to stderr, the page with plots to a file. Ctrl-C ends the\n"
    "experiment that is running and writes the page of those that are done.\n"
    "Exit status: 0 nothing failed, 1 a row failed or an experiment could not be run, 2 wrong "
    "usage.\n"
    "\n"
    "Examples:\n"
    "  talus reproduce --list\n"
    "  talus reproduce b-incline a-belt\n"
    "  talus reproduce --quick --html quick.html\n";

const reproduce_experiment reproduce_experiments[] = {
    {"b-table1", "gradient methods on one contact",
     "A disk (r = 1, m = 1) on a plane at 30 degrees, g = 1, h = 0.05, first step, no friction, "
     "step 2: iterations of the projected gradient methods [Bloch, Lefebvre-Lepot].",
     reproduce_table1},
    {"b-incline", "a disk falls on an incline: order of the schemes",
     "A disk (r = 1) falls from distance 1 on a plane at 30 degrees, g = 1, T = 10: error against "
     "the exact solution as the step shrinks, mu = 0, 0.1, 1 [Bloch, Lefebvre-Lepot].",
     reproduce_incline},
    {"b-box", "spheres fall into a box without friction",
     "n^3 spheres (n = 8, in the long form also 50) on a grid in a box of side 10 fall under g = 1 "
     "to t = 8 [Bloch, Lefebvre-Lepot, Table 2].",
     reproduce_box},
    {"b-heap", "spheres fall on a plane with friction",
     "512, 1000 (in the long form 1728) spheres fall on a plane, mu = 0.1 and 1: problems per step "
     "of the fixed point on the sliding speeds, until they change by 0.1 % [Bloch, "
     "Lefebvre-Lepot].",
     reproduce_heap},
    {"b-collapse", "collapse of 900 disks",
     "A square of 30 x 30 disks collapses on a plane, mu = 0.1 and 1: height profiles under the "
     "convex and the exact law [Bloch, Lefebvre-Lepot, Fig. 12].",
     reproduce_collapse},
    {"b-ellipses", "collapse of 100 ellipses",
     "A column of ellipses (half axes 0.45 upright, 0.22 to 0.68 level) collapses without friction "
     "on glued disks (r = 0.045), g = 5, h = 0.01, gradients to 1e-3 [Bloch, Lefebvre-Lepot, Fig. "
     "13].",
     reproduce_ellipses},
    {"d-slide", "a ball slides, then rolls",
     "A ball (r = 5 mm) starts at 1.5 m/s on a plane, mu = 0.7, h = 1e-4 s, 2000 steps [Dumont, "
     "Table I].",
     reproduce_slide},
    {"d-four", "four balls settle in a box",
     "Four balls (r = 0.4 to 0.5 mm), mu = 0.3, h = 1e-4 s, 1000 steps [Dumont, Table II].",
     reproduce_four},
    {"d-500", "five hundred balls settle",
     "500 balls (r = 0.25 to 0.5 mm), mu = 0.3, h = 5e-5 s, 1000 steps of at most 5000 sweeps "
     "(short "
     "form: 200 steps of 200) [Dumont, Tables III and IV].",
     reproduce_500},
    {"a-belt", "a ball on a conveyor belt",
     "A steel ball (r = 2.7 mm) at 1 m/s on a belt at 2 m/s, mu = 0.22, e = 1: error against the "
     "exact solution after 1 s [Abide et al., Tables 1 and 2].",
     reproduce_belt},
    {"a-drum1", "a ball in a fixed drum",
     "The same ball at 0.5 m/s inside a fixed drum (R = 0.05 m), T = 5 s, h = 2.5e-5 s [Abide et "
     "al., Fig. 4 and Table 3].",
     reproduce_drum1},
    {"a-sediment", "disks settle in a box",
     "100 to 1600 disks with random velocities in a box of 12 x 22 mm, e = 1, mu = 0.2, h = 1e-4 "
     "s, "
     "T = 1 s (short form: 100) [Abide et al., Tables 5 and 6].",
     reproduce_sediment},
    {"a-drum", "a turning drum",
     "Steel disks (r <= 2.7 mm) in a drum (R = 0.05 m) turning at 40 rpm, e_n = 0.6, mu = 0.22, h "
     "= "
     "1e-4 s [Abide et al., Fig. 9, Tables 7 and 8].",
     reproduce_drum},
    {"v-packing", "random close packing",
     "10 000 equal frictionless spheres (short form: 2 000) at random places are pressed together "
     "and settle on a floor, periodic sideways: solid fraction of the core, contacts per sphere "
     "without rattlers.",
     reproduce_packing},
    {"v-columns", "run-out of collapsing columns",
     "Columns of 3000 disks and of 8000 spheres (short form: 500 and 700) of several aspect "
     "ratios, "
     "mu = 0.5, collapse on a ground of glued grains, convex scheme: run-out against the laws of "
     "Lube et al. and of Lajeunesse et al.",
     reproduce_columns},
    {"v-beverloo", "flow through an opening",
     "8000 spheres (short form: 1500), mu = 0.5, run out of a flat-bottomed silo through square "
     "openings of 4 to 8 diameters, convex scheme: rate against width [Beverloo et al.].",
     reproduce_beverloo},
    {"v-janssen", "a silo's walls carry the grains",
     "Spheres, mu = 0.5, fill a tube of radius 5 diameters (short form: 3); its floor sinks "
     "slowly, "
     "so that friction holds them up, convex scheme: force on the floor against the filled mass "
     "[Janssen].",
     reproduce_janssen},
    {"v-ellipsoids", "random packings of ellipsoids",
     "3000 equal frictionless ellipsoids of revolution (short form: 400), prolate and oblate, axes "
     "1:1 to 3:1, packed as in v-packing: solid fraction of the core over the ratio of the axes "
     "[Donev et al. 2004].",
     reproduce_ellipsoids},
    {"v-clumps", "random packings of two-ball clumps",
     "3000 equal frictionless clumps of two balls (short form: 400), length over width 1 to 2, "
     "packed as in v-packing: solid fraction of the core over the elongation.",
     reproduce_clumps},
    {"v-arch", "the thinnest arch that stands",
     "A half circle of 40 stones (short form: 20) with radial joints that do not slide, under its "
     "own weight: least thickness by bisection [Milankovitch].",
     reproduce_arch},
    {"v-dominoes", "speed of falling dominoes",
     "60 dominoes (short form: 24) of thickness 0.179, with distances of 0.2, 0.4 and 0.6 heights, "
     "knock each other over: speed of the wave against the theory of van Leeuwen.",
     reproduce_dominoes},
    {"v-tower", "what stands stands still",
     "A tower of planks, a house of cards, and stacks of ten boxes stand for 100 000 steps (short "
     "form: 2000) of 2 ms, solved to 1e-12: speed at the end, drift.",
     reproduce_tower},
    {"s-columns", "columns of sand as a continuum: scaling",
     "Columns of sand of aspects 0.5 to 9 fall in 2D, 40 cells wide (short form: 20), friction "
     "0.32 to 0.6 by the inertial number (I0 = 0.4): run-out over aspect [Daviet, 7.2].",
     reproduce_sand_columns},
    {"s-column", "a column of sand in 3D",
     "A column of aspect 1.4, 8 cells wide and deep (short form: 2 deep), friction 0.32 to 0.6, "
     "which is the source's 0.26 to 0.48 times √(3/2): height and run-out [Daviet, 7.5].",
     reproduce_sand_column},
    {"s-silo", "a silo of sand: constant rate, Beverloo's law",
     "Sand runs out of a flat-bottomed silo in 2D, 0.5 m and 40 cells wide (short form: 30), "
     "through an opening of a fifth of it, friction 0, 0.3, 0.5; then between nodes 6 to 12 cells "
     "apart (4 to 10) [Daviet, 7.2].",
     reproduce_sand_silo},
    {"s-impact", "a disk falls into sand",
     "A disk 12 times as dense as the sand, of 10 cells (short form: 6), hits it at 3 m/s in 2D "
     "[Daviet, 7.5].",
     reproduce_sand_impact},
    {"s-energy", "energy of sand in a closed box",
     "A column of aspect 1.4, 10 cells wide, falls in 2D: its energy, step by step "
     "[Daviet, 7.1].",
     reproduce_sand_energy},
    {"s-tower", "a tower of cohesive sand",
     "A tower of 20 cells stands by a cohesion of 10 kPa for 0.3 s in 2D, on the lines of the grid "
     "and off them, with stresses at nodes and at particles [Daviet, 7.5].",
     reproduce_sand_tower},
    {"s-drag", "a cylinder is drawn through sand",
     "A cylinder of 5 cells (short form: 4) is drawn through a bed of sand at four speeds in 2D: "
     "drag over speed, pressure before and behind it [Daviet, 6.5].",
     reproduce_sand_drag},
    {"s-hole", "a silo of sand in 3D: Beverloo's law",
     "Sand runs out of a box of 16 by 16 cells (short form: 10) through square holes between nodes "
     "4 to 10 cells apart (4 to 8) [Daviet, 7.5].",
     reproduce_sand_hole},
    {"r-ball", "a strand on an oscillating ball",
     "A clamped strand of five helices lies with its tip on a ball that turns to and fro, mu = 1, "
     "for "
     "20 s (short form: 4 s); orbits of the tip with exact and with faceted friction [Daviet, "
     "4.2.3, "
     "Figure 4.6].",
     reproduce_rod_ball},
    {"r-pony", "one-contact solvers on a ponytail",
     "30 strands of five helices (short form: 12) lie over a back, on a tie that nods, mu = 0.3 "
     "and "
     "0.5; every other problem of 700 steps goes to a file in r-pony, and is solved from zero by "
     "Gauss-Seidel with each one-contact solver, and by others [Daviet, 4.2.3, Table 4.3, Figures "
     "4.7 and 4.8].",
     reproduce_rod_pony},
    {"r-nest", "rods that friction holds stay where they are",
     "A nest of 16 crossed twigs and a tress of 12 strands over a ball settle for 4 s and are left "
     "alone for 10 000 steps of 2 ms (short form: 500), solved to 1e-6: how far nodes drift "
     "[Daviet, "
     "4.2: stable patterns at rest].",
     reproduce_rod_nest},
    {0},
};

typedef struct reproduce_args {
    bool quick, list;
    int threads;
    const char *html;
} reproduce_args;

static bool reproduce_take(void *user, int id, const char *value) {
    reproduce_args *args = user;
    char *end;
    switch (id) {
    case REPRODUCE_QUICK:
        args->quick = true;
        return true;
    case REPRODUCE_LIST:
        args->list = true;
        return true;
    case REPRODUCE_HTML:
        args->html = value;
        return true;
    case REPRODUCE_THREADS:
        args->threads = (int)strtol(value, &end, 10);
        if (*value && !*end && args->threads >= 1 && args->threads <= 256) return true;
        cli_error("--threads %s: write a whole number from 1 to 256", value);
        return false;
    default:
        return false;
    }
}

static const reproduce_experiment *reproduce_find(const char *name) {
    cli_nearest nearest;
    cli_nearest_init(&nearest, name);
    for (const reproduce_experiment *e = reproduce_experiments; e->name; e++) {
        if (strcmp(e->name, name) == 0) return e;
        cli_nearest_offer(&nearest, e->name);
    }
    cli_error_unknown("experiment", name, nearest.best, "'talus reproduce --list'");
    return NULL;
}

static void reproduce_print(const reproduce *r, double seconds) {
    if (r->rows > 0) {
        const int columns = 5;
        const char **cell = cli_alloc(((size_t)r->rows + 1) * (size_t)columns, sizeof *cell);
        static const char *const head[] = {"what", "measured", "published", "passes", "verdict"};
        for (int c = 0; c < columns; c++) cell[c] = head[c];
        for (int k = 0; k < r->rows; k++) {
            const reproduce_row *row = &r->row[k];
            const char **line = cell + (k + 1) * columns;
            line[0] = row->what;
            line[1] = cli_text("%.5g %s", row->measured, row->unit);
            line[2] = row->published;
            line[3] = isinf(row->low)    ? cli_text("<= %.4g", row->high)
                      : isinf(row->high) ? cli_text(">= %.4g", row->low)
                                         : cli_text("%.4g .. %.4g", row->low, row->high);
            line[4] = row->verdict == REPRODUCE_DIFFERS
                          ? cli_text("differs: %s", row->why)
                          : cli_text("%s", reproduce_verdict_text(row->verdict));
        }
        printf("\n%s: %s (%.3g s)\n", r->experiment->name, r->experiment->title, seconds);
        cli_print_table(stdout, cell, r->rows + 1, columns, 38);
        for (int k = 1; k <= r->rows; k++) {
            free((void *)cell[k * columns + 1]);
            free((void *)cell[k * columns + 3]);
            free((void *)cell[k * columns + 4]);
        }
        free((void *)cell);
    }
    fflush(stdout);
}

static void reproduce_clear(reproduce *r) {
    for (int k = 0; k < r->rows; k++) {
        free(r->row[k].what);
        free(r->row[k].unit);
        free(r->row[k].published);
        free(r->row[k].why);
    }
    for (int k = 0; k < r->plots; k++) plot_clear(&r->plot[k]);
    free(r->row);
    free(r->plot);
    r->row = NULL;
    r->plot = NULL;
    r->rows = r->plots = 0;
}

static talus_context *reproduce_ctx; // for the signal handler
static volatile sig_atomic_t reproduce_stop;

static void reproduce_signal(int number) {
    (void)number;
    reproduce_stop = 1;
    talus_context_cancel(reproduce_ctx, true);
}

// Run the chosen experiments; counts of rows by verdict in `count`.
static bool reproduce_chosen(reproduce *r, const reproduce_experiment *const *chosen, int number,
                             FILE *page, int count[3]) {
    bool good = true;
    for (int i = 0; i < number && !reproduce_stop; i++) {
        r->experiment = chosen[i];
        r->begun = cli_clock();
        if (!chosen[i]->run(r)) good = false;
        const double seconds = cli_clock() - r->begun;
        cli_wipe_progress();
        reproduce_print(r, seconds);
        reproduce_page_add(page, r, seconds);
        for (int k = 0; k < r->rows; k++) count[r->row[k].verdict]++;
        reproduce_clear(r);
    }
    return good && !reproduce_stop;
}

static int reproduce_all(const reproduce_args *args, const reproduce_experiment *const *chosen,
                         int number) {
    reproduce r = {.quick = args->quick, .threads = args->threads};
    FILE *page = fopen(args->html, "w");
    if (!page) {
        cli_error("--html %s: %s", args->html, strerror(errno));
        return CLI_FAILED;
    }
    const talus_status made = talus_context_create(NULL, &r.ctx);
    if (made != TALUS_OK) {
        cli_error("%s", talus_status_text(made));
        (void)fclose(page);
        return CLI_FAILED;
    }
    reproduce_ctx = r.ctx;
    const struct sigaction act = {.sa_handler = reproduce_signal, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &act, NULL);
    (void)sigaction(SIGTERM, &act, NULL);
    char *facts = cli_facts();
    reproduce_page_begin(page, facts);
    free(facts);
    int count[3] = {0};
    bool good = reproduce_chosen(&r, chosen, number, page, count);
    reproduce_page_end(page);
    const bool written = !ferror(page);
    if (fclose(page) != 0 || !written) {
        cli_error("--html %s: cannot be written: %s", args->html, strerror(errno));
        good = false;
    }
    printf("\n%d rows pass, %d differ, %d fail; page: %s\n", count[REPRODUCE_PASS],
           count[REPRODUCE_DIFFERS], count[REPRODUCE_FAIL], args->html);
    talus_context_destroy(r.ctx);
    return good && count[REPRODUCE_FAIL] == 0 && cli_flush() ? CLI_DONE : CLI_FAILED;
}

int cli_reproduce(const cli_verb *verb, int argc, char **argv) {
    reproduce_args args = {.threads = 2, .html = "reproduce.html"};
    bool help;
    const int parsed = cli_parse(verb, argc, argv, reproduce_take, &args, &help);
    if (parsed != CLI_DONE) return parsed;
    if (help) {
        cli_print_verb(verb, stdout);
        return CLI_DONE;
    }
    int known = 0;
    while (reproduce_experiments[known].name) known++;
    if (args.list) {
        for (int k = 0; k < known; k++)
            printf("%-12s %s\n", reproduce_experiments[k].name, reproduce_experiments[k].title);
        return cli_flush() ? CLI_DONE : CLI_FAILED;
    }
    const int number = optind < argc ? argc - optind : known;
    const reproduce_experiment **chosen = cli_alloc((size_t)number, sizeof *chosen);
    int code = CLI_DONE;
    for (int i = 0; i < number && code == CLI_DONE; i++) {
        chosen[i] = optind < argc ? reproduce_find(argv[optind + i]) : &reproduce_experiments[i];
        if (!chosen[i]) code = CLI_USAGE;
    }
    if (code == CLI_DONE) code = reproduce_all(&args, chosen, number);
    free((void *)chosen);
    return code;
}
