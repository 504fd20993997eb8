"""`glovebox doctor`: what this host allows, what is missing, why, what would fix it."""
import json
import os

import pytest
from box import PYTHON, glovebox


def doctor(*args, **kwargs):
    done = glovebox("doctor", "--json", *args, **kwargs)
    report = json.loads(done.stdout)
    assert done.returncode == (0 if report["ok"] else 125) and done.stderr == ""
    return report


def test_report():
    report = doctor("--python", PYTHON)
    assert (report["ok"], report["level"], report["uid"]) == (True, "namespaces", os.getuid())
    assert report["version"] and os.uname().release in report["kernel"]
    assert report["python"]["executable"].startswith("/usr/bin/python3")
    assert report["python"]["version"].startswith("3.")
    names = {layer["name"] for layer in report["layers"]}
    assert {"user", "mount", "pid", "net", "seccomp", "landlock"} <= names
    assert all(layer["ok"] for layer in report["layers"] if layer["name"] in ("user", "seccomp"))


def test_who_hears_of_crashes():
    """A handler that is a socket is called whatever the limit on cores: one should know."""
    with open("/proc/sys/kernel/core_pattern") as file:
        pattern = file.read().strip()
    cores = doctor()["cores"]
    assert (cores["detail"], cores["ok"]) == (pattern, not pattern.startswith("@"))
    assert bool(cores["cause"]) != cores["ok"]


def test_self_test_holds():
    tests = doctor()["self_test"]
    assert len(tests) >= 5 and all(test["held"] for test in tests), tests
    assert len({test["name"] for test in tests}) == len(tests)


def test_for_people():
    done = glovebox("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Ready: boxes on this host are held at the level 'namespaces'." in done.stdout
    assert "\x1b" not in done.stdout, "no colours in a pipe"


@pytest.mark.parametrize("missing, level, layer", [
    (["userns"], "landlock", "user"), (["namespaces"], "landlock", "user"),
])
def test_a_host_that_lacks_something(without, missing, level, layer):
    report = doctor(before=without(*missing))
    assert (report["ok"], report["level"]) == (True, level)
    lacking, = [x for x in report["layers"] if x["name"] == layer]
    assert lacking["ok"] is False and lacking["cause"]
    assert all(test["held"] for test in report["self_test"])


@pytest.mark.parametrize("missing", [("landlock",), ("namespaces", "landlock")])
def test_a_host_that_lacks_too_much(without, missing):
    report = doctor(before=without(*missing))
    assert report["ok"] is False and not report["level"]
    assert all(layer["ok"] or layer["cause"] for layer in report["layers"])
    done = glovebox("doctor", before=without(*missing))
    assert done.returncode == 125 and "Not ready" in done.stdout and "cause:" in done.stdout


def test_no_interpreter():
    report = doctor("--python", "/no/such/python3")
    assert report["ok"] is False
    assert "/no/such/python3" in json.dumps(report)
