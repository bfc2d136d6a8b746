// SPDX-License-Identifier: Apache-2.0
// The penalty scheme: forces at contacts, what they store and lose, and the step as a whole
// [theory/penalty (P7), (P8)]. Contacts and bodies are worked on in blocks fixed by their
// number, forces are added up in the order of the contacts: equal bits for any number of threads.
#include "base/thread.h"
#include "rigid/penalty_impl.h"
#include <stdio.h>

enum { SPRINGS_BLOCK = 256 };

typedef struct springs_task {
    tl_springs *s;
    const tl_springs_bodies *bodies;
    const tl_springs_step_def *step;
    const tl_touch *touch;
    int64_t count; // of contacts or bodies, as the phase may be
    void (*block)(const struct springs_task *task, int64_t begin, int64_t end, tl_spring_sum *sum);
} springs_task;

talus_status tl_springs_create(talus_context *ctx, const tl_springs_def *def, tl_springs **out) {
    TL_TRY(TL_ALLOC(ctx, 1, out));
    (*out)->ctx = ctx;
    (*out)->def = *def;
    return TALUS_OK;
}

void tl_springs_destroy(tl_springs *s) {
    if (s == NULL) return;
    talus_context *ctx = s->ctx;
    void *const array[] = {s->old,      s->spring, s->now,         s->match, s->impulse,
                           s->velocity, s->status, s->mover,       s->gear,  s->gear1,
                           s->block,    s->ratio,  s->restitution, s->light};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) tl_free(ctx, array[k]);
    tl_free(ctx, s);
}

double tl_springs_when(const tl_springs *s) {
    return s->def.integrator == TALUS_INTEGRATOR_LEAP_FROG ? 0.5 : 1.0;
}

// Room ------------------------------------------------------------------------------------------

// Each array gets at least `count` places; the capacity is raised only when all have them.
static talus_status springs_reserve_contacts(tl_springs *s, int64_t count) {
    if (count <= s->capacity) return TALUS_OK;
    talus_context *ctx = s->ctx;
    const int64_t n = count + count / 2 + 16;
    TL_TRY(tl_realloc(ctx, s->old_count, n, sizeof *s->old, &s->old));
    TL_TRY(tl_realloc(ctx, 0, n, sizeof *s->spring, &s->spring));
    TL_TRY(tl_realloc(ctx, 0, n, sizeof *s->now, &s->now));
    TL_TRY(tl_realloc(ctx, 0, n, sizeof *s->match, &s->match));
    TL_TRY(tl_realloc(ctx, 3 * s->count, 3 * n, sizeof *s->impulse, &s->impulse));
    TL_TRY(tl_realloc(ctx, 3 * s->count, 3 * n, sizeof *s->velocity, &s->velocity));
    TL_TRY(tl_realloc(ctx, s->count, n, sizeof *s->status, &s->status));
    s->capacity = n;
    return TALUS_OK;
}

static talus_status springs_reserve_bodies(tl_springs *s, int32_t count) {
    if (count <= s->bodies) return TALUS_OK;
    const int64_t n = (int64_t)count + count / 2 + 4;
    TL_TRY(tl_realloc(s->ctx, 0, n, sizeof *s->mover, &s->mover));
    TL_TRY(tl_realloc(s->ctx, s->gears, n, sizeof *s->gear, &s->gear));
    TL_TRY(tl_realloc(s->ctx, 0, n, sizeof *s->gear1, &s->gear1));
    s->bodies = (int32_t)(n < INT32_MAX ? n : INT32_MAX);
    return TALUS_OK;
}

talus_status tl_springs_reserve(tl_springs *s, int64_t contacts, int32_t bodies) {
    TL_TRY(springs_reserve_contacts(s, contacts));
    return springs_reserve_bodies(s, bodies);
}

static talus_status springs_reserve_blocks(tl_springs *s, int64_t count) {
    const int64_t blocks = (count + SPRINGS_BLOCK - 1) / SPRINGS_BLOCK;
    if (blocks <= s->blocks) return TALUS_OK;
    TL_TRY(tl_realloc(s->ctx, 0, 2 * blocks, sizeof *s->block, &s->block));
    s->blocks = 2 * blocks;
    return TALUS_OK;
}

