// SPDX-License-Identifier: Apache-2.0
// Convex hulls. In 3D Qhull finds the corners and planes; faces are then made anew from the corners
// on each plane, so that flat faces are whole, and their edges are matched. In 2D a chain of turns.
#include "collide/hull.h"
#include "base/vec3.h"
#include <libqhull_r/qhull_ra.h>
#include <stdio.h>
#include <string.h>

// The faces of a hull while it is built: corners are numbers of the points.
typedef struct hull_draft {
    talus_context *ctx;
    int32_t dim, count;
    const double *point;     // of the caller
    double centre[3], scale; // of the points
    double (*p)[3];          // points about the centre, over the scale
    bool *extreme;           // found to be a corner by Qhull
    int32_t *corner;         // number of each point among the corners, −1: none
    int32_t corners;

    int32_t planes; // of Qhull's triangles
    double (*plane)[4];
    int32_t (*triangle)[3];

    int32_t faces, loops; // in use
    int32_t *face_start, *loop;
    int32_t *spot; // room for the corners on a plane
    double (*flat)[2];
} hull_draft;

void tl_hull_destroy(talus_context *ctx, tl_hull *h) {
    if (!h) return;
    void *const memory[] = {h->corner,    h->normal, h->offset,    h->face_start, h->loop,
                            h->loop_edge, h->edge,   h->fan_start, h->fan};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++) tl_free(ctx, memory[k]);
    tl_free(ctx, h);
}

static void hull_draft_clear(hull_draft *d) {
    void *const memory[] = {d->p,          d->extreme, d->corner, d->plane, d->triangle,
                            d->face_start, d->loop,    d->spot,   d->flat};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++) tl_free(d->ctx, memory[k]);
}

// --- from loops to a hull ---

static talus_status hull_allocate(talus_context *ctx, int32_t dim, int32_t corners, int32_t faces,
                                  int32_t loops, tl_hull **out) {
    talus_status status = TALUS_OK;
    tl_hull *h = NULL;
    TL_GOTO(TL_ALLOC(ctx, 1, &h));
    h->corners = corners;
    h->faces = faces;
    TL_GOTO(TL_ALLOC(ctx, corners, &h->corner));
    TL_GOTO(TL_ALLOC(ctx, faces, &h->normal));
    TL_GOTO(TL_ALLOC(ctx, faces, &h->offset));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)faces + 1, &h->face_start));
    TL_GOTO(TL_ALLOC(ctx, loops, &h->loop));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)corners + 1, &h->fan_start));
    TL_GOTO(TL_ALLOC(ctx, loops, &h->fan));
    if (dim == 3) {
        TL_GOTO(TL_ALLOC(ctx, loops, &h->loop_edge));
        TL_GOTO(TL_ALLOC(ctx, loops / 2 + 1, &h->edge));
    }
    *out = h;
    h = NULL;
done:
    tl_hull_destroy(ctx, h);
    return status;
}

// Outward normal of a loop by Newell's sum, relative to its first corner.
static void hull_normal(int32_t dim, const tl_hull *h, int32_t f, double out[3]) {
    const int32_t begin = h->face_start[f], end = h->face_start[f + 1];
    const double *origin = h->corner[h->loop[begin]];
    double n[3] = {0.0, 0.0, 0.0}, d[3], e[3], c[3];
    if (dim == 2) {
        tl_sub3(h->corner[h->loop[begin + 1]], origin, d);
        n[0] = d[1], n[1] = -d[0];
    }
    for (int32_t i = begin + 1; dim == 3 && i + 1 < end; i++) {
        tl_sub3(h->corner[h->loop[i]], origin, d);
        tl_sub3(h->corner[h->loop[i + 1]], origin, e);
        tl_cross3(d, e, c);
        tl_axpy3(n, 1.0, c, n);
    }
    tl_scale3(1.0 / tl_norm3(n), n, out);
}

