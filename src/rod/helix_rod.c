// SPDX-License-Identifier: Apache-2.0
// The super-helix as a kind of rod [theory/helix]. With q the curvatures and the root's place, v
// their rates, K and D the constant stiffness and the damping, a step is
//     M̃ v+ = M v_b + h (g − K (q − q̄)) − θ (1 − θ) h² K v_b − (1 − θ) h D v_b + Hᵀ r,
//     M̃ = M + θ² h² K + θ h D,    q+ = q + h (θ v+ + (1 − θ) v_b),
// where M and H are taken at q + h (1 − θ) v, where contacts are looked for. The weight g is its
// secant over the step without contacts: that which does the work that the energy of gravity loses,
// so that no step creates any. v_b is
// what inertia alone makes of the motion: the projection of the old velocities of the material
// points on those that the rod can have now. That leaves out what no rate can give, an amount of
// order h² of the kinetic energy in each step. Where the root is not driven, so that nothing does
// work, v_b is made longer to have the old energy again (as to its motion about the centre): wholly
// for θ = ½, where elastic forces keep energy, too; not at all for θ = 1, the robust end.
#include "rod/helix_rod.h"
#include "linalg/dense.h"
#include <string.h>

#define HELIX_MOST_GAIN 1.1 // of v_b's energy over the projection's, at most
// The weight is known well enough when its work is, to this part of the energy that the rod would
// gain by falling through its length,
#define HELIX_NEAR 1e-13
// and does the right work, up to rounding, where sections turn by less than this [rad].
#define HELIX_SHORT 1e-5
enum {
    HELIX_TRIES = 20, // at the weight of a step,
    HELIX_CHORD = 2,  // with how many of them for one matrix of Newton's method,
    HELIX_BRAKES = 8  // and with how many strengths of the brake
};
// Newton's method is used where changes of the weight are more than this part of those before.
#define HELIX_SLOW 0.3
// Angle by which unknowns are changed to find that matrix [rad].
#define HELIX_DIFFERENCE 1e-6

void tl_helix_frame(const double quaternion[4], double r[9]) {
    static const double unit[3][3] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    for (int k = 0; k < 3; k++) {
        double axis[3];
        tl_rotate(quaternion, unit[k], axis);
        for (int i = 0; i < 3; i++) r[3 * i + k] = axis[i];
    }
}

int32_t tl_helix_find(const tl_helix *h, double arc, double *s) {
    int32_t e = 0;
    while (e + 1 < h->pieces && arc > h->length[e]) arc -= h->length[e++];
    *s = fmax(arc, 0.0);
    return e;
}

tl_helix_pose tl_helix_now(const tl_rod *rod) {
    tl_helix_pose pose = {.q = tl_helix_q(rod)};
    tl_copy3(rod->state, pose.x);
    tl_helix_frame(rod->state + 3, pose.r);
    return pose;
}

static void helix_destroy(tl_rod *rod) {
    tl_helix_rod *m = rod->own;
    if (!m) return;
    void *const owned[] = {m->arc,
                           m->length,
                           m->natural,
                           m->joint,
                           m->now,
                           m->spare,
                           m->scratch,
                           m->q,
                           m->system.mass,
                           m->system.spread,
                           m->system.carried,
                           m->system.weight,
                           m->weight,
                           m->next,
                           m->newton,
                           m->pivot,
                           m->spot,
                           m->system.driven,
                           m->system.work,
                           m->operator,
                           m->factor,
                           m->before,
                           m->free,
                           m->f,
                           m->node,
                           m->axis,
                           m->move,
                           m->turn};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(rod->ctx, owned[k]);
    tl_free(rod->ctx, m);
}

// ---- the beginning of a step
// ---------------------------------------------------------------------

// The vector of the turn from quaternion a to b.
static void helix_turn_of(const double a[4], const double b[4], double out[3]) {
    const double back[4] = {a[0], -a[1], -a[2], -a[3]};
    double d[4];
    tl_quat_mul(b, back, d);
    const double sine = tl_norm3(d + 1), sign = d[0] < 0.0 ? -1.0 : 1.0;
    const double angle = 2.0 * atan2(sine, fabs(d[0]));
    tl_scale3(sine > 0.0 ? sign * angle / sine : 0.0, d + 1, out);
}

