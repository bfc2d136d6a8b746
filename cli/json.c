// SPDX-License-Identifier: Apache-2.0
// Numbers that read back bit for bit, and JSON: strings that are always valid.
#include "cli.h"
#include <math.h>
#include <stdlib.h>

// Length of the UTF-8 character at `s`, 0 when the bytes are none (overlong, surrogate, cut off).
static int json_character(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    int length = 0;
    uint32_t code = 0, least = 0;
    if ((s[0] & 0xE0) == 0xC0) {
        length = 2, code = s[0] & 0x1Fu, least = 0x80;
    } else if ((s[0] & 0xF0) == 0xE0) {
        length = 3, code = s[0] & 0x0Fu, least = 0x800;
    } else if ((s[0] & 0xF8) == 0xF0) {
        length = 4, code = s[0] & 0x07u, least = 0x10000;
    }
    for (int k = 1; k < length; k++) {
        if ((s[k] & 0xC0) != 0x80) return 0;
        code = code << 6 | (s[k] & 0x3Fu);
    }
    const bool legal = code >= least && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return legal ? length : 0;
}

void cli_json_string(FILE *stream, const char *text) {
    fputc('"', stream);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const int length = json_character(s);
        if (*s == '"' || *s == '\\') {
            fprintf(stream, "\\%c", *s);
        } else if (*s < 0x20 || *s == 0x7F || *s == '<') {
            fprintf(stream, "\\u%04x", *s);
        } else if (length == 0) {
            fputs("\\ufffd", stream);
        } else {
            fwrite(s, 1, (size_t)length, stream);
        }
        s += length ? length : 1;
    }
    fputc('"', stream);
}

void cli_number(char out[40], double value) {
    if (fabs(value) < 1e15 && fpclassify(value - floor(value)) == FP_ZERO) { // counts: no exponent
        snprintf(out, 40, "%.0f", value);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(out, 40, "%.*g", digits, value);
        if (fpclassify(strtod(out, NULL) - value) == FP_ZERO) break;
    }
}

void cli_json_number(FILE *stream, double value) {
    char text[40] = "null";
    if (isfinite(value)) cli_number(text, value);
    fputs(text, stream);
}

void cli_json_key(FILE *stream, const char *key, bool first) {
    if (!first) fputs(", ", stream);
    cli_json_string(stream, key);
    fputs(": ", stream);
}
