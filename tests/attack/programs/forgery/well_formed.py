"""Answer for the runtime in frames that are well formed, and end with a failure.

The exit status is the kernel's to tell, and code that has begun to run was not rejected.

levels: namespaces landlock
variants: success rejected types deep large
options: -t 3
within: 5
expect: error | crashed
"""

import json

SUCCESS = {"status": "ok", "ok": True, "exit_code": 0, "has_value": True, "value": "FORGED", "error": None}
FINDING = {"rule": "FORGED", "severity": "error", "message": "FORGED", "line": 1, "column": 1, "name": "FORGED"}
KEYS = "isolation usage timings policy risk session limit files tool_calls outputs findings exit_code id"
EVERYTHING = dict.fromkeys(KEYS.split(), "FORGED")
ANSWERS = {
    "success": json.dumps(SUCCESS),
    "rejected": json.dumps({**SUCCESS, "status": "rejected", "findings": [FINDING], "exit_code": 126}),
    "types": json.dumps(
        {**EVERYTHING, "error": [1, {"type": 2}], "stdout": {}, "check_us": -(2**62), "has_value": "x"}
    ),
    "deep": '{"has_value": true, "value": ' + "[" * 2000 + "]" * 2000 + ', "exit_code": 1}',
    "large": json.dumps({"has_value": True, "value": "x" * (3 << 20), "error": {"message": "y" * (1 << 19)}}),
}

sent = answer_as_runtime(ANSWERS[canary["variant"]].encode())
finish(5 if sent else 0)  # an attempt that reached nobody proves nothing