static void helix_set_drive(const tl_rod *rod, double h, tl_helix_drive *drive) {
    const tl_pose *next = &rod->hold[0].next;
    const int32_t root = tl_helix_of(rod)->h.root;
    *drive = (tl_helix_drive){{0}, {0}};
    if (root == 6 || !(h > 0.0)) return;
    tl_sub3(next->x, rod->state, drive->v);
    tl_scale3(1.0 / h, drive->v, drive->v);
    if (root == 3) return;
    helix_turn_of(rod->state + 3, next->q, drive->w);
    tl_scale3(1.0 / h, drive->w, drive->w);
}

// Whether the root is driven in this step, or was in the last one.
static bool helix_is_driven(const tl_rod *rod) {
    const tl_helix_drive *d = &tl_helix_of(rod)->drive;
    return tl_norm3(d->v) > 0.0 || tl_norm3(d->w) > 0.0 || tl_norm3(rod->state + 7) > 0.0 ||
           tl_norm3(rod->state + 10) > 0.0;
}

// Carry the root along for the time h by unknowns v: place and frame (quaternion).
static void helix_carry_root(const tl_helix_rod *m, const double *v, double h, double x[3],
                             double quaternion[4]) {
    double turn[3], about[4];
    tl_axpy3(x, h, m->h.root == 6 ? v : m->drive.v, x);
    tl_scale3(h, m->h.root == 0 ? m->drive.w : v + m->h.root - 3, turn);
    tl_quat_exp(turn, about);
    tl_quat_mul(about, quaternion, quaternion);
    tl_quat_normalise(quaternion);
}

// Where the rod is linearised.
static void helix_go(tl_rod *rod, double h) {
    tl_helix_rod *m = tl_helix_of(rod);
    const double *q = tl_helix_q(rod), *v = tl_helix_v(rod);
    double x[3], quaternion[4];
    tl_copy3(rod->state, x);
    memcpy(quaternion, rod->state + 3, sizeof quaternion);
    helix_carry_root(m, v, h, x, quaternion);
    tl_copy3(x, m->pose.x);
    tl_helix_frame(quaternion, m->pose.r);
    for (int32_t k = 0; k < 3 * m->h.pieces; k++) m->q[k] = q[k] + h * v[m->h.root + k];
    m->pose.q = m->q;
    tl_helix_joints(&m->h, &m->pose, m->joint);
}

// Places and rows of nodes and segments.
static void helix_set_rows(tl_rod *rod) {
    tl_helix_rod *m = tl_helix_of(rod);
    const int64_t n = rod->dof;
    double s, r[9], x[3];
    for (int32_t k = 0; k < rod->nodes; k++) {
        const int32_t e = tl_helix_find(&m->h, m->arc[k], &s);
        tl_helix_rows(&m->h, m->joint, m->q, e, s, m->node + 3 * (int64_t)k, r, m->move + 3 * n * k,
                      NULL);
    }
    double *scratch = m->system.work;
    for (int32_t k = 0; k + 1 < rod->nodes; k++) {
        const int32_t e = tl_helix_find(&m->h, 0.5 * (m->arc[k] + m->arc[k + 1]), &s);
        double *turn = m->turn + 3 * n * k, *axis = m->axis + 3 * (int64_t)k, chord[3];
        tl_helix_rows(&m->h, m->joint, m->q, e, s, x, r, scratch, turn);
        tl_sub3(m->node + 3 * (int64_t)(k + 1), m->node + 3 * (int64_t)k, chord);
        const double length = tl_norm3(chord);
        tl_scale3(1.0 / length, chord, chord);
        for (int i = 0; i < 3; i++) axis[i] = r[3 * i + 1];
        if (!tl_rod_make_across(chord, axis)) tl_rod_across(chord, axis);
        const double *a = m->move + 3 * n * k, *b = a + 3 * n;
        for (int64_t c = 0; c < n; c++) { // t × (v_b − v_a) / l + t (t · turn of the section)
            double apart[3], swing[3], about = 0.0;
            for (int i = 0; i < 3; i++) {
                apart[i] = (b[i * n + c] - a[i * n + c]) / length;
                about += chord[i] * turn[i * n + c];
            }
            tl_cross3(chord, apart, swing);
            for (int i = 0; i < 3; i++) turn[i * n + c] = swing[i] + about * chord[i];
        }
    }
}

