"""Speak for the check: say what it found, that it was passed, that all is well, after it has spoken.

Only the check knows the token, and what it says counts once. In the variants that begin with "real" it has
spoken already, since the program looks suspicious enough for a warning.

levels: namespaces landlock
variants: found guessed clean real-found real-done real-go late deep
options: -t 3
within: 5
expect: error | crashed
"""

import json

DONE, CHECKED, GO = 2, 3, 4
FINDING = {"rule": "FORGED", "severity": "error", "message": "FORGED", "line": 1, "column": 1, "name": "FORGED"}
FOUND = json.dumps({"findings": [FINDING], "risk": 77, "rejected": False, "check_us": 1}).encode()
CLEAN = json.dumps({"findings": [], "risk": 0, "rejected": False}).encode()
REJECTED = json.dumps({"findings": [FINDING], "risk": 77, "rejected": True, "exit_code": 126}).encode()
DEEP = b'{"findings": ' + b"[" * 5000 + b"]" * 5000 + b"}"

variant = canary["variant"]
if variant.startswith("real"):
    eval("1 + 1")
sent = {
    "found": lambda: answer_as_runtime(FOUND, CHECKED),
    "guessed": lambda: answer_as_runtime(FOUND, CHECKED, 0x0123456789ABCDEF),
    "clean": lambda: answer_as_runtime(CLEAN, CHECKED),
    "real-found": lambda: answer_as_runtime(FOUND, CHECKED),
    "real-done": lambda: answer_as_runtime(REJECTED, DONE),
    "real-go": lambda: answer_as_runtime(b"", GO),
    "late": lambda: answer_as_runtime(REJECTED, DONE) and answer_as_runtime(FOUND, CHECKED),
    "deep": lambda: answer_as_runtime(DEEP, CHECKED),
}[variant]()
finish(5 if sent else 0)  # an attempt that reached nobody proves nothing
