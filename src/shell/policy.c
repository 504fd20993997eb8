#include "shell/policy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "base/pattern.h"
#include "shell/commands.h"
#include "shell/runners.h"

/* ---- presets ---- */

/* What people would rather be asked about twice. Anybody can write it in another way. */
static const char *const destructive[] = {
    ("\\brm\\s+(?:-{1,2}[\\w-]+\\s+)*-{1,2}(?:[a-z]*[rf][a-z]*|recursive|force)\\s+(?:\\S+\\s+)*"
     "(?:/|~|\\*|\\.\\.?(?:\\s|$)|\\$)"),
    "\\bfind\\b.*\\s-delete\\b",
    "\\bmkfs(?:\\.\\w+)?\\b",
    "\\bdd\\b.*\\bof=/dev/",
    "\\b(?:shred|wipefs|fdisk|sfdisk|parted)\\b",
    ">\\s*/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|mapper/)",
    "\\b(?:shutdown|reboot|halt|poweroff)\\b",
    "\\binit\\s+[06]\\b",
    "\\bsystemctl\\s+(?:poweroff|reboot|halt)\\b",
    "(\\w+|:)\\s*\\(\\)\\s*\\{\\s*\\1\\s*\\|\\s*\\1\\s*&\\s*\\}\\s*;\\s*\\1",
    "\\b(?:curl|wget)\\b[^\\n;]*\\|\\s*(?:sudo\\s+)?(?:\\S*/)?(?:ba|da|z|k)?sh\\b",
    ("\\b(?:curl|wget)\\b[^\\n;]*\\|\\s*(?:sudo\\s+)?(?:\\S*/"
     ")?(?:python\\d?|perl|ruby|node|pwsh)\\b"),
    "\\bchmod\\s+(?:-\\w+\\s+)*(?:-R|--recursive)\\s+(?:-\\w+\\s+)*[0-7]*777\\s+/",
    "\\bchown\\s+(?:-\\w+\\s+)*(?:-R|--recursive)\\s+\\S+\\s+/",
    "\\bgit\\s+push\\b.*\\s(?:-f|--force)\\b",
    "\\bgit\\s+reset\\s+--hard\\b",
    "\\bgit\\s+clean\\s+-\\w*f",
    "\\bcrontab\\s+-r\\b",
    "\\b(?:rmdir|rd)\\s+/s\\b",
    "\\bdel\\s+/[fsq]\\b",
    "\\bformat\\s+[a-z]:",
    "\\breg(?:\\.exe)?\\s+delete\\b",
    "\\bRemove-Item\\b.*\\s-(?:Recurse|Force)\\b",
    NULL
};

/* What talks to somebody else. */
static const char *const network[] = {
    "\\b(?:curl|wget|ssh|scp|sftp|rsync|nc|ncat|netcat|socat|telnet|ftp)\\b", "/dev/(?:tcp|udp)/",
    "\\bgit\\s+(?:clone|fetch|pull|push|ls-remote)\\b",
    ("\\b(?:pip\\d?|npm|npx|yarn|pnpm|cargo|gem|apt|apt-get|dnf|yum|apk|brew)\\s+"
     "(?:install|add|i|update|upgrade|download)\\b"),
    NULL
};

/* What asks for another user's rights. */
static const char *const privileges[] = {
    "\\b(?:sudo|su|doas|pkexec|runuser|setpriv|nsenter|unshare|chroot)\\b",
    "\\bchmod\\s+(?:-\\w+\\s+)*(?:[ugoa]*\\+[rwx]*s|[2467][0-7]{3})\\b", "\\bsetcap\\b", NULL
};

static const struct {
    const char *name;
    const char *const *patterns;
} presets[] = {
    { "destructive", destructive },
    { "network", network },
    { "privileges", privileges },
};

const char *shell_preset_name(size_t i)
{
    return i < ARRAY_LEN(presets) ? presets[i].name : NULL;
}

const char *shell_preset(const char *name, size_t i)
{
    for (size_t k = 0; k < ARRAY_LEN(presets); k++)
        if (strcmp(presets[k].name, name) == 0)
            return presets[k].patterns[i];
    return NULL;
}

/* ---- reading them ---- */

void shell_rules_done(struct shell_rules *r)
{
    json_decref(r->deny);
    json_decref(r->allow);
    json_decref(r->allow_command);
    *r = (struct shell_rules){ 0 };
}

