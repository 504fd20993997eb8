"""glovebox check: what is said about code, and that none of it runs."""
import json
import os

import pytest

from box import RESULT_KEYS, Terminal, batch, glovebox, run_json, value

HIDDEN = "a = '\x1b[31m\u202e'; import socket\n"


def check(*args, **kwargs):
    return glovebox("check", *args, **kwargs)


def check_json(*args, **kwargs):
    done = check("--json", *args, **kwargs)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def verdict(code, *options, **kwargs):
    """The result for one piece of code, which may be bytes."""
    data = code if isinstance(code, bytes) else code.encode()
    status, [result] = check_json(*options, "-", input=data, text=False, **kwargs)
    assert status == result["exit_code"] and set(result) >= RESULT_KEYS
    assert (result["status"], status) in (("ok", 0), ("rejected", 126)), result["error"]
    assert (result["stdout"], result["has_value"], result["error"]) == ("", False, None)
    return result


@pytest.fixture
def files(tmp_path):
    """Write files and name them: files(a="code") is [tmp_path/"a.py"]."""
    def write(**texts):
        paths = []
        for name, text in texts.items():
            paths.append(tmp_path / f"{name}.py")
            paths[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
        return paths
    return write


# ---- what it says ----

def test_accepted():
    done = check("-c", "print('hello')")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 checked, 0 rejected: 0 errors, 0 warnings\n"


def test_like_a_compiler(files):
    path, = files(bad="import json\nif json:\n    import socket\n")
    done = check("--block-import", "socket", path)
    assert (done.returncode, done.stderr) == (126, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{path}:3:") and ": error: " in lines[0] and lines[0].endswith("]")
    assert lines[1] == "        import socket" and lines[2].strip() == "^"
    assert lines[3].startswith("help: ")
    assert lines[-1] == "1 checked, 1 rejected: 1 error, 0 warnings"


def test_syntax_errors_show_the_place():
    done = check("-c", "x = 1\n\u00e9 = 'a' b\n")
    lines = done.stdout.splitlines()
    assert done.returncode == 126 and lines[0].startswith("main.py:2:9: error: ")
    assert lines[0].endswith("[syntax]")
    assert lines[1:3] == ["    \u00e9 = 'a' b", "            ^"]


@pytest.mark.parametrize("code, line, column", [
    ("return 1", 1, 1), ("x = 1\nbreak", 2, 1), ("\u00e9 = 1; return", 1, 8),
    ("def f():\n    nonlocal x", 2, 5),
])
def test_what_the_compiler_finds_is_found(code, line, column):
    result = verdict(code)
    [finding] = result["findings"]
    assert (finding["rule"], finding["line"], finding["column"]) == ("syntax", line, column)
    assert finding["source"].strip() == code.splitlines()[line - 1].strip()


def test_a_run_says_the_same():
    args = ("--block-import", "socket", "-c", "x = 1\nimport socket")
    checked, run = check(*args), glovebox("run", *args)
    assert run.returncode == 126 and run.stdout == ""
    assert checked.stdout.startswith(run.stderr) and run.stderr.startswith("main.py:2:8: error:")


def test_one_result_object():
    result = verdict("import socket", "--block-import", "socket")
    assert result["status"] == "rejected"
    finding = result["findings"][0]
    assert {"rule", "severity", "message", "line", "column", "name", "remedy"} <= set(finding)
    assert (finding["severity"], finding["line"], finding["name"]) == ("error", 1, "socket")


@pytest.mark.parametrize("options, expected", [
    ((), "standard"), (("--policy", "off"), "off"), (("--policy", "strict"), "strict"),
    (("--isolation", "process"), "strict"),
])
def test_the_policy_is_named(options, expected):
    assert verdict("1 + 1", *options)["policy"] == expected


def test_warnings_do_not_reject():
    result = verdict("eval('1')")
    assert result["status"] == "ok" and result["risk"] > 0
    assert {f["severity"] for f in result["findings"]} == {"warning"}
    ran = run_json("eval('1')")
    assert (ran["status"], ran["value"]) == ("ok", 1)
    assert (ran["findings"], ran["risk"]) == (result["findings"], result["risk"])
    assert verdict("eval('1')", "--patterns", "off")["findings"] == []


# ---- nothing runs ----

def test_nothing_runs(tmp_path):
    tmp_path.chmod(0o777)
    mark = tmp_path / "mark"
    code = f"open({str(mark)!r}, 'w').close()"
    prelude = tmp_path / "prelude.py"
    prelude.write_text(code)
    done = check("--isolation", "process", "--policy", "off", "--prelude", prelude, "-c", code)
    assert done.returncode == 0 and not mark.exists()


def test_endless_code_is_checked_at_once():
    assert verdict("while True: pass", "--patterns", "off", "-t", "5")["status"] == "ok"


# ---- many files ----

def test_many_files_in_their_order(files):
    paths = files(**{f"f{i}": "import socket" if i % 3 == 0 else f"x = {i}" for i in range(20)})
    status, results = check_json("--block-import", "socket", *paths)
    assert status == 126
    assert [r["id"] for r in results] == [str(p) for p in paths]
    assert [r["status"] for r in results] == ["ok" if i % 3 else "rejected" for i in range(20)]
    done = check("--block-import", "socket", *paths)
    named = [line.split(":")[0] for line in done.stdout.splitlines() if ": error: " in line]
    assert named == [str(p) for i, p in enumerate(paths) if i % 3 == 0]
    assert done.stdout.endswith("20 checked, 7 rejected: 7 errors, 0 warnings\n")


def test_a_file_that_cannot_be_read_keeps_no_other(files, tmp_path):
    good, = files(good="1")
    missing = tmp_path / "missing.py"
    done = check(missing, good, tmp_path)
    assert done.returncode == 125
    assert f"glovebox: cannot read '{missing}': No such file" in done.stderr
    assert f"glovebox: cannot read '{tmp_path}': Is a directory" in done.stderr
    assert done.stdout == "1 checked, 2 could not be, 0 rejected: 0 errors, 0 warnings\n"
    status, results = check_json(missing, good)
    assert status == 125
    assert [(r["id"], r["status"], r["exit_code"]) for r in results] == [
        (str(missing), "failed", 125), (str(good), "ok", 0)]
    assert all(set(r) >= RESULT_KEYS for r in results)


def test_one_too_large(files):
    big, good = files(big="#" * (1 << 20) + "x", good="1")
    done = check(big, good)
    assert done.returncode == 125 and "1 MiB" in done.stderr and str(big) in done.stderr
    assert done.stdout.startswith("1 checked, 1 could not be")


def test_names_that_are_odd(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\x1b[1m.py"
    with open(path, "wb") as f:
        f.write(b"def f(:")
    done = glovebox("check", "--", os.fsdecode(path), text=False)
    assert done.returncode == 126 and b"\x1b" not in done.stdout and b"\\x1b[1m.py:1:7" in done.stdout


@pytest.mark.parametrize("args, message", [
    (("-c", "1", "a.py"), "both --code and the file 'a.py'"),
    (("-", "-"), "standard input can be read only once"),
    (("--prelude", "-", "-"), "standard input can be read only once"),
    (("--prelude", "/nonexistent", "-c", "1"), "cannot read '/nonexistent'"),
    (("--policy", "mild", "-c", "1"), "not one of strict, standard, off"),
    (("--patterns", "maybe", "-c", "1"), "not one of off, warn, block"),
    (("--allow-import", "a b", "-c", "1"), "glovebox: --allow-import: 'a b' is no name"),
])
def test_usage(args, message):
    done = check(*args, input="")
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


def test_options_of_a_run_are_taken(tmp_path):
    """Nothing runs, so nobody reviews, nobody is asked, and it does not matter who could not be."""
    done = check("-c", "1", "--approve", "always", "--acknowledge-unsafe", "--review", "no-url",
                 "--network", "host", "-e", "A=b", "--disk", "1M", "--cpu", "1", "--stdout-limit",
                 "1K", "--processes", "3")
    assert (done.returncode, done.stderr) == (0, "")
    words = glovebox("check", "--help").stdout
    for option in ("--timeout", "--memory", "--policy", "--python", "--isolation"):
        assert option in words
    for option in ("--network", "--env", "--disk", "--cpu", "--stdout-limit", "--approve",
                   "--review", "--acknowledge-unsafe"):
        assert option + " " not in words
    assert "stop the program" not in words


def test_no_interpreter():
    done = check("--python", "/bin/false", "-c", "1")
    assert done.returncode == 125 and "/bin/false" in done.stderr


# ---- on a terminal ----

def test_colors_only_on_a_terminal(files):
    path, = files(bad="def f(:")
    assert "\x1b" not in check(path).stdout
    with Terminal("check", path, on_terminal=["stdout"]) as t:
        assert "\x1b[1;31merror: " in t.shows("1 checked")
    with Terminal("check", path, on_terminal=["stdout"], env={"NO_COLOR": "1"}) as t:
        assert "\x1b" not in t.shows("1 checked")


@pytest.mark.parametrize("command", ["check", "run"])
def test_what_the_code_holds_cannot_move_the_cursor(files, command):
    path, = files(hidden=HIDDEN)
    done = glovebox(command, "--block-import", "socket", path)
    text = done.stdout + done.stderr
    assert done.returncode == 126 and not set(text) & set("\x1b\u202e")
    lines = text.splitlines()
    assert lines[1] == r"    a = '\x1b[31m\u{202e}'; import socket"
    assert lines[1][lines[2].index("^"):] == "socket"


# ---- the prelude ----

def test_the_prelude_passes_the_import_rules_and_is_not_scored(tmp_path):
    prelude = tmp_path / "prelude.py"
    prelude.write_text("eval('1')\n")
    assert verdict("1", "--prelude", prelude)["findings"] == []
    prelude.write_text("x = 1\nimport socket\n")
    result = verdict("1", "--prelude", prelude, "--block-import", "socket")
    [finding] = result["findings"]
    assert (finding["file"], finding["line"], finding["name"]) == ("prelude", 2, "socket")


@pytest.mark.parametrize("text", ["def f(:", "return 1"])
def test_a_prelude_that_does_not_parse(tmp_path, text):
    prelude = tmp_path / "prelude.py"
    prelude.write_text(text)
    for result in (verdict("1", "--prelude", prelude),
                   run_json("print('ran')", "--prelude", prelude)):
        [finding] = result["findings"]
        assert (result["status"], finding["rule"]) == ("rejected", "syntax")
        assert (finding["file"], finding["line"]) == ("prelude", 1)
        assert result["stdout"] == ""
    done = check("--prelude", prelude, "-c", "1")
    assert done.stdout.startswith("prelude:1:")


# ---- hostile text ----

NESTED = 10_000


@pytest.mark.parametrize("code", [
    "(" * NESTED + ")" * NESTED,
    "[" * NESTED + "]" * NESTED,
    "-" * NESTED + "1",
    "x" + ".a" * NESTED * 10,
    "x = " + "not " * NESTED + "1",
    "lambda: " * NESTED + "1",
    "".join("    " * i + "if 1:\n" for i in range(150)) + "    " * 150 + "pass",
    "f" + "()" * NESTED * 5,
    "a" + "[0]" * NESTED * 5,
    "f'" + "{" * 500 + "}" * 500 + "'",
    "x = 1" + " + 1" * 200_000,
    "x = " + "1" * 900_000,
    b"a\0b", b"'\0'", b"# \0", b"\0" * 100,
    b"\xff", b"x = '\xed\xa0\x80'", b"x = '\xc0\x80'", b"x = '\xf4\x90\x80\x80'",
    "\ufeff\ufeffx = 1", "x = \ufeff1", "x\u00a0= 1",
    b"# coding: latin-1\nx = '\xc3\xa9'", b"# -*- coding: utf-7 -*-\nx = '+AOk-'",
    b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\xc3\xa9'",
    b"# coding: nonsense\nx = 1", b"# coding: rot13\nk = 1", b"\xef\xbb\xbf# coding: latin-1\nx = 1",
], ids=lambda c: repr(c[:24]))
def test_hostile_text_is_rejected_or_accepted_and_nothing_else(code):
    """In time, without a crash, and with something to say for it."""
    result = verdict(code, "-t", "20")
    if result["status"] == "rejected":
        assert result["findings"][0]["message"]


@pytest.mark.parametrize("code", [
    b"a\0b", b"\xff", b"x = '\xed\xa0\x80'", "\ufeff\ufeffx = 1", "x = \ufeff1",
    "(" * NESTED + ")" * NESTED,
    b"# coding: latin-1\nx = '\xc3\xa9'", b"# -*- coding: utf-7 -*-\nx = '+AOk-'",
    b"# coding: nonsense\nx = 1", b"\xef\xbb\xbf# coding: latin-1\nx = 1",
], ids=lambda c: repr(c[:24]))
def test_what_cannot_be_read_is_rejected(code):
    assert verdict(code)["status"] == "rejected"


@pytest.mark.parametrize("code", [
    b"\xef\xbb\xbfx = 1", b"# coding: utf-8\nx = '\xc3\xa9'", b"# coding: UTF_8\nx = '\xc3\xa9'",
    b"# coding: latin-1\nx = 'e'", b"x = 1\n\n# coding: latin-1\ny = '\xc3\xa9'",
    b"'''\n# coding: latin-1\n\xc3\xa9'''", b"x = 1\x0c\ny = 2\n", b"\x0cx = 1", b"x = 1\r\ny = 2\r",
    "\uff45\uff56\uff41\uff4c = 1", b"", b"\n", b"#",
], ids=lambda c: repr(c[:24]))
def test_what_reads_well_is_accepted(code):
    assert verdict(code, "--patterns", "off")["status"] == "ok"


def test_it_is_read_as_it_runs():
    """Full-width letters, carriage returns and form feeds, as the interpreter has them."""
    assert value("\uff58 = 41\nx + 1") == 42
    assert value("x = 1\ry = 2\rx + y") == 3
    assert value("x = 1\n\x0cy = 2\nx + y") == 3


def test_a_check_that_takes_too_long():
    code = "x = 1\n" * 150_000
    result = verdict(code, "-t", "0.01")
    assert result["status"] == "rejected"
    assert result["findings"][0]["rule"] == "timeout"


def test_more_findings_than_anybody_reads():
    result = verdict("import socket\n" * 5000, "--block-import", "socket")
    assert result["status"] == "rejected" and 100 < len(result["findings"]) <= 1001
    assert "more findings" in result["findings"][-1]["message"]


# ---- requests ----

def test_checks_among_runs():
    checked, ran, bad = batch([{"kind": "check", "code": "print(1)"}, "print(1)",
                               {"kind": "check", "code": "def f(:"}])
    assert (checked["status"], checked["stdout"]) == ("ok", "")
    assert (ran["status"], ran["stdout"]) == ("ok", "1\n")
    assert (bad["status"], bad["exit_code"]) == ("rejected", 126)


def test_a_check_needs_code():
    result, = batch([{"kind": "check"}])
    assert result["status"] == "failed" and "code" in result["error"]["message"]


def test_the_tables_know_it():
    """Help, manual and completions come from the same tables."""
    assert "--allow-import" in check("--help").stdout
    assert "glovebox check" in glovebox("help", "--man").stdout
    for shell in ("bash", "zsh", "fish"):
        text = glovebox("help", "--completion", shell).stdout
        assert "check" in text and "allow-os-attr" in text


