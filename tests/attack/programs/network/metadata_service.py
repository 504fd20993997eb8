"""Connect to the cloud's metadata service, to the container's host, and to the open Internet.

levels: namespaces landlock
within: 3
"""

import socket
import urllib.request

PLACES = "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 172.17.0.1 10.0.2.2 192.168.0.1 1.1.1.1 8.8.8.8"


def connects(family, host, port):
    with socket.socket(family, socket.SOCK_STREAM) as it:
        it.settimeout(0.5)
        try:
            it.connect((host, port))
        except TimeoutError:
            return "no answer, but a road"
    return True


for host in PLACES.split():
    attempt(f"connected to {host}", connects, socket.AF_INET, host, 80)
for host in ("fd00:ec2::254", "2606:4700:4700::1111", "fe80::1"):
    attempt(f"connected to {host}", connects, socket.AF_INET6, host, 80)
attempt("fetched metadata", lambda: urllib.request.urlopen("http://169.254.169.254/latest/meta-data/", timeout=0.5))
verdict()