// Normals, offsets, fans and size of a hull whose corners and loops are there.
static void hull_finish(int32_t dim, tl_hull *h) {
    for (int32_t f = 0; f < h->faces; f++) {
        hull_normal(dim, h, f, h->normal[f]);
        h->offset[f] = -INFINITY;
        for (int32_t k = 0; k < h->corners; k++) {
            const double value = tl_dot3(h->normal[f], h->corner[k]);
            if (value > h->offset[f]) h->offset[f] = value;
        }
        for (int32_t i = h->face_start[f]; i < h->face_start[f + 1]; i++)
            h->fan_start[h->loop[i] + 1]++;
    }
    for (int32_t k = 0; k < h->corners; k++) {
        h->fan_start[k + 1] += h->fan_start[k];
        h->size = TL_MAX(tl_norm3(h->corner[k]), h->size);
    }
    for (int32_t f = h->faces - 1; f >= 0; f--) // from the last on: places fill up downwards
        for (int32_t i = h->face_start[f]; i < h->face_start[f + 1]; i++)
            h->fan[--h->fan_start[h->loop[i] + 1]] = f;
    // start[k + 1] has become start[k]
    for (int32_t k = 0; k < h->corners; k++) h->fan_start[k] = h->fan_start[k + 1];
    h->fan_start[h->corners] = h->face_start[h->faces];
}

// Match the edges of the loops. False: they do not close.
static bool hull_match(tl_hull *h) {
    const int32_t loops = h->face_start[h->faces];
    h->edges = 0;
    for (int32_t f = 0; f < h->faces; f++) {
        const int32_t begin = h->face_start[f], end = h->face_start[f + 1];
        for (int32_t i = begin; i < end; i++) {
            const int32_t tail = h->loop[i], head = h->loop[i + 1 < end ? i + 1 : begin];
            int32_t e = 0;
            while (e < h->edges && !(h->edge[e].tail == head && h->edge[e].head == tail)) {
                if (h->edge[e].tail == tail && h->edge[e].head == head) return false;
                e++;
            }
            if (e == h->edges) {
                if (h->edges > loops / 2) return false;
                h->edge[h->edges++] =
                    (tl_hull_edge){.tail = tail, .head = head, .left = f, .right = -1};
            } else if (h->edge[e].right >= 0) {
                return false;
            } else {
                h->edge[e].right = f;
            }
            h->loop_edge[i] = e;
        }
    }
    for (int32_t e = 0; e < h->edges; e++)
        if (h->edge[e].right < 0) return false;
    return h->corners - h->edges + h->faces == 2;
}

talus_status tl_hull_create_box(talus_context *ctx, int32_t dim, const double half[3],
                                tl_hull **out) {
    // by bits in 3D: bit k of a corner is set where its coordinate k is positive
    static const int32_t solid[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                      2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    static const int32_t flat[8] = {0, 1, 1, 2, 2, 3, 3, 0};
    static const double sign[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    tl_hull *h = NULL;
    const int32_t corners = dim == 2 ? 4 : 8, faces = 2 * dim, per_face = dim == 2 ? 2 : 4;
    *out = NULL;
    TL_TRY(hull_allocate(ctx, dim, corners, faces, faces * per_face, &h));
    for (int32_t k = 0; k < corners; k++)
        for (int i = 0; i < dim; i++)
            h->corner[k][i] = half[i] * (dim == 2 ? sign[k][i] : (k >> i & 1) ? 1.0 : -1.0);
    for (int32_t f = 0; f <= faces; f++) h->face_start[f] = f * per_face;
    memcpy(h->loop, dim == 2 ? flat : solid, (size_t)(faces * per_face) * sizeof *h->loop);
    hull_finish(dim, h);
    if (dim == 3) (void)hull_match(h);
    *out = h;
    return TALUS_OK;
}

// --- points ---

static const char *hull_name(int32_t dim) { return dim == 2 ? "polygon" : "polyhedron"; }

static talus_status hull_check_points(talus_context *ctx, int32_t dim, const double *point,
                                      int32_t count) {
    TL_REQUIRE(ctx, count >= dim + 1 && point, TALUS_ERR_ARG,
               "polyhedron: %d points make no %s; at least %d are needed", (int)count,
               hull_name(dim), (int)dim + 1);
    for (int32_t i = 0; i < count; i++) {
        const double *p = point + 3 * (int64_t)i;
        TL_REQUIRE(ctx, isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]), TALUS_ERR_ARG,
                   "polyhedron: point[%d] = (%g, %g, %g) must be finite", (int)i, p[0], p[1], p[2]);
        TL_REQUIRE(ctx, dim == 3 || p[2] == 0.0, TALUS_ERR_ARG,
                   "polyhedron: point[%d] = (%g, %g, %g) must have 0 as third coordinate in 2D",
                   (int)i, p[0], p[1], p[2]);
    }
    return TALUS_OK;
}

