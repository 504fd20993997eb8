"""Files into the workspace, and out of it. Numbers in brackets are those of the reference's test intents."""
import base64
import contextlib
import fcntl
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time

import pytest
from box import ENV, GLOVEBOX, PYTHON, batch, descendants, glovebox, run_json, running, until, value

LEVELS = ("namespaces", "landlock")
ROOT = os.getuid() == 0


@pytest.fixture(params=LEVELS)
def level(request):
    return "--isolation", request.param


def listed(result):
    return {it["path"]: it.get("omitted", it["change"]) for it in result["files"]}


def ok(code, *options, **kwargs):
    result = run_json(code, *options, **kwargs)
    assert result["status"] == "ok", (result["error"], result["stderr"])
    return result


def tree(where):
    """Every file below a directory, with what is in it."""
    return {str(p.relative_to(where)): p.read_bytes() for p in where.rglob("*") if p.is_file() and not p.is_symlink()}


# ---- in ----

def test_file_option(tmp_path, level):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    (tmp_path / "raw").write_bytes(b"\xff\x00\xfe")
    code = "import os; [open('in.csv').read(), list(open('data/x.bin', 'rb').read()), sorted(os.listdir())]"
    assert value(code, *level, "--file", tmp_path / "in.csv", "--file", f"{tmp_path / 'raw'}:data/x.bin") == \
        ["a,b\n1,2\n", [255, 0, 254], ["data", "in.csv"]]


def test_files_of_a_request(level):
    request = {"code": "import os; [open('a').read(), open('d/e/b', 'rb').read().hex(), open('ä', newline='').read()]",
               "files": {"a": "text", "d/e/b": {"base64": base64.b64encode(b"\x00\xff").decode()}, "ä": "z\u0000\r\n"}}
    assert batch([request], *level)[0]["value"] == ["text", "00ff", "z\x00\r\n"]


def test_files_can_be_changed_and_are_the_programs_own(level):
    request = {"code": "import os\nopen('a', 'a').write('!'); os.rename('b', 'c'); os.unlink('d'); os.mkdir('s/t')\n"
                       "[os.stat('a').st_uid == os.getuid(), os.stat('s').st_uid == os.getuid()]",
               "files": {"a": "x", "b": "y", "d": "z", "e": "kept", "s/f": "kept"}}
    result = batch([request], *level)[0]
    assert result["value"] == [True, True]
    assert listed(result) == {"a": "modified", "b": "deleted", "c": "created", "d": "deleted"}


def test_files_that_only_look_changed(level):
    """The same bytes, size and time, written at once: the kernel's own time tells."""
    request = {"code": "s = __import__('os').stat('a')\nopen('a', 'w').write('y')", "files": {"a": "x", "b": "x"}}
    assert listed(batch([request], *level)[0]) == {"a": "modified"}


def test_untouched_files_are_not_told(level):
    result = batch([{"code": "open('a').read()", "files": {"a": "x", "b/c": "y"}}], *level)[0]
    assert result["files"] == []


def test_a_module_among_the_files(level):
    request = {"code": "import helper\nhelper.f()", "files": {"helper.py": "def f(): return 42"}}
    assert batch([request], *level)[0]["value"] == 42


def test_every_request_has_its_own(level):
    """[206] The workspace is empty each time."""
    requests = [{"code": "import os; sorted(os.listdir())", "files": {f"f{i}": "x"}} for i in range(10)]
    results = batch([*requests, "import os; os.listdir()"], *level)
    assert [it["value"] for it in results] == [[f"f{i}"] for i in range(10)] + [[]]


@pytest.mark.parametrize("files, says", [
    ({"../x": "a"}, "../x"), ({"/etc/x": "a"}, "/etc/x"), ({"": "a"}, "''"), ({"a/../../x": "a"}, "a/.."),
    ({"a": 1}, "'a'"), ({"a": {"base64": "?"}}, "'a'"), (["a"], "must be an object"), ({"a" * 300: "x"}, "aaa"),
    ({f"f{i}": "" for i in range(1001)}, "more than 1000"), ({"a": "x", "a/b": "y"}, "workspace"),
])
def test_files_that_are_refused(files, says):
    result = batch([{"code": "1", "files": files}, "1"])
    assert result[0]["status"] == "failed" and says in result[0]["error"]["message"]
    assert result[1]["status"] == "ok"