// v_b from the projection, which is in `before`.
static void helix_keep_energy(const tl_rod *rod, double theta) {
    const tl_helix_rod *m = tl_helix_of(rod);
    double *v = m->before, momentum[3], centre[3] = {0};
    const double old = tl_helix_kinetic(&m->h, m->joint, m->q,
                                        (const tl_helix_field *)tl_helix_old(rod), momentum, NULL);
    double moving = 0.0; // energy of the motion with the centre, which stays as it is
    if (m->h.root == 6) {
        const double mass = m->h.line_mass * m->arc[rod->nodes - 1];
        tl_scale3(1.0 / mass, momentum, centre);
        moving = 0.5 * mass * tl_dot3(centre, centre);
    }
    double projected = -moving;
    for (int32_t k = 0; k < rod->dof; k++) projected += 0.5 * v[k] * m->system.carried[k];
    if (!(projected > 1e-14 * old)) return;
    const double gain = fmin(fmax((old - moving) / projected, 1.0), HELIX_MOST_GAIN);
    const double scale = sqrt(1.0 + 2.0 * (1.0 - theta) * (gain - 1.0));
    for (int32_t k = 0; k < rod->dof; k++) {
        const double shift = m->h.root == 6 && k < 3 ? centre[k] : 0.0;
        v[k] = shift + scale * (v[k] - shift);
    }
}

static double helix_damping(const tl_helix_rod *m, int64_t n, int64_t a, int64_t b) {
    const int64_t k = a - m->h.root;
    double d = m->h.drag * m->system.spread[a * n + b];
    if (a == b && k >= 0) d += m->h.damping * tl_helix_stiffness(&m->h, (int32_t)k);
    return d;
}

// M̃ and f.
static void helix_set_system(tl_rod *rod, const tl_step *step) {
    tl_helix_rod *m = tl_helix_of(rod);
    const int64_t n = rod->dof;
    const double h = step->h, theta = step->theta, *q = tl_helix_q(rod), *v = m->before;
    for (int64_t a = 0; a < n; a++) {
        const int64_t k = a - m->h.root;
        double f = h * (m->system.weight[a] - m->h.drag * m->system.driven[a]);
        for (int64_t b = 0; b < n; b++) {
            const double d = helix_damping(m, n, a, b), mass = m->system.mass[a * n + b];
            m->operator[a * n + b] = mass + theta * h * d;
            f += mass * v[b] - (1.0 - theta) * h * d * v[b];
        }
        if (k >= 0) {
            const double stiffness = tl_helix_stiffness(&m->h, (int32_t)k);
            m->operator[a * n + a] += theta * theta * h * h * stiffness;
            f -= h * stiffness * (q[k] - m->natural[k] + theta * (1.0 - theta) * h * v[a]);
        }
        m->f[a] = f;
    }
}

// x ← A⁻¹ x; false, with x as it was, where rounding leaves A not definite.
static bool helix_solve(const tl_helix_rod *m, int32_t n, const double *matrix, double *x) {
    memcpy(m->factor, matrix, (size_t)n * (size_t)n * sizeof(double));
    if (tl_spd_block_factor(n, m->factor, 0.0) >= 0) return false;
    tl_spd_block_solve(n, m->factor, 1, x, n);
    return true;
}

// Where the step has taken the rod when `part` of it is over: the root into `root` (place,
// quaternion), the curvatures into q.
static void helix_move(const tl_rod *rod, const tl_step *step, const double *v, double part,
                       double root[7], double *q) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const double *now = tl_helix_q(rod), theta = step->theta, h = part * step->h;
    double mean[6] = {0};
    memcpy(root, rod->state, 7 * sizeof *root);
    for (int32_t k = 0; k < m->h.root; k++) mean[k] = theta * v[k] + (1.0 - theta) * m->before[k];
    helix_carry_root(m, mean, h, root, root + 3);
    for (int32_t k = 0; k < 3 * m->h.pieces; k++) {
        const int32_t a = m->h.root + k;
        q[k] = now[k] + h * (theta * v[a] + (1.0 - theta) * m->before[a]);
    }
}

