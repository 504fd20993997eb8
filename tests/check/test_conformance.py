"""Every validator intent of the CodeAct packages by its number, and every rule of the five-stage
runner's pattern scan by name. Where the answer here differs on purpose, docs/policy.md says why;
those are marked `differs`."""
import json

import pytest
from box import batch, glovebox, run_json
from checker import INTERPRETER, VERSION, check, errors
from rules import STANDARD, STRICT


def rules(base=STRICT, **changes):
    return {**base, **changes}


def without(names, *gone):
    return [n for n in names if n not in gone]


def accepted(code, using=STRICT):
    answer = check(code, using)
    return (answer.get("rejected"), errors(answer)) == (False, [])


def refusals(code, using=STRICT):
    """The words of what rejects it; none when it is accepted."""
    answer = check(code, using)
    found = errors(answer)
    assert answer["rejected"] is bool(found)
    return [f"{f['message']} [{f['name']}]" for f in found]


def strict(code, *options):
    return run_json(code, "--python", INTERPRETER, "--policy", "strict", *options)


# ---- 1 to 13, 439: accepted ----

ACCEPT = {
    1: "x = 1 + 2\ny = x * 3",
    2: "result = await my_tool(param='value')",
    3: "result = await call_tool('my_tool', param='value')",
    4: "import asyncio\nresults = await asyncio.gather(tool_a(), tool_b())",
    5: "from pathlib import Path\ntext = Path('/input/file.txt').read_text(encoding='utf-8')",
    6: "print('hello', 'world')",
    7: "import json\njson.dumps({'a': [1, 2], 'b': None})",
    8: "a = [x * 2 for x in range(5)]\nb = {x for x in range(9) if x % 2}\nc = {x: x for x in range(3)}",
    9: "n = 0\nfor i in range(9):\n    if i % 2:\n        continue\n    else:\n        n += i\n"
       "while n > 0:\n    n -= 1",
    10: "import os\nvalue = os.environ.get('KEY', 'default')",
    11: "import os\np = os.path.join('/base', 'file.txt')",
    12: "def my_helper(x):\n    return x + 1\n\nmy_helper(1)",
    13: "from os import environ, path\nenviron.get('HOME')",
    439: "from pathlib import Path\nwith Path('a').open() as f:\n    f.read()",
}


@pytest.mark.parametrize("code", [pytest.param(c, id=f"intent_{n:03}") for n, c in ACCEPT.items()])
def test_accepts(code):
    tools = rules(tools=["my_tool", "call_tool", "tool_a", "tool_b"])
    assert refusals(code, tools) == []


# ---- 14 to 33: rejected, and the words name the offender ----

REJECT = {
    14: ("aiter([])" if VERSION >= (3, 10) else "copyright()", "aiter" if VERSION >= (3, 10) else "copyright"),
    15: ("eval('1 + 1')", "eval"),
    16: ("exec('print(1)')", "exec"),
    17: ("compile('1 + 1', '<string>', 'eval')", "compile"),
    18: ("import subprocess", "subprocess"),
    19: ("import sys", "sys"),
    20: ("import socket", "socket"),
    21: ("import requests", "requests"),
    22: ("import unknown_module", "unknown_module"),
    23: ("import os\nos.system('ls')", "os.system"),
    24: ("import os\nos.execv('/bin/ls', ['ls'])", "os.execv"),
    25: ("import os\nos.popen('ls')", "os.popen"),
    26: ("import os\nos.listdir('/etc')", "os.listdir"),
    27: ("import os\nos.open('/etc/passwd', 0)", "os.open"),
    28: ("import os\nos.getcwd()", "os.getcwd"),
    29: ("from os import system", "os.system"),
    31: ("globals()", "globals"),
    32: ("locals()", "locals"),
    33: ("__import__('os')", "__import__"),
    # an alias is told as what it stands for
    43: ("import os; os.system('id')", "os."),
    44: ("import os as x; x.system('id')", "os."),
    45: ("_o = os; _o.system('id')", "os."),
    46: ("import os as x; a = x; b = a; b.popen('id')", "os."),
    47: ("import os.path; os.system('id')", "os."),
    48: ("a, _ = (os, 1); a.system('id')", "os."),
    49: ("[a, _] = [os, 1]; a.system('id')", "os."),
    50: ("x: object = os; x.system('id')", "os."),
}


