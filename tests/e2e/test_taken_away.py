"""Each layer taken away while a box is made, by injection (inject.c): the call that makes it fails, or claims to have
worked and did nothing, or whoever makes it is killed. Then the run is refused, or its result does not name the layer:
never "named but not there". A program in the box looks, so that nobody is believed.

To add a layer: a fact of it in OBSERVER, and the calls that make it in CALLS."""
import json
import os
import platform
import socket

import pytest
from box import BUILD, PYTHON, glovebox, run_json

INJECT = BUILD / "tests/e2e/inject"
IS_ROOT = os.getuid() == 0
KINDS = ("user", "mnt", "net", "ipc", "uts")
POLL = "poll" if platform.machine() == "x86_64" else "ppoll"  # what init waits in

# What a program sees of each layer, so that two boxes can be compared. Facts that no layer is named after are under "".
OBSERVER = """
import ctypes, errno, fcntl, os, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
HOST = %(host)r

def failure(call, *args):
    try:
        call(*args)
    except OSError as e:
        return errno.errorcode[e.errno]

def is_own(kind):
    try:
        return os.stat("/proc/self/ns/" + kind).st_ino != HOST["namespaces"][kind]
    except OSError:
        return None

def read(path):
    with open(path) as f:
        return f.read()

def mounts():
    try:
        lines = read("/proc/self/mounts").splitlines()
    except OSError:
        return None
    return sorted((line.split()[1], line.split()[3].split(",")[0]) for line in lines)

def capabilities():
    head, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    return libc.capget(head, data), *data

def reach():
    with socket.socket() as s:
        s.settimeout(5)
        s.connect(HOST["listener"])

def unshare():
    if libc.unshare(0) < 0:
        raise OSError(ctypes.get_errno(), "")

def is_open(fd):
    return failure(fcntl.fcntl, fd, fcntl.F_GETFD) is None

def size(path):
    v = os.statvfs(path)
    return v.f_blocks * v.f_frsize, v.f_files

RLIMITS = [r for r in dir(resource) if r.startswith("RLIMIT_") and r != "RLIMIT_NPROC"]
print("ran")
{
    "user": (is_own("user"), os.getresuid() == (1000,) * 3 if is_own("user") else None),
    "mount": (is_own("mnt"), mounts(), failure(read, HOST["secret"]), failure(open, "/usr/x", "w"),
              os.path.samefile("/", "/.."), is_own("mnt") and size("/tmp")),
    "pid": os.getppid() == 1,
    "net": (is_own("net"), failure(reach) is not None),
    "ipc": is_own("ipc"),
    "uts": (is_own("uts"), os.uname().nodename == HOST["name"]),
    "seccomp": (libc.prctl(21), failure(unshare)),
    "landlock": (failure(os.open, "/proc/self/comm", os.O_WRONLY), failure(read, HOST["secret"])),
    "nnp": libc.prctl(39, 0, 0, 0, 0),
    "caps": capabilities(),
    "rlimits": ([resource.getrlimit(getattr(resource, r)) for r in RLIMITS],
                resource.getrlimit(resource.RLIMIT_NPROC)[1] < 10000),
    "": (0 in os.getresuid() + os.getresgid() + tuple(os.getgroups()), os.getsid(0) == os.getpid(),
         [fd for fd in range(256) if is_open(fd)], libc.prctl(3), failure(reach) is not None,
         failure(read, HOST["secret"]), failure(os.kill, 1, 0)),
}
"""


class Host:
    """What must not be reached, and a program that tries."""

    def __init__(self, folder):
        folder.chmod(0o755)
        self.secret = folder / "secret"
        self.secret.write_text("secret")
        self.counts = folder / "counts"
        self.listener = socket.create_server(("127.0.0.1", 0))
        about = {"secret": str(self.secret), "listener": self.listener.getsockname(), "name": os.uname().nodename,
                 "namespaces": {k: os.stat(f"/proc/self/ns/{k}").st_ino for k in KINDS}}
        self.code = OBSERVER % {"host": about}

    def inject(self, *rules):
        """The words that run a command with these faults. In a pid namespace of its own: a box that lacks what bounds
        the signals of its init would else end everything."""
        user = () if IS_ROOT else ("--user", "--map-current-user")
        return ["unshare", *user, "--pid", "--fork", "--kill-child", "--mount-proc", str(INJECT), "-o",
                str(self.counts), *rules, "--"]

    def applied(self):
        """How often each rule did; and nothing may be left of the command."""
        *counts, left = map(int, self.counts.read_text().split())
        assert left == 0
        return counts

    def look(self, level, *rules, options=()):
        """The result of looking, and how often each rule applied."""
        result = run_json(self.code, "--python", PYTHON, "--cpu", 50, "--isolation", level, *options,
                          before=self.inject(*rules))
        return result, self.applied()


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    it = Host(tmp_path_factory.mktemp("host"))
    yield it
    it.listener.close()


