"""A session's workspace from outside: requests that list, read and write its files."""
import base64
import json
import os
import tempfile
import time

import pytest
from test_sessions import LEVELS, engine


@pytest.fixture(params=LEVELS)
def e(request):
    with engine(request.param, "-j", "4") as it:
        yield it


def listed(e, session="s"):
    return {it["path"]: it["bytes"] for it in e.op("list_files", session)["value"]["files"]}


def read(e, path, **more):
    result = e.op("read_file", path=path, **more)
    assert result["status"] == "ok", result["error"]
    return result["value"]


def test_there_and_back(e):
    """Writing begins a session; its cells find the file, and what they write is found from outside."""
    written = e.op("write_file", files={"d/in.txt": "ä\n", "raw": {"base64": "AP8="}})
    assert (written["status"], written["value"]["files"]) == ("ok", 2), written["error"]
    assert written["session"] == {"name": "s", "state": "new", "cell": 0}
    assert listed(e) == {"d/in.txt": 3, "raw": 2}
    first = e.cell("open('out', 'w').write(open('d/in.txt').read() * 2)")
    assert [it["path"] for it in first["files"]] == ["out"], "what was given is no cell's doing"
    assert first["session"]["state"] == "intact"
    assert read(e, "out") == {"path": "out", "bytes": 6, "offset": 0, "length": 6, "is_whole": True, "text": "ä\nä\n"}
    assert read(e, "raw")["base64"] == base64.b64encode(b"\x00\xff").decode()
    assert e.op("write_file", files={"d/in.txt": "new"})["session"]["state"] == "intact"
    assert e.value("open('d/in.txt').read()") == "new"
    assert e.op("inspect")["value"]["cell"] == 2, "none of this was a cell"


def test_files_written_again_and_again_are_no_cells_doing(e):
    for text in ("", "x", "xx"):
        assert e.op("write_file", files={"f": text, "g" + text: "1"})["status"] == "ok"
    assert e.cell("1")["files"] == []
    assert e.cell("open('f', 'w')\nNone", files={"h": "1"})["files"][0]["path"] == "f"
    assert e.cell("1", files={"h": "2"})["files"] == []


def test_parts(e):
    e.cell("open('f', 'w').write('aä' * 1000)")
    assert read(e, "f", length=5) == {"path": "f", "bytes": 3000, "offset": 0, "length": 4, "is_whole": False,
                                      "text": "aäa"}, "no half of a character"
    assert read(e, "f", offset=2997)["text"] == "aä"
    assert read(e, "f", offset=2, length=2)["base64"] == base64.b64encode("ä".encode()[1:] + b"a").decode()
    assert read(e, "f", offset=10**15)["text"] == ""
    e.cell("with open('sparse', 'wb') as f: f.truncate(200 << 20)")
    piece = read(e, "sparse", offset=(200 << 20) - 2, length=10)
    assert (piece["bytes"], piece["length"], piece["base64"]) == (200 << 20, 2, "AAA=")
    assert read(e, "sparse")["length"] == 1 << 20, "no more than is usual"


def test_in_turn(e):
    """They wait for the cells before them."""
    e.send({"session": "s", "code": "import time\ntime.sleep(.5)\nopen('late', 'w').write('x')"},
           {"kind": "session", "session": "s", "op": "read_file", "path": "late"})
    assert [r["status"] for r in e.results(2)] == ["ok", "ok"]


@pytest.mark.parametrize("code, path, said", [
    ("import os; os.symlink('/etc/passwd', 'x')", "x", "symbolic"),
    ("import os; os.symlink('/etc', 'd')", "d/passwd", "opening"),
    ("import os; os.mkdir('x')", "x", "no file"),
    ("import os; os.mkfifo('x')", "x", "no file"),
    ("import os; open('y', 'w'); os.link('y', 'x')", "x", "another name"),
    ("open('x', 'w'); import os; os.chmod('x', 0)", "none", "No such file"),
])
def test_what_is_no_file(e, code, path, said):
    e.cell(code)
    refused = e.op("read_file", path=path)
    assert (refused["status"], refused["session"]["state"]) == ("failed", "intact")
    assert refused["error"]["message"].startswith("path: ") and said in refused["error"]["message"]


