"""Read secret files of the host by their path, in every way that Python has of opening a file.

levels: namespaces landlock
control: yes
"""

import mmap
import subprocess


def by_open(path):
    return leaked(read(path))


def by_descriptor_of_root(path):
    return leaked(read(path.lstrip("/"), dir_fd=os.open("/", os.O_PATH | os.O_DIRECTORY)))


def by_chdir(path):
    os.chdir(os.path.dirname(path))
    return leaked(read(os.path.basename(path)))


def by_reopening(path):
    return leaked(read(f"/proc/self/fd/{os.open(path, os.O_PATH)}"))


def by_mmap(path):
    fd = os.open(path, os.O_RDONLY)
    return leaked(mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:])


def by_sendfile(path):
    ours, theirs = os.pipe()
    os.sendfile(theirs, os.open(path, os.O_RDONLY), 0, 4096)
    return leaked(os.read(ours, 4096))


def by_copy_file_range(path):
    out = os.open("copy", os.O_RDWR | os.O_CREAT)
    os.copy_file_range(os.open(path, os.O_RDONLY), out, 4096)
    return leaked(os.pread(out, 4096, 0))


def by_program(path):
    return leaked(subprocess.run(["cat", path], capture_output=True).stdout)


def by_symlink(path):
    name = f"link-{os.path.basename(path)}-{len(os.listdir())}"
    os.symlink(path, name)
    return leaked(read(name))


def by_writing(path):
    return os.open(path, os.O_WRONLY | os.O_APPEND) >= 0


for road in list(globals().values()):
    if callable(road) and road.__name__.startswith("by_"):
        for target in canary["files"]:
            attempt(f"{road.__name__} {target}", in_child, road, target)
verdict()
