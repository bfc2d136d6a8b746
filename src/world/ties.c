// SPDX-License-Identifier: Apache-2.0
// The joints' part of the problem of a step [theory/joints]. What a joint holds is rows of C,
//     C v+ = k = − w° − e / h            (w°: share of given motions, e: error where contacts are
//                                         looked for)
// and a motor without limit is one more, C v+ = speed − w°. A motor of strength F and a stop are
// blocks of H, of which one row acts on the bodies:
//     motor   tangent row, u_T = relative speed − speed, mu = 0, yield = h F: |r_T| <= h F, and
//             where that is reached r_T is opposed to u_T
//     stop    normal row, u_N = relative speed + gap / h, mu = 0: 0 <= u_N ⟂ r_N >= 0
// The other rows of such a block act on idle unknowns, which nothing else moves, of a mass that
// makes W_ii a multiple of the identity; r is 0 there.
#include "base/vec3.h"
#include "world/world_impl.h"
#include <string.h>

// A row acts on an unknown only if the entry is more than rounding of a direction that is locked.
#define TIES_NOTHING 1e-12

void tl_ties_clear(talus_context *ctx, tl_ties *t) {
    void *const owned[] = {t->tie,    t->start, t->index, t->value, t->k,
                           t->lambda, t->drive, t->touch, t->held};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    *t = (tl_ties){0};
}

static bool ties_is_soft(const tl_joint *j) { return j->def.limit > 0.0 && !isinf(j->def.limit); }

int32_t tl_ties_idle(const talus_world *w) {
    int32_t count = 0;
    for (int32_t i = 0; i < w->joints.count; i++) {
        const tl_joint *j = w->joints.joint + i;
        count += ties_is_soft(j) + !isinf(j->def.low) + !isinf(j->def.high);
    }
    return count;
}

talus_status tl_ties_filter(talus_world *w) {
    tl_stage *s = &w->stage;
    tl_ties *t = &s->ties;
    const int32_t *pair = w->joints.pair, *end = pair + 2 * (int64_t)w->joints.pairs;
    int32_t kept = 0;
    if (pair == end) return TALUS_OK;
    TL_TRY(TL_RESERVE(w->ctx, s->contacts, &t->touch));
    for (int32_t i = 0; i < s->contacts; i++) { // both lists are sorted
        const tl_touch *touch = s->touch + i;
        while (pair < end && (pair[0] < touch->a || (pair[0] == touch->a && pair[1] < touch->b)))
            pair += 2;
        if (pair < end && pair[0] == touch->a && pair[1] == touch->b) continue;
        t->touch[kept++] = *touch;
    }
    s->touch = t->touch;
    s->contacts = kept;
    return TALUS_OK;
}

talus_status tl_ties_leave_out(talus_world *w) {
    tl_stage *s = &w->stage;
    tl_ties *t = &s->ties;
    int32_t kept = 0;
    if (s->touch != t->touch) TL_TRY(TL_REFILL(w->ctx, s->touch, s->contacts, &t->touch));
    for (int32_t i = 0; i < s->contacts; i++) {
        if (t->held[i])
            t->deepest = TL_MAX(t->deepest, -t->touch[i].gap);
        else
            t->touch[kept++] = t->touch[i];
    }
    s->touch = t->touch;
    s->contacts = kept;
    return TALUS_OK;
}

// ---- rows --------------------------------------------------------------------------------------

// The two sides of a joint in the step in hand.
typedef struct ties_sides {
    int32_t item[2], group[2]; // −1: the world; −1: no unknowns
    tl_pose pose[2];
} ties_sides;

static ties_sides ties_get_sides(const talus_world *w, int32_t joint) {
    const tl_stage *s = &w->stage;
    ties_sides out = {.item = {w->joints.a[joint], w->joints.b[joint]}};
    for (int k = 0; k < 2; k++) {
        const int32_t item = out.item[k];
        out.group[k] = item < 0 ? -1 : s->group_of[item];
        out.pose[k].q[0] = 1.0; // the world's
        if (item >= 0) out.pose[k] = s->pose[item];
    }
    return out;
}

enum { TIES_UNKNOWNS = 6 }; // most of one side

// A row as numbers: entries for the unknowns of both sides, and the share of given motions.
typedef struct ties_row {
    double side[2][TIES_UNKNOWNS];
    double given;
} ties_row;

