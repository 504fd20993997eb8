#include "engine/control.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cover.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/own.h"

/* A mount that is looked at. */
struct look {
    const struct mount *mount;
    const struct cover *cover;
    struct gb_err *err;
};

static int refuse(const struct look *l, const char *what, const char *path)
{
    (void)gb_fail(l->err, GB_E_INVALID, 0, "mounts: '%s' cannot be rw: %s is there: %.120s",
                  l->mount->name, what, path);
    return gb_fail_hint(l->err, "mount it ro, or a directory beside it");
}

static int check(const struct look *l, const char *path, const char *what)
{
    return path && cover_has(l->cover, path) ? refuse(l, what, path) : 0;
}

/* ---- files ---- */

#define AT(field) offsetof(struct config, field)

static const struct {
    size_t offset;
    const char *what;
} configured[] = {
    { AT(extension_dir), "glovebox itself" },
    { AT(audit), "the audit" },
    { AT(review_ca), "what the reviewer is known by" },
    /* A link that a program leaves there would lead what is written elsewhere. */
    { AT(out), "the directory for captured files" },
    { AT(spill), "the directory for output" },
};

/* Also where there is nothing yet: it is read when somebody has put it there. */
static const struct {
    const char *variable, *below_home, *file, *what;
} usual[] = {
    { "XDG_CONFIG_HOME", ".config", "config.json", "your configuration" },
    { "XDG_STATE_HOME", ".local/state", "token", "what glovebox keeps between its runs" },
};

static int check_files(const struct look *l, const struct config *c)
{
    for (size_t i = 0; i < ARRAY_LEN(configured); i++)
        if (check(l, *(char *const *)((const char *)c + configured[i].offset), configured[i].what) <
            0)
            return -1;
    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        auto_free char *path = folder_file(usual[i].variable, usual[i].below_home, usual[i].file);
        if (check(l, path, usual[i].what) < 0)
            return -1;
    }
    for (size_t i = 0; i < json_array_size(c->control_files); i++)
        if (check(l, json_string_value(json_array_get(c->control_files, i)),
                  "a file that controls glovebox") < 0)
            return -1;
    return 0;
}

/* ---- programs ---- */

static const char runs_outside[] = "a program that runs outside the box";

/* Does a word of a command line name what will be run? The first does; of the others a file that
 * can be executed, or looks like a program's text. */
static bool is_program(const char *path, bool is_first)
{
    static const char *const endings[] = { ".cjs", ".jar", ".js", ".lua", ".mjs", ".php",
                                           ".pl",  ".py",  ".rb", ".sh",  ".ts",  NULL };
    size_t len = strlen(path);
    struct stat st;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return is_first;
    if (is_first || (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return true;
    for (size_t i = 0; endings[i]; i++)
        if (len > strlen(endings[i]) && strcmp(path + len - strlen(endings[i]), endings[i]) == 0)
            return true;
    return false;
}

static int check_word(const struct look *l, const char *word, bool is_first)
{
    if (is_first && !strchr(word, '/'))
        return 0; /* it is looked for on PATH */
    return is_program(word, is_first) && cover_has_program(l->cover, word)
               ? refuse(l, runs_outside, word)
               : 0;
}

/* A command is a text for sh. Any word of it may be a program; what is computed is not seen. */
static int check_command(const struct look *l, const char *command)
{
    static const char between[] = " \t\n\r\"'`$(){};|&<>=";
    auto_free char *copy = strdup(command);
    char *at = copy, *word;
    bool is_first = true;

    if (!copy)
        return gb_fail(l->err, GB_E_SYSTEM, ENOMEM, "looking at a tool");
    while ((word = strsep(&at, between))) {
        if (!*word)
            continue;
        if (check_word(l, word, is_first) < 0)
            return -1;
        is_first = false;
    }
    return 0;
}

/* Where names of programs are looked for. */
static int check_path(const struct look *l)
{
    const char *path = getenv("PATH");
    auto_free char *copy = path ? strdup(path) : NULL;
    char *at = copy, *dir;

    while ((dir = strsep(&at, ":")))
        if (check(l, *dir ? dir : ".", "a directory of PATH, where tools are looked for,") < 0)
            return -1;
    return 0;
}

static int check_programs(const struct look *l, const struct config *c)
{
    bool runs = json_array_size(c->control_programs) > 0;

    for (size_t i = 0; i < toolset_count(c->tools); i++) {
        const char *command = c->tools->tools[i]->command;

        runs |= command != NULL;
        if (command && check_command(l, command) < 0)
            return -1;
    }
    for (size_t i = 0; i < json_array_size(c->control_programs); i++) {
        const char *path = json_string_value(json_array_get(c->control_programs, i));
        if (cover_has_program(l->cover, path))
            return refuse(l, runs_outside, path);
    }
    return runs ? check_path(l) : 0;
}

/* ---- the whole ---- */

int control_guard(const struct config *config, const struct mounts *mounts, struct gb_err *err)
{
    for (size_t i = 0; mounts && i < mounts->n; i++) {
        const struct mount *m = &mounts->list[i];
        struct cover *cover = m->is_rw ? cover_new(m->host) : NULL;
        struct look l = { .mount = m, .cover = cover, .err = err };
        int r = 0;

        if (m->is_rw && !cover)
            return gb_fail(err, GB_E_SYSTEM, ENOMEM, "looking at the mounts");
        if (m->is_rw && (check_files(&l, config) < 0 || check_programs(&l, config) < 0))
            r = -1;
        (void)cover_free(cover);
        if (r < 0)
            return -1;
    }
    return 0;
}

int control_add_program(struct config *config, char *const *argv, const char *dir,
                        struct gb_err *err)
{
    if (!config->control_programs)
        config->control_programs = json_array();
    /* A program that starts there may import, build or execute what it finds. */
    if (dir && json_array_append_new(config->control_programs, json_string(dir)) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "noting a directory");
    for (size_t i = 0; argv[i]; i++) {
        char path[PATH_MAX];
        bool is_there = strchr(argv[i], '/') || i > 0;

        if (!is_there || snprintf(path, sizeof(path), "%s%s%s", dir && argv[i][0] != '/' ? dir : "",
                                  dir && argv[i][0] != '/' ? "/" : "", argv[i]) >= PATH_MAX)
            continue;
        if (is_program(path, i == 0) &&
            json_array_append_new(config->control_programs, json_string(path)) < 0)
            return gb_fail(err, GB_E_SYSTEM, ENOMEM, "noting a program");
    }
    return control_guard(config, config->mounts, err);
}
