"""The checker by itself, in this process: what it says of a program, line by line.

Programs as people and models write them, and ways around the rules, are in tests/check; here is one
short case for each rule and each edge of it.
"""
import json
import subprocess
import sys
import sysconfig
import tokenize
import warnings
from pathlib import Path

import pytest
from box import BUILD, PYTHON, ROOT

sys.path.insert(0, str(BUILD))
import _glovebox  # noqa: E402

sys.path.remove(str(BUILD))

STRICT = {
    "policy": "strict", "patterns": "off", "tools": ["search"],
    "allow_imports": "asyncio pathlib json math datetime time itertools functools collections typing "
                     "dataclasses decimal fractions re base64 hashlib uuid random os".split(),
    "block_imports": "sys subprocess socket urllib requests http importlib builtins ctypes".split(),
    "allow_builtins": "print len str int float bool list dict tuple set frozenset range enumerate zip map "
                      "filter sorted reversed sum min max abs round all any repr bytes isinstance type iter "
                      "next".split(),
    "block_builtins": "eval exec compile __import__ globals locals vars dir open input getattr setattr "
                      "delattr hasattr".split(),
    "allow_os_attrs": ["environ", "path"],
}
STANDARD = {"policy": "standard", "patterns": "off", "tools": [], "allow_imports": None, "block_imports": [],
            "allow_builtins": None, "block_builtins": [], "allow_os_attrs": None}


def check(code, rules=STRICT, prelude=None, **changed):
    args = [code, json.dumps({**rules, **changed})] + ([prelude] if prelude is not None else [])
    return json.loads(_glovebox.check(*args))


def rules_of(answer):
    return [f["rule"] for f in answer["findings"]]


def wrong_ones(cases, is_right):
    """One line a case; those that came out otherwise. Hundreds of them: one test a table is quick."""
    return [case for case in cases if not is_right(*(case if isinstance(case, tuple) else (case,)))]


# ---- strict refuses: the code, the rule, the name that the finding gives ----

