// SPDX-License-Identifier: Apache-2.0
// Pixels as a PNG file in memory.
#include "base/context.h"
#include "talus/picture.h"
#include <png.h>
#include <string.h>

talus_status talus_picture_png(talus_context *ctx, int32_t width, int32_t height,
                               const uint8_t *rgba, uint8_t **png, int64_t *bytes) {
    *png = NULL;
    *bytes = 0;
    TL_REQUIRE(ctx, width >= 1 && height >= 1 && width <= 16384 && height <= 16384, TALUS_ERR_ARG,
               "picture: %d by %d pixels; each must be 1 to 16384", (int)width, (int)height);
    bool solid = true; // without a transparent pixel three bytes are enough
    const int64_t pixels = (int64_t)width * height;
    for (int64_t i = 0; i < pixels && solid; i++) solid = rgba[4 * i + 3] == 255;
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = solid ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
    uint8_t *packed = NULL, *out = NULL;
    talus_status status = TALUS_OK;
    if (solid) {
        TL_GOTO(tl_alloc(ctx, 3 * pixels, 1, &packed));
        for (int64_t i = 0; i < pixels; i++) memcpy(packed + 3 * i, rgba + 4 * i, 3);
    }
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    TL_GOTO(tl_alloc(ctx, (int64_t)size, 1, &out));
    if (!png_image_write_to_memory(&image, out, &size, 0, solid ? packed : rgba, 0, NULL)) {
        status = tl_fail(ctx, TALUS_ERR_MEMORY, "picture: PNG cannot be made: %s", image.message);
        png_image_free(&image);
        goto done;
    }
    TL_GOTO(tl_realloc(ctx, (int64_t)size, (int64_t)size, 1, &out));
    *png = out;
    *bytes = (int64_t)size;
    out = NULL;
done:
    tl_free(ctx, packed);
    tl_free(ctx, out);
    return status;
}

void talus_picture_free(talus_context *ctx, uint8_t *png) { tl_free(ctx, png); }