// All of it; a root that is led is exactly where it is led to.
static void helix_next(const tl_rod *rod, const tl_step *step, const double *v, double root[7],
                       double *q) {
    const tl_helix_rod *m = tl_helix_of(rod);
    helix_move(rod, step, v, 1.0, root, q);
    if (m->h.root < 6) tl_copy3(rod->hold[0].next.x, root);
    if (m->h.root == 0) memcpy(root + 3, rod->hold[0].next.q, 4 * sizeof *root);
}

// The energy of gravity there, with the joints in m->now.
static double helix_height(const tl_rod *rod, const tl_step *step, const double root[7],
                           const double *q) {
    const tl_helix_rod *m = tl_helix_of(rod);
    tl_helix_pose pose = {.q = q};
    tl_copy3(root, pose.x);
    tl_helix_frame(root + 3, pose.r);
    tl_helix_joints(&m->h, &pose, m->now);
    return tl_helix_gravity(&m->h, m->now, q, step->gravity);
}

// How far an unknown turns a section for one unit of it: what makes all of them angles.
static double helix_lever(const tl_rod *rod, int32_t a) {
    const tl_helix_rod *m = tl_helix_of(rod);
    if (a >= m->h.root) return m->h.length[(a - m->h.root) / 3];
    return m->h.root == 6 && a < 3 ? 1.0 / m->arc[rod->nodes - 1] : 1.0;
}

static double helix_way(const tl_rod *rod, const tl_step *step, const double *v, int32_t a) {
    return step->h * (step->theta * v[a] + (1.0 - step->theta) * tl_helix_of(rod)->before[a]);
}

// The weight, on the unknowns (m->weight) and on what leads the root (m->pull), in a step with the
// velocities v: that half way or, of those that do the work over the step that the energy of
// gravity loses (`before`: what it was), the nearest to that one.
static void helix_weigh(const tl_rod *rod, const tl_step *step, const double *v, double before) {
    tl_helix_rod *m = tl_helix_of(rod);
    const double h = step->h, length = m->arc[rod->nodes - 1];
    double root[7], *weight = m->weight, square = 0.0;
    helix_move(rod, step, v, 0.5, root, m->spare);
    (void)helix_height(rod, step, root, m->spare);
    tl_helix_weigh(&m->h, m->now, m->spare, step->gravity, m->system.work, weight, m->pull);
    helix_next(rod, step, v, root, m->spare);
    double left = before - helix_height(rod, step, root, m->spare);
    for (int32_t a = 0; a < rod->dof; a++) {
        const double way = helix_way(rod, step, v, a), angle = way * helix_lever(rod, a);
        left -= way * weight[a];
        square += angle * angle;
    }
    for (int k = 0; k < 3; k++) {
        const double way = h * m->drive.v[k], turn = h * m->drive.w[k];
        left -= way * m->pull[k] + turn * m->pull[3 + k];
        square += way * way / (length * length) + turn * turn;
    }
    if (!(square > HELIX_SHORT * HELIX_SHORT)) return;
    for (int k = 0; k < 3; k++) {
        m->pull[k] += left / square * h * m->drive.v[k] / (length * length);
        m->pull[3 + k] += left / square * h * m->drive.w[k];
    }
    for (int32_t a = 0; a < rod->dof; a++) {
        const double lever = helix_lever(rod, a);
        weight[a] += left / square * helix_way(rod, step, v, a) * lever * lever;
    }
}

// Factor M̃ − h ∂(weight)/∂v, by differences: Newton's matrix at m->free.
static bool helix_differ(tl_rod *rod, const tl_step *step, double before) {
    tl_helix_rod *m = tl_helix_of(rod);
    const int64_t n = rod->dof;
    double rcond;
    memcpy(m->newton, m->operator, (size_t)(n * n) * sizeof *m->newton);
    for (int32_t b = 0; b < n; b++) {
        const double at = m->free[b], by = HELIX_DIFFERENCE / (step->h * helix_lever(rod, b));
        m->free[b] = at + by;
        helix_weigh(rod, step, m->free, before);
        m->free[b] = at;
        for (int64_t a = 0; a < n; a++) // column major
            m->newton[b * n + a] -= step->h * (m->weight[a] - m->system.weight[a]) / by;
    }
    return tl_lu_factor(rod->dof, m->newton, m->pivot, &rcond, m->system.work, m->spot) < 0;
}

