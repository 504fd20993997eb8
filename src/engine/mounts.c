#include "engine/mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/control.h"
#include "sandbox/compose.h"

enum {
    NAME_LEN_MAX = 64
};

/* ---- one mount ---- */

static int check_name(const char *name, struct gb_err *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strspn(name, letters);

    if (len == 0 || len > NAME_LEN_MAX || name[len] != '\0' || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return gb_fail(err, GB_E_INVALID, 0,
                       "mounts: '%.80s' is not a name: up to %d letters, digits, '.', '_' and '-', "
                       "and no '/'",
                       name, NAME_LEN_MAX);
    if (strcmp(name, "workspace") == 0)
        return gb_fail(err, GB_E_INVALID, 0, "mounts: 'workspace' is the name of the workspace");
    return 0;
}

static bool is_any_of(const char *path, const char *const *dirs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (path_is_below(path, dirs[i]))
            return true;
    return false;
}

/* Places that no mount is for: they are the kernel's, or the whole host. */
static int check_place(const char *host, bool is_rw, struct gb_err *err)
{
    static const char *const kernels[] = { "/proc", "/sys", "/dev" };
    static const char *const systems[] = { "/bin",   "/boot",   "/etc",  "/lib", "/lib32",
                                           "/lib64", "/libx32", "/sbin", "/usr" };

    if (strcmp(host, "/") == 0 || is_any_of(host, kernels, ARRAY_LEN(kernels)))
        return gb_fail(err, GB_E_INVALID, 0, "mounts: %s cannot be mounted", host);
    if (!is_rw || !is_any_of(host, systems, ARRAY_LEN(systems)))
        return 0;
    (void)gb_fail(err, GB_E_INVALID, 0, "mounts: %.150s cannot be mounted rw: it is the system's",
                  host);
    return gb_fail_hint(err, "mount it ro");
}

/* The path without links. The directory itself may not be one: who could change it could choose
 * what is mounted. */
static int resolve(const char *host, char ret[PATH_MAX], struct gb_err *err)
{
    auto_free char *copy = strdup(host);
    size_t len = strlen(host);
    struct stat st;

    if (!copy)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the mounts");
    while (len > 1 && copy[len - 1] == '/')
        copy[--len] = '\0';
    if (lstat(copy, &st) < 0) {
        (void)gb_fail(err, GB_E_INVALID, errno, "mounts: '%.150s'", host);
        return strchr(host, ':') ? gb_fail_hint(err, "a mount is HOST:NAME, HOST:NAME:ro or "
                                                     "HOST:NAME:rw")
                                 : -1;
    }
    if (S_ISLNK(st.st_mode)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "mounts: '%.150s' is a symbolic link", host);
        return gb_fail_hint(err, "name the directory that it points to");
    }
    if (!S_ISDIR(st.st_mode)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "mounts: '%.150s' is not a directory", host);
        return gb_fail_hint(err, "--file, or 'files' in a request, puts a file into the workspace");
    }
    if (!realpath(copy, ret))
        return gb_fail(err, GB_E_INVALID, errno, "mounts: '%.150s'", host);
    return 0;
}

/* What a directory is called if nobody says so. */
static const char *base_name(const char *host)
{
    const char *slash = strrchr(host, '/');

    return slash ? slash + 1 : host;
}

/* `name` may be NULL: the directory's own. */
static int add(struct mounts *m, const char *host, const char *name, bool is_rw, struct gb_err *err)
{
    char path[PATH_MAX];
    int e;

    if ((name && check_name(name, err) < 0) || resolve(host, path, err) < 0 ||
        check_place(path, is_rw, err) < 0)
        return -1;
    if (!name)
        name = base_name(path);
    if (check_name(name, err) < 0)
        return -1;
    e = mounts_add(m, name, path, is_rw);
    if (e == -ENOSPC)
        return gb_fail(err, GB_E_INVALID, 0, "mounts: more than %d", MOUNTS_MAX);
    return e < 0 ? gb_fail(err, GB_E_SYSTEM, -e, "reading the mounts") : 0;
}

/* ---- how they are written ---- */

struct wish {
    const char *host, *name; /* borrowed; NULL: not said */
    bool has_mode, is_rw;
};

static int read_mode(const char *mode, struct wish *w, struct gb_err *err)
{
    w->has_mode = true;
    w->is_rw = strcmp(mode, "rw") == 0;
    if (w->is_rw || strcmp(mode, "ro") == 0)
        return 0;
    return gb_fail(err, GB_E_INVALID, 0, "mounts: mode '%.40s' is neither 'ro' nor 'rw'", mode);
}

static int read_object(json_t *value, struct wish *w, struct gb_err *err)
{
    const char *key, *text;
    json_t *part;

    *w = (struct wish){ 0 };
    json_object_foreach (value, key, part) {
        text = json_string_value(part);
        if (!text || !*text || strlen(text) != json_string_length(part))
            return gb_fail(err, GB_E_INVALID, 0, "mounts: '%.40s' must be a string", key);
        if (strcmp(key, "host") == 0)
            w->host = text;
        else if (strcmp(key, "name") == 0)
            w->name = text;
        else if (strcmp(key, "mode") != 0)
            return gb_fail(err, GB_E_INVALID, 0, "mounts: unknown key '%.40s'", key);
        else if (read_mode(text, w, err) < 0)
            return -1;
    }
    return 0;
}

