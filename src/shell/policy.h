#pragma once
/*
 * What commands may say: patterns that refuse, patterns one of which must match, and rules by
 * parsed command. A convenience for people, not a boundary: 'r\m' is not 'rm' to a pattern. What
 * holds a command is its box.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum {
    SHELL_PATTERNS_MAX = 500
};

/* All of one who has a say: the operator, or a request. */
struct shell_rules {
    json_t *deny;          /* list of patterns, or NULL */
    json_t *allow;         /* the same; NULL: all may pass; empty: none */
    json_t *allow_command; /* list of names, or NULL: they are not looked at */
};

void shell_rules_done(struct shell_rules *r);

/* Take the key if it is one of these: "deny", "deny_preset", "allow", "allow_command". Each use
 * adds. Returns 1, 0 if it is none, -1 with err. */
int shell_rules_say(struct shell_rules *r, const char *key, const json_t *value,
                    struct gb_err *err);
const char *shell_rules_key(size_t i);

/* "off" where there are none, "strict" where only what is listed may pass, else "standard". */
const char *shell_rules_name(const struct shell_rules *operators,
                             const struct shell_rules *request);

struct shell_refusal {
    const char *rule; /* "empty", "deny", "allow" or "allow_command" */
    size_t line;      /* or 0 */
    char name[64];    /* the command, or "" */
    char message[400];
    char remedy[560];
};

/* May it run? `is_bash` is set where rules by command looked at it: whether it means the same to
 * every shell, or to bash alone; *ret_looked says whether they did. */
struct shell_judged {
    bool is_looked, is_bash;
};

/* Returns true, or false with the refusal. The first that says no: it is blank; a pattern denies;
 * none allows; a command is not allowed. */
bool shell_rules_judge(const struct shell_rules *r, const char *command, size_t len,
                       struct shell_judged *judged, struct shell_refusal *ret);

/* The patterns of a preset, one after the other; NULL after the last, or if there is none such. */
const char *shell_preset(const char *name, size_t i);
/* The presets' names in the same way. */
const char *shell_preset_name(size_t i);
