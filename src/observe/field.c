// SPDX-License-Identifier: Apache-2.0
// Coarse-grained fields [Goldhirsch 2010] with the kernel W of kernel.h:
//     φ(x) = Σ V_i W(x − x_i),   ρ(x) = Σ m_i W(x − x_i),   u(x) = Σ m_i v_i W / ρ,
//     T(x) = Σ m_i |v_i − u(x)|² W / (dim ρ),
//     σ(x) = −Σ l ⊗ f ∫₀¹ W(x − x_i − s l) ds over contacts with branch l and force f,
// at the middle of every cell of a grid. The integral is taken by Gauss's rule with three points on
// pieces no longer than w/2.
#include "base/compiler.h"
#include "base/vec3.h"
#include "observe/analysis.h"
#include "observe/kernel.h"

typedef struct field_cell {
    double solid, mass, momentum[3], energy, stress[9];
} field_cell;

typedef struct field_state {
    tl_kernel kernel;
    int32_t n[3];
    double edge[3];
    field_cell *cell;
} field_state;

static talus_status field_begin(tl_analysis *a, void *state) {
    field_state *s = state;
    const tl_box *box = &a->fixed.box;
    double cell = a->cell, total;
    s->kernel = tl_kernel_make(a->info.dim, a->width);
    if (!(a->width > 0.0) || !(box->volume > 0.0)) return TALUS_OK; // no grains
    do { // coarser until it fits, unless the size was asked for
        total = 1.0;
        for (int k = 0; k < 3; k++) {
            const double length = k < a->info.dim ? box->high[k] - box->low[k] : 0.0;
            const double cells = TL_MAX(1.0, rint(length / cell));
            total *= cells;
            s->n[k] = cells < 1e9 ? (int32_t)cells : 1000000000;
            s->edge[k] = length / cells;
        }
        TL_REQUIRE(
            a->ctx, total <= (double)a->def.cells || !(a->def.cell > 0.0), TALUS_ERR_ARG,
            "field: cells of %g m make %.0f of them, more than %lld; choose larger ones or a "
            "smaller region",
            a->def.cell, total, (long long)a->def.cells);
        cell *= 1.1;
    } while (total > (double)a->def.cells);
    return TL_ALLOC(a->ctx, (int64_t)total, &s->cell);
}

// Cells along one axis that are within the cut-off of x; counted on over the ends of periodic axes.
static void field_range(const tl_analysis *a, const field_state *s, int k, double x, int32_t *first,
                        int32_t *last) {
    const tl_box *box = &a->fixed.box;
    *first = *last = 0;
    if (k >= box->dim) return;
    double from = ceil((x - s->kernel.c - box->low[k]) / s->edge[k] - 0.5);
    double to = floor((x + s->kernel.c - box->low[k]) / s->edge[k] - 0.5);
    if (!box->whole[k]) {
        from = TL_MAX(from, 0.0);
        to = TL_MIN(to, s->n[k] - 1.0);
    }
    *first = (int32_t)from;
    *last = (int32_t)to;
}

typedef void field_add_fn(field_cell *cell, double w, const void *what);

// Give each cell near x its weight.
static void field_spread(const tl_analysis *a, field_state *s, const double x[3], double scale,
                         field_add_fn *add, const void *what) {
    const tl_box *box = &a->fixed.box;
    int32_t first[3], last[3];
    TL_ASSUME(box->dim == 2 || box->dim == 3);
    for (int k = 0; k < 3; k++) field_range(a, s, k, x[k], &first[k], &last[k]);
    for (int32_t i = first[2]; i <= last[2]; i++)
        for (int32_t j = first[1]; j <= last[1]; j++)
            for (int32_t k = first[0]; k <= last[0]; k++) {
                const int32_t at[3] = {k, j, i};
                double d[3] = {0.0, 0.0, 0.0};
                int64_t index = 0;
                for (int e = box->dim - 1; e >= 0; e--) {
                    d[e] = box->low[e] + (at[e] + 0.5) * s->edge[e] - x[e];
                    index = index * s->n[e] + ((at[e] % s->n[e]) + s->n[e]) % s->n[e];
                }
                const double w = scale * tl_kernel_at(&s->kernel, tl_norm3(d));
                if (w > 0.0) add(s->cell + index, w, what);
            }
}

typedef struct field_grain {
    double volume, mass;
    const double *v;
} field_grain;

static void field_add_grain(field_cell *cell, double w, const void *what) {
    const field_grain *g = what;
    cell->solid += w * g->volume;
    cell->mass += w * g->mass;
    tl_axpy3(cell->momentum, w * g->mass, g->v, cell->momentum);
    cell->energy += w * g->mass * tl_dot3(g->v, g->v);
}

static void field_add_link(field_cell *cell, double w, const void *what) {
    const tl_link *link = what;
    for (int e = 0; e < 9; e++) cell->stress[e] -= w * link->l[e / 3] * link->force[e % 3];
}

