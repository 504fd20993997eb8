"""Send requests on every inherited socket without end and never read an answer.

levels: namespaces landlock
options: -t 2
within: 5
expect: ok | error | crashed | timeout
"""

import socket
import stat
import time

REQUESTS = (b'{"tool": "x", "args": {}}\n', b"\0" * 64, b"x" * 65536, b'{"jsonrpc": "2.0", "id": 1, "method": "x"}\n')
end = time.monotonic() + 1
sockets = []
for fd in range(3, 256):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            sockets.append(socket.socket(fileno=os.dup(fd)))
    except OSError:
        continue
while sockets and time.monotonic() < end:
    for it in sockets:
        for request in REQUESTS:
            attempt("", lambda it=it, data=request: it.send(data * 16, socket.MSG_DONTWAIT) < 0)
verdict()
finish(0)
