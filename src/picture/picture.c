// SPDX-License-Identifier: Apache-2.0
// Pictures: what is asked for, checked, and drawn in 2D or 3D.
#include "picture/render.h"

talus_picture_def talus_picture_default(void) {
    return (talus_picture_def){.width = 1200, .height = 800, .threads = 1};
}

// Segments of a circle for the largest grain, so that its outline is off by less than a quarter of
// a pixel: with radius r and n segments by r (π/n)²/2.
static int32_t picture_detail(const talus_moment *m, const talus_picture_def *def,
                              const double box[6]) {
    double most = 0.0, reach = 0.0;
    for (int32_t i = 0; i < m->bodies.count; i++)
        if (tl_show_role(m, i) == TL_ROLE_GRAIN)
            most = fmax(most, tl_show_extent(m->dim, &m->shape[m->bodies.shape[i]]));
    for (int k = 0; k < m->dim; k++) reach = fmax(reach, box[k + 3] - box[k]);
    const double pixels = most / reach * fmax(def->width, def->height);
    const double n = 3.14159265358979 * sqrt(2.0 * pixels);
    return n < 12.0 ? 12 : n > 128.0 ? 128 : (int32_t)n;
}

talus_status talus_picture_draw(talus_context *ctx, const talus_moment *m,
                                const talus_picture_def *def, uint8_t *rgba) {
    TL_REQUIRE(ctx, m && def && rgba, TALUS_ERR_ARG, "picture: no moment, definition or pixels");
    TL_REQUIRE(ctx, m->dim == 2 || m->dim == 3, TALUS_ERR_ARG,
               "picture: dimension %d: must be 2 or 3", (int)m->dim);
    TL_REQUIRE(ctx,
               def->width >= 1 && def->height >= 1 && def->width <= 16384 && def->height <= 16384,
               TALUS_ERR_ARG, "picture: %d by %d pixels; each must be 1 to 16384", (int)def->width,
               (int)def->height);
    TL_REQUIRE(ctx, def->threads >= 1 && def->threads <= 256, TALUS_ERR_ARG,
               "picture: %d threads; must be 1 to 256", (int)def->threads);
    const double *view = def->view;
    TL_REQUIRE(ctx, isfinite(view[0]) && isfinite(view[1]) && isfinite(view[2]), TALUS_ERR_ARG,
               "picture: direction (%g, %g, %g) must be finite", view[0], view[1], view[2]);
    talus_picture_def full = *def;
    double box[6];
    if (!def->box) {
        TL_TRY(talus_picture_box(ctx, m, box));
        full.box = box;
    }
    tl_show show;
    TL_TRY(tl_show_init(ctx, m, &full, picture_detail(m, &full, full.box), &show));
    const talus_status status =
        m->dim == 2 ? tl_render_flat(&show, &full, rgba) : tl_render(&show, &full, rgba);
    tl_show_clear(&show);
    return status;
}
