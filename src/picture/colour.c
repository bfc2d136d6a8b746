// SPDX-License-Identifier: Apache-2.0
// Colours and colour maps. Oklab: cone responses (a matrix on linear sRGB), their cube roots, and
// another matrix give lightness L and two hue axes a, b; C = √(a² + b²), h = atan2(b, a).
#include "picture/colour.h"
#include "talus/picture.h"

double tl_rgb_linear(uint8_t byte) {
    const double s = byte / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double colour_encode(double x) {
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
}

uint8_t tl_rgb_byte(double linear) {
    const double x = fmin(fmax(linear, 0.0), 1.0);
    return (uint8_t)(255.0 * colour_encode(x) + 0.5);
}

// Linear sRGB of an Oklab colour; components may be outside 0 to 1.
static void colour_from_lab(double light, double a, double b, double rgb[3]) {
    const double l = light + 0.3963377774 * a + 0.2158037573 * b;
    const double m = light - 0.1055613458 * a - 0.0638541728 * b;
    const double s = light - 0.0894841775 * a - 1.2914855480 * b;
    const double l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
    rgb[0] = 4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3;
    rgb[1] = -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3;
    rgb[2] = -0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3;
}

void tl_rgb_oklch(double lightness, double chroma, double hue, uint8_t out[3]) {
    double rgb[3];
    for (int k = 0; k < 40; k++, chroma *= 0.95) {
        colour_from_lab(lightness, chroma * cos(hue), chroma * sin(hue), rgb);
        const double low = fmin(rgb[0], fmin(rgb[1], rgb[2]));
        const double high = fmax(rgb[0], fmax(rgb[1], rgb[2]));
        if (low >= -1e-4 && high <= 1.0 + 1e-4) break;
    }
    for (int k = 0; k < 3; k++) out[k] = tl_rgb_byte(rgb[k]);
}

// The map runs from sand over orange and crimson to indigo. Lightness falls evenly from end to end;
// chroma and hue go evenly from each of these to the next.
void talus_picture_map(double t, uint8_t rgb[3]) {
    static const double chroma[] = {0.045, 0.120, 0.165, 0.150, 0.130};
    static const double hue[] = {1.55, 1.10, 0.50, -0.35, -1.30};
    const double x = 4.0 * (t > 0.0 ? fmin(t, 1.0) : 0.0); // also for NaN
    const int k = x < 3.0 ? (int)x : 3;
    const double s = x - k;
    tl_rgb_oklch(0.90 - 0.14 * x, (1.0 - s) * chroma[k] + s * chroma[k + 1],
                 (1.0 - s) * hue[k] + s * hue[k + 1], rgb);
}

// Hues a golden section of the circle apart, so that any first few of them are well spread.
void tl_rgb_kind(int32_t k, uint8_t out[3]) {
    static const double light[] = {0.74, 0.62, 0.82, 0.55, 0.69};
    const double turn = 0.14 + 0.6180339887498949 * k;
    tl_rgb_oklch(light[k % 5], 0.12, 6.283185307179586 * (turn - floor(turn)), out);
}

void tl_gamma_init(tl_gamma *g) {
    for (int k = 0; k < 256; k++) g->linear[k] = (float)tl_rgb_linear((uint8_t)k);
    for (int k = 0; k <= 4096; k++) g->byte[k] = tl_rgb_byte(k / 4096.0 * (k / 4096.0));
}
