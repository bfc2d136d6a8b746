// SPDX-License-Identifier: Apache-2.0
// Dealings with the system that several rooms have: the text of an errno, and keeping HDF5 quiet.
#ifndef TL_BASE_SYSTEM_H
#define TL_BASE_SYSTEM_H
#include "base/context.h"
#include <hdf5.h>

/// Fail with TALUS_ERR_FILE: "PATH: cannot be WHAT: text of `code`".
talus_status tl_fail_errno(talus_context *ctx, const char *path, const char *what,
                           int code) TL_COLD;

/// The HDF5 error stack would be printed on stderr: it is switched off while we are inside.
typedef struct tl_hdf5_quiet {
    H5E_auto2_t function;
    void *data;
    bool saved;
} tl_hdf5_quiet;

tl_hdf5_quiet tl_hdf5_quiet_begin(void);
void tl_hdf5_quiet_end(tl_hdf5_quiet quiet);

#endif // TL_BASE_SYSTEM_H
