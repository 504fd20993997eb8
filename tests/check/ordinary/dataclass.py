#--- inventory
from dataclasses import dataclass, field


@dataclass
class Item:
    name: str
    price: float
    quantity: int = 0
    tags: list[str] = field(default_factory=list)

    @property
    def total(self) -> float:
        return self.price * self.quantity


items = [Item("pen", 1.5, 10, ["office"]), Item("desk", 120.0, 2), Item("lamp", 30.0)]
print(sum(i.total for i in items), items[2])
assert items[1].tags == [] and items[0].tags is not items[1].tags
#--- frozen_point
from dataclasses import FrozenInstanceError, dataclass, replace


@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = 0

    def moved(self, dx=0, dy=0):
        return replace(self, x=self.x + dx, y=self.y + dy)


p = Point(1, 2)
try:
    p.x = 10
except FrozenInstanceError:
    print("frozen")
assert p.moved(dx=4) == Point(5, 2) and Point(0, 9) < p
assert {p: "here"}[Point(1, 2)] == "here"
#--- post_init_validation
from dataclasses import InitVar, dataclass, field


@dataclass
class Rectangle:
    width: float
    height: float
    unit: InitVar[str] = "m"
    area: float = field(init=False)

    def __post_init__(self, unit):
        if self.width <= 0 or self.height <= 0:
            raise ValueError("sides must be positive")
        factor = {"m": 1, "cm": 0.01}[unit]
        self.area = self.width * self.height * factor ** 2


print(Rectangle(2, 3), Rectangle(200, 300, unit="cm").area)
try:
    Rectangle(0, 1)
except ValueError as e:
    print(e)
#--- asdict_json
import json
from dataclasses import asdict, dataclass


@dataclass
class Address:
    street: str
    city: str


@dataclass
class Person:
    name: str
    address: Address
    emails: tuple = ()


p = Person("Ann", Address("High St 1", "York"), ("a@x.org",))
text = json.dumps(asdict(p), indent=2)
print(text)
back = json.loads(text)
assert Person(back["name"], Address(**back["address"]), tuple(back["emails"])) == p
#--- fields_listing
from dataclasses import dataclass, fields


@dataclass
class Config:
    host: str = "localhost"
    port: int = 80
    debug: bool = False


for f in fields(Config):
    print(f.name, f.default)
assert [f.name for f in fields(Config)] == ["host", "port", "debug"]
#--- inheritance
from dataclasses import dataclass


@dataclass
class Animal:
    name: str
    legs: int = 4

    def speak(self):
        return "..."


@dataclass
class Dog(Animal):
    breed: str = "mutt"

    def speak(self):
        return f"{self.name} says woof"


d = Dog("Rex", breed="collie")
print(d, d.speak())
assert d == Dog("Rex", 4, "collie") and isinstance(d, Animal)
#--- sorting_tasks
from dataclasses import dataclass, field
from typing import Any


@dataclass(order=True)
class Task:
    priority: int
    name: str = field(compare=False)
    payload: Any = field(default=None, compare=False, repr=False)


tasks = [Task(3, "sweep"), Task(1, "cook", {"dish": "soup"}), Task(2, "shop")]
for task in sorted(tasks):
    print(task)
assert min(tasks).name == "cook"
#--- typed_dict_and_named_tuple
from typing import NamedTuple, TypedDict


class Movie(TypedDict, total=False):
    title: str
    year: int


class Pixel(NamedTuple):
    x: int
    y: int
    colour: str = "black"

    def shifted(self, by):
        return self._replace(x=self.x + by)


m: Movie = {"title": "Alien", "year": 1979}
p = Pixel(1, 2)
print(m["title"], p.shifted(3), p._asdict())
assert p.shifted(3) == (4, 2, "black") and Pixel._fields == ("x", "y", "colour")
#--- namedtuple_rows
from collections import namedtuple

Row = namedtuple("Row", "id name score")
rows = [Row(1, "a", 3.5), Row(2, "b", 4.5), Row._make([3, "c", 1.0])]
best = max(rows, key=lambda r: r.score)
print(best.name, [r._replace(score=r.score + 1).score for r in rows])
identifier, *_ = best
assert identifier == 2
#--- make_linked
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Optional


@dataclass
class Node:
    value: int
    next: Optional[Node] = None

    def __iter__(self) -> Iterator[int]:
        node: Optional[Node] = self
        while node:
            yield node.value
            node = node.next


chain = Node(1, Node(2, Node(3)))
print(list(chain))
assert sum(chain) == 6
#--- keyword_only
# needs: 3.10
from dataclasses import KW_ONLY, dataclass


@dataclass(slots=True, kw_only=False)
class Query:
    table: str
    _: KW_ONLY
    limit: int = 10
    where: str = ""

    def sql(self):
        where = f" WHERE {self.where}" if self.where else ""
        return f"SELECT * FROM {self.table}{where} LIMIT {self.limit}"


print(Query("users", where="age > 3").sql())
assert Query("t", limit=1).sql() == "SELECT * FROM t LIMIT 1"
#--- bank_ledger
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal


@dataclass
class Entry:
    when: date
    amount: Decimal
    note: str = ""


@dataclass
class Ledger:
    entries: list[Entry] = field(default_factory=list)

    def add(self, *args):
        self.entries.append(Entry(*args))
        return self

    def balance(self, until=date.max):
        return sum((e.amount for e in self.entries if e.when <= until), Decimal(0))


ledger = Ledger().add(date(2024, 1, 1), Decimal("10.10")).add(date(2024, 2, 1), Decimal("-0.20"), "fee")
print(ledger.balance(), ledger.balance(date(2024, 1, 15)))
assert ledger.balance() == Decimal("9.90")
#--- eq_and_hash
from dataclasses import dataclass, field


@dataclass(unsafe_hash=True)
class Tag:
    text: str
    weight: int = field(default=1, hash=False, compare=False)


tags = {Tag("a"), Tag("a", 5), Tag("b")}
print(len(tags))
assert Tag("a") == Tag("a", 9)
#--- registry_of_classes
from dataclasses import dataclass
from typing import Callable, ClassVar


@dataclass
class Command:
    name: str
    run: Callable[[str], str]
    known: ClassVar[dict] = {}

    def __post_init__(self):
        self.known[self.name] = self


Command("up", str.upper)
Command("twice", lambda s: s * 2)
print({name: c.run("ab") for name, c in Command.known.items()})
assert Command.known["twice"].run("x") == "xx"
#--- copies_and_types
from dataclasses import asdict, astuple, dataclass, field, replace


@dataclass
class Item:
    name: str
    tags: list = field(default_factory=list)

    def like(self, **changes):
        return replace(self, **changes)


@dataclass
class Box:
    items: list


box = Box([Item("a", ["x"]), Item("b")])
copy = asdict(box)
copy["items"][0]["tags"].append("y")
for item in box.items:
    print(f"{type(item).__name__} {astuple(item)}", type(item) is Item, type(item) == Item)
assert box.items[0].tags == ["x"] and box.items[0].like(name="c").name == "c"
#--- user_dict
from collections import UserDict


class Lower(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)


d = Lower(A=1)
d["B"] = 2
print(d, d.copy(), sorted(d.copy()))
assert d.copy() == {"a": 1, "b": 2}
