// SPDX-License-Identifier: Apache-2.0
// A discrete elastic rod from inside [theory/rods]. Nodes x_i and edges with material frames; the
// unknowns stand node, edge, node, …: velocity of node i at 4 i, turning rate of edge i (about
// itself, besides what goes with its direction) at 4 i + 3. Those of one bend are 11 in a row, so
// that all matrices are bands of half-width 10.
//
// A clamped end has a node more, outside, that makes an edge of the given direction and frame with
// the end: it has no mass, does not stretch, and is not seen. The half cell at the end bends and
// twists.
#ifndef TL_ROD_DISCRETE_H
#define TL_ROD_DISCRETE_H
#include "rod/rod_impl.h"
#include "rod/strain.h"

enum {
    TL_DISCRETE_WIDTH = 10, ///< of the bands
    TL_DISCRETE_BAND = TL_DISCRETE_WIDTH + 1,
    TL_DISCRETE_GENERAL = 3 * TL_DISCRETE_WIDTH + 1, ///< entries of a column of general ones
};

typedef struct tl_discrete {
    int32_t n;                                  ///< nodes, with those outside
    int32_t ghost;                              ///< nodes outside the start: 0 or 1
    int32_t full;                               ///< unknowns and given velocities: 4 n − 1
    int32_t lo, hi;                             ///< the unknowns among them
    double stretch, stiffness[TL_BEND_STRAINS]; ///< EA [N]; EI, EI, GJ [N m²]
    double *mass;                               ///< full: lumped [kg], [kg m²]
    double *drag;                               ///< full: force per velocity of the air
    double *rest;                               ///< edges: lengths without loads; 0 outside
    double *cell;                               ///< nodes: length that bends there; 0: none
    double *natural;                            ///< 3 per node: strains without loads
    double *x, *u, *d1, *twist; ///< the state: 3 n, full, 3 (n − 1), n; parts of rod->state, as are
    double *last, *push;        ///< unknowns: what contacts did, and are expected to do [N]

    // of the step in hand
    double *velocity; ///< full: u, and mean velocities where they are given
    double *
        force; ///< full: elastic, where it is linearised, brought back to the beginning: F + h K v*
    double *gauss, *stiff, *implicit; ///< bands of full: JᵀCJ; K as it is used; M̃ − M
    double *spare;                    ///< another such band
    double *factor;                   ///< band of the unknowns
    double *f, *free;                 ///< unknowns: f, and M̃⁻¹ f
    double *work;                     ///< 3 full
    double *way, *half, *leading;     ///< full: a step that is tried, half of it, its velocities
    double *taut;                     ///< edges: β (discrete_secant.c)
    double *general;                  ///< the matrix of Newton's method
    int32_t *pivot;                   ///< full: its row exchanges
    double *trial;                    ///< 14 n: states half way and at its end
} tl_discrete;

/// The state after the displacements `way` (full: of nodes, and turns of edges), which may be
/// written over the present one.
void tl_discrete_move(const tl_discrete *d, const double *way, double *x, double *d1,
                      double *twist);
/// Elastic energy of the present state [J].
double tl_discrete_energy(const tl_discrete *d);
/// Add the 3 × 3 block of an edge, a t tᵀ + b (1 − t tᵀ), to a band.
void tl_discrete_add_edge(int32_t i, const double t[3], double a, double b, double *band);

/// What the elasticity of a rod is in a step with the stresses σ + θ C Δε, and share C Δε with
/// those of damping.
typedef struct tl_discrete_parts {
    double theta, share;
    double *force; ///< full: −Ĵᵀ (σ + θ C Δε)
    double *gauss; ///< band of ĴᵀCĴ
    double *tension; ///< bands of the rest of the stiffness, ∂(Ĵᵀσ)/∂d over θ, symmetric part: what
    double *other;   ///< tension adds, which is never negative, and all else
    double *general; ///< what the stiffness is besides its symmetric parts (tl_discrete_entry)
} tl_discrete_parts;

/// Entry of a general matrix: a band with room for row exchanges.
static inline double *tl_discrete_entry(double *general, int64_t row, int64_t column) {
    return general + column * TL_DISCRETE_GENERAL + 2 * TL_DISCRETE_WIDTH + row - column;
}
/// For a step with the displacements `way`; Ĵ · way is the change of strains, or more than that
/// under tension.
void tl_discrete_secant(const tl_discrete *d, const double *way, const tl_discrete_parts *out);
/// β of all edges for the step from the present state on, and none any more of those that are
/// pressed in the step that the secant was last made of; whether there are any.
void tl_discrete_tauten(tl_discrete *d, double h, double theta);
bool tl_discrete_slacken(tl_discrete *d, double theta);
void tl_discrete_prepare(tl_rod *rod, const tl_step *step);

#endif // TL_ROD_DISCRETE_H
