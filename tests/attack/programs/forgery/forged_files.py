"""Report files that are not there, by names that lead out of the output directory.

levels: namespaces landlock
options: -o {out} --capture inline
within: 5
"""

for name in ("...", "..%2f..%2fetc", "C:\\windows", "~root", "$HOME", "`id`", "a\tb", "-", "con", ".bashrc", ".git"):
    with open(name, "w") as out:
        out.write("harmless")
os.makedirs("a/b/c/...", exist_ok=True)
with open("a/b/c/.../d", "w") as out:
    out.write("harmless")
os.mkdir("swap")
with open("swap/gb-planted", "w") as out:
    out.write("harmless")
os.rename("swap", "link-swap")
os.symlink("/tmp", "swap")
os.rename("link-swap", "final")
verdict()
