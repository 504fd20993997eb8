"""`glovebox run`: what goes in, what comes out."""
import json
import re

import pytest
from box import RESULT_KEYS, glovebox, run_json, running, value

NAN, INF = 'float("nan")', 'float("inf")'


# ---- the result ----

def test_result_has_every_key_of_the_contract():
    result = run_json("print('hi'); 1 + 2")
    assert set(result) >= RESULT_KEYS
    expected = {"status": "ok", "exit_code": 0, "stdout": "hi\n", "stderr": "", "stdout_bytes": 3,
                "stderr_bytes": 0, "stdout_truncated": False, "stderr_truncated": False,
                "value": 3, "has_value": True, "error": None, "findings": [], "limit": None,
                "session": None, "tool_calls": [], "policy": "standard"}
    assert {key: result[key] for key in expected} == expected
    assert result["isolation"]["level"] == "namespaces"
    assert {"user", "mount", "pid", "net", "ipc", "uts", "seccomp", "nnp", "caps",
            "rlimits"} <= set(result["isolation"]["layers"])
    assert result["usage"]["wall_ms"] > 0 and result["usage"]["max_rss_kb"] > 0


def test_a_failure_has_the_same_shape():
    assert set(run_json("1/0")) >= RESULT_KEYS
    assert set(run_json("(")) >= RESULT_KEYS


@pytest.mark.parametrize("code, expected", [
    ("1 + 2", 3),
    ("True", True),
    ("2.5", 2.5),
    ("-0.0", -0.0),
    ("2**63 - 1", 2**63 - 1),
    ("-2**63", -2**63),
    ("'text'", "text"),
    ("''", ""),
    (r"'é \U0001F600 \x00 \"'", "é \U0001F600 \x00 \""),
    ("[1, [2.5, None], {'a': {'b': [True]}}]", [1, [2.5, None], {"a": {"b": [True]}}]),
    ("(1, (2, 3))", [1, [2, 3]]),
    ("{'a': (1,)}", {"a": [1]}),
    ("[]", []),
    ("{}", {}),
    ("x = 5\ny = 6\nx * y", 30),
    ("print('a') or 7", 7),
    ("1;2;3", 3),
    # What JSON cannot say is shown as Python would.
    (NAN, "nan"),
    (INF, "inf"),
    (f"[1, {NAN}]", "[1, nan]"),
    ("2**64", str(2**64)),
    ("{1, }", "{1}"),
    ("b'x'", "b'x'"),
    ("1j", "1j"),
    ("object", "<class 'object'>"),
    ("import datetime\ndatetime.date(2024, 1, 2)", "datetime.date(2024, 1, 2)"),
    (r"'\ud800'", r"'\ud800'"),
    ("a = []\na.append(a)\na", "[[...]]"),
])
def test_value(code, expected):
    result = run_json(code)
    assert (result["status"], result["has_value"]) == ("ok", True), result["error"]
    assert result["value"] == expected and type(result["value"]) is type(expected)


@pytest.mark.parametrize("code, has_value", [
    ("None", True), ("print('x')", True), ("x = 1", False), ("", False), ("# only this", False),
    ("if True:\n    5", False), ("def f(): pass", False), ("5\nx = 1", False), ("pass", False),
])
def test_none_is_not_nothing(code, has_value):
    result = run_json(code)
    assert (result["status"], result["value"]) == ("ok", None)
    assert result["has_value"] is has_value


@pytest.mark.parametrize("code", ["'x' * (64 << 20)", "class C:\n    def __repr__(self): 1/0\nC()",
                                  "a = []\nfor _ in range(100000): a = [a]\na"])
def test_an_awkward_value_is_the_codes_own_trouble(code):
    assert run_json(code)["status"] in ("ok", "error", "limit")


@pytest.mark.parametrize("code, expected", [
    ("import asyncio\nawait asyncio.sleep(0)\n7", 7),
    ("import asyncio\nawait asyncio.gather(*(asyncio.sleep(0, i) for i in range(3)))", [0, 1, 2]),
    ("async def f(): return 'a'\nawait f()", "a"),
    ("async def g():\n    yield 1\n    yield 2\n[x async for x in g()]", [1, 2]),
    ("import asyncio\nasync with asyncio.Lock(): x = 3\nx", 3),
    ("import asyncio\nasync def f(): return 4\nasyncio.run(f())", 4),
])
def test_await_at_top_level(code, expected):
    assert value(code) == expected


# ---- what goes in ----

@pytest.mark.parametrize("how", ["file", "dash", "unicode"])
def test_code_from_a_file_or_stdin(tmp_path, how):
    code = "import sys\nsys.argv[1:]"
    file = tmp_path / ("naïve – 程序.py" if how == "unicode" else "prog.py")
    file.write_text(code)
    source, given = ("-", code) if how == "dash" else (file, None)
    assert value(None, source, "--", "a", "--b", "ü", input=given) == ["a", "--b", "ü"]