@pytest.fixture(scope="module")
def whole(host):
    """What is seen in a box from which nothing was taken, by level."""
    seen = {}
    for level in ("namespaces", "landlock", "process"):
        result, _ = host.look(level, options=("--acknowledge-unsafe", "--policy", "off"))
        assert result["status"] == "ok", result["error"]
        seen[level] = result
    return seen


@pytest.mark.parametrize("level, layers", [
    ("namespaces", "user mount pid net ipc uts seccomp landlock"),
    ("landlock", "seccomp landlock"),
])
def test_the_program_sees_each_layer(whole, level, layers):
    """What is compared below differs from what there is without the layer, or could not fail."""
    boxed, bare = whole[level]["value"], whole["process"]["value"]
    assert set(layers.split()) <= set(whole[level]["isolation"]["layers"])
    for layer in layers.split():
        assert boxed[layer] != bare[layer], layer
    assert boxed["nnp"] == 1 and boxed["caps"] == [0] * 7
    assert set(whole[level]["isolation"]["layers"]) - {"watcher", "cgroup"} <= set(boxed)


def judge(result, whole):
    """Refused, and nothing ran; or all that is named is as it is in a box from which nothing was taken."""
    if result["status"] == "failed":
        assert result["stdout"] == "" and result["isolation"] is None and result["error"]["message"], result
        return "refused"
    if result["status"] == "error" and result["stdout"] == "" and result["error"]["type"] == "PermissionError":
        return "less"  # it may do less than it should, and could not even look
    assert result["status"] == "ok", (result["status"], result["error"], result["stderr"])
    level = result["isolation"]["level"]
    for layer in [*result["isolation"]["layers"], ""]:
        if layer not in ("watcher", "cgroup"):
            assert result["value"][layer] == whole[level]["value"][layer], f"'{layer}' is named, and it is not so"
    return "whole"


# ---- system calls ----

BOTH, NAMESPACES, LANDLOCK = ("namespaces", "landlock"), ("namespaces",), ("landlock",)
NEW = {"mount": 0x20000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}
# Those that a box is given, by the kernel's numbers.
RLIMIT_NUMBERS = {"cpu": 0, "fsize": 1, "data": 2, "stack": 3, "core": 4, "nproc": 6, "nofile": 7, "memlock": 8,
                  "sigpending": 11, "msgqueue": 12}
GUEST, INIT = "by=glovebox-guest", "by=glovebox-init"

