"""Send signals to a process of the host by every call that can.

levels: namespaces landlock
control: yes
"""

import ctypes
import signal

pid = canary["pid"]
info = ctypes.create_string_buffer(128)
ctypes.c_int.from_buffer(info, 0).value = signal.SIGUSR1
ctypes.c_int.from_buffer(info, 8).value = -1  # SI_QUEUE

attempt("kill 0", lambda: os.kill(pid, 0) is None)
for sent in (signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGCONT):
    attempt(f"kill {sent}", lambda sent=sent: os.kill(pid, sent) is None)
    attempt(f"tkill {sent}", lambda sent=sent: syscall("tkill", pid, int(sent)) == 0)
    attempt(f"tgkill {sent}", lambda sent=sent: syscall("tgkill", pid, pid, int(sent)) == 0)
    attempt(f"killpg {sent}", lambda sent=sent: os.killpg(pid, sent) is None)
attempt("rt_sigqueueinfo", lambda: syscall("rt_sigqueueinfo", pid, int(signal.SIGUSR1), info) == 0)
attempt("rt_tgsigqueueinfo", lambda: syscall("rt_tgsigqueueinfo", pid, pid, int(signal.SIGUSR1), info) == 0)
attempt("pidfd_send_signal", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGUSR1) is None)
for sent in (signal.SIGSTOP, signal.SIGKILL) if escapes == [] else ():
    attempt(f"kill {sent}", lambda sent=sent: os.kill(pid, sent) is None)
verdict()
