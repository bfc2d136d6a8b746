// SPDX-License-Identifier: Apache-2.0
#ifndef TL_BASE_BUILD_INFO_H
#define TL_BASE_BUILD_INFO_H
extern const char tl_build_commit[]; ///< written by cmake/commit.cmake at build time
#endif                               // TL_BASE_BUILD_INFO_H
