/*
 * What this host allows. Each layer is tried on its own in a child process; when the kernel says
 * no, the usual reasons are looked up in the order in which they are usually to blame. Then a box
 * is made for real and a program inside it tries what it must not be able to do.
 */
#include "engine/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "engine/job.h"
#include "sandbox/cgroup.h"
#include "sandbox/landlock.h"
#include "sandbox/seal.h"
#include "sandbox/verify.h"
#include "sandbox/watch.h"
#include "selftest_py.h"

/* ---- probes: 0, or the errno that the kernel gave; each runs in a child of its own ---- */

enum {
    NOT_SO = 4096 /* no errno: it agreed, and did not do it */
};

static int outcome(int r, const struct gb_err *err)
{
    return r == 0 ? 0 : err->sys != 0 ? err->sys : NOT_SO;
}

static int probe_namespaces(int flags)
{
    auto_close int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    auto_free struct plan *plan = calloc(1, sizeof(*plan));
    struct gb_err err;

    if (proc < 0 || !plan)
        return errno;
    verify_note_host(plan);
    if (unshare(CLONE_NEWUSER | flags) < 0)
        return errno;
    /* Of the pid namespace only its children would be. */
    plan->namespaces = (uint64_t)(CLONE_NEWUSER | (flags & ~CLONE_NEWPID));
    return outcome(verify_namespaces(plan, proc, &err), &err);
}

static int probe_user(void)
{
    return probe_namespaces(0);
}

static int probe_mount(void)
{
    int e = probe_namespaces(CLONE_NEWNS);

    if (e == 0 && (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
                   mount("tmpfs", "/tmp", "tmpfs", 0, NULL) < 0))
        e = errno;
    return e;
}

static int probe_pid(void)
{
    return probe_namespaces(CLONE_NEWPID);
}

static int probe_net(void)
{
    return probe_namespaces(CLONE_NEWNET);
}

static int probe_ipc(void)
{
    return probe_namespaces(CLONE_NEWIPC);
}

static int probe_uts(void)
{
    return probe_namespaces(CLONE_NEWUTS);
}

/* A filter that leaves what the probe still needs, and what a sanitizer asks before _exit(). */
static int probe_seccomp(void)
{
    static const int calls[] = { SYS_write, SYS_close, SYS_munmap, SYS_sigaltstack,
                                 SYS_exit_group };
    const struct seal_allowed allowed = { calls, ARRAY_LEN(calls), NULL, 0 };
    struct gb_err err;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return errno;
    return outcome(seal_calls(&allowed, &err), &err);
}

/* A domain in which nothing can be opened. */
static int probe_landlock(void)
{
    auto_free struct plan *plan = calloc(1, sizeof(*plan));
    struct gb_err err;
    int e;

    if (!plan)
        return ENOMEM;
    plan->landlock_abi = landlock_abi(&e);
    if (plan->landlock_abi == 0)
        return e;
    plan->landlock_fs = landlock_all_fs(plan->landlock_abi);
    plan->workdir = "/tmp";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return errno;
    return outcome(landlock_apply(plan, &err), &err);
}

static int probe_caps(void)
{
    struct gb_err err;

    return outcome(seal_privileges(&err), &err);
}

static int probe_rlimits(void)
{
    auto_free struct plan *plan = calloc(1, sizeof(*plan));
    struct gb_err err;

    if (!plan)
        return ENOMEM;
    plan->level = LEVEL_NAMESPACES;
    plan->rlimits[plan->n_rlimits++] = (struct plan_rlimit){ RLIMIT_CORE, 0 };
    return outcome(seal_rlimits(plan, &err), &err);
}

static int probe_nnp(void)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return errno;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : NOT_SO;
}

static int probe_watcher(void)
{
    return watch_can_see() ? 0 : ENOENT;
}

/* ---- causes ---- */

static long sysctl_value(const char *path)
{
    char text[32];

    return fd_slurp_at(-1, path, text, sizeof(text) - 1) <= 0 ? -1 : strtol(text, NULL, 10);
}

static bool is_filtered(void)
{
    char text[4096];

    return fd_slurp_at(-1, "/proc/self/status", text, sizeof(text) - 1) > 0 &&
           strstr(text, "\nSeccomp:\t2") != NULL;
}

struct cause {
    const char *why;
    const char *fix;
};