# What makes each layer: a call, levels, and who else must be true. Each fails in every way of FAULTS.
CALLS = [
    *[(f"clone:0&{flag:#x}", NAMESPACES) for flag in NEW.values()],
    ("openat:1@uid_map", NAMESPACES), ("openat:1@gid_map", NAMESPACES),
    ("openat:1@setgroups", NAMESPACES, "user"),
    (f"mount:{INIT}", NAMESPACES), (f"open_tree:{INIT}", NAMESPACES), (f"mount_setattr:{INIT}", NAMESPACES),
    (f"mount_setattr:{INIT}:nth=1", NAMESPACES), (f"mount_setattr:{INIT}:nth=2", NAMESPACES),
    (f"fsopen:{INIT}:0@tmpfs", NAMESPACES), (f"fsopen:{INIT}:0@proc", NAMESPACES),
    (f"fsopen:{INIT}:0@devpts", NAMESPACES), (f"fsconfig:{INIT}:2@size", NAMESPACES),
    (f"fsconfig:{INIT}:2@nr_inodes", NAMESPACES), (f"fsmount:{INIT}", NAMESPACES),
    *[(f"move_mount:{INIT}:nth={n}", NAMESPACES) for n in (1, 2)],
    *[(f"move_mount:{INIT}:3@{where}", NAMESPACES) for where in ("proc", "workspace", "dev/pts")],
    (f"pivot_root:{INIT}", NAMESPACES), (f"umount2:{INIT}", NAMESPACES), (f"fchdir:{INIT}", NAMESPACES),
    (f"sethostname:{INIT}", NAMESPACES), (f"ioctl:{INIT}:1=0x8914", NAMESPACES),
    *[(f"{call}:{who}", NAMESPACES, "root") for call in ("setgroups", "setresgid", "setresuid")
      for who in (GUEST, INIT)],
    *[(f"{call}:{GUEST}", LANDLOCK, "root") for call in ("setgroups", "setresgid", "setresuid")],
    (f"capset:{GUEST}", BOTH), (f"capset:{INIT}", NAMESPACES), ("capset:by=glovebox-zygote", NAMESPACES),
    ("prctl:0=24:by=glovebox-zygote", NAMESPACES),                       # PR_CAPBSET_DROP
    ("prctl:0=24:by=glovebox-zygote:from=22", NAMESPACES),               # the one that matters most, and those after it
    (f"prctl:0=38:{GUEST}", BOTH), (f"prctl:0=38:{INIT}", NAMESPACES),    # PR_SET_NO_NEW_PRIVS
    (f"prctl:0=47:{GUEST}", BOTH), ("prctl:0=47:by=glovebox-zygote", NAMESPACES),  # PR_CAP_AMBIENT
    (f"prctl:0=22:{GUEST}", BOTH), (f"prctl:0=22:{INIT}", BOTH),          # PR_SET_SECCOMP
    (f"prctl:0=4:{INIT}", BOTH),                                         # PR_SET_DUMPABLE
    (f"prctl:0=1:{GUEST}", LANDLOCK), ("prctl:0=36:box", LANDLOCK),       # PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER
    (f"landlock_create_ruleset:{GUEST}", BOTH), (f"landlock_add_rule:{GUEST}", BOTH),
    (f"landlock_restrict_self:{GUEST}", BOTH), ("landlock_restrict_self:by=glovebox-zygote", LANDLOCK),
    ("landlock_create_ruleset:by=glovebox-zygote", LANDLOCK),
    *[(f"prlimit64:{GUEST}:1={number}:2&-1", BOTH) for number in RLIMIT_NUMBERS.values()],
    (f"close_range:{GUEST}", BOTH), (f"setsid:{GUEST}", BOTH), ("close_range:by=glovebox-zygote", BOTH),
    # What init and guest are made with and wait by.
    ("clone:by=glovebox-zygote", BOTH), ("execveat:box", BOTH),
    (f"signalfd4:{INIT}", BOTH), (f"mmap:{INIT}", BOTH),
    (f"openat:{INIT}", NAMESPACES), (f"mkdir:{INIT}", LANDLOCK),
]
FAULTS = ("err=EPERM", "err=EINVAL", "err=ENOSYS", "err=ENOMEM", "ret=0", "kill")


def rows():
    """A call with a fault each; those by which more than one errno would only be the same again get one of them."""
    for number, (call, levels, *who) in enumerate(CALLS):
        if who and who[0] != ("root" if IS_ROOT else "user"):
            continue
        for level in levels:
            yield pytest.param(level, f"{call}:{FAULTS[number % 4]}", id=f"{level}-{call}-{FAULTS[number % 4]}")
            yield pytest.param(level, f"{call}:ret=0", id=f"{level}-{call}-pretends")


@pytest.mark.parametrize("level, rule", list(rows()))
def test_refused_or_not_named(host, whole, level, rule):
    result, (applied,) = host.look(level, rule)
    assert applied > 0, "nothing makes this call any more: is there another that does?"
    judge(result, whole)


def test_the_ids_are_not_mapped(host, whole):
    result, (applied,) = host.look("namespaces", "write:1@1000 :ret=@2")
    assert applied > 0 and judge(result, whole) == "refused"


@pytest.mark.parametrize("layer", NEW)
def test_without_a_namespace(host, whole, layer):
    """The kernel made all of them but one, and said nothing."""
    result, (applied,) = host.look("namespaces", f"clone:0&{NEW[layer]:#x}:clear={NEW[layer]:#x}")
    assert applied > 0 and judge(result, whole) == "refused"


# ---- where an engine makes many boxes: network namespaces are handed on, the root has a common part ----

@pytest.mark.parametrize("rule", [
    "setns:1=0x40000000:ret=0", "setns:1=0x40000000:err=EPERM", "setns:nth=2:ret=0",
    "seccomp:0=1:err=EINVAL", "mount_setattr:nth=3:ret=0",
    *(["open_tree:2&0x1000:ret=0"] if IS_ROOT else ["unshare:0&0x10000000:err=EPERM", "unshare:0&0x10000000:ret=0"]),
])
def test_what_boxes_hand_on(host, whole, rule):
    lines = '{"code": ""}\n' * 8 + "".join(json.dumps({"code": host.code}) + "\n" for _ in range(2))
    done = glovebox("batch", "--python", PYTHON, "--cpu", 50, "--isolation", "namespaces", "-",
                    input=lines, before=host.inject(rule))
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert host.applied()[0] > 0 and len(results) == 10, done.stderr
    for result in results[-2:]:
        judge(result, whole)


