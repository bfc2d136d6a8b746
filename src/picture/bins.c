// SPDX-License-Identifier: Apache-2.0
// Which items each band has to draw, nearest first, so that hidden ones are passed over.
#include "picture/render.h"
#include <stdlib.h>

typedef struct bins_key {
    double near;
    int32_t item, first, last; // bands
} bins_key;

static int bins_compare(const void *a, const void *b) {
    const bins_key *p = a, *q = b;
    if (p->near != q->near) return p->near < q->near ? -1 : 1;
    return (p->item > q->item) - (p->item < q->item);
}

talus_status tl_bins_init(const tl_show *s, const tl_camera *c, int32_t rows, int32_t bands,
                          tl_role first, tl_role last, tl_bins *out) {
    talus_status status = TALUS_OK;
    bins_key *key = NULL;
    int32_t keys = 0;
    *out = (tl_bins){.rows = rows, .bands = bands};
    TL_GOTO(TL_ALLOC(s->ctx, s->items, &key));
    TL_GOTO(TL_ALLOC(s->ctx, (int64_t)bands + 1, &out->start));
    for (int32_t i = 0; i < s->items; i++) {
        const tl_item *item = &s->item[i];
        double v[3], x[2], y[2];
        if (item->role < first || item->role > last) continue;
        tl_camera_see(c, item->x, v);
        if (!tl_camera_bounds(c, v, item->radius, x, y)) continue;
        const double low = floor(y[0] / rows), high = floor(y[1] / rows);
        if (!(high >= 0.0 && low < bands) || !(x[1] >= 0.0 && x[0] <= 2.0 * c->centre[0])) continue;
        key[keys++] = (bins_key){.near = v[2] - item->radius,
                                 .item = i,
                                 .first = low < 0.0 ? 0 : (int32_t)low,
                                 .last = high >= bands ? bands - 1 : (int32_t)high};
    }
    qsort(key, (size_t)keys, sizeof *key, bins_compare);
    int64_t all = 0;
    for (int32_t k = 0; k < keys; k++) {
        all += key[k].last - key[k].first + 1;
        for (int32_t b = key[k].first; b <= key[k].last; b++) out->start[b]++;
    }
    TL_GOTO(all <= INT32_MAX ? TALUS_OK
                             : tl_fail(s->ctx, TALUS_ERR_ARG, "picture: too much to draw"));
    TL_GOTO(TL_ALLOC(s->ctx, all, &out->item));
    int32_t sum = 0;
    for (int32_t b = 0; b <= bands; b++) { // counts become ends, and going backwards, beginnings
        if (b < bands) sum += out->start[b];
        out->start[b] = sum;
    }
    for (int32_t k = keys - 1; k >= 0; k--)
        for (int32_t b = key[k].first; b <= key[k].last; b++)
            out->item[--out->start[b]] = key[k].item;
done:
    tl_free(s->ctx, key);
    if (status != TALUS_OK) tl_bins_clear(s->ctx, out);
    return status;
}

void tl_bins_clear(talus_context *ctx, tl_bins *b) {
    tl_free(ctx, b->start);
    tl_free(ctx, b->item);
    *b = (tl_bins){0};
}
