"""No false refusal: under standard, every file of the interpreter's own library that parses is
accepted without an error. Under strict there is no such promise, but an answer."""
import subprocess
from pathlib import Path

import pytest
from checker import INTERPRETER, check, errors
from rules import STANDARD, STRICT

LIBRARY = Path(subprocess.check_output(
    [INTERPRETER, "-I", "-c", "import os; print(os.path.dirname(os.__file__))"], text=True).strip())
TOPS = sorted({p.relative_to(LIBRARY).parts[0] for p in LIBRARY.rglob("*.py")
               if "-packages" not in p.relative_to(LIBRARY).parts[0]})


def readable(top):
    """The files that are UTF-8; the interpreter's own tests have others."""
    place = LIBRARY / top
    for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        try:
            yield file, file.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            continue


def test_there_is_a_library():
    assert len(TOPS) > 150 and "json" in TOPS


@pytest.mark.parametrize("top", TOPS)
def test_accepted_under_standard(top):
    for file, text in readable(top):
        answer = check(text, STANDARD)
        if "raised" in answer:
            assert answer["raised"].partition(":")[0] in ("SyntaxError", "IndentationError", "TabError"), (file, answer)
            continue
        assert (answer["rejected"], errors(answer)) == (False, []), file


def test_answers_under_strict():
    """Most of it is refused, and in words; what is left says that strict knows the syntax."""
    refused = 0
    for top in TOPS[::10]:
        for file, text in readable(top):
            answer = check(text, STRICT)
            assert "raised" in answer or answer["rejected"] is bool(errors(answer)), file
            refused += answer.get("rejected", False)
            assert all(f["rule"] != "unknown-syntax" for f in answer.get("findings", ())), file
    assert refused > 10
