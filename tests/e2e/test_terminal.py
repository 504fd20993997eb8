"""What programs can say to a person's terminal, on a real one."""
import pytest
from box import Terminal, glovebox

ESC = "chr(27)"
# A query whose answer a shell would get to execute, a title, the clipboard, a mode; and a colour.
SAYS = (f"import sys\nprint('a' + {ESC} + '[6n' + {ESC} + ']0;title' + chr(7) + {ESC} + ']52;c;bHM=' + {ESC} + "
        f"'\\\\' + {ESC} + '[?1049h' + {ESC} + '[31mred' + {ESC} + '[0m')\n")
FORBIDDEN = ("\x1b[6n", "title", "\x1b]", "\x1b[?", "bHM=")
ON = ("stdin", "stdout", "stderr")


@pytest.mark.parametrize("code", [
    SAYS, SAYS.replace("print(", "sys.stderr.write("), f"raise Exception({ESC} + '[6n' + {ESC} + '[31mred')",
    f"class A:\n    def __repr__(self): return 'a' + {ESC} + '[6n' + {ESC} + '[31mred'\ndisplay(A())",
], ids=["stdout", "stderr", "exception", "display"])
def test_only_text_and_colours_reach_a_terminal(code):
    with Terminal("run", "-c", code + "\n", on_terminal=ON) as t:
        shown = t.shows("\x1b[31mred")
        assert not [f for f in FORBIDDEN if f in shown]


def test_progress_bars_pass():
    with Terminal("run", "-c", "print('50%', end='\\r'); print(chr(27) + '[K100%' + chr(8) + '.')", on_terminal=ON) as t:
        assert t.shows("100%\b.").endswith("50%\r\x1b[K100%\b.")


def test_raw_passes_all():
    with Terminal("run", "--raw", "-c", SAYS, on_terminal=ON) as t:
        assert "\x1b[6n" in t.shows("\x1b[31mred")


def test_a_pipe_gets_all():
    assert "\x1b[6n" in glovebox("run", "-c", SAYS).stdout


@pytest.mark.parametrize("command", [["shell", "-c", r"printf 'a\033[6n\033[31mred\n'"],
                                     ["shell", "-c", r"printf 'a\033[6n\033[31mred\n' >&2"]])
def test_commands_too(command):
    with Terminal(*command, on_terminal=ON) as t:
        assert "\x1b[6n" not in t.shows("\x1b[31mred")


def test_the_repl_too():
    with Terminal("repl", on_terminal=ON) as t:
        t.shows(">>> ")
        t.types(f"print('x' + {ESC} + '[6n' + {ESC} + '[32mgreen')\r")
        assert "\x1b[6n" not in t.shows("\x1b[32mgreen")
