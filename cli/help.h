// SPDX-License-Identifier: Apache-2.0
// Help pages that have a file of their own.
#ifndef CLI_HELP_H
#define CLI_HELP_H

/// `talus help scene [SECTION|--markdown]`; argv[0] is what follows "scene".
int cli_help_scene(int argc, char **argv);

/// `talus help observables`.
void cli_help_observables(void);

#endif // CLI_HELP_H
