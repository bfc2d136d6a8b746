# SPDX-License-Identifier: Apache-2.0
# One program per tests/fuzz/fuzz_<topic>.c, for libFuzzer (clang). The rooms are compiled with
# -fsanitize=fuzzer-no-link (preset "fuzz"); the driver comes in with the programs.
file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(file IN LISTS files)
    get_filename_component(stem ${file} NAME_WE)
    add_executable(${stem} ${file})
    target_include_directories(${stem} PRIVATE ${TALUS_FENCES})
    target_link_libraries(${stem} PRIVATE talus_static)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
endforeach()
