// SPDX-License-Identifier: Apache-2.0
// Which facets share an edge, and which side of a surface is its outside. Facets that share an edge
// agree when they go along it in opposite directions; from a first facet this settles a connected
// piece. A piece without border has the sign of its volume to tell inside from outside, and lies in
// a cavity when an odd number of others is around it.
#include "base/vec3.h"
#include "collide/mesh_read.h"

enum { SIDES_PIECES = 64 }; // more closed pieces are not looked at for cavities

// ---- edges -------------------------------------------------------------------------------------

// The ends of half edge h (facet h / dim, from its corner h % dim), the smaller first.
static void edges_ends(int32_t dim, const int32_t *triangle, int64_t h, int32_t end[2]) {
    const int64_t first = h / dim * dim;
    const int32_t a = triangle[h], b = dim == 2 ? a : triangle[first + (h - first + 1) % dim];
    end[0] = a < b ? a : b;
    end[1] = a < b ? b : a;
}

// Stable sort of half edges by one of their ends.
static void edges_sort(int32_t dim, const int32_t *triangle, int which, int64_t count,
                       int32_t points, const int32_t *from, int32_t *to, int32_t *start) {
    int32_t end[2], at = 0;
    for (int32_t p = 0; p <= points; p++) start[p] = 0;
    for (int64_t i = 0; i < count; i++) {
        edges_ends(dim, triangle, from[i], end);
        start[end[which]]++;
    }
    for (int32_t p = 0; p < points; p++) {
        const int32_t here = start[p];
        start[p] = at;
        at += here;
    }
    for (int64_t i = 0; i < count; i++) {
        edges_ends(dim, triangle, from[i], end);
        to[start[end[which]]++] = from[i];
    }
}

talus_status tl_edges_create(talus_context *ctx, int32_t dim, const int32_t *triangle,
                             int32_t triangle_count, int32_t point_count, tl_edges *out) {
    talus_status status = TALUS_OK;
    const int64_t count = (int64_t)dim * triangle_count;
    int32_t *order[2] = {NULL, NULL}, *room = NULL;
    *out = (tl_edges){0};
    TL_GOTO(TL_ALLOC(ctx, count, &order[0]));
    TL_GOTO(TL_ALLOC(ctx, count, &order[1]));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)point_count + 1, &room));
    TL_GOTO(TL_ALLOC(ctx, count, &out->facet));
    TL_GOTO(TL_ALLOC(ctx, count, &out->edge));
    TL_GOTO(TL_ALLOC(ctx, 2 * count, &out->end));
    TL_GOTO(TL_ALLOC(ctx, count + 1, &out->start));
    for (int64_t h = 0; h < count; h++) order[0][h] = (int32_t)h;
    edges_sort(dim, triangle, 1, count, point_count, order[0], order[1], room);
    edges_sort(dim, triangle, 0, count, point_count, order[1], order[0], room);
    for (int64_t i = 0; i < count; i++) {
        int32_t end[2];
        const int32_t h = order[0][i];
        edges_ends(dim, triangle, h, end);
        const int64_t last = 2 * ((int64_t)out->count - 1);
        if (i == 0 || out->end[last] != end[0] || out->end[last + 1] != end[1]) {
            out->end[last + 2] = end[0];
            out->end[last + 3] = end[1];
            out->start[out->count++] = (int32_t)i;
        }
        out->facet[i] = h / dim;
        out->edge[h] = out->count - 1;
    }
    out->start[out->count] = (int32_t)count;
done:
    for (int k = 0; k < 2; k++) tl_free(ctx, order[k]);
    tl_free(ctx, room);
    if (status != TALUS_OK) tl_edges_clear(ctx, out);
    return status;
}

void tl_edges_clear(talus_context *ctx, tl_edges *e) {
    tl_free(ctx, e->end);
    tl_free(ctx, e->start);
    tl_free(ctx, e->facet);
    tl_free(ctx, e->edge);
    *e = (tl_edges){0};
}

// ---- sides -------------------------------------------------------------------------------------

typedef struct sides_piece {
    int32_t first, count; // its facets in `order`
    bool closed;
    double volume; // signed
} sides_piece;