static talus_status hull_scale(hull_draft *d) {
    double low[3], high[3];
    tl_copy3(d->point, low);
    tl_copy3(d->point, high);
    for (int32_t i = 0; i < d->count; i++)
        for (int k = 0; k < 3; k++) {
            const double x = d->point[3 * (int64_t)i + k];
            if (x < low[k]) low[k] = x;
            if (x > high[k]) high[k] = x;
        }
    for (int k = 0; k < 3; k++) {
        d->centre[k] = 0.5 * low[k] + 0.5 * high[k];
        d->scale = TL_MAX(0.5 * high[k] - 0.5 * low[k], d->scale);
    }
    TL_REQUIRE(d->ctx, d->scale > 0.0 && isfinite(d->scale), TALUS_ERR_ARG,
               "polyhedron: all %d points are the same; they must not lie in one %s", (int)d->count,
               d->dim == 2 ? "line" : "plane");
    for (int32_t i = 0; i < d->count; i++)
        for (int k = 0; k < 3; k++)
            d->p[i][k] = (d->point[3 * (int64_t)i + k] - d->centre[k]) / d->scale;
    return TALUS_OK;
}

// The points must reach out of the line through two of them and, in 3D, of the plane through three.
static talus_status hull_check_flat(const hull_draft *d) {
    int32_t far = 0, off = 0;
    double most = 0.0, u[3], v[3], n[3], w[3];
    for (int32_t i = 1; i < d->count; i++) {
        tl_sub3(d->p[i], d->p[0], v);
        if (tl_dot3(v, v) > most) most = tl_dot3(v, v), far = i;
    }
    tl_sub3(d->p[far], d->p[0], u);
    tl_scale3(1.0 / tl_norm3(u), u, u);
    most = 0.0;
    for (int32_t i = 1; i < d->count; i++) {
        tl_sub3(d->p[i], d->p[0], v);
        tl_cross3(u, v, n);
        if (tl_norm3(n) > most) most = tl_norm3(n), off = i;
    }
    TL_REQUIRE(d->ctx, most > TL_HULL_FLAT, TALUS_ERR_ARG,
               "polyhedron: all %d points lie on one line; they must not lie in one %s",
               (int)d->count, d->dim == 2 ? "line" : "plane");
    if (d->dim == 2) return TALUS_OK;
    tl_sub3(d->p[off], d->p[0], v);
    tl_cross3(u, v, n);
    tl_scale3(1.0 / tl_norm3(n), n, n);
    most = 0.0;
    for (int32_t i = 1; i < d->count; i++) {
        tl_sub3(d->p[i], d->p[0], w);
        most = TL_MAX(fabs(tl_dot3(n, w)), most);
    }
    TL_REQUIRE(d->ctx, most > TL_HULL_FLAT, TALUS_ERR_ARG,
               "polyhedron: all %d points lie in one plane; at least one must lie off it",
               (int)d->count);
    return TALUS_OK;
}

