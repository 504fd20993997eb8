"""A hostile command in a shell that stays: it may spoil its session, and must not fool the engine, hold it up, or
touch the session beside it."""

import json
import os
import subprocess
import time

import pytest

from harness import LEVELS
from host import GLOVEBOX, user_names

# Whatever a frame of ours could look like, on every descriptor that there is.
FORGE = r"""
python3 - <<'END'
import json, os, struct
def frame(kind, **content):
    text = json.dumps(content).encode()
    return struct.pack('=IIQ', kind, len(text), 0) + text
lies = frame(2, exit_code=0, shell={'pid': 1, 'jobs': [{'pid': -1}], 'cwd': '/lie'}) + frame(48, copy=1)
report = b'[9]+ 1 Running  lie\n\0' + b'0123456789abcdef 0\0/lie\0'
paths = [f'/proc/{p}/fd/{n}' for p in os.listdir('/proc') if p.isdigit() for n in range(64)] if os.path.isdir('/proc/1') else []
for fd in [n for n in range(3, 256)] + paths:
    try:
        it = fd if isinstance(fd, int) else os.open(fd, os.O_WRONLY | os.O_NONBLOCK)
        os.set_blocking(it, False)
        os.write(it, lies)
        os.write(it, report)
    except OSError:
        pass
END
"""

# name -> (command, states that its session may be in afterwards; None: gone)
ATTACKS = {
    "forge_frames": (FORGE, {"intact", "new", None}),
    "forge_reports_in_bash": (
        "for i in {3..255}; do printf '\\0%s 0\\0/lie\\0' 0123456789abcdef >&$i; done 2>/dev/null; echo done", {"intact"}),
    "every_descriptor_closed": (
        "for i in {3..255}; do eval \"exec $i>&- $i<&-\"; done 2>/dev/null; echo", {"intact", "new", None}),
    "kill_the_guest": ("kill -9 $PPID; sleep 60", {None}),
    "stop_the_guest": ("kill -STOP $PPID; sleep 60", {None}),
    "signal_the_guest": (
        "for n in {1..64}; do [[ $n == 9 || $n == 19 ]] || kill -$n $PPID; done 2>/dev/null; echo", {"intact"}),
    "kill_everybody": ("kill -9 -1; sleep 60", {"new", None}),
    "trace_the_guest": (
        "head -c 16 /proc/$PPID/mem; ls -l /proc/$PPID/fd; cat /proc/$PPID/environ; echo", {"intact"}),
    "new_session_and_group": (
        "set +m; setsid bash -c 'setsid sleep 300 & setsid setsid sleep 300 & sleep 300' & sleep 60", {"intact"}),
    "fork_bomb": ("f() { f | f & }; f; sleep 60", {"intact", "new", None}),
    "leave_and_return": ("while :; do exec bash -c 'while :; do :; done'; done", {"new", None}),
    "ignore_all": (
        "for n in {1..64}; do trap '' $n; done 2>/dev/null; while :; do :; done", {"new", None}),
    "traps_without_end": (
        "for n in {1..64}; do trap 'while :; do :; done' $n; done 2>/dev/null; while :; do :; done", {"new", None}),
    "exit_trap_without_end": ("trap 'while :; do :; done' EXIT; exit 3", {"new", None}),
    "state_that_never_ends": ("declare -p() { :; }; printf() { while :; do :; done; }; compgen() { :; }; exit", {"intact", "new"}),
    "own_state_file": ("cd \"$__gb_dir\"; echo 'while :; do :; done' > state; echo \"#$__gb_mark\" >> state; "
                       "chmod 400 state; trap - EXIT; exit 3", {"intact", "new", None}),
    "files_replaced": ("cd \"$__gb_dir\"; rm -rf -- *; ln -s /etc/passwd step.so; ln -s /etc/passwd command; mkfifo state; exit", {"intact", "new", None}),
    "directory_replaced": ("rm -rf \"$__gb_dir\"; ln -s /usr \"$__gb_dir\"", {"intact", "new", None}),
    "here_document_bomb": (
        "x=$(head -c 1000000 /dev/zero | tr '\\0' x); for i in {1..2000}; do cat <<<\"$x$x$x\" >/dev/null; done", {"intact", "new", None}),
    "open_here_documents": ("cat " + " ".join(f"<<A{i}" for i in range(2000)), {"intact", "new", None}),
    "deep_expansion": ("x=" + "$(" * 2000 + "echo" + ")" * 2000, {"intact", "new", None}),
    "brace_bomb": ("echo {1..100000}{1..100000} | head -c 10", {"intact", "new", None}),
    "no_more_commands": ("set -n; echo", {"intact", "new", None}),
    "builtin_replaced": ("builtin() { :; }; enable -n printf eval; __gb() { :; }", {"intact", "new", None}),
    "builtin_unloaded": ("enable -d __gb", {"intact", "new", None}),
    "builtin_called": ("__gb", {"intact", "new", None}),
    "builtin_called_aside": ("( __gb ) & sleep 0.2; ( for i in 0 1 2; do __gb; done ) & echo", {"intact", "new", None}),
    "builtin_of_its_own": ("cd \"$__gb_dir\"; head -c $(stat -c %s step.so) /dev/urandom > x; mv x step.so; exit 3", {"intact", "new", None}),
    "builtin_fed": ("for i in /proc/$$/fd/{9,1}???; do exec {i##*/}<<<garbage; eval \"exec ${i##*/}<<<garbage\"; done", {"intact", "new", None}),
    "home_taken": ("for i in /proc/$$/fd/{9,1}???; do eval \"exec ${i##*/}</dev/zero\"; done; echo", {"intact", "new", None}),
    "startup_variables": (
        "export BASH_ENV=/workspace/x ENV=/workspace/x PROMPT_COMMAND='exit 9' LD_PRELOAD=/workspace/x.so; echo 'exit 9' > /workspace/x; bash -c :; exit 4",
        {"intact", "new", None}),
    "terminal_text": ("printf '\\033]0;title\\007\\033[2J\\033[6n\\033P+q544e\\033\\\\'", {"intact"}),
    "endless_output": ("yes & yes >&2 & yes", {"intact", "new", None}),
    "jobs_that_lie": ("jobs() { echo '[1]+ 1 Running  x'; echo '[2]+ -1 Running  y'; }; sleep 300 &", {"intact"}),
    "late_writers": ("for i in {1..50}; do (sleep 0.$i; while echo late; do :; done) & done; echo", {"intact", "new", None}),
}


