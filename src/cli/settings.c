#include "cli/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cpus.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/own.h"
#include "cli/io.h"
#include "cli/signals.h"
#include "cli/tools.h"
#include "engine/loop.h"
#include "engine/settings.h"
#include "glovebox.h"
#include "shell/runners.h"

#define CONFIG_BYTES_MAX ((size_t)1 << 20)

#define HERE             "glovebox.json"

#define CONFIG           offsetof(struct args, config)

static const struct option_spec limits[] = {
    { 't', "timeout", OPT_KEY_SECONDS, CONFIG, "SECONDS", "stop the program after this long",
      SETTINGS_TIMEOUT },
    { 0, "memory", OPT_KEY_SIZE, CONFIG, "SIZE", "memory that the program may use", "512M" },
    { 0, "processes", OPT_KEY_COUNT, CONFIG, "N", "processes and threads at once",
      "64, or 16 a processor" },
    { 0, "disk", OPT_KEY_SIZE, CONFIG, "SIZE", "bytes that it may write to files", "256M" },
    { 0, "open-files", OPT_KEY_COUNT, CONFIG, "N", "descriptors that a process may hold", "256" },
    { 0, "cpu", OPT_KEY_SECONDS, CONFIG, "SECONDS", "processor time", "no limit" },
    { 0, "stdout-limit", OPT_KEY_SIZE, CONFIG, "SIZE",
      "bytes of standard output that the result keeps, head and tail", "64K" },
    { 0, "stderr-limit", OPT_KEY_SIZE, CONFIG, "SIZE", "the same for standard error", "64K" },
};
const struct option_group limit_options = { "Limits", limits, ARRAY_LEN(limits) };

static const struct option_spec policy[] = {
    { 0, "policy", OPT_KEY_CHOICE, CONFIG, "strict|standard|off",
      "what the code may say: off looks at nothing but whether it parses; standard refuses what "
      "your lists refuse; strict has lists of its own, of what it allows",
      "standard where the kernel holds the box, else strict" },
    { 0, "patterns", OPT_KEY_CHOICE, CONFIG, "off|warn|block",
      "what becomes of code that looks dangerous",
      "block under strict, warn under standard, else off" },
    { 0, "allow-import", OPT_KEY_LIST, CONFIG, "M",
      "allow this module too, also one that strict blocks; repeatable. For each of these lists, "
      "'=' first empties it: '--allow-import = --allow-import csv' allows csv alone",
      NULL },
    { 0, "block-import", OPT_KEY_LIST, CONFIG, "M",
      "refuse this module, whatever allows it; repeatable", NULL },
    { 0, "allow-builtin", OPT_KEY_LIST, CONFIG, "B",
      "allow this builtin too, also one that strict blocks; repeatable", NULL },
    { 0, "block-builtin", OPT_KEY_LIST, CONFIG, "B",
      "refuse this builtin, whatever allows it; repeatable", NULL },
    { 0, "allow-os-attr", OPT_KEY_LIST, CONFIG, "A", "allow this attribute of os; repeatable",
      "environ and path under strict" },
};
const struct option_group policy_options = { "Policy", policy, ARRAY_LEN(policy) };

static const struct option_spec consent[] = {
    { 0, "approve", OPT_KEY_CHOICE, CONFIG, "ask|never|always",
      "ask a person, on the terminal, before a program runs: ask does so unless "
      "--acknowledge-unsafe answers for a program that the kernel does not hold; always does so in "
      "any case. Without a terminal the program is rejected",
      "never where the kernel holds the box, else ask" },
    { 0, "acknowledge-unsafe", OPT_KEY_FLAG, CONFIG, NULL,
      "run without kernel isolation (--isolation process or none) without asking", NULL },
    { 0, "review", OPT_KEY_TEXT, CONFIG, "URL",
      "have a model review the code first, at this OpenAI-compatible endpoint; the key is taken "
      "from GLOVEBOX_REVIEW_KEY",
      "off" },
    { 0, "review-model", OPT_KEY_TEXT, CONFIG, "NAME", "which model reviews",
      "the endpoint's own" },
};
const struct option_group consent_options = { "Review and approval", consent, ARRAY_LEN(consent) };