@pytest.mark.parametrize("code, name", [pytest.param(*c, id=f"intent_{n:03}") for n, c in REJECT.items()])
def test_rejects(code, name):
    assert any(name in words for words in refusals(code)), refusals(code)


def test_intent_030():
    """Only the offender is told."""
    words, = refusals("from os import environ, system")
    assert "system" in words and "environ" not in words.replace("os.environ and", "")


@pytest.mark.parametrize("number", [45, 48, 49, 50])
def test_rejects_with_its_import_too(number):
    code, name = REJECT[number]
    assert any(name in words for words in refusals("import os\n" + code))


# ---- 34 to 42: lists of one's own ----

CUSTOM = {
    34: ("vars()", {"allow_builtins": STRICT["allow_builtins"] + ["vars"],
                    "block_builtins": without(STRICT["block_builtins"], "vars")}),
    35: ("import csv", {"allow_imports": ["csv", "json"]}),
    38: ("import os\nos.listdir('/tmp')", {"allow_os_attrs": ["environ", "path", "listdir"]}),
    40: ("from os import listdir", {"allow_os_attrs": ["environ", "path", "listdir"]}),
}
TIGHTER = {
    36: ("import json", {"block_imports": ["json"]}, "json"),
    37: ("len([1, 2, 3])", {"block_builtins": ["len"]}, "len"),
    39: ("import os\nos.environ.get('K')", {"allow_os_attrs": ["path"]}, "os.environ"),
}


@pytest.mark.parametrize("code, lists", [pytest.param(*c, id=f"intent_{n:03}") for n, c in CUSTOM.items()])
def test_list_allows(code, lists):
    assert not accepted(code)
    assert refusals(code, rules(**lists)) == []


@pytest.mark.parametrize("code, lists, name",
                         [pytest.param(*c, id=f"intent_{n:03}") for n, c in TIGHTER.items()])
def test_list_refuses(code, lists, name):
    assert accepted(code)
    assert any(name in words for words in refusals(code, rules(**lists)))


def test_intent_041():
    result = strict("import csv\n{'rows': len(list(csv.reader(['a,b'])))}", "--allow-import", "=",
                    "--allow-import", "csv", "--allow-import", "json")
    assert (result["status"], result["value"], result["findings"]) == ("ok", {"rows": 1}, [])


def test_intent_042():
    result = strict("import json\njson.dumps(1)", "--block-import", "json")
    found = [f for f in result["findings"] if f["severity"] == "error"]
    assert result["status"] == "rejected" and result["value"] is None
    assert found and all("json" in f["message"] for f in found)
    assert found[0]["line"] == 1, "the import itself is told first"


# ---- 51 to 55: through the whole road ----

@pytest.mark.parametrize("code, out", [
    pytest.param("import os\nprint(os.environ.get('PATH') is not None)", "True\n", id="intent_051"),
    pytest.param("import os as x; print(x.path.join('a','b'))", "a/b\n", id="intent_052"),
    pytest.param("import os.path as p; print(p.join('a','b'))", "a/b\n", id="intent_053"),
])
def test_runs(code, out):
    result = strict(code)
    assert (result["status"], result["stdout"], result["findings"]) == ("ok", out, [])


def test_intent_054():
    result = strict("print('started')\nimport subprocess")
    assert (result["status"], result["exit_code"], result["stdout"]) == ("rejected", 126, "")
    assert "subprocess" in result["findings"][0]["message"]


def test_intent_055_differs():
    """There is no validator process that could hang: the check runs in the box, inside the request's
    own time, and what takes longer ends as a timeout before anything of the program has run."""
    slow = "print('started')\n" + "x = [" + "(1,)," * 150_000 + "]\n"
    result = run_json(None, "--policy", "strict", "--timeout", "0.05", "-", input=slow)
    assert (result["status"], result["exit_code"], result["stdout"]) == ("timeout", 124, "")


# ---- 440 to 445 ----

