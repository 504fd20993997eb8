"""Open for writing what steers the kernel from /proc: core_pattern, modprobe, sysrq, id maps and others.

levels: namespaces landlock
"""

import glob

TARGETS = """
/proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/kernel/hotplug /proc/sys/kernel/panic
/proc/sys/kernel/sysrq /proc/sys/kernel/randomize_va_space /proc/sys/kernel/unprivileged_bpf_disabled
/proc/sys/kernel/yama/ptrace_scope /proc/sys/kernel/hostname /proc/sys/kernel/domainname /proc/sys/kernel/pid_max
/proc/sys/vm/drop_caches /proc/sys/vm/overcommit_memory /proc/sys/vm/panic_on_oom /proc/sys/vm/mmap_min_addr
/proc/sys/fs/binfmt_misc/register /proc/sys/fs/file-max /proc/sys/fs/suid_dumpable /proc/sys/user/max_user_namespaces
/proc/sysrq-trigger /proc/mtrr /proc/acpi/* /proc/bus/pci/*/* /proc/irq/*/smp_affinity /proc/scsi/scsi
/proc/sys/dev/tty/* /proc/sys/crypto/* /proc/timer_stats /proc/kcore /proc/latency_stats /proc/swaps
"""

for pattern in TARGETS.split():
    for path in glob.glob(pattern) or [pattern]:
        attempt(f"opened {path} for writing", lambda path=path: os.open(path, os.O_WRONLY) >= 0)


def rewrites_map(path):
    with open(path, "w") as out:
        out.write("0 0 4294967295\n")
    return True


for path in ("/proc/self/uid_map", "/proc/self/gid_map"):
    attempt(f"wrote {path}", rewrites_map, path)
verdict()
