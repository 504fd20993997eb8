# Typing into the caller's terminal, and drawing on it: there is none here.
#: tty: yes
{ echo x > /dev/tty; } 2>/dev/null && echo "ESCAPED: /dev/tty"
for t in /dev/pts/[0-9]* /dev/console /dev/tty[0-9]; do { echo x > "$t"; } 2>/dev/null && echo "ESCAPED: $t"; done
[ -t 0 ] || [ -t 1 ] || [ -t 2 ] && echo "ESCAPED: a stream is a terminal"
python3 -c 'import fcntl, termios
for fd in range(3):
    try: fcntl.ioctl(fd, termios.TIOCSTI, b"x"); print("ESCAPED: TIOCSTI")
    except OSError: pass'
printf '\033]0;title\007\033[2J\033[6n\033[c'
echo
echo HELD
