// SPDX-License-Identifier: Apache-2.0
// Shared by the files that read and write FCLIB problems (HDF5).
//
// Layout of a file; [ ] may be absent, all datasets have rank 0 or 1:
//
//     /fclib_local   spacedim, W, [V, R], vectors/{q, mu, [s]}
//                    with u = W r + V l + q, Vᵀr + R l + s = 0
//     /fclib_global  spacedim, M, H, [G], vectors/{f, w, mu, [b]}
//                    with M v = H r + G l + f, Gᵀv + b = 0, u = Hᵀv + w
//     either one     [info/{title, description, math_info}]
//                    [talus/{law, dilatancy, yield, tension, body_start}]
//     /solution      [v, u, r, l]
//     /guesses       number_of_guesses, 1/…, 2/…, each like /solution
//
// H and G stand transposed to ours. A matrix is m n nz nzmax p i x, see fclib_read.c. The group
// `talus` is ours: what the format has no place for, and the grouping of the velocity unknowns.
#ifndef TL_FCLIB_IMPL_H
#define TL_FCLIB_IMPL_H
#include "base/system.h"
#include "problem/problem_impl.h"
#include "talus/file.h"

#define TL_FCLIB_ENTRY 128 // longest name of an entry that we form

/// A file open for reading.
typedef struct tl_fclib_file {
    talus_context *ctx;
    const char *path;
    hid_t id;
    int64_t bytes; // size of the file: no entry may claim more than it can hold
} tl_fclib_file;

talus_status tl_fclib_open(tl_fclib_file *file) TALUS_MUST_CHECK; // from ctx and path
void tl_fclib_close(tl_fclib_file *file);
/// "group/name" into `entry`.
void tl_fclib_entry(char entry[TL_FCLIB_ENTRY], const char *group, const char *name);
/// Is there a group or dataset of that full name?
bool tl_fclib_has(const tl_fclib_file *file, const char *entry);

talus_status tl_fclib_read_scalar(const tl_fclib_file *file, const char *group, const char *name,
                                  int32_t *out) TALUS_MUST_CHECK;
talus_status tl_fclib_read_ints(const tl_fclib_file *file, const char *entry, int64_t *length,
                                int32_t **out) TALUS_MUST_CHECK;
/// Values in any number; not checked for NaN.
talus_status tl_fclib_read_doubles(const tl_fclib_file *file, const char *entry, int64_t *length,
                                   double **out) TALUS_MUST_CHECK;
/// Exactly `length` finite values; `reason` says in an error where that number comes from.
talus_status tl_fclib_read_vector(const tl_fclib_file *file, const char *group, const char *name,
                                  int64_t length, const char *reason,
                                  double **out) TALUS_MUST_CHECK;
/// The same for a part of a guess or a solution. Programs in use create these and do not write
/// them; they count as zeros then, as HDF5 has it. The length is that of stored data, so it is
/// sane.
talus_status tl_fclib_read_state(const tl_fclib_file *file, const char *group, const char *name,
                                 int64_t length, const char *reason, double **out) TALUS_MUST_CHECK;
/// A string; NULL when the entry is absent.
talus_status tl_fclib_read_string(const tl_fclib_file *file, const char *group, const char *name,
                                  char **out) TALUS_MUST_CHECK;

/// A matrix by entries in any order; duplicates add up.
typedef struct tl_fclib_matrix {
    int32_t rows, cols;
    int64_t count;
    int32_t *row, *col;
    double *value;
} tl_fclib_matrix;

/// All indices of the result are in range and all values finite.
talus_status tl_fclib_read_matrix(const tl_fclib_file *file, const char *group,
                                  tl_fclib_matrix *out) TALUS_MUST_CHECK;
void tl_fclib_matrix_clear(talus_context *ctx, tl_fclib_matrix *matrix);

/// What a file holds, as it is stored there. Matrices that are absent have no rows and columns.
typedef struct tl_fclib_data {
    bool is_global;
    int32_t dim, count;
    int32_t dof, constraints;
    tl_fclib_matrix w, v, r; // local
    tl_fclib_matrix m, h, g; // global
    double *q, *s;           // local
    double *f, *b, *free_w;  // global; free_w is the file's w
    double *mu, *dilatancy, *yield, *tension;
    talus_law law;
    int32_t *body_start; // NULL: the file does not say
    int32_t body_count;
} tl_fclib_data;

/// From the entries of the file to block rows, and on to the problem.
talus_status tl_fclib_build(talus_context *ctx, const tl_fclib_data *data,
                            talus_problem **out) TALUS_MUST_CHECK;

#endif // TL_FCLIB_IMPL_H
