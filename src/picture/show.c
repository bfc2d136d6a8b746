// SPDX-License-Identifier: Apache-2.0
// The bodies of a moment as things to draw.
#include "picture/show.h"
#include "collide/collide.h"
#include <stdlib.h>
#include <string.h>

static const double show_pi = 3.14159265358979323846;

tl_role tl_show_role(const talus_moment *m, int32_t i) {
    if (m->bodies.motion[i] == (int32_t)TALUS_MOTION_FREE) return TL_ROLE_GRAIN;
    switch (m->shape[m->bodies.shape[i]].kind) {
    case TALUS_SHAPE_HALF_SPACE:
        return TL_ROLE_PLANE;
    case TALUS_SHAPE_SPHERE:
    case TALUS_SHAPE_CLUMP:
    case TALUS_SHAPE_WORM:
        return TL_ROLE_STONE;
    default:
        return TL_ROLE_GLASS;
    }
}

double tl_show_extent(int32_t dim, const talus_shape_def *shape) {
    if (shape->kind == TALUS_SHAPE_DRUM)
        return dim == 2 ? shape->radius : hypot(shape->radius, 0.5 * shape->height);
    if (shape->kind == TALUS_SHAPE_CONTAINER)
        return dim == 2 ? hypot(shape->half[0], shape->half[1]) : tl_norm3(shape->half);
    return tl_shape_extent(dim, shape);
}

// ---- the box -----------------------------------------------------------------------------------

static int show_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The grains, without the outermost two hundredths on each side but with some room: a few grains
// that fly off must not make all others small.
static talus_status box_grains(talus_context *ctx, const talus_moment *m, double box[6],
                               int64_t *grains) {
    const talus_body_view *b = &m->bodies;
    double *value = NULL, most = tl_show_sand_size(m);
    int64_t count = 0;
    for (int32_t i = 0; i < m->rods.rods; i++) most = fmax(most, m->rods.radius[i]);
    TL_TRY(TL_ALLOC(ctx, b->count + m->sand.count + tl_show_rod_nodes(m), &value));
    for (int k = 0; k < 3; k++) {
        count = 0;
        for (int64_t i = 0; i < m->sand.count; i++) value[count++] = m->sand.position[3 * i + k];
        for (int64_t i = 0; i < tl_show_rod_nodes(m); i++)
            value[count++] = m->rods.position[3 * i + k];
        for (int32_t i = 0; i < b->count; i++)
            if (tl_show_role(m, i) == TL_ROLE_GRAIN)
                value[count++] = b->position[3 * (int64_t)i + k];
        if (count == 0) break;
        qsort(value, (size_t)count, sizeof *value, show_compare);
        const int64_t out = m->rods.rods > 0 ? 0 : count / 50; // nodes of rods do not fly off
        box[k] = value[out], box[k + 3] = value[count - 1 - out];
        const double wide = box[k + 3] - box[k];
        box[k] = fmax(value[0], box[k] - 0.15 * wide);
        box[k + 3] = fmin(value[count - 1], box[k + 3] + 0.15 * wide);
    }
    for (int32_t i = 0; i < b->count; i++)
        if (tl_show_role(m, i) == TL_ROLE_GRAIN)
            most = fmax(most, tl_show_extent(m->dim, &m->shape[b->shape[i]]));
    for (int k = 0; k < m->dim && count > 0; k++) box[k] -= most, box[k + 3] += most;
    tl_free(ctx, value);
    *grains = count;
    return TALUS_OK;
}

