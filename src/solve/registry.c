// SPDX-License-Identifier: Apache-2.0
// Every solver, in the order of the help page.
#include "solve/solver_impl.h"

extern const tl_solver_ops tl_nlgs_ops, tl_jacobi_ops, tl_pgd_ops, tl_apgd_ar_ops, tl_apgd_asr_ops,
    tl_vi_eg_ops, tl_newton_ac_ops, tl_newton_ds_ops, tl_newton_fb_ops, tl_ppn_ops;

const tl_solver_ops *const tl_solver_registry[] = {
    &tl_nlgs_ops,  &tl_jacobi_ops,    &tl_pgd_ops,       &tl_apgd_ar_ops,   &tl_apgd_asr_ops,
    &tl_vi_eg_ops, &tl_newton_ac_ops, &tl_newton_ds_ops, &tl_newton_fb_ops, &tl_ppn_ops,
    NULL};
