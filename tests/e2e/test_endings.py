"""How programs end: the same program under plain CPython and in a box, with the same files afterwards.

A row is a program whose last effects come from finalisation: open files, __del__, generators, exit
handlers. Compared are the exit status, standard output, the last line of standard error, and the
bytes of every file that is left (of archives and databases, which hold times, the length alone).
"""
import json
import subprocess

import pytest

from box import PYTHON, batch, glovebox

ENDINGS = {
    "nothing": "x = 1",
    "text": "f = open('x.txt', 'w'); f.write('hello')",
    "text, lines": "f = open('x.txt', 'w')\nfor i in range(1000): print(i, file=f)",
    "binary": "f = open('x.bin', 'wb'); f.write(b'\\0\\1')",
    "unbuffered": "f = open('x.bin', 'wb', buffering=0); f.write(b'\\0\\1')",
    "random access": "f = open('x.bin', 'w+b'); f.write(b'abc'); f.seek(1); f.write(b'X')",
    "appended": "open('x.txt', 'w').write('a'); f = open('x.txt', 'a'); f.write('b')",
    "dropped by the program": "open('x.txt', 'w').write('a')",
    "value": "open('x.txt', 'w').write('abc')",
    "csv": "import csv; w = csv.writer(open('x.csv', 'w', newline='')); w.writerow([1, 2])",
    "json": "import json; f = open('x.json', 'w'); json.dump({'a': [1, 2]}, f)",
    "pickle": "import pickle; f = open('x.pickle', 'wb'); pickle.dump([1, 2, 3], f, protocol=4)",
    "gzip": "import gzip; f = gzip.open('x.gz', 'wb'); f.write(b'a' * 1000)",
    "bz2": "import bz2; f = bz2.open('x.bz2', 'wb'); f.write(b'a' * 1000)",
    "lzma": "import lzma; f = lzma.open('x.xz', 'wb'); f.write(b'a' * 1000)",
    "zip": "import zipfile; z = zipfile.ZipFile('x.zip', 'w'); z.writestr('a', 'text')",
    "shelve": "import shelve, dbm.dumb\ns = shelve.Shelf(dbm.dumb.open('x')); s['a'] = 1",
    "sqlite, committed": "import sqlite3; c = sqlite3.connect('x.db')\n"
                         "c.execute('create table t (a)'); c.commit()",
    "sqlite, not committed": "import sqlite3; c = sqlite3.connect('x.db', isolation_level=None)\n"
                             "c.execute('create table t (a)'); c.execute('begin')\n"
                             "c.execute('insert into t values (1)')",
    "before sys.exit": "import sys; f = open('x.txt', 'w'); f.write('hello'); sys.exit(3)",
    "before SystemExit with text": "f = open('x.txt', 'w'); f.write('hello'); raise SystemExit('no')",
    "before an exception": "f = open('x.txt', 'w'); f.write('hello'); 1 / 0",
    "in the frame of an exception": "def go():\n    f = open('x.txt', 'w'); f.write('hello'); 1 / 0\ngo()",
    "before os._exit": "import os; f = open('x.txt', 'w'); f.write('hello'); os._exit(2)",
    "in an object": "class A: pass\na = A(); a.f = open('x.txt', 'w'); a.f.write('hello'); a.me = a",
    "in a closure": "def make():\n    f = open('x.txt', 'w')\n    def write(t): f.write(t)\n    return write\n"
                    "w = make(); w('hello')",
    "in a cycle of its own": "f = open('x.txt', 'w'); l = [f]; l.append(l); f.write('hello'); del f, l",
    "in a cache": "import functools\n@functools.lru_cache\ndef f(): return open('x.txt', 'w')\n"
                  "f().write('hello')",
    "in a list of lists": "l = [[open(f'{i}.txt', 'w')] for i in range(20)]\n"
                          "for i, (f,) in enumerate(l): f.write(str(i))",
    "in a module of the library": "import json; json.f = open('x.txt', 'w'); json.f.write('hello')",
    "in a context variable": "import contextvars; v = contextvars.ContextVar('v')\n"
                             "v.set(open('x.txt', 'w')); v.get().write('hello')",
    "in a default": "def f(t, out=open('x.txt', 'w')): out.write(t)\nf('hello')",
    "in a class": "class A:\n    out = open('x.txt', 'w')\nA.out.write('hello')",
    "in a frame": "def f():\n    out = open('x.txt', 'w'); out.write('hello'); yield 1\ng = f(); next(g)",
    "in a module of the program": "open('mine.py', 'w').write(\"f = open('x.txt', 'w'); f.write('hello')\")\n"
                                  "import mine",
    "as standard output": "import sys; sys.stdout = open('x.txt', 'w'); print('hello')",
    "redirected": "import contextlib; f = open('x.txt', 'w')\n"
                  "with contextlib.redirect_stdout(f): print('hello')\nprint('after')",
    "two on one file": "a = open('x.txt', 'w'); b = open('x.txt', 'a'); a.write('1'); b.write('2')",
    "with the collector off": "import gc; gc.disable()\nclass A: pass\na = A(); a.me = a\n"
                              "a.f = open('x.txt', 'w'); a.f.write('hello')",
    "__del__": "class A:\n    def __del__(self): print('bye', X)\nX = 5; a = A(); print('hi')",
    "__del__, order": "class A:\n    def __init__(self, n): self.n = n\n"
                      "    def __del__(self): print('bye', self.n)\na, b, c = A(1), A(2), A(3)",
    "__del__ in a cycle": "class A:\n    def __del__(self): print('bye')\na = A(); a.me = a",
    "__del__ without the collector's knowledge":
        "class A:\n    __slots__ = ()\n    def __del__(self): print('bye')\na = A()",
    "__del__ that raises": "class A:\n    def __del__(self): 1 / 0\na = A()",
    "__del__ that exits": "class A:\n    def __del__(self): raise SystemExit(5)\na = A()",
    "__del__ that resurrects": "l = []\nclass A:\n    def __del__(self): l.append(self); print('no')\na = A()",
    "__del__ after an exception": "class A:\n    def __del__(self): print('bye')\n"
                                  "def f():\n    a = A(); raise KeyError(1)\nf()",
    "generator": "def g():\n    try: yield 1\n    finally: print('end')\nh = g(); next(h)",
    "context manager": "import contextlib\n@contextlib.contextmanager\ndef c():\n    try: yield 1\n"
                       "    finally: print('end')\nk = c(); k.__enter__()",
    "atexit": "import atexit; f = open('x.txt', 'w'); atexit.register(lambda: f.write('late'))",
    "atexit, order": "import atexit\natexit.register(print, 1); atexit.register(print, 2)",
    "weakref.finalize": "import weakref\nclass A: pass\na = A(); weakref.finalize(a, print, 'gone')",
    "weak reference": "import weakref\nclass A: pass\na = A(); r = weakref.ref(a, lambda r: print('gone'))",
    "temporary directory": "import tempfile; t = tempfile.TemporaryDirectory(dir='.'); print('made')",
    "temporary file": "import tempfile; t = tempfile.NamedTemporaryFile('w', dir='.'); t.write('x')",
    "thread": "import threading, time\ndef f():\n    time.sleep(0.05); open('x.txt', 'w').write('t')\n"
              "threading.Thread(target=f).start()",
    "thread with a file": "import threading\ndef f():\n    global out\n    out = open('x.txt', 'w')\n"
                          "    out.write('t')\nt = threading.Thread(target=f); t.start()",
    "logging": "import logging; logging.basicConfig(filename='x.log', format='%(message)s')\n"
               "logging.error('oops')",
    "logging, in memory": "import logging, logging.handlers\n"
                          "h = logging.handlers.MemoryHandler(9, target=logging.FileHandler('x.log'))\n"
                          "logging.getLogger().addHandler(h); logging.error('oops')",
    "a pipe to a child": "import subprocess\np = subprocess.Popen(['sh', '-c', 'cat > x.txt'],"
                         " stdin=subprocess.PIPE, text=True)\np.stdin.write('hello'); p.stdin.close(); p.wait()",
    "asyncio": "import asyncio\nasync def main():\n    global f\n    f = open('x.txt', 'w'); f.write('a')\n"
               "asyncio.run(main())",
    "a task that is pending": "import asyncio\nasync def wait():\n    try: await asyncio.sleep(60)\n"
                              "    finally: open('x.txt', 'w').write('end')\n"
                              "async def main(): asyncio.create_task(wait()); await asyncio.sleep(0)\n"
                              "asyncio.run(main())",
    "deep": "l = []\nfor i in range(200000): l = [l]\nf = open('x.txt', 'w'); f.write('hello')",
    "a compiled pattern and a date": "import re, datetime; p = re.compile('a'); d = datetime.date(2020, 1, 1)",
}
# Where CPython has taken too much of itself apart for the program's last words: here they are said.
KINDER = {
    "in a subclass": (
        "import io\nclass F(io.StringIO):\n    def close(self):\n"
                     "        open('x.txt', 'w').write(self.getvalue()); super().close()\n"
                     "f = F(); f.write('hello')",
        "", {"x.txt": b"hello"}),
    "__del__ that writes": (
        "class A:\n    def __del__(self): open('x.txt', 'w').write('bye')\na = A()",
        "", {"x.txt": b"bye"}),
    "an import in __del__": (
        "class A:\n    def __del__(self):\n        import colorsys\n"
                            "        print(colorsys.__name__)\na = A()",
        "colorsys\n", {}),
}
BY_LENGTH = (".zip", ".db", ".gz", ".dir", ".dat", ".bak")


