// SPDX-License-Identifier: Apache-2.0
// A recording described in XDMF, so that ParaView and others open it without conversion: a series
// of bodies and one of contacts, as points with attributes. Every grid takes its rows of the
// datasets as a hyperslab, from offset to offset.
#define _GNU_SOURCE // realpath
#include "record/playback_impl.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { XDMF_LINE = 8192 }; // bytes written at a time; a path has at most 4096

typedef struct xdmf_writer {
    talus_playback *p;
    FILE *file;
    char *source; // the recording as it is written into the file
    int code;     // errno of the first thing that could not be written; 0: none
} xdmf_writer;

static void xdmf_say(xdmf_writer *x, const char *format, ...) TL_FORMAT(2, 3);
static void xdmf_say(xdmf_writer *x, const char *format, ...) {
    char text[XDMF_LINE];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    errno = 0;
    if (length >= 0 && (size_t)length < sizeof text &&
        fwrite(text, 1, (size_t)length, x->file) == (size_t)length)
        return;
    if (x->code == 0) x->code = errno != 0 ? errno : EIO;
}

typedef struct xdmf_attribute {
    int column;
    const char *name, *type;
} xdmf_attribute;

// The recording as the XDMF file will find it: beside it by its name, elsewhere by its whole path;
// with what XML cannot have escaped.
static talus_status xdmf_source(talus_context *ctx, const char *recording, const char *path,
                                char **out) {
    const char *slash = strrchr(recording, '/'), *other = strrchr(path, '/');
    const size_t directory = slash ? (size_t)(slash - recording) : 0;
    const bool beside = (other ? (size_t)(other - path) : 0) == directory && !slash == !other &&
                        strncmp(recording, path, directory) == 0;
    char *whole = beside ? NULL : realpath(recording, NULL);
    const char *name = whole ? whole : beside && slash ? slash + 1 : recording;
    const talus_status status = TL_ALLOC(ctx, 6 * (int64_t)strlen(name) + 1, out);
    char *to = *out;
    for (const char *c = name; status == TALUS_OK && *c; c++) {
        const char *text = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : NULL;
        if (text)
            to = stpcpy(to, text);
        else
            *to++ = *c;
    }
    free(whole);
    return status;
}

// Rows first … first + count of a column.
static void xdmf_rows(xdmf_writer *x, int column, int64_t first, int64_t count) {
    const tl_column_def *def = &tl_column_defs[column];
    const bool real = def->kind == TL_REAL || def->kind == TL_FLOAT64;
    const bool single = def->kind == TL_REAL && x->p->info.single;
    const int32_t bytes = def->kind == TL_UINT8 ? 1 : real ? (single ? 4 : 8) : 4;
    const char *kind = real ? "Float" : def->kind == TL_UINT8 ? "UChar" : "Int";
    char width[16] = "";
    if (def->width > 1) (void)snprintf(width, sizeof width, " %d", (int)def->width);
    xdmf_say(x,
             "<DataItem ItemType=\"HyperSlab\" Type=\"HyperSlab\" Dimensions=\"%" PRId64
             "%s\"><DataItem Dimensions=\"3 %d\" Format=\"XML\">",
             count, width, def->width > 1 ? 2 : 1);
    if (def->width > 1)
        xdmf_say(x, "%" PRId64 " 0 1 1 %" PRId64 " %d", first, count, (int)def->width);
    else
        xdmf_say(x, "%" PRId64 " 1 %" PRId64, first, count);
    xdmf_say(x,
             "</DataItem><DataItem Format=\"HDF\" NumberType=\"%s\" Precision=\"%d\" "
             "Dimensions=\"%" PRId64 "%s\">%s:%s</DataItem></DataItem>\n",
             kind, (int)bytes, x->p->column[column].rows, width, x->source, def->path);
}

static void xdmf_grid(xdmf_writer *x, const char *name, double time, int points, int64_t first,
                      int64_t count) {
    xdmf_say(x,
             "<Grid Name=\"%s\" GridType=\"Uniform\"><Time Value=\"%.17g\"/>\n"
             "<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%" PRId64
             "\" NodesPerElement=\"1\"/>\n<Geometry GeometryType=\"XYZ\">",
             name, time, count);
    xdmf_rows(x, points, first, count);
    xdmf_say(x, "</Geometry>\n");
}

