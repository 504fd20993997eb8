"""Watch whole file systems by fanotify, which an ordinary user may do since Linux 5.13.

levels: namespaces landlock
control: yes
"""

REPORT_FID, REPORT_DIR_FID, REPORT_NAME, CONTENT = 0x200, 0x400, 0x800, 0x4
for flags in (0, REPORT_FID, REPORT_FID | REPORT_DIR_FID | REPORT_NAME, CONTENT, 0x1 | 0x2 | REPORT_FID):
    forbidden("fanotify_init", flags, os.O_RDONLY)
for fd in (-1, 0, 3):
    forbidden("fanotify_mark", fd, 1, 0x20, -100, b"/")
verdict()
