"""A person is asked before a program runs: on the terminal, or by whoever uses the library."""
import json
import os
import signal
import time

import pytest

from box import SANITIZED, Terminal, batch, descendants, glovebox, run_json, run_program, told, until

PROMPT = "or a reason why not: "
UNBOXED = ("--isolation", "process", "--policy", "off")


def findings(result, rule="approval"):
    return [f for f in result["findings"] if f["rule"] == rule]


# ---- when ----

@pytest.mark.parametrize("options, status", [
    ((), "ok"),
    (("--approve", "never"), "ok"),
    (("--approve", "ask"), "rejected"),
    (("--approve", "always"), "rejected"),
    # What is acknowledged is that nothing holds it; here the kernel does.
    (("--approve", "ask", "--acknowledge-unsafe"), "rejected"),
    (UNBOXED, "rejected"),
    ((*UNBOXED, "--acknowledge-unsafe"), "ok"),
    ((*UNBOXED, "--approve", "never"), "rejected"),
    ((*UNBOXED, "--approve", "never", "--acknowledge-unsafe"), "ok"),
    ((*UNBOXED, "--approve", "ask"), "rejected"),
    ((*UNBOXED, "--approve", "ask", "--acknowledge-unsafe"), "ok"),
    ((*UNBOXED, "--approve", "always", "--acknowledge-unsafe"), "rejected"),
    (("--isolation", "none", "--policy", "off"), "rejected"),
])
def test_without_a_terminal_what_must_be_asked_is_rejected(options, status):
    result = run_json("print('ran')", *options)
    assert result["status"] == status
    assert result["exit_code"] == (0 if status == "ok" else 126)
    assert (result["stdout"] == "ran\n") == (status == "ok")
    if status == "rejected":
        [finding] = findings(result)
        assert finding["severity"] == "error" and finding["remedy"]
        assert "never" in finding["remedy"] or "--acknowledge-unsafe" in finding["remedy"]


def test_the_rejection_in_words():
    done = glovebox("run", "--approve", "ask", "-c", "print('ran')")
    assert (done.returncode, done.stdout) == (126, "")
    assert "main.py: error: not approved: there is no terminal to ask on [approval]" in done.stderr
    assert "help: run it where a person can be asked, or with approve 'never'" in done.stderr


def test_a_request_may_ask_to_be_asked_about_and_not_the_contrary():
    asked, = batch([{"code": "1", "approve": "ask"}])
    assert (asked["status"], asked["exit_code"]) == ("rejected", 126)
    loose, = batch([{"code": "1", "approve": "never"}], "--approve", "ask")
    assert loose["status"] == "failed" and "looser" in loose["error"]["message"]
    let, = batch([{"code": "1", "approve": "never"}], "--approve", "ask",
                 "--allow-request", "approve")
    assert let["status"] == "ok"


def test_a_check_needs_nobody():
    assert glovebox("check", "--isolation", "process", "--policy", "off", "-c", "1").returncode == 0


# ---- the terminal ----

@pytest.mark.parametrize("answer", ["y", "yes", "YES", "  y  "])
def test_yes(answer):
    with Terminal("run", "--approve", "ask", "-c", "print('ran')") as t:
        t.shows(PROMPT)
        t.types(answer + "\n")
        assert t.ends() == (0, "ran\n", "")


@pytest.mark.parametrize("answer, said", [
    ("n", "a person said no"), ("No", "a person said no"),
    ("it prints too much", "it prints too much"), ("yes, but not now", "yes, but not now"),
    ("\u00e9t\u00e9", "\u00e9t\u00e9"),
])
def test_no_and_why(answer, said):
    with Terminal("run", "--json", "--approve", "ask", "-c", "print('ran')") as t:
        t.shows(PROMPT)
        t.types(answer + "\n")
        status, out, _ = t.ends()
        result = json.loads(out)
        assert (status, result["status"], result["stdout"]) == (126, "rejected", "")
        assert findings(result)[0]["message"] == f"not approved: {said}"


