// SPDX-License-Identifier: Apache-2.0
// The page of `talus bench`: one file with plots, data, style and script inside; nothing is
// fetched.
#define _GNU_SOURCE
#include "bench.h"
#include "page.h"
#include <math.h>
#include <stdlib.h>

// The steps of a profile: [τ, share of the problems solved within τ].
static void page_profile(FILE *stream, const bench_set *set, const bench_series *s, int tolerance) {
    const size_t count = (size_t)set->problems;
    double *ratio = bench_set_sorted(set, s, tolerance);
    fputc('[', stream);
    for (size_t k = 0; k < count && isfinite(ratio[k]); k++) {
        fputs(k > 0 ? ",[" : "[", stream);
        cli_json_number(stream, ratio[k]);
        fputc(',', stream);
        cli_json_number(stream, (double)(k + 1) / (double)count);
        fputc(']', stream);
    }
    fputc(']', stream);
    free(ratio);
}

static void page_counts(FILE *stream, const char *key, const int *value, int count) {
    cli_json_key(stream, key, false);
    for (int k = 0; k < count; k++) fprintf(stream, "%s%d", k > 0 ? "," : "[", value[k]);
    fputc(']', stream);
}

static void page_series(FILE *stream, const bench_set *set) {
    cli_json_key(stream, "series", false);
    fputc('[', stream);
    for (int k = 0; k < set->count; k++) {
        const bench_series *s = &set->series[k];
        fputs(k > 0 ? ",\n{" : "\n{", stream);
        cli_json_key(stream, "library", true);
        cli_json_string(stream, s->library);
        cli_json_key(stream, "solver", false);
        cli_json_string(stream, s->solver);
        cli_json_key(stream, "label", false);
        cli_json_string(stream, s->label);
        cli_json_key(stream, "score", false);
        cli_json_number(stream, s->score);
        page_counts(stream, "solved", s->solved, set->tolerances);
        page_counts(stream, "run", s->run, set->tolerances);
        cli_json_key(stream, "profile", false);
        for (int t = 0; t < set->tolerances; t++) {
            fputc(t > 0 ? ',' : '[', stream);
            page_profile(stream, set, s, t);
        }
        fputs("]}", stream);
    }
    fputs("]", stream);
}

static void page_data(FILE *stream, const bench_set *set) {
    fputs("<script type=\"application/json\" id=\"data\">{", stream);
    cli_json_key(stream, "bright", true);
    fprintf(stream, "%d", BENCH_BRIGHT);
    cli_json_key(stream, "tolerances", false);
    for (int t = 0; t < set->tolerances; t++) {
        fputc(t > 0 ? ',' : '[', stream);
        cli_json_number(stream, set->tolerance[t]);
    }
    fputc(']', stream);
    cli_json_key(stream, "problems", false);
    for (int p = 0; p < set->problems; p++) {
        fputc(p > 0 ? ',' : '[', stream);
        cli_json_string(stream, set->problem[p]);
    }
    fputc(']', stream);
    cli_json_key(stream, "columns", false);
    for (int k = 0; k < BENCH_COLUMN_COUNT; k++)
        fprintf(stream, "%s\"%s\"", k > 0 ? "," : "[", bench_columns[k].name);
    fputc(']', stream);
    cli_json_key(stream, "text", false);
    for (int k = 0; k < BENCH_COLUMN_COUNT; k++)
        fprintf(stream, "%s%s", k > 0 ? "," : "[", bench_columns[k].is_text ? "true" : "false");
    fputc(']', stream);
    page_series(stream, set);
    cli_json_key(stream, "rows", false);
    fputc('[', stream);
    for (int i = 0; i < set->rows->count; i++) {
        fputs(i > 0 ? ",\n[" : "\n[", stream);
        for (int k = 0; k < BENCH_COLUMN_COUNT; k++) {
            if (k > 0) fputc(',', stream);
            if (bench_columns[k].is_text)
                cli_json_string(stream, bench_text(&set->rows->item[i], k));
            else
                cli_json_number(stream, bench_number(&set->rows->item[i], k));
        }
        fputc(']', stream);
    }
    fputs("]}</script>\n", stream);
}

