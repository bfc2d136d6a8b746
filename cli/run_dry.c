// SPDX-License-Identifier: Apache-2.0
// `talus run --dry-run`: what would be simulated, and what it would cost by the first steps, which
// are made and thrown away.
#include "run.h"
#include <math.h>
#include <sys/resource.h>

#define DRY_SECONDS 2.0 // spent on measuring
#define DRY_STEPS 200   // most steps measured

typedef struct dry_measure {
    int steps;
    double seconds, time;
    int32_t contacts_most;
    double memory; // of the process [bytes]
} dry_measure;

static bool dry_steps(run *r, dry_measure *m) {
    const double begin = cli_clock();
    while (m->steps < DRY_STEPS && m->seconds < DRY_SECONDS && run_goes_on(r, m->steps, m->time)) {
        talus_ledger ledger;
        if (talus_scene_advance(r->scene, r->world) != TALUS_OK ||
            talus_world_step(r->world, &ledger) != TALUS_OK) {
            cli_error("%s", talus_context_last_error(r->ctx));
            return false;
        }
        m->steps++;
        m->time = ledger.time;
        if (ledger.contacts > m->contacts_most) m->contacts_most = ledger.contacts;
        m->seconds = cli_clock() - begin;
    }
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) m->memory = 1024.0 * (double)usage.ru_maxrss;
    return true;
}

// Bytes of the recording before compression, which takes some away: 13 numbers a body, 11 a
// particle of sand, 10 a node of a rod, 13 numbers and 13 bytes a contact, a row of the ledger each
// step.
static double dry_bytes(const run *r, const dry_measure *m, double frames, double steps) {
    const double real = r->info.record_precision != TALUS_PRECISION_DOUBLE ? 4.0 : 8.0;
    int32_t fields = 0;
    talus_ledger_field field;
    while (talus_ledger_field_at(fields, &field)) fields++;
    double frame = 13.0 * real * (double)(r->info.bodies + r->info.later_bodies);
    frame += 11.0 * real * (double)r->info.particles;
    frame += 10.0 * real * (double)r->info.rod_nodes;
    if (r->info.record_contacts) frame += (13.0 * real + 13.0) * (double)m->contacts_most;
    return frames * frame + (r->info.record_ledger ? 8.0 * fields * steps : 0.0);
}

static void dry_print(const run *r, const dry_measure *m, double steps, double frames) {
    const double seconds = m->steps > 0 ? m->seconds / m->steps * steps : 0.0;
    char took[24], memory[24], bytes[24];
    cli_duration(took, seconds);
    cli_bytes(bytes, dry_bytes(r, m, frames, steps));
    printf("%s would be simulated; nothing has been written\n", r->setup->scene_path);
    if (r->info.title[0]) printf("  title        %s\n", r->info.title);
    printf("  bodies       %d at the start, of which %d free; %d enter later\n",
           (int)r->info.bodies, (int)r->info.free_bodies, (int)r->info.later_bodies);
    if (r->info.particles > 0) {
        cli_bytes(memory, r->info.sand_bytes);
        printf("  sand         %lld particles; estimated to take %s\n",
               (long long)r->info.particles, memory);
    }
    if (r->info.rods > 0)
        printf("  rods         %d with %lld nodes\n", (int)r->info.rods,
               (long long)r->info.rod_nodes);
    cli_bytes(memory, m->memory);
    printf("  scheme       %s in %dD, steps of %.4g s%s, solver %s to %.1e\n",
           talus_scheme_text(r->def.scheme), (int)r->info.dim, r->def.step,
           r->def.max_move > 0.0 ? " or less" : "", r->def.solver, r->def.tolerance);
    printf("  run          to t = %.6g s%s, about %.0f steps\n", r->info.until,
           r->info.stop_at_rest ? " or to rest" : "", steps);
    printf("  recording    %s, about %.0f frames, at most about %s\n", r->setup->out, frames,
           bytes);
    printf("  time         about %s, if all steps take as long as the first %d did\n", took,
           m->steps);
    printf("  memory       %s after these steps; up to then %d contacts\n", memory,
           (int)m->contacts_most);
    puts("Steps slow down when more grains come to touch, so that a run which begins in the air\n"
         "takes longer than this.");
}

static void dry_json(const run *r, const dry_measure *m, double steps, double frames) {
    const struct {
        const char *key;
        double value;
    } number[] = {
        {"dim", r->info.dim},
        {"bodies", r->info.bodies},
        {"free_bodies", r->info.free_bodies},
        {"later_bodies", r->info.later_bodies},
        {"particles", (double)r->info.particles},
        {"sand_bytes", r->info.sand_bytes},
        {"rods", r->info.rods},
        {"rod_nodes", (double)r->info.rod_nodes},
        {"until", r->info.until},
        {"steps", steps},
        {"frames", frames},
        {"bytes", dry_bytes(r, m, frames, steps)},
        {"measured_steps", m->steps},
        {"measured_seconds", m->seconds},
        {"measured_contacts", m->contacts_most},
        {"seconds", m->steps > 0 ? m->seconds / m->steps * steps : NAN},
        {"memory", m->memory},
    };
    putchar('{');
    cli_json_key(stdout, "scene", true);
    cli_json_string(stdout, r->setup->scene_path);
    cli_json_key(stdout, "dry_run", false);
    fputs("true", stdout);
    cli_json_key(stdout, "recording", false);
    cli_json_string(stdout, r->setup->out);
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        cli_json_key(stdout, number[k].key, false);
        cli_json_number(stdout, number[k].value);
    }
    puts("}");
}

int run_dry(run *r) {
    dry_measure m = {0};
    if (!dry_steps(r, &m)) return CLI_FAILED;
    // Steps that were shortened (max_move) count by their mean so far.
    const double step = m.steps > 0 ? m.time / m.steps : r->def.step;
    double steps = ceil(r->info.until / step - 1e-6);
    if (r->info.steps > 0) steps = fmin(steps, (double)r->info.steps);
    const double end = fmin(r->info.until, steps * step);
    const double frames = floor(end / r->info.frame_interval + 1e-6) + 1.0;
    if (r->setup->json)
        dry_json(r, &m, steps, frames);
    else
        dry_print(r, &m, steps, frames);
    return CLI_DONE;
}
