// SPDX-License-Identifier: Apache-2.0
// Mass of a union. The sum over the parts is exact and counts n times what n parts share; so
//     moments of the union = sum of the parts' − ∫ (n(x) − 1)⁺ (1, x, x xᵀ) dx,
// and only the overlap is integrated numerically. Along a line every part is an interval, and the
// line's share of the integral is exact; the lines are summed by adaptive Gauss-Kronrod quadrature
// over the first axis and (in 3D) the second. Without overlap the result is exact, with it accurate
// to about 1e-7 of the whole. Lengths are measured in units of the union's size, from the middle of
// its box.
#include "collide/convex.h"
#include "collide/pair.h"
#include "collide/union.h"
#include <string.h>

enum { MOMENTS = 10 };         // 1, x, y, z, xx, yy, zz, xy, xz, yz
enum { QUADRATURE_DEEP = 24 }; // how often an interval is halved at most

#define MASS_NOTHING 1e-14        // a centre so near to the origin, in parts of the size, is there
#define QUADRATURE_TOLERANCE 1e-8 // of the integral over an axis, in scaled units

// A part as lines see it: its box, and its frame.
typedef struct mass_part {
    const tl_solid *solid;
    tl_convex view;
    tl_pose place;
    double low[3], high[3]; // in 3D the second ones are those of the slice in hand
} mass_part;

typedef struct mass_lines {
    int32_t dim, count;
    mass_part *part;
    double origin[3], unit; // x = origin + unit × scaled
    double at[3];           // the line in hand: its first (and second) coordinate, scaled
    int32_t *near[2];       // parts whose bounds hold the first, the first two coordinates
    int32_t nears[2];
    double *mark;          // room for marks: 4 × count
    double (*interval)[2]; // of the parts along the line in hand
} mass_lines;

// ---- intervals ---------------------------------------------------------------------------------

// Where a t² + 2 b t + c <= 0 within [t[0], t[1]]; a set that is one interval. False: nowhere.
static bool interval_quadratic(double a, double b, double c, double t[2]) {
    const double root = b * b - a * c;
    if (a == 0.0) {
        if (b == 0.0) return c <= 0.0;
        const double zero = -0.5 * c / b;
        if (b > 0.0) t[1] = fmin(t[1], zero);
        if (b < 0.0) t[0] = fmax(t[0], zero);
        return t[0] < t[1];
    }
    if (root <= 0.0) return a < 0.0;
    const double q = -(b + copysign(sqrt(root), b)), r0 = q / a, r1 = q == 0.0 ? 0.0 : c / q;
    const double first = fmin(r0, r1), second = fmax(r0, r1);
    if (a > 0.0) {
        t[0] = fmax(t[0], first);
        t[1] = fmin(t[1], second);
    } else if (first > t[0]) { // outside of the roots: only one side can be met
        t[1] = fmin(t[1], first);
    } else {
        t[0] = fmax(t[0], second);
    }
    return t[0] < t[1];
}

static bool interval_plane(const double n[3], double offset, const double p[3], const double e[3],
                           double t[2]) {
    return interval_quadratic(0.0, 0.5 * tl_dot3(n, e), tl_dot3(n, p) - offset, t);
}

static bool interval_ball(const double centre[3], double r, const double p[3], const double e[3],
                          double t[2]) {
    double d[3];
    tl_sub3(p, centre, d);
    return interval_quadratic(tl_dot3(e, e), tl_dot3(d, e), tl_dot3(d, d) - r * r, t);
}

// Within the mantle of radius r + s z about the z axis, and between two heights.
static bool interval_lathe(double r, double s, double low, double high, const double p[3],
                           const double e[3], double t[2]) {
    static const double up[3] = {0.0, 0.0, 1.0}, down[3] = {0.0, 0.0, -1.0};
    const double wide = r + s * p[2];
    return interval_plane(up, high, p, e, t) && interval_plane(down, -low, p, e, t) &&
           interval_quadratic(e[0] * e[0] + e[1] * e[1] - s * s * e[2] * e[2],
                              p[0] * e[0] + p[1] * e[1] - wide * s * e[2],
                              p[0] * p[0] + p[1] * p[1] - wide * wide, t);
}

