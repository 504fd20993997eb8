"""`--audit`: what it writes, what it keeps to itself, and what `glovebox audit verify` finds."""
import hashlib
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest
from box import ENV, GLOVEBOX, PYTHON, SANITIZED, batch, glovebox, run_json, running, until

UNBOXED = ("--isolation", "process", "--policy", "off", "--acknowledge-unsafe")
ZEROS = "0" * 64
SLOW = 'import time\ntime.sleep(60)'


@pytest.fixture
def audit(tmp_path):
    return tmp_path / "audit.jsonl"


def sha256(data):
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def events(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def names(file):
    return [e["event"] for e in events(file)]


def verify(file, *options, **kwargs):
    """(exit status, report)"""
    done = glovebox("audit", "verify", "--json", *options, file, **kwargs)
    return done.returncode, json.loads(done.stdout)


def problems(file):
    status, report = verify(file)
    assert (status, report["ok"]) == ((1, False) if report["problems"] else (0, True))
    return [(p["line"], p["kind"]) for p in report["problems"]]


def chain_holds(file):
    """The scheme of docs/audit.md, worked out once more without glovebox."""
    prev = ZEROS
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        body, mark, rest = line.rpartition(b',"hash":"')
        event = json.loads(line)
        assert mark and rest == event["hash"].encode() + b'"}'
        assert (event["seq"], event["prev"], event["hash"]) == (number, prev, sha256(body))
        prev = event["hash"]
    return prev


# ---- what is written ----

def test_a_run(audit):
    code = "print('hello')\n41 + 1"
    result = run_json(code, "--audit", audit)
    assert (result["status"], result["value"]) == ("ok", 42) and "audit_error" not in result
    assert sorted(names(audit)) == ["admitted", "checked", "closed", "finished", "opened", "started"]
    assert names(audit)[:2] == ["opened", "admitted"] and names(audit)[-2:] == ["finished", "closed"]
    assert oct(audit.stat().st_mode & 0o777) == "0o600"
    of = {e["event"]: e for e in events(audit)}
    assert {e["v"] for e in events(audit)} == {1}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", e["time"])
               for e in events(audit))
    runs = [e for e in events(audit) if e["event"] not in ("opened", "closed")]
    assert {e["run"] for e in runs} == {of["opened"]["engine"] + "-1"}
    assert {e["code_sha256"] for e in runs} == {sha256(code)}
    assert len({e["policy_sha256"] for e in runs}) == 1
    assert of["admitted"]["settings"]["memory"] == 512 << 20
    assert of["admitted"]["settings"]["policy"] == result["policy"]
    assert (of["checked"]["verdict"], of["checked"]["rules"]) == ("passed", {})
    finished = of["finished"]
    assert all(finished[k] == result[k]
               for k in ("status", "exit_code", "isolation", "usage", "timings", "stdout_bytes"))
    head = chain_holds(audit)
    status, report = verify(audit, "--expect", head)
    assert (status, report["head"], report["expected_line"]) == (0, head, 6)
    assert (report["lines"], report["runs"], report["open"]) == (6, 1, False)


