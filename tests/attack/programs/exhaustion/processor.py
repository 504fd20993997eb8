"""Burn processor time in several processes until the limit ends it.

levels: namespaces landlock
options: -t 6 --cpu 1
expect: limit cpu
"""

for _ in range(2):
    if os.fork() == 0:
        while True:
            pass
while True:
    pass
