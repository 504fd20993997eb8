"""Load code into the kernel, or another kernel: modules and kexec. The arguments could not do harm.

levels: namespaces landlock
"""

forbidden("init_module", b"", 0, b"")
forbidden("finit_module", -1, b"", 0)
forbidden("finit_module", os.open("/usr", os.O_RDONLY), b"", 0)
forbidden("delete_module", b"gb-no-such-module", os.O_NONBLOCK)
forbidden("kexec_load", 0, 0, 0, 0)
forbidden("kexec_load", 0, 1, 0, 0xFFFF)
forbidden("kexec_file_load", -1, -1, 0, 0, 0)
for path in ("/sbin/modprobe", "/usr/bin/kmod", "/sbin/insmod"):
    command = [path, "-n", "gb-no-such-module"]
    attempt(f"{path} works", in_child, lambda it=command: os.spawnv(os.P_WAIT, it[0], it) == 0)
verdict()
