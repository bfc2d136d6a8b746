// SPDX-License-Identifier: Apache-2.0
// Meshes from files: from a soup of points and facets to a surface without repeated points and
// without facets that have no area.
#include "collide/mesh_read.h"
#include "base/vec3.h"
#include <stdio.h>
#include <string.h>

// A file that is longer cannot hold fewer facets than are allowed.
#define MESH_FILE_MOST ((int64_t)1 << 33)
// A triangle is flat when its height is below this part of its longest side.
#define MESH_FLAT 1e-12

talus_mesh_read_options talus_mesh_read_default(void) {
    return (talus_mesh_read_options){.dim = 3, .scale = 1.0};
}

void talus_mesh_clear(talus_context *ctx, talus_mesh *mesh) {
    tl_free(ctx, mesh->point);
    tl_free(ctx, mesh->triangle);
    *mesh = (talus_mesh){0};
}

talus_shape_def talus_mesh_shape(const talus_mesh *mesh) {
    return (talus_shape_def){.kind = TALUS_SHAPE_MESH,
                             .point = mesh->point,
                             .point_count = mesh->point_count,
                             .triangle = mesh->triangle,
                             .triangle_count = mesh->triangle_count};
}

// ---- soup --------------------------------------------------------------------------------------

talus_status tl_soup_add_point(tl_soup *s, const double x[3], const char *where) {
    TL_REQUIRE(s->ctx, s->points < 3 * (int64_t)TALUS_MESH_MOST, TALUS_ERR_FORMAT,
               "%s: more than %d points", where, 3 * TALUS_MESH_MOST);
    if (s->points == s->point_room) {
        const int64_t room = s->point_room + s->point_room / 2 + 64;
        TL_TRY(tl_realloc(s->ctx, 3 * s->points, 3 * room, sizeof *s->point, &s->point));
        s->point_room = room;
    }
    for (int k = 0; k < 3; k++) {
        const double scaled = s->scale * x[k];
        TL_REQUIRE(s->ctx, isfinite(scaled), TALUS_ERR_FORMAT,
                   "%s: coordinate %c = %g is not a finite number", where, "xyz"[k], x[k]);
        s->point[3 * s->points + k] = scaled + 0.0; // −0 becomes 0
    }
    TL_REQUIRE(s->ctx, s->dim == 3 || s->point[3 * s->points + 2] == 0.0, TALUS_ERR_FORMAT,
               "%s: z = %g; in 2D it must be 0", where, x[2]);
    s->points++;
    return TALUS_OK;
}

talus_status tl_soup_add_facet(tl_soup *s, const int32_t *corner, const char *where) {
    TL_REQUIRE(s->ctx, s->facets < TALUS_MESH_MOST, TALUS_ERR_FORMAT, "%s: more than %d facets",
               where, TALUS_MESH_MOST);
    if (s->facets == s->facet_room) {
        const int64_t room = s->facet_room + s->facet_room / 2 + 64;
        TL_TRY(
            tl_realloc(s->ctx, s->dim * s->facets, s->dim * room, sizeof *s->corner, &s->corner));
        s->facet_room = room;
    }
    for (int k = 0; k < s->dim; k++) s->corner[s->dim * s->facets + k] = corner[k];
    s->facets++;
    return TALUS_OK;
}

// ---- welding -----------------------------------------------------------------------------------

// Points by the cells of a lattice with edge `weld` (0: by their coordinates). Buckets hold the
// number + 1 of a point, in open addressing; numbers are given in the order of the points, so that
// nothing depends on the order of the buckets.
typedef struct weld_table {
    double weld;
    uint64_t mask;
    int32_t *bucket;
    const double *point; // those kept, one after the other
} weld_table;

// The cell of x, moved by `shift` cells.
static uint64_t weld_key(const weld_table *t, const double x[3], const int shift[3]) {
    double cell[3];
    for (int k = 0; k < 3; k++)
        cell[k] = t->weld > 0.0 ? floor(x[k] / t->weld) + shift[k] + 0.0 : x[k];
    return talus_hash(cell, sizeof cell, 0);
}

// A kept point that x is one with, −1: none. With a lattice, cells around that of x are searched,
// and of several points the first counts.
static int32_t weld_find(const weld_table *t, const double x[3]) {
    const int around = t->weld > 0.0 ? 1 : 0;
    int32_t found = -1;
    for (int c = 0; c < (around ? 27 : 1); c++) {
        const int shift[3] = {around ? c % 3 - 1 : 0, around ? c / 3 % 3 - 1 : 0,
                              around ? c / 9 - 1 : 0};
        for (uint64_t at = weld_key(t, x, shift) & t->mask; t->bucket[at];
             at = (at + 1) & t->mask) {
            const int32_t i = t->bucket[at] - 1;
            double d[3];
            tl_sub3(t->point + 3 * (int64_t)i, x, d);
            if (tl_dot3(d, d) <= t->weld * t->weld && (found < 0 || i < found)) found = i;
        }
    }
    return found;
}

