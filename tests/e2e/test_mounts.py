"""Directories of the host in a box: what the program sees of them, and what comes back.

Numbers in brackets are those of the reference's test intents."""
import ctypes
import json
import os
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest
from box import BUILD, GLOVEBOX, PYTHON, batch, glovebox, run_json, running, until, value

LEVELS = ("namespaces", "landlock")
ROOT = os.getuid() == 0
# Root's programs own nothing, and only a mount namespace can make them somebody there.
RW_LEVELS = ("namespaces",) if ROOT else LEVELS
M = "import os; M = os.environ['GLOVEBOX_MNT'] + '/'\n"


@pytest.fixture
def tmp_path():
    """One that everybody may enter: root's programs are nobody."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.fixture
def data(tmp_path):
    """A directory with a file and a folder in it."""
    where = tmp_path / "data"
    (where / "sub").mkdir(parents=True)
    (where / "a.txt").write_text("alpha")
    (where / "sub" / "b.txt").write_text("beta")
    return where


def changes(result, mount=None):
    """{path: change, or why it was left out}."""
    return {it["path"]: it.get("omitted", it["change"]) for it in result["files"]
            if mount in (None, it["mount"])}


def ok(code, *options, **kwargs):
    result = run_json(M + code, *options, **kwargs)
    assert result["status"] == "ok", (result["error"], result["stderr"])
    return result


# ---- reading ----

@pytest.mark.parametrize("level", LEVELS)
def test_read(data, level):
    """[82, 148, 162, 163] Seed files can be read where they are mounted."""
    result = ok("[open(M + 'in/a.txt').read(), open(M + 'in/sub/b.txt').read(), sorted(os.listdir(M))]",
                "--isolation", level, "-m", f"{data}:in")
    assert result["value"] == ["alpha", "beta", ["in"]] and result["files"] == []


def test_where_it_is(data):
    assert value("import os; [open('/mnt/in/a.txt').read(), os.environ['GLOVEBOX_MNT']]",
                 "--isolation", "namespaces", "-m", f"{data}:in") == ["alpha", "/mnt"]
    code = f"import os; [open({str(data / 'a.txt')!r}).read(), os.path.realpath(os.environ['GLOVEBOX_MNT'] + '/in')]"
    assert value(code, "--isolation", "landlock", "-m", f"{data}:in") == ["alpha", str(data)]


@pytest.mark.parametrize("level", LEVELS)
def test_read_only_is_read_only(data, level):
    """[150] Reading works, nothing else does, nothing is captured, nothing is on the host."""
    before = sorted(p.name for p in data.rglob("*"))
    code = """
refused = 0
roads = [lambda: open(M + 'in/new', 'w'), lambda: open(M + 'in/a.txt', 'a'), lambda: open(M + 'in/a.txt', 'r+'),
         lambda: os.unlink(M + 'in/a.txt'), lambda: os.mkdir(M + 'in/d'), lambda: os.symlink('x', M + 'in/l'),
         lambda: os.rename(M + 'in/a.txt', M + 'in/z'), lambda: os.rmdir(M + 'in/sub'),
         lambda: os.link(M + 'in/a.txt', M + 'in/h'), lambda: os.truncate(M + 'in/a.txt', 0),
         lambda: os.chmod(M + 'in/a.txt', 0o777), lambda: os.utime(M + 'in/a.txt'), lambda: os.mkfifo(M + 'in/f'),
         lambda: os.rename(M + 'in/a.txt', 'stolen'), lambda: os.link(M + 'in/a.txt', 'stolen')]
for road in roads:
    try:
        road()
    except OSError:
        refused += 1
