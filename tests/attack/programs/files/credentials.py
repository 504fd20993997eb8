"""Read what only root may read: password hashes, host keys, sudo rules, other people's keys.

levels: namespaces landlock
"""

import glob

TARGETS = """
/etc/shadow /etc/shadow- /etc/gshadow /etc/sudoers /etc/sudoers.d/* /etc/ssh/ssh_host_*_key /etc/ssl/private/*
/root/.ssh/* /home/*/.ssh/* /root/.bash_history /root/.netrc /root/.aws/* /root/.docker/config.json /root/.config/*
/home/*/.netrc /home/*/.aws/* /home/*/.kube/config /root/.kube/config /var/run/secrets/* /run/secrets/*
/var/lib/docker/* /var/lib/systemd/random-seed /var/lib/systemd/credential.secret /etc/krb5.keytab /var/spool/cron/*
"""

for pattern in TARGETS.split():
    for path in glob.glob(pattern) or [pattern]:
        attempt(f"read {path}", read, path)
        attempt(f"write {path}", lambda path=path: os.open(path, os.O_WRONLY) >= 0)
verdict()