static ties_row ties_get_row(const talus_world *w, const tl_step *step, const ties_sides *sides,
                             const tl_joint_row *row) {
    ties_row out = {0};
    for (int k = 0; k < 2; k++) {
        if (sides->item[k] < 0) continue;
        int32_t own;
        const tl_model *m = tl_stage_model(w, sides->item[k], &own);
        const double *arm = k == 0 ? row->arm_a : row->arm_b;
        const bool moves = sides->group[k] >= 0;
        double *to = moves ? out.side[k] : &out.given, d[3];
        tl_scale3(k == 0 ? 1.0 : -1.0, row->direction, d);
        if (row->spin)
            m->ops->turn(m, step, own, sides->pose + k, d, 1, to);
        else
            m->ops->row(m, step, own, sides->pose + k, arm, d, 1, to);
        const double nothing = TIES_NOTHING * (row->spin ? 1.0 : fmin(1.0, tl_norm3(arm)));
        for (int e = 0; moves && e < TIES_UNKNOWNS; e++)
            if (fabs(to[e]) <= nothing) to[e] = 0.0;
    }
    return out;
}

// Row · x for unknowns x of all groups.
static double ties_product(const tl_stage *s, const ties_sides *sides, const ties_row *row,
                           const double *x) {
    double sum = 0.0;
    for (int k = 0; k < 2; k++)
        for (int32_t e = 0; e < tl_stage_size(s, sides->group[k]); e++)
            sum += row->side[k][e] * x[s->group_start[sides->group[k]] + e];
    return sum;
}

static talus_status ties_reserve(talus_world *w) {
    tl_ties *t = &w->stage.ties;
    const int64_t rows = (int64_t)w->joints.count * (TL_JOINT_ROWS + 1), drives = tl_ties_idle(w);
    TL_TRY(TL_RESERVE(w->ctx, rows, &t->tie));
    TL_TRY(TL_RESERVE(w->ctx, rows + 1, &t->start));
    TL_TRY(TL_RESERVE(w->ctx, rows * 2 * TIES_UNKNOWNS, &t->index));
    TL_TRY(TL_RESERVE(w->ctx, rows * 2 * TIES_UNKNOWNS, &t->value));
    TL_TRY(TL_RESERVE(w->ctx, rows, &t->k));
    TL_TRY(TL_RESERVE(w->ctx, rows, &t->lambda));
    TL_TRY(TL_RESERVE(w->ctx, drives, &t->drive));
    return TALUS_OK;
}

// Append a row to C that is to bring the relative velocity to `speed`.
static void ties_push(talus_world *w, const tl_step *step, const ties_sides *sides, int32_t joint,
                      const tl_joint_row *row, bool motor, double speed) {
    tl_stage *s = &w->stage;
    tl_ties *t = &s->ties;
    const ties_row full = ties_get_row(w, step, sides, row);
    const int first = sides->group[1] < sides->group[0]; // columns ascend
    int64_t used = t->start[t->rows];
    for (int turn = 0; turn < 2; turn++) {
        const int k = turn == 0 ? first : 1 - first;
        for (int32_t e = 0; e < tl_stage_size(s, sides->group[k]); e++) {
            if (full.side[k][e] == 0.0) continue;
            t->index[used] = s->group_start[sides->group[k]] + e;
            t->value[used++] = full.side[k][e];
        }
    }
    if (used == t->start[t->rows]) return; // what it would hold is locked
    t->tie[t->rows] = (tl_tie){.joint = joint, .motor = motor, .row = *row, .given = full.given};
    t->k[t->rows] = speed - full.given;
    t->start[++t->rows] = used;
}

// M⁻¹ by its diagonal: enough to tell how fast things are.
static double ties_mobility(const tl_stage *s, int64_t mass, int32_t size, int32_t e) {
    return 1.0 / s->mass[mass + (s->diagonal ? e : (int64_t)e * size + e)];
}

// Append a drive, and its idle group.
static void ties_add_drive(talus_world *w, int32_t joint, tl_drive_part part,
                           const tl_joint_row *row, double gap, double mobility) {
    tl_stage *s = &w->stage;
    tl_ties *t = &s->ties;
    tl_drive *d = t->drive + t->drives++;
    *d = (tl_drive){.joint = joint, .part = part, .row = *row, .gap = gap, .w = mobility};
    if (part == TL_DRIVE_HIGH) tl_scale3(-1.0, d->row.direction, d->row.direction);
    const int32_t size = tl_stage_idle_size(w), at = s->dof;
    double *mass = s->mass + s->idle_mass;
    for (int32_t a = 0; a < size; a++) {
        s->f[at + a] = s->before[at + a] = 0.0;
        for (int32_t b = 0; b < size; b++)
            if (!s->diagonal || a == b) *mass++ = a == b ? 1.0 / mobility : 0.0;
    }
    s->idle_mass = mass - s->mass;
    s->dof = at + size;
    s->group_start[s->groups + ++s->idle] = s->dof;
}