// Check the figures and find damping ratios where a restitution has changed.
static talus_status springs_prepare_pairs(tl_springs *s, const tl_springs_step_def *step) {
    const int64_t n = (int64_t)step->materials * step->materials;
    if (step->materials != s->materials) {
        TL_TRY(tl_realloc(s->ctx, 0, n, sizeof *s->ratio, &s->ratio));
        TL_TRY(tl_realloc(s->ctx, 0, n, sizeof *s->restitution, &s->restitution));
        TL_TRY(tl_realloc(s->ctx, 0, 3 * (int64_t)step->materials, sizeof *s->light, &s->light));
        for (int64_t k = 0; k < n; k++) s->restitution[k] = NAN;
        s->materials = step->materials;
    }
    const bool hertz = s->def.law == TALUS_PENALTY_HERTZ;
    for (int64_t k = 0; k < n; k++) {
        const talus_material_def *p = &step->pair[k];
        const int a = (int)(k / step->materials), b = (int)(k % step->materials);
        TL_REQUIRE(s->ctx, p->friction >= 0.0 && p->restitution >= 0.0 && p->restitution <= 1.0,
                   TALUS_ERR_ARG,
                   "materials %d and %d: friction %g must be >= 0, restitution %g in [0, 1]", a, b,
                   p->friction, p->restitution);
        TL_REQUIRE(s->ctx, p->tangential > 0.0, TALUS_ERR_ARG,
                   "materials %d and %d: tangential is %g and must be > 0; 2/7 is usual", a, b,
                   p->tangential);
        if (hertz) {
            TL_REQUIRE(s->ctx, p->young > 0.0 && p->poisson >= 0.0 && p->poisson < 0.5,
                       TALUS_ERR_ARG,
                       "materials %d and %d: young %g must be > 0, poisson %g in [0, 0.5)", a, b,
                       p->young, p->poisson);
            continue;
        }
        TL_REQUIRE(s->ctx, p->stiffness > 0.0, TALUS_ERR_ARG,
                   "materials %d and %d: stiffness is %g and must be > 0", a, b, p->stiffness);
        if (p->restitution == s->restitution[k]) continue;
        s->ratio[k] = tl_spring_ratio(s->def.law, p->restitution);
        s->restitution[k] = p->restitution;
    }
    return TALUS_OK;
}

static talus_status springs_check(const tl_springs *s, const char *what, int32_t a, int32_t b,
                                  double time, double h) {
    const talus_status status = tl_spring_check(s->ctx, time, h);
    if (status == TALUS_OK) return status;
    char where[64];
    (void)snprintf(where, sizeof where, "%s %d and %d", what, (int)a, (int)b);
    return tl_fail_prefix(s->ctx, status, where);
}

// The two lightest free bodies of each material, and 0 in the third place where it has others.
static void springs_weigh(tl_springs *s, const tl_springs_bodies *bodies) {
    for (int32_t k = 0; k < 3 * s->materials; k++) s->light[k] = INFINITY;
    for (int32_t i = 0; i < bodies->count; i++) {
        double *of = s->light + 3 * (ptrdiff_t)bodies->material[i];
        const double mass = bodies->mass[i];
        if (mass == 0.0) {
            of[2] = 0.0;
        } else if (mass < of[0]) {
            of[1] = of[0];
            of[0] = mass;
        } else {
            of[1] = fmin(of[1], mass);
        }
    }
}

