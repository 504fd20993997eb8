import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))

import box  # noqa: E402

box.adopt_orphans()


@pytest.fixture(scope="session", autouse=True)
def leaves_no_process():
    """When the suite is over, no process of it is alive."""
    yield
    import checker

    checker.stop()
    assert box.nothing_left() == {}
