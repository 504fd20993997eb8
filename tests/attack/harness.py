"""Hostile programs: what each one promises, and whether an outcome is what it should be.

A program is a file in programs/ whose docstring says what it attacks; its last paragraph holds fields:

    levels:   isolation levels that must hold it (namespaces, landlock)
    expect:   statuses that are right, by "|"; `ok` means ok with HELD as the last line of stdout, `silent`
              means ok without a verdict, `limit NAME` names the limit; default: ok
    exit:     the exit code that the result must carry
    options:  more options of `glovebox run`; {ro}, {rw}, {out} and {venv} are directories of this host
    within:   seconds in which the call must return; default: the time limit and three more
    variants: words, each a test of its own, handed to the program as canary["variant"]
    repeat:   how often to run it in a row
    counts:   FIELD NUMBER: this field of the result is at least that number
    tty:      yes: glovebox gets a terminal that it controls
    control:  yes: harmless and real: run without a box by an ordinary user, it must get out
"""

import ast
import base64
import json
import re
from dataclasses import dataclass, fields
from pathlib import Path

LEVELS = ("namespaces", "landlock")
LAYERS = {
    "namespaces": set("user mount pid net ipc uts seccomp landlock nnp caps rlimits".split()),
    "landlock": set("landlock seccomp nnp rlimits".split()),
}
RESULT_KEYS = set(
    "status exit_code stdout stderr stdout_truncated stderr_truncated stdout_bytes stderr_bytes value has_value "
    "error findings limit files tool_calls session outputs isolation policy risk usage timings".split()
)
# What the guest says itself; in everything else no word of its own may appear.
GUESTS_OWN = {"stdout", "stderr", "value", "error", "outputs", "files"}
STREAM_LIMIT = 64 * 1024 + 1024
RESULT_LIMIT = 8 * 1024 * 1024


@dataclass(frozen=True)
class Program:
    path: Path
    levels: tuple = LEVELS
    expect: tuple = ("ok",)
    exit: int = None
    options: tuple = ()
    within: float = None
    variants: tuple = ("",)
    repeat: int = 1
    counts: tuple = ()
    tty: bool = False
    control: bool = False

    @property
    def name(self):
        return f"{self.path.parent.name}/{self.path.stem}"

    def can_run_as(self, user, level):
        """Without a mount namespace root's programs get no mount to write to: such a call is refused."""
        return user != "root" or level != "landlock" or not any(it.endswith(":rw") for it in self.options)

    @property
    def timeout(self):
        return float(self.options[self.options.index("-t") + 1]) if "-t" in self.options else 5.0

    @property
    def deadline(self):
        return self.within or self.timeout + 3


PARSE = {
    "levels": lambda text: tuple(text.split()),
    "expect": lambda text: tuple(it.strip() for it in text.split("|")),
    "exit": int,
    "options": lambda text: tuple(text.split()),
    "within": float,
    "variants": lambda text: tuple(text.split()),
    "repeat": int,
    "counts": lambda text: (text.split()[0], int(text.split()[1])),
    "tty": lambda text: text == "yes",
    "control": lambda text: text == "yes",
}
assert set(PARSE) == {it.name for it in fields(Program)} - {"path"}


def load(path):
    """A program and what its docstring promises."""
    paragraphs = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split("\n\n")
    assert len(paragraphs) > 1, f"{path}: no fields in the docstring"
    pairs = [line.split(":", 1) for line in paragraphs[-1].splitlines()]
    program = Program(path, **{key.strip(): PARSE[key.strip()](value.strip()) for key, value in pairs})
    assert set(program.levels) <= set(LEVELS), f"{path}: unknown level"
    return program


def programs():
    return [load(path) for path in sorted((Path(__file__).parent / "programs").glob("*/*.py"))]


# -- the verdict ---------------------------------------------------------------------------------------


def judge(program, level, outcome, secret):
    """Everything that is wrong with the outcome of an attack."""
    said = list(outcome.complaints)
    for text in (secret.encode(), secret.encode().hex().encode(), base64.b64encode(secret.encode())[:-4]):
        if text in outcome.stdout + outcome.stderr:
            said.append("the secret is in the result")
    if len(outcome.stdout) > RESULT_LIMIT:
        said.append(f"the result has {len(outcome.stdout)} bytes")
    try:
        result = outcome.result = json.loads(outcome.stdout)
    except (ValueError, RecursionError):
        return [*said, f"no result that can be read: exit {outcome.status}, {outcome.stderr[-500:]!r}"]
    return said + shape(result, level) + ending(program, result, outcome.status)


def shape(result, level):
    """What must be true of any result, whatever the guest did."""
    said = [f"no {key} in the result" for key in sorted(RESULT_KEYS - set(result))]
    isolation = result.get("isolation") or {}
    if isolation.get("level") != level:
        said.append(f"isolation was {isolation.get('level')}")
    missing = LAYERS[level] - set(isolation.get("layers", ()))
    if missing:
        said.append(f"layers are missing: {sorted(missing)}")
    trusted = {key: value for key, value in result.items() if key not in GUESTS_OWN}
    if "FORGED" in json.dumps(trusted):
        said.append("the guest forged a part of the result")
    for stream in ("stdout", "stderr"):
        if len(result.get(stream, "")) > STREAM_LIMIT:
            said.append(f"{stream} is longer than its limit")
    said += [f"a link was reported: {it['path']}" for it in result.get("files", ()) if "link-" in it["path"]]
    return said


def ending(program, result, status):
    """Whether the run ended as the program's docstring says."""
    said = []
    lines = result.get("stdout", "").splitlines() or [""]
    got = result.get("status")
    words = {"ok": "ok" if lines[-1] == "HELD" else "silent", "limit": f"limit {result.get('limit')}"}
    ended = words.get(got, got)
    if ended not in program.expect and not (ended == "ok" and "silent" in program.expect):
        tail = {key: result.get(key) for key in ("stdout", "stderr", "error")}
        said.append(f"ended with {ended}, not {' | '.join(program.expect)}: {json.dumps(tail)[-2000:]}")
    said += [line for line in lines if line.startswith("ESCAPED")]
    if result.get("exit_code") != status or (got == "ok") != (status == 0):
        said.append(f"status {got}, exit_code {result.get('exit_code')}, but the command's own is {status}")
    right = {"timeout": (124,), "limit": (137,), "crashed": range(129, 160)}.get(got)
    if right and status not in right:
        said.append(f"status {got} with exit status {status}")
    if program.exit is not None and status != program.exit:
        said.append(f"exit status {status}, not {program.exit}")
    if program.counts and result.get(program.counts[0], 0) < program.counts[1]:
        said.append(f"{program.counts[0]} is {result.get(program.counts[0])}")
    return said


def got_out(outcome):
    """Whether an attack without a box succeeded, by its own word or by what happened to the secrets."""
    return bool(re.search(rb"^ESCAPED", outcome.stdout, re.MULTILINE)) or bool(outcome.complaints)
