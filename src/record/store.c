// SPDX-License-Identifier: Apache-2.0
// The driver under HDF5 and the commit; store.h tells the idea.
//
// A journal, at the end of a file:  page numbers (8 bytes each), pages (TL_PAGE each), footer.
#define _GNU_SOURCE // locks of open file descriptions
#include "record/store.h"
#include "record/pages.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORE_CACHE ((size_t)1 << 20) // bytes
#define STORE_TREE 8                  // half of the entries of a node of a tree of chunks

// Bytes far behind any file, for locks: the one who writes; commits.
#define STORE_LOCK_WRITER ((off_t)1 << 61)
#define STORE_LOCK_COMMIT (STORE_LOCK_WRITER + 1)

static const char STORE_MAGIC[16] = "talus journal 1";

typedef struct store_footer {
    char magic[16];
    int64_t start;  // where the journal begins
    int64_t length; // of the file once the pages are in place
    int64_t count;  // pages
    uint64_t hash;  // of numbers and pages, with `length` as seed
} store_footer;

struct tl_store {
    H5FD_t head; // HDF5's part; must be first
    talus_context *ctx;
    char *path, *temporary; // temporary: the name of a file that is not published; NULL otherwise
    hid_t driver, file;
    int fd;
    bool writes;
    int code;          // errno of the first failure; 0: none
    bool torn;         // the failure came while pages were written in place: the journal must stay
    int64_t eoa;       // end of what HDF5 has allocated
    int64_t eof;       // end of what has been written, in memory or on the disk
    int64_t committed; // length of the file at the last commit
    tl_pages pages;    // what differs from the disk
};

static bool store_pwrite(int fd, const void *bytes, size_t size, int64_t at) {
    const char *from = bytes;
    while (size > 0) {
        const ssize_t done = pwrite(fd, from, size, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = ENOSPC;
        if (done <= 0) return false;
        from += done, at += done, size -= (size_t)done;
    }
    return true;
}

// Bytes past the end of the file count as zeros.
static bool store_pread(int fd, void *bytes, size_t size, int64_t at) {
    char *to = bytes;
    while (size > 0) {
        const ssize_t done = pread(fd, to, size, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        if (done == 0) {
            memset(to, 0, size);
            return true;
        }
        to += done, at += done, size -= (size_t)done;
    }
    return true;
}

static void store_note(tl_store *s) {
    if (s->code == 0) s->code = errno != 0 ? errno : EIO;
}

// The page in memory, taken there from the disk if need be.
static unsigned char *store_page(tl_store *s, int64_t number) {
    unsigned char *page = tl_pages_find(&s->pages, number);
    if (page) return page;
    page = tl_pages_add(&s->pages, number);
    if (page && store_pread(s->fd, page, TL_PAGE, number * TL_PAGE)) return page;
    if (!page) errno = ENOMEM;
    store_note(s);
    return NULL;
}

// What HDF5 calls. The store is made before HDF5 opens it and outlives it.

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t limit) {
    (void)name, (void)flags, (void)limit;
    tl_store *const *info = H5Pget_driver_info(access);
    return info ? &(*info)->head : NULL;
}

static herr_t driver_close(H5FD_t *head) {
    (void)head;
    return 0;
}

// Two stores are two files, even if they have one name: a reader beside a writer sees the disk.
static int driver_cmp(const H5FD_t *a, const H5FD_t *b) { return (a > b) - (a < b); }

static herr_t driver_query(const H5FD_t *head, unsigned long *flags) {
    (void)head;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *head, H5FD_mem_t type) {
    (void)type;
    return (haddr_t)((const tl_store *)(const void *)head)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *head, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((tl_store *)(void *)head)->eoa = (int64_t)address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *head, H5FD_mem_t type) {
    (void)type;
    return (haddr_t)((const tl_store *)(const void *)head)->eof;
}

static herr_t driver_read(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *buffer) {
    (void)type, (void)transfer;
    tl_store *s = (tl_store *)(void *)head;
    int64_t at = (int64_t)address;
    unsigned char *to = buffer;
    while (size > 0) {
        const size_t inside = (size_t)(at % TL_PAGE);
        size_t part = s->pages.count == 0 || size < TL_PAGE - inside ? size : TL_PAGE - inside;
        const unsigned char *page = tl_pages_find(&s->pages, at / TL_PAGE);
        if (page) {
            memcpy(to, page + inside, part);
        } else if (!store_pread(s->fd, to, part, at)) {
            store_note(s);
            return -1;
        }
        to += part, at += (int64_t)part, size -= part;
    }
    return 0;
}

static herr_t driver_write(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *buffer) {
    (void)type, (void)transfer;
    tl_store *s = (tl_store *)(void *)head;
    int64_t at = (int64_t)address;
    const unsigned char *from = buffer;
    if (at + (int64_t)size > s->eof) s->eof = at + (int64_t)size;
    while (size > 0) {
        const int64_t number = at / TL_PAGE;
        const size_t inside = (size_t)(at % TL_PAGE);
        if (s->code == 0 && number * TL_PAGE >= s->committed) {
            if (store_pwrite(s->fd, from, size, at)) return 0;
            store_note(s); // from now on all is kept in memory, this too
        }
        const size_t part = size < TL_PAGE - inside ? size : TL_PAGE - inside;
        unsigned char *page = store_page(s, number);
        if (!page) return -1;
        memcpy(page + inside, from, part);
        from += part, at += (int64_t)part, size -= part;
    }
    return 0;
}

static const H5FD_class_t STORE_DRIVER = {
    .name = "talus",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(tl_store *),
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_cmp,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

static void store_free(tl_store *s) {
    if (s->driver >= 0) (void)H5FDunregister(s->driver);
    if (s->temporary) (void)unlink(s->temporary);
    if (s->fd >= 0) (void)close(s->fd);
    tl_pages_clear(&s->pages);
    tl_free(s->ctx, s->path);
    tl_free(s->ctx, s->temporary);
    tl_free(s->ctx, s);
}

static talus_status store_new(talus_context *ctx, const char *path, tl_store **out) {
    tl_store *s = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &s));
    *s = (tl_store){.ctx = ctx, .driver = H5I_INVALID_HID, .file = H5I_INVALID_HID, .fd = -1};
    const talus_status status = TL_COPY(ctx, path, (int64_t)strlen(path) + 1, &s->path);
    if (status != TALUS_OK)
        store_free(s);
    else
        *out = s;
    return status;
}

