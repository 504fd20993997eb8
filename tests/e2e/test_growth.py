"""Two thousand runs: nothing of them is left, and the last costs what the first did."""
import json
import os
from pathlib import Path

from box import ENV, SANITIZED, descendants, run_program, running, told, until

RUNS = 2000
# Every tenth leaves something about, or ends badly: that is when things get lost.
CODES = ["print('x' * 1000)\n1"] * 10
CODES[3] = "import subprocess\nsubprocess.Popen(['sleep', '60'])\nopen('left', 'w').write('x')"
CODES[5] = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
CODES[7] = "import tempfile\ntempfile.mkdtemp()\n1/0"


def traces(tmp):
    """What a run could leave on the host."""
    files = {str(p) for p in tmp.iterdir()}
    files |= {str(p) for top in ("/tmp", "/dev/shm", "/run") for p in Path(top).glob("*glovebox*")
              if not p.name.startswith("glovebox-test.")}
    mounts = Path("/proc/self/mountinfo").read_text().count("\n")
    own = Path("/proc/self/cgroup").read_text().splitlines()[-1].split(":")[2]
    cgroups = sum(len(dirs) for _, dirs, _ in os.walk(f"/sys/fs/cgroup{own}"))
    return files, mounts, cgroups


def rss_kb(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def test_batch_leaves_nothing(tmp_path):
    before = traces(tmp_path)
    with running("batch", "-j", "2", "-", stdin=-1, env={**ENV, "TMPDIR": str(tmp_path)}) as process:
        def feed(count):
            for at in range(0, count, 10):
                process.stdin.write("".join(json.dumps({"code": code}) + "\n" for code in CODES))
                process.stdin.flush()
                for _ in range(10):
                    status = json.loads(process.stdout.readline())["status"]
                    assert status in ("ok", "crashed", "error")

        feed(RUNS // 10)
        processes, memory = len(descendants(process.pid)), rss_kb(process.pid)
        feed(RUNS - RUNS // 10)
        # Boxes that wait for the next request are processes too, and come and go a little.
        assert until(lambda: len(descendants(process.pid)) <= processes + 4)
        assert rss_kb(process.pid) - memory < (64 << 10 if SANITIZED else 4 << 10)
        process.stdin.close()
        assert process.wait(20) == 0
    assert until(lambda: traces(tmp_path) == before), (before, traces(tmp_path))


def test_library_does_not_grow(library_program):
    done = run_program(library_program, "growth", str(RUNS), timeout=300)
    early, late = [json.loads(line[3:]) for line in done.stdout.splitlines() if line[:3] == "at "]
    said = told(done)
    assert (said["failures"], said["no-children"]) == (0, 1)
    assert early["waiting"] == late["waiting"] and early["descriptors"] == late["descriptors"]
    assert late["kb"] - early["kb"] < (64 << 10 if SANITIZED else 4 << 10)
