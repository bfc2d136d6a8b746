// SPDX-License-Identifier: Apache-2.0
// Motion of the bodies in the penalty scheme [theory/penalty (P9), (P10)].
//
// Leap-frog, written as drift-kick-drift:
//     x½ = x + h/2 v,    v+ = v + h F(x½, v) / m,    x+ = x½ + h/2 v+
// so that velocities stand midway between the poses of evaluation and the damping force takes the
// velocity half a step before. Rotations drift as free tops (turn.h), which keeps angular momentum
// and energy exactly; the kick changes the momentum by h times the torque. Body damping of rate γ
// is implicit in the mean velocity: stable for any γ.
//
// Predictor-corrector (Gear, four values):
//     predict x, v, a by Taylor's formula with b = x''';  D = F(x, v)/m − a
//     x += 1/6 h²/2 D,    v += 5/6 h/2 D,    a += D,    b += 1/3 3/h D
// Spins in the body's frame take the part of v, with I ω' = τ − ω × I ω; orientations turn by the
// vector of the Magnus series, h ω + h²/2 α + h³/6 β + h³/12 ω × α, and are corrected like x.
#include "rigid/penalty_impl.h"
#include "rigid/turn.h"

static bool motion_is_locked(const tl_springs_bodies *bodies, int64_t i) {
    if (bodies->locked == NULL) return false;
    const bool *lock = bodies->locked + 6 * i + 3;
    return lock[0] || lock[1] || lock[2];
}

// Inertia in the world's frame times a vector.
static void motion_inertia(const double inertia[3], const double q[4], const double w[3],
                           double out[3]) {
    double body[3];
    tl_rotate_back(q, w, body);
    for (int k = 0; k < 3; k++) body[k] *= inertia[k];
    tl_rotate(q, body, out);
}

// Solve J w = l for the components that are not locked, the others 0 (world's frame).
static void motion_solve_locked(const double inertia[3], const double q[4], const bool lock[3],
                                const double l[3], double w[3]) {
    double j[3][3], b[3];
    for (int c = 0; c < 3; c++) {
        const double unit[3] = {c == 0, c == 1, c == 2};
        motion_inertia(inertia, q, unit, j[c]); // symmetric: column c is row c
    }
    for (int r = 0; r < 3; r++) {
        b[r] = l[r];
        if (!lock[r]) continue;
        for (int c = 0; c < 3; c++) j[r][c] = j[c][r] = 0.0;
        j[r][r] = 1.0, b[r] = 0.0;
    }
    double x[3], y[3], z[3]; // rows of the adjugate
    tl_cross3(j[1], j[2], x);
    tl_cross3(j[2], j[0], y);
    tl_cross3(j[0], j[1], z);
    const double det = tl_dot3(j[0], x);
    for (int k = 0; k < 3; k++) w[k] = (b[0] * x[k] + b[1] * y[k] + b[2] * z[k]) / det;
    for (int k = 0; k < 3; k++) {
        if (lock[k]) w[k] = 0.0;
    }
}

// Turn for dt from (q, spin); a body that is partly held keeps its spin in the world's frame.
static void motion_drift(const tl_springs_bodies *bodies, int64_t i, double dt, double q[4],
                         double spin[3]) {
    double world[3], angle[3], part[4];
    if (!motion_is_locked(bodies, i)) {
        tl_turn_free(bodies->inertia + 3 * i, spin, dt, spin, angle);
        tl_quat_exp(angle, part);
        tl_quat_mul(q, part, q);
        tl_quat_normalise(q);
        return;
    }
    tl_rotate(q, spin, world);
    tl_scale3(dt, world, angle);
    tl_quat_exp(angle, part);
    tl_quat_mul(part, q, q);
    tl_quat_normalise(q);
    tl_rotate_back(q, world, spin);
}

// Acceleration by gravity, given force and damping, and the torque likewise (world's frame).
static void motion_given(const tl_springs_bodies *bodies, int64_t i, const double gravity[3],
                         double acceleration[3], double torque[3]) {
    for (int k = 0; k < 3; k++) {
        acceleration[k] = gravity[k];
        if (bodies->force != NULL) acceleration[k] += bodies->force[3 * i + k] / bodies->mass[i];
        torque[k] = bodies->torque != NULL ? bodies->torque[3 * i + k] : 0.0;
    }
}