def test_files_are_put_through_no_link(e, tmp_path):
    tmp_path.chmod(0o777)
    e.cell(f"import os; os.symlink('{tmp_path}', 'd'); os.symlink('{tmp_path}/file', 'f')")
    assert e.op("write_file", files={"d/file": "x"})["status"] == "failed"
    assert e.op("write_file", files={"f": "x"})["status"] == "ok"
    assert read(e, "f")["text"] == "x" and os.listdir(tmp_path) == [], "the link is replaced"


def test_many_files_are_bounded(e):
    e.cell("for i in range(11000): open(f'{i:05}', 'w').close()")
    answer = e.op("list_files")["value"]
    assert len(answer["files"]) == 10000 and not answer["is_whole"]


def test_odd_names_and_kinds(e):
    e.cell("import os\nopen(b'\\xff', 'w').close(); open('a\\nb', 'w').close(); os.mkfifo('fifo')\n"
           "os.symlink('a', 'link')")
    files = {it["path"]: it for it in e.op("list_files")["value"]["files"]}
    assert set(files) == {"\ufffd", "a\nb", "fifo"}
    assert files["\ufffd"]["path_base64"] == "/w==" and files["fifo"]["omitted"] == "a FIFO"


@pytest.mark.parametrize("request_, said", [
    ({"op": "read_file"}, "'path'"), ({"op": "read_file", "path": "../x"}, "path: "),
    ({"op": "read_file", "path": "/etc/passwd"}, "path: "), ({"op": "read_file", "path": ""}, "path: "),
    ({"op": "read_file", "path": "a\0b"}, "path: "), ({"op": "read_file", "path": "x", "length": 1 << 30}, "length: "),
    ({"op": "read_file", "path": "x", "offset": -1}, "offset: "), ({"op": "list_files", "path": "x"}, "path: only"),
    ({"op": "write_file"}, "'files'"), ({"op": "write_file", "files": {"../x": ""}}, "files: "),
    ({"op": "inspect", "files": {"x": ""}}, "files: only"), ({"op": "list_files", "session": "none"}, "no session"),
])
def test_refused(request_, said):
    with engine() as e:
        e.cell("x = 1")
        result = e.ask({"kind": "session", "session": "s", **request_})
        assert result["status"] == "failed" and said in result["error"]["message"], result["error"]
        assert e.value("x") == 1


def test_no_room(e):
    assert e.op("write_file", files={"big": "x" * (2 << 20)}, limits={"disk": "1M"})["error"]["type"] == "limit"


# ---- what leaves no time ----

def test_a_mapping_of_an_earlier_cell(e):
    """numpy.memmap and the like: what is written through it later is found, cell by cell."""
    assert e.op("write_file", files={"given": "abcd", "quiet": "abcd"})["status"] == "ok"
    code = "import mmap\ndef mapped(n):\n    f = open(n, 'r+b'); m = mmap.mmap(f.fileno(), 0); m[:]; return m\n"
    first = e.cell(code + "open('own', 'wb').write(bytes(8192)); m = mapped('own'); g = mapped('given'); None")
    assert "own" in changed(first)
    assert e.cell("1")["files"] == [] or set(changed(e.cell("1"))) == set()
    for at in (0, 5000):
        assert changed(e.cell(f"m[{at}] = 7; None")) == {"own": "modified"}
        assert changed(e.cell("None")) == {}
    assert changed(e.cell("g[0:1] = b'X'; None")) == {"given": "modified"}
    assert changed(e.cell("h = mapped('quiet'); h[1:2] = b'Y'; h.close(); None")) == {"quiet": "modified"}
    assert changed(e.cell("m[0] = 7; g[0:1] = b'X'; None")) == {}, "what was there already"
    put = e.cell("p = mapped('put'); p[0:1] = b'P'; None", files={"put": "abcd"})
    assert changed(put) == {"put": "modified"}
    assert changed(e.cell("p[1:2] = b'P'; None")) == {"put": "modified"}


