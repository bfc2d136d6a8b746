// SPDX-License-Identifier: Apache-2.0
#include "support/chains.h"
#include <math.h>
#include <string.h>

enum { DOF = 3 * CHAIN_MOST };

// The linear system of a step; rows of C and H by unknowns.
typedef struct chain_system {
    int dof, rows, contacts;
    double mass[DOF * DOF], inertia[DOF * DOF]; // the operator, M alone
    double force[DOF];                          // h F without what the operator has
    double c[2 * CHAIN_MOST * DOF], k[2 * CHAIN_MOST];
    double h[2 * CHAIN_MOST * DOF], gap[CHAIN_MOST];
} chain_system;

chain chain_make(chain_kind kind, int n, double length, double mass, const double *angle) {
    chain c = {.kind = kind,
               .n = n,
               .half = 0.5 * length / n,
               .mass = mass / n,
               .gravity = 9.81,
               .floor = -INFINITY};
    double x = 0.0, y = 0.0;
    for (int i = 0; i < n; i++) {
        const double dx = c.half * cos(angle[i]), dy = c.half * sin(angle[i]);
        if (kind == CHAIN_RIGID) {
            c.q[3 * i] = x + dx;
            c.q[3 * i + 1] = y + dy;
            c.q[3 * i + 2] = angle[i];
        } else if (kind == CHAIN_LUMPED) {
            c.q[2 * i] = x + 2.0 * dx;
            c.q[2 * i + 1] = y + 2.0 * dy;
        } else {
            c.q[i] = i > 0 ? angle[i] - angle[i - 1] : angle[0];
        }
        x += 2.0 * dx, y += 2.0 * dy;
    }
    return c;
}

int chain_dof(const chain *c) {
    return c->kind == CHAIN_RIGID ? 3 * c->n : c->kind == CHAIN_LUMPED ? 2 * c->n : c->n;
}

// Angles of the segments in space; those of a lumped chain modulo whole turns from one to the next.
static void chain_angles(const chain *c, double *angle) {
    double sum = 0.0;
    for (int i = 0; i < c->n; i++) {
        if (c->kind == CHAIN_RIGID) {
            angle[i] = c->q[3 * i + 2];
        } else if (c->kind == CHAIN_REDUCED) {
            angle[i] = sum += c->q[i];
        } else {
            const double *b = c->q + 2 * i;
            const double dx = b[0] - (i > 0 ? b[-2] : 0.0), dy = b[1] - (i > 0 ? b[-1] : 0.0);
            angle[i] = sum += remainder(atan2(dy, dx) - sum, 6.283185307179586477);
        }
    }
}

void chain_joints(const chain *c, double *x) {
    double angle[CHAIN_MOST];
    chain_angles(c, angle);
    x[0] = x[1] = 0.0;
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 2; k++) {
            const double e = k ? sin(angle[i]) : cos(angle[i]);
            double *to = x + 2 * (i + 1) + k;
            if (c->kind == CHAIN_RIGID)
                *to = c->q[3 * i + k] + c->half * e;
            else if (c->kind == CHAIN_LUMPED)
                *to = c->q[2 * i + k];
            else
                *to = to[-2] + 2.0 * c->half * e;
        }
}

double chain_gap(const chain *c) {
    double worst = 0.0, angle[CHAIN_MOST], before[2] = {0.0, 0.0};
    chain_angles(c, angle);
    for (int i = 0; i < c->n && c->kind != CHAIN_REDUCED; i++) {
        if (c->kind == CHAIN_RIGID) {
            for (int k = 0; k < 2; k++) {
                const double arm = c->half * (k ? sin(angle[i]) : cos(angle[i]));
                worst = fmax(worst, fabs(c->q[3 * i + k] - arm - before[k]));
                before[k] = c->q[3 * i + k] + arm;
            }
        } else {
            const double *b = c->q + 2 * i;
            worst = fmax(worst, fabs(hypot(b[0] - before[0], b[1] - before[1]) - 2.0 * c->half));
            before[0] = b[0], before[1] = b[1];
        }
    }
    return worst;
}

