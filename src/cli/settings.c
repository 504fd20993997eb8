#include "cli/settings.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/buf.h"
#include "base/own.h"
#include "cli/io.h"
#include "cli/signals.h"
#include "glovebox.h"

#define CONFIG_BYTES_MAX ((size_t)1 << 20)

#define CONFIG           offsetof(struct args, config)

static const struct option_spec limits[] = {
    { 't', "timeout", OPT_KEY_SECONDS, CONFIG, "SECONDS", "stop the program after this long",
      SETTINGS_TIMEOUT },
    { 0, "memory", OPT_KEY_SIZE, CONFIG, "SIZE", "memory that the program may use", "512M" },
    { 0, "processes", OPT_KEY_COUNT, CONFIG, "N", "processes and threads at once", "64" },
    { 0, "disk", OPT_KEY_SIZE, CONFIG, "SIZE", "bytes that it may write to files", "256M" },
    { 0, "open-files", OPT_KEY_COUNT, CONFIG, "N", "descriptors that a process may hold", "256" },
    { 0, "cpu", OPT_KEY_SECONDS, CONFIG, "SECONDS", "processor time", "no limit" },
    { 0, "stdout-limit", OPT_KEY_SIZE, CONFIG, "SIZE",
      "bytes of standard output that the result keeps, head and tail", "64K" },
    { 0, "stderr-limit", OPT_KEY_SIZE, CONFIG, "SIZE", "the same for standard error", "64K" },
};
const struct option_group limit_options = { "Limits", limits, ARRAY_LEN(limits) };

static const struct option_spec box[] = {
    { 0, "isolation", OPT_KEY_CHOICE, CONFIG, "auto|namespaces|landlock|process|none",
      "which layers must hold; too little on this host is refused", "auto" },
    { 0, "policy", OPT_KEY_CHOICE, CONFIG, "strict|standard|off",
      "what the code may say; strict is not there yet",
      "standard where the kernel holds the box, else strict" },
    { 0, "network", OPT_KEY_CHOICE, CONFIG, "none|host", "what the program can reach", "none" },
    { 'e', "env", OPT_KEY_ENV, CONFIG, "NAME[=VALUE]",
      "set a variable, or copy it from here; repeatable. Without it the environment has only "
      "PATH, HOME, LANG and TMPDIR",
      NULL },
    { 0, "python", OPT_KEY_TEXT, CONFIG, "PATH", "the interpreter", "python3 on PATH" },
    { 0, "cgroup", OPT_KEY_TEXT, CONFIG, "DIR", "a cgroup v2 directory delegated to you",
      "the one above, if delegated" },
    { 0, "preload", OPT_KEY_LIST, CONFIG, "M[,M]",
      "modules to import before the box is made; repeatable", NULL },
    { 0, "acknowledge-unsafe", OPT_KEY_FLAG, CONFIG, NULL,
      "needed to run without kernel isolation (--isolation process or none)", NULL },
    { 0, "allow-request", OPT_KEY_LIST, CONFIG, "KEY[,KEY]",
      "settings that a request may loosen; repeatable", NULL },
};
const struct option_group box_options = { "Box", box, ARRAY_LEN(box) };

static const struct option_spec audit[] = {
    { 0, "audit", OPT_KEY_TEXT, CONFIG, "FILE",
      "append what happens to each request to FILE, as JSON lines", "off" },
    { 0, "audit-required", OPT_KEY_FLAG, CONFIG, NULL, "run nothing that cannot be recorded",
      NULL },
};
const struct option_group audit_options = { "Audit", audit, ARRAY_LEN(audit) };

static const struct option_spec config_file[] = {
    { 0, "config", OPT_TEXT, offsetof(struct args, config_path), "FILE",
      "configuration: JSON, the names of these options with '_'",
      "./glovebox.json, then glovebox/config.json in the XDG configuration folder" },
};
const struct option_group config_options = { "Configuration", config_file, ARRAY_LEN(config_file) };

/* $XDG_CONFIG_HOME/glovebox/config.json, or the same below ~/.config. NULL without a home. */
static char *user_path(void)
{
    const char *xdg = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    int n = -1;

    if (xdg && xdg[0] == '/') /* the specification says to ignore a relative one */
        n = asprintf(&path, "%s/glovebox/config.json", xdg);
    else if (home && home[0] == '/')
        n = asprintf(&path, "%s/.config/glovebox/config.json", home);
    return n < 0 ? NULL : path;
}

