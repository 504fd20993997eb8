"""However the command is started, it uses its own files and nobody else's."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from box import GLOVEBOX

HERE = Path(GLOVEBOX).parent


def run(*argv, cwd, **options):
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=60, **options)
    return done.returncode, done.stdout, done.stderr


def decoys(folder):
    """What a hostile checkout could hold: files with the names that glovebox looks for."""
    mark = folder / "mark"
    for name in ("glovebox", "glovebox-init", "glovebox-fetch.so", "_glovebox.abi3.so"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (folder / name).chmod(0o755)
    return mark


def test_by_name(tmp_path):
    mark = decoys(tmp_path)
    env = dict(os.environ, PATH=f"{HERE}:{os.environ['PATH']}")
    assert run("glovebox", "run", "-c", "print(6 * 7)", cwd=tmp_path, env=env) == (0, "42\n", "")
    assert not mark.exists()


@pytest.mark.parametrize("name", ["glovebox", "", "foo/bar", "./glovebox", "/nowhere/glovebox"])
def test_by_any_other_name(name, tmp_path):
    mark = decoys(tmp_path)
    assert run(name, "run", "-c", "print(6 * 7)", cwd=tmp_path, executable=GLOVEBOX) == (0, "42\n", "")
    assert not mark.exists()


def test_through_a_link(tmp_path):
    (tmp_path / "gb").symlink_to(GLOVEBOX)
    assert run("./gb", "run", "-c", "print(6 * 7)", cwd=tmp_path) == (0, "42\n", "")


def test_alone_it_says_so(tmp_path):
    shutil.copy(GLOVEBOX, tmp_path / "glovebox")
    status, out, err = run("./glovebox", "run", "-c", "pass", cwd=tmp_path)
    assert (status, out) == (125, "")
    assert "_glovebox.abi3.so is not where glovebox is installed" in err
