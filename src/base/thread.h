// SPDX-License-Identifier: Apache-2.0
// A team of threads that run the same function (SPMD), with a barrier. The pool lives in the
// context and grows when a larger team is first asked for. Work is divided by index, never by who
// comes first, so that results do not depend on the team's size.
#ifndef TL_BASE_THREAD_H
#define TL_BASE_THREAD_H
#include "talus/base.h"

typedef struct tl_team tl_team;

/// Make sure that tl_parallel can run with `size` threads (the caller counts as one).
talus_status tl_team_reserve(talus_context *ctx, int size) TALUS_MUST_CHECK;
/// Run work(arg, team, rank) for rank 0 … size−1 and wait for all. The caller runs rank 0.
/// `size` must have been reserved. Allocates nothing. Within the work of another job the others are
/// taken, perhaps waiting for this thread: it then does the work as a team of one.
void tl_parallel(talus_context *ctx, int size, void (*work)(void *arg, tl_team *team, int rank),
                 void *arg);
/// Wait until all threads of the team have come here; what they wrote before is visible after.
void tl_barrier(tl_team *team);
int tl_team_size(const tl_team *team);
/// Part `rank` of 0 … count−1, contiguous, sizes differing by at most one.
static inline void tl_share(int64_t count, int size, int rank, int64_t *begin, int64_t *end) {
    *begin = count * rank / size;
    *end = count * (rank + 1) / size;
}

#endif // TL_BASE_THREAD_H