typedef struct sides_work {
    talus_context *ctx;
    int32_t dim;
    talus_mesh *mesh;
    tl_edges edges;
    uint8_t *seen, *turned; // facets
    int32_t *order;         // facets, piece by piece
    int32_t done;           // how many are in it
} sides_work;

// Whether facet t goes through edge e from its first end to its second (2D: leaves the point).
static bool sides_forward(const sides_work *w, int32_t t, int32_t e) {
    const int32_t *corner = w->mesh->triangle + (int64_t)w->dim * t;
    for (int k = 0; k < w->dim; k++)
        if (w->edges.edge[(int64_t)w->dim * t + k] == e)
            return w->dim == 2 ? k == 0 : corner[k] == w->edges.end[2 * (int64_t)e];
    return false;
}

// Add to the piece what is across edge e of facet t.
static talus_status sides_cross(sides_work *w, int32_t t, int32_t e, sides_piece *piece) {
    const int32_t *facet = w->edges.facet + w->edges.start[e];
    if (w->edges.start[e + 1] - w->edges.start[e] != 2 || facet[0] == facet[1]) {
        piece->closed = false; // a border, or a place where three meet
        return TALUS_OK;
    }
    const int32_t other = facet[0] == t ? facet[1] : facet[0];
    const bool same = sides_forward(w, t, e) == sides_forward(w, other, e);
    const uint8_t turned = w->turned[t] ^ (same ? 1 : 0);
    if (!w->seen[other]) {
        w->seen[other] = 1;
        w->turned[other] = turned;
        w->order[w->done++] = other;
        return TALUS_OK;
    }
    TL_REQUIRE(w->ctx, w->turned[other] == turned, TALUS_ERR_FORMAT,
               "the surface has no two sides (it is a Möbius strip, say): facets %d and %d cannot "
               "agree about the outside",
               (int)t, (int)other);
    return TALUS_OK;
}

static void sides_turn(sides_work *w, const sides_piece *piece) {
    for (int32_t i = piece->first; i < piece->first + piece->count; i++)
        w->turned[w->order[i]] ^= 1;
}

// Corners of a facet as it is turned now.
static void sides_corners(const sides_work *w, int32_t t, const double *p[3]) {
    TL_ASSUME(w->dim == 2 || w->dim == 3);
    const int32_t *corner = w->mesh->triangle + (int64_t)w->dim * t;
    const int last = w->dim - 1;
    for (int k = 0; k < w->dim; k++) {
        const int from = w->turned[t] && k >= w->dim - 2 ? (k == last ? last - 1 : last) : k;
        p[k] = w->mesh->point + 3 * (int64_t)corner[from];
    }
}

// Signed volume, in 3D of the tetrahedra over the facets, seen from the piece's first point. In 2D
// the free side is on the left, so that the area of a solid comes out positive clockwise.
static double sides_volume(const sides_work *w, const sides_piece *piece) {
    TL_ASSUME(w->dim == 2 || w->dim == 3);
    const double *p[3], *origin;
    double sum = 0.0;
    sides_corners(w, w->order[piece->first], p);
    origin = p[0];
    for (int32_t i = piece->first; i < piece->first + piece->count; i++) {
        double u[3], v[3], x[3], n[3];
        sides_corners(w, w->order[i], p);
        tl_sub3(p[0], origin, u);
        tl_sub3(p[1], origin, v);
        tl_cross3(u, v, n);
        if (w->dim == 2) {
            sum -= 0.5 * n[2];
            continue;
        }
        tl_sub3(p[2], origin, x);
        sum += tl_dot3(n, x) / 6.0;
    }
    return sum;
}

// How often a piece goes around the point x: its solid angle over 4 pi (2D: angle over 2 pi).
static double sides_winding(const sides_work *w, const sides_piece *piece, const double x[3]) {
    double sum = 0.0;
    for (int32_t i = piece->first; i < piece->first + piece->count; i++) {
        const double *p[3];
        double a[3][3] = {{0.0}}, n[3], length[3] = {0.0};
        sides_corners(w, w->order[i], p);
        for (int k = 0; k < w->dim; k++) {
            tl_sub3(p[k], x, a[k]);
            length[k] = tl_norm3(a[k]);
        }
        tl_cross3(a[0], a[1], n);
        if (w->dim == 2) {
            sum -= atan2(n[2], tl_dot3(a[0], a[1]));
            continue;
        }
        // half of the solid angle of a triangle, by its three edges
        const double den = length[0] * length[1] * length[2] + tl_dot3(a[0], a[1]) * length[2] +
                           tl_dot3(a[1], a[2]) * length[0] + tl_dot3(a[2], a[0]) * length[1];
        sum += atan2(tl_dot3(n, a[2]), den);
    }
    return sum / 6.283185307179586477;
}

