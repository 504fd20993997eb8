"""Thousands of runs: nothing of them is left, and the last costs what the first did."""
import json
import os
import subprocess
import sys
from pathlib import Path

from box import ENV, GLOVEBOX, ROOT, SANITIZED, descendants, run_program, running, told, until

sys.path.insert(0, str(ROOT / "bench"))
import agents  # noqa: E402

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


def test_ten_thousand_calls_beside_a_thousand_connections():
    """Over HTTP, ten at a time, while others have asked for something and say nothing more."""
    with agents.glovebox_web(GLOVEBOX, "/usr/bin/python3", {**ENV}, "--idle-timeout", "600",
                             "--max-connections", "2000") as web:
        idle = [web.connect() for _ in range(1000)]
        for s in idle:
            s.sendall(f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\n\r\n".encode())
            assert s.recv(65536).startswith(b"HTTP/1.1 200")
        web.flow(0, 10, 1000)

        def holds():
            return len(os.listdir(f"/proc/{web.process.pid}/fd")) if os.geteuid() == 0 else 0
        memory, files, processes = web.rss_kb(), holds(), len(descendants(web.process.pid))
        web.flow(0, 10, 9000)
        assert until(lambda: holds() <= files + 8)
        assert until(lambda: len(descendants(web.process.pid)) <= processes + 4)
        assert web.rss_kb() - memory < 2 << 10
        idle[0].sendall(web.request)
        assert idle[0].recv(65536).startswith(b"HTTP/1.1 200")
        for s in idle:
            s.close()
        assert until(lambda: holds() < files - 900) or os.geteuid() != 0


def test_load_that_others_make():
    """wrk, and the Inspector's load mode: no error, and no memory that grows."""
    done = subprocess.run([ROOT / "bench/load", "--seconds", "1", "--calls", "100", "--build", Path(GLOVEBOX).parent],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("wrk,") == 2 and done.stdout.count("Inspector,") == 4