REFUSED = [
    # imports
    ("import subprocess", "import", "subprocess"),
    ("import csv", "import", "csv"),
    ("import urllib.parse", "import", "urllib.parse"),
    ("from csv import reader", "import", "csv"),
    ("from . import x", "import-relative", "x"),
    ("from .json import x", "import-relative", "json"),
    ("from os import *", "import-star", "os"),
    ("from nowhere_loaded import *", "import", "nowhere_loaded"),
    ("def f():\n    import socket", "import", "socket"),
    ("class A:\n    import json", "module-escape", "json"),
    ("class A:\n    from os import path", "module-escape", "os.path"),
    ("import os._x", "os-attribute", "os._x"),
    # os, by every name
    ("import os\nos.system('x')", "os-attribute", "os.system"),
    ("os.system('x')", "os-attribute", "os.system"),
    ("import os as o\no.popen", "os-attribute", "os.popen"),
    ("import os.path\nos.getcwd()", "os-attribute", "os.getcwd"),
    ("from os import system", "os-attribute", "os.system"),
    ("from os.path import os", "os-path", "os.path.os"),
    ("import os.path as p\np.exists('x')", "os-path", "os.path.exists"),
    ("from os import path as p\np.os", "os-path", "os.path.os"),
    ("import os\nos.environ['A'] = '1'", "environ-change", "os.environ"),
    ("from os import environ as e\ndel e['A']", "environ-change", "os.environ"),
    ("import os\ne = os.environ\ne.update({})", "environ-change", "os.environ.update"),
    ("from os import environ as e\ne |= {}", "environ-change", "os.environ"),
    ("import os\nf(os.environ)", "environ-change", "os.environ"),
    # modules that go out of sight
    *((f"import os\n{use}", "module-escape", "os") for use in (
        "a = os", "a, b = 1, os", "[a] = [os]", "a: object = os", "f(os)", "f(x=os)", "f(*os)", "[os]",
        "{1: os}", "(os,)", "os if a else b", "a or os", "(a := os)", "lambda: os", "lambda x=os: x",
        "for x in os: pass", "for x in [os]: pass", "[x for x in (os,)]", "with os as x: pass",
        "match os:\n    case x: pass", "f'{os}'", "a[os]", "os[0]", "os()", "os == a", "not os", "-os",
        "assert os", "raise os", "x = yield_ = os", "@os\ndef f(): pass", "class A(os): pass", "del os[0]",
        "def f():\n    return os", "def f():\n    yield os", "async def f():\n    await os", "os",
        "def f(a, *, b=os): pass", "class A:\n    x = os", "x += os", "a.b = os", "a[0] = os", "print(os)")),
    ("import os\np = os.path", "module-escape", "os.path"),
    ("_o = os\n_o.system('id')", "os-attribute", "os.system"),
    ("def f():\n    return m.system\nimport os as m", "os-attribute", "os.system"),
    ("if a:\n    import os as m\nelse:\n    import json as m\nm.system", "os-attribute", "os.system"),
    ("import os as _C__m\nclass C:\n    def f(self): return __m.system", "os-attribute", "os.system"),
    ("import json\njson.dumps = 1", "module-change", "json.dumps"),
    ("import json\ndel json.dumps", "module-change", "json.dumps"),
    # modules in modules
    ("import json\njson.codecs", "module-attribute", "json.codecs"),
    ("from pathlib import os", "module-attribute", "pathlib.os"),
    ("import pathlib\npathlib.os.system", "module-attribute", "pathlib.os"),
    ("import collections.abc\ncollections.abc.sys", "module-attribute", "sys"),
    ("import fractions\nfractions.operator", "module-attribute", "fractions.operator"),
    ("import random\nrandom._os", "private-name", "random._os"),
    ("import json\njson.__dict__", "private-name", "json.__dict__"),
    ("from random import _os", "private-name", "random._os"),
    # what reaches further
    ("import asyncio\nasyncio.create_subprocess_shell('x')", "process-or-socket",
     "asyncio.create_subprocess_shell"),
    ("from asyncio import open_connection as o", "process-or-socket", "asyncio.open_connection"),
    ("import asyncio.subprocess", "process-or-socket", "asyncio.subprocess"),
    ("import asyncio\nloop.subprocess_exec", "process-or-socket", "subprocess_exec"),
    ("import asyncio\ntask.get_stack()", "process-or-socket", "get_stack"),
    ("import asyncio\nclass A: _make_subprocess_transport = 1\nx._make_subprocess_transport",
     "module-attribute", "_make_subprocess_transport"),
    ("import typing\nclass A: _evaluate = 1\nx._evaluate({}, {})", "module-attribute", "_evaluate"),
    ("import typing\nx = typing.get_args(y)\nx.evaluate()", "module-attribute", "evaluate"),
    ("import typing\ntyping.ABCMeta('A', (), {})", "module-attribute", "typing.ABCMeta"),
    ("import uuid\nuuid.getnode()", "process-or-socket", "uuid.getnode"),
    ("import typing\ntyping.get_type_hints(f)", "evaluates-text", "typing.get_type_hints"),
    ("from dataclasses import make_dataclass", "evaluates-text", "dataclasses.make_dataclass"),
    # builtins, wherever they are read
    *((f"{use}", "builtin", "eval") for use in (
        "eval('1')", "f = eval", "[eval][0]", "map(eval, a)", "@eval\ndef f(): pass", "lambda: eval",
        "def f(x=eval): pass", "class A:\n    x = eval", "print(eval)", "ｅｖａｌ('1')", "f'{eval}'",
        "if a: eval = 1\neval('x')", "eval = [eval][0]", "def f():\n    return eval\neval = 1",
        "del eval\neval", "def eval(x): pass\ndel eval\neval(1)", "class eval:\n    x = eval",
        "def eval(x=eval): pass", "@d\ndef eval(): return eval", "class A:\n    eval = 1\n    def f(s): eval",
        "try:\n    eval = 1\nexcept E: pass\neval('x')", "for eval in a: pass\neval",
        "class A:\n    eval = 1\n    x = [eval for y in z]", "def f():\n    global eval\n    eval = 1\neval")),
    ("eval += A()", "builtin", "eval"),
    ("def f():\n    global eval\n    eval += A()", "builtin", "eval"),
    ("import json\njson += A()", "module-escape", "json"),
    ("aiter([])", "builtin", "aiter"),
    ("memoryview(b'')", "builtin", "memoryview"),
    ("__import__('os')", "dunder-name", "__import__"),
    # the interpreter's own
    ("__builtins__", "dunder-name", "__builtins__"),
    ("__loader__.x", "dunder-name", "__loader__"),
    ("__builtins__ = {}", "dunder-name", "__builtins__"),
    ("import json as __builtins__", "dunder-name", "__builtins__"),
    ("def __import__(x): pass", "dunder-name", "__import__"),
    ("class A:\n    __annotations__ = {}", "dunder-name", "__annotations__"),
    ("class A:\n    __class__ = B", "dunder-name", "__class__"),
    ("x.__globals__", "dunder-attribute", "__globals__"),
    ("x.__dict__", "dunder-attribute", "__dict__"),
    ("x.__ｇlobals__", "dunder-attribute", "__globals__"),
    ("x.__class__ = y", "dunder-attribute", "__class__"),
    ("print.__self__", "dunder-attribute", "__self__"),
    ("object.__getattribute__(a, 'b')", "dunder-attribute", "__getattribute__"),
    ("g.gi_frame", "internals", "gi_frame"),
    ("t.tb_frame", "internals", "tb_frame"),
    ("int.mro()", "internals", "mro"),
    ("class A:\n    gi_frame: int", "internals", "gi_frame"),
    ("a['__builtins__']", "dunder-key", "__builtins__"),
    ("a._x", "private-attribute", "_x"),
    ("a.os.system", "module-attribute", "os"),
    ("import pathlib\np.parser", "module-attribute", "parser"),
    ("import decimal\ntry:\n    decimal.nope\nexcept E as e:\n    e.obj", "module-attribute", "obj"),
    # templates
    ("'{0.__class__}'.format(a)", "format-attribute", "__class__"),
    ("'{a[b].__x__}'.format(a)", "format-attribute", "__x__"),
    ("'{:{0.gi_frame}}'.format(a)", "format-attribute", "gi_frame"),
    ("'{0.__cl' 'ass__}'.format(a)", "format-attribute", "__class__"),
    ("('{0.__cl' + 'ass__}').format(a)", "format-attribute", "__class__"),
    ("t = '{0.__class__}'\nt.format(a)", "format-attribute", "__class__"),
    ("str.format('{0.__class__}', a)", "format-attribute", "__class__"),
    ("a.format(1)", "format-template", "format"),
    ("f'{a}'.format(1)", "format-template", "format"),
    ("x = '{}'\nx = a\nx.format(1)", "format-template", "format"),
    ("def f(x='{}'):\n    x.format(1)", "format-template", "format"),
    ("str.format", "format-template", "format"),
    ("a.format_map({})", "format-template", "format_map"),
    ("class S(str): pass\nS(a).format(b)", "format-template", "format"),
    ("class S(str): pass\nS.format(a, b)", "format-template", "format"),
    ("import collections\ncollections.UserString.format(a, b)", "format-template", "format"),
    # attributes by their names as text
    ("import functools\nfunctools.wraps(f, ('__globals__',))", "attribute-names", "functools.wraps"),
    ("import functools\nfunctools.update_wrapper(a, b, updated=())", "attribute-names",
     "functools.update_wrapper"),
    ("from functools import wraps\nw = wraps", "attribute-names", "functools.wraps"),
    ("object.__setattr__(a, b, 1)", "dunder-attribute", "__setattr__"),
    ("object.__setattr__(a, '__class__', 1)", "dunder-attribute", "__setattr__"),
    ("a.__setattr__('b', 1)", "dunder-attribute", "__setattr__"),
    # classes
    ("type('A', (), {})", "type-use", "type"),
    ("type(*a)", "type-use", "type"),
    ("from dataclasses import dataclass\ndataclass(A)", "dataclass-use", "dataclasses.dataclass"),
    ("from dataclasses import dataclass\n@dataclass\nclass A(metaclass=M): pass", "dataclass-use",
     "dataclasses.dataclass"),
    ("from dataclasses import dataclass\n@dataclass\nclass A(B): pass", "dataclass-use",
     "dataclasses.dataclass"),
    ("from dataclasses import dataclass\n@dataclass\n@d\nclass A: pass", "dataclass-use",
     "dataclasses.dataclass"),
    ("from dataclasses import fields\nfields(A)[0].name = 'x'", "dataclass-field", "name"),
    ("import pathlib\nfrom dataclasses import replace\nT = type(int)\nreplace(a)", "dataclass-use",
     "dataclasses.replace"),
    ("class A:\n    __match_args__ = a", "match-args", "__match_args__"),
    ("class A:\n    __match_args__ = ('__dict__',)", "match-args", "__match_args__"),
    ("from functools import singledispatch\nf = singledispatch(g)\n@f.register\ndef h(x: 'int'): pass",
     "evaluates-text", "register"),
]


