// SPDX-License-Identifier: Apache-2.0
// VTK's XML files with the data appended as they are in memory, each array behind its length in
// bytes (UInt64): bodies as points, surfaces as triangles (2D: lines), contacts as lines between
// those that touch, rods as lines through their nodes, sand as points, and its grid as the cells
// all of whose nodes have sand around them.
#include "export.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VTK_DETAIL 32 // segments of a circle

// ---- files ----

typedef struct vtk_array {
    const char *name, *type; // "Float64", "Int32", "Int64", "UInt8"
    int components;
    int64_t rows;
    const void *data;
} vtk_array;

enum { VTK_ARRAYS = 24 };

typedef struct vtk_file {
    FILE *file;
    vtk_array array[VTK_ARRAYS];
    int count;
    uint64_t offset;
} vtk_file;

static size_t vtk_bytes(const vtk_array *a) {
    const size_t size = a->type[0] == 'U' ? 1 : strstr(a->type, "64") ? 8 : 4;
    return size * (size_t)a->components * (size_t)a->rows;
}

// Announce an array; its data come at the end of the file and must live until then.
static void vtk_add(vtk_file *f, const char *name, const char *type, int components, int64_t rows,
                    const void *data) {
    const vtk_array array = {name, type, components, rows, data};
    fprintf(f->file,
            "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
            "offset=\"%" PRIu64 "\"/>\n",
            type, name, components, f->offset);
    f->array[f->count++] = array;
    f->offset += sizeof(uint64_t) + vtk_bytes(&array);
}

static vtk_file vtk_begin(FILE *file, const char *type) {
    const uint16_t one = 1;
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<%s>\n",
            type, *(const uint8_t *)&one ? "LittleEndian" : "BigEndian", type);
    return (vtk_file){.file = file};
}

static void vtk_end(vtk_file *f, const char *type) {
    fprintf(f->file, "</Piece>\n</%s>\n<AppendedData encoding=\"raw\">\n_", type);
    for (int k = 0; k < f->count; k++) {
        const uint64_t bytes = vtk_bytes(&f->array[k]);
        fwrite(&bytes, sizeof bytes, 1, f->file);
        if (bytes > 0) fwrite(f->array[k].data, 1, bytes, f->file);
    }
    fputs("\n</AppendedData>\n</VTKFile>\n", f->file);
}

static void vtk_points(vtk_file *f, int64_t count, const double *point) {
    fputs("<Points>\n", f->file);
    vtk_add(f, "points", "Float64", 3, count, point);
    fputs("</Points>\n", f->file);
}

// ---- growing arrays ----

typedef struct vtk_numbers {
    double *value;
    size_t count, room;
} vtk_numbers;

typedef struct vtk_integers {
    int64_t *value;
    size_t count, room;
} vtk_integers;

static void vtk_push(vtk_numbers *n, const double *x, size_t count) {
    if (n->count + count > n->room) {
        n->room = 2 * (n->count + count);
        n->value = cli_grow(n->value, n->room, sizeof *n->value);
    }
    for (size_t k = 0; k < count; k++) n->value[n->count++] = x[k];
}

static void vtk_push_integer(vtk_integers *n, int64_t x) {
    if (n->count == n->room) {
        n->room = 2 * n->count + 64;
        n->value = cli_grow(n->value, n->room, sizeof *n->value);
    }
    n->value[n->count++] = x;
}

// ---- bodies ----

// Bounded bodies, one after the other.
typedef struct vtk_bodies {
    vtk_numbers position, velocity, spin, orientation, radius, mass;
    vtk_integers id, shape, material, motion, index, end;
    uint8_t *type;
} vtk_bodies;

