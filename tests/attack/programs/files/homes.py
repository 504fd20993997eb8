"""Look into the home directories of the host's users.

levels: namespaces landlock
control: yes
"""

import glob
import pwd

HABITS = (".bashrc", ".profile", ".bash_history", ".ssh", ".gitconfig", ".netrc", ".config", ".cache", ".viminfo")
homes = {canary["home"], "/root", *glob.glob("/home/*"), *(it.pw_dir for it in pwd.getpwall())}


def has_secret(home):
    return any(name.startswith("gb-canary") for name in os.listdir(home))


for home in homes:
    attempt(f"listed {home}", has_secret, home)
    for name in HABITS if home == canary["home"] or home not in (os.environ.get("HOME"), os.getcwd()) else ():
        attempt(f"read {home}/{name}", read, f"{home}/{name}")
        attempt(f"listed {home}/{name}", os.listdir, f"{home}/{name}")
verdict()
