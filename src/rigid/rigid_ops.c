// SPDX-License-Identifier: Apache-2.0
// Rigid bodies as a model: what a step asks of them [theory/schemes].
//
// A body moves freely for (1 − theta) h, to where contacts are looked for; there all impulses of
// the step act on it; and it moves freely for theta h. Free turns (turn.h) keep energy and angular
// momentum in space. So the velocity "before" is (v, y) with y the spin after the first free turn,
// by the vector s; given forces F, torques N and damping rates c give f = M (e^(−c h) (v, y)) + h
// (m g + F, N); and
//     x+ = x + h (theta v+ + (1 − theta) v),    R+ = R exp(s) exp(t),
// where t is the vector of the second, which begins with y+. For a ball s = (1 − theta) h y and t =
// theta h y+.
#include "base/vec3.h"
#include "rigid/rigid.h"
#include "rigid/turn.h"
#include <string.h>

#define RIGID_ROUNDING 1e-15 // of a moment, in units of its arm
enum { RIGID_SPINS = 0x38, RIGID_PLANE = 0x23, RIGID_SPACE = 0x3f };

static const tl_rigid *rigid_of(const tl_model *m) { return (const tl_rigid *)m; }

static void rigid_destroy(tl_model *base) {
    tl_rigid *m = (tl_rigid *)base;
    talus_context *ctx = base->ctx;
    for (int32_t k = 0; k < m->script_count; k++) tl_script_clear(ctx, m->script + k);
    void *const owned[] = {m->x,       m->q,       m->v,      m->spin,   m->own_spin, m->mass,
                           m->weight,  m->inertia, m->swing,  m->extent, m->force,    m->torque,
                           m->damping, m->locked,  m->script, m->motion, m->group,    m->script_of,
                           m->offset,  m->shape_x, m->shape_q};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    tl_free(ctx, m);
}

static int32_t rigid_item_count(const tl_model *m) { return rigid_of(m)->count; }
static int32_t rigid_group_count(const tl_model *m) { return rigid_of(m)->group_count; }

// ---- one body ----------------------------------------------------------------------------------

// Where the unknowns of a body are: linear ones, then spins.
typedef struct rigid_unknowns {
    int linear, spins; // how many
    int axis[6];       // component of each: 0–2 velocity, 3–5 spin
    bool world;        // spins in the world's frame
    bool round;        // because all moments are alike: M is a number there, too
} rigid_unknowns;

static bool rigid_is_round(const tl_rigid *m, int32_t i) {
    const double *j = m->inertia + 3 * (int64_t)i;
    return m->dim == 3 && j[0] == j[1] && j[1] == j[2];
}

static rigid_unknowns rigid_get_unknowns(const tl_rigid *m, int32_t i) {
    const unsigned mask = tl_rigid_mask(m, i);
    rigid_unknowns u = {0};
    for (int k = 0; k < 6; k++) {
        if (!(mask & (1U << k))) continue;
        u.axis[u.linear + u.spins] = k;
        if (k < 3)
            u.linear++;
        else
            u.spins++;
    }
    u.round = rigid_is_round(m, i);
    u.world = m->dim == 2 || u.round || (u.spins > 0 && u.spins < 3);
    return u;
}

// Inertia in the world's frame, J_w = R J Rᵀ, rows in a row; in 2D only its last entry counts.
static void rigid_world_inertia(const tl_rigid *m, int32_t i, double out[9]) {
    const double *j = m->inertia + 3 * (int64_t)i, *q = m->q + 4 * (int64_t)i;
    double axis[3][3];
    if (m->dim == 2 || rigid_is_round(m, i)) {
        for (int k = 0; k < 9; k++) out[k] = k % 4 == 0 ? j[2] : 0.0;
        return;
    }
    for (int k = 0; k < 3; k++) {
        const double e[3] = {k == 0, k == 1, k == 2};
        tl_rotate(q, e, axis[k]);
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            out[3 * a + b] = j[0] * axis[0][a] * axis[0][b] + j[1] * axis[1][a] * axis[1][b] +
                             j[2] * axis[2][a] * axis[2][b];
}

// Mass block of a body, dense.
static void rigid_block(const tl_rigid *m, int32_t i, const rigid_unknowns *u, double *block) {
    const int size = u->linear + u->spins;
    double j[9] = {0};
    if (u->world && u->spins > 0) rigid_world_inertia(m, i, j);
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++) {
            double *e = block + a * size + b;
            if (a < u->linear || b < u->linear)
                *e = a == b ? m->mass[i] : 0.0;
            else if (u->world)
                *e = j[3 * (u->axis[a] - 3) + u->axis[b] - 3];
            else
                *e = a == b ? m->inertia[3 * (int64_t)i + u->axis[a] - 3] : 0.0;
        }
}