def is_refused_for(code, rule, name):
    answer = check(code)
    return answer["rejected"] and (rule, name) in [(f["rule"], f["name"]) for f in answer["findings"]]


if sys.version_info >= (3, 10):
    REFUSED += [
        ("match x:\n    case object(__class__=c): pass", "pattern-attribute", "__class__"),
        ("match x:\n    case A(gi_frame=c): pass", "pattern-attribute", "gi_frame"),
        ("match x:\n    case A(c): pass", "pattern-class", "A"),
        ("class M(type): pass\nclass A(metaclass=M): pass\nmatch x:\n    case A(c): pass", "pattern-class", "A"),
        ("class A: pass\nA = b\nmatch x:\n    case A(c): pass", "pattern-class", "A"),
        ("from collections import namedtuple\nA = namedtuple('A', b)\nmatch x:\n    case A(c): pass",
         "pattern-class", "A"),
        ("from collections import namedtuple\nA = namedtuple('A', 'gi_frame')\nmatch x:\n    case A(c): pass",
         "pattern-class", "A"),
    ]


def test_strict_refuses():
    assert wrong_ones(REFUSED, is_refused_for) == []


# ---- strict accepts ----

ACCEPTED = [
    "x = 1 + 2", "await search(query='a')", "unknown_tool(1)", "import json\njson.dumps({})",
    "import os\nos.environ.get('A')", "import os\nos.environ['A']", "import os\ndict(os.environ)",
    "import os\n'A' in os.environ", "import os\nfor k in os.environ: print(k)",
    "import os.path as p\np.join('a', 'b')", "from os import path\npath.basename('a')",
    "from os.path import join, splitext\njoin('a')", "from os import environ, path\nenviron.get('A')",
    "os = 'linux'\nprint(os)", "def f(os): return os.name", "for os in a: print(os)", "[os for os in a]",
    "class A:\n    def __init__(self, os): self.os = os\n    def f(self): return self.os",
    "def open(x): return x\nopen('a')", "def open(x):\n    return open(x[1:])", "eval = 1\nprint(eval)",
    "def f(input): return input", "def f():\n    open = 1\n    return open", "lambda eval: eval",
    "[eval for eval in a]", "with a as open:\n    pass", "import json as dir\ndir.dumps(1)",
    "def f():\n    for open in a:\n        print(open)", "def f():\n    x = 1\n    def g():\n        nonlocal x\n"
    "        x = 2\n    g()", "def f():\n    global n\n    n = 1",
    "raise ValueError('x') from e", "assert a, 'b'", "del a, b[0], c.d", "x = (y := 1)", "object()",
    "complex(1, 2)", "print(type(a).__name__, a.__class__.__name__)", "isinstance(a, type)", "...",
    "class A(Exception):\n    pass\ntry:\n    pass\nexcept (A, OSError) as e:\n    print(e, e.__cause__)",
    "class A:\n    def __init__(self): super().__init__(); self._a = 1; self.__b = 2\n"
    "    def __eq__(self, other): return self._a == other._a and self.__b == other.__b\nprint(A()._A__b)",
    "class A:\n    __slots__ = ('a',)\n    __hash__ = None\n    def __add__(self, o): return 1\n"
    "    __radd__ = __add__",
    "class A:\n    def __setattr__(self, name, value): super().__setattr__(name, value)",
    "class M(type):\n    def __call__(cls): return super().__call__()\nclass A(metaclass=M): pass",
    "from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass A:\n    a: int = 0\n"
    "    b: list = field(default_factory=list)\n    def __post_init__(self):\n"
    "        object.__setattr__(self, 'c', 1)\n@dataclass\nclass B(A):\n    name: str = ''\n",
    "import functools\ndef d(f):\n    @functools.wraps(f)\n    def w(*a, **k): return f(*a, **k)\n    return w",
    "from functools import singledispatch\n@singledispatch\ndef f(x): pass\n@f.register\n"
    "def _(x: int) -> str: pass\n@f.register(list)\ndef _(x): pass",
    "'{} {a.b} {c[d]!r:>{w}} {{}}'.format(1, a=2, c=3, w=4)", "T = 'a {}'\nprint(T.format(1))",
    "map('{:>5}'.format, a)", "('a' + '{}').format(1)", "'%s' % a", "f'{a!r:>{b}}'",
    "class A:\n    def format(self): return 1\n    def f(self): return self.format()\nA().format()",
    "import datetime\ndatetime.datetime.now(); datetime.time(1)", "import time\ntime.time()",
    "import random\nrandom.random()", "import json\ntry:\n    pass\nexcept json.decoder.JSONDecodeError: pass",
    "import collections.abc\ncollections.abc.Mapping", "import asyncio\nasyncio.run(f())",
    "import asyncio\nasync def f():\n    async with asyncio.timeout(1):\n        await asyncio.sleep(1)",
    "from pathlib import Path\nPath('a').read_text(encoding='utf-8')", "from __future__ import annotations",
    "if __name__ == '__main__':\n    print(__doc__)", "import decimal\ndecimal.Decimal('1')",
    "from collections import namedtuple\nP = namedtuple('P', 'a b')\nP(1, 2)._replace(a=3)._asdict()",
    "def g():\n    x = yield 1\n    yield from g()\ng().send(1)", "@property\ndef f(): pass", "a @ b",
    "async def f():\n    return [x async for x in y if await z]", "def f(a, /, b, *c, d=1, **e): pass",
    "d = {'__type__': 1}\nd['__type__']", "x = 0\nx += 1", "def f():\n    n = 0\n    n += 1\n    return n",
    "import typing\nclass A:\n    def evaluate(self): pass\nA().evaluate()",
    "import pathlib\nfrom dataclasses import replace\nreplace(a, b=1)\nprint(type(a).__name__, type(a) is B)",
]


