#include "shell/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"

const char *probe_command(enum shell_family family)
{
    static const char posix[] =
        "printf 'program=%s\\n' \"$0\"\n"
        "printf 'version=%s\\n' \"${BASH_VERSION-${ZSH_VERSION-${KSH_VERSION-}}}\"\n"
        "printf 'directory=%s\\n' \"$PWD\"\n"
        "printf 'kernel=%s\\n' \"$(uname -sr 2>/dev/null)\"\n"
        "printf 'os=%s\\n' \"$(sed -n 's/^PRETTY_NAME=\"\\{0,1\\}\\([^\"]*\\).*/\\1/p' "
        "/etc/os-release 2>/dev/null)\"\n";
    static const char powershell[] = "'program=pwsh'\n"
                                     "\"version=$($PSVersionTable.PSVersion)\"\n"
                                     "\"directory=$((Get-Location).Path)\"\n"
                                     "\"os=$($PSVersionTable.OS)\"\n";

    return family == SHELL_PWSH ? powershell : posix;
}

bool probe_is_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

    return *name && strlen(name) <= 64 && strspn(name, letters) == strlen(name) &&
           !strchr("._+-", name[0]);
}

/* ---- reading ---- */

/* One line, cut, each control character a blank. */
static json_t *clean_line(const char *line, size_t len)
{
    char text[PROBE_LINE_MAX + 1];
    size_t n = 0;

    while (len > 0 && strchr(" \t\r", line[len - 1]))
        len--;
    for (size_t i = 0; i < len && n < PROBE_LINE_MAX; i++) {
        unsigned char c = (unsigned char)line[i];
        text[n++] = (char)(c < 0x20 || c == 0x7f ? ' ' : c);
    }
    for (bool is_cut = n == PROBE_LINE_MAX; is_cut && n > 0 && (text[n - 1] & 0x80) != 0;)
        n--; /* not in the middle of a character */
    text[n] = '\0';
    return json_replaced(text, n);
}

json_t *probe_first_line(const char *text)
{
    for (;;) {
        size_t len;

        text += strspn(text, " \t\r\n");
        len = strcspn(text, "\n");
        if (len > 0)
            return clean_line(text, len);
        if (!*text)
            return NULL;
    }
}

/* The value of "key=value" on a line of its own. */
static json_t *value_of(const char *text, const char *key)
{
    size_t n = strlen(key);

    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        if (strncmp(text, key, n) != 0 || text[n] != '=')
            continue;
        size_t len = strcspn(text + n + 1, "\n");
        if (len > 0 && strspn(text + n + 1, " \t\r") < len)
            return clean_line(text + n + 1, len);
    }
    return json_null();
}

json_t *probe_read(const char *text)
{
    json_t *probe = json_object();
    json_t *program = value_of(text, "program"), *os = value_of(text, "os");
    const char *name = json_string_value(program);

    if (json_is_null(os)) {
        json_decref(os);
        os = value_of(text, "kernel");
    }
    json_object_set_new(probe, "family",
                        name ? json_string(shell_family_name(shell_family_of(name))) : json_null());
    json_object_set_new(probe, "program", program);
    json_object_set_new(probe, "version", value_of(text, "version"));
    json_object_set_new(probe, "os", os);
    json_object_set_new(probe, "directory", value_of(text, "directory"));
    return probe;
}

/* ---- text ---- */

static const char *const idioms[] = {
    [SHELL_BASH] =
        "- Set a variable with `export NAME=value`, use it as `$NAME` or `${NAME}`; quote "
        "it: `\"$NAME\"`.\n"
        "- Join commands with `&&`; `set -o pipefail` makes a pipeline fail with any of "
        "its parts.\n"
        "- Paths have `/` in them; discard output with `>/dev/null`.\n",
    [SHELL_SH] = "- Set a variable with `export NAME=value`, use it as `$NAME` or `${NAME}`; quote "
                 "it: `\"$NAME\"`.\n"
                 "- This is not bash: no `[[ ]]`, no arrays, no `<(...)`, no `${x/a/b}`, no "
                 "`set -o pipefail`.\n"
                 "- Paths have `/` in them; discard output with `>/dev/null`.\n",
    [SHELL_PWSH] = "- Set a variable with `$env:NAME = 'value'`, use it as `$env:NAME`.\n"
                   "- Change the directory with `Set-Location`.\n"
                   "- The directory for temporary files is `[IO.Path]::GetTempPath()`.\n"
                   "- Discard output with `| Out-Null`.\n"
                   "- Quote with `'...'`, and double a quote inside: `'it''s'`. An error ends the "
                   "command.\n",
};

static enum shell_family family_in(const json_t *probe)
{
    const char *name = json_string_at(probe, "family", "sh");

    for (int f = SHELL_BASH; f <= SHELL_PWSH; f++)
        if (strcmp(shell_family_name((enum shell_family)f), name) == 0)
            return (enum shell_family)f;
    return SHELL_SH;
}

static void put_tools(FILE *f, const json_t *probe)
{
    const json_t *missing = json_object_get(probe, "missing");
    const char *name, *before = "Available CLIs: ";
    json_t *version;

    json_object_foreach (json_object_get(probe, "tools"), name, version) {
        if (!json_is_string(version))
            continue;
        fprintf(f, "%s%s (%s)", before, name, json_string_value(version));
        before = ", ";
    }
    fputs(before[0] == ',' ? "\n" : "", f);
    for (size_t i = 0; i < json_array_size(missing); i++)
        fprintf(f, "%s%s",
                i ? ", " : "Not installed: ", json_string_value(json_array_get(missing, i)));
    fputs(json_array_size(missing) > 0 ? "\n" : "", f);
}

char *probe_text(const json_t *probe)
{
    enum shell_family family = family_in(probe);
    const char *version = json_string_at(probe, "version", NULL);
    const char *os = json_string_at(probe, "os", NULL);
    const char *directory = json_string_at(probe, "directory", NULL);
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return NULL;
    fprintf(f, "## Shell environment\n\nCommands run in %s%s%s%s%s.\n",
            family == SHELL_PWSH ? "PowerShell" : shell_family_name(family), version ? " " : "",
            version ? version : "", os ? " on " : "", os ? os : "");
    fputs(idioms[family], f);
    if (directory)
        fprintf(f, "Working directory: %s\n", directory);
    put_tools(f, probe);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}
