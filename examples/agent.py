#!/usr/bin/env python3
"""An agent's loop around glovebox, with a script in the place of the model.

    examples/agent.py [--glovebox build/glovebox] [--python /usr/bin/python3] [--out DIR]

One `glovebox batch` runs for as long as the loop does, and one session in it: each turn the model sees what came of its
last program and answers with the next one, which finds the variables and files of those before. A program goes out as a
line of JSON, its result comes back as one. The programs may call a function of ours, `units_sold`. Nothing but Python's
standard library is needed here; the programs in the box use matplotlib where it is installed.

To drive it with a model, replace Script: whatever is called with an observation and returns a Turn will do.
"""
import argparse
import base64
import json
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

OPTIONS = ["--timeout", "60"]  # of the command line, for all programs
SESSION = "agent"
TURNS_MAX = 12
TEXT_MAX = 2000  # characters of each stream that the model gets to see


# ---- the box ----


class Glovebox:
    """Programs in, results out, one at a time."""

    def __init__(self, command, *options):
        self.process = subprocess.Popen([command, "batch", *options, "-"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def run(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"glovebox ended with status {self.process.wait()}")
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


# ---- between box and model ----


def observation(result):
    """What a model is told of a result: text, and pictures for one that can see."""
    lines = [f"status: {result['status']}"]
    for stream in "stdout", "stderr":
        if result[stream]:
            lines.append(f"{stream}: {result[stream][:TEXT_MAX].rstrip()}")
    if result["has_value"]:
        lines.append(f"value: {json.dumps(result['value'])[:TEXT_MAX]}")
    if result["error"]:
        lines.append(f"error: {result['error']['type']}: {result['error']['message'][:TEXT_MAX]}")
    if result["session"] and result["session"]["state"] == "rolled_back":
        lines.append("session: as it was before this program")
    for name in sorted({call["name"] for call in result["tool_calls"]}):
        lines.append(f"called: {name}, {sum(call['name'] == name for call in result['tool_calls'])} times")
    lines += [f"file: {it['path']}, {it['change']}, {it['bytes']} bytes" for it in result["files"]]
    for finding in result["findings"]:
        lines.append(f"found: line {finding['line']}: {finding['message']}")
    pictures = [it for it in result["outputs"] if it["mime"].startswith("image/")]
    texts = [it["data"] for it in result["outputs"] if it["mime"] == "text/plain"]
    lines += [f"displayed: {it[:TEXT_MAX]}" for it in texts]
    lines += [f"displayed: {it['mime']}, {len(it['data'])} characters of base64" for it in pictures]
    return "\n".join(lines)


@dataclass
class Turn:
    """What the model wants: a program to be run, or, if there is none, to say its last word."""

    says: str
    code: str = ""
    request: dict = field(default_factory=dict)  # further keys of the request: files, timeout, ...


def loop(model, box, show=print):
    """Turn by turn, until the model has its answer. Returns it."""
    result = None
    for _ in range(TURNS_MAX):
        turn = model(result)
        show(f"model: {turn.says}")
        if not turn.code:
            return turn.says
        for line in turn.code.strip().splitlines():
            show(f"    {line}")
        result = box.run({"session": SESSION, "code": turn.code, **turn.request})
        show("\n".join(f"  | {line}" for line in observation(result).splitlines()))
    raise RuntimeError(f"no answer in {TURNS_MAX} turns")


# ---- a tool: what programs may ask of us ----

SALES = {"Mon": 12, "Tue": 19, "Wed": 7, "Thu": 25, "Fri": 31}


def serve_tool():
    """The arguments are a JSON object on standard input, the result goes to standard output."""
    day = json.load(sys.stdin)["day"]
    if day not in SALES:
        sys.exit(f"the shop is closed on {day}")
    print(json.dumps(SALES[day]))


def tool_command():
    return shlex.join([sys.executable, __file__, "--serve-tool"])


# ---- the script that plays the model ----

DAYS = "Mon\nTue\nWed\nThu\nFri\nSun\n"

LOOK = """
import importlib.util, os
print("files:", os.listdir())
days = open("days.txt").read().split()
[name for name in ("matplotlib", "numpy") if importlib.util.find_spec(name)]
"""

ASK = """
sales, closed = {}, []
for day in days:
    try:
        sales[day] = units_sold(day=day)
    except ToolError as error:
        closed.append(day)
sales, closed
"""

MEAN = """
mean = sum(sales.values()) / len(sale)
mean
"""

PLOT = """
import matplotlib.pyplot as plt
plt.bar(list(sales), list(sales.values()))
plt.axhline(mean, linestyle="--")
plt.title("Sales")
plt.savefig("sales.png")
plt.show()
"""

DRAW = """
class Bars:
    def _repr_svg_(self):
        bars = "".join(f'<rect x="{20 * n}" y="{40 - v}" width="15" height="{v}"/>'
                       for n, v in enumerate(sales.values()))
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="40">{bars}</svg>'
with open("sales.svg", "w") as file:
    file.write(Bars()._repr_svg_())
Bars()
"""

READ_BACK = """
import struct
data = open("sales.png", "rb").read()
assert data.startswith(b"\\x89PNG")
struct.unpack(">II", data[16:24])
"""

READ_BACK_SVG = """
import xml.etree.ElementTree as tree
root = tree.parse("sales.svg").getroot()
[int(root.get("width")), int(root.get("height"))]
"""


class Script:
    """Does what a model would: looks at each result, and decides by it what comes next."""

    def __init__(self, out=None):
        self.out = out
        self.steps = [self.look, self.ask, self.compute, self.plot, self.read_back, self.answer]

    def __call__(self, result):
        return self.steps.pop(0)(result)

    def look(self, result):
        return Turn("What is here, and what can I use?", LOOK, {"files": {"days.txt": DAYS}})

    def ask(self, result):
        self.has_matplotlib = "matplotlib" in result["value"]
        return Turn("What was sold on each of these days?", ASK)

    def compute(self, result):
        return Turn("The mean of the week.", MEAN)

    def plot(self, result):
        if result["status"] == "error":  # it mistyped a name: the error says so, and the next try is right
            self.steps.insert(0, self.plot)
            return Turn(f"{result['error']['message']}: that is a typo of mine.", MEAN.replace("sale)", "sales)"))
        self.mean = result["value"]
        return Turn("Now a picture of it.", PLOT if self.has_matplotlib else DRAW)

    def read_back(self, result):
        pictures = [it for it in result["outputs"] if it["mime"].startswith("image/")]
        if not pictures:
            return Turn("I cannot draw here.")
        picture = pictures[0]
        is_png = picture["mime"] == "image/png"
        if self.out:
            data = base64.b64decode(picture["data"]) if is_png else picture["data"].encode()
            Path(self.out, "sales.png" if is_png else "sales.svg").write_bytes(data)
        return Turn("Is it a picture, and how large?", READ_BACK if is_png else READ_BACK_SVG)

    def answer(self, result):
        width, height = result["value"]
        return Turn(f"The mean is {self.mean:.1f}, and the chart has {width} x {height} pixels.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--glovebox", default=str(Path(__file__).resolve().parent.parent / "build/glovebox"))
    parser.add_argument("--python", help="the interpreter of the boxes")
    parser.add_argument("--out", help="a directory for the picture")
    parser.add_argument("--serve-tool", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve_tool:
        return serve_tool()
    options = ["--python", args.python] if args.python else []
    with Glovebox(args.glovebox, *OPTIONS, "--tool", f"units_sold={tool_command()}", *options) as box:
        loop(Script(args.out), box)


if __name__ == "__main__":
    sys.exit(main())
