// SPDX-License-Identifier: Apache-2.0
// Contacts seen from the grains, and who touches how many.
#include "base/vec3.h"
#include "observe/grains.h"

// The shortest of the images of a vector.
static void grains_nearest(const talus_moment *m, double d[3]) {
    for (int k = 0; k < m->dim; k++)
        if (m->period[k] > 0.0) d[k] -= m->period[k] * rint(d[k] / m->period[k]);
}

int32_t talus_rod_of_item(const talus_rod_view *rods, int32_t item, int32_t *segment) {
    const int32_t number = item - rods->first_item; // among all segments
    int32_t low = 0, high = rods->rods - 1;
    while (low < high) { // the last that begins there or before
        const int32_t middle = low + (high - low + 1) / 2;
        if (rods->start[middle] - middle <= number)
            low = middle;
        else
            high = middle - 1;
    }
    if (segment) *segment = number - (rods->start[low] - low);
    return low;
}

static int32_t links_material(const talus_moment *m, int32_t item) {
    return item < m->bodies.count ? m->bodies.material[item]
                                  : m->rods.material[talus_rod_of_item(&m->rods, item, NULL)];
}

bool tl_link_get(const tl_grains *g, int32_t contact, tl_link *out) {
    const talus_moment *m = g->m;
    const talus_contact_view *c = &m->contacts;
    const int32_t body[2] = {c->a[contact], c->b[contact]};
    const int32_t grain[2] = {tl_grain_of(g, body[0]), tl_grain_of(g, body[1])};
    const int from = grain[0] >= 0 ? 0 : 1; // seen from a unless only b is a grain
    const double sign = from == 0 ? 1.0 : -1.0, *centre = m->bodies.centre;
    if (grain[from] < 0) return false;
    *out = (tl_link){.contact = contact, .from = grain[from], .to = grain[1 - from]};
    if (from == 1) out->to = -1;
    out->rod = body[1 - from] >= m->bodies.count;
    // The point is midway between the surfaces, so the way to the other centre goes through it.
    tl_sub3(c->point + 3 * (int64_t)contact, centre + 3 * (int64_t)body[from], out->l);
    grains_nearest(m, out->l);
    if (out->to >= 0) {
        double arm[3];
        tl_sub3(c->point + 3 * (int64_t)contact, centre + 3 * (int64_t)body[1], arm);
        grains_nearest(m, arm);
        tl_sub3(out->l, arm, out->l);
    }
    tl_copy3(g->x + 3 * (int64_t)out->from, out->x);
    for (int k = 0; k < 3; k++) {
        const int64_t at = 3 * (int64_t)contact + k;
        out->normal[k] = sign * c->normal[at];
        out->force[k] = m->h > 0.0 ? sign * c->impulse[at] / m->h : 0.0;
    }
    out->fn = tl_dot3(out->force, out->normal);
    double across[3];
    tl_axpy3(out->force, -out->fn, out->normal, across);
    out->ft = tl_norm3(across);
    const int32_t one = links_material(m, body[0]), other = links_material(m, body[1]);
    out->mu = m->friction ? m->friction[(int64_t)one * m->materials + other]
                          : sqrt(m->material[one].friction * m->material[other].friction);
    out->active = c->status[contact] != 0 && out->fn > 0.0;
    return true;
}

bool tl_link_inside(const tl_grains *g, const tl_link *link) {
    double x[3];
    tl_copy3(g->m->contacts.point + 3 * (int64_t)link->contact, x);
    tl_box_wrap(&g->box, x);
    return tl_box_has(&g->box, x);
}

// Whether contact i is the first of its pair of bodies, and any contact of the pair presses.
static bool links_pair(const tl_grains *g, int32_t i, tl_link *link) {
    const talus_contact_view *c = &g->m->contacts;
    bool presses = false;
    if (i > 0 && c->a[i] == c->a[i - 1] && c->b[i] == c->b[i - 1]) return false;
    for (int32_t k = i; k < c->count && c->a[k] == c->a[i] && c->b[k] == c->b[i]; k++)
        presses = presses || (tl_link_get(g, k, link) && link->active);
    return presses && tl_link_get(g, i, link);
}

// Count into backbone, without the grains that are marked there by −1.
static void links_count(tl_grains *g) {
    int32_t *count = g->backbone;
    for (int32_t i = 0; i < g->count; i++)
        if (count[i] >= 0) count[i] = 0;
    for (int32_t i = 0; i < g->pairs; i++) {
        const int32_t from = g->pair[2 * (int64_t)i], to = g->pair[2 * (int64_t)i + 1];
        if (count[from] < 0 || (to >= 0 && count[to] < 0)) continue;
        count[from]++;
        if (to >= 0) count[to]++;
    }
}

talus_status tl_grains_neighbours(tl_grains *g) {
    bool taken = true;
    if (g->m->contacts.count > g->pair_room) {
        g->pair_room = 0;
        TL_TRY(tl_realloc(g->ctx, 0, 2 * (int64_t)g->m->contacts.count, sizeof *g->pair, &g->pair));
        g->pair_room = g->m->contacts.count;
    }
    g->pairs = 0;
    for (int32_t i = 0; i < g->m->contacts.count; i++) {
        tl_link link;
        if (!links_pair(g, i, &link)) continue;
        g->pair[2 * (int64_t)g->pairs] = link.from;
        g->pair[2 * (int64_t)g->pairs + 1] = link.to;
        g->pairs++;
    }
    for (int32_t i = 0; i < g->count; i++) g->backbone[i] = 0;
    links_count(g);
    for (int32_t i = 0; i < g->count; i++) g->neighbours[i] = g->backbone[i];
    while (taken) {
        taken = false;
        for (int32_t i = 0; i < g->count; i++) {
            if (g->backbone[i] < 0 || g->backbone[i] >= 2) continue;
            g->backbone[i] = -1;
            taken = true;
        }
        if (taken) links_count(g);
    }
    return TALUS_OK;
}
