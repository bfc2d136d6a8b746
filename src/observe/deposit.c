// SPDX-License-Identifier: Apache-2.0
// The free surface: over every cell of a grid across the up axis, the highest point of the grains
// above the bottom of the region, 0 where there is none. In 2D the surface is a curve h(x); in 3D
// its mean over rings about its axis (the centroid of h) is one, h(r).
//
// The angle of repose is that of the straight line that fits a flank best by least squares: from
// where the curve last has 80 % of its greatest height to where it first has less than 20 %. In 2D
// there is one to each side of the peak. The tilt is that of the line that fits the surface best as
// a whole, without a tenth of its extent on either side: that of a drum or an incline.
#include "base/compiler.h"
#include "base/vec3.h"
#include "observe/analysis.h"

#define DEPOSIT_CELLS (1 << 22)

typedef struct deposit_map {
    int axis[2];    // across up; 2D: one, the other is −1
    int32_t n[2];   // cells
    double edge[2]; // of a cell
    double low[2];
    double *height; // n[0] × n[1], first axis first
    int64_t room;
    double *ring, *weight; // 3D: mean height by distance from the axis
    int32_t rings;
    double centre[2]; // of the rings
} deposit_map;

typedef struct deposit_state {
    deposit_map map;
    tl_sheet *angle;
    double *mean; // heights, summed over the averaged frames
    int64_t cells;
} deposit_state;

static void deposit_axes(int32_t dim, int up, int axis[2]) {
    int count = 0;
    axis[1] = -1;
    for (int k = 0; k < dim; k++)
        if (k != up) axis[count++] = k;
}

static talus_status deposit_begin(tl_analysis *a, void *state) {
    deposit_state *s = state;
    const bool flat = a->info.dim == 2;
    TL_TRY(tl_sheets_add(a->out, "repose", "Slope of the surface",
                         flat ? "Angle of repose of the flank towards smaller and larger "
                                "coordinates, and tilt of the whole surface."
                              : "Angle of repose of the mean flank about the axis of the deposit, "
                                "and tilts of the whole surface along the axes.",
                         "line", &s->angle));
    TL_TRY(tl_sheet_column(s->angle, "time", "s"));
    if (flat) {
        TL_TRY(tl_sheet_column(s->angle, "angle_low", "deg"));
        TL_TRY(tl_sheet_column(s->angle, "angle_high", "deg"));
        return tl_sheet_column(s->angle, "tilt", "deg");
    }
    int axis[2];
    deposit_axes(a->info.dim, a->fixed.up, axis);
    static const char *const tilt[3] = {"tilt_x", "tilt_y", "tilt_z"};
    TL_TRY(tl_sheet_column(s->angle, "angle", "deg"));
    TL_TRY(tl_sheet_column(s->angle, tilt[axis[0]], "deg"));
    return tl_sheet_column(s->angle, tilt[axis[1]], "deg");
}

// Grid of the region, all heights 0.
static talus_status deposit_grid(tl_analysis *a, const tl_grains *g, deposit_map *m) {
    double total = 1.0, cell = a->cell;
    deposit_axes(g->m->dim, g->up, m->axis);
    for (int again = 1; again;) {
        total = 1.0;
        for (int k = 0; k < 2; k++) {
            const double edge =
                m->axis[k] >= 0 ? g->box.high[m->axis[k]] - g->box.low[m->axis[k]] : 0;
            const double n = TL_MAX(1.0, rint(edge / cell));
            total *= n;
            m->n[k] = (int32_t)TL_MIN(n, (double)DEPOSIT_CELLS);
            m->edge[k] = edge / m->n[k];
            m->low[k] = m->axis[k] >= 0 ? g->box.low[m->axis[k]] : 0.0;
        }
        again = total > DEPOSIT_CELLS;
        cell *= 1.5;
    }
    const int64_t cells = (int64_t)m->n[0] * m->n[1];
    const int32_t rings = (m->n[0] > m->n[1] ? m->n[0] : m->n[1]) + 1;
    if (cells > m->room || rings > m->rings) {
        TL_TRY(tl_realloc(a->ctx, 0, cells, sizeof *m->height, &m->height));
        TL_TRY(tl_realloc(a->ctx, 0, rings, sizeof *m->ring, &m->ring));
        TL_TRY(tl_realloc(a->ctx, 0, rings, sizeof *m->weight, &m->weight));
        m->room = cells;
    }
    m->rings = rings;
    for (int64_t i = 0; i < cells; i++) m->height[i] = 0.0;
    return TALUS_OK;
}