if sys.version_info >= (3, 10):
    ACCEPTED += [
        "match x:\n    case int(a) | [a, *_]: pass\n    case {'k': a, **b}: pass\n    case A(b=c): pass",
        "class A:\n    __match_args__ = ('a', 'b')\nmatch x:\n    case A(a, b): pass",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    a: int\nmatch x:\n    case A(a): pass",
        "from collections import namedtuple\nP = namedtuple('P', ['a', 'b'])\nmatch x:\n    case P(a, b): pass",
    ]
if sys.version_info >= (3, 12):
    ACCEPTED += ["type X[T] = list[T]", "def f[T: int](a: T) -> T: return a", "class A[*T, **P]: pass"]


def test_strict_accepts():
    assert wrong_ones(ACCEPTED, lambda code: check(code)["findings"] == []) == []


# ---- the operator's lists ----

LISTS = [
    ("import csv", {"allow_imports": ["csv"]}, False),
    ("import json", {"allow_imports": ["csv"]}, True),
    ("import json", {"allow_imports": None}, False),
    ("import socket", {"allow_imports": None}, True),
    ("import json.decoder", {"block_imports": ["json.decoder"]}, True),
    ("from json import decoder", {"block_imports": ["json.decoder"]}, True),
    ("import json", {"block_imports": ["json.decoder"]}, False),
    ("import urllib.parse", {"allow_imports": ["urllib.parse"], "block_imports": []}, False),
    ("from urllib import parse", {"allow_imports": ["urllib.parse"], "block_imports": []}, False),
    ("import urllib.request", {"allow_imports": ["urllib.parse"], "block_imports": []}, True),
    ("import urllib", {"allow_imports": ["urllib.parse"], "block_imports": []}, True),
    ("len(a)", {"block_builtins": ["len"]}, True),
    ("len = f\nlen(a)", {"block_builtins": ["len"]}, False),
    ("call_tool('a')", {"block_builtins": ["call_tool"]}, True),
    ("def call_tool(x): pass\ncall_tool('a')", {"block_builtins": ["call_tool"]}, False),
    ("len(a)", {"allow_builtins": []}, True),
    ("raise ValueError(True, None, ...)", {"allow_builtins": []}, False),
    ("object(); super", {"allow_builtins": []}, False),
    ("ValueError", {"block_builtins": ["ValueError"]}, True),
    ("memoryview(a)", {"allow_builtins": None}, False),
    ("import os\nos.listdir('a')", {"allow_os_attrs": ["listdir"]}, False),
    ("from os import listdir", {"allow_os_attrs": ["listdir"]}, False),
    ("import os\nos.environ", {"allow_os_attrs": ["path"]}, True),
    ("import os\nos.path.exists('a')", {"allow_os_attrs": ["path", "path.exists"]}, False),
    ("import os\nos.path.isfile('a')", {"allow_os_attrs": ["path", "path.exists"]}, True),
    ("import os\nos.system", {"allow_os_attrs": None}, False),
    ("getattr(a, 'b')", {"allow_builtins": ["getattr"], "block_builtins": []}, False),
    ("getattr(a, '__globals__')", {"allow_builtins": ["getattr"], "block_builtins": []}, True),
    ("getattr(a, '__glo' + 'bals__')", {"allow_builtins": ["getattr"], "block_builtins": []}, True),
    ("import operator\noperator.attrgetter('a.b')", {"allow_imports": ["operator"]}, False),
    ("import operator\noperator.attrgetter('a.__globals__')", {"allow_imports": ["operator"]}, True),
    ("import operator\noperator.attrgetter(a)", {"allow_imports": ["operator"]}, True),
    ("import operator\nf = operator.attrgetter", {"allow_imports": ["operator"]}, True),
    ("search.os", {"tools": ["search"]}, True),
    ("json.dumps(1)", {}, False),          # an earlier cell may have imported it
    ("sys.exit()", {}, True),
    ("sys(1)", {"tools": ["sys"]}, False),  # a tool of that name
    ("sys.x", {"names": {"sys": 1}}, False),
    ("x.parser, x.obj", {}, False),
    ("x.parser", {"earlier": True}, True),  # of an object that an earlier cell made
    ("x.obj", {"earlier": True}, True),
    ("print(os)", {"names": {"os": 1}}, False),
]


