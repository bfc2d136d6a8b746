// SPDX-License-Identifier: Apache-2.0
// Scenes written in a test.
#ifndef TALUS_TESTS_SCENE_TEXT_H
#define TALUS_TESTS_SCENE_TEXT_H
#include "talus/scene.h"

/// The world of a scene; `info` may be NULL. Fails the test where the scene is refused.
talus_world *world_of(const char *text, talus_scene_info *info);
/// Let memory give out at the first request, the second … until the world of the scene can be made,
/// and see that nothing is left behind each time; returns how often it gave out.
int64_t world_without_memory(const char *text);

#endif // TALUS_TESTS_SCENE_TEXT_H
