"""`run --explain`: the plan, as data, and nothing is run."""
import json

import pytest
from box import PYTHON, glovebox


def explain(*args, **kwargs):
    done = glovebox("run", "--explain", "--python", PYTHON, *args, **kwargs)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def test_plan_names_what_will_be_done():
    plan = explain("-c", "print('ran')")
    text = json.dumps(plan)
    assert isinstance(plan, dict) and "namespaces" in text and "ran" not in plan.values()
    for word in ("/usr", "/proc", "/tmp", "seccomp", "landlock"):
        assert word in text, word


def test_nothing_runs(tmp_path):
    mark = tmp_path / "mark"
    explain("--isolation", "process", "--acknowledge-unsafe", "-c", f"open({str(mark)!r}, 'w')")
    assert not mark.exists()


def test_the_program_need_not_be_given():
    explain()


@pytest.mark.parametrize("options, number", [
    (("--memory", "96M"), 96 << 20), (("--disk", "7M"), 7 << 20), (("--processes", "13"), 13),
    (("--open-files", "77"), 77), (("--timeout", "12.5"), 12.5),
])
def test_limits_are_in_the_plan(options, number):
    numbers = set()

    def walk(node):
        if isinstance(node, (dict, list)):
            for child in node.values() if isinstance(node, dict) else node:
                walk(child)
        else:
            numbers.add(node)

    walk(explain(*options, "-c", "1"))
    assert {number, number * 1000, str(number)} & numbers


def test_plan_of_a_weaker_host(without):
    strong, weak = explain("-c", "1"), explain("-c", "1", before=without("userns"))
    assert strong != weak and "landlock" in json.dumps(weak)


def test_what_cannot_be_planned_is_refused(without):
    done = glovebox("run", "--explain", "-c", "1", before=without("namespaces", "landlock"))
    assert (done.returncode, done.stdout) == (125, "") and done.stderr.startswith("glovebox: this kernel offers Landlock ABI 0")
