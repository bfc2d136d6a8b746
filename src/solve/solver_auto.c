// SPDX-License-Identifier: Apache-2.0
// auto: chooses, watches and switches [docs/theory/auto.md]. Sweeps of nlgs come first: most
// problems need no more. At checks 100, 200, 400 … sweeps apart the sweeps still needed are
// foreseen from the progress since the last; when a proximal Newton method (newton.h) would cost
// less, it takes over. Where that is stuck, it is asked whether any velocity is allowed at all, and
// an interior point has a try. Where nothing rubs and there are many contacts, accelerated
// gradients come before all this: an iteration costs a tenth of a sweep. Costs are counted in
// operations, never in seconds, so that the same problem always takes the same way.
#include "base/timer.h"
#include "solve/feasible.h"
#include "solve/gradient.h"
#include "solve/newton.h"
#include "solve/splitting.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct auto_options {
    tl_common_options common;
    double memory; // [GB] most that the Newton method may take
    bool ready;    // set everything up in prepare
    bool warm;     // start from the r given, else from 0
} auto_options;

#define ROW(f, kind, initial, ...) TL_ROW(auto_options, f, kind, initial, __VA_ARGS__)
static const tl_option auto_rows[] = {
    ROW(memory, TL_OPTION_NUMBER, "1", .low = 0.0, .high = INFINITY,
        .text = "most memory for the factors of the Newton matrix [GB]"),
    ROW(ready, TL_OPTION_YES_NO, "no",
        .text = "set up sweeps and Newton beforehand and use nothing else, so that solves allocate "
                "nothing; no: what is needed when it is needed"),
    ROW(warm, TL_OPTION_YES_NO, "yes", .text = "start from the impulses given, else from zero"),
    {0},
};

typedef enum auto_newton { AUTO_UNKNOWN, AUTO_THERE, AUTO_TOO_LARGE } auto_newton;

typedef struct auto_solver {
    tl_newton newton;      // its nlgs is the first method,
    talus_solver *smooth;  // unless there is this one, for a problem without friction,
    talus_solver *abreast; // or this one, an nlgs without W over balls or pairs of bodies
    auto_newton state;
    double band; // operations of a Newton step, guessed before anything is set up
    // The running solve.
    int32_t decide;  // sweeps at which to think again
    int32_t since;   // the last time,
    double mark;     // and the measure then
    double *witness; // dim * count, of a problem without solution
} auto_solver;

enum {
    AUTO_SMOOTH = 1024,   // contacts from which on gradients are tried where nothing rubs,
    AUTO_GRADIENT = 3000, // and for how many iterations
    AUTO_HORIZON = 20,    // sweeps foreseen at most, per sweep done
    AUTO_FIRST = 100,     // sweeps before the first look ahead
    AUTO_STEPS = 20,      // Newton steps that a problem is expected to need,
    AUTO_PILE = 200,    // and a packing of balls, whose contacts change state at every one of them
    AUTO_PATIENCE = 60, // sweeps without progress before a proximal term is tried
    AUTO_STUCK = 150,   // Newton steps without progress before something else is tried
    AUTO_INTERIOR = 60, // iterations that an interior point is given,
    AUTO_FROZEN = 400,  // one for a sequence of convex problems,
    AUTO_ADMM = 2000,   // and ADMM
    AUTO_LARGE = 4096,  // large: so many contacts or more,
    AUTO_ROUND = 1024,  // or so many of balls,
    AUTO_BAND = 5000,   // and a Newton step costs over so many sweeps,
    AUTO_PILE_BAND = 500, // or of balls so many. Then:
    AUTO_RELAXED = 200,   // first sweeps under the associated law,
    AUTO_CHECK = 20,      // sweeps between two checks,
    AUTO_LONG = 5000,     // and in place of AUTO_PATIENCE: impulses may have a long way to go
    AUTO_OPEN = 8,        // sweeps that pass over a contact which is open, and stays so
};
#define AUTO_PROXIMAL 0.1 // first proximal term, in units of λ_i
// Sweeps over large problems: Nesterov's momentum, whose share follows them from this one on.
// Conjugate gradients restart at every other sweep there, for among many contacts some are always
// changing state. For the same reason the measure goes up and down, and only frequent checks find
// it low.
#define AUTO_INERTIA 0.9
// From zero with a proximal term: the way is long then, and without it many more contacts slide on
// it, and at its end, than need to.
#define AUTO_CALM 0.3