static void vtk_collect_bodies(const export_job *job, const talus_frame *f, vtk_bodies *out) {
    const talus_body_view *b = &f->bodies;
    for (int32_t i = 0; i < b->count; i++) {
        const size_t at = (size_t)i;
        const double radius = talus_playback_body_radius(job->playback, i);
        if (!(radius > 0.0)) continue;
        vtk_push_integer(&out->index, (int64_t)out->id.count);
        vtk_push_integer(&out->end, (int64_t)out->id.count + 1);
        vtk_push_integer(&out->id, i);
        vtk_push_integer(&out->shape, b->shape[i]);
        vtk_push_integer(&out->material, b->material[i]);
        vtk_push_integer(&out->motion, b->motion[i]);
        vtk_push(&out->position, b->position + 3 * at, 3);
        vtk_push(&out->velocity, b->velocity + 3 * at, 3);
        vtk_push(&out->spin, b->spin + 3 * at, 3);
        vtk_push(&out->orientation, b->orientation + 4 * at, 4);
        vtk_push(&out->radius, &radius, 1);
        vtk_push(&out->mass, b->mass + at, 1);
    }
    out->type = cli_alloc(out->id.count + 1, 1);
    memset(out->type, 1, out->id.count); // VTK_VERTEX
}

static void vtk_write_bodies(const export_job *job, FILE *file, const talus_frame *f) {
    vtk_bodies b = {0};
    vtk_collect_bodies(job, f, &b);
    const int64_t n = (int64_t)b.id.count;
    vtk_file v = vtk_begin(file, "UnstructuredGrid");
    fprintf(file,
            "<Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n<PointData>\n",
            n, n);
    vtk_add(&v, "id", "Int64", 1, n, b.id.value);
    vtk_add(&v, "shape", "Int64", 1, n, b.shape.value);
    vtk_add(&v, "material", "Int64", 1, n, b.material.value);
    vtk_add(&v, "motion", "Int64", 1, n, b.motion.value);
    vtk_add(&v, "radius", "Float64", 1, n, b.radius.value);
    vtk_add(&v, "mass", "Float64", 1, n, b.mass.value);
    if (!job->info.without[TALUS_FIELD_VELOCITY])
        vtk_add(&v, "velocity", "Float64", 3, n, b.velocity.value);
    if (!job->info.without[TALUS_FIELD_SPIN]) vtk_add(&v, "spin", "Float64", 3, n, b.spin.value);
    vtk_add(&v, "orientation", "Float64", 4, n, b.orientation.value);
    fputs("</PointData>\n", file);
    vtk_points(&v, n, b.position.value);
    fputs("<Cells>\n", file);
    vtk_add(&v, "connectivity", "Int64", 1, n, b.index.value);
    vtk_add(&v, "offsets", "Int64", 1, n, b.end.value);
    vtk_add(&v, "types", "UInt8", 1, n, b.type);
    fputs("</Cells>\n", file);
    vtk_end(&v, "UnstructuredGrid");
    vtk_numbers *const numbers[] = {&b.position,    &b.velocity, &b.spin,
                                    &b.orientation, &b.radius,   &b.mass};
    vtk_integers *const integers[] = {&b.id, &b.shape, &b.material, &b.motion, &b.index, &b.end};
    for (size_t k = 0; k < 6; k++) free(numbers[k]->value), free(integers[k]->value);
    free(b.type);
}

// ---- surfaces ----

typedef struct vtk_surfaces {
    talus_surface *shape; // of each shape that is no sphere
    int32_t count;
} vtk_surfaces;

// How far walls without an end are drawn: beyond all bodies.
static double vtk_extent(const export_job *job, const talus_frame *f) {
    double most = 0.0;
    for (int32_t i = 0; i < f->bodies.count; i++) {
        const double radius = talus_playback_body_radius(job->playback, i);
        for (int k = 0; radius > 0.0 && k < 3; k++)
            most = fmax(most, fabs(f->bodies.position[3 * (size_t)i + (size_t)k]) + radius);
    }
    return most > 0.0 ? 2.0 * most : 1.0;
}

static bool vtk_make_surfaces(export_job *job, vtk_surfaces *out) {
    talus_shape_def shape;
    talus_frame first;
    if (!export_frame(job, job->frames.number[0], &first)) return false;
    const double extent = vtk_extent(job, &first);
    while (talus_playback_shape_at(job->playback, out->count, &shape)) out->count++;
    out->shape = cli_alloc((size_t)out->count + 1, sizeof *out->shape);
    for (int32_t k = 0; k < out->count; k++) {
        (void)talus_playback_shape_at(job->playback, k, &shape);
        if (shape.kind == TALUS_SHAPE_SPHERE) continue;
        if (talus_shape_surface(job->ctx, job->info.dim, &shape, VTK_DETAIL, extent,
                                &out->shape[k]) == TALUS_OK)
            continue;
        cli_error("%s: shape %d: %s", job->path, (int)k, talus_context_last_error(job->ctx));
        return false;
    }
    return true;
}