[refused, len(roads)]"""
    result = ok(code, "--isolation", level, "-m", f"{data}:in:ro")
    assert result["value"][0] == result["value"][1] and result["files"] == []
    assert sorted(p.name for p in data.rglob("*")) == before
    assert (data / "a.txt").read_text() == "alpha"


@pytest.mark.parametrize("level", LEVELS)
def test_links_lead_nowhere(data, level, tmp_path):
    """[153, 165-167] A link in a mount shows nothing that is outside of it."""
    (tmp_path / "secret").write_text("secret")
    (data / "file").symlink_to(tmp_path / "secret")
    (data / "dir").symlink_to(tmp_path)
    (data / "sub" / "up").symlink_to("../..")
    code = """
def tried(path):
    try:
        return open(M + 'in/' + path).read()
    except OSError as e:
        return type(e).__name__
[tried('file'), tried('dir/secret'), tried('sub/up/secret'), tried('../secret'), tried('sub/../a.txt')]"""
    seen = ok(code, "--isolation", level, "-m", f"{data}:in")["value"]
    assert "secret" not in seen and seen[-1] == "alpha"


def test_several(data, tmp_path):
    """[59] Each by its own name; one without a name has its own."""
    other = tmp_path / "other"
    other.mkdir()
    assert value(M + "sorted(os.listdir(M))", "-m", f"{data}:in", "-m", str(other), "-m", f"{other}:x.y_z-1:ro") == \
        ["in", "other", "x.y_z-1"]


def test_the_same_name_again(data, tmp_path):
    """[108] The later one counts."""
    other = tmp_path / "other"
    other.mkdir()
    assert value(M + "os.listdir(M + 'in')", "-m", f"{data}:in", "-m", f"{other}:in") == []


# ---- writing ----

@pytest.mark.parametrize("level", RW_LEVELS)
def test_write(data, level):
    """[93, 130, 149, 182, 198] What is new, changed and gone is told, and is so on the host."""
    code = """
open(M + 'w/new.txt', 'w').write('new')
os.makedirs(M + 'w/deep/er')
open(M + 'w/deep/er/f', 'w').write('f')
open(M + 'w/a.txt', 'a').write('!')
os.unlink(M + 'w/sub/b.txt')"""
    result = ok(code, "--isolation", level, "-m", f"{data}:w:rw")
    assert changes(result, "w") == {"new.txt": "created", "deep/er/f": "created", "a.txt": "modified",
                                    "sub/b.txt": "deleted"}
    assert [it["path"] for it in result["files"]] == sorted(it["path"] for it in result["files"])
    assert {it["path"]: it["bytes"] for it in result["files"]}["a.txt"] == 6
    assert (data / "new.txt").read_text() == "new" and (data / "a.txt").read_text() == "alpha!"
    assert not (data / "sub" / "b.txt").exists()


@pytest.mark.parametrize("level", RW_LEVELS)
def test_files_belong_to_the_caller(data, level):
    ok("open(M + 'w/f', 'w').close(); os.mkdir(M + 'w/d'); open(M + 'w/d/g', 'w').close()",
       "--isolation", level, "-m", f"{data}:w:rw")
    for path in ("f", "d", "d/g"):
        it = (data / path).stat()
        assert (it.st_uid, it.st_gid) == (os.getuid(), os.getgid()), path


# Only root can give a directory to somebody else.
@pytest.mark.parametrize("owner", [1234] if ROOT else [os.getuid()])
def test_files_belong_to_the_directorys_owner(data, owner):
    for path in (data, data / "a.txt", data / "sub"):
        os.chown(path, owner, -1)
    ok("open(M + 'w/f', 'w').close(); open(M + 'w/a.txt', 'a').write('!')", "-m", f"{data}:w:rw")
    assert (data / "f").stat().st_uid == (data / "a.txt").stat().st_uid == owner
    assert (data / "a.txt").read_text() == "alpha!"


@pytest.mark.parametrize("level", RW_LEVELS)
def test_a_private_directory(data, level):
    """What only its owner may enter can be mounted all the same."""
    os.chmod(data, 0o700)
    os.chmod(data / "a.txt", 0o600)
    assert ok("open(M + 'w/a.txt').read()", "--isolation", level, "-m", f"{data}:w:rw")["value"] == "alpha"


def test_out_of_reach():
    """Without a mount namespace root's programs see what anybody may see, and a refusal says so."""
    with tempfile.TemporaryDirectory() as name:  # its owner's alone
        done = glovebox("run", "--isolation", "landlock", "-m", f"{name}:in", "-c", "1")
        if ROOT:
            assert done.returncode == 125 and name in done.stderr and "owns nothing" in done.stderr
        else:
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_root_is_told_that_only_namespaces_can(data, level):
    done = glovebox("run", "--isolation", level, "-m", f"{data}:w:rw", "-c", "1")
    if ROOT and level == "landlock":
        assert done.returncode == 125 and "rw" in done.stderr and "namespaces" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("level", RW_LEVELS)
