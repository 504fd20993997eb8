"""`glovebox shell` and requests of the kind "shell". Numbers are those of the intents in the reference (parts C9 to C18,
447 to 457); test_shell_sessions.py, test_mcp_sessions.py and the unit tests have the others. Those that are nobody's here:
modes, and objects that are started and closed (270, 272, 285, 300, 368, 387 to 389, 392); Windows (275, 329, 333); no time
limit at all (280: a week is the most); PowerShell that stays (288 and 293: only bash does); classes of a Python package and
of what drives it (361, 366, 367, 369 to 374, 386, 401, 423); containers (375 to 385, 390, 391, 393 to 400, 402, 403, 411,
458); answers that are remembered, and exceptions (416, 420, 429)."""
import json
import os
import re
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from box import (GLOVEBOX, RESULT_KEYS, SANITIZED, Terminal, batch, compile_c, glovebox, run_program, running,
                 until)
from test_sessions import engine

LEVELS = ["namespaces", "landlock"]


def shell_json(command, *options, **kwargs):
    """The result of `glovebox shell --json`."""
    args, dashes, rest = tuple(map(str, options)), (), ()
    if "--" in args:
        at = args.index("--")
        args, dashes, rest = args[:at], ("--",), args[at + 1:]
    done = glovebox("shell", "--json", *args, "-c", command, *dashes, *rest, **kwargs)
    assert done.stdout, f"no result; exit {done.returncode}, stderr: {done.stderr}"
    result = json.loads(done.stdout)
    assert done.returncode == result["exit_code"], done.stderr
    return result


def out(command, *options, **kwargs):
    """What a command that must work prints."""
    result = shell_json(command, *options, **kwargs)
    assert result["status"] == "ok", (result["error"], result["findings"], result["stderr"])
    return result["stdout"]


# ---- a command and its end ----

@pytest.mark.parametrize("level", LEVELS)
def test_a_command(level):
    """264, 276, 284: output of both streams, exit 0."""
    result = shell_json("echo hello; echo oops >&2", "--isolation", level)
    assert (result["status"], result["stdout"], result["stderr"]) == ("ok", "hello\n", "oops\n")
    assert RESULT_KEYS <= set(result)
    assert (result["value"], result["has_value"], result["survivors"], result["error"]) == (None, False, [], None)
    assert result["isolation"]["level"] == level
    assert result["policy"] == "off"


@pytest.mark.parametrize("command, code", [("exit 7", 7), ("(exit 7)", 7), ("false", 1), ("nosuch", 127), ("/etc", 126)])
def test_the_status_is_the_shells(command, code):
    """265, 278"""
    result = shell_json(command)
    assert (result["status"], result["exit_code"], result["error"]["type"]) == ("error", code, "exit")
    assert glovebox("shell", "-c", command).returncode == code


def test_a_signal_is_a_crash():
    result = shell_json("kill -SEGV $$")
    assert (result["status"], result["exit_code"]) == ("crashed", 139)


@pytest.mark.parametrize("level", LEVELS)
def test_timeout(level):
    """266, 279: 124, and what it had printed."""
    began = time.monotonic()
    result = shell_json("echo before; sleep 60; echo after", "-t", 0.5, "--isolation", level)
    assert time.monotonic() - began < 5
    assert (result["status"], result["exit_code"], result["stdout"]) == ("timeout", 124, "before\n")
    assert [s["command"] for s in result["survivors"]] == ["sleep"]


@pytest.mark.parametrize("command", ["trap '' INT TERM HUP; sleep 60", "trap '' 63; while :; do :; done",
                                     "exec sleep 60", "(trap '' INT; sleep 60) & wait",
                                     "(setsid sh -c 'trap \"\" TERM; while :; do echo x; done' &); sleep 60"])
def test_nothing_outlasts_its_time(command):
    """274, 454: also what keeps the pipes open, and goes on writing."""
    began = time.monotonic()
    assert shell_json(command, "-t", 0.5)["exit_code"] == 124
    assert time.monotonic() - began < 5


def test_explain_runs_nothing():
    done = glovebox("shell", "--explain", "-c", "echo ran")
    assert done.returncode == 0 and json.loads(done.stdout)["level"] == "namespaces"
    assert json.loads(done.stdout)["timeout_ms"] == 30000  # 281


@pytest.mark.parametrize("level", LEVELS)
def test_what_it_leaves_is_named_and_ended(level):
    """447: it ends with the shell, not with the pipe."""
    began = time.monotonic()
    mark = f"6{os.getpid()}"
    result = shell_json(f"sleep {mark} & (setsid sleep {mark} &) ; echo hi", "--isolation", level)
    assert time.monotonic() - began < (20 if SANITIZED else 5)
    assert (result["status"], result["stdout"]) == ("ok", "hi\n")
    assert len(result["survivors"]) == 2
    assert {s["command"] for s in result["survivors"]} <= {"sleep", "setsid", "bash"}
    assert all(isinstance(s["pid"], int) for s in result["survivors"])
    assert until(lambda: not any(f"sleep\0{mark}" in cmdline() for cmdline in cmdlines()))