// Bounds of an obstacle along axis k.
static void box_obstacle(const talus_moment *m, int32_t i, int k, double *low, double *high) {
    const talus_shape_def *shape = &m->shape[m->bodies.shape[i]];
    const double *x = m->bodies.position + 3 * (int64_t)i,
                 *q = m->bodies.orientation + 4 * (int64_t)i;
    const double axis[3] = {k == 0, k == 1, k == 2};
    double half[3] = {0.0}, own[3] = {0.0}, sum = 0.0;
    const double r = tl_show_extent(m->dim, shape);
    *low = x[k] - r, *high = x[k] + r;
    if (shape->kind == TALUS_SHAPE_BOX || shape->kind == TALUS_SHAPE_CONTAINER) {
        tl_copy3(shape->half, half);
    } else if (shape->kind == TALUS_SHAPE_DRUM || shape->kind == TALUS_SHAPE_CYLINDER) {
        half[0] = half[1] = shape->radius, half[2] = 0.5 * shape->height;
    } else {
        return;
    }
    tl_rotate_back(q, axis, own);
    for (int e = 0; e < m->dim; e++) // half may be infinite
        if (fabs(own[e]) > 1e-12) sum += fabs(own[e]) * half[e];
    *low = x[k] - sum, *high = x[k] + sum;
}

// Obstacles near the grains widen the box, by at most four fifths of its largest edge on each side.
static void box_widen(const talus_moment *m, double box[6], bool grains) {
    double wide = 0.0, grown[6];
    for (int k = 0; k < 3; k++) wide = fmax(wide, box[k + 3] - box[k]);
    memcpy(grown, box, sizeof grown);
    for (int32_t i = 0; i < m->bodies.count; i++) {
        const tl_role role = tl_show_role(m, i);
        // balls are obstacles for rods, which hang on them, and the ground for grains
        const bool ground = role == TL_ROLE_STONE && m->rods.rods == 0;
        if (role == TL_ROLE_PLANE || role == TL_ROLE_GRAIN || (ground && grains)) continue;
        double low[3] = {0.0}, high[3] = {0.0};
        bool near = true;
        for (int k = 0; k < m->dim; k++) {
            box_obstacle(m, i, k, &low[k], &high[k]);
            near = near && low[k] < box[k + 3] + 0.8 * wide && high[k] > box[k] - 0.8 * wide;
        }
        for (int k = 0; k < m->dim && (near || !grains); k++) {
            if (isfinite(low[k]))
                grown[k] = fmin(grown[k], grains ? fmax(low[k], box[k] - 0.8 * wide) : low[k]);
            if (isfinite(high[k]))
                grown[k + 3] =
                    fmax(grown[k + 3], grains ? fmin(high[k], box[k + 3] + 0.8 * wide) : high[k]);
        }
    }
    memcpy(box, grown, sizeof grown);
}

talus_status talus_picture_box(talus_context *ctx, const talus_moment *m, double box[6]) {
    int64_t grains = 0;
    for (int k = 0; k < 6; k++) box[k] = 0.0;
    TL_TRY(box_grains(ctx, m, box, &grains));
    if (grains == 0)
        for (int k = 0; k < 3; k++) box[k] = INFINITY, box[k + 3] = -INFINITY;
    box_widen(m, box, grains > 0);
    for (int k = 0; k < 3; k++) {
        if (!(box[k] <= box[k + 3])) box[k] = box[k + 3] = 0.0;
        if (k < m->dim && !(box[k] < box[k + 3])) box[k] -= 1.0, box[k + 3] += 1.0;
    }
    return TALUS_OK;
}

// ---- colours -----------------------------------------------------------------------------------

static talus_status show_find_colour(talus_context *ctx, const char *name, tl_colour_by *out) {
    static const char *const known[] = {
#define SHOW_TEXT(text, what) text,
        TALUS_PICTURE_COLOUR_LIST(SHOW_TEXT)
#undef SHOW_TEXT
    };
    for (int k = 0; k < TL_COLOURS; k++)
        if (!name || strcmp(name, known[k]) == 0) {
            *out = (tl_colour_by)k;
            return TALUS_OK;
        }
    return tl_fail(
        ctx, TALUS_ERR_UNKNOWN,
        "picture: unknown colour '%s'; there are speed, size, material, id, pressure, inertial, "
        "strain",
        name);
}