def test_untouched_files_are_not_told(data, level):
    result = ok("open(M + 'w/a.txt').read(); os.listdir(M + 'w/sub')", "--isolation", level, "-m", f"{data}:w:rw")
    assert result["files"] == []


def test_same_size_and_time_is_a_change_all_the_same(data):
    """A rewrite that sets the old time again is seen: the kernel's own time cannot be set."""
    result = ok("s = os.stat(M + 'w/a.txt'); open(M + 'w/a.txt', 'w').write('ALPHA')\n"
                "os.utime(M + 'w/a.txt', ns=(s.st_atime_ns, s.st_mtime_ns))",
                "--isolation", "namespaces", "-m", f"{data}:w:rw")
    assert changes(result) == {"a.txt": "modified"}


@pytest.mark.parametrize("level", RW_LEVELS)
def test_captured_contents(data, level):
    """[70] Exactly what was written, and nothing that a link leads to."""
    (data / "link").symlink_to("/etc/passwd")
    result = ok("open(M + 'w/out.txt', 'w').write('hello')", "--isolation", level, "-m", f"{data}:w:rw",
                "--capture", "inline")
    assert result["files"] == [{"path": "out.txt", "mount": "w", "bytes": 5, "change": "created", "text": "hello"}]


@pytest.mark.parametrize("level", RW_LEVELS)
def test_links_are_never_captured(data, level, tmp_path):
    """[154, 155, 173-178] Neither a linked file nor a linked directory; what is real comes."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "loot").write_text("loot")
    result = ok(f"os.symlink({str(tmp_path / 'outside')!r}, M + 'w/dir')\n"
                f"os.symlink({str(tmp_path / 'outside' / 'loot')!r}, M + 'w/file')\n"
                "open(M + 'w/real', 'w').write('x')",
                "--isolation", level, "-m", f"{data}:w:rw", "--capture", "inline")
    assert changes(result) == {"real": "created"} and "loot" not in json.dumps(result["files"])


@pytest.mark.parametrize("level", RW_LEVELS)
def test_hard_links_to_other_files(data, level, tmp_path):
    """[71] One that was there before is not mentioned, and one that was written through is left out."""
    (tmp_path / "outside").write_text("secret")
    os.link(tmp_path / "outside", data / "loot.txt")
    options = ("--isolation", level, "-m", f"{data}:w:rw", "--capture", "inline")
    result = ok("open(M + 'w/visible.txt', 'w').write('x')", *options)
    assert changes(result) == {"visible.txt": "created"}
    result = ok("open(M + 'w/loot.txt', 'a').write('x')", *options)
    assert changes(result) == {"loot.txt": "a hard link to a file elsewhere"}
    assert "secret" not in json.dumps(result)


@pytest.mark.parametrize("level", RW_LEVELS)
def test_hard_links_within(data, level):
    """Of a file that has all its names in the mount nothing is hidden."""
    result = ok("open(M + 'w/one', 'w').write('x'); os.link(M + 'w/one', M + 'w/two')",
                "--isolation", level, "-m", f"{data}:w:rw", "--capture", "inline")
    assert [(it["path"], it["text"]) for it in result["files"]] == [("one", "x"), ("two", "x")]


@pytest.mark.parametrize("level", RW_LEVELS)
def test_what_it_cannot_read_is_not_captured(data, level):
    """By moving a file that it may not read a program must not make the engine, which may, hand it out."""
    (data / "secret").write_text("SECRET")
    (data / "private").mkdir()
    (data / "private" / "secret").write_text("SECRET")
    os.chmod(data / "secret", 0o600 if ROOT else 0)
    os.chmod(data / "private", 0o700)
    if ROOT:  # the directory is somebody else's, and so is the program there
        os.chown(data, 1234, 1234)
    code = ("def reads(path):\n try: return open(path).read()\n except OSError: return None\n"
            "for old, new in ('private', 'shown'), ('secret', 'moved'):\n"
            " try: os.rename(M + 'w/' + old, M + 'w/' + new)\n except OSError: pass\n"
            "[reads(M + 'w/' + n) for n in ('secret', 'moved', 'private/secret')]")
    result = ok(code, "--isolation", level, "-m", f"{data}:w:rw", "--capture", "inline")
    if ROOT:  # the kernel does not even let it move what has an owner that it does not know
        assert result["value"] == [None, None, None] and "SECRET" not in json.dumps(result)
    else:
        assert result["value"][:2] == [None, None] and "cannot be read" in changes(result)["moved"]


@pytest.mark.parametrize("level", RW_LEVELS)
def test_odd_kinds(data, level):
    result = ok("os.mkfifo(M + 'w/fifo')", "--isolation", level, "-m", f"{data}:w:rw", "--capture", "inline")
    assert changes(result) == {"fifo": "a FIFO"}
    left = socket.socket(socket.AF_UNIX)
    os.chdir(data)
    left.bind("socket")
    os.chdir("/")
    os.unlink(data / "fifo")
    result = ok("os.rename(M + 'w/socket', M + 'w/moved')", "--isolation", level, "-m", f"{data}:w:rw")
    assert changes(result) == {"moved": "a socket"}


def test_no_set_uid(data):
    """A file that lends its owner's rights can be made by no road: the host would run it."""
    code = """
refused, roads = 0, [
    lambda: os.chmod(M + 'w/f', 0o4755), lambda: os.chmod(M + 'w/f', 0o2755),
    lambda: os.close(os.open(M + 'w/g', os.O_CREAT | os.O_WRONLY, 0o4755)),
    lambda: os.mknod(M + 'w/h', 0o104755), lambda: os.fchmod(os.open(M + 'w/f', os.O_RDWR), 0o6755)]
open(M + 'w/f', 'w').close()
for road in roads:
    try:
        road()
    except OSError:
        refused += 1
os.chmod(M + 'w/f', 0o755)
[refused, len(roads)]"""
    result = ok(code, "--isolation", "namespaces", "-m", f"{data}:w:rw")
    assert result["value"] == [5, 5]
    assert not any(p.lstat().st_mode & 0o6000 for p in data.rglob("*"))
    assert stat.S_IMODE((data / "f").stat().st_mode) == 0o755
    # Where nothing is on the host, it is nobody's business.
    assert value("import os; open('f', 'w').close(); os.chmod('f', 0o4755); os.stat('f').st_mode & 0o7777",
                 "--isolation", "namespaces", "-m", f"{data}:in") == 0o4755


