#pragma once
/* The rules of one check, as the engine sends them with the program. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum policy {
    POLICY_OFF,
    POLICY_STANDARD,
    POLICY_STRICT
};

enum patterns {
    PATTERNS_OFF,
    PATTERNS_WARN,
    PATTERNS_BLOCK
};

/* Lists are borrowed from the rules. A missing allow list allows everything. */
struct rules {
    enum policy policy;
    enum patterns patterns;
    const json_t *allow_imports, *block_imports;
    const json_t *allow_builtins, *block_builtins;
    const json_t *allow_os_attrs;
    const json_t *tools; /* functions that the program finds */
    const json_t *names; /* an object: variables that the program finds, by name */
    bool has_earlier;    /* a cell of a session: objects of earlier ones are about */
};

enum verdict {
    VERDICT_FINE,
    VERDICT_BLOCKED, /* a block list has it */
    VERDICT_UNLISTED /* an allow list lacks it */
};

/* Returns 0, or -1 when the object holds something else than rules. */
int rules_parse(const json_t *json, struct rules *ret);

/* Is this text in the list? Nothing is in a missing one. */
bool rules_list_has(const json_t *list, const char *text);

/* May this module be imported? Entries of the lists stand for a module and all below it. */
enum verdict rules_import(const struct rules *rules, const char *dotted);

/* May this builtin be used? What is language rather than library needs no entry. */
enum verdict rules_builtin(const struct rules *rules, const char *name, bool is_implicit);

/* Does either list of modules name this one? */
bool rules_know_module(const struct rules *rules, const char *name);

/* Will the program find this name without binding it? */
bool rules_give_name(const struct rules *rules, const char *name);
