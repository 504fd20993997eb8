"""Ctrl-C and friends: the box ends with the one who asked for it, whatever it does."""
import json
import os
import signal
import subprocess
import time

import pytest
from box import ENV, GLOVEBOX, running

READY = "print('ready', flush=True)\n"
PROGRAMS = {
    "sleep": "import time\ntime.sleep(60)",
    "spin": "while True: pass",
    "deaf": "import signal, time\n"
            "for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\nwhile True: time.sleep(60)",
    "family": "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n"
              "        time.sleep(60)\ntime.sleep(60)",
    "stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
}


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("sig, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143),
                                         (signal.SIGHUP, 129), (signal.SIGKILL, -9)])
def test_signal(sig, status, program, level):
    with running("run", "--isolation", level, "-c", READY + PROGRAMS[program]) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(sig)
        assert process.wait(10) == status
    # and conftest.py looks for processes that are left


@pytest.mark.parametrize("sig, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_json_result(sig, status):
    """With --json there is nothing to read before the end, so wait for the guest to be there."""
    code = "import time\nprint('kept', flush=True)\ntime.sleep(60)"
    with running("run", "--json", "-c", code) as process:
        time.sleep(1.5)
        process.send_signal(sig)
        out, _ = process.communicate(timeout=10)
    result = json.loads(out)
    assert process.returncode == status == result["exit_code"]
    assert (result["status"], result["stdout"]) == ("cancelled", "kept\n")


def test_ctrl_c_reaches_the_whole_terminal_group_at_once():
    """A terminal signals every process of its group: the guest must not see it first."""
    with running("run", "--json", "-c", "import time\ntime.sleep(60)") as process:
        time.sleep(1.5)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert json.loads(out)["status"] == "cancelled" and "KeyboardInterrupt" not in out + err


def test_signal_while_the_program_is_read():
    with running("run", "-", stdin=subprocess.PIPE) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 143


def test_twice_is_at_once():
    with running("run", "-c", READY + PROGRAMS["deaf"]) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


def test_reader_goes_away():
    done = subprocess.run(["bash", "-c", 'set -o pipefail; "$@" | head -n 1', "bash", GLOVEBOX, "run",
                           "-c", "while True: print('x' * 99)"],
                          env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (141, "x" * 99 + "\n", "")


def test_background():
    """nohup and shells without job control start programs with SIGINT ignored; it stays so."""
    with running("run", "-c", READY + "import time\ntime.sleep(1)\nprint('over')",
                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "over\n" and process.wait(10) == 0
