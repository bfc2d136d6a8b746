// SPDX-License-Identifier: Apache-2.0
// A super-helix from the nodes that a user gives: pieces, natural curvatures and the shape at the
// beginning [theory/helix].
#include "rod/helix_rod.h"
#include <string.h>

#define HELIX_STRAIGHT 1e-12 // turn at a node that is none [rad]
#define HELIX_FAR 0.05       // of its length: farther from the given nodes is an error
#define HELIX_NEAR 0.001     // of its length: farther is worth a message
#define HELIX_MARGIN 1e-6    // of a piece: nodes nearer to its ends are not inside it
enum { HELIX_PIECES = 128 }; // most of them: blocks are dense

static talus_status helix_alloc(tl_rod *rod, int32_t pieces) {
    talus_context *ctx = rod->ctx;
    tl_helix_rod *m = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &m));
    rod->own = m;
    const talus_rod_def *def = &rod->def;
    m->h.pieces = pieces;
    m->h.root = def->start == TALUS_END_FREE ? 6 : def->start == TALUS_END_PINNED ? 3 : 0;
    rod->nodes = def->nodes;
    rod->dof = tl_helix_dof(&m->h);
    const int64_t n = rod->dof, nodes = rod->nodes, points = tl_helix_field_count(&m->h);
    TL_TRY(TL_ALLOC(ctx, nodes, &m->arc));
    TL_TRY(TL_ALLOC(ctx, pieces, &m->length));
    TL_TRY(TL_ALLOC(ctx, 3 * (int64_t)pieces, &m->natural));
    TL_TRY(TL_ALLOC(ctx, pieces + 1, &m->joint));
    TL_TRY(TL_ALLOC(ctx, pieces + 1, &m->now));
    TL_TRY(TL_ALLOC(ctx, 3 * (int64_t)pieces, &m->q));
    TL_TRY(TL_ALLOC(ctx, 3 * (int64_t)pieces, &m->spare));
    TL_TRY(TL_ALLOC(ctx, n * n, &m->system.mass));
    TL_TRY(TL_ALLOC(ctx, n * n, &m->system.spread));
    TL_TRY(TL_ALLOC(ctx, n, &m->system.carried));
    TL_TRY(TL_ALLOC(ctx, n, &m->system.weight));
    TL_TRY(TL_ALLOC(ctx, n, &m->weight));
    TL_TRY(TL_ALLOC(ctx, n, &m->next));
    TL_TRY(TL_ALLOC(ctx, n * n, &m->newton));
    TL_TRY(TL_ALLOC(ctx, n, &m->pivot));
    TL_TRY(TL_ALLOC(ctx, n, &m->spot));
    TL_TRY(TL_ALLOC(ctx, n, &m->system.driven));
    TL_TRY(TL_ALLOC(ctx, 6 * n, &m->system.work));
    TL_TRY(TL_ALLOC(ctx, n * n, &m->operator));
    TL_TRY(TL_ALLOC(ctx, n * n, &m->factor));
    TL_TRY(TL_ALLOC(ctx, n, &m->before));
    TL_TRY(TL_ALLOC(ctx, n, &m->free));
    TL_TRY(TL_ALLOC(ctx, n, &m->f));
    TL_TRY(TL_ALLOC(ctx, 3 * nodes, &m->node));
    TL_TRY(TL_ALLOC(ctx, 3 * nodes, &m->axis));
    TL_TRY(TL_ALLOC(ctx, 3 * n * nodes, &m->move));
    TL_TRY(TL_ALLOC(ctx, 3 * n * nodes, &m->turn));
    TL_TRY(TL_ALLOC(ctx, 2 * points, &m->scratch));
    TL_TRY(TL_ALLOC(ctx, nodes - 1, &rod->rest));
    rod->state_count = TL_HELIX_ROOT + 3 * (int64_t)pieces + n + 4 * points + 2 * (int64_t)n;
    TL_TRY(TL_ALLOC(ctx, rod->state_count, &rod->state));
    m->h.length = m->length;
    const double area = 3.14159265358979323846 * def->radius * def->radius;
    const double moment = 0.25 * area * def->radius * def->radius;
    m->h.bending = def->young * moment;
    m->h.twisting = 2.0 * def->shear * moment;
    m->h.line_mass = def->density * area;
    m->h.line_spin = 2.0 * def->density * moment;
    m->h.damping = def->damping;
    m->h.drag = def->drag;
    return TALUS_OK;
}

