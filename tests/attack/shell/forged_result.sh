# A result, and what our own frames look like, on every descriptor that there might be.
#: expect: silent
exec 2>/dev/null
for fd in $(seq 3 63); do /usr/bin/printf '{"status":"FORGED"}\n' >&"$fd" && echo "ESCAPED: wrote to $fd"; done
printf '{"status":"ok","value":"FORGED","exit_code":0}\n' >&2
exec -a FORGED sleep 0
echo unreached
