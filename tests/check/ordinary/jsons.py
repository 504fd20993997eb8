#--- round_trip
import json

data = {"name": "Zoë", "n": [1, 2.5, None, True], "deep": {"x": {"y": []}}}
text = json.dumps(data, sort_keys=True, ensure_ascii=False)
print(text)
assert json.loads(text) == data and "Zoë" in text
#--- custom_encoder
import json
from datetime import date
from decimal import Decimal


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, date):
            return o.isoformat()
        if isinstance(o, Decimal):
            return str(o)
        if isinstance(o, (set, frozenset)):
            return sorted(o)
        return super().default(o)


print(json.dumps({"d": date(2024, 1, 2), "p": Decimal("1.10"), "s": {3, 1, 2}}, cls=Encoder))
try:
    json.dumps({"x": object()}, cls=Encoder)
except TypeError as e:
    print("no:", e)
#--- object_hook
import json


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def decode(obj):
    if obj.keys() == {"x", "y"}:
        return Point(**obj)
    return obj


shape = json.loads('{"name": "line", "from": {"x": 0, "y": 0}, "to": {"x": 3, "y": 4}}', object_hook=decode)
print(shape["name"], shape["to"].x)
assert isinstance(shape["from"], Point)
#--- bad_json_reported
import json

for text in ('{"a": 1}', "{'a': 1}", "[1, 2", "nul"):
    try:
        print(json.loads(text))
    except json.JSONDecodeError as e:
        print(f"line {e.lineno} column {e.colno}: {e.msg}")
#--- walk_paths
import json

doc = json.loads('{"a": {"b": [1, {"c": "deep"}]}, "d": null}')


def paths(value, prefix="$"):
    if isinstance(value, dict):
        for k, v in value.items():
            yield from paths(v, f"{prefix}.{k}")
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from paths(v, f"{prefix}[{i}]")
    else:
        yield prefix, value


for path, value in paths(doc):
    print(path, "=", value)
assert dict(paths(doc))["$.a.b[1].c"] == "deep"
#--- json_lines
import json

lines = ['{"id": 1, "ok": true}', "", '{"id": 2, "ok": false}', "{broken"]
good, bad = [], []
for number, line in enumerate(lines, start=1):
    if not line.strip():
        continue
    try:
        good.append(json.loads(line))
    except ValueError:
        bad.append(number)
print(len(good), "read, bad lines:", bad)
assert bad == [4] and sum(r["ok"] for r in good) == 1
#--- diff_documents
import json

old = json.loads('{"a": 1, "b": 2, "c": {"x": 1}}')
new = json.loads('{"a": 1, "b": 3, "c": {"x": 1, "y": 2}, "d": []}')


def diff(old, new, path=""):
    for key in sorted(old.keys() | new.keys()):
        here = f"{path}/{key}"
        if key not in new:
            yield "-", here
        elif key not in old:
            yield "+", here
        elif isinstance(old[key], dict) and isinstance(new[key], dict):
            yield from diff(old[key], new[key], here)
        elif old[key] != new[key]:
            yield "~", here


changes = list(diff(old, new))
print(changes)
assert changes == [("~", "/b"), ("+", "/c/y"), ("+", "/d")]
#--- parse_numbers_exactly
import json
from decimal import Decimal

doc = json.loads('{"price": 0.1, "big": 12345678901234567890}', parse_float=Decimal)
print(doc["price"] * 3, doc["big"])
assert doc["price"] * 3 == Decimal("0.3")
#--- flatten_to_rows
import json

payload = """[{"user": {"id": 1, "tags": ["a", "b"]}}, {"user": {"id": 2, "tags": []}},
 {"user": {"id": 3, "tags": ["a"]}}]"""
rows = [(u["user"]["id"], tag) for u in json.loads(payload) for tag in u["user"]["tags"] or [None]]
print(rows)
assert rows == [(1, "a"), (1, "b"), (2, None), (3, "a")]
#--- schema_check
import json

SCHEMA = {"name": str, "age": int, "email": (str, type(None))}


def problems(record):
    for key, kind in SCHEMA.items():
        if key not in record:
            yield f"{key} is missing"
        elif not isinstance(record[key], kind) or isinstance(record[key], bool):
            yield f"{key} is {type(record[key]).__name__}"
    for key in record.keys() - SCHEMA.keys():
        yield f"{key} is unknown"


record = json.loads('{"name": "x", "age": "5", "hair": 1}')
print(sorted(problems(record)))
assert len(list(problems(record))) == 3
#--- compact_and_pretty
import json

data = [{"k": i, "v": [i] * i} for i in range(3)]
compact = json.dumps(data, separators=(",", ":"))
pretty = json.dumps(data, indent=1)
print(len(compact), len(pretty))
assert json.loads(compact) == json.loads(pretty) and " " not in compact
#--- pairs_hook_duplicates
import json


def no_duplicates(pairs):
    keys = [k for k, _ in pairs]
    doubled = {k for k in keys if keys.count(k) > 1}
    if doubled:
        raise ValueError(f"twice: {', '.join(sorted(doubled))}")
    return dict(pairs)


print(json.loads('{"a": 1, "b": 2}', object_pairs_hook=no_duplicates))
try:
    json.loads('{"a": 1, "a": 2}', object_pairs_hook=no_duplicates)
except ValueError as e:
    print(e)