// HDF5 keeps its bookkeeping in a cache that may grow to 32 MB while a file grows. It is read back
// seldom here.
static void store_limit_cache(hid_t access) {
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (H5Pget_mdc_config(access, &config) < 0) return;
    config.set_initial_size = true;
    config.initial_size = config.min_size = STORE_CACHE;
    config.max_size = 2 * STORE_CACHE;
    (void)H5Pset_mdc_config(access, &config);
}

typedef enum store_mode { STORE_READ, STORE_CREATE, STORE_RESUME } store_mode;

// Let HDF5 create or open the file through our driver.
static bool store_start(tl_store *s, store_mode mode) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE);
    if (access >= 0) store_limit_cache(access);
    // Every dataset has a tree of its chunks, whose nodes are there in full from the beginning.
    if (create >= 0) (void)H5Pset_istore_k(create, STORE_TREE);
    s->driver = H5FDregister(&STORE_DRIVER);
    if (access >= 0 && s->driver >= 0 && H5Pset_driver(access, s->driver, &s) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0) {
        s->file =
            mode == STORE_CREATE
                ? H5Fcreate(s->path, H5F_ACC_TRUNC, create < 0 ? H5P_DEFAULT : create, access)
                : H5Fopen(s->path, mode == STORE_READ ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access);
    }
    if (access >= 0) (void)H5Pclose(access);
    if (create >= 0) (void)H5Pclose(create);
    return s->file >= 0;
}

