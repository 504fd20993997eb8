"""The same programs with no box around them, by an ordinary user: the attacks must be real.

An attack that fails on an open host as well proves nothing about the box. Only programs that say
`control: yes` are tried: they are harmless. The host must be an open one: user namespaces allowed and
no sandbox around the suite itself.
"""

import pytest

import harness

PROGRAMS = [it for it in harness.programs() if it.control]
USER = harness.user_names()[-1]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda it: it.name)
def test_gets_out(hosts, program):
    outcome = hosts(USER).unprotected(program, program.variants[0])
    assert harness.got_out(outcome), (outcome.stdout, outcome.stderr)
