// SPDX-License-Identifier: Apache-2.0
// Materials. The table of pairs is kept complete, so that a contact costs one look-up.
#include "world/world_impl.h"
#include <math.h>

talus_material_def talus_material_default(void) {
    return (talus_material_def){.friction = 0.5,
                                .stiffness = 1e5,
                                .damping = -1.0,
                                .young = 1e7,
                                .poisson = 0.3,
                                .tangential = 2.0 / 7.0};
}

static talus_status material_check(talus_context *ctx, const talus_material_def *m) {
    const struct {
        const char *name;
        double value, low, high;
    } all[] = {{"friction", m->friction, 0.0, INFINITY},
               {"restitution", m->restitution, 0.0, 1.0},
               {"restitution_t", m->restitution_t, 0.0, 1.0},
               {"poisson", m->poisson, 0.0, nextafter(0.5, 0.0)},
               {"tangential", m->tangential, nextafter(0.0, 1.0), INFINITY},
               {"stiffness", m->stiffness, nextafter(0.0, 1.0), INFINITY},
               {"young", m->young, nextafter(0.0, 1.0), INFINITY}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TL_REQUIRE(ctx,
                   isfinite(all[k].value) && all[k].value >= all[k].low &&
                       all[k].value <= all[k].high,
                   TALUS_ERR_ARG, "material: %s = %g is not in [%.3g, %.3g]", all[k].name,
                   all[k].value, all[k].low, all[k].high);
    TL_REQUIRE(ctx, isfinite(m->damping), TALUS_ERR_ARG, "material: damping = %g is not finite",
               m->damping);
    return TALUS_OK;
}

// Geometric means; a damping that is to follow from the restitution makes that of the pair do so.
static talus_material_def material_mean(const talus_material_def *a, const talus_material_def *b) {
    return (talus_material_def){
        .friction = sqrt(a->friction * b->friction),
        .restitution = sqrt(a->restitution * b->restitution),
        .restitution_t = sqrt(a->restitution_t * b->restitution_t),
        .stiffness = sqrt(a->stiffness * b->stiffness),
        .damping = a->damping < 0.0 || b->damping < 0.0 ? -1.0 : sqrt(a->damping * b->damping),
        .young = sqrt(a->young * b->young),
        .poisson = sqrt(a->poisson * b->poisson),
        .tangential = sqrt(a->tangential * b->tangential),
    };
}

talus_status tl_materials_add(talus_context *ctx, tl_materials *m,
                              const talus_material_def *material) {
    talus_status status = TALUS_OK;
    talus_material_def *own = NULL, *pair = NULL;
    const int32_t n = m->count;
    TL_TRY(material_check(ctx, material));
    TL_REQUIRE(ctx, n < 4096, TALUS_ERR_ARG, "material: there are %d already", (int)n);
    const int64_t area = (int64_t)(n + 1) * (n + 1);
    TL_GOTO(TL_ALLOC(ctx, n + 1, &own));
    TL_GOTO(TL_ALLOC(ctx, area, &pair));
    for (int32_t a = 0; a < n; a++) own[a] = m->own[a];
    own[n] = *material;
    for (int32_t a = 0; a <= n; a++)
        for (int32_t b = 0; b <= n; b++) {
            const int64_t to = (int64_t)a * (n + 1) + b, from = (int64_t)a * n + b;
            const bool old = a < n && b < n;
            pair[to] = old ? m->pair[from] : a == b ? own[a] : material_mean(own + a, own + b);
        }
    tl_materials_clear(ctx, m);
    *m = (tl_materials){.count = n + 1, .own = own, .pair = pair};
    return TALUS_OK;
done:
    tl_free(ctx, own);
    tl_free(ctx, pair);
    return status;
}

talus_status tl_materials_set_pair(talus_context *ctx, tl_materials *m, int32_t a, int32_t b,
                                   const talus_material_def *pair) {
    TL_REQUIRE(ctx, a >= 0 && a < m->count && b >= 0 && b < m->count, TALUS_ERR_ARG,
               "pair: materials %d and %d; there are 0 to %d", (int)a, (int)b, (int)m->count - 1);
    TL_TRY(material_check(ctx, pair));
    const int64_t place[2] = {(int64_t)a * m->count + b, (int64_t)b * m->count + a};
    for (int k = 0; k < 2; k++) m->pair[place[k]] = *pair;
    return TALUS_OK;
}

void tl_materials_clear(talus_context *ctx, tl_materials *m) {
    tl_free(ctx, m->own);
    tl_free(ctx, m->pair);
    *m = (tl_materials){0};
}
