import sys
version = "%d.%d.%d" % sys.version_info[:3]
for is_it, name in ((sys.implementation.name != "cpython", sys.implementation.name + " for Python"),
                    (sys.version_info < (3, 9), "Python"),
                    ("t" in sys.abiflags, "a free-threaded Python")):
    if is_it:
        sys.exit("glovebox-unusable %s %s" % (name, version))
import _imp
import os
# By its path: the import system would look through the whole folder first.
_glovebox = _imp.create_dynamic(type(sys.implementation)(
    name="_glovebox", origin=sys.argv[1] + "/_glovebox.abi3.so"))
_imp.exec_dynamic(_glovebox)
register = os.register_at_fork
def register_known(*, _register=register, _frame=sys._getframe, _keep=_glovebox.keep_handlers, **handlers):
    if _frame(1).f_globals.get("__name__") in ("threading", "logging", "random"):
        _keep(handlers)
    else:
        _register(**handlers)
os.register_at_fork = register_known
for name in sys.argv[3:]:
    try:
        __import__(name)
    except BaseException as exc:
        sys.exit("preloading %s: %s: %s" % (name, type(exc).__name__, exc))
os.register_at_fork = register
sys.stdout.reconfigure(line_buffering=True)
_glovebox.serve(3, {
    "version": version,
    "executable": sys.executable,
    "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
    "path": sys.path,
}, sys.argv[2] == "warm", sys.argv[1] + "/glovebox-init")
