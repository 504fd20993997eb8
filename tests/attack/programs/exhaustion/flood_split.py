"""Print NULs, broken UTF-8 and terminal controls without line ends, in many small pieces.

levels: namespaces landlock
options: -t 10
within: 10
"""

pieces = (
    b"\0" * 100,
    b"\xff" * 99,
    b"\xf0\x9f",
    b"\xed\xa0\x80",
    b"\x1b[2J\x1b]0;t\x07",
    b"\r" * 50,
    b'"\\',
    b"\xc0\x80",
)
for number in range(20_000):
    os.write(1 + number % 2, pieces[number % len(pieces)])
os.write(1, b"\n")
verdict()
