// SPDX-License-Identifier: Apache-2.0
// Rods in frames: what does not change of each once, then the nodes of all of them in a row.
#include "record/record_impl.h"

static talus_status rods_new(talus_recording *r, const talus_rod_view *v) {
    for (int32_t i = (int32_t)r->column[TL_ROD_NODES].rows; i < v->rods; i++) {
        const int32_t nodes = v->start[i + 1] - v->start[i];
        int32_t name;
        TL_TRY(tl_record_name(r, r->rod_name ? r->rod_name(r->user, i) : NULL, &name));
        TL_TRY(tl_record_append(r, TL_ROD_NODES, 1, &nodes));
        TL_TRY(tl_record_append(r, TL_ROD_RADIUS, 1, v->radius + i));
        TL_TRY(tl_record_append(r, TL_ROD_KIND, 1, v->kind + i));
        TL_TRY(tl_record_append(r, TL_ROD_MATERIAL, 1, v->material + i));
        TL_TRY(tl_record_append(r, TL_ROD_NAME, 1, &name));
    }
    return TALUS_OK;
}

talus_status tl_record_rods(talus_recording *r, const talus_world *w) {
    const talus_rod_view v = talus_world_rods(w);
    TL_REQUIRE(r->ctx, r->holds.rods || v.rods == 0, TALUS_ERR_ARG,
               "%s: was begun before there were rods; add the first before the recording is made",
               r->path);
    if (!r->holds.rods) return TALUS_OK;
    const int64_t nodes = v.rods > 0 ? v.start[v.rods] : 0;
    TL_TRY(rods_new(r, &v));
    TL_TRY(tl_record_reals(r, TL_FIBRE_POSITION, nodes, v.position));
    TL_TRY(tl_record_reals(r, TL_FIBRE_VELOCITY, nodes, v.velocity));
    TL_TRY(tl_record_reals(r, TL_FIBRE_DIRECTOR, nodes, v.director));
    TL_TRY(tl_record_reals(r, TL_FIBRE_STRAIN, nodes, v.strain));
    return tl_record_append(r, TL_FIBRE_OFFSET, 1, &r->column[TL_FIBRE_POSITION].rows);
}