def test_nobody_waits_for_what_it_leaves():
    """447: in less than 100 ms from an engine that is there, with one survivor named."""
    def once(e):
        began = time.monotonic()
        result = e.ask({"kind": "shell", "command": "sleep 600 & echo hi"})
        took = time.monotonic() - began
        assert (result["status"], result["stdout"]) == ("ok", "hi\n")
        assert len(result["survivors"]) == 1 and result["survivors"][0]["command"] in ("sleep", "bash")
        return took

    for level in LEVELS:
        with engine(level, "-j", "2") as e:
            once(e)
            assert min(once(e) for _ in range(5)) < (1 if SANITIZED else 0.1)  # the best: others use the machine too


def test_survivors_are_named_on_a_busy_machine():
    """An order can reach the box's first process while it counts other dead."""
    def work(_):
        with engine("namespaces", "-j", "2") as e:
            results = [e.ask({"kind": "shell", "command": "sleep 600 & echo hi"}) for _ in range(120)]
        return [len(result["survivors"]) for result in results]

    with ThreadPoolExecutor(4) as pool:
        assert [set(counts) for counts in pool.map(work, range(4))] == [{1}] * 4


def cmdlines():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        def read(path=f"/proc/{pid}/cmdline"):
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    return file.read()
            except OSError:
                return ""
        yield read


def test_many_survivors_are_counted():
    result = shell_json("for i in $(seq 25); do sleep 60 & done")
    assert (len(result["survivors"]), result["survivors_omitted"]) == (16, 9)


def test_survivors_on_a_terminal_are_told_of():
    done = glovebox("shell", "-c", "sleep 60 & echo hi")
    assert (done.returncode, done.stdout) == (0, "hi\n")
    assert re.fullmatch(r"glovebox: note: ended what still ran: (sleep|bash) \(\d+\)\n", done.stderr)


def test_nobody_who_forks_on_is_left():
    began = time.monotonic()
    result = shell_json("f() { sleep 1 & f & }; f; echo started", "--processes", 20, "-t", 3)
    assert result["status"] in ("ok", "limit", "timeout", "error")
    assert time.monotonic() - began < 10


# ---- what it is given ----

def test_standard_input_is_empty():
    assert out("cat; read x; echo \"[$x]\"; [ -t 0 ] || echo no terminal") == "[]\nno terminal\n"
    done = glovebox("shell", "-c", "cat", input="not for the command")
    assert (done.returncode, done.stdout) == (0, "")
    done = glovebox("shell", "--stdin", "-", "-c", "cat", input="for the command")
    assert done.stdout == "for the command"


def test_arguments():
    assert out('echo "$0|$1|$2|$#"', "--", "a b", "$(id)") == "bash|a b|$(id)|2\n"


@pytest.mark.parametrize("level", LEVELS)
def test_no_descriptor_of_ours_is_left(level):
    command = """/usr/bin/python3 -I -c '
import os
def is_open(fd):
    try: return bool(os.fstat(fd))
    except OSError: return False
print([fd for fd in range(256) if is_open(fd)])'"""
    assert out(command, "--isolation", level) == "[0, 1, 2]\n"


def test_signals_are_as_a_shell_expects_them():
    assert out("yes | head -1; (trap - PIPE; yes; echo no) | head -1; grep SigIgn /proc/self/status") == \
        "y\ny\nSigIgn:\t0000000000000000\n"


