// SPDX-License-Identifier: Apache-2.0
// From the scalar matrices of an FCLIB file to the block form of a problem, in linear time.
//
// A global file does not say which velocity unknowns form a body. Any grouping of consecutive
// unknowns gives the same problem; a good one gives few, full blocks of H. Four are tried and the
// one with the smallest cost Σ over blocks of H of (dim size + 8) is taken, the 8 standing for the
// price of handling a block at all (among equals the one with the fewest groups):
//   - groups of 6, of 3 and of 2 unknowns throughout (rigid bodies and nodes), where M permits;
//   - the finest ranges that M does not couple, neighbours joined while the same contacts act on
//     them and the group stays within a rigid body (3 unknowns in 2D, else 6).
// M permits a grouping when no entry of it leads from one group to another. When M couples more
// than BUILD_BLOCK_LIMIT consecutive unknowns it goes on as a sparse matrix and permits all.
#include "problem/fclib_impl.h"
#include <string.h>

#define BUILD_BLOCK_LIMIT 64
#define BUILD_BLOCK_PRICE 8

// Distinct pairs (major, minor) of a list of entries, by rows, minors ascending.
typedef struct build_pattern {
    int64_t *start; // major_count + 1
    int32_t *minor;
    int64_t *slot; // per entry: its pair
    int64_t count; // pairs
} build_pattern;

static void build_pattern_clear(talus_context *ctx, build_pattern *pattern) {
    tl_free(ctx, pattern->start);
    tl_free(ctx, pattern->minor);
    tl_free(ctx, pattern->slot);
    *pattern = (build_pattern){0};
}

// One stable pass of counting sort: `from` lists entries (NULL: 0, 1, …), `to` receives them by
// ascending key. `place` has key_count + 1 places.
static void build_sort(int64_t n, const int32_t *key, int32_t key_count, const int64_t *from,
                       int64_t *to, int64_t *place) {
    memset(place, 0, ((size_t)key_count + 1) * sizeof *place);
    for (int64_t e = 0; e < n; e++) place[key[e] + 1]++;
    for (int32_t k = 0; k < key_count; k++) place[k + 1] += place[k];
    for (int64_t e = 0; e < n; e++) {
        const int64_t entry = from ? from[e] : e;
        to[place[key[entry]]++] = entry;
    }
}

static talus_status build_pattern_make(talus_context *ctx, int64_t n, const int32_t *major,
                                       int32_t major_count, const int32_t *minor,
                                       int32_t minor_count, build_pattern *out) {
    talus_status status = TALUS_OK;
    int64_t *order = NULL, *first = NULL, *place = NULL;
    const int64_t keys = major_count > minor_count ? major_count : minor_count;
    *out = (build_pattern){0};
    TL_GOTO(TL_ALLOC(ctx, n, &order));
    TL_GOTO(TL_ALLOC(ctx, n, &first));
    TL_GOTO(TL_ALLOC(ctx, keys + 1, &place));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)major_count + 1, &out->start));
    TL_GOTO(TL_ALLOC(ctx, n, &out->minor));
    TL_GOTO(TL_ALLOC(ctx, n, &out->slot));
    build_sort(n, minor, minor_count, NULL, first, place);
    build_sort(n, major, major_count, first, order, place);
    for (int64_t k = 0; k < n; k++) {
        const int64_t e = order[k];
        const int64_t before = k > 0 ? order[k - 1] : -1;
        if (before < 0 || major[before] != major[e] || minor[before] != minor[e]) {
            out->minor[out->count++] = minor[e];
            out->start[major[e] + 1]++;
        }
        out->slot[e] = out->count - 1;
    }
    for (int32_t i = 0; i < major_count; i++) out->start[i + 1] += out->start[i];
done:
    tl_free(ctx, order);
    tl_free(ctx, first);
    tl_free(ctx, place);
    if (status != TALUS_OK) build_pattern_clear(ctx, out);
    return status;
}

