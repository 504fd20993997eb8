"""Make every system call that no ordinary program needs; none may get as far as the kernel's own answer.

levels: namespaces landlock
control: yes
"""

NAMES = """
acct add_key bpf chroot clock_settime delete_module fanotify_init fanotify_mark finit_module fsconfig fsmount fsopen
fspick init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl
listmount lookup_dcookie lsm_set_self_attr memfd_secret migrate_pages modify_ldt mount mount_setattr move_mount
move_pages name_to_handle_at nfsservctl open_by_handle_at open_tree open_tree_attr perf_event_open pidfd_getfd
pivot_root process_madvise process_mrelease process_vm_readv process_vm_writev quotactl quotactl_fd reboot request_key
set_mempolicy_home_node setdomainname sethostname setns settimeofday statmount swapoff swapon _sysctl sysfs syslog
umount2 uselib userfaultfd ustat vhangup
"""


def calls():
    for name in NAMES.split():
        yield name, 0, 0, 0, 0, 0, 0
        yield name, -1, -1, -1, -1, -1, -1
    for flags in (0x10000000, 0x20000, 0x80, 0x7E020000):
        yield "unshare", flags
    yield "ptrace", 16, canary["pid"], 0, 0


def sweep(todo, progress):
    """Make the calls, one byte of progress before and one after each that is not refused."""
    for call in todo:
        os.write(progress, b".")
        if reaches(*call, held=(errno.ESRCH,) if call[0] == "ptrace" else ()):
            os.write(progress, b"!")


todo = list(calls())
while todo:
    ours, theirs = os.pipe()
    in_child(sweep, todo, theirs)  # a call that kills its caller is held; the next child goes on after it
    os.close(theirs)
    made = os.read(ours, 4096).decode()
    os.close(ours)
    for at, answer in enumerate(made.split(".")[1:]):
        attempt(f"{todo[at][0]} reached the kernel", str, answer)
    todo = todo[made.count(".") :]
verdict()