static void field_link(const tl_analysis *a, field_state *s, const tl_link *link,
                       const double x[3]) {
    static const double at[3] = {0.11270166537925831, 0.5, 0.88729833462074169};
    static const double weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
    const int pieces = 1 + (int)TL_MIN(1000.0, tl_norm3(link->l) / (0.25 * s->kernel.c));
    for (int i = 0; i < pieces; i++)
        for (int k = 0; k < 3; k++) {
            double p[3];
            tl_axpy3(x, (i + at[k]) / pieces, link->l, p);
            field_spread(a, s, p, weight[k] / pieces, field_add_link, link);
        }
}

static talus_status field_frame(tl_analysis *a, void *state) {
    field_state *s = state;
    const tl_grains *g = &a->fixed;
    double image[TL_BOX_IMAGES][3];
    if (!a->averaged || !s->cell) return TALUS_OK;
    for (int32_t i = 0; i < g->count; i++) {
        const field_grain grain = {tl_grain_shape_of(g, i)->volume, tl_grain_mass(g, i),
                                   tl_grain_velocity(g, i)};
        const int images = tl_box_images(&g->box, g->x + 3 * (int64_t)i, s->kernel.c, image);
        for (int n = 0; n < images; n++) field_spread(a, s, image[n], 1.0, field_add_grain, &grain);
    }
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        if (!tl_link_get(g, i, &link)) continue;
        const double reach = tl_norm3(link.l) + s->kernel.c;
        const int images = tl_box_images(&g->box, link.x, reach, image);
        for (int n = 0; n < images; n++) field_link(a, s, &link, image[n]);
    }
    return TALUS_OK;
}

static talus_status field_row(tl_analysis *a, const field_state *s, int64_t index, tl_sheet *t) {
    const int32_t dim = a->info.dim;
    const field_cell *c = s->cell + index;
    const double over = 1.0 / (double)a->averages;
    double *row, stress[9], u[3];
    int at = 0;
    TL_TRY(tl_sheet_row(t, &row));
    int64_t rest = index;
    for (int k = 0; k < dim; k++) {
        row[at++] = a->fixed.box.low[k] + ((double)(rest % s->n[k]) + 0.5) * s->edge[k];
        rest /= s->n[k];
    }
    row[at++] = c->solid * over;
    row[at++] = c->mass * over;
    for (int k = 0; k < 3; k++) u[k] = c->mass > 0.0 ? c->momentum[k] / c->mass : NAN;
    for (int k = 0; k < dim; k++) row[at++] = u[k];
    row[at++] = c->mass > 0.0 ? TL_MAX(c->energy / c->mass - tl_dot3(u, u), 0.0) / dim : NAN;
    if (!a->info.contacts) return TALUS_OK;
    for (int k = 0; k < 9; k++) stress[k] = c->stress[k] * over;
    const tl_invariants v = tl_tensor_invariants(dim, stress);
    row[at++] = v.p;
    row[at++] = v.q;
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++) row[at++] = 0.5 * (stress[3 * i + j] + stress[3 * j + i]);
    return TALUS_OK;
}

static talus_status field_end(tl_analysis *a, void *state) {
    static const char *const stress[3][3] = {{"stress_xx", "stress_xy", "stress_xz"},
                                             {"", "stress_yy", "stress_yz"},
                                             {"", "", "stress_zz"}};
    static const char *const velocity[3] = {"velocity_x", "velocity_y", "velocity_z"};
    const field_state *s = state;
    const int32_t dim = a->info.dim;
    const char *unit = tl_unit_stress(dim);
    tl_sheet *t = NULL;
    int64_t total = s->cell ? 1 : 0;
    TL_TRY(tl_sheets_add(a->out, "field", "Coarse-grained field",
                         "Fields at the middles of the cells of a grid: sums over grains and "
                         "contacts weighed with Lucy's kernel, cut off at twice the width.",
                         "", &t));
    for (int k = 0; k < dim; k++) TL_TRY(tl_sheet_column(t, tl_axis_name(k), "m"));
    TL_TRY(tl_sheet_column(t, "solid_fraction", ""));
    TL_TRY(tl_sheet_column(t, "density", tl_unit_density(dim)));
    for (int k = 0; k < dim; k++) TL_TRY(tl_sheet_column(t, velocity[k], "m/s"));
    TL_TRY(tl_sheet_column(t, "temperature", "m2/s2"));
    if (a->info.contacts) {
        TL_TRY(tl_sheet_column(t, "pressure", unit));
        TL_TRY(tl_sheet_column(t, "deviator", unit));
        for (int i = 0; i < dim; i++)
            for (int j = i; j < dim; j++) TL_TRY(tl_sheet_column(t, stress[i][j], unit));
    }
    for (int k = 0; k < 3; k++) total *= s->n[k];
    for (int64_t i = 0; i < total; i++) TL_TRY(field_row(a, s, i, t));
    return TALUS_OK;
}

static void field_clear(tl_analysis *a, void *state) {
    tl_free(a->ctx, ((field_state *)state)->cell);
}

const tl_task tl_task_field = {.subject = TL_SUBJECT_field,
                               .size = sizeof(field_state),
                               .begin = field_begin,
                               .frame = field_frame,
                               .end = field_end,
                               .clear = field_clear};