static int parse_file(int fd, const char *path, json_t **ret, struct gb_err *err)
{
    struct gb_buf buf;
    json_error_t why;
    json_t *config = NULL;

    gb_buf_init(&buf, CONFIG_BYTES_MAX);
    int rc = read_all(fd, path, &buf, err);
    if (rc == 0) {
        config = json_loadb(buf.data ? buf.data : "", buf.len, JSON_REJECT_DUPLICATES, &why);
        if (!config)
            rc = gb_fail(err, GB_E_SYSTEM, 0, "%.100s:%d:%d: %.100s", path, why.line, why.column,
                         why.text);
        else if (!json_is_object(config))
            rc = gb_fail(err, GB_E_SYSTEM, 0, "%.150s: not a JSON object", path);
    }
    gb_buf_done(&buf);
    if (rc < 0) {
        json_decref(config);
        return -1;
    }
    *ret = config;
    return 0;
}

/* Read one candidate. Returns 1, or 0 when it is not there, which only --config minds. */
static int try_file(const char *path, bool is_required, json_t **ret, struct gb_err *err)
{
    auto_close int fd = open_input(path, err);

    if (fd < 0 && !is_required && (err->sys == ENOENT || err->sys == ENOTDIR))
        return 0;
    if (fd < 0)
        return gb_fail_wrap(err, "configuration");
    return parse_file(fd, path, ret, err) < 0 ? -1 : 1;
}

/* A file that happens to lie in the working directory, which may be somebody else's repository,
 * must not choose what runs on the host or how little holds it. */
static int check_trust(const json_t *config, struct gb_err *err)
{
    static const char *const keys[] = { "acknowledge_unsafe",
                                        "allow_request",
                                        "audit",
                                        "audit_required",
                                        "cgroup",
                                        "extension_dir",
                                        "isolation",
                                        "network",
                                        "policy",
                                        "preload",
                                        "python" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!json_object_get(config, keys[i]))
            continue;
        (void)gb_fail(err, GB_E_INVALID, 0, "./glovebox.json may not set '%s'", keys[i]);
        return gb_fail_hint(err, "if you trust it, say so: --config glovebox.json");
    }
    return 0;
}

/* The user's own file. Returns 1, or 0 when there is none. */
static int load_user(json_t **ret, struct gb_err *err)
{
    auto_free char *path = user_path();
    int found = path ? try_file(path, false, ret, err) : 0;

    /* A home that we may not enter is somebody else's, and so is what it configures. */
    if (found < 0 && err->sys == EACCES)
        return 0;
    return found;
}

/* A file in the working directory takes the place of the user's, but not of the user's audit:
 * entering a directory must not be a way around it. */
static int keep_audit(json_t *config, struct gb_err *err)
{
    static const char *const keys[] = { "audit", "audit_required" };
    json_auto_t *user = NULL;

    if (load_user(&user, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_object_get(user, keys[i]) &&
            json_object_set(config, keys[i], json_object_get(user, keys[i])) < 0)
            return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    return 0;
}

static int load_file(const char *asked, json_t **ret, struct gb_err *err)
{
    if (asked)
        return try_file(asked, true, ret, err);

    int found = try_file("glovebox.json", false, ret, err);
    if (found > 0)
        return check_trust(*ret, err) < 0 || keep_audit(*ret, err) < 0 ? -1 : 1;
    return found < 0 ? -1 : load_user(ret, err);
}

int settings_load(const struct args *args, json_t **ret, struct gb_err *err)
{
    json_auto_t *config = NULL;
    int found = load_file(args->config_path, &config, err);

    if (found < 0)
        return -1;
    if (found == 0)
        config = json_object();

    /* Variables add up name by name; everything else on the command line replaces. */
    json_t *ours = json_object_get(args->config, "env");
    json_t *theirs = json_object_get(config, "env");
    if (json_is_object(ours) && json_is_object(theirs) &&
        (json_object_update_missing(ours, theirs) < 0))
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    if (json_object_update(config, args->config) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");

    *ret = take_ptr(config);
    return 0;
}

int engine_open_plain(const json_t *config, struct gb_engine **ret, json_t **ret_error)
{
    auto_free char *text = json_dumps(config, JSON_COMPACT);
    auto_free char *error = NULL;

    *ret_error = NULL;
    if (!text)
        return -1;
    if (gb_engine_new(text, ret, &error) == 0)
        return 0;
    if (error)
        *ret_error = json_loads(error, JSON_ALLOW_NUL, NULL);
    return -1;
}

int engine_open(const json_t *config, struct gb_engine **ret, json_t **ret_error)
{
    /* A guest that only Landlock holds runs under our uid: without this it could read our memory
     * through /proc. A leak checker needs to trace us, so its builds go without. */
#ifndef __SANITIZE_ADDRESS__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    signals_catch();
    if (engine_open_plain(config, ret, ret_error) < 0)
        return -1;
    signals_watch(*ret);
    return 0;
}

void engine_closep(struct gb_engine **engine)
{
    signals_watch(NULL);
    gb_engine_free(*engine);
}
