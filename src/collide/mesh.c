// SPDX-License-Identifier: Apache-2.0
// Meshes: what is worked out once. Facets are sorted along a curve that fills their box (the bits
// of the coordinates of their middles interleaved), and the tree stands over this order: its boxes
// hold two of the level below, level by level, built in linear time but for the sort.
#include "collide/mesh.h"
#include <float.h>
#include <string.h>

// Sine of the angle below which two facets are one flat patch, and the distance from its plane as a
// part of the size of the mesh: coordinates of STL files are rounded to 6e-8.
#define MESH_FLAT_SINE 1e-6
#define MESH_FLAT_AWAY 1e-7

// ---- checks ------------------------------------------------------------------------------------

// The normal of a facet, unit; 2D: to the left. Returns its length before, 0 for a facet without
// area.
static double mesh_normal(int32_t dim, const double *a, const double *b, const double *c,
                          double n[3]) {
    double u[3], v[3];
    tl_sub3(b, a, u);
    if (dim == 2) {
        n[0] = -u[1], n[1] = u[0], n[2] = 0.0;
    } else {
        double most = 0.0;
        tl_sub3(c, a, v);
        for (int k = 0; k < 3; k++) most = TL_MAX(TL_MAX(fabs(u[k]), fabs(v[k])), most);
        if (!(most > 0.0)) return 0.0;
        tl_scale3(1.0 / most, u, u); // products of small lengths would underflow
        tl_scale3(1.0 / most, v, v);
        tl_cross3(u, v, n);
    }
    const double length = tl_norm3(n);
    if (length > 0.0) tl_scale3(1.0 / length, n, n);
    return length;
}

talus_status tl_mesh_check(talus_context *ctx, int32_t dim, const talus_shape_def *s) {
    TL_REQUIRE(ctx, s->point && s->triangle && s->point_count >= dim && s->triangle_count >= 1,
               TALUS_ERR_ARG, "mesh: %d points and %d %s; it needs at least %d and one",
               (int)s->point_count, (int)s->triangle_count, dim == 2 ? "segments" : "triangles",
               (int)dim);
    TL_REQUIRE(ctx, s->triangle_count <= TALUS_MESH_MOST && s->point_count <= 3 * TALUS_MESH_MOST,
               TALUS_ERR_ARG, "mesh: %d triangles are more than %d", (int)s->triangle_count,
               TALUS_MESH_MOST);
    for (int64_t k = 0; k < s->point_count; k++) {
        const double *p = s->point + 3 * k;
        TL_REQUIRE(ctx, isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]), TALUS_ERR_ARG,
                   "mesh: point %lld (%g, %g, %g) must be finite", (long long)k, p[0], p[1], p[2]);
        TL_REQUIRE(ctx, dim == 3 || p[2] == 0.0, TALUS_ERR_ARG,
                   "mesh: point %lld has z = %g, which must be 0 in 2D", (long long)k, p[2]);
    }
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const int32_t *c = s->triangle + dim * t;
        double n[3];
        for (int k = 0; k < dim; k++)
            TL_REQUIRE(ctx, c[k] >= 0 && c[k] < s->point_count, TALUS_ERR_ARG,
                       "mesh: triangle %lld has point %d; there are %d, counted from 0",
                       (long long)t, (int)c[k], (int)s->point_count);
        const double *a = s->point + 3 * (int64_t)c[0], *b = s->point + 3 * (int64_t)c[1];
        const double area = mesh_normal(dim, a, b, dim == 3 ? s->point + 3 * (int64_t)c[2] : b, n);
        TL_REQUIRE(ctx, area > (dim == 3 ? 1e-13 : 0.0), TALUS_ERR_ARG,
                   "mesh: triangle %lld has no area; such triangles have to be left out (as "
                   "talus_mesh_read does)",
                   (long long)t);
    }
    return TALUS_OK;
}

// ---- the tree ----------------------------------------------------------------------------------

static void mesh_facet_box(const tl_mesh *m, int32_t t, tl_box *box) {
    for (int k = 0; k < 3; k++) box->low[k] = INFINITY, box->high[k] = -INFINITY;
    for (int c = 0; c < m->dim; c++)
        for (int k = 0; k < 3; k++) {
            const double x = m->point[m->corner[(int64_t)m->dim * t + c]][k];
            if (x < box->low[k]) box->low[k] = x;
            if (x > box->high[k]) box->high[k] = x;
        }
}

