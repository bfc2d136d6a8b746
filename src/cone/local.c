// SPDX-License-Identifier: Apache-2.0
// The one table of one-contact solvers: names, help and forms.
#include "cone/local.h"
#include <string.h>

const tl_local_solver tl_local_solvers[] = {
    {"hybrid", "open, stick or slide exactly, by a bracketed search; all others as net", true,
     &tl_local_hybrid},
    {"hybrid-newton", "Fischer-Burmeister Newton first, enumeration where it fails", true,
     &tl_local_hybrid_newton},
    {"hybrid-enum", "enumeration first, then always Fischer-Burmeister Newton", true,
     &tl_local_hybrid_enum},
    {"enum", "enumeration with the quartic of the sliding case (d = 6: hybrid)", true,
     &tl_local_enum},
    {"fb", "Fischer-Burmeister Newton", true, &tl_local_fb},
    {"ac", "Alart-Curnier Newton", true, &tl_local_ac},
    {"ac-damped", "Alart-Curnier Newton with line search", true, &tl_local_ac_damped},
    {"ac-enum", "Alart-Curnier Newton first, enumeration where it fails", true, &tl_local_ac_enum},
    {"ac-damped-enum", "the same with line search", true, &tl_local_ac_damped_enum},
    {"fixed-point", "normal, then tangent, again and again until both hold", true,
     &tl_local_fixed_point},
    {"fixed-point-enum", "the same first, enumeration where it fails", true,
     &tl_local_fixed_point_enum},
    {"four-sides-enum", "four sides first, enumeration where that is not Coulomb", true,
     &tl_local_four_sides_enum},
    {"ebp", "Newton on the bipotential projection (enhanced bipotential)", true, &tl_local_ebp},
    {"eal", "Newton on the augmented Lagrangian projection", true, &tl_local_eal},
    {"sbp", "one projected step on the bipotential per visit", false, &tl_local_sbp},
    {"sal", "one augmented Lagrangian step per visit", false, &tl_local_sal},
    {"epdas", "one exact primal-dual active set step per visit", false, &tl_local_epdas},
    {"ipdas", "one iterative primal-dual active set step per visit", false, &tl_local_ipdas},
    {"pyramid", "box of four sides instead of the cone: for comparison, not Coulomb", false,
     &tl_local_pyramid},
    {"four-sides", "pyramid of four sides, turned to the free velocity: not Coulomb", false,
     &tl_local_four_sides},
    {0},
};

const tl_local_solver *tl_local_find(const char *name) {
    for (const tl_local_solver *s = tl_local_solvers; s->name; s++)
        if (strcmp(s->name, name) == 0) return s;
    return NULL;
}