// d(place)/d(q_j) of the point at `along` (−half … half) of segment i of a reduced chain: a turn of
// what lies behind joint j.
static void chain_reduced_row(const chain *c, const double *joint, const double *angle, int i,
                              double along, double *x_row, double *y_row) {
    const double x = joint[2 * i] + (c->half + along) * cos(angle[i]);
    const double y = joint[2 * i + 1] + (c->half + along) * sin(angle[i]);
    for (int j = 0; j < c->n; j++) {
        x_row[j] = j <= i ? joint[2 * j + 1] - y : 0.0;
        y_row[j] = j <= i ? x - joint[2 * j] : 0.0;
    }
}

static void chain_add_square(chain_system *s, double *matrix, double factor, const double *row) {
    for (int a = 0; a < s->dof; a++)
        for (int b = 0; b < s->dof; b++) matrix[a * s->dof + b] += factor * row[a] * row[b];
}

static void chain_fill_rigid(const chain *c, double h, const double *angle, chain_system *s) {
    const double inertia = c->mass * c->half * c->half / 3.0;
    const double drag = 2.0 * c->half * c->drag, turning = drag * c->half * c->half / 3.0;
    for (int i = 0; i < c->n; i++) {
        const double m[3] = {c->mass, c->mass, inertia}, d[3] = {drag, drag, turning};
        for (int k = 0; k < 3; k++) {
            const int a = 3 * i + k;
            s->inertia[a * s->dof + a] = m[k];
            s->mass[a * s->dof + a] += m[k] + h * d[k];
        }
        s->force[3 * i + 1] -= h * c->mass * c->gravity;
        // the spring before the segment: ½ K (θ_i − θ_{i−1})²
        double row[DOF] = {0};
        row[3 * i + 2] = 1.0;
        if (i > 0) row[3 * i - 1] = -1.0;
        chain_add_square(s, s->mass, h * h * c->stiffness, row);
        const double bend = angle[i] - (i > 0 ? angle[i - 1] : 0.0);
        for (int a = 0; a < s->dof; a++) s->force[a] -= h * c->stiffness * bend * row[a];
        // its begin is the end of the one before
        for (int k = 0; k < 2; k++, s->rows++) {
            double *r = s->c + s->rows * s->dof;
            const double e = k ? sin(angle[i]) : cos(angle[i]);
            double off = c->q[3 * i + k] - c->half * e;
            r[3 * i + k] = 1.0;
            r[3 * i + 2] = c->half * (k ? -cos(angle[i]) : sin(angle[i]));
            if (i > 0) {
                off -= c->q[3 * i - 3 + k] + c->half * (k ? sin(angle[i - 1]) : cos(angle[i - 1]));
                r[3 * i - 3 + k] = -1.0;
                r[3 * i - 1] = c->half * (k ? -cos(angle[i - 1]) : sin(angle[i - 1]));
            }
            s->k[s->rows] = -off / h;
        }
    }
}

static void chain_fill_lumped(const chain *c, double h, const double *angle, chain_system *s) {
    double before[DOF] = {0}; // d(angle of the segment before)
    for (int i = 0; i < c->n; i++) {
        const double share = i + 1 < c->n ? 1.0 : 0.5, length = 2.0 * c->half;
        for (int k = 0; k < 2; k++) {
            const int a = 2 * i + k;
            s->inertia[a * s->dof + a] = share * c->mass;
            s->mass[a * s->dof + a] += share * (c->mass + h * length * c->drag);
        }
        s->force[2 * i + 1] -= h * share * c->mass * c->gravity;
        const double *b = c->q + 2 * i;
        const double d[2] = {b[0] - (i > 0 ? b[-2] : 0.0), b[1] - (i > 0 ? b[-1] : 0.0)};
        const double size = hypot(d[0], d[1]);
        double turn[DOF] = {0}, row[DOF], *r = s->c + s->rows * s->dof;
        turn[2 * i] = -d[1] / (size * size);
        turn[2 * i + 1] = d[0] / (size * size);
        r[2 * i] = d[0] / size, r[2 * i + 1] = d[1] / size;
        if (i > 0) {
            turn[2 * i - 2] = -turn[2 * i], turn[2 * i - 1] = -turn[2 * i + 1];
            r[2 * i - 2] = -r[2 * i], r[2 * i - 1] = -r[2 * i + 1];
        }
        s->k[s->rows++] = -(size - length) / h;
        for (int a = 0; a < s->dof; a++) row[a] = turn[a] - before[a];
        chain_add_square(s, s->mass, h * h * c->stiffness, row);
        const double bend = angle[i] - (i > 0 ? angle[i - 1] : 0.0);
        for (int a = 0; a < s->dof; a++) s->force[a] -= h * c->stiffness * bend * row[a];
        memcpy(before, turn, sizeof before);
    }
}