@pytest.mark.parametrize("level", RW_LEVELS)
@pytest.mark.parametrize("ending, status", [
    ("while True: pass", "timeout"), ("os.abort()", "crashed"), ("1/0", "error"), ("os._exit(3)", "error"),
    ("x = []\nwhile True: x.append(bytearray(1 << 20))", "limit"),
])
def test_whatever_the_end(data, level, ending, status):
    result = run_json(M + "open(M + 'w/f', 'w').write('x'); open('g', 'w').write('y')\n" + ending,
                      "--isolation", level, "-m", f"{data}:w:rw", "-t", "0.7", "--memory", "128M")
    assert result["status"] == status
    assert {(it["mount"], it["path"]) for it in result["files"]} == {("w", "f"), ("workspace", "g")}


def test_many_files_are_bounded(data):
    """Only so many are listed, and how many are not is said."""
    result = ok("for i in range(3000): open(M + f'w/{i:05}', 'w').close()", "--isolation", "namespaces",
                "-m", f"{data}:w:rw", "--capture-files", "100")
    assert len(result["files"]) == 100
    assert result["files_omitted"]["count"] == 2900 and result["files_omitted"]["is_exact"] is True


def test_sparse_petabyte(data):
    """A file that is there and has a petabyte is looked at, and not read."""
    with open(data / "huge", "w") as out:
        os.truncate(out.fileno(), 1 << 43)  # as much as the file system takes
    began = time.monotonic()
    result = ok("os.utime(M + 'w/huge'); open(M + 'w/small', 'w').write('s')", "--isolation", "namespaces",
                "-m", f"{data}:w:rw", "--capture", "inline")
    assert time.monotonic() - began < 20
    assert "capture_file" in changes(result)["huge"] and changes(result)["small"] == "created"