static bool interval_capsule(int32_t dim, const talus_shape_def *s, const double p[3],
                             const double e[3], double t[2]) {
    const double h = 0.5 * s->height, whole[2] = {t[0], t[1]};
    const int up = dim - 1;
    bool any = false;
    for (int k = 0; k < 3; k++) {
        double piece[2] = {whole[0], whole[1]};
        bool met;
        if (k < 2) {
            double centre[3] = {0.0};
            centre[up] = k ? h : -h;
            met = interval_ball(centre, s->radius, p, e, piece);
        } else if (dim == 3) {
            met = interval_lathe(s->radius, 0.0, -h, h, p, e, piece);
        } else {
            met = true;
            for (int f = 0; f < 4 && met; f++) {
                double n[3] = {0.0};
                n[f / 2] = f % 2 ? 1.0 : -1.0;
                met = interval_plane(n, f < 2 ? s->radius : h, p, e, piece);
            }
        }
        if (!met) continue;
        t[0] = any ? fmin(t[0], piece[0]) : piece[0];
        t[1] = any ? fmax(t[1], piece[1]) : piece[1];
        any = true;
    }
    return any;
}

// (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q − 1
static double superellipsoid_level(int32_t dim, const talus_shape_def *s, const double x[3]) {
    const double p = s->exponent[0], q = s->exponent[1];
    const double flat = pow(fabs(x[0] / s->half[0]), p) + pow(fabs(x[1] / s->half[1]), p);
    return dim == 2 ? flat - 1.0 : pow(flat, q / p) + pow(fabs(x[2] / s->half[2]), q) - 1.0;
}

static double superellipsoid_on_line(int32_t dim, const talus_shape_def *s, const double p[3],
                                     const double e[3], double t) {
    double x[3];
    tl_axpy3(p, t, e, x);
    return superellipsoid_level(dim, s, x);
}

// A convex function along the line: a point inside by thirds, then its zeros by halving.
static bool interval_superellipsoid(int32_t dim, const talus_shape_def *s, const double p[3],
                                    const double e[3], double t[2]) {
    double low = t[0], high = t[1];
    for (int k = 0; k < 100 && high - low > 1e-14 * (t[1] - t[0]); k++) {
        const double first = low + (high - low) / 3.0, second = high - (high - low) / 3.0;
        const double f = superellipsoid_on_line(dim, s, p, e, first);
        const double g = superellipsoid_on_line(dim, s, p, e, second);
        if (fmin(f, g) < 0.0) { // inside: that is enough
            low = high = f < g ? first : second;
            break;
        }
        if (f < g)
            high = second;
        else
            low = first;
    }
    const double inside = 0.5 * (low + high);
    if (!(superellipsoid_on_line(dim, s, p, e, inside) < 0.0)) return false;
    for (int side = 0; side < 2; side++) {
        double in = inside, out = t[side];
        if (superellipsoid_on_line(dim, s, p, e, out) <= 0.0) continue;
        for (int k = 0; k < 52; k++) {
            const double middle = 0.5 * (in + out);
            if (superellipsoid_on_line(dim, s, p, e, middle) < 0.0)
                in = middle;
            else
                out = middle;
        }
        t[side] = in;
    }
    return true;
}

static bool interval_planes(const tl_hull *hull, const double p[3], const double e[3],
                            double t[2]) {
    for (int32_t f = 0; f < hull->faces; f++)
        if (!interval_plane(hull->normal[f], hull->offset[f], p, e, t)) return false;
    return true;
}

// The part of the line p + t e (the shape's frame) that is within a shape; t holds bounds of it.
static bool interval_of(int32_t dim, const tl_solid *solid, const double p[3], const double e[3],
                        double t[2]) {
    const talus_shape_def *s = &solid->shape;
    TL_ASSUME(dim == 2 || dim == 3);
    const double zero[3] = {0.0}, h = s->height;
    double q[3] = {0.0}, f[3] = {0.0};
    switch (s->kind) {
    case TALUS_SHAPE_SPHERE:
        return interval_ball(zero, s->radius, p, e, t);
    case TALUS_SHAPE_CAPSULE:
        return interval_capsule(dim, s, p, e, t);
    case TALUS_SHAPE_CYLINDER:
        return interval_lathe(s->radius, 0.0, -0.5 * h, 0.5 * h, p, e, t);
    case TALUS_SHAPE_CONE:
        return interval_lathe(0.75 * s->radius, -s->radius / h, -0.25 * h, 0.75 * h, p, e, t);
    case TALUS_SHAPE_ELLIPSOID:
        for (int k = 0; k < dim; k++) q[k] = p[k] / s->half[k], f[k] = e[k] / s->half[k];
        return interval_ball(zero, 1.0, q, f, t);
    case TALUS_SHAPE_SUPERELLIPSOID:
        return interval_superellipsoid(dim, s, p, e, t);
    default: // box, polyhedron
        return interval_planes(solid->hull, p, e, t);
    }
}

