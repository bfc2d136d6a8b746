// SPDX-License-Identifier: Apache-2.0
// Pair correlation of the centres in the region,
//     g(r) = Σ_{i≠j} [r_ij in the bin] / (ρ² S(bin) A(x_ij)),    ρ = N/V,
// S the volume of the shell and A(x) that of the overlap of the region with itself moved by x,
// which is the edge correction by translation: a uniform gas has g = 1 at all r, also next to
// walls. Along whole periodic axes nothing is lost at edges.
#include "base/compiler.h"
#include "base/vec3.h"
#include "observe/analysis.h"

typedef struct pairs_state {
    double range;
    double *sum;          // def.bins: Σ 1/A, over all frames, each over ρ² of the frame
    int32_t *head, *next; // centres by cells
    int64_t head_room, next_room;
} pairs_state;

static talus_status pairs_begin(tl_analysis *a, void *state) {
    pairs_state *s = state;
    const tl_box *box = &a->fixed.box;
    s->range = a->def.range > 0.0 ? a->def.range : 5.0 * a->fixed.diameter;
    for (int k = 0; k < box->dim; k++) { // farther apart an overlap or a nearest image is lost
        const double edge = box->high[k] - box->low[k];
        s->range = TL_MIN(s->range, box->whole[k] ? 0.5 * edge : edge);
    }
    return TL_ALLOC(a->ctx, a->def.bins, &s->sum);
}

typedef struct pairs_grid {
    int32_t n[3];
    double edge[3];
} pairs_grid;

static int32_t pairs_cell(const tl_box *box, const pairs_grid *grid, const double x[3],
                          int32_t at[3]) {
    int32_t index = 0;
    for (int k = 2; k >= 0; k--) {
        at[k] = 0;
        if (k < box->dim) {
            const double c = floor((x[k] - box->low[k]) / grid->edge[k]);
            at[k] = c >= grid->n[k] ? grid->n[k] - 1 : c > 0.0 ? (int32_t)c : 0;
        }
        index = index * grid->n[k] + at[k];
    }
    return index;
}

static talus_status pairs_sort(tl_analysis *a, pairs_state *s, pairs_grid *grid) {
    const tl_grains *g = &a->fixed;
    const double most = cbrt(4.0 * TL_MAX(g->count, 1)) + 1.0; // cells along an axis
    int64_t cells = 1;
    for (int k = 0; k < 3; k++) {
        const double edge = k < g->box.dim ? g->box.high[k] - g->box.low[k] : 0.0;
        const double n = edge > 0.0 ? floor(edge / s->range) : 1.0;
        grid->n[k] = (int32_t)TL_MAX(1.0, TL_MIN(n, g->box.dim == 2 ? most * most : most));
        grid->edge[k] = edge / grid->n[k];
        cells *= grid->n[k];
    }
    if (cells > s->head_room) {
        TL_TRY(tl_realloc(a->ctx, 0, cells, sizeof *s->head, &s->head));
        s->head_room = cells;
    }
    if (g->count > s->next_room) {
        TL_TRY(tl_realloc(a->ctx, 0, g->count, sizeof *s->next, &s->next));
        s->next_room = g->count;
    }
    for (int64_t i = 0; i < cells; i++) s->head[i] = -1;
    for (int32_t i = g->count - 1; i >= 0; i--) {
        int32_t at[3];
        if (!tl_grain_inside(g, i)) continue;
        const int32_t cell = pairs_cell(&g->box, grid, g->x + 3 * (int64_t)i, at);
        s->next[i] = s->head[cell];
        s->head[cell] = i;
    }
    return TALUS_OK;
}

static void pairs_add(const tl_analysis *a, pairs_state *s, double scale, const double x[3],
                      const double y[3]) {
    const tl_box *box = &a->fixed.box;
    double d[3] = {0.0, 0.0, 0.0}, overlap = 1.0;
    for (int k = 0; k < box->dim; k++) {
        const double edge = box->high[k] - box->low[k];
        d[k] = y[k] - x[k];
        if (box->whole[k]) d[k] -= edge * rint(d[k] / edge);
        overlap *= box->whole[k] ? edge : edge - fabs(d[k]);
    }
    const double r = tl_norm3(d);
    if (r < s->range && overlap > 0.0)
        s->sum[TL_MIN((int32_t)(r / s->range * a->def.bins), a->def.bins - 1)] += scale / overlap;
}

