"""Keep the run going from where it ends: exit handlers, finalizers, weak references that never return.

levels: namespaces landlock
options: -t 0.5
within: 3
variants: atexit finalizer hook
expect: ok | timeout
"""

import atexit
import time
import weakref


class Clinging:
    def __del__(self):
        time.sleep(600)


if canary["variant"] == "atexit":
    atexit.register(time.sleep, 600)
elif canary["variant"] == "finalizer":
    kept = Clinging()
else:
    kept = weakref.finalize(sys.modules["__main__"], time.sleep, 600)
verdict()
