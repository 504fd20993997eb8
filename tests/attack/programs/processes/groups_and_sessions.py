"""Join the caller's session and process group, or take over its terminal's foreground.

levels: namespaces landlock
tty: yes
control: yes
"""


def joins(group):
    os.setpgid(0, group)
    return os.getpgrp() == group


for pid in {os.getppid(), canary["pid"], 1} - {0, os.getpid()}:
    attempt(f"joined the group of {pid}", in_child, lambda pid=pid: joins(os.getpgid(pid)) and pid == canary["pid"])
    attempt(f"moved {pid} to our group", lambda pid=pid: os.setpgid(pid, os.getpgrp()) is None)
for fd in range(64):
    attempt(f"took the foreground by {fd}", lambda fd=fd: os.tcgetpgrp(fd) and os.tcsetpgrp(fd, os.getpgrp()) is None)
verdict()