def test_a_file_that_grows(data):
    """Somebody on the host writes on while it is captured: what it had when it was looked at comes."""
    stop = threading.Event()

    def grow():
        with open(data / "log", "a") as out:
            while not stop.is_set():
                out.write("x" * 4096)
                out.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        result = ok("import time; time.sleep(0.05)", "--isolation", "namespaces", "-m", f"{data}:w:rw",
                    "--capture", "inline", "--capture-file", "1G", "--capture-mount", "1G", "--capture-total", "1G")
    finally:
        stop.set()
        writer.join()
    item = next(it for it in result["files"] if it["path"] == "log")
    assert "omitted" in item or len(item["text"]) == item["bytes"]


def test_directories_swapped_for_links(data, tmp_path):
    """[181] While they are looked at, directories become links and files: nothing of outside is taken."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for i in range(50):
        (outside / f"f{i}").write_text("SECRET")
    stop = threading.Event()

    def swap():
        n = 0
        while not stop.is_set():
            n += 1
            for i in range(8):
                try:
                    os.rename(data / f"d{i}", data / f"away{i}-{n}")
                    os.symlink(outside, data / f"d{i}")
                    os.unlink(data / f"d{i}")
                    os.rename(data / f"away{i}-{n}", data / f"d{i}")
                except OSError:
                    pass

    code = ("for i in range(8):\n os.makedirs(M + f'w/d{i}', exist_ok=True)\n"
            " for k in range(50): open(M + f'w/d{i}/f{k}', 'w').write('mine')")
    ok(code, "--isolation", "namespaces", "-m", f"{data}:w:rw")
    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(5):
            result = run_json(M + "for i in range(8):\n for k in range(50):\n  try: open(M + f'w/d{i}/f{k}', 'r+').write('mine')\n"
                              "  except OSError: pass", "--isolation", "namespaces", "-m", f"{data}:w:rw",
                              "--capture", "inline")
            assert "SECRET" not in json.dumps(result)
    finally:
        stop.set()
        swapper.join()
    assert all(p.read_text() == "SECRET" for p in outside.iterdir())


# ---- limits ----

@pytest.mark.parametrize("level", RW_LEVELS)
def test_limit_of_a_file(data, level):
    """[77]"""
    result = ok("open(M + 'w/big.bin', 'wb').write(bytes(2048))", "--isolation", level, "-m", f"{data}:w:rw",
                "--capture", "inline", "--capture-file", "1K")
    assert list(changes(result)) == ["big.bin"] and "1K" in changes(result)["big.bin"]
    assert not {"text", "base64"} & set(result["files"][0]) and result["files"][0]["bytes"] == 2048


def test_limit_of_a_mount(data):
    """[78] The first fits, the second does not."""
    result = ok("for n in 'ab': open(M + f'w/{n}.bin', 'wb').write(b'x' * 400)", "-m", f"{data}:w:rw",
                "--isolation", "namespaces", "--capture", "inline", "--capture-mount", "600")
    assert len(result["files"][0]["text"]) == 400 and "capture_mount" in changes(result)["b.bin"]


def test_limit_of_all(data, tmp_path):
    """[79]"""
    other = tmp_path / "other"
    other.mkdir()
    result = ok("for n in 'vw': open(M + f'{n}/f', 'w').write('x' * 500)", "-m", f"{data}:v:rw", "-m", f"{other}:w:rw",
                "--isolation", "namespaces", "--capture", "inline", "--capture-total", "600")
    assert ["text" in it for it in result["files"]] == [True, False]
    assert "capture_total" in result["files"][1]["omitted"]


def test_what_is_left_out_does_not_count(data):
    result = ok("for n, s in ('a', 5000), ('b', 500), ('c', 500): open(M + 'w/' + n, 'w').write('x' * s)",
                "--isolation", "namespaces", "-m", f"{data}:w:rw", "--capture", "inline", "--capture-mount", "1000")
    assert ["text" in it for it in result["files"]] == [False, True, True]


# ---- refused ----

@pytest.mark.parametrize("spec, says", [
    ("nowhere:x", "nowhere"), ("{}/a.txt:x", "not a directory"), ("{}:..", "is not a name"), ("{}:", "is not a name"),
    ("{}:a/b", "is not a name"), ("/:x", "cannot be mounted"), ("/proc:x", "cannot be mounted"),
    ("/dev:x", "cannot be mounted"), ("/sys:x", "cannot be mounted"), ("/usr:x:rw", "system"), ("", "no host"),
    # By name: tests are asked for again by theirs, from another folder.
    pytest.param(f"{BUILD}:x:rw", "glovebox itself", id="its folder"),
    pytest.param(f"{BUILD.parent}:x:rw", "glovebox itself", id="the folder around it"),
])
def test_refused(data, spec, says):
    """[76, 117] With a message that says why, as a mistake of usage."""
    done = glovebox("run", "-m", spec.replace("{}", str(data)), "-c", "1")
    assert (done.returncode, done.stdout) == (2, "") and says in done.stderr, done.stderr


def test_a_link_is_refused(data, tmp_path):
    """[72]"""
    (tmp_path / "link").symlink_to(data)
    done = glovebox("run", "-m", f"{tmp_path / 'link'}:x", "-c", "1")
    assert done.returncode == 2 and "symbolic link" in done.stderr


def test_a_loop_of_links_is_refused(tmp_path):
    """[164]"""
    (tmp_path / "loop").symlink_to("loop")
    done = glovebox("run", "-m", f"{tmp_path / 'loop' / 'x'}:x", "-c", "1")
    assert done.returncode == 2 and "loop" in done.stderr


def test_the_interpreter_cannot_be_written_to(tmp_path):
    """What a virtual environment holds is imported outside of any box the next time."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    done = glovebox("run", "--python", python, "-m", f"{tmp_path}:w:rw", "-c", "1")
    assert done.returncode == 125 and "interpreter" in done.stderr
    assert glovebox("run", "--python", python, "-m", f"{tmp_path}:w", "-c", "1").returncode == 0


