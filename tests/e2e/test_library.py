"""libglovebox from C: as a program of the user's would use it."""
import re
import subprocess

import pytest
from box import BUILD, RESULT_KEYS, ROOT, compile_c, glovebox, run_program, told


def test_tour(library_program):
    said = told(run_program(library_program, "tour"))
    assert said["version"] == glovebox("--version").stdout.split()[1]
    for name in ("bad-config", "bad-key"):
        assert said[name]["type"] == "invalid" and set(said[name]) >= {"type", "message", "hint"}
    assert "nope" in said["bad-key"]["message"]

    assert set(said["run"]) >= RESULT_KEYS
    assert (said["run"]["id"], said["run"]["value"], said["run"]["stdout"]) == ("x", 42, "hi\n")
    assert said["other"]["value"] == "other"
    assert said["not-json"]["status"] == said["unknown-key"]["status"] == "failed"
    assert said["explain"] and said["doctor"]["ok"] is True

    assert said["before-step"] == 0, "never from inside gb_start"
    assert said["slow"]["status"] == "ok" and said["bytes"] == 1001
    assert said["fast"]["value"] == "fast" and said["bad"]["status"] == "failed"
    assert (said["woken"], said["polled"]) == (1, 1)
    assert said["cancelled"]["status"] == "cancelled" and said["cancelled"]["stdout"] == "up\n"
    assert said["left"]["status"] == "cancelled" and said["left-done"] == 1
    assert said["no-children"] == 1


def test_engines_that_end_early_leave_no_child(library_program):
    assert told(run_program(library_program, "early", "32"))["no-children"] == 1


def test_jobs_end_in_their_own_time(library_program):
    out = run_program(library_program, "tour").stdout
    assert out.index("\nfast ") < out.index("\nslow ")


@pytest.mark.parametrize("source", sorted((ROOT / "examples").glob("*.c")), ids=lambda p: p.name)
def test_example(source, tmp_path):
    done = run_program(compile_c(source, tmp_path / source.stem))
    assert done.returncode == 0 and done.stdout, done.stderr


def test_header_serves_cplusplus(tmp_path):
    (tmp_path / "a.cc").write_text('#include <glovebox.h>\nint main() { return !gb_version(); }\n')
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
                    f"-I{ROOT / 'include'}", tmp_path / "a.cc"], check=True)


def test_exports_are_those_of_the_header():
    header = (ROOT / "include/glovebox.h").read_text()
    declared = set(re.findall(r"^GB_API [^;(]*?\b(gb_\w+)\(", header, re.M))
    symbols = subprocess.check_output(["nm", "-D", "--defined-only", BUILD / "libglovebox.so"],
                                      text=True)
    exported = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    assert declared and {s for s in exported if not s.startswith("__")} == declared