// The middle of a piece's first facet.
static void sides_middle(const sides_work *w, const sides_piece *piece, double x[3]) {
    const double *p[3];
    sides_corners(w, w->order[piece->first], p);
    for (int k = 0; k < 3; k++) {
        x[k] = 0.0;
        for (int c = 0; c < w->dim; c++) x[k] += p[c][k] / w->dim;
    }
}

// Find the piece of facet t.
static talus_status sides_gather(sides_work *w, int32_t t, sides_piece *piece) {
    int32_t turned = 0;
    *piece = (sides_piece){.first = w->done, .closed = true};
    w->seen[t] = 1;
    w->order[w->done++] = t;
    for (int32_t i = piece->first; i < w->done; i++) {
        const int32_t here = w->order[i];
        for (int k = 0; k < w->dim; k++)
            TL_TRY(sides_cross(w, here, w->edges.edge[(int64_t)w->dim * here + k], piece));
        turned += w->turned[here];
    }
    piece->count = w->done - piece->first;
    if (piece->closed) {
        piece->volume = sides_volume(w, piece);
        if (piece->volume < 0.0) sides_turn(w, piece);
    } else if (turned > piece->count / 2) { // as most of them are
        sides_turn(w, piece);
    }
    return TALUS_OK;
}

// Turn pieces that bound cavities: an odd number of others is around them. All have their volume
// positive before.
static void sides_cavities(sides_work *w, const sides_piece *piece, int count) {
    bool cavity[SIDES_PIECES] = {false};
    for (int i = 0; i < count; i++) {
        double x[3];
        sides_middle(w, &piece[i], x);
        for (int k = 0; k < count; k++)
            if (k != i && sides_winding(w, &piece[k], x) > 0.5) cavity[i] = !cavity[i];
    }
    for (int i = 0; i < count; i++)
        if (cavity[i]) sides_turn(w, &piece[i]);
}

static talus_status sides_settle(sides_work *w) {
    sides_piece closed[SIDES_PIECES];
    int64_t pieces = 0;
    talus_mesh *m = w->mesh;
    m->closed = true;
    for (int32_t t = 0; t < m->triangle_count; t++) {
        sides_piece piece;
        if (w->seen[t]) continue;
        TL_TRY(sides_gather(w, t, &piece));
        m->closed = m->closed && piece.closed;
        if (!piece.closed) continue;
        if (pieces < SIDES_PIECES) closed[pieces] = piece;
        pieces++;
    }
    if (pieces > 1 && pieces <= SIDES_PIECES) sides_cavities(w, closed, (int)pieces);
    for (int32_t t = 0; t < m->triangle_count; t++) {
        if (!w->turned[t]) continue;
        int32_t *last = m->triangle + (int64_t)w->dim * t + w->dim - 2, swap = last[0];
        last[0] = last[1];
        last[1] = swap;
        m->turned++;
    }
    return TALUS_OK;
}

talus_status tl_mesh_settle_sides(talus_context *ctx, int32_t dim, talus_mesh *mesh) {
    talus_status status = TALUS_OK;
    sides_work w = {.ctx = ctx, .dim = dim, .mesh = mesh};
    TL_GOTO(tl_edges_create(ctx, dim, mesh->triangle, mesh->triangle_count, mesh->point_count,
                            &w.edges));
    TL_GOTO(TL_ALLOC(ctx, mesh->triangle_count, &w.seen));
    TL_GOTO(TL_ALLOC(ctx, mesh->triangle_count, &w.turned));
    TL_GOTO(TL_ALLOC(ctx, mesh->triangle_count, &w.order));
    status = sides_settle(&w);
done:
    tl_edges_clear(ctx, &w.edges);
    tl_free(ctx, w.seen);
    tl_free(ctx, w.turned);
    tl_free(ctx, w.order);
    return status;
}