static void motion_hold(const tl_springs_bodies *bodies, int64_t i, double v[3]) {
    if (bodies->locked == NULL) return;
    for (int k = 0; k < 3; k++) {
        if (bodies->locked[6 * i + k]) v[k] = 0.0;
    }
}

// α in the body's frame from the torque in the world's.
static void motion_angular(const tl_springs_bodies *bodies, int64_t i, const double q[4],
                           const double spin[3], const double torque[3], double alpha[3]) {
    const double *inertia = bodies->inertia + 3 * i;
    const double decay = bodies->damping != NULL ? bodies->damping[2 * i + 1] : 0.0;
    double l[3], gyro[3], t[3];
    for (int k = 0; k < 3; k++) l[k] = inertia[k] * spin[k];
    tl_cross3(spin, l, gyro);
    tl_rotate_back(q, torque, t);
    for (int k = 0; k < 3; k++) t[k] -= gyro[k] + decay * l[k];
    if (motion_is_locked(bodies, i)) {
        double world[3], solved[3];
        tl_rotate(q, t, world);
        motion_solve_locked(inertia, q, bodies->locked + 6 * i + 3, world, solved);
        tl_rotate_back(q, solved, alpha);
        return;
    }
    for (int k = 0; k < 3; k++) alpha[k] = t[k] / inertia[k];
}

// a and α of a body that has just been added or set free: those without contacts.
static void motion_begin(const tl_springs_bodies *bodies, int64_t i, const double gravity[3],
                         tl_gear *g) {
    double torque[3];
    *g = (tl_gear){0}; // begun with the end of its first step
    motion_given(bodies, i, gravity, g->a, torque);
    const double decay = bodies->damping != NULL ? bodies->damping[2 * i] : 0.0;
    tl_axpy3(g->a, -decay, bodies->velocity + 3 * i, g->a);
    motion_hold(bodies, i, g->a);
    motion_angular(bodies, i, bodies->orientation + 4 * i, bodies->spin + 3 * i, torque, g->alpha);
}

static void motion_predict_gear(const tl_springs_bodies *bodies, int64_t i, double h,
                                const tl_gear *g, tl_mover *m) {
    const double *x = bodies->position + 3 * i, *v = bodies->velocity + 3 * i;
    const double *spin = bodies->spin + 3 * i;
    double angle[3], twist[3], part[4];
    tl_cross3(spin, g->alpha, twist);
    for (int k = 0; k < 3; k++) {
        m->x[k] = x[k] + h * (v[k] + h / 2.0 * (g->a[k] + h / 3.0 * g->b[k]));
        m->v[k] = v[k] + h * (g->a[k] + h / 2.0 * g->b[k]);
        angle[k] = h * (spin[k] + h / 2.0 * (g->alpha[k] + h / 3.0 * g->beta[k])) +
                   h * h * h / 12.0 * twist[k];
        m->turn[k] = spin[k] + h * (g->alpha[k] + h / 2.0 * g->beta[k]);
    }
    tl_quat_exp(angle, part);
    tl_quat_mul(bodies->orientation + 4 * i, part, m->q);
    tl_quat_normalise(m->q);
}