// ---- costs -------------------------------------------------------------------------------------

static tl_splitting *auto_nlgs(const auto_solver *s) {
    return (tl_splitting *)(s->abreast ? s->abreast : s->newton.nlgs);
}

static bool auto_is_round(const auto_solver *s) { return s->abreast && auto_nlgs(s)->round; }

// Operations of a sweep: a one-contact solve is worth some hundred multiplications, one of balls,
// eight side by side, some thirty with all there is to a visit, one of other bodies twice that.
static double auto_sweep_cost(const auto_solver *s) {
    const tl_delassus *w = &auto_nlgs(s)->w;
    if (s->abreast) return (auto_is_round(s) ? 30.0 : 60.0) * w->rows;
    return 100.0 * w->rows + 0.5 * w->dim * w->dim * (double)w->start[w->rows];
}

// Operations of a Newton step: the factors, and some passes over W and the contacts.
static double auto_step_cost(const auto_solver *s) {
    return s->newton.lu->work + 4.0 * auto_sweep_cost(s);
}

// What a search over contacts that are coupled needs: they are rows with neighbours in `w` or,
// where `graph` is not NULL, blocks that share bodies.
typedef struct auto_links {
    const tl_delassus *w;
    const tl_graph *graph;
    int32_t *seen, *body_seen; // marks
    int32_t *queue;            // contacts in the order they were found,
    int32_t count;             // how many
} auto_links;

static void auto_meet(auto_links *l, const int32_t *other, int64_t count, int32_t mark) {
    for (int64_t k = 0; k < count; k++)
        if (l->seen[other[k]] != mark) {
            l->seen[other[k]] = mark;
            l->queue[l->count++] = other[k];
        }
}

// Find all that are coupled with `node`. The contacts of a body are looked at once.
static void auto_expand(auto_links *l, int32_t node, int32_t mark) {
    const tl_graph *g = l->graph;
    if (!g) {
        const int64_t start = l->w->start[node];
        auto_meet(l, l->w->col + start, l->w->start[node + 1] - start, mark);
        return;
    }
    for (int64_t e = g->h_start[node]; e < g->h_start[node + 1]; e++) {
        const int32_t body = g->h_body[e];
        if (l->body_seen[body] == mark) continue;
        l->body_seen[body] = mark;
        auto_meet(l, g->contact + g->where[body], g->where[body + 1] - g->where[body], mark);
    }
}

// Breadth-first search over the contacts that `first` is coupled with, directly or not. Returns how
// many steps away the farthest is, counted from 1.
static int32_t auto_search(auto_links *l, int32_t first, int32_t mark) {
    int32_t next = 0;
    l->queue[0] = first;
    l->count = 1;
    l->seen[first] = mark;
    for (int32_t levels = 1;; levels++) {
        const int32_t level = l->count;
        for (; next < level; next++) auto_expand(l, l->queue[next], mark);
        if (l->count == level) return levels;
    }
}

// Operations to factor W as a band: n contacts in L levels, n/L wide, cost n (n/L)² d³. A chain is
// cheap, a packing in space is not. The search is repeated from the last contact found, which lies
// at an end.
// Where the sweeps have no W, by the lists of contacts of each body.
static talus_status auto_guess(auto_solver *s, const talus_problem *p, const tl_delassus *w) {
    talus_context *ctx = s->newton.dual.base.ctx;
    const int32_t nodes = w ? w->rows : p->count;
    tl_graph graph = {0};
    auto_links l = {.w = w, .graph = w ? NULL : &graph};
    talus_status status = TALUS_OK;
    s->band = 0.0;
    if (!w) {
        TL_GOTO(tl_graph_lists(ctx, p, &graph));
        TL_GOTO(TL_ALLOC(ctx, p->body_count, &l.body_seen));
    }
    TL_GOTO(TL_ALLOC(ctx, nodes, &l.seen));
    TL_GOTO(TL_ALLOC(ctx, nodes, &l.queue));
    for (int32_t node = 0; node < nodes; node++) {
        if ((w && w->order[node] < 0) || l.seen[node] != 0) continue;
        (void)auto_search(&l, node, 1);
        const int32_t levels = auto_search(&l, l.queue[l.count - 1], 2);
        const double width = (double)l.count / levels;
        s->band += l.count * width * width * p->dim * p->dim * p->dim;
    }
done:
    tl_free(ctx, l.seen);
    tl_free(ctx, l.queue);
    tl_free(ctx, l.body_seen);
    tl_graph_clear(ctx, &graph);
    return status;
}