// x ← A⁻¹ x for two spins in the world's frame.
static void rigid_solve_spins(const double a[4], double x[2]) {
    const double det = a[0] * a[3] - a[1] * a[2], y = x[0];
    x[0] = (a[3] * x[0] - a[1] * x[1]) / det;
    x[1] = (a[0] * x[1] - a[2] * y) / det;
}

// Velocity before the impulses, as unknowns.
static void rigid_before(const tl_rigid *m, int32_t i, const rigid_unknowns *u, const tl_step *step,
                         double *v) {
    const int64_t at = 3 * (int64_t)i;
    const double h = step->h;
    double spin[3], turn[3];
    for (int k = 0; k < u->linear; k++) v[k] = m->v[at + u->axis[k]];
    if (!u->world) {
        tl_turn_free(m->inertia + at, m->own_spin + at, h * (1.0 - step->theta), spin, turn);
        for (int k = 0; k < u->spins; k++) v[u->linear + k] = spin[u->axis[u->linear + k] - 3];
        return;
    }
    for (int k = 0; k < u->spins; k++) v[u->linear + k] = m->spin[at + u->axis[u->linear + k] - 3];
    if (u->spins < 2 || u->round) return; // there is no gyroscopic torque
    double own[3], torque[3], x[2], j[9], block[4];
    for (int k = 0; k < 3; k++) own[k] = m->inertia[at + k] * m->own_spin[at + k];
    tl_cross3(own, m->own_spin + at, torque);
    tl_rotate(m->q + 4 * (int64_t)i, torque, torque);
    rigid_world_inertia(m, i, j);
    for (int a = 0; a < 2; a++) {
        x[a] = h * torque[u->axis[u->linear + a] - 3];
        for (int b = 0; b < 2; b++)
            block[2 * a + b] = j[3 * (u->axis[u->linear + a] - 3) + u->axis[u->linear + b] - 3];
    }
    rigid_solve_spins(block, x);
    for (int k = 0; k < 2; k++) v[u->linear + k] += x[k];
}

// The orientation of a free body where the impulses act.
static void rigid_kick(const tl_rigid *m, int32_t i, const rigid_unknowns *u, const tl_step *step,
                       double q[4]) {
    const int64_t at = 3 * (int64_t)i;
    const double part = step->h * (1.0 - step->theta);
    double vector[3], spin[3], turn[4];
    memmove(q, m->q + 4 * (int64_t)i, 4 * sizeof *q); // q may be the body's own
    if (part == 0.0) return;
    if (u->world)
        tl_scale3(part, m->own_spin + at, vector);
    else
        tl_turn_free(m->inertia + at, m->own_spin + at, part, spin, vector);
    tl_quat_exp(vector, turn);
    tl_quat_mul(q, turn, q);
    tl_quat_normalise(q);
}

