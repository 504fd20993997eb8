#include "engine/policy.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/own.h"
#include "base/suggest.h"

enum {
    NAMES_MAX = 1000,
    NAME_BYTES_MAX = 200
};

/* ---- what strict comes with ---- */

/* The list of the CodeAct packages, and modules of the library that only compute (array, bisect,
 * cmath, copy, heapq, operator, statistics, string, struct): programs for exercises use them. */
static const char *const strict_imports[] = {
    "array",   "asyncio",     "base64",    "bisect",  "cmath",      "collections",
    "copy",    "dataclasses", "datetime",  "decimal", "fractions",  "functools",
    "hashlib", "heapq",       "itertools", "json",    "math",       "operator",
    "os",      "pathlib",     "random",    "re",      "statistics", "string",
    "struct",  "time",        "typing",    "uuid",    NULL
};
static const char *const strict_blocked_imports[] = {
    "__builtin__", "builtins",  "ctypes",  "ftplib", "http",       "importlib", "multiprocessing",
    "requests",    "shutil",    "smtplib", "socket", "subprocess", "sys",       "telnetlib",
    "tempfile",    "threading", "urllib",  NULL
};
static const char *const strict_blocked_builtins[] = {
    "__import__", "breakpoint", "compile", "copyright", "credits", "delattr", "dir",   "eval",
    "exec",       "exit",       "getattr", "globals",   "hasattr", "help",    "input", "license",
    "locals",     "open",       "quit",    "setattr",   "vars",    NULL
};

/* Theirs too, and then what classes, exceptions and asynchronous loops are written with: those
 * packages refuse only calls of a builtin, so that they can do without naming it; here every use
 * counts. */
static const char *const strict_builtins[] = {
    "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "dict",
    "divmod", "enumerate", "filter", "float", "format", "frozenset", "hash", "hex", "id", "int",
    "isinstance", "issubclass", "iter", "len", "list", "map", "max", "memoryview", "min", "next",
    "oct", "ord", "pow", "print", "range", "repr", "reversed", "round", "set", "slice", "sorted",
    "str", "sum", "tuple", "type", "zip",
    /* ours */
    "Ellipsis", "NotImplemented", "classmethod", "complex", "object", "property", "staticmethod",
    "super",
    /* exceptions */
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup",
    "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError",
    "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
    "DeprecationWarning", "EOFError", "EncodingWarning", "EnvironmentError", "Exception",
    "ExceptionGroup", "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning",
    "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError", "IndexError",
    "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError",
    "MemoryError", "ModuleNotFoundError", "NameError", "NotADirectoryError", "NotImplementedError",
    "OSError", "OverflowError", "PendingDeprecationWarning", "PermissionError",
    "ProcessLookupError", "PythonFinalizationError", "RecursionError", "ReferenceError",
    "ResourceWarning", "RuntimeError", "RuntimeWarning", "StopAsyncIteration", "StopIteration",
    "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError",
    "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
    "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "Warning",
    "ZeroDivisionError", NULL
};
/* And the rest of what there is, in any version: a name that is none of all these is misspelt. */
static const char *const other_builtins[] = { "False",     "None",  "True",  "__build_class__",
                                              "__debug__", "aiter", "anext", NULL };
static const char *const strict_os_attrs[] = { "environ", "path", NULL };

static const struct list {
    const char *key;  /* in configurations and requests */
    const char *rule; /* what the checker calls it */
    const char *const *strict;
    enum policy_list opposite; /* POLICY_LISTS: there is none */
    bool is_allow;
    bool is_dotted; /* names may be "a.b" */
} lists[] = {
    [LIST_ALLOW_IMPORT] = { "allow_import", "allow_imports", strict_imports, LIST_BLOCK_IMPORT,
                            true, true },
    [LIST_BLOCK_IMPORT] = { "block_import", "block_imports", strict_blocked_imports,
                            LIST_ALLOW_IMPORT, false, true },
    [LIST_ALLOW_BUILTIN] = { "allow_builtin", "allow_builtins", strict_builtins, LIST_BLOCK_BUILTIN,
                             true, false },
    [LIST_BLOCK_BUILTIN] = { "block_builtin", "block_builtins", strict_blocked_builtins,
                             LIST_ALLOW_BUILTIN, false, false },
    [LIST_ALLOW_OS_ATTR] = { "allow_os_attr", "allow_os_attrs", strict_os_attrs, POLICY_LISTS, true,
                             false },
};

/* ---- what was said ---- */

static bool is_empties(const char *name)
{
    return strcmp(name, "=") == 0;
}

/* Whether it could be a name in Python; beyond ASCII any letter will do. */
static bool is_name(const char *name, bool is_dotted)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    bool at_start = true;

    for (; *name; name++) {
        if (*name == '.' && is_dotted && !at_start) {
            at_start = true;
            continue;
        }
        if (!(*name & 0x80) && !strchr(letters, *name) && (at_start || *name < '0' || *name > '9'))
            return false;
        at_start = false;
    }
    return !at_start;
}