void tl_springs_predict(tl_springs *s, const tl_springs_bodies *bodies, double h,
                        const double gravity[3], int64_t begin, int64_t end) {
    const bool gear = s->def.integrator == TALUS_INTEGRATOR_PREDICTOR_CORRECTOR;
    for (int64_t i = begin; i < end; i++) {
        tl_mover *m = &s->mover[i];
        *m = (tl_mover){.q = {1.0}, .q1 = {1.0}};
        if (bodies->mass[i] == 0.0) {
            s->gear[i].begun = false;
            if (bodies->motion == NULL) continue;
            tl_copy3(bodies->motion + 6 * i, m->v), tl_copy3(m->v, m->v1);
            tl_copy3(bodies->motion + 6 * i + 3, m->w), tl_copy3(m->w, m->w1);
        } else if (gear) {
            if (!s->gear[i].begun) motion_begin(bodies, i, gravity, &s->gear[i]);
            motion_predict_gear(bodies, i, h, &s->gear[i], m);
            tl_rotate(m->q, m->turn, m->w);
        } else {
            tl_copy3(bodies->velocity + 3 * i, m->v);
            tl_axpy3(bodies->position + 3 * i, 0.5 * h, m->v, m->x);
            for (int k = 0; k < 4; k++) m->q[k] = bodies->orientation[4 * i + k];
            tl_copy3(bodies->spin + 3 * i, m->turn);
            motion_drift(bodies, i, 0.5 * h, m->q, m->turn);
            tl_rotate(m->q, m->turn, m->w);
        }
    }
}

// Spin after the kick of leap-frog: (1 + γh/2) L+ = (1 − γh/2) L + h τ.
static void motion_kick_spin(const tl_springs_bodies *bodies, int64_t i, double h,
                             const double torque[3], tl_mover *m) {
    const double *inertia = bodies->inertia + 3 * i;
    const double half = bodies->damping != NULL ? 0.5 * h * bodies->damping[2 * i + 1] : 0.0;
    double l[3];
    if (motion_is_locked(bodies, i)) {
        motion_inertia(inertia, m->q, m->w, l);
        for (int k = 0; k < 3; k++) l[k] = ((1.0 - half) * l[k] + h * torque[k]) / (1.0 + half);
        motion_solve_locked(inertia, m->q, bodies->locked + 6 * i + 3, l, m->w1);
        tl_rotate_back(m->q, m->w1, m->turn1);
        return;
    }
    tl_rotate_back(m->q, torque, l);
    for (int k = 0; k < 3; k++) {
        const double moment = inertia[k];
        m->turn1[k] =
            moment > 0.0 ? ((1.0 - half) * m->turn[k] + h * l[k] / moment) / (1.0 + half) : 0.0;
    }
    tl_rotate(m->q, m->turn1, m->w1);
}

// Work of given forces less that of damping, at the mean velocity: exactly their part of the change
// of the kinetic energy over the kick.
static double motion_work(const tl_springs_bodies *bodies, int64_t i, const tl_mover *m,
                          const double v[3], const double w[3]) {
    double work = 0.0, l[3];
    if (bodies->force != NULL) work += tl_dot3(bodies->force + 3 * i, v);
    if (bodies->torque != NULL) work += tl_dot3(bodies->torque + 3 * i, w);
    if (bodies->damping != NULL) {
        motion_inertia(bodies->inertia + 3 * i, m->q, w, l);
        work -= bodies->damping[2 * i] * bodies->mass[i] * tl_dot3(v, v) +
                bodies->damping[2 * i + 1] * tl_dot3(l, w);
    }
    return work;
}

static double motion_kick_leap(const tl_springs_bodies *bodies, int64_t i, double h,
                               const double gravity[3], tl_mover *m) {
    const double half = bodies->damping != NULL ? 0.5 * h * bodies->damping[2 * i] : 0.0;
    double a[3], t[3], v[3], w[3];
    motion_given(bodies, i, gravity, a, t);
    for (int k = 0; k < 3; k++) {
        a[k] += m->f[k] / bodies->mass[i];
        t[k] += m->t[k];
        m->v1[k] = ((1.0 - half) * m->v[k] + h * a[k]) / (1.0 + half);
    }
    motion_hold(bodies, i, m->v1);
    motion_kick_spin(bodies, i, h, t, m);
    for (int k = 0; k < 3; k++) {
        v[k] = 0.5 * (m->v[k] + m->v1[k]);
        w[k] = 0.5 * (m->w[k] + m->w1[k]);
    }
    return h * motion_work(bodies, i, m, v, w);
}