static struct cause userns_cause(int e)
{
    if (sysctl_value("/proc/sys/user/max_user_namespaces") == 0)
        return (struct cause){ "user.max_user_namespaces is 0",
                               "sudo sysctl -w user.max_user_namespaces=15000" };
    if (sysctl_value("/proc/sys/kernel/unprivileged_userns_clone") == 0)
        return (struct cause){ "kernel.unprivileged_userns_clone is 0",
                               "sudo sysctl -w kernel.unprivileged_userns_clone=1" };
    if (sysctl_value("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
        return (struct cause){ "AppArmor restricts user namespaces of ordinary users",
                               "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" };
    if (is_filtered())
        return (struct cause){ "a seccomp filter on this process refuses it, as a container's "
                               "default profile does",
                               "docker run --security-opt seccomp=unconfined ..." };
    if (e == EUSERS || e == ENOSPC)
        return (struct cause){ "too many user namespaces exist or are nested",
                               "sudo sysctl -w user.max_user_namespaces=15000" };
    return (struct cause){ "the kernel or a security module refuses it", "" };
}

static struct cause landlock_cause(int e)
{
    if (e == EOPNOTSUPP)
        return (struct cause){ "Landlock is built in but not enabled",
                               "add lsm=landlock,... to the kernel command line and reboot" };
    if (is_filtered())
        return (struct cause){ "a seccomp filter on this process hides it",
                               "docker run --security-opt seccomp=unconfined ..." };
    return (struct cause){ "this kernel has no Landlock (5.13 or newer has)", "" };
}

static struct cause watcher_cause(int e)
{
    (void)e;
    if (access("/proc/self/task", R_OK) < 0)
        return (struct cause){ "/proc is not mounted", "mount -t proc proc /proc" };
    return (struct cause){ "this kernel has no /proc/PID/task/TID/children",
                           "use a kernel with CONFIG_PROC_CHILDREN" };
}

static struct cause other_cause(int e)
{
    (void)e;
    return (struct cause){ "the kernel refuses it", "" };
}

/* ---- layers ---- */

static const struct {
    const char *name;
    const char *detail;
    int (*probe)(void);
    struct cause (*cause)(int e);
} layers[] = {
    { "user", "a user of its own, without rights on the host", probe_user, userns_cause },
    { "mount", "a private root", probe_mount, userns_cause },
    { "pid", "its own processes only", probe_pid, userns_cause },
    { "net", "its own network, with loopback only", probe_net, userns_cause },
    { "ipc", "its own shared memory and queues", probe_ipc, userns_cause },
    { "uts", "its own host name", probe_uts, userns_cause },
    { "seccomp", "an allow-list of system calls", probe_seccomp, other_cause },
    { "landlock", "files, signals and sockets a second time", probe_landlock, landlock_cause },
    { "nnp", "no new privileges", probe_nnp, other_cause },
    { "caps", "no capability", probe_caps, other_cause },
    { "rlimits", "forks, files, descriptors, memory of one process", probe_rlimits, other_cause },
    { "watcher", "memory and processor time of a whole box", probe_watcher, watcher_cause },
};

/* A probe changes the process that runs it, so a child does. Returns its errno. It answers through
 * a pipe: a program that ignores SIGCHLD has no exit statuses. */
static int in_child(int (*probe)(void))
{
    auto_close int ours = -1, theirs = -1;
    int fds[2], e = EPERM; /* a filter may also kill */
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return errno;
    ours = fds[0];
    theirs = fds[1];
    pid = fork();
    if (pid < 0)
        return errno;
    if (pid == 0) {
        e = probe();
        _exit(fd_write_all(theirs, &e, sizeof(e)) < 0);
    }
    (void)close(take_fd(&theirs));
    (void)fd_read_all(ours, &e, sizeof(e));
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return e;
}

static json_t *layer_json(size_t i)
{
    int e = in_child(layers[i].probe);
    json_t *json = json_pack("{s:s,s:b,s:s}", "name", layers[i].name, "ok", e == 0, "detail",
                             layers[i].detail);

    if (e != 0) {
        static const struct cause not_so = {
            "the kernel agrees, and does not do it: something answers for it (a tracer, a seccomp "
            "filter, an emulator)",
            ""
        };
        struct cause cause = e == NOT_SO ? not_so : layers[i].cause(e);
        json_object_set_new(json, "cause",
                            e == NOT_SO ? json_string(cause.why)
                                        : json_sprintf("%s (%s)", cause.why, strerrordesc_np(e)));
        json_object_set_new(json, "fix", cause.fix[0] ? json_string(cause.fix) : json_null());
    } else if (layers[i].probe == probe_landlock) {
        uint32_t abi = landlock_abi(&e);
        json_object_set_new(
            json, "detail",
            json_sprintf("%s (ABI %u; isolation 'landlock' needs 6)", layers[i].detail, abi));
    }
    return json;
}

static json_t *layers_json(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ARRAY_LEN(layers); i++)
        json_array_append_new(list, layer_json(i));
    return list;
}

/* ---- control groups ---- */

/* Is there one, is it used, and how does one get it? No box needs it. */
static json_t *cgroup_json(const char *configured)
{
    struct cgroups used;
    struct gb_err err = { 0 };
    bool is_used = cgroups_open(configured, &used, &err) == 0 && used.n > 0;
    const char *version = is_used ? cgroups_version(&used) : NULL;
    bool is_there = is_used || cgroups_try(&version, &err) == 0;
    json_t *json = json_pack(
        "{s:b,s:b,s:s?,s:s}", "ok", is_there, "used", is_used, "version", version, "detail",
        is_used ? "every box has one" : "not used: rlimits and the watcher hold the limits");

    cgroups_close(&used);
    if (is_used)
        return json;
    if (is_there) {
        gb_err_set(&err, GB_OK, 0, "this kind is used only where it is asked for");
        gb_err_hint(&err, "glovebox ... --cgroup " CGROUP_AUTO);
    }
    json_object_set_new(json, "cause", json_string(err.msg));
    json_object_set_new(json, "fix", err.hint[0] ? json_string(err.hint) : json_null());
    return json;
}

/* ---- the self-test ---- */

/* Who hears of a box's crash: on Linux 6.16 and later a socket does, whatever the limit on
 * cores. */
static json_t *cores_json(void)
{
    char pattern[256];
    ssize_t n =
        fd_slurp_at(AT_FDCWD, "/proc/sys/kernel/core_pattern", pattern, sizeof(pattern) - 1);
    bool is_socket = n > 0 && pattern[0] == '@';

    if (n > 0)
        pattern[strcspn(pattern, "\n")] = '\0';
    return json_pack(
        "{s:b,s:s,s:s,s:s}", "ok", !is_socket, "detail", n > 0 ? pattern : "", "cause",
        is_socket ? "kernel.core_pattern is a socket: it is called when a program in a box "
                    "crashes, and told its name and registers, though not its memory"
                  : "",
        "fix", is_socket ? "sysctl kernel.core_pattern=core, or a handler that is a pipe" : "");
}

static json_t *self_test(struct gb_engine *engine)
{
    auto_json json_t *request =
        json_pack("{s:s,s:s}", "code", selftest_text, "filename", "selftest.py");
    auto_free char *text = json_text(request);
    auto_free char *result = text ? gb_run(engine, text) : NULL;

    return result ? json_loads(result, JSON_ALLOW_NUL, NULL) : NULL;
}

static bool all_held(const json_t *attempts)
{
    for (size_t i = 0; i < json_array_size(attempts); i++)
        if (!json_is_true(json_object_get(json_array_get(attempts, i), "held")))
            return false;
    return json_array_size(attempts) > 0;
}

static json_t *about_python(const struct gb_engine *engine)
{
    const json_t *info = engine->backend->ops->about(engine->backend);
    const char *executable = json_string_value(json_object_get(info, "executable"));
    const char *version = json_string_value(json_object_get(info, "version"));

    return json_pack("{s:s?,s:s?}", "executable", executable, "version", version);
}

char *doctor_report(struct gb_engine *engine)
{
    auto_json json_t *result = self_test(engine);
    json_t *attempts = json_object_get(result, "value");
    json_t *error = json_object_get(result, "error");
    const char *level =
        json_string_value(json_object_get(json_object_get(result, "isolation"), "level"));
    struct utsname host = { 0 };
    auto_json json_t *report = NULL;

    (void)uname(&host);
    report = json_pack(
        "{s:b,s:s,s:s,s:i,s:s?,s:O?,s:o,s:o,s:o,s:o,s:O,s:O?}", "ok", all_held(attempts), "version",
        gb_version(), "kernel", host.release, "uid", (int)getuid(), "level", level, "isolation",
        json_object_get(result, "isolation"), "layers", layers_json(), "cgroup",
        cgroup_json(engine->config.cgroup), "cores", cores_json(), "python", about_python(engine),
        "self_test", json_is_array(attempts) ? attempts : json_object_get(result, "outputs"),
        "error", error);
    return json_text(report);
}
