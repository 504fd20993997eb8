import signal
import subprocess

import pytest

import box
import lacking

box.adopt_orphans()
# A shell without job control has what it starts in the background ignore these, and so would what we
# start.
for number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler)


@pytest.fixture(autouse=True)
def leaves_no_process():
    """Whatever a test does, when it is over no process of it is alive."""
    yield
    assert box.nothing_left() == {}


@pytest.fixture(autouse=True, scope="session")
def leaves_no_scratch():
    """Nor, when all are over, a scratch directory that nobody uses. Tests that kill whoever would remove one have
    another TMPDIR."""
    before = box.scratches()
    yield
    assert box.until(lambda: not box.scratches() - before), box.scratches() - before


@pytest.fixture
def without():
    """The words that run a command as if the kernel lacked these features."""
    return lambda *features: [str(box.ROOT / "tests/without"), ",".join(features), "--"]


@pytest.fixture(scope="session")
def library_program(tmp_path_factory):
    """library.c, built."""
    target = tmp_path_factory.mktemp("library") / "library"
    return box.compile_c(box.ROOT / "tests/e2e/library.c", target)


@pytest.fixture(scope="session")
def certs(tmp_path_factory):
    """An authority and certificates by it: {name: (certificate, key)}."""
    folder = tmp_path_factory.mktemp("certs")

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], cwd=folder, check=True, capture_output=True)

    def authority(name):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", 30,
                "-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE")

    def server(name, by, names, *dates):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (folder / f"{name}.ext").write_text(f"subjectAltName={names}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.pem", "-CAkey", f"{by}.key",
                "-CAcreateserial", "-out", f"{name}.pem", "-extfile", f"{name}.ext",
                *(dates or ("-days", 30)))

    authority("authority")
    authority("stranger")
    server("good", "authority", "IP:127.0.0.1,DNS:localhost")
    server("other_host", "authority", "DNS:reviewer.example,IP:127.0.0.2")
    server("by_stranger", "stranger", "IP:127.0.0.1,DNS:localhost")
    server("expired", "authority", "IP:127.0.0.1", "-days", -1)
    return {file.stem: (file, file.with_suffix(".key")) for file in folder.glob("*.pem")}


# ---- what this host lacks ----

def pytest_configure(config):
    config.addinivalue_line("markers", "needs(name): left out where the host lacks it (lacking.py)")


def pytest_collection_modifyitems(config, items):
    def is_lacking(item):
        return any(lacking.why(it.args[0]) for it in item.iter_markers("needs"))

    out = [it for it in items if is_lacking(it)]
    items[:] = [it for it in items if it not in out]
    config.hook.pytest_deselected(items=out)


def pytest_terminal_summary(terminalreporter):
    """Also where others have collected for us (xdist)."""
    chosen = [str(it) for it in terminalreporter.config.args]
    if any("test_cgroup" in it or not it.partition("::")[0].endswith(".py") for it in chosen):
        for name in lacking.THINGS:
            if lacking.why(name):
                terminalreporter.write_line(f"left out: what needs {name}: {lacking.why(name)}")