static bool helix_is_straight(int32_t nodes, const double *point) {
    for (int32_t k = 1; k + 1 < nodes; k++) {
        double a[3], b[3], c[3];
        tl_sub3(point + 3 * (int64_t)k, point + 3 * (int64_t)(k - 1), a);
        tl_sub3(point + 3 * (int64_t)(k + 1), point + 3 * (int64_t)k, b);
        tl_cross3(a, b, c);
        if (!(tl_norm3(c) <= HELIX_STRAIGHT * tl_norm3(a) * tl_norm3(b))) return false;
    }
    return true;
}

// Curvatures in the order of talus_rod_def are those about the second axis, about the first one
// with the other sign, and twist; q has them about the first and the second axis.
static void helix_from_def(const double c[3], double q[3]) {
    q[0] = -c[1], q[1] = c[0], q[2] = c[2];
}
static void helix_to_def(const double q[3], double c[3]) { c[0] = q[1], c[1] = -q[0], c[2] = q[2]; }

// Natural curvatures from those at inner nodes: the mean of the nodes inside a piece. Where there
// are none, a node stands for the halves of its segments, the outer nodes for what is left.
static void helix_mean_curvatures(const tl_helix_rod *m, int32_t nodes, const double *curvature) {
    double begin = 0.0;
    const double *arc = m->arc;
    for (int32_t e = 0; e < m->h.pieces; e++) {
        const double end = begin + m->length[e], margin = HELIX_MARGIN * m->length[e];
        double *own = m->natural + 3 * (int64_t)e, sum[2][3] = {{0}}, weight[2] = {0.0, 0.0};
        for (int32_t k = 1; k + 1 < nodes; k++) {
            const double low = k == 1 ? 0.0 : 0.5 * (arc[k - 1] + arc[k]);
            const double high = k + 2 == nodes ? arc[k + 1] : 0.5 * (arc[k] + arc[k + 1]);
            const double share[2] = {fmax(fmin(high, end) - fmax(low, begin), 0.0),
                                     arc[k] > begin + margin && arc[k] < end - margin};
            double q[3];
            helix_from_def(curvature + 3 * (int64_t)(k - 1), q);
            for (int way = 0; way < 2; way++) {
                tl_axpy3(sum[way], share[way], q, sum[way]);
                weight[way] += share[way];
            }
        }
        const int way = weight[1] > 0.0;
        if (weight[way] > 0.0) tl_scale3(1.0 / weight[way], sum[way], own);
        begin = end;
    }
}

static talus_status helix_check_fit(const tl_rod *rod, const char *what, double error) {
    const double length = tl_helix_of(rod)->arc[rod->nodes - 1];
    TL_REQUIRE(rod->ctx, error <= HELIX_FAR * length, TALUS_ERR_ARG,
               "%s of the rod has nodes that lie %.3g m off any shape that %d pieces of constant "
               "curvature and the rod's length can have: give more pieces, or kind discrete",
               what, error, (int)tl_helix_of(rod)->h.pieces);
    if (error > HELIX_NEAR * length)
        tl_log(rod->ctx, TALUS_LOG_WARNING, "a helix passes its nodes (%s) at up to %.3g m", what,
               error);
    return TALUS_OK;
}