def test_files_that_do_not_fit(level):
    results = batch([{"code": "1", "files": {"big": "x" * 200000}, "limits": {"disk": "64K"}},
                     {"code": "open('a').read() + open('b').read()", "files": {"a": "x", "b": "y"}}], *level)
    assert results[0]["status"] == "failed" and results[0]["error"]["type"] == "limit"
    assert "disk" in results[0]["error"]["message"] and results[1]["value"] == "xy"


def test_a_thousand_files(level):
    files = {f"d{i % 10}/f{i}": str(i) for i in range(1000)}
    code = "import os; sum(int(open(f'd{i % 10}/f{i}').read()) for i in range(1000))"
    assert batch([{"code": code, "files": files}], *level)[0]["value"] == sum(range(1000))


def test_tens_of_megabytes(tmp_path):
    (tmp_path / "big").write_bytes(os.urandom(1 << 20) * 30)
    assert value("import os; os.path.getsize('big')", "--file", tmp_path / "big") == 30 << 20


@pytest.mark.parametrize("spec, says", [
    ("nowhere", "nowhere"), ("/etc", "irectory"), ("/etc/hostname:../x", "../x"), ("/etc/hostname:/x", "/x"),
    ("-", "--stdin"), ("/etc/hostname:", "''"),
])
def test_file_options_that_are_refused(spec, says):
    done = glovebox("run", "--file", spec, "-c", "print('ran')")
    assert done.returncode in (2, 125) and says in done.stderr and done.stdout == "", done.stderr


def test_two_files_of_one_name(tmp_path):
    for where in "ab":
        (tmp_path / where).mkdir()
        (tmp_path / where / "f").write_text(where)
    done = glovebox("run", "--file", tmp_path / "a" / "f", "--file", tmp_path / "b" / "f", "-c", "1")
    assert done.returncode == 2 and "two are called 'f'" in done.stderr


# ---- what is told ----

def test_nothing_made_nothing_told(level):
    assert ok("1", *level)["files"] == []
    assert "files_omitted" not in ok("1", *level)


def test_created(level):
    """[189] Found by looking, whatever the program says of them."""
    result = ok("import os; os.makedirs('a/b/c'); open('a/b/c/d', 'w').write('x' * 10); open('e', 'w').close()", *level)
    assert result["files"] == [{"path": "a/b/c/d", "mount": "workspace", "bytes": 10, "change": "created"},
                               {"path": "e", "mount": "workspace", "bytes": 0, "change": "created"}]


def test_written_by_what_outlives_the_program(level):
    """[190] A child writes until the last moment; what is told is what there is in the end."""
    code = ("import os, time\nif os.fork() == 0:\n while True: open('late', 'a').write('x')\n"
            "while not os.path.exists('late'): time.sleep(0.001)")
    result = ok(code, *level, "--capture", "inline")
    assert result["files"][0]["text"] == "x" * result["files"][0]["bytes"]


def test_odd_names(level, tmp_path):
    names = [b"\xff\xfe", b"new\nline", b"\x1b[2J", b"-rf", b"..data", b'q"\\', "ü".encode(), b" ", b"a" * 255]
    result = ok(f"for n in {names!r}: open(n, 'w').write('x')", *level, "-o", tmp_path / "out")
    exact = [base64.b64decode(it["path_base64"]) if "path_base64" in it else it["path"].encode()
             for it in result["files"]]
    assert exact == sorted(names) and result["files"][-1]["path"] == "\ufffd\ufffd"
    assert sorted(os.listdir(os.fsencode(tmp_path / "out"))) == sorted(names)


def test_odd_names_on_the_terminal(tmp_path):
    done = glovebox("run", "-o", tmp_path / "out", "--capture-file", "1K", "-c",
                    "open('\\x1b[2Jx\\n', 'w').write('x' * 2000); print('done')")
    assert (done.returncode, done.stdout) == (0, "done\n") and "\x1b" not in done.stderr
    assert done.stderr.count("\n") == 1 and "capture_file" in done.stderr


def test_links_and_odd_kinds(level, tmp_path):
    """[153, 176] Links are not there; FIFOs and sockets are named with the reason."""
    code = ("import os, socket\nos.symlink('/etc/passwd', 'l'); os.symlink('/etc', 'd'); os.mkfifo('fifo')\n"
            "try: socket.socket(socket.AF_UNIX).bind('sock')\nexcept OSError: pass\nopen('real', 'w').write('r')")
    result = ok(code, *level, "-o", tmp_path / "out", "--capture", "inline")
    told = listed(result)
    assert told.pop("sock", "a socket") == "a socket"
    assert told == {"fifo": "a FIFO", "real": "created"}
    assert tree(tmp_path / "out") == {"real": b"r"} and sorted(os.listdir(tmp_path / "out")) == ["real"]