/* HOST:NAME[:ro|rw], or HOST alone. Cuts `text` up. */
static void read_text(char *text, struct wish *w)
{
    char *colon = strrchr(text, ':');

    *w = (struct wish){ .host = text };
    if (colon && strchr(text, ':') != colon &&
        (strcmp(colon, ":ro") == 0 || strcmp(colon, ":rw") == 0)) {
        w->has_mode = true;
        w->is_rw = colon[2] == 'w';
        *colon = '\0';
        colon = strrchr(text, ':');
    }
    if (colon) {
        *colon = '\0';
        w->name = colon + 1;
    }
}

/* Elsewhere HOST:rw is how one asks for a directory to write to: to take it for a name would mount
 * another one, ro. */
static int check_written(const struct wish *w, struct gb_err *err)
{
    if (w->has_mode || !w->name || (strcmp(w->name, "ro") != 0 && strcmp(w->name, "rw") != 0))
        return 0;
    (void)gb_fail(err, GB_E_INVALID, 0, "mounts: '%.150s:%s' does not say what it is to be called",
                  w->host, w->name);
    return gb_fail_hint(err, "a mount is HOST:NAME:%s", w->name);
}

static int read_one(struct mounts *m, json_t *value, struct gb_err *err)
{
    auto_free char *text = json_is_string(value) ? strdup(json_string_value(value)) : NULL;
    struct wish w;

    if (text)
        read_text(text, &w);
    if (text && check_written(&w, err) < 0)
        return -1;
    if (!text && !json_is_object(value))
        return gb_fail(err, GB_E_INVALID, 0,
                       "mounts: must be a list of \"HOST:NAME[:ro|rw]\" or {\"host\", \"name\", "
                       "\"mode\"}");
    if (!text && read_object(value, &w, err) < 0)
        return -1;
    if (!w.host || !*w.host)
        return gb_fail(err, GB_E_INVALID, 0, "mounts: no host directory is named");
    return add(m, w.host, w.name, w.is_rw, err);
}

static int check_list(const json_t *value, struct gb_err *err)
{
    return json_is_array(value) ? 0 : gb_fail(err, GB_E_INVALID, 0, "mounts: must be a list");
}

int mounts_read(struct mounts *m, const json_t *value, struct gb_err *err)
{
    int r = check_list(value, err);

    for (size_t i = 0; r == 0 && i < json_array_size(value); i++)
        r = read_one(m, json_array_get(value, i), err);
    return r;
}

/* ---- requests ---- */

static int refuse_more(const char *what, const char *name, struct gb_err *err)
{
    (void)gb_fail(err, GB_E_INVALID, 0, "mounts: %s '%.80s'", what, name);
    return settings_fail_looser("mounts", err);
}

/* One that is configured, perhaps only to be read. */
static int request_one(const struct mounts *configured, struct mounts *m, json_t *value,
                       struct gb_err *err)
{
    const struct mount *have;
    char path[PATH_MAX];
    struct wish w = { 0 };

    if (json_is_string(value))
        w.name = json_string_value(value);
    else if (!json_is_object(value))
        return gb_fail(err, GB_E_INVALID, 0, "mounts: must be a list of names or objects");
    else if (read_object(value, &w, err) < 0)
        return -1;
    if (!w.name && w.host)
        w.name = base_name(w.host);
    if (!w.name)
        return gb_fail(err, GB_E_INVALID, 0, "mounts: one has no name");
    have = mounts_find(configured, w.name);
    if (!have)
        return refuse_more("the operator configured none that is called", w.name, err);
    if (w.host && (resolve(w.host, path, err) < 0 || strcmp(path, have->host) != 0))
        return refuse_more("the operator configured another directory as", w.name, err);
    if (w.is_rw && !have->is_rw)
        return refuse_more("rw is looser than the configured ro of", w.name, err);
    /* Without a mode: as it is configured. */
    return mounts_add(m, have->name, have->host, w.has_mode ? w.is_rw : have->is_rw) < 0
               ? gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the mounts")
               : 0;
}

int mounts_request(const struct config *config, const json_t *value, struct mounts **ret,
                   struct gb_err *err)
{
    struct mounts *m = mounts_new();
    int r;

    if (!m)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the mounts");
    if (json_array_has(config->allow_request, "mounts")) {
        r = mounts_read(m, value, err);
        if (r == 0)
            r = control_guard(config, m, err);
    } else {
        r = check_list(value, err);
        for (size_t i = 0; r == 0 && i < json_array_size(value); i++)
            r = request_one(config->mounts, m, json_array_get(value, i), err);
    }
    if (r < 0)
        m = mounts_unref(m);
    *ret = m;
    return r;
}

/* ---- telling ---- */

json_t *mounts_json(const struct mounts *mounts, bool is_rooted)
{
    json_t *list = json_array();

    for (size_t i = 0; mounts && i < mounts->n; i++) {
        const struct mount *m = &mounts->list[i];
        json_t *path = is_rooted ? json_sprintf(BOX_MOUNTS "/%s", m->name) : json_string(m->host);

        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:o}", "name", m->name, "host", m->host,
                                              "mode", m->is_rw ? "rw" : "ro", "path",
                                              path ? path : json_null()));
    }
    return list;
}