static const struct option_spec box[] = {
    { 0, "isolation", OPT_KEY_CHOICE, CONFIG, "auto|namespaces|landlock|process|none",
      "which layers must hold; too little on this host is refused", "auto" },
    { 0, "network", OPT_KEY_CHOICE, CONFIG, "none|host", "what the program can reach", "none" },
    { 'e', "env", OPT_KEY_ENV, CONFIG, "NAME[=VALUE]",
      "set a variable, or copy it from here; repeatable. Without it the environment has only "
      "PATH, HOME, LANG and TMPDIR, that of commands also TERM",
      NULL },
    { 0, "python", OPT_KEY_TEXT, CONFIG, "PATH", "the interpreter", "python3 on PATH" },
    { 0, "cgroup", OPT_KEY_TEXT, CONFIG, "DIR|auto|none",
      "where each box gets a control group: a directory of cgroup v1 or v2, or any that is to be "
      "had; else the run is refused",
      "what was delegated, if anything" },
    { 0, "preload", OPT_KEY_LIST, CONFIG, "M[,M]",
      "modules to import before the box is made; repeatable", NULL },
    { 0, "allow-request", OPT_KEY_LIST, CONFIG, "KEY[,KEY]",
      "settings that a request may loosen; repeatable", NULL },
};
const struct option_group box_options = { "Box", box, ARRAY_LEN(box) };

static const struct option_spec mounts[] = {
    { 'm', "mount", OPT_KEY_STRINGS, CONFIG, "HOST:NAME[:ro|rw]",
      "let the program see the directory HOST as /mnt/NAME; repeatable", "ro" },
};
const struct option_group mount_options = { "Mounts", mounts, ARRAY_LEN(mounts) };

static const struct option_spec capture[] = {
    { 0, "capture", OPT_KEY_CHOICE, CONFIG, "list|inline|off",
      "what the result tells of changed files: their names, or also what is in them",
      "list; inline for mcp and serve" },
    { 0, "capture-file", OPT_KEY_SIZE, CONFIG, "SIZE", "bytes that are captured of a file", "10M" },
    { 0, "capture-mount", OPT_KEY_SIZE, CONFIG, "SIZE",
      "of the workspace, and of each mount that is rw", "32M" },
    { 0, "capture-total", OPT_KEY_SIZE, CONFIG, "SIZE", "of all files together",
      "32M; 16M for mcp and serve" },
    { 0, "capture-files", OPT_KEY_COUNT, CONFIG, "N", "changed files that are listed", "1000" },
};
const struct option_group capture_options = { "Captured files", capture, ARRAY_LEN(capture) };

/* What a check is made with, and how long it may take. */
static const struct option_spec for_check[] = {
    { 't', "timeout", OPT_KEY_SECONDS, CONFIG, "SECONDS",
      "reject a file whose check takes longer than this", SETTINGS_TIMEOUT },
    { 0, "memory", OPT_KEY_SIZE, CONFIG, "SIZE", "memory that its check may use", "512M" },
    { 0, "isolation", OPT_KEY_CHOICE, CONFIG, "auto|namespaces|landlock|process|none",
      "which layers must hold while the code is looked at; the policy's default goes by it",
      "auto" },
    { 0, "python", OPT_KEY_TEXT, CONFIG, "PATH", "the interpreter, whose grammar it is",
      "python3 on PATH" },
};
const struct option_group check_options = { "Check", for_check, ARRAY_LEN(for_check) };

/* About running, reviewing and asking, which a check does not: the options of a 'run' can be kept
 * when its command is changed to 'check'. */
#define UNUSED(name, kind, value)                \
    {                                            \
        0, name, kind, CONFIG, value, NULL, NULL \
    }
static const struct option_spec unused[] = {
    UNUSED("acknowledge-unsafe", OPT_KEY_FLAG, NULL),
    UNUSED("allow-request", OPT_KEY_LIST, "KEY"),
    UNUSED("approve", OPT_KEY_CHOICE, "ask|never|always"),
    UNUSED("cgroup", OPT_KEY_TEXT, "DIR|auto|none"),
    UNUSED("cpu", OPT_KEY_SECONDS, "SECONDS"),
    UNUSED("disk", OPT_KEY_SIZE, "SIZE"),
    { 'e', "env", OPT_KEY_ENV, CONFIG, "NAME[=VALUE]", NULL, NULL },
    UNUSED("network", OPT_KEY_CHOICE, "none|host"),
    UNUSED("open-files", OPT_KEY_COUNT, "N"),
    UNUSED("preload", OPT_KEY_LIST, "M"),
    UNUSED("processes", OPT_KEY_COUNT, "N"),
    UNUSED("review", OPT_KEY_TEXT, "URL"),
    UNUSED("review-model", OPT_KEY_TEXT, "NAME"),
    UNUSED("stderr-limit", OPT_KEY_SIZE, "SIZE"),
    UNUSED("stdout-limit", OPT_KEY_SIZE, "SIZE"),
};
const struct option_group unused_options = { NULL, unused, ARRAY_LEN(unused) };