// What a map shows of a grain.
static double show_value(const talus_moment *m, tl_colour_by colour, int32_t i) {
    if (colour == TL_COLOUR_SPEED) return tl_norm3(m->bodies.velocity + 3 * (int64_t)i);
    const talus_shape_def *s = &m->shape[m->bodies.shape[i]];
    const double *h = s->half, r = s->radius;
    const bool flat = m->dim == 2;
    switch (s->kind) {
    case TALUS_SHAPE_BOX:
        return flat ? sqrt(4.0 * h[0] * h[1] / show_pi) : cbrt(6.0 * h[0] * h[1] * h[2] / show_pi);
    case TALUS_SHAPE_ELLIPSOID:
    case TALUS_SHAPE_SUPERELLIPSOID:
        return flat ? sqrt(h[0] * h[1]) : cbrt(h[0] * h[1] * h[2]);
    case TALUS_SHAPE_SPHERE:
        return r;
    default:
        return tl_show_extent(m->dim, s);
    }
}

talus_status talus_picture_range(talus_context *ctx, const talus_moment *m, const char *colour,
                                 double *low, double *high) {
    tl_colour_by by = TL_COLOUR_SPEED;
    *low = *high = 0.0;
    TL_TRY(show_find_colour(ctx, colour, &by));
    if (by == TL_COLOUR_MATERIAL || by == TL_COLOUR_ID) return TALUS_OK;
    const bool bodies = by == TL_COLOUR_SPEED || by == TL_COLOUR_SIZE;
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < m->sand.count; i++) {
        const double v = by == TL_COLOUR_STRAIN ? NAN : tl_show_sand_value(m, by, i);
        least = fmin(least, v), most = fmax(most, v);
    }
    for (int32_t i = 0; i < m->rods.rods; i++)
        for (int64_t k = m->rods.start[i]; k + 1 < m->rods.start[i + 1]; k++) {
            const double v = tl_show_rod_value(m, by, i, k, 0.0);
            const double w = tl_show_rod_value(m, by, i, k, 1.0); // NaN is passed over
            least = fmin(least, fmin(v, w)), most = fmax(most, fmax(v, w));
        }
    for (int32_t i = 0; bodies && i < m->bodies.count; i++) {
        if (tl_show_role(m, i) != TL_ROLE_GRAIN) continue;
        const double v = show_value(m, by, i);
        least = fmin(least, v), most = fmax(most, v);
    }
    if (by != TL_COLOUR_SIZE && by != TL_COLOUR_STRAIN)
        least = 0.0; // rest is the same colour in every picture
    if (least <= most) *low = least, *high = most;
    return TALUS_OK;
}

// The colour of a rod.
static void show_rod_colour(const talus_moment *m, tl_colour_by by, double low, double high,
                            const tl_item *item, uint8_t c[3]) {
    if (by == TL_COLOUR_MATERIAL || by == TL_COLOUR_ID) {
        tl_rgb_kind(by == TL_COLOUR_ID ? item->rod : m->rods.material[item->rod], c);
        return;
    }
    const double v = tl_show_rod_value(m, by, item->rod, item->particle, item->along);
    if (!isnan(v)) talus_picture_map(high > low ? (v - low) / (high - low) : 0.0, c);
}

// The colour of a grain or of sand.
static void show_colour(const talus_moment *m, tl_colour_by by, double low, double high,
                        const tl_item *item, uint8_t c[3]) {
    const bool sand = item->body < 0;
    if (item->rod >= 0) {
        show_rod_colour(m, by, low, high, item, c);
        return;
    }
    if ((!sand && by >= TL_COLOUR_PRESSURE) || by == TL_COLOUR_STRAIN) return; // of others alone
    if (by == TL_COLOUR_MATERIAL && sand) {
        talus_picture_map(0.0, c);
    } else if (by == TL_COLOUR_MATERIAL) {
        tl_rgb_kind(m->bodies.material[item->body], c);
    } else if (by == TL_COLOUR_ID) {
        tl_rgb_kind(sand ? (int32_t)(m->sand.id[item->particle] % 1000003) : item->body, c);
    } else {
        const double v =
            sand ? tl_show_sand_value(m, by, item->particle) : show_value(m, by, item->body);
        talus_picture_map(high > low ? (v - low) / (high - low) : 0.0, c);
    }
}

