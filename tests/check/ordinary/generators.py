#--- fibonacci_generator
from itertools import islice, takewhile


def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


print(list(islice(fibonacci(), 10)))
assert sum(n for n in takewhile(lambda n: n < 100, fibonacci()) if n % 2 == 0) == 44
#--- primes_sieve_generator
def primes():
    composites = {}
    n = 2
    while True:
        if n not in composites:
            yield n
            composites[n * n] = [n]
        else:
            for p in composites.pop(n):
                composites.setdefault(n + p, []).append(p)
        n += 1


source = primes()
first = [next(source) for _ in range(12)]
print(first)
assert first[-1] == 37
#--- send_running_total
def accumulator():
    total = 0
    while True:
        received = yield total
        if received is None:
            return total
        total += received


g = accumulator()
next(g)
for n in (5, 10, 20):
    print(g.send(n))
try:
    g.send(None)
except StopIteration as stop:
    print("finished with", stop.value)
    assert stop.value == 35
#--- generator_throw
def resilient():
    count = 0
    while True:
        try:
            yield count
            count += 1
        except ValueError:
            count = 100


g = resilient()
assert next(g) == 0 and next(g) == 1
print(g.throw(ValueError("reset")))
assert next(g) == 101
g.close()
#--- pipeline_of_generators
lines = ["10 ok", "20 error", "x bad", "30 ok", "", "40 error"]


def parse(source):
    for line in source:
        parts = line.split()
        if len(parts) == 2 and parts[0].isdigit():
            yield int(parts[0]), parts[1]


def only(status, source):
    return (n for n, s in source if s == status)


print(sum(only("error", parse(lines))))
assert list(only("ok", parse(lines))) == [10, 30]
#--- yield_from_tree
tree = {"a": {"b": {}, "c": {"d": {}}}, "e": {}}


def walk(node, path=()):
    for name, children in node.items():
        here = path + (name,)
        yield "/".join(here)
        yield from walk(children, here)


paths = list(walk(tree))
print(paths)
assert paths == ["a", "a/b", "a/c", "a/c/d", "e"]
#--- batching_lines
def paragraphs(text):
    current = []
    for line in text.splitlines():
        if line.strip():
            current.append(line.strip())
        elif current:
            yield " ".join(current)
            current = []
    if current:
        yield " ".join(current)


text = "one\ntwo\n\n\nthree\n  four\n"
print(list(paragraphs(text)))
assert list(paragraphs(text)) == ["one two", "three four"]
#--- generator_expression_lazy
calls = []


def expensive(n):
    calls.append(n)
    return n * n


squares = (expensive(n) for n in range(1_000_000))
first_big = next(s for s in squares if s > 50)
print(first_big, len(calls))
assert first_big == 64 and len(calls) == 9
#--- round_robin
from collections import deque


def round_robin(*iterables):
    queue = deque(iter(it) for it in iterables)
    while queue:
        it = queue.popleft()
        try:
            yield next(it)
        except StopIteration:
            continue
        queue.append(it)


print("".join(round_robin("abc", "D", "ef")))
assert "".join(round_robin("abc", "D", "ef")) == "aDebfc"
#--- sliding_window
from collections import deque
from itertools import islice


def windows(iterable, n):
    it = iter(iterable)
    window = deque(islice(it, n), maxlen=n)
    if len(window) == n:
        yield tuple(window)
    for x in it:
        window.append(x)
        yield tuple(window)


rises = sum(sum(b) > sum(a) for a, b in windows(windows([1, 2, 3, 2, 5], 2), 2))
print(rises)
assert list(windows("abcd", 3)) == [("a", "b", "c"), ("b", "c", "d")]
#--- generator_as_context
def reader(chunks):
    try:
        for chunk in chunks:
            yield chunk
    finally:
        closed.append(True)


closed = []
r = reader(["a", "b", "c"])
print(next(r))
r.close()
assert closed == [True]
#--- merge_sorted
def merge(a, b):
    a, b = iter(a), iter(b)
    x, y = next(a, None), next(b, None)
    while x is not None or y is not None:
        if y is None or (x is not None and x <= y):
            yield x
            x = next(a, None)
        else:
            yield y
            y = next(b, None)


print(list(merge([1, 4, 9], [2, 3, 10, 11])))
assert list(merge([], [1])) == [1]
#--- collatz
def collatz(n):
    while n != 1:
        yield n
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    yield 1


lengths = {n: sum(1 for _ in collatz(n)) for n in range(1, 30)}
longest = max(lengths, key=lengths.get)
print(longest, lengths[longest])
assert longest == 27 and lengths[27] == 112
#--- powerset
def powerset(items):
    items = list(items)
    for mask in range(1 << len(items)):
        yield {items[i] for i in range(len(items)) if mask >> i & 1}


subsets = list(powerset("abc"))
print(len(subsets))
assert {"a", "c"} in subsets and set() in subsets