// A lock of the open file: gone with the process, whatever ends it. Not flock, which HDF5 itself
// uses: other programs may look at the file while it grows. A file system without locks will do as
// well.
static bool store_lock(int fd, int command, off_t byte, short *type) {
    struct flock lock = {.l_type = *type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int got;
    do got = fcntl(fd, command, &lock);
    while (got != 0 && errno == EINTR);
    *type = lock.l_type;
    return got == 0;
}

static void store_lock_commits(int fd, short type) {
    (void)store_lock(fd, F_OFD_SETLKW, STORE_LOCK_COMMIT, &type);
}

void tl_store_hold(const tl_store *s) { store_lock_commits(s->fd, F_RDLCK); }

void tl_store_release(const tl_store *s) { store_lock_commits(s->fd, F_UNLCK); }

static talus_status store_check_target(talus_context *ctx, const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0) {
        if (errno == ENOENT) return TALUS_OK;
        return tl_fail_errno(ctx, path, "created", errno);
    }
    TL_REQUIRE(ctx, S_ISREG(facts.st_mode), TALUS_ERR_FILE,
               "%s: is %s; a recording needs a plain file", path,
               S_ISDIR(facts.st_mode) ? "a directory" : "not a plain file");
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return TALUS_OK; // may not be read; whether it may be replaced is another matter
    short type = F_RDLCK;
    const bool busy = store_lock(fd, F_OFD_GETLK, STORE_LOCK_WRITER, &type) && type != F_UNLCK;
    (void)close(fd);
    TL_REQUIRE(ctx, !busy, TALUS_ERR_FILE, "%s: is being written by another run", path);
    return TALUS_OK;
}

talus_status tl_store_create(talus_context *ctx, const char *path, tl_store **out) {
    *out = NULL;
    TL_TRY(store_check_target(ctx, path));
    talus_status status = TALUS_OK;
    tl_store *s = NULL;
    char *name = NULL;
    const size_t length = strlen(path) + 48;
    TL_TRY(store_new(ctx, path, &s));
    s->writes = true;
    TL_GOTO(TL_ALLOC(ctx, (int64_t)length, &name));
    // A run that was killed early may have left a file of this name, even of this process number.
    for (int k = 0; k < 1000 && s->fd < 0; k++) {
        (void)snprintf(name, length, "%s.tmp-%ld-%d", path, (long)getpid(), k);
        s->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->fd < 0 && errno != EEXIST) break;
    }
    if (s->fd < 0) {
        status = tl_fail_errno(ctx, path, "created", errno);
        goto done;
    }
    s->temporary = name, name = NULL;
    short type = F_WRLCK;
    (void)store_lock(s->fd, F_OFD_SETLK, STORE_LOCK_WRITER, &type);
    if (!store_start(s, STORE_CREATE))
        status = s->code ? tl_fail_errno(ctx, path, "written", s->code)
                         : tl_fail(ctx, TALUS_ERR_MEMORY, "%s: HDF5 cannot begin it", path);
done:
    tl_free(ctx, name);
    if (status != TALUS_OK)
        store_free(s);
    else
        *out = s;
    return status;
}

// Hash of page numbers and pages, in this order.
static uint64_t store_hash(const tl_page *list, int64_t count, int64_t length) {
    uint64_t hash = (uint64_t)length;
    for (int64_t k = 0; k < count; k++)
        hash = talus_hash(&list[k].number, sizeof list[k].number, hash);
    for (int64_t k = 0; k < count; k++) hash = talus_hash(list[k].bytes, TL_PAGE, hash);
    return hash;
}

static int64_t store_journal_size(int64_t count) {
    return count * (int64_t)(sizeof(int64_t) + TL_PAGE) + (int64_t)sizeof(store_footer);
}

// Lay the pages of a journal, where the file ends in one, over the file.
static bool store_replay(tl_store *s) {
    store_footer footer;
    const int64_t size = s->eof;
    if (size < (int64_t)sizeof footer) return true;
    if (!store_pread(s->fd, &footer, sizeof footer, size - (int64_t)sizeof footer)) return false;
    if (memcmp(footer.magic, STORE_MAGIC, sizeof footer.magic) != 0 || footer.count < 0 ||
        footer.count > size / TL_PAGE || footer.start < 0 ||
        footer.start != size - store_journal_size(footer.count) || footer.length < 0 ||
        footer.length > footer.start)
        return true;
    for (int64_t k = 0; k < footer.count; k++) {
        int64_t number = 0;
        unsigned char *page = NULL;
        if (!store_pread(s->fd, &number, sizeof number, footer.start + 8 * k)) return false;
        if (number < 0 || tl_pages_find(&s->pages, number)) continue; // the hash will tell
        page = tl_pages_add(&s->pages, number);
        if (!page) {
            errno = ENOMEM;
            return false;
        }
        if (!store_pread(s->fd, page, TL_PAGE, footer.start + 8 * footer.count + TL_PAGE * k))
            return false;
    }
    tl_page *list = tl_pages_sorted(&s->pages);
    const bool whole = list && s->pages.count == footer.count &&
                       store_hash(list, footer.count, footer.length) == footer.hash;
    (void)H5free_memory(list);
    if (whole)
        s->eof = footer.length;
    else
        tl_pages_clear(&s->pages);
    return true;
}