// Is the problem large, and a Newton step worth that many sweeps?
static bool auto_is_large(const auto_solver *s) {
    const bool round = auto_is_round(s);
    return auto_nlgs(s)->w.problem->count >= (round ? AUTO_ROUND : AUTO_LARGE) &&
           s->band > (round ? AUTO_PILE_BAND : AUTO_BAND) * auto_sweep_cost(s);
}

static void auto_say(const auto_solver *s, const char *what, int32_t sweeps, double measure,
                     double left) {
    tl_log(s->newton.dual.base.ctx, TALUS_LOG_INFO,
           "auto: %d sweeps, measure %.2e, some %.0f more to go: %s", sweeps, measure, left, what);
}

// ---- set-up ------------------------------------------------------------------------------------

static void auto_clear_sweeps(auto_solver *s) {
    tl_free(s->newton.dual.base.ctx, s->witness);
    s->witness = NULL;
    tl_newton_clear(&s->newton.dual.base);
}

static talus_status auto_prepare_newton(auto_solver *s) {
    const auto_options *opt = s->newton.dual.base.options;
    if (!s->newton.nlgs)
        TL_TRY(tl_newton_prepare_nlgs(&s->newton, s->newton.dual.base.problem, opt->warm, 0));
    TL_TRY(tl_newton_prepare_rest(&s->newton, 1e9 * opt->memory));
    s->state = s->newton.lu ? AUTO_THERE : AUTO_TOO_LARGE;
    return TALUS_OK;
}

// Many rigid bodies: sweeps that know of nothing else, to begin with.
static talus_status auto_prepare_abreast(auto_solver *s, const talus_problem *p) {
    talus_solver *base = &s->newton.dual.base;
    const auto_options *opt = base->options;
    if (!opt->ready && ((p->count >= AUTO_ROUND && tl_balls_are(p)) ||
                        (p->count >= AUTO_LARGE && tl_pairs_are(p)))) {
        if (!s->abreast) TL_TRY(talus_solver_create(base->ctx, "nlgs", &s->abreast));
        tl_splitting_options *inner = s->abreast->options;
        inner->common = opt->common;
        inner->warm = opt->warm;
        inner->inertia = AUTO_INERTIA;
        TL_TRY(auto_guess(s, p, NULL)); // before the sweeps have memory
        TL_TRY(talus_solver_prepare(s->abreast, p));
        if (auto_nlgs(s)->abreast && auto_is_large(s)) return TALUS_OK;
    }
    talus_solver_destroy(s->abreast);
    s->abreast = NULL;
    s->band = 0.0;
    return TALUS_OK;
}

static talus_status auto_prepare_smooth(auto_solver *s, const talus_problem *p) {
    const talus_solver *base = &s->newton.dual.base;
    const auto_options *opt = base->options;
    if (!s->smooth) TL_TRY(talus_solver_create(base->ctx, "apgd-ar", &s->smooth));
    tl_gradient_options *inner = s->smooth->options;
    inner->dual.common = opt->common;
    inner->dual.warm = opt->warm;
    if (inner->dual.common.iterations > AUTO_GRADIENT)
        inner->dual.common.iterations = AUTO_GRADIENT;
    return talus_solver_prepare(s->smooth, p);
}

static talus_status auto_prepare_sweeps(auto_solver *s, const talus_problem *p) {
    const auto_options *opt = s->newton.dual.base.options;
    s->state = AUTO_UNKNOWN;
    s->band = 0.0;
    TL_TRY(auto_prepare_abreast(s, p));
    if (s->abreast) return TALUS_OK;
    TL_TRY(
        tl_newton_prepare_nlgs(&s->newton, p, opt->warm, p->count >= AUTO_LARGE ? AUTO_OPEN : 0));
    if (p->count >= AUTO_LARGE) TL_TRY(auto_guess(s, p, &auto_nlgs(s)->w));
    return opt->ready ? auto_prepare_newton(s) : TALUS_OK;
}

