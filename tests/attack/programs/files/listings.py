"""Learn the names of the host's files by listing the directories in which they lie.

levels: namespaces landlock
control: yes
"""

import glob
import subprocess


def shows(names):
    return any("gb-canary" in name or "gb-attack" in name for name in names)


places = {os.path.dirname(it) for it in canary["files"]} | {"/tmp", "/var/tmp", "/run", "/dev/shm", "/var/lib"}
places |= {os.path.dirname(it) for it in places}
for place in places:
    attempt(f"listed {place}", lambda place=place: shows(os.listdir(place)))
    attempt(f"globbed {place}", lambda place=place: shows(glob.glob(f"{place}/*", include_hidden=True)))
    attempt(f"found {place}", lambda place=place: shows([subprocess.getoutput(f"ls -a {place}")]))
    attempt(f"opened {place}", lambda place=place: shows(os.listdir(os.open(place, os.O_RDONLY))))
verdict()