// Take the weight of a step with the velocities m->free into f; by how much its work changes.
static double helix_take_weight(tl_rod *rod, const tl_step *step, double before) {
    tl_helix_rod *m = tl_helix_of(rod);
    double change = 0.0;
    helix_weigh(rod, step, m->free, before);
    for (int32_t a = 0; a < rod->dof; a++) {
        const double more = m->weight[a] - m->system.weight[a];
        change += fabs(more * helix_way(rod, step, m->free, a));
        m->f[a] += step->h * more;
        m->system.weight[a] = m->weight[a];
    }
    return change;
}

// A step of Newton's method for M̃ v = f(v), from m->free on.
static void helix_newton(const tl_rod *rod, double h) {
    tl_helix_rod *m = tl_helix_of(rod);
    const int64_t n = rod->dof;
    for (int64_t a = 0; a < n; a++) {
        m->next[a] = m->f[a] + h * tl_helix_push(rod)[a];
        for (int64_t b = 0; b < n; b++) m->next[a] -= m->operator[a * n + b] * m->free[b];
    }
    tl_lu_solve(rod->dof, m->newton, m->pivot, 1, m->next);
    for (int64_t a = 0; a < n; a++) m->free[a] += m->next[a];
}

// With what contacts are expected to do: the weight that the step has, and the velocities at its
// end. Where the weight
// that they lead to changes less and less they are found so; otherwise, from the beginning again,
// by Newton's method. Whether they were found.
static bool helix_fly(tl_rod *rod, const tl_step *step) {
    tl_helix_rod *m = tl_helix_of(rod);
    const int32_t n = rod->dof;
    const size_t line = (size_t)n * sizeof(double);
    const double length = m->arc[rod->nodes - 1];
    const double fall = m->h.line_mass * length * length * tl_norm3(step->gravity);
    memset(m->pull, 0, sizeof m->pull);
    memcpy(m->factor, m->operator,(size_t) n * line);
    memcpy(m->free, m->before, line);
    if (tl_spd_block_factor(n, m->factor, 0.0) >= 0) return true; // shows in M̃, to the world
    const double before = helix_height(rod, step, rod->state, tl_helix_q(rod));
    double last = INFINITY;
    int newton = -1; // steps of it, once it has begun
    for (int k = 0; k < HELIX_TRIES; k++) {
        const double change = fall > 0.0 ? helix_take_weight(rod, step, before) : 0.0;
        const bool near = k > 0 && change <= HELIX_NEAR * fall;
        if (newton < 0 && !near && change > HELIX_SLOW * last) {
            newton = 0;
            memcpy(m->free, m->before, line);
            (void)helix_take_weight(rod, step, before);
        }
        last = change;
        if (newton >= 0 && !near) {
            if (newton++ % HELIX_CHORD == 0 && !helix_differ(rod, step, before)) return false;
            helix_newton(rod, step->h);
            continue;
        }
        for (int32_t a = 0; a < n; a++) m->free[a] = m->f[a] + step->h * tl_helix_push(rod)[a];
        tl_spd_block_solve(n, m->factor, 1, m->free, n);
        if (near || fall == 0.0) return true;
    }
    return false;
}

static void helix_prepare(tl_rod *rod, const tl_step *step) {
    tl_helix_rod *m = tl_helix_of(rod);
    const size_t line = (size_t)rod->dof * sizeof(double);
    helix_set_drive(rod, step->h, &m->drive);
    helix_go(rod, (1.0 - step->theta) * step->h);
    tl_helix_assemble(&m->h, m->joint, m->q, &m->drive, (const tl_helix_field *)tl_helix_old(rod),
                      step->gravity, &m->system);
    helix_set_rows(rod);
    memcpy(m->before, m->system.carried, line);
    if (!helix_solve(m, rod->dof, m->system.mass, m->before))
        memcpy(m->before, tl_helix_v(rod), line); // inertia about the tangent lost in rounding
    if (step->theta < 1.0 && !helix_is_driven(rod)) helix_keep_energy(rod, step->theta);
    helix_set_system(rod, step);
    // what cannot be found is held back by a drag on all of it, the stronger the longer it takes
    double brake = 0.25;
    for (int k = 0; k < HELIX_BRAKES && !helix_fly(rod, step); k++, brake *= 4.0)
        for (int64_t a = 0; a < (int64_t)rod->dof * rod->dof; a++)
            m->operator[a] += brake * m->system.mass[a];
    memcpy(m->free, m->f, line);
    if (!helix_solve(m, rod->dof, m->operator, m->free)) memcpy(m->free, m->before, line);
}

