#pragma once
/* What the commands share: the table of commands, what the command line said, exit status. */
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli/options.h"

/* Exit status that is not the guest's own; the results of the engine carry the rest. */
enum cli_exit {
    CLI_OK = 0,
    CLI_USAGE = 2,
    CLI_FAILED = 125,
    CLI_REJECTED = 126,
    CLI_SIGNAL = 128 /* plus the number of the signal */
};

/* What a command line said. One struct for all commands, so that they can share option tables. */
struct args {
    const struct command *command;
    struct operands operands;
    json_t *config; /* keys for the engine */
    json_t *inputs; /* --input */
    json_t *tools;  /* --tool: a list */
    json_t *files;  /* --file */
    json_t *serve;  /* keys for the HTTP server */
    const char *code;
    const char *stdin_path;
    const char *prelude_path;
    const char *config_path;
    const char *tools_path;
    const char *completion;
    const char *expect; /* a hash */
    const char *print_config;
    const char *probe_names;
    const char *token_file;
    int jobs; /* 0: not given */
    bool want_help;
    bool want_version;
    bool want_man;
    bool want_json;
    bool want_explain;
    bool want_raw;
    bool is_quiet;
    bool want_probe;
    bool no_auth;
};

struct command {
    const char *name;
    const char *operands;    /* for the usage line */
    const char *summary;     /* one line, no stop at the end */
    const char *description; /* paragraphs for --help and the manual, separated by '\n' */
    const struct option_group *const *groups;
    int (*run)(const struct args *args); /* returns the exit status */
    /* Options were refused: say what may have been meant. May be NULL. */
    void (*advise)(const struct args *args, struct gb_err *err);
};

extern const struct command cmd_run;
extern const struct command cmd_shell;
extern const struct command cmd_check;
extern const struct command cmd_batch;
extern const struct command cmd_repl;
extern const struct command cmd_mcp;
extern const struct command cmd_serve;
extern const struct command cmd_audit;
extern const struct command cmd_instructions;
extern const struct command cmd_doctor;
extern const struct command cmd_help;

/* All commands in the order of --help, ended by NULL. */
extern const struct command *const commands[];

/* The command of that name, or NULL with a message that suggests the nearest. */
const struct command *command_find(const char *name, struct gb_err *err);

/* Run what the command line names to its end, as 'run' and 'shell' do. Returns the exit status. */
int run_once(const struct args *args);

/* Option groups that several commands have. */
extern const struct option_group general_options; /* --help */

/* Print the help of one command, or of the program when `command` is NULL. */
int help_print(const struct command *command);

/* Tell that the command line cannot be followed. `command` may be NULL. Only GB_E_INVALID is
 * about usage and points to the help. Returns CLI_USAGE. */
int cli_refuse(const struct command *command, const struct gb_err *err);