// Counter-clockwise convex polygon of `count` points `flat`, without those that are within `slack`
// of an edge or of each other; `spot` holds their numbers and then those of the corners. Returns
// how many.
static int32_t hull_polygon(int32_t count, double (*flat)[2], int32_t *spot, double slack,
                            int32_t *out) {
    for (int32_t i = 1; i < count; i++) { // by the first coordinate, then the second
        const double x = flat[i][0], y = flat[i][1];
        const int32_t s = spot[i];
        int32_t k = i;
        for (; k > 0 && (flat[k - 1][0] > x || (flat[k - 1][0] == x && flat[k - 1][1] > y)); k--) {
            flat[k][0] = flat[k - 1][0], flat[k][1] = flat[k - 1][1];
            spot[k] = spot[k - 1];
        }
        flat[k][0] = x, flat[k][1] = y, spot[k] = s;
    }
    int32_t size = 0, floor = 1; // lower chain from left to right, upper chain back
    for (int32_t step = 0; step < 2 * count - 1; step++) {
        const int32_t i = step < count ? step : 2 * count - 2 - step;
        if (step == count) floor = size; // the rightmost point ends the lower chain
        while (size > floor) {
            const double *p = flat[out[size - 2]], *q = flat[out[size - 1]];
            const double ux = q[0] - p[0], uy = q[1] - p[1], vx = flat[i][0] - p[0],
                         vy = flat[i][1] - p[1];
            if (ux * vy - uy * vx > slack * hypot(vx, vy) && hypot(ux, uy) > slack) break;
            size--;
        }
        out[size++] = i;
    }
    size--; // the first point again
    for (int32_t i = 0; i < size; i++) out[i] = spot[out[i]];
    return size;
}

// --- 2D ---

static talus_status hull_create_flat(hull_draft *d, tl_hull **out) {
    for (int32_t i = 0; i < d->count; i++) {
        d->spot[i] = i;
        d->flat[i][0] = d->p[i][0], d->flat[i][1] = d->p[i][1];
    }
    const int32_t n = hull_polygon(d->count, d->flat, d->spot, TL_HULL_FLAT, d->loop);
    TL_REQUIRE(d->ctx, n >= 3, TALUS_ERR_ARG, "polyhedron: the points lie on one line");
    TL_REQUIRE(d->ctx, n <= TL_HULL_CORNERS, TALUS_ERR_UNSUPPORTED,
               "polyhedron: the hull has %d corners; at most %d are supported", (int)n,
               (int)TL_HULL_CORNERS);
    TL_TRY(hull_allocate(d->ctx, 2, n, n, 2 * n, out));
    for (int32_t i = 0; i < n; i++) {
        tl_copy3(d->point + 3 * (int64_t)d->loop[i], (*out)->corner[i]);
        (*out)->loop[2 * i] = i;
        (*out)->loop[2 * i + 1] = (i + 1) % n;
        (*out)->face_start[i + 1] = 2 * i + 2;
    }
    hull_finish(2, *out);
    return TALUS_OK;
}

// --- 3D ---

