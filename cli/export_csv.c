// SPDX-License-Identifier: Apache-2.0
// Tables: a row for each body or contact of each frame, and for each step of the ledger. Numbers
// are the shortest that read back as the same double; NaN is an empty cell.
#include "export.h"
#include <math.h>
#include <stdlib.h>

static void csv_numbers(FILE *file, const double *x, int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        char text[40] = "";
        if (isfinite(x[k])) cli_number(text, x[k]);
        fprintf(file, ",%s", text);
    }
}

// A name as a cell: in quotes, as it may hold anything.
static void csv_name(FILE *file, const char *name) {
    fputs(",\"", file);
    for (const char *c = name; *c; c++) {
        if (*c == '"') fputc('"', file);
        fputc(*c, file);
    }
    fputc('"', file);
}

static void csv_begin(FILE *file, int64_t number, const talus_frame *f) {
    fprintf(file, "%lld,%lld", (long long)number, (long long)f->step);
    csv_numbers(file, &f->time, 1);
}

static void csv_frame_bodies(const export_job *job, FILE *file, int64_t number,
                             const talus_frame *f) {
    const talus_body_view *b = &f->bodies;
    for (int32_t i = 0; i < b->count; i++) {
        csv_begin(file, number, f);
        fprintf(file, ",%d", (int)i);
        csv_name(file, talus_playback_body_name(job->playback, i));
        csv_numbers(file, b->position + 3 * (size_t)i, 3);
        csv_numbers(file, b->orientation + 4 * (size_t)i, 4);
        csv_numbers(file, b->velocity + 3 * (size_t)i, 3);
        csv_numbers(file, b->spin + 3 * (size_t)i, 3);
        fputc('\n', file);
    }
}

static void csv_frame_contacts(FILE *file, int64_t number, const talus_frame *f) {
    const talus_contact_view *c = &f->contacts;
    for (int32_t i = 0; i < c->count; i++) {
        csv_begin(file, number, f);
        fprintf(file, ",%d,%d,%u,%d", (int)c->a[i], (int)c->b[i], (unsigned)c->feature[i],
                (int)c->status[i]);
        csv_numbers(file, c->point + 3 * (size_t)i, 3);
        csv_numbers(file, c->normal + 3 * (size_t)i, 3);
        csv_numbers(file, c->gap + i, 1);
        csv_numbers(file, c->impulse + 3 * (size_t)i, 3);
        csv_numbers(file, c->velocity + 3 * (size_t)i, 3);
        fputc('\n', file);
    }
}

static void csv_frame_sand(FILE *file, int64_t number, const talus_frame *f) {
    const talus_sand_frame *s = &f->sand;
    for (size_t i = 0; i < (size_t)s->count; i++) {
        csv_begin(file, number, f);
        fprintf(file, ",%lld", (long long)s->id[i]);
        csv_numbers(file, s->position + 3 * i, 3);
        csv_numbers(file, s->velocity + 3 * i, 3);
        csv_numbers(file, s->volume + i, 1);
        csv_numbers(file, s->inertial + i, 1);
        csv_numbers(file, s->pressure + i, 1);
        fputc('\n', file);
    }
}

static void csv_frame_rods(const export_job *job, FILE *file, int64_t number,
                           const talus_frame *f) {
    const talus_rod_view *r = &f->rods;
    for (int32_t i = 0; i < r->rods; i++)
        for (size_t k = (size_t)r->start[i]; k < (size_t)r->start[i + 1]; k++) {
            csv_begin(file, number, f);
            fprintf(file, ",%d,%d", (int)i, (int)(k - (size_t)r->start[i]));
            csv_name(file, talus_playback_rod_name(job->playback, i));
            csv_numbers(file, r->position + 3 * k, 3);
            csv_numbers(file, r->velocity + 3 * k, 3);
            csv_numbers(file, r->director + 3 * k, 3);
            csv_numbers(file, r->strain + k, 1);
            csv_numbers(file, r->radius + i, 1);
            fputc('\n', file);
        }
}