def test_lists():
    assert wrong_ones(LISTS, lambda code, changed, refused: check(code, **changed)["rejected"] is refused) == []


LISTS_ALONE = [
    ("import subprocess, os\nos.system(eval('1').__globals__)", {}, False),
    ("import socket", {"block_imports": ["socket"]}, True),
    ("import json", {"allow_imports": ["os"]}, True),
    ("__import__('socket')", {"block_imports": ["socket"]}, True),
    ("import importlib\nimportlib.import_module('socket')", {"block_imports": ["socket"]}, True),
    ("f = eval", {"block_builtins": ["eval"]}, True),
    ("def eval(): pass\neval()", {"block_builtins": ["eval"]}, False),
    ("import os as o\no.system", {"allow_os_attrs": ["path"]}, True),
    ("a = os\na.system", {"allow_os_attrs": ["path"], "block_imports": ["os"]}, True),
    ("from . import a", {}, False),
    ("x.__globals__['__builtins__']", {"block_builtins": ["eval"]}, False),
]


def test_standard_knows_only_the_lists():
    assert wrong_ones(LISTS_ALONE, lambda code, changed, refused:
                      check(code, STANDARD, **changed)["rejected"] is refused) == []


def test_off_finds_nothing():
    assert check("import os\nos.system(eval('1'))", policy="off") == \
        {"findings": [], "risk": 0, "rejected": False}


@pytest.mark.parametrize("rules", ["[]", '{"policy": "lax"}', '{"allow_imports": "os"}',
                                   '{"block_builtins": [1]}', '{"patterns": true}', "{"])
def test_rules_that_are_none(rules):
    with pytest.raises(ValueError):
        _glovebox.check("1", rules)


def test_no_policy_is_strict():
    assert json.loads(_glovebox.check("x.__globals__", "{}"))["rejected"]


# ---- the prelude ----