// Velocity that the given motion of the root alone gives to a point.
static void helix_given(const tl_helix_rod *m, const double x[3], double out[3]) {
    double arm[3];
    tl_sub3(x, m->pose.x, arm);
    tl_cross3(m->drive.w, arm, out);
    tl_axpy3(out, 1.0, m->drive.v, out);
}

static void helix_foresee(const tl_rod *rod, double *begin, double *end) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const int64_t n = rod->dof;
    for (int32_t k = 0; k < rod->nodes; k++) {
        double given[3];
        helix_given(m, m->node + 3 * (int64_t)k, given);
        for (int i = 0; i < 3; i++) {
            const double *row = m->move + 3 * n * k + i * n;
            *begin = *end = given[i];
            for (int64_t c = 0; c < n; c++) {
                *begin += row[c] * tl_helix_v(rod)[c];
                *end += row[c] * m->free[c];
            }
            begin++;
            end++;
        }
    }
}

static void helix_place(const tl_rod *rod, const tl_step *step, tl_pose *pose, double *chord) {
    const tl_helix_rod *m = tl_helix_of(rod);
    (void)step;
    for (int32_t k = 0; k + 1 < rod->nodes; k++) {
        const double *a = m->node + 3 * (int64_t)k, *b = a + 3;
        double along[3];
        tl_sub3(b, a, along);
        tl_axpy3(a, 0.5, along, pose[k].x);
        chord[k] = tl_norm3(along);
        tl_scale3(1.0 / chord[k], along, along);
        tl_rod_quat(m->axis + 3 * (int64_t)k, along, pose[k].q);
    }
}

static void helix_motion(const tl_rod *rod, const tl_step *step, double *mass, double *f,
                         double *v) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const size_t line = (size_t)rod->dof * sizeof(double);
    (void)step;
    memcpy(mass, m->operator,(size_t) rod->dof * line);
    memcpy(f, m->f, line);
    memcpy(v, m->before, line);
}

static void helix_row(const tl_rod *rod, const tl_step *step, int32_t segment, double along,
                      const double offset[3], const double *direction, int32_t count, double *out,
                      double *given) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const int64_t n = rod->dof;
    const double *a = m->move + 3 * n * segment, *b = a + 3 * n, *turn = m->turn + 3 * n * segment;
    const double *from = m->node + 3 * (int64_t)segment;
    double x[3], v[3];
    (void)step;
    for (int i = 0; i < 3; i++) x[i] = from[i] + along * (from[3 + i] - from[i]) + offset[i];
    helix_given(m, x, v);
    for (int32_t k = 0; k < count; k++) {
        const double *d = direction + 3 * (int64_t)k;
        double lever[3]; // d · (w × offset) = w · (offset × d)
        tl_cross3(offset, d, lever);
        if (given) given[k] += tl_dot3(d, v);
        if (!out) continue;
        double *row = out + n * k;
        for (int i = 0; i < 3; i++)
            for (int64_t c = 0; c < n; c++)
                row[c] += d[i] * ((1.0 - along) * a[i * n + c] + along * b[i * n + c]) +
                          lever[i] * turn[i * n + c];
    }
}

static void helix_turn(const tl_rod *rod, const tl_step *step, int32_t segment,
                       const double *direction, int32_t count, double *out, double *given) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const int64_t n = rod->dof;
    const double *turn = m->turn + 3 * n * segment;
    (void)step;
    for (int32_t k = 0; k < count; k++) {
        const double *d = direction + 3 * (int64_t)k;
        if (given) given[k] += tl_dot3(d, m->drive.w);
        for (int64_t c = 0; out && c < n; c++)
            out[n * k + c] += d[0] * turn[c] + d[1] * turn[n + c] + d[2] * turn[2 * n + c];
    }
}

