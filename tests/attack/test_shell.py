"""Hostile commands: the shell is held by the same box.

Two halves. Attacks that are known to get out of an open host (`control: yes`) are made again from inside a
shell, by the interpreter that a command starts. And there are tricks of a shell's own, in shell/: a script
each, whose comments say what it attacks and how it must end.
"""

import json
import secrets
from pathlib import Path

import pytest

import harness
from host import GLOVEBOX, HERE, user_names

SCRIPTS = sorted((HERE / "shell").glob("*.sh"))
CONTROLS = [it for it in harness.programs() if it.control and not it.options and not it.tty]


def fields(path):
    """The comments of a script that are fields."""
    found = {"expect": "ok", "options": ""}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#: "):
            key, _, value = line[3:].partition(":")
            found[key.strip()] = value.strip()
    return found


def call(host, level, arguments, timeout=5.0, tty=False):
    """One call of `glovebox shell`, the host looked at before and after."""
    mark = f"gb-mark-{secrets.token_hex(8)}"
    before = host.snapshot()
    program = harness.Program(Path("x"), options=("-t", f"{timeout:g}"), tty=tty)
    with host.leaks() as fds:
        told = host.told(level, "", fds)
        command = [GLOVEBOX, "shell", "--json", "--isolation", level, "-t", f"{timeout:g}",
                   "-e", f"GB_RUN_MARK={mark}", "-e", f"GB_CANARY={told}", *arguments]
        outcome = host.call(command, program, fds, mark)
    outcome.complaints += host.left(before, mark)
    outcome.complaints += host.complaints()
    return program, outcome


def judge(level, outcome, secret, expect):
    said = list(outcome.complaints)
    if secret.encode() in outcome.stdout + outcome.stderr:
        said.append("the secret is in the result")
    result = json.loads(outcome.stdout)
    said += harness.shape(result, level)
    said += [line for line in result["stdout"].splitlines() if line.startswith("ESCAPED")]
    ended = result["status"]
    if ended == "ok" and result["stdout"].splitlines()[-1:] != ["HELD"]:
        ended = "silent"
    if ended not in expect:
        said.append(f"ended with {ended}, not {expect}: {result['stdout'][-600:]} {result['stderr'][-600:]} {result['error']}")
    return said


@pytest.mark.parametrize("user", user_names())
@pytest.mark.parametrize("level", harness.LEVELS)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda it: it.stem)
def test_scripts(hosts, user, level, script):
    host, told = hosts(user), fields(script)
    _program, outcome = call(host, level, [*told["options"].split(), "-c", script.read_text(encoding="utf-8")],
                             tty="tty" in told)
    wrong = judge(level, outcome, host.secret, [it.strip() for it in told["expect"].split("|")])
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


RUNNER = """
import json, os, sys
names = {"__name__": "__main__", "canary": json.loads(os.environ["GB_CANARY"])}
for path in sys.argv[1:]:
    exec(compile(open(path).read(), path, "exec"), names)
"""


# Each level with one user: test_attack.py has all four, and the box is the same.
@pytest.mark.parametrize(("level", "user"), list(zip(harness.LEVELS, [user_names()[0], user_names()[-1]], strict=True)))
@pytest.mark.parametrize("program", CONTROLS, ids=lambda it: it.name)
def test_programs_that_a_command_starts(hosts, user, level, program):
    if level not in program.levels or not program.can_run_as(user, level):
        return
    host = hosts(user)
    for variant in program.variants[:1]:
        files = ["--file", f"{HERE / 'prelude.py'}:prelude.py", "--file", f"{program.path}:attack.py"]
        command = f"cat > runner.py <<'END'\n{RUNNER}END\npython3 -I runner.py prelude.py attack.py"
        _program, outcome = call(host, level, [*files, "-c", command])
        wrong = judge(level, outcome, host.secret, ["ok"])
        if wrong:
            pytest.fail(f"{variant}: " + "\n".join(wrong), pytrace=False)


def test_there_are_enough_of_them():
    assert len(SCRIPTS) >= 12 and len(CONTROLS) >= 10
