"""What strict says to the corpora: no to every bypass, yes to everything ordinary."""
import pytest
from checker import VERSION, check, errors
from corpus import bypass, ordinary
from rules import STANDARD, STRICT

BYPASS, ORDINARY = bypass(), ordinary()


loaded = pytest.mark.parametrize("loaded", [False, True], ids=["bare", "loaded"])


def here(programs):
    return [pytest.param(p, id=p.name) for p in programs if p.runs_on(VERSION)]


def test_enough_of_them():
    assert len(BYPASS) >= 150 and len(ORDINARY) >= 300
    for programs in (BYPASS, ORDINARY):
        assert len({p.name for p in programs}) == len(programs), "two of one name"
        assert len({p.text for p in programs}) == len(programs), "one program twice"


@loaded
@pytest.mark.parametrize("program", here(BYPASS))
def test_bypass_is_refused(program, loaded):
    """Each finding is in words and has its place."""
    answer = check(program.text, STRICT, loaded)
    assert answer["rejected"] is True, program.text
    found = errors(answer)
    assert found, answer
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


@loaded
@pytest.mark.parametrize("program", here(ORDINARY))
def test_ordinary_is_accepted(program, loaded):
    answer = check(program.text, STRICT, loaded)
    assert (answer["rejected"], errors(answer)) == (False, []), program.text