// ---- lines -------------------------------------------------------------------------------------

// Moments of [low, high] on the line, added with a weight.
static void line_add(const mass_lines *l, double low, double high, double weight, double *m) {
    const int along = l->dim - 1;
    const double x[3] = {l->at[0], l->at[1], 0.0};
    const double w = weight * (high - low), middle = 0.5 * (low + high), half = 0.5 * (high - low);
    const double square = middle * middle + half * half / 3.0;
    double first[3] = {x[0], x[1], x[2]};
    first[along] = middle;
    m[0] += w;
    for (int k = 0; k < 3; k++) {
        m[1 + k] += w * first[k];
        m[4 + k] += w * (k == along ? square : first[k] * first[k]);
    }
    m[7] += w * first[0] * first[1];
    m[8] += w * first[0] * first[2];
    m[9] += w * first[1] * first[2];
}

// Sum of the intervals of the parts less their union.
static void line_sum(mass_lines *l, double *m) {
    const int along = l->dim - 1;
    const int32_t *near = l->near[l->dim - 2];
    double(*t)[2] = l->interval;
    int32_t count = 0;
    for (int32_t i = 0; i < l->nears[l->dim - 2]; i++) {
        const mass_part *part = &l->part[near[i]];
        double p[3] = {l->at[0], l->dim == 3 ? l->at[1] : 0.0, 0.0}, e[3] = {0.0}, own[3];
        e[along] = 1.0;
        double both[2] = {part->low[along], part->high[along]};
        for (int k = 0; k < 3; k++) p[k] = l->origin[k] + l->unit * p[k];
        tl_scale3(l->unit, e, e);
        tl_sub3(p, part->place.x, own);
        tl_rotate_back(part->place.q, own, own);
        tl_rotate_back(part->place.q, e, e);
        if (!interval_of(l->dim, part->solid, own, e, both) || !(both[0] < both[1])) continue;
        int32_t k = count++;
        for (; k > 0 && t[k - 1][0] > both[0]; k--) memcpy(t[k], t[k - 1], sizeof *t);
        memcpy(t[k], both, sizeof *t);
    }
    if (count < 2) return;
    double low = t[0][0], high = t[0][1];
    for (int32_t i = 0; i < count; i++) {
        line_add(l, t[i][0], t[i][1], 1.0, m);
        if (t[i][0] <= high) {
            high = fmax(high, t[i][1]);
            continue;
        }
        line_add(l, low, high, -1.0, m);
        low = t[i][0], high = t[i][1];
    }
    line_add(l, low, high, -1.0, m);
}

// ---- quadrature --------------------------------------------------------------------------------

