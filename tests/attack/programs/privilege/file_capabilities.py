"""Make privileged programs: set-uid copies owned by root, files with capabilities; and use those there are.

levels: namespaces landlock
"""

import shutil
import struct
import subprocess

EVERYTHING = struct.pack("<5I", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)


def gives_to_root(path, mode):
    os.chown(path, 0, 0)
    os.chmod(path, mode)
    return b"euid=0" in subprocess.run([path], capture_output=True).stdout


for place in {os.getcwd(), os.environ.get("TMPDIR", "/tmp"), "/dev/shm", "/tmp"}:
    copy = f"{place}/gb-id"
    attempt("", lambda copy=copy: shutil.copy("/usr/bin/id", copy) is None)
    attempt(f"gave {copy} capabilities", lambda copy=copy: os.setxattr(copy, "security.capability", EVERYTHING) is None)
    for mode in (0o4755, 0o2755, 0o6755):
        attempt(f"made {copy} set-uid root", gives_to_root, copy, mode)
    attempt(f"marked {copy}", lambda copy=copy: os.setxattr(copy, "trusted.overlay.opaque", b"y") is None)
    attempt("", lambda copy=copy: os.unlink(copy) is not None)
verdict()