// Memory of the gradients is used again, as long as they are, and that of the sweeps abreast.
static talus_status auto_prepare(talus_solver *base, const talus_problem *p) {
    auto_solver *s = (auto_solver *)base;
    const auto_options *opt = base->options;
    const bool smooth = p->count >= AUTO_SMOOTH && !opt->ready &&
                        tl_dual_is_smooth(p, (tl_measure)opt->common.stop);
    auto_clear_sweeps(s);
    if (smooth) return auto_prepare_smooth(s, p);
    talus_solver_destroy(s->smooth);
    s->smooth = NULL;
    return auto_prepare_sweeps(s, p);
}

// ---- the choice --------------------------------------------------------------------------------

// Is Newton to take over, with `left` sweeps foreseen?
static bool auto_newton_is_cheaper(auto_solver *s, int32_t sweeps, double measure, double left) {
    if (left < 2.0 * AUTO_FIRST) return false; // not worth its set-up
    const int needed = auto_is_round(s) ? AUTO_PILE : AUTO_STEPS;
    // An order by nested dissection may be ten times as good as a band.
    if (s->state == AUTO_UNKNOWN && left * auto_sweep_cost(s) < 0.1 * needed * s->band) {
        auto_say(s, "go on, for a Newton step would cost far more", sweeps, measure, left);
        return false;
    }
    if (s->state == AUTO_UNKNOWN && auto_prepare_newton(s) != TALUS_OK) {
        s->state = AUTO_TOO_LARGE; // the sweeps can go on without
        tl_log(s->newton.dual.base.ctx, TALUS_LOG_WARNING, "auto: no Newton method: %s",
               talus_context_last_error(s->newton.dual.base.ctx));
    }
    if (s->state == AUTO_TOO_LARGE) {
        auto_say(s, "go on, for the Newton matrix is too large", sweeps, measure, left);
        return false;
    }
    const double steps = left * auto_sweep_cost(s) / auto_step_cost(s);
    char what[96];
    (void)snprintf(what, sizeof what, "%s, for as much work as %.1f Newton steps",
                   steps > needed ? "Newton takes over" : "go on", steps);
    auto_say(s, what, sweeps, measure, left);
    return steps > needed;
}

static bool auto_leave(void *user, int32_t sweeps, double measure) {
    auto_solver *s = user;
    const auto_options *opt = s->newton.dual.base.options;
    if (sweeps < s->decide) return false;
    const double gain = log(s->mark / measure), need = log(measure / opt->common.tolerance);
    // Foresight reaches as far as experience: where sweeps pause, a step that costs thousands of
    // them is not yet the way out.
    const double most = (double)AUTO_HORIZON * sweeps;
    const double left = gain > 0.0 ? fmin(need / gain * (sweeps - s->since), most) : most;
    s->decide = 2 * sweeps;
    s->since = sweeps;
    s->mark = measure;
    return auto_newton_is_cheaper(s, sweeps, measure, left);
}

// ---- the ways ----------------------------------------------------------------------------------

static bool auto_is_zero(const talus_problem *p, const double *r) {
    const int64_t n = (int64_t)p->dim * p->count;
    int64_t k = 0;
    while (k < n && r[k] == 0.0) k++;
    return k == n;
}

