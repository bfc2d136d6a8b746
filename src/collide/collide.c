// SPDX-License-Identifier: Apache-2.0
// Items and the search for their contact points (docs/theory/collision.md).
#include "collide/collide_impl.h"
#include "collide/mesh.h"
#include <string.h>

talus_status tl_collide_create(talus_context *ctx, int32_t dim, const double period[3],
                               tl_collide **out) {
    tl_collide *c = NULL;
    *out = NULL;
    TL_REQUIRE(ctx, dim == 2 || dim == 3, TALUS_ERR_ARG, "dimension %d: must be 2 or 3", (int)dim);
    for (int k = 0; period && k < dim; k++) {
        TL_REQUIRE(ctx, period[k] >= 0.0 && isfinite(period[k]), TALUS_ERR_ARG,
                   "period[%d] = %g must be positive, or 0 where the axis is not periodic", k,
                   period[k]);
    }
    TL_TRY(TL_ALLOC(ctx, 1, &c));
    c->ctx = ctx;
    c->dim = dim;
    for (int k = 0; period && k < dim; k++) c->period[k] = period[k];
    *out = c;
    return TALUS_OK;
}

void tl_collide_destroy(tl_collide *c) {
    if (!c) return;
    for (int32_t k = 0; k < c->shape_count; k++) tl_solid_destroy(c->ctx, c->shape[k].solid);
    tl_collide_rest(c, true);
    void *const memory[] = {c->shape,     c->item,  c->part,   c->place,   c->placed,
                            c->wall_part, c->walls, c->worker, c->between, c->arc};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++) tl_free(c->ctx, memory[k]);
    tl_free(c->ctx, c);
}

talus_status tl_collide_renew(talus_context *ctx, int64_t count, size_t size, void *inout_pointer) {
    void *old = NULL;
    memcpy(&old, inout_pointer, sizeof old);
    tl_free(ctx, old);
    return tl_alloc(ctx, count, size, inout_pointer);
}

// Room for one more in an array that keeps its content.
static talus_status collide_grow(talus_context *ctx, int32_t count, size_t size, int32_t *room,
                                 void *inout_pointer) {
    if (count < *room) return TALUS_OK;
    const int64_t wanted = (int64_t)count + count / 4 + 8;
    const int32_t more = wanted < INT32_MAX / 2 ? (int32_t)wanted : INT32_MAX / 2;
    TL_REQUIRE(ctx, count < more, TALUS_ERR_ARG, "more than %d entries", (int)more);
    TL_TRY(tl_realloc(ctx, count, more, size, inout_pointer));
    *room = more;
    return TALUS_OK;
}

talus_status tl_collide_add_shape(tl_collide *c, const talus_shape_def *shape, int32_t *out) {
    tl_solid *solid = NULL;
    TL_TRY(collide_grow(c->ctx, c->shape_count, sizeof *c->shape, &c->shape_room, &c->shape));
    TL_TRY(tl_solid_create(c->ctx, c->dim, shape, &solid));
    const double radius = solid->shape.radius;
    if (solid->shape.kind == TALUS_SHAPE_SPHERE) {
        tl_solid_destroy(c->ctx, solid);
        solid = NULL;
    }
    c->shape[c->shape_count] = (tl_slot){solid, radius};
    *out = c->shape_count++;
    return TALUS_OK;
}

const talus_shape_def *tl_collide_shape(const tl_collide *c, int32_t shape, double *radius) {
    const tl_slot *slot = &c->shape[shape];
    *radius = slot->radius;
    return slot->solid ? &slot->solid->shape : NULL;
}

// From now on parts have places in their items.
static talus_status collide_make_compound(tl_collide *c) {
    TL_TRY(TL_ALLOC(c->ctx, c->part_room, &c->place));
    c->place_room = c->part_room;
    for (int32_t k = 0; k < c->part_count; k++) c->place[k] = (tl_pose){.q = {1.0}};
    c->compound = true;
    return TALUS_OK;
}

