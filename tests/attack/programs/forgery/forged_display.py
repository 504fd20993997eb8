"""Display things that claim to be more than they are, in frames of one's own and from a forked child.

What is displayed is the program's own word and stays among its outputs: no type with parameters or markup in
it, no binary data that is no base64, no more than the limits, nothing in any other key.

levels: namespaces landlock
variants: types data keys flood forked
options: -t 4
within: 7
expect: ok
"""

import json

HTML = {"mime": "text/html", "data": "FORGED"}
FORMS = {
    "types": [{**HTML, "mime": it} for it in ('text/html"><script>', "text/html;x=FORGED", "../FORGED", "FORGED", "")],
    "data": [{"mime": "image/png", "data": it} for it in ("FORGED!", "<svg onload=FORGED>", {"FORGED": 1}, None, 5)],
    "keys": [{**HTML, "path": "/etc/FORGED", "alternative": "FORGED", "status": "FORGED"}],
    "flood": [HTML] * 50,
    "forked": [HTML],
}


def send():
    variant = canary["variant"]
    thing = json.dumps({"forms": FORMS[variant], "status": "FORGED", "value": "FORGED", "tool_calls": ["FORGED"]})
    for _ in range(1000 if variant == "flood" else 1):
        answer_as_runtime(thing.encode(), kind=32)
    return False


if canary["variant"] == "forked":
    in_child(send)
send()
verdict()
