// SPDX-License-Identifier: Apache-2.0
// The files of cli/page as text, put into the program by the build (cmake/libraries.cmake).
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

extern const char cli_page_plot_css[];      ///< colours and lines of a plot, alone or in a page
extern const char cli_page_bench_css[];     ///< the rest of the page of `talus bench`
extern const char cli_page_bench_js[];      ///< what moves in it
extern const char cli_page_reproduce_css[]; ///< the page of `talus reproduce`, besides bench_css
extern const char cli_page_report_css[];    ///< the page of `talus report`, besides bench_css

#endif // CLI_PAGE_H