// Impulse of the given forces other than gravity over a step: force, torque, damping, where
// `momentum` is M v.
static void rigid_impulse(const tl_rigid *m, int32_t i, const rigid_unknowns *u,
                          const tl_step *step, const double *momentum, double *out) {
    const int64_t at = 3 * (int64_t)i;
    const double h = step->h;
    const double *rate = m->damping ? m->damping + 2 * (int64_t)i : NULL;
    double torque[3] = {0};
    if (m->torque) {
        tl_copy3(m->torque + at, torque);
        double q[4];
        rigid_kick(m, i, u, step, q);
        if (!u->world) tl_rotate_back(q, torque, torque);
    }
    for (int k = 0; k < u->linear + u->spins; k++) {
        const int axis = u->axis[k];
        const double force = axis >= 3 ? torque[axis - 3] : m->force ? m->force[at + axis] : 0.0;
        out[k] = h * force;
        if (rate) out[k] += expm1(-rate[axis >= 3] * h) * momentum[k];
    }
}

// ---- the step ----------------------------------------------------------------------------------

// Given acceleration of a body's centre and its angular acceleration, at most.
static void rigid_acceleration(const tl_rigid *m, int32_t i, const tl_step *step, double *linear,
                               double *angular) {
    double a[3];
    tl_copy3(step->gravity, a);
    *angular = 0.0;
    if (m->force) {
        const double *j = m->inertia + 3 * (int64_t)i;
        tl_axpy3(a, 1.0 / m->mass[i], m->force + 3 * (int64_t)i, a);
        *angular = tl_norm3(m->torque + 3 * (int64_t)i) / fmin(j[0], fmin(j[1], j[2]));
    }
    *linear = tl_norm3(a);
}

static double rigid_step_limit(const tl_model *base, const tl_step *step, double max_move) {
    const tl_rigid *m = rigid_of(base);
    double h = step->h;
    for (int32_t i = 0; i < m->count; i++) {
        if (m->mass[i] == 0.0) continue;
        double linear, angular;
        rigid_acceleration(m, i, step, &linear, &angular);
        const double v =
            tl_norm3(m->v + 3 * (int64_t)i) + m->swing[i] * tl_norm3(m->spin + 3 * (int64_t)i);
        const double a = linear + m->swing[i] * angular;
        // the root of h (v + h a) = max_move, in the form that does not cancel
        const double root = 2.0 * max_move / (v + sqrt(v * v + 4.0 * a * max_move));
        if (root < h) h = root;
    }
    return h;
}

// How far the free bodies are from a point at most: contacts of an unbounded body are no farther.
static double rigid_farthest(const tl_rigid *m, const double from[3]) {
    double most = 0.0;
    for (int32_t i = 0; i < m->count; i++) {
        if (m->mass[i] == 0.0) continue;
        double d[3];
        tl_sub3(m->x + 3 * (int64_t)i, from, d);
        most = fmax(most, tl_norm3(d) + m->extent[i]);
    }
    return most;
}

static double rigid_speed(const tl_model *base, const tl_step *step, bool slip) {
    const tl_rigid *m = rigid_of(base);
    const double *lever = slip ? m->extent : m->swing;
    double most = 0.0;
    for (int32_t i = 0; i < m->count; i++) {
        if (m->mass[i] > 0.0) {
            double linear, angular;
            rigid_acceleration(m, i, step, &linear, &angular);
            const double v = tl_norm3(m->v + 3 * (int64_t)i) + step->h * linear;
            const double w = tl_norm3(m->spin + 3 * (int64_t)i) + step->h * angular;
            most = fmax(most, v + lever[i] * w);
        } else if (m->script_of[i] >= 0) {
            tl_script s = m->script[m->script_of[i]];
            tl_script_step(&s, step->time, step->h);
            const double spin = tl_norm3(s.spin);
            const double away = m->offset ? tl_norm3(m->offset[i].x) : 0.0;
            double speed = tl_norm3(s.velocity);
            if (spin > 0.0)
                speed += spin * (isfinite(lever[i]) ? lever[i] + away
                                                    : rigid_farthest(m, m->x + 3 * (int64_t)i));
            most = fmax(most, speed);
        }
    }
    return most;
}

static void rigid_renumber(tl_rigid *m) {
    m->group_count = 0;
    for (int32_t i = 0; i < m->count; i++)
        m->group[i] = tl_rigid_is_immovable(m, i) ? -1 : m->group_count++;
    m->renumber = false;
}

