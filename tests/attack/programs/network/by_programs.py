"""Use the network through other programs, in case only the interpreter is held.

levels: namespaces landlock
control: yes
"""

import subprocess

PORT = canary["ports"]["tcp4"]
COMMANDS = {
    "bash": ["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{PORT} && echo out"],
    "python": ["python3", "-Ic", f"import socket; socket.create_connection(('127.0.0.1', {PORT}), 1); print('out')"],
    "perl": ["perl", "-MIO::Socket::INET", "-e", f"print 'out' if IO::Socket::INET->new('127.0.0.1:{PORT}')"],
    "curl": ["sh", "-c", f"curl -s -m1 telnet://127.0.0.1:{PORT} < /dev/null; test $? = 0 && echo out"],
    "nc": ["sh", "-c", f"nc -z -w1 127.0.0.1 {PORT} && echo out"],
    "socat": ["sh", "-c", f"socat -u /dev/null TCP:127.0.0.1:{PORT} && echo out"],
    "loader": ["/lib64/ld-linux-x86-64.so.2", "/bin/bash", "-c", f": <>/dev/tcp/127.0.0.1/{PORT} && echo out"],
}
for name, command in COMMANDS.items():
    attempt(f"connected by {name}", lambda it=command: b"out" in subprocess.run(it, capture_output=True).stdout)
verdict()
