# The secrets of the host's environment, files and processes, by a shell's own means.
env | grep -q 'GBS-' && echo "ESCAPED: the caller's environment"
for f in /proc/[0-9]*/environ; do grep -aq 'GBS-' "$f" 2>/dev/null && echo "ESCAPED: $f"; done
grep -raqs 'GBS-' /etc /root /home /var /run /tmp /dev/shm 2>/dev/null && echo "ESCAPED: a file with the secret"
for fd in $(seq 3 255); do { head -c 200 <&"$fd"; } 2>/dev/null | grep -aq 'GBS-' && echo "ESCAPED: descriptor $fd"; done
echo HELD
