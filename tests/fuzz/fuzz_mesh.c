// SPDX-License-Identifier: Apache-2.0
// Fuzz target of the mesh readers (libFuzzer; `make fuzz`). The first byte chooses format and
// dimension, what follows is the file. A file that is accepted must give a mesh whose indices and
// numbers are right and which the search accepts as a shape; one that is refused must say why.
#include "collide/mesh_read.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_check(talus_context *ctx, int32_t dim, const talus_mesh *m) {
    if (m->triangle_count < 1 || m->point_count < 2) abort();
    for (int64_t k = 0; k < 3 * (int64_t)m->point_count; k++)
        if (!isfinite(m->point[k])) abort();
    for (int64_t k = 0; k < (int64_t)dim * m->triangle_count; k++)
        if (m->triangle[k] < 0 || m->triangle[k] >= m->point_count) abort();
    const talus_shape_def shape = talus_mesh_shape(m);
    talus_mass mass;
    if (talus_shape_check(ctx, dim, &shape) == TALUS_OK &&
        talus_shape_mass(ctx, dim, &shape, 1.0, &mass) == TALUS_OK && isnan(mass.mass))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    talus_context *ctx = NULL;
    talus_mesh mesh;
    if (size == 0) return 0;
    uint8_t *bytes = malloc(size); // of its own, to show reads past the end
    if (!bytes || talus_context_create(NULL, &ctx) != TALUS_OK) abort();
    memcpy(bytes, data + 1, size - 1);
    talus_mesh_read_options options = talus_mesh_read_default();
    options.dim = data[0] & 2 ? 2 : 3;
    options.weld = data[0] & 4 ? 1e-3 : 0.0;
    const char *const name = data[0] & 1 ? "fuzz.obj" : "fuzz.stl";
    const talus_status status = tl_mesh_parse(ctx, name, bytes, size - 1, &options, &mesh);
    if (status == TALUS_OK)
        fuzz_check(ctx, options.dim, &mesh);
    else if (mesh.point || talus_context_last_error(ctx)[0] == '\0')
        abort();
    talus_mesh_clear(ctx, &mesh);
    size_t now = 0, peak = 0;
    talus_context_memory(ctx, &now, &peak);
    if (now != 0) abort();
    talus_context_destroy(ctx);
    free(bytes);
    return 0;
}