// Correct; returns the power of given forces at the end.
static double motion_kick_gear(const tl_springs_bodies *bodies, int64_t i, double h,
                               const double gravity[3], const tl_gear *g, tl_mover *m,
                               tl_gear *next) {
    const double decay = bodies->damping != NULL ? bodies->damping[2 * i] : 0.0;
    double a[3], t[3], alpha[3], angle[3], part[4];
    motion_given(bodies, i, gravity, a, t);
    for (int k = 0; k < 3; k++) {
        a[k] += m->f[k] / bodies->mass[i] - decay * m->v[k];
        t[k] += m->t[k];
    }
    motion_hold(bodies, i, a);
    motion_angular(bodies, i, m->q, m->turn, t, alpha);
    next->begun = true;
    // The first step of a body knows nothing of forces at contacts that are there from the
    // beginning: it takes the acceleration at its end for the whole of it.
    const double c0 = g->begun ? 1.0 / 6.0 : 1.0, c1 = g->begun ? 5.0 / 6.0 : 2.0;
    const double c3 = g->begun ? 1.0 / 3.0 : 0.0;
    for (int k = 0; k < 3; k++) {
        const double d = a[k] - (g->a[k] + h * g->b[k]);
        const double e = alpha[k] - (g->alpha[k] + h * g->beta[k]);
        m->x1[k] = m->x[k] + c0 * h * h / 2.0 * d;
        m->v1[k] = m->v[k] + c1 * h / 2.0 * d;
        angle[k] = c0 * h * h / 2.0 * e;
        m->turn1[k] = m->turn[k] + c1 * h / 2.0 * e;
        next->a[k] = a[k], next->b[k] = g->b[k] + c3 * 3.0 / h * d;
        next->alpha[k] = alpha[k], next->beta[k] = g->beta[k] + c3 * 3.0 / h * e;
    }
    tl_quat_exp(angle, part);
    tl_quat_mul(m->q, part, m->q1);
    tl_quat_normalise(m->q1);
    motion_hold(bodies, i, m->v1);
    tl_rotate(m->q1, m->turn1, m->w1);
    if (motion_is_locked(bodies, i)) {
        for (int k = 0; k < 3; k++) {
            if (bodies->locked[6 * i + 3 + k]) m->w1[k] = 0.0;
        }
        tl_rotate_back(m->q1, m->w1, m->turn1);
    }
    return motion_work(bodies, i, m, m->v1, m->w1);
}

void tl_springs_kick(tl_springs *s, const tl_springs_bodies *bodies, double h,
                     const double gravity[3], int64_t begin, int64_t end, tl_spring_sum *sum) {
    const bool gear = s->def.integrator == TALUS_INTEGRATOR_PREDICTOR_CORRECTOR;
    for (int64_t i = begin; i < end; i++) {
        tl_mover *m = &s->mover[i];
        s->gear1[i] = (tl_gear){0};
        if (bodies->mass[i] == 0.0) continue;
        const double work =
            gear ? motion_kick_gear(bodies, i, h, gravity, &s->gear[i], m, &s->gear1[i])
                 : motion_kick_leap(bodies, i, h, gravity, m);
        sum->forces += work;
        if (gear && !s->gear[i].begun) sum->first += work;
    }
}

void tl_springs_commit(tl_springs *s, const tl_springs_bodies *bodies, double h, int64_t begin,
                       int64_t end) {
    const bool gear = s->def.integrator == TALUS_INTEGRATOR_PREDICTOR_CORRECTOR;
    for (int64_t i = begin; i < end; i++) {
        tl_mover *m = &s->mover[i];
        if (bodies->mass[i] == 0.0) continue;
        if (!gear) {
            tl_axpy3(m->x, 0.5 * h, m->v1, m->x1);
            for (int k = 0; k < 4; k++) m->q1[k] = m->q[k];
            motion_drift(bodies, i, 0.5 * h, m->q1, m->turn1);
        }
        tl_copy3(m->x1, bodies->position + 3 * i);
        tl_copy3(m->v1, bodies->velocity + 3 * i);
        tl_copy3(m->turn1, bodies->spin + 3 * i);
        for (int k = 0; k < 4; k++) bodies->orientation[4 * i + k] = m->q1[k];
    }
}
