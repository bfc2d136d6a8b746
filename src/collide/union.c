// SPDX-License-Identifier: Apache-2.0
// Rigid unions: their check, their pieces, and touches of pieces as touches of the whole.
#include "collide/union.h"
#include "collide/collide_impl.h"
#include "collide/mesh.h"
#include <stdio.h>
#include <string.h>

bool tl_union_is(talus_shape_kind kind) {
    return kind == TALUS_SHAPE_CLUMP || kind == TALUS_SHAPE_WORM;
}

// ---- checks ------------------------------------------------------------------------------------

static talus_status worm_check(talus_context *ctx, int32_t dim, const talus_shape_def *shape) {
    TL_REQUIRE(ctx, shape->radius > 0.0 && isfinite(shape->radius), TALUS_ERR_ARG,
               "worm: radius = %g must be greater than 0 and finite", shape->radius);
    TL_REQUIRE(ctx, shape->point && shape->point_count >= 2, TALUS_ERR_ARG,
               "worm: %d points; it needs at least two", (int)shape->point_count);
    for (int32_t k = 0; k < shape->point_count; k++) {
        const double *p = shape->point + 3 * (int64_t)k;
        TL_REQUIRE(ctx, isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]), TALUS_ERR_ARG,
                   "worm: point %d (%g, %g, %g) must be finite", (int)k, p[0], p[1], p[2]);
        TL_REQUIRE(ctx, dim == 3 || p[2] == 0.0, TALUS_ERR_ARG,
                   "worm: point %d has z = %g, which must be 0 in 2D", (int)k, p[2]);
        if (k == 0) continue;
        double d[3];
        tl_sub3(p, p - 3, d);
        const double length = tl_norm3(d);
        TL_REQUIRE(ctx, length > 1e-12 * shape->radius && isfinite(length), TALUS_ERR_ARG,
                   "worm: points %d and %d are %g apart; neighbours must differ", (int)k - 1,
                   (int)k, length);
    }
    return TALUS_OK;
}

static talus_status clump_check_part(talus_context *ctx, int32_t dim, const talus_part *part,
                                     int32_t k) {
    char where[32];
    TL_REQUIRE(ctx, part->shape, TALUS_ERR_ARG, "clump: part %d has no shape", (int)k);
    TL_REQUIRE(ctx, part->shape->kind != TALUS_SHAPE_CLUMP && part->shape->kind != TALUS_SHAPE_MESH,
               TALUS_ERR_ARG, "clump: part %d is a %s; it must be a solid shape and no clump",
               (int)k, talus_shape_text(part->shape->kind));
    const talus_status status = talus_shape_check(ctx, dim, part->shape);
    if (status != TALUS_OK) {
        (void)snprintf(where, sizeof where, "clump: part %d", (int)k);
        return tl_fail_prefix(ctx, status, where);
    }
    TL_REQUIRE(ctx, isfinite(tl_shape_extent(dim, part->shape)), TALUS_ERR_ARG,
               "clump: part %d is an unbounded %s; parts must be bounded", (int)k,
               talus_shape_text(part->shape->kind));
    double square = 0.0;
    for (int e = 0; e < 3; e++)
        TL_REQUIRE(ctx, isfinite(part->position[e]), TALUS_ERR_ARG,
                   "clump: position[%d] = %g of part %d must be finite", e, part->position[e],
                   (int)k);
    for (int e = 0; e < 4; e++) square += part->orientation[e] * part->orientation[e];
    TL_REQUIRE(ctx, isfinite(square) && square > 0.0, TALUS_ERR_ARG,
               "clump: the orientation of part %d must be finite and not 0; (1, 0, 0, 0) is the "
               "identity",
               (int)k);
    TL_REQUIRE(ctx,
               dim == 3 || (part->position[2] == 0.0 && part->orientation[1] == 0.0 &&
                            part->orientation[2] == 0.0),
               TALUS_ERR_ARG, "clump: part %d leaves the plane z = 0", (int)k);
    return TALUS_OK;
}

