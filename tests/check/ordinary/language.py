#--- walrus_uses
import re

lines = ["a=1", "bad", "b=22"]
values = {m[1]: int(m[2]) for line in lines if (m := re.match(r"(\w)=(\d+)", line))}
print(values)
while (n := len(values)) < 4:
    values[f"x{n}"] = n
assert (total := sum(values.values())) == 28, total
#--- delete_things
data = {"a": 1, "b": 2, "c": 3}
del data["a"]
items = [1, 2, 3, 4]
del items[0], items[-1]


class Thing:
    pass


t = Thing()
t.x = t.y = 1
del t.x
name = "gone"
del name
try:
    name
except NameError:
    print("no such name")
print(data, items, t.y)
#--- main_guard
"""A small program with a docstring."""


def main():
    print("hello", __name__ == "__main__")
    return 0


if __name__ == "__main__":
    assert main() == 0
#--- conditional_chains
def grade(score):
    return "A" if score >= 90 else "B" if score >= 80 else "C" if score >= 70 else "F"


for s in (95, 85, 75, 10):
    print(s, grade(s))
assert 1 < 2 < 3 and not 1 < 3 < 2
x = None or [] or "default"
assert x == "default" and (0 and 1) == 0
#--- context_managers
log = []


class Tag:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        log.append(f"<{self.name}>")
        return self

    def __exit__(self, kind, value, trace):
        log.append(f"</{self.name}>")


with Tag("html"):
    with Tag("body") as body, Tag("p"):
        log.append(body.name)
print("".join(log))
assert log[-1] == "</html>"
#--- object_sentinel
MISSING = object()


def get(mapping, key, default=MISSING):
    if key in mapping:
        return mapping[key]
    if default is MISSING:
        raise KeyError(key)
    return default


print(get({"a": 1}, "a"), get({}, "b", None))
try:
    get({}, "c")
except KeyError:
    print("missing")
#--- chained_assignment
a = b = []
a.append(1)
c, d = d_and_c = [2, 3]
i = 0
i, values = 1, [0, 0]
values[i] = i
x = y = z = 0
x += 1; y -= 1; z |= 6; z &= 3; z ^= 1; z <<= 2; z **= 2; z //= 3; z %= 10
print(a is b, c, d, d_and_c, values, x, y, z)
#--- star_expressions
def f(*args, **kwargs):
    return args, kwargs


numbers, options = [1, 2], {"a": 1}
print(f(*numbers, 3, *"ab", **options, b=2))
print(*numbers, sep=",", end="!\n")
first, *rest = [*numbers, *numbers]
assert rest == [2, 1, 2] and {*numbers, 3} == {1, 2, 3}
#--- strings_of_all_kinds
raw = r"C:\new\table"
joined = ("one "
          "two")
long = """triple
quoted"""
escaped = "tab\there\u00e9\N{BULLET}\x41"
print(raw, joined, long.count("\n"), escaped, b"bytes\xff", "a" "b")
assert len(raw) == 12 and "\\" in raw
#--- lambda_tricks
compose = lambda *fs: lambda x: x if not fs else compose(*fs[1:])(fs[0](x))
inc, double = (lambda x: x + 1), (lambda x: x * 2)
print(compose(inc, double, inc)(3))
fact = (lambda f: f(f))(lambda f: lambda n: 1 if n < 2 else n * f(f)(n - 1))
assert fact(5) == 120
print(sorted([(1, "b"), (1, "a")], key=lambda p: (p[0], p[1])))
#--- ellipsis_and_pass
def todo():
    ...


class Empty:
    pass


assert todo() is None and ... is Ellipsis
if True: pass
print(type(...).__name__, Empty.__name__, Empty.__module__)
#--- own_matmul
class Chain:
    def __init__(self, *parts):
        self.parts = parts

    def __matmul__(self, other):
        return Chain(*self.parts, *other.parts)

    def __imatmul__(self, other):
        self.parts += other.parts
        return self


c = Chain("a") @ Chain("b")
c @= Chain("c")
print(c.parts)
assert c.parts == ("a", "b", "c")
#--- docstrings_and_names
class Robot:
    """A machine."""

    def walk(self):
        """Move the legs."""


print(Robot.__doc__, Robot.walk.__doc__, Robot.walk.__qualname__, Robot().walk.__name__)
assert Robot.__name__ == "Robot"
#--- identity_and_types
values = [1, 1.0, "1", True, None, (), [], {}, set(), b"", 1j]
print([type(v).__name__ for v in values])
assert isinstance(True, int) and type(True) is bool and None is None
assert issubclass(bool, int) and not issubclass(int, str)
assert callable(print) and not callable(3) and hash("a") == hash("a")
#--- truthiness
class Basket:
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)


print([bool(x) for x in (0, 1, "", "0", [], [0], Basket(), Basket(1))])
assert not Basket() and Basket(1)
#--- nonlocal_bank
def account(balance):
    def deposit(amount):
        nonlocal balance
        balance += amount
        return balance

    def withdraw(amount):
        nonlocal balance
        if amount > balance:
            raise ValueError("insufficient")
        balance -= amount
        return balance

    return {"deposit": deposit, "withdraw": withdraw}


a = account(10)
a["deposit"](5)
print(a["withdraw"](12))
try:
    a["withdraw"](100)
except ValueError as e:
    print(e)
#--- own_format_method
class Report:
    def __init__(self, title):
        self.title = title

    def format(self, width):
        return self.title.center(width, "=")


print(Report("Sales").format(20))
assert Report("x").format(3) == "=x="
#--- regex_compile_is_fine
import re

evaluate = {"add": lambda a, b: a + b}


class Model:
    def __init__(self):
        self.training = True

    def eval(self):
        self.training = False
        return self

    def compile(self, optimizer):
        return f"compiled with {optimizer}"


model = Model()
print(re.compile("a+").pattern, model.eval().training, model.compile("sgd"), evaluate["add"](1, 2))
print(b"caf\xc3\xa9".decode())
#--- class_private_names
class Safe:
    def __init__(self, code):
        self.__code = code
        self._tries = 0

    def open(self, code):
        self._tries += 1
        return code == self.__code

    def system(self):
        return "mechanical"


s = Safe(1234)
print(s.open(1), s.open(1234), s._tries, s.system())
#--- property_cached
from functools import cached_property


class Circle:
    computed = 0

    def __init__(self, r):
        self.r = r

    @cached_property
    def area(self):
        Circle.computed += 1
        return 3 * self.r ** 2


c = Circle(2)
print(c.area, c.area, Circle.computed)
assert Circle.computed == 1
#--- future_annotations
from __future__ import annotations


class Node:
    def __init__(self, value: int, parent: Node | None = None):
        self.value, self.parent = value, parent

    def root(self) -> Node:
        return self.parent.root() if self.parent else self


print(Node(2, Node(1)).root().value)
#--- class_comparison_via_other
class Version:
    def __init__(self, number):
        self._number = number

    def __eq__(self, other):
        return isinstance(other, Version) and self._number == other._number

    def __lt__(self, other):
        return self._number < other._number

    def __repr__(self):
        return f"{self.__class__.__name__}({self._number})"


print(sorted([Version(3), Version(1)]), Version(1) == Version(1))
