#--- group_sales
from collections import defaultdict

sales = [("north", 120.0), ("south", 80.5), ("north", 30.0), ("east", 55.25), ("south", 19.5)]
totals = defaultdict(float)
for region, amount in sales:
    totals[region] += amount
best = max(totals, key=totals.get)
for region in sorted(totals):
    print(f"{region:<8}{totals[region]:>10.2f}")
assert best == "north" and totals["south"] == 100.0
#--- parse_csv_by_hand
text = """name,age,city
Ada,36,London
Grace,45,New York
Alan,41,Manchester
"""
header, *rows = [line.split(",") for line in text.strip().splitlines()]
people = [dict(zip(header, row)) for row in rows]
for person in people:
    person["age"] = int(person["age"])
oldest = max(people, key=lambda p: p["age"])
print(oldest["name"], sum(p["age"] for p in people) / len(people))
assert oldest["city"] == "New York"
#--- pivot_table
records = [
    {"year": 2021, "kind": "a", "n": 3},
    {"year": 2021, "kind": "b", "n": 5},
    {"year": 2022, "kind": "a", "n": 7},
]
years = sorted({r["year"] for r in records})
kinds = sorted({r["kind"] for r in records})
table = {y: {k: 0 for k in kinds} for y in years}
for r in records:
    table[r["year"]][r["kind"]] += r["n"]
print("year", *kinds, sep="\t")
for y in years:
    print(y, *(table[y][k] for k in kinds), sep="\t")
assert table[2022] == {"a": 7, "b": 0}
#--- inner_join
users = {1: "ann", 2: "ben", 3: "cy"}
orders = [(10, 1, 9.99), (11, 3, 20.0), (12, 1, 5.01), (13, 9, 1.0)]
joined = [(users[uid], oid, price) for oid, uid, price in orders if uid in users]
unmatched = [oid for oid, uid, _ in orders if uid not in users]
spent = {}
for name, _, price in joined:
    spent[name] = round(spent.get(name, 0) + price, 2)
print(spent, "without user:", unmatched)
assert spent == {"ann": 15.0, "cy": 20.0} and unmatched == [13]
#--- dedupe_keep_order
items = ["pear", "apple", "pear", "fig", "apple", "kiwi"]
unique = list(dict.fromkeys(items))
positions = {item: [i for i, x in enumerate(items) if x == item] for item in unique}
print(unique, positions)
assert unique == ["pear", "apple", "fig", "kiwi"]
assert positions["apple"] == [1, 4]
#--- running_average
def running_average(values, window):
    out = []
    for i in range(len(values)):
        chunk = values[max(0, i - window + 1):i + 1]
        out.append(sum(chunk) / len(chunk))
    return out


series = [10, 20, 30, 40, 50]
result = running_average(series, 3)
print([f"{x:.1f}" for x in result])
assert result == [10.0, 15.0, 20.0, 30.0, 40.0]
#--- outliers
import math

values = [9.8, 10.1, 10.0, 9.9, 25.0, 10.2]
mean = sum(values) / len(values)
sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
outliers = [v for v in values if abs(v - mean) > 1.5 * sd]
print(f"mean {mean:.2f}, deviation {sd:.2f}, outliers {outliers}")
assert outliers == [25.0]
#--- histogram
from collections import Counter