talus_status tl_union_check(talus_context *ctx, int32_t dim, const talus_shape_def *shape) {
    if (shape->kind == TALUS_SHAPE_WORM) return worm_check(ctx, dim, shape);
    TL_REQUIRE(ctx, shape->part && shape->part_count >= 1, TALUS_ERR_ARG,
               "clump: %d parts; it needs at least one", (int)shape->part_count);
    for (int32_t k = 0; k < shape->part_count; k++)
        TL_TRY(clump_check_part(ctx, dim, shape->part + k, k));
    return TALUS_OK;
}

// ---- pieces ------------------------------------------------------------------------------------

double tl_worm_capsule(int32_t dim, const talus_shape_def *worm, int32_t k, tl_pose *place) {
    const double *from = worm->point + 3 * (int64_t)k, *to = from + 3;
    double d[3];
    tl_sub3(to, from, d);
    const double length = tl_norm3(d);
    for (int e = 0; e < 3; e++) {
        place->x[e] = 0.5 * (from[e] + to[e]);
        d[e] /= length;
    }
    // The least turn from "up" to d: half-way between them, (1 + up·d, up × d) of length 1. Down is
    // half a turn about x (2D: z).
    const double up[3] = {0.0, dim == 2 ? 1.0 : 0.0, dim == 2 ? 0.0 : 1.0};
    place->q[0] = 1.0 + tl_dot3(up, d);
    tl_cross3(up, d, place->q + 1);
    if (place->q[0] < 1e-12) {
        place->q[0] = place->q[2] = 0.0;
        place->q[1] = dim == 2 ? 0.0 : 1.0;
        place->q[3] = dim == 2 ? 1.0 : 0.0;
    }
    tl_quat_normalise(place->q);
    return length;
}

static talus_status worm_make(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                              tl_solid *out) {
    const int32_t count = shape->point_count - 1;
    TL_TRY(TL_ALLOC(ctx, count, &out->child));
    TL_TRY(TL_ALLOC(ctx, count, &out->piece));
    for (int32_t k = 0; k < count; k++) {
        talus_shape_def capsule = {.kind = TALUS_SHAPE_CAPSULE, .radius = shape->radius};
        capsule.height = tl_worm_capsule(dim, shape, k, &out->piece[k].place);
        TL_TRY(tl_solid_create(ctx, dim, &capsule, &out->child[k]));
        out->children++;
        out->piece[k].solid = out->child[k];
        out->pieces++;
    }
    return TALUS_OK;
}

static talus_status clump_make(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                               tl_solid *out) {
    talus_part *part;
    int64_t pieces = 0;
    TL_TRY(TL_COPY(ctx, shape->part, shape->part_count, &part));
    out->shape.part = part;
    TL_TRY(TL_ALLOC(ctx, shape->part_count, &out->child));
    for (int32_t k = 0; k < shape->part_count; k++) {
        TL_TRY(tl_solid_create(ctx, dim, part[k].shape, &out->child[k]));
        out->children++;
        part[k].shape = &out->child[k]->shape;
        tl_quat_normalise(part[k].orientation);
        pieces += out->child[k]->piece ? out->child[k]->pieces : 1;
    }
    TL_TRY(TL_ALLOC(ctx, pieces, &out->piece));
    for (int32_t k = 0; k < shape->part_count; k++) {
        const tl_solid *child = out->child[k];
        tl_pose place;
        tl_copy3(part[k].position, place.x);
        memcpy(place.q, part[k].orientation, sizeof place.q);
        if (!child->piece) out->piece[out->pieces++] = (tl_piece){child, place};
        for (int32_t i = 0; child->piece && i < child->pieces; i++) {
            tl_piece *piece = &out->piece[out->pieces++];
            piece->solid = child->piece[i].solid;
            tl_pose_mul(&place, &child->piece[i].place, &piece->place);
        }
    }
    return TALUS_OK;
}

