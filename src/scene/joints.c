// SPDX-License-Identifier: Apache-2.0
// Joints of a scene: bodies by name or number, and what their keys need of each other.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *joints_body_name(const void *user, int32_t k) {
    const talus_scene *s = user;
    for (int32_t i = 0; i < s->single_count; i++)
        if (s->source[i].name[0] && k-- == 0) return s->source[i].name;
    return NULL;
}

talus_status tl_scene_find_body(const talus_scene *s, const tl_node *node, const char *text,
                                int32_t *out) {
    int32_t found = -1;
    for (int32_t k = 0; k < s->single_count; k++) {
        if (strcmp(s->source[k].name, text) != 0) continue;
        if (found >= 0) {
            return tl_node_fail(&s->doc, node, "'%s' is the name of bodies.%d and of bodies.%d",
                                text, (int)found, (int)k);
        }
        found = k;
    }
    if (found < 0 && text[0] >= '0' && text[0] <= '9') {
        char *end;
        const long number = strtol(text, &end, 10);
        if (*end == '\0' && number < s->single_count) found = (int32_t)number;
        if (*end == '\0' && found < 0) {
            return tl_node_fail(&s->doc, node, "there is no bodies.%s; 'bodies' has %d entries",
                                text, (int)s->single_count);
        }
    }
    if (found < 0) {
        return tl_scene_fail_name(&s->doc, node, text, "the name of a body", joints_body_name, s);
    }
    *out = found;
    return TALUS_OK;
}

static talus_status joints_axis(const talus_scene *s, const tl_scene_joint *keys,
                                talus_joint_def *def) {
    const tl_node *node = tl_node_find(keys->node, "axis");
    if (!node) return TALUS_OK;
    if (s->dim == 2 && def->kind == TALUS_JOINT_HINGE) {
        return tl_node_fail(&s->doc, node, "in 2D the axis of a hinge is always z; leave it out");
    }
    const double n = tl_norm3(keys->axis);
    if (!(n > 0.0) || !isfinite(n)) return tl_node_fail(&s->doc, node, "must not be zero");
    tl_copy3(keys->axis, def->axis);
    return TALUS_OK;
}

// A motor: a speed without a limit is given; a limit without a speed is friction.
static void joints_motor(const tl_scene_joint *keys, talus_joint_def *def) {
    const bool hinge = def->kind == TALUS_JOINT_HINGE;
    const bool driven = tl_node_find(keys->node, hinge ? "spin" : "speed") != NULL;
    const bool limited = tl_node_find(keys->node, hinge ? "torque" : "force") != NULL;
    def->speed = hinge ? keys->spin : keys->speed;
    def->limit = limited ? (hinge ? keys->torque : keys->force) : driven ? INFINITY : 0.0;
    const struct {
        const char *key;
        double value, *to;
    } stop[] = {
        {hinge ? "min_angle" : "min_shift", hinge ? keys->min_angle : keys->min_shift, &def->low},
        {hinge ? "max_angle" : "max_shift", hinge ? keys->max_angle : keys->max_shift, &def->high}};
    for (int k = 0; k < 2; k++)
        if (tl_node_find(keys->node, stop[k].key)) *stop[k].to = stop[k].value;
}

static talus_status joints_check(const talus_scene *s, const tl_scene_joint *keys,
                                 talus_joint_def *def) {
    const tl_node *b = tl_node_find(keys->node, "b");
    *def = talus_joint_default();
    def->kind = (talus_joint_kind)keys->type;
    TL_TRY(tl_scene_find_body(s, tl_node_find(keys->node, "a"), keys->a, &def->a));
    if (b) TL_TRY(tl_scene_find_body(s, b, keys->b, &def->b));
    if (def->a == def->b) return tl_node_fail(&s->doc, b, "is the same body as a");
    tl_copy3(s->source[def->a].single->at, def->anchor);
    if (def->b >= 0) tl_copy3(s->source[def->b].single->at, def->anchor_b);
    if (tl_node_find(keys->node, "anchor")) tl_copy3(keys->anchor, def->anchor);
    if (tl_node_find(keys->node, "anchor_b")) tl_copy3(keys->anchor_b, def->anchor_b);
    def->length = keys->length;
    def->collide = keys->collide;
    TL_TRY(joints_axis(s, keys, def));
    if (def->kind == TALUS_JOINT_HINGE || def->kind == TALUS_JOINT_SLIDER) joints_motor(keys, def);
    return TALUS_OK;
}

talus_status tl_scene_check_joints(talus_scene *s) {
    const tl_scene_joint *keys = s->keys.joints.data;
    s->joint_count = s->keys.joints.count;
    if (s->joint_count > 0 && s->keys.scheme == TALUS_SCHEME_PENALTY) {
        return tl_node_fail_key(&s->doc, tl_node_find(s->doc.root, "joints"),
                                "the scheme 'penalty' has no joints");
    }
    TL_TRY(TL_TAKE(&s->arena, s->joint_count, &s->joint));
    for (int32_t k = 0; k < s->joint_count; k++) TL_TRY(joints_check(s, keys + k, s->joint + k));
    return TALUS_OK;
}

bool tl_scene_is_joined(const talus_scene *s, int32_t a, int32_t b) {
    for (int32_t k = 0; k < s->joint_count; k++) {
        const talus_joint_def *j = s->joint + k;
        if (!j->collide && ((j->a == a && j->b == b) || (j->a == b && j->b == a))) return true;
    }
    return false;
}

talus_status tl_scene_add_joints(const talus_scene *s, talus_world *w) {
    const tl_scene_joint *keys = s->keys.joints.data;
    for (int32_t k = 0; k < s->joint_count; k++) {
        if (talus_world_add_joint(w, s->joint + k, NULL) == TALUS_OK) continue;
        char reason[600];
        (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
        return tl_node_fail(&s->doc, keys[k].node, "%s", reason);
    }
    return TALUS_OK;
}
