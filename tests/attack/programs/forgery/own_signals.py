"""Die by signals of one's own; the result must say crashed, by which.

levels: namespaces landlock
variants: SIGKILL SIGSEGV SIGABRT SIGTERM SIGINT SIGSYS SIGBUS SIGPIPE
expect: crashed
"""

import signal

sent = signal.Signals[canary["variant"]]
if sent not in (signal.SIGKILL, signal.SIGSTOP):
    signal.signal(sent, signal.SIG_DFL)
print("HELD", flush=True)
os.kill(os.getpid(), sent)