def test_the_audit_cannot_be_written_to(data):
    done = glovebox("run", "--audit", data / "audit", "-m", f"{data}:w:rw", "-c", "1")
    assert done.returncode == 2 and "the audit" in done.stderr


def test_a_found_configuration_may_not_mount(data, tmp_path):
    for key in ("mount", "mounts"):
        (tmp_path / "glovebox.json").write_text(json.dumps({key: [f"{data}:x"]}))
        done = glovebox("run", "-c", "import os; print('GLOVEBOX_MNT' in os.environ)", cwd=tmp_path)
        assert done.stdout == "False\n" and f"is ignored in: {key}." in done.stderr
        assert value(M + "os.listdir(M)", "--config", tmp_path / "glovebox.json") == ["x"]


def test_configuration_and_options_add_up(data, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"mounts": [{"host": str(data), "name": "a"}], "mount": [f"{data}:b"]}))
    assert value(M + "sorted(os.listdir(M))", "--config", config, "-m", f"{data}:c") == ["a", "b", "c"]


def test_gone_when_it_is_needed(data, tmp_path):
    """It was there when it was configured, and is not any more: that run fails, and says so."""
    requests = [{"code": f"import os\n{M}os.listdir(M)"}]
    with running("batch", "--pool", "1", "-m", f"{data}:in", "-", stdin=subprocess.PIPE) as process:
        time.sleep(0.5)
        data.rename(tmp_path / "elsewhere")
        for _ in range(4):  # the first may still find a box that was made in time
            process.stdin.write(json.dumps(requests[0]) + "\n")
        out, _ = process.communicate(timeout=60)
    results = [json.loads(line) for line in out.splitlines()]
    assert len(results) == 4 and results[-1]["status"] == "failed"
    assert str(data) in results[-1]["error"]["message"]


