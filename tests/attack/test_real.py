"""The same programs with no box around them: the attacks must be real.

An attack that fails on an open host as well proves nothing about the box. Only programs that say
`control: yes` are tried, by an account that has nothing else running, so there must be root's rights
to make it. The host must be an open one: user namespaces allowed, no sandbox around the suite itself.
"""

import os

import pytest

import harness

PROGRAMS = [it for it in harness.programs() if it.control]

if os.getuid() == 0:

    @pytest.mark.parametrize("program", PROGRAMS, ids=lambda it: it.name)
    def test_gets_out(hosts, program):
        outcome = hosts("gbtest").unprotected(program, program.variants[0])
        hosts("root").complaints()  # what an open host lets it do to others is no box's fault
        assert harness.got_out(outcome), (outcome.stdout, outcome.stderr)