// The step against the stiffest pair there can be of any two materials: their lightest free bodies,
// or one of them and a body that is not free. The hertz law has no stiffness before it is loaded:
// there only the contacts themselves can tell.
static talus_status springs_check_lightest(tl_springs *s, const tl_springs_bodies *bodies,
                                           const tl_springs_step_def *step) {
    const int32_t n = s->materials;
    if (s->def.law == TALUS_PENALTY_HERTZ) return TALUS_OK;
    springs_weigh(s, bodies);
    for (int32_t a = 0; a < n; a++) {
        for (int32_t b = a; b < n; b++) {
            const double *of_a = s->light + 3 * (ptrdiff_t)a, *of_b = s->light + 3 * (ptrdiff_t)b;
            const double other = of_b[a == b];
            double mass = INFINITY;
            if (isfinite(of_a[0]) && isfinite(other)) mass = tl_springs_mass(of_a[0], other);
            if (of_b[2] == 0.0) mass = fmin(mass, of_a[0]);
            if (of_a[2] == 0.0) mass = fmin(mass, of_b[0]);
            if (!isfinite(mass)) continue;
            const talus_material_def *pair = &step->pair[(int64_t)a * n + b];
            const double time = tl_springs_contact_time(s->def.law, pair, mass, 0.0, 0.0);
            TL_TRY(springs_check(s, "materials", a, b, time, step->h));
        }
    }
    return TALUS_OK;
}

// Phases in blocks ------------------------------------------------------------------------------

static void springs_work(void *arg, tl_team *team, int rank) {
    const springs_task *task = arg;
    const int64_t blocks = (task->count + SPRINGS_BLOCK - 1) / SPRINGS_BLOCK;
    int64_t first, last;
    tl_share(blocks, tl_team_size(team), rank, &first, &last);
    for (int64_t k = first; k < last; k++) {
        const int64_t begin = k * SPRINGS_BLOCK, rest = task->count - begin;
        tl_spring_sum sum = {.worst = INFINITY};
        task->block(task, begin, begin + (rest < SPRINGS_BLOCK ? rest : SPRINGS_BLOCK), &sum);
        task->s->block[k] = sum;
    }
}

static tl_spring_sum springs_run(springs_task *task, int64_t count,
                                 void (*block)(const springs_task *, int64_t, int64_t,
                                               tl_spring_sum *)) {
    tl_spring_sum total = {.worst = INFINITY};
    task->count = count;
    task->block = block;
    tl_parallel(task->s->ctx, task->step->threads, springs_work, task);
    for (int64_t k = 0; k < (count + SPRINGS_BLOCK - 1) / SPRINGS_BLOCK; k++) {
        const tl_spring_sum *b = &task->s->block[k];
        total.elastic += b->elastic, total.impact += b->impact, total.friction += b->friction;
        total.slip += b->slip, total.obstacles += b->obstacles, total.forces += b->forces;
        total.first += b->first;
        total.penetration = fmax(total.penetration, b->penetration);
        if (b->worst < total.worst) total.worst = b->worst, total.worst_at = b->worst_at;
        total.open += b->open, total.stick += b->stick, total.slide += b->slide;
    }
    return total;
}

// The springs of the step before ------------------------------------------------------------------

static int springs_compare(const tl_spring *o, const tl_touch *t) {
    if (o->a != t->a) return o->a < t->a ? -1 : 1;
    if (o->b != t->b) return o->b < t->b ? -1 : 1;
    return (o->feature > t->feature) - (o->feature < t->feature);
}

static double springs_energy_t(const tl_spring *o) {
    return 0.5 * o->stiffness * tl_dot3(o->xi, o->xi);
}

// Find each touch among the springs, both sorted. Returns what the tangential springs held of
// contacts that have opened.
static double springs_match(tl_springs *s, const tl_touch *touch, int64_t count) {
    double lost = 0.0;
    int64_t j = 0;
    for (int64_t i = 0; i < count; i++) {
        while (j < s->old_count && springs_compare(&s->old[j], &touch[i]) < 0) {
            lost += springs_energy_t(&s->old[j++]);
        }
        s->match[i] = -1;
        if (j == s->old_count || springs_compare(&s->old[j], &touch[i]) > 0) continue;
        if (touch[i].gap < 0.0) {
            s->match[i] = j++;
        } else {
            lost += springs_energy_t(&s->old[j++]);
        }
    }
    while (j < s->old_count) lost += springs_energy_t(&s->old[j++]);
    return lost;
}