// Add a part to the item that is being added, for which there is no entry yet.
static talus_status collide_add_part(tl_collide *c, const tl_solid *solid, const tl_pose *place,
                                     int32_t group, bool immovable) {
    const bool mesh = solid->mesh != NULL;
    const double extent = mesh ? solid->shape.radius : tl_shape_extent(c->dim, &solid->shape);
    const bool unbounded = isinf(extent), ball = solid->shape.kind == TALUS_SHAPE_SPHERE;
    const int32_t k = c->part_count;
    TL_TRY(collide_grow(c->ctx, k, sizeof *c->part, &c->part_room, &c->part));
    if (c->compound) {
        TL_TRY(collide_grow(c->ctx, k, sizeof *c->place, &c->place_room, &c->place));
        c->place[k] = *place;
    }
    if (unbounded) {
        int32_t room = c->wall_room;
        TL_TRY(collide_grow(c->ctx, c->wall_count, sizeof *c->walls, &room, &c->walls));
        TL_TRY(collide_grow(c->ctx, c->wall_count, sizeof *c->wall_part, &c->wall_room,
                            &c->wall_part));
        c->wall_part[c->wall_count++] = k;
    } else {
        c->bounded_count++;
    }
    c->part[k] = (tl_part){.extent = extent, .solid = solid, .item = c->item_count, .group = group};
    c->part[k].flags = (uint16_t)((immovable ? GRID_IMMOVABLE : 0) | (ball ? GRID_BALL : 0) |
                                  (unbounded ? GRID_UNBOUNDED : 0) | (mesh ? GRID_MESH : 0));
    c->meshes = c->meshes || mesh;
    c->part_count++;
    return TALUS_OK;
}

// Take back the parts from `first` on.
static void collide_drop_parts(tl_collide *c, int32_t first) {
    for (int32_t k = first; k < c->arc_room; k++) c->arc[k] = (tl_arc){.apart = INFINITY};
    for (; c->part_count > first; c->part_count--) {
        if (c->part[c->part_count - 1].flags & GRID_UNBOUNDED)
            c->wall_count--;
        else
            c->bounded_count--;
    }
}

talus_status tl_collide_add_item_at(tl_collide *c, int32_t shape, const tl_pose *place,
                                    int32_t group, bool immovable, int32_t *out) {
    static const tl_pose nowhere = {.q = {1.0}};
    talus_status status = TALUS_OK;
    const int32_t first = c->part_count;
    TL_REQUIRE(c->ctx, shape >= 0 && shape < c->shape_count, TALUS_ERR_ARG,
               "shape %d of an item does not exist: there are %d", (int)shape, (int)c->shape_count);
    tl_solid ball;
    const tl_slot *slot = &c->shape[shape];
    const tl_solid *solid = tl_solid_or_ball(slot->solid, slot->radius, &ball);
    TL_TRY(collide_grow(c->ctx, c->item_count, sizeof *c->item, &c->item_room, &c->item));
    if ((place || solid->piece) && !c->compound) TL_TRY(collide_make_compound(c));
    if (!place) place = &nowhere;
    if (!solid->piece) TL_GOTO(collide_add_part(c, solid, place, group, immovable));
    for (int32_t k = 0; solid->piece && k < solid->pieces; k++) {
        const tl_piece *piece = &solid->piece[k];
        tl_pose here;
        tl_pose_mul(place, &piece->place, &here);
        TL_GOTO(collide_add_part(c, piece->solid, &here, group, immovable));
    }
    if (!slot->solid) c->part[first].solid = NULL;
    c->item[c->item_count] = (tl_item){.first = first, .count = c->part_count - first};
    *out = c->item_count++;
done:
    if (status != TALUS_OK) collide_drop_parts(c, first);
    return status;
}

