// SPDX-License-Identifier: Apache-2.0
// Shapes: from the keys of a body, of grains or of an entry of `shapes` to a talus_shape_def, whose
// arrays are in the scene's arena.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// Names beyond the kinds of shapes: obstacles that are made into meshes.
enum { MAKE_FIRST = TALUS_SHAPE_KINDS, MAKE_KINDS = TALUS_SHAPE_KINDS + TALUS_MESH_KINDS };

static const char *make_kind_text(int kind) {
    return kind < MAKE_FIRST ? talus_shape_text((talus_shape_kind)kind)
                             : talus_mesh_text((talus_mesh_kind)(kind - MAKE_FIRST));
}

int tl_shape_kind(const char *name) {
    for (int k = 0; k < MAKE_KINDS; k++)
        if (strcmp(make_kind_text(k), name) == 0) return k;
    return -1;
}

static int32_t make_find(const talus_scene *s, const char *name) {
    const tl_scene_shape *shapes = s->keys.shapes.data;
    for (int32_t k = 0; k < s->keys.shapes.count; k++)
        if (strcmp(shapes[k].node->key, name) == 0) return k;
    return -1;
}

const char *tl_shape_name(const void *doc, int32_t k) {
    const tl_node *shapes = tl_node_find(((const tl_doc *)doc)->root, "shapes");
    if (k < MAKE_KINDS) return make_kind_text(k);
    const tl_node *named = shapes ? shapes->first : NULL;
    for (k -= MAKE_KINDS; named && k > 0; k--) named = named->next;
    return named ? named->key : NULL;
}

