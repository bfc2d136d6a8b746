// SPDX-License-Identifier: Apache-2.0
// Every solver, in the order of the help page.
#include "solve/solver_impl.h"

#define REGISTRY(X)                                                                                \
    X(auto)                                                                                        \
    X(nlgs)                                                                                        \
    X(jacobi)                                                                                      \
    X(pgd)                                                                                         \
    X(apgd)                                                                                        \
    X(apgd_as)                                                                                     \
    X(apgd_ar)                                                                                     \
    X(apgd_asr)                                                                                    \
    X(projected_gradient)                                                                          \
    X(spg)                                                                                         \
    X(aspg)                                                                                        \
    X(vi_eg)                                                                                       \
    X(newton_ac)                                                                                   \
    X(newton_ds)                                                                                   \
    X(newton_fb)                                                                                   \
    X(ppn)                                                                                         \
    X(polish)                                                                                      \
    X(ipm)                                                                                         \
    X(nipm)                                                                                        \
    X(lemke)                                                                                       \
    X(admm)                                                                                        \
    X(admm_lin)                                                                                    \
    X(ama)                                                                                         \
    X(dual_ama)                                                                                    \
    X(cp)                                                                                          \
    X(cadoux)                                                                                      \
    X(haslinger)                                                                                   \
    X(anderson)

#define REGISTRY_DECLARE(id) extern const tl_solver_ops tl_##id##_ops;
REGISTRY(REGISTRY_DECLARE)

#define REGISTRY_ENTRY(id) &tl_##id##_ops,
const tl_solver_ops *const tl_solver_registry[] = {REGISTRY(REGISTRY_ENTRY) NULL};