static void vtk_drop_surfaces(const export_job *job, vtk_surfaces *s) {
    for (int32_t k = 0; s->shape && k < s->count; k++) talus_surface_free(job->ctx, &s->shape[k]);
    free(s->shape);
}

// out = q v q*, for a unit quaternion.
static void vtk_rotate(const double q[4], const double v[3], double out[3]) {
    const double t[3] = {2.0 * (q[2] * v[2] - q[3] * v[1]), 2.0 * (q[3] * v[0] - q[1] * v[2]),
                         2.0 * (q[1] * v[1] - q[2] * v[0])};
    out[0] = v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
    out[1] = v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
    out[2] = v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
}

typedef struct vtk_facets {
    vtk_numbers point, normal;
    vtk_integers corner, end, body, material, motion;
} vtk_facets;

static void vtk_put_body(const export_job *job, const talus_frame *f, int32_t body,
                         const talus_surface *s, vtk_facets *out) {
    const int64_t first = (int64_t)(out->point.count / 3);
    const double *q = f->bodies.orientation + 4 * (size_t)body;
    const double *x = f->bodies.position + 3 * (size_t)body;
    for (int32_t i = 0; i < s->points; i++) {
        double point[3], normal[3];
        vtk_rotate(q, s->point + 3 * (size_t)i, point);
        vtk_rotate(q, s->normal + 3 * (size_t)i, normal);
        for (int k = 0; k < 3; k++) point[k] += x[k];
        vtk_push(&out->point, point, 3);
        vtk_push(&out->normal, normal, 3);
    }
    for (int32_t t = 0; t < s->triangles; t++) {
        for (int32_t k = 0; k < job->info.dim; k++)
            vtk_push_integer(&out->corner, first + s->triangle[job->info.dim * t + k]);
        vtk_push_integer(&out->end, (int64_t)out->corner.count);
        vtk_push_integer(&out->body, body);
        vtk_push_integer(&out->material, f->bodies.material[body]);
        vtk_push_integer(&out->motion, f->bodies.motion[body]);
    }
}

static void vtk_head(FILE *file, int64_t points, int64_t lines, int64_t polys) {
    fprintf(file,
            "<Piece NumberOfPoints=\"%" PRId64 "\" NumberOfVerts=\"0\" NumberOfLines=\"%" PRId64
            "\" NumberOfStrips=\"0\" NumberOfPolys=\"%" PRId64 "\">\n",
            points, lines, polys);
}

static void vtk_write_surfaces(const export_job *job, FILE *file, const talus_frame *f,
                               const vtk_surfaces *s) {
    vtk_facets out = {0};
    const bool flat = job->info.dim == 2;
    for (int32_t i = 0; i < f->bodies.count; i++)
        vtk_put_body(job, f, i, &s->shape[f->bodies.shape[i]], &out);
    const int64_t points = (int64_t)(out.point.count / 3), cells = (int64_t)out.body.count;
    vtk_file v = vtk_begin(file, "PolyData");
    vtk_head(file, points, flat ? cells : 0, flat ? 0 : cells);
    fputs("<PointData Normals=\"normal\">\n", file);
    vtk_add(&v, "normal", "Float64", 3, points, out.normal.value);
    fputs("</PointData>\n<CellData>\n", file);
    vtk_add(&v, "body", "Int64", 1, cells, out.body.value);
    vtk_add(&v, "material", "Int64", 1, cells, out.material.value);
    vtk_add(&v, "motion", "Int64", 1, cells, out.motion.value);
    fputs("</CellData>\n", file);
    vtk_points(&v, points, out.point.value);
    fputs(flat ? "<Lines>\n" : "<Polys>\n", file);
    vtk_add(&v, "connectivity", "Int64", 1, (int64_t)out.corner.count, out.corner.value);
    vtk_add(&v, "offsets", "Int64", 1, cells, out.end.value);
    fputs(flat ? "</Lines>\n" : "</Polys>\n", file);
    vtk_end(&v, "PolyData");
    free(out.point.value), free(out.normal.value);
    vtk_integers *const integers[] = {&out.corner, &out.end, &out.body, &out.material, &out.motion};
    for (size_t k = 0; k < 5; k++) free(integers[k]->value);
}

