"""Hostile programs in a box: each must be held, and the host must be as it was."""

import harness
import pytest

PROGRAMS = harness.programs()
USERS = harness.users()
CASES = [
    pytest.param(user, level, program, variant, id="-".join(filter(None, (user.name, level, program.name, variant))))
    for user in USERS
    for level in harness.LEVELS
    for program in PROGRAMS
    for variant in program.variants
    if level in program.levels
]
CONTROLS = [pytest.param(it, variant, id=it.name) for it in PROGRAMS if it.control for variant in it.variants[:1]]


@pytest.mark.parametrize(("user", "level", "program", "variant"), CASES)
def test_held(hosts, user, level, program, variant):
    host = hosts(user)
    for _time in range(program.repeat):
        outcome = host.attack(program, level, variant)
        assert not harness.judge(program, level, outcome, host.secret)


@pytest.mark.parametrize(("program", "variant"), CONTROLS)
def test_attack_is_real(hosts, program, variant):
    """An attack that fails on an open host as well would prove nothing about the box."""
    outcome = hosts(USERS[-1]).unprotected(program, variant)
    assert harness.got_out(outcome), (outcome.stdout, outcome.stderr)


def test_there_are_enough_of_them():
    assert len(PROGRAMS) >= 75
    assert len({it.path.parent for it in PROGRAMS}) == 9
