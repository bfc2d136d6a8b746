// SPDX-License-Identifier: Apache-2.0
// Contact points of two items alone, wherever they are: what a sweep along the way of a fast body
// asks for.
#include "collide/collide_impl.h"
#include "collide/mesh.h"

static void between_part(const tl_collide *c, int32_t part, const tl_pose *item, tl_pose *out) {
    if (c->compound)
        tl_pose_mul(item, &c->place[part], out);
    else
        *out = *item;
}

static talus_status between_room(tl_collide *c, int64_t more) {
    const int64_t need = c->between_count + more;
    if (need <= c->between_room) return TALUS_OK;
    const int64_t room = need + need / 2;
    TL_TRY(tl_realloc(c->ctx, c->between_count, room, sizeof *c->between, &c->between));
    c->between_room = room;
    return TALUS_OK;
}

// Points of parts ka and kb at these poses, b's being that of the image nearest to a; arms are from
// the poses of the items.
static talus_status between_parts(tl_collide *c, int32_t ka, const tl_pose *a, const double xa[3],
                                  int32_t kb, const tl_pose *b, const double xb[3], double reach) {
    const tl_part *part[2] = {&c->part[ka], &c->part[kb]};
    tl_walls walls[2];
    tl_solid ball[2];
    tl_placed placed[2] = {{.solid = tl_part_solid(part[0], &ball[0]), .pose = a},
                           {.solid = tl_part_solid(part[1], &ball[1]), .pose = b}};
    double d[3];
    tl_sub3(a->x, b->x, d);
    const double most_apart = part[0]->extent + part[1]->extent + reach;
    if (tl_dot3(d, d) > most_apart * most_apart) return TALUS_OK;
    for (int k = 0; k < 2; k++) {
        placed[k].shape = &placed[k].solid->shape;
        placed[k].walls = &walls[k];
        placed[k].moves = !(part[k]->flags & GRID_IMMOVABLE);
        if (part[k]->flags & GRID_UNBOUNDED)
            tl_walls_place(c->dim, placed[k].shape, placed[k].pose, &walls[k]);
    }
    const bool meshed =
        ((part[0]->flags | part[1]->flags) & (GRID_MESH | GRID_UNBOUNDED)) == GRID_MESH;
    const bool turned = meshed && part[0]->flags & GRID_MESH;
    const tl_placed *first = &placed[turned], *second = &placed[!turned];
    if (!tl_pair_is_known(first->shape->kind, second->shape->kind)) return TALUS_OK;
    TL_TRY(between_room(c, meshed ? tl_mesh_points(c->dim, first, second, reach, NULL)
                                  : TL_PAIR_MOST));
    tl_touch *out = c->between + c->between_count;
    const int64_t count = meshed ? tl_mesh_points(c->dim, first, second, reach, out)
                                 : tl_pair_points(c->dim, first, second, reach, out);
    for (int64_t i = 0; i < count; i++) {
        if (turned) tl_touch_swap(&out[i]);
        for (int k = 0; k < 3; k++) {
            out[i].arm_a[k] += a->x[k] - xa[k];
            out[i].arm_b[k] += b->x[k] - xb[k];
        }
    }
    c->between_count += count;
    return TALUS_OK;
}

talus_status tl_collide_between(tl_collide *c, int32_t a, int32_t b, const tl_pose *pose_a,
                                const tl_pose *pose_b, double reach, const tl_touch **out,
                                int64_t *count) {
    const tl_item *ia = &c->item[a], *ib = &c->item[b];
    const bool bounded = !((c->part[ia->first].flags | c->part[ib->first].flags) & GRID_UNBOUNDED);
    tl_pose image = *pose_b;
    c->between_count = 0;
    for (int k = 0; k < 3; k++) {
        const double period = bounded ? c->period[k] : 0.0;
        if (period > 0.0) image.x[k] += period * rint((pose_a->x[k] - pose_b->x[k]) / period);
    }
    for (int32_t ka = ia->first; ka < ia->first + ia->count; ka++)
        for (int32_t kb = ib->first; kb < ib->first + ib->count; kb++) {
            tl_pose pa, pb;
            between_part(c, ka, pose_a, &pa);
            between_part(c, kb, &image, &pb);
            TL_TRY(between_parts(c, ka, &pa, pose_a->x, kb, &pb, image.x, reach));
        }
    for (int64_t i = 0; i < c->between_count; i++) c->between[i].a = a, c->between[i].b = b;
    *out = c->between;
    *count = c->between_count;
    return TALUS_OK;
}

bool tl_collide_may_touch(const tl_collide *c, int32_t a, int32_t b) {
    const int32_t first = c->item[a].first, other = c->item[b].first;
    const tl_part *pa = &c->part[first], *pb = &c->part[other];
    return (pa->group != pb->group || tl_parts_are_apart(c, first, other)) &&
           !(pa->flags & pb->flags & GRID_IMMOVABLE);
}