/* order: their number before anything is done with them */
static int check_strings(const char *key, const json_t *value, struct gb_err *err)
{
    if (!json_is_array(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a list of strings", key);
    if (json_array_size(value) > SHELL_PATTERNS_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "%s: more than %d", key, SHELL_PATTERNS_MAX);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        const char *text = json_string_value(item);

        if (!text || !*text || strlen(text) != json_string_length(item))
            return gb_fail(err, GB_E_INVALID, 0,
                           "%s: must be a list of strings, none of them empty", key);
        if (strlen(text) > PATTERN_BYTES_MAX)
            return gb_fail(err, GB_E_LIMIT, 0, "%s: one of more than %d bytes", key,
                           PATTERN_BYTES_MAX);
    }
    return 0;
}

static int extend(json_t **list, const char *key, const json_t *value, struct gb_err *err)
{
    if (!*list)
        *list = json_array();
    if (json_array_size(*list) + json_array_size(value) > SHELL_PATTERNS_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "%s: more than %d", key, SHELL_PATTERNS_MAX);
    return json_array_extend(*list, json_shared(value)) < 0
               ? gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading '%s'", key)
               : 0;
}

static int say_patterns(json_t **list, const char *key, const json_t *value, struct gb_err *err)
{
    int64_t left_us = PATTERN_CHECK_US;

    if (check_strings(key, value, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (pattern_check(json_string_value(json_array_get(value, i)), &left_us, err) < 0)
            return gb_fail_wrap(err, "%s: '%.60s'", key,
                                json_string_value(json_array_get(value, i)));
    return extend(list, key, value, err);
}

static int say_deny(struct shell_rules *r, const char *key, const json_t *value, struct gb_err *err)
{
    return say_patterns(&r->deny, key, value, err);
}

static int say_allow(struct shell_rules *r, const char *key, const json_t *value,
                     struct gb_err *err)
{
    return say_patterns(&r->allow, key, value, err);
}

static int say_preset(struct shell_rules *r, const char *key, const json_t *value,
                      struct gb_err *err)
{
    auto_json json_t *patterns = json_array();

    if (check_strings(key, value, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));

        if (!shell_preset(name, 0)) {
            (void)gb_fail(err, GB_E_INVALID, 0, "%s: there is no preset '%.40s'", key, name);
            return gb_fail_hint(err, "there are destructive, network and privileges");
        }
        for (size_t k = 0; shell_preset(name, k); k++)
            json_array_append_new(patterns, json_string(shell_preset(name, k)));
    }
    return extend(&r->deny, key, patterns, err);
}

static int say_commands(struct shell_rules *r, const char *key, const json_t *value,
                        struct gb_err *err)
{
    if (check_strings(key, value, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));

        if (!strpbrk(name, " \t\n") || strchr(name, '/'))
            continue;
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: '%.60s' is not the name of a command", key, name);
        return gb_fail_hint(err,
                            "say 'git', or with its arguments as a pattern: allow '^git status'");
    }
    return extend(&r->allow_command, key, value, err);
}

static const struct {
    const char *key;
    int (*say)(struct shell_rules *r, const char *key, const json_t *value, struct gb_err *err);
} keys[] = {
    { "allow", say_allow },
    { "allow_command", say_commands },
    { "deny", say_deny },
    { "deny_preset", say_preset },
};

int shell_rules_say(struct shell_rules *r, const char *key, const json_t *value, struct gb_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].say(r, key, value, err) < 0 ? -1 : 1;
    return 0;
}

const char *shell_rules_key(size_t i)
{
    return i < ARRAY_LEN(keys) ? keys[i].key : NULL;
}

const char *shell_rules_name(const struct shell_rules *operators, const struct shell_rules *request)
{
    if (operators->allow || operators->allow_command || request->allow || request->allow_command)
        return "strict";
    return json_array_size(operators->deny) + json_array_size(request->deny) > 0 ? "standard"
                                                                                 : "off";
}

/* ---- judging ---- */

__attribute__((format(printf, 4, 5))) static bool refuse(struct shell_refusal *ret,
                                                         const char *rule, const char *remedy,
                                                         const char *fmt, ...)
{
    va_list ap;
    int64_t cut;

    ret->rule = rule;
    (void)snprintf(ret->remedy, sizeof(ret->remedy), "%s", remedy);
    va_start(ap, fmt);
    (void)vsnprintf(ret->message, sizeof(ret->message), fmt, ap);
    va_end(ap);
    cut = utf8_first_bad(ret->message, strlen(ret->message)); /* a pattern may end in a character */
    if (cut >= 0)
        ret->message[cut] = '\0';
    return false;
}

enum {
    NAMED_MAX = 400 /* bytes of a remedy that names what would pass */
};

