"""Write into the system: new files, directories and links, and files that are there.

levels: namespaces landlock
"""

PLACES = (
    "/ /usr /usr/bin /usr/lib /usr/local/bin /etc /etc/cron.d /bin /sbin /lib /opt /boot /var /srv /sys /proc /root"
)
FILES = "/etc/passwd /etc/group /etc/hosts /etc/resolv.conf /etc/ld.so.cache /etc/ld.so.preload /bin/sh /usr/bin/env"


def creates(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)
    return True


def makes(path):
    os.mkdir(path)
    os.rmdir(path)
    return True


def links(path):
    os.symlink("/", path)
    os.unlink(path)
    return True


for place in set(PLACES.split()) - {os.environ.get("HOME"), os.getcwd()}:
    for road in (creates, makes, links):
        attempt(f"{road.__name__} in {place}", road, f"{place}/gb-planted")
    attempt(f"unnamed file in {place}", lambda place=place: os.open(place, os.O_TMPFILE | os.O_RDWR) >= 0)
    attempt(f"utime {place}", changes, place, os.utime, place)
for path in FILES.split():
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
        attempt(f"wrote {path}", lambda path=path, flags=flags: os.open(path, flags) >= 0)
verdict()
