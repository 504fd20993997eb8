"""The checker itself, without engine and box: an interpreter that answers many questions. One has
loaded nothing but what it started with, another all that strict lets a program import: the checker
looks at the modules that are there, and must not need them.

CHECK_PYTHON names another interpreter than the system's; programs that need another version than
that one's are then not collected.
"""
import json
import os
import subprocess

from box import BUILD, ENV, PYTHON, SANITIZED
from rules import IMPORTS

INTERPRETER = os.environ.get("CHECK_PYTHON", PYTHON)
VERSION = tuple(map(int, subprocess.check_output(
    [INTERPRETER, "-I", "-c", "import sys; print(*sys.version_info[:2])"], text=True).split()))
DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import _glovebox
for name in sys.argv[2:]:
    __import__(name)
for line in sys.stdin:
    source, rules = json.loads(line)
    try:
        answer = json.loads(_glovebox.check(source, json.dumps(rules)))
    except Exception as exc:
        answer = {"raised": "%s: %s" % (type(exc).__name__, exc)}
    print(json.dumps(answer), flush=True)
"""
processes = {}


def start(modules):
    env = dict(ENV, PYTHONIOENCODING="utf-8")
    if SANITIZED:
        env["LD_PRELOAD"] = subprocess.check_output(["cc", "-print-file-name=libasan.so"], text=True).strip()
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # the interpreter's own
    return subprocess.Popen([INTERPRETER, "-I", "-c", DRIVER, str(BUILD), *modules], env=env, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def check(source, rules, loaded=False):
    """{"findings", "risk", "rejected"}; {"raised"} when the checker gave up; fails when it died."""
    if loaded not in processes:
        processes[loaded] = start(IMPORTS if loaded else [])
    process = processes[loaded]
    process.stdin.write(json.dumps([source, rules]) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        status = processes.pop(loaded).wait()
        raise AssertionError(f"the checker died with status {status} of: {source[:200]!r}")
    return json.loads(line)


def errors(answer):
    return [f for f in answer["findings"] if f["severity"] == "error"]


def stop():
    while processes:
        _, process = processes.popitem()
        process.stdin.close()
        process.wait()
        process.stdout.close()
