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
// A reader beside a writer holds a shared lock while it reads, and a commit an exclusive one while
// it changes what was committed before. So whoever looks for a new commit first and reads then,
// both under one lock, sees the file of one piece.
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
/// Open a file for reading, and hold it (tl_store_hold).
talus_status tl_store_open(talus_context *ctx, const char *path, tl_store **out) TALUS_MUST_CHECK;
/// Open a published file to write on. Fails when another store is writing it.
talus_status tl_store_resume(talus_context *ctx, const char *path, tl_store **out) TALUS_MUST_CHECK;
/// For readers: no commit happens until the release.
void tl_store_hold(const tl_store *s);
void tl_store_release(const tl_store *s);
/// For readers, who hold it and have closed all that they had open in it: the file as it is now. On
/// failure there is no HDF5 file any more.
talus_status tl_store_reopen(tl_store *s) TALUS_MUST_CHECK;
/// Bytes as they are on the disk, whatever HDF5 thinks.
bool tl_store_peek(const tl_store *s, int64_t at, size_t size, void *bytes);
/// For readers: was the writer ended within its last commit, so that a journal is needed to read
/// it?
bool tl_store_is_torn(const tl_store *s);
/// Does the name of the file lead to another file by now?
bool tl_store_is_replaced(const tl_store *s);
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
