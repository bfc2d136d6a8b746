// SPDX-License-Identifier: Apache-2.0
// The page of `talus reproduce`: one file, nothing is fetched.
#define _GNU_SOURCE
#include "bench.h" // bench_escape
#include "page.h"
#include "reproduce.h"
#include <math.h>

void reproduce_page_begin(FILE *stream, const char *facts) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<title>talus reproduce</title>\n<style>",
          stream);
    fputs(cli_page_plot_css, stream);
    fputs(cli_page_bench_css, stream);
    fputs(cli_page_reproduce_css, stream);
    fputs("</style></head><body>\n<h1>Published experiments, run again</h1>\n"
          "<p>A row passes when what was measured lies between the two numbers in its column "
          "“passes”. “Differs” marks what lies outside for a reason that is given.</p>\n<p "
          "class=\"soft\">",
          stream);
    bench_escape(stream, facts);
    fputs("</p>\n", stream);
}

static void page_cell(FILE *stream, const char *class, const char *text) {
    fprintf(stream, "<td class=\"%s\">", class);
    bench_escape(stream, text);
    fputs("</td>", stream);
}

// The range in which a row passes, as text.
static void page_range(FILE *stream, const reproduce_row *row) {
    if (isinf(row->low))
        fprintf(stream, "<td>≤ %.4g</td>", row->high);
    else if (isinf(row->high))
        fprintf(stream, "<td>≥ %.4g</td>", row->low);
    else
        fprintf(stream, "<td>%.4g … %.4g</td>", row->low, row->high);
}

void reproduce_page_add(FILE *stream, const reproduce *r, double seconds) {
    fputs("<section><h2>", stream);
    bench_escape(stream, r->experiment->name);
    fputs(": ", stream);
    bench_escape(stream, r->experiment->title);
    fputs("</h2>\n<p>", stream);
    bench_escape(stream, r->experiment->setup);
    fprintf(stream,
            "%s Took %.3g s.</p>\n<div class=\"scroll\"><table><thead><tr><th "
            "class=\"text\">what</th><th>measured</th><th class=\"text\">unit</th><th "
            "class=\"text\">published</th><th>passes</th><th class=\"text\">verdict</th><th "
            "class=\"text\">why</th></tr></thead><tbody>\n",
            r->quick ? " Short form." : "", seconds);
    for (int k = 0; k < r->rows; k++) {
        const reproduce_row *row = &r->row[k];
        fprintf(stream, "<tr%s>", row->verdict == REPRODUCE_FAIL ? " class=\"unsolved\"" : "");
        page_cell(stream, "text", row->what);
        fprintf(stream, "<td>%.6g</td>", row->measured);
        page_cell(stream, "text", row->unit);
        page_cell(stream, "text", row->published);
        page_range(stream, row);
        page_cell(stream, "text", reproduce_verdict_text(row->verdict));
        page_cell(stream, "text why", row->verdict == REPRODUCE_DIFFERS ? row->why : "");
        fputs("</tr>\n", stream);
    }
    fputs("</tbody></table></div>\n<div class=\"pair\">\n", stream);
    for (int k = 0; k < r->plots; k++) {
        fputs("<figure><figcaption><b>", stream);
        bench_escape(stream, r->plot[k].title);
        fputs("</b></figcaption>\n", stream);
        plot_write(stream, &r->plot[k]);
        fputs("</figure>\n", stream);
    }
    fputs("</div></section>\n", stream);
}

void reproduce_page_end(FILE *stream) { fputs("</body></html>\n", stream); }
