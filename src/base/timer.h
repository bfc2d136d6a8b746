// SPDX-License-Identifier: Apache-2.0
#ifndef TL_BASE_TIMER_H
#define TL_BASE_TIMER_H
double tl_seconds(void); ///< monotonic clock [s]; for limits and reports, never for results
#endif                   // TL_BASE_TIMER_H