def test_what_is_no_answer():
    """An empty line is asked about again, and what was typed before the question does not count."""
    with Terminal("run", "--approve", "ask", "-c", "print('ran')") as t:
        t.types("y\n")
        t.shows(PROMPT)
        t.types("\n")
        t.shows(PROMPT)
        t.types("   \n")
        t.shows(PROMPT)
        t.types("n\n")
        assert t.ends()[:2] == (126, "")


def test_the_end_of_file_refuses():
    with Terminal("run", "--approve", "ask", "-c", "print('ran')") as t:
        t.shows(PROMPT)
        t.types("\x04")
        t.shows("\n")  # the message begins a line of its own
        status, out, err = t.ends()
        assert (status, out) == (126, "") and "the terminal gave no answer [approval]" in err


@pytest.mark.parametrize("command", [("run", "-c", "print('ran')"), ("batch", "-")])
def test_an_interrupt_is_an_interrupt(command):
    with Terminal(*command, "--approve", "ask", input=b'{"id": 1, "code": "print(1)"}\n') as t:
        t.shows(PROMPT)
        t.types("\x03")
        t.shows("\n")
        status, out, err = t.ends()
        assert status == 128 + signal.SIGINT and "[approval]" not in err
        if command[0] == "batch":
            assert json.loads(out)["status"] == "cancelled"


def test_what_is_shown():
    code = "import math\nx = 1\neval('x')\n"
    with Terminal("run", "--isolation", "process", "--policy", "standard", "-c", code) as t:
        shown = t.shows(PROMPT)
        t.types("n\n")
        t.ends()
    lines = [line.rstrip() for line in shown.replace("\r", "").splitlines()]
    assert "     1  import math" in lines and "     3  eval('x')" in lines
    assert any("isolation process" in line and "NOTHING HOLDS IT" in line for line in lines)
    assert any("policy  standard" in line for line in lines)
    assert any(":3:1:" in line and "warning" in line for line in lines), lines


def test_warnings_are_told_once():
    """They were on the terminal with the question; where there was none, they are told."""
    options = ("run", "--policy", "standard", "-c", "eval('1')")
    with Terminal(*options, "--approve", "ask") as t:
        assert "warning:" in t.shows(PROMPT)
        t.types("n\n")
        status, _, err = t.ends()
    assert status == 126 and "[approval]" in err and "warning:" not in err
    done = glovebox(*options, "--approve", "ask")
    assert "warning:" in done.stderr and "no terminal" in done.stderr


def test_where_the_kernel_holds_it():
    with Terminal("run", "--approve", "always", "-c", "1") as t:
        shown = t.shows(PROMPT)
        assert "the kernel holds it" in shown and "NOTHING" not in shown
        assert "  network none" in shown
        assert not any(f"  {word} " in shown for word in ("env", "inputs", "args", "line", "id"))
        t.types("n\n")
        t.ends()


def test_what_it_is_given_is_shown(tmp_path):
    """All of it; of variables that the operator sets not what they hold."""
    prelude = tmp_path / "prelude.py"
    prelude.write_text("helper = 1\n")
    with Terminal("run", "--approve", "always", "--network", "host", "--env", "TOKEN=hunter2",
                  "--input", "rows=[1234567]", "--input", "n=1", "--prelude", prelude,
                  "-c", "1", "--", "--fast", "a \x1bb") as t:
        shown = t.shows(PROMPT).replace("\r", "")
        t.types("n\n")
        t.ends()
    assert "  network host: IT CAN REACH" in shown
    assert "  env     TOKEN\n" in shown and "hunter2" not in shown
    assert '  inputs  {"rows":[1234567],"n":1}\n' in shown
    assert r'  args    ["-c","--fast","a \u001bb"]' in shown
    assert "-- prelude, runs first (11 bytes):" in shown
    assert "     1  helper = 1" in shown


def test_what_is_not_held_can_reach_the_network():
    with Terminal("run", *UNBOXED, "-c", "1") as t:
        assert "  network host: " in t.shows(PROMPT)
        t.types("n\n")
        t.ends()


