"""Poison the interpreter for the next run: its library, site-packages, byte code, start-up hooks.

levels: namespaces landlock
"""

import glob
import site
import sysconfig

library = os.path.dirname(os.__file__)
places = {library, f"{library}/__pycache__", f"{library}/encodings", os.path.dirname(sys.executable), sys.prefix}
places |= {sysconfig.get_path(it) for it in ("purelib", "platlib", "scripts")} | set(site.getsitepackages())


def creates(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)
    return True


for place in places - {os.getcwd()}:
    for name in ("sitecustomize.py", "usercustomize.py", "gb-evil.pth", "gb_planted.py"):
        attempt(f"created {place}/{name}", creates, f"{place}/{name}")
targets = [os.__file__, sys.executable, f"{library}/site.py", f"{library}/encodings/utf_8.py"]
targets += glob.glob(f"{library}/__pycache__/os.*.pyc") + glob.glob(f"{library}/encodings/__pycache__/*.pyc")[:5]
for path in targets:
    attempt(f"opened {path} for writing", lambda path=path: os.open(path, os.O_RDWR) >= 0)
    attempt(f"utime {path}", changes, path, os.utime, path)
verdict()