// After `done` iterations of another method, which took `seconds`.
static void auto_sweeps(auto_solver *s, double *r, talus_solve_info *info, int32_t done,
                        double seconds) {
    tl_newton *newton = &s->newton;
    talus_solver *base = &newton->dual.base;
    tl_splitting *nlgs = auto_nlgs(s);
    tl_splitting_options *inner = nlgs->base.options;
    const auto_options *opt = base->options;
    s->decide = AUTO_FIRST;
    s->since = 0;
    s->mark = INFINITY;
    nlgs->leave = auto_leave;
    nlgs->leave_user = s;
    nlgs->base.monitor = base->monitor;
    nlgs->base.monitor_user = base->monitor_user;
    nlgs->base.prepare_seconds = base->prepare_seconds + seconds;
    inner->common = opt->common;
    inner->common.iterations -= done;
    inner->patience = AUTO_PATIENCE;
    if (auto_is_large(s)) {
        inner->inertia = AUTO_INERTIA;
        inner->follow = true;
        inner->proximal = auto_is_zero(base->problem, r) ? AUTO_CALM : 0.0;
        inner->patience = AUTO_LONG;
        inner->relaxed = AUTO_RELAXED;
        if (inner->common.check == 0) inner->common.check = AUTO_CHECK;
        tl_log(base->ctx, TALUS_LOG_INFO,
               "auto: %d contacts: sweeps with inertia %g at first and proximal term %g; if from "
               "zero, %d under the associated law before",
               base->problem->count, inner->inertia, inner->proximal, inner->relaxed);
    }
    nlgs->base.ops->solve(&nlgs->base, r, info);
    info->iterations += done;
    nlgs->leave = NULL;
    nlgs->base.monitor = NULL;
    inner->patience = 0;
    inner->inertia = inner->proximal = 0.0;
    inner->follow = false;
    inner->relaxed = 0;
}

// The witness g says g·(W r + q) = g·q < 0 for every r, because W g = 0. To rounding W g is never
// zero: if the impulses found so far have moved that product by half, others may move it to zero.
static bool auto_believes(auto_solver *s) {
    tl_dual *dual = &s->newton.dual;
    double *g = s->newton.trial, *u = s->newton.trial_u;
    tl_dual_import(dual, s->witness, g); // a tension shifts both products alike
    tl_dual_apply(dual, dual->best, u);
    return tl_dual_dot(dual, g, u) < 0.5 * tl_dual_dot(dual, g, dual->w.q);
}

// No solution because no velocity is allowed? The witness is then kept.
static bool auto_infeasible(auto_solver *s) {
    tl_dual *dual = &s->newton.dual;
    talus_context *ctx = dual->base.ctx;
    const talus_problem *p = dual->w.problem;
    tl_feasibility answer = TL_UNDECIDED;
    if (!s->witness && TL_ALLOC(ctx, (int64_t)p->dim * p->count, &s->witness) != TALUS_OK)
        return false;
    if (tl_feasible(ctx, p, TL_FEASIBLE_LAW, &answer, s->witness) != TALUS_OK ||
        answer != TL_INFEASIBLE || !auto_believes(s))
        return false;
    int32_t most = 0;
    for (int32_t i = 1; i < p->count; i++)
        if (tl_norm(p->dim, s->witness + (int64_t)i * p->dim) >
            tl_norm(p->dim, s->witness + (int64_t)most * p->dim))
            most = i;
    tl_log(ctx, TALUS_LOG_INFO,
           "auto: no solution exists: impulses that cause no motion resist the free one, the "
           "largest at contact %d",
           most);
    dual->info->outcome = TALUS_OUTCOME_INFEASIBLE;
    dual->base.witness = s->witness;
    return true;
}

// Let another method try from zero; x becomes the better of its result and the best so far.
static void auto_other(auto_solver *s, const char *name, int32_t most) {
    tl_newton *newton = &s->newton;
    tl_dual *dual = &newton->dual;
    const tl_common_options *opt = dual->base.options;
    talus_solve_info info = {0};
    talus_solver *other = NULL;
    talus_status status = talus_solver_create(dual->base.ctx, name, &other);
    if (status == TALUS_OK) {
        tl_common_options *inner = other->options;
        *inner = *opt;
        inner->time_limit =
            opt->time_limit - dual->base.prepare_seconds - (tl_seconds() - dual->start);
        inner->iterations = opt->iterations - dual->iterations;
        if (inner->iterations > most) inner->iterations = most;
        status = talus_solver_prepare(other, dual->w.problem);
    }
    if (status == TALUS_OK) {
        // a start on the boundary of the cones would only hold an interior point up
        memset(newton->given, 0,
               (size_t)dual->w.problem->dim * (size_t)dual->w.problem->count * sizeof(double));
        other->ops->solve(other, newton->given, &info);
        if (info.measure < dual->best_measure)
            tl_dual_import(dual, newton->given, newton->x);
        else
            memcpy(newton->x, dual->best, (size_t)dual->size * sizeof *newton->x);
        tl_dual_apply(dual, newton->x, newton->u);
        dual->iterations += info.iterations;
        tl_log(dual->base.ctx, TALUS_LOG_INFO, "auto: %s from zero: %s, measure %.2e", name,
               talus_outcome_text(info.outcome), info.measure);
    }
    talus_solver_destroy(other);
}

