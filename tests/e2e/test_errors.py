"""What goes wrong before anything runs: each message is exact, and says what to do."""
import glob
import json
import os
import socket
import subprocess

import pytest
from box import PYTHON, RESULT_KEYS, batch, glovebox, run_json, value


# ---- the command line: exit status 2 ----

@pytest.mark.parametrize("args, text", [
    ([], "no command given"),
    (["rnu"], "unknown command 'rnu' (did you mean 'run'?)"),
    (["frobnicate"], "unknown command 'frobnicate'"),
    (["run", "--frobnicate"], "unknown option '--frobnicate'"),
    (["run", "--timeuot", "1"], "unknown option '--timeuot' (did you mean '--timeout'?)"),
    (["run", "-x"], "unknown option '-x'"),
    (["run", "-c"], "--code needs a value: CODE"),
    (["run", "--json=yes", "-c", "1"], "--json takes no value"),
    (["run", "-c", "1", "nope.py"],
     "both --code and the file 'nope.py' (arguments of the program go after '--')"),
    (["run", "a.py", "b.py"], "unexpected argument 'b.py' (arguments of the program go after '--')"),
    (["run", "nope.py"], "cannot read 'nope.py': No such file or directory"),
    (["run", "/usr"], "cannot read '/usr': Is a directory"),
    (["run", "--stdin", "nope", "-c", "1"], "cannot read 'nope': No such file or directory"),
    (["run", "--prelude", "nope", "-c", "1"], "cannot read 'nope': No such file or directory"),
    (["run", "--stdin", "-", "-"],
     "standard input can be only one of the program, --stdin and --prelude"),
    (["run", "--timeout", "soon", "-c", "1"],
     "--timeout: 'soon' is not a number of seconds (for example 2.5)"),
    (["run", "--timeout", "-1", "-c", "1"],
     "--timeout: '-1' is not a number of seconds (for example 2.5)"),
    (["run", "--timeout", "nan", "-c", "1"],
     "--timeout: 'nan' is not a number of seconds (for example 2.5)"),
    (["run", "--timeout", "0", "-c", "1"],
     "--timeout: '0' is out of range (0.001 to 604800)"),
    (["run", "--memory", "5 ", "-c", "1"],
     "--memory: '5 ' is not a size (for example 512M; K, M, G or plain bytes)"),
    (["run", "--memory", "lots", "-c", "1"],
     "--memory: 'lots' is not a size (for example 512M; K, M, G or plain bytes)"),
    (["run", "--memory", "99999999999G", "-c", "1"], "--memory: '99999999999G' is out of range"),
    (["run", "--processes", "0", "-c", "1"],
     "--processes: '0' is not a whole number above 0 (for example 8)"),
    (["run", "--processes", "1.5", "-c", "1"],
     "--processes: '1.5' is not a whole number above 0 (for example 8)"),
    (["run", "--isolation", "strong", "-c", "1"],
     "--isolation: 'strong' is not one of auto, namespaces, landlock, process, none"),
    (["run", "--policy", "mild", "-c", "1"], "--policy: 'mild' is not one of strict, standard, off"),
    (["run", "--input", "x", "-c", "1"], "--input: 'x' is not NAME=JSON (for example n=3)"),
    (["run", "--input", "=1", "-c", "1"], "--input: '=1' is not NAME=JSON (for example n=3)"),
    (["run", "-c", "1", "-c", "2"], "--code: given twice; only one is possible"),
    (["check", "-c", "1", "--code", "2"], "--code: given twice; only one is possible"),
    (["run", "--audit", "", "-c", "1"], "--audit: must not be empty"),
    (["run", "--python", "", "-c", "1"], "--python: must not be empty"),
    # what only the engine knows, by the name that was typed
    (["run", "--memory", "1", "-c", "1"], "--memory: must be between 16M and 1T"),
    (["run", "--stdout-limit", "2G", "-c", "1"], "--stdout-limit: must be between 0 and 1G"),
    (["batch", "--pool", "99", "/dev/null"], "--pool: must be between 0 and 64"),
    (["run", "--audit-required", "-c", "1"],
     "--audit-required: there is no audit to be required"),
    (["run", "--policy", "off", "--block-import", "x", "-c", "1"],
     "--block-import: has no meaning under policy 'off'"),
    (["run", "--mount", "nope:n", "-c", "1"], "--mount: 'nope': No such file or directory"),
    (["run", "-m", "/usr:rw", "-c", "1"], "--mount: '/usr:rw' does not say what it is to be called"),
    (["run", "--tool", "execute_code=true", "-c", "1"],
     "--tool: 'execute_code': name: 'execute_code' is what runs the code that calls tools"),
    (["run", "--allow-request", "timeuot", "-c", "1"],
     "--allow-request: a request cannot loosen 'timeuot' (did you mean 'timeout'?)"),
    (["run", "--allow-request", "inputs", "-c", "1"], "--allow-request: a request cannot loosen 'inputs'"),
    (["shell", "--deny", "(", "-c", "ls"],
     "--deny: '(': not a regular expression: missing closing parenthesis at 1"),
    (["shell", "--stdin", "-"], "--stdin and --file go with --command"),
    (["run", "--env", "=1", "-c", "1"], "--env: '=1' has no name before the '='"),
    (["run", "--env", "NO_SUCH", "-c", "1"], "--env: 'NO_SUCH' is not set in the environment"),
    (["run", "--config", "nope.json", "-c", "1"],
     "configuration: cannot read 'nope.json': No such file or directory"),
], ids=lambda a: " ".join(a) if isinstance(a, list) else "")
def test_usage(args, text, tmp_path):
    done = glovebox(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == "glovebox: " + text


@pytest.mark.parametrize("args, hint", [
    (["shell", "ls", "-la"], "did you mean -c 'ls -la'? The command is one word"),
    (["shell", "ls -la"], "did you mean -c 'ls -la'? The command is one word"),
    (["shell", "-c", "ls", "-la"], "did you mean -c 'ls -la'? The command is one word"),
    (["shell", "-t", "3", "ls", "-l", "--all"], "did you mean -c 'ls -l --all'? The command is one word"),
    (["shell", "echo", "it's"], "the command is one word: -c 'ls -l'; what is $1 to it goes after '--'"),
    (["shell", "-c", "ls -l", "x"], "the command is one word: -c 'ls -l'; what is $1 to it goes after '--'"),
    (["shell", "ls" + " x" * 100], "the command is one word: -c 'ls -l'; what is $1 to it goes after '--'"),
    (["shell", "--file", "x"],
     "a shell that stays reads its commands from standard input; '-m DIR:NAME' shows it files"),
    (["shell", "--allow-command", "git status", "-c", "ls"],
     "say 'git', or with its arguments as a pattern: allow '^git status'"),
    (["run", "a.py", "-v"], "what is meant for the program goes after '--'"),
    (["serve", "8000"], "where to listen: --listen 8000"),
    (["serve", "--port", "8000"], "where to listen: --listen PORT, or ADDRESS:PORT"),
], ids=lambda a: " ".join(a)[:40] if isinstance(a, list) else "")
def test_what_was_meant(args, hint, tmp_path):
    done = glovebox(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[1] == "glovebox: hint: " + hint


@pytest.mark.parametrize("binding", ["x=hello", "x={", "x="])
def test_input_that_is_not_json(binding):
    done = glovebox("run", "--input", binding, "-c", "1")
    assert done.returncode == 2 and "--input: the value of 'x' is not JSON" in done.stderr


@pytest.mark.parametrize("name", ["1x", "a b", "class", "a-b"])
def test_input_that_is_not_a_name(name):
    done = glovebox("run", "--json", "--input", f"{name}=1", "-c", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--input: '{name}' cannot be the name of a variable" in done.stderr


@pytest.mark.parametrize("text, words", [
    ("{", "mine.json:1:"), ("[]", "not a JSON object"), ('{"timeuot": 1}', "timeuot"),
    ('{"timeout": "soon"}', "timeout"), ('{"timeout": -1}', "timeout"), ('{"memory": []}', "memory"),
    ('{"isolation": "strong"}', "isolation"), ('{"processes": 1e99}', "processes"),
])
def test_configuration_that_cannot_be_followed(tmp_path, text, words):
    (tmp_path / "mine.json").write_text(text)
    done = glovebox("run", "--config", "mine.json", "-c", "1", cwd=tmp_path)
    assert done.returncode == 2 and words in done.stderr and done.stderr.startswith("glovebox: ")


@pytest.mark.parametrize("keys, words", [
    ('{"timeuot": 1}', "timeuot: unknown key in the configuration (did you mean 'timeout'?)"),
    ('{"memory": 1}', "memory: must be between 16M and 1T"),
    ('{"frobnicate": 1}', "frobnicate: unknown key in the configuration"),
])
def test_a_wrong_key_is_named_with_its_file(tmp_path, keys, words):
    home, here = tmp_path / "home", tmp_path / "here"
    home.joinpath("glovebox").mkdir(parents=True)
    here.mkdir()
    def first_line(*options):
        done = glovebox("run", *options, "-c", "1", cwd=here, env={"XDG_CONFIG_HOME": str(home)})
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr.splitlines()[0]
    (here / "other.json").write_text(keys)
    assert first_line("--config", "other.json") == f"glovebox: other.json: {words}"
    (home / "glovebox/config.json").write_text(keys)
    assert first_line() == f"glovebox: {home}/glovebox/config.json: {words}"


def test_what_a_request_may_loosen():
    names = "stdout_limit,policy,allow_import,mounts,shell"
    assert glovebox("run", "--allow-request", names, "-c", "1").returncode == 0


def test_of_a_file_and_an_option_the_wrong_one_is_named(tmp_path):
    (tmp_path / "c.json").write_text('{"mounts": ["nope:x"]}')
    done = glovebox("run", "--config", "c.json", "-m", "/usr:u", "-c", "1", cwd=tmp_path)
    assert done.stderr == "glovebox: c.json: mounts: 'nope': No such file or directory\n"
    done = glovebox("run", "-m", "a:b:wr", "-c", "1", cwd=tmp_path)
    assert "--mount: 'a:b'" in done.stderr and "hint: a mount is HOST:NAME, " in done.stderr


def test_configuration_is_found_and_the_command_line_wins(tmp_path):
    (tmp_path / "glovebox").mkdir()
    (tmp_path / "glovebox/config.json").write_text('{"timeout": 0.3, "env": {"A": "1", "B": "1"}}')
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert run_json("while True: pass", env=env)["status"] == "timeout"
    code = "import os, time\ntime.sleep(.6)\n[os.environ['A'], os.environ['B']]"
    result = run_json(code, "--timeout", 20, "-e", "B=2", env=env)
    assert (result["status"], result["value"]) == ("ok", ["1", "2"])


# ---- ./glovebox.json, which may be anybody's ----

FOUND = {
    "acknowledge_unsafe": True, "allow": ["x"], "allow_builtin": ["eval"], "allow_command": ["x"],
    "allow_import": ["sys"], "allow_os_attr": ["system"], "allow_request": ["env"], "approve": "never",
    "audit": "/tmp/a", "audit_required": True, "backend": "local", "block_builtin": ["="], "block_import": ["="],
    "capture": "off", "cgroup": "/tmp", "clean_env": True, "code_mode": True, "confine": True, "deny": ["x"],
    "deny_preset": ["network"], "env": {"PATH": "/tmp", "BASH_ENV": "/tmp/x"}, "extension_dir": "/tmp",
    "isolation": "none", "mcp": {}, "mount": ["/tmp:t"], "mounts": ["/tmp:t"], "network": "host", "oneshot": True,
    "out": "/tmp", "patterns": "off", "policy": "off", "pool": 0, "preload": ["json"], "pty": True,
    "python": "/bin/false", "raw": True, "review": "http://127.0.0.1:1", "review_ca": "f", "review_key": "k",
    "review_model": "m", "session_idle": 1, "sessions_max": 0, "shell": "sh", "spill": "/tmp", "timeuot": 1,
    "tools": {"t": {"command": "touch /tmp/x"}}, "unset_env": ["PATH"], "workdir": "/tmp",
}


@pytest.mark.parametrize("key", FOUND)
def test_a_found_file_sets_nothing_but_limits(tmp_path, key):
    (tmp_path / "glovebox.json").write_text(json.dumps({key: FOUND[key]}))
    command = "printf '\\e[1m'; pwd; env | sort; tty; echo \"$0\"; : >made"
    seen = {}
    for here in ("/", tmp_path):
        done = glovebox("shell", "--json", "-c", command, cwd=here)
        result = json.loads(done.stdout)
        seen[here] = [result[k] for k in ("status", "stdout", "isolation", "policy", "files")]
    assert seen["/"] == seen[tmp_path] and seen["/"][0] == "ok"
    warnings = [line for line in done.stderr.splitlines() if "./glovebox.json" in line]
    assert len(warnings) == 1 and f"is ignored in: {key}." in warnings[0]


def test_a_found_file_only_lowers_limits(tmp_path):
    home, here = tmp_path / "glovebox", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    code = "import os, resource\n[os.environ.get('A'), resource.getrlimit(resource.RLIMIT_NOFILE)[0]]"
    for own, found, want, ignored in [
        ({}, {"open_files": 99, "raw": True, "env": {"A": "1"}}, [None, 99], "raw, env."),
        ({"open_files": 80, "env": {"A": "2"}}, {"open_files": 99}, ["2", 80], "open_files."),
        ({"open_files": 99}, {"open_files": 80}, [None, 80], None),
    ]:
        (home / "config.json").write_text(json.dumps(own))
        (here / "glovebox.json").write_text(json.dumps(found))
        done = glovebox("run", "--json", "-c", code, cwd=here, env={"XDG_CONFIG_HOME": str(tmp_path)})
        assert json.loads(done.stdout)["value"] == want
        assert ("is ignored in: " + ignored in done.stderr) if ignored else done.stderr == ""
    (here / "glovebox.json").write_text('{"timeout": 0.3}')
    assert run_json("while True: pass", cwd=here)["status"] == "timeout"
    assert run_json("import time; time.sleep(.6)", "--timeout", 20, cwd=here)["status"] == "ok"
    for wrong in ("{", "[]", '{"memory": 1}', '{"timeout": "soon"}'):
        (here / "glovebox.json").write_text(wrong)
        done = glovebox("run", "-c", "1", cwd=here)
        assert done.returncode == 2 and "glovebox.json" in done.stderr


def found_link(path):
    path.symlink_to("/dev/zero")


def found_socket(path):
    """By a short name: that of a test's directory may be too long for a socket's."""
    at = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(f"/proc/self/fd/{at}/{path.name}")
    os.close(at)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, found_link, found_socket])
@pytest.mark.parametrize("command", [["run", "-c", "print(1)"], ["shell", "-c", "echo 1"], ["check", "-c", "1"], ["instructions"]])
def test_what_is_found_cannot_hang_a_command(tmp_path, make, command):
    make(tmp_path / "glovebox.json")
    done = glovebox(*command, cwd=tmp_path, timeout=60)
    assert done.returncode == 0 and "warning: ./glovebox.json is ignored: " in done.stderr


# ---- the interpreter: exit status 125 ----

def old_interpreters():
    home = os.path.expanduser("~")
    return sorted(glob.glob(f"{home}/.pyenv/versions/3.[0-8].*/bin/python3"))[-1:] + \
        sorted(glob.glob(f"{home}/.pyenv/versions/2.*/bin/python"))[-1:]


@pytest.mark.parametrize("python", ["/no/such/python3", "/usr", "/etc/passwd", "/bin/true", "/bin/false",
                                    "no-such-python", *old_interpreters()])
def test_interpreter_that_will_not_do(python):
    result = run_json("1", "--python", python)
    assert (result["status"], result["exit_code"]) == ("failed", 125)
    assert set(result) >= RESULT_KEYS and result["error"]["type"] == "no_interpreter"
    assert python in result["error"]["message"]
    if python == "/bin/true":
        assert "did not start as a Python interpreter" in result["error"]["message"]
    if python in old_interpreters():
        assert "3.9" in result["error"]["message"] + (result["error"]["hint"] or "")
    plain = glovebox("run", "--python", python, "-c", "1")
    assert plain.returncode == 125
    assert plain.stderr.startswith(f"glovebox: {result['error']['message']}\n")


@pytest.mark.parametrize("pretence, told", [
    ("sys.implementation.name = 'pypy'", "pypy for Python 3."), ("sys.abiflags = 't'", "a free-threaded Python 3."),
    ("sys.version_info = (3, 8, 1, 'final', 0)", "is Python 3.8.1;"),
])
def test_interpreters_of_another_kind_are_named(tmp_path, pretence, told):
    """Before the extension is loaded, which would crash there."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path], check=True)
    site = next(tmp_path.glob("lib/python3.*/site-packages"))
    (site / "pretend.pth").write_text(f"import sys; {pretence}\n")
    result = run_json("1", "--python", tmp_path / "bin/python")
    assert (result["status"], result["error"]["type"]) == ("failed", "no_interpreter")
    assert told in result["error"]["message"] and "CPython 3.9 or newer" in result["error"]["message"]


def test_python_2_is_named(tmp_path):
    """As it answers to an option that it does not know."""
    (tmp_path / "old.c").write_text('#include <stdio.h>\nint main(void) { fputs("Unknown option: -I\\nusage: '
                                    'python [option] ...\\nTry `python -h\' for more information.\\n", stderr);'
                                    ' return 2; }\n')
    subprocess.run(["cc", "-o", tmp_path / "python", tmp_path / "old.c"], check=True)
    assert "is Python 2;" in run_json("1", "--python", tmp_path / "python")["error"]["message"]


def test_an_interpreter_that_hangs_is_given_up(tmp_path):
    slow = tmp_path / "python3"
    slow.write_text("#!/bin/sh\nsleep 300\n")
    slow.chmod(0o755)
    result = run_json("1", "--python", slow, timeout=60)
    assert (result["status"], result["exit_code"]) == ("failed", 125)


# ---- the code ----

@pytest.mark.parametrize("raw", [b"x = '\xff'\n", b"\x80", b"# \xed\xa0\x80\n"])
def test_code_that_is_not_utf8(tmp_path, raw):
    file = tmp_path / "p.py"
    file.write_bytes(raw)
    result = run_json(None, file)
    assert result["status"] in ("failed", "rejected")
    text = (result["error"] or result["findings"][0])["message"]
    assert "UTF-8" in text or "utf-8" in text


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("raw, line, words, help", [
    (b"\x7fELF\x02\x01\x01\0\xff\xfe", None, "a binary file and not Python source", "source"),
    (b"PK\3\4\0\0\xff\xfe", None, "a binary file and not Python source", "source"),
    (b"a = 1\nb = '\0'\n", 2, "the code has a NUL byte in it", r"write \0 for it"),
    (b"a = 1\n\n# \xff\n", 3, "the code is not UTF-8: byte 9 is", "save the file as UTF-8"),
], ids=["elf", "zip", "nul", "latin-1"])
def test_what_is_no_text(tmp_path, command, raw, line, words, help):
    file = tmp_path / "p.py"
    file.write_bytes(raw)
    done = glovebox(command, file)
    assert done.returncode == 126
    told = (done.stdout + done.stderr).splitlines()
    assert told[0].startswith(f"{file}:{line}: error: " if line else f"{file}: error: ")
    assert words in told[0] and "    " not in told
    assert any(text.startswith("help: ") and help in text for text in told)


def test_results_of_what_could_not_be_read_have_the_same_shape(tmp_path):
    done = glovebox("check", "--json", tmp_path / "none.py")
    result = json.loads(done.stdout)
    assert set(result) >= RESULT_KEYS and done.returncode == 125
    assert (result["isolation"], result["policy"]) == (None, None)
    done = glovebox("batch", "-", input=b"\xff\n" + b"x" * (9 << 20) + b"\n", text=False)
    for line in done.stdout.splitlines():
        result = json.loads(line)
        assert set(result) >= RESULT_KEYS and result["status"] == "failed"
        assert result["isolation"] is None


@pytest.mark.parametrize("code", ["", "\n", "   ", "# nothing", "\n\n# nothing\n"])
def test_an_empty_program_is_fine(code):
    result = run_json(code)
    assert (result["status"], result["exit_code"], result["has_value"]) == ("ok", 0, False)


# ---- streams ----

def test_closed_streams():
    """Started by a program that closed the standard descriptors, as some daemons do."""
    before = ["bash", "-c", 'exec "$@" <&- 2>&-', "bash"]
    assert glovebox("run", "-c", "print('hi')", before=before).stdout == "hi\n"


@pytest.mark.parametrize("args", [
    ["run", "-c", "print('x' * 100000)"], ["check", "-c", "1"], ["repl"], ["shell", "-c", "echo x"], ["--help"],
], ids=lambda a: a[0])
def test_output_to_a_full_device(args):
    done = glovebox(*args, input="print(1)\nprint(2)\n",
                    before=["bash", "-c", 'exec "$@" >/dev/full', "bash"])
    assert done.returncode == 125
    assert done.stderr == "glovebox: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("args, first", [
    (["--help"], "usage: glovebox"), (["help"], "usage: glovebox"),
    (["run", "--help"], "usage: glovebox run"),
    (["help", "run"], "usage: glovebox run"), (["--version"], "glovebox "),
])
def test_help(args, first):
    done = glovebox(*args)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.lower().startswith(first)
    assert max(map(len, done.stdout.splitlines())) <= 80


# ---- code as chats and notebooks show it ----

@pytest.mark.parametrize("code, advice", [
    ("!ls", "subprocess.run"), ("x = 1\n%timeit x", "without a notebook"), ("?print", "help("),
    ("Here is the code:\n```python\nprint(1)\n```", "without ``` fences"),
    ("```\na = 1\n```\nand\n```\nb = 2\n```", "without ``` fences"),
], ids=["command", "magic", "question", "text around", "two blocks"])
def test_what_is_no_python_gets_advice(code, advice):
    finding = run_json(code)["findings"][0]
    assert finding["rule"] == "syntax" and advice in finding["remedy"], finding


def test_a_fence_around_the_whole_program_is_removed():
    """Lines keep their numbers; a session's cell and a check take the same way."""
    program = "```python\nx = 6\nx * 7\n```\n"
    assert value(program) == 42
    assert run_json("```\n\n1 / 0\n```")["error"]["line"] == 3
    assert batch([{"kind": "check", "code": program}])[0]["status"] == "ok"
    assert [r["value"] for r in batch([{"session": "s", "code": program},
                                       {"session": "s", "code": "```\nx\n```"}])] == [42, 6]


# ---- what was meant ----

@pytest.mark.parametrize("args, hint", [
    (["app.py"], "'glovebox run app.py' runs it"), (["-c", "print(1)"], "'glovebox run -c CODE' runs Python"),
    (["run", "--file", "d", "-c", "1"], "mount a directory with -m DIR:NAME"),
    (["run", "--config", "c.json", "-c", "1"], "limits are keys of their own here"),
    (["run", "-c", "input()"], "standard input is empty; --stdin FILE gives it"),
])
def test_hints_for_first_tries(tmp_path, args, hint):
    (tmp_path / "app.py").write_text("print(1)")
    (tmp_path / "c.json").write_text('{"limits": {"memory": "1G"}}')
    (tmp_path / "d").mkdir()
    done = glovebox(*args, cwd=tmp_path)
    assert done.returncode != 0 and f"glovebox: hint: {hint}" in done.stderr


def test_no_hint_where_standard_input_was_given():
    done = glovebox("run", "--stdin", "-", "-c", "input(); input()", input="one\n")
    assert done.stderr.endswith("EOFError: EOF when reading a line\n")
