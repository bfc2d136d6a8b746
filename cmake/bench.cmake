# SPDX-License-Identifier: Apache-2.0
# bench/{kernels,solvers,scenes}/<name>.c become programs in <build>/bench; they are no tests, but may use
# the problem generators of tests/support ("support/<name>.h").
foreach(dir kernels solvers scenes)
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/${dir}/*.c)
    if(NOT TARGET talus_static)
        continue()
    endif()
    foreach(file IN LISTS files)
        get_filename_component(stem ${file} NAME_WE)
        add_executable(bench_${dir}_${stem} ${file})
        set_target_properties(bench_${dir}_${stem} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench OUTPUT_NAME ${stem})
        target_include_directories(bench_${dir}_${stem} PRIVATE ${TALUS_FENCES})
        target_link_libraries(bench_${dir}_${stem} PRIVATE talus_static)
        if(TARGET talus_test_support)
            target_link_libraries(bench_${dir}_${stem} PRIVATE talus_test_support)
        endif()
        target_compile_definitions(bench_${dir}_${stem} PRIVATE
            TALUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    endforeach()
endforeach()