talus_status tl_collide_add_item(tl_collide *c, int32_t shape, int32_t group, bool immovable,
                                 int32_t *out) {
    return tl_collide_add_item_at(c, shape, NULL, group, immovable, out);
}

talus_status tl_collide_set_arc(tl_collide *c, int32_t item, double begin, double end,
                                double apart) {
    const tl_item *i = &c->item[item];
    if (c->part_count > c->arc_room) {
        TL_TRY(tl_realloc(c->ctx, c->arc_room, c->part_room, sizeof *c->arc, &c->arc));
        for (int32_t k = c->arc_room; k < c->part_room; k++)
            c->arc[k] = (tl_arc){.apart = INFINITY};
        c->arc_room = c->part_room;
    }
    for (int32_t k = i->first; k < i->first + i->count; k++)
        c->arc[k] = (tl_arc){begin, end, apart};
    return TALUS_OK;
}

void tl_collide_drop_items(tl_collide *c, int32_t first) {
    if (first >= c->item_count) return;
    collide_drop_parts(c, c->item[first].first);
    c->item_count = first;
}

void tl_collide_set_immovable(tl_collide *c, int32_t item, bool immovable) {
    const tl_item *i = &c->item[item];
    for (int32_t k = i->first; k < i->first + i->count; k++) {
        const int others = c->part[k].flags & ~GRID_IMMOVABLE;
        c->part[k].flags = (uint16_t)(others | (immovable ? GRID_IMMOVABLE : 0));
    }
}

void tl_collide_rest(tl_collide *c, bool points) {
    void *const search[] = {c->key[0], c->key[1], c->index[0], c->index[1], c->spot,
                            c->point,  c->table,  c->pair,     c->start,    c->entry};
    for (size_t k = 0; k < sizeof search / sizeof *search; k++) tl_free(c->ctx, search[k]);
    c->key[0] = c->key[1] = NULL;
    c->index[0] = c->index[1] = NULL;
    c->spot = NULL;
    c->point = NULL;
    c->table = NULL;
    c->pair = NULL;
    c->start = NULL;
    c->entry = NULL;
    c->point_room = c->start_room = 0;
    c->table_room = c->pair_room = 0;
    for (int r = 0; r < c->worker_room; r++) c->worker[r].pair_room = 0;
    c->rested = true;
    if (!points) return;
    tl_free(c->ctx, c->touch);
    c->touch = NULL;
    c->touch_room = c->touch_total = 0;
    for (int r = 0; r < c->worker_room; r++) c->worker[r].touch_room = 0;
}

const tl_touch *tl_collide_touches(const tl_collide *c, int64_t *count) {
    *count = c->touch_total;
    return c->touch;
}

// Only one image of a pair may be within reach: the nearest by its centres.
static talus_status collide_check_period(const tl_collide *c, double reach) {
    int32_t first = -1, second = -1; // the two largest
    for (int32_t i = 0; i < c->part_count; i++) {
        if (isinf(c->part[i].extent)) continue;
        if (first < 0 || c->part[i].extent > c->part[first].extent)
            second = first, first = i;
        else if (second < 0 || c->part[i].extent > c->part[second].extent)
            second = i;
    }
    if (second < 0) return TALUS_OK;
    const double sum = c->part[first].extent + c->part[second].extent + reach;
    for (int k = 0; k < c->dim; k++) {
        TL_REQUIRE(c->ctx, c->period[k] == 0.0 || sum <= 0.5 * c->period[k], TALUS_ERR_ARG,
                   "period[%d] = %g is too short: items %d and %d reach %g from centre to centre, "
                   "which must not be more than half of it",
                   k, c->period[k], (int)c->part[first].item, (int)c->part[second].item, sum);
    }
    return TALUS_OK;
}