// Accelerations that the reduced chain has with constant rates, of joints and of centres.
static void chain_swing(const chain *c, const double *angle, double *centre) {
    double at[2] = {0.0, 0.0}, rate = 0.0;
    for (int i = 0; i < c->n; i++) {
        rate += c->v[i];
        for (int k = 0; k < 2; k++) {
            const double pull = c->half * rate * rate * (k ? sin(angle[i]) : cos(angle[i]));
            centre[2 * i + k] = at[k] - pull;
            at[k] -= 2.0 * pull;
        }
    }
}

static void chain_fill_reduced(const chain *c, double h, const double *angle, chain_system *s) {
    double joint[2 * CHAIN_MOST + 2], centre[2 * CHAIN_MOST];
    chain_joints(c, joint);
    chain_swing(c, angle, centre);
    for (int i = 0; i < c->n; i++) {
        double x[DOF], y[DOF], turn[DOF];
        chain_reduced_row(c, joint, angle, i, 0.0, x, y);
        for (int j = 0; j < s->dof; j++) turn[j] = j <= i;
        const double *rows[3] = {x, y, turn};
        for (int k = 0; k < 3; k++) {
            const double size = k < 2 ? 1.0 : c->half * c->half / 3.0;
            chain_add_square(s, s->inertia, c->mass * size, rows[k]);
            chain_add_square(s, s->mass, (c->mass + h * 2.0 * c->half * c->drag) * size, rows[k]);
        }
        for (int j = 0; j < s->dof; j++)
            s->force[j] -=
                h * c->mass * (x[j] * centre[2 * i] + y[j] * (centre[2 * i + 1] + c->gravity));
        s->mass[i * s->dof + i] += h * h * c->stiffness;
        s->force[i] -= h * c->stiffness * c->q[i];
    }
}

static void chain_fill_contacts(const chain *c, const double *angle, chain_system *s) {
    double joint[2 * CHAIN_MOST + 2];
    chain_joints(c, joint);
    for (int i = 0; i < c->n && isfinite(c->floor); i++, s->contacts++) {
        double *up = s->h + 2 * s->contacts * s->dof, *along = up + s->dof;
        s->gap[s->contacts] = joint[2 * i + 3] - c->floor;
        if (c->kind == CHAIN_RIGID) {
            up[3 * i + 1] = along[3 * i] = 1.0;
            up[3 * i + 2] = c->half * cos(angle[i]);
            along[3 * i + 2] = -c->half * sin(angle[i]);
        } else if (c->kind == CHAIN_LUMPED) {
            up[2 * i + 1] = along[2 * i] = 1.0;
        } else {
            chain_reduced_row(c, joint, angle, i, c->half, along, up);
        }
    }
}

static void chain_fill(const chain *c, double h, chain_system *s) {
    double angle[CHAIN_MOST];
    memset(s, 0, sizeof *s);
    s->dof = chain_dof(c);
    chain_angles(c, angle);
    if (c->kind == CHAIN_RIGID)
        chain_fill_rigid(c, h, angle, s);
    else if (c->kind == CHAIN_LUMPED)
        chain_fill_lumped(c, h, angle, s);
    else
        chain_fill_reduced(c, h, angle, s);
    chain_fill_contacts(c, angle, s);
}

double chain_energy(const chain *c) {
    static chain_system s;
    double angle[CHAIN_MOST], joint[2 * CHAIN_MOST + 2], sum = 0.0;
    chain_fill(c, 1.0, &s);
    chain_angles(c, angle);
    chain_joints(c, joint);
    for (int a = 0; a < s.dof; a++)
        for (int b = 0; b < s.dof; b++) sum += 0.5 * c->v[a] * s.inertia[a * s.dof + b] * c->v[b];
    for (int i = 0; i < c->n; i++) {
        const double bend = angle[i] - (i > 0 ? angle[i - 1] : 0.0);
        sum += c->mass * c->gravity * 0.5 * (joint[2 * i + 1] + joint[2 * i + 3]);
        sum += 0.5 * c->stiffness * bend * bend;
    }
    return sum;
}

