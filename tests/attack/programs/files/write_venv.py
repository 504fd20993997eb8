"""The same for a virtual environment that belongs to the user, so that no file mode protects it.

levels: namespaces landlock
options: --python {venv}/bin/python3
control: yes
"""

import glob

packages = next(it for it in sys.path if "site-packages" in it and it.startswith(sys.prefix))


def plants(path):
    with open(path, "w") as out:
        out.write("import os\n")
    return True


for path in (f"{packages}/evil.pth", f"{packages}/sitecustomize.py", f"{sys.prefix}/bin/pip", f"{sys.prefix}/gb-planted"):
    attempt(f"created {path}", plants, path)
for path in [f"{sys.prefix}/pyvenv.cfg", packages, sys.prefix, *glob.glob(f"{sys.prefix}/bin/*")]:
    attempt(f"opened {path} for writing", lambda path=path: os.open(path, os.O_RDWR) >= 0)
    attempt(f"utime {path}", lambda path=path: os.utime(path) is None)
    attempt(f"chmod {path}", lambda path=path: os.chmod(path, 0o755) is None)
    attempt(f"fchmod {path}", lambda path=path: os.fchmod(os.open(path, os.O_RDONLY), 0o755) is None)
    attempt(f"renamed {path}", lambda path=path: os.rename(path, path + ".old") is None)
verdict()