/* Is it one of these? Else the nearest is offered. */
static bool is_among(const char *const *names, const char *name, struct suggestion *near)
{
    for (; *names; names++) {
        if (strcmp(*names, name) == 0)
            return true;
        suggestion_offer(near, *names);
    }
    return false;
}

/* A name that differs from one of these only in case: no module of theirs is called so. */
static const char *in_other_case(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcasecmp(*names, name) == 0 && strcmp(*names, name) != 0)
            return *names;
    return NULL;
}

/* A list that has a misspelt name refuses less than was meant, and nobody would know. Which
 * builtins there are is known. Of modules it is not, but for those that strict has an opinion
 * on. */
static int check_spelling(const struct list *list, const char *name, struct gb_err *err)
{
    struct suggestion near = { .typed = name, .typed_len = strlen(name) };
    const char *meant = NULL;

    if (list->opposite == POLICY_LISTS || is_empties(name))
        return 0;
    if (list->is_dotted) {
        meant = in_other_case(strict_imports, name);
        meant = meant ? meant : in_other_case(strict_blocked_imports, name);
        if (!meant)
            return 0;
    } else if (is_among(strict_builtins, name, &near) ||
               is_among(strict_blocked_builtins, name, &near) ||
               is_among(other_builtins, name, &near)) {
        return 0;
    }
    meant = meant ? meant : near.best;
    return gb_fail(err, GB_E_INVALID, 0, "%s: there is no %s '%s'%s%s%s", list->key,
                   list->is_dotted ? "module" : "builtin", name, meant ? " (did you mean '" : "",
                   meant ? meant : "", meant ? "'?)" : "");
}

static int check_names(const struct list *list, const json_t *names, struct gb_err *err)
{
    if (!json_is_array(names))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a list of names", list->key);
    if (json_array_size(names) == 0) {
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: the list is empty, which says nothing", list->key);
        return gb_fail_hint(err, "leave it out to keep the policy's own; [\"=\"] empties that");
    }
    if (json_array_size(names) > NAMES_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "%s: more than %d names", list->key, NAMES_MAX);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *item = json_array_get(names, i);
        const char *name = json_string_value(item);

        if (!name || json_string_length(item) > NAME_BYTES_MAX ||
            strlen(name) != json_string_length(item) ||
            !(is_empties(name) || is_name(name, list->is_dotted))) {
            (void)gb_fail(err, GB_E_INVALID, 0, "%s: '%.80s' is no name", list->key,
                          name ? name : "(not a string)");
            return gb_fail_hint(err, "a list of names%s; \"=\" empties what is there",
                                list->is_dotted ? " such as csv or xml.etree" : "");
        }
        if (check_spelling(list, name, err) < 0)
            return -1;
    }
    return 0;
}

static int say(struct policy_lists *p, enum policy_list which, const json_t *names,
               struct gb_err *err)
{
    if (!p->said[which])
        p->said[which] = json_array();
    if (json_array_extend(p->said[which], json_shared(names)) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading a policy");
    return 0;
}

int policy_say(struct policy_lists *p, const char *key, const json_t *value, struct gb_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (strcmp(lists[i].key, key) != 0)
            continue;
        if (check_names(&lists[i], value, err) < 0 || say(p, (enum policy_list)i, value, err) < 0)
            return -1;
        return 1;
    }
    return 0;
}

const char *policy_key(size_t i)
{
    return i < ARRAY_LEN(lists) ? lists[i].key : NULL;
}

int policy_check(const struct settings *s, const struct policy_lists *p, struct gb_err *err)
{
    for (size_t i = 0; settings_policy(s) == POLICY_OFF && i < POLICY_LISTS; i++) {
        if (json_array_size(p->said[i]) == 0)
            continue;
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: has no meaning under policy 'off'", lists[i].key);
        return gb_fail_hint(err, "the policy 'standard' refuses what your lists say, and no more");
    }
    return 0;
}

void policy_done(struct policy_lists *p)
{
    for (size_t i = 0; i < POLICY_LISTS; i++)
        json_decref(p->said[i]);
    *p = (struct policy_lists){ 0 };
}

/* ---- rules ---- */

/* Was it said, and not taken back by a later "="? */
static bool is_said(const json_t *said, const char *name)
{
    for (size_t i = json_array_size(said); i-- > 0;) {
        const char *item = json_string_value(json_array_get(said, i));

        if (is_empties(item))
            return false;
        if (strcmp(item, name) == 0)
            return true;
    }
    return false;
}

/* The policy's own list; null for an allow list is everything. */
static json_t *list_of(const struct list *list, enum policy_choice policy)
{
    json_t *names;

    if (policy != POLICY_STRICT)
        return list->is_allow ? json_null() : json_array();
    names = json_array();
    for (const char *const *name = list->strict; *name; name++)
        json_array_append_new(names, json_string(*name));
    return names;
}

static json_t *list_after(const struct list *list, enum policy_choice policy, const json_t *said)
{
    json_t *names = list_of(list, policy);

    for (size_t i = 0; i < json_array_size(said); i++) {
        json_t *item = json_array_get(said, i);
        const char *name = json_string_value(item);

        if (is_empties(name)) {
            json_decref(names);
            names = json_array();
        } else if (!json_array_has(names, name)) { /* null stays: it is allowed already */
            json_array_append(names, item);
        }
    }
    return names;
}

