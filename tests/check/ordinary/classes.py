#--- bank_account
class InsufficientFunds(Exception):
    """Raised when a withdrawal exceeds the balance."""


class Account:
    interest = 0.02

    def __init__(self, owner, balance=0):
        self.owner = owner
        self._balance = balance

    @property
    def balance(self):
        return self._balance

    def withdraw(self, amount):
        if amount > self._balance:
            raise InsufficientFunds(f"{self.owner} lacks {amount - self._balance}")
        self._balance -= amount
        return self

    def __repr__(self):
        return f"Account({self.owner!r}, {self._balance})"


account = Account("Ann", 100).withdraw(30)
try:
    account.withdraw(100)
except InsufficientFunds as error:
    print("refused:", error)
print(account)
assert account.balance == 70
#--- vector_operators
import math


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __eq__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __abs__(self):
        return math.hypot(self.x, self.y)


v = Vector(3, 4)
assert 2 * v == Vector(6, 8) == v + v
assert abs(v) == 5 and v @ v == 25
assert len({Vector(1, 1), Vector(1, 1)}) == 1
print(abs(v))
#--- shapes_inheritance
import math


class Shape:
    def area(self):
        raise NotImplementedError

    def describe(self):
        return f"{type(self).__name__} of {self.area():.2f}"


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r ** 2


class Square(Shape):
    def __init__(self, side):
        super().__init__()
        self.side = side

    def area(self):
        return self.side ** 2


for shape in (Circle(1), Square(3)):
    print(shape.describe())
try:
    Shape().area()
except NotImplementedError:
    print("abstract")
#--- singleton_new
class Registry:
    _instance = None

    def __new__(cls, *args, **kwargs):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.items = {}
        return cls._instance

    def register(self, name, value):
        self.items[name] = value


Registry().register("a", 1)
Registry().register("b", 2)
assert Registry() is Registry()
print(Registry().items)
#--- temperature_property
class Temperature:
    def __init__(self, celsius=0.0):
        self.celsius = celsius

    @property
    def fahrenheit(self):
        return self.celsius * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self.celsius = (value - 32) * 5 / 9

    @fahrenheit.deleter
    def fahrenheit(self):
        self.celsius = 0.0


t = Temperature(100)
assert t.fahrenheit == 212
t.fahrenheit = 32
assert t.celsius == 0
del t.fahrenheit
print(t.fahrenheit)
#--- classmethod_and_static
class Date:
    def __init__(self, y, m, d):
        self.y, self.m, self.d = y, m, d

    @classmethod
    def parse(cls, text):
        return cls(*map(int, text.split("-")))

    @staticmethod
    def is_leap(year):
        return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)

    def __str__(self):
        return f"{self.d:02}.{self.m:02}.{self.y}"


d = Date.parse("2024-02-29")
print(d, Date.is_leap(d.y))
assert str(d) == "29.02.2024" and not Date.is_leap(1900)
#--- stack_with_iter
class Stack:
    def __init__(self, *items):
        self._items = list(items)

    def push(self, item):
        self._items.append(item)

    def pop(self):
        if not self._items:
            raise IndexError("pop from empty stack")
        return self._items.pop()

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return reversed(self._items)

    def __contains__(self, item):
        return item in self._items

    def __bool__(self):
        return bool(self._items)


s = Stack(1, 2)
s.push(3)
assert list(s) == [3, 2, 1] and 2 in s and len(s) == 3
while s:
    print(s.pop())
#--- linked_list
class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class LinkedList:
    def __init__(self, values=()):
        self.head = None
        for value in reversed(list(values)):
            self.head = Node(value, self.head)

    def __iter__(self):
        node = self.head
        while node:
            yield node.value
            node = node.next

    def reverse(self):
        previous, node = None, self.head
        while node:
            node.next, previous, node = previous, node, node.next
        self.head = previous
        return self


numbers = LinkedList(range(5))
assert list(numbers.reverse()) == [4, 3, 2, 1, 0]
print(*numbers, sep=" -> ")
#--- descriptor_positive
class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name
        self.values = {}

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return self.values[id(obj)]

    def __set__(self, obj, value):
        if value <= 0:
            raise ValueError(f"{self.name[1:]} must be positive")
        self.values[id(obj)] = value