// Say at a node what the library said.
static talus_status make_repeat(const talus_scene *s, const tl_node *node) {
    char reason[300];
    (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
    return tl_node_fail(&s->doc, node, "%s", reason);
}

// ---- arrays ------------------------------------------------------------------------------------

static talus_status make_copy(const talus_scene *s, int64_t count, size_t size, const void *from,
                              void *out) {
    void *to;
    TL_TRY(tl_arena_take(s->doc.arena, count, size, &to));
    if (count > 0) memcpy(to, from, (size_t)count * size);
    memcpy(out, &to, sizeof to);
    return TALUS_OK;
}

// Points and triangles of a mesh, which is cleared, as those of a shape.
static talus_status make_take_mesh(const talus_scene *s, talus_mesh *mesh, talus_shape_def *out) {
    talus_status status = TALUS_OK;
    const talus_shape_kind kind = out->kind;
    const talus_shape_def shape = talus_mesh_shape(mesh);
    *out = shape;
    out->kind = kind;
    TL_GOTO(make_copy(s, 3 * (int64_t)shape.point_count, sizeof(double), shape.point, &out->point));
    TL_GOTO(make_copy(s, s->dim * (int64_t)shape.triangle_count, sizeof(int32_t), shape.triangle,
                      &out->triangle));
done:
    talus_mesh_clear(s->ctx, mesh);
    return status;
}

talus_status tl_scene_beside(const talus_scene *s, const char *path, char **out) {
    const char *slash = strrchr(s->doc.name, '/');
    const size_t room = path[0] == '/' || !slash ? 0 : (size_t)(slash - s->doc.name) + 1;
    TL_TRY(tl_arena_take(s->doc.arena, (int64_t)(room + strlen(path) + 1), 1, out));
    memcpy(*out, s->doc.name, room);
    memcpy(*out + room, path, strlen(path) + 1);
    return TALUS_OK;
}

// A file, looked for beside the scene.
static talus_status make_file(const talus_scene *s, const tl_node *node, const tl_shape_keys *keys,
                              talus_shape_def *out) {
    talus_mesh_read_options options = talus_mesh_read_default();
    talus_mesh mesh;
    char *path;
    TL_TRY(tl_scene_beside(s, keys->file, &path));
    options.dim = s->dim;
    options.scale = keys->file_scale;
    options.weld = keys->weld;
    if (talus_mesh_read(s->ctx, path, &options, &mesh) != TALUS_OK)
        return make_repeat(s, tl_node_find(node, "file"));
    TL_TRY(make_take_mesh(s, &mesh, out));
    if (out->kind != TALUS_SHAPE_POLYHEDRON) return TALUS_OK;
    out->triangle = NULL;
    out->triangle_count = 0;
    return TALUS_OK;
}

static talus_status make_obstacle(const talus_scene *s, const tl_node *node,
                                  const tl_shape_keys *keys, int kind, talus_shape_def *out) {
    talus_mesh mesh;
    talus_mesh_def def = {.kind = (talus_mesh_kind)(kind - MAKE_FIRST),
                          .radius = keys->radius.value,
                          .height = keys->height,
                          .outlet = keys->outlet,
                          .rim = keys->rim,
                          .spout = keys->spout,
                          .sides = (int32_t)keys->sides};
    tl_copy3(keys->size, def.size);
    if (talus_mesh_make(s->ctx, s->dim, &def, &mesh) != TALUS_OK) return make_repeat(s, node);
    out->kind = TALUS_SHAPE_MESH;
    return make_take_mesh(s, &mesh, out);
}

static talus_status make_parts(const talus_scene *s, const tl_shape_keys *keys,
                               talus_shape_def *out) {
    tl_part_keys *list = keys->parts.data;
    talus_part *part;
    talus_shape_def *shape;
    TL_TRY(TL_TAKE(s->doc.arena, keys->parts.count, &part));
    TL_TRY(TL_TAKE(s->doc.arena, keys->parts.count, &shape));
    for (int32_t k = 0; k < keys->parts.count; k++) {
        TL_TRY(tl_shape_resolve(s, list[k].node, &list[k].shape, &shape[k]));
        if (list[k].shape.radius.law != TL_LAW_CONSTANT)
            return tl_node_fail(&s->doc, list[k].shape.radius.node,
                                "a distribution is for grains; use 'scale' there");
        part[k].shape = &shape[k];
        tl_copy3(list[k].at, part[k].position);
        TL_TRY(tl_scene_rotation(s, &list[k].rotate, part[k].orientation));
    }
    out->part = part;
    out->part_count = keys->parts.count;
    return TALUS_OK;
}

// ---- single keys -------------------------------------------------------------------------------

static talus_status make_normal(const talus_scene *s, const tl_node *node,
                                const tl_shape_keys *keys, talus_shape_def *out) {
    const double n = tl_norm3(keys->normal);
    const tl_node *normal = tl_node_find(node, "normal");
    if (normal && !(n > 0.0)) return tl_node_fail(&s->doc, normal, "must not be zero");
    out->normal[s->dim - 1] = 1.0; // up
    if (normal) tl_scale3(1.0 / n, keys->normal, out->normal);
    return TALUS_OK;
}

static talus_status make_size(const talus_scene *s, const tl_node *node, const tl_shape_keys *keys,
                              const char *name, talus_shape_def *out) {
    const tl_node *size = tl_node_find(node, "size");
    bool walls = !size, endless = false;
    for (int k = 0; k < s->dim; k++) {
        out->half[k] = 0.5 * keys->size[k];
        walls = walls || isfinite(out->half[k]);
        endless = endless || isinf(out->half[k]);
    }
    if (!walls && out->kind == TALUS_SHAPE_CONTAINER)
        return tl_node_fail(&s->doc, size, "a container needs walls along one axis at least");
    if (endless && out->kind != TALUS_SHAPE_CONTAINER)
        return tl_node_fail(&s->doc, size, "%s %s must be finite",
                            strchr("aeiou", name[0]) ? "an" : "a", name);
    return TALUS_OK;
}

static talus_status make_height(const talus_scene *s, const tl_node *node,
                                const tl_shape_keys *keys, int kind, talus_shape_def *out) {
    const tl_node *height = tl_node_find(node, "height");
    const bool circle = kind == TALUS_SHAPE_DRUM || kind == TALUS_SHAPE_CYLINDER;
    const bool long_one = kind == TALUS_SHAPE_CAPSULE || kind == TALUS_SHAPE_CONE ||
                          kind == MAKE_FIRST + TALUS_MESH_FUNNEL ||
                          kind == MAKE_FIRST + TALUS_MESH_PIPE;
    if (height && s->dim == 2 && circle) {
        return tl_node_fail(&s->doc, height, "in 2D a %s is a circle; leave the height out",
                            make_kind_text(kind));
    }
    if (!height && (long_one || (s->dim == 3 && kind == TALUS_SHAPE_CYLINDER))) {
        return tl_node_fail(&s->doc, node, "'height' is missing (shape: %s)", make_kind_text(kind));
    }
    if (height && isinf(keys->height) && kind != TALUS_SHAPE_DRUM) {
        return tl_node_fail(&s->doc, height, "a %s must be finite", make_kind_text(kind));
    }
    out->height = height ? keys->height : INFINITY;
    return TALUS_OK;
}

static talus_status make_exponents(const talus_scene *s, const tl_node *node,
                                   const tl_shape_keys *keys, talus_shape_def *out) {
    const int32_t wanted = s->dim == 2 ? 1 : 2;
    if (keys->exponents.count != wanted)
        return tl_node_fail(&s->doc, tl_node_find(node, "exponents"), "needs %d %s, not %d",
                            (int)wanted, wanted == 1 ? "number" : "numbers",
                            (int)keys->exponents.count);
    for (int32_t k = 0; k < 2; k++) out->exponent[k] = keys->exponents.value[k < wanted ? k : 0];
    return TALUS_OK;
}

// Points of a polyhedron or worm, a file of a polyhedron or mesh.
static talus_status make_points(const talus_scene *s, const tl_node *node,
                                const tl_shape_keys *keys, talus_shape_def *out) {
    const tl_node *points = tl_node_find(node, "points"), *file = tl_node_find(node, "file");
    const char *name = talus_shape_text(out->kind);
    if (points && file) return tl_node_fail_key(&s->doc, file, "give 'points' or 'file', not both");
    if (!points && !file)
        return tl_node_fail(&s->doc, node, "'%s' is missing (shape: %s)",
                            out->kind == TALUS_SHAPE_POLYHEDRON ? "points' or 'file"
                            : out->kind == TALUS_SHAPE_WORM     ? "points"
                                                                : "file",
                            name);
    if (file) return make_file(s, node, keys, out);
    out->point = keys->points.value;
    out->point_count = keys->points.count;
    return TALUS_OK;
}

// ---- shapes ------------------------------------------------------------------------------------

// Radius 1 stands in for a distribution.
talus_status tl_shape_make(const talus_scene *s, const tl_node *node, tl_shape_keys *keys,
                           talus_shape_def *out) {
    const int kind = tl_shape_kind(keys->shape);
    talus_shape_def *made;
    if (keys->made) {
        *out = *keys->made;
        return TALUS_OK;
    }
    *out = (talus_shape_def){.kind = kind < MAKE_FIRST ? (talus_shape_kind)kind : TALUS_SHAPE_MESH,
                             .open_top = keys->open_top};
    TL_TRY(tl_spread_check(&s->doc, &keys->radius));
    out->radius = keys->radius.law == TL_LAW_CONSTANT ? keys->radius.value : 1.0;
    TL_TRY(make_size(s, node, keys, make_kind_text(kind), out));
    TL_TRY(make_normal(s, node, keys, out));
    TL_TRY(make_height(s, node, keys, kind, out));
    if (kind == TALUS_SHAPE_SUPERELLIPSOID) TL_TRY(make_exponents(s, node, keys, out));
    if (kind == TALUS_SHAPE_POLYHEDRON || kind == TALUS_SHAPE_WORM || kind == TALUS_SHAPE_MESH)
        TL_TRY(make_points(s, node, keys, out));
    if (kind == TALUS_SHAPE_CLUMP) TL_TRY(make_parts(s, keys, out));
    if (kind >= MAKE_FIRST) TL_TRY(make_obstacle(s, node, keys, kind, out));
    if (talus_shape_check(s->ctx, s->dim, out) != TALUS_OK) return make_repeat(s, node);
    TL_TRY(TL_TAKE(s->doc.arena, 1, &made));
    *made = *out;
    keys->made = made;
    return TALUS_OK;
}

talus_status tl_shape_resolve(const talus_scene *s, const tl_node *node, tl_shape_keys *keys,
                              talus_shape_def *out) {
    if (tl_shape_kind(keys->shape) >= 0) return tl_shape_make(s, node, keys, out);
    const int32_t named = make_find(s, keys->shape);
    if (named < 0) {
        return tl_scene_fail_name(&s->doc, tl_node_find(node, "shape"), keys->shape, "a shape",
                                  tl_shape_name, &s->doc);
    }
    tl_scene_shape *shape = (tl_scene_shape *)s->keys.shapes.data + named;
    if (tl_shape_kind(shape->shape.shape) < 0) { // it will be refused; not here, in a part of it
        return tl_node_fail(&s->doc, tl_node_find(shape->node, "shape"),
                            " = '%.60s': in 'shapes' this must be a kind of shape, not a name",
                            shape->shape.shape);
    }
    if (shape->making)
        return tl_node_fail(&s->doc, tl_node_find(node, "shape"), "is a part of itself");
    shape->making = true;
    const talus_status status = tl_shape_make(s, shape->node, &shape->shape, out);
    shape->making = false;
    return status;
}

talus_status tl_shape_scale(const talus_scene *s, double scale, talus_shape_def *shape) {
    shape->radius *= scale;
    shape->height *= scale;
    tl_scale3(scale, shape->half, shape->half);
    if (scale == 1.0) return TALUS_OK;
    if (shape->point && shape->point_count > 0) {
        double *point;
        TL_TRY(TL_TAKE(s->doc.arena, 3 * (int64_t)shape->point_count, &point));
        for (int64_t k = 0; k < 3 * (int64_t)shape->point_count; k++)
            point[k] = scale * shape->point[k];
        shape->point = point;
    }
    if (shape->part && shape->part_count > 0) {
        talus_part *part;
        talus_shape_def *own;
        TL_TRY(TL_TAKE(s->doc.arena, shape->part_count, &part));
        TL_TRY(TL_TAKE(s->doc.arena, shape->part_count, &own));
        for (int32_t k = 0; k < shape->part_count; k++) {
            part[k] = shape->part[k];
            own[k] = *part[k].shape;
            tl_scale3(scale, part[k].position, part[k].position);
            TL_TRY(tl_shape_scale(s, scale, &own[k]));
            part[k].shape = &own[k];
        }
        shape->part = part;
    }
    return TALUS_OK;
}