static void mesh_join(const tl_box *a, const tl_box *b, tl_box *out) {
    for (int k = 0; k < 3; k++) {
        out->low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
        out->high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
    }
}

// Place of a facet along the curve: 21 bits of each coordinate of its middle.
static uint64_t mesh_key(const tl_mesh *m, int32_t t) {
    tl_box box;
    uint64_t key = 0;
    mesh_facet_box(m, t, &box);
    for (int k = 0; k < 3; k++) {
        const double x = 0.5 + 0.25 * (box.low[k] + box.high[k]) / m->size; // in 0 … 1
        const double cell = floor(x * 0x1p21);
        const uint64_t bits = cell < 0.0 ? 0 : cell >= 0x1p21 ? 0x1fffff : (uint64_t)cell;
        for (int b = 0; b < 21; b++) key |= (bits >> b & 1) << (3 * b + k);
    }
    return key;
}

// Stable sort of the facets by their keys, by digits of 11 bits.
static talus_status mesh_sort(talus_context *ctx, tl_mesh *m) {
    enum { BITS = 11, DIGITS = 1 << BITS };
    talus_status status = TALUS_OK;
    uint64_t *key = NULL;
    int32_t *other = NULL, *digit = NULL;
    TL_GOTO(TL_ALLOC(ctx, m->facets, &key));
    TL_GOTO(TL_ALLOC(ctx, m->facets, &other));
    TL_GOTO(TL_ALLOC(ctx, DIGITS, &digit));
    for (int32_t t = 0; t < m->facets; t++) {
        key[t] = mesh_key(m, t);
        m->order[t] = t;
    }
    int32_t *from = m->order, *to = other;
    for (int shift = 0; shift < 63; shift += BITS) {
        int32_t at = 0;
        memset(digit, 0, DIGITS * sizeof *digit);
        for (int32_t i = 0; i < m->facets; i++) digit[key[from[i]] >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            const int32_t count = digit[d];
            digit[d] = at;
            at += count;
        }
        for (int32_t i = 0; i < m->facets; i++)
            to[digit[key[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
        int32_t *swap = from;
        from = to, to = swap;
    }
    if (from != m->order) memcpy(m->order, from, (size_t)m->facets * sizeof *from);
done:
    tl_free(ctx, key);
    tl_free(ctx, other);
    tl_free(ctx, digit);
    return status;
}

static talus_status mesh_plant(talus_context *ctx, tl_mesh *m) {
    TL_TRY(TL_ALLOC(ctx, m->facets, &m->order));
    TL_TRY(mesh_sort(ctx, m));
    int32_t width = (m->facets + TL_MESH_LEAF - 1) / TL_MESH_LEAF;
    for (m->levels = 0;; width = (width + 1) / 2) {
        const int32_t l = m->levels++;
        TL_TRY(TL_ALLOC(ctx, width, &m->box[l]));
        m->width[l] = width;
        for (int32_t i = 0; i < width; i++) {
            tl_box *box = &m->box[l][i], facet;
            if (l > 0) {
                const int32_t second = 2 * i + 1 < m->width[l - 1] ? 2 * i + 1 : 2 * i;
                mesh_join(&m->box[l - 1][2 * i], &m->box[l - 1][second], box);
                continue;
            }
            mesh_facet_box(m, m->order[TL_MESH_LEAF * i], box);
            for (int32_t k = TL_MESH_LEAF * i + 1; k < TL_MESH_LEAF * (i + 1) && k < m->facets;
                 k++) {
                mesh_facet_box(m, m->order[k], &facet);
                mesh_join(box, &facet, box);
            }
        }
        if (width == 1) return TALUS_OK;
    }
}

static bool mesh_meet(const tl_box *a, const tl_box *b) {
    for (int k = 0; k < 3; k++)
        if (a->low[k] > b->high[k] || a->high[k] < b->low[k]) return false;
    return true;
}

void tl_mesh_query_begin(const tl_mesh *m, const double low[3], const double high[3],
                         tl_mesh_query *out) {
    out->mesh = m;
    out->leaf = -1;
    out->next = 0;
    tl_copy3(low, out->box.low);
    tl_copy3(high, out->box.high);
    out->stack[0] = m->levels - 1;
    out->stack[1] = 0;
    out->top = 1;
}

// The next leaf whose box meets that of the query.
static bool mesh_next_leaf(tl_mesh_query *q) {
    const tl_mesh *m = q->mesh;
    while (q->top > 0) {
        const int32_t l = q->stack[2 * q->top - 2], i = q->stack[2 * q->top - 1];
        q->top--;
        if (!mesh_meet(&m->box[l][i], &q->box)) continue;
        if (l == 0) {
            q->leaf = i;
            q->next = TL_MESH_LEAF * i;
            return true;
        }
        for (int32_t child = 2 * i + 1; child >= 2 * i; child--) { // the first is looked at first
            if (child >= m->width[l - 1]) continue;
            q->stack[2 * q->top] = l - 1;
            q->stack[2 * q->top + 1] = child;
            q->top++;
        }
    }
    return false;
}

int32_t tl_mesh_query_next(tl_mesh_query *q) {
    const tl_mesh *m = q->mesh;
    for (;;) {
        while (q->leaf >= 0 && q->next < TL_MESH_LEAF * (q->leaf + 1) && q->next < m->facets) {
            const int32_t t = m->order[q->next++];
            tl_box box;
            mesh_facet_box(m, t, &box);
            if (mesh_meet(&box, &q->box)) return t;
        }
        if (!mesh_next_leaf(q)) return -1;
    }
}

bool tl_mesh_is_near(const tl_mesh *m, const double x[3], double reach) {
    const double low[3] = {x[0] - reach, x[1] - reach, x[2] - reach};
    const double high[3] = {x[0] + reach, x[1] + reach, x[2] + reach};
    tl_mesh_query q;
    tl_mesh_query_begin(m, low, high, &q);
    return mesh_next_leaf(&q);
}

// ---- patches and ridges ------------------------------------------------------------------------

static double mesh_away(const tl_mesh *m, int32_t t, const double x[3]) {
    double d[3];
    tl_sub3(x, m->point[m->corner[(int64_t)m->dim * t]], d);
    return tl_dot3(m->normal[t], d);
}

// Whether facet t goes on in the plane of facet `first` beyond edge e of facet `from`, and is not
// folded back. Facets of a sheet may look either way.
static bool mesh_is_flat(const tl_mesh *m, int32_t first, int32_t from, int32_t e, int32_t t) {
    double turn[3], back[3], on[3];
    tl_cross3(m->normal[first], m->normal[t], turn);
    if (tl_norm3(turn) > MESH_FLAT_SINE) return false;
    tl_mesh_inward(m, e, from, back);
    tl_mesh_inward(m, e, t, on);
    if (tl_dot3(back, on) > 0.0) return false;
    for (int k = 0; k < m->dim; k++) {
        const double *x = m->point[m->corner[(int64_t)m->dim * t + k]];
        if (fabs(mesh_away(m, first, x)) > MESH_FLAT_AWAY * m->size) return false;
    }
    return true;
}

// Patches: from a first facet across edges with two facets, as long as it stays in its plane.
static talus_status mesh_make_patches(talus_context *ctx, tl_mesh *m) {
    int32_t *list = NULL;
    TL_TRY(TL_ALLOC(ctx, m->facets, &m->patch));
    TL_TRY(TL_ALLOC(ctx, m->facets, &list));
    for (int32_t t = 0; t < m->facets; t++) m->patch[t] = -1;
    for (int32_t first = 0; first < m->facets; first++) {
        int32_t count = 0;
        if (m->patch[first] >= 0) continue;
        m->patch[first] = first;
        list[count++] = first;
        for (int32_t i = 0; i < count; i++)
            for (int k = 0; k < m->dim; k++) {
                const int32_t e = m->edges.edge[(int64_t)m->dim * list[i] + k];
                const int32_t *facet = m->edges.facet + m->edges.start[e];
                if (m->edges.start[e + 1] - m->edges.start[e] != 2) continue;
                const int32_t other = facet[0] == list[i] ? facet[1] : facet[0];
                if (m->patch[other] >= 0 || !mesh_is_flat(m, first, list[i], e, other)) continue;
                m->patch[other] = first;
                list[count++] = other;
            }
    }
    tl_free(ctx, list);
    return TALUS_OK;
}

void tl_mesh_inward(const tl_mesh *m, int32_t e, int32_t t, double out[3]) {
    const int32_t *end = m->edges.end + 2 * (int64_t)e, *c = m->corner + (int64_t)m->dim * t;
    if (m->dim == 2) {
        tl_sub3(m->point[c[0] == end[0] ? c[1] : c[0]], m->point[end[0]], out);
    } else {
        int32_t apex = c[0];
        double along[3];
        for (int k = 1; k < 3; k++)
            if (apex == end[0] || apex == end[1]) apex = c[k];
        tl_sub3(m->point[end[1]], m->point[end[0]], along);
        tl_sub3(m->point[apex], m->point[end[0]], out);
        tl_axpy3(out, -tl_dot3(out, along) / tl_dot3(along, along), along, out);
    }
    tl_scale3(1.0 / tl_norm3(out), out, out);
}

// An edge can be touched where it is a border, where more than two facets meet, or where two do at
// an angle; within a solid only where the angle is convex.
static talus_status mesh_find_ridges(talus_context *ctx, tl_mesh *m) {
    TL_TRY(TL_ALLOC(ctx, m->edges.count, &m->ridge));
    m->closed = true;
    for (int32_t e = 0; e < m->edges.count; e++) {
        const int32_t *facet = m->edges.facet + m->edges.start[e];
        const int32_t count = m->edges.start[e + 1] - m->edges.start[e];
        if (count != 2) m->closed = false;
        m->ridge[e] = count != 2 || m->patch[facet[0]] != m->patch[facet[1]];
    }
    for (int32_t e = 0; m->closed && e < m->edges.count; e++) {
        const int32_t *facet = m->edges.facet + m->edges.start[e];
        double inward[3];
        tl_mesh_inward(m, e, facet[1], inward);
        m->ridge[e] = m->ridge[e] && tl_dot3(inward, m->normal[facet[0]]) < 0.0;
    }
    return TALUS_OK;
}

// A closed surface has its normals outside: neighbours go along their edge in opposite directions,
// and the volume is positive. Otherwise it is taken for a sheet.
static bool mesh_is_oriented(const tl_mesh *m) {
    double volume = 0.0;
    for (int32_t e = 0; e < m->edges.count; e++) {
        int forward = 0;
        for (int32_t i = m->edges.start[e]; i < m->edges.start[e + 1]; i++) {
            const int64_t at = (int64_t)m->dim * m->edges.facet[i];
            for (int k = 0; k < m->dim; k++)
                if (m->edges.edge[at + k] == e)
                    forward +=
                        m->dim == 2 ? k == 0 : m->corner[at + k] == m->edges.end[2 * (int64_t)e];
        }
        if (forward != 1) return false;
    }
    for (int32_t t = 0; t < m->facets; t++) {
        const int32_t *c = m->corner + (int64_t)m->dim * t;
        double n[3];
        tl_cross3(m->point[c[0]], m->point[c[1]], n);
        volume += m->dim == 2 ? -n[2] : tl_dot3(n, m->point[c[2]]);
    }
    return volume > 0.0;
}

static talus_status mesh_find_spokes(talus_context *ctx, tl_mesh *m) {
    TL_TRY(TL_ALLOC(ctx, (int64_t)m->points + 2, &m->spoke_start));
    TL_TRY(TL_ALLOC(ctx, 2 * (int64_t)m->edges.count, &m->spoke));
    int32_t *start = m->spoke_start + 1; // one ahead: filing moves the beginnings into their place
    for (int64_t i = 0; i < 2 * (int64_t)m->edges.count; i++) start[m->edges.end[i] + 1]++;
    for (int32_t p = 0; p < m->points; p++) start[p + 1] += start[p];
    for (int64_t i = 0; i < 2 * (int64_t)m->edges.count; i++)
        m->spoke[start[m->edges.end[i]]++] = (int32_t)(i / 2);
    return TALUS_OK;
}

// ---- all of it ---------------------------------------------------------------------------------

// Points about the middle of their box.
static talus_status mesh_centre(talus_context *ctx, const talus_shape_def *shape, tl_mesh *m,
                                double middle[3]) {
    tl_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    TL_TRY(TL_ALLOC(ctx, m->points, &m->point));
    for (int32_t i = 0; i < m->points; i++)
        for (int k = 0; k < 3; k++) {
            const double x = shape->point[3 * (int64_t)i + k];
            if (x < box.low[k]) box.low[k] = x;
            if (x > box.high[k]) box.high[k] = x;
        }
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * box.low[k] + 0.5 * box.high[k];
        m->size = TL_MAX(0.5 * box.high[k] - 0.5 * box.low[k], m->size);
    }
    for (int32_t i = 0; i < m->points; i++)
        tl_sub3(shape->point + 3 * (int64_t)i, middle, m->point[i]);
    return TALUS_OK;
}

talus_status tl_mesh_create(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                            double middle[3], tl_mesh **out) {
    talus_status status = TALUS_OK;
    tl_mesh *m = NULL;
    *out = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &m));
    m->dim = dim;
    m->points = shape->point_count;
    m->facets = shape->triangle_count;
    m->corner = shape->triangle;
    TL_GOTO(mesh_centre(ctx, shape, m, middle));
    TL_GOTO(TL_ALLOC(ctx, m->facets, &m->normal));
    for (int32_t t = 0; t < m->facets; t++) {
        const int32_t *c = m->corner + (int64_t)dim * t;
        (void)mesh_normal(dim, m->point[c[0]], m->point[c[1]], m->point[c[dim - 1]], m->normal[t]);
    }
    TL_GOTO(tl_edges_create(ctx, dim, m->corner, m->facets, m->points, &m->edges));
    TL_GOTO(mesh_make_patches(ctx, m));
    TL_GOTO(mesh_find_ridges(ctx, m));
    if (m->closed && !mesh_is_oriented(m)) {
        m->closed = false;
        for (int32_t e = 0; e < m->edges.count; e++) {
            const int32_t *facet = m->edges.facet + m->edges.start[e];
            m->ridge[e] = m->patch[facet[0]] != m->patch[facet[1]];
        }
    }
    if (dim == 3) TL_GOTO(mesh_find_spokes(ctx, m));
    TL_GOTO(mesh_plant(ctx, m));
    *out = m;
    m = NULL;
done:
    tl_mesh_destroy(ctx, m);
    return status;
}