// ---- its end
// -------------------------------------------------------------------------------------

// Work of the given motion of the root against inertia, weight and drag: the impulse that they need
// at every point, in the direction that this motion alone gives to the point.
static double helix_given_work(const tl_rod *rod, const tl_step *step, const double *after) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const tl_helix_field *old = (const tl_helix_field *)tl_helix_old(rod);
    tl_helix_field *given = m->scratch, *next = given + tl_helix_field_count(&m->h);
    double sum = 0.0;
    if (!helix_is_driven(rod)) return sum;
    memset(m->free, 0, (size_t)rod->dof * sizeof(double)); // no more needed in this step
    tl_helix_velocity(&m->h, m->joint, m->q, &m->drive, m->free, given);
    tl_helix_velocity(&m->h, m->joint, m->q, &m->drive, after, next);
    for (int32_t k = 0; k < tl_helix_field_count(&m->h); k++) {
        const double share = tl_helix_share(&m->h, k / TL_HELIX_GAUSS, k % TL_HELIX_GAUSS);
        double impulse = m->h.line_spin * (next[k][3] - old[k][3]) * given[k][3];
        for (int i = 0; i < 3; i++)
            impulse +=
                (m->h.line_mass * (next[k][i] - old[k][i]) + step->h * m->h.drag * next[k][i]) *
                given[k][i];
        sum += share * impulse;
    }
    return sum - step->h * (tl_dot3(m->pull, m->drive.v) + tl_dot3(m->pull + 3, m->drive.w));
}

// What gravity's energy loses in the step.
static double helix_fall(const tl_rod *rod, const tl_step *step, const double *after) {
    const tl_helix_rod *m = tl_helix_of(rod);
    double root[7];
    const double before = helix_height(rod, step, rod->state, tl_helix_q(rod));
    helix_next(rod, step, after, root, m->spare);
    return before - helix_height(rod, step, root, m->spare);
}

static void helix_inner(const tl_rod *rod, const tl_step *step, const double *before,
                        const double *after, tl_inner *out) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const int64_t n = rod->dof;
    const double theta = step->theta;
    double work = 0.0;
    *out = (tl_inner){.given = helix_given_work(rod, step, after)};
    for (int64_t a = 0; a < n; a++) {
        const double mean = theta * after[a] + (1.0 - theta) * before[a];
        double pull = -m->h.drag * m->system.driven[a], jump = 0.0, impulse = m->f[a];
        for (int64_t b = 0; b < n; b++) {
            const double whole = m->operator[a * n + b];
            pull -= helix_damping(m, n, a, b) * (theta * after[b] + (1.0 - theta) * before[b]);
            jump += (whole - m->system.mass[a * n + b]) * (after[b] - before[b]);
            impulse -= whole * before[b];
        }
        out->damping += step->h * mean * pull;
        out->jump += 0.5 * jump * (after[a] - before[a]);
        work += impulse * mean;
    }
    out->elastic = work - helix_fall(rod, step, after) - out->damping;
}

static void helix_commit(tl_rod *rod, const tl_step *step, const double *v) {
    tl_helix_rod *m = tl_helix_of(rod);
    double root[7];
    for (int64_t a = 0; a < rod->dof; a++) {
        m->next[a] = -m->f[a] / step->h;
        for (int64_t b = 0; b < rod->dof; b++)
            m->next[a] += m->operator[a * rod->dof + b] * v[b] / step->h;
    }
    tl_rod_expect(rod->dof, m->next, tl_helix_push(rod) + rod->dof, tl_helix_push(rod));
    tl_helix_velocity(&m->h, m->joint, m->q, &m->drive, v, tl_helix_old(rod));
    helix_next(rod, step, v, root, m->spare);
    memcpy(rod->state, root, sizeof root);
    memcpy(tl_helix_q(rod), m->spare, 3 * (size_t)m->h.pieces * sizeof(double));
    tl_copy3(m->drive.v, rod->state + 7);
    tl_copy3(m->drive.w, rod->state + 10);
    memcpy(tl_helix_v(rod), v, (size_t)rod->dof * sizeof(double));
}

