# Killing all that can be killed, oneself included.
#: expect: crashed | error | silent
kill -9 -1
kill -9 $$
