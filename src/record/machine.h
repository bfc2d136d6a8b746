// SPDX-License-Identifier: Apache-2.0
// The machine a run was made on, in a line.
#ifndef TL_RECORD_MACHINE_H
#define TL_RECORD_MACHINE_H
#include <stddef.h>

/// "processor, N cores, M GB, system"; what the system does not tell is left out.
void tl_machine_text(char *out, size_t size);

#endif // TL_RECORD_MACHINE_H
