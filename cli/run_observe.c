// SPDX-License-Identifier: Apache-2.0
// Numbers that the scene wants measured at every step.
#include "run.h"
#include <stdlib.h>

talus_status run_observe_open(run *r) {
    run_observe *o = &r->observe;
    talus_scalar scalar;
    if (r->info.observe_count == 0) return TALUS_OK;
    talus_status status = talus_moments_create(r->ctx, &o->moments);
    if (status == TALUS_OK)
        status = talus_observer_create(r->ctx, r->info.dim, r->info.observe, r->info.observe_count,
                                       NULL, &o->observer);
    if (status != TALUS_OK) return status;
    while (talus_observer_at(o->observer, o->count, &scalar)) o->count++;
    o->field = cli_alloc((size_t)o->count, sizeof *o->field);
    o->value = cli_alloc((size_t)o->count, sizeof *o->value);
    for (int32_t k = 0; talus_observer_at(o->observer, k, &scalar); k++)
        o->field[k] = (talus_ledger_field){scalar.name, scalar.unit, scalar.text, false};
    return TALUS_OK;
}

talus_status run_observe_step(run *r, const talus_ledger *ledger) {
    run_observe *o = &r->observe;
    talus_moment moment;
    if (!o->observer) return TALUS_OK;
    talus_status status = talus_moments_world(o->moments, r->world, ledger->h, &moment);
    if (status == TALUS_OK) status = talus_observer_measure(o->observer, &moment, o->value);
    if (status == TALUS_OK) status = talus_recording_series(r->recording, o->count, o->value);
    return status;
}

void run_observe_close(run *r) {
    talus_observer_destroy(r->observe.observer);
    talus_moments_destroy(r->observe.moments);
    free(r->observe.field);
    free(r->observe.value);
    r->observe = (run_observe){0};
}
