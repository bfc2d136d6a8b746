// SPDX-License-Identifier: Apache-2.0
#include "support/springs.h"
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void rig_create(rig *r, talus_context *context, talus_penalty law, talus_integrator integrator) {
    memset(r, 0, sizeof *r);
    r->ctx = context;
    r->def = (tl_springs_def){.law = law, .integrator = integrator};
    r->b = (tl_springs_bodies){.position = r->position,
                               .orientation = r->orientation,
                               .velocity = r->velocity,
                               .spin = r->spin,
                               .mass = r->mass,
                               .inertia = r->inertia,
                               .motion = r->motion,
                               .force = r->force,
                               .torque = r->torque,
                               .damping = r->damping,
                               .locked = r->locked,
                               .material = r->material,
                               .curvature = r->curvature};
    r->pair = (talus_material_def){.friction = 0.5,
                                   .restitution = 1.0,
                                   .stiffness = 1e4,
                                   .damping = -1.0,
                                   .young = 1e7,
                                   .poisson = 0.3,
                                   .tangential = 2.0 / 7.0};
    r->threads = 1;
}

void rig_destroy(rig *r) {
    tl_springs_destroy(r->s);
    r->s = NULL;
}

int32_t rig_add_ball(rig *r, double radius, double mass, const double x[3], const double v[3]) {
    const int32_t i = r->count++;
    assert_true(i < RIG_BODIES);
    tl_copy3(x, r->position + 3 * i);
    tl_copy3(v, r->velocity + 3 * i);
    tl_copy3(v, r->motion + 6 * i);
    r->orientation[4 * i] = 1.0;
    r->mass[i] = mass;
    for (int k = 0; k < 3; k++) r->inertia[3 * i + k] = 0.4 * mass * radius * radius;
    r->radius[i] = radius;
    r->curvature[i] = 1.0 / radius;
    r->b.count = r->count;
    return i;
}

int32_t rig_add_plane(rig *r, const double x[3], const double normal[3]) {
    const double rest[3] = {0};
    const int32_t i = rig_add_ball(r, 1.0, 0.0, x, rest);
    r->radius[i] = r->curvature[i] = 0.0;
    tl_scale3(1.0 / tl_norm3(normal), normal, r->normal + 3 * i);
    return i;
}

// Signed distance of a and b with the normal from b to a; false for two planes.
static bool rig_pair(const rig *r, const tl_pose *pose, int32_t a, int32_t b, tl_touch *t) {
    if ((r->mass[a] == 0.0 && r->mass[b] == 0.0) || (r->radius[a] == 0.0 && r->radius[b] == 0.0)) {
        return false;
    }
    *t = (tl_touch){.a = a, .b = b};
    double d[3], foot[3];
    tl_sub3(pose[a].x, pose[b].x, d);
    if (r->radius[a] > 0.0 && r->radius[b] > 0.0) {
        const double distance = tl_norm3(d);
        t->gap = distance - r->radius[a] - r->radius[b];
        tl_scale3(1.0 / distance, d, t->normal);
        tl_scale3(-r->radius[a], t->normal, t->arm_a);
        tl_scale3(r->radius[b], t->normal, t->arm_b);
        return true;
    }
    const bool flat_a = r->radius[a] == 0.0;
    const int32_t plane = flat_a ? a : b, ball = flat_a ? b : a;
    const double *n = r->normal + 3 * plane, sign = flat_a ? -1.0 : 1.0;
    const double height = sign * tl_dot3(d, n);
    t->gap = height - r->radius[ball];
    tl_scale3(sign, n, t->normal);
    tl_scale3(-r->radius[ball], n, flat_a ? t->arm_b : t->arm_a);
    tl_sub3(pose[ball].x, pose[plane].x, foot);
    tl_axpy3(foot, -height, n, flat_a ? t->arm_a : t->arm_b);
    return true;
}

