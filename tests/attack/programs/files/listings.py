"""Learn the names of the host's files by listing the directories in which they lie.

levels: namespaces landlock
control: yes
"""

import glob
import subprocess


def shows(names):
    return any("gb-canary" in name or "gb-attack" in name for name in names)


def by_program(place):
    return subprocess.run(["ls", "-a", place], capture_output=True, text=True).stdout


places = {os.path.dirname(it) for it in canary["files"]} | {"/tmp", "/var/tmp", "/run", "/dev/shm", "/var/lib"}
places |= {os.path.dirname(it) for it in places}
for place in places:
    attempt(f"listed {place}", lambda place=place: shows(os.listdir(place)))
    attempt(f"globbed {place}", lambda place=place: shows(glob.glob(f"{place}/*", include_hidden=True)))
    attempt(f"listed {place} by a program", lambda place=place: shows([by_program(place)]))
    attempt(f"opened {place}", lambda place=place: shows(os.listdir(os.open(place, os.O_RDONLY))))
verdict()
