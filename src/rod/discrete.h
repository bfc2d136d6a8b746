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
    double *x, *u, *d1, *twist; ///< the state: 3 n, full, 3 (n − 1), n; parts of rod->state

    // of the step in hand
    double *velocity; ///< full: u, and mean velocities where they are given
    double *
        force; ///< full: elastic, where it is linearised, brought back to the beginning: F + h K v*
    double *gauss, *stiff, *implicit; ///< bands of full: JᵀCJ; K as it is used; M̃ − M
    double *spare;                    ///< another such band
    double *factor;                   ///< band of the unknowns
    double *f, *free;                 ///< unknowns: f, and M̃⁻¹ f
    double *work;                     ///< 3 full
    double *trial;                    ///< 7 n: a state that is tried
} tl_discrete;

/// The state after the displacements `way` (full: of nodes, and turns of edges), which may be
/// written over the present one.
void tl_discrete_move(const tl_discrete *d, const double *way, double *x, double *d1,
                      double *twist);
/// Elastic energy of the present state [J].
double tl_discrete_energy(const tl_discrete *d);
/// Elastic force (full), band of JᵀCJ, of what tension adds to it, and of all other second
/// derivatives of the energy, at the present state.
void tl_discrete_forces(const tl_discrete *d, double *force, double *gauss, double *tension,
                        double *other);
void tl_discrete_prepare(tl_rod *rod, const tl_step *step);

#endif // TL_ROD_DISCRETE_H
