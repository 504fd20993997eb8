"""What strict says to the corpora: no to every bypass, yes to everything ordinary."""
import ast

import pytest
from checker import VERSION, check, errors
from corpus import bypass, ordinary
from rules import STANDARD, STRICT

BYPASS, ORDINARY = bypass(), ordinary()


def here(programs):
    return [pytest.param(p, id=p.name) for p in programs if p.runs_on(VERSION)]


def test_enough_of_them():
    assert len(BYPASS) >= 150 and len(ORDINARY) >= 300
    for programs in (BYPASS, ORDINARY):
        assert len({p.name for p in programs}) == len(programs), "two of one name"
        assert len({p.text for p in programs}) == len(programs), "one program twice"


@pytest.mark.parametrize("program", here(BYPASS))
def test_bypass_is_refused(program):
    """Each finding is in words and has its place."""
    answer = check(program.text, STRICT)
    assert answer["rejected"] is True, program.text
    found = errors(answer)
    assert found and all(f["rule"] != "syntax" for f in found), found
    lines = program.text.splitlines()
    for finding in found:
        assert finding["rule"] and finding["message"] and finding["remedy"], finding
        assert 1 <= finding["line"] <= len(lines), finding
        assert 1 <= finding["column"] <= len(lines[finding["line"] - 1]), finding


@pytest.mark.parametrize("program", here(BYPASS))
def test_bypass_is_nothing_to_standard(program):
    """Patterns may warn; only the operator's own lists refuse."""
    answer = check(program.text, STANDARD)
    assert answer["rejected"] is False and errors(answer) == [], answer


@pytest.mark.parametrize("program", here(ORDINARY))
def test_ordinary_is_accepted(program):
    ast.parse(program.text)
    answer = check(program.text, STRICT)
    assert (answer["rejected"], errors(answer)) == (False, []), program.text