def test_hard_links_within(level, tmp_path):
    result = ok("import os; open('a', 'w').write('x'); os.link('a', 'b')", *level, "-o", tmp_path / "out")
    assert listed(result) == {"a": "created", "b": "created"} and tree(tmp_path / "out") == {"a": b"x", "b": b"x"}


def test_shut_files(tmp_path):
    """What the program may not read itself any more comes all the same."""
    code = ("import os; os.makedirs('d/e'); open('d/e/f', 'w').write('x'); open('g', 'w').write('y')\n"
            "os.chmod('g', 0); os.chmod('d/e', 0); os.chmod('d', 0); os.chmod('.', 0)")
    result = ok(code, "--isolation", "namespaces", "-o", tmp_path / "out")
    assert listed(result) == {"d/e/f": "created", "g": "created"}
    assert tree(tmp_path / "out") == {"d/e/f": b"x", "g": b"y"}


@pytest.mark.parametrize("level, depth", [("namespaces", 1000), ("landlock", 30)])
def test_deep(level, depth):
    """Without a file system of its own, the watcher ends a box that goes deeper than it counts."""
    code = f"import os\nfor _ in range({depth}): os.mkdir('d'); os.chdir('d')\nopen('f', 'w').write('x')"
    assert list(listed(ok(code, "--isolation", level))) == ["d/" * depth + "f"]


def test_deeper_than_paths_go(level):
    code = "import os\nfor _ in range(60): os.mkdir('d' * 200); os.chdir('d' * 200)\nopen('f', 'w').write('x')"
    result = ok(code, *level)
    assert [it["omitted"] for it in result["files"]] == ["its path is too long"]


def test_tens_of_thousands(level):
    began = time.monotonic()
    result = ok("for i in range(20000): open(str(i), 'w').close()", *level, "-t", "60")
    assert len(result["files"]) == 1000 and result["files_omitted"] == {
        "count": 19000, "is_exact": True, "reason": "only 1000 files are listed (capture_files)"}
    assert time.monotonic() - began < 60


def test_sparse(level, tmp_path):
    """As large as a file may be, with nothing in it: looked at, not read."""
    result = ok("f = open('s', 'w'); f.truncate(200 << 20)", *level, "-o", tmp_path / "out")
    assert result["files"][0]["bytes"] == 200 << 20 and "capture_file" in result["files"][0]["omitted"]


@pytest.mark.parametrize("ending, status", [
    ("while True: pass", "timeout"), ("import os; os.abort()", "crashed"), ("1/0", "error"),
    ("x = []\nwhile True: x.append(bytearray(1 << 20))", "limit"),
])
def test_whatever_the_end(level, tmp_path, ending, status):
    result = run_json("open('f', 'w').write('x')\n" + ending, *level, "-t", "0.7", "--memory", "128M", "-o", tmp_path / "o")
    assert result["status"] == status and listed(result) == {"f": "created"} and tree(tmp_path / "o") == {"f": b"x"}


def test_interrupted(tmp_path, level):
    """Ctrl-C: what there was by then is written."""
    code = "import sys, time; open('f', 'w').write('x'); print('ready', flush=True); time.sleep(60)"
    with running("run", *level, "-o", tmp_path / "out", "-c", code) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert tree(tmp_path / "out") == {"f": b"x"}


def test_rejected_programs_have_no_files(level):
    result = run_json("def f(:", *level)
    assert result["status"] == "rejected" and result["files"] == []


def test_off():
    result = ok("open('f', 'w').write('x')", "--capture", "off")
    assert result["files"] == []


def test_inline_by_request(level):
    results = batch([{"code": "open('f', 'w').write('ä'); open('g', 'wb').write(b'\\xff')", "capture": "inline"},
                     {"code": "open('f', 'w').write('x')"},
                     {"code": "open('f', 'w').write('x' * 100)", "capture": "inline", "limits": {"capture_file": 10}},
                     {"code": "1", "limits": {"capture_file": "1G"}}, {"code": "1", "capture": "all"}], *level)
    assert [it.get("text", it.get("base64")) for it in results[0]["files"]] == ["ä", "/w=="]
    assert set(results[1]["files"][0]) == {"path", "mount", "bytes", "change"}
    assert "10 that is captured of a file" in results[2]["files"][0]["omitted"]
    assert [it["status"] for it in results[3:]] == ["failed", "failed"]