// Compressed rows (or columns, by calling with row and col exchanged) of a list of entries.
static talus_status build_compress(talus_context *ctx, const tl_fclib_matrix *a, bool by_rows,
                                   tl_csr *out) {
    talus_status status = TALUS_OK;
    const int32_t *outer = by_rows ? a->row : a->col;
    const int32_t *inner = by_rows ? a->col : a->row;
    const int32_t outer_count = by_rows ? a->rows : a->cols;
    int64_t *order = NULL;
    *out = (tl_csr){.rows = a->rows, .cols = a->cols};
    TL_GOTO(TL_ALLOC(ctx, a->count, &order));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)outer_count + 1, &out->start));
    TL_GOTO(TL_ALLOC(ctx, a->count, &out->index));
    TL_GOTO(TL_ALLOC(ctx, a->count, &out->value));
    build_sort(a->count, outer, outer_count, NULL, order, out->start);
    for (int64_t k = 0; k < a->count; k++) {
        out->index[k] = inner[order[k]];
        out->value[k] = a->value[order[k]];
    }
    // The sort leaves in place[i] the end of row i: shift to starts.
    for (int32_t i = outer_count; i > 0; i--) out->start[i] = out->start[i - 1];
    out->start[0] = 0;
done:
    tl_free(ctx, order);
    return status;
}

static talus_sparse build_view(const tl_csr *a) {
    return (talus_sparse){a->rows, a->cols, a->start, a->index, a->value};
}

static talus_law_view build_law(const tl_fclib_data *data) {
    return (talus_law_view){.law = data->law,
                            .mu = data->mu,
                            .dilatancy = data->dilatancy,
                            .yield = data->yield,
                            .tension = data->tension};
}

// W by blocks. A zero is added in the corner of every diagonal block, so that all of them exist;
// the problem then reports those that are zero throughout.
static talus_status build_local(talus_context *ctx, const tl_fclib_data *data,
                                talus_problem **out) {
    talus_status status = TALUS_OK;
    const int32_t dim = data->dim, count = data->count;
    const tl_fclib_matrix *w = &data->w;
    const int64_t n = w->count + count;
    int32_t *row = NULL, *col = NULL;
    double *block = NULL;
    build_pattern pattern = {0};
    tl_csr b = {0}, p = {0};
    TL_GOTO(TL_ALLOC(ctx, n, &row));
    TL_GOTO(TL_ALLOC(ctx, n, &col));
    for (int64_t e = 0; e < w->count; e++) {
        row[e] = w->row[e] / dim;
        col[e] = w->col[e] / dim;
    }
    for (int32_t i = 0; i < count; i++) row[w->count + i] = col[w->count + i] = i;
    TL_GOTO(build_pattern_make(ctx, n, row, count, col, count, &pattern));
    TL_GOTO(TL_ALLOC(ctx, pattern.count * dim * dim, &block));
    for (int64_t e = 0; e < w->count; e++) {
        const int32_t at = (w->row[e] % dim) * dim + w->col[e] % dim;
        block[pattern.slot[e] * dim * dim + at] += w->value[e];
    }
    if (data->constraints > 0) {
        TL_GOTO(build_compress(ctx, &data->v, true, &b));
        TL_GOTO(build_compress(ctx, &data->r, true, &p));
    }
    const talus_local_def def = {.dim = dim,
                                 .count = count,
                                 .row_start = pattern.start,
                                 .col = pattern.minor,
                                 .block = block,
                                 .q = data->q,
                                 .law = build_law(data),
                                 .b = build_view(&b),
                                 .p = build_view(&p),
                                 .c = data->s};
    status = talus_problem_create_local(ctx, &def, out);
done:
    tl_free(ctx, row);
    tl_free(ctx, col);
    tl_free(ctx, block);
    build_pattern_clear(ctx, &pattern);
    tl_csr_clear(ctx, &b);
    tl_csr_clear(ctx, &p);
    return status;
}

// Groups of consecutive velocity unknowns.
typedef struct build_groups {
    int32_t *start; // count + 1
    int32_t *of;    // group of each unknown
    int32_t count;
} build_groups;

static void build_groups_clear(talus_context *ctx, build_groups *groups) {
    tl_free(ctx, groups->start);
    tl_free(ctx, groups->of);
    *groups = (build_groups){0};
}

