// SPDX-License-Identifier: Apache-2.0
// JSON on stdout: strings that are always valid, numbers that read back bit for bit.
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

void cli_json_string(const char *text) {
    putchar('"');
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const int length = json_character(s);
        if (*s == '"' || *s == '\\') {
            printf("\\%c", *s);
        } else if (*s < 0x20 || *s == 0x7F) {
            printf("\\u%04x", *s);
        } else if (length == 0) {
            fputs("\\ufffd", stdout);
        } else {
            fwrite(s, 1, (size_t)length, stdout);
        }
        s += length ? length : 1;
    }
    putchar('"');
}

void cli_json_number(double value) {
    if (!isfinite(value)) {
        fputs("null", stdout);
        return;
    }
    char text[40];
    if (fabs(value) < 1e15 && fpclassify(value - floor(value)) == FP_ZERO) { // counts: no exponent
        printf("%.0f", value);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (fpclassify(strtod(text, NULL) - value) == FP_ZERO) break;
    }
    fputs(text, stdout);
}

void cli_json_key(const char *key, bool first) {
    if (!first) fputs(", ", stdout);
    cli_json_string(key);
    fputs(": ", stdout);
}