def test_limits_in_order(level):
    """[77-79] The file's own, then the workspace's, then that of all; what is left out does not count."""
    code = "for n, s in ('a', 900), ('b', 300), ('c', 300), ('d', 300): open(n, 'w').write('x' * s)"
    result = ok(code, *level, "--capture", "inline", "--capture-file", "500", "--capture-mount", "700",
                "--capture-total", "650")
    why = [re.findall(r"\((capture_\w+)\)", it.get("omitted", "")) for it in result["files"]]
    assert why == [["capture_file"], [], [], ["capture_mount"]]


# ---- out ----

def test_out(level, tmp_path):
    out = tmp_path / "new"
    result = ok("import os; os.makedirs('a/b'); open('a/b/c', 'w').write('x'); open('run.sh', 'w').write('y')\n"
                "open('in', 'a').write('z')", *level, "-o", out, "--file", "/dev/null:in")
    assert tree(out) == {"a/b/c": b"x", "run.sh": b"y", "in": b"z"} and all("omitted" not in it for it in result["files"])
    for path in [out, *out.rglob("*")]:
        assert (path.stat().st_uid, path.stat().st_gid) == (os.getuid(), os.getgid())


def test_modes(tmp_path):
    """Executable or not is kept; nothing else is."""
    ok("import os\nfor n, m in ('x', 0o4755), ('p', 0o666), ('r', 0o400): open(n, 'w').close(); os.chmod(n, m)",
       "--isolation", "namespaces", "-o", tmp_path / "out")
    mask = os.umask(0)
    os.umask(mask)
    assert {p.name: p.stat().st_mode & 0o7777 for p in (tmp_path / "out").iterdir()} == \
        {"x": 0o777 & ~mask, "p": 0o666 & ~mask, "r": 0o666 & ~mask}


def test_out_never_leaves(level, tmp_path):
    """Links that lie in the directory already are not followed; one in the place of a file is replaced."""
    out, outside = tmp_path / "out", tmp_path / "outside"
    out.mkdir()
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (out / "dir").symlink_to(outside)
    (out / "file").symlink_to(outside / "precious")
    (out / "folder").mkdir()
    result = ok("import os; os.mkdir('dir'); open('dir/planted', 'w').write('x'); open('file', 'w').write('mine')\n"
                "open('folder', 'w').write('in the way'); open('good', 'w').write('g')", *level, "-o", out)
    told = listed(result)
    assert "could not be written" in told["dir/planted"] and "could not be written" in told["folder"]
    assert told["file"] == told["good"] == "created"
    assert tree(outside) == {"precious": b"precious"} and (out / "file").read_text() == "mine"
    assert not (out / "file").is_symlink() and not [p for p in out.iterdir() if p.name.startswith(".glovebox")]


def test_out_replaces_what_is_there(tmp_path):
    (tmp_path / "f").write_text("old, and longer")
    ok("open('f', 'w').write('new')", "-o", tmp_path)
    assert (tmp_path / "f").read_text() == "new"


def test_out_says_what_is_missing(tmp_path):
    done = glovebox("run", "-o", tmp_path / "out", "--capture-file", "10", "--capture-files", "3", "-c",
                    "for i in range(5): open(str(i), 'w').write('x' * (20 if i == 1 else 5))")
    assert done.returncode == 0 and done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 2 and "not written: 1:" in lines[0] and "only 3 files" in lines[1], lines
    assert tree(tmp_path / "out") == {"0": b"x" * 5, "2": b"x" * 5}


def test_out_is_quiet_when_all_is_well(tmp_path):
    done = glovebox("run", "-o", tmp_path / "out", "-c", "open('f', 'w').write('x')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_out_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    for where in (tmp_path / "file", tmp_path / "no" / "where"):
        done = glovebox("run", "-o", where, "-c", "print('ran')")
        assert (done.returncode, done.stdout) == (125, "") and "out" in done.stderr


def test_full_disk(tmp_path):
    """What does not fit is not there by half; what does is, and the result says which is which."""
    room = 1 << 20
    start = (f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, -1));"
             "os.execv(sys.argv[1], sys.argv[1:])")
    code = "open('big', 'wb').write(bytes(2 << 20)); open('small', 'w').write('s')"
    done = subprocess.run([PYTHON, "-c", start, GLOVEBOX, "run", "--json", "-o", str(tmp_path / "out"),
                           "--isolation", "namespaces", "-c", code], env=ENV, capture_output=True, text=True, timeout=60)
    result = json.loads(done.stdout)
    assert result["status"] == "ok", result["error"]
    assert "could not be written" in listed(result)["big"] and listed(result)["small"] == "created"
    assert sorted(os.listdir(tmp_path / "out")) == ["small"]


