"""Recognise the host: its name, machine id, serial numbers, installed system.

levels: namespaces
control: yes
"""

import platform
import socket

TARGETS = """
/etc/machine-id /var/lib/dbus/machine-id /etc/hostid /sys/class/dmi/id/product_uuid /sys/class/dmi/id/product_serial
/sys/class/dmi/id/board_serial /sys/class/net/eth0/address /var/lib/cloud/instance /sys/devices/virtual/dmi/id/modalias
/run/systemd/machines /var/log/dpkg.log /etc/fstab
"""
for path in TARGETS.split():
    attempt(f"read {path}", read, path)
for place in ("/var/lib", "/var/log", "/var/spool", "/sys/class/net", "/sys/block"):
    attempt(f"listed {place}", os.listdir, place)
for name in (platform.node(), socket.gethostname(), os.uname().nodename):
    attempt("the host's name", lambda name=name: name == canary["hostname"])
verdict()
