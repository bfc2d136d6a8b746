// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "base/system.h"
#include <string.h>

talus_status tl_fail_errno(talus_context *ctx, const char *path, const char *what, int code) {
    char reason[128] = "";
    if (strerror_r(code, reason, sizeof reason) != 0) reason[0] = '\0';
    return tl_fail(ctx, TALUS_ERR_FILE, "%s: cannot be %s: %s", path, what, reason);
}

tl_hdf5_quiet tl_hdf5_quiet_begin(void) {
    tl_hdf5_quiet quiet = {NULL, NULL, false};
    quiet.saved = H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data) >= 0;
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void tl_hdf5_quiet_end(tl_hdf5_quiet quiet) {
    (void)H5Eclear2(H5E_DEFAULT);
    if (quiet.saved) (void)H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.data);
}