static talus_status rigid_place(tl_model *base, const tl_step *step, tl_pose *pose) {
    tl_rigid *m = (tl_rigid *)base;
    if (m->renumber) rigid_renumber(m);
    tl_rigid_run_scripts(m, step->time, step->h);
    const double part = step->h * (1.0 - step->theta);
    for (int32_t i = 0; i < m->count; i++) {
        const double *x = m->x + 3 * (int64_t)i, *q = m->q + 4 * (int64_t)i;
        if (m->script_of[i] >= 0) {
            tl_rigid_script_pose(m, i, step->time + part, pose[i].x, pose[i].q);
            continue;
        }
        tl_copy3(x, pose[i].x);
        memcpy(pose[i].q, q, sizeof pose[i].q);
        if (part == 0.0 || m->group[i] < 0) continue;
        const rigid_unknowns u = rigid_get_unknowns(m, i);
        tl_axpy3(x, part, m->v + 3 * (int64_t)i, pose[i].x);
        rigid_kick(m, i, &u, step, pose[i].q);
    }
    return TALUS_OK;
}

static void rigid_groups(const tl_model *base, int32_t *size, int32_t *group_of) {
    const tl_rigid *m = rigid_of(base);
    for (int32_t i = 0; i < m->count; i++) {
        group_of[i] = m->group[i];
        if (m->group[i] < 0) continue;
        const rigid_unknowns u = rigid_get_unknowns(m, i);
        size[m->group[i]] = u.linear + u.spins;
    }
}

static bool rigid_is_diagonal(const tl_model *base) {
    const tl_rigid *m = rigid_of(base);
    if (m->dim == 2 || !m->locked) return true;
    for (int32_t i = 0; i < m->count; i++) {
        const rigid_unknowns u = rigid_get_unknowns(m, i);
        if (m->group[i] >= 0 && u.world && !u.round) return false;
    }
    return true;
}

static void rigid_motion(const tl_model *base, const tl_step *step, bool diagonal, double *mass,
                         double *f, double *v) {
    const tl_rigid *m = rigid_of(base);
    for (int32_t i = 0; i < m->count; i++) {
        if (m->group[i] < 0) continue;
        const rigid_unknowns u = rigid_get_unknowns(m, i);
        const int size = u.linear + u.spins;
        double block[36], impulse[6];
        rigid_block(m, i, &u, block);
        rigid_before(m, i, &u, step, v);
        for (int a = 0; a < size; a++) {
            f[a] = 0.0;
            for (int b = 0; b < size; b++) f[a] += block[a * size + b] * v[b];
        }
        rigid_impulse(m, i, &u, step, f, impulse);
        for (int a = 0; a < size; a++) {
            f[a] += impulse[a];
            if (a < u.linear) f[a] += step->h * m->mass[i] * step->gravity[u.axis[a]];
        }
        if (diagonal)
            for (int a = 0; a < size; a++) *mass++ = block[a * size + a];
        else
            for (int a = 0; a < size * size; a++) *mass++ = block[a];
        f += size;
        v += size;
    }
}

// Rows of a body all of whose components are free: along d they are (d, arm × d), the second in
// the body's frame in 3D, unless that is round. A contact does not turn a ball about its normal,
// not even by rounding: solvers without friction can then leave the spins of balls out.
static void rigid_row_free(const tl_rigid *m, int32_t item, const tl_pose *pose,
                           const double arm[3], const double *direction, int32_t count,
                           double *out) {
    const bool turned = !rigid_is_round(m, item);
    const double none = m->swing[item] == 0.0 ? RIGID_ROUNDING * tl_norm3(arm) : 0.0;
    for (int32_t k = 0; k < count; k++) {
        const double *d = direction + 3 * k;
        double moment[3];
        tl_cross3(arm, d, moment);
        for (int e = 0; e < 3; e++)
            if (fabs(moment[e]) <= none) moment[e] = 0.0;
        if (m->dim == 2) {
            out[0] += d[0];
            out[1] += d[1];
            out[2] += moment[2];
            out += 3;
        } else {
            if (turned) tl_rotate_back(pose->q, moment, moment);
            for (int e = 0; e < 3; e++) {
                out[e] += d[e];
                out[e + 3] += moment[e];
            }
            out += 6;
        }
    }
}