static int csv_frames(export_job *job) {
    FILE *bodies = export_open(job, "bodies.csv");
    FILE *sand = bodies && job->info.sand ? export_open(job, "sand.csv") : NULL;
    FILE *contacts = bodies && job->info.contacts ? export_open(job, "contacts.csv") : NULL;
    FILE *rods = bodies && job->info.rods > 0 ? export_open(job, "rods.csv") : NULL;
    bool ok = bodies && (contacts || !job->info.contacts) && (sand || !job->info.sand) &&
              (rods || job->info.rods == 0);
    if (ok && rods)
        fputs("frame,step,time,rod,node,name,x,y,z,vx,vy,vz,director_x,director_y,director_z,"
              "strain,radius\n",
              rods);
    if (ok && sand)
        fputs("frame,step,time,particle,x,y,z,vx,vy,vz,volume,inertial,pressure\n", sand);
    if (ok)
        fputs("frame,step,time,body,name,x,y,z,qw,qx,qy,qz,vx,vy,vz,spin_x,spin_y,spin_z\n",
              bodies);
    if (ok && contacts)
        fputs("frame,step,time,a,b,feature,status,x,y,z,nx,ny,nz,gap,impulse_x,impulse_y,"
              "impulse_z,slip_x,slip_y,slip_z\n",
              contacts);
    for (int64_t k = 0; ok && k < job->frames.count; k++) {
        talus_frame f;
        ok = export_frame(job, job->frames.number[k], &f);
        if (!ok) break;
        csv_frame_bodies(job, bodies, job->frames.number[k], &f);
        if (contacts) csv_frame_contacts(contacts, job->frames.number[k], &f);
        if (sand) csv_frame_sand(sand, job->frames.number[k], &f);
        if (rods) csv_frame_rods(job, rods, job->frames.number[k], &f);
        export_progress(job, "frame", k + 1, job->frames.count);
    }
    if (bodies) ok = export_close(job, "bodies.csv", bodies) && ok;
    if (contacts) ok = export_close(job, "contacts.csv", contacts) && ok;
    if (sand) ok = export_close(job, "sand.csv", sand) && ok;
    if (rods) ok = export_close(job, "rods.csv", rods) && ok;
    return ok ? CLI_DONE : CLI_FAILED;
}

// The ledger lies by columns; it is turned in pieces.
static bool csv_ledger_rows(export_job *job, FILE *file, int32_t fields) {
    enum { PIECE = 1024 };
    double *value = cli_alloc((size_t)fields * PIECE, sizeof *value);
    bool ok = true;
    for (int64_t first = 0; ok && first < job->info.steps; first += PIECE) {
        const int64_t left = job->info.steps - first, rows = left < PIECE ? left : PIECE;
        talus_ledger_field field;
        for (int32_t k = 0; ok && talus_ledger_field_at(k, &field); k++)
            ok = talus_playback_ledger(job->playback, field.name, first, rows,
                                       value + (size_t)k * PIECE) == TALUS_OK;
        for (int64_t i = 0; ok && i < rows; i++) {
            for (int32_t k = 0; k < fields; k++) {
                char text[40] = "";
                const double x = value[(size_t)k * PIECE + (size_t)i];
                if (isfinite(x)) cli_number(text, x);
                fprintf(file, "%s%s", k ? "," : "", text);
            }
            fputc('\n', file);
        }
    }
    if (!ok) cli_error("%s", talus_context_last_error(job->ctx));
    free(value);
    return ok;
}

static int csv_ledger(export_job *job) {
    FILE *file = export_open(job, "ledger.csv");
    if (!file) return CLI_FAILED;
    talus_ledger_field field;
    int32_t fields = 0;
    for (; talus_ledger_field_at(fields, &field); fields++)
        fprintf(file, "%s%s", fields ? "," : "", field.name);
    fputc('\n', file);
    const bool ok = csv_ledger_rows(job, file, fields);
    return export_close(job, "ledger.csv", file) && ok ? CLI_DONE : CLI_FAILED;
}

int export_csv(export_job *job) {
    const int code = csv_frames(job);
    return code == CLI_DONE ? csv_ledger(job) : code;
}