/* The remedy is one of these: as many as there is room for. */
static void name_them(struct shell_refusal *ret, const json_t *list)
{
    size_t len = strlen(ret->remedy);

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);

        if (len + json_string_length(item) + sizeof(", ...") > NAMED_MAX) {
            (void)snprintf(ret->remedy + len, sizeof(ret->remedy) - len, "%s", i ? ", ..." : "");
            return;
        }
        len += (size_t)snprintf(ret->remedy + len, sizeof(ret->remedy) - len, "%s%s",
                                i ? ", " : ": ", json_string_value(item));
    }
}

/* The preset that a pattern is from, or NULL. */
static const char *preset_with(const char *pattern)
{
    for (size_t i = 0; i < ARRAY_LEN(presets); i++)
        for (size_t k = 0; presets[i].patterns[k]; k++)
            if (strcmp(presets[i].patterns[k], pattern) == 0)
                return presets[i].name;
    return NULL;
}

/* What patterns look at: without the blanks around it. */
struct text {
    const char *at;
    size_t len;
    int64_t left_us; /* for all of them */
};

static struct text trimmed(const char *command, size_t len)
{
    static const char blanks[] = " \t\r\n\v\f";
    struct text t = { command, len, PATTERN_US };

    for (; t.len > 0 && strchr(blanks, *t.at); t.at++)
        t.len--;
    while (t.len > 0 && strchr(blanks, t.at[t.len - 1]))
        t.len--;
    return t;
}

static const char another_way[] = "do it in another way, or ask the operator";

static bool judge_deny(const json_t *deny, struct text *t, struct shell_refusal *ret)
{
    for (size_t i = 0; i < json_array_size(deny); i++) {
        const char *pattern = json_string_value(json_array_get(deny, i));
        int found = pattern_match_any_case(pattern, t->at, t->len, &t->left_us);

        if (found == 0)
            continue;
        if (found > 0 && preset_with(pattern))
            return refuse(ret, "deny", another_way, "the command matches the deny preset '%s': %s",
                          preset_with(pattern), pattern);
        return refuse(ret, "deny", another_way,
                      found > 0 ? "the command matches the deny pattern '%.200s'"
                                : "it takes too long to tell whether the command matches the deny "
                                  "pattern '%.200s'",
                      pattern);
    }
    return true;
}

static bool judge_allow(const json_t *allow, struct text *t, struct shell_refusal *ret)
{
    for (size_t i = 0; i < json_array_size(allow); i++)
        if (pattern_match_any_case(json_string_value(json_array_get(allow, i)), t->at, t->len,
                                   &t->left_us) > 0)
            return true;
    if (!allow)
        return true;
    (void)refuse(ret, "allow",
                 json_array_size(allow) > 0 ? "use a command that matches one of these"
                                            : "ask the operator: no command is allowed",
                 "the command matches no pattern of the allow list, which has %zu",
                 json_array_size(allow));
    name_them(ret, allow);
    return false;
}

/* Nobody is to think that the rule holds more than it does. */
static void add_unheld(struct shell_refusal *ret, const json_t *names)
{
    char runners[80];
    size_t len = strlen(ret->remedy);

    if (runner_list(names, runners, sizeof(runners)) > 0)
        (void)snprintf(ret->remedy + len, sizeof(ret->remedy) - len,
                       "; the rule does not hold %s, which can run other programs", runners);
}

static bool judge_commands(const json_t *names, const char *command, size_t len,
                           struct shell_judged *judged, struct shell_refusal *ret)
{
    struct commands_verdict v;

    if (!names)
        return true;
    commands_check(command, len, names, &v);
    judged->is_looked = true;
    judged->is_bash |= v.is_bash;
    if (v.is_allowed)
        return true;
    ret->line = v.line;
    (void)snprintf(ret->name, sizeof(ret->name), "%s", v.name);
    (void)refuse(ret, "allow_command", "use the allowed commands, written plainly", "%s",
                 v.message);
    name_them(ret, names);
    add_unheld(ret, names);
    return false;
}

bool shell_rules_judge(const struct shell_rules *r, const char *command, size_t len,
                       struct shell_judged *judged, struct shell_refusal *ret)
{
    struct text t = trimmed(command, len);

    *ret = (struct shell_refusal){ 0 };
    if (t.len == 0)
        return refuse(ret, "empty", "write a command", "the command is empty");
    return judge_deny(r->deny, &t, ret) && judge_allow(r->allow, &t, ret) &&
           judge_commands(r->allow_command, command, len, judged, ret);
}