static void rigid_row(const tl_model *base, const tl_step *step, int32_t item, const tl_pose *pose,
                      const double arm[3], const double *direction, int32_t count, double *out) {
    const tl_rigid *m = rigid_of(base);
    if (m->group[item] < 0) {
        double v[3] = {0};
        if (m->script_of[item] >= 0) tl_rigid_script_velocity(m, item, step->h, pose->q, arm, v);
        for (int32_t k = 0; k < count; k++) out[k] += tl_dot3(direction + 3 * k, v);
        return;
    }
    if (!m->locked) {
        rigid_row_free(m, item, pose, arm, direction, count, out);
        return;
    }
    const rigid_unknowns u = rigid_get_unknowns(m, item);
    for (int32_t k = 0; k < count; k++) {
        double full[6];
        tl_copy3(direction + 3 * k, full);
        tl_cross3(arm, full, full + 3);
        if (!u.world) tl_rotate_back(pose->q, full + 3, full + 3);
        for (int e = 0; e < u.linear + u.spins; e++) *out++ += full[u.axis[e]];
    }
}

static void rigid_turn(const tl_model *base, const tl_step *step, int32_t item, const tl_pose *pose,
                       const double *direction, int32_t count, double *out) {
    const tl_rigid *m = rigid_of(base);
    (void)step;
    if (m->group[item] < 0) {
        for (int32_t k = 0; m->script_of[item] >= 0 && k < count; k++)
            out[k] += tl_dot3(direction + 3 * k, m->script[m->script_of[item]].spin);
        return;
    }
    const rigid_unknowns u = rigid_get_unknowns(m, item);
    for (int32_t k = 0; k < count; k++) {
        double full[6] = {0};
        if (u.world)
            tl_copy3(direction + 3 * k, full + 3);
        else
            tl_rotate_back(pose->q, direction + 3 * k, full + 3);
        for (int e = 0; e < u.linear + u.spins; e++) *out++ += full[u.axis[e]];
    }
}

static double rigid_work(const tl_model *base, const tl_step *step, const double *before,
                         const double *after) {
    const tl_rigid *m = rigid_of(base);
    double sum = 0.0;
    if (!m->force && !m->damping) return sum;
    for (int32_t i = 0; i < m->count; i++) {
        if (m->group[i] < 0) continue;
        const rigid_unknowns u = rigid_get_unknowns(m, i);
        const int size = u.linear + u.spins;
        double block[36], momentum[6], impulse[6];
        rigid_block(m, i, &u, block);
        for (int a = 0; a < size; a++) {
            momentum[a] = 0.0;
            for (int b = 0; b < size; b++) momentum[a] += block[a * size + b] * before[b];
        }
        rigid_impulse(m, i, &u, step, momentum, impulse);
        for (int a = 0; a < size; a++)
            sum += impulse[a] * (step->theta * after[a] + (1.0 - step->theta) * before[a]);
        before += size;
        after += size;
    }
    return sum;
}

