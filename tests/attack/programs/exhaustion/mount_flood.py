"""Leave so much in a mount that looking at it never ends: many files, deep ones, huge ones, odd names.

levels: namespaces landlock
options: -m {rw}:m:rw --capture inline -t 8
within: 25
"""

M = os.environ["GLOVEBOX_MNT"] + "/m"
os.chdir(M)
for number in range(8000):
    os.close(os.open(f"{number}\n\x1b", os.O_CREAT | os.O_WRONLY))
for number in range(20):
    with open(f"huge-{number}", "wb") as out:
        out.truncate(200 << 20)
for number in range(2000):
    os.symlink("/dev/zero", f"link-{number}")
    os.mkfifo(f"fifo-{number}")
with open("mine", "w") as out:
    out.write("x")
for number in range(2000):
    os.link("mine", f"hard-{number}")
for _ in range(300):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
verdict()
