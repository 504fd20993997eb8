"""Every attack is made on every level, by root and by an ordinary user. Nothing here is ever skipped."""

import pytest

import harness


@pytest.fixture(scope="session")
def hosts():
    """The host as a user has it, by the user's name; planted once for each."""
    harness.adopt_orphans()
    made = {}

    def of(name):
        if name not in made:
            made[name] = harness.Host(name)
        return made[name]

    yield of
    for host in made.values():
        host.close()