LATER = {
    440: ["from os.path import os", "from os.path import environ", "from os.path import os as o"],
    441: ["f = eval; f('1')", "[eval][0]('1')", "list(map(exec, ['1']))", "@eval\ndef f(): pass",
          "__builtins__.eval('1')", "__builtins__['eval']('1')"],
    442: ["import pathlib; pathlib.os.system('id')", "import os; os.path.os.system('id')",
          "import random; random._os.system('id')", "from pathlib import os as o; o.system('id')"],
    443: ["import os\nfor m in [os]: m.system('id')", "import os\n[m.system('id') for m in [os]]",
          "import os\ndef f(m): m.system('id')\nf(os)", "import os\n(lambda m: m.system('id'))(os)",
          "import os\n[os][0].system('id')", "import os\n(os if 1 else 0).system('id')",
          "def f(): m.system('id')\nimport os\nm = os\nf()"],
    444: ["import asyncio\nawait asyncio.create_subprocess_shell('id')"],
    445: ["'{0.__class__.__bases__}'.format(1)", "type.__dict__['__subclasses__'](object)"],
}


@pytest.mark.parametrize("code", [pytest.param(c, id=f"intent_{n}_{i}")
                                  for n, codes in LATER.items() for i, c in enumerate(codes)])
def test_rejects_every_road(code):
    assert not accepted(code)


def test_intent_440_join():
    assert refusals("from os.path import join\njoin('a', 'b')") == []


# ---- what those packages refuse by oversight ----

FALSE_REFUSALS = {
    "with": "from pathlib import Path\nwith Path('x').open() as f: pass",
    "raise": "raise ValueError('x')", "assert": "assert 1, 'no'", "del": "x = 1\ndel x",
    "class": "class C(Exception):\n    pass", "yield": "def f():\n    yield 1\n    yield from ()",
    "walrus": "if (n := 3) > 2: print(n)", "global": "def f():\n    global g\n    g = 1",
    "nonlocal": "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2",
    "matmul": "def f(a, b):\n    return a @ b", "object": "object()", "complex": "complex(1, 2)",
    "super": "class C:\n    def __init__(self):\n        super().__init__()",
    "join": "from os.path import join", "own open": "def open(x):\n    return x\nopen(1)",
    "local os": "def f():\n    os = 'linux'\n    return os.upper()",
}


@pytest.mark.parametrize("code", [pytest.param(c, id=n) for n, c in FALSE_REFUSALS.items()])
def test_ordinary_language(code):
    assert refusals(code) == []


def test_every_finding_is_told_once_with_its_place():
    answer = check("x = open\nx = 1\ndef f():\n    return eval('1'), exec\n", STRICT)
    assert [(f["line"], f["column"]) for f in errors(answer)] == [(1, 5), (4, 12), (4, 23)]


def test_columns_count_characters():
    answer = check("x = 'äöü€😀'; eval(x)\n", STRICT)
    assert [f["column"] for f in errors(answer)] == [14]


# ---- the engine's own lists ----

def test_lists_of_the_engine():
    """Each name of ours is accepted or refused by the defaults of the engine as by rules.py."""
    codes = {}
    for name in STRICT["allow_imports"] + STRICT["block_imports"] + ["csv", "enum", "pickle", "queue"]:
        codes[f"import {name}"] = name in STRICT["allow_imports"]
    for name in STRICT["allow_builtins"] + STRICT["block_builtins"] + ["aiter", "anext"]:
        codes[f"{name}(1)" if name == "type" else name] = name in STRICT["allow_builtins"]
    for name in ("environ", "path", "system", "getcwd", "sep", "linesep", "getpid"):
        codes[f"import os\nos.{name}" if name != "path" else "import os\nos.path.sep"] = \
            name in STRICT["allow_os_attrs"]
    requests = [{"kind": "check", "code": code} for code in codes]
    results = batch(requests, "--policy", "strict", "--python", INTERPRETER)
    wrong = [code for (code, fine), r in zip(codes.items(), results)
             if (r["status"] == "ok") is not fine]
    assert wrong == []


# ---- the pattern scan ----

WARN, BLOCK = STANDARD, rules(STANDARD, patterns="block")


def scan(code, using=BLOCK):
    answer = check(code, using)
    return answer["risk"], answer["rejected"]


def is_critical(code):
    risk, rejected = scan(code)
    return risk >= 10 and rejected


