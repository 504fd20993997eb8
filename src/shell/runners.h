#pragma once
/*
 * Programs that run other programs: interpreters, and those that take the name of a program from an
 * option, a variable or a file. A rule by command cannot hold them. What names a program in plain
 * sight is refused all the same, and whoever lists one is told that the rule does not hold it.
 *
 * The lists are of what is known, not of what there is.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct runner {
    const char *name;           /* as a command is called, without a version */
    const char *const *options; /* that name a program, or NULL */
    const char *const *leads;   /* words behind which a command begins, or NULL */
    const char *const *early;   /* options that do so before the first plain word, or NULL */
    const char *const *valued;  /* options there whose value is the next word */
    const char *reads_late;     /* the plain word behind which the early ones are read too */
};

/* By the name of a command, with or without its directory and version (python3.11); or NULL. */
const struct runner *runner_find(const char *command);

/* Is the word one of the program's options that name another? Long ones may be cut short.
 * `is_early`: those count that do before the first plain word. */
bool runner_names_program(const struct runner *r, const char *word, bool is_early);

/* Is the word behind this one its value, before the first plain word? */
bool runner_takes_value(const struct runner *r, const char *word);

/* Does a command begin behind this word? */
bool runner_leads(const struct runner *r, const char *word);

/* Is it a variable from which programs take the name of another, or where to find one? */
bool runner_variable(const char *name);

/* May it be set for one command (NAME=VALUE command), whatever the command is? */
bool runner_is_harmless(const char *variable);

/* "git, xargs": those of a list of commands that are runners, as many as there is room for.
 * Returns their number. */
size_t runner_list(const json_t *commands, char *ret, size_t size);