// New pose and velocity of one free body.
static void rigid_commit_body(tl_rigid *m, int32_t i, const rigid_unknowns *u, const tl_step *step,
                              const double *next) {
    const int64_t at = 3 * (int64_t)i;
    const double h = step->h;
    double *q = m->q + 4 * (int64_t)i, rotation[4], turn[3] = {0};
    for (int k = 0; k < u->linear; k++) {
        const int axis = u->axis[k];
        m->x[at + axis] += h * (step->theta * next[k] + (1.0 - step->theta) * m->v[at + axis]);
        m->v[at + axis] = next[k];
    }
    if (u->spins == 0) return;
    if (!u->world) {
        rigid_kick(m, i, u, step, q);
        tl_turn_free(m->inertia + at, next + u->linear, h * step->theta, m->own_spin + at, turn);
        tl_quat_exp(turn, rotation);
        tl_quat_mul(q, rotation, q);
        tl_quat_normalise(q);
        tl_rotate(q, m->own_spin + at, m->spin + at);
        return;
    }
    rigid_kick(m, i, u, step, q);
    for (int k = u->linear; k < u->linear + u->spins; k++) {
        const int axis = u->axis[k] - 3;
        turn[axis] = h * step->theta * next[k];
        m->spin[at + axis] = next[k];
    }
    tl_quat_exp(turn, rotation);
    tl_quat_mul(rotation, q, q);
    tl_quat_normalise(q);
    tl_rotate_back(q, m->spin + at, m->own_spin + at);
}

static void rigid_commit(tl_model *base, const tl_step *step, const double *v) {
    tl_rigid *m = (tl_rigid *)base;
    for (int32_t i = 0; i < m->count; i++) {
        if (m->group[i] < 0) continue;
        const rigid_unknowns u = rigid_get_unknowns(m, i);
        rigid_commit_body(m, i, &u, step, v);
        v += u.linear + u.spins;
    }
    tl_rigid_commit_scripts(m, step->h);
}

static void rigid_account(const tl_model *base, const double gravity[3], tl_account *add) {
    const tl_rigid *m = rigid_of(base);
    for (int32_t i = 0; i < m->count; i++) {
        if (m->mass[i] == 0.0) continue;
        const int64_t at = 3 * (int64_t)i;
        const double *w = m->own_spin + at, *v = m->v + at, *j = m->inertia + at;
        double own[3], moment[3];
        for (int k = 0; k < 3; k++) own[k] = j[k] * w[k];
        add->kinetic += 0.5 * (m->mass[i] * tl_dot3(v, v) + tl_dot3(own, w));
        add->potential -= m->mass[i] * tl_dot3(gravity, m->x + at);
        tl_cross3(m->x + at, v, moment);
        tl_rotate(m->q + 4 * (int64_t)i, own, own);
        for (int k = 0; k < 3; k++) {
            add->momentum[k] += m->mass[i] * v[k];
            add->angular[k] += m->mass[i] * moment[k] + own[k];
        }
        add->bodies++;
    }
}

static uint64_t rigid_hash(const tl_model *base, uint64_t seed) {
    const tl_rigid *m = rigid_of(base);
    const size_t n = (size_t)m->count;
    seed = talus_hash(&m->count, sizeof m->count, seed);
    const double *const three[] = {m->x,       m->v,     m->spin,  m->own_spin,
                                   m->inertia, m->force, m->torque};
    for (size_t k = 0; k < sizeof three / sizeof *three; k++)
        if (three[k]) seed = talus_hash(three[k], 3 * n * sizeof(double), seed);
    seed = talus_hash(m->q, 4 * n * sizeof(double), seed);
    seed = talus_hash(m->mass, n * sizeof(double), seed);
    seed = talus_hash(m->motion, n * sizeof(int32_t), seed);
    if (m->damping) seed = talus_hash(m->damping, 2 * n * sizeof(double), seed);
    if (m->locked) seed = talus_hash(m->locked, 6 * n * sizeof(bool), seed);
    for (size_t i = 0; i < n; i++)
        if (m->script_of[i] >= 0) seed = tl_script_hash(m->script + m->script_of[i], seed);
    return seed;
}

const tl_model_ops tl_rigid_ops = {
    .name = "rigid",
    .destroy = rigid_destroy,
    .item_count = rigid_item_count,
    .step_limit = rigid_step_limit,
    .speed = rigid_speed,
    .place = rigid_place,
    .group_count = rigid_group_count,
    .groups = rigid_groups,
    .is_diagonal = rigid_is_diagonal,
    .motion = rigid_motion,
    .row = rigid_row,
    .turn = rigid_turn,
    .work = rigid_work,
    .commit = rigid_commit,
    .account = rigid_account,
    .hash = rigid_hash,
};
