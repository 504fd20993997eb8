"""Open other processes' open files through /proc/PID/fd and /proc/PID/map_files.

levels: namespaces landlock
control: yes
"""

import glob
import stat


def steals(link):
    return stat.S_ISREG(os.stat(link).st_mode) and leaked(read(link))


for pid in ("1", "self", str(os.getppid()), str(canary["pid"]), "[0-9]*"):
    for kind in ("fd", "map_files", "task/*/fd"):
        for link in glob.glob(f"/proc/{pid}/{kind}/*"):
            attempt(f"opened {link}", steals, link)
    for link in glob.glob(f"/proc/{pid}/exe"):
        attempt(f"wrote {link}", lambda link=link: os.open(link, os.O_WRONLY) >= 0)
verdict()
