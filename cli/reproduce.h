// SPDX-License-Identifier: Apache-2.0
// The parts of `talus reproduce`: experiments of the literature, what was measured beside what was
// published, and by which numbers a row passes.
#ifndef CLI_REPRODUCE_H
#define CLI_REPRODUCE_H
#include "cli.h"
#include "plot.h"
#include "talus/talus.h"

typedef enum reproduce_verdict {
    REPRODUCE_PASS,
    REPRODUCE_FAIL,
    REPRODUCE_DIFFERS, ///< outside the range, for a reason that is known and given
} reproduce_verdict;

/// One line of a table. Texts are owned.
typedef struct reproduce_row {
    char *what;
    char *unit;
    double measured;
    char *published;  ///< as it stands in the source
    double low, high; ///< the row passes when measured is in [low, high]
    char *why;        ///< NULL, or why it may lie outside
    reproduce_verdict verdict;
} reproduce_row;

typedef struct reproduce_experiment reproduce_experiment;

/// The state of a run, one experiment after the other.
typedef struct reproduce {
    talus_context *ctx;
    bool quick; ///< the short form of each experiment
    int threads;
    const reproduce_experiment *experiment;
    reproduce_row *row; ///< of this experiment
    int rows;
    plot *plot;
    int plots;
    double begun; ///< clock at the experiment's beginning [s]
    double shown; ///< clock when progress was last shown [s]
} reproduce;

/// One experiment; false after a message when it could not be run to its end.
struct reproduce_experiment {
    const char *name, *title;
    const char *setup; ///< what is simulated, in a sentence or two
    bool (*run)(reproduce *r);
};
extern const reproduce_experiment reproduce_experiments[]; ///< a row with name NULL ends it

bool reproduce_table1(reproduce *r);
bool reproduce_incline(reproduce *r);
bool reproduce_box(reproduce *r);
bool reproduce_heap(reproduce *r);
bool reproduce_collapse(reproduce *r);
bool reproduce_ellipses(reproduce *r);
bool reproduce_slide(reproduce *r);
bool reproduce_four(reproduce *r);
bool reproduce_500(reproduce *r);
bool reproduce_belt(reproduce *r);
bool reproduce_drum1(reproduce *r);
bool reproduce_sediment(reproduce *r);
bool reproduce_drum(reproduce *r);
bool reproduce_packing(reproduce *r);
bool reproduce_columns(reproduce *r);
bool reproduce_beverloo(reproduce *r);
bool reproduce_janssen(reproduce *r);
bool reproduce_ellipsoids(reproduce *r);
bool reproduce_clumps(reproduce *r);
bool reproduce_arch(reproduce *r);
bool reproduce_tower(reproduce *r);
bool reproduce_dominoes(reproduce *r);
bool reproduce_sand_columns(reproduce *r);
bool reproduce_sand_column(reproduce *r);
bool reproduce_sand_silo(reproduce *r);
bool reproduce_sand_impact(reproduce *r);
bool reproduce_sand_energy(reproduce *r);
bool reproduce_sand_tower(reproduce *r);
bool reproduce_sand_drag(reproduce *r);
bool reproduce_sand_hole(reproduce *r);
bool reproduce_rod_ball(reproduce *r);
bool reproduce_rod_pony(reproduce *r);
bool reproduce_rod_nest(reproduce *r);

/// A world with sand whose material 1 has the friction `wall`.
bool reproduce_sand_world(reproduce *r, int32_t dim, double step, const talus_sand_def *sand,
                          double wall, double tolerance, talus_world **out);
/// Fill the cells from low to high (exclusive) with particles, two along each edge.
bool reproduce_sand_fill(reproduce *r, talus_world *w, int32_t dim, const talus_sand_def *sand,
                         const int low[3], const int high[3]);
/// Beverloo's law for openings between edges a quarter of a cell beyond the last nodes that are
/// held: widths in cells, flows of the volume of sand in cells and √(cell/g). Which nodes are held
/// is all that matters. The source holds the corners of all cells that a surface cuts, so that
/// its edges are, on the mean, half a cell behind the last of them. D, by which k is told, is what
/// it would have drawn for the same nodes: 1.5 cells more.
void reproduce_sand_beverloo(reproduce *r, int dim, int count, const double *width,
                             const double *flow);

/// Put down what was measured: it passes in [low, high]. `why`, unless NULL, turns a miss into a
/// difference that is explained.
void reproduce_expect(reproduce *r, const char *what, const char *unit, double measured,
                      const char *published, double low, double high, const char *why);
/// A plot of this experiment; curves and points are added to it at once, before the next plot.
plot *reproduce_plot(reproduce *r, const char *title, const char *x_label, bool x_log,
                     const char *y_label, bool y_log);

/// Report the context's last error with the experiment's name; always false.
bool reproduce_failed(const reproduce *r);
/// Leave an experiment when a call of the library fails.
#define REPRODUCE_TRY(r, call)                                                                     \
    do {                                                                                           \
        if ((call) != TALUS_OK) return reproduce_failed(r);                                        \
    } while (0)

/// Sums over the steps of a run.
typedef struct reproduce_sums {
    int64_t steps, iterations, missed;
    double contacts;         ///< over all steps
    double block_iterations; ///< contacts times iterations, over all steps
    double seconds, solve_seconds, detect_seconds;
    double penetration; ///< worst
    double residual;    ///< worst
    talus_ledger last;
} reproduce_sums;

/// What an experiment wants to see of every step; may be NULL.
typedef void (*reproduce_each)(void *user, const talus_world *w, const talus_ledger *ledger);

/// Step until the time `until`, at most `steps` steps (0: no limit). False after a message; also
/// when the user has asked to stop.
bool reproduce_run(reproduce *r, talus_world *w, double until, int64_t steps, reproduce_each each,
                   void *user, reproduce_sums *sums);

/// Convex problems that the published fixed point (from s = 0, until s changes by 1 % of |s| + 1)
/// solves in the step just made by `cadoux` with that rule. It goes on where no contact presses and
/// there is nothing to solve: there s is right after the first problem, confirmed by a second one
/// if it was not small.
int32_t reproduce_fixed_points(const talus_world *w, const talus_ledger *ledger);
/// A world whose material 1 is the one given, with options of its solver set, "key=value key=value"
/// ("": none); false after a message.
bool reproduce_world(reproduce *r, const talus_world_def *def, const talus_material_def *material,
                     const char *options, talus_world **out);
/// Options of a solver, or where that is NULL of the solver of a world, given likewise.
bool reproduce_set(reproduce *r, talus_solver *solver, talus_world *w, const char *options);
/// A fixed or free body of a new shape; false after a message.
bool reproduce_body(reproduce *r, talus_world *w, const talus_shape_def *shape,
                    const talus_body_def *body);

/// A straight strand of kind helix from `at` along the unit vector `to`, clamped there, and for the
/// rest like `like`; false after a message.
bool reproduce_strand(reproduce *r, talus_world *w, const double at[3], const double to[3],
                      double length, const talus_rod_def *like);

/// Uniform in [low, high): the program's own stream (splitmix64), the same for a seed everywhere.
double reproduce_random(uint64_t *state, double low, double high);
/// Slope of y over x by least squares, both positive, in logarithms.
double reproduce_order(const double *x, const double *y, int count);

/// The page with all experiments that were run.
void reproduce_page_begin(FILE *stream, const char *facts);
void reproduce_page_add(FILE *stream, const reproduce *r, double seconds);
void reproduce_page_end(FILE *stream);
const char *reproduce_verdict_text(reproduce_verdict verdict);

#endif // CLI_REPRODUCE_H