/* Was the name said, or something below it? */
static bool is_said_within(const json_t *said, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = json_array_size(said); i-- > 0;) {
        const char *item = json_string_value(json_array_get(said, i));

        if (is_empties(item))
            return false;
        if (strncmp(item, name, len) == 0 && (item[len] == '\0' || item[len] == '.'))
            return true;
    }
    return false;
}

/* A block list without what was allowed by name and not blocked by name. Allowing urllib.parse
 * takes urllib off it: what else is in urllib is not allowed for that. */
static void unblock(json_t *blocked, const json_t *said_blocked, const json_t *said_allowed)
{
    for (size_t i = json_array_size(blocked); i-- > 0;) {
        const char *name = json_string_value(json_array_get(blocked, i));

        if (is_said_within(said_allowed, name) && !is_said(said_blocked, name))
            json_array_remove(blocked, i);
    }
}

json_t *policy_rules(const struct settings *s, const struct policy_lists *p)
{
    enum policy_choice policy = settings_policy(s);
    json_t *rules = json_pack("{s:s,s:s,s:[]}", "policy", policy_name(policy), "patterns",
                              patterns_name(settings_patterns(s)), "tools");

    for (size_t i = 0; i < POLICY_LISTS; i++) {
        json_t *names = list_after(&lists[i], policy, p->said[i]);

        if (!lists[i].is_allow)
            unblock(names, p->said[i], p->said[lists[i].opposite]);
        json_object_set_new(rules, lists[i].rule, names);
    }
    return rules;
}

/* ---- requests: only tighter ---- */

/* Is the name on the list, or the package that it is in? */
static bool covers(const json_t *list, const char *name)
{
    char part[NAME_BYTES_MAX + 1];

    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        memcpy(part, name, (size_t)(dot - name));
        part[dot - name] = '\0';
        if (json_array_has(list, part))
            return true;
    }
    return json_array_has(list, name);
}

static bool permits(const json_t *rules, const struct list *allow, const char *name)
{
    const json_t *allowed = json_object_get(rules, allow->rule);

    if (allow->opposite != POLICY_LISTS &&
        covers(json_object_get(rules, lists[allow->opposite].rule), name))
        return false;
    return json_is_null(allowed) || covers(allowed, name);
}

/* What the request allows by name must be allowed already. */
static const char *first_allowed(const struct list *list, const json_t *asked, const json_t *have)
{
    for (size_t i = 0; i < json_array_size(asked); i++) {
        const char *name = json_string_value(json_array_get(asked, i));

        if (!is_empties(name) && !permits(have, list, name))
            return name;
    }
    return NULL;
}

/* What is blocked must stay blocked, but for what it allows by name, which was looked at. */
static const char *first_unblocked(const struct list *list, const json_t *asked_allow,
                                   const json_t *have, const json_t *want)
{
    const json_t *blocked = json_object_get(have, list->rule);

    for (size_t i = 0; i < json_array_size(blocked); i++) {
        const char *name = json_string_value(json_array_get(blocked, i));

        if (!json_array_has(json_object_get(want, list->rule), name) &&
            !is_said_within(asked_allow, name))
            return name;
    }
    return NULL;
}

static int check_tighter(const struct policy_lists *asked, const json_t *have, const json_t *want,
                         const json_t *allowed, struct gb_err *err)
{
    for (size_t i = 0; i < POLICY_LISTS; i++) {
        const json_t *names = asked->said[i];
        const char *name = NULL;

        if (names && lists[i].is_allow)
            name = first_allowed(&lists[i], names, have);
        else if (names)
            name = first_unblocked(&lists[i], asked->said[lists[i].opposite], have, want);
        if (!name || json_array_has(allowed, lists[i].key))
            continue;
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: %s '%.80s' is looser than what is configured",
                      lists[i].key, lists[i].is_allow ? "allowing" : "not blocking", name);
        return settings_fail_looser(lists[i].key, err);
    }
    return 0;
}

int policy_request(const struct settings *configured, const struct policy_lists *said,
                   const struct settings *s, const struct policy_lists *asked,
                   const json_t *allowed, json_t **ret, struct gb_err *err)
{
    struct policy_lists both = { 0 };
    auto_json json_t *have = NULL;
    auto_json json_t *want = NULL;
    int r = 0;

    for (size_t i = 0; i < POLICY_LISTS && r == 0; i++) {
        if (said->said[i])
            r = say(&both, (enum policy_list)i, said->said[i], err);
        if (asked->said[i] && r == 0)
            r = say(&both, (enum policy_list)i, asked->said[i], err);
    }
    if (r == 0)
        r = policy_check(s, &both, err);
    if (r == 0) {
        have = policy_rules(configured, said);
        want = policy_rules(s, &both);
        r = check_tighter(asked, have, want, allowed, err);
    }
    policy_done(&both);
    if (r == 0)
        *ret = take_ptr(want);
    return r;
}