static talus_status show_paint(tl_show *s, const talus_picture_def *def) {
    const talus_moment *m = s->moment;
    tl_colour_by by = TL_COLOUR_SPEED;
    double low = def->low, high = def->high;
    TL_TRY(show_find_colour(s->ctx, def->colour, &by));
    if (!(low < high)) TL_TRY(talus_picture_range(s->ctx, m, def->colour, &low, &high));
    for (int32_t k = 0; k < s->items; k++) {
        tl_item *item = &s->item[k];
        uint8_t c[3] = {178, 180, 184};
        if (item->role == TL_ROLE_GRAIN) show_colour(m, by, low, high, item, c);
        item->colour = tl_rgb_pack(c);
    }
    return TALUS_OK;
}

// ---- items -------------------------------------------------------------------------------------

// How many items body i becomes.
static int32_t show_parts(const talus_moment *m, int32_t i) {
    const talus_shape_def *shape = &m->shape[m->bodies.shape[i]];
    if (tl_show_role(m, i) == TL_ROLE_PLANE) return 0;
    return m->dim == 3 && shape->kind == TALUS_SHAPE_CLUMP ? shape->part_count : 1;
}

static talus_status show_add_surface(tl_show *s, const talus_shape_def *shape, int32_t detail,
                                     int32_t *room) {
    if (s->surfaces == *room) {
        const int32_t more = TL_MAX(16, 2 * *room);
        TL_TRY(tl_realloc(s->ctx, s->surfaces, more, sizeof *s->surface, &s->surface));
        *room = more;
    }
    TL_TRY(talus_shape_surface(s->ctx, s->moment->dim, shape, detail, 3.0 * s->reach,
                               &s->surface[s->surfaces]));
    s->surfaces++;
    return TALUS_OK;
}

static double show_surface_reach(const talus_surface *s) {
    double most = 0.0;
    for (int64_t p = 0; p < s->points; p++) most = fmax(most, tl_norm3(s->point + 3 * p));
    return most;
}

// Surfaces of a shape (a clump: of its parts), made when it is first met: the number of the first
// is put down in `made`, −2 before, −1 for a ball.
static talus_status show_make_shape(tl_show *s, const talus_shape_def *shape, int32_t detail,
                                    int32_t *made, int32_t *room) {
    if (*made != -2) return TALUS_OK;
    *made = s->surfaces;
    if (s->moment->dim == 2 || shape->kind != TALUS_SHAPE_CLUMP) {
        if (shape->kind != TALUS_SHAPE_SPHERE) return show_add_surface(s, shape, detail, room);
        *made = -1;
        return TALUS_OK;
    }
    for (int32_t k = 0; k < shape->part_count; k++)
        if (shape->part[k].shape->kind != TALUS_SHAPE_SPHERE)
            TL_TRY(show_add_surface(s, shape->part[k].shape, detail, room));
    return TALUS_OK;
}

// The items of body i. `first` is the number of its shape's first surface.
static void show_add_body(tl_show *s, int32_t i, int32_t first) {
    const talus_moment *m = s->moment;
    const talus_shape_def *shape = &m->shape[m->bodies.shape[i]];
    tl_item item = {.body = i, .rod = -1, .role = tl_show_role(m, i), .surface = -1};
    memcpy(item.x, m->bodies.position + 3 * (int64_t)i, sizeof item.x);
    memcpy(item.q, m->bodies.orientation + 4 * (int64_t)i, sizeof item.q);
    if (m->dim == 2 || shape->kind != TALUS_SHAPE_CLUMP) {
        item.surface = first;
        item.radius = first < 0 ? shape->radius : show_surface_reach(&s->surface[first]);
        s->item[s->items++] = item;
        return;
    }
    for (int32_t k = 0; k < shape->part_count; k++) {
        const talus_part *part = &shape->part[k];
        tl_item piece = item;
        double x[3], q[4];
        memcpy(q, part->orientation, sizeof q);
        tl_quat_normalise(q);
        tl_rotate(item.q, part->position, x);
        tl_axpy3(item.x, 1.0, x, piece.x);
        tl_quat_mul(item.q, q, piece.q);
        const bool ball = part->shape->kind == TALUS_SHAPE_SPHERE;
        piece.surface = ball ? -1 : first++;
        piece.radius = ball ? part->shape->radius : show_surface_reach(&s->surface[piece.surface]);
        s->item[s->items++] = piece;
    }
}