// ---- contacts ----

// On the side of a rod: the point of its centre line that is nearest to the contact.
static void vtk_rod_end(const talus_rod_view *r, int32_t item, const double *point, double out[3]) {
    int32_t segment;
    const int32_t rod = talus_rod_of_item(r, item, &segment);
    const double *a = r->position + 3 * (size_t)(r->start[rod] + segment), *b = a + 3;
    double along = 0.0, square = 0.0;
    for (int k = 0; k < 3; k++) {
        along += (point[k] - a[k]) * (b[k] - a[k]);
        square += (b[k] - a[k]) * (b[k] - a[k]);
    }
    const double t = square > 0.0 ? fmin(1.0, fmax(0.0, along / square)) : 0.0;
    for (int k = 0; k < 3; k++) out[k] = a[k] + t * (b[k] - a[k]);
}

// Where a contact's line ends on the side of a body: its position, at the image that is nearest to
// the contact; the contact itself where the body has no end.
static void vtk_line_end(const export_job *job, const talus_frame *f, int32_t body,
                         const double *point, double out[3]) {
    if (body >= f->bodies.count) {
        vtk_rod_end(&f->rods, body, point, out);
        return;
    }
    const double *x = f->bodies.position + 3 * (size_t)body;
    const bool bounded = talus_playback_body_radius(job->playback, body) > 0.0 &&
                         f->bodies.motion[body] == TALUS_MOTION_FREE;
    for (int k = 0; k < 3; k++) {
        const double period = job->info.period[k];
        out[k] = bounded ? x[k] : point[k];
        if (bounded && period > 0.0) out[k] -= period * floor((x[k] - point[k]) / period + 0.5);
    }
}

// Length of the step that ended at the frame.
static double vtk_step(export_job *job, const talus_frame *f) {
    double h = job->info.step;
    if (f->step >= 1 && f->step <= job->info.steps &&
        talus_playback_ledger(job->playback, "h", f->step - 1, 1, &h) != TALUS_OK)
        h = job->info.step;
    return h;
}

typedef struct vtk_lines {
    vtk_numbers point, force, size, normal_force, slip, gap;
    vtk_integers a, b, status, corner, end;
} vtk_lines;

static void vtk_collect_lines(export_job *job, const talus_frame *f, vtk_lines *out) {
    const talus_contact_view *c = &f->contacts;
    const double h = vtk_step(job, f);
    for (int32_t i = 0; i < c->count; i++) {
        const size_t at = 3 * (size_t)i;
        double end[3], force[3], size = 0.0, along = 0.0;
        vtk_line_end(job, f, c->a[i], c->point + at, end);
        vtk_push(&out->point, end, 3);
        vtk_line_end(job, f, c->b[i], c->point + at, end);
        vtk_push(&out->point, end, 3);
        for (size_t k = 0; k < 3; k++) {
            force[k] = c->impulse[at + k] / h;
            size += force[k] * force[k];
            along += force[k] * c->normal[at + k];
        }
        size = sqrt(size);
        vtk_push(&out->force, force, 3);
        vtk_push(&out->size, &size, 1);
        vtk_push(&out->normal_force, &along, 1);
        vtk_push(&out->slip, c->velocity + at, 3);
        vtk_push(&out->gap, c->gap + i, 1);
        vtk_push_integer(&out->a, c->a[i]);
        vtk_push_integer(&out->b, c->b[i]);
        vtk_push_integer(&out->status, c->status[i]);
        vtk_push_integer(&out->corner, 2 * (int64_t)i);
        vtk_push_integer(&out->corner, 2 * (int64_t)i + 1);
        vtk_push_integer(&out->end, 2 * (int64_t)i + 2);
    }
}

