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


for path in (
    f"{packages}/evil.pth",
    f"{packages}/sitecustomize.py",
    f"{sys.prefix}/bin/pip",
    f"{sys.prefix}/gb-planted",
):
    attempt(f"created {path}", plants, path)
for path in [f"{sys.prefix}/pyvenv.cfg", packages, sys.prefix, *glob.glob(f"{sys.prefix}/bin/*")]:
    attempt(f"opened {path} for writing", lambda path=path: os.open(path, os.O_RDWR) >= 0)
    attempt(f"utime {path}", changes, path, os.utime, path)
    attempt(f"chmod {path}", changes, path, os.chmod, path, 0o755)
    attempt(f"fchmod {path}", changes, path, lambda it=path: os.fchmod(os.open(it, os.O_RDONLY), 0o755))
    attempt(f"fsetxattr {path}", changes, path, lambda it=path: os.setxattr(os.open(it, os.O_RDONLY), "user.gb", b"x"))
    attempt(f"renamed {path}", changes, path, os.rename, path, path + ".old")
verdict()
