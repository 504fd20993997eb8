"""Forks and copies of a session: what must not be the same in two of them, or reachable from one."""
import pytest
from box import batch
from test_sessions import LEVELS, engine


@pytest.fixture(params=LEVELS)
def e(request):
    with engine(request.param, "-j", "4") as it:
        yield it


@pytest.mark.parametrize("library", ["random", "numpy.random"])
def test_random_numbers_differ_in_copies_and_forks(e, library):
    e.value(f"import os, {library} as r\nr.random()\nNone")
    for name in "tu":
        assert e.op("fork", into=name)["status"] == "ok"
    drawn = [e.value("r.random()", name) for name in "stu"]
    drawn += [float(e.cell("print(r.random(), flush=True)\nos._exit(1)")["stdout"]) for _ in range(3)]
    assert len(set(drawn)) == 6, drawn


def test_files_elsewhere_on_the_disk_stay_with_the_origin(e):
    e.value("import os, tempfile\nt = tempfile.TemporaryFile(buffering=0); t.write(b'old')\n"
            "n = open(os.environ['TMPDIR'] + '/n', 'w+'); h = open(os.environ['HOME'] + '/h', 'w+')\nNone")
    assert e.op("fork", into="t")["status"] == "ok"
    e.value("t.write(b'new'); n.write('new'); n.flush(); h.write('new'); h.flush()", "s")
    for name in "tnh":
        assert e.cell(f"{name}.seek(0)\n{name}.read()", "t")["error"]["type"] == "OSError", name
        assert "new" in str(e.value(f"{name}.seek(0)\n{name}.read()", "s"))


def test_directories_that_were_open_show_nothing_of_the_origin(e):
    e.value("import os\nd = os.open('.', os.O_RDONLY)\nNone")
    assert e.op("fork", into="t")["status"] == "ok"
    assert e.value("open('secret', 'w').close()\n'secret' in os.listdir(d)", "s") is True
    assert "secret" not in str(e.cell("print(os.listdir(d))", "t")["stdout"])
    assert e.cell("print(os.stat('secret', dir_fd=d))", "t")["status"] == "error"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", ["os.getcwd()", "'/'", "os.path.dirname(os.getcwd())", "os.environ['TMPDIR']",
                                 "'/usr/..' + os.getcwd()", "os.environ['HOME']"])
def test_the_search_path_lets_no_fork_out(level, way):
    """Where modules come from is open to a fork, but not what its origin writes to."""
    with engine(level) as e:
        places = e.value(f"import os, sys\nsys.path.append({way})\n"
                         "places = [os.getcwd(), os.environ['TMPDIR'], os.environ['HOME']]\n"
                         "for it in places: open(it + '/secret.py', 'w').write('x = 1')\nplaces")
        assert e.op("fork", into="t")["status"] == "ok"
        for it in places:
            for act in ("/secret.py').read()", "/made', 'w')"):
                assert e.cell(f"open('{it}{act}", "t")["error"]["type"] == "PermissionError", (it, act)
        if way == "os.getcwd()":
            assert e.value("import secret\nsecret.__file__ == os.getcwd() + '/secret.py'", "t") is True


def test_a_cell_that_takes_in_orphans_does_not_get_the_copies(e):
    e.value("import ctypes, os\nlibc = ctypes.CDLL(None)\nx = 1\nlibc.prctl(36, 1, 0, 0, 0)")
    for _ in range(3):
        assert e.cell("x = 2\nos._exit(1)")["session"]["state"] == "rolled_back"
        assert e.value("try:\n    os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError:\n    y = x\ny") == 1
    assert e.value("it = ctypes.c_int()\nlibc.prctl(37, ctypes.byref(it), 0, 0, 0)\nit.value") == 1


# ---- requests behind a fork ----

def test_a_request_to_a_fork_waits_for_it():
    """In one batch, whose lines are all there at once."""
    results = batch([{"session": "a", "code": "x = 1"}, {"session": "a", "kind": "session", "op": "fork", "into": "b"},
                     {"session": "b", "code": "x += 1; x"}, {"session": "a", "code": "x"},
                     {"session": "b", "code": "x"}], "-j", 8)
    assert [r["status"] for r in results] == ["ok"] * 5
    assert [results[i]["value"] for i in (2, 3, 4)] == [2, 1, 2]


def test_a_request_to_a_fork_that_fails_hears_of_it():
    results = batch([{"session": "a", "code": "x = = 1"}, {"session": "a", "kind": "session", "op": "fork", "into": "b"},
                     {"session": "b", "code": "1"}, {"session": "b", "code": "2"}], "-j", 8)
    assert [r["status"] for r in results][:2] == ["rejected", "failed"]
    assert results[2]["status"] == "failed" and "fork" in results[2]["error"]["message"], results[2]["error"]
    assert batch([{"session": "a", "code": "1"}, {"session": "a", "kind": "session", "op": "fork", "into": "a"}],
                 "-j", 8)[1]["status"] == "failed"
