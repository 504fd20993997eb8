"""Learn the number that the runtime's tool calls carry, and write calls that it would never send.

levels: namespaces landlock
variants: no-token old-number no-number same-key-twice other-keys reordered unknown-tool list-of-arguments cut too-long too-deep too-many cancel-unmade result from-child
options: -t 4 --tool t=cat
within: 6
expect: error
"""

import fcntl
import json
import struct
import threading

tell = next(fd for fd in ways_out() if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY)
kept, (read_end, write_end) = os.dup(tell), os.pipe()
os.dup2(write_end, tell)
threading.Thread(target=t, daemon=True).start()
head = os.read(read_end, 16)
token = struct.unpack("<IIQ", head)[2]
os.read(read_end, 4096)
os.dup2(kept, tell)


def frame(text, kind=16, size=None, number=token):
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<IIQ", kind, len(text) if size is None else size, number) + text


def call(number, name="t", args="{}"):
    return f'{{"id":{number},"name":"{name}","args":{args}}}'


FORGED = {
    "no-token": [frame(call(7), number=0)],
    "old-number": [frame(call(7)), frame(call(7))],
    "no-number": [frame('{"name":"t","args":{}}')],
    "same-key-twice": [frame('{"id":7,"name":"t","args":{"a":1},"args":{"a":2}}')],
    "other-keys": [frame('{"id":7,"name":"t","args":{},"more":1}')],
    "reordered": [frame('{"args":{},"name":"t","id":7}')],
    "unknown-tool": [frame(call(7, "FORGED"))],
    "list-of-arguments": [frame(call(7, args="[]"))],
    "cut": [frame('{"id":7,"na')],
    "too-long": [frame(b"", size=(1 << 20) + 1)],
    "too-deep": [frame(call(7, args='{"a":' + "[" * 500 + "]" * 500 + "}"))],
    "too-many": [frame(call(7, args=json.dumps({"a": [0] * 250_000}, separators=(",", ":"))))],
    "cancel-unmade": [frame('{"id":4000}', kind=17)],
    "result": [frame('{"id":7,"ok":true,"result":1}', kind=18)],
    "from-child": [frame(call(4000))],
}
if canary["variant"] == "from-child":
    if os.fork() == 0:
        os.write(tell, FORGED["from-child"][0])
        os._exit(0)
    os.wait()
    try:
        t()  # its number is smaller than what the child has used
    except ToolError:
        pass
for it in FORGED[canary["variant"]]:
    while it:
        it = it[os.write(tell, it):]
threading.Event().wait(3)
print("ESCAPED: the engine went on")
