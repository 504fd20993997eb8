"""Close every descriptor behind the runtime's back, before the end.

levels: namespaces landlock
variants: others all
within: 4
expect: ok | silent | error | crashed
"""

verdict()
if canary["variant"] == "all":
    os.closerange(0, 3)
os.closerange(3, 4096)