// Motor and stops of a hinge or slider.
static void ties_drives(talus_world *w, const tl_step *step, const ties_sides *sides,
                        int32_t joint) {
    tl_stage *s = &w->stage;
    const tl_joint *j = w->joints.joint + joint;
    const tl_joint_row row =
        tl_joint_drive(j, sides->pose, sides->pose + 1, w->joints.position[joint]);
    const ties_row full = ties_get_row(w, step, sides, &row);
    double mobility = 0.0, push = 0.0; // W of the row; what given forces add to its velocity
    for (int k = 0; k < 2; k++) {
        const int32_t g = sides->group[k], size = tl_stage_size(s, g);
        for (int32_t e = 0; e < size; e++) {
            const int32_t at = s->group_start[g] + e;
            const double h = full.side[k][e], inverse = ties_mobility(s, s->mass_at[g], size, e);
            mobility += h * h * inverse;
            push += h * (inverse * s->f[at] - s->before[at]);
        }
    }
    if (!(mobility > 0.0)) return; // locked
    const double limit = j->def.limit;
    if (limit > 0.0 && isinf(limit))
        ties_push(w, step, sides, joint, &row, true, j->def.speed);
    else if (limit > 0.0)
        ties_add_drive(w, joint, TL_DRIVE_MOTOR, &row, 0.0, mobility);
    // stops that might be met
    const double speed = fabs(ties_product(s, sides, &full, s->before) + full.given);
    const double reach =
        2.0 * step->h * (speed + fabs(push) + (limit > 0.0 ? fabs(j->def.speed) : 0.0));
    const double low = row.error - j->def.low, high = j->def.high - row.error;
    const double *stop = w->joints.stop + 2 * (int64_t)joint;
    if (low <= reach || stop[0] != 0.0) ties_add_drive(w, joint, TL_DRIVE_LOW, &row, low, mobility);
    if (high <= reach || stop[1] != 0.0)
        ties_add_drive(w, joint, TL_DRIVE_HIGH, &row, high, mobility);
}

talus_status tl_ties_fill(talus_world *w, const tl_step *step) {
    tl_stage *s = &w->stage;
    tl_ties *t = &s->ties;
    t->rows = t->drives = s->idle = 0;
    s->idle_mass = s->mass_at[s->groups];
    if (w->joints.count == 0) return TALUS_OK;
    TL_TRY(ties_reserve(w));
    t->start[0] = 0;
    for (int32_t i = 0; i < w->joints.count; i++) {
        const ties_sides sides = ties_get_sides(w, i);
        if (sides.group[0] < 0 && sides.group[1] < 0) continue;
        const double lean = sides.group[0] < 0 ? 1.0 : sides.group[1] < 0 ? 0.0 : 0.5;
        tl_joint_row row[TL_JOINT_ROWS];
        const tl_joint *j = w->joints.joint + i;
        const int n = tl_joint_rows(j, w->def.dim, sides.pose, sides.pose + 1, lean, row);
        for (int k = 0; k < n; k++)
            ties_push(w, step, &sides, i, row + k, false, -row[k].error / step->h);
        if (tl_joint_has_drive(j)) ties_drives(w, step, &sides, i);
    }
    return TALUS_OK;
}

// ---- blocks ------------------------------------------------------------------------------------

int32_t tl_drive_row(const tl_drive *d) { return d->part == TL_DRIVE_MOTOR ? 1 : 0; }

void tl_ties_layout(const talus_world *w, int32_t drive, int32_t *blocks, int64_t *values) {
    const tl_stage *s = &w->stage;
    const ties_sides sides = ties_get_sides(w, s->ties.drive[drive].joint);
    int32_t size = tl_stage_idle_size(w);
    *blocks = 1;
    for (int k = 0; k < 2; k++) {
        *blocks += sides.group[k] >= 0;
        size += tl_stage_size(s, sides.group[k]);
    }
    *values = (int64_t)s->size * size;
}

// H of a drive: the sides in the order of their groups, then the idle group.
static void ties_fill_block(talus_world *w, int32_t drive, const ties_sides *sides,
                            const ties_row *full) {
    const tl_stage *s = &w->stage;
    const tl_drive *d = s->ties.drive + drive;
    const int32_t rows = s->size, i = s->contacts + drive, row = tl_drive_row(d);
    const int first = sides->group[1] < sides->group[0];
    double *h = s->h_block + s->h_value[i];
    int32_t *body = s->h_body + s->h_start[i];
    memset(h, 0, (size_t)(s->h_value[i + 1] - s->h_value[i]) * sizeof *h);
    for (int turn = 0; turn < 2; turn++) {
        const int k = turn == 0 ? first : 1 - first;
        const int32_t size = tl_stage_size(s, sides->group[k]);
        if (sides->group[k] < 0) continue;
        memcpy(h + (int64_t)row * size, full->side[k], (size_t)size * sizeof *h);
        *body++ = sides->group[k];
        h += (int64_t)rows * size;
    }
    *body = s->groups + drive;
    const int32_t size = tl_stage_size(s, *body);
    for (int32_t a = 0, e = 0; a < rows; a++)
        if (a != row) h[a * size + e++] = 1.0;
}