static void vtk_write_contacts(export_job *job, FILE *file, const talus_frame *f) {
    vtk_lines out = {0};
    vtk_collect_lines(job, f, &out);
    const int64_t n = f->contacts.count;
    vtk_file v = vtk_begin(file, "PolyData");
    vtk_head(file, 2 * n, n, 0);
    fputs("<CellData>\n", file);
    vtk_add(&v, "force", "Float64", 3, n, out.force.value);
    vtk_add(&v, "force_size", "Float64", 1, n, out.size.value);
    vtk_add(&v, "normal_force", "Float64", 1, n, out.normal_force.value);
    vtk_add(&v, "slip", "Float64", 3, n, out.slip.value);
    vtk_add(&v, "gap", "Float64", 1, n, out.gap.value);
    vtk_add(&v, "a", "Int64", 1, n, out.a.value);
    vtk_add(&v, "b", "Int64", 1, n, out.b.value);
    vtk_add(&v, "status", "Int64", 1, n, out.status.value);
    fputs("</CellData>\n", file);
    vtk_points(&v, 2 * n, out.point.value);
    fputs("<Lines>\n", file);
    vtk_add(&v, "connectivity", "Int64", 1, 2 * n, out.corner.value);
    vtk_add(&v, "offsets", "Int64", 1, n, out.end.value);
    fputs("</Lines>\n", file);
    vtk_end(&v, "PolyData");
    vtk_numbers *const numbers[] = {&out.point,        &out.force, &out.size,
                                    &out.normal_force, &out.slip,  &out.gap};
    vtk_integers *const integers[] = {&out.a, &out.b, &out.status, &out.corner, &out.end};
    for (size_t k = 0; k < 6; k++) free(numbers[k]->value);
    for (size_t k = 0; k < 5; k++) free(integers[k]->value);
}

// ---- sand ----

// Cells of `corners` points each, all of one type.
static void vtk_cells(vtk_file *f, int64_t count, int corners, uint8_t type,
                      const int64_t *connectivity, int64_t **end, uint8_t **types) {
    *end = cli_alloc((size_t)count + 1, sizeof **end);
    *types = cli_alloc((size_t)count + 1, 1);
    for (int64_t k = 0; k < count; k++) (*end)[k] = (k + 1) * corners;
    memset(*types, type, (size_t)count);
    fputs("<Cells>\n", f->file);
    vtk_add(f, "connectivity", "Int64", 1, count * corners, connectivity);
    vtk_add(f, "offsets", "Int64", 1, count, *end);
    vtk_add(f, "types", "UInt8", 1, count, *types);
    fputs("</Cells>\n", f->file);
}

static void vtk_write_sand(const export_job *job, FILE *file, const talus_frame *f) {
    const talus_sand_frame *s = &f->sand;
    const bool *without = job->info.without;
    const int64_t n = s->count;
    int64_t *index = cli_alloc((size_t)n + 1, sizeof *index), *end;
    uint8_t *type;
    for (int64_t k = 0; k < n; k++) index[k] = k;
    vtk_file v = vtk_begin(file, "UnstructuredGrid");
    fprintf(file,
            "<Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n<PointData>\n",
            n, n);
    vtk_add(&v, "id", "Int64", 1, n, s->id);
    if (!without[TALUS_FIELD_VELOCITY]) vtk_add(&v, "velocity", "Float64", 3, n, s->velocity);
    if (!without[TALUS_FIELD_VOLUME]) vtk_add(&v, "volume", "Float64", 1, n, s->volume);
    if (!without[TALUS_FIELD_FRAME]) vtk_add(&v, "frame", "Float64", 6, n, s->frame);
    if (!without[TALUS_FIELD_INERTIAL]) vtk_add(&v, "inertial", "Float64", 1, n, s->inertial);
    if (!without[TALUS_FIELD_PRESSURE]) vtk_add(&v, "pressure", "Float64", 1, n, s->pressure);
    fputs("</PointData>\n", file);
    vtk_points(&v, n, s->position);
    vtk_cells(&v, n, 1, 1, index, &end, &type); // VTK_VERTEX
    vtk_end(&v, "UnstructuredGrid");
    free(index), free(end), free(type);
}

typedef struct vtk_node {
    int32_t at[3];
    int64_t number;
} vtk_node;

static int vtk_compare_nodes(const void *a, const void *b) {
    const vtk_node *x = a, *y = b;
    for (int k = 2; k > 0; k--)
        if (x->at[k] != y->at[k]) return x->at[k] < y->at[k] ? -1 : 1;
    return x->at[0] == y->at[0] ? 0 : x->at[0] < y->at[0] ? -1 : 1;
}