PRELUDES = [
    ("import os", "os.system('x')", ["os-attribute"]),
    ("import os as o", "o.system('x')", ["os-attribute"]),
    ("import socket", "1", ["import"]),
    ("def open(x): return x", "open('a')", []),
    ("if a:\n    def open(x): return x", "open('a')", ["builtin"]),
    ("x = eval('1').__globals__", "1", []),
    ("class A:\n    _x = 1", "A()._x", []),
    ("\n" * 50 + "def open(x): return x", "open('a')", []),
]


def test_prelude():
    assert wrong_ones(PRELUDES, lambda prelude, code, rules:
                      rules_of(check(code, prelude=prelude)) == rules) == []


# ---- findings ----

def test_all_are_found_in_order_and_once():
    code = "eval\nimport socket\nx = os; x.__globals__ + open\nraise eval"
    answer = check(code)
    assert [(f["rule"], f["name"], f["line"], f["column"]) for f in answer["findings"]] == [
        ("builtin", "eval", 1, 1), ("import", "socket", 2, 8), ("module-escape", "os", 3, 5),
        ("os-attribute", "os.__globals__", 3, 11),
        ("builtin", "open", 3, 25), ("builtin", "eval", 4, 7)]
    for finding in answer["findings"]:
        assert finding["severity"] == "error" and finding["message"] and finding["remedy"]
        assert "{}" not in finding["message"] + finding["remedy"]


def test_attributes_are_told_where_their_names_are():
    code = "().__class__.__bases__[0].__subclasses__()\n(x\n  .__dict__)\nclass A:\n    x.__a\n'ä'.__code__"
    places = [(f["name"], f["line"], f["column"]) for f in check(code)["findings"]]
    assert places == [("__bases__", 1, 14), ("__subclasses__", 1, 27), ("__dict__", 2 + 1, 4),
                      ("_A__a", 5, 7), ("__code__", 6, 5)]


@pytest.mark.parametrize("code, rule, column", [
    ("import json\njson.loads = 1", "module-change", 6), ("import json\njson.JSONDecoder.x = 1", "module-change", 18),
    ("\nfrom socket import y, z", "import", 1),
])
def test_one_thing_is_told_once(code, rule, column):
    finding, = check(code, patterns="block")["findings"]
    assert (finding["rule"], finding["line"], finding["column"]) == (rule, 2, column)


@pytest.mark.parametrize("code, words", [
    ("open('x')", ["pathlib", "--allow-builtin open"]), ("input()", ["file", "--allow-builtin input"]),
    ("getattr(x, 'y')", ["x.name", "--allow-builtin getattr"]), ("import socket", ["--allow-import socket"]),
    ("from socket import y", ["--allow-import socket"]), ("import csv", ["--allow-import csv"]),
])
def test_remedies_say_what_to_do(code, words):
    finding, = check(code)["findings"]
    assert [w for w in words if w not in finding["remedy"]] == []


@pytest.mark.parametrize("code", ["eval('1')", "import os\nos.system('x')", "x = 'rm -rf /'"])
def test_what_patterns_reject_names_the_option(code):
    finding, = check(code, STANDARD, patterns="block")["findings"]
    assert finding["severity"] == "error" and "--patterns warn" in finding["remedy"]


@pytest.mark.parametrize("code, line, column", [
    ("x = 'äöü'; eval", 1, 12), ("x = '\U0001f600'; eval", 1, 10), ("\n\neval", 3, 1),
    ("'''ä\nö'''; eval", 2, 7), ("if a:\r\n    eval", 2, 5), ("a\reval", 2, 1), ("\x0ceval", 1, 2),
    ("f(\n  'é',\n  eval)", 3, 3),
])
def test_columns_count_characters(code, line, column):
    finding, = check(code)["findings"]
    assert (finding["line"], finding["column"]) == (line, column)


def test_only_so_many_are_shown():
    answer = check("\n".join("eval" for _ in range(500)))
    assert len(answer["findings"]) == 201 and answer["rejected"]
    assert answer["findings"][-1]["rule"] == "more" and "300" in answer["findings"][-1]["message"]
    assert [f["line"] for f in answer["findings"][:-1]] == list(range(1, 201))


@pytest.mark.parametrize("code", [
    "import os\nos" + ".a" * 900, "+".join("a" * 900), "x" + "()" * 900, "x" + "[0]" * 900,
    "a = " * 900 + "1", "if a:\n pass\n" + "elif a:\n pass\n" * 900, "[a " + "for a in a " * 900 + "]",
    ", ".join(f"a{i}" for i in range(20000)) + ", *b = [" + "os, 1," * 40000 + "]",
    "def f(*, " + ", ".join(f"a{i}=os" for i in range(20000)) + "): pass",
    "class C:\n" + "".join(f"    def m{i}(self): self.format(1)\n" for i in range(9000)) + "    def format(self): pass",
    "import functools\nfunctools.wraps\n" + "type(type(type(x)))\n" * 9000,
    "not " * 900 + "1", "x = [" + "os," * 100000 + "]", "(" + "a," * 50000 + ") = (" + "os," * 50000 + ")",
    "\n".join(f"import m{i} as x" for i in range(3000)) + "\nx.y" * 3000,
    "\n".join(f"class A{i}(A{i - 1}): pass" for i in range(3000)),
    "x = '" + "{a.b}" * 20000 + "'.format(1)", "_" * 100000, "x." + "_" * 100000, "'" + "rm " * 100000 + "'",
    "for i in range(" + "9" * 4000 + "): pass", "9 ** 9 ** 9 ** 9", "1 << 9999999999", "'a' * (2 ** 9999999)",
], ids=lambda code: code[:20])
def test_hostile_shapes_end_soon(code):
    """A time that no sane growth reaches: the test's own time limit is what fails it."""
    for rules in ({**STRICT, "patterns": "block"}, {**STANDARD, "patterns": "warn"}):
        assert set(check(code, rules)) == {"findings", "risk", "rejected"}