// One button per solver, best first: how many it solved, and whether something was not run.
static void page_legend(FILE *stream, const bench_set *set) {
    fputs("<div id=\"legend\">\n", stream);
    for (int k = 0; k < set->count; k++) {
        const bench_series *s = &set->series[k];
        int solved = 0, run = 0;
        const int all = set->problems * set->tolerances;
        for (int t = 0; t < set->tolerances; t++) solved += s->solved[t], run += s->run[t];
        const bool on = k < BENCH_BRIGHT;
        fprintf(stream, "<button class=\"key%s\" data-k=\"%d\" aria-pressed=\"%s\">",
                on ? "" : " off", k, on ? "true" : "false");
        fputs("<svg class=\"plot\" width=\"28\" height=\"10\"><path ", stream);
        bench_plot_style(stream, "line", s);
        fputs(" d=\"M1 5H27\"/></svg>", stream);
        bench_escape(stream, s->label);
        fprintf(stream, " <small>%d/%d", solved, all);
        if (run < all) fprintf(stream, ", %d not run", all - run);
        fputs("</small></button>\n", stream);
    }
    fputs("<button id=\"best\">best few</button><button id=\"every\">all</button>"
          "<button id=\"none\">none</button>\n</div>\n",
          stream);
}

// Said once, above the first tolerance.
static const char page_profile_text[] =
    ": a curve shows for which share of the problems (upwards) a solver was done within so many "
    "times "
    "the time of the fastest solver of that problem (to the right). High on the left means fast, "
    "high "
    "on the right means reliable, and a curve that ends below 100&nbsp;% left problems unsolved.";
static const char page_size_text[] =
    ": each dot is one solved problem, how large it is (to the right) and how long the solver took "
    "(upwards), both on logarithmic axes. Dots of one colour that rise by one power of ten per "
    "power "
    "of ten cost the same time per contact at any size.";

static void page_plots(FILE *stream, const bench_set *set, int t) {
    int nobody = 0;
    for (int p = 0; p < set->problems; p++) {
        bool anybody = false;
        for (int s = 0; s < set->count; s++)
            anybody = anybody || isfinite(set->series[s].ratio[t][p]);
        nobody += !anybody;
    }
    char tolerance[24];
    bench_tolerance(tolerance, set->tolerance[t]);
    fprintf(stream, "<section><h2>Tolerance %s</h2>\n", tolerance);
    if (nobody > 0)
        fprintf(stream, "<p class=\"soft\">%d of %d problems %s solved by nobody.</p>\n", nobody,
                set->problems, nobody == 1 ? "was" : "were");
    fprintf(stream,
            "<div class=\"pair\">\n<figure><figcaption><b>Performance profile</b>%s</figcaption>\n",
            t > 0 ? "" : page_profile_text);
    bench_plot_profile(stream, set, t, false);
    fprintf(stream, "</figure>\n<figure><figcaption><b>Time over size</b>%s</figcaption>\n",
            t > 0 ? "" : page_size_text);
    bench_plot_size(stream, set, t);
    fputs("</figure>\n</div></section>\n", stream);
}

static void page_table(FILE *stream) {
    fputs(
        "<section><h2>All results</h2>\n<p>One row per solver, problem and tolerance; click on a "
        "heading to sort by it, once more to turn the order round. Red rows were not solved; grey "
        "ones are problems that a solver is not made for.</p>\n"
        "<p><input id=\"filter\" type=\"search\" placeholder=\"show rows with …\" "
        "aria-label=\"show rows with\"></p>\n<div class=\"scroll\"><table><thead><tr>",
        stream);
    for (int k = 0; k < BENCH_COLUMN_COUNT; k++)
        fprintf(stream, "<th%s>%s</th>", bench_columns[k].is_text ? " class=\"text\"" : "",
                bench_columns[k].name);
    fputs("</tr></thead><tbody></tbody></table></div>\n"
          "<noscript><p>Scripts are off: the table is in the CSV file.</p></noscript></section>\n",
          stream);
}

void bench_page_write(FILE *stream, const bench_set *set, const char *facts) {
    fputs(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>talus bench</title>\n<style>",
        stream);
    fputs(cli_page_plot_css, stream);
    fputs(cli_page_bench_css, stream);
    fprintf(
        stream,
        "</style></head><body>\n<h1>%d solvers on %d friction problems</h1>\n"
        "<p>Every solver got every problem at every tolerance, starting from zero, and an answer "
        "counts as solved only if a certificate that no solver computes confirms it. The solvers "
        "stand below from best to worst: click on a name to bring its colour in or out, rest on "
        "it to see it alone.</p>\n",
        set->count, set->problems);
    page_legend(stream, set);
    for (int t = 0; t < set->tolerances; t++) page_plots(stream, set, t);
    page_table(stream);
    fputs("<footer class=\"soft\">", stream);
    bench_escape(stream, facts);
    fputs("</footer>\n<div id=\"tip\" hidden></div>\n", stream);
    page_data(stream, set);
    fprintf(stream, "<script>%s</script>\n</body></html>\n", cli_page_bench_js);
}
