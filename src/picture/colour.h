// SPDX-License-Identifier: Apache-2.0
// Colours: sRGB bytes as seen, linear light as computed with, and maps made in Oklab, a space in
// which equal distances look equal.
#ifndef TL_PICTURE_COLOUR_H
#define TL_PICTURE_COLOUR_H
#include <math.h>
#include <stdint.h>

/// sRGB, 8 bits each: red in the lowest byte.
typedef uint32_t tl_rgb;

static inline tl_rgb tl_rgb_pack(const uint8_t c[3]) {
    return (tl_rgb)c[0] | (tl_rgb)c[1] << 8 | (tl_rgb)c[2] << 16;
}

/// Linear light of one sRGB byte, 0 to 1.
double tl_rgb_linear(uint8_t byte);
/// The nearest sRGB byte of linear light.
uint8_t tl_rgb_byte(double linear);
/// sRGB of lightness 0 to 1, chroma (0: grey, 0.2: vivid) and hue [rad]; chroma is taken back where
/// sRGB has no such colour.
void tl_rgb_oklch(double lightness, double chroma, double hue, uint8_t out[3]);
/// A colour for the k-th kind of something; neighbours differ in hue and lightness.
void tl_rgb_kind(int32_t k, uint8_t out[3]);

/// Tables for shading: 256 linear values, and bytes of 4096 linear values.
typedef struct tl_gamma {
    float linear[256];
    uint8_t byte[4097];
} tl_gamma;
void tl_gamma_init(tl_gamma *g);
/// The byte of linear light, from 0 to 1 or beyond (cut off).
static inline uint8_t tl_gamma_byte(const tl_gamma *g, float linear) {
    const float x = linear < 0.0f ? 0.0f : linear > 1.0f ? 1.0f : linear;
    // dark tones need finer steps: the table is over the square root
    return g->byte[(int)(4096.0f * sqrtf(x) + 0.5f)];
}

#endif // TL_PICTURE_COLOUR_H
