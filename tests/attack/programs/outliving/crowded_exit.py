"""End with as many children alive, and as many dead and not waited for, as there may be.

levels: namespaces landlock
options: -t 5 --processes 60
within: 4
expect: ok | limit processes
"""

import time

try:
    for number in range(200):
        if os.fork() == 0:
            if number % 2:
                time.sleep(600)
            os._exit(0)
except OSError:
    pass
verdict()
finish(0)