def test_killed_while_it_writes(tmp_path):
    """SIGKILL of the engine: no half of a file under its own name."""
    code = "for i in range(400): open(f'f{i:03}', 'wb').write(b'x' * 50000)"
    out = tmp_path / "out"
    with running("run", "-o", out, "--isolation", "namespaces", "-c", code) as process:
        assert until(lambda: out.is_dir() and any(p.name[0] == "f" for p in out.iterdir()) or process.poll() is not None)
        process.kill()
    assert all(p.stat().st_size == 50000 for p in out.iterdir() if p.name[0] == "f")


# ---- what leaves no time ----

# A shared mapping whose pages were read first: on a tmpfs a write to it changes no time of the file.
MAPPED = """
import mmap
def change(name, text=b"X", at=0):
    with open(name, "r+b") as f:
        m = mmap.mmap(f.fileno(), 0)
    m[:]
    m[at:at + len(text)] = text
    return m
"""
BIG = "a" * (3 << 20)


@pytest.mark.parametrize("name, content, at", [("small", "abc", 0), ("big", BIG, len(BIG) - 1), ("page", "p" * 4096, 4095)])
def test_changed_through_a_mapping(level, name, content, at):
    files = {name: content, "other": "abc", "d/untouched": "x" * 10000}
    request = {"code": MAPPED + f"change({name!r}, b'X', {at}); None", "files": files, "capture": "inline"}
    result, same = batch([request, {**request, "code": MAPPED + f"change({name!r}, {content[-1].encode()!r}, {at})"}], *level)
    assert listed(result) == {name: "modified"}, result["files"]
    assert result["files"][0]["text"] == content[:at] + "X" + content[at + 1:]
    assert set(listed(same)) <= {name}  # some file systems give the time all the same


def test_changed_through_the_mapping_of_a_child(level):
    """A copy of the program, which ends before it."""
    code = MAPPED + "import os\nif os.fork() == 0: change('a', b'Y', 1); os._exit(0)\nos.wait(); None"
    result, = batch([{"code": code, "files": {"a": "aaaa", "b": "bbbb"}}], *level)
    assert listed(result) == {"a": "modified"}, result


@pytest.mark.parametrize("kind", ["disk"] + ["tmpfs"] * ROOT)
def test_changed_through_a_mapping_in_a_mount(kind):
    """Also one that is a tmpfs on the host: root can make one for itself."""
    with tempfile.TemporaryDirectory() as host:
        os.chmod(host, 0o755)
        code = MAPPED + "import os; change(os.environ['GLOVEBOX_MNT'] + '/m/a', b'X', 2); None"
        script = f"mount -t tmpfs none {host};" * (kind == "tmpfs") + f"""
            cd {host}; echo abcd >a; echo abcd >b; chmod 777 .; chmod 666 a b
            {GLOVEBOX} run --json -m {host}:m:rw --isolation namespaces -c "$1"; cat a"""
        done = subprocess.run([*(["unshare", "-m"] if ROOT else []), "sh", "-ec", script, "-", code], env=ENV,
                              capture_output=True, text=True, timeout=60)
        line, after = done.stdout.splitlines()
        result = json.loads(line)
        assert [(it["path"], it["mount"], it["change"]) for it in result["files"]] == [("a", "m", "modified")], result
        assert after == "abXd"


# ---- nothing is left ----

def test_scratch_directories_are_removed(tmp_path):
    """Also those that were looked at first, and those of boxes that nobody used."""
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o777)
        results = batch([{"code": "open('f', 'w').write('x')"}] * 20, "--isolation", "landlock",
                        env={"TMPDIR": scratch})
        assert all(listed(it) == {"f": "created"} for it in results)
        assert until(lambda: os.listdir(scratch) == [])


@pytest.mark.parametrize("stage, killed", [("waiting", "engine init"), ("waiting", "zygote")] + [("running", who) for who in (
    "engine", "init", "zygote", "engine init", "init engine", "engine zygote", "engine init zygote")])
