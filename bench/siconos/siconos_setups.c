// SPDX-License-Identifier: Apache-2.0
// The set-ups of Siconos that are tried: a table of methods, and the variants of NSGS.
//
// A method is a solver of Siconos with some of its parameters changed. Names follow the lists of
// Siconos' own comparisons: NSN_AC nonsmooth Newton (Alart-Curnier), FB Fischer-Burmeister, PROX
// proximal point, VI_EG extragradient, br residual balancing of ADMM's rho, scal rescaled, WR
// reformulated to the local form first, g global.
#define _GNU_SOURCE
#include "siconos_side.h"
#include <Friction_cst.h>
#include <SolverOptions.h>
#include <stdio.h>

enum {
    DENSE_LIMIT = 2000, // rows of W: 32 MB
    KNOB_LIMIT = 3,
    // What a method is for.
    LOCAL_3D = 1,
    GLOBAL_3D = 2,
    LOCAL_2D = 4,
    GLOBAL_2D = 8,
    // Storages of W as bits.
    BLOCKS = 1 << SICONOS_BLOCKS,
    SPARSE = 1 << SICONOS_SPARSE,
    DENSE = 1 << SICONOS_DENSE,
    ANY = BLOCKS | SPARSE | DENSE,
    // Indices and values of the VI solvers, whose header the package does not hold.
    VI_LINE_SEARCH = 6, // 0 Khobotov, 1 Solodov and Tseng
    VI_ERROR = 7,       // 0 full, 1 light with a full one at the end, 2 light
};

typedef enum knob_kind { KNOB_NONE, KNOB_INT, KNOB_INNER } knob_kind;
typedef struct knob {
    knob_kind kind; // KNOB_INNER: an integer of the first inner solver
    int index, value;
} knob;

typedef struct method {
    const char *name;
    int solver;
    unsigned form;
    unsigned takes; // storages that the solver can read
    unsigned tries; // those of the first try; the best set-ups are timed in all they take
    int inner;      // first inner solver, 0: Siconos' choice
    knob knobs[KNOB_LIMIT];
} method;

