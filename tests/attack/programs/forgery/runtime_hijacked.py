"""Rewrite the runtime from inside: modules, hooks, builtins that the last steps of a run may use.

levels: namespaces landlock
within: 8
expect: ok | silent | error | crashed | timeout
"""

import atexit
import builtins
import gc
import io
import json


def forge(*_args, **_kwargs):
    return '{"status": "FORGED", "isolation": {"level": "FORGED"}}'


print("HELD", flush=True)
for name in ("dumps", "loads", "dump", "load", "JSONEncoder", "JSONDecoder"):
    setattr(json, name, forge)
for name in ("repr", "str", "print", "isinstance", "len", "compile", "exec", "open"):
    setattr(builtins, name, forge)
sys.excepthook = sys.displayhook = sys.unraisablehook = forge
sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = io.StringIO("FORGED")
sys.exit = os._exit
atexit.register(forge)
for it in gc.get_objects():
    if type(it) is dict and it.get("status") is not None:
        it["status"] = "FORGED"
for name in list(sys.modules):
    if name not in ("builtins", "sys", "__main__", "gc"):
        sys.modules[name] = None
sys.settrace(forge)
sys.path[:] = ["FORGED"]