// Turn a tangential vector along with the contact: from one normal to the other by the shortest
// way, then about the normal by `twist`.
static void springs_carry(const double from[3], const double to[3], double twist, double x[3]) {
    double axis[3], c[3];
    const double cosine = tl_dot3(from, to);
    tl_cross3(from, to, axis);
    tl_cross3(axis, x, c);
    const double along = cosine > -0.5 ? tl_dot3(axis, x) / (1.0 + cosine) : 0.0;
    for (int k = 0; k < 3; k++) x[k] = cosine * x[k] + c[k] + along * axis[k];
    tl_cross3(to, x, c);
    for (int k = 0; k < 3; k++) x[k] = cos(twist) * x[k] + sin(twist) * c[k];
    tl_axpy3(x, -tl_dot3(to, x), to, x); // what rounding has put along the normal
}

// Forces ------------------------------------------------------------------------------------------

// Velocity of the point at `arm` before (or after) the kick.
static void springs_point(const tl_mover *m, bool after, const double arm[3], double out[3]) {
    double turn[3];
    tl_cross3(after ? m->w1 : m->w, arm, turn);
    const double *v = after ? m->v1 : m->v;
    for (int k = 0; k < 3; k++) out[k] = v[k] + turn[k];
}

static void springs_relative(const tl_springs *s, const tl_touch *t, const tl_spring_now *now,
                             bool after, double out[3]) {
    double b[3];
    springs_point(&s->mover[t->a], after, now->arm_a, out);
    springs_point(&s->mover[t->b], after, now->arm_b, b);
    tl_sub3(out, b, out);
}

// Stretch of the spring before friction is looked at: carried along from the step before, and
// stretched by the tangential velocity for the time of contact since.
static void springs_stretch(const tl_springs *s, const tl_touch *t, const tl_spring *old, double h,
                            double approach, tl_spring *o, double stretch[3]) {
    const bool gear = s->def.integrator == TALUS_INTEGRATOR_PREDICTOR_CORRECTOR;
    tl_scale3(h, o->slide, stretch);
    if (old == NULL) {
        o->speed = fmax(approach, 0.0);
        if (approach * h > -t->gap) tl_scale3(-t->gap / approach, o->slide, stretch);
        return;
    }
    const tl_mover *a = &s->mover[t->a], *b = &s->mover[t->b];
    const double twist = 0.5 * h * (tl_dot3(a->w, t->normal) + tl_dot3(b->w, t->normal));
    tl_copy3(old->xi, o->xi);
    springs_carry(old->normal, t->normal, twist, o->xi);
    o->speed = old->speed;
    if (gear) { // the mean of both ends of the step
        double slide[3];
        tl_copy3(old->slide, slide);
        springs_carry(old->normal, t->normal, twist, slide);
        for (int k = 0; k < 3; k++) stretch[k] = 0.5 * h * (slide[k] + o->slide[k]);
    }
}

// Tangential force on a into now->force, sliding included; xi holds the spring carried along.
static uint8_t springs_friction(const double stretch[3], const tl_spring *old, double damping,
                                tl_spring *o, tl_spring_now *now) {
    const double k_t = o->stiffness;
    if (old != NULL) {
        // hertz: growing stiffness leaves the force as it is, falling stiffness the stretch; both
        // take energy out and neither puts any in
        const double before = 0.5 * old->stiffness * tl_dot3(o->xi, o->xi);
        if (k_t > old->stiffness) tl_scale3(old->stiffness / k_t, o->xi, o->xi);
        now->slip_loss += fmax(before - 0.5 * k_t * tl_dot3(o->xi, o->xi), 0.0);
    }
    // less normal force than before: the spring gives way first
    const double held = k_t * tl_norm3(o->xi);
    if (held > now->cap) {
        now->slip_loss += 0.5 * (held * held - now->cap * now->cap) / k_t;
        tl_scale3(now->cap / held, o->xi, o->xi);
    }
    tl_axpy3(o->xi, 1.0, stretch, o->xi);
    const double wanted = k_t * tl_norm3(o->xi);
    const bool slips = wanted > now->cap;
    if (slips) {
        // the stretch beyond the bound is the way slid, at the force of the bound
        now->slip_loss += now->cap * (wanted - now->cap) / k_t;
        tl_scale3(now->cap / wanted, o->xi, o->xi);
    }
    double f[3];
    for (int k = 0; k < 3; k++) f[k] = -k_t * o->xi[k] - damping * o->slide[k];
    const double size = tl_norm3(f);
    if (size > now->cap) tl_scale3(now->cap / size, f, f);
    for (int k = 0; k < 3; k++) {
        now->force[k] += f[k];
        now->dashpot[k] = f[k] + k_t * o->xi[k];
    }
    return slips || size > now->cap ? 2 : 1;
}

