// SPDX-License-Identifier: Apache-2.0
// Rods as tubes: each segment becomes a few along the smooth curve through the nodes, so that curls
// look round; where there are very many, one.
#include "picture/show.h"
#include <math.h>

int64_t tl_show_rod_nodes(const talus_moment *m) {
    return m->rods.rods > 0 ? m->rods.start[m->rods.rods] : 0;
}

enum { RODS_PIECES = 4, RODS_MANY = 60000 }; // tubes of a segment; of all together

static int32_t rods_pieces(const talus_moment *m) {
    return RODS_PIECES * (tl_show_rod_nodes(m) - m->rods.rods) > RODS_MANY ? 1 : RODS_PIECES;
}

int64_t tl_show_rod_tubes(const talus_moment *m) {
    return rods_pieces(m) * (tl_show_rod_nodes(m) - m->rods.rods);
}

double tl_show_rod_value(const talus_moment *m, tl_colour_by by, int32_t i, int64_t node,
                         double along) {
    const double *v = m->rods.velocity + 3 * node;
    double mean[3];
    switch (by) {
    case TL_COLOUR_SPEED:
        for (int k = 0; k < 3; k++) mean[k] = v[k] + along * (v[3 + k] - v[k]);
        return tl_norm3(mean);
    case TL_COLOUR_SIZE:
        return m->rods.radius[i];
    case TL_COLOUR_STRAIN:
        return m->rods.strain[node];
    default:
        return NAN;
    }
}

// The point t of the segment from node k on: on the cubic whose slopes at nodes are those of the
// chords around them.
static void rods_curve(const talus_rod_view *r, int32_t rod, int64_t k, double t, double out[3]) {
    const double *x = r->position + 3 * k;
    const bool first = k == r->start[rod], last = k + 2 == r->start[rod + 1];
    for (int e = 0; e < 3; e++) {
        const double b = x[e], c = x[3 + e];
        const double slope = first ? c - b : 0.5 * (c - x[e - 3]);
        const double end = last ? c - b : 0.5 * (x[6 + e] - b);
        out[e] = b + t * (slope + t * (3.0 * (c - b) - 2.0 * slope - end +
                                       t * (slope + end - 2.0 * (c - b))));
    }
}

void tl_show_add_rods(tl_show *s) {
    const talus_moment *m = s->moment;
    const int32_t pieces = rods_pieces(m);
    for (int32_t i = 0; i < m->rods.rods; i++)
        for (int64_t k = m->rods.start[i]; k + 1 < m->rods.start[i + 1]; k++)
            for (int32_t p = 0; p < pieces; p++) {
                tl_item *item = &s->item[s->items++];
                double a[3], b[3];
                rods_curve(&m->rods, i, k, (double)p / pieces, a);
                rods_curve(&m->rods, i, k, (p + 1.0) / pieces, b);
                *item = (tl_item){.q = {1.0, 0.0, 0.0, 0.0},
                                  .thick = m->rods.radius[i],
                                  .surface = TL_SURFACE_TUBE,
                                  .body = -1,
                                  .rod = i,
                                  .particle = k,
                                  .along = (p + 0.5) / pieces,
                                  .role = TL_ROLE_GRAIN};
                for (int e = 0; e < 3; e++) {
                    item->x[e] = 0.5 * (a[e] + b[e]);
                    item->half[e] = 0.5 * (b[e] - a[e]);
                }
                item->radius = tl_norm3(item->half) + item->thick;
            }
}
