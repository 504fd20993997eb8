#--- commands
# needs: 3.10
def run(command):
    match command.split():
        case ["go", ("north" | "south") as direction]:
            return f"going {direction}"
        case ["take", item]:
            return f"taking {item}"
        case ["drop", *items] if items:
            return f"dropping {len(items)} things"
        case []:
            return "say something"
        case _:
            return "what?"


for c in ("go north", "go up", "take lamp", "drop a b c", "drop", ""):
    print(repr(c), "->", run(c))
assert run("go south") == "going south"
#--- expression_tree
# needs: 3.10
from dataclasses import dataclass


@dataclass
class Num:
    value: float


@dataclass
class Op:
    sign: str
    left: object
    right: object


def compute(node):
    match node:
        case Num(v):
            return v
        case Op("+", a, b):
            return compute(a) + compute(b)
        case Op("*", a, b):
            return compute(a) * compute(b)
        case Op(sign=other):
            raise ValueError(f"no operator {other}")


tree = Op("+", Num(2), Op("*", Num(3), Num(4)))
print(compute(tree))
assert compute(tree) == 14
#--- json_shapes
# needs: 3.10
def describe(event):
    match event:
        case {"type": "click", "pos": [x, y]}:
            return f"click at {x},{y}"
        case {"type": "key", "key": str(key), **rest}:
            return f"key {key} with {sorted(rest)}"
        case {"type": unknown}:
            return f"unknown {unknown}"
        case None | []:
            return "nothing"


print(describe({"type": "click", "pos": (3, 4)}))
assert describe({"type": "key", "key": "q", "ctrl": True}) == "key q with ['ctrl']"
assert describe(None) == describe([]) == "nothing"
#--- http_status
# needs: 3.10
def reason(status):
    match status:
        case 200 | 201 | 204:
            return "fine"
        case 301 | 302:
            return "elsewhere"
        case int(code) if 400 <= code < 500:
            return "your fault"
        case int(code) if code >= 500:
            return "our fault"
        case float() | str():
            return "not even a number"
        case _:
            return "?"


print([reason(s) for s in (200, 302, 404, 503, "x", 7)])
#--- points_with_match_args
# needs: 3.10
class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def where(p):
    match p:
        case Point(0, 0):
            return "origin"
        case Point(x, 0) | Point(0, x):
            return f"on an axis at {x}"
        case Point(x=x, y=y) if x == y:
            return "on the diagonal"
        case Point():
            return "somewhere"


print([where(Point(*p)) for p in ((0, 0), (0, 5), (2, 2), (1, 2))])
assert where(Point(0, 5)) == "on an axis at 5"
#--- nested_sequences
# needs: 3.10
def total(thing):
    match thing:
        case []:
            return 0
        case [first, *rest]:
            return total(first) + total(rest)
        case int() | float():
            return thing
        case str() as s if s.isdigit():
            return int(s)
        case _:
            return 0


print(total([1, [2, [3, "4"], "x"], 5.5]))
assert total([1, [2, [3, "4"]]]) == 10
#--- constants_in_a_class
# needs: 3.10
class Colour:
    RED = "#f00"
    GREEN = "#0f0"


def name(value):
    match value:
        case Colour.RED:
            return "red"
        case Colour.GREEN:
            return "green"
        case [Colour.RED, *_]:
            return "red first"
        case str(other):
            return f"other {other}"


print(name("#0f0"), name(["#f00", 1]))
assert name("#123") == "other #123"
#--- mini_language
# needs: 3.10
def execute(program):
    stack, variables = [], {}
    for line in program.strip().splitlines():
        match line.split():
            case ["push", value]:
                stack.append(int(value))
            case ["add"]:
                stack.append(stack.pop() + stack.pop())
            case ["mul"]:
                stack.append(stack.pop() * stack.pop())
            case ["store", name]:
                variables[name] = stack.pop()
            case ["load", name] if name in variables:
                stack.append(variables[name])
            case [word, *_]:
                raise ValueError(f"cannot {word}")
    return stack, variables


stack, variables = execute("""
push 3
push 4
add
store x
load x
load x
mul
""")
print(stack, variables)
assert stack == [49]
#--- tuple_of_types
# needs: 3.10
def combine(a, b):
    match a, b:
        case int(), int():
            return a + b
        case str(), str():
            return f"{a} {b}"
        case (list(), x) | (x, list()):
            return [x]
        case _:
            raise TypeError("cannot combine")


print(combine(1, 2), combine("a", "b"), combine([], 3))
try:
    combine(1, "a")
except TypeError as e:
    print(e)
#--- soft_keywords
# needs: 3.10
import re

match = re.match(r"(\d+)-(\d+)", "10-25")
case, type = match.groups()
_ = int(type) - int(case)
print(match.span(), case, type, _)
assert _ == 15
#--- roman_numerals
# needs: 3.10
def value(numeral):
    match list(numeral):
        case []:
            return 0
        case ["I", ("V" | "X") as big, *rest]:
            return {"V": 4, "X": 9}[big] + value(rest)
        case ["X", ("L" | "C") as big, *rest]:
            return {"L": 40, "C": 90}[big] + value(rest)
        case [letter, *rest]:
            return {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] + value(rest)


print({n: value(n) for n in ("III", "IX", "XLII", "XCIX")})
assert value("XLII") == 42