talus_status chain_step(talus_context *ctx, chain *c, double h, chain_report *out) {
    static chain_system s;
    int64_t c_start[2 * CHAIN_MOST + 1], h_start[CHAIN_MOST + 1];
    int32_t index[2 * CHAIN_MOST * DOF], body[CHAIN_MOST] = {0};
    double f[DOF], w[2 * CHAIN_MOST] = {0}, mu[CHAIN_MOST], r[2 * CHAIN_MOST] = {0}, v[DOF];
    chain_fill(c, h, &s);
    for (int a = 0; a < s.dof; a++) {
        f[a] = s.force[a];
        for (int b = 0; b < s.dof; b++) f[a] += s.inertia[a * s.dof + b] * c->v[b];
    }
    for (int i = 0; i <= s.rows; i++) c_start[i] = (int64_t)i * s.dof;
    for (int i = 0; i < s.rows * s.dof; i++) index[i] = i % s.dof;
    for (int i = 0; i <= s.contacts; i++) h_start[i] = i;
    for (int i = 0; i < s.contacts; i++) {
        w[2 * i] = s.gap[i] / h;
        mu[i] = c->mu;
    }
    const int32_t body_start[2] = {0, s.dof};
    const talus_global_def def = {
        .dim = 2,
        .count = s.contacts,
        .body_count = 1,
        .body_start = body_start,
        .mass_block = s.mass,
        .h_row_start = h_start,
        .h_body = body,
        .h_block = s.h,
        .f = f,
        .w = w,
        .c = {.rows = s.rows, .cols = s.dof, .start = c_start, .index = index, .value = s.c},
        .k = s.k,
        .law = {.law = TALUS_LAW_COULOMB, .mu = mu}};
    talus_problem *problem = NULL;
    talus_solver *solver = NULL;
    talus_solve_info info = {0};
    talus_status status = talus_problem_create_global(ctx, &def, &problem);
    if (status == TALUS_OK) status = talus_solver_create(ctx, "auto", &solver);
    if (status == TALUS_OK) status = talus_solver_set(solver, "tolerance", "1e-10");
    if (status == TALUS_OK) status = talus_solver_set(solver, "iterations", "20000");
    if (status == TALUS_OK) status = talus_solver_prepare(solver, problem);
    if (status == TALUS_OK) status = talus_solver_solve(solver, r, &info);
    if (status == TALUS_OK) status = talus_problem_state(problem, r, v, NULL, NULL);
    if (status == TALUS_OK) status = talus_certify(problem, r, &out->certificate);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    if (status != TALUS_OK) return status;
    out->outcome = info.outcome;
    out->contacts = s.contacts;
    out->impulse[0] = out->impulse[1] = 0.0;
    for (int i = 0; i < 2 * s.contacts; i++) out->impulse[i % 2] += r[i];
    for (int a = 0; a < s.dof; a++) {
        c->v[a] = v[a];
        c->q[a] += h * v[a];
    }
    return TALUS_OK;
}

void chain_acceleration(const chain *c, double *out) {
    static chain_system s;
    static double a[DOF * DOF];
    chain still = *c;
    still.stiffness = 0.0;
    chain_fill(&still, 1.0, &s); // force with h = 1, springs and drag put in below
    const int n = s.dof;
    memcpy(a, s.inertia, sizeof a);
    for (int i = 0; i < n; i++) {
        out[i] = s.force[i] - c->stiffness * c->q[i];
        for (int j = 0; j < n; j++) out[i] -= (s.mass[i * n + j] - s.inertia[i * n + j]) * c->v[j];
    }
    for (int k = 0; k < n; k++) // elimination; the matrix is positive definite
        for (int i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
            out[i] -= factor * out[k];
        }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) out[k] -= a[k * n + j] * out[j];
        out[k] /= a[k * n + k];
    }
}