// The one piece of a mesh has its origin in the middle of the box, so that the ball about it is not
// larger than it has to be.
static talus_status mesh_make(talus_context *ctx, int32_t dim, tl_solid *out) {
    TL_TRY(TL_ALLOC(ctx, 1, &out->child));
    TL_TRY(TL_ALLOC(ctx, 1, &out->piece));
    TL_TRY(TL_ALLOC(ctx, 1, &out->child[0]));
    tl_solid *piece = out->child[0];
    out->children = 1;
    piece->shape = (talus_shape_def){.kind = TALUS_SHAPE_MESH};
    out->piece[0] = (tl_piece){.solid = piece, .place = {.q = {1.0}}};
    out->pieces = 1;
    TL_TRY(tl_mesh_create(ctx, dim, &out->shape, out->piece[0].place.x, &piece->mesh));
    for (int32_t i = 0; i < piece->mesh->points; i++) {
        const double away = tl_norm3(piece->mesh->point[i]);
        piece->shape.radius = TL_MAX(away, piece->shape.radius); // of the ball about it
    }
    return TALUS_OK;
}

talus_status tl_union_make(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                           tl_solid *out) {
    if (shape->kind == TALUS_SHAPE_WORM) return worm_make(ctx, dim, shape, out);
    if (shape->kind == TALUS_SHAPE_MESH) return mesh_make(ctx, dim, out);
    return shape->kind == TALUS_SHAPE_CLUMP ? clump_make(ctx, dim, shape, out) : TALUS_OK;
}

void tl_union_clear(talus_context *ctx, tl_solid *s) {
    for (int32_t k = 0; k < s->children; k++) tl_solid_destroy(ctx, s->child[k]);
    tl_free(ctx, s->child);
    tl_free(ctx, s->piece);
    tl_free(ctx, (void *)s->shape.part);
}

// ---- touches -----------------------------------------------------------------------------------

// A feature of parts number k of n and l of m as one of the whole: readable where it fits into 32
// bits, otherwise any number that depends on all three alone. Neither uses the highest numbers, so
// that there is room to tell equal ones apart.
static uint32_t union_feature(int32_t k, int32_t n, int32_t l, int32_t m, uint32_t feature) {
    const uint64_t pair = (uint64_t)k * (uint64_t)m + (uint64_t)l;
    if ((uint64_t)n * (uint64_t)m < 0x8000 && feature < 0x10000)
        return (uint32_t)(pair << 16) | feature;
    const uint64_t both[2] = {pair, feature};
    return (uint32_t)talus_hash(both, sizeof both, 0) & 0x7fffffff;
}

void tl_union_report(const tl_collide *c, int32_t a, int32_t b, tl_touch *touch, int count) {
    const tl_part *pa = &c->part[a], *pb = &c->part[b];
    const tl_item *ia = &c->item[pa->item], *ib = &c->item[pb->item];
    double lever_a[3], lever_b[3];
    tl_sub3(c->pose[a].x, c->given[pa->item].x, lever_a);
    tl_sub3(c->pose[b].x, c->given[pb->item].x, lever_b);
    for (int k = 0; k < count; k++) {
        tl_touch *t = touch + k;
        t->a = pa->item;
        t->b = pb->item;
        tl_axpy3(t->arm_a, 1.0, lever_a, t->arm_a);
        tl_axpy3(t->arm_b, 1.0, lever_b, t->arm_b);
        if (ia->count > 1 || ib->count > 1)
            t->feature =
                union_feature(a - ia->first, ia->count, b - ib->first, ib->count, t->feature);
    }
}

static bool union_before(const tl_touch *s, const tl_touch *t) {
    if (s->b != t->b) return s->b < t->b;
    if (s->feature != t->feature) return s->feature < t->feature;
    if (s->gap < t->gap || s->gap > t->gap) return s->gap < t->gap;
    for (int k = 0; k < 3; k++)
        if (s->arm_a[k] < t->arm_a[k] || s->arm_a[k] > t->arm_a[k])
            return s->arm_a[k] < t->arm_a[k];
    return false;
}