def test_code_cannot_hide_itself(tmp_path):
    """Escapes, carriage returns, and characters that hide or turn round what follows them."""
    source = tmp_path / "a.py"
    source.write_bytes("a = '\x1b[2K\x1b[1A\u202e\u200b\x9b1m'  # \x08\x08\x7f\r"
                       "b = 2 # \u2066\n".encode())
    with Terminal("run", "--approve", "ask", source, env={"NO_COLOR": "1"}) as t:
        shown = t.shows(PROMPT)
        t.types("n\n")
        t.ends()
    assert not set(shown) & set("\x1b\x9b\u202e\u200b\u2066\x08\x7f")
    assert r"a = '\x1b[2K\x1b[1A\u{202e}\u{200b}\x9b1m'  # \x08\x08\x7f" in shown
    assert "     2  b = 2 # \\u{2066}" in shown.replace("\r", "")


def test_the_code_may_come_from_standard_input():
    with Terminal("run", "--approve", "ask", "-", input=b"print('piped')") as t:
        assert "print('piped')" in t.shows(PROMPT)
        t.types("y\n")
        assert t.ends() == (0, "piped\n", "")


def test_many_questions_one_after_the_other():
    lines = b"".join(json.dumps({"id": i, "code": f"{i}"}).encode() + b"\n" for i in range(4))
    with Terminal("batch", "--approve", "ask", "-j", "4", "-", input=lines) as t:
        approved = set()
        for n in range(4):
            shown = t.shows(PROMPT)
            which = int(shown.split("     1  ")[1].split()[0])
            assert f"  line    {which + 1}\r\n  id      {which}\r\n" in shown
            if n % 2 == 0:
                approved.add(which)
            t.types("y\n" if n % 2 == 0 else "not this one\n")
        status, out, _ = t.ends()
    results = [json.loads(line) for line in out.splitlines()]
    assert status == 0 and [r["id"] for r in results] == [0, 1, 2, 3]
    assert {r["id"] for r in results if r["status"] == "ok"} == approved
    assert {r["status"] for r in results if r["id"] not in approved} == {"rejected"}


# ---- while it waits ----

def marks(tmp_path):
    """A program, and a prelude, that would leave a mark on the host if they ran."""
    prelude = tmp_path / "prelude.py"
    prelude.write_text(f"open({str(tmp_path / 'prelude-ran')!r}, 'w').close()")
    return (*UNBOXED, "--prelude", prelude, "-c", f"open({str(tmp_path / 'ran')!r}, 'w').close()")


def ran(tmp_path):
    return sorted(p.name for p in tmp_path.iterdir() if p.name.endswith("ran"))


@pytest.fixture
def place(tmp_path):
    """A folder that anybody can write to: as root, what is unboxed runs as somebody else."""
    for part in [tmp_path, *tmp_path.parents][:4]:
        try:
            part.chmod(0o777 if part == tmp_path else part.stat().st_mode | 0o055)
        except PermissionError:
            pass
    return tmp_path


def test_nothing_runs_before_the_answer(place):
    with Terminal("run", *marks(place)) as t:
        t.shows(PROMPT)
        time.sleep(0.5)
        assert ran(place) == []
        t.types("y\n")
        assert t.ends()[0] == 0
    assert ran(place) == ["prelude-ran", "ran"]


def test_nothing_runs_after_a_no(place):
    with Terminal("run", *marks(place)) as t:
        t.shows(PROMPT)
        t.types("n\n")
        assert t.ends()[0] == 126
    assert ran(place) == []


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL])
def test_an_engine_that_ends_takes_what_waits_along(place, sig):
    with Terminal("run", *marks(place)) as t:
        t.shows(PROMPT)
        below = set(descendants(t.process.pid))
        assert below
        os.kill(t.process.pid, sig)
        t.process.wait(20)
        assert until(lambda: not below & set(descendants()))
    assert ran(place) == []


