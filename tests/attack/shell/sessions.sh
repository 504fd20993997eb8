# Process groups and sessions of their own, orphans twice over, ignored signals: all of them end with the box.
(setsid sleep 301 &); (setsid setsid sleep 302 & disown) ; nohup sleep 303 >/dev/null 2>&1 &
(trap '' HUP INT TERM QUIT 63; sleep 304) &
bash -c 'sleep 305 & disown; exec -a innocent sleep 306' &
perl -e 'use POSIX; fork && exit; POSIX::setsid(); fork && exit; sleep 307' 2>/dev/null &
sleep 0.2
echo HELD
