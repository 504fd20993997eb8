"""glovebox repl: a session at a prompt, and from a pipe."""
import os
import signal
import time

import pytest
from box import PYTHON, Terminal, glovebox, running

ON = ("stdin", "stdout", "stderr")


def piped(text, *options, **kwargs):
    return glovebox("repl", "--python", PYTHON, *options, input=text, **kwargs)


@pytest.fixture
def terminal(tmp_path):
    with Terminal("repl", "--python", PYTHON, env={"XDG_STATE_HOME": str(tmp_path)},
                  on_terminal=ON) as t:
        t.shows(">>> ")
        yield t


def test_piped():
    done = piped("x = 20\nfor i in range(2):\n    x += 1\n\n    x += 0\nx - 0\nprint('end')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "22\nend\n", "")


def test_status_is_the_last_cells():
    assert piped("1/0\n").returncode == 1
    assert piped("1/0\n1\n").returncode == 0
    assert piped("import sys\nsys.exit(5)\n").returncode == 5
    done = piped("x = (\n")
    assert done.returncode == 126 and "never closed" in done.stderr


def test_nothing_to_do():
    assert (piped("").returncode, piped("\n\n").stdout) == (0, "")
    assert glovebox("repl", "file.py").returncode == 2


def test_words():
    done = piped("x = 1\nx = 2\n:rewind 1\nx\n:inspect\n:reset\nx\n:rewind z\n:rewind 99\n:nope\n:quit\nprint(1)")
    assert done.stdout.startswith("1\n") and "x  " in done.stdout and "int" in done.stdout
    assert "NameError" in done.stderr and "':nope'" in done.stderr
    assert "cannot be taken back to cell 99" in done.stderr and "number of a cell" in done.stderr
    assert not done.stdout.endswith("1\n"), ":quit ends"


def test_what_a_guest_names_things_does_not_move_the_terminal():
    done = piped("globals()['\\x1b[2Jx'] = 1\n:inspect\n")
    assert "\x1b" not in done.stdout and "\\x1b[2Jx" in done.stdout


def test_a_killed_cell_is_told():
    done = piped("x = 5\nimport os; os._exit(3)\nx\n")
    assert done.stdout == "5\n" and "killed" in done.stderr


def test_prompt(terminal):
    terminal.types("x = 6\n")
    terminal.shows(">>> ")
    terminal.types("def f(y):\n")
    terminal.shows("... ")
    terminal.types("    return x * y\n\n")
    terminal.shows(">>> ")
    terminal.types("f(7)\n")
    terminal.shows("\n42")
    terminal.shows(">>> ")
    terminal.types("1/0\n")
    terminal.shows("ZeroDivisionError")
    terminal.shows(">>> ")
    terminal.types("\x04")
    assert terminal.process.wait(20) == 0


@pytest.mark.parametrize("word", ["exit", "quit()"])
def test_the_ways_out_of_python_lead_out(terminal, word):
    terminal.types(word + "\n")
    assert terminal.process.wait(20) == 0


def test_a_name_that_is_no_session_is_told():
    done = piped("x = 1\n:fork b\n:use b\nx\n:use bb\nx\n:use repl\nx\n")
    assert done.stdout == "1\n1\n" and "NameError" in done.stderr
    assert done.stderr.count("no session 'bb' yet") == 1 and done.stderr.count(" yet") == 1


def test_a_reader_that_is_gone_ends_it(tmp_path):
    (tmp_path / "data").mkdir()
    cells = "print('x')\n" * 2 + "open('/mnt/data/ran', 'w').close()\n"
    done = piped(cells, "-m", f"{tmp_path}/data:data:rw", "--isolation", "namespaces",
                 before=["bash", "-c", '"$@" | true; exit ${PIPESTATUS[0]}', "bash"])
    assert done.returncode == 128 + signal.SIGPIPE and not (tmp_path / "data/ran").exists()


def test_interrupt_keeps_what_the_cell_did(terminal):
    terminal.types("import time\n")
    terminal.shows(">>> ")
    terminal.types("x = 1; print('u' + 'p'); time.sleep(60)\n")
    terminal.shows("up")
    terminal.types("\x03")
    terminal.shows("KeyboardInterrupt")
    terminal.shows(">>> ")
    terminal.types("x + 41\n")
    terminal.shows("42")


def test_a_second_interrupt_kills(terminal):
    terminal.types("x = 1\n")
    terminal.shows(">>> ")
    terminal.types("import signal; signal.signal(2, signal.SIG_IGN); x = 2; print('u' + 'p')\n")
    terminal.shows("up")
    terminal.shows(">>> ")
    terminal.types("x = 3; print('u' + 'p')\n")
    terminal.shows("up")
    terminal.shows(">>> ")
    terminal.types("x = 4\n")
    terminal.shows(">>> ")
    terminal.types("while True:\n  if x == 4: print('u' + 'p'); x = 5\n\n")
    terminal.shows("up")
    terminal.types("\x03")
    time.sleep(0.2)
    terminal.types("\x03")
    terminal.shows("was killed")
    terminal.shows(">>> ")
    terminal.types("x * 10\n")
    terminal.shows("40")


def test_interrupt_at_the_prompt_forgets_the_line(terminal):
    terminal.types("for i in 'abc':\n")
    terminal.shows("... ")
    terminal.types("  nonsense")
    terminal.types("\x03")
    terminal.shows(">>> ")
    terminal.types("40 + 2\n")
    terminal.shows("42")
    terminal.shows(">>> ")


def test_editing_and_history(tmp_path):
    env = {"XDG_STATE_HOME": str(tmp_path)}
    with Terminal("repl", "--python", PYTHON, env=env, on_terminal=ON) as t:
        t.shows(">>> ")
        t.types("'w\u00f6rt' + 'x'\x7f\x7fz'\n")
        t.shows("w\u00f6rtz")
        t.shows(">>> ")
        t.types("\x1b[A\n")  # up: the line again
        t.shows("w\u00f6rtz")
        t.shows(">>> ")
        t.types("\x04")
        assert t.process.wait(20) == 0
    with Terminal("repl", "--python", PYTHON, env=env, on_terminal=ON) as t:
        t.shows(">>> ")
        t.types("\x1b[A\n")
        t.shows("w\u00f6rtz")
    assert (tmp_path / "glovebox/repl_history").exists()


def test_without_the_module_lines_are_read_as_they_come(tmp_path):
    """Nothing but editing is lost."""
    (tmp_path / "home").mkdir()
    with Terminal("repl", "--python", PYTHON, env={"HOME": str(tmp_path / "home"), "TERM": "dumb"},
                  on_terminal=ON) as t:
        t.shows(">>> ")
        t.types("6 * 7\n")
        t.shows("42")


def test_ends_with_its_terminal():
    with running("repl", "--python", PYTHON, stdin=-1) as process:
        process.stdin.write("print('up', flush=True)\n")
        process.stdin.flush()
        assert process.stdout.readline() == "up\n"
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM


def test_what_runs_have_cells_have(tmp_path):
    """Tools, mounts, what is displayed; a thing that displays itself is not echoed as well."""
    (tmp_path / "a").write_text("mounted")
    done = piped("class T:\n    def _repr_html_(self): return '<b>1</b>'\n    def __repr__(self): return 'a T'\n\n"
                 "T()\ndisplay('x')\ntwice(n=4)['n']\nimport os\n"
                 "open(os.environ['GLOVEBOX_MNT'] + '/d/a').read()\n",
                 "--tool", "twice=cat", "-m", f"{tmp_path}:d")
    assert (done.stdout, done.stderr, done.returncode) == ("a T\n'x'\n4\n'mounted'\n", "", 0)
