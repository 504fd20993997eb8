"""Read the environment and the arguments of other processes, the engine's above all, from /proc.

levels: namespaces landlock
control: yes
"""

import glob

for pid in ("self", "thread-self", "1", str(os.getppid()), str(canary["pid"]), "[0-9]*", "self/task/*"):
    for kind in ("environ", "cmdline", "auxv", "stack", "syscall"):
        for path in glob.glob(f"/proc/{pid}/{kind}"):
            attempt(f"the secret is in {path}", lambda path=path: leaked(read(path)))
verdict()