ENDS = {
    "error": ("1/0", (), {"status": "error", "exit_code": 1}),
    "exit": ("raise SystemExit(7)", (), {"status": "error", "exit_code": 7}),
    "crash": ("import os; os.kill(os.getpid(), 11)", (), {"status": "crashed", "exit_code": 139}),
    "syntax": ("x =", (), {"status": "rejected", "exit_code": 126, "rules": {"syntax": 1}}),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends(audit, name):
    code, options, facts = ENDS[name]
    run_json(code, "--audit", audit, *options)
    finished = events(audit)[-2]
    assert finished["event"] == "finished" and facts.items() <= finished.items()
    verdicts = [e["verdict"] for e in events(audit) if e["event"] == "checked"]
    assert verdicts == ["rejected" if name == "syntax" else "passed"]
    assert problems(audit) == []


@pytest.mark.parametrize("code, options, limit, value", [
    ("while True: pass", ("-t", "0.3"), "timeout", 300),
    ("x = bytearray(1 << 30)", ("--memory", "64M"), "memory", 64 << 20),
    ("while True: pass", ("--cpu", "0.2"), "cpu", 200),
])
def test_a_limit(audit, code, options, limit, value):
    run_json(code, "--audit", audit, *options)
    hit, = [e for e in events(audit) if e["event"] == "limit_hit"]
    assert (hit["limit"], hit["value"]) == (limit, value)
    assert names(audit)[-3:] == ["limit_hit", "finished", "closed"]


def test_requests_that_are_refused(audit):
    """One that is none, one that asks for too much: they end, and were never admitted."""
    batch([b"{", {"id": "big", "code": "1", "timeout": 1e9}, {"id": 7, "code": "1"}],
          "--audit", audit)
    ended = {json.dumps(e.get("id")): e for e in events(audit) if e["event"] == "finished"}
    assert [ended[i]["status"] for i in ("null", '"big"', "7")] == ["failed", "failed", "ok"]
    assert ended["null"]["error"] == "invalid" and ended["null"]["code_sha256"] is None
    assert [e["id"] for e in events(audit) if e["event"] == "admitted"] == [7]


def test_a_cancelled_run(audit):
    with running("run", "--audit", audit, "-c", SLOW) as process:
        assert until(lambda: audit.exists() and "started" in names(audit))
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
    assert events(audit)[-2]["status"] == "cancelled" and problems(audit) == []


def test_code_that_is_no_text(tmp_path, audit):
    code = b"x = '\xff'\n"
    (tmp_path / "bad.py").write_bytes(code)
    run_json(None, "--audit", audit, tmp_path / "bad.py")
    assert {e["code_sha256"] for e in events(audit)[1:-1]} == {sha256(code)}


def test_a_policy_has_its_own_digest(audit):
    for policy in ("standard", "off", "standard"):
        run_json("1", "--audit", audit, "--policy", policy)
    a, b, c = (e["policy_sha256"] for e in events(audit) if e["event"] == "admitted")
    assert a == c != b


def test_long_ids_are_digested(audit):
    long = "i" * 5000
    batch([{"id": long, "code": "1"}, {"id": {"a": [1]}, "code": "1"}], "--audit", audit, "-j", 1)
    first, second = [e for e in events(audit) if e["event"] == "admitted"]
    assert "id" not in first and first["id_sha256"] == sha256(json.dumps(long))
    assert second["id"] == {"a": [1]}


def test_lines_of_parallel_runs_can_be_told_apart(audit):
    results = batch([{"id": i, "code": f"import time\ntime.sleep({i % 3 / 50})\n{i}"}
                     for i in range(64)], "-j", 8, "--audit", audit)
    assert [r["value"] for r in results] == list(range(64))
    of = {}
    for event in events(audit)[1:-1]:
        of.setdefault(event["run"], []).append(event)
    assert len(of) == 64
    for run in of.values():
        assert run[0]["event"] == "admitted" and run[-1]["event"] == "finished"
        assert len({e["id"] for e in run}) == 1 == len({e["code_sha256"] for e in run})
    assert chain_holds(audit) and problems(audit) == []


def test_it_keeps_to_itself_what_was_said(audit, tmp_path):
    """Code, output, values, input, environment, arguments, exceptions, source of findings."""
    secret = "sEcReT"
    requests = [
        {"id": "a", "code": f"import os, sys\nx_{secret} = 1\nprint('{secret}out')\n"
         f"print('{secret}err', file=sys.stderr)\n'{secret}value'",
         "inputs": {f"{secret}_in": f"{secret}"}, "env": {f"{secret}_E": f"{secret}"},
         "stdin": secret, "argv": [secret], "prelude": f"{secret}_p = '{secret}'",
         "filename": f"{secret}.py"},
        {"id": "b", "code": f"class {secret}(Exception): pass\nraise {secret}('{secret}')"},
        {"id": "c", "code": f"{secret} = = 1"},
        {"id": "d", "code": "1", secret: 1},
        {"id": "e", "code": "1", "env": {secret: 5}},
        {"id": "f", "code": f"import os, signal\n'{secret}'\nos.abort()"},
        {"id": "g", "code": f"'{secret}'\nx = bytearray(1 << 30)", "limits": {"memory": "64M"}},
    ]
    statuses = [r["status"] for r in batch(requests, "--audit", audit, "--env", f"TOKEN={secret}",
                                             "--allow-request", "prelude")]
    assert statuses == ["ok", "error", "rejected", "failed", "failed", "crashed", "limit"]
    assert secret not in audit.read_text() and secret.lower() not in audit.read_text().lower()
    assert sha256(requests[1]["code"]) in audit.read_text()
    # A prelude is code too.
    both = [requests[0]["prelude"], None, requests[0]["code"]]
    assert sha256(json.dumps(both, separators=(",", ":"))) in audit.read_text()


# ---- what verifying finds ----

@pytest.fixture
def lines(audit):
    """The lines of an intact file."""
    batch([{"id": i, "code": str(i)} for i in range(3)], "-j", 1, "--audit", audit)
    assert problems(audit) == []
    return audit.read_bytes().splitlines(keepends=True)


def test_a_byte_changed_in_each_line(audit, lines):
    for number, line in enumerate(lines, 1):
        for at in (0, 5, 20, len(line) // 2, len(line) - 80, len(line) - 10, len(line) - 2):
            changed = line[:at] + bytes([line[at] ^ 2]) + line[at + 1:]
            audit.write_bytes(b"".join(lines[:number - 1] + [changed] + lines[number:]))
            assert problems(audit)[0][0] == number
            assert problems(audit)[0][1] in ("changed", "foreign", "version")


def test_lines_taken_out_put_in_and_moved(audit, lines):
    last = len(lines)
    for i in range(last):
        audit.write_bytes(b"".join(lines[:i] + lines[i + 1:]))
        found = problems(audit)
        assert found[0][1] == ("missing" if i < last - 1 else "unclosed"), (i, found)
        assert i == last - 1 or found[0][0] == i + 1
        audit.write_bytes(b"".join(lines[:i] + [lines[i]] + lines[i:]))
        assert problems(audit)[0] == (i + 2, "order")
    for i in range(last - 1):
        swapped = lines[:i] + [lines[i + 1], lines[i]] + lines[i + 2:]
        audit.write_bytes(b"".join(swapped))
        assert problems(audit)[0] == (i + 1, "missing")


def test_a_cut(audit, lines):
    whole = b"".join(lines)
    for keep in range(1, len(whole), 97):
        audit.write_bytes(whole[:keep])
        assert problems(audit) != [], keep
    audit.write_bytes(b"".join(lines[:-1]))  # at a line's end: nobody closed it
    assert [kind for _, kind in problems(audit)] == ["unclosed"]


def test_a_file_rewritten_as_a_whole(audit, lines, tmp_path):
    """Whoever may write the file may compute it anew. A hash kept elsewhere finds that."""
    head = chain_holds(audit)
    assert verify(audit, "--expect", head)[0] == 0
    audit.unlink()
    batch([{"id": i, "code": str(i)} for i in range(3)], "-j", 1, "--audit", audit)
    assert verify(audit)[0] == 0
    status, report = verify(audit, "--expect", head.upper())
    assert (status, [p["kind"] for p in report["problems"]]) == (1, ["expected"])


def test_words_for_people(audit, lines, tmp_path):
    done = glovebox("audit", "verify", audit)
    assert done.stdout == f"{audit}: intact, {len(lines)} lines, 3 runs, head {chain_holds(audit)}\n"
    lines[2] = lines[2].replace(b'"seq"', b'"sEq"')
    audit.write_bytes(b"".join(lines))
    done = glovebox("audit", "verify", audit)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"{audit}:3: changed: ")
    assert f"{audit}: damaged, {len(lines)} lines" in done.stdout


def test_many_files_and_standard_input(audit, lines, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"".join(lines[1:]))
    assert glovebox("audit", "verify", audit, audit).returncode == 0
    done = glovebox("audit", "verify", "--json", audit, bad)
    assert done.returncode == 1
    assert [json.loads(line)["ok"] for line in done.stdout.splitlines()] == [True, False]
    done = glovebox("audit", "verify", audit, tmp_path / "none", bad)
    assert done.returncode == 125 and f"cannot read '{tmp_path}/none'" in done.stderr
    assert f"{bad}:1: missing" in done.stdout
    assert glovebox("audit", "verify", "-", input=audit.read_text()).returncode == 0
    assert glovebox("audit", "verify", "-", input=bad.read_text()).returncode == 1


@pytest.mark.parametrize("args, words", [
    ((), "verify FILE"), (("verify",), "no audit file"), (("check", "x"), "check"),
    (("verify", "--expect", "12", "x"), "64"), (("verify", "--expect", ZEROS, "x", "y"), "one file"),
    (("verify", "--nope", "x"), "--nope"),
])
def test_usage(args, words):
    done = glovebox("audit", *args)
    assert done.returncode == 2 and words in done.stderr and done.stdout == ""


def test_help():
    done = glovebox("help", "audit")
    assert done.returncode == 0 and "glovebox audit verify" in done.stdout
    assert "--audit FILE" in glovebox("run", "--help").stdout


def test_a_large_file_in_little_memory(audit):
    """Made here by the same scheme: 30 MB, verified in far less."""
    prev, written = ZEROS, 0
    with audit.open("wb") as f:
        for seq in range(1, 60001):
            event = {1: "opened", 60000: "closed"}.get(seq, "started")
            body = (f'{{"v":1,"seq":{seq},"time":"2026-01-01T00:00:00.000000Z","event":"{event}",'
                    f'"engine":"0123456789abcdef","alone":true,"pad":"{"x" * 200}",'
                    f'"prev":"{prev}"').encode()
            prev = sha256(body)
            written += f.write(body + b',"hash":"' + prev.encode() + b'"}\n')
    assert written > 25 << 20
    limit = () if SANITIZED else ("prlimit", f"--data={8 << 20}")
    status, report = verify(audit, before=limit, timeout=300)
    assert (status, report["lines"], report["head"]) == (0, 60000, prev)


# ---- writers that die, and that share ----

def test_a_writer_that_is_killed(audit, tmp_path):
    requests = tmp_path / "r.jsonl"
    requests.write_text('{"code": "1"}\n' * 30 + json.dumps({"code": SLOW}))
    with running("batch", "-j", "2", "--audit", audit, requests) as process:
        assert until(lambda: audit.exists() and names(audit).count("finished") >= 30, 30)
        status, report = verify(audit)  # while it is being written
        assert (status, report["open"], report["problems"]) == (0, True, [])
        process.send_signal(signal.SIGKILL)
        process.wait()
    (line, kind), = problems(audit)
    assert (line, kind) == (len(events(audit)), "unclosed")
    run_json("1", "--audit", audit)
    status, report = verify(audit)
    assert (status, [e["line"] for e in report["ended"]]) == (0, [line])
    assert chain_holds(audit)


def test_who_recovers_has_closed(audit):
    """The one that recovers says so before it says that it has opened the file."""
    run_json("1", "--audit", audit)
    first = events(audit)[0]["engine"]
    audit.write_bytes(audit.read_bytes()[:700])
    run_json("1", "--audit", audit)
    assert b'"event":"recovered"' in audit.read_bytes()
    assert [e["engine"] for e in verify(audit)[1]["ended"]] == [first]


def test_one_is_not_many(audit, lines):
    audit.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert "3: missing: 1 line is missing before this one" in \
        glovebox("audit", "verify", audit).stdout
    audit.write_bytes(b"".join(lines[:2] + lines[4:]))
    assert "3: missing: 2 lines are missing before this one" in \
        glovebox("audit", "verify", audit).stdout


def test_a_torn_line(audit, lines):
    audit.write_bytes(b"".join(lines)[:-30])
    assert (len(lines), "torn") in problems(audit)
    run_json("1", "--audit", audit)
    assert problems(audit) == [(len(lines), "torn")]
    recovered = json.loads(audit.read_bytes().splitlines()[len(lines)])
    assert recovered["event"] == "recovered"
    assert recovered["damaged_bytes"] == len(lines[-1]) - 30
    run_json("1", "--audit", audit)
    assert problems(audit) == [(len(lines), "torn")]


def test_two_at_once(audit, tmp_path):
    requests = tmp_path / "r.jsonl"
    requests.write_text("".join(f'{{"id": {i}, "code": "{i}"}}\n' for i in range(100)))
    with running("batch", "-j", "4", "--audit", audit, requests) as a, \
            running("batch", "-j", "4", "--audit", audit, requests) as b:
        for process in (a, b):
            out, err = process.communicate(timeout=60)
            assert (process.returncode, err, len(out.splitlines())) == (0, "", 100)
            assert all("audit_error" not in json.loads(line) for line in out.splitlines())
    assert names(audit).count("finished") == 200 and chain_holds(audit)
    assert len({e["run"] for e in events(audit) if "run" in e}) == 200
    assert problems(audit) == []


def test_rotation(audit, tmp_path):
    old = tmp_path / "audit.1"
    with running("batch", "--audit", audit, "-", stdin=subprocess.PIPE) as process:
        for i in range(2):
            process.stdin.write('{"code": "1"}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["status"] == "ok"
            if i == 0:
                audit.rename(old)
        process.stdin.close()
        assert process.wait(10) == 0
    assert problems(audit) == problems(old) == []
    first = events(audit)[0]
    assert (first["because"], first["after_hash"]) == ("replaced", events(old)[-1]["hash"])
    assert verify(old, "--expect", first["after_hash"])[0] == 0
    assert verify(audit)[1]["before"]["hash"] == first["after_hash"]
    assert "begun anew after line" in glovebox("audit", "verify", audit).stdout
    assert verify(old)[1]["before"] is None


class Writer:
    """An engine that has the file open, and runs what it is told to."""

    def __init__(self, audit, *options):
        self.made = running("batch", "-j", "1", "--audit", audit, *options, "-", stdin=subprocess.PIPE)

    def __enter__(self):
        self.process = self.made.__enter__()
        return self

    def run(self, code="1"):
        self.process.stdin.write(json.dumps({"code": code}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(20) == 0

    def __exit__(self, *error):
        return self.made.__exit__(*error)


@pytest.mark.parametrize("more", [0, 1, 3])
def test_emptied_and_filled_again_by_another(audit, more):
    """copytruncate with two writers: one finds the file as long as it was, or longer, and must not go on from a line that
    is gone. It says so, and so does verify."""
    with Writer(audit) as a, Writer(audit) as b:
        a.run()
        size = audit.stat().st_size
        copy = audit.with_suffix(".copy")
        copy.write_bytes(audit.read_bytes())
        os.truncate(audit, 0)
        for _ in range(1 + more):
            assert "audit_error" not in b.run()
        if more == 0 and audit.stat().st_size < size:  # to the byte: what stands there is another line
            grow_to(audit, size)
        assert "audit_error" not in a.run()
        a.end()
        b.end()
    assert problems(copy)[-1:] in ([], [(len(copy.read_bytes().splitlines()), "unclosed")])
    told = [e for e in events(audit) if e.get("because") == "shortened"]
    assert len(told) == 1 and problems(audit) == [(told[0]["seq"], "cut")] and chain_holds(audit)


def grow_to(audit, size):
    """Lines of the same chain, of another engine, until the file has exactly this size."""
    while audit.stat().st_size < size:
        last = json.loads(audit.read_bytes().splitlines()[-1])
        line = {"v": 1, "seq": last["seq"] + 1, "time": last["time"], "event": "admitted", "run": "other-1", "id": "",
                "prev": last["hash"]}
        room = size - audit.stat().st_size - len(json.dumps(line, separators=(",", ":"))) - len(',"hash":""') - 65
        line["id"] = "x" * min(max(room, 0), 200)
        text = json.dumps(line, separators=(",", ":"))[:-1]
        digest = hashlib.sha256(text.encode()).hexdigest()
        with audit.open("a") as f:
            f.write(f'{text},"hash":"{digest}"}}\n')


def test_moved_away_under_load(audit, tmp_path):
    """Two writers, and a file that is moved away again and again: no line is lost, and all pieces hold."""
    requests = tmp_path / "r.jsonl"
    requests.write_text("".join(f'{{"id": {i}, "code": "{i}"}}\n' for i in range(150)))
    pieces = []
    with running("batch", "-j", "2", "--audit", audit, "--audit-required", requests) as a, \
            running("batch", "-j", "2", "--audit", audit, "--audit-required", requests) as b:
        for process in (a, b):
            process.reader = threading.Thread(target=lambda p=process: setattr(p, "told", p.communicate(timeout=60)))
            process.reader.start()
        while a.poll() is None or b.poll() is None:
            time.sleep(.02)
            if audit.exists() and len(pieces) < 40:
                pieces.append(audit.rename(tmp_path / f"piece{len(pieces)}"))
        for process in (a, b):
            process.reader.join()
            assert all(json.loads(line)["status"] == "ok" for line in process.told[0].splitlines()), process.told
    pieces += [audit] * audit.exists()
    assert len(pieces) > 1
    for piece in pieces:
        assert problems(piece) == [], piece.read_text()
    assert sum(names(piece).count("finished") for piece in pieces) == 300


def test_killed_again_and_again(audit):
    """SIGKILL at any moment, two at a time: the file stays one that can be verified, and written to."""
    for i in range(8):
        with Writer(audit) as a, Writer(audit) as b:
            for writer in (a, b):
                writer.process.stdin.write('{"code": "1"}\n' * 30)
                writer.process.stdin.flush()
            time.sleep(.03 * i)
            a.process.kill()
            b.process.kill()
    run_json("1", "--audit", audit)
    assert {kind for _, kind in problems(audit)} <= {"unclosed", "torn"} and chain_holds(audit)
    assert names(audit)[-1] == "closed"


@pytest.mark.parametrize("required", [(), ("--audit-required",)])
def test_a_disk_that_is_full(tmp_path, required):
    """A file system of 64 KiB, which two engines fill. Root alone can mount one."""
    if os.getuid() != 0:
        return
    script = """
        mount -t tmpfs -o size=64k none $1; cd $1; shift
        run() { "$@" --audit audit - <../requests >../$n; }
        n=1; run "$@" & n=2; run "$@"; wait
        dd if=/dev/zero of=fill bs=1k 2>/dev/null || :
        n=3; run "$@" || :
        mount -o remount,size=10m .
        n=4; run "$@"; cp audit ../audit"""
    (tmp_path / "disk").mkdir()
    (tmp_path / "requests").write_text('{"code": "1"}\n' * 60)
    done = subprocess.run(["unshare", "-m", "sh", "-ec", script, "-", tmp_path / "disk", GLOVEBOX, "batch", *required], env=ENV,
                          capture_output=True, text=True, timeout=120)
    results = [[json.loads(line) for line in (tmp_path / n).read_text().splitlines()] for n in "1234"]
    assert [len(r) for r in results] == [60] * 4, done.stderr
    unwritten = [r for part in results for r in part if "audit_error" in r]
    assert unwritten and all(r["status"] == ("failed" if required else "ok") for r in unwritten)
    if required:
        assert all(r["error"]["type"] == "audit" for r in unwritten)
    assert all("audit_error" in r for r in results[2]) and not any("audit_error" in r for r in results[3])
    assert {kind for _, kind in problems(tmp_path / "audit")} <= {"lost", "unclosed", "torn"}
    assert chain_holds(tmp_path / "audit")


# ---- a file that cannot be written ----

@pytest.mark.parametrize("required", [(), ("--audit-required",)])
@pytest.mark.parametrize("name, words", [
    ("/dev/full", "device"), ("/nonexistent/x", "No such file"), ("/usr", "directory"),
    ("/dev/stdout", "symbolic link")])
def test_a_file_that_will_not_do(name, words, required):
    done = glovebox("run", "--audit", name, *required, "-c", "print(1)")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith("glovebox: cannot ") and words in done.stderr


def test_a_file_that_holds_something_else(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine\n")
    assert glovebox("run", "--audit", notes, "-c", "print(1)").returncode == 125
    assert notes.read_text() == "mine\n"


def test_required_of_nothing():
    done = glovebox("run", "--audit-required", "-c", "1")
    assert done.returncode == 2 and "--audit-required" in done.stderr


def with_room(audit, room, *args):
    """glovebox, when the file has room for so many bytes more. Python ignores SIGXFSZ, and what
    it turns into inherits that."""
    size = audit.stat().st_size + room
    start = (f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}));"
             "os.execv(sys.argv[1], sys.argv[1:])")
    return subprocess.run([PYTHON, "-c", start, GLOVEBOX, *map(str, args)], env=ENV, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


@pytest.fixture
def long_file(audit):
    """A file so large that its own size is no limit to anything else in a run."""
    batch(["1"] * 40, "--audit", audit)
    assert audit.stat().st_size > 60000
    return audit


@pytest.fixture
def open_dir():
    """Where a program without a box can write, whoever it runs as."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


def test_no_room_and_required(long_file, open_dir):
    """Whichever line it is that does not fit: what was not recorded was not run, and what ran is
    not a success."""
    mark = open_dir / "ran"
    whole = long_file.read_bytes()
    seen = set()
    for room in (0, 100, 900, 1400, 1700, 2600, 20000):
        long_file.write_bytes(whole)
        mark.unlink(missing_ok=True)
        done = with_room(long_file, room, "run", "--json", *UNBOXED, "--audit", long_file,
                         "--audit-required", "-c", f"open({str(mark)!r}, 'w').close()")
        result = json.loads(done.stdout)
        recorded = names(long_file)[len(whole.splitlines()):]
        seen.add(tuple(recorded))
        if "finished" in recorded:
            assert (result["status"], result["exit_code"], mark.exists()) == ("ok", 0, True)
            continue
        assert (result["status"], result["exit_code"], done.returncode) == ("failed", 125, 125)
        assert result["error"]["type"] == "audit" and result["audit_error"]
        assert mark.exists() == ("started" in recorded) == \
            ("the program ran" in result["error"]["message"])
        assert {kind for _, kind in problems(long_file)} <= {"unclosed", "lost"}  # a shorter line may fit, and says so
    assert len(seen) >= 4 and () in seen, seen


def test_no_room_and_not_required(long_file):
    whole = long_file.read_bytes()
    done = with_room(long_file, 100, "run", "--audit", long_file, "-c", "print(1)")
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert done.stderr.count("glovebox: warning: cannot write the audit file") == 1
    assert long_file.read_bytes() == whole
    done = with_room(long_file, 100, "run", "--json", "--audit", long_file, "-c", "print(1)")
    result = json.loads(done.stdout)
    assert result["status"] == "ok" and "cannot write" in result["audit_error"]


def test_a_batch_goes_on_when_there_is_room_again(long_file):
    """What was lost meanwhile is told of by the line that comes after."""
    with running("batch", "-j", "1", "--audit", long_file, "-", stdin=subprocess.PIPE) as process:
        def ask():
            process.stdin.write('{"code": "1"}\n')
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        assert "audit_error" not in ask()
        aside = long_file.with_suffix(".aside")
        long_file.rename(aside)
        long_file.mkdir()
        assert "audit_error" in ask()
        long_file.rmdir()
        assert "audit_error" not in ask()
        process.stdin.close()
        assert process.wait(10) == 0
    assert [kind for _, kind in problems(long_file)] == ["lost"]
    assert names(long_file)[:2] == ["opened", "lost"] and problems(aside) == []


# ---- where it is configured ----

def test_configuration(tmp_path, audit):
    config = tmp_path / "c.json"
    config.write_text(json.dumps({"audit": str(audit), "audit_required": True}))
    run_json("1", "--config", config)
    assert names(audit)[-1] == "closed"
    config.write_text(json.dumps({"audit": 5}))
    assert "audit" in glovebox("run", "--config", config, "-c", "1").stderr


def test_a_relative_path_is_below_the_working_directory(tmp_path):
    run_json("1", "--audit", "a.jsonl", cwd=tmp_path)
    assert problems(tmp_path / "a.jsonl") == [] and names(tmp_path / "a.jsonl")


def test_a_directory_is_no_way_around_it(tmp_path, audit):
    """./glovebox.json does not take the user's audit away, nor move it."""
    home, here = tmp_path / "config/glovebox", tmp_path / "here"
    home.mkdir(parents=True)
    here.mkdir()
    (home / "config.json").write_text(json.dumps({"audit": str(audit)}))
    (here / "glovebox.json").write_text("{}")
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    run_json("1", cwd=here, env=env)
    assert names(audit).count("finished") == 1
    (here / "glovebox.json").write_text('{"audit": "elsewhere"}')
    run_json("1", cwd=here, env=env)
    assert names(audit).count("finished") == 2 and not (here / "elsewhere").exists()


def test_without_it_there_is_none(tmp_path):
    run_json("1", cwd=tmp_path)
    assert os.listdir(tmp_path) == []