// Natural curvatures, arc lengths and lengths of pieces.
static talus_status helix_set_natural(tl_rod *rod) {
    tl_helix_rod *m = tl_helix_of(rod);
    const talus_rod_def *def = &rod->def;
    double x[3], r[9], error;
    const bool straight = !def->natural || helix_is_straight(def->nodes, def->natural);
    TL_TRY(tl_helix_fit(rod->ctx, def->nodes, straight ? def->position : def->natural, m->h.pieces,
                        NULL, false, m->arc, m->length, m->natural, x, r, &error));
    if (straight)
        memset(m->natural, 0, 3 * (size_t)m->h.pieces * sizeof(double));
    else if (!def->curvature)
        TL_TRY(helix_check_fit(rod, "the natural shape", error));
    if (def->curvature) helix_mean_curvatures(m, def->nodes, def->curvature);
    return TALUS_OK;
}

// Twist of the pieces that given first axes have beside axes carried along without twist.
static void helix_director_twist(const tl_rod *rod, double *twist) {
    const tl_helix_rod *m = tl_helix_of(rod);
    const talus_rod_def *def = &rod->def;
    for (int32_t e = 0; e < m->h.pieces; e++) twist[e] = 0.0;
    for (int32_t k = 1; k + 1 < def->nodes; k++) {
        double t[2][3], carried[3], own[3], across[3], s;
        for (int i = 0; i < 2; i++) {
            tl_sub3(def->position + 3 * (int64_t)(k + i), def->position + 3 * (int64_t)(k + i - 1),
                    t[i]);
            tl_scale3(1.0 / tl_norm3(t[i]), t[i], t[i]);
        }
        tl_copy3(def->director + 3 * (int64_t)(k - 1), own);
        tl_rod_make_across(t[0], own);
        tl_rod_transport(t[0], t[1], own, carried);
        tl_copy3(def->director + 3 * (int64_t)k, own);
        tl_rod_make_across(t[1], own);
        tl_cross3(carried, own, across);
        const int32_t e = tl_helix_find(&m->h, m->arc[k], &s);
        twist[e] += atan2(tl_dot3(across, t[1]), tl_dot3(carried, own)) / m->length[e];
    }
}

// Angle by which the axes of the sections are to be turned so that they fit best: to the first axes
// given, or else to the natural curvatures.
static double helix_roll(const tl_rod *rod, const tl_helix_pose *pose) {
    const tl_helix_rod *m = tl_helix_of(rod);
    double real = 0.0, imaginary = 0.0;
    if (rod->def.director) {
        tl_helix_joints(&m->h, pose, m->joint);
        for (int32_t k = 0; k + 1 < rod->nodes; k++) {
            double x[3], r[9], s;
            const double *d = rod->def.director + 3 * (int64_t)k;
            const int32_t e = tl_helix_find(&m->h, 0.5 * (m->arc[k] + m->arc[k + 1]), &s);
            tl_helix_point(m->joint[e].x, m->joint[e].r, pose->q + 3 * (int64_t)e, s, x, r);
            for (int i = 0; i < 3; i++) {
                real += d[i] * r[3 * i + 1];
                imaginary += d[i] * r[3 * i + 2];
            }
        }
    } else {
        for (int32_t e = 0; e < m->h.pieces; e++) {
            const double *k = pose->q + 3 * (int64_t)e, *n = m->natural + 3 * (int64_t)e;
            real += m->length[e] * (k[0] * n[0] + k[1] * n[1]);
            imaginary += m->length[e] * (k[1] * n[0] - k[0] * n[1]);
        }
    }
    return real != 0.0 || imaginary != 0.0 ? atan2(imaginary, real) : 0.0;
}

static void helix_turn_axes(const tl_helix_rod *m, double angle, double *q, double r[9]) {
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        const double a = r[3 * i + 1], b = r[3 * i + 2];
        r[3 * i + 1] = c * a + s * b;
        r[3 * i + 2] = c * b - s * a;
    }
    for (int32_t e = 0; e < m->h.pieces; e++) {
        const double a = q[3 * (int64_t)e], b = q[3 * (int64_t)e + 1];
        q[3 * (int64_t)e] = c * a + s * b;
        q[3 * (int64_t)e + 1] = c * b - s * a;
    }
}