# ---- requests ----

def test_requests_may_only_tighten(data, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    see = "import os; sorted(os.listdir('/mnt')) if os.path.isdir('/mnt') else None"
    write = "open('/mnt/w/f', 'w').close()"
    results = batch([
        {"code": see}, {"code": see, "mounts": []}, {"code": see, "mounts": [{"name": "w"}]},
        {"code": write, "mounts": [{"name": "w", "mode": "ro"}]}, {"code": write},
        {"code": see, "mounts": [{"host": str(other), "name": "new"}]},
        {"code": see, "mounts": [{"host": str(other), "name": "w"}]},
        {"code": see, "mounts": [{"name": "in", "mode": "rw"}]},
        {"code": see, "mounts": [{"host": str(data), "name": "in", "mode": "ro"}]},
        {"code": see, "mounts": {"host": "x"}},
    ], "--isolation", "namespaces", "-m", f"{data}:in", "-m", f"{data}:w:rw")
    assert [it["status"] for it in results] == \
        ["ok", "ok", "ok", "error", "ok", "failed", "failed", "failed", "ok", "failed"]
    assert [results[i]["value"] for i in (0, 1, 2, 8)] == [["in", "w"], None, ["w"], ["in"]]
    assert all("mounts" in results[i]["error"]["message"] for i in (5, 6, 7, 9))
    assert "allow_request" in results[5]["error"]["hint"]


def test_requests_that_may_name_their_own(data):
    results = batch([{"code": "open('/mnt/m/a.txt').read()", "mounts": [{"host": str(data), "name": "m"}]},
                     {"code": "1", "mounts": [{"host": str(BUILD), "name": "m", "mode": "rw"}]}],
                    "--isolation", "namespaces", "--allow-request", "mounts")
    assert results[0]["value"] == "alpha"
    assert results[1]["status"] == "failed" and "glovebox itself" in results[1]["error"]["message"]


def test_the_pool_serves_configured_mounts(data):
    """Boxes that wait have the mounts that are configured: every run finds one, each a new one."""
    results = batch([{"code": f"{M}open(M + 'w/n{i}', 'w').close(); len(os.listdir(M + 'w'))"} for i in range(30)],
                    "--isolation", "namespaces", "-m", f"{data}:w:rw", "-j", "1")
    assert [it["value"] for it in results] == [3 + i for i in range(30)]
    assert [changes(it) for it in results] == [{f"n{i}": "created"} for i in range(30)]


# ---- the rest ----

def test_explain(data):
    for level, path in (("namespaces", "/mnt/w"), ("landlock", str(data))):
        plan = json.loads(glovebox("run", "--explain", "--isolation", level, "-m", f"{data}:w").stdout)
        assert plan["mounts"] == [{"name": "w", "host": str(data), "mode": "ro", "path": path}]
        rule = next(it for it in plan["landlock"]["rules"] if it["path"] == path)
        assert rule["access"] == "read"
    plan = json.loads(glovebox("run", "--explain", "--isolation", "namespaces", "-m", f"{data}:w:rw").stdout)
    assert {"kind": "mount rw", "path": "/mnt/w", "source": str(data)} in plan["root"]


def test_mounts_of_the_host_below_it(data):
    """A mount below the directory is as read-only as the rest."""
    if not ROOT:
        assert not os.path.ismount(data / "sub")
        return
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mount(b"tmpfs", os.fsencode(data / "sub"), b"tmpfs", 0, None) == 0
    try:
        code = "try:\n open(M + 'in/sub/f', 'w')\nexcept OSError as e: print(e.errno)"
        assert ok(code, "--isolation", "namespaces", "-m", f"{data}:in")["stdout"] == "30\n"
    finally:
        assert libc.umount(os.fsencode(data / "sub")) == 0


def test_the_event_loop_goes_on(data):
    """[207] A large mount is looked at in pieces: a run beside it is not kept waiting for the whole."""
    for i in range(30000):
        (data / f"f{i}").touch()
    results = batch([{"id": "big", "code": "open('/mnt/w/x', 'w').close()"}] +
                    [{"id": i, "code": "1", "mounts": []} for i in range(10)],
                    "--isolation", "namespaces", "-m", f"{data}:w:rw", "-j", "11")
    assert all(it["status"] == "ok" for it in results) and changes(results[0]) == {"x": "created"}


def test_cancelled_while_it_looks(data):
    """Ctrl-C while the mount is looked at ends it, and nothing of the program runs."""
    for i in range(40000):
        (data / f"f{i}").touch()
    with running("run", "-m", f"{data}:w:rw", "-c", "open('/mnt/w/ran', 'w').close()") as process:
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (130, 0)
    assert (data / "ran").exists() == (process.returncode == 0)


def test_killed_with_a_mount(data):
    """SIGKILL of the engine: what is on the host stays as it is, and nothing else is left."""
    mounts = open("/proc/self/mountinfo").read()
    with running("run", "-m", f"{data}:w:rw", "--isolation", "namespaces", "-c",
                 "import time; open('/mnt/w/began', 'w').close(); time.sleep(60)") as process:
        assert until((data / "began").exists)
        process.kill()
    assert open("/proc/self/mountinfo").read() == mounts
    assert (data / "a.txt").read_text() == "alpha"


@pytest.mark.parametrize("mode", ["ro", "rw"] if ROOT else ["ro"])
def test_a_file_system_that_cannot_translate_owners(data, mode):
    """Root's programs may then read what anybody may, and a mount to write to is refused with the reason."""
    if not ROOT:
        assert ok("open(M + 'm/a.txt').read()", "-m", f"{data}:m")["value"] == "alpha"
        return
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mount(b"ramfs", os.fsencode(data), b"ramfs", 0, b"mode=0755") == 0
    try:
        (data / "a.txt").write_text("alpha")
        result = run_json(M + "open(M + 'm/a.txt').read()", "--isolation", "namespaces", "-m", f"{data}:m:{mode}")
        if mode == "ro":
            assert result["value"] == "alpha"
        else:
            assert result["status"] == "failed" and "owner" in result["error"]["hint"]
    finally:
        assert libc.umount(os.fsencode(data)) == 0


def test_help_names_the_options():
    text = subprocess.run([GLOVEBOX, "run", "--help"], capture_output=True, text=True, check=True).stdout
    for word in ("-m, --mount", "-o, --out", "--file", "--capture-total"):
        assert word in text
