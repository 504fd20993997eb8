#include "shell/resolve.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcasecmp(name, *names) == 0)
            return true;
    return false;
}

enum shell_family shell_family_of(const char *program)
{
    static const char *const powershells[] = { "pwsh",           "pwsh.exe",     "powershell",
                                               "powershell.exe", "pwsh-preview", NULL };
    const char *name = base_name(program);

    if (is_one_of(name, powershells))
        return SHELL_PWSH;
    return strcmp(name, "bash") == 0 ? SHELL_BASH : SHELL_SH;
}

const char *shell_family_name(enum shell_family family)
{
    static const char *const names[] = {
        [SHELL_BASH] = "bash", [SHELL_SH] = "sh", [SHELL_PWSH] = "powershell"
    };
    return names[family];
}

bool shell_speaks(const char *program, bool bash)
{
    static const char *const posix[] = { "sh", "dash", "ash", "bash", NULL };
    const char *name = base_name(program);

    return bash ? strcmp(name, "bash") == 0 : is_one_of(name, posix);
}

/* ---- the wish ---- */

static int no_room(struct gb_err *err)
{
    return gb_fail(err, GB_E_LIMIT, 0, "shell: more than %d words, or one of more than %d bytes",
                   SHELL_WORDS_MAX, SHELL_WORD_MAX);
}

/* One word from *at on, quotes and backslashes taken out. Returns its length, or -1. */
static int split_word(const char **at, char *ret, struct gb_err *err)
{
    int n = 0;
    char quote = '\0';

    for (; **at && (quote || !strchr(" \t\n\r", **at)); (*at)++) {
        char c = **at;

        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = (char)(quote ? '\0' : c);
            continue;
        }
        if (c == '\\' && quote != '\'' && (*at)[1] && (!quote || strchr("\"\\", (*at)[1])))
            c = *++*at;
        if (n >= SHELL_WORD_MAX)
            return no_room(err);
        ret[n++] = c;
    }
    return quote ? gb_fail(err, GB_E_INVALID, 0, "shell: a quote does not end") : n;
}

static int split(const char *text, json_t *words, struct gb_err *err)
{
    auto_free char *word = malloc(SHELL_WORD_MAX);

    if (!word)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading 'shell'");
    for (;;) {
        int n;

        text += strspn(text, " \t\n\r");
        if (!*text)
            return 0;
        n = split_word(&text, word, err);
        if (n < 0)
            return -1;
        if (json_array_size(words) >= SHELL_WORDS_MAX)
            return no_room(err);
        json_array_append_new(words, json_stringn(word, (size_t)n));
    }
}

static int take_list(const json_t *list, json_t *words, struct gb_err *err)
{
    if (json_array_size(list) > SHELL_WORDS_MAX)
        return no_room(err);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *word = json_array_get(list, i);

        if (!json_is_string(word) || strlen(json_string_value(word)) != json_string_length(word))
            return gb_fail(err, GB_E_INVALID, 0, "shell: must be strings without NUL");
        if (json_string_length(word) > SHELL_WORD_MAX)
            return no_room(err);
        json_array_append(words, word);
    }
    return 0;
}

/* Has its first word anything in it? */
static bool is_blank(const json_t *words)
{
    const char *first = json_string_value(json_array_get(words, 0));

    return !first || !first[strspn(first, " \t\n\r")];
}

json_t *shell_words(const json_t *wish, struct gb_err *err)
{
    json_t *words = json_array();
    int r = -1;

    if (json_is_string(wish))
        r = split(json_string_value(wish), words, err);
    else if (json_is_array(wish))
        r = take_list(wish, words, err);
    else
        (void)gb_fail(err, GB_E_INVALID, 0, "shell: must be a string or a list of strings");
    if (r == 0 && is_blank(words)) {
        r = gb_fail(err, GB_E_INVALID, 0, "shell: must not be empty");
        gb_err_hint(err, "name a shell, such as /bin/bash, or leave it out");
    }
    if (r == 0)
        return words;
    json_decref(words);
    return NULL;
}

/* ---- where it is ---- */

int shell_look_here(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return access(path, X_OK) < 0 ? errno : 0;
}

static char *copy(const char *text, struct gb_err *err)
{
    char *made = strdup(text);

    if (!made)
        gb_err_set(err, GB_E_SYSTEM, ENOMEM, "naming the shell");
    return made;
}

/* NULL, without err, where it is nowhere on the path. */
static char *on_path(const char *name, const char *path, shell_look *look, struct gb_err *err)
{
    char file[PATH_MAX];

    for (const char *at = path; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        size_t n = strcspn(at, ":");

        if (n > 0 &&
            snprintf(file, sizeof(file), "%.*s/%s", (int)n, at, name) < (int)sizeof(file) &&
            look(file) == 0)
            return copy(file, err);
    }
    return NULL;
}

