// SPDX-License-Identifier: Apache-2.0
// All of Talus.
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H
#include "talus/base.h"
#include "talus/file.h"
#include "talus/problem.h"
#include "talus/solver.h"
#endif // TALUS_TALUS_H