// The corners of the cell above a node, in the order of VTK_PIXEL and VTK_VOXEL; false: one of them
// has no sand around it.
static bool vtk_corners(const vtk_node *node, int64_t count, int dim, const int32_t *at,
                        int64_t *corner) {
    for (int k = 0; k < 1 << dim; k++) {
        const vtk_node wanted = {.at = {at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2)}};
        const vtk_node *found =
            bsearch(&wanted, node, (size_t)count, sizeof wanted, vtk_compare_nodes);
        if (!found) return false;
        corner[k] = found->number;
    }
    return true;
}

static void vtk_write_grid(const export_job *job, FILE *file, const talus_frame *f) {
    enum { PIXEL = 8, VOXEL = 11 };
    const talus_sand_frame *s = &f->sand;
    const bool *without = job->info.without;
    const int dim = job->info.dim, corners = 1 << dim;
    const int64_t n = s->nodes;
    double *point = cli_alloc(3 * (size_t)n + 1, sizeof *point);
    int64_t *corner = cli_alloc((size_t)(n * corners) + 1, sizeof *corner), cells = 0, *end;
    vtk_node *node = cli_alloc((size_t)n + 1, sizeof *node);
    uint8_t *type;
    for (int64_t i = 0; i < n; i++) {
        node[i].number = i;
        for (int k = 0; k < 3; k++) {
            node[i].at[k] = s->node[3 * i + k];
            point[3 * i + k] =
                k < dim ? job->info.sand_origin[k] + s->node[3 * i + k] * job->info.sand_cell : 0.0;
        }
    }
    qsort(node, (size_t)n, sizeof *node, vtk_compare_nodes);
    for (int64_t i = 0; i < n; i++)
        cells += vtk_corners(node, n, dim, node[i].at, corner + cells * corners);
    vtk_file v = vtk_begin(file, "UnstructuredGrid");
    fprintf(file,
            "<Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n<PointData>\n",
            n, cells);
    if (!without[TALUS_FIELD_GRID_FRACTION])
        vtk_add(&v, "fraction", "Float64", 1, n, s->node_fraction);
    if (!without[TALUS_FIELD_GRID_PRESSURE])
        vtk_add(&v, "pressure", "Float64", 1, n, s->node_pressure);
    if (!without[TALUS_FIELD_GRID_VELOCITY])
        vtk_add(&v, "velocity", "Float64", 3, n, s->node_velocity);
    fputs("</PointData>\n", file);
    vtk_points(&v, n, point);
    vtk_cells(&v, cells, corners, dim == 2 ? PIXEL : VOXEL, corner, &end, &type);
    vtk_end(&v, "UnstructuredGrid");
    free(point), free(corner), free(node), free(end), free(type);
}

// ---- rods ----

static void vtk_write_rods(FILE *file, const talus_frame *f) {
    const talus_rod_view *r = &f->rods;
    const int64_t nodes = r->rods > 0 ? r->start[r->rods] : 0;
    vtk_numbers radius = {0};
    vtk_integers index = {0}, end = {0}, rod = {0}, material = {0};
    for (int32_t i = 0; i < r->rods; i++) {
        for (int64_t k = r->start[i]; k < r->start[i + 1]; k++) {
            vtk_push(&radius, r->radius + i, 1);
            vtk_push_integer(&index, k);
        }
        vtk_push_integer(&end, r->start[i + 1]);
        vtk_push_integer(&rod, i);
        vtk_push_integer(&material, r->material[i]);
    }
    vtk_file v = vtk_begin(file, "PolyData");
    vtk_head(file, nodes, r->rods, 0);
    fputs("<PointData>\n", file);
    vtk_add(&v, "radius", "Float64", 1, nodes, radius.value);
    vtk_add(&v, "velocity", "Float64", 3, nodes, r->velocity);
    vtk_add(&v, "director", "Float64", 3, nodes, r->director);
    vtk_add(&v, "strain", "Float64", 1, nodes, r->strain);
    fputs("</PointData>\n<CellData>\n", file);
    vtk_add(&v, "rod", "Int64", 1, r->rods, rod.value);
    vtk_add(&v, "material", "Int64", 1, r->rods, material.value);
    fputs("</CellData>\n", file);
    vtk_points(&v, nodes, r->position);
    fputs("<Lines>\n", file);
    vtk_add(&v, "connectivity", "Int64", 1, nodes, index.value);
    vtk_add(&v, "offsets", "Int64", 1, r->rods, end.value);
    fputs("</Lines>\n", file);
    vtk_end(&v, "PolyData");
    vtk_integers *const integers[] = {&index, &end, &rod, &material};
    for (size_t k = 0; k < 4; k++) free(integers[k]->value);
    free(radius.value);
}

