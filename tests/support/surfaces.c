// SPDX-License-Identifier: Apache-2.0
// Surfaces to test meshes with.
#include "support/surfaces.h"
#include "base/vec3.h"
#include <math.h>
#include <stdlib.h>

static int32_t surface_point(surface *s, double x, double y, double z) {
    const double p[3] = {x, y, z};
    for (int32_t i = 0; i < s->points; i++) { // points that are there are used again
        double d[3];
        tl_sub3(s->point + 3 * i, p, d);
        if (tl_norm3(d) < 1e-12 * tl_norm3(p)) return i;
    }
    if (s->points == SURFACE_POINTS) abort();
    tl_copy3(p, s->point + 3 * s->points);
    return s->points++;
}

static void surface_facet(surface *s, int32_t a, int32_t b, int32_t c) {
    if (s->facets == SURFACE_FACETS) abort();
    int32_t *facet = s->facet + s->dim * s->facets++;
    facet[0] = a;
    facet[1] = b;
    if (s->dim == 3) facet[2] = c;
}

// Whether these points of the plane z = 0 go round counter-clockwise.
static bool surface_is_up(const surface *s, int32_t a, int32_t b, int32_t c) {
    double u[3], v[3], n[3];
    tl_sub3(s->point + 3 * b, s->point + 3 * a, u);
    tl_sub3(s->point + 3 * c, s->point + 3 * a, v);
    tl_cross3(u, v, n);
    return n[2] > 0.0;
}

void surface_plane(surface *s, int32_t dim, double half, int32_t n, uint64_t seed) {
    tl_rng rng = {.state = seed};
    const double cell = 2.0 * half / n;
    s->points = s->facets = 0;
    s->dim = dim;
    for (int32_t i = 0; i <= (dim == 2 ? 0 : n); i++)
        for (int32_t k = 0; k <= n; k++) {
            const bool border = i == 0 || i == n || k == 0 || k == n;
            double *p = s->point + 3 * s->points++;
            p[0] = -half + cell * (k + (border ? 0.0 : tl_rng_range(&rng, -0.3, 0.3)));
            p[1] = dim == 2 ? 0.0
                            : -half + cell * (i + (border ? 0.0 : tl_rng_range(&rng, -0.3, 0.3)));
            p[2] = 0.0;
        }
    for (int32_t k = 0; dim == 2 && k < n; k++) surface_facet(s, k, k + 1, 0);
    for (int32_t i = 0; dim == 3 && i < n; i++)
        for (int32_t k = 0; k < n; k++) {
            const int32_t a = i * (n + 1) + k, b = a + 1, c = a + n + 2, d = a + n + 1;
            // a cell that is not convex has only one diagonal that leaves no triangle folded over
            const bool first = tl_rng_unit(&rng) < 0.5;
            if (first ? surface_is_up(s, a, b, c) && surface_is_up(s, a, c, d)
                      : !surface_is_up(s, a, b, d) || !surface_is_up(s, b, c, d)) {
                surface_facet(s, a, b, c);
                surface_facet(s, a, c, d);
            } else {
                surface_facet(s, a, b, d);
                surface_facet(s, b, c, d);
            }
        }
}

void surface_turn_some(surface *s, tl_rng *rng) {
    for (int32_t t = 0; t < s->facets; t++) {
        int32_t *c = s->facet + s->dim * t, first = c[0];
        if (tl_rng_unit(rng) < 0.5) continue;
        c[0] = c[1];
        c[1] = first;
    }
}

void surface_sphere(surface *s, int32_t dim, double r, int32_t n) {
    s->points = s->facets = 0;
    s->dim = dim;
    if (dim == 2) {
        for (int32_t k = 0; k < 4 * n; k++) {
            const double angle = -1.57079632679489661923 * k / n;
            (void)surface_point(s, r * cos(angle), r * sin(angle), 0.0);
        }
        for (int32_t k = 0; k < 4 * n; k++) surface_facet(s, k, (k + 1) % (4 * n), 0);
        return;
    }
    for (int side = 0; side < 8; side++) {
        const double e[3] = {side & 1 ? -r : r, side & 2 ? -r : r, side & 4 ? -r : r};
        const bool turned = e[0] * e[1] * e[2] < 0.0;
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < n - i; k++)
                for (int half = 0; half < (k < n - i - 1 ? 2 : 1); half++) {
                    static const int way[2][3][2] = {{{0, 0}, {1, 0}, {0, 1}},
                                                     {{1, 0}, {1, 1}, {0, 1}}};
                    int32_t c[3];
                    for (int v = 0; v < 3; v++) {
                        const double a = i + way[half][v][0], b = k + way[half][v][1];
                        double p[3] = {e[0] * (n - a - b), e[1] * a, e[2] * b};
                        tl_scale3(r / tl_norm3(p), p, p);
                        c[v] = surface_point(s, p[0], p[1], p[2]);
                    }
                    surface_facet(s, c[0], c[turned ? 2 : 1], c[turned ? 1 : 2]);
                }
    }
}

void surface_box(surface *s, int32_t dim, const double half[3]) {
    static const int side[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    s->points = dim == 2 ? 4 : 8;
    s->facets = 0;
    s->dim = dim;
    for (int c = 0; c < s->points; c++)
        for (int k = 0; k < 3; k++)
            s->point[3 * c + k] = k >= dim ? 0.0 : (c >> k & 1) ? half[k] : -half[k];
    static const int round[4] = {0, 2, 3, 1}; // clockwise
    for (int k = 0; dim == 2 && k < 4; k++) surface_facet(s, round[k], round[(k + 1) % 4], 0);
    for (int k = 0; dim == 3 && k < 6; k++) {
        surface_facet(s, side[k][0], side[k][1], side[k][2]);
        surface_facet(s, side[k][0], side[k][2], side[k][3]);
    }
}

talus_shape_def surface_shape(const surface *s) {
    return (talus_shape_def){.kind = TALUS_SHAPE_MESH,
                             .point = s->point,
                             .point_count = s->points,
                             .triangle = s->facet,
                             .triangle_count = s->facets};
}

static double segment_distance(const double *a, const double *b, const double x[3]) {
    double u[3], d[3];
    tl_sub3(b, a, u);
    tl_sub3(x, a, d);
    const double t = fmin(1.0, fmax(0.0, tl_dot3(u, d) / tl_dot3(u, u)));
    tl_axpy3(d, -t, u, d);
    return tl_norm3(d);
}

double surface_distance(const surface *s, const double x[3]) {
    double best = INFINITY;
    for (int32_t t = 0; t < s->facets; t++) {
        const double *p[3];
        for (int k = 0; k < s->dim; k++) p[k] = s->point + 3 * s->facet[s->dim * t + k];
        if (s->dim == 2) {
            best = fmin(best, segment_distance(p[0], p[1], x));
            continue;
        }
        double u[3], v[3], n[3], d[3];
        bool within = true;
        tl_sub3(p[1], p[0], u);
        tl_sub3(p[2], p[0], v);
        tl_cross3(u, v, n);
        for (int k = 0; k < 3; k++) {
            double along[3], side[3];
            tl_sub3(p[(k + 1) % 3], p[k], along);
            tl_sub3(x, p[k], d);
            tl_cross3(n, along, side);
            within = within && tl_dot3(side, d) >= 0.0;
            best = fmin(best, segment_distance(p[k], p[(k + 1) % 3], x));
        }
        if (within) best = fmin(best, fabs(tl_dot3(n, d)) / tl_norm3(n));
    }
    return best;
}