// The part that holds entry number `at`.
static int32_t collide_owner(const tl_collide *c, int64_t at) {
    int32_t low = 0, high = c->part_count; // start[low] <= at < start[high]
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (c->start[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// `room` is for the solid of a ball.
static tl_placed collide_place(const tl_collide *c, int32_t part, const tl_pose *pose,
                               tl_solid *room) {
    const tl_solid *solid = tl_part_solid(&c->part[part], room);
    tl_placed out = {.shape = &solid->shape,
                     .solid = solid,
                     .pose = pose,
                     .moves = !(c->part[part].flags & GRID_IMMOVABLE)};
    for (int32_t u = 0; (c->part[part].flags & GRID_UNBOUNDED) && u < c->wall_count; u++)
        if (c->wall_part[u] == part) out.walls = &c->walls[u];
    return out;
}

// Where b has to be moved to be the image nearest to a. Unbounded items have none.
static void collide_image(const tl_collide *c, const grid_spot *a, const grid_spot *b,
                          double image[3]) {
    const bool any = !((a->flags | b->flags) & GRID_UNBOUNDED);
    for (int k = 0; k < 3; k++) {
        const double period = c->period[k];
        image[k] = any && period > 0.0 ? period * rint((a->x[k] - b->x[k]) / period) : 0.0;
    }
}

// Points of a shape with a mesh, in this order or the other; `out` may be NULL: tl_mesh_points.
static int collide_mesh(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                        tl_touch *out) {
    if (b->solid->mesh) return (int)tl_mesh_points(dim, a, b, reach, out);
    const int count = (int)tl_mesh_points(dim, b, a, reach, out);
    for (int i = 0; out && i < count; i++) tl_touch_swap(&out[i]);
    return count;
}

// Whether a candidate is a mesh and a bounded shape, whose points cannot be counted beforehand.
static bool collide_is_meshed(const tl_collide *c, int32_t a, int32_t b) {
    const int flags = c->part[a].flags | c->part[b].flags;
    return (flags & (GRID_MESH | GRID_UNBOUNDED)) == GRID_MESH;
}

// Points of a candidate that is not two balls; −1: there is no function for it. With a mesh `out`
// may be NULL, and only a bound of their number is returned.
static int collide_points(const tl_collide *c, int32_t a, int32_t b, tl_touch *out) {
    tl_pose image = c->pose[b];
    double shift[3];
    collide_image(c, &c->spot[a], &c->spot[b], shift);
    tl_axpy3(image.x, 1.0, shift, image.x);
    tl_solid ball_a, ball_b;
    const tl_placed pa = collide_place(c, a, &c->pose[a], &ball_a);
    const tl_placed pb = collide_place(c, b, &image, &ball_b);
    if (!tl_pair_is_known(pa.shape->kind, pb.shape->kind)) return -1;
    if (collide_is_meshed(c, a, b)) return collide_mesh(c->dim, &pa, &pb, c->reach, out);
    return tl_pair_points(c->dim, &pa, &pb, c->reach, out);
}

// The nearest place of a mesh to a ball at x, as one point of the two.
static int collide_probe_mesh(const tl_placed *ball, const tl_placed *mesh, double reach,
                              tl_touch *out) {
    const double r = ball->shape->radius;
    tl_mesh_place place;
    double x[3];
    tl_sub3(ball->pose->x, mesh->pose->x, x);
    tl_rotate_back(mesh->pose->q, x, x);
    if (!tl_mesh_nearest(mesh->solid->mesh, x, reach + r, &place)) return 0;
    *out = (tl_touch){.gap = (place.behind ? -place.distance : place.distance) - r,
                      .feature = (uint32_t)place.facet};
    tl_rotate(mesh->pose->q, place.normal, out->normal);
    tl_rotate(mesh->pose->q, place.point, out->arm_b);
    tl_scale3(-r, out->normal, out->arm_a);
    return 1;
}

bool tl_collide_probe(const tl_collide *c, int32_t ball, const double x[3], int32_t item,
                      double reach, tl_touch *out) {
    tl_solid first, second;
    const tl_solid *solid = tl_solid_or_ball(c->shape[ball].solid, c->shape[ball].radius, &first);
    const tl_pose pose = {.x = {x[0], x[1], x[2]}, .q = {1.0}};
    const tl_placed a = {.shape = &solid->shape, .solid = solid, .pose = &pose};
    const tl_item *i = &c->item[item];
    bool found = false;
    for (int32_t part = i->first; part < i->first + i->count; part++) {
        const tl_placed b = collide_place(c, part, &c->pose[part], &second);
        tl_touch point[TL_PAIR_MOST];
        if (!tl_pair_is_known(a.shape->kind, b.shape->kind)) continue;
        const int count = b.solid->mesh ? collide_probe_mesh(&a, &b, reach, point)
                                        : tl_pair_points(c->dim, &a, &b, reach, point);
        for (int k = 0; k < count; k++) {
            if (found && point[k].gap >= out->gap) continue;
            *out = point[k];
            found = true;
        }
    }
    return found;
}

// The point of two balls; 0: it is not within reach.
static int collide_balls(const tl_collide *c, const grid_spot *a, const grid_spot *b,
                         tl_touch *out) {
    double d[3], shift[3];
    tl_sub3(a->x, b->x, d);
    collide_image(c, a, b, shift);
    tl_sub3(d, shift, d);
    tl_pair_balls(c->dim, d, a->extent, b->extent, out);
    return out->gap <= c->reach;
}

// Where the points of a candidate go that may have `most` of them: the worker's room, or `spare`
// (TL_PAIR_MOST long) where that is not enough. NULL: nowhere, they are only counted.
static tl_touch *collide_room(const tl_collide *c, const tl_worker *w, int64_t most,
                              tl_touch *spare) {
    if (c->touch && w->touch_count + most <= w->touch_room)
        return c->touch + w->touch_begin + w->touch_count;
    return most <= TL_PAIR_MOST ? spare : NULL;
}

// Points of the candidate (a, entry), into the worker's room if it is large enough.
static void collide_candidate(const tl_collide *c, tl_worker *w, int32_t a, uint32_t entry,
                              tl_touch *spare) {
    const int32_t b = (int32_t)(entry >> 1);
    const bool balls = !(entry & 1);
    const bool mesh = !balls && collide_is_meshed(c, a, b);
    const int64_t most = balls ? 1 : mesh ? collide_points(c, a, b, NULL) : TL_PAIR_MOST;
    tl_touch *out = most < 0 ? NULL : collide_room(c, w, most, spare);
    int64_t count = most;
    if (out)
        count =
            balls ? collide_balls(c, &c->spot[a], &c->spot[b], out) : collide_points(c, a, b, out);
    if (count < 0 && w->unknown_a < 0) w->unknown_a = a, w->unknown_b = b;
    if (count <= 0) return;
    if (out == spare && w->touch_count + count <= w->touch_room) {
        out = c->touch + w->touch_begin + w->touch_count;
        memcpy(out, spare, (size_t)count * sizeof *out);
    }
    w->touch_count += count; // goes on when the room is used up: how much is needed is then known
    if (w->touch_count > w->touch_room) return;
    if (c->compound) tl_union_report(c, a, b, out, (int)count);
    for (int64_t k = 0; k < count && !c->compound; k++) out[k].a = a, out[k].b = b;
}

// The points of a worker's candidates.
static void collide_write(void *arg, tl_team *team, int rank) {
    enum { AHEAD = 16 };
    tl_collide *c = arg;
    tl_worker *w = &c->worker[rank];
    tl_touch spare[TL_PAIR_MOST];
    int64_t begin, end;
    w->touch_count = 0;
    w->unknown_a = w->unknown_b = -1;
    tl_share(c->pair_total, tl_team_size(team), rank, &begin, &end);
    int32_t a = begin < end ? collide_owner(c, begin) : 0;
    for (int64_t i = begin; i < end; i++) {
        if (i + AHEAD < end) TL_PREFETCH(&c->spot[c->entry[i + AHEAD] >> 1]);
        while (c->start[a + 1] <= i) a++;
        collide_candidate(c, w, a, c->entry[i], spare);
    }
}

static talus_status collide_check_known(const tl_collide *c) {
    for (int r = 0; r < c->size; r++) {
        const tl_worker *w = &c->worker[r];
        if (w->unknown_a < 0) continue;
        const tl_part *a = &c->part[w->unknown_a], *b = &c->part[w->unknown_b];
        const bool meshes = (a->flags & b->flags & GRID_MESH) != 0;
        tl_solid ball_a, ball_b;
        return tl_fail(c->ctx, TALUS_ERR_UNSUPPORTED,
                       "items %d (%s) and %d (%s) are near each other, but contacts of these "
                       "two kinds are not supported%s",
                       (int)a->item, talus_shape_text(tl_part_solid(a, &ball_a)->shape.kind),
                       (int)b->item, talus_shape_text(tl_part_solid(b, &ball_b)->shape.kind),
                       meshes ? "; make one of them a polyhedron or a clump" : "");
    }
    return TALUS_OK;
}

// Contact points of all candidates, one after the other. A worker whose room was too small has
// counted on; the points are then computed again with room for all.
static talus_status collide_fill(tl_collide *c) {
    for (;;) {
        int64_t needed = 0;
        bool fits = true;
        tl_parallel(c->ctx, c->size, collide_write, c);
        TL_TRY(collide_check_known(c));
        for (int r = 0; r < c->size; r++) {
            tl_worker *w = &c->worker[r];
            fits = fits && w->touch_count <= w->touch_room;
            needed += TL_MAX(w->touch_count, w->touch_room);
        }
        if (fits) break;
        if (needed > c->touch_room) {
            const int64_t room = needed + needed / 8 + 64;
            c->touch_room = c->divided = 0; // as long as something may fail
            TL_TRY(tl_collide_renew(c->ctx, room, sizeof *c->touch, &c->touch));
            c->touch_room = room;
            c->divided = c->size;
        }
        int64_t at = 0;
        for (int r = 0; r < c->size; r++) {
            tl_worker *w = &c->worker[r];
            w->touch_begin = at;
            w->touch_room =
                TL_MAX(w->touch_count, w->touch_room) + (c->touch_room - needed) / c->size;
            at += w->touch_room;
        }
    }
    for (int r = 0; r < c->size; r++) {
        const tl_worker *w = &c->worker[r];
        if (c->touch_total < w->touch_begin && w->touch_count > 0)
            memmove(c->touch + c->touch_total, c->touch + w->touch_begin,
                    (size_t)w->touch_count * sizeof *c->touch);
        c->touch_total += w->touch_count;
    }
    if (c->compound) tl_union_order(c);
    return TALUS_OK;
}

// A worker for each of the team; with another team the room for pairs is divided anew.
static talus_status collide_divide(tl_collide *c) {
    if (c->size > c->worker_room) {
        c->worker_room = c->divided = 0;
        TL_TRY(tl_collide_renew(c->ctx, c->size, sizeof *c->worker, &c->worker));
        c->worker_room = c->size;
    }
    for (int r = 0; c->size != c->divided && r < c->size; r++) {
        c->worker[r].pair_begin = c->pair_room / c->size * r;
        c->worker[r].pair_room = c->pair_room / c->size;
        c->worker[r].touch_begin = c->touch_room / c->size * r;
        c->worker[r].touch_room = c->touch_room / c->size;
    }
    c->divided = c->size;
    return TALUS_OK;
}

// A worker will find about as many as the last time.
static int64_t collide_likely(int64_t count) { return count + count / 16 + 32; }

// Room, where it was given back, for what the last search has found: one that found none would have
// to be made twice.
static talus_status collide_foresee(tl_collide *c) {
    int64_t pairs = 0, touches = 0;
    for (int r = 0; r < c->size; r++) {
        tl_worker *w = &c->worker[r];
        if (!c->pair) {
            w->pair_begin = pairs;
            w->pair_room = collide_likely(w->pair_count);
        }
        if (!c->touch) {
            w->touch_begin = touches;
            w->touch_room = collide_likely(w->touch_count);
        }
        pairs += collide_likely(w->pair_count);
        touches += collide_likely(w->touch_count);
    }
    const bool no_pairs = !c->pair, no_touches = !c->touch;
    c->divided = 0; // as long as something may fail
    if (no_pairs) {
        c->pair_room = 0;
        TL_TRY(tl_collide_renew(c->ctx, pairs, sizeof *c->entry, &c->entry));
        TL_TRY(TL_ALLOC(c->ctx, pairs, &c->pair));
        c->pair_room = pairs;
    }
    if (no_touches) {
        c->touch_room = 0;
        TL_TRY(TL_ALLOC(c->ctx, touches, &c->touch));
        c->touch_room = touches;
    }
    c->divided = c->size;
    return TALUS_OK;
}

// Poses of the parts from those of their items.
static void collide_place_parts(void *arg, tl_team *team, int rank) {
    tl_collide *c = arg;
    int64_t begin, end;
    tl_share(c->part_count, tl_team_size(team), rank, &begin, &end);
    for (int64_t k = begin; k < end; k++)
        tl_pose_mul(&c->given[c->part[k].item], &c->place[k], &c->placed[k]);
}

// The poses that the search works with.
static talus_status collide_take_poses(tl_collide *c, const tl_pose *pose) {
    c->given = c->pose = pose;
    if (!c->compound) return TALUS_OK;
    if (c->part_count > c->placed_room) {
        c->placed_room = 0;
        TL_TRY(tl_collide_renew(c->ctx, c->part_room, sizeof *c->placed, &c->placed));
        c->placed_room = c->part_room;
    }
    tl_parallel(c->ctx, c->size, collide_place_parts, c);
    c->pose = c->placed;
    return TALUS_OK;
}

static void collide_place_walls(tl_collide *c) {
    for (int32_t u = 0; u < c->wall_count; u++) {
        const int32_t k = c->wall_part[u];
        tl_walls_place(c->dim, &c->part[k].solid->shape, &c->pose[k], &c->walls[u]);
    }
}

void tl_collide_move(tl_collide *c, const tl_pose *pose) {
    if (c->item_count == 0) return;
    const talus_status status = collide_take_poses(c, pose); // its memory is there
    (void)status;
    collide_place_walls(c);
}

talus_status tl_collide_detect(tl_collide *c, const tl_pose *pose, double reach, int32_t threads) {
    c->touch_total = 0;
    TL_REQUIRE(c->ctx, reach >= 0.0 && isfinite(reach), TALUS_ERR_ARG,
               "reach = %g must be finite and not negative", reach);
    TL_REQUIRE(c->ctx, threads >= 1, TALUS_ERR_ARG, "threads = %d must be at least 1",
               (int)threads);
    if (c->item_count == 0) return TALUS_OK;
    TL_TRY(collide_check_period(c, reach));
    // a team larger than this would wait for itself
    const int32_t useful = 1 + c->part_count / 512;
    c->size = threads < useful ? threads : useful;
    c->reach = reach;
    TL_TRY(tl_team_reserve(c->ctx, c->size));
    TL_TRY(collide_divide(c));
    if (c->rested) TL_TRY(collide_foresee(c));
    c->rested = false;
    TL_TRY(collide_take_poses(c, pose));
    collide_place_walls(c);
    TL_TRY(tl_grid_build(c));
    TL_TRY(tl_search_pairs(c));
    return collide_fill(c);
}