static void weld_put(weld_table *t, const double x[3], int32_t number) {
    static const int here[3] = {0, 0, 0};
    uint64_t at = weld_key(t, x, here) & t->mask;
    while (t->bucket[at]) at = (at + 1) & t->mask;
    t->bucket[at] = number + 1;
}

// Make equal points one. Points that no facet uses fall away too, since they are never asked for.
static talus_status mesh_weld(tl_soup *s, double weld) {
    talus_status status = TALUS_OK;
    weld_table t = {.weld = weld, .point = s->point};
    int32_t *number = NULL; // new number + 1 of each point, 0: not used so far
    double *kept = NULL;
    int32_t count = 0;
    uint64_t size = 64;
    while (size < 2 * (uint64_t)s->points) size *= 2;
    t.mask = size - 1;
    TL_GOTO(TL_ALLOC(s->ctx, (int64_t)size, &t.bucket));
    TL_GOTO(TL_ALLOC(s->ctx, s->points, &number));
    TL_GOTO(TL_ALLOC(s->ctx, 3 * s->points, &kept));
    t.point = kept;
    for (int64_t c = 0; c < s->dim * s->facets; c++) {
        const int32_t i = s->corner[c];
        const double *x = s->point + 3 * (int64_t)i;
        if (!number[i]) {
            int32_t same = weld_find(&t, x);
            if (same < 0) {
                same = count++;
                tl_copy3(x, kept + 3 * (int64_t)same);
                weld_put(&t, x, same);
            }
            number[i] = same + 1;
        }
        s->corner[c] = number[i] - 1;
    }
    tl_free(s->ctx, s->point);
    s->point = kept;
    kept = NULL;
    s->points = s->point_room = count;
done:
    tl_free(s->ctx, t.bucket);
    tl_free(s->ctx, number);
    tl_free(s->ctx, kept);
    return status;
}

// ---- facets without area -----------------------------------------------------------------------

static bool facet_is_flat(const tl_soup *s, const int32_t *corner) {
    const double *a = s->point + 3 * (int64_t)corner[0], *b = s->point + 3 * (int64_t)corner[1];
    double u[3], v[3], w[3], n[3], longest = 0.0;
    if (corner[0] == corner[1]) return true;
    if (s->dim == 2) return false;
    const double *c = s->point + 3 * (int64_t)corner[2];
    if (corner[1] == corner[2] || corner[2] == corner[0]) return true;
    tl_sub3(b, a, u);
    tl_sub3(c, a, v);
    tl_sub3(c, b, w);
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, fmax(fabs(u[k]), fmax(fabs(v[k]), fabs(w[k]))));
    tl_scale3(1.0 / longest, u, u); // lest products under- or overflow
    tl_scale3(1.0 / longest, v, v);
    tl_cross3(u, v, n);
    return !(tl_norm3(n) > MESH_FLAT);
}

// Leave out the facets without area; returns how many they are.
static int32_t mesh_drop_flat(tl_soup *s) {
    int64_t kept = 0;
    for (int64_t t = 0; t < s->facets; t++) {
        const int32_t *corner = s->corner + s->dim * t;
        if (facet_is_flat(s, corner)) continue;
        if (kept != t) memmove(s->corner + s->dim * kept, corner, (size_t)s->dim * sizeof *corner);
        kept++;
    }
    const int32_t dropped = (int32_t)(s->facets - kept);
    s->facets = kept;
    return dropped;
}

// Points that only facets without area had are left; take them out, in order.
static talus_status mesh_drop_points(tl_soup *s) {
    int32_t *number = NULL;
    int32_t count = 0;
    TL_TRY(TL_ALLOC(s->ctx, s->points, &number));
    for (int64_t c = 0; c < s->dim * s->facets; c++) number[s->corner[c]] = 1;
    for (int64_t i = 0; i < s->points; i++) {
        if (!number[i]) continue;
        number[i] = count;
        tl_copy3(s->point + 3 * i, s->point + 3 * (int64_t)count++);
    }
    for (int64_t c = 0; c < s->dim * s->facets; c++) s->corner[c] = number[s->corner[c]];
    s->points = count;
    tl_free(s->ctx, number);
    return TALUS_OK;
}

// ---- the file ----------------------------------------------------------------------------------

static bool mesh_ends_with(const char *name, const char *end) {
    const size_t n = strlen(name), m = strlen(end);
    if (n < m) return false;
    for (size_t k = 0; k < m; k++) {
        const char c = name[n - m + k];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != end[k]) return false;
    }
    return true;
}