static talus_status build_groups_alloc(talus_context *ctx, int32_t dof, build_groups *groups) {
    *groups = (build_groups){0};
    talus_status status = TL_ALLOC(ctx, (int64_t)dof + 1, &groups->start);
    if (status == TALUS_OK) status = TL_ALLOC(ctx, dof, &groups->of);
    if (status != TALUS_OK) build_groups_clear(ctx, groups);
    return status;
}

static void build_groups_number(int32_t dof, build_groups *groups) {
    groups->start[groups->count] = dof;
    for (int32_t g = 0; g < groups->count; g++)
        for (int32_t i = groups->start[g]; i < groups->start[g + 1]; i++) groups->of[i] = g;
}

static bool build_groups_fit_mass(const tl_fclib_data *data, const build_groups *groups) {
    for (int64_t e = 0; e < data->m.count; e++) {
        if (data->m.value[e] == 0.0) continue;
        if (groups->of[data->m.row[e]] != groups->of[data->m.col[e]]) return false;
    }
    return true;
}

static int32_t build_groups_largest(const build_groups *groups) {
    int32_t largest = 0;
    for (int32_t g = 0; g < groups->count; g++) {
        const int32_t size = groups->start[g + 1] - groups->start[g];
        if (size > largest) largest = size;
    }
    return largest;
}

// The finest ranges that no entry of M crosses.
static void build_groups_of_mass(const tl_fclib_data *data, build_groups *groups) {
    const int32_t dof = data->dof;
    int32_t *reach = groups->of; // last unknown that i leads to; numbered over afterwards
    for (int32_t i = 0; i < dof; i++) reach[i] = i;
    for (int64_t e = 0; e < data->m.count; e++) {
        const int32_t row = data->m.row[e], col = data->m.col[e];
        const int32_t low = row < col ? row : col, high = row < col ? col : row;
        if (data->m.value[e] != 0.0 && high > reach[low]) reach[low] = high;
    }
    groups->count = 0;
    int32_t last = -1;
    for (int32_t i = 0; i < dof; i++) {
        if (i > last) groups->start[groups->count++] = i;
        if (reach[i] > last) last = reach[i];
    }
    build_groups_number(dof, groups);
}

static bool build_same_contacts(const build_pattern *by_dof, int32_t a, int32_t b) {
    const int64_t count = by_dof->start[a + 1] - by_dof->start[a];
    if (count == 0 || by_dof->start[b + 1] - by_dof->start[b] != count) return false;
    return memcmp(by_dof->minor + by_dof->start[a], by_dof->minor + by_dof->start[b],
                  (size_t)count * sizeof *by_dof->minor) == 0;
}

// Joins neighbours on which the same contacts act (judged where they meet).
static void build_groups_join(int32_t dof, const build_pattern *by_dof, int32_t limit,
                              build_groups *groups) {
    int32_t kept = 0;
    for (int32_t g = 0; g < groups->count; g++) {
        const int32_t first = groups->start[g], end = groups->start[g + 1];
        if (kept > 0 && end - groups->start[kept - 1] <= limit &&
            build_same_contacts(by_dof, first - 1, first))
            continue;
        groups->start[kept++] = first;
    }
    groups->count = kept;
    build_groups_number(dof, groups);
}

static void build_groups_uniform(int32_t dof, int32_t size, build_groups *groups) {
    groups->count = dof / size;
    for (int32_t g = 0; g < groups->count; g++) groups->start[g] = g * size;
    build_groups_number(dof, groups);
}

static int64_t build_groups_cost(const tl_fclib_data *data, const build_pattern *by_contact,
                                 const build_groups *groups) {
    int64_t cost = 0;
    for (int32_t c = 0; c < data->count; c++) {
        int32_t before = -1;
        for (int64_t k = by_contact->start[c]; k < by_contact->start[c + 1]; k++) {
            const int32_t g = groups->of[by_contact->minor[k]];
            if (g == before) continue;
            before = g;
            cost +=
                (int64_t)data->dim * (groups->start[g + 1] - groups->start[g]) + BUILD_BLOCK_PRICE;
        }
    }
    return cost;
}

