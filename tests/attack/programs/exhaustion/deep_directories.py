"""Nest directories deeper than any path can name, for whoever walks or removes them.

levels: namespaces landlock
options: -t 10
within: 10
expect: ok | limit disk
"""

try:
    for _ in range(3000):
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
    with open("bottom", "w") as out:
        out.write("deep")
except OSError:
    pass
verdict()
