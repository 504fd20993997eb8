"""Leave links in the workspace and hope that the engine follows them when it collects files.

levels: namespaces landlock
options: -o {out} --capture inline
within: 4
"""

for number, target in enumerate(canary["files"]):
    os.symlink(target, f"link-{number}.txt")
    os.symlink(os.path.dirname(target), f"link-dir-{number}")
    os.symlink("../" * 20 + target, f"link-up-{number}")
os.symlink("/", "link-root")
os.symlink("/etc", "link-etc")
os.symlink("link-loop", "link-loop")
os.symlink("/proc/self/fd/0", "link-fd")
os.mkdir("real")
os.symlink("..", "real/link-parent")
with open("real/file.txt", "w") as out:
    out.write("harmless")
verdict()