def test_the_clock_starts_with_the_answer():
    with Terminal("run", "--json", "--approve", "ask", "-t", "0.7", "-c",
                  "import time\ntime.sleep(0.2)\nprint('ran')") as t:
        t.shows(PROMPT)
        time.sleep(1.5)
        t.types("y\n")
        status, out, _ = t.ends()
    result = json.loads(out)
    assert (status, result["status"], result["stdout"]) == (0, "ok", "ran\n")
    assert result["usage"]["wall_ms"] < 1400


def test_and_ends_what_was_let_go():
    with Terminal("run", "--approve", "ask", "-t", "0.5", "-c", "while True: pass") as t:
        t.shows(PROMPT)
        t.types("y\n")
        assert t.ends()[0] == 124


def test_a_box_that_is_killed_while_it_waits():
    with Terminal("run", "--json", "--approve", "ask", "-c", "print('ran')") as t:
        t.shows(PROMPT)
        for pid in descendants(t.process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        status, out, _ = t.ends()
    result = json.loads(out)
    assert (status, result["status"]) == (125, "failed") and result["stdout"] == ""


# ---- the record ----

@pytest.mark.parametrize("answer, events", [
    ("y", ["admitted", "checked", "approved", "started", "finished"]),
    ("n", ["admitted", "checked", "approved", "finished"]),
])
def test_the_audit_has_the_answer(tmp_path, answer, events):
    audit = tmp_path / "audit.jsonl"
    with Terminal("run", "--audit", audit, "--approve", "ask", "-c", "print('ran')") as t:
        t.shows(PROMPT)
        t.types(answer + "\n")
        t.ends()
    lines = [line for line in map(json.loads, audit.read_text().splitlines()) if "run" in line]
    assert [line["event"] for line in lines] == events
    assert lines[2]["answer"] == {"y": "yes", "n": "no"}[answer]


@pytest.mark.parametrize("options", [
    ("--approve", "ask"), (*UNBOXED, "--approve", "never"), UNBOXED,
])
def test_the_audit_tells_that_nobody_could_be_asked(tmp_path, options):
    audit = tmp_path / "audit.jsonl"
    assert glovebox("run", "--audit", audit, *options, "-c", "print('ran')").returncode == 126
    [answer] = [line["answer"] for line in map(json.loads, audit.read_text().splitlines())
                if line["event"] == "approved"]
    assert answer == "nobody"


def test_what_cannot_be_recorded_does_not_run():
    """The file fills up while the person thinks."""
    with Terminal("run", "--json", "--audit", "/dev/full", "--audit-required", "--approve", "ask",
                  "-c", "print('ran')") as t:
        status, out, err = t.ends()
    assert status in (2, 125) and "ran" not in out


# ---- the library ----

def test_the_library(library_program):
    said = told(run_program(library_program, "approve"))
    assert said["nobody"]["status"] == "rejected"
    assert "nobody to ask" in findings(said["nobody"])[0]["message"]
    question = said["question"]
    assert question["code"] == "print('ran')" and question["findings"] == []
    assert question["isolation"]["level"] in ("namespaces", "landlock")
    assert {"risk", "policy", "backend", "filename"} <= set(question)
    assert question["network"] == "none" and question["inputs"] == []
    assert sorted(question["env"]) == ["HOME", "LANG", "PATH", "TMPDIR"]
    for name in ("yes-inside", "yes-later"):
        assert (said[name]["status"], said[name]["stdout"]) == ("ok", "ran\n")
    for name in ("no-inside", "no-later"):
        assert (said[name]["status"], said[name]["stdout"]) == ("rejected", "")
        assert findings(said[name])[0]["message"] == "not approved: not today"
    assert findings(said["odd-reason"])[0]["message"].startswith("not approved")
    assert said["cancelled"]["status"] == "cancelled"
    assert said["left"]["status"] == "cancelled"
    assert said["answers"] == [0, -1, -1, 0, -1]
    assert said["rejected-first"]["status"] == "rejected", "what does not pass is not asked about"
    assert said["asked-for-it"] == 0
    assert said["no-children"] == 1 or SANITIZED
