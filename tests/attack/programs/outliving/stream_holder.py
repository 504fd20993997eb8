"""Leave a program that keeps stdout and stderr open; the call must return all the same, at once.

levels: namespaces landlock
within: 2
"""

import subprocess

subprocess.Popen(["sleep", "600"])
subprocess.Popen(["sh", "-c", "sleep 600 & sleep 600 & wait"], start_new_session=True)
subprocess.Popen(["setsid", "-f", "sleep", "600"])
verdict()