@pytest.mark.parametrize("level", LEVELS)
def test_environment(level):
    """271, 283: nothing is inherited but what is named."""
    env = {"SECRET": "s3cret", "BASH_ENV": "/nonexistent", "PROMPT_COMMAND": "echo prompt", "ENV": "/x",
           "LD_PRELOAD": "", "GIT_DIR": "/x", "BASH_FUNC_ls%%": "() { echo pwned; }"}
    names = {line.partition("=")[0] for line in out("env", "--isolation", level, env=env).splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD", "GIT_CONFIG_NOSYSTEM"} == {"PATH", "HOME", "LANG", "TMPDIR", "TERM"}


def test_environment_options():
    assert "A=1\n" in out("env", "-e", "A=1")
    clean = set(out("env", "--clean-env", "-e", "A=1").split())
    assert {"A=1"} <= clean and not any(v.startswith(("LANG=", "TERM=")) for v in clean)
    assert "LANG=" not in out("env", "--unset-env", "LANG")
    first, second, third = batch([
        {"kind": "shell", "command": "env", "env": {"B": "2", "LANG": None}},
        {"kind": "shell", "command": "env", "clean_env": True, "env": {"B": "2"}},
        {"kind": "shell", "command": "env", "env": {"PATH": ".:relative"}}], "-e", "A=1")
    assert "B=2" in first["stdout"] and "LANG=" not in first["stdout"] and "A=1" in first["stdout"]
    assert "B=2" in second["stdout"] and "A=1" not in second["stdout"]
    assert "PATH=/usr/local/bin:/usr/bin:/bin\n" in third["stdout"]  # 457


def test_workdir(tmp_path):
    (tmp_path / "sub").mkdir()
    assert out("pwd", "--workdir", "/tmp") == "/tmp\n"
    assert out("pwd", "-m", f"{tmp_path}:data", "--workdir", "/mnt/data/sub") == "/mnt/data/sub\n"
    result = shell_json("pwd", "--workdir", "/nowhere")
    assert (result["status"], result["exit_code"]) == ("failed", 125)
    assert "workdir" in result["error"]["message"]


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_asked_of_containers(level):
    """404 to 410, of a box: its own user, no network, a root that cannot be written, and nothing of the one before."""
    command = """cat "$GLOVEBOX_MNT/d/f"; echo x > "$GLOVEBOX_MNT/d/f" || echo read-only; echo $A
touch /usr/x /x 2>/dev/null || echo no root; t=$(mktemp) && echo y > "$t" && cat "$t"
ls left 2>/dev/null; touch left; (: < /dev/tcp/127.0.0.1/9) 2>/dev/null || echo no network; [ "$(id -u)" != 0 ] && echo nobody"""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as data:  # where root's boxes may look, too
        os.chmod(data, 0o755)
        Path(data, "f").write_text("seen\n")
        for _ in range(2):
            assert out(command, "-m", f"{data}:d", "-e", "A=given", "--isolation", level).splitlines() == \
                ["seen", "read-only", "given", "no root", "y", "no network", "nobody"]


def test_files_mounts_and_capture(tmp_path):
    (tmp_path / "in.txt").write_text("three\nwords\nhere\n")
    result = shell_json("wc -l < in.txt > count; cat /mnt/d/in.txt | tail -1", "--file", tmp_path / "in.txt",
                        "-m", f"{tmp_path}:d", "--out", tmp_path / "out")
    assert result["stdout"] == "here\n"
    assert [(f["path"], f["change"]) for f in result["files"]] == [("count", "created")]
    assert (tmp_path / "out/count").read_text().strip() == "3"
    assert shell_json("touch /mnt/d/x", "-m", f"{tmp_path}:d")["exit_code"] == 1


@pytest.mark.parametrize("command, options, limit", [
    ("head -c 300M /dev/zero > big", (), "disk"), ("x=$(head -c 400M /dev/zero | tr '\\0' x)", ("--memory", "100M"), "memory"),
])
def test_limits_are_the_same(command, options, limit):
    result = shell_json(command, *options)
    assert result["limit"] == limit or result["exit_code"] != 0


# ---- which shell ----

def test_which_shell(tmp_path):
    show = "echo ${BASH_VERSION:+bash}"
    assert out(show) == "bash\n"
    assert out(show, "--shell", "dash") == "\n"
    assert out(show, env={"GLOVEBOX_SHELL": "/bin/dash"}) == "\n"
    assert out(show, env={"GLOVEBOX_SHELL": "  "}) == "bash\n"
    assert out(show, "--shell", "/bin/bash", env={"GLOVEBOX_SHELL": "/bin/dash"}) == "bash\n"
    assert out("shopt -q extglob && echo on", "--shell", "bash -O extglob") == "on\n"
    assert out("echo $-", "--shell", "sh -e")[:1] == "e"


@pytest.mark.parametrize("wish, message", [
    ("nosuchshell", "there is no 'nosuchshell'"), ("/nosuch/sh", "there is no '/nosuch/sh'"),
    ("/tmp", "is a directory"), ("/etc/passwd", "cannot be executed"),
])
def test_a_shell_that_is_none(wish, message):
    result = glovebox("shell", "--json", "--shell", wish, "-c", "echo ran")
    parsed = json.loads(result.stdout)
    assert (result.returncode, parsed["status"]) == (125, "failed")
    assert message in parsed["error"]["message"]
    assert "ran" not in parsed.get("stdout", "")


@pytest.mark.parametrize("wish, message", [("'x", "a quote does not end"), (" ", "must not be empty")])
def test_a_wish_that_is_none(wish, message):
    """313, 314"""
    done = glovebox("shell", "--shell", wish, "-c", "echo ran")
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


PWSH = r"""#!/usr/bin/python3 -I
import sys
print("|".join(sys.argv[1:-1]), len(sys.argv))
print(sys.argv[-1])
"""


def test_powershell_is_called_as_it_wants_to_be(tmp_path):
    """273, 317: by a program that has its name."""
    (tmp_path / "pwsh").write_text(PWSH)
    (tmp_path / "pwsh").chmod(0o755)
    printed = out("Write-Output 'é'", "-m", f"{tmp_path}:bin", "--shell", "/mnt/bin/pwsh").splitlines()
    assert printed[0] == "-NoLogo|-NoProfile|-NonInteractive|-Command 6"
    assert "UTF8Encoding" in printed[1] and "$ErrorActionPreference = 'Stop'" in printed[1]
    assert printed[2:] == ["Write-Output 'é'", "if ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }"]


@pytest.mark.parametrize("command, code, stdout", [
    ("Write-Output 'naïve 😀'", 0, "naïve 😀\n"), ("Get-Item /nosuch; 'went on'", 1, ""),
    ("/bin/sh -c 'exit 7'", 7, ""), ("$env:A", 0, "it's\n"),
])
def test_powershell_itself(command, code, stdout):
    """288 to 290, as far as one of its own goes; where it is installed."""
    if not shutil.which("pwsh"):
        return
    result = shell_json(command, "--shell", "pwsh", "-e", "A=it's", "--memory", "4G", "--processes", 200)
    assert (result["exit_code"], result["stdout"]) == (code, stdout)
    assert (code != 1) or "nosuch" in result["stderr"]


def test_requests_may_name_one_unless_the_operator_has():
    ask = {"kind": "shell", "command": "echo ${BASH_VERSION:+bash}", "shell": ["dash"]}
    assert batch([ask])[0]["stdout"] == "\n"
    refused = batch([ask], "--shell", "bash")[0]
    assert (refused["status"], refused["error"]["hint"]) != ("ok", "")
    assert batch([ask], "--shell", "bash", "--allow-request", "shell")[0]["stdout"] == "\n"


# ---- requests ----

@pytest.mark.parametrize("request_, message", [
    ({"kind": "shell"}, "has no 'command'"),
    ({"kind": "shell", "command": 3}, "must be a string"),
    ({"kind": "shell", "command": "ls", "code": "1"}, "code: is not for the kind 'shell'"),
    ({"kind": "shell", "command": "ls", "inputs": {}}, "inputs: is not for the kind 'shell'"),
    ({"kind": "shell", "command": "ls", "tools": []}, "tools: is not for the kind 'shell'"),
    ({"kind": "python", "code": "1", "command": "ls"}, "command: is for the kind 'shell'"),
    ({"kind": "python", "code": "1", "deny": ["x"]}, "unknown key 'deny'"),
    ({"kind": "shell", "command": "x" * (128 << 10)}, "128 KiB"),
    ({"kind": "shell", "command": "ls", "deny": ["("]}, "not a regular expression"),
    ({"kind": "shell", "command": "ls", "raw": 1}, "raw: must be true or false"),
    ({"kind": "shell", "command": "ls", "workdir": ""}, "workdir"),
    ({"kind": "shell", "command": "ls", "spill": "/tmp"}, "unknown key 'spill'"),
    ({"kind": "bash", "command": "ls"}, "kind: must be"),
])
def test_what_is_no_request(request_, message):
    result, after = batch([request_, {"kind": "shell", "command": "echo next"}])
    assert (result["status"], result["exit_code"]) == ("failed", 125)
    assert message in result["error"]["message"]
    assert after["stdout"] == "next\n"


def test_bytes_that_are_no_text():
    result = batch([{"kind": "shell", "command": "echo a\0b"}])[0]
    assert (result["status"], result["findings"][0]["rule"]) == ("rejected", "syntax")
    done = glovebox("shell", "--json", "-c", "echo \udcff")  # a byte that is not UTF-8
    assert json.loads(done.stdout)["status"] == "rejected"


def test_usage():
    assert glovebox("shell", "ls").returncode == 2
    assert glovebox("shell", "-c", "ls", "-c", "ls").returncode == 2


def test_kinds_side_by_side():
    results = batch([{"id": 1, "kind": "shell", "command": "echo $((6 * 7))"}, {"id": 2, "code": "6 * 7"}] * 5)
    assert [r["id"] for r in results] == [1, 2] * 5
    assert all(r["stdout"] == "42\n" if r["id"] == 1 else r["value"] == 42 for r in results)


# ---- output ----

def test_output_is_plain_unless_raw():
    command = r"printf '\033[1;31mred\033[0m\n10%%\r20%%\rdone\n\033]0;title\007x\n'"
    result = shell_json(command)
    assert result["stdout"] == "red\ndone\nx\n"
    assert result["stdout_bytes"] == 40 and not result["stdout_truncated"]
    raw = shell_json(command, "--raw")
    assert raw["stdout"].startswith("\x1b[1;31mred") and "10%\r20%\r" in raw["stdout"]
    assert glovebox("shell", "-c", command).stdout.startswith("\x1b[1;31mred")  # a stream is as it is


def test_output_beyond_the_limit_changes_nothing_else():
    """282, 335 to 341, 347, 348: head, tail, one marker with the exact number, and the command goes on."""
    result = shell_json("seq 1 200000; echo last; echo done > f", "--stdout-limit", "2K")
    assert (result["status"], result["stdout_truncated"], result["stdout_bytes"]) == ("ok", True, 1288900)
    assert result["stdout"].startswith("1\n2\n") and result["stdout"].endswith("last\n")
    [missing] = re.findall(r"\n\.\.\. \[(\d+) bytes not shown\] \.\.\.\n", result["stdout"])
    kept = len(re.sub(r"\n\.\.\. \[\d+ bytes not shown\] \.\.\.\n", "", result["stdout"]))
    assert int(missing) + kept == 1288900
    assert result["files"][0]["path"] == "f"
    emoji = shell_json("printf '😀%.0s' $(seq 10)", "--stdout-limit", 20)
    assert "�" not in emoji["stdout"] and "24 bytes not shown" in emoji["stdout"]
    assert shell_json("echo x", "--stdout-limit", 0)["stdout_bytes"] == 2


def test_much_on_both_streams():
    """434, 437"""
    result = shell_json("head -c 5M /dev/zero | tr '\\0' a >&2 & head -c 5M /dev/zero | tr '\\0' b; wait")
    assert (result["status"], result["stdout_bytes"], result["stderr_bytes"]) == ("ok", 5 << 20, 5 << 20)


def test_output_after_the_end_is_not_waited_for():
    result = shell_json("(sleep 0.05; echo late) & echo now")
    assert result["stdout"] == "now\n"


def test_spill(tmp_path):
    result = shell_json(r"seq 1 50000; printf '\033[31merr\033[0m' >&2", "--spill", tmp_path, "--stdout-limit", "1K")
    spill = result["spill"]
    whole = open(spill["stdout"]["path"], encoding="utf-8").read()
    assert whole == "".join(f"{i}\n" for i in range(1, 50001))
    assert (spill["stdout"]["bytes"], spill["stdout"]["complete"]) == (len(whole), True)
    assert open(spill["stderr"]["path"], "rb").read() == b"\x1b[31merr\x1b[0m"
    with open(spill["stdout"]["path"], "rb") as file:  # by range
        file.seek(1000)
        assert file.read(10) == whole[1000:1010].encode()
    assert os.stat(spill["stdout"]["path"]).st_mode & 0o777 == 0o600


def test_spill_has_limits(tmp_path):
    result = shell_json("seq 1 50000", "--spill", tmp_path, "--spill-limit", "10K")
    assert (result["status"], result["spill"]["stdout"]["bytes"], result["spill"]["stdout"]["complete"]) == \
        ("ok", 10240, False)
    assert os.path.getsize(result["spill"]["stdout"]["path"]) == 10240
    assert result["spill"]["stderr"] is None
    missing = shell_json("echo x", "--spill", tmp_path / "no/such")
    assert missing["status"] == "ok" and missing["stdout"] == "x\n"
    assert "error" in missing["spill"]["stdout"] and missing["spill"]["stdout"]["path"] is None
    told = glovebox("shell", "--spill", tmp_path / "no/such", "-c", "echo x")
    assert (told.returncode, told.stdout) == (0, "x\n")
    assert told.stderr == "glovebox: warning: --spill: standard output was not kept whole: No such file or directory\n"
    told = glovebox("shell", "--spill", tmp_path, "--spill-limit", "10K", "-c", "seq 1 50000")
    assert told.stderr == "glovebox: warning: --spill: standard output was not kept whole: --spill-limit\n"
    if os.path.exists("/dev/full"):
        full = shell_json("echo x", "--spill", "/dev")  # a directory in which nothing can be kept
        assert full["status"] == "ok"


# ---- who may say no ----

def rejected(command, *options, **kwargs):
    result = shell_json(command, *options, **kwargs)
    assert (result["status"], result["exit_code"], result["stdout"]) == ("rejected", 126, ""), result
    return result["findings"][-1]


def test_rules():
    """227, 232, 250, 253, 267, 268, 277"""
    assert "empty" in rejected("  \n")["message"]
    finding = rejected("rm -rf /", "--deny", r"\brm\b")
    assert finding["rule"] == "deny" and r"\brm\b" in finding["message"] and finding["severity"] == "error"
    assert rejected("sudo rm -rf /", "--deny-preset", "destructive")["rule"] == "deny"
    assert rejected("cat x", "--allow", "^ls")["rule"] == "allow"
    assert out("ls", "--allow", "^ls") == ""
    assert rejected("ls", "--allow", "^ls", "--deny", "ls")["rule"] == "deny"
    assert shell_json("ls", "--deny", "x")["policy"] == "standard"
    assert shell_json("ls", "--allow", "ls")["policy"] == "strict"


def test_rules_of_a_request_only_add():
    def ask(**more):
        return {"kind": "shell", "command": "ls", **more}
    results = batch([ask(), ask(deny=["ls"]), ask(allow=["^cat"]), ask(allow=["^ls"]), ask(allow_command=["cat"])],
                    "--allow", "^(ls|cat)")
    assert [r["status"] for r in results] == ["ok", "rejected", "rejected", "ok", "rejected"]
    assert batch([ask(allow=["ls"])], "--deny", "ls")[0]["status"] == "rejected"


def test_rules_by_command():
    finding = rejected("ls &&\n  echo $(rm x)", "--allow-command", "ls,echo")
    assert (finding["rule"], finding["name"], finding["line"]) == ("allow_command", "rm", 2)
    assert out("ls | wc -l", "--allow-command", "ls,wc") == "0\n"
    assert rejected("ls '", "--allow-command", "ls")["message"] == "a single quote does not end"


def test_rules_by_command_need_a_shell_that_reads_the_same():
    both = ("--allow-command", "echo")
    assert out("echo a", *both, "--shell", "dash") == "a\n"
    result = shell_json("[[ a || echo b ]]", *both, "--shell", "dash")
    assert result["status"] == "failed" and "bash" in result["error"]["message"]
    assert out("[[ '' || a ]] && echo b", *both) == "b\n"


def test_on_the_host_somebody_is_asked():
    """358, 359, 360, 364, 365"""
    finding = rejected("echo ran", "--isolation", "process")
    assert finding["rule"] == "approval" and "--acknowledge-unsafe" in finding["remedy"]
    assert out("echo ran", "--isolation", "process", "--acknowledge-unsafe") == "ran\n"
    refused = batch([{"kind": "shell", "command": "echo ran", "isolation": "process"}])[0]
    assert (refused["status"], refused["stdout"]) == ("failed", "")


def test_a_person_sees_the_command():
    with Terminal("shell", "--approve", "always", "-c", "echo $((40 + 2))") as t:
        shown = t.shows("Run it?")
        assert "echo $((40 + 2))" in shown
        t.types("yes\n")
        assert t.ends()[:2] == (0, "42\n")
    with Terminal("shell", "--approve", "always", "-c", "echo ran") as t:
        t.shows("Run it?")
        t.types("not today\n")
        status, printed, message = t.ends()
        assert (status, printed) == (126, "") and "not today" in message


def test_the_audit_knows_of_it(tmp_path):
    shell_json("echo hi", "--audit", tmp_path / "a.jsonl")
    rejected("rm x", "--deny", "rm", "--audit", tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert glovebox("audit", "verify", tmp_path / "a.jsonl").returncode == 0
    assert any(line.get("status") == "ok" for line in lines) and any(line.get("status") == "rejected" for line in lines)
    assert sum(bool(line.get("code_sha256")) for line in lines) >= 2


# ---- cancelling, killing ----

def test_cancel():
    with running("shell", "-c", "echo go; sleep 60 & sleep 60") as process:
        assert process.stdout.readline() == "go\n"
        process.terminate()
        assert process.wait(20) == 128 + 15


def test_the_engine_is_killed():
    mark = f"7{os.getpid()}"
    with running("shell", "-c", f"echo go; (setsid sleep {mark} &); trap '' TERM HUP; sleep {mark}") as process:
        assert process.stdout.readline() == "go\n"
        process.kill()
    assert until(lambda: not any(f"sleep\0{mark}" in cmdline() for cmdline in cmdlines()))


# ---- the library ----

LIBRARY = r"""
#include <glovebox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int asked;

static const char *on_command(void *data, const char *command, const char *workdir)
{
    (void)data;
    asked++;
    printf("asked: %s in %s\n", command, workdir);
    return strstr(command, "secret") ? "it has a secret in it" : NULL;
}

static void on_done(void *data, struct gb_job *job, const char *result)
{
    (void)data;
    (void)job;
    puts(result);
}

static void run(struct gb_engine *engine, const char *request)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks), .command = on_command, .done = on_done };

    gb_start(engine, request, &callbacks);
    while (gb_step(engine, -1) > 0)
        ;
}

static void probe(struct gb_engine *engine, const char *request)
{
    char *text = gb_probe(engine, request);

    puts(text);
    free(text);
}

int main(void)
{
    struct gb_engine *engine;
    char *text;

    if (gb_engine_new("{\"deny\": [\"denied\"], \"allow\": [\"echo\"], \"allow_request\": [\"env\"]}", &engine, &text) < 0)
        return 1;
    run(engine, "{\"kind\": \"shell\", \"command\": \"echo fine\"}");
    run(engine, "{\"kind\": \"shell\", \"command\": \"echo secret\"}");
    run(engine, "{\"kind\": \"shell\", \"command\": \"echo denied\"}");
    run(engine, "{\"kind\": \"shell\", \"command\": \"ls\"}");
    printf("asked %d\n", asked);
    probe(engine, "{\"tools\": [\"git\", \"GIT\", \"$(id)\", \"nosuch\"], \"timeout\": 20}");
    probe(engine, "{\"tools\": 3}");
    probe(engine, "{\"tools\": [], \"request\": {\"shell\": \"nosuchshell\"}}");
    probe(engine, "{\"tools\": [\"git\"], \"request\": {\"env\": {\"PATH\": \"/nowhere\"}}}");
    probe(engine, "{\"tools\": [\"git\"]}");
    gb_engine_free(engine);
    return 0;
}
"""


def test_library(tmp_path):
    """233, 256 to 259, 269, 417, 418, 427, 431"""
    (tmp_path / "client.c").write_text(LIBRARY)
    lines = run_program(compile_c(tmp_path / "client.c", tmp_path / "client")).stdout.splitlines()
    results = [json.loads(line) for line in lines if line.startswith("{")]
    assert [line for line in lines if line.startswith("asked")] == \
        ["asked: echo fine in .", "asked: echo secret in .", "asked 2"]
    assert [r["status"] for r in results[:4]] == ["ok", "rejected", "rejected", "rejected"]
    assert [f["rule"] for r in results[1:4] for f in r["findings"]] == ["callback", "deny", "allow"]
    assert "it has a secret in it" in results[1]["findings"][0]["message"]
    probe = results[4]
    assert probe["family"] == "bash" and probe["tools"]["git"].startswith("git version")
    assert set(probe["tools"]) == {"git", "$(id)", "nosuch"} and probe["missing"] == ["nosuch"]
    assert results[5]["status"] == "failed"
    # Each asks anew, with what its request says: what was not there then is there now.
    assert results[6]["status"] == "failed" and "nosuchshell" in results[6]["error"]["message"]
    assert results[7]["missing"] == ["git"] and results[8]["tools"]["git"].startswith("git version")


# ---- what there is ----

def probe(*options, **kwargs):
    done = glovebox("shell", "--probe", "--json", *options, **kwargs)
    return json.loads(done.stdout)


def test_probe():
    """412, 421, 424, 425, 426"""
    found = probe("--probe-tools", "git,make,nosuchtool")
    assert (found["status"], found["family"], found["directory"]) == ("ok", "bash", "/workspace")
    assert re.match(r"\d+\.\d+", found["version"]) and found["os"]
    assert found["tools"]["git"].startswith("git version") and found["tools"]["nosuchtool"] is None
    text = glovebox("shell", "--probe", "--probe-tools", "git,nosuchtool").stdout
    assert text.startswith("## Shell environment\n")
    assert "export NAME=value" in text and "$env:" not in text
    assert "Working directory: /workspace\n" in text and "Not installed: nosuchtool\n" in text


def test_probe_by_what_is_in_the_box(tmp_path):
    """413, 414, 415: versions on stderr, programs that hang, fail, or print what a terminal would act on."""
    scripts = {"errs": "echo 'errs 1.0' >&2", "hangs": "sleep 60", "fails": "exit 3",
               "colours": r"printf '\n\n\033[31m2.0\033[0m\nsecond\n'", "long": "head -c 100000 /dev/zero | tr '\\0' x"}
    for name, body in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    began = time.monotonic()
    found = probe("--probe-tools", ",".join(scripts), "-m", f"{tmp_path}:bin", "-e", "PATH=/mnt/bin:/usr/bin:/bin",
                  "-t", 1, "--shell", "dash")
    assert time.monotonic() - began < 20
    assert (found["family"], found["version"]) == ("sh", None)
    assert found["tools"]["errs"] == "errs 1.0"
    assert found["tools"]["hangs"] is None and found["tools"]["fails"] is None
    assert found["tools"]["colours"] == "2.0"
    assert len(found["tools"]["long"]) <= 160
    assert found["missing"] == []
    assert "This is not bash" in found["text"]


def test_probe_of_nothing():
    """419, 428, 430: names that are none are never run, and a failure says so."""
    found = probe("--probe-tools", "a;touch x,-rf,$(id),../x")
    assert set(found["tools"].values()) == {None} and found["missing"] == []
    failed = glovebox("shell", "--probe", "--shell", "nosuchshell")
    assert failed.returncode == 125 and "nosuchshell" in failed.stderr
    refused = glovebox("shell", "--probe", "--isolation", "process")
    assert refused.returncode == 126
    assert probe("--allow-command", "none", "--probe-tools", "git")["tools"]["git"]  # our own question


def test_help_names_it():
    assert "shell " in glovebox("--help").stdout
    text = glovebox("shell", "--help").stdout
    assert all(option in text for option in ("--command", "--allow-command", "--deny-preset", "--probe", "--spill"))
    assert GLOVEBOX


@pytest.mark.parametrize("rules, beside, word", [
    (["--allow-command", "echo"], {"shell": ["bash", "-c", "id #"]}, "shell: has words of its own"),
    (["--deny", "id"], {"shell": "bash -c id"}, "shell: has words of its own"),
    (["--allow-command", "echo"], {"env": {"BASH_ENV": "/workspace/x"}, "files": {"x": "id"}}, "env: 'BASH_ENV' decides what runs"),
    (["--allow", "^echo"], {"env": {"BASH_FUNC_echo%%": "() { id; }"}}, "env: 'BASH_FUNC_echo%%' decides what runs"),
])
def test_a_request_says_nothing_beside_what_the_rules_judge(rules, beside, word):
    request = {"kind": "shell", "command": "echo x", **beside}
    refused = batch([request], *rules)[0]
    assert refused["status"] == "failed" and word in refused["error"]["message"] and refused["stdout"] == ""
    allowed = batch([request], *rules, "--allow-request", next(iter(beside)))[0]
    assert "uid=" in allowed["stdout"], allowed


@pytest.mark.parametrize("beside", [
    {"env": {name: "/workspace/x"}} for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "LESSOPEN", "PERL5OPT", "HOME")
] + [{"unset_env": ["PATH"]}, {"env": {"PATH": None}}])
def test_a_request_names_no_program_beside_what_the_rules_judge(beside):
    refused = batch([{"kind": "shell", "command": "git --version", **beside}], "--allow-command", "git")[0]
    assert refused["status"] == "failed" and "decides what runs" in refused["error"]["message"], refused


HELD_BY_NOTHING = ("git", "find", "xargs", "env", "awk", "sed", "tar", "ssh", "vim", "less", "man", "python3.11", "bash",
                   "/usr/bin/git", "sort", "make", "perl", "timeout", "nice", "sudo", "node", "rsync")


def test_the_rule_says_what_it_does_not_hold():
    """What can run other programs is named where the rule is made, and where it refuses."""
    for name in HELD_BY_NOTHING:
        done = glovebox("shell", "--allow-command", f"cat,{name}", "-c", "rm x")
        assert done.returncode == 126
        assert f"note: --allow-command does not hold {name}: " in done.stderr, name
        assert f"the rule does not hold {name}, which can run other programs" in done.stderr, name
    assert "does not hold" not in glovebox("shell", "--allow-command", "ls,cat,echo,grep", "-c", "rm x").stderr
    text = glovebox("instructions", "--allow-command", "git,ls").stdout
    assert "does not hold" not in text and "variables that name programs" in text


REPOSITORY = {".git/HEAD": "ref: refs/heads/main\n", ".git/config": "", ".git/objects/x": "", ".git/refs/x": "", "a": "1\n"}
NAMES_A_PROGRAM = [
    "GIT_EXTERNAL_DIFF=./x git diff --no-index /dev/null a", "GIT_EXTERNAL_DIFF=./x; git diff --no-index /dev/null a",
    "git -c diff.external=./x diff --no-index /dev/null a", "git -c core.pager=./x --paginate config -l",
    "git --config-env=diff.external=X diff", "git --exec-path=. x", "git clone -c core.hooksPath=. . b",
    "find . -name a -exec ./x {} ';'", "sort --compress-program=./x a", "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=./x a",
    "tar cf /dev/null --use-compress-prog=./x a", "man -P ./x ls", "rsync -e ./x a b:", "ssh -oProxyCommand=./x b",
]


@pytest.mark.parametrize("command", NAMES_A_PROGRAM)
def test_a_command_names_no_program_in_plain_sight(command):
    allowed = "git,find,sort,tar,man,rsync,ssh"
    result = batch([{"kind": "shell", "command": command, "files": {**REPOSITORY, "x": "#!/bin/sh\ntouch ran\n"}}],
                   "--allow-command", allowed)[0]
    assert result["status"] == "rejected" and result["findings"][0]["rule"] == "allow_command", result