// `contact` is the contact of each entry of H.
static talus_status build_groups_choose(talus_context *ctx, const tl_fclib_data *data,
                                        const int32_t *contact, build_groups *best) {
    static const int32_t uniform[] = {6, 3, 2};
    talus_status status = TALUS_OK;
    const int32_t dof = data->dof;
    build_pattern by_dof = {0}, by_contact = {0};
    build_groups trial = {0};
    TL_GOTO(build_groups_alloc(ctx, dof, &trial));
    TL_GOTO(
        build_pattern_make(ctx, data->h.count, data->h.row, dof, contact, data->count, &by_dof));
    TL_GOTO(build_pattern_make(ctx, data->h.count, contact, data->count, data->h.row, dof,
                               &by_contact));
    build_groups_of_mass(data, best);
    const bool is_sparse = build_groups_largest(best) > BUILD_BLOCK_LIMIT;
    if (is_sparse) build_groups_uniform(dof, 1, best);
    build_groups_join(dof, &by_dof, data->dim == 2 ? 3 : 6, best);
    int64_t least = build_groups_cost(data, &by_contact, best);
    for (size_t k = 0; k < sizeof uniform / sizeof *uniform; k++) {
        if (dof % uniform[k] != 0) continue;
        build_groups_uniform(dof, uniform[k], &trial);
        if (!is_sparse && !build_groups_fit_mass(data, &trial)) continue;
        const int64_t cost = build_groups_cost(data, &by_contact, &trial);
        if (cost > least || (cost == least && trial.count >= best->count)) continue;
        least = cost;
        const build_groups swap = *best;
        *best = trial;
        trial = swap;
    }
done:
    build_pattern_clear(ctx, &by_dof);
    build_pattern_clear(ctx, &by_contact);
    build_groups_clear(ctx, &trial);
    return status;
}

// The groups that the file names, or else those found here.
static talus_status build_groups_make(talus_context *ctx, const tl_fclib_data *data,
                                      const int32_t *contact, build_groups *groups) {
    TL_TRY(build_groups_alloc(ctx, data->dof, groups));
    if (!data->body_start) return build_groups_choose(ctx, data, contact, groups);
    groups->count = data->body_count;
    memcpy(groups->start, data->body_start, (size_t)groups->count * sizeof *groups->start);
    build_groups_number(data->dof, groups);
    return TALUS_OK;
}

// Dense blocks of M. Where the file has one triangle only, the other is its mirror image.
static talus_status build_mass_blocks(talus_context *ctx, const tl_fclib_data *data,
                                      const build_groups *groups, double **out) {
    talus_status status = TALUS_OK;
    const tl_fclib_matrix *m = &data->m;
    int64_t *offset = NULL, total = 0;
    bool has_lower = false, has_upper = false;
    TL_GOTO(TL_ALLOC(ctx, groups->count, &offset));
    for (int32_t g = 0; g < groups->count; g++) {
        const int64_t size = groups->start[g + 1] - groups->start[g];
        offset[g] = total;
        total += size * size;
    }
    TL_GOTO(TL_ALLOC(ctx, total, out));
    for (int64_t e = 0; e < m->count; e++) {
        if (m->value[e] == 0.0) continue;
        has_lower = has_lower || m->row[e] > m->col[e];
        has_upper = has_upper || m->row[e] < m->col[e];
    }
    for (int64_t e = 0; e < m->count; e++) {
        if (m->value[e] == 0.0) continue;
        const int32_t g = groups->of[m->row[e]];
        const int32_t size = groups->start[g + 1] - groups->start[g];
        const int32_t i = m->row[e] - groups->start[g], j = m->col[e] - groups->start[g];
        (*out)[offset[g] + (int64_t)i * size + j] += m->value[e];
        if (has_lower != has_upper && i != j)
            (*out)[offset[g] + (int64_t)j * size + i] += m->value[e];
    }
done:
    tl_free(ctx, offset);
    return status;
}

