"""Put other files in the place of every descriptor: stdout for the engine's channel, and the reverse.

levels: namespaces landlock
variants: null stdout channel shuffled
within: 4
expect: ok | silent | error | crashed
"""

verdict()
open_ones = []
for fd in range(3, 256):
    try:
        os.fstat(fd)
        open_ones.append(fd)
    except OSError:
        continue
ways = ways_out()
null = os.open("/dev/null", os.O_RDWR)
if canary["variant"] == "channel" and ways:
    os.dup2(ways[0], 1)
    os.dup2(ways[0], 2)
    os.write(1, b'{"status": "ok", "id": "FORGED"}\n')
else:
    for at, fd in enumerate(open_ones):
        os.dup2({"null": null, "stdout": 1}.get(canary["variant"], open_ones[at - 1]), fd)
