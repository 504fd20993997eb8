"""The corpora are what they say: run in a box with no policy, a bypass reaches what it is after, and
an ordinary program works."""
import pytest
from box import batch
from checker import INTERPRETER, VERSION
from corpus import bypass, ordinary

PROVE = """
import builtins, importlib, os, subprocess, sys, types

def named(path):
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        for part in parts[n:]:
            found = builtins.getattr(found, part)
        return found

bool({proof})
"""


def results(programs, code_of, *options):
    programs = [p for p in programs if p.runs_on(VERSION)]
    answers = batch([code_of(p) for p in programs], "-j", 4, "--python", INTERPRETER, *options)
    return {p.name: answer for p, answer in zip(programs, answers)}


def names(programs):
    return [p.name for p in programs if p.runs_on(VERSION)]


@pytest.fixture(scope="module")
def reached():
    return results(bypass(), lambda p: p.text + PROVE.format(
        proof=p.proof or f"REACHED is named({p.reaches!r})"), "--policy", "off")


@pytest.fixture(scope="module")
def worked():
    return results(ordinary(), lambda p: p.text, "--policy", "off")


@pytest.mark.parametrize("name", names(bypass()))
def test_bypass_reaches(name, reached):
    result = reached[name]
    assert (result["status"], result["value"]) == ("ok", True), result["error"] or result


@pytest.mark.parametrize("name", names(ordinary()))
def test_ordinary_works(name, worked):
    result = worked[name]
    assert (result["status"], result["exit_code"], result["stderr"]) == ("ok", 0, ""), \
        result["error"] or result