static void union_sift(tl_touch *touch, int64_t root, int64_t count) {
    const tl_touch moved = touch[root];
    for (int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && union_before(&touch[child], &touch[child + 1])) child++;
        if (!union_before(&moved, &touch[child])) break;
        touch[root] = touch[child];
        root = child;
    }
    touch[root] = moved;
}

// Sort touches of one item a. Most are in order, or few; a heap keeps the others from taking time
// that grows with the square.
static void union_sort(tl_touch *touch, int64_t count) {
    if (count <= 48) {
        for (int64_t i = 1; i < count; i++) {
            if (!union_before(&touch[i], &touch[i - 1])) continue;
            const tl_touch moved = touch[i];
            int64_t k = i;
            for (; k > 0 && union_before(&moved, &touch[k - 1]); k--) touch[k] = touch[k - 1];
            touch[k] = moved;
        }
        return;
    }
    for (int64_t root = count / 2; root-- > 0;) union_sift(touch, root, count);
    for (int64_t last = count; last-- > 1;) {
        const tl_touch top = touch[0];
        touch[0] = touch[last];
        touch[last] = top;
        union_sift(touch, 0, last);
    }
}

// Two pieces of a union may share a part of their surface (the ball at the joint of a worm): a
// point there is one point, found twice.
#define UNION_SAME 1e-9

bool tl_touch_same(const tl_touch *s, const tl_touch *t) {
    double d[3], turn[3];
    tl_sub3(s->arm_a, t->arm_a, d);
    tl_sub3(s->normal, t->normal, turn);
    const double scale = tl_norm3(s->arm_a) + tl_norm3(s->arm_b);
    return tl_norm3(d) <= UNION_SAME * scale && tl_norm3(turn) <= 1e3 * UNION_SAME &&
           fabs(s->gap - t->gap) <= UNION_SAME * scale;
}

// Put the touches of one item a in order; returns how many are left without repetitions.
static int64_t union_settle(tl_touch *touch, int64_t count) {
    int64_t kept = 0, pair = 0; // kept so far; first of the pair in hand
    union_sort(touch, count);
    for (int64_t i = 0; i < count; i++) {
        if (kept > pair && touch[pair].b != touch[i].b) pair = kept;
        bool repeated = false;
        for (int64_t k = pair; k < kept && !repeated; k++)
            repeated = tl_touch_same(&touch[k], &touch[i]);
        if (repeated) continue;
        if (kept != i) touch[kept] = touch[i];
        if (kept > pair && touch[kept].feature <= touch[kept - 1].feature)
            touch[kept].feature = touch[kept - 1].feature + 1;
        kept++;
    }
    return kept;
}

// Runs of touches of one item a that begin in a worker's share. Those that fall away get b = −1.
// All know where their runs are before the first is changed.
static void union_order(void *arg, tl_team *team, int rank) {
    tl_collide *c = arg;
    const tl_touch *touch = c->touch;
    int64_t begin, end;
    tl_share(c->touch_total, tl_team_size(team), rank, &begin, &end);
    if (begin < end) {
        while (end < c->touch_total && touch[end].a == touch[end - 1].a) end++;
        while (begin > 0 && begin < end && touch[begin].a == touch[begin - 1].a) begin++;
    }
    tl_barrier(team);
    while (begin < end) {
        int64_t next = begin + 1;
        while (next < end && touch[next].a == touch[begin].a) next++;
        const int64_t kept = union_settle(c->touch + begin, next - begin);
        for (int64_t i = begin + kept; i < next; i++) c->touch[i].b = -1;
        begin = next;
    }
}

void tl_union_order(tl_collide *c) {
    int64_t kept = 0;
    tl_parallel(c->ctx, c->size, union_order, c);
    for (int64_t i = 0; i < c->touch_total; i++) {
        if (c->touch[i].b < 0) continue;
        if (kept != i) c->touch[kept] = c->touch[i];
        kept++;
    }
    c->touch_total = kept;
}