def test_scratch_directories_go_whoever_is_killed(killed, stage):
    """What engine and init could not remove, since both were killed, the next engine does."""
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o777)
        env = {**ENV, "TMPDIR": scratch}
        with running("batch", "--isolation", "landlock", "-", env=env, stdin=subprocess.PIPE) as process:
            code = "open('f', 'w').write('x'); import os, time; os.makedirs('a/b/c'); os.chmod('a/b', 0); time.sleep(60)"
            process.stdin.write(json.dumps({"code": code if stage == "running" else "1"}) + "\n")
            process.stdin.flush()
            if stage == "waiting":
                process.stdout.readline()
            else:
                assert until(lambda: any("f" in files for _, _, files in os.walk(scratch)))
            assert until(lambda: len(os.listdir(scratch)) >= 1)
            them = {"engine": [process.pid], "init": [], "zygote": []}
            for pid, name in descendants(process.pid).items():
                them["init" if name == "glovebox-init" else "zygote"].append(pid)  # and the guests
            assert them["init"] and them["zygote"]
            for who in killed.split():
                for pid in them[who]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            process.kill()
            process.wait()
        assert until(lambda: not descendants(), 10)
        assert run_json("1", "--isolation", "landlock", env=env)["status"] == "ok"
        assert until(lambda: os.listdir(scratch) == []), os.listdir(scratch)


def test_only_what_nobody_uses_is_swept():
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o777)
        kept, gone = [], []
        for name in ("glovebox-box-aaaaaa", "glovebox-box-bbbbbb", "glovebox-box-cccccccc", "glovebox-aaaaaa", "other"):
            os.makedirs(f"{scratch}/{name}/workspace/deep/er")
            (gone if len(name) == 19 else kept).append(name)
        os.symlink("other", f"{scratch}/glovebox-box-dddddd")
        open(f"{scratch}/glovebox-box-eeeeee", "w").close()
        os.mkdir(f"{scratch}/glovebox-box-ffffff")
        kept += ["glovebox-box-dddddd", "glovebox-box-eeeeee", "glovebox-box-ffffff"]
        if ROOT:
            os.mkdir(f"{scratch}/glovebox-box-gggggg")
            os.chown(f"{scratch}/glovebox-box-gggggg", 12345, 12345)
            kept.append("glovebox-box-gggggg")
        lock = os.open(f"{scratch}/glovebox-box-ffffff", os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert run_json("1", "--isolation", "landlock", env={"TMPDIR": scratch})["status"] == "ok"
        assert until(lambda: sorted(os.listdir(scratch)) == sorted(kept)), os.listdir(scratch)
        assert os.listdir(f"{scratch}/other") == ["workspace"]
        os.close(lock)


def test_a_directory_that_is_swept_is_large():
    """It is removed in turns of the loop; an engine that ends before leaves the rest to the next."""
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o777)
        os.makedirs(f"{scratch}/glovebox-box-aaaaaa/" + "d/" * 300)
        for i in range(3000):
            open(f"{scratch}/glovebox-box-aaaaaa/d/{i}", "w").close()
        for _ in range(50):
            assert run_json("import time; time.sleep(.2)", "--isolation", "landlock", env={"TMPDIR": scratch})["status"] == "ok"
            if os.listdir(scratch) == []:
                break
        assert os.listdir(scratch) == []


def test_descriptors_do_not_grow():
    """A workspace is one descriptor, for as long as its run."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    start = ("import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, %d));"
             "os.execv(sys.argv[1], sys.argv[1:])" % soft)
    lines = "".join(json.dumps({"code": "open('f', 'w').write('x')"}) + "\n" for _ in range(200))
    done = subprocess.run([PYTHON, "-c", start, GLOVEBOX, "batch", "-j", "2", "-"], input=lines, env=ENV,
                          capture_output=True, text=True, timeout=120)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == 200 and all(listed(it) == {"f": "created"} for it in results)


def test_many_at_once():
    results = batch([{"code": f"for k in range(50): open(f'{{k}}', 'w').write('{i}')", "capture": "inline"}
                     for i in range(24)], "-j", "8")
    for i, result in enumerate(results):
        assert len(result["files"]) == 50 and {it["text"] for it in result["files"]} == {str(i)}


def test_no_scratch_directory_stays_in_a_directory_of_its_owners():
    """One that nobody else may write to, as root's own TMPDIR may be."""
    with tempfile.TemporaryDirectory() as tmp:
        os.chmod(tmp, 0o755)
        done = glovebox("run", "--isolation", "landlock", "-c", "open('x', 'w').write('y')", env={"TMPDIR": tmp})
        assert done.returncode == 0, done.stderr
        assert until(lambda: os.listdir(tmp) == [])
