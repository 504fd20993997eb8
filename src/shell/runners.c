#include "shell/runners.h"

#include <stdio.h>
#include <string.h>

#include "base/own.h"

static bool is_one_of(const char *word, const char *const *list)
{
    for (; list && *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

static bool begins_as_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strncmp(*list, word, strlen(*list)) == 0)
            return true;
    return false;
}

/* ---- programs ---- */

static const char *const git_early[] = { "-c", "--config", "--config-env", "--exec-path", NULL };
static const char *const git_valued[] = { "-C", "--git-dir", "--work-tree", "--namespace", NULL };
static const char *const git[] = { "--upload-pack", "--receive-pack",        "--exec",
                                   "--extcmd",      "--open-files-in-pager", NULL };
static const char *const find_leads[] = { "-exec", "-execdir", "-ok", "-okdir", NULL };
static const char *const tar[] = {
    "-I",
    "-F",
    "--to-command",
    "--use-compress-program",
    "--checkpoint-action",
    "--rsh-command",
    "--rmt-command",
    "--info-script",
    "--new-volume-script",
    NULL,
};
static const char *const rsync[] = { "-e", "--rsh", "--rsync-path", NULL };
static const char *const ssh[] = { "-o", "-F", "-S", NULL };
static const char *const man[] = { "-P", "-H", "--pager", "--html", "--preprocessor", NULL };
static const char *const sort[] = { "--compress-program", NULL };
static const char *const split[] = { "--filter", NULL };
static const char *const zip[] = { "-TT", "--unzip-command", NULL };
static const char *const cpio[] = { "--rsh-command", NULL };
static const char *const wget[] = { "-e", "--execute", "--use-askpass", NULL };

static const struct runner with_options[] = {
    { .name = "cpio", .options = cpio },
    { .name = "find", .leads = find_leads },
    { .name = "git",
      .options = git,
      .early = git_early,
      .valued = git_valued,
      .reads_late = "clone" },
    { .name = "man", .options = man },
    { .name = "rsync", .options = rsync },
    { .name = "scp", .options = ssh },
    { .name = "sftp", .options = ssh },
    { .name = "sort", .options = sort },
    { .name = "split", .options = split },
    { .name = "ssh", .options = ssh },
    { .name = "tar", .options = tar },
    { .name = "wget", .options = wget },
    { .name = "zip", .options = zip },
};

/* What these run is in their arguments, their input, or files that they read by themselves. */
static const char *const by_nature[] = {
    "R",       "Rscript",  "apt",      "apt-get", "ash",     "at",      "awk",         "bash",
    "batch",   "bun",      "bundle",   "busybox", "c++",     "cargo",   "cc",          "chroot",
    "chrt",    "clang",    "cmake",    "crontab", "csh",     "dash",    "dc",          "deno",
    "dnf",     "doas",     "docker",   "dotnet",  "dpkg",    "ed",      "emacs",       "env",
    "ex",      "expect",   "fish",     "flock",   "g++",     "gawk",    "gcc",         "gdb",
    "gem",     "gmake",    "gnuplot",  "go",      "gradle",  "hg",      "ionice",      "java",
    "julia",   "ksh",      "latex",    "ld.so",   "less",    "lua",     "luajit",      "m4",
    "make",    "mawk",     "meson",    "more",    "mvn",     "mysql",   "nano",        "nawk",
    "nice",    "ninja",    "node",     "nodejs",  "npm",     "npx",     "nsenter",     "nvim",
    "octave",  "parallel", "pdflatex", "perf",    "perl",    "php",     "pip",         "pnpm",
    "podman",  "psql",     "pwsh",     "pytest",  "python",  "rake",    "ruby",        "run-parts",
    "runuser", "screen",   "script",   "sed",     "setarch", "setpriv", "setsid",      "sh",
    "sqlite",  "stdbuf",   "strace",   "su",      "sudo",    "svn",     "systemd-run", "taskset",
    "tclsh",   "tex",      "time",     "timeout", "tmux",    "tox",     "unshare",     "uv",
    "vi",      "view",     "vim",      "vimdiff", "watch",   "wish",    "xargs",       "xelatex",
    "yarn",    "zsh",      NULL
};

static const struct runner nature = { .name = "" };

/* git of /usr/bin/git, python of python3.11. */
static void plain_name(const char *command, char *ret, size_t size)
{
    const char *slash = strrchr(command, '/');
    size_t len;

    (void)snprintf(ret, size, "%s", slash ? slash + 1 : command);
    len = strlen(ret);
    while (len > 1 && strchr("0123456789.-", ret[len - 1]))
        ret[--len] = '\0';
}

const struct runner *runner_find(const char *command)
{
    char name[40];

    plain_name(command, name, sizeof(name));
    for (size_t i = 0; i < ARRAY_LEN(with_options); i++)
        if (strcmp(with_options[i].name, name) == 0)
            return &with_options[i];
    return is_one_of(name, by_nature) ? &nature : NULL;
}