// The shape at the beginning.
static talus_status helix_set_shape(tl_rod *rod) {
    tl_helix_rod *m = tl_helix_of(rod);
    double *q = tl_helix_q(rod), error;
    tl_helix_pose pose = {.q = q};
    if (rod->def.director)
        helix_director_twist(rod, m->q);
    else
        for (int32_t e = 0; e < m->h.pieces; e++) m->q[e] = m->natural[3 * (int64_t)e + 2];
    TL_TRY(tl_helix_fit(rod->ctx, rod->nodes, rod->def.position, m->h.pieces, m->q, true, m->arc,
                        m->length, q, pose.x, pose.r, &error));
    TL_TRY(helix_check_fit(rod, "the position", error));
    helix_turn_axes(m, helix_roll(rod, &pose), q, pose.r);
    const double first[3] = {pose.r[1], pose.r[4], pose.r[7]};
    const double tangent[3] = {pose.r[0], pose.r[3], pose.r[6]};
    tl_copy3(pose.x, rod->state);
    tl_rod_quat(first, tangent, rod->state + 3);
    return TALUS_OK;
}

// The velocity that all of the rod is given: as a field, whose projection the first step takes.
static void helix_set_velocity(tl_rod *rod) {
    const tl_helix_rod *m = tl_helix_of(rod);
    tl_helix_field *field = tl_helix_old(rod);
    for (int32_t k = 0; k < tl_helix_field_count(&m->h); k++) tl_copy3(rod->def.velocity, field[k]);
    if (m->h.root == 6) tl_copy3(rod->def.velocity, tl_helix_v(rod));
}

talus_status tl_helix_set_natural(tl_rod *rod, const double *strain) {
    tl_helix_rod *m = tl_helix_of(rod);
    double *curvature = NULL, *director = NULL, s;
    talus_status status;
    TL_GOTO(TL_ALLOC(rod->ctx, 3 * (int64_t)rod->nodes, &curvature));
    TL_GOTO(TL_ALLOC(rod->ctx, 3 * (int64_t)rod->nodes, &director));
    memcpy(m->natural, strain, 3 * (size_t)m->h.pieces * sizeof *strain);
    for (int32_t k = 1; k + 1 < rod->nodes; k++) {
        const int32_t e = tl_helix_find(&m->h, m->arc[k], &s);
        helix_to_def(m->natural + 3 * (int64_t)e, curvature + 3 * (int64_t)(k - 1));
    }
    tl_helix_directors(rod, director);
    tl_free(rod->ctx, (void *)rod->def.curvature);
    tl_free(rod->ctx, (void *)rod->def.director);
    rod->def.curvature = curvature;
    rod->def.director = director;
    return TALUS_OK;
done:
    tl_free(rod->ctx, curvature);
    tl_free(rod->ctx, director);
    return status;
}

talus_status tl_helix_make(tl_rod *rod) {
    const talus_rod_def *def = &rod->def;
    const int32_t pieces = def->pieces != 0 ? def->pieces : def->nodes - 1;
    TL_REQUIRE(rod->ctx, def->end == TALUS_END_FREE, TALUS_ERR_ARG,
               "a rod of kind helix can be held at its start alone: let its end be free, turn the "
               "order of its nodes round, or use kind discrete");
    TL_REQUIRE(rod->ctx, pieces > 0 && pieces < def->nodes && pieces <= HELIX_PIECES, TALUS_ERR_ARG,
               "a rod of kind helix with %d nodes has at least one and at most %d pieces, not %d",
               (int)def->nodes,
               (int)(def->nodes - 1 < HELIX_PIECES ? def->nodes - 1 : HELIX_PIECES), (int)pieces);
    TL_TRY(helix_alloc(rod, pieces));
    TL_TRY(helix_set_natural(rod));
    TL_TRY(helix_set_shape(rod));
    const tl_helix_rod *m = tl_helix_of(rod);
    for (int32_t k = 0; k + 1 < rod->nodes; k++) rod->rest[k] = m->arc[k + 1] - m->arc[k];
    helix_set_velocity(rod);
    tl_copy3(rod->state, rod->hold[0].next.x);
    memcpy(rod->hold[0].next.q, rod->state + 3, 4 * sizeof(double));
    return TALUS_OK;
}
