"""Every attack is made on every level, by root and by an ordinary user. Nothing here is ever skipped."""

import harness
import pytest


def pytest_configure():
    harness.adopt_orphans()


@pytest.fixture(scope="session")
def hosts():
    """The host as a user has it; planted once for each user."""
    made = {}

    def of(user):
        if user not in made:
            made[user] = harness.Host(user)
        return made[user]

    yield of
    for host in made.values():
        host.close()