void tl_ties_blocks(talus_world *w, const tl_step *step) {
    tl_stage *s = &w->stage;
    const int32_t rows = s->size;
    for (int32_t drive = 0; drive < s->ties.drives; drive++) {
        const tl_drive *d = s->ties.drive + drive;
        const talus_joint_def *def = &w->joints.joint[d->joint].def;
        const ties_sides sides = ties_get_sides(w, d->joint);
        const ties_row full = ties_get_row(w, step, &sides, &d->row);
        const int32_t i = s->contacts + drive;
        const int64_t first = (int64_t)i * rows, at = first + tl_drive_row(d);
        const bool motor = d->part == TL_DRIVE_MOTOR;
        ties_fill_block(w, drive, &sides, &full);
        for (int64_t k = first; k < first + rows; k++) s->w[k] = s->given[k] = 0.0;
        s->mu[i] = 0.0;
        s->yield[i] = motor ? step->h * def->limit : 0.0;
        s->tension[i] = 0.0;
        s->given[at] = full.given;
        s->w[at] = full.given + (motor ? -def->speed : d->gap / step->h);
        const double before = ties_product(s, &sides, &full, s->before);
        // the normal of a motor: in the open, as far as its own row is from its aim
        if (motor) s->w[first] = fabs(before + s->w[at]);
    }
}

void tl_ties_warm_start(talus_world *w, const tl_step *step) {
    const tl_stage *s = &w->stage;
    const tl_joints *j = &w->joints;
    const double scale = j->h > 0.0 ? step->h / j->h : 1.0;
    for (int32_t i = 0; i < s->ties.drives; i++) {
        const tl_drive *d = s->ties.drive + i;
        const double impulse = d->part == TL_DRIVE_MOTOR
                                   ? j->drive[d->joint]
                                   : j->stop[2 * (int64_t)d->joint + (d->part == TL_DRIVE_HIGH)];
        const int64_t block = (int64_t)s->contacts + i;
        double *r = s->r + block * s->size + tl_drive_row(d);
        *r = scale * impulse;
        if (d->part == TL_DRIVE_MOTOR) *r = fmax(-s->yield[block], fmin(s->yield[block], *r));
    }
}

// ---- ledger ------------------------------------------------------------------------------------

// Put the work of an impulse down: at the relative velocity after the step (gap schemes), or at the
// mean of those before and after.
static void ties_book(bool impact, bool motor, bool stop, double impulse, double now, double before,
                      talus_ledger *out) {
    const double work = impulse * (impact ? 0.5 * (now + before) : now);
    if (motor) {
        out->work_joints += work;
        return;
    }
    const double lost = impact && stop ? 0.5 * impulse * (now - before) : 0.0;
    if (lost > 0.0) out->loss_impact += lost;
    out->loss_numerical -= work + fmax(lost, 0.0);
}

void tl_ties_account(const talus_world *w, talus_ledger *out) {
    const tl_stage *s = &w->stage;
    const tl_ties *t = &s->ties;
    const bool impact = w->def.scheme == TALUS_SCHEME_MOREAU_JEAN;
    for (int32_t j = 0; j < t->rows; j++) {
        double now = t->tie[j].given, before = now;
        for (int64_t e = t->start[j]; e < t->start[j + 1]; e++) {
            now += t->value[e] * s->after[t->index[e]];
            before += t->value[e] * s->before[t->index[e]];
        }
        out->work_obstacles -= t->lambda[j] * t->tie[j].given;
        ties_book(impact, t->tie[j].motor, false, t->lambda[j], now, before, out);
    }
    for (int32_t i = 0; i < t->drives; i++) {
        const int32_t row = tl_drive_row(t->drive + i);
        const int64_t at = ((int64_t)s->contacts + i) * s->size + row;
        double prior[TL_STAGE_ROWS];
        tl_stage_prior(w, s->contacts + i, prior);
        const double now = s->u[at] - s->w[at] + s->given[at];
        const bool motor = t->drive[i].part == TL_DRIVE_MOTOR;
        out->work_obstacles -= s->r[at] * s->given[at];
        ties_book(impact, motor, !motor, s->r[at], now, prior[row], out);
    }
}
