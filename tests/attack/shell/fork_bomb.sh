# The one that everybody knows.
#: expect: limit | timeout | error | silent | ok
:(){ :|:& };:
wait