// The other centres near centre i: those of the cells next to its own, each cell once.
static void pairs_around(const tl_analysis *a, pairs_state *s, const pairs_grid *grid, double scale,
                         int32_t i) {
    const tl_box *box = &a->fixed.box;
    const double *x = a->fixed.x + 3 * (int64_t)i;
    int32_t at[3], from[3], to[3];
    (void)pairs_cell(box, grid, x, at);
    for (int k = 0; k < 3; k++) {
        const bool few = grid->n[k] < 3;
        from[k] = few ? 0 : at[k] - 1;
        to[k] = few ? grid->n[k] - 1 : at[k] + 1;
        if (few || (k < box->dim && box->whole[k])) continue;
        from[k] = TL_MAX(from[k], 0);
        to[k] = TL_MIN(to[k], grid->n[k] - 1);
    }
    for (int32_t p = from[2]; p <= to[2]; p++)
        for (int32_t q = from[1]; q <= to[1]; q++)
            for (int32_t r = from[0]; r <= to[0]; r++) {
                const int32_t c[3] = {(r + grid->n[0]) % grid->n[0], (q + grid->n[1]) % grid->n[1],
                                      (p + grid->n[2]) % grid->n[2]};
                const int32_t cell = (c[2] * grid->n[1] + c[1]) * grid->n[0] + c[0];
                for (int32_t j = s->head[cell]; j >= 0; j = s->next[j])
                    if (j != i) pairs_add(a, s, scale, x, a->fixed.x + 3 * (int64_t)j);
            }
}

static talus_status pairs_frame(tl_analysis *a, void *state) {
    pairs_state *s = state;
    const tl_grains *g = &a->fixed;
    pairs_grid grid;
    double inside = 0.0;
    if (!a->averaged || !(s->range > 0.0)) return TALUS_OK;
    TL_TRY(pairs_sort(a, s, &grid));
    for (int32_t i = 0; i < g->count; i++) inside += tl_grain_inside(g, i);
    const double density = inside / g->box.volume;
    for (int32_t i = 0; i < g->count; i++)
        if (tl_grain_inside(g, i)) pairs_around(a, s, &grid, 1.0 / (density * density), i);
    return TALUS_OK;
}

static talus_status pairs_end(tl_analysis *a, void *state) {
    const pairs_state *s = state;
    const double pi = 3.14159265358979323846, width = s->range / a->def.bins;
    static const char *const column[][2] = {{"r", "m"}, {"g", ""}};
    tl_sheet *t = NULL;
    TL_TRY(tl_sheets_add(a->out, "pairs", "Pair correlation",
                         "How many pairs of centres have the distance r, over how many would if "
                         "the centres were strewn at random.",
                         "line", &t));
    TL_TRY(tl_sheet_columns(t, 2, column));
    for (int32_t k = 0; k < a->def.bins && s->range > 0.0; k++) {
        const double in = k * width, out = (k + 1) * width;
        const double shell = a->info.dim == 2 ? pi * (out * out - in * in)
                                              : 4.0 / 3.0 * pi * (out * out * out - in * in * in);
        double *row;
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = 0.5 * (in + out);
        row[1] = s->sum[k] / shell / (double)a->averages;
    }
    return TALUS_OK;
}

static void pairs_clear(tl_analysis *a, void *state) {
    const pairs_state *s = state;
    tl_free(a->ctx, s->sum);
    tl_free(a->ctx, s->head);
    tl_free(a->ctx, s->next);
}

const tl_task tl_task_pairs = {.subject = TL_SUBJECT_pairs,
                               .size = sizeof(pairs_state),
                               .begin = pairs_begin,
                               .frame = pairs_frame,
                               .end = pairs_end,
                               .clear = pairs_clear};
