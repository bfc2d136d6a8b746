// SPDX-License-Identifier: Apache-2.0
// Obstacles from a few numbers. All but the ramp are rings of points, one above the other, with
// walls between neighbours; in 2D a ring is a point on the left and one on the right.
#include "base/context.h"
#include "base/vec3.h"
#include "talus/mesh.h"

enum { MAKE_RINGS = 4, MAKE_SIDES = 48, MAKE_SIDES_MOST = 100000 };

const char *talus_mesh_text(talus_mesh_kind kind) {
    static const char *const text[] = {
#define MAKE_TEXT(name, text, what) text,
        TALUS_MESH_LIST(MAKE_TEXT)
#undef MAKE_TEXT
    };
    const int k = (int)kind;
    return k >= 0 && k < (int)TALUS_MESH_KINDS ? text[k] : "unknown";
}

// Half widths and height of each ring, from below.
typedef struct make_rings {
    int count;
    double x[MAKE_RINGS], y[MAKE_RINGS], z[MAKE_RINGS];
} make_rings;

static void make_ring(make_rings *r, double x, double y, double z) {
    r->x[r->count] = x;
    r->y[r->count] = y;
    r->z[r->count++] = z;
}

static talus_status make_check(talus_context *ctx, int32_t dim, const talus_mesh_def *d) {
    const char *name = talus_mesh_text(d->kind);
    const bool sized = d->kind == TALUS_MESH_HOPPER || d->kind == TALUS_MESH_RAMP;
    const bool outlet = d->kind == TALUS_MESH_HOPPER || d->kind == TALUS_MESH_FUNNEL;
    const double top = sized ? (dim == 3 ? fmin(d->size[0], d->size[1]) : d->size[0]) : d->radius;
    const struct {
        const char *field;
        double value, least;
        bool counts;
    } all[] = {{"size[0]", d->size[0], 0.0, sized},
               {"size[1]", d->size[1], 0.0, sized},
               {"size[2]", d->size[2], 0.0, sized && dim == 3},
               {"radius", d->radius, 0.0, !sized},
               {"height", d->height, 0.0, !sized},
               {"outlet", d->outlet, 0.0, outlet},
               {"rim", d->rim, -1.0, outlet},
               {"spout", d->spout, -1.0, outlet}};
    TL_REQUIRE(ctx, dim == 2 || dim == 3, TALUS_ERR_ARG, "dimension %d: must be 2 or 3", (int)dim);
    TL_REQUIRE(ctx, (int)d->kind >= 0 && d->kind < TALUS_MESH_KINDS, TALUS_ERR_ARG,
               "there is no obstacle %d; they are 0 to %d", (int)d->kind,
               (int)TALUS_MESH_KINDS - 1);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const bool right = all[k].least < 0.0 ? all[k].value >= 0.0 : all[k].value > 0.0;
        TL_REQUIRE(ctx, !all[k].counts || (right && isfinite(all[k].value)), TALUS_ERR_ARG,
                   "%s: %s = %g must be %s and finite", name, all[k].field, all[k].value,
                   all[k].least < 0.0 ? "at least 0" : "greater than 0");
    }
    TL_REQUIRE(ctx, !outlet || d->outlet < top, TALUS_ERR_ARG,
               "%s: the outlet, %g, must be narrower than the top, %g", name, d->outlet, top);
    TL_REQUIRE(ctx, d->sides == 0 || (d->sides >= 3 && d->sides <= MAKE_SIDES_MOST), TALUS_ERR_ARG,
               "%s: sides = %d must be 3 to %d", name, (int)d->sides, MAKE_SIDES_MOST);
    return TALUS_OK;
}

