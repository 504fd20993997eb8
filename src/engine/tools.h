#pragma once
/*
 * Tools: functions of the host's that programs may call. A set of them never changes; whoever adds
 * or removes one makes another set, and runs that hold the one before keep it.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
    TOOLS_MAX = 2000, /* in a set */
    TOOL_SCHEMA_MAX = 256 << 10
};

/* Tools about tools. They stay when a request narrows the set. */
enum tool_builtin {
    TOOL_ORDINARY,
    TOOL_SEARCHES,  /* search_tools(query): the engine answers */
    TOOL_DESCRIBES, /* describe_tool(name): the engine answers */
    TOOL_READS      /* read_handle(handle): for the runtime; nobody is told of it */
};

struct tool {
    unsigned refs;
    json_t *spec; /* as it was given; the pointers below look into it */
    const char *name;
    const char *description;  /* or NULL */
    const json_t *parameters; /* a schema that passed schema_check(), or NULL: anything */
    const json_t *returns;    /* the same of the result, which is not checked; or NULL */
    const char *command;      /* or NULL: the embedding program answers */
    uint64_t timeout_ms;      /* 0: none of its own */
    bool needs_approval;
    bool is_hosted; /* whoever hosts tools for all jobs answers (loop.h) */
    enum tool_builtin builtin;
    char *doc; /* what the program finds as its function's __doc__ */
};

struct toolset {
    unsigned refs;
    json_t *places; /* by name */
    size_t count;
    struct tool *tools[];
};

/* From configuration: a list of tools, or an object of them by name. NULL with err. A reference
 * to a set may be NULL everywhere below: there are no tools then. */
struct toolset *toolset_read(const json_t *tools, struct gb_err *err);

/* The tools of all these sets; of two of one name, the later. */
struct toolset *toolset_join(struct toolset *const *sets, size_t n, struct gb_err *err);

struct toolset *toolset_ref(struct toolset *set);
struct toolset *toolset_unref(struct toolset *set); /* NULL */

struct tool *tool_ref(struct tool *tool);
void tool_unref(struct tool *tool);

/* A new set, with this tool too, in the place of one of the same name if there is one. */
struct toolset *toolset_with(const struct toolset *set, const json_t *tool, struct gb_err *err);

/* A new set without the tool of that name; NULL with err if there is none. */
struct toolset *toolset_without(const struct toolset *set, const char *name, struct gb_err *err);

/* A new set of only those; NULL with err if one of them is not there. */
struct toolset *toolset_narrow(const struct toolset *set, const json_t *names, struct gb_err *err);

struct tool *toolset_find(const struct toolset *set, const char *name);
size_t toolset_count(const struct toolset *set);
bool toolset_needs_approval(const struct toolset *set);

/* Has it a tool of this kind? */
bool toolset_has(const struct toolset *set, enum tool_builtin builtin);

/* "a, b, c", as much of it as fits. */
void toolset_list(const struct toolset *set, char *ret, size_t size);

/* As they were given (a list); their names; what the guest needs to know of them. New. */
json_t *toolset_json(const struct toolset *set);
json_t *toolset_names(const struct toolset *set, bool to_approve_only);
json_t *toolset_program(const struct toolset *set);
