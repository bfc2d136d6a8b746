// SPDX-License-Identifier: Apache-2.0
// What a solver is made of. A new one is a file solver_<name>.c with a tl_solver_ops and a line in
// registry.c [docs/dev/adding-a-solver.md].
#ifndef TL_SOLVE_SOLVER_IMPL_H
#define TL_SOLVE_SOLVER_IMPL_H
#include "problem/problem_impl.h"
#include "solve/options.h"

/// Options that every solver has; first member of each options struct.
typedef struct tl_common_options {
    double tolerance;   // on the measure named by `stop`
    int32_t stop;       // a tl_measure
    int32_t iterations; // limit
    double time_limit;  // [s]
    int32_t threads;
    int32_t check; // iterations between checks of the measure; 0: chosen by the solver
} tl_common_options;

/// Measures a solver can stop on; the first is the certificate's.
typedef enum tl_measure {
    TL_MEASURE_NATURAL,     // certificate.natural
    TL_MEASURE_RESIDUAL,    // certificate.residual
    TL_MEASURE_FB,          // max |F_FB|², the hybrid solver's paper
    TL_MEASURE_BIPOTENTIAL, // mean of the gaps in the law, Dumont's eps_glob
    TL_MEASURE_CHANGE,      // max |Δr_N| + max |Δr_T| of the last sweep, Abide et al.
    TL_MEASURE_STEP,        // |Δr| / (|r before| + unit), Bloch and Lefebvre-Lepot
} tl_measure;

typedef struct tl_solver_ops {
    const char *name, *summary;
    size_t size;              // of the solver's struct, whose first member is a talus_solver
    size_t options_size;      // of its options struct, whose first member is a tl_common_options
    const tl_option *options; // its own rows, ended by key == NULL
    /// Why the method is not for this problem, with a remedy; NULL where it is. May itself be NULL:
    /// then it is for all.
    const char *(*refuses)(const talus_solver *s, const talus_problem *p);
    talus_status (*prepare)(talus_solver *s, const talus_problem *p);
    void (*solve)(talus_solver *s, double *r, talus_solve_info *info);
    void (*clear)(talus_solver *s); // what prepare made; legal after a failed prepare and twice
    /// q, mu, dilatancy and yield of the prepared problem (which has no tension) have changed: take
    /// them over, as if prepared again. Allocates nothing. NULL: the solver cannot be an inner one
    /// [solve/outer.h].
    void (*refresh)(talus_solver *s);
    bool rows;   // the method has a place for constraint rows: it is given the problem as it is,
                 // others the condensed one [problem/condense.h]
    bool reuses; // prepare may be called again without clear, and then takes the memory it has
} tl_solver_ops;

struct talus_solver {
    talus_context *ctx;
    const tl_solver_ops *ops;
    void *options;
    const talus_problem *problem; // NULL until prepared
    talus_monitor monitor;
    void *monitor_user;
    double prepare_seconds;
    size_t memory;
    const double *witness; // see talus_solver_witness
};

/// Give the memory back that a prepare took; another has to come before the next solve.
void tl_solver_rest(talus_solver *s);

extern const tl_solver_ops *const tl_solver_registry[]; // ends with NULL
extern const tl_option tl_common_rows[];                // ended by key == NULL

#endif // TL_SOLVE_SOLVER_IMPL_H