static void springs_force(const springs_task *task, int64_t i, tl_spring_sum *sum) {
    tl_springs *s = task->s;
    const tl_springs_bodies *bodies = task->bodies;
    const tl_touch *t = &task->touch[i];
    const double h = task->step->h, *n = t->normal, depth = -t->gap;
    tl_spring *o = &s->spring[i];
    tl_spring_now *now = &s->now[i];
    const int64_t pair = (int64_t)bodies->material[t->a] * s->materials + bodies->material[t->b];
    const tl_spring *old = s->match[i] >= 0 ? &s->old[s->match[i]] : NULL;

    *o = (tl_spring){.a = t->a, .b = t->b, .feature = t->feature};
    *now =
        (tl_spring_now){.pair = {.law = s->def.law,
                                 .chi = s->def.chi,
                                 .material = &task->step->pair[pair],
                                 .ratio = s->ratio[pair],
                                 .mass = tl_springs_mass(bodies->mass[t->a], bodies->mass[t->b])}};
    if (bodies->curvature != NULL) {
        now->pair.curvature = bodies->curvature[t->a] + bodies->curvature[t->b];
    }
    tl_axpy3(t->arm_a, 0.5 * depth, n, now->arm_a);
    tl_axpy3(t->arm_b, -0.5 * depth, n, now->arm_b);
    springs_relative(s, t, now, false, now->before);
    s->status[i] = 0;
    if (!(depth > 0.0)) return;

    const double speed_n = tl_dot3(now->before, n);
    o->touching = true;
    tl_copy3(n, o->normal);
    tl_axpy3(now->before, -speed_n, n, o->slide);
    double stretch[3];
    springs_stretch(s, t, old, h, -speed_n, o, stretch);
    now->pair.speed = o->speed;
    tl_spring_force normal;
    tl_spring_normal(&now->pair, depth, -speed_n, &normal);
    tl_scale3(normal.force, n, now->force);
    now->normal_loss = normal.force - normal.elastic;

    const talus_material_def *material = now->pair.material;
    now->cap = material->friction * fmax(normal.force, 0.0);
    o->stiffness = material->tangential * normal.stiffness;
    s->status[i] = 2;
    if (material->friction > 0.0) {
        const double damping = normal.damping * sqrt(material->tangential);
        s->status[i] = springs_friction(stretch, old, damping, o, now);
    }
    if (normal.force == 0.0) s->status[i] = 0;
    now->energy = tl_spring_energy(&now->pair, depth) + springs_energy_t(o);
    // a pair for which hertz is not defined has no duration either
    const double duration = tl_spring_duration(s->def.law, now->pair.mass, normal.stiffness);
    if (!(duration >= sum->worst)) sum->worst = isnan(duration) ? 0.0 : duration, sum->worst_at = i;
}

static void springs_forces(const springs_task *task, int64_t begin, int64_t end,
                           tl_spring_sum *sum) {
    for (int64_t i = begin; i < end; i++) springs_force(task, i, sum);
}