// A binary file says how many facets it has, and its length follows from that; a text begins with
// "solid". Some binary files begin so too: the length decides first.
static talus_status mesh_read_stl(tl_soup *s, const unsigned char *bytes, size_t size) {
    const bool solid = size >= 5 && memcmp(bytes, "solid", 5) == 0;
    uint64_t facets = 0;
    TL_REQUIRE(s->ctx, s->dim == 3, TALUS_ERR_FORMAT,
               "an STL file holds triangles; in 2D segments are read from the line elements of an "
               "OBJ file");
    for (size_t k = 0; size >= 84 && k < 4; k++) facets |= (uint64_t)bytes[80 + k] << (8 * k);
    if (size >= 84 && size == 84 + 50 * facets) return tl_read_stl_binary(s, bytes, size);
    if (solid) return tl_read_stl_text(s, (const char *)bytes, size);
    TL_REQUIRE(s->ctx, size >= 84, TALUS_ERR_FORMAT,
               "byte %zu: the file ends within its head; an STL file begins with \"solid\" (text) "
               "or has a head of 84 bytes (binary)",
               size);
    return tl_fail(s->ctx, TALUS_ERR_FORMAT,
                   "byte 80: the head promises %llu facets, for which a binary STL file has %llu "
                   "bytes; this one has %zu, so that it is %s",
                   (unsigned long long)facets, 84 + 50 * (unsigned long long)facets, size,
                   size < 84 + 50 * facets ? "cut off, or no STL file" : "damaged, or no STL file");
}

static talus_status mesh_check_options(talus_context *ctx, const talus_mesh_read_options *o) {
    TL_REQUIRE(ctx, o->dim == 2 || o->dim == 3, TALUS_ERR_ARG, "dimension %d: must be 2 or 3",
               (int)o->dim);
    TL_REQUIRE(ctx, o->scale > 0.0 && isfinite(o->scale), TALUS_ERR_ARG,
               "scale = %g must be greater than 0 and finite", o->scale);
    TL_REQUIRE(ctx, o->weld >= 0.0 && isfinite(o->weld), TALUS_ERR_ARG,
               "weld = %g must be finite and not negative", o->weld);
    return TALUS_OK;
}

static talus_status mesh_parse(tl_soup *s, const char *name, const void *bytes, size_t size,
                               double weld, talus_mesh *out) {
    if (mesh_ends_with(name, ".obj"))
        TL_TRY(tl_read_obj(s, bytes, size));
    else if (mesh_ends_with(name, ".stl"))
        TL_TRY(mesh_read_stl(s, bytes, size));
    else
        return tl_fail(s->ctx, TALUS_ERR_FORMAT,
                       "the name must end in .stl or .obj, the formats that can be read");
    TL_TRY(mesh_weld(s, weld));
    out->dropped = mesh_drop_flat(s);
    TL_REQUIRE(s->ctx, s->facets > 0, TALUS_ERR_FORMAT, "there is no facet in it%s",
               out->dropped > 0 ? " but such without area"
               : s->dim == 2    ? ": in 2D the line elements of an OBJ file are read"
                                : "");
    TL_TRY(mesh_drop_points(s));
    out->point = s->point;
    out->point_count = (int32_t)s->points;
    out->triangle = s->corner;
    out->triangle_count = (int32_t)s->facets;
    s->point = NULL;
    s->corner = NULL;
    return tl_mesh_settle_sides(s->ctx, s->dim, out);
}

talus_status tl_mesh_parse(talus_context *ctx, const char *name, const void *bytes, size_t size,
                           const talus_mesh_read_options *options, talus_mesh *out) {
    *out = (talus_mesh){0};
    TL_TRY(mesh_check_options(ctx, options));
    tl_soup s = {.ctx = ctx, .dim = options->dim, .scale = options->scale};
    talus_status status = mesh_parse(&s, name, bytes, size, options->weld, out);
    if (status != TALUS_OK) talus_mesh_clear(ctx, out);
    tl_free(ctx, s.point);
    tl_free(ctx, s.corner);
    return status == TALUS_OK ? status : tl_fail_prefix(ctx, status, name);
}

talus_status talus_mesh_read(talus_context *ctx, const char *path,
                             const talus_mesh_read_options *options, talus_mesh *out) {
    talus_status status = TALUS_OK;
    unsigned char *bytes = NULL;
    *out = (talus_mesh){0};
    FILE *file = fopen(path, "rb");
    TL_REQUIRE(ctx, file, TALUS_ERR_FILE, "%s: cannot be opened", path);
    int64_t size = -1;
    if (fseek(file, 0, SEEK_END) == 0) size = (int64_t)ftell(file);
    if (size < 0 || size > MESH_FILE_MOST || fseek(file, 0, SEEK_SET) != 0) {
        status = tl_fail(ctx, TALUS_ERR_FILE, "%s: cannot be read, or is longer than %lld bytes",
                         path, (long long)MESH_FILE_MOST);
        goto done;
    }
    TL_GOTO(TL_ALLOC(ctx, size + 1, &bytes));
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        status = tl_fail(ctx, TALUS_ERR_FILE, "%s: reading failed", path);
        goto done;
    }
    TL_GOTO(tl_mesh_parse(ctx, path, bytes, (size_t)size, options, out));
done:
    (void)fclose(file);
    tl_free(ctx, bytes);
    return status;
}
