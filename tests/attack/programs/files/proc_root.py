"""Walk to the host's files through another process' root or working directory in /proc.

levels: namespaces landlock
control: yes
"""

import glob

roads = ["/proc/self/root/..", "/proc/thread-self/root", "/proc/1/root", "/proc/1/cwd/../../../.."]
roads += [f"/proc/{canary['pid']}/root", f"/proc/{canary['pid']}/cwd/../../../..", "/proc/self/cwd/../../../../.."]
roads += glob.glob("/proc/[0-9]*/root") + glob.glob("/proc/[0-9]*/cwd") + glob.glob("/proc/[0-9]*/task/*/root")
for road in roads:
    for path in canary["files"]:
        attempt(f"{road}{path}", lambda road=road, path=path: leaked(read(road + path)))
    attempt(f"{road} from the inside", in_child, lambda road=road: os.chdir(road) or leaked(read(canary["name"])))
verdict()