static void rig_detect(rig *r, const tl_pose *pose) {
    double speed = 0.0;
    for (int32_t i = 0; i < r->count; i++) speed = fmax(speed, tl_norm3(r->velocity + 3 * i));
    r->touches = 0;
    for (int32_t a = 0; a < r->count; a++) {
        for (int32_t b = a + 1; b < r->count; b++) {
            tl_touch t;
            if (!rig_pair(r, pose, a, b, &t) || t.gap > 2.0 * speed * r->h) continue;
            assert_true(r->touches < RIG_TOUCHES);
            r->touch[r->touches++] = t;
        }
    }
}

talus_status rig_try(rig *r) {
    tl_pose pose[RIG_BODIES];
    if (r->s == NULL) {
        const talus_status created = tl_springs_create(r->ctx, &r->def, &r->s);
        if (created != TALUS_OK) return created;
    }
    for (int32_t i = 0; i < r->count; i++) { // given motions are straight
        tl_axpy3(r->position + 3 * i, tl_springs_when(r->s) * r->h, r->motion + 6 * i, pose[i].x);
        memcpy(pose[i].q, r->orientation + 4 * i, sizeof pose[i].q);
    }
    talus_status status = tl_springs_place(r->s, &r->b, r->h, r->gravity, pose);
    if (status != TALUS_OK) return status;
    rig_detect(r, pose);
    tl_springs_step_def step = {.h = r->h, .pair = &r->pair, .materials = 1, .threads = r->threads};
    tl_copy3(r->gravity, step.gravity);
    status = tl_springs_step(r->s, &r->b, &step, r->touch, r->touches, &r->info);
    if (status != TALUS_OK) return status;
    for (int32_t i = 0; i < r->count; i++) {
        if (r->mass[i] != 0.0) continue;
        tl_axpy3(r->position + 3 * i, r->h, r->motion + 6 * i, r->position + 3 * i);
    }
    r->impact += r->info.loss_impact;
    r->friction += r->info.loss_friction;
    r->obstacles += r->info.work_obstacles;
    r->forces += r->info.work_forces;
    r->time += r->h;
    return TALUS_OK;
}

void rig_step(rig *r) {
    const talus_status status = rig_try(r);
    if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(r->ctx));
}

double rig_kinetic(const rig *r) {
    double sum = 0.0;
    for (int32_t i = 0; i < r->count; i++) {
        const double *v = r->velocity + 3 * i, *w = r->spin + 3 * i, *j = r->inertia + 3 * i;
        if (r->mass[i] == 0.0) continue;
        sum += 0.5 * r->mass[i] * tl_dot3(v, v);
        for (int k = 0; k < 3; k++) sum += 0.5 * j[k] * w[k] * w[k];
    }
    return sum;
}

double rig_energy(const rig *r) {
    double sum = rig_kinetic(r) + r->info.elastic;
    for (int32_t i = 0; i < r->count; i++) {
        sum -= r->mass[i] * tl_dot3(r->gravity, r->position + 3 * i);
    }
    return sum;
}

void rig_momentum(const rig *r, double linear[3], double angular[3]) {
    for (int k = 0; k < 3; k++) linear[k] = angular[k] = 0.0;
    for (int32_t i = 0; i < r->count; i++) {
        double p[3], l[3], own[3];
        tl_scale3(r->mass[i], r->velocity + 3 * i, p);
        tl_cross3(r->position + 3 * i, p, l);
        for (int k = 0; k < 3; k++) own[k] = r->inertia[3 * i + k] * r->spin[3 * i + k];
        tl_rotate(r->orientation + 4 * i, own, own);
        for (int k = 0; k < 3; k++) {
            linear[k] += p[k];
            angular[k] += l[k] + own[k];
        }
    }
}

void rig_near(double value, double expected, double tolerance, int line) {
    if (fabs(value - expected) <= tolerance) return;
    fail_msg("line %d: %.17g is not %.17g to %g", line, value, expected, tolerance);
}
