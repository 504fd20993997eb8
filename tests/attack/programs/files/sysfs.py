"""Steer devices, power and control groups through /sys; make a control group to leave the limits.

levels: namespaces landlock
"""

import itertools

SPECIAL = """
/sys/kernel/uevent_helper /sys/power/state /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/kexec_crash_size
/sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/cgroup.subtree_control /sys/fs/cgroup/release_agent
/sys/fs/cgroup/memory/release_agent /sys/fs/cgroup/unified/cgroup.procs /sys/fs/cgroup/memory.max
/sys/fs/selinux/load /sys/kernel/security/apparmor/.load /sys/firmware/efi/vars
"""

for path in SPECIAL.split():
    attempt(f"opened {path} for writing", lambda path=path: os.open(path, os.O_WRONLY) >= 0)
for place in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"):
    attempt(f"made a group in {place}", lambda place=place: os.mkdir(f"{place}/gb-planted") is None)
for place, _folders, names in itertools.islice(os.walk("/sys"), 300):
    for name in names:
        attempt(f"opened {place}/{name}", lambda it=f"{place}/{name}": os.open(it, os.O_WRONLY) >= 0)
verdict()