static bool store_write_pages(const tl_store *s, const tl_page *list) {
    for (int64_t k = 0; k < s->pages.count; k++) {
        const int64_t at = list[k].number * TL_PAGE, rest = s->eoa - at;
        if (rest <= 0) break;
        const size_t size = rest < TL_PAGE ? (size_t)rest : TL_PAGE;
        if (!store_pwrite(s->fd, list[k].bytes, size, at)) return false;
    }
    return fdatasync(s->fd) == 0;
}

// Bring a commit to its end that was cut short when only its last part was missing.
static talus_status store_complete(tl_store *s) {
    s->eoa = s->eof;
    tl_page *list = tl_pages_sorted(&s->pages);
    bool ok = list != NULL;
    if (!ok) errno = ENOMEM;
    store_lock_commits(s->fd, F_WRLCK);
    ok = ok && store_write_pages(s, list) && ftruncate(s->fd, (off_t)s->eof) == 0;
    const int code = errno;
    store_lock_commits(s->fd, F_UNLCK);
    (void)H5free_memory(list);
    tl_pages_clear(&s->pages);
    return ok ? TALUS_OK : tl_fail_errno(s->ctx, s->path, "written", code);
}

// The file as it is on the disk, with a journal laid over it, in HDF5's hands.
static talus_status store_take(tl_store *s, store_mode mode) {
    struct stat facts = {0};
    if (fstat(s->fd, &facts) != 0) return tl_fail_errno(s->ctx, s->path, "read", errno);
    tl_pages_clear(&s->pages);
    s->eof = (int64_t)facts.st_size;
    s->eoa = 0;
    if (!store_replay(s)) return tl_fail_errno(s->ctx, s->path, "read", errno);
    if (mode == STORE_RESUME && s->pages.count > 0) TL_TRY(store_complete(s));
    TL_REQUIRE(s->ctx, store_start(s, mode), TALUS_ERR_FORMAT,
               "%s: is not an HDF5 file, or a damaged or truncated one", s->path);
    s->committed = s->eoa;
    // bytes that a run which was killed left behind its last commit
    if (mode == STORE_RESUME) (void)!ftruncate(s->fd, (off_t)s->committed);
    return TALUS_OK;
}

static talus_status store_open(talus_context *ctx, const char *path, store_mode mode,
                               tl_store **out) {
    talus_status status = TALUS_OK;
    tl_store *s = NULL;
    *out = NULL;
    TL_TRY(store_new(ctx, path, &s));
    struct stat facts = {0};
    s->writes = mode == STORE_RESUME;
    s->fd = open(path, (s->writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &facts) != 0) {
        status = tl_fail_errno(ctx, path, "opened", errno);
    } else if (!S_ISREG(facts.st_mode)) {
        status = tl_fail(ctx, TALUS_ERR_FILE, "%s: is %s; a recording is a plain file", path,
                         S_ISDIR(facts.st_mode) ? "a directory" : "not a plain file");
    } else {
        short type = F_WRLCK;
        if (mode == STORE_READ)
            tl_store_hold(s);
        else if (!store_lock(s->fd, F_OFD_SETLK, STORE_LOCK_WRITER, &type) &&
                 (errno == EAGAIN || errno == EACCES))
            status = tl_fail(ctx, TALUS_ERR_FILE, "%s: is being written by another run", path);
        if (status == TALUS_OK) status = store_take(s, mode);
    }
    if (status != TALUS_OK)
        store_free(s);
    else
        *out = s;
    return status;
}

talus_status tl_store_open(talus_context *ctx, const char *path, tl_store **out) {
    return store_open(ctx, path, STORE_READ, out);
}

talus_status tl_store_resume(talus_context *ctx, const char *path, tl_store **out) {
    return store_open(ctx, path, STORE_RESUME, out);
}

talus_status tl_store_reopen(tl_store *s) {
    if (s->file >= 0) (void)H5Fclose(s->file);
    if (s->driver >= 0) (void)H5FDunregister(s->driver);
    s->file = s->driver = H5I_INVALID_HID;
    return store_take(s, STORE_READ);
}