# ---- whoever makes a box, or watches it, is killed ----

@pytest.mark.parametrize("level", BOTH)
@pytest.mark.parametrize("rule", [
    f"prctl:0=22:{INIT}:kill", f"prctl:0=4:{INIT}:kill", f"signalfd4:{INIT}:kill", "execveat:box:kill",
    f"setsid:{GUEST}:kill", f"landlock_restrict_self:{GUEST}:kill", f"prctl:0=22:{GUEST}:kill",
    f"sendmsg:{GUEST}:kill", f"sendmsg:{GUEST}:err=ENOMEM",
])
def test_killed_before_the_box_is_ready(host, whole, level, rule):
    """The engine tries again a few times, and then refuses."""
    result, (applied,) = host.look(level, rule)
    assert applied > 0 and judge(result, whole) == "refused"


@pytest.mark.parametrize("level", BOTH)
@pytest.mark.parametrize("rule, status", [
    (f"{POLL}:{INIT}:from=2:kill", "crashed"), (f"{POLL}:{INIT}:from=2:err=EINVAL", "crashed"),
    (f"{POLL}:{INIT}:from=2:stop", "timeout"),
])
def test_lost_while_a_program_runs(host, level, rule, status):
    """Its program goes with init, or, if init only hangs, at the end of its time."""
    is_alone = level == "landlock" and rule.endswith("kill")  # a known gap: the others live on
    code = f"import os, time\nif {not is_alone} and os.fork() == 0: os.setsid()\nprint('ran', flush=True)\n" \
        "time.sleep(60)"
    result = run_json(code, "--python", PYTHON, "--isolation", level, "--timeout", 2, before=host.inject(rule))
    assert (host.applied()[0] > 0, result["status"]) == (True, status), result["error"]


# ---- the doctor ----

@pytest.mark.parametrize("rule, layer", [
    *[(f"unshare:0&{NEW[layer]:#x}:err=ENOSPC", layer) for layer in NEW],
    *[(f"unshare:0&{NEW[layer]:#x}:ret=0", layer) for layer in ("mount", "net", "ipc", "uts", "user")],
    ("prctl:0=22:ret=0", "seccomp"), ("prctl:0=22:err=EINVAL", "seccomp"),
    ("landlock_restrict_self:ret=0", "landlock"), ("landlock_restrict_self:err=EPERM", "landlock"),
    ("landlock_create_ruleset:err=EOPNOTSUPP", "landlock"), ("landlock_create_ruleset:2=0:err=ENOMEM", "landlock"),
    ("prctl:0=38:ret=0", "nnp"), ("capset:err=EPERM", "caps"), *([("capset:ret=0", "caps")] if IS_ROOT else []),
    ("prlimit64:2&-1:ret=0", "rlimits"), ("prlimit64:1=4:err=EPERM", "rlimits"),
])
def test_the_doctor_names_what_is_missing(host, rule, layer):
    done = glovebox("doctor", "--json", "--python", PYTHON, before=host.inject(rule))
    report = json.loads(done.stdout)
    missing = {it["name"]: it for it in report["layers"] if not it["ok"]}
    assert host.applied()[0] > 0 and layer in missing, done.stdout
    assert missing[layer]["cause"]


# ---- the watcher ----

GREEDY = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        break
b = bytearray(40 << 20)
time.sleep(60)
"""


@pytest.mark.parametrize("level, rule", [
    *[(level, f"{rule}:{INIT}:err=ENOMEM") for level in BOTH for rule in ("getdents64", "mmap:from=2")],
    # A user's tracer cannot read the memory of an init that hides and is in no user namespace of its own.
    *[(level, f"openat:1@{path}:{INIT}:err={error}") for level in (BOTH if IS_ROOT else NAMESPACES)
      for path, error in (("/status", "ENOMEM"), ("/smaps_rollup", "EACCES"))],
    *[("landlock", f"openat:1@/children:{INIT}:err={error}") for error in ("ENOENT", "EMFILE") if IS_ROOT],
    ("namespaces", f"openat:1@.:2&0x10000:{INIT}:err=EMFILE"),
])
def test_a_blind_watcher_ends_its_box(host, level, rule):
    """Four processes that each stay below what one of them may have: only the watcher can stop that."""
    result = run_json(GREEDY, "--python", PYTHON, "--isolation", level, "--memory", "64M", "--timeout", 20,
                      before=host.inject(rule))
    assert host.applied()[0] > 0
    assert (result["status"], result["limit"]) in (("failed", None), ("limit", "memory")), result["error"]