static int32_t deposit_wrap(const tl_grains *g, const deposit_map *m, int k, int64_t i) {
    if (m->axis[k] >= 0 && g->box.whole[m->axis[k]])
        return (int32_t)(((i % m->n[k]) + m->n[k]) % m->n[k]);
    return i >= 0 && i < m->n[k] ? (int32_t)i : -1;
}

// Raise the cells that a ball is above: its highest point over a cell is above the point of the
// cell nearest to its centre.
static void deposit_ball(const tl_grains *g, deposit_map *m, const double x[3], double r) {
    int64_t from[2], to[2];
    for (int k = 0; k < 2; k++) {
        from[k] = to[k] = 0;
        if (m->axis[k] < 0) continue;
        from[k] = (int64_t)floor((x[m->axis[k]] - r - m->low[k]) / m->edge[k]);
        to[k] = (int64_t)floor((x[m->axis[k]] + r - m->low[k]) / m->edge[k]);
    }
    for (int64_t j = from[1]; j <= to[1]; j++)
        for (int64_t i = from[0]; i <= to[0]; i++) {
            const int64_t at[2] = {i, j};
            const int32_t p = deposit_wrap(g, m, 0, i), q = deposit_wrap(g, m, 1, j);
            double square = r * r;
            if (p < 0 || q < 0) continue;
            for (int k = 0; k < 2; k++) {
                if (m->axis[k] < 0) continue;
                const double low = m->low[k] + m->edge[k] * (double)at[k], c = x[m->axis[k]];
                const double d = TL_MAX(0.0, TL_MAX(low - c, c - low - m->edge[k]));
                square -= d * d;
            }
            double *h = m->height + (int64_t)q * m->n[0] + p;
            if (square >= 0.0) *h = TL_MAX(*h, x[g->up] + sqrt(square) - g->box.low[g->up]);
        }
}

static void deposit_fill(const tl_grains *g, deposit_map *m) {
    for (int32_t i = 0; i < g->count; i++) {
        const tl_grain_shape *s = tl_grain_shape_of(g, i);
        const double *x = g->x + 3 * (int64_t)i;
        if (x[g->up] > g->box.high[g->up] + s->reach) continue;
        if (s->ball) {
            deposit_ball(g, m, x, s->radius);
            continue;
        }
        for (int32_t k = 0; k < s->samples; k++) {
            double p[3];
            tl_rotate(g->m->bodies.orientation + 4 * (int64_t)g->body[i],
                      s->sample + 3 * (int64_t)k, p);
            tl_axpy3(x, 1.0, p, p);
            deposit_ball(g, m, p, 0.0);
        }
    }
}

// Middle of cell i along axis k of the map.
static double deposit_middle(const deposit_map *m, int k, int64_t i) {
    const int64_t at = k == 0 ? i % m->n[0] : i / m->n[0];
    return m->low[k] + ((double)at + 0.5) * m->edge[k];
}

static void deposit_rings(deposit_map *m) {
    double sum = 0.0, at[2] = {0.0, 0.0};
    for (int64_t i = 0; i < (int64_t)m->n[0] * m->n[1]; i++) {
        const double h = m->height[i];
        sum += h;
        at[0] += h * deposit_middle(m, 0, i);
        at[1] += h * deposit_middle(m, 1, i);
    }
    for (int k = 0; k < 2; k++) m->centre[k] = sum > 0.0 ? at[k] / sum : 0.0;
    for (int32_t k = 0; k < m->rings; k++) m->ring[k] = m->weight[k] = 0.0;
    for (int64_t i = 0; i < (int64_t)m->n[0] * m->n[1]; i++) {
        const double x = deposit_middle(m, 0, i) - m->centre[0];
        const double y = deposit_middle(m, 1, i) - m->centre[1];
        const int32_t k = (int32_t)(hypot(x, y) / m->edge[0]);
        if (k >= m->rings) continue;
        m->ring[k] += m->height[i];
        m->weight[k] += 1.0;
    }
    for (int32_t k = 0; k < m->rings; k++)
        m->ring[k] = m->weight[k] > 0.0 ? m->ring[k] / m->weight[k] : 0.0;
}

