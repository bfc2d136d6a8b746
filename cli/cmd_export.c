// SPDX-License-Identifier: Apache-2.0
// `talus export`: a recording as files that other programs read.
#define _GNU_SOURCE
#include "export.h"
#include "run.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EXPORT_OUT = 'o', // also -o
    EXPORT_VTK = CLI_OPTION_FIRST,
    EXPORT_CSV,
    EXPORT_FCLIB,
    EXPORT_XDMF,
    EXPORT_FRAMES,
    EXPORT_STEPS,
    EXPORT_QUIET,
};

const cli_option cli_export_options[] = {
    {"vtk", NULL,
     "bodies (VTU), surfaces, rods and contact network (VTP), and series of them (PVD)",
     EXPORT_VTK},
    {"csv", NULL, "tables of bodies, contacts, sand, rods and the ledger", EXPORT_CSV},
    {"fclib", NULL, "the friction problem of each step of --steps, for talus solve and others",
     EXPORT_FCLIB},
    {"xdmf", NULL, "the XDMF file beside the recording, again", EXPORT_XDMF},
    {"frames", "LIST", "which frames: 0,5,last or FROM:TO or FROM:TO:BY; default: all",
     EXPORT_FRAMES},
    {"steps", "LIST", "which steps, from 1 on, written likewise; default: the last", EXPORT_STEPS},
    {"out", "DIR", "directory for the files; default: name of the recording with -vtk, …",
     EXPORT_OUT},
    {"quiet", NULL, "no progress", EXPORT_QUIET},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_export_help[] =
    "--vtk writes, for each frame, bodies-N.vtu (a point for each bounded body with its radius,\n"
    "velocity, …), surfaces-N.vtp (triangles of all that is no sphere, walls too; 2D: lines) and\n"
    "contacts-N.vtp (a line for each contact with its force), of rods rods-N.vtp (a line through "
    "the\n"
    "nodes of each, with its radius, for the filter Tube), of sand sand-N.vtu (particles) and\n"
    "grid-N.vtu (cells with fraction, pressure, velocity), and bodies.pvd, surfaces.pvd, …, which\n"
    "ParaView opens as series in time.\n"
    "\n"
    "--csv writes bodies.csv, contacts.csv, sand.csv, rods.csv and ledger.csv. --fclib repeats "
    "the\n"
    "run from the nearest checkpoint before each step, which gives the same bits, and writes\n"
    "step-N.hdf5.\n"
    "--xdmf writes RUN.xdmf beside RUN.h5, with which ParaView opens the recording itself; talus "
    "run\n"
    "does it too.\n"
    "\n"
    "Files that exist are replaced. Exit status: 0 all written, 1 not, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  talus export column.h5 --vtk\n"
    "  talus export column.h5 --csv --frames last -o end\n"
    "  talus export column.h5 --fclib --steps 100:500:100\n";

typedef struct export_setup {
    bool vtk, csv, fclib, xdmf, quiet;
    const char *frames, *steps, *out;
} export_setup;

static bool export_take(void *user, int id, const char *value) {
    export_setup *s = user;
    switch (id) {
    case EXPORT_VTK:
        s->vtk = true;
        break;
    case EXPORT_CSV:
        s->csv = true;
        break;
    case EXPORT_FCLIB:
        s->fclib = true;
        break;
    case EXPORT_XDMF:
        s->xdmf = true;
        break;
    case EXPORT_FRAMES:
        s->frames = value;
        break;
    case EXPORT_STEPS:
        s->steps = value;
        break;
    case EXPORT_OUT:
        s->out = value;
        break;
    case EXPORT_QUIET:
        s->quiet = true;
        break;
    default:
        return false;
    }
    return true;
}

// ---- lists ----

// A number or "last"; false: neither.
static bool list_number(const char **at, int64_t last, int64_t *out) {
    if (strncmp(*at, "last", 4) == 0) {
        *out = last;
        *at += 4;
        return true;
    }
    char *end;
    if (**at < '0' || **at > '9') return false;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return true;
}

static int list_order(const void *a, const void *b) {
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

// FROM[:TO[:BY]], separated by commas, of first … last.
static bool list_read(const char *option, const char *text, int64_t first, int64_t last,
                      export_list *out) {
    for (const char *at = text;;) {
        int64_t from = 0, to, by = 1;
        bool ok = list_number(&at, last, &from);
        to = from;
        if (ok && *at == ':') ok = (at++, list_number(&at, last, &to));
        if (ok && *at == ':') ok = (at++, list_number(&at, last, &by)) && by > 0;
        if (!ok || (*at && *at != ',')) {
            cli_error("%s %s: write numbers, FROM:TO or FROM:TO:BY, separated by commas", option,
                      text);
            return false;
        }
        if (from < first || to > last || from > to) {
            cli_error("%s %s: there are %lld to %lld", option, text, (long long)first,
                      (long long)last);
            return false;
        }
        const size_t added = (size_t)((to - from) / by + 1);
        out->number = cli_grow(out->number, (size_t)out->count + added, sizeof *out->number);
        for (int64_t k = from; k <= to; k += by) out->number[out->count++] = k;
        if (!*at++) break;
    }
    qsort(out->number, (size_t)out->count, sizeof *out->number, list_order);
    int64_t kept = 0;
    for (int64_t k = 0; k < out->count; k++)
        if (k == 0 || out->number[k] != out->number[k - 1]) out->number[kept++] = out->number[k];
    out->count = kept;
    return true;
}

// ---- files ----

FILE *export_open(export_job *job, const char *name) {
    char *path = cli_text("%s/%s", job->room, name);
    FILE *file = fopen(path, "wb");
    if (!file) cli_error("%s: cannot be written: %s", path, strerror(errno));
    free(path);
    return file;
}

bool export_close(export_job *job, const char *name, FILE *file) {
    const long size = ftell(file);
    errno = 0;
    const bool bad = ferror(file) != 0;
    const bool ok = fclose(file) == 0 && !bad;
    if (!ok)
        cli_error("%s/%s: cannot be written: %s", job->room, name,
                  errno ? strerror(errno) : "the disk is full, or the file may not grow so large");
    job->files++;
    job->bytes += (double)size;
    return ok;
}

bool export_frame(export_job *job, int64_t frame, talus_frame *out) {
    if (talus_playback_frame(job->playback, frame, out) == TALUS_OK) return true;
    cli_error("%s", talus_context_last_error(job->ctx));
    return false;
}

void export_progress(const export_job *job, const char *what, int64_t done, int64_t all) {
    if (job->quiet || !isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r%s: %s %lld of %lld\033[K", job->path, what, (long long)done,
            (long long)all);
    if (done == all) fputs("\r\033[K", stderr);
    fflush(stderr);
}

// ---- the whole ----

static int export_format(export_job *job, const export_setup *setup, const char *format,
                         int (*write)(export_job *job)) {
    char *ending = cli_text("-%s", format);
    job->room = setup->out ? cli_text("%s", setup->out) : run_beside(job->path, ending);
    job->files = 0;
    job->bytes = 0.0;
    int code = CLI_DONE;
    if (mkdir(job->room, 0777) != 0 && errno != EEXIST) {
        cli_error("%s: cannot be made: %s", job->room, strerror(errno));
        code = CLI_FAILED;
    }
    if (code == CLI_DONE) code = write(job);
    if (code == CLI_DONE) {
        char bytes[24];
        cli_bytes(bytes, job->bytes);
        printf("%s: %lld files, %s\n", job->room, (long long)job->files, bytes);
    }
    free(ending);
    free(job->room);
    job->room = NULL;
    return code;
}

static int export_xdmf(const export_job *job) {
    char *path = run_beside(job->path, ".xdmf");
    const bool ok = talus_playback_write_xdmf(job->playback, path) == TALUS_OK;
    if (ok)
        printf("%s\n", path);
    else
        cli_error("%s", talus_context_last_error(job->ctx));
    free(path);
    return ok ? CLI_DONE : CLI_FAILED;
}

static int export_choose(export_job *job, const export_setup *setup) {
    job->info = talus_playback_get_info(job->playback);
    if (!list_read("--frames", setup->frames ? setup->frames : "0:last", 0, job->info.frames - 1,
                   &job->frames))
        return CLI_USAGE;
    if (!setup->fclib) return CLI_DONE;
    talus_frame last;
    if (!export_frame(job, job->info.frames - 1, &last)) return CLI_FAILED;
    return list_read("--steps", setup->steps ? setup->steps : "last", 1, last.step, &job->steps)
               ? CLI_DONE
               : CLI_USAGE;
}

static int export_run(const export_setup *setup, const char *path, talus_context *ctx) {
    export_job job = {.ctx = ctx, .path = path, .quiet = setup->quiet};
    if (talus_playback_open(ctx, path, &job.playback) != TALUS_OK) {
        cli_error("%s", talus_context_last_error(ctx));
        return CLI_FAILED;
    }
    int code = export_choose(&job, setup);
    if (code == CLI_DONE && setup->xdmf) code = export_xdmf(&job);
    if (code == CLI_DONE && setup->vtk) code = export_format(&job, setup, "vtk", export_vtk);
    if (code == CLI_DONE && setup->csv) code = export_format(&job, setup, "csv", export_csv);
    if (code == CLI_DONE && setup->fclib) code = export_format(&job, setup, "fclib", export_fclib);
    free(job.frames.number);
    free(job.steps.number);
    talus_playback_close(job.playback);
    return code;
}

int cli_export(const cli_verb *verb, int argc, char **argv) {
    export_setup setup = {0};
    talus_context *ctx = NULL;
    bool help = false;
    int code = cli_parse(verb, argc, argv, export_take, &setup, &help);
    if (code == CLI_DONE && help) {
        cli_print_verb(verb, stdout);
        return code;
    }
    if (code != CLI_DONE) return code;
    if (optind + 1 != argc) {
        cli_error("export needs one recording, not %d: 'talus export RUN.h5 --vtk'", argc - optind);
        return CLI_USAGE;
    }
    if (!setup.vtk && !setup.csv && !setup.fclib && !setup.xdmf) {
        cli_error("export needs a format: --vtk, --csv, --fclib or --xdmf");
        return CLI_USAGE;
    }
    if (talus_context_create(NULL, &ctx) == TALUS_OK) {
        code = export_run(&setup, argv[optind], ctx);
    } else {
        cli_error("%s", talus_status_text(TALUS_ERR_MEMORY));
        code = CLI_FAILED;
    }
    talus_context_destroy(ctx);
    return code;
}
