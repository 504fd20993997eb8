"""What not every host has. A test marked `needs("NAME")` is left out where NAME is lacking, and the reason is printed:
a test that is skipped counts as failed."""
import functools
import json
import os
import shutil
from pathlib import Path

from box import glovebox


def mounts(kind):
    """[(point, options)] of the mounts of this type."""
    lines = [it.split() for it in Path("/proc/mounts").read_text().splitlines()]
    return [(Path(it[1]), it[3].split(",")) for it in lines if it[2] == kind]


@functools.cache
def doctor_on_groups():
    none = {"ok": False, "used": False, "version": None, "cause": "doctor tells of none", "fix": None}
    return json.loads(glovebox("doctor", "--json").stdout).get("cgroup", none)


def root_of_v2():
    """The directory in which root may make groups with the controllers, or None."""
    for point, options in mounts("cgroup2"):
        given = (point / "cgroup.controllers").read_text().split()
        if os.getuid() == 0 and "rw" in options and {"memory", "pids"} <= set(given):
            return point
    return None


def cgroup():
    found = doctor_on_groups()
    return None if found["ok"] or root_of_v2() else f"{found['cause']}; fix: {found['fix']}"


def cgroup_v1():
    return None if doctor_on_groups()["version"] == "v1" else "the controllers are not on cgroup v1, or not ours"


def cgroup_v2():
    return None if root_of_v2() else "the memory and pids controllers are not on cgroup v2, or we are not root"


def scope():
    if not Path("/run/systemd/system").is_dir() or not shutil.which("systemd-run"):
        return "systemd does not run"
    if not Path("/proc/self/cgroup").read_text().startswith("0::"):
        return "the controllers are not on cgroup v2"
    return None if glovebox("--version", before=DELEGATE).returncode == 0 else "systemd gives this user no scope"


DELEGATE = ["systemd-run", *(() if os.getuid() == 0 else ("--user",)), "--scope", "--quiet", "-p", "Delegate=yes"]
THINGS = {"cgroup": cgroup, "cgroup v1": cgroup_v1, "cgroup v2": cgroup_v2, "a scope of systemd": scope}


@functools.cache
def why(name):
    """None where it is there."""
    return THINGS[name]()
