"""Administer the machine: reboot, swap, accounting, quotas, terminals, file servers.

Every argument is one that the kernel refuses, should the call get that far.

levels: namespaces landlock
"""

forbidden("reboot", 0, 0, 0, 0)
forbidden("reboot", 0xFEE1DEAD, 0x28121969, 0x7FFFFFFF, 0)
forbidden("swapon", b"/no/such/file", 0)
forbidden("swapoff", b"/no/such/file")
forbidden("acct", b"/no/such/file")
forbidden("quotactl", 0x800007 << 8, b"/dev/no-such-device", 0, 0)
forbidden("quotactl_fd", -1, 0x80000700, 0, 0)
forbidden("lookup_dcookie", 0, 0, 0)
forbidden("nfsservctl", 0, 0, 0)
forbidden("uselib", b"/no/such/file")
forbidden("sysfs", 3, 0, 0)
forbidden("ustat", 0, 0)
forbidden("_sysctl", 0)
if os.getuid() != 0:
    forbidden("vhangup")
verdict()
