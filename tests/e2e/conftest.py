import pytest

import box

box.adopt_orphans()


@pytest.fixture(autouse=True)
def leaves_no_process():
    """Whatever a test does, when it is over no process of it is alive."""
    yield
    assert box.nothing_left() == {}


@pytest.fixture
def without():
    """The words that run a command as if the kernel lacked these features."""
    return lambda *features: [str(box.ROOT / "tests/without"), ",".join(features), "--"]


@pytest.fixture(scope="session")
def library_program(tmp_path_factory):
    """library.c, built."""
    target = tmp_path_factory.mktemp("library") / "library"
    return box.compile_c(box.ROOT / "tests/e2e/library.c", target)
