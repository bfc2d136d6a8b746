// SPDX-License-Identifier: Apache-2.0
// Disks that fail: the calls by which a file is changed, in place of the C library's. They count,
// and at the one chosen they end the process or report a full disk. For one file of a test program.
#ifndef TALUS_TESTS_DISK_FAULTS_H
#define TALUS_TESTS_DISK_FAULTS_H
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
    int64_t calls, at; // at 0: never
    bool die;          // else: fail with ENOSPC from there on
} fault;

// Is it time? A write that is cut off by the end of the process may have been done in part.
static bool fault_now(void) {
    fault.calls++;
    return fault.at > 0 && (fault.die ? fault.calls == fault.at : fault.calls >= fault.at);
}

static long fault_end(void) {
    if (fault.die) _exit(9);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    if (fault_now()) {
        if (size > 1) (void)!syscall(SYS_pwrite64, fd, bytes, size / 2, at);
        return fault_end();
    }
    return syscall(SYS_pwrite64, fd, bytes, size, at);
}
int fdatasync(int fd) {
    (void)fd; // what the disk does after a power cut cannot be tested here; waiting for it is slow
    return fault_now() ? (int)fault_end() : 0;
}
int ftruncate(int fd, off_t length) {
    // Giving room back is not refused by a full disk.
    if (fault.die && fault_now()) return (int)fault_end();
    return (int)syscall(SYS_ftruncate, fd, length);
}
int rename(const char *from, const char *to) {
    if (fault_now()) return (int)fault_end();
    return (int)syscall(SYS_rename, from, to);
}

#endif // TALUS_TESTS_DISK_FAULTS_H
