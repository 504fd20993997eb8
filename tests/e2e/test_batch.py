"""`glovebox batch`: one request a line in, one result a line out."""
import json
import os
import pty
import signal
import time

import pytest
from box import RESULT_KEYS, batch, glovebox, running


def test_order_and_ids():
    """The slow ones come first, so that an answer out of turn would show."""
    requests = [{"id": f"r{i}", "code": f"import time\ntime.sleep({(7 - i) / 20})\n{i}"}
                for i in range(8)]
    results = batch(requests, "-j", 4)
    assert [r["id"] for r in results] == [f"r{i}" for i in range(8)]
    assert [r["value"] for r in results] == list(range(8))
    assert all(set(r) >= RESULT_KEYS for r in results)


def test_they_run_side_by_side():
    start = time.monotonic()
    batch(["import time\ntime.sleep(2)"] * 8, "-j", 8)
    assert time.monotonic() - start < 10, "one after another takes 16 s"


def test_from_a_file(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text('{"code": "1"}\n{"code": "2"}')  # the last line may lack its end
    done = glovebox("batch", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line)["value"] for line in done.stdout.splitlines()] == [1, 2]


def test_empty_input():
    done = glovebox("batch", "-", input="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_requests_carry_what_the_command_line_does():
    request = {"id": "a1", "kind": "python", "code": "import os, sys\n[x + helper(), os.environ['M'],"
               " sys.argv[1:], sys.stdin.read()]", "inputs": {"x": 41}, "env": {"M": "test"},
               "prelude": "def helper(): return 1", "timeout": 5, "argv": ["p", "a"], "stdin": "in",
               "limits": {"memory": "256M", "processes": 16}, "policy": "standard",
               "isolation": "auto", "backend": "local", "network": "none"}
    result, = batch([request], "--allow-request", "prelude")
    assert (result["status"], result["id"]) == ("ok", "a1"), result["error"]
    assert result["value"] == [42, "test", ["a"], "in"]


BAD = {
    "not json": (b"{code: 1}", ""),
    "half": (b'{"code": "1"', ""),
    "no object": (b"[1]", "object"),
    "a word": (b"hello", ""),
    "empty object": (b"{}", "code"),
    "unknown key": (b'{"code": "1", "timeuot": 1}', "timeuot"),
    "wrong type": (b'{"code": 5}', "code"),
    "wrong type inside": (b'{"code": "1", "limits": {"memory": true}}', "memory"),
    "unknown limit": (b'{"code": "1", "limits": {"speed": 1}}', "speed"),
    "out of range": (b'{"code": "1", "timeout": -1}', "timeout"),
    "zero": (b'{"code": "1", "timeout": 0}', "timeout"),
    "huge": (b'{"code": "1", "timeout": 1e300}', "timeout"),
    "unknown kind": (b'{"kind": "perl", "code": "1"}', "kind"),
    "unknown level": (b'{"code": "1", "isolation": "strong"}', "isolation"),
    "twice": (b'{"code": "1", "code": "2"}', ""),
    "not utf-8": (b'{"code": "\xff"}', ""),
    "bad input name": (b'{"code": "1", "inputs": {"a b": 1}}', "a b"),
    "bad variable": (b'{"code": "1", "env": {"A=B": "1"}}', "env"),
    "nul in variable": (b'{"code": "1", "env": {"A": "\\u0000"}}', "env"),
    "too loose a timeout": (b'{"code": "1", "timeout": 60}', "timeout"),
    "too loose a limit": (b'{"code": "1", "limits": {"memory": "2G"}}', "memory"),
    "too loose a level": (b'{"code": "1", "isolation": "process"}', "isolation"),
    "too loose a network": (b'{"code": "1", "network": "host"}', "network"),
    "deep": (b"[" * 100000, ""),
    "big number": (b'{"code": "x", "inputs": {"x": 18446744073709551616}}', ""),
    "big code": (json.dumps({"code": "#" * (1 << 20) + "#"}).encode(), "1 MiB"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_answered_and_the_others_go_on(name):
    line, words = BAD[name]
    first, bad, last = batch([{"id": "a", "code": "1"}, line, {"id": "b", "code": "2"}])
    assert (first["id"], first["value"], last["id"], last["value"]) == ("a", 1, "b", 2)
    assert (bad["status"], bad["exit_code"]) == ("failed", 125), bad
    assert set(bad) >= RESULT_KEYS and words in bad["error"]["message"]


def test_a_bad_request_keeps_its_id():
    bad, = batch([{"id": "mine", "code": "1", "nope": 1}])
    assert (bad["id"], bad["status"]) == ("mine", "failed")


def test_two_hundred():
    results = batch([{"id": str(i), "code": f"print({i})\n{i} * 2"} for i in range(200)])
    assert [(r["id"], r["stdout"], r["value"]) for r in results] == \
        [(str(i), f"{i}\n", i * 2) for i in range(200)]


def test_answers_come_while_lines_are_still_being_written():
    """A program may hold the other end and talk: each line is answered when it is done."""
    with running("batch", "-", stdin=-1) as process:
        for i in range(3):
            process.stdin.write(json.dumps({"code": str(i)}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["value"] == i
        process.stdin.close()
        assert process.wait(10) == 0


# ---- the progress bar ----

def on_a_terminal(*args):
    """Everything that was written to a terminal that is standard error."""
    ours, theirs = pty.openpty()
    seen = b""
    with running("batch", *args, stderr=theirs) as process:
        os.close(theirs)
        process.stdout.read()
        try:
            while data := os.read(ours, 4096):
                seen += data
        except OSError:
            pass  # the last writer is gone
        assert process.wait(10) == 0
    os.close(ours)
    return seen.decode()


def test_progress_is_for_terminals(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text('{"code": "import time; time.sleep(.1)"}\n' * 9 + '{"code": "1/0"}\n')
    shown = on_a_terminal(file)
    assert "100%" in shown and "10 answered, 9 ok, 1 not" in shown and shown.endswith("\n")
    assert on_a_terminal("--quiet", file) == ""
    assert glovebox("batch", file).stderr == ""


# ---- the end ----

@pytest.mark.parametrize("sig, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(tmp_path, sig, status):
    file = tmp_path / "r.jsonl"
    file.write_text('{"code": "1"}\n' + '{"code": "import time; time.sleep(60)"}\n' * 50)
    with running("batch", "-j", "4", file) as process:
        assert json.loads(process.stdout.readline())["status"] == "ok"
        process.send_signal(sig)
        rest = [json.loads(line) for line in process.stdout]
        assert process.wait(20) == status
    assert all(r["status"] == "cancelled" for r in rest) and len(rest) < 50


def test_reader_goes_away(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text('{"code": "1"}\n' * 300)
    with running("batch", file) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 141
