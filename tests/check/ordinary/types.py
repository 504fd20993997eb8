#--- generic_stack
from typing import Generic, Iterator, TypeVar

T = TypeVar("T")


class Stack(Generic[T]):
    def __init__(self) -> None:
        self._items: list[T] = []

    def push(self, item: T) -> None:
        self._items.append(item)

    def pop(self) -> T:
        return self._items.pop()

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)


s: Stack[int] = Stack()
s.push(1)
s.push(2)
print(list(s), s.pop())
#--- protocol
from typing import Protocol, runtime_checkable


@runtime_checkable
class Drawable(Protocol):
    def draw(self) -> str:
        ...


class Circle:
    def draw(self) -> str:
        return "O"


class Stone:
    pass


print([isinstance(x, Drawable) for x in (Circle(), Stone())])
assert isinstance(Circle(), Drawable) and not isinstance(Stone(), Drawable)
#--- optional_and_union
from typing import Any, Callable, Optional, Union

Number = Union[int, float]
Handler = Callable[[str], Optional[Number]]


def parse(text: str) -> Optional[Number]:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


handlers: dict[str, Handler] = {"number": parse}
results: list[Any] = [handlers["number"](t) for t in ("1", "2.5", "x")]
print(results)
assert results == [1, 2.5, None]
#--- literal_and_final
from typing import Final, Literal

LIMIT: Final = 3
Mode = Literal["fast", "slow"]


def run(mode: Mode = "fast") -> int:
    return LIMIT if mode == "fast" else LIMIT * 10


print(run(), run("slow"))
#--- overloads
from typing import Union, overload


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...


def double(x: Union[int, str]) -> Union[int, str]:
    return x * 2


print(double(4), double("ab"))
#--- abstract_by_collections
from collections.abc import Mapping, MutableSequence, Sequence


class Frozen(Mapping):
    def __init__(self, **items):
        self._items = items

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)


f = Frozen(a=1, b=2)
print(dict(f), f.get("c", 0), "a" in f, list(f.values()))
assert f == {"a": 1, "b": 2} and isinstance([], MutableSequence) and isinstance("x", Sequence)
#--- import_collections_abc
import collections.abc


def total(numbers: collections.abc.Iterable) -> float:
    if isinstance(numbers, collections.abc.Mapping):
        numbers = numbers.values()
    return sum(numbers)


print(total([1, 2]), total({"a": 3}))
assert isinstance(total, collections.abc.Callable)
#--- type_narrowing
from typing import Iterable, List, Union

Json = Union[dict, list, str, int, float, bool, None]


def depth(value: Json) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth(v) for v in value), default=0)
    return 0


def flat(items: Iterable[List[int]]) -> List[int]:
    return [x for item in items for x in item]


print(depth({"a": [1, {"b": []}]}), flat([[1], [2, 3]]))
assert depth({"a": [1, {"b": []}]}) == 4
#--- new_type_and_cast
from typing import NewType, cast

UserId = NewType("UserId", int)


def lookup(user: UserId) -> str:
    return f"user {user}"


raw = "7"
print(lookup(UserId(int(raw))))
value = cast(int, 5)
assert value + 1 == 6
#--- modern_annotations
# needs: 3.10
def merge(a: dict[str, int], b: dict[str, int] | None = None) -> dict[str, int]:
    result: dict[str, int] = {}
    for source in (a, b or {}):
        for key, value in source.items():
            result[key] = result.get(key, 0) + value
    return result


print(merge({"x": 1}, {"x": 2, "y": 3}), isinstance(3, int | str))
#--- type_parameters
# needs: 3.12
type Pair[T] = tuple[T, T]


class Box[T]:
    def __init__(self, item: T) -> None:
        self.item = item

    def map[U](self, f) -> "Box[U]":
        return Box(f(self.item))


def swap[T](pair: Pair[T]) -> Pair[T]:
    a, b = pair
    return b, a


print(swap((1, 2)), Box(3).map(str).item)
