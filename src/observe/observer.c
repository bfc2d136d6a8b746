// SPDX-License-Identifier: Apache-2.0
// Scalars of a world, step after step.
#include "observe/scalars.h"
#include <math.h>
#include <string.h>

struct talus_observer {
    talus_context *ctx;
    int32_t dim, count;
    int scalar[TL_SCALARS];
    bool wanted[TL_SUBJECTS];
    talus_region region;
    tl_grains grains;
};

talus_region talus_region_default(void) {
    return (talus_region){.low = {NAN, NAN, NAN}, .high = {NAN, NAN, NAN}, .up = -1};
}

static void observer_add(talus_observer *o, int scalar) {
    for (int32_t k = 0; k < o->count; k++)
        if (o->scalar[k] == scalar) return;
    o->scalar[o->count++] = scalar;
    o->wanted[tl_scalar_subject(scalar)] = true;
}

static talus_status observer_name(talus_observer *o, const char *name) {
    const char *nearest = NULL;
    size_t distance = SIZE_MAX;
    bool found = false;
    talus_scalar s;
    for (int k = 0; k < TL_SCALARS && !found; k++) { // a scalar comes before a subject of its name
        if (!tl_scalar_get(o->dim, k, &s) || strcmp(s.name, name) != 0) continue;
        observer_add(o, k);
        found = true;
    }
    for (int k = 0; k < TL_SCALARS && !found; k++) {
        if (!tl_scalar_get(o->dim, k, &s) || strcmp(s.subject, name) != 0) continue;
        for (; k < TL_SCALARS && tl_scalar_subject(k) == tl_subject_find(name); k++)
            if (tl_scalar_get(o->dim, k, &s)) observer_add(o, k);
        found = true;
    }
    if (found) return TALUS_OK;
    for (int k = 0; k < TL_SCALARS; k++) {
        if (!tl_scalar_get(o->dim, k, &s)) continue;
        if (talus_name_nearer(name, s.name, &distance)) nearest = s.name;
        if (talus_name_nearer(name, s.subject, &distance)) nearest = s.subject;
    }
    return tl_fail(o->ctx, TALUS_ERR_UNKNOWN, "there is no observable '%s'%s%s%s", name,
                   nearest ? "; did you mean '" : " ('talus help observables' lists them)",
                   nearest ? nearest : "", nearest ? "'?" : "");
}

talus_status talus_observer_create(talus_context *ctx, int32_t dim, const char *const *name,
                                   int32_t count, const talus_region *region,
                                   talus_observer **out) {
    if (!ctx || !out) return TALUS_ERR_ARG;
    *out = NULL;
    TL_REQUIRE(ctx, (dim == 2 || dim == 3) && count >= 0 && (name || count == 0), TALUS_ERR_ARG,
               "talus_observer_create: dim must be 2 or 3, and names must be given");
    talus_status status = TALUS_OK;
    talus_observer *o = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &o));
    o->ctx = ctx;
    o->dim = dim;
    o->region = region ? *region : talus_region_default();
    tl_grains_init(&o->grains, ctx);
    for (int32_t k = 0; k < count; k++) TL_GOTO(observer_name(o, name[k]));
    *out = o;
    o = NULL;
done:
    talus_observer_destroy(o);
    return status;
}

void talus_observer_destroy(talus_observer *o) {
    if (!o) return;
    tl_grains_clear(&o->grains);
    tl_free(o->ctx, o);
}

bool talus_observer_at(const talus_observer *o, int32_t index, talus_scalar *out) {
    if (!o || !out || index < 0 || index >= o->count) return false;
    return tl_scalar_get(o->dim, o->scalar[index], out);
}

talus_status talus_observer_measure(talus_observer *o, const talus_moment *m, double *out) {
    if (!o || !m || !out) return TALUS_ERR_ARG;
    double value[TL_SCALARS];
    TL_REQUIRE(o->ctx, m->dim == o->dim, TALUS_ERR_ARG,
               "talus_observer_measure: the moment is of dimension %d, not %d", (int)m->dim,
               (int)o->dim);
    TL_TRY(tl_grains_take(&o->grains, m, &o->region, NULL));
    TL_TRY(tl_scalars_measure(&o->grains, o->wanted, value));
    for (int32_t k = 0; k < o->count; k++) out[k] = value[o->scalar[k]];
    return TALUS_OK;
}
