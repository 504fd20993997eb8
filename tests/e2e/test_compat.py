"""Ordinary programs keep working inside: a box that breaks them is a box that gets switched off."""
import subprocess

import pytest
from box import PYTHON, run_json, value

PROGRAMS = {
    "pool": ("import multiprocessing\ndef f(x): return x * x\n"
             "with multiprocessing.Pool(2) as p: r = p.map(f, range(4))\nr", [0, 1, 4, 9]),
    "queue": ("import multiprocessing as mp\nq = mp.Queue()\n"
              "p = mp.Process(target=q.put, args=('x',))\np.start()\nr = q.get()\np.join()\nr", "x"),
    "spawn": ("import multiprocessing as mp\nwith mp.get_context('spawn').Pool(1) as p:\n"
              "    r = p.map(abs, [-1])\nr", [1]),
    "manager": ("import multiprocessing as mp\nwith mp.Manager() as m:\n    d = m.dict(a=1)\n"
                "    r = dict(d)\nr", {"a": 1}),
    "shared-memory": ("from multiprocessing import shared_memory as s\n"
                      "m = s.SharedMemory(create=True, size=16)\nm.buf[0] = 7\nr = m.buf[0]\n"
                      "m.close(); m.unlink()\nr", 7),
    "locks": ("import multiprocessing as mp\nl = mp.Lock()\nwith l: pass\nmp.Semaphore(2)\n1", 1),
    "process-executor": ("from concurrent.futures import ProcessPoolExecutor\n"
                         "with ProcessPoolExecutor(2) as p: r = list(p.map(abs, [-1, -2]))\nr",
                         [1, 2]),
    "thread-executor": ("from concurrent.futures import ThreadPoolExecutor\n"
                        "with ThreadPoolExecutor(8) as p: r = sum(p.map(abs, range(-50, 0)))\nr",
                        1275),
    "asyncio-subprocess": ("import asyncio\np = await asyncio.create_subprocess_exec('echo', 'hi',"
                           " stdout=asyncio.subprocess.PIPE)\n(await p.communicate())[0].decode()",
                           "hi\n"),
    "asyncio-shell": ("import asyncio\np = await asyncio.create_subprocess_shell('exit 3')\n"
                      "await p.wait()", 3),
    "asyncio-to-thread": ("import asyncio\nawait asyncio.to_thread(abs, -3)", 3),
    "threads": ("import threading\nr = []\nt = [threading.Thread(target=r.append, args=(i,))"
                " for i in range(8)]\n[x.start() for x in t]; [x.join() for x in t]\nsorted(r)",
                list(range(8))),
    "sqlite-wal": ("import sqlite3\nd = sqlite3.connect('a.db')\n"
                   "mode = d.execute('pragma journal_mode=wal').fetchone()[0]\n"
                   "d.execute('create table t (x)'); d.execute('insert into t values (5)')\n"
                   "d.commit()\n[mode, sqlite3.connect('a.db').execute('select x from t').fetchone()]",
                   ["wal", [5]]),
    "tempfile": ("import tempfile, os\nwith tempfile.TemporaryDirectory() as d:\n"
                 "    f = tempfile.NamedTemporaryFile(dir=d)\n    f.write(b'x'); f.flush()\n"
                 "    r = os.path.getsize(f.name)\n    f.close()\nr", 1),
    "git": ("import subprocess as s\ng = ['git', '-c', 'user.name=a', '-c', 'user.email=a@b']\n"
            "s.run([*g, 'init', '-q', 'r'], check=True)\nopen('r/f', 'w').write('x')\n"
            "s.run([*g, 'add', 'f'], cwd='r', check=True)\n"
            "s.run([*g, 'commit', '-qm', 'one'], cwd='r', check=True)\n"
            "s.run([*g, 'log', '--format=%s'], cwd='r', capture_output=True, text=True).stdout",
            "one\n"),
    "bash": ("import subprocess\nsubprocess.run(['bash', '-c', 'for i in 1 2; do echo $i; done |"
             " tac; cat <(echo x)'], capture_output=True, text=True).stdout", "2\n1\nx\n"),
    "pipeline": ("import subprocess as s\na = s.Popen(['printf', 'b\\na\\nc\\n'], stdout=s.PIPE)\n"
                 "b = s.Popen(['sort', '-r'], stdin=a.stdout, stdout=s.PIPE)\na.stdout.close()\n"
                 "b.communicate()[0].decode().split()", ["c", "b", "a"]),
    "tools": ("import subprocess\nsubprocess.run('ls /usr/bin >/dev/null && find . -name x && "
              "tar cf a.tar /etc/passwd 2>/dev/null && gzip a.tar && sed s/a/b/ <<<a && date +%Y"
              " >/dev/null && awk \"BEGIN{print 2}\"', shell=True, executable='/bin/bash',"
              " capture_output=True, text=True).stdout", "b\n2\n"),
    "own-interpreter": ("import subprocess, sys\nsubprocess.run([sys.executable, '-c',"
                        " 'import json; print(json.dumps([1]))'], capture_output=True,"
                        " text=True).stdout", "[1]\n"),
    "venv": ("import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'venv', '--without-pip',"
             " 'v'], check=True)\nsubprocess.run(['v/bin/python', '-c', 'import sys;"
             " print(sys.prefix != sys.base_prefix)'], capture_output=True, text=True).stdout",
             "True\n"),
    "script": ("import os, subprocess\nopen('s', 'w').write('#!/bin/sh\\necho ran')\n"
               "os.chmod('s', 0o755)\nsubprocess.run(['./s'], capture_output=True, text=True).stdout",
               "ran\n"),
    "loopback": ("import socket, threading\ns = socket.create_server(('127.0.0.1', 0))\n"
                 "def serve():\n    c, _ = s.accept()\n    c.sendall(c.recv(9).upper())\n"
                 "    c.close()\nt = threading.Thread(target=serve)\nt.start()\n"
                 "c = socket.create_connection(s.getsockname())\nc.sendall(b'ping')\n"
                 "r = c.recv(9).decode()\nt.join()\nr", "PING"),
    "http": ("import threading, urllib.request as u, http.server as h\n"
             "class H(h.BaseHTTPRequestHandler):\n    def do_GET(self):\n"
             "        self.send_response(200); self.end_headers(); self.wfile.write(b'ok')\n"
             "    def log_message(self, *a): pass\n"
             "s = h.HTTPServer(('127.0.0.1', 0), H)\n"
             "threading.Thread(target=s.handle_request).start()\n"
             "u.urlopen(f'http://localhost:{s.server_port}').read().decode()", "ok"),
    "unix-socket": ("import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('s')\ns.listen()\n"
                    "c = socket.socket(socket.AF_UNIX)\nc.connect('s')\ns.accept()[0].send(b'x')\n"
                    "c.recv(1).decode()", "x"),
    "ssl": ("import ssl\nssl.create_default_context() and ssl.OPENSSL_VERSION[:7]", "OpenSSL"),
    "ctypes": ("import ctypes, os\nl = ctypes.CDLL(None)\nb = (ctypes.c_int * 3)(3, 1, 2)\n"
               "C = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.POINTER(ctypes.c_int)] * 2)\n"
               "l.qsort(b, 3, 4, C(lambda x, y: x[0] - y[0]))\n[l.getpid() == os.getpid(), *b]",
               [True, 1, 2, 3]),
    "zoneinfo": ("import zoneinfo, datetime\nstr(datetime.datetime(2024, 7, 1,"
                 " tzinfo=zoneinfo.ZoneInfo('Europe/Vienna')).utcoffset())", "2:00:00"),
    "locale": ("import locale\nlocale.setlocale(locale.LC_ALL, '')\n"
               "locale.getpreferredencoding(False).lower()", "utf-8"),
    "decimal": ("from decimal import *\ngetcontext().prec = 5\nstr(Decimal(1) / 3)", "0.33333"),
    "pathlib": ("from pathlib import Path\np = Path('a/b')\np.mkdir(parents=True)\n"
                "(p / 'c.txt').write_text('x')\n[str(x) for x in Path('.').rglob('*.txt')]",
                ["a/b/c.txt"]),
    "archives": ("import zipfile, tarfile, gzip, lzma, bz2\n"
                 "zipfile.ZipFile('a.zip', 'w').writestr('n', 'x')\n"
                 "for m in gzip, lzma, bz2: m.open('f', 'wb').write(b'x')\n"
                 "tarfile.open('a.tar', 'w').add('f')\nzipfile.ZipFile('a.zip').read('n').decode()",
                 "x"),
    "user": ("import getpass, pwd, os, socket, platform\n[pwd.getpwuid(os.getuid()).pw_name =="
             " getpass.getuser(), bool(socket.gethostname()), platform.system()]",
             [True, True, "Linux"]),
    "files": ("import fcntl, mmap, os, shutil\nf = open('f', 'w+b')\nf.write(b'x' * 4096); f.flush()\n"
              "fcntl.flock(f, fcntl.LOCK_EX)\nm = mmap.mmap(f.fileno(), 0)\nm[0] = 65\nm.flush()\n"
              "os.rename('f', 'g'); os.symlink('g', 'h'); os.link('g', 'i'); os.chmod('g', 0o600)\n"
              "shutil.copy('h', 'k'); os.truncate('k', 1)\nopen('k').read()", "A"),
    "signals": ("import signal, time\nr = []\nsignal.signal(signal.SIGALRM, lambda *a: r.append(1))\n"
                "signal.setitimer(signal.ITIMER_REAL, .05)\nsignal.pause()\nr", [1]),
    "polling": ("import select, os, selectors\na, b = os.pipe()\ne = select.epoll()\n"
                "e.register(a)\nos.write(b, b'x')\n[e.poll(1)[0][1], len(select.select([a], [], [],"
                " 1)[0])]", [1, 1]),
    "pty": ("import pty, os\np, fd = pty.fork()\nif p == 0: os.execvp('echo', ['echo', 'tty'])\n"
            "r = os.read(fd, 9).decode()\nos.waitpid(p, 0)\nr", "tty\r\n"),
    "dev": ("open('/dev/null', 'w').write('x')\n[len(open('/dev/urandom', 'rb').read(4)),"
            " open('/dev/zero', 'rb').read(1)[0]]", [4, 0]),
    "stdlib": ("import ast, base64, csv, dataclasses, email, enum, functools, hashlib, heapq, hmac,"
               " html, inspect, io, itertools, json, logging, math, pickle, pprint, queue, re, secrets,"
               " shlex, statistics, string, struct, textwrap, timeit, traceback, types, typing,"
               " unittest, urllib.parse, uuid, warnings, weakref, xml.etree.ElementTree\n"
               "hashlib.sha256(b'').hexdigest()[:8]", "e3b0c442"),
    "unittest": ("import unittest\nclass T(unittest.TestCase):\n    def test_a(self):"
                 " self.assertTrue(True)\n"
                 "unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))"
                 ".testsRun", 1),
    "pickle-own-class": ("import pickle\nclass A: pass\ntype(pickle.loads(pickle.dumps(A())))"
                         ".__name__", "A"),
    "inspect-own-source": ("import inspect\ndef f(): return 1\ninspect.getsource(f)",
                           "def f(): return 1\n"),
    "import-hooks": ("import sys\nlen(set(sys.meta_path)) == len(sys.meta_path)", True),
    "dataclass": ("from __future__ import annotations\nfrom dataclasses import dataclass\n"
                  "@dataclass\nclass P:\n    x: int\nP(1).x", 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    code, expected = PROGRAMS[name]
    assert value(code, "--python", PYTHON, "--timeout", 60) == expected


PYTEST = """
import pathlib, subprocess, sys
pathlib.Path("test_it.py").write_text("import pytest\\ndef test_a(tmp_path): assert tmp_path\\n"
    "@pytest.mark.parametrize('n', range(3))\\ndef test_b(n): assert n < 2\\n")
done = subprocess.run([sys.executable, "-m", "pytest", "-q"], capture_output=True, text=True)
[done.returncode, done.stdout.strip().splitlines()[-1].split(" in ")[0]]
"""
PLOT = """
import os, matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.title("é")
plt.savefig("p.png")
open("p.png", "rb").read(4).decode("latin-1")
"""
PACKAGES = {
    "pytest": (PYTEST, [1, "1 failed, 3 passed"]),
    "numpy": ("import numpy as np\na = np.arange(10000.).reshape(100, 100)\n"
              "[float((a @ a).trace()) > 0, np.linalg.inv(np.eye(3)).tolist()[0]]",
              [True, [1.0, 0.0, 0.0]]),
    "numpy-value": ("import numpy as np\nnp.arange(3)", "array([0, 1, 2])"),
    "pandas": ("import io, pandas as pd\nd = pd.read_csv(io.StringIO('k,v\\na,1\\nb,2\\na,3'))\n"
               "d.groupby('k').v.sum().to_dict()", {"a": 4, "b": 2}),
    "matplotlib": (PLOT, "\x89PNG"),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_package(name):
    """Debian's packages, with every limit at its default."""
    code, expected = PACKAGES[name]
    assert value(code, "--python", PYTHON, "--timeout", 90) == expected


def test_packages_of_a_venv_are_seen(tmp_path):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
    site, = (tmp_path / "v/lib").glob("python3*/site-packages")
    (site / "only_here.py").write_text("x = 'seen'\n")
    (site / "extra.pth").write_text(f"{site / 'more'}\n")
    (site / "more").mkdir()
    (site / "more" / "by_pth.py").write_text("y = 'too'\n")
    python = tmp_path / "v/bin/python"
    got = value("import sys, only_here, by_pth\n[only_here.x, by_pth.y, sys.prefix, sys.executable]",
                "--python", python)
    assert got == ["seen", "too", str(tmp_path / "v"), str(python)]
    assert value("import subprocess, sys\nsubprocess.run([sys.executable, '-c',"
                 " 'import only_here; print(only_here.x)'], capture_output=True, text=True).stdout",
                 "--python", python) == "seen\n"
    assert run_json("import only_here", "--python", PYTHON)["error"]["type"] == \
        "ModuleNotFoundError"
