"""Open files until there are no descriptors left, raising one's own limit first.

levels: namespaces landlock
options: -t 5 --open-files 64
expect: ok | limit open_files | error
"""

import resource

for limit in (1 << 20, 4096, 1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]):
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        break
    except (ValueError, OSError):
        continue
kept = []
try:
    while len(kept) < 5000:
        kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
count = len(kept)
for fd in kept:
    os.close(fd)
if count > 64:
    escapes.append(f"{count} descriptors")
verdict()
