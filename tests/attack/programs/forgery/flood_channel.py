"""Send requests on every way to the engine without end and never read an answer.

levels: namespaces landlock
options: -t 2
within: 5
expect: ok | error | crashed | timeout
"""

import time

REQUESTS = (b'{"tool": "x", "args": {}}\n', b"\0" * 64, b"x" * 65536, b'{"jsonrpc": "2.0", "id": 1, "method": "x"}\n')
end = time.monotonic() + 1
ways = ways_out()
for fd in ways:
    os.set_blocking(fd, False)
while ways and time.monotonic() < end:
    for fd in ways:
        for request in REQUESTS:
            attempt("", lambda fd=fd, data=request: os.write(fd, data * 16) < 0)
verdict()
finish(0)
