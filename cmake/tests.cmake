# SPDX-License-Identifier: Apache-2.0
# One ctest per file tests/<dir>/test_<topic>.{c,sh,py}, named <dir>/<topic>, labelled <dir>. A line
# "ctest labels: a b" in a comment of the file adds labels; `threads` marks what runs under
# ThreadSanitizer. A line "ctest shards: n" makes n tests of the file, run with 1/n, 2/n … as their
# argument, so that they share the cores. C tests reach the internals of all rooms.
set(TALUS_TEST_DIRS unit conform physics regress cli build)
set(TALUS_TEST_TIMEOUT 300)
if(TALUS_SANITIZE OR TALUS_COVERAGE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(TALUS_TEST_TIMEOUT 1500)
endif()
set(TALUS_TEST_ENVIRONMENT
    TALUS=${CMAKE_BINARY_DIR}/bin/talus TALUS_SOURCE_DIR=${CMAKE_SOURCE_DIR}
    TALUS_BUILD_DIR=${CMAKE_BINARY_DIR} CC=${CMAKE_C_COMPILER} TALUS_SANITIZE=${TALUS_SANITIZE}
    TSAN_OPTIONS=halt_on_error=1:suppressions=${CMAKE_SOURCE_DIR}/tools/tsan.supp)

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
pkg_check_modules(FCLIB IMPORTED_TARGET fclib) # the field's own reader, to check what we write

function(talus_test_properties name file)
    get_filename_component(dir ${file} DIRECTORY)
    get_filename_component(dir ${dir} NAME)
    file(STRINGS ${file} labels REGEX "ctest labels:" LIMIT_COUNT 1)
    string(REGEX REPLACE ".*ctest labels: *" "" labels "${labels}")
    string(REPLACE " " ";" labels "${labels}")
    list(APPEND labels ${dir})
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}"
        LABELS "${labels}" TIMEOUT ${TALUS_TEST_TIMEOUT})
    # Teams of threads want the cores for themselves; beside others both would only wait.
    if("threads" IN_LIST labels)
        set_tests_properties(${name} PROPERTIES PROCESSORS 2)
    endif()
endfunction()

if(TARGET talus_static)
    file(GLOB support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.c)
    add_library(talus_test INTERFACE)
    if(support)
        add_library(talus_test_support STATIC ${support})
        target_link_libraries(talus_test_support PUBLIC talus_static PkgConfig::CMOCKA)
        target_include_directories(talus_test_support PUBLIC ${TALUS_FENCES}
            ${CMAKE_SOURCE_DIR}/tests)
        target_compile_definitions(talus_test_support PRIVATE
            TALUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
        target_link_libraries(talus_test INTERFACE talus_test_support)
    endif()
    # Headers of tests/support are included as "support/<name>.h".
    target_include_directories(talus_test INTERFACE ${TALUS_FENCES} ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(talus_test INTERFACE talus_static PkgConfig::CMOCKA)
    target_compile_definitions(talus_test INTERFACE TALUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(FCLIB_FOUND)
        target_link_libraries(talus_test INTERFACE PkgConfig::FCLIB)
        target_compile_definitions(talus_test INTERFACE TALUS_HAVE_FCLIB)
    endif()
endif()

foreach(dir IN LISTS TALUS_TEST_DIRS)
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${dir}/test_*.c
        ${CMAKE_SOURCE_DIR}/tests/${dir}/test_*.sh ${CMAKE_SOURCE_DIR}/tests/${dir}/test_*.py)
    foreach(file IN LISTS files)
        get_filename_component(stem ${file} NAME_WE)
        get_filename_component(kind ${file} LAST_EXT)
        string(REPLACE "test_" "" topic ${stem})
        set(name ${dir}/${topic})
        if(kind STREQUAL ".c")
            if(NOT TARGET talus_static)
                continue()
            endif()
            set(target test_${dir}_${topic})
            add_executable(${target} ${file})
            target_link_libraries(${target} PRIVATE talus_test)
            set_target_properties(${target} PROPERTIES
                RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${dir} OUTPUT_NAME ${stem})
            file(STRINGS ${file} shards REGEX "ctest shards:" LIMIT_COUNT 1)
            string(REGEX REPLACE ".*ctest shards: *" "" shards "${shards}")
            if(shards)
                foreach(shard RANGE 2 ${shards})
                    add_test(NAME ${name}-${shard} COMMAND ${target} ${shard}/${shards})
                    talus_test_properties(${name}-${shard} ${file})
                endforeach()
                add_test(NAME ${name} COMMAND ${target} 1/${shards})
            else()
                add_test(NAME ${name} COMMAND ${target})
            endif()
        elseif(kind STREQUAL ".py")
            add_test(NAME ${name} COMMAND python3 ${file})
        else()
            add_test(NAME ${name} COMMAND sh ${file})
        endif()
        talus_test_properties(${name} ${file})
    endforeach()
endforeach()

# Every example of the C interface is built against the public headers and the shared library, and
# must run.
file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/api/*.c)
if(TARGET talus)
    foreach(file IN LISTS files)
        get_filename_component(stem ${file} NAME_WE)
        add_executable(example_${stem} ${file})
        set_target_properties(example_${stem} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples OUTPUT_NAME ${stem})
        target_link_libraries(example_${stem} PRIVATE talus ${MATH_LIBRARY})
        target_compile_definitions(example_${stem} PRIVATE
            TALUS_EXAMPLE_SCENE="${CMAKE_SOURCE_DIR}/examples/scenes/column-2d.yaml")
        add_test(NAME examples/${stem} COMMAND example_${stem}
            WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
        talus_test_properties(examples/${stem} ${file})
    endforeach()
endif()
