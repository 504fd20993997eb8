#pragma once
/*
 * What a shell finds where it runs: asked of the shell itself, in the box, since what the host has
 * is another matter. Here is what is asked, and what is made of the answer; whoever can run
 * commands asks (engine/probe.c).
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "shell/resolve.h"

enum {
    PROBE_NAMES_MAX = 64,
    PROBE_LINE_MAX = 160 /* bytes that are kept of a line */
};

/* The command that tells of the shell and of where it is. */
const char *probe_command(enum shell_family family);

/* May this be asked for its version? Letters, digits, and ._+- but not first. */
bool probe_is_name(const char *name);

/* The first line with something in it, without what a terminal would act on: a new string; NULL if
 * there is none. */
json_t *probe_first_line(const char *text);

/* {"family", "program", "version", "os", "directory"} from what probe_command() printed, with null
 * for what it did not say. A new object. */
json_t *probe_read(const char *text);

/* Text for a model from that object with "tools" in it, {name: version or null}, and "missing", the
 * names of those that are not there. The caller frees it. */
char *probe_text(const json_t *probe);
