"""Keep swapping a file for a link to a secret, and a directory likewise, while the engine collects.

levels: namespaces landlock
options: -o {out} --capture inline
within: 4
"""

import shutil
import time


def swap_for_ever():
    target = canary["files"][0]
    while True:
        with open("victim-new", "w") as out:
            out.write("harmless")
        os.rename("victim-new", "victim")
        os.makedirs("folder", exist_ok=True)
        with open(f"folder/{os.path.basename(target)}", "w") as out:
            out.write("harmless")
        os.symlink(target, "victim-next")
        os.rename("victim-next", "victim")
        shutil.rmtree("folder")
        os.symlink(os.path.dirname(target), "folder")
        os.unlink("folder")


for _ in range(4):
    if os.fork() == 0:
        while True:
            try:
                swap_for_ever()
            except OSError:
                continue
time.sleep(0.1)
verdict()