// Triangles of Qhull: planes and corners. Qhull allocates by itself and says what is wrong in a
// file, which nobody reads: the points were checked.
static talus_status hull_run_qhull(hull_draft *d) {
    talus_status status = TALUS_OK;
    qhT context, *qh = &context;
    facetT *facet;
    vertexT *vertex, **vertexp;
    int curlong, totlong;
    char command[] = "qhull Qt Pp";
    FILE *nowhere = fopen("/dev/null", "w");
    TL_REQUIRE(d->ctx, nowhere, TALUS_ERR_FILE, "polyhedron: /dev/null cannot be opened");
    qh_zero(qh, nowhere);
    const int failed = qh_new_qhull(qh, 3, d->count, &d->p[0][0], False, command, nowhere, nowhere);
    if (failed) {
        status = tl_fail(d->ctx, TALUS_ERR_ARG,
                         "polyhedron: Qhull finds no hull of the %d points (error %d)",
                         (int)d->count, failed);
        goto done;
    }
    TL_GOTO(TL_ALLOC(d->ctx, qh->num_facets, &d->plane));
    TL_GOTO(TL_ALLOC(d->ctx, qh->num_facets, &d->triangle));
    FORALLfacets {
        int k = 0;
        int32_t *t = d->triangle[d->planes];
        FOREACHvertex_(facet->vertices) {
            if (k < 3) t[k++] = qh_pointid(qh, vertex->point);
        }
        if (facet->toporient ^ qh_ORIENTclock) {
            const int32_t swap = t[0];
            t[0] = t[1], t[1] = swap;
        }
        for (k = 0; k < 3; k++) {
            d->plane[d->planes][k] = facet->normal[k];
            d->extreme[t[k]] = true;
        }
        d->plane[d->planes++][3] = -facet->offset;
    }
done:
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &curlong, &totlong);
    (void)fclose(nowhere);
    return status;
}

// Whether all corners of a triangle are on a face that is there already.
static bool hull_has_triangle(const hull_draft *d, const int32_t t[3], double slack) {
    for (int32_t f = 0; f < d->faces; f++) {
        const int32_t *loop = d->loop + d->face_start[f];
        const int32_t count = d->face_start[f + 1] - d->face_start[f];
        double u[3], v[3], n[3] = {0.0, 0.0, 0.0}, c[3];
        for (int32_t i = 1; i + 1 < count; i++) {
            tl_sub3(d->p[loop[i]], d->p[loop[0]], u);
            tl_sub3(d->p[loop[i + 1]], d->p[loop[0]], v);
            tl_cross3(u, v, c);
            tl_axpy3(n, 1.0, c, n);
        }
        tl_scale3(1.0 / tl_norm3(n), n, n);
        bool all = true;
        for (int k = 0; all && k < 3; k++) {
            tl_sub3(d->p[t[k]], d->p[loop[0]], u);
            all = fabs(tl_dot3(n, u)) <= slack;
        }
        if (all) return true;
    }
    return false;
}

// The face of all corners within `slack` of a plane.
static void hull_add_face(hull_draft *d, const double plane[4], double slack) {
    double u[3], v[3];
    const double least = fabs(plane[0]) < fabs(plane[1]) ? plane[0] : plane[1];
    const double axis[3] = {least == plane[0] ? 1.0 : 0.0, least == plane[0] ? 0.0 : 1.0, 0.0};
    tl_cross3(plane, axis, u); // neither of the first two axes alone is the normal of both
    tl_scale3(1.0 / tl_norm3(u), u, u);
    tl_cross3(plane, u, v);
    int32_t count = 0;
    for (int32_t i = 0; i < d->count; i++) {
        if (!d->extreme[i] || fabs(tl_dot3(plane, d->p[i]) - plane[3]) > slack) continue;
        d->flat[count][0] = tl_dot3(u, d->p[i]);
        d->flat[count][1] = tl_dot3(v, d->p[i]);
        d->spot[count++] = i;
    }
    if (count < 3) return;
    count = hull_polygon(count, d->flat, d->spot, slack, d->loop + d->loops);
    if (count < 3) return;
    d->loops += count;
    d->face_start[++d->faces] = d->loops;
}

