// SPDX-License-Identifier: Apache-2.0
// Judges solutions without calling the library: plain loops over dense matrices, row major.
#ifndef TALUS_TESTS_VERIFY_H
#define TALUS_TESTS_VERIFY_H
#include <stdbool.h>
#include <stdint.h>

/// ‖ r − P_K(r − (u + g(u))) ‖₂ / max(1, qnorm) over n blocks of dimension d, K the Coulomb cone.
/// `zeta` (dilatancy) may be NULL; `associated` means zeta = mu.
double verify_natural(int d, int n, const double *mu, const double *zeta, bool associated,
                      const double *u, const double *r, double qnorm);
/// The same for the set |l_T| <= yield + mu l_N, l = r + tension n; both may be NULL.
double verify_natural_full(int d, int n, const double *mu, const double *zeta, const double *yield,
                           const double *tension, bool associated, const double *u, const double *r,
                           double qnorm);
/// z = nearest point to x in { z_N >= 0, |z_T| <= yield + mu z_N }.
void verify_project(int d, double mu, double yield, const double *x, double *z);

double verify_norm(int n, const double *x);
/// y = A x, A rows × cols
void verify_multiply(int rows, int cols, const double *a, const double *x, double *y);
/// x with A x = b by Gauss elimination with row exchanges; A and b are kept. False when singular.
bool verify_solve(int n, const double *a, const double *b, double *x);
/// u = W r + q, W size × size
void verify_local_u(int size, const double *w, const double *q, const double *r, double *u);
/// W = H M⁻¹ Hᵀ and q = H M⁻¹ f + w; H size × dof. False when M is singular.
bool verify_delassus(int size, int dof, const double *m, const double *h, const double *f,
                     const double *w, double *delassus, double *q);
/// The global state: v, λ from the full saddle-point system with rows × dof constraints C v = k,
/// and u = H v + w. C may be NULL with rows == 0; lambda may be NULL. False when singular.
bool verify_global_state(int size, int dof, int rows, const double *m, const double *h,
                         const double *c, const double *f, const double *k, const double *w,
                         const double *r, double *v, double *u, double *lambda);
/// W and q of the same: u = W r + q with the constraints held. False when singular.
bool verify_global_operator(int size, int dof, int rows, const double *m, const double *h,
                            const double *c, const double *f, const double *k, const double *w,
                            double *delassus, double *q);
/// Dense size × size copy of block rows.
void verify_dense(int d, int n, const int64_t *start, const int32_t *col, const double *block,
                  double *w);

#endif // TALUS_TESTS_VERIFY_H
