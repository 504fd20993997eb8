"""Return a value of 64 MB as the last expression.

levels: namespaces landlock
options: -t 1.5
within: 5
expect: ok | silent | error | limit memory | timeout
"""

verdict()
"\0" * (64 << 20)