# ---- patterns ----

def scan(code, patterns="block", **changed):
    return check(code, {**STANDARD, "patterns": patterns, **changed})


CRITICAL = [
    ("eval('1')", "pattern-builtin", 10), ("f = exec\nf('1')", "pattern-builtin", 10),
    ("import os\nos.system('x')", "pattern-command", 10), ("import os as o\no.popen('x')", "pattern-command", 10),
    ("from os import system\nsystem('x')\nsystem('y')", "pattern-command", 10),
    ("import os\na = os\na.system('x')", "pattern-command", 10),
    ("import subprocess\nsubprocess.run(['x'])", "pattern-command", 15),
    ("import os\nos.remove('x')", "pattern-os", 10), ("import os as o\no.environ['A']", "pattern-environ", 10),
    ("from os import environ", "pattern-environ", 10),
    ("import os\ngetattr(os, 'sys' + 'tem')('x')", "pattern-command", 10),
    ("__import__('os').system('x')", "pattern-command", 20),
    ("import sys\nsys.modules['os'].system('x')", "pattern-command", 10),
    ("'rm  -rf /'", "pattern-shell-text", 10), ("'RM -fr ~/x'", "pattern-shell-text", 10),
    ("'rm -r -f /'", "pattern-shell-text", 10), ("b'dd  if=/dev/zero'", "pattern-shell-text", 10),
    ("'mkfs.ext4 x'", "pattern-shell-text", 10), ("'del /F /S /Q x'", "pattern-shell-text", 10),
    ("'rmdir /s /q x'", "pattern-shell-text", 10),
]


def is_critical(code, rule, risk):
    answer, warned = scan(code), scan(code, "warn")
    return rule in rules_of(answer) and answer["risk"] == risk and answer["rejected"] and \
        not warned["rejected"] and rules_of(warned) == rules_of(answer)


def test_critical_patterns():
    assert wrong_ones(CRITICAL, is_critical) == []


MINOR = [
    ("import os\nos.getenv('A')", "pattern-environ", 7), ("import base64\nbase64.b64decode(a)",
                                                         "pattern-obfuscation", 5),
    ("bytes.fromhex('00')", "pattern-obfuscation", 5), ("from binascii import unhexlify", "pattern-obfuscation", 5),
    ("import os\ngetattr(os, a)", "pattern-computed-attribute", 7), ("x.__globals__", "pattern-introspection", 3),
    ("x.__class__\n" * 6, "pattern-introspection", 3), ("import threading", "pattern-process", 5),
    ("from multiprocessing.pool import Pool", "pattern-process", 5), ("import urllib.request", "pattern-network", 2),
    ("from http import client", "pattern-network", 2), ("import socket as s", "pattern-network", 2),
    ("while True: pass", "pattern-endless-loop", 5), ("while 1: pass", "pattern-endless-loop", 5),
    ("while not 0: pass", "pattern-endless-loop", 5), ("while 'a': pass", "pattern-endless-loop", 5),
    ("while True:\n    for x in y: break", "pattern-endless-loop", 5),
    ("while True:\n    def f(): return 1", "pattern-endless-loop", 5),
    ("while True: pass\nelse: x", "pattern-endless-loop", 5),
    ("for i in range(10_000_000): pass", "pattern-large-range", 3),
    ("for i in range(0, 10**9): pass", "pattern-large-range", 3),
    ("[i for i in range(5 * 10 ** 6)]", "pattern-large-range", 3),
    ("for i in range(1 << 30): pass", "pattern-large-range", 3),
    ("'A' * 200000000", "pattern-large-memory", 5), ("200000000 * 'A'", "pattern-large-memory", 5),
    ("b'A' * (200 * 1024 * 1024)", "pattern-large-memory", 5), ("[0] * 10 ** 9", "pattern-large-memory", 5),
    ("'../../../etc'", "pattern-traversal", 5), ("'..\\\\..\\\\..\\\\x'", "pattern-traversal", 5),
]


def is_minor(code, rule, risk):
    answer = scan(code)
    return rule in rules_of(answer) and answer["risk"] == risk and not answer["rejected"] and \
        {f["severity"] for f in answer["findings"]} == {"warning"}


def test_other_patterns():
    assert wrong_ones(MINOR, is_minor) == []