static void make_describe(int32_t dim, const talus_mesh_def *d, make_rings *r) {
    *r = (make_rings){0};
    if (d->kind == TALUS_MESH_PIPE) {
        make_ring(r, d->radius, d->radius, -0.5 * d->height);
        make_ring(r, d->radius, d->radius, 0.5 * d->height);
        return;
    }
    const bool hopper = d->kind == TALUS_MESH_HOPPER;
    const double low = hopper ? 0.5 * d->outlet : d->outlet;
    const double x = hopper ? 0.5 * d->size[0] : d->radius, y = hopper ? 0.5 * d->size[1] : x;
    const double height = hopper ? d->size[dim - 1] : d->height;
    if (d->spout > 0.0) make_ring(r, low, low, -d->spout);
    make_ring(r, low, low, 0.0);
    make_ring(r, x, y, height);
    if (d->rim > 0.0) make_ring(r, x, y, height + d->rim);
}

// Point k of n of a ring: the corners of a rectangle, or on an ellipse.
static void make_point(const make_rings *r, int ring, int32_t dim, bool square, int32_t k,
                       int32_t n, double out[3]) {
    const double turn = 6.283185307179586477 * k / n;
    double x = cos(turn), y = sin(turn);
    if (square) x = k == 0 || k == 3 ? 1.0 : -1.0, y = k < 2 ? 1.0 : -1.0;
    if (dim == 2) x = k == 0 ? -1.0 : 1.0, y = 0.0;
    out[0] = r->x[ring] * x;
    out[1] = dim == 2 ? r->z[ring] : r->y[ring] * y;
    out[2] = dim == 2 ? 0.0 : r->z[ring];
}

static void make_ramp(int32_t dim, const talus_mesh_def *d, make_rings *r) {
    *r = (make_rings){.count = 2};
    r->x[1] = d->size[0];
    r->z[1] = d->size[dim - 1];
    r->y[0] = r->y[1] = 0.5 * d->size[1];
}

talus_status talus_mesh_make(talus_context *ctx, int32_t dim, const talus_mesh_def *def,
                             talus_mesh *out) {
    talus_status status = TALUS_OK;
    make_rings r;
    *out = (talus_mesh){0};
    TL_TRY(make_check(ctx, dim, def));
    const bool ramp = def->kind == TALUS_MESH_RAMP, square = def->kind == TALUS_MESH_HOPPER;
    if (ramp)
        make_ramp(dim, def, &r);
    else
        make_describe(dim, def, &r);
    const int32_t n = dim == 2     ? (ramp ? 1 : 2)
                      : ramp       ? 2
                      : square     ? 4
                      : def->sides ? def->sides
                                   : MAKE_SIDES;
    const int32_t walls = dim == 2 ? n : ramp ? 1 : n;
    TL_GOTO(TL_ALLOC(ctx, 3 * (int64_t)r.count * n, &out->point));
    TL_GOTO(TL_ALLOC(ctx, (dim == 2 ? 2 : 6) * (int64_t)(r.count - 1) * walls, &out->triangle));
    for (int ring = 0; ring < r.count; ring++)
        for (int32_t k = 0; k < n; k++) {
            double *p = out->point + 3 * (int64_t)out->point_count++;
            make_point(&r, ring, dim, square, k, n, p);
            if (!ramp) continue;
            p[0] = r.x[ring];
            if (dim == 3) p[1] = k == 0 ? -r.y[ring] : r.y[ring];
        }
    for (int ring = 0; ring + 1 < r.count; ring++)
        for (int32_t k = 0; k < walls; k++) {
            const int32_t a = ring * n + k, b = ring * n + (k + 1) % n;
            int32_t *t = out->triangle + dim * (int64_t)out->triangle_count;
            if (dim == 2) {
                t[0] = k == 0 ? a : a + n, t[1] = k == 0 ? a + n : a;
                out->triangle_count++;
                continue;
            }
            // seen from within, or from above, counter-clockwise
            const int32_t first[3] = {b, a, a + n}, second[3] = {b, a + n, b + n};
            for (int e = 0; e < 3; e++) {
                t[e] = ramp ? first[2 - e] : first[e];
                t[3 + e] = ramp ? second[2 - e] : second[e];
            }
            out->triangle_count += 2;
        }
done:
    if (status != TALUS_OK) talus_mesh_clear(ctx, out);
    return status;
}