def seen(directory):
    """Name to contents; of what holds times, its length."""
    return {f.name: f.stat().st_size if f.suffix in BY_LENGTH else f.read_bytes()
            for f in directory.iterdir() if f.is_file() and f.name != "main.py"}


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What CPython itself makes of each."""
    outcomes = {}
    for name, code in ENDINGS.items():
        directory = tmp_path_factory.mktemp("plain")
        (directory / "main.py").write_text(code)
        done = subprocess.run([PYTHON, "main.py"], cwd=directory, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60,
                              env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"})
        outcomes[name] = done.returncode, done.stdout, last_line(done.stderr), seen(directory)
    return outcomes


@pytest.mark.parametrize("name", ENDINGS)
def test_a_program_ends_as_under_cpython(name, plain, tmp_path):
    (tmp_path / "main.py").write_text(ENDINGS[name])
    done = glovebox("run", "-o", tmp_path / "out", "-e", "PYTHONDONTWRITEBYTECODE=1",
                    tmp_path / "main.py")
    files = seen(tmp_path / "out") if (tmp_path / "out").exists() else {}
    assert (done.returncode, done.stdout, last_line(done.stderr), files) == plain[name]


def test_the_same_where_the_interpreter_is_warm(plain):
    """Boxes of a warm zygote, one after another: what was there when it froze is not collected."""
    results = batch([{"id": name, "code": code} for name, code in ENDINGS.items()])
    for name, result in zip(ENDINGS, results):
        code, out, _, files = plain[name]
        sizes = {n: c if isinstance(c, int) else len(c) for n, c in files.items()}
        listed = {f["path"]: f["bytes"] for f in result["files"] if "__pycache__" not in f["path"]}
        assert (result["exit_code"], result["stdout"], listed) == (code, out, sizes), name


@pytest.mark.parametrize("name", KINDER)
def test_last_words_that_cpython_loses(name, tmp_path):
    code, out, files = KINDER[name]
    done = glovebox("run", "-o", tmp_path / "out", "-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (0, out, "")
    assert (seen(tmp_path / "out") if files else {}) == files


def test_a_coroutine_that_was_never_awaited_is_named():
    done = glovebox("run", "-c", "async def f(): pass\nc = f(); print('made')")
    assert (done.returncode, done.stdout) == (0, "made\n")
    assert "coroutine 'f' was never awaited" in done.stderr


def test_a_file_in_a_mount_is_written(tmp_path):
    done = glovebox("run", "-m", f"{tmp_path}:data:rw", "-c",
                    "f = open('/mnt/data/x.txt', 'w'); f.write('hello')")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.txt").read_text() == "hello"


def test_a_daemon_thread_that_writes_does_not_hold_up_the_end():
    """It holds the lock of its file; CPython leaves that file alone."""
    code = ("import os, threading, time\nr, w = os.pipe()\nf = open(w, 'w')\n"
            "def flood():\n    while True: f.write('x' * 1000)\n"
            "threading.Thread(target=flood, daemon=True).start(); time.sleep(0.2); print('end')")
    done = glovebox("run", "--json", "-t", "20", "-c", code)
    result = json.loads(done.stdout)
    assert (result["status"], result["stdout"]) == ("ok", "end\n")


def test_a_cell_flushes_files_that_stay_open():
    """A cell's result shows what it wrote; what a killed cell wrote is written over."""
    results = batch([
        {"session": "s", "code": "f = open('x.txt', 'w'); f.write('one ')"},
        {"session": "s", "code": "f.write('two '); f.flush(); import os; os.kill(os.getpid(), 9)"},
        {"session": "s", "code": "f.write('three '); f.close(); open('x.txt').read()"}])
    assert [f["bytes"] for f in results[0]["files"]] == [4]
    assert results[1]["session"]["state"] == "rolled_back"
    assert results[2]["value"] == "one three "
