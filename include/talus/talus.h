// SPDX-License-Identifier: Apache-2.0
// All of Talus.
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H
#include "talus/base.h"
#include "talus/file.h"
#include "talus/mesh.h"
#include "talus/observe.h"
#include "talus/picture.h"
#include "talus/problem.h"
#include "talus/record.h"
#include "talus/scene.h"
#include "talus/shape.h"
#include "talus/solver.h"
#include "talus/surface.h"
#include "talus/world.h"
#endif // TALUS_TALUS_H
