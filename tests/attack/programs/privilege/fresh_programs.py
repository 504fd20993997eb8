"""Start fresh programs from inside: everything that holds this process must hold them as well.

levels: namespaces landlock
control: yes
"""

import json
import subprocess

CODE = """
import ctypes, json, os, socket, sys
told = json.loads(sys.argv[1])
def out(what, road):
    try:
        if road(): print("out:", what)
    except OSError: pass
libc = ctypes.CDLL(None, use_errno=True)
for path in told["files"]:
    out(path, lambda: open(path).read())
out("connect", lambda: socket.create_connection(("127.0.0.1", told["ports"]["tcp4"]), .3))
out("unix", lambda: socket.socket(socket.AF_UNIX).connect(told["unix"][0]) is None)
out("kill", lambda: os.kill(told["pid"], 0) is None)
out("unshare", lambda: libc.unshare(0x10000000) == 0)
out("privileges", lambda: libc.prctl(39, 0, 0, 0, 0) != 1)
out("secret", lambda: "GB_CANARY_SECRET" in os.environ)
out("filter", lambda: libc.prctl(21, 0, 0, 0, 0) != 2)
"""
told = json.dumps(canary)


def says_out(command, **how):
    return b"out:" in subprocess.run(command, capture_output=True, **how).stdout


python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
COMMANDS = {
    "exec": [python, "-I", "-c", CODE, told],
    "shell": ["sh", "-c", 'exec "$0" -I -c "$1" "$2"', python, CODE, told],
    "setsid": ["setsid", python, "-I", "-c", CODE, told],
    "loader": ["/lib64/ld-linux-x86-64.so.2", python, "-I", "-c", CODE, told],
}
for name, command in COMMANDS.items():
    attempt(f"got out by {name}", says_out, command)
attempt("got out without an environment", lambda: says_out(COMMANDS["exec"], env={}))
attempt("got out in a new session", lambda: says_out(COMMANDS["exec"], start_new_session=True))
verdict()
