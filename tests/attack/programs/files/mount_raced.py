"""Swap the files and directories of a mount for links to secrets, and back, until the last moment and beyond.

levels: namespaces landlock
options: -m {rw}:m:rw --capture inline
within: 6
"""

import shutil
import time

M = os.environ["GLOVEBOX_MNT"] + "/m"


def swap_for_ever(number):
    target = canary["files"][number % len(canary["files"])]
    folder, victim = f"{M}/folder-{number}", f"{M}/victim-{number}"
    while True:
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/{os.path.basename(target)}", "w") as out:
            out.write("harmless")
        with open(f"{victim}-new", "w") as out:
            out.write("harmless")
        os.rename(f"{victim}-new", victim)
        os.symlink(target, f"{victim}-next")
        os.rename(f"{victim}-next", victim)
        shutil.rmtree(folder)
        os.symlink(os.path.dirname(target), folder)
        os.unlink(folder)


for number in range(4):
    if os.fork() == 0:
        while True:
            try:
                swap_for_ever(number)
            except OSError:
                continue
time.sleep(0.2)
verdict()