// Faces of corners that are flat within `slack` (0: each triangle for itself), and from them the
// hull. *out stays NULL where they do not fit together.
static talus_status hull_try(hull_draft *d, double slack, tl_hull **out) {
    d->faces = d->loops = d->corners = 0;
    for (int32_t t = 0; t < d->planes; t++) {
        const int32_t *corner = d->triangle[t];
        if (d->loops > 2 * TL_HULL_EDGES - TL_HULL_CORNERS - 3) return TALUS_OK;
        if (slack == 0.0) {
            for (int k = 0; k < 3; k++) d->loop[d->loops++] = corner[k];
            d->face_start[++d->faces] = d->loops;
        } else if (!hull_has_triangle(d, corner, slack)) {
            hull_add_face(d, d->plane[t], slack);
        }
    }
    for (int32_t i = 0; i < d->count; i++) d->corner[i] = -1;
    for (int32_t i = 0; i < d->loops; i++) d->corner[d->loop[i]] = 0;
    for (int32_t i = 0; i < d->count; i++)
        if (d->corner[i] == 0) d->corner[i] = d->corners++;
    tl_hull *h = NULL;
    TL_TRY(hull_allocate(d->ctx, 3, d->corners, d->faces, d->loops, &h));
    for (int32_t i = 0; i < d->count; i++)
        if (d->corner[i] >= 0) tl_copy3(d->point + 3 * (int64_t)i, h->corner[d->corner[i]]);
    for (int32_t i = 0; i < d->loops; i++) h->loop[i] = d->corner[d->loop[i]];
    memcpy(h->face_start, d->face_start, ((size_t)d->faces + 1) * sizeof *h->face_start);
    if (!hull_match(h)) {
        tl_hull_destroy(d->ctx, h);
        return TALUS_OK;
    }
    hull_finish(3, h);
    *out = h;
    return TALUS_OK;
}

static talus_status hull_create_solid(hull_draft *d, tl_hull **out) {
    static const double slack[] = {TL_HULL_FLAT, 1e-2 * TL_HULL_FLAT, 1e-4 * TL_HULL_FLAT, 0.0};
    TL_TRY(hull_run_qhull(d));
    int32_t corners = 0;
    for (int32_t i = 0; i < d->count; i++) corners += d->extreme[i];
    TL_REQUIRE(d->ctx, corners <= TL_HULL_CORNERS, TALUS_ERR_UNSUPPORTED,
               "polyhedron: the hull has %d corners; at most %d are supported", (int)corners,
               (int)TL_HULL_CORNERS);
    for (size_t k = 0; !*out && k < sizeof slack / sizeof slack[0]; k++)
        TL_TRY(hull_try(d, slack[k], out));
    TL_REQUIRE(d->ctx, *out, TALUS_ERR_ARG,
               "polyhedron: the faces of the hull of %d points do not fit together; points that "
               "nearly coincide should be one",
               (int)d->count);
    return TALUS_OK;
}

talus_status tl_hull_create(talus_context *ctx, int32_t dim, const double *point, int32_t count,
                            tl_hull **out) {
    talus_status status = TALUS_OK;
    hull_draft d = {.ctx = ctx, .dim = dim, .point = point, .count = count};
    *out = NULL;
    TL_REQUIRE(ctx, dim == 2 || dim == 3, TALUS_ERR_ARG, "dimension %d: must be 2 or 3", (int)dim);
    TL_TRY(hull_check_points(ctx, dim, point, count));
    TL_GOTO(TL_ALLOC(ctx, count, &d.p));
    TL_GOTO(TL_ALLOC(ctx, count, &d.extreme));
    TL_GOTO(TL_ALLOC(ctx, count, &d.corner));
    TL_GOTO(TL_ALLOC(ctx, count, &d.spot));
    TL_GOTO(TL_ALLOC(ctx, count, &d.flat));
    TL_GOTO(TL_ALLOC(ctx, 2 * TL_HULL_EDGES + 2 * (int64_t)count, &d.loop));
    TL_GOTO(TL_ALLOC(ctx, 2 * TL_HULL_EDGES + 1, &d.face_start));
    TL_GOTO(hull_scale(&d));
    TL_GOTO(hull_check_flat(&d));
    TL_GOTO(dim == 2 ? hull_create_flat(&d, out) : hull_create_solid(&d, out));
done:
    hull_draft_clear(&d);
    return status;
}
