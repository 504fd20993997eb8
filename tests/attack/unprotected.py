"""Runs a hostile program with no box around it: PRELUDE PROGRAM CANARY."""

import json
import sys

space = {"__name__": "__main__", "canary": json.loads(sys.argv[3])}
for path in sys.argv[1:3]:
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), space)