static void xdmf_attributes(xdmf_writer *x, const xdmf_attribute *list, size_t entries,
                            int64_t first, int64_t count) {
    for (size_t k = 0; k < entries; k++) {
        if (!tl_playback_has(x->p, list[k].column)) continue;
        xdmf_say(x, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">", list[k].name,
                 list[k].type);
        xdmf_rows(x, list[k].column, first, count);
        xdmf_say(x, "</Attribute>\n");
    }
}

// One offset, or the time of a frame.
static talus_status xdmf_number(xdmf_writer *x, int column, int64_t row, void *out) {
    if (tl_column_read(&x->p->column[column], row, 1, out)) return TALUS_OK;
    return tl_playback_damaged(x->p, tl_column_defs[column].path, "cannot be read");
}

static talus_status xdmf_bodies(xdmf_writer *x) {
    static const xdmf_attribute frame[] = {{TL_FRAME_VELOCITY, "velocity", "Vector"},
                                           {TL_FRAME_SPIN, "spin", "Vector"},
                                           {TL_FRAME_ORIENTATION, "orientation", "Matrix"}};
    static const xdmf_attribute body[] = {{TL_BODY_RADIUS, "radius", "Scalar"},
                                          {TL_BODY_MASS, "mass", "Scalar"},
                                          {TL_BODY_MATERIAL, "material", "Scalar"},
                                          {TL_BODY_SHAPE, "shape", "Scalar"},
                                          {TL_BODY_MOTION, "motion", "Scalar"}};
    int64_t first = 0, end = 0;
    xdmf_say(x, "<Grid Name=\"bodies\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int64_t k = 0; k < x->p->info.frames; k++, first = end) {
        double time;
        TL_TRY(xdmf_number(x, TL_FRAME_OFFSET, k + 1, &end));
        TL_TRY(xdmf_number(x, TL_FRAME_TIME, k, &time));
        if (end <= first) continue;
        xdmf_grid(x, "bodies", time, TL_FRAME_POSITION, first, end - first);
        xdmf_attributes(x, frame, sizeof frame / sizeof *frame, first, end - first);
        xdmf_attributes(x, body, sizeof body / sizeof *body, 0, end - first);
        xdmf_say(x, "</Grid>\n");
    }
    xdmf_say(x, "</Grid>\n");
    return TALUS_OK;
}

static talus_status xdmf_contacts(xdmf_writer *x) {
    static const xdmf_attribute contact[] = {{TL_CONTACT_IMPULSE, "impulse", "Vector"},
                                             {TL_CONTACT_NORMAL, "normal", "Vector"},
                                             {TL_CONTACT_VELOCITY, "slip", "Vector"},
                                             {TL_CONTACT_GAP, "gap", "Scalar"},
                                             {TL_CONTACT_STATUS, "status", "Scalar"},
                                             {TL_CONTACT_A, "a", "Scalar"},
                                             {TL_CONTACT_B, "b", "Scalar"}};
    int64_t first = 0, end = 0;
    if (!tl_playback_has(x->p, TL_CONTACT_POINT) || x->p->column[TL_CONTACT_A].rows == 0)
        return TALUS_OK;
    xdmf_say(x, "<Grid Name=\"contacts\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int64_t k = 0; k < x->p->info.frames; k++, first = end) {
        double time;
        TL_TRY(xdmf_number(x, TL_CONTACT_OFFSET, k + 1, &end));
        TL_TRY(xdmf_number(x, TL_FRAME_TIME, k, &time));
        if (end <= first) continue; // a grid without points is refused by readers
        xdmf_grid(x, "contacts", time, TL_CONTACT_POINT, first, end - first);
        xdmf_attributes(x, contact, sizeof contact / sizeof *contact, first, end - first);
        xdmf_say(x, "</Grid>\n");
    }
    xdmf_say(x, "</Grid>\n");
    return TALUS_OK;
}

