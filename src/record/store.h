// SPDX-License-Identifier: Apache-2.0
// An HDF5 file that changes from one consistent state to the next in one go, whatever happens in
// between: the program may be killed, the disk may be full.
//
// HDF5 overwrites its own bookkeeping in place, at moments of its choice, and a file that is not
// closed is readable by luck. It is therefore given a driver of ours. With E the length of the file
// at the last commit:
//   - what HDF5 writes at or beyond E goes to the disk at once, since nothing before E refers to
//   it;
//   - what it writes below E stays in memory, in pages, until the next commit;
//   - a commit appends these pages to the file as a journal that ends in a checksum, waits for the
//     disk, writes them in place, waits again, and cuts the journal off.
// A file that ends in a whole journal was left between the last two steps; our reader lays the
// journal's pages over the file. In any other case what stands in the file is the last commit,
// perhaps with bytes behind it that HDF5 does not look at.
//
// After an error nothing more goes to the disk; HDF5 is served from memory until it is closed (it
// cannot close a file whose writes fail), and the file goes back to the last commit.
#ifndef TL_RECORD_STORE_H
#define TL_RECORD_STORE_H
#include "base/system.h"

typedef struct tl_store tl_store;

/// Make a new file for `path`, under another name in the same directory until tl_store_publish.
/// Fails when `path` is no plain file, or one that another store is writing.
talus_status tl_store_create(talus_context *ctx, const char *path, tl_store **out) TALUS_MUST_CHECK;
/// Open a file for reading.
talus_status tl_store_open(talus_context *ctx, const char *path, tl_store **out) TALUS_MUST_CHECK;
/// The HDF5 file.
hid_t tl_store_file(const tl_store *s);
/// Bytes of memory held for the next commit.
int64_t tl_store_pending(const tl_store *s);
/// The error that has befallen the file, if any.
talus_status tl_store_check(const tl_store *s) TALUS_MUST_CHECK;
/// Make everything written so far permanent, or nothing of it.
talus_status tl_store_commit(tl_store *s) TALUS_MUST_CHECK;
/// Give a committed file its name, replacing what has that name.
talus_status tl_store_publish(tl_store *s) TALUS_MUST_CHECK;
/// Close; a new file that is not published is removed. With `commit`, what was written since the
/// last commit is made permanent first. NULL is allowed.
talus_status tl_store_close(tl_store *s, bool commit) TALUS_MUST_CHECK;

#endif // TL_RECORD_STORE_H