// Slope of the straight line through h[from … to], `edge` apart; NaN: less than three.
static double deposit_slope(const double *h, int32_t from, int32_t to, double edge) {
    double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    if (to - from < 2) return NAN;
    for (int32_t i = from; i <= to; i++) n += 1.0, x += i, y += h[i];
    x /= n, y /= n;
    for (int32_t i = from; i <= to; i++) {
        xx += (i - x) * (i - x);
        xy += (i - x) * (h[i] - y);
    }
    return xy / (xx * edge);
}

static double deposit_degrees(double slope) {
    return atan(slope) * (180.0 / 3.14159265358979323846);
}

// The flank from the peak in the direction of `way`: downward slope, in degrees.
static double deposit_flank(const double *h, int32_t n, int32_t peak, int way, double edge) {
    int32_t top = peak, foot;
    for (int32_t i = peak; i >= 0 && i < n && h[i] > 0.2 * h[peak]; i += way)
        if (h[i] >= 0.8 * h[peak]) top = i;
    for (foot = top; foot + way >= 0 && foot + way < n && h[foot + way] >= 0.2 * h[peak];)
        foot += way;
    return deposit_degrees(-way * deposit_slope(h, TL_MIN(top, foot), TL_MAX(top, foot), edge));
}

static int32_t deposit_peak(const double *h, int32_t n) {
    int32_t peak = 0;
    for (int32_t i = 1; i < n; i++)
        if (h[i] > h[peak]) peak = i;
    return peak;
}

// Tilt along axis k of the map: mean over the other axis first.
static talus_status deposit_tilt(const tl_analysis *a, const deposit_map *m, int k, double *out) {
    double *mean = NULL;
    TL_TRY(TL_ALLOC(a->ctx, m->n[k], &mean));
    for (int64_t i = 0; i < (int64_t)m->n[0] * m->n[1]; i++)
        mean[k == 0 ? i % m->n[0] : i / m->n[0]] += m->height[i] / m->n[1 - k];
    int32_t from = 0, to = m->n[k] - 1;
    while (from < to && mean[from] <= 0.0) from++;
    while (to > from && mean[to] <= 0.0) to--;
    const int32_t tenth = (to - from + 1) / 10;
    *out = deposit_degrees(deposit_slope(mean, from + tenth, to - tenth, m->edge[k]));
    tl_free(a->ctx, mean);
    return TALUS_OK;
}

static talus_status deposit_angles(tl_analysis *a, deposit_state *s) {
    deposit_map *m = &s->map;
    double *row;
    TL_TRY(tl_sheet_row(s->angle, &row));
    row[0] = a->moment.time;
    if (a->grains.count == 0) return TALUS_OK;
    TL_TRY(deposit_grid(a, &a->grains, m));
    deposit_fill(&a->grains, m);
    if (a->info.dim == 2) {
        const int32_t peak = deposit_peak(m->height, m->n[0]);
        row[1] = deposit_flank(m->height, m->n[0], peak, -1, m->edge[0]);
        row[2] = deposit_flank(m->height, m->n[0], peak, 1, m->edge[0]);
        return deposit_tilt(a, m, 0, &row[3]);
    }
    deposit_rings(m);
    row[1] = deposit_flank(m->ring, m->rings, deposit_peak(m->ring, m->rings), 1, m->edge[0]);
    TL_TRY(deposit_tilt(a, m, 0, &row[2]));
    return deposit_tilt(a, m, 1, &row[3]);
}