static const double kronrod_node[8] = {
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0};
static const double kronrod_weight[8] = {
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
static const double gauss_weight[4] = {
    0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
    0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

static void line_integrate(mass_lines *l, int axis, double *m);

// The integral over all further axes, with coordinate `axis` at x.
static void line_at(mass_lines *l, int axis, double x, double *m) {
    l->at[axis] = x;
    if (axis == l->dim - 2)
        line_sum(l, m);
    else
        line_integrate(l, axis + 1, m);
}

// The integral over low … high, an interval in t of y = middle + half (3 t − t³) / 2. Slices end
// like a root at the bounds of a part, t = ±1, which this makes smooth.
static void line_quadrature(mass_lines *l, int axis, const double bounds[2], double low,
                            double high, int deep, double *m) {
    const double middle = 0.5 * (bounds[0] + bounds[1]), half = 0.5 * (bounds[1] - bounds[0]);
    const double at = 0.5 * (low + high), width = 0.5 * (high - low);
    double kronrod[MOMENTS] = {0.0}, gauss[MOMENTS] = {0.0}, worst = 0.0;
    for (int i = 0; i < 15; i++) {
        const int k = i < 8 ? i : 14 - i;
        const double t = at + (i < 8 ? -width : width) * kronrod_node[k];
        const double stretch = 1.5 * (1.0 - t * t) * half * width;
        double value[MOMENTS] = {0.0};
        line_at(l, axis, middle + half * 0.5 * t * (3.0 - t * t), value);
        for (int e = 0; e < MOMENTS; e++) {
            kronrod[e] += stretch * kronrod_weight[k] * value[e];
            if (k % 2) gauss[e] += stretch * gauss_weight[k / 2] * value[e];
        }
    }
    for (int e = 0; e < MOMENTS; e++) worst = fmax(worst, fabs(kronrod[e] - gauss[e]));
    // The error of the better rule is about (200 d)^1.5, d the difference of the two.
    if (deep == 0 || pow(200.0 * worst, 1.5) <= QUADRATURE_TOLERANCE) {
        for (int e = 0; e < MOMENTS; e++) m[e] += kronrod[e];
        return;
    }
    line_quadrature(l, axis, bounds, low, at, deep - 1, m);
    line_quadrature(l, axis, bounds, at, high, deep - 1, m);
}

// Bounds of the second coordinate in the slice of a part at x, scaled: with h the support function,
//     y_max(x) = min over λ of h(λ, 1, 0) − λ x,
// found by halving the angle of (λ, 1), since the first coordinate of the support point grows with
// it.
static double slice_bound(const mass_lines *l, const mass_part *part, double x, double side) {
    double low = -0.5 * 3.14159265358979323846, high = -low, best = INFINITY;
    for (int k = 0; k < 60; k++) {
        const double angle = 0.5 * (low + high), d[3] = {sin(angle), side * cos(angle), 0.0};
        double own[3], p[3];
        tl_rotate_back(part->place.q, d, own);
        part->view.support(&part->view, own, p);
        tl_axpy3(p, part->view.margin / tl_norm3(own), own, p);
        tl_rotate(part->place.q, p, p);
        for (int e = 0; e < 3; e++) p[e] = (p[e] + part->place.x[e] - l->origin[e]) / l->unit;
        best = fmin(best, (tl_dot3(d, p) - d[0] * x) / fabs(d[1]));
        if (p[0] < x)
            low = angle;
        else
            high = angle;
    }
    return side * best;
}

// Integrate over one axis, from each mark to the next (the bounds of the parts), where there are
// two parts or more.
static void line_integrate(mass_lines *l, int axis, double *m) {
    double *mark = l->mark + 2 * (int64_t)axis * l->count;
    const int32_t before = axis == 0 ? l->count : l->nears[axis - 1];
    int32_t marks = 0;
    for (int32_t i = 0; axis == 1 && i < before; i++) {
        mass_part *part = &l->part[l->near[0][i]];
        part->low[1] = slice_bound(l, part, l->at[0], -1.0);
        part->high[1] = slice_bound(l, part, l->at[0], 1.0);
    }
    for (int32_t i = 0; i < 2 * before; i++) {
        const mass_part *part = &l->part[axis == 0 ? i / 2 : l->near[axis - 1][i / 2]];
        const double x = i % 2 ? part->high[axis] : part->low[axis];
        int32_t k = marks++;
        for (; k > 0 && mark[k - 1] > x; k--) mark[k] = mark[k - 1];
        mark[k] = x;
    }
    for (int32_t i = 0; i + 1 < marks; i++) {
        const double low = mark[i], high = mark[i + 1];
        if (!(low < high)) continue;
        l->nears[axis] = 0;
        for (int32_t k = 0; k < before; k++) {
            const int32_t at = axis == 0 ? k : l->near[axis - 1][k];
            if (l->part[at].low[axis] <= low && l->part[at].high[axis] >= high)
                l->near[axis][l->nears[axis]++] = at;
        }
        if (l->nears[axis] >= 2)
            line_quadrature(l, axis, (const double[2]){low, high}, -1.0, 1.0, QUADRATURE_DEEP, m);
    }
}

// ---- the whole ---------------------------------------------------------------------------------

// Moments of a part (scaled, density 1), added to m.
static talus_status mass_add_part(talus_context *ctx, const mass_lines *l, const mass_part *part,
                                  double *m) {
    static const int row[3] = {0, 0, 1}, column[3] = {1, 2, 2};
    talus_mass own;
    double centre[3], q[4], axis[3][3], second[3];
    TL_TRY(talus_shape_mass(ctx, l->dim, &part->solid->shape, 1.0, &own));
    tl_rotate(part->place.q, own.centre, centre);
    for (int k = 0; k < 3; k++) centre[k] = (centre[k] + part->place.x[k] - l->origin[k]) / l->unit;
    tl_quat_mul(part->place.q, own.axes, q);
    for (int k = 0; k < 3; k++) {
        const double e[3] = {k == 0, k == 1, k == 2};
        tl_rotate(q, e, axis[k]);
    }
    const double v = own.mass / pow(l->unit, l->dim), i2 = v / own.mass / (l->unit * l->unit);
    // ∫ x_k² from the moments about the principal axes; a lamina has none across
    const double *j = own.inertia, half = 0.5 * (j[0] + j[1] + j[2]);
    for (int k = 0; k < 3; k++) second[k] = i2 * (half - j[k]);
    m[0] += v;
    for (int k = 0; k < 3; k++) {
        m[1 + k] += v * centre[k];
        m[4 + k] += v * centre[k] * centre[k];
        m[7 + k] += v * centre[row[k]] * centre[column[k]];
        for (int e = 0; e < 3; e++) {
            m[4 + k] += second[e] * axis[e][k] * axis[e][k];
            m[7 + k] += second[e] * axis[e][row[k]] * axis[e][column[k]];
        }
    }
    return TALUS_OK;
}

// Mass properties from moments.
static void mass_from_moments(const mass_lines *l, const double *m, double density,
                              talus_mass *out) {
    const double unit = l->unit, mass = density * m[0] * pow(unit, l->dim);
    double c[3], s[6];
    TL_ASSUME(l->dim == 2 || l->dim == 3);
    for (int k = 0; k < 3; k++) c[k] = m[1 + k] / m[0];
    for (int k = 0; k < 3; k++) s[k] = m[4 + k] / m[0] - c[k] * c[k];
    s[3] = m[7] / m[0] - c[0] * c[1];
    s[4] = m[8] / m[0] - c[0] * c[2];
    s[5] = m[9] / m[0] - c[1] * c[2];
    const double scale = mass * unit * unit;
    const double tensor[3][3] = {{scale * (s[1] + s[2]), -scale * s[3], -scale * s[4]},
                                 {-scale * s[3], scale * (s[0] + s[2]), -scale * s[5]},
                                 {-scale * s[4], -scale * s[5], scale * (s[0] + s[1])}};
    *out = (talus_mass){.mass = mass, .axes = {1.0, 0.0, 0.0, 0.0}};
    for (int k = 0; k < l->dim; k++) {
        const double x = l->origin[k] + unit * c[k];
        out->centre[k] = fabs(x) > MASS_NOTHING * unit ? x : 0.0;
    }
    if (l->dim == 3)
        tl_mass_principal(tensor, out->inertia, out->axes);
    else
        for (int k = 0; k < 3; k++) out->inertia[k] = tensor[k][k];
}

// Boxes of the parts, the scale, and the boxes in it.
static void mass_measure(mass_lines *l, const tl_solid *solid, mass_part *part) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < l->count; i++) {
        part[i].solid = solid->piece[i].solid;
        part[i].place = solid->piece[i].place;
        tl_convex_view(l->dim, &part[i].solid->shape, part[i].solid, &part[i].view);
        tl_solid_box(l->dim, part[i].solid, &part[i].place, part[i].low, part[i].high);
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], part[i].low[k]);
            high[k] = fmax(high[k], part[i].high[k]);
        }
    }
    l->unit = 0.0;
    for (int k = 0; k < 3; k++) {
        l->origin[k] = 0.5 * (low[k] + high[k]);
        l->unit = fmax(l->unit, 0.5 * (high[k] - low[k]));
    }
    for (int32_t i = 0; i < l->count; i++)
        for (int k = 0; k < 3; k++) {
            part[i].low[k] = (part[i].low[k] - l->origin[k]) / l->unit;
            part[i].high[k] = (part[i].high[k] - l->origin[k]) / l->unit;
        }
}