// clang-format off
#define LOCAL(name, id, tries, ...) \
    {name, SICONOS_FRICTION_3D_##id, LOCAL_3D, ANY, tries, 0, {__VA_ARGS__}}
#define PROXIMAL(name, inner, tries, ...) \
    {name, SICONOS_FRICTION_3D_PROX, LOCAL_3D, ANY, tries, SICONOS_FRICTION_3D_##inner, \
     {__VA_ARGS__}}
#define GLOBAL(name, id, ...) \
    {name, SICONOS_GLOBAL_FRICTION_3D_##id, GLOBAL_3D, SPARSE, SPARSE, 0, {__VA_ARGS__}}
#define PLANE(name, id, form, takes, tries) \
    {name, SICONOS_FRICTION_2D_##id, form, takes, tries, 0, {DEFAULTS}}

#define DEFAULTS            {KNOB_NONE, 0, 0}
#define INT(index, value)   {KNOB_INT, SICONOS_FRICTION_3D_##index, SICONOS_FRICTION_3D_##value}
#define INNER(index, value) {KNOB_INNER, SICONOS_FRICTION_3D_##index, SICONOS_FRICTION_3D_##value}
#define VI(index, value)    {KNOB_INT, VI_##index, value}
#define MAX_ITER(value)     {KNOB_INT, SICONOS_IPARAM_MAX_ITER, value}
#define LU          INT(NSN_LINEAR_SOLVER, NSN_USE_CSLUSOL)
#define INNER_LU    INNER(NSN_LINEAR_SOLVER, NSN_USE_CSLUSOL)
#define RHO(by)     INT(NSN_RHO_STRATEGY, NSN_FORMULATION_RHO_STRATEGY_##by)
#define BR          INT(ADMM_IPARAM_RHO_STRATEGY, ADMM_RHO_STRATEGY_RESIDUAL_BALANCING)
#define BR_SCALED   INT(ADMM_IPARAM_RHO_STRATEGY, ADMM_RHO_STRATEGY_SCALED_RESIDUAL_BALANCING)
#define RHO_NORM    INT(ADMM_IPARAM_INITIAL_RHO, ADMM_INITIAL_RHO_NORM_INF)
#define SYMMETRIZE  INT(ADMM_IPARAM_SYMMETRY, ADMM_SYMMETRIZE)
#define ASYMMETRIC  INT(ADMM_IPARAM_SYMMETRY, ADMM_FORCED_ASYMMETRY)
#define PLAIN       INT(ADMM_IPARAM_ACCELERATION, ADMM_NO_ACCELERATION)
#define RESCALE(by) INT(IPARAM_RESCALING, RESCALING_##by)

// What mostly works stands first, for its time limits what the others are given; NSGS with its many
// variants stands late. Left out because they do nothing or never end in Siconos 4.4: VI_EG with the
// rule of Han and Sun, ADMM with rho from eigenvalues, FPP with a step that it looks for.
static const method methods[] = {
    LOCAL("VI_EG", VI_EG, BLOCKS | DENSE, DEFAULTS),
    LOCAL("PROX-reg", PROX, ANY, INNER_LU, INT(PROXIMAL_IPARAM_STRATEGY, PROXIMAL_REGULARIZATION)),
    LOCAL("VI_EG-full", VI_EG, BLOCKS, VI(ERROR, 0)),
    LOCAL("VI_EG-light", VI_EG, BLOCKS, VI(ERROR, 2)),
    LOCAL("VI_EG-ST", VI_EG, BLOCKS, VI(LINE_SEARCH, 1)),
    LOCAL("VI_FPP", VI_FPP, BLOCKS, DEFAULTS),
    LOCAL("VI_FPP-full", VI_FPP, BLOCKS, VI(ERROR, 0)),
    LOCAL("NSN_AC", NSN_AC, ANY, DEFAULTS),
    LOCAL("NSN_AC-LU", NSN_AC, BLOCKS | SPARSE, LU),
    LOCAL("NSN_AC-split", NSN_AC, ANY, LU, RHO(SPLIT_SPECTRAL_NORM)),
    LOCAL("NSN_AC-splitcond", NSN_AC, ANY, LU, RHO(SPLIT_SPECTRAL_NORM_COND)),
    LOCAL("NSN_AC-rho1", NSN_AC, ANY, LU, RHO(CONSTANT)),
    LOCAL("NSN_AC-std", NSN_AC, ANY, LU, INT(NSN_FORMULATION, NSN_FORMULATION_ALARTCURNIER_STD)),
    LOCAL("NSN_JM", NSN_AC, ANY, LU, INT(NSN_FORMULATION, NSN_FORMULATION_JEANMOREAU_GENERATED)),
    LOCAL("NSN_AC-VI_EG", NSN_AC, ANY, LU, INT(NSN_HYBRID_STRATEGY, NSN_HYBRID_STRATEGY_VI_EG_NSN)),
    LOCAL("NSN_FB", NSN_FB, ANY, DEFAULTS),
    LOCAL("NSN_FB-LU", NSN_FB, BLOCKS | SPARSE, LU),
    LOCAL("NSN_FB-armijo", NSN_FB, ANY, LU, INT(NSN_LINESEARCH, NSN_LINESEARCH_ARMIJO)),
    LOCAL("NSN_NM", NSN_NM, ANY, LU),
    LOCAL("PROX", PROX, ANY, DEFAULTS),
    LOCAL("PROX-LU", PROX, BLOCKS | SPARSE, INNER_LU),
    PROXIMAL("PROX-NSN_FB", NSN_FB, ANY, INNER_LU),
    PROXIMAL("PROX-NSGS", NSGS, BLOCKS, DEFAULTS),
    LOCAL("ADMM", ADMM, SPARSE | DENSE, DEFAULTS),
    LOCAL("ADMM-br", ADMM, SPARSE | DENSE, BR),
    LOCAL("ADMM-br-plain", ADMM, SPARSE | DENSE, BR, PLAIN),
    LOCAL("ADMM-br-norm", ADMM, SPARSE | DENSE, BR, RHO_NORM),
    LOCAL("ADMM-br-scal", ADMM, SPARSE | DENSE, BR, RESCALE(SCALAR)),
    LOCAL("ADMM-br-sym", ADMM, SPARSE | DENSE, BR, SYMMETRIZE),
    LOCAL("ADMM-br-asym", ADMM, SPARSE | DENSE, BR, ASYMMETRIC),
    LOCAL("ADMM-sbr", ADMM, SPARSE | DENSE, BR_SCALED),
    LOCAL("ADMM-norm", ADMM, SPARSE | DENSE, RHO_NORM),
    LOCAL("NSGS", NSGS, BLOCKS, DEFAULTS),
    LOCAL("EG", EG, BLOCKS, DEFAULTS),
    LOCAL("HP", HP, BLOCKS, DEFAULTS),
    LOCAL("TFP", TFP, BLOCKS, DEFAULTS),
    LOCAL("ACLMFP", ACLMFP, BLOCKS, DEFAULTS),

    GLOBAL("gVI_EG", VI_EG, DEFAULTS),
    GLOBAL("gVI_FPP", VI_FPP, DEFAULTS),
    GLOBAL("gNSGS", NSGS, DEFAULTS),
    GLOBAL("gADMM", ADMM, DEFAULTS),
    GLOBAL("gADMM-scal", ADMM, RESCALE(SCALAR)),
    GLOBAL("gADMM-br", ADMM, BR),
    GLOBAL("gADMM-br-scal", ADMM, BR, RESCALE(SCALAR)),
    GLOBAL("gADMM-br-scal-plain", ADMM, BR, RESCALE(SCALAR), PLAIN),
    GLOBAL("gADMM-br-scalM", ADMM, BR, RESCALE(BALANCING_M)),
    GLOBAL("gADMM-br-scalMH", ADMM, BR, RESCALE(BALANCING_MH)),
    GLOBAL("gADMM-sbr-scal", ADMM, BR_SCALED, RESCALE(SCALAR)),
    GLOBAL("gADMM-br-norm", ADMM, BR, RHO_NORM),
    GLOBAL("gADMM_WR", ADMM_WR, BR),
    GLOBAL("gNSN_AC_WR", NSN_AC_WR, LU),
    GLOBAL("gNSN_AC", NSN_AC, DEFAULTS),
    GLOBAL("gPROX_WR", PROX_WR, INNER_LU),
    GLOBAL("gNSGS_WR", NSGS_WR, DEFAULTS),
    GLOBAL("gTFP_WR", TFP_WR, DEFAULTS),
    GLOBAL("gDSFP_WR", DSFP_WR, DEFAULTS),
    GLOBAL("gACLMFP", ACLMFP, DEFAULTS),
    GLOBAL("gIPM", IPM, MAX_ITER(1000)),

    PLANE("2D-NSGS", NSGS, LOCAL_2D, BLOCKS | DENSE, BLOCKS),
    PLANE("2D-CPG", CPG, LOCAL_2D, DENSE, DENSE),
    PLANE("2D-LEMKE", LEMKE, LOCAL_2D, DENSE, DENSE),
    PLANE("g2D-NSGS_WR", NSGS, GLOBAL_2D, SPARSE, SPARSE),
    PLANE("g2D-CPG_WR", CPG, GLOBAL_2D, SPARSE, SPARSE),
    PLANE("g2D-LEMKE_WR", LEMKE, GLOBAL_2D, SPARSE, SPARSE),
};
// clang-format on
static const int method_count = (int)(sizeof methods / sizeof *methods);

// The variants of NSGS. In 3D: the one-contact solvers that belong to the exact Coulomb law, ways
// to evaluate the stop test, and tolerances of the one-contact solver.
static const struct {
    int id;
    const char *name;
} locals[] = {
    {SICONOS_FRICTION_3D_ONECONTACT_NSN_GP_HYBRID, "NSN_GP_HYBRID"},
    {SICONOS_FRICTION_3D_ONECONTACT_NSN_GP, "NSN_GP"},
    {SICONOS_FRICTION_3D_ONECONTACT_NSN, "NSN"},
    {SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration, "ProjLocalIter"},
    {SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnCone, "Proj"},
    {SICONOS_FRICTION_3D_ONECONTACT_QUARTIC, "QUARTIC"},
};
static const int errors[] = {SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL,
                             SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT,
                             SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT_WITH_FULL_FINAL};
static const char *const error_names[] = {"full", "light", "light+full"};
static const int strategies[] = {SICONOS_FRICTION_3D_INTERNAL_ERROR_STRATEGY_GIVEN_VALUE,
                                 SICONOS_FRICTION_3D_INTERNAL_ERROR_STRATEGY_ADAPTIVE};
enum { LOCALS = sizeof locals / sizeof *locals, ERRORS = 3, STRATEGIES = 2 };

static unsigned form_of(const bench_case *c) {
    if (c->dim == 3) return c->form == BENCH_GLOBAL ? GLOBAL_3D : LOCAL_3D;
    if (c->dim == 2) return c->form == BENCH_GLOBAL ? GLOBAL_2D : LOCAL_2D;
    return 0;
}

static bool storage_fits(const bench_case *c, unsigned storages, siconos_storage storage) {
    if (storage == SICONOS_DENSE && c->dim * c->count > DENSE_LIMIT) return false;
    return (storages >> storage & 1u) != 0;
}

static bool is_nsgs(const method *m) { // has variants
    return m->solver == SICONOS_FRICTION_3D_NSGS || m->solver == SICONOS_FRICTION_2D_NSGS ||
           m->solver == SICONOS_GLOBAL_FRICTION_3D_NSGS_WR;
}

static int variant_count(const bench_case *c, const method *m) {
    if (!is_nsgs(m)) return 1;
    // In 2D the full evaluation never tests for convergence, so the light ones only.
    return c->dim == 3 ? LOCALS * ERRORS * STRATEGIES : ERRORS - 1;
}

static void set_variant(const bench_case *c, int index, siconos_setup *out) {
    if (c->dim == 2) {
        out->error = errors[1 + index];
        return;
    }
    out->local = locals[index % LOCALS].id;
    out->error = errors[index / LOCALS % ERRORS];
    out->strategy = strategies[index / LOCALS / ERRORS];
}

bool siconos_setup_at(const bench_case *c, bool all, int index, siconos_setup *out) {
    for (int k = 0; k < method_count; k++) {
        const method *m = &methods[k];
        if ((m->form & form_of(c)) == 0 || (!all && !is_nsgs(m))) continue;
        for (int storage = SICONOS_BLOCKS; storage <= SICONOS_DENSE; storage++) {
            if (!storage_fits(c, m->tries, (siconos_storage)storage)) continue;
            const int variants = variant_count(c, m);
            if (index >= variants) {
                index -= variants;
                continue;
            }
            *out = (siconos_setup){.method = k, .storage = (siconos_storage)storage};
            if (is_nsgs(m)) set_variant(c, index, out);
            return true;
        }
    }
    return false;
}

bool siconos_takes(const bench_case *c, const siconos_setup *s, siconos_storage storage) {
    return storage_fits(c, methods[s->method].takes, storage);
}

bool siconos_setup_equal(const siconos_setup *a, const siconos_setup *b) {
    return a->method == b->method && a->local == b->local && a->error == b->error &&
           a->strategy == b->strategy && a->storage == b->storage;
}

const char *siconos_method_name(const siconos_setup *s) { return methods[s->method].name; }

void siconos_setup_name(const siconos_setup *s, char *text, size_t size) {
    static const char *const storages[] = {"sbm", "sparse", "dense"};
    const method *m = &methods[s->method];
    char variant[64] = "";
    if (is_nsgs(m)) {
        const char *local = NULL;
        for (int k = 0; k < LOCALS; k++)
            if (locals[k].id == s->local) local = locals[k].name;
        snprintf(variant, sizeof variant, "%s%s/%s%s", local ? "-" : "", local ? local : "",
                 error_names[s->error], local && s->strategy == strategies[1] ? "/adaptive" : "");
    }
    snprintf(text, size, "%s%s/%s", m->name, variant, storages[s->storage]);
}

static void set_knob(SolverOptions *o, const knob *k) {
    if (k->kind == KNOB_INT) o->iparam[k->index] = k->value;
    if (k->kind == KNOB_INNER) o->internalSolvers[0]->iparam[k->index] = k->value;
}

struct SolverOptions *siconos_setup_options(const siconos_setup *s, double tolerance) {
    const method *m = &methods[s->method];
    SolverOptions *o = solver_options_create(m->solver);
    o->dparam[SICONOS_DPARAM_TOL] = tolerance;
    o->iparam[SICONOS_IPARAM_MAX_ITER] = 100000000; // the time limit of the caller ends it
    if (m->inner != 0) solver_options_update_internal(o, 0, m->inner);
    if (is_nsgs(m)) {
        o->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = s->error;
        if (s->local != 0) {
            o->iparam[SICONOS_FRICTION_3D_IPARAM_INTERNAL_ERROR_STRATEGY] = s->strategy;
            solver_options_update_internal(o, 0, s->local);
        }
    }
    for (int k = 0; k < KNOB_LIMIT; k++) set_knob(o, &m->knobs[k]);
    return o;
}