// ---- series ----

enum { VTK_BODIES, VTK_SURFACES, VTK_CONTACTS, VTK_RODS, VTK_SAND, VTK_GRID, VTK_KINDS };
static const char *const vtk_kind[VTK_KINDS] = {"bodies", "surfaces", "contacts",
                                                "rods",   "sand",     "grid"};

static const char *vtk_ending(int kind) {
    return kind == VTK_SURFACES || kind == VTK_CONTACTS || kind == VTK_RODS ? "vtp" : "vtu";
}

static bool vtk_write_frame(export_job *job, int kind, int64_t number, const talus_frame *f,
                            const vtk_surfaces *surfaces) {
    char *name = cli_text("%s-%06lld.%s", vtk_kind[kind], (long long)number, vtk_ending(kind));
    FILE *file = export_open(job, name);
    if (file && kind == VTK_BODIES) vtk_write_bodies(job, file, f);
    if (file && kind == VTK_SURFACES) vtk_write_surfaces(job, file, f, surfaces);
    if (file && kind == VTK_CONTACTS) vtk_write_contacts(job, file, f);
    if (file && kind == VTK_SAND) vtk_write_sand(job, file, f);
    if (file && kind == VTK_GRID) vtk_write_grid(job, file, f);
    if (file && kind == VTK_RODS) vtk_write_rods(file, f);
    const bool ok = file && export_close(job, name, file);
    free(name);
    return ok;
}

static bool vtk_write_series(export_job *job, int kind, const double *time) {
    char *name = cli_text("%s.pvd", vtk_kind[kind]);
    FILE *file = export_open(job, name);
    if (file) {
        fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
              "<Collection>\n",
              file);
        for (int64_t k = 0; k < job->frames.count; k++)
            fprintf(file, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"%s-%06lld.%s\"/>\n",
                    time[k], vtk_kind[kind], (long long)job->frames.number[k], vtk_ending(kind));
        fputs("</Collection>\n</VTKFile>\n", file);
    }
    const bool ok = file && export_close(job, name, file);
    free(name);
    return ok;
}

int export_vtk(export_job *job) {
    const bool *without = job->info.without;
    const bool grid = !without[TALUS_FIELD_GRID_FRACTION] || !without[TALUS_FIELD_GRID_PRESSURE] ||
                      !without[TALUS_FIELD_GRID_VELOCITY];
    const bool wanted[VTK_KINDS] = {[VTK_BODIES] = true,
                                    [VTK_SURFACES] = true,
                                    [VTK_CONTACTS] = job->info.contacts &&
                                                     !without[TALUS_FIELD_POINT] &&
                                                     !without[TALUS_FIELD_IMPULSE],
                                    [VTK_RODS] = job->info.rods > 0,
                                    [VTK_SAND] = job->info.sand,
                                    [VTK_GRID] = job->info.sand && grid};
    vtk_surfaces surfaces = {0};
    double *time = cli_alloc((size_t)job->frames.count + 1, sizeof *time);
    bool ok = vtk_make_surfaces(job, &surfaces);
    for (int64_t k = 0; ok && k < job->frames.count; k++) {
        talus_frame f;
        ok = export_frame(job, job->frames.number[k], &f);
        for (int kind = 0; ok && kind < VTK_KINDS; kind++)
            if (wanted[kind]) ok = vtk_write_frame(job, kind, job->frames.number[k], &f, &surfaces);
        time[k] = ok ? f.time : 0.0;
        if (ok) export_progress(job, "frame", k + 1, job->frames.count);
    }
    for (int kind = 0; ok && kind < VTK_KINDS; kind++)
        if (wanted[kind]) ok = vtk_write_series(job, kind, time);
    vtk_drop_surfaces(job, &surfaces);
    free(time);
    return ok ? CLI_DONE : CLI_FAILED;
}