bool tl_store_peek(const tl_store *s, int64_t at, size_t size, void *bytes) {
    return store_pread(s->fd, bytes, size, at);
}

bool tl_store_is_torn(const tl_store *s) { return s->pages.count > 0; }

bool tl_store_is_replaced(const tl_store *s) {
    struct stat mine, named;
    return fstat(s->fd, &mine) == 0 && stat(s->path, &named) == 0 &&
           (mine.st_ino != named.st_ino || mine.st_dev != named.st_dev);
}

hid_t tl_store_file(const tl_store *s) { return s->file; }

int64_t tl_store_pending(const tl_store *s) { return s->pages.count * TL_PAGE; }

// Journal behind all that counts, before and after; then the file as it is to be can be had in any
// case.
static bool store_write_journal(const tl_store *s, const tl_page *list, int64_t start) {
    const int64_t count = s->pages.count;
    store_footer footer = {.start = start, .length = s->eoa, .count = count};
    memcpy(footer.magic, STORE_MAGIC, sizeof footer.magic);
    footer.hash = store_hash(list, count, footer.length);
    for (int64_t k = 0; k < count; k++) {
        if (!store_pwrite(s->fd, &list[k].number, 8, start + 8 * k)) return false;
        if (!store_pwrite(s->fd, list[k].bytes, TL_PAGE, start + 8 * count + TL_PAGE * k))
            return false;
    }
    const int64_t end = start + store_journal_size(count) - (int64_t)sizeof footer;
    return store_pwrite(s->fd, &footer, sizeof footer, end) && fdatasync(s->fd) == 0;
}

// From the last commit to what HDF5 has written since.
static void store_advance(tl_store *s) {
    tl_page *list = NULL;
    if (s->code != 0) return;
    store_lock_commits(s->fd, F_WRLCK);
    errno = 0;
    if (s->pages.count > 0) {
        const int64_t start = s->eoa > s->committed ? s->eoa : s->committed;
        list = tl_pages_sorted(&s->pages);
        if (!list) errno = ENOMEM;
        if (!list || !store_write_journal(s, list, start)) {
            store_note(s);
        } else if (!store_write_pages(s, list)) {
            store_note(s);
            s->torn = true;
        }
    }
    if (s->code == 0 && ftruncate(s->fd, (off_t)s->eoa) != 0) {
        store_note(s);
        s->torn = s->pages.count > 0;
    }
    store_lock_commits(s->fd, F_UNLCK);
    (void)H5free_memory(list);
    if (s->code != 0) return;
    s->committed = s->eof = s->eoa;
    tl_pages_clear(&s->pages);
}

talus_status tl_store_check(const tl_store *s) {
    return s->code ? tl_fail_errno(s->ctx, s->path, "written", s->code) : TALUS_OK;
}

talus_status tl_store_commit(tl_store *s) {
    if (s->code == 0 && H5Fflush(s->file, H5F_SCOPE_LOCAL) < 0 && s->code == 0) s->code = EIO;
    store_advance(s);
    return tl_store_check(s);
}

talus_status tl_store_publish(tl_store *s) {
    if (!s->temporary) return TALUS_OK;
    if (rename(s->temporary, s->path) != 0) {
        s->code = errno; // calls that follow, closing too, tell it again
        return tl_fail_errno(s->ctx, s->path, "replaced", s->code);
    }
    tl_free(s->ctx, s->temporary);
    s->temporary = NULL;
    return TALUS_OK;
}

talus_status tl_store_close(tl_store *s, bool commit) {
    if (!s) return TALUS_OK;
    const bool closed = s->file < 0 || H5Fclose(s->file) >= 0;
    talus_status status = TALUS_OK;
    if (!closed && s->code == 0) s->code = EIO;
    if (s->writes) {
        if (commit) store_advance(s);
        // back to the last commit; bytes that stay behind it would only waste room
        if ((s->code != 0 || !commit) && !s->torn) (void)!ftruncate(s->fd, (off_t)s->committed);
        status = commit ? tl_store_check(s) : TALUS_OK;
    }
    s->file = H5I_INVALID_HID;
    // HDF5 still holds a file that it could not close, and will come back to it when the process
    // ends: then the driver must be there.
    if (closed) store_free(s);
    return status;
}
