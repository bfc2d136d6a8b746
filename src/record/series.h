// SPDX-License-Identifier: Apache-2.0
// Series besides the ledger: their datasets, and the text that lists them.
#ifndef TL_RECORD_SERIES_H
#define TL_RECORD_SERIES_H
#include "record/layout.h"
#include "talus/record.h"

enum { TL_SERIES_PATH = 96 };

/// The dataset of a series.
tl_column_def tl_series_column(const talus_ledger_field *field, char path[TL_SERIES_PATH]);
/// The text of /series; names that cannot be are an error.
talus_status tl_series_write(talus_context *ctx, const talus_ledger_field *field, int32_t count,
                             char **out) TALUS_MUST_CHECK;
/// What such a text lists; the fields point into the text, which is cut up.
talus_status tl_series_read(talus_context *ctx, char *text, talus_ledger_field **out,
                            int32_t *count) TALUS_MUST_CHECK;

#endif // TL_RECORD_SERIES_H