// Blocks of our H from the file's H, which stands transposed.
static talus_status build_h_blocks(talus_context *ctx, const tl_fclib_data *data,
                                   const int32_t *contact, const build_groups *groups,
                                   build_pattern *pattern, double **block) {
    talus_status status = TALUS_OK;
    const tl_fclib_matrix *h = &data->h;
    int32_t *group = NULL;
    int64_t *offset = NULL, total = 0;
    TL_GOTO(TL_ALLOC(ctx, h->count, &group));
    for (int64_t e = 0; e < h->count; e++) group[e] = groups->of[h->row[e]];
    TL_GOTO(build_pattern_make(ctx, h->count, contact, data->count, group, groups->count, pattern));
    TL_GOTO(TL_ALLOC(ctx, pattern->count, &offset));
    for (int64_t k = 0; k < pattern->count; k++) {
        const int32_t g = pattern->minor[k];
        offset[k] = total;
        total += (int64_t)data->dim * (groups->start[g + 1] - groups->start[g]);
    }
    TL_GOTO(TL_ALLOC(ctx, total, block));
    for (int64_t e = 0; e < h->count; e++) {
        const int32_t g = group[e], size = groups->start[g + 1] - groups->start[g];
        const int32_t at = (h->col[e] % data->dim) * size + h->row[e] - groups->start[g];
        (*block)[offset[pattern->slot[e]] + at] += h->value[e];
    }
done:
    tl_free(ctx, group);
    tl_free(ctx, offset);
    return status;
}

static talus_status build_global(talus_context *ctx, const tl_fclib_data *data,
                                 talus_problem **out) {
    talus_status status = TALUS_OK;
    int32_t *contact = NULL;
    double *mass_block = NULL, *h_block = NULL, *k = NULL;
    build_groups groups = {0};
    build_pattern pattern = {0};
    tl_csr mass = {0}, c = {0};
    TL_GOTO(TL_ALLOC(ctx, data->h.count, &contact));
    for (int64_t e = 0; e < data->h.count; e++) contact[e] = data->h.col[e] / data->dim;
    TL_GOTO(build_groups_make(ctx, data, contact, &groups));
    if (build_groups_fit_mass(data, &groups) && build_groups_largest(&groups) <= BUILD_BLOCK_LIMIT)
        TL_GOTO(build_mass_blocks(ctx, data, &groups, &mass_block));
    else
        TL_GOTO(build_compress(ctx, &data->m, false, &mass));
    TL_GOTO(build_h_blocks(ctx, data, contact, &groups, &pattern, &h_block));
    TL_GOTO(TL_ALLOC(ctx, data->constraints, &k));
    for (int32_t i = 0; i < data->constraints; i++) k[i] = -data->b[i];
    if (data->constraints > 0) {
        // Columns of the file's G are the rows of our C.
        TL_GOTO(build_compress(ctx, &data->g, false, &c));
        c.rows = data->g.cols;
        c.cols = data->g.rows;
    }
    const talus_global_def def = {.dim = data->dim,
                                  .count = data->count,
                                  .body_count = groups.count,
                                  .body_start = groups.start,
                                  .mass_block = mass_block,
                                  .mass = build_view(&mass),
                                  .h_row_start = pattern.start,
                                  .h_body = pattern.minor,
                                  .h_block = h_block,
                                  .f = data->f,
                                  .w = data->free_w,
                                  .c = build_view(&c),
                                  .k = k,
                                  .c_dependent =
                                      true, // as steps with closed loops of joints write them
                                  .law = build_law(data)};
    status = talus_problem_create_global(ctx, &def, out);
done:
    tl_free(ctx, contact);
    tl_free(ctx, mass_block);
    tl_free(ctx, h_block);
    tl_free(ctx, k);
    build_groups_clear(ctx, &groups);
    build_pattern_clear(ctx, &pattern);
    tl_csr_clear(ctx, &mass);
    tl_csr_clear(ctx, &c);
    return status;
}

talus_status tl_fclib_build(talus_context *ctx, const tl_fclib_data *data, talus_problem **out) {
    return data->is_global ? build_global(ctx, data, out) : build_local(ctx, data, out);
}
