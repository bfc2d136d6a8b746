// SPDX-License-Identifier: Apache-2.0
// Where the energy of a step went [theory/schemes]. With D = v+ − v, the impulses F of given forces
// (gravity too) and M D = F + Hᵀ r, the change of kinetic and potential energy is exactly
//     work of forces − (theta − ½) D·F + ½ (v+ + v)·Hᵀ r,
// and H v = u − (share of given motions), so that the last term is work of obstacles and a sum over
// contacts, which is split (joints add Cᵀ λ and their share, see ties.c):
//     gap schemes (theta = 1):  − ½ D·M D + u+·r;  the first is the loss of the impact where a
//         contact acts on the body, else of the time stepping; −u_T·r_T is friction, −u_N r_N the
//         work of closing gaps;
//     moreau-jean: with ũ = (u+ + e u)/(1 + e) and c = (1 − e)/(1 + e), −½ (u+ + u)·r = −ũ·r +
//         ½ c (u+ − u)·r; −ũ_T·r_T is friction, the second term the loss of the impact.
#include "base/vec3.h"
#include "world/world_impl.h"

tl_account tl_world_account(const talus_world *w) {
    tl_account sum = {0};
    for (int k = 0; k < w->model_count; k++)
        w->model[k]->ops->account(w->model[k], w->def.gravity, &sum);
    return sum;
}

// Friction, gaps and obstacles of the gap schemes, over blocks of contacts or of models.
static void ledger_gap_blocks(const talus_world *w, int32_t begin, int32_t end, talus_ledger *out) {
    const tl_stage *s = &w->stage;
    for (int64_t k = (int64_t)begin * s->size; k < (int64_t)end * s->size; k++) {
        const double power = s->r[k] * (s->u[k] - s->w[k] + tl_stage_given(s, k));
        out->work_obstacles -= s->r[k] * tl_stage_given(s, k);
        if (k % s->size == 0)
            out->loss_numerical -= power;
        else
            out->loss_friction -= power;
    }
}

static void ledger_gap_contacts(const talus_world *w, talus_ledger *out) {
    const tl_stage *s = &w->stage;
    ledger_gap_blocks(w, 0, s->contacts, out);
    ledger_gap_blocks(w, s->first_block[0], s->first_block[w->model_count], out);
}

// The same with impact laws. Forces that press a parting pair together during a step can make the
// sum over all impacts slightly negative: such an amount is one of the time stepping.
static void ledger_impact_contacts(const talus_world *w, talus_ledger *out) {
    const tl_stage *s = &w->stage;
    const int32_t dim = w->def.dim;
    double impact = 0.0;
    for (int32_t i = 0; i < s->contacts; i++) {
        const tl_stage_contact t = tl_stage_get(w, i);
        const talus_material_def *pair = w->materials.pair +
                                         (int64_t)w->item_material[t.a] * w->materials.count +
                                         w->item_material[t.b];
        double prior[TL_STAGE_ROWS];
        tl_stage_prior(w, i, prior);
        for (int32_t k = 0; k < dim; k++) {
            const int64_t at = (int64_t)i * s->size + k;
            const double e = k == 0 ? pair->restitution : pair->restitution_t, r = s->r[at];
            const double given = tl_stage_given(s, at), before = prior[k];
            const double now = s->u[at] - s->w[at] + given;
            const double formal = r * (now + e * before) / (1.0 + e);
            impact += 0.5 * (1.0 - e) / (1.0 + e) * r * (now - before);
            out->work_obstacles -= r * given;
            if (k == 0)
                out->loss_numerical -= formal;
            else
                out->loss_friction -= formal;
        }
    }
    if (impact >= 0.0)
        out->loss_impact += impact;
    else
        out->loss_numerical += impact;
}

// ½ D·M D and D·F of a group, and ½ v·M v before and after.
typedef struct ledger_group {
    double jump, force, before, after;
} ledger_group;

static ledger_group ledger_get_group(const tl_stage *s, int32_t group, const double *mass) {
    const int32_t first = s->group_start[group], size = s->group_start[group + 1] - first;
    const double *v = s->before + first, *next = s->after + first, *f = s->f + first;
    const int32_t band = s->diagonal ? 0 : s->band[group], width = band >= 0 ? band : size;
    ledger_group sum = {0};
    for (int32_t a = 0; a < size; a++) {
        const int32_t begin = a > width ? a - width : 0,
                      end = a + width < size ? a + width + 1 : size;
        double old = 0.0, new = 0.0;
        for (int32_t b = begin; b < end; b++) {
            const int64_t low = a < b ? a : b, away = a < b ? b - a : a - b;
            const double m = mass[band >= 0 ? low * (band + 1) + away : (int64_t)a * size + b];
            old += m * v[b];
            new += m *next[b];
        }
        const double d = next[a] - v[a];
        sum.jump += 0.5 * d * (new - old);
        sum.force += d * (f[a] - old);
        sum.before += 0.5 * old * v[a];
        sum.after += 0.5 * new *next[a];
    }
    return sum;
}

double tl_ledger_energies(const talus_world *w, const tl_step *step, const tl_account *start,
                          talus_ledger *out) {
    const tl_stage *s = &w->stage;
    const bool impact = w->def.scheme == TALUS_SCHEME_MOREAU_JEAN;
    double before = 0.0, after = 0.0;
    for (int32_t g = 0; g < s->groups; g++) {
        const ledger_group sum = ledger_get_group(s, g, s->mass + s->mass_at[g]);
        before += sum.before;
        after += sum.after;
        if (impact)
            out->loss_numerical += (step->theta - 0.5) * sum.force;
        else if (s->acting[g])
            out->loss_impact += sum.jump;
        else
            out->loss_numerical += sum.jump;
    }
    // What a model's own energy differs by from ½ v·M v, as it does when M changes with the pose.
    out->loss_numerical += start->kinetic - before;
    if (impact)
        ledger_impact_contacts(w, out);
    else
        ledger_gap_contacts(w, out);
    tl_ties_account(w, out);
    for (int k = 0; k < w->model_count; k++) {
        const tl_model *m = w->model[k];
        const int32_t at = s->group_start[s->first_group[k]];
        const double *old = s->before + at, *next = s->after + at;
        tl_inner inner = {0};
        if (m->ops->work) out->work_forces += m->ops->work(m, step, old, next);
        if (!m->ops->inner) continue;
        m->ops->inner(m, step, old, next, s->acting + s->first_group[k], &inner);
        out->work_forces += inner.damping;
        out->work_obstacles += inner.given;
        out->loss_numerical += inner.given - inner.elastic;
        if (impact) continue;
        out->loss_impact -= inner.jump; // what an implicit step takes is not lost in impacts
        out->loss_numerical += inner.jump;
    }
    // What elastic forces did was taken off above; what their energy lost comes on in the end.
    out->loss_numerical += start->elastic;
    return after;
}

void tl_ledger_close(const talus_world *w, double after, const tl_account *end, talus_ledger *out) {
    out->loss_numerical += after - end->kinetic - end->elastic;
    out->elastic += end->elastic; // springs of the penalty scheme are in it
    out->kinetic = end->kinetic;
    out->potential = end->potential;
    tl_copy3(end->momentum, out->momentum);
    tl_copy3(end->angular, out->angular);
    out->bodies = end->bodies;
    out->contacts = w->contacts.count;
    out->joints = w->joints.count;
    for (int32_t i = 0; i < w->contacts.count; i++) {
        out->open += w->contacts.status[i] == 0;
        out->stick += w->contacts.status[i] == 1;
        out->slip += w->contacts.status[i] == 2;
    }
}
