# Filling what can be written.
#: expect: limit | error | crashed | silent | timeout
for d in . "$TMPDIR" "$HOME" /tmp /var/tmp /dev/shm; do cat /dev/zero > "$d/fill" 2>/dev/null; done
exit 3
