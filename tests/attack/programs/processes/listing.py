"""See which processes the host runs: in /proc, by ps, by asking for each number.

levels: namespaces landlock
control: yes
"""

import subprocess


def shows(path):
    return b"canary.py" in read(path)


for pid in range(1, 40000) if os.path.exists("/proc/self") else ():
    attempt(f"process {pid}", shows, f"/proc/{pid}/cmdline")
attempt("ps", lambda: b"canary.py" in subprocess.run(["ps", "-ewwo", "args"], capture_output=True).stdout)
if canary["level"] == "namespaces":
    attempt("the host's process is there", os.path.exists, f"/proc/{canary['pid']}/stat")
    attempt("the host's process has a session", lambda: os.getsid(canary["pid"]) >= 0)
    attempt("there are too many processes", lambda: sum(it.isdigit() for it in os.listdir("/proc")) > 10)
verdict()