void tl_helix_directors(const tl_rod *rod, double *director) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const tl_helix_pose pose = tl_helix_now(rod);
    tl_helix_joints(&m->h, &pose, m->now);
    for (int32_t k = 0; k + 1 < rod->nodes; k++) {
        double x[3][3], r[9], chord[3], *d = director + 3 * (int64_t)k;
        const double arc[3] = {m->arc[k], m->arc[k + 1], 0.5 * (m->arc[k] + m->arc[k + 1])};
        for (int i = 0; i < 3; i++) { // both nodes, then the middle
            double s;
            const int32_t e = tl_helix_find(&m->h, arc[i], &s);
            tl_helix_point(m->now[e].x, m->now[e].r, pose.q + 3 * (int64_t)e, s, x[i], r);
        }
        tl_sub3(x[1], x[0], chord);
        tl_scale3(1.0 / tl_norm3(chord), chord, chord);
        for (int i = 0; i < 3; i++) d[i] = r[3 * i + 1];
        if (!tl_rod_make_across(chord, d)) tl_rod_across(chord, d);
    }
}

static void helix_show(const tl_rod *rod, double *x, double *v, double *director, double *strain) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const tl_helix_pose pose = tl_helix_now(rod);
    const int64_t n = rod->dof;
    const double *drive = rod->state + 7;
    double *move = m->system.work, s, r[9];
    tl_helix_directors(rod, director);
    tl_copy3(director + 3 * (int64_t)(rod->nodes - 2), director + 3 * (int64_t)(rod->nodes - 1));
    for (int32_t k = 0; k < rod->nodes; k++) { // m->now is that of the state
        const int32_t e = tl_helix_find(&m->h, m->arc[k], &s);
        double *at = x + 3 * (int64_t)k, *speed = v + 3 * (int64_t)k, given[3], arm[3];
        tl_helix_rows(&m->h, m->now, pose.q, e, s, at, r, move, NULL);
        tl_sub3(at, pose.x, arm);
        tl_cross3(drive + 3, arm, given);
        for (int i = 0; i < 3; i++) {
            speed[i] = given[i] + drive[i];
            for (int64_t c = 0; c < n; c++) speed[i] += move[i * n + c] * tl_helix_v(rod)[c];
        }
        strain[k] = 0.0;
    }
}

static bool helix_statics(const tl_rod *rod, const double gravity[3], double *stiffness,
                          double *strain, double *weight) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const tl_helix_pose pose = tl_helix_now(rod);
    const tl_helix_drive still = {{0}, {0}};
    if (m->h.root > 0) return false;
    tl_helix_joints(&m->h, &pose, m->now);
    tl_helix_assemble(&m->h, m->now, pose.q, &still, (const tl_helix_field *)tl_helix_old(rod),
                      gravity, &m->system);
    for (int32_t k = 0; k < rod->dof; k++) {
        stiffness[k] = tl_helix_stiffness(&m->h, k);
        strain[k] = pose.q[k];
        weight[k] = m->system.weight[k];
    }
    return true;
}

static void helix_account(const tl_rod *rod, const double gravity[3], tl_account *add) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const tl_helix_pose pose = tl_helix_now(rod);
    double momentum[3], angular[3];
    tl_helix_joints(&m->h, &pose, m->now);
    add->kinetic += tl_helix_kinetic(&m->h, m->now, pose.q,
                                     (const tl_helix_field *)tl_helix_old(rod), momentum, angular);
    add->potential += tl_helix_gravity(&m->h, m->now, pose.q, gravity);
    add->elastic += tl_helix_elastic(&m->h, pose.q, m->natural);
    for (int k = 0; k < 3; k++) {
        add->momentum[k] += momentum[k];
        add->angular[k] += angular[k];
    }
    add->bodies++;
}

const tl_rod_ops tl_rod_helix_ops = {
    .name = "helix",
    .create = tl_helix_make,
    .destroy = helix_destroy,
    .show = helix_show,
    .prepare = helix_prepare,
    .foresee = helix_foresee,
    .place = helix_place,
    .motion = helix_motion,
    .row = helix_row,
    .turn = helix_turn,
    .inner = helix_inner,
    .commit = helix_commit,
    .account = helix_account,
    .statics = helix_statics,
    .set_natural = tl_helix_set_natural,
};
