"""Print 100 MB on stderr, without a single line end.

levels: namespaces landlock
options: -t 20
within: 20
counts: stderr_bytes 104857600
"""

piece = b"\xf0\x9f\xa7\xa4" * 16384
left = 100 << 20
while left > 0:
    left -= os.write(2, piece)
verdict()
