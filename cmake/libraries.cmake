# SPDX-License-Identifier: Apache-2.0
# libtalus for users, its static twin with reachable internals for tests and benchmarks, the
# program, and what `install` puts where.
if(TALUS_OBJECTS)
    add_library(talus SHARED ${TALUS_OBJECTS})
    set_target_properties(talus PROPERTIES VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # before 1.0 a minor may break
    target_include_directories(talus PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
    target_link_libraries(talus PRIVATE talus_dependencies)
    target_link_options(talus PRIVATE -Wl,--no-undefined -Wl,--as-needed
        -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/talus.map)
    set_target_properties(talus PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/talus.map)
    if(TALUS_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "Clang")
        # clang keeps the sanitizer's symbols in the executable only
        target_link_options(talus PRIVATE -Wl,-z,undefs)
    endif()

    add_library(talus_static STATIC ${TALUS_OBJECTS})
    set_target_properties(talus_static PROPERTIES OUTPUT_NAME talus)
    target_include_directories(talus_static PUBLIC ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(talus_static PUBLIC talus_dependencies)
endif()

# Files of cli/page go into the program as text: plot.css becomes `const char cli_page_plot_css[]`.
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/page/*.css ${CMAKE_SOURCE_DIR}/cli/page/*.js)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages})
set(text "// Generated from cli/page.\n#include \"page.h\"\n")
foreach(page IN LISTS pages)
    get_filename_component(name ${page} NAME)
    string(REPLACE "." "_" name ${name})
    file(READ ${page} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND text "const char cli_page_${name}[] = {\n${bytes}0};\n")
endforeach()
set(page_c ${CMAKE_BINARY_DIR}/generated/page.c)
file(CONFIGURE OUTPUT ${page_c} CONTENT "${text}" @ONLY)

# The program sees the public headers only, and carries the library inside so that it can be moved.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/*.c)
if(sources AND TARGET talus_static)
    add_executable(talus_cli ${sources} ${page_c} ${TALUS_VIEWER_C})
    target_include_directories(talus_cli PRIVATE ${CMAKE_SOURCE_DIR}/cli)
    set_target_properties(talus_cli PROPERTIES OUTPUT_NAME talus)
    target_link_libraries(talus_cli PRIVATE talus_static PkgConfig::MICROHTTPD)
    install(TARGETS talus_cli RUNTIME)
endif()

if(TARGET talus)
    install(TARGETS talus LIBRARY)
    install(DIRECTORY include/talus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
    # The prefix is given from where the file lies, so that `cmake --install --prefix` may choose it.
    file(RELATIVE_PATH TALUS_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    configure_file(cmake/talus.pc.in ${CMAKE_BINARY_DIR}/generated/talus.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/generated/talus.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