# Those after which the same shell may need to be replaced first.
BROKEN = {"no_more_commands", "builtin_replaced", "builtin_unloaded", "builtin_called", "builtin_called_aside", "builtin_fed",
          "home_taken"}


# Makes the shell's parent its own child's, and that child deaf to what tells shells to stop.
SIBLING = """exec /usr/bin/python3 - <<'END'
import ctypes, signal, time
CLONE_PARENT = 0x8000
pid = ctypes.CDLL(None).syscall(56, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
if pid == 0:
    for n in (60, 61):
        signal.signal(n, signal.SIG_IGN)
    while True:
        open("alive", "a").write("x")
        time.sleep(0.05)
time.sleep(60)
END
"""


class Batch:
    def __init__(self, process):
        self.process = process

    def ask(self, **request):
        print(json.dumps({"kind": "shell", **request}), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


@pytest.fixture(params=[(user, level) for user in user_names() for level in LEVELS], ids="-".join)
def batch(request):
    user, level = request.param
    command = [GLOVEBOX, "batch", "--isolation", level, "--python", "/usr/bin/python3", "--memory", "256M", "-j", "4",
               "-t", "2", "-"]
    more = {"user": user, "group": user, "extra_groups": [], "cwd": "/"} if user not in ("root", None) and \
        os.getuid() == 0 else {}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, **more)
    try:
        yield Batch(process)
        process.stdin.close()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_command(batch, name):
    command, states = ATTACKS[name]
    assert batch.ask(session="beside", command="cd /tmp; X=safe; sleep 400 & P=$!")["status"] == "ok"
    assert batch.ask(session="bad", command="X=before")["status"] == "ok"
    began = time.monotonic()
    result = batch.ask(session="bad", command=command)
    took = time.monotonic() - began
    state = result["session"] and result["session"]["state"]
    assert state in states, (state, result["status"], result["error"], result["stderr"][-500:])
    assert took < 10, took
    assert "/lie" not in json.dumps(result["session"])
    assert all(job["pid"] > 1 for job in result.get("jobs", []))
    # Whatever it was, the next command is a command, if not of the same shell; and nobody else has felt it.
    after = batch.ask(session="bad", command="builtin echo here", timeout=5)
    if after["session"] and after["session"]["state"] == "new" or name in BROKEN:
        after = batch.ask(session="bad", command="echo here", timeout=5)
    assert after["stdout"] == "here\n" or after["status"] in ("failed", "timeout", "crashed"), after
    beside = batch.ask(session="beside", command="echo $X; pwd; kill -0 $P && echo runs")
    assert (beside["stdout"], beside["session"]["state"]) == ("safe\n/tmp\nruns\n", "intact"), beside


def test_a_sibling_of_the_shell_ends_with_its_command(batch):
    assert batch.ask(session="bad", command=SIBLING, timeout=1)["status"] == "timeout"
    first = batch.ask(session="bad", command="wc -c < alive")["stdout"]
    time.sleep(0.4)
    assert int(first) > 0 and batch.ask(session="bad", command="wc -c < alive")["stdout"] == first


def used_s(pid):
    """Processor time of everything below a process."""
    kids = [int(k) for task in os.listdir(f"/proc/{pid}/task")
            for k in open(f"/proc/{pid}/task/{task}/children").read().split()]
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(used_s, kids))


def test_what_is_no_pipe_is_not_waited_for(batch):
    """A folder is always ready to be read, and cannot be."""
    assert batch.ask(session="bad", command='for i in {2..9}; do mkdir "$__gb_dir"/{o,e}$i; done')["status"] in ("ok", "error")
    batch.ask(session="bad", command="echo")
    before = used_s(batch.process.pid)
    time.sleep(1)
    assert used_s(batch.process.pid) - before < 0.5
