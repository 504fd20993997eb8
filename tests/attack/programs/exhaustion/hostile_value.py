"""Return values that fight the one who writes them down: cycles, depth, broken and endless methods.

levels: namespaces landlock
options: -t 1
variants: cycle depth repr-raises repr-lies repr-exits repr-hangs keys subclass surrogate big-number
expect: ok | silent | error | timeout | crashed | limit memory
"""


class Evil(dict):
    def __repr__(self):
        if canary["variant"] == "repr-raises":
            raise BaseException("FORGED")
        if canary["variant"] == "repr-exits":
            os._exit(0)
        while canary["variant"] == "repr-hangs":
            pass
        return None if canary["variant"] == "repr-lies" else '{"status": "FORGED"}'

    def items(self):
        raise KeyboardInterrupt

    __str__ = __iter__ = keys = __len__ = __reduce__ = items


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


cycle = []
cycle.append(cycle)
VALUES = {
    "cycle": cycle,
    "depth": nested(200_000) if canary["variant"] == "depth" else None,
    "keys": {(1, 2): 3, None: 4, 5.5: {b"x": {1}}},
    "surrogate": "\ud800\udfff\0" * 100,
    "big-number": 10**4000 if canary["variant"] == "big-number" else None,
    "subclass": type("Number", (int,), {"__repr__": lambda self: "FORGED", "__str__": lambda self: "}}"})(5),
}
verdict()
VALUES.get(canary["variant"], Evil(a=1))