void tl_mesh_destroy(talus_context *ctx, tl_mesh *m) {
    if (!m) return;
    tl_edges_clear(ctx, &m->edges);
    for (int32_t l = 0; l < TL_MESH_LEVELS; l++) tl_free(ctx, m->box[l]);
    void *const owned[] = {m->point,       m->normal, m->patch, m->ridge,
                           m->spoke_start, m->spoke,  m->order};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    tl_free(ctx, m);
}

talus_status tl_mesh_mass(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                          double density, talus_mass *out) {
    tl_mesh *m;
    double middle[3];
    *out = (talus_mass){
        .mass = INFINITY, .inertia = {INFINITY, INFINITY, INFINITY}, .axes = {1.0, 0.0, 0.0, 0.0}};
    TL_TRY(tl_mesh_create(ctx, dim, shape, middle, &m));
    if (m->closed) {
        tl_mass_sums sums = {0};
        for (int32_t t = 0; t < m->facets; t++) {
            const int32_t *c = m->corner + (int64_t)dim * t;
            double p[3][3] = {{0.0}}, n[3];
            for (int k = 0; k < dim; k++) tl_copy3(m->point[c[k]], p[k]);
            tl_cross3(p[0], p[1], n);
            // in 2D a solid goes round clockwise
            tl_mass_add(&sums, dim, p, dim == 3 ? tl_dot3(n, p[2]) / 6.0 : -0.5 * n[2]);
        }
        tl_mass_finish(dim, &sums, middle, density, out);
    }
    tl_mesh_destroy(ctx, m);
    return TALUS_OK;
}
