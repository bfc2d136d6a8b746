# SPDX-License-Identifier: Apache-2.0
# The rooms of src/, from the lowest up. A room sees itself, the rooms before it in this list and
# include/, nothing else: every room has a directory of its own under fence/ that holds one link to
# its sources, and a room's target gets only the directories it may use. An include of a later room
# therefore does not compile (tests/build/test_fence.sh). A shorter list, -DTALUS_ROOMS="base;linalg",
# puts the lower rooms alone into the target talus_static; tests need them all.
if(NOT DEFINED TALUS_ROOMS)
    set(TALUS_ROOMS base linalg cone problem solve collide model rigid rod sand world record observe picture scene)
endif()

set(TALUS_FENCES "")  # include directories of all rooms so far
set(TALUS_OBJECTS "") # objects of all rooms so far
foreach(room IN LISTS TALUS_ROOMS)
    set(fence ${CMAKE_BINARY_DIR}/fence/${room})
    file(MAKE_DIRECTORY ${fence})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${room} ${fence}/${room} SYMBOLIC)
    list(APPEND TALUS_FENCES ${fence})

    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.c)
    if(sources)
        add_library(tl_${room} OBJECT ${sources})
        target_include_directories(tl_${room} PRIVATE ${CMAKE_SOURCE_DIR}/include ${TALUS_FENCES})
        target_link_libraries(tl_${room} PRIVATE talus_dependencies)
        list(APPEND TALUS_OBJECTS $<TARGET_OBJECTS:tl_${room}>)
    endif()
endforeach()

# Facts that `talus --version` shows. The commit is looked up at every build, but the file it goes
# into is rewritten, and so recompiled, only when it has changed.
set(TALUS_COMMIT_C ${CMAKE_BINARY_DIR}/generated/commit.c)
add_custom_target(talus_commit
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${TALUS_COMMIT_C}
        -P ${CMAKE_SOURCE_DIR}/cmake/commit.cmake
    BYPRODUCTS ${TALUS_COMMIT_C} COMMENT "" VERBATIM)
if(TARGET tl_base)
    target_sources(tl_base PRIVATE ${TALUS_COMMIT_C})
    add_dependencies(tl_base talus_commit)
    set(flags "${CMAKE_BUILD_TYPE}")
    if(TALUS_SANITIZE)
        string(APPEND flags " with ${TALUS_SANITIZE} sanitizer")
    endif()
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/build_info.c PROPERTIES
        COMPILE_DEFINITIONS
        "TL_VERSION=\"${PROJECT_VERSION}\";TL_FLAGS=\"${flags}\";TL_FEATURES=\"${TALUS_FEATURES}\"")
endif()
