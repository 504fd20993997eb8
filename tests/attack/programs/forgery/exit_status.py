"""End in odd ways; the status must be the kernel's own word.

levels: namespaces landlock
variants: _exit exit nested-exit thread-exit
expect: error
exit: 13
"""

import threading

WAYS = {
    "_exit": lambda: os._exit(13),
    "exit": lambda: sys.exit(13),
    "nested-exit": lambda: [exec("raise SystemExit(13)") for _ in range(1)],
    "thread-exit": lambda: threading.Thread(target=os._exit, args=(13,)).start() or threading.Event().wait(),
}
print("HELD")
WAYS[canary["variant"]]()
