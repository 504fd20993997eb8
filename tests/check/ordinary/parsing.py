#--- recursive_descent
import re


class Parser:
    def __init__(self, text):
        self.tokens = re.findall(r"\d+\.?\d*|[-+*/()]", text)

    def peek(self):
        return self.tokens[0] if self.tokens else None

    def take(self):
        return self.tokens.pop(0)

    def expression(self):
        value = self.term()
        while self.peek() in ("+", "-"):
            value = value + self.term() if self.take() == "+" else value - self.term()
        return value

    def term(self):
        value = self.factor()
        while self.peek() in ("*", "/"):
            value = value * self.factor() if self.take() == "*" else value / self.factor()
        return value

    def factor(self):
        token = self.take()
        if token == "(":
            value = self.expression()
            assert self.take() == ")", "missing )"
            return value
        return -self.factor() if token == "-" else float(token)


for text in ("1 + 2 * 3", "(1 + 2) * 3", "-(2 - 5) / 2"):
    print(text, "=", Parser(text).expression())
assert Parser("2*(3+4)-5").expression() == 9
#--- shunting_yard
PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}


def postfix(tokens):
    out, stack = [], []
    for t in tokens:
        if t.isalnum():
            out.append(t)
        elif t == "(":
            stack.append(t)
        elif t == ")":
            while stack[-1] != "(":
                out.append(stack.pop())
            stack.pop()
        else:
            while stack and stack[-1] != "(" and PRECEDENCE[stack[-1]] >= PRECEDENCE[t]:
                out.append(stack.pop())
            stack.append(t)
    return out + stack[::-1]


print(" ".join(postfix("a + b * ( c - d )".split())))
assert postfix("a * b + c".split()) == ["a", "b", "*", "c", "+"]
#--- s_expressions
def parse(text):
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def read():
        token = tokens.pop(0)
        if token == "(":
            items = []
            while tokens[0] != ")":
                items.append(read())
            tokens.pop(0)
            return items
        try:
            return int(token)
        except ValueError:
            return token

    return read()


def run(x, env):
    if isinstance(x, str):
        return env[x]
    if not isinstance(x, list):
        return x
    if x[0] == "let":
        return run(x[3], {**env, x[1]: run(x[2], env)})
    f, *args = [run(part, env) for part in x]
    return f(*args)


env = {"+": lambda *a: sum(a), "*": lambda a, b: a * b}
print(run(parse("(let x (+ 1 2) (* x (+ x 1)))"), env))
assert run(parse("(+ 1 2 3)"), env) == 6
#--- query_string
def parse(query):
    out = {}
    for part in query.split("&"):
        key, _, value = part.partition("=")
        out.setdefault(key, []).append(value.replace("+", " "))
    return {k: v[0] if len(v) == 1 else v for k, v in out.items()}


print(parse("a=1&b=x+y&a=2&c"))
assert parse("a=1&a=2") == {"a": ["1", "2"]}
#--- csv_quotes
def split(line):
    fields, field, quoted = [], "", False
    i = 0
    while i < len(line):
        c = line[i]
        if quoted and c == '"' and line[i + 1:i + 2] == '"':
            field += '"'
            i += 1
        elif c == '"':
            quoted = not quoted
        elif c == "," and not quoted:
            fields.append(field)
            field = ""
        else:
            field += c
        i += 1
    return fields + [field]


print(split('1,"a, b","say ""hi""",'))
assert split('x,"y,z"') == ["x", "y,z"]
#--- arguments
def parse(argv):
    options, positional = {}, []
    it = iter(argv)
    for arg in it:
        if arg == "--":
            positional.extend(it)
        elif arg.startswith("--"):
            key, eq, value = arg[2:].partition("=")
            options[key] = value if eq else True
        elif arg.startswith("-") and len(arg) > 1:
            for flag in arg[1:]:
                options[flag] = True
        else:
            positional.append(arg)
    return options, positional


print(parse(["-vx", "--out=file", "in.txt", "--", "--not-an-option"]))
assert parse(["a", "-q"]) == ({"q": True}, ["a"])
#--- indentation_outline
text = """fruit
  apple
    red
    green
  pear
nuts
"""
root = {}
stack = [(-1, root)]
for line in text.splitlines():
    depth = len(line) - len(line.lstrip())
    while stack[-1][0] >= depth:
        stack.pop()
    node = {}
    stack[-1][1][line.strip()] = node
    stack.append((depth, node))
print(root)
assert list(root["fruit"]["apple"]) == ["red", "green"]
#--- roman_to_int
VALUES = dict(I=1, V=5, X=10, L=50, C=100, D=500, M=1000)


def roman(text):
    total = 0
    for a, b in zip(text, text[1:] + " "):
        value = VALUES[a]
        total += -value if VALUES.get(b, 0) > value else value
    return total


print(roman("MCMXCIV"))
assert roman("XLII") == 42
#--- brainf
def run(code, text=""):
    cells, at, out, i, jump, stack = [0] * 50, 0, "", 0, {}, []
    for n, c in enumerate(code):
        if c == "[":
            stack.append(n)
        elif c == "]":
            jump[n] = stack.pop()
            jump[jump[n]] = n
    while i < len(code):
        c = code[i]
        if c == ">":
            at += 1
        elif c == "<":
            at -= 1
        elif c in "+-":
            cells[at] = (cells[at] + (1 if c == "+" else -1)) % 256
        elif c == ".":
            out += chr(cells[at])
        elif c == "[" and not cells[at] or c == "]" and cells[at]:
            i = jump[i]
        i += 1
    return out


print(run("++++++++[>++++++++<-]>+."))
assert run("++++++++[>++++++++<-]>+.") == "A"
#--- version_constraints
import re


def satisfied(version, constraints):
    have = tuple(map(int, version.split(".")))
    for constraint in constraints.split(","):
        sign, wanted = re.match(r"\s*(>=|<=|==|!=|<|>)\s*([\d.]+)", constraint).groups()
        want = tuple(map(int, wanted.split(".")))
        if not {">=": have >= want, "<=": have <= want, "==": have == want, "!=": have != want,
                "<": have < want, ">": have > want}[sign]:
            return False
    return True


print([v for v in ("1.2", "1.9", "2.0") if satisfied(v, ">=1.5, <2")])
#--- inventory_report
import json
from collections import Counter

document = """
{"items": [{"sku": "A1", "qty": 3, "price": "2.50"}, {"sku": "B2", "qty": 0, "price": "10"},
           {"sku": "A1", "qty": 2, "price": "2.50"}]}
"""
stock, value = Counter(), 0.0
for item in json.loads(document)["items"]:
    stock[item["sku"]] += item["qty"]
    value += item["qty"] * float(item["price"])
empty = [sku for sku, n in stock.items() if n == 0]
print(dict(stock), f"{value:.2f}", "order:", empty)
assert stock["A1"] == 5 and value == 12.5