static char *find_wished(const char *wish, const char *path, shell_look *look, struct gb_err *err)
{
    char *found = NULL;
    int e = ENOENT;

    if (strchr(wish, '/')) {
        e = look(wish);
        if (e == 0)
            return copy(wish, err);
    } else {
        found = on_path(wish, path, look, err);
    }
    if (found)
        return found;
    if (e == EISDIR)
        gb_err_set(err, GB_E_INVALID, 0, "shell: '%.120s' is a directory", wish);
    else if (e == EACCES)
        gb_err_set(err, GB_E_INVALID, 0, "shell: '%.120s' cannot be executed in the box", wish);
    else
        gb_err_set(err, GB_E_INVALID, 0, "shell: there is no '%.120s' in the box", wish);
    gb_err_hint(err, "a box sees the host's /usr, /bin and what is mounted; without 'shell' and "
                     "GLOVEBOX_SHELL it is bash, else sh");
    return NULL;
}

char *shell_find(const json_t *words, const char *path, shell_look *look, struct gb_err *err)
{
    static const char *const usual[] = { "/bin/bash", "/usr/bin/bash", "/bin/sh", "/usr/bin/sh" };
    char *found;

    if (words)
        return find_wished(json_string_value(json_array_get(words, 0)), path, look, err);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (look(usual[i]) == 0)
            return copy(usual[i], err);
    found = on_path("sh", path, look, err);
    if (!found) {
        gb_err_set(err, GB_E_INVALID, 0, "there is neither bash nor sh in the box");
        gb_err_hint(err, "name a shell with --shell, or in GLOVEBOX_SHELL");
    }
    return found;
}

/* ---- its arguments ---- */

static void add(json_t *argv, const char *word)
{
    json_array_append_new(argv, json_string(word));
}

/* Does the wish end in the word that a command goes behind? */
static bool has_flag(const json_t *words, enum shell_family family)
{
    size_t n = json_array_size(words);
    const char *last = n > 1 ? json_string_value(json_array_get(words, n - 1)) : "";

    if (family == SHELL_PWSH)
        return strcasecmp(last, "-command") == 0 || strcasecmp(last, "-c") == 0;
    return strcmp(last, "-c") == 0;
}

/* PowerShell writes in the console's encoding, goes on after an error, and forgets which status a
 * program ended with: all of that is said before and after the command. */
static void add_pwsh_command(json_t *argv, const char *command)
{
    static const char before[] =
        "[Console]::OutputEncoding = [Console]::InputEncoding = $OutputEncoding = "
        "[System.Text.UTF8Encoding]::new($false); $ErrorActionPreference = 'Stop'; "
        "$ProgressPreference = 'SilentlyContinue'\n";
    static const char after[] = "\nif ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }";

    json_array_append_new(argv, json_sprintf("%s%s%s", before, command, after));
}

static void add_usual(json_t *argv, const struct shell_call *call, enum shell_family family)
{
    static const char *const flags[][3] = {
        /* Also with -c: one whose standard input is a socket would read its start-up file. */
        [SHELL_BASH] = { "--noprofile", "--norc", NULL },
        [SHELL_SH] = { NULL },
        [SHELL_PWSH] = { "-NoLogo", "-NoProfile", "-NonInteractive" },
    };

    for (size_t i = 0; i < ARRAY_LEN(flags[0]) && flags[family][i]; i++)
        add(argv, flags[family][i]);
    if (!call->command && family == SHELL_PWSH) {
        add(argv, "-Command");
        add(argv, "-");
    }
}

json_t *shell_argv(const struct shell_call *call)
{
    enum shell_family family = shell_family_of(call->program);
    json_t *argv = json_array();

    add(argv, call->program);
    for (size_t i = 1; i < json_array_size(call->words); i++)
        json_array_append(argv, json_array_get(call->words, i));
    /* Whoever says more than a name says how it is called. */
    if (json_array_size(call->words) <= 1)
        add_usual(argv, call, family);
    if (!call->command)
        return argv;
    if (!has_flag(call->words, family))
        add(argv, family == SHELL_PWSH ? "-Command" : "-c");
    if (family == SHELL_PWSH) {
        add_pwsh_command(argv, call->command);
        return argv;
    }
    add(argv, call->command);
    if (json_array_size(call->args) > 0)
        add(argv, base_name(call->program)); /* what it calls itself: $0 */
    for (size_t i = 0; i < json_array_size(call->args); i++)
        json_array_append(argv, json_array_get(call->args, i));
    return argv;
}

char *shell_quote(enum shell_family family, const char *text)
{
    const char *inside = family == SHELL_PWSH ? "''" : "'\\''";
    size_t n = 3;
    char *made, *at;

    for (const char *c = text; *c; c++)
        n += *c == '\'' ? strlen(inside) : 1;
    made = at = malloc(n);
    if (!made)
        return NULL;
    *at++ = '\'';
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            at = stpcpy(at, inside);
        else
            *at++ = *c;
    }
    *at++ = '\'';
    *at = '\0';
    return made;
}
