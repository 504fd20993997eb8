"""Run set-uid and set-gid programs, with and without a preloaded library, and see whose rights they have.

levels: namespaces landlock
control: yes
"""

import glob
import stat
import subprocess

ENVIRONMENTS = (
    {},
    {"LD_PRELOAD": "libc.so.6"},
    {"LD_LIBRARY_PATH": os.getcwd()},
    {"GLIBC_TUNABLES": "glibc.malloc.check=1"},
)


def effective(command, environment):
    """Whether a waiting child got another user or group than ours."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    child = subprocess.Popen(command, env={**os.environ, **environment}, **pipes)
    try:
        lines = read(f"/proc/{child.pid}/status").decode().splitlines()
        ids = {it for line in lines if line.startswith(("Uid", "Gid")) for it in line.split()[1:]}
    finally:
        child.kill()
        child.communicate()
    return bool(ids - {str(os.getuid()), str(os.getgid())})


def reads_shadow(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode == 0 and ("20" in done.stdout or " L " in done.stdout or "never" in done.stdout)


programs = [it for it in glob.glob("/usr/bin/*") + glob.glob("/usr/sbin/*") if os.path.isfile(it)]
marked = [it for it in programs if os.stat(it).st_mode & (stat.S_ISUID | stat.S_ISGID)]
for program in {"/usr/bin/su", "/usr/bin/passwd", "/usr/bin/chsh", "/usr/bin/newgrp"} & set(marked):
    for extra in ENVIRONMENTS:
        attempt(f"{program} {extra}", effective, [program], extra)
for command in (
    ["passwd", "-S"],
    ["chage", "-l", "root"],
    ["chage", "-l", "gbtest"],
    ["sudo", "-n", "id"],
    ["pkexec", "id"],
):
    attempt(" ".join(command), reads_shadow, command)
attempt("mount", lambda: subprocess.run(["mount", "-t", "tmpfs", "t", "."], capture_output=True).returncode == 0)
verdict()