def changed(result):
    assert result["status"] == "ok", (result["error"], result["stderr"])
    return {it["path"]: it["change"] for it in result["files"]}


# ---- a program that changes names meanwhile ----

SWAPPER = """
import os, socket, threading
HOST = {host!r}
def swap():
    os.makedirs("made/dir/deep"); os.makedirs("still")
    open("made/file", "w").write("inside"); open("made/other", "w").write("inside")
    with open("made/sparse", "wb") as f: f.truncate(100 << 20)
    for make, *args in [(os.symlink, HOST, "made/link"), (os.symlink, HOST + "/secret", "made/secret"),
                        (os.symlink, "/proc/self/root", "made/root"), (os.mkfifo, "made/fifo"), (os.link, "made/other", "made/linked"),
                        (os.symlink, HOST, "still/link"), (os.symlink, HOST + "/secret", "still/secret"), (os.mkfifo, "still/fifo"),
                        (lambda name: socket.socket(socket.AF_UNIX).bind(name), "made/socket")]:
        try: make(*args)
        except OSError: pass  # not every level has all of them
    open("begun", "w").close()
    n = 0
    while not os.path.exists("stop"):
        n += 1
        for place, kinds in (("d", ("dir", "link", "root", "file")), ("f", ("file", "secret", "fifo", "sparse", "linked", "dir", "socket"))):
            kind = kinds[n % len(kinds)]
            try:
                os.rename("made/" + kind, place)
            except OSError:
                continue
            try:
                os.rename(place, "made/" + kind)
            except OSError:
                pass
thread = threading.Thread(target=swap, daemon=True); thread.start()
while not os.path.exists("begun"): pass
os.path.islink("still/link")
"""


STILL = ("still/secret", "still/link/secret", "still/fifo")


def test_names_that_change_under_the_engine(e):
    """Renaming files, directories, links, FIFOs, sockets and large files over each other: nothing outside of the workspace is
    read or written, nothing blocks, and the session lives."""
    with tempfile.TemporaryDirectory() as host:
        os.chmod(host, 0o777)
        for name in ("secret", "x", "deep"):
            with open(f"{host}/{name}", "w") as f:
                f.write("CANARY")
            os.chmod(f"{host}/{name}", 0o666)
        before = sorted(os.listdir(host))
        assert e.value(SWAPPER.format(host=host)) is True
        seen = set()
        until = time.monotonic() + 3
        while time.monotonic() < until:
            for path in ("f", "d/secret", "d/x", "d/deep/y", "d/etc/passwd", *STILL):
                result = e.op("read_file", path=path, length=64)
                assert "CANARY" not in json.dumps(result) and "root:" not in json.dumps(result), (path, result)
                seen.add((path, result["status"]))
            for path in ("f", "d/new", "d/secret", "d/deep/z", "still/link/new"):
                result = e.op("write_file", files={path: "WRITTEN"})
                assert result["status"] in ("ok", "failed"), result
                seen.add((path, result["status"]))
            listing = e.op("list_files")
            assert "CANARY" not in json.dumps(listing)
            assert not any(it["path"].startswith(("d/secret/", "d/etc", "still/link/", "d/proc")) for it in listing["value"]["files"])
        assert ("f", "ok") in seen and not any((path, "ok") in seen for path in (*STILL, "still/link/new")), seen
        assert sorted(os.listdir(host)) == before
        for name in before:
            with open(f"{host}/{name}") as f:
                assert f.read() == "CANARY"
        assert e.op("write_file", files={"stop": "1"})["status"] == "ok"
        assert e.value("thread.join(20); thread.is_alive()") is False