static void show_add_plane(tl_show *s, int32_t i) {
    const talus_moment *m = s->moment;
    tl_plane *p = &s->plane[s->planes++];
    double n[3];
    tl_copy3(m->shape[m->bodies.shape[i]].normal, n);
    if (!(tl_norm3(n) > 0.0)) n[m->dim - 1] = 1.0;
    tl_rotate(m->bodies.orientation + 4 * (int64_t)i, n, n);
    tl_scale3(1.0 / tl_norm3(n), n, p->n);
    tl_copy3(m->bodies.position + 3 * (int64_t)i, p->x);
}

static talus_status show_fill(tl_show *s, int32_t detail) {
    const talus_moment *m = s->moment;
    talus_status status = TALUS_OK;
    int64_t items = m->sand.count * tl_show_sand_samples(m) + tl_show_rod_tubes(m), planes = 0;
    int32_t *made = NULL, room = 0;
    for (int32_t i = 0; i < m->bodies.count; i++) {
        items += show_parts(m, i);
        planes += tl_show_role(m, i) == TL_ROLE_PLANE;
    }
    TL_GOTO(items <= INT32_MAX
                ? TALUS_OK
                : tl_fail(s->ctx, TALUS_ERR_ARG, "picture: %lld parts of bodies are too many",
                          (long long)items));
    TL_GOTO(TL_ALLOC(s->ctx, items, &s->item));
    TL_GOTO(TL_ALLOC(s->ctx, planes, &s->plane));
    TL_GOTO(TL_ALLOC(s->ctx, m->shapes, &made));
    for (int32_t k = 0; k < m->shapes; k++) made[k] = -2;
    for (int32_t i = 0; i < m->bodies.count; i++) {
        const int32_t shape = m->bodies.shape[i];
        if (tl_show_role(m, i) == TL_ROLE_PLANE) {
            show_add_plane(s, i);
            continue;
        }
        // an obstacle is larger than a grain
        const int32_t fine = tl_show_role(m, i) == TL_ROLE_GLASS ? 128 : detail;
        TL_GOTO(show_make_shape(s, &m->shape[shape], fine, &made[shape], &room));
        show_add_body(s, i, made[shape]);
    }
    tl_show_add_sand(s);
    tl_show_add_rods(s);
done:
    tl_free(s->ctx, made);
    return status;
}

// Median radius of the grains.
static talus_status show_measure(tl_show *s) {
    double *radius = NULL;
    int32_t count = 0;
    TL_TRY(TL_ALLOC(s->ctx, s->items, &radius));
    for (int32_t k = 0; k < s->items; k++)
        if (s->item[k].role == TL_ROLE_GRAIN)
            radius[count++] =
                s->item[k].surface == TL_SURFACE_TUBE ? s->item[k].thick : s->item[k].radius;
    qsort(radius, (size_t)count, sizeof *radius, show_compare);
    s->grain = count > 0 ? radius[count / 2] : 0.0;
    tl_free(s->ctx, radius);
    return TALUS_OK;
}

// ---- forces ------------------------------------------------------------------------------------