CRITICAL = {
    "builtin exec": "exec('x')", "builtin eval": "eval('x')", "builtin compile": "compile('x', 'y', 'exec')",
    "builtin __import__": "__import__('os')",
    "os.system": "import os\nos.system('ls')", "os.popen": "import os\nos.popen('ls')",
    "os.spawn": "import os\nos.spawnv(0, 'ls', [])", "os.execv": "import os\nos.execv('ls', [])",
    "os.execl": "import os\nos.execl('ls')",
    "os.environ": "import os\nos.environ['X']", "os.remove": "import os\nos.remove('x')",
    "os.rmdir": "import os\nos.rmdir('x')", "os.unlink": "import os\nos.unlink('x')",
    "rm -rf /": "c = 'rm -rf /'", "rm -rf ~": "c = 'RM -RF ~'", "dd": "c = 'dd if=/dev/zero of=x'",
    "mkfs": "c = 'mkfs.ext4 /dev/sda1'", "del": r"c = 'del /f /s /q c:\\'", "rmdir": r"c = 'rmdir /s /q c:\\'",
    # holes of the original
    "hole: alias": "import os as o\no.environ", "hole: from-import": "from os import environ\nprint(environ)",
    "hole: from-import of a command": "from os import system as s\ns('ls')",
    "hole: subprocess.run": "import subprocess\nsubprocess.run(['ls'])",
    "hole: subprocess.Popen": "from subprocess import Popen\nPopen('ls')",
    "hole: subprocess.call": "import subprocess as s\ns.call('ls')",
    "hole: getattr": "import os\ngetattr(os, 'sys' + 'tem')('ls')",
    "hole: two blanks": "c = 'rm  -rf /'", "hole: eval by another name": "f = eval\nf('1')",
    "hole: exec with base64": "import base64\nexec(base64.b64decode('cA=='))",
}


@pytest.mark.parametrize("code", [pytest.param(c, id=n) for n, c in CRITICAL.items()])
def test_scan_critical(code):
    """Rejects by itself where patterns block; is a warning where they warn."""
    assert is_critical(code)
    answer = check(code, WARN)
    assert answer["rejected"] is False and answer["risk"] >= 10
    assert answer["findings"] and all(f["severity"] == "warning" for f in answer["findings"])
    assert check(code, rules(STANDARD, patterns="off"))["findings"] == []


SCORED = {
    "base64": ("import base64\nbase64.b64decode(x)", 5),
    "fromhex": ("bytes.fromhex('00')", 5),
    "unhexlify": ("import binascii\nbinascii.unhexlify('00')", 5),
    "getenv": ("import os\nos.getenv('X')", 7),
    "__dict__": ("x.__dict__", 3), "__class__": ("x.__class__", 3), "__bases__": ("x.__bases__", 3),
    "__subclasses__": ("x.__subclasses__", 3), "__globals__": ("x.__globals__", 3),
    "__code__": ("x.__code__", 3), "__builtins__": ("x.__builtins__", 3),
    "import subprocess": ("import subprocess", 5), "import multiprocessing": ("import multiprocessing", 5),
    "import threading": ("import threading", 5), "from threading": ("from threading import Thread", 5),
    "import socket": ("import socket", 2), "import urllib": ("import urllib", 2), "import http": ("import http", 2),
    "from socket": ("from socket import socket", 2),
    "while True": ("while True:\n    x = 1", 5),
    "large range": ("for i in range(10_000_000):\n    pass", 3),
    "large string": ("x = 'A' * 200_000_000", 5), "large string, other side": ("x = 200_000_000 * 'A'", 5),
    "traversal": ("p = '../../../etc/passwd'", 5), "traversal, windows": (r"p = '..\\..\\..\\x'", 5),
    # holes of the original
    "hole: urllib.request": ("import urllib.request", 2), "hole: http.client": ("from http import client", 2),
    "hole: while 1": ("while 1:\n    pass", 5),
    "hole: break of another loop": ("while True:\n    for x in y:\n        break", 5),
    "hole: range with a start": ("for i in range(0, 10**9):\n    pass", 3),
    "hole: comprehension": ("x = [i for i in range(10**8)]", 3),
    "hole: bytes": ("x = b'A' * 200_000_000", 5),
}


@pytest.mark.parametrize("code, points", [pytest.param(*c, id=n) for n, c in SCORED.items()])
def test_scan_scored(code, points):
    """These add up; one alone rejects nothing."""
    assert scan(code) == (points, False)