static void springs_add(const tl_springs *s, const tl_touch *touch, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const tl_spring_now *now = &s->now[i];
        if (!s->spring[i].touching) continue;
        tl_mover *a = &s->mover[touch[i].a], *b = &s->mover[touch[i].b];
        double torque[3];
        tl_axpy3(a->f, 1.0, now->force, a->f);
        tl_axpy3(b->f, -1.0, now->force, b->f);
        tl_cross3(now->arm_a, now->force, torque);
        tl_axpy3(a->t, 1.0, torque, a->t);
        tl_cross3(now->arm_b, now->force, torque);
        tl_axpy3(b->t, -1.0, torque, b->t);
    }
}

// What contacts store and lose --------------------------------------------------------------------

// Energy at the end of a leap-frog step, half a step after the evaluation, at the new velocity.
static double springs_energy_end(const tl_springs *s, const tl_touch *t, int64_t i, double h,
                                 const double after[3]) {
    const tl_spring *o = &s->spring[i];
    const tl_spring_now *now = &s->now[i];
    const double speed_n = tl_dot3(after, t->normal);
    const double normal = tl_spring_energy(&now->pair, -t->gap - 0.5 * h * speed_n);
    if (!o->touching || !(now->cap > 0.0)) return normal;
    double xi[3];
    for (int k = 0; k < 3; k++) {
        xi[k] = o->xi[k] + 0.5 * h * (after[k] - speed_n * t->normal[k]);
    }
    const double size = fmin(tl_norm3(xi), now->cap / o->stiffness);
    return normal + 0.5 * o->stiffness * size * size;
}

static void springs_losses(const springs_task *task, int64_t begin, int64_t end,
                           tl_spring_sum *sum) {
    tl_springs *s = task->s;
    const bool gear = s->def.integrator == TALUS_INTEGRATOR_PREDICTOR_CORRECTOR;
    const double h = task->step->h;
    for (int64_t i = begin; i < end; i++) {
        const tl_touch *t = &task->touch[i];
        const tl_spring_now *now = &s->now[i];
        const tl_spring *o = &s->spring[i];
        double *after = s->velocity + 3 * i;
        springs_relative(s, t, now, true, after);
        tl_scale3(h, now->force, s->impulse + 3 * i);
        sum->open += s->status[i] == 0, sum->stick += s->status[i] == 1;
        sum->slide += s->status[i] == 2;
        sum->elastic += gear ? now->energy : springs_energy_end(s, t, i, h, after);
        if (!o->touching) continue;
        sum->penetration = fmax(sum->penetration, -t->gap);
        sum->slip += now->slip_loss;
        // leap-frog: at the mean of the velocities before and after the kick, with which the forces
        // do exactly the work that the kinetic energy changes by
        double mean[3], point[3];
        for (int k = 0; k < 3; k++) {
            mean[k] = gear ? now->before[k] : 0.5 * (now->before[k] + after[k]);
        }
        sum->impact += fmax(-now->normal_loss * tl_dot3(mean, t->normal), 0.0);
        sum->friction += fmax(-tl_dot3(now->dashpot, mean), 0.0);
        if (task->bodies->mass[t->b] == 0.0) {
            springs_point(&s->mover[t->b], false, now->arm_b, point);
            sum->obstacles += tl_dot3(now->force, point);
        } else if (task->bodies->mass[t->a] == 0.0) {
            springs_point(&s->mover[t->a], false, now->arm_a, point);
            sum->obstacles -= tl_dot3(now->force, point);
        }
    }
}

// The step ----------------------------------------------------------------------------------------

static void springs_kick(const springs_task *task, int64_t begin, int64_t end, tl_spring_sum *sum) {
    tl_springs_kick(task->s, task->bodies, task->step->h, task->step->gravity, begin, end, sum);
}

static void springs_commit(const springs_task *task, int64_t begin, int64_t end,
                           tl_spring_sum *sum) {
    (void)sum;
    tl_springs_commit(task->s, task->bodies, task->step->h, begin, end);
}