class Product:
    price = Positive()
    amount = Positive()

    def __init__(self, price, amount):
        self.price, self.amount = price, amount


p = Product(2.5, 4)
print(p.price * p.amount)
try:
    p.price = -1
except ValueError as e:
    print(e)
else:
    raise AssertionError("accepted")
#--- plugin_init_subclass
class Plugin:
    registry = {}

    def __init_subclass__(cls, /, key=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.registry[key or cls.__name__.lower()] = cls


class Upper(Plugin):
    def run(self, text):
        return text.upper()


class Reverse(Plugin, key="rev"):
    def run(self, text):
        return text[::-1]


print(sorted(Plugin.registry))
assert Plugin.registry["rev"]().run("abc") == "cba"
assert Plugin.registry["upper"]().run("abc") == "ABC"
#--- metaclass_counts
class Counted(type):
    made = []

    def __new__(mcs, name, bases, namespace):
        cls = super().__new__(mcs, name, bases, namespace)
        mcs.made.append(name)
        return cls


class A(metaclass=Counted):
    pass


class B(A):
    pass


print(Counted.made)
assert Counted.made == ["A", "B"]
#--- multiple_inheritance
class Base:
    def steps(self):
        return ["base"]


class Left(Base):
    def steps(self):
        return ["left"] + super().steps()


class Right(Base):
    def steps(self):
        return ["right"] + super().steps()


class Both(Left, Right):
    def steps(self):
        return ["both"] + super().steps()


print(Both().steps())
assert Both().steps() == ["both", "left", "right", "base"]
#--- mapping_subclass
class CaseInsensitive(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __getitem__(self, key):
        return super().__getitem__(key.lower())

    def __missing__(self, key):
        return f"<no {key}>"


d = CaseInsensitive()
d["Content-Type"] = "text/html"
assert d["CONTENT-TYPE"] == "text/html"
print(d["Accept"], list(d))
#--- comparable_version
from functools import total_ordering


@total_ordering
class Version:
    def __init__(self, text):
        self.parts = tuple(int(p) for p in text.split("."))

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts

    def __repr__(self):
        return "v" + ".".join(map(str, self.parts))


versions = sorted(map(Version, ["1.10", "1.2", "1.9.3", "2.0"]))
print(versions)
assert versions[0] == Version("1.2") and Version("2.0") >= Version("1.99")
#--- callable_class
class Polynomial:
    def __init__(self, *coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        result = 0
        for c in self.coefficients:
            result = result * x + c
        return result

    def derivative(self):
        n = len(self.coefficients) - 1
        return Polynomial(*(c * (n - i) for i, c in enumerate(self.coefficients[:-1])))


p = Polynomial(1, -3, 2)
roots = [x for x in range(-5, 6) if p(x) == 0]
print(roots, p.derivative()(0))
assert roots == [1, 2] and p.derivative()(0) == -3
#--- observer_pattern
class Event:
    def __init__(self):
        self._handlers = []

    def __iadd__(self, handler):
        self._handlers.append(handler)
        return self

    def __isub__(self, handler):
        self._handlers.remove(handler)
        return self

    def fire(self, *args, **kwargs):
        return [handler(*args, **kwargs) for handler in self._handlers]


def logger(message, level="info"):
    return f"[{level}] {message}"


changed = Event()
changed += logger
changed += lambda message, **_: len(message)
print(changed.fire("saved", level="debug"))
changed -= logger
assert changed.fire("saved") == [5]
#--- getattr_proxy
class Recorder:
    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def method(*args):
            self.calls.append((name, args))
            return self
        return method


r = Recorder()
r.move(1, 2).draw("line").close()
print(r.calls)
assert [name for name, _ in r.calls] == ["move", "draw", "close"]
#--- state_machine
class Door:
    transitions = {
        ("closed", "open"): "opened",
        ("opened", "close"): "closed",
        ("closed", "lock"): "locked",
        ("locked", "unlock"): "closed",
    }

    def __init__(self):
        self.state = "closed"
        self.history = [self.state]

    def do(self, action):
        try:
            self.state = self.transitions[self.state, action]
        except KeyError:
            raise ValueError(f"cannot {action} a {self.state} door") from None
        self.history.append(self.state)


door = Door()
for action in ("lock", "unlock", "open"):
    door.do(action)
try:
    door.do("lock")
except ValueError as e:
    print(e)
print(" > ".join(door.history))
assert door.state == "opened"
#--- immutable_point
class Point:
    def __init__(self, x, y):
        super().__setattr__("x", x)
        super().__setattr__("y", y)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} is read-only")


p = Point(1, 2)
try:
    p.x = 5
except AttributeError as e:
    print("as it should be:", e)
assert (p.x, p.y) == (1, 2)
#--- class_with_own_format
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __format__(self, spec):
        text = f"{self.cents // 100}.{self.cents % 100:02}"
        return format(text, spec)

    def __bool__(self):
        return self.cents != 0


price = Money(1999)
print(f"[{price:>8}]")
assert f"{price:>8}" == "   19.99" and not Money(0)
#--- tree_traversal
class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def insert(self, value):
        side = "left" if value < self.value else "right"
        child = self.left if side == "left" else self.right
        if child:
            child.insert(value)
        elif side == "left":
            self.left = Tree(value)
        else:
            self.right = Tree(value)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right

    def depth(self):
        return 1 + max(self.left.depth() if self.left else 0, self.right.depth() if self.right else 0)


root = Tree(50)
for n in (30, 70, 20, 40, 60, 80, 10):
    root.insert(n)
print(list(root), root.depth())
assert list(root) == sorted(root) and root.depth() == 4
#--- same_type_again
class Vector:
    def __init__(self, *parts):
        self.parts = parts

    def __add__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return type(self)(*(a + b for a, b in zip(self.parts, other.parts)))

    def __mul__(self, n):
        return self.__class__(*(n * part for part in self.parts))

    @property
    def doubled(self):
        return type(self)(*self.parts, *self.parts)

    def __repr__(self):
        return f"{type(self).__name__}{self.parts}"


class Point(Vector):
    pass


print(Point(1, 2) + Point(3, 4), Point(1, 2) * 3, Point(1).doubled)
assert repr(Point(1, 2) + Point(3, 4)) == "Point(4, 6)" and type(Point(1) * 2) == Point
#--- handlers_by_type
def show_number(x):
    return f"{x:,}"


def show_list(xs):
    return "[" + "; ".join(map(show, xs)) + "]"


HANDLERS = {int: show_number, float: show_number, list: show_list, type(None): lambda x: "nothing"}


def show(x):
    if type(x) in (str, bytes):
        return repr(x)
    handler = HANDLERS.get(type(x))
    return handler(x) if handler else f"<{type(x).__name__}>"


print(show([1, 2000, None, "a", {}]))
assert show([1, 2000, None, "a", {}]) == "[1; 2,000; nothing; 'a'; <dict>]"
#--- classes_as_values
class Shape:
    def area(self) -> float:
        return 0.0


class Square(Shape):
    def __init__(self, side: float = 1.0):
        self.side = side

    def area(self) -> float:
        return self.side ** 2


def build(kind: type, *args) -> Shape:
    if not isinstance(kind, type) or not issubclass(kind, Shape):
        raise TypeError(f"no shape: {kind!r}")
    return kind(*args)


registry: dict[str, type] = {"square": Square, "shape": Shape}
print([build(registry[name]).area() for name in sorted(registry)])
assert build(Square, 3).area() == 9 and isinstance(Square, (type, str))
#--- settings_that_arefrozen
class Settings:
    __slots__ = ("host", "port", "frozen")

    def __init__(self, host, port):
        object.__setattr__(self, "frozen", False)
        self.host, self.port = host, port
        object.__setattr__(self, "frozen", True)

    def __setattr__(self, name, value):
        if self.frozen:
            raise AttributeError(f"{name} is frozen")
        super().__setattr__(name, value)


s = Settings("localhost", 80)
try:
    s.port = 81
except AttributeError as e:
    print(e)
assert (s.host, s.port) == ("localhost", 80)
#--- report_with_its_own_format
class Report:
    def __init__(self, rows):
        self.rows = rows

    def format(self, row):
        return f"{row[0]:<8}{row[1]:>6.2f}"

    def render(self):
        return "\n".join(self.format(row) for row in self.rows)


report = Report([("apples", 1.5), ("pears", 2.25)])
print(report.render())
assert report.format(("a", 1)) == "a         1.00"
