// SPDX-License-Identifier: Apache-2.0
// Bending and twist of a discrete rod at a node between the edges e and f [theory/rods]. With unit
// tangents t_e, t_f, material axes (d1, d2 = t × d1) of both edges and the curvature binormal
//     κb = 2 t_e × t_f / (1 + t_e·t_f)        (length 2 tan(φ/2) at the angle φ)
// the strains are
//     κ1 =   ½ (d2_e + d2_f)·κb,   κ2 = − ½ (d1_e + d1_f)·κb,
//     m  = angle of d1_f from d1_e brought to f by the least rotation (t_e to t_f).
// They depend on (e, ϑ_e, f, ϑ_f), ϑ being turns of the frames about their edges; where an edge
// changes its direction its frame goes with it by the least rotation (time-parallel transport).
#ifndef TL_ROD_STRAIN_H
#define TL_ROD_STRAIN_H

enum {
    TL_BEND_SIZE = 8, ///< unknowns of a node: e (3), ϑ_e, f (3), ϑ_f
    TL_BEND_STRAINS = 3,
};

/// Two edges that meet: unit tangents, lengths, material axes of both (0: e, 1: f).
typedef struct tl_bend {
    double t[2][3], length[2], d1[2][3], d2[2][3];
    double binormal[3]; ///< κb
    double chi;         ///< 1 + t_e·t_f, > 0
    double strain[TL_BEND_STRAINS];
} tl_bend;

/// Axes and strains from edges e, f and their first material axes; of all angles that m may be the
/// one nearest to `twist` is taken.
void tl_bend_set(const double e[3], const double f[3], const double d1_e[3], const double d1_f[3],
                 double twist, tl_bend *out);
/// Derivatives of the three strains.
void tl_bend_gradient(const tl_bend *b, double out[TL_BEND_STRAINS][TL_BEND_SIZE]);
/// out += Σ_k weight_k (second derivatives of strain k), symmetric part.
void tl_bend_hessian(const tl_bend *b, const double weight[TL_BEND_STRAINS],
                     double out[TL_BEND_SIZE][TL_BEND_SIZE]);

#endif // TL_ROD_STRAIN_H
