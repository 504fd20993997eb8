"""Print 100 MB.

levels: namespaces landlock
options: -t 20
within: 20
counts: stdout_bytes 104857600
"""

piece = (b"flood " * 11 + b"\n") * 1024
left = 100 << 20
while left > 0:
    left -= os.write(1, piece)
os.write(1, b"\n")
verdict()
