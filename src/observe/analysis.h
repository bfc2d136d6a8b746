// SPDX-License-Identifier: Apache-2.0
// An analysis under way: the frames of a recording go by once, in order, and every task takes from
// each what it needs.
#ifndef TL_OBSERVE_ANALYSIS_H
#define TL_OBSERVE_ANALYSIS_H
#include "observe/scalars.h"
#include "observe/sheet.h"

typedef struct tl_analysis {
    talus_context *ctx;
    talus_playback *playback;
    talus_playback_info info;
    talus_analyse_def def;
    bool wanted[TL_SUBJECTS];
    talus_moments *moments;
    talus_moment moment; ///< of the frame that goes by
    tl_grains grains;    ///< likewise, in the region that was asked for
    tl_grains fixed;     ///< likewise, in the region as it is at the last frame; only in the last
                         ///< `def.average` frames
    tl_box box;          ///< that region
    bool averaged;       ///< is `fixed` valid?
    int64_t frame, averages; ///< how many frames went by before; averaged ones, this included
    int64_t frames;          ///< all that will go by
    int64_t step;            ///< of the frame that goes by
    double width, cell;      ///< as asked for, or from the grains at the last frame
    talus_tables *out;
} tl_analysis;

/// One thing that is measured. The state is made zeroed; `end` writes the tables, `clear` frees
/// what the state points to, also after a failure. `begin` and `end` may be NULL.
typedef struct tl_task {
    int subject;
    bool contacts; ///< needs them
    size_t size;   ///< of the state
    talus_status (*begin)(tl_analysis *a, void *state);
    talus_status (*frame)(tl_analysis *a, void *state);
    talus_status (*end)(tl_analysis *a, void *state);
    void (*clear)(tl_analysis *a, void *state);
} tl_task;

extern const tl_task tl_task_profile, tl_task_field, tl_task_neighbours, tl_task_sizes,
    tl_task_rose, tl_task_forces, tl_task_flow, tl_task_walls, tl_task_deposit, tl_task_discharge,
    tl_task_pairs, tl_task_energy, tl_task_sand, tl_task_rods;

/// Layers across the up axis, summed over the averaged frames.
typedef struct tl_layer {
    double volume; ///< of grains in it
    double mass;
    double momentum[3], energy; ///< Σ m v, Σ m v²
    double stress[9];           ///< Σ −s l ⊗ f, to be divided by the layer's volume
} tl_layer;
/// What a layer is like.
typedef struct tl_layer_info {
    double height, solid, velocity[3], temperature, stress[9], shear_rate, inertial, friction;
    tl_invariants invariants;
} tl_layer_info;
/// Add the grains and contacts of the frame that goes by.
talus_status tl_layers_add(tl_analysis *a, tl_layer *layer) TALUS_MUST_CHECK;
/// What layer k of def.bins is like, on the mean of the frames added.
void tl_layers_get(const tl_analysis *a, const tl_layer *layer, int32_t k, tl_layer_info *out);

static inline const char *tl_unit_stress(int32_t dim) { return dim == 2 ? "N/m" : "Pa"; }
static inline const char *tl_unit_density(int32_t dim) { return dim == 2 ? "kg/m2" : "kg/m3"; }
static inline const char *tl_axis_name(int axis) { return axis == 0 ? "x" : axis == 1 ? "y" : "z"; }

#endif // TL_OBSERVE_ANALYSIS_H