// Where Newton is stuck: other ways, each with Newton after it. Masses that differ by a million ask
// for different ones: interior points where contacts slide, ADMM in a stack.
static void auto_others(auto_solver *s) {
    static const struct {
        const char *name;
        int32_t most, patience;
    } way[] = {{"nipm", AUTO_INTERIOR, AUTO_STUCK},
               {"ipm", AUTO_FROZEN, AUTO_STUCK},
               {"admm", AUTO_ADMM, 0}};
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        auto_other(s, way[k].name, way[k].most);
        if (tl_newton_proximal(&s->newton, AUTO_PROXIMAL, 0, way[k].patience)) return;
    }
}

// Gradients; true where they are the answer. Else the sweeps are set up and r is where these start.
static bool auto_smooth(auto_solver *s, double *r, talus_solve_info *info) {
    const talus_solver *base = &s->newton.dual.base;
    const auto_options *opt = base->options;
    talus_solver *smooth = s->smooth;
    smooth->monitor = base->monitor;
    smooth->monitor_user = base->monitor_user;
    smooth->prepare_seconds = base->prepare_seconds;
    smooth->ops->solve(smooth, r, info);
    const bool tired =
        info->outcome == TALUS_OUTCOME_ITERATION_LIMIT && info->iterations < opt->common.iterations;
    if (!tired && info->outcome != TALUS_OUTCOME_DIVERGED) return true;
    tl_log(base->ctx, TALUS_LOG_INFO, "auto: %d gradient steps, measure %.2e: sweeps take over",
           info->iterations, info->measure);
    if (auto_prepare_sweeps(s, base->problem) == TALUS_OK) return false;
    tl_log(base->ctx, TALUS_LOG_WARNING, "auto: no sweeps: %s",
           talus_context_last_error(base->ctx));
    return true;
}

static void auto_choose(talus_solver *base, double *r, talus_solve_info *info) {
    auto_solver *s = (auto_solver *)base;
    tl_newton *newton = &s->newton;
    const auto_options *opt = base->options;
    const double start = tl_seconds();
    if (s->smooth && auto_smooth(s, r, info)) return;
    auto_sweeps(s, r, info, info->iterations, tl_seconds() - start);
    if (info->outcome != TALUS_OUTCOME_STALLED || s->state != AUTO_THERE) return;
    const int32_t sweeps = info->iterations;
    newton->dual.warm = true;
    tl_newton_begin(newton, r, info);
    newton->dual.start = start;
    newton->dual.iterations = sweeps;
    if (!tl_newton_proximal(newton, AUTO_PROXIMAL, 0, opt->ready ? 0 : AUTO_STUCK) &&
        !auto_infeasible(s))
        auto_others(s);
    tl_dual_end(&newton->dual, r);
}

// What a solve sets up stays until the next prepare, and counts.
static void auto_solve(talus_solver *base, double *r, talus_solve_info *info) {
    size_t before, after, peak;
    talus_context_memory(base->ctx, &before, &peak);
    auto_choose(base, r, info);
    talus_context_memory(base->ctx, &after, &peak);
    base->memory += after - before;
}

static void auto_clear(talus_solver *base) {
    auto_solver *s = (auto_solver *)base;
    talus_solver_destroy(s->smooth);
    talus_solver_destroy(s->abreast);
    s->smooth = s->abreast = NULL;
    auto_clear_sweeps(s);
}

const tl_solver_ops tl_auto_ops = {
    .name = "auto",
    .summary = "chooses, watches and switches: sweeps, Newton, interior point",
    .size = sizeof(auto_solver),
    .options_size = sizeof(auto_options),
    .options = auto_rows,
    .prepare = auto_prepare,
    .solve = auto_solve,
    .clear = auto_clear,
    .reuses = true};