talus_status tl_springs_place(tl_springs *s, const tl_springs_bodies *bodies, double h,
                              const double gravity[3], tl_pose *pose) {
    TL_REQUIRE(s->ctx, isfinite(h) && h > 0.0, TALUS_ERR_ARG, "step: %g s must be > 0", h);
    TL_TRY(springs_reserve_bodies(s, bodies->count));
    TL_TRY(springs_reserve_blocks(s, bodies->count));
    for (int32_t i = s->gears; i < bodies->count; i++) s->gear[i] = (tl_gear){0};
    s->placed = bodies->count;
    tl_springs_predict(s, bodies, h, gravity, 0, bodies->count);
    for (int32_t i = 0; i < bodies->count; i++) {
        if (bodies->mass[i] == 0.0) continue;
        tl_copy3(s->mover[i].x, pose[i].x);
        for (int k = 0; k < 4; k++) pose[i].q[k] = s->mover[i].q[k];
    }
    return TALUS_OK;
}

// Springs that touch, one after the other: what the next step looks among.
static void springs_keep(tl_springs *s, int64_t count) {
    s->old_count = 0;
    for (int64_t i = 0; i < count; i++) {
        if (s->spring[i].touching) s->old[s->old_count++] = s->spring[i];
    }
    s->count = count;
    s->gears = s->placed;
    tl_gear *swap = s->gear;
    s->gear = s->gear1;
    s->gear1 = swap;
}

talus_status tl_springs_step(tl_springs *s, const tl_springs_bodies *bodies,
                             const tl_springs_step_def *step, const tl_touch *touch, int64_t count,
                             tl_springs_info *info) {
    TL_REQUIRE(s->ctx, s->placed == bodies->count, TALUS_ERR_ARG,
               "%d bodies were placed and %d are to step", (int)s->placed, (int)bodies->count);
    TL_TRY(tl_team_reserve(s->ctx, step->threads));
    TL_TRY(springs_reserve_contacts(s, count));
    TL_TRY(springs_reserve_blocks(s, count));
    TL_TRY(springs_prepare_pairs(s, step));
    TL_TRY(springs_check_lightest(s, bodies, step));
    springs_task task = {.s = s, .bodies = bodies, .step = step, .touch = touch};
    const bool gear = s->def.integrator == TALUS_INTEGRATOR_PREDICTOR_CORRECTOR;
    const double h = step->h;

    const double opened = springs_match(s, touch, count);
    const tl_spring_sum force = springs_run(&task, count, springs_forces);
    if (isfinite(force.worst)) {
        const tl_touch *t = &touch[force.worst_at];
        TL_REQUIRE(s->ctx, force.worst > 0.0, TALUS_ERR_ARG,
                   "bodies %d and %d: the hertz law needs surfaces of which one is round",
                   (int)t->a, (int)t->b);
        TL_TRY(springs_check(s, "bodies", t->a, t->b, force.worst, h));
    }
    springs_add(s, touch, count);
    const tl_spring_sum kick = springs_run(&task, bodies->count, springs_kick);
    const tl_spring_sum sum = springs_run(&task, count, springs_losses);
    springs_run(&task, bodies->count, springs_commit);
    springs_keep(s, count);

    // the predictor-corrector sums powers by the trapezoidal rule
    const double now[4] = {sum.impact, sum.friction, sum.obstacles, kick.forces};
    double over[4];
    s->power[3] += kick.first; // new bodies have been under their forces from the beginning
    for (int k = 0; k < 4; k++) {
        over[k] = gear ? 0.5 * h * (s->power[k] + now[k]) : (k == 3 ? 1.0 : h) * now[k];
        if (gear) s->power[k] = now[k];
    }
    *info = (tl_springs_info){.elastic = sum.elastic,
                              .loss_impact = over[0],
                              .loss_friction = over[1] + sum.slip + opened,
                              .work_obstacles = over[2],
                              .work_forces = over[3],
                              .penetration = sum.penetration,
                              .open = sum.open,
                              .stick = sum.stick,
                              .slip = sum.slide};
    return TALUS_OK;
}

void tl_springs_contacts(const tl_springs *s, tl_springs_view *out) {
    *out = (tl_springs_view){
        .count = s->count, .impulse = s->impulse, .velocity = s->velocity, .status = s->status};
}
