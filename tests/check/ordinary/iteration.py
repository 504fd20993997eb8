#--- product_and_permutations
from itertools import combinations, permutations, product

assert len(list(product([0, 1], repeat=3))) == 8
assert ["".join(p) for p in permutations("abc", 2)][:2] == ["ab", "ac"]
teams = list(combinations(["ann", "bo", "cy", "di"], 2))
print(len(teams), teams[0])
#--- accumulate_balances
from itertools import accumulate
import math

changes = [100, -20, 50, -70]
balances = list(accumulate(changes))
peaks = list(accumulate(changes, max))
print(balances, peaks, list(accumulate(range(1, 6), lambda a, b: a * b)))
assert balances[-1] == math.fsum(changes)
#--- zip_longest_columns
from itertools import zip_longest

left, right = ["a", "b", "c"], ["1"]
for l, r in zip_longest(left, right, fillvalue="-"):
    print(f"{l:<4}{r:>4}")
assert list(zip_longest("ab", "c")) == [("a", "c"), ("b", None)]
#--- cycle_and_islice
from itertools import chain, cycle, islice, repeat

colours = list(islice(cycle(["red", "green"]), 5))
padded = list(islice(chain([1, 2], repeat(0)), 5))
print(colours, padded)
assert padded == [1, 2, 0, 0, 0]
#--- groupby_lengths
from itertools import groupby

words = sorted(["kiwi", "fig", "plum", "apple", "pear", "nut"], key=len)
by_length = {n: list(group) for n, group in groupby(words, key=len)}
print(by_length)
assert by_length[3] == ["fig", "nut"]
#--- tee_pairs
from itertools import tee


def pairwise(iterable):
    a, b = tee(iterable)
    next(b, None)
    return zip(a, b)


print([b - a for a, b in pairwise([1, 4, 9, 16, 25])])
assert list(pairwise([])) == []
#--- enumerate_reversed
letters = list("abcde")
for i, c in reversed(list(enumerate(letters))):
    if c in "aeiou":
        del letters[i]
print(letters)
assert letters == ["b", "c", "d"]
#--- any_all_filter
people = [{"n": "a", "age": 20}, {"n": "b", "age": 15}]
print(any(p["age"] < 18 for p in people), all(p["age"] > 10 for p in people))
adults = list(filter(lambda p: p["age"] >= 18, people))
names = list(map(lambda p: p["n"].upper(), adults))
assert names == ["A"] and list(filter(None, [0, 1, "", "x"])) == [1, "x"]
#--- comprehension_zoo
pairs = [(x, y) for x in range(4) for y in range(x) if (x + y) % 2]
squares = {n: n * n for n in range(5)}
letters = {c for word in ("hello", "world") for c in word if c not in "aeiou"}
matrix = [[1 if i == j else 0 for j in range(3)] for i in range(3)]
print(pairs, squares, sorted(letters), matrix)
assert sum(x for row in matrix for x in row) == 3
#--- own_iterator
class Countdown:
    def __init__(self, start):
        self.n = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1


print(*Countdown(5))
assert sum(Countdown(4)) == 10 and 3 in Countdown(5)
#--- own_range
class Steps:
    def __init__(self, start, stop, count):
        self.start, self.stop, self.count = start, stop, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        return self.start + (self.stop - self.start) * (i % len(self)) / (len(self) - 1)


s = Steps(0.0, 1.0, 5)
print(list(s), s[1:3], s[-1])
assert list(reversed(s))[0] == 1.0
#--- while_else
def smallest_divisor(n):
    d = 2
    while d * d <= n:
        if n % d == 0:
            break
        d += 1
    else:
        return n
    return d


print([smallest_divisor(n) for n in (15, 49, 97)])
for n in range(3):
    if n == 5:
        break
else:
    print("no five")
#--- unpacking_forms
first, *middle, last = range(6)
(a, b), [c, *d] = (1, 2), "xyz"
e, = [9]
print(first, middle, last, a, b, c, d, e)
head, *_ = "abc"
merged = {**{"a": 1}, "b": 2, **{"a": 3}}
assert merged == {"a": 3, "b": 2} and [*range(2), *"ab"] == [0, 1, "a", "b"]
#--- slices
items = list(range(10))
items[2:5] = ["x"]
del items[-2:]
print(items, items[::2], items[::-1][:2])
assert items == [0, 1, "x", 5, 6, 7]
text = "abcdef"
assert text[slice(1, -1)] == "bcde" and text[::-2] == "fdb"
#--- deque_rotation
from collections import deque

ring = deque(range(1, 8))
while len(ring) > 1:
    ring.rotate(-2)
    out = ring.popleft()
print("the last one is", ring[0])
recent = deque(maxlen=3)
for n in range(10):
    recent.append(n)
assert list(recent) == [7, 8, 9]
#--- chain_map_settings
from collections import ChainMap

defaults = {"colour": "red", "user": "guest"}
config = {"user": "ann"}
arguments = {}
settings = ChainMap(arguments, config, defaults)
print(settings["user"], settings["colour"])
arguments["colour"] = "blue"
assert settings["colour"] == "blue" and dict(settings)["user"] == "ann"