def test_traceback_names_the_file(tmp_path):
    file = tmp_path / "naïve – 程序.py"
    file.write_text("x = 1\nraise ValueError(x)\n")
    error = run_json(None, file)["error"]
    assert file.name in error["traceback"] and error["line"] == 2


@pytest.mark.parametrize("code", [
    "\ufeffx = 1\nx", "x = 1\r\nx\r\n", "# -*- coding: utf-8 -*-\nx = 1\nx", "x = 1\n\n\nx\n\n\n",
])
def test_code_in_the_forms_that_editors_write(tmp_path, code):
    file = tmp_path / "p.py"
    file.write_bytes(code.encode())
    assert value(None, file) == 1


def test_argv_with_code():
    assert value("import sys\nsys.argv[1:]", "--", "a", "b c", "") == ["a", "b c", ""]


def test_stdin_is_empty_unless_asked_for():
    read = "import sys\nsys.stdin.read()"
    assert value(read, input="not for you") == ""
    assert value(read, "--stdin", "-", input="for you\n") == "for you\n"
    assert value("[input(), input()]", "--stdin", "-", input="a\nb\n") == ["a", "b"]
    result = run_json("input()")
    assert (result["status"], result["error"]["type"]) == ("error", "EOFError")


@pytest.mark.parametrize("size", [0, 1, 65536, 5 << 20])
def test_stdin_from_a_file(tmp_path, size):
    file = tmp_path / "in"
    file.write_bytes(bytes(range(256)) * (size // 256) + b"x" * (size % 256))
    assert value("import sys\nlen(sys.stdin.buffer.read())", "--stdin", file) == size


def test_stdin_that_is_not_read_does_not_matter(tmp_path):
    file = tmp_path / "in"
    file.write_bytes(b"x" * (8 << 20))
    assert value("'done'", "--stdin", file) == "done"


@pytest.mark.parametrize("binding, expression, expected", [
    ("x=41", "x + 1", 42),
    ('x="é"', "x", "é"),
    ('x={"a": [1, null, true]}', "x['a']", [1, None, True]),
    ("x=1.5", "type(x).__name__", "float"),
    ("x=null", "x is None", True),
])
def test_input(binding, expression, expected):
    assert value(expression, "--input", binding) == expected


def test_inputs_add_up():
    assert value("a + b", "--input", "a=1", "--input", "b=2") == 3


def test_prelude(tmp_path):
    file = tmp_path / "prelude.py"
    file.write_text("import math\ndef helper(x):\n    return math.floor(x) + n\n")
    assert value("helper(2.5)", "--prelude", file, "--input", "n=1") == 3
    # Lines are counted in the code, not from the prelude.
    assert run_json("\n1/0", "--prelude", file)["error"]["line"] == 2


def test_environment_starts_empty():
    names = value("import os\nsorted(os.environ)", env={"SECRET": "s"})
    assert set(names) <= {"HOME", "LANG", "PATH", "TMPDIR"}
    given = value("import os\n[os.environ.get(k) for k in ('A', 'SECRET', 'MODE')]",
                  "-e", "A=1=2", "--env", "SECRET", env={"SECRET": "s", "MODE": "m"})
    assert given == ["1=2", "s", None]


def test_ordinary_surroundings():
    got = value("""
import os, sys, pathlib, tempfile
here = os.getcwd()
pathlib.Path("made").write_text("x")
pathlib.Path(os.environ["HOME"], "made").write_text("x")
pathlib.Path(tempfile.gettempdir(), "made").write_text("x")
{"main": __name__, "root": os.getuid() == 0, "utf8": sys.stdout.encoding, "pid1": os.getpid() == 1,
 "path0": here in sys.path or "" in sys.path, "flags": sys.flags.ignore_environment}
""")
    assert (got["main"], got["root"], got["utf8"].lower()) == ("__main__", False, "utf-8")
    assert got["pid1"] is False


def test_own_modules_in_the_working_directory_import():
    assert value("open('mine.py', 'w').write('x = 5')\nimport mine\nmine.x") == 5


# ---- errors ----

NESTED = "def f(x):\n    return 1 / x\n\nf(0)\n"


def test_error():
    result = run_json("print('before')\n" + NESTED)
    assert (result["status"], result["exit_code"]) == ("error", 1)
    assert (result["stdout"], result["stderr"]) == ("before\n", "")
    error = result["error"]
    assert (error["type"], error["message"]) == ("ZeroDivisionError", "division by zero")
    assert error["line"] == 3


def test_traceback_is_the_codes_own():
    trace = run_json(NESTED)["error"]["traceback"]
    assert trace.startswith("Traceback (most recent call last):\n")
    assert trace.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "    f(0)" in trace and "    return 1 / x" in trace, "source lines"
    assert len(set(re.findall(r'File "([^"]+)"', trace))) == 1, "no frames of the engine"
    assert re.findall(r"line (\d+)", trace) == ["4", "2"]


def test_traceback_of_awaited_code_is_the_codes_own():
    trace = run_json("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    1 / 0\n"
                     "await f()")["error"]["traceback"]
    assert len(set(re.findall(r'File "([^"]+)"', trace))) == 1, "no frames of engine or asyncio"
    assert re.findall(r"line (\d+)", trace) == ["5", "4"]


@pytest.mark.parametrize("code, kind, words", [
    ("raise KeyError('a') from ValueError('b')", "KeyError", "direct cause"),
    ("try:\n    1/0\nexcept Exception:\n    [][0]", "IndexError", "During handling"),
    ("class Mine(Exception): pass\nraise Mine('é')", "Mine", "é"),
    ("import json\njson.loads('{')", "json.decoder.JSONDecodeError", "json/decoder.py"),
    ("await __import__('asyncio').wait_for(__import__('asyncio').sleep(9), 0.01)", "TimeoutError",
     "TimeoutError"),
    ("raise Exception", "Exception", "Exception"),
    ("def f(): f()\nf()", "RecursionError", "more times"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt", "KeyboardInterrupt"),
    ("exec('1 +')", "SyntaxError", "invalid syntax"),
    ("raise BaseException('x' * 100000)", "BaseException", "xxx"),
])
def test_error_kinds(code, kind, words):
    result = run_json(code)
    assert result["status"] == "error", result
    assert result["error"]["type"] == kind and words in result["error"]["traceback"]


def test_plain_mode_streams_and_says_the_traceback():
    done = glovebox("run", "-c", "import sys\nprint('out')\nprint('err', file=sys.stderr)\n1/0")
    assert (done.returncode, done.stdout) == (1, "out\n")
    assert done.stderr.startswith("err\nTraceback (most recent call last):\n")
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_plain_mode_streams_as_it_comes():
    with running("run", "-c", "import time\nprint('now')\ntime.sleep(60)") as process:
        assert process.stdout.readline() == "now\n"
        process.terminate()
        assert process.wait(10) == 143


def test_plain_mode_passes_bytes_through():
    raw = b"\x00\xff\xfe\x80 ok\r\n"
    done = glovebox("run", "-c", f"import sys\nsys.stdout.buffer.write({raw!r})", text=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, raw, b"")


@pytest.mark.parametrize("code, line", [("x = (", 1), ("a = 1\nb = = 2\n", 2), ("def f():\nx", 2),
                                        ("return 5", 1), ("x = 1\n  y = 2", 2), ("f'{'", 1),
                                        ("yield 1", 1), ("x = 1\n'\x00'", 2)])
def test_what_does_not_parse_is_rejected(tmp_path, code, line):
    file = tmp_path / "p.py"
    file.write_text(code)
    result = run_json(None, file)
    assert (result["status"], result["exit_code"]) == ("rejected", 126)
    finding, = result["findings"]
    assert (finding["rule"], finding["severity"]) == ("syntax", "error") and finding["message"]
    assert finding["line"] == line and finding["remedy"] and finding.get("source") != ""
    plain = glovebox("run", file)
    assert (plain.returncode, plain.stdout) == (126, "") and finding["message"] in plain.stderr


# ---- endings ----

@pytest.mark.parametrize("code, exit_code, stderr", [
    ("import sys\nsys.exit()", 0, ""),
    ("import sys\nsys.exit(0)", 0, ""),
    ("raise SystemExit(None)", 0, ""),
    ("import sys\nsys.exit(3)", 3, ""),
    ("import sys\nsys.exit(-1)", 255, ""),
    ("import sys\nsys.exit(True)", 1, ""),
    ("import sys\nsys.exit('no such luck')", 1, "no such luck\n"),
    ("raise SystemExit(['a'])", 1, "['a']\n"),
    ("import os\nos._exit(5)", 5, ""),
    ("exit(4)", 4, ""),
])
def test_exit(code, exit_code, stderr):
    result = run_json(code)
    assert (result["exit_code"], result["stderr"]) == (exit_code, stderr)
    assert result["status"] == ("ok" if exit_code == 0 else "error")
    plain = glovebox("run", "-c", code)
    assert (plain.returncode, plain.stderr) == (exit_code, stderr)


@pytest.mark.parametrize("signal, exit_code", [("SIGKILL", 137), ("SIGSEGV", 139),
                                               ("SIGTERM", 143), ("SIGABRT", 134)])
def test_crash_keeps_what_was_printed(signal, exit_code):
    result = run_json("import os, signal\nprint('kept', flush=True)\n"
                      f"os.kill(os.getpid(), signal.{signal})\nprint('lost')")
    assert (result["status"], result["exit_code"]) == ("crashed", exit_code)
    assert result["stdout"] == "kept\n" and result["limit"] is None
    assert signal in result["error"]["message"]


@pytest.mark.parametrize("code, stdout", [
    ("import atexit\natexit.register(print, 'bye')\nprint('hi')", "hi\nbye\n"),
    ("import atexit\natexit.register(print, 'bye')\n1/0", "bye\n"),
    ("import threading, time\n"
     "threading.Thread(target=lambda: (time.sleep(.2), print('late'))).start()\nprint('hi')",
     "hi\nlate\n"),
    ("import sys\nsys.stdout.write('no newline')", "no newline"),
    ("import os\nprint('a')\nif os.fork() == 0:\n    print('b')\n    os._exit(0)\nos.wait()\n"
     "print('c')", "a\nc\n"),
])
def test_interpreter_ends_in_order(code, stdout):
    result = run_json(code)
    # A forked child's buffered line may or may not be written by os._exit: the rest is in order.
    assert result["stdout"].replace("b\n", "") == stdout


def test_exception_in_a_thread_is_shown():
    result = run_json("import threading\nt = threading.Thread(target=lambda: 1/0)\n"
                      "t.start(); t.join()\n'done'")
    assert (result["status"], result["value"]) == ("ok", "done")
    assert "ZeroDivisionError" in result["stderr"]


# ---- output ----

@pytest.mark.parametrize("raw, shown", [
    (b"a\xffb\n", "a\ufffdb\n"), (b"a\x00b", "a\x00b"), ("é€\U0001F600\n".encode(),) * 2,
    (b"\xed\xa0\x80", None), (b"\xc3", "\ufffd"), (b"\xf0\x9f\x98", None),
    (b"\x1b[31mred\x1b[0m\r\n", "\x1b[31mred\x1b[0m\r\n"),
])
def test_output_is_shown_as_text(raw, shown):
    shown = shown.decode() if isinstance(shown, bytes) else shown
    for stream in ("stdout", "stderr"):
        result = run_json(f"import sys\nsys.{stream}.buffer.write({raw!r})\npass")
        assert result[f"{stream}_bytes"] == len(raw) and not result[f"{stream}_truncated"]
        if shown is None:
            assert set(result[stream]) == {"\ufffd"}
        else:
            assert result[stream] == shown


def cut(text):
    """Head, the number in the marker line, tail."""
    head, marker, tail = re.fullmatch(r"([^\n]*)\n([^\n]*)\n([^\n]*)", text).groups()
    number, = re.findall(r"\d+", marker.replace(",", ""))
    assert "bytes" in marker
    return head, int(number), tail


@pytest.mark.parametrize("limit", [100, 1000, 1001, 1002, 1003, "1K"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_truncation(stream, limit):
    text = "A" * 5000 + "é" * 5000 + "€" * 5000 + "\U0001F600" * 5000
    result = run_json(f"import sys\nsys.{stream}.write({text!r})\npass", f"--{stream}-limit", limit)
    head, missing, tail = cut(result[stream])
    size = len(text.encode())
    assert result[f"{stream}_truncated"] is True and result[f"{stream}_bytes"] == size
    assert len(head.encode()) + missing + len(tail.encode()) == size
    assert text.startswith(head) and text.endswith(tail) and head and tail
    assert len((head + tail).encode()) <= (1024 if limit == "1K" else limit)


def test_truncation_at_the_limit():
    exact = run_json("print('x' * 999)", "--stdout-limit", 1000)
    assert exact["stdout"] == "x" * 999 + "\n" and not exact["stdout_truncated"]
    over = run_json("print('x' * 1000)", "--stdout-limit", 1000)
    assert over["stdout_truncated"] and over["stdout_bytes"] == 1001


def test_much_output_does_not_change_the_codes_fate():
    result = run_json("for _ in range(200): print('x' * 99999)\n'done'")
    assert (result["status"], result["value"]) == ("ok", "done")
    assert result["stdout_bytes"] == 200 * 100000 and result["stdout_truncated"]
    assert len(result["stdout"]) < 70000


def test_many_small_writes():
    result = run_json("import os\nfor i in range(20000): os.write(1 + i % 2, b'x')\npass")
    assert (result["stdout_bytes"], result["stderr_bytes"]) == (10000, 10000)


def test_json_is_all_that_is_printed():
    done = glovebox("run", "--json", "-c", "print('a\\nb')")
    assert done.stderr == "" and json.loads(done.stdout) and done.stdout.endswith("\n")
