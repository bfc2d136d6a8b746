# SPDX-License-Identifier: Apache-2.0
# What Talus stands on; tools/packages names the Debian packages. Everything is collected in the
# target talus_dependencies, whose headers count as system headers (our warnings are not theirs).
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(QHULL REQUIRED IMPORTED_TARGET qhull_r)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd) # the program's alone
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_library(MATH_LIBRARY m REQUIRED)

add_library(talus_dependencies INTERFACE)
target_include_directories(talus_dependencies SYSTEM INTERFACE ${CHOLMOD_INCLUDE_DIR})
target_link_libraries(talus_dependencies INTERFACE PkgConfig::HDF5 PkgConfig::YAML PkgConfig::QHULL PkgConfig::PNG ${CHOLMOD_LIBRARY}
    PkgConfig::LAPACKE PkgConfig::OPENBLAS Threads::Threads ${MATH_LIBRARY})

# "3.0.14" out of the three defines of CHOLMOD's header.
set(CHOLMOD_VERSION "")
foreach(part MAIN SUB SUBSUB)
    file(STRINGS ${CHOLMOD_INCLUDE_DIR}/cholmod_core.h line
        REGEX "^#define CHOLMOD_${part}_VERSION +[0-9]+")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    string(APPEND CHOLMOD_VERSION ".${number}")
endforeach()
string(SUBSTRING "${CHOLMOD_VERSION}" 1 -1 CHOLMOD_VERSION)
set(TALUS_FEATURES
    "HDF5 ${HDF5_VERSION}, CHOLMOD ${CHOLMOD_VERSION}, OpenBLAS ${OPENBLAS_VERSION}, libyaml ${YAML_VERSION}, Qhull ${QHULL_VERSION}, libpng ${PNG_VERSION}")