static const struct option_spec audit[] = {
    { 0, "audit", OPT_KEY_TEXT, CONFIG, "FILE",
      "append what happens to each request to FILE, as JSON lines", "off" },
    { 0, "audit-required", OPT_KEY_FLAG, CONFIG, NULL, "run nothing that cannot be recorded",
      NULL },
};
const struct option_group audit_options = { "Audit", audit, ARRAY_LEN(audit) };

static const struct option_spec config_file[] = {
    { 0, "config", OPT_TEXT, offsetof(struct args, config_path), "FILE",
      "configuration: JSON, the names of these options with '_'. A ./glovebox.json is not one: "
      "there only the timeout and limits count, where they are tighter",
      "glovebox/config.json in the XDG configuration folder" },
};
const struct option_group config_options = { "Configuration", config_file, ARRAY_LEN(config_file) };

/* NULL without a home. */
static char *user_path(void)
{
    return folder_file("XDG_CONFIG_HOME", ".config", "config.json");
}

static int parse_file(int fd, const char *path, json_t **ret, struct gb_err *err)
{
    if (read_json(fd, path, CONFIG_BYTES_MAX, ret, err) < 0)
        return -1;
    if (json_is_object(*ret))
        return 0;
    json_decref(take_ptr(*ret));
    return gb_fail(err, GB_E_SYSTEM, 0, "%.150s: not a JSON object", path);
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

/* Open ./glovebox.json, which anybody may have put there: a FIFO would hold up the open(), a device
 * or a directory is no configuration. Returns -1 when there is nothing to read. */
static int open_here(void)
{
    auto_close int fd = open(HERE, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return -1;
    if (fd < 0)
        message("warning: ./" HERE " is ignored: %s", strerror(errno));
    else if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        message("warning: ./" HERE " is ignored: it is not a regular file");
    else
        return take_fd(&fd);
    return -1;
}

/* Name the keys of ./glovebox.json that do not count. */
static void warn_ignored(const json_t *ignored)
{
    char names[400] = "";
    size_t len = 0;

    for (size_t i = 0; i < json_array_size(ignored); i++) {
        const char *name = json_string_value(json_array_get(ignored, i));

        if (len + strlen(name) + sizeof(", ...") > sizeof(names)) {
            (void)snprintf(names + len, sizeof(names) - len, ", ...");
            break;
        }
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "", name);
    }
    if (len > 0)
        message("warning: ./" HERE " is ignored in: %s. Only the timeout and limits count there, "
                "and only where they are tighter than your own; if you trust the file, say "
                "--config " HERE,
                names);
}

/* A file that was read, or will be, and decides something: no mount that is rw may have it
 * inside. */
static int add_control(json_t *config, const char *path)
{
    json_t *files = json_object_get(config, "control_files");

    if (!path || strcmp(path, "-") == 0)
        return 0;
    if (!json_is_array(files)) { /* what is wrong with another value, the engine says */
        files = files ? NULL : json_array();
        if (!files)
            return 0;
        (void)json_object_set_new(config, "control_files", files);
    }
    return json_array_append_new(files, json_string(path));
}

/* All that the command line names. The sockets are there for clients, whom another in its place
 * would deceive. */
static int add_controls(const struct args *args, json_t *config)
{
    const json_t *listen = json_object_get(args->serve, "listen");
    const char *const named[] = { args->config_path, args->tools_path, args->token_file,
                                  args->prelude_path,
                                  json_string_value(json_object_get(config, "mcp")) };
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        r |= add_control(config, named[i]);
    for (size_t i = 0; i < json_array_size(listen); i++) {
        const char *where = json_string_value(json_array_get(listen, i));
        if (strncmp(where, "unix:", 5) == 0 || where[0] == '/')
            r |= add_control(config, where[0] == '/' ? where : where + 5);
    }
    return r;
}

/* A file that happens to lie in the working directory, which may be somebody else's repository,
 * counts only where it tightens what the user's own configuration says. */
static int tighten_by_here(json_t *config, struct gb_err *err)
{
    json_auto_t *found = NULL, *ignored = json_array();
    auto_close int fd = open_here();

    if (fd < 0)
        return 0;
    if (parse_file(fd, HERE, &found, err) < 0)
        return -1;
    if (!ignored)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    if (settings_tighten(config, found, ignored, err) < 0)
        return gb_fail_wrap(err, "./" HERE);
    if (add_control(config, HERE) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    warn_ignored(ignored);
    return 0;
}

/* An object in any case. */
static int load_file(const char *asked, json_t **ret, struct gb_err *err)
{
    json_auto_t *config = NULL;
    int found = asked ? try_file(asked, true, &config, err) : load_user(&config, err);

    if (found < 0)
        return -1;
    if (found == 0)
        config = json_object();
    if (!config)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    if (!asked && tighten_by_here(config, err) < 0)
        return -1;
    *ret = take_ptr(config);
    return 0;
}

/* Put what the file says before what the command line says, where they add up: variables name by
 * name, the policy's lists in order. Everything else on the command line replaces. */
static int add_up(json_t *ours, json_t *theirs)
{
    static const char *const lists[] = { "allow_import",  "block_import",  "allow_builtin",
                                         "block_builtin", "allow_os_attr", "mount",
                                         "allow",         "allow_command", "deny",
                                         "deny_preset",   "unset_env" };
    json_t *env = json_object_get(ours, "env"), *more = json_object_get(theirs, "env");
    int r = 0;

    if (json_is_object(env) && json_is_object(more))
        r = json_object_update_missing(env, more);
    for (size_t i = 0; i < ARRAY_LEN(lists) && r == 0; i++) {
        const json_t *said = json_object_get(ours, lists[i]);
        json_t *before = json_object_get(theirs, lists[i]);
        json_t *both = said && json_is_array(before) ? json_copy(before) : NULL;

        if (both && (json_array_extend(both, json_object_get(ours, lists[i])) < 0 ||
                     json_object_set(ours, lists[i], both) < 0))
            r = -1;
        json_decref(both);
    }
    return r;
}

/* Never an argument: others can see those. */
static int add_review_key(json_t *config)
{
    const char *key = getenv("GLOVEBOX_REVIEW_KEY");

    if (!key || !*key || !json_object_get(config, "review"))
        return 0;
    return json_object_set_new(config, "review_key", json_string(key));
}

/* Under standard everything is allowed that is not blocked, unless a list was emptied first. What
 * the command line allows by name there does nothing, and whoever wrote it may think otherwise. */
static void note_idle_lists(const struct args *args, const json_t *config)
{
    static const char *const lists[][2] = { { "allow_import", "allow-import" },
                                            { "allow_builtin", "allow-builtin" },
                                            { "allow_os_attr", "allow-os-attr" } };
    const char *isolation = json_string_at(config, "isolation", "auto");
    bool is_held = strcmp(isolation, "process") != 0 && strcmp(isolation, "none") != 0;

    if (args->want_json ||
        strcmp(json_string_at(config, "policy", is_held ? "standard" : "strict"), "standard") != 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (json_object_get(args->config, lists[i][0]) &&
            !json_array_has(json_object_get(config, lists[i][0]), "="))
            message("note: --%s changes nothing under the policy 'standard', which allows all that "
                    "is not blocked; '=' first empties the list",
                    lists[i][1]);
}

/* A rule that holds less than it seems to is said so where it is made. */
static void note_unheld(const struct args *args)
{
    const json_t *names = json_object_get(args->config, "allow_command");
    char runners[160];

    if (!args->want_json && runner_list(names, runners, sizeof(runners)) > 0)
        message("note: --allow-command does not hold %s: what can run other programs runs what its "
                "arguments, variables and files say; what holds it is the box",
                runners);
}

/* A prelude is the operator's: here, whoever gave the option. The command sends it with its own
 * request, and serves nobody else's. */
static int grant_prelude(const struct args *args, json_t *config)
{
    json_t *granted = json_object_get(config, "allow_request");

    if (!args->prelude_path)
        return 0;
    granted = json_is_array(granted) ? json_copy(granted) : json_array();
    return json_array_append_new(granted, json_string("prelude")) < 0
               ? -1
               : json_object_set_new(config, "allow_request", granted);
}

int settings_load(const struct args *args, json_t **ret, struct gb_err *err)
{
    json_auto_t *config = NULL;

    if (load_file(args->config_path, &config, err) < 0)
        return -1;
    if (add_up(args->config, config) < 0 || json_object_update(config, args->config) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    if (grant_prelude(args, config) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    if (add_review_key(config) < 0)
        return gb_fail(err, GB_E_INVALID, 0, "GLOVEBOX_REVIEW_KEY is not valid UTF-8");

    if (tools_gather(args, config, err) < 0)
        return -1;
    if (add_controls(args, config) < 0)
        return gb_fail(err, GB_E_INVALID, 0, "the name of a file that decides is not UTF-8");

    *ret = take_ptr(config);
    return 0;
}

int default_jobs(void)
{
    return (int)cpus_usable();
}

/* The file that a key came from, if it was not an option; the caller frees it. What
 * ./glovebox.json may set was checked when it was read. */
static char *file_of(const struct args *args)
{
    return args->config_path ? strdup(args->config_path) : user_path();
}

/* Did an option say it, as far as one can tell? What a file says of mounts and tools adds up with
 * what the options say, and the complaint does not tell them apart. */
static bool is_option(const struct args *args, const json_t *config, const char *key)
{
    if (strcmp(key, "tools") == 0)
        return args->tools_path || json_array_size(args->tools) > 0;
    if (strcmp(key, "mounts") == 0)
        return json_object_get(args->config, "mount") && !json_object_get(config, "mounts");
    return json_object_get(args->config, key) != NULL;
}

/* How an option is called that sets the key. */
static const char *option_of(const struct args *args, char *key)
{
    if (strcmp(key, "mounts") == 0)
        return "mount";
    if (strcmp(key, "tools") == 0)
        return args->tools_path ? "tools" : "tool";
    for (char *at = strchr(key, '_'); at; at = strchr(at, '_'))
        *at = '-';
    return key;
}

/* The engine's complaints about its configuration begin with the key: say where that was set. */
static void name_source(const struct args *args, const json_t *config, json_t *error)
{
    const char *text = json_string_at(error, "message", "");
    size_t len = strcspn(text, ":");
    auto_free char *key = strndup(text, len), *file = NULL;

    if (!key || !text[len] || strspn(key, "abcdefghijklmnopqrstuvwxyz_") != len ||
        strcmp(json_string_at(error, "type", ""), gb_code_name(GB_E_INVALID)) != 0)
        return;
    if (is_option(args, config, key)) {
        (void)json_object_set_new(error, "message",
                                  json_sprintf("--%s%s", option_of(args, key), text + len));
        return;
    }
    file = file_of(args);
    if (file && access(file, F_OK) == 0)
        (void)json_object_set_new(error, "message", json_sprintf("%s: %s", file, text));
}

/* What the commands themselves read. */
static const char *const not_the_engines[] = { "code_mode", "mcp" };

static int open_plain_on(struct event_base *base, const struct args *args, const json_t *config,
                         struct gb_engine **ret, json_t **ret_error)
{
    json_auto_t *plain = json_copy(json_shared(config));
    auto_free char *text = NULL, *error = NULL;

    *ret_error = NULL;
    for (size_t i = 0; i < ARRAY_LEN(not_the_engines); i++)
        (void)json_object_del(plain, not_the_engines[i]);
    text = plain ? json_dumps(plain, JSON_COMPACT) : NULL;
    if (!text)
        return -1;
    if (engine_new_on(base, text, ret, &error) == 0) {
        note_idle_lists(args, config);
        note_unheld(args);
        return 0;
    }
    if (error)
        *ret_error = json_loads(error, JSON_ALLOW_NUL, NULL);
    name_source(args, config, *ret_error);
    return -1;
}

int engine_open_plain(const struct args *args, const json_t *config, struct gb_engine **ret,
                      json_t **ret_error)
{
    return open_plain_on(NULL, args, config, ret, ret_error);
}

int engine_open(const struct args *args, const json_t *config, struct gb_engine **ret,
                json_t **ret_error)
{
    return engine_open_on(NULL, args, config, ret, ret_error);
}

int engine_open_on(struct event_base *base, const struct args *args, const json_t *config,
                   struct gb_engine **ret, json_t **ret_error)
{
    /* A guest that only Landlock holds runs under our uid: without this it could read our memory
     * through /proc. A leak checker needs to trace us, so its builds go without. */
#ifndef __SANITIZE_ADDRESS__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    signals_catch();
    if (open_plain_on(base, args, config, ret, ret_error) < 0)
        return -1;
    signals_watch(*ret);
    return 0;
}

void engine_closep(struct gb_engine **engine)
{
    signals_watch(NULL);
    gb_engine_free(*engine);
}
