// SPDX-License-Identifier: Apache-2.0
// The formats of meshes: STL, binary and text, and OBJ. Texts are read word by word; every error
// names its line, or its byte in a binary file.
#include "base/vec3.h"
#include "collide/mesh_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MOST = 64 }; // longest number or index that is read

// ---- STL, binary -------------------------------------------------------------------------------

// A number of four bytes, the least first, whatever the machine is like.
static double binary_float(const unsigned char *b) {
    const uint32_t bits =
        (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

// A head of 80 bytes, the count, and for each facet 12 numbers (normal, three corners) and two
// bytes that mean nothing.
talus_status tl_read_stl_binary(tl_soup *s, const unsigned char *bytes, size_t size) {
    for (size_t at = 84; at + 50 <= size; at += 50) {
        char where[64];
        int32_t corner[3];
        (void)snprintf(where, sizeof where, "byte %zu (facet %zu)", at, (at - 84) / 50);
        for (size_t c = 0; c < 3; c++) {
            double x[3];
            for (size_t k = 0; k < 3; k++) x[k] = binary_float(bytes + at + 12 + 12 * c + 4 * k);
            corner[c] = (int32_t)s->points;
            TL_TRY(tl_soup_add_point(s, x, where));
        }
        TL_TRY(tl_soup_add_facet(s, corner, where));
    }
    return TALUS_OK;
}

// ---- texts -------------------------------------------------------------------------------------

// A text on its way through; words end at white space, lines at \n.
typedef struct text_reader {
    tl_soup *soup;
    const char *at, *end;
    int64_t line;
} text_reader;

typedef struct text_word {
    const char *at;
    size_t length;
    int64_t line;
} text_word;

static bool text_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// The next word, across lines or (`same_line`) on this one; false: there is none.
static bool text_next(text_reader *r, bool same_line, text_word *out) {
    while (r->at < r->end) {
        if (*r->at == '\\' && r->at + 1 < r->end && (r->at[1] == '\n' || r->at[1] == '\r')) {
            r->at++; // the line goes on in the next
            if (*r->at == '\r') r->at++;
            if (r->at < r->end && *r->at == '\n') r->at++, r->line++;
        } else if (*r->at == '\n') {
            if (same_line) return false;
            r->at++, r->line++;
        } else if (text_is_blank(*r->at)) {
            r->at++;
        } else {
            break;
        }
    }
    if (r->at == r->end) return false;
    *out = (text_word){.at = r->at, .line = r->line};
    while (r->at < r->end && *r->at != '\n' && !text_is_blank(*r->at)) r->at++;
    out->length = (size_t)(r->at - out->at);
    return true;
}

static void text_skip_line(text_reader *r) {
    text_word w;
    while (text_next(r, true, &w)) continue;
}

// The next word of the line, unless a comment begins.
static bool text_next_here(text_reader *r, text_word *out) {
    if (!text_next(r, true, out)) return false;
    if (*out->at != '#') return true;
    text_skip_line(r);
    return false;
}

static bool text_is(const text_word *w, const char *lower) {
    if (w->length != strlen(lower)) return false;
    for (size_t k = 0; k < w->length; k++) {
        const char c = w->at[k];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != lower[k]) return false;
    }
    return true;
}

// As much of a word as fits into an error.
static int text_shown(const text_word *w) { return w->length < 24 ? (int)w->length : 24; }

static talus_status text_number(const text_reader *r, const text_word *w, double *out) {
    char digits[WORD_MOST], *end = digits;
    bool right = w->length < sizeof digits;
    if (right) {
        memcpy(digits, w->at, w->length);
        digits[w->length] = '\0';
        *out = strtod(digits, &end);
        right = *end == '\0';
    }
    TL_REQUIRE(r->soup->ctx, right, TALUS_ERR_FORMAT, "line %lld: '%.*s' is not a number",
               (long long)w->line, text_shown(w), w->at);
    return TALUS_OK;
}

// ---- STL, text ---------------------------------------------------------------------------------

// The next word has to be this one.
static talus_status stl_expect(text_reader *r, const char *word) {
    text_word w;
    TL_REQUIRE(r->soup->ctx, text_next(r, false, &w), TALUS_ERR_FORMAT,
               "line %lld: the file ends where '%s' must come", (long long)r->line, word);
    TL_REQUIRE(r->soup->ctx, text_is(&w, word), TALUS_ERR_FORMAT,
               "line %lld: '%.*s' stands where '%s' must come", (long long)w.line, text_shown(&w),
               w.at, word);
    return TALUS_OK;
}

static talus_status stl_numbers(text_reader *r, double x[3]) {
    for (int k = 0; k < 3; k++) {
        text_word w;
        TL_REQUIRE(r->soup->ctx, text_next(r, false, &w), TALUS_ERR_FORMAT,
                   "line %lld: the file ends where a number must come", (long long)r->line);
        TL_TRY(text_number(r, &w, &x[k]));
    }
    return TALUS_OK;
}

// What follows "facet".
static talus_status stl_facet(text_reader *r) {
    char where[32];
    double x[3];
    int32_t corner[3];
    TL_TRY(stl_expect(r, "normal"));
    TL_TRY(stl_numbers(r, x));
    TL_TRY(stl_expect(r, "outer"));
    TL_TRY(stl_expect(r, "loop"));
    for (int k = 0; k < 3; k++) {
        TL_TRY(stl_expect(r, "vertex"));
        TL_TRY(stl_numbers(r, x));
        (void)snprintf(where, sizeof where, "line %lld", (long long)r->line);
        corner[k] = (int32_t)r->soup->points;
        TL_TRY(tl_soup_add_point(r->soup, x, where));
    }
    TL_TRY(stl_expect(r, "endloop"));
    TL_TRY(stl_expect(r, "endfacet"));
    return tl_soup_add_facet(r->soup, corner, where);
}

talus_status tl_read_stl_text(tl_soup *s, const char *text, size_t size) {
    text_reader r = {.soup = s, .at = text, .end = text + size, .line = 1};
    text_word w;
    bool within = false;
    while (text_next(&r, false, &w)) {
        if (text_is(&w, "solid") || text_is(&w, "endsolid")) { // and a name
            within = text_is(&w, "solid");
            text_skip_line(&r);
            continue;
        }
        TL_REQUIRE(s->ctx, within && text_is(&w, "facet"), TALUS_ERR_FORMAT,
                   "line %lld: '%.*s' stands where %s must come (a binary file that begins with "
                   "\"solid\" would need a length that fits its number of facets)",
                   (long long)w.line, text_shown(&w), w.at,
                   within ? "'facet' or 'endsolid'" : "'solid'");
        TL_TRY(stl_facet(&r));
    }
    TL_REQUIRE(s->ctx, !within, TALUS_ERR_FORMAT,
               "line %lld: the file ends where 'facet' or 'endsolid' must come; it may be cut off",
               (long long)r.line);
    return TALUS_OK;
}

// ---- OBJ ---------------------------------------------------------------------------------------

static talus_status obj_point(text_reader *r, int64_t line) {
    char where[32];
    double x[3];
    (void)snprintf(where, sizeof where, "line %lld", (long long)line);
    for (int k = 0; k < 3; k++) {
        text_word w;
        TL_REQUIRE(r->soup->ctx, text_next_here(r, &w), TALUS_ERR_FORMAT,
                   "%s: a point has three coordinates, not %d", where, k);
        TL_TRY(text_number(r, &w, &x[k]));
    }
    text_skip_line(r); // a weight or a colour may follow
    return tl_soup_add_point(r->soup, x, where);
}

// "7", "7/2", "7//3" or "7/2/3": the first number is the point, counted from 1, or backwards from
// the last one given so far where it is negative.
static talus_status obj_index(const text_reader *r, const text_word *w, int32_t *out) {
    char digits[WORD_MOST], *end = digits;
    const int64_t points = r->soup->points;
    bool right = w->length > 0 && w->length < sizeof digits;
    long long index = 0;
    if (right) {
        memcpy(digits, w->at, w->length);
        digits[w->length] = '\0';
        index = strtoll(digits, &end, 10);
        right = end != digits && (*end == '\0' || *end == '/');
    }
    TL_REQUIRE(r->soup->ctx, right, TALUS_ERR_FORMAT,
               "line %lld: '%.*s' is not the number of a point", (long long)w->line, text_shown(w),
               w->at);
    const long long place = index > 0 ? index - 1 : points + index;
    TL_REQUIRE(r->soup->ctx, index != 0 && place >= 0 && place < points, TALUS_ERR_FORMAT,
               "line %lld: there is no point %lld; %lld have been given so far, and they are "
               "counted from 1 (or from -1 backwards)",
               (long long)w->line, index, (long long)points);
    *out = (int32_t)place;
    return TALUS_OK;
}

static void obj_normal(const tl_soup *s, int32_t a, int32_t b, int32_t c, double out[3]) {
    double u[3], v[3];
    tl_sub3(s->point + 3 * (int64_t)b, s->point + 3 * (int64_t)a, u);
    tl_sub3(s->point + 3 * (int64_t)c, s->point + 3 * (int64_t)a, v);
    tl_cross3(u, v, out);
    const double length = tl_norm3(out);
    tl_scale3(length > 0.0 ? 1.0 / length : 0.0, out, out);
}

// Four corners: along the diagonal over which the two halves are folded least.
static talus_status obj_quad(tl_soup *s, const int32_t c[4], const char *where) {
    double n[4][3];
    for (int k = 0; k < 4; k++) obj_normal(s, c[k], c[(k + 1) % 4], c[(k + 2) % 4], n[k]);
    const int first = tl_dot3(n[1], n[3]) > tl_dot3(n[0], n[2]) ? 1 : 0;
    for (int half = 0; half < 2; half++) {
        const int k = first + 2 * half;
        const int32_t corner[3] = {c[k], c[(k + 1) % 4], c[(k + 2) % 4]};
        TL_TRY(tl_soup_add_facet(s, corner, where));
    }
    return TALUS_OK;
}

static talus_status obj_face(text_reader *r, int64_t line) {
    char where[32];
    text_word w;
    int32_t corner[4] = {0};
    int64_t count = 0;
    (void)snprintf(where, sizeof where, "line %lld", (long long)line);
    while (text_next_here(r, &w)) {
        int32_t point = 0;
        TL_TRY(obj_index(r, &w, &point));
        if (count == 4) { // no quad after all: a fan
            const int32_t fan[2][3] = {{corner[0], corner[1], corner[2]},
                                       {corner[0], corner[2], corner[3]}};
            for (int k = 0; k < 2; k++) TL_TRY(tl_soup_add_facet(r->soup, fan[k], where));
        }
        if (count >= 4) {
            const int32_t fan[3] = {corner[0], corner[3], point};
            TL_TRY(tl_soup_add_facet(r->soup, fan, where));
        }
        corner[count < 4 ? count : 3] = point;
        count++;
    }
    TL_REQUIRE(r->soup->ctx, count >= 3, TALUS_ERR_FORMAT,
               "%s: a face has three corners or more, not %lld", where, (long long)count);
    if (count == 3) return tl_soup_add_facet(r->soup, corner, where);
    return count == 4 ? obj_quad(r->soup, corner, where) : TALUS_OK;
}

static talus_status obj_line(text_reader *r, int64_t line) {
    char where[32];
    text_word w;
    int32_t pair[2] = {0};
    int64_t count = 0;
    (void)snprintf(where, sizeof where, "line %lld", (long long)line);
    for (; text_next_here(r, &w); count++) {
        pair[0] = count > 0 ? pair[1] : 0;
        TL_TRY(obj_index(r, &w, &pair[1]));
        if (count > 0) TL_TRY(tl_soup_add_facet(r->soup, pair, where));
    }
    TL_REQUIRE(r->soup->ctx, count >= 2, TALUS_ERR_FORMAT,
               "%s: a line has two points or more, not %lld", where, (long long)count);
    return TALUS_OK;
}

talus_status tl_read_obj(tl_soup *s, const char *text, size_t size) {
    static const char *const known[] = {"vn", "vt", "vp",     "p",      "l",      "f",     "g",
                                        "o",  "s",  "usemtl", "mtllib", "usemap", "maplib"};
    text_reader r = {.soup = s, .at = text, .end = text + size, .line = 1};
    text_word w;
    while (text_next(&r, false, &w)) {
        if (text_is(&w, "v")) {
            TL_TRY(obj_point(&r, w.line));
        } else if (text_is(&w, "f") && s->dim == 3) {
            TL_TRY(obj_face(&r, w.line));
        } else if (text_is(&w, "l") && s->dim == 2) {
            TL_TRY(obj_line(&r, w.line));
        } else {
            bool fine = *w.at == '#';
            for (size_t k = 0; k < sizeof known / sizeof *known; k++)
                fine = fine || text_is(&w, known[k]);
            TL_REQUIRE(s->ctx, fine, TALUS_ERR_FORMAT,
                       "line %lld: '%.*s' is no element that is known here; 'v' gives a point, 'f' "
                       "a face, 'l' a line",
                       (long long)w.line, text_shown(&w), w.at);
            text_skip_line(&r);
        }
    }
    return TALUS_OK;
}
