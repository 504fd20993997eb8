"""Input that is meant to break a parser: the answer is a clear `rejected`, or the program runs as the
interpreter itself would run it. Never a crash, a hang or another reading. Through the real road."""
import json
import subprocess

import pytest
from box import ENV, batch, glovebox
from checker import INTERPRETER

DEPTH = 10_000
MIB = 1 << 20
ROAD = ("--python", INTERPRETER, "--json", "--timeout", "60", "--memory", "1G")


def nested(head, tail="", middle="1"):
    return head * DEPTH + middle + tail * DEPTH


def blocks(opening, depth=DEPTH):
    """Statements inside each other; the indentation alone would fill the limit at full depth."""
    depth = min(depth, 900)
    return "".join(" " * i + opening + "\n" for i in range(depth)) + " " * depth + "pass\n"


DEEP = {
    "parentheses": nested("(", ")"), "brackets": nested("[", "]"), "braces": nested("{", "}"),
    "dictionaries": nested("{1:", "}"), "open parentheses": "(" * DEPTH, "closed ones": ")" * DEPTH,
    "lambdas": nested("lambda:"), "lambdas with defaults": nested("lambda x=", ":x"),
    "minus": nested("-"), "tilde": nested("~"), "not": nested("not "),
    "await": "async def f():\n    " + nested("await ", middle="x"),
    "attributes": "x = 0\nx" + ".real" * DEPTH, "subscripts": "x" + "[0]" * DEPTH,
    "calls": "f" + "()" * DEPTH, "calls in calls": nested("f(", ")"), "stars": nested("*", middle="x"),
    "comparisons": "1" + " < 1" * DEPTH, "comparisons in parentheses": nested("1<(", ")"),
    "powers": "1" + " ** 1" * DEPTH, "sums": "1" + " + 1" * DEPTH, "shifts": "1" + " >> 0" * DEPTH,
    "and": "1" + " and 1" * DEPTH, "and or": "1" + " and 1 or 0" * (DEPTH // 2),
    "conditions": nested("1 if 1 else "), "walruses": nested("(x:=", ")"), "yields": nested("(yield ", ")"),
    "comprehensions": nested("[", " for x in y]", "x"), "f-strings": nested("f'{", "}'"),
    "f-string formats": "f'" + "{1:" * DEPTH + "}" * DEPTH + "'",
    "if": blocks("if 1:"), "for": blocks("for x in y:"), "while": blocks("while 0:"), "with": blocks("with x:"),
    "def": blocks("def f():"), "class": blocks("class C:"), "try": blocks("try:"),
    "match": blocks("match x:\n case _:"),
    "elif": "if 0:\n pass\n" + "elif 0:\n pass\n" * DEPTH, "decorators": "@f\n" * DEPTH + "def g(): pass\n",
    "patterns": "match x:\n case " + nested("[", "]", "_") + ":\n  pass\n",
    "or-patterns": "match 1:\n case " + "0 | " * DEPTH + "1:\n  pass\n",
    "targets": "x = " * DEPTH + "1", "target lists": nested("[", "]", "x") + " = 1",
    "slices": "x" + "[::" * DEPTH + "]" * DEPTH, "annotations": "x: " + nested("a[", "]", "b"),
    "strings": "x = " + "'a' " * DEPTH, "string prefixes": "x = " + "r" * DEPTH + "'a'",
    "indentation": " " * DEPTH + "x = 1", "underscores": "x = " + "1_" * DEPTH + "1",
    "digits": "x = " + "1" * DEPTH, "hex digits": "x = 0x" + "f" * DEPTH, "exponent": "x = 1e" + "9" * DEPTH,
    "continuations": "x = \\\n" * DEPTH + "1", "semicolons": "1;" * DEPTH, "arguments": "f(" + "1," * DEPTH + ")",
    "parameters": "def f(" + ", ".join(f"a{i}" for i in range(DEPTH)) + "): pass",
    "names in global": "def f():\n global " + ", ".join(f"a{i}" for i in range(DEPTH)),
}
BIG = {
    "sum": "x = 1" + "+1" * (MIB // 2 - 10), "tuple": "x = (" + "1," * 300_000 + ")",
    "string": "x = '" + "a" * (MIB - 10) + "'", "adjacent strings": "x = " + "'a'" * 300_000,
    "one line": "#" + " " * (MIB - 2), "name": "x" * (MIB - 10) + " = 1", "lines": "\n" * (MIB - 10),
    "statements": "x=1\n" * 100_000, "number": "x = 1" + "0" * (MIB - 10), "attributes": "x" + ".a" * (MIB // 2 - 10),
    "functions": "".join(f"def f{i}():0\n" for i in range(20_000)),
    "strings": "'" + "\\x41" * 250_000 + "'", "bytes": "b'" + "\\0" * 500_000 + "'",
    "dictionary": "x = {" + "'a':1," * 60_000 + "}", "comparisons": "1" + "<1" * 100_000,
    "f-string": "f'" + "{1}" * 20_000 + "'", "quotes": "'" * (MIB - 1), "backslashes": "\\\n" * 500_000,
}
PLAIN = "import sys\ncompile(sys.stdin.buffer.read(), 'x', 'exec', 0x2000, True)"


def interpreter_takes(source):
    """Whether plain CPython compiles it; it may well crash."""
    done = subprocess.run([INTERPRETER, "-I", "-W", "ignore", "-c", PLAIN], input=source.encode(), env=ENV,
                          capture_output=True)
    return done.returncode == 0


def is_clear(result):
    """Rejected, and told why in words."""
    return (result["status"], result["exit_code"], result["stdout"]) == ("rejected", 126, "") and \
        bool(result["findings"]) and all(f["message"].strip() and f["rule"] for f in result["findings"])


def check_json(source, policy):
    done = glovebox("check", *ROAD, "--policy", policy, "-", input=source, timeout=120, text=isinstance(source, str))
    result = json.loads(done.stdout)
    assert done.returncode == result["exit_code"], result
    return result


@pytest.fixture(scope="module")
def deep():
    requests = [{"kind": "check", "code": code, "policy": policy}
                for code in DEEP.values() for policy in ("standard", "strict")]
    results = batch(requests, "-j", 2, "--python", INTERPRETER, "--timeout", "60", timeout=300)
    return {name: results[2 * i:2 * i + 2] for i, name in enumerate(DEEP)}


@pytest.mark.parametrize("name", DEEP)
def test_deep(name, deep):
    """What the interpreter does not take is rejected; what it takes may be, with a reason."""
    for result in deep[name]:
        assert is_clear(result) or result["status"] == "ok", result
    assert deep[name][0]["status"] == "rejected" or interpreter_takes(DEEP[name])


@pytest.mark.parametrize("name", BIG)
def test_big(name):
    assert len(BIG[name].encode()) <= MIB
    result = check_json(BIG[name], "strict")
    assert is_clear(result) or result["status"] == "ok", result


def test_slow_to_compile():
    """Equal functions take CPython's compiler a time that grows with their square: the request's own
    timeout ends it."""
    done = glovebox("check", "--json", "--python", INTERPRETER, "--timeout", "0.5", "-", input="lambda:0\n" * 50_000)
    result = json.loads(done.stdout)
    assert is_clear(result) and done.returncode == 126, result
    assert "0.5" in result["findings"][0]["message"]


@pytest.mark.parametrize("command", ["check", "run"])
def test_too_big(command):
    """The size is looked at before anything else."""
    done = glovebox(command, *ROAD, "-", input="#" * (MIB + 1))
    result = json.loads(done.stdout)
    assert (result["status"], done.returncode) in (("failed", 125), ("rejected", 126))
    assert "code" in json.dumps([result["error"], result["findings"]]), result


# ---- bytes ----

RUNS, REJECTED, EITHER = "runs", "rejected", "either"
BYTES = {
    "nul between statements": (b"print(1)\n\0\nprint(2)\n", REJECTED),
    "nul in a statement": (b"x = 1\0\nprint(x)\n", REJECTED),
    "nul in a comment": (b"# a\0b\nprint(1)\n", REJECTED),
    "nul in a string": (b"print('a\0b')\n", REJECTED),
    "nul at the end": (b"print(1)\n\0", REJECTED),
    "nul alone": (b"\0", REJECTED),
    "escaped nul": (b"print(len('a\\0b'))\n", RUNS),
    "invalid utf-8 in a string": (b"print('\xff')\n", REJECTED),
    "invalid utf-8 in a comment": (b"# \xff\nprint(1)\n", REJECTED),
    "invalid utf-8 at the end": (b"print(1)\n# \xc3", REJECTED),
    "overlong utf-8": (b"print(1)\n# \xc0\xaf\n", REJECTED),
    "surrogate in utf-8": (b"print('\xed\xa0\x80')\n", REJECTED),
    "beyond unicode": (b"print('\xf4\x90\x80\x80')\n", REJECTED),
    "byte-order mark": (b"\xef\xbb\xbfprint('\xc3\xa9')\n", RUNS),
    "two byte-order marks": (b"\xef\xbb\xbf\xef\xbb\xbfprint(1)\n", REJECTED),
    "byte-order mark inside": (b"print(1)\n\xef\xbb\xbfprint(2)\n", REJECTED),
    "byte-order mark alone": (b"\xef\xbb\xbf", RUNS),
    "mark and cookie at odds": (b"\xef\xbb\xbf# coding: latin-1\nprint(1)\n", REJECTED),
    "mark and cookie agree": (b"\xef\xbb\xbf# coding: utf-8\nprint('\xc3\xa9')\n", RUNS),
    "utf-16 mark": ("print(1)\n".encode("utf-16"), REJECTED),
    "cookie utf-8": (b"# -*- coding: utf-8 -*-\nprint('\xc3\xa9')\n", RUNS),
    "cookie latin-1, plain": (b"# coding: latin-1\nprint(1)\n", EITHER),
    "cookie latin-1, its bytes": (b"# coding: latin-1\nprint('\xe9')\n", EITHER),
    "cookie latin-1, other bytes": (b"# coding: latin-1\nprint('\xc3\xa9')\n", EITHER),
    "cookie in the second line": (b"#!/usr/bin/python3\n# vim: set fileencoding=latin-1 :\n"
                                  b"print('\xc3\xa9')\n", EITHER),
    "cookie after a blank line": (b"\n# coding: latin-1\nprint('\xc3\xa9')\n", EITHER),
    "cookie after a form feed": (b"\x0c# coding: latin-1\nprint('\xc3\xa9')\n", EITHER),
    "cookie after a continuation": (b"\\\n# coding: latin-1\nprint('\xc3\xa9')\n", EITHER),
    "cookie in the third line": (b"\n\n# coding: latin-1\nprint('\xc3\xa9')\n", RUNS),
    "cookie after code": (b"x = 1\n# coding: latin-1\nprint('\xc3\xa9')\n", RUNS),
    "cookie in a string": (b"'''\ncoding: latin-1'''\nprint('\xc3\xa9')\n", RUNS),
    "cookie with other line ends": (b"# a\r# coding: latin-1\rprint('\xc3\xa9')\r", EITHER),
    "cookie utf-7": (b"# coding: utf-7\n# +AAo-print('hidden')\nprint('shown')\n", EITHER),
    "cookie utf-7, quoted": (b"# coding: utf_7\nx = '+ACc-+AAo-print(+ACc-hidden'\nprint('shown')\n", EITHER),
    "cookie utf-16": (b"# coding: utf-16\nprint(1)\n", EITHER),
    "cookie rot13": (b"# coding: rot13\ncevag(1)\n", REJECTED),
    "cookie unicode_escape": (b"# coding: unicode_escape\n# \\nprint('hidden')\nprint('shown')\n", EITHER),
    "cookie raw_unicode_escape": (b"# coding: raw_unicode_escape\n# \\u000aprint('hidden')\nprint('shown')\n", EITHER),
    "cookie unknown": (b"# coding: no-such-thing\nprint(1)\n", EITHER),
    "cookie with a path": (b"# coding: ../../etc/passwd\nprint(1)\n", EITHER),
    "cookie undefined": (b"# coding: undefined\nprint(1)\n", EITHER),
    "form feed first": (b"\x0cprint(1)\n", RUNS),
    "form feed in the indentation": (b"if 1:\n\x0c    print(1)\n    print(2)\n", RUNS),
    "form feed after indentation": (b"if 1:\n    \x0c  print(1)\n", RUNS),
    "vertical tab": (b"\x0bprint(1)\n", REJECTED),
    "carriage returns": (b"x = 1\rprint(x)\r", RUNS),
    "both line ends": (b"x = 1\r\nif x:\r\n    print(x)\r\n", RUNS),
    "mixed line ends": (b"x = 1\r\ny = 2\nz = 3\rprint(x + y + z)\n", RUNS),
    "carriage return in a comment": (b"# a\rprint('after')\n", RUNS),
    "carriage return in a string": (b"print('''a\rb''' == 'a\\nb')\n", RUNS),
    "tabs and spaces": (b"if 1:\n        x = 1\n\tprint(x)\n", REJECTED),
    "tabs alone": (b"if 1:\n\tif 1:\n\t\tprint(1)\n", RUNS),
    "wrong indentation": (b"if 1:\n    x = 1\n   y = 2\n", REJECTED),
    "continuation at the end": (b"x = 1 + \\", REJECTED),
    "continuation and nothing": (b"print(1)\n\\", REJECTED),
    "continuation and a blank": (b"x = 1 + \\ \n1\n", REJECTED),
    "no line end": (b"print(1)", RUNS),
    "open string": (b"x = 'abc\n", REJECTED),
    "open triple quote": (b"x = '''abc\n", REJECTED),
    "open parenthesis": (b"print(1\n", REJECTED),
    "full-width name": ("ｐｒｉｎｔ(1)\n".encode(), RUNS),
    "full-width keyword": ("ｉf 1: print(1)\n".encode(), REJECTED),
    "full-width digits": ("print(１)\n".encode(), REJECTED),
    "full-width parenthesis": ("print（1）\n".encode(), REJECTED),
    "no-break space": ("print(1)\u00a0\n".encode(), REJECTED),
    "next line in a comment": ("# \u0085print('hidden')\nprint('shown')\n".encode(), RUNS),
    "line separator in a comment": ("# \u2028print('hidden')\nprint('shown')\n".encode(), RUNS),
    "paragraph separator in a string": ("x = '\u2029'\nprint(len(x))\n".encode(), RUNS),
    "other separators in a comment": (b"# \x1cprint('a') \x1d \x1e\nprint('shown')\n", RUNS),
    "text turned around": ("x = 'a\u202e\u2066'\nprint(len(x))\n".encode(), RUNS),
    "zero-width joiner in a name": ("a\u200db = 1\n".encode(), EITHER),
    "end of file character": (b"print(1)\n\x1aprint(2)\n", REJECTED),
    "escape sequences": (b"# \x1b[2J\nprint(1)\n", RUNS),
    "emoji as a name": ("😀 = 1\n".encode(), REJECTED),
    "mathematical name": ("𝓍 = 3\nprint(x)\n".encode(), RUNS),
    "bad escape of a name": (b"print('\\N{NO SUCH CHARACTER}')\n", REJECTED),
    "bad escape of a number": (b"print('\\U00110000')\n", REJECTED),
    "nothing": (b"", RUNS),
    "blanks": (b" \t\n\n   \n", RUNS),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes(name, tmp_path):
    """A file with these bytes: as the interpreter runs it, or rejected; no third thing."""
    source, expected = BYTES[name]
    file = tmp_path / "program.py"
    file.write_bytes(source)
    reference = subprocess.run([INTERPRETER, "-I", "-X", "utf8", file], env=ENV, capture_output=True, text=True)
    done = glovebox("run", *ROAD, file)
    result = json.loads(done.stdout)
    assert done.returncode == result["exit_code"]

    is_run = (result["status"], result["stdout"], reference.returncode) == ("ok", reference.stdout, 0)
    assert is_run or is_clear(result), (result["status"], result["stdout"], reference.stdout, result["findings"])
    assert expected == EITHER or is_run is (expected == RUNS), result
    checked = glovebox("check", *ROAD, file)
    assert json.loads(checked.stdout)["status"] == ("ok" if is_run else "rejected")


# ---- requests ----

SURROGATES = {
    "high": b'{"code": "print(\'\\ud800\')"}', "low": b'{"code": "x = \'\\udc00\'"}',
    "turned around": b'{"code": "\\udc00\\ud800"}', "in the prelude": b'{"code": "1", "prelude": "\'\\ud800\'"}',
    "as bytes": b'{"code": "print(\'\xed\xa0\x80\')"}', "invalid utf-8": b'{"code": "\xff"}',
    "nul": b'{"code": "x = 1\\u0000"}', "kind check": b'{"kind": "check", "code": "\\ud83d"}',
}


def test_surrogates_in_requests():
    """Refused in words, and the lines beside them go on."""
    lines = [line for bad in SURROGATES.values() for line in (bad, b'{"code": "40 + 2"}')]
    results = batch(lines, "--python", INTERPRETER)
    assert [r["value"] for r in results[1::2]] == [42] * len(SURROGATES)
    for name, result in zip(SURROGATES, results[::2]):
        told = result["findings"][0]["message"] if result["status"] == "rejected" else result["error"]["message"]
        assert result["status"] in ("rejected", "failed") and told, (name, result)
        assert result["stdout"] == ""


def test_surrogate_pairs_and_escapes():
    """Two halves that belong together are one character; an escape in the source is Python's own."""
    pair, escape = batch([b'{"code": "len(\'\\ud83d\\ude00\')"}', b'{"code": "len(\'\\\\ud83d\\\\ude00\')"}'],
                         "--python", INTERPRETER)
    assert (pair["value"], escape["value"]) == (1, 2)


def test_syntax_error_shows_line_and_caret():
    done = glovebox("check", "--python", INTERPRETER, "-c", "x = 1\ny = (1 +\nz = )\n")
    assert done.returncode == 126
    told = done.stdout + done.stderr
    assert "z = )" in told and "^" in told