grades = [55, 61, 73, 78, 82, 85, 88, 90, 91, 97, 100]
buckets = Counter(min(g // 10 * 10, 90) for g in grades)
for low in range(50, 100, 10):
    print(f"{low:>3}+ {'#' * buckets[low]}")
assert sum(buckets.values()) == len(grades)
#--- flatten_nested
def flatten(thing):
    if isinstance(thing, (list, tuple)):
        for part in thing:
            yield from flatten(part)
    else:
        yield thing


nested = [1, [2, (3, [4, 5]), []], "six", [[[7]]]]
flat = list(flatten(nested))
print(flat)
assert flat == [1, 2, 3, 4, 5, "six", 7]
#--- nested_update
def merge(base, extra):
    result = dict(base)
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = value
    return result


defaults = {"db": {"host": "localhost", "port": 5432}, "debug": False}
custom = {"db": {"port": 6000}, "name": "demo"}
settings = merge(defaults, custom)
print(settings)
assert settings["db"] == {"host": "localhost", "port": 6000}
assert defaults["db"]["port"] == 5432
#--- sort_by_several_keys
people = [("Lee", "Ann", 30), ("Kim", "Bo", 25), ("Lee", "Al", 30), ("Abe", "Cy", 41)]
people.sort(key=lambda p: (-p[2], p[0], p[1]))
for last, first, age in people:
    print(f"{age} {last}, {first}")
assert [p[1] for p in people] == ["Cy", "Al", "Ann", "Bo"]
#--- transpose_matrix
matrix = [[1, 2, 3], [4, 5, 6]]
transposed = [list(column) for column in zip(*matrix)]
row_sums = [sum(row) for row in matrix]
column_sums = [sum(row) for row in transposed]
print(transposed, row_sums, column_sums)
assert transposed == [[1, 4], [2, 5], [3, 6]] and sum(row_sums) == sum(column_sums)
#--- fill_missing
readings = [3.0, None, None, 6.0, None, 8.0]
filled, last = [], None
for value in readings:
    if value is None:
        value = last
    filled.append(value)
    last = value
gaps = sum(1 for v in readings if v is None)
print(filled, "gaps:", gaps)
assert filled == [3.0, 3.0, 3.0, 6.0, 6.0, 8.0]
#--- percentile
def percentile(values, p):
    ordered = sorted(values)
    k = (len(ordered) - 1) * p / 100
    low, high = int(k), min(int(k) + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (k - low)


data = [15, 20, 35, 40, 50]
for p in (0, 25, 50, 75, 100):
    print(p, percentile(data, p))
assert percentile(data, 50) == 35 and percentile(data, 100) == 50
#--- invert_mapping
english = {"one": "eins", "two": "zwei", "three": "drei", "a": "eins"}
inverse = {}
for word, translation in english.items():
    inverse.setdefault(translation, []).append(word)
assert inverse == {"eins": ["one", "a"], "zwei": ["two"], "drei": ["three"]}
print({k: v for k, v in inverse.items() if len(v) > 1})
#--- chunked
from itertools import islice


def chunks(iterable, size):
    it = iter(iterable)
    while batch := list(islice(it, size)):
        yield batch


batches = list(chunks(range(10), 4))
print(batches)
assert [len(b) for b in batches] == [4, 4, 2]
#--- group_consecutive
from itertools import groupby

numbers = [1, 2, 3, 7, 8, 10, 15, 16]
ranges = []
for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
    run = [n for _, n in group]
    ranges.append((run[0], run[-1]))
print(", ".join(f"{a}-{b}" if a != b else str(a) for a, b in ranges))
assert ranges == [(1, 3), (7, 8), (10, 10), (15, 16)]
#--- top_n_words
from collections import Counter
import re

text = "The cat and the hat. The end, and the cat sat."
words = re.findall(r"[a-z]+", text.lower())
top = Counter(words).most_common(2)
print(top)
assert top[0] == ("the", 4)
#--- matrix_of_distances
import math

cities = {"a": (0, 0), "b": (3, 4), "c": (6, 8)}
distance = {(p, q): math.dist(cities[p], cities[q]) for p in cities for q in cities if p < q}
nearest = min(distance, key=distance.get)
print({f"{p}-{q}": d for (p, q), d in distance.items()}, nearest)
assert distance["a", "c"] == 10.0
#--- set_algebra
backend = {"ann", "bo", "cy", "di"}
frontend = {"cy", "di", "ed"}
both = backend & frontend
either = backend | frontend
only_one = backend ^ frontend
print(sorted(both), sorted(only_one), len(either))
assert both <= either and not both & only_one
assert frozenset(both) in {frozenset({"cy", "di"})}
#--- bytes_records
record = bytearray()
for name, count in [("ab", 3), ("xyz", 250)]:
    record += bytes([len(name)]) + name.encode() + count.to_bytes(2, "big")
view, out = memoryview(record), []
at = 0
while at < len(view):
    size = view[at]
    name = bytes(view[at + 1:at + 1 + size]).decode("ascii")
    count = int.from_bytes(view[at + 1 + size:at + 3 + size], "big")
    out.append((name, count))
    at += 3 + size
print(out, record.hex())
assert out == [("ab", 3), ("xyz", 250)]
#--- many_values_of_one_name
import math
total = 0.0
for f in (math.sin, math.cos, math.tan, math.exp, math.sqrt, math.floor, math.ceil, math.fabs, math.atan,
          math.asin, math.acos, math.sinh, math.cosh, math.tanh, math.log1p, math.expm1, math.erf, math.trunc):
    total += f(0.5)
for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
             "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"]:
    total += len(word)
print(round(total, 3))