talus_status talus_picture_force(talus_context *ctx, const talus_moment *m, double *force) {
    double *value = NULL;
    int32_t count = 0;
    *force = 0.0;
    if (!(m->h > 0.0) || m->contacts.count == 0) return TALUS_OK;
    TL_TRY(TL_ALLOC(ctx, m->contacts.count, &value));
    for (int64_t i = 0; i < m->contacts.count; i++) {
        const double f = tl_norm3(m->contacts.impulse + 3 * i) / m->h;
        if (f > 0.0) value[count++] = f;
    }
    qsort(value, (size_t)count, sizeof *value, show_compare);
    // strong forces are few and far above the mean: the thickest line is for the top hundredth
    if (count > 0) *force = value[count - 1 - count / 100];
    tl_free(ctx, value);
    return TALUS_OK;
}

// From the centre of each grain to the contact; an obstacle has no centre to go to.
static talus_status show_forces(tl_show *s, double full) {
    const talus_moment *m = s->moment;
    const talus_contact_view *c = &m->contacts;
    if (full <= 0.0) TL_TRY(talus_picture_force(s->ctx, m, &full));
    if (full <= 0.0 || !(m->h > 0.0) || !(s->grain > 0.0)) return TALUS_OK;
    TL_TRY(TL_ALLOC(s->ctx, 2 * (int64_t)c->count, &s->strand));
    for (int64_t i = 0; i < c->count; i++) {
        const double part = fmin(1.0, tl_norm3(c->impulse + 3 * i) / m->h / full);
        if (part < 0.004) continue;
        for (int side = 0; side < 2; side++) {
            const int32_t body = side == 0 ? c->a[i] : c->b[i];
            const double *centre = m->bodies.centre ? m->bodies.centre : m->bodies.position;
            if (body >= m->bodies.count || tl_show_role(m, body) != TL_ROLE_GRAIN) continue;
            tl_strand *t = &s->strand[s->strands++];
            double d[3];
            // across a periodic boundary the contact is at one end, the grain at the other
            for (int k = 0; k < 3; k++) {
                d[k] = c->point[3 * i + k] - centre[3 * (int64_t)body + k];
                if (m->period[k] > 0.0) d[k] -= m->period[k] * nearbyint(d[k] / m->period[k]);
            }
            tl_copy3(centre + 3 * (int64_t)body, t->from);
            tl_axpy3(t->from, 1.0, d, t->to);
            t->radius = 0.42 * s->grain * sqrt(part);
            t->part = part;
        }
    }
    return TALUS_OK;
}

talus_status tl_show_init(talus_context *ctx, const talus_moment *m, const talus_picture_def *def,
                          int32_t detail, tl_show *out) {
    talus_status status = TALUS_OK;
    *out = (tl_show){.ctx = ctx, .moment = m};
    if (def->box)
        memcpy(out->box, def->box, sizeof out->box);
    else
        TL_GOTO(talus_picture_box(ctx, m, out->box));
    double diagonal[3];
    tl_sub3(out->box + 3, out->box, diagonal);
    for (int k = 0; k < 3; k++) out->middle[k] = 0.5 * (out->box[k] + out->box[k + 3]);
    out->reach = 0.5 * tl_norm3(diagonal);
    if (!(out->reach > 0.0) || !isfinite(out->reach)) {
        status = tl_fail(ctx, TALUS_ERR_ARG,
                         "picture: the box to be seen must be finite and have a size, not %g",
                         out->reach);
        goto done;
    }
    TL_GOTO(show_fill(out, detail));
    TL_GOTO(show_measure(out));
    TL_GOTO(show_paint(out, def));
    if (def->forces) TL_GOTO(show_forces(out, def->force));
done:
    if (status != TALUS_OK) tl_show_clear(out);
    return status;
}

void tl_show_clear(tl_show *s) {
    for (int32_t k = 0; k < s->surfaces; k++) talus_surface_free(s->ctx, &s->surface[k]);
    tl_free(s->ctx, s->surface);
    tl_free(s->ctx, s->item);
    tl_free(s->ctx, s->plane);
    tl_free(s->ctx, s->strand);
    *s = (tl_show){0};
}
