"""Every attack is made on every level, by root and by an ordinary user. Nothing here is ever skipped."""

import pytest

import host


@pytest.fixture(scope="session")
def hosts():
    """The host as a user has it, by the user's name; planted once for each."""
    host.adopt_orphans()
    rooms = host.Rooms()
    made = {}

    def of(name):
        if name not in made:
            made[name] = host.Host(name, rooms)
        return made[name]

    yield of
    for it in made.values():
        it.close()
    rooms.close()
