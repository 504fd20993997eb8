"""Find the caller's secrets in the environment, one's own and that of programs started from here.

levels: namespaces landlock
control: yes
"""

import ctypes
import subprocess

NAMES = ("GB_CANARY_SECRET", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "USER")
libc = ctypes.CDLL(None)
libc.getenv.restype = libc.secure_getenv.restype = ctypes.c_char_p
for name in NAMES:
    attempt(f"os.environ has {name}", lambda name=name: name in os.environ)
    attempt(f"getenv has {name}", libc.getenv, name.encode())
    attempt(f"secure_getenv has {name}", libc.secure_getenv, name.encode())
    attempt(f"a child has {name}", lambda name=name: subprocess.run(["printenv", name], capture_output=True).stdout)
attempt("a value leaks", lambda: leaked(" ".join(os.environ.values())))
attempt("an argument leaks", lambda: leaked(" ".join([*sys.argv, *sys.orig_argv])))
verdict()