SAFE = {
    "re.compile": "import re\nre.compile('a')", "model.eval": "model.eval()", "df.eval": "df.eval('a + b')",
    "platform.system": "import platform\nplatform.system()", "decode": "b'x'.decode()",
    "four decodes": "a = x.decode(); b = x.decode(); c = x.decode(); d = x.decode()",
    "plain math": "import math\nx = math.sqrt(2) + 3 * 4", "data": "rows = [r for r in data if r['n'] > 3]",
    "file read": "with open('a.txt') as f:\n    text = f.read()", "empty": "", "comments": "# exec('x')\n# rm -rf /\n",
    "multi-line string": "x = '''one\ntwo\nthree'''", "small string": "x = 'A' * 100",
    "int by int": "x = 200_000_000 * 200_000_000", "range of 100": "for i in range(100):\n    pass",
    "while True with break": "while True:\n    if x():\n        break",
    "while True with return": "def f():\n    while True:\n        if x():\n            return 1",
    "f-string": "x = f'{a} and {b!r:>{w}}'", "lambda callee": "(lambda x: x)(1)",
    "called result": "f()()", "own system": "class C:\n    def system(self): pass\nC().system()",
    "own name os": "os = Config()\nos.remove(1)", "own exec": "def exec(x):\n    return x\nexec(1)",
    "urllib.parse": "from urllib.parse import quote",
}


@pytest.mark.parametrize("code", [pytest.param(c, id=n) for n, c in SAFE.items()])
def test_scan_safe(code):
    assert scan(code) == (0, False)
    assert check(code, BLOCK)["findings"] == []


def test_scan_counts_a_thing_once():
    """os.system scores 20 in the original, as a call and as an attribute; six harmless reads of
    __class__ add up to a refusal there."""
    assert scan("import os\nos.system('ls')") == (10, True)
    risk, rejected = scan("\n".join(f"x{i} = y{i}.__class__" for i in range(6)))
    assert risk <= 15 and not rejected


def test_scan_adds_up():
    three = "import subprocess\nimport multiprocessing\nimport threading\n"
    assert scan(three) == (15, False), "the threshold itself is not above it"
    risk, rejected = scan(three + "import socket\n")
    assert (risk, rejected) == (17, True)
    words = [f["message"] for f in errors(check(three + "import socket\n", BLOCK))]
    assert any("high risk score" in w and "17" in w for w in words), words
    assert check(three + "import socket\n", WARN)["rejected"] is False


def test_scan_accumulates_several_kinds():
    code = ("import base64, threading, os\nwhile True:\n    x = base64.b64decode(y)\n"
            "os.getenv('A')\nz = '../../../x'\n")
    assert scan(code)[0] >= 20 and scan(code)[1]


def test_scan_classic_escape():
    """Nine points, and so allowed, in the original."""
    assert scan("().__class__.__bases__[0].__subclasses__()")[1] is True


def test_scan_starts_empty():
    assert check("", BLOCK) == {"findings": [], "risk": 0, "rejected": False}


def test_scan_of_what_does_not_parse():
    done = glovebox("check", "--json", "--python", INTERPRETER, "-c", "def f(:\n  pass")
    result = json.loads(done.stdout)
    assert (done.returncode, result["status"], result["risk"]) == (126, "rejected", 100)
    assert result["findings"][0]["rule"] == "syntax" and result["findings"][0]["line"] == 1


def test_scan_blocks_under_strict_and_warns_under_standard():
    """Whether it runs is the policy's; the original ignores the score and, when safe, the reason."""
    code = "c = 'rm -rf /'\nprint('ran')"
    results = batch([{"code": code, "policy": "strict"}, {"code": code}], "--python", INTERPRETER)
    assert [(r["status"], r["stdout"], r["risk"]) for r in results] == \
        [("rejected", "", 10), ("ok", "ran\n", 10)]
    assert [r["findings"][0]["severity"] for r in results] == ["error", "warning"]


def test_scan_leaves_the_prelude_alone():
    """The operator's own code is neither scored nor refused for what it says."""
    result, = batch([{"prelude": "import threading\nx = eval('1 + 1')\nc = 'rm -rf /'", "code": "x"}],
                    "--python", INTERPRETER, "--allow-request", "prelude")
    assert (result["status"], result["value"], result["risk"], result["findings"]) == ("ok", 2, 0, [])