static bool is_option(const char *const *options, const char *word)
{
    size_t len = strcspn(word, "=");

    for (; options && *options; options++) {
        bool is_long = (*options)[1] == '-';

        /* The value of a short one may follow at once; a long one may be cut short. */
        if (is_long ? len > 3 && strncmp(*options, word, len) == 0
                    : strncmp(*options, word, strlen(*options)) == 0)
            return true;
    }
    return false;
}

bool runner_names_program(const struct runner *r, const char *word, bool is_early)
{
    return is_option(r->options, word) || (is_early && is_option(r->early, word));
}

bool runner_takes_value(const struct runner *r, const char *word)
{
    return is_one_of(word, r->valued);
}

bool runner_leads(const struct runner *r, const char *word)
{
    return is_one_of(word, r->leads);
}

/* ---- variables ---- */

bool runner_variable(const char *name)
{
    static const char *const names[] = { "AWKLIBPATH",
                                         "AWKPATH",
                                         "BROWSER",
                                         "CC",
                                         "CLASSPATH",
                                         "COMPILER_PATH",
                                         "CPP",
                                         "CVS_RSH",
                                         "CXX",
                                         "DOCKER_HOST",
                                         "EDITOR",
                                         "EMACSLOADPATH",
                                         "EXINIT",
                                         "FCEDIT",
                                         "GCC_EXEC_PREFIX",
                                         "GCONV_PATH",
                                         "GLIBC_TUNABLES",
                                         "GNUMAKEFLAGS",
                                         "GOFLAGS",
                                         "HGEDITOR",
                                         "HGMERGE",
                                         "HGRCPATH",
                                         "HOME",
                                         "INPUTRC",
                                         "JAVA_TOOL_OPTIONS",
                                         "JDK_JAVA_OPTIONS",
                                         "LOCPATH",
                                         "MAKE",
                                         "MAKEFILES",
                                         "MAKEFLAGS",
                                         "MANOPT",
                                         "MANPAGER",
                                         "MORE",
                                         "MYVIMRC",
                                         "OPENSSL_CONF",
                                         "OPENSSL_ENGINES",
                                         "OPENSSL_MODULES",
                                         "PAGER",
                                         "PERLLIB",
                                         "PSQLRC",
                                         "PSQL_PAGER",
                                         "RUBYLIB",
                                         "RUBYOPT",
                                         "SSH_ASKPASS",
                                         "SUDO_ASKPASS",
                                         "SUDO_EDITOR",
                                         "SVN_EDITOR",
                                         "SVN_SSH",
                                         "SYSTEMD_EDITOR",
                                         "SYSTEMD_PAGER",
                                         "TAPE",
                                         "TAR_OPTIONS",
                                         "TCLLIBPATH",
                                         "UNZIP",
                                         "VIM",
                                         "VIMINIT",
                                         "VIMRUNTIME",
                                         "VISUAL",
                                         "WGETRC",
                                         "ZDOTDIR",
                                         "ZIPOPT",
                                         "_JAVA_OPTIONS",
                                         NULL };
    static const char *const prefixes[] = { "BUNDLE_", "CARGO_", "GEM_",  "LESS",  "LUA_",
                                            "NODE_",   "NPM_",   "PERL5", "PIP_",  "PYTEST_",
                                            "PYTHON",  "RSYNC_", "RUST",  "TEXMF", "XDG_",
                                            "npm_",    NULL };

    if (strncmp(name, "GIT_", 4) == 0)
        return !runner_is_harmless(name);
    return is_one_of(name, names) || begins_as_one_of(name, prefixes);
}

bool runner_is_harmless(const char *variable)
{
    static const char *const names[] = { "CI",       "CLICOLOR",      "CLICOLOR_FORCE",
                                         "COLUMNS",  "DEBUG",         "FORCE_COLOR",
                                         "LANG",     "LANGUAGE",      "LINES",
                                         "NO_COLOR", "QUOTING_STYLE", "SOURCE_DATE_EPOCH",
                                         "TERM",     "TMPDIR",        "TZ",
                                         NULL };
    static const char *const prefixes[] = { "GIT_AUTHOR_", "GIT_COMMITTER_", "LC_", NULL };

    return is_one_of(variable, names) || begins_as_one_of(variable, prefixes);
}

/* ---- those of a list ---- */

size_t runner_list(const json_t *commands, char *ret, size_t size)
{
    size_t len = 0, n = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < json_array_size(commands); i++) {
        const char *name = json_string_value(json_array_get(commands, i));

        if (!name || !runner_find(name))
            continue;
        if (len + strlen(name) + sizeof(", ...") > size)
            continue;
        len += (size_t)snprintf(ret + len, size - len, "%s%s", n ? ", " : "", name);
        n++;
    }
    return n;
}