static talus_status deposit_frame(tl_analysis *a, void *state) {
    deposit_state *s = state;
    TL_TRY(tl_grains_sample(&a->grains));
    TL_TRY(deposit_angles(a, s));
    if (!a->averaged || a->fixed.count == 0) return TALUS_OK;
    TL_TRY(tl_grains_sample(&a->fixed));
    TL_TRY(deposit_grid(a, &a->fixed, &s->map));
    deposit_fill(&a->fixed, &s->map);
    const int64_t cells = (int64_t)s->map.n[0] * s->map.n[1];
    if (!s->mean) TL_TRY(TL_ALLOC(a->ctx, cells, &s->mean));
    s->cells = cells;
    for (int64_t i = 0; i < cells; i++) s->mean[i] += s->map.height[i];
    return TALUS_OK;
}

static talus_status deposit_curve(tl_analysis *a, const deposit_map *m) {
    tl_sheet *t = NULL;
    const bool flat = a->info.dim == 2;
    TL_TRY(tl_sheets_add(a->out, "deposit", "Height of the surface",
                         flat ? "Highest point of the grains above each cell."
                              : "Highest point of the grains above each cell: mean and greatest "
                                "over the other axis.",
                         "line", &t));
    TL_TRY(tl_sheet_column(t, tl_axis_name(m->axis[0]), "m"));
    TL_TRY(tl_sheet_column(t, "height", "m"));
    if (!flat) TL_TRY(tl_sheet_column(t, "height_most", "m"));
    for (int32_t i = 0; i < m->n[0]; i++) {
        double *row, sum = 0.0, most = 0.0;
        for (int32_t j = 0; j < m->n[1]; j++) {
            const double h = m->height[(int64_t)j * m->n[0] + i];
            sum += h;
            most = TL_MAX(most, h);
        }
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = m->low[0] + (i + 0.5) * m->edge[0];
        row[1] = sum / m->n[1];
        if (!flat) row[2] = most;
    }
    return TALUS_OK;
}

static talus_status deposit_map_tables(tl_analysis *a, deposit_map *m) {
    static const char *const radial[][2] = {{"r", "m"}, {"height", "m"}};
    tl_sheet *t = NULL;
    double *row;
    deposit_rings(m);
    TL_TRY(tl_sheets_add(a->out, "deposit_radial", "Height of the surface about its axis",
                         "Mean height of the cells at a distance r from the centroid of the "
                         "surface.",
                         "line", &t));
    TL_TRY(tl_sheet_columns(t, 2, radial));
    for (int32_t k = 0; k < m->rings; k++) {
        if (!(m->weight[k] > 0.0)) continue;
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = (k + 0.5) * m->edge[0];
        row[1] = m->ring[k];
    }
    TL_TRY(tl_sheets_add(a->out, "deposit_map", "Map of the surface",
                         "Highest point of the grains above each cell.", "", &t));
    TL_TRY(tl_sheet_column(t, tl_axis_name(m->axis[0]), "m"));
    TL_TRY(tl_sheet_column(t, tl_axis_name(m->axis[1]), "m"));
    TL_TRY(tl_sheet_column(t, "height", "m"));
    for (int64_t i = 0; i < (int64_t)m->n[0] * m->n[1]; i++) {
        TL_TRY(tl_sheet_row(t, &row));
        row[0] = deposit_middle(m, 0, i);
        row[1] = deposit_middle(m, 1, i);
        row[2] = m->height[i];
    }
    return TALUS_OK;
}

static talus_status deposit_end(tl_analysis *a, void *state) {
    deposit_state *s = state;
    if (!s->mean) return TALUS_OK;
    for (int64_t i = 0; i < s->cells; i++) s->map.height[i] = s->mean[i] / (double)a->averages;
    TL_TRY(deposit_curve(a, &s->map));
    return a->info.dim == 2 ? TALUS_OK : deposit_map_tables(a, &s->map);
}

static void deposit_clear(tl_analysis *a, void *state) {
    const deposit_state *s = state;
    void *const owned[] = {s->map.height, s->map.ring, s->map.weight, s->mean};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(a->ctx, owned[k]);
}

const tl_task tl_task_deposit = {.subject = TL_SUBJECT_deposit,
                                 .size = sizeof(deposit_state),
                                 .begin = deposit_begin,
                                 .frame = deposit_frame,
                                 .end = deposit_end,
                                 .clear = deposit_clear};