talus_status tl_union_mass(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                           double density, talus_mass *out) {
    talus_status status = TALUS_OK;
    tl_solid *solid = NULL;
    mass_part *part = NULL;
    mass_lines l = {.dim = dim};
    double moment[MOMENTS] = {0.0}, shared[MOMENTS] = {0.0};
    TL_GOTO(tl_solid_create(ctx, dim, shape, &solid));
    l.count = solid->pieces;
    TL_GOTO(TL_ALLOC(ctx, l.count, &part));
    TL_GOTO(TL_ALLOC(ctx, l.count, &l.near[0]));
    TL_GOTO(TL_ALLOC(ctx, l.count, &l.near[1]));
    TL_GOTO(TL_ALLOC(ctx, 4 * (int64_t)l.count, &l.mark));
    TL_GOTO(TL_ALLOC(ctx, l.count, &l.interval));
    l.part = part;
    mass_measure(&l, solid, part);
    for (int32_t i = 0; i < l.count; i++) TL_GOTO(mass_add_part(ctx, &l, &part[i], moment));
    line_integrate(&l, 0, shared);
    for (int e = 0; e < MOMENTS; e++) moment[e] -= shared[e];
    mass_from_moments(&l, moment, density, out);
done:
    tl_free(ctx, part);
    tl_free(ctx, l.near[0]);
    tl_free(ctx, l.near[1]);
    tl_free(ctx, l.mark);
    tl_free(ctx, l.interval);
    tl_solid_destroy(ctx, solid);
    return status;
}