static talus_status xdmf_sand(xdmf_writer *x) {
    static const xdmf_attribute particle[] = {{TL_SAND_VELOCITY, "velocity", "Vector"},
                                              {TL_SAND_VOLUME, "volume", "Scalar"},
                                              {TL_SAND_INERTIAL, "inertial", "Scalar"},
                                              {TL_SAND_PRESSURE, "pressure", "Scalar"}};
    int64_t first = 0, end = 0;
    if (!x->p->info.sand) return TALUS_OK;
    xdmf_say(x, "<Grid Name=\"sand\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int64_t k = 0; k < x->p->info.frames; k++, first = end) {
        double time;
        TL_TRY(xdmf_number(x, TL_SAND_OFFSET, k + 1, &end));
        TL_TRY(xdmf_number(x, TL_FRAME_TIME, k, &time));
        if (end <= first) continue;
        xdmf_grid(x, "sand", time, TL_SAND_POSITION, first, end - first);
        xdmf_attributes(x, particle, sizeof particle / sizeof *particle, first, end - first);
        xdmf_say(x, "</Grid>\n");
    }
    xdmf_say(x, "</Grid>\n");
    return TALUS_OK;
}

static talus_status xdmf_rods(xdmf_writer *x) {
    static const xdmf_attribute node[] = {{TL_FIBRE_VELOCITY, "velocity", "Vector"},
                                          {TL_FIBRE_DIRECTOR, "director", "Vector"},
                                          {TL_FIBRE_STRAIN, "strain", "Scalar"}};
    int64_t first = 0, end = 0;
    if (!x->p->holds.rods) return TALUS_OK;
    xdmf_say(x, "<Grid Name=\"rods\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int64_t k = 0; k < x->p->info.frames; k++, first = end) {
        double time;
        TL_TRY(xdmf_number(x, TL_FIBRE_OFFSET, k + 1, &end));
        TL_TRY(xdmf_number(x, TL_FRAME_TIME, k, &time));
        if (end <= first) continue;
        xdmf_grid(x, "rods", time, TL_FIBRE_POSITION, first, end - first);
        xdmf_attributes(x, node, sizeof node / sizeof *node, first, end - first);
        xdmf_say(x, "</Grid>\n");
    }
    xdmf_say(x, "</Grid>\n");
    return TALUS_OK;
}

static talus_status xdmf_write(xdmf_writer *x) {
    xdmf_say(x, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n");
    TL_TRY(xdmf_bodies(x));
    TL_TRY(xdmf_contacts(x));
    TL_TRY(xdmf_sand(x));
    TL_TRY(xdmf_rods(x));
    xdmf_say(x, "</Domain>\n</Xdmf>\n");
    return TALUS_OK;
}

talus_status talus_playback_write_xdmf(talus_playback *p, const char *path) {
    if (!p || !path || !path[0]) return TALUS_ERR_ARG;
    xdmf_writer x = {.p = p};
    talus_status status = TALUS_OK;
    char *part = NULL;
    const size_t length = strlen(path);
    TL_GOTO(xdmf_source(p->ctx, p->path, path, &x.source));
    TL_GOTO(TL_ALLOC(p->ctx, (int64_t)length + 8, &part));
    (void)snprintf(part, length + 8, "%s.part", path);
    x.file = fopen(part, "w");
    if (!x.file) {
        status = tl_fail_errno(p->ctx, path, "written", errno);
        goto done;
    }
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    status = tl_playback_hold(p);
    if (status == TALUS_OK) status = xdmf_write(&x);
    tl_playback_release(p);
    tl_hdf5_quiet_end(quiet);
    errno = 0;
    const bool closed = fclose(x.file) == 0;
    if (x.code == 0 && (!closed || (status == TALUS_OK && rename(part, path) != 0)))
        x.code = errno != 0 ? errno : EIO;
    if (x.code != 0 && status == TALUS_OK) status = tl_fail_errno(p->ctx, path, "written", x.code);
    if (status != TALUS_OK) (void)unlink(part);
done:
    tl_free(p->ctx, part);
    tl_free(p->ctx, x.source);
    return status;
}
