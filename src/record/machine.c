// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sysconf names
#include "record/machine.h"
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// The processor's name as Linux gives it.
static void machine_processor(char *out, size_t size) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    out[0] = '\0';
    while (file && !out[0] && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (colon && colon[1] == ' ')
            (void)snprintf(out, size, "%.*s, ", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (file) (void)fclose(file);
}

void tl_machine_text(char *out, size_t size) {
    char processor[128];
    struct utsname system;
    machine_processor(processor, sizeof processor);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const int known = uname(&system) == 0;
    (void)snprintf(out, size, "%s%ld cores, %.1f GB, %s %s", processor, cores, memory * 1e-9,
                   known ? system.sysname : "", known ? system.release : "");
}