HARMLESS = [
    "import re\nre.compile('x')", "model.eval()", "df.eval('a')", "import platform\nplatform.system()",
    "b'x'.decode()", "x.decode('utf-8')", "x.system()", "self.popen", "def eval(x): pass\neval(1)",
    "def system(): pass\nsystem()", "while True:\n    break", "while True:\n    if a: break\n    x",
    "def f():\n    while True:\n        if a: return", "def f():\n    while True:\n        yield 1",
    "while True:\n    for x in y: pass\n    else: break", "while a: pass", "while 0: pass",
    "while True:\n    raise StopIteration", "async def f():\n    while True: await g()",
    "for i in range(100): pass", "for i in range(1_000_000): pass", "for i in range(a, 10**9): pass",
    "for i in range(10**9, 0): pass", "'A' * 100", "2000000000 * 2", "a * 10**9", "'x' * a", "'rm -rf'",
    "'firm -rf /'", "'rm -rf tmp'", "'../../x'", "import urllib.parse", "from urllib import parse",
    "float.fromhex('0x1p0')", "f'{a}'", "'''several\nlines'''", "# os.system('x')", "", "10 ** 10 ** 10",
    "import os\ngetattr(os, 'O_BINARY', 0)", "import os.path\nos.path.join('a')", "x.environ",
    "import logging\nlogging.getLogger().system",
]


def test_no_false_alarm():
    assert wrong_ones(HARMLESS, lambda code: scan(code)["findings"] == [] and scan(code)["risk"] == 0) == []


def test_score_adds_up():
    code = "import threading, multiprocessing, subprocess"
    assert scan(code)["risk"] == 15 and not scan(code)["rejected"]
    answer = scan(code + "\nimport socket")
    assert answer["risk"] == 17 and answer["rejected"]
    assert [f["rule"] for f in answer["findings"] if f["severity"] == "error"] == ["pattern-score"]
    assert "high risk score" in answer["findings"][0]["message"]
    assert not scan(code + "\nimport socket", "warn")["rejected"]


def test_escape_passes_the_threshold():
    for code in ("().__class__.__bases__[0].__subclasses__()",
                 "a = ().__class__\nb = a.__base__\nc = b.__subclasses__()"):
        assert scan(code)["risk"] > 15 and scan(code)["rejected"]


def test_what_the_operator_lists_is_not_scored():
    code = "import os\nos.environ['A'], os.environ['B'], os.environ['C']"
    assert scan(code, allow_os_attrs=["environ"])["risk"] == 0
    assert scan(code)["risk"] == 30


def test_prelude_is_not_scored():
    answer = json.loads(_glovebox.check("1", json.dumps({**STANDARD, "patterns": "block"}), "eval('1')"))
    assert answer == {"findings": [], "risk": 0, "rejected": False}


def test_refused_things_are_told_once():
    answer = check("import os\nos.system('x')", patterns="block")
    assert rules_of(answer) == ["os-attribute"] and answer["risk"] == 10


# ---- the whole of the standard library ----

def library_files():
    """Files that parse, as text, of the interpreter that runs the tests."""
    top = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(top.rglob("*.py")):
        if {"site-packages", "dist-packages"}.isdisjoint(path.parts):
            try:
                with tokenize.open(path) as file:
                    text = file.read()
                compile(text, str(path), "exec", 0x2400)
            except (SyntaxError, ValueError, UnicodeDecodeError, RecursionError):
                continue
            yield path, text


def test_standard_accepts_the_standard_library():
    rules = json.dumps({**STANDARD, "patterns": "warn"})
    count, wrong = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, text in library_files():
            answer = json.loads(_glovebox.check(text, rules))
            count += 1
            if answer["rejected"] or any(f["severity"] == "error" for f in answer["findings"]):
                wrong.append(str(path))
    assert wrong == [] and count > 500


def test_roads_from_objects_to_modules_are_known():
    """Attributes of the allowed modules' classes that are modules: each must be refused."""
    code = ("import importlib, json, sys, types\n"
            "roads = set()\n"
            "for name in sys.argv[1:]:\n"
            "    module = importlib.import_module(name)\n"
            "    for what, thing in vars(module).items():\n"
            "        public = isinstance(thing, type) and what[0] != '_'\n"
            "        for kind in (thing.__mro__ if public else ()):\n"
            "            roads |= {(name, a) for a, v in vars(kind).items() if isinstance(v, types.ModuleType)}\n"
            "print(json.dumps(sorted(roads)))\n")
    done = subprocess.run([PYTHON, "-I", "-c", code, *STRICT["allow_imports"]], capture_output=True, check=True)
    for module, attribute in json.loads(done.stdout):
        assert check(f"import {module}\nclass A: pass\nA.{attribute} = 1\nx.{attribute}")["rejected"]


def test_yardstick_measures():
    """What `make bench` prints: the same program passes both."""
    done = subprocess.run([PYTHON, ROOT / "bench/check_yardstick.py", BUILD, "1", "2"], capture_output=True,
                          check=True, text=True)
    row = json.loads(done.stdout)
    assert row["c_ns"] > 0 and row["visitor_ns"] > 0 and row["visitor_findings"] == 0 and row["nodes"] > 500
