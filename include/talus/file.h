// SPDX-License-Identifier: Apache-2.0
// Problem files of the field: FCLIB (HDF5), local and global, with guesses and solutions.
#ifndef TALUS_FILE_H
#define TALUS_FILE_H
#include "talus/problem.h"
TALUS_EXTERN_C_BEGIN

/// A solution or a guess in a file; arrays NULL where the file has none, zeros where it has one
/// that was never written. Owned; clear after use.
typedef struct talus_solution {
    double *v; ///< dof
    double *u; ///< dim * count
    double *r; ///< dim * count
    double *l; ///< constraints
} talus_solution;

/// What stands in a file besides the problem. Owned by the caller after a read: clear it.
typedef struct talus_fclib_extra {
    char *title, *description, *math_info; ///< NULL when absent
    talus_solution *solution;              ///< NULL when absent
    talus_solution *guess;                 ///< guess_count of them
    int32_t guess_count;
} talus_fclib_extra;

/// Read a problem. A missing, foreign, truncated or inconsistent file is an error that names the
/// file and the entry; it never ends the process. `extra` may be NULL.
TALUS_API talus_status talus_fclib_read(talus_context *ctx, const char *path,
                                        talus_problem **problem,
                                        talus_fclib_extra *extra) TALUS_MUST_CHECK;
/// Write a problem (and what is in `extra`, which may be NULL) to a new file, replacing an old one
/// only once the new one is complete. A solution with r but without v, u or l is completed from r.
TALUS_API talus_status talus_fclib_write(talus_context *ctx, const char *path,
                                         const talus_problem *problem,
                                         const talus_fclib_extra *extra) TALUS_MUST_CHECK;
TALUS_API void talus_fclib_extra_clear(talus_context *ctx, talus_fclib_extra *extra);

TALUS_EXTERN_C_END
#endif // TALUS_FILE_H
