"""Hostile programs in a box: each must be held, and the host must be as it was."""

import pytest

import harness
from host import user_names

PROGRAMS = harness.programs()
CASES = [
    pytest.param(user, level, program, variant, id="-".join(filter(None, (user, level, program.name, variant))))
    for user in user_names()
    for level in harness.LEVELS
    for program in PROGRAMS
    for variant in program.variants
    if level in program.levels and program.can_run_as(user, level)
]


@pytest.mark.parametrize(("user", "level", "program", "variant"), CASES)
def test_held(hosts, user, level, program, variant):
    host = hosts(user)
    for _time in range(program.repeat):
        outcome = host.attack(program, level, variant)
        wrong = harness.judge(program, level, outcome, host.secret)
        if wrong:
            pytest.fail("\n".join(wrong), pytrace=False)


def test_there_are_enough_of_them():
    assert len(PROGRAMS) >= 75
    assert len({it.path.parent for it in PROGRAMS}) == 9
