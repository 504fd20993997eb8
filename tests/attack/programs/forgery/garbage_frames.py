"""Write garbage and impossible frames to every descriptor: huge lengths, cut frames, NULs, depth.

levels: namespaces landlock
variants: noise huge-length negative-length cut nested nul endless-line binary
options: -t 4
within: 5
expect: ok | error | crashed
"""

import random

LENGTHS = (2**31 - 1, 2**32 - 1, 2**63 - 1, 2**40)
FRAMES = {
    "noise": [random.randbytes(4096) for _ in range(8)],
    "huge-length": [it.to_bytes(8, order) for it in LENGTHS for order in ("little", "big")]
    + [b"Content-Length: 99999999999999999999\r\n\r\n", b"99999999999:"],
    "negative-length": [b"\xff" * 4, b"\xff" * 8, b"\x80\0\0\0", b"Content-Length: -1\r\n\r\n"],
    "cut": [b"\x10\0\0\0{", b"\0\0\0\x10{", b'{"status": "ok", "exit_', b"\x05"],
    "nested": [b"[" * 200_000 + b"\n", b'{"a":' * 100_000 + b"\n"],
    "nul": [bytes(65536), b'{"status": "\\u0000"}\n' * 100],
    "endless-line": [b"x" * (1 << 20)] * 4,
    "binary": [bytes([tag]) + (16).to_bytes(4, "little") + b"FORGED" * 3 for tag in range(256)],
}
for fd in range(3, 256):
    try:
        os.set_blocking(fd, False)
    except OSError:
        continue
    for frame in FRAMES[canary["variant"]]:
        attempt("", lambda fd=fd, frame=frame: os.write(fd, frame) < 0)
verdict()
